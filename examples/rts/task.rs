//! The tasks of critters, and the settings of groups.
//!
//! Input: nothing. Output: [`Task`], the result of the player's clicks and of the script, and
//! [`GroupSettings`], the formation and speed settings of groups.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

/// A task for critters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Move to a cell, each unit to its own slot around it.
    Move(Cell),
    /// Move there and back, repeatedly.
    Patrol(Cell),
    /// Follow a critter.
    Follow(Entity),
    /// Move into range and line of sight of a target, and keep both.
    Attack(Entity),
    /// Move next to a building.
    Visit(Entity),
    /// Stand until the next order; queued: pause for a while.
    Hold,
}

impl Task {
    /// Names of all tasks, in their order.
    pub const NAMES: [&str; 6] = ["moves", "patrols", "follows", "attacks", "visits", "holds"];

    /// Returns the index of its name in [`NAMES`](Self::NAMES).
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

/// Formation and speed of groups.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct GroupSettings {
    /// Index into [`FORMATIONS`](Self::FORMATIONS).
    index: usize,
    /// Whether all members move at the speed of the slowest.
    pub keeps_together: bool,
}

impl GroupSettings {
    const FORMATIONS: [(Formation, &str); 5] = [
        (Formation::Loose, "loose"),
        (Formation::Line, "line"),
        (Formation::Column, "column"),
        (Formation::Box, "box"),
        (Formation::Wedge, "wedge"),
    ];

    /// Returns the formation.
    pub const fn formation(&self) -> Formation {
        Self::FORMATIONS[self.index].0
    }

    /// Returns the formation's name.
    pub const fn name(&self) -> &'static str {
        Self::FORMATIONS[self.index].1
    }

    /// Changes to the next formation in the list, cyclically.
    pub const fn next_formation(&mut self) {
        self.index = (self.index + 1) % Self::FORMATIONS.len();
    }
}
