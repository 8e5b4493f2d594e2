//! Members of groups, each with a slot of its own.
//!
//! Input: units with their own paths, each to its slot; the swap class of each; the field of their order, if
//! there is one. Output: one group per swap class and profile. Far from the goal the members follow the field, or
//! their own paths where the field does not reach. Near the goal they go to slots (see `slot_assignment`). If a
//! member takes the slot of another, the two exchange their own slots, so that each always has one and no slot
//! belongs to two members.

use crate::nav::crowd::{
    Crowd, CrowdError, CrowdEvent, RouteId, UnitId,
    cost_to_go::Sources,
    group::{Group, GroupIndex},
    guidance::{CostToGo, Guidance, UNREACHABLE, World, around, route_cost, route_costs_around},
    reservations::GridPos,
    step_costs::octile_distance,
    unit::{NONE, Order, STAY, State, Unit},
};
use crate::nav::{cell::Cell, grid::NavGrid, path::Path, terrain::ProfileId};

/// What the order of a group member says beside its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// Units of one profile and team with the same number may exchange their slots.
    pub swap_class: u32,
    /// The cell assigned to the unit. No two units of a swap class are sent to the same cell.
    pub slot: Cell,
    /// The cell around which all of them gather, and the field that leads there, if there is one.
    pub goal: Cell,
    /// See [`goal`](Self::goal).
    pub route: Option<RouteId>,
}

/// What the members of a group have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::nav::crowd) struct SwapClass {
    id: u32,
    team: u8,
}

impl Group {
    /// Returns the index of a member's own slot.
    pub(in crate::nav::crowd) fn own_slot(&self, index: u32) -> Option<usize> {
        self.owners.iter().position(|&owner| owner == index)
    }
}

impl Crowd {
    /// Sends a unit along a path, as [`follow`](Self::follow) does, as a member of a group. The unit goes to
    /// its slot, or to that of another member with which it exchanges slots
    /// ([`CrowdEvent::Exchanged`]).
    ///
    /// # Errors
    /// As `follow`; and [`CrowdError::Impassable`] where the slot or the goal is not on the grid.
    pub fn follow_among(
        &mut self,
        grid: &NavGrid,
        id: UnitId,
        path: &Path,
        membership: &Membership,
    ) -> Result<(), CrowdError> {
        self.check_size(grid)?;
        let pos = |cell: Cell| GridPos::of(grid, cell).ok_or(CrowdError::Impassable(cell));
        let (goal, slot) = (pos(membership.goal)?, pos(membership.slot)?);
        self.follow(grid, id, path)?;
        let unit = &self.units[id.index as usize];
        let swap_class = SwapClass { id: membership.swap_class, team: unit.team };
        let (profile, size) = (unit.profile, unit.size);
        let known = self.groups.list.iter().position(|group| {
            group.is_used && group.swap_class == swap_class && group.profile == profile
        });
        let route = membership.route;
        let group = match known {
            Some(at) => GroupIndex(at as u32),
            None => self.insert_group(Group { swap_class, profile, size, ..Group::default() }),
        };
        let shared = &mut self.groups[group];
        (shared.route, shared.goal) = (route, goal);
        self.set_order(id, Order::Group(group))?;
        self.sources.set_goal(id.index, slot);
        Ok(())
    }

    /// Returns whether a unit goes to a slot that it may exchange with others.
    #[must_use]
    pub fn is_in_group(&self, id: UnitId) -> bool {
        self.get(id).is_some_and(|unit| matches!(unit.order, Order::Group(_)))
    }

    /// Frees the slot of a unit that leaves its group.
    pub(in crate::nav::crowd) fn release_own_slot(&mut self, index: u32) {
        if let Order::Group(id) = self.units[index as usize].order
            && let Some(group) = self.groups.list.get_mut(id.0 as usize)
            && let Some(own) = group.own_slot(index)
        {
            group.owners[own] = NONE;
        }
    }

    /// Exchanges own slots when the owner of slot `own` takes that of another member.
    pub(in crate::nav::crowd) fn take_over_slot(
        &mut self,
        id: GroupIndex,
        own: Option<usize>,
        slot: u32,
    ) {
        let group = &self.groups[id];
        if let (Some(own), Some(&other)) = (own, group.owners.get(slot as usize)) {
            let index = group.owners[own];
            self.exchange_own_slots(id, (index, own as u32), (other, slot));
        }
    }

