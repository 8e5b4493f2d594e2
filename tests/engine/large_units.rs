//! Units of several cells: they make room for each other in parts, and everyone arrives.

use bevy_tilepath::{
    nav::{
        crowd::{Crowd, RouteId, UnitId, UnitSettings},
        field::DistanceField,
    },
    prelude::*,
};

use crate::common::{Random, covered};
use crate::crowd_common::{Checker, Seen};

/// Width and height of the open map.
const SIDE: i32 = 40;

/// Units of one to four cells a side that cross an open map from all four sides, to goals that do not overlap.
struct Crossing {
    grid: NavGrid,
    crowd: Crowd,
    fields: Vec<DistanceField>,
    units: Vec<(UnitId, ProfileId)>,
    goals: Vec<(Cell, ProfileId)>,
    checker: Checker,
}

impl Crossing {
    fn new(topology: Topology, seed: u64, rows: i32) -> Self {
        let mut random = Random(seed);
        let profiles = (1..=4).map(|size| Profile::default().size(size)).collect();
        let grid = NavGrid::new(SIDE as u32, SIDE as u32, TerrainId::GROUND).unwrap();
        let grid = grid.with_topology(topology).with_profiles(profiles);
        let crowd = Crowd::new(&grid);
        let mut crossing = Self {
            grid,
            crowd,
            fields: Vec::new(),
            units: Vec::new(),
            goals: Vec::new(),
            checker: Checker::new(),
        };
        let spacing = SIDE / rows;
        for row in 0..rows {
            for side in 0..4 {
                let jitter = (random.next() % 3) as i32;
                let (here, there) = (row * spacing, (rows - 1 - row) * spacing + jitter);
                let (near, far) = (1 + jitter, SIDE - 5 - jitter);
                let (from, to) = match side {
                    0 => ((near, here), (far, there)),
                    1 => ((here, near), (there, far)),
                    2 => ((far, here), (near, there)),
                    _ => ((here, far), (there, near)),
                };
                let profile = ProfileId((random.next() % 4) as u8);
                let speed = 5 + (random.next() % 8) as u32;
                crossing.add(profile, speed, from.into(), to.into());
            }
        }
        crossing
    }

    /// Adds a unit and its order; a unit without room is left out.
    fn add(&mut self, profile: ProfileId, ticks_per_cell: u32, from: Cell, to: Cell) {
        let settings =
            UnitSettings { profile, ..UnitSettings::default() }.ticks_per_cell(ticks_per_cell);
        let topology = self.grid.topology();
        let low = if topology == Topology::Hexagonal { 3 } else { 0 };
        let inside = |at: Cell| Cell::new(at.x.clamp(low, SIDE - 4), at.y.clamp(low, SIDE - 4));
        let (from, goal) = match topology {
            Topology::Square => (from, inside(to)),
            Topology::Hexagonal => (inside(from), inside(to)),
        };
        let covers =
            |(at, profile): (Cell, ProfileId)| covered(topology, self.grid.unit_size(profile), at);
        let mut cells = covers((goal, profile));
        if cells.any(|cell| self.goals.iter().any(|&goal| covers(goal).any(|at| at == cell))) {
            return;
        }
        let Ok(unit) = self.crowd.add(&self.grid, from, settings) else {
            return;
        };
        self.goals.push((goal, profile));
        let mut field = DistanceField::new();
        field.start(&self.grid, profile, goal).unwrap();
        while !field.is_finished() {
            field.step(&self.grid, u32::MAX);
        }
        self.crowd.follow_route(unit, RouteId(self.fields.len() as u32)).unwrap();
        self.fields.push(field);
        self.units.push((unit, profile));
    }

    /// Runs for at most `most` ticks; returns the number of units that have not arrived by then.
    fn run(&mut self, most: u64) -> usize {
        let mut is_under_way = vec![true; self.units.len()];
        for _ in 0..most {
            self.crowd.tick(&self.grid, &self.fields);
            let seen: Vec<Seen> =
                (0..).zip(&self.units).map(|(id, unit)| self.seen(id, *unit)).collect();
            self.checker.look(&self.grid, &seen, &[]);
            for (at, is_under_way) in is_under_way.iter_mut().enumerate() {
                *is_under_way &= !self.crowd.has_arrived(self.units[at].0);
            }
            if !is_under_way.contains(&true) {
                return 0;
            }
        }
        is_under_way.iter().filter(|is| **is).count()
    }

