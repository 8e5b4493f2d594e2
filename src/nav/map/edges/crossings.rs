//! What edges mean for the steps of one profile: which they forbid, and what crossing them costs.
//!
//! Input: the edges of a grid, and what each kind costs the profile. Output: the [`Crossings`] of a layer: for each cell *beside
//! an edge* the steps that cross a shut one, and the cost of crossing by direction. A cell is beside an edge if there is one
//! between two cells of the 3 × 3 block around it (on hexagons: of the cell and its neighbors) that is shut or costs something.
//! So at all other cells the rules of terrain hold as they are. Searches treat cells beside edges like those on cost borders:
//! they are jump points. Where all cells cost the same, the steps worth trying follow from the edges in the block; elsewhere
//! every legal step is tried.
//!
//! A straight step, and every step on hexagons, crosses one edge. A diagonal step of squares crosses two edges on either way
//! around the corner. It costs as much as the cheaper of the ways that are not cut. A way is *cut* by a shut edge, or by an
//! impassable
//! cell. Corner rules extend to edges: `Forbid` needs both ways open and `NoSqueeze` one. `Allow` lets units squeeze through
//! between two cells, not past a shut edge: if one way is cut by an edge, the other must be open. Between two impassable cells
//! the step costs what the dearer way would, so that no building makes a path cheaper.
//!
//! For units larger than a cell an edge counts at every anchor from which a part of the unit crosses it; of several edges under
//! the footprint, the costliest counts. Where a shut edge lies inside the footprint the unit cannot stand, see `Clearance`.
//!
//! Memory: 3 bits per cell, and 28 bytes per cell in chunks with cells beside edges.

mod window;

use self::window::Window;
use super::EdgeMap;
use crate::nav::{
    Adjacency, BitRows, CHUNK, CornerRule, Direction, EdgeId, Footprint, NO_DIRECTION, Profile,
    Rect, chunks_in,
};

const CELLS: usize = (CHUNK * CHUNK) as usize;
/// The cost of crossing a shut edge.
pub(crate) const SHUT: u16 = u16::MAX;
/// The diagonal directions of squares, as a set.
const DIAGONALS: u8 = 0b1010_1010;

/// The edges around a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct CellCrossings {
    /// Directions whose edge is shut; on squares the straight ones.
    shut: u8,
    /// Whether a shut edge cuts the ways around the corners of squares. For a diagonal direction `d`, bit `d - 1` stands for
    /// the way that begins in direction `d - 1`, and bit `d` for the other one.
    cut: u8,
    /// Cost of crossing by direction, in the layer's units.
    costs: [u16; 8],
    /// Steps worth trying, by direction of arrival, if all cells around cost the same; all bits are set if an edge around
    /// costs something. In row [`NO_DIRECTION`], all legal steps.
    steps: [u8; 9],
}

/// The edges of a grid as a profile sees them; see the [module](self).
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Crossings {
    size: (u32, u32),
    adjacency: Adjacency,
    corner_rule: CornerRule,
    /// The cells that the unit covers.
    footprint: Footprint,
    /// The cells beside an edge.
    beside: BitRows,
    /// Those of them from which canonical order only continues along the row, and along the column, in both directions.
    along: [BitRows; 2],
    /// For each chunk with such cells.
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::serde_with::some_arrays"))]
    chunks: Vec<Option<Box<[CellCrossings; CELLS]>>>,
}

/// What crossing each kind of edge costs, in the layer's units.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct EdgeCosts {
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::serde_with::boxed_array"))]
    costs: Box<[u16; 256]>,
    highest: u32,
}

impl EdgeCosts {
    pub(crate) fn of(profile: &Profile) -> Self {
        let unit = profile.cost_unit();
        let mut costs = Box::new([0; 256]);
        for (kind, cost) in (0..=u8::MAX).zip(costs.iter_mut()) {
            let sixteenths = profile.edge_cost(EdgeId(kind));
            *cost = sixteenths.map_or(SHUT, |cost| (2 * u32::from(cost) / unit) as u16);
        }
        let open = costs.iter().filter(|&&cost| cost != SHUT);
        let highest = open.max().map_or(0, |&cost| u32::from(cost));
        Self { costs, highest }
    }

