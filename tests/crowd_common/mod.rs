//! Watches a crowd from outside: knows positions only, nothing of how they came about.
//!
//! Input: a grid, and for every tick who is where: the cell left, the cell entered, the share done.
//! Output: how often anything happened that must never happen.

use std::collections::BTreeMap;

use bevy_tilepath::prelude::*;

/// One unit in one tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Tells units apart, from tick to tick.
    pub id: u64,
    /// How it moves.
    pub profile: ProfileId,
    /// Cells along a side.
    pub size: i32,
    /// Anchor of the cells that it leaves.
    pub tail: Cell,
    /// Anchor of the cells that it enters; the tail where it stands.
    pub head: Cell,
    /// Share of the step done.
    pub done: f64,
}

impl Seen {
    /// The middle of its block, in cells.
    fn middle(&self) -> (f64, f64) {
        let half = f64::from(self.size - 1) / 2.0;
        let at = |tail: i32, head: i32| f64::from(tail) + f64::from(head - tail) * self.done + half;
        (at(self.tail.x, self.head.x), at(self.tail.y, self.head.y))
    }

    /// The radius of the disc it is drawn as: 0.35 for a unit of one cell.
    fn radius(&self) -> f64 {
        f64::from(self.size) / 2.0 - 0.15
    }

    fn covers(&self, anchor: Cell, cell: Cell) -> bool {
        CellRect::new(anchor, self.size as u32, self.size as u32).contains(cell)
    }

    fn cells(&self, anchor: Cell) -> impl Iterator<Item = Cell> + use<> {
        CellRect::new(anchor, self.size as u32, self.size as u32).cells()
    }

    fn is_diagonal(&self) -> bool {
        self.tail.x != self.head.x && self.tail.y != self.head.y
    }
}

/// How often what must not happen has happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Cells held by two units of which not one leaves it while the other enters it, and discs that
    /// touched at some instant.
    pub overlaps: u64,
    /// Pairs that changed places, or crossed each other in a block of 2 × 2 cells.
    pub swaps: u64,
    /// Diagonal steps past an impassable cell, and steps begun into one.
    pub corner_cuts: u64,
    /// Units that were not where the tick before had left them, or went back on a step.
    pub jumps: u64,
}

impl Faults {
    /// Whether there were none.
    pub fn is_clean(&self) -> bool {
        *self == Self::default()
    }
}

/// Looks on, tick by tick.
#[derive(Default)]
pub struct Checker {
    before: BTreeMap<u64, Seen>,
    /// What was found so far.
    pub faults: Faults,
    /// Smallest gap between two discs so far, in cells.
    pub nearest: f64,
    /// What the first fault was.
    pub first: Option<String>,
}

impl Checker {
    pub fn new() -> Self {
        Self { nearest: f64::INFINITY, ..Self::default() }
    }

    /// Looks at a tick. `moved` are those who were put elsewhere since the one before.
    pub fn look(&mut self, grid: &NavGrid, units: &[Seen], moved: &[u64]) {
        for id in moved {
            self.before.remove(id);
        }
        self.check_steps(grid, units);
        self.check_pairs(units);
        self.before = units.iter().map(|unit| (unit.id, *unit)).collect();
    }

    fn note(&mut self, text: impl FnOnce() -> String) {
        self.first.get_or_insert_with(text);
    }

    fn check_steps(&mut self, grid: &NavGrid, units: &[Seen]) {
        for unit in units {
            let before = self.before.get(&unit.id).copied();
            let is_far =
                (unit.tail.x - unit.head.x).abs().max((unit.tail.y - unit.head.y).abs()) > 1;
            let is_jump = before.is_some_and(|before| {
                let goes_on = unit.tail == before.tail
                    && (unit.head == before.head || before.head == before.tail)
                    && (unit.head != before.head || unit.done >= before.done);
                !goes_on && unit.tail != before.head
            });
            if is_far || is_jump {
                self.faults.jumps += 1;
                self.note(|| format!("jump: {before:?} -> {unit:?}"));
            }
            let has_begun = unit.tail != unit.head
                && before.is_none_or(|b| (b.tail, b.head) != (unit.tail, unit.head));
            if has_begun && before.is_some() && cuts_corner(grid, unit) {
                self.faults.corner_cuts += 1;
                self.note(|| format!("corner: {unit:?}"));
            }
        }
    }

