//! Crowds between fences: no unit crosses a shut edge, and all of them arrive.

use bevy_tilepath::{
    nav::{
        crowd::{Crowd, Membership, UnitSettings},
        field::DistanceField,
    },
    prelude::*,
};

use crate::crowd::march_by;

const WALL: EdgeId = EdgeId::WALL;

fn open(width: u32, height: u32, topology: Topology) -> NavGrid {
    NavGrid::new(width, height, TerrainId::GROUND).unwrap().with_topology(topology)
}

/// Sets the edges between two rows, in some columns; on hexagons also those to the northwest.
fn fence(grid: &mut NavGrid, y: i32, columns: impl Iterator<Item = i32>) {
    let is_hexagonal = grid.topology() == Topology::Hexagonal;
    let mut edit = grid.edit();
    for x in columns {
        edit.set_edge(Cell::new(x, y), Direction::North, WALL).unwrap();
        if is_hexagonal && x > 0 {
            edit.set_edge(Cell::new(x, y), Direction::NorthWest, WALL).unwrap();
        }
    }
}

/// Units on both sides of a line swap places.
fn swap_sides(pairs: impl Iterator<Item = (Cell, Cell)>) -> Vec<(Cell, Cell)> {
    pairs.flat_map(|(here, there)| [(here, there), (there, here)]).collect()
}

/// Two crowds go through a gate in a fence, one or more cells wide.
#[test]
fn crowds_pass_through_a_gate_in_a_fence_both_ways() {
    for topology in [Topology::Square, Topology::Hexagonal] {
        for (gate, most) in [(1, 1_900), (2, 1_150), (4, 800)] {
            let mut grid = open(30, 26, topology);
            let middle = 15 - gate / 2..15 - gate / 2 + gate;
            fence(&mut grid, 12, (0..30).filter(|x| !middle.contains(x)));
            let pairs = (0..40).map(|i| {
                let (x, row) = (5 + 2 * (i % 10), i / 10);
                (Cell::new(x, 3 + 2 * row), Cell::new(x, 22 - 2 * row))
            });
            let routes = swap_sides(pairs);
            for has_paths in [false, true] {
                march_by(&grid, &routes, most, has_paths);
            }
        }
    }
}

/// Fences divide a field into lanes one cell wide: each is a passage, one direction at a time.
#[test]
fn units_that_meet_in_lanes_between_fences_all_arrive() {
    for topology in [Topology::Square, Topology::Hexagonal] {
        let mut grid = open(40, 9, topology);
        for y in 0..8 {
            fence(&mut grid, y, 12..28);
        }
        let pairs =
            (0..27).map(|i| (Cell::new(3 + i / 9 * 2, i % 9), Cell::new(36 - i / 9 * 2, i % 9)));
        let routes = swap_sides(pairs);
        for has_paths in [false, true] {
            march_by(&grid, &routes, 950, has_paths);
        }
    }
}

/// A building goes up under a unit of 2 × 2 cells beside a fence: it leaves, but not through the fence.
#[test]
fn a_large_unit_leaves_a_building_on_its_side_of_the_fence() {
    let profile = Profile::default().size(2);
    let mut grid = open(20, 12, Topology::Square).with_profiles(vec![profile]);
    let mut edit = grid.edit();
    (0..12).for_each(|y| edit.set_edge(Cell::new(5, y), Direction::East, WALL).unwrap());
    drop(edit);
    let mut crowd = Crowd::new(&grid);
    let unit = crowd.add(&grid, Cell::new(4, 4), UnitSettings::default()).unwrap();
    let mut field = DistanceField::new();
    field.start(&grid, ProfileId(0), Cell::new(14, 4)).unwrap();
    field.step(&grid, u32::MAX);
    crowd.follow_route(unit, bevy_tilepath::nav::crowd::RouteId(0)).unwrap();
    grid.block(CellRect::new(Cell::new(4, 4), 2, 2)).unwrap();
    let fields = vec![field];
    for _ in 0..400 {
        crowd.tick(&grid, &fields);
        let (tail, head) = crowd.position(&grid, unit).unwrap();
        assert!(tail.x <= 4 && head.x <= 4, "{tail} to {head}");
    }
    let (at, _) = crowd.position(&grid, unit).unwrap();
    assert!(grid.cost(ProfileId(0), at) > 0, "it still stands in the building, on {at}");
}

