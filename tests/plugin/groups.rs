//! Groups: one order, a slot for each member, members that leave and join, and the arrival of the whole
//! group.

use std::collections::BTreeSet;

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{app::*, units::*};

/// The `GroupArrived` events of an app, in order.
#[derive(Resource, Default)]
struct GroupLog(Vec<GroupArrived>);

fn with_log(mut app: App) -> App {
    record(&mut app);
    app.init_resource::<GroupLog>();
    app.add_observer(|event: On<GroupArrived>, mut log: ResMut<GroupLog>| {
        let (entity, arrived, failed) = (event.entity, event.arrived, event.failed);
        log.0.push(GroupArrived { entity, arrived, failed });
    });
    app
}

fn open_field(width: usize, height: usize) -> App {
    with_log(app_with_sizes(&field(width, height)))
}

/// Returns the counts of arrived and failed members of each `GroupArrived` event of a group.
fn results(app: &App, group: Entity) -> Vec<(u32, u32)> {
    let log = app.world().resource::<GroupLog>().0.iter();
    log.filter(|event| event.entity == group).map(|event| (event.arrived, event.failed)).collect()
}

/// Spawns `count` critters side by side, in rows of five.
fn squad(app: &mut App, count: i32, (x, y): (i32, i32)) -> Vec<Entity> {
    (0..count).map(|unit| spawn_critter(app, (x + unit % 5, y + unit / 5))).collect()
}

fn group_to(goal: (i32, i32), units: &[Entity]) -> Group {
    Group::to(Cell::from(goal), units.iter().copied()).persistent()
}

fn send(app: &mut App, group: Group) -> Entity {
    app.world_mut().spawn(group).id()
}

/// Runs until the group has come to rest; checks that this is reported once.
fn finish(app: &mut App, group: Entity) -> (u32, u32) {
    let before = results(app, group).len();
    run_until(app, 3_000, |app| results(app, group).len() > before);
    run(app, 60);
    let results = results(app, group);
    assert_eq!(results.len(), before + 1, "reported once: {results:?}");
    results[before]
}

fn slots(app: &App, group: Entity) -> Vec<Option<Cell>> {
    let state = app.world().get::<GroupState>(group).unwrap();
    state.slots().iter().map(|&(_, slot)| slot).collect()
}

fn slot_of(app: &App, group: Entity, unit: Entity) -> Option<Cell> {
    let state = app.world().get::<GroupState>(group).unwrap();
    state.slots().iter().find(|slot| slot.0 == unit).and_then(|slot| slot.1)
}

fn cells<'a>(app: &App, units: impl IntoIterator<Item = &'a Entity>) -> Vec<Cell> {
    units.into_iter().map(|&unit| state(app, unit).cell()).collect()
}

fn set(cells: &[Cell]) -> BTreeSet<Cell> {
    cells.iter().copied().collect()
}

/// Returns the cells with these offsets from a goal.
fn around(goal: (i32, i32), offsets: &[(i32, i32)]) -> BTreeSet<Cell> {
    offsets.iter().map(|&(dx, dy)| Cell::from(goal).offset(dx, dy)).collect()
}

/// Panics unless all units stand on distinct cells.
fn assert_distinct_cells(app: &App, units: &[Entity]) {
    let cells = cells(app, units);
    assert_eq!(set(&cells).len(), units.len(), "{cells:?}");
}

#[test]
fn a_unit_whose_slot_the_game_removes_leaves_its_group_with_its_speed_limit() {
    let mut app = app_with(&field(60, 12));
    let units = [spawn_critter(&mut app, (2, 3)), spawn_critter(&mut app, (2, 5))];
    set_speed(&mut app, units[1], 2.0);
    app.world_mut().spawn(Group::to(Cell::new(50, 4), units).keep_together());
    run(&mut app, 20);
    assert!(app.world().get::<GroupSpeedLimit>(units[0]).is_some());
    app.world_mut().entity_mut(units[0]).remove::<GroupSlot>();
    order(&mut app, units[0], (50, 9));
    run(&mut app, 40);
    assert!(app.world().get::<GroupSpeedLimit>(units[0]).is_none());
    assert!(app.world().get::<GroupSpeedLimit>(units[1]).is_some());
    run_until(&mut app, 600, |app| has_arrived(app, units[0]));
}

#[test]
fn each_member_gets_a_distinct_cell_near_the_goal() {
    let mut app = open_field(40, 40);
    let units = squad(&mut app, 25, (2, 2));
    let group = send(&mut app, group_to((25, 25), &units));
    assert_eq!(finish(&mut app, group), (25, 0));
    let cells = cells(&app, &units);
    let sent: Vec<Cell> = slots(&app, group).into_iter().flatten().collect();
    assert_eq!(cells, sent, "each on its slot");
    assert_eq!(set(&cells).len(), 25);
    assert!(cells.contains(&Cell::new(25, 25)));
    let is_near = |cell: &Cell| CellRect::new(Cell::new(22, 22), 7, 7).contains(*cell);
    assert!(cells.iter().all(is_near), "{cells:?}");
    for (unit, &cell) in units.iter().zip(&cells) {
        assert_eq!(app.world().get::<GroupSlot>(*unit), Some(&GroupSlot { group, cell }));
        assert!(failures(&app, *unit).is_empty());
        assert_eq!(arrivals(&app, *unit), 1);
    }
}

#[test]
fn groups_of_one_and_of_no_members() {
    let mut app = open_field(20, 20);
    let units = squad(&mut app, 1, (2, 2));
    let one = send(&mut app, group_to((9, 4), &units));
    let none = send(&mut app, group_to((9, 4), &[]));
    assert_eq!(finish(&mut app, one), (1, 0));
    assert_eq!(cells(&app, &units), [Cell::new(9, 4)]);
    assert!(results(&app, none).iter().all(|&result| result == (0, 0)));
}

