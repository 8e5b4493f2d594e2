//! Plays the example by itself, with the mouse: a march, and a way that is dug and one that is filled in before it.
//!
//! Input: a folder. Output: pictures in it and one JSON line on stdout, or what went wrong on stderr.

use std::path::Path;

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    SIZE, center,
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
    Step::Own(Own::Click(Cell::new(51, 8), MouseButton::Left)),
    Step::Wait(1.5),
    Step::Shoot("walking"),
    // The tunnel to the east is filled in, and the room in the south is joined with that in the southeast.
    Step::Own(Own::Click(Cell::new(40, 6), MouseButton::Right)),
    Step::Own(Own::Click(Cell::new(40, 7), MouseButton::Right)),
    Step::Own(Own::Click(Cell::new(37, 24), MouseButton::Right)),
    Step::Own(Own::Click(Cell::new(38, 24), MouseButton::Right)),
    Step::Own(Own::Click(Cell::new(39, 24), MouseButton::Right)),
    Step::Own(Own::Click(Cell::new(40, 24), MouseButton::Right)),
    Step::Own(Own::Click(Cell::new(41, 24), MouseButton::Right)),
    Step::Own(Own::Click(Cell::new(42, 24), MouseButton::Right)),
    Step::Own(Own::Click(Cell::new(43, 24), MouseButton::Right)),
    Step::Own(Own::Click(Cell::new(51, 17), MouseButton::Right)),
    Step::Own(Own::Click(Cell::new(51, 18), MouseButton::Right)),
    Step::Own(Own::Click(Cell::new(51, 19), MouseButton::Right)),
    Step::Own(Own::Click(Cell::new(51, 8), MouseButton::Left)),
    Step::Wait(4.0),
    Step::Shoot("dug"),
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
            let at = center(cell) * Vec2::new(1.0, -1.0) + SIZE.as_vec2() / 2.0;
            puppet::click(world, at, button).map(|()| true)
        }
        Own::Arrive => play::have_arrived(world),
    }
}
