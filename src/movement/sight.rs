//! What a steered unit sees of its path, and whether a straight line there is as good as the path.
//!
//! Input: the ground, the path in straight lines, and where the unit is. Output: the nearest step that it sees, and answers about
//! straight lines to steps. Most lines lead over even ground, which is quick to check; all others are checked point by point.

use bevy::prelude::*;

use crate::{
    coordinates::{GridFrame, cell_around, center, length},
    nav::{Cell, Direction, NavGrid, PathLines, ProfileId, Topology},
    unit::{point_on, points_from},
};

/// The unit aims at the point this many steps ahead: with more it would cut corners, with fewer it would sway.
pub(super) const LOOK_AHEAD: u32 = 3;
/// Half the width of the body that must get past walls, in cells.
const HALF_BODY: f32 = 0.4;
/// Points per cell of a straight line at which the ground is checked.
const SAMPLES_PER_CELL: f32 = 8.0;
/// Steps of the path, forward and back from the last one, among which it looks for its present step.
const STEPS_FORWARD: u32 = 8;
const STEPS_BACK: u32 = 4;
const STEPS_NEAR: usize = (STEPS_BACK + 1 + STEPS_FORWARD) as usize;
/// If the nearest step at hand is within this distance, in cells, it is there, without a look at farther steps.
const NEAR: f32 = 0.75;
/// Points of the path at hand: from the step before the present one to the step at which it aims.
const AT_HAND: usize = (1 + 1 + LOOK_AHEAD + 1) as usize;
/// Distance from its path, in cells, at which it counts as off the path.
const MAX_DISTANCE: f32 = 3.0;

/// The ground on which a unit is steered, and where it is.
pub(super) struct SteeringContext<'a> {
    pub(super) grid: &'a NavGrid,
    pub(super) frame: &'a GridFrame,
    pub(super) profile: ProfileId,
    /// In the world.
    pub(super) position: Vec2,
}

impl SteeringContext<'_> {
    /// Whether a unit on a cell sees another cell.
    pub(super) fn sees(&self, here: Cell, cell: Option<Cell>) -> bool {
        cell.is_some_and(|cell| cell == here || self.grid.clear_line(self.profile, here, cell))
    }

    /// Whether nothing is in the way in the rectangle around two points.
    pub(super) fn is_even(&self, min: Vec2, max: Vec2) -> bool {
        // Hexagons lie to the sides of their columns and rows, too.
        let margin = match self.grid.topology() {
            Topology::Square => HALF_BODY,
            Topology::Hexagonal => 1.0,
        };
        let corner = |point| cell_around(point, Topology::Square);
        let corners = corner(min - margin).zip(corner(max + margin));
        corners.is_some_and(|(min, max)| self.grid.is_even(self.profile, min, max))
    }
}

/// What a unit can see of its path.
pub(super) struct Sight<'a> {
    lines: &'a PathLines,
    around: &'a SteeringContext<'a>,
    here: Cell,
    point: Vec2,
    /// Points of the path from the step `first` on.
    first: u32,
    points: [Vec2; AT_HAND],
}

impl<'a> Sight<'a> {
    pub(super) fn new(
        lines: &'a PathLines,
        around: &'a SteeringContext<'a>,
        (here, point): (Cell, Vec2),
        step: u32,
    ) -> Self {
        let first = step.saturating_sub(1);
        let mut points = [point_on(lines, lines.steps()); AT_HAND];
        for (place, point) in points.iter_mut().zip(points_from(lines, first)) {
            *place = point;
        }
        Self { lines, around, here, point, first, points }
    }

    /// The point at the end of a step.
    pub(super) fn step_point(&self, step: u32) -> Vec2 {
        let at_hand = step.checked_sub(self.first).and_then(|at| self.points.get(at as usize));
        at_hand.copied().unwrap_or_else(|| point_on(self.lines, step))
    }

    fn distance(&self, step: u32) -> f32 {
        length(self.around.grid.topology(), self.step_point(step) - self.point)
    }

    pub(super) fn cell(&self, step: u32) -> Option<Cell> {
        cell_around(self.step_point(step), self.around.grid.topology())
    }

    fn cost(&self, cell: Option<Cell>) -> u16 {
        cell.map_or(0, |cell| self.around.grid.cost(self.around.profile, cell))
    }

    /// The nearest step that it sees of those near `step`, most often of those at hand.
    pub(super) fn nearest(&self, step: u32) -> Option<u32> {
        let last = self.first.saturating_add(AT_HAND as u32 - 1).min(self.lines.steps());
        // Of two steps equally near, takes the later one: a path may come back the way it went.
        let at_hand = (self.first..=last).rev();
        let nearest = at_hand.min_by(|&a, &b| self.distance(a).total_cmp(&self.distance(b)));
        nearest
            .filter(|&step| self.distance(step) <= NEAR && self.sees(step))
            .or_else(|| self.nearest_around(step))
    }

