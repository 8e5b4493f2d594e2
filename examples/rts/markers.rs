//! Marks on the ground: where orders lead, and where they fail.
//!
//! Input: orders of the player, notices. Output: marks that fade away.

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

/// Seconds that a mark stays.
const LIFE: f32 = 1.2;
/// Seconds that a failure stays marked.
const FAILURE_LIFE: f32 = 2.5;
/// How high marks are drawn.
const HEIGHT: f32 = 5.0;

/// Adds marks.
pub struct MarkersPlugin;

impl Plugin for MarkersPlugin {
    fn build(&self, app: &mut App) {
        app.add_observer(mark_failure).add_systems(Update, fade.in_set(ViewSystems::Show));
    }
}

/// What a mark says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerKind {
    Move,
    Patrol,
    /// Something that stands or goes there is meant.
    Target,
    Queued,
    Failed,
}

impl MarkerKind {
    /// The mark of a task.
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

/// A command that marks a cell.
pub fn show(kind: MarkerKind, cell: Cell) -> impl Command {
    move |world: &mut World| {
        let place = world.resource::<GameMap>().frame.cell_center(cell).extend(HEIGHT);
        let sheets = world.resource::<Sheets>();
        let (sprite, life) = match kind {
            MarkerKind::Move => (sheets.marks.sprite(mark::MOVE), LIFE),
            MarkerKind::Patrol => (sheets.marks.sprite(mark::FLAG), LIFE),
            MarkerKind::Target => (sheets.tiles.sprite(tiles::TARGET as usize), LIFE),
            MarkerKind::Queued => (sheets.marks.sprite(mark::QUEUED), LIFE),
            MarkerKind::Failed => (sheets.marks.sprite(mark::FAILED), FAILURE_LIFE),
        };
        world.spawn((Marker { age: 0.0, life }, sprite, Transform::from_translation(place)));
    }
}

fn mark_failure(notice: On<Notice>, mut commands: Commands) {
    if let Some(cell) = notice.goal {
        commands.queue(show(MarkerKind::Failed, cell));
    }
}

/// Marks shrink into place at first and fade away at the end.
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
