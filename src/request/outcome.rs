//! Decides the outcome of requests.
//!
//! The only module that writes [`PathStatus`], triggers the events of requests, decides whether a request fails,
//! is tried again or continues, and knows which request is the latest. Input: what happened to a unit, from all
//! stages. Output: its status, path, retries, and events.

mod changed_agent;
mod following;
mod latest;
mod over_links;
mod retry;

pub(crate) use latest::{has_unread, is_latest, note_all};
pub(super) use latest::{note_dropped, note_issued, note_removed};
pub(super) use retry::is_retry_due;

use core::{iter::repeat_n, mem::take};

use bevy::{ecs::system::SystemParam, prelude::*};

use super::{
    OpenRequests, PathRequest, RequesterItem, Resolved, grid_of, leaves_walls, start_near,
};
use crate::{
    flow::FlowFields,
    grids::NavGrids,
    links::NavLinks,
    nav::{Answer, Cell, Hindrance, JobOptions, Path, PathFailure, PathKind, PathQuery, Priority},
    scheduler::{Pathfinder, path_kind},
    unit::{
        Arrived, CancelReason, Journey, NavPath, PathCanceled, PathFound, PathInvalidated,
        PathStatus,
    },
};

/// The priority of repairs over ordinary requests: a unit stands and waits for a repair.
const REPAIR_PRIORITY: i8 = 4;

/// Steps of a path that are pulled straight for a unit of the budget (estimated).
const STEPS_PULLED_PER_UNIT: u32 = 2;

/// Everything needed to decide what becomes of a request.
#[derive(SystemParam)]
pub(crate) struct Outcomes<'w, 's> {
    pub(crate) pathfinder: ResMut<'w, Pathfinder>,
    pub(super) open: ResMut<'w, OpenRequests>,
    pub(crate) links: ResMut<'w, NavLinks>,
    commands: Commands<'w, 's>,
}

impl Outcomes<'_, '_> {
    /// Begins the unit's latest request; returns false if it was read already, or removed. Requests that were replaced or
    /// removed before they were read are canceled.
    pub(super) fn accept(&mut self, unit: &mut RequesterItem) -> bool {
        self.announce_cancels(unit);
        if !has_unread(&unit.state) {
            return false;
        }
        // An urgent request is read before the entry that removes the old request.
        self.end(unit);
        unit.state.accepted = unit.state.issued;
        if let Some((desired, _)) = &mut unit.steering {
            desired.begin();
        }
        let Some(request) = unit.request else {
            return false;
        };
        unit.state.agent = unit.agent.copied().unwrap_or_default();
        (unit.state.tries, unit.state.attempt, unit.state.rest_of_pause) = (0, 0, None);
        (unit.state.has_followed, unit.state.slot, unit.state.ended) = (false, None, None);
        (unit.state.places, unit.state.nearest) = (None, None);
        unit.state.journey = Journey::default();
        unit.state.overrides_agent = request.start_grid.is_some() || request.profile.is_some();
        true
    }

    /// Queues a resolved request; a critter stops after the step under way.
    pub(super) fn search(&mut self, unit: &mut RequesterItem, resolved: Resolved) {
        let Some(request) = unit.request else {
            return;
        };
        let Resolved { grid, query, goals, next, destinations } = resolved;
        unit.path.0 = Path::standing(query.start);
        if let Some((state, transform)) = &mut unit.critter {
            let is_known =
                grid_of(state, &unit.state) == grid && state.is_where_it_was_put(transform);
            // Only the crowd moves its units elsewhere.
            let stays = state.unit().is_some() || is_known && state.walk.head() == query.start;
            if stays { state.restart() } else { state.stand_on(query.start) }
        }
        let &PathRequest { priority, class, .. } = request;
        let rally = request.rally.filter(|_| next.is_none());
        unit.state.nearest = None;
        (unit.state.journey.next, unit.state.journey.goals) = (next, destinations);
        if next.is_some() {
            self.links.note_use(query.profile);
            unit.state.journey.without_costs_since = None;
        }
        let options = JobOptions { priority, class, rally, goals: goals.clone(), ..default() };
        let ticket = self.pathfinder.ask(unit.entity, grid, query, options);
        self.watch_target(unit, request);
        *unit.status = PathStatus::Searching;
        (unit.state.grid, unit.state.query, unit.state.goals) = (grid, query, goals);
        (unit.state.priority, unit.state.class) = (priority, class);
        unit.state.ticket = Some(ticket);
    }

