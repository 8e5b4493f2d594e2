//! A short try before a long way is searched in two steps.
//!
//! Where little is in the way, an exact search is done sooner than a search over chunks and then one over
//! cells, and its way is the best. So [`Auto`](crate::nav::query::Algorithm::Auto) begins with jumps, and
//! looks after 128, 256, 512 and 1,024 expansions how much nearer to the goal they have come. It goes on as
//! long as the whole way would take no more than 1,500 at that rate, and stops at 1,536. Where the hierarchy
//! is many times as fast as exact searches, what was tried in vain is a small part of what it takes. Where no jumps are made there is no try: exact searches of long
//! ways take many times as long there.
//!
//! The numbers were chosen so that `Auto` is slower than exact searches on no kind of ground, measured on
//! tiled maps and drawn towns: see `benches/RESULTS.md`, also for the one map where it still is.

use super::{Search, long_way::Stage};
use crate::nav::{layer::Layer, node_pool::NodePool, open_list::OpenList};

/// Expansions after which a try is looked at.
const LOOKS: [u64; 5] = [128, 256, 512, 1_024, 1_536];
/// Expansions that the whole way may take: about what the hierarchy takes in all.
const MOST: u64 = 1_500;

/// How a try goes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probe {
    /// Distance to the goal at first, and the least so far.
    from: u32,
    pub(super) nearest: u32,
    /// Which look is next.
    look: usize,
}

impl<L: OpenList> Search<L> {
    /// Begins a try from so far away.
    pub(super) fn start_probe(&mut self, layer: &Layer, pool: &NodePool, distance: u32) {
        self.long.stage = Stage::Probe;
        self.probe = Probe { from: distance, nearest: distance, look: 0 };
        self.open_origin(layer, pool);
    }

    /// How much of a budget may be spent before the next look.
    pub(super) fn until_look(&self, budget: u32) -> u32 {
        let look = LOOKS.get(self.probe.look).filter(|_| self.long.stage == Stage::Probe);
        look.map_or(budget, |look| budget.min((look - self.counters.expansions) as u32))
    }

    /// Looks at a try, if it is time; says whether the hierarchy takes over.
    pub(super) fn look_at_probe(&mut self, layer: &Layer, pool: &NodePool) -> bool {
        let expansions = self.counters.expansions;
        let is_time = LOOKS.get(self.probe.look) == Some(&expansions);
        if self.long.stage != Stage::Probe || self.is_finished() || !is_time {
            return false;
        }
        let Probe { from, nearest, look } = self.probe;
        self.probe.look += 1;
        let is_quick = expansions * u64::from(from) <= MOST * u64::from(from - nearest);
        if is_quick && look + 1 < LOOKS.len() {
            return false;
        }
        self.clear_nodes(pool);
        self.open.reset(0, 0);
        self.aim.overflow = false;
        self.start_route(layer, Stage::first(from));
        true
    }
}
