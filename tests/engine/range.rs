//! Movement ranges against an oracle that tries every state.

use std::collections::{BTreeMap, BTreeSet};

use bevy_tilepath::prelude::*;

use crate::common::{
    Random, any_topology, crossing_cost, patched_terrain, scatter_edges, with_edges,
};

const PROFILES: usize = 5;

fn profiles() -> [Profile; PROFILES] {
    let plain =
        (1..=3).fold(Profile::default(), |profile, terrain| profile.with(TerrainId(terrain), 16));
    let weighted =
        Profile::default().with(TerrainId(2), 24).with(TerrainId(3), 48).with(TerrainId(4), 112);
    [
        plain.clone(),
        weighted.clone(),
        weighted.clone().neighbors(Neighborhood::Four),
        weighted.corners(CornerRule::Allow).size(2),
        plain.corners(CornerRule::NoSqueeze),
    ]
    .map(with_edges)
}

/// A grid whose origin is not 0, with blockers.
fn grid_of(side: u32, random: &mut Random) -> NavGrid {
    let size = (side, 1 + random.below(side));
    let patches = (random.below(9), random.below(9));
    let terrain = patched_terrain(size, patches.0, patches.1, random);
    let grid = NavGrid::from_terrain(size.0, size.1, terrain).unwrap();
    let grid = grid.with_origin(Cell::new(-7, 30)).with_topology(any_topology(random));
    let mut grid = grid.with_profiles(profiles().to_vec());
    let edges = random.below(4) * random.below(side);
    scatter_edges(&mut grid, edges, random);
    for _ in 0..random.below(side) {
        let cell = any_cell(&grid, random);
        grid.block(CellRect::single(cell)).unwrap();
    }
    grid
}

fn any_cell(grid: &NavGrid, random: &mut Random) -> Cell {
    let CellRect { min, width, height } = grid.rect();
    min.offset(random.below(width) as i32, random.below(height) as i32)
}

/// Other units and their zones of control: the same answer for the same cell.
fn enter_of(seed: u32, share: u32) -> impl Fn(Cell) -> MayEnter + Copy {
    move |cell| {
        let hash =
            (cell.x as u32).wrapping_mul(0x9e37_79b9) ^ (cell.y as u32).wrapping_mul(0x85eb_ca6b);
        match hash.wrapping_add(seed).wrapping_mul(0xc2b2_ae35) >> 20 {
            number if number % 100 < share => MayEnter::No,
            number if number % 100 < 2 * share => MayEnter::Stop,
            _ => MayEnter::Cost,
        }
    }
}

/// All steps from a cell: the neighbor, and whether the step is diagonal.
fn steps(grid: &NavGrid, profile: ProfileId, cell: Cell) -> Vec<(Cell, bool)> {
    let rules = &grid.profiles()[usize::from(profile.0)];
    let is_open = |cell: Cell| grid.cost(profile, cell) > 0;
    let mut found = Vec::new();
    for (dx, dy) in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy))) {
        let (to, is_diagonal) = (cell.offset(dx, dy), dx != 0 && dy != 0);
        if grid.topology() == Topology::Hexagonal {
            // No step is a diagonal one.
            let is_step = dx != dy && is_open(to);
            let is_legal = is_step && crossing_cost(grid, profile, cell, to).is_some();
            found.extend(is_legal.then_some((to, false)));
            continue;
        }
        let corners = [cell.offset(dx, 0), cell.offset(0, dy)].map(is_open);
        let is_legal = match (is_diagonal, rules.neighborhood(), rules.corner_rule()) {
            (false, ..) => true,
            (_, Neighborhood::Four, _) => false,
            (.., CornerRule::Forbid) => corners == [true, true],
            (.., CornerRule::NoSqueeze) => corners != [false, false],
            (.., CornerRule::Allow) => true,
        };
        if to != cell && is_open(to) && is_legal && crossing_cost(grid, profile, cell, to).is_some()
        {
            found.push((to, is_diagonal));
        }
    }
    found
}

/// Turn, and what is used of it; or 0, and the path cost.
type State = (u32, u64);

