//! The queue without an app: which job is answered when and how, on any number of threads, along a shared
//! field and by single searches, in two segments, under edits, and how much memory is kept.

use std::collections::BTreeMap;

use bevy_tilepath::{
    nav::{
        node_pool::NodePool,
        queue::{
            Answer, DeliveredPart, FoundBy, GridSource, MAX_RESTARTS, OneWorker, SearchQueue,
            Ticket, Workers,
        },
        search::{Search, SearchCounters},
    },
    prelude::*,
};

use crate::common::{Random, dijkstra, is_legal_path};

const UNIT: ProfileId = ProfileId(0);
const GRID: GridId = GridId(0);
const NORMAL: Priority = Priority(0);

/// A source with a single grid, number 0.
struct SingleGrid(NavGrid);

impl GridSource for SingleGrid {
    fn grid(&self, id: GridId) -> Option<&NavGrid> {
        (id == GRID).then_some(&self.0)
    }
}

/// Threads spawned in every tick.
struct Threads(usize);

impl Workers for Threads {
    fn count(&self) -> usize {
        self.0
    }

    fn assist(&self, help: &(dyn Fn() + Sync), lead: &mut dyn FnMut()) {
        std::thread::scope(|scope| {
            for _ in 1..self.0 {
                scope.spawn(help);
            }
            lead();
        });
    }
}

/// Returns weighted terrain in patches that cost 1, 2, 3 and 5 times the plain cost, some of them walls. The
/// columns at both ends are of terrain 1.
fn patched(width: u32, height: u32, seed: u64) -> SingleGrid {
    let mut random = Random(seed);
    let mut terrain = vec![1u8; (width * height) as usize];
    for _ in 0..width * height / 90 {
        let (left, low) = (random.below(width), random.below(height));
        let id = if random.below(100) < 25 { 0 } else { 1 + random.below(4) as u8 };
        let (right, high) = (left + 1 + random.below(14), low + 1 + random.below(14));
        for y in low..high.min(height) {
            let row = (y * width) as usize;
            terrain[row + left as usize..row + right.min(width) as usize].fill(id);
        }
    }
    for row in terrain.chunks_mut(width as usize) {
        row[..4].fill(1);
        row[width as usize - 4..].fill(1);
    }
    let profile = (1u8..5)
        .zip([16, 32, 48, 80])
        .fold(Profile::new(), |profile, (id, cost)| profile.with(TerrainId(id), cost));
    SingleGrid(NavGrid::from_terrain(width, height, terrain).unwrap().with_profiles(vec![profile]))
}

/// Returns uniform terrain with walls that leave gaps at alternating ends, which makes paths as long as
/// possible.
fn serpentine(side: u32) -> SingleGrid {
    let mut grid = NavGrid::new(side, side, TerrainId::GROUND).unwrap();
    for (number, x) in (3..side as i32).step_by(4).enumerate() {
        let low = if number % 2 == 0 { 0 } else { 1 };
        grid.block(CellRect::new(Cell::new(x, low), 1, side - 1)).unwrap();
    }
    SingleGrid(grid)
}

/// Returns a random cell, which may be a wall.
fn any_cell(grid: &NavGrid, random: &mut Random) -> Cell {
    Cell::new(random.below(grid.width()) as i32, random.below(grid.height()) as i32)
}

/// Returns random cells that are connected with `goal`.
fn starts_to(grid: &NavGrid, goal: Cell, count: usize, seed: u64) -> Vec<Cell> {
    let region = grid.region(UNIT, goal);
    assert!(region.is_some(), "the goal is passable");
    let mut random = Random(seed);
    std::iter::repeat_with(|| any_cell(grid, &mut random))
        .filter(|&cell| grid.region(UNIT, cell) == region)
        .take(count)
        .collect()
}

/// Returns the cost of a cell in the row-major costs `best`.
fn cost_at(grid: &NavGrid, best: &[Option<u64>], cell: Cell) -> Option<PathCost> {
    best[(cell.y as u32 * grid.width() + cell.x as u32) as usize].map(PathCost)
}

/// An answer, and the tick it came in.
#[derive(Clone, Debug, PartialEq)]
struct Reply {
    tick: u64,
    ticket: Ticket,
    result: Result<Path, PathFailure>,
    found_by: FoundBy,
    delivered: Option<DeliveredPart>,
    counters: SearchCounters,
    waited: u64,
}

impl Reply {
    fn new(answer: Answer, tick: u64) -> Self {
        let Answer { ticket, result, found_by, delivered, counters, waited, .. } = answer;
        Self { tick, ticket, result, found_by, delivered, counters, waited }
    }

    fn cost(&self) -> Option<PathCost> {
        self.result.as_ref().ok().map(Path::cost)
    }

    fn kind(&self) -> Option<PathKind> {
        self.result.as_ref().ok().map(Path::kind)
    }
}

