//! Times of edits: blocks of 4 × 4 cells are added and removed, and the data of searches is updated
//! each time (passability, jump points, connected regions).
//!
//! Output: a line per size with the median, the 99th percentile and the worst time, in microseconds.
//! At the end the number of connected regions must equal that at the start, and that of a layer built
//! from scratch.

use std::{process::ExitCode, time::Instant};

use bevy_tilepath::prelude::*;

/// Edits per size, half of them additions.
const EDITS: usize = 2_000;

fn main() -> ExitCode {
    println!(
        "{:>6} {:>10} {:>10} {:>10} {:>8}",
        "side", "median µs", "p99 µs", "max µs", "regions"
    );
    for side in [512, 1_024, 4_096] {
        if let Err(error) = measure(side) {
            eprintln!("error: {side} x {side}: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn measure(side: u32) -> Result<(), GridError> {
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut below = |end: u32| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (((random >> 32) * u64::from(end)) >> 32) as u32
    };
    let mut grid = NavGrid::from_terrain(side, side, world(side, &mut below))?;
    let before = regions(&grid);
    let mut times = Vec::with_capacity(EDITS);
    for _ in 0..EDITS / 2 {
        let corner = Cell::new(below(side - 4) as i32, below(side - 4) as i32);
        let rect = CellRect::new(corner, 4, 4);
        let begin = Instant::now();
        grid.block(rect)?;
        times.push(begin.elapsed().as_secs_f64() * 1e6);
        let begin = Instant::now();
        grid.unblock(rect)?;
        times.push(begin.elapsed().as_secs_f64() * 1e6);
    }
    assert_eq!(regions(&grid), before, "all edits were taken back");
    let anew = grid.clone().with_profiles(grid.profiles().to_vec());
    assert_eq!(regions(&anew), before, "as if built from scratch");
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    let regions = before.unwrap_or_default();
    println!("{side:>6} {:>10.1} {:>10.1} {:>10.1} {regions:>8}", at(50), at(99), at(100));
    Ok(())
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
