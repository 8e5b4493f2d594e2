//! Times of long paths on real terrain: Moving AI maps, tiled to worlds of 4096 × 4096 cells.
//!
//! `cargo run --release --bin tiled_paths -- --data FOLDER [--paths 60] [--rounds 3] [--only NAME]
//! [--landmarks] [--hexagons | --squeeze] [--rivers]`
//!
//! A map is repeated over the world, every other copy mirrored, so that structures continue across its
//! borders. Queries are pairs of random cells of one connected region, more than 2,048 cells apart. Each
//! is answered by `Exact`, `Hierarchical` and `Auto` alternately, `rounds` times; a query's time is its
//! median.
//!
//! Output: a line per world with the sums of these times, the longest wait for the first segment of a
//! path (`Auto`, in slices of 64), and the excess length over the optimum (mean and worst). Every path
//! is checked step by step. Before the maps come generated towns, with few obstacles. Maps without a
//! large enough region are named and skipped.
//!
//! `--hexagons` makes hexagonal maps of the worlds by shifting every other row; with `--squeeze` units may pass between two
//! corners that touch. With `--rivers`, eight rivers (edges) wind through a world from top to bottom and eight from side to side.
//! Crossing one costs as much as 100 or 400 cells, except on bridges, some 400 cells apart.

#[path = "../../../../examples/runner/hexagons.rs"]
mod hexagons;
#[path = "../walked.rs"]
mod walked;

use std::{
    path::{Path as FilePath, PathBuf},
    process::ExitCode,
    time::Instant,
};

use bevy_tilepath::{
    nav::{
        landmarks::LandmarkFiller,
        moving_ai::read_map,
        node_pool::NodePool,
        search::{Search, SearchCounters},
    },
    prelude::*,
};
use lexopt::prelude::*;
use walked::{Random, check};

const SIDE: u32 = 4_096;
/// Queries are farther apart than this, in columns or rows.
const FAR: u32 = 2_048;
/// Largest blocks and narrowest streets of the towns.
const TOWNS: [(u32, u32); 5] = [(16, 8), (40, 16), (56, 28), (128, 16), (100, 60)];
/// Rivers from top to bottom, and from side to side.
const RIVERS: u32 = 8;
/// Pairs of cells tried before a world is skipped.
const MOST_TRIES: u32 = 200_000;
const ALGORITHMS: [Algorithm; 3] = [Algorithm::Exact, Algorithm::Hierarchical, Algorithm::Auto];

struct Options {
    data: PathBuf,
    paths: u32,
    rounds: usize,
    only: Option<String>,
    verbose: bool,
    has_landmarks: bool,
    shape: Shape,
    has_rivers: bool,
}

/// How units move on the worlds.
#[derive(Clone, Copy)]
enum Shape {
    Squares,
    Hexagons,
    /// Between two corners that touch, too.
    Squeezing,
}

