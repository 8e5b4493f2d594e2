//! Units of several sizes, and what tests of orders do with them.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use super::app::*;

/// Units of one cell, of 2 × 2 and of 3 × 3 cells, as [`app_with_sizes`] knows them.
pub const SMALL: ProfileId = ProfileId(0);
pub const BIG: ProfileId = ProfileId(1);
pub const HUGE: ProfileId = ProfileId(2);

/// The app of [`app_with`], for units of up to three cells a side.
pub fn app_with_sizes(map: &str) -> App {
    let mut app = app_with(map);
    grid(&mut app).set_profiles((1..=3).map(|size| Profile::default().size(size)).collect());
    app
}

/// Where the middle of a unit is drawn that has its anchor on a cell.
pub fn middle_of(app: &App, profile: ProfileId, anchor: Cell) -> Vec2 {
    let grids: &NavGrids = app.world().resource();
    let size = grids.get(GridId::default()).unwrap().unit_size(profile);
    grids.frame(GridId::default()).unwrap().block_center(anchor, size)
}

/// Puts a critter of 8 cells a second on an anchor, its transform in the middle of its block.
pub fn spawn_unit(app: &mut App, profile: ProfileId, anchor: (i32, i32)) -> Entity {
    let place = middle_of(app, profile, Cell::from(anchor)).extend(5.0);
    app.world_mut().spawn((Critter::new(8.0), Transform::from_translation(place))).id()
}

pub fn set_speed(app: &mut App, unit: Entity, speed: f32) {
    app.world_mut().get_mut::<Critter>(unit).unwrap().speed = speed;
}

pub fn ask(app: &mut App, unit: Entity, request: PathRequest) {
    app.world_mut().entity_mut(unit).insert(request);
}

/// Runs until the order of a unit has come to an end: where it stands then, or why it failed.
pub fn rest(app: &mut App, unit: Entity) -> Result<Cell, PathFailure> {
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

/// The default grid.
pub fn level(app: &App) -> &NavGrid {
    app.world().resource::<NavGrids>().get(GridId::default()).unwrap()
}

pub fn block(app: &mut App, rect: CellRect) {
    grid(app).get_mut(GridId::default()).unwrap().block(rect).unwrap();
}

pub fn unblock(app: &mut App, rect: CellRect) {
    grid(app).get_mut(GridId::default()).unwrap().unblock(rect).unwrap();
}

/// An entity that was there once.
pub fn gone(app: &mut App) -> Entity {
    let entity = app.world_mut().spawn(Transform::default()).id();
    app.world_mut().entity_mut(entity).despawn();
    entity
}

/// Why orders of a unit have failed, in order, as far as recorded.
pub fn failures(app: &App, unit: Entity) -> Vec<PathFailure> {
    let said = events(app).into_iter();
    said.filter_map(|said| match said {
        Said::Failed(entity, reason) if entity == unit => Some(reason),
        _ => None,
    })
    .collect()
}

/// Why requests of a unit were canceled, in order, as far as recorded.
pub fn cancellations(app: &App, unit: Entity) -> Vec<CancelReason> {
    let said = events(app).into_iter();
    said.filter_map(|said| match said {
        Said::Canceled(entity, reason) if entity == unit => Some(reason),
        _ => None,
    })
    .collect()
}

/// How often a unit has arrived, as far as recorded.
pub fn arrivals(app: &App, unit: Entity) -> usize {
    let is_arrival = |said: &Said| matches!(said, Said::Arrived(entity, _) if *entity == unit);
    events(app).iter().filter(|said| is_arrival(said)).count()
}
