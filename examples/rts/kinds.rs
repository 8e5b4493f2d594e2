//! The kinds of critters: terrain costs, speed, size and name of each.
//!
//! Input: nothing. Output: the movement profiles (kind `i` has profile `i`) and the properties
//! used by spawning, orders, drawing and the HUD. Terrain ids are the letters of the map files:
//! `.` road, `G` grass, `S` swamp, `T` trees, `W` water, `@` rock and houses.

use bevy_tilepath::prelude::*;

/// Profile for the line of sight of shots: passes over everything flat, as hovercraft do, and is
/// blocked by walls.
pub const SHOT: ProfileId = Kind::Hovercraft.profile();

/// A kind of critter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Fast on roads and grass, slow in swamps.
    Runner,
    /// Also crosses forests, slowly.
    Trooper,
    /// Slow and two cells wide; cannot cross swamps.
    Tank,
    /// Restricted to water.
    Boat,
    /// Crosses everything flat.
    Hovercraft,
}

impl Kind {
    /// All kinds, in the order of their profiles.
    pub const ALL: [Self; 5] =
        [Self::Runner, Self::Trooper, Self::Tank, Self::Boat, Self::Hovercraft];

    /// Returns the profiles of all kinds, by number.
    pub fn profiles() -> Vec<Profile> {
        Self::ALL.map(Self::movement).to_vec()
    }

    /// Returns its profile.
    pub const fn profile(self) -> ProfileId {
        ProfileId(self as u8)
    }

    /// Returns its profile: terrain costs, in sixteenths of a uniform step, and size.
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

    /// Returns the cells along a side of it: a tank is 2 × 2 squares, or 7 hexagons.
    pub const fn size(self) -> u8 {
        match self {
            Self::Tank => 2,
            Self::Runner | Self::Trooper | Self::Boat | Self::Hovercraft => 1,
        }
    }

    /// Returns how many cells it is wide on squares or hexagons.
    pub const fn width(self, topology: Topology) -> u8 {
        match topology {
            Topology::Square => self.size(),
            Topology::Hexagonal => 2 * self.size() - 1,
        }
    }

    /// Returns its speed on plain terrain, in cells per second.
    pub const fn speed(self) -> f32 {
        match self {
            Self::Runner => 7.0,
            Self::Trooper => 4.0,
            Self::Tank => 2.5,
            Self::Boat => 5.0,
            Self::Hovercraft => 6.0,
        }
    }

    /// Returns its weapon range, in cells.
    pub const fn range(self) -> u16 {
        match self {
            Self::Runner => 4,
            Self::Trooper | Self::Hovercraft => 6,
            Self::Tank | Self::Boat => 9,
        }
    }

    /// Returns its rank in a formation: lower ranks are in front.
    pub const fn rank(self) -> i32 {
        match self {
            Self::Tank | Self::Boat => 0,
            Self::Trooper | Self::Hovercraft => 1,
            Self::Runner => 2,
        }
    }

    /// Returns its share of the initial critters, in percent.
    pub const fn share(self) -> u32 {
        match self {
            Self::Runner => 35,
            Self::Trooper => 37,
            Self::Tank => 8,
            Self::Boat | Self::Hovercraft => 10,
        }
    }

    /// Returns its name in the plural.
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
