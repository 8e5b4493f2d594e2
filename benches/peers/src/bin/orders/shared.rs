//! One goal for 1,000 units: jobs in a queue, against one field from the goal until it reaches all of
//! them, and their paths read from it.
//!
//! The queue has no budget limit, so all jobs finish in a tick; pushing the jobs is included. The field
//! keeps its memory from one run to the next. All costs are compared with a whole field.

use bevy_tilepath::{
    nav::{
        field::DistanceField,
        queue::{Answer, FoundBy, SearchQueue},
    },
    prelude::*,
};

use crate::{
    options::Options,
    tools::{
        Level, Random, UNIT, World, check, geometric_mean, lane, median, micros, text, verdict,
    },
};

const UNITS: usize = 1_000;
/// Goals per map.
const GOALS: usize = 5;
const TARGET: f64 = 1.3;

/// The units and their goal.
struct Order {
    starts: Vec<Cell>,
    goal: Cell,
}

/// Times of an order.
struct Line {
    queue: f64,
    /// The field, and reading the paths from it.
    field: f64,
    delivery: f64,
    /// Units that were answered by a field in the queue.
    led: usize,
}

impl Line {
    fn ratio(&self) -> f64 {
        self.queue / (self.field + self.delivery)
    }
}

pub fn run(options: &Options) -> Result<(), String> {
    println!(
        "| map | units stand | queue µs | field µs | delivery µs | ratio | worst goal | led |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut ratios = Vec::new();
    for level in Level::hunters_and_others(options)? {
        for (is_crowd, word) in [(false, "anywhere"), (true, "in a crowd")] {
            let lines = measure(&level, is_crowd, options.rounds)
                .map_err(|error| format!("{}: {error}", level.name))?;
            ratios.extend(lines.iter().map(Line::ratio));
            print_line(&level.name, word, &lines);
        }
    }
    println!("\nTime {}.", verdict(geometric_mean(&ratios), TARGET));
    Ok(())
}

fn measure(level: &Level, is_crowd: bool, rounds: usize) -> Result<Vec<Line>, String> {
    let (mut random, mut queue) = (Random::default(), SearchQueue::default());
    let mut field = DistanceField::new();
    let mut lines = Vec::with_capacity(GOALS);
    for _ in 0..GOALS {
        let starts = match is_crowd {
            true => level.crowd(UNITS, &mut random),
            false => (0..UNITS).map(|_| random.pick(&level.cells)).collect(),
        };
        let order = Order { starts, goal: random.pick(&level.cells) };
        lines.push(order.race(&level.grid, &mut queue, &mut field, rounds)?);
    }
    Ok(lines)
}

impl Order {
    fn race(
        &self,
        grid: &NavGrid,
        queue: &mut SearchQueue,
        field: &mut DistanceField,
        rounds: usize,
    ) -> Result<Line, String> {
        let mut whole = DistanceField::new();
        whole.start(grid, UNIT, self.goal).map_err(text)?;
        whole.step(grid, u32::MAX);
        let (mut times, mut led) = ([Vec::new(), Vec::new(), Vec::new()], 0);
        for turn in 0..2 * rounds {
            if lane(turn) == 0 {
                let (time, answers) = micros(|| self.burst(queue, &World(grid)));
                times[0].push(time);
                led = answers.iter().filter(|answer| answer.found_by == FoundBy::Field).count();
                self.check(grid, &whole, &paths_of(answers)?)?;
            } else {
                let (time, started) = micros(|| self.spread(field, grid));
                started.map_err(text)?;
                times[1].push(time);
                let (time, paths) = micros(|| self.deliver(field, grid));
                times[2].push(time);
                self.check(grid, &whole, &paths.ok_or("a unit that is not reached")?)?;
            }
        }
        let [queue, field, delivery] = times.map(|mut times| median(&mut times));
        Ok(Line { queue, field, delivery, led })
    }

    /// All in one tick.
    fn burst(&self, queue: &mut SearchQueue, world: &World<'_>) -> Vec<Answer> {
        let mut answers = Vec::with_capacity(self.starts.len());
        for &start in &self.starts {
            let query = PathQuery::new(start, self.goal);
            queue.push(GridId::default(), query, Priority::default());
        }
        while !queue.is_empty() {
            queue.step(world, u32::MAX, || true, |answer| answers.push(answer));
        }
        answers
    }

    fn spread(&self, field: &mut DistanceField, grid: &NavGrid) -> Result<(), PathFailure> {
        field.start(grid, UNIT, self.goal)?;
        field.await_cells(grid, self.starts.iter().copied());
        field.step(grid, u32::MAX);
        Ok(())
    }

    fn deliver(&self, field: &DistanceField, grid: &NavGrid) -> Option<Vec<Path>> {
        self.starts.iter().map(|&start| field.path(grid, start)).collect()
    }

    fn check(&self, grid: &NavGrid, whole: &DistanceField, paths: &[Path]) -> Result<(), String> {
        if paths.len() != self.starts.len() {
            return Err(format!("{} answers to {} units", paths.len(), self.starts.len()));
        }
        for (path, &start) in paths.iter().zip(&self.starts) {
            check(grid, UNIT, path)?;
            let is_right = (path.start(), path.end()) == (start, self.goal);
            if !is_right || Some(path.cost()) != whole.cost(grid, start) {
                return Err(format!("from {start} to {}: not the cheapest path", self.goal));
            }
        }
        Ok(())
    }
}

/// Returns the answers in the order of the requests.
fn paths_of(mut answers: Vec<Answer>) -> Result<Vec<Path>, String> {
    answers.sort_by_key(|answer| answer.ticket.number());
    answers.into_iter().map(|answer| answer.result.map_err(text)).collect()
}

fn print_line(title: &str, word: &str, lines: &[Line]) {
    let typical = |figure: fn(&Line) -> f64| {
        let mut figures: Vec<f64> = lines.iter().map(figure).collect();
        median(&mut figures)
    };
    let ratios: Vec<f64> = lines.iter().map(Line::ratio).collect();
    let led: usize = lines.iter().map(|line| line.led).sum();
    println!(
        "| {title} | {word} | {:.0} | {:.0} | {:.0} | {:.2} | {:.2} | {led} of {} |",
        typical(|line| line.queue),
        typical(|line| line.field),
        typical(|line| line.delivery),
        geometric_mean(&ratios),
        ratios.iter().copied().fold(0.0, f64::max),
        UNITS * lines.len(),
    );
}
