//! The searchers, one file each, behind one trait.
//!
//! Input: a board, then queries. Output: a path in the searcher's own form, converted into cells on
//! request. `solve` is timed and `cells` is not, so that the conversion costs no searcher time.

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

/// A path finder.
pub trait Searcher {
    /// Returns its name in tables and for `--only`.
    fn name(&self) -> &'static str;

    /// Returns whether it supports cells of different cost.
    fn knows_costs(&self) -> bool;

    /// Returns whether it promises optimal legal paths.
    fn is_exact(&self) -> bool {
        false
    }

    /// Loads a map; drops all data of the previous map.
    fn prepare(&mut self, board: &Board);

    /// Searches for a path and stores it.
    fn solve(&mut self, start: Cell, goal: Cell);

    /// Returns the cells of the last path from start to goal; empty if there was no path.
    fn cells(&self) -> Vec<Cell>;

    /// Drops the last path.
    fn forget(&mut self);
}

/// Returns the textbook, and the other searchers that support `rule` and whose name contains one of
/// `only`.
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

/// Returns all searchers, the textbook first.
fn roster() -> Vec<Box<dyn Searcher>> {
    vec![
        Box::new(Textbook::default()),
        Box::new(Tilepath::<BucketHeap>::new("tilepath A*", Algorithm::AStar)),
        Box::new(Tilepath::<BucketHeap>::new("tilepath jump points", Algorithm::JumpPoint)),
        Box::new(Tilepath::<BucketHeap>::new("tilepath auto", Algorithm::Auto)),
        Box::new(Tilepath::<BucketHeap>::with_landmarks(
            "tilepath auto, landmarks",
            Algorithm::Auto,
        )),
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
