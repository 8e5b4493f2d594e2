//! Slots of a group, and the costs of the paths to them where walls stand between.
//!
//! Input: a group, the terrain and the field to the goal. Output: the cells nearest to the goal, one for each
//! member; the window around them; and, where the window is not open terrain, the cost from each of its cells
//! to the nearest unassigned slot.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::nav::crowd::{
    chain::move_table,
    flood::OpenCells,
    group::{Group, GroupIndex},
    guidance::{Guidance, UNREACHABLE, World, route_cost},
    reservations::{GridPos, Reservations},
    step_costs::StepCosts,
    unit::{NONE, Order, State, Unit},
};
use crate::nav::{
    moves::MoveTable,
    terrain::{CornerRule, Neighborhood, ProfileId},
};

/// Fewest cells around the slots that belong to the window of a group. Large groups have more, so that
/// members take their slots before the lines in which they approach merge.
const MARGIN: u16 = 8;

/// Working memory for finding slots and the costs to them.
#[derive(Clone, Debug, Default)]
pub(in crate::nav::crowd) struct GroupScratch {
    open: BinaryHeap<Reverse<(u64, u32, u16, u16)>>,
    /// By cell, the pass in which it was last seen and last taken.
    seen: Vec<u32>,
    taken: Vec<u32>,
    pass: u32,
    found: Vec<GridPos>,
    /// The units the found slots are preassigned to, if they are.
    preassigned: Vec<u32>,
    /// Members and their slots before.
    previous: Vec<(u32, GridPos)>,
}

