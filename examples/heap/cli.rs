//! The command line.
//!
//! Input: the program's arguments. Output: a [`Task`], or one line that names the wrong argument.

use std::path::PathBuf;

use lexopt::prelude::*;

/// The `--help` text.
pub const USAGE: &str = "\
usage: heap [option]
  (none)        open a window that shows the open list of a search, as a tree and as an array
  --trace       print the same steps as text, one line per step of the heap
  --smoke DIR   scripted run in a window: save screenshots and check them
Without a display or a graphics adapter the text is printed instead.";

/// The task of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Task {
    #[default]
    Window,
    Trace,
    Smoke(PathBuf),
    Help,
}

impl Task {
    /// Reads the program's arguments; the last task counts.
    pub fn read(mut parser: lexopt::Parser) -> Result<Self, String> {
        let mut task = Self::default();
        while let Some(argument) = parser.next().map_err(|error| error.to_string())? {
            task = match argument {
                Long("help") | Short('h') => return Ok(Self::Help),
                Long("trace") => Self::Trace,
                Long("smoke") => {
                    let folder = parser.value().map_err(|_| "--smoke needs a folder")?;
                    Self::Smoke(folder.into())
                }
                other => return Err(other.unexpected().to_string()),
            };
        }
        Ok(task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Task, String> {
        Task::read(lexopt::Parser::from_args(arguments))
    }

    #[test]
    fn arguments_are_read_or_named() {
        assert_eq!(read(&[]), Ok(Task::Window));
        assert_eq!(read(&["--trace"]), Ok(Task::Trace));
        assert_eq!(read(&["--smoke", "out"]), Ok(Task::Smoke("out".into())));
        assert_eq!(read(&["--trace", "-h"]), Ok(Task::Help));
        assert!(read(&["--smoke"]).is_err_and(|error| error.contains("--smoke")));
        assert!(read(&["--trance"]).is_err_and(|error| error.contains("--trance")));
        assert!(read(&["file"]).is_err_and(|error| error.contains("file")));
    }
}
