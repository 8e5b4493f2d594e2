//! Searches that may end on one of many cells: they run backwards.
//!
//! Input: the goals of a query. Output: the target, and the *goal cells*: the cells on which a path may end
//! and at which the search starts.
//!
//! All goal cells are opened at cost 0, and the target is the start of the path, a single cell: so the
//! heuristic is exact over open terrain, as it is from a start to a goal. The reversal is correct because a
//! step costs the same and is legal in both directions. The first path that reaches the start is the cheapest
//! to any goal cell. Pruning and jumping depend only on the step before, whichever goal cell the path began
//! at; a goal cell has no step before it and is expanded in all directions.
//!
//! Goal cells are produced one by one, that of the lowest heuristic first, and each is opened only when the one
//! before it is expanded: until then, none of the remaining ones can be better than the nodes expanded. So of a hundred goals
//! the far ones take no nodes, and a large rectangle takes one entry per row instead of one per cell. Cells wait in the order
//! of their distance from the start over open terrain. Landmarks are read only for the next cell; if they give a higher
//! bound, that cell goes back to wait. Its line of sight to the goal is tested last.
//!
//! Invariant: the heuristic of a goal cell that is not yet opened is no lower than the f of any expanded node.
//! So its node, if there is one, is not closed when it is opened.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Phase, Search, SearchTarget, World, jump_nodes::NO_NODE};
use crate::nav::{
    Goal, Key, Layer, NodeId, NodePool, OpenList, PathFailure, ProfileId, Reach, goal::GoalZone,
    map::landmarks::Estimate,
};

/// In the time of one expansion, so many rows of a goal or goals of one cell can be added, and so many cells of a line of sight
/// can be checked (estimated: about 10 and 5 ns each).
const ROWS_PER_EXPANSION: u32 = 4;
const SIGHT_CELLS_PER_EXPANSION: u32 = 8;
/// In the time of one expansion, the passability of so many words of 64 cells can be read (estimated: 2 ns each).
const WORDS_PER_EXPANSION: u32 = 16;
/// Work to look for the first goal cell before the search runs, in expansions: if thousands of the nearest cells do not see
/// the goal, the steps of the search continue.
const WORK_AT_START: u32 = 256;

/// Adjacent cells of a row, produced one after the other with increasing distance from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct RowRun {
    /// Lower bound on the cost from the first of them to the start.
    h: u64,
    y: u32,
    /// The first and the last column; the last may lie to the left of the first.
    x: u32,
    last: u32,
    /// Index of the zone to which they belong; [`NO_ZONE`] for a goal of a single cell. [`SHARP`] is set if the run is a
    /// single cell and `h` its heuristic with landmarks.
    zone: u32,
}

const SHARP: u32 = 1 << 31;
const NO_ZONE: u32 = SHARP - 1;

/// A cell on which the path may end, and the heuristic from there to the start.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct GoalCell {
    h: u64,
    x: u32,
    y: u32,
}

/// The goal cells of a backward search; see the [module](self).
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct GoalCells {
    zones: Vec<GoalZone>,
    /// Cells that have not been produced yet.
    runs: BinaryHeap<Reverse<RowRun>>,
    /// The nearest goal cell that is not opened, once it has been found.
    nearest: Option<GoalCell>,
    /// The goal cell opened last, until it is expanded.
    last_opened: NodeId,
    /// The heuristic of the next goal cell, where it could not be opened because the open list could not hold
    /// its f yet; `u64::MAX` otherwise.
    pending_h: u64,
    /// The cell of the first goal that lies on the grid.
    first: Option<(u32, u32)>,
    /// Whether any goal cell was found that can be reached from the start, and any that cannot.
    is_any_reachable: bool,
    is_any_unreachable: bool,
}

impl Default for GoalCells {
    fn default() -> Self {
        Self {
            zones: Vec::new(),
            runs: BinaryHeap::new(),
            nearest: None,
            last_opened: NO_NODE,
            pending_h: u64::MAX,
            first: None,
            is_any_reachable: false,
            is_any_unreachable: false,
        }
    }
}

