//! Searches that may end on one of many cells: they run backwards.
//!
//! Input: the goals of a query. Output: the aim, and the *ends*: the cells at which the search begins,
//! because ways may end there.
//!
//! All ends are opened at no cost, and the aim is the unit's start, which is a single cell: so the
//! estimate is exact over open ground, as it is from a start to a goal. It is right because a step
//! costs the same and is legal both ways. The first way that comes to the start is the cheapest to any
//! end. Where steps are left out or jumped over, that goes by the step before alone, whichever end the
//! way began at; an end, that has none before it, is followed up in all directions.
//!
//! Ends come up one by one, nearest to the start first, and each is opened only when the one before it
//! is expanded: nothing can be worth expanding before the nearest of those that are left. So the far
//! ones of a hundred goals take no node, and of a large rectangle there is a number for each row and
//! not one for each cell. Whether the goal is seen from an end is looked up when its turn comes.
//!
//! Invariants: an end that is not opened is farther from the start than f of whatever is expanded. So
//! its node, if there is one, is not closed when it is opened.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Aim, Search, jump_nodes::NO_NODE};
use crate::nav::{
    goal::{Approach, Goal, Zone},
    grid::NavGrid,
    layer::Layer,
    node_pool::NodePool,
    open_list::{NodeId, OpenList},
    query::{PathFailure, Reach},
    terrain::ProfileId,
};

/// So many rows of a goal take as long to lay out as an expansion, and so many cells of a line of sight
/// to look over (estimated: about 10 and 5 ns each).
const ROWS_PER_UNIT: u32 = 4;
const SEEN_PER_UNIT: u32 = 8;
/// And so many goals that are just a cell.
const CELLS_PER_UNIT: u32 = 4;

/// Cells side by side in a row that come up one after the other, ever farther from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    /// Estimate from the first of them to the start.
    h: u64,
    y: u32,
    /// The first and the last, which may lie to the left of it.
    x: u32,
    last: u32,
    /// Which zone they belong to; [`NO_ZONE`] for a goal that is just this cell.
    zone: u32,
}

const NO_ZONE: u32 = u32::MAX;

/// A cell on which the way may end, and the estimate from there to the start.
#[derive(Clone, Copy, Debug)]
struct End {
    h: u64,
    x: u32,
    y: u32,
}

/// The ends of a search that runs backwards; see the [module](self).
#[derive(Debug)]
pub(super) struct Ends {
    zones: Vec<Zone>,
    /// Cells that have not come up yet.
    runs: BinaryHeap<Reverse<Run>>,
    /// The nearest of those that are ends, once it has been looked for.
    next: Option<End>,
    /// The end opened last, until it is expanded.
    head: NodeId,
    /// Where no such end is open, the estimate of the next: it is opened when the open list can hold
    /// it.
    far: u64,
}

impl Default for Ends {
    fn default() -> Self {
        let (zones, runs) = (Vec::new(), BinaryHeap::new());
        Self { zones, runs, next: None, head: NO_NODE, far: u64::MAX }
    }
}

impl Ends {
    /// Has no more ends.
    pub(super) fn clear(&mut self) {
        self.zones.clear();
        self.runs.clear();
        self.next = None;
        self.head = NO_NODE;
        self.far = u64::MAX;
    }

    pub(super) fn bytes(&self) -> usize {
        self.zones.capacity() * size_of::<Zone>() + self.runs.capacity() * size_of::<Run>()
    }

    /// Whether another end has to be opened after the node `id` was taken, as the open list can hold
    /// an f of `reach` now.
    #[inline(always)]
    pub(super) const fn is_due(&self, id: NodeId, reach: u64) -> bool {
        self.head == id || self.far <= reach
    }

    /// Sorts goals into single cells and zones; says whether `aim`, the start, is one of the cells.
    fn sort<'a>(
        &mut self,
        (grid, layer): (&NavGrid, &Layer),
        profile: ProfileId,
        goals: impl Iterator<Item = &'a Goal>,
        aim: &Aim,
    ) -> bool {
        let mut runs = std::mem::take(&mut self.runs).into_vec();
        runs.clear();
        let mut is_here = false;
        for goal in goals {
            if goal.approach != Approach::Onto {
                self.zones.extend(Zone::of(grid, profile, goal));
            } else if let Some((x, y)) = grid.local(goal.cell) {
                is_here |= (x, y) == (aim.x, aim.y);
                let h = aim.estimate(layer, x, y);
                runs.push(Reverse(Run { h, y, x, last: x, zone: NO_ZONE }));
            }
        }
        self.runs = BinaryHeap::from(runs);
        is_here
    }

    /// Lays out the entrances of all zones; returns what that took. `aim` is the start.
    fn lay_out(&mut self, layer: &Layer, aim: &Aim) -> u32 {
        if self.zones.is_empty() {
            return self.runs.len() as u32 / CELLS_PER_UNIT;
        }
        let mut runs = std::mem::take(&mut self.runs).into_vec();
        for (zone, number) in self.zones.iter().zip(0..) {
            let mut add = |y, x, last| {
                let h = aim.estimate(layer, x, y);
                runs.push(Reverse(Run { h, y, x, last, zone: number }));
            };
            zone.entrances(layer.size(), |y, (first, last)| {
                // Away from the start's column.
                if first < aim.x {
                    add(y, last.min(aim.x - 1), first);
                }
                if last >= aim.x {
                    add(y, first.max(aim.x), last);
                }
            });
        }
        self.runs = BinaryHeap::from(runs);
        (self.zones.len() as u32).saturating_add(self.runs.len() as u32 / ROWS_PER_UNIT)
    }

    /// Sees to it that the nearest end that has not come up is known, if there is one; returns what
    /// that took. `aim` is the start.
    fn look_ahead(&mut self, grid: &NavGrid, layer: &Layer, aim: &Aim) -> u32 {
        let island = layer.island(aim.x, aim.y);
        let mut price = 0_u32;
        while self.next.is_none()
            && let Some(Reverse(run)) = self.runs.pop()
        {
            let Run { h, y, x, last, .. } = run;
            if x != last {
                let x = if x < last { x + 1 } else { x - 1 };
                let h = aim.estimate(layer, x, y);
                self.runs.push(Reverse(Run { h, x, ..run }));
            }
            price = price.saturating_add(1);
            if layer.island(x, y) != island {
                continue;
            }
            // Just a cell is seen from itself.
            let is_seen = self.zones.get(run.zone as usize).is_none_or(|zone| {
                if let Some(cells) = zone.looks_over(x, y) {
                    price = price.saturating_add(1 + cells / SEEN_PER_UNIT);
                }
                zone.sees(grid, x, y)
            });
            if is_seen {
                self.next = Some(End { h, x, y });
            }
        }
        price
    }
}

