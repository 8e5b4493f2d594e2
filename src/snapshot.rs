//! Snapshots: everything the plugin knows, as one value.
//!
//! Input: a world between two ticks. Output: a [`TilePathSnapshot`], from which the same world, or another one, goes on exactly
//! as the first did. For rollback, saved games, and peers that join later.
//!
//! ```
//! use bevy::{ecs::entity::EntityHashMap, prelude::*};
//! use bevy_tilepath::prelude::*;
//! # fn app() -> App {
//! #     let mut app = App::new();
//! #     app.add_plugins((MinimalPlugins, TilePathPlugin::default()));
//! #     app
//! # }
//! let mut game = app();
//! let unit = game.world_mut().spawn((Critter::default(), PathRequest::to(Cell::new(9, 4)))).id();
//! let snapshot = TilePathSnapshot::take(game.world_mut())?;
//! game.update();
//! snapshot.restore(game.world_mut())?; // back, in the same world
//!
//! let mut other = app();
//! let mut entities = EntityHashMap::default(); // the game may have spawned some already
//! snapshot.load(other.world_mut(), &mut entities)?;
//! assert!(other.world().get::<Critter>(entities[&unit]).is_some());
//! # Ok::<(), SnapshotError>(())
//! ```
//!
//! # What is in it
//! - The grids with all edits, profiles, blockers and edges; the settings; all requests, searches in flight, fields, crowds, queues at
//!   links, and counters.
//! - All components of this crate on units, groups, blockers, edges and links, their `Transform`s, and whether they are `Disabled`.
//!   So a game need not save these itself.
//!
//! # What is not
//! - Tilemaps with a `NavSource`, and their tiles. Spawn the maps with their tiles before or after a snapshot is loaded into another world,
//!   all in one tick. In the same world, put back the tiles that were changed since: the next tick makes the grids what the tiles say.
//! - [`FlowField`](crate::prelude::FlowField)s that the game holds: after loading or restoring, before the next tick, request
//!   them again.
//! - Parents, and the transforms of parents that have no component of this crate: the game puts them back first.
//! - Entities with the game's own disabling components: as long as they have one, they are neither read nor written.
//! - The game's own state, the time (a tick must be as long as before), and events that observers have not received yet: there
//!   are none between two ticks.
//!
//! For how a game uses snapshots, and which versions can read them, see [`guide::snapshots`](crate::guide::snapshots).
//!
//! # What the game notices
//! Components of entities that exist are overwritten in place: `Changed` finds them, hooks and observers do not run. (A
//! [`PathRequest`](crate::prelude::PathRequest) is immutable: if it differs, it is inserted anew.) Missing components are
//! inserted, and components of this crate that are not in the snapshot are removed; a `Transform` that was inserted since stays.
//! Units, groups, blockers and links that were made since are not in the snapshot: they stay, and begin anew as if they had just
//! been spawned.

mod columns;
#[cfg(feature = "serialize")]
mod file;
mod resources;

#[cfg(feature = "serialize")]
use bevy::reflect::{ReflectDeserialize, ReflectSerialize};
use bevy::{
    ecs::entity::{EntityHashMap, EntityHashSet, EntityMapper},
    prelude::*,
};

use self::{columns::Columns, resources::Resources};
use crate::crowds::Crowds;

/// How often components are inserted and removed until they are those of the snapshot: the second time nothing is left to do, unless
/// observers of the game have inserted or removed some.
const ROUNDS: u32 = 4;

/// Everything the plugin knows of a world between two ticks; see the [module](self). Grids and fields are copied whole, so the
/// memory and time that a snapshot takes grow with the maps.
///
/// With the feature `serialize` it can be written and read: as bytes, with serde, and, as a resource, together with a Bevy world.
#[derive(Resource, Clone, Debug, Reflect)]
#[reflect(opaque)]
#[reflect(Resource, Debug, Clone)]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct TilePathSnapshot {
    resources: Resources,
    columns: Columns,
}

/// Why a snapshot cannot be taken, restored, loaded or read from bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnapshotError {
    /// The app has no [`TilePathPlugin`](crate::prelude::TilePathPlugin).
    NoPlugin,
    /// This entity, which is in the snapshot or to which the map leads, does not exist in the world (any more). Nothing has been
    /// changed.
    NoSuchEntity(Entity),
    /// The map leads from two entities of the snapshot to this one. Nothing has been changed.
    NotUnique(Entity),
    /// The bytes are not a snapshot.
    NotASnapshot,
    /// The bytes were written by this other version of the crate. Versions cannot read each other's state: see
    /// [versions](crate::guide::snapshots).
    OtherVersion(String),
    /// Bytes are missing, or have changed since they were written.
    Damaged,
}

impl core::fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoPlugin => f.write_str("the app has no TilePathPlugin"),
            Self::NoSuchEntity(entity) => write!(f, "there is no entity {entity}"),
            Self::NotUnique(entity) => write!(f, "two entities are to become {entity}"),
            Self::NotASnapshot => f.write_str("these bytes are no snapshot"),
            Self::OtherVersion(version) => write!(f, "the snapshot is of version {version}"),
            Self::Damaged => f.write_str("the snapshot is damaged"),
        }
    }
}

