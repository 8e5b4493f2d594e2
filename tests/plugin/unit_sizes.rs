//! Units larger than a cell: where they are drawn, which gaps they fit through, and what happens to units
//! that are spawned where they do not fit, or that grow.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{Random, app::*, units::*};

fn to(x: i32, y: i32) -> PathRequest {
    PathRequest::to(Cell::new(x, y))
}

fn big(x: i32, y: i32) -> PathRequest {
    to(x, y).profile(BIG)
}

/// Panics if any part of a block with its center at `position` covers an impassable cell.
fn assert_clear(app: &App, profile: ProfileId, position: Vec2) {
    let size = level(app).unit_size(profile);
    // In cells, with a small tolerance for rounding.
    let reach = size as f32 / 2.0 - 1.0e-3;
    let center = position / 10.0;
    let (low, high) = ((center - reach + 0.5).floor(), (center + reach + 0.5).floor());
    for y in low.y as i32..=high.y as i32 {
        for x in low.x as i32..=high.x as i32 {
            let cell = Cell::new(x, y);
            assert!(level(app).cost(SMALL, cell) > 0, "the block at {position} covers {cell}");
        }
    }
}

/// Runs until the order has ended; panics if any part of the unit covers an impassable cell in any tick.
fn run_checked(app: &mut App, unit: Entity, profile: ProfileId) -> Result<Cell, PathFailure> {
    for _ in 0..3_000 {
        let (state, position) = (state(app, unit), position(app, unit));
        assert_clear(app, profile, position);
        match status(app, unit) {
            PathStatus::Failed(reason) => return Err(reason),
            PathStatus::Arrived(_) => return Ok(state.cell()),
            PathStatus::Searching => {}
            _ => {
                for cell in [state.walk().tail(), state.walk().head()] {
                    assert!(level(app).cost(profile, cell) > 0, "it does not fit on {cell}");
                }
            }
        }
        app.update();
    }
    panic!("it never comes to rest");
}

#[test]
fn a_unit_is_drawn_in_the_center_of_its_block() {
    for (profile, offset) in [(SMALL, 0.0), (BIG, 5.0), (HUGE, 10.0)] {
        let mut app = app_with_sizes(&field(20, 12));
        let unit = spawn_unit(&mut app, profile, (2, 3));
        assert_eq!(position(&app, unit), Vec2::new(20.0, 30.0) + offset);
        insert_request(&mut app, unit, to(2, 3).profile(profile));
        run(&mut app, 3);
        assert_eq!(state(&app, unit).cell(), Cell::new(2, 3), "it stands where it was spawned");
        assert_eq!(position(&app, unit), Vec2::new(20.0, 30.0) + offset, "and is not moved");
        insert_request(&mut app, unit, to(12, 8).profile(profile));
        assert_eq!(run_to_end(&mut app, unit), Ok(Cell::new(12, 8)));
        run(&mut app, 2);
        assert_eq!(position(&app, unit), Vec2::new(120.0, 80.0) + offset);
    }
}

#[test]
fn a_gap_must_be_as_wide_as_the_unit() {
    let (start, goal) = (Cell::new(2, 4), Cell::new(15, 4));
    for (profile, width, fits) in
        [(SMALL, 1, true), (BIG, 1, false), (BIG, 2, true), (HUGE, 2, false), (HUGE, 3, true)]
    {
        let mut app = app_with_sizes(&field(20, 12));
        block(&mut app, CellRect::new(Cell::new(9, 0), 1, 12));
        unblock(&mut app, CellRect::new(Cell::new(9, 5), 1, width));
        let unit = spawn_unit(&mut app, profile, (start.x, start.y));
        insert_request(&mut app, unit, PathRequest::to(goal).profile(profile));
        let end = if fits { Ok(goal) } else { Err(PathFailure::NoPath { start, goal }) };
        assert_eq!(run_checked(&mut app, unit, profile), end, "{profile:?} through {width}");
    }
}

