//! Slots of a group, and the costs of the paths to them where walls stand between.
//!
//! Input: a group, the slots of its members, and the terrain. Output: the window around the slots; and, where the
//! window is not open terrain, the cost from each of its cells to the nearest unassigned slot.

use super::group::Group;
use crate::nav::crowd::{
    board::{
        reservations::{GridPos, Reservations},
        step_costs::{StepCosts, move_table},
        unit::NONE,
    },
    cost_to_go::flood::OpenCells,
};
use crate::nav::{grid::NavGrid, terrain::ProfileId};

/// Fewest cells around the slots that belong to the window of a group. Large groups have more, so that
/// members take their slots before the lines in which they approach merge.
const MARGIN: u16 = 8;

/// Working memory for finding slots and the costs to them.
#[derive(Clone, Debug, Default)]
pub struct GroupScratch {
    /// By cell, the pass in which it was last taken.
    taken: Vec<u32>,
    pass: u32,
    found: Vec<GridPos>,
    /// The members to which the slots belong.
    owners: Vec<u32>,
    /// Members and their slots before.
    previous: Vec<(u32, GridPos)>,
}

impl GroupScratch {
    /// Iterates over the members that had a slot before the last layout, with these slots.
    pub fn previous_slots(&self) -> impl Iterator<Item = (u32, GridPos)> + '_ {
        self.previous.iter().copied()
    }

    pub fn bytes(&self) -> usize {
        4 * (self.taken.capacity() + self.found.capacity() + self.owners.capacity())
            + 8 * self.previous.capacity()
    }

    /// Collects the slots of the members, as far as units can stand there. If two slots overlap, the second is left
    /// out.
    pub fn collect_slots(
        &mut self,
        grid: &NavGrid,
        reservations: &Reservations,
        group: &Group,
        places: impl Iterator<Item = (u32, GridPos)>,
    ) {
        self.found.clear();
        self.owners.clear();
        self.pass += 1;
        self.taken.resize(reservations.len(), 0);
        let profile = ProfileId(group.profile);
        let is_passable = |pos: GridPos| grid.cost(profile, pos.cell(grid)) > 0;
        for (owner, pos) in places.filter(|&(_, pos)| is_passable(pos)) {
            let mut cells = reservations.block(pos, group.size);
            if cells.all(|cell| self.taken[cell as usize] != self.pass) {
                let cells = reservations.block(pos, group.size);
                cells.for_each(|cell| self.taken[cell as usize] = self.pass);
                self.found.push(pos);
                self.owners.push(owner);
            }
        }
    }

    /// Lays the window around the slots.
    pub fn lay_out_window(&mut self, grid: &NavGrid, group: &mut Group) {
        self.previous.clear();
        let assigned =
            group.assignees.iter().zip(&group.slots).filter(|(assignee, _)| **assignee != NONE);
        self.previous.extend(assigned.map(|(&assignee, &pos)| (assignee, pos)));
        let (mut low, mut high) = (group.goal, group.goal);
        for pos in &self.found {
            low = GridPos { x: low.x.min(pos.x), y: low.y.min(pos.y) };
            high = GridPos { x: high.x.max(pos.x), y: high.y.max(pos.y) };
        }
        let margin = MARGIN + (self.found.len().isqrt() * usize::from(group.size) / 2) as u16;
        let origin = GridPos { x: low.x.saturating_sub(margin), y: low.y.saturating_sub(margin) };
        let (width, height) = (grid.width() as u16, grid.height() as u16);
        let (right, top) = ((high.x + margin + 1).min(width), (high.y + margin + 1).min(height));
        group.window.lay_out(origin, (right - origin.x, top - origin.y));
        group.slot_at.clear();
        group.slot_at.resize(group.window.cells(), NONE);
        group.slots.clear();
        group.slots.extend_from_slice(&self.found);
        group.assignees.clear();
        group.assignees.resize(self.found.len(), NONE);
        group.owners.clear();
        group.owners.extend_from_slice(&self.owners);
        for (number, &pos) in self.found.iter().enumerate() {
            if let Some(at) = group.window.index(pos) {
                group.slot_at[at] = number as u32;
            }
        }
        let layer = grid.layer(ProfileId(group.profile));
        let is_free =
            |x, y| layer.is_some_and(|layer| layer.is_passable(u32::from(x), u32::from(y)));
        group.is_open = (origin.y..top).all(|y| (origin.x..right).all(|x| is_free(x, y)));
    }
}

/// Fills a window that is not open with the costs to the unassigned slots.
pub fn fill_costs_to_slots(grid: &NavGrid, group: &mut Group, open: &mut OpenCells) {
    let profile = ProfileId(group.profile);
    let Some(layer) = grid.layer(profile).filter(|_| !group.is_open) else {
        return;
    };
    group.window.begin(open);
    for (&slot, &assignee) in group.slots.iter().zip(&group.assignees) {
        if assignee == NONE {
            group.window.improve(open, slot, 0);
        }
    }
    let costs = StepCosts::new(layer, grid.terrain_bytes());
    let table = move_table(grid, profile);
    group.window.spread(open, (&costs, table), |_| true, |_, _| false);
}
