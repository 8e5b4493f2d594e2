//! Jump point search: successors are not neighbors, but the next cells at which a way may turn.
//!
//! Along a straight line that is the next jump point (a cell with a forced neighbor) or the goal.
//! Along a diagonal it is any jump point that a straight scan from one of its cells finds: the
//! diagonal's cells themselves are left out, as nothing is forced there while corners may not be
//! cut. All scans are looked up in the layer's [`JumpMap`].
//!
//! Sources: D. Harabor & A. Grastien, "Online Graph Pruning for Pathfinding on Grid Maps" (AAAI
//! 2011), "Improving Jump Point Search" (ICAPS 2014).

use super::{
    Phase, Search,
    jump_nodes::{JumpNode, NO_NODE},
};
use crate::nav::{
    direction::Direction,
    jump_map::JumpMap,
    layer::Layer,
    open_list::{Key, NodeId, OpenList},
    terrain::{DIAGONAL, STRAIGHT},
};

/// So many cells of diagonals that are looked from cost as much as an expansion (estimated: an
/// expansion has two or three of them).
const TURNS: u32 = 16;

/// A node that is being expanded, and where its successors are found.
struct From<'a> {
    layer: &'a Layer,
    map: &'a JumpMap,
    id: NodeId,
    node: JumpNode,
    f: u64,
}

impl<L: OpenList> Search<L> {
    /// Expands up to `budget` nodes, fewer where they see much; returns what of the budget it took.
    pub(super) fn expand_jumps(&mut self, layer: &Layer, map: &JumpMap, budget: u32) -> u32 {
        let mut spent = 0;
        while spent < budget {
            spent += 1;
            let Some((id, node)) = self.next_jump() else {
                self.phase = Phase::Failed(self.exhausted());
                return spent;
            };
            self.counters.expansions += 1;
            let distance = self.aim.distance(layer, node.x, node.y);
            if distance == 0 {
                self.phase = Phase::Reached(id);
                return spent;
            }
            let mut turns = 0;
            let f = u64::from(node.g) + u64::from(distance) * u64::from(self.aim.per_weight);
            let from = From { layer, map, id, node, f };
            let mut directions = layer.moves().get(node.arrival, layer.pattern(node.x, node.y));
            while directions != 0 {
                let direction = Direction::from_bits(directions.trailing_zeros() as u8);
                directions &= directions - 1;
                turns += match direction {
                    Direction::NorthEast => self.jump_diagonally::<true, true>(&from),
                    Direction::NorthWest => self.jump_diagonally::<false, true>(&from),
                    Direction::SouthWest => self.jump_diagonally::<false, false>(&from),
                    Direction::SouthEast => self.jump_diagonally::<true, false>(&from),
                    straight => self.jump_straight(&from, straight),
                };
            }
            let open = self.open.len() + usize::from(self.held.is_some());
            self.counters.peak_open = self.counters.peak_open.max(open);
            spent += turns / TURNS;
        }
        spent.min(budget)
    }

    #[inline]
    fn next_jump(&mut self) -> Option<(NodeId, JumpNode)> {
        loop {
            let id = match self.held.take() {
                Some((id, _)) => id,
                None => self.open.pop()?,
            };
            let node = self.jumps.get_mut(id);
            if !node.is_closed {
                node.is_closed = true;
                return Some((id, *node));
            }
        }
    }

    /// Takes note of the goal or the next jump point along a line. It turns nowhere.
    #[inline]
    fn jump_straight(&mut self, from: &From, way: Direction) -> u32 {
        let (x, y) = (from.node.x, from.node.y);
        let stop = from.map.straight(x, y, way);
        let limit = stop.distance + u32::from(stop.is_open);
        let distance = match self.aim.ahead(x, y, way) {
            Some(distance) if distance < limit => distance,
            _ if stop.is_open => stop.distance,
            _ => return 0,
        };
        self.reach(from, step_away(x, y, way, distance), 0, distance, way);
        0
    }

    /// Takes note of what can be seen to either side from a diagonal; returns from how many cells.
    #[inline]
    fn jump_diagonally<const RIGHT: bool, const UP: bool>(&mut self, from: &From) -> u32 {
        let (way, row_way, column_way) = ways::<RIGHT, UP>();
        let (x, y) = (from.node.x, from.node.y);
        let (turn, rest, side) = self.aim.beside(x, y, way);
        let mut ray = from.map.diagonal::<RIGHT, UP>(x, y);
        let (mut passed, mut turns) = (0, 0);
        loop {
            let (at, sees) = ray.advance::<UP>();
            if passed < turn && turn < at + u32::from(sees) {
                self.try_goal(from, step_away(x, y, way, turn), turn, rest, (way, side));
            }
            if !sees {
                return turns;
            }
            turns += 1;
            let (x, y) = step_away(x, y, way, at);
            if let Some(distance) = from.map.sight_along_row::<RIGHT>(x, y) {
                self.reach(from, step_away(x, y, row_way, distance), at, distance, row_way);
            }
            if let Some(distance) = from.map.sight_along_column::<UP>(x, y) {
                self.reach(from, step_away(x, y, column_way, distance), at, distance, column_way);
            }
            passed = at;
        }
    }

