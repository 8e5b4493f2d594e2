//! The same load through the plugin.
//!
//! Input: [`Options`]. Each critter moves to one of the shared goals on its own path, and to another
//! goal after it has arrived. Output: one JSON line: the times of the `Move` stage per tick, of
//! drawing (writing transforms between two ticks), and of writing the same number of transforms
//! without the plugin.

use std::time::Instant;

use bevy::{
    app::{TaskPoolOptions, TaskPoolPlugin},
    camera::{primitives::Aabb, visibility::ViewVisibility},
    ecs::schedule::SingleThreadedExecutor,
    prelude::*,
    time::TimeUpdateStrategy,
};
use bevy_tilepath::{nav::crowd::Crowd, prelude::*};

use crate::{
    Options,
    map::{Random, main_region, map},
    runner::{JsonLine, Outcome, percentile},
    snapshots::SnapshotTimes,
};

/// Measured times, in microseconds.
#[derive(Resource, Default)]
struct Times {
    started: Option<Instant>,
    moving: Vec<f64>,
    drawing: Vec<f64>,
    writing: Vec<f64>,
}

/// The shared goals, and the generator that chooses among them.
#[derive(Resource)]
struct Goals(Vec<Cell>, Random);

/// Marks entities whose transforms are written without the plugin.
#[derive(Component)]
struct Bare;

/// Runs and measures.
pub(crate) fn run(options: &Options) -> Outcome<()> {
    let mut app = App::new();
    let pools = options.threads.map_or_else(default, TaskPoolOptions::with_num_threads);
    let threads = TaskPoolPlugin { task_pool_options: pools };
    app.add_plugins((MinimalPlugins.set(threads), TilePathPlugin::default()))
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .init_resource::<Times>()
        .add_systems(
            FixedUpdate,
            begin.after(TilePathSystems::Deliver).before(TilePathSystems::Move),
        )
        .add_systems(
            FixedUpdate,
            (end_move, follow_steering, choose_next_goals).chain().after(TilePathSystems::Move),
        )
        .add_systems(
            RunFixedMainLoop,
            begin.before(TilePathSystems::Draw).after(RunFixedMainLoopSystems::FixedMainLoop),
        )
        .add_systems(RunFixedMainLoop, end_draw.after(TilePathSystems::Draw))
        .add_systems(Update, write_bare);
    app.world_mut().resource_mut::<TilePathSettings>().budget = 1_000_000;
    app.insert_resource(CritterDrawing { skips_hidden: options.hidden > 0 });
    fill(&mut app, options)?;
    app.finish();
    app.cleanup();
    if options.threads == Some(1) {
        for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
            schedule.set_executor(SingleThreadedExecutor::new());
        }
    }
    for _ in 0..options.warmup {
        app.update();
    }
    let steps = |app: &App| app.world().resource::<Crowds>().counters().steps;
    let before = steps(&app);
    app.insert_resource(Times::default());
    let mut snapshots = SnapshotTimes::default();
    for tick in 0..options.ticks {
        app.update();
        if options.takes_snapshots {
            snapshots.measure(&mut app, tick)?;
        }
    }
    let a_tick = (steps(&app) - before) as f64 / f64::from(options.ticks.max(1));
    let mut times = app.world_mut().remove_resource::<Times>().unwrap_or_default();
    for list in [&mut times.moving, &mut times.drawing, &mut times.writing] {
        list.sort_by(f64::total_cmp);
    }
    let line = JsonLine::default()
        .number("critters", options.units)
        .micros("move_p50_us", percentile(&times.moving, 50))
        .micros("move_p99_us", percentile(&times.moving, 99))
        .micros("draw_p50_us", percentile(&times.drawing, 50))
        .micros("draw_p99_us", percentile(&times.drawing, 99))
        .micros("bare_transforms_p50_us", percentile(&times.writing, 50))
        .micros("bare_transforms_p99_us", percentile(&times.writing, 99))
        .number("steps_a_tick", format!("{a_tick:.1}"))
        .number(
            "kib",
            app.world().resource::<Crowds>().get(GridId::default()).map_or(0, Crowd::bytes) / 1024,
        );
    snapshots.add_to(line).print();
    Ok(())
}

/// Creates the map and spawns all critters.
fn fill(app: &mut App, options: &Options) -> Outcome<()> {
    let mut random = Random(options.seed);
    let grid = map(options.side, &mut random)?;
    let is_main = main_region(&grid)?;
    let mut random_cell = || loop {
        let cell = random.cell(options.side);
        if is_main(cell) {
            break cell;
        }
    };
    let goals: Vec<Cell> = (0..options.fields).map(|_| random_cell()).collect();
    let starts: Vec<Cell> = (0..options.units).map(|_| random_cell()).collect();
    drop(is_main);
    let frame = GridFrame::default();
    let ticks = app.world().resource::<Time<Fixed>>().timestep().as_secs_f32().recip();
    for (number, start) in starts.into_iter().enumerate() {
        let transform = Transform::from_translation(frame.cell_center(start).extend(0.0));
        let speed = ticks / (7 + number * 5 % 14) as f32;
        let goal = goals[number % goals.len()];
        let mut unit = app.world_mut().spawn((transform, PathRequest::to(goal)));
        if options.is_steered {
            unit.insert(PathSteering::new(speed));
        } else {
            unit.insert(Critter::new(speed));
        }
        if options.hidden > 0 {
            let is_hidden = (number * 37 % 100) < options.hidden as usize;
            let seen = if is_hidden { ViewVisibility::HIDDEN } else { ViewVisibility::VISIBLE };
            unit.insert((seen, Aabb::default()));
        }
        app.world_mut().spawn((Bare, transform));
    }
    app.world_mut().resource_mut::<NavGrids>().insert(GridId::default(), grid, frame);
    app.insert_resource(Goals(goals, random));
    Ok(())
}

fn begin(mut times: ResMut<Times>) {
    times.started = Some(Instant::now());
}

fn elapsed(times: &mut Times) -> Option<f64> {
    times.started.take().map(|started| started.elapsed().as_secs_f64() * 1e6)
}

fn end_move(mut times: ResMut<Times>) {
    let micros = elapsed(&mut times);
    times.moving.extend(micros);
}

fn end_draw(mut times: ResMut<Times>) {
    let micros = elapsed(&mut times);
    times.drawing.extend(micros);
}

/// Sends critters that have arrived to another goal.
fn choose_next_goals(
    arrived: Query<(Entity, &PathStatus), Changed<PathStatus>>,
    mut goals: ResMut<Goals>,
    mut commands: Commands,
) {
    for (entity, status) in &arrived {
        if matches!(status, PathStatus::Arrived(_)) {
            let Goals(cells, random) = &mut *goals;
            let goal = cells[random.below(cells.len() as u32) as usize];
            commands.entity(entity).insert(PathRequest::to(goal));
        }
    }
}

/// Moves units as they are steered.
fn follow_steering(time: Res<Time>, mut units: Query<(&DesiredVelocity, &mut Transform)>) {
    for (desired, mut transform) in &mut units {
        transform.translation += desired.extend(0.0) * time.delta_secs();
    }
}

/// Measures writing a transform for each critter.
fn write_bare(mut times: ResMut<Times>, mut bare: Query<&mut Transform, With<Bare>>) {
    let started = Instant::now();
    for mut transform in &mut bare {
        transform.translation.x += 0.125;
        transform.translation.y -= 0.125;
    }
    times.writing.push(started.elapsed().as_secs_f64() * 1e6);
}
