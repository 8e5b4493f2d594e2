//! Tick times of a large crowd: `crowd_load [--units N] [--side N] [--ticks T] [--app]`.
//!
//! Input: the number of units, on a square map of which a tenth is blocked. Each unit follows one of
//! 64 shared fields at its own speed (7 to 20 ticks per cell) and gets another field on arrival.
//! Output: one JSON line: median, 99th percentile and worst tick time, and the crowd's counters. With
//! `--app` the same units are critters of an app, with individual paths to the same goals.

mod app;
mod map;
#[path = "../runner/mod.rs"]
mod runner;
mod snapshots;

use std::{process::ExitCode, time::Instant};

use bevy_tilepath::{
    nav::{
        crowd::{Crowd, CrowdEvent, RouteId, UnitSettings},
        field::DistanceField,
        grid::MAX_SIDE,
    },
    prelude::*,
};
use map::{Random, main_region, map};
use runner::{JsonLine, MOST_THREADS, Outcome, number, number_in, percentile};

const HELP: &str = "crowd_load [--units N] [--side N] [--ticks T] [--warmup T] [--fields N]
  [--seed N] [--app [--threads N] [--hidden N | --steered] [--snapshots]]

A crowd on a map of blocks, one thread; prints tick times as one JSON line.
--units N   default 10000
--side N    cells along a side of the map, default 512
--ticks T   ticks measured, default 2000
--warmup T  ticks before the measurement, default 500
--fields N  shared goals, default 64
--seed N    of the map, the goals and the units, default 7
--app       through the plugin: critters with individual paths
--threads N with --app: compute threads (default: all); 1: systems run one after another, too
--hidden N  with --app: percentage of critters that no camera sees, drawn only when a step begins or ends; default 0
--steered   with --app: units that the plugin steers, and this program moves
--snapshots with --app: takes a snapshot every 25 ticks and restores it; with the feature serialize, also writes and reads it";

/// Cells along a side of the map, at least: blocks are up to 8 wide.
const MIN_SIDE: u32 = 32;
/// Most shared goals.
const MOST_FIELDS: usize = 4_096;

struct Options {
    units: u32,
    side: u32,
    ticks: u32,
    warmup: u32,
    fields: u32,
    seed: u64,
    is_app: bool,
    threads: Option<usize>,
    hidden: u32,
    is_steered: bool,
    takes_snapshots: bool,
}

fn main() -> ExitCode {
    runner::report(|| match options()? {
        Some(options) if options.is_app => app::run(&options),
        Some(options) => run(&options),
        None => {
            println!("{HELP}");
            Ok(())
        }
    })
}

fn options() -> Outcome<Option<Options>> {
    use lexopt::prelude::Long;
    let mut parser = lexopt::Parser::from_env();
    let mut options = Options {
        units: 10_000,
        side: 512,
        ticks: 2_000,
        warmup: 500,
        fields: 64,
        seed: 7,
        is_app: false,
        threads: None,
        hidden: 0,
        is_steered: false,
        takes_snapshots: false,
    };
    while let Some(argument) = parser.next().map_err(|error| error.to_string())? {
        match argument {
            Long("units") => options.units = number("units", &mut parser)?,
            Long("side") => options.side = number("side", &mut parser)?,
            Long("ticks") => options.ticks = number("ticks", &mut parser)?,
            Long("warmup") => options.warmup = number("warmup", &mut parser)?,
            Long("fields") => {
                options.fields = number_in("fields", 1..=MOST_FIELDS, &mut parser)? as u32;
            }
            Long("seed") => options.seed = number("seed", &mut parser)?,
            Long("app") => options.is_app = true,
            Long("threads") => {
                options.threads = Some(number_in("threads", 1..=MOST_THREADS, &mut parser)?);
            }
            Long("hidden") => options.hidden = number("hidden", &mut parser)?,
            Long("steered") => options.is_steered = true,
            Long("snapshots") => options.takes_snapshots = true,
            Long("help") => return Ok(None),
            other => return Err(other.unexpected().to_string()),
        }
    }
    let Options { units, side, ticks, warmup, .. } = options;
    if !(MIN_SIDE..=MAX_SIDE).contains(&side) {
        return Err(format!("--side {side}: not from {MIN_SIDE} to {MAX_SIDE}"));
    }
    if units > side * side / 2 {
        return Err(format!("--units {units}: a map of {side} × {side} has no room for them"));
    }
    if warmup.checked_add(ticks).is_none() {
        return Err(format!("--warmup {warmup} and --ticks {ticks} are too many"));
    }
    Ok(Some(options))
}

fn field(grid: &NavGrid, goal: Cell) -> Outcome<DistanceField> {
    let mut field = DistanceField::new();
    field.start(grid, ProfileId(0), goal).map_err(|error| format!("{goal}: {error:?}"))?;
    while !field.is_finished() {
        field.step(grid, u32::MAX);
    }
    Ok(field)
}

fn run(options: &Options) -> Outcome<()> {
    let mut random = Random(options.seed);
    let grid = map(options.side, &mut random)?;
    let is_main = main_region(&grid)?;
    let mut fields = Vec::new();
    while fields.len() < options.fields as usize {
        let goal = random.cell(options.side);
        if is_main(goal) {
            fields.push(field(&grid, goal)?);
        }
    }
    let mut crowd = Crowd::new(&grid);
    while crowd.len() < options.units as usize {
        let cell = random.cell(options.side);
        let settings = UnitSettings::default().ticks_per_cell(7 + random.below(14));
        if let Some(id) = is_main(cell).then(|| crowd.add(&grid, cell, settings).ok()).flatten() {
            let route = RouteId(random.below(options.fields));
            crowd.follow_route(id, route).map_err(|error| error.to_string())?;
        }
    }
    let mut times = Vec::new();
    let mut arrivals = 0;
    let (mut before, mut events) = (crowd.counters(), Vec::new());
    for tick in 0..options.warmup + options.ticks {
        if tick == options.warmup {
            before = crowd.counters();
        }
        let start = Instant::now();
        crowd.tick(&grid, &fields);
        if tick >= options.warmup {
            times.push(start.elapsed().as_secs_f64() * 1e6);
        }
        events.clear();
        events.extend_from_slice(crowd.events());
        for event in &events {
            if let CrowdEvent::Arrived { unit, .. } = event {
                arrivals += 1;
                let route = RouteId(random.below(options.fields));
                crowd.follow_route(*unit, route).map_err(|error| error.to_string())?;
            }
        }
    }
    times.sort_by(f64::total_cmp);
    let now = crowd.counters();
    let each = |count: u64| format!("{:.1}", count as f64 / f64::from(options.ticks.max(1)));
    JsonLine::default()
        .number("units", options.units)
        .micros("p50_us", percentile(&times, 50))
        .micros("p99_us", percentile(&times, 99))
        .micros("worst_us", percentile(&times, 100))
        .number("steps_a_tick", each(now.steps - before.steps))
        .number("decisions_a_tick", each(now.decisions - before.decisions))
        .number("waits_a_tick", each(now.waits - before.waits))
        .number("pushes_a_tick", each(now.pushes - before.pushes))
        .number("chains", now.chains - before.chains)
        .number("arrivals", arrivals)
        .number("kib", crowd.bytes() / 1024)
        .print();
    Ok(())
}
