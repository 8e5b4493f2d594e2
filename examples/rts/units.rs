//! Critters: their components, and how they are spawned.
//!
//! Input: kinds and cells. Output: entities with a [`Unit`], a [`Critter`] that the plugin moves,
//! and an [`OrderQueue`]. Sprites are added only where the game is drawn.

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_tilepath::prelude::*;

use crate::{
    cli::Options,
    kinds::Kind,
    map::GameMap,
    placement::{OccupiedCells, Spiral, find_home, largest_region},
};

/// The z coordinate of critters: above tiles, walls and buildings.
const HEIGHT: f32 = 3.0;
/// Center of each kind's camp, in cells from the home cell.
const CAMPS: [(i32, i32); 5] = [(-13, -4), (13, -5), (-3, 14), (0, 0), (1, -12)];

/// A critter of this game.
#[derive(Component, Clone, Copy, Debug)]
#[require(OrderQueue)]
pub struct Unit {
    pub kind: Kind,
    /// Cells from one side to the other.
    pub width: u8,
    /// Counts up from 0 in the order of spawning.
    pub number: u32,
}

/// The home cell: the camera and the camps start around it.
#[derive(Resource, Clone, Copy, Debug)]
pub struct Home(pub Cell);

/// Number of critters spawned so far.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct UnitCount(pub u32);

/// Spawns critters and numbers them.
#[derive(SystemParam)]
pub struct UnitSpawner<'w, 's> {
    commands: Commands<'w, 's>,
    map: Res<'w, GameMap>,
    count: ResMut<'w, UnitCount>,
}

impl UnitSpawner<'_, '_> {
    /// Spawns a critter on a cell; a large one also covers cells around it.
    pub fn spawn(&mut self, kind: Kind, cell: Cell) {
        let position = self.map.frame.block_center(cell, kind.size().into()).extend(HEIGHT);
        self.commands.spawn((
            Unit { kind, width: kind.width(self.map.grid.topology()), number: self.count.0 },
            Critter::new(kind.speed()).turns(false),
            NavAgent::new(kind.profile()),
            PathStatus::Idle,
            Facing::new(Direction::South),
            Transform::from_translation(position),
        ));
        self.count.0 += 1;
    }
}

/// Spawns the initial critters: a camp of each kind around the home cell.
pub fn spawn_camps(
    mut spawner: UnitSpawner,
    mut home: ResMut<Home>,
    spiral: Res<Spiral>,
    options: Res<Options>,
    map: Res<GameMap>,
) {
    home.0 = find_home(&map.grid);
    let region = |kind: Kind| largest_region(&map.grid, kind.profile());
    let regions = Kind::ALL.map(region);
    let mut occupied = OccupiedCells::default();
    let mut left = options.units as usize;
    for (kind, region) in Kind::ALL.into_iter().zip(regions) {
        let Some(region) = region else { continue };
        let wanted = left.min((options.units * kind.share()).div_ceil(100) as usize);
        let (dx, dy) = CAMPS[kind as usize];
        let camp = home.0.offset(dx, dy);
        for cell in spiral.spawn_cells(&map.grid, (kind, region), camp, wanted, &mut occupied) {
            spawner.spawn(kind, cell);
            left -= 1;
        }
    }
    spawn_remaining(&mut spawner, &map.grid, regions, left, occupied);
}

/// Spawns the critters that did not fit into the camps anywhere on the map.
fn spawn_remaining(
    spawner: &mut UnitSpawner,
    grid: &NavGrid,
    regions: [Option<u32>; 5],
    count: usize,
    mut occupied: OccupiedCells,
) {
    let mut cells = grid.rect().cells();
    for _ in 0..count {
        let spot = cells.by_ref().find_map(|cell| {
            let fits = |&kind: &Kind| {
                let region = regions[kind as usize];
                let is_in_region = region.is_some() && grid.region(kind.profile(), cell) == region;
                is_in_region && occupied.claim(grid.cells_of(kind.profile(), cell))
            };
            Some((Kind::ALL.into_iter().find(fits)?, cell))
        });
        let Some((kind, cell)) = spot else {
            warn!("the map has no room for {count} more critters");
            return;
        };
        spawner.spawn(kind, cell);
    }
}

/// Returns a critter's cell (its anchor): the cell it leaves while it moves, else the
/// cell it stands on. Before its first tick, when it has yet to be placed, the cell is taken from its
/// transform.
pub fn cell_of(
    kind: Kind,
    state: &CritterState,
    transform: &Transform,
    frame: &GridFrame,
) -> Option<Cell> {
    if state.is_placed() {
        Some(state.cell())
    } else {
        frame.anchor_at(transform.translation.truncate(), kind.size().into())
    }
}

/// Returns the cells that a critter covers, and those that it is entering.
pub fn cells_under(
    kind: Kind,
    state: &CritterState,
    transform: &Transform,
    map: &GameMap,
) -> impl Iterator<Item = Cell> {
    let head = state.walk().is_between_cells().then(|| state.walk().head());
    let cells = cell_of(kind, state, transform, &map.frame).into_iter().chain(head);
    cells.flat_map(move |cell| map.grid.cells_of(kind.profile(), cell))
}
