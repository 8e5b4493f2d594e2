//! Shared code of the windowed examples: opening a window, scripted runs, comparing screenshots.
//!
//! Input: an example's own plugins and steps. Output: an app with a window and its exit status, or
//! one line that says why no window can be opened.

#![allow(dead_code, reason = "each example uses a part of it")]

pub mod pictures;
pub mod play;
pub mod puppet;
pub mod window;

use std::process::ExitCode;

/// Name of the example.
pub const NAME: &str = env!("CARGO_CRATE_NAME");

/// Runs `main` and turns its error into a line and exit status 1.
pub fn report(main: impl FnOnce() -> Result<ExitCode, String>) -> ExitCode {
    main().unwrap_or_else(|error| {
        eprintln!("{NAME}: {error}");
        ExitCode::FAILURE
    })
}
