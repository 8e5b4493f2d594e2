//! Speeds, needed targets, start cells, retries, cancellations and budgets.

use super::*;

/// `SpeedFactor`: "With zero, a negative number or NaN the unit stands still." `Critter::speed`: "With zero, a negative number or
/// NaN it stands still." So a negative number of both is no reason to walk.
#[test]
fn a_negative_speed_times_a_negative_factor_is_no_speed() {
    let kinds = [(-8.0, -1.0), (-0.5, -4.0), (f32::NEG_INFINITY, -1.0), (f32::INFINITY, 0.0)];
    for (speed, factor) in kinds {
        for is_ghost in [false, true] {
            let mut app = app_with(&field(20, 5));
            let spawn = if is_ghost { spawn_ghost } else { spawn_critter };
            let unit = spawn(&mut app, (2, 2));
            set_speed(&mut app, unit, speed);
            app.world_mut().entity_mut(unit).insert(SpeedFactor(factor));
            app.update();
            order(&mut app, unit, (15, 2));
            run(&mut app, 200);
            let cell = state(&app, unit).cell();
            assert_eq!(cell, Cell::new(2, 2), "{speed} × {factor}, ghost: {is_ghost}");
        }
        let mut app = app_with(&field(20, 5));
        let place = Transform::from_xyz(20.0, 20.0, 0.0);
        let steering = (PathSteering::new(speed), SpeedFactor(factor), place);
        let unit = app.world_mut().spawn((steering, PathRequest::to(Cell::new(15, 2)))).id();
        for _ in 0..20 {
            app.update();
            let wanted = **app.world().get::<DesiredVelocity>(unit).unwrap();
            assert_eq!(wanted, Vec2::ZERO, "{speed} × {factor}, steered");
        }
        // Nor does such a member set the pace of the others.
        let mut app = app_with(&field(40, 9));
        let units: Vec<Entity> = (0..3).map(|y| spawn_critter(&mut app, (2, 2 + y))).collect();
        set_speed(&mut app, units[0], speed);
        app.world_mut().entity_mut(units[0]).insert(SpeedFactor(factor));
        app.world_mut().spawn(Group::to(Cell::new(30, 4), units.clone()).keep_together());
        run(&mut app, 40);
        assert_eq!(app.world().get::<GroupSpeedLimit>(units[1]), Some(&GroupSpeedLimit(8.0)));
    }
}

/// "Gives the target up if it is despawned [...] before the unit has arrived [...] If there is none, the request fails with
/// `TargetGone`": also while the path leads to a link, when it is not yet known to which of several targets the unit will go.
#[test]
fn several_needed_targets_upstairs_that_are_all_gone_end_the_way_to_the_stairs() {
    let mut app = floors();
    let trees = [tree(&mut app, UP, (12, 6)), tree(&mut app, UP, (22, 6))];
    let unit = spawn_critter(&mut app, (2, 6));
    run(&mut app, 2);
    insert_request(&mut app, unit, PathRequest::to_nearest(trees).beside().needs_target());
    let to_link = PathStatus::Walking(PathKind::ToLink);
    run_until(&mut app, 300, |app| status(app, unit) == to_link);
    run(&mut app, 20);
    trees.into_iter().for_each(|tree| assert!(app.world_mut().despawn(tree)));
    run(&mut app, 5);
    assert_eq!(status(&app, unit), PathStatus::Failed(PathFailure::TargetGone));
    run(&mut app, 600);
    assert_eq!(app.world().get::<NavAgent>(unit).unwrap().grid, DOWN, "it does not go upstairs");
    assert_eq!(failures(&app, unit), [PathFailure::TargetGone], "once");
}

/// The same where one target is left, on the floor where the unit is: it turns round before the stairs.
#[test]
fn of_several_needed_targets_one_that_is_left_downstairs_is_next() {
    let mut app = floors();
    // The one upstairs is cheaper to get to than the one downstairs, which is behind a wall.
    let mut far = NavBlocker::at(CellRect::single(Cell::new(0, 11)));
    far.grid = DOWN;
    let far = app.world_mut().spawn(far).id();
    block(&mut app, CellRect::new(Cell::new(0, 9), 29, 1));
    let near = tree(&mut app, UP, (4, 6));
    let unit = spawn_critter(&mut app, (18, 6));
    run(&mut app, 2);
    insert_request(&mut app, unit, PathRequest::to_nearest([near, far]).beside().needs_target());
    let to_link = PathStatus::Walking(PathKind::ToLink);
    run_until(&mut app, 300, |app| status(app, unit) == to_link);
    assert!(app.world_mut().despawn(near));
    let mut floor_seen = vec![];
    run_until(&mut app, 2_000, |app| {
        floor_seen.push(app.world().get::<NavAgent>(unit).unwrap().grid);
        has_arrived(app, unit) || matches!(status(app, unit), PathStatus::Failed(_))
    });
    assert!(has_arrived(&app, unit), "{:?}", status(&app, unit));
    assert!(state(&app, unit).cell().chebyshev(Cell::new(0, 11)) == 1);
    assert!(floor_seen.iter().all(|&floor| floor == DOWN), "it went upstairs for nothing");
}

