//! The cells around a goal where units of one class can stand, nearest first.
//!
//! The units of a class share a profile and a connected region. Input: the class and the goal. Output: the
//! cells on which its units can stand, one by one:
//! - if the goal is in their region, in order of walking distance from it. Cells behind a wall come late,
//!   however near they are;
//! - if they cannot stand on the goal at all, in order of walking distance from the nearest cell on which
//!   they can, on the group's side among equals;
//! - if the goal is in another region, in order of the straight distance to it.
//!
//! Walking distance counts steps, whatever the terrain costs: slots should lie close together. Among cells at
//! equal distance, cells that units of that size already hold come first, then those nearest to the group's
//! center: so a group that stands stays.
//!
//! Algorithm: Dijkstra's (1959) in canonical order (Sturtevant & Rabin, "Canonical Orderings on Grids", IJCAI
//! 2016), which puts each cell of open terrain on the heap once; for straight distances rings of chunks, of
//! which only those are read that contain a part of the region. Both advance only as far as cells are
//! requested.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::nav::{
    Direction, Footprint, Layer, ProfileId, STRAIGHT, bit_rows::BitRows, cell::CHUNK,
    direction::directions, moves::NO_DIRECTION, region::ring_distance,
};

/// A survey examines at most this many cells; about 5 ms.
const MAX_SURVEYED: usize = 100_000;

/// Units that can go to the same cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnitClass<'a> {
    pub(super) profile: ProfileId,
    pub(super) layer: &'a Layer,
    pub(super) region: u32,
    /// The cells that each of them covers.
    pub(super) footprint: Footprint,
}

impl UnitClass<'_> {
    /// Whether units of the class can stand on a cell and get there.
    pub(super) fn can_use(&self, x: u32, y: u32) -> bool {
        self.layer.region(x, y) == Some(self.region)
    }
}

/// What all classes of a group have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Center {
    pub(super) goal: (u32, u32),
    /// Mean of the units' cells.
    pub(super) group: (u32, u32),
}

/// A cell on which a unit can stand: its target, if it is given to the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot {
    pub(super) cell: (u32, u32),
    /// Distance from the front or the goal: units of different rank may swap slots only within a level.
    pub(super) level: u32,
}

/// A cell on the heap, in the order in which cells are returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct OpenCell {
    distance: u32,
    is_free: bool,
    off_center: u64,
    y: u32,
    x: u32,
    arrival: u8,
}

/// The cells of one class around the goal; see the [module](self).
#[derive(Debug)]
pub(super) struct NearestCells<'a> {
    class: UnitClass<'a>,
    center: Center,
    /// Cells that units of this size hold already.
    held: &'a BitRows,
    open: BinaryHeap<Reverse<OpenCell>>,
    /// The cell from which distances are measured.
    origin: (u32, u32),
    /// The ring of chunks to read next, if straight distances are measured.
    ring: Option<u32>,
    closed: BitRows,
    found: Vec<Slot>,
    /// How many of the found cells were given away or rejected.
    consumed: usize,
    /// Cells whose walking distance is not much longer than the straight one, as far as surveyed.
    reachable_directly: BitRows,
    /// Whether the survey ended before it was complete.
    is_truncated: bool,
}

impl<'a> NearestCells<'a> {
    pub(super) fn new(class: UnitClass<'a>, center: Center, held: &'a BitRows) -> Self {
        let (width, height) = class.layer.size();
        let mut cells = Self {
            class,
            center,
            held,
            open: BinaryHeap::new(),
            origin: center.goal,
            ring: Some(0),
            closed: BitRows::new(width, height),
            found: Vec::new(),
            consumed: 0,
            reachable_directly: BitRows::new(width, height),
            is_truncated: false,
        };
        match class.layer.region(center.goal.0, center.goal.1) {
            Some(region) if region == class.region => cells.walk_from(center.goal),
            Some(_) => {}
            None => {
                if let Some(nearest) = cells.find_next() {
                    cells.walk_from(nearest.cell);
                }
            }
        }
        cells
    }

    /// Whether a unit of the class can stand on the cell and, as far as surveyed, gets there from the goal
    /// without a long detour.
    pub(super) fn is_directly_reachable(&self, (x, y): (u32, u32)) -> bool {
        self.class.can_use(x, y)
            && (self.ring.is_some()
                || self.reachable_directly.get(x, y)
                || (self.is_truncated && !self.closed.get(x, y)))
    }

    /// Returns the nearest cell not examined before on which a unit of the class covers no taken cell.
    pub(super) fn take_nearest(&mut self, taken: &BitRows) -> Option<Slot> {
        loop {
            let found = self.found.get(self.consumed).copied().or_else(|| self.find_next())?;
            self.consumed += 1;
            // A rejected cell stays rejected, as taken cells are never released.
            if !taken.meets(self.class.footprint, found.cell) {
                return Some(found);
            }
        }
    }

