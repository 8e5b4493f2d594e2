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

fn cell(app: &App, unit: Entity) -> Option<Cell> {
    app.world().get::<CritterState>(unit).map(CritterState::cell)
}

/// 60 critters are sent to one cell: each stands there once, one after another. Then they rest around it, and cost next
/// to nothing: each is looked at every 255 ticks.
#[test]
fn critters_sent_to_one_cell_all_arrive_and_come_to_rest() {
    let mut app = app_with_sizes(&field(50, 50));
    let from = (0..60).map(|i| (2 + 5 * (i % 10), 1 + 9 * (i / 10)));
    let units: Vec<Entity> =
        from.map(|from| cross(&mut app, ProfileId(0), from, (25, 25))).collect();
    Watch::new().run_until_all_arrived(&mut app, &units, 5_000);
    run(&mut app, 2_500);
    let cells = |app: &App| units.iter().map(|&unit| cell(app, unit)).collect::<Vec<_>>();
    let (stands, waits) = (cells(&app), crowd_counters(&app).waits);
    run(&mut app, 510);
    assert_eq!(cells(&app), stands, "nobody moves");
    let looks = crowd_counters(&app).waits - waits;
    assert!(looks <= 60 * 3, "{looks} looks at 60 units");
}

/// A critter that has waited before a guard for long goes on soon when it can.
#[test]
fn a_critter_that_has_waited_for_long_goes_on_when_the_guard_is_unpushable_no_longer() {
    for ticks in [1_500, 1_600, 1_700] {
        let mut app = app_with_sizes(&field(12, 1));
        let walker = cross(&mut app, ProfileId(0), (2, 0), (8, 0));
        let position = block_center(&app, ProfileId(0), Cell::new(5, 0)).extend(0.0);
        let transform = Transform::from_translation(position);
        let guard = app.world_mut().spawn((Critter::new(6.4), Unpushable, transform)).id();
        run(&mut app, ticks);
        assert_eq!(cell(&app, walker), Some(Cell::new(4, 0)));
        app.world_mut().entity_mut(guard).remove::<Unpushable>();
        run(&mut app, 42);
        let now = cell(&app, walker);
        assert!(
            now.is_some_and(|cell| cell.x >= 6),
            "at most 18 ticks, and two steps of ten: {now:?}"
        );
    }
}
