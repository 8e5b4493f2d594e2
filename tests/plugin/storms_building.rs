//! Storms of building: walls go up and come down under and around marching units, a few cells at a time. Nothing
//! is reset afterwards: every unit must get off the walls where it can, and every request must end.
//!
//! `TILEPATH_STORMS` sets the number of seeds of each kind (default 15).

mod kinds;

use bevy::prelude::*;
use bevy_tilepath::{nav::crowd::Crowd, prelude::*};

use self::kinds::{Kind, SIDE};
use crate::common::{Random, app::*, units::*};
use crate::watch::*;

/// Ticks of a storm, and ticks after it within which every request must have ended.
const STORM: u32 = 200;
const CALM: u32 = 6_000;
const FEW_CELLS: usize = 8;

/// An app in a storm.
struct Storm {
    kind: Kind,
    app: App,
    units: Vec<Entity>,
    /// The buildings that stand.
    built: Vec<CellRect>,
    random: Random,
    watch: Watch,
}

impl Storm {
    fn tick(&mut self) {
        if self.kind.can_be_watched() {
            self.watch.tick(&mut self.app);
        } else {
            self.app.update();
        }
    }

    fn below(&mut self, bound: u32) -> u32 {
        self.random.below(bound)
    }

    fn cell(&mut self) -> Cell {
        Cell::new(self.below(SIDE) as i32, self.below(SIDE) as i32)
    }

    fn unit(&mut self) -> Entity {
        self.units[self.random.below(self.units.len() as u32) as usize]
    }

    /// A small rectangle on the map.
    fn rect_at(&mut self, cell: Cell, most: u32) -> CellRect {
        let rect = CellRect::new(cell, 1 + self.below(most), 1 + self.below(most));
        rect.intersection(CellRect::new(Cell::default(), SIDE, SIDE))
    }

    /// Builds over a unit, or ahead of it, or removes a building.
    fn build(&mut self) {
        if self.built.len() > 30 || (self.below(3) == 0 && !self.built.is_empty()) {
            let at = self.random.below(self.built.len() as u32) as usize;
            let rect = self.built.swap_remove(at);
            return unblock(&mut self.app, rect);
        }
        let at = match self.below(4) {
            0 => self.cell(),
            1 => self.built.last().map_or(Cell::new(9, 9), |rect| rect.min.offset(1, 0)),
            _ => {
                let unit = self.unit();
                state(&self.app, unit).walk().head()
            }
        };
        let rect = self.rect_at(at, 3);
        if self.kind == Kind::ChangingGround && self.below(2) == 0 {
            let ground = self.below(5);
            self.set_ground(rect, ground);
        } else if !rect.is_empty() {
            block(&mut self.app, rect);
            self.built.push(rect);
        }
    }

    /// Gives a rectangle one of four grounds, or makes it impassable.
    fn set_ground(&mut self, rect: CellRect, ground: u32) {
        let mut grids = grid(&mut self.app);
        let level = grids.get_mut(GridId::default()).unwrap();
        for cell in rect.cells() {
            level.set_terrain(cell, TerrainId(ground as u8)).unwrap();
        }
    }

    fn is_done(&self, unit: Entity, must_end: bool) -> bool {
        !stays_on_a_wall(&self.app, unit)
            && (!must_end || has_ended(&self.app, unit) || self.is_held_up(unit))
    }

    /// Whether walls have closed in a unit, or one beside it whose profile keeps it there: it cannot make room.
    fn is_held_up(&self, unit: Entity) -> bool {
        let cell = |unit| state(&self.app, unit).cell();
        let near =
            self.units.iter().filter(|&&other| chebyshev_distance(cell(other), cell(unit)) <= 1);
        near.copied().any(|unit| is_walled_in(&self.app, unit))
    }
}

/// The grid of a unit, its profile, and the crowd on that grid.
fn place_of(app: &App, unit: Entity) -> (&NavGrid, ProfileId, Option<&Crowd>) {
    let agent = app.world().get::<NavAgent>(unit).copied().unwrap_or_default();
    let grid = app.world().resource::<NavGrids>().get(agent.grid).unwrap();
    (grid, agent.profile, app.world().resource::<Crowds>().get(agent.grid))
}

/// The steps from a cell that pass no corner.
fn sides(grid: &NavGrid) -> &'static [(i32, i32)] {
    let all = &[(1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1)];
    match grid.topology() {
        Topology::Square => &all[..4],
        Topology::Hexagonal => all,
    }
}

/// Whether no shut edge lies between two neighboring cells.
fn is_edge_open(grid: &NavGrid, profile: ProfileId, from: Cell, to: Cell) -> bool {
    let direction = Direction::between(from, to).unwrap();
    grid.edge_cost(profile, from, direction).is_some()
}