#[test]
fn a_group_that_stands_on_its_slots_has_arrived() {
    let mut app = open_field(20, 20);
    let units = squad(&mut app, 5, (5, 5));
    let line = group_to((7, 5), &units).formation(Formation::Line).facing(Direction::North);
    let group = send(&mut app, line);
    assert_eq!(finish(&mut app, group), (5, 0));
    let expected: Vec<Cell> = (5..10).map(|x| Cell::new(x, 5)).collect();
    assert_eq!(cells(&app, &units), expected, "the order is unchanged");
}

#[test]
fn formations_have_the_documented_shapes() {
    use Direction::{East, North};
    use Formation::{Box, Column, Line, Wedge};
    const LINE: [(i32, i32); 5] = [(-2, 0), (-1, 0), (0, 0), (1, 0), (2, 0)];
    const COLUMN: [(i32, i32); 4] = [(1, 0), (0, 0), (-1, 0), (-2, 0)];
    const WEDGE: [(i32, i32); 4] = [(0, 0), (-1, -1), (0, -1), (1, -1)];
    let square: Vec<(i32, i32)> = (-1..2).flat_map(|y| (-1..2).map(move |x| (x, y))).collect();
    let goal = (20, 15);
    let shapes: [(Formation, Direction, u8, &[(i32, i32)]); 6] = [
        (Line, North, 0, &LINE),
        (Line, North, 1, &[(-2, 0), (0, 0), (2, 0)]),
        (Line, East, 0, &[(0, -1), (0, 0), (0, 1)]),
        (Column, East, 0, &COLUMN),
        (Box, North, 0, &square),
        (Wedge, North, 0, &WEDGE),
    ];
    for (formation, facing, spacing, offsets) in shapes {
        let mut app = open_field(40, 30);
        let units = squad(&mut app, offsets.len() as i32, (3, 3));
        let order = group_to(goal, &units).formation(formation).facing(facing).spacing(spacing);
        let group = send(&mut app, order);
        assert_eq!(finish(&mut app, group), (offsets.len() as u32, 0));
        let occupied = set(&cells(&app, &units));
        assert_eq!(occupied, around(goal, offsets), "{formation:?} facing {facing:?}");
    }
}

#[test]
fn without_a_facing_a_formation_faces_the_direction_of_travel() {
    for (goal, facing) in
        [((30, 15), Direction::East), ((16, 28), Direction::North), ((4, 4), Direction::SouthWest)]
    {
        let mut app = open_field(40, 30);
        let units = squad(&mut app, 5, (14, 15));
        let group = send(&mut app, group_to(goal, &units).formation(Formation::Line));
        app.update();
        let facing_of = |app: &App| app.world().get::<GroupState>(group).unwrap().facing();
        assert_eq!(facing_of(&app), Some(facing));
        finish(&mut app, group);
        assert_eq!(facing_of(&app), Some(facing), "also after it has come to rest");
    }
}

#[test]
fn low_ranks_stand_in_front() {
    let mut app = open_field(40, 20);
    let units = squad(&mut app, 4, (3, 3));
    let ranks = [3, 1, 0, 2];
    let members = units.iter().zip(ranks).map(|(&unit, rank)| GroupMember::from(unit).rank(rank));
    let column = Group::to(Cell::new(20, 10), members).persistent().formation(Formation::Column);
    let group = send(&mut app, column.facing(Direction::East));
    assert_eq!(finish(&mut app, group), (4, 0));
    for (unit, rank) in units.iter().zip(ranks) {
        assert_eq!(state(&app, *unit).cell(), Cell::new(21 - rank, 10), "rank {rank}");
    }
}

#[test]
fn blocks_of_all_sizes_do_not_overlap() {
    for formation in [Formation::Loose, Formation::Box, Formation::Line] {
        let mut app = open_field(50, 50);
        let mut members = Vec::new();
        for index in 0..12 {
            let profile = [SMALL, BIG, HUGE][index % 3];
            let cell = (2 + 4 * (index % 4) as i32, 2 + 4 * (index / 4) as i32);
            members.push(GroupMember::new(spawn_unit(&mut app, profile, cell)).profile(profile));
        }
        let order = Group::to(Cell::new(32, 32), members.clone()).persistent().formation(formation);
        let group = send(&mut app, order);
        assert_eq!(finish(&mut app, group), (12, 0));
        let blocks: Vec<CellRect> = members
            .iter()
            .map(|member| {
                let side = level(&app).unit_size(member.profile.unwrap());
                CellRect::new(state(&app, member.entity).cell(), side, side)
            })
            .collect();
        for (index, block) in blocks.iter().enumerate() {
            for other in &blocks[index + 1..] {
                assert!(block.intersection(*other).is_empty(), "{block} and {other}");
            }
        }
    }
}

/// Returns the ticks in which units arrive.
fn arrival_ticks(app: &mut App, units: &[Entity]) -> Vec<u32> {
    let mut ticks = vec![None; units.len()];
    for tick in 0..3_000 {
        for (unit, arrived) in units.iter().zip(&mut ticks) {
            let has_arrived = app
                .world()
                .get(*unit)
                .is_some_and(|status: &PathStatus| matches!(status, PathStatus::Arrived(_)));
            if has_arrived && arrived.is_none() {
                *arrived = Some(tick);
            }
        }
        if ticks.iter().all(Option::is_some) {
            break;
        }
        app.update();
    }
    ticks.into_iter().flatten().collect()
}

