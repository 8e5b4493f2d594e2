//! Critters on individual crossing paths: a unit pushed off its path returns to it.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{app::*, units::*};
use crate::watch::*;

/// Spawns a critter with a profile on a cell and sends it to another cell.
fn cross(app: &mut App, profile: ProfileId, from: (i32, i32), to: (i32, i32)) -> Entity {
    let position = block_center(app, profile, Cell::from(from)).extend(0.0);
    let critter = (Critter::new(6.4), NavAgent::new(profile));
    let order = PathRequest::to(Cell::from(to)).profile(profile);
    app.world_mut().spawn((critter, Transform::from_translation(position), order)).id()
}

/// 200 critters of one cell and 50 of 2 × 2 cells, in all directions at the same time: each is pushed off its
/// path many times, some out of its local field, some back to where they left it.
#[test]
fn a_unit_pushed_off_its_path_returns_to_it() {
    let mut app = app_with_sizes(&field(64, 64));
    let tank = ProfileId(1);
    assert_eq!(level(&app).unit_size(tank), 2);
    let mut units = Vec::new();
    for i in 0..50 {
        let (column, row) = (i % 10, i / 10);
        let to = (56 - column * 6, 55 - row * 12);
        units.push(cross(&mut app, tank, (2 + column * 6, 2 + row * 12), to));
    }
    for i in 0..200 {
        let (x, y) = (i % 20 * 3, i / 20 * 6);
        units.push(cross(&mut app, ProfileId(0), (1 + x, 5 + y), (61 - x, 58 - y)));
    }
    let mut watch = Watch::new();
    watch.run_until_all_arrived(&mut app, &units, 5_000);
    assert!(crowd_counters(&app).pushes > 1_000, "it was crowded");
}
