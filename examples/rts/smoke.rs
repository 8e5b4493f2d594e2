//! Plays by itself in a window, for machines that check whether the game works.
//!
//! Input: a folder. Output: pictures in it, one JSON line on stdout, or what went wrong on
//! stderr. Cursor, buttons and keys are fed in where Bevy takes them from the window, so the
//! player's own code selects and orders; pictures from before and after are then compared.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    time::{Duration, Instant},
};

use bevy::{
    input::{
        ButtonState,
        keyboard::{Key, KeyboardInput},
        mouse::MouseButtonInput,
    },
    prelude::*,
    render::view::screenshot::{Screenshot, ScreenshotCaptured},
    window::PrimaryWindow,
};

use crate::{
    capture,
    compare::Pictures,
    orders::{OrderQueue, Tally},
    select::Selected,
    smoke_plan::{self, Plan},
    sprites::Sheets,
};

/// Wall time after which it gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// Plays by itself.
pub struct SmokePlugin {
    /// Where the pictures go.
    pub folder: PathBuf,
}

impl Plugin for SmokePlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(Smoke {
            folder: self.folder.clone(),
            started: Instant::now(),
            step: 0,
            step_began: None,
            plan: Plan::default(),
            selected: 0,
            pictures: BTreeMap::new(),
        })
        .add_systems(First, play);
    }
}

/// One thing to do, or to wait for.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Wait until all pictures of the game are loaded.
    Load,
    /// Wait some seconds.
    Wait(f32),
    /// Find critters, and a place to send them to.
    Plan,
    Shoot(&'static str),
    Point(Spot),
    Button(MouseButton, ButtonState),
    Key(KeyCode, ButtonState),
    /// Wait until whoever is selected has arrived.
    Arrive,
    Compare,
}

/// Places on the screen.
#[derive(Clone, Copy, Debug)]
enum Spot {
    BoxStart,
    BoxEnd,
    Goal,
}

/// The whole play.
const STEPS: &[Step] = &[
    Step::Load,
    Step::Wait(1.5),
    Step::Plan,
    Step::Shoot("before"),
    Step::Point(Spot::BoxStart),
    Step::Button(MouseButton::Left, ButtonState::Pressed),
    Step::Point(Spot::BoxEnd),
    Step::Wait(0.2),
    Step::Shoot("select"),
    Step::Button(MouseButton::Left, ButtonState::Released),
    Step::Point(Spot::Goal),
    Step::Button(MouseButton::Right, ButtonState::Pressed),
    Step::Button(MouseButton::Right, ButtonState::Released),
    Step::Wait(0.8),
    Step::Shoot("march"),
    Step::Arrive,
    Step::Wait(3.0), // marks fade away
    Step::Shoot("after"),
    Step::Key(KeyCode::F1, ButtonState::Pressed),
    Step::Key(KeyCode::F1, ButtonState::Released),
    Step::Wait(0.3),
    Step::Shoot("help"),
    Step::Key(KeyCode::F1, ButtonState::Pressed),
    Step::Key(KeyCode::F1, ButtonState::Released),
    Step::Point(Spot::BoxStart),
    Step::Button(MouseButton::Right, ButtonState::Pressed),
    Step::Button(MouseButton::Right, ButtonState::Released),
    Step::Key(KeyCode::F2, ButtonState::Pressed),
    Step::Key(KeyCode::F2, ButtonState::Released),
    Step::Wait(0.8),
    Step::Shoot("debug"),
    Step::Compare,
];

#[derive(Resource)]
struct Smoke {
    folder: PathBuf,
    started: Instant,
    step: usize,
    /// When the step began; `None` before it is first tried.
    step_began: Option<Instant>,
    plan: Plan,
    selected: usize,
    /// Pictures taken, or why one could not be saved.
    pictures: BTreeMap<&'static str, Result<Image, String>>,
}

/// Does the step that it is time for, again every frame until it is done.
fn play(world: &mut World) {
    let mut smoke = world.resource_mut::<Smoke>();
    let Some(&step) = STEPS.get(smoke.step) else {
        return;
    };
    let is_first = smoke.step_began.is_none();
    let seconds = smoke.step_began.get_or_insert_with(Instant::now).elapsed().as_secs_f32();
    let outcome = if smoke.started.elapsed() > PATIENCE {
        Err(format!("gave up after {} s at {step:?}", PATIENCE.as_secs()))
    } else {
        try_step(world, step, is_first, seconds)
    };
    let mut smoke = world.resource_mut::<Smoke>();
    match outcome {
        Ok(false) => {}
        Ok(true) => {
            smoke.step += 1;
            smoke.step_began = None;
        }
        Err(error) => {
            smoke.step = STEPS.len();
            eprintln!("rts: --smoke: {error}");
            world.write_message(AppExit::error());
        }
    }
}

