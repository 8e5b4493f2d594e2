//! The same load through the plugin.
//!
//! Input: how many critters, as in [`Options`]. Each goes to one of the shared goals on a path of its own, and
//! on to another one when it has arrived. Output: one JSON line: what the stage that moves takes in a tick, what
//! drawing takes (writing transforms between two ticks), and what writing as many transforms takes without
//! any plugin.

use std::time::Instant;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_tilepath::prelude::*;

use crate::{
    Options,
    ground::{Dice, main_part, map},
    runner::{JsonLine, Outcome, percentile},
};

/// What was measured, in microseconds.
#[derive(Resource, Default)]
struct Times {
    began: Option<Instant>,
    moving: Vec<f64>,
    drawing: Vec<f64>,
    writing: Vec<f64>,
}

/// Where critters go.
#[derive(Resource)]
struct Goals(Vec<Cell>, Dice);

/// What is written to without any plugin.
#[derive(Component)]
struct Bare;

/// Plays and measures.
pub(crate) fn run(options: &Options) -> Outcome<()> {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TilePathPlugin::default()))
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .init_resource::<Times>()
        .add_systems(
            FixedUpdate,
            begin.after(TilePathSystems::Deliver).before(TilePathSystems::Move),
        )
        .add_systems(FixedUpdate, (end_move, go_on).chain().after(TilePathSystems::Move))
        .add_systems(
            RunFixedMainLoop,
            begin.before(TilePathSystems::Draw).after(RunFixedMainLoopSystems::FixedMainLoop),
        )
        .add_systems(RunFixedMainLoop, end_draw.after(TilePathSystems::Draw))
        .add_systems(Update, write_bare);
    app.world_mut().resource_mut::<TilePathSettings>().budget = 1_000_000;
    fill(&mut app, options)?;
    for _ in 0..options.warmup {
        app.update();
    }
    let steps = |app: &App| app.world().resource::<Crowds>().counters().steps;
    let before = steps(&app);
    app.insert_resource(Times::default());
    for _ in 0..options.ticks {
        app.update();
    }
    let a_tick = (steps(&app) - before) as f64 / f64::from(options.ticks.max(1));
    let mut times = app.world_mut().remove_resource::<Times>().unwrap_or_default();
    for list in [&mut times.moving, &mut times.drawing, &mut times.writing] {
        list.sort_by(f64::total_cmp);
    }
    JsonLine::default()
        .number("critters", options.units)
        .micros("move_p50_us", percentile(&times.moving, 50))
        .micros("move_p99_us", percentile(&times.moving, 99))
        .micros("draw_p50_us", percentile(&times.drawing, 50))
        .micros("draw_p99_us", percentile(&times.drawing, 99))
        .micros("bare_transforms_p50_us", percentile(&times.writing, 50))
        .micros("bare_transforms_p99_us", percentile(&times.writing, 99))
        .number("steps_a_tick", format!("{a_tick:.1}"))
        .print();
    Ok(())
}

/// Puts up the map and everybody on it.
fn fill(app: &mut App, options: &Options) -> Outcome<()> {
    let mut dice = Dice(7);
    let grid = map(options.side, &mut dice)?;
    let is_main = main_part(&grid);
    let mut anywhere = || loop {
        let cell = dice.cell(options.side);
        if is_main(cell) {
            break cell;
        }
    };
    let goals: Vec<Cell> = (0..options.fields).map(|_| anywhere()).collect();
    let starts: Vec<Cell> = (0..options.units).map(|_| anywhere()).collect();
    drop(is_main);
    let frame = GridFrame::default();
    let ticks = app.world().resource::<Time<Fixed>>().timestep().as_secs_f32().recip();
    for (number, start) in starts.into_iter().enumerate() {
        let place = Transform::from_translation(frame.cell_center(start).extend(0.0));
        let speed = ticks / (7 + number * 5 % 14) as f32;
        let goal = goals[number % goals.len()];
        app.world_mut().spawn((Critter::new(speed), place, PathRequest::to(goal)));
        app.world_mut().spawn((Bare, place));
    }
    app.world_mut().resource_mut::<NavGrids>().insert(GridId::default(), grid, frame);
    app.insert_resource(Goals(goals, dice));
    Ok(())
}

fn begin(mut times: ResMut<Times>) {
    times.began = Some(Instant::now());
}

fn since(times: &mut Times) -> Option<f64> {
    times.began.take().map(|began| began.elapsed().as_secs_f64() * 1e6)
}

fn end_move(mut times: ResMut<Times>) {
    let micros = since(&mut times);
    times.moving.extend(micros);
}

fn end_draw(mut times: ResMut<Times>) {
    let micros = since(&mut times);
    times.drawing.extend(micros);
}

/// Those who have arrived go on to another goal.
fn go_on(
    arrived: Query<(Entity, &PathStatus), Changed<PathStatus>>,
    mut goals: ResMut<Goals>,
    mut commands: Commands,
) {
    for (entity, status) in &arrived {
        if matches!(status, PathStatus::Arrived(_)) {
            let Goals(cells, dice) = &mut *goals;
            let goal = cells[dice.below(cells.len() as u32) as usize];
            commands.entity(entity).insert(PathRequest::to(goal));
        }
    }
}

/// What writing a transform for each takes.
fn write_bare(mut times: ResMut<Times>, mut bare: Query<&mut Transform, With<Bare>>) {
    let began = Instant::now();
    for mut place in &mut bare {
        place.translation.x += 0.125;
        place.translation.y -= 0.125;
    }
    times.writing.push(began.elapsed().as_secs_f64() * 1e6);
}
