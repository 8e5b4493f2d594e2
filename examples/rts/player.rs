//! The player's orders to the selected critters.
//!
//! Input: pointer and keys. Output: calls to the [`Dispatcher`] that the scripted match also uses,
//! and markers on the map. The order of a right click depends on what is under the pointer.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    buildings::{BuildingKind, Buildings},
    camera::MainCamera,
    display::ViewSystems,
    map::GameMap,
    markers::{self, MarkerKind},
    orders::Dispatcher,
    pointer::{Over, Pointer},
    select::{SHIFT, Units, is_held, select_by_pointer, unit_at},
    task::{GroupSettings, Task},
};

/// Adds the player's orders.
pub struct PlayerPlugin;

impl Plugin for PlayerPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<PatrolPending>().add_systems(
            Update,
            // The click that sets a patrol's goal must not select: selection reads the pending
            // patrol first.
            (change_group_settings, order_by_click.after(select_by_pointer), order_by_key)
                .in_set(ViewSystems::Act),
        );
    }
}

/// Whether the next left click sets the goal of a patrol.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PatrolPending(pub bool);

/// Changes the formation of groups (F) and whether they keep together (K).
fn change_group_settings(
    mut group_settings: ResMut<GroupSettings>,
    keys: Res<ButtonInput<KeyCode>>,
) {
    if keys.just_pressed(KeyCode::KeyF) {
        group_settings.next_formation();
    }
    if keys.just_pressed(KeyCode::KeyK) {
        group_settings.keeps_together = !group_settings.keeps_together;
    }
}

/// Gives orders by right click; with shift they are queued. After P a left click sets the patrol's
/// goal.
fn order_by_click(
    mut commands: Commands,
    mut dispatcher: Dispatcher,
    mut pending: ResMut<PatrolPending>,
    buttons: Res<ButtonInput<MouseButton>>,
    keys: Res<ButtonInput<KeyCode>>,
    pointer: Res<Pointer>,
    map: Res<GameMap>,
    buildings: Res<Buildings>,
    camera: Single<&Projection, With<MainCamera>>,
    units: Units,
) {
    let left = buttons.just_pressed(MouseButton::Left);
    let right = buttons.just_pressed(MouseButton::Right);
    let is_patrol = pending.0;
    if left || right {
        pending.set_if_neq(PatrolPending(false));
    }
    let Some(cell) = pointer.cell(&map) else {
        return;
    };
    let task = match (is_patrol, left, right) {
        (true, true, _) => Task::Patrol(cell),
        (false, _, true) if pointer.over == Over::Minimap => Task::Move(cell),
        (false, _, true) => task_at(cell, pointer.world, &buildings, &units, *camera),
        _ => return,
    };
    let selected = selected(&units);
    if !selected.is_empty() {
        let queued = is_held(&keys, SHIFT);
        dispatcher.give(&selected, task, queued);
        commands.queue(markers::show(MarkerKind::of(task, queued), cell));
    }
}

/// Returns the task of a right click: attack a dummy, visit a depot, follow a critter that is not
/// selected, or else move to the cell.
fn task_at(
    cell: Cell,
    at: Vec2,
    buildings: &Buildings,
    units: &Units,
    projection: &Projection,
) -> Task {
    if let Some((entity, building)) = buildings.at(cell) {
        return match building.kind {
            BuildingKind::Depot => Task::Visit(entity),
            BuildingKind::Dummy => Task::Attack(entity),
        };
    }
    let friend = unit_at(units, at, projection, |is_selected| !is_selected);
    friend.map_or(Task::Move(cell), |(friend, _)| Task::Follow(friend))
}

/// Stops (S), holds (H; with shift: a queued pause), or starts a patrol order (P).
fn order_by_key(
    mut dispatcher: Dispatcher,
    mut pending: ResMut<PatrolPending>,
    keys: Res<ButtonInput<KeyCode>>,
    units: Units,
) {
    let any = [KeyCode::KeyS, KeyCode::KeyH, KeyCode::KeyP, KeyCode::Escape];
    if !keys.any_just_pressed(any) {
        return;
    }
    let selected = selected(&units);
    if keys.just_pressed(KeyCode::KeyS) {
        dispatcher.stop(&selected);
    }
    if keys.just_pressed(KeyCode::KeyH) {
        dispatcher.give(&selected, Task::Hold, is_held(&keys, SHIFT));
    }
    let is_patrol = keys.just_pressed(KeyCode::KeyP) && !selected.is_empty();
    pending.set_if_neq(PatrolPending(is_patrol));
}

fn selected(units: &Units) -> Vec<Entity> {
    units.iter().filter(|&(.., is_selected)| is_selected).map(|(entity, ..)| entity).collect()
}
