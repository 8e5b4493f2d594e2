//! Long ways: first over chunks, then over cells.
//!
//! A search from corner to corner of a large map looks at much of it. A hierarchical one finds a
//! [`Route`] over the coarse graph first, and then searches only the [`Corridor`] of chunks around
//! it, exactly. So that a unit need not wait for that, the beginning is found apart: along a route
//! that is found in haste, a way to a chunk not far off, of which the first half is kept; from its
//! end on, the rest is searched with care.
//!
//! Where no jumps are made, the way found is the best there is in the corridor, apart from the place
//! at which both parts meet. Jumping searches may turn once outside of it, because the turns of a way
//! in canonical order need not lie where the way does. Should the corridor turn out to hold none all
//! the same, the search goes on without it.
//!
//! Sources: A. Botea, M. Müller & J. Schaeffer, "Near Optimal Hierarchical Path-Finding" (Journal of
//! Game Development 2004); D. Higgins, "Pathfinding Design Architecture" (AI Game Programming Wisdom,
//! 2002) for the quick way that is spliced with the full one.

use super::{Aim, Phase, Search};
use crate::nav::{
    coarse::{CoarseSearch, Corridor, Greed, Route},
    grid::NavGrid,
    layer::Layer,
    node_pool::NodePool,
    open_list::{NodeId, OpenList},
    path::Path,
    query::{Algorithm, PathFailure, PathQuery},
    terrain::STRAIGHT,
};

/// Distance between start and goal (over open ground, in straight steps) from which `Auto` takes the
/// hierarchy, and every hierarchical search where cost is uniform: exact searches are fast enough up
/// to there (under a millisecond as a rule).
pub const LONG_WAY: u32 = 2_048;
/// The same for mixed cost, where exact searches are several times as slow, and somebody has asked
/// for the hierarchy: three chunks.
pub const LONG_MIXED_WAY: u32 = 96;
/// Distance from which the beginning is searched apart.
const STRETCH_FROM: u32 = 1_024;
/// Borders of chunks that the way to the beginning's end crosses; half of it is kept.
const STRETCH_CHUNKS: usize = 4;

/// What a search over a long way keeps beside its nodes.
#[derive(Debug, Default)]
pub(super) struct LongWay {
    coarse: CoarseSearch,
    route: Route,
    pub(super) corridor: Corridor,
    pub(super) stage: Stage,
    stretch: Option<Path>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// Not a long way.
    #[default]
    Off,
    /// Over cells, without a corridor: a [try](super::probe).
    Probe,
    /// Over chunks, in haste.
    RoughRoute,
    /// Over cells, to the end of the beginning.
    Stretch,
    /// Over chunks, with care.
    Route,
    /// Over cells, to the goal.
    Rest,
}

impl Stage {
    /// Where the hierarchy begins on a way of this distance.
    pub(super) fn first(distance: u32) -> Self {
        if distance >= STRETCH_FROM * STRAIGHT { Self::RoughRoute } else { Self::Route }
    }
}

impl LongWay {
    /// Where the hierarchy begins on a query whose ends are so far apart; `None` if it does not answer
    /// it. The rest of a long way goes on with care, however short it is: as if it had not stopped.
    pub(super) fn first_stage(
        layer: &Layer,
        query: &PathQuery,
        (distance, jumps): (u32, bool),
        is_rest: bool,
    ) -> Option<Stage> {
        layer.coarse()?;
        let from = match query.algorithm {
            _ if is_rest => return Some(Stage::Route),
            Algorithm::Auto => LONG_WAY,
            Algorithm::Hierarchical if layer.is_uniform() => LONG_WAY,
            Algorithm::Hierarchical => LONG_MIXED_WAY,
            _ => return None,
        };
        let is_tried = query.algorithm == Algorithm::Auto && jumps;
        let stage = if is_tried { Stage::Probe } else { Stage::first(distance) };
        (distance >= from * STRAIGHT).then_some(stage)
    }

    /// Whether the hierarchy answers.
    pub(super) fn is_on(&self) -> bool {
        !matches!(self.stage, Stage::Off | Stage::Probe)
    }

    /// Whether the search is under way over chunks.
    pub(super) fn is_routing(&self) -> bool {
        matches!(self.stage, Stage::RoughRoute | Stage::Route)
    }

    pub(super) fn stop(&mut self) {
        if self.is_on() {
            self.coarse.stop();
            self.stretch = None;
        }
        self.stage = Stage::Off;
    }

    pub(super) fn bytes(&self) -> usize {
        self.coarse.bytes() + self.corridor.bytes() + self.route.chunks.capacity() * 16
    }
}

