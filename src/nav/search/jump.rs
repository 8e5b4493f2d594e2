//! Jump point search: successors are not neighbors, but the next cells at which a way may turn.
//!
//! Along a straight line that is the next jump point (a cell with a forced neighbor) or the goal.
//! Along a diagonal it is any jump point that a straight scan from one of its cells finds: the
//! diagonal's cells themselves are left out, as nothing is forced there while corners may not be
//! cut. With four neighbors columns take the place of diagonals: ways go up or down first. All scans
//! are looked up in the layer's jump map.
//!
//! Where cost is mixed, cells on seams are jump points, too; there, steps are left out by comparing
//! costs (see [`JumpGround`]).
//!
//! Sources: D. Harabor & A. Grastien, "Online Graph Pruning for Pathfinding on Grid Maps" (AAAI
//! 2011), "Improving Jump Point Search" (ICAPS 2014); M. Carlson et al., "Optimal Pathfinding on
//! Weighted Grid Maps" (AAAI 2023) for jumps over mixed terrain.

use super::{
    Phase, Search,
    jump_nodes::{JumpNode, NO_NODE},
};
use crate::nav::{
    direction::Direction,
    grid::NavGrid,
    jump_ground::JumpGround,
    node_pool::NodePool,
    open_list::{Key, NodeId, OpenList},
    terrain::{DIAGONAL, STRAIGHT},
};

/// So many cells of diagonals that are looked from cost as much as an expansion (estimated: an
/// expansion has two or three of them).
const TURNS: u32 = 16;

/// A node that is being expanded.
struct From<'a> {
    ground: &'a JumpGround<'a>,
    id: NodeId,
    node: JumpNode,
    f: u64,
    /// Cost sum of a step over its kind of ground.
    sum: u32,
    /// Whether it lies outside a corridor that the search is to keep to.
    is_outside: bool,
}

/// A way to a successor: its last direction, how many steps it takes, and their weight.
#[derive(Clone, Copy)]
struct Way {
    arrival: Direction,
    steps: u32,
    weight: u32,
}

impl<L: OpenList> Search<L> {
    /// Expands up to `budget` nodes, fewer where they see much; returns what of the budget it took.
    pub(super) fn expand_jumps(
        &mut self,
        ground: &JumpGround,
        grid: &NavGrid,
        pool: &NodePool,
        budget: u32,
    ) -> u32 {
        match (ground.map.has_seams(), ground.map.has_diagonals()) {
            (false, true) => self.expand_on::<false, true>(ground, grid, pool, budget),
            (false, false) => self.expand_on::<false, false>(ground, grid, pool, budget),
            (true, true) => self.expand_on::<true, true>(ground, grid, pool, budget),
            (true, false) => self.expand_on::<true, false>(ground, grid, pool, budget),
        }
    }

    fn expand_on<const MIXED: bool, const EIGHT: bool>(
        &mut self,
        ground: &JumpGround,
        grid: &NavGrid,
        pool: &NodePool,
        budget: u32,
    ) -> u32 {
        let headroom = u64::from(self.aim.headroom);
        // Looking at ends is paid in full, whatever there was to spend.
        let (mut spent, mut looked) = (0_u32, 0_u32);
        while spent.saturating_add(looked) < budget {
            let Some((id, node)) = self.next_jump() else {
                if let Some(price) = self.open_end_alone(grid, ground.layer, pool) {
                    looked = looked.saturating_add(price);
                    continue;
                }
                self.phase = Phase::Failed(self.exhausted());
                return spent.saturating_add(looked).saturating_add(1);
            };
            spent += 1;
            self.counters.expansions += 1;
            let distance = self.aim.distance(ground.layer, node.x, node.y);
            if distance == 0 {
                self.phase = Phase::Reached(id);
                return spent.saturating_add(looked);
            }
            self.probe.nearest = self.probe.nearest.min(distance);
            let f = u64::from(node.g) + u64::from(distance) * u64::from(self.aim.per_weight);
            if self.ends.is_due(id, f + headroom) {
                looked = looked.saturating_add(self.open_next_end(grid, ground.layer, pool, f));
            }
            let sum = ground.sum_at::<MIXED>(node.x, node.y);
            let is_outside = self.is_confined && !self.long.corridor.contains(node.x, node.y);
            let from = From { ground, id, node, f, sum, is_outside };
            let turns = self.jump_all::<MIXED, EIGHT>(&from);
            let open = self.open.len() + usize::from(self.held.is_some());
            self.counters.peak_open = self.counters.peak_open.max(open);
            spent = spent.saturating_add(turns / TURNS);
        }
        spent.min(budget).saturating_add(looked)
    }

