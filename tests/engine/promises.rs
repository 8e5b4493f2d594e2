//! Guarantees of the documentation of `nav::crowd` under misuse: a test for each guarantee that was once
//! broken.

use std::collections::BTreeSet;

use bevy_tilepath::{
    nav::{
        crowd::{
            Crowd, CrowdError, CrowdEvent, Guidance, Hindrance, Membership, RouteId, UnitId,
            UnitSettings,
        },
        walk::PROGRESS_PER_COST,
    },
    prelude::*,
};

use crate::checked_crowd::{CheckedCrowd, UNIT, pick};
use crate::common::Random;
use crate::crowd_common::Checker;

fn open(width: u32, height: u32) -> NavGrid {
    NavGrid::new(width, height, TerrainId::GROUND).unwrap()
}

/// Adds `count` walls of one cell at random cells.
fn with_single_walls(mut grid: NavGrid, count: u32, random: &mut Random) -> NavGrid {
    for _ in 0..count {
        let at = Cell::new(pick(random, grid.width()), pick(random, grid.height()));
        grid.block(CellRect::single(at)).unwrap();
    }
    grid
}

/// Returns settings for a speed in thousandths of a cell per tick.
fn at_speed(thousandths: u64) -> UnitSettings {
    let speed = PathCost::PLAIN_STEP.0 * PROGRESS_PER_COST * thousandths / 1_000;
    UnitSettings { speed, ..UnitSettings::default() }
}

#[test]
fn discs_stay_apart_between_ticks_at_every_speed() {
    for (speed, seeds) in
        [(120, 2), (370, 3), (500, 12), (620, 8), (800, 8), (1_000, 8), (3_000, 4)]
    {
        for seed in 1..=seeds {
            let mut random = Random(seed);
            let grid = with_single_walls(open(40, 24), 30, &mut random);
            let mut checked = CheckedCrowd::new(grid);
            while checked.units.len() < 90 {
                let at = Cell::new(pick(&mut random, 40), pick(&mut random, 24));
                // Every third unit has another speed.
                let other = if checked.units.len().is_multiple_of(3) {
                    130 * (checked.units.len() as u64 % 7)
                } else {
                    0
                };
                checked.add(at, at_speed(speed - other.min(speed / 2)));
            }
            for _ in 0..600 {
                for _ in 0..2 {
                    let unit = checked.units[random.below(90) as usize].1;
                    checked.send(unit, Cell::new(pick(&mut random, 40), pick(&mut random, 24)));
                }
                checked.tick();
            }
        }
    }
}

/// A unit that walks straight is drawn up to 0.55 cells off its step, but only where that leaves 0.9 cells between it and
/// another one that is off its step as well. All others stay 0.707 cells apart.
#[test]
fn units_drawn_off_their_steps_stay_apart() {
    let mut random = Random(7);
    let mut checked = CheckedCrowd::new(open(60, 40));
    for number in 0..16 {
        let cell = Cell::new(pick(&mut random, 60), pick(&mut random, 40));
        checked.add(cell, at_speed(30 + 60 * number)); // the fastest is 31 times as fast as the slowest
    }
    let place = |checked: &CheckedCrowd, unit: UnitId| {
        let (tail, head) = checked.crowd.position(&checked.grid, unit).unwrap();
        let (done, needed) = checked.crowd.progress(unit);
        let share = done as f64 / needed as f64;
        let between = |from: f64, to: f64| from + (to - from) * share;
        let [from, to] = checked.crowd.line_offsets(unit).unwrap_or_default();
        let off = (
            between(f64::from(from.0), f64::from(to.0)) / 100.0,
            between(f64::from(from.1), f64::from(to.1)) / 100.0,
        );
        let at = (
            between(f64::from(tail.x), f64::from(head.x)) + off.0,
            between(f64::from(tail.y), f64::from(head.y)) + off.1,
        );
        (at, off.0.hypot(off.1))
    };
    let (mut far_off, mut near) = (0, 0);
    for tick in 0..20_000 {
        if tick % 20 == 0 {
            let at = random.below(checked.units.len() as u32) as usize;
            let unit = checked.units[at].1;
            checked.send(unit, Cell::new(pick(&mut random, 60), pick(&mut random, 40)));
        }
        checked.tick();
        let places: Vec<_> = checked.units.iter().map(|&(_, unit)| place(&checked, unit)).collect();
        for (at, &(a, off_a)) in places.iter().enumerate() {
            assert!(off_a <= 0.55 + 1e-9, "{off_a} cells off its step in tick {tick}");
            far_off += u32::from(off_a > 0.4);
            for &(b, off_b) in &places[at + 1..] {
                let apart = (a.0 - b.0).hypot(a.1 - b.1);
                let least = if off_a > 0.0 && off_b > 0.0 { 0.9 } else { 0.5_f64.sqrt() };
                assert!(
                    apart >= least - 1e-9,
                    "{apart} cells apart in tick {tick}: {off_a}, {off_b}"
                );
                near += u32::from(off_a + off_b > 0.2 && apart < 3.0);
            }
        }
    }
    assert!(far_off > 1_000 && near > 20, "{far_off} far off their steps, {near} near another");
}

