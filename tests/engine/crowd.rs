//! Crowds: units never overlap, swap cells, jump or cut a corner, under any input, and all of them arrive.

use bevy_tilepath::{
    nav::{
        crowd::{Crowd, CrowdEvent, Membership, RouteId, UnitId, UnitSettings},
        field::DistanceField,
        formation::{FormationSpec, FormationUnit, assign_slots},
    },
    prelude::*,
};

use crate::common::{Random, scatter_edges, with_edges};
use crate::crowd_common::{Checker, Seen};

const SIDE: u32 = 40;

fn pick(random: &mut Random, bound: u32) -> i32 {
    (random.next() % u64::from(bound)) as i32
}

fn random_cell(random: &mut Random) -> Cell {
    Cell::new(pick(random, SIDE), pick(random, SIDE))
}

fn field(grid: &NavGrid, profile: ProfileId, goal: Cell) -> Option<DistanceField> {
    let mut field = DistanceField::new();
    field.start(grid, profile, goal).ok()?;
    while !field.is_finished() {
        field.step(grid, u32::MAX);
    }
    Some(field)
}

fn seen(grid: &NavGrid, crowd: &Crowd, units: &[(u64, UnitId, ProfileId)]) -> Vec<Seen> {
    let look = |&(id, unit, profile): &(u64, UnitId, ProfileId)| {
        let position = crowd.position(grid, unit).unwrap();
        Seen::new((id, profile, grid.unit_size(profile)), position, crowd.progress(unit))
    };
    units.iter().map(look).collect()
}

/// A map with single walls, profiles of 1 × 1 and 2 × 2 cells, and fields to random goals.
struct SoakMap {
    grid: NavGrid,
    fields: Vec<DistanceField>,
    /// The profile of each field.
    profiles: Vec<ProfileId>,
}

impl SoakMap {
    fn new(topology: Topology, random: &mut Random) -> Self {
        let profiles = vec![Profile::default(), Profile::default().size(2)];
        let profiles = profiles.into_iter().map(with_edges).collect();
        let grid = NavGrid::new(SIDE, SIDE, TerrainId::GROUND).unwrap();
        let mut grid = grid.with_topology(topology).with_profiles(profiles);
        for _ in 0..40 {
            grid.block(CellRect::single(random_cell(random))).unwrap();
        }
        scatter_edges(&mut grid, 15, random);
        let (mut fields, mut profiles) = (Vec::new(), Vec::new());
        while fields.len() < 12 {
            let profile = ProfileId(u8::from(fields.len() >= 8));
            if let Some(field) = field(&grid, profile, random_cell(random)) {
                fields.push(field);
                profiles.push(profile);
            }
        }
        Self { grid, fields, profiles }
    }

    /// Builds a wall and a few edges, and updates the fields.
    fn wall(&mut self, rect: CellRect, random: &mut Random) {
        scatter_edges(&mut self.grid, 2, random);
        // It may extend off the grid.
        let _is_built = self.grid.block(rect);
        for (index, old) in self.fields.iter_mut().enumerate() {
            let profile = self.profiles[index];
            if let Some(new) = field(&self.grid, profile, old.goal().min) {
                *old = new;
            } else {
                *old = DistanceField::new(); // its goal is a wall now
            }
        }
    }
}

/// Runs random units, orders, edits, spawns and despawns for some ticks; returns a hash of all positions.
fn soak(topology: Topology, seed: u64, ticks: u64) -> u64 {
    let mut random = Random(seed);
    let mut map = SoakMap::new(topology, &mut random);
    let mut crowd = Crowd::new(&map.grid);
    let (mut units, mut checker, mut next) = (Vec::new(), Checker::new(), 0);
    let mut sum = 0u64;
    for tick in 0..ticks {
        if units.len() < 120 {
            let profile = ProfileId(u8::from(pick(&mut random, 6) == 0));
            let speed = 5 + pick(&mut random, 15) as u32;
            let settings =
                UnitSettings { profile, ..UnitSettings::default() }.ticks_per_cell(speed);
            if let Ok(unit) = crowd.add(&map.grid, random_cell(&mut random), settings) {
                units.push((next, unit, profile));
                next += 1;
            }
        }
        for _ in 0..2 {
            let Some(&(_, unit, profile)) = units.get(pick(&mut random, 120) as usize) else {
                continue;
            };
            let route = match profile.0 {
                0 => pick(&mut random, 8),
                _ => 8 + pick(&mut random, 4),
            };
            match pick(&mut random, 20) {
                0 => crowd.stop(unit).unwrap(),
                _ => crowd.follow_route(unit, RouteId(route as u32)).unwrap(),
            }
        }
        if tick % 37 == 0 && !units.is_empty() {
            let (_, unit, _) = units.remove(pick(&mut random, units.len() as u32) as usize);
            assert!(crowd.remove(unit));
        }
        if tick % 211 == 100 {
            let at = random_cell(&mut random);
            map.wall(CellRect::new(at, 2, 1), &mut random);
        }
        crowd.tick(&map.grid, &map.fields);
        let seen = seen(&map.grid, &crowd, &units);
        checker.look(&map.grid, &seen, &[]);
        assert!(checker.faults.is_clean(), "tick {tick}: {:?}", checker.first);
        for unit in &seen {
            let at = (unit.tail.x + 64 * unit.tail.y) as u64;
            sum = sum.wrapping_mul(0x100_0000_01b3) ^ (at << 20) ^ (unit.gone * 1e6) as u64;
        }
    }
    sum
}