/// A path that leads only as near as possible leads to no target in particular. If all are gone, so is the reason to go there.
#[test]
fn needed_targets_that_are_gone_end_a_walk_to_as_near_as_possible() {
    for several in [false, true] {
        let mut app = app_with(&field(40, 12));
        record(&mut app);
        block(&mut app, CellRect::new(Cell::new(20, 0), 1, 12));
        let trees = [tree(&mut app, DOWN, (30, 6)), tree(&mut app, DOWN, (35, 6))];
        let unit = spawn_critter(&mut app, (2, 6));
        run(&mut app, 2);
        let request =
            if several { PathRequest::to_nearest(trees) } else { PathRequest::to(trees[0]) };
        let request = request.beside().reach(Reach::Nearest).needs_target();
        insert_request(&mut app, unit, request);
        run(&mut app, 20);
        assert_eq!(status(&app, unit), PathStatus::Walking(PathKind::Partial));
        trees.into_iter().for_each(|tree| assert!(app.world_mut().despawn(tree)));
        assert_eq!(run_to_end(&mut app, unit), Err(PathFailure::TargetGone), "several: {several}");
        assert_eq!(failures(&app, unit).len(), 1);
    }
}

/// `StartCell`: "Puts a unit on a cell." Also a unit whose parent is put on a cell in the same tick, whichever is looked at first.
#[test]
fn a_rider_and_its_mount_are_both_put_on_their_cells() {
    for depth in 1..4 {
        for is_rider_first in [false, true] {
            let mut app = app_with(&field(20, 12));
            let place = |at: i32| StartCell(Cell::new(5 + at, 5));
            let mut chain: Vec<Entity> = Vec::new();
            if is_rider_first {
                // From the leaf to the root.
                chain = (0..=depth).rev().map(|at| app.world_mut().spawn(place(at)).id()).collect();
                chain.reverse();
                for at in 1..chain.len() {
                    app.world_mut().entity_mut(chain[at]).insert(ChildOf(chain[at - 1]));
                }
            } else {
                for at in 0..=depth {
                    let mut unit = app.world_mut().spawn(place(at));
                    if let Some(&parent) = chain.last() {
                        unit.insert(ChildOf(parent));
                    }
                    chain.push(unit.id());
                }
            }
            app.update();
            let mut at = Vec2::ZERO;
            for (place, &unit) in chain.iter().enumerate() {
                at += position(&app, unit);
                let expected = Vec2::new(50.0 + 10.0 * place as f32, 50.0);
                assert!(at.distance(expected) < 0.01, "{place} of {depth}: {at}, not {expected}");
            }
        }
    }
}

/// No position relative to a parent that is scaled to nothing lies on the cell: the transform is left alone, not ruined.
#[test]
fn below_a_parent_of_no_size_a_start_cell_writes_no_nan() {
    for scale in [Vec3::ZERO, Vec3::new(1.0, 0.0, 1.0), Vec3::splat(f32::NAN)] {
        let mut app = app_with(&field(20, 12));
        let parent = app.world_mut().spawn(Transform::from_scale(scale)).id();
        let child = (StartCell(Cell::new(6, 5)), Critter::new(8.0), ChildOf(parent));
        let child = app.world_mut().spawn(child).id();
        run(&mut app, 3);
        let place = app.world().get::<Transform>(child).unwrap().translation;
        assert!(place.is_finite(), "{scale}: {place}");
        // The parent gets a size again, or lets go of it.
        app.world_mut().entity_mut(child).remove::<ChildOf>();
        run(&mut app, 3);
        order(&mut app, child, (12, 5));
        assert_eq!(run_to_end(&mut app, child), Ok(Cell::new(12, 5)));
    }
}

