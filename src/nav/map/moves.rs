//! Which steps are legal out of a cell, and which of them a search need not try.
//!
//! Input: a corner rule and an adjacency. Output: a table from the direction a cell was reached by and the
//! 3 × 3 [`Pattern`] around it to a set of directions (one byte). Row [`NO_DIRECTION`] holds every legal
//! step; row `d` leaves out those that a search on uniform cost may skip after arriving in direction `d`,
//! because the previous cell also has a path to the same cell that does not pass here and costs no more: canonical ordering
//! (Sturtevant & Rabin, "Canonical Orderings on Grids", IJCAI 2016), the pruning rule of jump point
//! search (Harabor & Grastien, AAAI 2011) without its jumps. The steps that stay are the natural and forced
//! neighbors.
//!
//! The table is not written by hand: each entry is found by trying all short alternative paths inside the
//! block, so that it is correct for every corner rule, for squares and for hexagons. Among paths of equal cost the
//! canonical one goes diagonal first (eight neighbors), vertical first (four), or north, west and southeast
//! first (hexagons).
//!
//! Where shut edges lie in a block, the same rule gives the [`steps_between_edges`]: there are too many of them for a table.

pub(crate) mod cost_borders;
pub(crate) mod dominated_steps;

use std::sync::OnceLock;

use crate::nav::{Adjacency, CornerRule, Direction, Pattern, edges::Side, pattern_bit};

/// Row of the table for a cell without a predecessor: all legal steps.
pub(crate) const NO_DIRECTION: u8 = 8;

const PATTERNS: usize = 512;

/// Sets of directions by arrival direction and pattern; see the [module](self).
#[derive(Debug)]
pub(crate) struct MoveTable {
    #[cfg(feature = "serialize")]
    rules: (CornerRule, Adjacency),
    sets: Box<[[u8; PATTERNS]; 9]>,
}

/// One table per corner rule and adjacency, filled on first use and shared by all layers.
static TABLES: [OnceLock<MoveTable>; 9] = [const { OnceLock::new() }; 9];

impl MoveTable {
    /// The table for these rules.
    pub(crate) fn of(corner_rule: CornerRule, adjacency: Adjacency) -> &'static Self {
        let index = corner_rule as usize + 3 * adjacency as usize;
        TABLES[index].get_or_init(|| Self::new(corner_rule, adjacency))
    }

    /// Fills the table: 9 × 512 entries, about a millisecond.
    fn new(corner_rule: CornerRule, adjacency: Adjacency) -> Self {
        let mut sets = Box::new([[0; PATTERNS]; 9]);
        for pattern in 0..PATTERNS as Pattern {
            let block = Block { pattern, corner_rule, adjacency, shut: ShutEdges::default() };
            let legal = block.legal_steps();
            sets[NO_DIRECTION as usize][pattern as usize] = legal;
            for arrival in Direction::ALL {
                sets[arrival as usize][pattern as usize] = block.prune(legal, arrival);
            }
        }
        Self {
            #[cfg(feature = "serialize")]
            rules: (corner_rule, adjacency),
            sets,
        }
    }

    /// Steps worth trying after arriving by `arrival` (0 to 7, or [`NO_DIRECTION`] for all).
    #[inline]
    pub(crate) fn get(&self, arrival: u8, pattern: Pattern) -> u8 {
        self.sets[arrival as usize % 9][pattern as usize % PATTERNS]
    }

    /// All legal steps.
    #[inline]
    pub(crate) fn legal(&self, pattern: Pattern) -> u8 {
        self.get(NO_DIRECTION, pattern)
    }
}

/// How serde writes a table: the rules that it is for.
#[cfg(feature = "serialize")]
pub(crate) mod by_rules {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::MoveTable;

    pub(crate) fn serialize<S: Serializer>(
        moves: &&'static MoveTable,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        moves.rules.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<&'static MoveTable, D::Error> {
        let (corner_rule, adjacency) = Deserialize::deserialize(deserializer)?;
        Ok(MoveTable::of(corner_rule, adjacency))
    }
}

/// The shut edges inside a 3 × 3 block: one bit for each side of each cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct ShutEdges(u32);

impl ShutEdges {
    /// Notes that the edge at a side of the cell at `(x, y)` from the center is shut.
    pub(crate) const fn insert(&mut self, (x, y): (i32, i32), side: Side) {
        self.0 |= 1 << Self::bit((x, y), side);
    }

    const fn bit((x, y): (i32, i32), side: Side) -> u32 {
        (3 * (3 * (y + 1) + x + 1)) as u32 + side as u32
    }

