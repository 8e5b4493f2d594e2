//! Jobs with different goals around one rally: their paths are found along a shared field and are good, or
//! each is found by a single search.

use std::{collections::BTreeMap, sync::Arc};

use bevy_tilepath::{
    nav::{
        goal::Goal,
        queue::{FoundBy, JobOptions, SearchQueue, Ticket},
    },
    prelude::*,
};

use crate::common::{Random, dijkstra, is_legal_path, patched_terrain};
use crate::queue_common::{
    GRID, Reply, Threads, UNIT, World, cells_around, cost_at, count, finish, step, step_on,
};

const WEIGHTED: [u16; 4] = [16, 32, 48, 80];
const UNIFORM: [u16; 4] = [16; 4];

/// Returns a square of patches of four terrains, `walls` percent of them walls. The columns at the left end
/// are of terrain 1.
fn patched(side: u32, walls: u32, costs: [u16; 4], seed: u64) -> World {
    let mut terrain = patched_terrain((side, side), side * side / 90, walls, &mut Random(seed));
    terrain.chunks_mut(side as usize).for_each(|row| row[..4].fill(1));
    square_world(side, terrain, costs)
}

/// Returns a square of uniform terrain with single walls: one in `one_in` cells.
fn scattered(side: u32, one_in: u32, seed: u64) -> World {
    let mut random = Random(seed);
    let cells = (0..side * side).map(|cell| {
        let is_edge = cell % side < 4;
        u8::from(is_edge || random.below(one_in) > 0)
    });
    let terrain = cells.collect();
    square_world(side, terrain, UNIFORM)
}

fn square_world(side: u32, terrain: Vec<u8>, costs: [u16; 4]) -> World {
    let profile = (1u8..5)
        .zip(costs)
        .fold(Profile::new(), |profile, (id, cost)| profile.with(TerrainId(id), cost));
    let grid = NavGrid::from_terrain(side, side, terrain).unwrap();
    World::of(grid.with_profiles(vec![profile]))
}

/// A pushed job.
#[derive(Clone, Copy, Debug)]
struct RallyJob {
    ticket: Ticket,
    start: Cell,
    goal: Cell,
}

/// Returns `count` pairs of a random start and one of twelve goals within twelve cells of the rally.
fn pairs(grid: &NavGrid, rally: Cell, count: usize, seed: u64) -> Vec<(Cell, Cell)> {
    let mut random = Random(seed);
    let is_near = |cell: Cell| cell.x.abs_diff(rally.x).max(cell.y.abs_diff(rally.y)) <= 12;
    let goals = cells_around(grid, rally, 12, &mut random, is_near);
    let starts = cells_around(grid, rally, count, &mut random, |_| true);
    starts.into_iter().zip(goals.into_iter().cycle()).collect()
}

fn push(queue: &mut SearchQueue, rally: Option<Cell>, pairs: &[(Cell, Cell)]) -> Vec<RallyJob> {
    let push = |&(start, goal): &(Cell, Cell)| {
        let options = JobOptions { rally, ..JobOptions::default() };
        RallyJob { ticket: queue.push_job(GRID, PathQuery::new(start, goal), options), start, goal }
    };
    pairs.iter().map(push).collect()
}

/// Costs of the cheapest paths to goals, computed on demand.
struct Oracle<'a> {
    grid: &'a NavGrid,
    costs: BTreeMap<Cell, Vec<Option<u64>>>,
}

impl<'a> Oracle<'a> {
    fn new(grid: &'a NavGrid) -> Self {
        Self { grid, costs: BTreeMap::new() }
    }

    fn best(&mut self, job: &RallyJob) -> Option<u64> {
        let grid = self.grid;
        let best = self.costs.entry(job.goal).or_insert_with(|| dijkstra(grid, UNIT, job.goal));
        cost_at(grid, best, job.start).map(|cost| cost.0)
    }