fn main() -> ExitCode {
    match options().and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn options() -> Result<Options, String> {
    let (data, paths, rounds) = (PathBuf::from("../../../shared/data/movingai"), 60, 3);
    let mut options = Options {
        data,
        paths,
        rounds,
        only: None,
        verbose: false,
        has_landmarks: false,
        shape: Shape::Squares,
        has_rivers: false,
    };
    let mut parser = lexopt::Parser::from_env();
    let text = |error: lexopt::Error| error.to_string();
    while let Some(argument) = parser.next().map_err(text)? {
        match argument {
            Long("data") => options.data = parser.value().map_err(text)?.into(),
            Long("paths") => {
                options.paths = parser.value().and_then(|v| v.parse()).map_err(text)?
            }
            Long("rounds") => {
                options.rounds = parser.value().and_then(|v| v.parse()).map_err(text)?;
            }
            Long("only") => {
                options.only = Some(parser.value().and_then(|v| v.string()).map_err(text)?);
            }
            Long("landmarks") => options.has_landmarks = true,
            Long("hexagons") => options.shape = Shape::Hexagons,
            Long("squeeze") => options.shape = Shape::Squeezing,
            Long("rivers") => options.has_rivers = true,
            Long("verbose") => options.verbose = true,
            _ => return Err(argument.unexpected().to_string()),
        }
    }
    Ok(options)
}

fn run(options: &Options) -> Result<(), String> {
    println!(
        "{:<18} {:>4} {:>9} {:>9} {:>9} {:>9} {:>10} | {:>7} {:>7} | {:>7} {:>7}",
        "world",
        "paths",
        "exact ms",
        "hier ms",
        "auto ms",
        "auto/ex",
        "stretch us",
        "hier %",
        "worst",
        "auto %",
        "worst"
    );
    let mut maps = Vec::new();
    for folder in entries(&options.data)? {
        if folder.is_dir() {
            maps.extend(
                entries(&folder)?
                    .into_iter()
                    .filter(|file| file.extension().is_some_and(|extension| extension == "map")),
            );
        }
    }
    for (block, street) in TOWNS {
        let name = format!("town {block}/{street}");
        if options.only.as_ref().is_none_or(|only| name.contains(only.as_str())) {
            measure(options, &name, town(block, street)?)?;
        }
    }
    for map in maps {
        let name = map.file_stem().and_then(|stem| stem.to_str()).unwrap_or("?").to_owned();
        if options.only.as_ref().is_none_or(|only| name.contains(only.as_str())) {
            tiled(&map)
                .and_then(|grid| measure(options, &name, grid))
                .map_err(|error| format!("{name}: {error}"))?;
        }
    }
    Ok(())
}

fn entries(folder: &FilePath) -> Result<Vec<PathBuf>, String> {
    let failed = |error| format!("{}: {error}", folder.display());
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    Ok(paths)
}

/// The result of one query with one algorithm.
struct Answer {
    micros: f64,
    path: Path,
    counters: SearchCounters,
}

fn measure(options: &Options, name: &str, grid: NavGrid) -> Result<(), String> {
    let mut grid = match options.shape {
        Shape::Squares => grid,
        Shape::Hexagons => hexagons::shifted_rows(&grid).map_err(|error| error.to_string())?,
        Shape::Squeezing => grid.with_profiles(vec![Profile::default().corners(CornerRule::Allow)]),
    };
    if options.has_rivers {
        add_rivers(&mut grid)?;
    }
    if options.has_landmarks {
        grid.want_landmarks(ProfileId::default());
        let mut filler = LandmarkFiller::new();
        while filler.fill((GridId::default(), &mut grid), usize::MAX, u32::MAX) > 0 {}
        println!("{name:<18} landmarks: {} MB", grid.landmark_bytes() / 1_000_000);
    }
    let pairs = far_pairs(&grid, options.paths);
    if pairs.len() < options.paths as usize {
        println!("{name:<18} left out: no region is large enough");
        return Ok(());
    }
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    let mut sums = [0.0; 3];
    let mut excess = [(0.0f64, 0.0f64); 3];
    let mut stretch = 0.0f64;
    for &(start, goal) in &pairs {
        let query = PathQuery::new(start, goal);
        let answers = in_turn(&grid, &pool, &mut search, query, options.rounds)?;
        let best = answers[0].path.cost().0 as f64;
        for (index, answer) in answers.iter().enumerate() {
            check(&grid, &answer.path, start, goal)?;
            let longer = 100.0 * (answer.path.cost().0 as f64 / best - 1.0);
            sums[index] += answer.micros / 1e3;
            excess[index].0 += longer / pairs.len() as f64;
            excess[index].1 = excess[index].1.max(longer);
        }
        stretch = stretch.max(wait_for_beginning(&grid, &pool, &mut search, query)?);
        if options.verbose {
            report(query, &answers);
        }
    }
    println!(
        "{name:<18} {:>4} {:>9.1} {:>9.1} {:>9.1} {:>9.2} {stretch:>10.0} | {:>7.2} {:>7.2} | {:>7.2} {:>7.2}",
        pairs.len(),
        sums[0],
        sums[1],
        sums[2],
        sums[2] / sums[0],
        excess[1].0,
        excess[1].1,
        excess[2].0,
        excess[2].1,
    );
    Ok(())
}

fn report(query: PathQuery, answers: &[Answer; 3]) {
    let [exact, coarse, auto] = answers;
    let (dx, dy) =
        (query.start.x.abs_diff(query.goal.cell().x), query.start.y.abs_diff(query.goal.cell().y));
    let open = f64::from(dx.max(dy)) + (2f64.sqrt() - 1.0) * f64::from(dx.min(dy));
    let best = exact.path.cost().0 as f64;
    println!(
        "  open {open:.0} steps {} exact {:.0}us {}exp | hier {:.0}us {}exp {}portals {:.2}% | auto {:.0}us {:.2}%",
        exact.path.steps(),
        exact.micros,
        exact.counters.expansions,
        coarse.micros,
        coarse.counters.expansions,
        coarse.counters.portals,
        100.0 * (coarse.path.cost().0 as f64 / best - 1.0),
        auto.micros,
        100.0 * (auto.path.cost().0 as f64 / best - 1.0),
    );
}

/// Runs the query with each algorithm, `rounds` times alternately. Returns the medians of the times.
fn in_turn(
    grid: &NavGrid,
    pool: &NodePool,
    search: &mut Search,
    query: PathQuery,
    rounds: usize,
) -> Result<[Answer; 3], String> {
    let mut times: [Vec<f64>; 3] = Default::default();
    let mut last: [Option<(Path, SearchCounters)>; 3] = Default::default();
    for _ in 0..rounds {
        for (index, algorithm) in ALGORITHMS.into_iter().enumerate() {
            let begin = Instant::now();
            let failed = |error: PathFailure| error.to_string();
            search.start(grid, pool, query.algorithm(algorithm)).map_err(failed)?;
            search.step(grid, pool, u32::MAX);
            let counters = search.counters();
            let path = search.finish(grid, pool).map_err(failed)?;
            times[index].push(begin.elapsed().as_secs_f64() * 1e6);
            last[index] = Some((path, counters));
        }
    }
    let mut index = 0;
    let answers = last.map(|answer| {
        let times = &mut times[index];
        index += 1;
        times.sort_by(f64::total_cmp);
        answer.map(|(path, counters)| Answer { micros: times[times.len() / 2], path, counters })
    });
    let [Some(exact), Some(coarse), Some(auto)] = answers else {
        return Err("no rounds".into());
    };
    Ok([exact, coarse, auto])
}

/// Returns the microseconds until `Auto` has a first segment (or the whole path), in slices of 64.
fn wait_for_beginning(
    grid: &NavGrid,
    pool: &NodePool,
    search: &mut Search,
    query: PathQuery,
) -> Result<f64, String> {
    let begin = Instant::now();
    search.start(grid, pool, query).map_err(|error| error.to_string())?;
    while !search.is_finished() && search.take_first_segment().is_none() {
        search.step(grid, pool, 64);
    }
    let wait = begin.elapsed().as_secs_f64() * 1e6;
    search.stop(pool);
    Ok(wait)
}

/// Repeats a map, every other copy mirrored.
fn tiled(file: &FilePath) -> Result<NavGrid, String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let map = read_map(&text).map_err(|error| error.to_string())?;
    let fold = |at: u32, side: u32| {
        let (tile, within) = (at / side, at % side);
        if tile % 2 == 0 { within } else { side - 1 - within }
    };
    let mut terrain = Vec::with_capacity((SIDE * SIDE) as usize);
    for y in 0..SIDE {
        for x in 0..SIDE {
            let cell = (fold(x, map.width()), fold(y, map.height()));
            let cell = Cell::new(cell.0 as i32, cell.1 as i32);
            terrain.push(u8::from(map.cost(ProfileId::default(), cell) > 0));
        }
    }
    NavGrid::from_terrain(SIDE, SIDE, terrain).map_err(|error| error.to_string())
}

