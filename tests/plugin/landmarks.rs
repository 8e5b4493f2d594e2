//! Landmarks through the plugin: filled with what searches leave of the budget, and gone where they would be wrong.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{Random, app::*, patched_terrain};

const SIDE: u32 = 128;

fn app_of_patches() -> App {
    let mut app = app();
    let terrain = patched_terrain((SIDE, SIDE), 150, 60, &mut Random(5));
    let level = NavGrid::from_terrain(SIDE, SIDE, terrain).unwrap();
    let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(10.0));
    grid(&mut app).insert(GridId::default(), level, frame);
    app
}

/// Two grids that both want landmarks.
fn app_of_two_maps() -> App {
    let mut app = app_of_patches();
    let level = grid(&mut app).get(GridId::default()).unwrap().clone();
    let frame = GridFrame::square(Vec2::new(5_000.0, 0.0), Vec2::splat(10.0));
    grid(&mut app).insert(GridId(1), level, frame);
    for id in [GridId(0), GridId(1)] {
        let levels = app.world().resource::<NavGrids>();
        levels.get(id).unwrap().want_landmarks(ProfileId::default());
    }
    app
}

/// Sends a unit somewhere: without searches there are no landmarks.
fn search(app: &mut App) {
    let unit = spawn_ghost(app, (0, 0));
    order(app, unit, (100, 100));
}

fn set(app: &mut App, change: impl FnOnce(&mut TilePathSettings)) {
    change(&mut app.world_mut().resource_mut::<TilePathSettings>());
}

fn bytes(app: &App) -> usize {
    counters(app).landmark_bytes
}

#[test]
fn landmarks_are_filled_in_spare_budget_and_can_be_switched_off() {
    let mut app = app_of_patches();
    set(&mut app, |settings| settings.budget = 0);
    run(&mut app, 100);
    assert_eq!(bytes(&app), 0, "there is no budget");
    set(&mut app, |settings| settings.budget = 2_000);
    run(&mut app, 400);
    assert_eq!(bytes(&app), 0, "nobody searches");
    search(&mut app);
    run_until(&mut app, 400, |app| bytes(app) > 0);
    assert!(bytes(&app) <= (SIDE * SIDE * 23) as usize, "{}", bytes(&app));
    set(&mut app, |settings| settings.landmark_bytes = 0);
    run(&mut app, 100);
    assert_eq!(bytes(&app), 0, "switched off");
    set(&mut app, |settings| settings.landmark_bytes = 1_000);
    run(&mut app, 400);
    assert_eq!(bytes(&app), 0, "too little room");
    set(&mut app, |settings| settings.landmark_bytes = 1 << 20);
    run_until(&mut app, 400, |app| bytes(app) > 0);
}

/// The limit is one for all grids, and memory that becomes free is used.
#[test]
fn grids_share_the_room_for_landmarks() {
    let mut app = app_of_two_maps();
    let limit = (SIDE * SIDE * 24) as usize;
    set(&mut app, |settings| settings.landmark_bytes = limit);
    run(&mut app, 800);
    let of = |app: &App, id| {
        app.world().resource::<NavGrids>().get(GridId(id)).map_or(0, NavGrid::landmark_bytes)
    };
    let shares = [of(&app, 0), of(&app, 1)];
    assert!(shares[0] > 0 && shares[1] > 0, "both have a quick table: {shares:?}");
    assert_eq!(bytes(&app), shares[0] + shares[1]);
    assert!(bytes(&app) <= limit, "{shares:?}");
    // What the first one gives back is not taken by the second one: it is missing there.
    let level = |app: &mut App, terrain| {
        let mut levels = grid(app);
        let level = levels.get_mut(GridId(0)).unwrap();
        level.set_terrain(Cell::new(64, 64), terrain).unwrap();
    };
    level(&mut app, TerrainId::VOID);
    level(&mut app, TerrainId::GROUND);
    run(&mut app, 60);
    assert_eq!(of(&app, 0), 0, "there is a pause");
    run(&mut app, 800);
    assert!(of(&app, 0) > 0 && of(&app, 1) > 0);
    grid(&mut app).remove(GridId(0));
    run_until(&mut app, 800, |app| of(app, 1) > shares[1]);
    assert_eq!(of(&app, 1), bytes(&app));
}

