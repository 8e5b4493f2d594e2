//! Pure pursuit: where on its path a steered unit should go next.
//!
//! Input: the path in straight lines, and where the unit is. Output: a point of the path a little ahead of it that it can reach in a
//! straight line (Coulter 1992), and the velocity there, so that it stays on its way however it was pushed.

use bevy::prelude::*;

use crate::{
    coordinates::{GridFrame, cell_around, center, half_block},
    nav::{Cell, Direction, NavGrid, PathLines, Profile, ProfileId, Topology},
    unit::{DesiredVelocity, PathSteering, point_on},
};

/// From its middle to the sides of the body that must get past walls, in cells.
const HALF_BODY: f32 = 0.4;
/// How far from the straight line of its next step it may be, in cells, to take that step whatever stands beside it.
const LINE_WIDTH: f32 = 0.15;
/// How many steps ahead of the unit the point is to which it goes: more would cut corners more, fewer would make it sway.
const LOOK_AHEAD: u32 = 3;
/// Points for each cell of the straight line there at which the ground is looked at.
const SAMPLES_PER_CELL: f32 = 8.0;
/// How far along the path it may be found farther on, or pushed back, since the last tick.
const STEPS_FORWARD: u32 = 8;
const STEPS_BACK: u32 = 4;
const STEPS_NEAR: usize = (STEPS_BACK + 1 + STEPS_FORWARD) as usize;
/// Distance from its path, in cells, at which it counts as off the path.
const MAX_DISTANCE: f32 = 3.0;
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

/// The ground on which a unit is steered, and where it is.
pub(super) struct SteeringContext<'a> {
    pub(super) grid: &'a NavGrid,
    pub(super) frame: &'a GridFrame,
    pub(super) profile: ProfileId,
    /// In the world.
    pub(super) position: Vec2,
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
        let left = length(topology, point_on(lines, lines.steps()) - point);
        let is_on_path = target.is_some();
        if is_on_path && self.step == lines.steps() && left <= settings.arrival_radius.max(0.0) {
            return SteeringOutcome::AtEnd;
        }
        let way = target.unwrap_or_else(|| point_on(lines, self.step)) - point;
        let distance = length(topology, way);
        // That of its path: it may graze the corner of a cell beside it.
        let on_path = cell_around(point_on(lines, self.step), topology).filter(|_| is_on_path);
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
        let sight = Sight { lines, around, here, point };
        let nearest = sight.nearest(self.step)?;
        self.step = nearest;
        let is_on_path = sight.cell(nearest) == Some(here);
        let farthest = (nearest + LOOK_AHEAD).min(lines.steps());
        let seen = (nearest + 1..=farthest).rev().find(|&step| {
            let is_next = is_on_path && step == nearest + 1;
            (is_next || sight.sees(step)) && sight.is_open(nearest, step)
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
        Some(point_on(lines, step))
    }
}

/// What a unit can see of its path.
struct Sight<'a> {
    lines: &'a PathLines,
    around: &'a SteeringContext<'a>,
    here: Cell,
    point: Vec2,
}

impl Sight<'_> {
    fn cell(&self, step: u32) -> Option<Cell> {
        cell_around(point_on(self.lines, step), self.around.grid.topology())
    }

    fn cost(&self, cell: Option<Cell>) -> u16 {
        cell.map_or(0, |cell| self.around.grid.cost(self.around.profile, cell))
    }

    /// The nearest step that it sees of those near `step`.
    fn nearest(&self, step: u32) -> Option<u32> {
        let topology = self.around.grid.topology();
        let steps = step.saturating_sub(STEPS_BACK)..=step.saturating_add(STEPS_FORWARD);
        let steps = steps.take_while(|&step| step <= self.lines.steps());
        let mut near = [(f32::INFINITY, 0); STEPS_NEAR];
        let mut count = 0;
        for (place, step) in near.iter_mut().zip(steps) {
            *place = (length(topology, point_on(self.lines, step) - self.point), step);
            count += 1;
        }
        near[..count].sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let within = near[..count].iter().take_while(|(distance, _)| *distance <= MAX_DISTANCE);
        within.map(|&(_, step)| step).find(|&step| self.sees(step))
    }

    fn sees(&self, step: u32) -> bool {
        let cell = self.cell(step);
        cell == Some(self.here)
            || cell.is_some_and(|cell| {
                self.around.grid.clear_line(self.around.profile, self.here, cell)
            })
    }

    /// Whether the straight line from where it is to the end of a step is as good as the steps from `first` on: it is past walls, and
    /// beside the cells of these it leads over no ground that costs more than any of them, and over no edge that costs anything.
    fn is_open(&self, first: u32, step: u32) -> bool {
        let (topology, grid) = (self.around.grid.topology(), self.around.grid);
        let is_step = |cell| (first..=step).any(|step| self.cell(step) == Some(cell));
        let on_path = (first..=step).map(|step| self.cost(self.cell(step)));
        let most = on_path.min().unwrap_or(0);
        let target = point_on(self.lines, step);
        let samples = (length(topology, target - self.point) * SAMPLES_PER_CELL).ceil();
        let mut last = self.here;
        (1..=samples as u32).all(|sample| {
            let at = self.point.lerp(target, sample as f32 / samples);
            let Some(cell) = cell_around(at, topology) else {
                return false;
            };
            if sample % 2 == 1 && !self.fits(at) {
                return false;
            }
            if cell == last {
                return true;
            }
            let direction = Direction::between(last, cell);
            let crossing = direction.map(|way| grid.edge_cost(self.around.profile, last, way));
            last = cell;
            let is_cheap = (1..=most).contains(&self.cost(Some(cell)));
            (is_cheap || is_step(cell)) && crossing.is_none_or(|cost| cost == Some(0))
        })
    }

    /// Whether its body fits at a point: it stands beside no wall that it would touch.
    fn fits(&self, at: Vec2) -> bool {
        let topology = self.around.grid.topology();
        let corners = [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)];
        topology == Topology::Hexagonal
            || corners.iter().all(|&(x, y)| {
                self.cost(cell_around(at + Vec2::new(x, y) * HALF_BODY, topology)) > 0
            })
    }

    /// The nearest point of the straight line of the step from the middle of its cell.
    fn nearest_on_line(&self, step: u32) -> Vec2 {
        let (from, to) = (center(self.here), point_on(self.lines, step));
        let way = to - from;
        let along = ((self.point - from).dot(way) / way.length_squared()).clamp(0.0, 1.0);
        from + way * along
    }
}

/// The length of an offset in cell space, in cells.
fn length(topology: Topology, offset: Vec2) -> f32 {
    match topology {
        Topology::Square => offset.length(),
        // Columns and rows are at 60°.
        Topology::Hexagonal => (offset.length_squared() + offset.x * offset.y).sqrt(),
    }
}
