//! Compares twelve open lists in the same A*.
//!
//! Input: `cargo run --release --example open_lists` runs them on generated maps; `--map` and
//! `--scen` or `--data` add real maps, `--insert-bench` and `--trace` repeat the examples of the
//! articles, `--help` lists all options. Output: tables, a CSV file and a chart. The results are in
//! `docs/open-lists.md`.
//!
//! Start reading at [`lists`] (the structures), then [`race`] (the comparison).

mod chart;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod claims;
mod course;
mod csv;
mod insert_bench;
mod ledger;
mod lists;
mod options;
mod race;
mod random;
mod roster;
#[path = "../runner/mod.rs"]
mod runner;
mod runs;
mod table;
mod trace;

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
    process::ExitCode,
};

use course::Course;
use options::{Options, Task};
use runner::Outcome;

fn main() -> ExitCode {
    runner::report(|| match options::read()? {
        Task::Help => say(options::HELP),
        Task::Trace => say(&trace::text()),
        Task::InsertBench => say(&insert_bench::text()),
        Task::Race(options) => run(&options),
    })
}

fn run(options: &Options) -> Outcome<()> {
    let entrants = roster::select(options.takes_all, &options.only)?;
    // Read all input and create the folder first, so that errors are reported before a long run.
    let courses = courses(options).collect::<Outcome<Vec<_>>>()?;
    let complain = |file: &Path, error: io::Error| format!("{}: {error}", file.display());
    fs::create_dir_all(&options.out).map_err(|error| complain(&options.out, error))?;
    let mut results = Vec::with_capacity(courses.len());
    for course in &courses {
        eprintln!("{}: {} queries", course.name, course.queries.len());
        results.push(race::run(course, &entrants, options.rounds)?);
    }
    let (csv, svg) = (options.out.join("open_lists.csv"), options.out.join("open_lists.svg"));
    let written = fs::write(&csv, csv::text(&results))
        .map_err(|error| complain(&csv, error))
        .and_then(|()| chart::write(&results, &svg));
    if written.is_ok() {
        eprintln!("written: {} and {}", csv.display(), svg.display());
    }
    say(&table::text(&results))?;
    written
}

/// Prints to standard output; a closed pipe is not an error.
fn say(text: &str) -> Outcome<()> {
    match io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.to_string()),
        _ => Ok(()),
    }
}

/// Returns the generated maps in the order of the options, then the maps from files.
fn courses(options: &Options) -> impl Iterator<Item = Outcome<Course>> {
    let generated = options.sizes.iter().map(|&side| {
        let profile = course::profile_of(&options.profile)?;
        Course::generated(side, &profile)
    });
    let read = options
        .files
        .iter()
        .map(|(map, scenario)| Course::from_files(map, scenario, options.sample, &options.profile));
    generated.chain(read)
}
