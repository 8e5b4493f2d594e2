//! Single queries, one after another: `scenario --map M --scen S`.
//!
//! Input: a Moving AI map and scenario. Output: one JSON line with results. Every path is checked
//! step by step against the map's letters and, with the plain profile, against the scenario's
//! optimal length. All options: `--help`.

#[path = "../runner/hexagons.rs"]
mod hexagons;
#[path = "../runner/mod.rs"]
mod runner;

mod check;

use std::{path::PathBuf, process::ExitCode, time::Instant};

use bevy_tilepath::{
    nav::{landmarks::LandmarkFiller, moving_ai::ScenarioRow, node_pool::NodePool, search::Search},
    prelude::*,
};
use runner::{
    JsonLine, OutFile, Outcome, load_map, load_scenario, number, number_in, percentile, required,
    word,
};

const HELP: &str = "scenario --map FILE --scen FILE
  [--algorithm auto|exact|astar|jump-point|hierarchical|dijkstra] [--sample N]
  [--rounds R] [--budget E] [--paths OUT] [--times OUT] [--no-cache] [--profile plain|weighted]
  [--topology square|hex] [--threads N] [--seed N]

Runs the queries of a Moving AI scenario one after another and prints one JSON line.
--sample N    N rows at even intervals of length, at most 1000000
--rounds R    each time is the median of R rounds, at most 10000
--budget E    advance every search in slices of E expansions (same answers)
--no-cache    no landmarks: otherwise they are filled before anything is timed
--topology    hex: every other row of the map is shifted by half a cell; lengths are not checked
--threads N   accepted as by the other runners, but ignored: single queries run on one thread
--seed N      accepted as by the other runners, but ignored: nothing here is random";

/// Most rows of a sample, and most rounds.
const MOST_ROWS: usize = 1_000_000;
const MOST_ROUNDS: usize = 10_000;

struct Options {
    map: PathBuf,
    scenario: PathBuf,
    algorithm: (String, Algorithm),
    profile: String,
    sample: Option<usize>,
    rounds: usize,
    budget: u32,
    paths: Option<PathBuf>,
    times: Option<PathBuf>,
    has_landmarks: bool,
    topology: Topology,
}

/// The result of one query.
struct Answer {
    path: Option<Path>,
    micros: f64,
    expansions: u64,
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
    let (mut map, mut scenario, mut paths, mut times) = (None, None, None, None);
    let (mut algorithm, mut profile) = ("auto".to_owned(), "plain".to_owned());
    let (mut sample, mut rounds, mut budget) = (None, 1, u32::MAX);
    let (mut has_landmarks, mut topology) = (true, Topology::Square);
    while let Some(argument) = parser.next().map_err(|error| error.to_string())? {
        match argument {
            Long("map") => map = Some(PathBuf::from(word(&mut parser)?)),
            Long("scen") => scenario = Some(PathBuf::from(word(&mut parser)?)),
            Long("paths") => paths = Some(PathBuf::from(word(&mut parser)?)),
            Long("times") => times = Some(PathBuf::from(word(&mut parser)?)),
            Long("algorithm") => algorithm = word(&mut parser)?,
            Long("profile") => profile = word(&mut parser)?,
            Long("sample") => {
                sample = Some(number_in("sample", 0..=MOST_ROWS, &mut parser)?);
            }
            Long("rounds") => rounds = number_in("rounds", 1..=MOST_ROUNDS, &mut parser)?,
            Long("budget") => budget = number("budget", &mut parser)?,
            Long("threads") => drop(number::<usize>("threads", &mut parser)?),
            Long("seed") => drop(number::<u64>("seed", &mut parser)?),
            Long("no-cache") => has_landmarks = false,
            Long("topology") => topology = runner::topology(&word(&mut parser)?)?,
            Long("help") => return Ok(None),
            other => return Err(other.unexpected().to_string()),
        }
    }
    if budget == 0 {
        return Err("--budget 0: a search would never end".into());
    }
    let kind = runner::algorithm(&algorithm)?;
    Ok(Some(Options {
        map: required("map", map)?,
        scenario: required("scen", scenario)?,
        algorithm: (algorithm, kind),
        profile,
        sample,
        rounds,
        budget,
        paths,
        times,
        has_landmarks,
        topology,
    }))
}

fn run(options: &Options) -> Outcome<()> {
    let mut grid = load_map(&options.map, runner::profile(&options.profile)?)?;
    let mut rows = load_scenario(&options.scenario, &grid)?;
    if let Some(n) = options.sample {
        rows = runner::sample(rows, n);
    }
    let create = |path: &Option<PathBuf>| path.as_deref().map(OutFile::create).transpose();
    let (paths, times_file) = (create(&options.paths)?, create(&options.times)?);
    if options.topology == Topology::Hexagonal {
        grid = hexagons::shifted_rows(&grid)
            .map_err(|error| format!("{}: {error}", options.map.display()))?;
        for row in &mut rows {
            (row.start, row.goal) = (hexagons::shifted(row.start), hexagons::shifted(row.goal));
        }
    }
    let before = Instant::now();
    let _built_on_first_use = grid.layer(ProfileId::default());
    if options.has_landmarks {
        grid.want_landmarks(ProfileId::default());
        let mut filler = LandmarkFiller::new();
        while filler.fill((GridId::default(), &mut grid), usize::MAX, u32::MAX) > 0 {}
    }
    let prepare_us = before.elapsed().as_secs_f64() * 1e6;

    let mut course =
        Course { grid: &grid, pool: NodePool::default(), search: Search::new(), bytes: 0 };
    let mut answers: Vec<Answer> = Vec::new();
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); rows.len()];
    for _ in 0..options.rounds {
        answers = rows.iter().map(|row| course.answer(row, options)).collect();
        for (times, answer) in times.iter_mut().zip(&answers) {
            times.push(answer.micros);
        }
    }
    for (answer, times) in answers.iter_mut().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        answer.micros = percentile(times, 50);
    }
    let outcome = summarize(options, &grid, &rows, &answers, prepare_us, course.bytes);
    if let Some(file) = paths {
        write_paths(file, options.topology, &grid, &answers)?;
    }
    if let Some(file) = times_file {
        write_times(file, &grid, &answers)?;
    }
    outcome
}

