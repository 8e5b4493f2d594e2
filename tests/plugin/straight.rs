//! Critters that walk in straight lines (ghosts, as colliding critters are drawn on the steps of the grid):
//! where they are drawn, also after edits and new orders.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::app::*;

fn arrived(app: &App, unit: Entity) -> bool {
    matches!(status(app, unit), PathStatus::Arrived(_))
}

/// Spawns a ghost at `cell` that walks straight (cells of 10 units, 8 cells per second).
fn spawn_straight(app: &mut App, cell: (i32, i32)) -> Entity {
    let unit = spawn_ghost(app, cell);
    app.world_mut().entity_mut(unit).insert(AnyAnglePath::default());
    unit
}

/// Returns the distance of `point` from the line through `a` and `b`.
fn distance_from_line(point: Vec2, a: Vec2, b: Vec2) -> f32 {
    (b - a).normalize().perp_dot(point - a).abs()
}

/// Runs until `unit` has arrived and returns the ticks; checks that it never jumps.
fn walk(app: &mut App, unit: Entity, mut each: impl FnMut(&App, Vec2)) -> u32 {
    let mut before = position(app, unit);
    run_until(app, 2_000, |app| {
        let now = position(app, unit);
        // 8 cells of 10 units per second, 64 ticks per second; a transition to another line may double that.
        assert!(before.distance(now) <= 2.0 * 80.0 / 64.0 + 0.01, "from {before} to {now}");
        before = now;
        each(app, now);
        arrived(app, unit)
    })
}

#[test]
fn a_straight_walk_keeps_to_the_line_and_takes_as_long_as_along_the_grid() {
    let mut app = app_with(&field(60, 60));
    let (bent, straight) = (spawn_ghost(&mut app, (2, 3)), spawn_straight(&mut app, (2, 3)));
    for unit in [bent, straight] {
        order(&mut app, unit, (50, 20));
    }
    let (from, to) = (Vec2::new(20.0, 30.0), Vec2::new(500.0, 200.0));
    let (mut deviation, mut farthest) = (0.0f32, 0.0f32);
    let ticks = run_until(&mut app, 1_000, |app| {
        deviation = deviation.max(distance_from_line(position(app, straight), from, to));
        farthest = farthest.max(distance_from_line(position(app, bent), from, to));
        arrived(app, bent)
    });
    assert!(arrived(&app, straight), "in the same tick as the other, {ticks}");
    assert!(deviation < 0.1, "{deviation}");
    assert!(farthest > 30.0, "along the grid the path bends: {farthest}");
    run(&mut app, 3); // drawn one tick later
    assert_eq!(position(&app, straight), to);
    let cost = |unit| app.world().get::<NavPath>(unit).unwrap().cost();
    assert_eq!(cost(straight), cost(bent));
}

#[test]
fn a_straight_walker_faces_its_direction_of_travel() {
    let mut app = app_with(&field(60, 60));
    let unit = spawn_straight(&mut app, (0, 0));
    order(&mut app, unit, (40, 10));
    run(&mut app, 30);
    let forward = app.world().get::<Transform>(unit).unwrap().rotation * Vec3::X;
    assert!(forward.truncate().angle_to(Vec2::new(40.0, 10.0)).abs() < 0.01, "{forward}");
}

#[test]
fn a_new_order_halfway_causes_no_jump() {
    let mut app = app_with(&field(60, 60));
    let unit = spawn_straight(&mut app, (2, 3));
    order(&mut app, unit, (50, 20));
    run(&mut app, 101);
    order(&mut app, unit, (9, 55));
    app.update();
    walk(&mut app, unit, |_, _| {});
    run(&mut app, 3);
    assert_eq!(position(&app, unit), Vec2::new(90.0, 550.0));
    // Stopped between cells, it comes to rest on a cell and stays there.
    order(&mut app, unit, (31, 20));
    run(&mut app, 77);
    app.world_mut().entity_mut(unit).remove::<PathRequest>();
    run(&mut app, 60);
    let at_rest = position(&app, unit);
    let cell = state(&app, unit).cell();
    assert_eq!(at_rest, Vec2::new(cell.x as f32 * 10.0, cell.y as f32 * 10.0));
    run(&mut app, 10);
    assert_eq!(position(&app, unit), at_rest);
}

