//! The shape of cells: squares or hexagons, and the steps that follow from it.
//!
//! Input: the [`Topology`] of a grid and the [`Neighborhood`] of a profile. Output: an `Adjacency`: the directions in which
//! steps lead, what they weigh, and the weight of the shortest path over open terrain.
//!
//! **Hexagons are stored by axial coordinates**: a step to the east adds one column, a step along another axis of the hexagons
//! adds one row. So the six neighbors of a cell lie at the same offsets everywhere, ±(1, 0), ±(0, 1) and ±(1, −1), which are
//! six of the eight directions of squares: all but northeast and southwest. On a map with shifted rows, the rest of the
//! rectangle around its cells is void. All six steps weigh the same, and no step leads past a corner.
//!
//! ```text
//!     column = x, row = y            in the world (one of two orientations)
//!
//!      NW  N   ·                          NW    N
//!      W   +   E                        W    +    E
//!      ·   S   SE                         S    SE
//! ```
//!
//! Source of the coordinates: A. Patel, "Hexagonal Grids" (Red Blob Games, 2013).

use core::ops::{Range, RangeInclusive};

use bevy::reflect::{Reflect, std_traits::ReflectDefault};

use crate::nav::{Cell, DIAGONAL, Direction, Neighborhood, STRAIGHT, directions};

/// The direction of each step on hexagons, in sixths of a full turn.
const SIXTHS: [u8; 8] = [0, 0, 1, 2, 3, 3, 4, 5];

/// The shape of the cells of a grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, Default, PartialEq, Hash, Clone)]
pub enum Topology {
    /// Squares (or the rhombi of isometric maps) with four or eight neighbors, as each profile says.
    #[default]
    Square,
    /// Hexagons with six neighbors, in axial coordinates: ±(1, 0), ±(0, 1), ±(1, −1). Neighborhoods and corner rules of
    /// profiles do not matter.
    Hexagonal,
}

impl Topology {
    /// Returns the directions in which the neighbors of a cell lie: eight on squares, six on hexagons.
    ///
    /// ```
    /// use bevy_tilepath::prelude::*;
    /// let around = |cell: Cell| Topology::Hexagonal.directions().map(move |it| cell.step(it));
    /// assert_eq!(around(Cell::new(4, 7)).count(), 6);
    /// assert!(!around(Cell::new(4, 7)).any(|cell| cell == Cell::new(5, 8)));
    /// ```
    pub fn directions(self) -> impl Iterator<Item = Direction> {
        Direction::ALL.into_iter().filter(move |&direction| self.widest().has(direction))
    }

    /// Returns the fewest steps between two cells over open terrain, on squares with diagonal steps.
    #[must_use]
    pub fn distance(self, a: Cell, b: Cell) -> u32 {
        match self {
            Self::Square => a.chebyshev(b),
            Self::Hexagonal => a.hexagonal_distance(b),
        }
    }

    /// By how much two directions differ: 0 if they are the same, at most 2 if a unit may enter a cell right behind a unit that
    /// leaves it, 4 if they are opposite. On squares it counts eighths of a full turn. On hexagons 60° count as 2 and 120° as
    /// 3: discs as large as cells would touch if one followed the other at 120°.
    #[inline(always)]
    pub(crate) const fn turn_angle(self, a: u8, b: u8) -> u8 {
        const ANGLES: [u8; 6] = [0, 2, 3, 4, 3, 2];
        match self {
            Self::Square => {
                let apart = a.wrapping_sub(b) & 7;
                if apart > 4 { 8 - apart } else { apart }
            }
            Self::Hexagonal => {
                let apart = 6 + SIXTHS[(a & 7) as usize] - SIXTHS[(b & 7) as usize];
                ANGLES[(apart % 6) as usize]
            }
        }
    }

    /// The squared length of a straight line over so many columns and rows, in cells.
    #[inline(always)]
    pub(crate) const fn squared_length(self, dx: i64, dy: i64) -> u64 {
        let slant = match self {
            Self::Square => 0,
            Self::Hexagonal => dx * dy,
        };
        (dx * dx + dy * dy + slant) as u64
    }

    /// The scalar product of two vectors of columns and rows, in squared cells; on hexagons, in half squared cells.
    pub(crate) const fn scalar_product(self, (x, y): (i64, i64), (dx, dy): (i64, i64)) -> i64 {
        match self {
            Self::Square => x * dx + y * dy,
            Self::Hexagonal => 2 * (x * dx + y * dy) + x * dy + y * dx,
        }
    }

    /// The direction of steps that is nearest to an offset; `None` for no offset.
    pub(crate) fn nearest_direction(self, dx: i64, dy: i64) -> Option<Direction> {
        if (dx, dy) == (0, 0) {
            return None;
        }
        let along = |direction: &Direction| {
            let (x, y) = direction.offset();
            let along = self.scalar_product((i64::from(x), i64::from(y)), (dx, dy));
            (along, core::cmp::Reverse(*direction))
        };
        match self {
            Self::Square => Some(nearest_of_eight(dx, dy)),
            Self::Hexagonal => self.directions().max_by_key(along),
        }
    }

