//! Ground that was built over while units stood on it: they may leave, nobody may enter.
//!
//! Input: edits. Output: for each edited place under units a small field that leads out of it, over the
//! edited cells only, so nobody escapes through a wall that stood there before. Straight steps only: no
//! corner is cut on the way out. Who is led by a shared field leaves on the side from where the rest of his way is
//! shortest, and keeps to that side; everybody else, and whoever does not get on for long, takes the nearest cell
//! outside. The field is forgotten when the last unit is out.

use std::collections::VecDeque;

use super::{
    Crowd,
    board::Place,
    guide::{FAR, Guidance, World},
    unit::{NONE, State, Unit},
};
use crate::nav::{
    cell::{Cell, CellRect},
    grid::NavGrid,
    path::PathCost,
    terrain::ProfileId,
};

/// Ticks between two looks at whether a place is still needed.
const TIDY: u64 = 32;

/// A place that was built over, as units of one profile see it.
#[derive(Clone, Debug, Default)]
pub(super) struct Footprint {
    profile: u8,
    /// The edited anchors and one cell around.
    rect: CellRect,
    /// Steps to the nearest cell on which they can stand; [`u16::MAX`] where there is no way out.
    steps: Vec<u16>,
}

/// Straight steps, by side.
const SIDES: [(i32, i32); 4] = [(1, 0), (0, 1), (-1, 0), (0, -1)];
/// No side has been chosen yet.
pub(super) const UNDECIDED: u8 = 4;
/// The nearest cell outside, on whatever side.
const NEAREST: u8 = 5;
/// Ticks of waiting after which a unit no longer keeps to a side.
const PATIENCE: u64 = 96;
/// What a step in a place that was built over counts for: so many straight ones outside.
const INSIDE: u64 = 2;
/// Added to ways out on other sides than the one chosen, if one is: they come after all others.
const ELSEWHERE: u64 = 1 << 48;

impl Footprint {
    fn at(&self, cell: Cell) -> Option<usize> {
        self.rect.contains(cell).then(|| {
            let (dx, dy) = (cell.x - self.rect.min.x, cell.y - self.rect.min.y);
            (dy * self.rect.width as i32 + dx) as usize
        })
    }

    fn steps(&self, cell: Cell) -> Option<u16> {
        let steps = self.at(cell).map(|at| self.steps[at]);
        steps.filter(|&steps| steps != u16::MAX)
    }

    /// The first cell outside straight ahead, and how many steps away it is.
    fn exit(&self, from: Cell, side: u8) -> Option<(u64, Cell)> {
        let &(dx, dy) = SIDES.get(usize::from(side))?;
        let (mut cell, mut far) = (from, 0);
        while self.steps(cell)? > 0 {
            (cell, far) = (cell.offset(dx, dy), far + 1);
        }
        Some((far, cell))
    }

