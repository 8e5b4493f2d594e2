//! Critters: what they are made of, and how they come into the game.
//!
//! Input: kinds and cells. Output: entities with a [`Unit`], a [`Critter`] that the plugin moves,
//! and an [`OrderQueue`]. How they look is added where there is something to look at.

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_tilepath::prelude::*;

use crate::{
    cli::Options,
    kinds::Kind,
    map::GameMap,
    placement::{Room, Spiral, find_home, main_island},
};

/// How high critters are drawn: above tiles, walls and buildings.
const HEIGHT: f32 = 3.0;
/// Where each kind starts, in cells from the home cell.
const CAMPS: [(i32, i32); 5] = [(-13, -4), (13, -5), (-3, 14), (0, 0), (1, -12)];

/// A critter of this game.
#[derive(Component, Clone, Copy, Debug)]
#[require(OrderQueue)]
pub struct Unit {
    pub kind: Kind,
    /// Counts up from 0 in the order of spawning.
    pub number: u32,
}

/// Where the game begins.
#[derive(Resource, Clone, Copy, Debug)]
pub struct Home(pub Cell);

/// How many critters have been spawned.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct UnitCount(pub u32);

/// Makes critters and numbers them.
#[derive(SystemParam)]
pub struct Barracks<'w, 's> {
    commands: Commands<'w, 's>,
    map: Res<'w, GameMap>,
    count: ResMut<'w, UnitCount>,
}

impl Barracks<'_, '_> {
    /// Puts a critter on a cell; a large one covers more cells to the right and up.
    pub fn spawn(&mut self, kind: Kind, cell: Cell) {
        let place = self.map.frame.block_center(cell, kind.size().into()).extend(HEIGHT);
        let mut unit = self.commands.spawn((
            Unit { kind, number: self.count.0 },
            Critter::new(kind.speed()).turns(false),
            NavAgent::new(kind.profile()),
            PathStatus::Idle,
            Facing::new(Direction::South),
            Transform::from_translation(place),
        ));
        if kind.glides() {
            unit.insert(AnyAnglePath::default());
        }
        self.count.0 += 1;
    }
}

/// Spawns what the game begins with: a camp of each kind around the home cell.
pub fn spawn_camps(
    mut barracks: Barracks,
    mut home: ResMut<Home>,
    spiral: Res<Spiral>,
    options: Res<Options>,
    map: Res<GameMap>,
) {
    home.0 = find_home(&map.grid);
    let islands = Kind::ALL.map(|kind| main_island(&map.grid, kind.profile()));
    let mut room = Room::default();
    let mut left = options.units as usize;
    for (kind, island) in Kind::ALL.into_iter().zip(islands) {
        let Some(island) = island else { continue };
        let wanted = left.min((options.units * kind.share()).div_ceil(100) as usize);
        let (dx, dy) = CAMPS[kind as usize];
        let camp = home.0.offset(dx, dy);
        for cell in spiral.spots(&map.grid, (kind, island), camp, wanted, &mut room) {
            barracks.spawn(kind, cell);
            left -= 1;
        }
    }
    spread_rest(&mut barracks, &map.grid, islands, left, room);
}

/// Spawns those for whom there was no room in the camps anywhere on the map.
fn spread_rest(
    barracks: &mut Barracks,
    grid: &NavGrid,
    islands: [Option<u32>; 5],
    count: usize,
    mut room: Room,
) {
    let mut cells = grid.rect().cells();
    for _ in 0..count {
        let spot = cells.by_ref().find_map(|cell| {
            let fits = |&kind: &Kind| {
                let island = islands[kind as usize];
                let is_there = island.is_some() && grid.region(kind.profile(), cell) == island;
                is_there && room.take(kind.block(cell))
            };
            Some((Kind::ALL.into_iter().find(fits)?, cell))
        });
        let Some((kind, cell)) = spot else {
            warn!("the map has no room for {count} more critters");
            return;
        };
        barracks.spawn(kind, cell);
    }
}

/// Where a critter is (its lowest, leftmost cell): the cell it leaves while it walks, the one it
/// stands on else. Its state tells as soon as its first order was read, and says (0, 0) before.
pub fn cell_of(
    kind: Kind,
    state: &CritterState,
    transform: &Transform,
    frame: &GridFrame,
) -> Option<Cell> {
    if state.walk().is_between_cells() || state.cell() != Cell::default() {
        Some(state.cell())
    } else {
        frame.anchor_at(transform.translation.truncate(), kind.size().into())
    }
}

/// The cells that a critter covers, and those it is about to.
pub fn blocks_of(
    kind: Kind,
    state: &CritterState,
    transform: &Transform,
    frame: &GridFrame,
) -> impl Iterator<Item = CellRect> {
    let head = state.walk().is_between_cells().then(|| state.walk().head());
    let cells = cell_of(kind, state, transform, frame).into_iter().chain(head);
    cells.map(move |cell| kind.block(cell))
}
