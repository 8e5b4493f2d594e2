//! Assignment of slots to the members of a group.
//!
//! Input: a member that has entered the window of its group. Output: the slot to which it goes. On open terrain
//! that is its own; where walls or barriers are near, the farthest one that is unassigned. Whenever two members side by
//! side stand in the opposite order of their slots, they exchange slots. So no member walks
//! around members at rest: these move on towards the free slots instead, and paths never cross. This is the
//! target exchange of TSWAP (Okumura & Defago, "Solving Simultaneous Target Assignment and Path Planning
//! Efficiently with Time-Independent Execution", ICAPS 2022) with squared distances as the measure. An
//! exchange lowers their sum, so exchanges come to an end, and of two members in a line the one in front
//! continues to the farther slot.
//!
//! Only slots in sight are assigned. Where a wall or a barrier lies between, the field of the window guides the members.

use super::{Groups, group::Group};
use crate::nav::crowd::board::{
    Board, CrowdEvent, GridPos, GroupIndex, Hindrance, NONE, RETRY_AFTER, STAY, STUCK_AFTER, Unit,
};
use crate::nav::{NavGrid, Topology, direction::directions};

/// Farthest from its slot that a member settles on another cell, in multiples of its size, unless members at rest keep it out.
const NEAR_SLOT: u16 = 3;
/// Patience of a member before it settles there, in multiples of its ticks per cell; at least [`STUCK_AFTER`].
const PATIENCE_IN_CELLS: u64 = 16;

impl Groups {
    /// Assigns a slot to a member that has none, and takes away a slot that is no longer in sight.
    pub fn assign_slot(&mut self, board: &mut Board, grid: &NavGrid, index: u32) {
        let unit = &board.units[index];
        let Some(id) = unit.task.group() else {
            return;
        };
        let pos = unit.tail;
        if let Some(slot) = self[id].slots.get(unit.slot as usize) {
            if self[id].sees(grid, pos, slot.pos) {
                return;
            }
            self.release_slot(board, index);
        }
        let group = &self[id];
        let own = if group.window.contains(pos) { group.own_slot(index) } else { None };
        let Some(own) = own else {
            return;
        };
        let in_sight = |&slot: &usize| group.sees(grid, pos, group.slots[slot].pos);
        let found = if self.progress[index as usize].keeps_slot() {
            Some(own).filter(in_sight)
        } else {
            let preferred = preferred_slot(group, board, own, pos).filter(in_sight);
            preferred.or_else(|| nearest_slot(group, board, pos).filter(in_sight))
        };
        match found {
            Some(slot) => self.take_slot(board, grid, (id, index), [own, slot]),
            None => self[id].are_costs_wanted = true,
        }
    }

    /// Sends a member to a slot. If that is the own slot of another member, the two exchange their slots, and a member that was
    /// on its way there goes to the other one.
    fn take_slot(
        &mut self,
        board: &mut Board,
        grid: &NavGrid,
        (id, index): (GroupIndex, u32),
        [own, slot]: [usize; 2],
    ) {
        let slots = &mut self[id].slots;
        let other = slots[slot].owner;
        if other != index {
            (slots[own].owner, slots[slot].owner) = (other, index);
            self.exchange_goals(board, grid, [index, other]);
        }
        if board.units[other].slot == slot as u32 {
            board.units[other].slot = own as u32;
            board.mark_ready(other);
        } else {
            self[id].are_costs_stale = true;
        }
        board.units[index].slot = slot as u32;
    }

    /// Releases the slot of a member.
    pub fn release_slot(&mut self, board: &mut Board, index: u32) {
        let unit = &mut board.units[index];
        let slot = core::mem::replace(&mut unit.slot, NONE);
        if let Some(id) = unit.task.group().filter(|_| slot != NONE) {
            self[id].are_costs_stale = true;
        }
    }

    /// Exchanges the slots of a member and of members beside it if they stand in the opposite order of their slots.
    pub fn exchange_slots(&mut self, board: &mut Board, grid: &NavGrid, index: u32) {
        let unit = &board.units[index];
        let Some(id) = unit.task.group().filter(|_| unit.slot != NONE) else {
            return;
        };
        let (pos, size) = (unit.head, unit.size);
        for direction in directions(board.topology.widest().directions()) {
            let entered = board.reservations.entered(pos, size, direction as u8);
            for cell in entered.iter() {
                let other = board.reservations.get(cell).owner;
                if other != NONE
                    && other != index
                    && self.should_exchange(board, grid, index, other)
                {
                    let slots = [index, other].map(|unit| board.units[unit].slot as usize);
                    self.take_slot(board, grid, (id, index), slots);
                }
            }
        }
    }

    /// Returns whether two units are members of one group and stand in the opposite order of their slots.
    fn should_exchange(&self, board: &Board, grid: &NavGrid, index: u32, other: u32) -> bool {
        let (a, b) = (&board.units[index], &board.units[other]);
        let Some(id) = a.task.group().filter(|_| b.task == a.task && b.slot != NONE) else {
            return false;
        };
        let keeps = |index| self.progress[index as usize].keeps_slot();
        if a.has_given_up() || b.has_given_up() || keeps(index) || keeps(other) {
            return false;
        }
        let group = &self[id];
        let [to_a, to_b] = [a, b].map(|unit| group.slots[unit.slot as usize].pos);
        let offset = |from: GridPos, to| widened(from.offset_to(to));
        let gain = board.topology.scalar_product(offset(b.head, a.head), offset(to_b, to_a));
        // If the sums are equal, two short paths are better than one long path and one of no length.
        let squared = |from, to| squared_distance(board.topology, from, to);
        let is_more_even = || {
            let now = squared(a.head, to_a).max(squared(b.head, to_b));
            squared(a.head, to_b).max(squared(b.head, to_a)) < now
        };
        (gain < 0 || gain == 0 && is_more_even())
            && group.sees(grid, a.head, to_b)
            && group.sees(grid, b.head, to_a)
    }