/// Says whether the step is done.
fn try_step(world: &mut World, step: Step, is_first: bool, seconds: f32) -> Result<bool, String> {
    match step {
        Step::Load => {
            let sheets = world.resource::<Sheets>();
            return Ok(sheets.are_loaded(world.resource::<AssetServer>()));
        }
        Step::Wait(time) => return Ok(seconds >= time),
        Step::Plan => {
            let plan = Plan::make(world)?;
            world.resource_mut::<Smoke>().plan = plan;
        }
        Step::Shoot(name) => {
            if is_first {
                shoot(world, name);
            }
            let taken = world.resource::<Smoke>().pictures.get(name);
            return taken
                .map_or(Ok(false), |taken| taken.as_ref().map(|_| true).map_err(Clone::clone));
        }
        Step::Point(spot) => point(world, spot)?,
        Step::Button(button, state) => {
            let window = window(world)?;
            world.write_message(MouseButtonInput { button, state, window });
        }
        Step::Key(key_code, state) => {
            let (logical_key, window) = (Key::Character("".into()), window(world)?);
            let (text, repeat) = (None, false);
            world.write_message(KeyboardInput {
                key_code,
                logical_key,
                state,
                text,
                repeat,
                window,
            });
        }
        Step::Arrive => return have_arrived(world),
        Step::Compare => compare(world)?,
    }
    Ok(true)
}

fn window(world: &mut World) -> Result<Entity, String> {
    let mut windows = world.query_filtered::<Entity, With<PrimaryWindow>>();
    windows.single(world).map_err(|error| error.to_string())
}

fn point(world: &mut World, spot: Spot) -> Result<(), String> {
    let plan = &world.resource::<Smoke>().plan;
    let place = match spot {
        Spot::BoxStart => plan.dragged.min,
        Spot::BoxEnd => plan.dragged.max,
        Spot::Goal => plan.goal,
    };
    let window = window(world)?;
    if let Some(mut window) = world.get_mut::<Window>(window) {
        window.set_cursor_position(Some(place));
    }
    Ok(())
}

/// Takes a picture, keeps it and saves it.
fn shoot(world: &mut World, name: &'static str) {
    let bodies = smoke_plan::bodies(world);
    world.resource_mut::<Smoke>().plan.touched.extend(bodies);
    world.spawn(Screenshot::primary_window()).observe(
        move |captured: On<ScreenshotCaptured>, mut smoke: ResMut<Smoke>| {
            let file = smoke.folder.join(name).with_extension("png");
            let outcome = capture::save(&captured.image, &file);
            smoke.pictures.insert(name, outcome.map(|()| captured.image.clone()));
        },
    );
}

/// Whether everyone selected has carried out their orders.
fn have_arrived(world: &mut World) -> Result<bool, String> {
    let mut selected = world.query_filtered::<&OrderQueue, With<Selected>>();
    let count = selected.iter(world).len();
    if count == 0 {
        return Err("the box has selected nobody".into());
    }
    let is_done = selected.iter(world).all(|queue| queue.current.is_none());
    world.resource_mut::<Smoke>().selected = count;
    Ok(is_done)
}

/// Compares the pictures and ends the game.
fn compare(world: &mut World) -> Result<(), String> {
    let arrived = world.resource::<Tally>().arrived;
    let Smoke { plan, selected, pictures, .. } = world.resource::<Smoke>();
    let picture = |name| pictures.get(name).and_then(|picture| picture.as_ref().ok());
    let (Some(before), Some(after)) = (picture("before"), picture("after")) else {
        return Err("a picture is missing".into());
    };
    if arrived == 0 {
        return Err("nobody has arrived".into());
    }
    let changed =
        Pictures { before, after }.compare(plan.dragged, plan.goal_region(), &plan.touched)?;
    println!(
        r#"{{"smoke":"ok","selected":{selected},"arrived":{arrived},"changed_pixels":{changed}}}"#
    );
    world.write_message(AppExit::Success);
    Ok(())
}
