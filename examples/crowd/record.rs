//! What is recorded of a run: positions, arrivals, distances, tick times, and what the checker sees.
//!
//! Input: the units of every tick. Output: the figures that the runner prints.

use bevy_tilepath::{nav::checksum::Checksum, prelude::*};

use super::{
    checker::{Checker, Seen},
    scenes::{Scene, Start},
};

/// The steps of a unit.
#[derive(Clone, Copy, Default)]
struct Walked {
    steps: u64,
    last: (i32, i32),
    reversals: u64,
}

impl Walked {
    /// Adds a step. The unit turns back if this step differs from the previous one by more than a right angle.
    fn add(&mut self, step: (i32, i32)) {
        self.steps += 1;
        self.reversals += u64::from(step.0 * self.last.0 + step.1 * self.last.1 < 0);
        self.last = step;
    }
}

/// All units of a scene before the first tick.
fn standing(scene: &Scene) -> Vec<Seen> {
    let starts = scene.starts.iter().enumerate();
    let seen = starts.map(|(at, start)| {
        let profile = start.settings.profile;
        let size = scene.grid.unit_size(profile);
        Seen::new((at as u64, profile, size), (start.cell, start.cell), (0, 1))
    });
    seen.collect()
}

/// The record of a run so far.
pub struct Record {
    pub checker: Checker,
    /// Ticks so far, and the duration of each in microseconds.
    pub ticks: u64,
    /// The last tick in which a unit came to another cell.
    pub last_step: u64,
    pub times: Vec<f64>,
    /// Of each unit: the cell that it leaves and the cell it enters.
    pub positions: Vec<(Cell, Cell)>,
    pub checksum: Checksum,
    /// Distance travelled by each unit in cells, and its value at arrival.
    travelled: Vec<f64>,
    until_arrival: Vec<Option<f64>>,
    /// Of each unit: the steps so far, the last of them, and how many turned back from the one before.
    walked: Vec<Walked>,
    /// Length of each unit's shortest path, in plain steps.
    shortest: Vec<f64>,
}

impl Record {
    /// Starts the record of a scene.
    pub fn new(scene: &Scene) -> Self {
        let shortest = scene.starts.iter().map(|start| {
            let cost = scene.grid.path_cost(start.settings.profile, start.cell, start.goal);
            cost.map_or(f64::NAN, PathCost::in_plain_steps)
        });
        let mut checker = Checker::new();
        checker.look(&scene.grid, &standing(scene), &[]);
        Self {
            checker,
            ticks: 0,
            last_step: 0,
            times: Vec::new(),
            positions: scene.starts.iter().map(|start| (start.cell, start.cell)).collect(),
            checksum: Checksum::default(),
            travelled: vec![0.0; scene.starts.len()],
            until_arrival: vec![None; scene.starts.len()],
            walked: vec![Walked::default(); scene.starts.len()],
            shortest: shortest.collect(),
        }
    }

    /// Adds a tick. The ids of the units are their indices in the scene; `has_arrived` is asked for each of them.
    pub fn add_tick(&mut self, grid: &NavGrid, seen: &[Seen], has_arrived: impl Fn(usize) -> bool) {
        self.ticks += 1;
        for unit in seen {
            let at = unit.id as usize;
            let before = self.positions[at].0;
            if unit.tail != before {
                self.last_step = self.ticks;
                let is_square = grid.topology() == Topology::Square;
                let is_diagonal = is_square && unit.tail.x != before.x && unit.tail.y != before.y;
                self.walked[at].add((unit.tail.x - before.x, unit.tail.y - before.y));
                self.travelled[at] += if is_diagonal { std::f64::consts::SQRT_2 } else { 1.0 };
            }
            self.positions[at] = (unit.tail, unit.head);
            self.checksum.add_cell(unit.head);
            if self.until_arrival[at].is_none() && has_arrived(at) {
                self.until_arrival[at] = Some(self.travelled[at]);
            }
        }
        self.checker.look(grid, seen, &[]);
    }

    /// Returns the number of units that have stood on their goal.
    pub fn arrived(&self) -> usize {
        self.until_arrival.iter().flatten().count()
    }

    /// Returns how many units do not stand on their goal now: they were pushed off it. In a group, how many move.
    pub fn off_goal(&self, scene: &Scene, is_group: bool) -> usize {
        let units = self.positions.iter().zip(&scene.starts);
        let is_off = |&(&(tail, head), start): &(&(Cell, Cell), &Start)| {
            tail != head || !is_group && head != start.goal
        };
        units.filter(is_off).count()
    }

    /// Returns whether all units have arrived, or the scene's tick limit is reached.
    pub fn is_over(&self, scene: &Scene) -> bool {
        self.arrived() == scene.starts.len() || self.ticks >= scene.ticks
    }

    /// Returns how often units turned back per 100 steps: the mean, and the most of any unit. Fewer than 100 steps
    /// count as 100.
    pub fn reversals(&self) -> (f64, f64) {
        let sum = |count: fn(&Walked) -> u64| self.walked.iter().map(count).sum::<u64>() as f64;
        let mean = 100.0 * sum(|unit| unit.reversals) / sum(|unit| unit.steps).max(1.0);
        let rate = |unit: &Walked| 100.0 * unit.reversals as f64 / unit.steps.max(100) as f64;
        (mean, self.walked.iter().map(rate).fold(0.0, f64::max))
    }

    /// Returns each unit's path length divided by the shortest length, sorted. In a group, the shortest path to
    /// the cell where the unit stands in the end counts.
    pub fn detours(&self, scene: &Scene, is_group: bool) -> Vec<f64> {
        let detour = |(at, start): (usize, &Start)| {
            let (travelled, shortest) = if is_group {
                let slot = self.positions[at].1;
                let cost = scene.grid.path_cost(start.settings.profile, start.cell, slot).ok()?;
                (self.travelled[at], cost.in_plain_steps())
            } else {
                (self.until_arrival[at]?, self.shortest[at])
            };
            (shortest > 0.0).then(|| travelled / shortest)
        };
        let mut detours: Vec<f64> = scene.starts.iter().enumerate().filter_map(detour).collect();
        detours.sort_by(f64::total_cmp);
        detours
    }
}
