//! Four neighbors: jump point search against this crate's own A*, on every map.
//!
//! Input: the options of `tilepath-peers` (`--data`, `--family`, `--sample`, `--rounds`, `--profile`).
//! Output: by family and for all maps, the speed-up of jump point search (geometric mean over maps of
//! the ratio of summed times; of rounds, the median) and the expansions of each. Costs are compared.
//! Exit status 1 on bad input and if a cost differs.

use std::{collections::BTreeMap, process::ExitCode, time::Instant};

use bevy_tilepath::{
    nav::{node_pool::NodePool, search::Search},
    prelude::*,
};

#[allow(dead_code, reason = "the race uses the rest")]
#[path = "../board.rs"]
mod board;
#[allow(dead_code, reason = "the race uses the rest")]
#[path = "../course.rs"]
mod course;
#[allow(dead_code, reason = "the race uses the rest")]
#[path = "../options.rs"]
mod options;

use course::Course;
use options::Options;

const BOTH: [Algorithm; 2] = [Algorithm::AStar, Algorithm::JumpPoint];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("four: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let Some(options) = Options::from_args()? else {
        print!("{}", options::HELP);
        return Ok(());
    };
    let mut families: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for files in course::list(&options)? {
        let course = files.load(options.rule, options.sample)?;
        let ratio = measure(&course, options.rounds)
            .map_err(|error| format!("{}/{}: {error}", course.family, course.map))?;
        families.entry(course.family.clone()).or_default().push(ratio);
        families.entry("~ all".into()).or_default().push(ratio);
    }
    println!("| maps | number | jump points against A* |\n|---|---|---|");
    for (family, ratios) in families {
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        println!("| {family} | {} | {mean:.2} |", ratios.len());
    }
    Ok(())
}

/// The speed-up of jump point search.
fn measure(course: &Course, rounds: usize) -> Result<f64, String> {
    let profile = course.board.grid.profiles()[0].clone().neighbors(Neighborhood::Four);
    let grid = course.board.grid.clone().with_profiles(vec![profile]);
    grid.build_layers();
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    let mut times = [Vec::new(), Vec::new()];
    let (mut costs, mut expansions) = ([Vec::new(), Vec::new()], [0, 0]);
    for _ in 0..rounds {
        for (lane, algorithm) in BOTH.into_iter().enumerate() {
            (costs[lane], expansions[lane]) = (Vec::new(), 0);
            let begin = Instant::now();
            for row in &course.rows {
                let query = PathQuery::new(row.start, row.goal).algorithm(algorithm);
                let started = search.start(&grid, &pool, query);
                if started.is_ok() {
                    search.step(&grid, &pool, u32::MAX);
                }
                expansions[lane] += search.counters().expansions;
                let found = started.and_then(|()| search.finish(&grid, &pool));
                costs[lane].push(found.map(|path| path.cost()));
            }
            times[lane].push(begin.elapsed().as_secs_f64());
        }
        if costs[0] != costs[1] {
            return Err("the costs differ".into());
        }
    }
    let median = |list: &mut Vec<f64>| {
        list.sort_by(f64::total_cmp);
        list[list.len() / 2]
    };
    let [astar, jumps] = &mut times;
    let ratio = median(astar) / median(jumps);
    eprintln!(
        "{}/{}: {ratio:.2} ({} and {} expansions)",
        course.family, course.map, expansions[0], expansions[1]
    );
    Ok(ratio)
}
