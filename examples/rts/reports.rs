//! The results of orders: counted in [`Tally`], and shown to the player as [`Notice`]s.
//!
//! Input: the library's events and statuses. Output: numbers for the HUD and the headless match,
//! and a reason, with a position to show it at, for every order that fails or has to wait.

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_tilepath::prelude::*;

use crate::{task::Task, units::Unit};

/// Counts of orders and their results so far.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Orders given, counted per critter.
    pub orders: u64,
    /// The same by task, see [`Task::NAMES`].
    pub by_task: [u64; Task::NAMES.len()],
    /// Arrivals, at the goal or at the nearest reachable cell.
    pub arrived: u64,
    /// Orders that could not be carried out.
    pub failed: u64,
    /// How often an order found no path and was deferred.
    pub put_off: u64,
}

/// A message to the player about an order.
#[derive(Event, Clone, Debug, Default)]
pub struct Notice {
    /// The order's goal, if it has one.
    pub goal: Option<Cell>,
    /// World position of the critter that has the order.
    pub at: Option<Vec2>,
    pub text: String,
}

/// An order that is not given, because there is no slot for the critter.
#[derive(Event, Clone, Copy, Debug)]
pub struct NoSlot {
    pub unit: Entity,
    pub reason: PathFailure,
}

impl Notice {
    fn of_unit(transform: &Transform, goal: Option<Cell>, text: String) -> Self {
        Self { goal, at: Some(transform.translation.truncate()), text }
    }
}

/// Counts arrivals, and reports those that did not reach the goal.
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
        let text = "goal unreachable: moved as close as possible".into();
        commands.trigger(Notice::of_unit(transform, Some(order.query().goal.cell()), text));
    }
}

/// Counts and reports orders that fail.
#[derive(SystemParam)]
pub struct Failures<'w, 's> {
    units: Query<'w, 's, &'static Transform, With<Unit>>,
    tally: ResMut<'w, Tally>,
    commands: Commands<'w, 's>,
}

impl Failures<'_, '_> {
    fn note(&mut self, unit: Entity, reason: PathFailure) {
        let Ok(transform) = self.units.get(unit) else {
            return;
        };
        self.tally.failed += 1;
        let notice = Notice::of_unit(transform, goal_of(reason), reason.to_string());
        self.commands.trigger(notice);
    }
}

/// Reports a request for which there is no path.
pub fn note_failure(failed: On<PathFailed>, mut failures: Failures) {
    failures.note(failed.entity, failed.reason);
}

/// Reports an order without a slot.
pub fn note_no_slot(no_slot: On<NoSlot>, mut failures: Failures) {
    failures.note(no_slot.unit, no_slot.reason);
}

/// Reports a member of a group without a slot.
pub fn note_refused_slot(refused: On<GroupSlotRefused>, mut failures: Failures) {
    failures.note(refused.entity, refused.reason);
}

/// Reports orders that have no path at present, and critters that are stuck.
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

/// Returns the goal named in a failure.
const fn goal_of(reason: PathFailure) -> Option<Cell> {
    match reason {
        PathFailure::GoalOutOfBounds(goal)
        | PathFailure::GoalImpassable(goal)
        | PathFailure::NoPath { goal, .. }
        | PathFailure::CostOverflow { goal, .. } => Some(goal),
        _ => None,
    }
}
