//! Stage 3: spends the tick's budget on the queue of searches.
//!
//! Input: the [`Pathfinder`]'s queue and the grids. Output: answers, which `request` hands to the units, and
//! [`PathCounters`]. The budget counts expansions, so that the same requests are answered in the same ticks on
//! every machine; an extra cap on the time may be set, at the price of that promise. How jobs are ordered:
//! [`nav::queue`](crate::nav::queue).

mod pool_workers;

use pool_workers::PoolWorkers;

use std::collections::BTreeMap;

use bevy::{
    ecs::entity::EntityHashMap, platform::time::Instant, prelude::*,
    reflect::std_traits::ReflectDefault,
};
use core::time::Duration;

use crate::{
    grids::NavGrids,
    nav::{
        checksum::Checksum,
        path::{Path, PathKind},
        query::{Algorithm, GridId, PathQuery},
        queue::{Answer, FoundBy, JobOptions, QueueSettings, SearchQueue, Ticket},
        search::Search,
    },
};

/// How much searching a tick may do.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Resource, Debug, Default, PartialEq, Clone)]
pub struct TilePathSettings {
    /// Expansions per tick over all requests (one on mixed terrain counts three, one of a jumping
    /// search four, or five on mixed terrain, reading a request sixteen); 0 pauses searching. The default of 50,000 is about
    /// 2 ms on the two-core machine the figures in `benches/RESULTS.md` come from: an eighth of a
    /// frame at 60 Hz.
    pub budget: u32,
    /// Also stop after this much time, looked at between slices. `None` (default) keeps answers
    /// in the same ticks on every machine; with a cap they depend on how fast it is.
    pub time_cap: Option<Duration>,
    /// Threads that search at once, at most: Bevy's compute threads and the one that runs the
    /// schedule. 0 (default) is all of them. The answers, and the ticks in which they come, do not
    /// depend on it.
    pub threads: usize,
    /// How the queue deals with its jobs.
    pub queue: QueueSettings,
}

impl Default for TilePathSettings {
    fn default() -> Self {
        Self { budget: 50_000, time_cap: None, threads: 0, queue: QueueSettings::default() }
    }
}

/// What the pathfinder has done and has before it. Counts since the app began, unless said
/// otherwise.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Resource, Debug, Default, PartialEq, Clone)]
pub struct PathCounters {
    /// Requests taken up, repairs included.
    pub requests: u64,
    /// Answered with a path to the goal.
    pub found: u64,
    /// Answered with a path to the nearest reachable cell.
    pub partial: u64,
    /// Answered with a reason why not.
    pub failed: u64,
    /// Of all answers, those found without a search: the ends and their islands told.
    pub by_check: u64,
    /// Those found by A* or Dijkstra.
    pub by_astar: u64,
    /// Those found by jump point search.
    pub by_jump_point: u64,
    /// Those found over the hierarchy of chunks.
    pub by_hierarchy: u64,
    /// Those read off a field that many requests with one goal shared.
    pub by_field: u64,
    /// Taken back or replaced before they were answered.
    pub canceled: u64,
    /// Paths of walking critters that an edit cut off.
    pub repaired: u64,
    /// Orders without a way that were tried again, with another target or later.
    pub retried: u64,
    /// Ways planned anew because the target that was followed had moved.
    pub followed: u64,
    /// Searches that an edit threw back.
    pub restarts: u64,
    /// Expansions, those over chunks included.
    pub expansions: u64,
    /// Expansions in the last tick, and what taking up requests cost of its budget.
    pub spent_last_tick: u32,
    /// Requests waiting in line now, those not yet read included.
    pub waiting: usize,
    /// Orders without a way that will be tried again.
    pub waiting_again: usize,
    /// Searches in flight now.
    pub in_flight: usize,
    /// Ticks that the oldest request in flight or at the head of the line has waited.
    pub longest_wait: u64,
    /// Ticks that answered requests have waited, summed up.
    pub waited: u64,
    /// Memory of all searches, in bytes.
    pub search_bytes: usize,
    /// Sum over all answers (which, where to, at what cost): equal in two runs that gave the
    /// same answers, whatever the budgets.
    pub answers_checksum: u64,
}

/// The queue of searches, and which unit waits for which answer.
#[derive(Resource, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct Pathfinder {
    #[reflect(ignore)]
    queue: SearchQueue,
    /// Units that wait, by the number of the ticket.
    #[reflect(ignore)]
    requesters: BTreeMap<u64, Entity>,
    #[reflect(ignore)]
    tickets: EntityHashMap<Ticket>,
    #[reflect(ignore)]
    answers: Vec<Answer>,
    /// The current tick.
    now: u64,
    /// Part of this tick's budget that was spent on other work than searches.
    spent: u32,
    /// Requests inserted and removed that were not read yet.
    pub(crate) unread: usize,
    pub(crate) counters: PathCounters,
}