/// "So a unit can be spawned together with its tilemap, before it is known where the map lies in the world": on every kind of
/// map, wherever it lies, and below a parent that moves.
#[test]
#[cfg(feature = "tilemap")]
fn a_unit_spawned_with_its_map_stands_on_its_cell_in_the_first_tick() {
    use bevy_ecs_tilemap::prelude::*;
    let kinds = [
        TilemapType::Square,
        TilemapType::Isometric(IsoCoordSystem::Diamond),
        TilemapType::Hexagon(HexCoordSystem::Row),
    ];
    for (kind, at) in kinds.into_iter().flat_map(|kind| [(kind, 0.0), (kind, -731.0)]) {
        let mut app = app();
        let parent = app.world_mut().spawn(Transform::from_xyz(at, 40.0, 0.0)).id();
        let size = TilemapSize { x: 12, y: 9 };
        let source = NavSource::by_texture([TerrainId::GROUND]);
        let sides = (TilemapGridSize { x: 10.0, y: 10.0 }, TilemapTileSize { x: 10.0, y: 10.0 });
        let place = Transform::from_xyz(at, 17.0, 0.0);
        // The unit is there before its map.
        let cell = Cell::new(4, 3);
        let request = PathRequest::to(Cell::new(8, 3));
        let unit = app.world_mut().spawn((Critter::new(8.0), StartCell(cell), request)).id();
        let map = (size, sides, kind, place, source, ChildOf(parent));
        let map = app.world_mut().spawn(map).id();
        for (x, y) in (0..size.y).flat_map(|y| (0..size.x).map(move |x| (x, y))) {
            let tile = (TilePos { x, y }, TilemapId(map), TileTextureIndex(0));
            app.world_mut().spawn(tile);
        }
        app.update();
        assert_eq!(app.world().get::<NavPath>(unit).unwrap().start(), cell, "{kind:?} at {at}");
        assert_eq!(state(&app, unit).cell(), cell);
        let frame = *grid(&mut app).frame(DOWN).unwrap();
        assert!(position(&app, unit).distance(frame.cell_center(cell)) < 5.0);
        assert_eq!(run_to_end(&mut app, unit), Ok(Cell::new(8, 3)));
    }
}

/// `Retry`: "When the grid of the unit is edited, [...] the request is tried at once", also after the game has replaced the
/// `Pathfinder`, whose clock begins anew.
#[test]
fn a_waiting_unit_notices_an_edit_after_the_pathfinder_was_replaced() {
    for is_replaced in [false, true] {
        let mut app = app_with(&field(20, 5));
        block(&mut app, CellRect::new(Cell::new(10, 0), 1, 5));
        let unit = spawn_critter(&mut app, (2, 2));
        run(&mut app, 700); // its clock is far ahead of a new one
        let retry = Retry { after: 10, longest: 10_000, most: 50 };
        insert_request(&mut app, unit, PathRequest::to(Cell::new(16, 2)).retry(retry));
        run(&mut app, 10 + 20 + 40 + 80 + 160 + 20); // the next try is in some 300 ticks
        assert!(matches!(status(&app, unit), PathStatus::Waiting(_)));
        if is_replaced {
            app.insert_resource(Pathfinder::default());
        }
        run(&mut app, 15);
        unblock(&mut app, CellRect::new(Cell::new(10, 2), 1, 1));
        run(&mut app, 15);
        assert!(is_walking(&app, unit), "replaced: {is_replaced}, {:?}", status(&app, unit));
    }
}

/// `PathCanceled`: "the request was under way, and was removed (`Removed`) or replaced by another one (`Replaced`)". One that was
/// replaced stays so, though the other one is removed before anybody has read it.
#[test]
fn a_request_that_was_replaced_says_so_though_the_next_one_is_removed_at_once() {
    use CancelReason::{Removed, Replaced};
    for budget in [50_000, 0] {
        let mut app = app_with(&field(40, 5));
        record(&mut app);
        let unit = spawn_critter(&mut app, (1, 1));
        run(&mut app, 2);
        order(&mut app, unit, (35, 1));
        run(&mut app, 20);
        app.world_mut().resource_mut::<TilePathSettings>().budget = budget;
        order(&mut app, unit, (30, 1));
        order(&mut app, unit, (25, 1));
        app.world_mut().entity_mut(unit).remove::<PathRequest>();
        run(&mut app, 5);
        assert_eq!(cancellations(&app, unit), [Replaced, Replaced, Removed], "budget {budget}");
        // And what was stopped was not replaced by an order of the same tick... whichever it is, each ends once.
        app.world_mut().resource_mut::<TilePathSettings>().budget = 50_000;
        order(&mut app, unit, (35, 1));
        run(&mut app, 5);
        stop_unit(app.world_mut().entity_mut(unit));
        order(&mut app, unit, (20, 1));
        run_until(&mut app, 1_000, |app| has_arrived(app, unit));
        assert_eq!(cancellations(&app, unit).len(), 4);
        assert_eq!(arrivals(&app, unit), 1);
    }
}