/// Whether a unit stands on a wall and could step off it: the ground beside it is free.
fn stays_on_a_wall(app: &App, unit: Entity) -> bool {
    let ((grid, profile, crowd), at) = (place_of(app, unit), state(app, unit).cell());
    let Some((own, crowd)) = state(app, unit).unit().zip(crowd) else {
        return false; // a ghost
    };
    let is_free = |x: i32, y: i32| {
        let to = at.offset(x, y);
        let mut block = grid.cells_of(profile, to);
        grid.cost(profile, to) > 0
            && is_edge_open(grid, profile, at, to)
            && block.all(|cell| crowd.holder(grid, cell).is_none_or(|holder| holder == own))
    };
    let is_beside = || sides(grid).iter().any(|&(x, y)| is_free(x, y));
    grid.cost(profile, at) == 0 && is_beside()
}

/// Whether walls have closed in a unit on a few cells, where it may have no room to get past another one.
fn is_walled_in(app: &App, unit: Entity) -> bool {
    let (grid, profile, _) = place_of(app, unit);
    let mut cells = vec![state(app, unit).cell()];
    let mut next = 0;
    while next < cells.len() && cells.len() <= FEW_CELLS {
        for &(x, y) in sides(grid) {
            let to = cells[next].offset(x, y);
            let is_open = is_edge_open(grid, profile, cells[next], to);
            if grid.cost(profile, to) > 0 && is_open && !cells.contains(&to) {
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
fn play(seed: u64, (kind, topology): (Kind, Topology), must_end: bool) -> Result<(), String> {
    let mut storm = Storm::begin(kind, topology, seed);
    (0..2).for_each(|_| storm.tick());
    for _ in 0..STORM {
        if kind == Kind::Settings || storm.below(4) == 0 {
            storm.order_some();
        }
        for _ in 0..storm.below(3) {
            storm.build();
        }
        storm.tick();
    }
    storm.end();
    for _ in 0..CALM {
        if storm.units.iter().all(|&unit| storm.is_done(unit, must_end)) {
            return Ok(());
        }
        storm.tick();
    }
    let late = storm.units.iter().find(|&&unit| !storm.is_done(unit, must_end)).unwrap();
    let (status, state) = (status(&storm.app, *late), state(&storm.app, *late));
    Err(format!("seed {seed}, {topology:?}: {late} at {}: {status:?}", state.cell()))
}

fn play_all(kind: Kind, must_end: bool) {
    let seeds = std::env::var("TILEPATH_STORMS").map_or(15, |seeds| seeds.parse().unwrap());
    // Every second storm is on hexagons.
    let topology = |seed: u64| match seed.is_multiple_of(2) {
        true => Topology::Square,
        false => Topology::Hexagonal,
    };
    let storms = 0..2 * seeds;
    let play = |seed: u64| play(seed / 2, (kind, topology(seed)), must_end).err();
    let failed: Vec<_> = storms.filter_map(play).collect();
    assert!(failed.is_empty(), "{} of {seeds} storms: {failed:#?}", failed.len());
}

#[test]
fn units_survive_storms_of_building() {
    play_all(Kind::Plain, true);
}

#[test]
fn units_in_rooms_survive_storms_of_building() {
    play_all(Kind::Rooms, true);
}

#[test]
fn units_between_fences_survive_storms_of_building() {
    play_all(Kind::Fences, true);
}

#[test]
fn units_of_mixed_sizes_leave_walls_in_storms_of_building() {
    play_all(Kind::MixedSizes, false);
}

#[test]
fn units_that_grow_and_shrink_leave_walls_in_storms_of_building() {
    play_all(Kind::Growing, false);
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
fn patrols_survive_storms_of_building() {
    play_all(Kind::Patrols, true);
}

#[test]
fn followers_survive_storms_of_building() {
    play_all(Kind::Followers, true);
}

#[test]
fn requests_of_all_kinds_survive_storms_of_building() {
    play_all(Kind::Targets, true);
}

#[test]
fn formations_survive_storms_of_building() {
    play_all(Kind::Formations, true);
}

#[test]
fn changes_of_settings_survive_storms_of_building() {
    play_all(Kind::Settings, true);
}

#[test]
fn changes_of_profile_survive_storms_of_building() {
    play_all(Kind::Profiles, true);
}

#[test]
fn changes_of_grid_survive_storms_of_building() {
    play_all(Kind::Grids, true);
}

#[test]
fn units_that_the_game_moves_survive_storms_of_building() {
    play_all(Kind::Moved, true);
}

#[test]
fn births_and_deaths_survive_storms_of_building() {
    play_all(Kind::Lives, true);
}