#[test]
fn units_that_never_had_an_order_let_others_pass() {
    // Behind the idle unit there is room, then there is none.
    for (width, passes) in [(12, true), (10, false)] {
        let mut world = CheckedCrowd::new(open(width, 1));
        let walker = world.add(Cell::new(5, 0), at_speed(1_000)).unwrap();
        let idle = world.add(Cell::new(9, 0), at_speed(1_000)).unwrap();
        assert!(world.send(walker, Cell::new(9, 0)));
        (0..2_000).for_each(|_| world.tick());
        let at = |unit| world.crowd.position(&world.grid, unit).unwrap().0.x;
        assert_eq!(world.arrived.contains(&walker), passes, "{width}");
        assert_eq!(at(idle) > 9, passes, "{width}: it goes ahead if it can");
        assert!(!passes || at(walker) == 9, "{width}");
    }
}

#[test]
fn removed_units_never_reappear() {
    for seed in 1..=20 {
        let mut random = Random(seed);
        let mut checked = CheckedCrowd::new(with_single_walls(open(16, 16), 20, &mut random));
        for _ in 0..400 {
            while checked.units.len() < 60 {
                let at = Cell::new(pick(&mut random, 16), pick(&mut random, 16));
                checked.add(at, UnitSettings::default());
            }
            let at = random.below(checked.units.len() as u32) as usize;
            let goal = Cell::new(pick(&mut random, 16), pick(&mut random, 16));
            checked.send(checked.units[at].1, goal);
            for _ in 0..random.below(4) {
                if !checked.units.is_empty() {
                    checked.remove(random.below(checked.units.len() as u32) as usize);
                }
            }
            checked.tick();
            let mut own: Vec<UnitId> = checked.units.iter().map(|&(_, unit)| unit).collect();
            own.sort_unstable_by_key(|unit| unit.index());
            assert_eq!(checked.crowd.units().collect::<Vec<_>>(), own, "seed {seed}");
            assert_eq!(checked.crowd.len(), own.len());
        }
    }
}

#[test]
fn every_call_refuses_a_grid_of_another_size() {
    let (small, large) = (open(10, 10), open(30, 30));
    let mut crowd = Crowd::new(&small);
    let unit = crowd.add(&small, Cell::new(2, 2), UnitSettings::default()).unwrap();
    assert_eq!(crowd.holder(&large, Cell::new(25, 25)), None);
    let path = large.find_path(UNIT, Cell::new(2, 2), Cell::new(25, 25)).unwrap();
    assert_eq!(crowd.follow(&large, unit, &path), Err(CrowdError::OtherGrid));
    assert_eq!(crowd.extend_path(&large, unit, &path), Err(CrowdError::OtherGrid));
    let member =
        Membership { swap_class: 0, slot: Cell::new(9, 9), goal: Cell::new(9, 9), route: None };
    let joined = crowd.follow_among(&large, unit, &path, &member);
    assert_eq!(joined, Err(CrowdError::OtherGrid));
    assert_eq!(crowd.teleport(&large, unit, Cell::new(3, 3)), Err(CrowdError::OtherGrid));
    assert_eq!(crowd.nearest_free_cell(&large, (Cell::new(25, 25), UNIT), None, 3), None);
    for _ in 0..100 {
        crowd.tick(&small, &());
        crowd.tick(&large, &());
    }
    assert_eq!(crowd.position(&small, unit), Some((Cell::new(2, 2), Cell::new(2, 2))));
}

