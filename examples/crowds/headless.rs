//! Runs a scene without a window.
//!
//! Input: its number. Output: one line of JSON with the results. One app update is one tick, run as
//! fast as possible.

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_tilepath::prelude::*;

use crate::{
    clock::{self, TickTimes},
    figures::Figures,
    game::{GamePlugin, RequestedScene, SceneState},
};

/// Runs the scene to its end.
pub fn run(number: usize) -> String {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, GamePlugin))
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .insert_resource(TickTimes::keeping_all())
        .insert_resource(RequestedScene(Some(number)));
    app.finish();
    app.cleanup();
    app.update();
    while !app.world().resource::<SceneState>().is_over() {
        app.update();
    }
    let state = state_checksum(app.world_mut());
    summary(app.world(), state)
}

fn summary(world: &World, state: u64) -> String {
    let (scene, figures) = (world.resource::<SceneState>(), world.resource::<Figures>());
    let counters = world.resource::<Crowds>().counters();
    let times = world.resource::<TickTimes>().all();
    let worst = times.iter().copied().fold(0.0, f64::max);
    format!(
        concat!(
            r#"{{"scene":"{}","ticks":{},"units":{},"arrived":{},"steps":{},"pushes":{},"#,
            r#""waits":{},"undone":{},"longest_wait":{},"stuck":{},"mean_detour":{:.3},"#,
            r#""median_tick_us":{:.0},"worst_tick_us":{:.0},"state":"{:016x}"}}"#
        ),
        scene.name,
        scene.ticks,
        figures.units,
        figures.arrived,
        counters.steps,
        counters.pushes,
        counters.waits,
        counters.undone,
        counters.longest_wait,
        figures.stuck,
        figures.mean_detour().unwrap_or(1.0),
        clock::median(times.to_vec()).unwrap_or_default(),
        worst,
        state,
    )
}
