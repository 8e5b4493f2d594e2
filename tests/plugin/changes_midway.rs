//! What the game changes while a request, a group or a step is under way: no unit keeps what is over, walks where nobody sent
//! it, or stands for good.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{app::*, units::*};
use crate::long_orders::{GOAL, START, app_in_the_wilderness};
use crate::watch::*;

const FAR: GridId = GridId(3);

/// An app with an open field, and another one far to the right.
fn two_fields() -> App {
    let mut app = app_with(&field(30, 12));
    let frame = GridFrame::square(Vec2::new(1_000.0, 0.0), Vec2::splat(10.0));
    grid(&mut app).insert(FAR, grid_from(&field(30, 12)), frame);
    record(&mut app);
    app
}

fn send(app: &mut App, goal: impl Into<Target>, units: &[Entity]) -> Entity {
    app.world_mut().spawn(Group::to(goal, units.iter().copied()).persistent()).id()
}

fn squad(app: &mut App, count: i32, (x, y): (i32, i32)) -> Vec<Entity> {
    (0..count).map(|unit| spawn_critter(app, (x + unit % 5, y + unit / 5))).collect()
}

fn have_arrived(app: &App, units: &[Entity]) -> bool {
    units.iter().all(|&unit| has_arrived(app, unit))
}

#[test]
fn a_group_whose_goal_is_unknown_stays_where_it_is_when_it_loses_a_member() {
    for goal_is_gone_later in [false, true] {
        let mut app = app_with_sizes(&field(40, 20));
        record(&mut app);
        let units = squad(&mut app, 6, (20, 8));
        let gone = despawned_entity(&mut app);
        let group = if goal_is_gone_later {
            let group = send(&mut app, Cell::new(30, 10), &units);
            run_until(&mut app, 600, |app| have_arrived(app, &units));
            app.world_mut().get_mut::<Group>(group).unwrap().goal = Target::Entity(gone);
            group
        } else {
            send(&mut app, Target::Entity(gone), &units)
        };
        run(&mut app, 20);
        let before: Vec<Cell> = units.iter().map(|&unit| cell(&app, unit)).collect();
        app.world_mut().entity_mut(units[0]).despawn();
        run(&mut app, 200);
        let after: Vec<Cell> = units[1..].iter().map(|&unit| cell(&app, unit)).collect();
        assert_eq!(after, before[1..], "nobody sent them anywhere");
        // A goal that is known again is a new order.
        app.world_mut().get_mut::<Group>(group).unwrap().goal = Cell::new(5, 5).into();
        run_until(&mut app, 900, |app| {
            units[1..].iter().all(|&unit| has_arrived(app, unit) && cell(app, unit).x < 10)
        });
    }
}

#[test]
fn a_change_of_a_group_sends_only_members_whose_slot_is_another() {
    let mut app = app_with_sizes(&field(60, 40));
    record(&mut app);
    let units = squad(&mut app, 40, (2, 10));
    let group = send(&mut app, Cell::new(40, 20), &units);
    run_until(&mut app, 2_000, |app| have_arrived(app, &units));
    run(&mut app, 100);
    let slot = |app: &App, unit: Entity| app.world().get::<GroupSlot>(unit).unwrap().cell;
    let target = |app: &App, unit| app.world().get::<PathRequest>(unit).unwrap().target.clone();
    let exchanged =
        units.iter().filter(|&&unit| target(&app, unit) != slot(&app, unit).into()).count();
    assert!(exchanged > 0, "the test needs members that have exchanged their slots");
    let (before, late) = (counters(&app).requests, spawn_critter(&mut app, (30, 20)));
    let mut changed = app.world_mut().get_mut::<Group>(group).unwrap();
    changed.members.push(late.into());
    run(&mut app, 3);
    let sent = counters(&app).requests - before;
    assert!(sent < 40, "{sent} requests for one that came late, {exchanged} had exchanged");
    let moved = units.iter().filter(|&&unit| !has_arrived(&app, unit)).count() as u64;
    assert_eq!(sent, moved + 1, "none for those that keep their slots");
}

