//! Groups: many units come to rest near one goal, each on a cell of its own.
//!
//! Input: units with their own paths, each to its slot; the swap class of each; the field of their order, if there is
//! one. Output: one group per swap class, team and profile; the slots in a window around the members (see `slots`); and, for
//! each member that has entered the window, the slot to which it goes (see `slot_assignment`). Far from the goal the
//! members follow the field, or their own paths where the field does not reach. If a member takes the slot of another,
//! the two exchange their own slots, so that each always has one and no slot belongs to two members. Slots are
//! collected again when the number of members or the terrain changes.

use super::Groups;
use crate::nav::crowd::board::{
    Board, CrowdEvent, GridPos, GroupIndex, NONE, RouteId, State, StepCosts, Task, Unit,
};
use crate::nav::crowd::cost_to_go::{CostToGo, Flood, UNREACHABLE, around};
use crate::nav::{Cell, CellRect, NavGrid, ProfileId};

/// Fewest ticks between two refreshes of a group.
const REFRESH: u64 = 8;

/// The order of a group member, apart from its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// Units of one profile and team with the same number may exchange their slots.
    pub swap_class: u32,
    /// The cell assigned to the unit. No two units of a swap class are sent to the same cell.
    pub slot: Cell,
    /// The cell around which all of them gather, and the field that leads there, if there is one.
    pub goal: Cell,
    /// See [`goal`](Self::goal).
    pub route: Option<RouteId>,
}

#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Group {
    pub route: Option<RouteId>,
    /// What the members have in common.
    pub swap_class: u32,
    pub team: u8,
    pub profile: ProfileId,
    pub goal: GridPos,
    /// The slot of the first member. The slots of all members lie in one connected region, so their window stays small.
    first_slot: GridPos,
    pub size: u8,
    pub members: usize,
    /// Slots may have changed since the last refresh.
    pub is_stale: bool,
    pub refreshed_at: u64,
    /// The window, with the cost of the path from each cell to the nearest unassigned slot where it is not open;
    /// and whether these costs may have changed.
    pub window: Flood,
    pub are_costs_stale: bool,
    /// Whether a unit can stand anywhere in the window, and no cell or edge in it is a barrier.
    pub is_open: bool,
    pub slots: Vec<Slot>,
    /// A member in the window sees no slot, so the costs are needed.
    pub are_costs_wanted: bool,
}

/// A cell, and the member that owns it; [`NONE`](crate::nav::crowd::board::unit::NONE) for a while after that
/// member has left the group.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Slot {
    pub pos: GridPos,
    pub owner: u32,
}

impl Group {
    /// Returns whether the line between two positions, straight first, then diagonal, is open and crosses no barrier: the way over
    /// a bridge may be cheaper than through a river.
    pub fn sees(&self, grid: &NavGrid, from: GridPos, to: GridPos) -> bool {
        if self.is_open && self.window.contains(from) {
            return true;
        }
        let costs = StepCosts::of(grid, self.profile);
        costs.is_some_and(|costs| costs.is_line_free(from, to))
    }

    /// Returns whether edits may change slots or the costs to them: edits in the window or beside it do, and all edits if a
    /// member has no slot.
    pub fn depends_on(&self, grid: &NavGrid, edits: &[CellRect]) -> bool {
        let window = self.window.rect(grid).grown();
        let is_near = |&rect: &CellRect| {
            !grid.anchors_over(self.profile, rect).intersection(window).is_empty()
        };
        self.slots.len() < self.members || edits.iter().any(is_near)
    }

    /// Whether it may be refreshed now.
    const fn is_due(&self, now: u64) -> bool {
        self.members > 0 && (self.refreshed_at == 0 || now >= self.refreshed_at + REFRESH)
    }

    /// Returns the number of a member's own slot.
    pub fn own_slot(&self, index: u32) -> Option<usize> {
        self.slots.iter().position(|slot| slot.owner == index)
    }

    /// Iterates over the slots to which their owners do not go yet.
    pub fn free_slots(&self, board: &Board) -> impl Iterator<Item = (usize, GridPos)> {
        let is_free = |number: usize, owner: u32| {
            let owner = board.units.get(owner);
            owner.is_some_and(|owner| owner.slot as usize != number)
        };
        let slots = self.slots.iter().enumerate();
        let free = slots.filter(move |&(number, slot)| is_free(number, slot.owner));
        free.map(|(number, slot)| (number, slot.pos))
    }

    pub fn bytes(&self) -> usize {
        self.window.bytes() + self.slots.capacity() * size_of::<Slot>()
    }
}

impl Groups {
    /// Counts a unit that joins the group of its swap class, and returns that group. It has this field and goal from now
    /// on. The unit gets its order afterwards.
    pub fn join(
        &mut self,
        grid: &NavGrid,
        unit: &Unit,
        membership: &Membership,
        (goal, slot): (GridPos, GridPos),
    ) -> GroupIndex {
        let (swap_class, team, profile) = (membership.swap_class, unit.team, unit.profile);
        let region = |pos: GridPos| grid.region(profile, pos.cell(grid));
        let own = region(slot);
        let are_joined = |other: Option<u32>| own == other || own.is_none() || other.is_none();
        let known = self.list.iter().position(|group| {
            let common = (group.swap_class, group.team, group.profile);
            group.members > 0
                && common == (swap_class, team, profile)
                && are_joined(region(group.first_slot))
        });
        // A new group takes the place of one that has no members left.
        let free = || self.list.iter().position(|group| group.members == 0);
        let at = known.or_else(free).unwrap_or_else(|| {
            self.list.push(Group::default());
            self.list.len() - 1
        });
        let group = &mut self.list[at];
        if group.members == 0 {
            *group = Group { swap_class, team, profile, first_slot: slot, ..Group::default() };
        }
        (group.route, group.goal) = (membership.route, goal);
        (group.members, group.is_stale) = (group.members + 1, true);
        GroupIndex(at as u32)
    }