    /// Fills in the steps from outside inward.
    fn spread(&mut self, grid: &NavGrid) {
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
            for (dx, dy) in SIDES {
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

/// The rectangle without the ring around it.
fn inner(rect: CellRect) -> CellRect {
    CellRect::new(rect.min.offset(1, 1), rect.width - 2, rect.height - 2)
}

impl Crowd {
    /// Takes in what was edited since the last tick.
    pub(super) fn take_in_edits(&mut self, grid: &NavGrid) {
        let revision = grid.revision();
        if revision != self.revision {
            match grid.edits_since(self.revision) {
                Some(edits) => edits.for_each(|rect| {
                    self.look_under(grid, rect);
                    self.forget_ground(grid, rect);
                }),
                None => {
                    self.look_under(grid, grid.rect());
                    self.passages.clear();
                    self.walls.clear();
                }
            }
            for footprint in &mut self.footprints {
                footprint.spread(grid);
            }
            self.revision = revision;
            self.forget_all_steps();
            self.groups_are_stale();
        }
        if self.now.is_multiple_of(TIDY) && !self.footprints.is_empty() {
            self.tidy_footprints(grid);
        }
    }

    /// Finds units in a rectangle that stand where they cannot.
    fn look_under(&mut self, grid: &NavGrid, rect: CellRect) {
        for cell in rect.intersection(grid.rect()).cells() {
            let Some(place) = Place::of(grid, cell) else {
                continue;
            };
            let hold = self.board.hold(self.board.index(place));
            for index in [hold.owner, hold.heir] {
                if index != NONE && !self.units[index as usize].is_trapped {
                    self.look_at(grid, index, rect);
                }
            }
        }
    }

    fn look_at(&mut self, grid: &NavGrid, index: u32, rect: CellRect) {
        let unit = &self.units[index as usize];
        let profile = ProfileId(unit.profile);
        let stands = |place: Place| grid.cost(profile, place.cell(grid)) > 0;
        if stands(unit.tail) && stands(unit.head) {
            return;
        }
        let anchors = grid.anchors_over(profile, rect);
        let rect = CellRect::new(anchors.min.offset(-1, -1), anchors.width + 2, anchors.height + 2);
        let is_known = |known: &Footprint| (known.profile, known.rect) == (profile.0, rect);
        if !self.footprints.iter().any(is_known) {
            self.footprints.push(Footprint { profile: profile.0, rect, ..Footprint::default() });
        }
        let unit = &mut self.units[index as usize];
        (unit.is_trapped, unit.exit) = (true, UNDECIDED);
        self.call_soon(index);
    }

    /// Forgets places which everybody has left.
    fn tidy_footprints(&mut self, grid: &NavGrid) {
        let (board, mut places) = (&self.board, core::mem::take(&mut self.footprints));
        places.retain(|place| {
            place.rect.intersection(grid.rect()).cells().any(|cell| {
                let at = Place::of(grid, cell).map(|place| board.hold(board.index(place)));
                let is_trapped =
                    |index: u32| self.units.get(index as usize).is_some_and(|unit| unit.is_trapped);
                at.is_some_and(|hold| is_trapped(hold.owner) || is_trapped(hold.heir))
            })
        });
        self.footprints = places;
    }

    /// The ways that bring a trapped unit on.
    pub(super) fn escape_ways(&self, grid: &NavGrid, unit: &Unit) -> u8 {
        let on = |way: &u8| self.steps_out(grid, unit, unit.tail.step(*way)).is_some();
        [0, 2, 4, 6].into_iter().filter(on).fold(0, |ways, way| ways | 1 << way)
    }

    /// The places under units of a profile that were built over.
    fn footprints_of(&self, unit: &Unit) -> impl Iterator<Item = &Footprint> {
        let profile = unit.profile;
        self.footprints.iter().filter(move |known| known.profile == profile)
    }

    fn steps_out(&self, grid: &NavGrid, unit: &Unit, place: Place) -> Option<u16> {
        if u32::from(place.x) >= grid.width() || u32::from(place.y) >= grid.height() {
            return None;
        }
        let cell = place.cell(grid);
        self.footprints_of(unit).filter_map(|known| known.steps(cell)).min()
    }

    /// What is left of the way out of a place that was built over.
    pub(super) fn escape_rest(&self, grid: &NavGrid, unit: &Unit, place: Place) -> u64 {
        let Some(steps) = self.steps_out(grid, unit, place) else {
            return FAR;
        };
        let cell = place.cell(grid);
        let straight = self.footprints_of(unit).filter_map(|known| known.exit(cell, unit.exit));
        let straight = straight.map(|(steps, _)| steps * PathCost::PLAIN_STEP.0).min();
        straight.unwrap_or(ELSEWHERE + u64::from(steps) * PathCost::PLAIN_STEP.0)
    }

    /// A trapped unit chooses the side on which it leaves, or gives up the one it has chosen.
    pub(super) fn choose_exit<G: Guidance + ?Sized>(&mut self, world: &World<'_, G>, index: u32) {
        let unit = &self.units[index as usize];
        if unit.exit == UNDECIDED {
            if let Some(side) = self.best_exit(world, unit) {
                self.units[index as usize].exit = side;
            }
        } else if self.waited(index) >= PATIENCE {
            self.units[index as usize].exit = NEAREST;
        }
    }

    /// The side on which a unit is best led on.
    fn best_exit<G: Guidance + ?Sized>(&self, world: &World<'_, G>, unit: &Unit) -> Option<u8> {
        let route = self.field_of(unit)?;
        let cell = unit.tail.cell(world.grid);
        let cost = |side: u8| {
            let exits = self.footprints_of(unit).filter_map(|known| known.exit(cell, side));
            let costs = exits.filter_map(|(steps, exit)| {
                let rest = world.guide.cost(world.grid, route, exit)?;
                Some(rest.0 + INSIDE * steps * PathCost::PLAIN_STEP.0)
            });
            costs.min()
        };
        let sides = (0..SIDES.len() as u8).filter_map(|side| Some((cost(side)?, side)));
        sides.min().map(|(_, side)| side)
    }

    /// Whether a trapped unit is out; it goes its own way again then.
    pub(super) fn is_out(&mut self, grid: &NavGrid, index: u32) -> bool {
        let unit = &self.units[index as usize];
        let is_out = grid.cost(ProfileId(unit.profile), unit.tail.cell(grid)) > 0;
        if is_out {
            self.units[index as usize].is_trapped = false;
            if self.units[index as usize].state != State::Moving {
                self.call_soon(index);
            }
        }
        is_out
    }
}
