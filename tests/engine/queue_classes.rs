//! Classes of jobs and their limits, lists of goals, canceled crowds, and floods: which job is started when,
//! and how much memory is kept.

use std::sync::Arc;

use bevy_tilepath::{
    nav::{
        goal::Goal,
        queue::{CLASSES, FoundBy, JobOptions, RequestClass, SearchQueue, Ticket},
    },
    prelude::*,
};

use crate::common::{Random, counting::bytes_held, dijkstra, is_legal_path, patched_terrain};
use crate::queue_common::{
    GRID, Reply, Threads, UNIT, World, answered_tickets, any_cell, cells_around, cost_at, count,
    finish, step, step_on,
};

fn open(side: u32) -> World {
    World::of(NavGrid::new(side, side, TerrainId::GROUND).unwrap())
}

/// Returns weighted terrain in patches, some of them walls. Some columns at the left end are of terrain 1.
fn patched(side: u32, seed: u64) -> World {
    let mut terrain = patched_terrain((side, side), side * side / 90, 25, &mut Random(seed));
    terrain.chunks_mut(side as usize).for_each(|row| row[..4].fill(1));
    let profile = (1u8..5)
        .zip([16, 32, 48, 80])
        .fold(Profile::new(), |profile, (id, cost)| profile.with(TerrainId(id), cost));
    let grid = NavGrid::from_terrain(side, side, terrain).unwrap();
    World::of(grid.with_profiles(vec![profile]))
}

/// Returns a short query on a grid of 100 × 100 cells; each number has a distinct start and goal.
fn short(number: i32) -> PathQuery {
    let start = Cell::new(number % 90, number / 90 % 90);
    PathQuery::new(start, start.offset(6, 3))
}

/// Returns a queue with limits for some classes.
fn limited(limits: &[(usize, u32)]) -> SearchQueue {
    let mut queue = SearchQueue::default();
    for &(class, limit) in limits {
        queue.settings.class_limits[class] = limit;
    }
    queue
}

fn of_class(class: u8) -> JobOptions {
    JobOptions { class: RequestClass(class), ..JobOptions::default() }
}

/// Pushes short jobs of one class with these numbers.
fn push(queue: &mut SearchQueue, class: u8, numbers: std::ops::Range<i32>) -> Vec<Ticket> {
    numbers.map(|number| queue.push_job(GRID, short(number), of_class(class))).collect()
}

/// Runs one tick; returns the tickets that it answers.
fn tick(queue: &mut SearchQueue, world: &World) -> Vec<Ticket> {
    let mut replies = Vec::new();
    step(queue, world, 100_000, &mut replies);
    assert!(replies.iter().all(|reply| reply.result.is_ok()));
    answered_tickets(&replies)
}

#[test]
fn classes_are_numbered_from_0_to_7() {
    assert_eq!(CLASSES, 8);
    assert_eq!(RequestClass::default().index(), 0);
    assert_eq!([0, 3, 7, 8, 200, 255].map(|class| RequestClass(class).index()), [0, 3, 7, 7, 7, 7]);
    assert_eq!(QueueSettings::default().class_limits, [u32::MAX; CLASSES]);
}

#[test]
fn continuations_do_not_count_towards_a_limit() {
    let world = open(100);
    let mut queue = limited(&[(1, 0)]);
    let paused = push(&mut queue, 1, 0..3);
    let repair = JobOptions { is_continuation: true, ..of_class(1) };
    let repair = queue.push_job(GRID, short(3), repair);
    assert_eq!(tick(&mut queue, &world), [repair]);
    queue.settings.class_limits[1] = 9;
    assert_eq!(tick(&mut queue, &world), paused);
}

