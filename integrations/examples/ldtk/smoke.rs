//! Plays the example by itself, with the mouse: levels come, the units cross them, and one goes while they are on their way.
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
    Step::Shoot("village"),
    Step::Own(MouseStep::Click(Cell::new(30, 5), MouseButton::Right)),
    Step::Wait(1.0),
    Step::Own(MouseStep::Click(Cell::new(34, 6), MouseButton::Left)),
    Step::Wait(3.0),
    Step::Own(MouseStep::Click(Cell::new(5, 15), MouseButton::Right)),
    Step::Own(MouseStep::Arrive),
    Step::Shoot("forest"),
    Step::Own(MouseStep::Click(Cell::new(30, 15), MouseButton::Right)),
    Step::Wait(1.0),
    Step::Own(MouseStep::Click(Cell::new(4, 15), MouseButton::Left)),
    Step::Wait(3.0),
    Step::Own(MouseStep::Click(Cell::new(10, 5), MouseButton::Right)),
    Step::Wait(2.0),
    Step::Shoot("hidden"),
    Step::Own(MouseStep::Arrive),
    Step::Shoot("mine"),
];

/// Makes the example play by itself.
pub fn add_to(app: &mut App, folder: &Path) -> Result<(), String> {
    play::add_to(app, folder, STEPS, act)
}

/// Says whether the step is done.
fn act(world: &mut World, step: MouseStep) -> Result<bool, String> {
    step.act(world, view::pixel_from_top)
}
