//! Stage 3: spends the tick's budget on the search queue.
//!
//! Input: the queue of the [`Pathfinder`], and the grids. Output: answers, which `request` passes to the
//! units, and [`PathCounters`]. The budget counts expansions, so that the same requests are answered in the
//! same ticks on every machine. An additional time cap can be set, which gives up that guarantee. For the
//! order of jobs see [`nav::queue`](crate::nav::queue).

mod landmark_upkeep;
mod pool_workers;

use landmark_upkeep::LandmarkUpkeep;
use pool_workers::PoolWorkers;

use std::collections::BTreeMap;

use bevy::{
    ecs::entity::{EntityHashMap, MapEntities},
    platform::time::Instant,
    prelude::*,
};
use core::time::Duration;

use crate::{
    entity_keys::map_keys,
    grids::NavGrids,
    nav::{
        Algorithm, Answer, Checksum, FoundBy, GridId, JobOptions, Path, PathKind, PathQuery,
        QueueSettings, Search, SearchQueue, Ticket,
    },
};

/// Limits on the searches of a tick.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Resource, Debug, Default, PartialEq, Clone)]
pub struct TilePathSettings {
    /// Expansions per tick over all requests; 0 pauses searching. An expansion on weighted terrain counts as
    /// three, one of a jumping search as four, or five on weighted terrain, and reading a request as sixteen.
    /// The default of 50,000 takes about 2 ms on the two-core machine that the figures in
    /// `benches/RESULTS.md` come from: an eighth of a frame at 60 Hz.
    pub budget: u32,
    /// Optional time limit, checked between slices. `None` (default) keeps answers in the same ticks on every
    /// machine; with a cap they depend on the machine's speed.
    pub time_cap: Option<Duration>,
    /// Maximum number of threads that search at the same time: Bevy's compute threads and the thread that
    /// runs the schedule. 0 (default) uses all of them. The answers, and the ticks in which they come, do not
    /// depend on it.
    pub threads: usize,
    /// Memory for the landmarks of all grids and profiles, in bytes; 0 switches them off. Landmarks make searches about
    /// two to four times faster; they are filled with what searches leave of the budget, for the profiles that search: first a quick table
    /// for each, then, with a quarter of the budget on average, a better one. They take up
    /// to 23 bytes per cell and profile (profiles with the same rules share them): a table has 16 landmarks, or fewer where
    /// these do not fit; where not even four fit, there is none. Tables that are being filled, with their copies of
    /// grids, are not counted. The default of 64 MiB is enough for two profiles on 1,024 × 1,024 cells, or for one, with four
    /// landmarks or more, on 2,048 × 2,048. Changing this value fills all tables again.
    pub landmark_bytes: usize,
    /// Settings of the queue.
    pub queue: QueueSettings,
}

impl Default for TilePathSettings {
    fn default() -> Self {
        Self {
            budget: 50_000,
            time_cap: None,
            threads: 0,
            landmark_bytes: 64 << 20,
            queue: QueueSettings::default(),
        }
    }
}