    /// Exchanges the own slots of two members.
    pub(in crate::nav::crowd) fn exchange_own_slots(
        &mut self,
        id: GroupIndex,
        a: (u32, u32),
        b: (u32, u32),
    ) {
        if a.0 == b.0 {
            return;
        }
        self.groups[id].owners.swap(a.1 as usize, b.1 as usize);
        let goals = [a, b].map(|(index, _)| self.sources.goal(index));
        // If both were pushed off their slots, they go back without pushing others, which would otherwise
        // push them off again.
        let have_arrived = [a, b].iter().all(|&(index, _)| self.units[index as usize].has_arrived);
        for ((index, _), goal) in [a, b].into_iter().zip([goals[1], goals[0]]) {
            self.sources.set_goal(index, goal);
            self.units[index as usize].has_arrived = have_arrived;
        }
        let (unit, with) = (self.id(a.0), self.id(b.0));
        self.events.push(CrowdEvent::Exchanged { unit, with, have_arrived });
        self.counters.exchanges += 1;
        for index in [a.0, b.0] {
            self.reset_progress(index); // towards another slot
            if self.units[index as usize].state == State::Standing {
                self.schedule_next_tick(index);
            }
        }
    }

    /// Updates whether a unit follows its own path at present, and its progress along that path.
    pub(in crate::nav::crowd) fn update_path_following<G: Guidance + ?Sized>(
        &mut self,
        world: &World<'_, G>,
        index: u32,
    ) {
        let is_active = self.follows_own_path(world, index);
        self.sources.set_active(index, is_active);
        if is_active {
            self.update_path_progress(world.grid, index);
        }
    }

    /// Returns whether a unit follows its own path at present.
    fn follows_own_path<G: Guidance + ?Sized>(&self, world: &World<'_, G>, index: u32) -> bool {
        let unit = &self.units[index as usize];
        match unit.order {
            Order::Path(_) => true,
            Order::Group(_) if self.neighbor_costs(index).is_some() => false,
            Order::Group(id) if unit.slot == NONE => {
                let group = &self.groups[id];
                let is_known = |route| route_cost(world, route, unit.tail) != UNREACHABLE;
                group.window.cost(unit.tail) == UNREACHABLE && !group.route.is_some_and(is_known)
            }
            _ => false,
        }
    }

    /// Returns the cost to go around a member of a group: to its slot; without one, to the nearest slot around walls,
    /// along the group's field, or along its path. [`UNREACHABLE`] everywhere for a member that has come to the end of
    /// its field or path but not to its slot.
    pub(in crate::nav::crowd) fn member_cost_to_go<G: Guidance + ?Sized>(
        &self,
        world: &World<'_, G>,
        id: GroupIndex,
        (index, unit): (u32, &Unit),
        directions: u8,
    ) -> CostToGo {
        let group = &self.groups[id];
        if let Some(&slot) = group.slots.get(unit.slot as usize) {
            let layer = world.grid.layer(ProfileId(unit.profile));
            let cost = layer
                .map_or(1, |layer| u64::from(layer.cost_sum_range().1) * u64::from(layer.unit()));
            return around(unit.tail, directions, &|pos| octile_distance(pos, slot) * cost);
        }
        if group.window.cost(unit.tail) != UNREACHABLE {
            return around(unit.tail, directions, &|pos| group.window.cost(pos));
        }
        let route = group.route;
        let mut cost_to_go =
            route.map_or([UNREACHABLE; 9], |route| route_costs_around(world, route, unit.tail));
        if cost_to_go[usize::from(STAY)] == UNREACHABLE {
            cost_to_go = self.path_costs_around(world.grid, index, unit.tail, directions);
        }
        if cost_to_go[usize::from(STAY)] == 0 { [UNREACHABLE; 9] } else { cost_to_go }
    }
}

/// Iterates over the members of a group and their own slots.
pub(in crate::nav::crowd) fn own_slots<'a>(
    id: GroupIndex,
    (units, sources): (&'a [Unit], &'a Sources),
) -> impl Iterator<Item = (u32, GridPos)> + 'a {
    let members = (0_u32..).zip(units).filter(move |(_, unit)| unit.order == Order::Group(id));
    members.map(|(index, _)| (index, sources.goal(index)))
}
