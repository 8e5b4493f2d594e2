//! Notices, shown above the critter that they are about.
//!
//! Input: notices with a position. Output: a line of text there, of the same size at any zoom, that
//! rises and fades out. Further notices near the same position appear in the HUD only.

use bevy::{prelude::*, text::TextBackgroundColor};

use crate::{
    camera::{MainCamera, scale_of},
    display::ViewSystems,
    map::TILE,
    reports::Notice,
};

/// Lifetime of a label, in seconds.
const LIFE: f32 = 2.5;
/// World units that it rises per second.
const RISE: f32 = 5.0;
/// Least distance between two new labels, in world units.
const APART: f32 = 3.0 * TILE;
/// Most labels at the same time.
const MOST: usize = 24;
/// The z coordinate of labels: above everything.
const HEIGHT: f32 = 9.0;

/// Adds labels.
pub struct LabelsPlugin;

impl Plugin for LabelsPlugin {
    fn build(&self, app: &mut App) {
        app.add_observer(show).add_systems(Update, fade.in_set(ViewSystems::Show));
    }
}

#[derive(Component)]
struct Label {
    age: f32,
}

fn show(notice: On<Notice>, labels: Query<&Transform, With<Label>>, mut commands: Commands) {
    let Some(at) = notice.at.map(|at| at + Vec2::new(0.0, TILE)) else {
        return;
    };
    let is_crowded = labels.iter().any(|label| label.translation.truncate().distance(at) < APART);
    if is_crowded || labels.iter().len() >= MOST {
        return;
    }
    commands.spawn((
        Label { age: 0.0 },
        Text2d::new(notice.text.clone()),
        TextFont::from_font_size(12.0),
        TextColor(Color::srgb(1.0, 0.82, 0.45)),
        TextBackgroundColor(Color::srgba(0.05, 0.06, 0.09, 0.75)),
        Transform::from_translation(at.extend(HEIGHT)),
    ));
}

type LabelItem = (Entity, &'static mut Label, &'static mut Transform, &'static mut TextColor);

fn fade(
    mut commands: Commands,
    time: Res<Time<Real>>,
    camera: Single<&Projection, With<MainCamera>>,
    mut labels: Query<LabelItem>,
) {
    let scale = scale_of(*camera);
    for (entity, mut label, mut transform, mut color) in &mut labels {
        label.age += time.delta_secs();
        if label.age >= LIFE {
            commands.entity(entity).despawn();
            continue;
        }
        transform.translation.y += RISE * time.delta_secs();
        transform.scale = Vec3::new(scale, scale, 1.0);
        color.0.set_alpha(((LIFE - label.age) * 2.0).min(1.0));
    }
}
