//! Checks a crowd from outside: reads positions only, independently of the crowd's own code.
//!
//! Input: a grid, and every unit in every tick: the cell it leaves, the cell it enters, its
//! progress. Output: the number of faults: overlaps, swaps, corner cuts and jumps.

use std::collections::BTreeMap;

use bevy_tilepath::{nav::crowd::SUBTICKS_PER_TICK, prelude::*};

/// One unit in one tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Identifies the unit from tick to tick.
    pub id: u64,
    /// Its movement profile.
    pub profile: ProfileId,
    /// Cells along a side.
    pub size: i32,
    /// Anchor of the cells that it leaves.
    pub tail: Cell,
    /// Anchor of the cells that it enters; equal to the tail if it stands.
    pub head: Cell,
    /// Ticks since the step began, and ticks that it takes. No step ends before the tick does.
    pub gone: f64,
    pub takes: f64,
}

/// A position in cells.
type Point = (f64, f64);

/// A unit's motion during a tick: times from 0 to 1 and positions, connected by straight lines.
struct Track {
    points: [(f64, Point); 4],
}

impl Track {
    /// Returns its position at a time.
    fn at(&self, moment: f64) -> Point {
        let is_around = |pair: &&[(f64, Point)]| moment <= pair[1].0;
        let pair = self.points.windows(2).find(is_around).unwrap_or(&self.points[2..]);
        let ((from, a), (to, b)) = (pair[0], pair[1]);
        let share = if to > from { ((moment - from) / (to - from)).clamp(0.0, 1.0) } else { 1.0 };
        (a.0 + (b.0 - a.0) * share, a.1 + (b.1 - a.1) * share)
    }
}

/// Returns where a point in columns and rows lies: on hexagons rows are shifted by half a cell each, and closer together.
fn in_plane(topology: Topology, (x, y): Point) -> Point {
    match topology {
        Topology::Square => (x, y),
        Topology::Hexagonal => (x + y / 2.0, y * 0.75_f64.sqrt()),
    }
}

/// What a unit has done since the previous tick.
struct Motion {
    /// `None` if it was teleported.
    track: Option<Track>,
    middle: Point,
    /// Cells walked.
    walked: f64,
}

impl Motion {
    fn of(topology: Topology, unit: &Seen, before: Option<&Seen>) -> Self {
        let mut track = before.and_then(|before| unit.track(topology, before));
        for (_, point) in track.iter_mut().flat_map(|track| &mut track.points) {
            *point = in_plane(topology, *point);
        }
        let points = track.as_ref().map(|track| &track.points[..]).unwrap_or_default();
        let walked = points.windows(2).map(|pair| distance(pair[0].1, pair[1].1)).sum();
        Self { track, middle: in_plane(topology, unit.middle(topology)), walked }
    }

    /// Returns the smallest distance to the center of another unit since the previous tick, or their present distance if
    /// one of the two was teleported. For two units that stay farther apart than `most`, it may return any distance above that.
    fn nearest_approach(&self, other: &Self, most: f64) -> f64 {
        let apart = distance(self.middle, other.middle);
        let (Some(first), Some(second)) = (&self.track, &other.track) else {
            return apart;
        };
        if apart - self.walked - other.walked > most {
            return apart;
        }
        let mut moments = [0.0; 8];
        let known = first.points.iter().chain(&second.points).map(|(moment, _)| *moment);
        moments.iter_mut().zip(known).for_each(|(moment, known)| *moment = known);
        moments.sort_unstable_by(f64::total_cmp);
        let apart = |moment: f64| {
            let (a, b) = (first.at(moment), second.at(moment));
            (a.0 - b.0, a.1 - b.1)
        };
        let pairs = moments.windows(2);
        pairs.map(|pair| nearest_to_origin(apart(pair[0]), apart(pair[1]))).fold(f64::MAX, f64::min)
    }
}

impl Seen {
    /// Creates the record from a crowd's progress values, see [`SUBTICKS_PER_TICK`].
    pub fn new(
        (id, profile, size): (u64, ProfileId, u32),
        (tail, head): (Cell, Cell),
        (done, needed): (u64, u64),
    ) -> Self {
        let ticks = |parts: u64| parts as f64 / SUBTICKS_PER_TICK as f64;
        let (gone, takes) = (ticks(done), ticks(needed));
        Self { id, profile, size: size as i32, tail, head, gone, takes }
    }

