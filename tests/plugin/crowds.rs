//! Critters that keep off each other: they meet, push, wait, walk around, and all arrive. An outside
//! checker looks on in every tick.

use std::collections::BTreeSet;

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{app::*, units::*};
use crate::watch::*;

#[test]
fn two_meet_in_a_corridor_with_a_bay_and_both_get_through() {
    for bay in [4, 10, 15] {
        let mut app = app_with(&corridor_with_bay(bay));
        let mut watch = Watch::new();
        let east = put(&mut app, Critter::new(8.0), (0, 1));
        let west = put(&mut app, Critter::new(8.0), (19, 1));
        order(&mut app, east, (19, 1));
        order(&mut app, west, (0, 1));
        watch.run_until_all_arrived(&mut app, &[east, west], 6_000);
        let CrowdCounters { pushes, dead_ends, .. } = crowd_counters(&app);
        assert!(pushes + dead_ends > 0, "bay {bay}: one of them must have made room");
    }
}

#[test]
fn two_meet_head_on_in_the_open_and_pass() {
    let mut app = app_with(&field(30, 9));
    let mut watch = Watch::new();
    let east = put(&mut app, Critter::new(8.0), (2, 4));
    let west = put(&mut app, Critter::new(8.0), (27, 4));
    order(&mut app, east, (27, 4));
    order(&mut app, west, (2, 4));
    let both = |app: &App| has_arrived(app, east) && has_arrived(app, west);
    let ticks = watch.run_until(&mut app, 600, both);
    // 25 cells of 8 ticks each; alone it would be 200.
    assert!(ticks >= 199, "{ticks} ticks");
    assert!(stands_on(&app, east, (27, 4)) && stands_on(&app, west, (2, 4)));
}

#[test]
fn a_ring_of_critters_of_many_speeds_changes_sides() {
    let mut app = app_with(&field(50, 50));
    let mut watch = Watch::new();
    let mut units = Vec::new();
    for i in 0..16 {
        let ways = [((5 + 2 * i, 5), (35 - 2 * i, 45)), ((5 + 2 * i, 45), (35 - 2 * i, 5))];
        for (from, to) in ways {
            let unit = put(&mut app, Critter::new(4.0 + i as f32 / 2.0), from);
            order(&mut app, unit, to);
            units.push(unit);
        }
    }
    watch.run_until_all_arrived(&mut app, &units, 4_000);
    // Whoever has arrived may be pushed on by others, but has a cell of its own.
    let cells: BTreeSet<Cell> = units.iter().map(|&unit| cell(&app, unit)).collect();
    assert_eq!(cells.len(), units.len());
}

#[test]
fn an_idle_critter_is_pushed_along_and_then_aside() {
    let mut app = app_with(&corridor_with_bay(12));
    let mut watch = Watch::new();
    let idle = put(&mut app, Critter::new(8.0), (6, 1));
    let walker = put(&mut app, Critter::new(8.0), (0, 1));
    order(&mut app, walker, (19, 1));
    watch.run_until_all_arrived(&mut app, &[walker], 2_000);
    watch.run(&mut app, 100);
    assert!(stands_on(&app, walker, (19, 1)));
    assert!(stands_on(&app, idle, (12, 2)), "in the bay, not on {}", cell(&app, idle));
    // It is shown where it is.
    assert!(place(&app, idle).distance(Vec2::new(120.0, 20.0)) < 0.01);
}

/// Sends a critter across an open field past one that stands in the middle of its way; nothing moves that
/// one.
fn walks_around(obstacle: impl Bundle) {
    let mut app = app_with(&field(30, 9));
    let mut watch = Watch::new();
    let other = put(&mut app, Critter::new(8.0), (14, 4));
    app.world_mut().entity_mut(other).insert(obstacle);
    let walker = put(&mut app, Critter::new(8.0), (2, 4));
    order(&mut app, walker, (27, 4));
    watch.tick(&mut app);
    let arrives = |app: &App| {
        assert!(stands_on(app, other, (14, 4)), "it was moved to {}", cell(app, other));
        has_arrived(app, walker)
    };
    watch.run_until(&mut app, 1_500, arrives);
    assert!(stands_on(&app, walker, (27, 4)));
    assert!(place(&app, other).distance(Vec2::new(140.0, 40.0)) < 0.01);
}

