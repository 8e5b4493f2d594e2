//! Who takes which place.
//!
//! Input: members, each with some place. Output: the same places, shared out anew among units of one
//! size so that the straight ways are short in sum and seldom cross. Units of different rank change
//! places only within a level, units of different tribes only where each can use the other's.
//!
//! 1. Who holds a place of its kind keeps it. Where that is where it stands, nothing is lost: whatever
//!    else it did, two units could change places so that it stays and nobody walks farther in sum
//!    (triangle inequality).
//! 2. The other units and the places left are cut into strips along the way from the middle of the ones
//!    to the middle of the others; strips, and what is in them, are matched in order. O(n log n).
//! 3. Any two change places where that is shorter, until nothing is or [`LOOKS_PER_UNIT`] are used up.
//!    Lengths are those of straight lines, not of steps: among ways of steps a great many
//!    are equally long, but two lines that cross are never the shortest.
//!
//! Measured on crowds of 400 of many shapes: up to 3 % above the exact optimum in steps, mostly far less
//! than one, and fewer than one pair of ways in two hundred crosses.

use std::collections::BTreeMap;

use super::{
    ground::Tribe,
    lengths::length,
    muster::{Member, Place},
};

/// How many pairs are compared for each unit, up to [`MOST_LOOKS`] for all of one size. All pairs of
/// 400 units are 200 for each, and two or three rounds over them find nearly everything.
const LOOKS_PER_UNIT: u64 = 500;
/// At 6 to 7 ns each.
const MOST_LOOKS: u64 = 4_000_000;
/// Holding a place may have to wait for another to be taken first.
const ROUNDS_OF_KEEPING: u32 = 3;

/// Marks of units that changed places; the one turns into the other.
const THIS_ROUND: u8 = 2;
const LAST_ROUND: u8 = 1;

/// A unit and its place.
#[derive(Clone, Copy, Debug)]
struct Pair {
    unit: (u32, u32),
    place: Place,
    /// Length of the way between them.
    length: u32,
    rank: i32,
    tribe: u32,
    /// Which member it is.
    member: u32,
}

