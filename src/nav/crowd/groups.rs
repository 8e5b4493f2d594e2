//! Groups and goals: slots of members, and when a unit has tried long enough to reach its goal.
//!
//! Input: members, goals and arrivals. Output: a slot for each member; units that stand back or settle.

pub mod group;
pub mod progress;
pub mod return_delay;
pub mod slot_assignment;
pub mod slots;

use core::{
    hint::black_box,
    ops::{Index, IndexMut},
};

use self::{group::Group, progress::GoalProgress, slots::TakenCells};
use super::board::{GroupIndex, NONE, RouteId, Task, Unit};
use super::cost_to_go::{OpenCells, UNREACHABLE, bytes_of};
use crate::nav::{CellRect, NavGrid};

/// The groups of a crowd. Only this room reads what they consist of.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Groups {
    list: Vec<Group>,
    taken: TakenCells,
    /// Where units stand or are to stand at last.
    goals: TakenCells,
    open_cells: OpenCells,
    /// By unit: how it has come nearer to its goal.
    progress: Vec<GoalProgress>,
}

impl Groups {
    /// Returns the shared field that guides a unit, unless the unit has a slot of its group or is near one.
    pub fn route_of(&self, unit: &Unit) -> Option<RouteId> {
        match unit.task {
            Task::Route(route) => Some(route),
            Task::Group(id) if unit.slot == NONE => {
                let group = &self[id];
                group.route.filter(|_| group.window.cost(unit.tail) == UNREACHABLE)
            }
            _ => None,
        }
    }

    /// Reads the memory that counts the steps of a unit.
    #[inline]
    pub fn prefetch_progress(&self, index: u32) {
        black_box(self.progress[index as usize]);
    }

    /// After edits of terrain: marks the groups whose slots may depend on it for a refresh, and notes the edit in the progress
    /// of all units.
    pub fn follow_edits(&mut self, grid: &NavGrid, edits: &[CellRect]) {
        self.progress.iter_mut().for_each(GoalProgress::note_edit);
        self.list.iter_mut().for_each(|group| group.is_stale |= group.depends_on(grid, edits));
    }

    /// Returns the memory held, in bytes.
    pub fn bytes(&self) -> usize {
        let progress = self.progress.capacity() * size_of::<GoalProgress>();
        let groups = self.list.iter().map(Group::bytes).sum::<usize>();
        groups + self.taken.bytes() + self.goals.bytes() + bytes_of(&self.open_cells) + progress
    }
}

impl Index<GroupIndex> for Groups {
    type Output = Group;

    fn index(&self, id: GroupIndex) -> &Group {
        &self.list[id.0 as usize]
    }
}

impl IndexMut<GroupIndex> for Groups {
    fn index_mut(&mut self, id: GroupIndex) -> &mut Group {
        &mut self.list[id.0 as usize]
    }
}
