//! Groups of several kinds of units on ground of mixed costs, sent about again and again: all come to rest.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{Random, app::*, units::*};
use crate::watch::*;

const SIDE: i32 = 48;
const MUD: TerrainId = TerrainId(2);
const ROAD: TerrainId = TerrainId(3);
const LARGE: ProfileId = ProfileId(1);

fn random_cell(random: &mut Random) -> Cell {
    Cell::new(random.below(SIDE as u32) as i32, random.below(SIDE as u32) as i32)
}

/// Makes a map with patches of mud, roads and scattered walls.
fn mixed_ground(app: &mut App, random: &mut Random) {
    let [ground, mud, road] = [2, 4, 1].map(|cost| cost * Profile::PLAIN_COST);
    let profile =
        Profile::default().with(TerrainId::GROUND, ground).with(MUD, mud).with(ROAD, road);
    let mut grid = NavGrid::new(SIDE as u32, SIDE as u32, TerrainId::GROUND).unwrap();
    for _ in 0..14 {
        let terrain = if random.below(3) == 0 { TerrainId::VOID } else { MUD };
        let size = if terrain == MUD { 10 } else { 5 };
        let (low, width, height) =
            (random_cell(random), 1 + random.below(size), 1 + random.below(size));
        for cell in CellRect::new(low, width, height).intersection(grid.rect()).cells() {
            grid.set_terrain(cell, terrain).unwrap();
        }
    }
    for _ in 0..3 {
        let (row, column) = (random.below(SIDE as u32) as i32, random.below(SIDE as u32) as i32);
        for at in 0..SIDE {
            grid.set_terrain(Cell::new(at, row), ROAD).unwrap();
            grid.set_terrain(Cell::new(column, at), ROAD).unwrap();
        }
    }
    let mut grids = app.world_mut().resource_mut::<NavGrids>();
    grids.set_profiles(vec![profile.clone(), profile.size(2)]);
    grids.insert(GridId::default(), grid, GridFrame::square(Vec2::ZERO, Vec2::splat(10.0)));
}

/// Spawns units on random free cells of one region.
fn spawn_units(app: &mut App, random: &mut Random, home: Cell) -> Vec<Entity> {
    let mut taken = std::collections::BTreeSet::new();
    let mut units = Vec::new();
    while units.len() < 30 {
        let profile = if units.len() % 6 == 0 { LARGE } else { ProfileId(0) };
        let (cell, grid) = (random_cell(random), level(app));
        let side = grid.unit_size(profile);
        let block: Vec<Cell> = CellRect::new(cell, side, side).cells().collect();
        let is_reachable = grid.region(profile, cell).is_some()
            && grid.region(profile, cell) == grid.region(profile, home);
        if !is_reachable || block.iter().any(|cell| taken.contains(cell)) {
            continue;
        }
        taken.extend(block);
        let unit = (Critter::new(4.0 + units.len() as f32 % 5.0), NavAgent::new(profile));
        units.push(spawn_kind_at(app, unit, (cell.x, cell.y)));
    }
    units
}

/// Returns a cell of the region with the most cells for large units.
fn largest_region(app: &App) -> Cell {
    let grid = level(app);
    let mut cells = std::collections::BTreeMap::<u32, (u32, Cell)>::new();
    for cell in grid.rect().cells() {
        if let Some(region) = grid.region(LARGE, cell) {
            cells.entry(region).or_insert((0, cell)).0 += 1;
        }
    }
    cells.into_values().max_by_key(|&(count, _)| count).unwrap().1
}

#[test]
fn groups_on_mixed_ground_come_to_rest_again_and_again() {
    for seed in 5..12 {
        let (mut app, mut random) = (app(), Random(seed * 77 + 5));
        mixed_ground(&mut app, &mut random);
        let home = largest_region(&app);
        let units = spawn_units(&mut app, &mut random, home);
        let mut watch = Watch::new();
        for round in 0..4 {
            let to = loop {
                let cell = random_cell(&mut random);
                if level(&app).region(LARGE, cell) == level(&app).region(LARGE, home) {
                    break cell;
                }
            };
            // Two groups with the same goal, or one.
            let split = if round % 2 == 0 { 0 } else { 12 };
            for members in [&units[..split], &units[split..]] {
                app.world_mut().spawn(Group::to(to, members.iter().copied()));
            }
            watch.tick(&mut app);
            let at_rest = |app: &App| units.iter().all(|&unit| !status(app, unit).is_under_way());
            watch.run_until(&mut app, 3_500, at_rest);
        }
    }
}

/// Across the whole field lie strips of ground that costs many times as much: all members wade through them.
#[test]
fn a_group_crosses_strips_of_deep_mud() {
    for mud in [6, 40] {
        let mut app = app();
        let profile = Profile::default().with(MUD, mud * Profile::PLAIN_COST);
        let mut level = NavGrid::new(40, 30, TerrainId::GROUND).unwrap();
        for (x, y) in (0..40).flat_map(|x| [10, 14, 16].map(|y| (x, y))) {
            level.set_terrain(Cell::new(x, y), MUD).unwrap();
        }
        let mut grids = grid(&mut app);
        grids.set_profiles(vec![profile]);
        grids.insert(GridId::default(), level, GridFrame::square(Vec2::ZERO, Vec2::splat(10.0)));
        let units: Vec<Entity> =
            (0..12).map(|i| spawn_critter(&mut app, (14 + i % 6, 2 + i / 6))).collect();
        record_groups(&mut app);
        app.world_mut().spawn(Group::to(Cell::new(18, 18), units));
        run_until(&mut app, 60 * 64, |app| !group_arrivals(app).is_empty());
        assert_eq!(group_arrivals(&app), [(12, 0)], "mud of {mud}");
    }
}
