//! Where orders lead: every kind of target, every kind of proximity, and invalid starts, checked by the cells
//! on which units come to rest.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{Random, app::*, dijkstra, patched_terrain, units::*};

const NO_CELLS: [Cell; 0] = [];

fn to(x: i32, y: i32) -> PathRequest {
    PathRequest::to(Cell::new(x, y))
}

fn flag(app: &mut App, (x, y): (f32, f32)) -> Entity {
    app.world_mut().spawn(Transform::from_xyz(x, y, 0.0)).id()
}

/// Returns the cell on which a unit from `start` comes to rest, or the failure.
fn outcome(app: &mut App, start: (i32, i32), request: PathRequest) -> Result<Cell, PathFailure> {
    let unit = spawn_critter(app, start);
    insert_request(app, unit, request);
    run_to_end(app, unit)
}

/// Returns the cost of the path of a unit.
fn cost(app: &App, unit: Entity) -> PathCost {
    app.world().get::<NavPath>(unit).unwrap().cost()
}

#[test]
fn every_kind_of_target_leads_to_its_cell() {
    let mut app = app_with(&field(16, 10));
    let flag = flag(&mut app, (30.0, 40.0));
    let despawned = despawned_entity(&mut app);
    let meadow = CellRect::new(Cell::new(3, 3), 2, 3);
    let over_the_edge = CellRect::new(Cell::new(-3, 4), 4, 1);
    let mixed = [Target::from(Cell::new(9, 9)), Target::from(flag), Target::from(meadow)];
    for (name, request, end) in [
        ("a cell", to(3, 4), (3, 4)),
        ("a position", PathRequest::to(Vec2::new(37.0, 44.0)), (4, 4)),
        ("an entity", PathRequest::to(flag), (3, 4)),
        ("the cell of the unit itself", to(1, 4), (1, 4)),
        ("an area", PathRequest::to(meadow), (3, 4)),
        (
            "the area the unit stands in",
            PathRequest::to(CellRect::new(Cell::new(0, 0), 5, 9)),
            (1, 4),
        ),
        ("an area that reaches off the grid", PathRequest::to(over_the_edge), (0, 4)),
        ("nearest cell", PathRequest::to_nearest([(1, 9), (3, 4), (9, 9)].map(Cell::from)), (3, 4)),
        ("nearest entity that exists", PathRequest::to_nearest([despawned, flag]), (3, 4)),
        ("nearest of all kinds", PathRequest::to_nearest(mixed), (3, 4)),
        (
            "nearest cell on the grid",
            PathRequest::to_nearest([(-1, 4), (5, 4)].map(Cell::from)),
            (5, 4),
        ),
        ("nearest of a single cell", PathRequest::to_nearest([Cell::new(5, 4)]), (5, 4)),
        (
            "nearest, standing on a target",
            PathRequest::to_nearest([(5, 4), (1, 4)].map(Cell::from)),
            (1, 4),
        ),
    ] {
        assert_eq!(outcome(&mut app, (1, 4), request), Ok(Cell::from(end)), "{name}");
    }
}

