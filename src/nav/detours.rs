//! Steps on mixed ground that a search need not try, because a way around is as good.
//!
//! Input: the way a cell was reached, the 3 × 3 block around it and what its cells cost. Output: the
//! steps worth trying. On ground of one cost `MoveTable` has the answer ready; here it depends on
//! costs, so the ways around are kept as a list, and compared where they are needed: all ways of one
//! or two steps inside the block, from the cell before to the cell after, that avoid the one between.
//! Of equally good ways the one that comes first in canonical order stays (diagonal first with eight
//! neighbors, vertical first with four). Holds where corners may not be cut.
//!
//! Source: M. Carlson, S. K. Moghadam, D. D. Harabor, P. J. Stuckey & M. Ebrahimi, "Optimal
//! Pathfinding on Weighted Grid Maps" (AAAI 2023), which breaks symmetries by the costs of
//! neighborhoods. Options considered: a table of all neighborhoods seen, as there; the list needs no
//! memory, and no time at all away from seams.

use std::sync::OnceLock;

use super::{
    direction::{Direction, Pattern, pattern_bit},
    moves::NO_DIRECTION,
    terrain::{DIAGONAL, Neighborhood, STRAIGHT},
};

/// Place of the center in a block, and of a way around that is a single step.
const CENTER: usize = 4;

/// A way from the cell before to the cell after that avoids the one between.
#[derive(Clone, Copy, Debug)]
struct Detour {
    /// Cells that must be passable.
    needs: Pattern,
    /// The cell between its two steps; the center where there is one step only.
    middle: u8,
    /// Weights of its steps.
    weights: [u16; 2],
    /// Whether it comes first in canonical order.
    comes_first: bool,
}

/// All ways around, by direction of arrival and of the step after.
#[derive(Debug)]
pub(crate) struct Detours {
    ways: [[Vec<Detour>; 8]; 8],
}

/// By neighborhood; filled on first use.
static TABLES: [OnceLock<Detours>; 2] = [const { OnceLock::new() }; 2];

/// What the cells around a place cost beyond the cheapest, row by row, and the lowest cost sum of a
/// step: all in a layer's units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockCosts {
    pub(crate) excess: [u32; 9],
    pub(crate) lowest: u32,
}

impl BlockCosts {
    #[inline]
    fn step(&self, weight: u32, from: usize, to: usize) -> u32 {
        weight * (self.lowest + self.excess[from] + self.excess[to])
    }
}

impl Detours {
    /// The list for a neighborhood, where corners may not be cut.
    pub(crate) fn of(neighborhood: Neighborhood) -> &'static Self {
        let index = usize::from(neighborhood == Neighborhood::Eight);
        TABLES[index].get_or_init(|| {
            let ways = Direction::ALL.map(|arrival| {
                Direction::ALL.map(|step| ways_around(arrival, step, neighborhood))
            });
            Self { ways }
        })
    }

    /// Which of the `legal` steps are worth trying after arriving by `arrival` (0 to 7, or
    /// [`NO_DIRECTION`]).
    #[inline]
    pub(crate) fn prune(
        &self,
        legal: u8,
        arrival: u8,
        pattern: Pattern,
        costs: &BlockCosts,
    ) -> u8 {
        if arrival == NO_DIRECTION {
            return legal;
        }
        let arrival = Direction::from_bits(arrival);
        let from = 8 - place(arrival.offset());
        let there = costs.step(weight(arrival), from, CENTER);
        // Going straight back never pays.
        let mut left = legal & !(1 << (arrival as u8 ^ 4));
        let mut kept = left;
        while left != 0 {
            let step = Direction::from_bits(left.trailing_zeros() as u8);
            left &= left - 1;
            let to = place(step.offset());
            let cost = there + costs.step(weight(step), CENTER, to);
            let is_better = |way: &Detour| {
                if pattern & way.needs != way.needs {
                    return false;
                }
                let [first, second] = way.weights.map(u32::from);
                let middle = usize::from(way.middle);
                let around = if middle == CENTER {
                    costs.step(first, from, to)
                } else {
                    costs.step(first, from, middle) + costs.step(second, middle, to)
                };
                around < cost || (around == cost && way.comes_first)
            };
            if self.ways[arrival as usize][step as usize].iter().any(is_better) {
                kept &= !(1 << step as u8);
            }
        }
        kept
    }
}

