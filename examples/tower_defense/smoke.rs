//! Plays tower defense by itself, with the mouse: a wall with one gap, a click that would close it.
//!
//! Input: a folder. Output: pictures in it and one JSON line on stdout, or what went wrong on stderr.

use std::path::Path;

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    Game, ROWS, SIZE, frame,
    screen::{play, play::Step, puppet},
};

/// A step of this example's own.
#[derive(Clone, Copy, Debug)]
enum Own {
    Click(Cell, MouseButton),
    /// Wait until the game is like this.
    Until(fn(&Game) -> bool),
    /// Print the score; fail unless exactly one tower was refused.
    Check,
}

/// Makes the game play by itself.
pub fn add_to(app: &mut App, folder: &Path) -> Result<(), String> {
    play::add_to(app, folder, steps().leak(), act)
}

fn steps() -> Vec<Step<Own>> {
    let build = |x, y| Step::Own(Own::Click(Cell::new(x, y), MouseButton::Left));
    let mut steps = vec![Step::Own(Own::Until(|game| game.spawned > 0))];
    steps.extend((1..ROWS).rev().map(|y| build(24, y)));
    steps.extend((0..4).map(|y| build(21, y)));
    steps.extend([Step::Own(Own::Until(|game| game.spawned > 9)), build(24, 0)]);
    steps.extend([Step::Wait(0.1), Step::Shoot("refused")]);
    steps.extend([Step::Own(Own::Until(|game| game.kills > 5)), Step::Shoot("defense")]);
    steps.push(Step::Own(Own::Click(Cell::new(24, 10), MouseButton::Right)));
    steps.extend([Step::Own(Own::Until(|game| game.leaks > 1)), Step::Shoot("leaks")]);
    steps.push(Step::Own(Own::Check));
    steps
}

/// Says whether the step is done.
fn act(world: &mut World, step: Own) -> Result<bool, String> {
    match step {
        Own::Click(cell, button) => {
            puppet::click(world, puppet::pixel(frame().cell_center(cell), SIZE), button)?;
        }
        Own::Until(is_so) => return Ok(is_so(world.resource::<Game>())),
        Own::Check => {
            let Game { kills, leaks, refused, .. } = *world.resource::<Game>();
            if refused != 1 {
                return Err(format!("{refused} towers were refused, not 1"));
            }
            println!(r#"{{"smoke":"ok","kills":{kills},"leaks":{leaks},"refused":{refused}}}"#);
        }
    }
    Ok(true)
}