/// Doors close on units of several cells: they leave to either side, with orders and without.
#[test]
fn a_large_unit_on_which_a_door_closes_leaves_the_doorway() {
    for (size, has_order) in [(2, false), (2, true), (3, false)] {
        let profile = Profile::default().size(size);
        let rows = i32::from(size);
        let mut grid = open(16, size.into(), Topology::Square).with_profiles(vec![profile]);
        let mut crowd = Crowd::new(&grid);
        let unit = crowd.add(&grid, Cell::new(5, 0), UnitSettings::default()).unwrap();
        if has_order {
            let path = grid.find_path(ProfileId(0), Cell::new(5, 0), Cell::new(12, 0)).unwrap();
            crowd.follow(&grid, unit, &path).unwrap();
        }
        let mut edit = grid.edit();
        (0..rows).for_each(|y| edit.set_edge(Cell::new(5, y), Direction::East, WALL).unwrap());
        drop(edit);
        (0..300).for_each(|_| crowd.tick(&grid, &()));
        let (at, head) = crowd.position(&grid, unit).unwrap();
        assert!(at == head && grid.cost(ProfileId(0), at) > 0, "size {size}: it stands on {at}");
    }
}

/// An edge that costs much divides a field but for a bridge: a group goes over the bridge, as a single unit does.
#[test]
fn members_of_a_group_do_not_cross_a_river_beside_its_bridge() {
    let river = EdgeId(3);
    let profile = Profile::default().with_edge(river, 1_600);
    let mut grid = open(40, 20, Topology::Square).with_profiles(vec![profile]);
    let mut edit = grid.edit();
    for x in (0..40).filter(|x| !(30..33).contains(x)) {
        edit.set_edge(Cell::new(x, 11), Direction::North, river).unwrap();
    }
    drop(edit);
    let mut crowd = Crowd::new(&grid);
    let units: Vec<_> = (0..4)
        .map(|x| {
            let start = Cell::new(18 + x, 3);
            let unit = crowd.add(&grid, start, UnitSettings::default()).unwrap();
            let slot = Cell::new(18 + x, 15);
            let path = grid.find_path(ProfileId(0), start, slot).unwrap();
            let member = Membership { swap_class: 1, slot, goal: Cell::new(20, 15), route: None };
            crowd.follow_among(&grid, unit, &path, &member).unwrap();
            unit
        })
        .collect();
    for _ in 0..1_200 {
        crowd.tick(&grid, &());
        for &unit in &units {
            let (tail, head) = crowd.position(&grid, unit).unwrap();
            let crosses = tail.y.min(head.y) == 11 && tail.y.max(head.y) == 12;
            assert!(!crosses || (29..34).contains(&tail.x), "one swims at {tail}");
        }
    }
    assert!(units.iter().all(|&unit| crowd.has_arrived(unit)));
}

/// A unit without orders that is in the way stays on the road.
#[test]
fn a_unit_that_is_pushed_does_not_step_into_the_swamp() {
    let swamp = TerrainId(2);
    let profile = Profile::default().with(swamp, 1_600);
    let mut grid = open(20, 3, Topology::Square).with_profiles(vec![profile]);
    for x in 0..20 {
        grid.set_terrain(Cell::new(x, 0), swamp).unwrap();
        grid.set_terrain(Cell::new(x, 2), swamp).unwrap();
    }
    let mut crowd = Crowd::new(&grid);
    let idle = crowd.add(&grid, Cell::new(8, 1), UnitSettings::default()).unwrap();
    let unit = crowd.add(&grid, Cell::new(2, 1), UnitSettings::default()).unwrap();
    let path = grid.find_path(ProfileId(0), Cell::new(2, 1), Cell::new(15, 1)).unwrap();
    crowd.follow(&grid, unit, &path).unwrap();
    let mut ticks = 0;
    while !crowd.has_arrived(unit) {
        crowd.tick(&grid, &());
        ticks += 1;
        assert!(ticks < 250, "it is at {:?}", crowd.position(&grid, unit));
        let (tail, head) = crowd.position(&grid, idle).unwrap();
        assert_eq!((tail.y, head.y), (1, 1), "it stays on the road");
    }
}
