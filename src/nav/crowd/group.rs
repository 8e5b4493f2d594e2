//! Many units come to rest near one goal, each on a cell of its own.
//!
//! Input: a shared field to the goal, and members. Output: as many slots as there are members, the cells
//! nearest to the goal; and around them a field to the holes: the slots on which no member has come to
//! rest. Whoever comes near follows that field instead, pushes those who rest there on towards the
//! holes, and takes their place: the group closes up like water (in the spirit of TSWAP: Okumura & Défago,
//! "Solving Simultaneous Target Assignment and Path Planning Efficiently with Time-Independent
//! Execution", ICAPS 2022). Members are interchangeable, so nobody walks around those at rest.
//!
//! Slots and field are found anew while members arrive, at most every few ticks.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{
    Crowd, CrowdError, RouteId, UnitId,
    board::{Board, Place, is_diagonal},
    guide::{FAR, Guidance, World, field_cost},
    unit::{Errand, NONE, State, Unit},
};
use crate::nav::{
    cell::Cell,
    grid::NavGrid,
    moves::MoveTable,
    terrain::{CornerRule, DIAGONAL, ProfileId, STRAIGHT},
};

/// Fewest ticks between two looks at the holes.
const REFRESH: u64 = 8;
/// Cells around the slots that belong to the window of a group.
const MARGIN: u16 = 4;
/// Eighths by which a hole draws arrivals with its distance from where they come in.
const PULL: u64 = 9;
/// What the pull is taken from.
const OFFSET: u64 = 1 << 48;
/// Entries are no nearer to each other than this many cells, and no more than so many.
const ENTRY_GAP: u16 = 2;
const MOST_ENTRIES: usize = 64;

/// Number of a group of a [`Crowd`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub(super) u32);

#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    route: RouteId,
    goal: Place,
    profile: u8,
    size: u8,
    is_used: bool,
    members: usize,
    /// Slots or holes may have changed since the last look.
    is_stale: bool,
    looked: u64,
    /// Lowest, leftmost cell, columns and rows of the window.
    origin: Place,
    span: (u16, u16),
    /// Where members have come into the window.
    entries: Vec<Place>,
    /// For each cell of the window the way to the nearest hole.
    rest: Vec<u64>,
    /// What it counts for itself, where it is a slot; [`FAR`] elsewhere.
    slots: Vec<u64>,
}

impl Group {
    fn at(&self, place: Place) -> Option<usize> {
        let x = place.x.wrapping_sub(self.origin.x);
        let y = place.y.wrapping_sub(self.origin.y);
        (x < self.span.0 && y < self.span.1)
            .then(|| usize::from(y) * usize::from(self.span.0) + usize::from(x))
    }

    /// The field that leads to it from afar.
    pub(super) const fn route(&self) -> RouteId {
        self.route
    }

    /// Whether a place lies in the window.
    pub(super) fn has(&self, place: Place) -> bool {
        self.at(place).is_some()
    }

    /// The way to the nearest hole.
    pub(super) fn rest(&self, place: Place) -> u64 {
        self.at(place).map_or(FAR, |at| self.rest[at])
    }

    /// Whether a place is a slot from which no better one is near.
    fn is_home(&self, place: Place, is_at_rest: bool) -> bool {
        self.at(place).is_some_and(|at| {
            self.slots[at] != FAR && (is_at_rest || self.slots[at] <= self.rest[at])
        })
    }

    fn bytes(&self) -> usize {
        8 * (self.rest.capacity() + self.slots.capacity())
    }
}

/// What looking for slots and holes needs for a while.
#[derive(Clone, Debug, Default)]
pub(super) struct GroupScratch {
    open: BinaryHeap<Reverse<(u64, u32, u16, u16)>>,
    /// By cell of the board: the look in which it was last seen, and in which it was last taken.
    seen: Vec<u32>,
    taken: Vec<u32>,
    look: u32,
    found: Vec<(Place, u64)>,
}

impl Crowd {
    /// A group whose members shall gather around `goal`, to which `route` leads. All its members have
    /// this profile.
    ///
    /// # Errors
    /// [`CrowdError::Impassable`] where the goal is not on the grid.
    pub fn add_group(
        &mut self,
        grid: &NavGrid,
        route: RouteId,
        goal: Cell,
        profile: ProfileId,
    ) -> Result<GroupId, CrowdError> {
        let goal = Place::of(grid, goal).ok_or(CrowdError::Impassable(goal))?;
        let size = grid.unit_size(profile) as u8;
        let free = self.groups.iter().position(|group| !group.is_used);
        let at = free.unwrap_or_else(|| {
            self.groups.push(Group::default());
            self.groups.len() - 1
        });
        let old = &mut self.groups[at];
        let (rest, slots) = (core::mem::take(&mut old.rest), core::mem::take(&mut old.slots));
        *old = Group { route, goal, profile: profile.0, size, is_used: true, ..Group::default() };
        (old.rest, old.slots) = (rest, slots);
        Ok(GroupId(at as u32))
    }

