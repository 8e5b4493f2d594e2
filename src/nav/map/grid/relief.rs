//! The terrain of a grid without its blockers, and the landmark tables that follow from it.
//!
//! Input: changes of terrain. Output: tables that stay correct: one is dropped where terrain becomes cheaper for its
//! profile.

use std::sync::{Arc, OnceLock};

use super::{NavGrid, blockers::Blockers};
use crate::nav::{Layer, ProfileId, TerrainId, map::landmarks::LandmarkTable};

/// What a grid keeps of the landmarks of a profile.
#[derive(Clone, Debug, Default)]
pub(super) struct Relief {
    table: Option<Arc<LandmarkTable>>,
    /// The revision of the grid when terrain last became cheaper.
    cheapened_at: u64,
}

impl NavGrid {
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

    /// Returns the revision at which terrain last became cheaper for a profile.
    pub(in crate::nav) fn cheapened_at(&self, profile: ProfileId) -> u64 {
        self.reliefs.get(usize::from(profile.0)).map_or(0, |relief| relief.cheapened_at)
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
        let relief = Relief { table: None, cheapened_at: self.revision };
        self.reliefs.clear();
        self.reliefs.resize(self.profiles.len(), relief);
    }

    /// Drops the tables of all profiles for which a change of terrain makes a cell cheaper or passable.
    pub(super) fn note_terrain(&mut self, before: TerrainId, after: TerrainId) {
        let next = self.revision + 1;
        for (relief, profile) in self.reliefs.iter_mut().zip(&self.profiles) {
            let (old, new) = (profile.cost(before), profile.cost(after));
            if new > 0 && (old == 0 || new < old) {
                *relief = Relief { table: None, cheapened_at: next };
            }
        }
    }
}
