//! One order for many units: each gets a slot of its own near the goal.
//!
//! Input: [`Group`] components, on entities of their own. Output: a [`PathRequest`] for each member, to
//! its slot (`nav::formation` has the algorithm), and [`GroupArrived`] when all have come to rest.
//! A member that is despawned, or gets another request, has left: the others close ranks. Members
//! share one search (see [`PathRequest::rally`]); large groups of critters that collide also share a
//! [`FlowField`] to their goal, along which they walk side by side.

mod announce;
mod assign_slots;
mod changed_profiles;
mod follow_goal;
mod leavers;
mod member_places;
mod pace;
mod rally_point;

pub(crate) use self::{
    assign_slots::form_groups, changed_profiles::note_changed_profiles, leavers::build,
};

use bevy::{
    ecs::{
        entity::{EntityHashMap, MapEntities},
        lifecycle::HookContext,
        world::DeferredWorld,
    },
    prelude::*,
};

use crate::{
    flow::{FlowField, FlowFields},
    nav::{Cell, Direction, Formation, FormationSpec, GridId, PathFailure, ProfileId},
    request::{PathRequest, Target},
    unit::GroupSpeedLimit,
};

/// Sends units to slots of their own around a goal.
///
/// Spawn it on an entity of its own. Change it (another goal, one more member) and slots are assigned
/// again, so that no unit walks more than needed. When all members have come to rest, or none is left,
/// [`GroupArrived`] is triggered and the entity despawns itself ([`persistent`](Self::persistent) keeps it).
/// Requests already made stay.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_tilepath::prelude::*;
/// fn attack(mut commands: Commands, selected: Query<Entity, With<Critter>>) {
///     let wedge = Group::to(Cell::new(40, 12), &selected).formation(Formation::Wedge).keep_together();
///     commands.spawn(wedge);
/// }
/// # bevy::ecs::system::assert_is_system(attack);
/// ```
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(on_insert = number_group, on_remove = release_members)]
#[require(GroupState)]
#[must_use]
pub struct Group {
    /// Where the group goes: a cell, a world position, a rectangle (the middle of its part on the grid) or an entity (the cell where
    /// it is when slots are assigned). For [`Target::Nearest`], the first target that exists. For a goal on another grid that links lead to,
    /// see [`PathRequest::goal_on`].
    #[entities]
    pub goal: Target,
    /// How the members stand there. Default [`Loose`](Formation::Loose).
    pub formation: Formation,
    /// The direction of the front; `None`: the direction in which the group goes. On hexagons northeast counts as east, and
    /// southwest as west.
    pub facing: Option<Direction>,
    /// Free cells between units. Default 0; at most 16.
    pub spacing: u8,
    /// The units. Members may be added and removed at any time; the plugin removes those that are despawned or
    /// got another request.
    #[entities]
    pub members: Vec<GroupMember>,
    /// Whether all go as fast as the slowest. Default false.
    pub keeps_together: bool,
    /// Whether the entity despawns itself when all members have come to rest, or none is left. Default true. A group that
    /// [follows](Self::follow) an entity stays until that is gone, or no member is left.
    pub despawns: bool,
    /// What each member's request is made from: grid, profile, reach, retries, priority, class and algorithm. The target is
    /// filled in, a slot onto which the member goes: `approach` and `alternatives` do not count. With `follows`, and an entity as
    /// its goal, the group [follows](Self::follow) that. Without a grid, the
    /// group moves on that of its first member; with a [`Retry`](crate::request::Retry) it waits for a grid that is not there yet, as long
    /// as that takes.
    #[entities]
    pub request: PathRequest,
}

/// One member of a [`Group`].
#[derive(Clone, Copy, Debug, MapEntities, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Debug, PartialEq, Clone)]
#[must_use]
pub struct GroupMember {
    /// The unit.
    #[entities]
    pub entity: Entity,
    /// Its movement profile in this group. `None`: its own, see [`NavAgent`](crate::prelude::NavAgent).
    pub profile: Option<ProfileId>,
    /// Lower ranks stand nearer to the front, or to the goal in a loose group (among members of one size); 0 by default.
    pub rank: i32,
}

impl From<Entity> for GroupMember {
    /// A member of rank 0, with its own profile.
    fn from(entity: Entity) -> Self {
        Self::new(entity)
    }
}

impl GroupMember {
    /// A member of rank 0, with its own profile.
    pub const fn new(entity: Entity) -> Self {
        Self { entity, profile: None, rank: 0 }
    }

    /// The same as another kind of unit.
    pub const fn profile(self, profile: ProfileId) -> Self {
        Self { profile: Some(profile), ..self }
    }

    /// The same with another rank.
    pub const fn rank(self, rank: i32) -> Self {
        Self { rank, ..self }
    }
}

impl Default for Group {
    /// No members, going to (0, 0); there for reflection.
    fn default() -> Self {
        Self::to(Cell::default(), std::iter::empty::<GroupMember>())
    }
}

