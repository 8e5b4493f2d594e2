//! Groups and goals: slots of members, and when a unit has done enough to get to its goal.
//!
//! Input: members, goals and arrivals. Output: a slot for each member; units that stand back or settle.

pub(super) mod circling;
pub(super) mod group;
pub(super) mod membership;
pub(super) mod return_delay;
pub(super) mod slot_assignment;
pub(super) mod slots;

use core::{
    hint::black_box,
    ops::{Index, IndexMut},
};

use self::{
    circling::Progress,
    group::{Group, GroupIndex},
    slots::GroupScratch,
};
use super::{
    RouteId,
    flood::{OpenCells, bytes_of},
    guidance::UNREACHABLE,
    reservations::GridPos,
};

/// The groups of a crowd. Only this room reads what they consist of.
#[derive(Debug, Default)]
pub(super) struct Groups {
    list: Vec<Group>,
    scratch: GroupScratch,
    open_cells: OpenCells,
    /// By unit: how it has come nearer to its goal.
    progress: Vec<Progress>,
}

impl Groups {
    /// Returns the field that leads the members of a group at a position, if none of its slots does.
    pub(super) fn route_at(&self, id: GroupIndex, pos: GridPos) -> Option<RouteId> {
        let group = &self[id];
        group.route.filter(|_| group.window.cost(pos) == UNREACHABLE)
    }

    /// Reads the memory that counts the steps of a unit.
    #[inline]
    pub(super) fn prefetch_progress(&self, index: u32) {
        black_box(self.progress[index as usize]);
    }

    /// Marks all groups for a refresh after the terrain has changed.
    pub(super) fn mark_stale(&mut self) {
        self.list.iter_mut().for_each(|group| group.is_stale = true);
    }

    /// Returns the memory held, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let progress = self.progress.capacity() * size_of::<Progress>();
        let groups = self.list.iter().map(Group::bytes).sum::<usize>();
        groups + self.scratch.bytes() + bytes_of(&self.open_cells) + progress
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
