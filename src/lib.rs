//! Heap-driven grid pathfinding and moving critters for Bevy tile maps.
//!
//! ```text
//!  tiles ──▶ NavGrid ──▶ PathRequest ──▶ SearchQueue ──▶ Search ──▶ Path ──▶ Critter ──▶ Transform
//!  tilemap   nav::grid   request         nav::queue,     nav::      nav::    movement
//!  blocker   grids                       scheduler       search     path     crowds
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
//! while !matches!(app.world().get(unit), Some(PathStatus::Arrived(_))) {
//!     app.update();
//! }
//! # Ok::<(), GridError>(())
//! ```
//!
//! # What is promised
//! - **Optimal.** A path costs what Dijkstra's algorithm would find, on uniform and on mixed
//!   ground, under every corner rule, with four neighbors and eight. Only ways to goals more than
//!   [`HIERARCHY_MIN_DISTANCE`](nav::search::HIERARCHY_MIN_DISTANCE) cells off may cost more, as long as nobody asks for
//!   [`Algorithm::Exact`](prelude::Algorithm): they begin at once instead, unless an exact search is as quick. How
//!   much more has no bound that is proven. On ten worlds of 4096 × 4096 cells made of real maps it was 0.02 to
//!   2.4 in a hundred on the mean, and 8 for the worst of 600 ways; other maps may have worse ones. Members
//!   of a [`Group`](prelude::Group) may be led along a way they share, at most 15 in a hundred longer.
//! - **A budget.** A tick expands at most [`budget`](prelude::TilePathSettings) nodes, however
//!   many ask; what is left over is done in the next. One search too long to get a word in
//!   between edits may overdraw it, and pays back. Short requests are answered at once while huge
//!   ones run; an unreachable goal is answered without a search.
//! - **Determinism.** The same orders and edits on the same ticks give the same paths and walks,
//!   on every machine and with any number of threads. What paths cost does not depend on the budget,
//!   only the tick in which they are ready does (and where many share one goal, which of several
//!   cheapest ways they take). [`state_checksum`](prelude::state_checksum) tells.
//!   (A [`time_cap`](prelude::TilePathSettings) gives that up.)
//! - **Nobody in anybody else.** No cell is held by two critters, none swaps places with another or cuts
//!   a corner, and discs of radius 0.35 cells never overlap, whatever the speeds. Whoever stands idle
//!   makes room for those who pass. (There is no deadline; [ghosts](prelude::Critter::ghost) walk through
//!   everybody. [`guide::crowds`] has what is promised and what is not.)
//! - **Alive under edits.** A critter whose way is cut off gets another, mostly in the same tick. One
//!   that is built over walks off by itself; nobody else begins a step into an impassable cell. (A ghost
//!   whose step is built over turns back; built over where it stands, it fails with `StartImpassable`
//!   until it is free.)
//! - **A reason.** [`PathStatus`](prelude::PathStatus) says at any time what is going on;
//!   failures are one enum that names the cell; outcomes are entity events.
//! - **No allocation** per tick while critters walk.
//!
//! # Features
//! - `tilemap` (default): reads bevy_ecs_tilemap 0.19. Without it (`--no-default-features`) the
//!   crate needs no renderer: for servers and other tile maps.
//! - `debug_draw` (default): `TilePathDebugPlugin`, which draws paths, grid, islands and searches.
//!
//! # Where to look
//! | to | see |
//! |---|---|
//! | feed grids from tilemaps | `NavSource` in `tilemap`, [`coordinates`] |
//! | say what each kind of unit may enter, at what cost, and its size | [`Profile`](prelude::Profile), [`NavGrids::set_profiles`](prelude::NavGrids::set_profiles) |
//! | give orders of every kind, with a snippet each | [`guide::orders`] |
//! | send many units at once | [`Group`](prelude::Group) |
//! | know how critters keep off each other | [`guide::crowds`] |
//! | let critters walk through others, or push nobody aside but their own side | [`Critter::ghost`](prelude::Critter::ghost), [`CrowdTeam`](prelude::CrowdTeam), [`Unpushable`](prelude::Unpushable) |
//! | know who stands where, and why somebody waits | [`Crowds`](prelude::Crowds) |
//! | keep units apart without an `App` | [`nav::crowd`] |
//! | give a unit one order after another | [`OrderQueue`](prelude::OrderQueue) |
//! | steer units by a field of directions | [`FlowFields`](prelude::FlowFields) |
//! | let ghosts walk in straight lines | [`AnyAnglePath`](prelude::AnyAnglePath) |
//! | know whether and how far, without an order | [`NavGrid::can_reach`](prelude::NavGrid::can_reach), [`NavGrid::path_cost`](prelude::NavGrid::path_cost) |
//! | put up buildings | [`NavBlocker`](prelude::NavBlocker) |
//! | order systems before or after the plugin's | [`schedule`] |
//! | search without an `App` | [`NavGrid::find_path`](prelude::NavGrid::find_path), [`nav`] |
//! | plug in another open list | [`nav::open_list`] |
//!
//! # When something does not work
//! | symptom | likely reason |
//! |---|---|
//! | nothing happens, status `Idle` | no [`TilePathPlugin`](prelude::TilePathPlugin), or no `PathRequest` |
//! | status stays `Searching` | the budget is 0, `Time<Virtual>` is paused, or the plugin's schedule does not run |
//! | `Failed(GridGone)` | no grid with that number: is there a `NavSource`? its `SourceStatus` tells why it is refused |
//! | `Failed(StartImpassable)` everywhere | the profile does not know the map's terrain ids; by default [`GROUND`](prelude::TerrainId::GROUND) and the letters `.`, `G`, `S` are passable |
//! | status `Waiting` | no way now; the request's [`Retry`](prelude::Retry) tries again |
//! | status `Stuck` | others are in the way, or its speed is 0: [`Hindrance`](prelude::Hindrance) says which; it goes on as soon as it can |
//! | status `Stuck(NoRoom)`, a critter nobody sees | there was no free cell near the place where it was put; it is tried again |
//! | a critter stands beside the place where it was spawned | the place was taken |
//! | a critter stops beside the one it was sent to | it does not stand on others; send it to a cell, or make that one a ghost |
//! | a critter that has arrived is pushed away | it gives way to others: [`Unpushable`](prelude::Unpushable) ones do not |
//! | a large unit finds no way | it needs room for its whole block: see [`Profile::size`](prelude::Profile::size) |
//! | units walk beside the map | the grid's frame comes from the tilemap with the lowest `order`; for grids made by hand see [`GridFrame`](prelude::GridFrame) |
//! | a unit jumps back when its `Transform` is written | it was on a step, or there was no free cell: remove its request first |
//! | answers take many ticks | see `waiting` and `longest_wait` in [`PathCounters`](prelude::PathCounters); raise the budget, or the request's priority |

