//! What crowds tell: what happened in a tick, and what was done so far.

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

use super::{Hindrance, unit::UnitId};
use crate::nav::cell::Cell;

/// Something that happened to a unit in a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrowdEvent {
    /// It stands on its goal for the first time since its last order.
    Arrived {
        /// Who.
        unit: UnitId,
        /// Where.
        cell: Cell,
    },
    /// Two members of a group have exchanged their places.
    Exchanged {
        /// One of them.
        unit: UnitId,
        /// The other, which may be far away, or have been at rest.
        with: UnitId,
        /// Whether both had stood on their places before: they go back without pushing anybody, and do not
        /// arrive again.
        have_arrived: bool,
    },
    /// A member of a group could not get to its place for long, and keeps the one where it stands.
    Settled {
        /// Who.
        unit: UnitId,
        /// Its place from now on.
        cell: Cell,
    },
    /// It has not been able to move for long, or has moved for long and come no nearer to its goal
    /// ([`Hindrance::Circling`]). Told once until it moves again.
    Stuck {
        /// Who.
        unit: UnitId,
        /// Why.
        why: Hindrance,
    },
    /// It has found no way for a while ([`Hindrance::NoWay`]); told again as long as that is so.
    Lost {
        /// Who.
        unit: UnitId,
    },
}

/// What the crowd has done since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct CrowdCounters {
    /// Steps begun.
    pub steps: u64,
    /// Decisions made, one for each time somebody was asked what to do.
    pub decisions: u64,
    /// Decisions that ended in waiting.
    pub waits: u64,
    /// Steps made to let somebody else pass.
    pub pushes: u64,
    /// Long chains of pushes, searched for on behalf of units that could not move for long.
    pub chains: u64,
    /// Times that a unit stood back for others whom it shut in.
    pub let_out: u64,
    /// Times that a unit stood back because it had come no nearer to its goal for many steps.
    pub pauses: u64,
    /// Places that mates exchanged.
    pub exchanges: u64,
    /// Members of groups that kept another place than theirs, see [`CrowdEvent::Settled`].
    pub settled: u64,
    /// Plans that were undone because they led nowhere.
    pub undone: u64,
    /// Most ticks in a row that a unit waited.
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
            let_out: a.let_out + b.let_out,
            pauses: a.pauses + b.pauses,
            exchanges: a.exchanges + b.exchanges,
            settled: a.settled + b.settled,
            undone: a.undone + b.undone,
            longest_wait: a.longest_wait.max(b.longest_wait),
        })
    }
}
