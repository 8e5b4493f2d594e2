//! The open-list laboratory: one A*, twelve open lists.
//!
//! `cargo run --release --example open_lists` races them on generated maps; `--map` and `--scen` or
//! `--data` add real ones, `--insert-bench` and `--trace` repeat what the articles show, `--help`
//! lists everything. What came out: `docs/open-lists.md`.
//!
//! Start reading at [`lists`] (the structures), then [`race`] (how they are compared).

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
mod table;
mod trace;

use std::process::ExitCode;

use course::Course;
use options::{Options, Task};
use runner::Outcome;

fn main() -> ExitCode {
    runner::report(|| {
        match options::read()? {
            Task::Help => println!("{}", options::HELP),
            Task::Trace => trace::print(),
            Task::InsertBench => insert_bench::run(),
            Task::Race(options) => run(&options)?,
        }
        Ok(())
    })
}

fn run(options: &Options) -> Outcome<()> {
    let entrants = roster::select(options.takes_all, &options.only)?;
    // All are read first: a file that is missing should not be found out after a minute.
    let courses = courses(options).collect::<Outcome<Vec<_>>>()?;
    let mut results = Vec::with_capacity(courses.len());
    for course in &courses {
        eprintln!("{}: {} queries", course.name, course.queries.len());
        results.push(race::run(course, &entrants, options.rounds)?);
    }
    let csv = options.out.join("open_lists.csv");
    let write = |text| std::fs::write(&csv, text);
    std::fs::create_dir_all(&options.out)
        .and_then(|()| write(csv::text(&results)))
        .map_err(|error| format!("{}: {error}", csv.display()))?;
    let svg = options.out.join("open_lists.svg");
    chart::write(&results, &svg)?;
    eprintln!("written: {} and {}", csv.display(), svg.display());
    table::print(&results);
    Ok(())
}

/// The generated maps in the order asked for, then those from files.
fn courses(options: &Options) -> impl Iterator<Item = Outcome<Course>> {
    let generated = options.sizes.iter().map(|&side| {
        let profile = runner::profile(&options.profile)?;
        Course::generated(side, &profile)
    });
    let read = options
        .files
        .iter()
        .map(|(map, scenario)| Course::from_files(map, scenario, options.sample, &options.profile));
    generated.chain(read)
}
