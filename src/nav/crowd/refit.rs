//! Units whose profile means another size than before: they take up the room that they need now.
//!
//! Input: a unit of another size than its profile has. Output: the unit on the nearest place with room for it.
//! Until there is one it stays as it was, cannot move, and cannot be pushed
//! ([`Hindrance::NoRoom`](super::Hindrance::NoRoom)).

use super::{Crowd, CrowdError, RETRY, board::Place, orders::LARGEST_IN_CROWD, unit::Unit};
use crate::nav::{
    grid::NavGrid,
    terrain::{Profile, ProfileId},
};

/// Farthest from its place that a unit is put which has grown, in columns and rows.
const NEAR: u32 = 16;

impl Crowd {
    /// Finds the units whose profile has another size than it had in the tick before, and puts all misfits
    /// where they fit, as far as there is room.
    pub(super) fn refit_units(&mut self, grid: &NavGrid) {
        let sizes = grid.profiles().iter().map(Profile::unit_size);
        if !sizes.clone().eq(self.sizes.iter().copied()) {
            self.sizes.clear();
            self.sizes.extend(sizes);
            for index in 0..self.units.len() as u32 {
                let Unit { profile, size, .. } = self.units[index as usize];
                let is_known = check_profile(grid, ProfileId(profile)).is_ok();
                let is_there = self.units[index as usize].is_there();
                if is_there && is_known && u32::from(size) != grid.unit_size(ProfileId(profile)) {
                    self.note_misfit(grid, index);
                }
            }
        }
        if self.misfits.is_empty() {
            return;
        }
        let mut misfits = core::mem::take(&mut self.misfits);
        misfits.retain(|&index| {
            let is_due = (self.now + u64::from(index)).is_multiple_of(RETRY);
            self.units[index as usize].is_misfit && !(is_due && self.refit(grid, index))
        });
        self.misfits = misfits;
    }

    /// A unit cannot be what it is where it is: it is put elsewhere, now or later.
    fn note_misfit(&mut self, grid: &NavGrid, index: u32) {
        let unit = &mut self.units[index as usize];
        if !core::mem::replace(&mut unit.is_misfit, true) && !self.refit(grid, index) {
            self.misfits.push(index);
        }
    }

    /// Puts a unit where it fits; says whether there is such a place.
    fn refit(&mut self, grid: &NavGrid, index: u32) -> bool {
        let Unit { tail, head, profile, .. } = self.units[index as usize];
        let profile = ProfileId(profile);
        if check_profile(grid, profile).is_err() {
            return false;
        }
        let size = grid.unit_size(profile) as u8;
        let found = self.nearest_room(grid, (head.cell(grid), profile), Some(self.id(index)), NEAR);
        let unit = &self.units[index as usize];
        // Where nothing else is free, a standing unit can always do with less of its own room.
        let shrinks = size <= unit.size && !unit.is_moving();
        let found = found.and_then(|cell| Place::of(grid, cell)).or(shrinks.then_some(tail));
        if let Some(place) = found {
            self.put_on(index, place, size);
            self.moved.push(index);
        }
        found.is_some()
    }
}

/// Whether units of a profile can be part of a crowd on this grid.
pub(super) fn check_profile(grid: &NavGrid, profile: ProfileId) -> Result<(), CrowdError> {
    let is_known = usize::from(profile.0) < grid.profiles().len();
    let fits = is_known && grid.unit_size(profile) <= LARGEST_IN_CROWD;
    if fits { Ok(()) } else { Err(CrowdError::Profile) }
}
