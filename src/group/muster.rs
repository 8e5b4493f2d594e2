//! Calls the members of groups together: who is left, who goes where, who has come to rest.

use bevy::{
    ecs::{entity::EntityHashSet, entity_disabling::Disabled, system::SystemParam},
    prelude::*,
};

use super::{Group, GroupArrived, GroupMates, GroupMember, GroupPace, GroupPlace, GroupState};
use crate::{
    flow::FlowFields,
    grids::NavGrids,
    movement::{Critter, CritterState, SpeedLimit},
    nav::{
        cell::Cell,
        formation::{GroupOrder, GroupUnit, assign_places, close_ranks},
        grid::NavGrid,
        path::PathKind,
        query::{GridId, PathFailure},
    },
    request::{ActiveOrder, PathFailed, PathRequest, PathStatus, Target, fitting_anchor},
    scheduler::{Pathfinder, TilePathSettings},
    whereabouts::Whereabouts,
};

/// What giving a place takes of the budget, in expansions (measured: 400 places take 1.5 ms).
const MEMBER_COST: u32 = 100;

/// What a group goes to whose grid is gone.
const NOWHERE: (u64, u64) = (0, 0);

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
    units: Query<'w, 's, Unit, Allow<Disabled>>,
    whereabouts: Whereabouts<'w, 's>,
    pathfinder: ResMut<'w, Pathfinder>,
    fields: ResMut<'w, FlowFields>,
    commands: Commands<'w, 's>,
}

/// Gives places to groups that are new, were changed, or have lost a member; tells of those that
/// have come to rest. Giving places may take half of the budget in a tick: what is left is done in the
/// next.
pub(crate) fn form_groups(
    mut groups: Query<(Entity, &mut Group, &mut GroupState)>,
    mut turns: Local<Vec<(u64, Entity)>>,
    settings: Res<TilePathSettings>,
    mut mustering: Mustering,
) {
    turns.extend(groups.iter().map(|(entity, _, state)| (state.number, entity)));
    turns.sort_unstable();
    let mut spent = 0_u32;
    for (_, entity) in turns.drain(..) {
        let Ok((entity, mut group, mut state)) = groups.get_mut(entity) else {
            continue;
        };
        let ground = mustering.ground_of(&group);
        // Where the grid is gone its members have been told so.
        let is_new_ground = state.ground != ground && ground != NOWHERE;
        state.was_changed |= group.is_changed() || is_new_ground;
        if mustering.call_roll(entity, group.bypass_change_detection(), &state) {
            state.has_losses = true;
        }
        if state.was_changed || state.has_losses {
            if spent <= settings.budget / 2 {
                spent = spent.saturating_add(MEMBER_COST * group.members.len() as u32);
                mustering.release(entity, &group, &state);
                mustering.give_places(entity, &group, &mut state);
            }
        } else if !state.is_told {
            mustering.tell(entity, &group, &mut state);
        }
    }
    mustering.pathfinder.spent = mustering.pathfinder.spent.saturating_add(spent);
}

impl Mustering<'_, '_> {
    /// Which grid a group goes to, and since when its profiles are what they are.
    fn ground_of(&self, group: &Group) -> (u64, u64) {
        let id = group.request.grid;
        let grid = self.grids.get(id);
        grid.map_or(NOWHERE, |grid| (self.grids.incarnation(id), grid.profiles_revision()))
    }

    /// Takes out members that are gone or go elsewhere by now, and those that are named twice; says
    /// whether there were any.
    fn call_roll(&self, group: Entity, order: &mut Group, state: &GroupState) -> bool {
        let before = order.members.len();
        if state.was_changed {
            let mut seen = EntityHashSet::default();
            order.members.retain(|member| seen.insert(member.entity));
        }
        order.members.retain(|member| !self.has_left(group, member.entity, state));
        order.members.len() < before
    }

    fn has_left(&self, group: Entity, member: Entity, state: &GroupState) -> bool {
        let Ok((request, _, place, ..)) = self.units.get(member) else {
            return true; // despawned
        };
        let Some(&index) = state.index.get(&member) else {
            return false; // it has yet to be sent
        };
        let Some(cell) = state.places[index].1 else {
            return self.asked(member) != state.asked[index];
        };
        let sent = state.sent[index].unwrap_or(cell);
        place.is_none_or(|place| (place.group, place.cell) != (group, cell))
            || request.is_none_or(|request| request.target != Target::Cell(sent))
    }