    /// Gives up a group; its members stop.
    pub fn remove_group(&mut self, id: GroupId) {
        for index in 0..self.units.len() as u32 {
            let unit = &self.units[index as usize];
            if unit.is_there() && unit.errand == Errand::Group(id) {
                let _known = self.stop(self.id(index));
            }
        }
        if let Some(group) = self.groups.get_mut(id.0 as usize) {
            group.is_used = false;
        }
    }

    /// Makes a unit a member of a group.
    ///
    /// # Errors
    /// [`CrowdError::NoSuchUnit`], or [`CrowdError::Profile`] where it is not the group's.
    pub fn join(&mut self, id: UnitId, group: GroupId) -> Result<(), CrowdError> {
        let unit = self.get(id).ok_or(CrowdError::NoSuchUnit)?;
        let known = self.groups.get(group.0 as usize).filter(|group| group.is_used);
        if known.is_none_or(|group| group.profile != unit.profile) {
            return Err(CrowdError::Profile);
        }
        self.give(id, Errand::Group(group))
    }

    /// Counts a unit that begins or ends to be a member.
    pub(super) fn count_member(&mut self, errand: Errand, joins: bool) {
        if let Errand::Group(id) = errand
            && let Some(group) = self.groups.get_mut(id.0 as usize)
        {
            group.members = if joins { group.members + 1 } else { group.members - 1 };
            group.is_stale = true;
        }
    }

    /// Notes where a member comes into the window of its group.
    pub(super) fn note_entry(&mut self, index: u32) {
        let unit = &mut self.units[index as usize];
        let Errand::Group(id) = unit.errand else {
            return;
        };
        let group = &mut self.groups[id.0 as usize];
        if unit.is_inside || !group.has(unit.tail) {
            return;
        }
        unit.is_inside = true;
        let is_near = |entry: &Place| entry.reach(unit.tail) <= ENTRY_GAP;
        if group.entries.len() < MOST_ENTRIES && !group.entries.iter().any(is_near) {
            group.entries.push(unit.tail);
            group.is_stale = true;
        }
    }

    /// Whether a member may come to rest where it is.
    pub(super) fn is_home(&self, id: GroupId, index: u32) -> bool {
        let unit = &self.units[index as usize];
        self.groups[id.0 as usize].is_home(unit.tail, unit.has_arrived)
    }

    /// Notes that somebody has come to rest, or left.
    pub(super) fn touch_group(&mut self, errand: Errand) {
        if let Errand::Group(id) = errand {
            self.groups[id.0 as usize].is_stale = true;
        }
    }

    /// Notes that the ground has changed.
    pub(super) fn groups_are_stale(&mut self) {
        self.groups.iter_mut().for_each(|group| group.is_stale = true);
    }

    /// Looks at the holes again where something has changed.
    pub(super) fn refresh_groups<G: Guidance + ?Sized>(&mut self, world: &World<'_, G>) {
        for at in 0..self.groups.len() {
            let group = &self.groups[at];
            let is_due = group.looked == 0 || self.now >= group.looked + REFRESH;
            if group.is_used && group.is_stale && group.members > 0 && is_due {
                let mut group = core::mem::take(&mut self.groups[at]);
                let mut scratch = core::mem::take(&mut self.group_scratch);
                scratch.find_slots(world, (&self.board, &self.units), &group, GroupId(at as u32));
                scratch.lay_out(&mut group);
                scratch.weigh(world, &mut group);
                scratch.spread(world, (&self.board, &self.units), &mut group, GroupId(at as u32));
                (group.is_stale, group.looked) = (false, self.now);
                self.group_scratch = scratch;
                self.groups[at] = group;
            }
        }
    }

    pub(super) fn group_bytes(&self) -> usize {
        let scratch = &self.group_scratch;
        let lists = 4 * (scratch.seen.capacity() + scratch.taken.capacity());
        self.groups.iter().map(Group::bytes).sum::<usize>() + lists
    }
}

impl GroupScratch {
    /// Finds as many cells as there are members, nearest to the goal first.
    fn find_slots<G: Guidance + ?Sized>(
        &mut self,
        world: &World<'_, G>,
        (board, units): (&Board, &[Unit]),
        group: &Group,
        id: GroupId,
    ) {
        let profile = ProfileId(group.profile);
        self.found.clear();
        self.open.clear();
        self.look += 1;
        self.seen.resize(board.len(), 0);
        self.taken.resize(board.len(), 0);
        self.see(world, board, group, group.goal);
        while let Some(Reverse((cost, index, x, y))) = self.open.pop() {
            let place = Place { x, y };
            let is_free = board.block(place, group.size).all(|cell| {
                self.taken[cell as usize] != self.look
                    && !is_foreign(units, board.hold(cell).owner, id)
            });
            if is_free {
                board
                    .block(place, group.size)
                    .for_each(|cell| self.taken[cell as usize] = self.look);
                self.found.push((place, cost));
                if self.found.len() >= group.members {
                    return;
                }
            }
            let Some(layer) = world.grid.layer(profile) else {
                return;
            };
            let table = MoveTable::of(CornerRule::Forbid, crate::nav::terrain::Neighborhood::Four);
            let ways = table.legal(layer.pattern(u32::from(x), u32::from(y)));
            for way in [0, 2, 4, 6] {
                if ways & 1 << way != 0 && self.seen[board.beside(index, way) as usize] != self.look
                {
                    self.see(world, board, group, place.step(way));
                }
            }
        }
    }

