//! Saved games: with moonshine-save, and with Bevy's own world serialization.

#![allow(clippy::unwrap_used, reason = "a test whose setup fails should fail")]

use bevy::{
    asset::AssetPlugin,
    ecs::{entity::EntityHashMap, reflect::AppTypeRegistry},
    prelude::*,
    time::TimeUpdateStrategy,
    world_serialization::{DynamicWorldBuilder, serde::WorldDeserializer},
};
use bevy_tilepath::prelude::*;
use moonshine_save::prelude::Save;
use serde::de::DeserializeSeed;
use tilepath_integrations::saves::{self, SavesPlugin};

/// What the game itself knows of a unit.
#[derive(Component, Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Component)]
#[require(Save)]
struct Soldier {
    number: u32,
    friend: Option<u32>,
}

fn app() -> App {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        TransformPlugin,
        AssetPlugin::default(),
        TilePathPlugin::default(),
        SavesPlugin,
    ))
    .register_type::<Soldier>()
    .insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    app.finish();
    app.cleanup();
    app.update();
    app
}

/// A world with 120 soldiers on their way, in groups, with queues, and searches in flight.
fn busy_app() -> App {
    let mut app = app();
    let mut grid = NavGrid::new(90, 60, TerrainId::GROUND).unwrap();
    for x in 0..90 {
        for y in 0..60 {
            if (x * 7 + y * 11) % 13 == 0 {
                grid.set_terrain(Cell::new(x, y), TerrainId::VOID).unwrap();
            }
        }
    }
    app.world_mut().resource_mut::<TilePathSettings>().budget = 600;
    app.world_mut().resource_mut::<NavGrids>().insert(GridId(0), grid, GridFrame::default());
    let units: Vec<Entity> = (0..120_u32)
        .map(|number| {
            let place =
                Transform::from_xyz((number % 30) as f32 * 3.0, (number / 30) as f32 * 4.0, 0.0);
            let soldier = Soldier { number, friend: (number > 0).then(|| number - 1) };
            let goal = Cell::new((number * 37 % 90) as i32, 40 + (number * 11 % 20) as i32);
            let unit =
                (soldier, Critter::new(5.0), place, PathRequest::to(goal).reach(Reach::Nearest));
            app.world_mut().spawn(unit).id()
        })
        .collect();
    for unit in units.iter().step_by(9) {
        let patrol = [Cell::new(3, 50), Cell::new(80, 3)];
        let queue = OrderQueue::new().then(Order::Wait { ticks: 30 });
        let queue = queue.then(Order::patrol(patrol, PatrolMode::Round));
        app.world_mut().entity_mut(*unit).insert(queue);
    }
    app.world_mut().spawn(Group::to(Cell::new(60, 30), units[40..70].iter().copied()));
    app.world_mut().entity_mut(units[5]).insert(PathRequest::follow(units[6]));
    (0..100).for_each(|_| app.update());
    app
}

/// What the world looks like: by the numbers of the soldiers.
fn picture(app: &mut App) -> (u64, Vec<(u32, PathStatus, Vec3)>) {
    let world = app.world_mut();
    let mut soldiers = world.query::<(&Soldier, &PathStatus, &Transform)>();
    let seen =
        soldiers.iter(world).map(|(one, status, place)| (one.number, *status, place.translation));
    let mut seen: Vec<_> = seen.collect();
    seen.sort_by_key(|one| one.0);
    (state_checksum(world), seen)
}

fn assert_equal_from_here(first: &mut App, second: &mut App) {
    for tick in 0..300 {
        assert_eq!(picture(first), picture(second), "tick {tick}");
        if tick == 50 {
            for app in [&mut *first, &mut *second] {
                let mut grids = app.world_mut().resource_mut::<NavGrids>();
                let grid = grids.get_mut(GridId(0)).unwrap();
                grid.block(CellRect::new(Cell::new(10, 30), 60, 1)).unwrap();
            }
        }
        first.update();
        second.update();
    }
}

#[test]
fn moonshine_saves_a_game_that_goes_on_as_before() {
    let mut app = busy_app();
    let path = std::env::temp_dir().join(format!("tilepath_{}.ron", std::process::id()));
    saves::save(app.world_mut(), &path).unwrap();
    assert!(app.world().get_resource::<TilePathSnapshot>().is_none());
    let mut other = self::app();
    // The game had another level: its units are unloaded.
    let old = other.world_mut().spawn((Soldier::default(), Critter::default())).id();
    other.update();
    saves::load(other.world_mut(), &path);
    assert!(other.world().get_entity(old).is_err());
    assert_equal_from_here(&mut app, &mut other);
    // And back into the first one, which has gone on.
    saves::load(app.world_mut(), &path);
    let mut third = self::app();
    saves::load(third.world_mut(), &path);
    std::fs::remove_file(&path).unwrap();
    assert_equal_from_here(&mut app, &mut third);
}

#[test]
fn bevys_own_world_serialization_does_too() {
    let mut app = busy_app();
    let snapshot = TilePathSnapshot::take(app.world_mut()).unwrap();
    app.insert_resource(snapshot);
    let soldiers: Vec<Entity> = {
        let world = app.world_mut();
        world.query_filtered::<Entity, With<Soldier>>().iter(world).collect()
    };
    let text = {
        let registry = app.world().resource::<AppTypeRegistry>().read();
        let world = DynamicWorldBuilder::from_world(app.world(), &registry)
            .deny_all()
            .allow_component::<Soldier>()
            .allow_resource::<TilePathSnapshot>()
            .extract_entities(soldiers.into_iter())
            .extract_resources()
            .build();
        world.serialize(&registry).unwrap()
    };
    let mut other = self::app();
    let loaded = {
        let registry = other.world().resource::<AppTypeRegistry>().clone();
        let mut server = other.world().resource::<AssetServer>().clone();
        let registry = registry.read();
        let reader = WorldDeserializer { type_registry: &registry, load_from_path: &mut server };
        reader.deserialize(&mut ron::Deserializer::from_str(&text).unwrap()).unwrap()
    };
    let mut entities = EntityHashMap::default();
    loaded.write_to_world(other.world_mut(), &mut entities).unwrap();
    let snapshot = other.world_mut().remove_resource::<TilePathSnapshot>().unwrap();
    snapshot.load(other.world_mut(), &mut entities).unwrap();
    assert_equal_from_here(&mut app, &mut other);
}
