//! A unit that walks its own path alone walks no farther than the path, on any ground; at the mouths of passages, where
//! units come out straight, at most two steps.

use bevy_tilepath::{
    nav::crowd::{Crowd, Hindrance, UnitSettings},
    prelude::*,
};

use crate::common::Random;

const SIDE: u32 = 64;
const MUD: TerrainId = TerrainId(3);

/// Returns a map of random walls and mud, in blocks; mud costs as much as the rest, or three times as much.
fn random_grid(random: &mut Random, is_mixed: bool) -> NavGrid {
    let factor = if is_mixed { 3 } else { 1 };
    let profile = Profile::default().with(MUD, factor * Profile::PLAIN_COST);
    let grid = NavGrid::new(SIDE, SIDE, TerrainId::GROUND).expect("the size is valid");
    let mut grid = grid.with_profiles(vec![profile]);
    for number in 0..60 {
        let terrain = if number % 2 == 0 { TerrainId::VOID } else { MUD };
        let low = Cell::new(random.below(SIDE) as i32, random.below(SIDE) as i32);
        let (width, height) = (1 + random.below(8), 1 + random.below(8));
        for cell in CellRect::new(low, width, height).intersection(grid.rect()).cells() {
            grid.set_terrain(cell, terrain).expect("the cell is on the grid");
        }
    }
    grid
}

/// Returns the cost of all steps of a unit from the beginning of its path to the end.
fn cost_walked(grid: &NavGrid, path: &Path) -> PathCost {
    let mut crowd = Crowd::new(grid);
    let unit = crowd.add(grid, path.start(), UnitSettings::default()).expect("the cell is free");
    crowd.follow(grid, unit, path).expect("the path is on the grid");
    let (mut at, mut total) = (path.start(), 0);
    while !crowd.has_arrived(unit) {
        assert!(crowd.now() < 20_000, "it does not arrive; it is at {at}");
        crowd.tick(grid, &());
        let (tail, _) = crowd.position(grid, unit).expect("the unit is there");
        if tail != at {
            total += grid.path_cost(ProfileId(0), at, tail).expect("the cells are neighbors").0;
            at = tail;
        }
    }
    PathCost(total)
}

#[test]
fn a_lone_unit_walks_hardly_farther_than_its_path() {
    let (mut walks, mut detours) = (0, 0);
    for seed in 0..120 {
        let mut random = Random(seed);
        let grid = random_grid(&mut random, seed % 2 == 1);
        let mut cell = || Cell::new(random.below(SIDE) as i32, random.below(SIDE) as i32);
        for _ in 0..6 {
            let Ok(path) = grid.find_path(ProfileId(0), cell(), cell()) else {
                continue;
            };
            let walked = cost_walked(&grid, &path);
            let excess = walked.0.checked_sub(path.cost().0);
            let excess = excess.expect("the path is the shortest") / PathCost::PLAIN_STEP.0;
            let ends = (path.start(), path.end());
            assert!(excess <= 2, "seed {seed}, {ends:?}: {excess} steps too many");
            (walks, detours) = (walks + 1, detours + u32::from(excess > 0));
        }
    }
    assert!(walks > 400, "only {walks} walks");
    assert!(detours * 50 <= walks, "{detours} of {walks} are too long");
}

/// Returns how far a cell is from the straight line between two others, in cells.
fn distance_from_line(cell: Cell, (from, to): (Cell, Cell)) -> f64 {
    let (dx, dy) = (f64::from(to.x - from.x), f64::from(to.y - from.y));
    let (x, y) = (f64::from(cell.x - from.x), f64::from(cell.y - from.y));
    (dx * y - dy * x).abs() / dx.hypot(dy)
}

#[test]
fn a_lone_unit_walks_straight_over_open_ground() {
    let grid = NavGrid::new(200, 160, TerrainId::GROUND).expect("the size is valid");
    for (x, y) in [(140, 60), (140, 110), (10, 150), (199, 12), (30, 159), (7, 5)] {
        let (from, to) = (Cell::new(5, 5), Cell::new(x, y));
        let path = grid.find_path(ProfileId(0), from, to).expect("the ground is open");
        let mut crowd = Crowd::new(&grid);
        let unit = crowd.add(&grid, from, UnitSettings::default()).expect("the cell is free");
        crowd.follow(&grid, unit, &path).expect("the path is on the grid");
        let (mut steps, mut last) = (0, from);
        while !crowd.has_arrived(unit) {
            assert!(crowd.now() < 5_000, "it does not arrive at {to}");
            crowd.tick(&grid, &());
            let (tail, head) = crowd.position(&grid, unit).expect("the unit is there");
            steps += u32::from(tail != last);
            last = tail;
            let off = distance_from_line(head, (from, to));
            assert!(off <= 0.5, "to {to}: {head} is {off} cells off");
        }
        assert_eq!(steps, path.steps(), "it walks no farther than its path");
    }
}

