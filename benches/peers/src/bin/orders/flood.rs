//! A flood: 100,000 jobs of all kinds pushed into a queue at the same time, and a budget of 50,000 per
//! tick.
//!
//! Every round floods the same queue, after a small flood that fills its caches. Each job must get one
//! answer: its path is checked step by step and must end at a permitted cell, and one in a hundred (and
//! each that fails) is compared with an independent search.

use std::sync::Arc;

use bevy_tilepath::{
    nav::queue::{Answer, FoundBy, JobOptions, SearchQueue},
    prelude::*,
};

use crate::{
    options::Options,
    tools::{Level, Random, Searcher, UNIT, World, at, check, median, micros},
};

const JOBS: usize = 100_000;
/// Jobs of the preceding small flood.
const BEFORE: usize = 4_000;
const BUDGET: u32 = 50_000;
const TARGET: f64 = 2.0;
/// One in this many answers is compared with a search.
const SAMPLE: usize = 100;
/// Largest distance of short paths, in columns and rows.
const SHORT: u32 = 12;

/// A request.
struct Ask {
    query: PathQuery,
    goals: Option<Arc<[Goal]>>,
    priority: Priority,
}

/// Results of a flood.
#[derive(Default)]
struct Flood {
    push: f64,
    ticks: Vec<f64>,
    /// Largest budget spent in a tick.
    spent: u32,
    /// Before, at most, and after.
    bytes: [usize; 3],
    answers: Vec<Answer>,
}

