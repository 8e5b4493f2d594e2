//! Colliding critters: how they enter a crowd, are moved by hand, grow and leave.

use std::collections::BTreeSet;

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{app::*, units::*};
use crate::watch::*;

#[test]
fn critters_spawned_on_one_cell_get_distinct_cells_nearby() {
    let mut app = app_with(&field(21, 21));
    let mut watch = Watch::new();
    let units: Vec<Entity> =
        (0..25).map(|_| spawn_at(&mut app, Critter::new(8.0), (10, 10))).collect();
    watch.tick(&mut app);
    let cells: Vec<Cell> = units.iter().map(|&unit| cell(&app, unit)).collect();
    assert_eq!(cells.iter().collect::<BTreeSet<_>>().len(), 25, "{cells:?}");
    assert!(
        cells.iter().all(|&cell| chebyshev_distance(cell, Cell::new(10, 10)) <= 3),
        "{cells:?}"
    );
    assert!(units.iter().all(|&unit| is_in_crowd(&app, unit)), "no critter is lost");
    assert_eq!(cells[0], Cell::new(10, 10), "the first critter stays where it was spawned");
    // They are moved to their cells smoothly, not in one tick.
    assert!(units.iter().all(|&unit| position(&app, unit).distance(Vec2::splat(100.0)) < 2.6));
    watch.run(&mut app, 60);
    for (&unit, &cell) in units.iter().zip(&cells) {
        let center = Vec2::new(cell.x as f32, cell.y as f32) * 10.0;
        assert!(position(&app, unit).distance(center) < 0.01, "{cell}: {}", position(&app, unit));
    }
}

#[test]
fn a_critter_spawned_on_a_wall_or_beside_the_map_gets_a_passable_cell() {
    let mut app = app_with("........\n..###...\n..###...\n..###...\n........");
    let inside = spawn_at(&mut app, Critter::new(8.0), (3, 2));
    let beside = spawn_at(&mut app, Critter::new(8.0), (-2, 0));
    run(&mut app, 1);
    assert!(is_in_crowd(&app, inside) && is_passable(&app, inside), "{}", cell(&app, inside));
    assert!(is_in_crowd(&app, beside) && is_passable(&app, beside), "{}", cell(&app, beside));
    assert_eq!(chebyshev_distance(cell(&app, inside), Cell::new(3, 2)), 2);
}

#[test]
fn without_room_a_critter_waits_outside_the_crowd() {
    let mut app = app_with(".");
    let mut watch = Watch::new();
    let first = spawn_at(&mut app, Critter::new(8.0), (0, 0));
    let second = spawn_at(&mut app, Critter::new(8.0), (0, 0));
    watch.run(&mut app, 40);
    assert!(is_in_crowd(&app, first) && !is_in_crowd(&app, second));
    assert_eq!(crowd_len(&app), 1);
    order(&mut app, second, (0, 0));
    watch.run(&mut app, 40);
    assert_eq!(status(&app, second), PathStatus::Stuck(Hindrance::NoRoom));
    app.world_mut().entity_mut(first).despawn();
    watch.run_until(&mut app, 60, |app| is_in_crowd(app, second));
    watch.run_until_all_arrived(&mut app, &[second], 60);
    assert!(stands_on(&app, second, (0, 0)));
}

#[test]
fn writing_the_transform_of_a_standing_critter_releases_its_cell_immediately() {
    let mut app = app_with(&field(30, 9));
    let mut watch = Watch::new();
    let moved = spawn_at(&mut app, Critter::new(8.0), (5, 5));
    watch.run(&mut app, 3);
    move_to(&mut app, moved, (20, 5));
    watch.allow_jump(moved);
    let newcomer = spawn_at(&mut app, Critter::new(8.0), (5, 5));
    watch.tick(&mut app);
    assert!(stands_on(&app, moved, (20, 5)), "it is on {}", cell(&app, moved));
    assert!(stands_on(&app, newcomer, (5, 5)), "it is on {}", cell(&app, newcomer));
    watch.run(&mut app, 40);
    assert!(position(&app, moved).distance(Vec2::new(200.0, 50.0)) < 0.01);
}

#[test]
fn a_critter_moved_to_an_occupied_cell_lands_beside_it() {
    let mut app = app_with(&field(30, 9));
    let mut watch = Watch::new();
    let owner = spawn_at(&mut app, Critter::new(8.0), (20, 5));
    let moved = spawn_at(&mut app, Critter::new(8.0), (5, 5));
    watch.run(&mut app, 3);
    move_to(&mut app, moved, (20, 5));
    watch.allow_jump(moved);
    watch.tick(&mut app);
    assert!(stands_on(&app, owner, (20, 5)));
    assert_eq!(chebyshev_distance(cell(&app, moved), Cell::new(20, 5)), 1);
    watch.run(&mut app, 40);
    let at = cell(&app, moved);
    let center = Vec2::new(at.x as f32, at.y as f32) * 10.0;
    assert!(position(&app, moved).distance(center) < 0.01, "its transform is at its cell");
}