impl Group {
    /// Sends `members` to the cells nearest to `goal`.
    pub fn to(
        goal: impl Into<Target>,
        members: impl IntoIterator<Item = impl Into<GroupMember>>,
    ) -> Self {
        let FormationSpec { formation, facing, spacing, .. } = FormationSpec::default();
        let (goal, request) = (goal.into(), PathRequest::default());
        let members = members.into_iter().map(Into::into).collect();
        let (keeps_together, despawns) = (false, true);
        Self { goal, formation, facing, spacing, members, keeps_together, despawns, request }
    }

    /// Sends `members` to the cells around an entity, and sends them on when it moves: when it has moved by a quarter of the
    /// distance of the nearest members (a quarter of all), and by half of the side of the square that they fill. No slot lies
    /// on the cells of a critter that collides and is no member; while it is idle, members may push it aside.
    /// [`GroupArrived`] is triggered each time all have come to rest. When the entity is gone, the group ends as any other
    /// does.
    pub fn follow(
        target: Entity,
        members: impl IntoIterator<Item = impl Into<GroupMember>>,
    ) -> Self {
        let mut group = Self::to(target, members);
        group.request.follows = true;
        group
    }

    /// The same in a formation.
    pub fn formation(self, formation: Formation) -> Self {
        Self { formation, ..self }
    }

    /// The same with its front in this direction.
    pub fn facing(self, facing: Direction) -> Self {
        Self { facing: Some(facing), ..self }
    }

    /// The same with `cells` free cells between units.
    pub fn spacing(self, cells: u8) -> Self {
        Self { spacing: cells, ..self }
    }

    /// The same, all as fast as the slowest.
    pub fn keep_together(self) -> Self {
        Self { keeps_together: true, ..self }
    }

    /// The same, but when all members have come to rest, the entity stays, and so do the slots.
    pub fn persistent(self) -> Self {
        Self { despawns: false, ..self }
    }

    /// The same, with requests made from this one. A group that [follows](Self::follow) an entity goes on following it.
    pub fn request(self, request: PathRequest) -> Self {
        let follows = self.request.follows || request.follows;
        Self { request: PathRequest { follows, ..request }, ..self }
    }
}

/// Progress of a [`Group`]. Read-only: the plugin writes it.
#[derive(Component, Clone, Debug, Default, PartialEq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(map_entities = map_state, clone_behavior = Ignore)]
pub struct GroupState {
    /// Groups are processed in the order in which they were made.
    number: u64,
    /// Goal, formation and facing as they were when slots were last assigned; `None` where the goal was unknown.
    assigned: Option<FormationSpec>,
    /// How often slots were assigned from scratch.
    orders: u32,
    /// The cell of each member; `None` where there was none for it.
    slots: Vec<(Entity, Option<Cell>)>,
    /// Request number per member when slots were assigned.
    issued: Vec<u64>,
    /// Cell named by the request of each member: slots are exchanged on the way.
    sent: Vec<Option<Cell>>,
    /// Where members of each profile gather.
    #[reflect(ignore)]
    rally_points: Vec<RallyPoint>,
    /// Where in these lists each member is.
    #[reflect(ignore)]
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::serde_with::sorted"))]
    index: EntityHashMap<usize>,
    /// The group when slots were assigned; `None` if it was inserted since.
    #[reflect(ignore)]
    order: Option<Group>,
    /// The grid on which they were assigned, its generation, and the revision of its profiles.
    #[reflect(ignore)]
    grid: Option<GridId>,
    #[reflect(ignore)]
    grid_version: (u64, u64),
    /// The game has changed the group since slots were assigned, it has another grid, or the entity that it follows has moved.
    was_changed: bool,
    /// It has lost members since then.
    has_losses: bool,
    /// Some members may have left: one has another request or slot, or none.
    has_suspects: bool,
    /// Some members have no slot: nothing tells when one of these leaves.
    has_refused: bool,
    /// The speed of the slowest member, where they keep together.
    pace: Option<f32>,
    /// All have come to rest, and this was announced.
    is_announced: bool,
    /// Which member had not come to rest when that was last looked at.
    open_member: usize,
    /// The entity that the group follows does not exist any more.
    is_leader_gone: bool,
}

impl GroupState {
    /// The members and their slots; `None` for members without one.
    #[must_use]
    pub fn slots(&self) -> &[(Entity, Option<Cell>)] {
        &self.slots
    }

    /// A member has another slot than it was given.
    pub(crate) fn change_slot(&mut self, unit: Entity, cell: Cell) {
        if let Some(&index) = self.index.get(&unit)
            && let Some(slot) = &mut self.slots[index].1
        {
            *slot = cell;
        }
    }

    /// Where members of this profile gather.
    pub(crate) fn rally_point(&self, profile: ProfileId) -> Option<&RallyPoint> {
        self.rally_points.iter().find(|point| point.profile == profile)
    }

    /// Holds the fields that count in `flows`.
    pub(crate) fn adopt_fields(&mut self, flows: &FlowFields) {
        let fields = self.rally_points.iter_mut().filter_map(|point| point.field.as_mut());
        fields.for_each(|field| flows.adopt(field));
    }