    /// The cells that are so many steps over open terrain away, row by row, and the squared lengths of the straight lines there.
    pub(crate) fn cells_around(
        self,
        cell: Cell,
        distances: RangeInclusive<i32>,
    ) -> impl Iterator<Item = (u64, Cell)> {
        let (nearest, farthest) = distances.into_inner();
        let offsets = (-farthest..=farthest).flat_map(move |dy| {
            let (outer, inner) = (self.row_within(farthest, dy), self.row_within(nearest - 1, dy));
            let (before, after) = if inner.is_empty() {
                (outer, 0..0)
            } else {
                (outer.start..inner.start, inner.end..outer.end)
            };
            before.chain(after).map(move |dx| (dx, dy))
        });
        offsets.map(move |(dx, dy)| {
            (self.squared_length(i64::from(dx), i64::from(dy)), cell.offset(dx, dy))
        })
    }

    /// The columns of row `dy` that are at most so many steps over open terrain away.
    const fn row_within(self, steps: i32, dy: i32) -> Range<i32> {
        let beside = match self {
            _ if dy.abs() > steps => return 0..0,
            Self::Square => 0,
            Self::Hexagonal => dy,
        };
        let (before, after) = if beside < 0 { (-beside, 0) } else { (0, beside) };
        before - steps..steps - after + 1
    }

    /// The hexagon at most `radius` steps from `middle` whose center is nearest to the center of `to`; of several, the lowest
    /// and leftmost.
    pub(crate) fn nearest_hexagon_within(middle: Cell, radius: u32, to: Cell) -> Cell {
        let vector = |from: Cell, to: Cell| {
            let side = |from: i32, to: i32| i64::from(to) - i64::from(from);
            (side(from.x, to.x), side(from.y, to.y))
        };
        if middle.hexagonal_distance(to) <= radius {
            return to;
        }
        let corners = Adjacency::Six.straight_steps().map(|side| {
            let (dx, dy) = Direction::from_bits(side).offset();
            (side, middle.offset(dx * radius as i32, dy * radius as i32))
        });
        // Along each side of the large hexagon, the cells before and after the foot of the perpendicular.
        let beside = corners.flat_map(|(side, corner)| {
            let along = Direction::from_bits(Adjacency::Six.around(side)[0].1).offset();
            let step = (i64::from(along.0), i64::from(along.1));
            let foot = Self::Hexagonal.scalar_product(vector(corner, to), step).div_euclid(2);
            [foot, foot + 1].map(|steps| {
                let steps = steps.clamp(0, i64::from(radius)) as i32;
                corner.offset(along.0 * steps, along.1 * steps)
            })
        });
        let away = |cell: &Cell| {
            let (dx, dy) = vector(*cell, to);
            (Self::Hexagonal.squared_length(dx, dy), cell.y, cell.x)
        };
        beside.min_by_key(away).unwrap_or(middle)
    }

    /// The adjacency with most neighbors.
    #[inline(always)]
    pub(crate) const fn widest(self) -> Adjacency {
        match self {
            Self::Square => Adjacency::Eight,
            Self::Hexagonal => Adjacency::Six,
        }
    }

    /// Whether steps in a direction lead past corners: then units beside it may cross it.
    #[inline(always)]
    pub(crate) const fn is_diagonal(self, direction: u8) -> bool {
        direction & 1 == 1 && matches!(self, Self::Square)
    }
}

/// The direction that is nearest to an offset on squares.
fn nearest_of_eight(dx: i64, dy: i64) -> Direction {
    let (long, short) = (dx.abs().max(dy.abs()), dx.abs().min(dy.abs()));
    // The tangent of half the angle between two directions is √2 - 1.
    let is_diagonal = i128::from(short) * i128::from(STRAIGHT)
        > i128::from(long) * i128::from(DIAGONAL - STRAIGHT);
    let sign = |along: i64, across: i64| {
        if is_diagonal || along.abs() > across.abs() { along.signum() as i32 } else { 0 }
    };
    Direction::from_offset(sign(dx, dy), sign(dy, dx))
}

/// The neighbors of a cell; see the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Adjacency {
    Four,
    Eight,
    Six,
}

impl Adjacency {
    pub(crate) const fn of(topology: Topology, neighborhood: Neighborhood) -> Self {
        match (topology, neighborhood) {
            (Topology::Hexagonal, _) => Self::Six,
            (Topology::Square, Neighborhood::Four) => Self::Four,
            (Topology::Square, Neighborhood::Eight) => Self::Eight,
        }
    }

    /// The adjacency of so many neighbors.
    pub(crate) const fn with_neighbors(count: u8) -> Self {
        match count {
            4 => Self::Four,
            6 => Self::Six,
            _ => Self::Eight,
        }
    }

    /// The directions of steps, one bit each.
    pub(crate) const fn directions(self) -> u8 {
        match self {
            Self::Four => 0b0101_0101,
            Self::Eight => 0b1111_1111,
            Self::Six => 0b1101_1101,
        }
    }