    /// Whether the edge is shut that a step crosses; false for diagonal steps of squares.
    fn has(self, at: (i32, i32), direction: Direction, adjacency: Adjacency) -> bool {
        Side::of(direction, adjacency).is_some_and(|(side, is_of_entered)| {
            let (dx, dy) = if is_of_entered { direction.offset() } else { (0, 0) };
            let (x, y) = (at.0 + dx, at.1 + dy);
            x.abs() <= 1 && y.abs() <= 1 && self.0 >> Self::bit((x, y), side) & 1 == 1
        })
    }
}

/// Returns the steps from the center of a block with shut edges: those worth trying, by the direction of arrival, and all legal
/// ones in row [`NO_DIRECTION`].
pub(crate) fn steps_between_edges(
    pattern: Pattern,
    (corner_rule, adjacency): (CornerRule, Adjacency),
    shut: ShutEdges,
) -> [u8; 9] {
    let block = Block { pattern, corner_rule, adjacency, shut };
    let mut steps = [block.legal_steps(); 9];
    for arrival in Direction::ALL {
        steps[arrival as usize] = block.prune(steps[NO_DIRECTION as usize], arrival);
    }
    steps
}

/// One 3 × 3 pattern under one rule, searched exhaustively.
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct Block {
    pattern: Pattern,
    corner_rule: CornerRule,
    adjacency: Adjacency,
    shut: ShutEdges,
}

impl Block {
    /// The center counts as passable: the unit stands on it.
    fn is_passable(&self, x: i32, y: i32) -> bool {
        (x, y) == (0, 0) || (x.abs() <= 1 && y.abs() <= 1 && self.pattern & pattern_bit(x, y) != 0)
    }

    fn is_legal(&self, x: i32, y: i32, direction: Direction) -> bool {
        let (dx, dy) = direction.offset();
        if !self.adjacency.has(direction) || !self.is_passable(x + dx, y + dy) {
            return false;
        }
        if !direction.is_diagonal() || self.adjacency == Adjacency::Six {
            return !self.shut.has((x, y), direction, self.adjacency);
        }
        let cells = [self.is_passable(x + dx, y), self.is_passable(x, y + dy)];
        let (row, column) = (Direction::from_offset(dx, 0), Direction::from_offset(0, dy));
        let is_shut = |at, direction| self.shut.has(at, direction, self.adjacency);
        // The two ways around the corner: over the cell beside in the row, or in the column.
        let edges = [
            is_shut((x, y), row) || is_shut((x + dx, y), column),
            is_shut((x, y), column) || is_shut((x, y + dy), row),
        ];
        let is_way = |way: usize| cells[way] && !edges[way];
        match self.corner_rule {
            CornerRule::Forbid => is_way(0) && is_way(1),
            CornerRule::NoSqueeze => is_way(0) || is_way(1),
            CornerRule::Allow => !edges[0] && !edges[1] || is_way(0) || is_way(1),
        }
    }

    /// All legal steps from the center.
    fn legal_steps(&self) -> u8 {
        Direction::ALL
            .into_iter()
            .filter(|&direction| self.is_legal(0, 0, direction))
            .fold(0, |set, direction| set | 1 << direction as u8)
    }

    /// Returns `legal` without the steps for which a path around the center is as good.
    fn prune(&self, legal: u8, arrival: Direction) -> u8 {
        let (dx, dy) = arrival.offset();
        let from = (-dx, -dy);
        if !self.is_passable(from.0, from.1) || !self.is_legal(from.0, from.1, arrival) {
            return legal; // no step can arrive like this: never looked up
        }
        Direction::ALL
            .into_iter()
            .filter(|&step| legal & 1 << step as u8 != 0)
            .filter(|&step| !self.is_dominated(from, arrival, step))
            .fold(0, |set, step| set | 1 << step as u8)
    }

    /// Whether the neighbor in direction `step` is reached from `from` without the center at a lower cost, or
    /// at the same cost along a path that comes first in canonical order.
    fn is_dominated(&self, from: (i32, i32), arrival: Direction, step: Direction) -> bool {
        let to = step.offset();
        if to == from {
            return true;
        }
        let weight = |step| self.adjacency.weight(step);
        let cost = weight(arrival) + weight(step);
        Direction::ALL.into_iter().any(|first| {
            let (dx, dy) = first.offset();
            let next = (from.0 + dx, from.1 + dy);
            if next == (0, 0) || !self.is_legal_inside(from, first) {
                return false;
            }
            let limit = cost + u32::from(self.adjacency.comes_first(first, arrival));
            let last = self.weight_of_last_step(next, to);
            last.is_some_and(|last| weight(first) + last < limit)
        })
    }

