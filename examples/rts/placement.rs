//! Finds cells: for critters to appear on, and for each of a group to go to.
//!
//! Input: a grid, a kind of critter, a cell to be near. Output: cells that the kind can stand on,
//! nearest first. Only the connected part of the map that matters (its *island*) counts, so that
//! nobody is put, or sent, where no way leads.

use std::collections::{BTreeMap, BTreeSet};

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::kinds::Kind;

/// Farthest that cells are looked for.
const RADIUS: i32 = 48;
/// Half the size of the view that [`find_home`] judges, in cells.
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
    /// The `index`-th nearest cell to `center`; `None` past the radius.
    pub fn cell(&self, center: Cell, index: usize) -> Option<Cell> {
        self.0.get(index).map(|&(dx, dy)| center.offset(dx, dy))
    }

    /// The cells around `center`, nearest first.
    pub fn around(&self, center: Cell) -> impl Iterator<Item = Cell> + '_ {
        self.0.iter().map(move |&(dx, dy)| center.offset(dx, dy))
    }

    /// Up to `count` cells near `center` for critters of `kind` to appear on, all on `island` and
    /// with gaps between them; `taken` are left out and grow by what is found.
    pub fn spots(
        &self,
        grid: &NavGrid,
        (kind, island): (Kind, u32),
        center: Cell,
        count: usize,
        taken: &mut BTreeSet<Cell>,
    ) -> Vec<Cell> {
        self.around(center)
            .filter(|cell| (cell.x + cell.y) % 2 == 0)
            .filter(|&cell| island_of(grid, kind.profile(), cell) == Some(island))
            .filter(|&cell| taken.insert(cell))
            .take(count)
            .collect()
    }
}

/// The connected part of the map that `cell` belongs to for a profile.
pub fn island_of(grid: &NavGrid, profile: ProfileId, cell: Cell) -> Option<u32> {
    let local = cell.offset(-grid.origin().x, -grid.origin().y);
    let (x, y) = (u32::try_from(local.x).ok()?, u32::try_from(local.y).ok()?);
    grid.layer(profile)?.island(x, y)
}

/// The largest connected part of the map for a profile.
pub fn main_island(grid: &NavGrid, profile: ProfileId) -> Option<u32> {
    let mut sizes = BTreeMap::new();
    for island in grid.rect().cells().filter_map(|cell| island_of(grid, profile, cell)) {
        *sizes.entry(island).or_insert(0_u32) += 1;
    }
    let largest = sizes.values().copied().max()?;
    sizes.into_iter().find(|&(_, size)| size == largest).map(|(island, _)| island)
}

/// The cell where a game begins: with room for land critters around it, water in view where the
/// map has some, as many kinds of terrain as possible, and not too far from the middle.
pub fn find_home(grid: &NavGrid) -> Cell {
    let rect = grid.rect();
    let (width, height) = (rect.width as i32, rect.height as i32);
    let middle = rect.min.offset(width / 2, height / 2);
    let land = (Kind::Runner.profile(), main_island(grid, Kind::Runner.profile()));
    let water = (Kind::Boat.profile(), main_island(grid, Kind::Boat.profile()));
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

/// How much there is to do around `home`; every fourth cell in view is looked at.
fn score_view(
    grid: &NavGrid,
    home: Cell,
    land: (ProfileId, Option<u32>),
    water: (ProfileId, Option<u32>),
) -> i32 {
    let is_on = |(profile, island): (ProfileId, Option<u32>), cell| {
        island.is_some() && island_of(grid, profile, cell) == island
    };
    let (mut ground, mut lake) = (0, 0);
    let mut terrains = BTreeMap::new();
    for dy in (-VIEW.1..=VIEW.1).step_by(2) {
        for dx in (-VIEW.0..=VIEW.0).step_by(2) {
            let cell = home.offset(dx, dy);
            ground += i32::from(is_on(land, cell));
            lake += i32::from(is_on(water, cell));
            *terrains.entry(grid.terrain(cell)).or_insert(0) += 1;
        }
    }
    let variety = terrains.values().filter(|&&count| count >= 6).count() as i32;
    ground.min(110) + 2 * lake.min(40) + 20 * variety
}
