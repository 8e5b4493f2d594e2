//! Who takes part in a group order, and in which order places are given out.
//!
//! Input: the units and what they hold. Output: a [`Member`] for each unit that can take part, the
//! tribes they belong to, and the center of the group; the others get their failure. Members are sorted
//! by what they are and where they stand, so that nothing depends on the order of the input (except
//! among units that are alike in everything).

use std::{cmp::Reverse, collections::BTreeMap};

use super::{
    Formation, GroupOrder, GroupUnit,
    ground::{Center, Tribe},
};
use crate::nav::{
    cell::Cell,
    grid::NavGrid,
    query::PathFailure,
    terrain::{DIAGONAL, STRAIGHT},
};

/// A unit that takes part. Cells are counted from the grid's origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// Which of the caller's units it is.
    pub(super) index: usize,
    pub(super) cell: (u32, u32),
    /// The place it keeps if that is among the chosen ones.
    pub(super) held: Option<(u32, u32)>,
    pub(super) rank: i32,
    pub(super) size: u32,
    pub(super) tribe: usize,
    pub(super) place: Option<Place>,
}

/// Where a unit is to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) at: (u32, u32),
    /// How far it is from the front or the goal: units of different rank may change places only
    /// within a level.
    pub(super) level: u32,
}

/// All that take part.
#[derive(Debug)]
pub(super) struct Muster<'a> {
    pub(super) members: Vec<Member>,
    pub(super) tribes: Vec<Tribe<'a>>,
    pub(super) center: Center,
}

impl<'a> Muster<'a> {
    /// Calls up the units that can take part; `refuse` hears of the others.
    pub(super) fn call(
        grid: &'a NavGrid,
        (units, held): (&[GroupUnit], impl Fn(usize) -> Option<Cell>),
        goal: (u32, u32),
        mut refuse: impl FnMut(usize, PathFailure),
    ) -> Self {
        let mut numbers = BTreeMap::new();
        let (mut members, mut tribes) = (Vec::with_capacity(units.len()), Vec::new());
        for (index, unit) in units.iter().enumerate() {
            match tribe_of(grid, unit) {
                Err(failure) => refuse(index, failure),
                Ok((cell, found)) => {
                    let tribe =
                        *numbers.entry((found.profile, found.island)).or_insert_with(|| {
                            tribes.push(found);
                            tribes.len() - 1
                        });
                    let held = held(index).and_then(|cell| grid.local(cell));
                    let (rank, size) = (unit.rank, found.size);
                    members.push(Member { index, cell, held, rank, size, tribe, place: None });
                }
            }
        }
        let group = middle(&members).unwrap_or(goal);
        Self { members, tribes, center: Center { goal, group } }
    }

    /// Sorts members in the order in which places are given out: around a goal the big ones first,
    /// because they find room least easily; in a formation those of low rank. Where places run out,
    /// those far from the goal that hold none go without.
    pub(super) fn sort(&mut self, order: &GroupOrder) {
        let (goal, tribes) = (self.center.goal, &self.tribes);
        self.members.sort_by_cached_key(|member| {
            let size = Reverse(member.size);
            let first = if order.formation == Formation::Loose { Some(size) } else { None };
            let is_new = member.held.is_none();
            let profile = tribes[member.tribe].profile;
            let (x, y) = member.cell;
            let place = (travel(member.cell, goal), y, x, member.held, profile);
            (first, member.rank, size, is_new, place, member.index)
        });
    }
}

/// Where the unit stands and which tribe it belongs to.
fn tribe_of<'a>(
    grid: &'a NavGrid,
    unit: &GroupUnit,
) -> Result<((u32, u32), Tribe<'a>), PathFailure> {
    let layer = grid.layer(unit.profile).ok_or(PathFailure::UnknownProfile(unit.profile))?;
    let cell = grid.local(unit.cell).ok_or(PathFailure::StartOutOfBounds(unit.cell))?;
    let island = layer.island(cell.0, cell.1).ok_or(PathFailure::StartImpassable(unit.cell))?;
    let size = grid.unit_size(unit.profile);
    Ok((cell, Tribe { profile: unit.profile, layer, island, size }))
}

/// Mean of all cells; `None` where nobody takes part.
fn middle(members: &[Member]) -> Option<(u32, u32)> {
    let sum = members.iter().fold((0, 0), |sum, member| {
        (sum.0 + u64::from(member.cell.0), sum.1 + u64::from(member.cell.1))
    });
    let count = members.len() as u64;
    let mean = |sum: u64| (sum + count / 2).checked_div(count);
    Some((mean(sum.0)? as u32, mean(sum.1)? as u32))
}

/// Weight of the straight way between two cells, whatever lies between; a diagonal step as one.
pub(super) fn travel(a: (u32, u32), b: (u32, u32)) -> u32 {
    let (dx, dy) = (a.0.abs_diff(b.0), a.1.abs_diff(b.1));
    STRAIGHT * dx.max(dy) + (DIAGONAL - STRAIGHT) * dx.min(dy)
}
