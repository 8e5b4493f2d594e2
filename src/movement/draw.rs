//! Smooth transforms between ticks.

use std::collections::BTreeMap;

#[cfg(feature = "visibility")]
use bevy::camera::{primitives::Aabb, visibility::ViewVisibility};
use bevy::{
    ecs::{
        entity::EntityHashMap,
        entity_disabling::Disabled,
        query::QueryData,
        system::{self, SystemChangeTick},
    },
    math::{Affine2, Mat2, Vec3A},
    prelude::*,
};

use crate::{
    coordinates::GridFrame,
    crowds::Crowds,
    grids::NavGrids,
    nav::{Crowd, GridId},
    unit::{Critter, CritterState, Drawing, Facing, TransformWrites},
    whereabouts::Whereabouts,
};

/// How critters are drawn.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Resource, Debug, Default, PartialEq, Clone)]
pub struct CritterDrawing {
    /// Whether critters that no camera sees are drawn only when they begin or end a step. Their transforms then
    /// lag up to one cell behind, but the critters move as usual. If the camera sees few critters of a large crowd, this saves
    /// drawing time, and Bevy's work on changed transforms. Default false: games may read the transforms of
    /// critters that are out of sight. Walking ghosts are always drawn.
    ///
    /// Needs the feature `visibility` (default). Only critters with an `Aabb` of their own are skipped: Bevy gives one to
    /// sprites and meshes. A critter that only has children with pictures is always drawn.
    pub skips_hidden: bool,
}

/// The frames of the grids when critters were last drawn.
#[derive(Resource, Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct DrawnFrames(BTreeMap<GridId, GridFrame>);

/// Tells whether a camera sees a critter.
#[cfg(feature = "visibility")]
type Sight = Option<(&'static ViewVisibility, &'static Aabb)>;
#[cfg(not(feature = "visibility"))]
type Sight = ();

/// The components of a critter that drawing reads and writes.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Drawn {
    entity: Entity,
    critter: &'static Critter,
    state: &'static mut CritterState,
    facing: &'static Facing,
    transform: &'static mut Transform,
    child_of: Option<&'static ChildOf>,
    sight: Sight,
}

/// Converts positions in the world to positions relative to a parent, on the plane of the map.
type FromWorld = Affine2;

/// Returns the conversion for a parent; not finite if the parent is scaled to 0.
fn from_world(parent: &GlobalTransform) -> FromWorld {
    let affine = parent.affine();
    let [x, y] = [affine.x_axis, affine.y_axis].map(Vec3A::truncate);
    let to_world =
        Affine2 { matrix2: Mat2::from_cols(x, y), translation: parent.translation().truncate() };
    to_world.inverse()
}

/// Drawing parameters of the critters of one grid.
struct DrawParams<'a> {
    frame: &'a GridFrame,
    crowd: Option<&'a Crowd>,
    /// Current tick of the grid's crowd.
    tick: u64,
    /// Fraction of the last tick that is shown.
    fraction: f32,
    /// Whether the grid has moved since it was last drawn.
    is_moved: bool,
    /// Seconds since the last frame; infinite where there is no clock.
    seconds: f32,
}

/// Greatest angle by which a critter turns while it walks a cell, in radians. Turning back takes half a cell,
/// so a turn is over before the next one begins.
const TURN_PER_CELL: f32 = core::f32::consts::TAU;
/// Slower critters turn as if they walked at this speed, in cells per second: by a right angle in a sixteenth of
/// a second.
const MIN_TURN_SPEED: f32 = 4.0;

/// What drawing a critter depends on beside the critter. `SystemParam` is not imported: beside it, a `Sight` of `()` is
/// ambiguous in [`Drawn`].
#[derive(system::SystemParam)]
pub(crate) struct Around<'w> {
    grids: Res<'w, NavGrids>,
    crowds: Res<'w, Crowds>,
    drawing: Res<'w, CritterDrawing>,
    time: Option<Res<'w, Time>>,
    fixed: Option<Res<'w, Time<Fixed>>>,
}

/// Notes when the plugin has ticked.
pub(crate) fn note_tick(mut writes: ResMut<TransformWrites>, fixed: Option<Res<Time<Fixed>>>) {
    writes.last_tick = fixed.map(|fixed| fixed.elapsed());
}