/// Runs one tick.
fn step(queue: &mut SearchQueue, world: &SingleGrid, budget: u32, replies: &mut Vec<Reply>) {
    let tick = queue.tick();
    let answer = |answer| replies.push(Reply::new(answer, tick));
    let spent = queue.step(world, budget, || true, answer);
    assert!(spent <= budget, "{spent} of {budget} spent");
}

/// Runs ticks until the queue is empty.
fn finish(queue: &mut SearchQueue, world: &SingleGrid, budget: u32, replies: &mut Vec<Reply>) {
    let first_tick = queue.tick();
    while !queue.is_empty() {
        step(queue, world, budget, replies);
        assert!(queue.tick() < first_tick + 20_000, "{} jobs are never answered", queue.waiting());
    }
}

/// Returns the answers by job, in the order in which they came.
fn by_ticket(replies: &[Reply]) -> BTreeMap<Ticket, Vec<&Reply>> {
    let mut by_ticket: BTreeMap<Ticket, Vec<&Reply>> = BTreeMap::new();
    for reply in replies {
        by_ticket.entry(reply.ticket).or_default().push(reply);
    }
    by_ticket
}

fn count(replies: &[Reply], found_by: FoundBy) -> usize {
    replies.iter().filter(|reply| reply.found_by == found_by).count()
}

/// A job, and the tick in which it is pushed.
#[derive(Clone, Copy)]
struct TimedJob {
    tick: u64,
    grid: GridId,
    query: PathQuery,
    priority: Priority,
}

/// Returns 300 jobs of every kind: many with one goal, some with unreachable goals, some on a missing grid.
fn mixed_jobs(grid: &NavGrid) -> Vec<TimedJob> {
    let mut random = Random(41);
    let common_goal = Cell::new(1, grid.height() as i32 / 2);
    let job = |number: u64| {
        let (start, goal) = (any_cell(grid, &mut random), any_cell(grid, &mut random));
        let query = PathQuery::new(start, goal);
        let (west, east) = (Cell::new(0, start.y), Cell::new(grid.width() as i32 - 1, goal.y));
        let query = match number % 10 {
            0..=4 => PathQuery::new(start, common_goal),
            5 => query.reach(Reach::Nearest),
            6 => query.algorithm(Algorithm::AStar),
            7 => query.algorithm(Algorithm::JumpPoint),
            8 => PathQuery::new(west, east).algorithm(Algorithm::Dijkstra),
            _ => PathQuery::new(west, east).algorithm(Algorithm::Hierarchical),
        };
        TimedJob {
            tick: if number < 200 { 0 } else { 3 },
            grid: if number % 50 == 25 { GridId(9) } else { GRID },
            query,
            priority: Priority(random.below(3) as i8 - 1),
        }
    };
    (0..300).map(job).collect()
}

fn play(workers: &impl Workers, world: &SingleGrid, jobs: &[TimedJob], budget: u32) -> Vec<Reply> {
    let mut queue = SearchQueue::default();
    let (mut replies, mut waiting) = (Vec::new(), jobs);
    while !waiting.is_empty() || !queue.is_empty() {
        let tick = queue.tick();
        let (due, later) = waiting.split_at(waiting.partition_point(|job| job.tick <= tick));
        for job in due {
            queue.push(job.grid, job.query, job.priority);
        }
        waiting = later;
        let answer = |answer| replies.push(Reply::new(answer, tick));
        let spent = queue.step_on(workers, world, budget, || true, answer);
        assert!(spent <= budget, "{spent} of {budget} spent");
        assert!(tick < 20_000, "some jobs are never answered");
    }
    assert_eq!(queue.restarts(), 0, "nothing was edited");
    replies
}

/// Returns the cost or the failure of each job, by its number.
fn outcomes(replies: &[Reply]) -> BTreeMap<u64, Result<PathCost, PathFailure>> {
    let outcome = |reply: &Reply| {
        let result = reply.result.as_ref().map(Path::cost).map_err(|&failure| failure);
        (reply.ticket.number(), result)
    };
    replies.iter().map(outcome).collect()
}

#[test]
fn answers_do_not_depend_on_threads_and_costs_do_not_depend_on_the_budget() {
    let world = patched(120, 30, 5);
    let jobs = mixed_jobs(&world.0);
    let mut costs = Vec::new();
    for budget in [700, 5_000, 50_000] {
        let single = play(&OneWorker, &world, &jobs, budget);
        assert_eq!(single.len(), jobs.len(), "one answer each");
        for threads in [2, 8] {
            let threaded = play(&Threads(threads), &world, &jobs, budget);
            let difference = single.iter().zip(&threaded).find(|(one, other)| one != other);
            assert_eq!(difference, None, "{threads} threads, budget {budget}");
            assert_eq!(single.len(), threaded.len(), "{threads} threads, budget {budget}");
        }
        for found_by in [
            FoundBy::Check,
            FoundBy::Field,
            FoundBy::Search(Algorithm::AStar),
            FoundBy::Search(Algorithm::JumpPoint),
            FoundBy::Search(Algorithm::Dijkstra),
            FoundBy::Search(Algorithm::Hierarchical),
        ] {
            assert!(count(&single, found_by) > 0, "the jobs are mixed: {found_by:?}, {budget}");
        }
        costs.push(outcomes(&single));
    }
    assert_eq!(costs[0].len(), jobs.len(), "every job is answered");
    assert_eq!(costs[0], costs[1], "under 700 and 5,000");
    assert_eq!(costs[0], costs[2], "under 700 and 50,000");
}

