//! The simulation of a scene by the pure layer: a crowd and its fields.
//!
//! Input: a [`Scene`]. Output: its [`Record`], tick by tick.

use std::time::Instant;

use bevy_tilepath::{
    nav::{
        crowd::{Crowd, CrowdError, CrowdEvent, Membership, RouteId, UnitId},
        field::DistanceField,
        formation::{FormationSpec, FormationUnit, assign_slots},
    },
    prelude::*,
};

use super::{
    checker::Seen,
    record::Record,
    scenes::{Scene, Start},
};

/// Most memory for the fields of all goals.
const MOST_FIELD_BYTES: usize = 8 << 30;

/// A running scene.
pub struct Simulation {
    pub scene: Scene,
    pub crowd: Crowd,
    pub ids: Vec<UnitId>,
    pub record: Record,
    pub fields: Vec<DistanceField>,
    goals: Vec<(Cell, ProfileId)>,
    /// Whether each unit follows its own path, instead of the field of its goal.
    has_own_paths: bool,
}

impl Simulation {
    /// Adds all units to the crowd and gives them their orders.
    pub fn new(scene: Scene, has_own_paths: bool) -> Result<Self, String> {
        let mut goals: Vec<(Cell, ProfileId)> =
            scene.starts.iter().map(|start| (start.goal, start.settings.profile)).collect();
        goals.sort_unstable();
        goals.dedup();
        if has_own_paths && !scene.is_group {
            goals.clear();
        }
        let fields = fields_to(&scene.grid, &goals)?;
        let mut crowd = Crowd::new(&scene.grid);
        let add = |start: &Start| crowd.add(&scene.grid, start.cell, start.settings);
        let ids = scene.starts.iter().map(add).collect::<Result<Vec<_>, _>>();
        let ids = ids.map_err(|error| error.to_string())?;
        let record = Record::new(&scene);
        let mut simulation = Self { scene, crowd, ids, record, fields, goals, has_own_paths };
        simulation.order().map_err(|error| error.to_string())?;
        Ok(simulation)
    }

    fn order(&mut self) -> Result<(), CrowdError> {
        if self.scene.is_group {
            return self.order_group();
        }
        for (start, &id) in self.scene.starts.iter().zip(&self.ids) {
            if !self.has_own_paths {
                self.crowd.follow_route(id, route(&self.goals, start))?;
            }
        }
        if self.has_own_paths {
            (0..self.ids.len()).for_each(|at| self.follow(at));
        }
        Ok(())
    }

    /// Sends all units to slots around their common goal, along the field of that goal.
    fn order_group(&mut self) -> Result<(), CrowdError> {
        let Scene { grid, starts, .. } = &self.scene;
        let Some(first) = starts.first() else {
            return Ok(());
        };
        let route = Some(self.route(first));
        let unit = |start: &Start| FormationUnit::new(start.cell).profile(start.settings.profile);
        let units: Vec<FormationUnit> = starts.iter().map(unit).collect();
        let slots = assign_slots(grid, &units, &FormationSpec::to(first.goal));
        for ((start, slot), &id) in starts.iter().zip(slots).zip(&self.ids) {
            // A unit without a slot or path stays where it is.
            let Ok(slot) = slot else { continue };
            if let Ok(path) = grid.find_path(start.settings.profile, start.cell, slot) {
                let member = Membership { swap_class: 0, slot, goal: first.goal, route };
                self.crowd.follow_among(grid, id, &path, &member)?;
            }
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
            if is_under_way
                && !self.scene.is_group
                && (is_edited || self.crowd.events().contains(&lost))
            {
                self.follow(at);
            }
        }
    }

    fn route(&self, start: &Start) -> RouteId {
        route(&self.goals, start)
    }

    /// Simulates a tick.
    pub fn tick(&mut self) -> Result<(), String> {
        let next = self.crowd.now() + 1;
        let building = self.scene.building.take_if(|(tick, _)| *tick == next);
        if let Some((_, rects)) = &building {
            let mut edit = self.scene.grid.edit();
            for &rect in rects {
                edit.block(rect).map_err(|error| error.to_string())?;
            }
            drop(edit);
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
        self.record.times.push(before.elapsed().as_secs_f64() * 1e6);
        self.add_to_record();
        Ok(())
    }

    fn add_to_record(&mut self) {
        let Self { scene, crowd, ids, .. } = self;
        let unit = |(at, &id): (usize, &UnitId)| {
            let profile = scene.starts[at].settings.profile;
            let size = scene.grid.unit_size(profile);
            let position = crowd.position(&scene.grid, id)?;
            Some(Seen::new((at as u64, profile, size), position, crowd.progress(id)))
        };
        let seen: Vec<Seen> = ids.iter().enumerate().filter_map(unit).collect();
        self.record.add_tick(&scene.grid, &seen, |at| crowd.has_arrived(ids[at]));
    }

    /// Returns the number of units that have not arrived and have been blocked for more than 512
    /// ticks.
    pub fn stuck(&self) -> usize {
        let is_stuck =
            |id: &&UnitId| !self.crowd.has_arrived(**id) && self.crowd.hindrance(**id).1 > 512;
        self.ids.iter().filter(is_stuck).count()
    }
}

fn route(goals: &[(Cell, ProfileId)], start: &Start) -> RouteId {
    let goal = (start.goal, start.settings.profile);
    RouteId(goals.binary_search(&goal).unwrap_or(0) as u32)
}

/// Fills a field for each goal. Each has a value for every cell.
fn fields_to(grid: &NavGrid, goals: &[(Cell, ProfileId)]) -> Result<Vec<DistanceField>, String> {
    let mut fields: Vec<DistanceField> = Vec::new();
    for &(goal, profile) in goals {
        let mut field = DistanceField::new();
        field.start(grid, profile, goal).map_err(|error| {
            let at = (goal.x, grid.height() as i32 - 1 - goal.y);
            format!("goal {},{}: {error}", at.0, at.1)
        })?;
        while !field.is_finished() {
            field.step(grid, u32::MAX);
        }
        fields.push(field);
        let (bytes, count) = (fields[0].bytes() * goals.len(), goals.len());
        if bytes > MOST_FIELD_BYTES {
            return Err(format!(
                "the fields of {count} goals take {} MiB: use --follow or --app, or fewer --agents",
                bytes >> 20
            ));
        }
    }
    Ok(fields)
}