impl Pathfinder {
    /// Queues a query for `entity`; an answer still awaited is canceled.
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

    /// Cancels the answer `entity` waits for, if any.
    pub(crate) fn forget(&mut self, entity: Entity) {
        if let Some(ticket) = self.tickets.remove(&entity) {
            self.queue.cancel(ticket);
            self.requesters.remove(&ticket.number());
            self.counters.canceled += 1;
        }
    }

    /// The search that works for `entity`, while it is in flight.
    #[must_use]
    pub fn search(&self, entity: Entity) -> Option<&Search> {
        self.queue.search(*self.tickets.get(&entity)?)
    }

    /// Allocates search memory ahead, so that the first tick under load need not: `pages` of 32 × 32
    /// cells, 8 KiB each. The plugin reserves 512 (4 MiB) when it is added.
    pub fn reserve(&mut self, pages: usize) {
        self.queue.reserve(pages);
    }

    /// The current tick.
    pub(crate) const fn now(&self) -> u64 {
        self.now
    }

    /// Takes so many expansions off the budget of the next searches.
    pub(crate) fn spend(&mut self, expansions: u32) {
        self.spent = self.spent.saturating_add(expansions);
    }

    /// The answers of this tick, in the order in which they were found.
    pub(crate) fn take_answers(&mut self) -> Vec<Answer> {
        core::mem::take(&mut self.answers)
    }

    /// Keeps the memory of the answers for the next tick.
    pub(crate) fn keep(&mut self, answers: Vec<Answer>) {
        self.answers = answers;
    }

    /// The unit that waits for an answer; it waits no longer once it has all of it.
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

/// A tick begins.
pub(crate) fn begin_tick(mut pathfinder: ResMut<Pathfinder>) {
    pathfinder.now = pathfinder.queue.tick();
}

/// Spends the budget of the tick.
pub(crate) fn run_searches(
    mut pathfinder: ResMut<Pathfinder>,
    grids: Res<NavGrids>,
    settings: Res<TilePathSettings>,
) {
    let Pathfinder { queue, answers, counters, spent, unread, .. } = &mut *pathfinder;
    let spent_before = std::mem::take(spent).min(settings.budget);
    queue.settings = settings.queue;
    let deadline = settings.time_cap.map(|cap| (Instant::now(), cap));
    let in_time = || deadline.is_none_or(|(start, cap)| start.elapsed() < cap);
    let budget = settings.budget - spent_before;
    let workers = PoolWorkers::new(settings.threads);
    let spent = queue.step_on(&workers, &*grids, budget, in_time, |answer| {
        count(counters, &answer);
        answers.push(answer);
    });
    counters.spent_last_tick = spent_before + spent;
    counters.restarts = queue.restarts();
    counters.waiting = queue.waiting() + *unread;
    counters.in_flight = queue.in_flight();
    counters.longest_wait = queue.longest_wait();
    counters.search_bytes = queue.bytes();
}

/// What kind of path an answer holds; `None` for a failure.
pub(crate) fn path_kind(answer: &Answer) -> Option<PathKind> {
    answer.result.as_ref().ok().map(Path::kind)
}

fn count(counters: &mut PathCounters, answer: &Answer) {
    let kind = path_kind(answer);
    if kind == Some(PathKind::FirstSegment) {
        return; // counted with the rest
    }
    counters.expansions += answer.counters.expansions + answer.counters.portals;
    counters.waited += answer.waited;
    counters.answers_checksum = counters.answers_checksum.wrapping_add(answer_checksum(answer));
    *match kind {
        Some(PathKind::Complete | PathKind::FirstSegment) => &mut counters.found,
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

/// Hash of one answer; these are added up, so that the order of answers does not matter. Which of
/// several cheapest paths was found does not count: it depends on whether a field was shared, and so on
/// which other requests were waiting.
fn answer_checksum(answer: &Answer) -> u64 {
    let mut sum = Checksum::default();
    sum.add(answer.ticket.number());
    match &answer.result {
        Ok(path) => {
            // A long path counts as a whole, in however many answers it came.
            let begun = answer.delivered;
            sum.add_cell(begun.map_or(path.start(), |begun| begun.start));
            sum.add_cell(path.end());
            sum.add(begun.map_or(0, |begun| begun.cost.0) + path.cost().0);
        }
        Err(_) => sum.add(u64::MAX),
    }
    sum.value()
}
