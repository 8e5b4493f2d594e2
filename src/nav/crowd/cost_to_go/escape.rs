//! Escape from terrain that was blocked while units stood on it: they may leave it, no unit may enter it.
//!
//! Input: edits. Output: for each edited area under units, a small field that leads out of it. The field
//! covers the edited cells only, so no unit escapes through a wall that stood there before. Edits beside the area are added to
//! it as long as a unit is on it, since walls are often built piece by piece. The field uses only steps that pass no corner:
//! straight steps on squares, all six on hexagons. A unit guided by a shared field leaves on the side from which
//! the rest of its path is cheapest, and keeps to that side. All others, and units that make no progress for
//! long, take the nearest cell outside. The field is dropped when the last unit has left.

use super::{Flood, OpenCells, Sources, UNREACHABLE, World};
use crate::nav::crowd::board::{Board, GridPos, Mode, Reservation, RouteId, Rung, State, Unit};
use crate::nav::{Cell, CellRect, Direction, NavGrid, PathCost, ProfileId};

/// Ticks between two checks whether an area is still needed.
const CLEANUP_INTERVAL: u64 = 32;
/// No side has been chosen yet. A side is the direction that leads there: 0 to 7.
pub const EXIT_UNDECIDED: u8 = 8;
/// The nearest cell outside, on any side.
const NEAREST_EXIT: u8 = 9;
/// One step inside a blocked area counts as much as this many straight steps outside.
const INSIDE_WEIGHT: u64 = 2;
/// Added to the cost of exits on other sides than the chosen one, so that they come after all exits on the
/// chosen side.
const OTHER_SIDE_PENALTY: u64 = 1 << 48;

/// Greatest side of an area that later edits are added to, in cells: a bound for the time to fill the field. A unit
/// leaves a smaller area before it is enclosed again.
const MAX_JOINED_SIDE: u32 = 64;

/// An area that was blocked under units, as the units of one profile see it.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct BlockedArea {
    profile: ProfileId,
    /// The edited anchors, as far as they lie on the grid.
    edited: Vec<CellRect>,
    /// The smallest rectangle that contains them.
    bounds: CellRect,
    /// Straight steps to the nearest cell on which these units can stand, for `bounds` and one cell around.
    steps: Flood,
}

impl BlockedArea {
    /// Adds anchors that were edited, if they touch the area. Returns whether the area has grown.
    fn extend(&mut self, edited: CellRect) -> bool {
        let bounds = self.bounds.union(edited);
        let touches = |known: &CellRect| !known.grown().intersection(edited).is_empty();
        let is_new = !self.edited.iter().any(|known| known.union(edited) == *known);
        let grows = is_new
            && bounds.width.max(bounds.height) <= MAX_JOINED_SIDE
            && self.edited.iter().any(touches);
        if grows {
            self.bounds = bounds;
            self.edited.push(edited);
        }
        grows
    }

    /// Whether edits may have changed a cell of the area, or one beside it.
    pub fn meets(&self, grid: &NavGrid, edits: &[CellRect]) -> bool {
        let around = self.bounds.grown();
        let meets =
            |&rect| !edited_anchors(grid, self.profile, rect).intersection(around).is_empty();
        edits.iter().any(meets)
    }

    /// Counts the steps, from outside inward.
    pub fn fill(&mut self, grid: &NavGrid, open: &mut OpenCells) {
        let around = self.bounds.grown().intersection(grid.rect());
        let origin = GridPos::of(grid, around.min).unwrap_or_default();
        self.steps.lay_out(origin, (around.width as u16, around.height as u16));
        self.steps.begin(open);
        let is_outside = |pos: &GridPos| grid.cost(self.profile, pos.cell(grid)) > 0;
        for pos in positions(grid, around).filter(is_outside) {
            self.steps.improve(open, pos, 0);
        }
        while let Some((steps, pos)) = self.steps.pop(open) {
            for side in sides(grid) {
                let (next, outward) = (pos.step(side), (side + 4) % 8);
                let is_edited = |area: &CellRect| area.contains(next.cell(grid));
                if self.edited.iter().any(is_edited) && may_cross(grid, self.profile, next, outward)
                {
                    self.steps.improve(open, next, steps + 1);
                }
            }
        }
    }

