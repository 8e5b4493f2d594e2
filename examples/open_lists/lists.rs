//! The open lists, one file each, all with the library's `OpenList` trait.
//!
//! The first seven are from the articles, from the simplest to the most advanced; the others are
//! added for comparison. Each takes an observer: `()` when it is timed, `OperationCounts` when its
//! work is counted, `Vec<Operation>` when every step is recorded. std's heap is counted through its
//! items instead. Arrays that have a fixed size in the articles grow here.

pub mod chain;
pub mod dial;
pub mod every;
pub mod lague;
pub mod lester;
pub mod plain;
pub mod quad;
pub mod sorted_average;
pub mod sorted_binary;
pub mod sorted_front;
pub mod standard;
pub mod unsorted;

use bevy_tilepath::nav::open_list::{BinaryHeap, BucketHeap, OpenList, OperationCounts};

pub use dial::DialRing;
pub use every::Every;
pub use lague::LagueHeap;
pub use lester::LesterHeap;
pub use plain::PlainList;
pub use quad::QuadHeap;
pub use sorted_average::SortedFromAverage;
pub use sorted_binary::SortedBySearch;
pub use sorted_front::SortedFromFront;
pub use standard::StdHeap;
pub use unsorted::UnsortedList;

/// A list whose work is counted.
pub trait Counted: OpenList {
    /// Returns its work since its creation.
    fn count(&self) -> OperationCounts;

    /// Whether it can count its own moves.
    const SEES_MOVES: bool = true;
}

macro_rules! counted_by_watch {
    ($($list:ident),*) => {
        $(impl Counted for $list<OperationCounts> {
            fn count(&self) -> OperationCounts {
                *self.observer()
            }
        })*
    };
}

counted_by_watch!(
    UnsortedList,
    SortedFromFront,
    SortedFromAverage,
    SortedBySearch,
    LesterHeap,
    PlainList,
    LagueHeap,
    BinaryHeap,
    BucketHeap,
    QuadHeap,
    DialRing
);

#[cfg(test)]
mod tests {
    use bevy_tilepath::nav::open_list::{Key, NodeId};

    use super::*;
    use crate::random::Random;

    /// Makes random calls, as a search would, and checks every pop against a linear scan.
    fn agrees_with_scan<L: OpenList>(seed: u64) {
        let (mut list, mut random) = (L::default(), Random::new(seed));
        for spread in [3, 2_308, 11_540] {
            let mut open: Vec<(NodeId, u32)> = Vec::new();
            let (mut next, mut floor) = (0, 500);
            list.reset(floor, spread);
            for _ in 0..2_000 {
                match random.below(5) {
                    0 | 1 => {
                        let f = floor + random.below(spread + 1);
                        list.insert(next, Key { f, h: random.below(f) });
                        open.push((next, f));
                        next += 1;
                    }
                    2 if !open.is_empty() => {
                        let index = random.below(open.len() as u32) as usize;
                        let (node, old) = open[index];
                        let f = floor + (old - floor) / 2;
                        if f < old {
                            list.improve(node, Key { f, h: 0 });
                            open[index].1 = f;
                        }
                    }
                    _ if !open.is_empty() => floor = pop(&mut list, &mut open),
                    _ => {}
                }
            }
            while !open.is_empty() {
                pop(&mut list, &mut open);
            }
        }
    }

    fn pop<L: OpenList>(list: &mut L, open: &mut Vec<(NodeId, u32)>) -> u32 {
        let lowest = open.iter().map(|&(_, f)| f).min();
        let index = std::iter::from_fn(|| list.pop())
            .find_map(|node| open.iter().position(|&(other, _)| other == node));
        let taken = index.map(|index| open.swap_remove(index).1);
        assert_eq!(taken, lowest);
        taken.unwrap_or_default()
    }

    #[test]
    fn every_list_gives_the_lowest_f() {
        for seed in 0..20 {
            agrees_with_scan::<UnsortedList>(seed);
            agrees_with_scan::<SortedFromFront>(seed);
            agrees_with_scan::<SortedFromAverage>(seed);
            agrees_with_scan::<SortedBySearch>(seed);
            agrees_with_scan::<LesterHeap>(seed);
            agrees_with_scan::<PlainList>(seed);
            agrees_with_scan::<LagueHeap>(seed);
            agrees_with_scan::<QuadHeap>(seed);
            agrees_with_scan::<StdHeap>(seed);
            agrees_with_scan::<DialRing>(seed);
        }
    }
}
