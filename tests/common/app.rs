//! A headless app and helpers for the tests of the plugin.

use bevy::{
    ecs::schedule::SingleThreadedExecutor,
    prelude::*,
    tasks::{ComputeTaskPool, TaskPoolBuilder},
    time::TimeUpdateStrategy,
};
use bevy_tilepath::prelude::*;

/// Threads that may search at the same time in tests, on any machine.
pub const THREADS: usize = 4;

/// Creates the pool of compute threads. The first pool of a process is kept, so every test that creates an
/// app calls this first.
pub fn make_pool() {
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(THREADS - 1).build());
}

/// Returns an app in which each update is one fixed tick (1/64 s), with an empty set of grids.
pub fn app() -> App {
    with_plugin(App::new())
}

/// Adds the plugin and runs the first update.
pub fn with_plugin(mut app: App) -> App {
    make_pool();
    app.add_plugins((MinimalPlugins, TransformPlugin, TilePathPlugin::default()))
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    app.finish();
    app.cleanup();
    run_systems_on_one_thread(&mut app);
    app.update(); // the first update has no fixed step
    app
}

/// Waking threads takes longer than the systems of a small app do: more than half of the time of these tests. Searches
/// still run on [`THREADS`], and `determinism` runs systems in parallel.
fn run_systems_on_one_thread(app: &mut App) {
    for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
        schedule.set_executor(SingleThreadedExecutor::new());
    }
}

/// Returns [`app`] with a grid drawn as text: `.` is passable, anything else a wall; the first line is the
/// top row.
pub fn app_with(map: &str) -> App {
    app_on(map, Topology::Square)
}

/// The same with cells of this shape, 10 units apart.
pub fn app_on(map: &str, topology: Topology) -> App {
    let mut app = app();
    let grid = grid_from(map).with_topology(topology);
    let mut grids = app.world_mut().resource_mut::<NavGrids>();
    grids.insert(GridId::default(), grid, frame_of(topology));
    app
}

/// Returns a frame of cells that are 10 units apart.
pub fn frame_of(topology: Topology) -> GridFrame {
    match topology {
        Topology::Square => GridFrame::square(Vec2::ZERO, Vec2::splat(10.0)),
        Topology::Hexagonal => GridFrame::pointy_hexagons(Vec2::ZERO, 10.0),
    }
}

/// Parses a grid drawn as text, as in [`app_with`].
pub fn grid_from(map: &str) -> NavGrid {
    let rows: Vec<&str> = map.split_whitespace().collect();
    let terrain = rows.iter().rev().flat_map(|row| row.bytes()).map(|letter| match letter {
        b'.' => TerrainId::GROUND.0,
        _ => TerrainId::VOID.0,
    });
    let (width, height) = (rows[0].len() as u32, rows.len() as u32);
    NavGrid::from_terrain(width, height, terrain.collect()).unwrap()
}

/// Draws an open field.
pub fn field(width: usize, height: usize) -> String {
    vec![".".repeat(width); height].join("\n")
}

/// Spawns a critter of 8 cells per second on a cell.
pub fn spawn_critter(app: &mut App, cell: (i32, i32)) -> Entity {
    spawn_on(app, Critter::new(8.0), cell)
}

/// Spawns a ghost of 8 cells per second: any number of ghosts may stand on one cell.
pub fn spawn_ghost(app: &mut App, cell: (i32, i32)) -> Entity {
    spawn_on(app, Critter::new(8.0).ghost(), cell)
}

fn spawn_on(app: &mut App, critter: Critter, (x, y): (i32, i32)) -> Entity {
    let position = Vec3::new(x as f32 * 10.0, y as f32 * 10.0, 5.0);
    app.world_mut().spawn((critter, Transform::from_translation(position))).id()
}

pub fn order(app: &mut App, unit: Entity, goal: (i32, i32)) {
    app.world_mut().entity_mut(unit).insert(PathRequest::to(Cell::from(goal)));
}

/// Gives an order that is answered by A*, which is slow enough to be interrupted.
pub fn order_slowly(app: &mut App, unit: Entity, goal: (i32, i32)) {
    let request = PathRequest::to(Cell::from(goal)).algorithm(Algorithm::AStar);
    app.world_mut().entity_mut(unit).insert(request);
}

pub fn status(app: &App, unit: Entity) -> PathStatus {
    *app.world().get(unit).unwrap()
}

pub fn state(app: &App, unit: Entity) -> CritterState {
    *app.world().get(unit).unwrap()
}

pub fn position(app: &App, unit: Entity) -> Vec2 {
    app.world().get::<Transform>(unit).unwrap().translation.truncate()
}

pub fn counters(app: &App) -> PathCounters {
    *app.world().resource()
}

pub fn grid(app: &mut App) -> Mut<'_, NavGrids> {
    app.world_mut().resource_mut()
}

/// Runs ticks until `done` and returns how many; panics after `most`.
pub fn run_until(app: &mut App, most: u32, mut done: impl FnMut(&App) -> bool) -> u32 {
    for tick in 0..most {
        if done(app) {
            return tick;
        }
        app.update();
    }
    panic!("still not done after {most} ticks");
}

pub fn run(app: &mut App, ticks: u32) {
    (0..ticks).for_each(|_| app.update());
}

/// The entity events of an app, in order.
#[derive(Resource, Default, Debug)]
pub struct Events(pub Vec<Recorded>);

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Recorded {
    Found(Entity, PathKind),
    Failed(Entity, PathFailure),
    Canceled(Entity, CancelReason),
    Arrived(Entity, PathKind),
    Refused(Entity, PathFailure),
}

/// Records all entity events of the app from here on.
pub fn record(app: &mut App) {
    app.init_resource::<Events>()
        .add_observer(|event: On<PathFound>, mut events: ResMut<Events>| {
            events.0.push(Recorded::Found(event.entity, event.kind));
        })
        .add_observer(|event: On<PathFailed>, mut events: ResMut<Events>| {
            events.0.push(Recorded::Failed(event.entity, event.reason));
        })
        .add_observer(|event: On<PathCanceled>, mut events: ResMut<Events>| {
            events.0.push(Recorded::Canceled(event.entity, event.reason));
        })
        .add_observer(|event: On<GroupSlotRefused>, mut events: ResMut<Events>| {
            events.0.push(Recorded::Refused(event.entity, event.reason));
        })
        .add_observer(|event: On<Arrived>, mut events: ResMut<Events>| {
            events.0.push(Recorded::Arrived(event.entity, event.kind));
        });
}

pub fn events(app: &App) -> Vec<Recorded> {
    app.world().resource::<Events>().0.clone()
}