    /// Weight of the step between two cells other than the center: 0 if they are the same, `None` if there is
    /// none. (Any three steps cost more than the two steps through the center.)
    fn weight_of_last_step(&self, at: (i32, i32), to: (i32, i32)) -> Option<u32> {
        if at == to {
            return Some(0);
        }
        let step = Direction::of_step((to.0 - at.0, to.1 - at.1))?;
        self.is_legal_inside(at, step).then(|| self.adjacency.weight(step))
    }

    /// Whether a step is legal and its legality follows from this block alone.
    fn is_legal_inside(&self, at: (i32, i32), direction: Direction) -> bool {
        let (dx, dy) = direction.offset();
        (at.0 + dx).abs() <= 1 && (at.1 + dy).abs() <= 1 && self.is_legal(at.0, at.1, direction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(directions: &[Direction]) -> u8 {
        directions.iter().fold(0, |set, &direction| set | 1 << direction as u8)
    }

    #[test]
    fn open_terrain_keeps_one_step_after_a_straight_and_three_after_a_diagonal() {
        use Direction::{East, North, NorthEast};
        let table = MoveTable::new(CornerRule::Forbid, Adjacency::Eight);
        assert_eq!(table.get(East as u8, 0x1ff), set(&[East]));
        assert_eq!(table.get(NorthEast as u8, 0x1ff), set(&[East, NorthEast, North]));
        assert_eq!(table.legal(0x1ff), 0xff);
    }

    #[test]
    fn a_wall_diagonally_behind_forces_a_neighbor() {
        use Direction::{East, North, NorthEast};
        let table = MoveTable::new(CornerRule::Forbid, Adjacency::Eight);
        let wall_behind = 0x1ff & !pattern_bit(-1, 1);
        assert_eq!(table.get(East as u8, wall_behind), set(&[East, NorthEast, North]));
    }

    #[test]
    fn four_neighbors_turn_from_vertical_to_horizontal_only() {
        use Direction::{East, North, West};
        let table = MoveTable::new(CornerRule::Forbid, Adjacency::Four);
        assert_eq!(table.get(North as u8, 0x1ff), set(&[East, North, West]));
        assert_eq!(table.get(East as u8, 0x1ff), set(&[East]));
    }

    #[test]
    fn on_hexagons_three_directions_branch_and_three_go_on() {
        use Direction::{East, North, NorthWest, South, SouthEast, West};
        let table = MoveTable::new(CornerRule::Forbid, Adjacency::Six);
        assert_eq!(table.legal(0x1ff), Adjacency::Six.directions());
        assert_eq!(table.get(North as u8, 0x1ff), set(&[East, North, NorthWest]));
        assert_eq!(table.get(West as u8, 0x1ff), set(&[NorthWest, West, South]));
        assert_eq!(table.get(SouthEast as u8, 0x1ff), set(&[South, SouthEast, East]));
        for along in [East, NorthWest, South] {
            assert_eq!(table.get(along as u8, 0x1ff), set(&[along]));
        }
        // Behind a wall at 120°, the neighbor at 60° is forced.
        let wall_behind = 0x1ff & !pattern_bit(-1, 1);
        assert_eq!(table.get(East as u8, wall_behind), set(&[East, North]));
    }

    #[test]
    fn on_hexagons_the_table_is_the_rule_of_jump_points() {
        use Direction::{North, SouthEast, West};
        let table = MoveTable::new(CornerRule::Forbid, Adjacency::Six);
        let steps = Direction::ALL.into_iter().filter(|&it| Adjacency::Six.has(it));
        for (arrival, others) in steps.flat_map(|arrival| (0..512).map(move |set| (arrival, set))) {
            let is_passable = |direction: u8| {
                let (dx, dy) = Direction::ALL[usize::from(direction)].offset();
                others & pattern_bit(dx, dy) != 0
            };
            let from = arrival as u8 ^ 4;
            if others & pattern_bit(0, 0) == 0 || !is_passable(from) {
                continue;
            }
            let branches = matches!(arrival, North | West | SouthEast);
            let turns = Adjacency::Six.around(arrival as u8).into_iter();
            let kept = turns.filter(|&(_, behind)| branches || !is_passable(behind));
            let kept = kept.fold(1 << arrival as u8, |kept, (side, _)| kept | 1 << side);
            let legal = table.legal(others);
            assert_eq!(table.get(arrival as u8, others), kept & legal, "{arrival:?} {others:09b}");
        }
    }
}
