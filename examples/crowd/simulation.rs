//! The simulation of a scene: a crowd, its fields and the checker.
//!
//! Input: a [`Scene`]. Output: positions, tick times and statistics, tick by tick.

use std::time::Instant;

use bevy_tilepath::{
    nav::{
        checksum::Checksum,
        crowd::{Crowd, CrowdEvent, RouteId, UnitId},
        field::DistanceField,
    },
    prelude::*,
};

use super::{
    checker::{Checker, Seen},
    scenes::{Scene, Start},
};

/// A running scene.
pub struct Simulation {
    pub scene: Scene,
    pub crowd: Crowd,
    pub ids: Vec<UnitId>,
    pub checker: Checker,
    pub fields: Vec<DistanceField>,
    goals: Vec<(Cell, ProfileId)>,
    /// Whether each unit follows its own path, instead of the field of its goal.
    has_own_paths: bool,
    /// Distance travelled by each unit in cells, and its value at arrival.
    travelled: Vec<f64>,
    until_arrival: Vec<Option<f64>>,
    positions: Vec<(Cell, Cell)>,
    shortest: Vec<f64>,
    /// Duration of each tick, in microseconds.
    pub times: Vec<f64>,
    pub checksum: Checksum,
}

impl Simulation {
    /// Adds all units to the crowd and gives them their orders.
    pub fn new(scene: Scene, has_own_paths: bool) -> Result<Self, String> {
        let mut goals: Vec<(Cell, ProfileId)> =
            scene.starts.iter().map(|start| (start.goal, start.settings.profile)).collect();
        goals.sort_unstable();
        goals.dedup();
        let fields = goals.iter().map(|&(goal, profile)| field(&scene.grid, profile, goal));
        let fields = fields.collect::<Result<Vec<_>, _>>()?;
        let mut crowd = Crowd::new(&scene.grid);
        let add = |start: &Start| crowd.add(&scene.grid, start.cell, start.settings);
        let ids = scene.starts.iter().map(add).collect::<Result<Vec<_>, _>>();
        let ids = ids.map_err(|error| error.to_string())?;
        let mut simulation = Self {
            travelled: vec![0.0; ids.len()],
            until_arrival: vec![None; ids.len()],
            positions: scene.starts.iter().map(|start| (start.cell, start.cell)).collect(),
            shortest: Vec::new(),
            times: Vec::new(),
            checksum: Checksum::default(),
            checker: Checker::new(),
            scene,
            crowd,
            ids,
            fields,
            goals,
            has_own_paths,
        };
        simulation.order().map_err(|error| error.to_string())?;
        simulation.shortest =
            (0..simulation.ids.len()).map(|at| simulation.shortest_length(at)).collect();
        Ok(simulation)
    }

    fn order(&mut self) -> Result<(), bevy_tilepath::nav::crowd::CrowdError> {
        let Scene { grid, starts, is_group, .. } = &self.scene;
        let group = match starts.first().filter(|_| *is_group) {
            Some(first) => {
                let profile = first.settings.profile;
                Some(self.crowd.add_group(grid, self.route(first), first.goal, profile)?)
            }
            None => None,
        };
        for (start, &id) in starts.iter().zip(&self.ids) {
            match group {
                Some(group) => self.crowd.join(id, group)?,
                None if self.has_own_paths => {}
                None => self.crowd.follow_route(id, route(&self.goals, start))?,
            }
        }
        if self.has_own_paths && group.is_none() {
            (0..self.ids.len()).for_each(|at| self.follow(at));
        }
        Ok(())
    }

    /// Gives a unit a path from its position to its goal; without a path it stands.
    fn follow(&mut self, at: usize) {
        let (grid, id, start) = (&self.scene.grid, self.ids[at], &self.scene.starts[at]);
        let head = self.crowd.position(grid, id).map_or(start.cell, |(_, head)| head);
        if let Ok(path) = grid.find_path(start.settings.profile, head, start.goal) {
            // Cannot fail: the unit exists and the path is from this grid.
            let _ = self.crowd.follow(grid, id, &path);
        }
    }

    /// Finds new paths for units that have lost theirs, and for all units after an edit of the map.
    fn find_new_paths(&mut self, is_edited: bool) {
        for at in 0..self.ids.len() {
            let lost = CrowdEvent::Lost { unit: self.ids[at] };
            let is_under_way = !self.crowd.has_arrived(self.ids[at]);
            if is_under_way && (is_edited || self.crowd.events().contains(&lost)) {
                self.follow(at);
            }
        }
    }

    fn route(&self, start: &Start) -> RouteId {
        route(&self.goals, start)
    }

