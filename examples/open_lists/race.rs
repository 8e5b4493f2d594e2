//! Runs all lists on one course: compares their answers, counts their work, measures their times.
//!
//! Input: a course and the entrants. Output: a [`Row`] for each entrant, or an error at the first
//! path whose cost differs.

use bevy_tilepath::prelude::*;

use crate::{
    course::Course,
    ledger::Work,
    roster::{Entrant, YARDSTICK},
    runner::Outcome,
    runs::Runner,
};

/// A list whose queries took longer than this in total, in seconds, is timed once.
const LONG: f64 = 1.0;

/// Results of one list on one course; totals over all queries.
pub struct Row {
    /// The list.
    pub name: &'static str,
    /// Its number among the structures of the articles.
    pub article: Option<u8>,
    /// Its color in charts.
    pub color: [u8; 3],
    /// Microseconds per query: the mean over queries of the median over rounds.
    pub micros: f64,
    /// Nodes expanded.
    pub expansions: u64,
    /// Calls, comparisons, moves.
    pub work: Work,
}

/// Results of all lists on one course.
pub struct CourseResult {
    /// The course's name.
    pub course: String,
    /// Whether it was read from a file.
    pub is_real: bool,
    /// Cells of the map.
    pub cells: u64,
    /// Queries answered.
    pub queries: usize,
    /// One row per list, in the order of the roster.
    pub rows: Vec<Row>,
}

impl CourseResult {
    /// Returns the row of the list called `name`.
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// Returns the speed-up over the unsorted list.
    pub fn speed_up(&self, row: &Row) -> f64 {
        self.row(YARDSTICK).map_or(1.0, |yardstick| yardstick.micros / row.micros)
    }
}

/// Runs all lists.
///
/// # Errors
/// The first path of another cost, with its list and query.
pub fn run(course: &Course, entrants: &[Entrant], rounds: usize) -> Outcome<CourseResult> {
    // Layers are built on first use: build them now, not in the first list's first query.
    course.grid.build_layers();
    let (counted, expected) = count(course, entrants)?;
    let mut runners: Vec<_> = entrants.iter().map(|entrant| (entrant.timed)()).collect();
    let mut times = vec![vec![Vec::new(); course.queries.len()]; entrants.len()];
    let mut is_long = vec![false; entrants.len()];
    for round in 0..rounds {
        for (number, entrant) in entrants.iter().enumerate() {
            if !is_long[number] {
                let times = &mut times[number];
                time(course, entrant, runners[number].as_mut(), &expected, times)?;
                is_long[number] = round == 0 && times.iter().flatten().sum::<f64>() > LONG * 1e6;
            }
        }
    }
    let rows =
        entrants.iter().zip(counted).zip(&mut times).map(|((entrant, counted), times)| Row {
            name: entrant.name,
            article: entrant.article,
            color: entrant.color,
            micros: mean_of_medians(times),
            expansions: counted.0,
            work: counted.1,
        });
    Ok(CourseResult {
        course: course.name.clone(),
        is_real: course.is_real,
        cells: course.cells(),
        queries: course.queries.len(),
        rows: rows.collect(),
    })
}

/// Returns expansions and work of each list, and the costs that all lists found.
fn count(
    course: &Course,
    entrants: &[Entrant],
) -> Outcome<(Vec<(u64, Work)>, Vec<Option<PathCost>>)> {
    let mut expected: Vec<Option<PathCost>> = Vec::new();
    let mut counted = Vec::new();
    for (number, entrant) in entrants.iter().enumerate() {
        let mut runner = (entrant.counted)();
        let mut expansions = 0;
        for index in 0..course.queries.len() {
            let answer = runner.solve(&course.grid, query(course, index));
            expansions += answer.expansions;
            if number == 0 {
                expected.push(answer.cost);
            }
            check(course, entrant, index, answer.cost, expected[index])?;
        }
        counted.push((expansions, runner.work().unwrap_or_default()));
    }
    Ok((counted, expected))
}

fn time(
    course: &Course,
    entrant: &Entrant,
    runner: &mut dyn Runner,
    expected: &[Option<PathCost>],
    times: &mut [Vec<f64>],
) -> Outcome<()> {
    for (index, times) in times.iter_mut().enumerate() {
        let answer = runner.solve(&course.grid, query(course, index));
        check(course, entrant, index, answer.cost, expected[index])?;
        times.push(answer.micros);
    }
    Ok(())
}

fn query(course: &Course, index: usize) -> PathQuery {
    let (start, goal, _) = course.queries[index];
    PathQuery::new(start, goal).algorithm(Algorithm::AStar)
}

/// Fails unless the cost equals that of the other lists, and the scenario's optimum if it is known.
fn check(
    course: &Course,
    entrant: &Entrant,
    index: usize,
    cost: Option<PathCost>,
    expected: Option<PathCost>,
) -> Outcome<()> {
    let (start, goal, optimum) = course.queries[index];
    let complain = |found: String, wanted: String| {
        let (map, list) = (&course.name, entrant.name);
        Err(format!("{map}: {list}: from {start} to {goal}: cost {found}, not {wanted}"))
    };
    if cost != expected {
        return complain(format!("{cost:?}"), format!("{expected:?} as {YARDSTICK} found"));
    }
    let length = cost.map(PathCost::in_plain_steps);
    match (length, optimum) {
        (Some(length), Some(optimum)) if (length - optimum).abs() > 0.01 + optimum * 1e-4 => {
            complain(length.to_string(), format!("{optimum} as the scenario says"))
        }
        (None, _) => complain("none".into(), "a path".into()),
        _ => Ok(()),
    }
}

fn mean_of_medians(times: &mut [Vec<f64>]) -> f64 {
    let queries = times.len().max(1) as f64;
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        let last = times.len().saturating_sub(1);
        f64::midpoint(times[last / 2], times[last.div_ceil(2)])
    };
    times.iter_mut().map(median).sum::<f64>() / queries
}
