//! Plays the example automatically, with mouse and keys: a march, a wall in its way, and changes of what moves units.
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
    Step::Wait(1.0),
    Step::Shoot("start"),
    Step::Own(MouseStep::Click(Cell::new(20, 11), MouseButton::Left)),
    Step::Wait(0.8), // no unit is where the wall is built yet
    Step::Own(MouseStep::Click(Cell::new(14, 3), MouseButton::Right)),
    Step::Own(MouseStep::Click(Cell::new(14, 2), MouseButton::Right)),
    Step::Wait(1.0),
    Step::Shoot("march"),
    Step::Key(KeyCode::Space),
    Step::Own(MouseStep::Arrive),
    Step::Shoot("arrived"),
    Step::Own(MouseStep::Click(Cell::new(34, 11), MouseButton::Left)),
    Step::Wait(1.5),
    Step::Key(KeyCode::Space),
    Step::Wait(1.5),
    Step::Key(KeyCode::Space),
    Step::Own(MouseStep::Arrive),
    Step::Shoot("end"),
];

/// Makes the example play by itself.
pub fn add_to(app: &mut App, folder: &Path) -> Result<(), String> {
    play::add_to(app, folder, STEPS, act)
}

/// Says whether the step is done.
fn act(world: &mut World, step: MouseStep) -> Result<bool, String> {
    match step {
        MouseStep::Arrive => have_arrived(world),
        click => click.act(world, |cell| puppet::pixel(frame().cell_center(cell), SIZE)),
    }
}

/// No arrival is reported for units that this example moves along their paths: they have arrived when they stand at the end.
fn have_arrived(world: &mut World) -> Result<bool, String> {
    let mut arrived = 0;
    let mut units = world.query::<(&PathStatus, &NavPath, &Transform)>();
    for (status, path, transform) in units.iter(world) {
        let off = transform.translation.truncate().distance(frame().cell_center(path.end()));
        match status {
            PathStatus::Arrived(_) => arrived += 1,
            PathStatus::Found(_) if off < 1.0 => arrived += 1,
            PathStatus::Failed(reason) => return Err(format!("no path: {reason}")),
            _ => return Ok(false),
        }
    }
    println!(r#"{{"smoke":"ok","arrived":{arrived}}}"#);
    Ok(true)
}
