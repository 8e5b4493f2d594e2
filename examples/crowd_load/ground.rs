//! The map on which load is measured, and the dice that made it.

use bevy_tilepath::prelude::*;

use crate::runner::Outcome;

/// Numbers that look random (splitmix64): the same every time.
pub struct Dice(pub u64);

impl Dice {
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

/// A map of which a tenth is built over, in blocks of 2 to 8 cells.
pub fn map(side: u32, dice: &mut Dice) -> Outcome<NavGrid> {
    let mut terrain = vec![TerrainId::GROUND.0; (side * side) as usize];
    let mut built = 0;
    while built < side * side / 10 {
        let (from, width, height) = (dice.cell(side), 2 + dice.below(7), 2 + dice.below(7));
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

/// Whether a cell belongs to the main part of the map.
pub fn main_part(grid: &NavGrid) -> impl Fn(Cell) -> bool + '_ {
    let island = |cell| grid.region(ProfileId(0), cell);
    let (width, row) = (grid.width() as i32, grid.height() as i32 / 2);
    let main = (width / 2..width).find_map(|x| island(Cell::new(x, row)));
    move |cell| main.is_some() && island(cell) == main
}
