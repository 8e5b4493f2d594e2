//! A scripted run in a window, for automated checks.
//!
//! Input: a folder. Output: pictures in it, one JSON line on stdout, or an error on stderr.
//! Cursor, buttons and keys are injected as window messages, so the player's own code selects and
//! orders. Pictures from before and after the first move order are compared. For the other orders,
//! the selected critters must have received them.

use std::{path::Path, time::Duration};

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

/// Time that an order has to take effect before the next click.
const BETWEEN_CLICKS: Duration = Duration::from_secs(2);

/// A step specific to this game.
#[derive(Clone, Copy, Debug)]
enum Action {
    /// Wait until all sprite sheets are loaded.
    Load,
    /// Choose critters, and goals for them.
    Plan,
    /// Record the critters' positions: those pixels may change.
    RecordPositions,
    Point(Spot),
    Click(Spot, MouseButton),
    /// Order the selected critters to go to a critter that may be moving; click until it is hit: a click is read in the frame
    /// after it was aimed.
    OrderTo(Spot, ExpectedOrder),
    /// Wait until the selected critters have arrived.
    Arrive,
    /// Wait until the selected critters have this order.
    Expect(ExpectedOrder),
    /// Wait until exactly one critter is selected, of this kind.
    SingleSelected(Kind),
    Compare,
}

/// An order that the selected critters must have.
#[derive(Clone, Copy, Debug)]
enum ExpectedOrder {
    /// Any order, completed or not.
    Any,
    /// A slot in a group.
    Group,
    Patrol,
    Follow,
    Attack,
    /// An attack, with at least one critter within range.
    Shoot,
    Visit,
}

type Step = play::Step<Action>;

/// All steps.
const STEPS: &[Step] = &[
    Step::Own(Action::Load),
    Step::Wait(1.5),
    Step::Own(Action::Plan),
    Step::Own(Action::RecordPositions),
    Step::Shoot("before"),
    Step::Own(Action::Point(Spot::BoxStart)),
    Step::Button(MouseButton::Left, ButtonState::Pressed),
    Step::Own(Action::Point(Spot::BoxEnd)),
    Step::Wait(0.2),
    Step::Shoot("select"),
    Step::Button(MouseButton::Left, ButtonState::Released),
    Step::Own(Action::Click(Spot::Goal, MouseButton::Right)),
    Step::Wait(0.8),
    Step::Shoot("march"),
    Step::Own(Action::Arrive),
    Step::Wait(3.0), // marks fade away
    Step::Own(Action::RecordPositions),
    Step::Shoot("after"),
    Step::Key(KeyCode::F1),
    Step::Wait(0.3),
    Step::Shoot("help"),
    Step::Key(KeyCode::F1),
    Step::Own(Action::Click(Spot::BoxStart, MouseButton::Right)),
    Step::Key(KeyCode::F2),
    Step::Wait(0.8),
    Step::Shoot("debug"),
    Step::Key(KeyCode::F2),
    // From loose through line, column and box to wedge.
    Step::Key(KeyCode::KeyF),
    Step::Key(KeyCode::KeyF),
    Step::Key(KeyCode::KeyF),
    Step::Key(KeyCode::KeyF),
    Step::Key(KeyCode::KeyK),
    Step::Own(Action::Click(Spot::Rally, MouseButton::Right)),
    Step::Own(Action::Expect(ExpectedOrder::Group)),
    Step::Wait(2.5),
    Step::Shoot("wedge"),
    Step::Key(KeyCode::KeyP),
    Step::Own(Action::Click(Spot::Goal, MouseButton::Left)),
    Step::Own(Action::Expect(ExpectedOrder::Patrol)),
    Step::Wait(0.8),
    Step::Shoot("patrol"),
    Step::Own(Action::Click(Spot::Target, MouseButton::Right)),
    Step::Own(Action::Expect(ExpectedOrder::Attack)),
    Step::Own(Action::Expect(ExpectedOrder::Shoot)),
    Step::Shoot("attack"),
    Step::Own(Action::OrderTo(Spot::Friend, ExpectedOrder::Follow)),
    Step::Wait(0.5),
    Step::Own(Action::Click(Spot::House, MouseButton::Right)),
    Step::Own(Action::Expect(ExpectedOrder::Visit)),
    Step::Wait(0.5),
    Step::Shoot("visit"),
    Step::Own(Action::Click(Spot::Tank, MouseButton::Left)),
    Step::Own(Action::SingleSelected(Kind::Tank)),
    Step::Own(Action::Click(Spot::TankGoal, MouseButton::Right)),
    Step::Own(Action::Expect(ExpectedOrder::Group)),
    Step::Wait(0.8),
    Step::Shoot("tank"),
    Step::Own(Action::Click(Spot::Boat, MouseButton::Left)),
    Step::Own(Action::SingleSelected(Kind::Boat)),
    Step::Own(Action::Click(Spot::BoatGoal, MouseButton::Right)),
    Step::Own(Action::Expect(ExpectedOrder::Any)),
    Step::Own(Action::Compare),
];

