//! Units that have stood for long go on soon when something changes. Those that rest around their common goal are hardly looked
//! at any more.

use bevy_tilepath::{
    nav::crowd::{Crowd, Membership, UnitId, UnitSettings},
    prelude::*,
};

/// Ticks of standing.
const LONG: u64 = 1_500;
/// Most ticks between two looks at a unit.
const MOST_BETWEEN: u64 = 255;

fn send(crowd: &mut Crowd, grid: &NavGrid, from: Cell, to: Cell) -> UnitId {
    let unit = crowd.add(grid, from, UnitSettings::default()).unwrap();
    let path = grid.find_path(ProfileId(0), from, to).unwrap();
    crowd.follow(grid, unit, &path).unwrap();
    unit
}

fn run(crowd: &mut Crowd, grid: &NavGrid, ticks: u64) {
    for _ in 0..ticks {
        crowd.tick(grid, &());
    }
}

fn cells(crowd: &Crowd, grid: &NavGrid, units: &[UnitId]) -> Vec<Cell> {
    units.iter().map(|&unit| crowd.position(grid, unit).unwrap().0).collect()
}

/// Returns the number of times that a unit is looked at in these ticks and waits.
fn looks(crowd: &mut Crowd, grid: &NavGrid, ticks: u64) -> u64 {
    let before = crowd.counters().waits;
    run(crowd, grid, ticks);
    crowd.counters().waits - before
}

/// A unit waits in an alley before a guard; beside it, blocked cells.
fn before_a_guard(ticks: u64) -> (NavGrid, Crowd, [UnitId; 2]) {
    let mut grid = NavGrid::new(12, 2, TerrainId::GROUND).unwrap();
    grid.block(CellRect::new(Cell::new(0, 1), 12, 1)).unwrap();
    let mut crowd = Crowd::new(&grid);
    let walker = send(&mut crowd, &grid, Cell::new(2, 0), Cell::new(8, 0));
    let settings = UnitSettings { is_pushable: false, team: 1, ..UnitSettings::default() };
    let guard = crowd.add(&grid, Cell::new(5, 0), settings).unwrap();
    run(&mut crowd, &grid, ticks);
    assert_eq!(crowd.position(&grid, walker).unwrap().0, Cell::new(4, 0));
    (grid, crowd, [walker, guard])
}

/// Goes on to the end of a tick in which a unit was looked at.
fn run_to_look(crowd: &mut Crowd, grid: &NavGrid) {
    let before = crowd.counters().waits;
    while crowd.counters().waits == before {
        crowd.tick(grid, &());
    }
}

/// Checks that the waiting unit moves at most `most` ticks after a change, between two looks at it and after one.
fn goes_on(most: u64, change: impl Fn(&mut NavGrid, &mut Crowd, [UnitId; 2])) {
    for phase in 0..40 {
        let (mut grid, mut crowd, units) = before_a_guard(LONG + 13 * phase);
        if phase < 10 {
            run_to_look(&mut crowd, &grid);
        }
        change(&mut grid, &mut crowd, units);
        run(&mut crowd, &grid, most);
        let (tail, head) = crowd.position(&grid, units[0]).unwrap();
        let has_moved = tail != head || tail != Cell::new(4, 0);
        assert!(has_moved, "{phase}: {:?}", crowd.hindrance(units[0]));
    }
}

#[test]
fn a_unit_that_has_waited_for_long_goes_on_when_the_guard_is_gone() {
    goes_on(1, |_, crowd, [_, guard]| assert!(crowd.remove(guard)));
    goes_on(1, |grid, crowd, [_, guard]| crowd.teleport(grid, guard, Cell::new(11, 0)).unwrap());
}

#[test]
fn a_unit_that_has_waited_for_long_goes_on_when_the_guard_may_be_pushed() {
    goes_on(1, |_, crowd, [_, guard]| crowd.set(guard, UnitSettings::default()).unwrap());
    goes_on(1, |_, crowd, [walker, guard]| {
        crowd.set(guard, UnitSettings { team: 1, ..UnitSettings::default() }).unwrap();
        crowd.set(walker, UnitSettings { team: 1, ..UnitSettings::default() }).unwrap();
    });
}

#[test]
fn a_unit_that_has_waited_for_long_follows_a_guard_that_gets_an_order() {
    goes_on(12, |grid, crowd, [_, guard]| {
        let path = grid.find_path(ProfileId(0), Cell::new(5, 0), Cell::new(11, 0)).unwrap();
        crowd.follow(grid, guard, &path).unwrap();
    });
}

