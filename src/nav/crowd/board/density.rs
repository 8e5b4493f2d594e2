//! How many units are in each block of cells.
//!
//! Input: units that come, go and make steps. Output: whether a unit is alone, so that it may walk straight.
//! One byte for sixteen cells, so all of it stays in the cache. A unit counts where it stands or where it goes to,
//! with its anchor.

use super::GridPos;

/// Cells along a side of a block.
const BLOCK: u32 = 4;

/// The number of units by block, row-major, with a border of empty blocks.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Density {
    stride: u32,
    units: Vec<u8>,
}

impl Density {
    pub fn new(width: u32, height: u32) -> Self {
        let stride = width.div_ceil(BLOCK) + 2;
        let rows = height.div_ceil(BLOCK) + 2;
        Self { stride, units: vec![0; (stride * rows) as usize] }
    }

    fn index(&self, pos: GridPos) -> usize {
        let (column, row) = (u32::from(pos.x) / BLOCK + 1, u32::from(pos.y) / BLOCK + 1);
        (row * self.stride + column) as usize
    }

    pub fn add(&mut self, pos: GridPos) {
        let at = self.index(pos);
        self.units[at] += 1;
    }

    pub fn remove(&mut self, pos: GridPos) {
        let at = self.index(pos);
        self.units[at] -= 1;
    }

    pub fn relocate(&mut self, from: GridPos, to: GridPos) {
        if self.index(from) != self.index(to) {
            self.remove(from);
            self.add(to);
        }
    }

    /// Returns whether there is no unit within a block's side of a unit at a position, except that unit.
    pub fn is_alone(&self, pos: GridPos) -> bool {
        let (middle, stride) = (self.index(pos), self.stride as usize);
        let row = |at: usize| {
            self.units[at - 1..=at + 1].iter().map(|&units| u32::from(units)).sum::<u32>()
        };
        row(middle - stride) + row(middle) + row(middle + stride) <= 1
    }

    pub fn bytes(&self) -> usize {
        self.units.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::{Density, GridPos};

    #[test]
    fn a_unit_is_alone_until_another_one_comes_within_four_cells() {
        let mut density = Density::new(30, 17);
        let pos = |x, y| GridPos { x, y };
        density.add(pos(13, 9));
        assert!(density.is_alone(pos(13, 9)));
        density.add(pos(29, 16));
        assert!(density.is_alone(pos(13, 9)) && density.is_alone(pos(29, 16)));
        density.relocate(pos(29, 16), pos(17, 13));
        assert!(!density.is_alone(pos(13, 9)) && !density.is_alone(pos(17, 13)));
        density.remove(pos(17, 13));
        assert!(density.is_alone(pos(13, 9)) && density.is_alone(pos(0, 0)));
    }
}
