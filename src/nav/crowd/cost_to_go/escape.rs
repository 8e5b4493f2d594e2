//! Escape from terrain that was blocked while units stood on it: they may leave it, no unit may enter it.
//!
//! Input: edits. Output: for each edited area under units, a small field that leads out of it. The field
//! covers the edited cells only, so no unit escapes through a wall that stood there before. It uses straight
//! steps only, so no corner is cut on the way out. A unit led by a shared field leaves on the side from which
//! the rest of its path is cheapest, and keeps to that side. All others, and units that make no progress for
//! long, take the nearest cell outside. The field is dropped when the last unit has left.

use std::collections::VecDeque;

use super::{
    Sources,
    guidance::{UNREACHABLE, World},
};
use crate::nav::crowd::board::{
    Board,
    patience::Rung,
    reservations::GridPos,
    unit::{NONE, RouteId, Unit},
};
use crate::nav::{
    cell::{Cell, CellRect},
    grid::NavGrid,
    path::PathCost,
    terrain::ProfileId,
};

/// Ticks between two checks whether a footprint is still needed.
const CLEANUP_INTERVAL: u64 = 32;

/// An area that was blocked under units, as the units of one profile see it.
#[derive(Clone, Debug, Default)]
pub struct Footprint {
    profile: u8,
    /// The edited anchors and one cell around them.
    rect: CellRect,
    /// Steps to the nearest cell on which these units can stand; [`u16::MAX`] where no path leads out.
    steps: Vec<u16>,
}

/// The straight step towards each side.
const EXIT_STEPS: [(i32, i32); 4] = [(1, 0), (0, 1), (-1, 0), (0, -1)];
/// Value of `exit`: no side has been chosen yet.
pub const EXIT_UNDECIDED: u8 = 4;
/// Value of `exit`: the nearest cell outside, on any side.
const NEAREST_EXIT: u8 = 5;
/// Straight steps outside that one step inside a blocked area counts for.
const INSIDE_WEIGHT: u64 = 2;
/// Added to the cost of exits on other sides than the chosen one, so that they come after all exits on the
/// chosen side.
const OTHER_SIDE_PENALTY: u64 = 1 << 48;

impl Footprint {
    fn index_of(&self, cell: Cell) -> Option<usize> {
        self.rect.contains(cell).then(|| {
            let (dx, dy) = (cell.x - self.rect.min.x, cell.y - self.rect.min.y);
            (dy * self.rect.width as i32 + dx) as usize
        })
    }

    fn steps(&self, cell: Cell) -> Option<u16> {
        let steps = self.index_of(cell).map(|index| self.steps[index]);
        steps.filter(|&steps| steps != u16::MAX)
    }

    /// Returns the first cell outside in a straight line towards a side, and the number of steps to it.
    fn exit(&self, from: Cell, side: u8) -> Option<(u64, Cell)> {
        let &(dx, dy) = EXIT_STEPS.get(usize::from(side))?;
        let (mut cell, mut steps) = (from, 0);
        while self.steps(cell)? > 0 {
            (cell, steps) = (cell.offset(dx, dy), steps + 1);
        }
        Some((steps, cell))
    }

    /// Fills in the steps, from outside inward.
    pub fn fill(&mut self, grid: &NavGrid) {
        let profile = ProfileId(self.profile);
        self.steps.clear();
        self.steps.resize(self.rect.width as usize * self.rect.height as usize, u16::MAX);
        let inside = grid.anchors_over(profile, grid.rect());
        let mut open: VecDeque<(Cell, u16)> = VecDeque::new();
        for (cell, steps) in self.rect.cells().zip(&mut self.steps) {
            if grid.cost(profile, cell) > 0 {
                *steps = 0;
                open.push_back((cell, 0));
            }
        }
        let inner = inner(self.rect);
        while let Some((cell, steps)) = open.pop_front() {
            for (dx, dy) in EXIT_STEPS {
                let next = cell.offset(dx, dy);
                if !inner.contains(next) || !inside.contains(next) || !grid.contains(next) {
                    continue;
                }
                let (x, y) = (next.x - self.rect.min.x, next.y - self.rect.min.y);
                let at = (y * self.rect.width as i32 + x) as usize;
                if self.steps[at] == u16::MAX {
                    self.steps[at] = steps.saturating_add(1).min(u16::MAX - 1);
                    open.push_back((next, self.steps[at]));
                }
            }
        }
    }
}

/// Returns the rectangle without its outer ring.
fn inner(rect: CellRect) -> CellRect {
    CellRect::new(rect.min.offset(1, 1), rect.width - 2, rect.height - 2)
}

impl Sources {
    /// Finds the units in a rectangle that stand on cells impassable for them.
    pub fn find_trapped(&mut self, board: &mut Board, grid: &NavGrid, rect: CellRect) {
        for cell in rect.intersection(grid.rect()).cells() {
            let Some(pos) = GridPos::of(grid, cell) else {
                continue;
            };
            let reservation = board.reservations.get(board.reservations.index(pos));
            for index in [reservation.owner, reservation.next_owner] {
                if index != NONE && !board.units[index as usize].is_trapped {
                    self.mark_if_trapped(board, grid, (index, rect));
                }
            }
        }
    }

