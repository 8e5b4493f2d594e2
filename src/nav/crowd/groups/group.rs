//! Groups: many units come to rest near one goal, each on a cell of its own.
//!
//! Input: members, each with a slot of its own (see `membership`). Output: the slots in a window around them (see
//! `slots`); and, for each member that has entered the window, the slot to which it goes (see `slot_assignment`).
//! Slots are collected again when the number of members or the terrain changes.

use super::{Groups, membership::SwapClass};
use crate::nav::crowd::board::{Board, GridPos, GroupIndex, RouteId};
use crate::nav::crowd::cost_to_go::Flood;
use crate::nav::{NavGrid, ProfileId};

/// Fewest ticks between two refreshes of a group.
const REFRESH: u64 = 8;

#[derive(Clone, Debug, Default)]
pub struct Group {
    pub route: Option<RouteId>,
    /// What the members have in common.
    pub swap_class: SwapClass,
    pub goal: GridPos,
    pub profile: ProfileId,
    pub size: u8,
    pub members: usize,
    /// Slots may have changed since the last refresh.
    pub is_stale: bool,
    pub refreshed_at: u64,
    /// The window, with the cost of the path from each cell to the nearest unassigned slot where it is not open;
    /// and whether these costs may have changed.
    pub window: Flood,
    pub are_costs_stale: bool,
    /// Whether a unit can stand anywhere in the window.
    pub is_open: bool,
    pub slots: Vec<Slot>,
    /// A member in the window sees no slot, so the costs are needed.
    pub are_costs_wanted: bool,
}

/// A cell, and the member whose own it is; [`NONE`](crate::nav::crowd::board::unit::NONE) for a while after that member has left the group.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    pub pos: GridPos,
    pub owner: u32,
}

impl Group {
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
    /// Adds a group without members, in the place of one that has none left.
    pub fn insert_group(&mut self, group: Group) -> GroupIndex {
        let free = self.list.iter().position(|group| group.members == 0);
        let at = free.unwrap_or(self.list.len());
        if free.is_none() {
            self.list.push(Group::default());
        }
        self.list[at] = group;
        GroupIndex(at as u32)
    }

    /// Collects slots and finds the costs to them again where something has changed.
    pub fn refresh(&mut self, board: &mut Board, grid: &NavGrid) {
        let Self { list, taken, open_cells, .. } = self;
        for (id, group) in (0..).map(GroupIndex).zip(list) {
            let is_due = group.refreshed_at == 0 || board.now >= group.refreshed_at + REFRESH;
            if group.members == 0 || !is_due {
                continue;
            }
            if group.is_stale {
                group.collect_slots(board, grid, id, taken);
                group.lay_out_window(grid);
                (group.is_stale, group.are_costs_stale, group.refreshed_at) =
                    (false, true, board.now);
            }
            if group.are_costs_wanted && group.are_costs_stale {
                group.fill_costs_to_slots(board, grid, open_cells);
                (group.are_costs_wanted, group.are_costs_stale, group.refreshed_at) =
                    (false, false, board.now);
            }
        }
    }
}
