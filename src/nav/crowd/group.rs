//! Many units come to rest near one goal, each on a cell of its own.
//!
//! Input: a shared field to the goal, and members. Output: as many slots as there are members, the cells
//! nearest to the goal, in a window around them (see `slots`); and for each member that has come into the
//! window the slot that it goes to (see `settle`). Slots are found anew when the number of members or the
//! ground changes.

use super::{
    Crowd, CrowdError, RouteId, UnitId,
    board::Place,
    guide::{FAR, Guidance, World},
    muster::{Mates, places_of},
    unit::{Errand, NONE, State},
};
use crate::nav::{cell::Cell, grid::NavGrid, terrain::ProfileId};

/// Fewest ticks between two looks at the slots.
const REFRESH: u64 = 8;

/// A group of a [`Crowd`]. Never given to another group, even after this one is removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId {
    slot: u32,
    generation: u32,
}

/// Where a group stands in the list of groups, as its members note it: they leave it before it is removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct GroupSlot(pub(super) u32);

#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub(super) route: Option<RouteId>,
    /// Whose places were given beforehand: what their members have in common.
    pub(super) mates: Option<Mates>,
    pub(super) goal: Place,
    pub(super) profile: u8,
    pub(super) size: u8,
    pub(super) is_used: bool,
    /// Counts the groups that had this slot.
    pub(super) generation: u32,
    pub(super) members: usize,
    /// The sum of the members' places: columns and rows.
    pub(super) sum: (i64, i64),
    /// Slots may have changed since the last look.
    pub(super) is_stale: bool,
    pub(super) looked: u64,
    /// Lowest, leftmost cell, columns and rows of the window.
    pub(super) origin: Place,
    pub(super) span: (u16, u16),
    /// Whether a unit can stand anywhere in the window.
    pub(super) is_open: bool,
    /// The slots, and whose each of them is ([`NONE`]: nobody's yet).
    pub(super) slots: Vec<Place>,
    pub(super) takers: Vec<u32>,
    /// Who is meant to stand there until somebody has taken it; empty where nobody is.
    pub(super) owners: Vec<u32>,
    /// For each cell of the window the number of its slot, or [`NONE`].
    pub(super) numbers: Vec<u32>,
    /// For each cell of a window that is not open the way to the nearest slot that is nobody's, and
    /// whether that may have changed.
    pub(super) rest: Vec<u64>,
    pub(super) is_rest_stale: bool,
    /// Somebody in the window sees no slot.
    pub(super) is_rest_wanted: bool,
}

impl Group {
    pub(super) fn at(&self, place: Place) -> Option<usize> {
        let x = place.x.wrapping_sub(self.origin.x);
        let y = place.y.wrapping_sub(self.origin.y);
        (x < self.span.0 && y < self.span.1)
            .then(|| usize::from(y) * usize::from(self.span.0) + usize::from(x))
    }

    /// Whether a place lies in the window.
    pub(super) fn has(&self, place: Place) -> bool {
        self.at(place).is_some()
    }

    /// The way to the nearest slot that is nobody's.
    pub(super) fn rest(&self, place: Place) -> u64 {
        self.at(place).and_then(|at| self.rest.get(at)).copied().unwrap_or(FAR)
    }

    /// Where a member would come to stand if the group kept its shape, with its middle on the goal.
    pub(super) fn aim(&self, place: Place) -> (i64, i64) {
        let members = (self.members as i64).max(1);
        let middle = (self.sum.0 / members, self.sum.1 / members);
        let (x, y) = (i64::from(place.x) - middle.0, i64::from(place.y) - middle.1);
        (i64::from(self.goal.x) + x, i64::from(self.goal.y) + y)
    }

    fn bytes(&self) -> usize {
        8 * self.rest.capacity()
            + 4 * (self.slots.capacity() + self.takers.capacity() + self.numbers.capacity())
            + 4 * self.owners.capacity()
    }
}

impl Crowd {
    /// A group whose members shall gather around `goal`, to which `route` leads. All its members have
    /// this profile.
    ///
    /// # Errors
    /// [`CrowdError::OtherGrid`], or [`CrowdError::Impassable`] where the goal is not on the grid.
    pub fn add_group(
        &mut self,
        grid: &NavGrid,
        route: RouteId,
        goal: Cell,
        profile: ProfileId,
    ) -> Result<GroupId, CrowdError> {
        self.check_size(grid)?;
        let goal = Place::of(grid, goal).ok_or(CrowdError::Impassable(goal))?;
        let size = grid.unit_size(profile) as u8;
        let profile = profile.0;
        let group = Group { route: Some(route), goal, profile, size, ..Group::default() };
        let slot = self.put_group(group).0;
        Ok(GroupId { slot, generation: self.groups[slot as usize].generation })
    }

    /// Takes up a group without members; uses the memory of one that is given up.
    pub(super) fn put_group(&mut self, group: Group) -> GroupSlot {
        let free = self.groups.iter().position(|group| !group.is_used);
        let at = free.unwrap_or_else(|| {
            self.groups.push(Group::default());
            self.groups.len() - 1
        });
        let mut old = core::mem::take(&mut self.groups[at]);
        for list in [&mut old.takers, &mut old.owners, &mut old.numbers] {
            list.clear();
        }
        old.slots.clear();
        old.rest.clear();
        let Group { slots, takers, owners, numbers, rest, .. } = old;
        let generation = old.generation.wrapping_add(1);
        let lists = Group { slots, takers, owners, numbers, rest, ..group };
        self.groups[at] = Group { is_used: true, generation, ..lists };
        GroupSlot(at as u32)
    }

