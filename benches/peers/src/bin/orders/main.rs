//! Times of a game's orders: nearest of many goals, one goal for many units, groups, large units, flow
//! fields, floods.
//!
//! Input: `--data DIR`, `--rounds R` (times are medians over that many), `--sample N` (starts per map
//! in the first section), `--profile`, and `--only NAME` for one section. Output: a table or two for
//! each section, in one run; compared methods alternate. Every answer is checked: legal steps, and the
//! sum of their costs. Optimality is checked for a sample in groups and floods, and for all answers
//! elsewhere. Exit status 1 on bad input and wrong answers; a missed target is only reported.

use std::process::ExitCode;

#[allow(dead_code, reason = "the race uses the rest")]
#[path = "../../board.rs"]
mod board;
mod flood;
mod flow;
mod group;
mod nearest;
#[allow(dead_code, reason = "the race uses the rest")]
#[path = "../../options.rs"]
mod options;
mod shared;
mod sizes;
mod tools;

use options::Options;

const HELP: &str = "\
orders: what the orders of a game cost

  --data DIR             families of maps (default: shared/data/movingai, where found)
  --only SECTION         nearest, shared, group, sizes, flow or flood; may be repeated
  --sample N             starts a map in the section nearest (default 100)
  --rounds R             times everything is run; figures are medians (default 5)
  --profile plain|weighted  what terrain costs on maps from DIR (default plain)
";

/// A part of the run.
struct Section {
    name: &'static str,
    title: &'static str,
    run: fn(&Options) -> Result<(), String>,
}

const SECTIONS: [Section; 6] = [
    Section { name: "nearest", title: "Nearest of 100 goals", run: nearest::run },
    Section { name: "shared", title: "One goal for 1,000 units", run: shared::run },
    Section { name: "group", title: "Groups to one point", run: group::run },
    Section { name: "sizes", title: "Large units", run: sizes::run },
    Section { name: "flow", title: "Whole fields and their repair", run: flow::run },
    Section { name: "flood", title: "100,000 requests in a tick", run: flood::run },
];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("orders: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let Some(options) = Options::from_args()? else {
        print!("{HELP}");
        return Ok(());
    };
    if let Some(unknown) =
        options.only.iter().find(|only| !SECTIONS.iter().any(|s| s.name == **only))
    {
        return Err(format!("there is no section {unknown}"));
    }
    for section in &SECTIONS {
        if options.only.is_empty() || options.only.iter().any(|only| only == section.name) {
            println!("## {}\n", section.title);
            (section.run)(&options).map_err(|error| format!("{}: {error}", section.name))?;
            println!();
        }
    }
    Ok(())
}
