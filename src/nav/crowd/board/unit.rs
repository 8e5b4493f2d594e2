//! The state of a unit: where it is, what it was ordered to do, and why it does not move.

use bevy::reflect::{Reflect, std_traits::ReflectDefault};
use core::ops::{Index, IndexMut};

use super::{GridPos, Hindrance, SUBTICKS_PER_TICK};
use crate::nav::{PathCost, ProfileId, Topology, walk::PROGRESS_PER_COST};

/// Most cells along a side of a unit in a crowd.
pub const MAX_UNIT_SIZE: u32 = 8;
/// No unit, no cell.
pub const NONE: u32 = u32::MAX;
/// Steps after which a unit that only returns to its goal makes no more steps away from it. Otherwise two
/// units with the same goal would walk about forever.
const MAX_WASTED_AFTER_ARRIVAL: u8 = 4;
/// Distance from its goal, in widths of a unit, within which it pushes other units off its way back. From farther away,
/// large units on a map with units of two sizes would push one another to and fro.
const NEAR_GOAL: u16 = 4;
/// Steps in a row for which a unit is carried back before it stands its ground.
const CARRIED_STEPS: u8 = 4;
/// No direction: the unit stays, or is not pushed.
pub const STAY: u8 = 8;

/// A unit of a [`Crowd`](crate::nav::crowd::Crowd). Ids are never reused, not even after the unit is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct UnitId {
    pub(in crate::nav::crowd) index: u32,
    pub(in crate::nav::crowd) generation: u32,
}

impl UnitId {
    /// Returns the id as a number, different for every unit that was ever in a crowd.
    #[must_use]
    pub const fn bits(self) -> u64 {
        (self.generation as u64) << 32 | self.index as u64
    }

    /// Returns the unit's index in the crowd, to index lists kept beside it. It is below the greatest number
    /// of units that were ever in the crowd at the same time.
    #[must_use]
    pub const fn index(self) -> usize {
        self.index as usize
    }
}

/// How a unit moves and what other units may do to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Clone)]
pub struct UnitSettings {
    /// Determines where the unit can stand, what terrain costs it, and its size.
    pub profile: ProfileId,
    /// Work done in a tick, in cost × [`PROGRESS_PER_COST`]; see [`speed`](Self::ticks_per_cell). With 0
    /// the unit stands still.
    pub speed: u64,
    /// Units of different teams are obstacles to each other: they cannot push one another. Default 0.
    pub team: u8,
    /// Whether units of its team may push it aside. Default true.
    pub is_pushable: bool,
    /// Whether it keeps its place once it stands at the end of its path, where it waits for something: others may not push
    /// it off. Default false.
    pub keeps_goal: bool,
}

impl Default for UnitSettings {
    /// Ten ticks for a straight step over plain terrain.
    fn default() -> Self {
        let profile = ProfileId::default();
        Self { profile, speed: 0, team: 0, is_pushable: true, keeps_goal: false }.ticks_per_cell(10)
    }
}

impl UnitSettings {
    /// Sets the speed to `ticks` (at least one) for a straight step over plain terrain.
    #[must_use]
    pub const fn ticks_per_cell(mut self, ticks: u32) -> Self {
        let ticks = if ticks == 0 { 1 } else { ticks as u64 };
        self.speed = (PathCost::PLAIN_STEP.0 * PROGRESS_PER_COST).div_ceil(ticks);
        self
    }
}

/// The number of a shared field, assigned by the owner of the fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct RouteId(pub u32);

/// The index of a group in the list of groups. Members store it, and leave the group before it is removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct GroupIndex(pub u32);

/// What a unit was ordered to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum Task {
    /// Nothing.
    #[default]
    Idle,
    /// Follow a shared field.
    Route(RouteId),
    /// Go to its slot in a group, or to that of another member.
    Group(GroupIndex),
    /// Follow its own path to its goal.
    Path,
}

impl Task {
    /// Returns the group whose slots the unit goes to.
    pub const fn group(self) -> Option<GroupIndex> {
        if let Self::Group(id) = self { Some(id) } else { None }
    }
}

/// What a unit is doing: one thing at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum Mode {
    /// It carries out its order.
    #[default]
    Normal,
    /// The terrain under it was built over; it leaves that area on the side in this direction (see
    /// [`escape`](crate::nav::crowd::cost_to_go::escape)).
    Escaping(u8),
    /// It lets a unit pass: it moves away from that unit's goal until that unit is past it.
    Yielding(UnitId),
    /// It gets out of the way of a unit: it goes in this direction, or stands out of the way ([`STAY`]).
    MakingWay(UnitId, u8),
}

/// Whether a unit stands or moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum State {
    /// There is no unit at this index.
    #[default]
    Absent,
    /// Stands and has no goal to go to.
    Standing,
    /// Stands, has a goal, and is scheduled to try again.
    Waiting,
    /// Planned to move in the current tick; may be undone.
    Planned { was_waiting: bool },
    /// Between two cells.
    Moving,
}

