//! What a search counts.

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

/// The work a search has done so far. The same for the same grid, landmarks and query, however the search was sliced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub struct SearchCounters {
    /// Nodes taken from the open list and expanded.
    pub expansions: u64,
    /// Nodes put on the open list.
    pub generated: u64,
    /// Open nodes to which a cheaper path was found.
    pub improved: u64,
    /// Most entries the open list held.
    pub peak_open: usize,
    /// Portals between chunks expanded; 0 unless the search was hierarchical.
    pub portals: u64,
}
