//! Critters on paths of their own, criss-cross: whoever is pushed off his path finds back to it.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{app::*, units::*};
use crate::watch::*;

/// Puts a critter of a kind on a cell and sends it to the one opposite.
fn cross(app: &mut App, profile: ProfileId, from: (i32, i32), to: (i32, i32)) -> Entity {
    let place = middle_of(app, profile, Cell::from(from)).extend(0.0);
    let critter = (Critter::new(6.4), NavAgent::new(profile));
    let order = PathRequest::to(Cell::from(to)).profile(profile);
    app.world_mut().spawn((critter, Transform::from_translation(place), order)).id()
}

/// Two hundred of one cell and fifty of 2 × 2, in all directions at once: everybody is pushed off its path
/// many times, some far enough to lose sight of it, some back to where they lost it.
#[test]
fn whoever_is_pushed_off_his_path_finds_back_to_it() {
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
