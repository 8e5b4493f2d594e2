//! Dominated steps on weighted terrain: steps a search need not try, because an alternative path is as good.
//!
//! Input: the direction a cell was reached by, the 3 × 3 block around it and what its cells cost. Output: the
//! steps worth trying. On uniform cost `MoveTable` holds the answer; here it depends on costs, so the
//! alternatives are kept as a list and compared where they are needed: all paths of one or two steps inside
//! the block, from the cell before to the cell after, that avoid the cell between. Of equally good paths the
//! one that comes first in canonical order stays (see `Adjacency::comes_first`). Valid where corners may not be cut.
//!
//! Source: M. Carlson, S. K. Moghadam, D. D. Harabor, P. J. Stuckey & M. Ebrahimi, "Optimal Pathfinding on
//! Weighted Grid Maps" (AAAI 2023), which breaks symmetries by the costs of neighborhoods. Options
//! considered: a table of all neighborhoods seen, as in that paper; the list needs no memory, and no time at
//! all away from cost borders.

use std::sync::OnceLock;

use crate::nav::{Adjacency, Direction, NO_DIRECTION, Pattern, pattern_bit};

/// Index of the center in a block.
const CENTER: u8 = 4;

/// A path from the cell before to the cell after that avoids the cell between.
#[derive(Clone, Copy, Debug, Default)]
struct Alternative {
    /// Cells that must be passable.
    required: Pattern,
    /// The step it may replace, and the cell that step leads to.
    step: u8,
    to: u8,
    /// The cell between its two steps; its end where it has only one step.
    middle: u8,
    /// 1 if it comes first in canonical order and so wins ties.
    wins_ties: u8,
    /// Weight of the step it may replace.
    step_weight: u16,
    /// Weights of its own steps.
    weights: [u16; 2],
}

/// What can be pruned after arriving in one direction.
#[derive(Debug)]
struct Arrival {
    from: u8,
    weight: u16,
    /// Steps that never pay, whatever the terrain costs.
    always_dominated: u8,
    /// The alternative paths whose comparison depends on costs.
    alternatives: Vec<Alternative>,
}

/// All alternative paths, by direction of arrival.
#[derive(Debug)]
pub(crate) struct DominatedSteps {
    arrivals: [Arrival; 8],
}

/// By adjacency; filled on first use.
static TABLES: [OnceLock<DominatedSteps>; 3] = [const { OnceLock::new() }; 3];

/// The costs of the cells of a block beyond the cheapest, row by row, and the lowest cost sum of a step, all
/// in a layer's units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockCosts {
    pub(crate) excess: [u32; 9],
    pub(crate) lowest: u32,
}

impl BlockCosts {
    #[inline(always)]
    fn step(&self, weight: u16, from: u8, to: u8) -> u32 {
        // Indices are below nine; the compiler cannot deduce this.
        let excess = self.excess[usize::from(from) % 9] + self.excess[usize::from(to) % 9];
        u32::from(weight) * (self.lowest + excess)
    }
}

impl DominatedSteps {
    /// The alternatives for an adjacency, where corners may not be cut.
    pub(crate) fn of(adjacency: Adjacency) -> &'static Self {
        TABLES[adjacency as usize].get_or_init(|| Self {
            arrivals: Direction::ALL.map(|arrival| Arrival::new(arrival, adjacency)),
        })
    }

    /// Returns those of the `legal` steps that are worth trying after arriving by `arrival` (0 to 7, or
    /// [`NO_DIRECTION`]).
    #[inline]
    pub(crate) fn prune(&self, legal: u8, arrival: u8, pattern: Pattern, costs: &BlockCosts) -> u8 {
        if arrival == NO_DIRECTION {
            return legal;
        }
        let arrival = &self.arrivals[usize::from(arrival & 7)];
        let mut dominated = arrival.always_dominated;
        let step_in = costs.step(arrival.weight, arrival.from, CENTER);
        // Compares all of them without a branch: which ones dominate cannot be predicted.
        for path in &arrival.alternatives {
            let through = step_in + costs.step(path.step_weight, CENTER, path.to);
            let first_step = costs.step(path.weights[0], arrival.from, path.middle);
            let around = first_step + costs.step(path.weights[1], path.middle, path.to);
            let is_open = pattern & path.required == path.required;
            let is_dominating = around < through + u32::from(path.wins_ties);
            dominated |= u8::from(is_open & is_dominating) << (path.step & 7);
        }
        legal & !dominated
    }
}

