//! Units leave the way of a large unit, or of a small one behind a large unit.
//!
//! Input: a unit that has waited for some time, and the units on the cells of its next step. Output: those
//! units go where they are out of its way, by the cheapest way there, and wait until it has moved. A push moves
//! a unit by one cell; a large unit may need several steps, and the first of them may bring it no nearer to
//! being out of the way. The units inherit the priority of the unit for which they make way, so the units in their own
//! way make way for them in turn. If a unit that makes way has priority over the large unit, because it is let out or
//! its last order is older, it leaves the whole way of that unit, even through the unit itself where that is shorter; if there is
//! no room beside that way, it goes ahead.

use super::Planner;
use crate::nav::crowd::board::{
    Board, CellList, GridPos, Mode, NONE, Rung, STAY, Unit, legal_directions,
};
use crate::nav::crowd::scene::Scene;
use crate::nav::{Footprint, NavGrid, STRAIGHT, directions};

/// Greatest distance to the place where a unit is out of the way, in columns and rows.
const RADIUS: u16 = 16;
const SIDE: usize = 2 * RADIUS as usize + 1;
/// How many positions of the way of another unit are to be left free at least: where it is or goes now, and the next.
const NEAR_WAY: usize = 2;
/// A position on which another unit stands costs this many straight steps more, and one step more for every so
/// many ticks that the unit to be let through has waited.
const OCCUPIED_STEPS: u64 = 2;
const TICKS_PER_OCCUPIED_STEP: u64 = 32;
/// It costs this many times as much if a unit there was already sent out of the way and still stands.
const JAMMED_TIMES: u64 = 4;

impl Planner {
    /// Chooses the next step of a unit that makes way; returns false when it need not any more, or cannot.
    pub fn continue_making_way(&mut self, scene: &mut Scene<'_>, index: u32, passing: u32) -> bool {
        self.find_way_of(scene, passing, index);
        let (board, grid) = (&mut *scene.board, scene.world.grid);
        let other = &board.units[passing];
        let is_over = !other.is_under_way() || other.yields_to() == index;
        if is_over {
            return false;
        }
        let mut direction = self.way_out(board, grid, index);
        if direction.is_none() && self.way.len() > NEAR_WAY {
            // There is no room beside the whole way: it goes ahead of the other unit.
            self.way.truncate(NEAR_WAY);
            direction = self.way_out(board, grid, index);
        }
        let passing = board.id(passing);
        let known = direction.map(|direction| Mode::MakingWay(passing, direction));
        board.units[index].mode = known.unwrap_or_default();
        known.is_some()
    }

    /// Lists the positions that must be left free for `passing`: the position that it enters or stands on, and the position
    /// after its next step. If the unit that makes way has priority, lists all positions up to [`RADIUS`] steps ahead.
    fn find_way_of(&mut self, scene: &Scene<'_>, passing: u32, index: u32) {
        let board = &*scene.board;
        let mut other = Unit { mode: Mode::Normal, ..board.units[passing] };
        self.way.clear();
        self.way.push(other.head);
        if board.units[index].priority(index) > other.priority(passing) {
            let next = other.preferred_direction;
            self.way.extend((next != STAY).then(|| other.head.step(next)));
            return;
        }
        let Some(layer) = scene.world.grid.layer(other.profile) else {
            return;
        };
        for _ in 0..RADIUS {
            other.tail = self.way[self.way.len() - 1];
            let legal = legal_directions(layer, other.tail);
            let costs = scene.cost_to_go_around((passing, &other), legal);
            let nearer = directions(legal).filter(|&step| costs[step] < costs[usize::from(STAY)]);
            let Some(step) = nearer.min_by_key(|&step| costs[step]) else {
                return;
            };
            self.way.push(other.tail.step(step as u8));
        }
    }

