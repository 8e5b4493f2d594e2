//! Reads the inbox: what was dropped is canceled, what was asked is resolved and queued; and so is
//! what is to be tried again.
//!
//! Reading is paid from the tick's budget and may take half of it; a flood of requests is read
//! over several ticks, urgent ones first, each kind in order. Targets are turned into cells here.

use bevy::{
    ecs::{entity_disabling::Disabled, system::SystemParam},
    prelude::*,
};

use super::{
    Letter, PathFailed, PathStatus, RequestInbox, Target,
    resolve::{Places, Resolved, Unit, UnitItem},
};
use crate::{
    blocker::PlacedBlockers,
    grids::NavGrids,
    nav::{path::Path, query::PathFailure, queue::JobOptions},
    scheduler::{Pathfinder, TilePathSettings},
    whereabouts::Whereabouts,
};

/// What reading a letter costs of the budget, in expansions: about the time it takes.
pub(super) const LETTER_COST: u32 = 16;
/// So many targets of one request take a unit of the budget (estimated).
const TARGETS_PER_UNIT: u32 = 4;
/// Letters above which the inbox gives its memory back when all are read.
const INBOX_KEPT: usize = 4_096;

/// What orders are read with.
#[derive(SystemParam)]
pub(crate) struct Desk<'w, 's> {
    pub(super) pathfinder: ResMut<'w, Pathfinder>,
    pub(super) grids: Res<'w, NavGrids>,
    pub(super) blockers: Res<'w, PlacedBlockers>,
    pub(super) units: Query<'w, 's, Unit, Allow<Disabled>>,
    pub(super) whereabouts: Whereabouts<'w, 's>,
    pub(super) commands: Commands<'w, 's>,
}

/// Reads the inbox in the order in which it was filled, after the orders that are due again.
pub(crate) fn accept_requests(
    mut inbox: ResMut<RequestInbox>,
    settings: Res<TilePathSettings>,
    mut desk: Desk,
) {
    desk.pathfinder.unread = 0;
    // Half of the budget is for reading; who is tried again and who is urgent leave some to the others.
    let mut left = settings.budget / 2;
    desk.take_up_again(left / 2, &mut left);
    let RequestInbox { urgent, letters, .. } = &mut *inbox;
    for (letters, keep) in [(urgent, left / 4), (letters, 0)] {
        let mut count = 0;
        while count < letters.len() && (left > keep || count == 0) {
            let cost = LETTER_COST.saturating_add(desk.read(letters[count]));
            desk.pathfinder.spent = desk.pathfinder.spent.saturating_add(cost);
            left = left.saturating_sub(cost);
            count += 1;
        }
        letters.drain(..count);
        desk.pathfinder.unread += letters.len();
        if letters.is_empty() && letters.capacity() > INBOX_KEPT {
            letters.shrink_to(INBOX_KEPT); // after a flood
        }
    }
}

