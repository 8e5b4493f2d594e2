//! What becomes of everybody.
//!
//! Input: where critters are and what their requests say, tick by tick. Output: [`Figures`], for
//! the panel and for the line of JSON.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::game::Play;

/// Where somebody wants to go, roughly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    East,
    West,
    North,
    South,
}

impl Course {
    /// The one nearest to a direction.
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
    /// Cells gone so far.
    travelled: f64,
}

impl Walker {
    /// One that stands on `start`.
    pub fn new(start: Cell, size: u32, profile: ProfileId, course: Course) -> Self {
        Self { course, size, profile, has_arrived: false, start, tail: start, travelled: 0.0 }
    }

    fn go_to(&mut self, tail: Cell) {
        let is_diagonal = tail.x != self.tail.x && tail.y != self.tail.y;
        if tail != self.tail {
            self.travelled += if is_diagonal { std::f64::consts::SQRT_2 } else { 1.0 };
            self.tail = tail;
        }
    }

    /// By what factor its way was longer than the shortest one to where it stands.
    fn detour(&self, grid: &NavGrid) -> Option<f64> {
        let shortest = grid.path_cost(self.profile, self.start, self.tail).ok()?.in_plain_steps();
        (shortest > 0.0).then(|| self.travelled / shortest)
    }
}

/// What has become of everybody.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct Figures {
    pub units: usize,
    pub arrived: usize,
    /// Those who want to go on and cannot at present.
    pub waiting: usize,
    /// Those who have not been able to for long.
    pub stuck: usize,
    /// Sum of the detours of those who have arrived, and how many have one.
    detours: f64,
    measured: u32,
}

impl Figures {
    /// Nothing has happened to so many.
    pub fn new(units: usize) -> Self {
        Self { units, ..Self::default() }
    }

    /// By what factor ways were longer than need be, in the mean over those who have arrived.
    pub fn mean_detour(&self) -> Option<f64> {
        (self.measured > 0).then(|| self.detours / f64::from(self.measured))
    }
}

/// Looks at everybody, once a tick.
pub fn look(
    grids: Res<NavGrids>,
    crowds: Res<Crowds>,
    mut play: ResMut<Play>,
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
        walker.go_to(state.cell());
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
    if figures.arrived == figures.units && play.finished.is_none() {
        play.finished = Some(play.ticks);
    }
}

/// Whether somebody has not been able to move for long, and not because he stands in a line.
pub fn is_stuck(status: &PathStatus) -> bool {
    use Hindrance::{Oncoming, Queue};
    matches!(status, PathStatus::Stuck(why) if !matches!(why, Queue | Oncoming))
}