    /// The answer to a unit's request has come. `is_elsewhere`: the game has moved the unit away from the start of its path.
    pub(super) fn answered(
        &mut self,
        unit: &mut RequesterItem,
        answer: Answer,
        (grids, flows): (&NavGrids, &FlowFields),
        is_elsewhere: bool,
    ) {
        let is_first_part = path_kind(&answer) == Some(PathKind::FirstSegment);
        if !is_first_part {
            unit.state.ticket = None;
        }
        if !unit.is_latest() {
            return; // removed or replaced: its entry is not read yet
        }
        let is_rest = answer.delivered.is_some();
        match answer.result {
            // If a unit of a crowd was moved in the meantime, the crowd puts it there.
            _ if is_elsewhere && (!is_rest || !unit.is_in_crowd()) => {
                self.forget_search(unit); // for the rest of a long path
                self.resolve_again(unit);
            }
            _ if !is_rest && self.takes_links(unit, &answer, (grids, flows)) => {}
            Ok(found) if is_rest && unit.path.0.end() != found.start() => {
                // Its path was replaced in the meantime.
                let head = unit.head();
                self.repair(unit, head);
            }
            Ok(mut found) => {
                // Pulled straight if the unit has any-angle paths.
                if let (Some(any_angle), Some(grid)) = (&mut unit.any_angle, grids.get(answer.grid))
                {
                    // Paid in the next tick.
                    self.pathfinder.spend(found.steps() / STEPS_PULLED_PER_UNIT);
                    found = any_angle.set_path(grid, unit.state.query.profile, &found, is_rest);
                }
                if found.kind() == PathKind::Complete && unit.state.journey.next.is_some() {
                    found.set_kind(PathKind::ToLink);
                }
                unit.note_target(grids, &found);
                self.found(unit, found, is_rest);
            }
            // The grid was edited since the route over links was planned, or since the first segment was found.
            Err(
                PathFailure::NoPath { .. }
                | PathFailure::GoalImpassable(_)
                | PathFailure::GoalOutOfBounds(_),
            ) if unit.state.journey.next.is_some()
                || is_rest && unit.state.journey.goals.is_some() =>
            {
                self.resolve_again(unit);
            }
            // It was built over while it waited for its search, and walks out.
            Err(PathFailure::StartImpassable(_)) if walks_out(unit, grids) => {
                self.resolve_again(unit);
            }
            Err(reason) => {
                unit.stop();
                self.fail(unit, reason);
            }
        }
    }

    /// A unit cannot follow its path any more. A critter gets another one from where it is, if it needs one; a
    /// unit that the game moves is notified, and its request is resolved again.
    pub(crate) fn path_lost(&mut self, unit: &mut RequesterItem, grids: &NavGrids) {
        let Some((state, _)) = &unit.critter else {
            return self.invalidate(unit);
        };
        let (head, profile, is_in_crowd) =
            (unit.head(), unit.state.query.profile, state.unit().is_some());
        let grid = grids.get(unit.state.grid);
        let start =
            grid.map_or(head, |grid| start_near(grid, profile, (head, Vec2::ZERO), is_in_crowd));
        unit.stop_at(start);
        if !unit.is_at_rest() {
            self.repair(unit, start);
        }
    }

    /// A walking critter has become a ghost: it continues on a path from its cell.
    pub(crate) fn crowd_left(&mut self, unit: &mut RequesterItem) {
        unit.stop();
        let head = unit.head();
        self.repair(unit, head);
    }

    /// The grid on which a critter walks is gone: its request fails.
    pub(crate) fn grid_gone(&mut self, unit: &mut RequesterItem) {
        self.fail_unanswered(unit, PathFailure::GridGone(unit.state.grid));
    }

    /// Searches for the rest of a path from `start`; the unit keeps the path it has.
    fn repair(&mut self, unit: &mut RequesterItem, start: Cell) {
        let query = PathQuery { start, ..unit.state.query };
        let priority = Priority(unit.state.priority.0.saturating_add(REPAIR_PRIORITY));
        let (class, goals) = (unit.state.class, unit.state.goals.clone());
        let options = JobOptions { priority, class, goals, is_continuation: true, ..default() };
        let ticket = self.pathfinder.ask(unit.entity, unit.state.grid, query, options);
        (unit.state.ticket, unit.state.query) = (Some(ticket), query);
        self.pathfinder.counters.repaired += 1;
        *unit.status = PathStatus::Repairing;
    }

