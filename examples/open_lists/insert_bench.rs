//! The comparison of the C# article: inserts values, then reads the lowest.
//!
//! The article compares its heap with an array that is sorted after each insertion. A third method is
//! added: insertion at a position found by binary search. Each method runs twice, once timed and
//! once counted.

use std::{fmt::Write as _, time::Instant};

use bevy_tilepath::nav::open_list::{OpenListObserver, OperationCounts};

use crate::{lists::plain::PlainHeap, random::Random};

/// Numbers of values, as in the article.
const SIZES: [usize; 2] = [4_000, 10_000];

/// Lowest value, and the observer.
type Found<W> = (Option<u32>, W);

/// A method: name, timed, counted.
type Method = (&'static str, fn(&[u32]) -> Found<()>, fn(&[u32]) -> Found<OperationCounts>);

const METHODS: [Method; 3] = [
    ("binary heap", heap, heap),
    ("array, sort_unstable after each", sort_after_each, sort_after_each),
    ("array, place found by halving", binary_search, binary_search),
];

/// Returns values in random order.
fn values(count: usize) -> Vec<u32> {
    let mut random = Random::new(count as u64);
    (0..count).map(|_| 1 + random.below(100_000)).collect()
}

/// Inserts all values into a plain heap.
fn heap<W: OpenListObserver + Clone>(values: &[u32]) -> Found<W> {
    let mut heap = PlainHeap::<W>::default();
    values.iter().for_each(|&value| heap.add(value));
    let observer = heap.observer().clone();
    (heap.remove(), observer)
}

/// Inserts all values into an array that is sorted after each insertion.
fn sort_after_each<W: OpenListObserver>(values: &[u32]) -> Found<W> {
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

/// Inserts all values into an array, each at its sorted position.
fn binary_search<W: OpenListObserver>(values: &[u32]) -> Found<W> {
    let (mut array, mut observer): (Vec<u32>, _) = (Vec::new(), W::default());
    for &value in values {
        let index = array.partition_point(|&other| {
            observer.compared(0, 0);
            other < value
        });
        array.insert(index, value);
    }
    (array.first().copied(), observer)
}

/// Runs all methods at both sizes.
pub fn text() -> String {
    let mut text = format!(
        "{:>7}  {:<32} {:>12} {:>14} {:>9} {:>9}\n",
        "items", "structure", "µs", "comparisons", "/insert", "lowest F"
    );
    for size in SIZES {
        let values = values(size);
        for (name, timed, counted) in METHODS {
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
    fn all_methods_find_the_same_lowest_value_and_the_heap_compares_least() {
        let values = values(1_000);
        let found = METHODS.map(|(_, _, counted)| counted(&values));
        let lowest = values.iter().min().copied();
        assert!(found.iter().all(|found| found.0 == lowest));
        let [heap, sorted, searched] = found.map(|found| found.1.comparisons);
        assert!(heap * 3 < searched && searched * 10 < sorted, "{heap} {searched} {sorted}");
    }
}
