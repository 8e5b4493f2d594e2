//! Snapshots of worlds in which hooks, observers and commands get in the way of putting things back.

use bevy::{ecs::entity::EntityHashMap, ecs::entity_disabling::Disabled, prelude::*};
use bevy_tilepath::prelude::*;

use crate::common::app::*;

const A: (i32, i32) = (27, 2);

fn take(app: &mut App) -> TilePathSnapshot {
    TilePathSnapshot::take(app.world_mut()).unwrap()
}

/// Checksums of so many ticks.
fn play(app: &mut App, ticks: u32) -> Vec<u64> {
    (0..ticks)
        .map(|_| {
            app.update();
            state_checksum(app.world_mut())
        })
        .collect()
}

#[test]
fn a_request_that_a_queue_has_given_again_since_is_still_there() {
    let mut app = app_with(&field(30, 10));
    let unit = spawn_critter(&mut app, (2, 2));
    order(&mut app, unit, A);
    run(&mut app, 20);
    let snapshot = take(&mut app);
    let first = play(&mut app, 400);
    assert_eq!(state(&app, unit).cell(), A.into());
    snapshot.restore(app.world_mut()).unwrap();
    let queue = OrderQueue::new().then(PathRequest::to(Cell::from(A)));
    app.world_mut().entity_mut(unit).insert(queue);
    run(&mut app, 3);
    assert!(app.world().get::<PathRequest>(unit).is_some(), "the queue has given it");
    snapshot.restore(app.world_mut()).unwrap();
    assert!(app.world().get::<OrderQueue>(unit).is_none());
    assert!(app.world().get::<PathRequest>(unit).is_some());
    assert_eq!(play(&mut app, 400), first);
}

#[test]
fn members_of_a_group_that_were_claimed_by_another_one_since_are_members_again() {
    let mut app = app_with(&field(40, 12));
    let units: Vec<Entity> = (0..4).map(|y| spawn_critter(&mut app, (2, 2 + y))).collect();
    let leader = spawn_critter(&mut app, (2, 9));
    let frozen = spawn_critter(&mut app, (2, 7));
    app.world_mut().spawn(Group::to(Cell::new(36, 5), units.clone()).persistent());
    let asleep = Group::to(Cell::new(30, 9), [frozen]).persistent();
    let asleep = app.world_mut().spawn((asleep, Disabled)).id();
    run(&mut app, 20);
    let snapshot = take(&mut app);
    let wake_up = |app: &mut App| {
        app.world_mut().entity_mut(asleep).remove::<Disabled>();
    };
    wake_up(&mut app);
    let first = play(&mut app, 500);
    snapshot.restore(app.world_mut()).unwrap();
    let other = Group::to(Cell::new(4, 10), units.clone());
    app.world_mut().entity_mut(leader).insert(other);
    run(&mut app, 3);
    assert!(app.world().get::<GroupSlot>(units[0]).is_some_and(|slot| slot.group == leader));
    snapshot.restore(app.world_mut()).unwrap();
    wake_up(&mut app);
    assert_eq!(play(&mut app, 500), first);
    // And in another world, whose hooks know nothing of the first.
    let mut other = app_with(&field(40, 12));
    let mut map = EntityHashMap::default();
    snapshot.load(other.world_mut(), &mut map).unwrap();
    other.world_mut().entity_mut(map[&asleep]).remove::<Disabled>();
    assert_eq!(play(&mut other, 500), first);
}