#[test]
fn a_wall_beside_the_steps_moves_the_walker_off_the_line() {
    let mut app = app_with(&field(60, 30));
    let unit = spawn_straight(&mut app, (0, 0));
    order(&mut app, unit, (50, 20));
    run(&mut app, 40);
    let mut blocked = Vec::new();
    let path = app.world().get::<NavPath>(unit).unwrap().clone();
    let cells: Vec<Cell> = path.cells().collect();
    // Single walls on the cells beside the path, except on cells that a step needs.
    for &cell in &cells[20..40] {
        let wall = cell.offset(1, -1);
        let before = grid(&mut app).get(GridId::default()).unwrap().clone();
        let mut after = before;
        after.block(CellRect::single(wall)).unwrap();
        let is_needed = cells.windows(2).any(|step| {
            let corners = [Cell::new(step[0].x, step[1].y), Cell::new(step[1].x, step[0].y)];
            cells.contains(&wall) || corners.contains(&wall)
        });
        if !is_needed {
            grid(&mut app)
                .get_mut(GridId::default())
                .unwrap()
                .block(CellRect::single(wall))
                .unwrap();
            blocked.push(wall);
        }
    }
    assert!(!blocked.is_empty());
    walk(&mut app, unit, |app, position| {
        let cell = app.world().resource::<NavGrids>().cell_at(GridId::default(), position).unwrap();
        assert!(!blocked.contains(&cell), "drawn at {position}, in a wall");
    });
    assert_eq!(counters(&app).repaired, 0, "the path itself was free");
}

#[test]
fn the_rest_of_a_long_path_continues_where_the_first_segment_ends() {
    let mut app = app();
    let level = NavGrid::new(2_600, 300, TerrainId::GROUND).unwrap();
    let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(10.0));
    grid(&mut app).insert(GridId::default(), level, frame);
    let unit = spawn_straight(&mut app, (5, 5));
    app.world_mut().get_mut::<Critter>(unit).unwrap().speed = 200.0;
    order(&mut app, unit, (2_500, 250));
    let mut before = position(&app, unit);
    run_until(&mut app, 3_000, |app| {
        let now = position(app, unit);
        assert!(before.distance(now) <= 2.0 * 2_000.0 / 64.0 + 0.1, "from {before} to {now}");
        before = now;
        arrived(app, unit)
    });
    run(&mut app, 3);
    assert_eq!(position(&app, unit), Vec2::new(25_000.0, 2_500.0));
}

#[test]
fn a_large_unit_keeps_its_whole_block_clear() {
    let mut app = app();
    let profile = Profile::default().size(3);
    grid(&mut app).set_profiles(vec![profile]);
    let mut level = NavGrid::new(50, 40, TerrainId::GROUND).unwrap();
    let walls = [CellRect::new(Cell::new(15, 0), 2, 20), CellRect::new(Cell::new(30, 12), 2, 28)];
    walls.iter().for_each(|&wall| level.block(wall).unwrap());
    let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(10.0));
    grid(&mut app).insert(GridId::default(), level, frame);
    // Its center is one cell to the right of and above its anchor.
    let unit = spawn_straight(&mut app, (3, 3));
    order(&mut app, unit, (42, 30));
    walk(&mut app, unit, |_, center| {
        for wall in walls {
            let min = Vec2::new(wall.min.x as f32, wall.min.y as f32) * 10.0 - 5.0;
            let max = min + Vec2::new(wall.width as f32, wall.height as f32) * 10.0;
            let inside = (center - center.clamp(min, max)).abs();
            assert!(inside.max_element() >= 14.9, "its block at {center} reaches into {wall}");
        }
    });
    run(&mut app, 3);
    assert_eq!(position(&app, unit), Vec2::new(430.0, 310.0));
}
