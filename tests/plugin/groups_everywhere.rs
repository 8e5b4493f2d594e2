//! Groups sent to all borders and corners, of all sizes, in several formations: all of them arrive.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{Random, app::*, units::*};
use crate::watch::*;

/// Columns and rows of the field.
const SIDE: i32 = 40;

const FORMATIONS: [Formation; 3] = [Formation::Loose, Formation::Line, Formation::Wedge];

/// Returns a group of units of `size` × `size` cells on an open field, sent to a goal.
fn group_of(
    size: u8,
    count: i32,
    from: (i32, i32),
    goal: Cell,
    formation: Formation,
) -> (App, Vec<Entity>) {
    let mut app = app_with(&field(SIDE as usize, SIDE as usize));
    grid(&mut app).set_profiles(vec![Profile::default().size(size)]);
    let size = i32::from(size);
    let side = (1..).find(|side| side * side >= count).unwrap();
    let units: Vec<Entity> = (0..count)
        .map(|i| {
            let at = (from.0 + i % side * size, from.1 + i / side * size);
            spawn_at(&mut app, Critter::new(8.0), at)
        })
        .collect();
    run(&mut app, 2);
    app.world_mut().spawn(Group::to(goal, units.clone()).persistent().formation(formation));
    (app, units)
}

/// Returns the members that do not come to rest on their slots within `most` ticks, with their statuses;
/// `None` if all of them do. Members that were pushed aside have some time to return.
fn late(app: &mut App, units: &[Entity], most: u32) -> Option<String> {
    let mut watch = Watch::new();
    let slot = |app: &App, unit| app.world().get::<GroupSlot>(unit).map(|slot| slot.cell);
    let is_on_slot =
        |app: &App, unit| has_arrived(app, unit) && slot(app, unit) == Some(cell(app, unit));
    for _ in 0..most {
        if units.iter().all(|&unit| is_on_slot(app, unit)) {
            return None;
        }
        watch.tick(app);
    }
    let away = units.iter().filter(|&&unit| !is_on_slot(app, unit));
    let away = away.map(|&unit| {
        format!("{} to {:?} {:?}", cell(app, unit), slot(app, unit), status(app, unit))
    });
    Some(away.collect::<Vec<_>>().join(", "))
}

fn goals(size: i32) -> Vec<Cell> {
    let (low, high, middle) = (0, SIDE - size, SIDE / 2);
    [low, middle, high]
        .into_iter()
        .flat_map(|y| [low, middle, high].map(|x| Cell::new(x, y)))
        .collect()
}

/// Runs groups of units of one size; returns the groups that do not come to rest.
fn all_of_size(size: u8) -> Vec<String> {
    let mut jams = Vec::new();
    let mut number = 0;
    for formation in FORMATIONS {
        for (at, goal) in goals(i32::from(size)).into_iter().enumerate() {
            let mut random = Random(number);
            for _ in 0..if at == 4 { 6 } else { 3 } {
                number += 1;
                let count = 3 + random.below(13) as i32;
                let side = (1..).find(|side: &i32| side * side >= count).unwrap() * i32::from(size);
                let room = (SIDE - side) as u32;
                let from = (random.below(room + 1) as i32, random.below(room + 1) as i32);
                let (mut app, units) = group_of(size, count, from, goal, formation);
                if let Some(text) = late(&mut app, &units, 6_000) {
                    jams.push(format!(
                        "{number}: {count} from {from:?} to {goal} {formation:?}: {text}"
                    ));
                }
            }
        }
    }
    println!("{number} groups of size {size}: {} jams", jams.len());
    jams
}

#[test]
fn groups_of_one_cell_come_to_rest_everywhere() {
    assert_eq!(all_of_size(1), Vec::<String>::new());
}

#[test]
fn groups_of_two_cells_a_side_come_to_rest_everywhere() {
    assert_eq!(all_of_size(2), Vec::<String>::new());
}

#[test]
fn groups_of_three_cells_a_side_come_to_rest_everywhere() {
    assert_eq!(all_of_size(3), Vec::<String>::new());
}

#[test]
fn groups_of_four_cells_a_side_come_to_rest_everywhere() {
    assert_eq!(all_of_size(4), Vec::<String>::new());
}

#[test]
fn four_large_units_gather_in_the_middle_of_an_open_field() {
    for formation in FORMATIONS {
        let (mut app, units) = group_of(3, 4, (2, 2), Cell::new(20, 20), formation);
        assert_eq!(late(&mut app, &units, 3_000), None, "{formation:?}");
    }
}

#[test]
fn groups_whose_slots_overlap_come_to_rest() {
    for seed in 1..=4 {
        let mut random = Random(seed);
        let mut app = app_with(&field(60, 60));
        let mut all = Vec::new();
        for i in 0..12 {
            let from = (2 + 15 * (i % 4), 2 + 18 * (i / 4));
            let units: Vec<Entity> = (0..12)
                .map(|j| spawn_at(&mut app, Critter::new(8.0), (from.0 + j % 4, from.1 + j / 4)))
                .collect();
            let goal = Cell::new(25 + random.below(10) as i32, 25 + random.below(10) as i32);
            app.world_mut().spawn(Group::to(goal, units.clone()).persistent());
            all.extend(units);
        }
        run(&mut app, 2_500);
        let steps = crowd_counters(&app).steps;
        run(&mut app, 400);
        assert_eq!(crowd_counters(&app).steps, steps, "seed {seed}: all units stand still");
        assert!(all.iter().all(|&unit| has_arrived(&app, unit)));
    }
}

/// Somebody stands on its slot for good, and a door far away goes up and down all the time.
#[test]
fn a_member_that_cannot_get_to_its_slot_comes_to_rest_while_the_map_is_edited() {
    let mut app = app_with(&field(60, 60));
    app.add_systems(FixedPreUpdate, toggle_door);
    let goal = Cell::new(30, 30);
    let guard = spawn_at(&mut app, Critter::new(8.0), (30, 30));
    app.world_mut().entity_mut(guard).insert(Unpushable);
    let unit = spawn_at(&mut app, Critter::new(8.0), (10, 30));
    app.world_mut().spawn(Group::to(goal, [unit]).persistent());
    run_until(&mut app, 1_500, |app| has_arrived(app, unit));
    assert_eq!(cell(&app, unit).chebyshev(goal), 1);
}

fn toggle_door(mut grids: ResMut<NavGrids>) {
    let door = CellRect::single(Cell::new(59, 59));
    let level = grids.get_mut(GridId::default()).unwrap();
    let is_shut = level.blockers(door.min) > 0;
    if is_shut { level.unblock(door) } else { level.block(door) }.unwrap();
}
