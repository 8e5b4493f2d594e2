//! Plays the example by itself, with the mouse: to the island by ferry, and through a house that is torn down.
//!
//! Input: a folder. Output: pictures in it and one JSON line on stdout, or what went wrong on stderr.

use std::path::Path;

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    screen::play::{self, MouseStep, Step},
    view,
};

/// Cells are counted as in the editor, rows from the top.
const STEPS: &[Step<MouseStep>] = &[
    Step::Wait(3.0),
    Step::Shoot("start"),
    Step::Own(MouseStep::Click(Cell::new(33, 3), MouseButton::Left)),
    Step::Wait(7.0),
    Step::Shoot("ferry"),
    Step::Own(MouseStep::Arrive),
    Step::Shoot("island"),
    Step::Own(MouseStep::Click(Cell::new(14, 8), MouseButton::Right)),
    Step::Own(MouseStep::Click(Cell::new(14, 9), MouseButton::Left)),
    Step::Own(MouseStep::Arrive),
    Step::Shoot("house"),
];

/// Makes the example play by itself.
pub fn add_to(app: &mut App, folder: &Path) -> Result<(), String> {
    play::add_to(app, folder, STEPS, act)
}

/// Says whether the step is done.
fn act(world: &mut World, step: MouseStep) -> Result<bool, String> {
    step.act(world, view::pixel_from_top)
}
