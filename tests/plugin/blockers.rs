//! Blockers around a cell: hexagons of several cells on hexagons, squares on squares.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::app::{app_on, field, frame_of, run, run_until, spawn_critter, state, status};

const GRID: GridId = GridId(0);

fn blocked(app: &App) -> Vec<Cell> {
    let level = app.world().resource::<NavGrids>().get(GRID).unwrap();
    level.rect().cells().filter(|&cell| level.blockers(cell) > 0).collect()
}

fn steps(topology: Topology, a: Cell, b: Cell) -> u32 {
    match topology {
        Topology::Square => a.chebyshev(b),
        Topology::Hexagonal => a.hexagonal_distance(b),
    }
}

#[test]
fn a_blocker_around_a_cell_blocks_all_cells_within_its_radius() {
    for topology in [Topology::Square, Topology::Hexagonal] {
        let mut app = app_on(&field(20, 16), topology);
        let middle = Cell::new(9, 8);
        let place =
            |cell| Transform::from_translation(frame_of(topology).cell_center(cell).extend(0.0));
        let within = |middle: Cell, radius| {
            let all = CellRect::new(Cell::new(0, 0), 20, 16).cells();
            all.filter(|&cell| steps(topology, cell, middle) <= radius).collect::<Vec<_>>()
        };
        for radius in [0, 1, 2, 5] {
            let blocker = app.world_mut().spawn((NavBlocker::around(radius), place(middle))).id();
            app.update();
            assert_eq!(blocked(&app), within(middle, radius), "{topology:?} {radius}");
            // It moves, partly off the grid.
            app.world_mut().entity_mut(blocker).insert(place(Cell::new(1, 15)));
            app.update();
            assert_eq!(blocked(&app), within(Cell::new(1, 15), radius));
            // It is larger than the grid.
            app.world_mut().entity_mut(blocker).insert(NavBlocker::around(u32::MAX));
            app.update();
            assert_eq!(blocked(&app).len(), 20 * 16);
            app.world_mut().entity_mut(blocker).despawn();
            app.update();
            assert_eq!(blocked(&app), []);
        }
        // Around a footprint of several cells: as far from any of them.
        let rect = CellRect::new(Cell::new(5, 6), 3, 2);
        app.world_mut().spawn(NavBlocker { radius: 2, ..NavBlocker::at(rect) });
        app.update();
        let near = |cell: &Cell| rect.cells().any(|one| steps(topology, one, *cell) <= 2);
        let all = CellRect::new(Cell::new(0, 0), 20, 16).cells();
        assert_eq!(blocked(&app), all.filter(near).collect::<Vec<_>>());
    }
}

#[test]
fn a_blocker_without_a_transform_blocks_nothing_unless_its_cells_are_given() {
    let mut app = app_on(&field(12, 12), Topology::Square);
    let cell = Cell::new(4, 4);
    let at = || {
        let center = frame_of(Topology::Square).cell_center(cell);
        Transform::from_translation(center.extend(0.0))
    };
    let moving = app.world_mut().spawn((NavBlocker::sized(1, 1), at())).id();
    let fixed = (NavBlocker::at(CellRect::new(Cell::new(8, 8), 1, 1)), at());
    let fixed = app.world_mut().spawn(fixed).id();
    app.update();
    assert_eq!(blocked(&app), [cell, Cell::new(8, 8)]);
    for blocker in [moving, fixed] {
        app.world_mut().entity_mut(blocker).remove::<Transform>();
    }
    run(&mut app, 2);
    assert_eq!(blocked(&app), [Cell::new(8, 8)]);
    app.world_mut().entity_mut(moving).insert(at());
    app.update();
    assert_eq!(blocked(&app), [cell, Cell::new(8, 8)]);
}

