//! Edges through the plugin: doors and fences as entities, tiles with edges, and units that meet them.

use bevy::{ecs::entity_disabling::Disabled, prelude::*};
use bevy_tilepath::prelude::*;

use crate::common::app::{
    app_on, app_with, field, grid, order, run, run_until, spawn_critter, spawn_ghost, state, status,
};
use crate::watch::Watch;

const DEFAULT: GridId = GridId(0);
const DOOR: EdgeId = EdgeId(2);

fn edge(app: &App, cell: (i32, i32), direction: Direction) -> EdgeId {
    let grids = app.world().resource::<NavGrids>();
    grids.get(DEFAULT).unwrap().edge(cell.into(), direction)
}

/// A fence between two rows, from the left border to the right, with a gap in one column.
fn fence(width: i32, y: i32, gap: Option<i32>) -> NavEdges {
    let columns = (0..width).filter(|&x| Some(x) != gap);
    columns.map(|x| (Cell::new(x, y), Direction::North, EdgeId::WALL)).collect()
}

fn has_arrived(app: &App, unit: Entity) -> bool {
    matches!(status(app, unit), PathStatus::Arrived(_))
}

fn cell_of(app: &App, unit: Entity) -> Cell {
    let grids = app.world().resource::<NavGrids>();
    let position = crate::common::app::position(app, unit);
    grids.cell_at(DEFAULT, position).unwrap()
}

#[test]
fn edges_of_entities_come_and_go_with_them() {
    let mut app = app_with(&field(9, 9));
    let door =
        app.world_mut().spawn(NavEdges::between(Cell::new(4, 4), Direction::North, DOOR)).id();
    app.update();
    assert_eq!(edge(&app, (4, 5), Direction::South), DOOR);

    // Of several, the highest number counts, whatever goes first.
    let wall = NavEdges::between(Cell::new(4, 5), Direction::South, EdgeId(7));
    let wall = app.world_mut().spawn(wall).id();
    app.update();
    assert_eq!(edge(&app, (4, 4), Direction::North), EdgeId(7));
    app.world_mut().entity_mut(wall).insert(Disabled);
    app.update();
    assert_eq!(edge(&app, (4, 4), Direction::North), EdgeId(7), "disabled ones stay");
    app.world_mut().entity_mut(wall).despawn();
    app.update();
    assert_eq!(edge(&app, (4, 4), Direction::North), DOOR);

    // It opens by a change.
    app.world_mut().get_mut::<NavEdges>(door).unwrap().edges[0].2 = EdgeId::NONE;
    app.update();
    assert_eq!(edge(&app, (4, 4), Direction::North), EdgeId::NONE);
    app.world_mut().get_mut::<NavEdges>(door).unwrap().edges[0].2 = DOOR;
    app.update();

    // Another grid with the same number gets the edges, too; edges set by hand stay apart from them.
    let mut other = NavGrid::new(12, 12, TerrainId::GROUND).unwrap();
    other.set_edge(Cell::new(4, 4), Direction::North, EdgeId(1)).unwrap();
    grid(&mut app).insert(DEFAULT, other, GridFrame::default());
    app.update();
    assert_eq!(edge(&app, (4, 4), Direction::North), DOOR);
    app.world_mut().entity_mut(door).remove::<NavEdges>();
    app.update();
    assert_eq!(edge(&app, (4, 4), Direction::North), EdgeId(1));

    // Nothing opens a wall that stands in the same place.
    for kind in [EdgeId::WALL, DOOR, EdgeId(254)] {
        app.world_mut().spawn(NavEdges::between(Cell::new(4, 4), Direction::North, kind));
    }
    app.update();
    assert_eq!(edge(&app, (4, 4), Direction::North), EdgeId::WALL);
}

#[test]
fn impossible_edges_are_left_out() {
    let mut app = app_with(&field(9, 9));
    let edges = NavEdges::between(Cell::new(4, 4), Direction::NorthEast, DOOR)
        .and(Cell::new(8, 4), Direction::East, DOOR)
        .and(Cell::new(i32::MIN, i32::MAX), Direction::West, DOOR)
        .and(Cell::new(3, 4), Direction::East, DOOR);
    let placed = app.world_mut().spawn(edges.clone()).id();
    app.world_mut().spawn(edges.on(GridId(9)));
    app.update();
    let all = |app: &App| {
        let grids = app.world().resource::<NavGrids>();
        grids.get(DEFAULT).unwrap().edges().collect::<Vec<_>>()
    };
    assert_eq!(all(&app), [(Cell::new(3, 4), Direction::East, DOOR)]);
    app.world_mut().entity_mut(placed).despawn();
    grid(&mut app).remove(DEFAULT);
    app.update();
}

