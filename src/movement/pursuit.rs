//! Pure pursuit: where on its path a steered unit should go next.
//!
//! Input: the path in straight lines, and where the unit is. Output: a point of the path a little ahead, which the unit
//! can reach in a straight line (Coulter 1992), and the velocity towards it, so that the unit stays on its way however it was
//! pushed.

use bevy::prelude::*;

use super::{
    advance::Ending,
    progress::{Side, pace_aside},
    sight::{LOOK_AHEAD, Sight, SteeringContext},
};
use crate::{
    coordinates::{cell_around, center, half_block, length},
    nav::{Cell, PathLines, Profile},
    unit::{DesiredVelocity, PathSteering, point_on},
};

/// Within this distance from the straight line of its next step, in cells, it takes that step whatever stands beside it.
const LINE_WIDTH: f32 = 0.15;
/// Ticks off its path until it gets another path: shorter pushes do not matter.
const MAX_TICKS_OFF: u8 = 16;

/// An arrival radius is at least so many cells: frames that turn and scale are not exact.
const MIN_RADIUS: f32 = 0.01;

/// Most steps left within the arrival radius, as a multiple of it: more steps lead around something.
const MOST_STEPS_IN_RADIUS: f32 = 1.5;

/// Where a unit goes next.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Aim {
    /// Along its path, or straight back to it.
    Ahead(Vec2),
    /// To the middle of its cell: it sees its path, but the ground in between costs more than the path, or is too narrow.
    Aside(Vec2),
    /// It sees no part of its path nearby.
    Unseen,
}

impl SteeringContext<'_> {
    /// The speed on the ground of a cell, as a share of that on plain terrain.
    fn pace_on(&self, cell: Cell) -> f32 {
        let cost = match self.grid.cost(self.profile, cell) {
            0 => Profile::PLAIN_COST, // it was pushed into a wall
            cost => cost,
        };
        f32::from(Profile::PLAIN_COST) / f32::from(cost)
    }
}

impl DesiredVelocity {
    /// Sets the velocity for the next `seconds`. Returns an ending where the unit is at the end of its path, or does not get
    /// back to it.
    pub(super) fn steer(
        &mut self,
        lines: &PathLines,
        around: &SteeringContext,
        settings: &PathSteering,
        seconds: f32,
    ) -> Option<Ending> {
        self.stop();
        let topology = around.grid.topology();
        let half = half_block(topology, around.grid.unit_size(around.profile));
        let point = around.frame.to_cells(around.position) - half;
        let Some(here) = cell_around(point, topology) else {
            return None; // NaN: the game may yet put it somewhere
        };
        let aim = self.aim(lines, around, (here, point));
        let is_on_way = matches!(aim, Aim::Ahead(_));
        self.ticks_off = if is_on_way { 0 } else { self.ticks_off + 1 };
        if self.ticks_off > MAX_TICKS_OFF {
            return Some(Ending::Lost);
        }
        let is_on_path = aim != Aim::Unseen;
        if is_on_path && self.is_at_end(lines, around, (here, point), settings.arrival_radius) {
            self.begin();
            return Some(Ending::Arrived);
        }
        let step_point = point_on(lines, self.step);
        let way = match aim {
            Aim::Ahead(target) | Aim::Aside(target) => target,
            Aim::Unseen => step_point,
        } - point;
        let distance = length(topology, way);
        // The cost on its path counts: it may graze the corner of another cell.
        let on_path = cell_around(step_point, topology).filter(|_| is_on_path);
        let speed = settings.speed * around.pace_on(on_path.unwrap_or(here));
        if speed > 0.0 && distance > 0.0 && seconds > 0.0 {
            let (pace, steps) = (speed * seconds, lines.steps() - self.step);
            self.progress.note(steps as f32 + length(topology, step_point - point), pace);
            let ahead = around.frame.vector(way / distance);
            let aside = self.aside(around, point, (ahead, pace));
            // Not past the target in this tick.
            let velocity = aside.unwrap_or(ahead * pace.min(distance));
            self.velocity = velocity / seconds;
            self.has_moved = true;
        }
        None
    }

    /// The velocity, in cells per tick, with which it tries to pass what has held it for a while, if there is room.
    fn aside(&self, around: &SteeringContext, at: Vec2, (way, pace): (Vec2, f32)) -> Option<Vec2> {
        let aside = match self.progress.side()? {
            Side::Right => -way.perp(),
            Side::Left => way.perp(),
        };
        let cell_aside =
            around.frame.to_cells(around.position + aside) - around.frame.to_cells(around.position);
        let there = at + cell_aside;
        let is_even = around.is_even(at.min(there), at.max(there));
        is_even.then_some(aside * pace_aside(pace))
    }

    /// Whether the end of its path is within a radius and in sight, and the rest of the path does not lead around something.
    fn is_at_end(
        &self,
        lines: &PathLines,
        around: &SteeringContext,
        (here, point): (Cell, Vec2),
        radius: f32,
    ) -> bool {
        let (end, left) = (point_on(lines, lines.steps()), lines.steps() - self.step);
        let topology = around.grid.topology();
        let is_near = length(topology, end - point) <= radius.max(MIN_RADIUS);
        let is_detour = left as f32 > MOST_STEPS_IN_RADIUS * radius + 1.0;
        let is_seen = || left == 0 || around.sees(here, cell_around(end, topology));
        is_near && !is_detour && is_seen()
    }

    /// Finds the step it has come to, the nearest that it sees, and the point ahead to which it goes.
    fn aim(&mut self, lines: &PathLines, around: &SteeringContext, at: (Cell, Vec2)) -> Aim {
        let (here, point) = at;
        let sight = Sight::new(lines, around, at, self.step);
        let Some(nearest) = sight.nearest(self.step) else {
            return Aim::Unseen;
        };
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
            // From the middle of its cell, the next step of a path is legal whatever stands beside it.
            None if is_on_path && farthest > nearest => {
                let line = sight.nearest_on_line(nearest + 1);
                if point.distance(line) > LINE_WIDTH {
                    return Aim::Ahead(line);
                }
                nearest + 1
            }
            None if is_on_path || sight.is_open(nearest, nearest) => nearest,
            None => return Aim::Aside(center(here)),
        };
        Aim::Ahead(sight.step_point(step))
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
                outcome == Some(Ending::Arrived)
            });
            assert!(is_there, "back to {end:?} at {speed}: at {position}");
        }
    }
}
