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
//! around the corner: it costs what the cheaper way does that is not cut. A way is *cut* by a shut edge, or by an impassable cell. Corner rules
//! extend to edges: `Forbid` needs both ways open and `NoSqueeze` one. `Allow` lets units squeeze through between two cells,
//! not past a shut edge: if one way is cut by an edge, the other must be open. Between two cells the step costs what the cheaper way
//! would.
//!
//! For units larger than a cell an edge counts at every anchor from which a part of the unit crosses it: the costliest edge of
//! the block does. Where a shut edge lies inside the block the unit cannot stand, see `Clearance`.
//!
//! Memory: 3 bits per cell, and 26 bytes per cell in chunks with cells beside edges.

use core::ops::Range;

use super::{EdgeMap, Side};
use crate::nav::{
    Adjacency, BitRows, CHUNK, CornerRule, Direction, EdgeId, OFFSETS, Pattern, Profile, Rect,
    chunks_in,
    clearance::combine_ahead,
    directions,
    moves::{ShutEdges, steps_between_edges},
    pattern_bit,
};

const CELLS: usize = (CHUNK * CHUNK) as usize;
/// The cost of crossing a shut edge.
const SHUT: u16 = u16::MAX;
/// The diagonal directions of squares, as a set.
const DIAGONALS: u8 = 0b1010_1010;

/// The edges around a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CellCrossings {
    /// Directions whose edge is shut; on squares the straight ones.
    shut: u8,
    /// Whether a shut edge cuts the ways around the corners of squares. For a diagonal direction `d`, bit `d - 1` stands for
    /// the way that begins in direction `d - 1`, and bit `d` for the other one.
    cut: u8,
    /// Cost of crossing by direction, in the layer's units.
    costs: [u16; 8],
    /// Steps worth trying by direction of arrival, if all cells around cost the same; all legal ones where an edge around costs
    /// something.
    worth: [u8; 8],
}

/// The edges of a grid as a profile sees them; see the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct Crossings {
    size: (u32, u32),
    adjacency: Adjacency,
    corner_rule: CornerRule,
    /// Cells along a side of the unit.
    unit_side: u32,
    costs: EdgeCosts,
    /// The cells beside an edge.
    beside: BitRows,
    /// Those from which canonical order only goes on along the row, and along the column, in both directions.
    along: [BitRows; 2],
    /// For each chunk with such cells.
    chunks: Vec<Option<Box<[CellCrossings; CELLS]>>>,
}

/// What crossing each kind of edge costs, in the layer's units.
#[derive(Clone, Debug)]
pub(crate) struct EdgeCosts {
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

    pub(crate) fn is_shut(&self, edge: EdgeId) -> bool {
        self.costs[usize::from(edge.0)] == SHUT
    }

    /// Whether an edge means anything to the profile.
    pub(crate) fn matters(&self, edge: EdgeId) -> bool {
        self.costs[usize::from(edge.0)] > 0
    }
}

