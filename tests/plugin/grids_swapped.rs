//! Grids that the game takes out, copies and puts back, and the resource of grids inserted anew.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{app::*, units::*};
use crate::watch::*;

const FIRST: GridId = GridId(0);
const SECOND: GridId = GridId(1);

/// Counts the ticks in which the grids count as changed.
#[derive(Resource, Default)]
struct Changes(u32);

fn count_changes(grids: Res<NavGrids>, mut changes: ResMut<Changes>) {
    changes.0 += u32::from(grids.is_changed());
}

fn blocked(app: &App, id: GridId) -> Vec<Cell> {
    let level = app.world().resource::<NavGrids>().get(id).unwrap();
    level.rect().cells().filter(|&cell| level.blockers(cell) > 0).collect()
}

fn edges(app: &App, id: GridId) -> Vec<(Cell, Direction, EdgeId)> {
    app.world().resource::<NavGrids>().get(id).unwrap().edges().collect()
}

#[test]
fn what_entities_placed_is_on_a_grid_put_back_or_copied_only_once() {
    let mut app = app_with(&field(9, 9));
    grid(&mut app).get_mut(FIRST).unwrap().block(CellRect::single(Cell::new(7, 7))).unwrap();
    let house = app.world_mut().spawn(NavBlocker::at(CellRect::new(Cell::new(2, 2), 2, 1))).id();
    let fence = NavEdges::between(Cell::new(4, 4), Direction::North, EdgeId::WALL);
    let fence = app.world_mut().spawn(fence).id();
    app.update();
    let all = [(2, 2), (3, 2), (7, 7)].map(Cell::from);
    assert_eq!(blocked(&app, FIRST), all);
    // For some ticks there is no grid, or none: it was replaced by itself.
    for ticks in [0, 3] {
        let taken = grid(&mut app).remove(FIRST).unwrap();
        run(&mut app, ticks);
        grid(&mut app).insert(FIRST, taken, GridFrame::default());
        app.update();
        assert_eq!((blocked(&app, FIRST), edges(&app, FIRST).len()), (all.to_vec(), 1));
    }
    // A copy under another number has what the game has blocked by hand. Of the house, the game has freed a cell by hand.
    let mut copy = app.world().resource::<NavGrids>().get(FIRST).unwrap().clone();
    copy.unblock(CellRect::single(Cell::new(3, 2))).unwrap();
    grid(&mut app).insert(SECOND, copy, GridFrame::default());
    app.update();
    assert_eq!((blocked(&app, SECOND), edges(&app, SECOND).len()), (vec![all[2]], 0));
    app.world_mut().despawn(house);
    app.world_mut().despawn(fence);
    app.update();
    assert_eq!((blocked(&app, FIRST), edges(&app, FIRST).len()), (vec![all[2]], 0));
}

#[test]
fn a_resource_of_grids_inserted_anew_is_noticed() {
    let levels = [(40, 30), (7, 6), (40, 30), (12, 3)];
    let mut app = app_with(&field(40, 30));
    record(&mut app);
    let units: Vec<_> = (0..6).map(|x| spawn_critter(&mut app, (1 + x % 3, 1 + x / 3))).collect();
    app.world_mut().spawn(NavBlocker::at(CellRect::new(Cell::new(5, 0), 1, 2)));
    for (level, (width, height)) in (0..).zip(levels) {
        let goal = Cell::new(width as i32 - 1, height as i32 - 1);
        for &unit in &units {
            order(&mut app, unit, (goal.x, goal.y));
        }
        run(&mut app, 3);
        // As many grids as before, so that all counts are those of the first level.
        let mut grids = NavGrids::default();
        let next = levels[(level + 1) % levels.len()];
        grids.insert(FIRST, grid_from(&field(next.0, next.1)), GridFrame::default());
        if level % 2 == 0 {
            app.insert_resource(grids);
        } else {
            *app.world_mut().resource_mut::<NavGrids>() = grids;
        }
        app.update();
        assert_eq!(blocked(&app, FIRST).len(), 2, "the house stands on each level");
        for &unit in &units {
            order(&mut app, unit, (2, 2));
        }
        run(&mut app, 60);
        let crowd = app.world().resource::<Crowds>().get(FIRST).unwrap();
        assert_eq!(crowd.len(), units.len(), "level {level}");
        for &unit in &units {
            assert!(cell(&app, unit).x < next.0 as i32, "level {level}");
        }
    }
}

#[test]
fn a_copy_of_the_grids_that_is_put_back_is_noticed() {
    let mut app = app_with(&field(20, 9));
    let before = app.world_mut().spawn(NavBlocker::at(CellRect::single(Cell::new(2, 2)))).id();
    app.update();
    let saved = app.world().resource::<NavGrids>().clone();
    app.world_mut().spawn(NavBlocker::at(CellRect::new(Cell::new(10, 0), 1, 8)));
    app.world_mut().despawn(before);
    let unit = spawn_critter(&mut app, (5, 1));
    order(&mut app, unit, (15, 1));
    run(&mut app, 20);
    app.insert_resource(saved);
    app.update();
    assert_eq!(blocked(&app, FIRST).len(), 8, "the wall that stands now");
    run_until(&mut app, 400, |app| has_arrived(app, unit));
}

#[test]
fn a_building_is_taken_away_whole_though_the_game_freed_one_of_its_cells() {
    let mut app = app_with(&field(9, 9));
    let house = app.world_mut().spawn(NavBlocker::at(CellRect::new(Cell::new(2, 2), 2, 1))).id();
    app.update();
    let freed = CellRect::single(Cell::new(3, 2));
    grid(&mut app).get_mut(FIRST).unwrap().unblock(freed).unwrap();
    app.world_mut().despawn(house);
    app.update();
    assert_eq!(blocked(&app, FIRST), []);
}

#[test]
fn grids_that_nobody_edits_do_not_count_as_changed() {
    let mut app = app_with(&field(20, 9));
    app.init_resource::<Changes>().add_systems(Last, count_changes);
    app.world_mut().spawn(NavBlocker::at(CellRect::new(Cell::new(9, 0), 1, 5)));
    app.world_mut().spawn(NavEdges::between(Cell::new(4, 4), Direction::North, EdgeId::WALL));
    let unit = spawn_critter(&mut app, (1, 1));
    run(&mut app, 2);
    let before = app.world().resource::<Changes>().0;
    order(&mut app, unit, (18, 1));
    run_until(&mut app, 400, |app| has_arrived(app, unit));
    assert_eq!(app.world().resource::<Changes>().0, before);
    app.world_mut().spawn(NavBlocker::at(CellRect::new(Cell::new(3, 0), 1, 5)));
    run(&mut app, 5);
    assert_eq!(app.world().resource::<Changes>().0, before + 1);
}
