//! Searches between fences, and between walls of the same shape: rooms of 16 × 16 cells with a door in each side, on
//! 512 × 512 cells. Walls take a row or column of cells; fences lie between the cells.
//!
//! Output: for walls and fences, of A* and of jump point search: mean time of a query and expansions. All costs must be the same.

use std::{process::ExitCode, time::Instant};

use bevy_tilepath::{
    nav::{node_pool::NodePool, search::Search},
    prelude::*,
};

const SIDE: u32 = 512;
const ROOM: u32 = 16;
const QUERIES: usize = 1_000;

fn main() -> ExitCode {
    println!("{:>7} {:>12} {:>10} {:>12}", "of", "algorithm", "mean µs", "expansions");
    for is_fenced in [false, true] {
        if let Err(error) = measure(is_fenced) {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// The row or column of the door in the side of a room.
fn door(room: (u32, u32), salt: u32) -> u32 {
    (room.0.wrapping_mul(7).wrapping_add(room.1.wrapping_mul(13)).wrapping_add(salt)) % (ROOM - 1)
}

fn level(is_fenced: bool) -> Result<NavGrid, GridError> {
    let mut grid = NavGrid::new(SIDE, SIDE, TerrainId::GROUND)?;
    let mut edit = grid.edit();
    let last = ROOM - 1;
    for cell in CellRect::new(Cell::default(), SIDE, SIDE).cells() {
        let (x, y) = (cell.x as u32, cell.y as u32);
        let room = (x / ROOM, y / ROOM);
        let is_column = x % ROOM == last && y % ROOM != door(room, 3) && x + 1 < SIDE;
        let is_row = y % ROOM == last && x % ROOM != door(room, 5) && y + 1 < SIDE;
        if !is_fenced && (is_column || is_row) {
            edit.set_terrain(cell, TerrainId::VOID)?;
        } else if is_fenced && is_column {
            edit.set_edge(cell, Direction::East, EdgeId::WALL)?;
        }
        if is_fenced && is_row {
            edit.set_edge(cell, Direction::North, EdgeId::WALL)?;
        }
    }
    drop(edit);
    Ok(grid)
}

fn measure(is_fenced: bool) -> Result<(), GridError> {
    let grid = level(is_fenced)?;
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut cell = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        Cell::new((random >> 33) as i32 % SIDE as i32, (random >> 48) as i32 % SIDE as i32)
    };
    let reachable = |&(from, to): &(Cell, Cell)| grid.can_reach(ProfileId(0), from, to);
    let queries: Vec<_> =
        std::iter::repeat_with(|| (cell(), cell())).filter(reachable).take(QUERIES).collect();
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    let mut costs: Vec<Vec<Option<PathCost>>> = Vec::new();
    for algorithm in [Algorithm::AStar, Algorithm::Exact] {
        let (begin, mut expansions) = (Instant::now(), 0);
        let found = queries.iter().map(|&(from, to)| {
            let query = PathQuery::new(from, to).algorithm(algorithm);
            search.start(&grid, &pool, query).ok()?;
            search.step(&grid, &pool, u32::MAX);
            expansions += search.counters().expansions;
            search.finish(&grid, &pool).ok().map(|path| path.cost())
        });
        costs.push(found.collect());
        let mean = begin.elapsed().as_secs_f64() * 1e6 / QUERIES as f64;
        let of = if is_fenced { "fences" } else { "walls" };
        let name = format!("{algorithm:?}");
        println!("{of:>7} {name:>12} {mean:>10.1} {:>12}", expansions / QUERIES as u64);
    }
    assert_eq!(costs[0], costs[1], "all algorithms find the same costs");
    assert!(costs[0].iter().all(Option::is_some), "all goals can be reached");
    Ok(())
}