    /// Returns the middle of the cells that it covers at `anchor`.
    fn middle_on(&self, topology: Topology, anchor: Cell) -> Point {
        let half = match topology {
            Topology::Square => f64::from(self.size - 1) / 2.0,
            Topology::Hexagonal => 0.0,
        };
        (f64::from(anchor.x) + half, f64::from(anchor.y) + half)
    }

    /// Returns its middle, in cells.
    fn middle(&self, topology: Topology) -> Point {
        let [(ax, ay), (bx, by)] = [self.tail, self.head].map(|at| self.middle_on(topology, at));
        let share = if self.takes > 0.0 { self.gone / self.takes } else { 0.0 };
        (ax + (bx - ax) * share, ay + (by - ay) * share)
    }

    fn is_standing(&self) -> bool {
        self.tail == self.head
    }

    /// Returns its motion since the previous tick: to the end of the previous step, a stop there, and
    /// along the present step. `None` if it was teleported.
    fn track(&self, topology: Topology, before: &Self) -> Option<Track> {
        let (start, end) = (before.middle(topology), self.middle(topology));
        if (before.tail, before.head) == (self.tail, self.head) {
            return Some(Track { points: [(0.0, start), (0.0, start), (1.0, end), (1.0, end)] });
        }
        let arrival = if before.is_standing() { 0.0 } else { before.takes - before.gone };
        if before.head != self.tail || arrival > 1.0 {
            return None;
        }
        let departure = if self.is_standing() { 1.0 } else { 1.0 - self.gone };
        let (corner, departure) =
            (self.middle_on(topology, self.tail), departure.clamp(arrival, 1.0));
        Some(Track { points: [(0.0, start), (arrival, corner), (departure, corner), (1.0, end)] })
    }

    /// Returns the radius of its collision disc: 0.35 for a unit of one cell, 0.43 on hexagons.
    fn radius(&self, topology: Topology) -> f64 {
        let size = f64::from(self.size);
        match topology {
            Topology::Square => size / 2.0 - 0.15,
            Topology::Hexagonal => (size - 0.5) * 0.75_f64.sqrt() - 0.003,
        }
    }

    fn covers(&self, topology: Topology, anchor: Cell, cell: Cell) -> bool {
        match topology {
            Topology::Square => self.square(anchor).contains(cell),
            Topology::Hexagonal => anchor.hexagonal_distance(cell) < self.size as u32,
        }
    }

    fn cells(&self, topology: Topology, anchor: Cell) -> impl Iterator<Item = Cell> + '_ {
        let around = match topology {
            Topology::Square => self.square(anchor),
            Topology::Hexagonal => {
                let reach = self.size - 1;
                let side = 2 * reach as u32 + 1;
                CellRect::new(anchor.offset(-reach, -reach), side, side)
            }
        };
        around.cells().filter(move |&cell| self.covers(topology, anchor, cell))
    }

    const fn square(&self, anchor: Cell) -> CellRect {
        CellRect::new(anchor, self.size as u32, self.size as u32)
    }

    /// Returns whether it makes a step past corners.
    fn is_diagonal(&self, topology: Topology) -> bool {
        topology == Topology::Square && self.tail.x != self.head.x && self.tail.y != self.head.y
    }

    /// Returns whether its step leads farther than to a neighbor.
    fn is_far(&self, topology: Topology) -> bool {
        let (dx, dy) = (self.head.x - self.tail.x, self.head.y - self.tail.y);
        let is_neighbor = topology == Topology::Square || dx != dy || dx == 0;
        dx.abs().max(dy.abs()) > 1 || !is_neighbor
    }
}

/// Numbers of faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Pairs that hold a common cell, unless one leaves it and the other enters it, and pairs of
    /// discs that touched at some time.
    pub overlaps: u64,
    /// Pairs that exchanged cells, or crossed each other in a block of 2 × 2 cells.
    pub swaps: u64,
    /// Diagonal steps past an impassable cell or the end of a shut edge, steps begun into such a cell or across such an edge.
    pub corner_cuts: u64,
    /// Units whose position does not continue that of the previous tick, or that moved backwards in
    /// a step.
    pub jumps: u64,
}

