//! Plays the example by itself, with mouse and keys: through boxes and a blast, then as critters.
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
    view::ZOOM,
};

const STEPS: &[Step<MouseStep>] = &[
    Step::Wait(2.0),
    Step::Shoot("start"),
    Step::Own(MouseStep::Click(Cell::new(26, 11), MouseButton::Left)),
    Step::Wait(3.0),
    Step::Shoot("boxes"),
    Step::Own(MouseStep::Click(Cell::new(18, 10), MouseButton::Right)),
    Step::Wait(0.3),
    Step::Shoot("blast"),
    Step::Own(MouseStep::Arrive),
    Step::Shoot("arrived"),
    Step::Own(MouseStep::Click(Cell::new(35, 11), MouseButton::Left)),
    Step::Wait(1.0),
    Step::Key(KeyCode::Space),
    Step::Wait(2.5),
    Step::Shoot("critters"),
    Step::Own(MouseStep::Arrive),
    Step::Shoot("end"),
];

/// Makes the example play by itself.
pub fn add_to(app: &mut App, folder: &Path) -> Result<(), String> {
    play::add_to(app, folder, STEPS, act)
}

/// Says whether the step is done.
fn act(world: &mut World, step: MouseStep) -> Result<bool, String> {
    step.act(world, |cell| puppet::pixel(frame().cell_center(cell) * ZOOM, SIZE))
}