impl GoalCells {
    /// Lower bound on the heuristic of all goal cells.
    pub(super) fn lowest_h(&self) -> u64 {
        self.runs.peek().map_or(0, |Reverse(run)| run.h)
    }

    /// Removes all goal cells.
    pub(super) fn clear(&mut self) {
        self.zones.clear();
        self.runs.clear();
        (self.nearest, self.last_opened, self.pending_h) = (None, NO_NODE, u64::MAX);
        (self.first, self.is_any_reachable, self.is_any_unreachable) = (None, false, false);
    }

    pub(super) fn bytes(&self) -> usize {
        self.zones.capacity() * size_of::<GoalZone>() + self.runs.capacity() * size_of::<RowRun>()
    }

    /// Whether another goal cell has to be opened after the node `id` was taken, if the open list can now
    /// hold an f of up to `max_f`.
    #[inline(always)]
    pub(super) const fn needs_next(&self, id: NodeId, max_f: u64) -> bool {
        self.last_opened == id || self.pending_h <= max_f
    }

    /// Sorts goals into single cells and zones; returns whether `target`, the start, is one of the cells.
    fn add_goals<'a>(
        &mut self,
        World { grid, layer, .. }: World,
        profile: ProfileId,
        goals: impl Iterator<Item = &'a Goal>,
        target: &SearchTarget,
    ) -> bool {
        let mut is_start = false;
        for goal in goals {
            if !goal.is_single_cell() {
                let zone = GoalZone::of(grid, profile, goal);
                self.first = self.first.or(zone.as_ref().map(GoalZone::goal_cell));
                self.zones.extend(zone);
            } else if let Some((x, y)) = grid.local(goal.cell()) {
                self.first = self.first.or(Some((x, y)));
                is_start |= (x, y) == (target.x, target.y);
                let h = target.heuristic(layer, x, y);
                self.runs.push(Reverse(RowRun { h, y, x, last: x, zone: NO_ZONE }));
            }
        }
        is_start
    }

    /// Adds the entrances of all zones; returns the work that took. `target` is the start.
    fn add_entrances(&mut self, layer: &Layer, target: &SearchTarget) -> u32 {
        for (zone, number) in self.zones.iter().zip(0..) {
            let mut add = |y, x, last| {
                let h = target.heuristic(layer, x, y);
                self.runs.push(Reverse(RowRun { h, y, x, last, zone: number }));
            };
            zone.entrances(layer.size(), |y, (first, last)| {
                // Runs lead away from the start's column.
                if first < target.x {
                    add(y, last.min(target.x - 1), first);
                }
                if last >= target.x {
                    add(y, first.max(target.x), last);
                }
            });
        }
        (self.zones.len() as u32).saturating_add(self.runs.len() as u32 / ROWS_PER_EXPANSION)
    }

    /// Finds the nearest goal cell not produced yet, unless it is known already, none is left, or `budget`
    /// runs out; returns the work. `target` is the start, and `estimate` the bound from landmarks.
    fn find_nearest(
        &mut self,
        World { grid, layer, .. }: World,
        (target, estimate): (&SearchTarget, Option<&Estimate>),
        budget: u32,
    ) -> u32 {
        let region = layer.region(target.x, target.y);
        let mut work = 0_u32;
        while self.nearest.is_none()
            && work < budget
            && let Some(Reverse(run)) = self.runs.pop()
        {
            let RowRun { h, y, x, last, .. } = run;
            if x != last {
                let x = if x < last { x + 1 } else { x - 1 };
                let h = target.heuristic(layer, x, y);
                self.runs.push(Reverse(RowRun { h, x, ..run }));
            }
            work = work.saturating_add(1);
            let is_reachable = layer.region(x, y) == region;
            let is_irrelevant = || self.is_any_reachable || self.is_any_unreachable;
            if !is_reachable && (is_irrelevant() || !layer.is_passable(x, y)) {
                continue;
            }
            let told = estimate
                .filter(|_| is_reachable && run.zone < SHARP)
                .map(|estimate| estimate.units(x, y));
            if let Some(told) = told.filter(|&told| told > h) {
                // The cell goes back to wait, as others may be nearer.
                let zone = run.zone | SHARP;
                self.runs.push(Reverse(RowRun { h: told, y, x, last: x, zone }));
                continue;
            }
            // A single cell needs no line of sight.
            let is_seen = self.zones.get((run.zone & !SHARP) as usize).is_none_or(|zone| {
                if let Some(cells) = zone.sight_distance(x, y) {
                    work = work.saturating_add(1 + cells / SIGHT_CELLS_PER_EXPANSION);
                }
                zone.sees_goal(grid, x, y)
            });
            if is_seen && is_reachable {
                self.nearest = Some(GoalCell { h, x, y });
            }
            self.is_any_reachable |= is_seen && is_reachable;
            self.is_any_unreachable |= is_seen && !is_reachable;
        }
        work
    }
}

