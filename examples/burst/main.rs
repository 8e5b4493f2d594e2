//! Many requests in the same tick: `burst --map M --scen S --agents N`.
//!
//! Input: a Moving AI map and scenario. Output: one JSON line with tick times and answer ticks. A
//! headless app with the plugin alone; one update is one tick. All options: `--help`.

#[path = "../runner/mod.rs"]
mod runner;

use std::{path::PathBuf, process::ExitCode, time::Instant};

use bevy::{
    app::TaskPoolThreadAssignmentPolicy,
    ecs::schedule::{Schedules, SingleThreadedExecutor},
    prelude::*,
    time::TimeUpdateStrategy,
};
use bevy_tilepath::{nav::moving_ai::ScenarioRow, prelude::*};
use runner::{
    JsonLine, MOST_THREADS, Outcome, load_map, load_scenario, number, number_in, percentile,
    required, word,
};

const HELP: &str = "burst --map FILE --scen FILE --agents N [--budget E]
  [--algorithm auto|exact|astar|jump-point|hierarchical|dijkstra] [--sprawl] [--goals N]
  [--threads N] [--seed N] [--rounds R] [--links N]

N entities request a path in one tick; runs until all are answered and prints one JSON line.
--budget E   expansions per tick (default: the plugin's)
--sprawl     goals are in other connected regions, so that every request is unreachable
--goals N    the requests go to N goals in turn, those of rows of the scenario spread evenly
--links N    goals are on a second grid, a copy of the map, which N links join to the first;
             one request is sent first and waits for the costs of the links
--rounds R   run the burst R times (default 1), all with the same answers; each tick's time is
             its median over the rounds";

/// Most requests, and most links.
const MOST_AGENTS: usize = 10_000_000;
const MOST_LINKS: usize = 10_000;
/// Tick limit, more than any sensible budget needs.
const MOST_TICKS: u32 = 10_000_000;

struct Options {
    map: PathBuf,
    scenario: PathBuf,
    agents: usize,
    budget: Option<u32>,
    algorithm: Algorithm,
    sprawl: bool,
    /// How many different goals there are; `None`: that of its row for each request.
    goals: Option<usize>,
    threads: Option<usize>,
    seed: u64,
    rounds: usize,
    links: usize,
}

/// The second grid of `--links`.
const UPPER: GridId = GridId(1);

/// The present tick, and the ticks in which answers came.
#[derive(Resource, Default)]
struct Answers {
    tick: u32,
    ticks: Vec<f64>,
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
    let (mut map, mut scenario, mut agents, mut budget, mut threads) =
        (None, None, None, None, None);
    let (mut algorithm, mut sprawl, mut seed) = (Algorithm::Auto, false, 1);
    let (mut rounds, mut goals, mut links) = (1, None, 0);
    while let Some(argument) = parser.next().map_err(|error| error.to_string())? {
        match argument {
            Long("map") => map = Some(PathBuf::from(word(&mut parser)?)),
            Long("scen") => scenario = Some(PathBuf::from(word(&mut parser)?)),
            Long("agents") => agents = Some(number_in("agents", 1..=MOST_AGENTS, &mut parser)?),
            Long("budget") => budget = Some(number("budget", &mut parser)?),
            Long("threads") => threads = Some(number_in("threads", 1..=MOST_THREADS, &mut parser)?),
            Long("seed") => seed = number("seed", &mut parser)?,
            Long("algorithm") => algorithm = runner::algorithm(&word(&mut parser)?)?,
            Long("rounds") => rounds = number_in("rounds", 1..=1_000, &mut parser)?,
            Long("links") => links = number_in("links", 0..=MOST_LINKS, &mut parser)?,
            Long("sprawl") => sprawl = true,
            Long("goals") => goals = Some(number_in("goals", 1..=MOST_AGENTS, &mut parser)?),
            Long("help") => return Ok(None),
            other => return Err(other.unexpected().to_string()),
        }
    }
    if budget == Some(0) {
        return Err("--budget 0: no request would ever be answered".into());
    }
    Ok(Some(Options {
        map: required("map", map)?,
        scenario: required("scen", scenario)?,
        agents: required("agents", agents)?,
        budget,
        algorithm,
        sprawl,
        goals,
        threads,
        seed,
        rounds,
        links,
    }))
}

fn run(options: &Options) -> Outcome<()> {
    let grid = load_map(&options.map, Profile::default())?;
    let rows = load_scenario(&options.scenario, &grid)?;
    if rows.is_empty() {
        return Err(format!("{}: no rows", options.scenario.display()));
    }
    let requests = requests(options, &grid, &rows);
    let mut rounds = Vec::new();
    for _ in 0..options.rounds {
        rounds.push(play(options, (grid.clone(), &rows), &requests)?);
    }
    let same = rounds.iter().all(|round| round.counters == rounds[0].counters);
    if !same {
        return Err("two rounds gave different answers".into());
    }
    summarize(options, &rounds);
    Ok(())
}

/// One round: time and spent budget of each tick, ticks of the answers, counters.
struct Round {
    ticks: Vec<(f64, u32)>,
    answers: Vec<f64>,
    counters: PathCounters,
    budget: u32,
    /// Ticks until the answer to the request sent first, and the memory of the fields around links.
    ahead: (usize, usize),
}

fn play(
    options: &Options,
    (grid, rows): (NavGrid, &[ScenarioRow]),
    requests: &[(Transform, PathRequest)],
) -> Outcome<Round> {
    let mut app = app(options, grid);
    app.update(); // start-up is not measured
    let mut ahead = (0, 0);
    if options.links > 0 {
        app.world_mut().spawn_batch(links(options, rows));
        app.world_mut().spawn(requests[0].clone());
        while app.world().resource::<Answers>().ticks.is_empty() {
            app.update();
            ahead.0 += 1;
        }
        ahead.1 = app.world().resource::<FlowFields>().bytes();
        app.world_mut().resource_mut::<Answers>().ticks.clear();
    }
    app.world_mut().spawn_batch(requests.to_vec());
    let mut ticks = Vec::new();
    while app.world().resource::<Answers>().ticks.len() < options.agents {
        app.world_mut().resource_mut::<Answers>().tick += 1;
        let before = Instant::now();
        app.update();
        let spent = app.world().resource::<PathCounters>().spent_last_tick;
        ticks.push((before.elapsed().as_secs_f64() * 1e6, spent));
        if ticks.len() as u32 == MOST_TICKS {
            return Err(format!("not all requests are answered after {MOST_TICKS} ticks"));
        }
    }
    let answers = std::mem::take(&mut app.world_mut().resource_mut::<Answers>().ticks);
    let counters = *app.world().resource();
    let budget = app.world().resource::<TilePathSettings>().budget;
    Ok(Round { ticks, answers, counters, budget, ahead })
}

/// Returns all requests. If the map has one connected region, the goals of `--sprawl` are impassable
/// cells.
fn requests(
    options: &Options,
    grid: &NavGrid,
    rows: &[ScenarioRow],
) -> Vec<(Transform, PathRequest)> {
    let frame = GridFrame::default();
    let mut unreachable = UnreachableGoals::new(grid, options.seed);
    (0..options.agents)
        .map(|i| {
            let row = &rows[i * rows.len() / options.agents % rows.len()];
            let goal = match (options.sprawl, options.goals) {
                (true, _) => unreachable.pick(row.start),
                (_, Some(count)) => rows[(2 * (i % count) + 1) * rows.len() / (2 * count)].goal,
                _ => row.goal,
            };
            let position = frame.cell_center(row.start).extend(0.0);
            let mut request = PathRequest::to(goal).algorithm(options.algorithm);
            request.goal_grid = (options.links > 0).then_some(UPPER);
            (Transform::from_translation(position), request)
        })
        .collect()
}

/// Links between starts on the first grid and goals on the second.
fn links(options: &Options, rows: &[ScenarioRow]) -> Vec<NavLink> {
    let row = |link: usize| &rows[link * rows.len() / options.links % rows.len()];
    let link = |index| {
        NavLink::new(row(index).start, (UPPER, row(options.links - 1 - index).goal)).cost(5)
    };
    (0..options.links).map(link).collect()
}

/// Picks goals that cannot be reached.
struct UnreachableGoals<'a> {
    grid: &'a NavGrid,
    /// By connected region; impassable cells if there is only one.
    cells: Vec<(Option<u32>, Cell)>,
    state: u64,
}

