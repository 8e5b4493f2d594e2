//! A burst of requests in an app, with this crate and with `bevy_northstar`: N units request a path in
//! one frame, on one map, and the app runs until all are answered.
//!
//! Input: `--map FILE --scen FILE [--agents N] [--rounds R]`. Output: a line for each plugin with the
//! number of frames, their total time and the worst, in milliseconds: the median over the rounds,
//! which alternate. Both use their default settings, in headless apps with single-threaded schedules
//! (northstar always searches on one thread; this crate is limited to one). Start and goal are the
//! same rows of the scenario for both.

use std::{path::PathBuf, process::ExitCode, time::Instant};

use bevy::{
    app::TaskPoolPlugin, diagnostic::FrameCountPlugin, ecs::schedule::SingleThreadedExecutor,
    math::UVec3, prelude::*, time::TimePlugin,
};
use bevy_northstar::{
    filter::NoCornerCutting,
    grid::GridSettingsBuilder,
    prelude::{
        AgentOfGrid, AgentPos, Nav, NorthstarPlugin, OrdinalGrid, OrdinalNeighborhood, Pathfind,
        PathfindMode, PathfindingFailed,
    },
};
use bevy_tilepath::{
    nav::moving_ai::{ScenarioRow, read_map, read_scenario},
    prelude::*,
};
use lexopt::prelude::*;

/// Frame limit.
const MOST_FRAMES: usize = 100_000;

struct Options {
    map: PathBuf,
    scenario: PathBuf,
    agents: usize,
    rounds: usize,
}

/// Frame times of one round, in milliseconds.
struct Frames(Vec<f64>);

fn main() -> ExitCode {
    match options().and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn options() -> Result<Options, String> {
    let (mut map, mut scenario, mut agents, mut rounds) = (None, None, 1_000, 5);
    let mut parser = lexopt::Parser::from_env();
    let text = |error: lexopt::Error| error.to_string();
    while let Some(argument) = parser.next().map_err(text)? {
        match argument {
            Long("map") => map = Some(parser.value().map_err(text)?.into()),
            Long("scen") => scenario = Some(parser.value().map_err(text)?.into()),
            Long("agents") => agents = parser.value().and_then(|v| v.parse()).map_err(text)?,
            Long("rounds") => rounds = parser.value().and_then(|v| v.parse()).map_err(text)?,
            other => return Err(text(other.unexpected())),
        }
    }
    let map = map.ok_or("--map is missing")?;
    let scenario = scenario.ok_or("--scen is missing")?;
    Ok(Options { map, scenario, agents, rounds: usize::max(rounds, 1) })
}

fn run(options: &Options) -> Result<(), String> {
    let read = |path: &PathBuf| {
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let grid = read_map(&read(&options.map)?).map_err(|error| error.to_string())?;
    let rows = read_scenario(&read(&options.scenario)?).map_err(|error| error.to_string())?;
    let rows: Vec<ScenarioRow> = (0..options.agents)
        .map(|unit| rows[unit * rows.len() / options.agents % rows.len()])
        .filter(|row| row.start != row.goal)
        .collect();
    let names = ["tilepath", "northstar Refined", "northstar Coarse"];
    let mut figures: [Vec<Frames>; 3] = Default::default();
    for _ in 0..options.rounds {
        figures[0].push(play(&mut tilepath(&grid, &rows), rows.len())?);
        figures[1].push(play(&mut northstar(&grid, &rows, PathfindMode::Refined), rows.len())?);
        figures[2].push(play(&mut northstar(&grid, &rows, PathfindMode::Coarse), rows.len())?);
    }
    println!("{:<18} {:>7} {:>10} {:>10}", "plugin", "frames", "all ms", "worst ms");
    for (name, rounds) in names.into_iter().zip(figures) {
        let median = |figure: fn(&Frames) -> f64| {
            let mut list: Vec<f64> = rounds.iter().map(figure).collect();
            list.sort_by(f64::total_cmp);
            list[list.len() / 2]
        };
        let worst = median(|round| round.0.iter().copied().fold(0.0, f64::max));
        let (frames, all) = (rounds[0].0.len(), median(|round| round.0.iter().sum()));
        println!("{name:<18} {frames:>7} {all:>10.2} {worst:>10.2}");
    }
    Ok(())
}

/// Runs frames until all requests are answered.
fn play(app: &mut App, units: usize) -> Result<Frames, String> {
    let mut frames = Vec::new();
    let (mut paths, mut failures) =
        (app.world_mut().query::<&NorthstarPath>(), app.world_mut().query::<&PathfindingFailed>());
    while frames.len() < MOST_FRAMES {
        let begin = Instant::now();
        app.update();
        frames.push(begin.elapsed().as_secs_f64() * 1e3);
        let world = app.world();
        let answered = match world.get_resource::<PathCounters>() {
            Some(counters) => (counters.found + counters.failed) as usize,
            None => paths.iter(world).count() + failures.iter(world).count(),
        };
        if answered >= units {
            return Ok(Frames(frames));
        }
    }
    Err(format!("not all requests are answered after {MOST_FRAMES} frames"))
}

type NorthstarPath = bevy_northstar::path::Path;

fn headless() -> App {
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin::default(), FrameCountPlugin, TimePlugin));
    app.insert_resource(bevy::time::TimeUpdateStrategy::FixedTimesteps(1));
    app
}

fn ready(mut app: App) -> App {
    for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
        schedule.set_executor(SingleThreadedExecutor::new());
    }
    app.finish();
    app.cleanup();
    app.update(); // start-up is not measured
    app
}

fn tilepath(grid: &NavGrid, rows: &[ScenarioRow]) -> App {
    let mut app = headless();
    app.add_plugins(TilePathPlugin::default());
    app.world_mut().resource_mut::<TilePathSettings>().threads = 1;
    let frame = GridFrame::default();
    let mut grids = app.world_mut().resource_mut::<NavGrids>();
    grids.insert(GridId::default(), grid.clone(), frame.clone());
    let mut app = ready(app);
    let units = rows.iter().map(|row| {
        let place = frame.cell_center(row.start).extend(0.0);
        (Transform::from_translation(place), PathRequest::to(row.goal))
    });
    app.world_mut().spawn_batch(units.collect::<Vec<_>>());
    app
}

fn northstar(grid: &NavGrid, rows: &[ScenarioRow], mode: PathfindMode) -> App {
    let mut app = headless();
    app.add_plugins(NorthstarPlugin::<OrdinalNeighborhood>::default());
    let settings = GridSettingsBuilder::new_2d(grid.width(), grid.height())
        .chunk_size(16)
        .default_impassable()
        .add_neighbor_filter(NoCornerCutting)
        .build();
    let mut other = OrdinalGrid::new(&settings);
    for cell in grid.rect().cells().filter(|&cell| grid.cost(ProfileId::default(), cell) > 0) {
        other.set_nav(position(cell), Nav::Passable(1));
    }
    other.build();
    let level = app.world_mut().spawn(other).id();
    let mut app = ready(app);
    let units = rows.iter().map(|row| {
        let order = Pathfind::new(position(row.goal)).mode(mode);
        (AgentPos(position(row.start)), order, AgentOfGrid(level))
    });
    let units: Vec<_> = units.collect();
    app.world_mut().spawn_batch(units);
    app
}

fn position(cell: Cell) -> UVec3 {
    UVec3::new(cell.x as u32, cell.y as u32, 0)
}
