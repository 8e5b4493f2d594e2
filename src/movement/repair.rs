//! What edits change for units: new paths for those whose path is cut off, and for no others; and another try for those that
//! wait for a path.

use std::collections::BTreeMap;

use bevy::{ecs::entity_disabling::Disabled, prelude::*};

use crate::{
    crowds::Crowds,
    grids::NavGrids,
    nav::{CellRect, Direction, GridId, NavGrid, Path, ProfileId},
    request::{Outcomes, Requester, RequesterItem},
    unit::AnyAnglePath,
    whereabouts::Whereabouts,
};

/// The grids as they were when paths were last checked.
#[derive(Resource, Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct GridsSeen {
    revisions: BTreeMap<GridId, u64>,
    /// How often links, or the grids that they join, had changed.
    links: u64,
    /// How many grids had been removed.
    pub(super) removals: u64,
}

/// Looks at the edits since the last tick. Sends units whose path they cross to the queue, and tries requests that wait.
pub(crate) fn repair_paths(
    mut seen: ResMut<GridsSeen>,
    mut edits: Local<BTreeMap<GridId, Vec<CellRect>>>,
    mut broken: Local<Vec<(u64, Entity)>>,
    grids: Res<NavGrids>,
    crowds: Res<Crowds>,
    mut outcomes: Outcomes,
    mut units: Query<Requester, Allow<Disabled>>,
    whereabouts: Whereabouts,
) {
    edits.values_mut().for_each(Vec::clear);
    for (id, grid) in grids.iter() {
        let known = seen.revisions.insert(id, grid.revision());
        if known != Some(grid.revision()) {
            let rects = edits.entry(id).or_default();
            match known.and_then(|known| grid.edits_since(known)) {
                Some(edits) => rects.extend(edits),
                None => rects.push(grid.rect()), // it is new, or cannot tell
            }
        }
    }
    let changes = outcomes.links.changes();
    let links_changed = core::mem::replace(&mut seen.links, changes) != changes;
    if edits.values().all(Vec::is_empty) && !links_changed {
        return;
    }
    for mut unit in &mut units {
        if links_changed || edits.get(&unit.state.grid).is_some_and(|rects| !rects.is_empty()) {
            outcomes.try_early(&mut unit);
        }
        let rects = edits.get(&unit.state.grid).filter(|rects| !rects.is_empty());
        if let (Some(rects), Some(grid)) = (rects, grids.get(unit.state.grid))
            && is_cut_off(&mut unit, (grid, &grids, &crowds), rects, &whereabouts)
        {
            broken.push((unit.state.accepted, unit.entity));
        }
    }
    broken.sort_unstable();
    for (_, entity) in broken.drain(..) {
        if let Ok(mut unit) = units.get_mut(entity) {
            repair_path(&mut unit, &grids, &mut outcomes);
        }
    }
}

/// Whether `edits` cut off what is left of a unit's path. If only the straight lines of its path are
/// blocked, the unit follows the steps from now on.
fn is_cut_off(
    unit: &mut RequesterItem,
    (grid, grids, crowds): (&NavGrid, &NavGrids, &Crowds),
    edits: &[CellRect],
    whereabouts: &Whereabouts,
) -> bool {
    let profile = unit.state.query.profile;
    let Some((critter, _)) = &mut unit.critter else {
        let has_path = unit.status.has_path() && unit.is_latest();
        let passed = || {
            if let Some((desired, _)) = &unit.steering {
                return Some(desired.step as usize);
            }
            let frame = grids.frame(unit.state.grid)?;
            let at = whereabouts.position(unit.entity)?;
            let here = frame.anchor_at(at, grid.unit_size(profile))?;
            unit.path.0.cells().position(|cell| cell == here)
        };
        let steps = passed().unwrap_or(0);
        if !has_path || is_sound_ahead(grid, profile, &unit.path.0, steps, edits) {
            if let (Some(any_angle), true) = (&mut unit.any_angle, unit.steering.is_some()) {
                AnyAnglePath::avoid(any_angle, grid, profile, (&unit.path.0, steps as u32), edits);
            }
            return false;
        }
        return true;
    };
    if !unit.status.is_walking() && !critter.walk.is_between_cells() {
        return false;
    }
    // A unit that has arrived may have been sent aside, along a path that is not its own.
    let is_walking = unit.status.is_walking();
    let walk = crowds.walk_of(grid, unit.state.grid, critter).filter(|_| is_walking);
    // A unit of a crowd that has no path leaves blocked terrain automatically.
    let has_path = walk.is_some() || critter.unit().is_none();
    let walk = walk.unwrap_or(critter.walk);
    let head = walk.head();
    // Whether the step under way and all steps ahead are still legal.
    let is_under = |&rect: &CellRect| grid.anchors_over(profile, rect).contains(head);
    let may_stand = || grid.cost(profile, head) > 0 || !edits.iter().any(is_under);
    if has_path && !(may_stand() && walk.survives(&unit.path.0, grid, profile, edits)) {
        return true;
    }
    if let Some(any_angle) = &mut unit.any_angle {
        let steps = walk.steps_done().unwrap_or(0);
        if AnyAnglePath::avoid(any_angle, grid, profile, (&unit.path.0, steps), edits) {
            critter.is_diverted = true;
        }
    }
    false
}

/// Stops a unit whose path is cut off, and searches for another.
fn repair_path(unit: &mut RequesterItem, grids: &NavGrids, outcomes: &mut Outcomes) {
    if let Some((critter, _)) = &mut unit.critter
        && critter.unit().is_none()
        && let Some(grid) = grids.get(unit.state.grid)
    {
        let is_free = |cell| grid.cost(unit.state.query.profile, cell) > 0;
        // If both cells of its step are blocked, it finishes the step.
        if !is_free(critter.walk.head()) && is_free(critter.walk.tail()) {
            critter.turn_back();
        }
    }
    outcomes.path_lost(unit, grids);
}

/// Whether the path of a unit that the game moves is still legal after `edits` beyond its first `passed` steps.
fn is_sound_ahead(
    grid: &NavGrid,
    profile: ProfileId,
    path: &Path,
    passed: usize,
    edits: &[CellRect],
) -> bool {
    let Some(layer) = grid.layer(profile) else {
        return false;
    };
    let near: Vec<CellRect> = edits.iter().map(|&rect| grid.anchors_over(profile, rect)).collect();
    let is_near = |from, to| near.iter().any(|rect| rect.meets_span(from, to));
    let mut legs = path.waypoints().zip(path.waypoints().skip(1));
    if !legs.any(|(from, to)| is_near(from, to)) {
        return true;
    }
    let mut steps = path.cells().skip(passed).zip(path.cells().skip(passed + 1));
    steps.all(|(from, to)| {
        let direction = Direction::between(from, to);
        let can_step = |(x, y)| direction.is_some_and(|direction| layer.can_step(x, y, direction));
        !is_near(from, to) || grid.local(from).is_some_and(can_step)
    })
}
