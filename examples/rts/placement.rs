//! Finds cells to spawn critters and buildings on, and the home cell of a game.
//!
//! Input: a grid, a kind of critter, a center cell. Output: cells that the kind can stand on,
//! nearest first. Only cells of one connected region are used, so that no critter is spawned in a
//! part of the map that it cannot leave.

use std::collections::{BTreeMap, BTreeSet};

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::kinds::Kind;

/// Search radius, in cells.
const RADIUS: i32 = 48;
/// Half the size of the view that [`find_home`] scores, in cells.
const VIEW: (i32, i32) = (18, 10);

/// Offsets from a cell, nearest first.
#[derive(Resource, Debug)]
pub struct Spiral(Vec<(i32, i32)>);

impl Default for Spiral {
    fn default() -> Self {
        let side = -RADIUS..=RADIUS;
        let mut offsets: Vec<_> =
            side.clone().flat_map(|y| side.clone().map(move |x| (x, y))).collect();
        offsets.sort_by_key(|&(x, y)| (x * x + y * y, y, x));
        Self(offsets)
    }
}

impl Spiral {
    /// Returns the cells around `center`, nearest first.
    pub fn around(&self, center: Cell) -> impl Iterator<Item = Cell> + '_ {
        self.0.iter().map(move |&(dx, dy)| center.offset(dx, dy))
    }

    /// Returns up to `count` cells near `center` to spawn critters of `kind` on, all in `region`
    /// and with gaps between them. The cells they cover are added to `occupied`.
    pub fn spawn_cells(
        &self,
        grid: &NavGrid,
        (kind, region): (Kind, u32),
        center: Cell,
        count: usize,
        occupied: &mut OccupiedCells,
    ) -> Vec<Cell> {
        self.around(center)
            .filter(|&cell| is_on_spawn_lattice(kind.width(grid.topology()), cell))
            .filter(|&cell| grid.region(kind.profile(), cell) == Some(region))
            .filter(|&cell| occupied.claim(grid.cells_of(kind.profile(), cell)))
            .take(count)
            .collect()
    }
}

/// Returns whether critters so many cells wide may spawn on the cell: small ones on every other cell, in a
/// checkerboard pattern, large ones with one free cell in between.
fn is_on_spawn_lattice(width: u8, cell: Cell) -> bool {
    match i32::from(width) {
        1 => (cell.x + cell.y).rem_euclid(2) == 0,
        width => cell.x.rem_euclid(width + 1) == 0 && cell.y.rem_euclid(width + 1) == 0,
    }
}

/// Cells covered by critters or buildings.
#[derive(Clone, Debug, Default)]
pub struct OccupiedCells(BTreeSet<Cell>);

impl OccupiedCells {
    /// Creates the set of these cells.
    pub fn new(cells: impl IntoIterator<Item = Cell>) -> Self {
        Self(cells.into_iter().collect())
    }

    /// Adds cells if all of them are free. Returns whether they were.
    pub fn claim(&mut self, cells: impl Iterator<Item = Cell> + Clone) -> bool {
        let is_free = cells.clone().all(|cell| !self.0.contains(&cell));
        if is_free {
            self.0.extend(cells);
        }
        is_free
    }
}

/// Returns the largest connected region for a profile.
pub fn largest_region(grid: &NavGrid, profile: ProfileId) -> Option<u32> {
    let mut sizes = BTreeMap::new();
    for region in grid.rect().cells().filter_map(|cell| grid.region(profile, cell)) {
        *sizes.entry(region).or_insert(0_u32) += 1;
    }
    let largest = sizes.values().copied().max()?;
    sizes.into_iter().find(|&(_, size)| size == largest).map(|(region, _)| region)
}

/// Returns the home cell of a game: with land around it, water in view where the map has some, as
/// many kinds of terrain as possible, and not too far from the middle.
pub fn find_home(grid: &NavGrid) -> Cell {
    let rect = grid.rect();
    let (width, height) = (rect.width as i32, rect.height as i32);
    let middle = rect.min.offset(width / 2, height / 2);
    let land = (Kind::Runner.profile(), largest_region(grid, Kind::Runner.profile()));
    let water = (Kind::Boat.profile(), largest_region(grid, Kind::Boat.profile()));
    let (margin, step) = (VIEW.1.min(height / 4), 6);
    (margin..height - margin)
        .step_by(step)
        .flat_map(|y| (margin..width - margin).step_by(step).map(move |x| (x, y)))
        .map(|(x, y)| rect.min.offset(x, y))
        .max_by_key(|&home| {
            let from_middle = (home.x - middle.x).abs().max((home.y - middle.y).abs());
            let penalty = 80 * from_middle / width.max(height);
            (score_view(grid, home, land, water) - penalty, home)
        })
        .unwrap_or(middle)
}

/// Scores the surroundings of `home`; every fourth cell in view is sampled.
fn score_view(
    grid: &NavGrid,
    home: Cell,
    land: (ProfileId, Option<u32>),
    water: (ProfileId, Option<u32>),
) -> i32 {
    let is_in = |(profile, region): (ProfileId, Option<u32>), cell| {
        region.is_some() && grid.region(profile, cell) == region
    };
    let (mut land_cells, mut water_cells) = (0, 0);
    let mut terrains = BTreeMap::new();
    for dy in (-VIEW.1..=VIEW.1).step_by(2) {
        for dx in (-VIEW.0..=VIEW.0).step_by(2) {
            let cell = home.offset(dx, dy);
            land_cells += i32::from(is_in(land, cell));
            water_cells += i32::from(is_in(water, cell));
            *terrains.entry(grid.terrain(cell)).or_insert(0) += 1;
        }
    }
    let variety = terrains.values().filter(|&&count| count >= 6).count() as i32;
    land_cells.min(110) + 2 * water_cells.min(40) + 20 * variety
}
