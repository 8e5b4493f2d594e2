//! A hundred critters with random orders, moves by hand, buildings, spawns and despawns: no tick has a fault,
//! nor has any frame between ticks, and a second run gives the same result.

use core::time::Duration;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_tilepath::prelude::*;

use crate::common::{Random, app::*, units::*};
use crate::watch::*;

const SIDE: u32 = 48;

fn pick(random: &mut Random, bound: u32) -> i32 {
    random.below(bound) as i32
}

fn random_cell(random: &mut Random) -> (i32, i32) {
    (pick(random, SIDE), pick(random, SIDE))
}

/// A map, the critters on it, and the walls built while it runs.
struct Soak {
    app: App,
    random: Random,
    watch: Watch,
    units: Vec<Entity>,
    walls: Vec<CellRect>,
}

impl Soak {
    fn new(seed: u64, topology: Topology) -> Self {
        let mut random = Random(seed);
        let mut app = app_on(&field(SIDE as usize, SIDE as usize), topology);
        let profiles = vec![Profile::default(), Profile::default().size(2)];
        grid(&mut app).set_profiles(profiles);
        for _ in 0..60 {
            let at = Cell::from(random_cell(&mut random));
            block(&mut app, CellRect::single(at));
        }
        Self { app, random, watch: Watch::new(), units: Vec::new(), walls: Vec::new() }
    }

    fn spawn(&mut self) {
        let random = &mut self.random;
        let profile = ProfileId(u8::from(pick(random, 5) == 0));
        let critter = (Critter::new(2.0 + pick(random, 12) as f32), NavAgent::new(profile));
        let at = random_cell(random);
        self.units.push(spawn_kind_at(&mut self.app, critter, at));
    }

    fn any_unit(&mut self) -> Entity {
        let index = self.random.below(self.units.len() as u32);
        self.units[index as usize]
    }

    fn order_random_unit(&mut self) {
        let unit = self.any_unit();
        let goal = Cell::from(random_cell(&mut self.random));
        let profile = self.app.world().get::<NavAgent>(unit).unwrap().profile;
        let request = PathRequest::to(goal).profile(profile).reach(Reach::Nearest);
        let mut unit = self.app.world_mut().entity_mut(unit);
        match self.random.below(12) {
            0 => unit.remove::<PathRequest>(),
            _ => unit.insert(request),
        };
    }

    fn despawn_random_unit(&mut self) {
        let index = self.random.below(self.units.len() as u32) as usize;
        let unit = self.units.swap_remove(index);
        self.app.world_mut().entity_mut(unit).despawn();
    }

    /// Moves a standing critter to a random cell: free, occupied, or a wall.
    fn move_random_unit(&mut self) {
        let (unit, at) = (self.any_unit(), random_cell(&mut self.random));
        if !state(&self.app, unit).walk().is_between_cells() {
            move_to(&mut self.app, unit, at);
            self.watch.allow_jump(unit);
        }
    }

    fn build(&mut self) {
        let at = Cell::from((pick(&mut self.random, SIDE - 4), pick(&mut self.random, SIDE - 4)));
        let size = (1 + self.random.below(4), 1 + self.random.below(3));
        let wall = CellRect::new(at, size.0, size.1);
        block(&mut self.app, wall);
        self.walls.push(wall);
        if self.walls.len() > 8 {
            let oldest = self.walls.remove(0);
            unblock(&mut self.app, oldest);
        }
    }

    /// Changes the pushability, the team or the collision of a critter.
    fn change_random_unit(&mut self) {
        let unit = self.any_unit();
        let team = CrowdTeam(self.random.below(3) as u8);
        let mut entity = self.app.world_mut().entity_mut(unit);
        match self.random.below(4) {
            0 if entity.contains::<Unpushable>() => {
                entity.remove::<Unpushable>();
            }
            0 => {
                entity.insert(Unpushable);
            }
            1 => {
                entity.insert(team);
            }
            2 => {
                entity.remove::<CrowdTeam>();
            }
            _ => {
                let mut critter = entity.get_mut::<Critter>().unwrap();
                critter.collides = !critter.collides;
            }
        }
    }

    fn tick(&mut self, tick: u32) {
        if self.units.len() < 100 {
            self.spawn();
        }
        self.order_random_unit();
        self.order_random_unit();
        let actions: [(u32, fn(&mut Self)); 4] = [
            (31, Self::despawn_random_unit),
            (13, Self::move_random_unit),
            (53, Self::build),
            (7, Self::change_random_unit),
        ];
        for (every, action) in actions {
            if tick % every == 5 {
                action(self);
            }
        }
        self.watch.tick(&mut self.app);
    }

    /// Asserts that every critter in the crowd is in it once, and that the crowd has no units without a
    /// critter.
    fn check_units(&mut self) {
        let mut critters = self.app.world_mut().query::<(Entity, &CritterState)>();
        let world = self.app.world();
        let crowds: &Crowds = world.resource();
        let mut count = 0;
        for (entity, state) in critters.iter(world) {
            if let Some(unit) = state.unit() {
                assert_eq!(crowds.entity(GridId::default(), unit), Some(entity));
                count += 1;
            }
        }
        assert_eq!(count, crowd_len(&self.app));
    }
}

