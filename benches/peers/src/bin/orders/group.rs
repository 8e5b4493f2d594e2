//! Groups to one point: times of the slot assignment, and of the paths, with a rally and without.
//!
//! A crowd is sent from one area of the map to another. Each unit gets a slot; then jobs for all of
//! them are pushed into a queue without a budget, once as single searches and once with the point as
//! their rally. Checks: slots do not overlap and are in the connected region; paths of single searches
//! have the cost of an independent search (for some units); paths with a rally cost at most 1.15 times
//! as much.

use std::collections::BTreeSet;

use bevy_tilepath::{
    nav::{
        formation::assign_slots,
        queue::{Answer, FoundBy, JobOptions, SearchQueue},
    },
    prelude::*,
};

use crate::{
    options::Options,
    tools::{Level, Random, Searcher, UNIT, World, check, lane, median, micros, text},
};

const COUNTS: [usize; 2] = [400, 2_000];
const FORMATIONS: [Formation; 2] = [Formation::Loose, Formation::Box];
/// Orders per unit count.
const ORDERS: usize = 8;
/// Least distance of the point from the middle of the crowd, in columns or rows.
const MIN_DISTANCE: u32 = 100;
/// One in this many paths is compared with an independent search.
const SAMPLE: usize = 20;

/// The units and their goal.
struct Order {
    units: Vec<FormationUnit>,
    point: Cell,
}

/// Times and costs of an order's paths, with single searches and with a rally.
struct Line {
    micros: [f64; 2],
    costs: [u64; 2],
    /// Largest cost ratio of a path with a rally.
    worst: f64,
    /// Units whose path came from a field.
    led: usize,
}

pub fn run(options: &Options) -> Result<(), String> {
    let level = Level::hunters(options)?;
    println!("On {}, {ORDERS} orders each.\n", level.name);
    println!("| units | formation | places µs, median | worst order |");
    println!("|---|---|---|---|");
    let mut lines = Vec::new();
    for count in COUNTS {
        let mut random = Random::default();
        let orders: Vec<Order> =
            (0..ORDERS).map(|_| Order::random(&level, count, &mut random)).collect();
        for formation in FORMATIONS {
            let mut times = Vec::with_capacity(ORDERS);
            for order in &orders {
                times.push(order.form_group(&level.grid, formation, options.rounds)?);
            }
            let worst = times.iter().copied().fold(0.0, f64::max);
            println!("| {count} | {formation:?} | {:.0} | {worst:.0} |", median(&mut times));
        }
        lines.push((count, paths(&orders, &level.grid, options.rounds)?));
    }
    println!();
    println!(
        "| units | alone µs | with a rally µs | time, summed | cost, summed | costliest path | led |"
    );
    println!("|---|---|---|---|---|---|---|");
    lines.iter().for_each(|(count, lines)| print_line(*count, lines));
    Ok(())
}

/// Finds the paths of all orders, to slots of the loose formation. Each lane has a queue that is kept
/// from order to order.
fn paths(orders: &[Order], grid: &NavGrid, rounds: usize) -> Result<Vec<Line>, String> {
    let mut queues = [SearchQueue::default(), SearchQueue::default()];
    let mut lines = Vec::with_capacity(orders.len());
    for order in orders {
        let places = order.places(grid, Formation::Loose)?;
        lines.push(order.race(&places, grid, &mut queues, rounds)?);
    }
    Ok(lines)
}

impl Order {
    fn random(level: &Level, count: usize, random: &mut Random) -> Self {
        let cells = level.crowd(count, random);
        let middle = cells[0];
        let units = cells.into_iter().map(FormationUnit::new).collect();
        let is_far = |point: Cell| {
            point.x.abs_diff(middle.x).max(point.y.abs_diff(middle.y)) >= MIN_DISTANCE
        };
        let mut picks = (0..10_000).map(|_| random.pick(&level.cells));
        let point = picks.find(|&point| is_far(point)).unwrap_or(middle);
        Self { units, point }
    }

    /// Returns the time of the slot assignment.
    fn form_group(
        &self,
        grid: &NavGrid,
        formation: Formation,
        rounds: usize,
    ) -> Result<f64, String> {
        let order = FormationSpec::to(self.point).formation(formation);
        let mut times = Vec::with_capacity(rounds);
        for _ in 0..rounds {
            times.push(micros(|| assign_slots(grid, &self.units, &order)).0);
        }
        self.places(grid, formation)?;
        Ok(median(&mut times))
    }

    /// Returns a slot for each unit; an error if slots overlap or cannot be reached.
    fn places(&self, grid: &NavGrid, formation: Formation) -> Result<Vec<Cell>, String> {
        let order = FormationSpec::to(self.point).formation(formation);
        let places: Vec<Cell> = assign_slots(grid, &self.units, &order)
            .into_iter()
            .collect::<Result<_, PathFailure>>()
            .map_err(text)?;
        let region = grid.region(UNIT, self.point);
        let is_reached = |&place: &Cell| grid.region(UNIT, place) == region;
        let apart: BTreeSet<Cell> = places.iter().copied().collect();
        if apart.len() < self.units.len() || !places.iter().all(is_reached) {
            return Err(format!("bad places around {}", self.point));
        }
        Ok(places)
    }

