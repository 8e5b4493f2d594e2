//! Plays by itself in a window, for machines that check whether the game works.
//!
//! Input: a folder. Output: pictures in it, one JSON line on stdout, or what went wrong on
//! stderr. Cursor, buttons and keys are fed in where Bevy takes them from the window, so the
//! player's own code selects and orders. Pictures from before and after the first march are
//! compared; of the other orders it is checked that whoever is selected has them.

use std::path::Path;

use bevy::{input::ButtonState, prelude::*};
use bevy_tilepath::prelude::*;

use crate::{
    compare::compare,
    kinds::Kind,
    reports::Tally,
    screen::{pictures::Pictures, play, puppet},
    select::Selected,
    smoke_plan::{self, Plan, Spot},
    sprites::Sheets,
    units::Unit,
};

/// A step of this game's own.
#[derive(Clone, Copy, Debug)]
enum Own {
    /// Wait until all pictures of the game are loaded.
    Load,
    /// Find critters, and places to send them to.
    Plan,
    /// Note where critters are, as that may look different in another picture.
    Note,
    Point(Spot),
    Click(Spot, MouseButton),
    /// Wait until whoever is selected has arrived.
    Arrive,
    /// Wait until whoever is selected has this to do.
    Expect(Duty),
    /// Wait until just one critter is selected, of this kind.
    Alone(Kind),
    Compare,
}

/// What critters have to do.
#[derive(Clone, Copy, Debug)]
enum Duty {
    /// Anything: they have had an order, carried out or not.
    Any,
    /// To take a place in a group.
    Group,
    Patrol,
    Follow,
    Attack,
    /// The same, and somebody has come within range.
    Shoot,
    Visit,
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
    Step::Own(Own::Click(Spot::Goal, MouseButton::Right)),
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
    Step::Own(Own::Click(Spot::BoxStart, MouseButton::Right)),
    Step::Key(KeyCode::F2),
    Step::Wait(0.8),
    Step::Shoot("debug"),
    Step::Key(KeyCode::F2),
    // From loose over line, column and box to wedge.
    Step::Key(KeyCode::KeyF),
    Step::Key(KeyCode::KeyF),
    Step::Key(KeyCode::KeyF),
    Step::Key(KeyCode::KeyF),
    Step::Key(KeyCode::KeyK),
    Step::Own(Own::Click(Spot::Rally, MouseButton::Right)),
    Step::Own(Own::Expect(Duty::Group)),
    Step::Wait(2.5),
    Step::Shoot("wedge"),
    Step::Key(KeyCode::KeyP),
    Step::Own(Own::Click(Spot::Goal, MouseButton::Left)),
    Step::Own(Own::Expect(Duty::Patrol)),
    Step::Wait(0.8),
    Step::Shoot("patrol"),
    Step::Own(Own::Click(Spot::Target, MouseButton::Right)),
    Step::Own(Own::Expect(Duty::Attack)),
    Step::Own(Own::Expect(Duty::Shoot)),
    Step::Shoot("attack"),
    Step::Own(Own::Click(Spot::Friend, MouseButton::Right)),
    Step::Own(Own::Expect(Duty::Follow)),
    Step::Wait(0.5),
    Step::Own(Own::Click(Spot::House, MouseButton::Right)),
    Step::Own(Own::Expect(Duty::Visit)),
    Step::Wait(0.5),
    Step::Shoot("visit"),
    Step::Own(Own::Click(Spot::Tank, MouseButton::Left)),
    Step::Own(Own::Alone(Kind::Tank)),
    Step::Own(Own::Click(Spot::Yard, MouseButton::Right)),
    Step::Own(Own::Expect(Duty::Group)),
    Step::Wait(0.8),
    Step::Shoot("tank"),
    Step::Own(Own::Click(Spot::Boat, MouseButton::Left)),
    Step::Own(Own::Alone(Kind::Boat)),
    Step::Own(Own::Click(Spot::Lake, MouseButton::Right)),
    Step::Own(Own::Expect(Duty::Any)),
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
        Own::Point(spot) => point(world, spot)?,
        Own::Click(spot, button) => {
            point(world, spot)?;
            puppet::button(world, button, ButtonState::Pressed)?;
            puppet::button(world, button, ButtonState::Released)?;
        }
        Own::Arrive => return have_arrived(world),
        Own::Expect(duty) => return Ok(have_duty(world, duty)),
        Own::Alone(kind) => {
            let mut selected = world.query_filtered::<&Unit, With<Selected>>();
            return Ok(selected.single(world).is_ok_and(|unit| unit.kind == kind));
        }
        Own::Compare => check(world)?,
    }
    Ok(true)
}

fn point(world: &mut World, spot: Spot) -> Result<(), String> {
    world.resource_scope(|world, mut plan: Mut<Plan>| plan.look(world))?;
    let place = world.resource::<Plan>().place(spot);
    puppet::point(world, place)
}

/// Whether everyone selected has come to rest; notes how many that are.
fn have_arrived(world: &mut World) -> Result<bool, String> {
    let mut selected = world.query_filtered::<&PathStatus, With<Selected>>();
    let count = selected.iter(world).len();
    if count == 0 {
        return Err("the box has selected nobody".into());
    }
    let have = selected.iter(world).all(|status| !status.is_under_way());
    world.resource_mut::<Plan>().selected = count;
    Ok(have)
}

type Ordered = (&'static OrderQueue, &'static PathStatus, Has<GroupSlot>);

/// Whether everyone selected has such an order.
fn have_duty(world: &mut World, duty: Duty) -> bool {
    let mut selected = world.query_filtered::<Ordered, With<Selected>>();
    let near = |queue: &OrderQueue| match queue.current() {
        Some((_, Order::Go(request))) => Some(request.near),
        _ => None,
    };
    let has_it = |(queue, status, is_grouped): (&OrderQueue, &PathStatus, bool)| match duty {
        Duty::Any => *status != PathStatus::Idle,
        Duty::Group => is_grouped,
        Duty::Patrol => matches!(queue.current(), Some((_, Order::Patrol { .. }))),
        Duty::Follow => matches!(near(queue), Some(Near::Within(_))),
        Duty::Attack | Duty::Shoot => matches!(near(queue), Some(Near::InSight { .. })),
        Duty::Visit => matches!(near(queue), Some(Near::Beside)),
    };
    let is_there = |status: &PathStatus| *status == PathStatus::Arrived(PathKind::Complete);
    selected.iter(world).all(has_it)
        && (!matches!(duty, Duty::Shoot)
            || selected.iter(world).any(|(_, status, _)| is_there(status)))
}

/// Compares the pictures and says how it went.
fn check(world: &mut World) -> Result<(), String> {
    let arrived = world.resource::<Tally>().arrived;
    if arrived == 0 {
        return Err("nobody has arrived".into());
    }
    let plan = world.resource::<Plan>();
    let changed = compare(world.resource::<Pictures>(), plan)?;
    let selected = plan.selected;
    println!(
        r#"{{"smoke":"ok","selected":{selected},"arrived":{arrived},"changed_pixels":{changed}}}"#
    );
    Ok(())
}
