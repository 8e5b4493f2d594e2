//! Colliding critters while the terrain changes: buildings are placed over them, grids are replaced and
//! removed.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{app::*, units::*};
use crate::watch::*;

#[test]
fn critters_under_a_new_building_move_out() {
    let mut app = app_with(&field(24, 24));
    let mut watch = Watch::new();
    let cells = (0..9).map(|i| (9 + i % 3, 9 + i / 3));
    let units: Vec<Entity> = cells.map(|at| spawn_at(&mut app, Critter::new(8.0), at)).collect();
    for &guard in &units[3..5] {
        app.world_mut().entity_mut(guard).insert(Unpushable);
    }
    watch.run(&mut app, 3);
    block(&mut app, CellRect::new(Cell::new(8, 8), 5, 5));
    let are_out = |app: &App| units.iter().all(|&unit| is_passable(app, unit));
    assert!(!are_out(&app));
    watch.run_until(&mut app, 600, are_out);
    watch.run(&mut app, 100);
    assert!(are_out(&app), "and stay outside");
}

#[test]
fn a_critter_in_a_slanted_lane_of_hexagons_moves_off_a_blocked_cell() {
    let lane = |x: usize, y: usize| if x + y == 10 { '.' } else { '#' };
    let rows = (0..11).rev().map(|y| (0..11).map(|x| lane(x, y)).collect::<String>() + "\n");
    let mut app = app_on(&rows.collect::<String>(), Topology::Hexagonal);
    let position = frame_of(Topology::Hexagonal).cell_center(Cell::new(5, 5)).extend(0.0);
    let critter = (Critter::new(8.0), Transform::from_translation(position));
    let unit = app.world_mut().spawn(critter).id();
    let mut watch = Watch::new();
    watch.run(&mut app, 3);
    block(&mut app, CellRect::single(Cell::new(5, 5)));
    watch.run_until(&mut app, 100, |app| is_passable(app, unit));
}

#[test]
fn a_critter_on_costly_ground_gets_patient() {
    // A bay of one cell below the costly cell (5, 1), with a critter in it; another one has the same goal.
    const MUD: TerrainId = TerrainId(7);
    for topology in [Topology::Square, Topology::Hexagonal] {
        let map = field(12, 5) + "\n#####.######";
        let mut app = app_on(&map, topology);
        let profile = Profile::new().with(TerrainId::GROUND, 16).with(MUD, 80);
        let mut grids = grid(&mut app);
        grids.set_profiles(vec![profile]);
        let level = grids.get_mut(GridId::default()).unwrap();
        level.set_terrain(Cell::new(5, 1), MUD).unwrap();
        let units = [(5, 0), (6, 3)].map(|(x, y)| {
            let at = frame_of(topology).cell_center(Cell::new(x, y)).extend(0.0);
            app.world_mut().spawn((Critter::new(8.0), Transform::from_translation(at))).id()
        });
        let mut watch = Watch::new();
        watch.run(&mut app, 2);
        order(&mut app, units[0], (5, 0));
        watch.run_until_all_arrived(&mut app, &units[..1], 10);
        order(&mut app, units[1], (5, 0));
        watch.run_until_all_arrived(&mut app, &units, 1_000);
    }
}

#[test]
fn an_order_given_inside_a_new_building_leads_out_of_it() {
    let mut app = app_with(&field(24, 24));
    let mut watch = Watch::new();
    let unit = spawn_at(&mut app, Critter::new(8.0), (10, 10));
    watch.run(&mut app, 3);
    block(&mut app, CellRect::new(Cell::new(8, 8), 5, 5));
    watch.run(&mut app, 2);
    assert!(!is_passable(&app, unit), "it is still inside");
    order(&mut app, unit, (20, 10));
    watch.run_until_all_arrived(&mut app, &[unit], 600);
    assert!(stands_on(&app, unit, (20, 10)));
}

/// Returns a critter on its path to (27, 10) that was in the middle of a step when a building was placed over
/// it.
fn built_over() -> (App, Watch, Entity) {
    let mut app = app_with(&field(30, 24));
    let mut watch = Watch::new();
    let unit = spawn_at(&mut app, Critter::new(8.0), (2, 10));
    order(&mut app, unit, (27, 10));
    let is_there = |app: &App| {
        state(app, unit).walk().is_between_cells() && cell(app, unit) == Cell::new(10, 10)
    };
    watch.run_until(&mut app, 300, is_there);
    block(&mut app, CellRect::new(Cell::new(8, 8), 6, 5));
    assert!(!is_passable(&app, unit));
    (app, watch, unit)
}