impl Faults {
    /// Returns whether there are none.
    pub fn is_clean(&self) -> bool {
        *self == Self::default()
    }
}

/// Checks a crowd tick by tick.
#[derive(Default)]
pub struct Checker {
    before: BTreeMap<u64, Seen>,
    /// Faults so far.
    pub faults: Faults,
    /// Smallest gap between two discs so far, in cells.
    pub nearest: f64,
    /// Description of the first fault.
    pub first: Option<String>,
    /// For each cell the first unit with its tail on it, or `usize::MAX`; kept from tick to tick.
    first_on: Vec<usize>,
}

impl Checker {
    pub fn new() -> Self {
        Self { nearest: f64::INFINITY, ..Self::default() }
    }

    /// Checks a tick. `moved` are the units that were teleported since the previous one.
    pub fn look(&mut self, grid: &NavGrid, units: &[Seen], moved: &[u64]) {
        for id in moved {
            self.before.remove(id);
        }
        self.check_steps(grid, units);
        self.check_pairs(grid, units);
        self.before = units.iter().map(|unit| (unit.id, *unit)).collect();
    }

    fn note(&mut self, text: impl FnOnce() -> String) {
        self.first.get_or_insert_with(text);
    }

    fn check_steps(&mut self, grid: &NavGrid, units: &[Seen]) {
        for unit in units {
            let before = self.before.get(&unit.id).copied();
            let is_far = unit.is_far(grid.topology());
            let is_jump = before.is_some_and(|before| {
                let continues = unit.tail == before.tail
                    && (unit.head == before.head || before.head == before.tail)
                    && (unit.head != before.head || unit.gone >= before.gone);
                !continues && unit.tail != before.head
            });
            if is_far || is_jump {
                self.faults.jumps += 1;
                self.note(|| format!("jump: {before:?} -> {unit:?}"));
            }
            let has_begun = unit.tail != unit.head
                && before.is_none_or(|b| (b.tail, b.head) != (unit.tail, unit.head));
            let is_illegal = || cuts_corner(grid, unit) || crosses_edge(grid, unit);
            if has_begun && before.is_some() && is_illegal() {
                self.faults.corner_cuts += 1;
                self.note(|| format!("corner: {unit:?}"));
            }
        }
    }

    fn check_pairs(&mut self, grid: &NavGrid, units: &[Seen]) {
        let rect = grid.rect();
        let index = |cell: Cell| {
            rect.contains(cell).then(|| {
                let (x, y) = ((cell.x - rect.min.x) as usize, (cell.y - rect.min.y) as usize);
                y * rect.width as usize + x
            })
        };
        // Linked lists of the units with their tail on a cell: ghosts may share a cell.
        let mut first = core::mem::take(&mut self.first_on);
        first.resize(rect.width as usize * rect.height as usize, usize::MAX);
        let mut next = vec![usize::MAX; units.len()];
        for (at, unit) in units.iter().enumerate() {
            if let Some(cell) = index(unit.tail) {
                next[at] = std::mem::replace(&mut first[cell], at);
            }
        }
        let topology = grid.topology();
        let motion = |unit: &Seen| Motion::of(topology, unit, self.before.get(&unit.id));
        let motions: Vec<Motion> = units.iter().map(motion).collect();
        let reach = 2 * units.iter().map(|unit| unit.size).max().unwrap_or(1) + 1;
        for (at, unit) in units.iter().enumerate() {
            let side = 2 * reach as u32 + 1;
            let around = CellRect::new(unit.tail.offset(-reach, -reach), side, side);
            let around = around.intersection(rect);
            let rows = (0..around.height as i32).filter_map(|y| index(around.min.offset(0, y)));
            for &first in rows.flat_map(|row| &first[row..row + around.width as usize]) {
                let mut other = first;
                while other != usize::MAX {
                    if other > at {
                        let pair = ((unit, &motions[at]), (&units[other], &motions[other]));
                        self.check_pair(topology, pair.0, pair.1);
                    }
                    other = next[other];
                }
            }
        }
        let held = units.iter().filter_map(|unit| index(unit.tail));
        held.for_each(|cell| first[cell] = usize::MAX);
        self.first_on = first;
    }

