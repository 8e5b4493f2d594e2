//! One shared field: the work it needs, and the work done on it.
//!
//! Input: the grids of a tick, and slices of the budget. Output: a field that is up to date, and its status.
//! A field is *filled* from the goal outward or, once it is complete, *repaired* after edits. An edit during
//! the fill forces a restart. So that a field completes however often the grid is edited, it is filled in a
//! repairable way after [`MAX_INTERRUPTIONS`] restarts, which takes longer.

use std::sync::Arc;

use super::{FieldKey, FlowCounters, FlowField, FlowStatus};
use crate::{
    grids::NavGrids,
    nav::{DistanceField, NavGrid, PathFailure, RouteId, field::CELLS_CLEARED_PER_UNIT},
};

/// Number of times in a row that edits may force a restart of the fill.
const MAX_INTERRUPTIONS: u32 = 2;

/// Kind of work that a field needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Work {
    /// Recompute what edits have touched.
    Repair = 0,
    /// Fill the field.
    Fill = 1,
}

/// A field and its state.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct FlowEntry {
    pub(super) handle: FlowField,
    /// Number of the field as a route of crowds.
    pub(super) route: RouteId,
    field: DistanceField,
    /// Generation of the grid that the field is for; 0 while there is none.
    generation: u64,
    /// Whether a unit can stand on the goal, as of a revision of the grid: a large goal may have many impassable cells.
    checked: Option<(u64, Result<(), PathFailure>)>,
    pub(super) status: FlowStatus,
    pub(super) work: Option<Work>,
    /// Whether the fill has not been started yet.
    must_start: bool,
    /// Number of edits in a row that came before the field was filled.
    interruptions: u32,
    /// Whether it was complete, or would be if there had been no edits.
    pub(super) is_held_up: bool,
    /// Work units of starts that are not paid for: starting a large field takes more than a slice.
    owed: u32,
}

impl FlowEntry {
    pub(super) fn new(handle: FlowField, route: RouteId) -> Self {
        Self {
            handle,
            route,
            field: DistanceField::new(),
            generation: 0,
            checked: None,
            status: FlowStatus::Pending,
            work: None,
            must_start: false,
            interruptions: 0,
            is_held_up: false,
            owed: 0,
        }
    }

    /// Returns a copy with a handle of its own.
    pub(super) fn replica(&self) -> Self {
        Self { handle: FlowField(Arc::new(*self.handle.0)), ..self.clone() }
    }

    /// Returns whether a handle exists besides the one kept here.
    pub(super) fn is_held(&self) -> bool {
        Arc::strong_count(&self.handle.0) > 1
    }

    /// Returns the field if it was computed for this generation of the grid.
    pub(super) fn field(&self, generation: u64) -> Option<&DistanceField> {
        (self.generation == generation).then_some(&self.field)
    }

    /// Returns whether its status is about this state of the grid.
    pub(super) fn is_checked_for(&self, grid: &NavGrid) -> bool {
        self.checked.is_some_and(|(revision, _)| revision == grid.revision())
    }

    pub(super) fn bytes(&self) -> usize {
        size_of::<FieldKey>() + size_of::<Self>() + self.field.bytes()
    }

    /// Determines the work that the field needs.
    pub(super) fn plan_work(&mut self, grids: &NavGrids, counters: &mut FlowCounters) {
        let key = *self.handle.0;
        let generation = grids.generation(key.grid);
        if self.generation != generation {
            self.generation = generation;
            self.clear();
        }
        let Some(grid) = grids.get(key.grid) else {
            return self.fail(PathFailure::GridGone(key.grid));
        };
        let revision = grid.revision();
        let known = self.checked.filter(|&(at, _)| at == revision).map(|(_, found)| found);
        let found = known.unwrap_or_else(|| DistanceField::check(grid, key.profile, key.goal));
        if let Err(failure) = found {
            self.fail(failure);
        }
        self.checked = Some((revision, found));
        if found.is_err() {
            return;
        }
        if !self.field.is_stale(grid) {
            return;
        }
        let was_ready = self.status == FlowStatus::Ready;
        self.status = FlowStatus::Pending;
        if self.field.can_repair(grid) {
            // A repairable fill that is under way continues.
            self.work = self.work.or(Some(Work::Repair));
            return;
        }
        let is_started = self.work.is_some() && !self.must_start;
        counters.restarts += u64::from(was_ready || is_started);
        let is_interrupted = is_started && self.work == Some(Work::Fill);
        self.interruptions += u32::from(is_interrupted);
        self.is_held_up |= is_interrupted;
        self.restart();
    }

    /// Does up to `budget` work units of the work needed; returns the number spent.
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
            self.complete();
        } else if self.field.is_stale(grid) || !self.field.is_repair_cheaper() {
            counters.restarts += 1;
            self.restart();
        }
        taken
    }

    fn fill(&mut self, grid: &NavGrid, budget: u32, counters: &mut FlowCounters) -> u32 {
        if self.must_start {
            self.start(grid);
        }
        if self.work.is_none() {
            return 0; // the start failed
        }
        let paid = self.owed.min(budget);
        self.owed -= paid;
        let left = budget - paid;
        let taken = if left > 0 {
            paid + self.field.step(grid, left)
        } else {
            self.field.note_edits(grid); // the grid does not remember them for long
            paid
        };
        if self.field.is_finished() {
            counters.integrations += 1;
            self.complete();
        } else if !self.field.is_repair_cheaper() {
            counters.restarts += 1;
            self.restart();
        }
        taken
    }

    /// Starts the fill.
    fn start(&mut self, grid: &NavGrid) {
        self.must_start = false;
        let FieldKey { profile, goal, .. } = *self.handle.0;
        let started = if self.interruptions < MAX_INTERRUPTIONS {
            self.field.start(grid, profile, goal)
        } else {
            self.field.start_repairable(grid, profile, goal)
        };
        if let Err(failure) = started {
            return self.fail(failure);
        }
        let cells = u64::from(grid.width()) * u64::from(grid.height());
        let goal = goal.intersection(grid.rect());
        let work = cells / CELLS_CLEARED_PER_UNIT + u64::from(goal.width) * u64::from(goal.height);
        self.owed = self.owed.saturating_add(work as u32);
    }

    fn restart(&mut self) {
        self.work = Some(Work::Fill);
        self.must_start = true;
    }

    fn complete(&mut self) {
        self.status = FlowStatus::Ready;
        self.work = None;
        self.interruptions = 0;
        self.is_held_up = true;
    }

    fn fail(&mut self, failure: PathFailure) {
        let status = FlowStatus::Failed(failure);
        if self.status != status {
            self.clear();
            self.status = status;
        }
    }

    /// Resets the entry and releases the memory of the field.
    fn clear(&mut self) {
        let generation = self.generation;
        *self = Self { generation, ..Self::new(self.handle.clone(), self.route) };
    }
}
