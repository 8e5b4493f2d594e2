//! Groups sent everywhere: to all borders and corners, of all sizes, in all formations: all of them arrive.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

mod common;
#[allow(dead_code, reason = "a checker of its own")]
mod crowd_common;
#[path = "crowd_common/watch.rs"]
mod watch;

use common::{Random, app::*, units::*};
use watch::*;

/// Columns and rows of the field.
const SIDE: i32 = 40;

const FORMATIONS: [Formation; 3] = [Formation::Loose, Formation::Line, Formation::Wedge];

/// A group of units of `size` × `size` cells on an open field, sent to a goal.
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
            put(&mut app, Critter::new(8.0), at)
        })
        .collect();
    run(&mut app, 2);
    app.world_mut().spawn(Group::to(goal, units.clone()).formation(formation));
    (app, units)
}

/// Why a group has not come to rest; `None` if it has.
fn late(app: &mut App, units: &[Entity], most: u32) -> Option<String> {
    let mut watch = Watch::new();
    let is_done = |app: &App, unit: Entity| {
        matches!(status(app, unit), PathStatus::Arrived(_) | PathStatus::Failed(_))
    };
    for _ in 0..most {
        if units.iter().all(|&unit| is_done(app, unit)) {
            watch.run(app, 520); // members that were pushed aside come back
            let places = units.iter().map(|&unit| app.world().get::<GroupPlace>(unit));
            let places = places.map(|place| place.map(|place| place.cell));
            let away: Vec<_> = places
                .zip(units)
                .filter(|&(place, &unit)| place != Some(cell(app, unit)))
                .collect();
            return (!away.is_empty()).then(|| format!("away: {away:?}"));
        }
        watch.tick(app);
    }
    let left = units.iter().filter(|&&unit| !is_done(app, unit));
    let left: Vec<String> = left
        .map(|&unit| {
            let place = app.world().get::<GroupPlace>(unit).map(|place| place.cell);
            format!("{} to {place:?} {:?}", cell(app, unit), status(app, unit))
        })
        .collect();
    Some(left.join(", "))
}

fn goals(size: i32) -> Vec<Cell> {
    let (low, high, middle) = (0, SIDE - size, SIDE / 2);
    [low, middle, high]
        .into_iter()
        .flat_map(|y| [low, middle, high].map(|x| Cell::new(x, y)))
        .collect()
}

/// All groups of units of one size; those that do not come to rest.
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
fn groups_whose_places_overlap_come_to_rest() {
    for seed in 1..=4 {
        let mut random = Random(seed);
        let mut app = app_with(&field(60, 60));
        let mut all = Vec::new();
        for i in 0..12 {
            let from = (2 + 15 * (i % 4), 2 + 18 * (i / 4));
            let units: Vec<Entity> = (0..12)
                .map(|j| put(&mut app, Critter::new(8.0), (from.0 + j % 4, from.1 + j / 4)))
                .collect();
            let goal = Cell::new(25 + random.below(10) as i32, 25 + random.below(10) as i32);
            app.world_mut().spawn(Group::to(goal, units.clone()));
            all.extend(units);
        }
        run(&mut app, 2_500);
        let steps = crowd_counters(&app).steps;
        run(&mut app, 400);
        assert_eq!(crowd_counters(&app).steps, steps, "seed {seed}: nobody walks any more");
        assert!(all.iter().all(|&unit| has_arrived(&app, unit)));
    }
}