#[test]
fn a_walking_critter_that_is_built_over_moves_out_and_continues() {
    let (mut app, mut watch, unit) = built_over();
    watch.run_until(&mut app, 300, |app| is_passable(app, unit));
    watch.run_until_all_arrived(&mut app, &[unit], 600);
    assert!(stands_on(&app, unit, (27, 10)));
}

#[test]
fn a_walking_critter_that_is_built_over_takes_orders() {
    let (mut app, mut watch, unit) = built_over();
    watch.run(&mut app, 3);
    order(&mut app, unit, (4, 20));
    watch.run_until_all_arrived(&mut app, &[unit], 600);
    assert!(stands_on(&app, unit, (4, 20)));
}

#[test]
fn critters_enter_a_new_grid_of_another_size() {
    let mut app = app_with(&field(40, 40));
    let inside = spawn_at(&mut app, Critter::new(8.0), (2, 2));
    let leaves = spawn_at(&mut app, Critter::new(8.0), (5, 10));
    let outside = spawn_at(&mut app, Critter::new(8.0), (30, 30));
    order(&mut app, inside, (15, 2));
    order(&mut app, leaves, (38, 38));
    order(&mut app, outside, (35, 30));
    run(&mut app, 21);
    assert!(is_walking(&app, inside) && is_walking(&app, outside));
    let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(10.0));
    grid(&mut app).insert(GridId::default(), grid_from(&field(20, 20)), frame);
    let mut watch = Watch::new();
    watch.run_until_all_arrived(&mut app, &[inside], 600);
    let gone = PathFailure::GoalOutOfBounds(Cell::new(38, 38));
    assert_eq!(status(&app, leaves), PathStatus::Failed(gone));
    for unit in [inside, leaves, outside] {
        let is_on = level(&app).contains(cell(&app, unit));
        assert!(is_on || !is_in_crowd(&app, unit), "{}", cell(&app, unit));
    }
    assert!(crowd_len(&app) >= 2);
}

#[test]
fn when_the_grid_is_removed_all_orders_fail() {
    let mut app = app_with(&field(30, 9));
    record(&mut app);
    let idle = spawn_at(&mut app, Critter::new(8.0), (10, 2));
    let walker = spawn_at(&mut app, Critter::new(2.0), (0, 5));
    let stuck = spawn_at(&mut app, Critter::new(0.0), (0, 7));
    order(&mut app, stuck, (20, 7));
    run_until(&mut app, 900, |app| matches!(status(app, stuck), PathStatus::Stuck(_)));
    order(&mut app, walker, (29, 5));
    run(&mut app, 20);
    let level = grid(&mut app).remove(GridId::default()).unwrap();
    run(&mut app, 3);
    let gone = PathFailure::GridGone(GridId::default());
    assert_eq!(status(&app, walker), PathStatus::Failed(gone));
    assert_eq!(status(&app, stuck), PathStatus::Failed(gone), "the stuck critter as well");
    assert_eq!((failures(&app, walker), failures(&app, stuck)), (vec![gone], vec![gone]));
    assert!(![idle, walker, stuck].iter().any(|&unit| is_in_crowd(&app, unit)));
    let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(10.0));
    grid(&mut app).insert(GridId::default(), level, frame);
    let mut watch = Watch::new();
    order(&mut app, walker, (20, 5));
    watch.run_until_all_arrived(&mut app, &[walker], 1_500);
    assert_eq!(crowd_len(&app), 3);
}

/// Returns the cells of a 7 × 7 building around (10, 10), the middle first.
fn building_from_the_middle() -> Vec<Cell> {
    let mut cells: Vec<Cell> = CellRect::new(Cell::new(7, 7), 7, 7).cells().collect();
    cells.sort_by_key(|cell| cell.x.abs_diff(10).max(cell.y.abs_diff(10)));
    cells
}

