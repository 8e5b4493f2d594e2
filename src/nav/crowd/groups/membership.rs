//! Members of groups, each with a slot of its own.
//!
//! Input: units with their own paths, each to its slot; the swap class of each; the field of their order, if
//! there is one. Output: one group per swap class and profile. Far from the goal the members follow the field, or
//! their own paths where the field does not reach. Near the goal they go to slots (see `slot_assignment`). If a
//! member takes the slot of another, the two exchange their own slots, so that each always has one and no slot
//! belongs to two members.

use super::{Groups, group::Group};
use crate::nav::crowd::board::{
    Board, CrowdEvent, GridPos, GroupIndex, NONE, Order, RouteId, State, Unit, octile_distance,
};
use crate::nav::crowd::cost_to_go::{CostToGo, UNREACHABLE, around};
use crate::nav::{Cell, NavGrid};

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
pub struct SwapClass {
    id: u32,
    team: u8,
}

impl Groups {
    /// Counts a unit that joins the group of its swap class, and returns that group. It has this field and goal from now
    /// on. The unit gets its order afterwards.
    pub fn join(&mut self, unit: &Unit, membership: &Membership, goal: GridPos) -> GroupIndex {
        let swap_class = SwapClass { id: membership.swap_class, team: unit.team };
        let (profile, size) = (unit.profile, unit.size);
        let known = self.list.iter().position(|group| {
            group.members > 0 && group.swap_class == swap_class && group.profile == profile
        });
        let id = match known {
            Some(at) => GroupIndex(at as u32),
            None => self.insert_group(Group { swap_class, profile, size, ..Group::default() }),
        };
        let group = &mut self[id];
        (group.route, group.goal) = (membership.route, goal);
        (group.members, group.is_stale) = (group.members + 1, true);
        id
    }

    /// Frees the slots of a unit that leaves its group, if it has one.
    pub fn leave(&mut self, board: &mut Board, index: u32) {
        self.release_slot(board, index);
        if let Order::Group(id) = board.units[index].order {
            let group = &mut self[id];
            if let Some(own) = group.own_slot(index) {
                group.slots[own].owner = NONE;
            }
            (group.members, group.is_stale) = (group.members - 1, true);
        }
    }

    /// Exchanges two slots between their owners.
    pub fn exchange_owners(&mut self, board: &mut Board, id: GroupIndex, a: usize, b: usize) {
        let slots = &mut self[id].slots;
        let owners = [slots[a].owner, slots[b].owner];
        if owners[0] == owners[1] {
            return;
        }
        (slots[a].owner, slots[b].owner) = (owners[1], owners[0]);
        let units = owners.map(|index| board.units[index]);
        // If both were pushed off their slots, they go back without pushing others, which would otherwise
        // push them off again.
        let have_arrived = units.iter().all(|unit| unit.has_arrived);
        for (index, goal) in owners.into_iter().zip([units[1].goal, units[0].goal]) {
            let unit = &mut board.units[index];
            (unit.goal, unit.has_arrived) = (goal, have_arrived);
            self.reset_progress(index); // towards another slot
            if unit.state == State::Standing {
                board.schedule_next_tick(index);
            }
        }
        let [unit, with] = owners.map(|index| board.id(index));
        board.events.push(CrowdEvent::Exchanged { unit, with, have_arrived });
        board.counters.exchanges += 1;
    }

    /// Returns the cost to go around a member of a group: to its slot; without one, to the nearest slot around walls.
    /// `None` far from the slots.
    pub fn slot_costs_around(
        &self,
        grid: &NavGrid,
        unit: &Unit,
        directions: u8,
    ) -> Option<CostToGo> {
        let group = &self[unit.order.group()?];
        if let Some(slot) = group.slots.get(unit.slot as usize) {
            let layer = grid.layer(unit.profile);
            let cost = layer
                .map_or(1, |layer| u64::from(layer.cost_sum_range().1) * u64::from(layer.unit()));
            let to_slot = |pos| octile_distance(pos, slot.pos) * cost;
            return Some(around(unit.tail, directions, &to_slot));
        }
        let is_known = group.window.cost(unit.tail) != UNREACHABLE;
        is_known.then(|| around(unit.tail, directions, &|pos| group.window.cost(pos)))
    }
}
