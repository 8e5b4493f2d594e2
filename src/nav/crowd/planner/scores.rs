//! The scores of the directions out of a cell.
//!
//! Input: the score of each direction (lower is better), and the order of directions with equal scores.
//! Output: the best direction, or all of them, best first. The score of a direction, its rank among ties and
//! the direction itself form one number, the key, so that eight directions are compared and sorted without a
//! branch.

use crate::nav::crowd::board::{STAY, Task, Unit};

/// Bits of a key below the score: whether the cell is vacant, the rank among ties, the direction.
const BELOW: u32 = 7;
/// Set in the keys of directions in which no unit stands: at equal scores, a direction in which a unit
/// stands includes a penalty: its path is shorter, and it comes first.
const VACANT: u64 = 1 << 6;
/// The greatest score; anything above it counts as unreachable.
const MAX_SCORE: u64 = (u64::MAX >> BELOW) - 1;
/// Keys from here on never get penalties: no real score is that high.
const NO_PENALTY_FROM: u64 = 1 << 63;
/// The key of a closed direction.
const CLOSED: u64 = u64::MAX;

/// The bits of the keys below the scores, by direction.
type TieOrder = [u8; 8];

/// Straight steps first, then diagonal ones.
const STRAIGHT_FIRST: TieOrder = by_direction([0, 2, 4, 6, 1, 3, 5, 7])[0];
/// The leftmost direction first, by the unit's direction.
const LEFT_FIRST: [TieOrder; 8] = by_direction([3, 2, 1, 0, 7, 6, 5, 4]);
/// The rightmost direction first, by the unit's direction.
const RIGHT_FIRST: [TieOrder; 8] = by_direction([5, 6, 7, 0, 1, 2, 3, 4]);

/// Returns the order for each direction of the unit, given directions relative to it.
const fn by_direction(turns: [u8; 8]) -> [TieOrder; 8] {
    let mut all = [[0; 8]; 8];
    let mut at = 0;
    while at < 64 {
        let (own, rank) = (at / 8, at % 8);
        let direction = (own as u8 + turns[rank]) & 7;
        all[own][direction as usize] = VACANT as u8 | (rank as u8) << 3 | direction;
        at += 1;
    }
    all
}

/// Returns the order in which the directions of a unit are looked at; among equal scores the first direction
/// counts.
///
/// Members of a group take straight steps first: a block of them then walks in parallel lines for as long as
/// it can. With diagonal steps first they would all meet on the diagonals of their goal and continue in
/// single file. All other units take the leftmost direction: units that would all meet in one cell circle
/// around it instead, all in the same sense. Near [walls](crate::nav::crowd::passages::wall_proximity) the rightmost direction
/// comes first, so that units that have come around a corner do not all continue along the same line. But right beside a wall
/// (`is_open` is false), units with their own paths take straight steps first: these are shorter, and a unit that takes its
/// diagonal steps right behind a door holds up all units that follow it.
#[inline]
pub const fn tie_order(unit: &Unit, is_open: bool) -> &'static TieOrder {
    match unit.task {
        Task::Group(_) => &STRAIGHT_FIRST,
        Task::Path if unit.is_near_wall && !is_open => &STRAIGHT_FIRST,
        Task::Route(_) | Task::Path if unit.is_near_wall => {
            &RIGHT_FIRST[(unit.direction & 7) as usize]
        }
        _ => &LEFT_FIRST[(unit.direction & 7) as usize],
    }
}

/// Directions and their scores: by direction, or best first once [sorted](Self::sort).
#[derive(Clone, Copy)]
pub struct Scores {
    keys: [u64; 8],
}

impl Scores {
    /// Scores the open directions, by direction.
    #[inline(always)]
    pub fn new(open: u8, order: &TieOrder, score: impl Fn(usize) -> u64) -> Self {
        let mut keys = [CLOSED; 8];
        for (direction, key) in keys.iter_mut().enumerate() {
            let score = score(direction).min(MAX_SCORE) << BELOW | u64::from(order[direction]);
            *key = if open >> direction & 1 == 1 { score } else { CLOSED };
        }
        Self { keys }
    }