#[test]
fn random_ticks_have_no_faults() {
    let shapes = [Topology::Square, Topology::Square, Topology::Hexagonal, Topology::Hexagonal];
    for (seed, topology) in (1..).zip(shapes) {
        let mut soak = Soak::new(seed, topology);
        for tick in 0..1_500 {
            soak.tick(tick);
            if tick % 50 == 0 {
                soak.check_units();
            }
        }
        soak.check_units();
        let CrowdCounters { steps, pushes, .. } = crowd_counters(&soak.app);
        assert!(steps > 5_000 && pushes > 50, "seed {seed}: {steps} steps, {pushes} pushes");
        assert!(counters(&soak.app).repaired > 0, "seed {seed}: no path was cut");
    }
}

/// Returns an app with `count` critters that start exactly on distinct cells.
fn crowd_of(
    topology: Topology,
    count: i32,
    seed: u64,
    threads: usize,
) -> (App, Vec<Entity>, Random) {
    let mut random = Random(seed);
    let mut app = app_on(&field(40, 24), topology);
    app.insert_resource(TilePathSettings { threads, ..TilePathSettings::default() });
    for _ in 0..30 {
        // On odd rows only: all critters start on even ones.
        let at = Cell::new(pick(&mut random, 40), 1 + 2 * pick(&mut random, 12));
        block(&mut app, CellRect::single(at));
    }
    let units = (0..count)
        .map(|i| {
            let critter = Critter::new(3.0 + (i % 8) as f32);
            spawn_at(&mut app, critter, (1 + 3 * (i % 12), 2 * (i / 12)))
        })
        .collect();
    (app, units, random)
}

fn order_at_random(app: &mut App, units: &[Entity], random: &mut Random) {
    let unit = units[random.below(units.len() as u32) as usize];
    let goal = Cell::new(pick(random, 40), pick(random, 24));
    insert_request(app, unit, PathRequest::to(goal).reach(Reach::Nearest));
}

/// Returns the shortest distance between two transforms, in cells.
fn nearest(app: &App, units: &[Entity]) -> f32 {
    let positions: Vec<Vec2> = units.iter().map(|&unit| position(app, unit)).collect();
    let pairs = positions.iter().enumerate();
    let distances =
        pairs.flat_map(|(at, &a)| positions[at + 1..].iter().map(move |&b| a.distance(b) / 10.0));
    distances.fold(f32::INFINITY, f32::min)
}

#[test]
fn discs_never_overlap_between_ticks() {
    // About four and two and a half frames per tick, and two and a half ticks per frame.
    let paces = [(3_906, 3_200), (6_250, 2_000), (40_000, 400)];
    let squares = paces.map(|pace| (pace, Topology::Square, core::f32::consts::FRAC_1_SQRT_2));
    let hexagons = paces.map(|pace| (pace, Topology::Hexagonal, 0.75_f32.sqrt()));
    for ((micros, frames), topology, closest) in squares.into_iter().chain(hexagons) {
        let (mut app, units, mut random) = crowd_of(topology, 60, 11, 0);
        run(&mut app, 1);
        let frame = Duration::from_micros(micros);
        app.insert_resource(TimeUpdateStrategy::ManualDuration(frame));
        let (mut least, mut between) = (f32::INFINITY, 0);
        for number in 0..frames {
            if number % (1 + 12_000 / micros) == 0 {
                order_at_random(&mut app, &units, &mut random);
            }
            app.update();
            least = least.min(nearest(&app, &units));
            assert!(
                least >= closest - 1.0e-3,
                "{least} cells apart in frame {number} of {micros} µs"
            );
            between += u32::from(app.world().resource::<Time<Fixed>>().overstep_fraction() > 0.1);
        }
        assert!(between > frames as u32 / 4, "some frames fall between ticks");
        assert!(least < 1.0, "some came closer than whole cells: {least}");
    }
}

/// Returns the checksums of a crowd under random orders, every 20 ticks, and its counters.
fn play(topology: Topology, seed: u64, threads: usize) -> (Vec<u64>, CrowdCounters) {
    let (mut app, units, mut random) = crowd_of(topology, 100, seed, threads);
    let mut sums = Vec::new();
    for tick in 0..600 {
        order_at_random(&mut app, &units, &mut random);
        if tick % 60 == 30 {
            let at = Cell::new(pick(&mut random, 38), pick(&mut random, 22));
            block(&mut app, CellRect::new(at, 2, 1));
        }
        app.update();
        if tick % 20 == 0 {
            sums.push(state_checksum(app.world_mut()));
        }
    }
    (sums, crowd_counters(&app))
}

#[test]
fn runs_are_reproducible_with_any_number_of_threads() {
    for topology in [Topology::Square, Topology::Hexagonal] {
        let once = play(topology, 5, 1);
        assert!(once.1.pushes > 0 && once.1.steps > 1_000, "{:?}", once.1);
        assert_eq!(once, play(topology, 5, 1), "a second run");
        assert_eq!(once, play(topology, 5, 2), "two threads");
        assert_ne!(once.0, play(topology, 6, 1).0, "another seed");
    }
}