/// Sends a line of units with very different speeds; returns the ticks between the first and the last
/// arrival.
fn spread(keeps_together: bool) -> (App, Vec<Entity>, u32) {
    let mut app = open_field(50, 20);
    let units: Vec<Entity> = (0..3).map(|y| spawn_critter(&mut app, (2, 9 + y))).collect();
    for (unit, speed) in units.iter().zip([8.0, 4.0, 16.0]) {
        set_speed(&mut app, *unit, speed);
    }
    let order = group_to((30, 10), &units).formation(Formation::Line).facing(Direction::East);
    send(&mut app, if keeps_together { order.keep_together() } else { order });
    run(&mut app, 20);
    let limits = units.iter().map(|unit| app.world().get::<GroupSpeedLimit>(*unit).copied());
    let expected = keeps_together.then_some(GroupSpeedLimit(4.0));
    assert!(limits.into_iter().all(|limit| limit == expected));
    let ticks = arrival_ticks(&mut app, &units);
    let spread = ticks.iter().max().unwrap() - ticks.iter().min().unwrap();
    (app, units, spread)
}

#[test]
fn a_group_that_keeps_together_arrives_together() {
    let (mut app, units, together) = spread(true);
    assert!(together <= 2, "{together} ticks between the first and the last");
    run(&mut app, 3);
    for unit in &units {
        assert!(app.world().get::<GroupSpeedLimit>(*unit).is_none(), "the limit is removed");
    }
    let (_, _, apart) = spread(false);
    assert!(apart > 200, "{apart}: without the limit they arrive far apart");
}

#[test]
fn a_speed_limit_set_by_the_game_stays() {
    let mut app = open_field(30, 10);
    let units = squad(&mut app, 3, (2, 2));
    app.world_mut().entity_mut(units[0]).insert(SpeedLimit(2.0));
    let group = send(&mut app, group_to((12, 4), &units));
    run(&mut app, 10);
    assert_eq!(
        app.world().get::<SpeedLimit>(units[0]),
        Some(&SpeedLimit(2.0)),
        "the group does not keep together"
    );
    finish(&mut app, group);
    assert_eq!(app.world().get::<SpeedLimit>(units[0]), Some(&SpeedLimit(2.0)));
}

#[test]
fn a_vacant_slot_is_filled_when_a_member_is_despawned() {
    let mut app = open_field(40, 20);
    let mut units = squad(&mut app, 5, (2, 8));
    let goal = Cell::new(25, 10);
    let group = send(&mut app, group_to((25, 10), &units));
    run(&mut app, 20);
    let first = units.iter().position(|&unit| slot_of(&app, group, unit) == Some(goal)).unwrap();
    app.world_mut().entity_mut(units.remove(first)).despawn();
    assert_eq!(finish(&mut app, group), (4, 0));
    assert!(cells(&app, &units).contains(&goal), "another member has moved to the slot");
    assert_distinct_cells(&app, &units);
    assert_eq!(app.world().get::<Group>(group).unwrap().members.len(), 4);
    // Also when all members stand.
    let first = units.iter().position(|&unit| slot_of(&app, group, unit) == Some(goal)).unwrap();
    app.world_mut().entity_mut(units.remove(first)).despawn();
    assert_eq!(finish(&mut app, group), (3, 0));
    assert!(cells(&app, &units).contains(&goal));
    assert_distinct_cells(&app, &units);
}

#[test]
fn a_group_without_members_is_reported_at_most_once() {
    let mut app = open_field(30, 10);
    let units = squad(&mut app, 4, (2, 2));
    let group = send(&mut app, group_to((20, 5), &units));
    run(&mut app, 10);
    for unit in units {
        app.world_mut().entity_mut(unit).despawn();
    }
    run(&mut app, 50);
    assert!(app.world().get::<Group>(group).unwrap().members.is_empty());
    assert!(
        results(&app, group).iter().all(|&result| result == (0, 0))
            && results(&app, group).len() <= 1
    );
}

#[test]
fn a_member_with_another_order_has_left() {
    let mut app = open_field(40, 20);
    let units = squad(&mut app, 6, (2, 8));
    let goal = Cell::new(25, 10);
    let group = send(&mut app, group_to((25, 10), &units).keep_together());
    run(&mut app, 20);
    let leaving = *units.iter().find(|&&unit| slot_of(&app, group, unit) == Some(goal)).unwrap();
    let other_goal = Cell::new(5, 1);
    insert_request(&mut app, leaving, PathRequest::to(other_goal));
    run(&mut app, 2);
    assert!(!app.world().entity(leaving).contains::<GroupSlot>());
    assert!(!app.world().entity(leaving).contains::<GroupSpeedLimit>());
    assert_eq!(finish(&mut app, group), (5, 0));
    let stayed: Vec<Entity> = units.iter().copied().filter(|&unit| unit != leaving).collect();
    assert!(cells(&app, &stayed).contains(&goal), "the vacant slot was filled");
    assert_distinct_cells(&app, &stayed);
    assert_eq!(run_to_end(&mut app, leaving), Ok(other_goal));
    assert_eq!(cancellations(&app, leaving), [CancelReason::Replaced]);
}

#[test]
fn a_member_whose_order_is_removed_has_left() {
    let mut app = open_field(40, 20);
    let units = squad(&mut app, 3, (2, 8));
    let group = send(&mut app, group_to((25, 10), &units));
    run(&mut app, 20);
    app.world_mut().entity_mut(units[1]).remove::<PathRequest>();
    assert_eq!(finish(&mut app, group), (2, 0));
    assert_eq!(status(&app, units[1]), PathStatus::Idle);
    assert_eq!(cancellations(&app, units[1]), [CancelReason::Removed]);
    assert!(state(&app, units[1]).cell().x < 12, "it stopped where it was");
}

#[test]
fn a_member_may_change_to_another_group() {
    let mut app = open_field(40, 30);
    let units = squad(&mut app, 6, (2, 8));
    let first = send(&mut app, group_to((30, 5), &units).keep_together());
    run(&mut app, 20);
    let second = send(&mut app, group_to((5, 25), &units[3..]));
    run_until(&mut app, 2_000, |app| {
        !results(app, first).is_empty() && !results(app, second).is_empty()
    });
    run(&mut app, 60);
    assert_eq!((results(&app, first), results(&app, second)), (vec![(3, 0)], vec![(3, 0)]));
    for (index, unit) in units.iter().enumerate() {
        let group = if index < 3 { first } else { second };
        assert_eq!(app.world().get::<GroupSlot>(*unit).unwrap().group, group);
        assert!(!app.world().entity(*unit).contains::<GroupSpeedLimit>());
    }
    assert!(cells(&app, &units[..3]).iter().all(|cell| cell.x > 25));
    assert!(cells(&app, &units[3..]).iter().all(|cell| cell.y > 20));
}

