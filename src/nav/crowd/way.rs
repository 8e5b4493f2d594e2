//! A unit follows a path of its own, and finds back to it when it was pushed off.
//!
//! Input: a [`Path`], and where the unit is. Output: the rest of the way from the cells around it. Near
//! the path that is the way to one of its next cells and what is left from there on. Where that leads
//! nowhere (a wall stands between), a small field is spread over the cells around, from the path's cells
//! outward: a look nearby, not a new search. Only when no cell of the path ahead is near enough, or the
//! path is cut off, a new one is needed ([`Hindrance::NoWay`](super::Hindrance::NoWay)).

use core::hint::black_box;

use super::{
    Crowd, CrowdError, Hindrance, UnitId,
    board::Place,
    chain::moves_of,
    guide::FAR,
    near::{AHEAD_IN_FIELD, Ground, in_way, spread},
    unit::Errand,
};
use crate::nav::{
    cell::Cell,
    grid::NavGrid,
    path::{Leg, Path},
    terrain::{ProfileId, STRAIGHT},
    walk::Walk,
};

/// Cells of the path ahead that are looked at.
pub(super) const AHEAD: usize = 8;
/// Farther from the path than this many cells, a unit needs the field around it.
const NEAR: u16 = 2;
/// Ticks of waiting after which a unit looks for a way around, and between two such looks.
const PATIENCE: u64 = 24;
const LOOK_AGAIN: u64 = 64;
/// Most fields spread in a tick (about 20 µs each); others wait for the next.
const MOST_FIELDS: u32 = 16;

/// A path and how far along it a unit is.
#[derive(Clone, Debug, Default)]
pub(super) struct Way {
    legs: Vec<Leg>,
    leg: usize,
    /// Steps of the leg done.
    step: u16,
    /// The last cell of the path that was reached.
    pub(super) at: Place,
    start: Place,
    pub(super) end: Place,
    /// Whether the unit goes along this path at present: members of a group have other guides as well.
    pub(super) is_followed: bool,
    /// Where the unit is to go in the end: members of a group exchange their places.
    pub(super) goal: Place,
    /// Steps from there to the end.
    left: u32,
    /// The field around, while it is needed.
    pub(super) field: Vec<u64>,
    pub(super) origin: Place,
    pub(super) side: u16,
    /// Around which place it was spread.
    pub(super) middle: Place,
    /// Kept apart from `field`, which keeps its memory.
    pub(super) has_field: bool,
    /// When it was spread.
    looked: u64,
}

/// A cell of a path, and its way from there to the last one that is looked at.
pub(super) type Ahead = (Place, u64);

impl Way {
    fn set(&mut self, start: Place, end: Place, path: &Path) {
        self.legs.clear();
        self.legs.extend_from_slice(path.legs());
        (self.start, self.end, self.goal) = (start, end, end);
        self.begin();
        (self.has_field, self.is_followed) = (false, true);
    }

    /// Goes back to the first cell.
    fn begin(&mut self) {
        (self.leg, self.step, self.at) = (0, 0, self.start);
        self.left = self.steps_in_all();
    }

    /// Whether a path has at least as many steps.
    fn is_begun_by(&self, path: &Path) -> bool {
        path.steps() >= self.steps_in_all()
    }

    /// Takes the longer path, of which as much is done as was of the shorter one.
    fn lengthen(&mut self, end: Place, path: &Path) {
        let before = self.steps_in_all();
        self.legs.clear();
        self.legs.extend_from_slice(path.legs());
        self.left += self.steps_in_all() - before;
        self.end = end;
    }

    fn steps_in_all(&self) -> u32 {
        self.legs.iter().map(|leg| u32::from(leg.steps)).sum()
    }

    /// Goes on to the cell of the whole path that is nearest to `place`; the last of several.
    fn find_again(&mut self, place: Place) {
        self.begin();
        let (mut nearest, mut at, mut steps) = (place.reach(self.at), self.at, 0);
        for (number, way) in self.steps().enumerate() {
            at = at.step(way);
            if at.reach(place) <= nearest {
                (nearest, steps) = (at.reach(place), number + 1);
            }
        }
        self.go_on(steps);
    }

    /// Takes so many steps of the path as done.
    fn go_on(&mut self, steps: usize) {
        for _ in 0..steps {
            self.at = self.at.step(self.legs[self.leg].direction as u8);
            self.step += 1;
            self.left -= 1;
            if self.step == self.legs[self.leg].steps {
                (self.leg, self.step) = (self.leg + 1, 0);
            }
        }
    }