/// Generates a town: blocks of all sizes up to a limit, and streets of at least a given width.
fn town(block: u32, street: u32) -> Result<NavGrid, String> {
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let mut terrain = vec![1; (SIDE * SIDE) as usize];
    let pitch = block + street;
    for y in (0..SIDE).step_by(pitch as usize) {
        for x in (0..SIDE).step_by(pitch as usize) {
            let (width, height) =
                (block - random.below(block / 2), block - random.below(block / 2));
            for row in y..(y + height).min(SIDE) {
                let from = (row * SIDE + x) as usize;
                terrain[from..from + width.min(SIDE - x) as usize].fill(0);
            }
        }
    }
    NavGrid::from_terrain(SIDE, SIDE, terrain).map_err(|error| error.to_string())
}

/// Adds [`RIVERS`] in either direction.
fn add_rivers(grid: &mut NavGrid) -> Result<(), String> {
    let profile = grid.profiles()[0].clone();
    let (shallow, deep) = (EdgeId(2), EdgeId(3));
    *grid =
        grid.clone().with_profiles(vec![profile.with_edge(shallow, 1_600).with_edge(deep, 6_400)]);
    let CellRect { min, width, height } = grid.rect();
    let (is_hexagonal, mut random) = (grid.topology() == Topology::Hexagonal, Random(77));
    let mut edit = grid.edit();
    for river in 0..2 * RIVERS {
        let is_vertical = river < RIVERS;
        let (length, breadth) = if is_vertical { (height, width) } else { (width, height) };
        let mut at = (river % RIVERS * breadth / RIVERS + breadth / RIVERS / 2) as i32;
        let slant = |along: u32| if is_hexagonal && is_vertical { along as i32 / 2 } else { 0 };
        let course: Vec<i32> = (0..length)
            .map(|along| {
                at += random.below(7) as i32 - 3;
                at - slant(along)
            })
            .collect();
        let place = |cell: Cell| {
            let (x, y) = (cell.x - min.x, cell.y - min.y);
            let (along, across) = if is_vertical { (y, x) } else { (x, y) };
            course.get(along as usize).map(|&at| across <= at)
        };
        let mut bridge = random.below(400);
        for (along, &at) in (0..).zip(&course) {
            if along > bridge + 4 {
                bridge += 200 + random.below(400);
            }
            let kind = if river % 2 == 0 { shallow } else { deep };
            for across in at - 4..at + 5 {
                let (x, y) =
                    if is_vertical { (across, along as i32) } else { (along as i32, across) };
                let cell = min.offset(x, y);
                let directions = [Direction::East, Direction::North, Direction::NorthWest];
                for direction in directions.into_iter().take(if is_hexagonal { 3 } else { 2 }) {
                    let (dx, dy) = direction.offset();
                    let is_bank = place(cell) == place(cell.offset(dx, dy));
                    if !is_bank && along < bridge {
                        // Parts of a river may lie off the grid.
                        let _is_on_grid = edit.set_edge(cell, direction, kind);
                    }
                }
            }
        }
    }
    Ok(())
}

/// Returns pairs of distant cells of one connected region; fewer than requested if few exist.
fn far_pairs(grid: &NavGrid, count: u32) -> Vec<(Cell, Cell)> {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut pairs = Vec::new();
    for _ in 0..MOST_TRIES {
        let mut cell = || {
            let cell = Cell::new(random.below(SIDE) as i32, random.below(SIDE) as i32);
            if grid.topology() == Topology::Hexagonal { hexagons::shifted(cell) } else { cell }
        };
        let (start, goal) = (cell(), cell());
        let apart = start.x.abs_diff(goal.x).max(start.y.abs_diff(goal.y));
        let region = grid.region(ProfileId::default(), start);
        if apart > FAR && region.is_some() && region == grid.region(ProfileId::default(), goal) {
            pairs.push((start, goal));
            if pairs.len() == count as usize {
                break;
            }
        }
    }
    pairs
}
