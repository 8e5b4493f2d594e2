//! The command line.
//!
//! Input: the program's arguments. Output: [`Options`], or one line that names the wrong argument.

use std::path::PathBuf;

use lexopt::prelude::*;

use crate::{captions, scenes};

/// The `--help` text.
pub const USAGE: &str = "\
usage: crowds [options]
  --scene NAME   the first scene (default doorway-1; an unknown name lists all)
  --tour         continue with the next scene at the end of each
  --headless     run the scene to its end without a window, print one line of JSON
  --smoke DIR    scripted run in a window: save screenshots and check them
Without a display or a graphics adapter the scene runs without a window.";

/// The default scene.
const FIRST: &str = "doorway-1";

/// The options of the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Number of the scene.
    pub scene: usize,
    pub is_tour: bool,
    pub is_headless: bool,
    pub smoke: Option<PathBuf>,
}

impl Options {
    /// Reads the program's arguments; `None` for `--help`.
    pub fn read(mut parser: lexopt::Parser) -> Result<Option<Self>, String> {
        let mut options = Self { scene: number(FIRST)?, ..Self::default() };
        while let Some(argument) = parser.next().map_err(|error| error.to_string())? {
            match argument {
                Long("help") | Short('h') => return Ok(None),
                Long("scene") => {
                    let name = parser.value().map_err(|_| "--scene needs a name")?;
                    options.scene = number(&name.to_string_lossy())?;
                }
                Long("tour") => options.is_tour = true,
                Long("headless") => options.is_headless = true,
                Long("smoke") => {
                    let folder = parser.value().map_err(|_| "--smoke needs a folder")?;
                    options.smoke = Some(folder.into());
                }
                other => return Err(other.unexpected().to_string()),
            }
        }
        Ok(Some(options))
    }
}

/// Returns the number of a scene, or an error that lists all names.
fn number(name: &str) -> Result<usize, String> {
    captions::number(name).ok_or_else(|| {
        let names: Vec<_> = scenes::names().collect();
        format!("--scene {name}: not one of {}", names.join(", "))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed test should panic at the failing line")]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Option<Options>, String> {
        Options::read(lexopt::Parser::from_args(arguments))
    }

    #[test]
    fn arguments_are_read_or_named() {
        let first = read(&[]).unwrap().unwrap();
        assert_eq!(Some(first.scene), captions::number(FIRST));
        let ring = read(&["--scene", "ring", "--tour"]).unwrap().unwrap();
        assert!(ring.is_tour && Some(ring.scene) == captions::number("ring"));
        assert_eq!(read(&["--help"]), Ok(None));
        let smoke = read(&["--smoke", "out"]).unwrap().unwrap().smoke;
        assert_eq!(smoke, Some(PathBuf::from("out")));
        assert!(read(&["--smoke"]).is_err_and(|error| error.contains("--smoke")));
        assert!(read(&["--scene", "list"]).is_err_and(|error| error.contains("dead-end")));
        assert!(read(&["--turn"]).is_err_and(|error| error.contains("turn")));
    }
}
