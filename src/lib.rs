//! Grid pathfinding for Bevy.
pub mod nav;

/// Everything a game needs by name.
pub mod prelude {
    pub use crate::nav::{
        cell::{Cell, CellRect},
        direction::Direction,
        grid::{GridEdit, GridError, NavGrid},
        path::{Leg, Path, PathCost, PathKind},
        query::{Algorithm, GridId, PathFailure, Query, Reach},
        queue::Priority,
        terrain::{CornerRule, Neighborhood, PLAIN, Profile, ProfileId, TerrainId},
    };
}