    /// The directions of the steps ahead.
    fn steps(&self) -> impl Iterator<Item = u8> + '_ {
        let legs = self.legs.get(self.leg..).unwrap_or_default();
        let first = self.step;
        legs.iter().enumerate().flat_map(move |(at, leg)| {
            let done = if at == 0 { first } else { 0 };
            (done..leg.steps).map(move |_| leg.direction as u8)
        })
    }

    /// Reads what is asked for when it is decided where to go on.
    pub(super) fn touch(&self) {
        black_box((self.at, self.has_field, self.legs.get(self.leg)));
    }

    /// Where the path leads on from `place`, if that is the cell of it that was reached last: no way beside
    /// the path is ranked before that ([`Crowd::way_rest`]), unless it leads to the very end.
    pub(super) fn next_from(&self, place: Place) -> Option<u8> {
        let is_on_path = self.at == place && !self.has_field;
        let leg = self.legs.get(self.leg).filter(|_| is_on_path)?;
        let way = leg.direction as u8;
        (self.end.reach(place) > 1 || place.step(way) == self.end).then_some(way)
    }

    /// Notes that the unit stands on `place`: the path up to there is done.
    fn arrive_at(&mut self, place: Place) {
        if self.at == place {
            // Unless the field begins here, it went astray, and is back where it left the path.
            self.has_field &= self.middle == place;
            return;
        }
        if let Some(steps) = self.steps_to(place) {
            self.go_on(steps);
            self.has_field = false;
        }
    }

    /// After how many steps the path comes to a place, if that is soon.
    fn steps_to(&self, place: Place) -> Option<usize> {
        let (mut at, mut before, mut done) = (self.at, 0, self.step);
        for leg in self.legs.get(self.leg..)? {
            let (way, steps) = (leg.direction as u8, leg.steps - core::mem::take(&mut done));
            let away = at.reach(place);
            if (1..=steps).contains(&away) && at.along(way, away) == place {
                return Some(before + usize::from(away)).filter(|&steps| steps <= AHEAD_IN_FIELD);
            }
            (at, before) = (at.along(way, steps), before + usize::from(steps));
            if before >= AHEAD_IN_FIELD {
                break;
            }
        }
        None
    }

    /// The next cells of the path, and the way left from each of them. What lies beyond them is the same
    /// for all, and counts as plain ground.
    pub(super) fn ahead<const MOST: usize>(&self, ground: &Ground) -> ([Ahead; MOST], usize) {
        let mut cells = [(self.at, 0); MOST];
        let mut len = 1;
        let mut done = 0;
        for way in self.steps().take(MOST - 1) {
            done += ground.step(cells[len - 1].0, way);
            cells[len] = (cells[len - 1].0.step(way), done);
            len += 1;
        }
        let beyond = u64::from(self.left) * u64::from(STRAIGHT) * ground.cheapest;
        let total = beyond.max(done);
        for cell in &mut cells[..len] {
            cell.1 = total - cell.1;
        }
        (cells, len)
    }

    pub(super) fn field_at(&self, place: Place) -> Option<usize> {
        let (x, y) = (place.x.wrapping_sub(self.origin.x), place.y.wrapping_sub(self.origin.y));
        let is_inside = x < self.side && y < self.side;
        is_inside.then(|| usize::from(y) * usize::from(self.side) + usize::from(x))
    }

    /// Steps from the last cell that was reached to the end.
    pub(super) const fn left(&self) -> u32 {
        self.left
    }

    pub(super) fn bytes(&self) -> usize {
        self.legs.capacity() * size_of::<Leg>() + self.field.capacity() * 8
    }
}

impl Crowd {
    /// Sends a unit along a path, which need not begin where it is, but near.
    ///
    /// # Errors
    /// [`CrowdError::NoSuchUnit`], [`CrowdError::OtherGrid`], or [`CrowdError::Impassable`] where the path
    /// leaves the grid.
    pub fn follow(&mut self, grid: &NavGrid, id: UnitId, path: &Path) -> Result<(), CrowdError> {
        let (start, end) = self.ends_of(grid, path)?;
        self.give(id, Errand::Way)?;
        if self.ways.len() < self.units.len() {
            self.ways.resize_with(self.units.len(), Way::default);
        }
        self.ways[id.index as usize].set(start, end, path);
        Ok(())
    }

    /// A unit needs no field any more: its memory is for others.
    pub(super) fn drop_field(&mut self, index: u32) {
        if let Some(way) = self.ways.get_mut(index as usize) {
            way.has_field = false;
            keep_field(&mut self.way_fields, way);
        }
    }

    /// Adds the rest to the path of a unit: `path` begins with what it follows already. Sends it along the
    /// whole path where it follows none.
    ///
    /// # Errors
    /// As [`follow`](Self::follow).
    pub fn lengthen(&mut self, grid: &NavGrid, id: UnitId, path: &Path) -> Result<(), CrowdError> {
        let (start, end) = self.ends_of(grid, path)?;
        let errand = self.get(id).map(|unit| unit.errand);
        let goes_on = matches!(errand, Some(Errand::Way | Errand::Place(_)));
        let way = self.ways.get_mut(id.index as usize);
        let Some(way) = way.filter(|way| goes_on && way.start == start && way.is_begun_by(path))
        else {
            return self.follow(grid, id, path);
        };
        way.lengthen(end, path);
        if errand == Some(Errand::Way) {
            way.goal = end;
        }
        self.units[id.index as usize].has_arrived = false;
        self.forget_steps(id.index);
        self.call_soon(id.index);
        Ok(())
    }

