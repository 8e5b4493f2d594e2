//! Calls the members of groups together: who is left, who goes where, who has come to rest.

use bevy::{
    ecs::{entity::EntityHashSet, system::SystemParam},
    prelude::*,
};

use super::{Group, GroupArrived, GroupMember, GroupPace, GroupPlace, GroupState};
use crate::{
    grids::NavGrids,
    movement::{Critter, CritterState, SpeedLimit},
    nav::{
        cell::Cell,
        formation::{GroupOrder, GroupUnit, assign_places, close_ranks},
        grid::NavGrid,
        path::PathKind,
        query::{GridId, PathFailure},
    },
    request::{ActiveOrder, PathFailed, PathRequest, PathStatus, Target},
};

type Unit = (
    Option<&'static PathRequest>,
    Option<&'static PathStatus>,
    Option<&'static GroupPlace>,
    Option<(&'static Critter, Option<&'static SpeedLimit>)>,
    Option<&'static ActiveOrder>,
    Option<(&'static CritterState, &'static Transform)>,
);

/// What groups are called together with.
#[derive(SystemParam)]
pub(crate) struct Mustering<'w, 's> {
    grids: Res<'w, NavGrids>,
    units: Query<'w, 's, Unit>,
    transforms: TransformHelper<'w, 's>,
    commands: Commands<'w, 's>,
}

/// Gives places to groups that are new, were changed, or have lost a member; tells of those that
/// have come to rest.
pub(crate) fn form_groups(
    mut groups: Query<(Entity, &mut Group, &mut GroupState)>,
    mut turns: Local<Vec<(u64, Entity)>>,
    mut mustering: Mustering,
) {
    turns.extend(groups.iter().map(|(entity, _, state)| (state.number, entity)));
    turns.sort_unstable();
    for (_, entity) in turns.drain(..) {
        let Ok((entity, mut group, mut state)) = groups.get_mut(entity) else {
            continue;
        };
        let was_changed = group.is_changed();
        let gone = mustering.left(entity, &group, &state);
        if !gone.is_empty() {
            let group = group.bypass_change_detection();
            group.members.retain(|member| !gone.contains(&member.entity));
        }
        if was_changed || !gone.is_empty() {
            mustering.release(entity, &group, &state);
            mustering.give_places(entity, &group, &mut state);
        } else if !state.is_told {
            mustering.tell(entity, &group, &mut state);
        }
    }
}

impl Mustering<'_, '_> {
    /// Members that are gone, or go elsewhere by now.
    fn left(&self, group: Entity, order: &Group, state: &GroupState) -> Vec<Entity> {
        let has_left = |&(index, member): &(usize, &GroupMember)| {
            let Ok((request, _, place, ..)) = self.units.get(member.entity) else {
                return true; // despawned
            };
            let Some((place_index, cell)) = state.place_of(member.entity, index) else {
                return false; // it has yet to be sent
            };
            let Some(cell) = cell else {
                return self.asked(member.entity) != state.asked[place_index];
            };
            place != Some(&GroupPlace { group, cell })
                || request.is_none_or(|request| request.target != Target::Cell(cell))
        };
        let members = order.members.iter().enumerate();
        members.filter(has_left).map(|(_, member)| member.entity).collect()
    }

    /// Lets go of units that the group had sent and that are no members any more.
    fn release(&mut self, group: Entity, order: &Group, state: &GroupState) {
        for &(entity, _) in &state.places {
            let is_ours =
                self.units.get(entity).is_ok_and(|unit| unit.2.is_some_and(|at| at.group == group));
            if is_ours && order.members.iter().all(|member| member.entity != entity) {
                self.commands.entity(entity).try_remove::<(GroupPlace, GroupPace)>();
            }
        }
    }

    /// Gives every member its place and sends those there for whom it is another than before.
    fn give_places(&mut self, entity: Entity, group: &Group, state: &mut GroupState) {
        let id = group.request.grid;
        let Some(grid) = self.grids.get(id) else {
            self.refuse_all(group, state, PathFailure::GridGone(id));
            return;
        };
        let mut members: Vec<GroupMember> = Vec::with_capacity(group.members.len());
        let mut units: Vec<GroupUnit> = Vec::with_capacity(group.members.len());
        let mut lost = Vec::new();
        let mut seen = EntityHashSet::default();
        for member in group.members.iter().filter(|member| seen.insert(member.entity)) {
            match self.cell_of(member, id, grid) {
                Some(cell) => {
                    members.push(*member);
                    units.push(GroupUnit { cell, profile: member.profile, rank: member.rank });
                }
                None => lost.push(member.entity),
            }
        }
        let is_same_order = GroupOrder { facing: None, ..group.order }
            == GroupOrder { facing: None, ..state.settled }
            && group.order.facing.is_none_or(|facing| Some(facing) == state.settled.facing)
            && !state.places.is_empty();
        let order = if is_same_order { state.settled } else { group.order.faced(&units) };
        let answers = if is_same_order {
            let held = members.iter().enumerate();
            let held = held.map(|(index, member)| state.cell_of(member.entity, index));
            close_ranks(grid, &units, &held.collect::<Vec<_>>(), &order)
        } else {
            assign_places(grid, &units, &order)
        };
        let limit = group.keeps_together.then(|| self.slowest(&members)).flatten();
        let before = core::mem::take(state);
        (state.number, state.settled) = (before.number, order);
        state.is_told = before.is_told;
        for (index, (member, answer)) in members.iter().zip(answers).enumerate() {
            let is_new =
                before.place_of(member.entity, index).map(|place| place.1) != Some(answer.ok());
            state.note(member.entity, answer.ok(), self.asked(member.entity));
            if is_new || !is_same_order {
                state.is_told = false;
                self.send(entity, group, member, answer);
            }
            self.limit(member.entity, limit);
        }
        for entity in lost {
            state.note(entity, None, self.asked(entity));
            self.commands.trigger(PathFailed { entity, reason: PathFailure::StartUnknown });
        }
    }