impl core::error::Error for SnapshotError {}

impl TilePathSnapshot {
    /// Takes a snapshot. Call it between two ticks: from outside, or in an exclusive system before or after
    /// [`TilePathSystems::All`](crate::prelude::TilePathSystems).
    ///
    /// # Errors
    /// [`NoPlugin`](SnapshotError::NoPlugin).
    pub fn take(world: &mut World) -> Result<Self, SnapshotError> {
        world.flush();
        let resources = Resources::read(world).ok_or(SnapshotError::NoPlugin)?;
        let entities = Columns::entities_in(world);
        let mut columns = Columns::read(world, &entities);
        columns.adopt_fields(&resources.flows);
        Ok(Self { resources, columns })
    }

    /// Returns the units, groups, blockers, edges and links in it, in the order of entities.
    pub fn entities(&self) -> impl Iterator<Item = Entity> {
        self.columns.entities().into_iter()
    }

    /// Puts the world back to the state of the snapshot, which was taken of this world: all its entities must still exist.
    ///
    /// # Errors
    /// [`NoSuchEntity`](SnapshotError::NoSuchEntity) if one was despawned ([`load`](Self::load) spawns it again), and
    /// [`NoPlugin`](SnapshotError::NoPlugin).
    pub fn restore(&self, world: &mut World) -> Result<(), SnapshotError> {
        world.flush();
        self.check(world, self.entities())?;
        self.clone().put_into(world);
        Ok(())
    }

    /// Loads the snapshot into any world. `entities` maps entities of the snapshot to those that the game has spawned for them.
    /// Entities of the snapshot that the map lacks are spawned, and added to it. References to other entities (a target of the
    /// game's) are mapped, too; those that the map lacks become entities that do not exist.
    ///
    /// # Errors
    /// [`NoSuchEntity`](SnapshotError::NoSuchEntity) and [`NotUnique`](SnapshotError::NotUnique) for entities of the map, and
    /// [`NoPlugin`](SnapshotError::NoPlugin).
    pub fn load(
        &self,
        world: &mut World,
        entities: &mut EntityHashMap<Entity>,
    ) -> Result<(), SnapshotError> {
        world.flush();
        let own = self.columns.entities();
        self.check(world, own.iter().filter_map(|entity| entities.get(entity).copied()))?;
        for &entity in &own {
            entities.entry(entity).or_insert_with(|| world.spawn_empty().id());
        }
        let mut mapped = self.clone();
        let mut mapper = Mapper { world, known: entities.clone() };
        mapped.resources.map_entities(&mut mapper);
        mapped.columns.map_entities(&mut mapper);
        mapped.put_into(world);
        Ok(())
    }

    fn check(
        &self,
        world: &World,
        entities: impl Iterator<Item = Entity>,
    ) -> Result<(), SnapshotError> {
        if !Resources::are_in(world) {
            return Err(SnapshotError::NoPlugin);
        }
        let mut seen = EntityHashSet::default();
        for entity in entities {
            if world.get_entity(entity).is_err() {
                return Err(SnapshotError::NoSuchEntity(entity));
            }
            if !seen.insert(entity) {
                return Err(SnapshotError::NotUnique(entity));
            }
        }
        Ok(())
    }

    /// Makes the world what the snapshot says, whose entities are those of the world.
    fn put_into(self, world: &mut World) {
        let Self { resources, mut columns } = self;
        world.flush();
        let own = columns.entities();
        let mut others = Columns::entities_in(world);
        others.retain(|entity| own.binary_search(entity).is_err());
        let others = Columns::read(world, &others);
        others.take_out(world);
        // Hooks and observers are done before states are written; what they insert or remove is undone.
        for round in 1..=ROUNDS {
            let has_removed = columns.remove_surplus(&own, world);
            world.flush();
            let has_inserted = columns.insert_missing(world);
            world.flush();
            if !has_removed && !has_inserted {
                break;
            }
            if round == ROUNDS {
                tracing::warn!(
                    "observers or hooks of the game change components each time a snapshot puts them back"
                );
            }
        }
        resources.write(world);
        let mut gone: Vec<_> = columns.units_without_critters(world).collect();
        gone.sort_unstable();
        gone.into_iter().for_each(|unit| world.resource_mut::<Crowds>().drop_unit(unit));
        columns.adopt_fields(world.resource());
        columns.overwrite(world);
        others.insert_anew(world);
    }
}

/// Leads from entities of a snapshot to those of a world.
struct Mapper<'a> {
    world: &'a mut World,
    known: EntityHashMap<Entity>,
}

impl EntityMapper for Mapper<'_> {
    /// Entities that the world does not have remain different from each other.
    fn get_mapped(&mut self, source: Entity) -> Entity {
        *self.known.entry(source).or_insert_with(|| {
            let gone = self.world.spawn_empty().id();
            self.world.despawn(gone);
            gone
        })
    }

    fn set_mapped(&mut self, source: Entity, target: Entity) {
        self.known.insert(source, target);
    }
}
