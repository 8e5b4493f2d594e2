//! Plays the example by itself, with the mouse: to the island by ferry, and through a house that is torn down.
//!
//! Input: a folder. Output: pictures in it and one JSON line on stdout, or what went wrong on stderr.

use std::path::Path;

use bevy::prelude::*;

use crate::{
    SIZE,
    screen::{play, play::Step, puppet},
    view::ZOOM,
};

/// A step of this example's own. Cells are counted as in Tiled, rows from the top.
#[derive(Clone, Copy, Debug)]
enum Own {
    Click((u32, u32), MouseButton),
    /// Wait until all units have arrived; fail if there is no path for one.
    Arrive,
}

const STEPS: &[Step<Own>] = &[
    Step::Wait(3.0),
    Step::Shoot("start"),
    Step::Own(Own::Click((33, 3), MouseButton::Left)),
    Step::Wait(7.0),
    Step::Shoot("ferry"),
    Step::Own(Own::Arrive),
    Step::Shoot("island"),
    Step::Own(Own::Click((14, 8), MouseButton::Right)),
    Step::Own(Own::Click((14, 9), MouseButton::Left)),
    Step::Own(Own::Arrive),
    Step::Shoot("house"),
];

/// Makes the example play by itself.
pub fn add_to(app: &mut App, folder: &Path) -> Result<(), String> {
    play::add_to(app, folder, STEPS, act)
}

/// Says whether the step is done.
fn act(world: &mut World, step: Own) -> Result<bool, String> {
    match step {
        Own::Click((x, y), button) => {
            let middle = (UVec2::new(x, y).as_vec2() + 0.5) * 16.0 * ZOOM;
            debug_assert!(middle.cmplt(SIZE.as_vec2()).all(), "in the window");
            puppet::click(world, middle, button).map(|()| true)
        }
        Own::Arrive => play::have_arrived(world),
    }
}
