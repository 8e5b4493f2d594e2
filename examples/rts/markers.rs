//! Markers on the map: goals of orders, and goals of failed orders.
//!
//! Input: orders of the player, notices. Output: markers that fade out.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    display::ViewSystems,
    map::GameMap,
    reports::Notice,
    sprites::{Sheets, mark},
    task::Task,
    tiles,
};

/// Lifetime of a marker, in seconds.
const LIFE: f32 = 1.2;
/// Lifetime of a failure marker, in seconds.
const FAILURE_LIFE: f32 = 2.5;
/// The z coordinate of markers.
const HEIGHT: f32 = 5.0;

/// Adds markers.
pub struct MarkersPlugin;

impl Plugin for MarkersPlugin {
    fn build(&self, app: &mut App) {
        app.add_observer(mark_failure).add_systems(Update, fade.in_set(ViewSystems::Show));
    }
}

/// What a marker shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerKind {
    Move,
    Patrol,
    /// A building or a critter is the target.
    Target,
    Queued,
    Failed,
}

impl MarkerKind {
    /// Returns the marker of a task.
    pub const fn of(task: Task, queued: bool) -> Self {
        match task {
            Task::Patrol(_) => Self::Patrol,
            Task::Follow(_) | Task::Attack(_) | Task::Visit(_) => Self::Target,
            Task::Move(_) | Task::Hold if queued => Self::Queued,
            Task::Move(_) | Task::Hold => Self::Move,
        }
    }
}

#[derive(Component)]
struct Marker {
    age: f32,
    life: f32,
}

/// Returns a command that spawns a marker on a cell.
pub fn show(kind: MarkerKind, cell: Cell) -> impl Command {
    move |world: &mut World| {
        let position = world.resource::<GameMap>().frame.cell_center(cell).extend(HEIGHT);
        let sheets = world.resource::<Sheets>();
        let (sprite, life) = match kind {
            MarkerKind::Move => (sheets.marks.sprite(mark::MOVE), LIFE),
            MarkerKind::Patrol => (sheets.marks.sprite(mark::FLAG), LIFE),
            MarkerKind::Target => (sheets.tiles.sprite(tiles::TARGET as usize), LIFE),
            MarkerKind::Queued => (sheets.marks.sprite(mark::QUEUED), LIFE),
            MarkerKind::Failed => (sheets.marks.sprite(mark::FAILED), FAILURE_LIFE),
        };
        world.spawn((Marker { age: 0.0, life }, sprite, Transform::from_translation(position)));
    }
}

fn mark_failure(notice: On<Notice>, mut commands: Commands) {
    if let Some(cell) = notice.goal {
        commands.queue(show(MarkerKind::Failed, cell));
    }
}

/// Animates markers: they shrink to their size at first and fade out at the end.
fn fade(
    mut commands: Commands,
    time: Res<Time<Real>>,
    mut markers: Query<(Entity, &mut Marker, &mut Sprite, &mut Transform)>,
) {
    for (entity, mut marker, mut sprite, mut transform) in &mut markers {
        marker.age += time.delta_secs();
        let left = 1.0 - marker.age / marker.life;
        if left <= 0.0 {
            commands.entity(entity).despawn();
            continue;
        }
        sprite.color.set_alpha((left * 2.0).min(1.0));
        transform.scale = Vec3::splat(1.0 + 0.8 * (1.0 - marker.age * 6.0).max(0.0));
    }
}