impl<L: OpenList> Search<L> {
    /// Begins the rest of a long way whose beginning was answered already: as if it had not stopped
    /// in between.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub(in crate::nav) fn start_rest(
        &mut self,
        grid: &NavGrid,
        pool: &NodePool,
        query: PathQuery,
    ) -> Result<(), PathFailure> {
        self.start_part(grid, pool, query, &[], true)
    }

    pub(super) fn start_route(&mut self, layer: &Layer, stage: Stage) {
        if let Some(graph) = layer.coarse() {
            let greed = if stage == Stage::Route { Greed::LITTLE } else { Greed::MUCH };
            let goal = (self.aim.x, self.aim.y);
            self.long.coarse.start(graph, layer.regions(), (self.origin, goal), greed);
            self.long.stage = stage;
        }
    }

    /// Expands up to `budget` portals; says how many it took.
    pub(super) fn step_route(&mut self, layer: &Layer, pool: &NodePool, budget: u32) -> u32 {
        let Some(graph) = layer.coarse() else {
            return 0;
        };
        let spent = self.long.coarse.step(graph, budget);
        self.counters.portals += u64::from(spent);
        if !self.long.coarse.is_finished() {
            return spent;
        }
        let LongWay { coarse, route, corridor, .. } = &mut self.long;
        self.is_confined = coarse.trace(route);
        coarse.stop();
        corridor.fill(graph.chunks(), &route.chunks);
        let ahead = route.waypoints.get(STRETCH_CHUNKS - 1).copied();
        if let (Stage::RoughRoute, Some((x, y))) = (self.long.stage, ahead) {
            self.goal = self.aim;
            self.aim = Aim { x, y, ..self.aim };
            self.long.stage = Stage::Stretch;
        } else {
            self.long.stage = Stage::Rest;
        }
        self.open_origin(layer, pool);
        spent
    }

    /// Goes on to the next part where one has come to its end; says whether it does.
    pub(super) fn end_part(&mut self, grid: &NavGrid, layer: &Layer, pool: &NodePool) -> bool {
        match (self.long.stage, &self.phase) {
            (Stage::Stretch, &Phase::Reached(node)) => {
                self.keep_stretch(grid, node);
                self.aim_at_goal(pool);
                self.start_route(layer, Stage::Route);
                true
            }
            (stage @ (Stage::Stretch | Stage::Rest), Phase::Failed(_)) if self.is_confined => {
                self.is_confined = false;
                self.long.stage = Stage::Rest;
                if stage == Stage::Stretch {
                    self.aim = self.goal;
                }
                self.aim.overflow = false;
                self.clear_nodes(pool);
                self.open_origin(layer, pool);
                true
            }
            _ => false,
        }
    }

    /// Whether the 3 × 3 block around a cell lies in the corridor. Steps there may be left out because
    /// of ways around, which are in it too then.
    #[inline]
    pub(super) fn is_well_inside(&self, (x, y): (u32, u32)) -> bool {
        let corridor = &self.long.corridor;
        let (left, low) = (x.saturating_sub(1), y.saturating_sub(1));
        let (width, height) = self.size;
        let (right, high) = ((x + 1).min(width - 1), (y + 1).min(height - 1));
        corridor.contains(left, low)
            && corridor.contains(right, low)
            && corridor.contains(left, high)
            && corridor.contains(right, high)
    }

    /// Keeps the first half of the way to `node`.
    fn keep_stretch(&mut self, grid: &NavGrid, node: NodeId) {
        let path = self.trace(grid, node);
        let stretch = path.beginning(path.steps().div_ceil(2), grid, self.query.profile);
        self.origin = grid.local(stretch.end()).unwrap_or(self.origin);
        self.long.stretch = Some(stretch);
    }

    fn aim_at_goal(&mut self, pool: &NodePool) {
        self.clear_nodes(pool);
        // Whoever looks into it meanwhile must not find nodes that are gone.
        self.open.reset(0, 0);
        self.aim = self.goal;
        self.phase = Phase::Running;
    }

    /// The beginning of a long way, as soon as it is found; the answer is then the rest, from its end
    /// on. `None` before that, and for good where it has been taken or there is none apart.
    pub fn take_stretch(&mut self) -> Option<Path> {
        self.long.stretch.take()
    }

    /// The beginning, if it was found and not taken, and then `rest`.
    pub(super) fn joined(&mut self, rest: Path) -> Path {
        match self.long.stretch.take() {
            Some(stretch) => stretch.joined(rest),
            None => rest,
        }
    }
}
