//! The rest of stage 4: ghosts walk, units that physics or the game moves are steered, paths that edits cut off are repaired, and
//! all critters are drawn.
//!
//! Input: paths in [`NavPath`](crate::prelude::NavPath), speeds, edits of the grids. Output: [`Transform`](bevy::prelude::Transform)s.
//! Underneath, a critter's position is whole numbers (cells, and work done on the step between two), advanced
//! once per tick; between ticks the transform runs smoothly from the position before to the position
//! now. A critter whose path an edit cuts off stops at the next cell and gets a new path, in the
//! same tick as a rule; critters whose paths stay clear of the edit are not touched.

mod advance;
mod draw;
mod hand_over;
mod progress;
mod pursuit;
mod repair;
mod sight;
mod steer;

pub use self::draw::CritterDrawing;
pub(crate) use self::{
    advance::advance_critters,
    draw::{DrawnFrames, note_tick, place_transforms},
    hand_over::{MoverChanges, build, hand_over},
    repair::{GridsSeen, repair_paths},
    steer::steer_units,
};