/// Budgets, limits of classes and the budget of fields that come and go: afterwards nothing waits, and each request ends once.
#[test]
fn budgets_that_come_and_go_leave_no_request_waiting() {
    for seed in 0..6 {
        let mut random = Random(900 + seed);
        let mut app = app();
        let size = (50, 40);
        let level = grid_with_single_walls(size, 120, &mut random);
        let topology = any_topology(&mut random);
        grid(&mut app).insert(DOWN, level.with_topology(topology), frame_of(topology));
        record(&mut app);
        let units: Vec<Entity> = (0..60)
            .map(|at| {
                let cell = random_cell(&mut random, size);
                if at % 4 == 0 {
                    spawn_critter(&mut app, cell)
                } else {
                    spawn_ghost(&mut app, cell)
                }
            })
            .collect();
        let mut started: BTreeMap<Entity, usize> = BTreeMap::new();
        for tick in 0..400 {
            if tick % 8 == 0 {
                let budget = [0, 0, 1, 17, 700, 50_000][random.below(6) as usize];
                let limit = random.below(3);
                let in_flight = random.below(4) as usize;
                let mut settings = app.world_mut().resource_mut::<TilePathSettings>();
                *settings = TilePathSettings { budget, ..TilePathSettings::default() };
                if limit == 0 {
                    settings.queue.class_limits[0] = 0;
                } else {
                    settings.queue.class_limits[1] = in_flight as u32;
                }
                app.world_mut().resource_mut::<FlowFields>().budget =
                    [0, 5][random.below(2) as usize];
            }
            for _ in 0..2 {
                let unit = units[random.below(60) as usize];
                let (cell, other) =
                    (random_cell(&mut random, size), random_cell(&mut random, size));
                let (cell, other) = (Cell::from(cell), Cell::from(other));
                let request = match random.below(6) {
                    0 => PathRequest::to_nearest([cell, other]).beside(),
                    1 => PathRequest::to(cell).or(other).class(RequestClass(1)),
                    2 => PathRequest::to(Cell::new(500, 0)).retry(Retry {
                        after: 3,
                        longest: 9,
                        most: 4,
                    }),
                    3 => PathRequest::to(cell).priority(Priority(3)),
                    4 => PathRequest::to(cell).algorithm(Algorithm::AStar).class(RequestClass(1)),
                    _ => PathRequest::to(cell).reach(Reach::Nearest),
                };
                insert_request(&mut app, unit, request);
                *started.entry(unit).or_default() += 1;
            }
            if tick % 5 == 0 {
                let unit = units[random.below(60) as usize];
                app.world_mut().entity_mut(unit).remove::<PathRequest>();
            }
            app.update();
        }
        app.insert_resource(TilePathSettings::default());
        app.world_mut().resource_mut::<FlowFields>().budget = 10_000;
        let rests = |app: &App, unit: Entity| !status(app, unit).is_under_way();
        for _ in 0..6_000 {
            if units.iter().all(|&unit| rests(&app, unit)) {
                break;
            }
            app.update();
        }
        app.update();
        let mut ended: BTreeMap<Entity, usize> = BTreeMap::new();
        for event in events(&app) {
            if let Recorded::Failed(unit, _)
            | Recorded::Canceled(unit, _)
            | Recorded::Arrived(unit, _) = event
            {
                *ended.entry(unit).or_default() += 1;
            }
        }
        for &unit in &units {
            assert!(rests(&app, unit), "seed {seed}: {unit} {:?}", status(&app, unit));
            let count = |of: &BTreeMap<Entity, usize>| of.get(&unit).copied().unwrap_or(0);
            assert_eq!(count(&ended), count(&started), "seed {seed}: requests of {unit}");
        }
        assert_eq!((counters(&app).waiting, counters(&app).in_flight), (0, 0), "seed {seed}");
    }
}
