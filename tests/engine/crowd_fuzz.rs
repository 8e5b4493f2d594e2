//! Random calls of the public methods of a crowd in any order: wrong grids, stale ids, all settings. No call
//! panics, and the accessors of the crowd agree with each other.
//!
//! `PROPTEST_CASES` sets the number of sequences (default 256).

use std::collections::{BTreeMap, BTreeSet};

use bevy_tilepath::{
    nav::crowd::{Crowd, Membership, RouteId, UnitId, UnitSettings},
    prelude::*,
};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Call {
    Add(Cell, u8, u64, u8, bool),
    Remove(usize),
    Teleport(usize, Cell),
    Set(usize, u64, u8, bool),
    Follow(usize, Cell, u8),
    ExtendPath(usize, Cell),
    FollowAmong(usize, Cell, u32),
    FollowRoute(usize, u32),
    Stop(usize),
    Edit(CellRect, bool),
    SetEdge(Cell, u8, u8),
    SetProfiles(Vec<u8>),
    Tick(u8, u8),
}

fn cell() -> impl Strategy<Value = Cell> {
    (-2..18_i32, -2..18_i32).prop_map(|(x, y)| Cell::new(x, y))
}

fn speed() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(1), 1_000..2_000_000_u64, Just(u64::MAX)]
}

fn call() -> impl Strategy<Value = Call> {
    let unit = || 0..24_usize;
    prop_oneof![
        4 => (cell(), 0..4_u8, speed(), 0..2_u8, any::<bool>())
            .prop_map(|(at, profile, speed, team, a)| Call::Add(at, profile, speed, team, a)),
        1 => unit().prop_map(Call::Remove),
        1 => (unit(), cell()).prop_map(|(unit, at)| Call::Teleport(unit, at)),
        1 => (unit(), speed(), 0..2_u8, any::<bool>())
            .prop_map(|(unit, speed, team, p)| Call::Set(unit, speed, team, p)),
        3 => (unit(), cell(), 0..3_u8).prop_map(|(unit, to, grid)| Call::Follow(unit, to, grid)),
        1 => (unit(), cell()).prop_map(|(unit, to)| Call::ExtendPath(unit, to)),
        2 => (unit(), cell(), 0..3_u32)
            .prop_map(|(unit, to, swap_class)| Call::FollowAmong(unit, to, swap_class)),
        1 => (unit(), 0..3_u32).prop_map(|(unit, route)| Call::FollowRoute(unit, route)),
        1 => unit().prop_map(Call::Stop),
        1 => (cell(), 1..4_u32, 1..4_u32, any::<bool>())
            .prop_map(|(at, w, h, blocks)| Call::Edit(CellRect::new(at, w, h), blocks)),
        2 => (cell(), 0..8_u8, 0..3_u8).prop_map(|(at, side, edge)| Call::SetEdge(at, side, edge)),
        1 => proptest::collection::vec(1..6_u8, 0..4).prop_map(Call::SetProfiles),
        6 => (1..40_u8, 0..8_u8).prop_map(|(ticks, grid)| Call::Tick(ticks, grid)),
    ]
}

/// A crowd, its grid, two other grids, and all ids ever returned.
struct FuzzedCrowd {
    crowd: Crowd,
    grids: [NavGrid; 3],
    units: Vec<UnitId>,
}

impl FuzzedCrowd {
    fn new(topology: Topology) -> Self {
        let grid = |width, height| {
            let grid = NavGrid::new(width, height, TerrainId::GROUND).unwrap();
            grid.with_topology(topology)
        };
        let grids = [grid(16, 16), grid(16, 16).with_origin(Cell::new(3, -1)), grid(20, 9)];
        Self { crowd: Crowd::new(&grids[0]), grids, units: Vec::new() }
    }

    fn path(&self, unit: UnitId, to: Cell, grid: usize) -> Option<Path> {
        let (_, head) = self.crowd.position(&self.grids[0], unit)?;
        self.grids[grid].find_path(ProfileId(0), head, to).ok()
    }