impl Desk<'_, '_> {
    /// What targets are resolved with.
    pub(super) fn places(&self) -> Places<'_, '_, '_> {
        let Self { grids, blockers, whereabouts, .. } = self;
        Places { grids, blockers, whereabouts }
    }

    /// Reads a letter; returns what that took beside the reading.
    fn read(&mut self, letter: Letter) -> u32 {
        match letter {
            Letter::Dropped(entity, number, was_under_way) => {
                self.drop_order(entity, number, was_under_way);
                0
            }
            Letter::Asked(entity, number) => self.take_up_new(entity, number),
        }
    }

    /// Takes up a request for the first time, if it is still the unit's latest; else it was taken off,
    /// replaced or despawned meanwhile, and a later letter says so.
    fn take_up_new(&mut self, entity: Entity, number: u64) -> u32 {
        let Ok(unit) = self.units.get_mut(entity) else {
            return 0;
        };
        if unit.0.is_none() || unit.2.asked != number {
            return 0;
        }
        // An urgent one is read before the letter that takes the old one off.
        self.pathfinder.forget(entity);
        self.pathfinder.unfollow(unit.2.number);
        end_order(unit);
        if let Ok((_, _, mut order, ..)) = self.units.get_mut(entity) {
            order.number = number;
            (order.tries, order.attempt) = (0, 0);
        }
        self.take_up(entity)
    }

    /// Takes up orders that are due again, for up to `share` of the budget of which there is `left`.
    fn take_up_again(&mut self, share: u32, left: &mut u32) {
        let mut spent = 0;
        while spent < share
            && let Some((entity, number)) = self.pathfinder.take_due()
        {
            let mut cost = LETTER_COST;
            let is_same = self.units.get(entity).is_ok_and(|(request, status, order, ..)| {
                let waits = matches!(*status, PathStatus::Searching | PathStatus::Waiting(_));
                let is_latest = order.number == number && order.asked == number;
                request.is_some() && waits && is_latest && order.ticket.is_none()
            });
            if is_same {
                self.pathfinder.counters.retried += 1;
                cost = cost.saturating_add(self.take_up(entity));
            }
            spent = cost.saturating_add(spent);
        }
        self.pathfinder.spent = self.pathfinder.spent.saturating_add(spent);
        *left = left.saturating_sub(spent);
    }

    /// Resolves the order of `entity` in its present attempt and queues it; returns what that took of
    /// the budget beside reading the request.
    pub(super) fn take_up(&mut self, entity: Entity) -> u32 {
        let places = self.places();
        let Ok((Some(request), _, order, ..)) = self.units.get(entity) else {
            return 0;
        };
        let cost = request.target_of(order.attempt).count() / TARGETS_PER_UNIT;
        let resolved = places.resolve(entity, request, order.attempt, &self.units);
        if let Ok(unit) = self.units.get_mut(entity) {
            let failed = begin_order(entity, unit, resolved, &mut self.pathfinder);
            if let Err(reason) = failed {
                self.pathfinder.counters.failed += 1;
                self.commands.trigger(PathFailed { entity, reason });
            }
        }
        cost
    }

    /// Request `number` was taken off or replaced: whatever it was up to ends here, unless a newer one
    /// has been read before.
    fn drop_order(&mut self, entity: Entity, number: u64, was_under_way: bool) {
        let Ok(unit) = self.units.get_mut(entity) else {
            self.pathfinder.forget(entity);
            return;
        };
        if was_under_way {
            let is_replaced = unit.0.is_some();
            let reason = if is_replaced { PathFailure::Superseded } else { PathFailure::Canceled };
            self.commands.trigger(PathFailed { entity, reason });
        }
        if unit.2.number <= number {
            self.pathfinder.forget(entity);
            self.pathfinder.unfollow(unit.2.number);
            end_order(unit);
        }
    }
}

/// Puts a resolved request into the queue; a critter stops after the step under way. The reason why
/// not, where the order has failed for good.
pub(super) fn begin_order(
    entity: Entity,
    (request, mut status, mut order, mut path, state): UnitItem<'_>,
    resolved: Result<Resolved, PathFailure>,
    pathfinder: &mut Pathfinder,
) -> Result<(), PathFailure> {
    let Some(request) = request else {
        return Ok(());
    };
    let Resolved { query, goals } = match resolved {
        Ok(resolved) => resolved,
        Err(reason) => {
            (order.grid, order.query.profile) = (request.grid, request.profile);
            let mut fallback = pathfinder.fallback();
            let goes_on = fallback.goes_on(entity, Some(request), &mut order, &mut status, reason);
            return if goes_on { Ok(()) } else { Err(reason) };
        }
    };
    let start = query.start;
    path.0 = Path::standing(start);
    if let Some((mut state, transform)) = state {
        let is_known = state.grid(&order) == request.grid && state.is_where_it_was_put(transform);
        // Only its crowd puts a unit elsewhere.
        let stays = state.unit().is_some() || is_known && state.walk.head() == start;
        if stays { state.restart() } else { state.stand_on(start) }
    }
    let options = JobOptions {
        priority: request.priority,
        class: request.class,
        goals: goals.clone(),
        rally: request.rally,
        goes_on: false,
    };
    let ticket = pathfinder.ask(entity, request.grid, query, options);
    if request.follows && matches!(request.target_of(order.attempt), Target::Entity(_)) {
        pathfinder.follow(order.number, entity);
    } else {
        pathfinder.unfollow(order.number);
    }
    *status = PathStatus::Searching;
    order.grid = request.grid;
    order.query = query;
    order.goals = goals;
    order.priority = request.priority;
    order.class = request.class;
    order.ticket = Some(ticket);
    Ok(())
}

/// Whatever a request that was taken off or replaced was up to ends here.
fn end_order((request, mut status, mut order, mut path, state): UnitItem<'_>) {
    *status = if request.is_some() { PathStatus::Searching } else { PathStatus::Idle };
    order.ticket = None;
    if let Some((mut state, _)) = state {
        let head = state.walk.head();
        path.0 = Path::standing(head);
        state.restart();
    }
}