#[test]
fn a_limited_class_starts_no_more_jobs_per_tick_and_delays_no_others() {
    let world = open(100);
    let mut queue = limited(&[(1, 3)]);
    let limited = push(&mut queue, 1, 0..10);
    let others = push(&mut queue, 0, 10..20);
    assert_eq!(tick(&mut queue, &world), [&limited[..3], &others].concat());
    let later = push(&mut queue, 0, 20..25);
    assert_eq!(tick(&mut queue, &world), [&limited[3..6], &later].concat());
    assert_eq!(queue.waiting(), 4);
    assert_eq!(tick(&mut queue, &world), &limited[6..9]);
    assert_eq!(queue.longest_wait(), 3, "the last job has waited since the first tick");
    assert_eq!(tick(&mut queue, &world), &limited[9..]);
    assert!(queue.is_empty());
}

#[test]
fn a_limit_of_0_pauses_a_class_and_a_limit_of_1_starts_one_job_per_tick() {
    let world = open(100);
    let mut queue = limited(&[(2, 0)]);
    let paused = push(&mut queue, 2, 0..5);
    let others = push(&mut queue, 3, 5..8);
    assert_eq!(tick(&mut queue, &world), others);
    for _ in 0..3 {
        assert!(tick(&mut queue, &world).is_empty(), "they wait");
    }
    assert_eq!((queue.waiting(), queue.in_flight()), (5, 0));
    assert!(!queue.is_empty());
    assert_eq!(queue.longest_wait(), 4);
    assert!(queue.cancel(paused[1]) && !queue.cancel(paused[1]));
    queue.settings.class_limits[2] = 1;
    for number in [0, 2, 3, 4] {
        assert_eq!(tick(&mut queue, &world), [paused[number]]);
    }
    assert!(queue.is_empty());
}

#[test]
fn a_class_above_7_counts_as_7() {
    let world = open(100);
    let mut queue = limited(&[(7, 1)]);
    let classes = [200, 7, 8, 255];
    let of_seven: Vec<Ticket> = classes
        .into_iter()
        .zip(0..)
        .map(|(class, number)| queue.push_job(GRID, short(number), of_class(class)))
        .collect();
    let others = push(&mut queue, 6, 4..7);
    assert_eq!(tick(&mut queue, &world), [&of_seven[..1], &others].concat());
    for ticket in &of_seven[1..] {
        assert_eq!(tick(&mut queue, &world), [*ticket], "one per tick");
    }
}

#[test]
fn within_a_class_urgent_jobs_go_first_and_waiting_jobs_gain_priority() {
    let world = open(100);
    let mut queue = limited(&[(1, 1)]);
    let push_urgent = |queue: &mut SearchQueue, number: i32, priority: i8| {
        let options = JobOptions { priority: Priority(priority), ..of_class(1) };
        queue.push_job(GRID, short(number), options)
    };
    let patient = push_urgent(&mut queue, 0, 0);
    let mut replies = Vec::new();
    for number in 1..50 {
        push_urgent(&mut queue, number, 1);
        step(&mut queue, &world, 100_000, &mut replies);
        assert_eq!(replies.len(), number as usize, "one per tick");
    }
    let waited = replies.iter().find(|reply| reply.ticket == patient).map(|reply| reply.waited);
    assert_eq!(waited, Some(30), "one level of priority is worth 30 ticks, and no more");
}

#[test]
fn a_job_restarted_by_an_edit_does_not_count_again() {
    let mut world = open(200);
    let mut queue = limited(&[(1, 1)]);
    let across = PathQuery::new(Cell::new(0, 0), Cell::new(199, 199));
    let across = queue.push_job(GRID, across.algorithm(Algorithm::Dijkstra), of_class(1));
    let mut replies = Vec::new();
    step(&mut queue, &world, 300, &mut replies);
    assert!(queue.search(across).is_some(), "it is in flight");
    let near = push(&mut queue, 1, 30..32);
    world.block(CellRect::single(Cell::new(1, 1)));
    step(&mut queue, &world, 3_000, &mut replies);
    assert_eq!(queue.restarts(), 1, "it was restarted");
    assert!(queue.search(across).is_some(), "and is in flight again");
    assert_eq!(answered_tickets(&replies), near[..1], "and another job is answered as well");
    queue.settings.class_limits[1] = 0;
    finish_but(&mut queue, &world, 1, &mut replies);
    assert!(replies.iter().any(|reply| reply.ticket == across), "a pause does not stop it");
    assert_eq!((queue.waiting(), answered_tickets(&replies).len()), (1, 2));
}

