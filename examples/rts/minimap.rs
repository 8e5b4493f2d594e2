//! The minimap: terrain, walls, buildings, critters, and the visible area.
//!
//! Input: the map and all positions. Output: a small image, redrawn a few times a second, and a
//! rectangle over it that follows the camera every frame.

use std::time::Duration;

use bevy::{
    asset::RenderAssetUsages,
    prelude::*,
    render::render_resource::{Extent3d, TextureDimension, TextureFormat},
    time::common_conditions::on_real_timer,
};

use crate::{
    buildings::{BuildingKind, Buildings},
    camera::MainCamera,
    display::ViewSystems,
    hud,
    map::GameMap,
    pointer::Panel,
    select::Selected,
    tiles,
    units::Unit,
    walls::Walls,
};

/// Longer side of the image, in pixels.
const SIDE: f32 = 208.0;
/// Time between two redraws.
const REDRAW: Duration = Duration::from_millis(100);
const UNIT: [u8; 4] = [120, 205, 255, 255];
const SELECTED: [u8; 4] = [255, 255, 255, 255];
const WALL: [u8; 4] = [190, 190, 195, 255];
const DEPOT: [u8; 4] = [240, 170, 60, 255];
const DUMMY: [u8; 4] = [235, 60, 50, 255];

/// Adds the minimap.
pub struct MinimapPlugin;

impl Plugin for MinimapPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, spawn).add_systems(
            Update,
            (redraw.run_if(on_real_timer(REDRAW)), follow_camera).in_set(ViewSystems::Show),
        );
    }
}

/// The node that shows the image.
#[derive(Component, Clone, Copy, Debug)]
pub struct Minimap;

#[derive(Component)]
struct CameraFrame;

/// The minimap's image.
#[derive(Resource)]
struct MinimapImage {
    image: Handle<Image>,
    size: UVec2,
    /// Pixels of the terrain alone.
    terrain: Vec<u8>,
}

/// Returns the size and the pixels of the terrain.
fn terrain_pixels(map: &GameMap) -> (UVec2, Vec<u8>) {
    let bounds = map.bounds();
    let scale = SIDE / bounds.size().max_element();
    let size = (bounds.size() * scale).round().as_uvec2().max(UVec2::ONE);
    let is_city = tiles::is_city(map);
    let pixels = (0..size.y)
        .flat_map(|y| (0..size.x).map(move |x| UVec2::new(x, size.y - 1 - y)))
        .flat_map(|pixel| {
            let share = (pixel.as_vec2() + 0.5) / size.as_vec2();
            let cell = map.frame.cell_at(bounds.min + share * bounds.size());
            let letter = cell.and_then(|cell| map.letter(cell)).unwrap_or_default();
            let [red, green, blue] = tiles::minimap_color(letter, is_city);
            [red, green, blue, 255]
        })
        .collect();
    (size, pixels)
}

fn spawn(mut commands: Commands, map: Res<GameMap>, mut images: ResMut<Assets<Image>>) {
    let (size, terrain) = terrain_pixels(&map);
    let extent = Extent3d { width: size.x, height: size.y, depth_or_array_layers: 1 };
    let image = images.add(Image::new(
        extent,
        TextureDimension::D2,
        terrain.clone(),
        TextureFormat::Rgba8UnormSrgb,
        RenderAssetUsages::default(),
    ));
    commands
        .spawn((hud::panel(Node { right: px(12), bottom: px(12), ..default() }), Panel))
        .with_child((
            Minimap,
            ImageNode::new(image.clone()),
            Node { width: px(size.x), height: px(size.y), overflow: Overflow::clip(), ..default() },
            children![(
                CameraFrame,
                Node {
                    position_type: PositionType::Absolute,
                    border: UiRect::all(px(1)),
                    ..default()
                },
                BorderColor::all(Color::WHITE),
            )],
        ));
    commands.insert_resource(MinimapImage { image, size, terrain });
}

fn redraw(
    minimap: Res<MinimapImage>,
    mut images: ResMut<Assets<Image>>,
    map: Res<GameMap>,
    walls: Res<Walls>,
    buildings: Res<Buildings>,
    units: Query<(&Transform, &Unit, Has<Selected>)>,
) {
    let Some(mut image) = images.get_mut(&minimap.image) else { return };
    let Some(pixels) = &mut image.data else { return };
    pixels.copy_from_slice(&minimap.terrain);
    let mut dot = |at: Vec2, color: [u8; 4], width: u32| {
        let share = (at - map.bounds().min) / map.bounds().size();
        let corner = (share.with_y(1.0 - share.y) * minimap.size.as_vec2()).as_uvec2();
        for (dx, dy) in (0..width * width).map(|i| (i % width, i / width)) {
            let at = corner + UVec2::new(dx, dy);
            if at.x < minimap.size.x && at.y < minimap.size.y {
                let first = 4 * (at.y * minimap.size.x + at.x) as usize;
                pixels[first..first + 4].copy_from_slice(&color);
            }
        }
    };
    for &cell in walls.cells.keys() {
        dot(map.frame.cell_center(cell), WALL, 1);
    }
    for (_, building) in buildings.iter() {
        let color = match building.kind {
            BuildingKind::Depot => DEPOT,
            BuildingKind::Dummy => DUMMY,
        };
        dot(map.frame.cell_center(building.block.min), color, 2);
    }
    for (transform, unit, is_selected) in &units {
        let color = if is_selected { SELECTED } else { UNIT };
        dot(transform.translation.truncate(), color, 1 + u32::from(unit.kind.size()));
    }
}

fn follow_camera(
    mut frame: Single<&mut Node, With<CameraFrame>>,
    camera: Single<(&Camera, &GlobalTransform, &Projection), With<MainCamera>>,
    minimap: Res<MinimapImage>,
    map: Res<GameMap>,
) {
    let (_, transform, projection) = *camera;
    let Projection::Orthographic(view) = projection else {
        return;
    };
    let bounds = map.bounds();
    let scale = minimap.size.as_vec2() / bounds.size();
    let center = transform.translation().truncate();
    let shown = Rect::from_center_size(center, view.area.size());
    let left_top = Vec2::new(shown.min.x - bounds.min.x, bounds.max.y - shown.max.y) * scale;
    frame.left = px(left_top.x);
    frame.top = px(left_top.y);
    frame.width = px(shown.width() * scale.x);
    frame.height = px(shown.height() * scale.y);
}
