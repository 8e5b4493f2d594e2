//! Jobs with goals of their own around one rally: their ways are found together and are good, or each
//! is found alone.

use std::{collections::BTreeMap, sync::Arc};

use bevy_tilepath::{
    nav::{
        goal::{Approach, Goal},
        queue::{FoundBy, JobOptions, SearchQueue, Ticket},
    },
    prelude::*,
};

use crate::common::{Random, dijkstra, is_legal_path, patched_terrain};
use crate::queue_common::{
    GRID, Reply, Threads, UNIT, World, best_of, cells_around, count, finish, step, step_on,
};

const MIXED: [u16; 4] = [16, 32, 48, 80];
const UNIFORM: [u16; 4] = [16; 4];

/// A square of patches of four grounds, some of a hundred of them walls. Columns at the left end are
/// plain ground.
fn patched(side: u32, walls: u32, costs: [u16; 4], seed: u64) -> World {
    let mut terrain = patched_terrain((side, side), side * side / 90, walls, &mut Random(seed));
    terrain.chunks_mut(side as usize).for_each(|row| row[..4].fill(1));
    world_of(side, terrain, costs)
}

/// A square of uniform ground with single impassable cells: one in so many.
fn strewn(side: u32, one_in: u32, seed: u64) -> World {
    let mut random = Random(seed);
    let cells = (0..side * side).map(|cell| {
        let is_edge = cell % side < 4;
        u8::from(is_edge || random.below(one_in) > 0)
    });
    let terrain = cells.collect();
    world_of(side, terrain, UNIFORM)
}

fn world_of(side: u32, terrain: Vec<u8>, costs: [u16; 4]) -> World {
    let profile = (1u8..5)
        .zip(costs)
        .fold(Profile::new(), |profile, (id, cost)| profile.with(TerrainId(id), cost));
    let grid = NavGrid::from_terrain(side, side, terrain).unwrap();
    World::of(grid.with_profiles(vec![profile]))
}

/// Who goes from where to where.
#[derive(Clone, Copy, Debug)]
struct Unit {
    ticket: Ticket,
    start: Cell,
    goal: Cell,
}

/// So many ways from anywhere to one of twelve goals within twelve cells of the rally.
fn ways(grid: &NavGrid, rally: Cell, count: usize, seed: u64) -> Vec<(Cell, Cell)> {
    let mut random = Random(seed);
    let is_near = |cell: Cell| cell.x.abs_diff(rally.x).max(cell.y.abs_diff(rally.y)) <= 12;
    let goals = cells_around(grid, rally, 12, &mut random, is_near);
    let starts = cells_around(grid, rally, count, &mut random, |_| true);
    starts.into_iter().zip(goals.into_iter().cycle()).collect()
}

fn push(queue: &mut SearchQueue, rally: Option<Cell>, ways: &[(Cell, Cell)]) -> Vec<Unit> {
    let push = |&(start, goal): &(Cell, Cell)| {
        let options = JobOptions { rally, ..JobOptions::default() };
        Unit { ticket: queue.push_job(GRID, PathQuery::new(start, goal), options), start, goal }
    };
    ways.iter().map(push).collect()
}

/// Costs of the cheapest ways to goals, as they are asked for.
struct Oracle<'a> {
    grid: &'a NavGrid,
    costs: BTreeMap<Cell, Vec<Option<u64>>>,
}

impl<'a> Oracle<'a> {
    fn new(grid: &'a NavGrid) -> Self {
        Self { grid, costs: BTreeMap::new() }
    }

    fn best(&mut self, unit: &Unit) -> Option<u64> {
        let grid = self.grid;
        let best = self.costs.entry(unit.goal).or_insert_with(|| dijkstra(grid, UNIT, unit.goal));
        best_of(grid, best, unit.start).map(|cost| cost.0)
    }

    /// Checks the answer to a unit; tells what its way costs, in hundred thousandths of the cheapest.
    fn check(&mut self, unit: &Unit, reply: &Reply) -> u64 {
        let Some(best) = self.best(unit) else {
            assert!(reply.result.is_err(), "{unit:?} has no way");
            return 100_000;
        };
        let path = reply.path();
        assert_eq!((path.start(), path.end()), (unit.start, unit.goal));
        assert_eq!(path.kind(), PathKind::Complete, "{unit:?}");
        assert!(is_legal_path(self.grid, UNIT, path), "{unit:?}");
        for pair in path.legs().windows(2) {
            assert_ne!(pair[0].direction, pair[1].direction.opposite(), "{unit:?} turns back");
            assert_ne!(pair[0].direction, pair[1].direction, "{unit:?}: one leg, not two");
        }
        let cost = path.cost().0;
        match reply.found_by {
            FoundBy::Field => {
                assert!(best <= cost && 100 * cost <= 115 * best, "{unit:?}: {cost} for {best}");
            }
            _ => assert_eq!(cost, best, "{unit:?}: alone it is found exactly"),
        }
        (100_000 * cost).checked_div(best).unwrap_or(100_000)
    }
}

