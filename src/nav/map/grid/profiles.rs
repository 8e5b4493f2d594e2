//! The profiles of a grid, and a layer for each.
//!
//! Input: profiles. Output: layers, each built on first use, and kept as long as its profile stays the same.

use std::sync::OnceLock;

use super::{NavGrid, relief::Relief};
use crate::nav::{Footprint, Layer, Profile, ProfileId, layer::Source};

impl NavGrid {
    /// Sets the profiles; profile `i` gets `ProfileId(i)`. In an app, set the profiles of
    /// [`NavGrids`](crate::grids::NavGrids::set_profiles) instead: all its grids get them.
    #[must_use]
    pub fn with_profiles(mut self, profiles: Vec<Profile>) -> Self {
        self.set_profiles(profiles);
        self
    }

    /// Replaces all profiles. Layers and landmarks of profiles that stay the same are kept; other layers are rebuilt the next time
    /// they are needed. Profiles that are only added at the end change nothing for the others.
    pub fn set_profiles(&mut self, profiles: Vec<Profile>) {
        let before = core::mem::replace(&mut self.profiles, profiles);
        for (index, old) in before.iter().enumerate() {
            if self.profiles.get(index) != Some(old) {
                (self.layers[index], self.reliefs[index]) = (OnceLock::new(), Relief::new());
            }
        }
        self.layers.resize_with(self.profiles.len(), OnceLock::new);
        self.reliefs.resize_with(self.profiles.len(), Relief::new);
        if before.is_empty() || !self.profiles.starts_with(&before) {
            self.touch(self.rect());
            self.log.push_everything(self.revision, self.rect());
        } else {
            self.revision += 1;
        }
        self.profiles_revision = self.revision;
    }

    /// Returns the profiles, by number.
    #[must_use]
    pub fn profiles(&self) -> &[Profile] {
        &self.profiles
    }

    /// Returns how many cells a unit of `profile` has along a side; 1 for an unknown profile. For the cells that it covers see
    /// [`Profile::size`] and [`cells_of`](Self::cells_of).
    #[must_use]
    pub fn unit_size(&self, profile: ProfileId) -> u32 {
        let profile = self.profiles.get(usize::from(profile.0));
        profile.map_or(1, |profile| profile.unit_size().into())
    }

    /// Returns the cells that a unit of `profile` covers, relative to its anchor.
    pub(crate) fn footprint(&self, profile: ProfileId) -> Footprint {
        Footprint::new(self.topology, self.unit_size(profile))
    }

    /// Returns the grid as seen by `profile`, built on first use (up to 10 ns per cell); `None` for an
    /// unknown profile.
    #[must_use]
    pub fn layer(&self, profile: ProfileId) -> Option<&Layer> {
        let index = usize::from(profile.0);
        let profile = self.profiles.get(index)?;
        Some(self.layers[index].get_or_init(|| {
            let (terrain, edges) = (self.terrain.as_slice(), &self.edges);
            let is_blocked = |x, y| self.blockers.get(x, y) > 0;
            let source = Source { terrain, edges, is_blocked };
            Layer::build(self.width, self.height, (self.topology, profile), source)
        }))
    }

    /// Builds the layers of all profiles now, so that no request has to wait for one.
    pub fn build_layers(&self) {
        for index in 0..self.profiles.len().min(256) {
            let _built = self.layer(ProfileId(index as u8));
        }
    }

    /// Returns the revision at which the profiles were last replaced.
    pub(crate) const fn profiles_revision(&self) -> u64 {
        self.profiles_revision
    }
}
