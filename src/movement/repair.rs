//! New paths for critters whose way an edit has cut off, and for no one else.

use std::collections::BTreeMap;

use bevy::{ecs::entity_disabling::Disabled, prelude::*};

use super::{CritterState, StraightWay};
use crate::{
    crowds::Crowds,
    grids::NavGrids,
    nav::{cell::CellRect, grid::NavGrid, path::Path, query::GridId},
    request::{ActiveOrder, NavPath, PathStatus, fitting_anchor, way_out},
    scheduler::Pathfinder,
};

/// The revision of each grid up to which paths are known to be good, and scratch memory.
#[derive(Default)]
pub(crate) struct Seen {
    revisions: BTreeMap<GridId, u64>,
    edits: BTreeMap<GridId, Vec<CellRect>>,
    broken: Vec<(u64, Entity)>,
}

type Walker = (
    Entity,
    &'static mut ActiveOrder,
    &'static mut NavPath,
    &'static mut CritterState,
    &'static mut PathStatus,
    Option<&'static mut StraightWay>,
);

/// Looks at the edits since the last tick and sends critters whose way they cross to the queue.
pub(crate) fn repair_paths(
    mut seen: Local<Seen>,
    grids: Res<NavGrids>,
    crowds: Res<Crowds>,
    mut pathfinder: ResMut<Pathfinder>,
    mut walkers: Query<Walker, Allow<Disabled>>,
) {
    let Seen { revisions, edits, broken } = &mut *seen;
    edits.values_mut().for_each(Vec::clear);
    let mut any = false;
    for (id, grid) in grids.iter() {
        let known = revisions.insert(id, grid.revision()).unwrap_or(grid.revision());
        if known != grid.revision() {
            any = true;
            collect_edits(grid, known, edits.entry(id).or_default());
        }
    }
    if !any {
        return;
    }
    for (entity, order, path, mut state, status, straight) in &mut walkers {
        let under_way = status.is_walking() || state.walk.is_between_cells();
        let rects = edits.get(&order.grid).filter(|rects| under_way && !rects.is_empty());
        let grid = grids.get(order.grid);
        if let (Some(rects), Some(grid)) = (rects, grid)
            && !is_sound(grid, &crowds, &order, &path.0, &state, rects)
        {
            broken.push((order.number, entity));
        } else if let (Some(rects), Some(grid), Some(mut straight)) = (rects, grid, straight) {
            straight.avoid(grid, order.query.profile, &path.0, &mut state, rects);
        }
    }
    broken.sort_unstable();
    for (_, entity) in broken.drain(..) {
        if let Ok((entity, mut order, mut path, mut state, mut status, _)) = walkers.get_mut(entity)
        {
            let is_free = |cell| {
                let grid = grids.get(order.grid);
                grid.is_some_and(|grid| grid.cost(order.query.profile, cell) > 0)
            };
            // Built over on both sides of a step, it goes on to the end of it.
            let leads_itself = state.unit().is_none();
            if !leads_itself || is_free(state.walk.head()) || !is_free(state.walk.tail()) {
                state.restart();
            } else {
                state.turn_back();
            }
            // A unit that has grown makes room.
            let head = state.walk.head();
            let grid = grids.get(order.grid);
            let beginning = if leads_itself { fitting_anchor } else { way_out };
            let start = grid.map_or(head, |grid| beginning(grid, order.query.profile, head));
            path.0 = Path::standing(start);
            if !is_at_rest(&status, &order) {
                pathfinder.ask_again(entity, &mut order, start);
                *status = PathStatus::Repairing;
            }
        }
    }
}

/// Whether nothing is searched for at present.
fn is_at_rest(status: &PathStatus, order: &ActiveOrder) -> bool {
    use PathStatus::{Arrived, Failed, Idle, Searching, Waiting};
    // Between two attempts nothing is searched for, either.
    matches!(status, Idle | Waiting(_) | Failed(_) | Arrived(_))
        || matches!(status, Searching) && order.ticket.is_none()
}

/// What was edited after `revision`; everything, where the grid cannot tell.
fn collect_edits(grid: &NavGrid, revision: u64, rects: &mut Vec<CellRect>) {
    match grid.edits_since(revision) {
        Some(edits) => rects.extend(edits),
        None => rects.push(grid.rect()),
    }
}

/// Whether the step under way and all steps ahead are still legal after `edits`.
fn is_sound(
    grid: &NavGrid,
    crowds: &Crowds,
    order: &ActiveOrder,
    path: &Path,
    state: &CritterState,
    edits: &[CellRect],
) -> bool {
    let profile = order.query.profile;
    let walk = crowds.walk_along(grid, order.grid, state);
    if state.unit().is_some() && walk.is_none() {
        return true; // it has no way, and gets off ground that is built over by itself
    }
    let walk = walk.unwrap_or(state.walk);
    let head = walk.head();
    edits.iter().all(|&rect| {
        let noticed = grid.anchors_over(profile, rect);
        let head_is_fine = !noticed.contains(head) || grid.cost(profile, head) > 0;
        head_is_fine && walk.survives(path, grid, profile, rect)
    })
}
