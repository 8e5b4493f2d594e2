//! Assigns slots to the members of groups, and sends them there.
//!
//! Input: groups that are new or were changed, or whose members, grid or goal have changed. Output: slots, and requests to go
//! there.

use bevy::{
    ecs::{entity::EntityHashSet, entity_disabling::Disabled, system::SystemParam},
    prelude::*,
};

use super::{
    Group, GroupNumbers, GroupSlot, GroupSlotRefused, GroupState, Member, SwapClass,
    member_places::{Arrivals, MemberPlaces},
};
use crate::{
    flow::FlowFields,
    nav::{
        Approach, Cell, FormationSpec, FormationUnit, GridId, NavGrid, PathFailure,
        formation::{assign_slots, reassign_slots},
    },
    request::{PathRequest, Target},
    scheduler::{Pathfinder, TilePathSettings},
    unit::PathStatus,
};

/// What assigning a slot takes of the budget, in expansions (measured: 2,000 slots take 8 to 10 ms; each of 400 up to twice as long);
/// and what it takes where only members were lost: nearly all keep their slots.
const MEMBER_COST: u32 = 100;
const KEPT_MEMBER_COST: u32 = 10;

/// A slot, or why there is none.
type SlotAnswer = Result<Cell, PathFailure>;

/// What sending members needs.
struct Sender<'a> {
    entity: Entity,
    group: &'a Group,
    /// As it was before slots were assigned.
    before: &'a GroupState,
    grid: GridId,
    /// The numbers of the group and of its order, which members that may exchange slots have in common.
    order: (u64, u32),
}

impl Sender<'_> {
    /// A number for all members of this rank.
    const fn swap_class(&self, rank: i32) -> SwapClass {
        let (group, order) = (self.order.0 as u32, self.order.1);
        let mixed = group.wrapping_mul(0x9e37_79b1)
            ^ order.wrapping_mul(0xc2b2_ae3d)
            ^ (rank as u32).wrapping_mul(0x85eb_ca6b);
        SwapClass(mixed | 1)
    }
}

/// The grid version of a group whose grid is gone.
const NO_GRID: (u64, u64) = (0, 0);

/// System parameters for assigning slots.
#[derive(SystemParam)]
pub(crate) struct SlotAssignment<'w, 's> {
    pub(super) places: MemberPlaces<'w, 's>,
    pub(super) pathfinder: ResMut<'w, Pathfinder>,
    fields: ResMut<'w, FlowFields>,
    pub(super) commands: Commands<'w, 's>,
}

/// Assigns slots to groups that are new, were changed, or have lost a member; announces those that
/// have come to rest. Assigning may take half of the budget in a tick: what is left is done in the
/// next, and first. Writing a group without a difference does not change it.
pub(crate) fn form_groups(
    mut groups: Query<(Entity, &mut Group, &mut GroupState, Has<Disabled>), Allow<Disabled>>,
    mut turns: Local<Vec<(u64, Entity)>>,
    settings: Res<TilePathSettings>,
    mut numbers: ResMut<GroupNumbers>,
    mut assignment: SlotAssignment,
) {
    turns.extend(groups.iter().map(|(entity, _, state, _)| (state.number, entity)));
    turns.sort_unstable();
    let next = turns.partition_point(|&(number, _)| number <= numbers.last_turn);
    turns.rotate_left(next);
    let (mut spent, mut last, mut has_to_wait) = (0_u32, 0, false);
    for (_, entity) in turns.drain(..) {
        let Ok((entity, mut group, mut state, is_disabled)) = groups.get_mut(entity) else {
            continue;
        };
        state.was_changed |= group.is_changed() && state.order.as_ref() != Some(&*group);
        if is_disabled {
            continue;
        }
        assignment.follow_goal(&group, &mut state);
        let version = assignment.grid_version(assignment.places.grid_of_group(&group, &state));
        // If the grid is gone, the members have failed already.
        let is_new_grid = state.grid_version != version && version != NO_GRID;
        state.was_changed |= is_new_grid;
        state.has_losses |=
            assignment.drop_leavers(entity, group.bypass_change_detection(), &mut state);
        let is_new = state.order.is_none() && !group.members.is_empty();
        if is_new && version == NO_GRID && group.request.retry.is_some() {
            continue; // it waits for its grid
        }
        if state.was_changed || state.has_losses {
            if spent > settings.budget / 2 {
                has_to_wait = true;
            } else {
                last = state.number;
                let cost = if state.was_changed { MEMBER_COST } else { KEPT_MEMBER_COST };
                spent = spent.saturating_add(cost.saturating_mul(group.members.len() as u32));
                assignment.release(entity, &group, &state);
                assignment.assign(entity, &group, &mut state);
            }
        } else if !state.is_announced {
            if group.keeps_together {
                assignment.keep_pace(entity, &mut state);
            }
            assignment.announce(entity, &group, &mut state);
        }
    }
    numbers.last_turn = if has_to_wait { last } else { 0 };
    assignment.pathfinder.spend(spent);
}

