//! The events of a tick, and counters of what a crowd has done so far.

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

use super::{Hindrance, UnitId};
use crate::nav::Cell;

/// Something that happened to a unit in a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrowdEvent {
    /// It stands on its goal for the first time since its last order.
    Arrived {
        /// The unit.
        unit: UnitId,
        /// Its goal.
        cell: Cell,
    },
    /// Two members of a group have exchanged their slots.
    Exchanged {
        /// One member.
        unit: UnitId,
        /// The other member, which may be far away, or may have been at rest.
        with: UnitId,
        /// Whether both had stood on their slots before: they return without pushing other units, and do not
        /// arrive again.
        have_arrived: bool,
    },
    /// A member of a group has not been able to reach its slot for long, and takes the cell where it stands
    /// instead.
    Settled {
        /// The unit.
        unit: UnitId,
        /// Its slot from now on.
        cell: Cell,
    },
    /// It has not been able to move for long, or has moved for long and come no nearer to its goal
    /// ([`Hindrance::Circling`]). Reported once until it moves again.
    Stuck {
        /// The unit.
        unit: UnitId,
        /// Why it is stuck.
        why: Hindrance,
    },
    /// It has found no path for a while ([`Hindrance::NoPath`]). Reported again as long as that is so.
    Lost {
        /// The unit.
        unit: UnitId,
    },
}

/// What the crowd has done since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct CrowdCounters {
    /// Steps begun.
    pub steps: u64,
    /// Decisions made, one for each unit planned or pushed in a plan.
    pub decisions: u64,
    /// Decisions that ended in waiting.
    pub waits: u64,
    /// Steps made to let another unit pass.
    pub pushes: u64,
    /// Long chains of pushes, searched for on behalf of units that could not move for long.
    pub chains: u64,
    /// Times that a unit stood back for units that it shut in.
    pub dead_ends: u64,
    /// Times that a unit stood back because it had come no nearer to its goal for many steps.
    pub pauses: u64,
    /// Exchanges of slots between members of a group.
    pub exchanges: u64,
    /// Members of groups that settled on another cell than their slot, see [`CrowdEvent::Settled`].
    pub settled: u64,
    /// Pushes that were undone because the pushed unit had nowhere to go.
    pub undone: u64,
    /// Longest time that a unit waited, in ticks.
    pub longest_wait: u64,
}

impl core::iter::Sum for CrowdCounters {
    fn sum<I: Iterator<Item = Self>>(counters: I) -> Self {
        counters.fold(Self::default(), |a, b| Self {
            steps: a.steps + b.steps,
            decisions: a.decisions + b.decisions,
            waits: a.waits + b.waits,
            pushes: a.pushes + b.pushes,
            chains: a.chains + b.chains,
            dead_ends: a.dead_ends + b.dead_ends,
            pauses: a.pauses + b.pauses,
            exchanges: a.exchanges + b.exchanges,
            settled: a.settled + b.settled,
            undone: a.undone + b.undone,
            longest_wait: a.longest_wait.max(b.longest_wait),
        })
    }
}
