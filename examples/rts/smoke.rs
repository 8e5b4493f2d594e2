//! Plays by itself in a window, for machines that check whether the game works.
//!
//! Input: a folder. Output: pictures in it, one JSON line on stdout, or what went wrong on
//! stderr. Cursor, buttons and keys are fed in where Bevy takes them from the window, so the
//! player's own code selects and orders; pictures from before and after are then compared.

use std::path::Path;

use bevy::{input::ButtonState, prelude::*};

use crate::{
    compare::compare,
    orders::{OrderQueue, Tally},
    screen::{pictures::Pictures, play, puppet},
    select::Selected,
    smoke_plan::{self, Plan},
    sprites::Sheets,
};

/// A step of this game's own.
#[derive(Clone, Copy, Debug)]
enum Own {
    /// Wait until all pictures of the game are loaded.
    Load,
    /// Find critters, and a place to send them to.
    Plan,
    /// Note where critters are, as that may look different in another picture.
    Note,
    Point(Spot),
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

type Step = play::Step<Own>;

/// The whole play.
const STEPS: &[Step] = &[
    Step::Own(Own::Load),
    Step::Wait(1.5),
    Step::Own(Own::Plan),
    Step::Own(Own::Note),
    Step::Shoot("before"),
    Step::Own(Own::Point(Spot::BoxStart)),
    Step::Button(MouseButton::Left, ButtonState::Pressed),
    Step::Own(Own::Point(Spot::BoxEnd)),
    Step::Wait(0.2),
    Step::Shoot("select"),
    Step::Button(MouseButton::Left, ButtonState::Released),
    Step::Own(Own::Point(Spot::Goal)),
    Step::Button(MouseButton::Right, ButtonState::Pressed),
    Step::Button(MouseButton::Right, ButtonState::Released),
    Step::Wait(0.8),
    Step::Shoot("march"),
    Step::Own(Own::Arrive),
    Step::Wait(3.0), // marks fade away
    Step::Own(Own::Note),
    Step::Shoot("after"),
    Step::Key(KeyCode::F1),
    Step::Wait(0.3),
    Step::Shoot("help"),
    Step::Key(KeyCode::F1),
    Step::Own(Own::Point(Spot::BoxStart)),
    Step::Button(MouseButton::Right, ButtonState::Pressed),
    Step::Button(MouseButton::Right, ButtonState::Released),
    Step::Key(KeyCode::F2),
    Step::Wait(0.8),
    Step::Shoot("debug"),
    Step::Own(Own::Compare),
];

/// Makes the game play by itself; the pictures go into `folder`.
pub fn add_to(app: &mut App, folder: &Path) -> Result<(), String> {
    play::add_to(app, folder, STEPS, act)
}

/// Says whether the step is done.
fn act(world: &mut World, step: Own) -> Result<bool, String> {
    match step {
        Own::Load => {
            let sheets = world.resource::<Sheets>();
            return Ok(sheets.are_loaded(world.resource::<AssetServer>()));
        }
        Own::Plan => {
            let plan = Plan::make(world)?;
            world.insert_resource(plan);
        }
        Own::Note => {
            let bodies = smoke_plan::bodies(world);
            world.resource_mut::<Plan>().touched.extend(bodies);
        }
        Own::Point(spot) => {
            let plan = world.resource::<Plan>();
            let place = match spot {
                Spot::BoxStart => plan.dragged.min,
                Spot::BoxEnd => plan.dragged.max,
                Spot::Goal => plan.goal,
            };
            puppet::point(world, place)?;
        }
        Own::Arrive => return have_arrived(world),
        Own::Compare => check(world)?,
    }
    Ok(true)
}

/// Whether everyone selected has carried out their orders.
fn have_arrived(world: &mut World) -> Result<bool, String> {
    let mut selected = world.query_filtered::<&OrderQueue, With<Selected>>();
    if selected.iter(world).len() == 0 {
        return Err("the box has selected nobody".into());
    }
    Ok(selected.iter(world).all(|queue| queue.current.is_none()))
}

/// Compares the pictures and says how it went.
fn check(world: &mut World) -> Result<(), String> {
    let selected = world.query_filtered::<(), With<Selected>>().iter(world).len();
    let arrived = world.resource::<Tally>().arrived;
    if arrived == 0 {
        return Err("nobody has arrived".into());
    }
    let changed = compare(world.resource::<Pictures>(), world.resource::<Plan>())?;
    println!(
        r#"{{"smoke":"ok","selected":{selected},"arrived":{arrived},"changed_pixels":{changed}}}"#
    );
    Ok(())
}