#[test]
fn a_target_without_a_passable_cell_has_a_reason() {
    let mut app = app_with(&field(16, 10));
    let hut = CellRect::new(Cell::new(6, 4), 3, 2);
    let building = app.world_mut().spawn(NavBlocker::at(hut)).id();
    let (despawned, nowhere) = (despawned_entity(&mut app), app.world_mut().spawn_empty().id());
    let lost = flag(&mut app, (f32::NAN, 0.0));
    let off = |x, y| PathFailure::GoalOutOfBounds(Cell::new(x, y));
    let aside = CellRect::new(Cell::new(40, 4), 2, 2);
    for (name, request, reason) in [
        ("NaN", PathRequest::to(Vec2::new(10.0, f32::NAN)), PathFailure::GoalUnknown),
        ("infinitely far", PathRequest::to(Vec2::NEG_INFINITY), PathFailure::GoalUnknown),
        ("a position off the grid", PathRequest::to(Vec2::new(-50.0, 0.0)), off(-5, 0)),
        ("a cell off the grid", to(16, 0), off(16, 0)),
        ("an area off the grid", PathRequest::to(aside), off(40, 4)),
        ("near a cell off the grid", to(-1, 4).within(5), off(-1, 4)),
        ("an area of no cells", PathRequest::to(CellRect::new(Cell::new(2, 2), 0, 3)), off(2, 2)),
        ("a despawned entity", PathRequest::to(despawned), PathFailure::TargetGone),
        ("an entity without a position", PathRequest::to(nowhere), PathFailure::TargetGone),
        ("an entity at NaN", PathRequest::to(lost), PathFailure::TargetGone),
        ("nearest of no targets", PathRequest::to_nearest(NO_CELLS), PathFailure::TargetGone),
        (
            "nearest of despawned entities",
            PathRequest::to_nearest([despawned, despawned, nowhere]),
            PathFailure::TargetGone,
        ),
        (
            "all off the grid",
            PathRequest::to_nearest([(99, 9), (-7, 2)].map(Cell::from)),
            off(99, 9),
        ),
        ("onto a building", PathRequest::to(building), PathFailure::GoalImpassable(hut.min)),
        ("into a building", PathRequest::to(hut), PathFailure::GoalImpassable(hut.min)),
        (
            "in sight with an unknown profile",
            to(3, 4).in_sight(5, ProfileId(9)),
            PathFailure::GoalImpassable(Cell::new(3, 4)),
        ),
    ] {
        assert_eq!(outcome(&mut app, (1, 4), request), Err(reason), "{name}");
    }
}

#[test]
fn units_stop_at_the_requested_distance() {
    let mut app = app_with(&field(16, 10));
    let hut = CellRect::new(Cell::new(6, 4), 3, 2);
    let building = app.world_mut().spawn(NavBlocker::at(hut)).id();
    let flag = flag(&mut app, (60.0, 40.0));
    app.update();
    for (name, request, end) in [
        ("beside a building", PathRequest::to(building).beside(), (5, 4)),
        ("beside an area", PathRequest::to(hut).beside(), (5, 4)),
        ("beside a cell", to(6, 4).beside(), (5, 4)),
        ("beside an entity on the building", PathRequest::to(flag).beside(), (5, 4)),
        ("within 3 of a building", PathRequest::to(building).within(3), (3, 4)),
        ("within 1 of a building", PathRequest::to(building).within(1), (5, 4)),
        ("within 2 of a cell", to(5, 4).within(2), (3, 4)),
        ("within 0 of a cell", to(5, 4).within(0), (5, 4)),
        ("near enough already", to(5, 4).within(9), (1, 4)),
        ("in sight of a building", PathRequest::to(building).in_sight(2, SMALL), (4, 4)),
        (
            "nearest building or cell",
            PathRequest::to_nearest([Target::from(building), Cell::new(15, 0).into()]).beside(),
            (5, 4),
        ),
        (
            "beside an area it stands beside",
            PathRequest::to(CellRect::new(Cell::new(2, 4), 2, 2)).beside(),
            (1, 4),
        ),
    ] {
        assert_eq!(outcome(&mut app, (1, 4), request), Ok(Cell::from(end)), "{name}");
    }
}

#[test]
fn a_unit_sent_beside_an_area_leaves_it() {
    let mut app = app_with(&field(16, 10));
    let meadow = CellRect::new(Cell::new(1, 3), 3, 3);
    let end = outcome(&mut app, (2, 4), PathRequest::to(meadow).beside()).unwrap();
    assert!(!meadow.contains(end));
    assert!(CellRect::new(Cell::new(0, 2), 5, 5).contains(end), "and no farther: {end}");
}

