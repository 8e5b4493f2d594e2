//! Colliding critters: they meet, push, wait, walk around each other, and all arrive. The outside checker
//! runs in every tick.

use std::collections::BTreeSet;

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{Random, app::*, units::*};
use crate::watch::*;

#[test]
fn two_meet_in_a_corridor_with_a_bay_and_both_get_through() {
    for bay in [4, 10, 15] {
        let mut app = app_with(&corridor_with_bay(bay));
        let mut watch = Watch::new();
        let east = spawn_at(&mut app, Critter::new(8.0), (0, 1));
        let west = spawn_at(&mut app, Critter::new(8.0), (19, 1));
        order(&mut app, east, (19, 1));
        order(&mut app, west, (0, 1));
        watch.run_until_all_arrived(&mut app, &[east, west], 6_000);
        let CrowdCounters { pushes, dead_ends, .. } = crowd_counters(&app);
        assert!(pushes + dead_ends > 0, "bay {bay}: one of them must have yielded");
    }
}

#[test]
fn two_meet_head_on_in_the_open_and_pass() {
    let mut app = app_with(&field(30, 9));
    let mut watch = Watch::new();
    let east = spawn_at(&mut app, Critter::new(8.0), (2, 4));
    let west = spawn_at(&mut app, Critter::new(8.0), (27, 4));
    order(&mut app, east, (27, 4));
    order(&mut app, west, (2, 4));
    let both = |app: &App| has_arrived(app, east) && has_arrived(app, west);
    let ticks = watch.run_until(&mut app, 600, both);
    // 25 cells of 8 ticks each: a single critter takes 200.
    assert!(ticks >= 199, "{ticks} ticks");
    assert!(stands_on(&app, east, (27, 4)) && stands_on(&app, west, (2, 4)));
}

#[test]
fn rows_of_critters_of_many_speeds_cross_each_other() {
    let mut app = app_with(&field(50, 50));
    let mut watch = Watch::new();
    let mut units = Vec::new();
    for i in 0..16 {
        let routes = [((5 + 2 * i, 5), (35 - 2 * i, 45)), ((5 + 2 * i, 45), (35 - 2 * i, 5))];
        for (from, to) in routes {
            let unit = spawn_at(&mut app, Critter::new(4.0 + i as f32 / 2.0), from);
            order(&mut app, unit, to);
            units.push(unit);
        }
    }
    watch.run_until_all_arrived(&mut app, &units, 4_000);
    // Critters that have arrived may be pushed by others, but each holds a distinct cell.
    let cells: BTreeSet<Cell> = units.iter().map(|&unit| cell(&app, unit)).collect();
    assert_eq!(cells.len(), units.len());
}

#[test]
fn an_idle_critter_is_pushed_along_and_then_aside() {
    let mut app = app_with(&corridor_with_bay(12));
    let mut watch = Watch::new();
    let idle = spawn_at(&mut app, Critter::new(8.0), (6, 1));
    let walker = spawn_at(&mut app, Critter::new(8.0), (0, 1));
    order(&mut app, walker, (19, 1));
    watch.run_until_all_arrived(&mut app, &[walker], 2_000);
    watch.run(&mut app, 100);
    assert!(stands_on(&app, walker, (19, 1)));
    assert!(stands_on(&app, idle, (12, 2)), "in the bay, not on {}", cell(&app, idle));
    // Its transform is at its cell.
    assert!(position(&app, idle).distance(Vec2::new(120.0, 20.0)) < 0.01);
}

/// Sends a critter across an open field around one that stands in the middle of its path and must not be
/// moved.
fn assert_walked_around(obstacle: impl Bundle) {
    let mut app = app_with(&field(30, 9));
    let mut watch = Watch::new();
    let other = spawn_at(&mut app, Critter::new(8.0), (14, 4));
    app.world_mut().entity_mut(other).insert(obstacle);
    let walker = spawn_at(&mut app, Critter::new(8.0), (2, 4));
    order(&mut app, walker, (27, 4));
    watch.tick(&mut app);
    let has_arrived_unmoved = |app: &App| {
        assert!(stands_on(app, other, (14, 4)), "it was moved to {}", cell(app, other));
        has_arrived(app, walker)
    };
    watch.run_until(&mut app, 1_500, has_arrived_unmoved);
    assert!(stands_on(&app, walker, (27, 4)));
    assert!(position(&app, other).distance(Vec2::new(140.0, 40.0)) < 0.01);
}

