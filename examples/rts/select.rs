//! Selection by pointer: click, drag-box, shift to add.
//!
//! Input: pointer and keys. Output: [`Selected`] on critters, a ring under each of them, and the
//! box while it is drawn. A double click selects all critters of that kind in view. Large critters
//! have large rings, and can be clicked anywhere on their block.

use bevy::prelude::*;

use crate::{
    camera::{MainCamera, scale_of},
    display::ViewSystems,
    map::TILE,
    player::PatrolPending,
    pointer::{Over, Pointer},
    sprites::{Sheets, mark},
    units::Unit,
};

/// Pixels that the pointer must move for a click to become a box.
const DRAG: f32 = 6.0;
/// Most seconds between two clicks or key presses that count as double.
pub const DOUBLE: f32 = 0.3;

/// Adds selection.
pub struct SelectPlugin;

impl Plugin for SelectPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Drag>()
            .add_observer(add_ring)
            .add_observer(remove_ring)
            .add_systems(Startup, spawn_box)
            .add_systems(
                Update,
                (select_by_pointer.in_set(ViewSystems::Act), draw_box.in_set(ViewSystems::Show)),
            );
    }
}

/// Marks a critter as selected.
#[derive(Component, Clone, Copy, Debug)]
pub struct Selected;

#[derive(Component)]
struct Ring;

#[derive(Component)]
struct SelectionBox;

/// The box being drawn, and the time of the last click.
#[derive(Resource, Default)]
pub struct Drag {
    /// Where the button was pressed: on the screen and in the world.
    from: Option<(Vec2, Vec2)>,
    is_box: bool,
    last_click: f32,
}

/// All critters, and whether each is selected.
pub type Units<'w, 's> = Query<'w, 's, (Entity, &'static Unit, &'static Transform, Has<Selected>)>;

/// Returns whether a modifier key is held or was released in this frame: a quick press and release
/// may arrive within one frame.
pub fn is_held(keys: &ButtonInput<KeyCode>, modifier: [KeyCode; 2]) -> bool {
    keys.any_pressed(modifier) || keys.any_just_released(modifier)
}

/// The shift keys.
pub const SHIFT: [KeyCode; 2] = [KeyCode::ShiftLeft, KeyCode::ShiftRight];

/// Selects by click and by box, unless the click sets the goal of a patrol.
pub fn select_by_pointer(
    mut commands: Commands,
    mut drag: ResMut<Drag>,
    patrol: Res<PatrolPending>,
    buttons: Res<ButtonInput<MouseButton>>,
    keys: Res<ButtonInput<KeyCode>>,
    pointer: Res<Pointer>,
    time: Res<Time<Real>>,
    units: Units,
    view: Single<View, With<MainCamera>>,
) {
    if buttons.just_pressed(MouseButton::Left) && pointer.over == Over::World && !patrol.0 {
        drag.from = Some((pointer.screen, pointer.world));
        drag.is_box = false;
    }
    let Some((screen, world)) = drag.from else {
        return;
    };
    drag.is_box |= pointer.screen.distance(screen) > DRAG;
    if !buttons.just_released(MouseButton::Left) {
        return;
    }
    drag.from = None;
    let chosen = if drag.is_box {
        in_rect(&units, Rect::from_corners(world, pointer.world), None)
    } else {
        let now = time.elapsed_secs();
        let is_double = now - std::mem::replace(&mut drag.last_click, now) < DOUBLE;
        clicked(&units, pointer.world, *view, is_double)
    };
    select(&mut commands, &units, &chosen, is_held(&keys, SHIFT));
}