    /// Jumps in all directions worth trying; returns from how many cells it looked to the sides.
    #[inline(always)]
    fn jump_all<const MIXED: bool, const EIGHT: bool>(&mut self, from: &From) -> u32 {
        let mut turns = 0;
        let mut directions =
            from.ground.successors::<MIXED>(from.node.x, from.node.y, from.node.arrival);
        while directions != 0 {
            let direction = Direction::from_bits(directions.trailing_zeros() as u8);
            directions &= directions - 1;
            turns += match direction {
                Direction::North if !EIGHT => self.jump_vertically::<MIXED, true>(from),
                Direction::South if !EIGHT => self.jump_vertically::<MIXED, false>(from),
                Direction::NorthEast => self.jump_diagonally::<MIXED, true, true>(from),
                Direction::NorthWest => self.jump_diagonally::<MIXED, false, true>(from),
                Direction::SouthWest => self.jump_diagonally::<MIXED, false, false>(from),
                Direction::SouthEast => self.jump_diagonally::<MIXED, true, false>(from),
                straight => self.jump_straight::<MIXED>(from, straight),
            };
        }
        turns
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
    fn jump_straight<const MIXED: bool>(&mut self, from: &From, arrival: Direction) -> u32 {
        let (x, y) = (from.node.x, from.node.y);
        let stop = from.ground.map.straight(x, y, arrival);
        let limit = stop.distance + u32::from(stop.is_open);
        let steps = match self.aim.ahead(x, y, arrival) {
            Some(distance) if distance < limit => distance,
            _ if stop.is_open => stop.distance,
            _ => return 0,
        };
        let way = Way { arrival, steps, weight: steps * STRAIGHT };
        self.reach::<MIXED>(from, arrival.away(x, y, steps), way);
        0
    }

    /// Takes note of what can be seen to either side from a diagonal; returns from how many cells.
    #[inline]
    fn jump_diagonally<const MIXED: bool, const RIGHT: bool, const UP: bool>(
        &mut self,
        from: &From,
    ) -> u32 {
        let (way, row_way, column_way) = Direction::slope::<RIGHT, UP>();
        let (x, y) = (from.node.x, from.node.y);
        let map = from.ground.map;
        let (turn, rest, side) = self.aim.beside(x, y, way);
        let mut ray = map.diagonal::<RIGHT, UP>(x, y);
        let (mut passed, mut turns) = (0, 0);
        loop {
            let (at, sees) = ray.advance::<UP>();
            let here = way.away(x, y, at);
            let ends_on_seam = MIXED && sees && map.is_on_seam(here.0, here.1);
            if passed < turn && turn < at + u32::from(sees && !ends_on_seam) {
                self.try_goal::<MIXED>(from, way.away(x, y, turn), turn, rest, (way, side));
            }
            if !sees {
                return turns;
            }
            turns += 1;
            let weight = at * DIAGONAL;
            if ends_on_seam {
                self.reach::<MIXED>(from, here, Way { arrival: way, steps: at, weight });
                return turns;
            }
            if let Some(distance) = map.sight_along_row::<RIGHT>(here.0, here.1) {
                self.reach_beside::<MIXED>(from, here, (at, weight), (distance, row_way));
            }
            if let Some(distance) = map.sight_along_column::<UP>(here.0, here.1) {
                self.reach_beside::<MIXED>(from, here, (at, weight), (distance, column_way));
            }
            passed = at;
        }
    }

    /// With four neighbors: takes note of what can be seen to either side from a column; returns
    /// from how many cells.
    #[inline]
    fn jump_vertically<const MIXED: bool, const UP: bool>(&mut self, from: &From) -> u32 {
        let way = if UP { Direction::North } else { Direction::South };
        let (x, y) = (from.node.x, from.node.y);
        let map = from.ground.map;
        let (turn, rest, side) = self.aim.abreast(x, y, way);
        let (mut at, mut turns) = (0, 0);
        loop {
            let passed = at;
            let stop = map.straight(x, way.away(x, y, at).1, way);
            at += stop.distance;
            let here = way.away(x, y, at);
            let ends_on_seam = MIXED && stop.is_open && map.is_on_seam(here.0, here.1);
            if passed < turn && turn < at + u32::from(stop.is_open && !ends_on_seam) {
                self.try_goal::<MIXED>(from, way.away(x, y, turn), turn, rest, (way, side));
            }
            if !stop.is_open {
                return turns;
            }
            turns += 1;
            let weight = at * STRAIGHT;
            if ends_on_seam {
                self.reach::<MIXED>(from, here, Way { arrival: way, steps: at, weight });
                return turns;
            }
            if let Some(distance) = map.sight_along_row::<true>(here.0, here.1) {
                self.reach_beside::<MIXED>(from, here, (at, weight), (distance, Direction::East));
            }
            if let Some(distance) = map.sight_along_row::<false>(here.0, here.1) {
                self.reach_beside::<MIXED>(from, here, (at, weight), (distance, Direction::West));
            }
        }
    }

    /// Takes note of the goal if nothing is in the way: it lies `rest` cells to `side` of the cell so
    /// many steps on.
    fn try_goal<const MIXED: bool>(
        &mut self,
        from: &From,
        (x, y): (u32, u32),
        steps: u32,
        rest: u32,
        (way, side): (Direction, Direction),
    ) {
        let weight = steps * if way.is_diagonal() { DIAGONAL } else { STRAIGHT };
        if rest == 0 {
            self.reach::<MIXED>(from, (x, y), Way { arrival: way, steps, weight });
            return;
        }
        let stop = from.ground.map.straight(x, y, side);
        if rest < stop.distance + u32::from(stop.is_open) {
            self.reach_beside::<MIXED>(from, (x, y), (steps, weight), (rest, side));
        }
    }

    /// Takes note of a way that goes so many steps to `(x, y)` and then so many to a side.
    #[inline]
    fn reach_beside<const MIXED: bool>(
        &mut self,
        from: &From,
        (x, y): (u32, u32),
        (steps, weight): (u32, u32),
        (distance, arrival): (u32, Direction),
    ) {
        let way = Way { arrival, steps: steps + distance, weight: weight + distance * STRAIGHT };
        self.reach::<MIXED>(from, arrival.away(x, y, distance), way);
    }

    /// Takes note of a way to `(x, y)`.
    #[inline]
    fn reach<const MIXED: bool>(&mut self, from: &From, (x, y): (u32, u32), way: Way) {
        let sum = if MIXED && way.steps == 1 {
            // From seam to seam.
            from.ground.sum_onto(from.sum, x, y)
        } else {
            from.sum
        };
        let g = u64::from(from.node.g) + u64::from(way.weight) * u64::from(sum);
        let distance = self.aim.distance(from.ground.layer, x, y);
        let h = u64::from(distance) * u64::from(self.aim.per_weight);
        if g + h > u64::from(u32::MAX) {
            self.aim.overflow = true;
            return;
        }
        if from.is_outside && !self.long.corridor.contains(x, y) {
            return;
        }
        let (g, h) = (g as u32, h as u32);
        let (id, is_new) = self.jumps.find_or_add(x, y);
        let node = self.jumps.get_mut(id);
        if !is_new && node.g <= g {
            return;
        }
        (node.g, node.parent, node.arrival) = (g, from.id, way.arrival as u8);
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

    /// Directions and lengths of the stretches from the node that was reached back to where the search
    /// began; some have no length.
    pub(super) fn jumps_back(
        &self,
        reached: NodeId,
        has_diagonals: bool,
    ) -> impl Iterator<Item = (Direction, u32)> + '_ {
        let mut id = reached;
        core::iter::from_fn(move || {
            let node = self.jumps.get(id);
            id = node.parent;
            (id != NO_NODE).then(|| stretches_back(&self.jumps.get(id), &node, has_diagonals))
        })
        .flatten()
    }
}

/// The straight stretch into a node, and the diagonal (with four neighbors: vertical) one before it.
fn stretches_back(
    parent: &JumpNode,
    node: &JumpNode,
    has_diagonals: bool,
) -> [(Direction, u32); 2] {
    let (dx, dy) = (node.x.wrapping_sub(parent.x) as i32, node.y.wrapping_sub(parent.y) as i32);
    let (columns, rows) = (dx.unsigned_abs(), dy.unsigned_abs());
    let line = Direction::from_bits(node.arrival);
    if !has_diagonals {
        let column = Direction::from_offset(0, dy.signum());
        return if columns == 0 {
            [(line, rows), (line, 0)]
        } else {
            [(line, columns), (column, rows)]
        };
    }
    if line.is_diagonal() {
        return [(line, columns), (line, 0)];
    }
    let straights = columns.max(rows) - columns.min(rows);
    let slope = Direction::from_offset(dx.signum(), dy.signum());
    [(line, straights), (slope, columns.min(rows))]
}
