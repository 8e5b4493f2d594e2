//! The command line.
//!
//! Input: the arguments. Output: [`Options`], or one line that names the error.

use std::path::{Path, PathBuf};

use lexopt::prelude::*;

use crate::board::Rule;

/// The `--help` text.
pub const HELP: &str = "\
tilepath-peers: bevy_tilepath and other crates on the same queries

  --data DIR             families of maps (default: shared/data/movingai, where found)
  --family NAME          only this folder of DIR; may be repeated
  --map FILE --scen FILE one map instead of DIR
  --sample N             queries per map, spread over all lengths (default 100)
  --rounds R             runs of each query; its time is the median (default 5)
  --profile plain|weighted  costs of terrain (default plain)
  --only NAME            only searchers whose name contains NAME, and the textbook; may be repeated
  --cap-ms N             a query that takes longer in the checking pass is not run again (default 2000)
";

/// Folders searched for maps without `--data`, relative to the working directory.
const USUAL_PLACES: [&str; 3] =
    ["shared/data/movingai", "../shared/data/movingai", "../../../shared/data/movingai"];

/// The options of the command line.
pub struct Options {
    data: Option<PathBuf>,
    /// Families to run; all if empty.
    pub families: Vec<String>,
    map: Option<PathBuf>,
    scenario: Option<PathBuf>,
    /// Queries per map.
    pub sample: usize,
    /// Runs of each query.
    pub rounds: usize,
    /// Costs of terrain.
    pub rule: Rule,
    /// Parts of searchers' names; all searchers if empty.
    pub only: Vec<String>,
    cap_ms: u32,
}

impl Options {
    /// Reads the arguments of this process; `None` for `--help`.
    pub fn from_args() -> Result<Option<Self>, String> {
        let mut options = Self {
            data: None,
            families: Vec::new(),
            map: None,
            scenario: None,
            sample: 100,
            rounds: 5,
            rule: Rule::Plain,
            only: Vec::new(),
            cap_ms: 2000,
        };
        let wants_help = options.read(lexopt::Parser::from_env()).map_err(|e| e.to_string())?;
        options.check()?;
        Ok((!wants_help).then_some(options))
    }

    /// Returns the single map to run, with its scenario.
    pub fn single(&self) -> Option<(&Path, &Path)> {
        self.map.as_deref().zip(self.scenario.as_deref())
    }

    /// Returns the folder of the families.
    pub fn data(&self) -> Result<PathBuf, String> {
        let usual = || USUAL_PLACES.iter().map(PathBuf::from).find(|place| place.is_dir());
        self.data
            .clone()
            .or_else(usual)
            .ok_or_else(|| format!("no maps at {}: give --data DIR", USUAL_PLACES.join(", ")))
    }

    /// Returns the time after which a query is not run again, in microseconds.
    pub fn cap_micros(&self) -> f64 {
        f64::from(self.cap_ms) * 1e3
    }

    /// Parses the arguments; returns whether help is requested.
    fn read(&mut self, mut parser: lexopt::Parser) -> Result<bool, lexopt::Error> {
        while let Some(argument) = parser.next()? {
            match argument {
                Long("help") | Short('h') => return Ok(true),
                Long("data") => self.data = Some(parser.value()?.into()),
                Long("family") => self.families.push(parser.value()?.string()?),
                Long("map") => self.map = Some(parser.value()?.into()),
                Long("scen") => self.scenario = Some(parser.value()?.into()),
                Long("sample") => self.sample = parser.value()?.parse()?,
                Long("rounds") => self.rounds = parser.value()?.parse()?,
                Long("profile") => self.rule = parser.value()?.parse_with(Rule::from_name)?,
                Long("only") => self.only.push(parser.value()?.string()?),
                Long("cap-ms") => self.cap_ms = parser.value()?.parse()?,
                _ => return Err(argument.unexpected()),
            }
        }
        Ok(false)
    }

    fn check(&self) -> Result<(), String> {
        if self.map.is_some() != self.scenario.is_some() {
            return Err("--map and --scen go together".into());
        }
        if self.sample == 0 || self.rounds == 0 {
            return Err("--sample and --rounds must be at least 1".into());
        }
        Ok(())
    }
}
