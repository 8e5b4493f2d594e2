//! Units of 1 × 1 to 8 × 8 cells: what building and editing their layers takes, and how fast they
//! are searched for.
//!
//! Blocks of 4 × 4 cells are put up and taken down, the same for all sizes in turn; one in ten
//! stays. At the end each layer must be as if built anew, and nobody may stand where a block is in
//! the way. Searches are between cells of the largest island of the 3 × 3 unit, which the small
//! one can go to as well; costs are compared with fields around the goals.

use std::{collections::BTreeMap, iter::repeat_with};

use bevy_tilepath::{nav::field::DistanceField, prelude::*};

use crate::{
    options::Options,
    tools::{Level, Random, Searcher, UNIT, at, check, lane, largest_island, median, micros, text},
};

const SIDE: u32 = 512;
const SIZES: [u8; 4] = [1, 2, 3, 8];
/// Blocks put up.
const BLOCKS: usize = 1_000;
/// One in so many is not taken down.
const STAYS: usize = 10;
/// The unit that is searched for next to the smallest.
const BIG: u8 = 3;
/// Ways searched for.
const WAYS: usize = 200;

pub fn run(options: &Options) -> Result<(), String> {
    let level = Level::generated(SIDE)?;
    print_layers(&level, options.rounds)?;
    println!();
    println!("| map | ways | 1 × 1 a second | {BIG} × {BIG} a second | ratio | cost ratio |");
    println!("|---|---|---|---|---|---|");
    for level in [level, Level::hunters(options)?] {
        print_searches(&level, options.rounds)
            .map_err(|error| format!("{}: {error}", level.name))?;
    }
    Ok(())
}

/// The same grid for units of these sizes.
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
    println!("| size | build µs | edit µs, median | p99 | worst | KiB | islands |");
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

/// What each edit takes on each grid.
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

/// Whether an edited layer has the islands of one built anew, and its cells are those on which the
/// unit has room by terrain and blockers alone.
fn is_as_anew(grid: &NavGrid) -> Result<(), String> {
    let anew = grid.clone().with_profiles(grid.profiles().to_vec());
    let (mut forth, mut back) = (BTreeMap::new(), BTreeMap::new());
    for cell in grid.rect().cells() {
        let has_room = grid.cost(UNIT, cell) > 0;
        let is_same = match (grid.region(UNIT, cell), anew.region(UNIT, cell)) {
            (None, None) => !has_room,
            // Numbers may differ: they must go together.
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
    let cells = largest_island(&grid, ProfileId(1));
    if cells.is_empty() {
        return Err("no room for the large unit".into());
    }
    let mut random = Random::default();
    let ways: Vec<(Cell, Cell)> =
        repeat_with(|| (random.pick(&cells), random.pick(&cells))).take(WAYS).collect();
    let mut searcher = Searcher::new(&grid);
    let (mut times, mut costs) = ([Vec::new(), Vec::new()], [0_u64; 2]);
    for turn in 0..2 * rounds {
        let lane = lane(turn);
        let (time, paths) = micros(|| find_all(&mut searcher, ProfileId(lane as u8), &ways));
        times[lane].push(time);
        let paths = paths.map_err(text)?;
        costs[lane] = paths.iter().map(|path| path.cost().0).sum();
        if turn < 2 {
            check_all(&grid, ProfileId(lane as u8), &ways, &paths)?;
        }
    }
    let [small, big] = times.map(|mut times| WAYS as f64 / median(&mut times) * 1e6);
    println!(
        "| {} | {WAYS} | {small:.0} | {big:.0} | {:.2} | {:.3} |",
        level.name,
        big / small,
        costs[1] as f64 / costs[0] as f64
    );
    Ok(())
}

fn find_all(
    searcher: &mut Searcher<'_>,
    profile: ProfileId,
    ways: &[(Cell, Cell)],
) -> Result<Vec<Path>, PathFailure> {
    let find = |&(start, goal): &(Cell, Cell)| {
        searcher.find(PathQuery::new(start, goal).profile(profile), &[])
    };
    ways.iter().map(find).collect()
}

fn check_all(
    grid: &NavGrid,
    profile: ProfileId,
    ways: &[(Cell, Cell)],
    paths: &[Path],
) -> Result<(), String> {
    let mut field = <DistanceField>::new();
    for (path, &(start, goal)) in paths.iter().zip(ways) {
        check(grid, profile, path)?;
        field.start(grid, profile, goal).map_err(text)?;
        field.await_cells(grid, [start]);
        field.step(grid, u32::MAX);
        let is_right = (path.start(), path.end()) == (start, goal);
        if !is_right || field.cost(grid, start) != Some(path.cost()) {
            return Err(format!("from {start} to {goal}: not the cheapest way"));
        }
    }
    Ok(())
}
