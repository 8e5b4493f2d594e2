//! Which slot each member of a group goes to.
//!
//! Input: a member that has come into the window of its group. Output: a slot of its own, and what is left
//! of the way there. Of the slots that are nobody's it takes the one where it
//! would come to stand if the group kept its shape (who comes first goes to the far end), or, where walls
//! are near, the farthest one. Whenever two members are beside each
//! other and stand the other way round than their slots, they exchange them: so nobody walks around those
//! at rest, who pass on towards the free slots instead, and ways never cross. That is the exchange of
//! targets of TSWAP (Okumura & Defago, "Solving Simultaneous Target Assignment and Path Planning
//! Efficiently with Time-Independent Execution", ICAPS 2022), with the squares of distances for a measure:
//! an exchange lowers their sum, so that exchanges come to an end, and of two in a line the one in front
//! goes on to the farther slot.
//!
//! Slots are taken in sight only: where a wall stands between, the field of the window leads on.

use super::{
    Crowd, CrowdEvent, Hindrance, RETRY, STUCK,
    board::Place,
    chain::moves_of,
    group::{Group, GroupSlot},
    guide::World,
    near::is_straight_on,
    unit::{Errand, NONE, State},
};
use crate::nav::{grid::NavGrid, terrain::ProfileId};

/// Farthest from its slot, in sizes of the unit, that a member takes another place.
const NEAR_SLOT: u16 = 3;

impl Crowd {
    /// Whether a member stands on its slot.
    pub(super) fn is_home(&self, id: GroupSlot, index: u32) -> bool {
        let unit = &self.units[index as usize];
        self.groups[id.0 as usize].slots.get(unit.slot as usize) == Some(&unit.tail)
    }

    /// Gives a member a slot if it has none, and takes one away that it no longer sees.
    pub(super) fn look_for_slot<G: ?Sized>(&mut self, world: &World<'_, G>, index: u32) {
        let unit = &self.units[index as usize];
        let Some(id) = unit.errand.group() else {
            return;
        };
        let (place, slot) = (unit.tail, unit.slot);
        let group = &self.groups[id.0 as usize];
        if let Some(&aim) = group.slots.get(slot as usize) {
            if is_in_sight(world.grid, group, place, aim) {
                return;
            }
            self.give_up_slot(index);
        }
        let group = &self.groups[id.0 as usize];
        if !group.has(place) {
            return;
        }
        let is_seen = |&number: &usize| is_in_sight(world.grid, group, place, group.slots[number]);
        let own = group.own_slot(index);
        if group.is_of_mates() && own.is_none() {
            return;
        }
        let found = wished_slot(group, own, place).filter(is_seen);
        let found = found.or_else(|| nearest_slot(group, wide(place)).filter(is_seen));
        let found = found.map_or(NONE, |at| at as u32);
        self.take_over(id, own, found);
        let group = &mut self.groups[id.0 as usize];
        if let Some(taker) = group.takers.get_mut(found as usize) {
            *taker = index;
            group.is_rest_stale = true;
            self.units[index as usize].slot = found;
        } else {
            group.is_rest_wanted = true;
        }
    }

    /// A member goes to its slot no longer.
    pub(super) fn give_up_slot(&mut self, index: u32) {
        let unit = &mut self.units[index as usize];
        let slot = core::mem::replace(&mut unit.slot, NONE);
        if let Some(id) = unit.errand.group()
            && let Some(group) = self.groups.get_mut(id.0 as usize)
            && let Some(taker) = group.takers.get_mut(slot as usize)
        {
            *taker = NONE;
            group.is_rest_stale = true;
        }
    }

    /// Exchanges a member's slot with those of members beside it that stand the other way round.
    pub(super) fn exchange_slots<G: ?Sized>(&mut self, world: &World<'_, G>, index: u32) {
        let unit = &self.units[index as usize];
        let Some(id) = unit.errand.group() else {
            return;
        };
        let (place, size) = (unit.head, unit.size);
        if unit.slot == NONE {
            return;
        }
        for way in 0..8 {
            let entered = self.board.entered(place, size, way);
            for &cell in entered.as_slice() {
                let other = self.board.hold(cell).owner;
                if other != NONE && other != index {
                    self.exchange_with(world, id, index, other);
                }
            }
        }
    }

    fn exchange_with<G: ?Sized>(
        &mut self,
        world: &World<'_, G>,
        id: GroupSlot,
        index: u32,
        other: u32,
    ) {
        let (a, b) = (&self.units[index as usize], &self.units[other as usize]);
        let group = &self.groups[id.0 as usize];
        let is_mate = b.errand == a.errand && b.slot != NONE;
        if !is_mate || a.has_given_up() || b.has_given_up() {
            return;
        }
        let (to_a, to_b) = (group.slots[a.slot as usize], group.slots[b.slot as usize]);
        let gain = product((b.head, a.head), (to_b, to_a));
        // Among equals, rather two short ways than a long one and none.
        let most = |a: Place, b: Place| square(wide(a), b);
        let is_more_even = || {
            let now = most(a.head, to_a).max(most(b.head, to_b));
            most(a.head, to_b).max(most(b.head, to_a)) < now
        };
        if gain > 0
            || gain == 0 && !is_more_even()
            || !is_in_sight(world.grid, group, a.head, to_b)
            || !is_in_sight(world.grid, group, b.head, to_a)
        {
            return;
        }
        let (slot, others) = (a.slot, b.slot);
        self.exchange(id, (index, slot), (other, others));
    }