    /// Checks the answer to a job; returns the cost of its path, in 1/100,000 of the cheapest.
    fn check(&mut self, job: &RallyJob, reply: &Reply) -> u64 {
        let Some(best) = self.best(job) else {
            assert!(reply.result.is_err(), "{job:?} has no path");
            return 100_000;
        };
        let path = reply.path();
        assert_eq!((path.start(), path.end()), (job.start, job.goal));
        assert_eq!(path.kind(), PathKind::Complete, "{job:?}");
        assert!(is_legal_path(self.grid, UNIT, path), "{job:?}");
        for pair in path.legs().windows(2) {
            assert_ne!(pair[0].direction, pair[1].direction.opposite(), "{job:?} reverses");
            assert_ne!(pair[0].direction, pair[1].direction, "{job:?}: one leg, not two");
        }
        let cost = path.cost().0;
        match reply.found_by {
            FoundBy::Field => {
                assert!(best <= cost && 100 * cost <= 115 * best, "{job:?}: {cost} for {best}");
            }
            _ => assert_eq!(cost, best, "{job:?}: a single search is exact"),
        }
        (100_000 * cost).checked_div(best).unwrap_or(100_000)
    }
}

/// Checks the answers to all jobs, one each; returns their average cost, in 1/100,000 of the cheapest paths.
fn check(grid: &NavGrid, jobs: &[RallyJob], replies: &[Reply]) -> u64 {
    let mut oracle = Oracle::new(grid);
    let by_ticket: BTreeMap<Ticket, &Reply> =
        replies.iter().map(|reply| (reply.ticket, reply)).collect();
    assert_eq!((by_ticket.len(), replies.len()), (jobs.len(), jobs.len()), "one answer each");
    let sum: u64 = jobs.iter().map(|job| oracle.check(job, by_ticket[&job.ticket])).sum();
    sum / jobs.len() as u64
}

/// Returns a random passable cell away from the left and the lower edge.
fn rally_on(grid: &NavGrid, seed: u64) -> Cell {
    cells_around(grid, Cell::new(1, 1), 1, &mut Random(seed), |cell| cell.x > 40 && cell.y > 40)[0]
}

#[test]
fn paths_along_a_shared_field_are_close_to_the_cheapest() {
    let worlds = [1, 2, 3].into_iter().flat_map(|seed| {
        [
            patched(200, 25, WEIGHTED, seed),
            patched(160, 40, UNIFORM, 10 + seed),
            scattered(160, 6, 20 + seed),
        ]
    });
    let mut averages = Vec::new();
    for (world, number) in worlds.zip(0..) {
        let rally = rally_on(world.grid(), number);
        let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
        let jobs = push(&mut queue, Some(rally), &pairs(world.grid(), rally, 600, 30 + number));
        finish(&mut queue, &world, 5_000, &mut replies);
        averages.push(check(world.grid(), &jobs, &replies));
        let shared = count(&replies, FoundBy::Field);
        assert!(shared > 250, "world {number}: only {shared} of 600 share a field");
        let expansions: u64 = replies.iter().map(|reply| reply.expansions).sum();
        assert!(expansions > 600, "the work of the last legs is counted: {expansions}");
    }
    let average = averages.iter().sum::<u64>() / averages.len() as u64;
    assert!((100_000..=102_000).contains(&average), "{averages:?}");
}

#[test]
fn sharing_takes_less_work_than_single_searches() {
    let world = patched(200, 25, WEIGHTED, 4);
    let rally = rally_on(world.grid(), 4);
    // Far from the rally, as jobs near it are not shared. No two goals are equal, so that there is no other
    // field to share.
    let far = |cell: Cell| cell.x.abs_diff(rally.x) > 60;
    let starts = cells_around(world.grid(), rally, 400, &mut Random(5), far);
    let region = world.grid().region(UNIT, rally);
    let around = CellRect::new(rally.offset(-12, -12), 25, 25);
    let goals = around.cells().filter(|&cell| world.grid().region(UNIT, cell) == region);
    let pairs: Vec<(Cell, Cell)> = starts.into_iter().zip(goals).collect();
    assert!(pairs.len() > 200, "there is room around the rally");
    let mut ticks = [0, 0];
    for (rally, ticks) in [Some(rally), None].into_iter().zip(&mut ticks) {
        let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
        push(&mut queue, rally, &pairs);
        finish(&mut queue, &world, 5_000, &mut replies);
        assert_eq!(replies.len(), pairs.len());
        *ticks = queue.tick();
    }
    assert!(ticks[0] < ticks[1], "{ticks:?} ticks, shared and single");
}

