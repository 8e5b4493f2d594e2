//! The player's orders: what a click or a key tells those who are selected.
//!
//! Input: pointer and keys. Output: calls of the same [`Dispatcher`] that the scripted match uses,
//! and marks on the ground. What a right click means depends on what is under it.

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
    task::{Drill, Task},
};

/// Adds the player's orders.
pub struct PlayerPlugin;

impl Plugin for PlayerPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<PatrolAim>().add_systems(
            Update,
            // A click that ends a patrol must not select: whoever selects looks at the aim first.
            (choose_drill, order_by_click.after(select_by_pointer), order_by_key)
                .in_set(ViewSystems::Act),
        );
    }
}

/// Whether the next left click says where a patrol turns back.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PatrolAim(pub bool);

/// F chooses the formation of groups, K whether they keep together.
fn choose_drill(mut drill: ResMut<Drill>, keys: Res<ButtonInput<KeyCode>>) {
    if keys.just_pressed(KeyCode::KeyF) {
        drill.turn(1);
    }
    if keys.just_pressed(KeyCode::KeyK) {
        drill.keeps_together = !drill.keeps_together;
    }
}

/// Right click sends whoever is selected, with shift after what they have been told before; after P
/// a left click says how far they patrol.
fn order_by_click(
    mut commands: Commands,
    mut dispatcher: Dispatcher,
    mut aim: ResMut<PatrolAim>,
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
    let aims = aim.0;
    if left || right {
        aim.set_if_neq(PatrolAim(false));
    }
    let Some(cell) = pointer.cell(&map) else {
        return;
    };
    let task = match (aims, left, right) {
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

/// What a right click on the ground means: to shoot at a dummy, to go up to a depot, to follow a
/// critter that is not selected, or else to go there.
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

/// S stops, H holds (with shift: pauses in the line of orders), P asks how far to patrol.
fn order_by_key(
    mut dispatcher: Dispatcher,
    mut aim: ResMut<PatrolAim>,
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
    let aims = keys.just_pressed(KeyCode::KeyP) && !selected.is_empty();
    aim.set_if_neq(PatrolAim(aims));
}

fn selected(units: &Units) -> Vec<Entity> {
    units.iter().filter(|&(.., is_selected)| is_selected).map(|(entity, ..)| entity).collect()
}
