//! Units of several hexagons: where they are drawn, which gaps they fit through, what they stop beside, groups of them, links,
//! and sizes that change.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{Random, app::*, covered, units::*};
use crate::crowd_common::{Checker, Seen};

fn hexagons(width: usize, height: usize) -> App {
    app_with_sizes_on(&field(width, height), Topology::Hexagonal)
}

fn center_of(cell: Cell) -> Vec2 {
    frame_of(Topology::Hexagonal).cell_center(cell)
}

/// Runs until the order has ended; panics if the unit covers an impassable cell in any tick.
fn run_checked(app: &mut App, unit: Entity, profile: ProfileId) -> Result<Cell, PathFailure> {
    for _ in 0..3_000 {
        let (state, status, level) = (state(app, unit), status(app, unit), level(app));
        let covers = |at: Cell| covered(Topology::Hexagonal, level.unit_size(profile), at);
        let stands = [state.walk().tail(), state.walk().head()];
        for at in stands.into_iter().filter(|_| status != PathStatus::Searching) {
            assert!(covers(at).eq(level.cells_of(profile, at)));
            assert!(covers(at).all(|cell| level.cost(SMALL, cell) > 0), "it does not fit on {at}");
        }
        match status {
            PathStatus::Failed(reason) => return Err(reason),
            PathStatus::Arrived(_) => return Ok(state.cell()),
            _ => app.update(),
        }
    }
    panic!("it never comes to rest");
}

#[test]
fn a_unit_is_drawn_in_the_middle_of_its_anchor() {
    for profile in [SMALL, BIG, HUGE] {
        let mut app = hexagons(24, 16);
        let unit = spawn_unit(&mut app, profile, (4, 5));
        assert_eq!(position(&app, unit), center_of(Cell::new(4, 5)));
        insert_request(&mut app, unit, PathRequest::to(Cell::new(14, 9)).profile(profile));
        assert_eq!(run_checked(&mut app, unit, profile), Ok(Cell::new(14, 9)));
        run(&mut app, 2);
        assert!(position(&app, unit).distance(center_of(Cell::new(14, 9))) < 1.0e-3);
    }
}

#[test]
fn a_gap_must_be_as_wide_as_the_unit() {
    let (start, goal) = (Cell::new(4, 7), Cell::new(17, 7));
    let cases =
        [(SMALL, 1, true), (BIG, 2, false), (BIG, 3, true), (HUGE, 4, false), (HUGE, 5, true)];
    for (profile, width, fits) in cases {
        let mut app = hexagons(24, 16);
        block(&mut app, CellRect::new(Cell::new(10, 0), 1, 16));
        unblock(&mut app, CellRect::new(Cell::new(10, 5), 1, width));
        let unit = spawn_unit(&mut app, profile, (start.x, start.y));
        insert_request(&mut app, unit, PathRequest::to(goal).profile(profile));
        let end = if fits { Ok(goal) } else { Err(PathFailure::NoPath { start, goal }) };
        assert_eq!(run_checked(&mut app, unit, profile), end, "{profile:?} through {width}");
    }
}

/// Of units and of buildings, every cell counts for distances.
#[test]
fn distances_are_measured_from_all_cells_of_both() {
    let mut app = hexagons(40, 24);
    let tower = NavBlocker { at: Some(Cell::new(20, 10)), ..NavBlocker::around(1) };
    let tower = app.world_mut().spawn(tower).id();
    let tank = spawn_unit(&mut app, HUGE, (30, 10));
    insert_request(&mut app, tank, PathRequest::to(Cell::new(30, 10)).profile(HUGE));
    run(&mut app, 3);
    for (target, size, at) in [(tower, 2, Cell::new(20, 10)), (tank, 3, Cell::new(30, 10))] {
        for (request, gap) in [
            (PathRequest::to(target).beside(), 1),
            (PathRequest::to(target).within(3), 3),
            (PathRequest::to(target).in_sight(2, SMALL), 2),
        ] {
            for (profile, own) in [(SMALL, 1), (BIG, 2), (HUGE, 3)] {
                let unit = spawn_unit(&mut app, profile, (4, 14));
                insert_request(&mut app, unit, request.clone().profile(profile));
                let end = run_to_end(&mut app, unit).unwrap();
                let apart = end.hexagonal_distance(at) + 2 - own - size;
                assert_eq!(apart, gap, "{request:?} of {profile:?}: {end}");
                app.world_mut().despawn(unit);
                run(&mut app, 2);
            }
        }
    }
}