#[test]
fn paths_do_not_depend_on_threads_and_costs_do_not_depend_on_the_budget() {
    let world = patched(160, 25, WEIGHTED, 5);
    let rally = rally_on(world.grid(), 5);
    let pairs = pairs(world.grid(), rally, 500, 6);
    let play = |threads: usize, budget: u32| {
        let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
        push(&mut queue, Some(rally), &pairs);
        while !queue.is_empty() {
            step_on(&Threads(threads), &mut queue, &world, budget, &mut replies);
            assert!(queue.tick() < 10_000, "{} jobs are never answered", queue.waiting());
        }
        replies
    };
    let mut costs = Vec::new();
    for budget in [300, 5_000, 100_000] {
        let single = play(1, budget);
        assert!(count(&single, FoundBy::Field) > 200, "they share a field");
        for threads in [2, 8] {
            assert!(single == play(threads, budget), "{threads} threads, budget {budget}");
        }
        let cost = |reply: &Reply| (reply.ticket, reply.path().cost());
        costs.push(single.iter().map(cost).collect::<BTreeMap<Ticket, PathCost>>());
    }
    assert_eq!(costs[0], costs[1], "under 300 and 5,000");
    assert_eq!(costs[0], costs[2], "under 300 and 100,000");
}

#[test]
fn a_rally_that_is_the_goal_changes_nothing() {
    let world = patched(200, 25, WEIGHTED, 6);
    let goal = rally_on(world.grid(), 6);
    let starts = cells_around(world.grid(), goal, 600, &mut Random(7), |_| true);
    let pairs: Vec<(Cell, Cell)> = starts.into_iter().map(|start| (start, goal)).collect();
    let play = |rally: Option<Cell>| {
        let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
        push(&mut queue, rally, &pairs);
        finish(&mut queue, &world, 5_000, &mut replies);
        replies
    };
    let replies = play(Some(goal));
    assert!(count(&replies, FoundBy::Field) > 500, "they share a field");
    assert!(replies == play(None));
}

#[test]
fn jobs_to_the_rally_share_the_field_with_jobs_around_it() {
    let world = patched(200, 25, WEIGHTED, 7);
    let rally = rally_on(world.grid(), 7);
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    let around = pairs(world.grid(), rally, 400, 8);
    let mut jobs = push(&mut queue, Some(rally), &around[..200]);
    let to_rally: Vec<(Cell, Cell)> = around.iter().map(|&(start, _)| (start, rally)).collect();
    jobs.extend(push(&mut queue, None, &to_rally));
    jobs.extend(push(&mut queue, Some(rally), &around[200..]));
    step(&mut queue, &world, 900, &mut replies);
    assert_eq!((queue.waiting(), queue.in_flight()), (0, 1), "all share one field");
    finish(&mut queue, &world, 5_000, &mut replies);
    check(world.grid(), &jobs, &replies);
    assert!(count(&replies, FoundBy::Field) > 550);
}

#[test]
fn late_jobs_use_a_field_that_others_have_started() {
    let world = patched(200, 25, WEIGHTED, 8);
    let rally = rally_on(world.grid(), 8);
    let pairs = pairs(world.grid(), rally, 640, 9);
    let to_rally: Vec<(Cell, Cell)> =
        pairs[40..].iter().map(|&(start, _)| (start, rally)).collect();
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    let mut jobs = push(&mut queue, None, &to_rally);
    step(&mut queue, &world, 700, &mut replies);
    assert_eq!((queue.waiting(), queue.in_flight()), (0, 1), "all share one field");
    let late = push(&mut queue, Some(rally), &pairs[..40]);
    finish(&mut queue, &world, 5_000, &mut replies);
    let shared = replies.iter().filter(|reply| {
        reply.found_by == FoundBy::Field && late.iter().any(|job| job.ticket == reply.ticket)
    });
    assert!(shared.count() > 10, "some of them share it");
    jobs.extend(late);
    check(world.grid(), &jobs, &replies);
}