#[test]
fn answers_of_the_queue_equal_those_of_direct_searches() {
    let world = patched(120, 30, 6);
    let jobs = mixed_jobs(&world.0);
    let outcomes = outcomes(&play(&OneWorker, &world, &jobs, 3_000));
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    // Numbers count up from 1 in the order of pushing.
    for (job, (number, outcome)) in jobs.iter().zip(outcomes) {
        if job.grid != GRID {
            assert_eq!(outcome, Err(PathFailure::GridGone(job.grid)), "job {number}");
            continue;
        }
        let expected = search.start(&world.0, &pool, job.query).and_then(|()| {
            search.step(&world.0, &pool, u32::MAX);
            search.finish(&world.0, &pool)
        });
        assert_eq!(outcome, expected.map(|path| path.cost()), "job {number}: {:?}", job.query);
    }
}

#[test]
fn many_jobs_with_one_goal_share_a_field_where_that_pays() {
    let world = patched(200, 200, 21);
    let goal = Cell::new(1, 1);
    let best = dijkstra(&world.0, UNIT, goal);
    let starts = starts_to(&world.0, goal, 600, 4);
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    let tickets: Vec<Ticket> =
        starts.iter().map(|&start| queue.push(GRID, PathQuery::new(start, goal), NORMAL)).collect();
    finish(&mut queue, &world, 5_000, &mut replies);
    assert_eq!(replies.len(), 600, "one answer each");
    let shared = count(&replies, FoundBy::Field);
    assert!(shared > 500, "only {shared} of 600 share a field");
    let by_ticket = by_ticket(&replies);
    for (start, ticket) in starts.into_iter().zip(tickets) {
        let path = by_ticket[&ticket][0].result.as_ref().unwrap();
        assert_eq!(Some(path.cost()), cost_at(&world.0, &best, start), "from {start}");
        assert_eq!((path.start(), path.end()), (start, goal));
        assert!(is_legal_path(&world.0, UNIT, path), "from {start}");
    }
}

#[test]
fn a_few_jobs_with_one_goal_are_answered_by_single_searches() {
    let world = patched(200, 200, 21);
    let goal = Cell::new(1, 1);
    let best = dijkstra(&world.0, UNIT, goal);
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    for start in starts_to(&world.0, goal, 5, 4) {
        queue.push(GRID, PathQuery::new(start, goal), NORMAL);
    }
    finish(&mut queue, &world, 5_000, &mut replies);
    assert_eq!(replies.len(), 5);
    for reply in &replies {
        let path = reply.result.as_ref().unwrap();
        assert!(matches!(reply.found_by, FoundBy::Search(_)), "by {:?}", reply.found_by);
        assert_eq!(Some(path.cost()), cost_at(&world.0, &best, path.start()));
    }
}

#[test]
fn a_job_without_a_path_to_a_shared_goal_gets_the_same_failure_as_a_single_search() {
    let mut world = patched(200, 200, 22);
    let goal = Cell::new(1, 1);
    world.0.block(CellRect::new(Cell::new(150, 0), 2, 200)).unwrap();
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    let mut random = Random(9);
    let mut starts = BTreeMap::new();
    for number in 0..700 {
        let off_grid = Cell::new(-1, number);
        let start = if number % 50 == 0 { off_grid } else { any_cell(&world.0, &mut random) };
        starts.insert(queue.push(GRID, PathQuery::new(start, goal), NORMAL), start);
    }
    finish(&mut queue, &world, 5_000, &mut replies);
    assert_eq!(replies.len(), 700, "one answer each");
    assert!(count(&replies, FoundBy::Field) > 300, "they share a field");
    let mut reasons = [0; 3];
    for reply in &replies {
        let start = starts[&reply.ticket];
        let single = world.0.find_path(UNIT, start, goal);
        assert_eq!(reply.cost(), single.as_ref().ok().map(Path::cost), "from {start}");
        let Err(reason) = reply.result else {
            continue;
        };
        assert_eq!(Err(reason), single, "from {start}");
        assert_eq!(reply.found_by, FoundBy::Check, "no search is run for it");
        match reason {
            PathFailure::NoPath { .. } => reasons[0] += 1,
            PathFailure::StartImpassable(_) => reasons[1] += 1,
            PathFailure::StartOutOfBounds(_) => reasons[2] += 1,
            _ => panic!("{reason} from {start}"),
        }
    }
    assert!(reasons.iter().all(|&count| count > 0), "each reason occurs: {reasons:?}");
}

