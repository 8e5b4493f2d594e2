//! Units that are removed in the middle of a step, units that are added under walls, and passages longer than any that is
//! controlled.

use bevy_tilepath::{
    nav::crowd::{Crowd, CrowdEvent, UnitId, UnitSettings},
    prelude::*,
};

fn settings(ticks_per_cell: u32) -> UnitSettings {
    UnitSettings::default().ticks_per_cell(ticks_per_cell)
}

fn send(crowd: &mut Crowd, grid: &NavGrid, ticks_per_cell: u32, from: Cell, to: Cell) -> UnitId {
    let unit = crowd.add(grid, from, settings(ticks_per_cell)).unwrap();
    let path = grid.find_path(ProfileId(0), from, to).unwrap();
    crowd.follow(grid, unit, &path).unwrap();
    unit
}

fn has_arrived(crowd: &Crowd, who: UnitId) -> bool {
    let arrivals = crowd.events().iter();
    arrivals.clone().any(|event| matches!(event, CrowdEvent::Arrived { unit, .. } if *unit == who))
}

#[test]
fn a_fast_unit_is_not_bound_to_the_step_of_one_that_is_a_thousand_times_slower() {
    for topology in [Topology::Square, Topology::Hexagonal] {
        let grid = NavGrid::new(30, 9, TerrainId::GROUND).unwrap().with_topology(topology);
        let mut crowd = Crowd::new(&grid);
        let slow = send(&mut crowd, &grid, 8_000, Cell::new(10, 4), Cell::new(25, 4));
        crowd.tick(&grid, &());
        let fast = send(&mut crowd, &grid, 8, Cell::new(5, 4), Cell::new(20, 4));
        for _ in 0..60 {
            crowd.tick(&grid, &());
        }
        assert!(crowd.remove(slow));
        let arrival = (0..400).find(|_| {
            crowd.tick(&grid, &());
            has_arrived(&crowd, fast)
        });
        assert!(arrival.is_some(), "{topology:?}: at {:?}", crowd.position(&grid, fast));
    }
}

#[test]
fn a_fast_unit_that_pushes_a_slow_one_is_not_bound_to_its_step() {
    // In an alley, where it has to push; also after a long wait, when it looks for chains.
    for waits in [0, 60] {
        let grid = NavGrid::new(12, 1, TerrainId::GROUND).unwrap();
        let mut crowd = Crowd::new(&grid);
        let slow = crowd.add(&grid, Cell::new(5, 0), settings(4_000)).unwrap();
        let fast = send(&mut crowd, &grid, 10, Cell::new(4, 0), Cell::new(10, 0));
        crowd.set(slow, UnitSettings { is_pushable: waits == 0, ..settings(4_000) }).unwrap();
        for _ in 0..waits {
            crowd.tick(&grid, &());
        }
        crowd.set(slow, settings(4_000)).unwrap();
        for _ in 0..100 {
            crowd.tick(&grid, &());
        }
        assert_eq!(crowd.position(&grid, slow).unwrap().1, Cell::new(6, 0), "it makes room");
        let back = grid.find_path(ProfileId(0), Cell::new(4, 0), Cell::new(1, 0)).unwrap();
        crowd.follow(&grid, fast, &back).unwrap();
        let arrival = (0..60).find(|_| {
            crowd.tick(&grid, &());
            has_arrived(&crowd, fast)
        });
        assert!(arrival.is_some(), "{waits}: at {:?}", crowd.position(&grid, fast));
    }
}

