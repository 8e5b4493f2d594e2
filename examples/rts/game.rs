//! The game without presentation: map, critters, buildings, orders and walls.
//!
//! Input: [`Options`] and [`GameMap`] as resources. Output: the plugins, resources and systems that
//! the window, the offscreen screenshot and the headless match share.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    buildings::{self, Buildings},
    cli::Options,
    disband,
    kinds::Kind,
    map::{self, GameMap},
    placement::Spiral,
    reports::{self, Tally},
    task::GroupSettings,
    units::{self, Home, UnitCount},
    walls::Walls,
};

/// Ticks simulated so far.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct TickCount(pub u64);

/// The game itself.
pub struct GamePlugin;

impl Plugin for GamePlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(TilePathPlugin::default());
        app.world_mut().resource_mut::<NavGrids>().set_profiles(Kind::profiles());
        app.init_resource::<Spiral>()
            .init_resource::<Tally>()
            .init_resource::<GroupSettings>()
            .init_resource::<Buildings>()
            .init_resource::<Walls>()
            .init_resource::<UnitCount>()
            .init_resource::<TickCount>()
            .insert_resource(Home(Cell::default()))
            .add_observer(reports::note_arrival)
            .add_observer(reports::note_failure)
            .add_observer(reports::note_no_slot)
            .add_observer(reports::note_refused_slot)
            .add_observer(disband::disband_on_next_order)
            .add_systems(
                Startup,
                (map::spawn_tiles, (units::spawn_camps, buildings::spawn_buildings).chain()),
            )
            .add_systems(FixedUpdate, reports::note_waiting.after(TilePathSystems::Move))
            .add_systems(FixedLast, |mut tick: ResMut<TickCount>| tick.0 += 1);
    }
}

/// Adds the game and its resources to an app.
pub fn add_to(app: &mut App, options: &Options, map: GameMap) {
    app.insert_resource(options.clone()).insert_resource(map).add_plugins(GamePlugin);
    if let Some(mib) = options.landmarks {
        app.world_mut().resource_mut::<TilePathSettings>().landmark_bytes = mib << 20;
    }
}