    /// The same after a push to farther away.
    fn nearest_around(&self, step: u32) -> Option<u32> {
        let steps = step.saturating_sub(STEPS_BACK)..=self.lines.steps();
        let mut near = [(f32::INFINITY, 0); STEPS_NEAR];
        for (place, step) in near.iter_mut().zip(steps) {
            *place = (self.distance(step), step);
        }
        while let Some(nearest) = near.iter_mut().rev().min_by(|a, b| a.0.total_cmp(&b.0)) {
            if nearest.0 > MAX_DISTANCE || self.sees(nearest.1) {
                return (nearest.0 <= MAX_DISTANCE).then_some(nearest.1);
            }
            nearest.0 = f32::INFINITY;
        }
        None
    }

    pub(super) fn sees(&self, step: u32) -> bool {
        self.around.sees(self.here, self.cell(step))
    }

    /// Whether the straight line from where it is to the end of `step` is as good as the steps from `first` on: it keeps clear
    /// of walls, crosses no edge that costs anything and, off the cells of these steps, no ground that costs more than the
    /// cheapest of them.
    pub(super) fn is_open(&self, first: u32, step: u32) -> bool {
        let (topology, grid) = (self.around.grid.topology(), self.around.grid);
        let is_step = |cell| (first..=step).any(|step| self.cell(step) == Some(cell));
        let on_path = (first..=step).map(|step| self.cost(self.cell(step)));
        let most = on_path.min().unwrap_or(0);
        let target = self.step_point(step);
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

    /// Whether nothing is in the way in the rectangle around it and these steps: quick to check, and usually true.
    pub(super) fn is_even(&self, first: u32, step: u32) -> bool {
        let (mut min, mut max) = (self.point, self.point);
        for point in (first..=step).map(|step| self.step_point(step)) {
            (min, max) = (min.min(point), max.max(point));
        }
        self.around.is_even(min, max)
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
    pub(super) fn nearest_on_line(&self, step: u32) -> Vec2 {
        let (from, to) = (center(self.here), self.step_point(step));
        let way = to - from;
        let along = ((self.point - from).dot(way) / way.length_squared()).clamp(0.0, 1.0);
        from + way * along
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nav::{EdgeId, Profile, TerrainId};

    const SIDE: u32 = 24;
    const MUD: TerrainId = TerrainId(b'm');
    const FORD: EdgeId = EdgeId(7);

    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: u32) -> u32 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((self.0 >> 33) % u64::from(bound)) as u32
        }

        fn cell(&mut self) -> Cell {
            Cell::new(self.below(SIDE) as i32, self.below(SIDE) as i32)
        }
    }

    /// Random ground with walls, mud and fences.
    fn ground(random: &mut Random, topology: Topology) -> NavGrid {
        let size = 1 + random.below(2) as u8;
        let profile = Profile::default().with(MUD, 40).with_edge(FORD, 8).size(size);
        let grid = NavGrid::new(SIDE, SIDE, TerrainId::GROUND).expect("small");
        let mut grid = grid.with_topology(topology).with_profiles(vec![profile]);
        for terrain in [TerrainId::VOID, MUD] {
            for _ in 0..random.below(30) {
                grid.set_terrain(random.cell(), terrain).expect("on the grid");
            }
        }
        for edge in [EdgeId::WALL, FORD] {
            for _ in 0..random.below(10) {
                let way = [Direction::East, Direction::North][random.below(2) as usize];
                let _is_at_the_border = grid.set_edge(random.cell(), way, edge).is_err();
            }
        }
        grid
    }

    /// Over even ground, what is seen quickly is seen point by point, too, from anywhere near a path.
    #[test]
    fn over_even_ground_every_line_is_open() {
        let mut random = Random(1);
        let mut counts = [0, 0];
        for topology in [Topology::Square, Topology::Hexagonal].repeat(200) {
            let grid = ground(&mut random, topology);
            let Ok(path) = grid.find_path(ProfileId(0), random.cell(), random.cell()) else {
                continue;
            };
            let lines = path.string_pulled(&grid, ProfileId(0)).lines;
            let frame = GridFrame::square(Vec2::ZERO, Vec2::ONE);
            let (position, profile) = (Vec2::ZERO, ProfileId(0));
            let around = SteeringContext { grid: &grid, frame: &frame, profile, position };
            for first in 0..lines.steps() {
                let mut off = || random.below(100) as f32 / 100.0 - 0.5;
                let point = point_on(&lines, first) + Vec2::new(off(), off());
                let here = cell_around(point, topology).expect("finite");
                let sight = Sight::new(&lines, &around, (here, point), first);
                for step in first..=(first + LOOK_AHEAD).min(lines.steps()) {
                    let is_open = sight.sees(step) && sight.is_open(first, step);
                    let is_even = sight.is_even(first, step);
                    assert!(is_open || !is_even, "{topology:?}: {here:?}, {first}..={step}");
                    counts[usize::from(is_even)] += usize::from(is_open);
                }
            }
        }
        assert!(counts.iter().all(|&count| count > 1_000), "{counts:?}");
    }
}