#[test]
fn a_gap_that_is_widened_lets_a_large_unit_through() {
    let mut app = app_with_sizes(&field(20, 12));
    block(&mut app, CellRect::new(Cell::new(9, 0), 1, 12));
    unblock(&mut app, CellRect::new(Cell::new(9, 5), 1, 1));
    let unit = spawn_unit(&mut app, BIG, (2, 4));
    insert_request(&mut app, unit, big(15, 4).retry(Retry { after: 5, longest: 5, most: 50 }));
    run(&mut app, 20);
    assert!(matches!(status(&app, unit), PathStatus::Waiting(PathFailure::NoPath { .. })));
    unblock(&mut app, CellRect::new(Cell::new(9, 6), 1, 1));
    assert_eq!(run_checked(&mut app, unit, BIG), Ok(Cell::new(15, 4)));
}

#[test]
fn no_part_of_a_unit_ever_enters_a_wall() {
    let mut walked = 0;
    for seed in 0..10 {
        let mut random = Random(seed);
        let mut app = app_with_sizes(&field(32, 32));
        for _ in 0..30 {
            let at = Cell::new(random.below(31) as i32, random.below(31) as i32);
            block(&mut app, CellRect::new(at, 1 + random.below(2), 1));
        }
        for profile in [BIG, HUGE] {
            let cells: Vec<Cell> = level(&app).rect().cells().collect();
            let free = cells.into_iter().filter(|&cell| level(&app).cost(profile, cell) > 0);
            let free: Vec<Cell> = free.collect();
            let mut pick = || free[random.below(free.len() as u32) as usize];
            let (start, goal) = (pick(), pick());
            let unit = spawn_unit(&mut app, profile, (start.x, start.y));
            set_speed(&mut app, unit, 20.0);
            let request = PathRequest::to(goal).profile(profile).reach(Reach::Nearest);
            insert_request(&mut app, unit, request);
            assert!(run_checked(&mut app, unit, profile).is_ok());
            walked += u32::from(app.world().get::<NavPath>(unit).unwrap().steps() > 5);
        }
    }
    assert!(walked >= 8, "only {walked} paths of more than five steps");
}

#[test]
fn a_wall_beside_the_anchors_of_a_path_is_walked_around() {
    let mut app = app_with_sizes(&field(30, 16));
    let unit = spawn_unit(&mut app, BIG, (2, 7));
    insert_request(&mut app, unit, big(26, 7));
    run(&mut app, 40);
    // The anchor of the unit would pass below the wall, its upper half would not.
    block(&mut app, CellRect::new(Cell::new(15, 8), 1, 1));
    app.update();
    assert_eq!(counters(&app).repaired, 1);
    assert_eq!(run_checked(&mut app, unit, BIG), Ok(Cell::new(26, 7)));
}

#[test]
fn the_distance_of_large_units_is_measured_from_their_block() {
    let mut app = app_with_sizes(&field(30, 16));
    let hut = CellRect::new(Cell::new(12, 6), 3, 2);
    let building = app.world_mut().spawn(NavBlocker::at(hut)).id();
    for (name, start, request, end) in [
        ("from the left", (2, 6), PathRequest::to(building).beside(), (10, 6)),
        ("from the right", (22, 6), PathRequest::to(building).beside(), (15, 6)),
        ("within three from the left", (2, 6), PathRequest::to(building).within(3), (8, 6)),
        ("within three from the right", (22, 6), PathRequest::to(building).within(3), (17, 6)),
        ("in sight", (2, 6), PathRequest::to(building).in_sight(3, SMALL), (8, 6)),
        ("beside a cell", (2, 6), to(12, 6).beside(), (10, 6)),
    ] {
        let unit = spawn_unit(&mut app, BIG, start);
        insert_request(&mut app, unit, request.profile(BIG));
        assert_eq!(run_checked(&mut app, unit, BIG), Ok(Cell::from(end)), "{name}");
        app.world_mut().despawn(unit); // so that the next unit is alone on the field
    }
}