#[test]
fn a_ring_of_units_turns_with_a_slow_one_in_it() {
    // Four units on four cells, each to the next one; the pace of the ring is that of its slowest unit.
    let grid = NavGrid::new(2, 2, TerrainId::GROUND).unwrap();
    let mut crowd = Crowd::new(&grid);
    let corners = [(0, 0), (1, 0), (1, 1), (0, 1)].map(Cell::from);
    let units = [0, 1, 2, 3].map(|at: usize| {
        let pace = if at == 2 { 1_000 } else { 10 };
        let unit = crowd.add(&grid, corners[at], settings(pace)).unwrap();
        (unit, grid.find_path(ProfileId(0), corners[at], corners[(at + 1) % 4]).unwrap())
    });
    for (unit, path) in &units {
        crowd.follow(&grid, *unit, path).unwrap();
    }
    for _ in 0..1_200 {
        crowd.tick(&grid, &());
    }
    for (at, (unit, _)) in units.iter().enumerate() {
        assert_eq!(crowd.position(&grid, *unit).unwrap().0, corners[(at + 1) % 4]);
    }
}

#[test]
fn units_behind_a_slow_one_come_in_behind_it_as_ever() {
    // The same at a hundredth of the speed: both walk in step.
    let positions = [10, 1_000].map(|ticks_per_cell| {
        let grid = NavGrid::new(30, 1, TerrainId::GROUND).unwrap();
        let mut crowd = Crowd::new(&grid);
        let units = [2, 1, 0].map(|x| {
            send(&mut crowd, &grid, ticks_per_cell, Cell::new(x, 0), Cell::new(27 + x, 0))
        });
        for _ in 0..ticks_per_cell * 10 + 2 {
            crowd.tick(&grid, &());
        }
        units.map(|unit| crowd.position(&grid, unit).unwrap().0)
    });
    assert_eq!(positions[0], positions[1]);
}

#[test]
fn a_unit_that_has_stood_for_long_goes_on_as_soon_as_a_slow_one_ahead_is_removed() {
    // An alley, and a guard in it.
    let grid = NavGrid::new(12, 1, TerrainId::GROUND).unwrap();
    let mut crowd = Crowd::new(&grid);
    let guard = crowd.add(&grid, Cell::new(6, 0), settings(40)).unwrap();
    let walker = send(&mut crowd, &grid, 10, Cell::new(5, 0), Cell::new(10, 0));
    let stands = UnitSettings { is_pushable: false, team: 1, ..settings(4_000) };
    crowd.set(guard, stands).unwrap();
    for _ in 0..2_000 {
        crowd.tick(&grid, &());
    }
    // The guard walks away, slowly: both its cells are taken.
    let path = grid.find_path(ProfileId(0), Cell::new(6, 0), Cell::new(9, 0)).unwrap();
    crowd.follow(&grid, guard, &path).unwrap();
    for _ in 0..30 {
        crowd.tick(&grid, &());
    }
    assert!(crowd.remove(guard));
    let arrival = (0..80).find(|_| {
        crowd.tick(&grid, &());
        has_arrived(&crowd, walker)
    });
    assert!(arrival.is_some(), "at {:?}", crowd.position(&grid, walker));
}

#[test]
fn a_long_corridor_takes_as_much_memory_as_it_has_cells() {
    let mut grid = NavGrid::new(4_000, 1, TerrainId::GROUND).unwrap();
    let mut crowd = Crowd::new(&grid);
    let mut unit = send(&mut crowd, &grid, 1, Cell::new(3_990, 0), Cell::new(5, 0));
    let mut walk = |crowd: &mut Crowd, grid: &NavGrid| {
        let most = (0..20_000).find(|_| {
            crowd.tick(grid, &());
            has_arrived(crowd, unit)
        });
        assert!(most.is_some(), "at {:?}", crowd.position(grid, unit));
        assert!(crowd.remove(unit));
        unit = send(crowd, grid, 1, Cell::new(3_990, 0), Cell::new(5, 0));
    };
    walk(&mut crowd, &grid);
    let bytes = crowd.bytes();
    assert!(bytes < 4_000 * 400, "{bytes} bytes for 4,000 cells");
    for _ in 0..6 {
        for blocks in [true, false] {
            let wall = CellRect::single(Cell::new(3_995, 0));
            if blocks { grid.block(wall) } else { grid.unblock(wall) }.unwrap();
        }
        walk(&mut crowd, &grid);
    }
    assert!(crowd.bytes() <= bytes + 30_000, "{} after {bytes}", crowd.bytes());
}
