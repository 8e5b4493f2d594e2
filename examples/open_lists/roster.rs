//! All lists by name, in a timed and a counted version.

use bevy_tilepath::nav::open_list::{BinaryHeap, BucketHeap, OpenList, OperationCounts};

use crate::{
    lists::{
        Counted, DialRing, Every, LagueHeap, LesterHeap, PlainList, QuadHeap, SortedBySearch,
        SortedFromAverage, SortedFromFront, StdHeap, UnsortedList, standard::CountedItem,
    },
    runner::Outcome,
    runs::{Runner, counted, timed},
};

/// A list in the comparison.
pub struct Entrant {
    /// Name in the tables.
    pub name: &'static str,
    /// Its number among the structures of the articles.
    pub article: Option<u8>,
    /// Its color in charts.
    pub color: [u8; 3],
    /// A search on it, for timing.
    pub timed: fn() -> Box<dyn Runner>,
    /// The same search with its work counted.
    pub counted: fn() -> Box<dyn Runner>,
}

/// Creates an entrant from a timed and a counted list.
pub fn entrant<L: OpenList, C: Counted>(
    name: &'static str,
    article: Option<u8>,
    color: [u8; 3],
    takes_all: bool,
) -> Entrant {
    if takes_all {
        Entrant { name, article, color, timed: timed::<Every<L>>, counted: counted::<Every<C>> }
    } else {
        Entrant { name, article, color, timed: timed::<L>, counted: counted::<C> }
    }
}

/// Name of the reference list, the slowest one.
pub const YARDSTICK: &str = "unsorted list";
/// Name of the library's default.
pub const DEFAULT: &str = "bucket heap (default)";

/// Returns the reference list, the default, and the lists whose name contains one of `only`; all
/// lists if that is empty.
///
/// # Errors
/// A part that no name contains.
pub fn select(takes_all: bool, only: &[String]) -> Outcome<Vec<Entrant>> {
    let mut entrants = all(takes_all);
    if let Some(part) = only.iter().find(|&part| !entrants.iter().any(|e| e.name.contains(part))) {
        let names: Vec<_> = entrants.iter().map(|entrant| entrant.name).collect();
        return Err(format!("--only {part}: in none of: {}", names.join("; ")));
    }
    let is_selected = |name: &str| only.is_empty() || only.iter().any(|part| name.contains(part));
    entrants.retain(|entrant| {
        [YARDSTICK, DEFAULT].contains(&entrant.name) || is_selected(entrant.name)
    });
    Ok(entrants)
}

/// Returns all lists; with `takes_all`, searches send every node through them.
pub fn all(takes_all: bool) -> Vec<Entrant> {
    let all = takes_all;
    vec![
        entrant::<UnsortedList, UnsortedList<OperationCounts>>(
            YARDSTICK,
            Some(1),
            [127, 29, 29],
            all,
        ),
        entrant::<SortedFromFront, SortedFromFront<OperationCounts>>(
            "sorted, from the front",
            Some(2),
            [205, 60, 40],
            all,
        ),
        entrant::<SortedFromAverage, SortedFromAverage<OperationCounts>>(
            "sorted, by average",
            Some(3),
            [235, 120, 40],
            all,
        ),
        entrant::<SortedBySearch, SortedBySearch<OperationCounts>>(
            "sorted, binary search",
            Some(4),
            [205, 160, 30],
            all,
        ),
        entrant::<LesterHeap, LesterHeap<OperationCounts>>(
            "Lester's heap",
            Some(5),
            [110, 140, 40],
            all,
        ),
        entrant::<PlainList, PlainList<OperationCounts>>(
            "plain heap of F values",
            Some(6),
            [30, 150, 120],
            all,
        ),
        entrant::<LagueHeap, LagueHeap<OperationCounts>>(
            "Lague's generic heap",
            Some(7),
            [20, 130, 170],
            all,
        ),
        entrant::<BinaryHeap, BinaryHeap<OperationCounts>>(
            "library's binary heap",
            None,
            [50, 90, 200],
            all,
        ),
        entrant::<BucketHeap, BucketHeap<OperationCounts>>(DEFAULT, None, [0, 0, 0], all),
        entrant::<QuadHeap, QuadHeap<OperationCounts>>("4-ary heap", None, [130, 80, 190], all),
        entrant::<StdHeap, StdHeap<CountedItem>>("std BinaryHeap", None, [190, 70, 150], all),
        entrant::<DialRing, DialRing<OperationCounts>>(
            "Dial's buckets",
            None,
            [120, 120, 120],
            all,
        ),
    ]
}