#[test]
fn an_unpushable_critter_is_walked_around() {
    assert_walked_around(Unpushable);
}

#[test]
fn a_critter_of_another_team_is_walked_around() {
    assert_walked_around(CrowdTeam(1));
}

#[test]
fn a_critter_that_cannot_move_is_walked_around() {
    assert_walked_around(Critter::new(0.0));
    assert_walked_around(Critter::new(f32::NAN));
}

/// A line of critters of another team with a distant gap: none of them is pushed, and the path leads through
/// the gap.
#[test]
fn a_line_of_another_team_is_walked_around_at_its_end() {
    for (count, as_group) in [(1, false), (1, true), (6, true), (12, true)] {
        let mut app = app_with(&field(60, 12));
        let mut watch = Watch::new();
        let line: Vec<Entity> = (0..8)
            .map(|y| {
                let unit = spawn_at(&mut app, Critter::new(8.0), (14, y));
                app.world_mut().entity_mut(unit).insert(CrowdTeam(2));
                unit
            })
            .collect();
        let spawn = |unit| spawn_at(&mut app, Critter::new(8.0), (10 - unit / 6, unit % 6));
        let walkers: Vec<Entity> = (3..).take(count).map(spawn).collect();
        if as_group {
            // More than a few share a field, and are led by it as long as their slots are far.
            let goal = if count > 6 { 45 } else { 18 };
            app.world_mut().spawn(Group::to(Cell::new(goal, 3), walkers.clone()));
        } else {
            order(&mut app, walkers[0], (18, 3));
        }
        watch.run_until_all_arrived(&mut app, &walkers, 3_000);
        let has_passed = |&unit: &Entity| cell(&app, unit).x >= 16;
        assert!(walkers.iter().all(has_passed), "{count} units, as a group: {as_group}");
        for (y, &unit) in line.iter().enumerate() {
            assert!(stands_on(&app, unit, (14, y as i32)), "number {y} is on {}", cell(&app, unit));
        }
    }
}

/// Returns a critter that waits for an unpushable one in a corridor and is reported as stuck.
fn stuck_in_corridor() -> (App, Watch, Entity, Entity) {
    let mut app = app_with(&corridor());
    let mut watch = Watch::new();
    let guard = spawn_at(&mut app, Critter::new(8.0), (8, 1));
    app.world_mut().entity_mut(guard).insert(Unpushable);
    let walker = spawn_at(&mut app, Critter::new(8.0), (0, 1));
    order(&mut app, walker, (15, 1));
    let is_stuck = |app: &App| matches!(status(app, walker), PathStatus::Stuck(_));
    watch.run_until(&mut app, 200, |app| stands_on(app, walker, (7, 1)));
    let ticks = watch.run_until(&mut app, 600, is_stuck);
    assert_eq!(status(&app, walker), PathStatus::Stuck(Hindrance::Obstacle));
    // It tries again every 16 ticks.
    assert!((510..=530).contains(&ticks), "reported after {ticks} ticks");
    assert!(stands_on(&app, guard, (8, 1)) && stands_on(&app, walker, (7, 1)));
    (app, watch, guard, walker)
}

#[test]
fn a_waiting_critter_continues_when_the_unpushable_one_becomes_pushable() {
    let (mut app, mut watch, guard, walker) = stuck_in_corridor();
    app.world_mut().entity_mut(guard).remove::<Unpushable>();
    watch.run_until_all_arrived(&mut app, &[walker], 2_000);
    assert!(stands_on(&app, walker, (15, 1)));
    assert!(cell(&app, guard).x > 15, "it was pushed along");
}

