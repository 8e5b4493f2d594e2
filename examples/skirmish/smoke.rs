//! Plays the skirmish by itself, with mouse and keyboard: selects a unit, previews a long way, moves.
//!
//! Input: a folder. Output: pictures in it and one JSON line on stdout, or what went wrong on stderr.

use std::path::Path;

use bevy::{input::ButtonState, prelude::*};
use bevy_tilepath::prelude::*;

use crate::{
    Piece, SIZE, Selection, frame,
    screen::{play, play::Step, puppet},
};

/// A step of this example's own.
#[derive(Clone, Copy, Debug)]
enum Own {
    Hover(Cell),
    Click(Cell),
    /// Wait until all units stand; fail unless one stands on this cell with this many points.
    Stand(Cell, u32),
    /// Fail unless the way to the cell takes so many turns.
    Turns(Cell, usize),
}

const UNIT: Cell = Cell::new(2, 8);
/// Across the water, past the enemies.
const FAR: Cell = Cell::new(18, 8);
const NEAR: Cell = Cell::new(6, 6);
const LAST: Cell = Cell::new(5, 5);

const STEPS: &[Step<Own>] = &[
    Step::Wait(2.0),
    Step::Own(Own::Click(UNIT)),
    Step::Wait(0.3),
    Step::Shoot("range"),
    Step::Own(Own::Hover(FAR)),
    Step::Wait(0.3),
    Step::Own(Own::Turns(FAR, 4)),
    Step::Shoot("preview"),
    Step::Own(Own::Click(NEAR)),
    Step::Own(Own::Stand(NEAR, 2)),
    Step::Shoot("moved"),
    Step::Key(KeyCode::Space),
    Step::Wait(0.3),
    Step::Own(Own::Click(LAST)),
    Step::Own(Own::Stand(LAST, 3)),
    Step::Shoot("next_turn"),
];

/// Makes the example play by itself.
pub fn add_to(app: &mut App, folder: &Path) -> Result<(), String> {
    play::add_to(app, folder, STEPS, act)
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
            if pieces.iter(world).any(|piece| !piece.way.is_empty()) {
                return Ok(false);
            }
            let left = points * u32::from(Profile::PLAIN_COST);
            if !pieces.iter(world).any(|piece| (piece.cell, piece.left) == (cell, left)) {
                let all: Vec<_> =
                    pieces.iter(world).map(|piece| (piece.cell, piece.left)).collect();
                return Err(format!("nobody on {cell} with {points} points, but {all:?}"));
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
    let center = frame().cell_center(cell) * Vec2::new(1.0, -1.0);
    puppet::point(world, center + SIZE.as_vec2() / 2.0)
}
