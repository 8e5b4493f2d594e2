//! Shape clean-up shared by the maps.
//!
//! In: a map. Out: the same map without slivers and cut-off pockets.

use crate::grid::{Grid, walkable};

/// Turns chosen cells into `instead` unless they lie in a chosen square with
/// sides of `2 * reach + 1` cells. Cells outside the map count as chosen.
pub fn drop_slivers(grid: &mut Grid, reach: i32, chosen: impl Fn(u8) -> bool, instead: u8) {
    let ok = |grid: &Grid, x: i32, y: i32| !grid.contains(x, y) || chosen(grid.get(x, y));
    let full = spread(grid, reach, |x, y| ok(grid, x, y), true);
    let width = grid.width + 2 * reach;
    let is_full = |x: i32, y: i32| full[((y + reach) * width + x + reach) as usize];
    let old = grid.clone();
    grid.change(|x, y, letter| {
        let kept = || (-reach..=reach).any(|dy| (-reach..=reach).any(|dx| is_full(x + dx, y + dy)));
        if ok(&old, x, y) && !kept() { instead } else { letter }
    });
}

/// For each cell of the map and a margin: are all cells in reach (`all`)?
fn spread(grid: &Grid, reach: i32, ok: impl Fn(i32, i32) -> bool, all: bool) -> Vec<bool> {
    let mut result = Vec::new();
    for y in -reach..grid.height + reach {
        for x in -reach..grid.width + reach {
            let hit =
                (-reach..=reach).all(|dy| (-reach..=reach).all(|dx| ok(x + dx, y + dy) == all));
            result.push(hit);
        }
    }
    result
}

/// Turns walkable cells outside the largest part into `instead`, but only
/// parts smaller than `below` cells.
pub fn fill_pockets(grid: &mut Grid, below: usize, instead: u8) {
    let parts = grid.parts(walkable);
    let main = parts.largest();
    grid.change(|x, y, letter| match parts.at(x, y) {
        Some(part) if Some(part) != main && parts.sizes[part] < below => instead,
        _ => letter,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thin_land_goes_and_squares_stay() {
        let mut grid = Grid::new(20, 20, b'W');
        grid.fill((3, 3, 5, 5), b'G');
        grid.fill((8, 5, 6, 1), b'G');
        drop_slivers(&mut grid, 2, |c| c == b'G', b'W');
        assert_eq!(grid.parts(|c| c == b'G').sizes, vec![25]);
    }

    #[test]
    fn small_pockets_are_filled() {
        let mut grid = Grid::new(9, 9, b'G');
        grid.fill((0, 2, 9, 1), b'@');
        fill_pockets(&mut grid, 100, b'T');
        assert_eq!(grid.get(4, 0), b'T');
        assert_eq!(grid.get(4, 5), b'G');
    }
}
