//! The simulation of a scene through the whole plugin, without a window.
//!
//! Input: a [`Scene`] and an app with the plugin. Output: its [`Record`], tick by tick. Each update of the app is
//! one tick. Every unit has an order of its own; units with a common goal get a cell each around it, or are sent
//! as one group.

use std::time::Instant;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_tilepath::{
    nav::formation::{FormationSpec, FormationUnit, assign_slots},
    prelude::*,
};

use super::{checker::Seen, record::Record, scenes::Scene};

/// Ticks of waiting after which a unit counts as stuck.
const STUCK_AFTER: u64 = 512;

/// A running scene.
pub struct AppSimulation {
    pub scene: Scene,
    pub record: Record,
    /// Whether the units are sent as one group.
    pub is_group: bool,
    app: App,
    units: Vec<Entity>,
}

/// Returns a headless app with the plugin in which each update is one tick.
pub fn headless_app() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TilePathPlugin::default()))
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    app.finish();
    app.cleanup();
    app.update(); // the first update has no fixed tick
    app
}

impl AppSimulation {
    /// Spawns all units on the default grid and gives them their orders. With `as_groups`, units with a common
    /// goal are sent as a group.
    pub fn new(mut app: App, mut scene: Scene, as_groups: bool) -> Result<Self, String> {
        let is_group = scene.is_group && as_groups;
        if scene.is_group && !as_groups {
            spread_goals(&mut scene)?;
        }
        let frame = GridFrame::default();
        let tick = app.world().resource::<Time<Fixed>>().timestep().as_secs_f64();
        let mut grids = app.world_mut().resource_mut::<NavGrids>();
        grids.set_profiles(scene.grid.profiles().to_vec());
        grids.insert(GridId::default(), scene.grid.clone(), frame);
        let mut units = Vec::with_capacity(scene.starts.len());
        for start in &scene.starts {
            let profile = start.settings.profile;
            let center = frame.block_center(start.cell, scene.grid.unit_size(profile));
            let transform = Transform::from_translation(center.extend(0.0));
            let critter =
                (Critter::new(start.cells_per_second(tick)), NavAgent::new(profile), transform);
            let mut unit = app.world_mut().spawn(critter);
            if !is_group {
                unit.insert(PathRequest::to(start.goal));
            }
            units.push(unit.id());
        }
        if let Some(first) = scene.starts.first().filter(|_| is_group) {
            app.world_mut().spawn(Group::to(first.goal, units.iter().copied()));
        }
        Ok(Self { record: Record::new(&scene), scene, is_group, app, units })
    }

    /// Simulates a tick.
    pub fn tick(&mut self) -> Result<(), String> {
        let next = self.record.ticks + 1;
        if let Some((_, rects)) = self.scene.building.take_if(|(tick, _)| *tick == next) {
            let mut grids = self.app.world_mut().resource_mut::<NavGrids>();
            for grid in [&mut self.scene.grid].into_iter().chain(grids.get_mut(GridId::default())) {
                let mut edit = grid.edit();
                for &rect in &rects {
                    edit.block(rect).map_err(|error| error.to_string())?;
                }
            }
        }
        let before = Instant::now();
        self.app.update();
        self.record.times.push(before.elapsed().as_secs_f64() * 1e6);
        let seen = self.seen()?;
        let world = self.app.world();
        let has_arrived = |at: usize| {
            matches!(world.get::<PathStatus>(self.units[at]), Some(PathStatus::Arrived(_)))
        };
        self.record.add_tick(&self.scene.grid, &seen, has_arrived);
        Ok(())
    }

    /// Returns what the checker sees of each unit.
    fn seen(&self) -> Result<Vec<Seen>, String> {
        let world = self.app.world();
        if self.units.is_empty() {
            return Ok(Vec::new());
        }
        let crowd = world.resource::<Crowds>().get(GridId::default());
        let crowd = crowd.ok_or("no unit is in the crowd")?;
        let unit = |(at, &entity): (usize, &Entity)| {
            let state = world.get::<CritterState>(entity)?;
            let profile = self.scene.starts[at].settings.profile;
            let size = self.scene.grid.unit_size(profile);
            let position = (state.walk().tail(), state.walk().head());
            let progress = crowd.progress(state.unit()?);
            Some(Seen::new((at as u64, profile, size), position, progress))
        };
        let seen: Option<Vec<Seen>> = self.units.iter().enumerate().map(unit).collect();
        seen.ok_or_else(|| "a unit is not in the crowd".to_owned())
    }

    /// Returns the number of units that have not arrived and have been blocked for long.
    pub fn stuck(&self) -> usize {
        let world = self.app.world();
        let Some(crowd) = world.resource::<Crowds>().get(GridId::default()) else {
            return 0;
        };
        let unit = |entity: &Entity| world.get::<CritterState>(*entity)?.unit();
        let units = self.units.iter().filter_map(unit);
        units.filter(|&id| !crowd.has_arrived(id) && crowd.hindrance(id).1 > STUCK_AFTER).count()
    }
}

/// Gives each unit of a scene with a common goal a cell of its own around it.
fn spread_goals(scene: &mut Scene) -> Result<(), String> {
    let unit = |start: &super::scenes::Start| {
        FormationUnit::new(start.cell).profile(start.settings.profile)
    };
    let units: Vec<FormationUnit> = scene.starts.iter().map(unit).collect();
    let Some(goal) = scene.starts.first().map(|start| start.goal) else {
        return Ok(());
    };
    let slots = assign_slots(&scene.grid, &units, &FormationSpec::to(goal));
    for (start, slot) in scene.starts.iter_mut().zip(slots) {
        start.goal = slot.map_err(|failure| failure.to_string())?;
    }
    Ok(())
}
