//! Saved games with [moonshine-save](https://docs.rs/moonshine-save), which writes the game's own components: bevy_tilepath adds what it
//! knows as one resource, a [`TilePathSnapshot`].
//!
//! Entities with moonshine's `Save` are saved. Those of bevy_tilepath (units, groups, blockers, links) that have no component of the
//! game's need none: the snapshot spawns them again. But give it to units that have one, so that both mean the same entity.

use std::path::{Path, PathBuf};

use bevy::{ecs::reflect::AppTypeRegistry, prelude::*};
use bevy_tilepath::prelude::*;
use moonshine_save::prelude::*;

/// Saves and loads. Register the types of the game's saved components, as moonshine asks for.
pub struct SavesPlugin;

impl Plugin for SavesPlugin {
    fn build(&self, app: &mut App) {
        app.add_observer(save_on_default_event)
            .add_observer(load_on_default_event)
            .add_observer(go_on);
    }
}

/// Writes a file. Call it between two ticks.
pub fn save(world: &mut World, path: impl Into<PathBuf>) -> Result {
    let snapshot = TilePathSnapshot::take(world)?;
    world.insert_resource(snapshot);
    let mut all = SaveWorld::default_into_file(path).include_resource::<TilePathSnapshot>();
    for component in own_components(world) {
        all = all.exclude_component_by_id(component);
    }
    world.trigger_save(all);
    world.flush();
    world.remove_resource::<TilePathSnapshot>();
    Ok(())
}

/// Reads a file: entities with `Save` are despawned, and those in the file spawned.
pub fn load(world: &mut World, path: &Path) {
    world.trigger_load(LoadWorld::default_from_file(path));
    world.flush();
}

/// The components of bevy_tilepath are in the snapshot, and need not be in the file twice.
fn own_components(world: &World) -> Vec<std::any::TypeId> {
    let registry = world.resource::<AppTypeRegistry>().read();
    let own =
        registry.iter().filter(|one| one.type_info().type_path().starts_with("bevy_tilepath::"));
    own.filter(|one| one.type_info().type_path() != TilePathSnapshot::type_path())
        .map(|one| one.type_id())
        .collect()
}

/// The game's entities are there again: now bevy_tilepath goes on with them.
fn go_on(loaded: On<Loaded>, mut commands: Commands) {
    let mut entities = loaded.entity_map.clone();
    commands.queue(move |world: &mut World| -> Result {
        let snapshot = world.remove_resource::<TilePathSnapshot>();
        let snapshot = snapshot.ok_or("the file has no state of bevy_tilepath")?;
        Ok(snapshot.load(world, &mut entities)?)
    });
}
