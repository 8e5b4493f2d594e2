//! How critters look: discs, colored by where they want to go.
//!
//! Input: critters as they appear, and what their requests say. Output: sprites on them. The plugin
//! moves and turns them.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    disc,
    display::ViewSystems,
    figures::{Walker, is_stuck},
    game::CELL,
    palette,
};

/// From the edge of a critter's block to its disc, in cells: a disc on one cell has radius 0.35.
const INSET: f32 = 0.15;

/// Dresses critters.
pub struct UnitsPlugin;

impl Plugin for UnitsPlugin {
    fn build(&self, app: &mut App) {
        let disc = app.world_mut().resource_mut::<Assets<Image>>().add(disc::picture());
        app.insert_resource(Disc(disc))
            .add_observer(dress)
            .add_systems(Update, color.in_set(ViewSystems::Show));
    }
}

/// The picture that all share.
#[derive(Resource)]
struct Disc(Handle<Image>);

/// What a critter's color says besides its course.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mood {
    #[default]
    UnderWay,
    AtRest,
    Stuck,
}

fn dress(added: On<Add, Walker>, walkers: Query<&Walker>, disc: Res<Disc>, mut commands: Commands) {
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
    commands.entity(added.entity).insert((sprite, Mood::default()));
}

fn color(mut walkers: Query<(&Walker, &PathStatus, &mut Mood, &mut Sprite)>) {
    for (walker, status, mut mood, mut sprite) in &mut walkers {
        let now = match status {
            PathStatus::Arrived(_) => Mood::AtRest,
            PathStatus::Failed(_) => Mood::Stuck,
            _ if is_stuck(status) => Mood::Stuck,
            _ => Mood::UnderWay,
        };
        if mood.set_if_neq(now) {
            sprite.color = match now {
                Mood::UnderWay => walker.course.color(),
                Mood::AtRest => palette::at_rest(walker.course.color()),
                Mood::Stuck => palette::STUCK,
            };
        }
    }
}