    /// Makes the current cell the slot of a member that has been near its slot for long without coming nearer. So all members come
    /// to rest, though not all of them in formation. Units of several cells can block each other's slots for good when they
    /// stand across two of them, and the slots of two groups may overlap. If a member was pushed off
    /// repeatedly by units that only return to their slots, and stands on the slot of another member, they exchange slots at once.
    pub fn settle_in_place(&mut self, board: &mut Board, grid: &NavGrid, index: u32) {
        let unit = &board.units[index];
        let Some(id) = unit.task.group() else {
            return;
        };
        let (here, goal, slot) = (unit.tail, unit.goal, unit.slot);
        let is_near = goal.chebyshev(here) <= NEAR_SLOT * u16::from(unit.size)
            || slot != NONE
                && unit.ticks_stood(board.now) >= STUCK_AFTER
                && is_kept_out(board, unit);
        if is_near && slot != NONE && self.is_shut_out(board, id, unit) {
            self[id].is_stale = true; // it gets another one
        }
        // If a wall stands on its slot and there was no other slot nearby, it comes no nearer. A member that has arrived and
        // then got another slot pushes no units on its way there.
        let is_walled = || grid.cost(unit.profile, goal.cell(grid)) == 0;
        if goal == here {
            return self.note_at_slot(board.tick_stamp(), index);
        }
        if !is_near && !unit.has_arrived && !is_walled() {
            return;
        }
        // A member whose slot overlapped with another one was left without a slot, and has no path.
        let has_no_room = slot == NONE
            && unit.hindrance == Hindrance::NoPath
            && unit.ticks_stood(board.now) >= RETRY_AFTER;
        let patience = STUCK_AFTER.max(PATIENCE_IN_CELLS * unit.ticks_per_cell());
        let remaining = here.open_distance(goal, board.topology);
        let settles = has_no_room
            || self.ticks_without_progress(board.tick_stamp(), index, remaining) >= patience;
        if !settles && !unit.has_given_up() {
            return;
        }
        match self[id].slots.iter().position(|slot| slot.pos == here) {
            // One that has only given up may be in the way of others that are still to come.
            None if !settles => {}
            None => self.adopt_current_cell(board, grid, (id, index)),
            // Not if its owner has just left the group.
            Some(slot_here) if slot != NONE && self[id].slots[slot_here].owner != NONE => {
                self.take_slot(board, grid, (id, index), [slot as usize, slot_here]);
                // It settles for good; otherwise the owner would exchange the slots again at once.
                board.note_arrival(grid, index);
                board.units[index].give_up();
            }
            Some(_) => {}
        }
    }

    /// Whether a member has waited for a moment because others rest on its slot that it cannot push.
    fn is_shut_out(&self, board: &Board, id: GroupIndex, unit: &Unit) -> bool {
        unit.ticks_stood(board.now) >= RETRY_AFTER
            && board.is_barred(unit, (unit.goal, self[id].size))
    }

    /// Makes the cell on which a member stands its slot, whether it was on its way to its slot or did not see it.
    fn adopt_current_cell(
        &mut self,
        board: &mut Board,
        grid: &NavGrid,
        (id, index): (GroupIndex, u32),
    ) {
        let group = &mut self[id];
        let unit = &mut board.units[index];
        unit.goal = unit.tail;
        if let Some(own) = group.own_slot(index) {
            group.slots[own].pos = unit.tail;
            unit.slot = own as u32;
        }
        group.are_costs_stale = true;
        let (cell, has_arrived) = (unit.tail.cell(grid), unit.has_arrived);
        board.counters.settled += 1;
        board.events.push(CrowdEvent::SlotChanged { unit: board.id(index), cell, has_arrived });
    }
}

/// Returns the free slot that a member at a position prefers. On open terrain that is its own. Near walls, members
/// come in one by one and the formation is lost anyway: slots fill from the far end, so that members at rest are
/// never in the way.
fn preferred_slot(group: &Group, board: &Board, own: usize, pos: GridPos) -> Option<usize> {
    if group.is_open {
        return Some(own);
    }
    let distance = |slot| squared_distance(board.topology, pos, slot);
    let farthest = group.free_slots(board).max_by_key(|&(_, slot)| distance(slot));
    farthest.map(|(number, _)| number)
}

/// Returns whether a unit waits before a member of a group that rests on its slot and that it cannot push: others like that may
/// have closed around its own slot.
fn is_kept_out(board: &Board, unit: &Unit) -> bool {
    if unit.hindrance != Hindrance::Obstacle || unit.preferred_direction == STAY {
        return false;
    }
    let entered = board.reservations.entered(unit.tail, unit.size, unit.preferred_direction);
    entered.iter().filter_map(|cell| board.owner(cell)).any(|other| {
        other.task.group().is_some() && other.rests_on_goal() && !other.is_pushable_by(unit.team)
    })
}

fn nearest_slot(group: &Group, board: &Board, pos: GridPos) -> Option<usize> {
    let distance = |slot| squared_distance(board.topology, pos, slot);
    let nearest = group.free_slots(board).min_by_key(|&(_, slot)| distance(slot));
    nearest.map(|(number, _)| number)
}

/// Returns the squared distance between two positions.
fn squared_distance(topology: Topology, from: GridPos, to: GridPos) -> u64 {
    let (dx, dy) = widened(from.offset_to(to));
    topology.squared_length(dx, dy)
}

fn widened((dx, dy): (i32, i32)) -> (i64, i64) {
    (i64::from(dx), i64::from(dy))
}
