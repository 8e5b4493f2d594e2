//! Hierarchical search over long distances: first over chunks, then over cells.
//!
//! A search from corner to corner of a large map looks at much of it. A hierarchical search first finds a
//! [`Route`] over the coarse graph, and then searches only the [`Corridor`] of chunks around it, exactly. So
//! that a unit need not wait for that, a first segment is found separately: a greedy coarse search gives a
//! quick route, a path is searched along it to a chunk nearby, and the first half of that path is kept. From
//! its end, the remainder is searched with a more accurate route.
//!
//! Without jumps, the path found is the best in the corridor, except where both segments meet. In jump point searches, a path
//! may turn once outside the corridor, because a path in canonical order may turn at other cells than its equally cheap
//! alternatives. If the corridor turns out to hold no path, the search continues without it.
//!
//! Sources: A. Botea, M. Müller & J. Schaeffer, "Near Optimal Hierarchical Path-Finding" (Journal of Game
//! Development 2004); D. Higgins, "Pathfinding Design Architecture" (AI Game Programming Wisdom, 2002) for
//! the quick path that is spliced with the full one.

use super::{Phase, Search, SearchTarget, World};
use crate::nav::{
    Algorithm, Layer, NavGrid, NodePool, OpenList, Path, PathFailure, PathQuery, STRAIGHT,
    coarse::{CoarseSearch, Corridor, HIGH_HEURISTIC_WEIGHT, LOW_HEURISTIC_WEIGHT, Route},
};

/// Distance between start and goal (over open terrain, in straight steps: a diagonal step counts as 1.41) beyond which `Auto` uses
/// the hierarchy, and beyond which every hierarchical search does so on uniform cost. Up to it, exact searches are fast enough
/// (usually under a millisecond).
pub const HIERARCHY_MIN_DISTANCE: u32 = 2_048;
/// The same for weighted cost, where exact searches are several times as slow, and only for queries that
/// request the hierarchy: three chunks.
pub const HIERARCHY_MIN_DISTANCE_WEIGHTED: u32 = 96;
/// Distance from which the first segment is searched separately.
const FIRST_SEGMENT_MIN_DISTANCE: u32 = 1_024;
/// Chunks on each side of the route, for queries that request the hierarchy: a corridor three chunks wide is fastest.
const NARROW_MARGIN: u32 = 1;
/// The same for `Auto`: paths come nearer to the shortest (`docs/lab/long-paths.md`).
const WIDE_MARGIN: u32 = 2;
/// Chunk borders that the path to the end of the first segment crosses; half of that path is kept.
const FIRST_SEGMENT_CHUNKS: usize = 4;

/// What a hierarchical search keeps besides its nodes.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Hierarchy {
    coarse: CoarseSearch,
    route: Route,
    pub(super) corridor: Corridor,
    pub(super) stage: Stage,
    first_segment: Option<Path>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Stage {
    /// Not hierarchical.
    #[default]
    Off,
    /// Over cells, without a corridor: a [probe](super::probe).
    Probe,
    /// Over chunks, with a greedy heuristic.
    GreedyRoute,
    /// Over cells, to the end of the first segment.
    FirstSegment,
    /// Over chunks, with an accurate heuristic.
    Route,
    /// Over cells, to the goal.
    Remainder,
}

/// What is left of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    First,
    /// The whole query again, because of an edit. Without a probe: frequent edits would end every probe early.
    Again,
    /// The path from the end of its first segment.
    Remainder,
}

impl Stage {
    /// The first coarse search for a path of this distance.
    pub(super) fn first_route(distance: u32) -> Self {
        if distance >= FIRST_SEGMENT_MIN_DISTANCE * STRAIGHT {
            Self::GreedyRoute
        } else {
            Self::Route
        }
    }
}

impl Hierarchy {
    /// The first stage of a query with this distance between start and goal; `None` if the hierarchy does not
    /// answer it. The remainder of a path always starts with the accurate route, however short it is, as if
    /// the search had not stopped after the first segment.
    pub(super) fn first_stage(
        layer: &Layer,
        query: &PathQuery,
        (distance, uses_jumps): (u32, bool),
        attempt: Attempt,
    ) -> Option<Stage> {
        layer.coarse()?;
        let min_distance = match query.algorithm {
            _ if attempt == Attempt::Remainder => return Some(Stage::Route),
            Algorithm::Auto => HIERARCHY_MIN_DISTANCE,
            Algorithm::Hierarchical if layer.is_uniform() => HIERARCHY_MIN_DISTANCE,
            Algorithm::Hierarchical => HIERARCHY_MIN_DISTANCE_WEIGHTED,
            _ => return None,
        };
        let uses_probe =
            query.algorithm == Algorithm::Auto && uses_jumps && attempt == Attempt::First;
        let stage = if uses_probe { Stage::Probe } else { Stage::first_route(distance) };
        (distance > min_distance * STRAIGHT).then_some(stage)
    }

    /// Whether the hierarchy answers the query.
    pub(super) fn is_on(&self) -> bool {
        !matches!(self.stage, Stage::Off | Stage::Probe)
    }

    /// Whether the search is currently searching over chunks.
    pub(super) fn is_routing(&self) -> bool {
        matches!(self.stage, Stage::GreedyRoute | Stage::Route)
    }

