//! The kinds of critters: where each can go, how fast, how large, and what it is called.
//!
//! Input: nothing. Output: the movement profiles (kind `i` has profile `i`) and the facts that
//! spawning, orders, drawing and the HUD go by. Terrain ids are the letters of the map files: `.`
//! road, `G` grass, `S` swamp, `T` trees, `W` water, `@` rock and houses.

use bevy_tilepath::prelude::*;

/// As whom shots fly: over everything flat, as hovercraft do, and no farther than the next wall.
pub const SHOT: ProfileId = Kind::Hovercraft.profile();

/// What a critter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Fast on firm ground, slow in swamps.
    Runner,
    /// Also makes its way through trees, slowly.
    Trooper,
    /// Slow and two cells wide; swamps are too soft for it.
    Tank,
    /// Stays on the water.
    Boat,
    /// Goes over everything flat.
    Hovercraft,
}

impl Kind {
    /// All of them, in the order of their profiles.
    pub const ALL: [Self; 5] =
        [Self::Runner, Self::Trooper, Self::Tank, Self::Boat, Self::Hovercraft];

    /// The profiles of all kinds, by number.
    pub fn profiles() -> Vec<Profile> {
        Self::ALL.map(Self::movement).to_vec()
    }

    /// The number of its profile.
    pub const fn profile(self) -> ProfileId {
        ProfileId(self as u8)
    }

    /// What each terrain costs it, in sixteenths of plain ground, and how much room it needs.
    fn movement(self) -> Profile {
        let costs: &[(u8, u16)] = match self {
            Self::Runner => &[(b'.', 16), (b'G', 20), (b'S', 40)],
            Self::Trooper => &[(b'.', 16), (b'G', 20), (b'S', 40), (b'T', 64)],
            Self::Tank => &[(b'.', 16), (b'G', 16)],
            Self::Boat => &[(b'W', 16)],
            Self::Hovercraft => &[(b'.', 16), (b'G', 16), (b'S', 16), (b'W', 16)],
        };
        costs.iter().fold(Profile::new().size(self.size()), |profile, &(letter, cost)| {
            profile.with(TerrainId(letter), cost)
        })
    }

    /// How many cells it is wide and high.
    pub const fn size(self) -> u8 {
        match self {
            Self::Tank => 2,
            Self::Runner | Self::Trooper | Self::Boat | Self::Hovercraft => 1,
        }
    }

    /// The cells it covers when its lowest, leftmost one is `anchor`.
    pub const fn block(self, anchor: Cell) -> CellRect {
        CellRect::new(anchor, self.size() as u32, self.size() as u32)
    }

    /// Cells per second on plain ground.
    pub const fn speed(self) -> f32 {
        match self {
            Self::Runner => 7.0,
            Self::Trooper => 4.0,
            Self::Tank => 2.5,
            Self::Boat => 5.0,
            Self::Hovercraft => 6.0,
        }
    }

    /// Whether it goes in straight lines in any direction.
    pub const fn glides(self) -> bool {
        matches!(self, Self::Boat | Self::Hovercraft)
    }

    /// How far it shoots, in cells.
    pub const fn range(self) -> u16 {
        match self {
            Self::Runner => 4,
            Self::Trooper | Self::Hovercraft => 6,
            Self::Tank | Self::Boat => 9,
        }
    }

    /// Where it stands in a formation: lower ranks are in front.
    pub const fn rank(self) -> i32 {
        match self {
            Self::Tank | Self::Boat => 0,
            Self::Trooper | Self::Hovercraft => 1,
            Self::Runner => 2,
        }
    }

    /// Its share of the critters that a game begins with, in percent.
    pub const fn share(self) -> u32 {
        match self {
            Self::Runner => 35,
            Self::Trooper => 37,
            Self::Tank => 8,
            Self::Boat | Self::Hovercraft => 10,
        }
    }

    /// Name of several of them.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Runner => "runners",
            Self::Trooper => "troopers",
            Self::Tank => "tanks",
            Self::Boat => "boats",
            Self::Hovercraft => "hovercraft",
        }
    }
}