/// Checks the answers to all units, one each; tells what they cost on average, in hundred thousandths of
/// the cheapest ways.
fn check(grid: &NavGrid, units: &[Unit], replies: &[Reply]) -> u64 {
    let mut oracle = Oracle::new(grid);
    let by_ticket: BTreeMap<Ticket, &Reply> =
        replies.iter().map(|reply| (reply.ticket, reply)).collect();
    assert_eq!((by_ticket.len(), replies.len()), (units.len(), units.len()), "one answer each");
    let sum: u64 = units.iter().map(|unit| oracle.check(unit, by_ticket[&unit.ticket])).sum();
    sum / units.len() as u64
}

/// A rally in the open, or where there is room at least.
fn rally_on(grid: &NavGrid, seed: u64) -> Cell {
    cells_around(grid, Cell::new(1, 1), 1, &mut Random(seed), |cell| cell.x > 40 && cell.y > 40)[0]
}

#[test]
fn ways_along_a_shared_field_are_good() {
    let worlds = [1, 2, 3].into_iter().flat_map(|seed| {
        [
            patched(200, 25, MIXED, seed),
            patched(160, 40, UNIFORM, 10 + seed),
            strewn(160, 6, 20 + seed),
        ]
    });
    let mut averages = Vec::new();
    for (world, number) in worlds.zip(0..) {
        let rally = rally_on(world.grid(), number);
        let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
        let units = push(&mut queue, Some(rally), &ways(world.grid(), rally, 600, 30 + number));
        finish(&mut queue, &world, 5_000, &mut replies);
        averages.push(check(world.grid(), &units, &replies));
        let shared = count(&replies, FoundBy::Field);
        assert!(shared > 250, "world {number}: only {shared} of 600 share a field");
        let expansions: u64 = replies.iter().map(|reply| reply.expansions).sum();
        assert!(expansions > 600, "what the last parts take is counted: {expansions}");
    }
    let average = averages.iter().sum::<u64>() / averages.len() as u64;
    assert!((100_000..=102_000).contains(&average), "{averages:?}");
}

#[test]
fn sharing_takes_less_than_searching_for_each() {
    let world = patched(200, 25, MIXED, 4);
    let rally = rally_on(world.grid(), 4);
    // Far from the rally: those that are near go alone anyway. No two goals are the same, so that there
    // is no other field to share.
    let far = |cell: Cell| cell.x.abs_diff(rally.x) > 60;
    let starts = cells_around(world.grid(), rally, 400, &mut Random(5), far);
    let island = world.grid().region(UNIT, rally);
    let around = CellRect::new(rally.offset(-12, -12), 25, 25);
    let goals = around.cells().filter(|&cell| world.grid().region(UNIT, cell) == island);
    let ways: Vec<(Cell, Cell)> = starts.into_iter().zip(goals).collect();
    assert!(ways.len() > 200, "there is room around the rally");
    let mut ticks = [0, 0];
    for (rally, ticks) in [Some(rally), None].into_iter().zip(&mut ticks) {
        let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
        push(&mut queue, rally, &ways);
        finish(&mut queue, &world, 5_000, &mut replies);
        assert_eq!(replies.len(), ways.len());
        *ticks = queue.tick();
    }
    assert!(ticks[0] < ticks[1], "{ticks:?} ticks, together and alone");
}

#[test]
fn the_ways_are_the_same_on_one_two_and_eight_threads_and_cost_the_same_under_any_budget() {
    let world = patched(160, 25, MIXED, 5);
    let rally = rally_on(world.grid(), 5);
    let ways = ways(world.grid(), rally, 500, 6);
    let play = |threads: usize, budget: u32| {
        let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
        push(&mut queue, Some(rally), &ways);
        while !queue.is_empty() {
            step_on(&Threads(threads), &mut queue, &world, budget, &mut replies);
            assert!(queue.tick() < 10_000, "{} jobs are never answered", queue.waiting());
        }
        replies
    };
    let mut costs = Vec::new();
    for budget in [300, 5_000, 100_000] {
        let alone = play(1, budget);
        assert!(count(&alone, FoundBy::Field) > 200, "they share a field");
        for threads in [2, 8] {
            assert!(alone == play(threads, budget), "{threads} threads, budget {budget}");
        }
        let cost = |reply: &Reply| (reply.ticket, reply.path().cost());
        costs.push(alone.iter().map(cost).collect::<BTreeMap<Ticket, PathCost>>());
    }
    assert_eq!(costs[0], costs[1], "under 300 and 5,000");
    assert_eq!(costs[0], costs[2], "under 300 and 100,000");
}

