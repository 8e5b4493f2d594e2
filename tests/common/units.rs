//! Units of several sizes, and helpers for tests of orders.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use super::app::*;

/// Profiles of units of 1 × 1, 2 × 2 and 3 × 3 cells in [`app_with_sizes`].
pub const SMALL: ProfileId = ProfileId(0);
pub const BIG: ProfileId = ProfileId(1);
pub const HUGE: ProfileId = ProfileId(2);

/// The app of [`app_with`], for units of up to three cells a side.
pub fn app_with_sizes(map: &str) -> App {
    app_with_sizes_on(map, Topology::Square)
}

/// The same with cells of this shape.
pub fn app_with_sizes_on(map: &str, topology: Topology) -> App {
    let mut app = app_on(map, topology);
    grid(&mut app).set_profiles((1..=3).map(|size| Profile::default().size(size)).collect());
    app
}

/// Returns the world position of the center of a unit with its anchor on a cell.
pub fn block_center(app: &App, profile: ProfileId, anchor: Cell) -> Vec2 {
    let grids: &NavGrids = app.world().resource();
    let size = grids.get(GridId::default()).unwrap().unit_size(profile);
    grids.frame(GridId::default()).unwrap().block_center(anchor, size)
}

/// Spawns a critter of 8 cells per second on an anchor, its transform in the center of its block.
pub fn spawn_unit(app: &mut App, profile: ProfileId, anchor: (i32, i32)) -> Entity {
    let position = block_center(app, profile, Cell::from(anchor)).extend(5.0);
    app.world_mut().spawn((Critter::new(8.0), Transform::from_translation(position))).id()
}

pub fn set_speed(app: &mut App, unit: Entity, speed: f32) {
    app.world_mut().get_mut::<Critter>(unit).unwrap().speed = speed;
}

pub fn insert_request(app: &mut App, unit: Entity, request: PathRequest) {
    app.world_mut().entity_mut(unit).insert(request);
}

/// Runs until the order of a unit has ended. Returns the cell it stands on, or why the order failed.
pub fn run_to_end(app: &mut App, unit: Entity) -> Result<Cell, PathFailure> {
    let ended = |status| matches!(status, PathStatus::Arrived(_) | PathStatus::Failed(_));
    run_until(app, 3_000, |app| ended(status(app, unit)));
    match status(app, unit) {
        PathStatus::Failed(reason) => Err(reason),
        _ => Ok(state(app, unit).cell()),
    }
}

pub fn has_arrived(app: &App, unit: Entity) -> bool {
    matches!(status(app, unit), PathStatus::Arrived(_))
}

pub fn is_walking(app: &App, unit: Entity) -> bool {
    matches!(status(app, unit), PathStatus::Walking(_))
}

/// Returns the default grid.
pub fn level(app: &App) -> &NavGrid {
    app.world().resource::<NavGrids>().get(GridId::default()).unwrap()
}

pub fn block(app: &mut App, rect: CellRect) {
    grid(app).get_mut(GridId::default()).unwrap().block(rect).unwrap();
}

pub fn unblock(app: &mut App, rect: CellRect) {
    grid(app).get_mut(GridId::default()).unwrap().unblock(rect).unwrap();
}

/// Returns an entity that has been despawned.
pub fn despawned_entity(app: &mut App) -> Entity {
    let entity = app.world_mut().spawn(Transform::default()).id();
    app.world_mut().entity_mut(entity).despawn();
    entity
}

/// Returns what `pick` finds in the recorded events of an app, in order, with the unit it belongs to.
fn recorded<T>(app: &App, unit: Entity, pick: fn(Recorded) -> Option<(Entity, T)>) -> Vec<T> {
    let found = events(app).into_iter().filter_map(pick);
    found.filter(|&(entity, _)| entity == unit).map(|(_, what)| what).collect()
}

/// Returns the recorded failures of the requests of a unit, in order.
pub fn failures(app: &App, unit: Entity) -> Vec<PathFailure> {
    recorded(app, unit, |event| match event {
        Recorded::Failed(entity, reason) => Some((entity, reason)),
        _ => None,
    })
}

/// Returns the recorded refusals of a slot in a group, in order.
pub fn refusals(app: &App, unit: Entity) -> Vec<PathFailure> {
    recorded(app, unit, |event| match event {
        Recorded::Refused(entity, reason) => Some((entity, reason)),
        _ => None,
    })
}

/// Returns the recorded cancellations of the requests of a unit, in order.
pub fn cancellations(app: &App, unit: Entity) -> Vec<CancelReason> {
    recorded(app, unit, |event| match event {
        Recorded::Canceled(entity, reason) => Some((entity, reason)),
        _ => None,
    })
}

/// The arrivals of groups: how many members have arrived, and how many failed.
#[derive(Resource, Default)]
struct GroupArrivals(Vec<(u32, u32)>);

/// Records the arrivals of groups from here on.
pub fn record_groups(app: &mut App) {
    app.init_resource::<GroupArrivals>().add_observer(
        |event: On<GroupArrived>, mut arrivals: ResMut<GroupArrivals>| {
            arrivals.0.push((event.arrived, event.failed));
        },
    );
}

pub fn group_arrivals(app: &App) -> &[(u32, u32)] {
    &app.world().resource::<GroupArrivals>().0
}

/// Returns how many arrivals of a unit were recorded.
pub fn arrivals(app: &App, unit: Entity) -> usize {
    let is_arrival =
        |event: &Recorded| matches!(event, Recorded::Arrived(entity, _) if *entity == unit);
    events(app).iter().filter(|event| is_arrival(event)).count()
}
