//! Watches targets: some are followed when they move, some are given up when they are gone.
//!
//! Input: requests that follow or need an entity, in the order of their numbers. Output: where their targets are;
//! [`Outcomes`](super::Outcomes) decides which of them need another path. Looking costs a little of a tick's budget;
//! planning again costs as much as any request.

use bevy::prelude::*;

use super::{
    intake::{ENTRY_COST, RequestIntake},
    requester::RequesterReadOnlyItem,
    target::{SeenTarget, Target},
};
use crate::{
    coordinates::length,
    links::Destination,
    nav::{GridId, NavGrid, PathFailure},
    scheduler::TilePathSettings,
    unit::PathStatus,
};

/// What checking one target takes of the budget, in expansions.
const LOOK_COST: u32 = 4;

/// A steered unit that has arrived has left if it is so much farther from the end of its path than where units arrive, in cells.
const DRIFT: f32 = 0.5;

/// Checks the targets that are followed, one after another: for up to a quarter of the budget in a tick.
pub(crate) fn follow_targets(
    mut intake: RequestIntake,
    settings: Res<TilePathSettings>,
    mut followers: Local<Vec<(u64, Entity)>>,
) {
    let open = &intake.outcomes.open;
    let last = open.last_followed;
    followers.extend(open.followers.iter().map(|(&number, follower)| (number, follower.unit)));
    let next = followers.partition_point(|&(number, _)| number <= last);
    followers.rotate_left(next);
    let (share, mut spent) = ((settings.budget / 4).max(LOOK_COST), 0_u32);
    for (number, entity) in followers.drain(..) {
        if spent >= share {
            break;
        }
        intake.outcomes.open.last_followed = number;
        let (has_looked, needs_path) = intake.needs_other_path(entity, number);
        spent += if has_looked { LOOK_COST } else { 0 };
        if needs_path {
            intake.outcomes.pathfinder.counters.followed += 1;
            spent = spent.saturating_add(ENTRY_COST + intake.resolve_and_queue(entity));
        }
    }
    // With the smallest budgets, too, something is left for searches.
    intake.outcomes.pathfinder.spend(spent.min(settings.budget / 2));
}

impl RequestIntake<'_, '_> {
    /// Looks at the target of a follower. Returns whether it has looked, and whether the unit needs another path to its target.
    fn needs_other_path(&mut self, entity: Entity, number: u64) -> (bool, bool) {
        let Ok(unit) = self.units.get_mut(entity) else {
            self.outcomes.unfollow(number);
            return (false, false);
        };
        if !self.outcomes.follows(&unit, number) {
            return (false, false);
        }
        if unit.request.is_some_and(|request| !request.follows) {
            return (true, self.gives_target_up(entity));
        }
        let seen = self.look_at_target(entity);
        let Ok(mut unit) = self.units.get_mut(entity) else {
            return (true, false);
        };
        let needs_path = match seen {
            Some(Ok(target)) => {
                let needs_path = self.outcomes.target_seen(&mut unit, &target);
                unit.state.has_followed |= needs_path;
                needs_path
            }
            Some(Err(reason)) => {
                self.outcomes.target_lost(&mut unit, reason);
                false
            }
            None => false,
        };
        (true, needs_path)
    }

    /// Whether the target to which a unit goes is gone: another one is looked for. Before it is known to which of several targets
    /// the unit goes, any of them counts.
    fn gives_target_up(&mut self, entity: Entity) -> bool {
        let Ok(unit) = self.units.get(entity) else {
            return false;
        };
        let target = unit.request.map(|request| request.target_of(unit.state.attempt));
        let is_gone = match (target, unit.state.nearest) {
            (Some(Target::Nearest(targets)), None) => {
                let known = unit.state.places.as_deref().unwrap_or_default();
                let mut numbers = known.iter().map(|place| place.target as usize);
                numbers.any(|number| targets.get(number).is_some_and(|one| self.is_gone(one)))
            }
            (Some(Target::Nearest(targets)), Some(number)) => {
                targets.get(number as usize).is_some_and(|one| self.is_gone(one))
            }
            (target, _) => target.is_some_and(|target| self.is_gone(target)),
        };
        if is_gone && let Ok(mut unit) = self.units.get_mut(entity) {
            unit.state.places = None; // where it was does not count any more
        }
        is_gone
    }

    /// Whether a target is an entity that no longer exists or has no position.
    fn is_gone(&self, target: &Target) -> bool {
        let &Target::Entity(target) = target else {
            return false;
        };
        let position = self.whereabouts.position(target).filter(|position| position.is_finite());
        position.is_none() && self.blockers.grid_of(target).is_none()
    }

    /// Returns where the target of a unit is, or why it cannot be reached any more.
    fn look_at_target(&self, entity: Entity) -> Option<Result<SeenTarget, PathFailure>> {
        let unit = self.units.get(entity).ok()?;
        let request = unit.request?;
        let (id, profile) = request.grid_and_profile(unit.agent, unit.state);
        let Some(grid) = self.grids.get(id) else {
            return Some(Err(PathFailure::GridGone(id)));
        };
        let destination = self.destination(&unit, request, request.target_of(unit.state.attempt));
        // Units that the game moves count as being at the end of their path.
        let is_seen = unit.critter.is_some() || unit.steering.is_some();
        let is_seen = is_seen && !self.is_at_end(&unit, id, grid);
        let here = is_seen.then(|| self.cell_of(entity, id, grid.unit_size(profile))).flatten();
        let here = here.unwrap_or(unit.path.0.end());
        Some(destination.map(|Destination { grid: on, goal, .. }| {
            let is_near = on == id && goal.admits(grid, profile, here);
            SeenTarget { grid: on, goal, here, is_near }
        }))
    }

    /// Whether a steered unit has arrived and is still about where it stopped, though not on the last cell of its path.
    fn is_at_end(&self, unit: &RequesterReadOnlyItem, id: GridId, grid: &NavGrid) -> bool {
        let size = grid.unit_size(unit.state.query.profile);
        let off = || self.offset_of(unit, (id, unit.path.0.end()), size);
        let radius = unit.steering.map_or(0.0, |(_, settings)| settings.arrival_radius);
        unit.critter.is_none()
            && matches!(*unit.status, PathStatus::Arrived(_))
            && off().is_some_and(|off| length(grid.topology(), off) <= radius + DRIFT)
    }
}
