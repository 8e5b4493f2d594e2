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

/// Place of the center in a block.
const CENTER: u8 = 4;

/// A way from the cell before to the cell after that avoids the one between.
#[derive(Clone, Copy, Debug, Default)]
struct Detour {
    /// Cells that must be passable.
    needs: Pattern,
    /// The step it spares, and the cell that leads to.
    step: u8,
    to: u8,
    /// The cell between its two steps; its end where there is one step only.
    middle: u8,
    /// 1 where it comes first in canonical order and so wins a tie.
    wins_ties: u8,
    /// Weight of the step it spares.
    spared: u16,
    /// Weights of its own steps.
    weights: [u16; 2],
}

/// What can be left out after arriving in one direction.
#[derive(Debug)]
struct Arrival {
    from: u8,
    weight: u16,
    /// Steps that never pay, whatever the ground costs.
    never: u8,
    /// The ways around that depend on costs.
    detours: Vec<Detour>,
}

/// All ways around, by direction of arrival.
#[derive(Debug)]
pub(crate) struct Detours {
    arrivals: [Arrival; 8],
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
    #[inline(always)]
    fn step(&self, weight: u16, from: u8, to: u8) -> u32 {
        // Places are below nine; said so, because the compiler cannot know.
        let excess = self.excess[usize::from(from) % 9] + self.excess[usize::from(to) % 9];
        u32::from(weight) * (self.lowest + excess)
    }
}

impl Detours {
    /// The list for a neighborhood, where corners may not be cut.
    pub(crate) fn of(neighborhood: Neighborhood) -> &'static Self {
        let index = usize::from(neighborhood == Neighborhood::Eight);
        TABLES[index].get_or_init(|| Self {
            arrivals: Direction::ALL.map(|arrival| Arrival::new(arrival, neighborhood)),
        })
    }

    /// Which of the `legal` steps are worth trying after arriving by `arrival` (0 to 7, or
    /// [`NO_DIRECTION`]).
    #[inline]
    pub(crate) fn prune(&self, legal: u8, arrival: u8, pattern: Pattern, costs: &BlockCosts) -> u8 {
        if arrival == NO_DIRECTION {
            return legal;
        }
        let arrival = &self.arrivals[usize::from(arrival & 7)];
        let mut spared = arrival.never;
        let there = costs.step(arrival.weight, arrival.from, CENTER);
        // All of them, without a question in between: which ones hold cannot be foreseen.
        for way in &arrival.detours {
            let through = there + costs.step(way.spared, CENTER, way.to);
            let first = costs.step(way.weights[0], arrival.from, way.middle);
            let around = first + costs.step(way.weights[1], way.middle, way.to);
            let is_open = pattern & way.needs == way.needs;
            let is_better = around < through + u32::from(way.wins_ties);
            spared |= u8::from(is_open & is_better) << (way.step & 7);
        }
        legal & !spared
    }
}

impl Arrival {
    fn new(arrival: Direction, neighborhood: Neighborhood) -> Self {
        let (dx, dy) = arrival.offset();
        // Going straight back never pays.
        let mut never = 1 << arrival.opposite() as u8;
        let mut detours = Vec::new();
        for step in Direction::ALL {
            if neighborhood == Neighborhood::Four && step.is_diagonal() {
                continue;
            }
            let ways = ways_around(arrival, step, neighborhood);
            let always = |way: &Detour| {
                way.middle == way.to && way.weights[0] <= weight(arrival).min(weight(step))
            };
            if ways.iter().any(always) {
                never |= 1 << step as u8;
            } else {
                detours.extend(ways);
            }
        }
        Self { from: place((-dx, -dy)), weight: weight(arrival), never, detours }
    }
}

/// Place of a cell in a block, row by row from the lowest.
const fn place((x, y): (i32, i32)) -> u8 {
    (y * 3 + x + 4) as u8
}

const fn weight(direction: Direction) -> u16 {
    (if direction.is_diagonal() { DIAGONAL } else { STRAIGHT }) as u16
}

/// All ways of one or two steps around the center, for one way in and one way out. A single step
/// has its end for a middle, and a second step that weighs nothing.
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
        let mut add = |needs, second| {
            ways.push(Detour {
                needs,
                step: step as u8,
                to: place(to),
                middle: place(middle),
                // Two steps for two: what replaces more could go on forever.
                wins_ties: u8::from(comes_first && middle != to),
                spared: weight(step),
                weights: [weight(first), second],
            });
        };
        if middle == to {
            add(needs, 0);
            continue;
        }
        for second in Direction::ALL {
            match inner_step(middle, second, neighborhood) {
                Some((end, more)) if end == to => add(needs | more, weight(second)),
                _ => {}
            }
        }
    }
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
        excess[usize::from(place((-1, 1)))] = 8;
        assert_eq!(steps(excess), 1 << East as u8);
        // ...but the cell to the north does, which makes going there later the better way.
        excess[usize::from(place((0, 1)))] = 8;
        assert_ne!(steps(excess) & 1 << NorthEast as u8, 0);
    }
}
