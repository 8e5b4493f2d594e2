//! Which unit holds which cell.
//!
//! Every cell has at most one owner and at most one next owner: a unit that is entering it while the owner
//! is leaving it. A unit owns all cells on which it stands. From the moment a step begins it is also the
//! owner or the next owner of the cells it enters. A border of cells that no unit can enter surrounds the
//! grid, so that neighbors need no bounds check.

use super::NONE;
use crate::nav::{
    BitRows, Cell, Direction, Footprint, NavGrid, Topology, direction::OFFSETS, directions_of,
};

/// Most cells that a unit of the largest size enters in a step.
const MAX_ENTERED: usize = 15;

/// Column and row from the origin of the grid. The position of a unit is that of its anchor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct GridPos {
    pub x: u16,
    pub y: u16,
}

impl GridPos {
    /// Returns the position of a cell, if it lies on the grid.
    pub fn of(grid: &NavGrid, cell: Cell) -> Option<Self> {
        grid.local(cell).map(|(x, y)| Self { x: x as u16, y: y as u16 })
    }

    /// Returns the cell at this position.
    #[inline]
    pub fn cell(self, grid: &NavGrid) -> Cell {
        grid.global(u32::from(self.x), u32::from(self.y))
    }

    /// Returns the position one step on. A step to the left of column 0 or below row 0 wraps around.
    #[inline]
    pub const fn step(self, direction: u8) -> Self {
        let (dx, dy) = OFFSETS[(direction & 7) as usize];
        Self { x: self.x.wrapping_add_signed(dx as i16), y: self.y.wrapping_add_signed(dy as i16) }
    }

    /// Returns the position `steps` steps on.
    #[inline]
    pub const fn along(self, direction: u8, steps: u16) -> Self {
        let (dx, dy) = OFFSETS[(direction & 7) as usize];
        let (x, y) = (steps.wrapping_mul(dx as u16), steps.wrapping_mul(dy as u16));
        Self { x: self.x.wrapping_add(x), y: self.y.wrapping_add(y) }
    }

    /// Returns the columns and rows to another position.
    #[inline]
    pub fn offset_to(self, other: Self) -> (i32, i32) {
        let along = |from: u16, to: u16| i32::from(to) - i32::from(from);
        (along(self.x, other.x), along(self.y, other.y))
    }

    /// Returns the direction of the single step to another position.
    pub fn direction_to(self, other: Self) -> u8 {
        let (dx, dy) = self.offset_to(other);
        Direction::from_offset(dx, dy) as u8
    }

    /// Returns the weight of the shortest path to another position on open terrain, with all neighbors that cells of this
    /// shape have.
    pub fn open_distance(self, other: Self, topology: Topology) -> u64 {
        let (dx, dy) = self.offset_to(other);
        u64::from(topology.widest().distance(dx, dy))
    }

    /// Returns the Chebyshev distance to another position: the columns or rows between, the greater of both.
    #[inline]
    pub fn chebyshev(self, other: Self) -> u16 {
        self.x.abs_diff(other.x).max(self.y.abs_diff(other.y))
    }
}

/// A list of up to [`MAX_ENTERED`] cells, by index.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct CellList {
    list: [u32; MAX_ENTERED],
    len: u8,
}

impl CellList {
    pub fn push(&mut self, index: u32) {
        self.list[usize::from(self.len)] = index;
        self.len += 1;
    }

    pub fn as_slice(&self) -> &[u32] {
        &self.list[..usize::from(self.len)]
    }

    /// Iterates over the cells.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        self.list.into_iter().take(usize::from(self.len))
    }
}

/// The unit that holds a cell and the unit that gets it next, or [`NONE`].
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Reservation {
    pub owner: u32,
    pub next_owner: u32,
}

const FREE: Reservation = Reservation { owner: NONE, next_owner: NONE };

/// All cells of a grid; see the [module](self).
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Reservations {
    topology: Topology,
    stride: u32,
    deltas: [i32; 8],
    cells: Vec<Reservation>,
    /// One bit per cell: a unit stands here that is to be woken when something moves nearby.
    listening: BitRows,
    /// One bit per cell: a unit stands here and is not leaving. Small enough to stay in the cache, unlike
    /// `cells`.
    standing: BitRows,
}

impl Reservations {
    pub fn new(topology: Topology, (width, height): (u32, u32)) -> Self {
        let stride = width + 2;
        let deltas = OFFSETS.map(|(dx, dy)| dy * stride as i32 + dx);
        let cells = vec![FREE; stride as usize * (height as usize + 2)];
        let (listening, standing) = (BitRows::new(width, height), BitRows::new(width, height));
        Self { topology, stride, deltas, cells, listening, standing }
    }

    /// Returns the index of a position on the grid, or one step off it, which is a cell of the border. A
    /// position left of column 0 or below row 0 has wrapped around ([`GridPos::step`]) and wraps back here.
    #[inline]
    pub fn index(&self, pos: GridPos) -> u32 {
        let (column, row) = (pos.x.wrapping_add(1), pos.y.wrapping_add(1));
        u32::from(row) * self.stride + u32::from(column)
    }

    #[inline]
    pub fn neighbor(&self, index: u32, direction: u8) -> u32 {
        index.wrapping_add_signed(self.deltas[usize::from(direction & 7)])
    }

    /// Returns the index of the cell one step from a position.
    #[inline]
    pub fn beside(&self, pos: GridPos, direction: u8) -> u32 {
        self.neighbor(self.index(pos), direction)
    }

