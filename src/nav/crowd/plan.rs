//! One unit moves, and those in its way make room first.
//!
//! Input: a unit whose turn it is. Output: steps that can all begin now without anybody ever coming too
//! near to anybody, or none. Priority inheritance with backtracking (Okumura, Machida, Défago & Tamura,
//! "Priority Inheritance with Backtracking for Iterative Multi-agent Path Finding", AIJ 2022) with
//! the timing of causal PIBT (Okumura, Tamura & Défago, "Time-Independent Planning for Multiple Moving
//! Agents", AAAI 2021): who moves holds the cells it leaves and those it enters until it has arrived.
//!
//! The recursion is a stack of frames. A frame tries the ways of one unit, best first. A try claims all
//! cells it enters: free ones at once; those which somebody is leaving as their heir, if that one turns
//! by no more than a right angle against this step; those on which somebody stands as their heir too,
//! and then that one is planned first and must go. Every claim is logged and undone if the try fails.

use super::{
    Crowd, Hindrance,
    board::{Few, turn},
    claim::Claim,
    guide::{Guidance, World},
    rank::Ranking,
    unit::{Errand, NONE, STAY, State},
};

/// Ticks of waiting after which a unit pushes those aside who would go its way by themselves.
const PATIENCE: u64 = 96;

/// Ticks of waiting after which a unit that could not be pushed one way is pushed in others, too.
const THOROUGH: u64 = 48;

/// Ticks of waiting after which a unit for whom nobody can make room lets those out who are shut in.
const HOPELESS: u64 = 160;

/// A unit being planned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) unit: u32,
    /// Direction in which it is pushed.
    pub(super) push: u8,
    ranking: Ranking,
    /// Ways of the ranking that may be tried, and how many have been.
    ways: u8,
    tried: u8,
    /// Whether ways are tried on which whoever pushes cannot follow.
    pub(super) is_giving_way: bool,
    /// Whether the last way tried is still being claimed.
    is_trying: bool,
    /// Length of the log before the try.
    pub(super) mark: usize,
    /// Who must make room for it, and how many have been asked.
    blockers: Few,
    asked: u8,
}

/// What the top of the stack needs next.
enum Next {
    Push(u32, u8),
    Done,
    Failed,
}

impl Crowd {
    /// Lets a unit move, if it can; says whether it does.
    pub(super) fn plan<G: Guidance + ?Sized>(&mut self, world: &World<'_, G>, root: u32) -> bool {
        self.log.clear();
        self.stack.clear();
        if self.is_standing_back(root) {
            return false;
        }
        let unit = &self.units[root as usize];
        let is_patient = unit.size > 1 || unit.is_ghost || unit.is_back_only();
        self.look_for_walls(world, root);
        if self.waited(root) >= THOROUGH && !is_patient {
            let ranking = self.rank_with_locks(world, root, STAY);
            if self.units[root as usize].hindrance == Hindrance::Oncoming {
                return false;
            }
            let ways = &ranking.ways[..usize::from(ranking.worthwhile)];
            let is_found = self.plan_chain(world, root, ways);
            self.counters.chains += u64::from(is_found);
            if is_found {
                return true;
            }
            if self.waited(root) >= HOPELESS {
                self.let_out(root);
                return false;
            }
        }
        if self.stride(world, root) {
            return true;
        }
        self.open_frame(world, root, STAY);
        while !self.stack.is_empty() {
            match self.go_on(root) {
                Next::Push(unit, direction) => self.open_frame(world, unit, direction),
                Next::Done => {
                    if let Some(frame) = self.stack.pop() {
                        self.log.push(Claim::Moves(frame.unit));
                        if frame.is_giving_way {
                            return self.keep_only_from(frame.mark);
                        }
                    }
                }
                Next::Failed => self.close_frame(root),
            }
        }
        !self.log.is_empty()
    }

    fn open_frame<G: Guidance + ?Sized>(&mut self, world: &World<'_, G>, unit: u32, push: u8) {
        self.exchange_slots(world, unit);
        if push != STAY {
            self.look_for_walls(world, unit);
        }
        let ranking = self.rank_with_locks(world, unit, push);
        let first = self.stack.first().map_or(unit, |frame| frame.unit);
        let is_asked_softly = push != STAY
            && (self.waited(first) < PATIENCE || self.are_in_line(first, unit))
            && self.wants_along(unit, &ranking, push);
        let ways = if push == STAY || is_asked_softly { ranking.worthwhile } else { ranking.len };
        self.counters.decisions += 1;
        if push == STAY && !ranking.knows_way {
            self.units[unit as usize].hindrance = Hindrance::NoWay;
        }
        self.stack.push(Frame {
            unit,
            push,
            ranking,
            ways,
            tried: 0,
            is_giving_way: false,
            is_trying: false,
            mark: self.log.len(),
            blockers: Few::default(),
            asked: 0,
        });
    }

    /// Whether two units are on the way to the same place.
    pub(super) fn are_in_line(&self, index: u32, other: u32) -> bool {
        let (unit, other) = (&self.units[index as usize], &self.units[other as usize]);
        unit.errand == other.errand
            && matches!(unit.errand, Errand::Route(_) | Errand::Group(_) | Errand::Place(_))
            && !unit.has_arrived
            && !other.has_arrived
            && (unit.flees, other.flees) == (NONE, NONE)
    }

    /// Whether a unit leaves its cell by itself as soon as it can, and not against the push.
    fn wants_along(&self, unit: u32, ranking: &Ranking, push: u8) -> bool {
        let unit = &self.units[unit as usize];
        !unit.is_idle()
            && (!unit.has_arrived || unit.flees != NONE)
            && ranking.best != STAY
            && turn(ranking.best, push) <= 2
    }