    /// Frees the slots of a unit that leaves its group, if it has one.
    pub fn leave(&mut self, board: &mut Board, index: u32) {
        let slot = board.units[index].slot as usize;
        self.release_slot(board, index);
        if let Task::Group(id) = board.units[index].task {
            let group = &mut self[id];
            let is_own = |slot: &Slot| slot.owner == index;
            let known = group.slots.get(slot).filter(|slot| is_own(slot)).map(|_| slot);
            if let Some(own) = known.or_else(|| group.own_slot(index)) {
                group.slots[own].owner = NONE;
            }
            (group.members, group.is_stale) = (group.members - 1, true);
        }
    }

    /// Exchanges the goals of two members that have exchanged their slots.
    pub fn exchange_goals(&mut self, board: &mut Board, grid: &NavGrid, members: [u32; 2]) {
        let [a, b] = members.map(|index| board.units[index]);
        // If both had arrived and were pushed off their slots, they go back without pushing other units:
        // those would push them off again.
        let have_arrived = a.has_arrived && b.has_arrived;
        for (index, goal) in members.into_iter().zip([b.goal, a.goal]) {
            let now = board.tick_stamp();
            let unit = &mut board.units[index];
            self.progress[index as usize].begin_slot(now, (unit.goal, goal));
            (unit.goal, unit.has_arrived) = (goal, have_arrived);
            match unit.state {
                State::Standing => board.schedule_next_tick(index),
                State::Planned { .. } => board.retry_if_undone(index),
                State::Absent | State::Waiting | State::Moving => {}
            }
            let (unit, cell) = (board.id(index), goal.cell(grid));
            board.events.push(CrowdEvent::SlotChanged { unit, cell, has_arrived: have_arrived });
        }
        board.counters.exchanges += 1;
    }

    /// Returns the cost to go around a member of a group: to its slot; without one, to the nearest slot around walls.
    /// `None` far from the slots.
    pub fn slot_costs_around(
        &self,
        grid: &NavGrid,
        unit: &Unit,
        directions: u8,
    ) -> Option<CostToGo> {
        let group = &self[unit.task.group()?];
        if let Some(slot) = group.slots.get(unit.slot as usize) {
            let layer = grid.layer(unit.profile);
            let cost = layer
                .map_or(1, |layer| u64::from(layer.highest_step_sum()) * u64::from(layer.unit()));
            let distance = |pos: GridPos| pos.open_distance(slot.pos, grid.topology());
            let own = distance(unit.tail);
            // It avoids cells from which it would not see its slot and would give it up.
            let to_slot = |pos| match distance(pos) {
                nearer if nearer < own && !group.sees(grid, pos, slot.pos) => UNREACHABLE,
                distance => distance * cost,
            };
            return Some(around(unit.tail, directions, &to_slot));
        }
        let is_known = group.window.cost(unit.tail) != UNREACHABLE;
        is_known.then(|| around(unit.tail, directions, &|pos| group.window.cost(pos)))
    }

    /// Lists the members of all groups whose slots are to be collected, by group: one look at all units.
    fn members_to_collect(&self, board: &Board) -> Vec<(GroupIndex, u32)> {
        let is_collected = |group: &Group| group.is_stale && group.is_due(board.now);
        if !self.list.iter().any(is_collected) {
            return Vec::new();
        }
        let units = (0..).zip(&board.units.0);
        let members = units.filter_map(|(index, unit)| Some((unit.task.group()?, index)));
        let mut members: Vec<_> = members.filter(|member| is_collected(&self[member.0])).collect();
        members.sort_unstable();
        members
    }

    /// Collects slots and finds the costs to them again where something has changed.
    pub fn refresh(&mut self, board: &mut Board, grid: &NavGrid) {
        let Board { freed, units, .. } = &mut *board;
        for index in freed.drain(..) {
            // A wall may stand on its own slot.
            if let Some(id) = units[index].task.group() {
                self[id].is_stale = true;
            }
        }
        let members = self.members_to_collect(board);
        let now = board.now;
        let Self { list, taken, goals, open_cells, progress, .. } = self;
        let mut are_goals_known = false;
        for (id, group) in (0..).map(GroupIndex).zip(list) {
            if !group.is_due(now) {
                continue;
            }
            if group.is_stale {
                let first = members.partition_point(|member| member.0 < id);
                let of_group = members[first..].iter().take_while(|member| member.0 == id);
                let shut_out =
                    group.collect_slots(board, grid, of_group.map(|member| member.1), taken);
                if !shut_out.is_empty() && !core::mem::replace(&mut are_goals_known, true) {
                    goals.take_goals(board);
                }
                for owner in shut_out {
                    if let Some(slots) = group.replace_slot(board, grid, owner, goals) {
                        progress[owner as usize].begin_slot(board.tick_stamp(), slots);
                    }
                }
                group.lay_out_window(grid);
                (group.is_stale, group.are_costs_stale, group.refreshed_at) = (false, true, now);
            }
            if group.are_costs_wanted && group.are_costs_stale {
                group.fill_costs_to_slots(board, grid, open_cells);
                (group.are_costs_wanted, group.are_costs_stale, group.refreshed_at) =
                    (false, false, now);
            }
        }
    }
}
