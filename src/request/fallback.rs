//! What happens to an order for which there is no way: the next of its targets, another try later, or
//! the reason why it failed.
//!
//! A hopeless try costs next to nothing: islands tell without a search, until an edit joins them.

use std::collections::BTreeMap;

use bevy::prelude::*;

use super::{ActiveOrder, PathRequest, PathStatus};
use crate::nav::query::PathFailure;

/// Orders to be taken up again, by tick and number of the order.
#[derive(Debug, Default)]
pub(crate) struct Again(BTreeMap<(u64, u64), Entity>);

impl Again {
    /// The next order that is due at `tick`: who, and its number.
    pub(crate) fn take_due(&mut self, tick: u64) -> Option<(Entity, u64)> {
        let (&(due, number), _) = self.0.first_key_value()?;
        if due > tick {
            return None;
        }
        self.0.pop_first().map(|(_, entity)| (entity, number))
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Decides what becomes of orders that failed.
pub(crate) struct Fallback<'a> {
    pub(crate) again: &'a mut Again,
    /// The tick it is.
    pub(crate) tick: u64,
}

impl Fallback<'_> {
    /// Takes the order of `entity` up again in the next tick, from where the unit is then.
    pub(crate) fn take_up_again(&mut self, entity: Entity, order: &ActiveOrder) {
        self.again.0.insert((self.tick + 1, order.number), entity);
    }

    /// Sets the order of `entity`, which failed for `reason`, on its next attempt. False where none is
    /// left: it has failed for good, and its status says so.
    pub(crate) fn goes_on(
        &mut self,
        entity: Entity,
        request: Option<&PathRequest>,
        order: &mut ActiveOrder,
        status: &mut PathStatus,
        reason: PathFailure,
    ) -> bool {
        order.ticket = None;
        let Some(request) = request else {
            *status = PathStatus::Failed(reason);
            return false;
        };
        let wait = if usize::from(order.attempt) < request.more_attempts() {
            order.attempt += 1;
            *status = PathStatus::Searching;
            1
        } else if let Some(retry) = request.retry.filter(|retry| order.tries < retry.most)
            // Who is gone will not come back.
            && (reason != PathFailure::TargetGone || !request.alternatives.is_empty())
        {
            order.attempt = 0;
            order.tries += 1;
            *status = PathStatus::Waiting(reason);
            retry.pause(order.tries)
        } else {
            *status = PathStatus::Failed(reason);
            return false;
        };
        self.again.0.insert((self.tick + wait, order.number), entity);
        true
    }
}
