//! Plays the isometric example by itself, with the mouse: a march, and walls built in front of it.
//!
//! Input: a folder. Output: pictures in it and one JSON line on stdout, or what went wrong on stderr.

use std::path::Path;

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    SIZE, frame,
    screen::{play, play::Step, puppet},
};

/// A step of this example's own.
#[derive(Clone, Copy, Debug)]
enum Own {
    Click(Cell, MouseButton),
    /// Wait until all units have arrived; fail if there is no path for one.
    Arrive,
}

const STEPS: &[Step<Own>] = &[
    Step::Wait(2.0),
    Step::Shoot("start"),
    Step::Own(Own::Click(Cell::new(15, 13), MouseButton::Left)),
    Step::Wait(1.2),
    Step::Shoot("walking"),
    Step::Own(Own::Click(Cell::new(7, 15), MouseButton::Right)),
    Step::Own(Own::Click(Cell::new(7, 16), MouseButton::Right)),
    Step::Own(Own::Click(Cell::new(7, 9), MouseButton::Right)),
    Step::Wait(1.5),
    Step::Shoot("walls"),
    Step::Own(Own::Arrive),
    Step::Shoot("arrived"),
];

/// Makes the example play by itself.
pub fn add_to(app: &mut App, folder: &Path) -> Result<(), String> {
    play::add_to(app, folder, STEPS, act)
}

/// Says whether the step is done.
fn act(world: &mut World, step: Own) -> Result<bool, String> {
    match step {
        Own::Click(cell, button) => {
            let at = frame().cell_center(cell) * Vec2::new(1.0, -1.0) + SIZE.as_vec2() / 2.0;
            puppet::click(world, at, button).map(|()| true)
        }
        Own::Arrive => play::have_arrived(world),
    }
}