#[test]
fn a_unit_that_walks_straight_turns_aside_for_walls_and_other_units() {
    let mut grid = NavGrid::new(120, 80, TerrainId::GROUND).expect("the size is valid");
    let (from, to) = (Cell::new(5, 5), Cell::new(55, 30));
    let path = grid.find_path(ProfileId(0), from, to).expect("the ground is open");
    let mut crowd = Crowd::new(&grid);
    let unit = crowd.add(&grid, from, UnitSettings::default()).expect("the cell is free");
    crowd.add(&grid, Cell::new(15, 10), UnitSettings::default()).expect("the cell is free");
    crowd.follow(&grid, unit, &path).expect("the path is on the grid");
    let mut walls = Vec::new();
    while !crowd.has_arrived(unit) {
        assert!(crowd.now() < 5_000, "it does not arrive");
        // A wall across the straight line, beside the path of the search.
        if crowd.now() == 200 {
            let wall = CellRect::new(Cell::new(39, 20), 2, 4);
            assert!(path.cells().all(|cell| !wall.contains(cell)));
            grid.block(wall).expect("the wall is on the grid");
            walls.push(wall);
        }
        let before = crowd.position(&grid, unit).expect("the unit is there").1;
        crowd.tick(&grid, &());
        let (_, head) = crowd.position(&grid, unit).expect("the unit is there");
        assert!(walls.iter().all(|wall| !wall.contains(head)), "{head} is a wall");
        let corners = [Cell::new(before.x, head.y), Cell::new(head.x, before.y)];
        let cuts = corners.iter().any(|&cell| grid.cost(ProfileId(0), cell) == 0);
        assert!(before == head || !cuts, "{before} to {head} cuts a corner");
    }
    assert_eq!(walls.len(), 1, "the wall went up on the way");
}

/// Searches ignore units. The cost-to-go along the path leads straight to such a wall, at whatever place.
#[test]
fn a_unit_walks_around_a_wall_of_units_that_cannot_be_pushed() {
    let grid = NavGrid::new(60, 40, TerrainId::GROUND).expect("the size is valid");
    let guard = UnitSettings { is_pushable: false, ..UnitSettings::default() };
    for half in 0..=9 {
        let mut crowd = Crowd::new(&grid);
        for y in -half..=half {
            crowd.add(&grid, Cell::new(30, 20 + y), guard).expect("the cell is free");
        }
        let path = grid.find_path(ProfileId(0), Cell::new(5, 20), Cell::new(55, 20));
        let path = path.expect("the ground is open");
        let unit = crowd.add(&grid, path.start(), UnitSettings::default());
        let unit = unit.expect("the cell is free");
        crowd.follow(&grid, unit, &path).expect("the path is on the grid");
        while !crowd.has_arrived(unit) {
            let at = crowd.position(&grid, unit);
            assert!(crowd.now() < 1_000, "a wall of {}: it is at {at:?}", 2 * half + 1);
            crowd.tick(&grid, &());
        }
    }
}

/// An edit cuts a path behind one of its corners, and there is no other way: the unit says so, wherever it is then.
#[test]
fn a_unit_whose_path_is_cut_anywhere_has_no_path() {
    for cut in 12..=36 {
        let mut grid = NavGrid::new(40, 24, TerrainId::GROUND).expect("the size is valid");
        grid.block(CellRect::new(Cell::new(20, 0), 1, 18)).expect("the wall is on the grid");
        let path = grid.find_path(ProfileId(0), Cell::new(4, 4), Cell::new(36, 4));
        let path = path.expect("there is a gap");
        let mut crowd = Crowd::new(&grid);
        let unit = crowd.add(&grid, path.start(), UnitSettings::default());
        let unit = unit.expect("the cell is free");
        crowd.follow(&grid, unit, &path).expect("the path is on the grid");
        (0..60).for_each(|_| crowd.tick(&grid, &()));
        // A wall across the whole map, but not under the unit.
        let x = cut;
        grid.block(CellRect::new(Cell::new(x, 0), 1, 24)).expect("the wall is on the grid");
        (0..600).for_each(|_| crowd.tick(&grid, &()));
        assert_eq!(crowd.hindrance(unit).0, Hindrance::NoPath, "cut at column {x}");
    }
}