impl<'a> UnreachableGoals<'a> {
    fn new(grid: &'a NavGrid, seed: u64) -> Self {
        let region = |cell: Cell| grid.region(ProfileId::default(), cell);
        let cells = grid.rect().cells().map(|cell| (region(cell), cell));
        let (mut passable, walls): (Vec<_>, Vec<_>) = cells.partition(|cell| cell.0.is_some());
        let has_regions = passable.iter().any(|cell| cell.0 != passable[0].0);
        passable.sort_by_key(|cell| cell.0);
        Self { grid, cells: if has_regions { passable } else { walls }, state: seed }
    }

    /// Any cell of another region than that of `start`; a cell off the map if there is none.
    fn pick(&mut self, start: Cell) -> Cell {
        let home = self.grid.region(ProfileId::default(), start);
        let first = self.cells.partition_point(|cell| cell.0 < home);
        let own = self.cells.partition_point(|cell| cell.0 <= home) - first;
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let others = self.cells.len() - own;
        let Some(index) = ((self.state >> 33) as usize).checked_rem(others) else {
            return Cell::new(-1, -1);
        };
        self.cells[if index < first { index } else { index + own }].1
    }
}

fn app(options: &Options, grid: NavGrid) -> App {
    let mut pools = TaskPoolOptions::default();
    if let Some(threads) = options.threads {
        pools = TaskPoolOptions::with_num_threads(threads);
        // The thread that runs the systems searches, too.
        let others = threads.saturating_sub(1).max(1);
        let some = TaskPoolThreadAssignmentPolicy { min_threads: others, ..pools.compute.clone() };
        pools.compute = TaskPoolThreadAssignmentPolicy { max_threads: threads, ..some };
    }
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins.set(TaskPoolPlugin { task_pool_options: pools }),
        TilePathPlugin::default(),
    ))
    .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
    .init_resource::<Answers>()
    .add_observer(|found: On<PathFound>, mut answers: ResMut<Answers>| {
        // The first segment of a long path is followed by the rest.
        if found.kind != PathKind::FirstSegment {
            note(&mut answers);
        }
    })
    .add_observer(|_: On<PathFailed>, mut answers: ResMut<Answers>| note(&mut answers));
    let mut grids = app.world_mut().resource_mut::<NavGrids>();
    if options.links > 0 {
        grids.insert(UPPER, grid.clone(), GridFrame::default());
    }
    grids.insert(GridId::default(), grid, GridFrame::default());
    let mut settings = app.world_mut().resource_mut::<TilePathSettings>();
    settings.budget = options.budget.unwrap_or(settings.budget);
    settings.threads = options.threads.unwrap_or(settings.threads);
    // Seven systems run one after another: waking threads for them would take most of a tick.
    for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
        schedule.set_executor(SingleThreadedExecutor::new());
    }
    app.finish();
    app.cleanup();
    app
}