/// A unit; fills two cache lines.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[repr(align(128))]
pub struct Unit {
    /// The cell on which it stands or which it leaves, and the cell it enters; the same while it stands.
    pub tail: GridPos,
    pub head: GridPos,
    pub state: State,
    pub size: u8,
    pub profile: ProfileId,
    pub team: u8,
    /// Direction of the current step, or of the last one.
    pub direction: u8,
    /// It is off the centers of the cells of its step, on a straight line across the grid.
    pub is_on_line: bool,
    /// Others may not push it: never, or not off its goal.
    pub is_unpushable: bool,
    pub keeps_goal: bool,
    /// It has reached its goal since the last order.
    pub has_arrived: bool,
    /// Its profile has another size now: it cannot move until it is placed where it fits.
    pub needs_refit: bool,
    pub mode: Mode,
    /// It stands back for others on purpose: any unit of its team may push it, even one with a lower priority.
    pub accepts_any_push: bool,
    /// It waits for the units it shuts in to move.
    pub stands_back: bool,
    /// How often it has stood back since its last order. While the number is odd, it makes room in the
    /// opposite directions.
    pub stand_backs: u8,
    pub is_reported_stuck: bool,
    /// Wasted steps since it arrived: those that it made for units that only return to their goals, and
    /// those on its own way back that did not bring it nearer.
    pub wasted_steps: u8,
    /// How many steps in a row it has made for units behind it.
    pub pushed_steps: u8,
    /// A wall, but no passage, is near the cell where it was last decided.
    pub is_near_wall: bool,
    /// The wall has a gate near that cell.
    pub is_near_gate: bool,
    pub hindrance: Hindrance,
    /// A unit whose plan failed because of this one: that unit is decided again when something changes here.
    pub wake_also: u32,
    /// Direction of its shortest path when it was last decided, whether the cell there was free or not.
    pub preferred_direction: u8,
    /// Number of steps for which it has a higher priority: it is in a passage, or has just left one.
    pub clearing_steps: u8,
    /// A cell that is kept for it until the unit that leaves the cell is gone.
    pub reserved_cell: u32,
    /// The last tick in which it was decided that it stays.
    pub stay_tick: u32,
    /// The last search for chains that looked at it, and the directions in which that search has pushed it.
    pub chain_search: u32,
    pub searched_directions: u8,
    /// The number of the list of units to decide on which it was last put.
    pub list: u32,
    /// The last tick in which the costs of its field were looked up, and their index in the list.
    pub costs_tick: u32,
    pub costs_index: u32,
    /// Begin and end of the current step, in subticks.
    pub start: u64,
    pub end: u64,
    pub speed: u64,
    /// Tick of the last order plus an offset: the older the order, the higher the priority.
    pub priority_since: u32,
    /// The fewest steps left of its own path while it waited near a wall, at most [`MAX_WAY_LEFT`](super::MAX_WAY_LEFT); 0 if
    /// it has not waited there since the order. Its priority is as high as if the order were older by as many ticks: of the
    /// units before a door, the one with the longest way behind the door enters first.
    pub way_left: u16,
    /// Tick since which it has not moved although it has a goal; set again when there is new reason to try.
    pub waiting_since: u32,
    /// Tick of its last step or order.
    pub standing_since: u32,
    pub task: Task,
    /// Its final destination, unless a field guides it. Members of groups exchange it.
    pub goal: GridPos,
    /// The number of the slot in its group to which it goes; [`NONE`] while it has none.
    pub slot: u32,
    pub generation: u32,
}

const _: () = assert!(size_of::<Unit>() == 128);

/// All units, by index.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Units(pub Vec<Unit>);

impl Units {
    pub fn get(&self, index: u32) -> Option<&Unit> {
        self.0.get(index as usize)
    }

    pub fn get_mut(&mut self, index: u32) -> Option<&mut Unit> {
        self.0.get_mut(index as usize)
    }
}

impl Index<u32> for Units {
    type Output = Unit;

    #[inline(always)]
    fn index(&self, index: u32) -> &Unit {
        &self.0[index as usize]
    }
}

impl IndexMut<u32> for Units {
    #[inline(always)]
    fn index_mut(&mut self, index: u32) -> &mut Unit {
        &mut self.0[index as usize]
    }
}

impl Unit {
    /// An index without a unit, for the next unit that gets it.
    pub fn vacant(generation: u32) -> Self {
        let none = Self { wake_also: NONE, reserved_cell: NONE, slot: NONE, ..Self::default() };
        Self { generation, preferred_direction: STAY, ..none }
    }

    pub fn is_moving(&self) -> bool {
        matches!(self.state, State::Moving | State::Planned { .. })
    }

    pub fn is_present(&self) -> bool {
        self.state != State::Absent
    }

    /// Returns the ticks since [`waiting_since`](Self::waiting_since).
    pub fn ticks_waited(&self, now: u64) -> u64 {
        u64::from((now as u32).wrapping_sub(self.waiting_since))
    }

