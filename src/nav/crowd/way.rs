//! A unit follows a path of its own, and finds back to it when it was pushed off.
//!
//! Input: a [`Path`], and where the unit is. Output: the rest of the way from the cells around it. Near
//! the path that is the way to one of its next cells and what is left from there on. Where that leads
//! nowhere (a wall stands between), a small field is spread over the cells around, from the path's cells
//! outward: a look nearby, not a new search. Only when no cell of the path ahead is near enough, or the
//! path is cut off, a new one is needed ([`Hindrance::NoWay`](super::Hindrance::NoWay)).

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{
    Crowd, CrowdError, UnitId,
    board::{Place, is_diagonal},
    guide::FAR,
    unit::Errand,
};
use crate::nav::{
    cell::Cell,
    grid::NavGrid,
    layer::Layer,
    moves::MoveTable,
    path::{Leg, Path},
    terrain::{CornerRule, DIAGONAL, ProfileId, STRAIGHT},
};

/// Cells of the path ahead that are looked at.
const AHEAD: usize = 8;
/// Farther from the path than this many cells, a unit needs the field around it.
const NEAR: u16 = 2;
/// Cells from the middle of the field to its edge.
const RADIUS: u16 = 12;
/// Cells of the path ahead that may lie in the field.
const AHEAD_IN_FIELD: usize = 64;

/// A path and how far along it a unit is.
#[derive(Clone, Debug, Default)]
pub(super) struct Way {
    legs: Vec<Leg>,
    leg: usize,
    /// Steps of the leg done.
    step: u16,
    /// The last cell of the path that was reached.
    at: Place,
    start: Place,
    end: Place,
    /// Steps from there to the end.
    left: u32,
    /// The field around, while it is needed.
    field: Vec<u64>,
    origin: Place,
    side: u16,
    /// Kept apart from `field`, which keeps its memory.
    has_field: bool,
}

/// A cell of a path, and its way from there to the last one that is looked at.
type Ahead = (Place, u64);

impl Way {
    fn set(&mut self, start: Place, end: Place, path: &Path) {
        self.legs.clear();
        self.legs.extend_from_slice(path.legs());
        (self.start, self.end) = (start, end);
        self.begin();
        self.has_field = false;
    }

    /// Goes back to the first cell.
    fn begin(&mut self) {
        (self.leg, self.step, self.at) = (0, 0, self.start);
        self.left = self.legs.iter().map(|leg| u32::from(leg.steps)).sum();
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

    /// Notes that the unit stands on `place`: the path up to there is done.
    fn arrive_at(&mut self, place: Place) {
        let mut at = self.at;
        let found = self.steps().take(AHEAD_IN_FIELD).position(|way| {
            at = at.step(way);
            at == place
        });
        if let Some(steps) = found {
            self.go_on(steps + 1);
            self.has_field = false;
        }
    }

    /// The next cells of the path, and the way left from each of them, at `cost` a step.
    fn ahead<const MOST: usize>(&self, cost: u64) -> ([Ahead; MOST], usize) {
        let mut cells = [(self.at, 0); MOST];
        let mut len = 1;
        let mut done = 0;
        for way in self.steps().take(MOST - 1) {
            done += if is_diagonal(way) { u64::from(DIAGONAL) } else { u64::from(STRAIGHT) } * cost;
            cells[len] = (cells[len - 1].0.step(way), done);
            len += 1;
        }
        // What lies beyond is the same for all of them: steps count as straight ones.
        let beyond = u64::from(self.left) * u64::from(STRAIGHT) * cost;
        let total = beyond.max(done);
        for cell in &mut cells[..len] {
            cell.1 = total - cell.1;
        }
        (cells, len)
    }

    fn field_at(&self, place: Place) -> Option<usize> {
        let (x, y) = (place.x.wrapping_sub(self.origin.x), place.y.wrapping_sub(self.origin.y));
        let is_inside = x < self.side && y < self.side;
        is_inside.then(|| usize::from(y) * usize::from(self.side) + usize::from(x))
    }

    pub(super) fn bytes(&self) -> usize {
        self.legs.capacity() * size_of::<Leg>() + self.field.capacity() * 8
    }
}

impl Crowd {
    /// Sends a unit along a path, which need not begin where it is, but near.
    ///
    /// # Errors
    /// [`CrowdError::NoSuchUnit`], or [`CrowdError::Impassable`] where the path is not on the grid.
    pub fn follow(&mut self, grid: &NavGrid, id: UnitId, path: &Path) -> Result<(), CrowdError> {
        let place = |cell: Cell| Place::of(grid, cell).ok_or(CrowdError::Impassable(cell));
        let (start, end) = (place(path.start())?, place(path.end())?);
        self.give(id, Errand::Way)?;
        if self.ways.len() < self.units.len() {
            self.ways.resize_with(self.units.len(), Way::default);
        }
        self.ways[id.index as usize].set(start, end, path);
        Ok(())
    }

