//! Seams: cells beside ground of another cost.
//!
//! Input: what passable cells cost. Output: a bit for each passable cell that has a passable neighbor,
//! straight or diagonal, of another cost. Every other cell has ground of one cost around it, so that
//! what holds for uniform cost holds there: canonical order, jump points.

use core::ops::Range;

use super::bit_rows::BitRows;

/// Finds the seams of a rectangle (column, row, width, height) of a grid of `size` anew; says whether
/// any bit has changed. `cost` is 0 where a cell is impassable.
pub(crate) fn find(
    seams: &mut BitRows,
    size: (u32, u32),
    (x, y, width, height): (u32, u32, u32, u32),
    cost: impl Fn(u32, u32) -> u32,
) -> bool {
    let mut changed = false;
    for y in y..y + height {
        let rows = y.saturating_sub(1)..(y + 2).min(size.1);
        let column = |x: u32| if x < size.0 { Spread::of(x, rows.clone(), &cost) } else { NOTHING };
        let mut before = column(x.wrapping_sub(1));
        let mut here = column(x);
        let on_seam = (x..x + width).map(|x| {
            let after = column(x + 1);
            let around = before.and(here).and(after);
            (before, here) = (here, after);
            around.least < around.most && cost(x, y) > 0
        });
        changed |= seams.set_row(x, y, on_seam);
    }
    changed
}

/// Least and highest cost of some passable cells; of none, the least is above the highest.
#[derive(Clone, Copy)]
struct Spread {
    least: u32,
    most: u32,
}

const NOTHING: Spread = Spread { least: u32::MAX, most: 0 };

impl Spread {
    fn of(x: u32, rows: Range<u32>, cost: impl Fn(u32, u32) -> u32) -> Self {
        rows.fold(NOTHING, |spread, y| match cost(x, y) {
            0 => spread,
            cost => spread.and(Self { least: cost, most: cost }),
        })
    }

    fn and(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), most: self.most.max(other.most) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seams_run_on_both_sides_of_a_change_of_cost() {
        // 0 impassable, the digits cost what they say; the lowest row first.
        let rows = ["111222", "111222", "110222", "111222"];
        let cost = |x: u32, y: u32| u32::from(rows[y as usize].as_bytes()[x as usize] - b'0');
        let mut seams = BitRows::new(6, 4);
        assert!(find(&mut seams, (6, 4), (0, 0, 6, 4), cost));
        let drawn = (0..4)
            .map(|y| (0..6).map(|x| if seams.get(x, y) { 'S' } else { '.' }).collect::<String>());
        assert_eq!(drawn.collect::<Vec<_>>(), ["..SS..", "..SS..", "...S..", "..SS.."]);
        assert!(!find(&mut seams, (6, 4), (1, 1, 3, 2), cost), "nothing new");
    }
}