#[test]
fn late_members_get_a_slot() {
    let mut app = open_field(40, 20);
    let mut units = squad(&mut app, 5, (2, 8));
    let group = send(&mut app, group_to((25, 10), &units));
    run(&mut app, 30);
    for at in [(10, 2), (24, 10)] {
        let late = spawn_critter(&mut app, at);
        units.push(late);
        app.world_mut().get_mut::<Group>(group).unwrap().members.push(late.into());
        let count = units.len() as u32;
        assert_eq!(finish(&mut app, group), (count, 0), "the second member joins when all stand");
        assert_distinct_cells(&app, &units);
        let is_near = |cell: &Cell| CellRect::new(Cell::new(23, 8), 5, 5).contains(*cell);
        assert!(cells(&app, &units).iter().all(is_near));
    }
    assert_eq!(results(&app, group), [(6, 0), (7, 0)]);
}

#[test]
fn a_member_that_is_removed_is_released() {
    let mut app = open_field(40, 20);
    let units = squad(&mut app, 4, (2, 8));
    let group = send(&mut app, group_to((25, 10), &units).keep_together());
    run(&mut app, 20);
    let removed = units[2];
    app.world_mut()
        .get_mut::<Group>(group)
        .unwrap()
        .members
        .retain(|member| member.entity != removed);
    assert_eq!(finish(&mut app, group), (3, 0));
    assert!(!app.world().entity(removed).contains::<GroupSlot>());
    assert!(!app.world().entity(removed).contains::<GroupSpeedLimit>());
    assert!(run_to_end(&mut app, removed).is_ok(), "it keeps its order");
    assert!(failures(&app, removed).is_empty());
}

/// A closed room of 3 × 3 cells from (1, 1).
const ROOM: &str = "
    #####
    #...#
    #...#
    #...#
    #####
";

/// Returns twelve ghosts in a room with nine cells, sent to its middle.
fn crowded_room() -> (App, Vec<Entity>, Entity) {
    let mut app = with_log(app_with(ROOM));
    let cell = |unit: i32| (1 + unit % 3, 1 + unit / 3 % 3);
    let units: Vec<Entity> = (0..12).map(|unit| spawn_ghost(&mut app, cell(unit))).collect();
    let group = send(&mut app, group_to((2, 2), &units));
    (app, units, group)
}

#[test]
fn a_group_larger_than_the_room_reports_members_without_a_slot() {
    let (mut app, mut units, group) = crowded_room();
    assert_eq!(finish(&mut app, group), (9, 3));
    let full = PathFailure::NoRoom(Cell::new(2, 2));
    let (with, without): (Vec<Entity>, Vec<Entity>) =
        units.iter().copied().partition(|&unit| slot_of(&app, group, unit).is_some());
    assert_eq!((with.len(), without.len()), (9, 3));
    assert_distinct_cells(&app, &with);
    for unit in &with {
        assert!(failures(&app, *unit).is_empty());
    }
    for unit in &without {
        assert_eq!(refusals(&app, *unit), [full], "reported once");
        assert!(failures(&app, *unit).is_empty());
    }
    // A vacant slot is taken by one of the other members; no other unit gets a new order.
    units.retain(|&unit| unit != with[4]);
    app.world_mut().entity_mut(with[4]).despawn();
    app.world_mut().resource_mut::<Events>().0.clear();
    assert_eq!(finish(&mut app, group), (9, 2));
    assert!(
        events(&app).iter().all(|event| !matches!(event, Recorded::Failed(..))),
        "{:?}",
        events(&app)
    );
    let standing: Vec<Entity> =
        units.into_iter().filter(|&unit| slot_of(&app, group, unit).is_some()).collect();
    assert_eq!(standing.len(), 9);
    assert_distinct_cells(&app, &standing);
}

#[test]
fn a_member_without_a_slot_keeps_a_later_order() {
    let (mut app, units, group) = crowded_room();
    finish(&mut app, group);
    let (with, without): (Vec<Entity>, Vec<Entity>) =
        units.iter().copied().partition(|&unit| slot_of(&app, group, unit).is_some());
    for unit in &without {
        insert_request(&mut app, *unit, PathRequest::to(Cell::new(3, 3)));
    }
    run(&mut app, 40);
    app.world_mut().entity_mut(with[0]).despawn();
    run(&mut app, 60);
    for unit in &without {
        let request = app.world().get::<PathRequest>(*unit).unwrap();
        assert_eq!(request.target, Target::Cell(Cell::new(3, 3)), "its later order");
    }
}

#[test]
fn a_goal_in_a_wall_is_gathered_around() {
    let mut app = open_field(30, 20);
    let rock = CellRect::new(Cell::new(19, 9), 3, 3);
    block(&mut app, rock);
    let units = squad(&mut app, 8, (2, 8));
    let group = send(&mut app, group_to((20, 10), &units));
    assert_eq!(finish(&mut app, group), (8, 0));
    assert_distinct_cells(&app, &units);
    let is_near = |cell: &Cell| CellRect::new(Cell::new(15, 5), 11, 11).contains(*cell);
    assert!(cells(&app, &units).iter().all(|cell| is_near(cell) && !rock.contains(*cell)));
}