/// Returns a queue in which 600 jobs with one goal share an unfinished field.
fn sharing(world: &SingleGrid, goal: Cell) -> (SearchQueue, Vec<Ticket>, Vec<Cell>) {
    let starts = starts_to(&world.0, goal, 600, 5);
    let mut queue = SearchQueue::default();
    let tickets =
        starts.iter().map(|&start| queue.push(GRID, PathQuery::new(start, goal), NORMAL)).collect();
    let mut replies = Vec::new();
    step(&mut queue, world, 700, &mut replies);
    assert_eq!((queue.waiting(), queue.in_flight()), (0, 1), "all share one field");
    assert!(replies.is_empty(), "it is not finished");
    (queue, tickets, starts)
}

#[test]
fn canceled_jobs_of_a_shared_field_get_no_answer_and_the_others_do() {
    let world = patched(200, 200, 23);
    let goal = Cell::new(1, 1);
    let best = dijkstra(&world.0, UNIT, goal);
    let (mut queue, tickets, starts) = sharing(&world, goal);
    for number in [0, 300, 599] {
        assert!(queue.cancel(tickets[number]), "job {number} is pending");
        assert!(!queue.cancel(tickets[number]), "job {number} was canceled");
    }
    let mut replies = Vec::new();
    finish(&mut queue, &world, 5_000, &mut replies);
    let by_ticket = by_ticket(&replies);
    for (number, (ticket, start)) in tickets.iter().zip(starts).enumerate() {
        let replies = by_ticket.get(ticket).map_or(0, Vec::len);
        let is_canceled = [0, 300, 599].contains(&number);
        assert_eq!(replies, usize::from(!is_canceled), "answers to job {number}");
        if !is_canceled {
            assert_eq!(by_ticket[ticket][0].cost(), cost_at(&world.0, &best, start));
        }
    }
    assert!(!queue.cancel(tickets[1]), "it was already answered");
}

#[test]
fn a_field_without_waiting_jobs_is_dropped() {
    let world = patched(200, 200, 23);
    let (mut queue, tickets, _) = sharing(&world, Cell::new(1, 1));
    for ticket in tickets {
        assert!(queue.cancel(ticket));
    }
    assert_eq!(queue.in_flight(), 0, "nothing is left to do");
    let mut replies = Vec::new();
    step(&mut queue, &world, 5_000, &mut replies);
    assert!(queue.is_empty() && replies.is_empty());
    assert!(queue.bytes() < 4 * 200 * 200, "the memory of the field is released");
}

#[test]
fn an_edit_under_a_shared_field_has_all_jobs_answered_on_the_new_grid() {
    let mut world = patched(200, 200, 24);
    let goal = Cell::new(1, 1);
    let (mut queue, tickets, starts) = sharing(&world, goal);
    world.0.block(CellRect::new(Cell::new(100, 0), 6, 180)).unwrap();
    let best = dijkstra(&world.0, UNIT, goal);
    let mut replies = Vec::new();
    finish(&mut queue, &world, 20_000, &mut replies);
    assert_eq!(queue.restarts(), 600, "each was restarted once");
    assert_eq!(replies.len(), 600, "one answer each");
    let by_ticket = by_ticket(&replies);
    let mut failed = 0;
    for (ticket, start) in tickets.iter().zip(starts) {
        let reply = by_ticket[ticket][0];
        assert_eq!(reply.cost(), cost_at(&world.0, &best, start), "from {start}");
        match &reply.result {
            Ok(path) => assert!(is_legal_path(&world.0, UNIT, path), "from {start}"),
            Err(_) => failed += 1,
        }
    }
    assert!(failed > 0, "some start was built over");
}

#[test]
fn a_job_restarted_by_edits_in_every_tick_is_answered_and_paid_for() {
    const BUDGET: u32 = 300;
    let mut world = serpentine(200);
    let (start, goal) = (Cell::new(0, 0), Cell::new(198, 199));
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    queue.push(GRID, PathQuery::new(start, goal).algorithm(Algorithm::AStar), NORMAL);
    // Beside the start, which every search expands.
    let wall = CellRect::single(Cell::new(1, 1));
    while replies.is_empty() {
        if queue.tick() % 2 == 0 {
            world.0.block(wall).unwrap();
        } else {
            world.0.unblock(wall).unwrap();
        }
        step(&mut queue, &world, BUDGET, &mut replies);
        assert!(queue.tick() < 50, "edits prevent an answer");
    }
    let most = u64::from(MAX_RESTARTS) + 1;
    assert_eq!(
        (queue.restarts(), replies[0].waited),
        (most, most),
        "it was restarted no more often"
    );
    let best = dijkstra(&world.0, UNIT, start);
    assert_eq!(replies[0].cost(), cost_at(&world.0, &best, goal));
    // The last tick paid for its own part. The next job waits until the rest is paid.
    let expansions = replies[0].counters.expansions;
    let owed = (expansions - u64::from(BUDGET)) / u64::from(BUDGET);
    assert!(owed > 10, "it took {expansions} expansions: far more than one budget");
    queue.push(GRID, PathQuery::new(start, Cell::new(0, 2)), NORMAL);
    finish(&mut queue, &world, BUDGET, &mut replies);
    let waited = replies[1].waited;
    assert!((owed..=owed + 2).contains(&waited), "waited {waited} ticks where {owed} were owed");
    queue.push(GRID, PathQuery::new(start, Cell::new(0, 3)), NORMAL);
    step(&mut queue, &world, BUDGET, &mut replies);
    assert_eq!(replies[2].waited, 0, "the debt is paid");
}

