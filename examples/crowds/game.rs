//! A scene as a game: a grid, critters on it, and their orders.
//!
//! Input: the number of a scene in [`Wanted`]. Output: its grid in `NavGrids`, an entity for each
//! unit, and [`Play`], which says how far it is. Nothing here draws.

use bevy::prelude::*;
use bevy_tilepath::{
    nav::{crowd::UnitSettings, walk::PROGRESS_PER_COST},
    prelude::*,
};

use crate::{
    clock::{self, TickTimes},
    figures::{self, Course, Figures, Walker},
    scenes::{self, Scene, Start},
};

/// Side of a cell, in world units.
pub const CELL: f32 = 16.0;
/// How high above the ground critters are drawn.
const HEIGHT: f32 = 2.0;

/// The number of the scene that is asked for.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct Wanted(pub Option<usize>);

/// The scene under way.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct Play {
    pub number: usize,
    pub name: &'static str,
    /// Ticks gone by.
    pub ticks: u64,
    /// Ticks after which it is over in any case.
    most_ticks: u64,
    /// What is built in which tick.
    building: Option<(u64, CellRect)>,
    /// Where all of them gather, if they are one group.
    pub meeting: Option<Cell>,
    /// The tick in which the last one arrived.
    pub finished: Option<u64>,
    /// How many scenes were begun.
    pub begun: u32,
}

impl Play {
    /// Whether everybody has arrived, or time is up.
    pub fn is_over(&self) -> bool {
        self.finished.is_some() || self.ticks >= self.most_ticks
    }
}

/// Plays scenes.
pub struct GamePlugin;

impl Plugin for GamePlugin {
    fn build(&self, app: &mut App) {
        use TilePathSystems::{Move, SyncGrid};
        app.add_plugins(TilePathPlugin::default())
            .init_resource::<Wanted>()
            .init_resource::<Play>()
            .init_resource::<Figures>()
            .init_resource::<TickTimes>()
            .add_systems(PreUpdate, change_scene)
            .add_systems(
                FixedUpdate,
                (
                    (begin_tick, clock::start).chain().before(SyncGrid),
                    (clock::stop, figures::look).chain().after(Move),
                ),
            );
    }
}

/// Everything that goes with its scene.
#[derive(Component)]
struct OfScene;

/// Where the grid lies in the world.
pub fn frame() -> GridFrame {
    GridFrame::square(Vec2::ZERO, Vec2::splat(CELL))
}

/// Counts ticks; builds what is to be built.
fn begin_tick(mut play: ResMut<Play>, mut grids: ResMut<NavGrids>) -> Result {
    play.ticks += 1;
    if let Some((tick, rect)) = play.building
        && tick == play.ticks
        && let Ok(grid) = grids.get_mut(GridId::default())
    {
        grid.block(rect)?;
    }
    Ok(())
}

/// Begins the scene that is asked for, or the same one again.
fn change_scene(world: &mut World) {
    let Some(number) = world.resource_mut::<Wanted>().0.take() else {
        return;
    };
    let Some(name) = scenes::names().nth(number) else {
        return;
    };
    if let Some(scene) = scenes::scene(name) {
        clear(world);
        begin(world, (number, name), scene);
    }
}

/// Takes everybody off the stage.
fn clear(world: &mut World) {
    let mut gone = world.query_filtered::<Entity, With<OfScene>>();
    let gone: Vec<Entity> = gone.iter(world).collect();
    for entity in gone {
        world.despawn(entity);
    }
}

fn begin(world: &mut World, (number, name): (usize, &'static str), scene: Scene) {
    let Scene { grid, starts, is_group, building, ticks } = scene;
    let meeting = starts.first().filter(|_| is_group).map(|start| start.goal);
    let begun = world.resource::<Play>().begun + 1;
    let play = Play { number, name, most_ticks: ticks, building, meeting, begun, ..default() };
    world.insert_resource(play);
    world.insert_resource(Figures::new(starts.len()));
    let sizes: Vec<u32> =
        starts.iter().map(|start| grid.unit_size(start.settings.profile)).collect();
    let mut grids = world.resource_mut::<NavGrids>();
    grids.remove(GridId::default());
    grids.set_profiles(grid.profiles().to_vec());
    grids.insert(GridId::default(), grid, frame());
    let everybody = spawn(world, &starts, &sizes, is_group);
    if let Some(goal) = meeting {
        world.spawn((OfScene, Group::to(goal, everybody)));
    }
}

/// Spawns everybody, with an order of their own unless the group has one for all.
fn spawn(world: &mut World, starts: &[Start], sizes: &[u32], is_group: bool) -> Vec<GroupMember> {
    let tick = world.resource::<Time<Fixed>>().timestep().as_secs_f64();
    let mut everybody = Vec::with_capacity(starts.len());
    for (&Start { cell, goal, settings }, &size) in starts.iter().zip(sizes) {
        let profile = settings.profile;
        let place = frame().block_center(cell, size);
        let ahead = frame().block_center(goal, size) - place;
        let mut critter = world.spawn((
            OfScene,
            Walker::new(cell, size, profile, Course::of(ahead)),
            Critter::new(cells_per_second(settings, tick)),
            NavAgent::new(profile),
            Transform::from_translation(place.extend(HEIGHT))
                .with_rotation(Quat::from_rotation_z(ahead.to_angle())),
        ));
        if !is_group {
            critter.insert(PathRequest::to(goal));
        }
        everybody.push(critter.id().into());
    }
    everybody
}

/// The speed of a unit of the scene, for ticks of so many seconds.
fn cells_per_second(settings: UnitSettings, tick: f64) -> f32 {
    let per_cell = (PathCost::PLAIN_STEP.0 * PROGRESS_PER_COST) as f64;
    // Half a unit of work more, as the plugin rounds down.
    ((settings.speed as f64 + 0.5) / per_cell / tick) as f32
}