#[test]
fn the_footprint_of_a_building_is_read_with_the_order() {
    let mut app = app_with(&field(20, 10));
    // 3 × 1 cells around (10, 4).
    let building = app
        .world_mut()
        .spawn((NavBlocker::sized(3, 1), Transform::from_xyz(100.0, 40.0, 0.0)))
        .id();
    let request = PathRequest::to(building).beside();
    assert_eq!(outcome(&mut app, (1, 4), request.clone()), Ok(Cell::new(8, 4)));
    app.world_mut().get_mut::<Transform>(building).unwrap().translation.x = 60.0;
    assert_eq!(outcome(&mut app, (1, 4), request.clone()), Ok(Cell::new(4, 4)));
    app.world_mut().entity_mut(building).remove::<NavBlocker>();
    assert_eq!(outcome(&mut app, (1, 4), request), Ok(Cell::new(5, 4)), "of one cell now");
}

/// Returns an app with land and a river in column 10 with a ford in the uppermost row. Arrows fly over water.
fn at_the_river() -> App {
    const WATER: TerrainId = TerrainId(2);
    let mut app = app();
    let arrow = Profile::default().with(WATER, Profile::PLAIN_COST);
    grid(&mut app).set_profiles(vec![Profile::default(), arrow]);
    let terrain = (0..9).flat_map(|y| {
        (0..20).map(move |x| if x == 10 && y < 8 { WATER.0 } else { TerrainId::GROUND.0 })
    });
    let level = NavGrid::from_terrain(20, 9, terrain.collect()).unwrap();
    let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(10.0));
    grid(&mut app).insert(GridId::default(), level, frame);
    app
}

const LAND: ProfileId = ProfileId(0);
const ARROW: ProfileId = ProfileId(1);

#[test]
fn a_unit_that_needs_sight_goes_where_it_has_it() {
    let mut app = at_the_river();
    let (start, target) = (Cell::new(7, 2), Cell::new(13, 2));
    let order = PathRequest::to(target);
    assert_eq!(outcome(&mut app, (7, 2), order.clone().within(8)), Ok(start));
    assert_eq!(
        outcome(&mut app, (7, 2), order.clone().in_sight(8, ARROW)),
        Ok(start),
        "over water"
    );
    assert!(!level(&app).has_line_of_sight(LAND, start, target));
    let end = outcome(&mut app, (7, 2), order.clone().in_sight(8, LAND)).unwrap();
    assert!(level(&app).has_line_of_sight(LAND, end, target), "{end} does not see {target}");
    let away = (end.x - target.x).pow(2) + (end.y - target.y).pow(2);
    assert!(end != start && away <= 64, "{end} is not within 8 cells of {target}");
    // With a short range, an archer has to cross as well.
    let end = outcome(&mut app, (7, 2), order.in_sight(2, ARROW)).unwrap();
    assert!(end.x > 10, "{end}");
}

#[test]
fn an_unreachable_target_can_be_in_sight() {
    let mut app = at_the_river();
    block(&mut app, CellRect::single(Cell::new(10, 8)));
    let (start, target) = (Cell::new(2, 2), Cell::new(12, 2));
    let no_path = PathFailure::NoPath { start, goal: target };
    assert_eq!(outcome(&mut app, (2, 2), PathRequest::to(target)), Err(no_path));
    assert_eq!(outcome(&mut app, (2, 2), PathRequest::to(target).beside()), Err(no_path));
    let shot = PathRequest::to(target).in_sight(4, ARROW);
    assert_eq!(outcome(&mut app, (2, 2), shot), Ok(Cell::new(8, 2)));
    let blind = PathRequest::to(target).in_sight(4, LAND);
    assert_eq!(outcome(&mut app, (2, 2), blind), Err(no_path));
}

