//! Statistics of the units.
//!
//! Input: positions and path status of the critters, tick by tick. Output: [`Figures`], for the
//! panel and for the line of JSON.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::game::SceneState;

/// The main direction of a unit's goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    East,
    West,
    North,
    South,
}

impl Course {
    /// Returns the one nearest to a direction vector.
    pub fn of(ahead: Vec2) -> Self {
        let is_upright = ahead.x.abs() < ahead.y.abs();
        match (is_upright, ahead.x >= 0.0, ahead.y >= 0.0) {
            (true, _, true) => Self::North,
            (true, _, false) => Self::South,
            (false, true, _) => Self::East,
            (false, false, _) => Self::West,
        }
    }
}

/// A critter of the scene.
#[derive(Component, Clone, Copy, Debug)]
pub struct Walker {
    pub course: Course,
    /// Cells along a side.
    pub size: u32,
    pub profile: ProfileId,
    pub has_arrived: bool,
    start: Cell,
    tail: Cell,
    /// Distance travelled so far, in cells.
    travelled: f64,
}

impl Walker {
    /// Creates a unit that stands on `start`.
    pub fn new(start: Cell, size: u32, profile: ProfileId, course: Course) -> Self {
        Self { course, size, profile, has_arrived: false, start, tail: start, travelled: 0.0 }
    }

    fn move_to(&mut self, tail: Cell) {
        let is_diagonal = tail.x != self.tail.x && tail.y != self.tail.y;
        if tail != self.tail {
            self.travelled += if is_diagonal { std::f64::consts::SQRT_2 } else { 1.0 };
            self.tail = tail;
        }
    }

    /// Returns the length of its path, divided by that of the shortest path to its position.
    fn detour(&self, grid: &NavGrid) -> Option<f64> {
        let shortest = grid.path_cost(self.profile, self.start, self.tail).ok()?.in_plain_steps();
        (shortest > 0.0).then(|| self.travelled / shortest)
    }
}

/// Statistics of all units.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct Figures {
    pub units: usize,
    pub arrived: usize,
    /// Units that are blocked at present.
    pub waiting: usize,
    /// Units that have been blocked for long.
    pub stuck: usize,
    /// Sum of the detours of arrived units, and the number of units in it.
    detours: f64,
    measured: u32,
}

impl Figures {
    /// Creates the statistics of `units` units at the start.
    pub fn new(units: usize) -> Self {
        Self { units, ..Self::default() }
    }

    /// Returns the mean of path length divided by shortest length over arrived units.
    pub fn mean_detour(&self) -> Option<f64> {
        (self.measured > 0).then(|| self.detours / f64::from(self.measured))
    }
}

/// Updates the statistics, once a tick.
pub fn measure(
    grids: Res<NavGrids>,
    crowds: Res<Crowds>,
    mut scene: ResMut<SceneState>,
    mut figures: ResMut<Figures>,
    mut walkers: Query<(&mut Walker, &CritterState, Option<&PathStatus>)>,
) {
    let id = GridId::default();
    let (Some(grid), Some(crowd)) = (grids.get(id), crowds.get(id)) else {
        return;
    };
    (figures.waiting, figures.stuck) = (0, 0);
    for (mut walker, state, status) in &mut walkers {
        let (Some(unit), Some(status)) = (state.unit(), status) else {
            continue;
        };
        walker.move_to(state.cell());
        figures.waiting += usize::from(crowd.hindrance(unit).0 != Hindrance::None);
        figures.stuck += usize::from(is_stuck(status));
        if matches!(status, PathStatus::Arrived(_)) && !walker.has_arrived {
            walker.has_arrived = true;
            figures.arrived += 1;
            if let Some(detour) = walker.detour(grid) {
                figures.detours += detour;
                figures.measured += 1;
            }
        }
    }
    if figures.arrived == figures.units && scene.finished.is_none() {
        scene.finished = Some(scene.ticks);
    }
}

/// Returns whether a unit has been blocked for long, other than in a queue or by oncoming units.
pub fn is_stuck(status: &PathStatus) -> bool {
    use Hindrance::{Oncoming, Queue};
    matches!(status, PathStatus::Stuck(why) if !matches!(why, Queue | Oncoming))
}