/// The state after a step; `None` if it cannot be made, or only after the last turn.
fn step(
    grid: &NavGrid,
    query: &RangeQuery,
    state: State,
    from: Cell,
    to: (Cell, bool),
) -> Option<State> {
    let cost = |cell| u64::from(grid.cost(query.profile, cell));
    let crossing = crossing_cost(grid, query.profile, from, to.0)?;
    let (turn, used) = state;
    match query.movement {
        Movement::Cost(PathCost(most)) => {
            let weight = if to.1 { 577 } else { 408 };
            let sum = used + weight * (cost(from) + cost(to.0) + 2 * crossing);
            (sum <= most).then_some((0, sum))
        }
        Movement::Turns(rules) => {
            let cost = match rules.diagonals {
                Diagonals::Euclidean if to.1 => (cost(to.0) as f64 * 577.0 / 408.0).round() as u64,
                _ => cost(to.0),
            };
            let cost = cost + crossing;
            let per_turn = u64::from(rules.per_turn);
            let next = if used + cost <= per_turn {
                (turn, used + cost)
            } else if rules.may_overspend && used < per_turn {
                (turn, per_turn)
            } else if rules.may_overspend && per_turn > 0 {
                (turn + 1, cost.min(per_turn))
            } else if cost <= per_turn {
                (turn + 1, cost)
            } else {
                return None;
            };
            (next.0 < rules.turns).then_some(next)
        }
    }
}

/// The best state in which each cell is entered; all states are tried.
fn oracle(
    grid: &NavGrid,
    query: RangeQuery,
    enter: impl Fn(Cell) -> MayEnter,
) -> BTreeMap<Cell, State> {
    let first = match query.movement {
        Movement::Cost(_) => 0,
        Movement::Turns(rules) => u64::from(rules.per_turn - rules.left.min(rules.per_turn)),
    };
    let mut seen = BTreeSet::from([(query.start, (0, first))]);
    let mut open = vec![(query.start, (0, first), true)];
    while let Some((from, state, goes_on)) = open.pop() {
        for to in steps(grid, query.profile, from).into_iter().filter(|_| goes_on) {
            let Some(mut next) = step(grid, &query, state, from, to) else { continue };
            let stops = match enter(to.0) {
                MayEnter::No => continue,
                MayEnter::Stop => true,
                MayEnter::Cost => false,
            };
            let has_turns = match query.movement {
                Movement::Turns(rules) if stops => {
                    next.1 = u64::from(rules.per_turn);
                    true
                }
                Movement::Turns(_) => true,
                Movement::Cost(_) => false,
            };
            if seen.insert((to.0, next)) {
                open.push((to.0, next, has_turns || !stops));
            }
        }
    }
    let mut best = BTreeMap::new();
    for (cell, state) in seen.into_iter().rev() {
        best.insert(cell, state);
    }
    best
}

fn state_of(query: &RangeQuery, found: InRange) -> State {
    let most = match query.movement {
        Movement::Cost(PathCost(most)) => most,
        Movement::Turns(rules) => u64::from(rules.per_turn),
    };
    (found.turn, most - found.left)
}

/// Every cell, the way to it, and its turns.
fn check(grid: &NavGrid, range: &MovementRange, enter: impl Fn(Cell) -> MayEnter + Copy) -> usize {
    let query = range.query();
    let best = oracle(grid, query, enter);
    let found: BTreeMap<Cell, State> =
        range.cells().map(|found| (found.cell, state_of(&query, found))).collect();
    assert_eq!(found, best, "{query:?}");
    for (&cell, &state) in &best {
        let way = range.cells_to(cell).unwrap();
        assert_eq!((way[0].cell, way[way.len() - 1].cell), (query.start, cell));
        for pair in way.windows(2) {
            let [from, to] = [pair[0].cell, pair[1].cell];
            let steps = steps(grid, query.profile, from);
            let to = *steps.iter().find(|step| step.0 == to).expect("a legal step");
            let mut next = step(grid, &query, state_of(&query, pair[0]), from, to).unwrap();
            if let (MayEnter::Stop, Movement::Turns(rules)) = (enter(to.0), query.movement) {
                next.1 = u64::from(rules.per_turn);
            }
            assert_eq!(next, state_of(&query, pair[1]), "{query:?} {way:?}");
        }
        let ends = range.turn_ends(cell).unwrap();
        assert_eq!(ends.last().map(|end| end.cell), Some(cell));
        assert_eq!(ends.len() as u32, state.0 + 1);
        let path = range.path_to(grid, cell).unwrap();
        assert!(path.cells().eq(way.iter().map(|way| way.cell)));
        let least = grid.find_path(query.profile, query.start, cell).unwrap().cost();
        assert!(path.cost() >= least);
        if let Movement::Cost(_) = query.movement {
            assert_eq!(path.cost(), PathCost(state.1));
        }
    }
    best.len()
}

fn movement(random: &mut Random) -> Movement {
    if random.below(3) == 0 {
        return Movement::Cost(PathCost(u64::from(random.below(9 * 408 * 32))));
    }
    let mut rules = TurnRules::new(random.below(5) as u16, random.below(4));
    rules.per_turn += random.below(3) * 8;
    rules.left = random.below(rules.per_turn + 20);
    if random.below(2) == 0 {
        rules = rules.diagonals(Diagonals::Euclidean);
    }
    rules.may_overspend = random.below(3) == 0;
    Movement::Turns(rules)
}