/// Counters of the pathfinder. They count since the app started, unless stated otherwise.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Resource, Debug, Default, PartialEq, Clone)]
pub struct PathCounters {
    /// Requests accepted, including repairs.
    pub requests: u64,
    /// Answered with a path to the goal.
    pub found: u64,
    /// Answered with a path to the nearest reachable cell.
    pub partial: u64,
    /// Answered with a failure.
    pub failed: u64,
    /// Answers found without a search, by checking the endpoints and their connected regions.
    pub by_check: u64,
    /// Answers found by A* or Dijkstra.
    pub by_astar: u64,
    /// Answers found by jump point search.
    pub by_jump_point: u64,
    /// Answers found by hierarchical search over chunks.
    pub by_hierarchy: u64,
    /// Answers read from a field shared by many requests with the same goal.
    pub by_field: u64,
    /// Canceled or replaced before they were answered.
    pub canceled: u64,
    /// Paths searched for again while their units were under way: an edit cut them off, they were lost, or something else moves
    /// the unit.
    pub repaired: u64,
    /// Requests that were resolved again: with another target, later, or because the unit was moved, has crossed a link or could
    /// not follow its path.
    pub retried: u64,
    /// Paths planned again because the followed target had moved.
    pub followed: u64,
    /// Searches restarted because of an edit.
    pub restarts: u64,
    /// Expansions, including those over chunks.
    pub expansions: u64,
    /// Budget used in the last tick: expansions, and what accepting requests took. If a search took more than there was, the
    /// excess counts in the ticks that follow.
    pub spent_last_tick: u32,
    /// Requests waiting now, including insertions and removals that are not read yet.
    pub waiting: usize,
    /// Requests that will be resolved again, also those canceled in the meantime.
    pub waiting_again: usize,
    /// Searches in flight now.
    pub in_flight: usize,
    /// Ticks that the oldest request in flight or at the head of the queue has waited.
    pub longest_wait: u64,
    /// Total number of ticks that answered requests have waited.
    pub waited: u64,
    /// Memory of all searches, in bytes.
    pub search_bytes: usize,
    /// Memory of the landmarks of all grids, in bytes.
    pub landmark_bytes: usize,
    /// Checksum over all answers (ticket, end points and cost): equal in two runs that gave the same answers,
    /// whatever the budgets.
    pub answers_checksum: u64,
}

/// The search queue, and which unit waits for which answer.
#[derive(Resource, Clone, Debug, Default, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Resource, Debug, Default)]
pub struct Pathfinder {
    #[reflect(ignore)]
    queue: SearchQueue,
    #[reflect(ignore)]
    landmarks: LandmarkUpkeep,
    /// Waiting units, by ticket number.
    #[reflect(ignore)]
    requesters: BTreeMap<u64, Entity>,
    #[reflect(ignore)]
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::serde_with::sorted"))]
    tickets: EntityHashMap<Ticket>,
    /// The answers of this tick, in the order in which they were found.
    #[reflect(ignore)]
    #[cfg_attr(feature = "serialize", serde(skip))]
    pub(crate) answers: Vec<Answer>,
    /// The current tick.
    pub(crate) now: u64,
    /// Part of this tick's budget spent on other work than searches.
    spent: u32,
    /// Requests inserted and removed that have not been read yet.
    pub(crate) unread: usize,
    pub(crate) counters: PathCounters,
}

impl MapEntities for Pathfinder {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        for entity in self.requesters.values_mut() {
            *entity = mapper.get_mapped(*entity);
        }
        map_keys(&mut self.tickets, mapper);
    }
}

impl Pathfinder {
    /// Queues a query for `entity`; a pending answer is canceled.
    pub(crate) fn ask(
        &mut self,
        entity: Entity,
        grid: GridId,
        query: PathQuery,
        options: JobOptions,
    ) -> Ticket {
        self.forget(entity);
        let ticket = self.queue.push_job(grid, query, options);
        self.requesters.insert(ticket.number(), entity);
        self.tickets.insert(entity, ticket);
        self.counters.requests += 1;
        ticket
    }

    /// Cancels the answer that `entity` waits for, if any.
    pub(crate) fn forget(&mut self, entity: Entity) {
        if let Some(ticket) = self.tickets.remove(&entity) {
            self.queue.cancel(ticket);
            self.requesters.remove(&ticket.number());
            self.counters.canceled += 1;
        }
    }

    /// Returns the search for `entity` while it is in flight.
    #[must_use]
    pub fn search(&self, entity: Entity) -> Option<&Search> {
        self.queue.search(*self.tickets.get(&entity)?)
    }

    /// Allocates search memory in advance, so that the first tick under load need not: `pages` of 32 × 32
    /// cells, 8 KiB each. The plugin reserves 512 (4 MiB) when it is added.
    pub fn reserve(&mut self, pages: usize) {
        self.queue.reserve(pages);
    }

    /// Deducts expansions from the budget of the next searches.
    pub(crate) fn spend(&mut self, expansions: u32) {
        self.spent = self.spent.saturating_add(expansions);
    }

