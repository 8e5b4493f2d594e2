//! Pathfinding and crowds on Bevy's tile maps: A\*, JPS, HPA\* and flow fields, groups and formations.
//!
//! ```text
//!  tiles ──▶ NavGrid ──▶ PathRequest ──▶ SearchQueue ──▶ Search ──▶ Path ──▶ Critter ──▶ Transform
//!  tilemap   grids       request         scheduler       nav::      nav::    crowds,     movement
//!  blocker   nav::grid   orders, group   nav::queue      search     path     movement
//! ```
//!
//! Add [`TilePathPlugin`](prelude::TilePathPlugin), put a `NavSource` on a tilemap (or insert a
//! [`NavGrid`](prelude::NavGrid) into [`NavGrids`](prelude::NavGrids) by hand), and give units a
//! [`PathRequest`](prelude::PathRequest):
//!
//! ```
//! use bevy::{prelude::*, time::TimeUpdateStrategy};
//! use bevy_tilepath::prelude::*;
//!
//! let mut app = App::new();
//! app.add_plugins((MinimalPlugins, TilePathPlugin::default()))
//!     .insert_resource(TimeUpdateStrategy::FixedTimesteps(1)); // a tick per update
//! let mut level = NavGrid::new(64, 64, TerrainId::GROUND)?;
//! level.block(CellRect::new(Cell::new(20, 0), 1, 60))?;
//! let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(16.0));
//! app.world_mut().resource_mut::<NavGrids>().insert(GridId::default(), level, frame);
//!
//! let unit = app
//!     .world_mut()
//!     .spawn((Critter::new(8.0), Transform::default(), PathRequest::to(Cell::new(40, 5))))
//!     .id();
//! for _ in 0..1_500 {
//!     app.update();
//! }
//! let cell = app.world().get::<CritterState>(unit).map(CritterState::cell);
//! assert_eq!(cell, Some(Cell::new(40, 5)));
//! # Ok::<(), GridError>(())
//! ```
//!
//! # What is promised
//! - **Optimal paths.** A path has the cost that Dijkstra's algorithm would find, on uniform and on weighted
//!   terrain, under every corner rule, with four neighbors and eight. The exceptions are paths to goals more
//!   than [`HIERARCHY_MIN_DISTANCE`](nav::search::HIERARCHY_MIN_DISTANCE) cells away, unless
//!   [`Algorithm::Exact`](prelude::Algorithm) is requested or an exact search is as quick: they may cost
//!   more, and their first segment is available immediately. There is no proven bound on how much more. On
//!   fifteen worlds of 4096 × 4096 cells, real maps and towns, it was 0 to 0.63 % on average, and 2.3 %
//!   for the worst of 900 paths (on hexagons 2.9 %, where units pass between two corners 5.1 %, across rivers
//!   that cost as much as hundreds of cells 5.0 %); other maps may have worse ones. Members of a
//!   [`Group`](prelude::Group) may follow a path that they share, at most 15 % costlier than their own.
//! - **A budget.** A tick expands at most [`budget`](prelude::TilePathSettings) nodes, however many requests
//!   there are; the rest is done in the following ticks. The exception is a search that edits keep
//!   restarting: that search runs to its end at once, and the excess is deducted from the following ticks.
//!   Short requests are answered immediately while long searches run. An unreachable goal is answered without
//!   a search.
//! - **Determinism.** The same orders and edits on the same ticks give the same paths and steps, on every
//!   machine and with any number of threads. The budget does not affect what a path to a goal up to 2,048 cells away
//!   costs, only the tick in which it is ready (and, where many requests share one goal, which of several cheapest
//!   paths each gets).
//!   [`state_checksum`](prelude::state_checksum) is for comparing two runs. A
//!   [`time_cap`](prelude::TilePathSettings) gives up this guarantee.
//! - **No overlaps.** No cell is held by two critters, no two critters swap cells, none cuts a corner, and
//!   discs of radius 0.35 cells (0.43 on hexagons) never overlap, whatever the speeds. Idle critters make room for those that
//!   pass. There is no deadline, and [ghosts](prelude::Critter::ghost) walk through all others.
//!   [`guide::crowds`] has what is promised and what is not.
//! - **Paths survive edits.** A critter whose path is cut off gets another path, mostly in the same tick. A
//!   unit without a [`Critter`](prelude::Critter) gets one too, after a
//!   [`PathInvalidated`](prelude::PathInvalidated) event. A critter under which terrain is blocked walks off the
//!   blocked area; no other critter begins a step into an impassable cell. (A ghost turns back if the cell it is
//!   entering is blocked. If the cell it stands on is blocked, its requests fail with `StartImpassable` until
//!   the cell is free.)
//! - **A reason for everything.** [`PathStatus`](prelude::PathStatus) has the state of a unit's request at
//!   any time. Failures are one enum, [`PathFailure`](prelude::PathFailure), which names the cell or the grid. Outcomes
//!   are entity events: [`PathFound`](prelude::PathFound), [`PathFailed`](prelude::PathFailed),
//!   [`PathCanceled`](prelude::PathCanceled), [`PathInvalidated`](prelude::PathInvalidated) and
//!   [`Arrived`](prelude::Arrived).
//! - **No allocation** per tick while critters walk, except on their way to links.
//!
//! # Features
//! - `tilemap` (default): reads bevy_ecs_tilemap 0.19. Without the default features (`--no-default-features`) the crate needs
//!   no renderer: for servers and other tilemaps.
//! - `tilemap_chunk`: reads the `TilemapChunk`s of bevy_sprite_render, with or without `tilemap`.
//! - `debug_draw` (default): `TilePathDebugPlugin`, which draws paths, the grid, connected regions, links, landmarks, crowds
//!   and searches.
//! - `serialize`: serde for components, resources, grids and requests; snapshots as files ([`guide::snapshots`]).
//! - `visibility` (default): [`CritterDrawing::skips_hidden`](prelude::CritterDrawing::skips_hidden).
//!
//! # Where to look
//! | to | see |
//! |---|---|
//! | feed grids from tilemaps, or make them by hand | [`guide::grids`], `NavSource` in `tilemap`, [`coordinates`] |
//! | edit a grid at run time | [`NavGrids::get_mut`](prelude::NavGrids::get_mut); for buildings [`NavBlocker`](prelude::NavBlocker) |
//! | put fences, doors and rivers between cells | [`NavEdges`](prelude::NavEdges), [`guide::edges`] |
//! | use hexagons instead of squares | `hexagons` in [`guide`], with the feature `tilemap` |
//! | join grids by stairs, ferries and teleporters | [`NavLink`](prelude::NavLink), [`guide::links`] |
//! | define kinds of units: terrain costs, corner rule, size | [`guide::grids`], [`Profile`](prelude::Profile), [`NavGrids::add_profile`](prelude::NavGrids::add_profile) |
//! | set the grid and the profile of a unit | [`NavAgent`](prelude::NavAgent) |
//! | put a unit on a cell | [`StartCell`](prelude::StartCell) |
//! | give orders of every kind, with a code block for each | [`guide::orders`] |
//! | read the state of a request, and how it ended | [`PathStatus`](prelude::PathStatus), its events in [`unit`](mod@unit) |
//! | retry a request that finds no path | [`Retry`](prelude::Retry) |
//! | send many units at the same time | [`Group`](prelude::Group) |
//! | give a unit one order after another | [`OrderQueue`](prelude::OrderQueue) |
//! | stop a unit, whatever it is doing | [`stop_unit`](prelude::stop_unit) |
//! | understand how critters avoid each other | [`guide::crowds`] |
//! | let critters walk through others, or limit which units push each other | [`Critter::ghost`](prelude::Critter::ghost), [`CrowdTeam`](prelude::CrowdTeam), [`Unpushable`](prelude::Unpushable) |
//! | find the unit on a cell, and why a unit waits | [`Crowds`](prelude::Crowds), [`Hindrance`](prelude::Hindrance) |
//! | choose the picture of a critter | [`CritterState::is_moving`](prelude::CritterState::is_moving), [`Facing`](prelude::Facing) |
//! | slow a unit down for a while | [`SpeedFactor`](prelude::SpeedFactor), [`SpeedLimit`](prelude::SpeedLimit) |
//! | skip drawing critters that no camera sees | [`CritterDrawing`](prelude::CritterDrawing) |
//! | let ghosts and steered units walk in straight lines | [`AnyAnglePath`](prelude::AnyAnglePath) |
//! | move units by physics or a controller of your own, or change who moves them | [`PathSteering`](prelude::PathSteering), [`DesiredVelocity`](prelude::DesiredVelocity) |
//! | move units by your own code | [`NavPath`](prelude::NavPath), [`PathInvalidated`](prelude::PathInvalidated) |
//! | steer units by a field of directions | [`FlowFields`](prelude::FlowFields) |
//! | check reachability and path costs without an order | [`NavGrid::can_reach`](prelude::NavGrid::can_reach), [`NavGrid::path_cost`](prelude::NavGrid::path_cost), [`NavLinks::can_reach`](prelude::NavLinks::can_reach) |
//! | show which cells a unit can reach within a cost or a number of turns | [`MovementRange`](prelude::MovementRange), [`nav::range`] |
//! | limit the time spent on searches | [`TilePathSettings`](prelude::TilePathSettings), [`PathCounters`](prelude::PathCounters) |
//! | save and load a game, roll back, let a peer join later | [`TilePathSnapshot`](prelude::TilePathSnapshot), [`guide::snapshots`] |
//! | order systems before or after the plugin's, pause it, change levels | [`schedule`] and [`TilePathSystems::All`](prelude::TilePathSystems) |
//! | draw paths, grids and crowds for debugging | `TilePathDebugPlugin` in `debug_draw` |
//! | search without an `App` | [`NavGrid::find_path`](prelude::NavGrid::find_path), [`nav`] |
//! | move crowds without an `App` | [`nav::crowd`] |
//! | plug in another open list | [`nav::open_list`] |
//!
//! # When something does not work
//! | symptom | likely reason |
//! |---|---|
//! | nothing happens, status `Idle` | the entity has no [`PathRequest`](prelude::PathRequest) |
//! | status stays `Searching` | there is no [`TilePathPlugin`](prelude::TilePathPlugin), the budget is 0, `Time<Virtual>` is paused, the plugin's schedule does not run, or a run condition on [`TilePathSystems::All`](prelude::TilePathSystems) is false |
//! | status `Found`, but the unit does not move | it has no [`Critter`](prelude::Critter): the game moves it along [`NavPath`](prelude::NavPath) |
//! | a unit with [`PathSteering`](prelude::PathSteering) stands still | nothing moves it by its [`DesiredVelocity`](prelude::DesiredVelocity), or its [`AnyAnglePath`](prelude::AnyAnglePath) was removed |
//! | `Failed(GridGone)` | there is no grid with this number. If a `NavSource` should have made it, its `SourceStatus` says why it has not |
//! | `Failed(NoLinks)` | the goal is on another grid, and no open links lead there for this profile: see the links' [`LinkStatus`](prelude::LinkStatus) |
//! | `Failed(UnknownProfile)` | the profile was not added with [`NavGrids::add_profile`](prelude::NavGrids::add_profile) or [`set_profiles`](prelude::NavGrids::set_profiles) |
//! | `Failed(StartImpassable)` everywhere | the profile has no cost for the map's terrain ids; by default [`GROUND`](prelude::TerrainId::GROUND) and the letters `.`, `G`, `S` are passable |
//! | `Failed(StartUnknown)` | the unit has no `Transform`, or one that is NaN or infinite |
//! | a member of a [`Group`](prelude::Group) does not go | it got no slot: [`GroupSlotRefused`](prelude::GroupSlotRefused) has the reason |
//! | `PathCanceled` instead of `Arrived` | the request was removed, or replaced by another one: see [`CancelReason`](prelude::CancelReason) |
//! | `Stuck(Link)` | the link is full, or units that it may not push stand where it wants to land |
//! | status `Waiting` | there is no path at present; the request's [`Retry`](prelude::Retry) tries again |
//! | status `Stuck` | other units are in the way of a critter that collides, or its speed is 0: the [`Hindrance`](prelude::Hindrance) in the status says why; the critter continues as soon as it can |
//! | a unit with [`PathSteering`](prelude::PathSteering) is `Stuck(Obstacle)` | it has come no nearer to the end of its path for 512 ticks: something is in its way, or the game does not move it |
//! | status `Stuck(NoRoom)`, and other critters walk through this one | there was no free cell near the position where it was put, or it has grown and has no room; the plugin tries again |
//! | status `Walking`, but the critter stands | it waits for other units: [`CritterState::is_moving`](prelude::CritterState::is_moving) says whether it moves now |
//! | a critter stands beside the position where it was spawned | the cell was taken |
//! | a critter stops beside the critter it was sent to | a critter does not stand on other critters; send it to a cell, or make the target a ghost |
//! | a critter that has arrived is pushed away | it makes room for others: [`Unpushable`](prelude::Unpushable) critters do not |
//! | critters walk through each other | they are [ghosts](prelude::Critter::ghost), or on different grids: each grid has a crowd of its own |
//! | a critter keeps to the grid despite [`AnyAnglePath`](prelude::AnyAnglePath) | that affects ghosts and steered units only |
//! | a large unit finds no path | it needs room for its whole block: see [`Profile::size`](prelude::Profile::size) |
//! | a unit moves as if it had another profile | its profile is that of its [`NavAgent`](prelude::NavAgent), by default profile 0, unless the request names one |
//! | [`NavGrids::get_mut`](prelude::NavGrids::get_mut) returns [`GridAccessError::FedByTiles`](prelude::GridAccessError) | tilemaps write this grid: change their tiles, or spawn a [`NavBlocker`](prelude::NavBlocker) or [`NavEdges`](prelude::NavEdges) |
//! | a [`NavBlocker`](prelude::NavBlocker) blocks nothing | it has another `grid`, neither a `Transform` nor cells of its own ([`NavBlocker::at`](prelude::NavBlocker::at)), or lies off the grid |
//! | a wall of [`NavEdges`](prelude::NavEdges) has no effect | of several edges in one place, only the highest [`EdgeId`](prelude::EdgeId) counts |
//! | a queued order does not begin | the unit has a request from the game or a [`Group`](prelude::Group), which goes first |
//! | the entity of a [`Group`](prelude::Group) is gone | it despawns when all members have come to rest or none is left: see [`Group::persistent`](prelude::Group::persistent) |
//! | units walk beside the map | the grid's frame comes from the tilemap with the lowest `order`; for grids made by hand see [`GridFrame`](prelude::GridFrame) |
//! | a unit jumps back when its `Transform` is written | the unit was on a step, or there was no free cell: remove its request first |
//! | answers take many ticks | see `waiting` and `longest_wait` in [`PathCounters`](prelude::PathCounters); raise the budget, or the request's [`Priority`](prelude::Priority) |

