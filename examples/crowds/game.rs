//! Spawns and runs a scene: its grid, its critters and their orders.
//!
//! Input: the number of a scene in [`RequestedScene`]. Output: its grid in `NavGrids`, an entity for each
//! unit, and [`SceneState`], its state. This module draws nothing.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    clock::{self, TickTimes},
    figures::{self, Course, Figures, Walker},
    scenes::{self, Scene, Start},
};

/// Side of a cell, in world units.
pub const CELL: f32 = 16.0;
/// The z coordinate of critters.
const HEIGHT: f32 = 2.0;

/// The number of the scene to start next.
#[derive(Resource, Clone, Debug, Default)]
pub struct RequestedScene(pub Option<usize>);

/// The running scene.
#[derive(Resource, Clone, Debug, Default)]
pub struct SceneState {
    pub number: usize,
    pub name: &'static str,
    /// Ticks simulated.
    pub ticks: u64,
    /// Tick limit.
    max_ticks: u64,
    /// Cells that are blocked in a given tick.
    building: Option<(u64, Vec<CellRect>)>,
    /// Goal of the group, if the units are one.
    pub group_goal: Option<Cell>,
    /// The tick in which the last unit arrived.
    pub finished: Option<u64>,
    /// Number of scenes started so far.
    pub started: u32,
}

impl SceneState {
    /// Returns whether all units have arrived, or the tick limit is reached.
    pub fn is_over(&self) -> bool {
        self.finished.is_some() || self.ticks >= self.max_ticks
    }
}

/// Runs scenes.
pub struct GamePlugin;

impl Plugin for GamePlugin {
    fn build(&self, app: &mut App) {
        use TilePathSystems::{Move, SyncGrid};
        app.add_plugins(TilePathPlugin::default())
            .init_resource::<RequestedScene>()
            .init_resource::<SceneState>()
            .init_resource::<Figures>()
            .init_resource::<TickTimes>()
            .add_systems(PreUpdate, change_scene)
            .add_systems(
                FixedUpdate,
                (
                    (begin_tick, clock::start).chain().before(SyncGrid),
                    (clock::stop, figures::measure).chain().after(Move),
                ),
            );
    }
}

/// Marks entities that are despawned with their scene.
#[derive(Component)]
struct SceneEntity;

/// Returns the world frame of the grid.
pub fn frame() -> GridFrame {
    GridFrame::square(Vec2::ZERO, Vec2::splat(CELL))
}

/// Counts ticks; blocks the scene's building in its tick.
fn begin_tick(mut scene: ResMut<SceneState>, mut grids: ResMut<NavGrids>) -> Result {
    scene.ticks += 1;
    let now = scene.ticks;
    if let Some((_, rects)) = scene.building.take_if(|(tick, _)| *tick == now)
        && let Ok(grid) = grids.get_mut(GridId::default())
    {
        let mut edit = grid.edit();
        for rect in rects {
            edit.block(rect)?;
        }
    }
    Ok(())
}

/// Starts the requested scene.
fn change_scene(world: &mut World) {
    let Some(number) = world.resource_mut::<RequestedScene>().0.take() else {
        return;
    };
    let Some(name) = scenes::names().nth(number) else {
        return;
    };
    if let Some(scene) = scenes::scene(name) {
        clear(world);
        start(world, (number, name), scene);
    }
}

/// Despawns the entities of the running scene.
fn clear(world: &mut World) {
    let mut entities = world.query_filtered::<Entity, With<SceneEntity>>();
    let entities: Vec<Entity> = entities.iter(world).collect();
    for entity in entities {
        world.despawn(entity);
    }
}

fn start(world: &mut World, (number, name): (usize, &'static str), scene: Scene) {
    let Scene { grid, starts, is_group, building, ticks } = scene;
    let group_goal = starts.first().filter(|_| is_group).map(|start| start.goal);
    let started = world.resource::<SceneState>().started + 1;
    let max_ticks = ticks;
    let scene = SceneState { number, name, max_ticks, building, group_goal, started, ..default() };
    world.insert_resource(scene);
    world.insert_resource(Figures::new(starts.len()));
    let sizes: Vec<u32> =
        starts.iter().map(|start| grid.unit_size(start.settings.profile)).collect();
    let mut grids = world.resource_mut::<NavGrids>();
    grids.remove(GridId::default());
    grids.set_profiles(grid.profiles().to_vec());
    grids.insert(GridId::default(), grid, frame());
    let members = spawn(world, &starts, &sizes, is_group);
    if let Some(goal) = group_goal {
        world.spawn((SceneEntity, Group::to(goal, members)));
    }
}

/// Spawns all units, each with its own request unless they are a group.
fn spawn(world: &mut World, starts: &[Start], sizes: &[u32], is_group: bool) -> Vec<GroupMember> {
    let tick = world.resource::<Time<Fixed>>().timestep().as_secs_f64();
    let mut members = Vec::with_capacity(starts.len());
    for (start, &size) in starts.iter().zip(sizes) {
        let &Start { cell, goal, settings } = start;
        let profile = settings.profile;
        let position = frame().block_center(cell, size);
        let ahead = frame().block_center(goal, size) - position;
        let mut critter = world.spawn((
            SceneEntity,
            Walker::new(cell, size, profile, Course::of(ahead)),
            Critter::new(start.cells_per_second(tick)),
            NavAgent::new(profile),
            Transform::from_translation(position.extend(HEIGHT))
                .with_rotation(Quat::from_rotation_z(ahead.to_angle())),
        ));
        if !is_group {
            critter.insert(PathRequest::to(goal));
        }
        members.push(critter.id().into());
    }
    members
}