    /// The first and the last place of a path that stays on the grid. Legs are straight, so it does if all
    /// their ends lie there.
    fn ends_of(&self, grid: &NavGrid, path: &Path) -> Result<(Place, Place), CrowdError> {
        self.check_size(grid)?;
        let place = |cell: Cell| Place::of(grid, cell).ok_or(CrowdError::Impassable(cell));
        let (start, mut cell) = (place(path.start())?, path.start());
        for leg in path.legs() {
            let ((dx, dy), steps) = (leg.direction.offset(), i32::from(leg.steps));
            cell = cell.offset(dx * steps, dy * steps);
            place(cell)?;
        }
        Ok((start, place(path.end())?))
    }

    /// Where a unit is on its path: how far it has come along `path`, standing on the last cell of it
    /// that it reached. `None` where it follows none: it has none, or something else leads it to the place
    /// of its group.
    #[must_use]
    pub fn walk_along(&self, grid: &NavGrid, id: UnitId) -> Option<Walk> {
        self.get(id).filter(|unit| matches!(unit.errand, Errand::Way | Errand::Place(_)))?;
        let way = self.ways.get(id.index as usize).filter(|way| way.is_followed)?;
        let begun = way.steps_in_all() - way.left;
        Some(Walk::at(way.at.cell(grid), (way.leg as u32, way.step), begun))
    }

    pub(super) fn way_bytes(&self) -> usize {
        let held = self.ways.capacity() * size_of::<Way>() + self.way_open.capacity() * 16;
        let spare = self.way_fields.iter().map(|field| field.capacity() * 8).sum::<usize>();
        self.ways.iter().map(Way::bytes).sum::<usize>() + held + spare
    }

    /// Whether a unit that was given a path stands where it is to go.
    pub(super) fn is_at_end(&self, index: u32) -> bool {
        self.ways[index as usize].goal == self.units[index as usize].tail
    }

    /// Brings a unit's place on its path up to date, and its field if it needs one: to find back to the
    /// path, or around others who stand in the way for good.
    pub(super) fn note_progress(&mut self, grid: &NavGrid, index: u32) {
        let unit = &self.units[index as usize];
        let (place, profile) = (unit.tail, ProfileId(unit.profile));
        let waited = unit.waited(self.now);
        let way = &mut self.ways[index as usize];
        let had_field = way.has_field;
        way.arrive_at(place);
        if had_field && !way.has_field {
            keep_field(&mut self.way_fields, way);
        }
        let is_lost = way.has_field && way.field_at(place).is_none_or(|at| way.field[at] == FAR);
        let avoids = unit.hindrance == Hindrance::Obstacle && waited > PATIENCE;
        let avoids = avoids && self.now >= way.looked + LOOK_AGAIN;
        if way.at == place && !avoids {
            return;
        }
        let is_far = || {
            let mut at = way.at;
            let ahead = way.steps().take(AHEAD - 1).map(|step| {
                at = at.step(step);
                at
            });
            core::iter::once(way.at).chain(ahead).all(|cell| cell.reach(place) > NEAR)
        };
        let needs_field = is_lost || avoids || !way.has_field && (waited > PATIENCE || is_far());
        if !needs_field || self.fields_spread >= MOST_FIELDS {
            return;
        }
        self.fields_spread += 1;
        let Some(layer) = grid.layer(profile) else {
            return;
        };
        let table = moves_of(grid, profile);
        let is_off = is_lost && way.field_at(place).is_none();
        if is_off {
            way.find_again(place);
        }
        way.looked = self.now;
        if way.field.capacity() == 0 {
            way.field = self.way_fields.pop().unwrap_or_default();
        }
        let ground = Ground::new(layer, grid.terrain_bytes());
        if avoids {
            let (board, units) = (&self.board, &self.units);
            let stands = |at: Place| {
                let cells = board.block(at, unit.size);
                cells.into_iter().any(|cell| {
                    let owner = board.hold(cell).owner;
                    owner != index
                        && units.get(owner as usize).is_some_and(|other| in_way(unit, other))
                })
            };
            spread(way, place, (&ground, table), &mut self.way_open, stands);
            if way.field_at(place).is_some_and(|at| way.field[at] != FAR) {
                return;
            }
        }
        spread(way, place, (&ground, table), &mut self.way_open, |_| false);
        let is_dark = way.field_at(place).is_none_or(|at| way.field[at] == FAR);
        if is_lost && !is_off && is_dark {
            way.find_again(place);
            spread(way, place, (&ground, table), &mut self.way_open, |_| false);
        }
    }
}

/// Keeps the memory of a field for others, if not enough is kept already: as many as may be spread in a tick.
fn keep_field(spare: &mut Vec<Vec<u64>>, way: &mut Way) {
    let field = core::mem::take(&mut way.field);
    if field.capacity() > 0 && spare.len() < MOST_FIELDS as usize {
        spare.push(field);
    }
}
