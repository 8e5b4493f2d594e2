//! Groups: many units come to rest near one goal, each on a cell of its own.
//!
//! Input: a shared field to the goal, and members. Output: one slot for each member, on the cells nearest to
//! the goal, in a window around them (see `slots`); and, for each member that has entered the window, the
//! slot it goes to (see `slot_assignment`). Slots are found again when the number of members or the terrain
//! changes.

use crate::nav::crowd::{
    Crowd, CrowdError, RouteId, UnitId,
    flood::Flood,
    guidance::{Guidance, World},
    membership::{SwapClass, preassigned_slots},
    reservations::GridPos,
    slots::fill_costs_to_slots,
    unit::{NONE, Order, State},
};
use crate::nav::{cell::Cell, grid::NavGrid, terrain::ProfileId};

/// Fewest ticks between two refreshes of a group.
const REFRESH: u64 = 8;

/// A group of a [`Crowd`]. An id is never given to another group, even after this one is removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId {
    index: u32,
    generation: u32,
}

/// The index of a group in the list of groups. Members store it, and leave the group before it is removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::nav::crowd) struct GroupIndex(pub(in crate::nav::crowd) u32);

#[derive(Clone, Debug, Default)]
pub(in crate::nav::crowd) struct Group {
    pub(in crate::nav::crowd) route: Option<RouteId>,
    /// What the members have in common, if their slots are preassigned.
    pub(in crate::nav::crowd) swap_class: Option<SwapClass>,
    pub(in crate::nav::crowd) goal: GridPos,
    pub(in crate::nav::crowd) profile: u8,
    pub(in crate::nav::crowd) size: u8,
    pub(in crate::nav::crowd) is_used: bool,
    /// Counts the groups that have used this index.
    pub(in crate::nav::crowd) generation: u32,
    pub(in crate::nav::crowd) members: usize,
    /// The sum of the members' positions: columns and rows.
    pub(in crate::nav::crowd) sum: (i64, i64),
    /// Slots may have changed since the last refresh.
    pub(in crate::nav::crowd) is_stale: bool,
    pub(in crate::nav::crowd) refreshed_at: u64,
    /// The window, with the cost of the path from each cell to the nearest unassigned slot where it is not open;
    /// and whether these costs may have changed.
    pub(in crate::nav::crowd) window: Flood,
    pub(in crate::nav::crowd) are_costs_stale: bool,
    /// Whether a unit can stand anywhere in the window.
    pub(in crate::nav::crowd) is_open: bool,
    /// The slots, and the member each is assigned to ([`NONE`]: to none yet).
    pub(in crate::nav::crowd) slots: Vec<GridPos>,
    pub(in crate::nav::crowd) assignees: Vec<u32>,
    /// For each slot the unit it is preassigned to; a member that takes the slot of another exchanges with
    /// it. Empty if slots are not preassigned.
    pub(in crate::nav::crowd) preassigned: Vec<u32>,
    /// For each cell of the window the index of its slot, or [`NONE`].
    pub(in crate::nav::crowd) slot_at: Vec<u32>,
    /// A member in the window sees no slot, so the costs are needed.
    pub(in crate::nav::crowd) are_costs_wanted: bool,
}

impl Group {
    /// Returns where a member would stand if the group kept its shape, with its center on the goal.
    pub(in crate::nav::crowd) fn shape_target(&self, pos: GridPos) -> (i64, i64) {
        let members = (self.members as i64).max(1);
        let middle = (self.sum.0 / members, self.sum.1 / members);
        let (x, y) = (i64::from(pos.x) - middle.0, i64::from(pos.y) - middle.1);
        (i64::from(self.goal.x) + x, i64::from(self.goal.y) + y)
    }

    fn bytes(&self) -> usize {
        self.window.bytes()
            + 4 * (self.slots.capacity() + self.assignees.capacity() + self.slot_at.capacity())
            + 4 * self.preassigned.capacity()
    }
}

impl Crowd {
    /// Adds a group whose members gather around `goal`, to which `route` leads. All its members have this
    /// profile.
    ///
    /// # Errors
    /// [`CrowdError::OtherGrid`], or [`CrowdError::Impassable`] where the goal is not on the grid.
    pub fn add_group(
        &mut self,
        grid: &NavGrid,
        route: RouteId,
        goal: Cell,
        profile: ProfileId,
    ) -> Result<GroupId, CrowdError> {
        self.check_size(grid)?;
        let goal = GridPos::of(grid, goal).ok_or(CrowdError::Impassable(goal))?;
        let size = grid.unit_size(profile) as u8;
        let profile = profile.0;
        let group = Group { route: Some(route), goal, profile, size, ..Group::default() };
        let index = self.insert_group(group).0;
        Ok(GroupId { index, generation: self.groups[index as usize].generation })
    }

