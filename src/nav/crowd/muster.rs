//! Groups whose members were given their places beforehand.
//!
//! Input: units with paths of their own, each to its place; what makes them mates; the field of their
//! order, if there is one. Output: the places as slots of one group. From afar its members follow the field, or
//! their own paths where it is not known; near the goal they go to slots as those of any group do (see
//! `settle`). A slot that somebody takes may have been meant for another: the two exchange
//! their places then, so each always has one of its own, and no place is meant for two.

use super::{
    Crowd, CrowdError, CrowdEvent, RouteId, UnitId,
    board::Place,
    group::{Group, GroupSlot},
    guide::{FAR, Guidance, Rest, World, field_around, field_cost},
    unit::{Errand, NONE, STAY, State, Unit},
    way::Way,
};
use crate::nav::{cell::Cell, grid::NavGrid, path::Path};

/// What a unit that belongs to a group is told beside its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Muster {
    /// Units of one profile and team with the same number exchange their places.
    pub mates: u32,
    /// Where it is to stand. No two mates are sent to the same cell.
    pub place: Cell,
    /// Around which cell all of them gather, and the field that leads there, if there is one.
    pub goal: Cell,
    /// See [`goal`](Self::goal).
    pub route: Option<RouteId>,
}

/// What the members of a group have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mates {
    number: u32,
    team: u8,
}

impl Group {
    /// Whether its members were given their places beforehand.
    pub(super) const fn is_of_mates(&self) -> bool {
        self.mates.is_some()
    }

    /// The number of the slot that is meant for a unit.
    pub(super) fn own_slot(&self, index: u32) -> Option<usize> {
        self.owners.iter().position(|&owner| owner == index)
    }
}

impl Crowd {
    /// Sends a unit along a path, as [`follow`](Self::follow) does, as a member of a group: to its place, or to
    /// that of a mate who takes its own instead ([`CrowdEvent::Exchanged`]).
    ///
    /// # Errors
    /// As `follow`; and [`CrowdError::Impassable`] where place or goal are not on the grid.
    pub fn follow_among(
        &mut self,
        grid: &NavGrid,
        id: UnitId,
        path: &Path,
        muster: &Muster,
    ) -> Result<(), CrowdError> {
        self.check_size(grid)?;
        let place = |cell: Cell| Place::of(grid, cell).ok_or(CrowdError::Impassable(cell));
        let (goal, its) = (place(muster.goal)?, place(muster.place)?);
        self.follow(grid, id, path)?;
        let unit = &self.units[id.index as usize];
        let mates = Some(Mates { number: muster.mates, team: unit.team });
        let (profile, size) = (unit.profile, unit.size);
        let known = self
            .groups
            .iter()
            .position(|group| group.is_used && group.mates == mates && group.profile == profile);
        let route = muster.route;
        let group = match known {
            Some(at) => GroupSlot(at as u32),
            None => self.put_group(Group { mates, profile, size, ..Group::default() }),
        };
        let its_group = &mut self.groups[group.0 as usize];
        (its_group.route, its_group.goal) = (route, goal);
        self.give(id, Errand::Place(group))?;
        self.ways[id.index as usize].goal = its;
        Ok(())
    }

    /// Whether a unit goes to its place as one of several mates.
    #[must_use]
    pub fn is_among_mates(&self, id: UnitId) -> bool {
        self.get(id).is_some_and(|unit| matches!(unit.errand, Errand::Place(_)))
    }

    /// A unit is a member no longer: its place is nobody's.
    pub(super) fn give_up_place(&mut self, index: u32) {
        if let Errand::Place(id) = self.units[index as usize].errand
            && let Some(group) = self.groups.get_mut(id.0 as usize)
            && let Some(own) = group.own_slot(index)
        {
            group.owners[own] = NONE;
        }
    }

