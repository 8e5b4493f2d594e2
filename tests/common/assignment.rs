//! The optimal assignment of slots, for comparison.
//!
//! Input: start cells and as many slots. Output: the least total travel from the starts to the slots.

use bevy_tilepath::prelude::*;

use super::open_distance;

/// Returns the least total travel from these cells to these slots: the Hungarian method with potentials,
/// O(n³) (Kuhn 1955; Jonker & Volgenant 1987).
pub fn least_travel(grid: &NavGrid, starts: &[Cell], slots: &[Cell]) -> u64 {
    let count = starts.len();
    let cost = |unit: usize, slot: usize| {
        i64::from(open_distance(grid, ProfileId(0), starts[unit - 1], slots[slot - 1]))
    };
    // Slot 0 is a placeholder for the unit that is being added.
    let (mut of_unit, mut of_slot) = (vec![0; count + 1], vec![0; count + 1]);
    let mut owner = vec![0; count + 1];
    for unit in 1..=count {
        owner[0] = unit;
        let mut slot = 0;
        let (mut slack, mut before) = (vec![i64::MAX; count + 1], vec![0; count + 1]);
        let mut is_seen = vec![false; count + 1];
        while owner[slot] != 0 {
            is_seen[slot] = true;
            let from = owner[slot];
            for to in (1..=count).filter(|&to| !is_seen[to]) {
                let reduced = cost(from, to) - of_unit[from] - of_slot[to];
                if reduced < slack[to] {
                    (slack[to], before[to]) = (reduced, slot);
                }
            }
            let next = (1..=count).filter(|&to| !is_seen[to]).min_by_key(|&to| slack[to]).unwrap();
            let step = slack[next];
            for to in 0..=count {
                if is_seen[to] {
                    of_unit[owner[to]] += step;
                    of_slot[to] -= step;
                } else {
                    slack[to] -= step;
                }
            }
            slot = next;
        }
        while slot != 0 {
            owner[slot] = owner[before[slot]];
            slot = before[slot];
        }
    }
    (1..=count).map(|slot| cost(owner[slot], slot) as u64).sum()
}
