//! Edges of a grid: walls, fences, doors and rivers between two cells.
//!
//! Input: a cell and the direction of a step out of it. Output: the edge that the step crosses; changes of edges.

use super::{GridEdit, GridError, NavGrid};
use crate::nav::{
    Cell, CellRect, Direction, EdgeId, Footprint, Profile, ProfileId,
    edges::{EdgeSource, Side, crossings::SHUT},
};

impl NavGrid {
    /// Returns what is between `cell` and its neighbor in `direction`. [`EdgeId::NONE`] also where there can be no edge: off
    /// the grid, and along the diagonals of squares.
    #[must_use]
    pub fn edge(&self, cell: Cell, direction: Direction) -> EdgeId {
        let located = self.locate_edge(cell, direction);
        located.map_or(EdgeId::NONE, |((x, y), side)| self.edges.get(x, y)[side as usize])
    }

    /// Sets the edge between `cell` and its neighbor in `direction`, for both ways, as it belongs to both cells. [`EdgeId::NONE`]
    /// removes it. (Edges that entities place are stored apart: of two in the same place, the one with the higher number counts.)
    /// An edge is shut for all profiles that do not [open](Profile::with_edge) it.
    ///
    /// No unit crosses a shut edge, or squeezes past the end of one where the unit's [corner rule](Profile::corners) forbids
    /// that; no line of sight crosses it. For many edges use [`edit`](Self::edit), which updates the derived data once.
    ///
    /// ```
    /// use bevy_tilepath::prelude::*;
    /// let mut grid = NavGrid::new(16, 8, TerrainId::GROUND)?;
    /// let (yard, road) = (Cell::new(4, 4), Cell::new(4, 5));
    /// let mut edit = grid.edit();
    /// for x in 0..16 {
    ///     edit.set_edge(Cell::new(x, 4), Direction::North, EdgeId::WALL)?;
    /// }
    /// drop(edit);
    /// assert!(!grid.can_reach(ProfileId(0), yard, road));
    /// grid.set_edge(Cell::new(9, 5), Direction::South, EdgeId::NONE)?; // a gate
    /// let path = grid.find_path(ProfileId(0), yard, road).unwrap_or_default();
    /// assert!(path.cells().any(|cell| cell == Cell::new(9, 5)));
    /// # Ok::<(), GridError>(())
    /// ```
    ///
    /// # Errors
    /// [`GridError::OutOfBounds`] if one of the two cells is not on the grid; [`GridError::NoEdge`] along a diagonal of
    /// squares.
    pub fn set_edge(
        &mut self,
        cell: Cell,
        direction: Direction,
        edge: EdgeId,
    ) -> Result<(), GridError> {
        self.edit().set_edge(cell, direction, edge)
    }

    /// Iterates over all edges but [`EdgeId::NONE`], each one once, in no order that a game may rely on: the cell,
    /// the direction of the step from there (east, north, on hexagons also northwest) and the edge.
    pub fn edges(&self) -> impl Iterator<Item = (Cell, Direction, EdgeId)> + '_ {
        self.edges.iter().map(|((x, y), side, edge)| (self.global(x, y), side.direction(), edge))
    }

    /// Returns what it costs a unit of `profile` to cross from `cell` to its neighbor in `direction`, in sixteenths and in
    /// addition to the step; `None` if that edge is shut. For a diagonal step of squares, the cheaper open way around the corner
    /// (the dearer one between two impassable cells).
    #[must_use]
    pub fn edge_cost(&self, profile: ProfileId, cell: Cell, direction: Direction) -> Option<u32> {
        let layer = self.layer(profile)?;
        let (x, y) = self.local(cell)?;
        let Some(crossings) = layer.crossings() else {
            return Some(0);
        };
        // Of a diagonal, one way may be shut, and the other lead past an impassable cell.
        let cost = crossings.cost(x, y, direction as usize);
        let is_open = !crossings.is_shut(x, y, direction) && cost != SHUT.into();
        is_open.then(|| cost * layer.unit() / 2)
    }

    /// Whether a shut edge of `profile` lies inside the footprint of a unit on the cell `(x, y)`.
    pub(super) fn divides(
        &self,
        profile: &Profile,
        (x, y): (u32, u32),
        footprint: Footprint,
    ) -> bool {
        let is_shut = |edge: EdgeId| profile.edge_cost(edge).is_none();
        !self.edges.is_empty()
            && footprint.offsets().any(|(dx, dy)| {
                let edges = self.edges.get(x.wrapping_add_signed(dx), y.wrapping_add_signed(dy));
                Side::ALL.into_iter().zip(edges).any(|(side, edge)| {
                    let (columns, rows) = side.direction().offset();
                    footprint.covers((dx + columns, dy + rows)) && is_shut(edge)
                })
            })
    }

    /// Returns an edge in the form of [`edges`](Self::edges): to the east, north or northwest of a cell. `None` where no edge
    /// can be.
    pub(crate) fn canonical_edge(
        &self,
        cell: Cell,
        direction: Direction,
    ) -> Option<(Cell, Direction)> {
        let ((x, y), side) = self.locate_edge(cell, direction).ok()?;
        Some((self.global(x, y), side.direction()))
    }

    /// Returns the cell with which the edge is stored, and its side; or why there can be no edge.
    fn locate_edge(
        &self,
        cell: Cell,
        direction: Direction,
    ) -> Result<((u32, u32), Side), GridError> {
        let (side, is_of_entered) = Side::of(direction, self.topology.widest())
            .ok_or(GridError::NoEdge { cell, direction })?;
        let on_grid = |cell| self.local(cell).ok_or(GridError::OutOfBounds(cell));
        let (here, there) = (on_grid(cell)?, on_grid(cell.step(direction))?);
        Ok((if is_of_entered { there } else { here }, side))
    }
}

impl GridEdit<'_> {
    /// Sets what is between `cell` and its neighbor in `direction`; see [`NavGrid::set_edge`].
    ///
    /// # Errors
    /// [`GridError::OutOfBounds`] if one of the two cells is not on the grid, [`GridError::NoEdge`] along a diagonal of squares;
    /// nothing is changed then.
    pub fn set_edge(
        &mut self,
        cell: Cell,
        direction: Direction,
        edge: EdgeId,
    ) -> Result<(), GridError> {
        self.set_edge_of(cell, direction, (EdgeSource::Map, edge))
    }

    pub(super) fn set_edge_of(
        &mut self,
        cell: Cell,
        direction: Direction,
        edge: (EdgeSource, EdgeId),
    ) -> Result<(), GridError> {
        let (at, side) = self.grid.locate_edge(cell, direction)?;
        let (before, after) = self.grid.edges.set(at, side, edge);
        if before != after {
            let neighbor = CellRect::single(cell.step(direction));
            self.grid.note_edge(before, after);
            self.note_edge(CellRect::single(cell).union(neighbor));
        }
        Ok(())
    }
}
