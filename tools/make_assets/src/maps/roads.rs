//! Cheapest routes, and roads drawn along them.
//!
//! In: a map, two cells and a price per cell. Out: the cells between them.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::grid::{Grid, SIDES};

/// A cell.
pub type Cell = (i32, i32);

/// The cheapest 4-connected route, ends included; `None` when there is none.
pub fn route(
    grid: &Grid,
    from: Cell,
    to: Cell,
    price: impl Fn(i32, i32) -> Option<u32>,
) -> Option<Vec<Cell>> {
    let index = |(x, y): Cell| (y * grid.width + x) as usize;
    let mut best = vec![u32::MAX; (grid.width * grid.height) as usize];
    let mut back = vec![4u8; best.len()];
    let mut open = BinaryHeap::from([Reverse((0, from))]);
    best[index(from)] = 0;
    while let Some(Reverse((cost, cell))) = open.pop() {
        if cell == to {
            break;
        }
        if cost > best[index(cell)] {
            continue;
        }
        for (side, (dx, dy)) in SIDES.into_iter().enumerate() {
            let next = (cell.0 + dx, cell.1 + dy);
            let step = price(next.0, next.1).filter(|_| grid.contains(next.0, next.1));
            let Some(total) = step.map(|p| cost + p) else {
                continue;
            };
            if total < best[index(next)] {
                best[index(next)] = total;
                back[index(next)] = side as u8;
                open.push(Reverse((total, next)));
            }
        }
    }
    walk_back(from, to, |cell| back[index(cell)])
}

/// Follows the recorded sides from the end to the start.
fn walk_back(from: Cell, to: Cell, side: impl Fn(Cell) -> u8) -> Option<Vec<Cell>> {
    let mut cells = vec![to];
    let mut at = to;
    while at != from {
        let (dx, dy) = *SIDES.get(usize::from(side(at)))?;
        at = (at.0 - dx, at.1 - dy);
        cells.push(at);
    }
    Some(cells)
}

/// Draws a road two cells wide over the letters that `over` accepts.
pub fn pave(grid: &mut Grid, cells: &[Cell], over: impl Fn(u8) -> bool) {
    for &(x, y) in cells {
        for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            if over(grid.get(x + dx, y + dy)) {
                grid.set(x + dx, y + dy, b'.');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_go_around_walls() {
        let mut grid = Grid::new(9, 9, b'G');
        grid.fill((4, 0, 1, 8), b'@');
        let free = |x, y| (grid.get(x, y) == b'G').then_some(1);
        let cells = route(&grid, (0, 0), (8, 0), free).expect("a gap is open");
        assert_eq!(cells.len(), 25);
        grid.set(4, 8, b'@');
        let free = |x, y| (grid.get(x, y) == b'G').then_some(1);
        assert!(route(&grid, (0, 0), (8, 0), free).is_none());
    }
}
