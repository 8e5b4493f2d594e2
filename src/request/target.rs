//! Where an order leads, how near it must come, and how often it is tried.

use bevy::{prelude::*, reflect::std_traits::ReflectDefault};

use crate::nav::{
    cell::{Cell, CellRect},
    goal::Goal,
    terrain::ProfileId,
};

/// Where a unit is to go.
#[derive(Clone, Debug, PartialEq, Reflect)]
#[reflect(Debug, PartialEq, Clone)]
#[reflect(no_field_bounds)]
pub enum Target {
    /// To a cell.
    Cell(Cell),
    /// To the cell at a world position.
    Position(Vec2),
    /// To an entity: the cell where it is when the request is taken up (and, with
    /// [`follow`](super::PathRequest::follow), wherever it goes from then on). Its footprint is that
    /// of its [`NavBlocker`](crate::prelude::NavBlocker), else that of the unit it was in its last order;
    /// one cell for whoever never had one.
    Entity(Entity),
    /// To any cell of a rectangle.
    Rect(CellRect),
    /// To whichever of these is cheapest to get to: one search, not one each. Entities that are gone
    /// are left out.
    Nearest(Vec<Self>),
}

impl From<Cell> for Target {
    fn from(cell: Cell) -> Self {
        Self::Cell(cell)
    }
}

impl From<Vec2> for Target {
    fn from(position: Vec2) -> Self {
        Self::Position(position)
    }
}

impl From<Entity> for Target {
    fn from(entity: Entity) -> Self {
        Self::Entity(entity)
    }
}

impl From<CellRect> for Target {
    fn from(rect: CellRect) -> Self {
        Self::Rect(rect)
    }
}

impl Target {
    /// How many places it names.
    pub(super) fn count(&self) -> u32 {
        match self {
            Self::Nearest(targets) => targets.len().min(u32::MAX as usize) as u32,
            _ => 1,
        }
    }

    /// Puts the entities of another world in the place of those it names.
    pub(crate) fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        match self {
            Self::Entity(entity) => *entity = mapper.get_mapped(*entity),
            Self::Nearest(targets) => targets.iter_mut().for_each(|one| one.map_entities(mapper)),
            Self::Cell(_) | Self::Position(_) | Self::Rect(_) => {}
        }
    }
}

/// How near to its target a unit must come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Debug, Default, PartialEq, Clone)]
pub enum Near {
    /// Onto it (default).
    #[default]
    Onto,
    /// Up to it: it touches the target's footprint from outside, to harvest or repair it.
    Beside,
    /// Within so many cells of its footprint, in a straight line.
    Within(u16),
    /// Within so many cells, where nothing stands in between: on the line of sight every cell is
    /// passable for the profile `through` (say, that of an arrow).
    InSight {
        /// Range in cells; at most [`MAX_SIGHT_RANGE`](crate::nav::goal::MAX_SIGHT_RANGE) counts.
        cells: u16,
        /// Who could fly through.
        through: ProfileId,
    },
}

impl Near {
    /// What that means for a target that covers `footprint`.
    pub(super) fn goal(self, footprint: CellRect, is_area: bool) -> Goal {
        match self {
            Self::Onto if is_area => Goal::inside(footprint),
            Self::Onto => Goal::from(footprint.min),
            Self::Beside => Goal::beside(footprint),
            Self::Within(cells) => Goal::within(footprint, cells),
            Self::InSight { cells, through } => Goal::in_sight(footprint, cells, through),
        }
    }
}

/// How often, and when, an order that found no way is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Debug, Default, PartialEq, Clone)]
pub struct Retry {
    /// Ticks before the second try, at least 1. The pause doubles from try to try.
    pub after: u32,
    /// The longest pause, in ticks.
    pub longest: u32,
    /// How many more tries there are before the order fails.
    pub most: u16,
}

impl Default for Retry {
    /// After 32 ticks (half a second at 64 Hz), then twice as long each time up to 512, eight times:
    /// about 40 seconds in all.
    fn default() -> Self {
        Self { after: 32, longest: 512, most: 8 }
    }
}

impl Retry {
    /// Pause before try number `tries` (counted from 1) of those that come after the first.
    pub(crate) fn pause(&self, tries: u16) -> u64 {
        let doublings = u32::from(tries.saturating_sub(1)).min(32);
        let pause = u64::from(self.after.max(1)) << doublings;
        pause.min(u64::from(self.longest.max(self.after).max(1)))
    }
}