    /// Returns the ticks since its last step or order.
    pub fn ticks_stood(&self, now: u64) -> u64 {
        u64::from((now as u32).wrapping_sub(self.standing_since))
    }

    /// Returns whether units of `team` may push it.
    pub fn is_pushable_by(&self, team: u8) -> bool {
        let stays_on_goal = self.keeps_goal && self.has_arrived && self.tail == self.goal;
        let gives_way = !self.is_unpushable && !stays_on_goal;
        gives_way && self.speed > 0 && !self.needs_refit && self.team == team
    }

    /// Returns whether it has the same order as another unit, to the same goal.
    pub fn shares_goal_with(&self, other: &Self) -> bool {
        self.task == other.task && (self.task != Task::Path || self.goal == other.goal)
    }

    /// Returns whether it has nothing to do.
    pub fn is_idle(&self) -> bool {
        self.task == Task::Idle && self.mode == Mode::Normal
    }

    /// Returns whether the terrain under it was built over.
    pub const fn is_trapped(&self) -> bool {
        matches!(self.mode, Mode::Escaping(_))
    }

    /// Returns the index of the unit that it lets pass, or of whose way it gets out; [`NONE`] if there is none.
    pub const fn yields_to(&self) -> u32 {
        match self.mode {
            Mode::Yielding(other) | Mode::MakingWay(other, _) => other.index,
            Mode::Normal | Mode::Escaping(_) => NONE,
        }
    }

    /// Returns whether it has somewhere to go and has not been there yet, or lets another unit pass.
    pub fn is_under_way(&self) -> bool {
        let has_goal = self.task != Task::Idle && !self.has_arrived;
        self.is_present() && (has_goal || self.yields_to() != NONE)
    }

    /// Returns whether it has arrived and only returns to its goal after a push. On its way back it pushes few units, and not
    /// for long, so that units with the same goal do not fight for it (see [`reclaim`](crate::nav::crowd::planner::reclaim)).
    pub fn is_returning(&self) -> bool {
        self.has_arrived
            && matches!(self.task, Task::Path | Task::Group(_))
            && self.mode == Mode::Normal
    }

    /// Returns whether it rests on the goal at which it has arrived.
    pub fn rests_on_goal(&self) -> bool {
        self.is_returning() && self.goal == self.tail && !self.is_moving()
    }

    /// Returns whether it only returns to its goal and is too far away to push units at rest off its way: it goes around them.
    pub fn returns_from_afar(&self) -> bool {
        self.is_returning() && self.tail.chebyshev(self.goal) > NEAR_GOAL * u16::from(self.size)
    }

    /// Returns whether its current or last step was made for a unit behind it.
    pub const fn is_pushed(&self) -> bool {
        self.pushed_steps > 0
    }

    /// Returns whether it refuses, for now, to be carried back by `pusher`. A larger pusher has to wait: it would carry along
    /// all the smaller units between it and its goal, while these can get around it sooner. (On squares only: on hexagons this
    /// rule makes two sizes take an eighth longer.) A pusher of one cell has to wait for a moment after several steps: the
    /// units beside it pass in that time, and this unit can then step aside. Otherwise units that walk abreast carry it along
    /// to where they go.
    pub fn stands_its_ground(
        &self,
        topology: Topology,
        (pusher, direction): (&Self, u8),
        now: u64,
    ) -> bool {
        let is_smaller = self.size < pusher.size && topology == Topology::Square;
        let is_carried = || {
            pusher.size == 1
                && self.is_pushed()
                && self.pushed_steps.is_multiple_of(CARRIED_STEPS)
                && self.ticks_stood(now) < self.ticks_per_cell()
        };
        !self.is_near_wall
            && self.is_under_way()
            && self.preferred_direction != STAY
            && topology.turn_angle(self.preferred_direction, direction) > 2
            && (is_smaller || is_carried())
    }

    /// Returns whether it has tried often enough to get back to its goal or slot.
    pub fn has_given_up(&self) -> bool {
        self.has_arrived && self.wasted_steps >= MAX_WASTED_AFTER_ARRIVAL
    }

    /// Makes it give up its way back to its goal until its next order.
    pub fn give_up(&mut self) {
        self.wasted_steps = self.wasted_steps.max(MAX_WASTED_AFTER_ARRIVAL);
    }

    /// Returns the ticks that it takes for a straight step over plain terrain, rounded.
    pub fn ticks_per_cell(&self) -> u64 {
        (PathCost::PLAIN_STEP.0 * PROGRESS_PER_COST + self.speed / 2)
            .checked_div(self.speed)
            .unwrap_or(u64::MAX / 64)
    }

    /// Returns the share of the current step that is done at the end of tick `now`: numerator and
    /// denominator.
    pub fn progress(&self, now: u64) -> (u64, u64) {
        if self.state != State::Moving {
            return (0, 1);
        }
        let needed = (self.end - self.start).max(1);
        ((now * SUBTICKS_PER_TICK).saturating_sub(self.start).min(needed), needed)
    }
}
