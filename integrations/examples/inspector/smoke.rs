//! Plays the example by itself: chooses a unit, sends it through the swamp, and changes its speed.
//!
//! Input: a folder. Output: pictures in it and one JSON line on stdout, or what went wrong on stderr.

use std::path::Path;

use bevy::prelude::*;
use bevy_tilepath::prelude::*;
use tilepath_integrations::inspector::Inspected;

use crate::{
    SIZE, frame,
    screen::{play, play::Step, puppet},
    view::ZOOM,
};

/// A step of this example's own.
#[derive(Clone, Copy, Debug)]
enum Own {
    /// Click on the unit whose name this is, as soon as it stands or walks there.
    Choose(&'static str),
    Send(Cell),
    /// Wait until the unit has arrived.
    Arrive,
}

const STEPS: &[Step<Own>] = &[
    Step::Wait(2.0),
    Step::Shoot("start"),
    Step::Own(Own::Choose("Ant 25,12")),
    Step::Wait(1.0),
    Step::Own(Own::Send(Cell::new(20, 2))),
    Step::Wait(1.0),
    Step::Shoot("unit"),
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
        Own::Choose(name) => {
            let mut units = world.query::<(Entity, &Name, &CritterState)>();
            let found = units.iter(world).find(|(_, unit, _)| unit.as_str() == name);
            let (unit, _, state) = found.ok_or("the unit is gone")?;
            let cell = state.cell();
            if world.resource::<Inspected>().unit == Some(unit) {
                return Ok(true);
            }
            click(world, cell, MouseButton::Left).map(|()| false)
        }
        Own::Send(cell) => click(world, cell, MouseButton::Right).map(|()| true),
        Own::Arrive => {
            let unit = world.resource::<Inspected>().unit.ok_or("no unit was chosen")?;
            let status = world.get::<PathStatus>(unit).ok_or("the unit is gone")?;
            if matches!(status, PathStatus::Arrived(_)) {
                println!(r#"{{"smoke":"ok","arrived":1}}"#);
                return Ok(true);
            }
            Ok(false)
        }
    }
}

fn click(world: &mut World, cell: Cell, button: MouseButton) -> Result<(), String> {
    puppet::click(world, puppet::pixel(frame().cell_center(cell) * ZOOM, SIZE), button)
}