#[test]
fn a_few_jobs_are_answered_by_single_searches() {
    let world = patched(200, 25, WEIGHTED, 9);
    let rally = rally_on(world.grid(), 9);
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    let jobs = push(&mut queue, Some(rally), &pairs(world.grid(), rally, 5, 10));
    finish(&mut queue, &world, 5_000, &mut replies);
    assert_eq!(count(&replies, FoundBy::Field), 0);
    assert_eq!(check(world.grid(), &jobs, &replies), 100_000, "exactly");
}

#[test]
fn an_unreachable_rally_has_no_effect() {
    let mut world = patched(200, 10, WEIGHTED, 10);
    world.block(CellRect::new(Cell::new(150, 0), 1, 200));
    let home = Cell::new(1, 1);
    let far = first_passable(world.grid(), |cell| cell.x > 150);
    // Off the grid, on a wall, and beyond it.
    for rally in [Cell::new(-7, 3), Cell::new(150, 20), far] {
        let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
        let jobs = push(&mut queue, Some(rally), &pairs(world.grid(), home, 300, 11));
        finish(&mut queue, &world, 20_000, &mut replies);
        assert_eq!(count(&replies, FoundBy::Field), 0, "rally {rally}");
        assert_eq!(check(world.grid(), &jobs, &replies), 100_000, "rally {rally}");
    }
}

/// Returns the first passable cell for which `near` holds.
fn first_passable(grid: &NavGrid, near: impl Fn(Cell) -> bool) -> Cell {
    let mut cells = grid.rect().cells();
    cells.find(|&cell| near(cell) && grid.cost(UNIT, cell) > 0).unwrap()
}

#[test]
fn jobs_without_a_path_get_the_reason_and_the_others_share_the_field() {
    let mut world = patched(200, 25, WEIGHTED, 11);
    world.block(CellRect::new(Cell::new(190, 0), 1, 200));
    let rally = Cell::new(2, 60);
    let beyond = first_passable(world.grid(), |cell| cell.x > 190);
    let mut pairs = pairs(world.grid(), rally, 600, 12);
    let bad = [Cell::new(-1, 60), Cell::new(190, 60), beyond];
    for (number, pair) in pairs.iter_mut().enumerate().filter(|(number, _)| number % 20 == 3) {
        pair.1 = bad[number % 3];
    }
    pairs[7].0 = Cell::new(5, -1);
    pairs[8].0 = beyond;
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    let jobs = push(&mut queue, Some(rally), &pairs);
    finish(&mut queue, &world, 5_000, &mut replies);
    assert!(count(&replies, FoundBy::Field) > 250, "the others share a field");
    let mut failed = 0;
    for job in &jobs {
        let reply = replies.iter().find(|reply| reply.ticket == job.ticket).unwrap();
        if let Err(reason) = reply.result {
            let single = world.grid().find_path(UNIT, job.start, job.goal);
            assert_eq!(Err(reason), single, "{job:?}");
            assert_eq!(reply.found_by, FoundBy::Check, "{job:?}");
            failed += 1;
        }
    }
    assert_eq!((failed, replies.len()), (32, 600));
}

#[test]
fn no_path_reverses_where_its_parts_join() {
    // A ring: from its corner, the goal is 30 steps to the right, the rally 30 steps up and to the right,
    // with 14 steps between them. Where 28 steps are left to the rally, the path to the goal leads back.
    let terrain = (0..31 * 8).map(|cell| {
        let (x, y) = (cell % 31, cell / 31);
        u8::from(x == 0 || x == 30 || y == 0 || y == 7)
    });
    let world = World::of(NavGrid::from_terrain(31, 8, terrain.collect()).unwrap());
    let (corner, rally) = (Cell::new(0, 0), Cell::new(23, 7));
    let (back, ahead) = (Cell::new(30, 0), Cell::new(22, 7));
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    let mut jobs = push(&mut queue, Some(rally), &[(corner, back); 100]);
    jobs.extend(push(&mut queue, Some(rally), &[(corner, ahead); 100]));
    finish(&mut queue, &world, 5_000, &mut replies);
    check(world.grid(), &jobs, &replies);
    for reply in &replies {
        let is_back = reply.path().end() == back;
        assert_eq!(reply.found_by == FoundBy::Field, !is_back, "{:?}", reply.found_by);
        let steps = if is_back { 30 } else { 29 };
        assert_eq!(reply.path().cost(), PathCost(steps * PathCost::PLAIN_STEP.0));
        assert_eq!(reply.path().legs().len(), if is_back { 1 } else { 2 });
    }
}

