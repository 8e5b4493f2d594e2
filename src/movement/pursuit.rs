//! Pure pursuit: where on its path a steered unit should go next.
//!
//! Input: the path in straight lines, and where the unit is. Output: a point of the path a little ahead of it that it can reach in a
//! straight line (Coulter 1992), and the velocity there, so that it stays on its way however it was pushed.

use bevy::prelude::*;

use super::sight::{LOOK_AHEAD, Sight, SteeringContext, length};
use crate::{
    coordinates::{cell_around, center, half_block},
    nav::{Cell, PathLines, Profile},
    unit::{DesiredVelocity, PathSteering, point_on},
};

/// How far from the straight line of its next step it may be, in cells, to take that step whatever stands beside it.
const LINE_WIDTH: f32 = 0.15;
/// Ticks off the path until it gets another one: a push that is over sooner does not matter.
const MAX_TICKS_OFF: u8 = 16;

/// What becomes of a unit that is steered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SteeringOutcome {
    Ahead,
    AtEnd,
    /// It does not get back to its path.
    Lost,
}

impl DesiredVelocity {
    /// Sets the velocity for the next `seconds`.
    pub(super) fn steer(
        &mut self,
        lines: &PathLines,
        around: &SteeringContext,
        settings: &PathSteering,
        seconds: f32,
    ) -> SteeringOutcome {
        self.stop();
        let topology = around.grid.topology();
        let half = half_block(topology, around.grid.unit_size(around.profile));
        let point = around.frame.to_cells(around.position) - half;
        let Some(here) = cell_around(point, topology) else {
            return SteeringOutcome::Ahead; // NaN: the game may yet put it somewhere
        };
        let target = self.aim(lines, around, (here, point));
        self.ticks_off = if target.is_some() { 0 } else { self.ticks_off + 1 };
        if self.ticks_off > MAX_TICKS_OFF {
            return SteeringOutcome::Lost;
        }
        let (is_on_path, step_point) = (target.is_some(), point_on(lines, self.step));
        let left = length(topology, step_point - point);
        if is_on_path && self.step == lines.steps() && left <= settings.arrival_radius.max(0.0) {
            return SteeringOutcome::AtEnd;
        }
        let way = target.unwrap_or(step_point) - point;
        let distance = length(topology, way);
        // That of its path: it may graze the corner of a cell beside it.
        let on_path = cell_around(step_point, topology).filter(|_| is_on_path);
        let cost = match around.grid.cost(around.profile, on_path.unwrap_or(here)) {
            0 => Profile::PLAIN_COST, // it was pushed into a wall
            cost => cost,
        };
        let speed = settings.speed * f32::from(Profile::PLAIN_COST) / f32::from(cost);
        if speed > 0.0 && distance > 0.0 {
            let speed = speed.min(distance / seconds); // not past the target in this tick
            self.velocity = around.frame.vector(way * (speed / distance));
        }
        SteeringOutcome::Ahead
    }

    /// Finds the step it has come to, the nearest that it sees, and the point ahead to which it goes; `None` if it sees no part of
    /// its path nearby.
    fn aim(
        &mut self,
        lines: &PathLines,
        around: &SteeringContext,
        (here, point): (Cell, Vec2),
    ) -> Option<Vec2> {
        let sight = Sight::new(lines, around, (here, point), self.step);
        let nearest = sight.nearest(self.step)?;
        self.step = nearest;
        let is_on_path = sight.cell(nearest) == Some(here);
        let farthest = (nearest + LOOK_AHEAD).min(lines.steps());
        let seen = (nearest + 1..=farthest).rev().find(|&step| {
            let is_next = is_on_path && step == nearest + 1;
            sight.is_even(nearest, step)
                || (is_next || sight.sees(step)) && sight.is_open(nearest, step)
        });
        let step = match seen {
            Some(step) => step,
            // The next step of a path is legal, whatever is beside it: from the middle of its cell.
            None if is_on_path && farthest > nearest => {
                let line = sight.nearest_on_line(nearest + 1);
                if point.distance(line) > LINE_WIDTH {
                    return Some(line);
                }
                nearest + 1
            }
            None if is_on_path || sight.is_open(nearest, nearest) => nearest,
            None => return Some(center(here)),
        };
        Some(sight.step_point(step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coordinates::GridFrame,
        nav::{Cell, NavGrid, ProfileId, TerrainId},
    };

    /// The rest of a path may lead back beside its first segment, or along it.
    #[test]
    fn it_arrives_where_the_path_doubles_back() {
        let grid = NavGrid::new(12, 6, TerrainId::GROUND).expect("small");
        let frame = GridFrame::square(Vec2::ZERO, Vec2::ONE);
        let profile = ProfileId(0);
        let lines = |from, to| {
            let path = grid.find_path(profile, from, to).expect("open ground");
            path.string_pulled(&grid, profile).lines
        };
        for (end, speed) in (0..4).flat_map(|y| [1.0, 4.0, 8.0, 19.0].map(|speed| (y, speed))) {
            let (start, turn, end) = (Cell::new(0, 0), Cell::new(10, 0), Cell::new(0, end));
            let mut lines_of_both = lines(start, turn);
            lines_of_both.append(&lines(turn, end));
            let (mut desired, settings) = (DesiredVelocity::default(), PathSteering::new(speed));
            let mut position = Vec2::ZERO;
            let is_there = (0..3_000).any(|_| {
                let around = SteeringContext { grid: &grid, frame: &frame, profile, position };
                let outcome = desired.steer(&lines_of_both, &around, &settings, 1.0 / 64.0);
                position += *desired / 64.0;
                outcome == SteeringOutcome::AtEnd
            });
            assert!(is_there, "back to {end:?} at {speed}: at {position}");
        }
    }
}