    /// The facing of the formation.
    #[must_use]
    pub fn facing(&self) -> Option<Direction> {
        self.assigned?.facing
    }
}

/// Where the members of one profile gather, and the field that leads large groups there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct RallyPoint {
    pub(crate) profile: ProfileId,
    pub(crate) goal: Cell,
    pub(crate) field: Option<FlowField>,
}

/// A member with its own profile.
#[derive(Clone, Copy, Debug)]
struct Member {
    entity: Entity,
    profile: ProfileId,
    /// The profile, where the group names one.
    named: Option<ProfileId>,
    rank: i32,
    /// The anchor on which it stands, or where it comes to the grid of the group from another one.
    cell: Result<Cell, PathFailure>,
}

/// The slot of a unit in its [`Group`]. The plugin writes it. A unit leaves the group when this component is removed, or when
/// the unit gets another request.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, PartialEq, Clone)]
#[component(
    clone_behavior = Ignore,
    on_insert = leavers::suspect,
    on_discard = leavers::suspect,
    on_remove = lift_speed_limit
)]
pub struct GroupSlot {
    /// The entity with the [`Group`].
    #[entities]
    pub group: Entity,
    /// The cell assigned to the unit (for its anchor). Near the goal, members of one profile, rank and team exchange
    /// slots. Near walls, the members that arrive first take the slots at the far end.
    pub cell: Cell,
}

/// The same number for all members of a group that may exchange their slots. Counts only beside a
/// [`GroupSlot`].
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[component(clone_behavior = Ignore)]
pub(crate) struct SwapClass(pub(crate) u32);

/// A member of a group got no slot, or lost the one it had: all are taken, the goal is gone, or the unit cannot go there.
/// This is not the outcome of a request. A member that loses its slot also loses the request that the group made for it
/// ([`PathCanceled`](crate::prelude::PathCanceled)). If the game gives the group a goal that is unknown or gone, all members are
/// refused, but finish the requests that they have. If the group's goal is gone, the cell where it was counts until the
/// game changes the group.
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct GroupSlotRefused {
    /// The unit.
    pub entity: Entity,
    /// The entity with the [`Group`].
    pub group: Entity,
    /// Why it has no slot.
    pub reason: PathFailure,
}

/// All members of a group have arrived, their requests have failed, or they have no slots. Members that others push off their
/// slots at the end still walk back.
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct GroupArrived {
    /// The entity with the [`Group`].
    pub entity: Entity,
    /// Members that have arrived on their slots, or as near as they could get. A unit that the game moves counts when it has its
    /// path.
    pub arrived: u32,
    /// Members whose requests have failed, and those without a slot.
    pub failed: u32,
}

/// All groups.
#[derive(Resource, Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct GroupNumbers {
    /// How many were made so far.
    made: u64,
    /// The group that was last given slots in a tick in which others had to wait: the next one begins behind it.
    last_turn: u64,
}

fn number_group(mut world: DeferredWorld, HookContext { entity, .. }: HookContext) {
    let number = world.get_resource_mut::<GroupNumbers>().map(|mut numbers| {
        numbers.made += 1;
        numbers.made
    });
    if let (Some(number), Some(mut state)) = (number, world.get_mut::<GroupState>(entity)) {
        // One that has sent its members goes on under its number: it is only changed.
        let is_new = state.slots.is_empty();
        (state.number, state.order) = (if is_new { number } else { state.number }, None);
    }
}

/// A unit without a slot does not keep together with others.
fn lift_speed_limit(mut world: DeferredWorld, HookContext { entity, .. }: HookContext) {
    if world.get::<GroupSpeedLimit>(entity).is_some() {
        world.commands().entity(entity).try_remove::<GroupSpeedLimit>();
    }
}

fn map_state<M: EntityMapper>(state: &mut GroupState, mapper: &mut M) {
    if let Some(order) = &mut state.order {
        <Group as Component>::map_entities(order, mapper);
    }
    state.index.clear();
    for (index, slot) in state.slots.iter_mut().enumerate() {
        slot.0 = mapper.get_mapped(slot.0);
        state.index.insert(slot.0, index);
    }
}

/// Members continue alone when their group is gone.
fn release_members(mut world: DeferredWorld, HookContext { entity, .. }: HookContext) {
    let Some(group) = world.get::<Group>(entity) else {
        return;
    };
    let is_ours =
        |member: &Entity| world.get::<GroupSlot>(*member).is_some_and(|slot| slot.group == entity);
    let named = group.members.iter().map(|member| member.entity);
    let sent = world.get::<GroupState>(entity).into_iter().flat_map(|state| &state.slots);
    let members: Vec<Entity> = named.chain(sent.map(|slot| slot.0)).filter(is_ours).collect();
    if let Some(mut state) = world.get_mut::<GroupState>(entity) {
        *state = GroupState { number: state.number, ..GroupState::default() };
    }
    let mut commands = world.commands();
    for member in members {
        commands.entity(member).try_remove::<GroupSlot>();
    }
}
