//! Selects the slots of a group.
//!
//! Input: the members in the order in which slots are given out, the nearest cells of each class, and, for a
//! formation, a lattice slot for each member. Output: a slot for each member, as long as there are any: in
//! the member's own connected region; its block and the free cells around it do not overlap other blocks.

use std::collections::{BTreeMap, VecDeque};

use super::{
    layout::LatticeSlot,
    nearest_cells::{NearestCells, Slot, UnitClass},
    roster::RosterUnit,
};
use crate::nav::{Direction, Topology, bit_rows::BitRows};

/// The candidate cells of a group, and the cells that are taken.
#[derive(Debug)]
pub(super) struct SlotSelection<'a> {
    pub(super) topology: Topology,
    pub(super) classes: &'a [UnitClass<'a>],
    pub(super) nearest_cells: Vec<NearestCells<'a>>,
    /// Cells of slots given out, with the free cells around them.
    pub(super) taken: BitRows,
    pub(super) spacing: u32,
    /// Of the grid.
    pub(super) size: (u32, u32),
    pub(super) goal: (u32, u32),
}

impl SlotSelection<'_> {
    /// Gives each member its slot in the formation, or the nearest one that is left around it.
    pub(super) fn assign_formation(
        &mut self,
        members: &mut [RosterUnit],
        slots: &[LatticeSlot],
        (pitch, facing): (u32, Direction),
    ) {
        let wanted: Vec<(i64, i64)> = slots.iter().map(|slot| self.cell_of(slot, pitch)).collect();
        self.survey(members, &wanted);
        for ((member, slot), &wanted) in members.iter_mut().zip(slots).zip(&wanted) {
            if let Some(cell) = self.free_slot(member, wanted) {
                self.give_slot(member, Slot { cell, level: slot.row });
            }
        }
        if members.iter().all(|member| member.slot.is_some()) {
            return;
        }
        let around = around(self.topology, 4 + pitch as i32);
        for ((member, slot), &(x, y)) in members.iter_mut().zip(slots).zip(&wanted) {
            if member.slot.is_some() {
                continue;
            }
            let at = |&(dx, dy): &(i32, i32)| (x + i64::from(dx), y + i64::from(dy));
            let mut candidates = around.iter().map(at);
            match candidates.find_map(|wanted| self.free_slot(member, wanted)) {
                Some(cell) => self.give_slot(member, Slot { cell, level: slot.row }),
                None => self.assign_nearest(member, Some(slot.row)),
            }
        }
        self.sort_rows(facing, members);
    }

    /// Walls stand on a part of the formation, and its members stand elsewhere: gives out the slots again, row by row from the
    /// front, to the members in their order, so that low ranks still stand in front, and are the last to go without a slot.
    fn sort_rows(&self, facing: Direction, members: &mut [RosterUnit]) {
        let (dx, dy) = facing.offset();
        let row = |slot: &Slot| {
            let at = (i64::from(slot.cell.0), i64::from(slot.cell.1));
            -self.topology.scalar_product(at, (i64::from(dx), i64::from(dy)))
        };
        // Members of one size exchange slots that both can reach; where that would leave one without, only those of one class.
        let slots = self
            .rows(members, row, |member| member.size as usize)
            .or_else(|| self.rows(members, row, |member| member.class))
            .unwrap_or_default();
        let front = slots.iter().flatten().map(row).min().unwrap_or(0);
        for (member, slot) in members.iter_mut().zip(slots) {
            member.slot = slot.map(|slot| Slot { level: (row(&slot) - front) as u32, ..slot });
        }
    }

    /// Returns a slot for each member: the foremost that is left of those of its kind, and that it can reach. `None` if slots are
    /// left over that no member can reach.
    fn rows(
        &self,
        members: &[RosterUnit],
        row: impl Fn(&Slot) -> i64,
        kind: impl Fn(&RosterUnit) -> usize,
    ) -> Option<Vec<Option<Slot>>> {
        let mut slots: BTreeMap<usize, VecDeque<Slot>> = BTreeMap::new();
        for member in members {
            slots.entry(kind(member)).or_default().extend(member.slot);
        }
        slots.values_mut().for_each(|slots| slots.make_contiguous().sort_by_key(&row));
        let foremost = |member: &RosterUnit| {
            let slots = slots.get_mut(&kind(member))?;
            let class = &self.classes[member.class];
            let index = slots.iter().position(|&Slot { cell: (x, y), .. }| class.can_use(x, y))?;
            slots.remove(index)
        };
        let given = members.iter().map(foremost).collect();
        slots.values().all(VecDeque::is_empty).then_some(given)
    }

    /// Gives the member the slot nearest to the goal that is left, if any.
    pub(super) fn assign_nearest(&mut self, member: &mut RosterUnit, level: Option<u32>) {
        if let Some(found) = self.nearest_cells[member.class].take_nearest(&self.taken) {
            self.give_slot(member, Slot { level: level.unwrap_or(found.level), ..found });
        }
    }

    fn give_slot(&mut self, member: &mut RosterUnit, slot: Slot) {
        let (x, y) = (slot.cell.0 as i32, slot.cell.1 as i32);
        let (around, before) = self.classes[member.class].footprint.spaced(self.spacing);
        self.taken.cover(around, (x - before, y - before), self.size);
        member.slot = Some(slot);
    }

    /// Returns the cell if it is a possible slot for the member and free.
    fn free_slot(&self, member: &RosterUnit, (x, y): (i64, i64)) -> Option<(u32, u32)> {
        let cell = (u32::try_from(x).ok()?, u32::try_from(y).ok()?);
        let is_free = self.nearest_cells[member.class].is_directly_reachable(cell)
            && !self.taken.meets(self.classes[member.class].footprint, cell);
        is_free.then_some(cell)
    }

    /// Surveys the cells around the slots, class by class.
    fn survey(&mut self, members: &[RosterUnit], wanted: &[(i64, i64)]) {
        let mut cells = vec![Vec::new(); self.classes.len()];
        for (member, &(x, y)) in members.iter().zip(wanted) {
            let on_grid = |at: i64, side: u32| at.clamp(0, i64::from(side) - 1) as u32;
            cells[member.class].push((on_grid(x, self.size.0), on_grid(y, self.size.1)));
        }
        for (nearest, cells) in self.nearest_cells.iter_mut().zip(cells) {
            nearest.survey(cells.into_iter());
        }
    }

    fn cell_of(&self, slot: &LatticeSlot, pitch: u32) -> (i64, i64) {
        let cell = |goal: u32, points: i32| i64::from(goal) + i64::from(points) * i64::from(pitch);
        (cell(self.goal.0, slot.x), cell(self.goal.1, slot.y))
    }
}

/// Returns the offsets of up to `radius` columns and rows, nearest first.
fn around(topology: Topology, radius: i32) -> Vec<(i32, i32)> {
    let line = -radius..=radius;
    let mut offsets: Vec<(i32, i32)> =
        line.clone().flat_map(|dy| line.clone().map(move |dx| (dx, dy))).collect();
    offsets.sort_unstable_by_key(|&(dx, dy)| (topology.widest().distance(dx, dy), dy, dx));
    offsets
}