#[test]
fn a_failure_of_all_members_is_reported_once_for_each() {
    let off = Cell::new(-5, 0);
    for (order, reason) in [
        (Group::to(off, [] as [Entity; 0]).persistent(), PathFailure::GoalOutOfBounds(off)),
        (
            group_to((5, 5), &[]).request(PathRequest::to(Cell::default()).start_on(GridId(7))),
            PathFailure::GridGone(GridId(7)),
        ),
    ] {
        let mut app = open_field(20, 10);
        let units = squad(&mut app, 4, (2, 2));
        let members = units.iter().map(|&unit| unit.into()).collect();
        let group = send(&mut app, Group { members, ..order });
        assert_eq!(finish(&mut app, group), (0, 4));
        for unit in units {
            assert_eq!(refusals(&app, unit), [reason]);
        }
    }
}

#[test]
fn a_member_without_a_path_does_not_delay_the_others() {
    let mut app = open_field(30, 20);
    block(&mut app, CellRect::single(Cell::new(2, 2)));
    // Ghosts stay in walls, and off the grid.
    let (good, walled) = (spawn_critter(&mut app, (4, 4)), spawn_ghost(&mut app, (2, 2)));
    let (odd, off) = (spawn_critter(&mut app, (5, 4)), spawn_ghost(&mut app, (-3, 4)));
    let bare = app.world_mut().spawn_empty().id();
    let mut members: Vec<GroupMember> = [bare, walled, good, off].map(GroupMember::from).to_vec();
    members.push(GroupMember::new(odd).profile(ProfileId(9)));
    let group = send(&mut app, Group::to(Cell::new(20, 10), members).persistent());
    assert_eq!(finish(&mut app, group), (1, 4));
    assert_eq!(state(&app, good).cell(), Cell::new(20, 10));
    for (unit, reason) in [
        (bare, PathFailure::StartUnknown),
        (walled, PathFailure::StartImpassable(Cell::new(2, 2))),
        (odd, PathFailure::UnknownProfile(ProfileId(9))),
        (off, PathFailure::StartOutOfBounds(Cell::new(-3, 4))),
    ] {
        assert_eq!(refusals(&app, unit), [reason]);
    }
    assert!(failures(&app, good).is_empty());
}

#[test]
fn slots_that_are_built_over_are_lost_and_counted() {
    let mut app = open_field(40, 20);
    let units = squad(&mut app, 16, (2, 8));
    let group = send(&mut app, group_to((25, 10), &units));
    run(&mut app, 30);
    let house = CellRect::new(Cell::new(25, 10), 2, 2);
    let lost =
        slots(&app, group).into_iter().flatten().filter(|&cell| house.contains(cell)).count();
    assert!(lost > 0);
    app.world_mut().spawn(NavBlocker::at(house));
    let (arrived, failed) = finish(&mut app, group);
    assert_eq!((arrived + failed, failed), (16, lost as u32));
    assert!(cells(&app, &units).iter().all(|cell| !house.contains(*cell)));
    for unit in &units {
        let ends = arrivals(&app, *unit) + failures(&app, *unit).len();
        assert_eq!((ends, refusals(&app, *unit).len()), (1, 0), "each request ends once");
    }
    let failures: usize = units.iter().map(|unit| failures(&app, *unit).len()).sum();
    assert_eq!(failures, lost);
}

/// A refusal is the group's: the unit's own request goes on, and ends once.
#[test]
fn units_that_are_refused_a_slot_finish_their_own_requests() {
    let mut app = open_field(20, 10);
    let unit = squad(&mut app, 1, (2, 2))[0];
    order(&mut app, unit, (15, 5));
    run(&mut app, 10);
    send(&mut app, group_to((90, 90), &[unit]));
    run(&mut app, 400);
    assert_eq!(refusals(&app, unit), [PathFailure::GoalOutOfBounds(Cell::new(90, 90))]);
    assert_eq!((arrivals(&app, unit), failures(&app, unit).len()), (1, 0));
    assert!(cancellations(&app, unit).is_empty());
}

/// A member that loses its slot to another one of lower rank: its request ends once, by being removed.
#[test]
fn the_request_of_a_member_that_loses_its_slot_ends_once() {
    let mut app = with_log(app_with(ROOM));
    let unit = |app: &mut App, at: i32| spawn_ghost(app, (1 + at % 3, 1 + at / 3 % 3));
    let units: Vec<Entity> = (0..9).map(|at| unit(&mut app, at)).collect();
    let firsts: Vec<Entity> = (0..3).map(|at| unit(&mut app, at)).collect();
    let group = send(&mut app, group_to((2, 2), &units).persistent());
    finish(&mut app, group);
    let mut members = app.world_mut().get_mut::<Group>(group).unwrap();
    members.members.extend(firsts.iter().map(|&unit| GroupMember::new(unit).rank(-1)));
    run(&mut app, 200);
    let lost: Vec<Entity> =
        units.iter().copied().filter(|&unit| slot_of(&app, group, unit).is_none()).collect();
    assert_eq!(lost.len(), 3);
    for unit in lost {
        let ends = arrivals(&app, unit) + failures(&app, unit).len();
        assert_eq!(ends + cancellations(&app, unit).len(), 1, "{:?}", events(&app));
        assert_eq!(refusals(&app, unit), [PathFailure::NoRoom(Cell::new(2, 2))]);
        assert_eq!(status(&app, unit), PathStatus::Idle);
    }
}

#[test]
fn members_of_a_group_whose_goal_is_gone_finish_their_requests() {
    let mut app = open_field(40, 20);
    let units = squad(&mut app, 6, (2, 8));
    let group = send(&mut app, group_to((25, 10), &units).persistent());
    run(&mut app, 20);
    let gone = despawned_entity(&mut app);
    app.world_mut().get_mut::<Group>(group).unwrap().goal = Target::Entity(gone);
    run(&mut app, 600);
    for unit in units {
        assert_eq!(refusals(&app, unit), [PathFailure::TargetGone]);
        assert_eq!((arrivals(&app, unit), failures(&app, unit).len()), (1, 0));
        assert!(cancellations(&app, unit).is_empty());
    }
}

