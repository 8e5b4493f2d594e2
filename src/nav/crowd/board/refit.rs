//! Units whose profile has changed its size are placed where they fit.
//!
//! Input: a unit whose size differs from that of its profile. Output: the unit on the nearest position with
//! room for it. Until there is one the unit stays as it was, cannot move, and cannot be pushed
//! ([`Hindrance::NoRoom`](super::hindrance::Hindrance::NoRoom)).

use super::{Board, CrowdError, GridPos, MAX_UNIT_SIZE, RETRY_AFTER, Unit};
use crate::nav::{NavGrid, Profile, ProfileId};

/// Maximum distance, in columns and rows, at which a resized unit is put from its position.
const MAX_DISTANCE: u32 = 16;

impl Board {
    /// Finds the units whose profile has another size than in the previous tick, and puts all units that wait
    /// for room where they fit, as far as there is room.
    pub fn refit_units(&mut self, grid: &NavGrid) {
        let sizes = grid.profiles().iter().map(Profile::unit_size);
        if !sizes.clone().eq(self.unit_sizes.iter().copied()) {
            self.unit_sizes.clear();
            self.unit_sizes.extend(sizes);
            for index in 0..self.units.0.len() as u32 {
                let unit = &mut self.units[index];
                let is_known = check_profile(grid, unit.profile).is_ok();
                let has_changed = u32::from(unit.size) != grid.unit_size(unit.profile);
                if unit.is_present()
                    && (is_known && has_changed)
                    && !core::mem::replace(&mut unit.needs_refit, true)
                    && !self.refit(grid, index)
                {
                    self.pending_refits.push(index);
                }
            }
        }
        if self.pending_refits.is_empty() {
            return;
        }
        let mut pending = core::mem::take(&mut self.pending_refits);
        pending.retain(|&index| {
            let is_due = (self.now + u64::from(index)).is_multiple_of(RETRY_AFTER);
            self.units[index].needs_refit && !(is_due && self.refit(grid, index))
        });
        self.pending_refits = pending;
    }

    /// Puts a unit where it fits; returns whether there is such a position.
    fn refit(&mut self, grid: &NavGrid, index: u32) -> bool {
        let Unit { tail, head, profile, .. } = self.units[index];
        if check_profile(grid, profile).is_err() {
            return false;
        }
        let size = grid.unit_size(profile) as u8;
        let target = (head.cell(grid), profile);
        let found = self.nearest_free_cell(grid, target, Some(self.id(index)), MAX_DISTANCE);
        let unit = &self.units[index];
        // If no other cell is free, a standing unit that shrinks still fits where it is.
        let shrinks = size <= unit.size && !unit.is_moving();
        let found = found.and_then(|cell| GridPos::of(grid, cell)).or(shrinks.then_some(tail));
        if let Some(pos) = found {
            self.put_at(index, pos, size);
            self.moved.push(index);
        }
        found.is_some()
    }
}

/// Checks that units of a profile can be part of a crowd on this grid.
pub fn check_profile(grid: &NavGrid, profile: ProfileId) -> Result<(), CrowdError> {
    let is_known = usize::from(profile.0) < grid.profiles().len();
    let fits = is_known && grid.unit_size(profile) <= MAX_UNIT_SIZE;
    if fits { Ok(()) } else { Err(CrowdError::Profile) }
}
