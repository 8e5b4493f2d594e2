//! This crate, with any of its open lists and algorithms, with landmarks or without.
//!
//! Input: the board's grid. Output: a path in straight legs. One search and one node pool are used for
//! all queries, as the crate recommends; no results are kept between queries. Landmarks are filled while
//! the map is loaded.

use bevy_tilepath::{
    nav::{landmarks::LandmarkFiller, node_pool::NodePool, open_list::OpenList, search::Search},
    prelude::*,
};

use super::Searcher;
use crate::board::Board;

/// A search of this crate; see the [module](self).
pub struct Tilepath<L: OpenList> {
    name: &'static str,
    algorithm: Algorithm,
    has_landmarks: bool,
    grid: Option<NavGrid>,
    pool: NodePool,
    search: Search<L>,
    path: Option<Path>,
}

impl<L: OpenList> Tilepath<L> {
    /// Creates a search with this algorithm, called `name`.
    pub fn new(name: &'static str, algorithm: Algorithm) -> Self {
        let (pool, search) = (NodePool::default(), Search::new());
        Self { name, algorithm, has_landmarks: false, grid: None, pool, search, path: None }
    }

    /// Creates the same with landmarks.
    pub fn with_landmarks(name: &'static str, algorithm: Algorithm) -> Self {
        Self { has_landmarks: true, ..Self::new(name, algorithm) }
    }
}

impl<L: OpenList> Searcher for Tilepath<L> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn knows_costs(&self) -> bool {
        true
    }

    fn is_exact(&self) -> bool {
        self.algorithm != Algorithm::Hierarchical
    }

    fn prepare(&mut self, board: &Board) {
        *self = Self { has_landmarks: self.has_landmarks, ..Self::new(self.name, self.algorithm) };
        let grid = self.grid.insert(board.grid.clone());
        // Layers are built on first use: build them now, not in the first query.
        let _layer = grid.layer(ProfileId::default());
        if self.has_landmarks {
            grid.want_landmarks(ProfileId::default());
            let mut filler = LandmarkFiller::new();
            while filler.fill((GridId::default(), &mut *grid), usize::MAX, u32::MAX) > 0 {}
        }
    }

    fn solve(&mut self, start: Cell, goal: Cell) {
        self.path = None;
        let Some(grid) = &self.grid else {
            return;
        };
        let query = PathQuery::new(start, goal).algorithm(self.algorithm);
        if self.search.start(grid, &self.pool, query).is_ok() {
            self.search.step(grid, &self.pool, u32::MAX);
            self.path = self.search.finish(grid, &self.pool).ok();
        }
    }

    fn cells(&self) -> Vec<Cell> {
        self.path.iter().flat_map(Path::cells).collect()
    }

    fn forget(&mut self) {
        self.path = None;
    }
}