impl GroupScratch {
    /// Iterates over the members that had a slot before the last layout, with these slots.
    pub(in crate::nav::crowd) fn previous_slots(
        &self,
    ) -> impl Iterator<Item = (u32, GridPos)> + '_ {
        self.previous.iter().copied()
    }

    pub(in crate::nav::crowd) fn bytes(&self) -> usize {
        4 * (self.seen.capacity() + self.taken.capacity() + self.found.capacity())
            + 4 * self.preassigned.capacity()
            + 8 * self.previous.capacity()
            + 24 * self.open.capacity()
    }

    /// Finds as many free cells as there are members, nearest to the goal first.
    pub(in crate::nav::crowd) fn find_slots<G: Guidance + ?Sized>(
        &mut self,
        world: &World<'_, G>,
        (reservations, units): (&Reservations, &[Unit]),
        group: &Group,
        id: GroupIndex,
    ) {
        let profile = ProfileId(group.profile);
        self.found.clear();
        self.preassigned.clear();
        self.open.clear();
        self.pass += 1;
        self.seen.resize(reservations.len(), 0);
        self.taken.resize(reservations.len(), 0);
        self.visit(world, reservations, group, group.goal);
        while let Some(Reverse((_, index, x, y))) = self.open.pop() {
            let pos = GridPos { x, y };
            let is_free = reservations.block(pos, group.size).all(|cell| {
                self.taken[cell as usize] != self.pass
                    && !is_held_by_outsider(units, reservations.get(cell).owner, id)
            });
            if is_free {
                reservations
                    .block(pos, group.size)
                    .for_each(|cell| self.taken[cell as usize] = self.pass);
                self.found.push(pos);
                if self.found.len() >= group.members {
                    return;
                }
            }
            let Some(layer) = world.grid.layer(profile) else {
                return;
            };
            let table = MoveTable::of(CornerRule::Forbid, Neighborhood::Four);
            let directions = table.legal(layer.pattern(u32::from(x), u32::from(y)));
            for direction in [0, 2, 4, 6] {
                if directions & 1 << direction != 0
                    && self.seen[reservations.neighbor(index, direction) as usize] != self.pass
                {
                    self.visit(world, reservations, group, pos.step(direction));
                }
            }
        }
    }

    /// Uses the preassigned slots of the members, as far as units can stand there. If two slots overlap, the
    /// second is left out.
    pub(in crate::nav::crowd) fn use_preassigned_slots<G: ?Sized>(
        &mut self,
        world: &World<'_, G>,
        reservations: &Reservations,
        group: &Group,
        places: impl Iterator<Item = (u32, GridPos)>,
    ) {
        self.found.clear();
        self.preassigned.clear();
        self.pass += 1;
        self.taken.resize(reservations.len(), 0);
        let profile = ProfileId(group.profile);
        let is_passable = |pos: GridPos| world.grid.cost(profile, pos.cell(world.grid)) > 0;
        for (owner, pos) in places.filter(|&(_, pos)| is_passable(pos)) {
            let mut cells = reservations.block(pos, group.size);
            if cells.all(|cell| self.taken[cell as usize] != self.pass) {
                let cells = reservations.block(pos, group.size);
                cells.for_each(|cell| self.taken[cell as usize] = self.pass);
                self.found.push(pos);
                self.preassigned.push(owner);
            }
        }
    }

    fn visit<G: Guidance + ?Sized>(
        &mut self,
        world: &World<'_, G>,
        reservations: &Reservations,
        group: &Group,
        pos: GridPos,
    ) {
        let index = reservations.index(pos);
        self.seen[index as usize] = self.pass;
        let cost = group.route.map_or(UNREACHABLE, |route| route_cost(world, route, pos));
        if cost != UNREACHABLE {
            self.open.push(Reverse((cost, index, pos.x, pos.y)));
        }
    }

    /// Lays the window around the slots.
    pub(in crate::nav::crowd) fn lay_out_window<G: ?Sized>(
        &mut self,
        world: &World<'_, G>,
        group: &mut Group,
    ) {
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
        let (width, height) = (world.grid.width() as u16, world.grid.height() as u16);
        let (right, top) = ((high.x + margin + 1).min(width), (high.y + margin + 1).min(height));
        group.window.lay_out(origin, (right - origin.x, top - origin.y));
        group.slot_at.clear();
        group.slot_at.resize(group.window.cells(), NONE);
        group.slots.clear();
        group.slots.extend_from_slice(&self.found);
        group.assignees.clear();
        group.assignees.resize(self.found.len(), NONE);
        group.preassigned.clear();
        group.preassigned.extend_from_slice(&self.preassigned);
        for (number, &pos) in self.found.iter().enumerate() {
            if let Some(at) = group.window.index(pos) {
                group.slot_at[at] = number as u32;
            }
        }
        let layer = world.grid.layer(ProfileId(group.profile));
        let is_free =
            |x, y| layer.is_some_and(|layer| layer.is_passable(u32::from(x), u32::from(y)));
        group.is_open = (origin.y..top).all(|y| (origin.x..right).all(|x| is_free(x, y)));
    }
}

/// Fills a window that is not open with the costs to the unassigned slots.
pub(in crate::nav::crowd) fn fill_costs_to_slots<G: ?Sized>(
    world: &World<'_, G>,
    group: &mut Group,
    open: &mut OpenCells,
) {
    let profile = ProfileId(group.profile);
    let Some(layer) = world.grid.layer(profile).filter(|_| !group.is_open) else {
        return;
    };
    group.window.begin(open);
    for (&slot, &assignee) in group.slots.iter().zip(&group.assignees) {
        if assignee == NONE {
            group.window.improve(open, slot, 0);
        }
    }
    let costs = StepCosts::new(layer, world.grid.terrain_bytes());
    let table = move_table(world.grid, profile);
    group.window.spread(open, (&costs, table), |_| true, |_, _| false);
}

/// Returns whether a cell is held by a unit that is not a member and has nowhere to go.
fn is_held_by_outsider(units: &[Unit], owner: u32, id: GroupIndex) -> bool {
    owner != NONE && {
        let unit = &units[owner as usize];
        unit.order.group() != Some(id)
            && unit.state == State::Standing
            && (unit.order == Order::Idle || unit.has_arrived)
    }
}
