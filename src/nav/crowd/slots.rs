//! Where the members of a group come to rest, and the ways there where walls stand between.
//!
//! Input: a group, the ground and the field to its goal. Output: the cells nearest to the goal, one for
//! each member; the window around them; and, where that is not open ground, the ways from all its cells to
//! the nearest slot that is nobody's yet.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{
    board::{Board, Place, is_diagonal},
    chain::moves_of,
    group::{Group, GroupSlot},
    guide::{FAR, Guidance, World, field_cost},
    unit::{Errand, NONE, State, Unit},
};
use crate::nav::{
    moves::MoveTable,
    terrain::{CornerRule, DIAGONAL, Neighborhood, ProfileId, STRAIGHT},
};

/// Fewest cells around the slots that belong to the window of a group. Large groups have more: members
/// take their slots before the lines in which they come run together.
const MARGIN: u16 = 8;

/// What looking for slots and ways needs for a while.
#[derive(Clone, Debug, Default)]
pub(super) struct GroupScratch {
    open: BinaryHeap<Reverse<(u64, u32, u16, u16)>>,
    /// By cell of the board: the look in which it was last seen, and in which it was last taken.
    seen: Vec<u32>,
    taken: Vec<u32>,
    look: u32,
    found: Vec<Place>,
    /// Whose they are, where that was settled beforehand.
    owners: Vec<u32>,
    /// Who had which slot before.
    before: Vec<(u32, Place)>,
}