impl<L: OpenList> Search<L> {
    /// Returns the target of a search that may end at any of several goals (the query's own and `goals`), or
    /// on any cell near enough to one. Prepares the goal cells if the search runs backwards.
    pub(super) fn target_any(
        &mut self,
        world: World,
        goals: &[Goal],
    ) -> Result<SearchTarget, PathFailure> {
        let World { grid, layer, .. } = world;
        let (query, (x, y)) = (self.query, self.origin);
        let all = std::iter::once(&query.goal).chain(goals);
        self.goal_cells.clear();
        let start = SearchTarget::at(layer, &query, (x, y));
        let is_start = self.goal_cells.add_goals(world, query.profile, all, &start);
        if is_start || self.goal_cells.zones.iter().any(|zone| zone.admits(grid, layer, x, y)) {
            let goal_work = goals.len() as u32 / ROWS_PER_EXPANSION;
            let work = goal_work.saturating_add(self.goal_cells.zones.len() as u32);
            return Ok(SearchTarget { work, ..start });
        }
        let entrance_work = self.goal_cells.add_entrances(layer, &start);
        self.look_up_landmarks_backwards(&start);
        let guides = (&start, self.estimate.as_ref());
        let nearest_work = self.goal_cells.find_nearest(world, guides, WORK_AT_START);
        let work = entrance_work.saturating_add(nearest_work);
        self.target.work = work; // even if it fails
        match (self.goal_cells.nearest, self.goal_cells.runs.is_empty()) {
            // There is only one goal cell: an ordinary search.
            (Some(goal), true) => {
                self.goal_cells.clear();
                Ok(SearchTarget { work, ..SearchTarget::at(layer, &query, (goal.x, goal.y)) })
            }
            (None, true) => {
                let (target, more_work) = self.target_without_goal_cells(world);
                self.target.work = work.saturating_add(more_work);
                target.map(|target| SearchTarget { work: self.target.work, ..target })
            }
            (_, false) => Ok(SearchTarget { work, is_backward: true, ..start }),
        }
    }

    /// Returns the target after all cells near enough were looked at and none can be reached; and the work.
    fn target_without_goal_cells(
        &self,
        World { layer, .. }: World,
    ) -> (Result<SearchTarget, PathFailure>, u32) {
        let (query, cells) = (&self.query, &self.goal_cells);
        let goal = query.goal.cell();
        let Some(goal_cell) = cells.first else {
            return (Err(PathFailure::GoalOutOfBounds(goal)), 0);
        };
        if query.reach == Reach::Nearest {
            let region = layer.region(self.origin.0, self.origin.1).unwrap_or(0);
            let target = SearchTarget::near(layer, query, goal_cell, region);
            return (Ok(target), target.work);
        }
        // In zones that need no line of sight, only the entrances were looked at.
        let mut words = 0;
        let mut has_goal_cell =
            |zone: &GoalZone| !zone.needs_sight() && zone.is_any_passable(layer, &mut words);
        let failure = if cells.is_any_unreachable || cells.zones.iter().any(&mut has_goal_cell) {
            PathFailure::NoPath { start: query.start, goal }
        } else {
            PathFailure::GoalImpassable(goal)
        };
        (Err(failure), words / WORDS_PER_EXPANSION)
    }

