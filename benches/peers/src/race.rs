//! The comparison: every searcher runs every query of a map, in alternation.
//!
//! Input: a [`Course`] and the searchers, the textbook first. Output: a [`MapResult`] with a
//! [`Lane`] for each searcher. In each round a searcher answers all queries before the next searcher
//! starts; the first searcher changes from round to round. So each works with its own data in the
//! cache, as in a tick with many requests, and temporary load of the machine affects several
//! searchers. Answers are checked in a separate pass before, because checking would evict that data
//! from the cache. The clock covers `solve` alone.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Instant,
};

use bevy_tilepath::{nav::moving_ai::ScenarioRow, prelude::Cell};

use crate::{
    board::Rule,
    course::Course,
    judge::{Reference, Verdict},
    searchers::Searcher,
};

/// Results of all searchers on one map.
pub struct MapResult {
    /// Folder the map is from.
    pub family: String,
    /// Name of the map.
    pub map: String,
    /// Share of the passable cells that lie beside cells of another cost.
    pub mixed_share: f64,
    /// One per searcher, in their order.
    pub lanes: Vec<Lane>,
}

/// Results of one searcher on one map.
#[derive(Default)]
pub struct Lane {
    /// Time to load the map, in milliseconds.
    pub prepare_ms: f64,
    /// Median time of each query, in microseconds.
    pub micros: Vec<f64>,
    /// Quality of each path.
    pub tallies: Vec<Tally>,
    /// Wrong answers of a searcher that claims to be exact.
    pub faults: Vec<String>,
}

/// Counts over paths.
#[derive(Clone, Copy, Default)]
pub struct Tally {
    /// Paths that lead to the goal, optimal or not.
    pub paths: u32,
    /// Queries without such a path.
    pub missing: u32,
    /// Queries answered with a cost other than the optimum, or not at all.
    pub wrong: u32,
    /// Sum over all paths of length / optimum - 1.
    pub excess: f64,
    /// Illegal steps.
    pub illegal: u32,
    /// Cut corners among them.
    pub corner_cuts: u32,
}

/// Runs all searchers on the course. A query that took a searcher longer than `cap_micros` in the
/// checking pass is not run again.
pub fn run(
    course: Course,
    searchers: &mut [Box<dyn Searcher>],
    rounds: usize,
    cap_micros: f64,
) -> MapResult {
    let mut lanes: Vec<Lane> =
        searchers.iter_mut().map(|one| prepare(one.as_mut(), &course)).collect();
    let references = references(&course, searchers);
    let mut is_slow = vec![vec![false; course.rows.len()]; lanes.len()];
    for ((searcher, lane), is_slow) in searchers.iter_mut().zip(&mut lanes).zip(&mut is_slow) {
        let searcher = searcher.as_mut();
        for (number, (row, reference)) in course.rows.iter().zip(&references).enumerate() {
            lane.micros.push(time(searcher, row));
            is_slow[number] = lane.micros[number] > cap_micros;
            let verdict = judge(searcher, &course, row);
            let is_exact = searcher.is_exact();
            lane.take(verdict, *reference, is_exact, || describe(searcher, &course, row));
        }
    }
    let mut times = vec![vec![Vec::with_capacity(rounds); course.rows.len()]; lanes.len()];
    for round in 0..rounds {
        for turn in 0..lanes.len() {
            let i = (turn + round) % lanes.len();
            for (number, row) in course.rows.iter().enumerate() {
                if !is_slow[i][number] {
                    times[i][number].push(time(searchers[i].as_mut(), row));
                }
            }
        }
    }
    for (lane, times) in lanes.iter_mut().zip(times) {
        for (micros, times) in lane.micros.iter_mut().zip(times) {
            *micros = median(times).unwrap_or(*micros);
        }
    }
    let mixed_share = course.board.mixed_share();
    MapResult { family: course.family, map: course.map, mixed_share, lanes }
}