    /// The highest cost of an edge that can be crossed.
    #[inline]
    pub(crate) const fn highest(&self) -> u32 {
        self.highest
    }

    /// The cost of an edge; `SHUT` for a shut one.
    fn of_edge(&self, edge: EdgeId) -> u16 {
        self.costs[usize::from(edge.0)]
    }

    pub(crate) fn is_shut(&self, edge: EdgeId) -> bool {
        self.of_edge(edge) == SHUT
    }

    /// Whether an edge means anything to the profile.
    pub(crate) fn matters(&self, edge: EdgeId) -> bool {
        self.of_edge(edge) > 0
    }
}

impl Crossings {
    /// Creates the crossings of a layer without edges.
    pub(crate) fn new(
        size: (u32, u32),
        (adjacency, corner_rule, footprint): (Adjacency, CornerRule, Footprint),
    ) -> Self {
        let chunks = size.0.div_ceil(CHUNK) as usize * size.1.div_ceil(CHUNK) as usize;
        Self {
            size,
            adjacency,
            corner_rule,
            footprint,
            beside: BitRows::new(size.0, size.1),
            along: [BitRows::new(size.0, size.1), BitRows::new(size.0, size.1)],
            chunks: vec![None; chunks],
        }
    }

    /// Whether a cell is beside an edge.
    #[inline]
    pub(crate) fn is_beside(&self, x: u32, y: u32) -> bool {
        self.beside.get(x, y)
    }

    /// The cells beside an edge.
    pub(crate) const fn beside(&self) -> &BitRows {
        &self.beside
    }

    /// The cells beside an edge from which canonical order only goes on along the row, and along the column, in both directions.
    pub(crate) const fn along(&self) -> [&BitRows; 2] {
        [&self.along[0], &self.along[1]]
    }

    /// Whether a chunk has cells beside an edge.
    pub(crate) fn is_chunk_beside(&self, chunk: u32) -> bool {
        self.chunks[chunk as usize].is_some()
    }

    /// The edges around a cell, if it is beside one.
    #[inline]
    pub(crate) fn at(&self, x: u32, y: u32) -> Option<&CellCrossings> {
        if !self.beside.get(x, y) {
            return None;
        }
        let chunk = (y / CHUNK) * self.size.0.div_ceil(CHUNK) + x / CHUNK;
        let cells = self.chunks[chunk as usize].as_ref()?;
        Some(&cells[((y % CHUNK) * CHUNK + x % CHUNK) as usize])
    }

    /// The cost of the edges that a step out of a cell crosses, in the layer's units; meaningless for shut edges.
    #[inline]
    pub(crate) fn cost(&self, x: u32, y: u32, direction: usize) -> u32 {
        self.at(x, y).map_or(0, |cell| u32::from(cell.costs[direction & 7]))
    }

    /// The steps worth trying from a cell beside an edge that was reached in a direction (0 to 7), if all cells around cost the
    /// same; for [`NO_DIRECTION`] all legal steps.
    #[inline]
    pub(crate) fn steps_after(&self, x: u32, y: u32, arrival: u8) -> Option<u8> {
        self.at(x, y).map(|cell| cell.steps[usize::from(arrival) % 9])
    }

    /// All legal steps out of a cell beside an edge.
    #[inline]
    pub(crate) fn legal_steps(&self, x: u32, y: u32) -> Option<u8> {
        self.steps_after(x, y, NO_DIRECTION)
    }

    /// Whether the edge that a step crosses is shut; for a diagonal step of squares, whether both ways around the corner are
    /// cut by edges.
    pub(crate) fn is_shut(&self, x: u32, y: u32, direction: Direction) -> bool {
        self.at(x, y).is_some_and(|cell| {
            let number = direction as u8;
            let is_cut = |bit: u8| cell.cut >> bit & 1 == 1;
            match self.adjacency {
                Adjacency::Four | Adjacency::Eight if direction.is_diagonal() => {
                    is_cut(number - 1) && is_cut(number)
                }
                _ => cell.shut >> number & 1 == 1,
            }
        })
    }