    /// Takes note of the goal if nothing is in the way: it lies `rest` cells to `side`.
    fn try_goal(
        &mut self,
        from: &From,
        (x, y): (u32, u32),
        diagonals: u32,
        rest: u32,
        (way, side): (Direction, Direction),
    ) {
        if rest == 0 {
            self.reach(from, (x, y), diagonals, 0, way);
            return;
        }
        let stop = from.map.straight(x, y, side);
        if rest < stop.distance + u32::from(stop.is_open) {
            self.reach(from, step_away(x, y, side, rest), diagonals, rest, side);
        }
    }

    /// Takes note of a way to `(x, y)`: so many diagonal steps from the node, then so many straight.
    #[inline]
    fn reach(
        &mut self,
        from: &From,
        (x, y): (u32, u32),
        diagonals: u32,
        straights: u32,
        arrival: Direction,
    ) {
        let weight =
            u64::from(diagonals) * u64::from(DIAGONAL) + u64::from(straights) * u64::from(STRAIGHT);
        let per_weight = u64::from(self.aim.per_weight);
        let g = u64::from(from.node.g) + weight * per_weight;
        let distance = self.aim.distance(from.layer, x, y);
        let h = u64::from(distance) * per_weight;
        if g + h > u64::from(u32::MAX) {
            self.aim.overflow = true;
            return;
        }
        let (g, h) = (g as u32, h as u32);
        let (id, is_new) = self.jumps.find_or_add(x, y);
        let node = self.jumps.get_mut(id);
        if !is_new && node.g <= g {
            return;
        }
        (node.g, node.parent, node.arrival) = (g, from.id, arrival as u8);
        let key = Key { f: g + h, h };
        if !is_new {
            self.counters.improved += 1;
            self.open.improve(id, key);
            return;
        }
        self.counters.generated += 1;
        if L::TAKES_ALL || u64::from(key.f) != from.f {
            self.open.insert(id, key);
        } else if let Some((id, key)) = self.held.replace((id, key)) {
            self.open.insert(id, key);
        }
    }

    /// Directions of the steps from the goal back to the start.
    pub(super) fn jumps_back(&self, goal: NodeId) -> impl Iterator<Item = Direction> + '_ {
        let mut id = goal;
        let mut steps = [(Direction::East, 0); 2];
        core::iter::from_fn(move || {
            loop {
                if let Some((direction, left)) = steps.iter_mut().find(|(_, left)| *left > 0) {
                    *left -= 1;
                    return Some(*direction);
                }
                let node = self.jumps.get(id);
                if node.parent == NO_NODE {
                    return None;
                }
                let parent = self.jumps.get(node.parent);
                steps = stretches_back(&parent, &node);
                id = node.parent;
            }
        })
    }
}

/// The straight stretch into a node, and the diagonal one before it.
fn stretches_back(parent: &JumpNode, node: &JumpNode) -> [(Direction, u32); 2] {
    let (dx, dy) = (node.x.wrapping_sub(parent.x) as i32, node.y.wrapping_sub(parent.y) as i32);
    let diagonals = dx.unsigned_abs().min(dy.unsigned_abs());
    let straights = dx.unsigned_abs().max(dy.unsigned_abs()) - diagonals;
    let slope = Direction::from_offset(dx.signum(), dy.signum());
    let line = Direction::from_bits(node.arrival);
    [(line, straights), (slope, diagonals)]
}

/// A diagonal, and the straight directions to both sides of it: along the row, along the column.
const fn ways<const RIGHT: bool, const UP: bool>() -> (Direction, Direction, Direction) {
    let row = if RIGHT { Direction::East } else { Direction::West };
    let column = if UP { Direction::North } else { Direction::South };
    let diagonal = match (RIGHT, UP) {
        (true, true) => Direction::NorthEast,
        (false, true) => Direction::NorthWest,
        (false, false) => Direction::SouthWest,
        (true, false) => Direction::SouthEast,
    };
    (diagonal, row, column)
}

/// The cell so many steps away.
#[inline]
fn step_away(x: u32, y: u32, direction: Direction, steps: u32) -> (u32, u32) {
    let (dx, dy) = direction.offset();
    let steps = steps as i32;
    (x.wrapping_add_signed(dx * steps), y.wrapping_add_signed(dy * steps))
}
