//! Selection by keys: control groups, all, none.
//!
//! Input: keys. Output: [`Selected`](crate::select::Selected) on critters. A second press of a
//! group's digit centers the view on it.

use bevy::prelude::*;

use crate::{
    camera::MainCamera,
    display::ViewSystems,
    select::{DOUBLE, SHIFT, Units, is_held, select},
    units::Unit,
};

/// Digit keys of the control groups.
const DIGITS: [KeyCode; 9] = [
    KeyCode::Digit1,
    KeyCode::Digit2,
    KeyCode::Digit3,
    KeyCode::Digit4,
    KeyCode::Digit5,
    KeyCode::Digit6,
    KeyCode::Digit7,
    KeyCode::Digit8,
    KeyCode::Digit9,
];

/// Adds control groups.
pub struct GroupsPlugin;

impl Plugin for GroupsPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Groups>().add_systems(Update, select_by_keys.in_set(ViewSystems::Act));
    }
}

#[derive(Resource, Default)]
struct Groups {
    members: [Vec<Entity>; 9],
    /// The group that was selected last, and when.
    last_recall: (usize, f32),
}

fn select_by_keys(
    mut commands: Commands,
    mut groups: ResMut<Groups>,
    mut camera: Single<&mut Transform, (With<MainCamera>, Without<Unit>)>,
    keys: Res<ButtonInput<KeyCode>>,
    time: Res<Time<Real>>,
    units: Units,
) {
    let is_control = is_held(&keys, [KeyCode::ControlLeft, KeyCode::ControlRight]);
    if keys.just_pressed(KeyCode::Escape) {
        select(&mut commands, &units, &[], false);
    }
    if is_control && keys.just_pressed(KeyCode::KeyA) {
        let all: Vec<_> = units.iter().map(|(entity, ..)| entity).collect();
        select(&mut commands, &units, &all, true);
    }
    let Some(digit) = DIGITS.iter().position(|&key| keys.just_pressed(key)) else {
        return;
    };
    if is_control {
        groups.members[digit] = units
            .iter()
            .filter(|&(.., is_selected)| is_selected)
            .map(|(entity, ..)| entity)
            .collect();
        return;
    }
    let now = (digit, time.elapsed_secs());
    let before = std::mem::replace(&mut groups.last_recall, now);
    let members = &groups.members[digit];
    select(&mut commands, &units, members, is_held(&keys, SHIFT));
    let is_double = before.0 == digit && now.1 - before.1 < DOUBLE;
    if let Some(center) = center_of(&units, members).filter(|_| is_double) {
        camera.translation = center.extend(camera.translation.z);
    }
}

/// Returns the mean position of critters.
fn center_of(units: &Units, members: &[Entity]) -> Option<Vec2> {
    let positions = units.iter_many(members).map(|(_, _, at, _)| at.translation.truncate());
    let (sum, count) =
        positions.fold((Vec2::ZERO, 0.0), |(sum, count), at| (sum + at, count + 1.0));
    (count > 0.0).then(|| sum / count)
}