impl SlotAssignment<'_, '_> {
    /// The generation of a group's grid, and the revision of its profiles.
    fn grid_version(&self, id: GridId) -> (u64, u64) {
        let grid = self.places.grids.get(id);
        grid.map_or(NO_GRID, |grid| (self.places.grids.generation(id), grid.profiles_revision()))
    }

    /// Releases units that the group had sent and that are no members any more.
    fn release(&mut self, group: Entity, order: &Group, state: &GroupState) {
        let members: EntityHashSet = order.members.iter().map(|member| member.entity).collect();
        for &(entity, _) in state.slots.iter().filter(|slot| !members.contains(&slot.0)) {
            self.change(entity, group, |unit| {
                unit.remove::<GroupSlot>();
            });
        }
    }

    /// Assigns a slot to every member, and sends those members whose slot or request has changed.
    fn assign(&mut self, entity: Entity, group: &Group, state: &mut GroupState) {
        let id = self.places.grid_of_group(group, state);
        let before = core::mem::take(state);
        (state.number, state.orders) = (before.number, before.orders);
        state.is_leader_gone = before.is_leader_gone;
        // A group that an observer has changed on its arrival still despawns itself, but later.
        state.is_announced = before.is_announced
            && !(before.was_changed && group.despawns && !before.follows(group))
            && !before.has_losses;
        state.order = Some(group.clone());
        (state.grid, state.grid_version) = (Some(id), self.grid_version(id));
        let (grid, order) = match self.formation_order(group, id, &before) {
            Ok(found) => found,
            Err(reason) => return self.refuse_all((entity, group), &before, state, reason),
        };
        let mut arrivals = Arrivals::default();
        let members: Vec<Member> = group
            .members
            .iter()
            .map(|member| self.places.member(group, member, (id, order.goal), &mut arrivals))
            .collect();
        let mut answers = slots_for(grid, order, &members, &before, state).into_iter();
        let sender = Sender {
            entity,
            group,
            before: &before,
            grid: id,
            order: (state.number, state.orders),
        };
        let mut limited = Vec::with_capacity(members.len());
        let mut answered = Vec::with_capacity(members.len());
        for member in &members {
            let mut next = || answers.next().unwrap_or(Err(PathFailure::StartUnknown));
            let answer = member.cell.and_then(|_| next());
            let sent = before.index.get(&member.entity).and_then(|&index| before.sent[index]);
            state.note((member.entity, answer.ok()), sent, self.issued(member.entity));
            limited.extend(answer.is_ok().then_some(member.entity));
            answered.push(answer);
        }
        state.choose_rally_points((&members, id), &self.places.grids, &mut self.fields, &before);
        self.send_members(&sender, (&members, &answered), state);
        state.has_suspects = true; // units that are gone before they are sent
        state.pace = group.keeps_together.then(|| self.slowest(&limited)).flatten();
        let pace = state.pace.filter(|_| !state.is_announced);
        limited.into_iter().for_each(|member| self.limit(entity, member, pace));
    }

    /// Sends those members that need another request.
    fn send_members(
        &mut self,
        sender: &Sender,
        (members, answers): (&[Member], &[SlotAnswer]),
        state: &mut GroupState,
    ) {
        for (index, (member, &answer)) in members.iter().zip(answers).enumerate() {
            let rally = state.rally_point(member.profile).map(|rally_point| rally_point.goal);
            if self.is_to_be_sent(sender, member, (answer, rally)) {
                state.is_announced = false;
                self.send(sender, member, (answer, rally));
                state.sent[index] = answer.ok();
            }
        }
    }