#[test]
fn a_large_target_is_approached_as_a_block() {
    let mut app = app_with_sizes(&field(30, 16));
    let tank = spawn_unit(&mut app, BIG, (15, 6));
    insert_request(&mut app, tank, big(15, 6));
    run(&mut app, 3);
    for (start, end) in
        [((3, 6), (14, 6)), ((25, 6), (17, 6)), ((15, 14), (15, 8)), ((16, 1), (16, 5))]
    {
        let unit = spawn_critter(&mut app, start);
        insert_request(&mut app, unit, PathRequest::to(tank).beside());
        assert_eq!(run_to_end(&mut app, unit), Ok(Cell::from(end)));
    }
}

#[test]
fn a_unit_spawned_partly_in_a_wall_moves_out() {
    // A wall along column 10; blocks overlap it from either side.
    for (anchor, (x, y)) in [((9, 4), (8, 4)), ((10, 4), (11, 4)), ((8, 4), (8, 4))] {
        let mut app = app_with_sizes(&field(20, 12));
        block(&mut app, CellRect::new(Cell::new(10, 0), 1, 12));
        let unit = spawn_unit(&mut app, BIG, anchor);
        insert_request(&mut app, unit, big(x, y));
        assert_eq!(run_to_end(&mut app, unit), Ok(Cell::new(x, y)), "from {anchor:?}");
        run(&mut app, 30);
        assert_eq!(
            position(&app, unit),
            block_center(&app, BIG, Cell::new(x, y)),
            "it was moved out"
        );
        let goal = Cell::new(if x < 10 { 2 } else { 17 }, 9);
        insert_request(&mut app, unit, PathRequest::to(goal).profile(BIG));
        assert_eq!(run_checked(&mut app, unit, BIG), Ok(goal));
    }
}

#[test]
fn the_order_of_a_unit_that_fits_nowhere_near_fails() {
    // A critter that collides gets out; a ghost stays.
    for is_ghost in [false, true] {
        let mut app = app_with_sizes(&field(20, 12));
        block(&mut app, CellRect::new(Cell::new(6, 2), 6, 6));
        let unit = spawn_unit(&mut app, BIG, (8, 4));
        app.world_mut()
            .entity_mut(unit)
            .insert(Critter { collides: !is_ghost, ..Critter::new(8.0) });
        insert_request(&mut app, unit, big(2, 2));
        let impassable = PathFailure::StartImpassable(Cell::new(8, 4));
        let expected = if is_ghost { Err(impassable) } else { Ok(Cell::new(2, 2)) };
        assert_eq!(run_to_end(&mut app, unit), expected);
    }
    // Nor does it fit in a lane of one cell.
    let mut app = app_with_sizes("....\n####\n....\n####");
    let unit = spawn_unit(&mut app, BIG, (1, 1));
    insert_request(&mut app, unit, big(2, 1));
    assert!(matches!(run_to_end(&mut app, unit), Err(PathFailure::StartImpassable(_))));
}

#[test]
fn on_a_map_smaller_than_the_unit_every_order_fails() {
    for (width, height) in [(1, 1), (2, 2), (2, 9), (9, 2)] {
        let mut app = app_with_sizes(&field(width, height));
        let unit = spawn_unit(&mut app, HUGE, (0, 0));
        let requests = [
            to(0, 0),
            to(0, 0).reach(Reach::Nearest),
            to(0, 0).within(9),
            PathRequest::to_nearest([Cell::new(0, 0), Cell::new(1, 0)]),
        ];
        for request in requests {
            insert_request(&mut app, unit, request.profile(HUGE));
            let nowhere = PathFailure::StartImpassable(Cell::new(0, 0));
            assert_eq!(run_to_end(&mut app, unit), Err(nowhere), "{width} × {height}");
        }
        // Small units can still use the map.
        let small = spawn_unit(&mut app, SMALL, (0, 0));
        insert_request(&mut app, small, to(0, height as i32 - 1));
        assert!(run_to_end(&mut app, small).is_ok());
    }
}

