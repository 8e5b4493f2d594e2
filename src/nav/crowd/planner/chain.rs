//! The shortest chain of pushes for a unit that has not been able to move for long.
//!
//! Input: a unit, and the directions that bring it nearer to its goal. Output: a plan in which the fewest
//! units move, each into the cell of the next. The last one moves into a free cell, into a cell that is being
//! left, or, in a ring, into the cell of the first. The depth-first search of `plan` marks a unit as unable
//! to move although it was pushed only from the wrong side. Here pushes from all sides are tried, nearest
//! first (breadth-first search), so a chain is found if there is one. Only units of one cell take part.
//!
//! Where no chain exists in which all units turn by right angles or less, one unit may turn farther. Then only that unit
//! and those after it in the chain move now, and its cell is kept for its pusher. The same goes for a unit that is many
//! times slower than its pusher, unless the chain is a ring.

use super::claim::{Claim, is_crossed, is_much_slower, may_follow};
use super::{Planner, plan::go_the_same_way};
use crate::nav::crowd::board::{Board, NONE, Reservation, STAY, State, Unit};
use crate::nav::{Topology, crowd::scene::Scene};

/// Maximum number of pushes looked at in a search.
const MAX_PUSHES: usize = 4_096;

/// A unit that would be pushed in a direction.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Push {
    pub unit: u32,
    pub direction: u8,
    /// Index of the push before it in the chain; its own index for the first one.
    pub from: u32,
}

impl Push {
    /// Creates the push of a unit that is the first one, or the only one.
    pub const fn first(unit: u32) -> Self {
        Self { unit, direction: STAY, from: 0 }
    }
}

impl Planner {
    /// Plans the shortest chain that lets `root` go in one of these directions and writes it to the log.
    pub fn plan_chain(&mut self, scene: &mut Scene<'_>, root: u32, directions: &[u8]) -> bool {
        [2, 3].into_iter().any(|max_turn| self.search_chain(scene, root, directions, max_turn))
    }

    fn search_chain(
        &mut self,
        scene: &mut Scene<'_>,
        root: u32,
        directions: &[u8],
        max_turn: u8,
    ) -> bool {
        self.chain_search = self.chain_search.wrapping_add(1);
        self.pushes.clear();
        scene.board.units[root].chain_search = self.chain_search;
        scene.board.units[root].searched_directions = 0xff;
        self.pushes.push(Push::first(root));
        for &direction in directions {
            if self.extend_chain(scene, root, 0, direction) {
                return true;
            }
        }
        let mut at = 1;
        while let Some(&push) = self.pushes.get(at).filter(|_| at < MAX_PUSHES) {
            let legal = scene.unit_directions(push.unit);
            for direction in directions_by_turn(scene.board.topology, push.direction, max_turn) {
                if legal & 1 << direction != 0
                    && self.extend_chain(scene, root, at as u32, direction)
                {
                    return true;
                }
            }
            at += 1;
        }
        false
    }

    /// Extends the chain of a push in a direction: ends it there or adds a push of the unit in that cell.
    /// Returns whether a complete chain was logged.
    fn extend_chain(&mut self, scene: &mut Scene<'_>, root: u32, at: u32, direction: u8) -> bool {
        let index = self.pushes[at as usize].unit;
        let Unit { tail, team, .. } = scene.board.units[index];
        if is_crossed(scene.board, tail, direction) {
            return false;
        }
        let cell = scene.board.reservations.beside(tail, direction);
        if scene.shape.is_against_traffic(scene.board, index, direction) {
            return false;
        }
        let Reservation { owner, next_owner } = scene.board.reservations.get(cell);
        if owner != NONE && next_owner != NONE {
            return false;
        }
        let is_open = owner == NONE || owner == root;
        if is_open || may_follow(scene.board, (index, owner), (cell, direction)) {
            return self.log_chain(scene.board, at, direction);
        }
        let root_priority = scene.board.units[root].priority(root);
        if at == 0 && go_the_same_way(scene.board, root, owner) {
            return false;
        }
        let search = self.chain_search;
        let other = &mut scene.board.units[owner];
        let can_go = !other.is_moving()
            && other.is_pushable_by(team)
            && other.size == 1
            && (other.accepts_any_push || other.priority(owner) > root_priority);
        if other.chain_search != search {
            (other.chain_search, other.searched_directions) = (search, 0);
        }
        if can_go && other.searched_directions & 1 << direction == 0 {
            other.searched_directions |= 1 << direction;
            self.pushes.push(Push { unit: owner, direction, from: at });
        }
        false
    }

    /// Writes the chain that ends with a push, and a step in a direction, to the log, from its end to its first unit. Returns
    /// false if the chain crosses itself.
    pub fn log_chain(&mut self, board: &mut Board, mut at: u32, mut direction: u8) -> bool {
        let mut is_ring = false;
        loop {
            let push = self.pushes[at as usize];
            let unit = &board.units[push.unit];
            let cell = board.reservations.beside(unit.tail, direction);
            let Reservation { owner, next_owner } = board.reservations.get(cell);
            is_ring |= owner == self.pushes[0].unit;
            let is_crossed = is_crossed(board, unit.tail, direction);
            if is_crossed || unit.is_moving() || next_owner != NONE {
                self.undo_to(board, 0);
                return false;
            }
            self.claim(board, push.unit, cell);
            self.plan_step(board, push.unit, direction);
            self.log.push(Claim::Step(push.unit));
            if push.direction == STAY {
                return self.keep_if_valid(board, NONE);
            }
            let pusher = self.pushes[push.from as usize].unit;
            let is_slow = is_much_slower(&board.units[push.unit], &board.units[pusher]);
            let turns_far = board.topology.turn_angle(push.direction, direction) > 2;
            if turns_far || is_slow && !is_ring {
                return self.keep_if_valid(board, pusher);
            }
            (direction, at) = (push.direction, push.from);
        }
    }

    /// Marks a unit as planned to step in a direction.
    pub fn plan_step(&mut self, board: &mut Board, index: u32, direction: u8) {
        let unit = &mut board.units[index];
        unit.direction = direction;
        unit.head = unit.tail.step(direction);
        unit.state = State::Planned { was_waiting: unit.state == State::Waiting };
        board.reservations.set_standing(unit.tail, unit.size, false);
    }
}

/// Returns the directions that differ from `direction` by at most `max_turn` (see [`Topology::turn_angle`]), straight on
/// first.
fn directions_by_turn(topology: Topology, direction: u8, max_turn: u8) -> impl Iterator<Item = u8> {
    let mut all = [0, 1, 7, 2, 6, 3, 5].map(|eighths| (direction + eighths) & 7);
    let turn = move |other: u8| topology.turn_angle(other, direction);
    if topology == Topology::Hexagonal {
        all.sort_by_key(|&other| turn(other)); // not in the order of their numbers
    }
    all.into_iter().filter(move |&other| turn(other) <= max_turn)
}