    fn see<G: Guidance + ?Sized>(
        &mut self,
        world: &World<'_, G>,
        board: &Board,
        group: &Group,
        place: Place,
    ) {
        let index = board.index(place);
        self.seen[index as usize] = self.look;
        let cost = field_cost(world, group.route, place);
        if cost != FAR {
            self.open.push(Reverse((cost, index, place.x, place.y)));
        }
    }

    /// Lays the window around the slots.
    fn lay_out(&mut self, group: &mut Group) {
        let (mut low, mut high) = (group.goal, group.goal);
        for &(place, _) in &self.found {
            low = Place { x: low.x.min(place.x), y: low.y.min(place.y) };
            high = Place { x: high.x.max(place.x), y: high.y.max(place.y) };
        }
        group.origin = Place { x: low.x.saturating_sub(MARGIN), y: low.y.saturating_sub(MARGIN) };
        let span = |low: u16, high: u16| high + MARGIN + 1 - low;
        group.span = (span(group.origin.x, high.x), span(group.origin.y, high.y));
        let cells = usize::from(group.span.0) * usize::from(group.span.1);
        for list in [&mut group.rest, &mut group.slots] {
            list.clear();
            list.resize(cells, FAR);
        }
    }

    /// Lets every slot count for the less, the farther it is from where members come in: those are filled
    /// first, and nobody stands in the way of whoever comes later.
    fn weigh<G: ?Sized>(&mut self, world: &World<'_, G>, group: &mut Group) {
        self.open.clear();
        for at in 0..group.entries.len() {
            self.reach(group, group.entries[at], 0);
        }
        self.flood(world, group);
        for &(place, _) in &self.found {
            if let Some(at) = group.at(place) {
                let way = if group.rest[at] == FAR { 0 } else { group.rest[at] };
                group.slots[at] = OFFSET - (way / 8 * PULL).min(OFFSET / 2);
            }
        }
        group.rest.fill(FAR);
    }

    /// Fills the window with the ways to the holes.
    fn spread<G: ?Sized>(
        &mut self,
        world: &World<'_, G>,
        (board, units): (&Board, &[Unit]),
        group: &mut Group,
        id: GroupId,
    ) {
        self.open.clear();
        for at in 0..self.found.len() {
            let place = self.found[at].0;
            let owner = board.hold(board.index(place)).owner;
            let is_filled = units.get(owner as usize).is_some_and(|unit| {
                unit.errand == Errand::Group(id) && unit.has_arrived && unit.head == place
            });
            if !is_filled && let Some(slot) = group.at(place) {
                self.reach(group, place, group.slots[slot]);
            }
        }
        self.flood(world, group);
    }

    /// A way of this length to a place in the window is known.
    fn reach(&mut self, group: &mut Group, place: Place, rest: u64) {
        if let Some(at) = group.at(place)
            && rest < group.rest[at]
        {
            group.rest[at] = rest;
            self.open.push(Reverse((rest, at as u32, place.x, place.y)));
        }
    }

    /// Goes on from the places that are known to the whole window.
    fn flood<G: ?Sized>(&mut self, world: &World<'_, G>, group: &mut Group) {
        let profile = ProfileId(group.profile);
        let Some(layer) = world.grid.layer(profile) else {
            return;
        };
        let neighborhood = world.grid.profiles()[usize::from(profile.0)].neighborhood();
        let table = MoveTable::of(CornerRule::Forbid, neighborhood);
        let cost = |place: Place| {
            let (x, y) = (u32::from(place.x), u32::from(place.y));
            u64::from(layer.cost(x, y, world.grid.terrain_bytes()))
        };
        while let Some(Reverse((rest, at, x, y))) = self.open.pop() {
            if group.rest[at as usize] < rest {
                continue;
            }
            let (place, x, y) = (Place { x, y }, u32::from(x), u32::from(y));
            let (ways, here) = (table.legal(layer.pattern(x, y)), cost(place));
            for way in (0..8).filter(|way| ways & 1 << way != 0) {
                let next = place.step(way);
                let weight = if is_diagonal(way) { DIAGONAL } else { STRAIGHT };
                self.reach(group, next, rest + u64::from(weight) * (here + cost(next)));
            }
        }
    }
}

/// Whether somebody stands on a cell who is no member and has nowhere to go.
fn is_foreign(units: &[Unit], owner: u32, id: GroupId) -> bool {
    owner != NONE && {
        let unit = &units[owner as usize];
        unit.errand != Errand::Group(id)
            && unit.state == State::Standing
            && (unit.errand == Errand::Idle || unit.has_arrived)
    }
}
