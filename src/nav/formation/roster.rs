//! The units that take part in a group order, in the order in which slots are given out.
//!
//! Input: the units and the slots they hold. Output: a [`RosterUnit`] for each unit that can take part, the
//! classes they belong to, and the center of the group; the others get their failure. Members are sorted by
//! their properties and cells, so that nothing depends on the order of the input (except among units that are
//! equal in everything).

use std::{cmp::Reverse, collections::BTreeMap};

use super::{
    Formation, FormationSpec, FormationUnit,
    nearest_cells::{Center, Slot, UnitClass},
};
use crate::nav::{Cell, NavGrid, PathFailure, Topology};

/// A unit that takes part. Cells are counted from the grid's origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct RosterUnit {
    /// Index of the unit in the caller's list.
    pub(super) index: usize,
    pub(super) cell: (u32, u32),
    /// The slot it keeps if that is among the chosen ones.
    pub(super) held: Option<(u32, u32)>,
    pub(super) rank: i32,
    pub(super) size: u32,
    pub(super) class: usize,
    pub(super) slot: Option<Slot>,
}

/// All units that take part.
#[derive(Debug)]
pub(super) struct Roster<'a> {
    pub(super) members: Vec<RosterUnit>,
    pub(super) classes: Vec<UnitClass<'a>>,
    pub(super) center: Center,
}

impl<'a> Roster<'a> {
    /// Collects the units that can take part; calls `reject` for the others.
    pub(super) fn new(
        grid: &'a NavGrid,
        (units, held): (&[FormationUnit], impl Fn(usize) -> Option<Cell>),
        goal: (u32, u32),
        mut reject: impl FnMut(usize, PathFailure),
    ) -> Self {
        let mut numbers = BTreeMap::new();
        let (mut members, mut classes) = (Vec::with_capacity(units.len()), Vec::new());
        for (index, unit) in units.iter().enumerate() {
            match class_of(grid, unit) {
                Err(failure) => reject(index, failure),
                Ok((cell, found)) => {
                    let next = classes.len();
                    let class = *numbers.entry((found.profile, found.region)).or_insert(next);
                    classes.extend((class == next).then_some(found));
                    let held = held(index).and_then(|cell| grid.local(cell));
                    let (rank, size) = (unit.rank, grid.unit_size(unit.profile));
                    members.push(RosterUnit { index, cell, held, rank, size, class, slot: None });
                }
            }
        }
        let group = mean_cell(&members).unwrap_or(goal);
        Self { members, classes, center: Center { goal, group } }
    }

    /// Sorts members in the order in which slots are given out: in a loose group the largest first, because
    /// they find room least easily; in a formation those of low rank. If slots run out, units that are far
    /// from the goal and hold none get none.
    pub(super) fn sort(&mut self, topology: Topology, order: &FormationSpec) {
        let (goal, classes) = (self.center.goal, &self.classes);
        self.members.sort_by_cached_key(|member| {
            let size = Reverse(member.size);
            let first = if order.formation == Formation::Loose { Some(size) } else { None };
            let is_new = member.held.is_none();
            let profile = classes[member.class].profile;
            let (x, y) = member.cell;
            let away = open_distance(topology, member.cell, goal);
            let position = (away, y, x, member.held, profile);
            (first, member.rank, size, is_new, position, member.index)
        });
    }
}

/// Returns the cell and the class of a unit.
fn class_of<'a>(
    grid: &'a NavGrid,
    unit: &FormationUnit,
) -> Result<((u32, u32), UnitClass<'a>), PathFailure> {
    let layer = grid.layer(unit.profile).ok_or(PathFailure::UnknownProfile(unit.profile))?;
    let cell = grid.local(unit.cell).ok_or(PathFailure::StartOutOfBounds(unit.cell))?;
    let region = layer.region(cell.0, cell.1).ok_or(PathFailure::StartImpassable(unit.cell))?;
    let footprint = grid.footprint(unit.profile);
    Ok((cell, UnitClass { profile: unit.profile, layer, region, footprint }))
}

/// Returns the mean of all cells; `None` without members.
fn mean_cell(members: &[RosterUnit]) -> Option<(u32, u32)> {
    let sum = members.iter().fold((0, 0), |sum, member| {
        (sum.0 + u64::from(member.cell.0), sum.1 + u64::from(member.cell.1))
    });
    let count = members.len() as u64;
    let mean = |sum: u64| (sum + count / 2).checked_div(count);
    Some((mean(sum.0)? as u32, mean(sum.1)? as u32))
}

/// Returns the weight of the shortest path between two cells on open terrain, with all neighbors that cells of this shape have.
pub(super) const fn open_distance(topology: Topology, a: (u32, u32), b: (u32, u32)) -> u32 {
    let (dx, dy) = (b.0.wrapping_sub(a.0) as i32, b.1.wrapping_sub(a.1) as i32);
    topology.widest().distance(dx, dy)
}
