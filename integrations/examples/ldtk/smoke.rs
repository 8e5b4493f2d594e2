//! Plays the example by itself, with the mouse: levels come, the units cross them, and one goes while they are on their way.
//!
//! Input: a folder. Output: pictures in it and one JSON line on stdout, or what went wrong on stderr.

use std::path::Path;

use bevy::prelude::*;

use crate::{
    SIZE,
    screen::{play, play::Step, puppet},
    view::ZOOM,
};

/// A step of this example's own. Cells are counted as in LDtk, rows from the top.
#[derive(Clone, Copy, Debug)]
enum Own {
    Click((u32, u32), MouseButton),
    /// Wait until all units have arrived; fail if there is no path for one.
    Arrive,
}

const STEPS: &[Step<Own>] = &[
    Step::Wait(3.0),
    Step::Shoot("village"),
    Step::Own(Own::Click((30, 5), MouseButton::Right)),
    Step::Wait(1.0),
    Step::Own(Own::Click((34, 6), MouseButton::Left)),
    Step::Wait(3.0),
    Step::Own(Own::Click((5, 15), MouseButton::Right)),
    Step::Own(Own::Arrive),
    Step::Shoot("forest"),
    Step::Own(Own::Click((30, 15), MouseButton::Right)),
    Step::Wait(1.0),
    Step::Own(Own::Click((4, 15), MouseButton::Left)),
    Step::Wait(3.0),
    Step::Own(Own::Click((10, 5), MouseButton::Right)),
    Step::Wait(2.0),
    Step::Shoot("hidden"),
    Step::Own(Own::Arrive),
    Step::Shoot("mine"),
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
