//! Why a unit of a crowd does not move.

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

/// Why a unit does not move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Debug, Default, PartialEq, Clone)]
pub enum Hindrance {
    /// Nothing: the unit moves, or it has nowhere to go.
    #[default]
    None,
    /// It waits in a queue: the unit ahead has not made room yet.
    Queue,
    /// The units in its way have nowhere to go.
    Jam,
    /// A unit that it may not push is in its way, for example one of another team.
    Obstacle,
    /// Other units come towards it through a passage one cell wide.
    Oncoming,
    /// No path leads from here to its goal.
    NoPath,
    /// Its speed is 0.
    NoSpeed,
    /// It walks, but comes no nearer to its goal, although it has stood back many times.
    Circling,
    /// There is no free cell near the position where it was put, so it is not on the grid, or cannot move
    /// because it has grown.
    NoRoom,
}

impl core::fmt::Display for Hindrance {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::None => "nothing is in the way",
            Self::Queue => "the unit ahead has not made room yet",
            Self::Jam => "the units in the way have nowhere to go",
            Self::Obstacle => "a unit that cannot be pushed is in the way",
            Self::Oncoming => "others come out of the passage first",
            Self::NoPath => "no path leads to its goal from here",
            Self::NoSpeed => "its speed is 0",
            Self::Circling => "it walks but comes no nearer to its goal",
            Self::NoRoom => "there is no free cell near its position",
        })
    }
}
