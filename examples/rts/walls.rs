//! Walls that players put up and tear down while critters walk.
//!
//! Input: cells. Output: entities with a [`NavBlocker`], which the plugin takes onto the grid.
//! Nothing else is needed for critters to find their way around: those whose path leads through
//! a new wall get another one.

use std::collections::BTreeMap;

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_tilepath::prelude::*;

use crate::{
    map::GameMap,
    units::{Unit, cell_of},
};

/// How high walls are drawn: above the tiles.
const HEIGHT: f32 = 1.0;

/// A piece of wall.
#[derive(Component, Clone, Copy, Debug)]
pub struct Wall;

/// All walls, by cell.
#[derive(Resource, Clone, Debug, Default)]
pub struct Walls {
    pub cells: BTreeMap<Cell, Entity>,
    /// How many were built and removed so far.
    pub edits: u64,
}

/// Builds and removes walls.
#[derive(SystemParam)]
pub struct Mason<'w, 's> {
    commands: Commands<'w, 's>,
    map: Res<'w, GameMap>,
    walls: ResMut<'w, Walls>,
    units: Query<'w, 's, (&'static CritterState, &'static Transform), With<Unit>>,
}

impl Mason<'_, '_> {
    /// Builds a wall; says whether it could. Walls stand on open ground and on water, where no
    /// wall and no critter is.
    pub fn build(&mut self, cell: Cell) -> bool {
        let is_open = matches!(self.map.letter(cell), Some(b'.' | b'G' | b'S' | b'W'));
        if !is_open || self.walls.cells.contains_key(&cell) || self.is_occupied(cell) {
            return false;
        }
        let place = self.map.frame.cell_center(cell).extend(HEIGHT);
        let wall =
            (Wall, NavBlocker::on(CellRect::single(cell)), Transform::from_translation(place));
        let entity = self.commands.spawn(wall).id();
        self.walls.cells.insert(cell, entity);
        self.walls.edits += 1;
        true
    }

    /// Removes a wall; says whether there was one.
    pub fn remove(&mut self, cell: Cell) -> bool {
        let Some(entity) = self.walls.cells.remove(&cell) else {
            return false;
        };
        self.commands.entity(entity).despawn();
        self.walls.edits += 1;
        true
    }

    fn is_occupied(&self, cell: Cell) -> bool {
        self.units.iter().any(|(state, transform)| {
            let is_entering = state.walk().is_between_cells() && state.walk().head() == cell;
            is_entering || cell_of(state, transform, &self.map.frame) == Some(cell)
        })
    }
}
