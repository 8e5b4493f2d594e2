//! Ticks of any length, borders, the ends of the number range, the largest units.

use super::*;

/// Frames without a tick, between all others: the same orders in the same ticks give the same state.
#[test]
fn frames_without_a_tick_change_nothing() {
    for seed in 40..43 {
        let mut plain = Game::new(seed);
        let mut idle = Game::new(seed);
        let mut random = Random(seed);
        for tick in 0..200 {
            let expected = plain.run(1);
            for _ in 0..random.below(4) {
                idle.app.insert_resource(TimeUpdateStrategy::FixedTimesteps(0));
                idle.app.update();
                idle.app.insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
            }
            let found = idle.run(1);
            // The checksum of the state, and the counters.
            assert_eq!(expected[0][..3], found[0][..3], "seed {seed}, tick {tick}");
        }
    }
}

/// Ticks of a second and of a millisecond, changed on the way, and all speeds: no faults, and in the end all arrive.
#[test]
fn ticks_of_any_length_and_speeds_of_any_kind_break_no_guarantee() {
    let speeds = [0.0, 1.0e-30, -3.0, f32::NAN, 1.0, 8.0, 200.0, 1.0e6, f32::MAX, f32::INFINITY];
    for seed in 0..6 {
        let mut random = Random(70 + seed);
        let topology = any_topology(&mut random);
        let mut app = app_with_sizes_on(&field(33, 65), topology);
        app.world_mut().resource_mut::<Time<Virtual>>().set_max_delta(Duration::from_secs(100));
        // Places six cells apart, in random order.
        let mut places: Vec<(i32, i32)> =
            (0..50).map(|at| (3 + at % 5 * 6, 3 + at / 5 * 6)).collect();
        let mut shuffle = |random: &mut Random| {
            for at in (1..places.len()).rev() {
                places.swap(at, random.below(at as u32 + 1) as usize);
            }
            places.clone()
        };
        let starts = shuffle(&mut random);
        let units: Vec<Entity> = (0..16)
            .map(|at| {
                let profile = [SMALL, SMALL, SMALL, BIG, HUGE][at % 5];
                spawn_kind_at(&mut app, (Critter::new(8.0), NavAgent::new(profile)), starts[at])
            })
            .collect();
        let mut watch = Watch::new();
        watch.run(&mut app, 2);
        for round in 0..24 {
            let hertz = [1.0, 3.0, 64.0, 250.0, 1_000.0][random.below(5) as usize];
            app.world_mut().resource_mut::<Time<Fixed>>().set_timestep_hz(hertz);
            let goals = shuffle(&mut random);
            for (at, &unit) in units.iter().enumerate() {
                let speed = speeds[random.below(10) as usize];
                app.world_mut().get_mut::<Critter>(unit).unwrap().speed = speed;
                if random.below(3) == 0 {
                    order(&mut app, unit, goals[at]);
                }
            }
            watch.run(&mut app, 30 + round);
        }
        app.world_mut().resource_mut::<Time<Fixed>>().set_timestep_hz(64.0);
        let goals = shuffle(&mut random);
        for (&unit, &goal) in units.iter().zip(&goals) {
            app.world_mut().get_mut::<Critter>(unit).unwrap().speed = 8.0;
            order(&mut app, unit, goal);
        }
        watch.run_until_all_arrived(&mut app, &units, 20_000);
    }
}