impl Crossings {
    /// Creates the crossings of a layer without edges.
    pub(crate) fn new(
        size: (u32, u32),
        (adjacency, corner_rule, unit_side): (Adjacency, CornerRule, u32),
        costs: EdgeCosts,
    ) -> Self {
        let chunks = size.0.div_ceil(CHUNK) as usize * size.1.div_ceil(CHUNK) as usize;
        Self {
            size,
            adjacency,
            corner_rule,
            unit_side,
            costs,
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

    /// The directions in which edges forbid a step out of a cell with this pattern.
    #[inline]
    pub(crate) fn forbidden(&self, x: u32, y: u32, pattern: Pattern) -> u8 {
        self.at(x, y).map_or(0, |cell| match self.adjacency {
            Adjacency::Six => cell.shut,
            Adjacency::Four | Adjacency::Eight => cell.forbidden(self.corner_rule, pattern),
        })
    }

    /// The cost of crossing edges with a step out of a cell, in the layer's units; for a shut edge any number.
    #[inline]
    pub(crate) fn cost(&self, x: u32, y: u32, direction: usize) -> u32 {
        self.at(x, y).map_or(0, |cell| u32::from(cell.costs[direction & 7]))
    }

    /// The steps worth trying from a cell beside an edge that was reached in a direction, if all cells around cost the same.
    #[inline]
    pub(crate) fn steps_after(&self, x: u32, y: u32, arrival: u8) -> Option<u8> {
        self.at(x, y).map(|cell| cell.worth[usize::from(arrival & 7)])
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
    pub(crate) fn refresh(&mut self, rect: Rect, edges: &EdgeMap, passable: &BitRows) -> bool {
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
        (edges, passable): (&EdgeMap, &BitRows),
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
            .all(|direction| self.worth[direction] == 1 << direction)
    }

    /// The same on squares.
    fn forbidden(&self, rule: CornerRule, pattern: Pattern) -> u8 {
        let mut forbidden = self.shut;
        for diagonal in [1, 3, 5, 7] {
            let is_cut = |bit: u8| self.cut >> bit & 1 == 1;
            let is_blocked = |direction: u8| {
                let (dx, dy) = OFFSETS[usize::from(direction & 7)];
                pattern & pattern_bit(dx, dy) == 0
            };
            let edges = (is_cut(diagonal - 1), is_cut(diagonal));
            let cells = (is_blocked(diagonal - 1), is_blocked(diagonal + 1));
            let closed = (edges.0 || cells.0, edges.1 || cells.1);
            let is_forbidden = match rule {
                CornerRule::Forbid => edges.0 || edges.1,
                CornerRule::NoSqueeze => closed.0 && closed.1,
                CornerRule::Allow => edges.0 && closed.1 || edges.1 && closed.0,
            };
            forbidden |= u8::from(is_forbidden) << diagonal;
        }
        forbidden
    }
}

/// The costs of the edges around some cells.
struct Window {
    left: u32,
    low: u32,
    columns: usize,
    /// Costs at the three sides of each cell, row-major.
    costs: Vec<[u16; 3]>,
}

impl Window {
    /// Reads the edges around the cells in these columns and rows; `None` if there are none.
    fn read(
        crossings: &Crossings,
        columns: Range<u32>,
        rows: Range<u32>,
        edges: &EdgeMap,
    ) -> Option<Self> {
        let (more, (width, height)) = (crossings.unit_side - 1, crossings.size);
        let (left, low) = (columns.start.saturating_sub(1), rows.start.saturating_sub(1));
        let (right, high) =
            ((columns.end + 1 + more).min(width), (rows.end + 1 + more).min(height));
        if !edges.has_any_in((left, low, right - left, high - low)) {
            return None;
        }
        let all = (low..high).flat_map(|y| (left..right).map(move |x| (x, y)));
        let cost = |edge: EdgeId| crossings.costs.costs[usize::from(edge.0)];
        let mut costs: Vec<_> = all.map(|(x, y)| edges.get(x, y).map(cost)).collect();
        let columns = (right - left) as usize;
        if more > 0 {
            let worst = |a: [u16; 3], b: [u16; 3]| [0, 1, 2].map(|side| a[side].max(b[side]));
            combine_ahead(&mut costs, crossings.unit_side, 1, worst);
            combine_ahead(&mut costs, crossings.unit_side, columns, worst);
            let anchors = (low..high).flat_map(|y| (left..right).map(move |x| (x, y)));
            for (costs, (x, y)) in costs.iter_mut().zip(anchors) {
                // Nothing crosses where no unit fits on the grid; there costs of the next row are mixed in.
                if x + more >= width || y + more >= height {
                    *costs = [0; 3];
                }
            }
        }
        Some(Self { left, low, columns, costs })
    }

    /// The cost of crossing with a step out of a cell in a direction that crosses one edge; 0 at the borders of the grid.
    fn cost(&self, (x, y): (u32, u32), direction: u8, adjacency: Adjacency) -> u16 {
        let direction = Direction::from_bits(direction);
        let Some((side, is_of_entered)) = Side::of(direction, adjacency) else {
            return 0;
        };
        let (x, y) = direction.cell_at(x, y, u32::from(is_of_entered));
        let (column, row) = (x.wrapping_sub(self.left) as usize, y.wrapping_sub(self.low) as usize);
        if column >= self.columns {
            return 0;
        }
        self.costs
            .get(row.saturating_mul(self.columns).saturating_add(column))
            .map_or(0, |costs| costs[side as usize])
    }

    /// The crossings of a cell, if it is beside an edge.
    fn crossings(
        &self,
        at: (u32, u32),
        rules: (CornerRule, Adjacency),
        pattern: impl FnOnce() -> Pattern,
    ) -> Option<CellCrossings> {
        let adjacency = rules.1;
        let mut found = CellCrossings::default();
        let (mut shut, mut costs, mut any) = (ShutEdges::default(), false, false);
        let sides = if adjacency == Adjacency::Six { Adjacency::Six } else { Adjacency::Four };
        let mut note = |offset: (i32, i32), direction: u8, cost: u16| {
            any |= cost > 0;
            costs |= cost > 0 && cost != SHUT;
            let (side, is_of_entered) = Side::of(Direction::from_bits(direction), adjacency)?;
            let (dx, dy) = OFFSETS[usize::from(direction & 7)];
            let entered = if is_of_entered { (dx, dy) } else { (0, 0) };
            (cost == SHUT).then(|| shut.insert((offset.0 + entered.0, offset.1 + entered.1), side))
        };
        for direction in directions(sides.directions()) {
            let direction = direction as u8;
            let cost = self.cost(at, direction, adjacency);
            found.shut |= u8::from(cost == SHUT) << direction;
            found.costs[usize::from(direction)] = cost;
            note((0, 0), direction, cost);
            let next = Direction::from_bits(direction).cell_at(at.0, at.1, 1);
            for (_, second) in sides.around(direction) {
                let offset = OFFSETS[usize::from(direction)];
                note(offset, second, self.cost(next, second, adjacency));
            }
        }
        if !any {
            return None;
        }
        let pattern = pattern();
        if adjacency != Adjacency::Six {
            self.add_diagonals((at, pattern), adjacency, &mut found);
        }
        found.worth = match costs {
            true => [u8::MAX; 8],
            false => steps_between_edges(pattern, rules, shut),
        };
        Some(found)
    }

    /// Adds what diagonal steps of squares cross.
    fn add_diagonals(
        &self,
        (at, pattern): ((u32, u32), Pattern),
        adjacency: Adjacency,
        found: &mut CellCrossings,
    ) {
        let is_passable = |direction: u8| {
            let (dx, dy) = OFFSETS[usize::from(direction & 7)];
            pattern & pattern_bit(dx, dy) != 0
        };
        for diagonal in [1, 3, 5, 7] {
            let way = |first: u8, second: u8| {
                let corner = Direction::from_bits(first).cell_at(at.0, at.1, 1);
                let a = self.cost(at, first, adjacency);
                let b = self.cost(corner, second, adjacency);
                if a == SHUT || b == SHUT { SHUT } else { a + b }
            };
            let ways =
                [way(diagonal - 1, (diagonal + 1) & 7), way((diagonal + 1) & 7, diagonal - 1)];
            found.cut |= u8::from(ways[0] == SHUT) << (diagonal - 1);
            found.cut |= u8::from(ways[1] == SHUT) << diagonal;
            let passable = [is_passable(diagonal - 1), is_passable(diagonal + 1)];
            found.costs[usize::from(diagonal)] = match passable {
                [true, false] if ways[0] != SHUT => ways[0],
                [false, true] if ways[1] != SHUT => ways[1],
                _ => ways[0].min(ways[1]),
            };
        }
    }
}