/// It may exchange its slot with members of its new rank only: its crowd is to know.
#[test]
fn a_member_whose_rank_changes_is_sent_again_to_the_slot_that_it_keeps() {
    let mut app = app_with_sizes(&field(60, 20));
    let units = squad(&mut app, 4, (2, 10));
    let group = send(&mut app, Cell::new(50, 10), &units);
    run(&mut app, 20);
    let slots = |app: &App| -> Vec<_> {
        units.iter().map(|&unit| app.world().get::<GroupSlot>(unit).unwrap().cell).collect()
    };
    let (before, sent) = (slots(&app), counters(&app).requests);
    app.world_mut().get_mut::<Group>(group).unwrap().members[1].rank = 7;
    run(&mut app, 3);
    assert_eq!(slots(&app), before);
    assert_eq!(counters(&app).requests, sent + 1);
    run_until(&mut app, 2_000, |app| have_arrived(app, &units));
}

#[test]
fn a_unit_stops_when_its_request_fails_though_no_answer_came() {
    for critter in [Critter::new(8.0), Critter::new(8.0).ghost()] {
        let mut app = two_fields();
        let unit = spawn_at(&mut app, critter, (2, 5));
        order(&mut app, unit, (27, 5));
        run_until(&mut app, 100, |app| cell(app, unit).x > 5);
        // It goes to another grid, which is not there: its request fails on the way.
        app.world_mut().entity_mut(unit).insert(NavAgent::default().on(GridId(9)));
        run_until(&mut app, 20, |app| matches!(status(app, unit), PathStatus::Failed(_)));
        let here = cell(&app, unit);
        run(&mut app, 200);
        assert!(cell(&app, unit).chebyshev(here) <= 1, "from {here} to {}", cell(&app, unit));
        assert!(!state(&app, unit).walk().is_between_cells(), "it stands on a cell");
    }
}

#[test]
fn a_ghost_stays_on_its_grid_when_its_request_for_another_one_fails() {
    for to in [FAR, GridId(7)] {
        let mut app = two_fields();
        let unit = spawn_ghost(&mut app, (2, 5));
        order(&mut app, unit, (27, 5));
        run_until(&mut app, 100, |app| cell(app, unit).x > 5);
        insert_request(&mut app, unit, PathRequest::to(Vec2::NAN).start_on(to));
        let mut before = position(&app, unit);
        for _ in 0..30 {
            app.update();
            let now = position(&app, unit);
            assert!(before.distance(now) < 3.0, "from {before} to {now}");
            before = now;
        }
        assert!(matches!(status(&app, unit), PathStatus::Failed(_)));
        assert!(!state(&app, unit).walk().is_between_cells(), "it ends its step");
        let here = cell(&app, unit);
        order(&mut app, unit, (20, 5));
        run(&mut app, 1);
        let start = app.world().get::<RequestState>(unit).unwrap().query().start;
        assert_eq!(start, here);
        run_until(&mut app, 400, |app| has_arrived(app, unit));
    }
}

#[test]
fn an_idle_ghost_that_changes_its_grid_starts_where_it_is() {
    let mut app = two_fields();
    let unit = spawn_ghost(&mut app, (2, 5));
    order(&mut app, unit, (10, 5));
    run_until(&mut app, 400, |app| has_arrived(app, unit));
    // The game carries it over.
    app.world_mut().entity_mut(unit).insert(NavAgent::default().on(FAR));
    app.world_mut().get_mut::<Transform>(unit).unwrap().translation.x = 1_050.0;
    run(&mut app, 3);
    order(&mut app, unit, (20, 5));
    run(&mut app, 1);
    let start = app.world().get::<RequestState>(unit).unwrap().query().start;
    assert_eq!(start, Cell::new(5, 5));
    run_until(&mut app, 400, |app| has_arrived(app, unit));
    run(&mut app, 5);
    assert!(position(&app, unit).distance(Vec2::new(1_200.0, 50.0)) < 0.1);
}

#[test]
fn the_game_may_put_a_ghost_elsewhere_that_has_a_parent() {
    let mut app = app_with(&field(30, 12));
    let parent = app.world_mut().spawn((Transform::default(), GlobalTransform::default())).id();
    let unit = spawn_ghost(&mut app, (2, 5));
    app.world_mut().entity_mut(unit).insert(ChildOf(parent));
    order(&mut app, unit, (10, 5));
    run_until(&mut app, 400, |app| has_arrived(app, unit));
    run(&mut app, 5);
    app.world_mut().get_mut::<Transform>(unit).unwrap().translation.x = 200.0;
    run(&mut app, 5);
    assert!(position(&app, unit).distance(Vec2::new(200.0, 50.0)) < 0.1, "not put back");
    order(&mut app, unit, (25, 5));
    run(&mut app, 1);
    let start = app.world().get::<RequestState>(unit).unwrap().query().start;
    assert_eq!(start, Cell::new(20, 5));
    run_until(&mut app, 400, |app| has_arrived(app, unit));
}

