//! The eight directions of a step, and sets of them in one byte.
//!
//! Directions count counterclockwise from east, so that odd ones are diagonal, adding 4 gives the opposite
//! one and a set of them is a byte. All neighbors of a cell, on squares as on hexagons in any of the usual
//! layouts, lie in the 3 × 3 block around it: that block, read as nine bits, is the `Pattern` with which
//! `MoveTable` is indexed.

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

use crate::nav::Cell;

/// One of the eight directions of a step, counterclockwise from east.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
#[repr(u8)]
pub enum Direction {
    /// +x
    #[default]
    East = 0,
    /// +x +y
    NorthEast = 1,
    /// +y
    North = 2,
    /// -x +y
    NorthWest = 3,
    /// -x
    West = 4,
    /// -x -y
    SouthWest = 5,
    /// -y
    South = 6,
    /// +x -y
    SouthEast = 7,
}

impl Direction {
    /// All directions, in order.
    pub const ALL: [Self; 8] = [
        Self::East,
        Self::NorthEast,
        Self::North,
        Self::NorthWest,
        Self::West,
        Self::SouthWest,
        Self::South,
        Self::SouthEast,
    ];

    /// The direction with this number; only the lowest three bits count.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self::ALL[(bits & 7) as usize]
    }

    /// Columns and rows that one step covers.
    #[must_use]
    pub const fn offset(self) -> (i32, i32) {
        OFFSETS[self as usize]
    }

    /// Whether a step goes along both axes.
    #[must_use]
    pub const fn is_diagonal(self) -> bool {
        self as u8 & 1 == 1
    }

    /// The opposite direction.
    #[must_use]
    pub const fn opposite(self) -> Self {
        Self::from_bits(self as u8 + 4)
    }

    /// Whether a scan in this direction comes with straight scans to both sides. With eight neighbors, diagonal scans do; with
    /// four, those along columns; on hexagons, those to the north, west and southeast. `N` is the number of neighbors.
    #[inline(always)]
    pub(crate) const fn has_side_scans<const N: u8>(self) -> bool {
        match N {
            4 => matches!(self, Self::North | Self::South),
            6 => matches!(self, Self::North | Self::West | Self::SouthEast),
            _ => self.is_diagonal(),
        }
    }

    /// The direction of a scan that [has side scans](Self::has_side_scans), and the directions of its side scans. With
    /// eight neighbors: a diagonal; row and column. With four: a column; the row both ways. On hexagons: north, west (not
    /// `RIGHT`) or southeast (not `UP`); the directions at 60°.
    pub(crate) const fn scan_directions<const N: u8, const RIGHT: bool, const UP: bool>()
    -> (Self, [Self; 2]) {
        let row = if RIGHT { Self::East } else { Self::West };
        let column = if UP { Self::North } else { Self::South };
        if N == 4 {
            return (column, [Self::East, Self::West]);
        }
        if N == 6 {
            return match (RIGHT, UP) {
                (true, true) => (Self::North, [Self::East, Self::NorthWest]),
                (false, _) => (Self::West, [Self::NorthWest, Self::South]),
                (true, false) => (Self::SouthEast, [Self::East, Self::South]),
            };
        }
        let diagonal = match (RIGHT, UP) {
            (true, true) => Self::NorthEast,
            (false, true) => Self::NorthWest,
            (false, false) => Self::SouthWest,
            (true, false) => Self::SouthEast,
        };
        (diagonal, [row, column])
    }

    /// The cell `steps` steps from `(x, y)`.
    #[inline(always)]
    pub(crate) const fn cell_at(self, x: u32, y: u32, steps: u32) -> (u32, u32) {
        let (dx, dy) = self.offset();
        let steps = steps as i32;
        (x.wrapping_add_signed(dx * steps), y.wrapping_add_signed(dy * steps))
    }

    /// The direction of a step by this offset, each -1 to 1; east if it is no step.
    pub(crate) fn from_offset(dx: i32, dy: i32) -> Self {
        Self::of_step((dx, dy)).unwrap_or_default()
    }

    /// The direction of a step by this offset, if it is a step.
    pub(crate) fn of_step(offset: (i32, i32)) -> Option<Self> {
        Self::ALL.into_iter().find(|direction| direction.offset() == offset)
    }

    /// The direction nearest to that of an offset in cells; `None` for (0, 0).
    #[must_use]
    pub fn nearest(dx: i32, dy: i32) -> Option<Self> {
        let (x, y) = (i64::from(dx).abs(), i64::from(dy).abs());
        // The tangent of half of an eighth of a turn is 0.4142, between 12/29 and 29/70.
        let (is_straight_x, is_straight_y) = (70 * y <= 29 * x, 70 * x <= 29 * y);
        let (has_x, has_y) = (i32::from(!is_straight_y), i32::from(!is_straight_x));
        Self::of_step((dx.signum() * has_x, dy.signum() * has_y))
    }

    /// The direction of the step from `a` to its neighbor `b`; `None` if they are not neighbors on squares. Cells to the
    /// northeast and southwest get a direction, though they are not neighbors on hexagons.
    #[must_use]
    pub fn between(a: Cell, b: Cell) -> Option<Self> {
        Self::of_step((b.x.checked_sub(a.x)?, b.y.checked_sub(a.y)?))
    }
}