#[test]
fn ranges_are_those_of_an_oracle_that_tries_every_state() {
    let mut cells = 0;
    let mut range = MovementRange::new();
    for seed in 0..4_000 {
        let mut random = Random(seed);
        let grid = grid_of(2 + random.below(13), &mut random);
        let profile = ProfileId(random.below(PROFILES as u32) as u8);
        let query = RangeQuery::new(any_cell(&grid, &mut random), movement(&mut random));
        let enter = enter_of(seed as u32, random.below(20) * u32::from(seed % 2 == 0));
        let filled = if seed % 2 == 0 {
            range.fill_with(&grid, query.profile(profile), enter)
        } else {
            range.fill(&grid, query.profile(profile))
        };
        if grid.cost(profile, query.start) == 0 {
            assert_eq!(filled, Err(PathFailure::StartImpassable(query.start)));
            assert_eq!(range.cells().count(), 0);
            continue;
        }
        assert_eq!(filled, Ok(()));
        assert!(range.is_finished() && !range.overflow());
        cells += check(&grid, &range, enter);
    }
    assert!(cells > 20_000, "{cells}");
}

#[test]
fn slices_make_no_difference() {
    for seed in 0..200 {
        let mut random = Random(seed);
        let grid = grid_of(2 + random.below(40), &mut random);
        let profile = ProfileId(random.below(PROFILES as u32) as u8);
        let query = RangeQuery::new(any_cell(&grid, &mut random), movement(&mut random));
        let query = query.profile(profile);
        let enter = enter_of(seed as u32, 9);
        let (mut whole, mut sliced) = (MovementRange::new(), MovementRange::new());
        let is_free = seed % 2 == 0;
        let filled = match is_free {
            true => whole.fill(&grid, query),
            false => whole.fill_with(&grid, query, enter),
        };
        if filled.is_err() {
            continue;
        }
        sliced.start(&grid, query).unwrap();
        let mut expanded = 0;
        while !sliced.is_finished() {
            let budget = 1 + random.below(2);
            expanded += u64::from(match is_free {
                true => sliced.step(&grid, budget),
                false => sliced.step_with(&grid, enter, budget),
            });
        }
        assert_eq!(expanded, whole.expansions());
        assert!(whole.cells().eq(sliced.cells()));
        for found in whole.cells() {
            assert_eq!(whole.cells_to(found.cell), sliced.cells_to(found.cell));
        }
    }
}

/// Where diagonal steps cost what straight ones do, paths are straight nevertheless.
#[test]
fn on_open_ground_the_shortest_of_equal_paths_is_taken() {
    let grid = NavGrid::new(40, 40, TerrainId::GROUND).unwrap();
    let start = Cell::new(20, 20);
    let mut range = MovementRange::new();
    let turns = Movement::Turns(TurnRules::new(4, 3));
    for is_free in [true, false] {
        let query = RangeQuery::new(start, turns);
        match is_free {
            true => range.fill(&grid, query).unwrap(),
            false => range.fill_with(&grid, query, |_| MayEnter::Cost).unwrap(),
        }
        for found in range.cells() {
            let least = grid.find_path(ProfileId(0), start, found.cell).unwrap().cost();
            assert_eq!(range.path_to(&grid, found.cell).unwrap().cost(), least);
        }
    }
}

/// No cell is expanded twice where the cheapest step is not shorter than a bucket, and the window does not depend on the grid.
#[test]
fn each_cell_is_expanded_once_and_memory_follows_the_range() {
    let grid = NavGrid::new(512, 512, TerrainId::GROUND).unwrap();
    let mut range = MovementRange::new();
    let thirty = Movement::Cost(PathCost(30 * 408 * 32));
    range.fill(&grid, RangeQuery::new(Cell::new(256, 256), thirty)).unwrap();
    assert_eq!(range.expansions(), range.cells().count() as u64);
    assert!(range.bytes() < 61 * 61 * 5 + 40_000, "{}", range.bytes());
    let bytes = range.bytes();
    for x in 0..512 {
        range.fill(&grid, RangeQuery::new(Cell::new(x, 3), thirty)).unwrap();
    }
    assert!(range.bytes() <= bytes, "no growth from query to query");
}

