//! The window, and everything in it.
//!
//! Input: [`Options`]. Output: an app that is ready to run. The map is to the left of the panel and
//! above the row of scenes, scaled to fit.

use bevy::{prelude::*, window::PrimaryWindow};
use bevy_tilepath::prelude::*;

use crate::{
    chips,
    cli::Options,
    controls,
    game::{CELL, GamePlugin, RequestedScene, frame},
    map_view, overlay, palette, panel,
    screen::window,
    smoke, tour, units,
};

/// Window size of the layout, in pixels; other sizes show it scaled.
pub const SIZE: Vec2 = Vec2::new(1280.0, 800.0);
/// Width of the panel at the right, height of the row at the bottom.
pub const PANEL: f32 = 320.0;
pub const ROW: f32 = 34.0;
/// Free space around the map.
const MARGIN: f32 = 16.0;

/// Systems of the view, in the order in which they run in a frame.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViewSystems {
    /// Handle input.
    Act,
    /// Draw.
    Show,
}

/// Builds the app; fails with a reason where there is no display or adapter.
pub fn open(options: &Options) -> Result<App, String> {
    let title = "bevy_tilepath – crowds";
    let window = window::window(title, SIZE.as_uvec2(), options.smoke.is_some());
    let mut app = window::open(window::plugins(), window)?;
    app.configure_sets(Update, (ViewSystems::Act, ViewSystems::Show).chain())
        .insert_resource(ClearColor(palette::BACKGROUND))
        .add_plugins((
            GamePlugin,
            map_view::MapViewPlugin,
            units::UnitsPlugin,
            overlay::OverlayPlugin,
            panel::PanelPlugin,
            chips::ChipsPlugin,
            controls::ControlsPlugin,
        ))
        .insert_resource(RequestedScene(Some(options.scene)))
        .add_systems(Startup, |mut commands: Commands| {
            commands.spawn(Camera2d);
        })
        .add_systems(PostUpdate, fit.before(TransformSystems::Propagate));
    if options.is_tour {
        app.add_plugins(tour::TourPlugin);
    }
    if let Some(folder) = &options.smoke {
        smoke::add_to(&mut app, folder)?;
    }
    Ok(app)
}

/// Returns the area of the map in a window of [`SIZE`].
pub fn map_area() -> Rect {
    Rect::new(0.0, 0.0, SIZE.x - PANEL, SIZE.y - ROW)
}

/// Scales panel and map to the window.
fn fit(
    window: Single<&Window, With<PrimaryWindow>>,
    grids: Res<NavGrids>,
    mut ui_scale: ResMut<UiScale>,
    mut camera: Single<(&mut Transform, &mut Projection), With<Camera2d>>,
) {
    let ui = (window.size() / SIZE).min_element();
    let Some(grid) = grids.get(GridId::default()).filter(|_| ui > 0.0) else {
        return;
    };
    if ui_scale.0.to_bits() != ui.to_bits() {
        ui_scale.0 = ui;
    }
    let taken = Vec2::new(PANEL, ROW) * ui;
    let free = (window.size() - taken - 2.0 * MARGIN * ui).max(Vec2::ONE);
    let cells = Vec2::new(grid.width() as f32, grid.height() as f32);
    let scale = ((cells + 2.0 * map_view::FRAME) * CELL / free).max_element();
    let middle = frame().to_world((cells - 1.0) / 2.0);
    // Panel and row are at the right and at the bottom: the map's center is shifted up and left.
    let center = middle + Vec2::new(taken.x, -taken.y) / 2.0 * scale;
    let (transform, projection) = &mut *camera;
    if transform.translation.truncate() != center {
        transform.translation = center.extend(transform.translation.z);
    }
    if let Projection::Orthographic(view) = &mut **projection {
        view.scale = scale;
    }
}
