//! The comparison of the C# article: so many values put in, then the lowest asked for.
//!
//! Its rival is an array that is sorted anew after each insertion. Beside it stands what the
//! article could have done: find the place by halving, then insert there. Each is run twice, once
//! to be timed and once to be counted.

use std::{fmt::Write as _, time::Instant};

use bevy_tilepath::nav::open_list::{OpenListObserver, OperationCounts};

use crate::{lists::plain::PlainHeap, random::Random};

/// As many values as in the article.
const SIZES: [usize; 2] = [4_000, 10_000];

/// Lowest value, and who looked on.
type Found<W> = (Option<u32>, W);

/// A way to do it: its name, timed, counted.
type Way = (&'static str, fn(&[u32]) -> Found<()>, fn(&[u32]) -> Found<OperationCounts>);

const WAYS: [Way; 3] = [
    ("binary heap", heap, heap),
    ("array, sort_unstable after each", sorted_anew, sorted_anew),
    ("array, place found by halving", sorted_by_halving, sorted_by_halving),
];

/// Values in no order.
fn values(count: usize) -> Vec<u32> {
    let mut random = Random::new(count as u64);
    (0..count).map(|_| 1 + random.below(100_000)).collect()
}

/// Puts all into a plain heap.
fn heap<W: OpenListObserver + Clone>(values: &[u32]) -> Found<W> {
    let mut heap = PlainHeap::<W>::default();
    values.iter().for_each(|&value| heap.add(value));
    let observer = heap.observer().clone();
    (heap.remove(), observer)
}

/// Puts all into an array that is sorted after each.
fn sorted_anew<W: OpenListObserver>(values: &[u32]) -> Found<W> {
    let (mut array, mut observer): (Vec<u32>, _) = (Vec::new(), W::default());
    for &value in values {
        array.push(value);
        array.sort_unstable_by(|one, other| {
            observer.compared(0, 0);
            one.cmp(other)
        });
    }
    (array.first().copied(), observer)
}

/// Puts all into an array where they belong.
fn sorted_by_halving<W: OpenListObserver>(values: &[u32]) -> Found<W> {
    let (mut array, mut observer): (Vec<u32>, _) = (Vec::new(), W::default());
    for &value in values {
        let place = array.partition_point(|&other| {
            observer.compared(0, 0);
            other < value
        });
        array.insert(place, value);
    }
    (array.first().copied(), observer)
}

/// Runs all ways at both sizes.
pub fn text() -> String {
    let mut text = format!(
        "{:>7}  {:<32} {:>12} {:>14} {:>9} {:>9}\n",
        "items", "structure", "µs", "comparisons", "/insert", "lowest F"
    );
    for size in SIZES {
        let values = values(size);
        for (name, timed, counted) in WAYS {
            let begin = Instant::now();
            let (lowest, ()) = timed(&values);
            let micros = begin.elapsed().as_secs_f64() * 1e6;
            let comparisons = counted(&values).1.comparisons;
            let each = comparisons as f64 / size as f64;
            let lowest = lowest.unwrap_or_default();
            let _ = writeln!(
                text,
                "{size:>7}  {name:<32} {micros:>12.0} {comparisons:>14} {each:>9.1} {lowest:>9}"
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_find_the_same_lowest_value_and_the_heap_compares_least() {
        let values = values(1_000);
        let found = WAYS.map(|(_, _, counted)| counted(&values));
        let lowest = values.iter().min().copied();
        assert!(found.iter().all(|found| found.0 == lowest));
        let [heap, anew, halving] = found.map(|found| found.1.comparisons);
        assert!(heap * 3 < halving && halving * 10 < anew, "{heap} {halving} {anew}");
    }
}
