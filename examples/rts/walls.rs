//! Walls that players build and remove during the game.
//!
//! Input: cells. Output: entities with a [`NavBlocker`], which the plugin applies to the grid. The
//! plugin also replaces the paths that a new wall blocks.

use std::collections::BTreeMap;

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_tilepath::prelude::*;

use crate::{
    buildings::Buildings,
    map::GameMap,
    units::{Unit, cells_under},
};

/// The z coordinate of walls: above the tiles.
const HEIGHT: f32 = 1.0;

/// A wall of one cell.
#[derive(Component, Clone, Copy, Debug)]
pub struct Wall;

/// All walls, by cell.
#[derive(Resource, Clone, Debug, Default)]
pub struct Walls {
    pub cells: BTreeMap<Cell, Entity>,
    /// Number of walls built, and of walls and buildings removed so far.
    pub edits: u64,
}

/// Builds walls, and removes walls and buildings.
#[derive(SystemParam)]
pub struct WallEditor<'w, 's> {
    commands: Commands<'w, 's>,
    map: Res<'w, GameMap>,
    walls: ResMut<'w, Walls>,
    buildings: ResMut<'w, Buildings>,
    units: Query<'w, 's, (&'static Unit, &'static CritterState, &'static Transform)>,
}

impl WallEditor<'_, '_> {
    /// Builds a wall if it can; returns whether it did. Walls stand on road, grass, swamp and water
    /// cells without wall, building or critter.
    pub fn build(&mut self, cell: Cell) -> bool {
        let is_open = matches!(self.map.letter(cell), Some(b'.' | b'G' | b'S' | b'W'));
        let is_built_on = self.walls.cells.contains_key(&cell) || self.buildings.at(cell).is_some();
        if !is_open || is_built_on || self.is_occupied(cell) {
            return false;
        }
        let position = self.map.frame.cell_center(cell).extend(HEIGHT);
        let wall =
            (Wall, NavBlocker::at(CellRect::single(cell)), Transform::from_translation(position));
        let entity = self.commands.spawn(wall).id();
        self.walls.cells.insert(cell, entity);
        self.walls.edits += 1;
        true
    }

    /// Removes the wall or the building on a cell; returns whether there was one.
    pub fn remove(&mut self, cell: Cell) -> bool {
        let wall = self.walls.cells.remove(&cell);
        let Some(entity) = wall.or_else(|| self.buildings.remove(cell)) else {
            return false;
        };
        self.commands.entity(entity).despawn();
        self.walls.edits += 1;
        true
    }

    fn is_occupied(&self, cell: Cell) -> bool {
        self.units.iter().any(|(unit, state, transform)| {
            cells_under(unit.kind, state, transform, &self.map).any(|at| at == cell)
        })
    }
}
