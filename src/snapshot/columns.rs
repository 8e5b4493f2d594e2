//! The components in a snapshot: for each type a list of entities with their values.

use bevy::{
    ecs::{
        archetype::Archetype, component::Mutable, entity::EntityMapper, entity_disabling::Disabled,
    },
    prelude::*,
};

use crate::{
    blocker::NavBlocker,
    edges::NavEdges,
    flow::FlowFields,
    group::{Group, GroupSlot, GroupState, SwapClass},
    links::{LinkStatus, NavLink},
    nav::{GridId, UnitId},
    orders::{OrderQueue, RequestOwner},
    request::PathRequest,
    start_cell::StartCell,
    unit::{
        AnyAnglePath, Critter, CritterState, CrowdTeam, DesiredVelocity, Facing, GroupSpeedLimit,
        NavAgent, NavPath, PathStatus, PathSteering, RequestState, SpeedFactor, SpeedLimit,
        Unpushable,
    },
};

/// The values of a component, by entity.
type Column<C> = Vec<(Entity, C)>;

/// Declares the types: what the game gives, and what the plugin keeps beside it.
macro_rules! columns {
    (given: $($given:ident: $given_type:ty),*; kept: $($kept:ident: $kept_type:ty),*;) => {
        /// Components by type, in the order of their entities.
        #[derive(Clone, Debug)]
        #[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
        pub(super) struct Columns {
            /// Immutable, unlike all others.
            requests: Column<PathRequest>,
            $($given: Column<$given_type>,)*
            $($kept: Column<$kept_type>,)*
            transforms: Column<Transform>,
            disabled: Column<()>,
        }

        impl Columns {
            /// Returns the entities of the world with a component of the plugin, in order.
            pub(super) fn entities_in(world: &World) -> Vec<Entity> {
                let types = [
                    world.component_id::<PathRequest>(),
                    $(world.component_id::<$given_type>(),)*
                    $(world.component_id::<$kept_type>(),)*
                ];
                let is_counted = |archetype: &&Archetype| {
                    types.iter().flatten().any(|&id| archetype.contains(id))
                };
                let counted = world.archetypes().iter().filter(is_counted);
                let entities = counted.flat_map(|it| it.entities()).map(|it| it.id());
                let mut all: Vec<Entity> = entities.collect();
                all.sort_unstable();
                all
            }

            /// Copies the components of these entities, which are in order.
            pub(super) fn read(world: &mut World, entities: &[Entity]) -> Self {
                Self {
                    requests: read(world, entities),
                    $($given: read(world, entities),)*
                    $($kept: read(world, entities),)*
                    transforms: read(world, entities),
                    disabled: with::<Disabled>(world, entities).into_iter().map(|it| (it, ())).collect(),
                }
            }

            /// Returns all entities with a component of the plugin, in order.
            pub(super) fn entities(&self) -> Vec<Entity> {
                let mut all: Vec<Entity> = self.requests.iter().map(|it| it.0).collect();
                $(all.extend(self.$given.iter().map(|it| it.0));)*
                $(all.extend(self.$kept.iter().map(|it| it.0));)*
                all.sort(); // of sorted parts: much faster than an unstable sort
                all.dedup();
                all
            }

            pub(super) fn map_entities(&mut self, mapper: &mut impl EntityMapper) {
                map(&mut self.requests, mapper);
                $(map(&mut self.$given, mapper);)*
                $(map(&mut self.$kept, mapper);)*
                map(&mut self.transforms, mapper);
                for (entity, ()) in &mut self.disabled {
                    *entity = mapper.get_mapped(*entity);
                }
                self.disabled.sort_unstable();
            }

            /// Inserts what entities lack, and requests that are others. Returns whether there were any.
            pub(super) fn insert_missing(&self, world: &mut World) -> bool {
                let mut any = insert_missing(&self.transforms, world);
                $(any |= insert_missing(&self.$given, world);)*
                $(any |= insert_missing(&self.$kept, world);)*
                any |= insert(&self.requests, world, |now, request| {
                    (now != Some(request)).then(|| request.clone())
                });
                any | insert(&self.disabled, world, |now, ()| now.is_none().then_some(Disabled))
            }

            /// Removes what `all` its entities have beyond this. Returns whether there was anything.
            pub(super) fn remove_surplus(&self, all: &[Entity], world: &mut World) -> bool {
                let without_queue = all.iter().filter(|entity| !contains(&self.queues, **entity));
                without_queue.for_each(|&entity| silence(world, entity));
                let mut any = remove_surplus::<_, PathRequest>(all, &self.requests, world);
                $(any |= remove_surplus::<_, $given_type>(all, &self.$given, world);)*
                $(any |= remove_surplus::<_, $kept_type>(all, &self.$kept, world);)*
                any | remove_surplus::<_, Disabled>(all, &self.disabled, world)
            }

            /// Writes the values, without hooks and observers.
            pub(super) fn overwrite(self, world: &mut World) {
                $(overwrite(self.$given, world);)*
                $(overwrite(self.$kept, world);)*
                overwrite(self.transforms, world);
            }

            /// Removes them from their entities.
            pub(super) fn take_out(&self, world: &mut World) {
                for entity in self.entities() {
                    silence(world, entity);
                    if let Ok(mut entity) = world.get_entity_mut(entity) {
                        entity.remove::<PathRequest>()
                            $(.remove::<$given_type>())*
                            $(.remove::<$kept_type>())*;
                    }
                }
            }

            /// Inserts what the game gave, as if for the first time.
            pub(super) fn insert_anew(&self, world: &mut World) {
                $(insert_missing(&self.$given, world);)*
                insert_missing(&self.requests, world);
                world.flush();
            }
        }
    };
}

