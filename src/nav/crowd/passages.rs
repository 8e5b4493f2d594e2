//! Passages one cell wide: where they are, and who may enter.
//!
//! Input: the terrain around units, and the units in passages. Output: steps that are forbidden for now.

pub(super) mod direction_lock;
pub(super) mod passage;
pub(super) mod passage_control;
pub(super) mod passage_trace;
pub(super) mod wall_proximity;

use self::{passage::Passages, wall_proximity::WallProximity};
use super::reservations::GridPos;

/// What is known about the shape of the terrain, by profile. Found out where units come, and forgotten where an edit
/// changes it. Only this room reads it.
#[derive(Debug, Default)]
pub(super) struct TerrainShape {
    passages: Vec<Passages>,
    walls: Vec<WallProximity>,
}

impl TerrainShape {
    /// Returns the passages of a profile on a grid of this size.
    pub(super) fn passages_of(&mut self, profile: u8, size: (u32, u32)) -> &mut Passages {
        let at = usize::from(profile);
        if self.passages.len() <= at {
            self.passages.resize_with(at + 1, Passages::default);
        }
        let passages = &mut self.passages[at];
        passages.resize_for(size);
        passages
    }

    /// Forgets what is known about a rectangle: its lowest, leftmost and its highest, rightmost cell.
    pub(super) fn forget(&mut self, low: GridPos, high: GridPos) {
        self.passages.iter_mut().for_each(|passages| passages.forget(low, high));
        self.walls.iter_mut().for_each(|walls| walls.forget(low, high));
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.passages.clear();
        self.walls.clear();
    }

    /// Returns the memory held, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.passages.iter().map(Passages::bytes).sum::<usize>()
            + self.walls.iter().map(WallProximity::bytes).sum::<usize>()
    }
}