    /// Returns the first direction of the cheapest path to a position that is out of the way of the other unit; [`STAY`] where the
    /// unit is out of it already. `None` if it cannot get out, or need not any more.
    fn way_out(&mut self, board: &Board, grid: &NavGrid, index: u32) -> Option<u8> {
        let unit = &board.units[index];
        let other = &board.units[unit.yields_to()];
        let footprints = [unit, other].map(|unit| board.reservations.footprint(unit.size));
        let Self { window, open_cells: open, way, .. } = self;
        if !is_in_way(unit.tail, footprints, way) {
            return (!other.is_moving()).then_some(STAY);
        }
        let layer = grid.layer(unit.profile)?;
        let low = |at: u16| at.saturating_sub(RADIUS);
        let origin = GridPos { x: low(unit.tail.x), y: low(unit.tail.y) };
        let side = |at: u16| at + RADIUS + 1 - low(at);
        window.lay_out(origin, (side(unit.tail.x), side(unit.tail.y)));
        window.begin(open);
        // The first direction of the path to each cell.
        let mut first_directions = [None; SIDE * SIDE];
        window.improve(open, unit.tail, 0);
        while let Some((cost, pos)) = window.pop(open) {
            let first = window.index(pos).and_then(|at| first_directions[at]);
            if !is_in_way(pos, footprints, way) {
                return first;
            }
            let legal = legal_directions(layer, pos);
            for step in (0..8).filter(|step| legal & 1 << step != 0) {
                let next = pos.step(step);
                let cost = cost + u64::from(layer.adjacency().weights()[usize::from(step & 1)]);
                // Finding what obstructs a large unit takes longer: only for lower costs.
                let is_lower = window.is_lower(next, cost);
                if let Some(penalty) = is_lower.then(|| obstruction(board, index, next)).flatten()
                    && let Some(at) = window.improve(open, next, cost + penalty)
                {
                    first_directions[at] = first.or(Some(step));
                }
            }
        }
        None
    }
}

/// Returns whether a unit at a position is in the way of another unit: on cells that the other one covers on its way.
fn is_in_way(pos: GridPos, [covered, others]: [Footprint; 2], way: &[GridPos]) -> bool {
    way.iter().any(|&at| covered.meets(others, pos.offset_to(at)))
}

/// Sends the units in the way of `root` out of it, if `root` or they are large. All others are left to the
/// search for chains.
pub fn clear_way(board: &mut Board, root: u32) {
    let (unit, root_id) = (board.units[root], board.id(root));
    for index in large_units_ahead(board, root).iter() {
        let other = &mut board.units[index];
        let may_be_sent = index != unit.yields_to() && other.yields_to() != root;
        if may_be_sent && other.priority(index) > unit.priority(root) {
            other.mode = Mode::MakingWay(root_id, STAY);
            other.inherit_priority(&unit);
            board.schedule_next_tick(index);
        }
    }
}

/// Lists the units that stand on the cells of the next step of `root` and that it may push, if `root` or they are large.
pub fn large_units_ahead(board: &Board, root: u32) -> CellList {
    let unit = &board.units[root];
    let mut found = CellList::default();
    if unit.preferred_direction == STAY {
        return found;
    }
    let entered = board.reservations.entered(unit.tail, unit.size, unit.preferred_direction);
    for index in entered.iter().map(|cell| board.reservations.get(cell).owner) {
        let is_listed = |other: &Unit| {
            (unit.size > 1 || other.size > 1)
                && index != root
                && !other.is_moving()
                && !other.is_trapped()
                && other.is_pushable_by(unit.team)
        };
        if board.units.get(index).is_some_and(is_listed) {
            found.push(index);
        }
    }
    found
}

/// Returns the extra cost of a position on which other units stand, for a unit that makes way; `None` if it
/// cannot push them.
fn obstruction(board: &Board, index: u32, pos: GridPos) -> Option<u64> {
    let (unit, passing) = (&board.units[index], board.units[index].yields_to());
    let (mut is_occupied, mut is_jammed) = (false, false);
    for cell in board.reservations.block(pos, unit.size) {
        let owner = board.reservations.get(cell).owner;
        if owner == NONE || owner == index {
            continue;
        }
        let other = &board.units[owner];
        // The unit for which it makes way has priority, unless that unit shuts it in and now lets it out.
        let has_priority = other.priority(owner) < unit.priority(index);
        if has_priority && !other.accepts_any_push || !other.is_pushable_by(unit.team) {
            return None;
        }
        // A unit that lets it out steps back; others may have no room to do so, and one that has failed to step back for long counts as one of these.
        is_occupied |= owner != passing || board.has_waited_for(passing, Rung::HoldPlace);
        is_jammed |= other.yields_to() == index && !other.is_moving();
    }
    let waited = board.units[passing].ticks_waited(board.now);
    let steps = OCCUPIED_STEPS + waited / TICKS_PER_OCCUPIED_STEP;
    let steps = if is_jammed { JAMMED_TIMES * steps } else { steps };
    Some(if is_occupied { steps * u64::from(STRAIGHT) } else { 0 })
}
