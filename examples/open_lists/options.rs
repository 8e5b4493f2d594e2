//! The command line.
//!
//! Input: the program's arguments. Output: a [`Task`], or one line that names the wrong argument.

use std::path::PathBuf;

use lexopt::prelude::{Long, Short};

use crate::runner::{self, Outcome, word};

/// The `--help` text.
pub const HELP: &str = "open_lists [--sizes N,N,..|none] [--map FILE --scen FILE].. [--data FOLDER]
  [--sample N] [--rounds R] [--profile plain|weighted|fine] [--every-node] [--only PART].. [--out FOLDER]
  | --insert-bench | --trace

Runs the same A* with twelve open lists, seven of them from the articles, checks that all find
the same costs, and prints time and work of each. Writes open_lists.csv and open_lists.svg.
--sizes       sides of the generated maps (default 32,64,128,256,512,1024)
--map --scen  a Moving AI map and its scenario, any number of times
--data        every map below a folder that has a scenario next to it
--sample      queries per map from files (default 20)
--rounds      runs of each query, the median counts (default 3); a list that takes more than a
              second for a map is timed once
--profile     fine has costs without a common divisor (default plain)
--every-node  searches send every node through the list, as the articles do; by default a search
              bypasses the list for a successor that must be expanded next
--only        compare only the unsorted list, the default and lists whose names contain PART; may be
              repeated
--out         folder of the written files (default: the current folder)
--insert-bench   insert 4,000 and 10,000 values into a heap and into sorted arrays
--trace          the article's example of a heap, step by step
";

/// The task of the program.
pub enum Task {
    /// Print [`HELP`].
    Help,
    /// Print the article's example.
    Trace,
    /// Compare insertions.
    InsertBench,
    /// Compare the lists.
    Race(Options),
}

/// The options of the comparison.
pub struct Options {
    /// Sides of the generated maps.
    pub sizes: Vec<u32>,
    /// Maps and scenarios.
    pub files: Vec<(PathBuf, PathBuf)>,
    /// Queries per map from files.
    pub sample: usize,
    /// Timed runs of each query.
    pub rounds: usize,
    /// Name of the movement profile.
    pub profile: String,
    /// Whether searches send every node through the list.
    pub takes_all: bool,
    /// Parts of names of the lists to compare; empty for all.
    pub only: Vec<String>,
    /// Folder of the written files.
    pub out: PathBuf,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sizes: vec![32, 64, 128, 256, 512, 1_024],
            files: Vec::new(),
            sample: 20,
            rounds: 3,
            profile: "plain".into(),
            takes_all: false,
            only: Vec::new(),
            out: PathBuf::from("."),
        }
    }
}

/// Reads the command line.
///
/// # Errors
/// The argument that is wrong.
pub fn read() -> Outcome<Task> {
    let mut parser = lexopt::Parser::from_env();
    let (mut maps, mut scenarios): (Vec<PathBuf>, Vec<PathBuf>) = Default::default();
    let mut options = Options::default();
    while let Some(argument) = parser.next().map_err(|error| error.to_string())? {
        match argument {
            Long("help") | Short('h') => return Ok(Task::Help),
            Long("trace") => return Ok(Task::Trace),
            Long("insert-bench") => return Ok(Task::InsertBench),
            Long("sizes") => options.sizes = sizes(&word(&mut parser)?)?,
            Long("map") => maps.push(word(&mut parser)?.into()),
            Long("scen") => scenarios.push(word(&mut parser)?.into()),
            Long("data") => options.files.extend(data(&word(&mut parser)?.into())?),
            Long("sample") => options.sample = count("sample", &mut parser)?,
            Long("rounds") => options.rounds = count("rounds", &mut parser)?,
            Long("profile") => options.profile = word(&mut parser)?,
            Long("every-node") => options.takes_all = true,
            Long("only") => options.only.push(word(&mut parser)?),
            Long("out") => options.out = word(&mut parser)?.into(),
            other => return Err(other.unexpected().to_string()),
        }
    }
    if maps.len() != scenarios.len() {
        return Err(format!("{} --map, but {} --scen", maps.len(), scenarios.len()));
    }
    options.files.extend(maps.into_iter().zip(scenarios));
    if options.sizes.is_empty() && options.files.is_empty() {
        return Err("--sizes none: needs --map or --data".into());
    }
    Ok(Task::Race(options))
}

fn count(name: &str, parser: &mut lexopt::Parser) -> Outcome<usize> {
    match runner::number(name, parser)? {
        count @ 1..=100_000 => Ok(count),
        count => Err(format!("--{name} {count}: not from 1 to 100000")),
    }
}

fn sizes(text: &str) -> Outcome<Vec<u32>> {
    if text == "none" {
        return Ok(Vec::new());
    }
    let side = |word: &str| match word.parse() {
        Ok(side @ 16..=4_096) => Ok(side),
        _ => Err(format!("--sizes {word}: not a side from 16 to 4096")),
    };
    text.split(',').map(side).collect()
}

/// Returns the maps of a folder; fails if there are none.
fn data(folder: &PathBuf) -> Outcome<Vec<(PathBuf, PathBuf)>> {
    let found = below(folder)?;
    if found.is_empty() {
        return Err(format!("--data {}: no map with a scenario", folder.display()));
    }
    Ok(found)
}

/// Returns the maps below a folder that have a scenario next to them, sorted by name.
fn below(folder: &PathBuf) -> Outcome<Vec<(PathBuf, PathBuf)>> {
    let complain = |error: std::io::Error| format!("--data {}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(complain)? {
        let path = entry.map_err(complain)?.path();
        let scenario = PathBuf::from(format!("{}.scen", path.display()));
        if path.is_dir() {
            found.extend(below(&path)?);
        } else if path.extension().is_some_and(|ending| ending == "map") && scenario.is_file() {
            found.push((path, scenario));
        }
    }
    found.sort();
    Ok(found)
}
