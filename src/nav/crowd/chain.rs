//! The shortest chain of pushes that lets a unit move which could not move for long.
//!
//! Input: a unit, and the ways that bring it on. Output: a plan in which the fewest units move, one into
//! the place of the next, the last one into a free cell, into one that is being left, or, in a ring,
//! into the place of the first. Depth first, as `plan` searches, marks a unit as hopeless though
//! it was only asked from the wrong side; here all sides are tried, in the order of their distance
//! (breadth first), so a chain is found if there is one. Only for units of one cell.
//!
//! Where no chain of turns by right angles or less exists, one unit may turn farther: then only those
//! behind it move now, and its cell is kept for whoever pushed it.

use super::{
    Crowd,
    board::{Place, is_diagonal, turn},
    claim::Claim,
    guide::World,
    unit::{NONE, STAY, State},
};
use crate::nav::{grid::NavGrid, layer::Layer, moves::MoveTable, terrain::ProfileId};

/// Most pushes looked at.
const MOST: usize = 4_096;

/// A unit that would be pushed in a direction, and by whom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Push {
    pub(super) unit: u32,
    direction: u8,
    /// The push before it in the list; itself for the first one.
    from: u32,
}

/// How a chain ends.
#[derive(Clone, Copy)]
enum End {
    Nowhere,
    Free,
    Left,
}

impl Crowd {
    /// Plans the shortest chain that lets `root` go one of these ways; the log holds it.
    pub(super) fn plan_chain<G: ?Sized>(
        &mut self,
        world: &World<'_, G>,
        root: u32,
        ways: &[u8],
    ) -> bool {
        [2, 3].into_iter().any(|most| self.search_chain(world, root, ways, most))
    }

    fn search_chain<G: ?Sized>(
        &mut self,
        world: &World<'_, G>,
        root: u32,
        ways: &[u8],
        most: u8,
    ) -> bool {
        self.search = self.search.wrapping_add(1);
        self.pushes.clear();
        self.units[root as usize].searched = self.search;
        self.units[root as usize].sides = 0xff;
        let first = Push { unit: root, direction: STAY, from: 0 };
        self.pushes.push(first);
        for &way in ways {
            if self.look_along(root, 0, way, way) {
                return true;
            }
        }
        let mut at = 1;
        while let Some(&push) = self.pushes.get(at).filter(|_| at < MOST) {
            let legal = self.ground_ways(world, push.unit);
            for way in by_turn(push.direction, most) {
                if legal & 1 << way != 0 && self.look_along(root, at as u32, way, push.direction) {
                    return true;
                }
            }
            at += 1;
        }
        false
    }

    /// Looks at who is in the way of the unit of a push; says whether that ended the search well.
    fn look_along(&mut self, root: u32, at: u32, way: u8, _pushed: u8) -> bool {
        let index = self.pushes[at as usize].unit;
        let unit = &self.units[index as usize];
        if is_diagonal(way) && self.is_crossed(unit.tail, way) {
            return false;
        }
        let cell = self.board.beside(self.board.index(unit.tail), way);
        if self.is_against_traffic(index, way) {
            return false;
        }
        let unit = &self.units[index as usize];
        match self.chain_end(index, way, cell) {
            End::Nowhere => {}
            end => return self.carry_out(at, way, cell, end),
        }
        let hold = self.board.hold(cell);
        if hold.heir != NONE {
            return false;
        }
        if hold.owner == root {
            return self.carry_out(at, way, cell, End::Left);
        }
        let (team, first_turn) = (unit.team, self.units[root as usize].turn(root));
        if at == 0 && self.are_in_line(root, hold.owner) {
            return false;
        }
        let search = self.search;
        let other = &mut self.units[hold.owner as usize];
        let can_go = !other.is_moving()
            && other.gives_way_to(team)
            && other.size == 1
            && (other.yields || other.turn(hold.owner) > first_turn);
        if other.searched != search {
            (other.searched, other.sides) = (search, 0);
        }
        if can_go && other.sides & 1 << way == 0 {
            other.sides |= 1 << way;
            self.pushes.push(Push { unit: hold.owner, direction: way, from: at });
        }
        false
    }

    /// Whether a unit can have a cell without pushing anybody.
    fn chain_end(&self, index: u32, way: u8, cell: u32) -> End {
        let hold = self.board.hold(cell);
        if hold.owner == NONE {
            return End::Free;
        }
        let other = &self.units[hold.owner as usize];
        let is_kept = hold.heir != NONE && hold.heir != index;
        let is_leaving = other.is_moving() && !self.board.covers(other.head, other.size, cell);
        if is_leaving && !is_kept && turn(other.direction, way) <= 2 {
            End::Left
        } else {
            End::Nowhere
        }
    }

