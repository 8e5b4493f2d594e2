//! The command line.
//!
//! Input: the program's arguments. Output: [`Options`], or one line that names the wrong argument.

use std::{fmt::Display, path::PathBuf, str::FromStr};

use bevy::prelude::Resource;
use lexopt::prelude::*;

/// The `--help` text.
pub const USAGE: &str = "\
usage: rts [options]
  --map FILE         a Moving AI map, or one of: islands, city, wilderness, hexes (default islands)
  --units N          critters at the start (default 300)
  --seed N           seed of the scripted match (default 1)
  --threads N        threads (default: all)
  --landmarks MIB    memory for landmarks, 0 for none (default 64)
  --headless         run a scripted match without a window, one JSON object per line
  --ticks T          length of the scripted match, 64 ticks a second (default 3000)
  --screenshot PNG   run the scripted match and save a screenshot of its final state
  --smoke DIR        scripted run in a window; screenshots before and after are compared";

/// Upper limit of `--units`.
const MOST_UNITS: u32 = 100_000;

/// The options of the command line.
#[derive(Resource, Clone, Debug)]
pub struct Options {
    pub map: PathBuf,
    pub units: u32,
    pub seed: u64,
    pub threads: Option<usize>,
    pub landmarks: Option<usize>,
    pub headless: bool,
    pub ticks: u64,
    pub screenshot: Option<PathBuf>,
    pub smoke: Option<PathBuf>,
    pub help: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            map: PathBuf::from("islands"),
            units: 300,
            seed: 1,
            threads: None,
            landmarks: None,
            headless: false,
            ticks: 3_000,
            screenshot: None,
            smoke: None,
            help: false,
        }
    }
}

impl Options {
    /// Reads the program's arguments.
    pub fn from_args() -> Result<Self, String> {
        let mut options = Self::default();
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next().map_err(|error| error.to_string())? {
            match argument {
                Long("map") => options.map = value(&mut parser, "--map")?,
                Long("units") => options.units = number(&mut parser, "--units", MOST_UNITS)?,
                Long("seed") => options.seed = number(&mut parser, "--seed", u64::MAX)?,
                Long("threads") => {
                    options.threads = Some(number(&mut parser, "--threads", 1_024)?.max(1));
                }
                Long("landmarks") => {
                    options.landmarks = Some(number(&mut parser, "--landmarks", 1 << 20)?);
                }
                Long("headless") => options.headless = true,
                Long("ticks") => {
                    options.ticks = number(&mut parser, "--ticks", u64::MAX)?;
                    if options.ticks == 0 {
                        return Err("--ticks 0: expected at least 1".into());
                    }
                }
                Long("screenshot") => {
                    options.screenshot = Some(value(&mut parser, "--screenshot")?);
                }
                Long("smoke") => options.smoke = Some(value(&mut parser, "--smoke")?),
                Long("help") | Short('h') => options.help = true,
                other => return Err(other.unexpected().to_string()),
            }
        }
        Ok(options)
    }
}

fn value(parser: &mut lexopt::Parser, name: &str) -> Result<PathBuf, String> {
    parser.value().map(PathBuf::from).map_err(|_| format!("{name} needs a value"))
}

/// Reads a whole number of at most `most`.
fn number<T>(parser: &mut lexopt::Parser, name: &str, most: T) -> Result<T, String>
where
    T: FromStr + PartialOrd + Display + Copy,
{
    let text = value(parser, name)?.to_string_lossy().into_owned();
    match text.parse::<T>() {
        Ok(number) if number <= most => Ok(number),
        _ => Err(format!("{name} {text:?}: expected a whole number from 0 to {most}")),
    }
}
