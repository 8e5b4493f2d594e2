//! The scripted match without a window.
//!
//! Input: [`Options`]. Output: on stdout one JSON object per second and one at the end; a picture
//! of the final state with `--screenshot`. One app update is one tick of 1/64 s, run as fast as
//! possible.

use std::time::{Duration, Instant};

use bevy::{app::TaskPoolPlugin, prelude::*, time::TimeUpdateStrategy};
use bevy_tilepath::{nav::checksum::Checksum, prelude::*};

use crate::{
    cli::Options,
    display,
    game::{self, TickCount},
    map::GameMap,
    offscreen,
    reports::Tally,
    script::ScriptPlugin,
    task::Task,
    units::{Unit, UnitCount, cell_of},
    walls::Walls,
};

/// Updates that are not timed: the first ones read the map.
const WARM_UP: u64 = 4;

/// Runs the match to its end.
pub fn run(options: &Options, map: GameMap) -> Result<(), String> {
    let mut app = App::new();
    let picture = options.screenshot.as_deref();
    if picture.is_some() {
        offscreen::add_plugins(&mut app, options)?;
    } else {
        let threads = TaskPoolPlugin { task_pool_options: display::thread_options(options) };
        app.add_plugins(MinimalPlugins.set(threads));
    }
    game::add_to(&mut app, options, map);
    app.add_plugins(ScriptPlugin).insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    if picture.is_some() {
        offscreen::add_scene(&mut app);
    }
    offscreen::finish_plugins(&mut app);
    let worst = play(&mut app, options.ticks);
    check(app.world_mut())?;
    println!("{}", summary(app.world_mut(), worst));
    picture.map_or(Ok(()), |path| offscreen::save_picture(&mut app, path))
}

/// Updates the app until `ticks` ticks are simulated. Returns the longest update.
fn play(app: &mut App, ticks: u64) -> Duration {
    let (mut worst, mut reported) = (Duration::ZERO, Instant::now());
    loop {
        let tick = app.world().resource::<TickCount>().0;
        if tick >= ticks {
            return worst;
        }
        if reported.elapsed() >= Duration::from_secs(1) {
            reported = Instant::now();
            println!("{}", progress(app.world()));
        }
        let start = Instant::now();
        app.update();
        if tick >= WARM_UP {
            worst = worst.max(start.elapsed());
        }
    }
}

fn progress(world: &World) -> String {
    let tally = world.resource::<Tally>();
    let counters = world.resource::<PathCounters>();
    format!(
        r#"{{"tick":{},"units":{},"orders":{},"arrived":{},"failed":{},"waiting":{}}}"#,
        world.resource::<TickCount>().0,
        world.resource::<UnitCount>().0,
        tally.orders,
        tally.arrived,
        tally.failed,
        counters.waiting + counters.in_flight,
    )
}

fn summary(world: &mut World, worst: Duration) -> String {
    let checksum = checksum(world);
    let tally = world.resource::<Tally>();
    let counters = world.resource::<PathCounters>();
    format!(
        concat!(
            r#"{{"ticks":{},"units":{},"orders":{},"arrived":{},"failed":{},"requests":{},"#,
            r#""expansions":{},"worst_tick_us":{},"edits":{},"repaired":{},{}"put_off":{},"#,
            r#""pursued":{},"checksum":"{:016x}"}}"#
        ),
        world.resource::<TickCount>().0,
        world.resource::<UnitCount>().0,
        tally.orders,
        tally.arrived,
        tally.failed,
        counters.requests,
        counters.expansions,
        worst.as_micros(),
        world.resource::<Walls>().edits,
        counters.repaired,
        by_task(tally),
        tally.put_off,
        counters.followed,
        checksum,
    )
}

/// Returns the number of orders by task as JSON fields, each followed by a comma.
fn by_task(tally: &Tally) -> String {
    let counts = Task::NAMES.into_iter().zip(tally.by_task);
    counts.map(|(name, count)| format!(r#""{name}":{count},"#)).collect()
}

/// Checksum of all answers and all unit positions: the same in every run of the same match.
fn checksum(world: &mut World) -> u64 {
    let mut sum = Checksum::default();
    sum.add(world.resource::<PathCounters>().answers_checksum);
    for (_, cell) in unit_cells(world) {
        sum.add_cell(cell);
    }
    sum.value()
}

/// Fails if there are no critters, or if one stands on an impassable cell.
fn check(world: &mut World) -> Result<(), String> {
    let units = unit_cells(world);
    if units.is_empty() && world.resource::<Options>().units > 0 {
        return Err("no critter can stand anywhere on this map".into());
    }
    let grids = world.resource::<NavGrids>();
    let grid = grids.get(GridId::default()).ok_or("the tilemap feeds no grid")?;
    for (unit, cell) in units {
        if grid.cost(unit.kind.profile(), cell) == 0 {
            let Unit { kind, number, .. } = unit;
            return Err(format!("critter {number} ({kind:?}) stands on impassable {cell}"));
        }
    }
    Ok(())
}

/// Returns all critters by number, with their cells (the lowest, leftmost ones).
fn unit_cells(world: &mut World) -> Vec<(Unit, Cell)> {
    let mut units = world.query::<(&Unit, &CritterState, &Transform)>();
    let frame = world.resource::<GameMap>().frame;
    let mut cells: Vec<_> = units
        .iter(world)
        .filter_map(|(unit, state, transform)| {
            Some((*unit, cell_of(unit.kind, state, transform, &frame)?))
        })
        .collect();
    cells.sort_unstable_by_key(|(unit, _)| unit.number);
    cells
}
