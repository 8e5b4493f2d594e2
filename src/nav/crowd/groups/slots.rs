//! Slots of a group, and the costs of the paths to them where walls stand between.
//!
//! Input: a group, the slots of its members, and the terrain. Output: the window around the slots; and, where the
//! window is not open terrain, the cost from each of its cells to the nearest free slot.

use super::group::{Group, Slot};
use crate::nav::crowd::board::{
    Board, CrowdEvent, GridPos, NONE, State, StepCosts, Task, is_barrier, nearest_cell,
};
use crate::nav::crowd::cost_to_go::OpenCells;
use crate::nav::{Cell, NavGrid};

/// Fewest cells around the slots that belong to the window of a group. Large groups have more, so that
/// members take their slots before the lines in which they approach merge.
const MARGIN: u16 = 8;

/// Greatest distance, in steps over open terrain, of a member's new slot from the one out of which it is shut.
const MAX_DISTANCE: u32 = 16;

/// By cell, the pass in which it was last taken.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct TakenCells {
    passes: Vec<u32>,
    pass: u32,
}

impl TakenCells {
    fn begin(&mut self, cells: usize) {
        self.passes.resize(cells, 0);
        self.pass += 1;
    }

    /// Takes cells, if none of them is taken; returns whether that is so.
    fn take(&mut self, cells: impl Iterator<Item = u32> + Clone) -> bool {
        let are_free = self.are_free(cells.clone());
        if are_free {
            cells.for_each(|cell| self.passes[cell as usize] = self.pass);
        }
        are_free
    }

    fn are_free(&self, mut cells: impl Iterator<Item = u32>) -> bool {
        cells.all(|cell| self.passes[cell as usize] != self.pass)
    }

    /// Marks exactly the cells on which units stand or will stand at last as taken.
    pub fn take_goals(&mut self, board: &Board) {
        self.begin(board.reservations.len());
        for unit in board.units.0.iter().filter(|unit| unit.is_present()) {
            let at = match unit.task {
                Task::Path | Task::Group(_) => unit.goal,
                Task::Route(_) | Task::Idle => unit.tail,
            };
            for cell in board.reservations.block(at, unit.size) {
                // A unit that has grown may not fit on its goal: part of it would be off the grid.
                if let Some(pass) = self.passes.get_mut(cell as usize) {
                    *pass = self.pass;
                }
            }
        }
    }

    pub fn bytes(&self) -> usize {
        self.passes.capacity() * 4
    }
}

impl Group {
    /// Collects the slots of the members, as far as units can stand there. If two slots overlap, the second is left
    /// out. Members on their way to their slots keep them. Returns the members on whose slots walls stand, or units of others that
    /// rest there and that they cannot push.
    pub fn collect_slots(
        &mut self,
        board: &mut Board,
        grid: &NavGrid,
        members: impl Iterator<Item = u32>,
        taken: &mut TakenCells,
    ) -> Vec<u32> {
        let profile = self.profile;
        self.size = grid.unit_size(profile) as u8;
        self.slots.clear();
        taken.begin(board.reservations.len());
        let mut shut_out = Vec::new();
        for owner in members {
            let pos = board.units[owner].goal;
            let is_shut_out = grid.cost(profile, pos.cell(grid)) == 0
                || board.is_barred(&board.units[owner], (pos, self.size));
            shut_out.extend(is_shut_out.then_some(owner));
            let unit = &mut board.units[owner];
            let can_stand = !is_shut_out && taken.take(board.reservations.block(pos, self.size));
            if unit.slot != NONE {
                unit.slot = if can_stand { self.slots.len() as u32 } else { NONE };
                if !can_stand && unit.state == State::Standing {
                    board.schedule_next_tick(owner);
                }
            }
            if can_stand {
                self.slots.push(Slot { pos, owner });
            }
        }
        shut_out
    }

    /// Gives a member that is shut out of its slot the nearest cell that it can reach and that is no unit's goal. Returns the
    /// old and the new slot; `None` if there is none nearby, and for members that have to leave a building first.
    pub fn replace_slot(
        &mut self,
        board: &mut Board,
        grid: &NavGrid,
        owner: u32,
        goals: &mut TakenCells,
    ) -> Option<(GridPos, GridPos)> {
        let (profile, unit) = (self.profile, board.units[owner]);
        let region = grid.region(profile, unit.tail.cell(grid)).filter(|_| !unit.is_trapped())?;
        let block = |pos| board.reservations.block(pos, self.size);
        let is_free = |&cell: &Cell| {
            grid.region(profile, cell) == Some(region)
                && GridPos::of(grid, cell).is_some_and(|pos| goals.are_free(block(pos)))
        };
        let slot = unit.goal.cell(grid);
        let cell = nearest_cell(grid.topology(), slot, MAX_DISTANCE, is_free)?;
        let pos = GridPos::of(grid, cell)?;
        goals.take(block(pos));
        self.slots.push(Slot { pos, owner });
        board.units[owner].goal = pos;
        let (id, has_arrived) = (board.id(owner), unit.has_arrived);
        board.events.push(CrowdEvent::SlotChanged { unit: id, cell, has_arrived });
        Some((unit.goal, pos))
    }

    /// Lays the window around the slots.
    pub fn lay_out_window(&mut self, grid: &NavGrid) {
        let (mut low, mut high) = (self.goal, self.goal);
        for Slot { pos, .. } in &self.slots {
            low = GridPos { x: low.x.min(pos.x), y: low.y.min(pos.y) };
            high = GridPos { x: high.x.max(pos.x), y: high.y.max(pos.y) };
        }
        let margin = MARGIN + (self.slots.len().isqrt() * usize::from(self.size) / 2) as u16;
        let origin = GridPos { x: low.x.saturating_sub(margin), y: low.y.saturating_sub(margin) };
        let (width, height) = (grid.width() as u16, grid.height() as u16);
        let (right, top) = ((high.x + margin + 1).min(width), (high.y + margin + 1).min(height));
        self.window.lay_out(origin, (right - origin.x, top - origin.y));
        let costs = StepCosts::of(grid, self.profile);
        self.is_open = costs.is_some_and(|costs| {
            let (mut least, mut most) = (u64::MAX, 0);
            let mut is_free = |x: u16, y: u16| {
                let cost = costs.cost(GridPos { x, y });
                (least, most) = (least.min(cost), most.max(cost));
                let (x, y) = (u32::from(x), u32::from(y));
                costs.layer.is_passable(x, y) && !costs.layer.is_beside_edge(x, y)
            };
            let is_free = (origin.y..top).all(|y| (origin.x..right).all(|x| is_free(x, y)));
            is_free && !is_barrier(most, least)
        });
    }

    /// Fills a window that is not open with the costs to the free slots.
    pub fn fill_costs_to_slots(&mut self, board: &Board, grid: &NavGrid, open: &mut OpenCells) {
        let costs = StepCosts::of(grid, self.profile);
        let Some(costs) = costs.filter(|_| !self.is_open) else {
            return;
        };
        let mut window = core::mem::take(&mut self.window);
        window.begin(open);
        for (_, pos) in self.free_slots(board) {
            window.improve(open, pos, 0);
        }
        window.spread(open, &costs, |_| true, |_, _| false);
        self.window = window;
    }
}