#[test]
fn a_goal_where_the_unit_does_not_fit_is_impassable() {
    let mut app = app_with_sizes(&field(12, 12));
    let edge = Cell::new(11, 5);
    let unit = spawn_unit(&mut app, BIG, (2, 5));
    insert_request(&mut app, unit, big(11, 5));
    assert_eq!(run_to_end(&mut app, unit), Err(PathFailure::GoalImpassable(edge)));
    insert_request(&mut app, unit, big(11, 5).reach(Reach::Nearest));
    assert_eq!(run_checked(&mut app, unit, BIG), Ok(Cell::new(10, 5)));
}

/// Sets the size of units of profile 1 ([`BIG`]).
fn set_size_of_big(app: &mut App, size: u8) {
    let profiles = vec![Profile::default(), Profile::default().size(size)];
    grid(app).set_profiles(profiles);
}

#[test]
fn a_unit_that_grows_while_walking_takes_a_wide_enough_path() {
    let mut app = app_with_sizes(&field(30, 16));
    // A gap of one cell straight ahead, and a gap of three cells to the side.
    block(&mut app, CellRect::new(Cell::new(15, 0), 1, 16));
    unblock(&mut app, CellRect::new(Cell::new(15, 7), 1, 1));
    unblock(&mut app, CellRect::new(Cell::new(15, 11), 1, 3));
    set_size_of_big(&mut app, 1);
    let unit = spawn_critter(&mut app, (2, 7));
    insert_request(&mut app, unit, big(26, 7));
    run(&mut app, 40);
    let before = position(&app, unit);
    assert!(is_walking(&app, unit));
    set_size_of_big(&mut app, 2);
    app.update();
    assert!(position(&app, unit).distance(before) < 12.0, "it is moved smoothly");
    assert_eq!(counters(&app).repaired, 1);
    run(&mut app, 20);
    assert_eq!(run_checked(&mut app, unit, BIG), Ok(Cell::new(26, 7)));
    run(&mut app, 3);
    assert_eq!(position(&app, unit), Vec2::new(265.0, 75.0));
}

#[test]
fn a_unit_that_grows_beside_a_wall_moves_out_and_continues() {
    let mut app = app_with_sizes(&field(30, 12));
    // The upper half of the grown unit would be in the wall; there is room below.
    block(&mut app, CellRect::new(Cell::new(0, 6), 20, 1));
    set_size_of_big(&mut app, 1);
    let unit = spawn_critter(&mut app, (2, 5));
    insert_request(&mut app, unit, big(25, 5));
    run(&mut app, 40);
    set_size_of_big(&mut app, 2);
    run(&mut app, 30);
    assert_eq!(run_checked(&mut app, unit, BIG), Ok(Cell::new(25, 5)));
}

#[test]
fn a_unit_that_grew_beside_a_wall_follows_its_next_order() {
    let mut app = app_with_sizes(&field(30, 12));
    block(&mut app, CellRect::new(Cell::new(0, 6), 20, 1));
    set_size_of_big(&mut app, 1);
    let unit = spawn_critter(&mut app, (2, 5));
    insert_request(&mut app, unit, big(6, 5));
    run_to_end(&mut app, unit).unwrap();
    set_size_of_big(&mut app, 2);
    insert_request(&mut app, unit, big(25, 5));
    run(&mut app, 30);
    assert_eq!(run_checked(&mut app, unit, BIG), Ok(Cell::new(25, 5)));
}

#[test]
fn the_order_of_a_unit_that_grows_in_a_narrow_lane_fails_until_it_shrinks() {
    let mut app = app_with_sizes("##########\n..........\n##########");
    set_size_of_big(&mut app, 1);
    let unit = spawn_critter(&mut app, (1, 1));
    insert_request(&mut app, unit, big(8, 1));
    run(&mut app, 20);
    set_size_of_big(&mut app, 2);
    assert!(matches!(run_to_end(&mut app, unit), Err(PathFailure::StartImpassable(_))));
    run(&mut app, 30);
    set_size_of_big(&mut app, 1);
    insert_request(&mut app, unit, big(8, 1));
    assert_eq!(run_to_end(&mut app, unit), Ok(Cell::new(8, 1)));
    run(&mut app, 30);
    assert_eq!(position(&app, unit), Vec2::new(80.0, 10.0));
}