    pub(super) fn way_bytes(&self) -> usize {
        let held = self.ways.capacity() * size_of::<Way>() + self.way_open.capacity() * 16;
        self.ways.iter().map(Way::bytes).sum::<usize>() + held
    }

    /// Whether a unit stands at the end of its path.
    pub(super) fn is_at_end(&self, index: u32) -> bool {
        self.ways[index as usize].end == self.units[index as usize].tail
    }

    /// Brings a unit's place on its path up to date, and its field if it needs one.
    pub(super) fn note_progress(&mut self, grid: &NavGrid, index: u32) {
        let unit = &self.units[index as usize];
        let (place, is_waiting) = (unit.tail, self.now > unit.waits_since + 24);
        let profile = ProfileId(unit.profile);
        let way = &mut self.ways[index as usize];
        way.arrive_at(place);
        if way.at == place {
            return;
        }
        let is_lost = way.has_field && way.field_at(place).is_none_or(|at| way.field[at] == FAR);
        let is_far = || {
            let (cells, len) = way.ahead::<AHEAD>(1);
            cells[..len].iter().all(|(cell, _)| cell.reach(place) > NEAR)
        };
        if is_lost || !way.has_field && (is_waiting || is_far()) {
            let Some(layer) = grid.layer(profile) else {
                return;
            };
            let neighborhood = grid.profiles()[usize::from(profile.0)].neighborhood();
            let table = MoveTable::of(CornerRule::Forbid, neighborhood);
            if is_lost {
                way.find_again(place);
            }
            spread(way, place, (layer, grid.terrain_bytes(), table), &mut self.way_open);
        }
    }

    /// What is left of a unit's own way from a place.
    pub(super) fn way_rest(&self, grid: &NavGrid, index: u32) -> impl Fn(Place) -> u64 {
        let (way, unit) = (&self.ways[index as usize], &self.units[index as usize]);
        let cost = grid
            .layer(ProfileId(unit.profile))
            .map_or(1, |layer| u64::from(layer.cost_sum_range().0) * u64::from(layer.unit()));
        let (cells, len) = way.ahead::<AHEAD>(cost);
        move |place| {
            if place == way.end {
                return 0;
            }
            if way.has_field {
                return way.field_at(place).map_or(FAR, |at| way.field[at]);
            }
            let rest = |&(cell, rest): &Ahead| rest + straight(place, cell) * cost;
            cells[..len].iter().map(rest).min().unwrap_or(FAR)
        }
    }
}

/// Weight of the way between two places on open ground.
fn straight(a: Place, b: Place) -> u64 {
    let (dx, dy) = (u64::from(a.x.abs_diff(b.x)), u64::from(a.y.abs_diff(b.y)));
    u64::from(STRAIGHT) * dx.max(dy) + u64::from(DIAGONAL - STRAIGHT) * dx.min(dy)
}

/// Fills the field around a place with the ways to the cells of the path.
fn spread(
    way: &mut Way,
    middle: Place,
    (layer, terrain, table): (&Layer, &[u8], &MoveTable),
    open: &mut BinaryHeap<Reverse<(u64, u16, u16)>>,
) {
    way.origin = Place { x: middle.x.saturating_sub(RADIUS), y: middle.y.saturating_sub(RADIUS) };
    way.side = 2 * RADIUS + 1;
    way.has_field = true;
    way.field.clear();
    way.field.resize(usize::from(way.side) * usize::from(way.side), FAR);
    open.clear();
    let unit = u64::from(layer.cost_sum_range().0) * u64::from(layer.unit());
    let (cells, len) = way.ahead::<AHEAD_IN_FIELD>(unit);
    for &(cell, rest) in &cells[..len] {
        if let Some(at) = way.field_at(cell)
            && layer.is_passable(u32::from(cell.x), u32::from(cell.y))
        {
            way.field[at] = rest + 1;
            open.push(Reverse((rest + 1, cell.x, cell.y)));
        }
    }
    while let Some(Reverse((rest, x, y))) = open.pop() {
        let place = Place { x, y };
        if way.field_at(place).is_none_or(|at| way.field[at] < rest) {
            continue;
        }
        let here = layer.cost(u32::from(x), u32::from(y), terrain);
        let ways = table.legal(layer.pattern(u32::from(x), u32::from(y)));
        for direction in (0..8).filter(|direction| ways & 1 << direction != 0) {
            let next = place.step(direction);
            let Some(at) = way.field_at(next) else {
                continue;
            };
            let sum = here + layer.cost(u32::from(next.x), u32::from(next.y), terrain);
            let weight = if is_diagonal(direction) { DIAGONAL } else { STRAIGHT };
            let total = rest + u64::from(weight) * u64::from(sum);
            if total < way.field[at] {
                way.field[at] = total;
                open.push(Reverse((total, next.x, next.y)));
            }
        }
    }
}