    /// Ends a search that has nothing left to expand. Where no goal cell was found, it may go on to the nearest cell instead.
    /// Returns the work that took.
    #[cold]
    pub(super) fn end_exhausted(&mut self, world: World) -> u32 {
        if !self.target.is_backward || self.target.overflow || self.goal_cells.is_any_reachable {
            self.phase = Phase::Failed(self.exhausted());
            return 0;
        }
        let (target, work) = self.target_without_goal_cells(world);
        match target {
            Ok(target) => {
                self.clear_nodes(world.pool);
                self.target = target;
                self.open_origin(world.layer, world.pool);
                work.max(1)
            }
            Err(failure) => {
                self.phase = Phase::Failed(failure);
                work
            }
        }
    }

    /// Opens the goal cell that was found at the start, if one was: the work was counted with the target. Otherwise the steps
    /// keep looking.
    pub(super) fn open_first_goal_cell(&mut self, world: World) {
        if self.goal_cells.nearest.is_some() {
            self.open_goal_cell_when_empty(world, u32::MAX);
        } else {
            self.open.reset(0, self.target.headroom);
        }
    }

    /// Opens the nearest unopened goal cell when the open list is empty, if `budget` suffices to find it.
    /// Returns the work that took; `None` where there is none, or none whose cost fits into 32 bits.
    #[cold]
    pub(super) fn open_goal_cell_when_empty(&mut self, world: World, budget: u32) -> Option<u32> {
        let mut work = 0_u32;
        // The nearest cell may have been opened before, for another goal.
        while work < budget && self.goal_cells.last_opened == NO_NODE {
            let left = budget - work;
            let guides = (&self.target, self.estimate.as_ref());
            work += self.goal_cells.find_nearest(world, guides, left);
            let Some(GoalCell { h, .. }) = self.goal_cells.nearest else {
                return (!self.goal_cells.runs.is_empty()).then_some(work);
            };
            self.open.reset(u32::try_from(h).unwrap_or(u32::MAX), self.target.headroom);
            self.open_nearest_goal_cell(world.pool, h);
        }
        Some(work)
    }

    /// Opens the nearest unopened goal cell, if the open list can hold it after a node with the given `f` and
    /// `budget` suffices to find it; returns the work that took.
    #[cold]
    pub(super) fn open_next_goal_cell(&mut self, world: World, f: u64, budget: u32) -> u32 {
        let mut work = 0_u32;
        while work < budget {
            let left = budget - work;
            let guides = (&self.target, self.estimate.as_ref());
            work += self.goal_cells.find_nearest(world, guides, left);
            let is_found = self.goal_cells.nearest.is_some() || self.goal_cells.runs.is_empty();
            if is_found && self.open_nearest_goal_cell(world.pool, f) {
                break;
            }
        }
        work
    }

    /// Opens the nearest goal cell, if one is known and the open list can hold it after a node with the given
    /// `f`. Returns whether no other goal cell has to be found before that node is expanded.
    fn open_nearest_goal_cell(&mut self, pool: &NodePool, f: u64) -> bool {
        let headroom = self.target.headroom;
        let (mut last_opened, mut pending_h) = (NO_NODE, u64::MAX);
        if let Some(GoalCell { h, x, y }) = self.goal_cells.nearest {
            if h > f + u64::from(headroom) {
                pending_h = h;
            } else if h > u64::from(u32::MAX - headroom) {
                // All others are at least as far away.
                self.target.overflow = true;
                self.goal_cells.clear();
            } else {
                self.goal_cells.nearest = None;
                match self.open_root((x, y), h as u32, pool) {
                    Some(id) => last_opened = id,
                    None => return false,
                }
            }
        }
        (self.goal_cells.last_opened, self.goal_cells.pending_h) = (last_opened, pending_h);
        true
    }

    /// Puts back a node that was taken with the given `f`: it will be taken next.
    #[cold]
    pub(super) fn put_back(&mut self, id: NodeId, f: u64) {
        self.immediate = Some((id, Key { f: f as u32, h: 0 }));
    }
}