#[test]
fn a_last_leg_that_takes_a_long_search_is_found_by_a_single_search() {
    // A room beside the rally, open on the far side only. Searches do not jump here.
    let profile = Profile::default().corners(CornerRule::NoSqueeze);
    let grid = NavGrid::new(2_050, 200, TerrainId::GROUND).unwrap().with_profiles(vec![profile]);
    let mut world = World::of(grid);
    world.block(CellRect::new(Cell::new(290, 20), 1, 161));
    world.block(CellRect::new(Cell::new(210, 180), 80, 1));
    world.block(CellRect::new(Cell::new(210, 20), 80, 1));
    let (rally, room) = (Cell::new(300, 100), Cell::new(280, 100));
    let beside = [Cell::new(303, 104), Cell::new(306, 97), Cell::new(310, 101)];
    let mut random = Random(13);
    let starts = cells_around(world.grid(), rally, 103, &mut random, |cell| cell.x > 1_980);
    let goals = beside.into_iter().cycle().take(100).chain([room; 3]);
    let pairs: Vec<(Cell, Cell)> = starts.into_iter().zip(goals).collect();
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    let jobs = push(&mut queue, Some(rally), &pairs);
    finish(&mut queue, &world, 50_000, &mut replies);
    check(world.grid(), &jobs, &replies);
    for reply in &replies {
        let is_single = reply.path().end() == room;
        let found_by = if is_single { FoundBy::Search(Algorithm::AStar) } else { FoundBy::Field };
        assert_eq!(reply.found_by, found_by, "to {}", reply.path().end());
    }
}

#[test]
fn a_job_that_may_end_on_several_cells_is_not_shared() {
    let world = patched(200, 25, WEIGHTED, 14);
    let rally = rally_on(world.grid(), 14);
    let pairs = pairs(world.grid(), rally, 600, 15);
    let goals: Arc<[Goal]> = Arc::from([Goal::from(rally)]);
    let beside = |goal| Goal::beside(CellRect::single(goal));
    for (is_beside, goals) in [(true, None), (false, Some(goals))] {
        let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
        for &(start, goal) in &pairs {
            let query =
                PathQuery::new(start, if is_beside { beside(goal) } else { Goal::from(goal) });
            let (rally, goals) = (Some(rally), goals.clone());
            queue.push_job(GRID, query, JobOptions { rally, goals, ..JobOptions::default() });
        }
        finish(&mut queue, &world, 50_000, &mut replies);
        assert_eq!(replies.len(), 600, "one answer each");
        assert_eq!(count(&replies, FoundBy::Field), 0, "beside: {is_beside}");
    }
}

/// Returns a queue in which some jobs of a crowd are answered along the shared field, and others not yet.
fn sharing(world: &World, rally: Cell, budget: u32) -> (SearchQueue, Vec<RallyJob>, Vec<Reply>) {
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    let jobs = push(&mut queue, Some(rally), &pairs(world.grid(), rally, 600, 16));
    while count(&replies, FoundBy::Field) == 0 {
        step(&mut queue, world, budget, &mut replies);
        assert!(queue.tick() < 10_000 && !queue.is_empty(), "they share no field");
    }
    assert!(replies.len() < 500, "most are not answered");
    (queue, jobs, replies)
}

