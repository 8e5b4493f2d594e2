//! Many goals with many jobs each: every goal gets a field, two at a time. The others wait for theirs.

use std::collections::BTreeMap;

use bevy_tilepath::{
    nav::queue::{FoundBy, JobOptions, SearchQueue, Ticket},
    prelude::*,
};

use crate::common::{Random, dijkstra, is_legal_path};
use crate::queue_common::{
    GRID, Reply, Threads, UNIT, World, any_cell, cells_around, cost_at, count, finish, step,
    step_on,
};

/// Returns a map with a wall of one cell in every `one_in` cells.
fn scattered((width, height): (u32, u32), one_in: u32, seed: u64) -> World {
    let mut random = Random(seed);
    let terrain = (0..width * height).map(|_| u8::from(random.below(one_in) > 0)).collect();
    World::of(NavGrid::from_terrain(width, height, terrain).unwrap())
}

/// The goal of each job.
type Jobs = BTreeMap<Ticket, (Cell, Cell)>;

/// Pushes `count` jobs to each goal, in turn.
fn push(queue: &mut SearchQueue, world: &World, goals: &[Cell], count: usize, seed: u64) -> Jobs {
    push_with(Algorithm::Auto, queue, world, goals, (count, seed))
}

fn push_with(
    algorithm: Algorithm,
    queue: &mut SearchQueue,
    world: &World,
    goals: &[Cell],
    (count, seed): (usize, u64),
) -> Jobs {
    let mut random = Random(seed);
    let starts = cells_around(world.grid(), goals[0], count * goals.len(), &mut random, |_| true);
    let pairs = starts.into_iter().zip(goals.iter().copied().cycle());
    pairs
        .map(|(start, goal)| {
            let query = PathQuery::new(start, goal).algorithm(algorithm);
            (queue.push_job(GRID, query, JobOptions::default()), (start, goal))
        })
        .collect()
}

fn goals_on(world: &World, count: usize) -> Vec<Cell> {
    let grid = world.grid();
    let middle = grid.rect().cells().find(|&cell| grid.cost(UNIT, cell) > 0 && cell.y > 50);
    cells_around(grid, middle.unwrap(), count, &mut Random(77), |_| true)
}

/// Checks that the answers are those of Dijkstra's algorithm.
fn check(world: &World, jobs: &Jobs, replies: &[Reply]) {
    let mut best: BTreeMap<Cell, Vec<Option<u64>>> = BTreeMap::new();
    for reply in replies {
        let (start, goal) = jobs[&reply.ticket];
        let best = best.entry(goal).or_insert_with(|| dijkstra(world.grid(), UNIT, goal));
        let cost = reply.result.as_ref().ok().map(Path::cost);
        assert_eq!(cost, cost_at(world.grid(), best, start), "{start} to {goal}");
        if let Ok(path) = &reply.result {
            assert_eq!((path.start(), path.end()), (start, goal));
            assert!(is_legal_path(world.grid(), UNIT, path));
        }
    }
}

#[test]
fn each_of_many_goals_gets_a_field() {
    let world = scattered((200, 200), 6, 1);
    let goals = goals_on(&world, 12);
    let play = |threads: usize, algorithm: Algorithm| {
        let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
        let jobs = push_with(algorithm, &mut queue, &world, &goals, (80, 2));
        while !queue.is_empty() {
            step_on(&Threads(threads), &mut queue, &world, 4_000, &mut replies);
        }
        (jobs, replies, queue.tick())
    };
    let (jobs, replies, ticks) = play(1, Algorithm::Auto);
    assert_eq!(replies.len(), 12 * 80, "one answer each");
    check(&world, &jobs, &replies);
    let shared = count(&replies, FoundBy::Field);
    assert!(shared > 850, "{shared} of 960 share a field");
    let (_, _, single) = play(1, Algorithm::Exact);
    assert!(3 * ticks < single, "{ticks} ticks against {single} with a search for each");
    assert!(play(3, Algorithm::Auto) == (jobs, replies, ticks), "on three threads");
}

