//! Units of 1 × 1 to 8 × 8 cells: times of building and editing their layers, and of searches for
//! them.
//!
//! Blocks of 4 × 4 cells are added and removed, the same for all sizes; one in ten stays. At the end
//! each layer must equal one built from scratch, and no unit may stand on a cell where it would overlap
//! a block. Searches are between cells of the largest connected region of the 3 × 3 unit, which the
//! small unit can reach as well; costs are compared with fields around the goals.

use std::{collections::BTreeMap, iter::repeat_with};

use bevy_tilepath::{nav::field::DistanceField, prelude::*};

use crate::{
    options::Options,
    tools::{Level, Random, Searcher, UNIT, at, check, lane, largest_region, median, micros, text},
};

const SIDE: u32 = 512;
const SIZES: [u8; 4] = [1, 2, 3, 8];
/// Blocks added.
const BLOCKS: usize = 1_000;
/// One in this many is not removed.
const STAYS: usize = 10;
/// Size of the unit whose searches are compared with those of the smallest.
const BIG: u8 = 3;
/// Number of searches.
const PATHS: usize = 200;

pub fn run(options: &Options) -> Result<(), String> {
    let level = Level::generated(SIDE)?;
    print_layers(&level, options.rounds)?;
    println!();
    println!("| map | paths | 1 × 1 a second | {BIG} × {BIG} a second | ratio | cost ratio |");
    println!("|---|---|---|---|---|---|");
    for level in [level, Level::hunters(options)?] {
        print_searches(&level, options.rounds)
            .map_err(|error| format!("{}: {error}", level.name))?;
    }
    Ok(())
}

/// Returns the same grid for units of each size.
fn sized(grid: &NavGrid, sizes: &[u8]) -> NavGrid {
    let plain = &grid.profiles()[0];
    let profiles = sizes.iter().map(|&size| plain.clone().size(size)).collect();
    grid.clone().with_profiles(profiles)
}

fn print_layers(level: &Level, rounds: usize) -> Result<(), String> {
    let mut builds: [Vec<f64>; 4] = Default::default();
    for _ in 0..rounds {
        for (size, times) in SIZES.into_iter().zip(&mut builds) {
            let grid = sized(&level.grid, &[size]);
            let (time, is_built) = micros(|| grid.layer(UNIT).is_some());
            if !is_built {
                return Err("no layer".into());
            }
            times.push(time);
        }
    }
    let mut grids = SIZES.map(|size| sized(&level.grid, &[size]));
    let mut edits = edit(&mut grids)?;
    println!("On {}.\n", level.name);
    println!("| size | build µs | edit µs, median | p99 | worst | KiB | regions |");
    println!("|---|---|---|---|---|---|---|");
    for (index, size) in SIZES.into_iter().enumerate() {
        is_as_anew(&grids[index]).map_err(|error| format!("size {size}: {error}"))?;
        let layer = grids[index].layer(UNIT).ok_or("no layer")?;
        let edits = &mut edits[index];
        println!(
            "| {size} × {size} | {:.0} | {:.1} | {:.1} | {:.1} | {} | {} |",
            median(&mut builds[index]),
            at(edits, 50),
            at(edits, 99),
            at(edits, 100),
            layer.bytes() / 1_024,
            layer.region_count(),
        );
    }
    Ok(())
}

/// Returns the time of each edit on each grid.
fn edit(grids: &mut [NavGrid; 4]) -> Result<[Vec<f64>; 4], String> {
    grids.iter().for_each(NavGrid::build_layers);
    let mut random = Random::default();
    let mut times: [Vec<f64>; 4] = Default::default();
    for block in 0..BLOCKS {
        let corner = Cell::new(random.below(SIDE - 4) as i32, random.below(SIDE - 4) as i32);
        let rect = CellRect::new(corner, 4, 4);
        for is_up in [true, false] {
            if !is_up && block % STAYS == 0 {
                continue;
            }
            for (grid, times) in grids.iter_mut().zip(&mut times) {
                let change = || if is_up { grid.block(rect) } else { grid.unblock(rect) };
                let (time, changed) = micros(change);
                changed.map_err(text)?;
                times.push(time);
            }
        }
    }
    Ok(times)
}

/// Returns whether an edited layer has the same connected regions as one built from scratch, and its
/// passable cells are those where the unit fits by terrain and blockers alone.
fn is_as_anew(grid: &NavGrid) -> Result<(), String> {
    let anew = grid.clone().with_profiles(grid.profiles().to_vec());
    let (mut forth, mut back) = (BTreeMap::new(), BTreeMap::new());
    for cell in grid.rect().cells() {
        let has_room = grid.cost(UNIT, cell) > 0;
        let is_same = match (grid.region(UNIT, cell), anew.region(UNIT, cell)) {
            (None, None) => !has_room,
            // Region numbers may differ, but must correspond one to one.
            (Some(a), Some(b)) => {
                has_room && *forth.entry(a).or_insert(b) == b && *back.entry(b).or_insert(a) == a
            }
            _ => false,
        };
        if !is_same {
            return Err(format!("at {cell} the edited layer differs from a new one"));
        }
    }
    Ok(())
}

fn print_searches(level: &Level, rounds: usize) -> Result<(), String> {
    let grid = sized(&level.grid, &[1, BIG]);
    let cells = largest_region(&grid, ProfileId(1));
    if cells.is_empty() {
        return Err("no room for the large unit".into());
    }
    let mut random = Random::default();
    let pairs: Vec<(Cell, Cell)> =
        repeat_with(|| (random.pick(&cells), random.pick(&cells))).take(PATHS).collect();
    let mut searcher = Searcher::new(&grid);
    let (mut times, mut costs) = ([Vec::new(), Vec::new()], [0_u64; 2]);
    for turn in 0..2 * rounds {
        let lane = lane(turn);
        let (time, paths) = micros(|| find_all(&mut searcher, ProfileId(lane as u8), &pairs));
        times[lane].push(time);
        let paths = paths.map_err(text)?;
        costs[lane] = paths.iter().map(|path| path.cost().0).sum();
        if turn < 2 {
            check_all(&grid, ProfileId(lane as u8), &pairs, &paths)?;
        }
    }
    let [small, big] = times.map(|mut times| PATHS as f64 / median(&mut times) * 1e6);
    println!(
        "| {} | {PATHS} | {small:.0} | {big:.0} | {:.2} | {:.3} |",
        level.name,
        big / small,
        costs[1] as f64 / costs[0] as f64
    );
    Ok(())
}

fn find_all(
    searcher: &mut Searcher<'_>,
    profile: ProfileId,
    pairs: &[(Cell, Cell)],
) -> Result<Vec<Path>, PathFailure> {
    let find = |&(start, goal): &(Cell, Cell)| {
        searcher.find(PathQuery::new(start, goal).profile(profile), &[])
    };
    pairs.iter().map(find).collect()
}

fn check_all(
    grid: &NavGrid,
    profile: ProfileId,
    pairs: &[(Cell, Cell)],
    paths: &[Path],
) -> Result<(), String> {
    let mut field = DistanceField::new();
    for (path, &(start, goal)) in paths.iter().zip(pairs) {
        check(grid, profile, path)?;
        field.start(grid, profile, goal).map_err(text)?;
        field.await_cells(grid, [start]);
        field.step(grid, u32::MAX);
        let is_right = (path.start(), path.end()) == (start, goal);
        if !is_right || field.cost(grid, start) != Some(path.cost()) {
            return Err(format!("from {start} to {goal}: not the cheapest path"));
        }
    }
    Ok(())
}
