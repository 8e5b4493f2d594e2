//! The open list of an A* search, step by step: as a tree, and as the array beneath it.
//!
//! `cargo run --example heap` opens a window; `--trace` tells the same story as text; `--help`
//! lists the options. The heap that is shown is the library's own `BinaryHeap`, listened to while
//! a real search runs on it.
//!
//! Start reading at [`story`]: a search becomes a list of moments ([`recorder`], [`replay`],
//! [`teller`], [`caption`]); everything else shows moment number i ([`map_view`], [`slot_view`],
//! [`panel`]) or moves on to another one ([`playback`], [`controls`], [`brush`]).

mod array_view;
mod board;
mod brush;
mod buttons;
mod caption;
mod check;
mod cli;
mod controls;
mod display;
mod event;
mod inspector;
mod legend;
mod level;
mod line;
mod map_view;
mod moment;
mod palette;
mod panel;
mod pin_view;
mod playback;
mod pointer;
mod recorder;
mod replay;
mod scale;
#[path = "../screen/mod.rs"]
mod screen;
mod slot_view;
mod smoke;
mod stage;
mod story;
mod teller;
mod trace;
mod tree_view;
mod widgets;

use std::{
    io::{ErrorKind, Write},
    process::ExitCode,
};

use cli::Task;
use level::Level;
use story::Story;

fn main() -> ExitCode {
    screen::report(run)
}

fn run() -> Result<ExitCode, String> {
    let level = Level::read(level::FIRST)?;
    let app = match Task::read(lexopt::Parser::from_env())? {
        Task::Help => {
            println!("{}", cli::USAGE);
            return Ok(ExitCode::SUCCESS);
        }
        Task::Trace => return print_trace(&level),
        Task::Smoke(folder) => display::open(level, Some(&folder))?,
        Task::Window => match display::open(level.clone(), None) {
            Ok(app) => app,
            Err(reason) => {
                eprintln!("heap: {reason}: telling the story as text instead");
                return print_trace(&level);
            }
        },
    };
    Ok(screen::window::run(app))
}

fn print_trace(level: &Level) -> Result<ExitCode, String> {
    let grid = level.grid().map_err(|error| error.to_string())?;
    let text = trace::trace(&Story::tell(&grid, level.start, level.goal));
    match std::io::stdout().write_all(text.as_bytes()) {
        // Whoever reads has seen enough.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.to_string()),
        _ => Ok(ExitCode::SUCCESS),
    }
}
