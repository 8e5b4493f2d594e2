//! Snapshots and threads, where everything waits or is between two places.

use super::*;

/// A world in which everything waits or is between two places when the snapshot is taken: on stairs, out of a new building, for a
/// grid, for a retry that an edit has brought forward, with a factor in the middle of a step.
#[test]
fn a_world_in_between_is_put_back_twice() {
    let mut app = floors();
    record_groups(&mut app);
    let flag = app.world_mut().spawn(Transform::from_xyz(280.0, 30.0, 0.0)).id();
    let unit = |app: &mut App, cell: (i32, i32), bundle: PathRequest| {
        let unit = spawn_critter(app, cell);
        insert_request(app, unit, bundle);
        unit
    };
    block(&mut app, CellRect::new(Cell::new(0, 1), 30, 1));
    let retry = Retry { after: 30, longest: 900, most: 9 };
    let waits = unit(&mut app, (4, 0), PathRequest::to(Cell::new(9, 9)).retry(retry));
    let needs = unit(&mut app, (3, 3), PathRequest::to(flag).needs_target().or(Cell::new(2, 11)));
    let crosses = unit(&mut app, (20, 6), PathRequest::to(Cell::new(15, 9)).goal_on(UP));
    let slow = unit(&mut app, (3, 9), PathRequest::to(Cell::new(20, 10)));
    app.world_mut().entity_mut(slow).insert(SpeedFactor(0.3));
    let built_over = spawn_critter(&mut app, (12, 8));
    let place = (Critter::new(8.0), NavAgent::default().on(GridId(7)), StartCell(Cell::new(4, 4)));
    let later = app.world_mut().spawn(place).id();
    let members: Vec<Entity> = (0..8).map(|y| spawn_critter(&mut app, (1, 3 + y))).collect();
    app.world_mut()
        .spawn(Group::to(Cell::new(24, 9), members.clone()).persistent().keep_together());
    run_until(&mut app, 400, |app| status(app, crosses) == PathStatus::Crossing);
    app.world_mut().spawn(NavBlocker::at(CellRect::new(Cell::new(11, 7), 4, 3)));
    block(&mut app, CellRect::single(Cell::new(28, 11))); // an edit, so that the retry comes early
    run(&mut app, 2);
    let units: Vec<Entity> =
        [waits, needs, crosses, slow, built_over, later].into_iter().chain(members).collect();
    let snapshot = TilePathSnapshot::take(app.world_mut()).unwrap();
    let play = |app: &mut App| -> Vec<String> {
        (0..500)
            .map(|tick| {
                match tick {
                    4 => {
                        let level = grid_from(&field(9, 9));
                        let frame = GridFrame::square(Vec2::new(0.0, 5_000.0), Vec2::splat(10.0));
                        grid(app).insert(GridId(7), level, frame);
                    }
                    9 => {
                        app.world_mut().get_mut::<Transform>(flag).unwrap().translation.x =
                            f32::NAN;
                    }
                    20 => drop(app.world_mut().entity_mut(slow).remove::<SpeedFactor>()),
                    60 => unblock(app, CellRect::new(Cell::new(5, 1), 1, 1)),
                    90 => stop_unit(app.world_mut().entity_mut(units[8])),
                    _ => {}
                }
                app.update();
                let of = |&unit: &Entity| (status(app, unit), position(app, unit));
                let all: Vec<_> = units.iter().map(of).collect();
                format!("{:?} {all:?}", state_checksum(app.world_mut()))
            })
            .collect()
    };
    // `play` borrows what `app` does not own.
    let first = play(&mut app);
    assert_eq!(state(&app, waits).cell(), Cell::new(9, 9));
    assert_eq!(state(&app, needs).cell().chebyshev(Cell::new(2, 11)), 0);
    assert_eq!(app.world().get::<NavAgent>(crosses).unwrap().grid, UP);
    for again in 0..2 {
        // The flag is the game's own.
        app.world_mut().get_mut::<Transform>(flag).unwrap().translation.x = 280.0;
        snapshot.restore(app.world_mut()).unwrap();
        let second = play(&mut app);
        for (tick, (a, b)) in first.iter().zip(&second).enumerate() {
            assert_eq!(a, b, "time {again}, tick {tick}");
        }
    }
}