#[test]
fn units_stand_around_a_round_building() {
    for topology in [Topology::Square, Topology::Hexagonal] {
        let mut app = app_on(&field(20, 16), topology);
        let middle = Cell::new(9, 8);
        let place = Transform::from_translation(frame_of(topology).cell_center(middle).extend(0.0));
        let castle = app.world_mut().spawn((NavBlocker::around(2), place)).id();
        let unit = spawn_critter(&mut app, (1, 1));
        app.update();
        for (request, distance) in [
            (PathRequest::to(castle).beside(), 3..=3),
            (PathRequest::to(castle).within(2), 3..=4),
            (PathRequest::to(Cell::new(1, 1)), 8..=20),
            (PathRequest::to(castle).in_sight(3, ProfileId::default()), 3..=5),
        ] {
            app.world_mut().entity_mut(unit).insert(request.clone());
            run(&mut app, 2);
            run_until(&mut app, 600, |app| {
                matches!(status(app, unit), PathStatus::Arrived(_) | PathStatus::Failed(_))
            });
            let end = status(&app, unit);
            let arrived = PathStatus::Arrived(PathKind::Complete);
            assert_eq!(end, arrived, "{topology:?} {request:?}: a building does not hide itself");
            let steps = steps(topology, state(&app, unit).cell(), middle);
            assert!(distance.contains(&steps), "{topology:?} {request:?}: {steps}");
        }
    }
}

/// Its cells on the map count, whether its middle is on the map or not, and whether it has a transform or not.
#[test]
fn units_and_groups_stand_around_a_round_building_whose_middle_is_off_the_map() {
    for topology in [Topology::Square, Topology::Hexagonal] {
        let mut app = app_on(&field(20, 16), topology);
        let place =
            |cell| Transform::from_translation(frame_of(topology).cell_center(cell).extend(0.0));
        let (left, right) = (Cell::new(-1, 8), Cell::new(20, 8));
        let fixed = NavBlocker { at: Some(right), ..NavBlocker::around(2) };
        let castles = [
            (app.world_mut().spawn((NavBlocker::around(2), place(left))).id(), left),
            (app.world_mut().spawn(fixed).id(), right),
        ];
        let unit = app.world_mut().spawn((Critter::new(8.0), place(Cell::new(9, 6)))).id();
        app.update();
        let has_ended =
            |app: &App| matches!(status(app, unit), PathStatus::Arrived(_) | PathStatus::Failed(_));
        for (castle, middle) in castles {
            for (request, distance) in [
                (PathRequest::to(castle).beside(), 3..=3),
                (PathRequest::to(castle).within(2), 3..=4),
                (PathRequest::to(castle).reach(Reach::Nearest), 3..=3),
            ] {
                app.world_mut().entity_mut(unit).insert(request.clone());
                run(&mut app, 2);
                run_until(&mut app, 600, has_ended);
                let steps = steps(topology, state(&app, unit).cell(), middle);
                let is_there = matches!(status(&app, unit), PathStatus::Arrived(_));
                assert!(is_there && distance.contains(&steps), "{topology:?} {request:?}: {steps}");
            }
            app.world_mut().entity_mut(unit).insert(PathRequest::to(Cell::new(9, 6)));
            run(&mut app, 2);
            run_until(&mut app, 600, has_ended);
            app.world_mut().spawn(Group::to(castle, [unit]));
            run(&mut app, 3);
            run_until(&mut app, 600, has_ended);
            let steps = steps(topology, state(&app, unit).cell(), middle);
            let is_there = matches!(status(&app, unit), PathStatus::Arrived(_));
            assert!(is_there && steps <= 4, "{topology:?}: a group stops {steps} steps away");
        }
    }
}

/// A building that could not be placed, as a cell of it has as many blockers as fit, frees nothing when it goes.
#[test]
fn a_blocker_without_a_place_leaves_those_of_others() {
    let mut app = app_on(&field(20, 16), Topology::Square);
    let (full, shared) = (Cell::new(5, 5), Cell::new(6, 5));
    let mut grids = app.world_mut().resource_mut::<NavGrids>();
    let level = grids.get_mut(GRID).unwrap();
    let mut edit = level.edit();
    (0..u16::MAX).for_each(|_| edit.block(CellRect::single(full)).unwrap());
    drop(edit);
    app.world_mut().spawn(NavBlocker::at(CellRect::single(shared)));
    app.update();
    let building = app.world_mut().spawn(NavBlocker::at(CellRect::new(full, 2, 1))).id();
    app.update();
    assert_eq!(blocked(&app), [full, shared]);
    app.world_mut().despawn(building);
    app.update();
    assert_eq!(blocked(&app), [full, shared]);
}
