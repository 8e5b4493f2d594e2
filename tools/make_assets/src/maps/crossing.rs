//! Straight bridges.
//!
//! In: a map with water. Out: places where three rows (or columns) of water
//! can be crossed, and the bridges built there.

use super::roads::Cell;
use crate::grid::Grid;

/// A bridge three cells wide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// First land cell before the water, on the middle line.
    pub from: Cell,
    /// First land cell after the water, on the middle line.
    pub to: Cell,
}

impl Crossing {
    /// Cells between the two ends.
    pub fn length(&self) -> i32 {
        (self.to.0 - self.from.0).max(self.to.1 - self.from.1)
    }
}

/// All crossings that start at `cell` and run east or south, at most `longest`.
pub fn starting_at(grid: &Grid, (x, y): Cell, longest: i32) -> Vec<Crossing> {
    let directions = [(1, 0), (0, 1)];
    let found = directions.iter().filter_map(|&(dx, dy)| {
        let water = |step: i32, lane: i32| {
            grid.get(x + dx * step + dy * lane, y + dy * step + dx * lane) == b'W'
        };
        let lanes = [-1, 0, 1];
        if lanes.iter().any(|lane| water(0, *lane)) || !water(1, 0) {
            return None;
        }
        let dry = |step: &i32| lanes.iter().all(|lane| !water(*step, *lane));
        let end = (2..=longest).find(dry)?;
        let to = (x + dx * end, y + dy * end);
        let wet = (1..end).all(|step| water(step, 0));
        (wet && grid.contains(to.0, to.1)).then_some(Crossing { from: (x, y), to })
    });
    found.collect()
}

/// Writes the bridge into the map.
pub fn build(grid: &mut Grid, crossing: &Crossing) {
    let flat = crossing.from.1 == crossing.to.1;
    for step in 0..=crossing.length() {
        for lane in -1..=1 {
            let (dx, dy) = if flat { (step, lane) } else { (lane, step) };
            grid.set(crossing.from.0 + dx, crossing.from.1 + dy, b'.');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_river_is_crossed_at_its_full_width() {
        let mut grid = Grid::new(12, 7, b'G');
        grid.fill((4, 0, 3, 7), b'W');
        let found = starting_at(&grid, (3, 3), 9);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].to, found[0].length()), ((7, 3), 4));
        build(&mut grid, &found[0]);
        assert_eq!(grid.parts(|c| c == b'W').sizes, vec![6, 6]);
    }
}