#[test]
fn a_crowd_canceled_while_sharing_gets_no_answers() {
    let world = patched(200, 25, WEIGHTED, 17);
    let rally = rally_on(world.grid(), 17);
    for budget in [200, 333, 450, 700] {
        let (mut queue, jobs, mut replies) = sharing(&world, rally, budget);
        let answered = replies.len();
        for job in &jobs {
            let is_answered = replies.iter().any(|reply| reply.ticket == job.ticket);
            assert_eq!(queue.cancel(job.ticket), !is_answered, "{job:?}");
            assert!(!queue.cancel(job.ticket), "{job:?} was canceled");
        }
        assert!(queue.is_empty(), "nothing is left to do");
        step(&mut queue, &world, 50_000, &mut replies);
        assert_eq!((replies.len(), queue.in_flight()), (answered, 0));
        // The queue continues as before.
        let late = push(&mut queue, Some(rally), &pairs(world.grid(), rally, 600, 18));
        replies.clear();
        finish(&mut queue, &world, 5_000, &mut replies);
        check(world.grid(), &late, &replies);
    }
}

#[test]
fn jobs_canceled_before_the_field_is_ready_get_no_answer_and_the_others_do() {
    let world = patched(200, 25, WEIGHTED, 18);
    let rally = rally_on(world.grid(), 18);
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    let jobs = push(&mut queue, Some(rally), &pairs(world.grid(), rally, 600, 19));
    step(&mut queue, &world, 700, &mut replies);
    assert_eq!((queue.waiting(), queue.in_flight()), (0, 1), "all share one field");
    let (gone, rest) = jobs.split_at(100);
    for job in gone {
        assert!(queue.cancel(job.ticket) && !queue.cancel(job.ticket));
    }
    finish(&mut queue, &world, 5_000, &mut replies);
    check(world.grid(), rest, &replies);
}

#[test]
fn an_edit_while_sharing_has_the_rest_answered_on_the_new_grid() {
    for (budget, is_sharing) in [(700, false), (333, true), (700, true)] {
        let mut world = patched(200, 25, WEIGHTED, 19);
        let rally = Cell::new(2, 60);
        let (mut queue, jobs, mut replies) = if is_sharing {
            sharing(&world, rally, budget)
        } else {
            let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
            let jobs = push(&mut queue, Some(rally), &pairs(world.grid(), rally, 600, 16));
            step(&mut queue, &world, budget, &mut replies);
            (queue, jobs, replies)
        };
        let before = World::of(world.grid().clone());
        let answered = replies.len();
        world.block(CellRect::new(Cell::new(100, 0), 6, 180));
        finish(&mut queue, &world, 20_000, &mut replies);
        assert!(queue.restarts() > 0, "some job was restarted");
        assert_eq!(replies.len(), 600, "one answer each");
        let mut oracles = [Oracle::new(before.grid()), Oracle::new(world.grid())];
        for (number, reply) in replies.iter().enumerate() {
            let job = jobs.iter().find(|job| job.ticket == reply.ticket).unwrap();
            oracles[usize::from(number >= answered)].check(job, reply);
        }
        let shared = count(&replies[answered..], FoundBy::Field);
        assert!(shared > 100, "{shared} share another field, budget {budget}");
    }
}

#[test]
fn every_crowd_keeps_no_more_memory_than_the_first() {
    let world = patched(160, 25, WEIGHTED, 20);
    let rally = rally_on(world.grid(), 20);
    let mut queue = SearchQueue::default();
    queue.settings.in_flight = 4;
    queue.reserve(64);
    // Kept by idle searches, by one more for last legs, and in pages for them.
    let most = 5 * ((192 + 640) << 10) + 8_192 * 25 * 8;
    for seed in 0..4 {
        let mut replies = Vec::new();
        push(&mut queue, Some(rally), &pairs(world.grid(), rally, 500, seed));
        assert!(queue.bytes() > 500 * 100);
        finish(&mut queue, &world, 5_000, &mut replies);
        assert!(count(&replies, FoundBy::Field) > 200, "they share a field");
        assert!(queue.bytes() <= most, "{} bytes are kept, {most} may be", queue.bytes());
    }
}
