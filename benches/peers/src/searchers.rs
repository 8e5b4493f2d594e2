//! The searchers, one file each, behind one trait.
//!
//! Input: a board, then queries. Output: a path in whatever form the searcher gives it, turned
//! into cells on request. `solve` is timed and `cells` is not, so that nobody pays for having
//! its answer rewritten.

mod grid_pathfinding_jps;
mod hierarchical;
#[cfg(feature = "northstar")]
mod northstar;
mod pathfinding_astar;
mod textbook;
mod tilepath;

use bevy_tilepath::{
    nav::open_list::{BinaryHeap, BucketHeap},
    prelude::{Algorithm, Cell},
};

use self::{
    grid_pathfinding_jps::GridPathfinding, hierarchical::Hierarchical,
    pathfinding_astar::PathfindingAstar, textbook::Textbook, tilepath::Tilepath,
};
use crate::board::{Board, Rule};

/// One way of finding paths.
pub trait Searcher {
    /// What it is called in tables and by `--only`.
    fn name(&self) -> &'static str;

    /// Whether it can tell cells of different cost apart.
    fn knows_costs(&self) -> bool;

    /// Whether it promises optimal paths that keep the rules.
    fn is_exact(&self) -> bool {
        false
    }

    /// Takes a map in; whatever was known of another one is dropped.
    fn prepare(&mut self, board: &Board);

    /// Looks for a path and keeps it.
    fn solve(&mut self, start: Cell, goal: Cell);

    /// The cells of the last path from start to goal; none where there was no path.
    fn cells(&self) -> Vec<Cell>;

    /// Drops the last path.
    fn forget(&mut self);
}

/// The textbook, and the others that can do what `rule` asks and whose name holds one of `only`.
pub fn select(rule: Rule, only: &[String]) -> Result<Vec<Box<dyn Searcher>>, String> {
    let mut all = roster();
    if let Some(part) = only.iter().find(|part| !all.iter().any(|one| is_meant(one.as_ref(), part)))
    {
        let names: Vec<&str> = all.iter().map(|searcher| searcher.name()).collect();
        return Err(format!("--only {part}: there are {}", names.join(", ")));
    }
    let mut first = true;
    all.retain(|searcher| {
        let wanted = only.is_empty() || only.iter().any(|part| is_meant(searcher.as_ref(), part));
        let able = rule == Rule::Plain || searcher.knows_costs();
        std::mem::take(&mut first) || (wanted && able)
    });
    Ok(all)
}

fn is_meant(searcher: &dyn Searcher, part: &str) -> bool {
    searcher.name().contains(part)
}

/// All searchers, the textbook first.
fn roster() -> Vec<Box<dyn Searcher>> {
    vec![
        Box::new(Textbook::default()),
        Box::new(Tilepath::<BucketHeap>::new("tilepath A*", Algorithm::AStar)),
        Box::new(Tilepath::<BucketHeap>::new("tilepath jump points", Algorithm::JumpPoint)),
        Box::new(Tilepath::<BucketHeap>::new("tilepath auto", Algorithm::Auto)),
        Box::new(Tilepath::<BucketHeap>::new("tilepath hierarchical", Algorithm::Hierarchical)),
        Box::new(Tilepath::<BinaryHeap>::new("tilepath A*, binary heap", Algorithm::AStar)),
        Box::new(PathfindingAstar::default()),
        Box::new(GridPathfinding::default()),
        Box::new(Hierarchical::default()),
        #[cfg(feature = "northstar")]
        Box::new(northstar::Northstar::coarse()),
        #[cfg(feature = "northstar")]
        Box::new(northstar::Northstar::refined()),
        #[cfg(feature = "northstar")]
        Box::new(northstar::Northstar::astar()),
    ]
}