    /// Orders a member to its place.
    fn send(
        &mut self,
        group: Entity,
        order: &Group,
        member: &GroupMember,
        answer: Result<Cell, PathFailure>,
    ) {
        let entity = member.entity;
        match answer {
            Ok(cell) => {
                let mut request = order.request.clone();
                request.target = Target::Cell(cell);
                request.profile = member.profile;
                request.rally = (order.members.len() > 1).then_some(order.order.goal);
                self.commands.entity(entity).try_insert((request, GroupPlace { group, cell }));
            }
            Err(reason) => {
                let was_ours = self
                    .units
                    .get(entity)
                    .is_ok_and(|unit| unit.2.is_some_and(|at| at.group == group));
                if was_ours {
                    self.commands.entity(entity).try_remove::<(PathRequest, GroupPlace)>();
                }
                self.commands.trigger(PathFailed { entity, reason });
            }
        }
    }

    /// Nobody can be sent anywhere.
    fn refuse_all(&mut self, group: &Group, state: &mut GroupState, reason: PathFailure) {
        *state = GroupState { number: state.number, ..GroupState::default() };
        for &GroupMember { entity, .. } in &group.members {
            state.note(entity, None, self.asked(entity));
            self.commands.trigger(PathFailed { entity, reason });
        }
    }

    /// Tells when all members have come to rest.
    fn tell(&mut self, entity: Entity, group: &Group, state: &mut GroupState) {
        let (mut arrived, mut failed) = (0, 0);
        for (index, member) in group.members.iter().enumerate() {
            let status = self.units.get(member.entity).ok().and_then(|unit| unit.1);
            match (state.cell_of(member.entity, index), status) {
                (None, _) | (_, Some(PathStatus::Failed(_))) => failed += 1,
                // Whoever has no critter does not walk by itself.
                (
                    _,
                    Some(
                        PathStatus::Arrived(_)
                        | PathStatus::Found(PathKind::Complete | PathKind::Partial),
                    ),
                ) => arrived += 1,
                _ => return,
            }
        }
        state.is_told = true;
        for member in &group.members {
            self.limit(member.entity, None);
        }
        self.commands.trigger(GroupArrived { entity, arrived, failed });
    }

    /// Puts a limit on a unit's speed, or takes it off.
    fn limit(&mut self, entity: Entity, limit: Option<f32>) {
        match limit {
            Some(limit) => self.commands.entity(entity).try_insert(GroupPace(limit)),
            None => self.commands.entity(entity).try_remove::<GroupPace>(),
        };
    }

    /// Speed of the slowest.
    fn slowest(&self, members: &[GroupMember]) -> Option<f32> {
        let critters = members.iter().filter_map(|member| self.units.get(member.entity).ok()?.3);
        critters.map(|(critter, limit)| critter.limited(limit)).min_by(f32::total_cmp)
    }

    /// Number of the latest request of a unit.
    fn asked(&self, entity: Entity) -> u64 {
        let unit = self.units.get(entity).ok();
        unit.and_then(|unit| unit.4).map_or(0, |order| order.asked)
    }

    /// The anchor on which a member stands, or which it is about to enter.
    fn cell_of(&self, member: &GroupMember, id: GridId, grid: &NavGrid) -> Option<Cell> {
        let (.., order, walking) = self.units.get(member.entity).ok()?;
        if let (Some(order), Some((state, transform))) = (order, walking)
            && order.grid == id
            && state.is_where_it_was_put(transform)
        {
            return Some(state.walk.head());
        }
        let transform = self.transforms.compute_global_transform(member.entity).ok()?;
        let position = transform.translation().truncate();
        self.grids.frame(id)?.anchor_at(position, grid.unit_size(member.profile))
    }
}

impl GroupState {
    /// Where in the list a member is, and where it was sent, if it was looked at yet. It is probably the
    /// one with this index.
    fn place_of(&self, entity: Entity, index: usize) -> Option<(usize, Option<Cell>)> {
        let is_probable = self.places.get(index).is_some_and(|place| place.0 == entity);
        let index = if is_probable {
            index
        } else {
            self.places.iter().position(|place| place.0 == entity)?
        };
        Some((index, self.places[index].1))
    }

    fn cell_of(&self, entity: Entity, index: usize) -> Option<Cell> {
        self.place_of(entity, index)?.1
    }

    fn note(&mut self, entity: Entity, cell: Option<Cell>, asked: u64) {
        self.places.push((entity, cell));
        self.asked.push(asked);
    }
}
