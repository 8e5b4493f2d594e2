//! Why a unit of a crowd does not move.

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

/// Why a unit does not move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Debug, Default, PartialEq, Clone)]
pub enum Hindrance {
    /// Nothing: it moves, or it has nowhere to go.
    #[default]
    None,
    /// It stands in line: the unit ahead has not made room yet.
    Queue,
    /// The units in its way have nowhere to go.
    Jam,
    /// A unit that may not be pushed is in its way, or one of another team.
    Obstacle,
    /// Others come towards it through a passage one cell wide.
    Oncoming,
    /// No way leads from here to its goal.
    NoWay,
    /// Its speed is 0.
    NoSpeed,
    /// It walks, but comes no nearer to its goal: it has stood back many times, to no avail.
    Circling,
    /// It is not on the grid: there is no room near the place where it was put.
    NoRoom,
}

impl core::fmt::Display for Hindrance {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::None => "nothing is in the way",
            Self::Queue => "the unit ahead has not made room yet",
            Self::Jam => "the units in the way have nowhere to go",
            Self::Obstacle => "somebody who does not give way is in the way",
            Self::Oncoming => "others come out of the passage first",
            Self::NoWay => "no way leads on from here",
            Self::NoSpeed => "its speed is 0",
            Self::Circling => "it walks and comes no nearer to its goal",
            Self::NoRoom => "there is no free cell near its place",
        })
    }
}
