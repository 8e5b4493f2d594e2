//! The level: a small map as text, with start and goal.
//!
//! Input: lines of letters, the top row first. Output: [`Level`], and the grid that a search runs
//! on. Mud costs twice as much as floor: on weighted terrain the library expands all eight neighbors
//! of a cell, as the articles do, and not only the canonical ones.

use bevy::prelude::Resource;
use bevy_tilepath::prelude::*;

/// Terrain of double cost.
pub const MUD: TerrainId = TerrainId(2);
/// Impassable terrain.
pub const WALL: TerrainId = TerrainId(3);

/// The initial map. `#` wall, `~` mud, `S` start, `G` goal.
pub const FIRST: &str = "\
......#......
......#......
.~~...#......
.~~.S.#..~...
......#.~~.G.
...####......
.............
.............";

/// Terrain, start and goal.
#[derive(Resource, Clone, Debug, PartialEq, Eq)]
pub struct Level {
    pub size: (u32, u32),
    /// Row by row, lowest row first.
    pub terrain: Vec<TerrainId>,
    pub start: Cell,
    pub goal: Cell,
}

impl Level {
    /// Reads a map. Fails if lines differ in length, letters are unknown, or start and goal do not
    /// occur exactly once each.
    pub fn read(text: &str) -> Result<Self, String> {
        let rows: Vec<&[u8]> = text.lines().rev().map(str::as_bytes).collect();
        let width = rows.first().map_or(0, |row| row.len());
        if rows.iter().any(|row| row.len() != width) {
            return Err("the rows of the map differ in length".into());
        }
        let letters: Vec<u8> = rows.concat();
        let terrain = letters.iter().map(|&letter| terrain(letter)).collect::<Result<_, _>>()?;
        let position = |wanted: u8| {
            let mut found = (0..letters.len()).filter(|&index| letters[index] == wanted);
            match (found.next(), found.next()) {
                (Some(index), None) => {
                    Ok(Cell::new((index % width) as i32, (index / width) as i32))
                }
                _ => Err(format!("the map needs exactly one {}", wanted as char)),
            }
        };
        let (start, goal) = (position(b'S')?, position(b'G')?);
        Ok(Self { size: (width as u32, rows.len() as u32), terrain, start, goal })
    }

    /// Returns the terrain as a grid.
    pub fn grid(&self) -> Result<NavGrid, GridError> {
        let terrain = self.terrain.iter().map(|terrain| terrain.0).collect();
        let grid = NavGrid::from_terrain(self.size.0, self.size.1, terrain)?;
        Ok(grid.with_profiles(vec![profile()]))
    }

    /// Returns all its cells, lowest row first.
    pub fn cells(&self) -> impl Iterator<Item = Cell> + use<> {
        CellRect::new(Cell::default(), self.size.0, self.size.1).cells()
    }
}

/// Returns the movement profile of the search.
pub const fn profile() -> Profile {
    Profile::new().with(TerrainId::GROUND, Profile::PLAIN_COST).with(MUD, 2 * Profile::PLAIN_COST)
}

fn terrain(letter: u8) -> Result<TerrainId, String> {
    match letter {
        b'.' | b'S' | b'G' => Ok(TerrainId::GROUND),
        b'~' => Ok(MUD),
        b'#' => Ok(WALL),
        other => Err(format!("the map has an unknown letter {:?}", other as char)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_from_the_bottom() {
        let level = Level::read("..G\n.#~\nS..").unwrap();
        assert_eq!((level.start, level.goal), (Cell::new(0, 0), Cell::new(2, 2)));
        let grid = level.grid().unwrap();
        let cost = |x, y| grid.cost(ProfileId::default(), Cell::new(x, y));
        assert_eq!([cost(1, 1), cost(2, 1), cost(0, 2)], [0, 32, 16]);
    }

    #[test]
    fn errors_name_the_fault() {
        let error = |text| Level::read(text).unwrap_err();
        assert!(error("S.\nG").contains("length"));
        assert!(error("S?G").contains('?'));
        assert!(error("S..").contains('G'));
        assert!(error("SSG").contains('S'));
        assert!(error("").contains('S'));
    }
}
