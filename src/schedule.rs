//! When everything runs: the public sets, their order, and the plugin that arranges them.
//!
//! | set | does | edit before it | read after it |
//! |---|---|---|---|
//! | [`SyncGrid`](TilePathSystems::SyncGrid) | tiles, blockers and edges → grids; links | tiles, blockers, edges, links | grids |
//! | [`Command`](TilePathSystems::Command) | order queues and groups → requests | queues, groups, grids | – |
//! | [`Accept`](TilePathSystems::Accept) | requests → queue, cut-off paths → queue | requests, agents, grids, settings | statuses, cancellations |
//! | [`Search`](TilePathSystems::Search) | spends the budget | settings | – |
//! | [`Deliver`](TilePathSystems::Deliver) | answers → paths, statuses, events | – | paths, statuses |
//! | [`Move`](TilePathSystems::Move) | critters walk a tick | speeds | positions, arrivals |
//! | [`Draw`](TilePathSystems::Draw) | positions → transforms, every frame | – | transforms |
//!
//! All but `Draw` run in the plugin's schedule, one after another. `Draw` runs once per frame, in `RunFixedMainLoop` after the
//! fixed steps. If the plugin ticks in a schedule outside the fixed steps, `Draw` runs right after `Move`. Where the systems of a
//! game belong, and when observers run: [`guide::ticks`](crate::guide::ticks).
//!
//! # Pausing, levels and states
//! Every system of the plugin is in [`TilePathSystems::All`], in both schedules. A game with states lets them
//! run while it plays:
//!
//! ```
//! use bevy::{app::RunFixedMainLoop, prelude::*, state::app::StatesPlugin};
//! use bevy_tilepath::prelude::*;
//! #[derive(States, Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
//! enum Screen {
//!     #[default]
//!     Menu,
//!     Level,
//! }
//! fn leave_level(mut grids: ResMut<NavGrids>) {
//!     grids.remove(GridId::default());
//! }
//! let mut app = App::new();
//! app.add_plugins((MinimalPlugins, StatesPlugin, TilePathPlugin::default()))
//!     .init_state::<Screen>()
//!     .configure_sets(FixedUpdate, TilePathSystems::All.run_if(in_state(Screen::Level)))
//!     .configure_sets(RunFixedMainLoop, TilePathSystems::All.run_if(in_state(Screen::Level)))
//!     .add_systems(OnExit(Screen::Level), leave_level);
//! app.world_mut().spawn((Critter::default(), DespawnOnExit(Screen::Level)));
//! app.update();
//! ```
//!
//! - During a pause, critters stand where they are and searches stay as they are. Requests inserted while paused wait.
//! - To leave a level, despawn its units, groups, blockers, edges and links, and remove its grids (or despawn its tilemaps
//!   and their tiles).
//!   The plugin's remaining state is dropped in the first tick that runs again.
//! - The next level may reuse the number of a grid.
//! - If the game replaces `Crowds`, `Pathfinder`, `FlowFields`, `NavLinks` or `LinkTraffic`, no unit and no order is lost: units
//!   hold cells again where they are, searches begin anew, and units plan their ways over links anew. With a new `LinkTraffic`
//!   units on links land at once, without a `LinkLeft`.

use bevy::{
    app::RunFixedMainLoop,
    ecs::schedule::{InternedScheduleLabel, ScheduleLabel},
    prelude::*,
};

use crate::{
    blocker::{NavBlocker, PlacedBlockers, sync_blockers},
    crossings::{LinkTraffic, cross_links},
    crowds::{Crowds, advance_crowds, drop_stale_crowds, enter_crowds, steer_critters},
    edges::{NavEdges, PlacedEdges, sync_edges},
    flow::{FlowField, FlowFields, FlowStatus, LastRoute, update_flow_fields},
    grids::{KnownGrids, NavGrids, adopt_grids},
    group::{
        Group, GroupArrived, GroupNumbers, GroupSlot, GroupSlotRefused, GroupState, form_groups,
        note_changed_profiles,
    },
    links::{LinkEntered, LinkLeft, LinkStatus, NavLink, NavLinks, sync_links},
    movement::{
        CritterDrawing, DrawnFrames, GridsSeen, advance_critters, hand_over, note_tick,
        place_transforms, repair_paths, steer_units,
    },
    orders::{OrderBegun, OrderEnded, OrderQueue, OrderQueues, RequestOwner, advance_orders},
    request::{
        OpenRequests, PathRequest, RequestInbox, accept_requests, ask_again, deliver_answers,
        follow_agents, follow_targets,
    },
    scheduler::{PathCounters, Pathfinder, TilePathSettings, begin_tick, run_searches},
    snapshot::TilePathSnapshot,
    start_cell::{StartCell, put_on_cells},
    unit::{
        AnyAnglePath, Arrived, Critter, CritterState, CrowdTeam, DesiredVelocity, Facing,
        GroupSpeedLimit, NavAgent, NavPath, PathCanceled, PathFailed, PathFound, PathInvalidated,
        PathStatus, PathSteering, RequestState, SpeedFactor, SpeedLimit, TransformWrites,
        Unpushable,
    },
};

