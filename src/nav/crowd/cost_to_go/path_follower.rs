//! Following a path, and returning to it after the unit was pushed off.
//!
//! Input: a [`Path`] and the position of the unit. Output: how far the unit has come, also where it walks
//! beside the path, and the corners ahead (see `path_cost_to_go`). Where no corner is visible, a [small
//! field](super::local_field) leads back. A new path is needed only when no cell of the path ahead is near enough,
//! or the path is cut off ([`Hindrance::NoPath`](crate::nav::crowd::Hindrance::NoPath)).

use core::hint::black_box;

use super::{
    Corner, FIELD_LOOKAHEAD, Line, LocalField, MAX_FIELDS_PER_TICK, Offset, Sources, UNREACHABLE,
    find_corners,
};
use crate::nav::crowd::board::{
    Board, GridPos, Rung, STAY, StepCosts, Unit, entry_at, legal_directions,
};
use crate::nav::{CellRect, Layer, NavGrid, Path, ProfileId, STRAIGHT, Walk, path::Leg};

/// Ticks between two attempts to find a path around others.
const FIELD_RETRY: u64 = 64;
/// A unit farther than this from the cell of its path that it has reached, in columns and rows, is on another part of its path:
/// it was guided by a field until now, or got the path on the way.
const NEAR_PATH: u16 = 2;

/// A path and how far a unit has come along it.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[repr(align(64))]
pub struct PathFollower {
    /// The corners of the path, the first one that is not behind `reached`, and the one that the unit goes to.
    pub corners: Vec<Corner>,
    pub corner: u32,
    pub aim: u32,
    /// The last cell of the path that was reached.
    pub reached: GridPos,
    pub end: GridPos,
    /// Steps of the whole path, and from `reached` to its end.
    steps: u32,
    pub steps_left: u32,
    /// The field around the unit, while it needs one.
    pub field: Option<Box<LocalField>>,
    /// The tick in which the last one was filled.
    pub field_made_at: u32,
    /// Whether the unit follows this path at present. Members of groups can be guided in other ways as well.
    pub is_active: bool,
    /// The terrain was edited since it followed the path.
    pub is_unchecked: bool,
    /// An edit has cut the path: the unit has none until it gets another one.
    pub is_cut: bool,
    /// The line along which the unit walks while it is alone, the direction of its next step there ([`STAY`]: it
    /// does not), and the value of `corner` at which no line was found.
    pub line: Line,
    pub line_direction: u8,
    pub no_line_at: u32,
    /// How far off the centers of both cells of its step it is there.
    pub line_offsets: [Offset; 2],
    start: GridPos,
    legs: Vec<Leg>,
    /// The leg on which `reached` lies, and the steps done of it.
    leg: u32,
    step: u16,
}

const _: () = assert!(size_of::<PathFollower>() == 128);

/// A cell of a path, and the cost to go from there.
pub type CellAhead = (GridPos, u64);

impl PathFollower {
    fn set(&mut self, (start, end): (GridPos, GridPos), path: &Path, costs: Option<&StepCosts>) {
        self.start = start;
        self.replace(end, path, costs);
        self.rewind();
        (self.is_active, self.is_unchecked, self.is_cut) = (true, false, false);
        if let Some(field) = &mut self.field {
            field.is_stale = true;
        }
    }

    fn replace(&mut self, end: GridPos, path: &Path, costs: Option<&StepCosts>) {
        self.legs.clear();
        self.legs.extend_from_slice(path.legs());
        self.end = end;
        match costs {
            Some(costs) => find_corners(&mut self.corners, self.start, &self.legs, costs),
            None => self.corners.clear(),
        }
    }

    /// Goes back to the first cell.
    fn rewind(&mut self) {
        (self.leg, self.step, self.reached) = (0, 0, self.start);
        self.forget_line();
        (self.corner, self.aim) = (0, 0);
        self.steps = self.legs.iter().map(|leg| u32::from(leg.steps)).sum();
        self.steps_left = self.steps;
    }

    /// Replaces the path by a longer one; as many steps of it are done as of the shorter one.
    fn extend(&mut self, end: GridPos, path: &Path, costs: Option<&StepCosts>) {
        self.replace(end, path, costs);
        self.is_unchecked = true;
        self.steps_left += path.steps() - self.steps;
        self.steps = path.steps();
        self.forget_line();
        (self.corner, self.aim) = (0, 0);
        self.advance(0);
    }