impl Lane {
    /// Counts an answer, and records it if it should be exact and is not.
    fn take(
        &mut self,
        verdict: Option<Verdict>,
        reference: Reference,
        is_exact: bool,
        describe: impl FnOnce() -> String,
    ) {
        let right = verdict.is_some_and(|v| v.arrives && reference.agrees_with(v.length()));
        let legal = verdict.is_none_or(|v| v.illegal == 0);
        let mut tally = Tally { wrong: u32::from(!right), ..Tally::default() };
        tally.add(verdict.unwrap_or_default(), reference);
        self.tallies.push(tally);
        if is_exact && !(right && legal) {
            let found = verdict.map_or("no path".into(), |v| {
                format!("length {:.3}, {} illegal steps", v.length(), v.illegal)
            });
            let optimum = reference.length;
            self.faults.push(format!("{}: {found}; the optimum is {optimum:.3}", describe()));
        }
    }
}

impl Tally {
    /// Returns the sum of both counts.
    pub fn plus(self, other: &Self) -> Self {
        Self {
            paths: self.paths + other.paths,
            missing: self.missing + other.missing,
            wrong: self.wrong + other.wrong,
            excess: self.excess + other.excess,
            illegal: self.illegal + other.illegal,
            corner_cuts: self.corner_cuts + other.corner_cuts,
        }
    }

    fn add(&mut self, verdict: Verdict, reference: Reference) {
        if verdict.arrives {
            self.paths += 1;
            if reference.length > 0.0 {
                self.excess += verdict.length() / reference.length - 1.0;
            }
        } else {
            self.missing += 1;
        }
        self.illegal += verdict.illegal;
        self.corner_cuts += verdict.corner_cuts;
    }
}

fn prepare(searcher: &mut dyn Searcher, course: &Course) -> Lane {
    let clock = Instant::now();
    searcher.prepare(&course.board);
    Lane { prepare_ms: clock.elapsed().as_secs_f64() * 1e3, ..Lane::default() }
}

/// Returns each query's optimum: the scenario's own, or the textbook's where that does not apply.
fn references(course: &Course, searchers: &mut [Box<dyn Searcher>]) -> Vec<Reference> {
    let mut reference = |row: &ScenarioRow| match (course.board.rule, searchers.first_mut()) {
        (Rule::Weighted, Some(textbook)) => {
            textbook.solve(row.start, row.goal);
            let verdict = judge(textbook.as_ref(), course, row);
            Reference::exact(verdict.map_or(0.0, |verdict| verdict.length()))
        }
        _ => Reference::rounded(row.optimal),
    };
    course.rows.iter().map(&mut reference).collect()
}

/// Returns the time of one query in microseconds. Some searchers panic on inconsistent data; this
/// counts as no path.
fn time(searcher: &mut dyn Searcher, row: &ScenarioRow) -> f64 {
    let clock = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| searcher.solve(row.start, row.goal)));
    let micros = clock.elapsed().as_secs_f64() * 1e6;
    if outcome.is_err() {
        searcher.forget();
    }
    micros
}

/// Returns the verdict on the searcher's last answer; `None` if it found no path.
fn judge(searcher: &dyn Searcher, course: &Course, row: &ScenarioRow) -> Option<Verdict> {
    let cells = searcher.cells();
    let found = !cells.is_empty();
    found.then(|| Verdict::of(&course.board, row.start, row.goal, &cells))
}

fn describe(searcher: &dyn Searcher, course: &Course, row: &ScenarioRow) -> String {
    let (start, goal): (Cell, Cell) = (row.start, row.goal);
    format!("{} on {}/{}, {start} to {goal}", searcher.name(), course.family, course.map)
}

fn median(mut times: Vec<f64>) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    let last = times.len().checked_sub(1)?;
    Some(f64::midpoint(times[last / 2], times[last.div_ceil(2)]))
}
