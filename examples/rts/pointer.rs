//! What the pointer is over: the world, the minimap, a panel, or nothing.
//!
//! Input: the window's cursor. Output: [`Pointer`], which all controls read.

use bevy::{prelude::*, ui::UiGlobalTransform, window::PrimaryWindow};
use bevy_tilepath::prelude::*;

use crate::{camera::MainCamera, display::ViewSystems, map::GameMap, minimap::Minimap};

/// Updates [`Pointer`].
pub struct PointerPlugin;

impl Plugin for PointerPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Pointer>()
            .add_systems(Update, (find, note_press).chain().in_set(ViewSystems::Point));
    }
}

/// A UI node that blocks the pointer.
#[derive(Component, Clone, Copy, Debug)]
pub struct Panel;

/// What the pointer is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Over {
    #[default]
    Nothing,
    World,
    Minimap,
    Panel,
}

/// The pointer's position and target.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct Pointer {
    pub over: Over,
    /// What it was over when the left button was last pressed down.
    pub pressed_on: Over,
    /// Position in the window, in logical pixels from the top left.
    pub screen: Vec2,
    /// Position in the world; over the minimap, the position that it shows there.
    pub world: Vec2,
}

impl Pointer {
    /// Returns the cell under the pointer; it may lie off the map.
    pub fn cell(&self, map: &GameMap) -> Option<Cell> {
        let is_on_world = matches!(self.over, Over::World | Over::Minimap);
        map.frame.cell_at(self.world).filter(|_| is_on_world)
    }
}

type PanelItem = (&'static ComputedNode, &'static UiGlobalTransform, &'static InheritedVisibility);

fn find(
    mut pointer: ResMut<Pointer>,
    window: Single<&Window, With<PrimaryWindow>>,
    camera: Single<(&Camera, &GlobalTransform), With<MainCamera>>,
    minimap: Single<(&ComputedNode, &UiGlobalTransform), With<Minimap>>,
    panels: Query<PanelItem, With<Panel>>,
    map: Res<GameMap>,
) {
    let (Some(screen), Some(physical)) =
        (window.cursor_position(), window.physical_cursor_position())
    else {
        pointer.over = Over::Nothing;
        return;
    };
    pointer.screen = screen;
    let (node, transform) = *minimap;
    if node.contains_point(*transform, physical)
        && let Some(share) = node.normalize_point(*transform, physical)
    {
        let bounds = map.bounds();
        pointer.world = bounds.center() + share * bounds.size() * Vec2::new(1.0, -1.0);
        pointer.over = Over::Minimap;
        return;
    }
    let (camera, view) = *camera;
    pointer.world = camera.viewport_to_world_2d(view, screen).unwrap_or(pointer.world);
    let is_on_panel = panels.iter().any(|(node, transform, visibility)| {
        visibility.get() && node.contains_point(*transform, physical)
    });
    pointer.over = if is_on_panel { Over::Panel } else { Over::World };
}

fn note_press(mut pointer: ResMut<Pointer>, buttons: Res<ButtonInput<MouseButton>>) {
    if buttons.just_pressed(MouseButton::Left) {
        pointer.pressed_on = pointer.over;
    }
}