pub fn run(options: &Options) -> Result<(), String> {
    let level = Level::hunters(options)?;
    println!("On {}, {JOBS} jobs, {BUDGET} a tick; milliseconds.\n", level.name);
    println!(
        "| round | push | ticks | tick, median | p99 | worst | worst / median | most spent \
         | KiB before | at most | after | told at once, alone, by a field |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut random = Random::default();
    let few = asks(&level, BEFORE, &mut random);
    let many = asks(&level, JOBS, &mut random);
    let (mut queue, world) = (SearchQueue::default(), World(&level.grid));
    check_all(&level.grid, &few, pour(&mut queue, &world, &few).answers)?;
    let (mut ratios, mut rounds) = (Vec::new(), Vec::new());
    for round in 1..=options.rounds {
        let flood = pour(&mut queue, &world, &many);
        rounds.push(flood.ticks.clone());
        ratios.push(print_line(round, flood, &level.grid, &many)?);
    }
    let (single, steady) = (median(&mut ratios), steady_ratio(&rounds));
    let word = if steady <= TARGET { "met" } else { "missed" };
    println!("\nWorst tick {single:.2} times the median one (median of rounds).");
    println!("By ticks, each the median of its rounds: {steady:.2}; {TARGET} is {word}.");
    Ok(())
}

/// Returns the ratio of the worst to the median tick. Each tick's time is the median of all rounds,
/// which do the same work, so that other load of the machine is removed.
fn steady_ratio(rounds: &[Vec<f64>]) -> f64 {
    let count = rounds.iter().map(Vec::len).min().unwrap_or(0);
    let tick =
        |tick: usize| median(&mut rounds.iter().map(|round| round[tick]).collect::<Vec<_>>());
    let mut ticks: Vec<f64> = (0..count).map(tick).collect();
    at(&mut ticks, 100) / at(&mut ticks, 50)
}

/// Creates the jobs: half of them short; the others long, unreachable, to the market, or to the nearest
/// of four goals.
fn asks(level: &Level, count: usize, random: &mut Random) -> Vec<Ask> {
    let market = random.pick(&level.cells);
    let region = level.grid.region(UNIT, market);
    let is_elsewhere = |cell: &Cell| level.grid.region(UNIT, *cell) != region;
    let elsewhere: Vec<Cell> = level.grid.rect().cells().filter(is_elsewhere).collect();
    let ask = |number: usize| {
        let start = random.pick(&level.cells);
        let mut goals = None;
        let query = match number % 8 {
            0 => PathQuery::new(start, random.pick(&level.cells)),
            1 if !elsewhere.is_empty() => PathQuery::new(start, random.pick(&elsewhere)),
            2 => PathQuery::new(start, market),
            3 => {
                goals = Some((0..3).map(|_| Goal::from(random.pick(&level.cells))).collect());
                PathQuery::new(start, random.pick(&level.cells))
            }
            4 => {
                let area = CellRect::new(beside(&level.grid, start, random), 3, 2);
                PathQuery::new(start, Goal::within(area, 2)).reach(Reach::Nearest)
            }
            _ => PathQuery::new(start, beside(&level.grid, start, random)).reach(Reach::Nearest),
        };
        Ask { query, goals, priority: Priority((number % 3) as i8 - 1) }
    };
    (0..count).map(ask).collect()
}

/// Returns a random cell near another.
fn beside(grid: &NavGrid, cell: Cell, random: &mut Random) -> Cell {
    let mut off = || random.below(2 * SHORT + 1) as i32 - SHORT as i32;
    let near = cell.offset(off(), off());
    if grid.contains(near) { near } else { cell }
}

fn pour(queue: &mut SearchQueue, world: &World<'_>, asks: &[Ask]) -> Flood {
    let answers = Vec::with_capacity(asks.len());
    let mut flood = Flood { answers, ..Flood::default() };
    let before = queue.bytes();
    let (push, ()) = micros(|| {
        for Ask { query, goals, priority } in asks {
            let (goals, priority) = (goals.clone(), *priority);
            let job = JobOptions { priority, goals, ..JobOptions::default() };
            queue.push_job(GridId::default(), *query, job);
        }
    });
    let mut most = queue.bytes();
    while !queue.is_empty() {
        let answers = &mut flood.answers;
        let (time, spent) =
            micros(|| queue.step(world, BUDGET, || true, |answer| answers.push(answer)));
        flood.ticks.push(time);
        flood.spent = flood.spent.max(spent);
        most = most.max(queue.bytes());
    }
    (flood.push, flood.bytes) = (push, [before, most, queue.bytes()]);
    flood
}

/// Checks a flood and prints it; returns the ratio of its worst to its median tick.
fn print_line(round: usize, mut flood: Flood, grid: &NavGrid, asks: &[Ask]) -> Result<f64, String> {
    let found = check_all(grid, asks, flood.answers)?;
    let ticks = flood.ticks.len();
    let [middle, high, worst] = [50, 99, 100].map(|percent| at(&mut flood.ticks, percent) / 1e3);
    let [before, most, after] = flood.bytes.map(|bytes| bytes / 1_024);
    println!(
        "| {round} | {:.1} | {ticks} | {middle:.2} | {high:.2} | {worst:.2} | {:.2} | {} \
         | {before} | {most} | {after} | {}, {}, {} |",
        flood.push / 1e3,
        worst / middle,
        flood.spent,
        found[0],
        found[1],
        found[2],
    );
    Ok(worst / middle)
}

/// Checks all answers; returns how many came from a check, from a single search, and from a field.
fn check_all(grid: &NavGrid, asks: &[Ask], mut answers: Vec<Answer>) -> Result<[usize; 3], String> {
    answers.sort_by_key(|answer| answer.ticket.number());
    if answers.len() != asks.len() {
        return Err(format!("{} answers to {} jobs", answers.len(), asks.len()));
    }
    let mut searcher = Searcher::new(grid);
    let mut found = [0; 3];
    for (number, (answer, ask)) in answers.iter().zip(asks).enumerate() {
        let way = match answer.found_by {
            FoundBy::Check => 0,
            FoundBy::Search(_) => 1,
            FoundBy::Field => 2,
        };
        found[way] += 1;
        if let Ok(path) = &answer.result {
            check(grid, UNIT, path)?;
        }
        let is_sample = number % SAMPLE == number / SAMPLE % SAMPLE;
        if !ask.may_be(grid, &answer.result)
            || ((is_sample || answer.result.is_err()) && !ask.is_best(&mut searcher, answer))
        {
            return Err(format!("{:?}: {:?}", ask.query, answer.result));
        }
    }
    Ok(found)
}

impl Ask {
    fn others(&self) -> &[Goal] {
        self.goals.as_deref().unwrap_or_default()
    }

    /// Returns whether an answer leads from the start to a permitted cell.
    fn may_be(&self, grid: &NavGrid, result: &Result<Path, PathFailure>) -> bool {
        let own = self.query.goal;
        let mut goals = self.others().iter().chain([&own]);
        match result {
            Ok(path) if path.start() != self.query.start => false,
            Ok(path) => match path.kind() {
                PathKind::Complete => goals.any(|goal| goal.admits(grid, UNIT, path.end())),
                PathKind::Partial => self.query.reach == Reach::Nearest,
                PathKind::FirstSegment | PathKind::ToLink => false,
            },
            Err(_) => self.query.reach == Reach::Exact,
        }
    }

    /// Returns whether a search gives the same answer.
    fn is_best(&self, searcher: &mut Searcher<'_>, answer: &Answer) -> bool {
        let told = |path: &Path| (path.cost(), path.kind());
        let expected = searcher.find(self.query, self.others());
        expected.as_ref().map(told) == answer.result.as_ref().map(told)
    }
}
