//! The same orders give the same answers and movements under any budget and number of threads, and in every
//! run.

use bevy::{ecs::schedule::ScheduleBuildSettings, prelude::*, time::TimeUpdateStrategy};
use bevy_tilepath::prelude::*;

use crate::common::{Random, app::make_pool};

/// Runs a field with scattered walls, on which critters get orders while more walls are built; or, without
/// `walks`, the same critters standing still on a map without edits.
fn play(budget: u32, threads: usize, walks: bool) -> (u64, PathCounters) {
    let settings = TilePathSettings { budget, threads, ..TilePathSettings::default() };
    play_with(settings, walks)
}

fn play_with(settings: TilePathSettings, walks: bool) -> (u64, PathCounters) {
    make_pool();
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TilePathPlugin::default()))
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .insert_resource(settings);
    let mut random = Random(7);
    let mut level = NavGrid::new(80, 60, TerrainId::GROUND).unwrap();
    for _ in 0..600 {
        let cell = Cell::new(random.below(80) as i32, random.below(60) as i32);
        level.set_terrain(cell, TerrainId::VOID).unwrap();
    }
    app.world_mut().resource_mut::<NavGrids>().insert(
        GridId::default(),
        level,
        GridFrame::default(),
    );
    let units: Vec<Entity> = (0..60)
        .map(|_| {
            let position = Vec3::new(random.below(80) as f32, random.below(60) as f32, 0.0);
            let speed = if walks { 2.0 + random.below(8) as f32 } else { 0.0 };
            app.world_mut().spawn((Critter::new(speed), Transform::from_translation(position))).id()
        })
        .collect();
    for tick in 0..600 {
        if tick % 100 == 0 {
            for &unit in &units {
                let goal = Cell::new(random.below(80) as i32, random.below(60) as i32);
                let request = PathRequest::to(goal).reach(Reach::Nearest);
                app.world_mut().entity_mut(unit).insert(request);
            }
        }
        if walks && tick % 7 == 0 {
            let at = Cell::new(random.below(70) as i32, random.below(50) as i32);
            let mut grids = app.world_mut().resource_mut::<NavGrids>();
            let level = grids.get_mut(GridId::default()).unwrap();
            level.block(CellRect::new(at, 3, 2)).unwrap();
        }
        app.update();
    }
    let counters = *app.world().resource::<PathCounters>();
    (state_checksum(app.world_mut()), counters)
}

#[test]
fn the_state_does_not_depend_on_the_run_or_the_threads() {
    let once = play(3_000, 1, true);
    assert!(once.1.repaired > 0 && once.1.found > 100, "{:?}", once.1);
    assert_eq!(once, play(3_000, 1, true), "a second run");
    assert_eq!(once, play(3_000, 2, true), "two threads");
    assert_eq!(once, play(3_000, 4, true), "four threads");
}

#[test]
fn answers_do_not_depend_on_the_budget() {
    for landmark_bytes in [0, 64 << 20] {
        let [rich, poor] = [1_000_000, 2_500].map(|budget| {
            let settings = TilePathSettings { budget, landmark_bytes, ..default() };
            play_with(settings, false).1
        });
        assert!(poor.longest_wait > 0 || poor.waited > 0, "searches were sliced");
        assert_eq!(rich.answers_checksum, poor.answers_checksum);
        if landmark_bytes == 0 {
            // Landmarks are ready earlier with a larger budget.
            assert_eq!(rich.expansions, poor.expansions);
        }
    }
}

/// A constant that changes only when the plugin's behavior does: the same in debug and release
/// builds and on every machine.
#[test]
fn the_state_after_600_ticks_has_the_recorded_checksum() {
    let (checksum, _) = play(50_000, 2, true);
    assert_eq!(format!("{checksum:016x}"), "5a495b4ed6e38806");
}

#[test]
fn the_order_of_systems_is_never_ambiguous() {
    make_pool();
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TilePathPlugin::default()))
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    deny_ambiguity(&mut app);
    app.update();
    app.update();
}