impl Arrival {
    fn new(arrival: Direction, adjacency: Adjacency) -> Self {
        let weight = |step| adjacency.weight(step) as u16;
        let (dx, dy) = arrival.offset();
        // A step straight back never pays.
        let mut always_dominated = 1 << arrival.opposite() as u8;
        let mut alternatives = Vec::new();
        for step in Direction::ALL {
            if !adjacency.has(step) {
                continue;
            }
            let paths = alternatives_to(arrival, step, adjacency);
            let is_always_shorter = |path: &Alternative| {
                path.middle == path.to && path.weights[0] <= weight(arrival).min(weight(step))
            };
            if paths.iter().any(is_always_shorter) {
                always_dominated |= 1 << step as u8;
            } else {
                alternatives.extend(paths);
            }
        }
        let (from, weight) = (block_index((-dx, -dy)), weight(arrival));
        Self { from, weight, always_dominated, alternatives }
    }
}

/// Index of a cell in a block, row by row from the lowest.
const fn block_index((x, y): (i32, i32)) -> u8 {
    (y * 3 + x + 4) as u8
}

/// All paths of one or two steps around the center, for one step in and one step out. A path of a single step
/// has its end as middle, and a second step of weight 0.
fn alternatives_to(arrival: Direction, step: Direction, adjacency: Adjacency) -> Vec<Alternative> {
    let weight = |step| adjacency.weight(step) as u16;
    let (dx, dy) = arrival.offset();
    let (from, to) = ((-dx, -dy), step.offset());
    let mut paths = Vec::new();
    for first in Direction::ALL {
        let Some((middle, required)) = inner_step(from, first, adjacency) else {
            continue;
        };
        let mut add = |required, second| {
            paths.push(Alternative {
                required,
                step: step as u8,
                to: block_index(to),
                middle: block_index(middle),
                // Only a path of two steps may win a tie against the two steps: other replacements could go on for ever.
                wins_ties: u8::from(middle != to && adjacency.comes_first(first, arrival)),
                step_weight: weight(step),
                weights: [weight(first), second],
            });
        };
        if middle == to {
            add(required, 0);
            continue;
        }
        for second in Direction::ALL {
            match inner_step(middle, second, adjacency) {
                Some((end, more)) if end == to => add(required | more, weight(second)),
                _ => {}
            }
        }
    }
    paths
}

/// Returns where a step inside the block that avoids the center leads, and the cells it requires.
fn inner_step(
    (x, y): (i32, i32),
    step: Direction,
    adjacency: Adjacency,
) -> Option<((i32, i32), Pattern)> {
    let (dx, dy) = step.offset();
    let to = (x + dx, y + dy);
    let is_inside = to.0.abs() <= 1 && to.1.abs() <= 1 && to != (0, 0);
    if !is_inside || !adjacency.has(step) {
        return None;
    }
    if adjacency == Adjacency::Six {
        return Some((to, pattern_bit(to.0, to.1)));
    }
    // For a diagonal step the end and both corners; for a straight step its two ends.
    let required = pattern_bit(to.0, to.1) | pattern_bit(to.0, y) | pattern_bit(x, to.1);
    Some((to, required))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nav::{moves::MoveTable, terrain::CornerRule};

    #[test]
    fn pruning_on_uniform_cost_equals_the_move_table() {
        for adjacency in [Adjacency::Four, Adjacency::Eight, Adjacency::Six] {
            let table = MoveTable::of(CornerRule::Forbid, adjacency);
            let costs = BlockCosts { excess: [0; 9], lowest: 2 };
            for pattern in 0..512 as Pattern {
                let pattern = pattern | pattern_bit(0, 0);
                for arrival in Direction::ALL {
                    let (dx, dy) = arrival.offset();
                    let is_legal_arrival = table.legal(pattern) & 1 << (arrival as u8 ^ 4) != 0;
                    if !is_legal_arrival || pattern & pattern_bit(-dx, -dy) == 0 {
                        continue;
                    }
                    let legal = table.legal(pattern);
                    let pruned =
                        DominatedSteps::of(adjacency).prune(legal, arrival as u8, pattern, &costs);
                    assert_eq!(
                        pruned,
                        table.get(arrival as u8, pattern),
                        "{adjacency:?} {pattern:09b} {arrival:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_costly_cell_beside_the_path_forces_a_neighbor() {
        use Direction::{East, NorthEast};
        let mut excess = [0; 9];
        let table = MoveTable::of(CornerRule::Forbid, Adjacency::Eight);
        let steps = |excess| {
            let costs = BlockCosts { excess, lowest: 2 };
            let legal = table.legal(0x1ff);
            DominatedSteps::of(Adjacency::Eight).prune(legal, East as u8, 0x1ff, &costs)
        };
        assert_eq!(steps(excess), 1 << East as u8);
        // North of the cell before: going diagonally first leads through no costlier cell...
        excess[usize::from(block_index((-1, 1)))] = 8;
        assert_eq!(steps(excess), 1 << East as u8);
        // ...but the cell to the north is, so that going there later is the better path.
        excess[usize::from(block_index((0, 1)))] = 8;
        assert_ne!(steps(excess) & 1 << NorthEast as u8, 0);
    }
}