#[test]
fn thousands_of_random_ticks_have_no_faults() {
    for seed in 1..=4 {
        soak(Topology::Square, seed, 1_500);
        soak(Topology::Hexagonal, seed, 1_500);
    }
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_does_not() {
    for topology in [Topology::Square, Topology::Hexagonal] {
        assert_eq!(soak(topology, 9, 400), soak(topology, 9, 400));
        assert_ne!(soak(topology, 9, 400), soak(topology, 10, 400));
    }
}

/// Sends each unit from a start to a goal along a field of its own; returns the ticks until all have arrived.
fn march(grid: &NavGrid, routes: &[(Cell, Cell)], most: u64) -> u64 {
    march_by(grid, routes, most, false)
}

/// The same; with `has_paths`, along paths instead of fields.
pub fn march_by(grid: &NavGrid, routes: &[(Cell, Cell)], most: u64, has_paths: bool) -> u64 {
    let mut crowd = Crowd::new(grid);
    let profile = ProfileId::default();
    let guided = if has_paths { &[] } else { routes };
    let fields: Vec<DistanceField> =
        guided.iter().map(|route| field(grid, profile, route.1).unwrap()).collect();
    let mut units = Vec::new();
    for (number, &(from, to)) in routes.iter().enumerate() {
        let unit = crowd.add(grid, from, UnitSettings::default()).unwrap();
        if has_paths {
            let path = grid.find_path(profile, from, to).unwrap();
            crowd.follow(grid, unit, &path).unwrap();
        } else {
            crowd.follow_route(unit, RouteId(number as u32)).unwrap();
        }
        units.push((number as u64, unit, profile));
    }
    let (mut checker, mut arrived) = (Checker::new(), 0);
    for tick in 1..=most {
        let positions = |crowd: &Crowd| -> Vec<_> {
            units.iter().map(|&(_, unit, _)| (unit, crowd.position(grid, unit).unwrap())).collect()
        };
        let before = positions(&crowd);
        crowd.tick(grid, &fields);
        let moved: Vec<UnitId> = crowd.moved().collect();
        for (old, new) in before.iter().zip(positions(&crowd)) {
            assert!(
                *old == new || moved.contains(&new.0),
                "tick {tick}: unreported move {old:?} {new:?}"
            );
        }
        let is_arrival = |event: &&CrowdEvent| matches!(event, CrowdEvent::Arrived { .. });
        arrived += crowd.events().iter().filter(is_arrival).count();
        checker.look(grid, &seen(grid, &crowd, &units), &[]);
        assert!(checker.faults.is_clean(), "tick {tick}: {:?}", checker.first);
        if arrived == routes.len() {
            return tick;
        }
    }
    panic!("{arrived} of {} in {most} ticks", routes.len());
}

#[test]
fn two_armies_swap_sides() {
    let grid = NavGrid::new(60, 30, TerrainId::GROUND).unwrap();
    let routes: Vec<(Cell, Cell)> = (0..60)
        .flat_map(|i| {
            let (west, east) = (Cell::new(5 + i % 5, 8 + i / 5), Cell::new(45 + i % 5, 8 + i / 5));
            [(west, east), (east, west)]
        })
        .collect();
    let ticks = march(&grid, &routes, 1_500);
    assert!(ticks >= 400, "40 cells at ten ticks each");
}

/// Two columns meet in strips of hexagons: units can pass each other from two cells on, where they cannot all turn at once.
#[test]
fn columns_pass_each_other_in_strips_of_hexagons() {
    for (width, limit) in [(2, 1_600), (3, 1_300), (6, 1_150)] {
        let mut grid = NavGrid::new(70, 16, TerrainId::GROUND).unwrap();
        for y in (0..4).chain(4 + width..16) {
            grid.block(CellRect::new(Cell::new(15, y), 40, 1)).unwrap();
        }
        let grid = grid.with_topology(Topology::Hexagonal);
        let ends =
            (0..24).map(|i| (Cell::new(6 + i % 4, 2 + i / 4), Cell::new(60 + i % 4, 2 + i / 4)));
        let routes: Vec<_> = ends.flat_map(|(west, east)| [(west, east), (east, west)]).collect();
        let ticks = march(&grid, &routes, 8_000);
        assert!(ticks <= limit, "{width} wide: {ticks} ticks");
    }
}

#[test]
fn crossing_rows_meet_in_the_middle_and_all_arrive() {
    let grid = NavGrid::new(61, 61, TerrainId::GROUND).unwrap();
    let routes: Vec<(Cell, Cell)> = (-12..=12)
        .flat_map(|i| {
            let (x, y) = (30 + 2 * i, 5);
            let (here, there) = (Cell::new(x, y), Cell::new(60 - x, 55));
            [(here, there), (there, here)]
        })
        .collect();
    march(&grid, &routes, 1_500);
}

#[test]
fn a_group_comes_to_rest_on_distinct_cells() {
    let grid = NavGrid::new(60, 40, TerrainId::GROUND).unwrap();
    let goal = Cell::new(45, 20);
    let profile = ProfileId::default();
    let fields = vec![field(&grid, profile, goal).unwrap()];
    let mut crowd = Crowd::new(&grid);
    let start = |i: i32| Cell::new(3 + i % 10, 15 + i / 10);
    let members: Vec<FormationUnit> = (0..100).map(|i| FormationUnit::new(start(i))).collect();
    let slots = assign_slots(&grid, &members, &FormationSpec::to(goal));
    let mut units = Vec::new();
    for (i, slot) in (0..100).zip(slots) {
        let (unit, slot) =
            (crowd.add(&grid, start(i), UnitSettings::default()).unwrap(), slot.unwrap());
        let path = grid.find_path(profile, start(i), slot).unwrap();
        let member = Membership { swap_class: 0, slot, goal, route: Some(RouteId(0)) };
        crowd.follow_among(&grid, unit, &path, &member).unwrap();
        units.push((i as u64, unit, profile));
    }
    let mut checker = Checker::new();
    for tick in 0..1_500 {
        crowd.tick(&grid, &fields);
        checker.look(&grid, &seen(&grid, &crowd, &units), &[]);
        assert!(checker.faults.is_clean(), "tick {tick}: {:?}", checker.first);
    }
    let mut cells: Vec<Cell> =
        units.iter().map(|unit| crowd.position(&grid, unit.1).unwrap().1).collect();
    assert!(units.iter().all(|unit| crowd.has_arrived(unit.1)));
    let distance = |cell: &Cell| (cell.x - goal.x).abs().max((cell.y - goal.y).abs());
    assert!(cells.iter().all(|cell| distance(cell) <= 8), "{cells:?}");
    cells.sort_unstable();
    cells.dedup();
    assert_eq!(cells.len(), 100);
}

/// A unit walks along an alley towards an idle unit, which may or may not be pushable.
fn alley(is_pushable: bool) -> (NavGrid, Crowd, [UnitId; 2]) {
    let grid = NavGrid::new(12, 1, TerrainId::GROUND).unwrap();
    let mut crowd = Crowd::new(&grid);
    let walker = crowd.add(&grid, Cell::new(2, 0), UnitSettings::default()).unwrap();
    let settings = UnitSettings { is_pushable, ..UnitSettings::default() };
    let idle = crowd.add(&grid, Cell::new(5, 0), settings).unwrap();
    let path = grid.find_path(ProfileId(0), Cell::new(2, 0), Cell::new(8, 0)).unwrap();
    crowd.follow(&grid, walker, &path).unwrap();
    (grid, crowd, [walker, idle])
}

#[test]
fn a_crowd_reports_the_holder_of_a_cell_and_the_pusher_of_a_unit() {
    let (grid, mut crowd, [walker, idle]) = alley(true);
    assert_eq!(crowd.holder(&grid, Cell::new(2, 0)), Some(walker));
    assert_eq!(crowd.holder(&grid, Cell::new(3, 0)), None);
    assert_eq!(crowd.holder(&grid, Cell::new(3, 9)), None, "off the grid");
    let mut pushed = 0;
    for _ in 0..120 {
        crowd.tick(&grid, &());
        assert_eq!(crowd.pushed_by(walker), None, "no unit is behind it");
        assert_eq!(crowd.waits_for(walker), None, "it never waits");
        pushed += u32::from(crowd.pushed_by(idle) == Some(walker));
        for unit in [walker, idle] {
            let (tail, head) = crowd.position(&grid, unit).unwrap();
            assert_eq!(crowd.holder(&grid, tail), Some(unit));
            let holders = [Some(unit), Some(if unit == walker { idle } else { walker })];
            assert!(holders.contains(&crowd.holder(&grid, head)));
        }
    }
    // From cell 5 to 9, ten ticks each.
    assert!((35..=40).contains(&pushed), "{pushed} ticks");
    assert_eq!(crowd.counters().pushes, 4);
    assert_eq!(crowd.pushed_by(idle), None, "it stands still");
}

#[test]
fn a_crowd_reports_the_unit_that_another_waits_for() {
    let (grid, mut crowd, [walker, guard]) = alley(false);
    for _ in 0..60 {
        crowd.tick(&grid, &());
    }
    assert_eq!(crowd.position(&grid, walker).map(|(tail, _)| tail), Some(Cell::new(4, 0)));
    assert_eq!(crowd.waits_for(walker), Some(guard));
    assert_eq!(crowd.hindrance(walker).0, Hindrance::Obstacle);
    assert_eq!((crowd.waits_for(guard), crowd.pushed_by(guard)), (None, None));
    crowd.remove(guard);
    crowd.tick(&grid, &());
    crowd.tick(&grid, &());
    assert_eq!((crowd.waits_for(walker), crowd.waits_for(guard)), (None, None));
    assert_eq!(crowd.size(guard), None, "it was removed");
}

#[test]
fn a_unit_without_a_path_is_reported_lost_until_there_is_one() {
    let mut grid = NavGrid::new(20, 5, TerrainId::GROUND).unwrap();
    let wall = CellRect::new(Cell::new(10, 0), 1, 5);
    grid.block(wall).unwrap();
    let goal = Cell::new(15, 2);
    let mut fields = vec![field(&grid, ProfileId::default(), goal).unwrap()];
    let mut crowd = Crowd::new(&grid);
    let unit = crowd.add(&grid, Cell::new(3, 2), UnitSettings::default()).unwrap();
    crowd.follow_route(unit, RouteId(0)).unwrap();
    let mut lost = Vec::new();
    for tick in 1..=100 {
        crowd.tick(&grid, &fields);
        lost.extend(crowd.events().contains(&CrowdEvent::Lost { unit }).then_some(tick));
    }
    assert!((20..30).contains(&lost[0]), "first {lost:?}");
    assert!(lost.len() >= 4 && lost.windows(2).all(|pair| pair[1] - pair[0] <= 20), "{lost:?}");
    grid.unblock(wall).unwrap();
    fields[0] = field(&grid, ProfileId::default(), goal).unwrap();
    for _ in 0..160 {
        crowd.tick(&grid, &fields);
    }
    assert!(crowd.has_arrived(unit));
}

#[test]
fn profiles_may_be_added_in_any_order() {
    let profiles = vec![Profile::default(), Profile::default(), Profile::default().size(2)];
    let grid = NavGrid::new(30, 20, TerrainId::GROUND).unwrap().with_profiles(profiles);
    let mut crowd = Crowd::new(&grid);
    let mut fields = Vec::new();
    for (number, kind) in [1, 2, 0].into_iter().enumerate() {
        let (profile, y) = (ProfileId(kind), 3 + 5 * number as i32);
        let settings = UnitSettings { profile, ..UnitSettings::default() };
        let unit = crowd.add(&grid, Cell::new(2, y), settings).unwrap();
        fields.push(field(&grid, profile, Cell::new(20, y)).unwrap());
        crowd.follow_route(unit, RouteId(number as u32)).unwrap();
        for _ in 0..25 {
            crowd.tick(&grid, &fields);
        }
    }
    for _ in 0..250 {
        crowd.tick(&grid, &fields);
    }
    assert!(crowd.units().all(|unit| crowd.has_arrived(unit)));
}
