//! Passages one cell wide: where they are, and who may enter.
//!
//! Input: the terrain around units, and the units in passages. Output: steps that are forbidden for now.

pub mod direction_lock;
pub mod passage;
pub mod passage_trace;
pub mod traffic;
pub mod wall_proximity;

use self::{passage::Passages, wall_proximity::WallProximity};
use super::board::{Board, GridPos, Unit, entry_at};
use crate::nav::{NavGrid, ProfileId};

/// What is known about the shape of the terrain, by profile. It is explored where units come, and forgotten where an
/// edit changes it. Only this room reads it.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct TerrainShape {
    /// The passages as the units of each profile see them. All of them record which units wait and enter where. If several
    /// profiles see the same passage, the lock of the lowest one decides which units may enter.
    passages: Vec<Passages>,
    walls: Vec<WallProximity>,
}

impl TerrainShape {
    /// Returns the known passages of a profile.
    pub fn passages_of(&self, profile: ProfileId) -> Option<&Passages> {
        self.passages.get(usize::from(profile.0))
    }

    /// Explores the terrain around a unit, once. Returns whether a passage is near.
    #[inline]
    pub fn explore(&mut self, board: &Board, grid: &NavGrid, index: u32) -> bool {
        let Unit { tail, profile, .. } = board.units[index];
        let passages = entry_at(&mut self.passages, profile.0.into());
        passages.resize_for(board.size);
        !passages.is_far(tail)
            && grid.layer(profile).is_some_and(|layer| passages.explore(layer, tail))
    }

    /// Forgets what is known about a rectangle: its lowest, leftmost and its highest, rightmost cell.
    pub fn forget(&mut self, low: GridPos, high: GridPos) {
        self.passages.iter_mut().for_each(|passages| passages.forget(low, high));
        self.walls.iter_mut().for_each(|walls| walls.forget(low, high));
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.passages.clear();
        self.walls.clear();
    }

    /// Returns the memory held, in bytes.
    pub fn bytes(&self) -> usize {
        self.passages.iter().map(Passages::bytes).sum::<usize>()
            + self.walls.iter().map(WallProximity::bytes).sum::<usize>()
    }
}