#[test]
fn a_rally_that_is_the_goal_changes_nothing() {
    let world = patched(200, 25, MIXED, 6);
    let goal = rally_on(world.grid(), 6);
    let starts = cells_around(world.grid(), goal, 600, &mut Random(7), |_| true);
    let ways: Vec<(Cell, Cell)> = starts.into_iter().map(|start| (start, goal)).collect();
    let play = |rally: Option<Cell>| {
        let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
        push(&mut queue, rally, &ways);
        finish(&mut queue, &world, 5_000, &mut replies);
        replies
    };
    let replies = play(Some(goal));
    assert!(count(&replies, FoundBy::Field) > 500, "they share a field");
    assert!(replies == play(None));
}

#[test]
fn jobs_to_the_rally_itself_share_the_field_with_those_around_it() {
    let world = patched(200, 25, MIXED, 7);
    let rally = rally_on(world.grid(), 7);
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    let around = ways(world.grid(), rally, 400, 8);
    let mut units = push(&mut queue, Some(rally), &around[..200]);
    let straight: Vec<(Cell, Cell)> = around.iter().map(|&(start, _)| (start, rally)).collect();
    units.extend(push(&mut queue, None, &straight));
    units.extend(push(&mut queue, Some(rally), &around[200..]));
    step(&mut queue, &world, 900, &mut replies);
    assert_eq!((queue.waiting(), queue.in_flight()), (0, 1), "all share one field");
    finish(&mut queue, &world, 5_000, &mut replies);
    check(world.grid(), &units, &replies);
    assert!(count(&replies, FoundBy::Field) > 550);
}

#[test]
fn those_who_come_late_are_led_by_a_field_that_others_have_begun() {
    let world = patched(200, 25, MIXED, 8);
    let rally = rally_on(world.grid(), 8);
    let ways = ways(world.grid(), rally, 640, 9);
    let straight: Vec<(Cell, Cell)> = ways[40..].iter().map(|&(start, _)| (start, rally)).collect();
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    let mut units = push(&mut queue, None, &straight);
    step(&mut queue, &world, 700, &mut replies);
    assert_eq!((queue.waiting(), queue.in_flight()), (0, 1), "all share one field");
    let late = push(&mut queue, Some(rally), &ways[..40]);
    finish(&mut queue, &world, 5_000, &mut replies);
    let led = replies.iter().filter(|reply| {
        reply.found_by == FoundBy::Field && late.iter().any(|unit| unit.ticket == reply.ticket)
    });
    assert!(led.count() > 10, "some of them share it");
    units.extend(late);
    check(world.grid(), &units, &replies);
}

#[test]
fn a_handful_is_answered_one_by_one() {
    let world = patched(200, 25, MIXED, 9);
    let rally = rally_on(world.grid(), 9);
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    let units = push(&mut queue, Some(rally), &ways(world.grid(), rally, 5, 10));
    finish(&mut queue, &world, 5_000, &mut replies);
    assert_eq!(count(&replies, FoundBy::Field), 0);
    assert_eq!(check(world.grid(), &units, &replies), 100_000, "exactly");
}

#[test]
fn a_rally_that_leads_nowhere_does_no_harm() {
    let mut world = patched(200, 10, MIXED, 10);
    world.block(CellRect::new(Cell::new(150, 0), 1, 200));
    let home = Cell::new(1, 1);
    let far = cells_around_anywhere(world.grid(), |cell| cell.x > 150);
    // Off the grid, on a wall, and beyond it.
    for rally in [Cell::new(-7, 3), Cell::new(150, 20), far] {
        let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
        let units = push(&mut queue, Some(rally), &ways(world.grid(), home, 300, 11));
        finish(&mut queue, &world, 20_000, &mut replies);
        assert_eq!(count(&replies, FoundBy::Field), 0, "rally {rally}");
        assert_eq!(check(world.grid(), &units, &replies), 100_000, "rally {rally}");
    }
}

/// A passable cell somewhere.
fn cells_around_anywhere(grid: &NavGrid, near: impl Fn(Cell) -> bool) -> Cell {
    let mut cells = grid.rect().cells();
    cells.find(|&cell| near(cell) && grid.cost(UNIT, cell) > 0).unwrap()
}