/// Grids of one row or column, of one cell, and around the boundaries of words and chunks: costs and regions are those of
/// Dijkstra's algorithm before and after edits, and each ghost arrives or fails as these say.
#[test]
fn grids_around_the_boundaries_of_words_and_chunks_answer_like_dijkstra() {
    let sides = [1, 2, 3, 31, 32, 33, 63, 64, 65, 97];
    for seed in 0..40 {
        let mut random = Random(500 + seed);
        let size @ (width, height) =
            (sides[random.below(10) as usize], sides[random.below(10) as usize]);
        let topology = any_topology(&mut random);
        let walls = [0, width * height / 12, width * height / 5][random.below(3) as usize];
        let mut level = grid_with_single_walls(size, walls, &mut random).with_topology(topology);
        if random.below(2) == 0 {
            let count = 1 + width * height / 60;
            scatter_edges(&mut level, count, &mut random);
        }
        let mut app = app();
        let profiles = (1..=3).map(|size| with_edges(Profile::default()).size(size)).collect();
        grid(&mut app).set_profiles(profiles);
        grid(&mut app).insert(DOWN, level, frame_of(topology));
        let mut ghosts: Vec<(Entity, ProfileId, Cell, Cell)> = Vec::new();
        for round in 0..4 {
            let what = format!("seed {seed}, {width} × {height}, {topology:?}, round {round}");
            for profile in [SMALL, BIG, HUGE] {
                for _ in 0..4 {
                    let [a, b] = [(); 2].map(|()| Cell::from(random_cell(&mut random, size)));
                    let level = level_of(&app);
                    let expected = dijkstra_cost(level, profile, a, b);
                    let found = level.path_cost(profile, a, b);
                    assert_eq!(found.ok(), expected, "{what}: {profile:?} {a} {b}");
                    assert_eq!(level.can_reach(profile, a, b), expected.is_some(), "{what}");
                    if round == 3 && level.cost(profile, a) > 0 {
                        let place = block_center(&app, profile, a).extend(0.0);
                        let ghost = Critter::new(f32::INFINITY).ghost();
                        let bundle =
                            (ghost, NavAgent::new(profile), Transform::from_translation(place));
                        let ghost = app.world_mut().spawn((bundle, PathRequest::to(b))).id();
                        ghosts.push((ghost, profile, a, b));
                    }
                }
            }
            if round < 3 {
                let at = Cell::from(random_cell(&mut random, size));
                let (w, h) = (1 + random.below(5), 1 + random.below(5));
                let rect = CellRect::new(at, w, h).intersection(level_of(&app).rect());
                if random.below(2) == 0 {
                    block(&mut app, rect);
                } else {
                    app.world_mut().spawn(NavBlocker::at(rect));
                }
                app.update();
            }
        }
        run(&mut app, 40);
        for (ghost, profile, a, b) in ghosts {
            let expected = dijkstra_cost(level_of(&app), profile, a, b).is_some();
            let found = status(&app, ghost);
            let what =
                format!("seed {seed}, {width} × {height}, {topology:?}: {profile:?} {a} {b}");
            match found {
                PathStatus::Arrived(PathKind::Complete) => {
                    assert!(expected, "{what}");
                    assert_eq!(state(&app, ghost).cell(), b, "{what}");
                }
                PathStatus::Failed(PathFailure::NoPath { .. } | PathFailure::GoalImpassable(_)) => {
                    assert!(!expected, "{what}");
                }
                other => panic!("{what}: {other:?}"),
            }
        }
    }
}

