//! Many units on one grid that move without ever overlapping.
//!
//! Input: a [`NavGrid`], units with their orders, and the fields that lead to shared goals
//! ([`Guidance`]). Output per tick: which cells each unit holds, how far it has come on its step, and what
//! happened ([`CrowdEvent`]).

mod board;
mod cost_to_go;
mod decide;
mod edits;
mod groups;
mod inspect;
mod orders;
mod passages;
mod planner;
mod scene;

pub(crate) use board::retry_pause;
pub use board::{
    CrowdCounters, CrowdError, CrowdEvent, Hindrance, RouteId, SUBTICKS_PER_TICK, UnitId,
    UnitSettings,
};
pub use cost_to_go::{Guidance, NO_COST};
pub use groups::group::Membership;

use self::cost_to_go::{Sources, World};
use self::{board::Board, decide::decide, groups::Groups, passages::TerrainShape};
use self::{planner::Planner, scene::Scene};
use super::NavGrid;

/// The units of one grid; see the [module](self).
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Crowd {
    board: Board,
    sources: Sources,
    groups: Groups,
    shape: TerrainShape,
    planner: Planner,
    /// The grid's revision at the last tick.
    revision: u64,
}

impl Crowd {
    /// Creates an empty crowd for a grid of this size and shape of cells.
    #[must_use]
    pub fn new(grid: &NavGrid) -> Self {
        Self { board: Board::new(grid), revision: grid.revision(), ..Self::default() }
    }

    /// Advances the crowd by one tick. What happened can be read from [`events`](Self::events) until the
    /// next tick. Does nothing on a grid of another size or shape of cells.
    pub fn tick(&mut self, grid: &NavGrid, guidance: &dyn Guidance) {
        self.tick_with(grid, guidance, decide);
    }

    /// The same; the unit at an index is decided by a function.
    fn tick_with(
        &mut self,
        grid: &NavGrid,
        guidance: &dyn Guidance,
        mut decide: impl FnMut(&mut Scene<'_>, &mut Planner, u32),
    ) {
        self.board.events.clear();
        self.board.moved.clear();
        if self.board.check_size(grid).is_err() {
            return;
        }
        let world = World { grid, guidance };
        self.board.begin_tick();
        self.sources.begin_tick();
        self.board.refit_units(grid);
        self.apply_edits(grid);
        self.board.collect_ready(grid);
        self.groups.refresh(&mut self.board, grid);
        self.board.sort_ready();
        let Self { board, sources, groups, shape, planner, .. } = self;
        let mut scene = Scene { world, board, sources, groups, shape };
        scene.look_up_neighbor_costs();
        let mut at = 0;
        while let Some(&index) = scene.board.ready.get(at) {
            decide(&mut scene, planner, index);
            at += 1;
        }
        scene.board.end_tick();
    }
}
