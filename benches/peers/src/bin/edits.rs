//! Times of edits: blocks of 4 × 4 cells are added and removed, and the data of searches is updated
//! each time (passability, jump points, connected regions). Once with blockers, once with terrain, both
//! with landmarks up to 1,024 × 1,024 cells: terrain that becomes passable again drops them, and they are filled again
//! before the next edit. Once with fences, four edges in a line, on a map with as many fences as walls, without landmarks; the
//! longest of those times is that of the first edge, which makes the jump map anew. And once the same where the other fences cost
//! something instead. Last on open ground, where an edit changes what scans find along whole rows and columns: blocks, and batches of
//! 300 single cells.
//!
//! Output: a line per size with the median, the 99th percentile and the worst time, in microseconds.
//! At the end the number of connected regions must equal that at the start, and that of a layer built
//! from scratch.

use std::{process::ExitCode, time::Instant};

use bevy_tilepath::{nav::landmarks::LandmarkFiller, prelude::*};

/// Edits per size, half of them additions.
const EDITS: usize = 2_000;
/// Batches per size, half of them additions, and single cells in each.
const BATCHES: usize = 100;
const CELLS_OF_BATCH: usize = 300;
/// The same where landmarks must be filled after each of them.
const EDITS_OF_TERRAIN: usize = 200;