#[test]
fn who_has_no_way_to_his_own_goal_is_told_the_reason_and_the_others_are_led() {
    let mut world = patched(200, 25, MIXED, 11);
    world.block(CellRect::new(Cell::new(190, 0), 1, 200));
    let rally = Cell::new(2, 60);
    let beyond = cells_around_anywhere(world.grid(), |cell| cell.x > 190);
    let mut ways = ways(world.grid(), rally, 600, 12);
    let bad = [Cell::new(-1, 60), Cell::new(190, 60), beyond];
    for (number, way) in ways.iter_mut().enumerate().filter(|(number, _)| number % 20 == 3) {
        way.1 = bad[number % 3];
    }
    ways[7].0 = Cell::new(5, -1);
    ways[8].0 = beyond;
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    let units = push(&mut queue, Some(rally), &ways);
    finish(&mut queue, &world, 5_000, &mut replies);
    assert!(count(&replies, FoundBy::Field) > 250, "the others share a field");
    let mut failed = 0;
    for unit in &units {
        let reply = replies.iter().find(|reply| reply.ticket == unit.ticket).unwrap();
        if let Err(reason) = reply.result {
            let alone = world.grid().find_path(UNIT, unit.start, unit.goal);
            assert_eq!(Err(reason), alone, "{unit:?}");
            assert_eq!(reply.found_by, FoundBy::Check, "{unit:?}");
            failed += 1;
        }
    }
    assert_eq!((failed, replies.len()), (32, 600));
}

#[test]
fn nobody_turns_back_where_the_parts_join() {
    // A way around: from its corner, the goal is 30 steps to the right, the rally 30 up and to the
    // right, and 14 lie between both. Where 28 are left to the rally, the way to the goal leads back.
    let terrain = (0..31 * 8).map(|cell| {
        let (x, y) = (cell % 31, cell / 31);
        u8::from(x == 0 || x == 30 || y == 0 || y == 7)
    });
    let world = World::of(NavGrid::from_terrain(31, 8, terrain.collect()).unwrap());
    let (corner, rally) = (Cell::new(0, 0), Cell::new(23, 7));
    let (back, ahead) = (Cell::new(30, 0), Cell::new(22, 7));
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    let mut units = push(&mut queue, Some(rally), &[(corner, back); 100]);
    units.extend(push(&mut queue, Some(rally), &[(corner, ahead); 100]));
    finish(&mut queue, &world, 5_000, &mut replies);
    check(world.grid(), &units, &replies);
    for reply in &replies {
        let is_back = reply.path().end() == back;
        assert_eq!(reply.found_by == FoundBy::Field, !is_back, "{:?}", reply.found_by);
        let steps = if is_back { 30 } else { 29 };
        assert_eq!(reply.path().cost(), PathCost(steps * PathCost::PLAIN_STEP.0));
        assert_eq!(reply.path().legs().len(), if is_back { 1 } else { 2 });
    }
}

#[test]
fn a_last_part_that_takes_a_long_search_is_left_to_a_search_alone() {
    // Beside the rally a room, open on the far side only. No jumps are made here.
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
    let ways: Vec<(Cell, Cell)> = starts.into_iter().zip(goals).collect();
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    let units = push(&mut queue, Some(rally), &ways);
    finish(&mut queue, &world, 50_000, &mut replies);
    check(world.grid(), &units, &replies);
    for reply in &replies {
        let is_alone = reply.path().end() == room;
        let found_by = if is_alone { FoundBy::Search(Algorithm::AStar) } else { FoundBy::Field };
        assert_eq!(reply.found_by, found_by, "to {}", reply.path().end());
    }
}

#[test]
fn a_job_that_may_end_on_several_cells_is_not_led() {
    let world = patched(200, 25, MIXED, 14);
    let rally = rally_on(world.grid(), 14);
    let ways = ways(world.grid(), rally, 600, 15);
    let goals: Arc<[Goal]> = Arc::from([Goal::from(rally)]);
    let beside = Approach::Beside { width: 1, height: 1 };
    for (approach, goals) in [(beside, None), (Approach::Onto, Some(goals))] {
        let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
        for &(start, goal) in &ways {
            let query = PathQuery::new(start, goal).approach(approach);
            let (rally, goals) = (Some(rally), goals.clone());
            queue.push_job(GRID, query, JobOptions { rally, goals, ..JobOptions::default() });
        }
        finish(&mut queue, &world, 50_000, &mut replies);
        assert_eq!(replies.len(), 600, "one answer each");
        assert_eq!(count(&replies, FoundBy::Field), 0, "{approach:?}");
    }
}

