//! Cost borders: cells beside cells of another cost.
//!
//! Input: what passable cells cost. Output: a bit for each passable cell that has a passable neighbor,
//! straight or diagonal, of another cost. Every other cell has only cells of its own cost around it, so that
//! the rules for uniform cost hold there: canonical order, jump points.

use core::ops::Range;

use crate::nav::bit_rows::BitRows;

/// Updates the cost borders in a rectangle (column, row, width, height) of a grid of `size`; returns whether
/// any bit has changed. `cost` is 0 where a cell is impassable.
pub(crate) fn update(
    cost_borders: &mut BitRows,
    size: (u32, u32),
    (x, y, width, height): (u32, u32, u32, u32),
    cost: impl Fn(u32, u32) -> u32,
) -> bool {
    let mut changed = false;
    for y in y..y + height {
        let rows = y.saturating_sub(1)..(y + 2).min(size.1);
        let column =
            |x: u32| if x < size.0 { CostRange::of(x, rows.clone(), &cost) } else { EMPTY_RANGE };
        let mut previous = column(x.wrapping_sub(1));
        let mut current = column(x);
        let on_border = (x..x + width).map(|x| {
            let next = column(x + 1);
            let around = previous.union(current).union(next);
            (previous, current) = (current, next);
            around.lowest < around.highest && cost(x, y) > 0
        });
        changed |= cost_borders.set_row(x, y, on_border);
    }
    changed
}

/// Lowest and highest cost of some passable cells; if there are none, the lowest is above the highest.
#[derive(Clone, Copy)]
struct CostRange {
    lowest: u32,
    highest: u32,
}

const EMPTY_RANGE: CostRange = CostRange { lowest: u32::MAX, highest: 0 };

impl CostRange {
    fn of(x: u32, rows: Range<u32>, cost: impl Fn(u32, u32) -> u32) -> Self {
        rows.fold(EMPTY_RANGE, |range, y| match cost(x, y) {
            0 => range,
            cost => range.union(Self { lowest: cost, highest: cost }),
        })
    }

    fn union(self, other: Self) -> Self {
        Self { lowest: self.lowest.min(other.lowest), highest: self.highest.max(other.highest) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_borders_lie_on_both_sides_of_a_change_of_cost() {
        // 0 is impassable, other digits are costs; the lowest row comes first.
        let rows = ["111222", "111222", "110222", "111222"];
        let cost = |x: u32, y: u32| u32::from(rows[y as usize].as_bytes()[x as usize] - b'0');
        let mut cost_borders = BitRows::new(6, 4);
        assert!(update(&mut cost_borders, (6, 4), (0, 0, 6, 4), cost));
        let drawn = (0..4).map(|y| {
            (0..6).map(|x| if cost_borders.get(x, y) { 'S' } else { '.' }).collect::<String>()
        });
        assert_eq!(drawn.collect::<Vec<_>>(), ["..SS..", "..SS..", "...S..", "..SS.."]);
        assert!(!update(&mut cost_borders, (6, 4), (1, 1, 3, 2), cost), "nothing new");
    }
}
