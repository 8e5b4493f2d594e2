//! Plays the isometric example by itself, with the mouse: a march, and walls built in front of it.
//!
//! Input: a folder. Output: pictures in it and one JSON line on stdout, or what went wrong on stderr.

use std::path::Path;

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    SIZE, frame,
    screen::{
        play::{self, MouseStep, Step},
        puppet,
    },
};

const STEPS: &[Step<MouseStep>] = &[
    Step::Wait(2.0),
    Step::Shoot("start"),
    Step::Own(MouseStep::Click(Cell::new(15, 13), MouseButton::Left)),
    Step::Wait(1.2),
    Step::Shoot("walking"),
    Step::Own(MouseStep::Click(Cell::new(7, 15), MouseButton::Right)),
    Step::Own(MouseStep::Click(Cell::new(7, 16), MouseButton::Right)),
    Step::Own(MouseStep::Click(Cell::new(7, 9), MouseButton::Right)),
    Step::Wait(1.5),
    Step::Shoot("walls"),
    Step::Own(MouseStep::Arrive),
    Step::Shoot("arrived"),
];

/// Makes the example play by itself.
pub fn add_to(app: &mut App, folder: &Path) -> Result<(), String> {
    play::add_to(app, folder, STEPS, act)
}

/// Says whether the step is done.
fn act(world: &mut World, step: MouseStep) -> Result<bool, String> {
    step.act(world, |cell| puppet::pixel(frame().cell_center(cell), SIZE))
}