    /// Exchanges the slots of two members.
    fn exchange(&mut self, id: GroupSlot, (index, slot): (u32, u32), (other, others): (u32, u32)) {
        let takers = &mut self.groups[id.0 as usize].takers;
        (takers[slot as usize], takers[others as usize]) = (other, index);
        self.units[index as usize].slot = others;
        self.units[other as usize].slot = slot;
        self.exchange_places(id, (index, slot), (other, others));
        match self.units[other as usize].state {
            State::Standing => self.call_soon(other),
            _ => self.list(other),
        }
    }
}

impl Crowd {
    /// A member that stands beside its slot for long and cannot get there, or was pushed off it again and
    /// again by others who only go back to theirs, keeps the place where it stands: so everybody comes to rest,
    /// though not all of them in their shape. Units of several cells block each other's slots for good where
    /// they stand across two of them, and the slots of two groups may overlap.
    pub(super) fn settle_here(&mut self, grid: &NavGrid, index: u32) {
        let unit = &self.units[index as usize];
        let Errand::Place(id) = unit.errand else {
            return;
        };
        // One whose place overlaps with that of a mate has no slot, and no way.
        let is_crowded_out = unit.slot == NONE && unit.hindrance == Hindrance::NoWay;
        let stood = unit.stood(self.now);
        let gives_up = unit.has_given_up() || stood >= STUCK || is_crowded_out && stood >= RETRY;
        let near = NEAR_SLOT * u16::from(unit.size);
        let (here, slot) = (unit.tail, unit.slot);
        let goal = self.ways[index as usize].goal;
        if !gives_up || goal == here || goal.reach(here) > near {
            return;
        }
        let group = &self.groups[id.0 as usize];
        let number = group.at(here).map_or(NONE, |at| group.numbers[at]);
        match group.takers.get(number as usize) {
            Some(&mate) if slot != NONE => self.swap_with(id, (index, slot), (mate, number)),
            Some(_) => {}
            None => self.keep_place(grid, id, index),
        }
    }

    /// A member stands on the slot of a mate, who is to have its own.
    fn swap_with(&mut self, id: GroupSlot, (index, slot): (u32, u32), (mate, number): (u32, u32)) {
        if mate != NONE {
            return self.exchange(id, (index, slot), (mate, number));
        }
        let group = &mut self.groups[id.0 as usize];
        let own = group.own_slot(index);
        (group.takers[slot as usize], group.takers[number as usize]) = (NONE, index);
        self.units[index as usize].slot = number;
        self.take_over(id, own, number);
    }

    /// A member has its place where it stands from now on.
    fn keep_place(&mut self, grid: &NavGrid, id: GroupSlot, index: u32) {
        let (here, slot) = (self.units[index as usize].tail, self.units[index as usize].slot);
        let group = &mut self.groups[id.0 as usize];
        if let Some(place) = group.slots.get(slot as usize).copied() {
            let (old, new) = (group.at(place), group.at(here));
            group.slots[slot as usize] = here;
            old.into_iter().for_each(|at| group.numbers[at] = NONE);
            new.into_iter().for_each(|at| group.numbers[at] = slot);
        }
        group.is_rest_stale = true;
        self.ways[index as usize].goal = here;
        let unit = self.id(index);
        self.counters.settled += 1;
        self.events.push(CrowdEvent::Settled { unit, cell: here.cell(grid) });
    }
}

/// The free slot that a member would like best from a place: on open ground its own, or the one where it
/// would come to stand if the group kept its shape. Where walls are near, members come in one after the other, and the
/// shape is lost: the slots fill from the far end on, so that nobody at rest is ever in the way.
fn wished_slot(group: &Group, own: Option<usize>, place: Place) -> Option<usize> {
    if group.is_open {
        return own.or_else(|| nearest_slot(group, group.aim(place)));
    }
    free_slots(group).max_by_key(|&number| square(wide(place), group.slots[number]))
}

fn nearest_slot(group: &Group, wish: (i64, i64)) -> Option<usize> {
    free_slots(group).min_by_key(|&number| square(wish, group.slots[number]))
}

/// The slots that are nobody's, or were meant for somebody who has not taken his yet.
fn free_slots(group: &Group) -> impl Iterator<Item = usize> + '_ {
    let is_meant = |number: usize| group.owners.get(number).is_none_or(|&owner| owner != NONE);
    (0..group.slots.len()).filter(move |&number| group.takers[number] == NONE && is_meant(number))
}

fn wide(place: Place) -> (i64, i64) {
    (i64::from(place.x), i64::from(place.y))
}

/// The square of the distance of two places.
fn square(a: (i64, i64), b: Place) -> i64 {
    let (dx, dy) = (a.0 - i64::from(b.x), a.1 - i64::from(b.y));
    dx * dx + dy * dy
}

/// The scalar product of two ways, each from its first place to its second one.
fn product(a: (Place, Place), b: (Place, Place)) -> i64 {
    let along = |from: u16, to: u16| i64::from(to) - i64::from(from);
    along(a.0.x, a.1.x) * along(b.0.x, b.1.x) + along(a.0.y, a.1.y) * along(b.0.y, b.1.y)
}

/// Whether the way from one place to another is open ground: straight first, then diagonally.
fn is_in_sight(grid: &NavGrid, group: &Group, from: Place, to: Place) -> bool {
    if group.is_open && group.has(from) {
        return true;
    }
    let profile = ProfileId(group.profile);
    let Some(layer) = grid.layer(profile) else {
        return false;
    };
    is_straight_on(layer, moves_of(grid, profile), from, to)
}