#[test]
fn a_critter_that_becomes_a_ghost_on_the_first_part_of_its_path_arrives_straight() {
    let mut app = app_in_the_wilderness();
    record(&mut app);
    let unit = spawn_critter(&mut app, START);
    set_speed(&mut app, unit, 60.0);
    order(&mut app, unit, GOAL);
    let is_on_first = |app: &App| status(app, unit) == PathStatus::Walking(PathKind::FirstSegment);
    run_until(&mut app, 3, is_on_first);
    app.world_mut().resource_mut::<TilePathSettings>().budget = 500;
    run_until(&mut app, 60, |app| cell(app, unit).x > 12);
    assert!(is_on_first(&app), "the rest of its path has not been found yet");
    set_ghost(&mut app, unit, true);
    let mut last = cell(&app, unit);
    for _ in 0..400 {
        app.update();
        let now = cell(&app, unit);
        assert!(now.chebyshev(last) <= 1, "a jump from {last} to {now}");
        let path = app.world().get::<NavPath>(unit).unwrap();
        let is_on_path = !is_walking(&app, unit) || path.cells().any(|cell| cell == now);
        assert!(is_on_path, "{now} is not on its path");
        last = now;
    }
    app.world_mut().resource_mut::<TilePathSettings>().budget = 50_000;
    run_until(&mut app, 8_000, |app| has_arrived(app, unit));
    assert_eq!(cell(&app, unit), Cell::from(GOAL));
    assert!(failures(&app, unit).is_empty());
}

#[test]
fn a_unit_that_becomes_a_critter_as_soon_as_it_has_a_path_walks() {
    let mut app = app_with(&field(30, 12));
    record(&mut app);
    app.add_observer(|found: On<PathFound>, mut commands: Commands| {
        commands.entity(found.entity).insert_if_new(Critter::new(8.0));
    });
    let unit = app.world_mut().spawn(Transform::from_xyz(20.0, 50.0, 0.0)).id();
    order(&mut app, unit, (25, 5));
    run_until(&mut app, 400, |app| has_arrived(app, unit));
    assert!(stands_on(&app, unit, (25, 5)));
}

#[test]
fn a_unit_that_is_put_elsewhere_before_the_first_part_of_its_path_has_come_does_not_wait_for_the_rest()
 {
    for ticks in 0..12 {
        let mut app = app_in_the_wilderness();
        app.world_mut().resource_mut::<TilePathSettings>().budget = 2_000;
        let unit = spawn_critter(&mut app, START);
        order(&mut app, unit, GOAL);
        run(&mut app, ticks);
        if status(&app, unit) != PathStatus::Searching {
            assert!(ticks > 1, "the test needs a search that takes a while");
            return;
        }
        move_to(&mut app, unit, (4, 40));
        let is_on_its_way = |app: &App| is_walking(app, unit);
        let waited = run_until(&mut app, 2_000, is_on_its_way);
        assert!(waited < 100, "put elsewhere after {ticks} ticks, it stood for {waited} ticks");
    }
}

/// Returns an app that records events, and a group of fast and slow members on its way: some arrive and are sent on to other slots.
fn uneven_squad_under_way() -> (App, Vec<Entity>) {
    let mut app = app_with_sizes(&field(60, 5));
    record(&mut app);
    let units = squad(&mut app, 25, (2, 0));
    for &slow in units.iter().step_by(3) {
        set_speed(&mut app, slow, 2.0);
    }
    send(&mut app, Cell::new(45, 2), &units);
    (app, units)
}