    /// Returns the length of a unit's shortest path, in plain steps.
    fn shortest_length(&self, at: usize) -> f64 {
        let start = &self.scene.starts[at];
        let field = &self.fields[self.route(start).0 as usize];
        field.cost(&self.scene.grid, start.cell).map_or(f64::NAN, PathCost::in_plain_steps)
    }

    /// Simulates a tick.
    pub fn tick(&mut self) -> Result<(), String> {
        let building = self.scene.building.filter(|(tick, _)| *tick == self.crowd.now() + 1);
        if let Some((_, rect)) = building {
            self.scene.grid.block(rect).map_err(|error| error.to_string())?;
            for field in &mut self.fields {
                while field.is_stale(&self.scene.grid) || !field.is_finished() {
                    field.repair(&self.scene.grid, u32::MAX);
                }
            }
        }
        if self.has_own_paths {
            self.find_new_paths(building.is_some());
        }
        let before = Instant::now();
        self.crowd.tick(&self.scene.grid, &self.fields);
        self.times.push(before.elapsed().as_secs_f64() * 1e6);
        self.measure();
        Ok(())
    }

    /// Updates the statistics and runs the checker.
    fn measure(&mut self) {
        let grid = &self.scene.grid;
        let mut seen = Vec::with_capacity(self.ids.len());
        for (at, &id) in self.ids.iter().enumerate() {
            let Some((tail, head)) = self.crowd.position(grid, id) else {
                continue;
            };
            let profile = self.scene.starts[at].settings.profile;
            let unit = (at as u64, profile, grid.unit_size(profile));
            seen.push(Seen::new(unit, (tail, head), self.crowd.progress(id)));
            let before = self.positions[at].0;
            if tail != before {
                let is_diagonal = tail.x != before.x && tail.y != before.y;
                self.travelled[at] += if is_diagonal { std::f64::consts::SQRT_2 } else { 1.0 };
            }
            self.positions[at] = (tail, head);
            self.checksum.add_cell(head);
        }
        self.checker.look(grid, &seen, &[]);
        for event in self.crowd.events() {
            if let CrowdEvent::Arrived { unit, .. } = event
                && let Some(at) = self.ids.iter().position(|id| id == unit)
            {
                self.until_arrival[at].get_or_insert(self.travelled[at]);
            }
        }
    }

    /// Returns the positions of all units: the cell that each leaves and the cell it enters.
    pub fn positions(&self) -> &[(Cell, Cell)] {
        &self.positions
    }

    /// Returns the number of units that have stood on their goal.
    pub fn arrived(&self) -> usize {
        self.until_arrival.iter().flatten().count()
    }

    /// Returns whether all units have arrived, or the tick limit is reached.
    pub fn is_over(&self) -> bool {
        self.arrived() == self.ids.len() || self.crowd.now() >= self.scene.ticks
    }

    /// Returns the number of units that have not arrived and have been blocked for more than 512
    /// ticks.
    pub fn stuck(&self) -> usize {
        let is_stuck =
            |id: &&UnitId| !self.crowd.has_arrived(**id) && self.crowd.hindrance(**id).1 > 512;
        self.ids.iter().filter(is_stuck).count()
    }

    /// Returns each unit's path length divided by the shortest length, sorted. In a group, the
    /// shortest path to the unit's own slot counts.
    pub fn detours(&self) -> Vec<f64> {
        let mut detours: Vec<f64> = (0..self.ids.len())
            .filter_map(|at| {
                let (travelled, shortest) = if self.scene.is_group {
                    let (start, slot) = (self.scene.starts[at], self.positions[at].1);
                    let profile = start.settings.profile;
                    let cost = self.scene.grid.path_cost(profile, start.cell, slot).ok()?;
                    (self.travelled[at], cost.in_plain_steps())
                } else {
                    (self.until_arrival[at]?, self.shortest[at])
                };
                (shortest > 0.0).then(|| travelled / shortest)
            })
            .collect();
        detours.sort_by(f64::total_cmp);
        detours
    }
}

fn route(goals: &[(Cell, ProfileId)], start: &Start) -> RouteId {
    let goal = (start.goal, start.settings.profile);
    RouteId(goals.binary_search(&goal).unwrap_or(0) as u32)
}

fn field(grid: &NavGrid, profile: ProfileId, goal: Cell) -> Result<DistanceField, String> {
    let mut field = DistanceField::new();
    field.start(grid, profile, goal).map_err(|error| format!("{goal}: {error:?}"))?;
    while !field.is_finished() {
        field.step(grid, u32::MAX);
    }
    Ok(field)
}
