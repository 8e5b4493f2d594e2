//! Plans the step of one unit; units in its way make room first.
//!
//! Input: the unit to plan. Output: steps that can all begin now without any two units ever coming too close,
//! or none. Priority inheritance with backtracking (Okumura, Machida, Défago & Tamura,
//! "Priority Inheritance with Backtracking for Iterative Multi-agent Path Finding", AIJ 2022) with
//! the timing of causal PIBT (Okumura, Tamura & Défago, "Time-Independent Planning for Multiple Moving
//! Agents", AAAI 2021): a moving unit holds the cells it leaves and those it enters until it has arrived.
//!
//! The recursion is a stack of frames. A frame tries the directions of one unit, best first. An attempt
//! claims all cells the unit enters. It becomes the owner of free cells. It becomes the next owner of cells
//! that another unit is leaving, if the two directions differ by no more than a right angle, and of cells on
//! which a unit stands; that unit is then planned first and must go. Every claim is logged, and undone if the
//! attempt fails.

use super::{
    Planner,
    claim::{Claim, cancel_step, is_much_slower},
    dead_end::is_standing_back,
    make_way::clear_way,
    passage_rules::rank_with_locks,
    rank::Ranking,
    reclaim::reclaims_goal,
};
use crate::nav::crowd::board::{Board, CellList, GridPos, Hindrance, Mode, NONE, Rung, STAY, Task};
use crate::nav::crowd::scene::Scene;

/// This many ticks without coming nearer to the goal count as one tick of waiting: a unit that dodges from side to side before
/// a large unit never waits for long. With 4 it sends the large unit out of its way after 384 ticks, more than it takes to walk
/// around that unit.
const DODGED_TICKS: u64 = 4;

/// A unit being planned.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Frame {
    pub unit: u32,
    /// Direction in which it is pushed; [`STAY`] for the root.
    pub push: u8,
    ranking: Ranking,
    /// How many directions of the ranking may be tried, and how many have been.
    max_tries: u8,
    tried: u8,
    /// Whether it tries the directions in which its pusher cannot follow immediately.
    pub is_sidestepping: bool,
    /// Length of the log before the attempt.
    pub log_mark: usize,
    /// The units that must make room for it, and how many of them have been looked at.
    blockers: CellList,
    next_blocker: u8,
}

/// What the top of the stack needs next: a blocker is planned; nothing, all of them go; or another direction.
enum Next {
    Push(u32, u8),
    Done,
    Failed,
}

impl Planner {
    /// Plans a step for a unit, if it can move; returns whether it does.
    pub fn plan(&mut self, scene: &mut Scene<'_>, root: u32) -> bool {
        self.log.clear();
        self.stack.clear();
        if is_standing_back(scene.board, root) {
            return false;
        }
        self.reclaims_goal = reclaims_goal(scene.board, root);
        let unit = &scene.board.units[root];
        let is_patient = unit.size > 1 || unit.is_returning();
        scene.shape.update_wall_proximity(scene.board, scene.world.grid, root);
        if queues_near_wall(scene.board, root) {
            scene.sources.note_way_left(scene.board, root);
        }
        let is_insistent = is_due(scene, root, Rung::LetOut);
        let searches = is_insistent || scene.board.has_waited_for(root, Rung::SearchChains);
        if searches && !is_patient {
            let ranking = rank_with_locks(scene, root, STAY);
            if scene.board.units[root].hindrance == Hindrance::Oncoming {
                return false;
            }
            let directions = &ranking.directions[..usize::from(ranking.worthwhile)];
            if self.plan_ring(scene, root) || self.plan_chain(scene, root, directions) {
                scene.board.counters.chains += 1;
                return true;
            }
        } else {
            self.pushes.clear();
        }
        if is_insistent && self.shuts_in(scene, root) {
            scene.groups.restart_progress(scene.board, root);
            self.resolve_dead_end(scene, root);
            return false;
        }
        if scene.board.units[root].is_under_way() && is_due(scene, root, Rung::ClearWay) {
            clear_way(scene.board, root);
        }
        self.plan_fast_step(scene, root) || {
            scene.look_ahead(root);
            self.search(scene, root)
        }
    }

