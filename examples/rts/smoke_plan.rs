//! What a game that plays by itself does: whom to select, and where to send them.
//!
//! Input: the game as it stands. Output: a box to drag and a goal to click, both in view and away
//! from the panels.

use bevy::prelude::*;

use crate::{camera::MainCamera, compare::stage, map::GameMap, placement::island_of, units::Unit};

/// Half the side of the box that is dragged, and of the region around the goal, in pixels.
const BOX: f32 = 130.0;
const GOAL: f32 = 90.0;
/// Half the side of what one critter may cover, in pixels.
const BODY: f32 = 24.0;

/// What is dragged over and where to, in pixels.
#[derive(Resource, Clone, Debug)]
pub struct Plan {
    pub dragged: Rect,
    pub goal: Vec2,
    /// Regions of the screen that may change.
    pub touched: Vec<Rect>,
}

impl Plan {
    /// Drags over the critter nearest to the middle of the left side, and sends whoever is in the
    /// box to the farthest place in view that this one can go to.
    pub fn make(world: &mut World) -> Result<Self, String> {
        let mut cameras = world.query_filtered::<(&Camera, &GlobalTransform), With<MainCamera>>();
        let (camera, view) = cameras.single(world).map_err(|error| error.to_string())?;
        let (camera, view) = (camera.clone(), *view);
        let left = Vec2::new(stage().min.x + BOX, stage().center().y);
        let mut units = world.query::<(&Unit, &Transform)>();
        let (unit, at) = units
            .iter(world)
            .filter_map(|(unit, transform)| {
                Some((*unit, camera.world_to_viewport(&view, transform.translation).ok()?))
            })
            .min_by(|a, b| a.1.distance(left).total_cmp(&b.1.distance(left)))
            .ok_or("there is no critter in view")?;
        let map = world.resource::<GameMap>();
        let island = |screen: Vec2| {
            let cell = map.frame.cell_at(camera.viewport_to_world_2d(&view, screen).ok()?)?;
            island_of(&map.grid, unit.kind.profile(), cell)
        };
        let goal = raster(stage().inflate(-GOAL))
            .filter(|&screen| island(screen) == island(at))
            .max_by(|a, b| a.distance(at).total_cmp(&b.distance(at)))
            .ok_or("there is nowhere to go in view")?;
        let dragged = Rect::from_center_half_size(at, Vec2::splat(BOX));
        let mut plan = Self { dragged, goal, touched: vec![dragged] };
        plan.touched.push(plan.goal_region());
        Ok(plan)
    }

    /// Where critters stand once they have arrived.
    pub fn goal_region(&self) -> Rect {
        Rect::from_center_half_size(self.goal, Vec2::splat(GOAL))
    }
}

/// Points spread evenly over a rectangle.
fn raster(rect: Rect) -> impl Iterator<Item = Vec2> {
    const STEPS: i32 = 20;
    (0..=STEPS)
        .flat_map(|y| (0..=STEPS).map(move |x| Vec2::new(x as f32, y as f32) / STEPS as f32))
        .map(move |share| rect.min + share * rect.size())
}

/// What critters cover of the screen.
pub fn bodies(world: &mut World) -> Vec<Rect> {
    let mut units = world.query_filtered::<&Transform, With<Unit>>();
    let places: Vec<_> = units.iter(world).map(|transform| transform.translation).collect();
    let mut cameras = world.query_filtered::<(&Camera, &GlobalTransform), With<MainCamera>>();
    let Ok((camera, view)) = cameras.single(world) else {
        return Vec::new();
    };
    places
        .into_iter()
        .filter_map(|place| camera.world_to_viewport(view, place).ok())
        .map(|place| Rect::from_center_half_size(place, Vec2::splat(BODY)))
        .collect()
}