#[test]
fn groups_that_wait_for_a_field_come_by_rank() {
    let world = scattered((200, 200), 6, 3);
    let goals = goals_on(&world, 8);
    let earlier = [false, true].map(|is_urgent| {
        let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
        let mut jobs = push(&mut queue, &world, &goals, 80, 4);
        step(&mut queue, &world, 6_000, &mut replies);
        assert!(queue.waiting() > 300, "{} jobs wait for a field", queue.waiting());
        if is_urgent {
            // One more job to the last goal.
            let query = PathQuery::new(jobs[jobs.keys().next().unwrap()].0, goals[7]);
            let options = JobOptions { priority: Priority(9), ..JobOptions::default() };
            let ticket = queue.push_job(GRID, query, options);
            jobs.insert(ticket, (query.start, goals[7]));
        }
        assert_eq!(queue.longest_wait(), 1);
        finish(&mut queue, &world, 6_000, &mut replies);
        check(&world, &jobs, &replies);
        let last = |goal: Cell| {
            let to_goal = replies.iter().filter(|reply| jobs[&reply.ticket].1 == goal);
            to_goal.map(|reply| reply.tick).max().unwrap()
        };
        goals[..7].iter().filter(|&&goal| last(goal) < last(goals[7])).count()
    });
    // Two fields were in flight when the urgent job came.
    assert!(earlier[0] > 5 && earlier[1] <= 3, "{earlier:?} groups come before the last one");
}

#[test]
fn jobs_that_wait_for_a_field_can_be_canceled() {
    let world = scattered((200, 200), 6, 5);
    let goals = goals_on(&world, 8);
    let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
    let jobs = push(&mut queue, &world, &goals, 80, 6);
    step(&mut queue, &world, 6_000, &mut replies);
    let answered: Vec<Ticket> = replies.iter().map(|reply| reply.ticket).collect();
    // All of two groups, and every third job of the others.
    let is_canceled = |(number, (ticket, (_, goal))): (usize, (&Ticket, &(Cell, Cell)))| {
        let is_chosen = goals[5..7].contains(goal) || number % 3 == 0;
        (is_chosen && !answered.contains(ticket)).then_some(*ticket)
    };
    let canceled: Vec<Ticket> = jobs.iter().enumerate().filter_map(is_canceled).collect();
    for &ticket in &canceled {
        assert!(queue.cancel(ticket) && !queue.cancel(ticket));
    }
    finish(&mut queue, &world, 6_000, &mut replies);
    assert_eq!(replies.len() + canceled.len(), jobs.len());
    assert!(replies.iter().all(|reply| !canceled.contains(&reply.ticket)));
    check(&world, &jobs, &replies);
    assert_eq!((queue.waiting(), queue.in_flight()), (0, 0));
    assert!(queue.bytes() < 4 * 200 * 200, "the memory of the fields is released");
}

#[test]
fn what_is_edited_before_a_field_starts_counts() {
    for edit in 0..3 {
        let mut world = scattered((200, 200), 6, 7);
        let goals = goals_on(&world, 8);
        let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
        let jobs = push(&mut queue, &world, &goals, 80, 8);
        step(&mut queue, &world, 6_000, &mut replies);
        let answered = replies.len();
        match edit {
            0 => world.block(CellRect::new(Cell::new(90, 0), 4, 190)),
            1 => goals[2..].iter().for_each(|&goal| world.block(CellRect::single(goal))),
            _ => world.0.clear(),
        }
        finish(&mut queue, &world, 6_000, &mut replies);
        assert_eq!(replies.len(), jobs.len(), "one answer each");
        if edit < 2 {
            check(&world, &jobs, &replies[answered..]);
            continue;
        }
        let gone = |reply: &Reply| reply.result == Err(PathFailure::GridGone(GRID));
        assert!(replies[answered..].iter().all(gone));
    }
}

/// Jobs whose goals are so far away that each would be answered by the hierarchy start no field, but join one.
#[test]
fn distant_jobs_join_the_field_of_others() {
    let world = scattered((2_400, 40), 6, 9);
    let grid = world.grid();
    let goal = grid.rect().cells().find(|&cell| cell.x == 5 && grid.cost(UNIT, cell) > 0).unwrap();
    let mut random = Random(10);
    let far = cells_around(grid, goal, 40, &mut random, |cell| cell.x > 2_200);
    let near = cells_around(grid, goal, 400, &mut random, |cell| cell.x < 1_900);
    for with_others in [false, true] {
        let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
        let starts = near.iter().filter(|_| with_others).chain(&far);
        let push = |&start: &Cell| {
            let options = JobOptions::default();
            (queue.push_job(GRID, PathQuery::new(start, goal), options), (start, goal))
        };
        let jobs: Jobs = starts.map(push).collect();
        finish(&mut queue, &world, 20_000, &mut replies);
        replies.retain(|reply| jobs[&reply.ticket].0.x > 2_200);
        let shared = count(&replies, FoundBy::Field);
        assert_eq!(shared, if with_others { 40 } else { 0 });
        if with_others {
            check(&world, &jobs, &replies);
        }
    }
}

