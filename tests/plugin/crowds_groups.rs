//! Colliding critters sent as groups: they gather without walking around each other.

use std::collections::BTreeSet;

use bevy::prelude::*;
use bevy_tilepath::{flow::FlowFields, prelude::*};

use crate::common::{app::*, assignment::least_travel, open_distance, units::*};
use crate::watch::*;

/// Spawns `count` critters side by side, in columns of twenty; they take eight ticks per cell.
fn regiment(app: &mut App, count: i32, (x, y): (i32, i32)) -> Vec<Entity> {
    (0..count)
        .map(|unit| spawn_at(app, Critter::new(8.0), (x + unit / 20, y + unit % 20)))
        .collect()
}

fn send(app: &mut App, goal: (i32, i32), units: &[Entity]) -> Entity {
    app.world_mut().spawn(Group::to(Cell::from(goal), units.iter().copied()).persistent()).id()
}

/// Returns the current slots of members.
fn slots(app: &App, units: &[Entity]) -> Vec<Cell> {
    units.iter().map(|&unit| app.world().get::<GroupSlot>(unit).unwrap().cell).collect()
}

fn cells(app: &App, units: &[Entity]) -> Vec<Cell> {
    units.iter().map(|&unit| cell(app, unit)).collect()
}

fn fields(app: &App) -> usize {
    app.world().resource::<FlowFields>().counters().alive
}

fn is_between(app: &App, unit: Entity) -> bool {
    state(app, unit).walk().is_between_cells()
}

/// Draws a field with a wall across it and a door of `door` cells.
fn two_rooms(door: usize) -> String {
    let row = |y: usize| {
        let is_door = (15..15 + door).contains(&y);
        let column = |x: usize| if x == 40 && !is_door { '#' } else { '.' };
        (0..80).map(column).collect::<String>()
    };
    (0..32).map(row).collect::<Vec<_>>().join("\n")
}

/// 400 critters to one point on an open field: the sum of all steps, including those of pushed critters, is
/// at most 1.15 times the least travel from the starts to the final cells.
#[test]
fn four_hundred_walk_little_farther_than_the_best_assignment_needs() {
    let mut app = app_with(&field(110, 64));
    let units = regiment(&mut app, 400, (5, 22));
    run(&mut app, 1);
    let starts = cells(&app, &units);
    let group = send(&mut app, (84, 32), &units);
    let mut watch = Watch::new();
    let mut at = starts.clone();
    let mut walked = 0;
    let mut count = |app: &App| {
        for (at, now) in at.iter_mut().zip(cells(app, &units)) {
            walked += u64::from(open_distance(level(app), ProfileId(0), *at, now));
            *at = now;
        }
        units.iter().all(|&unit| has_arrived(app, unit))
    };
    watch.run_until(&mut app, 1_200, &mut count);
    for _ in 0..100 {
        watch.tick(&mut app); // critters that were pushed aside return
        count(&app);
    }
    assert_eq!(at.iter().collect::<BTreeSet<_>>().len(), 400);
    assert_eq!(at, slots(&app, &units), "each rests on its slot");
    let least = least_travel(level(&app), &starts, &at);
    assert!(walked * 100 <= least * 115, "{walked} of {least}");
    assert!(app.world().get::<GroupState>(group).is_some());
}

#[test]
fn a_group_that_comes_through_a_door_fills_its_slots_from_the_far_end() {
    let mut app = app_with(&two_rooms(2));
    record(&mut app);
    let units = regiment(&mut app, 120, (8, 6));
    run(&mut app, 1);
    send(&mut app, (52, 15), &units);
    let mut watch = Watch::new();
    // 120 through a door of two cells take 8 ticks per pair, and the path has about 60 cells.
    let ticks =
        watch.run_until(&mut app, 1_600, |app| units.iter().all(|&unit| has_arrived(app, unit)));
    assert!(crowd_counters(&app).exchanges > 0, "after {ticks} ticks");
    watch.run(&mut app, 100);
    assert_eq!(cells(&app, &units), slots(&app, &units), "they stay");
    assert!(units.iter().all(|&unit| arrivals(&app, unit) == 1), "reported once");
}