/// Plays random acts with all that is new; returns what each tenth tick looked like.
fn play(seed: u64, threads: usize) -> Vec<String> {
    let mut random = Random(seed);
    let topology = any_topology(&mut random);
    let size = (48, 40);
    let mut app = app();
    let level = grid_with_single_walls(size, 90, &mut random).with_topology(topology);
    grid(&mut app).insert(DOWN, level, frame_of(topology));
    app.insert_resource(TilePathSettings { threads, budget: 700, ..TilePathSettings::default() });
    let mut watch = Watch::new();
    let units: Vec<Entity> = (0..40)
        .map(|at| {
            let cell = random_cell(&mut random, size);
            if at % 4 == 3 {
                spawn_ghost(&mut app, cell)
            } else {
                spawn_at(&mut app, Critter::new(9.0), cell)
            }
        })
        .collect();
    let mut trees: Vec<Entity> =
        (0..10).map(|_| tree(&mut app, DOWN, random_cell(&mut random, size))).collect();
    let mut seen = Vec::new();
    for tick in 0..260 {
        for _ in 0..random.below(4) {
            let unit = units[random.below(40) as usize];
            let cell = Cell::from(random_cell(&mut random, size));
            let some = trees[random.below(trees.len() as u32) as usize];
            match random.below(16) {
                0 | 1 => {
                    insert_request(&mut app, unit, PathRequest::to(cell).reach(Reach::Nearest));
                }
                2 | 3 => {
                    let request = PathRequest::to_nearest(trees.clone()).beside().needs_target();
                    insert_request(&mut app, unit, request);
                }
                4 => insert_request(
                    &mut app,
                    unit,
                    PathRequest::to(some).beside().needs_target().or(cell),
                ),
                5 => {
                    let retry = Retry { after: 3, longest: 90, most: 8 };
                    insert_request(&mut app, unit, PathRequest::to(some).retry(retry)); // into the tree
                }
                6 => {
                    let target = units[random.below(40) as usize];
                    insert_request(&mut app, unit, PathRequest::follow(target).needs_target());
                }
                7 => {
                    let factor = [-1.0, 0.0, 0.3, 1.0, 4.0, f32::NAN][random.below(6) as usize];
                    app.world_mut().entity_mut(unit).insert(SpeedFactor(factor));
                }
                8 => drop(app.world_mut().entity_mut(unit).remove::<SpeedFactor>()),
                9 => {
                    watch.allow_jump(unit);
                    app.world_mut().entity_mut(unit).insert(StartCell(cell));
                }
                10 => stop_unit(app.world_mut().entity_mut(unit)),
                11 if trees.len() > 4 => {
                    trees.retain(|&other| other != some);
                    app.world_mut().despawn(some);
                }
                12 => trees.push(tree(&mut app, DOWN, (cell.x, cell.y))),
                13 => {
                    let queue = OrderQueue::new()
                        .then(PathRequest::to(cell))
                        .then(PathRequest::to(some).beside().needs_target())
                        .then(Order::Wait { ticks: 9 });
                    app.world_mut().entity_mut(unit).insert(queue);
                }
                14 => {
                    let members = units.iter().copied().filter(|_| random.below(6) == 0);
                    let members: Vec<Entity> = members.collect();
                    app.world_mut().spawn(Group::to(cell, members).keep_together());
                }
                _ => {
                    let rect = CellRect::new(cell, 2, 2).intersection(level_of(&app).rect());
                    let mut grids = grid(&mut app);
                    let level = grids.get_mut(DOWN).unwrap();
                    // Not all of the rectangle may be blocked.
                    let _is_done = match random.below(2) {
                        0 => level.block(rect),
                        _ => level.unblock(rect),
                    };
                }
            }
        }
        watch.tick(&mut app);
        if tick % 10 == 0 {
            let all: Vec<PathStatus> = units.iter().map(|&unit| status(&app, unit)).collect();
            seen.push(format!("{:x} {all:?}", state_checksum(app.world_mut())));
        }
    }
    seen
}

#[test]
fn storms_with_all_that_is_new_do_not_depend_on_the_number_of_threads() {
    for seed in 0..5 {
        let once = play(7_000 + seed, 1);
        for threads in [1, 3] {
            let again = play(7_000 + seed, threads);
            for (tick, (a, b)) in once.iter().zip(&again).enumerate() {
                assert_eq!(a, b, "seed {seed}, {threads} threads, tick {}", tick * 10);
            }
        }
    }
}
