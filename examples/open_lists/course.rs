//! A map and its queries.
//!
//! Input: a size, or a Moving AI map and scenario. Output: a grid, pairs of cells with a path
//! between them, and the optimal lengths where they are known.

use std::path::Path as FilePath;

use bevy_tilepath::prelude::*;

use crate::{
    random::Random,
    runner::{self, Outcome},
};

/// A map with queries; see the [module](self).
pub struct Course {
    /// Name in the tables.
    pub name: String,
    /// Whether it was read from a file.
    pub is_real: bool,
    /// The map.
    pub grid: NavGrid,
    /// Start, goal, and the optimal length in plain steps where it is known.
    pub queries: Vec<(Cell, Cell, Option<f64>)>,
}

/// Share of cells covered by blocks, in thousandths.
const TAKEN_IN_THOUSAND: usize = 380;

impl Course {
    /// Creates a square map of scattered blocks, with sides up to a sixth of the map's, which looks
    /// similar at every size, and long queries across it.
    pub fn generated(side: u32, profile: &Profile) -> Outcome<Self> {
        let grid = NavGrid::from_terrain(side, side, blocks(side))
            .map_err(|error| format!("--sizes {side}: {error}"))?
            .with_profiles(vec![profile.clone()]);
        let queries = far_pairs(&grid, query_count(side))
            .ok_or_else(|| format!("--sizes {side}: no long path on that map"))?;
        Ok(Self { name: format!("blocks {side}"), is_real: false, grid, queries })
    }

    /// Reads a Moving AI map and `sample` rows of its scenario.
    pub fn from_files(
        map: &FilePath,
        scenario: &FilePath,
        sample: usize,
        profile: &str,
    ) -> Outcome<Self> {
        let grid = runner::load_map(map, profile_of(profile)?)?;
        let rows = runner::load_scenario(scenario, &grid)?;
        let sample = sample.min(rows.len());
        let rows = runner::sample(rows, sample);
        if rows.is_empty() {
            return Err(format!("{}: no row of any length", scenario.display()));
        }
        // Files of multi-agent instances may have no lengths.
        let optimum = |row: f64| (profile == "plain" && row > 0.0).then_some(row);
        Ok(Self {
            name: map.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            is_real: true,
            queries: rows.iter().map(|row| (row.start, row.goal, optimum(row.optimal))).collect(),
            grid,
        })
    }

    /// Returns the number of cells of the map.
    pub const fn cells(&self) -> u64 {
        self.grid.width() as u64 * self.grid.height() as u64
    }
}

/// Returns the profile called `name`: one of the runners', or "fine", whose costs have no common
/// divisor, so that keys have many different values.
pub fn profile_of(name: &str) -> Outcome<Profile> {
    if name != "fine" {
        return runner::profile(name);
    }
    let costs = [(b'.', 16), (b'G', 16), (b'S', 33), (b'W', 49), (b'T', 81)];
    let add = |profile: Profile, (letter, cost)| profile.with(TerrainId(letter), cost);
    Ok(costs.into_iter().fold(Profile::new(), add))
}

/// Returns the number of queries: fewer on large maps, so that all sizes take about the same time.
const fn query_count(side: u32) -> usize {
    match side {
        0..100 => 200,
        100..200 => 100,
        200..400 => 50,
        400..800 => 20,
        _ => 10,
    }
}

fn blocks(side: u32) -> Vec<u8> {
    let mut random = Random::new(u64::from(side));
    let mut terrain = vec![b'.'; (side * side) as usize];
    let mut taken = 0;
    while taken * 1_000 < terrain.len() * TAKEN_IN_THOUSAND {
        // Small blocks are far more frequent than large ones.
        let mut length = || {
            let share = u64::from(random.below(1_000)).pow(3);
            1 + (share * u64::from(side / 6) / 1_000_000_000) as u32
        };
        let (width, height) = (length(), length());
        let letter = b"@@@@@TTWWS"[random.below(10) as usize];
        let (left, top) = (random.below(side), random.below(side));
        for y in top..side.min(top + height) {
            for x in left..side.min(left + width) {
                let cell = &mut terrain[(y * side + x) as usize];
                taken += usize::from(*cell == b'.');
                *cell = letter;
            }
        }
    }
    terrain
}

/// Returns pairs of cells at least half the side apart with a path between them; `None` if too few
/// are found.
fn far_pairs(grid: &NavGrid, count: usize) -> Option<Vec<(Cell, Cell, Option<f64>)>> {
    let mut random = Random::new(7);
    let side = grid.width();
    let mut cell = || Cell::new(random.below(side) as i32, random.below(side) as i32);
    let mut pairs = Vec::new();
    for _ in 0..count * 1_000 {
        let (start, goal) = (cell(), cell());
        let region = grid.region(ProfileId::default(), start);
        let distance = start.x.abs_diff(goal.x).max(start.y.abs_diff(goal.y));
        let is_connected = region.is_some() && region == grid.region(ProfileId::default(), goal);
        if is_connected && distance >= side / 2 {
            pairs.push((start, goal, None));
        }
        if pairs.len() == count {
            return Some(pairs);
        }
    }
    None
}
