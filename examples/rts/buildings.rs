//! Buildings that stand on the map from the beginning: depots to go up to, dummies to shoot at.
//!
//! Input: where the game begins and who stands there. Output: entities with a [`Building`] and a
//! [`NavBlocker`] under them, which orders name as their targets; [`Buildings`] finds them by
//! cell. A building that is torn down ends the orders that lead to it.

use std::collections::BTreeMap;

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    kinds::Kind,
    map::GameMap,
    placement::{Room, Spiral, main_island},
    units::{Home, Unit, blocks_of},
};

/// How high buildings are drawn: above the tiles.
const HEIGHT: f32 = 1.0;
/// What stands where in the beginning, in cells from the home cell.
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

/// What a building is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildingKind {
    /// A house of two cells a side, to bring things to.
    Depot,
    /// A target of one cell.
    Dummy,
}

impl BuildingKind {
    /// How many cells it is wide and high.
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
    /// The building on a cell.
    pub fn at(&self, cell: Cell) -> Option<(Entity, Building)> {
        self.0.get(&cell).copied()
    }

    /// All buildings, in the order of their cells.
    pub fn iter(&self) -> impl Iterator<Item = (Entity, Building)> {
        let corners = self.0.iter().filter(|(cell, (_, building))| building.block.min == **cell);
        corners.map(|(_, &site)| site)
    }

    /// Forgets the building on a cell; says which it was.
    pub fn tear_down(&mut self, cell: Cell) -> Option<Entity> {
        let (entity, building) = self.at(cell)?;
        for cell in building.block.cells() {
            self.0.remove(&cell);
        }
        Some(entity)
    }
}

/// Spawns what stands on the map in the beginning: on land, with free ground all around.
pub fn found(
    mut commands: Commands,
    mut buildings: ResMut<Buildings>,
    spiral: Res<Spiral>,
    home: Res<Home>,
    map: Res<GameMap>,
    units: Query<(&Unit, &CritterState, &Transform)>,
) {
    let land = Kind::Runner.profile();
    let Some(island) = main_island(&map.grid, land) else {
        return;
    };
    let taken = units
        .iter()
        .flat_map(|(unit, state, transform)| blocks_of(unit.kind, state, transform, &map.frame));
    let mut room = Room::without(taken);
    for (kind, (dx, dy)) in SITES {
        let size = kind.size();
        let spot = spiral.around(home.0.offset(dx, dy)).find(|&cell| {
            let yard = CellRect::new(cell.offset(-1, -1), size + 2, size + 2);
            let is_land = yard.cells().all(|cell| map.grid.region(land, cell) == Some(island));
            is_land && room.take(yard)
        });
        let Some(cell) = spot else { continue };
        let building = Building { kind, block: CellRect::new(cell, size, size) };
        let place = map.frame.block_center(cell, size).extend(HEIGHT);
        let bundle = (building, NavBlocker::on(building.block), Transform::from_translation(place));
        let entity = commands.spawn(bundle).id();
        buildings.0.extend(building.block.cells().map(|cell| (cell, (entity, building))));
    }
}