    /// Returns the first cell outside in a straight line towards a side, and the number of steps to it.
    fn exit(&self, grid: &NavGrid, from: GridPos, side: u8) -> Option<(u64, GridPos)> {
        if side >= EXIT_UNDECIDED {
            return None;
        }
        let mut line = (0..).map(|steps| (u64::from(steps), from.along(side, steps)));
        let (steps, pos) = line.find(|&(_, pos)| {
            let steps = self.steps.cost(pos);
            let is_outside = steps == 0 || steps == UNREACHABLE;
            is_outside || !may_cross(grid, self.profile, pos, side)
        })?;
        (self.steps.cost(pos) == 0).then_some((steps, pos))
    }
}

impl Sources {
    /// Finds the units that stand on cells impassable for them, among those on the edited rectangles.
    pub fn find_trapped(&mut self, board: &mut Board, grid: &NavGrid, edits: &[CellRect]) {
        for &rect in edits {
            for pos in positions(grid, rect) {
                let Reservation { owner, next_owner } = board.reservations.at(pos);
                self.trap(board, grid, (owner, rect));
                self.trap(board, grid, (next_owner, rect));
            }
        }
        for area in &mut self.blocked_areas {
            let edited = edits.iter().map(|&rect| edited_anchors(grid, area.profile, rect));
            let edited: Vec<CellRect> = edited.collect();
            // Until the area stops growing.
            while edited.iter().fold(false, |grows, &rect| grows | area.extend(rect)) {}
        }
    }

    /// Lets a unit escape if it stands on an impassable cell, on edited ground or on its way to or from there.
    fn trap(&mut self, board: &mut Board, grid: &NavGrid, (index, rect): (u32, CellRect)) {
        let Some(unit) = board.units.get_mut(index) else {
            return;
        };
        let profile = unit.profile;
        let stands = |pos: GridPos| grid.cost(profile, pos.cell(grid)) > 0;
        if stands(unit.tail) && stands(unit.head) {
            return;
        }
        let is_scheduled = unit.is_trapped() && unit.state == State::Waiting;
        unit.mode = Mode::Escaping(EXIT_UNDECIDED);
        if !is_scheduled {
            board.schedule_next_tick(index); // once: edits in every tick put off nobody
        }
        let edited = edited_anchors(grid, profile, rect);
        if !self.areas_of(profile).any(|known| known.edited.contains(&edited)) {
            let (bounds, edited, steps) = (edited, vec![edited], Flood::default());
            self.blocked_areas.push(BlockedArea { profile, edited, bounds, steps });
        }
    }

    /// From time to time drops the areas that all units have left.
    pub fn drop_unused_areas(&mut self, board: &Board, grid: &NavGrid) {
        if !board.now.is_multiple_of(CLEANUP_INTERVAL) || self.blocked_areas.is_empty() {
            return;
        }
        let holds_trapped = |pos: GridPos| board.is_held_by(pos, Unit::is_trapped);
        self.blocked_areas.retain(|known| positions(grid, known.bounds).any(holds_trapped));
    }

    /// Returns the directions that bring a trapped unit closer to an exit, as a bit mask.
    pub fn escape_directions(&self, board: &Board, grid: &NavGrid, unit: &Unit) -> u8 {
        let leads_out = |direction: &u8| {
            let next = unit.tail.step(*direction);
            // The area was computed for the size that units of the profile had when it was blocked.
            board.is_on_grid(next, unit.size)
                && may_cross(grid, unit.profile, unit.tail, *direction)
                && self.areas_of(unit.profile).any(|known| known.steps.cost(next) != UNREACHABLE)
        };
        sides(grid).filter(leads_out).fold(0, |mask, direction| mask | 1 << direction)
    }