/// Runs ticks until at most `waiting` jobs wait and none is in flight.
fn finish_but(queue: &mut SearchQueue, world: &World, waiting: usize, replies: &mut Vec<Reply>) {
    let first_tick = queue.tick();
    while queue.in_flight() > 0 || queue.waiting() > waiting {
        step(queue, world, 50_000, replies);
        assert!(queue.tick() < first_tick + 1_000, "{} wait", queue.waiting());
    }
}

#[test]
fn long_jobs_that_displace_each_other_do_not_count_again() {
    let world = open(200);
    let mut queue = limited(&[]);
    queue.settings.in_flight = 4;
    for number in 0..6 {
        let query = PathQuery::new(Cell::new(number, 0), Cell::new(199, 199));
        queue.push_job(GRID, query.algorithm(Algorithm::Dijkstra), of_class(4));
    }
    let mut replies = Vec::new();
    step(&mut queue, &world, 60_000, &mut replies);
    assert!(queue.waiting() > 0, "some were displaced");
    let late = queue.push_job(GRID, short(5), of_class(4));
    queue.settings.class_limits[4] = 0;
    finish_but(&mut queue, &world, 1, &mut replies);
    assert_eq!(replies.len(), 6, "jobs started before are answered");
    assert!(queue.cancel(late), "the last job is still waiting");
}

#[test]
fn a_shared_field_takes_no_more_jobs_of_a_class_than_its_limit() {
    let world = patched(200, 21);
    let (goal, mut random) = (Cell::new(1, 1), Random(4));
    let starts = cells_around(world.grid(), goal, 800, &mut random, |_| true);
    let mut queue = limited(&[(3, 50), (5, 0)]);
    for (number, &start) in starts.iter().enumerate() {
        let class = if number < 600 { 0 } else { 3 + 2 * (number % 2) as u8 };
        queue.push_job(GRID, PathQuery::new(start, goal), of_class(class));
    }
    let mut replies = Vec::new();
    step(&mut queue, &world, 800, &mut replies);
    assert_eq!((queue.in_flight(), queue.waiting()), (1, 150), "650 jobs share a field");
    step(&mut queue, &world, 800, &mut replies);
    assert_eq!((queue.in_flight(), queue.waiting()), (1, 100), "50 more have joined");
    assert!(replies.is_empty(), "it is not finished");
    for _ in 0..200 {
        step(&mut queue, &world, 5_000, &mut replies);
    }
    assert_eq!((replies.len(), queue.waiting()), (700, 100), "one class is paused");
    let best = dijkstra(world.grid(), UNIT, goal);
    for reply in &replies {
        let path = reply.path();
        assert_eq!(Some(path.cost()), cost_at(world.grid(), &best, path.start()));
    }
}

#[test]
fn no_field_is_started_for_the_few_jobs_that_may_start() {
    let world = patched(200, 21);
    let (goal, mut random) = (Cell::new(1, 1), Random(5));
    let starts = cells_around(world.grid(), goal, 600, &mut random, |_| true);
    for (limit, shares) in [(1, false), (u32::MAX, true)] {
        let mut queue = limited(&[(1, limit)]);
        for &start in &starts {
            queue.push_job(GRID, PathQuery::new(start, goal), of_class(1));
        }
        let mut replies = Vec::new();
        for _ in 0..30 {
            step(&mut queue, &world, 50_000, &mut replies);
        }
        let most = if shares { 600 } else { 30 };
        assert!((10..=most).contains(&replies.len()), "{} answers, limit {limit}", replies.len());
        assert_eq!(count(&replies, FoundBy::Field) > 0, shares, "limit {limit}");
    }
}