    fn seen(&self, id: u64, (unit, profile): (UnitId, ProfileId)) -> Seen {
        let position = self.crowd.position(&self.grid, unit).unwrap();
        let kind = (id, profile, self.grid.unit_size(profile));
        Seen::new(kind, position, self.crowd.progress(unit))
    }
}

/// When units in the way were only pushed, a fifth of these never ended: two units of 4 × 4 cells met on
/// an open field and stood for good, or one in a corner stepped aside and back.
#[test]
fn large_units_that_cross_each_other_all_arrive() {
    check(Topology::Square, [4, 5, 6]);
}

/// Units of 1, 7, 19 and 37 cells.
#[test]
fn large_units_on_hexagons_all_arrive() {
    check(Topology::Hexagonal, [3, 4, 5]);
}

fn check(topology: Topology, rows: [i32; 3]) {
    let seeds = std::env::var("TILEPATH_STORMS").map_or(20, |seeds| seeds.parse().unwrap());
    let (mut count, mut late) = (0, Vec::new());
    for (rows, seed) in rows.into_iter().flat_map(|rows| (0..seeds).map(move |seed| (rows, seed))) {
        let mut crossing = Crossing::new(topology, seed, rows);
        let missing = crossing.run(2_500);
        assert!(crossing.checker.faults.is_clean(), "{:?}", crossing.checker.first);
        late.extend((missing > 0).then_some((rows, seed)));
        count += crossing.units.len();
    }
    assert!(late.is_empty(), "{topology:?}, rows and seeds {late:?}");
    assert!(count > 24 * seeds as usize, "{count} units");
}

/// A large unit rests in an alley whose far end is open only to small ones. One of these has to pass: the large one comes out,
/// lets it in, and goes back.
#[test]
fn a_large_unit_comes_out_of_an_alley_to_let_a_small_one_through() {
    for (topology, rows, most) in [(Topology::Square, 2, 700), (Topology::Hexagonal, 3, 1_100)] {
        for (from, to, home) in [(2, 30, 14), (2, 30, 11), (2, 30, 16), (30, 2, 14)] {
            let profiles = vec![Profile::default(), Profile::default().size(2)];
            let grid = NavGrid::new(34, 14, TerrainId::GROUND).unwrap();
            let mut grid = grid.with_topology(topology).with_profiles(profiles);
            let row = 4 + (rows - 1) / 2;
            for (x, width, low, high) in [(10, 8, 4, 4 + rows), (18, 3, row, row + 1)] {
                let below = CellRect::new(Cell::new(x, 0), width, low as u32);
                let above = CellRect::new(Cell::new(x, high), width, (14 - high) as u32);
                [below, above].into_iter().for_each(|wall| grid.block(wall).unwrap());
            }
            let mut crowd = Crowd::new(&grid);
            let send = |crowd: &mut Crowd, profile: ProfileId, from: i32, to: i32| {
                let (from, to) = (Cell::new(from, row), Cell::new(to, row));
                let settings = UnitSettings { profile, ..UnitSettings::default() };
                let unit = crowd.add(&grid, from, settings).unwrap();
                let path = grid.find_path(profile, from, to).unwrap();
                crowd.follow(&grid, unit, &path).unwrap();
                unit
            };
            let large = send(&mut crowd, ProfileId(1), 6, home);
            (0..300).for_each(|_| crowd.tick(&grid, &()));
            assert!(crowd.has_arrived(large));
            let small = send(&mut crowd, ProfileId(0), from, to);
            (0..most).for_each(|_| crowd.tick(&grid, &()));
            let at = |unit| crowd.position(&grid, unit).unwrap();
            assert!(
                crowd.has_arrived(small),
                "{topology:?}, {from} to {to}: it is at {:?}",
                at(small)
            );
            assert_eq!(at(large), (Cell::new(home, row), Cell::new(home, row)), "{topology:?}");
        }
    }
}