    fn mark_if_trapped(
        &mut self,
        board: &mut Board,
        grid: &NavGrid,
        (index, rect): (u32, CellRect),
    ) {
        let unit = &board.units[index as usize];
        let profile = ProfileId(unit.profile);
        let stands = |pos: GridPos| grid.cost(profile, pos.cell(grid)) > 0;
        if stands(unit.tail) && stands(unit.head) {
            return;
        }
        let anchors = grid.anchors_over(profile, rect);
        let rect = CellRect::new(anchors.min.offset(-1, -1), anchors.width + 2, anchors.height + 2);
        let is_known = |known: &Footprint| (known.profile, known.rect) == (profile.0, rect);
        if !self.footprints.iter().any(is_known) {
            self.footprints.push(Footprint { profile: profile.0, rect, ..Footprint::default() });
        }
        let unit = &mut board.units[index as usize];
        (unit.is_trapped, unit.escape_side) = (true, EXIT_UNDECIDED);
        board.schedule_next_tick(index);
    }

    /// From time to time drops the footprints that all units have left.
    pub fn drop_unused_footprints(&mut self, board: &Board, grid: &NavGrid) {
        if !board.now.is_multiple_of(CLEANUP_INTERVAL) || self.footprints.is_empty() {
            return;
        }
        let is_trapped =
            |index: u32| board.units.get(index as usize).is_some_and(|unit| unit.is_trapped);
        let holds_trapped = |cell: Cell| {
            GridPos::of(grid, cell).is_some_and(|pos| {
                let reservation = board.reservations.get(board.reservations.index(pos));
                is_trapped(reservation.owner) || is_trapped(reservation.next_owner)
            })
        };
        self.footprints
            .retain(|known| known.rect.intersection(grid.rect()).cells().any(holds_trapped));
    }

    /// Returns the directions that bring a trapped unit closer to an exit, as a bit mask.
    pub fn escape_directions(&self, grid: &NavGrid, unit: &Unit) -> u8 {
        let leads_out =
            |direction: &u8| self.steps_out(grid, unit, unit.tail.step(*direction)).is_some();
        [0, 2, 4, 6].into_iter().filter(leads_out).fold(0, |mask, direction| mask | 1 << direction)
    }

    /// Iterates over the footprints for the profile of a unit.
    fn footprints_of(&self, unit: &Unit) -> impl Iterator<Item = &Footprint> {
        let profile = unit.profile;
        self.footprints.iter().filter(move |known| known.profile == profile)
    }

    fn steps_out(&self, grid: &NavGrid, unit: &Unit, pos: GridPos) -> Option<u16> {
        if u32::from(pos.x) >= grid.width() || u32::from(pos.y) >= grid.height() {
            return None;
        }
        let cell = pos.cell(grid);
        self.footprints_of(unit).filter_map(|known| known.steps(cell)).min()
    }

    /// Returns the cost of the rest of the path out of a blocked area.
    pub fn escape_cost(&self, grid: &NavGrid, unit: &Unit, pos: GridPos) -> u64 {
        let Some(steps) = self.steps_out(grid, unit, pos) else {
            return UNREACHABLE;
        };
        let cell = pos.cell(grid);
        let straight =
            self.footprints_of(unit).filter_map(|known| known.exit(cell, unit.escape_side));
        let straight = straight.map(|(steps, _)| steps * PathCost::PLAIN_STEP.0).min();
        straight.unwrap_or(OTHER_SIDE_PENALTY + u64::from(steps) * PathCost::PLAIN_STEP.0)
    }

    /// Chooses the side on which a trapped unit leaves, or cancels the choice after a long wait.
    pub fn choose_exit(
        &self,
        board: &mut Board,
        world: World<'_>,
        (index, route): (u32, Option<RouteId>),
    ) {
        let unit = &board.units[index as usize];
        if unit.escape_side == EXIT_UNDECIDED {
            if let Some(side) = route.and_then(|route| self.best_exit(world, unit, route)) {
                board.units[index as usize].escape_side = side;
            }
        } else if board.has_waited_for(index, Rung::ClearWay) {
            board.units[index as usize].escape_side = NEAREST_EXIT;
        }
    }

    /// Returns the side with the cheapest path out and on along the unit's shared field.
    fn best_exit(&self, world: World<'_>, unit: &Unit, route: RouteId) -> Option<u8> {
        let cell = unit.tail.cell(world.grid);
        let cost = |side: u8| {
            let exits = self.footprints_of(unit).filter_map(|known| known.exit(cell, side));
            let costs = exits.filter_map(|(steps, exit)| {
                let cost_to_go = world.guidance.cost(world.grid, route, exit)?;
                Some(cost_to_go.0 + INSIDE_WEIGHT * steps * PathCost::PLAIN_STEP.0)
            });
            costs.min()
        };
        let sides = (0..EXIT_STEPS.len() as u8).filter_map(|side| Some((cost(side)?, side)));
        sides.min().map(|(_, side)| side)
    }
}