impl Cell {
    /// Returns the neighboring cell in a direction. At the limits of the number range it saturates, like [`offset`](Self::offset).
    ///
    /// ```
    /// use bevy_tilepath::prelude::*;
    /// assert_eq!(Cell::new(4, 7).step(Direction::North), Cell::new(4, 8));
    /// ```
    #[must_use]
    pub const fn step(self, direction: Direction) -> Self {
        let (dx, dy) = direction.offset();
        self.offset(dx, dy)
    }
}

/// Column and row offset of each direction.
pub(crate) const OFFSETS: [(i32, i32); 8] =
    [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)];

/// Iterates over the directions of a set, as numbers from 0 to 7.
#[inline(always)]
pub(crate) fn directions(mut set: u8) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        if set == 0 {
            return None;
        }
        let direction = set.trailing_zeros() as usize & 7;
        set &= set - 1;
        Some(direction)
    })
}

/// The 3 × 3 block around a cell as nine bits, passable = 1, row by row from the lower left.
pub(crate) type Pattern = u16;

/// The directions of the neighbors whose bits are set in a `Pattern`, as a bit mask.
#[inline]
pub(crate) const fn directions_of(pattern: Pattern) -> u8 {
    let (below, beside, above) = (pattern & 7, pattern >> 3 & 7, pattern >> 6);
    let upper = above >> 2 << 1 | (above >> 1 & 1) << 2 | (above & 1) << 3;
    let lower = (below & 1) << 5 | (below >> 1 & 1) << 6 | below >> 2 << 7;
    (beside >> 2 | upper | (beside & 1) << 4 | lower) as u8
}

/// The bit of `Pattern` for the neighbor at `(dx, dy)`, each -1 to 1.
pub(crate) const fn pattern_bit(dx: i32, dy: i32) -> Pattern {
    1 << ((dy + 1) * 3 + dx + 1)
}

#[cfg(test)]
mod tests {
    use super::Direction;

    #[test]
    fn the_nearest_direction_is_that_of_the_angle() {
        assert_eq!(Direction::nearest(0, 0), None);
        for (dx, dy) in (-70..=70).flat_map(|x| (-70..=70).map(move |y| (x, y))) {
            let eighths = f64::from(dy).atan2(f64::from(dx)) / core::f64::consts::FRAC_PI_4;
            let expected = Direction::from_bits((eighths.round() as i32).rem_euclid(8) as u8);
            let is_clear = (eighths.fract().abs() - 0.5).abs() > 1e-4;
            if (dx, dy) != (0, 0) && is_clear {
                assert_eq!(Direction::nearest(dx, dy), Some(expected), "({dx}, {dy})");
            }
        }
    }
}