fn main() -> ExitCode {
    println!(
        "{:>6} {:>8} {:>10} {:>10} {:>10} {:>8} {:>12}",
        "side", "of", "median µs", "p99 µs", "max µs", "regions", "landmarks MB"
    );
    for side in [512, 1_024, 4_096] {
        for kind in
            [Kind::Blockers, Kind::Terrain, Kind::Edges, Kind::Rivers, Kind::Open, Kind::Batch]
        {
            if let Err(error) = measure(side, kind) {
                eprintln!("error: {side} x {side}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// What is edited.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Blockers,
    Terrain,
    Edges,
    /// Edges among others that cost something.
    Rivers,
    /// Blockers on open ground.
    Open,
    /// Batches of single blockers on open ground.
    Batch,
}

impl Kind {
    fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::Batch)
    }

    fn is_of_edges(self) -> bool {
        matches!(self, Self::Edges | Self::Rivers)
    }
}

fn measure(side: u32, kind: Kind) -> Result<(), GridError> {
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut below = |end: u32| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (((random >> 32) * u64::from(end)) >> 32) as u32
    };
    let terrain =
        if kind.is_open() { vec![1; (side * side) as usize] } else { world(side, &mut below) };
    let mut grid = NavGrid::from_terrain(side, side, terrain)?;
    if kind == Kind::Rivers {
        grid = grid.with_profiles(vec![Profile::default().with_edge(EdgeId(2), 1_600)]);
    }
    let mut fenced = regions(&grid);
    let has_landmarks = side <= 1_024 && !kind.is_of_edges() && !kind.is_open();
    let edits = match kind {
        Kind::Terrain if has_landmarks => EDITS_OF_TERRAIN,
        Kind::Batch => BATCHES,
        _ => EDITS,
    };
    let mut times = Vec::with_capacity(edits);
    let mut batch: Vec<Cell> = Vec::new();
    let (mut up, mut bytes): (Option<(CellRect, Vec<u8>)>, usize) = (None, 0);
    for number in 0..edits {
        if has_landmarks && grid.landmark_bytes() == 0 {
            fill(&mut grid);
            bytes = grid.landmark_bytes();
        }
        let corner = Cell::new(below(side - 4) as i32, below(side - 4) as i32);
        let rect = CellRect::new(corner, 4, 4);
        let terrain_before: Vec<u8> =
            rect.cells().map(|cell| grid.terrain(cell).map_or(0, |id| id.0)).collect();
        if kind == Kind::Batch && batch.is_empty() {
            let cell = |_| Cell::new(below(side) as i32, below(side) as i32);
            batch = (0..CELLS_OF_BATCH).map(cell).collect();
        }
        let begin = Instant::now();
        match (up.take(), kind) {
            (None, Kind::Blockers | Kind::Open) => grid.block(rect)?,
            (Some((rect, _)), Kind::Blockers | Kind::Open) => grid.unblock(rect)?,
            (None, Kind::Batch) => {
                let mut edit = grid.edit();
                batch.iter().try_for_each(|&cell| edit.block(CellRect::single(cell)))?;
            }
            (Some(_), Kind::Batch) => {
                let mut edit = grid.edit();
                batch.drain(..).try_for_each(|cell| edit.unblock(CellRect::single(cell)))?;
            }
            (None, Kind::Terrain) => set(&mut grid, rect, &[0; 16])?,
            (Some((rect, before)), Kind::Terrain) => set(&mut grid, rect, &before)?,
            (None, Kind::Edges | Kind::Rivers) => fence(&mut grid, rect, EdgeId::WALL)?,
            (Some((rect, _)), Kind::Edges | Kind::Rivers) => fence(&mut grid, rect, EdgeId::NONE)?,
        }
        times.push(begin.elapsed().as_secs_f64() * 1e6);
        if kind.is_of_edges() && number == 1 {
            // All others are measured among fences; of kind 2, so that none of them is removed.
            for _ in 0..side * side / 400 {
                let corner = Cell::new(below(side - 4) as i32, below(side - 4) as i32);
                fence(&mut grid, CellRect::new(corner, 4, 4), EdgeId(2))?;
            }
            fenced = regions(&grid);
        }
        if number % 2 == 0 {
            up = Some((rect, terrain_before));
        }
    }
    assert!(kind.is_of_edges() || regions(&grid) == fenced, "all edits were taken back");
    let anew = grid.clone().with_profiles(grid.profiles().to_vec());
    assert_eq!(regions(&anew), regions(&grid), "as if built from scratch");
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    let regions = regions(&grid).unwrap_or_default();
    let of = ["blockers", "terrain", "edges", "rivers", "open", "batch"][kind as usize];
    println!(
        "{side:>6} {of:>8} {:>10.1} {:>10.1} {:>10.1} {regions:>8} {:>12.1}",
        at(50),
        at(99),
        at(100),
        bytes as f64 / 1e6
    );
    Ok(())
}

/// Sets the terrain of a block, row by row, as one edit.
fn set(grid: &mut NavGrid, rect: CellRect, terrain: &[u8]) -> Result<(), GridError> {
    let mut edit = grid.edit();
    rect.cells().zip(terrain).try_for_each(|(cell, &id)| edit.set_terrain(cell, TerrainId(id)))
}

/// Sets the edges above the lowest row of a block.
fn fence(grid: &mut NavGrid, rect: CellRect, edge: EdgeId) -> Result<(), GridError> {
    let mut edit = grid.edit();
    let columns = 0..rect.width as i32;
    columns
        .into_iter()
        .try_for_each(|x| edit.set_edge(rect.min.offset(x, 0), Direction::North, edge))
}

fn fill(grid: &mut NavGrid) {
    grid.want_landmarks(ProfileId::default());
    let mut filler = LandmarkFiller::new();
    while filler.fill((GridId::default(), &mut *grid), usize::MAX, u32::MAX) > 0 {}
}

fn regions(grid: &NavGrid) -> Option<u32> {
    grid.layer(ProfileId::default()).map(|layer| layer.region_count())
}

/// An open map with walls of all lengths, so that there are detours and separated areas.
fn world(side: u32, below: &mut impl FnMut(u32) -> u32) -> Vec<u8> {
    let mut terrain = vec![1; (side * side) as usize];
    for _ in 0..side * side / 400 {
        let (x, y, length) = (below(side), below(side), 2 + below(40));
        let is_flat = below(2) == 0;
        for step in 0..length {
            let (x, y) = if is_flat { (x + step, y) } else { (x, y + step) };
            if x < side && y < side {
                terrain[(y * side + x) as usize] = 0;
            }
        }
    }
    terrain
}