// docs.rs shows which feature each item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod blocker;
pub mod coordinates;
pub mod crossings;
pub mod crowds;
#[cfg(feature = "debug_draw")]
pub mod debug_draw;
pub mod diagnostics;
pub mod edges;
mod entity_keys;
pub mod flow;
pub mod grids;
pub mod group;
pub mod guide;
pub mod links;
pub mod movement;
pub mod nav;
pub mod orders;
pub mod request;
pub mod schedule;
pub mod scheduler;
pub mod snapshot;
pub mod start_cell;
pub mod state_checksum;
#[cfg(any(feature = "tilemap", feature = "tilemap_chunk"))]
pub mod tilemap;
pub mod unit;
mod whereabouts;

/// Everything a game needs by name.
pub mod prelude {
    #[cfg(feature = "debug_draw")]
    pub use crate::debug_draw::{TilePathDebug, TilePathDebugPlugin, TilePathGizmos};
    #[cfg(any(feature = "tilemap", feature = "tilemap_chunk"))]
    pub use crate::tilemap::{
        NavSource, SourceError, SourceStatus, TerrainFn, TerrainRule, TileEdges, TileLayout,
        TileTerrain, TileView,
    };
    pub use crate::{
        blocker::NavBlocker,
        coordinates::GridFrame,
        crossings::LinkTraffic,
        crowds::Crowds,
        diagnostics::TilePathDiagnosticsPlugin,
        edges::NavEdges,
        flow::{FlowCounters, FlowField, FlowFields, FlowStatus},
        grids::{GridAccessError, NavGrids},
        group::{Group, GroupArrived, GroupMember, GroupSlot, GroupSlotRefused, GroupState},
        links::{LinkEnd, LinkEntered, LinkError, LinkLeft, LinkStatus, NavLink, NavLinks},
        movement::CritterDrawing,
        nav::{
            cell::{Cell, CellRect},
            crowd::{CrowdCounters, Hindrance},
            direction::Direction,
            formation::{Formation, FormationSpec, FormationUnit},
            goal::{Approach, Goal},
            grid::{GridEdit, GridError, NavGrid},
            path::{Leg, Path, PathCost, PathKind},
            query::{Algorithm, GridId, PathFailure, PathQuery, Reach},
            queue::{Priority, QueueSettings, RequestClass},
            range::{Diagonals, InRange, MayEnter, Movement, MovementRange, RangeQuery, TurnRules},
            terrain::{CornerRule, EdgeId, Neighborhood, Profile, ProfileId, TerrainId},
            topology::Topology,
        },
        orders::{
            OnFailure, Order, OrderBegun, OrderEnded, OrderId, OrderOutcome, OrderQueue,
            PatrolMode, stop_unit,
        },
        request::{PathRequest, Retry, Target},
        schedule::{TilePathPlugin, TilePathSystems},
        scheduler::{PathCounters, Pathfinder, TilePathSettings},
        snapshot::{SnapshotError, TilePathSnapshot},
        start_cell::StartCell,
        state_checksum::state_checksum,
        unit::{
            AnyAnglePath, Arrived, CancelReason, Critter, CritterState, CrowdTeam, DesiredVelocity,
            Facing, GroupSpeedLimit, NavAgent, NavPath, PathCanceled, PathFailed, PathFound,
            PathInvalidated, PathStatus, PathSteering, RequestState, SpeedFactor, SpeedLimit,
            Unpushable,
        },
    };
}