/// Node pages made when the plugin is added: enough for the first tick of as many searches
/// as fit in flight.
const PAGES_AHEAD: usize = 512;

/// The stages of a tick, in their order; see the [module](self) for what may be changed before
/// and read after each.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TilePathSystems {
    /// Tiles, blockers and edges become grids; links are connected.
    SyncGrid,
    /// Order queues and groups become requests.
    Command,
    /// Requests, and paths that edits have cut off, go to the queue.
    Accept,
    /// The budget is spent.
    Search,
    /// Answers become paths, statuses and events.
    Deliver,
    /// Critters walk and cross links, and steered units get their [`DesiredVelocity`].
    Move,
    /// Critters are drawn where they are (once per frame).
    Draw,
    /// All of the above, in both schedules: for run conditions.
    All,
}

/// Pathfinding on tilemaps: requests are answered under a budget, critters follow the paths found.
///
/// Ticks in `FixedUpdate` by default, so that the same orders give the same movement at
/// every frame rate. Needs Bevy's `TimePlugin` (part of `MinimalPlugins` and `DefaultPlugins`).
#[derive(Clone, Debug)]
pub struct TilePathPlugin {
    schedule: InternedScheduleLabel,
}

impl Default for TilePathPlugin {
    fn default() -> Self {
        Self::in_schedule(FixedUpdate)
    }
}

impl TilePathPlugin {
    /// Ticks in `schedule`.
    #[must_use]
    pub fn in_schedule(schedule: impl ScheduleLabel) -> Self {
        Self { schedule: schedule.intern() }
    }
}

/// Calls a method of the app for each of these types.
macro_rules! for_each_type {
    ($app:ident.$method:ident: $($type:ty),*) => {
        $($app.$method::<$type>();)*
    };
}

impl Plugin for TilePathPlugin {
    fn build(&self, app: &mut App) {
        use TilePathSystems::{Accept, All, Command, Deliver, Draw, Move, Search, SyncGrid};
        let is_fixed = [
            FixedFirst.intern(),
            FixedPreUpdate.intern(),
            FixedUpdate.intern(),
            FixedPostUpdate.intern(),
            FixedLast.intern(),
        ]
        .contains(&self.schedule);
        for_each_type! {
            app.init_resource: NavGrids, KnownGrids, Pathfinder, PathCounters, TilePathSettings, RequestInbox,
            PlacedBlockers, PlacedEdges, NavLinks, LinkTraffic, Crowds, GroupNumbers, OrderQueues, FlowFields, LastRoute, Time, OpenRequests,
            GridsSeen, DrawnFrames, CritterDrawing
        }
        app.insert_resource(TransformWrites { is_between_ticks: is_fixed, ..default() });
        app.world_mut().resource_mut::<Pathfinder>().reserve(PAGES_AHEAD);
        register_types(app);
        crate::request::note_all(app.world_mut());
        crate::group::build(app);
        crate::crowds::build(app);
        crate::movement::build(app);
        crate::orders::build(app);
        let stages = (SyncGrid, Command, Accept, Search, Deliver, Move).chain().in_set(All);
        app.configure_sets(self.schedule, stages).add_systems(
            self.schedule,
            (
                adopt_grids.in_set(SyncGrid),
                (put_on_cells, sync_blockers, sync_edges, sync_links)
                    .chain()
                    .after(adopt_grids)
                    .in_set(SyncGrid),
                (note_changed_profiles, form_groups, advance_orders).chain().in_set(Command),
                (
                    begin_tick,
                    ask_again,
                    drop_stale_crowds,
                    hand_over,
                    follow_targets,
                    follow_agents,
                    accept_requests,
                    repair_paths,
                )
                    .chain()
                    .in_set(Accept),
                (run_searches, update_flow_fields).chain().in_set(Search),
                deliver_answers.in_set(Deliver),
                (
                    drop_stale_crowds,
                    enter_crowds,
                    steer_critters,
                    advance_crowds,
                    advance_critters,
                    steer_units,
                    cross_links,
                    note_tick,
                )
                    .chain()
                    .in_set(Move),
            ),
        );
        if is_fixed {
            let after = RunFixedMainLoopSystems::AfterFixedMainLoop;
            app.configure_sets(RunFixedMainLoop, Draw.in_set(All).in_set(after))
                .add_systems(RunFixedMainLoop, place_transforms.in_set(Draw));
            // The first frame has no tick.
            add_before_drawing(app, put_on_cells);
        } else {
            app.configure_sets(self.schedule, Draw.in_set(All).after(Move))
                .add_systems(self.schedule, place_transforms.in_set(Draw));
        }
        #[cfg(any(feature = "tilemap", feature = "tilemap_chunk"))]
        add_tilemaps(app, self.schedule, is_fixed);
    }
}

