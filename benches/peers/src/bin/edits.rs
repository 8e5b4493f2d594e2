//! Times of edits: blocks of 4 × 4 cells are added and removed, and the data of searches is updated
//! each time (passability, jump points, connected regions). Once with blockers, once with terrain, both
//! with landmarks up to 1,024 × 1,024 cells: terrain that becomes passable again drops them, and they are filled again
//! before the next edit.
//!
//! Output: a line per size with the median, the 99th percentile and the worst time, in microseconds.
//! At the end the number of connected regions must equal that at the start, and that of a layer built
//! from scratch.

use std::{process::ExitCode, time::Instant};

use bevy_tilepath::{nav::landmarks::LandmarkFiller, prelude::*};

/// Edits per size, half of them additions.
const EDITS: usize = 2_000;
/// The same where landmarks must be filled after each of them.
const EDITS_OF_TERRAIN: usize = 200;

fn main() -> ExitCode {
    println!(
        "{:>6} {:>8} {:>10} {:>10} {:>10} {:>8} {:>12}",
        "side", "of", "median µs", "p99 µs", "max µs", "regions", "landmarks MB"
    );
    for side in [512, 1_024, 4_096] {
        for of_terrain in [false, true] {
            if let Err(error) = measure(side, of_terrain) {
                eprintln!("error: {side} x {side}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

fn measure(side: u32, of_terrain: bool) -> Result<(), GridError> {
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut below = |end: u32| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (((random >> 32) * u64::from(end)) >> 32) as u32
    };
    let mut grid = NavGrid::from_terrain(side, side, world(side, &mut below))?;
    let before = regions(&grid);
    let has_landmarks = side <= 1_024;
    let edits = if of_terrain && has_landmarks { EDITS_OF_TERRAIN } else { EDITS };
    let mut times = Vec::with_capacity(edits);
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
        let begin = Instant::now();
        match (up.take(), of_terrain) {
            (None, false) => grid.block(rect)?,
            (Some((rect, _)), false) => grid.unblock(rect)?,
            (None, true) => set(&mut grid, rect, &[0; 16])?,
            (Some((rect, before)), true) => set(&mut grid, rect, &before)?,
        }
        times.push(begin.elapsed().as_secs_f64() * 1e6);
        if number % 2 == 0 {
            up = Some((rect, terrain_before));
        }
    }
    assert_eq!(regions(&grid), before, "all edits were taken back");
    let anew = grid.clone().with_profiles(grid.profiles().to_vec());
    assert_eq!(regions(&anew), before, "as if built from scratch");
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    let regions = before.unwrap_or_default();
    let of = if of_terrain { "terrain" } else { "blockers" };
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