type View = (&'static Camera, &'static GlobalTransform, &'static Projection);

/// Returns the critter at a click; for a double click, all of its kind in view.
fn clicked(
    units: &Units,
    at: Vec2,
    (camera, transform, projection): (&Camera, &GlobalTransform, &Projection),
    is_double: bool,
) -> Vec<Entity> {
    match unit_at(units, at, projection, |_| true) {
        Some((_, unit)) if is_double => {
            let shown = camera.logical_viewport_rect().unwrap_or_default();
            let corner = |at| camera.viewport_to_world_2d(transform, at).unwrap_or_default();
            let shown = Rect::from_corners(corner(shown.min), corner(shown.max));
            in_rect(units, shown, Some(unit))
        }
        Some((entity, _)) => vec![entity],
        None => Vec::new(),
    }
}

/// Returns the critters inside a world rectangle; with `like`, only those of its kind.
fn in_rect(units: &Units, rect: Rect, like: Option<Unit>) -> Vec<Entity> {
    units
        .iter()
        .filter(|(_, unit, ..)| like.is_none_or(|like| like.kind == unit.kind))
        .filter(|(_, unit, transform, _)| {
            rect.inflate(overhang(unit)).contains(transform.translation.truncate())
        })
        .map(|(entity, ..)| entity)
        .collect()
}

/// Returns the critter at a world position. `is_wanted` filters by whether it is selected.
pub fn unit_at(
    units: &Units,
    at: Vec2,
    projection: &Projection,
    is_wanted: impl Fn(bool) -> bool,
) -> Option<(Entity, Unit)> {
    let reach = (TILE * 0.7).max(10.0 * scale_of(projection));
    units
        .iter()
        .filter(|&(.., is_selected)| is_wanted(is_selected))
        .map(|(entity, unit, transform, _)| {
            let distance = transform.translation.truncate().distance(at);
            (distance - overhang(unit), (entity, *unit))
        })
        .filter(|&(distance, _)| distance < reach)
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, hit)| hit)
}

/// Returns how far a critter extends beyond one cell on each side, in world units.
fn overhang(unit: &Unit) -> f32 {
    f32::from(unit.width - 1) / 2.0 * TILE
}

/// Selects `chosen`; `adds` keeps the present selection.
pub fn select(commands: &mut Commands, units: &Units, chosen: &[Entity], adds: bool) {
    if !adds {
        for (entity, ..) in units.iter().filter(|&(.., is_selected)| is_selected) {
            if !chosen.contains(&entity) {
                commands.entity(entity).remove::<Selected>();
            }
        }
    }
    for (entity, .., is_selected) in units.iter_many(chosen) {
        if !is_selected {
            commands.entity(entity).insert(Selected);
        }
    }
}

fn add_ring(
    added: On<Add, Selected>,
    units: Query<&Unit>,
    mut commands: Commands,
    sheets: Res<Sheets>,
) {
    let size = units.get(added.entity).map_or(1.0, |unit| f32::from(unit.width));
    let transform = Transform::from_xyz(0.0, 0.0, -0.5).with_scale(Vec3::new(size, size, 1.0));
    commands.entity(added.entity).with_child((Ring, sheets.marks.sprite(mark::RING), transform));
}

fn remove_ring(
    removed: On<Remove, Selected>,
    mut commands: Commands,
    children: Query<&Children>,
    rings: Query<Entity, With<Ring>>,
) {
    for ring in children.get(removed.entity).into_iter().flat_map(|all| rings.iter_many(all)) {
        commands.entity(ring).despawn();
    }
}

fn spawn_box(mut commands: Commands) {
    commands.spawn((
        SelectionBox,
        Sprite::from_color(Color::srgba(0.36, 1.0, 0.42, 0.14), Vec2::ONE),
        Transform::from_xyz(0.0, 0.0, 8.0),
        Visibility::Hidden,
    ));
}

fn draw_box(
    drag: Res<Drag>,
    pointer: Res<Pointer>,
    mut fill: Single<(&mut Transform, &mut Visibility), With<SelectionBox>>,
    mut gizmos: Gizmos,
) {
    let (transform, visibility) = &mut *fill;
    let Some((_, world)) = drag.from.filter(|_| drag.is_box) else {
        visibility.set_if_neq(Visibility::Hidden);
        return;
    };
    let rect = Rect::from_corners(world, pointer.world);
    visibility.set_if_neq(Visibility::Visible);
    transform.translation = rect.center().extend(transform.translation.z);
    transform.scale = rect.size().max(Vec2::splat(0.01)).extend(1.0);
    gizmos.rect_2d(rect.center(), rect.size(), Color::srgb(0.36, 1.0, 0.42));
}
