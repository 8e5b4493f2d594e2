//! Crowds: which units have arrived, which return to their goal and when, and how units leave a building that
//! was built over them.

use bevy_tilepath::{
    nav::{
        crowd::{Crowd, CrowdEvent, RouteId, UnitId, UnitSettings},
        field::DistanceField,
    },
    prelude::*,
};

fn field(grid: &NavGrid, goal: Cell) -> DistanceField {
    let mut field = DistanceField::new();
    field.start(grid, ProfileId::default(), goal).unwrap();
    while !field.is_finished() {
        field.step(grid, u32::MAX);
    }
    field
}

/// A crowd on a grid, and a field for each of its units.
struct Scene {
    grid: NavGrid,
    crowd: Crowd,
    fields: Vec<DistanceField>,
}

impl Scene {
    fn new(width: u32, height: u32) -> Self {
        let grid = NavGrid::new(width, height, TerrainId::GROUND).unwrap();
        let crowd = Crowd::new(&grid);
        Self { grid, crowd, fields: Vec::new() }
    }

    fn send(&mut self, from: (i32, i32), to: (i32, i32)) -> UnitId {
        let at = Cell::new(from.0, from.1);
        let unit = self.crowd.add(&self.grid, at, UnitSettings::default()).unwrap();
        self.fields.push(field(&self.grid, to.into()));
        self.crowd.follow_route(unit, RouteId(self.fields.len() as u32 - 1)).unwrap();
        unit
    }

    /// Runs ticks and calls `look` after each, until it returns `true`. Returns the number of ticks.
    fn run(&mut self, most: u32, mut look: impl FnMut(&Self) -> bool) -> u32 {
        for tick in 1..=most {
            self.crowd.tick(&self.grid, &self.fields);
            if look(self) {
                return tick;
            }
        }
        most
    }

    fn position(&self, unit: UnitId) -> (Cell, Cell) {
        self.crowd.position(&self.grid, unit).unwrap()
    }

    fn build(&mut self, rect: CellRect) {
        self.grid.block(rect).unwrap();
        for field in &mut self.fields {
            *field = self::field(&self.grid, field.goal().min);
        }
    }
}

/// Sends a unit to a goal and builds over it; returns its cell in every tick from then on, until it arrives.
fn built_over(goal: (i32, i32)) -> Vec<Cell> {
    let mut scene = Scene::new(40, 21);
    let unit = scene.send((9, 10), goal);
    scene.run(1, |_| false);
    scene.build(CellRect::new(Cell::new(8, 1), 8, 19));
    let mut cells = Vec::new();
    scene.run(1_000, |scene| {
        cells.push(scene.position(unit).0);
        scene.crowd.has_arrived(unit)
    });
    assert!(scene.crowd.has_arrived(unit));
    cells
}

#[test]
fn a_unit_that_is_built_over_leaves_on_the_side_of_its_goal() {
    // Two steps back or seven forward: going back would mean walking around the whole building.
    let cells = built_over((30, 10));
    assert!(cells.iter().all(|cell| (9..=30).contains(&cell.x)), "{cells:?}");
    assert!(cells.len() <= 215, "21 cells at 10 ticks each, not {}", cells.len());
    // From the far end, this goal is farther than from the near end.
    let cells = built_over((10, 20));
    assert!(cells.iter().all(|cell| cell.x <= 10 || cell.y == 20), "{cells:?}");
}

#[test]
fn a_unit_that_is_built_over_walks_around_an_unpushable_unit() {
    let mut scene = Scene::new(40, 40);
    let unit = scene.send((11, 20), (30, 20));
    let settings = UnitSettings { is_pushable: false, ..UnitSettings::default() };
    scene.crowd.add(&scene.grid, Cell::new(13, 20), settings).unwrap();
    scene.build(CellRect::new(Cell::new(10, 15), 3, 11));
    scene.run(800, |scene| scene.crowd.has_arrived(unit));
    assert!(scene.crowd.has_arrived(unit), "{:?}", scene.position(unit));
}