#[test]
fn a_path_that_leaves_the_grid_is_refused() {
    // From another grid of the same size with another origin.
    let here = open(10, 10);
    let there = open(10, 10).with_origin(Cell::new(5, 0));
    let mut crowd = Crowd::new(&here);
    let unit = crowd.add(&here, Cell::new(6, 2), UnitSettings::default()).unwrap();
    let path = there.find_path(UNIT, Cell::new(6, 2), Cell::new(14, 2)).unwrap();
    assert_eq!(crowd.follow(&here, unit, &path), Err(CrowdError::Impassable(Cell::new(14, 2))));
}

/// Returns streets two cells wide around blocks of random sizes, some of them closed.
fn streets(seed: u64) -> NavGrid {
    let mut random = Random(seed);
    let (columns, rows) = (3 + random.below(5), 2 + random.below(5));
    let street_starts = |count: u32, random: &mut Random| {
        let mut at = vec![0];
        for _ in 0..count {
            let block = 1 + random.below(5);
            at.push(at[at.len() - 1] + 2 + block);
        }
        at
    };
    let (xs, ys) = (street_starts(columns, &mut random), street_starts(rows, &mut random));
    let (width, height) = (xs[xs.len() - 1] + 2, ys[ys.len() - 1] + 2);
    let mut terrain = vec![TerrainId::GROUND.0; (width * height) as usize];
    for x in xs.windows(2) {
        for y in ys.windows(2) {
            for row in y[0] + 2..y[1] {
                for column in x[0] + 2..x[1] {
                    terrain[(row * width + column) as usize] = TerrainId::VOID.0;
                }
            }
            // The street beside the block may be closed as well.
            if random.below(6) == 0 {
                for row in y[0] + 2..y[1] {
                    for column in x[0]..x[0] + 2 {
                        terrain[(row * width + column) as usize] = TerrainId::VOID.0;
                    }
                }
            }
        }
    }
    NavGrid::from_terrain(width, height, terrain).unwrap()
}

/// Returns the ticks until all of `count` units have arrived once; `None` if some have not after `most`.
fn through_streets(grid: NavGrid, seed: u64, count: usize, most: u64) -> Option<u64> {
    let mut random = Random(seed ^ 0xabcd);
    let mut checked = CheckedCrowd::new(grid);
    let (width, height) = (checked.grid.width(), checked.grid.height());
    let mut tries = 0;
    while checked.units.len() < count && tries < 10_000 {
        tries += 1;
        let at = Cell::new(pick(&mut random, width), pick(&mut random, height));
        checked.add(at, UnitSettings::default());
    }
    let mut goals = BTreeSet::new();
    for (_, unit) in checked.units.clone() {
        for _ in 0..200 {
            let goal = Cell::new(pick(&mut random, width), pick(&mut random, height));
            if !goals.contains(&goal) && checked.send(unit, goal) {
                goals.insert(goal);
                break;
            }
        }
    }
    let counts = (checked.units.len(), goals.len());
    assert_eq!(counts, (count, count), "seed {seed}: all are on their way");
    checked.tick_until_arrived(goals.len(), most)
}

#[test]
fn all_units_get_through_streets_two_cells_wide() {
    let mut late = Vec::new();
    for seed in 1..=300 {
        let grid = streets(seed);
        let free = grid.rect().cells().filter(|&cell| grid.cost(UNIT, cell) > 0).count();
        let count = (4 + seed as usize * 7 % 37).min(free / 4);
        if through_streets(grid, seed, count, 20_000).is_none() {
            late.push((seed, count));
        }
    }
    assert_eq!(late, [], "seeds and units");
}

