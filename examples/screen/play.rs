//! Scripted runs in a window, for automated checks of the examples.
//!
//! Input: steps, a handler for the example's own steps, and a folder. Output: pictures in it, and
//! the exit of the program after the last step, or an error on stderr.

use std::{fmt::Debug, path::Path, time::Instant};

use bevy::{input::ButtonState, prelude::*};
use bevy_tilepath::prelude::*;

use super::{
    NAME,
    pictures::{self, Pictures},
    puppet,
};

/// Time limit in seconds.
const TIME_LIMIT: f32 = 100.0;

/// One thing to do, or to wait for.
#[derive(Clone, Copy, Debug)]
pub enum Step<Own> {
    /// Wait some seconds.
    Wait(f32),
    /// Take a picture.
    Shoot(&'static str),
    /// Press and release a key.
    Key(KeyCode),
    Button(MouseButton, ButtonState),
    /// A step specific to the example.
    Own(Own),
}

/// Runs one of the example's own steps. Returns whether it is done.
pub type Act<Own> = fn(&mut World, Own) -> Result<bool, String>;

/// Returns whether all units that have orders have arrived, and then prints their number; fails if a unit has no path.
pub fn have_arrived(world: &mut World) -> Result<bool, String> {
    let mut units = world.query::<&PathStatus>();
    let mut arrived = 0;
    for status in units.iter(world) {
        match status {
            PathStatus::Arrived(_) => arrived += 1,
            PathStatus::Failed(reason) => return Err(format!("no path: {reason}")),
            _ => return Ok(false),
        }
    }
    println!(r#"{{"smoke":"ok","arrived":{arrived}}}"#);
    Ok(true)
}

/// A step of an example that is played with the mouse alone.
#[derive(Clone, Copy, Debug)]
pub enum MouseStep {
    Click(Cell, MouseButton),
    /// Wait until all units have arrived; fail if there is no path for one.
    Arrive,
}

impl MouseStep {
    /// Returns whether it is done. `pixel` is where a cell is in the window.
    pub fn act(self, world: &mut World, pixel: impl Fn(Cell) -> Vec2) -> Result<bool, String> {
        match self {
            Self::Click(cell, button) => puppet::click(world, pixel(cell), button).map(|()| true),
            Self::Arrive => have_arrived(world),
        }
    }
}

/// A scripted run and its progress.
struct Play<Own: 'static> {
    steps: &'static [Step<Own>],
    act: Act<Own>,
    began: Instant,
    step: usize,
    /// Start of the step; `None` before it first runs.
    step_began: Option<Instant>,
}

/// Adds a scripted run to the app.
pub fn add_to<Own: Copy + Debug + Send + Sync>(
    app: &mut App,
    folder: &Path,
    steps: &'static [Step<Own>],
    act: Act<Own>,
) -> Result<(), String> {
    let mut play = Play { steps, act, began: Instant::now(), step: 0, step_began: None };
    app.insert_resource(Pictures::in_folder(folder)?)
        .add_systems(First, move |world: &mut World| play.update(world));
    Ok(())
}

impl<Own: Copy + Debug> Play<Own> {
    /// Runs the current step, every frame until it is done.
    fn update(&mut self, world: &mut World) {
        let Some(&step) = self.steps.get(self.step) else {
            return;
        };
        match self.try_step(world, step) {
            Ok(false) => {}
            Ok(true) => {
                (self.step, self.step_began) = (self.step + 1, None);
                if self.step == self.steps.len() {
                    world.write_message(AppExit::Success);
                }
            }
            Err(error) => {
                self.step = self.steps.len();
                eprintln!("{NAME}: --smoke: {error}");
                world.write_message(AppExit::error());
            }
        }
    }

    /// Runs a step. Returns whether it is done.
    fn try_step(&mut self, world: &mut World, step: Step<Own>) -> Result<bool, String> {
        let step_began = *self.step_began.get_or_insert_with(Instant::now);
        if self.began.elapsed().as_secs_f32() > TIME_LIMIT {
            return Err(format!("timed out after {TIME_LIMIT} s at {step:?}"));
        }
        match step {
            Step::Wait(time) => return Ok(step_began.elapsed().as_secs_f32() >= time),
            Step::Shoot(name) => return pictures::shoot(world, name),
            Step::Key(key) => puppet::press(world, key)?,
            Step::Button(button, state) => puppet::button(world, button, state)?,
            Step::Own(own) => return (self.act)(world, own),
        }
        Ok(true)
    }
}