    /// Makes sure that the unit, at `pos`, is near the cell that it has reached.
    pub fn find_unit(&mut self, pos: GridPos) {
        if pos.chebyshev(self.reached) > NEAR_PATH {
            self.relocate(pos);
        }
    }

    /// Moves to the cell of the whole path that is nearest to `pos`, or to the last of several nearest ones.
    pub fn relocate(&mut self, pos: GridPos) {
        self.rewind();
        let (mut nearest, mut at, mut steps) = (pos.chebyshev(self.reached), self.reached, 0);
        for (number, direction) in self.directions_ahead().enumerate() {
            at = at.step(direction);
            if at.chebyshev(pos) <= nearest {
                (nearest, steps) = (at.chebyshev(pos), number + 1);
            }
        }
        self.advance(steps);
    }

    /// Terrain has changed in rectangles while the unit stands at `pos`: drops the field if it covers one of them, lets a field
    /// be filled soon if one of them is near, and finds the corners again if the path crosses one of them and steps differ in
    /// cost.
    pub fn follow_edits(
        &mut self,
        grid: &NavGrid,
        costs: &StepCosts,
        (pos, edits): (GridPos, &[CellRect]),
    ) {
        let is_near = |center| edits.iter().any(|&rect| LocalField::meets(grid, center, rect));
        self.field.take_if(|field| is_near(field.center));
        if is_near(pos) {
            self.field_made_at = 0;
        }
        let is_same = |corner: &Corner| corner.scale == 2 * costs.uniform();
        if costs.uniform() > 0 && self.corners.first().is_none_or(is_same) {
            return;
        }
        // The path behind the unit does not matter.
        let (mut at, mut done) = (self.reached, self.step);
        let crosses = self.legs.iter().skip(self.leg as usize).any(|leg| {
            let from = at;
            at = from.along(leg.direction as u8, leg.steps - core::mem::take(&mut done));
            edits.iter().any(|rect| rect.meets_span(from.cell(grid), at.cell(grid)))
        });
        if crosses {
            find_corners(&mut self.corners, self.start, &self.legs, costs);
            (self.corner, self.aim) = (0, 0);
            self.advance(0);
        }
    }

    /// Notes whether an edit has cut the path ahead while the unit did not follow it.
    pub fn check_path(&mut self, layer: &Layer) {
        let mut at = self.reached;
        let is_cut = self.directions_ahead().any(|direction| {
            let is_legal = legal_directions(layer, at) >> direction & 1 == 1;
            at = at.step(direction);
            !is_legal
        });
        self.is_cut = is_cut;
    }

    /// Marks the next `steps` steps of the path as done.
    pub fn advance(&mut self, steps: usize) {
        for _ in 0..steps {
            self.reached = self.reached.step(self.legs[self.leg as usize].direction as u8);
            self.step += 1;
            self.steps_left -= 1;
            if self.step == self.legs[self.leg as usize].steps {
                (self.leg, self.step) = (self.leg + 1, 0);
            }
        }
        let done = self.steps_done();
        let ahead = &self.corners[self.corner as usize..];
        self.corner += ahead.iter().take_while(|corner| corner.steps < done).count() as u32;
    }

    /// Returns the number of steps from the beginning to the last cell reached.
    pub fn steps_done(&self) -> u32 {
        self.steps - self.steps_left
    }