#[test]
fn what_observers_insert_or_remove_meanwhile_is_undone() {
    let mut app = app_with(&field(30, 10));
    let units = [2, 4, 6].map(|y| spawn_critter(&mut app, (2, y)));
    order(&mut app, units[0], A);
    run(&mut app, 20);
    let snapshot = take(&mut app);
    let first = play(&mut app, 300);
    snapshot.restore(app.world_mut()).unwrap();
    let [walker, queued, limited] = units;
    app.world_mut()
        .entity_mut(queued)
        .insert((OrderQueue::new().then(PathRequest::to(Cell::new(9, 9))), Unpushable));
    app.world_mut().entity_mut(limited).insert(SpeedLimit(0.5));
    app.add_observer(move |_: On<Remove, Unpushable>, mut commands: Commands| {
        commands.entity(queued).insert(CrowdTeam(4));
        commands.entity(walker).remove::<PathRequest>();
    });
    app.add_observer(move |_: On<Remove, SpeedLimit>, mut commands: Commands| {
        commands.entity(limited).insert(PathRequest::to(Cell::new(20, 6)));
    });
    run(&mut app, 3);
    snapshot.restore(app.world_mut()).unwrap();
    assert!(app.world().get::<PathRequest>(walker).is_some());
    assert!(app.world().get::<CrowdTeam>(queued).is_none());
    assert!(app.world().get::<PathRequest>(limited).is_none());
    assert_eq!(play(&mut app, 300), first);
}

#[test]
fn commands_that_wait_are_carried_out_before() {
    let mut app = app_with(&field(12, 4));
    let units = [spawn_critter(&mut app, (1, 1)), spawn_critter(&mut app, (3, 1))];
    app.update();
    let snapshot = take(&mut app);
    order(&mut app, units[1], (9, 1));
    run(&mut app, 2);
    app.world_mut().commands().entity(units[0]).despawn();
    let refused = snapshot.restore(app.world_mut());
    assert_eq!(refused, Err(SnapshotError::NoSuchEntity(units[0])));
    assert!(app.world().get::<PathRequest>(units[1]).is_some(), "nothing was changed");
    let mut map: EntityHashMap<Entity> = units.map(|unit| (unit, unit)).into_iter().collect();
    let refused = snapshot.load(app.world_mut(), &mut map);
    assert_eq!(refused, Err(SnapshotError::NoSuchEntity(units[0])));
}

/// What the game writes on a group that is disabled counts when it is enabled, whether a snapshot was taken or not.
#[test]
fn a_change_of_a_disabled_group_is_not_forgotten() {
    let play_with = |takes: bool| {
        let mut app = app_with(&field(40, 12));
        let units: Vec<Entity> = (0..3).map(|y| spawn_critter(&mut app, (2, 2 + y))).collect();
        let group = app.world_mut().spawn(Group::to(Cell::new(20, 5), units).persistent()).id();
        run(&mut app, 10);
        app.world_mut().entity_mut(group).insert(Disabled);
        run(&mut app, 10);
        app.world_mut().get_mut::<Group>(group).unwrap().goal = Cell::new(36, 5).into();
        if takes {
            take(&mut app);
        }
        run(&mut app, 10);
        app.world_mut().entity_mut(group).remove::<Disabled>();
        let sums = play(&mut app, 500);
        (sums, app)
    };
    let (first, mut app) = play_with(false);
    let mut units = app.world_mut().query::<&CritterState>();
    assert!(units.iter(app.world()).all(|state| state.cell().x > 30), "they went on");
    assert_eq!(play_with(true).0, first);
}

/// A unit that an observer despawns meanwhile is gone; all others are put back.
#[test]
fn a_unit_that_is_despawned_meanwhile_is_gone() {
    let mut app = app_with(&field(30, 6));
    let units = [1, 3].map(|y| spawn_critter(&mut app, (1, y)));
    order(&mut app, units[1], (27, 3));
    run(&mut app, 5);
    let snapshot = take(&mut app);
    app.world_mut().entity_mut(units[0]).insert(Unpushable);
    app.add_observer(|removed: On<Remove, Unpushable>, mut commands: Commands| {
        commands.entity(removed.entity).despawn();
    });
    snapshot.restore(app.world_mut()).unwrap();
    assert!(app.world().get_entity(units[0]).is_err());
    app.update();
    let crowd = app.world().resource::<Crowds>().get(GridId::default()).unwrap();
    assert_eq!(crowd.units().count(), 1, "its cell is free");
    run(&mut app, 400);
    assert_eq!(state(&app, units[1]).cell(), Cell::new(27, 3));
}
