//! Following a path, and returning to it after the unit was pushed off.
//!
//! Input: a [`Path`] and the position of the unit. Output: the cost to go from the cells around it. Near the
//! path, that is the cost to one of its next cells plus the cost from there on. Where that leads nowhere (a
//! wall stands between), a small field is filled over the cells around, from the path's cells outward: a
//! local search, not a new path search. A new path is needed only when no cell of the path ahead is near
//! enough, or the path is cut off ([`Hindrance::NoPath`](super::Hindrance::NoPath)).

use core::hint::black_box;

use super::{
    Crowd, CrowdError, Hindrance, UnitId,
    chain::move_table,
    guidance::UNREACHABLE,
    local_field::{FIELD_LOOKAHEAD, StepCosts, fill_field, is_obstacle_to},
    reservations::GridPos,
    unit::Order,
};
use crate::nav::{
    cell::Cell,
    grid::NavGrid,
    path::{Leg, Path},
    terrain::{ProfileId, STRAIGHT},
    walk::Walk,
};

/// Cells of the path ahead that are considered.
pub(super) const LOOKAHEAD: usize = 8;
/// A unit farther than this many cells from its path needs a field around it.
const MAX_OFF_PATH: u16 = 2;
/// Ticks of waiting after which a unit looks for a detour, and ticks between two such attempts.
const PATIENCE: u64 = 24;
const FIELD_RETRY: u64 = 64;
/// Most fields filled in a tick (about 20 µs each); other units wait for the next tick.
const MAX_FIELDS_PER_TICK: u32 = 16;

/// A path and how far a unit has come along it.
#[derive(Clone, Debug, Default)]
pub(super) struct PathFollower {
    legs: Vec<Leg>,
    leg: usize,
    /// Steps done of the leg.
    step: u16,
    /// The last cell of the path that was reached.
    pub(super) reached: GridPos,
    start: GridPos,
    pub(super) end: GridPos,
    /// Whether the unit follows this path at present. Members of groups can be guided in other ways as well.
    pub(super) is_active: bool,
    /// The cell where the unit is to go in the end. Members of groups exchange it.
    pub(super) goal: GridPos,
    /// Steps from `reached` to the end.
    steps_left: u32,
    /// The field around the unit, while it is needed.
    pub(super) field: Vec<u64>,
    pub(super) origin: GridPos,
    pub(super) side: u16,
    /// The position around which it was filled.
    pub(super) center: GridPos,
    /// Kept apart from `field`, which keeps its memory.
    pub(super) has_field: bool,
    /// The tick in which it was filled.
    field_made_at: u64,
}

/// A cell of a path, and the cost to go from there.
pub(super) type CellAhead = (GridPos, u64);

impl PathFollower {
    fn set(&mut self, start: GridPos, end: GridPos, path: &Path) {
        self.legs.clear();
        self.legs.extend_from_slice(path.legs());
        (self.start, self.end, self.goal) = (start, end, end);
        self.rewind();
        (self.has_field, self.is_active) = (false, true);
    }

    /// Goes back to the first cell.
    fn rewind(&mut self) {
        (self.leg, self.step, self.reached) = (0, 0, self.start);
        self.steps_left = self.total_steps();
    }

    /// Returns whether `path` has at least as many steps as the present path.
    fn is_prefix_of(&self, path: &Path) -> bool {
        path.steps() >= self.total_steps()
    }

    /// Replaces the path by a longer one; as many steps of it are done as of the shorter one.
    fn extend(&mut self, end: GridPos, path: &Path) {
        let before = self.total_steps();
        self.legs.clear();
        self.legs.extend_from_slice(path.legs());
        self.steps_left += self.total_steps() - before;
        self.end = end;
    }

    fn total_steps(&self) -> u32 {
        self.legs.iter().map(|leg| u32::from(leg.steps)).sum()
    }

    /// Moves to the cell of the whole path that is nearest to `pos`; the last of several.
    fn relocate(&mut self, pos: GridPos) {
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

    /// Marks the next `steps` steps of the path as done.
    fn advance(&mut self, steps: usize) {
        for _ in 0..steps {
            self.reached = self.reached.step(self.legs[self.leg].direction as u8);
            self.step += 1;
            self.steps_left -= 1;
            if self.step == self.legs[self.leg].steps {
                (self.leg, self.step) = (self.leg + 1, 0);
            }
        }
    }

    /// Iterates over the directions of the steps ahead.
    fn directions_ahead(&self) -> impl Iterator<Item = u8> + '_ {
        let legs = self.legs.get(self.leg..).unwrap_or_default();
        let first = self.step;
        legs.iter().enumerate().flat_map(move |(at, leg)| {
            let done = if at == 0 { first } else { 0 };
            (done..leg.steps).map(move |_| leg.direction as u8)
        })
    }

