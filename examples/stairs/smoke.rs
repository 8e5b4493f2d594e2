//! Plays the example with stairs by itself, with the mouse: the ants go down to the cellar and up again, while one staircase is
//! shut.
//!
//! Input: a folder. Output: pictures in it and one JSON line on stdout, or what went wrong on stderr.

use std::path::Path;

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    Ant, CELLAR, SIZE, YARD, frame,
    screen::{play, play::Step, puppet},
};

/// A step of this example's own.
#[derive(Clone, Copy, Debug)]
enum Own {
    Send(GridId, Cell),
    /// Open or shut the link with an end here.
    Toggle(GridId, Cell),
    /// Wait until all ants stand on this floor.
    Arrive(GridId),
}

const STEPS: &[Step<Own>] = &[
    Step::Wait(1.5),
    Step::Shoot("start"),
    Step::Own(Own::Send(CELLAR, Cell::new(12, 13))),
    Step::Wait(4.0),
    Step::Shoot("down"),
    Step::Own(Own::Arrive(CELLAR)),
    Step::Shoot("cellar"),
    Step::Own(Own::Toggle(YARD, Cell::new(13, 13))),
    Step::Own(Own::Send(YARD, Cell::new(9, 9))),
    Step::Wait(6.0),
    Step::Shoot("up"),
    Step::Own(Own::Arrive(YARD)),
];

/// Makes the example play by itself.
pub fn add_to(app: &mut App, folder: &Path) -> Result<(), String> {
    play::add_to(app, folder, STEPS, act)
}

/// Says whether the step is done.
fn act(world: &mut World, step: Own) -> Result<bool, String> {
    match step {
        Own::Send(floor, cell) => click(world, (floor, cell), MouseButton::Right),
        Own::Toggle(floor, cell) => click(world, (floor, cell), MouseButton::Left),
        Own::Arrive(floor) => {
            let mut ants = world.query_filtered::<(&NavAgent, &PathStatus), With<Ant>>();
            let mut arrived = 0;
            for (agent, status) in ants.iter(world) {
                match status {
                    PathStatus::Arrived(_) if agent.grid == floor => arrived += 1,
                    PathStatus::Failed(reason) => return Err(format!("no path: {reason}")),
                    _ => return Ok(false),
                }
            }
            if floor == YARD {
                println!(r#"{{"smoke":"ok","arrived":{arrived}}}"#);
            }
            Ok(true)
        }
    }
}

fn click(
    world: &mut World,
    (floor, cell): (GridId, Cell),
    button: MouseButton,
) -> Result<bool, String> {
    let place = puppet::pixel(frame(floor).cell_center(cell), SIZE);
    puppet::click(world, place, button).map(|()| true)
}