    /// Returns the unit that waits for an answer; it stops waiting once it has the complete answer.
    pub(crate) fn requester_of(&mut self, answer: &Answer) -> Option<Entity> {
        let number = answer.ticket.number();
        if path_kind(answer) == Some(PathKind::FirstSegment) {
            return self.requesters.get(&number).copied();
        }
        let entity = self.requesters.remove(&number)?;
        self.tickets.remove(&entity);
        Some(entity)
    }
}

/// Begins a tick.
pub(crate) fn begin_tick(mut pathfinder: ResMut<Pathfinder>) {
    pathfinder.now = pathfinder.queue.tick();
}

/// Spends the budget of the tick.
pub(crate) fn run_searches(
    mut pathfinder: ResMut<Pathfinder>,
    mut grids: ResMut<NavGrids>,
    settings: Res<TilePathSettings>,
) {
    let grids = grids.bypass_change_detection();
    let Pathfinder { queue, landmarks, answers, counters, spent, unread, .. } = &mut *pathfinder;
    let spent_before = std::mem::take(spent);
    queue.settings = settings.queue;
    let deadline = settings.time_cap.map(|cap| (Instant::now(), cap));
    let in_time = || deadline.is_none_or(|(start, cap)| start.elapsed() < cap);
    let budget = settings.budget.saturating_sub(spent_before);
    let workers = PoolWorkers::new(settings.threads);
    let spent = queue.step_on(&workers, grids, budget, in_time, |answer| {
        count(counters, &answer);
        answers.push(answer);
    });
    let (left, limit) = (budget - spent, settings.landmark_bytes);
    landmarks.fill(grids, limit, (left, settings.budget), in_time);
    counters.landmark_bytes = grids.iter().map(|(_, grid)| grid.landmark_bytes()).sum();
    counters.spent_last_tick = spent_before.saturating_add(spent);
    counters.restarts = queue.restarts();
    counters.waiting = queue.waiting() + *unread;
    counters.in_flight = queue.in_flight();
    counters.longest_wait = queue.longest_wait();
    counters.search_bytes = queue.bytes();
}

/// Returns the kind of path of an answer; `None` for a failure.
pub(crate) fn path_kind(answer: &Answer) -> Option<PathKind> {
    answer.result.as_ref().ok().map(Path::kind)
}

fn count(counters: &mut PathCounters, answer: &Answer) {
    let kind = path_kind(answer);
    if kind == Some(PathKind::FirstSegment) {
        return; // counted with the remaining path
    }
    counters.expansions += answer.counters.expansions + answer.counters.portals;
    counters.waited += answer.waited;
    counters.answers_checksum = counters.answers_checksum.wrapping_add(answer_checksum(answer));
    *match kind {
        Some(PathKind::Complete | PathKind::FirstSegment | PathKind::ToLink) => &mut counters.found,
        Some(PathKind::Partial) => &mut counters.partial,
        None => &mut counters.failed,
    } += 1;
    *match answer.found_by {
        FoundBy::Check => &mut counters.by_check,
        FoundBy::Field => &mut counters.by_field,
        FoundBy::Search(Algorithm::JumpPoint) => &mut counters.by_jump_point,
        FoundBy::Search(Algorithm::Hierarchical) => &mut counters.by_hierarchy,
        FoundBy::Search(_) => &mut counters.by_astar,
    } += 1;
}

/// Returns the hash of one answer. Hashes are added up, so that the order of answers does not matter. Which
/// of several cheapest paths was found is not included: it depends on whether a field was shared, and
/// therefore on which other requests were waiting.
fn answer_checksum(answer: &Answer) -> u64 {
    let mut sum = Checksum::default();
    sum.add(answer.ticket.number());
    match &answer.result {
        Ok(path) => {
            // A long path counts as a whole, however many answers delivered it.
            let delivered = answer.delivered;
            sum.add_cell(delivered.map_or(path.start(), |delivered| delivered.start));
            sum.add_cell(path.end());
            sum.add(delivered.map_or(0, |delivered| delivered.cost.0) + path.cost().0);
        }
        Err(_) => sum.add(u64::MAX),
    }
    sum.value()
}