    fn check_pair(
        &mut self,
        topology: Topology,
        (a, first): (&Seen, &Motion),
        (b, second): (&Seen, &Motion),
    ) {
        let shares = |cell: Cell| {
            let covers = |unit: &Seen, at: Cell| unit.covers(topology, at, cell);
            let leaves = |unit: &Seen| covers(unit, unit.tail) && !covers(unit, unit.head);
            let enters = |unit: &Seen| !covers(unit, unit.tail) && covers(unit, unit.head);
            let holds = covers(b, b.tail) || covers(b, b.head);
            holds && !(leaves(a) && enters(b) || leaves(b) && enters(a))
        };
        // Units farther apart share none: their steps lead to neighbors, or they are listed as jumps.
        let are_near = a.tail.chebyshev(b.tail) <= (a.size + b.size) as u32;
        let mut cells = a.cells(topology, a.tail).chain(a.cells(topology, a.head));
        let is_shared = are_near && cells.any(shares);
        let radii = a.radius(topology) + b.radius(topology);
        let gap = first.nearest_approach(second, self.nearest + radii) - radii;
        self.nearest = self.nearest.min(gap);
        if is_shared || gap < 0.0 {
            self.faults.overlaps += 1;
            let before = [a, b].map(|unit| self.before.get(&unit.id).copied());
            self.note(|| format!("overlap {gap}: {a:?} {b:?}, before {before:?}"));
        }
        let is_swap = a.tail == b.head && b.tail == a.head && a.tail != a.head;
        let middle = |u: &Seen| (u.tail.x + u.head.x, u.tail.y + u.head.y);
        let are_diagonal = a.is_diagonal(topology) && b.is_diagonal(topology);
        let crosses = are_diagonal && a.size == b.size && middle(a) == middle(b);
        if is_swap || crosses {
            self.faults.swaps += 1;
            self.note(|| format!("swap: {a:?} {b:?}"));
        }
    }
}

fn distance(a: Point, b: Point) -> f64 {
    let (x, y) = (a.0 - b.0, a.1 - b.1);
    (x * x + y * y).sqrt()
}

/// Returns the distance of a line segment from the origin.
fn nearest_to_origin(start: Point, end: Point) -> f64 {
    let delta = (end.0 - start.0, end.1 - start.1);
    let length = delta.0 * delta.0 + delta.1 * delta.1;
    let share = if length > 0.0 { -(start.0 * delta.0 + start.1 * delta.1) / length } else { 0.0 };
    let share = share.clamp(0.0, 1.0);
    distance((0.0, 0.0), (start.0 + delta.0 * share, start.1 + delta.1 * share))
}

/// Returns whether a step that has just begun cuts an impassable corner, or enters an impassable
/// cell. A unit that stands on an impassable cell (it was built over) may leave it straight.
fn cuts_corner(grid: &NavGrid, unit: &Seen) -> bool {
    let free = |x, y| grid.cost(unit.profile, Cell::new(x, y)) > 0;
    let (tail, head) = (unit.tail, unit.head);
    let is_built_over = !free(tail.x, tail.y);
    if unit.is_diagonal(grid.topology()) {
        !(free(tail.x, tail.y)
            && free(head.x, head.y)
            && free(tail.x, head.y)
            && free(head.x, tail.y))
    } else {
        !is_built_over && !free(head.x, head.y)
    }
}

/// Returns whether a step that has just begun crosses a shut edge, or passes the end of one diagonally. Larger units may stand
/// across an edge that was shut later: where they can stand, no edge divides them.
fn crosses_edge(grid: &NavGrid, unit: &Seen) -> bool {
    let rules = &grid.profiles()[usize::from(unit.profile.0)];
    let is_shut = |from: Cell, to: Cell| {
        let edge = Direction::between(from, to).map(|direction| grid.edge(from, direction));
        edge.is_some_and(|edge| rules.edge_cost(edge).is_none())
    };
    let (tail, head) = (unit.tail, unit.head);
    if unit.size > 1 {
        return false;
    }
    if !unit.is_diagonal(grid.topology()) {
        return is_shut(tail, head);
    }
    let corners = [Cell::new(head.x, tail.y), Cell::new(tail.x, head.y)];
    corners.into_iter().any(|corner| is_shut(tail, corner) || is_shut(corner, head))
}
