//! Finds cells for critters and buildings to appear on, and where a game begins.
//!
//! Input: a grid, a kind of critter, a cell to be near. Output: cells that the kind can stand on,
//! nearest first. Only the connected part of the map that matters (its *island*) counts, so that
//! nobody is put where no way leads.

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
    /// The cells around `center`, nearest first.
    pub fn around(&self, center: Cell) -> impl Iterator<Item = Cell> + '_ {
        self.0.iter().map(move |&(dx, dy)| center.offset(dx, dy))
    }

    /// Up to `count` cells near `center` for critters of `kind` to appear on, all on `island` and
    /// with gaps between them; `room` grows by what they cover.
    pub fn spots(
        &self,
        grid: &NavGrid,
        (kind, island): (Kind, u32),
        center: Cell,
        count: usize,
        room: &mut Room,
    ) -> Vec<Cell> {
        self.around(center)
            .filter(|&cell| is_on_raster(kind, cell))
            .filter(|&cell| grid.region(kind.profile(), cell) == Some(island))
            .filter(|&cell| room.take(kind.block(cell)))
            .take(count)
            .collect()
    }
}

/// Whether critters of a kind appear on the cell: small ones on every other cell, as on a
/// chessboard, large ones with a free cell in between.
fn is_on_raster(kind: Kind, cell: Cell) -> bool {
    match i32::from(kind.size()) {
        1 => (cell.x + cell.y).rem_euclid(2) == 0,
        size => cell.x.rem_euclid(size + 1) == 0 && cell.y.rem_euclid(size + 1) == 0,
    }
}

/// The cells on which somebody or something stands.
#[derive(Clone, Debug, Default)]
pub struct Room(BTreeSet<Cell>);

impl Room {
    /// Takes the cells of a block; says whether they were all free.
    pub fn take(&mut self, block: CellRect) -> bool {
        let is_free = block.cells().all(|cell| !self.0.contains(&cell));
        if is_free {
            self.0.extend(block.cells());
        }
        is_free
    }

    /// Takes the cells of blocks, free or not.
    pub fn without(blocks: impl IntoIterator<Item = CellRect>) -> Self {
        Self(blocks.into_iter().flat_map(CellRect::cells).collect())
    }
}

/// The largest connected part of the map for a profile.
pub fn main_island(grid: &NavGrid, profile: ProfileId) -> Option<u32> {
    let mut sizes = BTreeMap::new();
    for island in grid.rect().cells().filter_map(|cell| grid.region(profile, cell)) {
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
        island.is_some() && grid.region(profile, cell) == island
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