columns! {
    given: agents: NavAgent, facings: Facing, critters: Critter, starts: StartCell, factors: SpeedFactor, limits: SpeedLimit, teams: CrowdTeam, unpushable: Unpushable, any_angle: AnyAnglePath,
        steering: PathSteering, queues: OrderQueue, groups: Group, blockers: NavBlocker, edges: NavEdges, links: NavLink;
    kept: critter_states: CritterState, velocities: DesiredVelocity, statuses: PathStatus, paths: NavPath,
        request_states: RequestState, owners: RequestOwner, group_states: GroupState, slots: GroupSlot, classes: SwapClass,
        paces: GroupSpeedLimit, link_statuses: LinkStatus;
}

impl Columns {
    /// Returns the units of critters that are not in the world any more.
    pub(super) fn units_without_critters(
        &self,
        world: &World,
    ) -> impl Iterator<Item = (GridId, UnitId)> {
        let gone = self.critter_states.iter().filter(|it| world.get_entity(it.0).is_err());
        gone.filter_map(|(_, state)| Some((state.member.grid, state.member.unit?)))
    }

    /// Lets the groups hold the fields that count in `flows`.
    pub(super) fn adopt_fields(&mut self, flows: &FlowFields) {
        self.group_states.iter_mut().for_each(|(_, state)| state.adopt_fields(flows));
    }
}

fn read<C: Component + Clone>(world: &mut World, entities: &[Entity]) -> Column<C> {
    let mut query = world.query_filtered::<(Entity, &C), Allow<Disabled>>();
    query.iter_many(world, entities).map(|(entity, value)| (entity, value.clone())).collect()
}

/// Returns those of the entities that have `C`, in their order.
fn with<C: Component>(world: &mut World, entities: &[Entity]) -> Vec<Entity> {
    let mut query = world.query_filtered::<Entity, (With<C>, Allow<Disabled>)>();
    query.iter_many(world, entities).collect()
}

fn map<C: Component>(column: &mut Column<C>, mapper: &mut impl EntityMapper) {
    for (entity, value) in column.iter_mut() {
        *entity = mapper.get_mapped(*entity);
        C::map_entities(value, mapper);
    }
    column.sort_unstable_by_key(|it| it.0);
}

fn insert_missing<C: Component + Clone>(column: &Column<C>, world: &mut World) -> bool {
    insert(column, world, |now, value| now.is_none().then(|| value.clone()))
}

/// Inserts what `decide` makes of the component that an entity has and the value in the column. Returns whether it made anything.
fn insert<V, C: Component>(
    column: &Column<V>,
    world: &mut World,
    decide: impl Fn(Option<&C>, &V) -> Option<C>,
) -> bool {
    let mut state = world.query_filtered::<Option<&C>, Allow<Disabled>>();
    let query = state.query(world);
    let decided = column.iter().filter_map(|(entity, value)| {
        let now = query.get(*entity).ok()?;
        Some((*entity, decide(now, value)?))
    });
    let decided: Vec<(Entity, C)> = decided.collect();
    let any = !decided.is_empty();
    for (entity, component) in decided {
        if let Ok(mut entity) = world.get_entity_mut(entity) {
            entity.insert(component);
        }
    }
    any
}

/// Removes `C` from those of `all` that are not in its column, whose values may be others.
fn remove_surplus<V, C: Component>(all: &[Entity], column: &Column<V>, world: &mut World) -> bool {
    let mut wanted = column.iter().map(|it| it.0).peekable();
    let mut surplus = with::<C>(world, all);
    surplus.retain(|entity| {
        while wanted.next_if(|it| it < entity).is_some() {}
        wanted.peek() != Some(entity)
    });
    for &entity in &surplus {
        if let Ok(mut entity) = world.get_entity_mut(entity) {
            entity.remove::<C>();
        }
    }
    !surplus.is_empty()
}

fn contains<V>(column: &Column<V>, entity: Entity) -> bool {
    column.binary_search_by_key(&entity, |it| it.0).is_ok()
}

fn overwrite<C: Component<Mutability = Mutable>>(column: Column<C>, world: &mut World) {
    let mut state = world.query_filtered::<&mut C, Allow<Disabled>>();
    let mut query = state.query_mut(world);
    for (entity, value) in column {
        if let Ok(mut now) = query.get_mut(entity) {
            *now = value;
        }
    }
}

/// Empties the queue of a unit that is to lose it, if it has one: its orders do not end, they have not been given.
fn silence(world: &mut World, entity: Entity) {
    if let Some(mut queue) = world.get_mut::<OrderQueue>(entity) {
        *queue = OrderQueue::new();
    }
    if let Some(mut owner) = world.get_mut::<RequestOwner>(entity) {
        *owner = RequestOwner::default(); // its request stays
    }
}