    /// Finds all paths in one tick.
    fn burst(
        &self,
        places: &[Cell],
        queue: &mut SearchQueue,
        world: &World<'_>,
        rally: Option<Cell>,
    ) -> Vec<Answer> {
        let mut answers = Vec::with_capacity(places.len());
        for (unit, &place) in self.units.iter().zip(places) {
            let job = JobOptions { rally, ..JobOptions::default() };
            queue.push_job(GridId::default(), PathQuery::new(unit.cell, place), job);
        }
        while !queue.is_empty() {
            queue.step(world, u32::MAX, || true, |answer| answers.push(answer));
        }
        answers
    }

    fn race(
        &self,
        places: &[Cell],
        grid: &NavGrid,
        queues: &mut [SearchQueue; 2],
        rounds: usize,
    ) -> Result<Line, String> {
        let (mut times, mut costs) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        let mut led = 0;
        for turn in 0..2 * rounds {
            let lane = lane(turn);
            let (queue, rally) = (&mut queues[lane], (lane == 1).then_some(self.point));
            let (time, answers) = micros(|| self.burst(places, queue, &World(grid), rally));
            times[lane].push(time);
            if lane == 1 {
                led = answers.iter().filter(|answer| answer.found_by == FoundBy::Field).count();
            }
            costs[lane] = self.costs_of(answers, places, grid)?;
            if lane == 0 {
                self.check_alone(&costs[0], places, grid)?;
            }
        }
        let worst = worst_of(&costs)?;
        let costs = costs.map(|costs| costs.iter().sum::<u64>());
        Ok(Line { micros: times.map(|mut times| median(&mut times)), costs, worst, led })
    }

    /// Returns the path costs, unit by unit.
    fn costs_of(
        &self,
        mut answers: Vec<Answer>,
        places: &[Cell],
        grid: &NavGrid,
    ) -> Result<Vec<u64>, String> {
        answers.sort_by_key(|answer| answer.ticket.number());
        if answers.len() != places.len() {
            return Err(format!("{} answers to {} units", answers.len(), places.len()));
        }
        let mut costs = Vec::with_capacity(answers.len());
        for ((answer, unit), &place) in answers.into_iter().zip(&self.units).zip(places) {
            let path = answer.result.map_err(text)?;
            check(grid, UNIT, &path)?;
            if (path.start(), path.end()) != (unit.cell, place) {
                return Err(format!("no path from {} to {place}", unit.cell));
            }
            costs.push(path.cost().0);
        }
        Ok(costs)
    }

    /// Checks for some units that the costs are optimal.
    fn check_alone(&self, costs: &[u64], places: &[Cell], grid: &NavGrid) -> Result<(), String> {
        let mut searcher = Searcher::new(grid);
        let asked = self.units.iter().zip(places).zip(costs).step_by(SAMPLE);
        for ((unit, &place), &cost) in asked {
            let query = PathQuery::new(unit.cell, place).algorithm(Algorithm::AStar);
            if searcher.find(query, &[]).map_err(text)?.cost().0 != cost {
                return Err(format!("from {} to {place}: not the cheapest path", unit.cell));
            }
        }
        Ok(())
    }
}

/// Returns the largest ratio of a unit's cost with a rally to its optimal cost; an error if it is above
/// the promised bound, or below 1.
fn worst_of([alone, rally]: &[Vec<u64>; 2]) -> Result<f64, String> {
    let mut worst = 1.0_f64;
    for (&least, &cost) in alone.iter().zip(rally) {
        if cost < least || 100 * cost > 115 * least {
            return Err(format!("a path with a rally costs {cost}, the cheapest {least}"));
        }
        if least > 0 {
            worst = worst.max(cost as f64 / least as f64);
        }
    }
    Ok(worst)
}

fn print_line(count: usize, lines: &[Line]) {
    let typical = |lane: usize| {
        let mut times: Vec<f64> = lines.iter().map(|line| line.micros[lane]).collect();
        median(&mut times)
    };
    let time = |lane: usize| lines.iter().map(|line| line.micros[lane]).sum::<f64>();
    let cost = |lane: usize| lines.iter().map(|line| line.costs[lane]).sum::<u64>() as f64;
    let led: usize = lines.iter().map(|line| line.led).sum();
    println!(
        "| {count} | {:.0} | {:.0} | {:.2} | {:.4} | {:.3} | {led} of {} |",
        typical(0),
        typical(1),
        time(1) / time(0),
        cost(1) / cost(0),
        lines.iter().map(|line| line.worst).fold(1.0, f64::max),
        count * lines.len(),
    );
}