pub mod blocker;
pub mod coordinates;
pub mod crowds;
#[cfg(feature = "debug_draw")]
pub mod debug_draw;
pub mod diagnostics;
pub mod flow;
pub mod grids;
pub mod group;
pub mod guide;
pub mod movement;
pub mod nav;
pub mod orders;
pub mod request;
pub mod schedule;
pub mod scheduler;
pub mod state_checksum;
#[cfg(feature = "tilemap")]
pub mod tilemap;
pub mod unit;
mod whereabouts;

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
        crowds::Crowds,
        diagnostics::TilePathDiagnosticsPlugin,
        flow::{FlowCounters, FlowField, FlowFields, FlowStatus},
        grids::{GridAccessError, NavGrids},
        group::{Group, GroupArrived, GroupMember, GroupSlot, GroupSpeedLimit, GroupState},
        nav::{
            cell::{Cell, CellRect},
            crowd::{CrowdCounters, Hindrance},
            direction::Direction,
            formation::{Formation, GroupOrder, GroupUnit},
            goal::{Approach, Goal},
            grid::{GridEdit, GridError, NavGrid},
            path::{Leg, Path, PathCost, PathKind},
            query::{Algorithm, GridId, PathFailure, PathQuery, Reach},
            queue::{Priority, QueueSettings, RequestClass},
            terrain::{CornerRule, Neighborhood, PLAIN, Profile, ProfileId, TerrainId},
        },
        orders::{
            OnFailure, Order, OrderBegun, OrderEnded, OrderId, OrderOutcome, OrderQueue, PatrolMode,
        },
        request::{PathRequest, Retry, Target},
        schedule::{TilePathPlugin, TilePathSystems},
        scheduler::{PathCounters, Pathfinder, TilePathSettings},
        state_checksum::state_checksum,
        unit::{
            AnyAnglePath, Arrived, CancelReason, Critter, CritterState, CrowdTeam, Facing,
            NavAgent, NavPath, PathCanceled, PathFailed, PathFound, PathInvalidated, PathStatus,
            RequestState, SpeedLimit, Unpushable,
        },
    };
}
