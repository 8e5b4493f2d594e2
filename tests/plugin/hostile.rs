//! Combinations of what a game may do that no other test plays. Each test has an oracle of its own.

mod in_between;
mod levels;
mod limits;
mod requests;

use std::{collections::BTreeMap, time::Duration};

use bevy::{ecs::entity_disabling::Disabled, prelude::*, time::TimeUpdateStrategy};
use bevy_tilepath::prelude::*;

use crate::common::{
    Random, any_topology, app::*, dijkstra_cost, grid_with_single_walls, scatter_edges, units::*,
    with_edges,
};
use crate::snapshot_world::Game;
use crate::watch::*;

const DOWN: GridId = GridId(0);
const UP: GridId = GridId(1);

fn random_cell(random: &mut Random, (width, height): (u32, u32)) -> (i32, i32) {
    (random.below(width) as i32, random.below(height) as i32)
}

/// Two floors of 30 × 12 cells, stairs from the right of the lower one to the left of the upper one.
fn floors() -> App {
    let mut app = app_with(&field(30, 12));
    let upper = GridFrame::square(Vec2::new(0.0, 1_000.0), Vec2::splat(10.0));
    grid(&mut app).insert(UP, grid_from(&field(30, 12)), upper);
    let ends = [(DOWN, Cell::new(26, 6)), (UP, Cell::new(2, 6))];
    app.world_mut().spawn(NavLink::new(ends[0], ends[1]).cost(4));
    record(&mut app);
    app
}

fn tree(app: &mut App, id: GridId, (x, y): (i32, i32)) -> Entity {
    let tree = NavBlocker::at(CellRect::single(Cell::new(x, y))).on(id);
    app.world_mut().spawn(tree).id()
}

fn level_of(app: &App) -> &NavGrid {
    level(app)
}