    /// Writes the chain that ends with the unit of a push into the log, from its end on; false where
    /// it crosses itself.
    fn carry_out(&mut self, mut at: u32, mut way: u8, mut cell: u32, end: End) -> bool {
        let mut end = end;
        loop {
            let push = self.pushes[at as usize];
            let unit = &self.units[push.unit as usize];
            let is_crossed = is_diagonal(way) && self.is_crossed(unit.tail, way);
            if is_crossed || unit.is_moving() || !self.may_take(cell, way, end) {
                self.undo_to(0);
                return false;
            }
            match end {
                End::Free => {
                    self.board.hold_mut(cell).owner = push.unit;
                    self.log.push(Claim::Owned(cell));
                }
                _ => {
                    self.board.hold_mut(cell).heir = push.unit;
                    self.log.push(Claim::Inherits(cell));
                }
            }
            self.set_out(push.unit, way);
            self.log.push(Claim::Moves(push.unit));
            if push.direction == STAY {
                return self.is_ring_sound();
            }
            let pusher = self.pushes[push.from as usize].unit;
            if turn(push.direction, way) > 2 {
                let is_sound = self.is_ring_sound();
                if is_sound {
                    self.reserve(pusher);
                }
                return is_sound;
            }
            (cell, way, end) = (self.index_of(push.unit), push.direction, End::Left);
            at = push.from;
        }
    }

    /// Whether a cell at the end of a link is still to be had.
    fn may_take(&self, cell: u32, _way: u8, end: End) -> bool {
        let hold = self.board.hold(cell);
        match end {
            End::Free => hold.owner == NONE,
            _ => hold.heir == NONE,
        }
    }

    /// Whether everybody who is to inherit a cell turns by no more than a right angle against whoever
    /// leaves it; undoes the plan otherwise. Rings are closed before their first unit has set out.
    fn is_ring_sound(&mut self) -> bool {
        let is_sound = self.log.iter().all(|claim| match *claim {
            Claim::Inherits(cell) => {
                let hold = self.board.hold(cell);
                let (owner, heir) =
                    (&self.units[hold.owner as usize], &self.units[hold.heir as usize]);
                owner.is_moving() && turn(owner.direction, heir.direction) <= 2
            }
            _ => true,
        });
        if !is_sound {
            self.undo_to(0);
        }
        is_sound
    }

    fn index_of(&self, unit: u32) -> u32 {
        self.board.index(self.units[unit as usize].tail)
    }

    /// Marks a unit as planned to go this way.
    pub(super) fn set_out(&mut self, index: u32, way: u8) {
        let unit = &mut self.units[index as usize];
        unit.direction = way;
        unit.head = unit.tail.step(way);
        if unit.state == State::Waiting {
            self.waiting_before.push(index);
        }
        unit.state = State::Planned;
        if !unit.is_ghost {
            self.board.stand(unit.tail, unit.size, false);
        }
    }

    /// The steps that the ground allows a unit.
    pub(super) fn ground_ways<G: ?Sized>(&self, world: &World<'_, G>, index: u32) -> u8 {
        let unit = &self.units[index as usize];
        if unit.is_trapped {
            return self.escape_ways(world.grid, unit);
        }
        let layer = world.grid.layer(ProfileId(unit.profile));
        layer.map_or(0, |layer| legal_ways(layer, unit.tail))
    }
}

/// The steps that the ground allows whoever stands at a place.
#[inline]
pub(super) fn legal_ways(layer: &Layer, Place { x, y }: Place) -> u8 {
    layer.moves().legal(layer.pattern(u32::from(x), u32::from(y)))
}

/// The steps that units of a profile may make, by what is passable around.
pub(super) fn moves_of(grid: &NavGrid, profile: ProfileId) -> &'static MoveTable {
    let profile = &grid.profiles()[usize::from(profile.0)];
    MoveTable::of(profile.corner_rule(), profile.neighborhood())
}

/// Ways that differ from a direction by so many eighths of a turn at most; straight on first.
fn by_turn(direction: u8, most: u8) -> impl Iterator<Item = u8> {
    let ways = [0, 1, 7, 2, 6, 3, 5].into_iter().map(move |eighths| (direction + eighths) & 7);
    ways.filter(move |&way| turn(way, direction) <= most)
}
