//! Maps of squares turned into maps of hexagons: every other row is shifted by half a cell, counted from the bottom.

#![allow(dead_code, reason = "each runner uses a part of it")]

use bevy_tilepath::prelude::*;

/// Returns the cell of a hexagonal grid that a cell of the map becomes.
pub fn shifted(cell: Cell) -> Cell {
    cell.offset(-(cell.y >> 1), 0)
}

/// Returns the cell of the map that became a cell of a hexagonal grid.
pub fn unshifted(cell: Cell) -> Cell {
    cell.offset(cell.y >> 1, 0)
}

/// Returns the map on hexagons, with the same profiles. Outside the slanted strip of its cells, terrain is void.
///
/// # Errors
/// A map so high that its slanted strip is wider than any grid.
pub fn shifted_rows(map: &NavGrid) -> Result<NavGrid, GridError> {
    let (height, left) = (map.height(), shifted(Cell::new(0, map.height() as i32 - 1)).x);
    let width = map.width() + left.unsigned_abs();
    let mut terrain = vec![TerrainId::VOID.0; (width * height) as usize];
    for cell in map.rect().cells() {
        let Cell { x, y } = shifted(Cell::new(cell.x - map.origin().x, cell.y - map.origin().y));
        let at = y as usize * width as usize + (x - left) as usize;
        terrain[at] = map.terrain(cell).unwrap_or(TerrainId::VOID).0;
    }
    let grid = NavGrid::from_terrain(width, height, terrain)?.with_origin(Cell::new(left, 0));
    Ok(grid.with_topology(Topology::Hexagonal).with_profiles(map.profiles().to_vec()))
}