    /// The diagonal directions in which the block of 2 × 2 squares is divided by a shut edge; on hexagons none.
    pub(crate) fn divided_corners(&self, x: u32, y: u32) -> u8 {
        let cut = self.at(x, y).map_or(0, |cell| cell.cut);
        (cut | cut << 1) & DIAGONALS
    }

    /// The directions whose edges are shut; on squares the straight ones.
    pub(crate) fn shut_sides(&self, x: u32, y: u32) -> u8 {
        self.at(x, y).map_or(0, |cell| cell.shut)
    }

    pub(crate) fn bytes(&self) -> usize {
        let held = self.chunks.iter().flatten().count();
        let chunks = self.chunks.len() * size_of::<usize>();
        3 * self.beside.bytes() + chunks + held * CELLS * size_of::<CellCrossings>() + 512
    }

    /// Reads the edges again for the steps out of the cells of a rectangle; returns whether anything has changed.
    pub(crate) fn refresh(
        &mut self,
        rect: Rect,
        edges: (&EdgeMap, &EdgeCosts),
        passable: &BitRows,
    ) -> bool {
        let mut changed = false;
        for chunk in chunks_in(rect, self.size.0.div_ceil(CHUNK)) {
            changed |= self.refresh_chunk(chunk, rect, (edges, passable));
        }
        changed
    }

    /// Reads the edges again for the cells of a rectangle in one chunk.
    fn refresh_chunk(
        &mut self,
        chunk: u32,
        (x, y, width, height): Rect,
        (edges, passable): ((&EdgeMap, &EdgeCosts), &BitRows),
    ) -> bool {
        let chunks_per_row = self.size.0.div_ceil(CHUNK);
        let (left, low) = (chunk % chunks_per_row * CHUNK, chunk / chunks_per_row * CHUNK);
        let columns = x.max(left)..(x + width).min(left + CHUNK);
        let rows = y.max(low)..(y + height).min(low + CHUNK);
        let window = Window::read(self, columns.clone(), rows.clone(), edges);
        if window.is_none() && self.chunks[chunk as usize].is_none() {
            return false;
        }
        let cells = self.chunks[chunk as usize]
            .get_or_insert_with(|| Box::new([CellCrossings::default(); CELLS]));
        let mut changed = false;
        for y in rows {
            let (mut beside, mut along) = ([false; CHUNK as usize], [[false; CHUNK as usize]; 2]);
            for x in columns.clone() {
                let rules = (self.corner_rule, self.adjacency);
                let found = window
                    .as_ref()
                    .and_then(|window| window.crossings((x, y), rules, || passable.pattern(x, y)));
                let (crossings, is_beside) = (found.unwrap_or_default(), found.is_some());
                let cell = &mut cells[((y % CHUNK) * CHUNK + x % CHUNK) as usize];
                changed |= *cell != crossings;
                *cell = crossings;
                beside[(x % CHUNK) as usize] = is_beside;
                for (axis, along) in along.iter_mut().enumerate() {
                    along[(x % CHUNK) as usize] = is_beside && crossings.leads_along(axis);
                }
            }
            let planes = self.along.iter_mut().zip(&along).chain([(&mut self.beside, &beside)]);
            for (plane, row) in planes {
                let row = row[(columns.start % CHUNK) as usize..].iter().copied();
                changed |= plane.set_row(columns.start, y, row.take(columns.len()));
            }
        }
        let is_used =
            (low..low + CHUNK.min(self.size.1 - low)).any(|y| self.beside.cells_32(left, y) != 0);
        if !is_used {
            self.chunks[chunk as usize] = None;
        }
        changed
    }
}

impl CellCrossings {
    /// Whether canonical order goes on in both directions along a row (0) or a column (1), and only there.
    fn leads_along(&self, axis: usize) -> bool {
        [2 * axis, 2 * axis + 4]
            .into_iter()
            .all(|direction| self.steps[direction] == 1 << direction)
    }
}