    fn check_pairs(&mut self, units: &[Seen]) {
        let mut cells: BTreeMap<Cell, Vec<usize>> = BTreeMap::new();
        for (at, unit) in units.iter().enumerate() {
            cells.entry(unit.tail).or_default().push(at);
        }
        let largest = units.iter().map(|unit| unit.size).max().unwrap_or(1);
        let reach = largest + 2;
        for (at, unit) in units.iter().enumerate() {
            for dy in -reach..=reach {
                let row = unit.tail.offset(-reach, dy)..=unit.tail.offset(reach, dy);
                for dx in 0..=2 * reach {
                    let cell = row.start().offset(dx, 0);
                    for &other in cells.get(&cell).into_iter().flatten() {
                        if other > at {
                            self.check_pair(unit, &units[other]);
                        }
                    }
                }
            }
        }
    }

    fn check_pair(&mut self, a: &Seen, b: &Seen) {
        let shares = |cell: Cell| {
            let holds = |unit: &Seen| unit.covers(unit.tail, cell) || unit.covers(unit.head, cell);
            let leaves =
                |unit: &Seen| unit.covers(unit.tail, cell) && !unit.covers(unit.head, cell);
            let enters =
                |unit: &Seen| !unit.covers(unit.tail, cell) && unit.covers(unit.head, cell);
            holds(b) && !(leaves(a) && enters(b) || leaves(b) && enters(a))
        };
        let is_shared = a.cells(a.tail).chain(a.cells(a.head)).any(shares);
        let gap = self.nearest_approach(a, b) - a.radius() - b.radius();
        self.nearest = self.nearest.min(gap);
        if is_shared || gap < 0.0 {
            self.faults.overlaps += 1;
            let before = [a, b].map(|unit| self.before.get(&unit.id).copied());
            self.note(|| format!("overlap {gap}: {a:?} {b:?}, before {before:?}"));
        }
        let is_swap = a.tail == b.head && b.tail == a.head && a.tail != a.head;
        let middle = |u: &Seen| (u.tail.x + u.head.x, u.tail.y + u.head.y);
        let crosses =
            a.is_diagonal() && b.is_diagonal() && a.size == b.size && middle(a) == middle(b);
        if is_swap || crosses {
            self.faults.swaps += 1;
            self.note(|| format!("swap: {a:?} {b:?}"));
        }
    }

    /// How near two middles came since the tick before, each on a straight line.
    fn nearest_approach(&self, a: &Seen, b: &Seen) -> f64 {
        let are_known = self.before.contains_key(&a.id) && self.before.contains_key(&b.id);
        let known = |unit: &Seen| self.before.get(&unit.id).filter(|_| are_known).copied();
        let from = |unit: &Seen| known(unit).unwrap_or(*unit).middle();
        let (a0, a1, b0, b1) = (from(a), a.middle(), from(b), b.middle());
        let start = (a0.0 - b0.0, a0.1 - b0.1);
        let end = (a1.0 - b1.0, a1.1 - b1.1);
        let way = (end.0 - start.0, end.1 - start.1);
        let length = way.0 * way.0 + way.1 * way.1;
        let share = if length > 0.0 { -(start.0 * way.0 + start.1 * way.1) / length } else { 0.0 };
        let share = share.clamp(0.0, 1.0);
        (start.0 + way.0 * share).hypot(start.1 + way.1 * share)
    }
}

/// Whether a step that has just begun passes an impassable cell, or leads into one. Who stands on
/// impassable ground already (it was built over) may leave it straight.
fn cuts_corner(grid: &NavGrid, unit: &Seen) -> bool {
    let free = |x, y| grid.cost(unit.profile, Cell::new(x, y)) > 0;
    let (tail, head) = (unit.tail, unit.head);
    let is_built_over = !free(tail.x, tail.y);
    if unit.is_diagonal() {
        !(free(tail.x, tail.y)
            && free(head.x, head.y)
            && free(tail.x, head.y)
            && free(head.x, tail.y))
    } else {
        !is_built_over && !free(head.x, head.y)
    }
}