#[test]
fn an_immovable_critter_is_walked_around() {
    walks_around(Unpushable);
}

#[test]
fn a_critter_of_another_team_is_walked_around() {
    walks_around(CrowdTeam(1));
}

#[test]
fn a_critter_that_cannot_move_is_walked_around() {
    walks_around(Critter::new(0.0));
    walks_around(Critter::new(f32::NAN));
}

/// A wall of critters of another team with a gap far off: nobody is pushed, the way leads through the gap.
#[test]
fn a_line_of_another_team_is_walked_around_at_its_end() {
    let mut app = app_with(&field(30, 12));
    let mut watch = Watch::new();
    let line: Vec<Entity> = (0..8)
        .map(|y| {
            let unit = put(&mut app, Critter::new(8.0), (14, y));
            app.world_mut().entity_mut(unit).insert(CrowdTeam(2));
            unit
        })
        .collect();
    let walker = put(&mut app, Critter::new(8.0), (10, 3));
    order(&mut app, walker, (18, 3));
    watch.run_until_all_arrived(&mut app, &[walker], 3_000);
    for (y, &unit) in line.iter().enumerate() {
        assert!(stands_on(&app, unit, (14, y as i32)), "number {y} is on {}", cell(&app, unit));
    }
}

/// A critter that waits for an immovable one that closes a corridor, and has said that it is stuck.
fn stuck_in_corridor() -> (App, Watch, Entity, Entity) {
    let mut app = app_with(&corridor());
    let mut watch = Watch::new();
    let guard = put(&mut app, Critter::new(8.0), (8, 1));
    app.world_mut().entity_mut(guard).insert(Unpushable);
    let walker = put(&mut app, Critter::new(8.0), (0, 1));
    order(&mut app, walker, (15, 1));
    let is_stuck = |app: &App| matches!(status(app, walker), PathStatus::Stuck(_));
    let ticks = watch.run_until(&mut app, 3_000, is_stuck);
    assert_eq!(status(&app, walker), PathStatus::Stuck(Hindrance::Obstacle));
    assert!(ticks > 512, "said after {ticks} ticks: not before it has waited for long");
    assert!(stands_on(&app, guard, (8, 1)) && stands_on(&app, walker, (7, 1)));
    (app, watch, guard, walker)
}

#[test]
fn who_waits_for_an_immovable_critter_goes_on_when_that_may_be_pushed() {
    let (mut app, mut watch, guard, walker) = stuck_in_corridor();
    app.world_mut().entity_mut(guard).remove::<Unpushable>();
    watch.run_until_all_arrived(&mut app, &[walker], 2_000);
    assert!(stands_on(&app, walker, (15, 1)));
    assert!(cell(&app, guard).x > 15, "it was pushed ahead");
}

#[test]
fn who_waits_for_an_immovable_critter_goes_on_when_that_is_gone() {
    let (mut app, mut watch, guard, walker) = stuck_in_corridor();
    app.world_mut().entity_mut(guard).despawn();
    watch.run_until_all_arrived(&mut app, &[walker], 1_000);
    assert!(stands_on(&app, walker, (15, 1)));
}

#[test]
fn who_is_sent_to_another_stops_beside_it_and_does_not_push() {
    for has_had_an_order in [false, true] {
        let mut app = app_with(&field(30, 9));
        let mut watch = Watch::new();
        let target = put(&mut app, Critter::new(8.0), (20, 4));
        if has_had_an_order {
            order(&mut app, target, (20, 4));
            watch.run_until_all_arrived(&mut app, &[target], 100);
        }
        let unit = put(&mut app, Critter::new(8.0), (2, 4));
        watch.run(&mut app, 2);
        ask(&mut app, unit, PathRequest::to(target));
        watch.run_until_all_arrived(&mut app, &[unit], 1_000);
        watch.run(&mut app, 60);
        assert!(stands_on(&app, target, (20, 4)), "ordered before: {has_had_an_order}");
        assert_eq!(apart(cell(&app, unit), cell(&app, target)), 1);
    }
}

