//! Chooses the tile that a cell shows, and its color on the minimap.
//!
//! Input: a cell and its neighbors. Output: an index into `assets/tiles.png` (8 columns). Borders
//! have sixteen variants: one bit for each side (north 1, east 2, south 4, west 8) on which the
//! neighbor has another terrain.

use bevy_tilepath::prelude::*;

use crate::map::GameMap;

/// Sides of a cell in the order of their bits; y points up.
const SIDES: [(i32, i32); 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];

/// Tiles of a wall, of a target ring and of a one-tile house.
pub const WALL: u32 = 46;
pub const TARGET: u32 = 47;
pub const HOUSE: u32 = group::ROOF + 15;

/// First tile of each group in the sheet.
mod group {
    pub const GRASS: u32 = 0;
    pub const FLOWERS: u32 = 5;
    pub const ROAD: u32 = 8;
    pub const SWAMP: u32 = 16;
    pub const PAVING: u32 = 20;
    pub const WATER: u32 = 24;
    pub const TREES: u32 = 32;
    pub const ABYSS: u32 = 40;
    pub const SHORE: u32 = 48;
    pub const ROCK: u32 = 64;
    pub const ROOF: u32 = 80;
    pub const VERGE: u32 = 96;
    pub const MARSH: u32 = 120;
}

/// Returns the tile of every cell, row by row from the bottom.
pub fn choose_all(map: &GameMap) -> Vec<u32> {
    let chooser = Chooser { map, is_city: is_city(map) };
    map.grid.rect().cells().map(|cell| chooser.tile(cell)).collect()
}

/// Returns whether the map has more road (`.`) than grass (`G`): then roads are drawn as paving and
/// rocks as houses.
pub fn is_city(map: &GameMap) -> bool {
    let count =
        |letter| map.grid.rect().cells().filter(|&cell| map.letter(cell) == Some(letter)).count();
    count(b'.') > count(b'G')
}

struct Chooser<'a> {
    map: &'a GameMap,
    is_city: bool,
}

impl Chooser<'_> {
    fn tile(&self, cell: Cell) -> u32 {
        let any = cell_hash(cell);
        match self.letter(cell) {
            b'G' => match self.sides(cell, |letter| letter == b'.') {
                0 if any.is_multiple_of(9) => group::FLOWERS + any / 9 % 3,
                0 => group::GRASS + any % 5,
                roads => group::VERGE + roads,
            },
            b'.' => match self.bridge(cell) {
                Some(tile) => tile,
                None if self.is_city => group::PAVING + any % 4,
                None => group::ROAD + any % 8,
            },
            b'W' => match self.sides(cell, |letter| letter != b'W') {
                0 => group::WATER + any % 8,
                land => group::SHORE + land,
            },
            b'T' => group::TREES + any % 8,
            b'S' => match self.sides(cell, |letter| matches!(letter, b'G' | b'T' | b'.' | b'@')) {
                0 => group::SWAMP + any % 4,
                land => group::MARSH + land,
            },
            b'@' => {
                let open = self.sides(cell, |letter| letter != b'@');
                open + if self.is_city { group::ROOF } else { group::ROCK }
            }
            _ => group::ABYSS + any % 4,
        }
    }

    fn letter(&self, cell: Cell) -> u8 {
        self.map.letter(cell).unwrap_or(b'O')
    }

    /// Returns the sides whose neighbor's letter satisfies `is_wanted`, as bits.
    /// None on hexagons, which have no tiles with borders.
    fn sides(&self, cell: Cell, is_wanted: impl Fn(u8) -> bool) -> u32 {
        if self.map.is_hexagonal() {
            return 0;
        }
        let hit = |(dx, dy)| self.map.letter(cell.offset(dx, dy)).is_some_and(&is_wanted);
        (0..4).filter(|&side| hit(SIDES[side])).map(|side| 1 << side).sum()
    }

    /// Returns the bridge tile of a road cell with water nearby on two opposite sides.
    fn bridge(&self, cell: Cell) -> Option<u32> {
        if self.map.is_hexagonal() {
            return None;
        }
        let has_water = |dx: i32, dy: i32| {
            (1..=3)
                .map(|step| self.letter(cell.offset(dx * step, dy * step)))
                .take_while(|letter| matches!(letter, b'.' | b'W'))
                .any(|letter| letter == b'W')
        };
        let next = |dx, dy| usize::from(self.letter(cell.offset(dx, dy)) == b'W');
        if has_water(0, 1) && has_water(0, -1) {
            Some([113, 112, 114, 44][next(0, 1) + 2 * next(0, -1)])
        } else if has_water(-1, 0) && has_water(1, 0) {
            Some([116, 115, 117, 45][next(-1, 0) + 2 * next(1, 0)])
        } else {
            None
        }
    }
}

/// Hash of a cell, to choose tile variants: the same on every machine and in every run.
fn cell_hash(cell: Cell) -> u32 {
    let mut hash = 0x9E37_79B1_u32 ^ (cell.x as u32).wrapping_mul(0x85EB_CA77);
    hash ^= (cell.y as u32).wrapping_mul(0xC2B2_AE3D).rotate_left(13);
    hash = (hash ^ (hash >> 15)).wrapping_mul(0x2C1B_3C6D);
    hash = (hash ^ (hash >> 12)).wrapping_mul(0x297A_2D39);
    (hash ^ (hash >> 15)) >> 4
}

/// Returns the minimap color of a terrain: red, green, blue.
pub const fn minimap_color(letter: u8, is_city: bool) -> [u8; 3] {
    match letter {
        b'G' => [84, 138, 69],
        b'.' if is_city => [134, 137, 143],
        b'.' => [198, 165, 108],
        b'W' => [45, 95, 144],
        b'T' => [44, 84, 50],
        b'S' => [86, 99, 64],
        b'@' if is_city => [165, 87, 69],
        b'@' => [110, 96, 86],
        _ => [24, 22, 32],
    }
}
