//! Casting the rays of a node: costs are written cell by cell, nodes noted where rays end.
//!
//! Input: a node whose turn it is, and where the jump map says that scans stop. Output: costs of all
//! cells that canonical order reaches from the node before it has to look around again, and a
//! node at every cell where it has to.
//!
//! - A straight ray goes as far as the next stop. On the cells between, canonical order knows but
//!   one step: straight on.
//! - A diagonal walk (with four neighbors: one along a column) sends straight rays to both sides
//!   from each of its cells, as canonical order does. It ends where a step is illegal, and on a seam.
//! - Any ray ends after `reach` steps with a node like any other: from a cell that is no jump point
//!   canonical order just goes on. So no piece of work is long, and what is near is done first.
//! - A ray ends as soon as it meets a cell that is known to cost as little (see `spread`).
//!
//! A walk can be left after any of its cells and taken up there again.

use super::{
    DistanceField,
    purse::Purse,
    spread::{RayNode, Turn},
};
use crate::nav::{
    direction::Direction,
    jump_ground::JumpGround,
    jump_map::{JumpMap, Stop},
    open_list::OpenList,
    terrain::{DIAGONAL, STRAIGHT},
};

/// What it takes to find out where rays stop, in eighths of a unit.
const LOOK: u32 = 4;

/// Where a straight ray starts, and how it goes on.
#[derive(Clone, Copy)]
struct Line {
    x: u32,
    y: u32,
    index: usize,
    cost: u32,
    way: Direction,
    /// Cost of a step.
    step: u32,
    /// Most steps.
    reach: u32,
}

impl<L: OpenList> DistanceField<L> {
    /// Casts rays in the directions that are left while there is something to spend.
    pub(super) fn cast<const MIXED: bool, const EIGHT: bool>(
        &mut self,
        ground: &JumpGround,
        turn: &mut Turn,
        purse: &mut Purse,
    ) {
        while turn.ways != 0 && !purse.is_empty() {
            let way = Direction::from_bits(turn.ways.trailing_zeros() as u8);
            let is_done = match way {
                Direction::North if !EIGHT => {
                    self.walk::<MIXED, EIGHT, true, true>(ground, turn, purse)
                }
                Direction::South if !EIGHT => {
                    self.walk::<MIXED, EIGHT, true, false>(ground, turn, purse)
                }
                Direction::NorthEast => self.walk::<MIXED, true, true, true>(ground, turn, purse),
                Direction::NorthWest => self.walk::<MIXED, true, false, true>(ground, turn, purse),
                Direction::SouthWest => self.walk::<MIXED, true, false, false>(ground, turn, purse),
                Direction::SouthEast => self.walk::<MIXED, true, true, false>(ground, turn, purse),
                straight => {
                    self.go_straight::<MIXED>(ground, turn, straight, purse);
                    true
                }
            };
            if is_done {
                turn.ways &= turn.ways - 1;
                turn.gone = 0;
            }
        }
    }

    /// Casts a straight ray from the node itself.
    fn go_straight<const MIXED: bool>(
        &mut self,
        ground: &JumpGround,
        turn: &Turn,
        way: Direction,
        purse: &mut Purse,
    ) {
        let RayNode { x, y, cost, .. } = turn.node;
        let stop = ground.map.straight(x, y, way);
        let sum = if MIXED && stop.is_open && stop.distance == 1 {
            let (dx, dy) = way.offset();
            ground.sum_onto(turn.sum, x.wrapping_add_signed(dx), y.wrapping_add_signed(dy))
        } else {
            turn.sum
        };
        let (index, step) = (self.frame.index(x, y), STRAIGHT * sum);
        purse.pay(LOOK);
        self.go_along(stop, &Line { x, y, index, cost, way, step, reach: turn.reach }, purse);
    }

