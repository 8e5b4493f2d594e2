//! The open list of an A* search, step by step: as a tree, and as the array beneath it.
//!
//! `cargo run --example heap` opens a window; `--trace` prints the same steps as text; `--help`
//! lists the options. The heap is the library's own `BinaryHeap`, observed while a real search runs
//! on it.
//!
//! Start reading at [`timeline`]: a search becomes a list of moments ([`recorder`], [`replay`],
//! [`moment_builder`], [`caption`]). The other modules show moment number i ([`map_view`],
//! [`slot_view`], [`panel`]) or change i ([`playback`], [`controls`], [`brush`]).

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
mod layout;
mod legend;
mod level;
mod line;
mod map_view;
mod moment;
mod moment_builder;
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
mod timeline;
mod trace;
mod tree_view;
mod widgets;

use std::{
    io::{ErrorKind, Write},
    process::ExitCode,
};

use cli::Task;
use level::Level;
use timeline::Timeline;

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
                eprintln!("heap: {reason}: printing the steps as text instead");
                return print_trace(&level);
            }
        },
    };
    Ok(screen::window::run(app))
}

fn print_trace(level: &Level) -> Result<ExitCode, String> {
    let grid = level.grid().map_err(|error| error.to_string())?;
    let text = trace::trace(&Timeline::record(&grid, level.start, level.goal));
    match std::io::stdout().write_all(text.as_bytes()) {
        // The reader has closed the pipe.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.to_string()),
        _ => Ok(ExitCode::SUCCESS),
    }
}