    /// Returns whether an insistent unit shuts others in: large units in its way found no way out, or none of the pushes
    /// searched led anywhere. If it has only dodged, these must include a unit: it may be in no unit's way.
    fn shuts_in(&mut self, scene: &Scene<'_>, root: u32) -> bool {
        let unit = &scene.board.units[root];
        if unit.is_under_way() && unit.yields_to() == NONE {
            self.find_large_units_shut_in(scene.board, root);
        }
        let has_waited = || scene.board.has_waited_for(root, Rung::LetOut);
        self.pushes.iter().any(|push| push.unit != root) || !self.pushes.is_empty() && has_waited()
    }

    /// Searches for a step of a unit, and for steps of the units in its way.
    pub fn search(&mut self, scene: &mut Scene<'_>, root: u32) -> bool {
        self.open_frame(scene, root, STAY);
        // Whether the claims of the last direction that the top frame has tried are still held.
        let mut is_trying = false;
        while let Some(top) = self.stack.len().checked_sub(1) {
            if !is_trying && !self.try_next_direction(scene.board, top, root) {
                self.close_frame(scene.board, root);
                continue;
            }
            let next = self.check_blockers(scene.board, top);
            is_trying = matches!(next, Next::Done);
            match next {
                Next::Push(unit, direction) => self.open_frame(scene, unit, direction),
                Next::Failed => self.undo_attempt(scene.board, top),
                Next::Done => {
                    let Frame { unit, is_sidestepping, log_mark, .. } = self.stack[top];
                    self.stack.truncate(top);
                    self.log.push(Claim::Step(unit));
                    if is_sidestepping {
                        return self.keep_only_from(scene.board, log_mark);
                    }
                }
            }
        }
        !self.log.is_empty()
    }

    fn open_frame(&mut self, scene: &mut Scene<'_>, unit: u32, push: u8) {
        scene.groups.exchange_slots(scene.board, scene.world.grid, unit);
        if push != STAY {
            scene.shape.update_wall_proximity(scene.board, scene.world.grid, unit);
        }
        let ranking = rank_with_locks(scene, unit, push);
        let is_gentle = push == STAY || self.is_pushed_gently(scene.board, unit, &ranking, push);
        let max_tries = if is_gentle { ranking.worthwhile } else { ranking.len };
        scene.board.counters.decisions += 1;
        if push == STAY && !ranking.has_path {
            scene.board.units[unit].hindrance = Hindrance::NoPath;
        }
        self.stack.push(Frame { unit, push, ranking, max_tries, ..Frame::default() });
    }

    /// Returns whether a pushed unit tries only directions that are worthwhile for itself: it wants to leave its cell
    /// anyway, in a direction within a right angle of the push. Not if one of the two units is larger, since the
    /// smaller one gets out of the way sooner in other directions; unless the pushed unit already makes way for
    /// another unit.
    fn is_pushed_gently(&self, board: &Board, unit: u32, ranking: &Ranking, push: u8) -> bool {
        let size = |index: u32| board.units[index].size;
        let have_one_size = self.stack.last().is_none_or(|frame| size(frame.unit) == size(unit));
        let unit = &board.units[unit];
        (unit.yields_to() != NONE || have_one_size && !unit.has_arrived)
            && !unit.is_idle()
            && ranking.best != STAY
            && board.topology.turn_angle(ranking.best, push) <= 2
    }

    /// Closes the top frame, whose unit has nowhere to go: the unit stays, and its pusher tries something
    /// else.
    fn close_frame(&mut self, board: &mut Board, root: u32) {
        let Some(frame) = self.stack.pop() else {
            return;
        };
        board.counters.undone += u64::from(frame.push != STAY);
        let now = board.tick_stamp();
        let unit = &mut board.units[frame.unit];
        unit.stay_tick = now;
        if frame.push != STAY {
            unit.wake_also = root;
            board.update_listening(frame.unit);
        }
        if let Some(top) = self.stack.len().checked_sub(1) {
            self.undo_attempt(board, top);
        }
    }

