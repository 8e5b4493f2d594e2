//! Storms of building: walls go up and come down under and around marching units, a few cells at a time. Nothing
//! is reset afterwards: every unit must get off the walls where it can, and every request must end.
//!
//! `TILEPATH_STORMS` sets the number of seeds of each kind (default 15).

use bevy::{ecs::entity_disabling::Disabled, prelude::*};
use bevy_tilepath::prelude::*;

use crate::common::{Random, app::*, units::*};
use crate::watch::*;

const SIDE: u32 = 32;
/// Ticks of a storm, and ticks after it within which every request must have ended.
const STORM: u32 = 200;
const CALM: u32 = 6_000;
const FEW_CELLS: usize = 8;

/// What a storm consists of beside orders to units and groups, and buildings.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Plain,
    /// Every fifth unit is of 2 × 2 cells.
    MixedSizes,
    FourNeighbors,
    /// Ground of several costs.
    MixedGround,
    /// Ground of several costs that changes.
    ChangingGround,
    Queues,
    Followers,
    /// Speeds, teams, ghosts, and disabled units.
    Settings,
}

fn cell_in(random: &mut Random) -> Cell {
    Cell::new(random.below(SIDE) as i32, random.below(SIDE) as i32)
}

fn unit_of(units: &[Entity], random: &mut Random) -> Entity {
    units[random.below(units.len() as u32) as usize]
}

/// A small rectangle on the map.
fn rect_at(cell: Cell, most: u32, random: &mut Random) -> CellRect {
    let rect = CellRect::new(cell, 1 + random.below(most), 1 + random.below(most));
    rect.intersection(CellRect::new(Cell::default(), SIDE, SIDE))
}

/// Sends a unit or a group somewhere, or changes a unit.
fn order_some(app: &mut App, kind: Kind, units: &[Entity], random: &mut Random) {
    let (unit, goal) = (unit_of(units, random), cell_in(random));
    let is_special = random.below(2) == 0;
    let mut entity = app.world_mut().entity_mut(unit);
    match kind {
        Kind::Queues if is_special => {
            let stops = [goal, cell_in(random), cell_in(random)].map(PathRequest::to);
            entity.insert(stops.into_iter().fold(OrderQueue::new(), OrderQueue::then));
        }
        Kind::Followers if is_special => {
            let target = unit_of(units, random);
            let range = 1 + random.below(3) as u16;
            entity.insert(PathRequest::follow(target).within(range).reach(Reach::Nearest));
        }
        Kind::Settings if is_special => change_settings(&mut entity, random),
        _ if random.below(3) > 0 => {
            entity.insert(PathRequest::to(goal).reach(Reach::Nearest));
        }
        _ => {
            let members = units.iter().copied().skip_while(|&other| other != unit).take(6);
            app.world_mut().spawn(Group::to(goal, members));
        }
    }
}

fn change_settings(unit: &mut EntityWorldMut, random: &mut Random) {
    match random.below(6) {
        0 => {
            let mut critter = unit.get_mut::<Critter>().unwrap();
            critter.collides = !critter.collides;
        }
        1 if unit.contains::<Disabled>() => drop(unit.remove::<Disabled>()),
        1 => drop(unit.insert(Disabled)),
        2 => {
            let speed = [0.0, 0.5, 3.0, 20.0, 100.0][random.below(5) as usize];
            unit.get_mut::<Critter>().unwrap().speed = speed;
        }
        3 => drop(unit.remove::<PathRequest>()),
        4 if unit.contains::<Unpushable>() => drop(unit.remove::<Unpushable>()),
        4 => drop(unit.insert(Unpushable)),
        _ => drop(unit.insert(CrowdTeam(random.below(2) as u8))),
    }
}

/// Gives a rectangle one of four grounds, or makes it impassable.
fn set_ground(app: &mut App, rect: CellRect, ground: u32) {
    let mut grids = grid(app);
    let level = grids.get_mut(GridId::default()).unwrap();
    for cell in rect.cells() {
        level.set_terrain(cell, TerrainId(ground as u8)).unwrap();
    }
}

