//! How insistent a unit is: what it does after how many ticks of waiting.
//!
//! One ladder for all units. Its rungs count ticks of a unit that takes ten ticks for a cell; faster and slower
//! units wait for as many steps of their own. Nothing on the ladder depends on what guides the unit: a field, its own
//! path, a slot, or the way out from under a building.

use super::{Board, Hindrance, State, Task, Unit};

/// Ticks after which a waiting unit tries again if nothing has changed nearby.
pub const RETRY_AFTER: u64 = 16;
/// A unit that has climbed the whole ladder, or waits only for its goal while another unit rests there, tries again after this
/// part of the time it has stood, and at the latest after so many ticks. 200 units around one cell then cost 0.001 ms a tick
/// instead of 0.02.
const RETRY_PART: u64 = 4;
const MAX_RETRY_AFTER: u64 = 255;
/// Ticks of waiting after which a unit is reported as stuck.
pub const STUCK_AFTER: u64 = 512;
/// Ticks without a path after which a unit is reported as lost, and again with every retry.
pub const LOST_AFTER: u64 = 24;

/// A rung: the least number of ticks of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// From now on, the length of its way raises its priority near walls. Without this rung two armies on hexagons take a
    /// tenth longer to change sides.
    JoinQueue = 8,
    /// It reclaims the goal off which it was pushed, if the goal is free and all is calm. This comes long before `Reclaim`:
    /// most goals that are held are held by a unit whose own goal is free.
    ReclaimFree = 10,
    /// It looks for a path around units that it cannot push, and also pushes units that stand their ground.
    GoAround = 24,
    /// It searches for chains of pushes in all directions. Such a search looks at many units.
    SearchChains = 48,
    /// Near walls, it takes the units ahead for a queue. Units that have waited for less form lanes side by side,
    /// as at the corner of a building.
    Queue = 60,
    /// It reclaims its goal also if units hold it that are off their own goals.
    Reclaim = 64,
    /// It sends another unit out of its way if one of the two is large, and leaves a building on any side. With a lower value
    /// paths get longer, since a push is often enough; with 160 some units that cross each other do not arrive.
    ClearWay = 96,
    /// It lets out the units that it shuts in.
    LetOut = 160,
    /// It returns to the goal off which it was pushed, whatever happens near it.
    Return = 200,
    /// It no longer makes way for another unit or lets it pass, and on hexagons it leaves a queue sideways.
    StopYielding = 256,
    /// It has no room to step back for a unit that it lets out: that unit looks for another way. Without this rung,
    /// in 2 of 300 worlds of the test `calm` one unit waits for ever; with 160 ticks, units that have room but are slow to use it are
    /// given up, too, and the scene "sizes" takes a fifth longer.
    HoldPlace = 1_024,
}

/// The ticks per cell for which the rungs hold as written, and the fewest and most ticks per cell to which they are scaled.
const PACE: u64 = 10;
const PACES: (u64, u64) = (5, 40);

impl Unit {
    /// Returns the ticks of waiting until a rung is reached.
    pub fn ticks_until(&self, rung: Rung) -> u64 {
        rung as u64 * self.ticks_per_cell().clamp(PACES.0, PACES.1) / PACE
    }

    /// Returns whether units that it cannot push have kept a unit waiting for so long that it looks for a way around them.
    pub fn is_obstructed(&self, now: u64) -> bool {
        self.hindrance == Hindrance::Obstacle
            && self.ticks_waited(now) > self.ticks_until(Rung::GoAround)
    }

    /// Returns whether a unit on its own path has climbed the whole ladder and is stuck. Never on shared fields or in
    /// groups: their field or slot may change far away from the unit.
    pub fn has_stood_for_long(&self, now: u64) -> bool {
        let ladder = self.ticks_until(Rung::StopYielding);
        self.task == Task::Path && self.ticks_stood(now) >= ladder.max(STUCK_AFTER)
    }
}

impl Board {
    /// Returns for how many ticks a unit has not moved although it has a goal; 0 if it is not waiting.
    pub fn ticks_waited(&self, index: u32) -> u64 {
        let unit = &self.units[index];
        if unit.state == State::Waiting { unit.ticks_waited(self.now) } else { 0 }
    }

    /// Returns after how many ticks a unit that has stood for `stood` ticks tries again if nothing changes nearby. Always soon
    /// if it waits beside a passage, since others have to know, if it has no path, and shortly after it stood back.
    pub fn retry_after(&self, index: u32, stood: u64) -> u64 {
        let unit = &self.units[index];
        let is_watched = matches!(unit.hindrance, Hindrance::Oncoming | Hindrance::NoPath)
            || unit.ticks_waited(self.now) < RETRY_AFTER;
        let waits_for_goal = unit.task == Task::Path
            && stood >= unit.ticks_until(Rung::Return)
            && unit.is_returning()
            && self.is_goal_taken(index);
        let is_patient = waits_for_goal || !is_watched && unit.has_stood_for_long(self.now);
        let longer = (stood / RETRY_PART).clamp(RETRY_AFTER, MAX_RETRY_AFTER);
        if is_patient { longer } else { RETRY_AFTER }
    }

    /// Returns whether a unit has waited long enough for a rung.
    pub fn has_waited_for(&self, index: u32, rung: Rung) -> bool {
        let waited = self.ticks_waited(index);
        // Most units have not waited at all, and the pace takes a division.
        waited > 0 && waited >= self.units[index].ticks_until(rung)
    }
}
