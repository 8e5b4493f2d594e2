//! Passages one cell wide: where they are, and who may enter.
//!
//! Input: the terrain around units, and the units in passages. Output: steps that are forbidden for now.

pub mod direction_lock;
pub mod passage;
pub mod passage_trace;
pub mod traffic;
pub mod wall_proximity;

use self::{passage::Passages, wall_proximity::WallProximity};
use super::board::{GridPos, entry_at};
use crate::nav::ProfileId;

/// What is known about the shape of the terrain, by profile. It is explored where units come, and forgotten where an
/// edit changes it. Only this room reads it.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct TerrainShape {
    pub passages: AllPassages,
    walls: Vec<WallProximity>,
}

/// The passages as the units of each profile see them. All of them record which units wait and enter where. If several profiles
/// see the same passage, the lock of the lowest one decides which units may enter.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct AllPassages(Vec<Passages>);

impl AllPassages {
    /// Returns the passages of a profile on a grid of this size.
    pub fn explored_by(&mut self, profile: ProfileId, size: (u32, u32)) -> &mut Passages {
        let passages = entry_at(&mut self.0, profile.0.into());
        passages.resize_for(size);
        passages
    }

    /// Returns the known passages of a profile.
    pub fn of(&self, profile: ProfileId) -> Option<&Passages> {
        self.0.get(usize::from(profile.0))
    }
}

impl TerrainShape {
    /// Forgets what is known about a rectangle: its lowest, leftmost and its highest, rightmost cell.
    pub fn forget(&mut self, low: GridPos, high: GridPos) {
        self.passages.0.iter_mut().for_each(|passages| passages.forget(low, high));
        self.walls.iter_mut().for_each(|walls| walls.forget(low, high));
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.passages.0.clear();
        self.walls.clear();
    }

    /// Returns the memory held, in bytes.
    pub fn bytes(&self) -> usize {
        self.passages.0.iter().map(Passages::bytes).sum::<usize>()
            + self.walls.iter().map(WallProximity::bytes).sum::<usize>()
    }
}