/// Cells, rectangles and positions at the ends of the number range: a reason, and no panic.
#[test]
fn goals_at_the_ends_of_the_number_range_have_a_reason() {
    for topology in [Topology::Square, Topology::Hexagonal] {
        let mut app = app_on(&field(30, 20), topology);
        record(&mut app);
        record_groups(&mut app);
        let ends = [i32::MIN, i32::MIN + 1, -1, i32::MAX - 1, i32::MAX];
        let cells: Vec<Cell> =
            ends.iter().flat_map(|&x| ends.iter().map(move |&y| Cell::new(x, y))).collect();
        for (at, &cell) in cells.iter().enumerate() {
            let units: Vec<Entity> =
                (0..3).map(|i| spawn_critter(&mut app, (10 + i, 10))).collect();
            let far = Transform::from_xyz(cell.x as f32, cell.y as f32, 0.0);
            let far = app.world_mut().spawn(far).id();
            app.update();
            let rect = CellRect::new(cell, 1 + at as u32 % 3, 2);
            let requests = [
                PathRequest::to(cell),
                PathRequest::to(rect).within(u16::MAX),
                PathRequest::to(rect).beside(),
                PathRequest::to(rect).in_sight(u16::MAX, SMALL),
                PathRequest::to_nearest([cell, Cell::new(i32::MAX, i32::MIN)])
                    .reach(Reach::Nearest),
                PathRequest::follow(far).within(u16::MAX),
                PathRequest::follow(far).needs_target(),
            ];
            for request in requests {
                let unit = units[0];
                insert_request(&mut app, unit, request.clone());
                run(&mut app, 3);
                let found = status(&app, unit);
                let is_reason =
                    matches!(
                        found,
                        PathStatus::Failed(
                            PathFailure::GoalOutOfBounds(_)
                                | PathFailure::GoalImpassable(_)
                                | PathFailure::GoalUnknown
                                | PathFailure::TargetGone
                        )
                    ) || matches!(found, PathStatus::Walking(_) | PathStatus::Arrived(_));
                assert!(is_reason, "{topology:?} {request:?}: {found:?}");
            }
            let formation = [Formation::Loose, Formation::Line, Formation::Wedge][at % 3];
            let group = Group::to(cell, units.clone()).formation(formation).spacing(u8::MAX);
            let group = app.world_mut().spawn(group).id();
            app.world_mut().spawn(NavBlocker::at(CellRect::new(cell, 3, 3)));
            app.world_mut().spawn(Group::follow(far, units.clone()));
            let stops = [Target::Cell(cell), Target::Rect(rect)];
            let queue = OrderQueue::new().then(Order::patrol(stops, PatrolMode::ThereAndBack));
            app.world_mut().entity_mut(units[1]).insert((queue, StartCell(cell)));
            run(&mut app, 5);
            assert!(app.world().get_entity(group).is_err(), "{cell}: the group is done");
            for unit in units {
                app.world_mut().despawn(unit);
            }
        }
        let level = level(&app);
        let blocked = level.rect().cells().filter(|&cell| level.blockers(cell) > 0).count();
        assert!(blocked <= 4 * 4, "only what reaches the grid: {blocked}");
    }
}

/// The largest units, on squares and hexagons, among small ones, while buildings and fences come and go: no faults.
#[test]
fn the_largest_units_among_small_ones_break_no_guarantee() {
    for seed in 0..4 {
        let mut random = Random(30 + seed);
        let topology = [Topology::Hexagonal, Topology::Square][seed as usize % 2];
        let mut app = app_on(&field(66, 64), topology);
        let profiles = [1, 8, 5].map(|size| with_edges(Profile::default()).size(size)).to_vec();
        grid(&mut app).set_profiles(profiles);
        let mut units: Vec<Entity> = Vec::new();
        for (at, cell) in [(9, 9), (40, 40), (9, 45), (45, 9)].into_iter().enumerate() {
            let profile = ProfileId(1 + at as u8 % 2);
            units.push(spawn_kind_at(&mut app, (Critter::new(16.0), NavAgent::new(profile)), cell));
        }
        for _ in 0..60 {
            let cell = random_cell(&mut random, (66, 64));
            units.push(spawn_kind_at(&mut app, (Critter::new(12.0), NavAgent::default()), cell));
        }
        let mut watch = Watch::new();
        let mut things: Vec<Entity> = Vec::new();
        for tick in 0..1_500 {
            if tick % 7 == 0 {
                let unit = units[random.below(units.len() as u32) as usize];
                let goal = Cell::from(random_cell(&mut random, (66, 64)));
                insert_request(&mut app, unit, PathRequest::to(goal).reach(Reach::Nearest));
            }
            if tick % 40 == 0 {
                let cell = Cell::from(random_cell(&mut random, (66, 64)));
                let way = Direction::ALL[random.below(8) as usize];
                let kind = EdgeId(random.below(5) as u8);
                let fence: NavEdges = (0..9).map(|x| (cell.offset(x, 0), way, kind)).collect();
                let wall = NavBlocker::at(CellRect::new(cell, 1 + random.below(4), 3));
                things.push(match random.below(2) {
                    0 => app.world_mut().spawn(fence).id(),
                    _ => app.world_mut().spawn(wall).id(),
                });
                if things.len() > 6 {
                    app.world_mut().despawn(things.remove(0));
                }
            }
            watch.tick(&mut app);
        }
    }
}
