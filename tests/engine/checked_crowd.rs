//! A crowd whose steps are checked from outside, tick by tick.

use std::collections::BTreeSet;

use bevy_tilepath::{
    nav::crowd::{Crowd, CrowdEvent, UnitId, UnitSettings},
    prelude::*,
};

use crate::common::Random;
use crate::crowd_common::{Checker, Seen};

pub const UNIT: ProfileId = ProfileId(0);

/// A crowd whose units follow individual paths, with a checker.
pub struct CheckedCrowd {
    pub grid: NavGrid,
    pub crowd: Crowd,
    pub units: Vec<(u64, UnitId)>,
    pub next_id: u64,
    pub arrived: BTreeSet<UnitId>,
    pub checker: Checker,
}

impl CheckedCrowd {
    pub fn new(grid: NavGrid) -> Self {
        let crowd = Crowd::new(&grid);
        let (units, arrived, checker) = (Vec::new(), BTreeSet::new(), Checker::new());
        Self { grid, crowd, units, next_id: 0, arrived, checker }
    }

    pub fn add(&mut self, cell: Cell, settings: UnitSettings) -> Option<UnitId> {
        let unit = self.crowd.add(&self.grid, cell, settings).ok()?;
        self.units.push((self.next_id, unit));
        self.next_id += 1;
        Some(unit)
    }

    pub fn remove(&mut self, at: usize) {
        let (_, unit) = self.units.swap_remove(at);
        assert!(self.crowd.remove(unit));
    }

    pub fn send(&mut self, unit: UnitId, goal: Cell) -> bool {
        let (_, head) = self.crowd.position(&self.grid, unit).unwrap();
        let Ok(path) = self.grid.find_path(UNIT, head, goal) else {
            return false;
        };
        self.crowd.follow(&self.grid, unit, &path).unwrap();
        self.arrived.remove(&unit);
        true
    }

    pub fn tick(&mut self) {
        self.crowd.tick(&self.grid, &());
        for event in self.crowd.events() {
            if let CrowdEvent::Arrived { unit, .. } = *event {
                self.arrived.insert(unit);
            }
        }
        let seen: Vec<Seen> = self.units.iter().map(|&(id, unit)| self.seen(id, unit)).collect();
        self.checker.look(&self.grid, &seen, &[]);
        let now = self.crowd.now();
        assert!(
            self.checker.faults.is_clean(),
            "tick {now}, {:?}: {:?}",
            self.checker.faults,
            self.checker.first
        );
    }

    fn seen(&self, id: u64, unit: UnitId) -> Seen {
        let position = self.crowd.position(&self.grid, unit).unwrap();
        let size = self.crowd.size(unit).unwrap();
        let known = |profile: &ProfileId| usize::from(profile.0) < self.grid.profiles().len();
        let profile = self.crowd.profile(unit).filter(known).unwrap_or(UNIT);
        Seen::new((id, profile, size), position, self.crowd.progress(unit))
    }

    /// Returns the tick by which `sent` units have arrived once; `None` if they have not after `most` ticks.
    pub fn tick_until_arrived(&mut self, sent: usize, most: u64) -> Option<u64> {
        for _ in 0..most {
            self.tick();
            if self.arrived.len() == sent {
                return Some(self.crowd.now());
            }
        }
        None
    }
}

pub fn pick(random: &mut Random, bound: u32) -> i32 {
    random.below(bound) as i32
}