    /// Lets go of units that the group had sent and that are no members any more.
    fn release(&mut self, group: Entity, order: &Group, state: &GroupState) {
        let members: EntityHashSet = order.members.iter().map(|member| member.entity).collect();
        for &(entity, _) in state.places.iter().filter(|place| !members.contains(&place.0)) {
            self.commands.queue(move |world: &mut World| {
                if let Some(mut unit) = ours(world, entity, group) {
                    unit.remove::<(GroupPlace, GroupPace)>();
                }
            });
        }
    }

    /// Gives every member its place and sends those there for whom it is another than before, or whose
    /// order is another.
    fn give_places(&mut self, entity: Entity, group: &Group, state: &mut GroupState) {
        let id = group.request.grid;
        let before = core::mem::take(state);
        (state.number, state.is_told) = (before.number, before.is_told);
        state.ground = self.ground_of(group);
        let Some(grid) = self.grids.get(id) else {
            self.refuse_all(group, &before, state, PathFailure::GridGone(id));
            return;
        };
        let mut units: Vec<GroupUnit> = Vec::with_capacity(group.members.len());
        let mut present = Vec::with_capacity(group.members.len());
        for member in &group.members {
            let cell = self.cell_of(member, id, grid);
            present.push(cell.is_some());
            let GroupMember { profile, rank, .. } = *member;
            units.extend(cell.map(|cell| GroupUnit { cell, profile, rank }));
        }
        let answers = places_for(grid, group, &units, &present, &before, state);
        let mut answers = answers.into_iter();
        let mut limited = Vec::with_capacity(units.len());
        for (member, is_present) in group.members.iter().zip(present) {
            let answer = match is_present {
                true => answers.next().unwrap_or(Err(PathFailure::StartUnknown)),
                false => Err(PathFailure::StartUnknown),
            };
            let mut sent = before.index.get(&member.entity).and_then(|&index| before.sent[index]);
            if self.is_to_be_sent(member, answer, group, &before) {
                state.is_told = false;
                let mates = mates(before.number, member.rank);
                self.send((entity, mates), group, member, answer);
                sent = answer.ok();
            }
            state.note((member.entity, answer.ok()), sent, self.asked(member.entity));
            limited.extend(answer.is_ok().then_some(member.entity));
        }
        state.gather(group, &self.grids, &mut self.fields, &before);
        let pace = group.keeps_together.then(|| self.slowest(&limited)).flatten();
        limited.into_iter().for_each(|member| self.limit(entity, member, pace));
    }

    /// Whether a member has to be told where to go.
    fn is_to_be_sent(
        &self,
        member: &GroupMember,
        answer: Result<Cell, PathFailure>,
        group: &Group,
        before: &GroupState,
    ) -> bool {
        let known = before.index.get(&member.entity).map(|&index| before.places[index].1);
        let Ok((request, status, ..)) = self.units.get(member.entity) else {
            return false;
        };
        known != Some(answer.ok())
            || before.was_changed
                && answer.is_ok_and(|cell| {
                    let has_failed = matches!(status, Some(PathStatus::Failed(_)));
                    has_failed || request != Some(&request_to(group, member, cell))
                })
    }

    /// Orders a member to its place.
    fn send(
        &mut self,
        (group, mates): (Entity, u32),
        order: &Group,
        member: &GroupMember,
        answer: Result<Cell, PathFailure>,
    ) {
        let entity = member.entity;
        match answer {
            Ok(cell) => {
                let request = request_to(order, member, cell);
                let bundle = (request, GroupPlace { group, cell }, GroupMates(mates));
                self.commands.queue(move |world: &mut World| {
                    // The group may have been despawned since.
                    if world.get::<Group>(group).is_some()
                        && let Ok(mut unit) = world.get_entity_mut(entity)
                    {
                        unit.insert(bundle);
                    }
                });
            }
            Err(reason) => {
                self.commands.queue(move |world: &mut World| {
                    if let Some(mut unit) = ours(world, entity, group) {
                        unit.remove::<(PathRequest, GroupPlace, GroupPace)>();
                    }
                });
                self.commands.trigger(PathFailed { entity, reason });
            }
        }
    }

    /// Nobody can be sent anywhere.
    fn refuse_all(
        &mut self,
        group: &Group,
        before: &GroupState,
        state: &mut GroupState,
        reason: PathFailure,
    ) {
        for &GroupMember { entity, .. } in &group.members {
            state.note((entity, None), None, self.asked(entity));
            if before.was_changed {
                self.commands.trigger(PathFailed { entity, reason });
            }
        }
        state.is_told &= !before.was_changed;
    }

