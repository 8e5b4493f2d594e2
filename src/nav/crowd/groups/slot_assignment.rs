//! Assignment of slots to the members of a group.
//!
//! Input: a member that has entered the window of its group. Output: the slot to which it goes. On open terrain
//! that is its own; where walls are near, the farthest one that is unassigned. Whenever two members are
//! beside each other and stand the other way round than their slots, they exchange slots. So no member walks
//! around members at rest: these move on towards the free slots instead, and paths never cross. This is the
//! target exchange of TSWAP (Okumura & Defago, "Solving Simultaneous Target Assignment and Path Planning
//! Efficiently with Time-Independent Execution", ICAPS 2022) with squared distances as the measure. An
//! exchange lowers their sum, so exchanges come to an end, and of two members in a line the one in front
//! continues to the farther slot.
//!
//! Only slots in sight are assigned. Where a wall stands between, the field of the window leads on.

use super::{Groups, group::Group};
use crate::nav::crowd::{
    board::{
        Board,
        events::CrowdEvent,
        hindrance::Hindrance,
        patience::{RETRY_AFTER, STUCK_AFTER},
        reservations::GridPos,
        step_costs::{is_line_open, move_table, octile_distance},
        unit::{GroupIndex, NONE, Order, State},
    },
    cost_to_go::Sources,
};
use crate::nav::{grid::NavGrid, terrain::ProfileId};

/// Farthest from its slot that a member settles on another cell, in multiples of its size.
const NEAR_SLOT: u16 = 3;
/// Ticks after which it does, as multiples of the ticks that it takes for a cell; [`STUCK_AFTER`] at least.
const PATIENCE_IN_CELLS: u64 = 16;

impl Groups {
    /// Assigns a slot to a member that has none, and takes away a slot that is no longer in sight.
    pub fn assign_slot(
        &mut self,
        board: &mut Board,
        sources: &mut Sources,
        grid: &NavGrid,
        index: u32,
    ) {
        let unit = &board.units[index as usize];
        let Some(id) = unit.order.group() else {
            return;
        };
        let (pos, slot) = (unit.tail, unit.slot);
        let group = &self[id];
        if let Some(&slot_pos) = group.slots.get(slot as usize) {
            if is_visible(grid, group, pos, slot_pos) {
                return;
            }
            self.release_slot(board, index);
        }
        let group = &self[id];
        if !group.window.contains(pos) {
            return;
        }
        let in_sight = |&slot: &usize| is_visible(grid, group, pos, group.slots[slot]);
        let own = group.own_slot(index);
        if own.is_none() {
            return;
        }
        let found = preferred_slot(group, own, pos).filter(in_sight);
        let found = found.or_else(|| nearest_slot(group, as_i64(pos)).filter(in_sight));
        let found = found.map_or(NONE, |at| at as u32);
        self.take_over_slot(board, sources, id, (own, found));
        let group = &mut self[id];
        if let Some(assignee) = group.assignees.get_mut(found as usize) {
            *assignee = index;
            group.are_costs_stale = true;
            board.units[index as usize].slot = found;
        } else {
            group.are_costs_wanted = true;
        }
    }

    /// Releases the slot of a member.
    pub fn release_slot(&mut self, board: &mut Board, index: u32) {
        let unit = &mut board.units[index as usize];
        let slot = core::mem::replace(&mut unit.slot, NONE);
        if let Some(id) = unit.order.group()
            && let Some(group) = self.list.get_mut(id.0 as usize)
            && let Some(assignee) = group.assignees.get_mut(slot as usize)
        {
            *assignee = NONE;
            group.are_costs_stale = true;
        }
    }

    /// Exchanges a member's slot with those of members beside it that stand the other way round.
    pub fn exchange_slots(
        &mut self,
        board: &mut Board,
        sources: &mut Sources,
        grid: &NavGrid,
        index: u32,
    ) {
        let unit = &board.units[index as usize];
        let Some(id) = unit.order.group() else {
            return;
        };
        let (pos, size) = (unit.head, unit.size);
        if unit.slot == NONE {
            return;
        }
        for direction in 0..8 {
            let entered = board.reservations.entered(pos, size, direction);
            for &cell in entered.as_slice() {
                let other = board.reservations.get(cell).owner;
                if other != NONE && other != index {
                    self.exchange_with(board, sources, grid, (id, index, other));
                }
            }
        }
    }