#[test]
fn a_member_that_was_sent_on_after_its_arrival_announces_the_next_one() {
    let (mut app, units) = uneven_squad_under_way();
    // Whenever one has arrived and is sent on to another slot, it gets the next order.
    let (mut orders, mut found) = (vec![0_usize; units.len()], 0);
    for _ in 0..1_500 {
        app.update();
        for (at, &unit) in units.iter().enumerate() {
            let is_found =
                |event: &&Recorded| matches!(event, Recorded::Found(of, _) if *of == unit);
            let requests = events(&app).iter().filter(is_found).count();
            let was_sent_on = requests == 1 && arrivals(&app, unit) == 1 && is_walking(&app, unit);
            if was_sent_on && orders[at] == 0 {
                (orders[at], found) = (1, found + 1);
                order(&mut app, unit, (5 + at as i32, 4));
            }
        }
    }
    assert!(found > 0, "the test needs members that are sent on");
    run_until(&mut app, 2_000, |app| have_arrived(app, &units));
    for (at, &unit) in units.iter().enumerate().filter(|&(at, _)| orders[at] > 0) {
        assert_eq!(arrivals(&app, unit), 2, "unit {at}: one for each order");
        assert!(cancellations(&app, unit).is_empty(), "unit {at}: the first one had arrived");
    }
}

/// A request that has arrived does not fail, too.
#[test]
fn a_member_that_was_sent_on_after_its_arrival_does_not_fail_with_its_grid() {
    let (mut app, units) = uneven_squad_under_way();
    let was_sent_on = |app: &App, unit: Entity| arrivals(app, unit) == 1 && is_walking(app, unit);
    run_until(&mut app, 1_500, |app| units.iter().any(|&unit| was_sent_on(app, unit)));
    let sent_on: Vec<Entity> =
        units.iter().copied().filter(|&unit| was_sent_on(&app, unit)).collect();
    grid(&mut app).remove(GridId::default());
    run(&mut app, 5);
    for unit in sent_on {
        let has_failed = |event: &Recorded| matches!(event, Recorded::Failed(of, _) if *of == unit);
        assert!(!events(&app).iter().any(has_failed), "it had arrived");
    }
}

/// Nor does it arrive again when something else moves it from then on.
#[test]
fn a_member_that_was_sent_on_after_its_arrival_arrives_once_whoever_moves_it() {
    for is_steered in [false, true] {
        let (mut app, units) = uneven_squad_under_way();
        let was_sent_on =
            |app: &App, unit: &Entity| arrivals(app, *unit) == 1 && is_walking(app, *unit);
        run_until(&mut app, 1_500, |app| units.iter().any(|unit| was_sent_on(app, unit)));
        let sent_on = units.iter().copied().filter(|unit| was_sent_on(&app, unit));
        let sent_on: Vec<Entity> = sent_on.collect();
        for &unit in &sent_on {
            app.world_mut().entity_mut(unit).remove::<Critter>();
        }
        run(&mut app, 1);
        for &unit in &sent_on {
            match is_steered {
                // It has arrived as soon as it has its path.
                true => {
                    let steering = PathSteering::new(8.0).arrival_radius(60.0);
                    app.world_mut().entity_mut(unit).insert(steering);
                }
                false => {
                    app.world_mut().entity_mut(unit).insert(Critter::new(8.0));
                }
            }
        }
        run_until(&mut app, 2_000, |app| have_arrived(app, &units));
        run(&mut app, 5);
        for unit in sent_on {
            let ends = (arrivals(&app, unit), cancellations(&app, unit));
            assert_eq!(ends, (1, vec![]), "steered: {is_steered}");
        }
    }
}

#[test]
fn slots_of_an_order_that_is_over_do_not_come_back() {
    let mut app = app_with_sizes(&field(80, 80));
    let units: Vec<Entity> =
        (0..400).map(|at| spawn_critter(&mut app, (2 + at % 20, 2 + at / 20))).collect();
    let group = send(&mut app, Cell::new(20, 20), &units);
    run(&mut app, 100);
    // So little that a few requests are read in a tick.
    app.world_mut().resource_mut::<TilePathSettings>().budget = 400;
    app.world_mut().get_mut::<Group>(group).unwrap().goal = Cell::new(60, 60).into();
    for _ in 0..200 {
        app.update();
        let state = app.world().get::<GroupState>(group).unwrap();
        for &(unit, slot) in state.slots() {
            let own = app.world().get::<GroupSlot>(unit).map(|slot| slot.cell);
            assert_eq!(own, slot, "both say the same");
            assert!(slot.is_none_or(|cell| cell.x > 40), "{slot:?} is a slot of the old order");
        }
    }
    app.world_mut().resource_mut::<TilePathSettings>().budget = 50_000;
    run_until(&mut app, 3_000, |app| have_arrived(app, &units));
}