    /// Called when a unit makes room in such a way that its pusher cannot follow immediately. Keeps only that
    /// unit's part of the plan, from `mark` in the log on, if that part can be carried out on its own.
    fn keep_only_from(&mut self, board: &mut Board, mark: usize) -> bool {
        let pusher = self.stack.last().map_or(NONE, |frame| frame.unit);
        self.stack.drain(..).for_each(|frame| cancel_step(board, frame.unit));
        self.log.drain(..mark).rev().for_each(|claim| claim.undo(board));
        self.keep_if_valid(board, pusher)
    }

    /// Returns whether every next owner of a cell turns by no more than a right angle against the unit that leaves the cell. If so,
    /// reserves the cell that the unit planned last leaves for its pusher, if it has one; undoes the plan otherwise. This is
    /// checked at the end, because the link that closes a ring is logged before the ring's first unit is planned to step.
    pub fn keep_if_valid(&mut self, board: &mut Board, pusher: u32) -> bool {
        let is_valid = self.log.iter().all(|claim| match *claim {
            Claim::NextOwner(cell) => {
                let reservation = board.reservations.get(cell);
                let owner = &board.units[reservation.owner];
                let next = &board.units[reservation.next_owner];
                owner.is_moving() && board.topology.turn_angle(owner.direction, next.direction) <= 2
            }
            _ => true,
        });
        if is_valid {
            self.reserve_for_pusher(board, pusher);
        } else {
            self.undo_to(board, 0);
        }
        is_valid
    }

    /// Reserves the cell that the unit planned last leaves for its pusher.
    fn reserve_for_pusher(&mut self, board: &mut Board, pusher: u32) {
        let Some(&Claim::Step(index)) = self.log.last() else {
            return;
        };
        let unit = &board.units[index];
        if unit.size > 1 || pusher == NONE || board.units[pusher].reserved_cell != NONE {
            return;
        }
        let cell = board.reservations.index(unit.tail);
        let reservation = board.reservations.get_mut(cell);
        if reservation.next_owner == NONE {
            reservation.next_owner = pusher;
            board.units[pusher].reserved_cell = cell;
        }
    }

    /// Checks that all blockers of the top frame go, and leave all cells that it claims.
    fn check_blockers(&mut self, board: &Board, top: usize) -> Next {
        let frame = &mut self.stack[top];
        let direction = board.units[frame.unit].direction;
        loop {
            let next = usize::from(frame.next_blocker);
            let Some(&blocker) = frame.blockers.as_slice().get(next) else {
                return Next::Done;
            };
            frame.next_blocker += 1;
            let other = &board.units[blocker];
            if other.is_moving() {
                let is_turning = board.topology.turn_angle(other.direction, direction) > 2;
                if is_turning || board.enters(frame.unit, direction, (other.head, other.size)) {
                    return Next::Failed;
                }
            } else if other.stay_tick == board.tick_stamp() {
                return Next::Failed;
            } else {
                return Next::Push(blocker, direction);
            }
        }
    }

