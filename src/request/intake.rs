//! Reads the inbox: canceled requests end, new ones are resolved and queued, and so are those whose
//! retry is due.
//!
//! Reading counts against the tick's budget and may take half of it; a flood of requests is read
//! over several ticks, urgent ones first, each kind in order. Targets are turned into cells here.

use bevy::{
    ecs::{entity_disabling::Disabled, system::SystemParam},
    prelude::*,
};

use super::{
    InboxEntry, RequestInbox, Requester, Target,
    outcome::{Outcomes, is_retry_due},
};
use crate::{
    blocker::PlacedBlockers, flow::FlowFields, grids::NavGrids, scheduler::TilePathSettings,
    unit::NavAgent, whereabouts::Whereabouts,
};

/// What reading an entry costs of the budget, in expansions: about the time it takes.
pub(super) const ENTRY_COST: u32 = 16;
/// Targets of one request per unit of budget (estimated).
const TARGETS_PER_UNIT: u32 = 4;
/// Entries above which the inbox gives its memory back when all are read.
const INBOX_KEPT: usize = 4_096;

/// System parameters for reading requests.
#[derive(SystemParam)]
pub(crate) struct RequestIntake<'w, 's> {
    pub(super) outcomes: Outcomes<'w, 's>,
    pub(super) grids: Res<'w, NavGrids>,
    pub(super) flows: Res<'w, FlowFields>,
    pub(super) blockers: Res<'w, PlacedBlockers>,
    pub(super) units: Query<'w, 's, Requester, Allow<Disabled>>,
    pub(super) whereabouts: Whereabouts<'w, 's>,
}

/// Plans again for units that have become another kind, or moved to another grid: their [`NavAgent`] changed.
pub(crate) fn follow_agents(
    changed: Query<(Entity, &NavAgent), (Changed<NavAgent>, Allow<Disabled>)>,
    mut intake: RequestIntake,
    mut turns: Local<Vec<(u64, Entity)>>,
) {
    turns.extend(changed.iter().filter_map(|(entity, &agent)| {
        let state = intake.units.get(entity).ok()?.state;
        (state.agent != agent).then_some((state.accepted, entity))
    }));
    turns.sort_unstable();
    for (_, entity) in turns.drain(..) {
        if let Ok(mut unit) = intake.units.get_mut(entity)
            && unit.agent_changed()
        {
            let cost = ENTRY_COST.saturating_add(intake.resolve_and_queue(entity));
            intake.outcomes.pathfinder.spend(cost);
        }
    }
}

/// Reads the inbox in the order in which it was filled, after the requests that are due again.
pub(crate) fn accept_requests(
    mut inbox: ResMut<RequestInbox>,
    settings: Res<TilePathSettings>,
    mut intake: RequestIntake,
) {
    // Half of the budget is for reading; retries and urgent requests leave some to the others. Even with the smallest budget,
    // one entry of each kind is read per tick.
    let mut left = settings.budget / 2;
    intake.retry_due((left / 2).max(settings.budget.min(1)), &mut left);
    let RequestInbox { urgent, entries, waiting, .. } = &mut *inbox;
    let mut unread = 0;
    for (entries, keep) in [(urgent, left / 4), (entries, 0)] {
        let mut count = 0;
        while count < entries.len() && (left > keep || count == 0) {
            if let InboxEntry::Issued { entity } = entries[count] {
                waiting.remove(&entity);
            }
            let cost = ENTRY_COST.saturating_add(intake.read(entries[count]));
            intake.outcomes.pathfinder.spend(cost);
            left = left.saturating_sub(cost);
            count += 1;
        }
        entries.drain(..count);
        unread += entries.len();
        if entries.is_empty() && entries.capacity() > INBOX_KEPT {
            entries.shrink_to(INBOX_KEPT); // after a flood
        }
    }
    if waiting.is_empty() && waiting.capacity() > 2 * INBOX_KEPT {
        waiting.shrink_to(INBOX_KEPT);
    }
    intake.outcomes.pathfinder.unread = unread;
}

impl RequestIntake<'_, '_> {
    /// Reads an entry; returns what that took beside the reading.
    fn read(&mut self, entry: InboxEntry) -> u32 {
        let (InboxEntry::Issued { entity } | InboxEntry::Dropped { entity, .. }) = entry;
        let Ok(mut unit) = self.units.get_mut(entity) else {
            self.outcomes.pathfinder.forget(entity);
            return 0;
        };
        match entry {
            InboxEntry::Dropped { number, .. } => self.outcomes.cancel(&mut unit, number),
            InboxEntry::Issued { .. } if self.outcomes.accept(&mut unit) => {
                return self.resolve_and_queue(entity);
            }
            InboxEntry::Issued { .. } => {}
        }
        0
    }

    /// Queues the requests whose retry is due, for up to `share` units of the budget; takes them from `left`.
    fn retry_due(&mut self, share: u32, left: &mut u32) {
        let mut spent = 0;
        let now = self.outcomes.pathfinder.now;
        while spent < share
            && let Some((entity, number)) = self.outcomes.open.take_due(now)
        {
            let mut cost = ENTRY_COST;
            if self.units.get(entity).is_ok_and(|unit| is_retry_due(&unit, number)) {
                self.outcomes.pathfinder.counters.retried += 1;
                cost = cost.saturating_add(self.resolve_and_queue(entity));
            }
            spent = cost.saturating_add(spent);
        }
        self.outcomes.pathfinder.spend(spent);
        *left = left.saturating_sub(spent);
    }

    /// Resolves the request of `entity` in its present attempt and queues it; returns what that took of
    /// the budget beside reading the request.
    pub(super) fn resolve_and_queue(&mut self, entity: Entity) -> u32 {
        let unit = self.units.get(entity).ok();
        let Some((request, unit)) = unit.and_then(|unit| Some((unit.request?, unit))) else {
            return 0;
        };
        if unit.critter.is_some_and(|(state, _)| state.member.crossing.is_some()) {
            if let Ok(mut unit) = self.units.get_mut(entity) {
                self.outcomes.await_landing(&mut unit);
            }
            return 0;
        }
        let named = request.grid_and_profile(unit.agent, unit.state);
        let cost = request.target_of(unit.state.attempt).count() / TARGETS_PER_UNIT;
        let all = self.destinations(&unit, request);
        let is_read_once = match request.target_of(unit.state.attempt) {
            Target::Entity(_) => !request.follows,
            Target::Nearest(_) => true,
            _ => false,
        };
        let places = all.as_deref().ok().filter(|_| is_read_once).map(Into::into);
        let (resolved, work) = self.resolve(&unit, request, all);
        let cost = cost.saturating_add(work);
        if let Ok(mut unit) = self.units.get_mut(entity) {
            if resolved.is_ok() {
                unit.state.places = places;
            }
            match resolved {
                Ok(Some(resolved)) => self.outcomes.search(&mut unit, resolved),
                Ok(None) => self.outcomes.await_links(&mut unit, named.1),
                Err(reason) => {
                    (unit.state.grid, unit.state.query.profile) = unit.place_or(named);
                    self.outcomes.fail_unanswered(&mut unit, reason);
                }
            }
        }
        cost
    }
}
