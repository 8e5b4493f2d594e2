//! How many wait for a way to the same place: a table by place and class.
//!
//! Input: jobs that come and go. Output: what is known of those that wait for one place: how many
//! there are, and how far they have to go. Open addressing with linear probing, at most three
//! quarters full; whoever goes leaves no mark, as those behind move up. The table shrinks with what
//! it holds. Nobody goes through it in its order, so that shows nowhere.

use super::share::GroupKey;

/// Slots of the smallest table. It is kept.
const LEAST_SLOTS: usize = 64;
/// A table less full than one in so many shrinks.
const SPARSE: usize = 8;

/// Jobs that wait for a way to one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) count: u32,
    /// Those that were never taken up.
    pub(super) new: u32,
    /// Distances from their starts, added up and at most, in cells (the longer of columns and rows).
    /// The farthest may be gone.
    pub(super) distance: u64,
    pub(super) farthest: u32,
}

/// Who is counted together: where they go to, and their class.
pub(super) type Name = (GroupKey, u8);

/// All groups.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// A group without members is an empty slot.
    slots: Vec<(Name, Group)>,
    used: usize,
}

impl Groups {
    pub(super) fn get(&self, name: &Name) -> Option<&Group> {
        let (_, group) = &self.slots[self.find(name)?];
        (group.count > 0).then_some(group)
    }

    /// A job has come that has to go so far.
    pub(super) fn add(&mut self, name: Name, distance: u32, is_new: bool) {
        if 4 * (self.used + 1) > 3 * self.slots.len() {
            self.resize((2 * self.slots.len()).max(LEAST_SLOTS));
        }
        let Some(slot) = self.find(&name) else {
            return;
        };
        let (held, group) = &mut self.slots[slot];
        *held = name;
        self.used += usize::from(group.count == 0);
        group.count += 1;
        group.new += u32::from(is_new);
        group.distance += u64::from(distance);
        group.farthest = group.farthest.max(distance);
    }

    /// A job that had come has gone.
    pub(super) fn remove(&mut self, name: &Name, distance: u32, is_new: bool) {
        let Some(slot) = self.find(name) else {
            return;
        };
        let (_, group) = &mut self.slots[slot];
        if group.count > 1 {
            group.count -= 1;
            group.new -= u32::from(is_new);
            group.distance -= u64::from(distance);
        } else if group.count == 1 {
            self.used -= 1;
            self.empty(slot);
            if self.slots.len() > LEAST_SLOTS && SPARSE * self.used < self.slots.len() {
                self.resize(self.slots.len() / 2);
            }
        }
    }

    /// Memory held, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<(Name, Group)>()
    }

    /// The slot of a group, or the empty one where it would go; `None` where there is no table.
    fn find(&self, name: &Name) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut slot = hash(name) & mask;
        while self.slots[slot].1.count > 0 && self.slots[slot].0 != *name {
            slot = (slot + 1) & mask;
        }
        Some(slot)
    }

    /// Empties a slot: those behind it that are not where they belong move up.
    fn empty(&mut self, slot: usize) {
        let mask = self.slots.len() - 1;
        let (mut gap, mut slot) = (slot, slot);
        loop {
            slot = (slot + 1) & mask;
            let (name, group) = &self.slots[slot];
            if group.count == 0 {
                break;
            }
            let from_home = slot.wrapping_sub(hash(name)) & mask;
            if from_home >= slot.wrapping_sub(gap) & mask {
                self.slots[gap] = self.slots[slot];
                gap = slot;
            }
        }
        self.slots[gap] = Default::default();
    }

    #[cold]
    fn resize(&mut self, slots: usize) {
        let empty = vec![Default::default(); slots];
        for (name, group) in core::mem::replace(&mut self.slots, empty) {
            if let Some(slot) = self.find(&name).filter(|_| group.count > 0) {
                self.slots[slot] = (name, group);
            }
        }
    }
}

/// Spreads groups over slots; neighbors land apart.
fn hash((key, class): &Name) -> usize {
    let cell = u64::from(key.goal.x as u32) << 32 | u64::from(key.goal.y as u32);
    let rest = u64::from(key.grid.0) << 16 | u64::from(key.profile.0) << 8 | u64::from(*class);
    let mixed =
        (cell ^ rest.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 32).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed >> 32) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::nav::{cell::Cell, query::GridId, terrain::ProfileId};

    fn name(number: u32) -> Name {
        let goal = Cell::new((number % 37) as i32 - 18, (number / 37) as i32);
        let key = GroupKey { grid: GridId(number % 2), profile: ProfileId(0), goal };
        (key, (number % 3) as u8)
    }

    /// Where a group stands in the table, it is found; slots in use are those counted.
    fn check(groups: &Groups, plain: &BTreeMap<u32, Vec<(u32, bool)>>) {
        assert_eq!(groups.used, plain.values().filter(|jobs| !jobs.is_empty()).count());
        for (&number, jobs) in plain {
            let found =
                groups.get(&name(number)).map(|group| (group.count, group.new, group.distance));
            let new = jobs.iter().filter(|(_, is_new)| *is_new).count() as u32;
            let distance: u64 = jobs.iter().map(|&(distance, _)| u64::from(distance)).sum();
            let expected = (!jobs.is_empty()).then_some((jobs.len() as u32, new, distance));
            assert_eq!(found, expected, "group {number}");
            let farthest = jobs.iter().map(|&(distance, _)| distance).max();
            let kept = groups.get(&name(number)).map(|group| group.farthest);
            assert!(kept >= farthest, "group {number}");
        }
    }

    proptest! {
        #[test]
        fn the_table_counts_what_plain_lists_do(
            deeds in prop::collection::vec(
                (any::<bool>(), 0u32..200, 0u32..90, any::<bool>()),
                1..600,
            ),
        ) {
            let (mut groups, mut plain) = (Groups::default(), BTreeMap::<u32, Vec<_>>::new());
            for (comes, number, distance, is_new) in deeds {
                let jobs = plain.entry(number).or_default();
                if comes {
                    jobs.push((distance, is_new));
                    groups.add(name(number), distance, is_new);
                } else if let Some((distance, is_new)) = jobs.pop() {
                    groups.remove(&name(number), distance, is_new);
                } else {
                    groups.remove(&name(number), distance, is_new); // nobody there
                }
            }
            check(&groups, &plain);
        }
    }

    #[test]
    fn a_table_that_was_large_becomes_small_again() {
        let mut groups = Groups::default();
        let names = |range: std::ops::Range<u32>| range.map(name);
        names(0..20_000).for_each(|name| groups.add(name, 7, true));
        let most = groups.bytes();
        names(100..20_000).for_each(|name| groups.remove(&name, 7, true));
        assert!(groups.bytes() * 10 < most, "{} of {most} bytes", groups.bytes());
        assert!(names(0..100).all(|name| groups.get(&name).is_some_and(|group| group.count == 1)));
        assert!(names(100..20_000).all(|name| groups.get(&name).is_none()));
        names(0..100).for_each(|name| groups.remove(&name, 7, true));
        assert_eq!(groups.slots.len(), LEAST_SLOTS);
    }
}
