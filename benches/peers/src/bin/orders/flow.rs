//! Whole fields: times of filling one, and of repairing it after a wall of 4 × 4 cells has been added or
//! removed.
//!
//! After every edit a field is filled from scratch, which is also timed, and all costs are compared.

use bevy_tilepath::{nav::field::DistanceField, prelude::*};

use crate::{
    options::Options,
    tools::{Level, Random, UNIT, at, median, micros, text},
};

/// Walls added to a map, in every round at other positions.
const WALLS: usize = 60;
const WALL: u32 = 4;

/// Times in microseconds.
#[derive(Default)]
struct Times {
    whole: Vec<f64>,
    put_up: Vec<f64>,
    taken_down: Vec<f64>,
    /// Repairs that took longer than filling the field from scratch.
    slower: usize,
}

pub fn run(options: &Options) -> Result<(), String> {
    println!(
        "| map | whole µs | repair, put up: median | p99 | worst | taken down: median | p99 \
         | worst | whole / repair | slower than whole |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for level in [Level::generated(512)?, Level::hunters(options)?] {
        let times =
            measure(&level, options.rounds).map_err(|error| format!("{}: {error}", level.name))?;
        print_line(&level.name, times);
    }
    Ok(())
}

fn measure(level: &Level, rounds: usize) -> Result<Times, String> {
    let (mut random, mut times) = (Random::default(), Times::default());
    let (mut field, mut fresh) = (DistanceField::new(), DistanceField::new());
    let mut grid = level.grid.clone();
    for _ in 0..rounds {
        let goal = random.pick(&level.cells);
        fill(&mut field, &grid, goal)?;
        for _ in 0..WALLS {
            let wall = place(&grid, &level.cells, goal, &mut random)?;
            grid.block(wall).map_err(text)?;
            let time = repair(&mut field, &mut fresh, &grid, &mut times)?;
            times.put_up.push(time);
            grid.unblock(wall).map_err(text)?;
            let time = repair(&mut field, &mut fresh, &grid, &mut times)?;
            times.taken_down.push(time);
        }
    }
    Ok(times)
}

/// Finds an open area for a wall, away from the goal.
fn place(
    grid: &NavGrid,
    cells: &[Cell],
    goal: Cell,
    random: &mut Random,
) -> Result<CellRect, String> {
    for _ in 0..100_000 {
        let wall = CellRect::new(random.pick(cells), WALL, WALL);
        if !wall.contains(goal) && wall.cells().all(|cell| grid.cost(UNIT, cell) > 0) {
            return Ok(wall);
        }
    }
    Err("no room for a wall".into())
}

fn fill(field: &mut DistanceField, grid: &NavGrid, goal: Cell) -> Result<(), String> {
    field.start(grid, UNIT, goal).map_err(text)?;
    field.step(grid, u32::MAX);
    Ok(())
}

/// Repairs a field, fills another, and compares them; returns the time of the repair.
fn repair(
    field: &mut DistanceField,
    fresh: &mut DistanceField,
    grid: &NavGrid,
    times: &mut Times,
) -> Result<f64, String> {
    let (time, taken) = micros(|| field.repair(grid, u32::MAX));
    if taken == 0 || !field.is_finished() || field.is_stale(grid) {
        return Err("a field is not repaired".into());
    }
    let (whole, filled) = micros(|| fill(fresh, grid, field.goal().min));
    filled?;
    times.whole.push(whole);
    times.slower += usize::from(time > whole);
    let differs = |&cell: &Cell| field.cost(grid, cell) != fresh.cost(grid, cell);
    match grid.rect().cells().find(differs) {
        Some(cell) => Err(format!("at {cell} a repaired field differs from a new one")),
        None => Ok(time),
    }
}

fn print_line(title: &str, mut times: Times) {
    let mut repairs: Vec<f64> = times.put_up.iter().chain(&times.taken_down).copied().collect();
    let (count, whole) = (repairs.len(), median(&mut times.whole));
    let mut columns = String::new();
    for list in [&mut times.put_up, &mut times.taken_down] {
        let (middle, high, worst) = (at(list, 50), at(list, 99), at(list, 100));
        columns += &format!("{middle:.1} | {high:.1} | {worst:.1} | ");
    }
    let gain = whole / median(&mut repairs);
    println!("| {title} | {whole:.0} | {columns}{gain:.1} | {} of {count} |", times.slower);
}
