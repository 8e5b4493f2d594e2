//! The ways out of a cell, and what they are worth.
//!
//! Input: what each way is worth, and in which order the ways count where they are worth the same. Output:
//! the best way, or all of them, best first. What a way is worth, its place in the order and the way itself
//! make up one number, so that eight ways are compared and sorted without a branch.

use super::unit::{Errand, STAY, Unit};

/// Bits of a key below the score: whether nobody stands there, the place in the order, the way.
const BELOW: u32 = 7;
/// Set in keys of ways on which nobody stands: those on which somebody does are shorter if they are worth
/// the same, and come first.
const VACANT: u64 = 1 << 6;
/// The greatest score: what lies above counts as no way.
const FARTHEST: u64 = (u64::MAX >> BELOW) - 1;
/// Keys from here on are never burdened: no real way is worth so much.
const UNBURDENED: u64 = 1 << 63;
/// The key of a way that is closed.
const CLOSED: u64 = u64::MAX;

/// What stands in keys below the scores, by way.
type Order = [u8; 8];

/// Straight steps first, then diagonal ones.
const STRAIGHT_FIRST: Order = order([0, 2, 4, 6, 1, 3, 5, 7]);
/// The leftmost way first, by direction.
const LEFT_FIRST: [Order; 8] = by_direction([3, 2, 1, 0, 7, 6, 5, 4]);
/// The rightmost way first, by direction.
const RIGHT_FIRST: [Order; 8] = by_direction([5, 6, 7, 0, 1, 2, 3, 4]);

/// The order for each direction, by how far ways turn left against it.
const fn by_direction(turns: [u8; 8]) -> [Order; 8] {
    let mut all = [[0; 8]; 8];
    let mut direction = 0;
    while direction < 8 {
        let mut ways = turns;
        let mut place = 0;
        while place < 8 {
            ways[place] += direction as u8;
            place += 1;
        }
        all[direction] = order(ways);
        direction += 1;
    }
    all
}

const fn order(ways: [u8; 8]) -> Order {
    let mut order = [0; 8];
    let mut place = 0;
    while place < 8 {
        let way = ways[place] & 7;
        order[way as usize] = VACANT as u8 | (place as u8) << 3 | way;
        place += 1;
    }
    order
}

/// The order in which the ways of a unit are looked at; of several that are worth the same the first
/// one counts.
///
/// Members of a group take straight steps first: a block of them walks in parallel lines then, as long as
/// it can. With diagonal steps first they would all meet on the diagonals of their goal, and go on in
/// single file. Everybody else takes the leftmost way: those who would all meet in one place circle
/// around it instead, all in the same sense. Near [walls](super::walls) the rightmost one counts, so those who have
/// come around a corner do not all go on along the same line.
#[inline]
pub(super) const fn order_of_ways(unit: &Unit) -> &'static Order {
    match unit.errand {
        Errand::Group(_) | Errand::Place(_) => &STRAIGHT_FIRST,
        Errand::Route(_) if unit.is_by_wall => &RIGHT_FIRST[(unit.direction & 7) as usize],
        _ => &LEFT_FIRST[(unit.direction & 7) as usize],
    }
}

/// Ways and what they are worth: by direction, or best first once [sorted](Self::sort).
#[derive(Clone, Copy)]
pub(super) struct Scores {
    keys: [u64; 8],
}

impl Scores {
    /// What the open ways are worth, by direction.
    #[inline(always)]
    pub(super) fn new(open: u8, order: &Order, worth: impl Fn(usize) -> u64) -> Self {
        let mut keys = [CLOSED; 8];
        for (way, key) in keys.iter_mut().enumerate() {
            let score = worth(way).min(FARTHEST) << BELOW | u64::from(order[way]);
            *key = if open >> way & 1 == 1 { score } else { CLOSED };
        }
        Self { keys }
    }

    /// The best way among some of those worth no more than `most`; [`STAY`] where there is none. Only
    /// before burdens are added.
    #[inline(always)]
    pub(super) fn best(&self, is_asked: impl Fn(usize) -> bool, most: u64) -> u8 {
        let mut best = CLOSED;
        for (way, &key) in self.keys.iter().enumerate() {
            best = best.min(if is_asked(way) { key } else { CLOSED });
        }
        if best != CLOSED && best >> BELOW <= most { best as u8 & 7 } else { STAY }
    }

    /// Adds to what ways are worth on which somebody stands. Before they are sorted.
    #[inline(always)]
    pub(super) fn burden(&mut self, crowded: u8, burden: u64) {
        if crowded == 0 {
            return;
        }
        let added = (burden << BELOW).wrapping_sub(VACANT);
        for (way, key) in self.keys.iter_mut().enumerate() {
            let is_burdened = crowded >> way & 1 == 1 && *key < UNBURDENED;
            *key += if is_burdened { added } else { 0 };
        }
    }

    /// Adds to what one way is worth.
    pub(super) fn burden_way(&mut self, way: u8, burden: u64) {
        for key in &mut self.keys {
            let is_burdened = *key as u8 & 7 == way && *key < UNBURDENED;
            *key += if is_burdened { burden << BELOW } else { 0 };
        }
    }

    /// Adds to what ways are worth, by their places once they are sorted, and sorts them anew.
    pub(super) fn burden_sorted(&mut self, burden: impl Fn(usize, u8) -> u64) {
        self.sort();
        for (at, key) in self.keys.iter_mut().enumerate() {
            let way = *key as u8 & 7;
            let score = (*key >> BELOW).saturating_add(burden(at, way)).min(FARTHEST);
            let burdened = score << BELOW | VACANT | (at as u64) << 3 | u64::from(way);
            *key = if *key == CLOSED { CLOSED } else { burdened };
        }
    }

    /// The way worth least, and whether that is less than `most`.
    #[inline(always)]
    pub(super) fn first(&self, most: u64) -> Option<u8> {
        let first = self.keys.iter().fold(CLOSED, |first, &key| first.min(key));
        (first < most.min(FARTHEST) << BELOW).then_some(first as u8 & 7)
    }

    /// Sorts the ways: nineteen exchanges, the fewest that do for eight.
    #[inline]
    pub(super) fn sort(&mut self) {
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = self.keys;
        exchange([(&mut a, &mut c), (&mut b, &mut d), (&mut e, &mut g), (&mut f, &mut h)]);
        exchange([(&mut a, &mut e), (&mut b, &mut f), (&mut c, &mut g), (&mut d, &mut h)]);
        exchange([(&mut a, &mut b), (&mut c, &mut d), (&mut e, &mut f), (&mut g, &mut h)]);
        exchange([(&mut c, &mut e), (&mut d, &mut f)]);
        exchange([(&mut b, &mut e), (&mut d, &mut g)]);
        exchange([(&mut b, &mut c), (&mut d, &mut e), (&mut f, &mut g)]);
        self.keys = [a, b, c, d, e, f, g, h];
    }

    /// The ways in their order.
    #[inline]
    pub(super) fn ways(&self) -> [u8; 8] {
        self.keys.map(|key| key as u8 & 7)
    }

    /// How many ways are worth less than `most`.
    #[inline]
    pub(super) fn count_below(&self, most: u64) -> u8 {
        let most = most.min(FARTHEST) << BELOW;
        self.keys.iter().map(|&key| u8::from(key < most)).sum()
    }
}

/// Puts the lower number of each pair first.
#[inline(always)]
fn exchange<const PAIRS: usize>(pairs: [(&mut u64, &mut u64); PAIRS]) {
    for (low, high) in pairs {
        (*low, *high) = ((*low).min(*high), (*low).max(*high));
    }
}