    /// Returns the best direction among the candidates whose score is at most `max`; [`STAY`] if there is
    /// none. Only before penalties are added.
    #[inline(always)]
    pub fn best(&self, is_candidate: impl Fn(usize) -> bool, max: u64) -> u8 {
        let mut best = CLOSED;
        for (direction, &key) in self.keys.iter().enumerate() {
            best = best.min(if is_candidate(direction) { key } else { CLOSED });
        }
        if best != CLOSED && best >> BELOW <= max { best as u8 & 7 } else { STAY }
    }

    /// Adds a penalty to the directions in which a unit stands. Only before they are sorted.
    #[inline(always)]
    pub fn penalize(&mut self, occupied: u8, penalty: u64) {
        if occupied == 0 {
            return;
        }
        let added = (penalty << BELOW).wrapping_sub(VACANT);
        for (direction, key) in self.keys.iter_mut().enumerate() {
            let is_penalized = occupied >> direction & 1 == 1 && *key < NO_PENALTY_FROM;
            *key += if is_penalized { added } else { 0 };
        }
    }

    /// Adds a penalty to directions, given as a bit mask.
    pub fn penalize_directions(&mut self, directions: u8, penalty: u64) {
        for key in &mut self.keys {
            let is_penalized = directions >> (*key & 7) & 1 == 1 && *key < NO_PENALTY_FROM;
            *key += if is_penalized { penalty << BELOW } else { 0 };
        }
    }

    /// Sorts the directions and adds penalties by their positions in that order. Does not sort them again;
    /// the positions become the ranks among ties.
    pub fn penalize_sorted(&mut self, penalty: impl Fn(usize, u8) -> u64) {
        self.sort();
        for (at, key) in self.keys.iter_mut().enumerate() {
            let direction = *key as u8 & 7;
            let score = (*key >> BELOW).saturating_add(penalty(at, direction)).min(MAX_SCORE);
            let penalized = score << BELOW | VACANT | (at as u64) << 3 | u64::from(direction);
            *key = if *key == CLOSED { CLOSED } else { penalized };
        }
    }

    /// Returns the direction with the lowest score, if that is less than `max`.
    #[inline(always)]
    pub fn first(&self, max: u64) -> Option<u8> {
        let first = self.keys.iter().fold(CLOSED, |first, &key| first.min(key));
        (first < max.min(MAX_SCORE) << BELOW).then_some(first as u8 & 7)
    }

    /// Sorts the directions: nineteen exchanges, the minimum for eight elements.
    #[inline]
    pub fn sort(&mut self) {
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = self.keys;
        exchange([(&mut a, &mut c), (&mut b, &mut d), (&mut e, &mut g), (&mut f, &mut h)]);
        exchange([(&mut a, &mut e), (&mut b, &mut f), (&mut c, &mut g), (&mut d, &mut h)]);
        exchange([(&mut a, &mut b), (&mut c, &mut d), (&mut e, &mut f), (&mut g, &mut h)]);
        exchange([(&mut c, &mut e), (&mut d, &mut f)]);
        exchange([(&mut b, &mut e), (&mut d, &mut g)]);
        exchange([(&mut b, &mut c), (&mut d, &mut e), (&mut f, &mut g)]);
        self.keys = [a, b, c, d, e, f, g, h];
    }

    /// Returns the directions in their current order.
    #[inline]
    pub fn directions(&self) -> [u8; 8] {
        self.keys.map(|key| key as u8 & 7)
    }

    /// Returns how many directions score less than `max`.
    #[inline]
    pub fn count_below(&self, max: u64) -> u8 {
        let max = max.min(MAX_SCORE) << BELOW;
        self.keys.iter().map(|&key| u8::from(key < max)).sum()
    }
}

/// Puts the lower number of each pair first.
#[inline(always)]
fn exchange<const PAIRS: usize>(pairs: [(&mut u64, &mut u64); PAIRS]) {
    for (low, high) in pairs {
        (*low, *high) = ((*low).min(*high), (*low).max(*high));
    }
}
