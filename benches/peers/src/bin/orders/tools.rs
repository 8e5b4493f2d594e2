//! Shared code of all sections: levels, random numbers, times, a searcher, and path checks.

use std::{cmp::Reverse, collections::BTreeMap, fs, path::PathBuf, time::Instant};

use bevy_tilepath::{
    nav::{
        node_pool::NodePool,
        queue::GridSource,
        search::{Search, SearchCounters},
        terrain::{DIAGONAL, STRAIGHT},
    },
    prelude::*,
};

use crate::{board::Board, options::Options};

/// The profile in sections with one kind of unit.
pub const UNIT: ProfileId = ProfileId(0);
/// The map of most measurements.
const HUNTERS: &str = "BigGameHunters";

/// A map and the cells of its largest connected region.
pub struct Level {
    pub name: String,
    pub grid: NavGrid,
    pub cells: Vec<Cell>,
}

impl Level {
    fn new(name: String, grid: NavGrid) -> Result<Self, String> {
        let cells = largest_region(&grid, UNIT);
        if cells.len() < 2 {
            return Err(format!("{name}: nobody can go anywhere"));
        }
        Ok(Self { name, grid, cells })
    }

    fn read(file: PathBuf, options: &Options) -> Result<Self, String> {
        let failed = |error: String| format!("{}: {error}", file.display());
        let words = fs::read_to_string(&file).map_err(|error| failed(error.to_string()))?;
        let board = Board::read(&words, options.rule).map_err(|error| failed(error.to_string()))?;
        Self::new(file.file_stem().unwrap_or_default().to_string_lossy().into_owned(), board.grid)
    }

    /// Loads the first map of a family, by name.
    pub fn first_of(family: &str, options: &Options) -> Result<Self, String> {
        let first = maps(family, options)?.into_iter().next();
        Self::read(first.ok_or_else(|| format!("no maps in {family}"))?, options)
    }

    pub fn hunters(options: &Options) -> Result<Self, String> {
        Self::read(options.data()?.join("sc1").join(HUNTERS).with_extension("map"), options)
    }

    /// Loads the same map, and two more of its family.
    pub fn hunters_and_others(options: &Options) -> Result<Vec<Self>, String> {
        let mut levels = vec![Self::hunters(options)?];
        let is_other = |file: &PathBuf| file.file_stem().is_none_or(|stem| stem != HUNTERS);
        for file in maps("sc1", options)?.into_iter().filter(is_other).take(2) {
            levels.push(Self::read(file, options)?);
        }
        Ok(levels)
    }

    /// Creates an open map with walls of all lengths, so that there are detours.
    pub fn generated(side: u32) -> Result<Self, String> {
        let mut random = Random::default();
        let mut terrain = vec![1; (side * side) as usize];
        for _ in 0..side * side / 400 {
            let (x, y) = (random.below(side), random.below(side));
            let (length, is_flat) = (2 + random.below(40), random.below(2) == 0);
            for step in 0..length {
                let (x, y) = if is_flat { (x + step, y) } else { (x, y + step) };
                if x < side && y < side {
                    terrain[(y * side + x) as usize] = 0;
                }
            }
        }
        let grid = NavGrid::from_terrain(side, side, terrain).map_err(text)?;
        Self::new(format!("{side} × {side}, generated"), grid)
    }

    /// Returns the cells nearest to a random cell, that cell first: the positions of a crowd.
    pub fn crowd(&self, count: usize, random: &mut Random) -> Vec<Cell> {
        let center = random.pick(&self.cells);
        let mut cells = self.cells.clone();
        cells.sort_by_key(|&cell| (squared_distance(cell, center), cell));
        cells.truncate(count);
        cells
    }
}