#[test]
fn orders_outlive_their_group() {
    let mut app = open_field(40, 20);
    let units = squad(&mut app, 6, (2, 8));
    let group = send(&mut app, group_to((25, 10), &units));
    run(&mut app, 20);
    let sent: Vec<Cell> = slots(&app, group).into_iter().flatten().collect();
    app.world_mut().entity_mut(group).despawn();
    for unit in &units {
        assert!(run_to_end(&mut app, *unit).is_ok());
        assert!(failures(&app, *unit).is_empty());
    }
    // Members that made room for others return when those have passed.
    run(&mut app, 40);
    assert_eq!(cells(&app, &units), sent);
    assert!(app.world().resource::<GroupLog>().0.is_empty());
}

#[test]
fn a_grid_that_is_removed_ends_the_group_once() {
    let mut app = open_field(40, 20);
    let units = squad(&mut app, 6, (2, 8));
    let group = send(&mut app, group_to((25, 10), &units).keep_together());
    run(&mut app, 20);
    grid(&mut app).remove(GridId::default());
    assert_eq!(finish(&mut app, group), (0, 6));
    for unit in units {
        assert_eq!(failures(&app, unit), [PathFailure::GridGone(GridId::default())]);
        assert!(!app.world().entity(unit).contains::<GroupSpeedLimit>());
    }
}

#[test]
fn a_new_goal_while_walking_replaces_the_old_one() {
    let mut app = open_field(40, 30);
    let units = squad(&mut app, 8, (2, 8));
    let group = send(&mut app, group_to((30, 10), &units));
    run(&mut app, 40);
    app.world_mut().get_mut::<Group>(group).unwrap().goal = Cell::new(10, 25).into();
    assert_eq!(finish(&mut app, group), (8, 0));
    assert_eq!(results(&app, group).len(), 1, "the first goal is not reported");
    assert_distinct_cells(&app, &units);
    let is_near = |cell: &Cell| CellRect::new(Cell::new(8, 23), 5, 5).contains(*cell);
    assert!(cells(&app, &units).iter().all(is_near));
    for unit in &units {
        assert_eq!(cancellations(&app, *unit), [CancelReason::Replaced]);
        assert_eq!(arrivals(&app, *unit), 1);
    }
}

#[test]
fn an_unchanged_group_makes_no_new_requests() {
    let mut app = open_field(40, 20);
    let units = squad(&mut app, 6, (2, 8));
    let group = send(&mut app, group_to((25, 10), &units));
    finish(&mut app, group);
    let requests = counters(&app).requests;
    run(&mut app, 200);
    assert_eq!(counters(&app).requests, requests);
    assert_eq!(requests, 6);
    assert_eq!(results(&app, group).len(), 1);
}

#[test]
fn the_order_of_members_does_not_matter() {
    let ends = |reversed: bool| {
        let mut app = open_field(40, 20);
        let units = squad(&mut app, 9, (2, 8));
        let mut members = units.clone();
        if reversed {
            members.reverse();
        }
        let group = send(&mut app, group_to((25, 10), &members).formation(Formation::Box));
        finish(&mut app, group);
        cells(&app, &units)
    };
    assert_eq!(ends(false), ends(true));
}

/// Returns an app with weighted terrain: patches of swamp.
fn moor() -> App {
    const SWAMP: TerrainId = TerrainId(2);
    let mut app = app();
    grid(&mut app).set_profiles(vec![Profile::default().with(SWAMP, 2 * Profile::PLAIN_COST)]);
    let is_swamp = |x: u32, y: u32| (x / 5 + y / 7).is_multiple_of(3) || (x * y).is_multiple_of(11);
    let terrain_at = |x, y| if is_swamp(x, y) { SWAMP.0 } else { TerrainId::GROUND.0 };
    let terrain =
        (0..128).flat_map(|y| (0..128).map(move |x| (x, y))).map(|(x, y)| terrain_at(x, y));
    let level = NavGrid::from_terrain(128, 128, terrain.collect()).unwrap();
    let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(10.0));
    grid(&mut app).insert(GridId::default(), level, frame);
    app.world_mut().resource_mut::<TilePathSettings>().budget = 1_000_000;
    with_log(app)
}

fn regiment(app: &mut App) -> Vec<Entity> {
    let cells = (0..400).map(|unit| (3 + unit % 20, 3 + unit / 20));
    cells
        .map(|cell| {
            let unit = spawn_critter(app, cell);
            set_speed(app, unit, 32.0);
            unit
        })
        .collect()
}

#[test]
fn four_hundred_to_one_point_share_one_field() {
    let mut app = moor();
    let units = regiment(&mut app);
    let group = send(&mut app, group_to((105, 100), &units));
    run_until(&mut app, 50, |app| counters(app).found == 400);
    let shared = counters(&app);
    assert!(shared.by_field > 200, "only {} along the shared field", shared.by_field);
    // The same slots without a rally: an individual order for each unit.
    let mut control = moor();
    for (unit, cell) in regiment(&mut control).into_iter().zip(slots(&app, group)) {
        insert_request(&mut control, unit, PathRequest::to(cell.unwrap()));
    }
    run_until(&mut control, 200, |app| counters(app).found == 400);
    let individual = counters(&control);
    assert_eq!(individual.by_field, 0);
    assert!(
        shared.expansions * 2 < individual.expansions,
        "{} expansions shared, {} individual",
        shared.expansions,
        individual.expansions
    );
    assert_eq!(finish(&mut app, group), (400, 0));
    assert_distinct_cells(&app, &units);
    let sent: Vec<Cell> = slots(&app, group).into_iter().flatten().collect();
    let off: Vec<_> = units
        .iter()
        .zip(&sent)
        .filter(|&(&unit, &cell)| state(&app, unit).cell() != cell)
        .map(|(&unit, &cell)| (state(&app, unit).cell(), cell, status(&app, unit)))
        .collect();
    assert!(off.is_empty(), "{off:?}");
    assert!(sent.contains(&Cell::new(105, 100)));
    let is_near = |cell: &Cell| CellRect::new(Cell::new(92, 87), 27, 27).contains(*cell);
    assert!(sent.iter().all(is_near), "400 cells are 20 × 20");
}

