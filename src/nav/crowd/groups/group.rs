//! Groups: many units come to rest near one goal, each on a cell of its own.
//!
//! Input: members, each with a slot of its own (see `membership`). Output: the slots in a window around them (see
//! `slots`); and, for each member that has entered the window, the slot to which it goes (see `slot_assignment`).
//! Slots are collected again when the number of members or the terrain changes.

use super::{
    Groups,
    membership::{SwapClass, own_slots},
    slots::fill_costs_to_slots,
};
use crate::nav::crowd::{
    board::{
        Board,
        reservations::GridPos,
        unit::{GroupIndex, NONE, Order, RouteId, State},
    },
    cost_to_go::{Sources, flood::Flood, guidance::World},
};
use crate::nav::{grid::NavGrid, terrain::ProfileId};

/// Fewest ticks between two refreshes of a group.
const REFRESH: u64 = 8;

#[derive(Clone, Debug, Default)]
pub struct Group {
    pub route: Option<RouteId>,
    /// What the members have in common.
    pub swap_class: SwapClass,
    pub goal: GridPos,
    pub profile: u8,
    pub size: u8,
    pub is_used: bool,
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
    /// The slots, and the member each is assigned to ([`NONE`]: to none yet).
    pub slots: Vec<GridPos>,
    pub assignees: Vec<u32>,
    /// For each slot the member whose own it is; a member that takes the slot of another exchanges with it.
    pub owners: Vec<u32>,
    /// For each cell of the window the index of its slot, or [`NONE`].
    pub slot_at: Vec<u32>,
    /// A member in the window sees no slot, so the costs are needed.
    pub are_costs_wanted: bool,
}

impl Group {
    pub fn bytes(&self) -> usize {
        self.window.bytes()
            + 4 * (self.slots.capacity() + self.assignees.capacity() + self.slot_at.capacity())
            + 4 * self.owners.capacity()
    }
}

impl Groups {
    /// Adds a group without members. Reuses the memory of a removed one.
    pub fn insert_group(&mut self, group: Group) -> GroupIndex {
        let free = self.list.iter().position(|group| !group.is_used);
        let at = free.unwrap_or_else(|| {
            self.list.push(Group::default());
            self.list.len() - 1
        });
        let mut old = core::mem::take(&mut self.list[at]);
        for list in [&mut old.assignees, &mut old.owners, &mut old.slot_at] {
            list.clear();
        }
        old.slots.clear();
        old.window.lay_out(GridPos::default(), (0, 0));
        let Group { slots, assignees, owners, slot_at, window, .. } = old;
        let lists = Group { slots, assignees, owners, slot_at, window, ..group };
        self.list[at] = Group { is_used: true, ..lists };
        GroupIndex(at as u32)
    }

    /// Counts a unit that joins or leaves the group of an order.
    pub fn update_member_count(&mut self, order: Order, joins: bool) {
        if let Some(id) = order.group()
            && let Some(group) = self.list.get_mut(id.0 as usize)
        {
            group.members = if joins { group.members + 1 } else { group.members - 1 };
            group.is_stale = true;
            group.is_used = group.members > 0;
        }
    }

    /// Collects slots and finds the costs to them again where something has changed.
    pub fn refresh(&mut self, board: &mut Board, sources: &Sources, world: World<'_>) {
        for at in 0..self.list.len() {
            let group = &self.list[at];
            let is_due = group.refreshed_at == 0 || board.now >= group.refreshed_at + REFRESH;
            if !group.is_used || group.members == 0 || !is_due {
                continue;
            }
            if group.is_stale {
                self.collect_slots(board, sources, (world.grid, GroupIndex(at as u32)));
                let group = &mut self.list[at];
                (group.is_stale, group.are_costs_stale, group.refreshed_at) =
                    (false, true, board.now);
            }
            let Groups { list, open_cells, .. } = self;
            let group = &mut list[at];
            if group.are_costs_wanted && group.are_costs_stale {
                fill_costs_to_slots(world.grid, group, open_cells);
                (group.are_costs_wanted, group.are_costs_stale, group.refreshed_at) =
                    (false, false, board.now);
            }
        }
    }

    /// Collects the slots of a group from scratch. Members keep theirs where they can.
    fn collect_slots(
        &mut self,
        board: &mut Board,
        sources: &Sources,
        (grid, id): (&NavGrid, GroupIndex),
    ) {
        let mut group = core::mem::take(&mut self[id]);
        let mut scratch = core::mem::take(&mut self.scratch);
        group.size = grid.unit_size(ProfileId(group.profile)) as u8;
        let slots = own_slots(id, board, sources);
        scratch.collect_slots(grid, &board.reservations, &group, slots);
        scratch.lay_out_window(grid, &mut group);
        for (assignee, cell) in scratch.previous_slots() {
            let slot = group.window.index(cell).map_or(NONE, |at| group.slot_at[at]);
            let is_kept = slot != NONE && group.assignees[slot as usize] == NONE;
            if is_kept {
                group.assignees[slot as usize] = assignee;
            }
            board.units[assignee as usize].slot = if is_kept { slot } else { NONE };
            if !is_kept && board.units[assignee as usize].state == State::Standing {
                board.schedule_next_tick(assignee);
            }
        }
        self.scratch = scratch;
        self[id] = group;
    }
}
