//! `tilepath-peers`: this crate and other crates from the registry on the same queries.
//!
//! Input: Moving AI maps and scenarios. Output: a Markdown table per family, for the games and for all
//! maps on standard output; progress on standard error. All searchers run in one process, one query at
//! a time, alternating query by query; each query's time is the median of its rounds, and every path
//! is checked step by step and compared with the optimum.
//!
//! ```text
//! cargo run --release --features northstar -- --family dao --sample 100 --rounds 5
//! ```
//!
//! Data flow: `options` → `course` (map and sampled queries) → `race` (alternation, clock) over
//! `searchers` → `judge` → `table`. Exit status 1 on bad input, and if a searcher that promises
//! optimal legal paths gives another answer.

use std::{process::ExitCode, time::Instant};

mod board;
mod course;
mod judge;
mod options;
mod race;
mod searchers;
mod table;

use course::CourseFiles;
use options::Options;
use race::MapResult;
use searchers::Searcher;

/// Most wrong answers printed one by one; the rest are only counted.
const FAULTS_TOLD: usize = 20;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("tilepath-peers: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let Some(options) = Options::from_args()? else {
        print!("{}", options::HELP);
        return Ok(());
    };
    let files = course::list(&options)?;
    let mut searchers = searchers::select(options.rule, &options.only)?;
    let results = race_all(&files, &options, &mut searchers)?;
    let names: Vec<&str> = searchers.iter().map(|searcher| searcher.name()).collect();
    print!("{}", table::tables(&results, &names));
    tell_faults(&results)
}

fn race_all(
    files: &[CourseFiles],
    options: &Options,
    searchers: &mut [Box<dyn Searcher>],
) -> Result<Vec<MapResult>, String> {
    let mut results = Vec::with_capacity(files.len());
    for (number, map_files) in files.iter().enumerate() {
        let course = map_files.load(options.rule, options.sample)?;
        let clock = Instant::now();
        let result = race::run(course, searchers, options.rounds, options.cap_micros());
        eprintln!(
            "[{}/{}] {}/{}: {} queries, {:.1} s",
            number + 1,
            files.len(),
            result.family,
            result.map,
            result.lanes.first().map_or(0, |lane| lane.micros.len()),
            clock.elapsed().as_secs_f64(),
        );
        results.push(result);
    }
    Ok(results)
}

/// Fails if a searcher that promises optimal legal paths gave another answer.
fn tell_faults(results: &[MapResult]) -> Result<(), String> {
    let faults: Vec<&String> =
        results.iter().flat_map(|map| &map.lanes).flat_map(|lane| &lane.faults).collect();
    for fault in faults.iter().take(FAULTS_TOLD) {
        eprintln!("tilepath-peers: {fault}");
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(format!("{} answers of exact searchers were wrong or illegal", faults.len()))
    }
}