#[test]
fn slots_are_swapped_and_never_lost() {
    let mut app = app_with(&two_rooms(3));
    record(&mut app);
    let units = regiment(&mut app, 60, (8, 10));
    run(&mut app, 1);
    send(&mut app, (50, 16), &units);
    run(&mut app, 2);
    let all: BTreeSet<Cell> = slots(&app, &units).into_iter().collect();
    assert_eq!(all.len(), 60);
    for _ in 0..1_000 {
        run(&mut app, 1);
        assert_eq!(slots(&app, &units).into_iter().collect::<BTreeSet<_>>(), all);
    }
    assert!(units.iter().all(|&unit| has_arrived(&app, unit)));
    assert!(units.iter().all(|&unit| arrivals(&app, unit) == 1), "each is reported once");
}

#[test]
fn large_groups_share_a_field_while_they_walk_and_small_ones_do_not() {
    let mut app = app_with(&field(60, 60));
    let units = regiment(&mut app, 40, (3, 10));
    run(&mut app, 1);
    assert_eq!(fields(&app), 0);
    send(&mut app, (45, 30), &units[..7]);
    run(&mut app, 5);
    assert_eq!(fields(&app), 0, "seven units follow individual paths");
    send(&mut app, (45, 40), &units[7..]);
    run(&mut app, 5);
    assert_eq!(fields(&app), 1);
    run_until(&mut app, 900, |app| units.iter().all(|&unit| has_arrived(app, unit)));
    run(&mut app, 3);
    assert_eq!(fields(&app), 0, "it is no longer needed");
}

#[test]
fn slots_are_swapped_within_a_rank_only() {
    let mut app = app_with(&field(60, 40));
    let units = regiment(&mut app, 60, (3, 10));
    run(&mut app, 1);
    let rank = |at: usize| (at % 3) as i32;
    let members = units.iter().enumerate();
    let members = members.map(|(at, &unit)| GroupMember::from(unit).rank(rank(at)));
    app.world_mut().spawn(Group::to(Cell::new(45, 20), members).persistent());
    run(&mut app, 3);
    let of_rank = |app: &App, wanted: i32| -> BTreeSet<Cell> {
        let all = slots(app, &units);
        (0..60).filter(|&at| rank(at) == wanted).map(|at| all[at]).collect()
    };
    let before: Vec<_> = (0..3).map(|wanted| of_rank(&app, wanted)).collect();
    run_until(&mut app, 1_500, |app| units.iter().all(|&unit| has_arrived(app, unit)));
    let after: Vec<_> = (0..3).map(|wanted| of_rank(&app, wanted)).collect();
    assert_eq!(before, after, "slots are swapped within a rank only");
    run(&mut app, 100); // critters that were pushed aside return
    assert_eq!(cells(&app, &units), slots(&app, &units));
}

#[test]
fn a_wall_between_a_group_and_its_slots_is_walked_around() {
    let mut app = app_with(&field(70, 40));
    let units = regiment(&mut app, 80, (4, 10));
    run(&mut app, 1);
    send(&mut app, (55, 20), &units);
    let mut watch = Watch::new();
    watch.run(&mut app, 150);
    block(&mut app, CellRect::new(Cell::new(44, 8), 2, 24));
    watch.run_until(&mut app, 2_000, |app| units.iter().all(|&unit| has_arrived(app, unit)));
    assert_eq!(cells(&app, &units), slots(&app, &units));
}

