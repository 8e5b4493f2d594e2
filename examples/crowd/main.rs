//! A crowd simulation without a window: `crowd --map M --scen S` or `crowd --case NAME`.
//!
//! Input: a Moving AI map and scenario, or the name of a built-in scene. Output: one JSON line with
//! the results. A checker that reads positions only counts collisions. Uses the pure layer alone, or the whole
//! plugin without a window (`--app`). All options: `--help`.

#[path = "../runner/hexagons.rs"]
mod hexagons;
#[path = "../runner/mod.rs"]
mod runner;

mod app;
mod checker;
mod record;
mod scenes;
mod simulation;
mod soak;
mod variants;

use std::{collections::BTreeSet, fmt::Write as _, path::PathBuf, process::ExitCode};

use app::AppSimulation;
use bevy_tilepath::{
    nav::{crowd::UnitSettings, moving_ai::ScenarioRow},
    prelude::*,
};
use record::Record;
use runner::{
    JsonLine, MOST_THREADS, OutFile, Outcome, load_map, load_scenario, number, number_in,
    percentile, required, word,
};
use scenes::{Scene, Start};
use simulation::Simulation;

const HELP: &str =
    "crowd (--map FILE --scen FILE | --case NAME [--variant NAME] | --soak) [--agents N] [--ticks T] [--speed mixed]
  [--sizes mixed] [--trace OUT] [--follow | --app [--groups]] [--rest N] [--threads N] [--seed N]

