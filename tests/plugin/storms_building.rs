//! Storms of building: walls go up and come down under and around marching units, a few cells at a time. Nothing
//! is reset afterwards: every unit must get off the walls where it can, and every request must end.
//!
//! `TILEPATH_STORMS` sets the number of seeds (default 50).

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{Random, app::*, units::*};
use crate::watch::*;

const SIDE: u32 = 32;
/// Ticks of a storm, and ticks after it within which every request must have ended.
const STORM: u32 = 200;
const CALM: u32 = 6_000;

fn cell_in(random: &mut Random) -> Cell {
    Cell::new(random.below(SIDE) as i32, random.below(SIDE) as i32)
}

/// Sends a unit or a group somewhere.
fn order_some(app: &mut App, units: &[Entity], random: &mut Random) {
    let (goal, first) = (cell_in(random), random.below(units.len() as u32) as usize);
    if random.below(3) > 0 {
        let request = PathRequest::to(goal).reach(Reach::Nearest);
        app.world_mut().entity_mut(units[first]).insert(request);
    } else {
        let members = units.iter().skip(first).take(6).copied();
        app.world_mut().spawn(Group::to(goal, members));
    }
}

/// Builds over a unit, or ahead of it, or removes a building.
fn build(app: &mut App, units: &[Entity], built: &mut Vec<CellRect>, random: &mut Random) {
    if built.len() > 30 || (random.below(3) == 0 && !built.is_empty()) {
        let rect = built.swap_remove(random.below(built.len() as u32) as usize);
        return unblock(app, rect);
    }
    let at = match random.below(4) {
        0 => cell_in(random),
        1 => built.last().map_or(Cell::new(9, 9), |rect| rect.min.offset(1, 0)),
        _ => {
            let unit = units[random.below(units.len() as u32) as usize];
            app.world()
                .get::<CritterState>(unit)
                .map_or(Cell::default(), |state| state.walk().head())
        }
    };
    let rect = CellRect::new(at, 1 + random.below(3), 1 + random.below(3));
    let rect = rect.intersection(level(app).rect());
    if !rect.is_empty() {
        block(app, rect);
        built.push(rect);
    }
}

/// Whether a unit stands on a wall and could step off it: the ground beside it is free.
fn stays_on_a_wall(app: &App, unit: Entity) -> bool {
    let profile = app.world().get::<NavAgent>(unit).map_or(SMALL, |agent| agent.profile);
    let (grid, at) = (level(app), state(app, unit).cell());
    let crowd = app.world().resource::<Crowds>().get(GridId::default()).unwrap();
    let own = state(app, unit).unit();
    let is_free = |x: i32, y: i32| {
        let to = at.offset(x, y);
        let mut block = CellRect::new(to, grid.unit_size(profile), grid.unit_size(profile)).cells();
        grid.cost(profile, to) > 0
            && block.all(|cell| crowd.holder(grid, cell).is_none_or(|holder| Some(holder) == own))
    };
    let is_beside = || [(1, 0), (-1, 0), (0, 1), (0, -1)].into_iter().any(|(x, y)| is_free(x, y));
    grid.cost(profile, at) == 0 && is_beside()
}

fn has_ended(app: &App, unit: Entity) -> bool {
    let status = status(app, unit);
    !matches!(status, PathStatus::Searching | PathStatus::Waiting(_) | PathStatus::Walking(_))
}

/// Units of several speeds; every fifth one is large if `sizes` are mixed.
fn spawn_units(app: &mut App, sizes: Sizes, random: &mut Random) -> Vec<Entity> {
    let spawn = |at: i32| {
        let profile = if sizes == Sizes::Mixed && at % 5 == 0 { BIG } else { SMALL };
        let speed = [2.0, 4.0, 8.0, 30.0][random.below(4) as usize];
        let unit = spawn_unit(app, profile, (3 + at % 5 * 3, 3 + at / 5 * 3));
        app.world_mut().entity_mut(unit).insert((Critter::new(speed), NavAgent::new(profile)));
        unit
    };
    (0..20).map(spawn).collect()
}

#[derive(Clone, Copy, PartialEq)]
enum Sizes {
    One,
    Mixed,
}

/// Plays a storm. Whether all requests must end afterwards: in a passage that a storm has made, units of two cells may
/// stop each other for good.
fn play(seed: u64, sizes: Sizes, must_end: bool) {
    let mut random = Random(seed);
    let mut app = app_with_sizes(&field(SIDE as usize, SIDE as usize));
    let mut watch = Watch::new();
    let units = spawn_units(&mut app, sizes, &mut random);
    watch.run(&mut app, 2);
    let mut built = Vec::new();
    for _ in 0..STORM {
        if random.below(4) == 0 {
            order_some(&mut app, &units, &mut random);
        }
        (0..random.below(3)).for_each(|_| build(&mut app, &units, &mut built, &mut random));
        watch.tick(&mut app);
    }
    let is_done = |app: &App, unit: Entity| {
        !stays_on_a_wall(app, unit) && (!must_end || has_ended(app, unit))
    };
    for _ in 0..CALM {
        if units.iter().all(|&unit| is_done(&app, unit)) {
            return;
        }
        watch.tick(&mut app);
    }
    let unit = units.into_iter().find(|&unit| !is_done(&app, unit)).unwrap();
    let (status, state) = (status(&app, unit), state(&app, unit));
    panic!("seed {seed}: {unit} at {}: {status:?}", state.cell());
}

fn seeds() -> u64 {
    std::env::var("TILEPATH_STORMS").map_or(50, |seeds| seeds.parse().unwrap())
}

#[test]
fn units_of_one_size_survive_storms_of_building() {
    (0..seeds()).for_each(|seed| play(seed, Sizes::One, true));
}

#[test]
fn units_of_mixed_sizes_survive_storms_of_building() {
    (0..seeds()).for_each(|seed| play(seed, Sizes::Mixed, false));
}

/// Storms in which units once walked to and fro for good, or stepped onto a wall.
#[test]
fn hard_storms_of_building_leave_no_unit_behind() {
    let seeds =
        [85, 267, 367, 446, 512, 516, 545, 584, 604, 717, 751, 835, 844, 862, 877, 948, 1853];
    seeds.into_iter().for_each(|seed| play(seed, Sizes::Mixed, true));
}