    /// Claims the cells of the next direction of the top frame for which that is possible; returns whether
    /// there is one.
    fn try_next_direction(&mut self, board: &mut Board, top: usize, root: u32) -> bool {
        loop {
            let frame = &mut self.stack[top];
            if frame.tried >= frame.max_tries {
                if frame.push == STAY
                    || frame.is_sidestepping
                    || frame.max_tries < frame.ranking.len
                {
                    return false;
                }
                (frame.is_sidestepping, frame.tried) = (true, 0);
                continue;
            }
            let direction = frame.ranking.directions[usize::from(frame.tried)];
            frame.tried += 1;
            let Frame { unit, push, tried, is_sidestepping, .. } = *frame;
            // A unit that makes room for a unit that reclaims its goal does not step onto that goal: it would only be in the way
            // again. (With this rule and `Rung::ReclaimFree`, 400 units on hexagons come to rest within 2,000 ticks; without them,
            // some do not within 6,000.)
            let reclaimed = (board.units[root].goal, board.units[root].size);
            if push != STAY
                && (self.delays_pusher(board, top, direction) != Some(is_sidestepping)
                    || self.reclaims_goal && board.enters(unit, direction, reclaimed))
            {
                continue;
            }
            match self.claim_step(board, direction) {
                Ok(blockers) => {
                    let frame = &mut self.stack[top];
                    (frame.blockers, frame.next_blocker) = (blockers, 0);
                    return true;
                }
                Err(hindrance) if tried == 1 && push == STAY => {
                    board.units[root].hindrance = hindrance;
                }
                Err(_) => {}
            }
        }
    }

    /// Returns whether the pusher of the unit on top of the stack could not follow immediately if that unit
    /// went in this direction; `None` if the step would make no room at all. Large units may need several
    /// steps to the side.
    fn delays_pusher(&self, board: &Board, top: usize, direction: u8) -> Option<bool> {
        let (frame, pusher) = (&self.stack[top], &self.stack[top.checked_sub(1)?]);
        let angle = board.topology.turn_angle(frame.push, direction);
        let (unit, pusher) = (&board.units[frame.unit], &board.units[pusher.unit]);
        if angle == 4 {
            return None;
        }
        let is_delayed = angle > 2 || is_much_slower(unit, pusher);
        if unit.size == 1 && pusher.size == 1 {
            return Some(is_delayed);
        }
        let needed = board.reservations.entered(pusher.tail, pusher.size, pusher.direction);
        let covered = |at: GridPos| {
            needed.iter().filter(|&cell| board.reservations.covers(at, unit.size, cell)).count()
        };
        match covered(unit.tail.step(direction)) {
            0 => Some(is_delayed),
            after => (after < covered(unit.tail)).then_some(true),
        }
    }

    /// Undoes the claims of the current attempt of a frame.
    fn undo_attempt(&mut self, board: &mut Board, top: usize) {
        let Frame { unit, tried, log_mark, .. } = self.stack[top];
        self.undo_to(board, log_mark);
        cancel_step(board, unit);
        if top == 0 && tried == 1 {
            board.units[unit].hindrance = Hindrance::Jam;
        }
    }
}

/// Returns whether a unit has waited for long enough for a rung, or walked for as long without coming nearer to its goal.
fn is_due(scene: &Scene<'_>, index: u32, rung: Rung) -> bool {
    let dodged = scene.groups.ticks_since_progress(scene.board, index) / DODGED_TICKS;
    let unit = &scene.board.units[index];
    dodged >= unit.ticks_until(rung) || scene.board.has_waited_for(index, rung)
}

/// Returns whether a unit on its own path has waited near a wall: there is a queue.
fn queues_near_wall(board: &Board, index: u32) -> bool {
    let unit = &board.units[index];
    unit.is_near_wall
        && (unit.task, unit.mode) == (Task::Path, Mode::Normal)
        && board.has_waited_for(index, Rung::JoinQueue)
}

/// Returns whether two units are under way to a shared goal, or along their own paths in about the same direction. A
/// push gains nothing then: the unit ahead goes on as soon as it can. Not if that unit stands back on purpose.
pub fn go_the_same_way(board: &Board, index: u32, other: u32) -> bool {
    let (unit, other) = (&board.units[index], &board.units[other]);
    let (from, to) = (unit.preferred_direction, other.preferred_direction);
    let have_paths = matches!((unit.task, other.task), (Task::Path, Task::Path));
    let go_along =
        have_paths && from != STAY && to != STAY && board.topology.turn_angle(from, to) <= 2;
    unit.task != Task::Idle
        && (unit.shares_goal_with(other) || go_along)
        && !unit.has_arrived
        && !other.has_arrived
        && !other.stands_back
        && (unit.yields_to(), other.yields_to()) == (NONE, NONE)
}