    /// The unit on top of the stack has nowhere to go: it stays, and whoever pushed it tries
    /// something else.
    fn close_frame(&mut self, root: u32) {
        let Some(frame) = self.stack.pop() else {
            return;
        };
        self.counters.undone += u64::from(frame.push != STAY);
        let now = self.stamp();
        let unit = &mut self.units[frame.unit as usize];
        unit.settled_in = now;
        if frame.push != STAY {
            unit.wakes = root;
            self.listen(frame.unit);
        }
        if let Some(top) = self.stack.len().checked_sub(1) {
            self.give_up_try(top);
        }
    }

    /// A unit makes room in such a way that whoever pushes cannot follow at once: of the whole plan only
    /// its own part, from `mark` on in the log, is carried out, if it stands by itself.
    fn keep_only_from(&mut self, mark: usize) -> bool {
        let mut part = core::mem::take(&mut self.kept);
        part.clear();
        let pusher = self.stack.last().map_or(NONE, |frame| frame.unit);
        part.extend(self.log.drain(mark..));
        while let Some(frame) = self.stack.pop() {
            self.undo_to(frame.mark);
            self.stand_again(frame.unit);
        }
        let stands = part.iter().all(|claim| match *claim {
            Claim::Inherits(cell) => self.units[self.board.hold(cell).owner as usize].is_moving(),
            _ => true,
        });
        self.log.append(&mut part);
        self.kept = part;
        if stands {
            self.reserve(pusher);
        } else {
            self.undo_to(0);
        }
        stands
    }

    /// Keeps what the unit planned last leaves behind for whoever pushed it.
    pub(super) fn reserve(&mut self, pusher: u32) {
        let Some(&Claim::Moves(index)) = self.log.last() else {
            return;
        };
        let unit = &self.units[index as usize];
        if unit.size > 1 || pusher == NONE || self.units[pusher as usize].reserves != NONE {
            return;
        }
        let cell = self.board.index(unit.tail);
        let hold = self.board.hold_mut(cell);
        if hold.heir == NONE {
            hold.heir = pusher;
            self.units[pusher as usize].reserves = cell;
        }
    }

    /// For how many ticks a unit has not moved though it wants to.
    pub(super) fn waited(&self, index: u32) -> u64 {
        let unit = &self.units[index as usize];
        if unit.state == State::Waiting { unit.waited(self.now) } else { 0 }
    }

    /// Goes on with the unit on top of the stack.
    fn go_on(&mut self, root: u32) -> Next {
        let Some(top) = self.stack.len().checked_sub(1) else {
            return Next::Failed;
        };
        loop {
            if !self.stack[top].is_trying && !self.try_next_way(top, root) {
                return Next::Failed;
            }
            match self.ask_blockers(top) {
                Some(next) => return next,
                None => self.give_up_try(top),
            }
        }
    }

    /// Sees to it that all blockers go; `None` where one of them cannot.
    fn ask_blockers(&mut self, top: usize) -> Option<Next> {
        loop {
            let frame = &mut self.stack[top];
            let direction = self.units[frame.unit as usize].direction;
            let Some(&blocker) = frame.blockers.as_slice().get(usize::from(frame.asked)) else {
                return Some(Next::Done);
            };
            frame.asked += 1;
            let other = &self.units[blocker as usize];
            if other.is_moving() {
                if turn(other.direction, direction) > 2 || !self.is_out_of_way(top, blocker) {
                    return None;
                }
            } else if other.settled_in == self.stamp() {
                return None;
            } else {
                return Some(Next::Push(blocker, direction));
            }
        }
    }

    /// Whether a blocker that has been planned by now leaves all cells that the top frame claims.
    fn is_out_of_way(&self, top: usize, blocker: u32) -> bool {
        let unit = &self.units[self.stack[top].unit as usize];
        let other = &self.units[blocker as usize];
        let entered = self.board.entered(unit.tail, unit.size, unit.direction);
        entered.as_slice().iter().all(|&cell| !self.board.covers(other.head, other.size, cell))
    }

    /// Claims what the next way of the top frame needs that can be claimed; false where there is none.
    fn try_next_way(&mut self, top: usize, root: u32) -> bool {
        loop {
            let frame = &mut self.stack[top];
            if frame.tried >= frame.ways {
                if frame.push == STAY || frame.is_giving_way || frame.ways < frame.ranking.len {
                    return false;
                }
                (frame.is_giving_way, frame.tried) = (true, 0);
                continue;
            }
            let way = frame.ranking.ways[usize::from(frame.tried)];
            frame.tried += 1;
            let (push, is_first) = (frame.push, frame.tried == 1);
            let is_giving_way = frame.is_giving_way;
            if push != STAY && self.room_made(top, way) != Some(is_giving_way) {
                continue;
            }
            match self.claim_way(top, root, way) {
                Ok(blockers) => {
                    let frame = &mut self.stack[top];
                    (frame.blockers, frame.asked, frame.is_trying) = (blockers, 0, true);
                    return true;
                }
                Err(hindrance) if is_first && push == STAY => {
                    self.units[root as usize].hindrance = hindrance;
                }
                Err(_) => {}
            }
        }
    }

    fn give_up_try(&mut self, top: usize) {
        let (unit, mark) = (self.stack[top].unit, self.stack[top].mark);
        self.undo_to(mark);
        self.stack[top].is_trying = false;
        self.stand_again(unit);
        if top == 0 && self.stack[0].tried == 1 {
            self.units[unit as usize].hindrance = Hindrance::Jam;
        }
    }
}