#[test]
fn a_critter_with_an_order_that_is_moved_continues_from_there() {
    let mut app = app_with(&field(40, 12));
    let mut watch = Watch::new();
    let unit = spawn_at(&mut app, Critter::new(0.0), (2, 2));
    order(&mut app, unit, (37, 2));
    watch.run(&mut app, 10);
    move_to(&mut app, unit, (20, 10));
    watch.allow_jump(unit);
    watch.run(&mut app, 3);
    assert!(stands_on(&app, unit, (20, 10)), "it is on {}", cell(&app, unit));
    set_speed(&mut app, unit, 8.0);
    watch.run_until_all_arrived(&mut app, &[unit], 1_000);
    assert!(stands_on(&app, unit, (37, 2)));
}

#[test]
fn invalid_transforms_do_not_affect_other_critters() {
    let mut app = app_with(&field(30, 9));
    let mut watch = Watch::new();
    let nan = Vec3::splat(f32::NAN);
    let standing = spawn_at(&mut app, Critter::new(8.0), (10, 2));
    let walker = spawn_at(&mut app, Critter::new(8.0), (2, 5));
    watch.run(&mut app, 3);
    order(&mut app, walker, (27, 5));
    app.world_mut().get_mut::<Transform>(standing).unwrap().translation = nan;
    let lost = app.world_mut().spawn((Critter::new(8.0), Transform::from_translation(nan))).id();
    let far = Transform::from_xyz(f32::INFINITY, 1.0e30, 0.0);
    let far = app.world_mut().spawn((Critter::new(8.0), far)).id();
    watch.run_until_all_arrived(&mut app, &[walker], 500);
    assert!(!is_in_crowd(&app, lost) && !is_in_crowd(&app, far));
    // All get valid transforms.
    for (unit, at) in [(standing, (12, 7)), (lost, (14, 7)), (far, (16, 7))] {
        watch.allow_jump(unit);
        move_to(&mut app, unit, at);
    }
    watch.run(&mut app, 60);
    assert!(stands_on(&app, standing, (12, 7)), "{}", cell(&app, standing));
    assert!(stands_on(&app, lost, (14, 7)), "{}", cell(&app, lost));
    assert!(stands_on(&app, far, (16, 7)), "{}", cell(&app, far));
}

#[test]
fn a_critter_that_leaves_in_the_middle_of_a_step_releases_its_cells() {
    for is_despawned in [true, false] {
        let mut app = app_with(&corridor());
        let mut watch = Watch::new();
        let slow = spawn_at(&mut app, Critter::new(0.25), (5, 1));
        let fast = spawn_at(&mut app, Critter::new(8.0), (0, 1));
        order(&mut app, slow, (19, 1));
        order(&mut app, fast, (17, 1));
        watch.run(&mut app, 100);
        assert!(state(&app, slow).walk().is_between_cells());
        assert_eq!(cell(&app, fast), Cell::new(4, 1), "right behind it");
        let mut leaves = app.world_mut().entity_mut(slow);
        if is_despawned {
            leaves.despawn();
        } else {
            leaves.remove::<Critter>(); // for example, a building from now on
        }
        // The slow critter would have taken 256 ticks for each of twelve more cells.
        watch.run_until_all_arrived(&mut app, &[fast], 500);
        assert_eq!(crowd_len(&app), 1);
    }
}

#[test]
fn a_walking_critter_that_is_none_any_more_gets_a_path_for_the_game_to_follow() {
    #[derive(Resource, Default)]
    struct Invalidated(Vec<Entity>);
    for is_ghost in [false, true] {
        let mut app = app_with(&field(40, 20));
        record(&mut app);
        app.init_resource::<Invalidated>().add_observer(
            |event: On<PathInvalidated>, mut list: ResMut<Invalidated>| list.0.push(event.entity),
        );
        let unit = if is_ghost { spawn_ghost } else { spawn_critter }(&mut app, (2, 2));
        order(&mut app, unit, (30, 9));
        run(&mut app, 100);
        app.world_mut().entity_mut(unit).remove::<Critter>();
        run(&mut app, 4);
        assert_eq!(app.world().resource::<Invalidated>().0, [unit]);
        assert_eq!(status(&app, unit), PathStatus::Found(PathKind::Complete));
        assert!(!app.world().entity(unit).contains::<CritterState>());
        let place = position(&app, unit);
        let start = app.world().get::<NavPath>(unit).unwrap().start();
        assert!(start.x > 5, "its path begins where it was sent from, at {start}");
        let center = Vec2::new(start.x as f32, start.y as f32) * 10.0;
        assert!((place - center).abs().max_element() <= 5.01, "{start} is not the cell at {place}");
        // It is a critter again, and walks on.
        app.world_mut().entity_mut(unit).insert(Critter::new(8.0));
        run(&mut app, 400);
        assert_eq!((has_arrived(&app, unit), failures(&app, unit).len()), (true, 0));
    }
}