    /// Iterates over the directions of the steps ahead.
    fn directions_ahead(&self) -> impl Iterator<Item = u8> + '_ {
        let legs = self.legs.get(self.leg as usize..).unwrap_or_default();
        let first = self.step;
        legs.iter().enumerate().flat_map(move |(at, leg)| {
            let done = if at == 0 { first } else { 0 };
            (done..leg.steps).map(move |_| leg.direction as u8)
        })
    }

    /// Reads the memory that is needed to decide the next step: first its own, later that of its lists.
    #[inline]
    pub fn prefetch(&self) {
        black_box((self.steps_left, self.step));
    }

    /// Reads the corners and the leg that are needed.
    #[inline]
    pub fn prefetch_corners(&self) {
        let near = &self.corners[self.range_near()];
        for corner in near.iter().step_by(2) {
            black_box(corner.pos);
        }
        black_box(self.legs.get(self.leg as usize).map(|leg| leg.steps));
    }

    /// Returns the direction in which the unit goes on from `pos` if it is alone: along its line, or along its path
    /// from the last cell reached. No other direction leads nearer to the next corner.
    pub fn next_direction(&self, pos: GridPos) -> Option<u8> {
        if self.line_direction != STAY {
            return Some(self.line_direction);
        }
        let is_on_path = self.reached == pos && self.field.is_none() && !self.is_cut;
        let leg = self.legs.get(self.leg as usize).filter(|_| is_on_path)?;
        Some(leg.direction as u8)
    }

    /// The unit stands at `pos`: marks the path up to there as done if it passes there soon. Returns whether the
    /// unit is on its path now.
    pub fn update_position(&mut self, pos: GridPos) -> bool {
        if self.reached != pos
            && let Some(steps) = self.steps_to(pos)
        {
            self.advance(steps);
        }
        self.reached == pos
    }

    /// Returns the number of steps after which the path comes to a position, if that is soon.
    fn steps_to(&self, pos: GridPos) -> Option<usize> {
        let (mut at, mut before, mut done) = (self.reached, 0, self.step);
        for leg in self.legs.get(self.leg as usize..)? {
            let (direction, steps) = (leg.direction as u8, leg.steps - core::mem::take(&mut done));
            let away = at.chebyshev(pos);
            if (1..=steps).contains(&away) && at.along(direction, away) == pos {
                return Some(before + usize::from(away)).filter(|&steps| steps <= FIELD_LOOKAHEAD);
            }
            (at, before) = (at.along(direction, steps), before + usize::from(steps));
            if before >= FIELD_LOOKAHEAD {
                break;
            }
        }
        None
    }

    /// Returns the next cells of the path, and the cost to go from each of them. The part beyond them is the
    /// same for all, and counts as straight steps over terrain of the lowest cost.
    pub fn lookahead<const MAX: usize>(&self, costs: &StepCosts) -> ([CellAhead; MAX], usize) {
        let mut cells = [(self.reached, 0); MAX];
        let mut len = 1;
        let mut done = 0;
        for direction in self.directions_ahead().take(MAX - 1) {
            done += costs.step(cells[len - 1].0, direction);
            cells[len] = (cells[len - 1].0.step(direction), done);
            len += 1;
        }
        let beyond = u64::from(self.steps_left) * u64::from(STRAIGHT) * costs.cheapest;
        let total = beyond.max(done);
        for cell in &mut cells[..len] {
            cell.1 = total - cell.1;
        }
        (cells, len)
    }

    pub fn bytes(&self) -> usize {
        self.legs.capacity() * size_of::<Leg>()
            + self.corners.capacity() * size_of::<Corner>()
            + self.field.as_ref().map_or(0, |field| field.bytes())
    }
}

impl Sources {
    /// Sets the path of a unit, which may be on its way along it already.
    pub fn set_path(
        &mut self,
        (index, unit): (u32, &Unit),
        grid: &NavGrid,
        ends: (GridPos, GridPos),
        path: &Path,
    ) {
        let follower = entry_at(&mut self.followers, index as usize);
        follower.set(ends, path, StepCosts::of(grid, unit.profile).as_ref());
        follower.find_unit(unit.head);
    }

    /// Replaces the path of a unit by a longer one that begins with it; returns whether it does.
    pub fn extend_path(
        &mut self,
        (index, profile): (u32, ProfileId),
        grid: &NavGrid,
        (start, end): (GridPos, GridPos),
        path: &Path,
    ) -> bool {
        let follower = self.followers.get_mut(index as usize);
        let known = follower
            .filter(|follower| follower.start == start && path.legs().starts_with(&follower.legs));
        let costs = StepCosts::of(grid, profile);
        known.map(|follower| follower.extend(end, path, costs.as_ref())).is_some()
    }

    /// Returns how far a unit has come along its path, if it follows it at present.
    pub fn walk(&self, grid: &NavGrid, index: u32) -> Option<Walk> {
        let follower = self.followers.get(index as usize).filter(|follower| follower.is_active)?;
        let leg = (follower.leg, follower.step);
        Some(Walk::on_path(follower.reached.cell(grid), leg, follower.steps_done()))
    }