/// A queue in the middle of leading a crowd: some are answered along the field, others are not.
fn leading(world: &World, rally: Cell, budget: u32) -> (SearchQueue, Vec<Unit>, Vec<Reply>) {
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    let units = push(&mut queue, Some(rally), &ways(world.grid(), rally, 600, 16));
    while count(&replies, FoundBy::Field) == 0 {
        step(&mut queue, world, budget, &mut replies);
        assert!(queue.tick() < 10_000 && !queue.is_empty(), "they share no field");
    }
    assert!(replies.len() < 500, "most are not answered");
    (queue, units, replies)
}

#[test]
fn a_crowd_that_is_canceled_while_it_is_led_gets_no_answers() {
    let world = patched(200, 25, MIXED, 17);
    let rally = rally_on(world.grid(), 17);
    for budget in [200, 333, 450, 700] {
        let (mut queue, units, mut replies) = leading(&world, rally, budget);
        let answered = replies.len();
        for unit in &units {
            let is_answered = replies.iter().any(|reply| reply.ticket == unit.ticket);
            assert_eq!(queue.cancel(unit.ticket), !is_answered, "{unit:?}");
            assert!(!queue.cancel(unit.ticket), "{unit:?} was taken back");
        }
        assert!(queue.is_empty(), "nothing is left to do");
        step(&mut queue, &world, 50_000, &mut replies);
        assert_eq!((replies.len(), queue.in_flight()), (answered, 0));
        // It goes on as ever.
        let late = push(&mut queue, Some(rally), &ways(world.grid(), rally, 600, 18));
        replies.clear();
        finish(&mut queue, &world, 5_000, &mut replies);
        check(world.grid(), &late, &replies);
    }
}

#[test]
fn one_that_is_canceled_before_the_field_is_there_gets_no_answer_and_the_others_do() {
    let world = patched(200, 25, MIXED, 18);
    let rally = rally_on(world.grid(), 18);
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    let units = push(&mut queue, Some(rally), &ways(world.grid(), rally, 600, 19));
    step(&mut queue, &world, 700, &mut replies);
    assert_eq!((queue.waiting(), queue.in_flight()), (0, 1), "all share one field");
    let (gone, rest) = units.split_at(100);
    for unit in gone {
        assert!(queue.cancel(unit.ticket) && !queue.cancel(unit.ticket));
    }
    finish(&mut queue, &world, 5_000, &mut replies);
    check(world.grid(), rest, &replies);
}

#[test]
fn an_edit_while_a_crowd_is_led_has_the_rest_answered_on_the_new_grid() {
    for (budget, is_begun) in [(700, false), (333, true), (700, true)] {
        let mut world = patched(200, 25, MIXED, 19);
        let rally = Cell::new(2, 60);
        let (mut queue, units, mut replies) = if is_begun {
            leading(&world, rally, budget)
        } else {
            let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
            let units = push(&mut queue, Some(rally), &ways(world.grid(), rally, 600, 16));
            step(&mut queue, &world, budget, &mut replies);
            (queue, units, replies)
        };
        let before = World::of(world.grid().clone());
        let answered = replies.len();
        world.block(CellRect::new(Cell::new(100, 0), 6, 180));
        finish(&mut queue, &world, 20_000, &mut replies);
        assert!(queue.restarts() > 0, "somebody was thrown back");
        assert_eq!(replies.len(), 600, "one answer each");
        let mut oracles = [Oracle::new(before.grid()), Oracle::new(world.grid())];
        for (number, reply) in replies.iter().enumerate() {
            let unit = units.iter().find(|unit| unit.ticket == reply.ticket).unwrap();
            oracles[usize::from(number >= answered)].check(unit, reply);
        }
        let shared = count(&replies[answered..], FoundBy::Field);
        assert!(shared > 100, "{shared} share another field, budget {budget}");
    }
}

#[test]
fn crowds_leave_as_much_memory_as_the_first_one_did() {
    let world = patched(160, 25, MIXED, 20);
    let rally = rally_on(world.grid(), 20);
    let mut queue = SearchQueue::default();
    queue.settings.in_flight = 4;
    queue.reserve(64);
    // What searches at rest and one more for last parts keep, and the pages that wait for them.
    let most = 5 * ((192 + 640) << 10) + 8_192 * 25 * 8;
    for seed in 0..4 {
        let mut replies = Vec::new();
        push(&mut queue, Some(rally), &ways(world.grid(), rally, 500, seed));
        assert!(queue.bytes() > 500 * 100);
        finish(&mut queue, &world, 5_000, &mut replies);
        assert!(count(&replies, FoundBy::Field) > 200, "they share a field");
        assert!(queue.bytes() <= most, "{} bytes stay, {most} may", queue.bytes());
    }
}