    fn apply(&mut self, call: Call) {
        let unit = |at: usize| self.units.get(at).copied();
        match call {
            Call::Add(at, profile, speed, team, is_pushable) => {
                let profile = ProfileId(profile);
                let settings =
                    UnitSettings { profile, speed, team, is_pushable, keeps_goal: false };
                self.units.extend(self.crowd.add(&self.grids[0], at, settings));
            }
            Call::Remove(at) => {
                let _result = unit(at).map(|unit| self.crowd.remove(unit));
            }
            Call::Teleport(at, to) => {
                let _result = unit(at).map(|unit| self.crowd.teleport(&self.grids[0], unit, to));
            }
            Call::Set(at, speed, team, is_pushable) => {
                let settings = UnitSettings { speed, team, is_pushable, ..UnitSettings::default() };
                let _result = unit(at).map(|unit| self.crowd.set(unit, settings));
            }
            Call::Follow(at, to, grid) => {
                if let Some((unit, path)) =
                    unit(at).and_then(|unit| Some((unit, self.path(unit, to, usize::from(grid))?)))
                {
                    let _result = self.crowd.follow(&self.grids[0], unit, &path);
                }
            }
            Call::ExtendPath(at, to) => {
                if let Some((unit, path)) =
                    unit(at).and_then(|unit| Some((unit, self.path(unit, to, 0)?)))
                {
                    let _result = self.crowd.extend_path(&self.grids[0], unit, &path);
                }
            }
            Call::FollowAmong(at, to, swap_class) => {
                if let Some((unit, path)) =
                    unit(at).and_then(|unit| Some((unit, self.path(unit, to, 0)?)))
                {
                    let route = (swap_class == 0).then_some(RouteId(0));
                    let member = Membership { swap_class, slot: to, goal: Cell::new(8, 8), route };
                    let _result = self.crowd.follow_among(&self.grids[0], unit, &path, &member);
                }
            }
            Call::FollowRoute(at, route) => {
                let _result = unit(at).map(|unit| self.crowd.follow_route(unit, RouteId(route)));
            }
            Call::Stop(at) => {
                let _result = unit(at).map(|unit| self.crowd.stop(unit));
            }
            Call::Edit(rect, blocks) => {
                let done =
                    if blocks { self.grids[0].block(rect) } else { self.grids[0].unblock(rect) };
                let _result = done;
            }
            Call::SetEdge(at, side, edge) => {
                let direction = Direction::ALL[usize::from(side)];
                let _result = self.grids[0].set_edge(at, direction, EdgeId(edge));
            }
            Call::SetProfiles(sizes) => {
                let profile = Profile::default().with_edge(EdgeId(2), 24);
                let profiles = sizes.iter().map(|&size| profile.clone().size(size)).collect();
                self.grids[0].set_profiles(profiles);
            }
            Call::Tick(ticks, grid) => {
                let grid = if grid == 2 { 2 } else { 0 };
                (0..ticks).for_each(|_| self.crowd.tick(&self.grids[grid], &()));
            }
        }
    }

    /// Asserts that the accessors of the crowd agree and that its units are on the grid.
    fn check(&self) {
        let units: Vec<UnitId> = self.crowd.units().collect();
        assert_eq!(units.len(), self.crowd.len());
        self.check_cells(&units);
        for &unit in &self.units {
            assert_eq!(units.contains(&unit), self.crowd.contains(unit));
            let position = self.crowd.position(&self.grids[0], unit);
            assert_eq!(position.is_some(), self.crowd.contains(unit));
            if let (Some((tail, head)), Some(size)) = (position, self.crowd.size(unit)) {
                let grid = &self.grids[0];
                for at in [tail, head] {
                    let mut cells = crate::common::covered(grid.topology(), size, at);
                    assert!(cells.all(|cell| grid.contains(cell)), "{at}, size {size}");
                }
            }
        }
    }
}

impl FuzzedCrowd {
    /// Asserts that no cell is held by two units, unless one leaves it and the other enters it, and that the crowd knows who
    /// holds a cell.
    fn check_cells(&self, units: &[UnitId]) {
        let grid = &self.grids[0];
        let mut on: BTreeMap<(i32, i32), Vec<(UnitId, bool, bool)>> = BTreeMap::new();
        for &unit in units {
            let (tail, head) = self.crowd.position(grid, unit).unwrap();
            let size = self.crowd.size(unit).unwrap();
            let cells = |at: Cell| -> BTreeSet<(i32, i32)> {
                crate::common::covered(grid.topology(), size, at).map(|at| (at.x, at.y)).collect()
            };
            let (left, entered) = (cells(tail), cells(head));
            for &cell in left.union(&entered) {
                let ends = (left.contains(&cell), entered.contains(&cell));
                on.entry(cell).or_default().push((unit, ends.0, ends.1));
            }
        }
        for ((x, y), held) in on {
            let holder = self.crowd.holder(grid, Cell::new(x, y));
            assert!(held.iter().any(|&(unit, ..)| Some(unit) == holder), "({x}, {y}): {held:?}");
            match held[..] {
                [(unit, ..)] => assert_eq!(holder, Some(unit), "({x}, {y})"),
                [(_, true, false), (_, false, true)] | [(_, false, true), (_, true, false)] => {}
                _ => panic!("({x}, {y}) is held by {held:?}"),
            }
        }
    }
}

proptest! {
    #[test]
    fn no_sequence_of_calls_breaks_a_crowd(
        calls in proptest::collection::vec(call(), 1..120),
        is_hexagonal: bool,
    ) {
        let topology = if is_hexagonal { Topology::Hexagonal } else { Topology::Square };
        let mut fuzzed = FuzzedCrowd::new(topology);
        for call in calls {
            fuzzed.apply(call);
            fuzzed.check();
        }
    }
}
