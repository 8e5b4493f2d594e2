//! Checks the articles' claims about heaps by counting.
//!
//! "1–3 comparisons to insert" is true with random costs and in searches. "About 9 to remove at
//! 1,000 nodes" is true of the levels that an item sinks. Each level takes two comparisons, one
//! between the children and one with the lower child. Only a heap that sinks the item to the bottom
//! and lifts it afterwards, as std's does, takes about nine.

use bevy_tilepath::nav::open_list::{BinaryHeap, Key, OpenList, OperationCounts};

use crate::{
    course::Course,
    ledger::{Calls, Ledger, Work},
    lists::{
        Counted, LagueHeap, LesterHeap, PlainList, SortedFromFront, StdHeap, standard::CountedItem,
    },
    random::Random,
    roster, runner,
};

/// Inserts 1,000 nodes of random F, then removes one and inserts one, 10,000 times.
fn at_a_thousand_nodes<L: Counted>() -> Work {
    let (mut list, mut random) = (Ledger::<L>::default(), Random::new(1));
    let spread = 100_000;
    list.reset(0, spread);
    let mut keys = Vec::new();
    for node in 0..1_000 {
        keys.push(random.below(spread));
        list.insert(node, Key { f: keys[node as usize], h: 0 });
    }
    for _ in 0..10_000 {
        let node = list.pop().unwrap();
        // As in a search: no inserted key is below the removed one.
        keys[node as usize] += random.below(spread);
        list.insert(node, Key { f: keys[node as usize], h: 0 });
    }
    assert_eq!((list.len(), list.work().peak), (1_000, 1_000));
    list.work()
}

#[track_caller]
fn assert_within(calls: Calls, comparisons: core::ops::RangeInclusive<f64>) {
    let each = calls.comparisons_each();
    assert!(comparisons.contains(&each), "{each} comparisons, not {comparisons:?}");
}

#[test]
fn a_heap_of_a_thousand_takes_one_to_three_comparisons_to_insert() {
    for work in [
        at_a_thousand_nodes::<LesterHeap<OperationCounts>>(),
        at_a_thousand_nodes::<PlainList<OperationCounts>>(),
        at_a_thousand_nodes::<LagueHeap<OperationCounts>>(),
        at_a_thousand_nodes::<BinaryHeap<OperationCounts>>(),
        at_a_thousand_nodes::<StdHeap<CountedItem>>(),
    ] {
        assert_within(work.inserts, 1.0..=3.0);
    }
}

#[test]
fn a_heap_of_a_thousand_takes_about_nine_levels_to_remove_of_two_comparisons_each() {
    for work in [
        at_a_thousand_nodes::<LesterHeap<OperationCounts>>(),
        at_a_thousand_nodes::<LagueHeap<OperationCounts>>(),
        at_a_thousand_nodes::<BinaryHeap<OperationCounts>>(),
    ] {
        let levels = work.removals.moves_each();
        assert!((7.5..=9.0).contains(&levels), "{levels} levels");
        assert_within(work.removals, 2.0 * levels - 0.5..=2.0 * levels + 2.5);
    }
}

#[test]
fn a_heap_that_sinks_to_the_bottom_takes_about_nine_comparisons_to_remove() {
    assert_within(at_a_thousand_nodes::<StdHeap<CountedItem>>().removals, 9.0..=11.0);
}

#[test]
fn an_insertion_sort_takes_hundreds() {
    let work = at_a_thousand_nodes::<SortedFromFront<OperationCounts>>();
    assert_within(work.inserts, 300.0..=700.0);
    assert_eq!(work.removals.work.comparisons, 0);
}

#[test]
fn in_searches_inserts_take_one_to_three_comparisons_and_all_lists_agree() {
    let profile = runner::profile("plain").unwrap();
    let mut course = Course::generated(256, &profile).unwrap();
    course.queries.truncate(5);
    for takes_all in [false, true] {
        let result = crate::race::run(&course, &roster::all(takes_all), 1).unwrap();
        for name in ["Lester's heap", "Lague's generic heap", "library's binary heap"] {
            let work = result.row(name).unwrap().work;
            assert_within(work.inserts, 1.0..=3.0);
        }
    }
}

#[test]
fn a_list_that_loses_nodes_is_detected() {
    /// Drops every tenth node.
    #[derive(Default)]
    struct Leaky(LesterHeap<OperationCounts>, u32);
    impl OpenList for Leaky {
        fn reset(&mut self, lowest: u32, spread: u32) {
            self.0.reset(lowest, spread);
        }
        fn insert(&mut self, node: u32, key: Key) {
            self.1 += 1;
            if !self.1.is_multiple_of(10) {
                self.0.insert(node, key);
            }
        }
        fn improve(&mut self, node: u32, key: Key) {
            self.0.improve(node, key);
        }
        fn pop(&mut self) -> Option<u32> {
            self.0.pop()
        }
        fn len(&self) -> usize {
            self.0.len()
        }
        fn bytes(&self) -> usize {
            0
        }
    }
    impl Counted for Leaky {
        fn count(&self) -> OperationCounts {
            self.0.count()
        }
    }
    let course = Course::generated(64, &runner::profile("plain").unwrap()).unwrap();
    let mut entrants = roster::all(true);
    entrants.truncate(2);
    entrants.push(roster::entrant::<Leaky, Leaky>("leaky", None, [0; 3], true));
    let error = crate::race::run(&course, &entrants, 1).err().unwrap();
    assert!(error.starts_with("blocks 64: leaky: from "), "{error}");
}