    /// Returns whether a field leads a unit around others at present.
    pub fn is_on_detour(&self, index: u32) -> bool {
        let field = self.follower(index).and_then(|follower| follower.field.as_ref());
        field.is_some_and(|field| field.is_detour)
    }

    /// Ends the detour of a member of a group that has come to its slot, or has got another one.
    pub fn end_detour(&mut self, unit: &Unit, index: u32) {
        let field = self.follower(index).and_then(|follower| follower.field.as_ref());
        if field.is_some_and(|field| unit.tail == unit.goal || field.goal != unit.goal) {
            self.release_field(index);
        }
    }

    /// Leads a member of a group that cannot push the units before it around them, back to the path that it got with its order.
    pub fn begin_detour(&mut self, board: &mut Board, grid: &NavGrid, index: u32) {
        let unit = &mut board.units[index];
        let Some(follower) = self.followers.get_mut(index as usize) else {
            return;
        };
        let is_due = (board.now as u32).wrapping_sub(follower.field_made_at) >= FIELD_RETRY as u32;
        let has_path = !follower.legs.is_empty() && !follower.is_cut;
        let may_begin = is_due && has_path && self.fields_built < MAX_FIELDS_PER_TICK;
        if !may_begin || !unit.is_obstructed(board.now) {
            return;
        }
        if !follower.is_active {
            follower.relocate(unit.tail);
        }
        unit.costs_tick = 0; // the field guides it from now on
        self.fields_built += 1;
        self.fill_field(board, grid, index, true);
        if !self.is_on_detour(index) {
            self.release_field(index);
        }
    }

    /// Updates a unit's progress along its path. Fills its field if it needs one: to return to the path, or
    /// to get around units that block it permanently.
    pub fn update_path_progress(&mut self, board: &mut Board, grid: &NavGrid, index: u32) {
        let unit = &board.units[index];
        let (pos, waited) = (unit.tail, unit.ticks_waited(board.now));
        // A unit that returns to its goal from afar does not push units at rest either. It waits while another unit rests there.
        let is_kept_away = unit.returns_from_afar() && !board.is_goal_taken(index);
        let is_obstructed = unit.is_obstructed(board.now)
            || is_kept_away && waited > unit.ticks_until(Rung::GoAround);
        let (unit_is_small, profile) = (unit.size == 1, unit.profile);
        let follower = &mut self.followers[index as usize];
        if follower.is_cut {
            return self.release_field(index);
        }
        let field_age = u64::from((board.now as u32).wrapping_sub(follower.field_made_at));
        let mut needs_detour = is_obstructed && field_age >= FIELD_RETRY;
        let mut is_lost = false;
        if let Some(field) = &follower.field {
            let (is_detour, center) = (field.is_detour, field.center);
            is_lost = field.is_stale || field.cost(pos) == UNREACHABLE;
            let is_around = is_detour && field.is_stale;
            needs_detour |= is_around;
            // The unit is on its path again, and no longer where the field was filled.
            if follower.update_position(pos) && center != pos && !is_around {
                self.release_field(index);
            } else if is_detour && !is_lost && !needs_detour {
                return;
            }
        }
        // A unit with no other unit beside it simply follows its path; if none is in a wider area either, it walks straight.
        let is_at_ease = waited == 0 && unit_is_small && board.reservations.is_alone(pos);
        let is_alone = waited <= 1 && unit_is_small && board.density.is_alone(pos);
        let follower = &mut self.followers[index as usize];
        follower.line_direction = STAY;
        if follower.field.is_none() {
            let costs = is_alone.then(|| StepCosts::of(grid, profile)).flatten();
            if costs.is_some_and(|costs| follower.walk_straight(&costs, pos))
                || is_at_ease && follower.update_position(pos)
            {
                return;
            }
        }
        let is_blind = !self.look_ahead(board, grid, (index, is_at_ease));
        let has_field = self.followers[index as usize].field.is_some();
        if !is_blind && !needs_detour {
            return self.release_field(index);
        }
        board.units[index].costs_tick = 0; // a field guides it from now on
        if (needs_detour || is_lost || !has_field) && self.fields_built < MAX_FIELDS_PER_TICK {
            self.fields_built += 1;
            self.fill_field(board, grid, index, needs_detour);
        }
    }
}
