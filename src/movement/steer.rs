//! One tick of steering, for units that something else moves.
//!
//! Input: units with [`PathSteering`], their paths and positions. Output: their desired velocities, arrivals, and requests for
//! other paths.

use bevy::{
    ecs::{entity_disabling::Disabled, query::QueryData},
    prelude::*,
};

use super::{
    advance::{Ending, Surroundings},
    sight::SteeringContext,
};
use crate::{
    nav::{Hindrance, PathKind},
    request::{Outcomes, Requester, clear_stuck},
    unit::{PathStatus, PathSteering, SpeedChanges},
};

/// A unit has come to a link when it stands on a cell of it.
const MOST_RADIUS_AT_LINK: f32 = 0.45;

/// What steering reads and writes of a unit.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Steered {
    unit: Requester,
    changes: SpeedChanges,
    is_disabled: Has<Disabled>,
}

/// Steers every unit for a tick.
pub(crate) fn steer_units(
    around: Surroundings,
    mut units: Query<Steered, (With<PathSteering>, Allow<Disabled>)>,
    mut endings: Local<Vec<(u64, Entity, Ending)>>,
    mut outcomes: Outcomes,
) {
    for mut steered in &mut units {
        if let Some(ending) = steered.steer(&around) {
            endings.push((steered.unit.state.accepted, steered.unit.entity, ending));
        }
    }
    endings.sort_unstable_by_key(|&(number, ..)| number); // in the order of the requests
    for (_, entity, ending) in endings.drain(..) {
        if let Ok(mut steered) = units.get_mut(entity) {
            ending.apply(&mut steered.unit, &mut outcomes, &around.grids);
        }
    }
}

impl SteeredItem<'_, '_> {
    /// Sets where the unit should go; returns what has come to an end.
    fn steer(&mut self, around: &Surroundings) -> Option<Ending> {
        if self.unit.critter.is_some() || self.is_disabled || !self.unit.is_walking() {
            return self.stop();
        }
        let state = &self.unit.state;
        let (Some(grid), Some(frame)) =
            (around.grids.get(state.grid), around.grids.frame(state.grid))
        else {
            self.stop();
            return Some(Ending::GridGone);
        };
        let position = around.whereabouts.position(self.unit.entity).unwrap_or(Vec2::NAN);
        let context = SteeringContext { grid, frame, profile: state.query.profile, position };
        let (Some((desired, settings)), Some(any_angle)) =
            (&mut self.unit.steering, &mut self.unit.any_angle)
        else {
            return self.stop(); // the game has removed its straight lines
        };
        let speed = self.changes.in_group(settings.speed);
        let arrival_radius = match self.unit.path.0.kind() {
            PathKind::ToLink => settings.arrival_radius.min(MOST_RADIUS_AT_LINK),
            _ => settings.arrival_radius,
        };
        let settings = PathSteering { speed, arrival_radius };
        let lines = any_angle.bypass_change_detection().lines_for(&self.unit.path.0);
        let before = ***desired;
        let steering = desired.bypass_change_detection();
        let ending = steering.steer(lines, &context, &settings, around.time.delta_secs());
        if ***desired != before {
            desired.set_changed();
        }
        let is_stuck = desired.progress.is_stuck();
        match *self.unit.status {
            PathStatus::Stuck(_) if !is_stuck => {
                clear_stuck(&mut self.unit.status, &self.unit.path);
            }
            PathStatus::Walking(_) if is_stuck => self.unit.set_stuck(Hindrance::Obstacle),
            _ => {}
        }
        ending
    }

    /// It has nowhere to go.
    fn stop(&mut self) -> Option<Ending> {
        if let Some((desired, _)) = &mut self.unit.steering
            && ***desired != Vec2::ZERO
        {
            desired.stop();
        }
        None
    }
}