    pub(super) fn stop(&mut self) {
        if self.is_on() {
            self.coarse.stop();
            self.first_segment = None;
        }
        self.stage = Stage::Off;
    }

    pub(super) fn bytes(&self) -> usize {
        self.coarse.bytes() + self.corridor.bytes() + self.route.chunks.capacity() * 16
    }
}

impl<L: OpenList> Search<L> {
    /// Starts to search for the remainder of a path whose first segment was answered already: as if the
    /// search had not stopped in between.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub(in crate::nav) fn start_remainder(
        &mut self,
        grid: &NavGrid,
        pool: &NodePool,
        query: PathQuery,
    ) -> Result<(), PathFailure> {
        self.start_query(grid, pool, query, &[], Attempt::Remainder)
    }

    /// Starts to answer a query again, after edits.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub(in crate::nav) fn start_again(
        &mut self,
        grid: &NavGrid,
        pool: &NodePool,
        query: PathQuery,
    ) -> Result<(), PathFailure> {
        self.start_query(grid, pool, query, &[], Attempt::Again)
    }

    pub(super) fn start_route(&mut self, layer: &Layer, stage: Stage) {
        self.phase = Phase::Running;
        if let Some(graph) = layer.coarse() {
            let weight =
                if stage == Stage::Route { LOW_HEURISTIC_WEIGHT } else { HIGH_HEURISTIC_WEIGHT };
            let ends = (self.origin, (self.target.x, self.target.y));
            self.hierarchy.coarse.start(graph, layer.regions(), ends, weight);
            self.hierarchy.stage = stage;
        }
    }

    /// Expands up to `budget` portals; returns how many it expanded.
    pub(super) fn step_portals(&mut self, layer: &Layer, pool: &NodePool, budget: u32) -> u32 {
        let Some(graph) = layer.coarse() else {
            return 0;
        };
        let spent = self.hierarchy.coarse.step(graph, budget);
        self.counters.portals += u64::from(spent);
        if !self.hierarchy.coarse.is_finished() {
            return spent;
        }
        let Hierarchy { coarse, route, corridor, .. } = &mut self.hierarchy;
        self.is_confined = coarse.trace(route);
        coarse.stop();
        let is_auto = self.query.algorithm == Algorithm::Auto;
        let margin = if is_auto { WIDE_MARGIN } else { NARROW_MARGIN };
        corridor.fill(graph.chunks, &route.chunks, margin);
        let waypoint = route.waypoints.get(FIRST_SEGMENT_CHUNKS - 1).copied();
        if let (Stage::GreedyRoute, Some((x, y))) = (self.hierarchy.stage, waypoint) {
            self.final_target = self.target;
            self.target = SearchTarget { x, y, ..self.target };
            self.hierarchy.stage = Stage::FirstSegment;
        } else {
            self.hierarchy.stage = Stage::Remainder;
        }
        self.open_origin(layer, pool);
        spent
    }

    /// Starts the next segment or the next attempt if one has ended; returns whether it did.
    pub(super) fn end_segment(&mut self, World { grid, layer, pool }: World) -> bool {
        match (self.hierarchy.stage, &self.phase) {
            (Stage::FirstSegment, &Phase::Reached(node)) => {
                // The first half of the path is kept.
                let path = self.trace(grid, node);
                let half = path.steps().div_ceil(2);
                let segment = path.first_segment(half, grid, self.query.profile);
                self.origin = grid.local(segment.end()).unwrap_or(self.origin);
                self.hierarchy.first_segment = Some(segment);
                self.clear_nodes(pool);
                // A caller that inspects the open list now must not find nodes that are gone.
                self.open.reset(0, 0);
                self.target = self.final_target;
                self.start_route(layer, Stage::Route);
                true
            }
            (stage @ (Stage::FirstSegment | Stage::Remainder), Phase::Failed(_))
                if self.is_confined =>
            {
                self.is_confined = false;
                self.hierarchy.stage = Stage::Remainder;
                if stage == Stage::FirstSegment {
                    self.target = self.final_target;
                }
                self.target.overflow = false;
                self.clear_nodes(pool);
                self.open_origin(layer, pool);
                true
            }
            _ => false,
        }
    }

    /// Whether the 3 × 3 block around a cell lies in the corridor. Steps there may be pruned because the
    /// alternative paths around them are in the corridor as well.
    #[inline]
    pub(super) fn is_well_inside(&self, (x, y): (u32, u32)) -> bool {
        let corridor = &self.hierarchy.corridor;
        let (left, low) = (x.saturating_sub(1), y.saturating_sub(1));
        let (width, height) = self.size;
        let (right, high) = ((x + 1).min(width - 1), (y + 1).min(height - 1));
        corridor.contains(left, low)
            && corridor.contains(right, low)
            && corridor.contains(left, high)
            && corridor.contains(right, high)
    }

    /// Returns the first segment of a long path as soon as it is found; the final result is then the
    /// remainder, from the end of that segment. Returns `None` before that, after the segment was taken, and
    /// where no first segment is searched separately.
    pub fn take_first_segment(&mut self) -> Option<Path> {
        self.hierarchy.first_segment.take()
    }
}
