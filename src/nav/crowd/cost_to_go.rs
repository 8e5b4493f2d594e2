//! What guides a unit: the cost of the rest of its path from the cells around it.
//!
//! Input: shared fields, paths, slots, and areas that units have to leave. Output: for each source the same nine
//! numbers, by direction (see [`guidance`]).

mod corner_sight;
mod escape;
mod flood;
mod guidance;
mod local_field;
mod path_corners;
mod path_cost_to_go;
mod path_follower;
mod straight_walk;

use self::{
    corner_sight::{CornerSight, REACH, SEEN_HERE, is_seen},
    escape::BlockedArea,
    local_field::{FIELD_LOOKAHEAD, LocalField, MAX_FIELDS_PER_TICK},
    path_corners::{Corner, find_corners},
    path_follower::{CellAhead, PathFollower},
    straight_walk::{Line, Offset},
};
pub use self::{
    escape::EXIT_UNDECIDED,
    flood::{Flood, OpenCells, bytes_of},
    guidance::{
        CostToGo, Guidance, NO_COST, NeighborCosts, UNREACHABLE, World, around, route_cost,
        route_costs_around,
    },
};
use super::board::{Board, MAX_WAY_LEFT, Mode, NONE, StepCosts, Task, Unit};
use crate::nav::{CellRect, Layer, NavGrid, STRAIGHT};

/// What guides units: their paths, the fields that lead them back to these, and the blocked areas that they leave.
/// Only this room reads the contents.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Sources {
    /// By unit, for those that have had a path or a slot.
    followers: Vec<PathFollower>,
    /// Memory for their fields that is not in use, and the number of fields built in this tick.
    #[expect(clippy::vec_box, reason = "the boxes go back to the followers as they are")]
    spare_fields: Vec<Box<LocalField>>,
    fields_built: u32,
    open_cells: OpenCells,
    /// Areas that were blocked under units.
    blocked_areas: Vec<BlockedArea>,
    /// Costs around the units to be decided in this tick: those in shared fields are looked up for all in one go.
    neighbor_costs: Vec<NeighborCosts>,
}

impl Sources {
    pub fn begin_tick(&mut self) {
        self.fields_built = 0;
        self.neighbor_costs.clear();
    }

    /// Keeps the costs around a unit that is to be decided in this tick.
    pub fn note_neighbor_costs(&mut self, board: &mut Board, index: u32, costs: NeighborCosts) {
        let now = board.tick_stamp();
        let unit = &mut board.units[index];
        (unit.costs_tick, unit.costs_index) = (now, self.neighbor_costs.len() as u32);
        self.neighbor_costs.push(costs);
    }

    /// Returns the costs around a unit, if they were looked up in this tick.
    #[inline]
    pub fn neighbor_costs(&self, board: &Board, index: u32) -> Option<&NeighborCosts> {
        let unit = &board.units[index];
        let is_current =
            unit.costs_tick == board.tick_stamp() && unit.slot == NONE && unit.mode == Mode::Normal;
        is_current.then(|| self.neighbor_costs.get(unit.costs_index as usize))?
    }

    /// Returns what follows the path of a unit, if it has had a path or a slot.
    #[inline]
    pub fn follower(&self, index: u32) -> Option<&PathFollower> {
        self.followers.get(index as usize)
    }

    /// Notes how far a unit has to go along its own path. The noted value can only fall until the next
    /// order: if it rose when a unit was pushed back, two units could push each other to and fro for ever.
    pub fn note_way_left(&self, board: &mut Board, index: u32) {
        if let Some(follower) = self.follower(index) {
            let unit = &mut board.units[index];
            let left = follower.steps_left.clamp(1, MAX_WAY_LEFT.into()) as u16;
            unit.way_left = if unit.way_left == 0 { left } else { unit.way_left.min(left) };
        }
    }

    /// Updates how far a unit whose step has just begun is off the centers of its cells.
    pub fn note_step(&mut self, board: &mut Board, grid: &NavGrid, index: u32) {
        let now = board.tick_stamp();
        let unit = &mut board.units[index];
        let was_on_line = core::mem::take(&mut unit.is_on_line) && unit.standing_since == now;
        let follower = self.followers.get_mut(index as usize);
        if let Some(follower) = follower.filter(|_| was_on_line || unit.task == Task::Path) {
            let before = if was_on_line { follower.line_offsets[1] } else { (0, 0) };
            let layer = grid.layer(unit.profile).filter(|_| unit.task == Task::Path);
            let ahead = layer.map(|layer| follower.line_offset(layer, unit.head));
            follower.line_offsets = [before, ahead.unwrap_or_default()];
            unit.is_on_line = follower.line_offsets != [(0, 0); 2];
        }
    }

    /// Sets whether a unit follows its path at present; checks a path that edits may have cut in the meantime.
    pub fn set_active(&mut self, grid: &NavGrid, (index, unit): (u32, &Unit), is_active: bool) {
        let Some(follower) = self.followers.get_mut(index as usize) else {
            return;
        };
        let was_active = core::mem::replace(&mut follower.is_active, is_active);
        if is_active && !was_active {
            follower.find_unit(unit.tail);
        }
        if is_active
            && core::mem::take(&mut follower.is_unchecked)
            && let Some(layer) = grid.layer(unit.profile)
        {
            follower.check_path(layer);
        }
    }

    /// Updates what depends on edited terrain: the ways out of blocked areas and, for units with a path, its
    /// corners, its straight walks and the field around the unit.
    pub fn follow_edits(&mut self, board: &Board, grid: &NavGrid, edits: &[CellRect]) {
        let Self { blocked_areas, open_cells, .. } = self;
        let are_met = blocked_areas.iter_mut().filter(|area| area.meets(grid, edits));
        are_met.for_each(|area| area.fill(grid, open_cells));
        let mut near = Vec::new();
        for (follower, unit) in self.followers.iter_mut().zip(&board.units.0) {
            follower.forget_line();
            follower.is_unchecked |= !follower.is_active;
            if let Some(costs) = StepCosts::of(grid, unit.profile).filter(|_| unit.is_present()) {
                let around = |&rect: &CellRect| grid.anchors_over(unit.profile, rect).grown();
                near.clear();
                near.extend(edits.iter().map(around));
                follower.follow_edits(grid, &costs, (unit.tail, &near));
            }
        }
    }

    /// Releases the field of a unit that no longer needs it. Keeps no more memory for other units than may be
    /// needed in one tick.
    pub fn release_field(&mut self, index: u32) {
        let follower = self.followers.get_mut(index as usize);
        if let Some(field) = follower.and_then(|follower| follower.field.take())
            && self.spare_fields.len() < MAX_FIELDS_PER_TICK as usize
        {
            self.spare_fields.push(field);
        }
    }

    /// Returns the memory held, in bytes.
    pub fn bytes(&self) -> usize {
        let held = self.followers.capacity() * size_of::<PathFollower>()
            + self.neighbor_costs.capacity() * size_of::<NeighborCosts>()
            + bytes_of(&self.open_cells);
        let spare = self.spare_fields.iter().map(|field| field.bytes()).sum::<usize>();
        self.followers.iter().map(PathFollower::bytes).sum::<usize>() + held + spare
    }
}

/// Returns the cost of a straight step over the costliest terrain and edges.
pub fn costliest_step(layer: &Layer) -> u64 {
    u64::from(STRAIGHT) * u64::from(layer.highest_step_sum()) * u64::from(layer.unit())
}
