//! The terrain of a grid without its blockers, and the landmark tables that follow from it.
//!
//! Input: changes of terrain. Output: tables that stay correct: one is dropped where terrain becomes cheaper for its
//! profile.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

use super::{NavGrid, blockers::Blockers};
use crate::nav::{Layer, ProfileId, TerrainId, map::landmarks::LandmarkTable};

/// What a grid keeps of the landmarks of a profile.
#[derive(Debug, Default)]
pub(super) struct Relief {
    table: Option<Arc<LandmarkTable>>,
    /// Whether they were asked for.
    is_wanted: AtomicBool,
    /// A number that no other state of any terrain has; another one since terrain last became cheaper.
    relief: u64,
}

/// Returns a number that is never returned again. Numbers are compared for equality only, so that nothing depends on
/// their order.
fn next_number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Relaxed) + 1
}

impl Clone for Relief {
    /// The copy keeps the table but has another number: walls may go up on one of the two grids, and a table that is being
    /// filled for it would be wrong for the other one.
    fn clone(&self) -> Self {
        let is_wanted = AtomicBool::new(self.is_wanted.load(Relaxed));
        Self { table: self.table.clone(), is_wanted, relief: next_number() }
    }
}

impl NavGrid {
    /// Asks for landmarks for the units of a profile. A [queue](crate::nav::queue) does that for each of its jobs, so
    /// there are none for profiles that no unit has.
    pub fn want_landmarks(&self, profile: ProfileId) {
        if let Some(relief) = self.reliefs.get(usize::from(profile.0)) {
            relief.is_wanted.store(true, Relaxed);
        }
    }

    /// Returns whether landmarks are wanted for a profile, and are not there yet.
    pub(in crate::nav) fn lacks_landmarks(&self, profile: ProfileId) -> bool {
        let relief = self.reliefs.get(usize::from(profile.0));
        relief.is_some_and(|relief| relief.is_wanted.load(Relaxed) && relief.table.is_none())
    }

    /// Returns the landmark table of a profile, if it is ready.
    pub(in crate::nav) fn landmarks(&self, profile: ProfileId) -> Option<&Arc<LandmarkTable>> {
        self.reliefs.get(usize::from(profile.0))?.table.as_ref()
    }

    pub(in crate::nav) fn set_landmarks(
        &mut self,
        profile: ProfileId,
        table: Option<Arc<LandmarkTable>>,
    ) {
        if let Some(relief) = self.reliefs.get_mut(usize::from(profile.0)) {
            relief.table = table;
        }
    }

    /// Drops all landmark tables; they are filled again.
    pub(crate) fn drop_landmarks(&mut self) {
        self.reliefs.iter_mut().for_each(|relief| relief.table = None);
    }

    /// Returns a number that changes when terrain becomes cheaper for a profile, and that no other grid has had.
    pub(in crate::nav) fn relief_number(&self, profile: ProfileId) -> u64 {
        self.reliefs.get(usize::from(profile.0)).map_or(0, |relief| relief.relief)
    }

    /// Returns the memory of all landmark tables, in bytes.
    #[must_use]
    pub fn landmark_bytes(&self) -> usize {
        self.reliefs.iter().filter_map(|relief| relief.table.as_ref()).map(|it| it.bytes()).sum()
    }

    /// Returns the layer of a profile if it has been built.
    pub(in crate::nav) fn built_layer(&self, profile: ProfileId) -> Option<&Layer> {
        self.layers.get(usize::from(profile.0))?.get()
    }

    /// Returns a copy without blockers and with one profile; `None` for an unknown profile.
    pub(in crate::nav) fn without_blockers(&self, profile: ProfileId) -> Option<Self> {
        let rules = self.profiles.get(usize::from(profile.0))?;
        // The layer is the same where nothing is blocked.
        let layer = self.built_layer(profile).filter(|_| self.blockers.is_empty()).cloned();
        Some(Self {
            terrain: self.terrain.clone(),
            blockers: Blockers::new(self.width, self.height),
            profiles: vec![rules.clone()],
            layers: vec![layer.map_or_else(OnceLock::new, OnceLock::from)],
            reliefs: vec![Relief::default()],
            chunk_revisions: Vec::new(),
            log: Vec::new(),
            ..*self
        })
    }

    /// Resets all tables: the profiles are others, or the grid replaces another one.
    pub(super) fn reset_reliefs(&mut self) {
        let relief = || Relief { relief: next_number(), ..Relief::default() };
        self.reliefs.clear();
        self.reliefs.resize_with(self.profiles.len(), relief);
    }

    /// Drops the tables of all profiles for which a change of terrain makes a cell cheaper or passable.
    pub(super) fn note_terrain(&mut self, before: TerrainId, after: TerrainId) {
        for (relief, profile) in self.reliefs.iter_mut().zip(&self.profiles) {
            let (old, new) = (profile.cost(before), profile.cost(after));
            if new > 0 && (old == 0 || new < old) {
                (relief.table, relief.relief) = (None, next_number());
            }
        }
    }
}
