//! What the windowed examples share: opening a window, playing by itself, comparing pictures.
//!
//! Input: an example's own plugins and steps. Output: an app with a window and the status to exit
//! with, or one line that says why there is none.

#![allow(dead_code, reason = "each example uses its own part")]

pub mod pictures;
pub mod play;
pub mod puppet;
pub mod window;

use std::process::ExitCode;

/// What the example is called.
pub const NAME: &str = env!("CARGO_CRATE_NAME");

/// Runs `main` and turns its error into a line and exit status 1.
pub fn report(main: impl FnOnce() -> Result<ExitCode, String>) -> ExitCode {
    main().unwrap_or_else(|error| {
        eprintln!("{NAME}: {error}");
        ExitCode::FAILURE
    })
}
