//! What becomes of orders: counted in [`Tally`], and told in [`Notice`]s where the player should
//! know.
//!
//! Input: the library's events and statuses. Output: numbers for the HUD and the headless match,
//! and a reason, with a place to show it at, for every order that fails or has to wait.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{task::Task, units::Unit};

/// What has become of all orders so far.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Orders to single critters.
    pub orders: u64,
    /// The same by what they were told, see [`Task::NAMES`].
    pub by_task: [u64; Task::NAMES.len()],
    /// Arrivals, at the goal or as near to it as the critter could get.
    pub arrived: u64,
    /// Orders that could not be carried out.
    pub failed: u64,
    /// How often an order found no way and was put off.
    pub put_off: u64,
}

/// Something the player should know about an order.
#[derive(Event, Clone, Debug, Default)]
pub struct Notice {
    /// Where the order leads, if anywhere.
    pub goal: Option<Cell>,
    /// Where whoever has the order is, in the world.
    pub at: Option<Vec2>,
    pub text: String,
}

impl Notice {
    fn of_unit(transform: &Transform, goal: Option<Cell>, text: String) -> Self {
        Self { goal, at: Some(transform.translation.truncate()), text }
    }
}

/// Counts arrivals, and tells of those that are not where they were meant to be.
pub fn note_arrival(
    arrived: On<Arrived>,
    units: Query<(&Transform, &RequestState), With<Unit>>,
    mut tally: ResMut<Tally>,
    mut commands: Commands,
) {
    let Ok((transform, order)) = units.get(arrived.entity) else {
        return;
    };
    tally.arrived += 1;
    if arrived.kind == PathKind::Partial {
        let text = "goal out of reach: went as near as possible".into();
        commands.trigger(Notice::of_unit(transform, Some(order.query().goal), text));
    }
}

/// Reports a request for which there is no path.
pub fn note_failure(
    failed: On<PathFailed>,
    units: Query<&Transform, With<Unit>>,
    mut tally: ResMut<Tally>,
    mut commands: Commands,
) {
    let Ok(transform) = units.get(failed.entity) else {
        return;
    };
    tally.failed += 1;
    let (goal, text) = (goal_of(failed.reason), failed.reason.to_string());
    commands.trigger(Notice::of_unit(transform, goal, text));
}

/// Tells of orders for which there is no way at present, and of those who cannot get on.
pub fn note_waiting(
    waiting: Query<(&Transform, &PathStatus), (With<Unit>, Changed<PathStatus>)>,
    mut tally: ResMut<Tally>,
    mut commands: Commands,
) {
    for (transform, status) in &waiting {
        if let PathStatus::Waiting(reason) = *status {
            tally.put_off += 1;
            let text = format!("waiting: {reason}");
            commands.trigger(Notice::of_unit(transform, None, text));
        } else if let PathStatus::Stuck(why) = *status {
            commands.trigger(Notice::of_unit(transform, None, format!("stuck: {why}")));
        }
    }
}

/// The goal that a reason names.
const fn goal_of(reason: PathFailure) -> Option<Cell> {
    match reason {
        PathFailure::GoalOutOfBounds(goal)
        | PathFailure::GoalImpassable(goal)
        | PathFailure::NoPath { goal, .. }
        | PathFailure::CostOverflow { goal, .. } => Some(goal),
        _ => None,
    }
}