#[test]
fn a_waiting_critter_continues_when_the_unpushable_one_is_despawned() {
    let (mut app, mut watch, guard, walker) = stuck_in_corridor();
    app.world_mut().entity_mut(guard).despawn();
    watch.run_until_all_arrived(&mut app, &[walker], 1_000);
    assert!(stands_on(&app, walker, (15, 1)));
}

#[test]
fn a_critter_sent_to_another_stops_beside_it_without_pushing() {
    for has_had_an_order in [false, true] {
        let mut app = app_with(&field(30, 9));
        let mut watch = Watch::new();
        let target = spawn_at(&mut app, Critter::new(8.0), (20, 4));
        if has_had_an_order {
            order(&mut app, target, (20, 4));
            watch.run_until_all_arrived(&mut app, &[target], 100);
        }
        let unit = spawn_at(&mut app, Critter::new(8.0), (2, 4));
        watch.run(&mut app, 2);
        insert_request(&mut app, unit, PathRequest::to(target));
        watch.run_until_all_arrived(&mut app, &[unit], 1_000);
        watch.run(&mut app, 60);
        assert!(stands_on(&app, target, (20, 4)), "ordered before: {has_had_an_order}");
        assert_eq!(chebyshev_distance(cell(&app, unit), cell(&app, target)), 1);
    }
}

#[test]
fn a_critter_that_follows_another_ends_beside_it() {
    let mut app = app_with(&field(40, 9));
    let mut watch = Watch::new();
    let target = spawn_at(&mut app, Critter::new(6.0), (8, 4));
    let unit = spawn_at(&mut app, Critter::new(8.0), (2, 4));
    order(&mut app, target, (35, 4));
    insert_request(&mut app, unit, PathRequest::follow(target));
    watch.run_until_all_arrived(&mut app, &[target], 1_000);
    watch.run(&mut app, 200);
    assert!(has_arrived(&app, unit), "{:?}", status(&app, unit));
    assert!(stands_on(&app, target, (35, 4)), "it was not pushed");
    assert_eq!(chebyshev_distance(cell(&app, unit), cell(&app, target)), 1);
}

#[test]
fn units_of_one_to_four_cells_cross_each_other() {
    let mut app = app_with(&field(64, 64));
    grid(&mut app).set_profiles((1..=4).map(|size| Profile::default().size(size)).collect());
    let mut watch = Watch::new();
    let mut units = Vec::new();
    for i in 0..8 {
        let profile = ProfileId(i as u8 % 4);
        let (here, there) = (8 + 6 * i, 8 + 6 * (7 - i));
        for (from, to) in [((1, here), (57, there)), ((here, 1), (there, 57))] {
            let unit = spawn_kind_at(&mut app, (Critter::new(8.0), NavAgent::new(profile)), from);
            insert_request(&mut app, unit, PathRequest::to(Cell::from(to)).profile(profile));
            units.push(unit);
        }
    }
    watch.run_until_all_arrived(&mut app, &units, 6_000);
}

/// Sends up to `4 * rows` units of 1 × 1 to 4 × 4 cells across the map from all sides, to goals that do not overlap.
fn cross_from_all_sides(app: &mut App, rows: i32, random: &mut Random) -> Vec<Entity> {
    let (side, spacing) = (40, 40 / rows);
    let (mut units, mut goals) = (Vec::new(), Vec::<CellRect>::new());
    for at in 0..4 * rows {
        let (row, jitter) = (at / 4, (random.next() % 3) as i32);
        let (here, there) = (row * spacing, ((rows - 1 - row) * spacing + jitter).min(side - 4));
        let (near, far) = (1 + jitter, side - 5 - jitter);
        let (from, to) = match at % 4 {
            0 => ((near, here), (far, there)),
            1 => ((here, near), (there, far)),
            2 => ((far, here), (near, there)),
            _ => ((here, far), (there, near)),
        };
        let size = 1 + (random.next() % 4) as u32;
        let goal = CellRect::new(Cell::from(to), size, size);
        let speed = 4.0 + (random.next() % 8) as f32;
        if goals.iter().any(|taken| !taken.intersection(goal).is_empty()) {
            continue;
        }
        let agent = NavAgent::new(ProfileId(size as u8 - 1));
        let unit = spawn_kind_at(app, (Critter::new(speed), agent), from);
        order(app, unit, to);
        units.push(unit);
        goals.push(goal);
    }
    units
}