/// One that is much farther away than all others does not make them wait.
#[test]
fn a_straggler_does_not_hold_up_the_others() {
    let world = scattered((2_400, 60), 6, 13);
    let grid = world.grid();
    let goal = grid.rect().cells().find(|&cell| cell.x == 5 && grid.cost(UNIT, cell) > 0).unwrap();
    let mut random = Random(14);
    let near = cells_around(grid, goal, 400, &mut random, |cell| cell.x < 100);
    let far = cells_around(grid, goal, 1, &mut random, |cell| cell.x > 2_200);
    let play = |starts: &[Cell]| {
        let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
        for &start in starts {
            queue.push_job(GRID, PathQuery::new(start, goal), JobOptions::default());
        }
        finish(&mut queue, &world, 2_000, &mut replies);
        assert!(count(&replies, FoundBy::Field) > 300);
        replies.retain(|reply| reply.path().start().x < 100);
        replies.iter().map(|reply| reply.tick).max().unwrap()
    };
    let all: Vec<Cell> = far.into_iter().chain(near.iter().copied()).collect();
    let (alone, together) = (play(&near), play(&all));
    assert!(together <= alone + 2, "{together} ticks instead of {alone}");
}

/// Cells around buildings, rectangles and ranges, on squares and hexagons, for small and large units.
#[test]
fn goals_of_several_cells_share_fields_too() {
    for (topology, size, one_in) in [
        (Topology::Square, 1, 6),
        (Topology::Square, 2, 40),
        (Topology::Hexagonal, 1, 6),
        (Topology::Hexagonal, 2, 60),
    ] {
        let World(mut grids) = scattered((200, 200), one_in, 11);
        let grid = grids.pop().unwrap().with_topology(topology);
        let mut grid = grid.with_profiles(vec![Profile::default().size(size)]);
        let houses = [(40, 50), (150, 140)].map(|at| CellRect::new(Cell::from(at), 4, 3));
        houses.iter().for_each(|&house| grid.block(house).unwrap());
        // Behind a wall no path leads there.
        grid.block(CellRect::new(Cell::new(0, 20), 200, 3)).unwrap();
        let (spot, field) =
            (CellRect::single(Cell::new(90, 30)), CellRect::new(Cell::new(120, 60), 6, 5));
        let goals = [
            Goal::beside(houses[0]),
            Goal::beside(houses[1]).around(1),
            Goal::within(spot, 4),
            Goal::from(field),
        ];
        let world = World::of(grid);
        let mut random = Random(12);
        let passable = |cell: Cell| world.grid().cost(UNIT, cell) > 0;
        let starts: Vec<Cell> = std::iter::repeat_with(|| any_cell(world.grid(), &mut random))
            .filter(|&cell| passable(cell))
            .take(800)
            .collect();
        let play = |algorithm: Algorithm| {
            let (mut queue, mut replies) = (SearchQueue::default(), Vec::new());
            let pairs = starts.iter().copied().zip(goals.into_iter().cycle());
            let jobs: Vec<(Ticket, Goal)> = pairs
                .zip(0..)
                .map(|((start, goal), number)| {
                    let reach = if number % 3 == 0 { Reach::Nearest } else { Reach::Exact };
                    let query = PathQuery::new(start, goal).algorithm(algorithm).reach(reach);
                    (queue.push_job(GRID, query, JobOptions::default()), goal)
                })
                .collect();
            finish(&mut queue, &world, 10_000, &mut replies);
            replies.sort_unstable_by_key(|reply| reply.ticket);
            (jobs, replies)
        };
        let ((jobs, shared), (_, single)) = (play(Algorithm::Auto), play(Algorithm::Exact));
        let found = count(&shared, FoundBy::Field);
        assert!(found > 400, "{topology:?} {size}: {found} of 800 share a field");
        let mut without_path = 0;
        for ((shared, single), (ticket, goal)) in shared.iter().zip(&single).zip(jobs) {
            assert_eq!(shared.ticket, ticket);
            let found = [shared, single]
                .map(|reply| reply.result.as_ref().map(|path| (path.cost(), path.kind())));
            assert_eq!(found[0], found[1], "{topology:?} {size} {goal:?}");
            without_path += usize::from(found[0].is_err());
            if let Some(path) =
                shared.result.as_ref().ok().filter(|path| path.kind() == PathKind::Complete)
            {
                assert!(goal.admits(world.grid(), UNIT, path.end()));
                assert!(is_legal_path(world.grid(), UNIT, path));
            }
        }
        assert!(without_path > 20, "{without_path}");
    }
}