/// Runs 3,000 jobs with or without classes, in random order. With limits, most of them have one goal.
fn play(workers: usize, world: &World, limits: &[(usize, u32)], has_classes: bool) -> Vec<Reply> {
    let (mut queue, mut replies, mut random) = (limited(limits), Vec::new(), Random(77));
    let mut left = 3_000;
    while left > 0 || !queue.is_empty() {
        for _ in 0..left.min(1_000) {
            left -= 1;
            let start = any_cell(world.grid(), &mut random);
            let goal = any_cell(world.grid(), &mut random);
            // Fields are shared only with `Algorithm::Auto`.
            let query = match !limits.is_empty() && random.below(3) > 0 {
                true => PathQuery::new(start, Cell::new(1, 1)),
                false => PathQuery::new(start, goal).algorithm(Algorithm::AStar),
            };
            let class = [2, random.below(9) as u8][random.below(2) as usize];
            let class = RequestClass(if has_classes { class } else { 0 });
            let priority = Priority(random.below(3) as i8 - 1);
            queue.push_job(GRID, query, JobOptions { class, priority, ..JobOptions::default() });
        }
        step_on(&Threads(workers), &mut queue, world, 20_000, &mut replies);
        assert!(queue.tick() < 10_000, "{} jobs are never answered", queue.waiting());
    }
    assert_eq!(replies.len(), 3_000, "one answer each");
    replies
}

#[test]
fn without_limits_classes_change_nothing() {
    let world = patched(120, 8);
    let (classed, plain) = (play(1, &world, &[], true), play(1, &world, &[], false));
    let difference = classed.iter().zip(&plain).find(|(one, other)| one != other);
    assert_eq!(difference, None);
}

#[test]
fn with_limits_answers_do_not_depend_on_threads() {
    let world = patched(120, 9);
    let limits = [(0, 20), (1, 1), (3, 7), (7, 40)];
    let single = play(1, &world, &limits, true);
    assert!(count(&single, FoundBy::Field) > 0, "some share a field");
    assert!(single.iter().any(|reply| reply.waited > 20), "the limits delay some jobs");
    for threads in [2, 8] {
        let threaded = play(threads, &world, &limits, true);
        let difference = single.iter().zip(&threaded).find(|(one, other)| one != other);
        assert_eq!(difference, None, "{threads} threads");
    }
}

#[test]
fn a_job_with_many_goals_gets_the_path_to_the_cheapest() {
    let world = patched(120, 10);
    let grid = world.grid();
    let (mut queue, mut replies, mut random) = (limited(&[]), Vec::new(), Random(3));
    let home = cells_around(grid, Cell::new(1, 1), 1, &mut random, |_| true)[0];
    let mut jobs = Vec::new();
    for number in 0..60 {
        let starts = cells_around(grid, home, 1, &mut random, |_| true);
        let goals = cells_around(grid, home, number % 6 + 1, &mut random, |_| true);
        let others: Arc<[Goal]> = goals[1..].iter().map(|&cell| Goal::from(cell)).collect();
        let options = JobOptions { goals: Some(others), ..JobOptions::default() };
        let ticket = queue.push_job(GRID, PathQuery::new(starts[0], goals[0]), options);
        jobs.push((ticket, starts[0], goals));
    }
    finish(&mut queue, &world, 5_000, &mut replies);
    for (ticket, start, goals) in jobs {
        let reply = replies.iter().find(|reply| reply.ticket == ticket).unwrap();
        let best = dijkstra(grid, UNIT, start);
        let cheapest = goals.iter().filter_map(|&goal| cost_at(grid, &best, goal)).min();
        let path = reply.path();
        assert_eq!(Some(path.cost()), cheapest, "from {start} to any of {goals:?}");
        assert!(goals.contains(&path.end()) && path.start() == start);
        assert!(is_legal_path(grid, UNIT, path));
        assert_eq!(path.kind(), PathKind::Complete);
    }
}

#[test]
fn an_empty_list_of_goals_equals_none() {
    let world = patched(120, 10);
    let mut outcomes = Vec::new();
    let lists: [Option<Arc<[Goal]>>; 2] = [None, Some(Arc::from([]))];
    for goals in lists {
        let (mut queue, mut replies) = (limited(&[]), Vec::new());
        let (goal, mut random) = (Cell::new(1, 1), Random(6));
        for start in cells_around(world.grid(), goal, 400, &mut random, |_| true) {
            let options = JobOptions { goals: goals.clone(), ..JobOptions::default() };
            queue.push_job(GRID, PathQuery::new(start, goal), options);
        }
        finish(&mut queue, &world, 5_000, &mut replies);
        assert!(count(&replies, FoundBy::Field) > 0, "they share a field");
        outcomes.push(replies);
    }
    assert_eq!(outcomes[0], outcomes[1]);
}

