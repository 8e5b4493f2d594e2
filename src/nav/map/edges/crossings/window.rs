//! Reading the edges around cells.
//!
//! Input: the edges of a grid, what they cost, and the pattern of passable cells around a cell. Output: the crossings of the cell.

use core::ops::Range;

use super::{CellCrossings, Crossings, EdgeCosts, SHUT};
use crate::nav::{
    Adjacency, Cell, CellRect, CornerRule, Direction, OFFSETS, Pattern,
    clearance::combine_runs,
    directions,
    edges::{EdgeMap, Side},
    moves::{ShutEdges, steps_between_edges},
    pattern_bit,
};

/// The costs of the edges around some cells.
pub(super) struct Window {
    /// The first column and row of the table; may lie off the grid.
    left: i32,
    low: i32,
    columns: usize,
    /// Costs at the three sides of each cell, row-major.
    costs: Vec<[u16; 3]>,
}

impl Window {
    /// Reads the edges around the cells in these columns and rows; `None` if there are none.
    pub(super) fn read(
        crossings: &Crossings,
        columns: Range<u32>,
        rows: Range<u32>,
        (edges, edge_costs): (&EdgeMap, &EdgeCosts),
    ) -> Option<Self> {
        let (footprint, (width, height)) = (crossings.footprint, crossings.size);
        let before = 1 + footprint.before();
        let after = footprint.span() - footprint.before();
        let (left, right) = (columns.start as i32 - before, columns.end as i32 + after);
        let (low, high) = (rows.start as i32 - before, rows.end as i32 + after);
        let grid = CellRect::new(Cell::default(), width, height);
        let read = CellRect::new(Cell::new(left, low), (right - left) as u32, (high - low) as u32);
        let CellRect { min, width, height } = read.intersection(grid);
        if !edges.has_any_in((min.x as u32, min.y as u32, width, height)) {
            return None;
        }
        let cost = |edge| edge_costs.of_edge(edge);
        let all = read.cells().map(|cell| {
            let edges = grid.contains(cell).then(|| edges.get(cell.x as u32, cell.y as u32));
            edges.map_or([0; 3], |edges| edges.map(cost))
        });
        let mut costs: Vec<_> = all.collect();
        let columns = read.width as usize;
        if footprint.is_single() {
            return Some(Self { left, low, columns, costs });
        }
        let worst = |a: [u16; 3], b: [u16; 3]| [0, 1, 2].map(|side| a[side].max(b[side]));
        combine_runs(&mut costs, columns, footprint.runs(), worst);
        // The costs of an anchor are stored where its footprint begins: in its column, in the lowest row.
        let low = low + footprint.before();
        for (costs, cell) in
            costs.iter_mut().zip(CellRect { min: Cell::new(left, low), ..read }.cells())
        {
            // Where a unit does not fit on the grid, nothing is crossed.
            let anchor = grid.contains(cell).then_some((cell.x as u32, cell.y as u32));
            if anchor.is_none_or(|at| !footprint.fits(at, crossings.size)) {
                *costs = [0; 3];
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
        let column = x.wrapping_add_signed(-self.left) as usize;
        let row = y.wrapping_add_signed(-self.low) as usize;
        if column >= self.columns {
            return 0;
        }
        self.costs
            .get(row.saturating_mul(self.columns).saturating_add(column))
            .map_or(0, |costs| costs[side as usize])
    }

    /// The crossings of a cell, if it is beside an edge.
    pub(super) fn crossings(
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
        found.steps = steps_between_edges(pattern, rules, shut);
        if costs {
            found.steps[..8].fill(u8::MAX);
        }
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
                [true, false] => ways[0],
                [false, true] => ways[1],
                [true, true] => ways[0].min(ways[1]),
                // Never less than if one of the cells were passable: a building makes no path cheaper, so lower bounds
                // still hold.
                [false, false] => ways[0].max(ways[1]),
            };
        }
    }
}