/// What was kept for a quick table of a grid is free when that grid goes before it has one.
#[test]
fn room_that_was_kept_for_a_missing_table_is_used_when_its_grid_is_gone() {
    let mut app = app_of_two_maps();
    set(&mut app, |settings| settings.landmark_bytes = (SIDE * SIDE * 24) as usize);
    run(&mut app, 800);
    let of = |app: &App| {
        app.world().resource::<NavGrids>().get(GridId(1)).map_or(0, NavGrid::landmark_bytes)
    };
    let cramped = of(&app);
    for terrain in [TerrainId::VOID, TerrainId::GROUND] {
        let mut levels = grid(&mut app);
        let level = levels.get_mut(GridId(0)).unwrap();
        level.set_terrain(Cell::new(64, 64), terrain).unwrap();
    }
    // Its table is gone, and it pauses.
    run(&mut app, 60);
    grid(&mut app).remove(GridId(0));
    run_until(&mut app, 800, |app| of(app) > cramped);
}

/// Memory that becomes free while a table is filled for less of it.
#[test]
fn a_table_that_was_begun_with_little_room_is_filled_again() {
    let mut app = app_of_patches();
    let level = grid(&mut app).get(GridId::default()).unwrap().clone();
    let frame = GridFrame::square(Vec2::new(5_000.0, 0.0), Vec2::splat(10.0));
    grid(&mut app).insert(GridId(1), level, frame);
    let want = |app: &App, id| {
        app.world().resource::<NavGrids>().get(id).unwrap().want_landmarks(ProfileId::default());
    };
    set(&mut app, |settings| settings.landmark_bytes = (SIDE * SIDE * 24) as usize);
    want(&app, GridId(0));
    run(&mut app, 200);
    want(&app, GridId(1));
    run(&mut app, 8);
    grid(&mut app).remove(GridId(0));
    run(&mut app, 600);
    let levels = app.world().resource::<NavGrids>();
    let landmarks = levels.get(GridId(1)).unwrap().landmark_cells(ProfileId::default()).count();
    assert!(landmarks >= 12, "{landmarks}");
}

#[test]
fn landmarks_leave_with_cheaper_terrain_and_come_back_after_a_pause() {
    let mut app = app_of_patches();
    search(&mut app);
    run_until(&mut app, 400, |app| bytes(app) > 0);
    let everywhere = CellRect::new(Cell::default(), SIDE, SIDE);
    let terrain = |app: &App, cell| {
        app.world().resource::<NavGrids>().get(GridId::default()).unwrap().terrain(cell)
    };
    let wall = everywhere.cells().find(|&cell| terrain(&app, cell) == Some(TerrainId(0))).unwrap();
    let level = |app: &mut App, change: &dyn Fn(&mut NavGrid)| {
        change(grid(app).get_mut(GridId::default()).unwrap());
    };
    level(&mut app, &|level| level.block(CellRect::new(Cell::new(60, 60), 4, 4)).unwrap());
    run(&mut app, 2);
    assert!(bytes(&app) > 0, "a building changes nothing");
    level(&mut app, &|level| level.set_terrain(wall, TerrainId::GROUND).unwrap());
    run(&mut app, 2);
    assert_eq!(bytes(&app), 0, "a wall is gone");
    let ticks = run_until(&mut app, 800, |app| bytes(app) > 0);
    assert!(ticks > 60, "it came back after {ticks} ticks, while others might dig on");
    grid(&mut app).remove(GridId::default());
    run(&mut app, 2);
    assert_eq!(bytes(&app), 0, "the grid is gone");
}

/// The same costs with landmarks and without, and the same state in every run.
#[test]
fn answers_cost_the_same_with_landmarks() {
    let play = |landmark_bytes: usize, threads: usize| {
        let mut app = app_of_patches();
        set(&mut app, |settings| {
            (settings.landmark_bytes, settings.threads) = (landmark_bytes, threads);
        });
        search(&mut app);
        run(&mut app, 300);
        let mut random = Random(9);
        let mut cell = || (random.below(SIDE) as i32, random.below(SIDE) as i32);
        for _ in 0..200 {
            let unit = spawn_ghost(&mut app, cell());
            order(&mut app, unit, cell());
        }
        run(&mut app, 60);
        let PathCounters { answers_checksum, expansions, .. } = counters(&app);
        (answers_checksum, expansions)
    };
    let (with, without) = (play(1 << 20, 1), play(0, 1));
    assert_eq!(with.0, without.0);
    assert!(with.1 < without.1, "{} and {} expansions", with.1, without.1);
    assert_eq!(with, play(1 << 20, 4));
}
