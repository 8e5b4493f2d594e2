//! Which places a group gets.
//!
//! Input: the members in the order in which they choose, the ground of each tribe, and, for a
//! formation, a slot for each. Output: a place for each member, as long as there are any: on the
//! member's own island, its block and the free cells around it touching nobody else's.

use super::{
    ground::{Ground, Tribe},
    layout::Slot,
    marks::{Marks, Span},
    muster::{Member, Place, travel},
};

/// The ground of a group and what is taken of it.
#[derive(Debug)]
pub(super) struct Field<'a> {
    tribes: &'a [Tribe<'a>],
    grounds: Vec<Ground<'a>>,
    /// Cells of places given out, with the free cells around them.
    taken: Marks,
    spacing: u32,
    size: (u32, u32),
    goal: (u32, u32),
}

impl<'a> Field<'a> {
    /// The field of these tribes on a grid of so many columns and rows.
    pub(super) fn new(
        (tribes, grounds): (&'a [Tribe<'a>], Vec<Ground<'a>>),
        (size, goal): ((u32, u32), (u32, u32)),
        spacing: u32,
    ) -> Self {
        Self { tribes, grounds, taken: Marks::new(size), spacing, size, goal }
    }

    /// Gives each member the nearest place that is left.
    pub(super) fn gather(&mut self, members: &mut [Member]) {
        members.iter_mut().for_each(|member| self.settle(member, None));
    }

    /// Gives each member its slot, or the nearest place that is left around it.
    pub(super) fn form(&mut self, members: &mut [Member], slots: &[Slot], pitch: u32) {
        let wanted: Vec<(i64, i64)> = slots.iter().map(|slot| self.cell_of(slot, pitch)).collect();
        self.survey(members, &wanted);
        for ((member, slot), &wanted) in members.iter_mut().zip(slots).zip(&wanted) {
            if let Some(at) = self.free_place(member, wanted) {
                self.take(member, Place { at, level: slot.row });
            }
        }
        let around = around(4 + pitch as i64);
        for ((member, slot), &(x, y)) in members.iter_mut().zip(slots).zip(&wanted) {
            if member.place.is_some() {
                continue;
            }
            let mut beside = around.iter().map(|(dx, dy)| (x + dx, y + dy));
            match beside.find_map(|wanted| self.free_place(member, wanted)) {
                Some(at) => self.take(member, Place { at, level: slot.row }),
                None => self.settle(member, Some(slot.row)),
            }
        }
    }

    /// Gives the member the place nearest to the goal that is left, if any.
    fn settle(&mut self, member: &mut Member, level: Option<u32>) {
        if let Some(found) = self.grounds[member.tribe].take_nearest(&self.taken) {
            let level = level.unwrap_or(found.distance);
            self.take(member, Place { at: found.at, level });
        }
    }

    fn take(&mut self, member: &mut Member, place: Place) {
        self.taken.mark_all(Span::square(place.at, member.size).grown(self.spacing));
        member.place = Some(place);
    }

    /// The cell, if it is a place for the member and free.
    fn free_place(&self, member: &Member, (x, y): (i64, i64)) -> Option<(u32, u32)> {
        let at = (u32::try_from(x).ok()?, u32::try_from(y).ok()?);
        let is_free = self.grounds[member.tribe].is_near(at)
            && !self.taken.has_any(Span::square(at, member.size));
        is_free.then_some(at)
    }

    /// Looks at the ground around the slots, tribe by tribe.
    fn survey(&mut self, members: &[Member], wanted: &[(i64, i64)]) {
        let mut cells = vec![Vec::new(); self.tribes.len()];
        for (member, &(x, y)) in members.iter().zip(wanted) {
            let on_grid = |at: i64, side: u32| at.clamp(0, i64::from(side) - 1) as u32;
            cells[member.tribe].push((on_grid(x, self.size.0), on_grid(y, self.size.1)));
        }
        for (ground, cells) in self.grounds.iter_mut().zip(cells) {
            ground.survey(cells.into_iter());
        }
    }

    fn cell_of(&self, slot: &Slot, pitch: u32) -> (i64, i64) {
        let cell = |goal: u32, points: i32| i64::from(goal) + i64::from(points) * i64::from(pitch);
        (cell(self.goal.0, slot.x), cell(self.goal.1, slot.y))
    }
}

/// Offsets of up to `radius` columns and rows, nearest first.
fn around(radius: i64) -> Vec<(i64, i64)> {
    let line = -radius..=radius;
    let mut offsets: Vec<(i64, i64)> =
        line.clone().flat_map(|dy| line.clone().map(move |dx| (dx, dy))).collect();
    offsets.sort_unstable_by_key(|&(dx, dy)| {
        let length = travel((0, 0), (dx.unsigned_abs() as u32, dy.unsigned_abs() as u32));
        (length, dy, dx)
    });
    offsets
}