#[test]
fn an_order_with_another_profile_changes_the_size_of_a_walking_critter() {
    let mut app = app_with_sizes(&field(40, 20));
    let mut watch = Watch::new();
    let unit = spawn_at(&mut app, Critter::new(8.0), (2, 8));
    let other = spawn_at(&mut app, Critter::new(8.0), (11, 9));
    app.world_mut().entity_mut(other).insert(Unpushable);
    order(&mut app, unit, (35, 8));
    watch.run_until(&mut app, 300, |app| cell(app, unit).x == 9);
    // It grows beside the other critter.
    app.world_mut().get_mut::<NavAgent>(unit).unwrap().profile = HUGE;
    insert_request(&mut app, unit, PathRequest::to(Cell::new(35, 8)).profile(HUGE));
    watch.run_until_all_arrived(&mut app, &[unit], 1_500);
    assert!(stands_on(&app, unit, (35, 8)) && stands_on(&app, other, (11, 9)));
    watch.run(&mut app, 60);
    assert!(position(&app, unit).distance(block_center(&app, HUGE, Cell::new(35, 8))) < 0.01);
}

#[test]
fn an_order_that_fails_immediately_leaves_size_and_grid_unchanged() {
    let mut app = app_with_sizes(&field(20, 20));
    let frame = GridFrame::square(Vec2::new(1_000.0, 0.0), Vec2::splat(10.0));
    grid(&mut app).insert(GridId(3), grid_from(&field(20, 20)), frame);
    let large = spawn_kind_at(&mut app, (Critter::new(8.0), NavAgent::new(HUGE)), (5, 5));
    let away = Transform::from_xyz(1_050.0, 50.0, 0.0);
    let away =
        app.world_mut().spawn((Critter::new(8.0), NavAgent::default().on(GridId(3)), away)).id();
    run(&mut app, 3);
    insert_request(&mut app, large, PathRequest::to(Vec2::NAN).profile(HUGE));
    insert_request(&mut app, away, PathRequest::to(Vec2::NAN).start_on(GridId(3)));
    run(&mut app, 40);
    for unit in [large, away] {
        assert_eq!(status(&app, unit), PathStatus::Failed(PathFailure::GoalUnknown));
    }
    assert_eq!(position(&app, large), block_center(&app, HUGE, Cell::new(5, 5)));
    let crowds: &Crowds = app.world().resource();
    assert_eq!(crowds.get(GridId(3)).unwrap().len(), 1, "it is still on its own grid");
    assert_eq!(position(&app, away), Vec2::new(1_050.0, 50.0));
}

/// Towers, for example: they slide to their own cells although they cannot walk.
#[test]
fn critters_that_cannot_walk_are_drawn_on_their_own_cells() {
    let mut app = app_with(&field(12, 12));
    let place = Transform::from_xyz(50.0, 50.0, 0.0);
    let towers: Vec<Entity> =
        (0..4).map(|_| app.world_mut().spawn((Critter::new(0.0), place)).id()).collect();
    run(&mut app, 120);
    for &tower in &towers {
        let cell = state(&app, tower).cell();
        let center = Vec2::new(cell.x as f32, cell.y as f32) * 10.0;
        assert!(position(&app, tower).distance(center) < 0.1, "{cell}: {}", position(&app, tower));
    }
}

#[test]
fn a_critter_on_a_taken_cell_gets_one_at_most_16_cells_away() {
    for (others, is_in) in [(16, true), (17, false)] {
        let mut app = app_with(&field(40, 1));
        for x in 0..others {
            spawn_at(&mut app, Critter::new(8.0), (x, 0));
        }
        run(&mut app, 2);
        let late = spawn_at(&mut app, Critter::new(8.0), (0, 0));
        run(&mut app, 40);
        assert_eq!(is_in_crowd(&app, late), is_in, "{others} others");
        assert_eq!(crowd_len(&app), others as usize + usize::from(is_in));
        if is_in {
            assert_eq!(cell(&app, late), Cell::new(16, 0));
        }
    }
}

#[test]
fn a_critter_on_a_taken_cell_gets_none_in_another_room() {
    let mut app = app_with("..#.....");
    let [first, second, third] = [0; 3].map(|x| spawn_at(&mut app, Critter::new(8.0), (x, 0)));
    run(&mut app, 40);
    assert_eq!([first, second].map(|unit| cell(&app, unit).x), [0, 1]);
    assert!(!is_in_crowd(&app, third), "there is room only beyond the wall");
    let mut grids = grid(&mut app);
    let level = grids.get_mut(GridId::default()).unwrap();
    level.set_terrain(Cell::new(2, 0), TerrainId(b'.')).unwrap();
    run(&mut app, 40);
    assert_eq!(cell(&app, third), Cell::new(2, 0), "it is connected now");
}
