//! Who takes part: every list by name, ready to be timed and to be counted.

use std::time::Instant;

use bevy_tilepath::{
    nav::{
        node_pool::NodePool,
        open_list::{BinaryHeap, BucketHeap, Count, Key, NodeId, OpenList},
        search::Search,
    },
    prelude::*,
};

use crate::{
    ledger::{Ledger, Work},
    lists::{
        Counted, DialRing, LagueHeap, LesterHeap, PlainList, QuadHeap, SortedBySearch,
        SortedFromAverage, SortedFromFront, StdHeap, UnsortedList, standard::Heard,
    },
    runner::Outcome,
};

/// A list that takes part.
pub struct Entrant {
    /// What tables call it.
    pub name: &'static str,
    /// Its number among the structures of the articles.
    pub article: Option<u8>,
    /// A search on it, to be timed.
    pub timed: fn() -> Box<dyn Runner>,
    /// The same search with its work counted.
    pub counted: fn() -> Box<dyn Runner>,
}

/// What one search answered.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// Cost of the path; `None` where there is none.
    pub cost: Option<PathCost>,
    /// What it took, start to finish.
    pub micros: f64,
    /// Nodes expanded.
    pub expansions: u64,
}

/// A search that is used again and again.
pub trait Runner {
    /// Answers one query.
    fn solve(&mut self, grid: &NavGrid, query: PathQuery) -> Answer;
    /// The work counted so far; nothing where it is not counted.
    fn work(&self) -> Option<Work>;
}

struct Run<L: OpenList> {
    search: Search<L>,
    pool: NodePool,
    work: fn(&L) -> Option<Work>,
}

impl<L: OpenList> Runner for Run<L> {
    fn solve(&mut self, grid: &NavGrid, query: PathQuery) -> Answer {
        let begin = Instant::now();
        let started = self.search.start(grid, &mut self.pool, query);
        self.search.step(grid, &mut self.pool, u32::MAX);
        let expansions = self.search.counters().expansions;
        let path = started.and_then(|()| self.search.finish(grid, &mut self.pool));
        let micros = begin.elapsed().as_secs_f64() * 1e6;
        Answer { cost: path.ok().map(|path| path.cost()), micros, expansions }
    }

    fn work(&self) -> Option<Work> {
        (self.work)(self.search.open_list())
    }
}

fn timed<L: OpenList>() -> Box<dyn Runner> {
    Box::new(Run::<L> { search: Search::new(), pool: NodePool::default(), work: |_| None })
}

fn counted<L: Counted>() -> Box<dyn Runner> {
    Box::new(Run::<Ledger<L>> {
        search: Search::new(),
        pool: NodePool::default(),
        work: |ledger| Some(ledger.work()),
    })
}

/// A list to which a search gives every node, as the articles do; see [`OpenList::TAKES_ALL`].
#[derive(Default)]
pub struct Every<L>(L);

impl<L: OpenList> OpenList for Every<L> {
    const TAKES_ALL: bool = true;

    fn reset(&mut self, lowest: u32, spread: u32) {
        self.0.reset(lowest, spread);
    }

    fn insert(&mut self, node: NodeId, key: Key) {
        self.0.insert(node, key);
    }

    fn improve(&mut self, node: NodeId, key: Key) {
        self.0.improve(node, key);
    }

    fn pop(&mut self) -> Option<NodeId> {
        self.0.pop()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

impl<L: Counted> Counted for Every<L> {
    const SEES_MOVES: bool = L::SEES_MOVES;

    fn count(&self) -> Count {
        self.0.count()
    }
}

/// An entrant made of a list to be timed and one to be counted.
pub fn entrant<L: OpenList, C: Counted>(
    name: &'static str,
    article: Option<u8>,
    takes_all: bool,
) -> Entrant {
    if takes_all {
        Entrant { name, article, timed: timed::<Every<L>>, counted: counted::<Every<C>> }
    } else {
        Entrant { name, article, timed: timed::<L>, counted: counted::<C> }
    }
}

/// Name of the yardstick: the slowest way there is.
pub const YARDSTICK: &str = "unsorted list";
/// Name of the library's default.
pub const DEFAULT: &str = "bucket heap (default)";

/// The yardstick and the lists whose name has one of `only` in it; all where that is empty.
///
/// # Errors
/// A part that is in no name.
pub fn select(takes_all: bool, only: &[String]) -> Outcome<Vec<Entrant>> {
    let mut entrants = all(takes_all);
    if let Some(part) = only.iter().find(|&part| !entrants.iter().any(|e| e.name.contains(part))) {
        let names: Vec<_> = entrants.iter().map(|entrant| entrant.name).collect();
        return Err(format!("--only {part}: in none of: {}", names.join("; ")));
    }
    let is_meant = |name: &str| only.is_empty() || only.iter().any(|part| name.contains(part));
    entrants.retain(|entrant| entrant.name == YARDSTICK || is_meant(entrant.name));
    Ok(entrants)
}

/// All lists; with `takes_all`, searches send every node through them.
pub fn all(takes_all: bool) -> Vec<Entrant> {
    let all = takes_all;
    vec![
        entrant::<UnsortedList, UnsortedList<Count>>(YARDSTICK, Some(1), all),
        entrant::<SortedFromFront, SortedFromFront<Count>>("sorted, from the front", Some(2), all),
        entrant::<SortedFromAverage, SortedFromAverage<Count>>("sorted, by average", Some(3), all),
        entrant::<SortedBySearch, SortedBySearch<Count>>("sorted, binary search", Some(4), all),
        entrant::<LesterHeap, LesterHeap<Count>>("Lester's heap", Some(5), all),
        entrant::<PlainList, PlainList<Count>>("plain heap of F values", Some(6), all),
        entrant::<LagueHeap, LagueHeap<Count>>("Lague's generic heap", Some(7), all),
        entrant::<BinaryHeap, BinaryHeap<Count>>("library's binary heap", None, all),
        entrant::<BucketHeap, BucketHeap<Count>>(DEFAULT, None, all),
        entrant::<QuadHeap, QuadHeap<Count>>("4-ary heap", None, all),
        entrant::<StdHeap, StdHeap<Heard>>("std BinaryHeap", None, all),
        entrant::<DialRing, DialRing<Count>>("Dial's buckets", None, all),
    ]
}
