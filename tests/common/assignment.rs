//! The best assignment of places there is, for comparing.
//!
//! Input: where units start, and as many places. Output: the least travel that takes all of them there.

use bevy_tilepath::prelude::*;

use super::open_distance;

/// The least travel there is from these cells to these places: the Hungarian method with potentials,
/// O(n³) (Kuhn 1955; Jonker & Volgenant 1987).
pub fn least_travel(grid: &NavGrid, starts: &[Cell], places: &[Cell]) -> u64 {
    let count = starts.len();
    let cost = |unit: usize, place: usize| {
        i64::from(open_distance(grid, ProfileId(0), starts[unit - 1], places[place - 1]))
    };
    // Entry 0 of places is a makeshift one for the unit that is being added.
    let (mut of_unit, mut of_place) = (vec![0; count + 1], vec![0; count + 1]);
    let mut owner = vec![0; count + 1];
    for unit in 1..=count {
        owner[0] = unit;
        let mut place = 0;
        let (mut slack, mut before) = (vec![i64::MAX; count + 1], vec![0; count + 1]);
        let mut is_seen = vec![false; count + 1];
        while owner[place] != 0 {
            is_seen[place] = true;
            let from = owner[place];
            for to in (1..=count).filter(|&to| !is_seen[to]) {
                let reduced = cost(from, to) - of_unit[from] - of_place[to];
                if reduced < slack[to] {
                    (slack[to], before[to]) = (reduced, place);
                }
            }
            let next = (1..=count).filter(|&to| !is_seen[to]).min_by_key(|&to| slack[to]).unwrap();
            let step = slack[next];
            for to in 0..=count {
                if is_seen[to] {
                    of_unit[owner[to]] += step;
                    of_place[to] -= step;
                } else {
                    slack[to] -= step;
                }
            }
            place = next;
        }
        while place != 0 {
            owner[place] = owner[before[place]];
            place = before[place];
        }
    }
    (1..=count).map(|place| cost(owner[place], place) as u64).sum()
}