#[test]
fn two_teams_that_meet_under_a_building_both_get_out() {
    // An alley between walls, with a passage around it at the top.
    let mut scene = Scene::new(40, 12);
    for wall in [CellRect::new(Cell::new(8, 0), 20, 5), CellRect::new(Cell::new(8, 6), 20, 4)] {
        scene.grid.block(wall).unwrap();
    }
    let east = scene.send((11, 5), (35, 5));
    let west = scene.send((24, 5), (2, 5));
    scene.crowd.set(west, UnitSettings { team: 1, ..Default::default() }).unwrap();
    scene.build(CellRect::new(Cell::new(8, 5), 20, 1));
    scene.run(3_000, |scene| [east, west].iter().all(|&unit| scene.crowd.has_arrived(unit)));
    assert!(scene.crowd.has_arrived(east) && scene.crowd.has_arrived(west));
}

#[test]
fn a_unit_that_is_pushed_on_in_the_tick_of_its_arrival_has_arrived() {
    let mut scene = Scene::new(30, 1);
    let behind = scene.send((1, 0), (20, 0));
    let ahead = scene.send((2, 0), (10, 0));
    let mut rested = false;
    let ticks = scene.run(300, |scene| {
        let (tail, head) = scene.position(ahead);
        rested |= tail == head && tail == Cell::new(10, 0);
        let comes = CrowdEvent::Arrived { unit: ahead, cell: Cell::new(10, 0) };
        scene.crowd.events().contains(&comes)
    });
    assert!(!rested, "it is pushed on immediately");
    assert!((80..=82).contains(&ticks), "eight cells at 10 ticks each, not {ticks}");
    // Its arrival is not reported again when it comes back.
    let is_arrival =
        |event: &CrowdEvent| matches!(event, CrowdEvent::Arrived { unit, .. } if *unit == ahead);
    scene.run(600, |scene| {
        assert!(!scene.crowd.events().iter().any(is_arrival));
        false
    });
    assert!(scene.crowd.has_arrived(behind));
}

#[test]
fn idle_units_that_are_pushed_have_not_arrived_anywhere() {
    let mut scene = Scene::new(30, 1);
    let idle = scene.crowd.add(&scene.grid, Cell::new(5, 0), UnitSettings::default()).unwrap();
    let walker = scene.send((2, 0), (12, 0));
    scene.run(300, |scene| {
        let of_idle =
            |event: &CrowdEvent| matches!(event, CrowdEvent::Arrived { unit, .. } if *unit == idle);
        assert!(!scene.crowd.events().iter().any(of_idle));
        scene.crowd.has_arrived(walker)
    });
    assert!(scene.crowd.has_arrived(walker));
    assert_eq!(scene.position(idle).0, Cell::new(13, 0));
}

#[test]
fn a_unit_that_was_pushed_off_its_goal_returns_when_all_have_passed() {
    let mut scene = Scene::new(40, 3);
    let goal = Cell::new(20, 1);
    let guard = scene.send((18, 1), (20, 1));
    scene.run(100, |scene| scene.crowd.has_arrived(guard));
    let column: Vec<UnitId> =
        (0..6).map(|number| scene.send((12 - 2 * number, 1), (38 - number, 1))).collect();
    let (mut steps, mut stood) = (0, true);
    let mut back = 0;
    let mut passed = 0;
    let mut tick = 0;
    scene.run(900, |scene| {
        tick += 1;
        let (tail, head) = scene.position(guard);
        steps += u32::from(tail != head && stood);
        stood = tail == head;
        if column.iter().any(|&unit| scene.position(unit).0.x <= 20) {
            passed = tick;
        }
        if tail != goal {
            back = tick;
        }
        column.iter().all(|&unit| scene.crowd.has_arrived(unit)) && back + 60 < tick
    });
    assert!(passed > 0 && back > passed, "{back} {passed}");
    assert_eq!(scene.position(guard), (goal, goal));
    assert!(steps <= 4, "away and back, not {steps} steps");
}