    /// Something else moves the unit from now on: its request is resolved again, from where the unit is.
    pub(crate) fn mover_changed(&mut self, unit: &mut RequesterItem) {
        if !unit.status.has_path() || !unit.is_latest() {
            return;
        }
        if let Some((desired, _)) = &mut unit.steering {
            desired.begin();
        }
        if unit.critter.is_none() {
            return self.invalidate(unit);
        }
        self.forget_search(unit);
        self.resolve_again(unit);
    }

    /// Discards what the request of a unit has led to so far: it is resolved again, from where the unit is.
    pub(crate) fn plan_anew(&mut self, unit: &mut RequesterItem) {
        self.forget_search(unit);
        (unit.state.journey.next, unit.state.journey.back) = (None, None);
        match unit.is_latest() {
            true if unit.critter.is_none() && unit.status.has_path() => self.invalidate(unit),
            true => self.resolve_again(unit),
            false => {}
        }
    }

    /// The path of a unit that the game moves is no longer valid: announces that, and resolves the request again.
    fn invalidate(&mut self, unit: &mut RequesterItem) {
        self.forget_search(unit);
        self.pathfinder.counters.repaired += 1;
        *unit.status = PathStatus::Repairing;
        self.retry_in(1, unit);
        self.commands.trigger(PathInvalidated { entity: unit.entity });
    }

    /// Ends all searches for the unit, even for the rest of a long path.
    fn forget_search(&mut self, unit: &mut RequesterItem) {
        self.pathfinder.forget(unit.entity);
        unit.state.ticket = None;
    }

    /// Hands a unit its path, or the rest of one.
    fn found(&mut self, unit: &mut RequesterItem, found: Path, is_rest: bool) {
        let kind = found.kind();
        unit.state.journey.without_costs_since = None;
        if kind == PathKind::Complete {
            (unit.state.tries, unit.state.rest_of_pause) = (0, None);
        }
        if kind == PathKind::ToLink {
            self.links.set_out.push((unit.state.accepted, unit.entity));
        }
        *unit.status = match &mut unit.critter {
            Some((state, _)) => {
                if is_rest {
                    state.extend();
                } else {
                    state.begin(found.start());
                }
                state.member.keeps_goal = kind == PathKind::ToLink;
                state.member.is_held &= kind == PathKind::ToLink;
                PathStatus::Walking(kind)
            }
            None if unit.steering.is_some() => PathStatus::Walking(kind),
            None => PathStatus::Found(kind),
        };
        if is_rest {
            unit.path.0.append(found);
        } else {
            unit.path.0 = found;
            unit.restart_steering();
        }
        self.commands.trigger(PathFound { entity: unit.entity, kind, is_rest });
    }

    /// A critter or a steered unit has come to the end of its path (`arrived`), or has lost the path. Nothing happens if the
    /// rest of the path is still to come. The unit also needs another path if its goal is elsewhere by now: it has exchanged
    /// slots with a member of its group, and the group no longer exists.
    pub(crate) fn path_ended(&mut self, unit: &mut RequesterItem, arrived: bool, grids: &NavGrids) {
        let (kind, goal) = (unit.path.0.kind(), unit.state.query.goal);
        let is_exact = goal.is_single_cell() && unit.state.goals.is_none();
        let entity = unit.entity;
        let cell = unit.critter.as_ref().map_or(unit.path.0.end(), |(state, _)| state.cell());
        match kind {
            PathKind::FirstSegment => {}
            PathKind::ToLink if arrived => {} // from here on `crossings::cross_links` takes care of it
            _ if !arrived => self.path_lost(unit, grids),
            PathKind::Complete if is_exact && goal.cell() != cell => self.path_lost(unit, grids),
            _ => {
                let was_announced = unit.take_announced();
                if unit.path.0.end() != cell {
                    unit.path.0 = Path::standing(cell); // the slot of another member
                }
                *unit.status = PathStatus::Arrived(kind);
                if !was_announced {
                    self.commands.trigger(Arrived { entity, kind, cell });
                }
            }
        }
    }