    /// Gives up a group; its members stop. Says whether there was such a group.
    pub fn remove_group(&mut self, id: GroupId) -> bool {
        let Some(slot) = self.find_group(id) else {
            return false;
        };
        for index in 0..self.units.len() as u32 {
            let unit = &self.units[index as usize];
            if unit.is_there() && unit.errand.group() == Some(slot) {
                let _known = self.stop(self.id(index));
            }
        }
        self.groups[slot.0 as usize].is_used = false;
        true
    }

    fn find_group(&self, id: GroupId) -> Option<GroupSlot> {
        let group = self.groups.get(id.slot as usize)?;
        (group.is_used && group.generation == id.generation).then_some(GroupSlot(id.slot))
    }

    /// Makes a unit a member of a group.
    ///
    /// # Errors
    /// [`CrowdError::NoSuchUnit`], [`CrowdError::NoSuchGroup`], or [`CrowdError::Profile`] where it is not
    /// the group's.
    pub fn join(&mut self, id: UnitId, group: GroupId) -> Result<(), CrowdError> {
        let unit = self.get(id).ok_or(CrowdError::NoSuchUnit)?;
        let slot = self.find_group(group).ok_or(CrowdError::NoSuchGroup)?;
        if self.groups[slot.0 as usize].profile != unit.profile {
            return Err(CrowdError::Profile);
        }
        self.give(id, Errand::Group(slot))
    }

    /// Counts a unit that begins or ends to be a member, and stands on `place`.
    pub(super) fn count_member(&mut self, errand: Errand, place: Place, joins: bool) {
        self.move_member(errand, place, if joins { 1 } else { -1 });
        if let Some(id) = errand.group()
            && let Some(group) = self.groups.get_mut(id.0 as usize)
        {
            group.members = if joins { group.members + 1 } else { group.members - 1 };
            group.is_stale = true;
            if group.members == 0 && group.mates.is_some() {
                group.is_used = false;
            }
        }
    }

    /// Adds the place of a member so many times to the sum of all.
    pub(super) fn move_member(&mut self, errand: Errand, place: Place, times: i64) {
        if let Some(id) = errand.group()
            && let Some(group) = self.groups.get_mut(id.0 as usize)
        {
            group.sum.0 += times * i64::from(place.x);
            group.sum.1 += times * i64::from(place.y);
        }
    }

    /// Notes that the ground has changed.
    pub(super) fn groups_are_stale(&mut self) {
        self.groups.iter_mut().for_each(|group| group.is_stale = true);
    }

    /// Looks at slots and ways to them again where something has changed.
    pub(super) fn refresh_groups<G: Guidance + ?Sized>(&mut self, world: &World<'_, G>) {
        for at in 0..self.groups.len() {
            let group = &self.groups[at];
            let is_due = group.looked == 0 || self.now >= group.looked + REFRESH;
            if !group.is_used || group.members == 0 || !is_due {
                continue;
            }
            if group.is_stale {
                self.find_slots(world, GroupSlot(at as u32));
                let group = &mut self.groups[at];
                group.rest.clear();
                (group.is_stale, group.is_rest_stale, group.looked) = (false, true, self.now);
            }
            let group = &mut self.groups[at];
            if group.is_rest_wanted && group.is_rest_stale {
                self.group_scratch.spread(world, group);
                (group.is_rest_wanted, group.is_rest_stale, group.looked) =
                    (false, false, self.now);
            }
        }
    }

    /// Finds the slots of a group anew. Members keep theirs where they can.
    fn find_slots<G: Guidance + ?Sized>(&mut self, world: &World<'_, G>, id: GroupSlot) {
        let mut group = core::mem::take(&mut self.groups[id.0 as usize]);
        let mut scratch = core::mem::take(&mut self.group_scratch);
        group.size = world.grid.unit_size(ProfileId(group.profile)) as u8;
        if group.mates.is_some() {
            let places = places_of(id, (&self.units, &self.ways));
            scratch.take_places(world, &self.board, &group, places);
        } else {
            scratch.find_slots(world, (&self.board, &self.units), &group, id);
        }
        scratch.lay_out(world, &mut group);
        for (taker, place) in scratch.taken_before() {
            let number = group.at(place).map_or(NONE, |at| group.numbers[at]);
            let is_kept = number != NONE && group.takers[number as usize] == NONE;
            if is_kept {
                group.takers[number as usize] = taker;
            }
            self.units[taker as usize].slot = if is_kept { number } else { NONE };
            if !is_kept && self.units[taker as usize].state == State::Standing {
                self.call_soon(taker);
            }
        }
        self.group_scratch = scratch;
        self.groups[id.0 as usize] = group;
    }

    pub(super) fn group_bytes(&self) -> usize {
        self.groups.iter().map(Group::bytes).sum::<usize>() + self.group_scratch.bytes()
    }
}
