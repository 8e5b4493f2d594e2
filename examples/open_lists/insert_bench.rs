//! The comparison of the C# article: so many values put in, then the lowest asked for.
//!
//! Its rival is an array that is sorted anew after each insertion. Beside it stands what the
//! article could have done: find the place by halving, then insert there.

use std::time::Instant;

use bevy_tilepath::nav::open_list::Count;

use crate::{lists::plain::PlainHeap, random::Random};

/// As many values as in the article.
const SIZES: [usize; 2] = [4_000, 10_000];

/// What one structure did with the values.
pub struct Outcome {
    /// Lowest value.
    pub lowest: Option<u32>,
    /// Comparisons made.
    pub comparisons: u64,
}

/// Values in no order.
pub fn values(count: usize) -> Vec<u32> {
    let mut random = Random::new(count as u64);
    (0..count).map(|_| 1 + random.below(100_000)).collect()
}

/// Puts all into a plain heap.
pub fn heap(values: &[u32]) -> Outcome {
    let mut heap = PlainHeap::<Count>::default();
    values.iter().for_each(|&value| heap.add(value));
    let comparisons = heap.watch().comparisons;
    Outcome { lowest: heap.remove(), comparisons }
}

/// Puts all into an array that is sorted after each.
pub fn sorted_anew(values: &[u32]) -> Outcome {
    let (mut array, mut comparisons) = (Vec::new(), 0);
    for &value in values {
        array.push(value);
        array.sort_unstable_by(|one: &u32, other| {
            comparisons += 1;
            one.cmp(other)
        });
    }
    Outcome { lowest: array.first().copied(), comparisons }
}

/// Puts all into an array where they belong.
pub fn sorted_by_halving(values: &[u32]) -> Outcome {
    let (mut array, mut comparisons): (Vec<u32>, _) = (Vec::new(), 0);
    for &value in values {
        let place = array.partition_point(|&other| {
            comparisons += 1;
            other < value
        });
        array.insert(place, value);
    }
    Outcome { lowest: array.first().copied(), comparisons }
}

/// Runs and prints all three at both sizes.
pub fn run() {
    type Way = (&'static str, fn(&[u32]) -> Outcome);
    let ways: [Way; 3] = [
        ("binary heap", heap),
        ("array sorted after each insert", sorted_anew),
        ("array, place found by halving", sorted_by_halving),
    ];
    println!(
        "{:>7}  {:<32} {:>12} {:>14} {:>9} {:>9}",
        "items", "structure", "µs", "comparisons", "/insert", "lowest F"
    );
    for size in SIZES {
        let values = values(size);
        for (name, way) in ways {
            let begin = Instant::now();
            let outcome = way(&values);
            let micros = begin.elapsed().as_secs_f64() * 1e6;
            let each = outcome.comparisons as f64 / size as f64;
            let lowest = outcome.lowest.unwrap_or_default();
            println!(
                "{size:>7}  {name:<32} {micros:>12.0} {:>14} {each:>9.1} {lowest:>9}",
                outcome.comparisons
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_find_the_same_lowest_value_and_the_heap_compares_least() {
        let values = values(1_000);
        let ways = [heap(&values), sorted_anew(&values), sorted_by_halving(&values)];
        let lowest = values.iter().min().copied();
        assert!(ways.iter().all(|way| way.lowest == lowest));
        let [heap, anew, halving] = ways.map(|way| way.comparisons);
        assert!(heap * 3 < halving && halving * 10 < anew, "{heap} {halving} {anew}");
    }
}