    fn exchange_with(
        &mut self,
        board: &mut Board,
        sources: &mut Sources,
        grid: &NavGrid,
        (id, index, other): (GroupIndex, u32, u32),
    ) {
        let (a, b) = (&board.units[index as usize], &board.units[other as usize]);
        let group = &self[id];
        let can_exchange = b.order == a.order && b.slot != NONE;
        if !can_exchange || a.has_given_up() || b.has_given_up() {
            return;
        }
        let (to_a, to_b) = (group.slots[a.slot as usize], group.slots[b.slot as usize]);
        let gain = dot((b.head, a.head), (to_b, to_a));
        // Between equal sums, two short paths are better than a long one and an empty one.
        let distance = |a: GridPos, b: GridPos| distance_squared(as_i64(a), b);
        let is_more_even = || {
            let now = distance(a.head, to_a).max(distance(b.head, to_b));
            distance(a.head, to_b).max(distance(b.head, to_a)) < now
        };
        if gain > 0
            || gain == 0 && !is_more_even()
            || !is_visible(grid, group, a.head, to_b)
            || !is_visible(grid, group, b.head, to_a)
        {
            return;
        }
        let (slot, other_slot) = (a.slot, b.slot);
        self.exchange(board, sources, id, (index, slot), (other, other_slot));
    }

    /// Exchanges the slots of two members.
    fn exchange(
        &mut self,
        board: &mut Board,
        sources: &mut Sources,
        id: GroupIndex,
        (index, slot): (u32, u32),
        (other, other_slot): (u32, u32),
    ) {
        let assignees = &mut self[id].assignees;
        (assignees[slot as usize], assignees[other_slot as usize]) = (other, index);
        board.units[index as usize].slot = other_slot;
        board.units[other as usize].slot = slot;
        self.exchange_own_slots(board, sources, id, (index, slot), (other, other_slot));
        match board.units[other as usize].state {
            State::Standing => board.schedule_next_tick(other),
            _ => board.mark_ready(other),
        }
    }

    /// Makes the current cell the slot of a member that has been near its slot for long without coming nearer,
    /// or was pushed off it repeatedly by units that only return to theirs. So all members come to rest, though
    /// not all of them in formation. Units of several cells can block each other's slots for good when they
    /// stand across two of them, and the slots of two groups may overlap.
    pub fn settle_in_place(
        &mut self,
        board: &mut Board,
        sources: &mut Sources,
        grid: &NavGrid,
        index: u32,
    ) {
        let unit = &board.units[index as usize];
        let Order::Group(id) = unit.order else {
            return;
        };
        let max_distance = NEAR_SLOT * u16::from(unit.size);
        let (here, slot) = (unit.tail, unit.slot);
        let goal = sources.goal(index);
        if goal == here || goal.chebyshev(here) > max_distance {
            return;
        }
        // A member whose slot overlaps with another member's has no slot and no path.
        let has_no_room = unit.slot == NONE && unit.hindrance == Hindrance::NoPath;
        let has_no_room = has_no_room && unit.ticks_stood(board.now) >= RETRY_AFTER;
        let patience = STUCK_AFTER.max(PATIENCE_IN_CELLS * unit.ticks_per_cell());
        let settles = unit.has_given_up()
            || has_no_room
            || self.ticks_without_progress(board.tick_stamp(), index, octile_distance(here, goal))
                >= patience;
        if !settles {
            return;
        }
        let group = &self[id];
        let slot_here = group.window.index(here).map_or(NONE, |at| group.slot_at[at]);
        match group.assignees.get(slot_here as usize) {
            Some(&other) if slot != NONE => {
                self.swap_with(board, sources, id, (index, slot), (other, slot_here));
            }
            Some(_) => {}
            None => self.adopt_current_cell(board, sources, grid, (id, index)),
        }
    }