    /// The group's grid, and its order in cells. The goal is looked up again only if the game has changed the
    /// group, its grid or that grid's profiles have changed, or the entity that it follows has moved.
    fn formation_order(
        &self,
        group: &Group,
        id: GridId,
        before: &GroupState,
    ) -> Result<(&NavGrid, FormationSpec), PathFailure> {
        let (goal, kept_free) = if before.was_changed {
            // If the goal is gone, its last cell counts until the game changes the group; if an entity that the group follows is
            // off the grid, also after that.
            let is_same =
                |order: &Group| order == group || before.follows(group) && order.goal == group.goal;
            let is_known = before.grid == Some(id) && before.order.as_ref().is_some_and(is_same);
            let known = before.assigned.filter(|_| is_known);
            let goal = self.places.cell_of_target(&group.goal, id).and_then(|goal| {
                let is_off = |grid: &NavGrid| before.follows(group) && !grid.contains(goal);
                let is_lost = self.places.grids.get(id).is_some_and(is_off);
                if is_lost { Err(PathFailure::GoalOutOfBounds(goal)) } else { Ok(goal) }
            });
            let goal = goal.or_else(|reason| known.map(|known| known.goal).ok_or(reason))?;
            (goal, self.places.cells_of_leader(group, id))
        } else {
            let assigned = before.assigned.ok_or(PathFailure::GoalUnknown)?;
            (assigned.goal, assigned.kept_free)
        };
        let &Group { formation, facing, spacing, .. } = group;
        let grid = self.places.grids.get(id).ok_or(PathFailure::GridGone(id))?;
        Ok((grid, FormationSpec { goal, formation, facing, spacing, kept_free }))
    }

    /// Whether a member needs another request.
    fn is_to_be_sent(
        &self,
        sender: &Sender,
        member: &Member,
        (answer, rally): (SlotAnswer, Option<Cell>),
    ) -> bool {
        let before = sender.before;
        let known = before.index.get(&member.entity);
        let (slot, sent) =
            known.map_or((None, None), |&at| (Some(before.slots[at].1), before.sent[at]));
        let Ok(unit) = self.places.units.get(member.entity) else {
            return false;
        };
        let is_same_class = || unit.class == Some(&sender.swap_class(member.rank));
        slot != Some(answer.ok())
            // By another order, not because the entity that the group follows has moved.
            || answer.is_err() && sender.order.1 != before.orders && !before.follows(sender.group)
            || answer.is_ok() && !is_same_class()
            || before.was_changed
                && answer.is_ok_and(|cell| {
                    let has_failed = matches!(unit.status, Some(PathStatus::Failed(_)));
                    // It may have exchanged its slot since it was sent.
                    let request = self.request_to(sender, member, (sent.unwrap_or(cell), rally));
                    // For one under way it does not matter where the others gather.
                    let is_same =
                        |own: &PathRequest| *own == PathRequest { rally: own.rally, ..request };
                    has_failed || !unit.request.is_some_and(is_same)
                })
    }

    /// Sends a member to its slot.
    fn send(
        &mut self,
        sender: &Sender,
        member: &Member,
        (answer, rally): (SlotAnswer, Option<Cell>),
    ) {
        let (entity, group) = (member.entity, sender.entity);
        match answer {
            Ok(cell) => {
                let request = self.request_to(sender, member, (cell, rally));
                let bundle = (request, GroupSlot { group, cell }, sender.swap_class(member.rank));
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
                self.change(entity, group, |unit| {
                    unit.remove::<(PathRequest, GroupSlot)>();
                });
                self.commands.trigger(GroupSlotRefused { entity, group, reason });
            }
        }
    }

    /// No member can be sent anywhere.
    fn refuse_all(
        &mut self,
        (entity, group): (Entity, &Group),
        before: &GroupState,
        state: &mut GroupState,
        reason: PathFailure,
    ) {
        for member in &group.members {
            state.note((member.entity, None), None, self.issued(member.entity));
            if before.was_changed {
                let refused = GroupSlotRefused { entity: member.entity, group: entity, reason };
                self.commands.trigger(refused);
            }
        }
        state.is_announced &= !before.was_changed;
    }

