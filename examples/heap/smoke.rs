//! A scripted run in a window, for automated checks.
//!
//! Input: a folder. Output: pictures in it, one JSON line on stdout, or an error on stderr. Keys,
//! cursor and buttons are injected as window messages.

use std::path::Path;

use bevy::{input::ButtonState, prelude::*};

use crate::{
    board,
    check::{self, Plan},
    playback::Playback,
    screen::{pictures::Pictures, play, puppet},
    timeline::Timeline,
};

/// A step specific to this example.
#[derive(Clone, Copy, Debug)]
enum Action {
    /// Wait until the texture is loaded.
    Load,
    /// Choose the moment and the node to show.
    Plan,
    /// Press keys until that moment is shown.
    Seek,
    /// Point at that node in the tree, or at nothing.
    PointAtNode,
    PointAway,
    /// Point at a cell of the path, to build a wall on it.
    PointAtWall,
    Check,
}

type Step = play::Step<Action>;

/// All steps.
const STEPS: &[Step] = &[
    Step::Own(Action::Load),
    Step::Own(Action::PointAway),
    Step::Wait(1.5),
    Step::Shoot("start"),
    Step::Own(Action::Plan),
    Step::Own(Action::Seek),
    Step::Wait(0.8), // until the swap animation ends
    Step::Shoot("swap"),
    Step::Own(Action::PointAtNode),
    Step::Wait(0.4),
    Step::Shoot("heap"),
    Step::Key(KeyCode::ArrowLeft),
    Step::Wait(0.4),
    Step::Shoot("back"),
    Step::Key(KeyCode::ArrowRight),
    Step::Wait(0.8),
    Step::Shoot("again"),
    Step::Key(KeyCode::End),
    Step::Own(Action::PointAway),
    Step::Wait(0.4),
    Step::Shoot("path"),
    Step::Own(Action::PointAtWall),
    Step::Wait(0.2),
    Step::Button(MouseButton::Left, ButtonState::Pressed),
    Step::Button(MouseButton::Left, ButtonState::Released),
    Step::Own(Action::PointAway),
    Step::Wait(0.4),
    Step::Shoot("wall"),
    Step::Own(Action::Check),
];

/// Adds the scripted run; the pictures are saved in `folder`.
pub fn add_to(app: &mut App, folder: &Path) -> Result<(), String> {
    play::add_to(app, folder, STEPS, act)
}

/// Runs a step. Returns whether it is done.
fn act(world: &mut World, step: Action) -> Result<bool, String> {
    let plan = world.get_resource::<Plan>().copied().ok_or("there is no plan");
    match step {
        Action::Load => return Ok(board::is_loaded(world)),
        Action::Plan => {
            let plan = Plan::make(world)?;
            world.insert_resource(plan);
        }
        Action::Seek => return seek(world, plan?.moment),
        Action::PointAtNode => puppet::point(world, plan?.node.center())?,
        Action::PointAway => puppet::point(world, Vec2::splat(4.0))?,
        Action::PointAtWall => puppet::point(world, plan?.wall.center())?,
        Action::Check => {
            let (pictures, timeline) = (world.resource::<Pictures>(), world.resource::<Timeline>());
            println!("{}", check::check(pictures, &plan?, timeline)?);
        }
    }
    Ok(true)
}

/// Advances by whole expansions, then by single steps.
fn seek(world: &mut World, moment: usize) -> Result<bool, String> {
    let at = world.resource::<Playback>().at;
    if at == moment {
        return Ok(true);
    }
    let is_near = world.resource::<Timeline>().next_expansion(at) > moment;
    puppet::press(world, if is_near { KeyCode::ArrowRight } else { KeyCode::ArrowDown })?;
    Ok(false)
}