#[test]
fn limits_are_said_and_nothing_overflows() {
    let costly = Profile::new().with(TerrainId(1), u16::MAX).with(TerrainId(2), 1);
    let terrain = (0..50 * 50).map(|i| 1 + u8::from(i % 3 == 0)).collect();
    let grid = NavGrid::from_terrain(50, 50, terrain).unwrap().with_profiles(vec![costly]);
    let start = Cell::new(25, 25);
    let mut range = MovementRange::new();
    let everything = Movement::Cost(PathCost(u64::MAX));
    range.fill(&grid, RangeQuery::new(start, everything)).unwrap();
    assert!(range.overflow());
    assert!(range.cells().count() > 1);
    for overspend in [false, true] {
        let mut rules = TurnRules::new(u16::MAX, u32::MAX);
        (rules.per_turn, rules.may_overspend) = (u32::MAX, overspend);
        let query = RangeQuery::new(start, Movement::Turns(rules));
        range.fill(&grid, query).unwrap();
        assert!(range.overflow());
        assert_eq!(range.cells().count(), 2_500);
        assert!(range.expansions() < 5 * 2_500, "{}", range.expansions());
        let stops = |cell: Cell| if cell.x % 2 == 0 { MayEnter::Stop } else { MayEnter::Cost };
        range.fill_with(&grid, query, stops).unwrap();
        assert!(range.overflow());
    }
    let none = TurnRules { per_turn: 0, left: 0, ..TurnRules::new(0, 9).overspend() };
    range.fill(&grid, RangeQuery::new(start, Movement::Turns(none))).unwrap();
    assert_eq!(range.cells().map(|found| found.cell).collect::<Vec<_>>(), [start]);
}

#[test]
fn another_grid_is_noticed() {
    let grids = [16, 64].map(|cost| {
        let profile = Profile::new().with(TerrainId::GROUND, cost);
        NavGrid::new(20, 20, TerrainId::GROUND).unwrap().with_profiles(vec![profile])
    });
    let mut range = MovementRange::new();
    let query = RangeQuery::new(Cell::new(9, 9), Movement::Turns(TurnRules::new(4, 1)));
    range.start(&grids[1], query).unwrap();
    assert!(range.is_stale(&grids[0]) && range.is_stale(&grids[1].clone()));
    assert_eq!(range.step(&grids[0], 100), 0);
    range.fill(&grids[0], query).unwrap();
    let moved = grids[0].clone().with_origin(Cell::new(100, 0));
    assert!(range.is_stale(&moved) && range.path_to(&moved, query.start).is_none());
    assert!(range.path_to(&grids[0], query.start).is_some());
}

/// A range whose last cell is expanded at the end of a slice is finished.
#[test]
fn a_range_is_finished_with_its_last_cell() {
    let grid = NavGrid::new(1, 1, TerrainId::GROUND).unwrap();
    let mut range = MovementRange::new();
    range.start(&grid, RangeQuery::new(Cell::new(0, 0), Movement::default())).unwrap();
    assert_eq!((range.step(&grid, 1), range.is_finished()), (1, true));
}

#[test]
fn bad_queries_get_an_error_and_edits_make_a_range_stale() {
    let mut grid = NavGrid::new(8, 8, TerrainId::GROUND).unwrap();
    let mut range = MovementRange::new();
    let query = RangeQuery::new(Cell::new(3, 3), Movement::default());
    assert!(range.is_finished() && range.is_stale(&grid) && range.get(query.start).is_none());
    assert_eq!(range.step(&grid, 9), 0);
    let off = Cell::new(8, 0);
    let failed = range.fill(&grid, RangeQuery { start: off, ..query });
    assert_eq!(failed, Err(PathFailure::StartOutOfBounds(off)));
    let unknown = ProfileId(3);
    assert_eq!(
        range.fill(&grid, query.profile(unknown)),
        Err(PathFailure::UnknownProfile(unknown))
    );
    range.start(&grid, query).unwrap();
    assert_eq!(range.step(&grid, 0), 0);
    range.step(&grid, 5);
    grid.block(CellRect::single(Cell::new(4, 4))).unwrap();
    assert!(range.is_stale(&grid) && !range.is_finished());
    assert_eq!(range.step(&grid, 9), 0);
    assert!(range.path_to(&grid, query.start).is_none());
    for far in [Cell::new(i32::MIN, 0), Cell::new(i32::MAX, i32::MAX), Cell::new(-1, -1)] {
        assert!(range.get(far).is_none() && range.cells_to(far).is_none());
        assert!(range.turn_ends(far).is_none());
    }
    range.fill(&grid, query).unwrap();
    assert_eq!(range.path_to(&grid, query.start).unwrap().steps(), 0);
    grid.block(CellRect::single(query.start)).unwrap();
    assert_eq!(range.fill(&grid, query), Err(PathFailure::StartImpassable(query.start)));
    assert_eq!(range.cells().count(), 0);
}