/// Shares the places of `members` out among those of equal size.
pub(super) fn share_out(members: &mut [Member], tribes: &[Tribe<'_>]) {
    let largest = members.iter().map(|member| member.size).max().unwrap_or(0);
    for size in 1..=largest {
        let mut pairs: Vec<Pair> = pairs(members, size).collect();
        let mut moving = keep_held(&mut pairs, members, tribes);
        line_up(&mut moving);
        change_places(&mut moving, tribes);
        for pair in pairs.iter().chain(&moving) {
            members[pair.member as usize].place = Some(pair.place);
        }
    }
}

/// Members of this size that have a place.
fn pairs(members: &[Member], size: u32) -> impl Iterator<Item = Pair> {
    members.iter().enumerate().filter(move |(_, member)| member.size == size).filter_map(
        |(number, member)| {
            let (unit, place) = (member.cell, member.place?);
            let (rank, tribe) = (member.rank, member.tribe as u32);
            let length = length(unit, place.at);
            Some(Pair { unit, place, length, rank, tribe, member: number as u32 })
        },
    )
}

/// Gives everybody the place held, where it is among those here; leaves those in `pairs` and returns
/// the others.
fn keep_held(pairs: &mut Vec<Pair>, members: &[Member], tribes: &[Tribe<'_>]) -> Vec<Pair> {
    let mut owners: Vec<((u32, u32), usize)> =
        pairs.iter().enumerate().map(|(owner, pair)| (pair.place.at, owner)).collect();
    owners.sort_unstable();
    let mut keeps = vec![false; pairs.len()];
    for _ in 0..ROUNDS_OF_KEEPING {
        for one in 0..pairs.len() {
            let place_of = |at| owners.binary_search_by_key(&at, |&(at, _)| at).ok();
            let Some(held) = members[pairs[one].member as usize].held.and_then(place_of) else {
                continue;
            };
            let (other, own) = (owners[held].1, place_of(pairs[one].place.at));
            if keeps[one] || keeps[other] {
                continue;
            }
            if one != other {
                if !may_change(&pairs[one], &pairs[other], tribes) {
                    continue;
                }
                change(pairs, one, other);
                owners[held].1 = one;
                if let Some(own) = own {
                    owners[own].1 = other;
                }
            }
            keeps[one] = true;
        }
    }
    let mut keeps = keeps.into_iter();
    pairs.extract_if(.., |_| keeps.next() == Some(false)).collect()
}

/// Matches units with the places of their rank and tribe, strip by strip.
fn line_up(pairs: &mut [Pair]) {
    // Numbered as they first occur, which does not depend on the order of the input.
    let mut numbers = BTreeMap::new();
    for pair in pairs.iter() {
        let next = numbers.len();
        numbers.entry((pair.rank, pair.tribe)).or_insert(next);
    }
    pairs.sort_by_key(|pair| numbers.get(&(pair.rank, pair.tribe)).copied());
    for group in pairs.chunk_by_mut(|a, b| (a.rank, a.tribe) == (b.rank, b.tribe)) {
        let mut places: Vec<Place> = group.iter().map(|pair| pair.place).collect();
        let way = group.iter().fold((0, 0), |way, pair| {
            let ((x, y), (to_x, to_y)) = (pair.unit, pair.place.at);
            (way.0 + i64::from(to_x) - i64::from(x), way.1 + i64::from(to_y) - i64::from(y))
        });
        let way = if way == (0, 0) { (1, 0) } else { way };
        cut_in_strips(group, way, |pair| pair.unit);
        cut_in_strips(&mut places, way, |place| place.at);
        for (pair, place) in group.iter_mut().zip(places) {
            (pair.place, pair.length) = (place, length(pair.unit, place.at));
        }
    }
}

/// Sorts into as many strips along `way` as there are items in each, and each strip along the way.
fn cut_in_strips<T>(items: &mut [T], way: (i64, i64), at: impl Fn(&T) -> (u32, u32)) {
    let place = |item: &T| {
        let (x, y) = at(item);
        let (x, y) = (i64::from(x), i64::from(y));
        (x * way.0 + y * way.1, x * way.1 - y * way.0)
    };
    items.sort_by_cached_key(|item| {
        let (along, across) = place(item);
        (across, along)
    });
    let strip = items.len().isqrt().max(1);
    for strip in items.chunks_mut(strip) {
        strip.sort_by_cached_key(|item| place(item));
    }
}

/// Lets pairs change places wherever that makes their ways shorter.
fn change_places(pairs: &mut [Pair], tribes: &[Tribe<'_>]) {
    let count = pairs.len();
    let mut looks_left = MOST_LOOKS.min(LOOKS_PER_UNIT * count as u64);
    // Who changed in the last round and in this one: two that did not need no second look.
    let mut changed = vec![LAST_ROUND; count];
    while changed.iter().any(|&rounds| rounds > 0) {
        for apart in 1..count {
            for one in 0..count - apart {
                let other = one + apart;
                if changed[one] | changed[other] == 0 {
                    continue;
                }
                looks_left -= 1;
                if is_shorter(&pairs[one], &pairs[other])
                    && may_change(&pairs[one], &pairs[other], tribes)
                {
                    change(pairs, one, other);
                    changed[one] |= THIS_ROUND;
                    changed[other] |= THIS_ROUND;
                }
            }
            if looks_left < count as u64 {
                return;
            }
        }
        changed.iter_mut().for_each(|rounds| *rounds >>= 1);
    }
}

/// Whether the ways of two get shorter in sum where they change places.
#[inline]
fn is_shorter(one: &Pair, other: &Pair) -> bool {
    length(one.unit, other.place.at) + length(other.unit, one.place.at) < one.length + other.length
}

/// Whether two may change places.
#[inline]
fn may_change(one: &Pair, other: &Pair, tribes: &[Tribe<'_>]) -> bool {
    let can_use = |tribe: u32, (x, y): (u32, u32)| tribes[tribe as usize].can_use(x, y);
    (one.rank == other.rank || one.place.level == other.place.level)
        && (one.tribe == other.tribe
            || (can_use(one.tribe, other.place.at) && can_use(other.tribe, one.place.at)))
}

fn change(pairs: &mut [Pair], one: usize, other: usize) {
    let (a, b) = (pairs[one].place, pairs[other].place);
    (pairs[one].place, pairs[other].place) = (b, a);
    pairs[one].length = length(pairs[one].unit, b.at);
    pairs[other].length = length(pairs[other].unit, a.at);
}
