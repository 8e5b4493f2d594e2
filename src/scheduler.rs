//! Stage 3: spends the tick's budget on the queue and hands out the answers.
//!
//! Input: the [`Pathfinder`]'s queue and the grids. Output: paths and statuses on the units that
//! asked, entity events, and [`PathCounters`]. The budget counts expansions, so that the same
//! requests are answered in the same ticks on every machine; an extra cap on the time may be set,
//! at the price of that promise. How jobs are ordered: [`nav::queue`](crate::nav::queue).

mod deliver;
mod pool_workers;

pub(crate) use deliver::deliver_answers;
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
        cell::Cell,
        checksum::Checksum,
        query::{GridId, PathQuery},
        queue::{Answer, JobOptions, Priority, QueueSettings, SearchQueue, Ticket},
        search::Search,
    },
    request::{ActiveOrder, Again, Fallback},
};

/// How far ahead of ordinary requests repairs are.
const REPAIR_PRIORITY: i8 = 4;

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

/// The queue of searches and who waits for what.
#[derive(Resource, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct Pathfinder {
    #[reflect(ignore)]
    queue: SearchQueue,
    /// Who waits for the answer with this number.
    #[reflect(ignore)]
    askers: BTreeMap<u64, Entity>,
    #[reflect(ignore)]
    tickets: EntityHashMap<Ticket>,
    #[reflect(ignore)]
    answers: Vec<Answer>,
    /// The tick it is.
    now: u64,
    /// Orders to be tried again.
    #[reflect(ignore)]
    again: Again,
    /// Who follows a target, by number of the order.
    #[reflect(ignore)]
    followers: BTreeMap<u64, Entity>,
    /// Part of this tick's budget that reading requests took.
    pub(crate) spent: u32,
    /// Requests put on and taken off that were not read yet.
    pub(crate) unread: usize,
    pub(crate) counters: PathCounters,
}

impl Pathfinder {
    /// Queues a query for `entity`; an answer still awaited is given up.
    pub(crate) fn ask(
        &mut self,
        entity: Entity,
        grid: GridId,
        query: PathQuery,
        options: JobOptions,
    ) -> Ticket {
        self.forget(entity);
        let ticket = self.queue.push_job(grid, query, options);
        self.askers.insert(ticket.number(), entity);
        self.tickets.insert(entity, ticket);
        self.counters.requests += 1;
        ticket
    }

    /// Asks for the rest of an order from `start`: a repair, which passes ordinary requests, because
    /// somebody stands and waits for it.
    pub(crate) fn ask_again(&mut self, entity: Entity, order: &mut ActiveOrder, start: Cell) {
        let query = PathQuery { start, ..order.query };
        let priority = Priority(order.priority.0.saturating_add(REPAIR_PRIORITY));
        let (class, goals) = (order.class, order.goals.clone());
        let options = JobOptions { priority, class, goals, rally: None, goes_on: true };
        order.ticket = Some(self.ask(entity, order.grid, query, options));
        order.query = query;
        self.counters.repaired += 1;
    }

    /// Gives up the answer `entity` waits for, if any.
    pub(crate) fn forget(&mut self, entity: Entity) {
        if let Some(ticket) = self.tickets.remove(&entity) {
            self.queue.cancel(ticket);
            self.askers.remove(&ticket.number());
            self.counters.canceled += 1;
        }
    }

    /// The search that works for `entity`, while it is in flight.
    #[must_use]
    pub fn search(&self, entity: Entity) -> Option<&Search> {
        self.queue.search(*self.tickets.get(&entity)?)
    }

    /// Makes search memory ahead, so that the first tick under load need not: `pages` of 32 × 32
    /// cells, 8 KiB each. The plugin reserves 512 (4 MiB) when it is added.
    pub fn reserve(&mut self, pages: usize) {
        self.queue.reserve(pages);
    }

    /// A tick begins.
    pub(crate) fn begin_tick(&mut self) {
        self.now = self.queue.tick();
    }

    /// The next order that is to be tried again now.
    pub(crate) fn take_due(&mut self) -> Option<(Entity, u64)> {
        self.again.take_due(self.now)
    }

    /// What becomes of orders that fail.
    pub(crate) fn fallback(&mut self) -> Fallback<'_> {
        Fallback { tick: self.now, again: &mut self.again }
    }

    /// Orders that wait to be tried again; those given up meanwhile count until they are due.
    pub(crate) fn waiting_again(&self) -> usize {
        self.again.len()
    }

    /// Looks after the target of this order from now on.
    pub(crate) fn follow(&mut self, number: u64, entity: Entity) {
        self.followers.insert(number, entity);
    }

    pub(crate) fn unfollow(&mut self, number: u64) {
        self.followers.remove(&number);
    }

    /// Orders that follow a target, by number.
    pub(crate) fn followers(&self) -> impl Iterator<Item = (u64, Entity)> + '_ {
        self.followers.iter().map(|(&number, &entity)| (number, entity))
    }

    /// Who waits for this answer.
    fn asker(&self, ticket: Ticket) -> Option<Entity> {
        self.askers.get(&ticket.number()).copied()
    }

    /// Who waits for this answer; forgets it.
    fn take_asker(&mut self, ticket: Ticket) -> Option<Entity> {
        let entity = self.askers.remove(&ticket.number())?;
        self.tickets.remove(&entity);
        Some(entity)
    }
}

/// Spends the budget of the tick.
pub(crate) fn run_searches(
    mut pathfinder: ResMut<Pathfinder>,
    grids: Res<NavGrids>,
    settings: Res<TilePathSettings>,
) {
    let Pathfinder { queue, answers, counters, spent, unread, .. } = &mut *pathfinder;
    let read = std::mem::take(spent).min(settings.budget);
    queue.settings = settings.queue;
    let deadline = settings.time_cap.map(|cap| (Instant::now(), cap));
    let in_time = || deadline.is_none_or(|(start, cap)| start.elapsed() < cap);
    let budget = settings.budget - read;
    let workers = PoolWorkers::new(settings.threads);
    let spent = queue.step_on(&workers, &*grids, budget, in_time, |answer| answers.push(answer));
    counters.spent_last_tick = read + spent;
    counters.restarts = queue.restarts();
    counters.waiting = queue.waiting() + *unread;
    counters.in_flight = queue.in_flight();
    counters.longest_wait = queue.longest_wait();
    counters.search_bytes = queue.bytes();
}

/// Hash of one answer; these are added up, so that the order of answers does not matter. Which of
/// several cheapest ways was found does not count: it depends on whether a field was shared, and so on
/// who else was waiting.
fn answer_checksum(answer: &Answer) -> u64 {
    let mut sum = Checksum::default();
    sum.add(answer.ticket.number());
    match &answer.result {
        Ok(path) => {
            // A long way counts as a whole, in however many answers it came.
            let begun = answer.begun;
            sum.add_cell(begun.map_or(path.start(), |begun| begun.start));
            sum.add_cell(path.end());
            sum.add(begun.map_or(0, |begun| begun.cost.0) + path.cost().0);
        }
        Err(_) => sum.add(u64::MAX),
    }
    sum.value()
}
