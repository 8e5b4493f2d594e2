//! One order for many units: each gets a place of its own near the goal.
//!
//! Input: [`Group`] components, on entities of their own. Output: a [`PathRequest`] for each member, to
//! its place (`nav::formation` has the algorithm), and [`GroupArrived`] when all have come to rest.
//! A member that is despawned, or gets another order, has left: the others close the ranks. Members
//! share one search (see [`PathRequest::rally`]); large groups of critters that collide also share a
//! [`FlowField`] to their goal, along which they walk side by side.

mod gather;
mod muster;

pub(crate) use self::muster::form_groups;

use bevy::{
    ecs::{entity::EntityHashMap, lifecycle::HookContext, world::DeferredWorld},
    prelude::*,
    reflect::std_traits::ReflectDefault,
};

use crate::{
    flow::FlowField,
    nav::{
        cell::Cell,
        direction::Direction,
        formation::{Formation, GroupOrder},
        terrain::ProfileId,
    },
    request::PathRequest,
};

/// Sends units to places of their own around a goal.
///
/// Spawn it on an entity of its own. Change it (another goal, one more member) and places are given
/// anew, so that nobody walks more than needed; despawn it when it is done with: orders already given
/// stay.
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
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(map_entities = map_group, on_insert = number_group, on_remove = release_members)]
#[require(GroupState)]
pub struct Group {
    /// Where to, and how they stand there.
    pub order: GroupOrder,
    /// Who goes. Members may be added and taken out at any time; those that are gone are taken out by
    /// the plugin.
    pub members: Vec<GroupMember>,
    /// Whether all go as fast as the slowest. Default false.
    pub keeps_together: bool,
    /// What each member's request is made from: grid, reach, retries, priority and class count; target
    /// and profile are filled in.
    pub request: PathRequest,
}

/// One member of a [`Group`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Debug, PartialEq, Clone)]
pub struct GroupMember {
    /// Who.
    pub entity: Entity,
    /// As what kind of unit.
    pub profile: ProfileId,
    /// Lower ranks stand nearer to the front; 0 by default.
    pub rank: i32,
}

impl From<Entity> for GroupMember {
    /// A member of profile 0 and rank 0.
    fn from(entity: Entity) -> Self {
        Self { entity, profile: ProfileId::default(), rank: 0 }
    }
}

impl GroupMember {
    /// A member of this profile, of rank 0.
    #[must_use]
    pub const fn new(entity: Entity, profile: ProfileId) -> Self {
        Self { entity, profile, rank: 0 }
    }

    /// The same with another rank.
    #[must_use]
    pub const fn rank(mut self, rank: i32) -> Self {
        self.rank = rank;
        self
    }
}

impl Default for Group {
    /// Nobody, going to (0, 0); there for reflection.
    fn default() -> Self {
        Self::to(Cell::default(), std::iter::empty::<GroupMember>())
    }
}

impl Group {
    /// Sends `members` to the cells nearest to `goal`, on the default grid.
    #[must_use]
    pub fn to(goal: Cell, members: impl IntoIterator<Item = impl Into<GroupMember>>) -> Self {
        Self {
            order: GroupOrder::to(goal),
            members: members.into_iter().map(Into::into).collect(),
            keeps_together: false,
            request: PathRequest::to(goal),
        }
    }

    /// The same in a formation.
    #[must_use]
    pub fn formation(mut self, formation: Formation) -> Self {
        self.order.formation = formation;
        self
    }

    /// The same with its front in this direction; without, it faces the way it goes.
    #[must_use]
    pub fn facing(mut self, facing: Direction) -> Self {
        self.order.facing = Some(facing);
        self
    }

    /// The same with so many free cells between units.
    #[must_use]
    pub fn spacing(mut self, cells: u8) -> Self {
        self.order.spacing = cells;
        self
    }

    /// The same, all as fast as the slowest.
    #[must_use]
    pub fn keep_together(mut self) -> Self {
        self.keeps_together = true;
        self
    }

    /// The same, with requests made from this one.
    #[must_use]
    pub fn request(mut self, request: PathRequest) -> Self {
        self.request = request;
        self
    }
}

/// What the plugin remembers of a [`Group`].
#[derive(Component, Clone, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(map_entities = map_state, clone_behavior = Ignore)]
pub struct GroupState {
    /// Groups are looked after in the order in which they came.
    number: u64,
    /// The order as it was when places were last given, its facing settled.
    settled: GroupOrder,
    /// Who was sent where; `None` where there was no place.
    places: Vec<(Entity, Option<Cell>)>,
    /// Of each of them the number of its latest request when it got its place or none.
    asked: Vec<u64>,
    /// Of each of them the cell that its request names: places are exchanged on the way.
    sent: Vec<Option<Cell>>,
    /// Where members of each kind gather.
    #[reflect(ignore)]
    gatherings: Vec<Gathering>,
    /// Where in these lists each of them is.
    #[reflect(ignore)]
    index: EntityHashMap<usize>,
    /// Which grid places were given on, and since when its profiles were what they were.
    #[reflect(ignore)]
    ground: (u64, u64),
    /// It was changed by the game, or has lost members, since places were given.
    was_changed: bool,
    has_losses: bool,
    /// All have come to rest, and this was told.
    is_told: bool,
}

