//! Operations that must not allocate, counted by a counting allocator.

use bevy::{
    ecs::schedule::{Schedules, SingleThreadedExecutor},
    prelude::*,
    time::TimeUpdateStrategy,
};
use bevy_tilepath::{
    nav::{node_pool::NodePool, search::Search},
    prelude::*,
};

use crate::common::counting::allocations;

#[test]
fn a_warm_search_allocates_nothing() {
    let mut level = NavGrid::new(200, 200, TerrainId::GROUND).unwrap();
    level.block(CellRect::new(Cell::new(100, 0), 1, 190)).unwrap();
    let pool = NodePool::default();
    let mut search = <Search>::new();
    let query = PathQuery::new(Cell::new(5, 5), Cell::new(190, 8));
    let mut run = |slice| {
        search.start(&level, &pool, query).unwrap();
        while !search.is_finished() {
            search.step(&level, &pool, slice);
        }
        search.stop(&pool);
    };
    run(u32::MAX);
    assert_eq!(allocations(|| run(u32::MAX)), 0);
    assert_eq!(allocations(|| run(64)), 0, "in slices");
}

/// Compares the same app with and without critters, so that allocations of Bevy itself do not count.
#[test]
fn a_thousand_walking_critters_allocate_nothing() {
    crate::common::app::make_pool();
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TilePathPlugin::default()))
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    // On this thread, where allocations are counted.
    for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
        schedule.set_executor(SingleThreadedExecutor::new());
    }
    let level = NavGrid::new(500, 100, TerrainId::GROUND).unwrap();
    let mut grids = app.world_mut().resource_mut::<NavGrids>();
    grids.insert(GridId::default(), level, GridFrame::default());
    // Lists grow until the crowd has passed its densest state.
    let allocations_per_100_ticks = |app: &mut App| {
        (0..1_500).for_each(|_| app.update());
        allocations(|| (0..100).for_each(|_| app.update()))
    };
    let without = allocations_per_100_ticks(&mut app);
    for i in 0..1_000 {
        let transform = Transform::from_xyz((i / 100) as f32, (i % 100) as f32, 0.0);
        let goal = Cell::new(450 + i / 100, (i * 7) % 100);
        let critter = (Critter::new(6.0), transform);
        match i % 3 {
            0 => app.world_mut().spawn((critter, PathRequest::to(goal))),
            1 => app.world_mut().spawn((critter, PathRequest::to(goal), AnyAnglePath::default())),
            _ => {
                let orders = OrderQueue::new().then(PathRequest::to(goal));
                app.world_mut().spawn((critter, orders))
            }
        };
    }
    for _ in 0..10 {
        let orders = OrderQueue::new().then(Order::Wait { ticks: 100_000 });
        app.world_mut().spawn((Critter::new(6.0), orders));
    }
    let with = allocations_per_100_ticks(&mut app);
    let mut statuses = app.world_mut().query::<&PathStatus>();
    let walking = statuses.iter(app.world()).filter(|s| matches!(s, PathStatus::Walking(_)));
    assert_eq!(walking.count(), 1_000, "all of them are walking");
    assert_eq!(with, without);
}
