//! Cost borders: cells beside cells of another cost, or beside edges.
//!
//! Input: what passable cells cost, and which are beside edges. Output: a bit for each passable cell that has a passable neighbor,
//! straight or diagonal, of another cost, or an edge around it. Every other cell has only cells of its own cost around it, and
//! no edges, so that the rules for uniform cost hold there: canonical order, jump points.

use crate::nav::{BitRows, Rect};

/// Updates the cost borders in a rectangle (column, row, width, height) of a grid of `size`; returns whether
/// any bit has changed. `cost` is 0 where a cell is impassable.
pub(crate) fn update(
    cost_borders: &mut BitRows,
    size: (u32, u32),
    (x, y, width, height): Rect,
    (cost, is_beside_edge): (impl Fn(u32, u32) -> u32, impl Fn(u32, u32) -> bool),
) -> bool {
    // Lowest and highest cost of passable cells; where there are none, the lowest is above the highest.
    let union = |a: (u32, u32), b: (u32, u32)| (a.0.min(b.0), a.1.max(b.1));
    let mut changed = false;
    for y in y..y + height {
        let near = y.saturating_sub(1)..(y + 2).min(size.1);
        let column = |x: u32| {
            let rows = if x < size.0 { near.clone() } else { 0..0 };
            let costs = rows.map(|y| cost(x, y)).filter(|&cost| cost > 0);
            costs.fold((u32::MAX, 0), |range, cost| union(range, (cost, cost)))
        };
        let mut previous = column(x.wrapping_sub(1));
        let mut current = column(x);
        let on_border = (x..x + width).map(|x| {
            let next = column(x + 1);
            let (lowest, highest) = union(union(previous, current), next);
            (previous, current) = (current, next);
            (lowest < highest || is_beside_edge(x, y)) && cost(x, y) > 0
        });
        changed |= cost_borders.set_row(x, y, on_border);
    }
    changed
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
        assert!(update(&mut cost_borders, (6, 4), (0, 0, 6, 4), (cost, |_, _| false)));
        let drawn = (0..4).map(|y| {
            (0..6).map(|x| if cost_borders.get(x, y) { 'S' } else { '.' }).collect::<String>()
        });
        assert_eq!(drawn.collect::<Vec<_>>(), ["..SS..", "..SS..", "...S..", "..SS.."]);
        assert!(
            !update(&mut cost_borders, (6, 4), (1, 1, 3, 2), (cost, |_, _| false)),
            "nothing new"
        );
    }
}