    /// Tells when all members have come to rest.
    fn tell(&mut self, entity: Entity, group: &Group, state: &mut GroupState) {
        let (mut arrived, mut failed) = (0, 0);
        for member in &group.members {
            let status = self.units.get(member.entity).ok().and_then(|unit| unit.1);
            let place = state.place_of(member.entity);
            match (place, status) {
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
        state.drop_fields();
        for member in &group.members {
            self.limit(entity, member.entity, None);
        }
        self.commands.trigger(GroupArrived { entity, arrived, failed });
    }

    /// Puts a limit on the speed of a unit that a group has sent, or takes it off.
    fn limit(&mut self, group: Entity, entity: Entity, limit: Option<f32>) {
        self.commands.queue(move |world: &mut World| {
            let Some(mut unit) = ours(world, entity, group) else {
                return;
            };
            match limit {
                Some(limit) => unit.insert(GroupPace(limit)),
                None => unit.remove::<GroupPace>(),
            };
        });
    }

    /// Speed of the slowest of those that can move.
    fn slowest(&self, members: &[Entity]) -> Option<f32> {
        let critters = members.iter().filter_map(|&member| self.units.get(member).ok()?.3);
        let speeds = critters.map(|(critter, limit)| critter.limited(limit));
        speeds.filter(|&speed| speed > 0.0).min_by(f32::total_cmp)
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
            && state.grid(order) == id
            && state.is_where_it_was_put(transform)
        {
            return Some(fitting_anchor(grid, member.profile, state.walk.head()));
        }
        let position = self.whereabouts.position(member.entity)?;
        let anchor = self.grids.frame(id)?.anchor_at(position, grid.unit_size(member.profile))?;
        Some(fitting_anchor(grid, member.profile, anchor))
    }
}

impl GroupState {
    /// The place of a member, if it has one.
    pub(super) fn place_of(&self, member: Entity) -> Option<Cell> {
        self.index.get(&member).and_then(|&index| self.places[index].1)
    }

    fn note(&mut self, place: (Entity, Option<Cell>), sent: Option<Cell>, asked: u64) {
        self.index.insert(place.0, self.places.len());
        self.places.push(place);
        self.asked.push(asked);
        self.sent.push(sent);
    }
}

/// A number for all members of a group that have this rank.
fn mates(number: u64, rank: i32) -> u32 {
    let mixed = (number as u32).wrapping_mul(0x9e37_79b1) ^ (rank as u32).wrapping_mul(0x85eb_ca6b);
    mixed | 1
}

/// Places for those that are `present`: anew where the order is another than before, else so that
/// everyone keeps what he can. Notes the order, its facing settled.
fn places_for(
    grid: &NavGrid,
    group: &Group,
    units: &[GroupUnit],
    present: &[bool],
    before: &GroupState,
    state: &mut GroupState,
) -> Vec<Result<Cell, PathFailure>> {
    let (order, settled) = (group.order, before.settled);
    let is_same = GroupOrder { facing: None, ..order } == GroupOrder { facing: None, ..settled }
        && order.facing.is_none_or(|facing| Some(facing) == settled.facing)
        && !before.places.is_empty();
    if !is_same {
        state.settled = order.faced(units);
        return assign_places(grid, units, &state.settled);
    }
    state.settled = settled;
    let members = group.members.iter().zip(present).filter(|&(_, &is_present)| is_present);
    let held = members.map(|(member, _)| before.place_of(member.entity));
    close_ranks(grid, units, &held.collect::<Vec<_>>(), &settled)
}

/// What a member is told.
fn request_to(group: &Group, member: &GroupMember, cell: Cell) -> PathRequest {
    let mut request = group.request.clone();
    request.target = Target::Cell(cell);
    request.profile = member.profile;
    request.rally = (group.members.len() > 1).then_some(group.order.goal);
    request
}

/// A unit, if it is still sent by the group when this is asked: commands are carried out one after the
/// other, and another group may have called it in between.
fn ours(world: &mut World, entity: Entity, group: Entity) -> Option<EntityWorldMut<'_>> {
    let unit = world.get_entity_mut(entity).ok()?;
    let is_ours = unit.get::<GroupPlace>().is_some_and(|place| place.group == group);
    is_ours.then_some(unit)
}