    /// Adds a group without members. Reuses the memory of a removed one.
    pub(in crate::nav::crowd) fn insert_group(&mut self, group: Group) -> GroupIndex {
        let free = self.groups.iter().position(|group| !group.is_used);
        let at = free.unwrap_or_else(|| {
            self.groups.push(Group::default());
            self.groups.len() - 1
        });
        let mut old = core::mem::take(&mut self.groups[at]);
        for list in [&mut old.assignees, &mut old.preassigned, &mut old.slot_at] {
            list.clear();
        }
        old.slots.clear();
        old.window.lay_out(GridPos::default(), (0, 0));
        let Group { slots, assignees, preassigned, slot_at, window, .. } = old;
        let generation = old.generation.wrapping_add(1);
        let lists = Group { slots, assignees, preassigned, slot_at, window, ..group };
        self.groups[at] = Group { is_used: true, generation, ..lists };
        GroupIndex(at as u32)
    }

    /// Removes a group; its members stop. Returns whether the group existed.
    pub fn remove_group(&mut self, id: GroupId) -> bool {
        let Some(index) = self.find_group(id) else {
            return false;
        };
        for member in 0..self.units.len() as u32 {
            let unit = &self.units[member as usize];
            if unit.is_present() && unit.order.group() == Some(index) {
                let _known = self.stop(self.id(member));
            }
        }
        self.groups[index.0 as usize].is_used = false;
        true
    }

    fn find_group(&self, id: GroupId) -> Option<GroupIndex> {
        let group = self.groups.get(id.index as usize)?;
        (group.is_used && group.generation == id.generation).then_some(GroupIndex(id.index))
    }

    /// Makes a unit a member of a group.
    ///
    /// # Errors
    /// [`CrowdError::NoSuchUnit`], [`CrowdError::NoSuchGroup`], or [`CrowdError::Profile`] where the unit's
    /// profile is not the group's.
    pub fn join(&mut self, id: UnitId, group: GroupId) -> Result<(), CrowdError> {
        let unit = self.get(id).ok_or(CrowdError::NoSuchUnit)?;
        let index = self.find_group(group).ok_or(CrowdError::NoSuchGroup)?;
        if self.groups[index.0 as usize].profile != unit.profile {
            return Err(CrowdError::Profile);
        }
        self.set_order(id, Order::Group(index))
    }

    /// Counts a unit at `pos` that joins or leaves the group of an order.
    pub(in crate::nav::crowd) fn update_member_count(
        &mut self,
        order: Order,
        pos: GridPos,
        joins: bool,
    ) {
        self.add_to_position_sum(order, pos, if joins { 1 } else { -1 });
        if let Some(id) = order.group()
            && let Some(group) = self.groups.get_mut(id.0 as usize)
        {
            group.members = if joins { group.members + 1 } else { group.members - 1 };
            group.is_stale = true;
            if group.members == 0 && group.swap_class.is_some() {
                group.is_used = false;
            }
        }
    }

    /// Adds the position of a member, `times` times, to the sum of its group.
    pub(in crate::nav::crowd) fn add_to_position_sum(
        &mut self,
        order: Order,
        pos: GridPos,
        times: i64,
    ) {
        if let Some(id) = order.group()
            && let Some(group) = self.groups.get_mut(id.0 as usize)
        {
            group.sum.0 += times * i64::from(pos.x);
            group.sum.1 += times * i64::from(pos.y);
        }
    }

    /// Marks all groups for a refresh after the terrain has changed.
    pub(in crate::nav::crowd) fn mark_groups_stale(&mut self) {
        self.groups.iter_mut().for_each(|group| group.is_stale = true);
    }

    /// Finds slots and the costs to them again where something has changed.
    pub(in crate::nav::crowd) fn refresh_groups<G: Guidance + ?Sized>(
        &mut self,
        world: &World<'_, G>,
    ) {
        for at in 0..self.groups.len() {
            let group = &self.groups[at];
            let is_due = group.refreshed_at == 0 || self.now >= group.refreshed_at + REFRESH;
            if !group.is_used || group.members == 0 || !is_due {
                continue;
            }
            if group.is_stale {
                self.find_slots(world, GroupIndex(at as u32));
                let group = &mut self.groups[at];
                (group.is_stale, group.are_costs_stale, group.refreshed_at) =
                    (false, true, self.now);
            }
            let group = &mut self.groups[at];
            if group.are_costs_wanted && group.are_costs_stale {
                fill_costs_to_slots(world, group, &mut self.open_cells);
                (group.are_costs_wanted, group.are_costs_stale, group.refreshed_at) =
                    (false, false, self.now);
            }
        }
    }

    /// Finds the slots of a group from scratch. Members keep theirs where they can.
    fn find_slots<G: Guidance + ?Sized>(&mut self, world: &World<'_, G>, id: GroupIndex) {
        let mut group = core::mem::take(&mut self.groups[id.0 as usize]);
        let mut scratch = core::mem::take(&mut self.group_scratch);
        group.size = world.grid.unit_size(ProfileId(group.profile)) as u8;
        if group.swap_class.is_some() {
            let slots = preassigned_slots(id, (&self.units, &self.followers));
            scratch.use_preassigned_slots(world, &self.reservations, &group, slots);
        } else {
            scratch.find_slots(world, (&self.reservations, &self.units), &group, id);
        }
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
        self.group_scratch = scratch;
        self.groups[id.0 as usize] = group;
    }

    pub(in crate::nav::crowd) fn group_bytes(&self) -> usize {
        self.groups.iter().map(Group::bytes).sum::<usize>() + self.group_scratch.bytes()
    }
}