Moves critters without overlaps until all have stood on their goals; prints one JSON line.
--soak        2000 critters (--agents), 100000 ticks (--ticks) of random orders and edits
--case list   the names of the built-in scenes
--variant V   a variant of the scene; --variant list: their names
--agents N    the first N rows with different starts (default: all)
--ticks T     stop after T ticks (default: 20000, or the scene's own)
--speed mixed 7 to 20 ticks per cell instead of 10
--sizes mixed every fifth critter covers 2 x 2 cells (7 hexagons), where they are free
--trace OUT   a line per tick: the cells held by each critter
--follow      each critter follows its own path, instead of the field of its goal
--app         through the whole plugin, without a window: an order for each critter; critters with a
              common goal get a cell each around it
--groups      with --app: critters with a common goal are sent as a group
--rest N      continues for N ticks after all have arrived: do units that were pushed off their goals return?
--threads N   threads that search, with --app (default all); a crowd runs on one thread
--seed N      accepted as by the other runners, but ignored: nothing here is random";

struct Options {
    map: Option<PathBuf>,
    scenario: Option<PathBuf>,
    case: Option<String>,
    variant: Option<String>,
    is_soak: bool,
    agents: usize,
    ticks: Option<u64>,
    has_mixed_speeds: bool,
    has_mixed_sizes: bool,
    trace: Option<PathBuf>,
    has_own_paths: bool,
    uses_app: bool,
    as_groups: bool,
    rest: u64,
    threads: usize,
}

fn main() -> ExitCode {
    runner::report(|| match options()? {
        Some(options) if options.case.as_deref() == Some("list") => {
            scenes::names().for_each(|name| println!("{name}"));
            Ok(())
        }
        Some(options) if options.variant.as_deref() == Some("list") => {
            variants::names().for_each(|name| println!("{name}"));
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
        variant: None,
        is_soak: false,
        agents: usize::MAX,
        ticks: None,
        has_mixed_speeds: false,
        has_mixed_sizes: false,
        trace: None,
        has_own_paths: false,
        uses_app: false,
        as_groups: false,
        rest: 0,
        threads: 0,
    };
    while let Some(argument) = parser.next().map_err(|error| error.to_string())? {
        match argument {
            Long("map") => options.map = Some(PathBuf::from(word(&mut parser)?)),
            Long("scen") => options.scenario = Some(PathBuf::from(word(&mut parser)?)),
            Long("variant") => options.variant = Some(word(&mut parser)?),
            Long("soak") => options.is_soak = true,
            Long("case") => options.case = Some(word(&mut parser)?),
            Long("agents") => options.agents = number("agents", &mut parser)?,
            Long("ticks") => options.ticks = Some(number("ticks", &mut parser)?),
            Long("speed") => options.has_mixed_speeds = mixed("speed", &mut parser)?,
            Long("sizes") => options.has_mixed_sizes = mixed("sizes", &mut parser)?,
            Long("trace") => options.trace = Some(PathBuf::from(word(&mut parser)?)),
            Long("follow") => options.has_own_paths = true,
            Long("app") => options.uses_app = true,
            Long("groups") => options.as_groups = true,
            Long("rest") => options.rest = number("rest", &mut parser)?,
            Long("threads") => {
                options.threads = number_in("threads", 0..=MOST_THREADS, &mut parser)?;
            }
            Long("seed") => drop(number::<u64>("seed", &mut parser)?),
            Long("help") => return Ok(None),
            other => return Err(other.unexpected().to_string()),
        }
    }
    if options.variant.as_deref().is_some_and(|name| name != "list") && options.case.is_none() {
        return Err("--variant: only with --case".into());
    }
    if options.as_groups && !options.uses_app {
        return Err("--groups: only with --app".into());
    }
    if options.has_own_paths && options.uses_app {
        return Err("--follow: not with --app, where every order has a path of its own".into());
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
    if let Some(name) = &options.variant {
        scene = variants::vary(scene, name)
            .ok_or_else(|| format!("--variant {name}: no such variant; see --variant list"))?;
    }
    scene.starts.truncate(options.agents);
    if options.has_mixed_speeds {
        scenes::mix_speeds(&mut scene.starts);
    }
    if options.has_mixed_sizes {
        mix_sizes(&mut scene);
    }
    scene.ticks = options.ticks.unwrap_or(scene.ticks);
    let mut trace = options.trace.as_deref().map(OutFile::create).transpose()?;
    let mut run = Run::new(options, scene)?;
    let mut line = String::new();
    let mut rest = options.rest;
    while !run.record().is_over(run.scene()) || rest > 0 {
        rest -= u64::from(run.record().is_over(run.scene()));
        run.tick()?;
        if let Some(file) = &mut trace {
            line.clear();
            write_tick(&mut line, run.scene(), run.record());
            file.write(&line)?;
        }
    }
    let outcome = summarize(options, &run);
    trace.map_or(Ok(()), OutFile::finish)?;
    outcome
}

/// A scene, simulated by the pure layer or through the plugin.
enum Run {
    Pure(Box<Simulation>),
    App(Box<AppSimulation>),
}

impl Run {
    fn new(options: &Options, scene: Scene) -> Outcome<Self> {
        if options.uses_app {
            let mut app = app::headless_app();
            app.world_mut().resource_mut::<TilePathSettings>().threads = options.threads;
            let run = AppSimulation::new(app, scene, options.as_groups)?;
            return Ok(Self::App(Box::new(run)));
        }
        Ok(Self::Pure(Box::new(Simulation::new(scene, options.has_own_paths)?)))
    }

    fn tick(&mut self) -> Outcome<()> {
        match self {
            Self::Pure(run) => run.tick(),
            Self::App(run) => run.tick(),
        }
    }

    fn scene(&self) -> &Scene {
        match self {
            Self::Pure(run) => &run.scene,
            Self::App(run) => &run.scene,
        }
    }

    fn record(&self) -> &Record {
        match self {
            Self::Pure(run) => &run.record,
            Self::App(run) => &run.record,
        }
    }

    fn is_group(&self) -> bool {
        match self {
            Self::Pure(run) => run.scene.is_group,
            Self::App(run) => run.is_group,
        }
    }

    fn stuck(&self) -> usize {
        match self {
            Self::Pure(run) => run.stuck(),
            Self::App(run) => run.stuck(),
        }
    }
}

/// Reads a map, and the rows of a scenario with distinct starts.
fn read_scene(options: &Options) -> Outcome<Scene> {
    let grid = load_map(&required("map", options.map.clone())?, Profile::default())?;
    let rows = load_scenario(&required("scen", options.scenario.clone())?, &grid)?;
    let file = required("scen", options.scenario.clone())?;
    let mut taken = BTreeSet::new();
    let distinct = rows.iter().filter(|row| taken.insert(row.start)).take(options.agents);
    let settings = UnitSettings::default();
    let start = |row: &ScenarioRow| {
        let is_wall = |cell: &Cell| grid.cost(ProfileId::default(), *cell) == 0;
        if let Some(cell) = [row.start, row.goal].into_iter().find(is_wall) {
            let (file, at) = (file.display(), (cell.x, grid.height() as i32 - 1 - cell.y));
            return Err(format!("{file}: line {}: {},{} is a wall", row.line, at.0, at.1));
        }
        Ok(Start { cell: row.start, goal: row.goal, settings })
    };
    let starts = distinct.map(start).collect::<Outcome<_>>()?;
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
        let block: Vec<Cell> = scene.grid.cells_of(large, start.cell).collect();
        let is_free = block.iter().all(|cell| *cell == start.cell || !taken.contains(cell));
        let region = scene.grid.region(large, start.cell);
        if is_free && region.is_some() && region == scene.grid.region(large, start.goal) {
            start.settings.profile = large;
            taken.extend(block);
        }
    }
}

/// Writes the cells held in a tick, for each critter the cell that it leaves first. Rows are
/// counted from the top, as in map files.
fn write_tick(trace: &mut String, scene: &Scene, record: &Record) {
    let top = scene.grid.height() as i32 - 1;
    let _ = write!(trace, "{}", record.ticks);
    let units = record.positions.iter().zip(&scene.starts);
    for (id, ((tail, head), start)) in units.enumerate() {
        let cells = |anchor| scene.grid.cells_of(start.settings.profile, anchor);
        let left: Vec<Cell> = cells(*tail).collect();
        let entered = cells(*head).filter(|cell| !left.contains(cell));
        for cell in left.iter().copied().chain(entered) {
            let _ = write!(trace, " {id}:{},{}", cell.x, top - cell.y);
        }
    }
    trace.push('\n');
}

fn summarize(options: &Options, run: &Run) -> Outcome<()> {
    let record = run.record();
    let mut times = record.times.clone();
    times.sort_by(f64::total_cmp);
    let critters = run.scene().starts.len();
    let detours = record.detours(run.scene(), run.is_group());
    let mean = detours.iter().sum::<f64>() / detours.len().max(1) as f64;
    let faults = record.checker.faults;
    let reversals = record.reversals();
    let each = times.iter().sum::<f64>() / (record.ticks.max(1) * critters.max(1) as u64) as f64;
    JsonLine::default()
        .number("critters", critters)
        .number("ticks", record.ticks)
        .number("arrived", record.arrived())
        .number("overlaps", faults.overlaps + faults.jumps)
        .number("swaps", faults.swaps)
        .number("corner_cuts", faults.corner_cuts)
        .number("mean_detour", format_args!("{mean:.3}"))
        .number("p95_detour", format_args!("{:.3}", percentile(&detours, 95)))
        .number("mean_reversals", format_args!("{:.2}", reversals.0))
        .number("worst_reversals", format_args!("{:.1}", reversals.1))
        .micros("worst_tick_us", percentile(&times, 100))
        .micros("p99_tick_us", percentile(&times, 99))
        .number("us_per_critter_tick", format_args!("{each:.4}"))
        .number("stuck", run.stuck())
        .number("off_goal", record.off_goal(run.scene(), run.is_group()))
        .number("last_step", record.last_step)
        .number("checksum", record.checksum.value())
        .print();
    if faults.is_clean() {
        return Ok(());
    }
    let first = record.checker.first.as_deref().unwrap_or_default();
    let map = options.map.as_deref().map(|map| map.display().to_string());
    let name = map.or_else(|| options.case.clone()).unwrap_or_default();
    Err(format!("{name}: {faults:?}; the first, in cells from the bottom left: {first}"))
}
