//! A crowd simulation without an app: `crowd --map M --scen S` or `crowd --case NAME`.
//!
//! Input: a Moving AI map and scenario, or the name of a built-in scene. Output: one JSON line with
//! the results. A checker that reads positions only counts collisions. Uses the pure layer alone,
//! without app or window. All options: `--help`.

#[path = "../runner/mod.rs"]
mod runner;

mod checker;
mod scenes;
mod simulation;
mod soak;

use std::{collections::BTreeSet, fmt::Write as _, path::PathBuf, process::ExitCode};

use bevy_tilepath::{nav::crowd::UnitSettings, prelude::*};
use runner::{JsonLine, Outcome, load_map, load_scenario, number, percentile, required, word};
use scenes::{Scene, Start};
use simulation::Simulation;

const HELP: &str =
    "crowd (--map FILE --scen FILE | --case NAME | --soak) [--agents N] [--ticks T] [--speed mixed]
  [--sizes mixed] [--trace OUT] [--follow] [--threads N] [--seed N]

Moves critters without overlaps until all have stood on their goals; prints one JSON line.
--soak        2000 critters (--agents), 100000 ticks (--ticks) of random orders and edits
--case list   the names of the built-in scenes
--agents N    the first N rows with different starts (default: all)
--ticks T     stop after T ticks (default: 20000, or the scene's own)
--speed mixed 7 to 20 ticks per cell instead of 10
--sizes mixed every fifth critter covers 2 x 2 cells, where they are free
--trace OUT   a line per tick: the cells held by each critter
--follow      each critter follows its own path, instead of the field of its goal
--threads N   accepted for the common contract, ignored: a crowd runs on one thread
--seed N      accepted for the common contract, ignored: nothing here is random";

struct Options {
    map: Option<PathBuf>,
    scenario: Option<PathBuf>,
    case: Option<String>,
    is_soak: bool,
    agents: usize,
    ticks: Option<u64>,
    has_mixed_speeds: bool,
    has_mixed_sizes: bool,
    trace: Option<PathBuf>,
    has_own_paths: bool,
}

fn main() -> ExitCode {
    runner::report(|| match options()? {
        Some(options) if options.case.as_deref() == Some("list") => {
            scenes::names().for_each(|name| println!("{name}"));
            Ok(())
        }
        Some(options) if options.is_soak => {
            let units = if options.agents == usize::MAX { 2_000 } else { options.agents };
            soak::run(units, options.ticks.unwrap_or(100_000))
        }
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
        map: None,
        scenario: None,
        case: None,
        is_soak: false,
        agents: usize::MAX,
        ticks: None,
        has_mixed_speeds: false,
        has_mixed_sizes: false,
        trace: None,
        has_own_paths: false,
    };
    while let Some(argument) = parser.next().map_err(|error| error.to_string())? {
        match argument {
            Long("map") => options.map = Some(PathBuf::from(word(&mut parser)?)),
            Long("scen") => options.scenario = Some(PathBuf::from(word(&mut parser)?)),
            Long("soak") => options.is_soak = true,
            Long("case") => options.case = Some(word(&mut parser)?),
            Long("agents") => options.agents = number("agents", &mut parser)?,
            Long("ticks") => options.ticks = Some(number("ticks", &mut parser)?),
            Long("speed") => options.has_mixed_speeds = mixed("speed", &mut parser)?,
            Long("sizes") => options.has_mixed_sizes = mixed("sizes", &mut parser)?,
            Long("trace") => options.trace = Some(PathBuf::from(word(&mut parser)?)),
            Long("follow") => options.has_own_paths = true,
            Long("threads") => drop(number::<usize>("threads", &mut parser)?),
            Long("seed") => drop(number::<u64>("seed", &mut parser)?),
            Long("help") => return Ok(None),
            other => return Err(other.unexpected().to_string()),
        }
    }
    Ok(Some(options))
}

fn mixed(name: &str, parser: &mut lexopt::Parser) -> Outcome<bool> {
    match word(parser)?.as_str() {
        "mixed" => Ok(true),
        "even" => Ok(false),
        other => Err(format!("--{name} {other}: not mixed or even")),
    }
}

fn run(options: &Options) -> Outcome<()> {
    let mut scene = match &options.case {
        Some(name) => scenes::scene(name)
            .ok_or_else(|| format!("--case {name}: no such scene; see --case list"))?,
        None => read_scene(options)?,
    };
    scene.starts.truncate(options.agents);
    if options.has_mixed_speeds {
        scenes::mix_speeds(&mut scene.starts);
    }
    if options.has_mixed_sizes {
        mix_sizes(&mut scene);
    }
    scene.ticks = options.ticks.unwrap_or(scene.ticks);
    let mut simulation = Simulation::new(scene, options.has_own_paths)?;
    let mut trace = String::new();
    while !simulation.is_over() {
        simulation.tick()?;
        if options.trace.is_some() {
            write_tick(&mut trace, &simulation);
        }
    }
    if let Some(file) = &options.trace {
        std::fs::write(file, trace).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    summarize(&simulation)
}

/// Reads a map, and the rows of a scenario with distinct starts.
fn read_scene(options: &Options) -> Outcome<Scene> {
    let grid = load_map(&required("map", options.map.clone())?, Profile::default())?;
    let rows = load_scenario(&required("scen", options.scenario.clone())?, &grid)?;
    let mut taken = BTreeSet::new();
    let distinct = rows.iter().filter(|row| taken.insert(row.start));
    let settings = UnitSettings::default();
    let starts = distinct.map(|row| Start { cell: row.start, goal: row.goal, settings });
    let starts = starts.take(options.agents).collect();
    Ok(Scene { grid, starts, is_group: false, building: None, ticks: 20_000 })
}

/// Makes every fifth critter 2 × 2 cells large, where it can stand, reach its goal and overlaps no
/// other critter.
fn mix_sizes(scene: &mut Scene) {
    let profiles = vec![Profile::default(), Profile::default().size(2)];
    scene.grid.set_profiles(profiles);
    let large = ProfileId(1);
    let mut taken: BTreeSet<Cell> = scene.starts.iter().map(|start| start.cell).collect();
    for start in scene.starts.iter_mut().step_by(5) {
        let block = CellRect::new(start.cell, 2, 2);
        let is_free = block.cells().skip(1).all(|cell| !taken.contains(&cell));
        let region = scene.grid.region(large, start.cell);
        if is_free && region.is_some() && region == scene.grid.region(large, start.goal) {
            start.settings.profile = large;
            taken.extend(block.cells());
        }
    }
}

/// Writes the cells held in a tick, for each critter the cell that it leaves first. Rows are
/// counted from the top, as in map files.
fn write_tick(trace: &mut String, simulation: &Simulation) {
    let top = simulation.scene.grid.height() as i32 - 1;
    let _ = write!(trace, "{}", simulation.crowd.now());
    let positions = simulation.positions();
    for (id, ((tail, head), start)) in positions.iter().zip(&simulation.scene.starts).enumerate() {
        let size = simulation.scene.grid.unit_size(start.settings.profile);
        let tail = CellRect::new(*tail, size, size);
        let entered = CellRect::new(*head, size, size).cells().filter(|cell| !tail.contains(*cell));
        for cell in tail.cells().chain(entered) {
            let _ = write!(trace, " {id}:{},{}", cell.x, top - cell.y);
        }
    }
    trace.push('\n');
}

fn summarize(simulation: &Simulation) -> Outcome<()> {
    let mut times = simulation.times.clone();
    times.sort_by(f64::total_cmp);
    let (ticks, critters) = (simulation.crowd.now(), simulation.ids.len());
    let detours = simulation.detours();
    let mean = detours.iter().sum::<f64>() / detours.len().max(1) as f64;
    let faults = simulation.checker.faults;
    let each = times.iter().sum::<f64>() / (ticks.max(1) * critters.max(1) as u64) as f64;
    JsonLine::default()
        .number("critters", critters)
        .number("ticks", ticks)
        .number("arrived", simulation.arrived())
        .number("overlaps", faults.overlaps + faults.jumps)
        .number("swaps", faults.swaps)
        .number("corner_cuts", faults.corner_cuts)
        .number("mean_detour", format_args!("{mean:.3}"))
        .number("p95_detour", format_args!("{:.3}", percentile(&detours, 95)))
        .micros("worst_tick_us", percentile(&times, 100))
        .micros("p99_tick_us", percentile(&times, 99))
        .number("us_per_critter_tick", format_args!("{each:.4}"))
        .number("stuck", simulation.stuck())
        .number("checksum", simulation.checksum.value())
        .print();
    if faults.is_clean() {
        return Ok(());
    }
    let first = simulation.checker.first.as_deref().unwrap_or_default();
    Err(format!("{faults:?}; the first: {first}"))
}