#[test]
fn a_new_request_may_change_the_profile_of_a_walking_unit() {
    let mut app = app_with_sizes(&field(30, 12));
    record(&mut app);
    let unit = spawn_critter(&mut app, (2, 5));
    let mut before = position(&app, unit);
    for (profile, goal) in [(SMALL, (20, 5)), (BIG, (24, 8)), (HUGE, (3, 3)), (SMALL, (9, 9))] {
        insert_request(&mut app, unit, PathRequest::to(Cell::from(goal)).profile(profile));
        for _ in 0..45 {
            app.update();
            let now = position(&app, unit);
            // An eighth of a cell per tick, and a margin for the growth.
            assert!(now.distance(before) < 5.0, "it jumps from {before} to {now}");
            before = now;
        }
    }
    assert_eq!(run_to_end(&mut app, unit), Ok(Cell::new(9, 9)));
    run(&mut app, 20);
    assert_eq!(position(&app, unit), Vec2::new(90.0, 90.0));
    assert_eq!(cancellations(&app, unit), [CancelReason::Replaced; 3]);
}

#[test]
fn passable_terrain_depends_on_the_profile_of_the_request() {
    const WATER: TerrainId = TerrainId(2);
    let mut app = app();
    let boat = Profile::new().with(WATER, Profile::PLAIN_COST);
    let both = Profile::default().with(WATER, 2 * Profile::PLAIN_COST);
    grid(&mut app).set_profiles(vec![Profile::default(), boat, both]);
    let coast = |x| if x < 10 { TerrainId::GROUND.0 } else { WATER.0 };
    let terrain = (0..9).flat_map(|_| (0..20).map(coast)).collect();
    let level = NavGrid::from_terrain(20, 9, terrain).unwrap();
    let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(10.0));
    grid(&mut app).insert(GridId::default(), level, frame);
    let unit = spawn_ghost(&mut app, (2, 4));
    let (sea, head) = (Cell::new(15, 4), |app: &App, unit| state(app, unit).walk().head());
    insert_request(&mut app, unit, PathRequest::to(sea));
    assert_eq!(run_to_end(&mut app, unit), Err(PathFailure::GoalImpassable(sea)));
    insert_request(&mut app, unit, PathRequest::to(sea).profile(ProfileId(2)));
    run(&mut app, 20);
    // On land, as a boat.
    insert_request(&mut app, unit, PathRequest::to(sea).profile(ProfileId(1)));
    let stuck = head(&app, unit);
    assert_eq!(run_to_end(&mut app, unit), Err(PathFailure::StartImpassable(stuck)));
    run(&mut app, 20);
    insert_request(&mut app, unit, PathRequest::to(sea).profile(ProfileId(2)));
    run_until(&mut app, 500, |app| head(app, unit).x == 12);
    insert_request(&mut app, unit, PathRequest::to(sea).profile(ProfileId(1)));
    assert_eq!(run_to_end(&mut app, unit), Ok(sea), "on water it works");
}

#[test]
fn sizes_of_a_walking_unit_may_change_at_any_tick() {
    let mut random = Random(11);
    for round in 0..20 {
        let mut app = app_with_sizes(&field(24, 16));
        set_size_of_big(&mut app, 1);
        let unit = spawn_critter(&mut app, (2, 2));
        insert_request(&mut app, unit, big(18, 11).retry(Retry { after: 3, longest: 3, most: 90 }));
        for _ in 0..4 {
            run(&mut app, 1 + random.below(30));
            set_size_of_big(&mut app, 1 + random.below(4) as u8);
        }
        set_size_of_big(&mut app, 2);
        assert_eq!(run_to_end(&mut app, unit), Ok(Cell::new(18, 11)), "round {round}");
        run(&mut app, 30);
        assert_eq!(position(&app, unit), Vec2::new(185.0, 115.0), "round {round}");
    }
}