/// Builds over a unit, or ahead of it, or removes a building.
fn build(
    app: &mut App,
    kind: Kind,
    (units, built): (&[Entity], &mut Vec<CellRect>),
    random: &mut Random,
) {
    if built.len() > 30 || (random.below(3) == 0 && !built.is_empty()) {
        let rect = built.swap_remove(random.below(built.len() as u32) as usize);
        return unblock(app, rect);
    }
    let at = match random.below(4) {
        0 => cell_in(random),
        1 => built.last().map_or(Cell::new(9, 9), |rect| rect.min.offset(1, 0)),
        _ => state(app, unit_of(units, random)).walk().head(),
    };
    let rect = rect_at(at, 3, random);
    if kind == Kind::ChangingGround && random.below(2) == 0 {
        set_ground(app, rect, random.below(5));
    } else if !rect.is_empty() {
        block(app, rect);
        built.push(rect);
    }
}

fn app_for(kind: Kind, random: &mut Random) -> App {
    let mut app = app_with(&field(SIDE as usize, SIDE as usize));
    let profile = match kind {
        Kind::FourNeighbors => Profile::default().neighbors(Neighborhood::Four),
        Kind::MixedGround | Kind::ChangingGround => {
            let costs = [(2, 32), (3, 80), (4, 16)];
            costs.into_iter().fold(Profile::default(), |profile, (ground, cost)| {
                profile.with(TerrainId(ground), cost)
            })
        }
        _ => Profile::default(),
    };
    grid(&mut app).set_profiles(vec![profile.clone(), profile.size(2)]);
    let patches = if kind == Kind::MixedGround { 60 } else { 0 };
    for _ in 0..patches {
        let rect = rect_at(cell_in(random), 6, random);
        set_ground(&mut app, rect, 1 + random.below(4));
    }
    app
}

/// Units of several speeds.
fn spawn_units(app: &mut App, kind: Kind, random: &mut Random) -> Vec<Entity> {
    let spawn = |at: i32| {
        let profile = if kind == Kind::MixedSizes && at % 5 == 0 { BIG } else { SMALL };
        let speed = [2.0, 4.0, 8.0, 30.0][random.below(4) as usize];
        let unit = spawn_unit(app, profile, (3 + at % 5 * 3, 3 + at / 5 * 3));
        app.world_mut().entity_mut(unit).insert((Critter::new(speed), NavAgent::new(profile)));
        unit
    };
    (0..20).map(spawn).collect()
}

/// Ends what would never end: units that stand still, and those that follow others.
fn end_storm(app: &mut App, units: &[Entity]) {
    for &unit in units {
        let mut unit = app.world_mut().entity_mut(unit);
        unit.remove::<(Disabled, Unpushable, CrowdTeam)>();
        let mut critter = unit.get_mut::<Critter>().unwrap();
        critter.speed = critter.speed.max(2.0);
        if unit.get::<PathRequest>().is_some_and(|request| request.follows) {
            unit.remove::<PathRequest>();
        }
    }
}

/// Whether a unit stands on a wall and could step off it: the ground beside it is free.
fn stays_on_a_wall(app: &App, unit: Entity) -> bool {
    let profile = app.world().get::<NavAgent>(unit).map_or(SMALL, |agent| agent.profile);
    let (grid, at) = (level(app), state(app, unit).cell());
    let crowd = app.world().resource::<Crowds>().get(GridId::default()).unwrap();
    let Some(own) = state(app, unit).unit() else {
        return false; // a ghost
    };
    let is_free = |x: i32, y: i32| {
        let to = at.offset(x, y);
        let mut block = CellRect::new(to, grid.unit_size(profile), grid.unit_size(profile)).cells();
        grid.cost(profile, to) > 0
            && block.all(|cell| crowd.holder(grid, cell).is_none_or(|holder| holder == own))
    };
    let is_beside = || [(1, 0), (-1, 0), (0, 1), (0, -1)].into_iter().any(|(x, y)| is_free(x, y));
    grid.cost(profile, at) == 0 && is_beside()
}