/// A grid and the buffers that its queries share.
struct Course<'a> {
    grid: &'a NavGrid,
    pool: NodePool,
    search: Search,
    bytes: usize,
}

impl Course<'_> {
    fn answer(&mut self, row: &ScenarioRow, options: &Options) -> Answer {
        let query = PathQuery::new(row.start, row.goal).algorithm(options.algorithm.1);
        let begin = Instant::now();
        let started = self.search.start(self.grid, &self.pool, query);
        while !self.search.is_finished() {
            self.search.step(self.grid, &self.pool, options.budget);
        }
        let mut micros = begin.elapsed();
        self.bytes = self.bytes.max(self.search.bytes());
        let expansions = self.search.counters().expansions;
        let end = Instant::now();
        let path = started.and_then(|()| self.search.finish(self.grid, &self.pool)).ok();
        micros += end.elapsed();
        Answer { path, micros: micros.as_secs_f64() * 1e6, expansions }
    }
}

fn summarize(
    options: &Options,
    grid: &NavGrid,
    rows: &[ScenarioRow],
    answers: &[Answer],
    prepare_us: f64,
    search_bytes: usize,
) -> Outcome<()> {
    let solved = answers.iter().filter(|answer| answer.path.is_some()).count();
    let paths =
        || rows.iter().zip(answers).filter_map(|(row, answer)| Some((row, answer.path.as_ref()?)));
    // Files of multi-agent instances may have no lengths.
    let is_checked = |row: &ScenarioRow| {
        let is_known = row.optimal > 0.0 || row.start == row.goal;
        is_known && options.profile == "plain" && options.topology == Topology::Square
    };
    let known = || paths().filter(|(row, _)| is_checked(row));
    let wrong = known().filter(|(row, path)| !check::has_length(path, row.optimal)).count();
    let algorithm = options.algorithm.1;
    let broken =
        known().filter(|(row, path)| !check::is_promised(path, row.optimal, algorithm)).count();
    let illegal: usize = paths().map(|(row, path)| check::illegal_steps(grid, row, path)).sum();
    let mut times: Vec<f64> = answers.iter().map(|answer| answer.micros).collect();
    times.sort_by(f64::total_cmp);
    let total: f64 = times.iter().sum();
    JsonLine::default()
        .text("map", options.map.display())
        .text("scen", options.scenario.display())
        .text("algorithm", &options.algorithm.0)
        .text("profile", &options.profile)
        .number("queries", rows.len())
        .number("solved", solved)
        .number("unreachable", rows.len() - solved)
        .number("wrong_cost", wrong)
        .number("illegal_steps", illegal)
        .micros("mean_us", total / rows.len().max(1) as f64)
        .micros("p50_us", percentile(&times, 50))
        .micros("p99_us", percentile(&times, 99))
        .micros("max_us", percentile(&times, 100))
        .micros("total_us", total)
        .number("expansions", answers.iter().map(|answer| answer.expansions).sum::<u64>())
        .micros("prepare_us", prepare_us)
        .number("grid_bytes", grid.bytes())
        .number("search_bytes", search_bytes)
        .print();
    if broken + illegal > 0 {
        let map = options.map.display();
        return Err(format!("{map}: {broken} paths of wrong cost, {illegal} illegal steps"));
    }
    Ok(())
}

/// The cost of an answer; `-` where there is no path.
fn cost_of(grid: &NavGrid, answer: &Answer) -> String {
    answer.path.as_ref().map_or("-".into(), |path| format!("{:.6}", check::cost(grid, path)))
}

fn write_times(mut file: OutFile, grid: &NavGrid, answers: &[Answer]) -> Outcome<()> {
    for (index, answer) in answers.iter().enumerate() {
        let cost = cost_of(grid, answer);
        file.write(&format!("{index} {:.2} {} {cost}\n", answer.micros, answer.expansions))?;
    }
    file.finish()
}

fn write_paths(
    mut file: OutFile,
    topology: Topology,
    grid: &NavGrid,
    answers: &[Answer],
) -> Outcome<()> {
    let top = grid.height() as i32 - 1;
    for (index, answer) in answers.iter().enumerate() {
        file.write(&format!("{index} {}", cost_of(grid, answer)))?;
        for cell in answer.path.iter().flat_map(Path::cells) {
            let cell = match topology {
                Topology::Square => cell,
                Topology::Hexagonal => hexagons::unshifted(cell),
            };
            file.write(&format!(" {},{}", cell.x, top - cell.y))?;
        }
        file.write("\n")?;
    }
    file.finish()
}