/// Place of a cell in a block, row by row from the lowest.
const fn place((x, y): (i32, i32)) -> usize {
    (y * 3 + x + 4) as usize
}

const fn weight(direction: Direction) -> u32 {
    if direction.is_diagonal() { DIAGONAL } else { STRAIGHT }
}

/// All ways of one or two steps around the center, for one way in and one way out.
fn ways_around(arrival: Direction, step: Direction, neighborhood: Neighborhood) -> Vec<Detour> {
    let (dx, dy) = arrival.offset();
    let (from, to) = ((-dx, -dy), step.offset());
    let mut ways = Vec::new();
    for first in Direction::ALL {
        let Some((middle, needs)) = inner_step(from, first, neighborhood) else {
            continue;
        };
        let comes_first = match neighborhood {
            Neighborhood::Eight => first.is_diagonal() && !arrival.is_diagonal(),
            Neighborhood::Four => first.offset().0 == 0 && arrival.offset().0 != 0,
        };
        let mut add = |middle: usize, needs, second| {
            let weights = [weight(first) as u16, second as u16];
            ways.push(Detour { needs, middle: middle as u8, weights, comes_first });
        };
        if middle == to {
            add(CENTER, needs, 0);
            continue;
        }
        for second in Direction::ALL {
            match inner_step(middle, second, neighborhood) {
                Some((end, more)) if end == to => add(place(middle), needs | more, weight(second)),
                _ => {}
            }
        }
    }
    // The likely ones first: single steps.
    ways.sort_by_key(|way| usize::from(way.middle) != CENTER);
    ways
}

/// Where a step inside the block that avoids the center leads, and the cells it needs.
fn inner_step(
    (x, y): (i32, i32),
    step: Direction,
    neighborhood: Neighborhood,
) -> Option<((i32, i32), Pattern)> {
    let (dx, dy) = step.offset();
    let to = (x + dx, y + dy);
    let is_inside = to.0.abs() <= 1 && to.1.abs() <= 1 && to != (0, 0);
    if !is_inside || (neighborhood == Neighborhood::Four && step.is_diagonal()) {
        return None;
    }
    // Both corners of a diagonal step; of a straight one, its two ends.
    let needs = pattern_bit(to.0, to.1) | pattern_bit(to.0, y) | pattern_bit(x, to.1);
    Some((to, needs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nav::{moves::MoveTable, terrain::CornerRule};

    #[test]
    fn on_uniform_cost_it_prunes_as_the_table_does() {
        for neighborhood in [Neighborhood::Four, Neighborhood::Eight] {
            let table = MoveTable::of(CornerRule::Forbid, neighborhood);
            let costs = BlockCosts { excess: [0; 9], lowest: 2 };
            for pattern in 0..512 as Pattern {
                let pattern = pattern | pattern_bit(0, 0);
                for arrival in Direction::ALL {
                    let (dx, dy) = arrival.offset();
                    let is_legal_way_in = table.legal(pattern) & 1 << (arrival as u8 ^ 4) != 0;
                    if !is_legal_way_in || pattern & pattern_bit(-dx, -dy) == 0 {
                        continue;
                    }
                    let legal = table.legal(pattern);
                    let pruned =
                        Detours::of(neighborhood).prune(legal, arrival as u8, pattern, &costs);
                    assert_eq!(
                        pruned,
                        table.get(arrival as u8, pattern),
                        "{neighborhood:?} {pattern:09b} {arrival:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_costly_cell_beside_the_way_forces_a_turn() {
        use Direction::{East, NorthEast};
        let mut excess = [0; 9];
        let table = MoveTable::of(CornerRule::Forbid, Neighborhood::Eight);
        let steps = |excess| {
            let costs = BlockCosts { excess, lowest: 2 };
            let legal = table.legal(0x1ff);
            Detours::of(Neighborhood::Eight).prune(legal, East as u8, 0x1ff, &costs)
        };
        assert_eq!(steps(excess), 1 << East as u8);
        // North of the cell before: going diagonally first leads through no costlier cell...
        excess[place((-1, 1))] = 8;
        assert_eq!(steps(excess), 1 << East as u8);
        // ...but the cell to the north does, which makes going there later the better way.
        excess[place((0, 1))] = 8;
        assert_ne!(steps(excess) & 1 << NorthEast as u8, 0);
    }
}
