//! Where units of one tribe can stand around a goal, nearest first.
//!
//! A tribe is what shares a profile and an island. Input: the tribe and the goal. Output: the cells
//! on which its units can stand, one by one:
//! - where the goal is on their island, in order of the walk from it. What lies behind a wall
//!   comes late, however near it is;
//! - where they cannot stand on the goal at all, in order of the walk from the nearest cell on
//!   which they can, the one on the group's side among equals;
//! - where the goal is on another island, in order of the straight line to it.
//!
//! Walks are measured in steps, whatever the ground costs: places shall lie close together. Among
//! cells that are equally far, those come first that units of that size hold already, then those
//! nearest to the group's center: so a group that stands stays.
//!
//! Algorithm: Dijkstra's (1959) in canonical order (Sturtevant & Rabin, "Canonical Orderings on
//! Grids", IJCAI 2016), which puts each cell of open ground on the heap once; for straight lines
//! rings of chunks, of which only those are read that hold a piece of the island. Both go no further
//! than they are asked to.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::marks::{Marks, Span};
use crate::nav::{
    cell::CHUNK,
    direction::Direction,
    layer::Layer,
    moves::NO_DIRECTION,
    terrain::{DIAGONAL, ProfileId, STRAIGHT},
};

/// A survey looks at so many cells at most; about 5 ms.
const MOST_SURVEYED: usize = 100_000;

/// Units that can go to the same cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tribe<'a> {
    pub(super) profile: ProfileId,
    pub(super) layer: &'a Layer,
    pub(super) island: u32,
    /// Cells along a side.
    pub(super) size: u32,
}

impl Tribe<'_> {
    /// Whether its units can stand on a cell, and get there.
    pub(super) fn can_use(&self, x: u32, y: u32) -> bool {
        self.layer.island(x, y) == Some(self.island)
    }
}

/// What all tribes of a group have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Center {
    pub(super) goal: (u32, u32),
    /// Mean of the units' cells.
    pub(super) group: (u32, u32),
}

/// A cell on which a unit can stand, and how far it is from the goal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) at: (u32, u32),
    pub(super) distance: u32,
}

/// A cell on the heap, in the order in which they are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Open {
    distance: u32,
    is_free: bool,
    off_center: u64,
    y: u32,
    x: u32,
    arrival: u8,
}

/// The cells of one tribe around the goal; see the [module](self).
#[derive(Debug)]
pub(super) struct Ground<'a> {
    tribe: Tribe<'a>,
    center: Center,
    /// Where units of this size stand already.
    held: &'a Marks,
    open: BinaryHeap<Reverse<Open>>,
    /// From where walks are measured.
    origin: (u32, u32),
    /// The ring of chunks to read next, where lines are measured instead.
    ring: Option<u32>,
    closed: Marks,
    found: Vec<Found>,
    /// How many of those found were given away or turned down.
    seen: usize,
    /// Cells to which the walk is not much longer than the line, as far as surveyed.
    near: Marks,
    /// Whether the survey ended before it had seen everything.
    cut_short: bool,
}

impl<'a> Ground<'a> {
    pub(super) fn new(tribe: Tribe<'a>, center: Center, held: &'a Marks) -> Self {
        let size = tribe.layer.size();
        let mut ground = Self {
            tribe,
            center,
            held,
            open: BinaryHeap::new(),
            origin: center.goal,
            ring: Some(0),
            closed: Marks::new(size),
            found: Vec::new(),
            seen: 0,
            near: Marks::new(size),
            cut_short: false,
        };
        match tribe.layer.island(center.goal.0, center.goal.1) {
            Some(island) if island == tribe.island => ground.walk_from(center.goal),
            Some(_) => {}
            None => {
                if let Some(nearest) = ground.find() {
                    ground.walk_from(nearest.at);
                }
            }
        }
        ground
    }

    /// Whether a unit of the tribe can stand on the cell and, as far as surveyed, gets there from
    /// the goal without a long way around.
    pub(super) fn is_near(&self, (x, y): (u32, u32)) -> bool {
        self.tribe.can_use(x, y)
            && (self.ring.is_some()
                || self.near.has(x, y)
                || (self.cut_short && !self.closed.has(x, y)))
    }

    /// The nearest cell not seen before on which a block of the tribe's size touches nothing taken.
    pub(super) fn take_nearest(&mut self, taken: &Marks) -> Option<Found> {
        loop {
            let found = match self.found.get(self.seen) {
                Some(&found) => found,
                None => self.find()?,
            };
            self.seen += 1;
            // What is turned down once stays so: more and more is taken.
            if !taken.has_any(Span::square(found.at, self.tribe.size)) {
                return Some(found);
            }
        }
    }