/// Adds the systems that read maps.
#[cfg(any(feature = "tilemap", feature = "tilemap_chunk"))]
fn add_tilemaps(app: &mut App, schedule: InternedScheduleLabel, is_fixed: bool) {
    use crate::tilemap::{build, combine_sources, forget_sources};
    build(app);
    let in_order =
        (forget_sources, combine_sources).chain().after(adopt_grids).before(put_on_cells);
    app.add_systems(schedule, in_order.in_set(TilePathSystems::SyncGrid));
    #[cfg(feature = "tilemap")]
    {
        use crate::tilemap::{frame_tilemaps, read_tilemaps};
        let read = read_tilemaps.after(forget_sources).before(combine_sources);
        let frame = frame_tilemaps.after(combine_sources).before(put_on_cells);
        app.add_systems(schedule, (read, frame).in_set(TilePathSystems::SyncGrid));
        if is_fixed {
            add_before_drawing(app, frame_tilemaps.before(put_on_cells));
        }
    }
    #[cfg(feature = "tilemap_chunk")]
    {
        use crate::tilemap::{frame_chunks, read_chunks};
        let read = read_chunks.after(forget_sources).before(combine_sources);
        let frame = frame_chunks.after(combine_sources).before(put_on_cells);
        // The order in which maps are added matters.
        #[cfg(feature = "tilemap")]
        let read = read.after(crate::tilemap::read_tilemaps);
        #[cfg(feature = "tilemap")]
        let frame = frame.after(crate::tilemap::frame_tilemaps);
        app.add_systems(schedule, (read, frame).in_set(TilePathSystems::SyncGrid));
        if is_fixed {
            add_before_drawing(app, frame_chunks.before(put_on_cells));
        }
    }
}

/// Adds a system that also runs in every frame, so that critters are drawn where their map is by then.
fn add_before_drawing<M>(
    app: &mut App,
    system: impl IntoScheduleConfigs<bevy::ecs::system::ScheduleSystem, M>,
) {
    let after = RunFixedMainLoopSystems::AfterFixedMainLoop;
    let system = system.in_set(TilePathSystems::All).in_set(after).before(TilePathSystems::Draw);
    app.add_systems(RunFixedMainLoop, system);
}

/// Registers what an app without automatic registration would miss.
fn register_types(app: &mut App) {
    for_each_type! {
        app.register_type:
        PathRequest, PathStatus, NavPath, RequestState, NavAgent, PathCanceled, PathInvalidated,
        Critter, CritterState, Facing, CrowdTeam, Unpushable, StartCell, SpeedFactor, SpeedLimit, AnyAnglePath, PathSteering, DesiredVelocity, FlowFields,
        FlowField, FlowStatus, Group, OrderQueue, RequestOwner, OrderBegun, OrderEnded, GroupState,
        GroupSlot, GroupSpeedLimit, GroupArrived, GroupSlotRefused, NavBlocker, NavEdges, NavLink, LinkStatus, LinkEntered, LinkLeft, NavGrids, PathFound, PathFailed,
        Arrived, TilePathSettings, Pathfinder, PathCounters, CritterDrawing, TilePathSnapshot
    }
}
