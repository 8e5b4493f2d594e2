//! Times of paths across a huge map: 4096 × 4096 cells, corner to corner, with the hierarchy and
//! exactly.
//!
//! Output: a line per world with the time to the first segment and to the whole path (median and
//! worst), the time of an exact search, and the excess length of the path (mean and worst). Worlds are
//! generated: walls of all lengths, and lakes with islands in them. Every path is checked.

#[path = "../walked.rs"]
mod walked;

use std::{process::ExitCode, time::Instant};

use bevy_tilepath::{
    nav::{node_pool::NodePool, search::Search},
    prelude::*,
};

use walked::{Random, check};

const SIDE: u32 = 4_096;
/// Paths per world.
const PATHS: u32 = 40;

fn main() -> ExitCode {
    println!(
        "{:<8} {:>11} {:>9} {:>11} {:>9} {:>10} {:>12} {:>9} {:>9}",
        "world",
        "stretch µs",
        "worst",
        "whole µs",
        "worst",
        "exact µs",
        "mean excess",
        "worst",
        "cells"
    );
    for (name, world) in [("walls", walls as fn(&mut Random) -> Vec<u8>), ("lakes", lakes)] {
        if let Err(error) = measure(name, world) {
            eprintln!("error: {name}: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// One path found with the hierarchy.
struct Run {
    stretch: f64,
    whole: f64,
    path: Path,
}

fn measure(name: &str, world: fn(&mut Random) -> Vec<u8>) -> Result<(), String> {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let terrain = world(&mut random);
    let grid = NavGrid::from_terrain(SIDE, SIDE, terrain).map_err(|error| error.to_string())?;
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    let mut figures: [Vec<f64>; 5] = Default::default();
    while figures[0].len() < PATHS as usize {
        let (start, goal) = corners(&grid, &mut random, figures[0].len() as u32);
        let query = PathQuery::new(start, goal);
        let Ok(best) = exact(&grid, &pool, &mut search, query) else {
            continue; // a corner without a connection
        };
        let run = hierarchical(&grid, &pool, &mut search, query)?;
        check(&grid, &run.path, start, goal)?;
        let excess = run.path.cost().0 as f64 / best.1.cost().0 as f64 - 1.0;
        let row = [run.stretch, run.whole, best.0, 100.0 * excess, f64::from(run.path.steps())];
        figures.iter_mut().zip(row).for_each(|(list, value)| list.push(value));
    }
    let mean = figures[3].iter().sum::<f64>() / figures[3].len() as f64;
    figures.iter_mut().for_each(|list| list.sort_by(f64::total_cmp));
    let (median, worst) =
        (|list: &[f64]| list[list.len() / 2], |list: &[f64]| list[list.len() - 1]);
    let [stretch, whole, exact, excess, cells] = &figures;
    println!(
        "{name:<8} {:>11.0} {:>9.0} {:>11.0} {:>9.0} {:>10.0} {:>10.2} % {:>7.2} % {:>9.0}",
        median(stretch),
        worst(stretch),
        median(whole),
        worst(whole),
        median(exact),
        mean,
        worst(excess),
        median(cells),
    );
    Ok(())
}

/// Passable cells near two opposite corners.
fn corners(grid: &NavGrid, random: &mut Random, index: u32) -> (Cell, Cell) {
    let mut near = |right: bool, up: bool| loop {
        let mut along = |far: bool| {
            let off = random.below(64) as i32;
            if far { SIDE as i32 - 1 - off } else { off }
        };
        let cell = Cell::new(along(right), along(up));
        if grid.cost(ProfileId::default(), cell) > 0 {
            return cell;
        }
    };
    let (right, up) = (index & 1 == 1, index & 2 == 2);
    (near(right, up), near(!right, !up))
}

fn exact(
    grid: &NavGrid,
    pool: &NodePool,
    search: &mut Search,
    query: PathQuery,
) -> Result<(f64, Path), PathFailure> {
    let begin = Instant::now();
    search.start(grid, pool, query.algorithm(Algorithm::Exact))?;
    search.step(grid, pool, u32::MAX);
    let path = search.finish(grid, pool)?;
    Ok((begin.elapsed().as_secs_f64() * 1e6, path))
}

/// Runs in slices of 64, as in a tick, to measure the time to the first segment.
fn hierarchical(
    grid: &NavGrid,
    pool: &NodePool,
    search: &mut Search,
    query: PathQuery,
) -> Result<Run, String> {
    let begin = Instant::now();
    let since = || begin.elapsed().as_secs_f64() * 1e6;
    let (mut stretch, mut first) = (None, 0.0);
    search
        .start(grid, pool, query.algorithm(Algorithm::Hierarchical))
        .map_err(|e| e.to_string())?;
    while !search.is_finished() {
        search.step(grid, pool, 64);
        if stretch.is_none() {
            stretch = search.take_first_segment();
            first = since();
        }
    }
    let rest = search.finish(grid, pool).map_err(|error| error.to_string())?;
    let whole = since();
    // Search the whole path again, for the cost of both parts together.
    search
        .start(grid, pool, query.algorithm(Algorithm::Hierarchical))
        .map_err(|e| e.to_string())?;
    search.step(grid, pool, u32::MAX);
    let path = search.finish(grid, pool).map_err(|error| error.to_string())?;
    let stretch = stretch.ok_or("no beginning apart")?;
    if stretch.end() != rest.start() || stretch.cost().0 + rest.cost().0 != path.cost().0 {
        return Err("the parts do not make up the whole".into());
    }
    Ok(Run { stretch: first, whole, path })
}

/// An open map with walls of all lengths.
fn walls(random: &mut Random) -> Vec<u8> {
    let mut terrain = vec![1; (SIDE * SIDE) as usize];
    for _ in 0..SIDE * SIDE / 400 {
        let (x, y, length) = (random.below(SIDE), random.below(SIDE), 2 + random.below(40));
        let is_flat = random.below(2) == 0;
        for step in 0..length {
            let (x, y) = if is_flat { (x + step, y) } else { (x, y + step) };
            if x < SIDE && y < SIDE {
                terrain[(y * SIDE + x) as usize] = 0;
            }
        }
    }
    terrain
}

/// Overlapping round lakes of up to 200 cells in diameter.
fn lakes(random: &mut Random) -> Vec<u8> {
    let mut terrain = vec![1; (SIDE * SIDE) as usize];
    for lake in 0..1_600 {
        let radius = 8 + random.below(if lake % 8 == 0 { 100 } else { 40 }) as i32;
        let (x, y) = (random.below(SIDE) as i32, random.below(SIDE) as i32);
        for dy in -radius..=radius {
            for dx in -radius..=radius {
                let (x, y) = (x + dx, y + dy);
                let is_in = dx * dx + dy * dy <= radius * radius;
                let side = 0..SIDE as i32;
                if is_in && side.contains(&x) && side.contains(&y) {
                    terrain[(y * SIDE as i32 + x) as usize] = 0;
                }
            }
        }
    }
    terrain
}