/// Returns a lattice of streets two cells wide, six cells apart.
fn lattice() -> NavGrid {
    let mut grid = open(26, 26);
    for cell in grid.rect().cells() {
        if cell.x % 6 > 1 && cell.y % 6 > 1 {
            grid.block(CellRect::single(cell)).unwrap();
        }
    }
    grid
}

#[test]
fn four_units_get_through_a_lattice_of_streets() {
    let is_late = |seed: &u64| through_streets(lattice(), *seed, 4, 5_000).is_none();
    assert_eq!((1..=2_000).filter(is_late).collect::<Vec<_>>(), []);
}

#[test]
fn units_do_not_make_room_for_each_other_forever() {
    assert!(through_streets(lattice(), 8_019, 4, 20_000).is_some());
}

/// A wrong field: of two adjacent cells, each has the direction to the other one.
struct CircularField;

impl Guidance for CircularField {
    fn cost(&self, _: &NavGrid, _: RouteId, _: Cell) -> Option<PathCost> {
        Some(PathCost(100 * PathCost::PLAIN_STEP.0))
    }

    fn costs_around(&self, _: &NavGrid, _: RouteId, cell: Cell) -> [u64; 9] {
        let mut costs = [100 * PathCost::PLAIN_STEP.0; 9];
        let nearer = if cell.x % 2 == 0 { Direction::East } else { Direction::West };
        costs[nearer as usize] -= PathCost::PLAIN_STEP.0;
        costs
    }
}

#[test]
fn a_unit_that_walks_in_circles_is_reported_after_a_bounded_time() {
    let mut grid = open(40, 12);
    let mut crowd = Crowd::new(&grid);
    let add = |x| crowd.add(&grid, Cell::new(x, 5), UnitSettings::default()).unwrap();
    let units: Vec<UnitId> = [2, 6, 8].map(add).to_vec();
    for &unit in &units {
        crowd.follow_route(unit, RouteId(0)).unwrap();
    }
    let mut reported = BTreeSet::new();
    for tick in 0..40_000 {
        // A door opens and shuts far away.
        match tick % 300 {
            0 => grid.block(CellRect::single(Cell::new(39, 0))).unwrap(),
            150 => grid.unblock(CellRect::single(Cell::new(39, 0))).unwrap(),
            _ => {}
        }
        crowd.tick(&grid, &CircularField);
        for event in crowd.events() {
            if let CrowdEvent::Stuck { unit, why } = *event {
                assert_eq!((why, crowd.hindrance(unit).0), (Hindrance::Circling, why));
                reported.insert(unit);
            }
        }
    }
    assert_eq!(reported.into_iter().collect::<Vec<_>>(), units);
    assert!(crowd.counters().pauses > 30, "{:?}", crowd.counters());
}

#[test]
fn memory_does_not_grow_with_time() {
    let mut random = Random(5);
    let grid = with_single_walls(open(40, 40), 200, &mut random);
    let mut checked = CheckedCrowd::new(grid);
    while checked.units.len() < 150 {
        let at = Cell::new(pick(&mut random, 40), pick(&mut random, 40));
        checked.add(
            at,
            UnitSettings {
                is_pushable: !checked.next_id.is_multiple_of(9),
                ..UnitSettings::default()
            },
        );
    }
    let mut bytes = Vec::new();
    for tick in 0..12_000 {
        let unit = checked.units[random.below(150) as usize].1;
        checked.send(unit, Cell::new(pick(&mut random, 40), pick(&mut random, 40)));
        checked.tick();
        if tick % 3_000 == 2_999 {
            bytes.push(checked.crowd.bytes());
        }
    }
    // A field of 25 × 25 cells takes 5,000 bytes; fewer than one unit in ten has one.
    let (least, most) = (*bytes.iter().min().unwrap(), *bytes.iter().max().unwrap());
    assert!(most - least < 15 * 5_000, "{bytes:?}");
}

