//! Movement ranges: this crate's against a textbook Dijkstra that stops at the same cost.
//!
//! Input: the options of `tilepath-peers` (`--data`, `--family`, `--map` with `--scen`, `--rounds`, `--profile`;
//! `--sample` starts per map). Starts are those of rows spread over the scenario; the range is 30 plain steps. Output: a
//! table by family: microseconds of a range of both, cells in it, and the speed-up of this crate; then of this crate alone 30
//! points of one turn, without other units and with a function that lets every cell be entered. Geometric means over maps.
//! Progress goes to standard error.
//!
//! All run in one process, in turn, a range at a time. Each start's time is the median of its rounds. All costs are
//! compared with the textbook's, and both turns with each other. Exit status 1 on bad input and if one differs.

use std::{process::ExitCode, time::Instant};

use bevy_tilepath::prelude::*;

#[allow(dead_code, reason = "the race uses the rest")]
#[path = "../board.rs"]
mod board;
#[allow(dead_code, reason = "the race uses the rest")]
#[path = "../course.rs"]
mod course;
#[allow(dead_code, reason = "the race uses the rest")]
#[path = "../options.rs"]
mod options;
#[path = "../textbook_spread.rs"]
mod textbook_spread;

use board::{Board, Rule, STRAIGHT};
use course::Course;
use options::Options;
use textbook_spread::Textbook;

/// Plain straight steps in range.
const STEPS: u32 = 30;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("ranges: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let Some(options) = Options::from_args()? else {
        print!("{}", options::HELP);
        return Ok(());
    };
    let mut lines = Vec::new();
    for files in course::list(&options)? {
        let course = files.load(options.rule, options.sample)?;
        let line = measure(&course, options.rounds)?;
        eprintln!(
            "{}/{}: {:.0} cells, {:.1} µs ours, {:.1} µs textbook",
            line.family, course.map, line.cells, line.ours, line.textbook
        );
        lines.push(line);
    }
    print_table(&lines);
    Ok(())
}

/// Results of a map; means over its starts.
struct Line {
    family: String,
    cells: f64,
    /// Microseconds.
    ours: f64,
    textbook: f64,
    turns: f64,
    turns_with: f64,
}

fn measure(course: &Course, rounds: usize) -> Result<Line, String> {
    let grid = &course.board.grid;
    grid.build_layers();
    let most = PathCost(u64::from(STEPS * 2 * STRAIGHT * 16));
    let textbook_most = STEPS * STRAIGHT * if course.board.rule == Rule::Weighted { 2 } else { 1 };
    let (mut range, mut textbook) = (MovementRange::new(), Textbook::new(&course.board));
    let (mut turn, mut turn_with) = (MovementRange::new(), MovementRange::new());
    let (mut cells, mut sums) = (0, [0.0; 4]);
    for row in &course.rows {
        let mut times: [Vec<f64>; 4] = Default::default();
        let query = RangeQuery::new(row.start, Movement::Cost(most));
        let points = Movement::Turns(TurnRules::new(STEPS as u16, 1));
        let in_turns = RangeQuery { movement: points, ..query };
        for number in 0..4 * rounds {
            // The order alternates from round to round.
            let lane = (number + number / 4) % 4;
            let begin = Instant::now();
            let filled = match lane {
                0 => range.fill(grid, query),
                1 => turn.fill(grid, in_turns),
                2 => turn_with.fill_with(grid, in_turns, |_| MayEnter::Cost),
                _ => {
                    textbook.solve(row.start, textbook_most);
                    Ok(())
                }
            };
            times[lane].push(begin.elapsed().as_secs_f64() * 1e6);
            filled.map_err(|failure| failure.to_string())?;
        }
        cells += compare(&course.board, &range, &textbook, most)
            .map_err(|error| format!("{}/{}: {error}", course.family, course.map))?;
        if !turn.cells().eq(turn_with.cells()) {
            return Err(format!("{}/{}: turns from {}", course.family, course.map, row.start));
        }
        for (sum, times) in sums.iter_mut().zip(&mut times) {
            *sum += median(times);
        }
    }
    let mean = |sum: f64| sum / course.rows.len().max(1) as f64;
    let [ours, turns, turns_with, textbook] = sums.map(mean);
    let (family, cells) = (course.family.clone(), mean(cells as f64));
    Ok(Line { family, cells, ours, textbook, turns, turns_with })
}

/// Returns the number of cells in range; an error if the two differ.
fn compare(
    board: &Board,
    range: &MovementRange,
    textbook: &Textbook,
    most: PathCost,
) -> Result<u64, String> {
    // This crate counts costs in sixteenths; the textbook counts the two cells of a plain step as one.
    let scale = if board.rule == Rule::Weighted { 16 } else { 32 };
    let mut count = 0;
    for (cell, _) in board.cells() {
        let found = range.get(cell).map(|found| most.0 - found.left);
        let expected = textbook.cost(cell).map(|cost| u64::from(cost) * scale);
        if found != expected {
            let start = range.query().start;
            return Err(format!("{start} to {cell}: {found:?}, not {expected:?}"));
        }
        count += u64::from(found.is_some());
    }
    Ok(count)
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn print_table(lines: &[Line]) {
    println!(
        "| maps | number | cells | ours µs | textbook µs | speed-up | a turn µs | with others µs |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut families: Vec<&str> = lines.iter().map(|line| line.family.as_str()).collect();
    families.dedup();
    for family in &families {
        print_line(family, lines, |line| line.family == *family);
    }
    if families.len() > 1 {
        print_line("all", lines, |_| true);
    }
}

fn print_line(title: &str, lines: &[Line], belongs: impl Fn(&Line) -> bool) {
    // A map without rows has no time.
    let is_in = |line: &&Line| line.cells > 0.0 && belongs(line);
    let lines: Vec<&Line> = lines.iter().filter(is_in).collect();
    if lines.is_empty() {
        return;
    }
    let mean = |figure: fn(&Line) -> f64| {
        let logs: f64 = lines.iter().map(|line| figure(line).ln()).sum();
        (logs / lines.len() as f64).exp()
    };
    println!(
        "| {title} | {} | {:.0} | {:.1} | {:.1} | {:.2} | {:.1} | {:.1} |",
        lines.len(),
        mean(|line| line.cells),
        mean(|line| line.ours),
        mean(|line| line.textbook),
        mean(|line| line.textbook / line.ours),
        mean(|line| line.turns),
        mean(|line| line.turns_with),
    );
}
