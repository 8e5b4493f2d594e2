//! `hierarchical_pathfinding`: HPA* with cached paths inside chunks.
//!
//! Input: a cost for each cell. Output: a path assembled from cached segments. Of its two
//! neighborhoods only the one with diagonals applies here: a diagonal step costs the same as a
//! straight one and may **cut corners**, so paths zigzag and are both too long and illegal. For near
//! goals (four graph nodes or less) it runs its own A*. Settings: chunks of 32, paths cached,
//! fallback on; prepared on one thread.

use bevy_tilepath::prelude::Cell;
use hierarchical_pathfinding::{
    PathCache, PathCacheConfig, internals::AbstractPath, neighbors::MooreNeighborhood,
};

use super::Searcher;
use crate::board::Board;

/// Cells along one side of a chunk.
const CHUNK_SIZE: usize = 32;

/// `PathCache` over the eight neighbors; see the [module](self).
#[derive(Default)]
pub struct Hierarchical {
    width: usize,
    /// Cost of each cell in the cache's format: negative is impassable.
    costs: Vec<isize>,
    cache: Option<PathCache<MooreNeighborhood>>,
    /// The last start, which its paths omit, and the path.
    path: Option<(Cell, AbstractPath<MooreNeighborhood>)>,
}

impl Searcher for Hierarchical {
    fn name(&self) -> &'static str {
        "hierarchical_pathfinding 0.5"
    }

    fn knows_costs(&self) -> bool {
        true
    }

    fn prepare(&mut self, board: &Board) {
        let (width, height) = (board.width as usize, board.height as usize);
        let cost = |&cost: &u8| if cost == 0 { -1 } else { isize::from(cost) };
        let costs: Vec<isize> = board.costs.iter().map(cost).collect();
        let cache = PathCache::new(
            (width, height),
            |(x, y)| costs[y * width + x],
            MooreNeighborhood::new(width, height),
            PathCacheConfig::with_chunk_size(CHUNK_SIZE),
        );
        *self = Self { width, costs, cache: Some(cache), path: None };
    }

    fn solve(&mut self, start: Cell, goal: Cell) {
        self.path = None;
        let Some(cache) = &self.cache else {
            return;
        };
        let answer = cache.find_path(point(start), point(goal), |(x, y)| self.cost(x, y));
        self.path = answer.map(|path| (start, path));
    }

    fn cells(&self) -> Vec<Cell> {
        let Some((start, path)) = &self.path else {
            return Vec::new();
        };
        let rest = path.clone().resolve(|(x, y)| self.cost(x, y));
        let rest = rest.into_iter().map(|(x, y)| Cell::new(x as i32, y as i32));
        std::iter::once(*start).chain(rest).collect()
    }

    fn forget(&mut self) {
        self.path = None;
    }
}

impl Hierarchical {
    fn cost(&self, x: usize, y: usize) -> isize {
        self.costs[y * self.width + x]
    }
}

/// Cells of a board are never negative.
fn point(cell: Cell) -> (usize, usize) {
    (cell.x as usize, cell.y as usize)
}
