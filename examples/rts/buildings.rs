//! Buildings that exist from the start: depots to visit, dummies to shoot at.
//!
//! Input: the home cell and the positions of critters. Output: entities with a [`Building`] and a
//! [`NavBlocker`], which are targets of orders; [`Buildings`] finds them by cell. Removing a
//! building ends the orders to it.

use std::collections::BTreeMap;

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    kinds::Kind,
    map::GameMap,
    placement::{OccupiedCells, Spiral, largest_region},
    units::{Home, Unit, cells_under},
};

/// The z coordinate of buildings: above the tiles.
const HEIGHT: f32 = 1.0;
/// The buildings and their preferred cells, relative to the home cell.
const SITES: [(BuildingKind, (i32, i32)); 8] = [
    (BuildingKind::Depot, (-6, 8)),
    (BuildingKind::Depot, (-4, -16)),
    (BuildingKind::Depot, (-20, 9)),
    (BuildingKind::Depot, (14, 9)),
    (BuildingKind::Dummy, (-1, -3)),
    (BuildingKind::Dummy, (-13, 6)),
    (BuildingKind::Dummy, (-22, 2)),
    (BuildingKind::Dummy, (20, -16)),
];

/// A kind of building.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildingKind {
    /// A house of two cells a side.
    Depot,
    /// A target of one cell.
    Dummy,
}

impl BuildingKind {
    /// Returns its width and height, in cells.
    pub const fn size(self) -> u32 {
        match self {
            Self::Depot => 2,
            Self::Dummy => 1,
        }
    }
}

/// A building.
#[derive(Component, Clone, Copy, Debug)]
pub struct Building {
    pub kind: BuildingKind,
    /// The cells it covers.
    pub block: CellRect,
}

/// All buildings, by the cells they cover.
#[derive(Resource, Clone, Debug, Default)]
pub struct Buildings(BTreeMap<Cell, (Entity, Building)>);

impl Buildings {
    /// Returns the building on a cell.
    pub fn at(&self, cell: Cell) -> Option<(Entity, Building)> {
        self.0.get(&cell).copied()
    }

    /// Returns all buildings, in the order of their cells.
    pub fn iter(&self) -> impl Iterator<Item = (Entity, Building)> {
        let corners = self.0.iter().filter(|(cell, (_, building))| building.block.min == **cell);
        corners.map(|(_, &site)| site)
    }

    /// Removes the building on a cell from the map and returns its entity.
    pub fn remove(&mut self, cell: Cell) -> Option<Entity> {
        let (entity, building) = self.at(cell)?;
        for cell in building.block.cells() {
            self.0.remove(&cell);
        }
        Some(entity)
    }
}

/// Spawns the buildings: on land, with free cells all around.
pub fn spawn_buildings(
    mut commands: Commands,
    mut buildings: ResMut<Buildings>,
    spiral: Res<Spiral>,
    home: Res<Home>,
    map: Res<GameMap>,
    units: Query<(&Unit, &CritterState, &Transform)>,
) {
    let land = Kind::Runner.profile();
    let Some(region) = largest_region(&map.grid, land) else {
        return;
    };
    let taken = units
        .iter()
        .flat_map(|(unit, state, transform)| cells_under(unit.kind, state, transform, &map));
    let mut occupied = OccupiedCells::new(taken);
    for (kind, (dx, dy)) in SITES {
        let size = kind.size();
        let spot = spiral.around(home.0.offset(dx, dy)).find(|&cell| {
            let yard = CellRect::new(cell.offset(-1, -1), size + 2, size + 2);
            let is_land = yard.cells().all(|cell| map.grid.region(land, cell) == Some(region));
            is_land && occupied.claim(yard.cells())
        });
        let Some(cell) = spot else { continue };
        let building = Building { kind, block: CellRect::new(cell, size, size) };
        let position = map.middle_of(building.block).extend(HEIGHT);
        let bundle =
            (building, NavBlocker::at(building.block), Transform::from_translation(position));
        let entity = commands.spawn(bundle).id();
        buildings.0.extend(building.block.cells().map(|cell| (cell, (entity, building))));
    }
}