impl GroupScratch {
    /// Who had which slot before the last lay-out.
    pub(super) fn taken_before(&self) -> impl Iterator<Item = (u32, Place)> + '_ {
        self.before.iter().copied()
    }

    pub(super) fn bytes(&self) -> usize {
        4 * (self.seen.capacity() + self.taken.capacity() + self.found.capacity())
            + 4 * self.owners.capacity()
            + 8 * self.before.capacity()
            + 24 * self.open.capacity()
    }

    /// Finds as many cells as there are members, nearest to the goal first.
    pub(super) fn find_slots<G: Guidance + ?Sized>(
        &mut self,
        world: &World<'_, G>,
        (board, units): (&Board, &[Unit]),
        group: &Group,
        id: GroupSlot,
    ) {
        let profile = ProfileId(group.profile);
        self.found.clear();
        self.owners.clear();
        self.open.clear();
        self.look += 1;
        self.seen.resize(board.len(), 0);
        self.taken.resize(board.len(), 0);
        self.see(world, board, group, group.goal);
        while let Some(Reverse((_, index, x, y))) = self.open.pop() {
            let place = Place { x, y };
            let is_free = board.block(place, group.size).all(|cell| {
                self.taken[cell as usize] != self.look
                    && !is_foreign(units, board.hold(cell).owner, id)
            });
            if is_free {
                board
                    .block(place, group.size)
                    .for_each(|cell| self.taken[cell as usize] = self.look);
                self.found.push(place);
                if self.found.len() >= group.members {
                    return;
                }
            }
            let Some(layer) = world.grid.layer(profile) else {
                return;
            };
            let table = MoveTable::of(CornerRule::Forbid, Neighborhood::Four);
            let ways = table.legal(layer.pattern(u32::from(x), u32::from(y)));
            for way in [0, 2, 4, 6] {
                if ways & 1 << way != 0 && self.seen[board.beside(index, way) as usize] != self.look
                {
                    self.see(world, board, group, place.step(way));
                }
            }
        }
    }

    /// Takes the places that the members of a group were given beforehand, as far as they can stand there. Of
    /// two that are to stand on the same cell the second has none.
    pub(super) fn take_places<G: ?Sized>(
        &mut self,
        world: &World<'_, G>,
        board: &Board,
        group: &Group,
        places: impl Iterator<Item = (u32, Place)>,
    ) {
        self.found.clear();
        self.owners.clear();
        self.look += 1;
        self.taken.resize(board.len(), 0);
        let profile = ProfileId(group.profile);
        let is_ground = |place: Place| world.grid.cost(profile, place.cell(world.grid)) > 0;
        for (owner, place) in places.filter(|&(_, place)| is_ground(place)) {
            let mut cells = board.block(place, group.size);
            if cells.all(|cell| self.taken[cell as usize] != self.look) {
                let cells = board.block(place, group.size);
                cells.for_each(|cell| self.taken[cell as usize] = self.look);
                self.found.push(place);
                self.owners.push(owner);
            }
        }
    }

    fn see<G: Guidance + ?Sized>(
        &mut self,
        world: &World<'_, G>,
        board: &Board,
        group: &Group,
        place: Place,
    ) {
        let index = board.index(place);
        self.seen[index as usize] = self.look;
        let cost = group.route.map_or(FAR, |route| field_cost(world, route, place));
        if cost != FAR {
            self.open.push(Reverse((cost, index, place.x, place.y)));
        }
    }

    /// Lays the window around the slots.
    pub(super) fn lay_out<G: ?Sized>(&mut self, world: &World<'_, G>, group: &mut Group) {
        self.before.clear();
        let had = group.takers.iter().zip(&group.slots).filter(|(taker, _)| **taker != NONE);
        self.before.extend(had.map(|(&taker, &place)| (taker, place)));
        let (mut low, mut high) = (group.goal, group.goal);
        for place in &self.found {
            low = Place { x: low.x.min(place.x), y: low.y.min(place.y) };
            high = Place { x: high.x.max(place.x), y: high.y.max(place.y) };
        }
        let margin = MARGIN + (self.found.len().isqrt() * usize::from(group.size) / 2) as u16;
        group.origin = Place { x: low.x.saturating_sub(margin), y: low.y.saturating_sub(margin) };
        let (width, height) = (world.grid.width() as u16, world.grid.height() as u16);
        group.span.0 = (high.x + margin + 1).min(width) - group.origin.x;
        group.span.1 = (high.y + margin + 1).min(height) - group.origin.y;
        let cells = usize::from(group.span.0) * usize::from(group.span.1);
        group.numbers.clear();
        group.numbers.resize(cells, NONE);
        group.slots.clear();
        group.slots.extend_from_slice(&self.found);
        group.takers.clear();
        group.takers.resize(self.found.len(), NONE);
        group.owners.clear();
        group.owners.extend_from_slice(&self.owners);
        for (number, &place) in self.found.iter().enumerate() {
            if let Some(at) = group.at(place) {
                group.numbers[at] = number as u32;
            }
        }
        let layer = world.grid.layer(ProfileId(group.profile));
        let (left, low) = (u32::from(group.origin.x), u32::from(group.origin.y));
        let (right, high) = (left + u32::from(group.span.0), low + u32::from(group.span.1));
        let is_free = |y| (left..right).all(|x| layer.is_some_and(|layer| layer.is_passable(x, y)));
        group.is_open = (low..high).all(is_free);
    }

    /// Fills a window that is not open with the ways to the slots that are nobody's.
    pub(super) fn spread<G: ?Sized>(&mut self, world: &World<'_, G>, group: &mut Group) {
        group.rest.clear();
        if group.is_open {
            return;
        }
        group.rest.resize(group.numbers.len(), FAR);
        self.open.clear();
        for at in 0..group.slots.len() {
            if group.takers[at] == NONE {
                self.reach(group, group.slots[at], 0);
            }
        }
        self.flood(world, group);
    }

    /// A way of this length to a place in the window is known.
    fn reach(&mut self, group: &mut Group, place: Place, rest: u64) {
        if let Some(at) = group.at(place)
            && rest < group.rest[at]
        {
            group.rest[at] = rest;
            self.open.push(Reverse((rest, at as u32, place.x, place.y)));
        }
    }

    /// Goes on from the places that are known to the whole window.
    fn flood<G: ?Sized>(&mut self, world: &World<'_, G>, group: &mut Group) {
        let profile = ProfileId(group.profile);
        let Some(layer) = world.grid.layer(profile) else {
            return;
        };
        let table = moves_of(world.grid, profile);
        let cost = |place: Place| {
            let (x, y) = (u32::from(place.x), u32::from(place.y));
            u64::from(layer.cost(x, y, world.grid.terrain_bytes()))
        };
        while let Some(Reverse((rest, at, x, y))) = self.open.pop() {
            if group.rest[at as usize] < rest {
                continue;
            }
            let (place, x, y) = (Place { x, y }, u32::from(x), u32::from(y));
            let (ways, here) = (table.legal(layer.pattern(x, y)), cost(place));
            for way in (0..8).filter(|way| ways & 1 << way != 0) {
                let next = place.step(way);
                let weight = if is_diagonal(way) { DIAGONAL } else { STRAIGHT };
                self.reach(group, next, rest + u64::from(weight) * (here + cost(next)));
            }
        }
    }
}

/// Whether somebody stands on a cell who is no member and has nowhere to go.
fn is_foreign(units: &[Unit], owner: u32, id: GroupSlot) -> bool {
    owner != NONE && {
        let unit = &units[owner as usize];
        unit.errand.group() != Some(id)
            && unit.state == State::Standing
            && (unit.errand == Errand::Idle || unit.has_arrived)
    }
}
