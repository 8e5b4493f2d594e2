//! What becomes of requests when the game replaces the [`Pathfinder`](crate::scheduler::Pathfinder).
//!
//! Input: the clock of the `Pathfinder`, which jumps then. Output: lost searches are requested again, and each retry is
//! due after as many ticks as before.

use bevy::{ecs::entity_disabling::Disabled, prelude::*};

use super::{OpenRequests, Outcomes, Requester};

/// Asks again for what another pathfinder was searching for, older requests first.
pub(crate) fn ask_again(
    mut outcomes: Outcomes,
    mut units: Query<(Entity, Requester), Allow<Disabled>>,
) {
    let now = outcomes.pathfinder.now;
    let Some(before) = outcomes.open.note_tick(now) else {
        return;
    };
    outcomes.open.shift_retries(before, now);
    for (&(due, number), &entity) in &outcomes.open.retries {
        if let Ok((_, mut unit)) = units.get_mut(entity)
            && unit.state.accepted == number
        {
            unit.state.due = Some(due);
            let passed = (before + 1).saturating_sub(unit.state.last_tried);
            unit.state.last_tried = now.saturating_sub(passed);
        }
    }
    let searched = units.iter().filter(|(_, unit)| unit.state.ticket.is_some());
    let mut turns: Vec<(u64, Entity)> =
        searched.map(|(entity, unit)| (unit.state.accepted, entity)).collect();
    turns.sort_unstable();
    for (_, entity) in turns {
        if let Ok((_, mut unit)) = units.get_mut(entity) {
            outcomes.plan_anew(&mut unit);
        }
    }
}

impl OpenRequests {
    /// Notes the current tick. Returns the tick noted before, unless the current one comes right after it.
    fn note_tick(&mut self, now: u64) -> Option<u64> {
        let before = core::mem::replace(&mut self.tick, now);
        (before + 1 != now).then_some(before)
    }

    /// Moves the due ticks of retries from one clock to another.
    fn shift_retries(&mut self, before: u64, now: u64) {
        let retries = core::mem::take(&mut self.retries).into_iter();
        let shift = |((due, number), entity): ((u64, u64), Entity)| {
            ((due.saturating_sub(before + 1).saturating_add(now), number), entity)
        };
        self.retries = retries.map(shift).collect();
    }
}
