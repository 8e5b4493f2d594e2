//! Draws critters: discs, colored by the direction of their goal.
//!
//! Input: new critters, and their path status. Output: their sprites. The plugin moves and rotates
//! them.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    disc,
    display::ViewSystems,
    figures::{Walker, is_stuck},
    game::CELL,
    palette,
};

/// Distance from the edge of a critter's block to its disc, in cells: a disc on one cell has radius
/// 0.35.
const INSET: f32 = 0.15;

/// Adds sprites to critters.
pub struct UnitsPlugin;

impl Plugin for UnitsPlugin {
    fn build(&self, app: &mut App) {
        let disc = app.world_mut().resource_mut::<Assets<Image>>().add(disc::image());
        app.insert_resource(Disc(disc))
            .add_observer(add_sprite)
            .add_systems(Update, color.in_set(ViewSystems::Show));
    }
}

/// The image that all critters share.
#[derive(Resource)]
struct Disc(Handle<Image>);

/// The status that a critter's color shows.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ShownStatus {
    #[default]
    UnderWay,
    Arrived,
    Stuck,
}

fn add_sprite(
    added: On<Add, Walker>,
    walkers: Query<&Walker>,
    disc: Res<Disc>,
    mut commands: Commands,
) {
    let Ok(walker) = walkers.get(added.entity) else {
        return;
    };
    let diameter = (walker.size as f32 - 2.0 * INSET) * CELL;
    let sprite = Sprite {
        image: disc.0.clone(),
        color: walker.course.color(),
        custom_size: Some(Vec2::splat(diameter / disc::SHARE)),
        ..default()
    };
    commands.entity(added.entity).insert((sprite, ShownStatus::default()));
}

fn color(mut walkers: Query<(&Walker, &PathStatus, &mut ShownStatus, &mut Sprite)>) {
    for (walker, status, mut shown, mut sprite) in &mut walkers {
        let now = match status {
            PathStatus::Arrived(_) => ShownStatus::Arrived,
            PathStatus::Failed(_) => ShownStatus::Stuck,
            _ if is_stuck(status) => ShownStatus::Stuck,
            _ => ShownStatus::UnderWay,
        };
        if shown.set_if_neq(now) {
            sprite.color = match now {
                ShownStatus::UnderWay => walker.course.color(),
                ShownStatus::Arrived => palette::arrived(walker.course.color()),
                ShownStatus::Stuck => palette::STUCK,
            };
        }
    }
}