impl<L: OpenList> Search<L> {
    /// What a search runs towards that may end at any of several goals, or on any cell near enough to
    /// one: the query's own and `goals`. Makes the ends ready where it runs backwards.
    pub(super) fn aim_at_any(
        &mut self,
        grid: &NavGrid,
        layer: &Layer,
        goals: &[Goal],
    ) -> Result<Aim, PathFailure> {
        let (query, (x, y)) = (self.query, self.origin);
        let own = query.goal();
        let all = std::iter::once(&own).chain(goals);
        self.ends.clear();
        let here = Aim::at(layer, &query, (x, y));
        let read = goals.len() as u32 / CELLS_PER_UNIT;
        let is_here = self.ends.sort((grid, layer), query.profile, all, &here);
        if is_here || self.ends.zones.iter().any(|zone| zone.admits(grid, layer, x, y)) {
            let price = read.saturating_add(self.ends.zones.len() as u32);
            return Ok(Aim { price, ..here });
        }
        let laid_out = self.ends.lay_out(layer, &here);
        let price = laid_out.saturating_add(self.ends.look_ahead(grid, layer, &here));
        self.aim.price = price; // also where it fails
        match self.ends.next {
            // The only one: an ordinary search.
            Some(end) if self.ends.runs.is_empty() => {
                self.ends.clear();
                Ok(Aim { price, ..Aim::at(layer, &query, (end.x, end.y)) })
            }
            Some(_) => Ok(Aim { price, is_backward: true, ..here }),
            None => self.aim_without_ends(grid, layer, goals, price),
        }
    }

    /// The same where no cell near enough can be reached.
    fn aim_without_ends(
        &self,
        grid: &NavGrid,
        layer: &Layer,
        goals: &[Goal],
        price: u32,
    ) -> Result<Aim, PathFailure> {
        let query = &self.query;
        let own = query.goal();
        let all = std::iter::once(&own).chain(goals);
        let zones: Vec<Zone> = all.filter_map(|goal| Zone::of(grid, query.profile, goal)).collect();
        let goal_cell = zones.first().ok_or(PathFailure::GoalOutOfBounds(query.goal))?.goal_cell();
        if query.reach == Reach::Nearest {
            let island = layer.island(self.origin.0, self.origin.1).unwrap_or(0);
            let aim = Aim::near(layer, query, goal_cell, island);
            return Ok(Aim { price: price.saturating_add(aim.price), ..aim });
        }
        let is_end =
            |zone: &Zone| zone.cells(layer.size()).any(|(x, y)| zone.admits(grid, layer, x, y));
        if zones.iter().any(is_end) {
            Err(PathFailure::NoWay { start: query.start, goal: query.goal })
        } else {
            Err(PathFailure::GoalImpassable(query.goal))
        }
    }

    /// Opens ends though nothing else is open: the nearest that is not opened. Returns what that took;
    /// `None` where there is none, or none that can be counted.
    #[cold]
    pub(super) fn open_end_alone(
        &mut self,
        grid: &NavGrid,
        layer: &Layer,
        pool: &NodePool,
    ) -> Option<u32> {
        let mut price = 0_u32;
        loop {
            price = price.saturating_add(self.ends.look_ahead(grid, layer, &self.aim));
            let f = self.ends.next?.h;
            self.open.reset(u32::try_from(f).unwrap_or(u32::MAX), self.aim.headroom);
            price = price.saturating_add(self.open_next_end(grid, layer, pool, f));
            // It may have been opened before, for another goal.
            if self.ends.head != NO_NODE {
                return Some(price);
            }
        }
    }

    /// Opens the nearest end that is not opened, if the open list can hold it after a node of estimate
    /// `f`; returns what that took.
    #[cold]
    pub(super) fn open_next_end(
        &mut self,
        grid: &NavGrid,
        layer: &Layer,
        pool: &NodePool,
        f: u64,
    ) -> u32 {
        self.ends.head = NO_NODE;
        self.ends.far = u64::MAX;
        let headroom = self.aim.headroom;
        let mut price = 0_u32;
        loop {
            price = price.saturating_add(self.ends.look_ahead(grid, layer, &self.aim));
            let Some(End { h, x, y }) = self.ends.next else {
                return price;
            };
            if h > f + u64::from(headroom) {
                self.ends.far = h;
                return price;
            }
            if h > u64::from(u32::MAX - headroom) {
                // All others are as far, or farther.
                self.aim.overflow = true;
                self.ends.clear();
                return price;
            }
            self.ends.next = None;
            if let Some(id) = self.open_at((x, y), h as u32, pool) {
                self.ends.head = id;
                return price;
            }
        }
    }
}