    /// Request `number` was removed or replaced: it ends here, unless a newer one has been read before.
    pub(super) fn cancel(&mut self, unit: &mut RequesterItem, number: u64) {
        self.announce_cancels(unit);
        if unit.state.accepted <= number {
            self.end(unit);
        }
    }

    /// Announces the requests that were dropped while under way; an urgent request that replaces one is read before the entry
    /// that drops it.
    fn announce_cancels(&mut self, unit: &mut RequesterItem) {
        let state = &mut *unit.state;
        let [replaced, removed] = [take(&mut state.replaced), take(&mut state.removed)];
        let reasons = repeat_n(CancelReason::Replaced, replaced.into())
            .chain(repeat_n(CancelReason::Removed, removed.into()));
        for reason in reasons {
            self.commands.trigger(PathCanceled { entity: unit.entity, reason });
        }
    }

    /// Ends the unit's current request; a critter stops on the next cell.
    pub(super) fn end(&mut self, unit: &mut RequesterItem) {
        self.pathfinder.forget(unit.entity);
        self.unfollow(unit.state.accepted);
        let status = if unit.request.is_some() { PathStatus::Searching } else { PathStatus::Idle };
        *unit.status = status;
        (unit.state.ticket, unit.state.is_announced) = (None, false);
        if unit.critter.is_some() {
            unit.stop();
        }
    }
}

impl RequesterItem<'_, '_> {
    /// Whether its request is the one that was last read: not removed or replaced since.
    pub(crate) fn is_latest(&self) -> bool {
        is_latest(self.request, &self.state)
    }

    /// Whether a critter has a path to follow: the path of a removed or replaced request ends here, even
    /// before the inbox is read.
    pub(crate) fn is_walking(&self) -> bool {
        self.status.is_walking() && self.is_latest()
    }

    /// Whether nothing is searched for at present.
    pub(crate) fn is_at_rest(&self) -> bool {
        use PathStatus::{Arrived, Failed, Idle, Searching, Waiting};
        // Between two attempts nothing is searched for, either.
        matches!(*self.status, Idle | Waiting(_) | Failed(_) | Arrived(_))
            || matches!(*self.status, Searching) && self.state.ticket.is_none()
    }

    /// It cannot move on, for this reason.
    pub(crate) fn set_stuck(&mut self, why: Hindrance) {
        *self.status = PathStatus::Stuck(why);
        if let Some((state, _)) = &mut self.critter {
            state.bypass_change_detection().member.is_stuck = true;
        }
    }

    /// Whether its arrival was announced although it walks: it was sent on to another slot. This counts once.
    pub(super) fn take_announced(&mut self) -> bool {
        take(&mut self.state.is_announced)
    }

    /// Notes to which of several targets a path leads. If it ends where it reaches two of them, the first one counts.
    fn note_target(&mut self, grids: &NavGrids, path: &Path) {
        let (id, profile) = (self.state.grid, self.state.query.profile);
        let is_complete = path.kind() == PathKind::Complete;
        let places = self.state.places.as_deref().filter(|_| is_complete).unwrap_or_default();
        self.state.nearest = grids.get(id).and_then(|grid| {
            let mut here = places.iter().filter(|place| place.grid == id);
            here.find(|to| to.goal.admits(grid, profile, path.end())).map(|to| to.target)
        });
    }

    /// If it has arrived and is sent on to another slot of its group, it walks again, without announcing another arrival.
    pub(crate) fn resume_walking(&mut self) {
        if let PathStatus::Arrived(kind) = *self.status {
            self.state.is_announced = true;
            *self.status = PathStatus::Walking(kind);
        }
    }
}

/// Whether a unit may begin its path on a cell near a wall in which it stands, and there is one.
fn walks_out(unit: &RequesterItem, grids: &NavGrids) -> bool {
    let profile = unit.state.query.profile;
    let critter = unit.critter.as_ref().map(|(state, _)| &**state);
    let leaves = leaves_walls(critter, unit.steering.is_some());
    grids.get(unit.state.grid).is_some_and(|grid| {
        let start = start_near(grid, profile, (unit.head(), Vec2::ZERO), leaves);
        leaves && grid.cost(profile, start) > 0
    })
}

/// A unit that was stuck moves again.
pub(crate) fn clear_stuck(status: &mut Mut<PathStatus>, path: &NavPath) {
    if matches!(**status, PathStatus::Stuck(_)) {
        **status = PathStatus::Walking(path.0.kind());
    }
}
