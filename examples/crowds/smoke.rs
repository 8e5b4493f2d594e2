//! A scripted run in a window, for automated checks.
//!
//! Input: a folder. Output: pictures in it, one JSON line on stdout, or an error on stderr. Keys
//! are injected as window messages. Two screenshots of each scene are taken, at its start and at
//! its greatest density: they differ in the critters only.

use std::path::Path;

use bevy::prelude::*;

use crate::{
    display::map_area,
    figures::Figures,
    game::SceneState,
    screen::{pictures::Pictures, play},
};

/// Least share of pixels that differ between two screenshots of a scene, and between scenes.
const LEAST_CHANGE: f32 = 0.004;
/// The screenshots of each scene: at its start and at its greatest density.
const PICTURED: [[&str; 2]; 4] = [
    ["crowds-doorway-1-start", "crowds-doorway-1"],
    ["crowds-armies-mixed-start", "crowds-armies-mixed"],
    ["crowds-blob-side-start", "crowds-blob-side"],
    ["crowds-sizes-start", "crowds-sizes"],
];

/// A step specific to this example.
#[derive(Clone, Copy, Debug)]
enum Action {
    /// Wait until this scene is running.
    Scene(&'static str),
    /// Wait until it has reached this tick.
    Tick(u64),
    /// Record the tick.
    RecordTick,
    /// Check that the tick has not changed since.
    CheckPaused,
    /// Wait until all units have arrived; fail at the scene's tick limit.
    Finish,
    Check,
}

/// The tick of the pause, and the tick in which all units had arrived.
#[derive(Resource, Clone, Copy, Debug, Default)]
struct Recorded {
    paused: u64,
    finished: u64,
}

type Step = play::Step<Action>;

/// All steps.
const STEPS: &[Step] = &[
    Step::Key(KeyCode::Equal),
    Step::Key(KeyCode::Equal), // four times as fast
    Step::Key(KeyCode::Digit2),
    Step::Own(Action::Scene("doorway-1")),
    Step::Shoot(PICTURED[0][0]),
    Step::Own(Action::Tick(650)),
    Step::Shoot(PICTURED[0][1]),
    Step::Key(KeyCode::Digit3),
    Step::Own(Action::Scene("armies-mixed")),
    Step::Shoot(PICTURED[1][0]),
    Step::Own(Action::Tick(420)),
    Step::Key(KeyCode::Space),
    Step::Wait(0.3), // until the panel shows it
    Step::Own(Action::RecordTick),
    Step::Shoot(PICTURED[1][1]),
    Step::Key(KeyCode::KeyO),
    Step::Wait(0.3),
    Step::Shoot("crowds-overlay"),
    Step::Own(Action::CheckPaused),
    Step::Key(KeyCode::KeyO),
    Step::Key(KeyCode::Space),
    Step::Key(KeyCode::Digit5),
    Step::Own(Action::Scene("blob-side")),
    Step::Shoot(PICTURED[2][0]),
    Step::Own(Action::Tick(800)),
    Step::Shoot(PICTURED[2][1]),
    Step::Key(KeyCode::Digit9),
    Step::Own(Action::Scene("sizes")),
    Step::Shoot(PICTURED[3][0]),
    Step::Own(Action::Tick(280)),
    Step::Shoot(PICTURED[3][1]),
    Step::Key(KeyCode::Digit4),
    Step::Key(KeyCode::Equal),
    Step::Key(KeyCode::Equal), // sixteen times as fast
    Step::Own(Action::Scene("ring")),
    Step::Own(Action::Finish),
    Step::Wait(0.3),
    Step::Shoot("crowds-ring-end"),
    Step::Key(KeyCode::KeyR),
    Step::Own(Action::Scene("ring")),
    Step::Key(KeyCode::ArrowRight),
    Step::Own(Action::Scene("blob-side")),
    Step::Own(Action::Check),
];

/// Adds the scripted run; the pictures are saved in `folder`.
pub fn add_to(app: &mut App, folder: &Path) -> Result<(), String> {
    app.init_resource::<Recorded>();
    play::add_to(app, folder, STEPS, act)
}

/// Runs a step. Returns whether it is done.
fn act(world: &mut World, step: Action) -> Result<bool, String> {
    let scene = world.resource::<SceneState>().clone();
    match step {
        Action::Scene(name) => {
            return Ok(scene.name == name && scene.finished.is_none() && scene.ticks > 0);
        }
        Action::Tick(tick) => return Ok(scene.ticks >= tick),
        Action::RecordTick => world.resource_mut::<Recorded>().paused = scene.ticks,
        Action::CheckPaused => {
            let paused = world.resource::<Recorded>().paused;
            if scene.ticks != paused {
                return Err(format!("time advanced from tick {paused} to {}", scene.ticks));
            }
        }
        Action::Finish => return finish(world, scene),
        Action::Check => println!("{}", check(world)?),
    }
    Ok(true)
}

/// Returns whether all units have arrived; records the tick.
fn finish(world: &mut World, scene: SceneState) -> Result<bool, String> {
    if let Some(tick) = scene.finished {
        world.resource_mut::<Recorded>().finished = tick;
    } else if scene.is_over() {
        let Figures { units, arrived, .. } = *world.resource::<Figures>();
        return Err(format!("{}: {arrived} of {units} have arrived", scene.name));
    }
    Ok(scene.finished.is_some())
}

/// Compares the pictures. Returns one line of JSON, or an error.
fn check(world: &World) -> Result<String, String> {
    let pictures = world.resource::<Pictures>();
    let compare = |names: [&str; 2], what: &str| {
        pictures.changed_enough(names, map_area(), LEAST_CHANGE, what)
    };
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
    let finished = world.resource::<Recorded>().finished;
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