    /// Goes along a diagonal (with four neighbors: a column), with rays to both sides from each cell;
    /// says whether it is done, and not just out of budget.
    fn walk<const MIXED: bool, const EIGHT: bool, const RIGHT: bool, const UP: bool>(
        &mut self,
        ground: &JumpGround,
        turn: &mut Turn,
        purse: &mut Purse,
    ) -> bool {
        let (way, weight, sides) = course::<EIGHT, RIGHT, UP>();
        let (map, step, reach) = (ground.map, STRAIGHT * turn.sum, turn.reach);
        let (x, y) = way.away(turn.node.x, turn.node.y, turn.gone);
        let cost = turn.node.cost + turn.gone * weight * turn.sum;
        let mut at = Line { x, y, index: self.frame.index(x, y), cost, way, step, reach };
        let (mut ahead, mut is_open) = (0, false);
        loop {
            if ahead == 0 {
                (ahead, is_open) = next_stop::<EIGHT, RIGHT, UP>(map, at.x, at.y, way);
            }
            ahead -= 1;
            if ahead == 0 && !is_open {
                return true;
            }
            (at.x, at.y) = way.away(at.x, at.y, 1);
            at.index = self.frame.index_of_neighbor(at.index, way as usize);
            let is_on_seam = MIXED && ahead == 0 && map.is_on_seam(at.x, at.y);
            let sum = if is_on_seam { ground.sum_onto(turn.sum, at.x, at.y) } else { turn.sum };
            at.cost += weight * sum;
            if self.costs[at.index] <= at.cost {
                return true;
            }
            self.costs[at.index] = at.cost;
            turn.gone += 1;
            if is_on_seam || turn.gone >= reach {
                self.note(RayNode { x: at.x, y: at.y, cost: at.cost, arrival: way as u8 });
                return true;
            }
            self.go_aside(map, at, sides, purse);
            if purse.is_empty() {
                return false;
            }
        }
    }

    /// Casts straight rays to both sides of a walk.
    #[inline(always)]
    fn go_aside(&mut self, map: &JumpMap, at: Line, sides: [Direction; 2], purse: &mut Purse) {
        purse.pay(LOOK);
        // One by one: each is compiled for its own direction.
        let (one, other) = (Line { way: sides[0], ..at }, Line { way: sides[1], ..at });
        self.go_along(map.straight(at.x, at.y, one.way), &one, purse);
        self.go_along(map.straight(at.x, at.y, other.way), &other, purse);
    }

    /// Writes costs along a line as far as its next stop.
    #[inline(always)]
    fn go_along(&mut self, stop: Stop, line: &Line, purse: &mut Purse) {
        let free = stop.distance - u32::from(!stop.is_open);
        let count = free.min(line.reach);
        let (first, cells) = (line.index, count as usize);
        let costs = self.costs.as_mut_slice();
        let written = match line.way {
            Direction::East => rise(costs[first + 1..][..cells].iter_mut(), line.cost, line.step),
            Direction::West => {
                rise(costs[first - cells..first].iter_mut().rev(), line.cost, line.step)
            }
            column => {
                let stride = self.frame.stride(column as usize);
                rise_by(stride, costs, first, count, line.cost, line.step)
            }
        };
        purse.pay(written);
        if written == count && (stop.is_open || free > count) {
            let (x, y) = line.way.away(line.x, line.y, count);
            let cost = line.cost + count * line.step;
            self.note(RayNode { x, y, cost, arrival: line.way as u8 });
        }
    }
}

/// Writes costs that rise by `step` into cells in their order, as far as they are higher or not known;
/// returns how many.
#[inline(always)]
fn rise<'a>(cells: impl Iterator<Item = &'a mut u32>, mut cost: u32, step: u32) -> u32 {
    let mut written = 0;
    for known in cells {
        cost += step;
        if *known <= cost {
            break;
        }
        *known = cost;
        written += 1;
    }
    written
}

/// The same for `count` cells that lie `stride` apart, from the one after `index` on.
#[inline(always)]
fn rise_by(
    stride: isize,
    costs: &mut [u32],
    mut index: usize,
    count: u32,
    mut cost: u32,
    step: u32,
) -> u32 {
    for written in 0..count {
        index = index.wrapping_add_signed(stride);
        cost += step;
        let known = &mut costs[index];
        if *known <= cost {
            return written;
        }
        *known = cost;
    }
    count
}

/// The direction of a walk, the weight of its steps, and the directions to its sides.
const fn course<const EIGHT: bool, const RIGHT: bool, const UP: bool>()
-> (Direction, u32, [Direction; 2]) {
    let (diagonal, row, column) = Direction::slope::<RIGHT, UP>();
    if !EIGHT {
        return (column, STRAIGHT, [Direction::East, Direction::West]);
    }
    (diagonal, DIAGONAL, [row, column])
}

/// How many steps ahead a walk has to stop or has something to see, and whether it can step there.
#[inline(always)]
fn next_stop<const EIGHT: bool, const RIGHT: bool, const UP: bool>(
    map: &JumpMap,
    x: u32,
    y: u32,
    way: Direction,
) -> (u32, bool) {
    if EIGHT {
        return map.diagonal::<RIGHT, UP>(x, y).advance::<UP>();
    }
    let stop = map.straight(x, y, way);
    (stop.distance, stop.is_open)
}