/// Members exchange their slots, so a wall may stand on the slot of one whose own request leads elsewhere.
#[test]
fn a_member_on_whose_slot_a_wall_stands_gets_another_slot() {
    let mut app = app_with(&two_rooms(3));
    let units = regiment(&mut app, 60, (8, 10));
    run(&mut app, 1);
    send(&mut app, (50, 16), &units);
    let resting = |app: &App| units.iter().filter(|&&unit| has_arrived(app, unit)).count();
    run_until(&mut app, 1_000, |app| resting(app) >= 30);
    // Around the slot of one that is on its way there, and was sent elsewhere.
    let wall_around = |(&unit, slot): (&Entity, Cell)| {
        let wall = CellRect::new(slot.offset(-4, -4), 9, 9);
        let target = app.world().get::<PathRequest>(unit)?.target.clone();
        let is_away = matches!(target, Target::Cell(cell) if !wall.contains(cell));
        (is_away && !has_arrived(&app, unit)).then_some((unit, wall))
    };
    let (displaced, wall) = units.iter().zip(slots(&app, &units)).find_map(wall_around).unwrap();
    let is_walled = |cell: Cell| wall.contains(cell);
    block(&mut app, wall);
    let has_ended = |app: &App, unit| {
        matches!(status(app, unit), PathStatus::Arrived(_) | PathStatus::Failed(_))
    };
    run_until(&mut app, 2_000, |app| units.iter().all(|&unit| has_ended(app, unit)));
    run(&mut app, 100);
    let arrived: Vec<Entity> =
        units.iter().copied().filter(|&unit| has_arrived(&app, unit)).collect();
    assert!(arrived.contains(&displaced), "{:?}", status(&app, displaced));
    assert_eq!(cells(&app, &arrived), slots(&app, &arrived), "each stands on its slot");
    assert!(cells(&app, &units).into_iter().all(|cell| !is_walled(cell)));
}

#[test]
fn members_that_leave_a_group_near_its_goal_release_their_slots() {
    let mut app = app_with(&two_rooms(3));
    let mut units = regiment(&mut app, 40, (8, 10));
    run(&mut app, 1);
    let group = send(&mut app, (50, 16), &units);
    let mut watch = Watch::new();
    watch.run_until(&mut app, 1_500, |app| {
        units.iter().filter(|&&unit| has_arrived(app, unit)).count() >= 10
    });
    // One member gets another order, one is despawned, one that still walks is moved far back by hand.
    units.sort_by_key(|&unit| !has_arrived(&app, unit));
    let [home, gone] = [units[0], units[1]];
    order(&mut app, home, (2, 2));
    app.world_mut().despawn(gone);
    let stands = |app: &App, unit: &&Entity| !has_arrived(app, **unit) && !is_between(app, **unit);
    watch.run_until(&mut app, 100, |app| units[2..].iter().any(|unit| stands(app, &unit)));
    let back = *units[2..].iter().find(|unit| stands(&app, unit)).unwrap();
    move_to(&mut app, back, (3, 28));
    watch.allow_jump(back);
    let rest = &units[2..];
    watch.run_until(&mut app, 2_000, |app| rest.iter().all(|&unit| has_arrived(app, unit)));
    watch.run(&mut app, 60);
    assert_eq!(cells(&app, rest), slots(&app, rest));
    let ends: BTreeSet<Cell> = slots(&app, rest).into_iter().collect();
    assert_eq!(ends.len(), 38);
    let state = app.world().get::<GroupState>(group).unwrap();
    assert_eq!(state.slots().len(), 38, "members that have left are no longer in it");
}