/// Writes the transform of every critter whose drawn position has changed: because it walks or because its
/// grid was moved. A standing critter can be relocated by writing its transform. The positions of their parents are computed
/// here: global transforms are at best those of the last frame.
pub(crate) fn place_transforms(
    around: Around,
    mut writes: ResMut<TransformWrites>,
    mut critters: ParamSet<(Query<Drawn, Allow<Disabled>>, Whereabouts)>,
    children: Query<&ChildOf, (With<CritterState>, Allow<Disabled>)>,
    mut parents: Local<EntityHashMap<Option<FromWorld>>>,
    mut frames: ResMut<DrawnFrames>,
    ticks: SystemChangeTick,
) {
    writes.written = Some(ticks.this_run());
    // While the plugin does not tick in the fixed steps, all stand where they were after the last tick.
    let is_between = |fixed: &&Res<Time<Fixed>>| {
        writes.is_between_ticks && writes.last_tick == Some(fixed.elapsed())
    };
    let fixed = around.fixed.as_ref().filter(is_between);
    let fraction = fixed.map_or(1.0, |fixed| fixed.overstep_fraction());
    let seconds = around.time.as_ref().map_or(f32::INFINITY, |time| time.delta_secs());
    let moved = update_frames(&around.grids, &mut frames.0);
    let whereabouts = critters.p1();
    for parent in children.iter().map(ChildOf::parent) {
        let from_world = || whereabouts.transform(parent).map(|world| from_world(&world));
        parents.entry(parent).or_insert_with(from_world);
    }
    let mut pass = Pass { around: &around, fraction, seconds, moved, params: None };
    for mut critter in &mut critters.p0() {
        if critter.transform.last_changed() == ticks.this_run() {
            writes.moved.push(critter.entity);
        }
        let parent = critter.child_of.and_then(|child_of| parents.get(&child_of.parent()));
        pass.draw(&mut critter, parent.and_then(Option::as_ref));
    }
    parents.clear();
}

/// One pass over critters; what is common to a grid is looked up once for successive critters of that grid.
struct Pass<'a> {
    around: &'a Around<'a>,
    fraction: f32,
    seconds: f32,
    /// The grids that have moved since they were last drawn.
    moved: Vec<GridId>,
    params: Option<(GridId, DrawParams<'a>)>,
}

impl Pass<'_> {
    /// Draws a critter, unless nothing has changed. Inlined: most go on along their steps, which takes a few instructions.
    #[inline(always)]
    fn draw(&mut self, critter: &mut DrawnItem, parent: Option<&FromWorld>) {
        let is_moved = !self.moved.is_empty() && self.moved.contains(&critter.state.member.grid);
        if !is_moved && critter.child_of.is_none() {
            use Drawing::{AtRest, Continue, Moves};
            let skips_hidden = self.around.drawing.skips_hidden;
            match (critter.state.drawing, &self.params) {
                (AtRest, _) => return,
                (Continue | Moves, _) if skips_hidden && critter.is_hidden() => return,
                // In the tick in which its step began, it may have turned a corner.
                (Continue, Some((id, params)))
                    if *id == critter.state.member.grid && params.tick > critter.state.since =>
                {
                    return critter.go_on(params);
                }
                _ => {}
            }
        }
        if critter.is_put_elsewhere() {
            return; // it is moved there in the next tick
        }
        let id = critter.state.member.grid; // the grid on which it was placed
        if self.params.as_ref().is_none_or(|&(known, _)| known != id) {
            self.params = self.params_of(id).map(|params| (id, params));
        }
        if let Some((_, params)) = self.params.as_ref().filter(|_| critter.state.placed) {
            critter.draw(params, parent);
        }
    }
}

impl<'a> Pass<'a> {
    fn params_of(&self, id: GridId) -> Option<DrawParams<'a>> {
        let &Self { around, fraction, seconds, .. } = self;
        let is_moved = self.moved.contains(&id);
        let crowd = around.crowds.get(id);
        let tick = crowd.map_or(0, Crowd::now);
        let frame = around.grids.frame(id)?;
        Some(DrawParams { frame, crowd, tick, fraction, is_moved, seconds })
    }
}

/// Stores the frames of the grids; returns those that have another one than before.
fn update_frames(grids: &NavGrids, frames: &mut BTreeMap<GridId, GridFrame>) -> Vec<GridId> {
    let all = grids.iter().filter_map(|(id, _)| Some((id, *grids.frame(id)?)));
    let moved = all.filter(|&(id, frame)| frames.insert(id, frame) != Some(frame));
    moved.map(|(id, _)| id).collect()
}

