//! Assigns units to slots.
//!
//! Input: members, each with some slot. Output: the same slots, redistributed among units of one size so that
//! the straight lines to them are short and no unit walks past those that stand already. Units of different rank
//! swap slots only within a level, units of different classes only where each can use the other's slot.
//!
//! 1. A unit that holds a slot for its size and rank keeps it. If it stands there already, no distance is lost:
//!    in any other assignment, two units could swap slots so that it stays and the sum of the distances does
//!    not grow (triangle inequality).
//! 2. The other units and the remaining slots are sorted into strips along the direction from the center of
//!    the units to the center of the slots; strips, and the items within them, are matched in order. O(n log
//!    n).
//! 3. Any two units swap slots if their [costs](super::line_costs) fall, until none do or the [comparisons](COMPARISONS)
//!    are used up. They are those of straight lines, not of steps: a great many paths of steps have equal lengths.
//!
//! Measured on groups of 400 units in many shapes: the sum of the distances is up to 4 % above the least possible
//! in steps, mostly below 0.5 %.

use std::collections::BTreeMap;

use super::{
    line_costs::line_cost,
    nearest_cells::{Slot, UnitClass},
    roster::RosterUnit,
};
use crate::nav::Topology;

/// Most pairs that are compared, at 6 to 7 ns each: enough for 400 units until nothing gets better (in all layouts of the
/// tests, 546,345 at most and 361,470 on average: hardly any gets cut short), and 500 for each of 2,000.
const COMPARISONS: u64 = 400_000;
const COMPARISONS_PER_UNIT: u64 = 300;
const MAX_COMPARISONS: u64 = 4_000_000;
/// A unit may be able to keep its slot only after another unit has moved to its own.
const KEEP_ROUNDS: u32 = 3;

/// Flags of units that swapped slots; shifted right by one, "this round" becomes "last round".
const SWAPPED_THIS_ROUND: u8 = 2;
const SWAPPED_LAST_ROUND: u8 = 1;

/// A unit and its slot.
#[derive(Clone, Copy, Debug)]
struct Assignment {
    unit: (u32, u32),
    slot: Slot,
    /// Cost of the line between them.
    cost: u64,
    rank: i32,
    class: u32,
    /// Index of the member.
    member: u32,
}

