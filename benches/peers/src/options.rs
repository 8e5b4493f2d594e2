//! The command line.
//!
//! Input: the arguments. Output: [`Options`], or one line that says what is wrong with them.

use std::path::{Path, PathBuf};

use lexopt::prelude::*;

use crate::board::Rule;

/// What `--help` prints.
pub const HELP: &str = "\
tilepath-peers: bevy_tilepath and its rivals on the same queries

  --data DIR             families of maps (default: shared/data/movingai, where found)
  --family NAME          only this folder of DIR; may be repeated
  --map FILE --scen FILE one map instead of DIR
  --sample N             queries a map, spread over all lengths (default 100)
  --rounds R             times each query is run; its figure is the median (default 5)
  --profile plain|weighted  what terrain costs (default plain)
  --only NAME            only searchers whose name holds NAME, and the textbook; may be repeated
  --cap-ms N             a query that takes longer when it is judged is not timed again (default 2000)
";

/// Where maps are looked for without `--data`, seen from the working directory.
const USUAL_PLACES: [&str; 3] =
    ["shared/data/movingai", "../shared/data/movingai", "../../../shared/data/movingai"];

/// What the command line asks for.
pub struct Options {
    data: Option<PathBuf>,
    /// Families to run; all where empty.
    pub families: Vec<String>,
    map: Option<PathBuf>,
    scenario: Option<PathBuf>,
    /// Queries a map.
    pub sample: usize,
    /// Times each query is run.
    pub rounds: usize,
    /// What terrain costs.
    pub rule: Rule,
    /// Parts of searchers' names; all searchers where empty.
    pub only: Vec<String>,
    cap_ms: u32,
}

impl Options {
    /// Reads the arguments of this process; `None` where help is asked for.
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

    /// The one map to run, with its scenario.
    pub fn single(&self) -> Option<(&Path, &Path)> {
        self.map.as_deref().zip(self.scenario.as_deref())
    }

    /// The folder that holds the families.
    pub fn data(&self) -> Result<PathBuf, String> {
        let usual = || USUAL_PLACES.iter().map(PathBuf::from).find(|place| place.is_dir());
        self.data
            .clone()
            .or_else(usual)
            .ok_or_else(|| format!("no maps at {}: give --data DIR", USUAL_PLACES.join(", ")))
    }

    /// Time after which a query is not run again, in microseconds.
    pub fn cap_micros(&self) -> f64 {
        f64::from(self.cap_ms) * 1e3
    }

    /// Takes the arguments in; says whether help is asked for.
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