#[test]
fn jobs_whose_ends_a_field_cannot_hold_share_none() {
    let world = patched(200, 21);
    let (goal, mut random) = (Cell::new(1, 1), Random(4));
    let starts = cells_around(world.grid(), goal, 600, &mut random, |_| true);
    let (spot, large) = (CellRect::single(goal), CellRect::new(Cell::new(1, 1), 65, 2));
    let others: Arc<[Goal]> = Arc::from([Goal::from(Cell::new(2, 2))]);
    for (goal, goals) in [
        (Goal::in_sight(spot, 4, UNIT), None),
        (Goal::within(spot, 32), None),
        (Goal::from(large), None),
        (Goal::from(goal), Some(others)),
    ] {
        let (mut queue, mut replies) = (limited(&[]), Vec::new());
        for &start in &starts {
            let options = JobOptions { goals: goals.clone(), ..JobOptions::default() };
            queue.push_job(GRID, PathQuery::new(start, goal), options);
        }
        finish(&mut queue, &world, 50_000, &mut replies);
        assert_eq!(replies.len(), 600, "one answer each");
        assert_eq!(count(&replies, FoundBy::Field), 0, "{goal:?}");
        let good =
            |reply: &&Reply| reply.result.as_ref().is_ok_and(|path| path.end() != goal.cell());
        assert!(replies.iter().filter(good).count() > 500, "{goal:?}");
    }
}

#[test]
fn waiting_jobs_can_be_canceled_in_any_order_and_leave_no_memory() {
    const CROWD: usize = 100_000;
    let world = open(100);
    let mut queue = limited(&[(2, 0)]);
    let warm = queue.push_job(GRID, short(0), of_class(1));
    assert!(queue.cancel(warm));
    let before = queue.bytes();
    let mut random = Random(12);
    for order in 0..3 {
        let mut tickets: Vec<Ticket> = (0..CROWD as i32)
            .map(|number| {
                let priority = Priority(random.below(5) as i8 - 2);
                let options = JobOptions { priority, ..of_class(random.below(4) as u8) };
                queue.push_job(GRID, short(number), options)
            })
            .collect();
        assert!(queue.bytes() > before + CROWD * 100, "they use memory");
        match order {
            0 => {}
            1 => tickets.reverse(),
            _ => (1..CROWD).for_each(|last| {
                tickets.swap(last, random.below(last as u32 + 1) as usize);
            }),
        }
        for (number, &ticket) in tickets.iter().enumerate() {
            assert!(queue.cancel(ticket), "order {order}");
            assert_eq!(queue.waiting(), CROWD - 1 - number);
        }
        assert!(!queue.cancel(tickets[CROWD / 2]));
        assert!(queue.is_empty());
        assert_eq!(queue.bytes(), before, "order {order}");
    }
    let last = push(&mut queue, 0, 7..8);
    assert_eq!(tick(&mut queue, &world), last, "no other job is answered");
}

/// Bytes kept by an idle search: its open list and about a thousand entries (192 KiB), and nodes of jumps
/// (640 KiB at most).
const KEPT_BY_A_SEARCH: usize = (192 + 640) << 10;

/// Returns queries of all kinds: most are short, some have no path, one in ten has the common goal, and one
/// in 500 crosses the whole map.
fn flood_query(grid: &NavGrid, number: u32, home: Cell, random: &mut Random) -> PathQuery {
    let start = any_cell(grid, random);
    let near = |random: &mut Random| random.below(17) as i32 - 8;
    let beside = start.offset(near(random), near(random));
    match number % 500 {
        7 => {
            let ends = cells_around(grid, home, 2, random, |_| true);
            PathQuery::new(ends[0], ends[1]).algorithm(Algorithm::Dijkstra)
        }
        rest if rest % 10 == 3 => PathQuery::new(start, home),
        rest if rest % 10 == 4 => PathQuery::new(start, any_cell(grid, random)),
        rest if rest % 10 == 5 => PathQuery::new(start, beside).reach(Reach::Nearest),
        _ => PathQuery::new(start, beside),
    }
}