#[test]
fn the_nearest_is_the_cheapest_to_get_to_not_the_closest() {
    let mut app = app_with(&field(12, 10));
    block(&mut app, CellRect::new(Cell::new(5, 0), 1, 9));
    let (close, cheap) = (Cell::new(6, 0), Cell::new(0, 8));
    let end = outcome(&mut app, (4, 0), PathRequest::to_nearest([close, cheap]));
    assert_eq!(end, Ok(cheap));
    assert_eq!(counters(&app).requests, 1, "one search, not one each");
    unblock(&mut app, CellRect::new(Cell::new(5, 0), 1, 9));
    let end = outcome(&mut app, (4, 0), PathRequest::to_nearest([close, cheap]));
    assert_eq!(end, Ok(close));
}

#[test]
fn unreachable_targets_of_a_list_are_ignored() {
    let mut app = app_with(&field(12, 10));
    block(&mut app, CellRect::new(Cell::new(5, 0), 1, 10));
    let wall = Cell::new(5, 5);
    let (beyond, here) = (Cell::new(6, 0), Cell::new(0, 9));
    let all = PathRequest::to_nearest([beyond, wall, here]);
    assert_eq!(outcome(&mut app, (4, 0), all), Ok(here));
    let start = Cell::new(4, 0);
    let none = outcome(&mut app, (4, 0), PathRequest::to_nearest([beyond, wall]));
    assert_eq!(none, Err(PathFailure::NoPath { start, goal: beyond }));
}

/// Returns an app with weighted terrain and walls, for units of one cell.
fn weighted_app(seed: u64) -> App {
    let mut app = app();
    let profile = (2..5).fold(Profile::default(), |profile, terrain| {
        profile.with(TerrainId(terrain), Profile::PLAIN_COST * u16::from(terrain))
    });
    grid(&mut app).set_profiles(vec![profile]);
    let terrain = patched_terrain((40, 40), 40, 35, &mut Random(seed));
    let level = NavGrid::from_terrain(40, 40, terrain).unwrap();
    let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(10.0));
    grid(&mut app).insert(GridId::default(), level, frame);
    app
}

fn random_cell(random: &mut Random) -> Cell {
    Cell::new(random.below(40) as i32, random.below(40) as i32)
}

#[test]
fn the_nearest_of_many_goals_is_the_cheapest() {
    let (mut found, mut failed) = (0, 0);
    for seed in 0..12 {
        let mut app = weighted_app(seed);
        let mut random = Random(1_000 + seed);
        for _ in 0..4 {
            let start = random_cell(&mut random);
            let goals: Vec<Cell> = (0..30).map(|_| random_cell(&mut random)).collect();
            let unit = spawn_ghost(&mut app, (start.x, start.y));
            insert_request(&mut app, unit, PathRequest::to_nearest(goals.clone()));
            app.update();
            let costs = dijkstra(level(&app), LAND, start);
            let cost_of = |goal: &Cell| costs[(goal.y * 40 + goal.x) as usize];
            let best = goals.iter().filter_map(cost_of).min().map(PathCost);
            match status(&app, unit) {
                PathStatus::Walking(PathKind::Complete) | PathStatus::Arrived(_) => {
                    found += 1;
                    assert_eq!(Some(cost(&app, unit)), best, "from {start}, seed {seed}");
                    assert!(goals.contains(&app.world().get::<NavPath>(unit).unwrap().end()));
                }
                PathStatus::Failed(_) => {
                    failed += 1;
                    assert_eq!(best, None, "from {start}, seed {seed}");
                }
                other => panic!("{other:?} from {start}, seed {seed}"),
            }
        }
    }
    assert!(found > 12 && failed > 0, "{found} found, {failed} failed: the sample is one-sided");
}