#[test]
fn a_unit_that_has_waited_for_long_goes_through_an_opening() {
    goes_on(20, |grid, _, _| grid.unblock(CellRect::new(Cell::new(3, 1), 5, 1)).unwrap());
}

#[test]
fn a_unit_that_has_waited_for_long_goes_on_when_its_speed_is_back() {
    let grid = NavGrid::new(12, 2, TerrainId::GROUND).unwrap();
    for phase in 0..40 {
        let mut crowd = Crowd::new(&grid);
        let unit = send(&mut crowd, &grid, Cell::new(2, 0), Cell::new(8, 0));
        crowd.set(unit, UnitSettings { speed: 0, ..UnitSettings::default() }).unwrap();
        run(&mut crowd, &grid, LONG + 13 * phase);
        crowd.set(unit, UnitSettings::default()).unwrap();
        run(&mut crowd, &grid, 1);
        let (tail, head) = crowd.position(&grid, unit).unwrap();
        assert!(tail != head, "{phase}");
    }
}

/// 200 units stand before a gate that a guard keeps shut. They are looked at when they have to be, not all the time.
#[test]
fn a_crowd_before_a_closed_gate_costs_little() {
    let mut grid = NavGrid::new(60, 40, TerrainId::GROUND).unwrap();
    grid.block(CellRect::new(Cell::new(30, 0), 1, 20)).unwrap();
    grid.block(CellRect::new(Cell::new(30, 21), 1, 19)).unwrap();
    let mut crowd = Crowd::new(&grid);
    let settings = UnitSettings { is_pushable: false, ..UnitSettings::default() };
    let guard = crowd.add(&grid, Cell::new(30, 20), settings).unwrap();
    let ends =
        (0..200).map(|i| (Cell::new(5 + i % 10, 10 + i / 10), Cell::new(40 + i % 10, 10 + i / 10)));
    let units: Vec<UnitId> = ends.map(|(from, to)| send(&mut crowd, &grid, from, to)).collect();
    run(&mut crowd, &grid, 2_500);
    let stands = cells(&crowd, &grid, &units);
    let looks = looks(&mut crowd, &grid, 2 * MOST_BETWEEN);
    assert_eq!(cells(&crowd, &grid, &units), stands, "nobody moves");
    // Every 16 ticks it would be 6,400.
    assert!((200..=1_600).contains(&looks), "{looks} looks at 200 units");
    crowd.remove(guard);
    run(&mut crowd, &grid, 3_500);
    let arrived = units.iter().filter(|&&unit| crowd.has_arrived(unit)).count();
    assert_eq!(arrived, 200, "the gate is open");
}

/// Many are sent to one cell: all stand there once, one after another, and then rest around it.
#[test]
fn units_sent_to_one_cell_all_arrive_and_come_to_rest() {
    for topology in [Topology::Square, Topology::Hexagonal] {
        let grid = NavGrid::new(50, 50, TerrainId::GROUND).unwrap().with_topology(topology);
        let mut crowd = Crowd::new(&grid);
        let goal = Cell::new(25, 25);
        let starts =
            (0..80).map(|i| Cell::new(2 + 5 * (i % 10), if i < 40 { i / 10 } else { 50 - i / 10 }));
        let units: Vec<UnitId> = starts.map(|from| send(&mut crowd, &grid, from, goal)).collect();
        run(&mut crowd, &grid, 6_000);
        let arrived = units.iter().filter(|&&unit| crowd.has_arrived(unit)).count();
        assert_eq!(arrived, 80, "{topology:?}");
        let stands = cells(&crowd, &grid, &units);
        let looks = looks(&mut crowd, &grid, 2 * MOST_BETWEEN);
        assert_eq!(cells(&crowd, &grid, &units), stands, "{topology:?}: nobody moves");
        assert!(looks <= 80 * 3, "{topology:?}: {looks} looks at 80 units");
        let on_goal = units.iter().find(|&&unit| cells(&crowd, &grid, &[unit])[0] == goal);
        crowd.remove(*on_goal.unwrap());
        run(&mut crowd, &grid, MOST_BETWEEN + 100);
        assert!(crowd.holder(&grid, goal).is_some(), "{topology:?}: another one takes its place");
    }
}

