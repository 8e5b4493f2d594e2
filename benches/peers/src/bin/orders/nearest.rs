//! Nearest of 100 goals: one search for all of them, against one from the same start directly to the
//! goal that was found.
//!
//! Goals are anywhere in the start's connected region, or all in one area. Both searches of a query
//! alternate; times are medians. All costs are compared with a field around the start, and for some
//! queries with a search to each goal.

use std::iter::repeat_with;

use bevy_tilepath::{nav::field::DistanceField, prelude::*};

use crate::{
    options::Options,
    tools::{
        Level, Random, Searcher, UNIT, check, geometric_mean, lane, median, micros, text, verdict,
    },
};

const FAMILIES: [&str; 6] = ["dao", "sc1", "mazes", "rooms", "cities", "random"];
const GOALS: usize = 100;
const TARGET: f64 = 1.5;
/// Largest distance of goals in one area from its middle, in columns and rows.
const PLACE_REACH: u32 = 20;
/// Queries per map that are also answered by a search to each goal.
const SINGLES: usize = 5;

/// Distribution of the goals.
#[derive(Clone, Copy)]
enum Spread {
    Anywhere,
    OnePlace,
}

const SPREADS: [(Spread, &str); 2] =
    [(Spread::Anywhere, "anywhere"), (Spread::OnePlace, "in one place")];

struct Question {
    start: Cell,
    goals: Vec<Cell>,
}

/// Times of the search for the nearest goal, and of the search to that goal alone.
#[derive(Clone, Copy)]
struct Race {
    micros: [f64; 2],
    expansions: [f64; 2],
}

pub fn run(options: &Options) -> Result<(), String> {
    println!(
        "| map | goals lie | of 100, µs | of 1, µs | time, geo. mean | median | summed \
         | expansions, geo. mean | median | summed |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut all: [Vec<Race>; 2] = SPREADS.map(|_| Vec::new());
    for family in FAMILIES {
        let level = Level::first_of(family, options)?;
        for ((spread, word), all) in SPREADS.into_iter().zip(&mut all) {
            let races = measure(&level, spread, options)
                .map_err(|error| format!("{family}/{}: {error}", level.name))?;
            print_line(&format!("{family}/{}", level.name), word, &races);
            all.extend(races);
        }
    }
    for ((_, word), races) in SPREADS.iter().zip(&all) {
        print_line("all", word, races);
    }
    println!();
    for ((_, word), races) in SPREADS.iter().zip(&all) {
        let ratios: Vec<f64> = races.iter().map(|race| ratio(race.micros)).collect();
        println!("Goals {word}: time {}.", verdict(geometric_mean(&ratios), TARGET));
    }
    Ok(())
}

fn measure(level: &Level, spread: Spread, options: &Options) -> Result<Vec<Race>, String> {
    let mut searcher = Searcher::new(&level.grid);
    let (mut field, mut random) = (DistanceField::new(), Random::default());
    let mut races = Vec::with_capacity(options.sample);
    for number in 0..options.sample {
        let question = Question::random(level, spread, &mut random);
        let least = question.least(&level.grid, &mut field)?;
        if number < SINGLES && question.least_of_singles(&mut searcher)? != least {
            return Err(format!("from {}: searches and field differ", question.start));
        }
        races.push(question.race(&level.grid, &mut searcher, least, options.rounds)?);
    }
    Ok(races)
}

impl Question {
    fn random(level: &Level, spread: Spread, random: &mut Random) -> Self {
        let start = random.pick(&level.cells);
        let middle = random.pick(&level.cells);
        let is_near =
            |cell: &Cell| cell.x.abs_diff(middle.x).max(cell.y.abs_diff(middle.y)) <= PLACE_REACH;
        let place: Vec<Cell> = match spread {
            Spread::Anywhere => Vec::new(),
            Spread::OnePlace => level.cells.iter().copied().filter(is_near).collect(),
        };
        let among = if place.is_empty() { &level.cells } else { &place };
        let goals = repeat_with(|| random.pick(among)).filter(|&goal| goal != start);
        Self { start, goals: goals.take(GOALS).collect() }
    }

    /// Returns the cost of the cheapest path to any goal.
    fn least(&self, grid: &NavGrid, field: &mut DistanceField) -> Result<PathCost, String> {
        field.start(grid, UNIT, self.start).map_err(text)?;
        field.step(grid, u32::MAX);
        let costs = self.goals.iter().filter_map(|&goal| field.cost(grid, goal));
        costs.min().ok_or_else(|| "no path to any goal".into())
    }

    /// Returns the same by a search to each goal.
    fn least_of_singles(&self, searcher: &mut Searcher<'_>) -> Result<PathCost, String> {
        let mut least = PathCost(u64::MAX);
        for &goal in &self.goals {
            let path = searcher.find(PathQuery::new(self.start, goal), &[]).map_err(text)?;
            least = least.min(path.cost());
        }
        Ok(least)
    }

    fn race(
        &self,
        grid: &NavGrid,
        searcher: &mut Searcher<'_>,
        least: PathCost,
        rounds: usize,
    ) -> Result<Race, String> {
        let first = PathQuery::new(self.start, self.goals[0]);
        let others: Vec<Goal> = self.goals[1..].iter().copied().map(Goal::from).collect();
        let found = searcher.find(first, &others).map_err(text)?.end();
        let alone = PathQuery::new(self.start, found);
        let asked = [(first, others.as_slice()), (alone, &others[..0])];
        let (mut times, mut expansions) = ([Vec::new(), Vec::new()], [0.0; 2]);
        for turn in 0..2 * rounds {
            let lane = lane(turn);
            let (query, goals) = asked[lane];
            let (time, path) = micros(|| searcher.find(query, goals));
            times[lane].push(time);
            // At least one, so that the ratio is defined.
            expansions[lane] = searcher.counters().expansions.max(1) as f64;
            let path = path.map_err(text)?;
            check(grid, UNIT, &path)?;
            let is_right = path.start() == self.start && path.end() == found;
            if !is_right || path.cost() != least || !self.goals.contains(&found) {
                return Err(format!("from {} to {found}: not the cheapest path", self.start));
            }
        }
        Ok(Race { micros: times.map(|mut times| median(&mut times)), expansions })
    }
}

fn ratio([all, one]: [f64; 2]) -> f64 {
    all / one
}

fn print_line(title: &str, spread: &str, races: &[Race]) {
    let micros: Vec<[f64; 2]> = races.iter().map(|race| race.micros).collect();
    let expansions: Vec<[f64; 2]> = races.iter().map(|race| race.expansions).collect();
    let typical = |lane: usize| {
        let mut times: Vec<f64> = micros.iter().map(|pair| pair[lane]).collect();
        median(&mut times)
    };
    let (time, expanded) = (summary(&micros), summary(&expansions));
    println!(
        "| {title} | {spread} | {:.1} | {:.1} | {time} | {expanded} |",
        typical(0),
        typical(1)
    );
}

/// Three columns: geometric mean and median of the ratios, and the ratio of the sums.
fn summary(pairs: &[[f64; 2]]) -> String {
    let mut ratios: Vec<f64> = pairs.iter().copied().map(ratio).collect();
    let sum = |lane: usize| pairs.iter().map(|pair| pair[lane]).sum::<f64>();
    let (mean, middle) = (geometric_mean(&ratios), median(&mut ratios));
    format!("{mean:.2} | {middle:.2} | {:.2}", sum(0) / sum(1))
}
