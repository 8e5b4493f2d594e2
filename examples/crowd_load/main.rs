//! What a tick of a large crowd takes: `crowd_load [--units N] [--side N] [--ticks T]`.
//!
//! Input: how many units, on a square map with a tenth of it built over in blocks. Each follows one of
//! 64 shared fields at a speed of its own (7 to 20 ticks a cell) and gets a new one on arrival. Output:
//! one JSON line: median, 99th percentile and worst time of a tick, and what the crowd did meanwhile.

#[path = "../runner/mod.rs"]
mod runner;

use std::{process::ExitCode, time::Instant};

use bevy_tilepath::{
    nav::{
        crowd::{Crowd, CrowdEvent, RouteId, UnitSettings},
        field::DistanceField,
    },
    prelude::*,
};
use runner::{JsonLine, Outcome, number, percentile};

const HELP: &str = "crowd_load [--units N] [--side N] [--ticks T] [--warmup T] [--fields N]

A crowd on a map of blocks, one thread; prints what a tick takes as one JSON line.
--units N   default 10000
--side N    cells along a side of the map, default 512
--ticks T   ticks measured, default 2000
--warmup T  ticks before that, default 500
--fields N  shared goals, default 64";

struct Options {
    units: u32,
    side: u32,
    ticks: u32,
    warmup: u32,
    fields: u32,
}

fn main() -> ExitCode {
    runner::report(|| match options()? {
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
    let mut options = Options { units: 10_000, side: 512, ticks: 2_000, warmup: 500, fields: 64 };
    while let Some(argument) = parser.next().map_err(|error| error.to_string())? {
        match argument {
            Long("units") => options.units = number("units", &mut parser)?,
            Long("side") => options.side = number("side", &mut parser)?,
            Long("ticks") => options.ticks = number("ticks", &mut parser)?,
            Long("warmup") => options.warmup = number("warmup", &mut parser)?,
            Long("fields") => options.fields = number("fields", &mut parser)?,
            Long("help") => return Ok(None),
            other => return Err(other.unexpected().to_string()),
        }
    }
    Ok(Some(options))
}

/// Numbers that look random (splitmix64): the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) >> 32) as u32 % limit
    }

    fn cell(&mut self, side: u32) -> Cell {
        Cell::new(self.below(side) as i32, self.below(side) as i32)
    }
}

/// A map of which a tenth is built over, in blocks of 2 to 8 cells.
fn map(side: u32, dice: &mut Dice) -> Outcome<NavGrid> {
    let mut terrain = vec![TerrainId::GROUND.0; (side * side) as usize];
    let mut built = 0;
    while built < side * side / 10 {
        let (from, width, height) = (dice.cell(side), 2 + dice.below(7), 2 + dice.below(7));
        for cell in CellRect::new(from, width, height).cells() {
            if cell.x < side as i32 && cell.y < side as i32 {
                let at = &mut terrain[cell.y as usize * side as usize + cell.x as usize];
                built += u32::from(*at == TerrainId::GROUND.0);
                *at = TerrainId::VOID.0;
            }
        }
    }
    NavGrid::from_terrain(side, side, terrain).map_err(|error| error.to_string())
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
    let mut dice = Dice(7);
    let grid = map(options.side, &mut dice)?;
    let home = Cell::new(options.side as i32 / 2, options.side as i32 / 2);
    let main = (0..options.side as i32).map(|x| grid.island(ProfileId(0), home.offset(x, 0)));
    let main = main.flatten().next();
    let mut fields = Vec::new();
    while fields.len() < options.fields as usize {
        let goal = dice.cell(options.side);
        if grid.island(ProfileId(0), goal).is_some_and(|island| Some(island) == main) {
            fields.push(field(&grid, goal)?);
        }
    }
    let mut crowd = Crowd::new(&grid);
    while crowd.len() < options.units as usize {
        let cell = dice.cell(options.side);
        let settings = UnitSettings::default().ticks_per_cell(7 + dice.below(14));
        let is_main = grid.island(ProfileId(0), cell).is_some_and(|island| Some(island) == main);
        if let Some(id) = is_main.then(|| crowd.add(&grid, cell, settings).ok()).flatten() {
            let route = RouteId(dice.below(options.fields));
            crowd.go_along(id, route).map_err(|error| error.to_string())?;
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
                let route = RouteId(dice.below(options.fields));
                crowd.go_along(*unit, route).map_err(|error| error.to_string())?;
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