    /// Returns who holds the cell at a position.
    #[inline]
    pub fn at(&self, pos: GridPos) -> Reservation {
        self.get(self.index(pos))
    }

    #[inline]
    pub fn get(&self, index: u32) -> Reservation {
        self.cells[index as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, index: u32) -> &mut Reservation {
        &mut self.cells[index as usize]
    }

    /// Returns whether no unit is on a cell beside a position.
    #[inline]
    pub fn is_alone(&self, pos: GridPos) -> bool {
        let cell = self.index(pos);
        (0..8).all(|direction| self.get(self.neighbor(cell, direction)).owner == NONE)
    }

    /// Returns whether a unit holds all cells around a position that are held at all.
    pub fn is_only_owner_around(&self, pos: GridPos, index: u32) -> bool {
        let cell = self.index(pos);
        (0..8).map(|direction| self.get(self.neighbor(cell, direction))).all(|at| {
            [at.owner, at.next_owner].iter().all(|&owner| owner == NONE || owner == index)
        })
    }

    /// Returns the cells that units of a size cover.
    #[inline]
    pub const fn footprint(&self, size: u8) -> Footprint {
        Footprint::new(self.topology, size as u32)
    }

    /// Returns the cells that a unit covers.
    pub fn block(&self, at: GridPos, size: u8) -> impl Iterator<Item = u32> + Clone + use<> {
        let (anchor, stride) = (self.index(at), self.stride as i32);
        let offsets = self.footprint(size).offsets();
        offsets.map(move |(columns, rows)| anchor.wrapping_add_signed(rows * stride + columns))
    }

    /// Returns the cells that a unit covers after a step and not before.
    #[inline]
    pub fn entered(&self, from: GridPos, size: u8, direction: u8) -> CellList {
        let mut cells = CellList::default();
        let to = from.step(direction);
        if size == 1 {
            cells.push(self.index(to));
            return cells;
        }
        let footprint = self.footprint(size);
        let (dx, dy) = OFFSETS[usize::from(direction & 7)];
        for (cell, (x, y)) in self.block(to, size).zip(footprint.offsets()) {
            if !footprint.covers((x + dx, y + dy)) {
                cells.push(cell);
            }
        }
        cells
    }

    /// Returns the cells that a unit covers before a step and not after.
    #[inline]
    pub fn vacated(&self, from: GridPos, size: u8, direction: u8) -> CellList {
        self.entered(from.step(direction), size, direction + 4)
    }

    /// Returns whether a unit covers the cell with this index.
    #[inline]
    pub fn covers(&self, at: GridPos, size: u8, index: u32) -> bool {
        if size == 1 {
            return self.index(at) == index;
        }
        let (column, row) = (index % self.stride, index / self.stride);
        let off = |index: u32, at: u16| index as i32 - 1 - i32::from(at);
        self.footprint(size).covers((off(column, at.x), off(row, at.y)))
    }

    /// Sets whether a unit of this size at a position is registered for wake-up.
    #[inline]
    pub fn set_listening(&mut self, at: GridPos, size: u8, listens: bool) {
        let footprint = self.footprint(size);
        set_bits(&mut self.listening, (at, footprint), listens);
    }

    /// Marks whether a unit of this size stands at a position.
    #[inline]
    pub fn set_standing(&mut self, at: GridPos, size: u8, stands: bool) {
        let footprint = self.footprint(size);
        set_bits(&mut self.standing, (at, footprint), stands);
    }

    /// Returns the directions in which a neighbor of the cell is occupied by a standing unit, one bit each.
    #[inline]
    pub fn standing_neighbors(&self, at: GridPos) -> u8 {
        directions_of(self.standing.pattern(at.x.into(), at.y.into()))
    }

    /// Returns whether any unit is registered for wake-up in the square of `SIDE` × `SIDE` cells whose lowest, leftmost cell is
    /// the diagonal neighbor below and to the left of `at`.
    #[inline(always)]
    pub fn has_listener<const SIDE: usize>(&self, at: GridPos) -> bool {
        self.listening.any_around::<SIDE>(at.x.into(), at.y.into())
    }

    /// Calls `found` with the index of every cell registered for wake-up in the square around a unit and the ring of cells
    /// around that.
    pub fn for_each_listener(&self, at: GridPos, size: u8, mut found: impl FnMut(u32)) {
        let footprint = self.footprint(size);
        let (before, side) = (footprint.before() + 1, footprint.span() + 2);
        let (x, y) = (i32::from(at.x) - before, i32::from(at.y) - before);
        let cells = self.listening.columns_from(x);
        for row in y..y + side {
            let mut bits = cells.read(row) & ((1 << side) - 1);
            while bits != 0 {
                let column = x + bits.trailing_zeros() as i32;
                found(self.index(GridPos { x: column as u16, y: row as u16 }));
                bits &= bits - 1;
            }
        }
    }

    /// Returns the number of cells, including the border.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    pub fn bytes(&self) -> usize {
        self.cells.capacity() * size_of::<Reservation>()
            + self.listening.bytes()
            + self.standing.bytes()
    }
}

/// Sets or clears the bits of the cells that a unit covers.
#[inline]
fn set_bits(bits: &mut BitRows, (at, footprint): (GridPos, Footprint), is_set: bool) {
    if footprint.is_single() {
        bits.set(at.x.into(), at.y.into(), is_set);
        return;
    }
    for (row, columns) in footprint.rows() {
        let (x, y) = (i32::from(at.x) + columns.start, i32::from(at.y) + row);
        bits.set_row(x as u32, y as u32, columns.map(|_| is_set));
    }
}