#[test]
fn near_orders_end_on_the_cheapest_admitted_cell() {
    let mut checked = 0;
    for seed in 0..8 {
        let mut app = weighted_app(seed);
        let mut random = Random(2_000 + seed);
        for round in 0..6 {
            let (start, goal) = (random_cell(&mut random), random_cell(&mut random));
            let area = CellRect::new(goal, 1 + random.below(5), 1 + random.below(5));
            let order = match round {
                0 => PathRequest::to(area),
                1 | 2 => PathRequest::to(area).beside(),
                3 => PathRequest::to(area).within(4),
                _ => PathRequest::to(goal).in_sight(6, LAND),
            };
            let unit = spawn_ghost(&mut app, (start.x, start.y));
            insert_request(&mut app, unit, order);
            app.update();
            let goal = app.world().get::<RequestState>(unit).unwrap().query().goal;
            let costs = dijkstra(level(&app), LAND, start);
            let cells = level(&app).rect().cells().zip(&costs);
            let near = cells.filter(|(cell, _)| goal.admits(level(&app), LAND, *cell));
            let best = near.filter_map(|(_, &cost)| cost).min().map(PathCost);
            if matches!(status(&app, unit), PathStatus::Failed(_)) {
                assert_eq!(best, None, "{goal:?} from {start}, seed {seed}");
            } else {
                checked += 1;
                assert_eq!(Some(cost(&app, unit)), best, "{goal:?} from {start}, seed {seed}");
                let end = app.world().get::<NavPath>(unit).unwrap().end();
                assert!(goal.admits(level(&app), LAND, end), "{end} is not near {goal:?}");
            }
        }
    }
    assert!(checked > 12, "only {checked} paths");
}

#[test]
fn a_unit_sent_to_its_own_cell_has_arrived() {
    let mut app = app_with(&field(8, 8));
    record(&mut app);
    let unit = spawn_critter(&mut app, (3, 3));
    insert_request(&mut app, unit, to(3, 3));
    run(&mut app, 5);
    let complete = PathKind::Complete;
    assert_eq!(events(&app), [Recorded::Found(unit, complete), Recorded::Arrived(unit, complete)]);
    assert_eq!(status(&app, unit), PathStatus::Arrived(complete));
    assert_eq!(position(&app, unit), Vec2::splat(30.0));
}

#[test]
fn orders_of_a_unit_under_a_building_fail_until_it_is_removed() {
    let mut app = app_with(&field(8, 8));
    record(&mut app);
    let house = app.world_mut().spawn(NavBlocker::at(CellRect::new(Cell::new(2, 2), 3, 3))).id();
    let inside = PathFailure::StartImpassable(Cell::new(3, 3));
    let unit = spawn_ghost(&mut app, (3, 3)); // colliding critters would move out
    for request in [to(7, 7), to(3, 3), to(7, 7).reach(Reach::Nearest), to(7, 7).within(2)] {
        insert_request(&mut app, unit, request);
        assert_eq!(run_to_end(&mut app, unit), Err(inside));
    }
    assert_eq!(failures(&app, unit), [inside; 4]);
    app.world_mut().entity_mut(house).despawn();
    insert_request(&mut app, unit, to(7, 7));
    assert_eq!(run_to_end(&mut app, unit), Ok(Cell::new(7, 7)));
}

#[test]
fn on_a_fully_blocked_map_every_order_fails() {
    let nothing = vec!["#".repeat(6); 6].join("\n");
    let mut app = app_with(&nothing);
    let start = PathFailure::StartImpassable(Cell::new(2, 2));
    for request in [
        to(4, 4),
        to(4, 4).reach(Reach::Nearest),
        to(4, 4).within(9),
        to(4, 4).beside(),
        PathRequest::to_nearest([(1, 1), (4, 4)].map(Cell::from)),
        PathRequest::to(CellRect::new(Cell::new(0, 0), 6, 6)),
    ] {
        assert_eq!(outcome(&mut app, (2, 2), request), Err(start));
    }
    assert_eq!(counters(&app).expansions, 0);
}

