//! Plays the example with fences by itself, with the mouse: the ants go out through their door, cross the river, and a fence is
//! built in their way.
//!
//! Input: a folder. Output: pictures in it and one JSON line on stdout, or what went wrong on stderr.

use std::path::Path;

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    ANT, SIZE, YARD, frame,
    screen::{play, play::Step, puppet},
};

/// A step of this example's own.
#[derive(Clone, Copy, Debug)]
enum Own {
    Send(Cell),
    /// Build or remove a fence between a cell and its neighbor.
    Fence(Cell, Direction),
    /// Wait until all ants have arrived; fail if a beetle is in the yard.
    Arrive,
}

const STEPS: &[Step<Own>] = &[
    Step::Wait(2.0),
    Step::Shoot("start"),
    Step::Own(Own::Send(Cell::new(27, 9))),
    Step::Wait(1.5),
    Step::Shoot("door"),
    Step::Own(Own::Arrive),
    Step::Shoot("arrived"),
    Step::Own(Own::Send(Cell::new(9, 8))),
    Step::Own(Own::Fence(Cell::new(19, 12), Direction::East)),
    Step::Own(Own::Fence(Cell::new(19, 13), Direction::East)),
    Step::Wait(1.5),
    Step::Shoot("fence"),
    Step::Own(Own::Arrive),
];

/// Makes the example play by itself.
pub fn add_to(app: &mut App, folder: &Path) -> Result<(), String> {
    play::add_to(app, folder, STEPS, act)
}

/// Says whether the step is done.
fn act(world: &mut World, step: Own) -> Result<bool, String> {
    match step {
        Own::Send(cell) => click(world, frame().cell_center(cell), MouseButton::Right),
        Own::Fence(cell, direction) => {
            let (dx, dy) = direction.offset();
            let other = frame().cell_center(cell.offset(dx, dy));
            click(world, frame().cell_center(cell).lerp(other, 0.45), MouseButton::Left)
        }
        Own::Arrive => {
            let mut units = world.query::<(&NavAgent, &CritterState, &PathStatus)>();
            let mut arrived = 0;
            for (agent, state, status) in units.iter(world) {
                match status {
                    _ if agent.profile != ANT => {
                        if YARD.contains(state.cell()) {
                            return Err("a beetle is in the yard".into());
                        }
                    }
                    PathStatus::Arrived(_) => arrived += 1,
                    PathStatus::Failed(reason) => return Err(format!("no path: {reason}")),
                    _ => return Ok(false),
                }
            }
            println!(r#"{{"smoke":"ok","arrived":{arrived}}}"#);
            Ok(true)
        }
    }
}

fn click(world: &mut World, position: Vec2, button: MouseButton) -> Result<bool, String> {
    puppet::click(world, puppet::pixel(position, SIZE), button).map(|()| true)
}
