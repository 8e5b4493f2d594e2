//! The map of the measurement, and its random numbers.
//!
//! Input: a side and a generator. Output: a grid, and a test for its main connected region.

use bevy_tilepath::prelude::*;

use crate::runner::Outcome;

/// Pseudorandom numbers (splitmix64): the same every time.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) >> 32) as u32 % limit
    }

    pub fn cell(&mut self, side: u32) -> Cell {
        Cell::new(self.below(side) as i32, self.below(side) as i32)
    }
}

/// Returns a map of which a tenth is impassable, in blocks of 2 to 8 cells a side.
pub fn map(side: u32, random: &mut Random) -> Outcome<NavGrid> {
    let mut terrain = vec![TerrainId::GROUND.0; (side * side) as usize];
    let mut built = 0;
    while built < side * side / 10 {
        let (from, width, height) = (random.cell(side), 2 + random.below(7), 2 + random.below(7));
        for cell in CellRect::new(from, width, height).cells() {
            if cell.x < side as i32 && cell.y < side as i32 {
                let at = &mut terrain[cell.y as usize * side as usize + cell.x as usize];
                built += u32::from(*at == TerrainId::GROUND.0);
                *at = TerrainId::VOID.0;
            }
        }
    }
    NavGrid::from_terrain(side, side, terrain).map_err(|error| error.to_string())
}

/// Returns a predicate: whether a cell is in the main connected region, that of the middle.
pub fn main_region(grid: &NavGrid) -> Outcome<impl Fn(Cell) -> bool + '_> {
    let region = |cell| grid.region(ProfileId(0), cell);
    let (width, row) = (grid.width() as i32, grid.height() as i32 / 2);
    let main = (width / 2..width).find_map(|x| region(Cell::new(x, row)));
    let main = main.ok_or("walls cover the middle of the map")?;
    Ok(move |cell| region(cell) == Some(main))
}