/// Adds the scripted run; the pictures are saved in `folder`.
pub fn add_to(app: &mut App, folder: &Path) -> Result<(), String> {
    play::add_to(app, folder, STEPS, act)
}

/// Runs a step. Returns whether it is done.
fn act(world: &mut World, step: Action) -> Result<bool, String> {
    match step {
        Action::Load => {
            let sheets = world.resource::<Sheets>();
            return Ok(sheets.are_loaded(world.resource::<AssetServer>()));
        }
        Action::Plan => {
            let plan = Plan::make(world)?;
            world.insert_resource(plan);
        }
        Action::RecordPositions => {
            let bodies = smoke_plan::unit_rects(world);
            world.resource_mut::<Plan>().touched.extend(bodies);
        }
        Action::Point(spot) => point(world, spot)?,
        Action::Click(spot, button) => click(world, spot, button)?,
        Action::OrderTo(spot, order) => {
            let now = world.resource::<Time<Real>>().elapsed();
            let clicked = world.resource::<Plan>().clicked;
            let is_done = clicked.is_some() && have_order(world, order);
            if !is_done && clicked.is_none_or(|clicked| now > clicked + BETWEEN_CLICKS) {
                click(world, spot, MouseButton::Right)?;
                world.resource_mut::<Plan>().clicked = Some(now);
            }
            return Ok(is_done);
        }
        Action::Arrive => return have_arrived(world),
        Action::Expect(order) => return Ok(have_order(world, order)),
        Action::SingleSelected(kind) => {
            let mut selected = world.query_filtered::<&Unit, With<Selected>>();
            return Ok(selected.single(world).is_ok_and(|unit| unit.kind == kind));
        }
        Action::Compare => check(world)?,
    }
    Ok(true)
}

fn click(world: &mut World, spot: Spot, button: MouseButton) -> Result<(), String> {
    point(world, spot)?;
    puppet::button(world, button, ButtonState::Pressed)?;
    puppet::button(world, button, ButtonState::Released)
}

fn point(world: &mut World, spot: Spot) -> Result<(), String> {
    world.resource_scope(|world, mut plan: Mut<Plan>| plan.refresh(world))?;
    let position = world.resource::<Plan>().position(spot);
    puppet::point(world, position)
}

/// Returns whether all selected critters have stopped; records their number.
fn have_arrived(world: &mut World) -> Result<bool, String> {
    let mut selected = world.query_filtered::<&PathStatus, With<Selected>>();
    let count = selected.iter(world).len();
    if count == 0 {
        return Err("the box selected no critters".into());
    }
    let all_stopped = selected.iter(world).all(|status| !status.is_under_way());
    world.resource_mut::<Plan>().selected = count;
    Ok(all_stopped)
}

type OrderItem = (&'static OrderQueue, &'static PathStatus, Has<GroupSlot>);

/// Returns whether all selected critters have such an order.
fn have_order(world: &mut World, expected: ExpectedOrder) -> bool {
    let mut selected = world.query_filtered::<OrderItem, With<Selected>>();
    let near = |queue: &OrderQueue| match queue.current() {
        Some((_, Order::Go(request))) => Some(request.approach),
        _ => None,
    };
    let has_order = |(queue, status, is_grouped): (&OrderQueue, &PathStatus, bool)| match expected {
        ExpectedOrder::Any => *status != PathStatus::Idle,
        ExpectedOrder::Group => is_grouped,
        ExpectedOrder::Patrol => matches!(queue.current(), Some((_, Order::Patrol { .. }))),
        ExpectedOrder::Follow => matches!(near(queue), Some(Approach::Within { .. })),
        ExpectedOrder::Attack | ExpectedOrder::Shoot => {
            matches!(near(queue), Some(Approach::InSight { .. }))
        }
        ExpectedOrder::Visit => matches!(near(queue), Some(Approach::Beside)),
    };
    let has_arrived = |status: &PathStatus| *status == PathStatus::Arrived(PathKind::Complete);
    selected.iter(world).all(has_order)
        && (!matches!(expected, ExpectedOrder::Shoot)
            || selected.iter(world).any(|(_, status, _)| has_arrived(status)))
}

/// Compares the pictures and prints the result.
fn check(world: &mut World) -> Result<(), String> {
    let arrived = world.resource::<Tally>().arrived;
    if arrived == 0 {
        return Err("no critter has arrived".into());
    }
    let plan = world.resource::<Plan>();
    let changed = compare(world.resource::<Pictures>(), plan)?;
    let selected = plan.selected;
    println!(
        r#"{{"smoke":"ok","selected":{selected},"arrived":{arrived},"changed_pixels":{changed}}}"#
    );
    Ok(())
}