    /// The owner of one slot takes another, which is meant for somebody else.
    pub(super) fn take_over(&mut self, id: GroupSlot, own: Option<usize>, slot: u32) {
        let group = &self.groups[id.0 as usize];
        if let (Some(own), Some(&other)) = (own, group.owners.get(slot as usize)) {
            let index = group.owners[own];
            self.exchange_places(id, (index, own as u32), (other, slot));
        }
    }

    /// Exchanges the slots meant for two members.
    pub(super) fn exchange_places(&mut self, id: GroupSlot, a: (u32, u32), b: (u32, u32)) {
        let group = &mut self.groups[id.0 as usize];
        if !group.is_of_mates() || a.0 == b.0 {
            return;
        }
        group.owners.swap(a.1 as usize, b.1 as usize);
        let goals = [a, b].map(|(index, _)| self.ways[index as usize].goal);
        // Two that were both pushed off go back without pushing others: else those would push them off again.
        let have_arrived = [a, b].iter().all(|&(index, _)| self.units[index as usize].has_arrived);
        for ((index, _), goal) in [a, b].into_iter().zip([goals[1], goals[0]]) {
            self.ways[index as usize].goal = goal;
            self.units[index as usize].has_arrived = have_arrived;
        }
        let (unit, with) = (self.id(a.0), self.id(b.0));
        self.events.push(CrowdEvent::Exchanged { unit, with, have_arrived });
        self.counters.exchanges += 1;
        for index in [a.0, b.0] {
            if self.units[index as usize].state == State::Standing {
                self.call_soon(index);
            }
        }
    }

    /// Finds out whether a unit goes along its own path at present, and how far it has come.
    pub(super) fn look_at_way<G: Guidance + ?Sized>(&mut self, world: &World<'_, G>, index: u32) {
        let is_followed = self.is_on_own_way(world, index);
        if let Some(way) = self.ways.get_mut(index as usize) {
            way.is_followed = is_followed;
        }
        if is_followed {
            self.note_progress(world.grid, index);
        }
    }

    /// Whether a unit goes along its own path at present.
    fn is_on_own_way<G: Guidance + ?Sized>(&self, world: &World<'_, G>, index: u32) -> bool {
        let unit = &self.units[index as usize];
        match unit.errand {
            Errand::Way => true,
            Errand::Place(_) if self.view(index).is_some() => false,
            Errand::Place(id) if unit.slot == NONE => {
                let group = &self.groups[id.0 as usize];
                let leads = |route| field_cost(world, route, unit.tail) != FAR;
                group.rest(unit.tail) == FAR && !group.route.is_some_and(leads)
            }
            _ => false,
        }
    }

    /// The rest of the way around a member of a group that does not know its slot yet. One that has come
    /// to the end of all ways and not to its place knows none.
    pub(super) fn rest_from_afar<G: Guidance + ?Sized>(
        &self,
        world: &World<'_, G>,
        (index, unit): (u32, &Unit),
        ways: u8,
    ) -> Rest {
        let group = unit.errand.group().map(|id| &self.groups[id.0 as usize]);
        let field = group.and_then(|group| group.route);
        let mut rest = field.map_or([FAR; 9], |route| field_around(world, route, unit.tail));
        if !matches!(unit.errand, Errand::Place(_)) {
            return rest;
        }
        if rest[usize::from(STAY)] == FAR {
            let own = self.way_rest(world.grid, index);
            rest = super::guide::around(unit.tail, ways, &own);
        }
        if rest[usize::from(STAY)] == 0 { [FAR; 9] } else { rest }
    }
}

/// The members of a group and the places meant for them.
pub(super) fn places_of<'a>(
    id: GroupSlot,
    (units, ways): (&'a [Unit], &'a [Way]),
) -> impl Iterator<Item = (u32, Place)> + 'a {
    let all = units.iter().zip(ways).enumerate();
    let members = all.filter(move |(_, (unit, _))| unit.errand == Errand::Place(id));
    members.map(|(index, (_, way))| (index as u32, way.goal))
}