#[test]
fn a_walled_in_unit_stays_on_its_cell() {
    let mut app = app_with("###\n#.#\n###");
    let wall = Cell::new(2, 1);
    let own_cell = Ok(Cell::new(1, 1));
    let unit = spawn_critter(&mut app, (1, 1)); // there is room for only one
    for (request, end) in [
        (to(2, 1), Err(PathFailure::GoalImpassable(wall))),
        (to(1, 1), own_cell),
        (to(2, 1).reach(Reach::Nearest), own_cell),
        (to(2, 1).beside(), own_cell),
    ] {
        insert_request(&mut app, unit, request);
        assert_eq!(run_to_end(&mut app, unit), end);
    }
}

#[test]
fn a_target_that_is_not_followed_may_move_or_vanish() {
    let mut app = app_with(&field(30, 5));
    record(&mut app);
    let (flag, building) =
        (flag(&mut app, (200.0, 20.0)), NavBlocker::at(CellRect::new(Cell::new(25, 1), 2, 2)));
    let building = app.world_mut().spawn(building).id();
    let walker = spawn_critter(&mut app, (1, 2));
    let worker = spawn_critter(&mut app, (1, 1));
    insert_request(&mut app, walker, PathRequest::to(flag));
    insert_request(&mut app, worker, PathRequest::to(building).beside());
    run(&mut app, 20);
    app.world_mut().get_mut::<Transform>(flag).unwrap().translation.x = 50.0;
    run(&mut app, 5);
    app.world_mut().entity_mut(flag).despawn();
    app.world_mut().entity_mut(building).despawn();
    assert_eq!(
        run_to_end(&mut app, walker),
        Ok(Cell::new(20, 2)),
        "where it was when the order was read"
    );
    assert_eq!(run_to_end(&mut app, worker), Ok(Cell::new(24, 1)));
    assert_eq!((failures(&app, walker), failures(&app, worker)), (vec![], vec![]));
    assert_eq!(counters(&app).followed, 0);
}

#[test]
fn a_path_to_an_area_survives_edits() {
    let mut app = app_with(&field(40, 12));
    let meadow = CellRect::new(Cell::new(30, 2), 4, 6);
    let unit = spawn_critter(&mut app, (2, 5));
    insert_request(&mut app, unit, PathRequest::to(meadow));
    run(&mut app, 30);
    // All but one corner of the target is built over, and a wall is built in between.
    block(&mut app, CellRect::new(meadow.min, 4, 5));
    block(&mut app, CellRect::new(Cell::new(30, 7), 3, 1));
    block(&mut app, CellRect::new(Cell::new(20, 1), 1, 11));
    assert_eq!(run_to_end(&mut app, unit), Ok(Cell::new(33, 7)));
}

/// Many units that go to one building, rectangle, range or flag share a search, whatever their reach.
#[test]
fn many_units_with_one_goal_share_a_field_whatever_the_goal_is() {
    let meadow = CellRect::new(Cell::new(60, 20), 4, 3);
    for kind in 0..5 {
        let mut random = Random(4);
        let walls = patched_terrain((120, 60), 300, 30, &mut random);
        let mut app = app();
        let terrain = walls.into_iter().map(|id| id.min(1)).collect();
        let map = NavGrid::from_terrain(120, 60, terrain).unwrap();
        grid(&mut app).insert(GridId(0), map, frame_of(Topology::Square));
        let at = Cell::new(60, 30);
        let house = app.world_mut().spawn(NavBlocker::at(CellRect::new(at, 3, 3))).id();
        run(&mut app, 2);
        let request = match kind {
            0 => PathRequest::to(house).beside(),
            1 => PathRequest::to(meadow),
            2 => PathRequest::to(house).within(3),
            3 => PathRequest::to(meadow).reach(Reach::Nearest),
            _ => PathRequest::to(house).beside().reach(Reach::Nearest),
        };
        let around = CellRect::new(at.offset(-1, -1), 5, 5);
        let near = around.cells().find_map(|cell| level(&app).region(ProfileId(0), cell));
        let mut units = Vec::new();
        while units.len() < 400 {
            let cell = (random.below(120) as i32, random.below(60) as i32);
            if level(&app).region(ProfileId(0), cell.into()) == near {
                units.push(spawn_ghost(&mut app, cell));
            }
        }
        for &unit in &units {
            insert_request(&mut app, unit, request.clone());
        }
        run(&mut app, 60);
        let counters = counters(&app);
        assert_eq!(counters.found + counters.failed, 400, "{kind}: {counters:?}");
        assert!(counters.found > 350 && counters.by_field > 250, "{kind}: {counters:?}");
    }
}

