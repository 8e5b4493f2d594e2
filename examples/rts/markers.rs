//! Marks on the ground: where orders lead, where they fail, and the ways of who is selected.
//!
//! Input: orders, notices and paths. Output: marks that fade away, dashed path previews and dots
//! where queued orders lead.

use bevy::{gizmos::config::GizmoLineStyle, prelude::*};
use bevy_tilepath::prelude::*;

use crate::{
    display::ViewSystems,
    map::GameMap,
    orders::{Notice, OrderQueue},
    select::Selected,
    sprites::{Sheets, mark},
};

/// Seconds that a mark stays.
const LIFE: f32 = 1.2;
/// Seconds that a failure stays marked.
const FAILURE_LIFE: f32 = 2.5;
/// Paths drawn at most: more of them would hide the ground.
const MOST_PREVIEWS: usize = 60;
/// Critters up to which lines also lead to queued goals.
const MOST_QUEUE_LINES: usize = 24;
/// How high marks are drawn.
const HEIGHT: f32 = 5.0;

/// Adds marks and previews.
pub struct MarkersPlugin;

impl Plugin for MarkersPlugin {
    fn build(&self, app: &mut App) {
        app.init_gizmo_group::<Previews>()
            .add_observer(mark_failure)
            .add_systems(Startup, style_previews)
            .add_systems(Update, (fade, preview_paths).in_set(ViewSystems::Show));
    }
}

/// How path previews are drawn.
#[derive(Default, Reflect, GizmoConfigGroup)]
struct Previews;

/// What a mark says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerKind {
    Move,
    Queued,
    Failed,
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
        let (frame, life) = match kind {
            MarkerKind::Move => (mark::MOVE, LIFE),
            MarkerKind::Queued => (mark::QUEUED, LIFE),
            MarkerKind::Failed => (mark::FAILED, FAILURE_LIFE),
        };
        let sprite = world.resource::<Sheets>().marks.sprite(frame);
        world.spawn((Marker { age: 0.0, life }, sprite, Transform::from_translation(place)));
    }
}

fn mark_failure(notice: On<Notice>, mut commands: Commands) {
    if let Some(cell) = notice.cell {
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

fn style_previews(mut configs: ResMut<GizmoConfigStore>) {
    let (config, _) = configs.config_mut::<Previews>();
    config.line.width = 2.0;
    config.line.style = GizmoLineStyle::Dashed { gap_scale: 2.0, line_scale: 3.0 };
}

type Ordered = (&'static Transform, &'static CritterState, &'static NavPath, &'static OrderQueue);

/// The way ahead of selected critters, and on to their queued goals. The more there are, the
/// fainter they are drawn.
fn preview_paths(
    mut gizmos: Gizmos<Previews>,
    map: Res<GameMap>,
    critters: Query<Ordered, With<Selected>>,
) {
    let is_ordered = |(.., queue): &(_, _, _, &OrderQueue)| queue.current.is_some();
    let count = critters.iter().filter(is_ordered).count().min(MOST_PREVIEWS);
    let alpha = 0.2 + 0.4 / (1.0 + count as f32 / 10.0);
    let way = Color::srgba(1.0, 1.0, 1.0, alpha);
    let later = Color::srgba(1.0, 0.88, 0.3, alpha);
    for (transform, state, path, queue) in critters.iter().filter(is_ordered).take(count) {
        let center = |cell| map.frame.cell_center(cell);
        let here = transform.translation.truncate();
        let ahead = state.walk().waypoints_ahead(path).map(center);
        gizmos.linestrip_2d(std::iter::once(here).chain(ahead), way);
        let goals = queue.current.iter().chain(&queue.next).map(|&cell| center(cell));
        if !queue.next.is_empty() && count <= MOST_QUEUE_LINES {
            gizmos.linestrip_2d(goals.clone(), later);
        }
        for goal in goals.skip(1) {
            gizmos.circle_2d(goal, 3.0, later);
        }
    }
}
