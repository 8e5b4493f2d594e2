//! Plays by itself in a window, for machines that check whether an example works.
//!
//! Input: steps, what the example's own ones do, and a folder. Output: pictures in it, and the
//! end of the program after the last step, or what went wrong on stderr.

use std::{fmt::Debug, path::Path, time::Instant};

use bevy::{input::ButtonState, prelude::*};

use super::{
    NAME,
    pictures::{self, Pictures},
    puppet,
};

/// Seconds after which it gives up.
const PATIENCE: f32 = 100.0;

/// One thing to do, or to wait for.
#[derive(Clone, Copy, Debug)]
pub enum Step<Own> {
    /// Wait some seconds.
    Wait(f32),
    /// Take a picture.
    Shoot(&'static str),
    /// Press a key and let it go.
    Key(KeyCode),
    Button(MouseButton, ButtonState),
    /// What only this example can do.
    Own(Own),
}

/// Does one of the example's own steps; says whether it is done.
pub type Act<Own> = fn(&mut World, Own) -> Result<bool, String>;

/// A play, and how far it is.
struct Play<Own: 'static> {
    steps: &'static [Step<Own>],
    act: Act<Own>,
    began: Instant,
    step: usize,
    /// When the step began; `None` before it is first tried.
    step_began: Option<Instant>,
}

/// Makes the app play by itself.
pub fn add_to<Own: Copy + Debug + Send + Sync>(
    app: &mut App,
    folder: &Path,
    steps: &'static [Step<Own>],
    act: Act<Own>,
) -> Result<(), String> {
    let mut play = Play { steps, act, began: Instant::now(), step: 0, step_began: None };
    app.insert_resource(Pictures::in_folder(folder)?)
        .add_systems(First, move |world: &mut World| play.go_on(world));
    Ok(())
}

impl<Own: Copy + Debug> Play<Own> {
    /// Does the step that it is time for, again every frame until it is done.
    fn go_on(&mut self, world: &mut World) {
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

    /// Says whether the step is done.
    fn try_step(&mut self, world: &mut World, step: Step<Own>) -> Result<bool, String> {
        let step_began = *self.step_began.get_or_insert_with(Instant::now);
        if self.began.elapsed().as_secs_f32() > PATIENCE {
            return Err(format!("gave up after {PATIENCE} s at {step:?}"));
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