#[test]
fn units_take_the_gap_and_turn_when_it_closes() {
    for topology in [Topology::Square, Topology::Hexagonal] {
        for is_ghost in [false, true] {
            let mut app = app_on(&field(21, 13), topology);
            let mut edges = fence(21, 6, Some(3));
            if topology == Topology::Hexagonal {
                let more: Vec<_> =
                    edges.edges.iter().filter(|(cell, ..)| cell.x > 0).copied().collect();
                edges.edges.extend(
                    more.into_iter().map(|(cell, _, edge)| (cell, Direction::NorthWest, edge)),
                );
                edges = edges.and(Cell::new(3, 6), Direction::NorthWest, EdgeId::WALL);
            }
            app.world_mut().spawn(edges);
            let gate = app
                .world_mut()
                .spawn(NavEdges::between(Cell::new(17, 6), Direction::North, EdgeId::NONE))
                .id();
            let unit = if is_ghost {
                spawn_ghost(&mut app, (10, 2))
            } else {
                spawn_critter(&mut app, (10, 2))
            };
            order(&mut app, unit, (10, 10));
            let mut crossed = Vec::new();
            let mut before = Cell::new(10, 2);
            run_until(&mut app, 3_000, |app| {
                let now = state(app, unit).cell();
                if now != before && before.y.min(now.y) == 6 && before.y != now.y {
                    crossed.push(before.x);
                }
                before = now;
                has_arrived(app, unit)
            });
            assert_eq!(crossed, [3], "{topology:?}, ghost: {is_ghost}");
            // Back again, and while it is under way the gap closes: there is no way.
            order(&mut app, unit, (10, 2));
            run(&mut app, 20);
            app.world_mut().get_mut::<NavEdges>(gate).unwrap().edges[0] =
                (Cell::new(3, 6), Direction::North, EdgeId::WALL);
            run_until(&mut app, 600, |app| {
                matches!(status(app, unit), PathStatus::Failed(PathFailure::NoPath { .. }))
            });
            assert!(cell_of(&app, unit).y > 6);
        }
    }
}

/// A door that opens and shuts all the time, and a crowd on both sides: nobody walks through it while it is shut.
#[test]
fn crowds_use_a_door_while_it_is_open() {
    let mut app = app_with(&field(24, 14));
    app.world_mut().spawn(fence(24, 6, Some(12)));
    let door = NavEdges::between(Cell::new(12, 6), Direction::North, EdgeId::NONE);
    let door = app.world_mut().spawn(door).id();
    let mut units = Vec::new();
    for i in 0..20 {
        let (here, there) = (2 + i, 23 - 2 - i);
        let up = spawn_critter(&mut app, (here, 2));
        let down = spawn_critter(&mut app, (here, 11));
        app.world_mut().entity_mut(up).insert(PathRequest::to(Cell::new(there, 11)).retry(Retry {
            after: 8,
            longest: 64,
            most: u16::MAX,
        }));
        app.world_mut().entity_mut(down).insert(
            PathRequest::to(Cell::new(there, 2)).retry(Retry {
                after: 8,
                longest: 64,
                most: u16::MAX,
            }),
        );
        units.extend([up, down]);
    }
    let mut watch = Watch::new();
    for tick in 0..6_000 {
        let is_shut = tick / 100 % 3 == 2;
        let kind = if is_shut { EdgeId::WALL } else { EdgeId::NONE };
        let mut edges = app.world_mut().get_mut::<NavEdges>(door).unwrap();
        if edges.edges[0].2 != kind {
            edges.edges[0].2 = kind;
        }
        watch.tick(&mut app);
        if units.iter().all(|&unit| has_arrived(&app, unit)) {
            return;
        }
    }
    panic!("not all have arrived");
}

#[test]
fn the_nearest_edge_to_a_position_is_found() {
    for topology in [Topology::Square, Topology::Hexagonal] {
        let app = app_on(&field(9, 9), topology);
        let grids = app.world().resource::<NavGrids>();
        let frame = *grids.frame(DEFAULT).unwrap();
        let cell = Cell::new(4, 4);
        for direction in Direction::ALL {
            let (dx, dy) = direction.offset();
            let is_side = match topology {
                Topology::Square => dx * dy == 0,
                Topology::Hexagonal => dx != dy,
            };
            let between = frame.cell_center(cell).lerp(frame.cell_center(cell.offset(dx, dy)), 0.4);
            if is_side {
                assert_eq!(grids.edge_at(DEFAULT, between), Some((cell, direction)));
            }
        }
        assert_eq!(
            grids.edge_at(DEFAULT, frame.cell_center(Cell::new(8, 4)) + Vec2::X * 0.1),
            None
        );
        assert_eq!(grids.edge_at(DEFAULT, Vec2::NAN), None);
        assert_eq!(grids.edge_at(GridId(3), Vec2::ZERO), None);
    }
}