/// Which of several targets a unit goes to: by entity, past one that is gone, again after an edit, and over links.
#[test]
fn a_request_names_the_one_of_several_targets_that_its_path_leads_to() {
    let mut app = app_with(&field(40, 9));
    let upper = NavGrid::new(40, 9, TerrainId::GROUND).unwrap();
    grid(&mut app).insert(GridId(1), upper, frame_of(Topology::Square));
    let stairs = Cell::new(2, 4);
    app.world_mut().spawn(NavLink::new(stairs, (GridId(1), stairs)));
    let tree = |app: &mut App, x: i32| -> Entity {
        app.world_mut().spawn(NavBlocker::at(CellRect::single(Cell::new(x, 4)))).id()
    };
    let trees = [4, 16, 24].map(|x| tree(&mut app, x));
    app.update();
    app.world_mut().entity_mut(trees[0]).despawn();
    let unit = spawn_critter(&mut app, (8, 4));
    let present = |app: &App| -> Option<Target> {
        let unit = app.world().entity(unit);
        let request = unit.get::<PathRequest>().unwrap();
        request.present_target(unit.get::<RequestState>().unwrap()).cloned()
    };
    let all = PathRequest::to_nearest(trees).beside();
    app.world_mut().entity_mut(unit).insert(all);
    assert_eq!(present(&app), None, "not read yet");
    app.update();
    assert_eq!(present(&app), Some(trees[1].into()));
    // That tree is walled in.
    for (x, y, width, height) in [(14, 3, 5, 1), (14, 5, 5, 1), (14, 4, 1, 1), (18, 4, 1, 1)] {
        let mut grids = grid(&mut app);
        let level = grids.get_mut(GridId(0)).unwrap();
        level.block(CellRect::new(Cell::new(x, y), width, height)).unwrap();
    }
    run_until(&mut app, 400, |app| has_arrived(app, unit));
    assert_eq!(present(&app), Some(trees[2].into()));

    // Of a request that fails, none.
    app.world_mut().entity_mut(unit).insert(PathRequest::to_nearest([trees[0]; 3]));
    run(&mut app, 2);
    assert_eq!(status(&app, unit), PathStatus::Failed(PathFailure::TargetGone));
    assert_eq!(present(&app), None);

    // Over a link: known when the last leg is.
    let near = [Cell::new(4, 4), Cell::new(6, 4)].map(Target::from);
    let request = PathRequest::to_nearest(near.clone()).goal_on(GridId(1));
    app.world_mut().entity_mut(unit).insert(request);
    run_until(&mut app, 100, |app| status(app, unit) == PathStatus::Walking(PathKind::ToLink));
    assert_eq!(present(&app), None);
    run_until(&mut app, 900, |app| has_arrived(app, unit));
    assert_eq!(present(&app), Some(near[0].clone()));

    // One target, and alternatives to it.
    let wall = Cell::new(14, 4);
    let request = PathRequest::to(wall).or(Cell::new(9, 1));
    let unit = spawn_critter(&mut app, (8, 7));
    app.world_mut().entity_mut(unit).insert(request);
    run_until(&mut app, 400, |app| has_arrived(app, unit));
    let unit = app.world().entity(unit);
    let found = unit.get::<PathRequest>().unwrap().present_target(unit.get().unwrap()).cloned();
    assert_eq!(found, Some(Cell::new(9, 1).into()));
}