/// Builds a cell at a time over 25 critters, `ticks` ticks apart; all of them must get out.
fn is_built_over_units(cells: impl Iterator<Item = Cell>, ticks: u32) {
    let mut app = app_with(&field(24, 24));
    let mut watch = Watch::new();
    let stands = CellRect::new(Cell::new(8, 8), 5, 5).cells();
    let units: Vec<Entity> =
        stands.map(|at| spawn_at(&mut app, Critter::new(8.0), (at.x, at.y))).collect();
    watch.run(&mut app, 3);
    for cell in cells {
        block(&mut app, CellRect::single(cell));
        watch.run(&mut app, ticks);
    }
    watch.run_until(&mut app, 900, |app| units.iter().all(|&unit| is_passable(app, unit)));
}

#[test]
fn critters_leave_a_building_that_is_built_piece_by_piece() {
    for ticks in [0, 1, 3, 9] {
        is_built_over_units(building_from_the_middle().into_iter(), ticks);
    }
    is_built_over_units(building_from_the_middle().into_iter().rev(), 0);
}

/// A wall grows by a cell over a critter at its end. Others stand to both sides, so the critter leaves along the wall,
/// and the next cell of the wall is built over it again.
#[test]
fn a_critter_that_leaves_a_new_wall_can_be_built_over_again() {
    for delay in 0..24 {
        let mut app = app_with(&field(20, 20));
        let mut watch = Watch::new();
        block(&mut app, CellRect::new(Cell::new(7, 3), 1, 12));
        let cells = [(7, 15), (6, 15), (8, 15)];
        let units = cells.map(|at| spawn_at(&mut app, Critter::new(4.0), at));
        for &guard in &units[1..] {
            app.world_mut().entity_mut(guard).insert(Unpushable);
        }
        watch.run(&mut app, 3);
        block(&mut app, CellRect::single(Cell::new(7, 15)));
        watch.run(&mut app, delay);
        block(&mut app, CellRect::single(Cell::new(7, 16)));
        watch.run_until(&mut app, 300, |app| is_passable(app, units[0]));
    }
}

/// A critter is sent to another grid as it walks, and a wall is built there in the same frame. Each of the two crowds has one
/// unit: how far the one on that grid has come says nothing about the path of the other.
#[test]
fn a_wall_on_its_next_grid_leaves_a_critter_alone() {
    const UPPER: GridId = GridId(1);
    for ticks in 0..20 {
        let mut app = app_with(&field(40, 12));
        let level = grid(&mut app).get(GridId::default()).unwrap().clone();
        grid(&mut app).insert(UPPER, level, frame_of(Topology::Square));
        let below = spawn_at(&mut app, Critter::new(8.0), (2, 5));
        let above = spawn_at(&mut app, Critter::new(8.0), (2, 5));
        let agent = NavAgent { grid: UPPER, ..NavAgent::default() };
        app.world_mut().entity_mut(above).insert(agent);
        order(&mut app, below, (38, 5));
        run(&mut app, 60);
        assert_eq!(state(&app, above).unit(), state(&app, below).unit(), "on two grids");
        insert_request(&mut app, above, PathRequest::to(Cell::new(4, 5)).goal_on(UPPER));
        run(&mut app, ticks);
        app.world_mut().get_mut::<NavAgent>(above).unwrap().grid = GridId::default();
        block(&mut app, CellRect::new(Cell::new(1, 6), 38, 1));
        run(&mut app, 2);
        assert_eq!(counters(&app).repaired, 0, "after {ticks} ticks");
        run_until(&mut app, 400, |app| has_arrived(app, below));
    }
}

/// A building over a street between old walls: its ends are far away, and beyond each wall there is open ground.
#[test]
fn units_under_a_new_building_do_not_escape_through_older_walls() {
    let open = "........................";
    let wall = "....################....";
    let mut app = app_with(&[open, open, wall, open, wall, open, open].join("\n"));
    let mut watch = Watch::new();
    let units: Vec<Entity> =
        (7..17).step_by(2).map(|x| spawn_at(&mut app, Critter::new(8.0), (x, 3))).collect();
    watch.run(&mut app, 3);
    assert!(units.iter().all(|&unit| cell(&app, unit).y == 3));
    block(&mut app, CellRect::new(Cell::new(5, 3), 14, 1));
    watch.run_until(&mut app, 1_200, |app| {
        for &unit in &units {
            let walk = *state(app, unit).walk();
            for at in [walk.tail(), walk.head()] {
                let is_old_wall = (at.y == 2 || at.y == 4) && (4..20).contains(&at.x);
                assert!(!is_old_wall, "through an older wall at {at}");
            }
        }
        units.iter().all(|&unit| is_passable(app, unit))
    });
}
