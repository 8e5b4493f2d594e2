//! Plays the example by itself, with mouse and keys: through boxes and a blast, then as critters.
//!
//! Input: a folder. Output: pictures in it and one JSON line on stdout, or what went wrong on stderr.

use std::path::Path;

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    SIZE, frame,
    screen::{play, play::Step, puppet},
    view::ZOOM,
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
    Step::Own(Own::Click(Cell::new(26, 11), MouseButton::Left)),
    Step::Wait(3.0),
    Step::Shoot("boxes"),
    Step::Own(Own::Click(Cell::new(18, 10), MouseButton::Right)),
    Step::Wait(0.3),
    Step::Shoot("blast"),
    Step::Own(Own::Arrive),
    Step::Shoot("arrived"),
    Step::Own(Own::Click(Cell::new(35, 11), MouseButton::Left)),
    Step::Wait(1.0),
    Step::Key(KeyCode::Space),
    Step::Wait(2.5),
    Step::Shoot("critters"),
    Step::Own(Own::Arrive),
    Step::Shoot("end"),
];

/// Makes the example play by itself.
pub fn add_to(app: &mut App, folder: &Path) -> Result<(), String> {
    play::add_to(app, folder, STEPS, act)
}

/// Says whether the step is done.
fn act(world: &mut World, step: Own) -> Result<bool, String> {
    match step {
        Own::Click(cell, button) => {
            let place = frame().cell_center(cell) * Vec2::new(1.0, -1.0) * ZOOM;
            puppet::click(world, place + SIZE.as_vec2() / 2.0, button).map(|()| true)
        }
        Own::Arrive => play::have_arrived(world),
    }
}