/// An edit may restart many searches too often at once. They are run to completion one after the other, not all in one tick.
#[test]
fn of_many_jobs_restarted_too_often_one_is_run_to_completion_in_a_tick() {
    const BUDGET: u32 = 500;
    let mut world = serpentine(100);
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    for y in 0..6 {
        let query = PathQuery::new(Cell::new(0, 0), Cell::new(98, 99 - 2 * y));
        queue.push(GRID, query.algorithm(Algorithm::AStar), NORMAL);
    }
    let wall = CellRect::single(Cell::new(1, 1));
    while replies.len() < 6 {
        if queue.tick() % 2 == 0 {
            world.0.block(wall).unwrap();
        } else {
            world.0.unblock(wall).unwrap();
        }
        let before = replies.len();
        step(&mut queue, &world, BUDGET, &mut replies);
        assert!(replies.len() <= before + 1, "in tick {}", queue.tick());
        assert!(queue.tick() < 500, "edits prevent an answer");
    }
    assert!(replies.iter().all(|reply| reply.result.is_ok()));
}

/// Checks that the first segment and the rest of a long path join; returns their total cost.
fn joined_cost(replies: &[&Reply], query: PathQuery, grid: &NavGrid) -> PathCost {
    assert_eq!(replies.len(), 2, "the first segment and the rest");
    let [first_segment, rest] = [0, 1].map(|number| replies[number].result.as_ref().unwrap());
    assert_eq!((first_segment.kind(), rest.kind()), (PathKind::FirstSegment, PathKind::Complete));
    assert_eq!((first_segment.start(), rest.end()), (query.start, query.goal.cell()));
    assert_eq!(rest.start(), first_segment.end(), "the rest starts where the first segment ends");
    assert!(is_legal_path(grid, UNIT, first_segment), "the first segment is legal");
    assert!(is_legal_path(grid, UNIT, rest), "the rest is legal");
    let delivered = DeliveredPart { start: query.start, cost: first_segment.cost() };
    assert_eq!((replies[0].delivered, replies[1].delivered), (None, Some(delivered)));
    assert!(replies[0].tick <= replies[1].tick, "the first segment comes first");
    for reply in replies {
        assert_eq!(reply.found_by, FoundBy::Search(Algorithm::Hierarchical));
    }
    PathCost(first_segment.cost().0 + rest.cost().0)
}

/// Returns the cost of the path that a single unsliced search finds.
fn unsliced_cost(grid: &NavGrid, query: PathQuery) -> PathCost {
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    search.start(grid, &pool, query).unwrap();
    search.step(grid, &pool, u32::MAX);
    search.finish(grid, &pool).unwrap().cost()
}

#[test]
fn a_long_path_is_answered_in_two_segments() {
    let world = patched(1_600, 100, 31);
    let (start, goal) = (Cell::new(1, 50), Cell::new(1_598, 50));
    let query = PathQuery::new(start, goal).algorithm(Algorithm::Hierarchical);
    let whole = unsliced_cost(&world.0, query);
    for budget in [600, 1_000_000] {
        let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
        let ticket = queue.push(GRID, query, NORMAL);
        finish(&mut queue, &world, budget, &mut replies);
        assert!(replies.iter().all(|reply| reply.ticket == ticket));
        let answers: Vec<&Reply> = replies.iter().collect();
        assert_eq!(joined_cost(&answers, query, &world.0), whole);
        let is_sliced = budget == 600;
        assert_eq!(replies[0].tick < replies[1].tick, is_sliced, "budget {budget}");
        assert_eq!(replies[1].waited, replies[1].tick, "it was pushed in tick 0");
    }
}

#[test]
fn a_long_job_canceled_after_its_first_segment_gets_no_rest() {
    let world = patched(1_600, 100, 31);
    let query = PathQuery::new(Cell::new(1, 50), Cell::new(1_598, 50));
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    let ticket = queue.push(GRID, query.algorithm(Algorithm::Hierarchical), NORMAL);
    while replies.is_empty() {
        step(&mut queue, &world, 600, &mut replies);
    }
    assert_eq!(replies[0].kind(), Some(PathKind::FirstSegment));
    assert!(queue.search(ticket).is_some(), "the rest is being searched");
    assert!(queue.cancel(ticket));
    assert!(queue.is_empty(), "nothing is left to do");
    for _ in 0..20 {
        step(&mut queue, &world, 50_000, &mut replies);
    }
    assert_eq!(replies.len(), 1, "no rest comes");
}

