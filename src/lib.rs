//! Grid pathfinding and moving critters for Bevy tile maps.

pub mod blocker;
pub mod coordinates;
#[cfg(feature = "debug_draw")]
pub mod debug_draw;
pub mod diagnostics;
pub mod grids;
pub mod movement;
pub mod nav;
pub mod request;
pub mod schedule;
pub mod scheduler;
pub mod state_checksum;
#[cfg(feature = "tilemap")]
pub mod tilemap;

/// Everything a game needs by name.
pub mod prelude {
    #[cfg(feature = "debug_draw")]
    pub use crate::debug_draw::{TilePathDebug, TilePathDebugPlugin, TilePathGizmos};
    #[cfg(feature = "tilemap")]
    pub use crate::tilemap::{
        NavSource, SourceError, SourceStatus, TerrainFn, TerrainRule, TileTerrain, TileView,
    };
    pub use crate::{
        blocker::NavBlocker,
        coordinates::GridFrame,
        diagnostics::TilePathDiagnosticsPlugin,
        grids::NavGrids,
        movement::{Critter, CritterState, Facing},
        nav::{
            cell::{Cell, CellRect},
            direction::Direction,
            grid::{GridEdit, GridError, NavGrid},
            path::{Leg, Path, PathCost, PathKind},
            query::{Algorithm, GridId, PathFailure, PathQuery, Reach},
            queue::{Priority, QueueSettings},
            terrain::{CornerRule, Neighborhood, PLAIN, Profile, ProfileId, TerrainId},
        },
        request::{
            ActiveOrder, Arrived, NavPath, PathFailed, PathFound, PathRequest, PathStatus, Target,
        },
        schedule::{TilePathPlugin, TilePathSystems},
        scheduler::{PathCounters, Pathfinder, TilePathSettings},
        state_checksum::state_checksum,
    };
}