#[test]
fn who_follows_a_walking_critter_ends_beside_it() {
    let mut app = app_with(&field(40, 9));
    let mut watch = Watch::new();
    let target = put(&mut app, Critter::new(6.0), (8, 4));
    let unit = put(&mut app, Critter::new(8.0), (2, 4));
    order(&mut app, target, (35, 4));
    ask(&mut app, unit, PathRequest::follow(target));
    watch.run_until_all_arrived(&mut app, &[target], 1_000);
    watch.run(&mut app, 200);
    assert!(has_arrived(&app, unit), "{:?}", status(&app, unit));
    assert!(stands_on(&app, target, (35, 4)), "nobody pushed it on");
    assert_eq!(apart(cell(&app, unit), cell(&app, target)), 1);
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
            let unit = put_kind(&mut app, (Critter::new(8.0), NavAgent::new(profile)), from);
            ask(&mut app, unit, PathRequest::to(Cell::from(to)).profile(profile));
            units.push(unit);
        }
    }
    watch.run_until_all_arrived(&mut app, &units, 6_000);
}

/// What was told of groups: arrived and failed.
#[derive(Resource, Default)]
struct Told(Vec<(u32, u32)>);

/// An app in which a group of 60 has come to rest around (45, 20).
fn group_at_rest() -> (App, Watch, Vec<Entity>) {
    let mut app = app_with(&field(64, 40));
    app.init_resource::<Told>().add_observer(|event: On<GroupArrived>, mut told: ResMut<Told>| {
        told.0.push((event.arrived, event.failed));
    });
    let mut watch = Watch::new();
    let critters = (0..60).map(|i| (Critter::new(6.0 + (i % 5) as f32), (3 + i % 10, 15 + i / 10)));
    let units: Vec<Entity> = critters.map(|(critter, at)| put(&mut app, critter, at)).collect();
    app.world_mut().spawn(Group::to(Cell::new(45, 20), units.iter().copied()).persistent());
    watch.run_until(&mut app, 3_000, |app| !app.world().resource::<Told>().0.is_empty());
    assert_eq!(app.world().resource::<Told>().0, [(60_u32, 0_u32)]);
    (app, watch, units)
}

/// Members that are not on the cell meant for them.
fn off_their_places(app: &App, units: &[Entity]) -> Vec<(Cell, Cell)> {
    let places = units.iter().map(|&unit| {
        let is_between = state(app, unit).walk().is_between_cells();
        (cell(app, unit), app.world().get::<GroupSlot>(unit).unwrap().cell, is_between)
    });
    let off = places.filter(|&(here, meant, is_between)| here != meant || is_between);
    off.map(|(here, meant, _)| (here, meant)).collect()
}

#[test]
fn a_group_of_sixty_comes_to_rest_on_sixty_cells() {
    let (mut app, mut watch, units) = group_at_rest();
    watch.run(&mut app, 600);
    let off = off_their_places(&app, &units);
    assert!(off.is_empty(), "{off:?}");
    let cells: BTreeSet<Cell> = units.iter().map(|&unit| cell(&app, unit)).collect();
    assert_eq!(cells.len(), 60);
    assert!(cells.iter().all(|&cell| apart(cell, Cell::new(45, 20)) <= 8), "{cells:?}");
    assert_eq!(app.world().resource::<Told>().0.len(), 1, "told once");
}

#[test]
fn members_that_were_pushed_off_their_places_come_back() {
    let (mut app, mut watch, units) = group_at_rest();
    watch.run(&mut app, 600);
    let before = crowd_counters(&app).pushes;
    let passer = put(&mut app, Critter::new(8.0), (45, 38));
    order(&mut app, passer, (45, 2));
    watch.run_until_all_arrived(&mut app, &[passer], 4_000);
    assert!(crowd_counters(&app).pushes > before, "it went through the middle");
    watch.run(&mut app, 600);
    let off = off_their_places(&app, &units);
    assert!(off.is_empty(), "{off:?}");
}