    /// The directions of steps that pass no corner, one bit each: the straight ones of squares, all of hexagons.
    pub(crate) const fn straight_directions(self) -> u8 {
        match self {
            Self::Six => Self::Six.directions(),
            Self::Four | Self::Eight => Self::Four.directions(),
        }
    }

    /// The same one after another.
    pub(crate) fn straight_steps(self) -> impl Iterator<Item = u8> {
        directions(self.straight_directions()).map(|direction| direction as u8)
    }

    /// Whether steps lead in a direction.
    pub(crate) const fn has(self, direction: Direction) -> bool {
        self.directions() >> direction as u8 & 1 == 1
    }

    /// The weights of steps with an even and with an odd number of direction.
    pub(crate) const fn weights(self) -> [u32; 2] {
        [STRAIGHT, if matches!(self, Self::Six) { STRAIGHT } else { DIAGONAL }]
    }

    /// The weight of one step.
    pub(crate) const fn weight(self, direction: Direction) -> u32 {
        self.weights()[direction as usize & 1]
    }

    /// What distances over open terrain add to the straight steps along the longer side.
    pub(crate) const fn distance_weights(self) -> DistanceWeights {
        match self {
            Self::Four => DistanceWeights { short: STRAIGHT, slant: 0 },
            Self::Eight => DistanceWeights { short: DIAGONAL - STRAIGHT, slant: 0 },
            Self::Six => DistanceWeights { short: STRAIGHT, slant: STRAIGHT },
        }
    }

    /// The weight of the shortest path over open terrain to the cell `dx` columns to the right and `dy` rows up.
    pub(crate) const fn distance(self, dx: i32, dy: i32) -> u32 {
        self.distance_weights().distance(dx, dy)
    }

    /// The two neighbors of a cell on either side of its neighbor in `direction`, and the directions of the steps from that
    /// neighbor to them.
    pub(crate) const fn around(self, direction: u8) -> [(u8, u8); 2] {
        use Direction::{East, North, NorthWest, South, SouthEast, West};
        /// The six directions counterclockwise.
        const RING: [Direction; 6] = [East, North, NorthWest, West, South, SouthEast];
        let at = SIXTHS[(direction & 7) as usize] as usize;
        match self {
            Self::Six => [
                (RING[(at + 1) % 6] as u8, RING[(at + 2) % 6] as u8),
                (RING[(at + 5) % 6] as u8, RING[(at + 4) % 6] as u8),
            ],
            Self::Four | Self::Eight => {
                let turn = direction & 1; // from a diagonal neighbor the next one is farther around
                [(direction + 1, direction + 2 + turn), (direction + 7, direction + 6 - turn)]
            }
        }
    }

    /// Whether a path that begins with the step `first` comes before one that begins with `other` in canonical order: diagonal
    /// steps first with eight neighbors, vertical ones first with four. On hexagons every other direction comes first: north,
    /// west and southeast.
    pub(crate) const fn comes_first(self, first: Direction, other: Direction) -> bool {
        self.leads(first) && !self.leads(other)
    }

    const fn leads(self, direction: Direction) -> bool {
        use Direction::{North, South, SouthEast, West};
        match self {
            Self::Eight => direction.is_diagonal(),
            Self::Four => matches!(direction, North | South),
            Self::Six => matches!(direction, North | West | SouthEast),
        }
    }
}

/// What distances over open terrain add to the straight steps along the longer side.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct DistanceWeights {
    /// Added for each column or row of the shorter side.
    pub(crate) short: u32,
    /// The part of that which is left out if columns grow and rows fall, or the other way round.
    slant: u32,
}

impl DistanceWeights {
    /// The weight of the shortest path to the cell `dx` columns to the right and `dy` rows up.
    #[inline(always)]
    pub(crate) const fn distance(self, dx: i32, dy: i32) -> u32 {
        let (columns, rows) = (dx.unsigned_abs(), dy.unsigned_abs());
        let (long, short) = if columns > rows { (columns, rows) } else { (rows, columns) };
        // All bits are set where the signs differ.
        let are_opposite = ((dx ^ dy) >> 31) as u32;
        STRAIGHT * long + (self.short - (self.slant & are_opposite)) * short
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_hexagon_is_found_without_trying_all() {
        let middle = Cell::new(3, -2);
        for radius in 0..9 {
            for to in crate::nav::CellRect::new(Cell::new(-22, -27), 50, 50).cells() {
                let away = |cell: Cell| {
                    let (dx, dy) = (i64::from(to.x - cell.x), i64::from(to.y - cell.y));
                    (Topology::Hexagonal.squared_length(dx, dy), cell.y, cell.x)
                };
                let all = Topology::Hexagonal.cells_around(middle, 0..=radius);
                let nearest = all.map(|(_, cell)| cell).min_by_key(|&cell| away(cell));
                let found = Topology::nearest_hexagon_within(middle, radius as u32, to);
                assert_eq!(Some(found), nearest, "{radius} steps, to {to}");
            }
        }
    }
}