/// Small fast members arrive first, and larger slower ones push through them: no slots overlap before all have arrived. Then those
/// that cannot get back to theirs settle, and all come to rest.
#[test]
fn small_members_that_are_pushed_about_leave_the_slots_of_larger_ones_free() {
    let mut app = app_with_sizes(&field(96, 64));
    let place = |app: &mut App, (size, speed): (u8, f32), anchor: (i32, i32)| {
        let unit = spawn_unit(app, ProfileId(size - 1), anchor);
        app.world_mut()
            .entity_mut(unit)
            .insert((NavAgent::new(ProfileId(size - 1)), Critter::new(speed)));
        unit
    };
    let tanks: Vec<Entity> =
        (0..20).map(|i| place(&mut app, (2, 4.0), (2 + 2 * (i % 10), 12 + 2 * (i / 10)))).collect();
    let infantry: Vec<Entity> =
        (0..60).map(|i| place(&mut app, (1, 6.0), (2 + i % 10, 2 + i / 10))).collect();
    let members = tanks.iter().map(|&tank| GroupMember::new(tank));
    let members = members.chain(infantry.iter().map(|&man| GroupMember::new(man).rank(1)));
    let order = Group::to(Cell::new(50, 20), members)
        .formation(Formation::Box)
        .facing(Direction::East)
        .persistent();
    app.world_mut().spawn(order);
    run(&mut app, 3);
    let slot = |app: &App, unit: Entity| app.world().get::<GroupSlot>(unit).unwrap().cell;
    let (mut were_all_there, mut crowded, mut still) = (false, 0, 0);
    for tick in 0..4_000 {
        app.update();
        let sizes = [(&tanks, 2), (&infantry, 1)];
        let all =
            || sizes.iter().flat_map(|(units, size)| units.iter().map(move |&unit| (unit, *size)));
        let is_there = |unit: Entity| status(&app, unit) == PathStatus::Arrived(PathKind::Complete);
        were_all_there |= all().all(|(unit, _)| is_there(unit));
        let mut taken = BTreeSet::new();
        for (unit, size) in all().filter(|_| !were_all_there) {
            for cell in CellRect::new(slot(&app, unit), size, size).cells() {
                assert!(taken.insert(cell), "{cell} belongs to two slots in tick {tick}");
            }
        }
        let off = |&(unit, _): &(Entity, u32)| cell(&app, unit) != slot(&app, unit);
        crowded += u32::from(all().filter(off).filter(|&(unit, _)| is_there(unit)).count() > 5);
        still = if all().any(|unit| off(&unit)) { 0 } else { still + 1 };
        if still > 200 {
            break;
        }
    }
    assert!(crowded > 50, "members push others off their slots: in {crowded} ticks");
    assert!(still > 200, "all come to rest on their slots");
}

/// Units of another team stand where a group is to gather, or come there while it is on its way: the slots under them are replaced by
/// cells nearby.
#[test]
fn a_group_gathers_around_guards_that_stand_on_its_slots() {
    let one = vec![(50, 12)];
    let cases = [
        (9, one.clone(), 450),
        (16, one.clone(), 450),
        (25, one, 450),
        (40, vec![(50, 12), (49, 13), (52, 11)], 450),
        (100, vec![(50, 12), (46, 12), (50, 16)], 450),
    ];
    for ((count, guards, limit), comes_late) in
        cases.into_iter().flat_map(|case| [(case.clone(), false), (case, true)])
    {
        let mut app = app_with(&field(60, 30));
        record_groups(&mut app);
        let units: Vec<Entity> =
            (0..count).map(|at| spawn_critter(&mut app, (2 + at % 6, 5 + at / 6))).collect();
        app.world_mut().spawn(Group::to(Cell::new(50, 12), units.clone()).persistent());
        let mut watch = Watch::new();
        watch.run(&mut app, if comes_late { 60 } else { 0 });
        for &guard in &guards {
            let guard = spawn_critter(&mut app, guard);
            app.world_mut().entity_mut(guard).insert((Unpushable, CrowdTeam(3)));
        }
        let mut ticks = 0;
        while group_arrivals(&app).is_empty() {
            watch.tick(&mut app);
            ticks += 1;
            assert!(ticks <= limit, "{count} units, late: {comes_late}");
        }
        assert_eq!(group_arrivals(&app), [(count as u32, 0)]);
        assert_eq!(cells(&app, &units), slots(&app, &units));
    }
}