#[test]
fn a_member_that_changes_from_a_newer_to_an_older_group_stays_in_it() {
    let mut app = open_field(40, 20);
    let units = squad(&mut app, 4, (2, 8));
    let old = send(&mut app, group_to((25, 5), &units[..2]));
    let new = send(&mut app, group_to((25, 15), &units[2..]));
    run(&mut app, 10);
    let changes = units[3];
    app.world_mut().get_mut::<Group>(new).unwrap().members.retain(|m| m.entity != changes);
    app.world_mut().get_mut::<Group>(old).unwrap().members.push(changes.into());
    run(&mut app, 10);
    assert_eq!(app.world().get::<GroupSlot>(changes).map(|slot| slot.group), Some(old));
    assert_eq!(app.world().get::<Group>(old).unwrap().members.len(), 3);
    finish(&mut app, old);
    assert_eq!(slots(&app, old).into_iter().flatten().count(), 3);
}

#[test]
fn the_slowest_member_that_can_move_sets_the_speed() {
    let mut app = open_field(30, 10);
    let units = squad(&mut app, 3, (2, 2));
    app.world_mut().entity_mut(units[0]).insert(SpeedLimit(0.0));
    send(&mut app, group_to((20, 4), &units).keep_together());
    run(&mut app, 10);
    assert!(app.world().get::<GroupSpeedLimit>(units[1]).unwrap().0 > 0.0);
}

#[test]
fn many_groups_in_a_tick_get_slots_one_after_the_other() {
    let mut app = open_field(60, 60);
    app.world_mut().resource_mut::<TilePathSettings>().budget = 2_000;
    let squads: Vec<Entity> = (0..8)
        .map(|row| {
            let units = squad(&mut app, 6, (2, 2 + 7 * row));
            send(&mut app, group_to((50, 2 + 7 * row), &units))
        })
        .collect();
    app.update();
    let placed = |app: &App| {
        squads.iter().filter(|&&group| slots(app, group).iter().any(Option::is_some)).count()
    };
    let first = placed(&app);
    assert!((1..8).contains(&first), "{first}");
    run(&mut app, 8);
    assert_eq!(placed(&app), 8);
}

#[test]
fn a_group_that_is_written_as_it_was_is_not_changed() {
    let mut app = open_field(40, 20);
    let leader = spawn_ghost(&mut app, (30, 10));
    let units = squad(&mut app, 6, (2, 2));
    let group = send(&mut app, Group::to(leader, units.iter().copied()).persistent());
    app.update();
    let first = slots(&app, group);
    let write = |app: &mut App| {
        app.world_mut().get_mut::<Group>(group).unwrap().goal = leader.into();
        app.update();
    };
    (0..400).for_each(|_| write(&mut app));
    assert_eq!(results(&app, group), [(6, 0)], "all are there, which is reported once");
    assert_eq!(set_of(&slots(&app, group)), set_of(&first));
    // Inserted again, it looks where its goal is now.
    order(&mut app, leader, (10, 15));
    run_to_end(&mut app, leader).unwrap();
    let same = app.world().get::<Group>(group).unwrap().clone();
    app.world_mut().entity_mut(group).insert(same);
    (0..400).for_each(|_| write(&mut app));
    let is_near = |cell: &Cell| cell.chebyshev(Cell::new(10, 15)) <= 3;
    assert!(cells(&app, &units).iter().all(is_near), "{:?}", cells(&app, &units));
}

fn set_of(slots: &[Option<Cell>]) -> BTreeSet<Cell> {
    slots.iter().copied().flatten().collect()
}

#[test]
fn a_large_group_that_is_changed_in_every_tick_keeps_no_other_from_its_slots() {
    let mut app = open_field(40, 40);
    let crowd: Vec<_> = (0..300).map(|at| spawn_critter(&mut app, (at % 20, at / 20))).collect();
    let few = squad(&mut app, 2, (30, 2));
    let large = send(&mut app, group_to((25, 25), &crowd));
    let small = send(&mut app, group_to((35, 5), &few));
    for tick in 0..10 {
        app.world_mut().get_mut::<Group>(large).unwrap().goal = Cell::new(20 + tick, 25).into();
        app.update();
    }
    assert!(few.iter().all(|&unit| app.world().entity(unit).contains::<GroupSlot>()));
    assert_eq!(finish(&mut app, small), (2, 0));
}

#[test]
fn those_that_keep_together_slow_down_with_the_slowest_on_their_way() {
    let mut app = open_field(60, 20);
    let units = squad(&mut app, 5, (2, 2));
    let group = send(&mut app, group_to((50, 10), &units).keep_together());
    run(&mut app, 30);
    let limit = |app: &App| app.world().get::<GroupSpeedLimit>(units[0]).map(|limit| limit.0);
    assert_eq!(limit(&app), Some(8.0));
    app.world_mut().entity_mut(units[3]).insert(SpeedLimit(2.0));
    run(&mut app, 20);
    assert_eq!(limit(&app), Some(2.0));
    app.world_mut().entity_mut(units[3]).remove::<SpeedLimit>();
    run(&mut app, 20);
    assert_eq!(limit(&app), Some(8.0));
    assert_eq!(finish(&mut app, group), (5, 0));
    assert_eq!(limit(&app), None);
}