#[test]
fn units_moved_far_off_their_paths_still_arrive() {
    let mut checked = CheckedCrowd::new(open(220, 44));
    let units: Vec<UnitId> = (0..40)
        .map(|row| checked.add(Cell::new(1, row + 1), UnitSettings::default()).unwrap())
        .collect();
    for (&unit, row) in units.iter().zip(1..) {
        assert!(checked.send(unit, Cell::new(60, row)));
    }
    (0..25).for_each(|_| checked.tick());
    // More units than may search for their path in one tick, and farther away than their local field reaches.
    for (&unit, row) in units.iter().zip(1..) {
        checked.crowd.teleport(&checked.grid, unit, Cell::new(215, row)).unwrap();
    }
    checked.checker = Checker::new();
    for _ in 0..4_000 {
        checked.tick();
        let events = checked.crowd.events().to_vec();
        for event in events {
            if let CrowdEvent::Lost { unit } = event {
                let row = units.iter().position(|&other| other == unit).unwrap() as i32 + 1;
                assert!(checked.send(unit, Cell::new(60, row)));
            }
        }
    }
    assert_eq!(checked.arrived.len(), units.len());
}

#[test]
fn units_whose_profile_was_removed_wait_until_it_is_back() {
    let mut checked = CheckedCrowd::new(open(30, 30));
    let both = vec![Profile::default(), Profile::default()];
    checked.grid.set_profiles(both.clone());
    let settings = UnitSettings { profile: ProfileId(1), ..UnitSettings::default() };
    let unit = checked.add(Cell::new(2, 2), settings).unwrap();
    assert!(checked.send(unit, Cell::new(25, 20)));
    (0..35).for_each(|_| checked.tick());
    checked.grid.set_profiles(vec![Profile::default()]);
    (0..100).for_each(|_| checked.crowd.tick(&checked.grid, &()));
    checked.grid.set_profiles(both);
    (0..600).for_each(|_| checked.tick());
    assert!(checked.arrived.contains(&unit));
}

/// Through an alley, units come from one side without end. Those on the other side get their turn.
#[test]
fn a_stream_through_an_alley_does_not_keep_the_other_side_waiting() {
    for profile in [UNIT, ProfileId(1)] {
        stream_through_an_alley(profile);
    }
}

/// Through an alley, units come from one side without end; those on the other side have a profile, of the same size.
fn stream_through_an_alley(profile: ProfileId) {
    let mut grid = open(60, 15).with_profiles(vec![Profile::default(); 2]);
    for y in [0, 8] {
        grid.block(CellRect::new(Cell::new(20, y), 20, 7)).unwrap();
    }
    let mut crowd = Crowd::new(&grid);
    let send = |crowd: &mut Crowd, profile, from: Cell, to: Cell| {
        let settings = UnitSettings { profile, ..UnitSettings::default() };
        let unit = crowd.add(&grid, from, settings).ok()?;
        let path = grid.find_path(profile, from, to).unwrap();
        crowd.follow(&grid, unit, &path).unwrap();
        Some(unit)
    };
    let (mut against, mut passed) = (Vec::new(), 0);
    for tick in 0..2_600 {
        if tick % 10 == 0 {
            let from = Cell::new(0, tick / 10 % 15);
            send(&mut crowd, UNIT, from, Cell::new(59, 14 - from.y));
        }
        if tick >= 1_000 && against.len() < 5 {
            let from = Cell::new(59, against.len() as i32 + 5);
            against.extend(send(&mut crowd, profile, from, Cell::new(0, from.y)));
        }
        crowd.tick(&grid, &());
        // Those that have arrived leave.
        let arrived = crowd.events().iter().filter_map(|event| match event {
            CrowdEvent::Arrived { unit, .. } => Some(*unit),
            _ => None,
        });
        for unit in arrived.collect::<Vec<UnitId>>() {
            crowd.remove(unit);
            passed += usize::from(against.contains(&unit));
        }
    }
    assert_eq!(passed, 5, "of 5 units of {profile:?} on the other side");
}

