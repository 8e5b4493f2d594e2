//! An exact probe before a hierarchical search.
//!
//! On most maps an exact search over a long distance takes a few milliseconds, and its path is the best. So
//! [`Auto`](crate::nav::query::Algorithm::Auto) starts with jump point search, and checks after 512 to 24,576
//! expansions how much nearer to the goal it has come. It continues as long as the whole path would take no
//! more than 24,000 expansions at that rate. An expansion with many turning points counts as several, as it
//! does in the budget. Where the hierarchy takes over, exact searches take so long that the failed probe is a
//! small part of the total work. Without jumps there is no probe: exact searches over long distances take
//! many times as long there.
//!
//! The numbers were chosen so that `Auto` is not slower than exact searches on any kind of terrain, and paths are at most
//! 3 % too long, on squares and hexagons without edges that cost something, measured on tiled maps and drawn towns: see `docs/lab/long-paths.md`.

use super::{Search, hierarchy::Stage};
use crate::nav::{Layer, NodePool, OpenList};

/// Work after which a probe is checked, in expansions.
const CHECKPOINTS: [u64; 6] = [512, 1_024, 2_048, 4_096, 8_192, 24_576];
/// Work that the whole path may take.
const MAX_WORK: u64 = 24_000;

/// The progress of a probe.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Probe {
    /// Distance to the goal at the start, and the least so far.
    initial_distance: u32,
    pub(super) nearest_distance: u32,
    /// Expansions, with turning points converted into expansions.
    pub(super) work: u64,
    /// Index of the next checkpoint.
    next_checkpoint: usize,
}

impl<L: OpenList> Search<L> {
    /// Starts a probe at this distance from the goal.
    pub(super) fn start_probe(&mut self, layer: &Layer, pool: &NodePool, distance: u32) {
        self.hierarchy.stage = Stage::Probe;
        self.probe =
            Probe { initial_distance: distance, nearest_distance: distance, ..Probe::default() };
        self.open_origin(layer, pool);
    }

    /// The part of a budget that may be spent before the next checkpoint.
    pub(super) fn until_checkpoint(&self, budget: u32) -> u32 {
        match CHECKPOINTS.get(self.probe.next_checkpoint) {
            Some(checkpoint) if self.hierarchy.stage == Stage::Probe => {
                budget.min(checkpoint.saturating_sub(self.probe.work) as u32)
            }
            _ => budget,
        }
    }

    /// Checks a probe, if a checkpoint is reached; returns whether the hierarchy takes over.
    pub(super) fn check_probe(&mut self, layer: &Layer, pool: &NodePool) -> bool {
        let Probe { initial_distance, nearest_distance, work, next_checkpoint } = self.probe;
        let is_checkpoint = CHECKPOINTS.get(next_checkpoint).is_some_and(|&at| work >= at);
        if self.hierarchy.stage != Stage::Probe || self.is_finished() || !is_checkpoint {
            return false;
        }
        // One expansion may pass several checkpoints.
        self.probe.next_checkpoint = CHECKPOINTS.partition_point(|&at| at <= work);
        let is_fast_enough = work * u64::from(initial_distance)
            <= MAX_WORK * u64::from(initial_distance - nearest_distance);
        if is_fast_enough && self.probe.next_checkpoint < CHECKPOINTS.len() {
            return false;
        }
        self.clear_nodes(pool);
        self.open.reset(0, 0);
        self.target.overflow = false;
        self.start_route(layer, Stage::first_route(initial_distance));
        true
    }
}
