//! A small real-time strategy game on `bevy_tilepath`.
//!
//! `cargo run --release --example rts` opens a window (F1 there shows the keys); without a
//! display or a graphics adapter, or with `--headless`, a scripted match runs instead and prints
//! one JSON object per line. `--help` lists the options.
//!
//! Start reading at [`game`] (the plugins and resources), [`orders`] (groups and order queues),
//! [`reports`] (their results), [`walls`] (map edits) and [`map`] (the tilemap that feeds the
//! grid). The other modules are presentation and controls.

mod buildings;
mod camera;
mod capture;
mod cli;
mod compare;
mod controls;
mod disband;
mod display;
mod game;
mod groups;
mod headless;
mod help;
#[path = "../runner/hexagons.rs"]
mod hexagons;
mod hud;
mod kinds;
mod labels;
mod map;
mod markers;
mod minimap;
mod offscreen;
mod orders;
mod overlay;
mod placement;
mod player;
mod pointer;
mod previews;
mod reports;
#[path = "../screen/mod.rs"]
mod screen;
mod script;
mod select;
mod smoke;
mod smoke_plan;
mod sprites;
mod squad_orders;
mod task;
#[path = "../runner/text.rs"]
mod text;
mod tiles;
mod units;
mod walls;

use std::process::ExitCode;

use cli::Options;
use map::GameMap;

fn main() -> ExitCode {
    screen::report(run)
}

fn run() -> Result<ExitCode, String> {
    let options = Options::from_args()?;
    if options.help {
        println!("{}", cli::USAGE);
        return Ok(ExitCode::SUCCESS);
    }
    let map = GameMap::load(&options.map)?;
    display::start_log();
    if !options.headless && options.screenshot.is_none() {
        match display::open(&options, map.clone()) {
            Ok(app) => return Ok(screen::window::run(app)),
            Err(reason) if options.smoke.is_some() => return Err(reason),
            Err(reason) => eprintln!("rts: {reason}: running a scripted match instead"),
        }
    }
    headless::run(&options, map)?;
    Ok(ExitCode::SUCCESS)
}