/// Whether walls have closed in a unit on a few cells, where it may have no room to get past another one.
fn is_walled_in(app: &App, unit: Entity) -> bool {
    let mut cells = vec![state(app, unit).cell()];
    let mut next = 0;
    while next < cells.len() && cells.len() <= FEW_CELLS {
        for (x, y) in [(1, 0), (-1, 0), (0, 1), (0, -1)] {
            let to = cells[next].offset(x, y);
            if level(app).cost(SMALL, to) > 0 && !cells.contains(&to) {
                cells.push(to);
            }
        }
        next += 1;
    }
    cells.len() <= FEW_CELLS
}

fn has_ended(app: &App, unit: Entity) -> bool {
    use PathStatus::{Arrived, Failed, Idle};
    let queue = app.world().get::<OrderQueue>(unit);
    matches!(status(app, unit), Arrived(_) | Failed(_) | Idle)
        && queue.is_none_or(OrderQueue::is_empty)
}

/// Plays a storm. Whether all requests must end afterwards: in a gap that a storm has left, large units may stop others
/// for good.
fn play(seed: u64, kind: Kind, must_end: bool) {
    let mut random = Random(seed);
    let mut app = app_for(kind, &mut random);
    let units = spawn_units(&mut app, kind, &mut random);
    let mut watch = Watch::new();
    // Units that have been ghosts, or are disabled, may appear anywhere.
    let mut tick = |app: &mut App| match kind {
        Kind::Settings => app.update(),
        _ => watch.tick(app),
    };
    (0..2).for_each(|_| tick(&mut app));
    let mut built = Vec::new();
    for _ in 0..STORM {
        if kind == Kind::Settings || random.below(4) == 0 {
            order_some(&mut app, kind, &units, &mut random);
        }
        for _ in 0..random.below(3) {
            build(&mut app, kind, (&units, &mut built), &mut random);
        }
        tick(&mut app);
    }
    end_storm(&mut app, &units);
    let is_done = |app: &App, unit: Entity| {
        !stays_on_a_wall(app, unit)
            && (!must_end || has_ended(app, unit) || is_walled_in(app, unit))
    };
    for _ in 0..CALM {
        if units.iter().all(|&unit| is_done(&app, unit)) {
            return;
        }
        tick(&mut app);
    }
    let unit = units.into_iter().find(|&unit| !is_done(&app, unit)).unwrap();
    let (status, state) = (status(&app, unit), state(&app, unit));
    panic!("seed {seed}: {unit} at {}: {status:?}", state.cell());
}

fn play_all(kind: Kind, must_end: bool) {
    let seeds = std::env::var("TILEPATH_STORMS").map_or(15, |seeds| seeds.parse().unwrap());
    (0..seeds).for_each(|seed| play(seed, kind, must_end));
}

#[test]
fn units_survive_storms_of_building() {
    play_all(Kind::Plain, true);
}

#[test]
fn units_of_mixed_sizes_leave_walls_in_storms_of_building() {
    play_all(Kind::MixedSizes, false);
}

#[test]
fn units_with_four_neighbors_survive_storms_of_building() {
    play_all(Kind::FourNeighbors, true);
}

#[test]
fn units_on_mixed_ground_survive_storms_of_building() {
    play_all(Kind::MixedGround, true);
}

#[test]
fn units_on_ground_that_changes_survive_storms_of_building() {
    play_all(Kind::ChangingGround, true);
}

#[test]
fn order_queues_survive_storms_of_building() {
    play_all(Kind::Queues, true);
}

#[test]
fn followers_survive_storms_of_building() {
    play_all(Kind::Followers, true);
}

#[test]
fn changes_of_settings_survive_storms_of_building() {
    play_all(Kind::Settings, true);
}