fn note(answers: &mut Answers) {
    let tick = f64::from(answers.tick);
    answers.ticks.push(tick);
}

fn summarize(options: &Options, rounds: &[Round]) {
    let Round { answers, counters, budget, .. } = &rounds[0];
    // Every round does the same work in the same tick; the median removes other load of the machine.
    let ticks: Vec<(f64, u32)> = (0..rounds[0].ticks.len())
        .map(|tick| {
            let mut times: Vec<f64> = rounds.iter().map(|round| round.ticks[tick].0).collect();
            times.sort_by(f64::total_cmp);
            (percentile(&times, 50), rounds[0].ticks[tick].1)
        })
        .collect();
    let mut full: Vec<f64> =
        ticks.iter().filter(|(_, spent)| spent >= budget).map(|&(micros, _)| micros).collect();
    if full.is_empty() {
        full = ticks.iter().map(|&(micros, _)| micros).collect();
    }
    full.sort_by(f64::total_cmp);
    let worst = ticks.iter().map(|&(micros, _)| micros).fold(0.0, f64::max);
    JsonLine::default()
        .number("agents", options.agents)
        .number("ticks", ticks.len())
        .number("found", counters.found)
        .number("partial", counters.partial)
        .number("failed", counters.failed)
        .micros("worst_tick_us", worst)
        .micros("median_tick_us", percentile(&full, 50))
        .micros("total_us", ticks.iter().map(|&(micros, _)| micros).sum())
        .number("expansions", counters.expansions)
        .number("budget", budget)
        .number("first_answer_tick", percentile(answers, 0))
        .number("p50_answer_tick", percentile(answers, 50))
        .number("p99_answer_tick", percentile(answers, 99))
        .text("checksum", format_args!("{:016x}", counters.answers_checksum))
        .number("by_check", counters.by_check)
        .number("by_astar", counters.by_astar)
        .number("by_jump_point", counters.by_jump_point)
        .number("by_hierarchy", counters.by_hierarchy)
        .number("by_field", counters.by_field)
        .number("ahead_ticks", rounds[0].ahead.0)
        .number("field_bytes", rounds[0].ahead.1)
        .print();
}