/// The test above can fail: a system that edits grids without a declared order is detected.
#[test]
#[should_panic(expected = "ambig")]
fn an_ambiguous_system_is_detected() {
    make_pool();
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TilePathPlugin::default()))
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .add_systems(FixedUpdate, |_: ResMut<NavGrids>| {});
    deny_ambiguity(&mut app);
    app.update();
    app.update();
}

fn deny_ambiguity(app: &mut App) {
    for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
        schedule.set_build_settings(ScheduleBuildSettings {
            ambiguity_detection: bevy::ecs::schedule::LogLevel::Error,
            ..default()
        });
    }
}

/// Plays with so many ticks in a frame, one number after the other: orders, groups and walls are given in ticks. `restores`: every few
/// ticks the world is put back to where it is, in the middle of a frame, too.
fn play_frames(frames: &[u32], restores: bool) -> u64 {
    #[derive(Resource)]
    struct Script(Random, u32);
    fn restore(world: &mut World) {
        if world.resource::<Script>().1.is_multiple_of(5) {
            let snapshot = TilePathSnapshot::take(world).unwrap();
            snapshot.restore(world).unwrap();
        }
    }
    fn act(
        mut commands: Commands,
        mut script: ResMut<Script>,
        units: Query<Entity, With<Critter>>,
    ) {
        let Script(random, tick) = &mut *script;
        *tick += 1;
        let mut units: Vec<Entity> = units.iter().collect();
        units.sort_unstable();
        let mut cell = || Cell::new(random.below(60) as i32, random.below(60) as i32);
        let (goal, wall) = (cell(), cell());
        let first = random.below(units.len() as u32 - 20) as usize;
        match *tick % 24 {
            0 => {
                let members = units[first..first + 16].iter().copied();
                let follows = tick.is_multiple_of(48);
                let leader = if follows { units[first + 17].into() } else { Target::Cell(goal) };
                let order = PathRequest { follows, ..PathRequest::default() };
                commands.spawn(Group::to(leader, members).request(order));
            }
            12 => drop(commands.spawn(NavBlocker::at(CellRect::new(wall, 3, 1)))),
            2 | 6 | 10 | 14 | 18 | 22 => {
                let request = PathRequest::to(goal).reach(Reach::Nearest);
                commands.entity(units[first]).insert(request);
            }
            _ => {}
        }
    }
    make_pool();
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TilePathPlugin::default()))
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .insert_resource(Script(Random(8), 0))
        .add_systems(FixedUpdate, act.before(TilePathSystems::All));
    if restores {
        app.add_systems(FixedUpdate, restore.before(act));
    }
    let mut random = Random(3);
    let mut level = NavGrid::new(60, 60, TerrainId::GROUND).unwrap();
    for _ in 0..400 {
        let cell = Cell::new(random.below(60) as i32, random.below(60) as i32);
        level.set_terrain(cell, TerrainId::VOID).unwrap();
    }
    let mut grids = app.world_mut().resource_mut::<NavGrids>();
    grids.insert(GridId::default(), level, GridFrame::default());
    for _ in 0..150 {
        let place = Vec3::new(random.below(60) as f32, random.below(60) as f32, 0.0);
        app.world_mut().spawn((Critter::new(12.0), Transform::from_translation(place)));
    }
    app.update(); // without a tick
    let mut frames = frames.iter().cycle();
    while app.world().resource::<Script>().1 < 2_400
        && let Some(&ticks) = frames.next()
    {
        app.insert_resource(TimeUpdateStrategy::FixedTimesteps(ticks));
        app.update();
    }
    assert_eq!(app.world().resource::<Script>().1, 2_400);
    state_checksum(app.world_mut())
}

#[test]
fn the_state_does_not_depend_on_the_ticks_in_a_frame() {
    let once = play_frames(&[1], false);
    // The last: a step that is drawn several times, and then two that end in one frame.
    for frames in [&[2][..], &[8], &[16], &[1, 1, 1, 2, 15]] {
        assert_eq!(once, play_frames(frames, false), "{frames:?} ticks in a frame");
        assert_eq!(once, play_frames(frames, true), "{frames:?} ticks in a frame, put back");
    }
}
