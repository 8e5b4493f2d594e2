//! Plays a board by itself, with mouse and keyboard: selects a unit, previews a long path, moves.
//!
//! Input: a folder. Output: pictures in it and one JSON line on stdout, or what went wrong on stderr.

use std::path::Path;

use bevy::{input::ButtonState, prelude::*};
use bevy_tilepath::prelude::*;

use super::{Board, Piece, SIZE, Selection};
use crate::screen::{play, play::Step, puppet};

/// A step of the boards' own.
#[derive(Clone, Copy, Debug)]
pub enum Own {
    Hover(Cell),
    Click(Cell),
    /// Wait until all units stand; fail unless one stands on this cell with this many points.
    Stand(Cell, u32),
    /// Fail unless the path to the cell takes so many turns.
    Turns(Cell, usize),
}

/// Makes the example play by itself.
pub fn add_to(app: &mut App, folder: &Path, steps: &'static [Step<Own>]) -> Result<(), String> {
    play::add_to(app, folder, steps, act)
}

/// Says whether the step is done.
fn act(world: &mut World, step: Own) -> Result<bool, String> {
    match step {
        Own::Hover(cell) => point(world, cell)?,
        Own::Click(cell) => {
            point(world, cell)?;
            puppet::button(world, MouseButton::Left, ButtonState::Pressed)?;
            puppet::button(world, MouseButton::Left, ButtonState::Released)?;
        }
        Own::Stand(cell, points) => {
            let mut pieces = world.query::<&Piece>();
            if pieces.iter(world).any(|piece| !piece.path.is_empty()) {
                return Ok(false);
            }
            let left = points * u32::from(Profile::PLAIN_COST);
            if !pieces.iter(world).any(|piece| (piece.cell, piece.left) == (cell, left)) {
                let all: Vec<_> =
                    pieces.iter(world).map(|piece| (piece.cell, piece.left)).collect();
                return Err(format!("no unit on {cell} with {points} points: {all:?}"));
            }
            println!(r#"{{"smoke":"ok","cell":"{cell}","points":{points}}}"#);
        }
        Own::Turns(cell, turns) => {
            let ends = world.resource::<Selection>().range.turn_ends(cell);
            let found = ends.map_or(0, |ends| ends.len());
            if found != turns {
                return Err(format!("{found} turns to {cell}, not {turns}"));
            }
        }
    }
    Ok(true)
}

fn point(world: &mut World, cell: Cell) -> Result<(), String> {
    let frame = world.resource::<Board>().frame;
    let center = frame.cell_center(cell) * Vec2::new(1.0, -1.0);
    puppet::point(world, center + SIZE.as_vec2() / 2.0)
}