/// The exact try of the first attempt takes longer than there is between two edits.
#[test]
fn a_long_path_begins_although_there_are_edits_in_every_tick() {
    let mut world = patched(2_400, 100, 32);
    let (start, goal) = (Cell::new(1, 50), Cell::new(2_398, 50));
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    queue.push(GRID, PathQuery::new(start, goal), NORMAL);
    let wall = CellRect::single(Cell::new(1_200, 50));
    while replies.is_empty() {
        step(&mut queue, &world, 20_000, &mut replies);
        if queue.tick() % 2 == 0 {
            world.0.unblock(wall).unwrap();
        } else {
            world.0.block(wall).unwrap();
        }
        assert!(queue.tick() < 20, "edits prevent an answer");
    }
    let kind = replies[0].result.as_ref().map(Path::kind);
    assert_eq!((kind, queue.restarts()), (Ok(PathKind::FirstSegment), 1));
}

/// Answers a long job: after its first segment, a wall of this height is built across the map.
fn walled_after_first_segment(height: u32) -> (SingleGrid, PathQuery, SearchQueue, Vec<Reply>) {
    let mut world = patched(1_600, 100, 32);
    let (start, goal) = (Cell::new(1, 50), Cell::new(1_598, 50));
    let query = PathQuery::new(start, goal).algorithm(Algorithm::Hierarchical);
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    queue.push(GRID, query, NORMAL);
    while replies.is_empty() {
        step(&mut queue, &world, 600, &mut replies);
    }
    world.0.block(CellRect::new(Cell::new(1_200, 0), 2, height)).unwrap();
    finish(&mut queue, &world, 5_000, &mut replies);
    (world, query, queue, replies)
}

#[test]
fn after_an_edit_the_rest_is_found_on_the_new_grid() {
    let (world, query, queue, replies) = walled_after_first_segment(80);
    let (start, goal) = (query.start, query.goal.cell());
    assert_eq!(queue.restarts(), 1, "it was restarted");
    let answers: Vec<&Reply> = replies.iter().collect();
    let cost = joined_cost(&answers, query, &world.0);
    let best = cost_at(&world.0, &dijkstra(&world.0, UNIT, goal), start).unwrap();
    assert!(best <= cost && 2 * cost.0 <= 3 * best.0, "{cost:?} where {best:?} is best");
}

#[test]
fn long_jobs_that_displace_each_other_cost_what_single_searches_do() {
    let world = patched(1_600, 100, 33);
    let goal = Cell::new(1_598, 50);
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    queue.settings = QueueSettings { in_flight: 4, ..QueueSettings::default() };
    let mut queries = BTreeMap::new();
    for number in 0..12 {
        let start = Cell::new(2, 8 * number);
        let query = PathQuery::new(start, goal).algorithm(Algorithm::Hierarchical);
        queries.insert(queue.push(GRID, query, NORMAL), query);
    }
    let mut displaced = 0;
    while !queue.is_empty() {
        let in_flight = |queue: &SearchQueue| -> Vec<Ticket> {
            queries.keys().copied().filter(|&ticket| queue.search(ticket).is_some()).collect()
        };
        let (before, known) = (in_flight(&queue), replies.len());
        step(&mut queue, &world, 20_000, &mut replies);
        assert!(queue.tick() < 20_000, "{} jobs are never answered", queue.waiting());
        let after = in_flight(&queue);
        let is_answered = |ticket| replies[known..].iter().any(|reply| reply.ticket == ticket);
        let gone = before.into_iter().filter(|ticket| !after.contains(ticket));
        displaced += gone.filter(|&ticket| !is_answered(ticket)).count();
    }
    assert!(displaced > 0, "no job leaves its place before it is answered");
    let by_ticket = by_ticket(&replies);
    assert_eq!(by_ticket.len(), 12, "all are answered");
    for (ticket, replies) in by_ticket {
        let query = queries[&ticket];
        let cost = joined_cost(&replies, query, &world.0);
        assert_eq!(cost, unsliced_cost(&world.0, query), "from {}", query.start);
    }
}

/// Returns a short query on an open grid; each number has a distinct goal.
fn short_query(number: i32) -> PathQuery {
    PathQuery::new(Cell::new(2 * number, 5), Cell::new(2 * number + 1, 20 + number))
}

/// Returns a queue with a single slot, in which five jobs are chained in one task.
fn chained_jobs(world: &SingleGrid) -> (SearchQueue, Vec<Ticket>) {
    let mut queue = SearchQueue::default();
    queue.settings = QueueSettings { in_flight: 1, ..QueueSettings::default() };
    // Many jobs were fast, so the next ones may be chained.
    for number in 0..40 {
        queue.push(GRID, short_query(number), NORMAL);
    }
    let mut replies = Vec::new();
    finish(&mut queue, world, 50_000, &mut replies);
    assert_eq!(replies.len(), 40);
    let tickets = (0..5).map(|number| queue.push(GRID, short_query(number), NORMAL)).collect();
    // Starting a job costs eight units, which leaves nothing for the search.
    step(&mut queue, world, 40, &mut replies);
    assert_eq!(replies.len(), 40, "none is answered");
    assert_eq!((queue.waiting(), queue.in_flight()), (0, 1), "all are in one task");
    (queue, tickets)
}