impl GroupState {
    /// Who was sent where; `None` for members that found no place.
    #[must_use]
    pub fn places(&self) -> &[(Entity, Option<Cell>)] {
        &self.places
    }

    /// Two members have exchanged their places.
    pub(crate) fn exchange(&mut self, unit: Entity, with: Entity) {
        if let (Some(&a), Some(&b)) = (self.index.get(&unit), self.index.get(&with)) {
            let place = self.places[a].1;
            self.places[a].1 = self.places[b].1;
            self.places[b].1 = place;
        }
    }

    /// A member keeps another place than it was given.
    pub(crate) fn settle(&mut self, unit: Entity, cell: Cell) {
        if let Some(&index) = self.index.get(&unit) {
            self.places[index].1 = Some(cell);
        }
    }

    /// Where members of this kind gather.
    pub(crate) fn gathering(&self, profile: ProfileId) -> Option<&Gathering> {
        self.gatherings.iter().find(|gathering| gathering.profile == profile)
    }

    /// The facing of the formation.
    #[must_use]
    pub const fn facing(&self) -> Option<Direction> {
        self.settled.facing
    }
}

/// Where the members of one kind gather, and the field that leads large groups there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gathering {
    pub(crate) profile: ProfileId,
    pub(crate) goal: Cell,
    pub(crate) field: Option<FlowField>,
}

/// Where a unit stands in its [`Group`]. Read-only: the plugin writes it.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Component, Debug, PartialEq, Clone)]
#[component(map_entities = map_place, clone_behavior = Ignore)]
#[component(on_remove = crate::crowds::note_loss)]
pub struct GroupPlace {
    /// The entity with the [`Group`].
    pub group: Entity,
    /// The cell meant for it (its anchor). Members of one kind and rank exchange theirs near the goal: who
    /// comes first goes to the far end.
    pub cell: Cell,
}

/// The same number for all members of a group that may exchange their places. Counts only beside a
/// [`GroupPlace`].
#[derive(Component, Clone, Copy, Debug)]
#[component(clone_behavior = Ignore)]
pub(crate) struct GroupMates(pub(crate) u32);

/// How fast the slowest of a unit's [`Group`] is, in cells per second over plain ground, while they keep
/// together. Read-only: the plugin writes it.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(on_remove = crate::crowds::note_loss, clone_behavior = Ignore)]
pub struct GroupPace(pub f32);

/// All members of a group have come to rest: they have arrived, or their orders have failed.
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
pub struct GroupArrived {
    /// The entity with the [`Group`].
    pub entity: Entity,
    /// Members on their places.
    pub arrived: u32,
    /// Members whose orders have failed, those included that found no place.
    pub failed: u32,
}

/// How many groups there were.
#[derive(Resource, Debug, Default)]
pub(crate) struct GroupNumbers(u64);

fn number_group(mut world: DeferredWorld, HookContext { entity, .. }: HookContext) {
    let number = world.get_resource_mut::<GroupNumbers>().map(|mut numbers| {
        numbers.0 += 1;
        numbers.0
    });
    if let (Some(number), Some(mut state)) = (number, world.get_mut::<GroupState>(entity)) {
        state.number = number;
    }
}

fn map_group<M: EntityMapper>(group: &mut Group, mapper: &mut M) {
    for member in &mut group.members {
        member.entity = mapper.get_mapped(member.entity);
    }
}

fn map_state<M: EntityMapper>(state: &mut GroupState, mapper: &mut M) {
    state.index.clear();
    for (index, place) in state.places.iter_mut().enumerate() {
        place.0 = mapper.get_mapped(place.0);
        state.index.insert(place.0, index);
    }
}

fn map_place<M: EntityMapper>(place: &mut GroupPlace, mapper: &mut M) {
    place.group = mapper.get_mapped(place.group);
}

/// Members go on by themselves when their group is done with.
fn release_members(mut world: DeferredWorld, HookContext { entity, .. }: HookContext) {
    let Some(group) = world.get::<Group>(entity) else {
        return;
    };
    let is_ours = |member: &Entity| {
        world.get::<GroupPlace>(*member).is_some_and(|place| place.group == entity)
    };
    let named = group.members.iter().map(|member| member.entity);
    let sent = world.get::<GroupState>(entity).into_iter().flat_map(|state| &state.places);
    let members: Vec<Entity> = named.chain(sent.map(|place| place.0)).filter(is_ours).collect();
    if let Some(mut state) = world.get_mut::<GroupState>(entity) {
        *state = GroupState { number: state.number, ..GroupState::default() };
    }
    let mut commands = world.commands();
    for member in members {
        commands.entity(member).try_remove::<(GroupPlace, GroupPace)>();
    }
}
