//! Ground that was built over while units stood on it: they may leave, nobody may enter.
//!
//! Input: edits. Output: for each edited place under units a small field that leads out of it, over the
//! edited cells only, so nobody escapes through a wall that stood there before. Straight steps only: no
//! corner is cut on the way out. The field is forgotten when the last unit is out.

use std::collections::VecDeque;

use super::{
    Crowd,
    board::Place,
    guide::FAR,
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
#[derive(Clone, Debug)]
pub(super) struct Footprint {
    profile: u8,
    /// The edited anchors and one cell around.
    rect: CellRect,
    /// Steps to the nearest cell on which they can stand; [`u16::MAX`] where there is no way out.
    steps: Vec<u16>,
}

impl Footprint {
    fn steps(&self, cell: Cell) -> Option<u16> {
        let at = self.rect.contains(cell).then(|| {
            let (dx, dy) = (cell.x - self.rect.min.x, cell.y - self.rect.min.y);
            self.steps[(dy * self.rect.width as i32 + dx) as usize]
        });
        at.filter(|&steps| steps != u16::MAX)
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
            for (dx, dy) in [(1, 0), (0, 1), (-1, 0), (0, -1)] {
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
                    self.forget_passages(grid, rect);
                }),
                None => {
                    self.look_under(grid, grid.rect());
                    self.passages.clear();
                }
            }
            for footprint in &mut self.footprints {
                footprint.spread(grid);
            }
            self.revision = revision;
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
            self.footprints.push(Footprint { profile: profile.0, rect, steps: Vec::new() });
        }
        self.units[index as usize].is_trapped = true;
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
        let on = |way: &u8| self.escape_rest(grid, unit, unit.tail.step(*way)) != FAR;
        [0, 2, 4, 6].into_iter().filter(on).fold(0, |ways, way| ways | 1 << way)
    }

    /// What is left of the way out of a place that was built over.
    pub(super) fn escape_rest(&self, grid: &NavGrid, unit: &Unit, place: Place) -> u64 {
        if u32::from(place.x) >= grid.width() || u32::from(place.y) >= grid.height() {
            return FAR;
        }
        let cell = place.cell(grid);
        let known = self.footprints.iter().filter(|known| known.profile == unit.profile);
        let steps = known.filter_map(|known| known.steps(cell)).min();
        steps.map_or(FAR, |steps| u64::from(steps) * PathCost::PLAIN_STEP.0)
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
