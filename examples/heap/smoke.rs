//! Plays by itself in a window, for machines that check whether the example works.
//!
//! Input: a folder. Output: pictures in it, one JSON line on stdout, or what went wrong on
//! stderr. Keys, cursor and buttons are fed in where Bevy takes them from the window.

use std::path::Path;

use bevy::{input::ButtonState, prelude::*};

use crate::{
    board,
    check::{self, Plan},
    playback::Playback,
    screen::{pictures::Pictures, play, puppet},
    story::Story,
};

/// A step of this example's own.
#[derive(Clone, Copy, Debug)]
enum Own {
    /// Wait until the tiles can be drawn.
    Load,
    /// Choose the moment and the node to show.
    Plan,
    /// Press keys until that moment is shown.
    Seek,
    /// Point at that node in the tree, or away from everything.
    PointAtNode,
    PointAway,
    /// Point at a cell of the path, to build a wall on it.
    PointAtWall,
    Check,
}

type Step = play::Step<Own>;

/// The whole play.
const STEPS: &[Step] = &[
    Step::Own(Own::Load),
    Step::Own(Own::PointAway),
    Step::Wait(1.5),
    Step::Shoot("start"),
    Step::Own(Own::Plan),
    Step::Own(Own::Seek),
    Step::Wait(0.8), // entries glide
    Step::Shoot("swap"),
    Step::Own(Own::PointAtNode),
    Step::Wait(0.4),
    Step::Shoot("heap"),
    Step::Key(KeyCode::ArrowLeft),
    Step::Wait(0.4),
    Step::Shoot("back"),
    Step::Key(KeyCode::ArrowRight),
    Step::Wait(0.8),
    Step::Shoot("again"),
    Step::Key(KeyCode::End),
    Step::Own(Own::PointAway),
    Step::Wait(0.4),
    Step::Shoot("path"),
    Step::Own(Own::PointAtWall),
    Step::Wait(0.2),
    Step::Button(MouseButton::Left, ButtonState::Pressed),
    Step::Button(MouseButton::Left, ButtonState::Released),
    Step::Own(Own::PointAway),
    Step::Wait(0.4),
    Step::Shoot("wall"),
    Step::Own(Own::Check),
];

/// Makes the app play by itself; the pictures go into `folder`.
pub fn add_to(app: &mut App, folder: &Path) -> Result<(), String> {
    play::add_to(app, folder, STEPS, act)
}

/// Says whether the step is done.
fn act(world: &mut World, step: Own) -> Result<bool, String> {
    let plan = world.get_resource::<Plan>().copied().ok_or("there is no plan");
    match step {
        Own::Load => return Ok(board::is_loaded(world)),
        Own::Plan => {
            let plan = Plan::make(world)?;
            world.insert_resource(plan);
        }
        Own::Seek => return seek(world, plan?.moment),
        Own::PointAtNode => puppet::point(world, plan?.node.center())?,
        Own::PointAway => puppet::point(world, Vec2::splat(4.0))?,
        Own::PointAtWall => puppet::point(world, plan?.wall.center())?,
        Own::Check => {
            let (pictures, story) = (world.resource::<Pictures>(), world.resource::<Story>());
            println!("{}", check::check(pictures, &plan?, story)?);
        }
    }
    Ok(true)
}

/// Goes on by whole expansions, then by single steps.
fn seek(world: &mut World, moment: usize) -> Result<bool, String> {
    let at = world.resource::<Playback>().at;
    if at == moment {
        return Ok(true);
    }
    let is_near = world.resource::<Story>().next_expansion(at) > moment;
    puppet::press(world, if is_near { KeyCode::ArrowRight } else { KeyCode::ArrowDown })?;
    Ok(false)
}
