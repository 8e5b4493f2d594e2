//! Groups: many units come to rest near one goal, each on a cell of its own.
//!
//! Input: members, each with a slot of its own (see `membership`). Output: the slots in a window around them (see
//! `slots`); and, for each member that has entered the window, the slot to which it goes (see `slot_assignment`).
//! Slots are collected again when the number of members or the terrain changes.

use crate::nav::crowd::{
    Crowd, RouteId,
    flood::Flood,
    groups::Groups,
    guidance::{Guidance, World},
    membership::{SwapClass, own_slots},
    reservations::GridPos,
    slots::fill_costs_to_slots,
    unit::{NONE, Order, State},
};
use crate::nav::terrain::ProfileId;

/// Fewest ticks between two refreshes of a group.
const REFRESH: u64 = 8;

/// The index of a group in the list of groups. Members store it, and leave the group before it is removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::nav::crowd) struct GroupIndex(pub(super) u32);

#[derive(Clone, Debug, Default)]
pub(in crate::nav::crowd) struct Group {
    pub(super) route: Option<RouteId>,
    /// What the members have in common.
    pub(super) swap_class: SwapClass,
    pub(super) goal: GridPos,
    pub(super) profile: u8,
    pub(super) size: u8,
    pub(super) is_used: bool,
    pub(super) members: usize,
    /// Slots may have changed since the last refresh.
    pub(super) is_stale: bool,
    pub(super) refreshed_at: u64,
    /// The window, with the cost of the path from each cell to the nearest unassigned slot where it is not open;
    /// and whether these costs may have changed.
    pub(super) window: Flood,
    pub(super) are_costs_stale: bool,
    /// Whether a unit can stand anywhere in the window.
    pub(super) is_open: bool,
    /// The slots, and the member each is assigned to ([`NONE`]: to none yet).
    pub(super) slots: Vec<GridPos>,
    pub(super) assignees: Vec<u32>,
    /// For each slot the member whose own it is; a member that takes the slot of another exchanges with it.
    pub(super) owners: Vec<u32>,
    /// For each cell of the window the index of its slot, or [`NONE`].
    pub(super) slot_at: Vec<u32>,
    /// A member in the window sees no slot, so the costs are needed.
    pub(super) are_costs_wanted: bool,
}

impl Group {
    pub(super) fn bytes(&self) -> usize {
        self.window.bytes()
            + 4 * (self.slots.capacity() + self.assignees.capacity() + self.slot_at.capacity())
            + 4 * self.owners.capacity()
    }
}

impl Crowd {
    /// Adds a group without members. Reuses the memory of a removed one.
    pub(in crate::nav::crowd) fn insert_group(&mut self, group: Group) -> GroupIndex {
        let free = self.groups.list.iter().position(|group| !group.is_used);
        let at = free.unwrap_or_else(|| {
            self.groups.list.push(Group::default());
            self.groups.list.len() - 1
        });
        let mut old = core::mem::take(&mut self.groups.list[at]);
        for list in [&mut old.assignees, &mut old.owners, &mut old.slot_at] {
            list.clear();
        }
        old.slots.clear();
        old.window.lay_out(GridPos::default(), (0, 0));
        let Group { slots, assignees, owners, slot_at, window, .. } = old;
        let lists = Group { slots, assignees, owners, slot_at, window, ..group };
        self.groups.list[at] = Group { is_used: true, ..lists };
        GroupIndex(at as u32)
    }

    /// Counts a unit that joins or leaves the group of an order.
    pub(in crate::nav::crowd) fn update_member_count(&mut self, order: Order, joins: bool) {
        if let Some(id) = order.group()
            && let Some(group) = self.groups.list.get_mut(id.0 as usize)
        {
            group.members = if joins { group.members + 1 } else { group.members - 1 };
            group.is_stale = true;
            group.is_used = group.members > 0;
        }
    }

    /// Collects slots and finds the costs to them again where something has changed.
    pub(in crate::nav::crowd) fn refresh_groups<G: Guidance + ?Sized>(
        &mut self,
        world: &World<'_, G>,
    ) {
        for at in 0..self.groups.list.len() {
            let group = &self.groups.list[at];
            let is_due = group.refreshed_at == 0 || self.now >= group.refreshed_at + REFRESH;
            if !group.is_used || group.members == 0 || !is_due {
                continue;
            }
            if group.is_stale {
                self.collect_slots(world, GroupIndex(at as u32));
                let group = &mut self.groups.list[at];
                (group.is_stale, group.are_costs_stale, group.refreshed_at) =
                    (false, true, self.now);
            }
            let Groups { list, open_cells, .. } = &mut self.groups;
            let group = &mut list[at];
            if group.are_costs_wanted && group.are_costs_stale {
                fill_costs_to_slots(world, group, open_cells);
                (group.are_costs_wanted, group.are_costs_stale, group.refreshed_at) =
                    (false, false, self.now);
            }
        }
    }

    /// Collects the slots of a group from scratch. Members keep theirs where they can.
    fn collect_slots<G: Guidance + ?Sized>(&mut self, world: &World<'_, G>, id: GroupIndex) {
        let mut group = core::mem::take(&mut self.groups[id]);
        let mut scratch = core::mem::take(&mut self.groups.scratch);
        group.size = world.grid.unit_size(ProfileId(group.profile)) as u8;
        let slots = own_slots(id, (&self.units, &self.sources));
        scratch.collect_slots(world, &self.reservations, &group, slots);
        scratch.lay_out_window(world, &mut group);
        for (assignee, cell) in scratch.previous_slots() {
            let slot = group.window.index(cell).map_or(NONE, |at| group.slot_at[at]);
            let is_kept = slot != NONE && group.assignees[slot as usize] == NONE;
            if is_kept {
                group.assignees[slot as usize] = assignee;
            }
            self.units[assignee as usize].slot = if is_kept { slot } else { NONE };
            if !is_kept && self.units[assignee as usize].state == State::Standing {
                self.schedule_next_tick(assignee);
            }
        }
        self.groups.scratch = scratch;
        self.groups[id] = group;
    }
}
