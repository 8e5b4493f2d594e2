//! A search with one list, reused for many queries.

use std::time::Instant;

use bevy_tilepath::{
    nav::{node_pool::NodePool, open_list::OpenList, search::Search},
    prelude::*,
};

use crate::{
    ledger::{Ledger, Work},
    lists::Counted,
};

/// The result of one search.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// Cost of the path; `None` if there is none.
    pub cost: Option<PathCost>,
    /// Duration from start to finish, in microseconds.
    pub micros: f64,
    /// Nodes expanded.
    pub expansions: u64,
}

/// A search that is reused.
pub trait Runner {
    /// Runs one query.
    fn solve(&mut self, grid: &NavGrid, query: PathQuery) -> Answer;
    /// Returns the work counted so far; `None` if it is not counted.
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
        let started = self.search.start(grid, &self.pool, query);
        self.search.step(grid, &self.pool, u32::MAX);
        let expansions = self.search.counters().expansions;
        let path = started.and_then(|()| self.search.finish(grid, &self.pool));
        let micros = begin.elapsed().as_secs_f64() * 1e6;
        Answer { cost: path.ok().map(|path| path.cost()), micros, expansions }
    }

    fn work(&self) -> Option<Work> {
        (self.work)(self.search.open_list())
    }
}

/// Creates a search for timing.
pub fn timed<L: OpenList>() -> Box<dyn Runner> {
    Box::new(Run::<L> { search: Search::new(), pool: NodePool::default(), work: |_| None })
}

/// Creates a search that counts the list's work.
pub fn counted<L: Counted>() -> Box<dyn Runner> {
    Box::new(Run::<Ledger<L>> {
        search: Search::new(),
        pool: NodePool::default(),
        work: |ledger| Some(ledger.work()),
    })
}
