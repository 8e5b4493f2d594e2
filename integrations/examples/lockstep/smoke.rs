//! Plays the example by itself, with a bot that joins from another process.
//!
//! Input: a folder and the host's port. Output: pictures in the folder and one JSON line on stdout, or what went wrong on stderr.

use std::{
    path::Path,
    process::{Child, Command},
};

use bevy::prelude::*;
use bevy_tilepath::prelude::*;
use tilepath_integrations::lockstep::Lockstep;

use crate::{
    SHIFT, SIZE, frame,
    game::Skirmish,
    screen::{play, play::Step, puppet},
};

/// A step of this example's own.
#[derive(Clone, Copy, Debug)]
enum Own {
    Click(Cell, MouseButton),
    /// A bot joins.
    Join,
    /// Wait until so many checksums were compared; fail if one differs.
    Compare(u64),
}

const STEPS: &[Step<Own>] = &[
    Step::Wait(1.0),
    Step::Own(Own::Click(Cell::new(70, 70), MouseButton::Left)),
    Step::Wait(2.0),
    Step::Shoot("alone"),
    Step::Own(Own::Join),
    Step::Own(Own::Compare(4)),
    Step::Own(Own::Click(Cell::new(20, 48), MouseButton::Left)),
    Step::Own(Own::Click(Cell::new(46, 48), MouseButton::Right)),
    Step::Own(Own::Compare(12)),
    Step::Shoot("together"),
];

/// The process of the bot, which ends with this one.
#[derive(Resource)]
struct BotProcess(Child);

impl Drop for BotProcess {
    fn drop(&mut self) {
        let _is_killed = self.0.kill();
    }
}

#[derive(Resource)]
struct Port(u16);

/// Makes the example play by itself.
pub fn add_to(app: &mut App, folder: &Path, port: u16) -> Result<(), String> {
    app.insert_resource(Port(port));
    play::add_to(app, folder, STEPS, act)
}

/// Says whether the step is done.
fn act(world: &mut World, step: Own) -> Result<bool, String> {
    match step {
        Own::Click(cell, button) => {
            let place = frame().cell_center(cell) - Vec2::new(SHIFT, 0.0);
            puppet::click(world, puppet::pixel(place, SIZE), button).map(|()| true)
        }
        Own::Join => {
            let port = world.resource::<Port>().0.to_string();
            let program = std::env::current_exe().map_err(|error| error.to_string())?;
            let bot = Command::new(program).args(["--join", &port, "--bot"]).spawn();
            world.insert_resource(BotProcess(bot.map_err(|error| error.to_string())?));
            Ok(true)
        }
        Own::Compare(wanted) => {
            let (differences, compared) = world.resource::<Lockstep<Skirmish>>().differences();
            if let [first, ..] = differences {
                return Err(format!("{first:?}"));
            }
            if compared >= wanted {
                println!(r#"{{"smoke":"ok","compared":{compared}}}"#);
            }
            Ok(compared >= wanted)
        }
    }
}