/// Members that cannot be pushed rest all around the slot of another one, which stands farther from it than members settle
/// elsewhere.
#[test]
fn a_member_whose_slot_is_shut_in_by_members_at_rest_comes_to_rest_before_them() {
    let grid = NavGrid::new(40, 40, TerrainId::GROUND).unwrap();
    let mut crowd = Crowd::new(&grid);
    let goal = Cell::new(20, 20);
    let join = |crowd: &mut Crowd, ends: (Cell, Cell), swap_class: u32, is_pushable: bool| {
        let settings = UnitSettings { is_pushable, ..UnitSettings::default() };
        let unit = crowd.add(&grid, ends.0, settings).unwrap();
        let path = grid.find_path(ProfileId(0), ends.0, ends.1).unwrap();
        let member = Membership { swap_class, slot: ends.1, goal, route: None };
        crowd.follow_among(&grid, unit, &path, &member).unwrap();
        unit
    };
    let around = CellRect::new(Cell::new(15, 15), 11, 11).cells().filter(|&cell| cell != goal);
    let others: Vec<UnitId> = around.map(|cell| join(&mut crowd, (cell, cell), 1, false)).collect();
    let late = join(&mut crowd, (Cell::new(3, 20), goal), 2, true);
    run(&mut crowd, &grid, 2_000);
    assert!(others.iter().all(|&unit| crowd.has_arrived(unit)));
    assert!(crowd.has_arrived(late), "{:?}", crowd.hindrance(late));
    assert_eq!(cells(&crowd, &grid, &[late])[0].chebyshev(goal), 6, "before the others");
    assert_eq!(looks(&mut crowd, &grid, 200), 0, "it is not looked at any more");
}

/// An edit far away wakes those that have stood for long, and must not put them off: they are decided, and go on when their way
/// is open.
#[test]
fn edits_in_every_tick_keep_nobody_waiting() {
    for every in [1, 2, 5, 8, 16] {
        let mut grid = NavGrid::new(40, 2, TerrainId::GROUND).unwrap();
        grid.block(CellRect::new(Cell::new(0, 1), 40, 1)).unwrap();
        let mut crowd = Crowd::new(&grid);
        let settings = UnitSettings { is_pushable: false, team: 1, ..UnitSettings::default() };
        crowd.add(&grid, Cell::new(8, 0), settings).unwrap();
        let units =
            [6, 4, 2, 0].map(|x| send(&mut crowd, &grid, Cell::new(x, 0), Cell::new(11, 0)));
        run(&mut crowd, &grid, LONG);
        // Beside the guard an alley opens, while something else is built and torn down.
        grid.unblock(CellRect::new(Cell::new(2, 1), 9, 1)).unwrap();
        let mut is_open = false;
        for tick in 0..600 {
            if tick % every == 0 {
                let far = CellRect::single(Cell::new(38, 1));
                if is_open { grid.block(far) } else { grid.unblock(far) }.unwrap();
                is_open = !is_open;
            }
            crowd.tick(&grid, &());
        }
        let first = crowd.position(&grid, units[0]).unwrap().0;
        assert!(first.x > 8, "with an edit in every {every} ticks it stands at {first}");
    }
}

/// A unit that lets others out stands back for a while, but not after another order.
#[test]
fn a_unit_with_another_order_does_not_stand_back() {
    // One is shut in behind another, which comes to stand back.
    let mut grid = NavGrid::new(12, 3, TerrainId::GROUND).unwrap();
    grid.block(CellRect::new(Cell::new(4, 0), 8, 1)).unwrap();
    grid.block(CellRect::new(Cell::new(4, 2), 8, 1)).unwrap();
    let mut crowd = Crowd::new(&grid);
    let inside = crowd.add(&grid, Cell::new(11, 1), UnitSettings::default()).unwrap();
    let root = send(&mut crowd, &grid, Cell::new(2, 1), Cell::new(11, 1));
    let before = crowd.counters().dead_ends;
    for _ in 0..2_000 {
        if crowd.counters().dead_ends > before {
            break;
        }
        crowd.tick(&grid, &());
    }
    assert!(crowd.counters().dead_ends > before, "the test needs a unit that stands back");
    let here = crowd.position(&grid, root).unwrap().0;
    let path = grid.find_path(ProfileId(0), here, Cell::new(0, 0)).unwrap();
    crowd.follow(&grid, root, &path).unwrap();
    run(&mut crowd, &grid, 3);
    assert_ne!(crowd.position(&grid, root).unwrap(), (here, here), "it goes at once");
    assert!(crowd.position(&grid, inside).is_some());
}