#[test]
fn sizes_of_a_walking_unit_may_change_at_any_tick() {
    let mut random = Random(12);
    for round in 0..20 {
        let mut app = hexagons(26, 22);
        let set = |app: &mut App, size| {
            let profiles = [1, size].map(|size| Profile::default().size(size)).to_vec();
            grid(app).set_profiles(profiles);
        };
        set(&mut app, 1);
        let unit = spawn_critter(&mut app, (2, 2));
        let request = PathRequest::to(Cell::new(18, 11)).profile(BIG);
        let retry = Retry { after: 3, longest: 3, most: 90 };
        insert_request(&mut app, unit, request.retry(retry));
        for _ in 0..4 {
            run(&mut app, 1 + random.below(30));
            set(&mut app, 1 + random.below(4) as u8);
        }
        set(&mut app, 2);
        assert_eq!(run_to_end(&mut app, unit), Ok(Cell::new(18, 11)), "round {round}");
        run(&mut app, 30);
        assert!(position(&app, unit).distance(center_of(Cell::new(18, 11))) < 1.0e-3);
    }
}

/// A mixed group of 1, 7 and 19 cells: all get places that do not overlap, and come to rest there.
#[test]
fn mixed_groups_come_to_rest_without_overlaps() {
    for formation in [Formation::Loose, Formation::Box, Formation::Line] {
        let mut app = hexagons(70, 50);
        let units: Vec<(Entity, ProfileId)> = (0..24)
            .map(|at| {
                let profile = ProfileId(at as u8 % 3);
                (spawn_unit(&mut app, profile, (4 + at % 6 * 6, 4 + at / 6 * 6)), profile)
            })
            .collect();
        for &(unit, profile) in &units {
            app.world_mut().entity_mut(unit).insert(NavAgent::new(profile));
        }
        let order = Group::to(Cell::new(50, 30), units.iter().map(|&(unit, _)| unit));
        app.world_mut().spawn(order.formation(formation));
        let mut checker = Checker::new();
        for _ in 0..1_500 {
            app.update();
            let (level, crowds) = (level(&app), app.world().resource::<Crowds>());
            let crowd = crowds.get(GridId::default()).unwrap();
            let seen = (0..).zip(&units).filter_map(|(id, &(unit, profile))| {
                let own = state(&app, unit).unit()?;
                let kind = (id, profile, crowd.size(own)?);
                Some(Seen::new(kind, crowd.position(level, own)?, crowd.progress(own)))
            });
            checker.look(level, &seen.collect::<Vec<_>>(), &[]);
        }
        assert!(checker.faults.is_clean(), "{:?}", checker.first);
        let mut taken = std::collections::BTreeSet::new();
        for &(unit, profile) in &units {
            let (at, level) = (state(&app, unit).cell(), level(&app));
            assert!(has_arrived(&app, unit), "{formation:?}: {:?} on {at}", status(&app, unit));
            let size = level.unit_size(profile);
            assert!(covered(Topology::Hexagonal, size, at).all(|cell| taken.insert(cell)));
            assert!(at.hexagonal_distance(Cell::new(50, 30)) < 36, "{formation:?}: {at}");
        }
    }
}

/// A tank takes a lift that is just large enough, and one in the way steps aside.
#[test]
fn large_units_cross_links() {
    let mut app = hexagons(30, 20);
    let upper = GridId(1);
    let level = grid_from(&field(30, 20)).with_topology(Topology::Hexagonal);
    grid(&mut app).insert(upper, level, frame_of(Topology::Hexagonal));
    let (down, up) = (Cell::new(20, 9), Cell::new(6, 9));
    app.world_mut().spawn(NavLink::new((GridId::default(), down), (upper, up)));
    for (start, goal) in [((4, 4), 4), ((8, 10), 10), ((14, 4), 16)] {
        let unit = spawn_unit(&mut app, HUGE, start);
        let request = PathRequest::to(Cell::new(20, goal)).goal_on(upper).profile(HUGE);
        insert_request(&mut app, unit, request);
    }
    run(&mut app, 2_000);
    let mut units = app.world_mut().query::<(&CritterState, &PathStatus)>();
    let at: Vec<Cell> = units.iter(app.world()).map(|(state, _)| state.cell()).collect();
    assert!(units.iter(app.world()).all(|(_, status)| matches!(status, PathStatus::Arrived(_))));
    assert!(at.iter().all(|cell| cell.x == 20), "{at:?}");
}