#[test]
fn a_chained_job_can_be_canceled() {
    let world = SingleGrid(NavGrid::new(100, 100, TerrainId::GROUND).unwrap());
    for canceled in 0..5 {
        let (mut queue, tickets) = chained_jobs(&world);
        assert!(queue.cancel(tickets[canceled]), "job {canceled} is pending");
        assert!(!queue.cancel(tickets[canceled]), "job {canceled} was canceled");
        let mut replies = Vec::new();
        finish(&mut queue, &world, 5_000, &mut replies);
        let answered: Vec<Ticket> = replies.iter().map(|reply| reply.ticket).collect();
        let expected: Vec<Ticket> =
            tickets.iter().copied().filter(|&ticket| ticket != tickets[canceled]).collect();
        assert_eq!(answered, expected, "all but job {canceled}, in their order");
        assert!(replies.iter().all(|reply| reply.kind() == Some(PathKind::Complete)));
    }
}

#[test]
fn a_search_in_flight_without_jobs_is_retired() {
    let world = SingleGrid(NavGrid::new(100, 100, TerrainId::GROUND).unwrap());
    let (mut queue, tickets) = chained_jobs(&world);
    for ticket in tickets {
        assert_eq!(queue.in_flight(), 1);
        assert!(queue.cancel(ticket));
    }
    assert!(queue.is_empty(), "it is retired");
    let ticket = queue.push(GRID, short_query(7), NORMAL);
    let mut replies = Vec::new();
    step(&mut queue, &world, 5_000, &mut replies);
    assert_eq!(replies.iter().map(|reply| reply.ticket).collect::<Vec<_>>(), [ticket]);
}

/// Bytes of pages kept for the next search, at most: pages of 8 KiB.
const PAGES_KEPT: usize = 1_024 * 8_192;
/// Bytes kept by an idle search that has not jumped: the stacks of its open list (66 KiB), capacity for some
/// thousand entries, and a number for each chunk of the grid.
const KEPT_BY_A_SEARCH: usize = 192 << 10;

#[test]
fn after_a_burst_of_huge_searches_little_memory_is_kept() {
    let world = SingleGrid(NavGrid::new(512, 512, TerrainId::GROUND).unwrap());
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    queue.settings = QueueSettings { in_flight: 8, ..QueueSettings::default() };
    for number in 0..10 {
        let query = PathQuery::new(Cell::new(number, 0), Cell::new(511, 511));
        queue.push(GRID, query.algorithm(Algorithm::Dijkstra), NORMAL);
    }
    let most = queue.settings.in_flight * KEPT_BY_A_SEARCH + PAGES_KEPT;
    let mut peak = 0;
    while !queue.is_empty() {
        step(&mut queue, &world, 50_000, &mut replies);
        peak = peak.max(queue.bytes());
    }
    assert_eq!(replies.len(), 10);
    assert!(peak > most, "the burst takes more than may be kept: {peak} bytes");
    assert!(queue.bytes() <= most, "{} bytes are kept, {most} may be", queue.bytes());
}

#[test]
fn equal_bursts_keep_the_same_memory() {
    // Small enough that no search counts as long, so all slots are used.
    let world = patched(120, 16, 3);
    let query = PathQuery::new(Cell::new(1, 8), Cell::new(118, 8));
    for algorithm in [
        Algorithm::AStar,
        Algorithm::Dijkstra,
        Algorithm::JumpPoint,
        Algorithm::Hierarchical,
        Algorithm::Auto,
    ] {
        let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
        queue.settings = QueueSettings { in_flight: 8, ..QueueSettings::default() };
        // More than all slots need, so that the number of slots in use does not matter.
        queue.reserve(64);
        let mut kept = Vec::new();
        for _ in 0..3 {
            for _ in 0..64 {
                queue.push(GRID, query.algorithm(algorithm), NORMAL);
            }
            finish(&mut queue, &world, 4_000, &mut replies);
            kept.push(queue.bytes());
        }
        assert_eq!(replies.len(), 3 * 64, "one answer each");
        assert!(replies[0].result.is_ok(), "{:?}", replies[0].result);
        assert!(replies.iter().all(|reply| reply.cost() == replies[0].cost()), "the same cost");
        assert_eq!(kept[1], kept[0], "the second burst, {algorithm:?}");
        assert_eq!(kept[2], kept[0], "the third burst, {algorithm:?}");
    }
}

#[test]
fn reserved_pages_stay_through_quiet_ticks() {
    let world = SingleGrid(NavGrid::new(8, 8, TerrainId::GROUND).unwrap());
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    queue.reserve(2_000);
    let reserved = queue.bytes();
    assert!(reserved > 2_000 * 8_192);
    for _ in 0..3 {
        step(&mut queue, &world, 1_000, &mut replies);
    }
    assert_eq!(queue.bytes(), reserved);
}

