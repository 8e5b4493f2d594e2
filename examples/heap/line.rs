//! The cells of a straight line.
//!
//! Input: two cells. Output: the cells of the line between them, both included; each shares a side
//! or a corner with the next one.

use bevy_tilepath::prelude::Cell;

/// Returns the cells of a line, in order.
pub fn line(from: Cell, to: Cell) -> impl Iterator<Item = Cell> {
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let steps = dx.abs().max(dy.abs());
    // The share of a distance after some of the steps, rounded.
    let share = move |distance: i32, step: i32| match steps {
        0 => 0,
        steps => (2 * distance * step + steps).div_euclid(2 * steps),
    };
    (0..=steps).map(move |step| from.offset(share(dx, step), share(dy, step)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(from: (i32, i32), to: (i32, i32)) -> Vec<(i32, i32)> {
        let line = line(Cell::new(from.0, from.1), Cell::new(to.0, to.1));
        line.map(|cell| (cell.x, cell.y)).collect()
    }

    #[test]
    fn lines_are_straight() {
        assert_eq!(cells((4, 2), (4, 2)), [(4, 2)]);
        assert_eq!(cells((3, 1), (0, 1)), [(3, 1), (2, 1), (1, 1), (0, 1)]);
        assert_eq!(cells((0, 2), (2, 0)), [(0, 2), (1, 1), (2, 0)]);
        assert_eq!(cells((0, 0), (1, 4)), [(0, 0), (0, 1), (1, 2), (1, 3), (1, 4)]);
    }

    #[test]
    fn lines_have_no_gaps() {
        for to in (-7..=7).flat_map(|x| (-7..=7).map(move |y| (x, y))) {
            let cells = cells((0, 0), to);
            assert_eq!((cells[0], cells[cells.len() - 1]), ((0, 0), to));
            for pair in cells.windows(2) {
                let (dx, dy) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
                assert_eq!(dx.abs().max(dy.abs()), 1, "to {to:?}");
            }
        }
    }
}
