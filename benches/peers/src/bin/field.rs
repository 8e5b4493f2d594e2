//! Whole distance fields: this crate's against a textbook Dijkstra, on every map.
//!
//! Input: the options of `tilepath-peers` (`--data`, `--family`, `--map` with `--scen`, `--rounds`,
//! `--profile`; `--sample` goals per map, 5 at most). Goals are those of rows spread over the
//! scenario. Output: a table by family, for the games and for all maps: nanoseconds per settled cell
//! of both, and the speed-up of this crate; geometric means over maps. Progress goes to standard
//! error.
//!
//! Both run in one process, alternately, a whole field at a time; clearing memory for a field is
//! included. Each goal's time is the median of its rounds. All costs are compared. Exit status 1 on
//! bad input and if a cost differs.

use std::{process::ExitCode, time::Instant};

use bevy_tilepath::{nav::field::DistanceField, prelude::*};

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

use board::{Board, Rule};
use course::Course;
use options::Options;
use textbook_spread::Textbook;

/// Most goals per map.
const GOALS: usize = 5;
/// Families whose maps are from games.
const GAMES: [&str; 4] = ["dao", "da2", "bg512", "sc1"];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("field: {message}");
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
        let course = files.load(options.rule, options.sample.min(GOALS))?;
        let line = measure(&course, options.rounds)?;
        eprintln!(
            "{}/{}: {} cells, {:.1} ns ours, {:.1} ns textbook",
            line.family, course.map, line.cells, line.ours, line.textbook
        );
        lines.push(line);
    }
    print_table(&lines);
    Ok(())
}

/// Results of a map.
struct Line {
    family: String,
    /// Cells settled, over all goals.
    cells: u64,
    /// Nanoseconds per settled cell.
    ours: f64,
    textbook: f64,
}

fn measure(course: &Course, rounds: usize) -> Result<Line, String> {
    let grid = &course.board.grid;
    grid.build_layers();
    let mut field = DistanceField::new();
    let mut textbook = Textbook::new(&course.board);
    let (mut cells, mut ours, mut theirs) = (0, 0.0, 0.0);
    for row in &course.rows {
        let mut times = [Vec::with_capacity(rounds), Vec::with_capacity(rounds)];
        for turn in 0..2 * rounds {
            // The order alternates from round to round.
            let lane = (turn + turn / 2) % 2;
            let begin = Instant::now();
            if lane == 0 {
                let started = field.start(grid, ProfileId::default(), row.goal);
                started.map_err(|failure| failure.to_string())?;
                field.step(grid, u32::MAX);
            } else {
                textbook.solve(row.goal, u32::MAX);
            }
            times[lane].push(begin.elapsed().as_secs_f64() * 1e9);
        }
        cells += compare(&course.board, &field, &textbook)
            .map_err(|error| format!("{}/{}: {error}", course.family, course.map))?;
        let [mut first, mut second] = times;
        ours += median(&mut first);
        theirs += median(&mut second);
    }
    let per_cell = |nanoseconds: f64| nanoseconds / (cells as f64).max(1.0);
    let (ours, textbook) = (per_cell(ours), per_cell(theirs));
    Ok(Line { family: course.family.clone(), cells, ours, textbook })
}

/// Returns the number of settled cells; an error if the two differ.
fn compare(board: &Board, field: &DistanceField, textbook: &Textbook) -> Result<u64, String> {
    // This crate counts costs in sixteenths; the textbook counts the two cells of a plain step as one.
    let scale = if board.rule == Rule::Weighted { 16 } else { 32 };
    let mut settled = 0;
    for (cell, _) in board.cells() {
        let found = field.cost(&board.grid, cell).map(|cost| cost.0);
        let expected = textbook.cost(cell).map(|cost| u64::from(cost) * scale);
        if found != expected {
            let goal = field.goal().min;
            return Err(format!("{cell} to {goal}: {found:?}, not {expected:?}"));
        }
        settled += u64::from(found.is_some());
    }
    Ok(settled)
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn print_table(lines: &[Line]) {
    println!("| maps | number | cells | ours ns | textbook ns | speed-up |");
    println!("|---|---|---|---|---|---|");
    let mut families: Vec<&str> = lines.iter().map(|line| line.family.as_str()).collect();
    families.dedup();
    for family in &families {
        print_line(family, lines, |line| line.family == *family);
    }
    if families.len() > 1 {
        print_line("games", lines, |line| GAMES.contains(&line.family.as_str()));
        print_line("all", lines, |_| true);
    }
}

fn print_line(title: &str, lines: &[Line], belongs: impl Fn(&Line) -> bool) {
    // A map without rows has no time.
    let is_in = |line: &&Line| line.cells > 0 && belongs(line);
    let lines: Vec<&Line> = lines.iter().filter(is_in).collect();
    if lines.is_empty() {
        return;
    }
    let mean = |figure: fn(&Line) -> f64| {
        let logs: f64 = lines.iter().map(|line| figure(line).ln()).sum();
        (logs / lines.len() as f64).exp()
    };
    let cells: u64 = lines.iter().map(|line| line.cells).sum();
    println!(
        "| {title} | {} | {cells} | {:.1} | {:.1} | {:.2} |",
        lines.len(),
        mean(|line| line.ours),
        mean(|line| line.textbook),
        mean(|line| line.textbook / line.ours),
    );
}
