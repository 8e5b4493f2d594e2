//! Plays the example automatically, with the mouse: a march, while a way ahead is filled in and another is dug.
//!
//! Input: a folder. Output: pictures in it and one JSON line on stdout, or what went wrong on stderr.

use std::path::Path;

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    SIZE, center,
    screen::{
        play::{self, MouseStep, Step},
        puppet,
    },
};

const STEPS: &[Step<MouseStep>] = &[
    Step::Wait(2.0),
    Step::Shoot("start"),
    Step::Own(MouseStep::Click(Cell::new(51, 8), MouseButton::Left)),
    Step::Wait(1.5),
    Step::Shoot("walking"),
    // The tunnel to the east is filled in, and the room in the south is joined with that in the southeast.
    Step::Own(MouseStep::Click(Cell::new(40, 6), MouseButton::Right)),
    Step::Own(MouseStep::Click(Cell::new(40, 7), MouseButton::Right)),
    Step::Own(MouseStep::Click(Cell::new(37, 24), MouseButton::Right)),
    Step::Own(MouseStep::Click(Cell::new(38, 24), MouseButton::Right)),
    Step::Own(MouseStep::Click(Cell::new(39, 24), MouseButton::Right)),
    Step::Own(MouseStep::Click(Cell::new(40, 24), MouseButton::Right)),
    Step::Own(MouseStep::Click(Cell::new(41, 24), MouseButton::Right)),
    Step::Own(MouseStep::Click(Cell::new(42, 24), MouseButton::Right)),
    Step::Own(MouseStep::Click(Cell::new(43, 24), MouseButton::Right)),
    Step::Own(MouseStep::Click(Cell::new(51, 17), MouseButton::Right)),
    Step::Own(MouseStep::Click(Cell::new(51, 18), MouseButton::Right)),
    Step::Own(MouseStep::Click(Cell::new(51, 19), MouseButton::Right)),
    Step::Own(MouseStep::Click(Cell::new(51, 8), MouseButton::Left)),
    Step::Wait(4.0),
    Step::Shoot("dug"),
    Step::Own(MouseStep::Arrive),
    Step::Shoot("arrived"),
];

/// Makes the example play by itself.
pub fn add_to(app: &mut App, folder: &Path) -> Result<(), String> {
    play::add_to(app, folder, STEPS, act)
}

/// Says whether the step is done.
fn act(world: &mut World, step: MouseStep) -> Result<bool, String> {
    step.act(world, |cell| puppet::pixel(center(cell), SIZE))
}