    /// Swaps slots with the member whose slot is the cell on which this member stands; the other member gets
    /// the slot of this one.
    fn swap_with(
        &mut self,
        board: &mut Board,
        sources: &mut Sources,
        id: GroupIndex,
        (index, slot): (u32, u32),
        (other, slot_here): (u32, u32),
    ) {
        if other != NONE {
            return self.exchange(board, sources, id, (index, slot), (other, slot_here));
        }
        let group = &mut self[id];
        let own = group.own_slot(index);
        (group.assignees[slot as usize], group.assignees[slot_here as usize]) = (NONE, index);
        board.units[index as usize].slot = slot_here;
        self.take_over_slot(board, sources, id, (own, slot_here));
    }

    /// Makes the cell on which a member stands its slot, whether it was on its way to its slot or did not see it.
    fn adopt_current_cell(
        &mut self,
        board: &mut Board,
        sources: &mut Sources,
        grid: &NavGrid,
        (id, index): (GroupIndex, u32),
    ) {
        let here = board.units[index as usize].tail;
        let group = &mut self[id];
        if let Some(own) = group.own_slot(index) {
            let before = core::mem::replace(&mut group.slots[own], here);
            let (old, new) = (group.window.index(before), group.window.index(here));
            old.into_iter().for_each(|at| group.slot_at[at] = NONE);
            new.into_iter().for_each(|at| group.slot_at[at] = own as u32);
            group.assignees[own] = index;
            board.units[index as usize].slot = own as u32;
        }
        group.are_costs_stale = true;
        sources.set_goal(index, here);
        let unit = board.id(index);
        board.counters.settled += 1;
        board.events.push(CrowdEvent::Settled { unit, cell: here.cell(grid) });
    }
}

/// Returns the free slot that a member at a position prefers. On open terrain its own one. Near walls, members come
/// in one after the other and the formation is lost: slots fill from the far end, so that no member at rest is ever
/// in the way.
fn preferred_slot(group: &Group, own: Option<usize>, pos: GridPos) -> Option<usize> {
    if group.is_open {
        return own;
    }
    free_slots(group).max_by_key(|&slot| distance_squared(as_i64(pos), group.slots[slot]))
}

fn nearest_slot(group: &Group, target: (i64, i64)) -> Option<usize> {
    free_slots(group).min_by_key(|&slot| distance_squared(target, group.slots[slot]))
}

/// Iterates over the slots to which no member goes, except those whose owner has left the group.
fn free_slots(group: &Group) -> impl Iterator<Item = usize> + '_ {
    let is_available = |slot: usize| group.owners.get(slot).is_none_or(|&owner| owner != NONE);
    (0..group.slots.len()).filter(move |&slot| group.assignees[slot] == NONE && is_available(slot))
}

fn as_i64(pos: GridPos) -> (i64, i64) {
    (i64::from(pos.x), i64::from(pos.y))
}

/// Returns the squared distance between two positions.
fn distance_squared(a: (i64, i64), b: GridPos) -> i64 {
    let (dx, dy) = (a.0 - i64::from(b.x), a.1 - i64::from(b.y));
    dx * dx + dy * dy
}

/// Returns the dot product of two vectors, each from its first position to its second.
fn dot(a: (GridPos, GridPos), b: (GridPos, GridPos)) -> i64 {
    let along = |from: u16, to: u16| i64::from(to) - i64::from(from);
    along(a.0.x, a.1.x) * along(b.0.x, b.1.x) + along(a.0.y, a.1.y) * along(b.0.y, b.1.y)
}

/// Returns whether the line between two positions is open: straight first, then diagonal.
fn is_visible(grid: &NavGrid, group: &Group, from: GridPos, to: GridPos) -> bool {
    if group.is_open && group.window.contains(from) {
        return true;
    }
    let profile = ProfileId(group.profile);
    let Some(layer) = grid.layer(profile) else {
        return false;
    };
    is_line_open(layer, move_table(grid, profile), from, to)
}