/// A profile changes its size and changes back between two ticks: a unit that was added in between has the present size.
#[test]
fn a_size_that_changes_back_between_two_ticks_counts() {
    let size = |cells| vec![Profile::default().size(cells)];
    let mut grid = open(16, 16).with_profiles(size(1));
    let mut crowd = Crowd::new(&grid);
    crowd.tick(&grid, &());
    grid.set_profiles(size(5));
    let start = Cell::new(2, 2);
    let unit = crowd.add(&grid, start, UnitSettings::default()).unwrap();
    grid.set_profiles(size(1));
    crowd.tick(&grid, &());
    assert_eq!(crowd.size(unit), Some(1));
    let path = grid.find_path(UNIT, start, Cell::new(15, 15)).unwrap();
    crowd.follow(&grid, unit, &path).unwrap();
    for _ in 0..400 {
        crowd.tick(&grid, &());
    }
    assert_eq!(crowd.position(&grid, unit), Some((path.end(), path.end())));
}

/// What costs on uniform ground change to counts for the rest of a path as well.
#[test]
fn a_path_over_ground_that_gets_costlier_is_walked_on() {
    let mut grid = open(40, 9);
    let mut crowd = Crowd::new(&grid);
    let unit = crowd.add(&grid, Cell::new(0, 4), UnitSettings::default()).unwrap();
    let guard = UnitSettings { is_pushable: false, ..UnitSettings::default() };
    for y in 3..6 {
        crowd.add(&grid, Cell::new(20, y), guard).unwrap();
    }
    let path = grid.find_path(UNIT, Cell::new(0, 4), Cell::new(39, 4)).unwrap();
    crowd.follow(&grid, unit, &path).unwrap();
    for _ in 0..100 {
        crowd.tick(&grid, &());
    }
    let snow = Profile::new().with(TerrainId::GROUND, 6 * Profile::PLAIN_COST);
    grid.set_profiles(vec![snow]);
    for _ in 0..4_000 {
        crowd.tick(&grid, &());
    }
    assert_eq!(crowd.position(&grid, unit), Some((path.end(), path.end())));
}

/// A road through a forest begins at a gate between rocks. Scouts may enter the forest, so only the gate is narrow for them.
/// Wagons keep to the road, so all of it is an alley for them. The scouts' gate must not let wagons in against oncoming ones.
#[test]
fn an_alley_of_one_profile_may_be_a_gate_of_another() {
    let (forest, scout, wagon) = (TerrainId(2), UNIT, ProfileId(1));
    let road = Profile::new().with(TerrainId::GROUND, Profile::PLAIN_COST);
    let mut grid = open(60, 15);
    for cell in CellRect::new(Cell::new(20, 0), 20, 15).cells().filter(|cell| cell.y != 7) {
        let is_rock = (cell.x == 20 || cell.x == 39) && cell.y.abs_diff(7) == 1;
        grid.set_terrain(cell, if is_rock { TerrainId::VOID } else { forest }).unwrap();
    }
    grid.set_profiles(vec![road.clone().with(forest, Profile::PLAIN_COST), road]);
    let ticks = [false, true].map(|is_known| {
        let mut crowd = Crowd::new(&grid);
        let mut send = |profile, from: Cell, to: Cell| {
            let settings = UnitSettings { profile, ..UnitSettings::default() };
            let unit = crowd.add(&grid, from, settings).unwrap();
            crowd.follow(&grid, unit, &grid.find_path(profile, from, to).unwrap()).unwrap();
        };
        if is_known {
            send(scout, Cell::new(17, 7), Cell::new(43, 7));
        }
        for y in 3..12 {
            send(wagon, Cell::new(2, y), Cell::new(57, y));
            send(wagon, Cell::new(57, y), Cell::new(2, y));
        }
        let mut arrived = 0;
        (1..10_000).find(|_| {
            crowd.tick(&grid, &());
            let has_arrived = |event: &&CrowdEvent| matches!(event, CrowdEvent::Arrived { .. });
            arrived += crowd.events().iter().filter(has_arrived).count();
            arrived >= 18 + usize::from(is_known)
        })
    });
    let [alone, known] = ticks.map(|ticks| ticks.expect("not all have arrived"));
    assert!(known < alone + alone / 4, "{known} ticks, {alone} without the scout");
}