#[test]
fn random_crossings_of_large_units_end() {
    for seed in 0..12 {
        let mut app = app_with(&field(40, 40));
        grid(&mut app).set_profiles((1..=4).map(|size| Profile::default().size(size)).collect());
        let rows = 4 + (seed % 3) as i32;
        let units = cross_from_all_sides(&mut app, rows, &mut Random(seed));
        Watch::new().run_until_all_arrived(&mut app, &units, 4_000);
    }
}

/// The `GroupArrived` events: counts of arrived and failed members.
#[derive(Resource, Default)]
struct GroupLog(Vec<(u32, u32)>);

/// Returns an app in which a group of 60 has come to rest around (45, 20).
fn group_at_rest() -> (App, Watch, Vec<Entity>) {
    let mut app = app_with(&field(64, 40));
    app.init_resource::<GroupLog>().add_observer(
        |event: On<GroupArrived>, mut log: ResMut<GroupLog>| {
            log.0.push((event.arrived, event.failed));
        },
    );
    let mut watch = Watch::new();
    let critters = (0..60).map(|i| (Critter::new(6.0 + (i % 5) as f32), (3 + i % 10, 15 + i / 10)));
    let units: Vec<Entity> =
        critters.map(|(critter, at)| spawn_at(&mut app, critter, at)).collect();
    app.world_mut().spawn(Group::to(Cell::new(45, 20), units.iter().copied()).persistent());
    watch.run_until(&mut app, 3_000, |app| !app.world().resource::<GroupLog>().0.is_empty());
    assert_eq!(app.world().resource::<GroupLog>().0, [(60_u32, 0_u32)]);
    (app, watch, units)
}

/// Returns the cell and the slot of each member that is not on its slot.
fn off_their_slots(app: &App, units: &[Entity]) -> Vec<(Cell, Cell)> {
    let slots = units.iter().map(|&unit| {
        let is_between = state(app, unit).walk().is_between_cells();
        (cell(app, unit), app.world().get::<GroupSlot>(unit).unwrap().cell, is_between)
    });
    let off = slots.filter(|&(cell, slot, is_between)| cell != slot || is_between);
    off.map(|(cell, slot, _)| (cell, slot)).collect()
}

#[test]
fn a_group_of_sixty_comes_to_rest_on_sixty_cells() {
    let (mut app, mut watch, units) = group_at_rest();
    watch.run(&mut app, 600);
    let off = off_their_slots(&app, &units);
    assert!(off.is_empty(), "{off:?}");
    let cells: BTreeSet<Cell> = units.iter().map(|&unit| cell(&app, unit)).collect();
    assert_eq!(cells.len(), 60);
    assert!(
        cells.iter().all(|&cell| chebyshev_distance(cell, Cell::new(45, 20)) <= 8),
        "{cells:?}"
    );
    assert_eq!(app.world().resource::<GroupLog>().0.len(), 1, "reported once");
}

/// Also long after they came to rest: those between settled when they exchanged slots, and undid the exchange.
#[test]
fn members_pushed_off_their_slots_return() {
    let (mut app, mut watch, units) = group_at_rest();
    watch.run(&mut app, 600);
    let before = crowd_counters(&app).pushes;
    let passer = spawn_at(&mut app, Critter::new(8.0), (45, 38));
    order(&mut app, passer, (45, 2));
    watch.run_until_all_arrived(&mut app, &[passer], 4_000);
    assert!(crowd_counters(&app).pushes > before, "it went through the middle");
    watch.run(&mut app, 600);
    let off = off_their_slots(&app, &units);
    assert!(off.is_empty(), "{off:?}");
}