#[test]
fn where_the_rest_of_a_path_is_cut_off_the_nearest_cell_is_found() {
    let mut world = SingleGrid(NavGrid::new(2_400, 96, TerrainId::GROUND).unwrap());
    let query = PathQuery::new(Cell::new(1, 48), Cell::new(2_398, 48)).reach(Reach::Nearest);
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    queue.push(GRID, query.algorithm(Algorithm::Hierarchical), NORMAL);
    while replies.is_empty() {
        step(&mut queue, &world, 100, &mut replies);
    }
    world.0.block(CellRect::new(Cell::new(1_800, 0), 1, 96)).unwrap();
    finish(&mut queue, &world, 5_000, &mut replies);
    let rest = replies[1].result.as_ref().expect("a path to the wall");
    assert_eq!((rest.kind(), rest.end()), (PathKind::Partial, Cell::new(1_799, 48)));
}

/// A field on a large grid has much to clear before it begins.
#[test]
fn a_shared_field_pays_for_its_start() {
    let spent = [256, 2_048].map(|side| {
        let mut world = SingleGrid(NavGrid::new(side, side, TerrainId::GROUND).unwrap());
        // The same yard on both.
        world.0.block(CellRect::new(Cell::new(0, 200), 201, 1)).unwrap();
        world.0.block(CellRect::new(Cell::new(200, 0), 1, 200)).unwrap();
        let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
        for number in 0..4_000 {
            let start = Cell::new(number % 80, number / 80);
            queue.push(GRID, PathQuery::new(start, Cell::new(190, 190)), NORMAL);
        }
        let mut spent = 0;
        while !queue.is_empty() {
            spent +=
                queue.step(&world, 50_000, || true, |answer| replies.push(Reply::new(answer, 0)));
        }
        assert!(count(&replies, FoundBy::Field) > 3_000, "they share a field");
        spent
    });
    let more = (2_048 * 2_048 - 256 * 256) / 200;
    assert!((more - 200..more + 200).contains(&(spent[1] - spent[0])), "{spent:?}");
}

/// Sum of all expansions that answers report.
fn expansions(replies: &[Reply]) -> u64 {
    replies.iter().map(|reply| reply.counters.expansions).sum()
}

#[test]
fn a_shared_field_does_not_go_on_for_jobs_that_were_canceled() {
    let world = patched(200, 200, 23);
    let goal = Cell::new(1, 1);
    let near: Vec<Cell> = starts_to(&world.0, goal, 60_000, 5)
        .into_iter()
        .filter(|start| start.x < 60 && start.y < 60)
        .take(2_000)
        .collect();
    let region = world.0.region(UNIT, goal);
    let far = (0..200).map(|y| Cell::new(198, 199 - y));
    let far = far.into_iter().find(|&cell| world.0.region(UNIT, cell) == region).unwrap();
    let mut work = [true, false].map(|is_canceled| {
        let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
        let last = queue.push(GRID, PathQuery::new(far, goal), NORMAL);
        near.iter().for_each(|&start| {
            queue.push(GRID, PathQuery::new(start, goal), NORMAL);
        });
        step(&mut queue, &world, 9_000, &mut replies);
        assert_eq!((queue.waiting(), queue.in_flight()), (0, 1), "all share one field");
        assert_eq!(is_canceled && queue.cancel(last), is_canceled);
        finish(&mut queue, &world, 5_000, &mut replies);
        assert_eq!(replies.len(), near.len() + usize::from(!is_canceled));
        expansions(&replies)
    });
    work.sort_unstable();
    let [canceled, whole] = work;
    assert!(canceled > 0 && 4 * canceled < whole, "{canceled} and {whole} expansions");
}

#[test]
fn shared_fields_leave_slots_to_short_requests() {
    let world = patched(200, 200, 23);
    let mut queue = SearchQueue::default();
    queue.settings.in_flight = 2;
    for goal in [Cell::new(1, 1), Cell::new(198, 198)] {
        for start in starts_to(&world.0, goal, 600, 5) {
            queue.push(GRID, PathQuery::new(start, goal), NORMAL);
        }
    }
    let mut replies = Vec::new();
    step(&mut queue, &world, 300, &mut replies);
    let short = queue.push(GRID, PathQuery::new(Cell::new(1, 90), Cell::new(1, 93)), Priority(9));
    let mut ticks = 0;
    while !replies.iter().any(|reply| reply.ticket == short) {
        step(&mut queue, &world, 300, &mut replies);
        ticks += 1;
    }
    assert!(ticks <= 2, "the short request waits for {ticks} ticks");
    finish(&mut queue, &world, 20_000, &mut replies);
    assert_eq!(replies.len(), 1_201);
}

#[test]
fn a_failure_after_the_first_segment_names_the_start_of_the_job() {
    let (_, query, _, replies) = walled_after_first_segment(100);
    let (start, goal) = (query.start, query.goal.cell());
    assert_eq!(replies[1].result, Err(PathFailure::NoPath { start, goal }));
}
