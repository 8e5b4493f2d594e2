//! Plays by itself in a window, for machines that check whether the example works.
//!
//! Input: a folder. Output: pictures in it, one JSON line on stdout, or what went wrong on stderr.
//! Keys are fed in where Bevy takes them from the window. Each scene is pictured at its beginning
//! and when it is at its thickest: what differs between the two is critters.

use std::path::Path;

use bevy::prelude::*;

use crate::{
    display::stage,
    figures::Figures,
    game::Play,
    screen::{pictures::Pictures, play},
};

/// Least share of pixels that change while critters walk, and between scenes.
const LEAST_CHANGE: f32 = 0.004;
/// The scenes that are pictured: at the beginning, and at their thickest.
const PICTURED: [[&str; 2]; 4] = [
    ["crowds-doorway-1-start", "crowds-doorway-1"],
    ["crowds-armies-mixed-start", "crowds-armies-mixed"],
    ["crowds-blob-side-start", "crowds-blob-side"],
    ["crowds-sizes-start", "crowds-sizes"],
];

/// A step of this example's own.
#[derive(Clone, Copy, Debug)]
enum Own {
    /// Wait until this scene is shown and under way.
    Scene(&'static str),
    /// Wait until so many of its ticks are over.
    Tick(u64),
    /// Note the tick; make sure that it is still the same.
    Hold,
    Held,
    /// Wait until everybody has arrived; fail if time is up before.
    Finish,
    Check,
}

/// The tick in which time was stopped, and the one in which everybody had arrived.
#[derive(Resource, Clone, Copy, Debug, Default)]
struct Noted {
    held: u64,
    finished: u64,
}

type Step = play::Step<Own>;

/// The whole play.
const STEPS: &[Step] = &[
    Step::Key(KeyCode::Equal),
    Step::Key(KeyCode::Equal), // four times as fast
    Step::Key(KeyCode::Digit2),
    Step::Own(Own::Scene("doorway-1")),
    Step::Shoot(PICTURED[0][0]),
    Step::Own(Own::Tick(650)),
    Step::Shoot(PICTURED[0][1]),
    Step::Key(KeyCode::Digit3),
    Step::Own(Own::Scene("armies-mixed")),
    Step::Shoot(PICTURED[1][0]),
    Step::Own(Own::Tick(420)),
    Step::Key(KeyCode::Space),
    Step::Wait(0.3), // the panel says so
    Step::Own(Own::Hold),
    Step::Shoot(PICTURED[1][1]),
    Step::Key(KeyCode::KeyO),
    Step::Wait(0.3),
    Step::Shoot("crowds-overlay"),
    Step::Own(Own::Held),
    Step::Key(KeyCode::KeyO),
    Step::Key(KeyCode::Space),
    Step::Key(KeyCode::Digit5),
    Step::Own(Own::Scene("blob-side")),
    Step::Shoot(PICTURED[2][0]),
    Step::Own(Own::Tick(800)),
    Step::Shoot(PICTURED[2][1]),
    Step::Key(KeyCode::Digit9),
    Step::Own(Own::Scene("sizes")),
    Step::Shoot(PICTURED[3][0]),
    Step::Own(Own::Tick(280)),
    Step::Shoot(PICTURED[3][1]),
    Step::Key(KeyCode::Digit4),
    Step::Key(KeyCode::Equal),
    Step::Key(KeyCode::Equal), // sixteen times as fast
    Step::Own(Own::Scene("ring")),
    Step::Own(Own::Finish),
    Step::Wait(0.3),
    Step::Shoot("crowds-ring-end"),
    Step::Key(KeyCode::KeyR),
    Step::Own(Own::Scene("ring")),
    Step::Key(KeyCode::ArrowRight),
    Step::Own(Own::Scene("blob-side")),
    Step::Own(Own::Check),
];

/// Makes the app play by itself; the pictures go into `folder`.
pub fn add_to(app: &mut App, folder: &Path) -> Result<(), String> {
    app.init_resource::<Noted>();
    play::add_to(app, folder, STEPS, act)
}

/// Says whether the step is done.
fn act(world: &mut World, step: Own) -> Result<bool, String> {
    let play = *world.resource::<Play>();
    match step {
        Own::Scene(name) => {
            return Ok(play.name == name && play.finished.is_none() && play.ticks > 0);
        }
        Own::Tick(tick) => return Ok(play.ticks >= tick),
        Own::Hold => world.resource_mut::<Noted>().held = play.ticks,
        Own::Held => {
            let held = world.resource::<Noted>().held;
            if play.ticks != held {
                return Err(format!("time went on from tick {held} to {}", play.ticks));
            }
        }
        Own::Finish => return finish(world, play),
        Own::Check => println!("{}", check(world)?),
    }
    Ok(true)
}

/// Whether everybody has arrived; notes when.
fn finish(world: &mut World, play: Play) -> Result<bool, String> {
    if let Some(tick) = play.finished {
        world.resource_mut::<Noted>().finished = tick;
    } else if play.is_over() {
        let Figures { units, arrived, .. } = *world.resource::<Figures>();
        return Err(format!("{}: {arrived} of {units} have arrived", play.name));
    }
    Ok(play.finished.is_some())
}

/// Compares the pictures; one line of JSON, or what is wrong.
fn check(world: &World) -> Result<String, String> {
    let pictures = world.resource::<Pictures>();
    let compare =
        |names: [&str; 2], what: &str| pictures.changed_enough(names, stage(), LEAST_CHANGE, what);
    let mut walked = 0;
    for names in PICTURED {
        walked += compare(names, "critters walk")?;
    }
    for (number, [_, one]) in PICTURED.into_iter().enumerate() {
        for [_, other] in PICTURED.into_iter().skip(number + 1) {
            compare([one, other], "scenes differ")?;
        }
    }
    let overlay = compare([PICTURED[1][1], "crowds-overlay"], "the overlay")?;
    let finished = world.resource::<Noted>().finished;
    Ok(format!(
        concat!(
            r#"{{"smoke":"ok","scenes":{},"walked_pixels":{},"overlay_pixels":{},"#,
            r#""ring_ticks":{}}}"#
        ),
        PICTURED.len(),
        walked,
        overlay,
        finished,
    ))
}