impl DrawnItem<'_, '_> {
    /// Writes its transform if it has changed.
    fn draw(&mut self, params: &DrawParams, parent: Option<&FromWorld>) {
        let state = self.state.bypass_change_detection();
        let is_walking = state.walk.is_between_cells();
        if state.is_on_line && is_walking {
            let unit = state.unit().zip(params.crowd);
            state.is_on_line = unit.is_some_and(|(unit, crowd)| crowd.line_offsets(unit).is_some());
        }
        let stands = match state.unit() {
            Some(_) => params.tick > state.since && !state.has_shrinking_offset(params.tick),
            None => state.before == state.now,
        };
        let position = match state.unit() {
            Some(_) if stands && !is_walking => state.position_at(params.tick),
            Some(_) => state.position_during(params.tick, params.fraction),
            None => state.before.lerp(state.now, params.fraction),
        };
        if state.unit().is_some() {
            state.now = position;
        }
        self.show(params.frame.to_world(position), parent);
        self.turn(params, parent);
        let state = self.state.bypass_change_detection();
        state.drawing = match self.child_of {
            None if stands && !is_walking && !state.is_turning => Drawing::AtRest,
            None if is_walking && state.goes_on() => Drawing::Continue,
            None if is_walking && state.unit().is_some() => Drawing::Moves,
            _ => Drawing::Full,
        };
    }

    /// Returns whether no camera has seen it in the last frame.
    #[cfg(feature = "visibility")]
    fn is_hidden(&self) -> bool {
        self.sight.is_some_and(|(visibility, _)| !visibility.get())
    }

    #[cfg(not(feature = "visibility"))]
    const fn is_hidden(&self) -> bool {
        false
    }

    /// Returns whether the game has put a standing critter elsewhere since it was last drawn.
    fn is_put_elsewhere(&self) -> bool {
        self.state.was_moved(&self.transform) && self.transform.translation.is_finite()
    }

    /// Draws it farther along its step. Only the transform is written, because access to memory takes most of the time here.
    #[inline]
    fn go_on(&mut self, params: &DrawParams) {
        let place = self.state.position_going_on(params.tick, params.fraction);
        let position = params.frame.to_world(place);
        if position != self.transform.translation.truncate() && position.is_finite() {
            let translation = &mut self.transform.translation;
            (translation.x, translation.y) = position.into();
        }
    }

    /// Writes its position in the world, if it has changed.
    fn show(&mut self, position: Vec2, parent: Option<&FromWorld>) {
        let local = parent.map_or(position, |parent| parent.transform_point2(position));
        if !local.is_finite() {
            return;
        }
        self.state.bypass_change_detection().set_drawn(local);
        if local != self.transform.translation.truncate() {
            let translation = &mut self.transform.translation;
            (translation.x, translation.y) = local.into();
        }
    }

    /// Turns towards the direction in which it walks. If it stops in a turn, it finishes the turn there.
    fn turn(&mut self, params: &DrawParams, parent: Option<&FromWorld>) {
        let state = self.state.bypass_change_detection();
        let heading = match state.heading {
            _ if !state.walk.is_between_cells() && !state.is_turning => (0, 0),
            (0, 0) => self.facing.direction.offset(),
            heading => heading,
        };
        let is_aligned = state.turned == heading && !params.is_moved && !state.is_turning;
        state.turned = if self.critter.turns { heading } else { (0, 0) };
        if is_aligned || state.turned == (0, 0) {
            state.is_turning = false;
            return;
        }
        let ahead = params.frame.step(heading.0, heading.1);
        let ahead = parent.map_or(ahead, |parent| parent.transform_vector2(ahead));
        let target = rotation_towards(ahead);
        let speed = self.critter.speed.max(MIN_TURN_SPEED);
        let most = TURN_PER_CELL * speed * params.seconds;
        let from = self.transform.rotation;
        state.is_turning = from.is_normalized() && from.angle_between(target) > most;
        self.transform.rotation =
            if state.is_turning { from.rotate_towards(target, most) } else { target };
        if !state.walk.is_between_cells() && !state.is_turning {
            state.turned = (0, 0); // the game may turn it where it stands
        }
    }
}

/// Returns the rotation about z from the x axis to a direction, without angles: they take ten times as long.
fn rotation_towards(direction: Vec2) -> Quat {
    let Vec2 { x, y } = direction.normalize_or(Vec2::X);
    let half = |share: f32| share.max(0.0).sqrt();
    Quat::from_xyzw(0.0, 0.0, half((1.0 - x) / 2.0).copysign(y), half((1.0 + x) / 2.0))
}
