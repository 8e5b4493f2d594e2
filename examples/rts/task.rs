//! What critters can be told to do, and how groups go.
//!
//! Input: nothing. Output: [`Task`], which the player's clicks and the script amount to, and
//! [`Drill`], the settings under which groups go.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

/// What critters can be told to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Go there, each to a place of its own.
    Move(Cell),
    /// Go there and back, again and again.
    Patrol(Cell),
    /// Go after a critter.
    Follow(Entity),
    /// Come within range of a target and in sight of it, and stay so.
    Attack(Entity),
    /// Go up to a building.
    Visit(Entity),
    /// Stand until there is another order; in a line of orders, for a while.
    Hold,
}

impl Task {
    /// Names of all tasks, in their order.
    pub const NAMES: [&str; 6] = ["moves", "patrols", "follows", "attacks", "visits", "holds"];

    /// Which of the names is its own.
    pub const fn index(self) -> usize {
        match self {
            Self::Move(_) => 0,
            Self::Patrol(_) => 1,
            Self::Follow(_) => 2,
            Self::Attack(_) => 3,
            Self::Visit(_) => 4,
            Self::Hold => 5,
        }
    }
}

/// How groups go.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct Drill {
    /// Which of the [`FORMATIONS`](Self::FORMATIONS).
    index: usize,
    /// All as fast as the slowest.
    pub keeps_together: bool,
}

impl Drill {
    const FORMATIONS: [(Formation, &str); 5] = [
        (Formation::Loose, "loose"),
        (Formation::Line, "line"),
        (Formation::Column, "column"),
        (Formation::Box, "box"),
        (Formation::Wedge, "wedge"),
    ];

    /// How groups stand.
    pub const fn formation(&self) -> Formation {
        Self::FORMATIONS[self.index].0
    }

    /// What the formation is called.
    pub const fn name(&self) -> &'static str {
        Self::FORMATIONS[self.index].1
    }

    /// Takes up the formation that is so many places farther on in the list, counted round.
    pub const fn turn(&mut self, places: usize) {
        self.index = (self.index + places) % Self::FORMATIONS.len();
    }
}