/// Distributes the slots of `members` among members of equal size.
pub(super) fn assign_within_sizes(
    topology: Topology,
    members: &mut [RosterUnit],
    classes: &[UnitClass<'_>],
) {
    let largest = members.iter().map(|member| member.size).max().unwrap_or(0);
    for size in 1..=largest {
        let mut assignments: Vec<Assignment> =
            assignments_of_size(topology, members, size).collect();
        let mut moving = keep_held(topology, &mut assignments, (members, classes));
        match_strips(topology, &mut moving);
        swap_slots(topology, &mut moving, classes);
        for assignment in assignments.iter().chain(&moving) {
            members[assignment.member as usize].slot = Some(assignment.slot);
        }
    }
}

/// Returns the assignments of the members of this size that have a slot.
fn assignments_of_size(
    topology: Topology,
    members: &[RosterUnit],
    size: u32,
) -> impl Iterator<Item = Assignment> {
    members.iter().enumerate().filter_map(move |(number, member)| {
        let slot = member.slot.filter(|_| member.size == size)?;
        let (unit, rank, class) = (member.cell, member.rank, member.class as u32);
        let cost = line_cost(topology, unit, slot.cell);
        Some(Assignment { unit, slot, cost, rank, class, member: number as u32 })
    })
}

/// Gives each unit the slot it holds, if it is among the slots here; leaves those units in `assignments` and
/// returns the others.
fn keep_held(
    topology: Topology,
    assignments: &mut Vec<Assignment>,
    (members, classes): (&[RosterUnit], &[UnitClass<'_>]),
) -> Vec<Assignment> {
    let cells = assignments.iter().map(|assignment| assignment.slot.cell);
    let mut owners: Vec<((u32, u32), usize)> = cells.zip(0..).collect();
    owners.sort_unstable();
    let mut keeps = vec![false; assignments.len()];
    for _ in 0..KEEP_ROUNDS {
        for first in 0..assignments.len() {
            let owner_index = |cell| owners.binary_search_by_key(&cell, |&(cell, _)| cell).ok();
            let Some(held) = members[assignments[first].member as usize].held.and_then(owner_index)
            else {
                continue;
            };
            let (second, own) = (owners[held].1, owner_index(assignments[first].slot.cell));
            let may_keep =
                first == second || may_swap(&assignments[first], &assignments[second], classes);
            if keeps[first] || keeps[second] || !may_keep {
                continue;
            }
            if first != second {
                swap(topology, assignments, first, second);
                owners[held].1 = first;
                if let Some(own) = own {
                    owners[own].1 = second;
                }
            }
            keeps[first] = true;
        }
    }
    let mut keeps = keeps.into_iter();
    assignments.extract_if(.., |_| keeps.next() == Some(false)).collect()
}

/// Matches units with the slots of their rank and class, strip by strip.
fn match_strips(topology: Topology, assignments: &mut [Assignment]) {
    // Numbered as they first occur, which does not depend on the order of the input.
    let mut numbers = BTreeMap::new();
    for assignment in assignments.iter() {
        let next = numbers.len();
        numbers.entry((assignment.rank, assignment.class)).or_insert(next);
    }
    assignments.sort_by_key(|unit| numbers.get(&(unit.rank, unit.class)).copied());
    for group in assignments.chunk_by_mut(|a, b| (a.rank, a.class) == (b.rank, b.class)) {
        let mut slots: Vec<Slot> = group.iter().map(|assignment| assignment.slot).collect();
        let ways = || group.iter().map(|assignment| (assignment.unit, assignment.slot.cell));
        let dx = ways().map(|(unit, slot)| i64::from(slot.0) - i64::from(unit.0)).sum();
        let dy = ways().map(|(unit, slot)| i64::from(slot.1) - i64::from(unit.1)).sum();
        let direction = if (dx, dy) == (0, 0) { (1, 0) } else { (dx, dy) };
        sort_into_strips(group, (topology, direction), |assignment| assignment.unit);
        sort_into_strips(&mut slots, (topology, direction), |slot| slot.cell);
        for (assignment, slot) in group.iter_mut().zip(slots) {
            (assignment.slot, assignment.cost) =
                (slot, line_cost(topology, assignment.unit, slot.cell));
        }
    }
}

/// Sorts items into strips along `direction`, as many as there are items in each, and each strip along that
/// direction.
fn sort_into_strips<T>(
    items: &mut [T],
    (topology, direction): (Topology, (i64, i64)),
    cell_of: impl Fn(&T) -> (u32, u32),
) {
    let along_and_across = |item: &T| {
        let (x, y) = cell_of(item);
        let (x, y) = (i64::from(x), i64::from(y));
        (topology.scalar_product((x, y), direction), x * direction.1 - y * direction.0)
    };
    items.sort_by_cached_key(|item| {
        let (along, across) = along_and_across(item);
        (across, along)
    });
    let strip = items.len().isqrt().max(1);
    items.chunks_mut(strip).for_each(|strip| strip.sort_by_cached_key(along_and_across));
}

/// Swaps the slots of two units wherever that lowers the cost of their lines.
fn swap_slots(topology: Topology, assignments: &mut [Assignment], classes: &[UnitClass<'_>]) {
    let count = assignments.len();
    let mut comparisons_left =
        MAX_COMPARISONS.min(COMPARISONS + COMPARISONS_PER_UNIT * count as u64);
    // Units that swapped in the last round or in this one: two that did not need no second comparison.
    let mut swapped = vec![SWAPPED_LAST_ROUND; count];
    while swapped.iter().any(|&rounds| rounds > 0) {
        for offset in 1..count {
            for first in 0..count - offset {
                let second = first + offset;
                if swapped[first] | swapped[second] == 0 {
                    continue;
                }
                comparisons_left -= 1;
                if swap_is_cheaper(topology, &assignments[first], &assignments[second])
                    && may_swap(&assignments[first], &assignments[second], classes)
                {
                    swap(topology, assignments, first, second);
                    swapped[first] |= SWAPPED_THIS_ROUND;
                    swapped[second] |= SWAPPED_THIS_ROUND;
                }
            }
            if comparisons_left < count as u64 {
                return;
            }
        }
        swapped.iter_mut().for_each(|rounds| *rounds >>= 1);
    }
}

/// Whether a swap lowers the sum of the two costs.
#[inline]
fn swap_is_cheaper(topology: Topology, first: &Assignment, second: &Assignment) -> bool {
    line_cost(topology, first.unit, second.slot.cell)
        + line_cost(topology, second.unit, first.slot.cell)
        < first.cost + second.cost
}

/// Whether two units may swap slots.
#[inline]
fn may_swap(first: &Assignment, second: &Assignment, classes: &[UnitClass<'_>]) -> bool {
    let can_use = |class: u32, (x, y): (u32, u32)| classes[class as usize].can_use(x, y);
    (first.rank == second.rank || first.slot.level == second.slot.level)
        && (first.class == second.class
            || (can_use(first.class, second.slot.cell) && can_use(second.class, first.slot.cell)))
}

fn swap(topology: Topology, assignments: &mut [Assignment], first: usize, second: usize) {
    let (a, b) = (assignments[first].slot, assignments[second].slot);
    (assignments[first].slot, assignments[second].slot) = (b, a);
    assignments[first].cost = line_cost(topology, assignments[first].unit, b.cell);
    assignments[second].cost = line_cost(topology, assignments[second].unit, a.cell);
}