/// Members that have exchanged slots go to their new slots, also if something else moves them afterwards.
#[test]
fn exchanged_slots_stay_when_something_else_moves_the_unit() {
    let mut app = open_field(40, 20);
    block(&mut app, CellRect::new(Cell::new(34, 0), 1, 20));
    fn walk(
        time: Res<Time>,
        mut units: Query<(&DesiredVelocity, &mut Transform), Without<Critter>>,
    ) {
        for (desired, mut transform) in &mut units {
            transform.translation += desired.extend(0.0) * time.delta_secs();
        }
    }
    app.add_systems(FixedUpdate, walk.after(TilePathSystems::Move));
    let units = squad(&mut app, 20, (2, 5));
    run(&mut app, 2);
    let group = app.world_mut().spawn(group_to((31, 9), &units)).id();
    let has_exchanged = |app: &App, unit: Entity| {
        let slot = app.world().get::<GroupSlot>(unit).map(|slot| slot.cell);
        let sent = app.world().get::<PathRequest>(unit).map(|request| request.target.clone());
        slot.zip(sent).is_some_and(|(slot, sent)| sent != Target::Cell(slot))
    };
    let mut exchanged = Vec::new();
    for _ in 0..1_000 {
        app.update();
        for &unit in &units {
            if !exchanged.contains(&unit) && has_exchanged(&app, unit) && !has_arrived(&app, unit) {
                app.world_mut().entity_mut(unit).remove::<Critter>().insert(PathSteering::new(8.0));
                exchanged.push(unit);
            }
        }
    }
    assert!(!exchanged.is_empty(), "none have exchanged their slots");
    assert!(units.iter().all(|&unit| has_arrived(&app, unit)));
    for unit in exchanged {
        let slot = slot_of(&app, group, unit).unwrap();
        let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(10.0));
        let off = position(&app, unit).distance(frame.cell_center(slot));
        assert!(off <= 3.5, "{off} from its slot");
    }
}

/// A group at rest whose shape the game changes faces as before.
#[test]
fn a_resting_group_keeps_its_facing() {
    for count in [4, 5] {
        let mut app = open_field(40, 40);
        let units = squad(&mut app, count, (18, 4));
        let group = send(&mut app, group_to((20, 25), &units).formation(Formation::Line));
        finish(&mut app, group);
        let facing = |app: &App| app.world().get::<GroupState>(group).unwrap().facing();
        let before = facing(&app);
        assert_eq!(before, Some(Direction::North));
        app.world_mut().get_mut::<Group>(group).unwrap().spacing = 1;
        finish(&mut app, group);
        assert_eq!(facing(&app), before);
        // Another goal is another way.
        app.world_mut().get_mut::<Group>(group).unwrap().goal = Cell::new(35, 25).into();
        finish(&mut app, group);
        assert_eq!(facing(&app), Some(Direction::East));
    }
}

/// A goal inside a building, or on an island: members share a search to where they gather.
#[test]
fn members_share_a_search_where_nobody_can_reach_the_goal() {
    let searches = |goal: (i32, i32)| {
        let mut app = open_field(80, 60);
        block(&mut app, CellRect::new(Cell::new(60, 40), 5, 5)); // a building
        for rect in [(70, 5, 7, 1), (70, 11, 7, 1), (70, 6, 1, 5), (76, 6, 1, 5)] {
            let (x, y, width, height) = rect;
            block(&mut app, CellRect::new(Cell::new(x, y), width, height)); // and a closed yard
        }
        let units = squad(&mut app, 60, (2, 5));
        run(&mut app, 2);
        let before = counters(&app).expansions;
        let group = send(&mut app, group_to(goal, &units));
        run(&mut app, 30);
        let spent = counters(&app).expansions - before;
        assert_eq!(finish(&mut app, group), (60, 0));
        spent
    };
    let open = searches((60, 30));
    for goal in [(62, 42), (73, 8)] {
        let spent = searches(goal);
        assert!(spent <= 3 * open, "{spent} expansions to {goal:?}, {open} to an open cell");
    }
}

#[test]
fn each_order_that_cannot_be_given_is_refused() {
    let mut app = open_field(20, 20);
    let units = squad(&mut app, 3, (2, 2));
    run(&mut app, 2);
    let group = send(&mut app, group_to((50, 5), &units));
    assert_eq!(finish(&mut app, group), (0, 3));
    app.world_mut().get_mut::<Group>(group).unwrap().goal = Cell::new(60, 5).into();
    assert_eq!(finish(&mut app, group), (0, 3));
    let off = |x| PathFailure::GoalOutOfBounds(Cell::new(x, 5));
    assert_eq!(refusals(&app, units[0]), [off(50), off(60)]);
}

/// On the way a member grows: it gets a slot where it fits.
#[test]
fn a_member_that_grows_on_the_way_gets_another_slot() {
    let mut app = open_field(60, 30);
    let units = squad(&mut app, 9, (2, 10));
    run(&mut app, 2);
    let group = send(&mut app, group_to((45, 15), &units));
    run(&mut app, 60);
    app.world_mut().entity_mut(units[4]).insert(NavAgent::new(ProfileId(2)));
    assert_eq!(finish(&mut app, group), (9, 0));
    let large = CellRect::new(state(&app, units[4]).cell(), 3, 3);
    assert_eq!(slot_of(&app, group, units[4]), Some(large.min));
    for &unit in units.iter().filter(|&&unit| unit != units[4]) {
        assert!(!large.contains(state(&app, unit).cell()), "on the cells of the large one");
    }
}

/// Of a rectangle only the part on the grid counts.
#[test]
fn a_rectangle_partly_off_the_grid_is_a_goal() {
    let mut app = open_field(30, 20);
    let units = squad(&mut app, 4, (20, 10));
    run(&mut app, 2);
    let goal = CellRect::new(Cell::new(-20, 5), 30, 3);
    let group = send(&mut app, Group::to(goal, units.iter().copied()).persistent());
    assert_eq!(finish(&mut app, group), (4, 0));
    assert!(cells(&app, &units).iter().all(|cell| cell.chebyshev(Cell::new(4, 6)) <= 2));
}
