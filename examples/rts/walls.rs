//! Walls that players put up and tear down while critters walk.
//!
//! Input: cells. Output: entities with a [`NavBlocker`], which the plugin takes onto the grid.
//! Nothing else is needed for critters to find their way around: those whose path leads through
//! a new wall get another one.

use std::collections::BTreeMap;

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_tilepath::prelude::*;

use crate::{
    buildings::Buildings,
    map::GameMap,
    units::{Unit, blocks_of},
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
    /// How many walls and buildings were put up and torn down so far.
    pub edits: u64,
}

/// Builds walls, and tears down walls and buildings.
#[derive(SystemParam)]
pub struct Mason<'w, 's> {
    commands: Commands<'w, 's>,
    map: Res<'w, GameMap>,
    walls: ResMut<'w, Walls>,
    buildings: ResMut<'w, Buildings>,
    units: Query<'w, 's, (&'static Unit, &'static CritterState, &'static Transform)>,
}

impl Mason<'_, '_> {
    /// Builds a wall; says whether it could. Walls stand on open ground and on water, where no
    /// wall, no building and no critter is.
    pub fn build(&mut self, cell: Cell) -> bool {
        let is_open = matches!(self.map.letter(cell), Some(b'.' | b'G' | b'S' | b'W'));
        let is_built_on = self.walls.cells.contains_key(&cell) || self.buildings.at(cell).is_some();
        if !is_open || is_built_on || self.is_occupied(cell) {
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

    /// Removes the wall or the building on a cell; says whether there was one.
    pub fn remove(&mut self, cell: Cell) -> bool {
        let wall = self.walls.cells.remove(&cell);
        let Some(entity) = wall.or_else(|| self.buildings.tear_down(cell)) else {
            return false;
        };
        self.commands.entity(entity).despawn();
        self.walls.edits += 1;
        true
    }

    fn is_occupied(&self, cell: Cell) -> bool {
        self.units.iter().any(|(unit, state, transform)| {
            blocks_of(unit.kind, state, transform, &self.map.frame)
                .any(|block| block.contains(cell))
        })
    }
}
