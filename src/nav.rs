//! The engine layer: grid, heap, search, path, walk.
//!
//! Nothing in this module depends on an ECS, a clock, a log, randomness or the order of a hash table, and no
//! float takes part in a decision: the same grid and the same queries give the same paths, costs and counters
//! on every machine, however the work is sliced. Everything can be used without an `App`.
//!
//! In the order of data flow: `map` ([`cell`], [`direction`], [`terrain`], [`topology`], [`layer`], [`grid`]) → [`goal`],
//! [`query`] → [`open_list`], `coarse` → [`search`], [`field`] → [`landmarks`], [`path`] → [`queue`] → [`walk`].
//! [`range`] finds all cells within a cost or within some turns, [`formation`] finds slots for groups, [`crowd`] moves many units without overlaps, [`line_of_sight`] and
//! [`string_pulling`] handle straight lines, [`moving_ai`] reads benchmark files, [`checksum`] computes
//! checksums of results.

pub mod checksum;
pub(crate) mod coarse;
pub mod crowd;
pub mod field;
pub mod formation;
pub mod goal;
pub mod landmarks;
mod map;
pub mod open_list;
pub mod path;
pub mod query;
pub mod queue;
pub mod range;
pub mod search;
#[cfg(feature = "serialize")]
pub(crate) mod serde_with;

#[cfg(feature = "serialize")]
pub(crate) use map::landmarks::shared as shared_tables;
pub(crate) use map::{bit_rows, clearance, edges, footprint, jump_map, moves, region, steps};
// The names that other rooms and many files of the engine use, as rooms of the plugin export theirs.
pub(crate) use self::{
    bit_rows::{BitRows, runs_of_ones},
    cell::{CHUNK, Cell, CellRect, Rect},
    checksum::Checksum,
    crowd::{
        Crowd, CrowdCounters, CrowdError, CrowdEvent, Guidance, Hindrance, RouteId, UnitId,
        UnitSettings,
    },
    direction::{Direction, OFFSETS, Pattern, directions, directions_of, pattern_bit},
    field::DistanceField,
    footprint::Footprint,
    formation::{Formation, FormationSpec, FormationUnit},
    goal::{Approach, Goal},
    grid::NavGrid,
    jump_map::{JumpMap, jump_terrain},
    jump_terrain::JumpTerrain,
    layer::Layer,
    moves::{MoveTable, NO_DIRECTION, cost_borders, dominated_steps},
    node_pool::{Node, NodePool},
    open_list::{BucketHeap, Key, NodeId, OpenList},
    path::{Leg, Path, PathCost, PathKind, legs_from_back},
    query::{Algorithm, GridId, PathFailure, PathQuery, Reach},
    queue::{
        Answer, FoundBy, GridSource, JobOptions, Priority, QueueSettings, RequestClass,
        SearchQueue, Ticket,
    },
    region::{Regions, chunks_in},
    search::{Search, SearchCounters},
    steps::{EnteredSteps, StepModel, UniformSteps, WeightedSteps},
    string_pulling::PathLines,
    terrain::{
        CornerRule, DIAGONAL, EdgeId, Neighborhood, Profile, ProfileId, STRAIGHT, TerrainId,
    },
    topology::{Adjacency, Topology},
    walk::{Walk, WalkEvent},
};
pub use map::{cell, direction, grid, layer, moving_ai, terrain, topology};
#[doc(no_inline)]
pub use path::{line_of_sight, string_pulling, walk};
#[doc(hidden)]
pub use search::node_pool;