    /// Walks as far as needed to determine whether these cells, and those around, are [directly
    /// reachable](Self::is_directly_reachable).
    pub(super) fn survey(&mut self, cells: impl Iterator<Item = (u32, u32)>) {
        if self.ring.is_some() {
            return;
        }
        let (width, height) = self.class.layer.size();
        let mut wanted = BitRows::new(width, height);
        let (mut left, mut limit, mut enough) = (0_u32, 0, 0);
        for (x, y) in cells {
            let distance = self.line_distance((x, y));
            if !self.class.can_use(x, y) {
                // A cell beside it will be looked for.
                enough = enough.max(distance.saturating_add(8 * STRAIGHT));
            } else if wanted.insert(x, y) {
                left += 1;
                limit = limit.max(max_walk_distance(distance));
            }
        }
        let mut walked = 0;
        while (left > 0 && walked <= limit) || walked < enough {
            self.is_truncated = self.found.len() >= MAX_SURVEYED;
            let next = if self.is_truncated { None } else { self.find_next() };
            let Some(Slot { cell, level: distance }) = next else {
                break;
            };
            walked = distance;
            if distance <= max_walk_distance(self.line_distance(cell)) {
                self.reachable_directly.insert(cell.0, cell.1);
            }
            left -= u32::from(wanted.get(cell.0, cell.1));
        }
    }

    /// Returns the weight of the straight line between the cell and the origin of distances.
    fn line_distance(&self, (x, y): (u32, u32)) -> u32 {
        self.class.layer.distance_between(self.origin, (x, y))
    }

    fn walk_from(&mut self, origin: (u32, u32)) {
        self.open.clear();
        self.found.clear();
        self.ring = None;
        self.origin = origin;
        self.push(origin, 0, NO_DIRECTION);
    }

    /// Finds one more cell.
    fn find_next(&mut self) -> Option<Slot> {
        self.read_rings();
        loop {
            let Reverse(open) = self.open.pop()?;
            if self.ring.is_none() && !self.closed.insert(open.x, open.y) {
                continue;
            }
            if self.ring.is_none() {
                self.push_neighbors(open);
            }
            let found = Slot { cell: (open.x, open.y), level: open.distance };
            self.found.push(found);
            return Some(found);
        }
    }

    fn push_neighbors(&mut self, from: OpenCell) {
        let layer = self.class.layer;
        let steps = layer.steps_after(from.arrival, from.x, from.y);
        for direction in directions(steps) {
            let direction = Direction::from_bits(direction as u8);
            let cell = direction.cell_at(from.x, from.y, 1);
            if !self.closed.get(cell.0, cell.1) {
                let distance = from.distance.saturating_add(layer.adjacency().weight(direction));
                self.push(cell, distance, direction as u8);
            }
        }
    }

    /// Reads rings of chunks until cells farther out cannot be nearer than the best on the heap.
    fn read_rings(&mut self) {
        let regions = self.class.layer.regions();
        while let Some(ring) = self.ring.filter(|&ring| ring < regions.max_rings()) {
            let nearest = ring_distance(ring);
            if self.open.peek().is_some_and(|Reverse(open)| open.distance < nearest) {
                return;
            }
            for (column, row) in regions.ring_around(self.center.goal, ring) {
                if regions.chunk_has_region(column, row, self.class.region) {
                    self.read_chunk(column * CHUNK, row * CHUNK);
                }
            }
            self.ring = Some(ring + 1);
        }
    }

    /// Pushes the region's cells in a chunk onto the heap.
    fn read_chunk(&mut self, left: u32, low: u32) {
        for cell in (0..CHUNK * CHUNK).map(|cell| (left + cell % CHUNK, low + cell / CHUNK)) {
            if self.class.can_use(cell.0, cell.1) {
                self.push(cell, self.line_distance(cell), NO_DIRECTION);
            }
        }
    }

    fn push(&mut self, (x, y): (u32, u32), distance: u32, arrival: u8) {
        let offset = |at: u32, center: u32| i64::from(at) - i64::from(center);
        let (dx, dy) = (offset(x, self.center.group.0), offset(y, self.center.group.1));
        let off_center = self.class.layer.topology().squared_length(dx, dy);
        let is_free = !self.held.get(x, y);
        self.open.push(Reverse(OpenCell { distance, is_free, off_center, y, x, arrival }));
    }
}

/// Returns the longest walking distance to a cell at this straight distance that is not a long detour: a
/// quarter longer, and four steps.
const fn max_walk_distance(line: u32) -> u32 {
    line.saturating_add(line / 4).saturating_add(4 * STRAIGHT)
}
