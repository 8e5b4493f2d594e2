//! Straight lines over hexagons.
//!
//! Input: two cells in axial coordinates. Output: whether the cells are free whose interior the line between their centers
//! crosses, and no shut edge between them. Exact, in integers, and symmetric.
//!
//! A cell is what lies between three pairs of parallel sides. For each pair there is a linear form that is 0 in the center of
//! the cell and 1 or -1 on the two sides. Along the line each form grows evenly, so a fraction says when the line leaves the
//! cell over a side of each pair; it leaves over the first of them. A line through a corner of the cell leaves over two sides at
//! once, and goes on in the one cell of the two that it does not leave at once again. Where one form does not change at all, the
//! line runs through centers and along sides in turn.

use crate::nav::Direction;

/// The three forms, as factors of column and row, and the neighbor over the side on which each is 1.
const FORMS: [[i64; 2]; 3] = [[1, -1], [1, 2], [-2, -1]];
const NEIGHBORS: [(i64, i64); 3] = [(1, -1), (0, 1), (-1, 0)];

/// A time at which a line leaves a cell, as a fraction: numerator and denominator.
type Time = (i64, i64);

/// The direction of a line.
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct Line {
    /// By how much each form grows from end to end.
    growths: [i64; 3],
}

impl Line {
    fn new((dx, dy): (i64, i64)) -> Self {
        Self { growths: FORMS.map(|[x, y]| x * dx + y * dy) }
    }

    /// Returns when the line leaves a cell over a side of a pair.
    fn time_over(&self, pair: usize, (x, y): (i64, i64)) -> Time {
        let ([form_x, form_y], growth) = (FORMS[pair], self.growths[pair]);
        (1 + growth.signum() * (form_x * x + form_y * y), growth.abs())
    }

    /// Returns when it leaves a cell.
    fn time_out(&self, cell: (i64, i64)) -> Time {
        let [a, b, c] = [0, 1, 2].map(|pair| self.time_over(pair, cell));
        let first = if is_before(b, a) { b } else { a };
        if is_before(c, first) { c } else { first }
    }

    /// Returns the cell after this one.
    fn next(&self, cell: (i64, i64)) -> (i64, i64) {
        let out = self.time_out(cell);
        let over = |pair: usize| {
            let (x, y) = NEIGHBORS[pair];
            let sign = self.growths[pair].signum();
            (cell.0 + sign * x, cell.1 + sign * y)
        };
        let mut beside = [0, 1, 2].into_iter().filter(|&pair| {
            let time = self.time_over(pair, cell);
            !is_before(out, time)
        });
        let first = beside.next().map_or(cell, over);
        match beside.next().map(over) {
            Some(second) if is_before(out, self.time_out(second)) => second,
            _ => first,
        }
    }
}

fn is_before(a: Time, b: Time) -> bool {
    a.0 * b.1 < b.0 * a.1
}

/// Whether all cells are free whose interior the line from the center of `a` to that of `b` crosses, without these two, and no
/// edge that it crosses is shut. Where it runs along a side, `join` decides, given whether the ways through the cells on both
/// sides are free, and whether the edge there is shut.
pub(super) fn is_line_free(
    a: (u32, u32),
    b: (u32, u32),
    (is_free, is_shut): (impl Fn(u32, u32) -> bool, impl Fn((u32, u32), Direction) -> bool),
    join: impl Fn(bool, bool, bool) -> bool,
) -> bool {
    let end = (i64::from(b.0) - i64::from(a.0), i64::from(b.1) - i64::from(a.1));
    let on_grid =
        |(x, y): (i64, i64)| (a.0.wrapping_add_signed(x as i32), a.1.wrapping_add_signed(y as i32));
    let is_free = |cell| {
        let (x, y) = on_grid(cell);
        is_free(x, y)
    };
    let is_shut = |from: (i64, i64), to: (i64, i64)| {
        let step = ((to.0 - from.0) as i32, (to.1 - from.1) as i32);
        Direction::of_step(step).is_some_and(|direction| is_shut(on_grid(from), direction))
    };
    let line = Line::new(end);
    if let Some(still) = line.growths.iter().position(|&growth| growth == 0) {
        return is_line_along_sides_free(end, still, (is_free, is_shut), join);
    }
    let mut cell = (0, 0);
    loop {
        let from = cell;
        cell = line.next(cell);
        if is_shut(from, cell) {
            return false;
        }
        if cell == end || !is_free(cell) {
            return cell == end;
        }
    }
}

/// The same for a line along which one of the forms is 0.
fn is_line_along_sides_free(
    end: (i64, i64),
    still: usize,
    (is_free, is_shut): (impl Fn((i64, i64)) -> bool, impl Fn((i64, i64), (i64, i64)) -> bool),
    join: impl Fn(bool, bool, bool) -> bool,
) -> bool {
    // The line goes between the neighbors over one side of each of the other two pairs: their forms grow with opposite signs.
    let (one, other) = (NEIGHBORS[(still + 1) % 3], NEIGHBORS[(still + 2) % 3]);
    let stride = (one.0 - other.0, one.1 - other.1);
    let count = if stride.0 != 0 { end.0 / stride.0 } else { 0 };
    let sign = count.signum();
    (0..count.abs()).all(|number| {
        let at =
            |(x, y): (i64, i64)| (sign * (number * stride.0 + x), sign * (number * stride.1 + y));
        let (from, to) = (at((0, 0)), at(stride));
        let beside = [at(one), at((-other.0, -other.1))];
        let [one, other] =
            beside.map(|side| is_free(side) && !is_shut(from, side) && !is_shut(side, to));
        join(one, other, is_shut(beside[0], beside[1]))
            && (number + 1 == count.abs() || is_free(to))
    })
}
