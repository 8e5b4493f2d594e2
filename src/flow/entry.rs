//! One shared field: what it needs, and the work on it.
//!
//! Input: the grids of a tick, and slices of the budget. Output: a field that is up to date, and
//! its status. A field is *filled* from the goal outward or, once it is whole, *repaired* after
//! edits. Edits that come while it is being filled throw it back; so that it gets done however
//! often the grid is edited, it is filled steadily after [`PATIENCE`] times, which takes longer.

use std::sync::Arc;

use super::{FlowCounters, FlowField, FlowStatus, Key};
use crate::{
    grids::NavGrids,
    nav::{crowd::RouteId, field::DistanceField, grid::NavGrid, query::PathFailure},
};

/// How often edits may throw a field back in a row.
const PATIENCE: u32 = 2;
/// Clearing a field takes a unit for so many cells (0.2 ns each).
const CLEARED_PER_UNIT: u64 = 200;

/// What there is to do for a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Redo what edits have touched.
    Repair = 0,
    /// Fill it.
    Fill = 1,
}

/// A field and how far it is.
#[derive(Debug)]
pub(super) struct Entry {
    handle: FlowField,
    /// By which number crowds call it.
    route: RouteId,
    field: DistanceField,
    /// Which of the grids that had its number it is for; 0 while there is none.
    generation: u64,
    status: FlowStatus,
    work: Option<Work>,
    /// Whether filling has yet to begin.
    must_start: bool,
    /// Times in a row that an edit came before it was filled.
    thrown_back: u32,
}

impl Entry {
    pub(super) fn new(handle: FlowField, route: RouteId) -> Self {
        Self {
            handle,
            route,
            field: DistanceField::new(),
            generation: 0,
            status: FlowStatus::Pending,
            work: None,
            must_start: false,
            thrown_back: 0,
        }
    }

    pub(super) const fn handle(&self) -> &FlowField {
        &self.handle
    }

    pub(super) const fn route(&self) -> RouteId {
        self.route
    }

    pub(super) const fn status(&self) -> FlowStatus {
        self.status
    }

    pub(super) const fn work(&self) -> Option<Work> {
        self.work
    }

    /// Whether anyone has a handle besides the one kept here.
    pub(super) fn is_held(&self) -> bool {
        Arc::strong_count(&self.handle.0) > 1
    }

    /// The field, if it is for this grid.
    pub(super) fn field(&self, generation: u64) -> Option<&DistanceField> {
        (self.generation == generation).then_some(&self.field)
    }

    pub(super) fn bytes(&self) -> usize {
        size_of::<Key>() + size_of::<Self>() + self.field.bytes()
    }

    /// Finds out what there is to do.
    pub(super) fn look_after(&mut self, grids: &NavGrids, counters: &mut FlowCounters) {
        let key = *self.handle.0;
        let generation = grids.generation(key.grid);
        if self.generation != generation {
            self.generation = generation;
            self.empty();
        }
        let Some(grid) = grids.get(key.grid) else {
            self.fail(PathFailure::GridGone(key.grid));
            return;
        };
        if let Err(failure) = <DistanceField>::check(grid, key.profile, key.goal) {
            self.fail(failure);
            return;
        }
        if !self.field.is_stale(grid) {
            return;
        }
        let was_ready = self.status == FlowStatus::Ready;
        self.status = FlowStatus::Pending;
        if self.field.can_repair(grid) {
            // One that is being filled steadily goes on with that.
            self.work = self.work.or(Some(Work::Repair));
            return;
        }
        let is_under_way = self.work.is_some() && !self.must_start;
        counters.restarts += u64::from(was_ready || is_under_way);
        self.thrown_back += u32::from(is_under_way && self.work == Some(Work::Fill));
        self.begin_anew();
    }

    /// Does up to `budget` units of its work; returns how many.
    pub(super) fn step(&mut self, grid: &NavGrid, budget: u32, counters: &mut FlowCounters) -> u32 {
        match self.work {
            None => 0,
            Some(Work::Repair) => self.repair(grid, budget, counters),
            Some(Work::Fill) => self.fill(grid, budget, counters),
        }
    }

    fn repair(&mut self, grid: &NavGrid, budget: u32, counters: &mut FlowCounters) -> u32 {
        let taken = self.field.repair(grid, budget);
        let is_whole = self.field.is_finished() && !self.field.is_stale(grid);
        if is_whole {
            counters.repairs += 1;
            self.end();
        } else if self.field.is_stale(grid) || !self.field.is_repair_cheaper() {
            counters.restarts += 1;
            self.begin_anew();
        }
        taken
    }

    fn fill(&mut self, grid: &NavGrid, budget: u32, counters: &mut FlowCounters) -> u32 {
        let begun = if self.must_start { self.start(grid, budget) } else { 0 };
        if self.work.is_none() {
            return 0; // it could not be started
        }
        let taken = begun + self.field.step(grid, budget - begun);
        if self.field.is_finished() {
            counters.integrations += 1;
            self.end();
        }
        taken
    }

    /// Starts the field; returns what that takes of a budget.
    fn start(&mut self, grid: &NavGrid, budget: u32) -> u32 {
        self.must_start = false;
        let Key { profile, goal, .. } = *self.handle.0;
        let started = if self.thrown_back < PATIENCE {
            self.field.start(grid, profile, goal)
        } else {
            self.field.start_repairable(grid, profile, goal)
        };
        if let Err(failure) = started {
            self.fail(failure);
            return 0;
        }
        let cells = u64::from(grid.width()) * u64::from(grid.height());
        (cells / CLEARED_PER_UNIT).min(u64::from(budget)) as u32
    }

    fn begin_anew(&mut self) {
        self.work = Some(Work::Fill);
        self.must_start = true;
    }

    fn end(&mut self) {
        self.status = FlowStatus::Ready;
        self.work = None;
        self.thrown_back = 0;
    }

    fn fail(&mut self, failure: PathFailure) {
        let status = FlowStatus::Failed(failure);
        if self.status != status {
            self.empty();
            self.status = status;
        }
    }

    /// Forgets the field and gives its memory back.
    fn empty(&mut self) {
        self.field = DistanceField::new();
        self.status = FlowStatus::Pending;
        self.work = None;
        self.must_start = false;
        self.thrown_back = 0;
    }
}
