//! Units that the plugin moves, and the components that control their movement.

use bevy::prelude::*;

use super::{CritterState, NavAgent, NavPath, PathStatus, RequestState};
use crate::{
    coordinates::GridFrame,
    nav::{Direction, PathCost, Topology, walk::PROGRESS_PER_COST},
};

/// Moves its entity along the paths found for its [`PathRequest`](crate::prelude::PathRequest)s.
///
/// The plugin writes the entity's `Transform` while it walks (x and y; z stays as it is). To put
/// a critter elsewhere, write its `Transform` while it stands. The transform is the middle of the
/// critter: of a unit of 2 × 2 cells ([`Profile::size`](crate::prelude::Profile::size)) the corner where
/// its four cells meet. Its [`NavAgent`] sets its grid and profile. To take a critter off the map, remove this component: while
/// only its `Transform` is missing, the unit walks on unseen, and an arrival is not announced.
///
/// Critters collide with each other: no cell is ever held by two, see [`crowds`](crate::crowds). A
/// [`ghost`](Self::ghost) walks through all others.
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[require(NavAgent, CritterState, Facing, Transform, RequestState, NavPath, PathStatus)]
#[must_use]
pub struct Critter {
    /// Cells per second over plain terrain (terrain of cost 16); slower on costlier terrain in proportion. With
    /// zero, a negative number or NaN it stands still. Default 4. A critter that collides walks at most one cell per tick: 64
    /// cells per second at 64 ticks. To change it for a while, use [`SpeedFactor`](crate::prelude::SpeedFactor) or
    /// [`SpeedLimit`](crate::prelude::SpeedLimit).
    pub speed: f32,
    /// Whether the transform is rotated to the direction of movement, its local +x ahead. It turns gradually: by at
    /// most a full turn in the time that a cell takes at its speed, or at 4 cells per second if it is slower.
    /// Default true; switch it off for sprites drawn in several directions and read [`Facing`] instead.
    pub turns: bool,
    /// Whether it and other critters collide with each other. Default true; see [`ghost`](Self::ghost).
    pub collides: bool,
}

impl Default for Critter {
    fn default() -> Self {
        Self { speed: 4.0, turns: true, collides: true }
    }
}

impl Critter {
    /// A critter of `speed` cells per second over plain terrain.
    pub fn new(speed: f32) -> Self {
        Self { speed, ..Self::default() }
    }

    /// The same, with or without rotation of its transform.
    pub const fn turns(self, turns: bool) -> Self {
        Self { turns, ..self }
    }

    /// The same, but walking through all other critters, and they through it.
    pub const fn ghost(self) -> Self {
        Self { collides: false, ..self }
    }
}

/// The team of a critter; 0 for critters without this component. Critters push only units of their own team out
/// of the way.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Hash, Clone)]
pub struct CrowdTeam(pub u8);

/// Others may not push this critter aside: they walk around it. It still carries out its own requests. For
/// units that guard a place or are at work.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Hash, Clone)]
pub struct Unpushable;

/// The direction in which a critter moves, or moved last. Read-only: the plugin writes it.
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
pub struct Facing {
    /// In cells, on the grid: the nearest of the eight directions, one of the six steps on hexagons.
    pub direction: Direction,
    /// In the world: a unit vector on the plane of the map. On an isometric map it differs from the direction on
    /// the grid. If a grid is rotated, critters at rest keep their vector until they move.
    pub world: Vec2,
}

impl Default for Facing {
    fn default() -> Self {
        Self { direction: Direction::default(), world: Vec2::X }
    }
}

impl Facing {
    /// Faces a direction of the grid, on a map of squares whose rows run along the world's x axis. On any other map the plugin
    /// sets [`world`](Self::world) when the critter first moves.
    #[must_use]
    pub fn new(direction: Direction) -> Self {
        let (x, y) = direction.offset();
        Self { direction, world: Vec2::new(x as f32, y as f32).normalize() }
    }

    /// Faces an offset in cells on a grid that lies in the world like this.
    pub(crate) fn on(frame: &GridFrame, (x, y): (i32, i32)) -> Self {
        let world = frame.step(x, y).normalize_or(Vec2::X);
        let towards = |direction: Direction| {
            let (x, y) = direction.offset();
            frame.step(x, y).normalize_or_zero().dot(world)
        };
        let nearest = match frame.topology() {
            Topology::Square => Direction::nearest(x, y),
            Topology::Hexagonal => (frame.topology().widest().straight_steps())
                .map(Direction::from_bits)
                .max_by(|&a, &b| towards(a).total_cmp(&towards(b))),
        };
        Self { direction: nearest.unwrap_or_default(), world }
    }

    /// The compass direction on screen, one of eight: which picture of a sprite sheet to show. On an isometric
    /// map, a step along a row leads down and to the right on screen, and this returns `SouthEast`.
    #[must_use]
    pub fn compass(&self) -> Direction {
        let eighths = self.world.y.atan2(self.world.x) / core::f32::consts::FRAC_PI_4;
        Direction::from_bits((eighths.round() as i32).rem_euclid(8) as u8)
    }
}

/// Work of one tick of `seconds` at `speed`, in parts of path cost.
pub(crate) fn work(speed: f32, seconds: f32) -> u64 {
    let per_cell = (PathCost::PLAIN_STEP.0 * PROGRESS_PER_COST) as f64;
    // A negative or NaN product becomes 0.
    (f64::from(speed) * f64::from(seconds) * per_cell) as u64
}
