//! Crowds in a window: critters that never overlap, in thirteen scenes.
//!
//! Input: keys, or the options that `--help` lists. Output: `cargo run --release --example crowds`
//! opens a window; without a display or a graphics adapter, or with `--headless`, the scene runs to
//! its end and prints one line of JSON. The scenes are those of the `crowd` runner, built here as
//! in a game: from entities with `Critter`, `PathRequest` and `Group`.
//!
//! Start reading at [`game`] (spawns a scene's entities) and [`figures`] (measures them). [`units`],
//! [`map_view`] and [`overlay`] draw the map, [`panel`] and [`legend`] the text.

mod captions;
mod chips;
mod cli;
mod clock;
mod controls;
mod disc;
mod display;
mod figures;
mod game;
mod headless;
mod legend;
mod map_view;
mod overlay;
mod palette;
mod panel;
#[path = "../crowd/scenes.rs"]
mod scenes;
#[path = "../screen/mod.rs"]
mod screen;
mod smoke;
mod tour;
mod units;

use std::process::ExitCode;

use cli::Options;

fn main() -> ExitCode {
    screen::report(run)
}

fn run() -> Result<ExitCode, String> {
    let Some(options) = Options::read(lexopt::Parser::from_env())? else {
        println!("{}", cli::USAGE);
        return Ok(ExitCode::SUCCESS);
    };
    if !options.is_headless {
        match display::open(&options) {
            Ok(app) => return Ok(screen::window::run(app)),
            Err(reason) if options.smoke.is_some() => return Err(reason),
            Err(reason) => eprintln!("crowds: {reason}: running the scene without a window"),
        }
    }
    println!("{}", headless::run(options.scene));
    Ok(ExitCode::SUCCESS)
}