    /// Walks as far as it takes to say of these cells, and of those around, whether they
    /// [are near](Self::is_near).
    pub(super) fn survey(&mut self, cells: impl Iterator<Item = (u32, u32)>) {
        if self.ring.is_some() {
            return;
        }
        let mut wanted = Marks::new(self.tribe.layer.size());
        let (mut left, mut limit, mut enough) = (0_u32, 0, 0);
        for (x, y) in cells {
            let distance = self.line((x, y));
            if !self.tribe.can_use(x, y) {
                // Something beside it will be looked for.
                enough = enough.max(distance.saturating_add(8 * STRAIGHT));
            } else if wanted.mark(x, y) {
                left += 1;
                limit = limit.max(longest_walk(distance));
            }
        }
        let mut walked = 0;
        while (left > 0 && walked <= limit) || walked < enough {
            self.cut_short = self.found.len() >= MOST_SURVEYED;
            let next = if self.cut_short { None } else { self.find() };
            let Some(Found { at, distance }) = next else {
                break;
            };
            walked = distance;
            if distance <= longest_walk(self.line(at)) {
                self.near.mark(at.0, at.1);
            }
            left -= u32::from(wanted.has(at.0, at.1));
        }
    }

    /// Weight of the straight line between the cell and where walks begin.
    fn line(&self, (x, y): (u32, u32)) -> u32 {
        self.tribe.layer.distance(x.abs_diff(self.origin.0), y.abs_diff(self.origin.1))
    }

    fn walk_from(&mut self, origin: (u32, u32)) {
        self.open.clear();
        self.found.clear();
        self.ring = None;
        self.origin = origin;
        self.push(origin, 0, NO_DIRECTION);
    }

    /// Finds one more cell.
    fn find(&mut self) -> Option<Found> {
        self.read_rings();
        loop {
            let Reverse(open) = self.open.pop()?;
            if self.ring.is_none() && !self.closed.mark(open.x, open.y) {
                continue;
            }
            if self.ring.is_none() {
                self.walk_on(open);
            }
            let found = Found { at: (open.x, open.y), distance: open.distance };
            self.found.push(found);
            return Some(found);
        }
    }

    fn walk_on(&mut self, from: Open) {
        let layer = self.tribe.layer;
        let mut steps = layer.moves().get(from.arrival, layer.pattern(from.x, from.y));
        while steps != 0 {
            let direction = Direction::from_bits(steps.trailing_zeros() as u8);
            steps &= steps - 1;
            let at = direction.away(from.x, from.y, 1);
            if !self.closed.has(at.0, at.1) {
                let weight = if direction.is_diagonal() { DIAGONAL } else { STRAIGHT };
                self.push(at, from.distance.saturating_add(weight), direction as u8);
            }
        }
    }

    /// Reads rings of chunks until what lies farther out cannot be nearer than what is at hand.
    fn read_rings(&mut self) {
        let (columns, rows) = self.tribe.layer.regions().chunks();
        while let Some(ring) = self.ring.filter(|&ring| ring < columns.max(rows)) {
            let nearest = STRAIGHT * (ring.saturating_sub(1) * CHUNK + u32::from(ring > 0));
            if self.open.peek().is_some_and(|Reverse(open)| open.distance < nearest) {
                return;
            }
            self.read_ring(ring);
            self.ring = Some(ring + 1);
        }
    }

    /// Puts the island's cells in the chunks of a ring around the goal's on the heap.
    fn read_ring(&mut self, ring: u32) {
        let layer = self.tribe.layer;
        let (columns, rows) = layer.regions().chunks();
        let middle = (self.center.goal.0 / CHUNK, self.center.goal.1 / CHUNK);
        let low = middle.1.saturating_sub(ring);
        for row in low..(middle.1 + ring + 1).min(rows) {
            let is_end = row.abs_diff(middle.1) == ring;
            let step = if is_end { 1 } else { (2 * ring).max(1) };
            for dx in (0..=2 * ring).step_by(step as usize) {
                let column = (middle.0 + dx).checked_sub(ring).filter(|&column| column < columns);
                if let Some(column) = column
                    && layer.regions().chunk_has(column, row, self.tribe.island)
                {
                    self.read_chunk(column * CHUNK, row * CHUNK);
                }
            }
        }
    }

    fn read_chunk(&mut self, left: u32, low: u32) {
        for at in (0..CHUNK * CHUNK).map(|cell| (left + cell % CHUNK, low + cell / CHUNK)) {
            if self.tribe.can_use(at.0, at.1) {
                self.push(at, self.line(at), NO_DIRECTION);
            }
        }
    }

    fn push(&mut self, (x, y): (u32, u32), distance: u32, arrival: u8) {
        let off_center = apart(x, self.center.group.0) + apart(y, self.center.group.1);
        let is_free = !self.held.has(x, y);
        self.open.push(Reverse(Open { distance, is_free, off_center, y, x, arrival }));
    }
}

/// Square of a difference.
fn apart(a: u32, b: u32) -> u64 {
    u64::from(a.abs_diff(b)).pow(2)
}

/// The longest walk to a cell at the end of such a line that is still no long way around: a quarter
/// longer, and four steps.
const fn longest_walk(line: u32) -> u32 {
    line.saturating_add(line / 4).saturating_add(4 * STRAIGHT)
}