#[test]
fn a_flood_of_a_hundred_thousand_jobs_is_answered_within_the_budget_and_leaves_no_memory() {
    const FLOOD: u32 = 100_000;
    let mut world = patched(128, 51);
    let walls = patched_terrain((128, 128), 130, 100, &mut Random(52));
    world.0.push(NavGrid::from_terrain(128, 128, walls).unwrap());
    world.0.iter().for_each(NavGrid::build_layers);
    let mut queue = limited(&[(1, 400)]);
    queue.settings.in_flight = 8;
    queue.reserve(64);
    push(&mut queue, 0, 0..1);
    tick_any(&mut queue, &world);
    let most = queue.settings.in_flight * KEPT_BY_A_SEARCH + 8_192 * 16 * 8;
    let mut random = Random(53);
    let homes: Vec<Cell> =
        world.0.iter().map(|grid| well_connected_cell(grid, &mut random)).collect();
    let (held, bytes) = (bytes_held(), queue.bytes());
    for round in 0..2 {
        for number in 0..FLOOD {
            let id = GridId(number % 97 % 2 + u32::from(number % 97 == 5) * 9);
            let index = usize::from(id.0 == 1);
            let query = flood_query(&world.0[index], number, homes[index], &mut random);
            queue.push_job(id, query, of_class(u8::from(number % 7 == 0)));
        }
        let (more_held, more) = ((bytes_held() - held) as usize, queue.bytes() - bytes);
        assert!(more > FLOOD as usize * 100, "{more} bytes more in round {round}");
        let counted = 100 * more / more_held;
        assert!((90..=110).contains(&counted), "{counted} % of it is counted");
        assert!(more > most, "a flood takes more than may be kept");
        let mut answers = vec![0u8; FLOOD as usize];
        let (mut ticks, mut spent, mut fields, mut failed) = (0, 0, 0, 0);
        let first = u64::from(round * FLOOD) + 2;
        while !queue.is_empty() {
            let taken = queue.step(
                &world,
                50_000,
                || true,
                |answer| {
                    answers[(answer.ticket.number() - first) as usize] += 1;
                    fields += u32::from(answer.found_by == FoundBy::Field);
                    failed += u32::from(answer.result.is_err());
                },
            );
            assert!(taken <= 50_000, "{taken} spent");
            (ticks, spent) = (ticks + 1, spent + u64::from(taken));
            assert!(ticks < 20_000, "{} are never answered", queue.waiting());
        }
        assert!(answers.iter().all(|&count| count == 1), "one answer each");
        // Starting a job costs eight units.
        assert!(spent >= 8 * u64::from(FLOOD) && ticks >= 16, "{spent} in {ticks} ticks");
        assert!(fields > 1_000 && failed > 5_000, "{fields} by fields, {failed} without a path");
        drop(answers);
        assert!(queue.bytes() <= bytes + most, "{} bytes are kept, {bytes} before", queue.bytes());
        let kept = bytes_held() - held;
        assert!(kept <= most as i64, "{kept} bytes are kept, {most} may be");
    }
}

fn tick_any(queue: &mut SearchQueue, world: &World) {
    step(queue, world, 100_000, &mut Vec::new());
}

/// Returns a cell of one of the largest regions: of 200 random cells, one of the most common region.
fn well_connected_cell(grid: &NavGrid, random: &mut Random) -> Cell {
    let cells: Vec<Cell> = (0..200).map(|_| any_cell(grid, random)).collect();
    let connected = |cell: &&Cell| {
        let region = grid.region(UNIT, **cell);
        let same = cells.iter().filter(|&&other| grid.region(UNIT, other) == region).count();
        if region.is_some() { same } else { 0 }
    };
    *cells.iter().max_by_key(connected).unwrap()
}