    fn areas_of(&self, profile: ProfileId) -> impl Iterator<Item = &BlockedArea> {
        self.blocked_areas.iter().filter(move |known| known.profile == profile)
    }

    /// Returns the cost of the rest of the path out of a blocked area, on a side or on any. A step costs `step`: at
    /// least as much as any real one, so that every step that leads out is better than staying.
    pub fn escape_cost(
        &self,
        grid: &NavGrid,
        (profile, side): (ProfileId, u8),
        (step, pos): (u64, GridPos),
    ) -> u64 {
        let straight = self.areas_of(profile).filter_map(|known| known.exit(grid, pos, side));
        if let Some(steps) = straight.map(|(steps, _)| steps).min() {
            return steps * step;
        }
        match self.areas_of(profile).map(|known| known.steps.cost(pos)).min() {
            None | Some(UNREACHABLE) => UNREACHABLE,
            Some(steps) => OTHER_SIDE_PENALTY + steps * step,
        }
    }

    /// Chooses the side on which a trapped unit leaves, or cancels the choice after a long wait.
    pub fn choose_exit(
        &self,
        board: &mut Board,
        world: World<'_>,
        (index, route): (u32, Option<RouteId>),
    ) {
        let unit = &board.units[index];
        let side = if unit.mode == Mode::Escaping(EXIT_UNDECIDED) {
            route.and_then(|route| self.best_exit(world, unit, route))
        } else {
            board.has_waited_for(index, Rung::ClearWay).then_some(NEAREST_EXIT)
        };
        if let Some(side) = side {
            board.units[index].mode = Mode::Escaping(side);
        }
    }

    /// Returns the side with the cheapest path out and on along the unit's shared field.
    fn best_exit(&self, world: World<'_>, unit: &Unit, route: RouteId) -> Option<u8> {
        let exits = sides(world.grid).flat_map(|side| {
            self.areas_of(unit.profile).filter_map(move |known| {
                let (steps, exit) = known.exit(world.grid, unit.tail, side)?;
                let cost_to_go = world.guidance.cost(world.grid, route, exit.cell(world.grid))?;
                Some((cost_to_go.0 + INSIDE_WEIGHT * steps * PathCost::PLAIN_STEP.0, side))
            })
        });
        exits.min().map(|(_, side)| side)
    }
}

/// Returns whether a unit that leaves a blocked area may make a step: its front must cross no shut edge. A unit larger than a
/// cell may stand across an edge that was shut later, and can leave it to either side.
fn may_cross(grid: &NavGrid, profile: ProfileId, from: GridPos, side: u8) -> bool {
    let rules = grid.profiles().get(usize::from(profile.0));
    let Some(rules) = rules else {
        return true;
    };
    let direction = Direction::from_bits(side);
    let (dx, dy) = direction.offset();
    let (footprint, from) = (grid.footprint(profile), from.cell(grid));
    let mut front = footprint.offsets().filter(|&(x, y)| !footprint.covers((x + dx, y + dy)));
    front.all(|(x, y)| rules.edge_cost(grid.edge(from.offset(x, y), direction)).is_some())
}

/// Iterates over the directions towards the sides of an area.
fn sides(grid: &NavGrid) -> impl Iterator<Item = u8> {
    grid.topology().widest().straight_steps()
}

/// Iterates over the positions of a rectangle, as far as they lie on the grid.
fn positions(grid: &NavGrid, rect: CellRect) -> impl Iterator<Item = GridPos> {
    let cells = rect.intersection(grid.rect()).cells();
    cells.filter_map(|cell: Cell| GridPos::of(grid, cell))
}

/// Returns the anchors from which units of a profile cover an edited rectangle, as far as all of a unit lies on the grid.
fn edited_anchors(grid: &NavGrid, profile: ProfileId, rect: CellRect) -> CellRect {
    let on_grid = grid.footprint(profile).anchors_in(grid.rect());
    grid.anchors_over(profile, rect).intersection(on_grid)
}