    /// Reads the memory that is needed to decide the next step.
    pub(super) fn prefetch(&self) {
        black_box((self.reached, self.has_field, self.legs.get(self.leg)));
    }

    /// Returns the direction in which the path leads on from `pos`, if that is the last cell reached. No
    /// other direction ranks before it ([`Crowd::path_cost_to_go`]), unless that one leads to the end of the
    /// path.
    pub(super) fn next_direction(&self, pos: GridPos) -> Option<u8> {
        let is_on_path = self.reached == pos && !self.has_field;
        let leg = self.legs.get(self.leg).filter(|_| is_on_path)?;
        let direction = leg.direction as u8;
        (self.end.chebyshev(pos) > 1 || pos.step(direction) == self.end).then_some(direction)
    }

    /// Marks the path up to `pos`, where the unit stands, as done.
    fn update_position(&mut self, pos: GridPos) {
        if self.reached == pos {
            // Unless the field was filled here, the unit strayed and is back where it left the path.
            self.has_field &= self.center == pos;
            return;
        }
        if let Some(steps) = self.steps_to(pos) {
            self.advance(steps);
            self.has_field = false;
        }
    }

    /// Returns the number of steps after which the path comes to a position, if that is soon.
    fn steps_to(&self, pos: GridPos) -> Option<usize> {
        let (mut at, mut before, mut done) = (self.reached, 0, self.step);
        for leg in self.legs.get(self.leg..)? {
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
    pub(super) fn lookahead<const MAX: usize>(
        &self,
        costs: &StepCosts,
    ) -> ([CellAhead; MAX], usize) {
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

    pub(super) fn field_index(&self, pos: GridPos) -> Option<usize> {
        let (x, y) = (pos.x.wrapping_sub(self.origin.x), pos.y.wrapping_sub(self.origin.y));
        let is_inside = x < self.side && y < self.side;
        is_inside.then(|| usize::from(y) * usize::from(self.side) + usize::from(x))
    }

    /// Returns the number of steps from the last cell reached to the end.
    pub(super) const fn steps_left(&self) -> u32 {
        self.steps_left
    }

    pub(super) fn bytes(&self) -> usize {
        self.legs.capacity() * size_of::<Leg>() + self.field.capacity() * 8
    }
}

impl Crowd {
    /// Sends a unit along a path, which may start near the unit instead of under it.
    ///
    /// # Errors
    /// [`CrowdError::NoSuchUnit`], [`CrowdError::OtherGrid`], or [`CrowdError::Impassable`] where the path
    /// leaves the grid.
    pub fn follow(&mut self, grid: &NavGrid, id: UnitId, path: &Path) -> Result<(), CrowdError> {
        let (start, end) = self.ends_of(grid, path)?;
        self.set_order(id, Order::Path)?;
        if self.followers.len() < self.units.len() {
            self.followers.resize_with(self.units.len(), PathFollower::default);
        }
        self.followers[id.index as usize].set(start, end, path);
        Ok(())
    }

    /// Releases the field of a unit that no longer needs it, so that other units can use the memory.
    pub(super) fn release_field(&mut self, index: u32) {
        if let Some(follower) = self.followers.get_mut(index as usize) {
            follower.has_field = false;
            recycle_field(&mut self.spare_fields, follower);
        }
    }

    /// Extends the path of a unit: `path` begins with the path it follows already. If the unit follows none,
    /// sends it along the whole path.
    ///
    /// # Errors
    /// As [`follow`](Self::follow).
    pub fn extend_path(
        &mut self,
        grid: &NavGrid,
        id: UnitId,
        path: &Path,
    ) -> Result<(), CrowdError> {
        let (start, end) = self.ends_of(grid, path)?;
        let order = self.get(id).map(|unit| unit.order);
        let is_extendable = matches!(order, Some(Order::Path | Order::Preassigned(_)));
        let follower = self.followers.get_mut(id.index as usize);
        let Some(follower) = follower.filter(|follower| {
            is_extendable && follower.start == start && follower.is_prefix_of(path)
        }) else {
            return self.follow(grid, id, path);
        };
        follower.extend(end, path);
        if order == Some(Order::Path) {
            follower.goal = end;
        }
        self.units[id.index as usize].has_arrived = false;
        self.reset_progress(id.index);
        self.schedule_next_tick(id.index);
        Ok(())
    }

    /// Returns the first and last position of a path that stays on the grid. Legs are straight, so checking
    /// their ends is enough.
    fn ends_of(&self, grid: &NavGrid, path: &Path) -> Result<(GridPos, GridPos), CrowdError> {
        self.check_size(grid)?;
        let pos = |cell: Cell| GridPos::of(grid, cell).ok_or(CrowdError::Impassable(cell));
        let (start, mut cell) = (pos(path.start())?, path.start());
        for leg in path.legs() {
            let ((dx, dy), steps) = (leg.direction.offset(), i32::from(leg.steps));
            cell = cell.offset(dx * steps, dy * steps);
            pos(cell)?;
        }
        Ok((start, pos(path.end())?))
    }

    /// Returns how far a unit has come along its path, standing on the last cell of the path that it reached.
    /// `None` if it follows no path: it has none, or a field or slot of its group leads it.
    #[must_use]
    pub fn path_progress(&self, grid: &NavGrid, id: UnitId) -> Option<Walk> {
        self.get(id).filter(|unit| matches!(unit.order, Order::Path | Order::Preassigned(_)))?;
        let follower =
            self.followers.get(id.index as usize).filter(|follower| follower.is_active)?;
        let steps_begun = follower.total_steps() - follower.steps_left;
        Some(Walk::on_path(
            follower.reached.cell(grid),
            (follower.leg as u32, follower.step),
            steps_begun,
        ))
    }

    pub(super) fn path_bytes(&self) -> usize {
        let held =
            self.followers.capacity() * size_of::<PathFollower>() + self.field_open.capacity() * 16;
        let spare = self.spare_fields.iter().map(|field| field.capacity() * 8).sum::<usize>();
        self.followers.iter().map(PathFollower::bytes).sum::<usize>() + held + spare
    }

    /// Returns whether a unit with a path stands on its goal.
    pub(super) fn is_at_path_goal(&self, index: u32) -> bool {
        self.followers[index as usize].goal == self.units[index as usize].tail
    }

    /// Updates a unit's progress along its path. Fills its field if it needs one: to return to the path, or
    /// to get around units that block it permanently.
    pub(super) fn update_path_progress(&mut self, grid: &NavGrid, index: u32) {
        let unit = &self.units[index as usize];
        let (pos, profile) = (unit.tail, ProfileId(unit.profile));
        let waited = unit.ticks_waited(self.now);
        let follower = &mut self.followers[index as usize];
        let had_field = follower.has_field;
        follower.update_position(pos);
        if had_field && !follower.has_field {
            recycle_field(&mut self.spare_fields, follower);
        }
        let is_lost = follower.has_field
            && follower.field_index(pos).is_none_or(|at| follower.field[at] == UNREACHABLE);
        let needs_detour = unit.hindrance == Hindrance::Obstacle && waited > PATIENCE;
        let needs_detour = needs_detour && self.now >= follower.field_made_at + FIELD_RETRY;
        if follower.reached == pos && !needs_detour {
            return;
        }
        let is_far_off = || {
            let mut at = follower.reached;
            let ahead = follower.directions_ahead().take(LOOKAHEAD - 1).map(|direction| {
                at = at.step(direction);
                at
            });
            core::iter::once(follower.reached)
                .chain(ahead)
                .all(|cell| cell.chebyshev(pos) > MAX_OFF_PATH)
        };
        let needs_field =
            is_lost || needs_detour || !follower.has_field && (waited > PATIENCE || is_far_off());
        if !needs_field || self.fields_built >= MAX_FIELDS_PER_TICK {
            return;
        }
        self.fields_built += 1;
        let Some(layer) = grid.layer(profile) else {
            return;
        };
        let table = move_table(grid, profile);
        let is_outside_field = is_lost && follower.field_index(pos).is_none();
        if is_outside_field {
            follower.relocate(pos);
        }
        follower.field_made_at = self.now;
        if follower.field.capacity() == 0 {
            follower.field = self.spare_fields.pop().unwrap_or_default();
        }
        let costs = StepCosts::new(layer, grid.terrain_bytes());
        if needs_detour {
            let (reservations, units) = (&self.reservations, &self.units);
            let is_blocked = |at: GridPos| {
                let cells = reservations.block(at, unit.size);
                cells.into_iter().any(|cell| {
                    let owner = reservations.get(cell).owner;
                    owner != index
                        && units
                            .get(owner as usize)
                            .is_some_and(|other| is_obstacle_to(unit, other))
                })
            };
            fill_field(follower, pos, (&costs, table), &mut self.field_open, is_blocked);
            if follower.field_index(pos).is_some_and(|at| follower.field[at] != UNREACHABLE) {
                return;
            }
        }
        fill_field(follower, pos, (&costs, table), &mut self.field_open, |_| false);
        let is_cut_off =
            follower.field_index(pos).is_none_or(|at| follower.field[at] == UNREACHABLE);
        if is_lost && !is_outside_field && is_cut_off {
            follower.relocate(pos);
            fill_field(follower, pos, (&costs, table), &mut self.field_open, |_| false);
        }
    }
}

/// Keeps the memory of a field for other units. Keeps no more than may be filled in one tick.
fn recycle_field(spare: &mut Vec<Vec<u64>>, follower: &mut PathFollower) {
    let field = core::mem::take(&mut follower.field);
    if field.capacity() > 0 && spare.len() < MAX_FIELDS_PER_TICK as usize {
        spare.push(field);
    }
}