/// Returns the map files of a family, by name.
fn maps(family: &str, options: &Options) -> Result<Vec<PathBuf>, String> {
    let folder = options.data()?.join(family);
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file.extension().is_some_and(|ending| ending == "map") {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

/// Returns the cells of the largest connected region.
pub fn largest_region(grid: &NavGrid, profile: ProfileId) -> Vec<Cell> {
    let mut sizes: BTreeMap<u32, u32> = BTreeMap::new();
    for cell in grid.rect().cells() {
        if let Some(region) = grid.region(profile, cell) {
            *sizes.entry(region).or_default() += 1;
        }
    }
    let largest = sizes.into_iter().max_by_key(|&(region, size)| (size, Reverse(region)));
    let Some((largest, _)) = largest else {
        return Vec::new();
    };
    let is_in = |cell: &Cell| grid.region(profile, *cell) == Some(largest);
    grid.rect().cells().filter(is_in).collect()
}

fn squared_distance(a: Cell, b: Cell) -> u64 {
    let (dx, dy) = (u64::from(a.x.abs_diff(b.x)), u64::from(a.y.abs_diff(b.y)));
    dx * dx + dy * dy
}

/// A grid source with a single grid, for a queue.
pub struct World<'a>(pub &'a NavGrid);

impl GridSource for World<'_> {
    fn grid(&self, id: GridId) -> Option<&NavGrid> {
        (id == GridId::default()).then_some(self.0)
    }
}

/// A search that is reused.
pub struct Searcher<'a> {
    grid: &'a NavGrid,
    pool: NodePool,
    search: Search,
}

impl<'a> Searcher<'a> {
    pub fn new(grid: &'a NavGrid) -> Self {
        Self { grid, pool: NodePool::default(), search: Search::new() }
    }

    /// Finds the cheapest path to any of several goals: the query's own and `goals`.
    pub fn find(&mut self, query: PathQuery, goals: &[Goal]) -> Result<Path, PathFailure> {
        self.search.start_any(self.grid, &self.pool, query, goals)?;
        self.search.step(self.grid, &self.pool, u32::MAX);
        self.search.finish(self.grid, &self.pool)
    }

    /// Returns the counters of the last search.
    pub fn counters(&self) -> SearchCounters {
        self.search.counters()
    }
}

/// Checks a path: its steps must be legal, and their sum must equal its cost. Uses terrain and blockers
/// alone, not the data of searches.
pub fn check(grid: &NavGrid, profile: ProfileId, path: &Path) -> Result<(), String> {
    let cost = |x: i32, y: i32| u64::from(grid.cost(profile, Cell::new(x, y)));
    let (mut at, mut sum) = (path.start(), 0);
    if cost(at.x, at.y) == 0 {
        return Err(format!("a start at {at}, where nobody can stand"));
    }
    for to in path.cells().skip(1) {
        let (dx, dy) = (at.x.abs_diff(to.x), at.y.abs_diff(to.y));
        let is_diagonal = dx == 1 && dy == 1;
        let is_clear = !is_diagonal || (cost(to.x, at.y) > 0 && cost(at.x, to.y) > 0);
        if dx.max(dy) != 1 || !is_clear || cost(to.x, to.y) == 0 {
            return Err(format!("an illegal step from {at} to {to}"));
        }
        let weight = if is_diagonal { DIAGONAL } else { STRAIGHT };
        sum += u64::from(weight) * (cost(at.x, at.y) + cost(to.x, to.y));
        at = to;
    }
    if (at, sum) != (path.end(), path.cost().0) {
        return Err(format!("a path to {at} for {sum}, not to {} as it says", path.end()));
    }
    Ok(())
}

/// Marsaglia's xorshift.
pub struct Random(u64);

impl Default for Random {
    fn default() -> Self {
        Self(0x9E37_79B9_7F4A_7C15)
    }
}

impl Random {
    pub fn below(&mut self, end: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (((self.0 >> 32) * u64::from(end)) >> 32) as u32
    }

    /// Returns one of some cells; there must be at least one.
    pub fn pick(&mut self, cells: &[Cell]) -> Cell {
        cells[self.below(cells.len() as u32) as usize]
    }
}

/// Returns the duration of a call in microseconds.
pub fn micros<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let begin = Instant::now();
    let done = work();
    (begin.elapsed().as_secs_f64() * 1e6, done)
}

/// Returns the lane of a turn; the order of the two lanes alternates from round to round.
pub const fn lane(turn: usize) -> usize {
    (turn + turn / 2) % 2
}

/// Returns a percentile; there must be at least one value.
pub fn at(values: &mut [f64], percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) * percent / 100]
}

pub fn median(values: &mut [f64]) -> f64 {
    at(values, 50)
}

pub fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// Returns the text of a target: met or missed.
pub fn verdict(ratio: f64, target: f64) -> String {
    let word = if ratio <= target { "met" } else { "missed" };
    format!("{ratio:.2}, target at most {target}: {word}")
}

/// Formats an error.
pub fn text(error: impl ToString) -> String {
    error.to_string()
}