    /// Changes a unit if the group still sends it when the command runs: an earlier command may have made
    /// another group send it.
    pub(super) fn change(
        &mut self,
        entity: Entity,
        group: Entity,
        change: impl FnOnce(&mut EntityWorldMut) + Send + 'static,
    ) {
        self.commands.queue(move |world: &mut World| {
            if let Ok(mut unit) = world.get_entity_mut(entity)
                && unit.get::<GroupSlot>().is_some_and(|slot| slot.group == group)
            {
                change(&mut unit);
            }
        });
    }

    /// Number of the latest request of a unit.
    pub(super) fn issued(&self, entity: Entity) -> u64 {
        let unit = self.places.units.get(entity).ok();
        unit.and_then(|unit| unit.state).map_or(0, |state| state.issued)
    }

    /// The request of a member for its slot. `rally`: where members of its profile gather.
    fn request_to(
        &self,
        sender: &Sender,
        member: &Member,
        (cell, rally): (Cell, Option<Cell>),
    ) -> PathRequest {
        let &Sender { group, grid, .. } = sender;
        let request = &group.request;
        let unit = self.places.units.get(member.entity).ok();
        let own = unit.and_then(|unit| unit.own_grid(request.start_grid)).unwrap_or_default();
        // The same before and after the crossing.
        let is_joined = self.places.links.join(own, grid);
        PathRequest {
            target: Target::Cell(cell),
            approach: Approach::Onto,
            follows: false,
            goal_grid: request.goal_grid.or(is_joined.then_some(grid)),
            start_grid: request.start_grid.map(|_| own),
            profile: member.named,
            alternatives: Vec::new(),
            rally: rally.filter(|_| group.members.len() > 1),
            ..request.clone()
        }
    }
}

impl GroupState {
    /// The slot of a member, if it has one.
    pub(super) fn slot_of(&self, member: Entity) -> Option<Cell> {
        self.index.get(&member).and_then(|&index| self.slots[index].1)
    }

    fn note(&mut self, slot: (Entity, Option<Cell>), sent: Option<Cell>, issued: u64) {
        self.index.insert(slot.0, self.slots.len());
        self.has_refused |= slot.1.is_none();
        self.slots.push(slot);
        self.issued.push(issued);
        self.sent.push(sent);
    }
}

/// Slots for the members that have a cell: from scratch if the order has changed; otherwise so that members
/// keep their slots where they can. Stores the order with its resolved facing.
fn slots_for(
    grid: &NavGrid,
    order: FormationSpec,
    members: &[Member],
    before: &GroupState,
    state: &mut GroupState,
) -> Vec<SlotAnswer> {
    let present = || members.iter().filter_map(|member| Some((member, member.cell.ok()?)));
    let units: Vec<FormationUnit> = present()
        .map(|(&Member { profile, rank, .. }, cell)| FormationUnit { cell, profile, rank })
        .collect();
    let is_same = |assigned: &FormationSpec| {
        FormationSpec { facing: None, ..order } == FormationSpec { facing: None, ..*assigned }
            && order.facing.is_none_or(|facing| Some(facing) == assigned.facing)
            && !before.slots.is_empty()
    };
    let is_same_grid = before.grid == state.grid;
    let Some(assigned) = before.assigned.filter(is_same) else {
        // A group that keeps its goal keeps its facing: one that has arrived would turn at random.
        let is_kept =
            |it: &FormationSpec| it.goal == order.goal && is_same_grid && !before.slots.is_empty();
        let kept = before.assigned.filter(is_kept).and_then(|assigned| assigned.facing);
        let order = FormationSpec { facing: order.facing.or(kept), ..order };
        let resolved = order.resolve_facing(grid, &units);
        state.assigned = Some(resolved);
        state.orders = state.orders.wrapping_add(1);
        return assign_slots(grid, &units, &resolved);
    };
    state.assigned = Some(assigned);
    let held: Vec<Option<Cell>> =
        present().map(|(member, _)| before.slot_of(member.entity)).collect();
    reassign_slots(grid, &units, &held, &assigned)
}
