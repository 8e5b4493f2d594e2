//! A world with everything in it, and a script of random acts that names units by their numbers, so that it can be played again in
//! other worlds.

#![allow(dead_code, reason = "each test file uses a part of it")]

use bevy::{
    ecs::{entity::EntityHashMap, entity_disabling::Disabled},
    prelude::*,
};
use bevy_tilepath::prelude::*;

use crate::common::{Random, any_topology, app::*, grid_with_single_walls, scatter_edges};

const CAVE: GridId = GridId(1);

/// What the game itself knows.
#[derive(Clone)]
pub struct Script {
    random: u64,
    units: Vec<Entity>,
    groups: Vec<Entity>,
    /// Blockers and fences.
    things: Vec<Entity>,
    links: Vec<Entity>,
}

pub struct Game {
    pub app: App,
    /// Whether no entities are spawned or despawned.
    pub keeps_entities: bool,
    /// Whether components are written now and then that do not change.
    pub touches: bool,
    /// Columns and rows of the ground.
    pub side: u32,
    script: Script,
}

/// What a tick looks like from outside, line by line.
pub type Picture = Vec<String>;

pub fn compare(first: &[Picture], second: &[Picture], what: &str) {
    assert_eq!(first.len(), second.len());
    for (tick, (a, b)) in first.iter().zip(second).enumerate() {
        let differences: Vec<String> = a
            .iter()
            .zip(b)
            .filter(|(a, b)| a != b)
            .map(|(a, b)| format!("  {a}\n  {b}"))
            .take(6)
            .collect();
        assert!(
            differences.is_empty() && a.len() == b.len(),
            "{what}, tick {tick}:\n{}",
            differences.join("\n")
        );
    }
}

fn set_terrain(grid: &mut NavGrid, rect: CellRect, terrain: TerrainId) {
    let cells = rect.intersection(grid.rect()).cells();
    let mut edit = grid.edit();
    cells.for_each(|cell| edit.set_terrain(cell, terrain).unwrap());
}

impl Game {
    /// An app without anything in it.
    pub fn empty() -> Self {
        let script =
            Script { random: 0, units: vec![], groups: vec![], things: vec![], links: vec![] };
        Self { app: app(), keeps_entities: false, touches: false, side: 72, script }
    }

    pub fn new(seed: u64) -> Self {
        Self::empty().fill(seed, 70)
    }

    /// A large world with 500 units.
    pub fn large(seed: u64) -> Self {
        Self { side: 160, ..Self::empty() }.fill(seed, 500)
    }

    /// A world in which no entities are spawned or despawned later.
    pub fn lasting(seed: u64) -> Self {
        Self { keeps_entities: true, ..Self::empty() }.fill(seed, 70)
    }

    pub fn fill(mut self, seed: u64, units: u32) -> Self {
        let side = self.side;
        let game = &mut self;
        game.script.random = seed * 1_000_003;
        let mut random = Random(seed);
        let topology = any_topology(&mut random);
        let mut ground = grid_with_single_walls((side, side), side * side / 8, &mut random);
        for _ in 0..60 {
            let at = Cell::new(random.below(side) as i32, random.below(side) as i32);
            set_terrain(&mut ground, CellRect::new(at, 5, 4), TerrainId(b'S'));
        }
        scatter_edges(&mut ground, 20, &mut random);
        let cave = grid_with_single_walls((20, 20), 60, &mut random);
        let marsh = Profile::default().with(TerrainId(b'S'), 30);
        let mut grids = grid(&mut game.app);
        grids.set_profiles(vec![marsh.clone(), marsh.clone().size(2), marsh]);
        grids.insert(GridId(0), ground.with_topology(topology), frame_of(topology));
        let frame = GridFrame::square(Vec2::new(2_000.0, 0.0), Vec2::splat(10.0));
        grids.insert(CAVE, cave, frame);
        game.app.insert_resource(TilePathSettings {
            budget: 500 + random.below(1_500),
            threads: 1 + random.below(4) as usize,
            landmark_bytes: 1 << 20,
            ..default()
        });
        let ends = [(CAVE, Cell::new(3, 3)), (CAVE, Cell::new(16, 12))];
        for (at, end) in ends.into_iter().enumerate() {
            let mouth = (GridId(0), CellRect::new(Cell::new(10 + 40 * at as i32, 30), 2, 2));
            let link = NavLink::new(mouth, end).cost(6);
            game.script.links.push(game.app.world_mut().spawn(link).id());
        }
        (0..units).for_each(|_| game.spawn());
        (0..units / 16).for_each(|_| game.make_group());
        (0..14).for_each(|_| game.build());
        self
    }

    pub fn clone_script(&self) -> Script {
        self.script.clone()
    }

    /// Plays on from here in the same world.
    pub fn rewind(&mut self, script: Script) {
        self.script = script;
    }

    /// Plays on from here, in a world that has other entities.
    pub fn follow(&mut self, mut script: Script, map: &EntityHashMap<Entity>) {
        let lists = [&mut script.units, &mut script.groups, &mut script.things, &mut script.links];
        for entity in lists.into_iter().flatten() {
            *entity = map.get(entity).copied().unwrap_or(Entity::PLACEHOLDER); // it was gone before
        }
        self.script = script;
    }

    /// Whether searches are in flight, units walk, queues have orders, groups are on their way and a link is used.
    pub fn is_busy(&mut self) -> bool {
        let counters = counters(&self.app);
        let units = self.script.units.clone();
        let status_of = |unit: Entity| self.app.world().get::<PathStatus>(unit).copied();
        let walking =
            units.iter().filter(|&&unit| matches!(status_of(unit), Some(PathStatus::Walking(_))));
        let walking = walking.count();
        let world = self.app.world_mut();
        let mut queues = world.query::<&OrderQueue>();
        counters.in_flight > 0
            && walking > 5
            && queues.iter(world).any(|queue| !queue.is_empty())
            && world.query::<&GroupSlot>().iter(world).count() > 5
            && world.resource::<FlowFields>().counters().alive > 0
    }

    /// Plays on until everything is under way at once, for at most 60 ticks.
    pub fn run_until_busy(&mut self) {
        for _ in 0..60 {
            if self.is_busy() {
                break;
            }
            self.run(1);
        }
    }

    pub fn units(&self) -> &[Entity] {
        &self.script.units
    }

    pub fn groups(&self) -> &[Entity] {
        &self.script.groups
    }

    /// Takes away all that may keep a unit from coming to rest for good: limits, patrols, closed links.
    pub fn calm(&mut self) {
        let world = self.app.world_mut();
        for &unit in &self.script.units {
            if let Ok(mut unit) = world.get_entity_mut(unit) {
                unit.remove::<(Disabled, OrderQueue, SpeedLimit, Unpushable, CrowdTeam)>();
            }
        }
        for &link in &self.script.links {
            world.get_mut::<NavLink>(link).unwrap().is_open = true;
        }
    }

    /// Plays a tick in which nobody does anything.
    pub fn rest(&mut self) {
        self.steer();
        self.app.update();
    }

    /// Plays so many ticks; returns what each looked like.
    pub fn run(&mut self, ticks: u32) -> Vec<Picture> {
        (0..ticks)
            .map(|_| {
                for _ in 0..self.below(4) {
                    self.act();
                }
                if self.touches {
                    self.touch();
                }
                self.steer();
                self.app.update();
                self.picture()
            })
            .collect()
    }

    fn below(&mut self, bound: u32) -> u32 {
        let mut random = Random(self.script.random);
        let number = random.below(bound);
        self.script.random = random.0;
        number
    }

    fn cell(&mut self) -> Cell {
        Cell::new(self.below(self.side) as i32, self.below(self.side) as i32)
    }

    fn unit(&mut self) -> Entity {
        let index = self.below(self.script.units.len() as u32);
        self.script.units[index as usize]
    }

    fn world(&mut self) -> &mut World {
        self.app.world_mut()
    }

    /// Physics of the units that are steered.
    fn steer(&mut self) {
        let world = self.world();
        let mut units = world.query::<(&DesiredVelocity, &mut Transform)>();
        for (velocity, mut transform) in units.iter_mut(world) {
            if **velocity != Vec2::ZERO {
                transform.translation += (**velocity / 64.0).extend(0.0);
            }
        }
    }

    /// Writes components without changing them.
    fn touch(&mut self) {
        fn touch<C: Component<Mutability = bevy::ecs::component::Mutable>>(world: &mut World) {
            let mut all = world.query_filtered::<&mut C, Allow<Disabled>>();
            all.iter_mut(world).step_by(2).for_each(|mut one| one.set_changed());
        }
        let world = self.app.world_mut();
        touch::<NavAgent>(world);
        touch::<Critter>(world);
        touch::<CritterState>(world);
        touch::<Transform>(world);
        touch::<RequestState>(world);
        touch::<PathStatus>(world);
        touch::<NavPath>(world);
        touch::<OrderQueue>(world);
        touch::<NavBlocker>(world);
        touch::<NavEdges>(world);
        touch::<NavLink>(world);
        touch::<CrowdTeam>(world);
        touch::<Group>(world);
        touch::<GroupSpeedLimit>(world);
    }

    fn spawn(&mut self) {
        let (kind, cell, speed) = (self.below(8), self.cell(), 2.0 + self.below(9) as f32);
        let profile = ProfileId([0, 0, 0, 2, 2, 1][self.below(6) as usize]);
        let place = Transform::from_xyz(cell.x as f32 * 10.0, cell.y as f32 * 10.0, 1.0);
        let mut unit = self.app.world_mut().spawn((NavAgent::new(profile), place));
        match kind {
            0..5 => unit.insert(Critter::new(speed)),
            5 => unit.insert((Critter::new(speed).ghost(), AnyAnglePath::default())),
            6 => unit.insert(PathSteering::new(speed)),
            _ => &mut unit,
        };
        let unit = unit.id();
        self.script.units.push(unit);
        self.order(unit);
    }

    fn order(&mut self, unit: Entity) {
        let (cell, kind, target) = (self.cell(), self.below(16), self.unit());
        let request = match kind {
            0 => PathRequest::to(cell).algorithm(Algorithm::Hierarchical),
            1 | 2 => PathRequest::to(cell).algorithm(Algorithm::AStar),
            3 => PathRequest::to(Cell::new(9, 9)).goal_on(CAVE),
            4 => PathRequest::follow(target),
            5 => PathRequest::to_nearest([cell, Cell::new(5, 5), Cell::new(60, 60)]).beside(),
            6 => PathRequest::to(Cell::new(500, 3)).or(cell),
            7 => PathRequest::to(Cell::new(500, 3)).retry(Retry::default()),
            8 => PathRequest::to(target).within(2),
            9 => PathRequest::to(cell).priority(Priority(2)),
            10 => PathRequest::to(cell).profile(ProfileId(2)),
            _ => PathRequest::to(cell).reach(Reach::Nearest),
        };
        self.world().entity_mut(unit).insert(request);
    }

    fn queue(&mut self, unit: Entity) {
        let (a, b, ticks) = (self.cell(), self.cell(), 1 + self.below(40));
        let kind = self.below(5);
        let mut unit = self.app.world_mut().entity_mut(unit);
        if let Some(mut queue) = unit.get_mut::<OrderQueue>()
            && kind < 3
        {
            match kind {
                0 => queue.stop(),
                1 => drop(queue.insert_first(PathRequest::to(a))),
                _ => drop(queue.append(Order::Wait { ticks })),
            }
            return;
        }
        let queue = OrderQueue::new()
            .then(PathRequest::to(a))
            .then(Order::Wait { ticks })
            .then(Order::patrol([a, b], PatrolMode::ThereAndBack));
        unit.insert(queue);
    }

    fn some_units(&mut self) -> Vec<Entity> {
        let count = 3 + self.below(9);
        (0..count).map(|_| self.unit()).collect()
    }

    fn make_group(&mut self) {
        let (cell, members) = (self.cell(), self.some_units());
        let group = Group::to(cell, members).formation(Formation::Box);
        let group = if self.keeps_entities || self.below(2) == 0 {
            group.persistent().keep_together()
        } else {
            group
        };
        let group = self.world().spawn(group).id();
        self.script.groups.push(group);
    }

    fn change_group(&mut self) {
        let (cell, members) = (self.cell(), self.some_units());
        let index = self.below(self.script.groups.len() as u32);
        let group = self.script.groups[index as usize];
        if let Some(mut group) = self.world().get_mut::<Group>(group) {
            group.goal = cell.into();
            group.members = members.into_iter().map(GroupMember::new).collect();
        }
    }

    /// Builds something, moves it, or takes it away.
    fn build(&mut self) {
        let (cell, kind) = (self.cell(), self.below(5));
        let edges = NavEdges::between(cell, Direction::East, EdgeId(kind as u8)).and(
            cell.offset(0, 1),
            Direction::East,
            EdgeId::WALL,
        );
        let wall = (
            NavBlocker::sized(3, 2),
            Transform::from_xyz(cell.x as f32 * 10.0, cell.y as f32 * 10.0, 0.0),
        );
        if self.script.things.len() < 14 || kind == 0 && !self.keeps_entities {
            let thing = match kind {
                0 | 1 => self.world().spawn(edges).id(),
                _ => self.world().spawn(wall).id(),
            };
            self.script.things.push(thing);
            return;
        }
        let index = self.below(self.script.things.len() as u32) as usize;
        let thing = self.script.things[index];
        if kind == 1 && !self.keeps_entities {
            self.script.things.swap_remove(index);
            self.world().entity_mut(thing).despawn();
            return;
        }
        let mut thing = self.app.world_mut().entity_mut(thing);
        match thing.contains::<NavEdges>() {
            true => thing.insert(edges),
            false => thing.insert(wall.1),
        };
    }

    /// Moves all blockers in the same tick.
    fn move_all(&mut self) {
        for thing in self.script.things.clone() {
            let cell = self.cell();
            if let Some(mut place) = self.world().get_mut::<Transform>(thing) {
                place.translation = Vec3::new(cell.x as f32 * 10.0, cell.y as f32 * 10.0, 0.0);
            }
        }
    }

    fn edit(&mut self) {
        let (cell, kind) = (self.cell(), self.below(3));
        let mut grids = grid(&mut self.app);
        let ground = grids.get_mut(GridId(0)).unwrap();
        let terrain = [TerrainId(b'S'), TerrainId::VOID, TerrainId::GROUND][kind as usize];
        set_terrain(ground, CellRect::new(cell, 3, 3), terrain);
    }

    fn act(&mut self) {
        let unit = self.unit();
        let number = self.below(100) as f32;
        let kind = self.below(30);
        if self.app.world().get_entity(unit).is_err() {
            return;
        }
        match kind {
            0..9 => self.order(unit),
            9..12 => self.queue(unit),
            12..14 => self.change_group(),
            14 | 15 => self.build(),
            16 => self.move_all(),
            17..19 => self.edit(),
            19 => {
                let cell = self.cell();
                let place = Vec3::new(cell.x as f32 * 10.0, cell.y as f32 * 10.0, 1.0);
                self.world().get_mut::<Transform>(unit).unwrap().translation = place;
            }
            20 => drop(self.world().entity_mut(unit).insert(SpeedLimit(number / 10.0))),
            21 => {
                let mut unit = self.app.world_mut().entity_mut(unit);
                match unit.contains::<Unpushable>() {
                    true => unit.remove::<Unpushable>(),
                    false => unit.insert((Unpushable, CrowdTeam(1))),
                };
            }
            22 => {
                let profile = ProfileId(number as u8 % 3);
                self.world().get_mut::<NavAgent>(unit).unwrap().profile = profile;
            }
            23 => {
                let mut unit = self.app.world_mut().entity_mut(unit);
                match unit.contains::<Disabled>() {
                    true => unit.remove::<Disabled>(),
                    false => unit.insert(Disabled),
                };
            }
            24 => {
                let mut unit = self.app.world_mut().entity_mut(unit);
                match unit.contains::<PathSteering>() {
                    true => unit.remove::<PathSteering>().insert(Critter::new(5.0)),
                    false => unit.remove::<Critter>().insert(PathSteering::new(5.0)),
                };
            }
            25 => {
                let link = self.script.links[number as usize % 2];
                let mut link = self.world().get_mut::<NavLink>(link).unwrap();
                link.is_open = !link.is_open;
            }
            26 => drop(self.world().entity_mut(unit).remove::<PathRequest>()),
            27 if !self.keeps_entities => self.spawn(),
            28 if !self.keeps_entities => self.make_group(),
            29 if !self.keeps_entities => {
                self.script.units.retain(|&other| other != unit);
                self.world().entity_mut(unit).despawn();
            }
            _ => {}
        }
    }

    fn picture(&mut self) -> Picture {
        let checksum = state_checksum(self.app.world_mut());
        let world = self.app.world();
        let counters = PathCounters { search_bytes: 0, ..*world.resource() };
        let fields = world.resource::<FlowFields>().counters();
        let crowd = world.resource::<Crowds>().counters();
        let mut lines =
            vec![format!("{checksum:x} {fields:?}"), format!("{counters:?}"), format!("{crowd:?}")];
        lines.extend(self.script.units.iter().enumerate().map(|(number, &unit)| {
            let Ok(unit) = world.get_entity(unit) else {
                return format!("{number} gone");
            };
            let status = unit.get::<PathStatus>();
            let place = unit.get::<Transform>().map(|it| (it.translation, it.rotation));
            let state = unit.get::<CritterState>().map(|state| (state.walk(), state.velocity()));
            let orders = unit.get::<OrderQueue>().map(OrderQueue::len);
            let slot = unit.get::<GroupSlot>().map(|slot| slot.cell);
            let path = unit.get::<NavPath>().map(|path| (path.start(), path.end(), path.steps()));
            format!("{number} {status:?} {place:?} {state:?} {orders:?} {slot:?} {path:?}")
        }));
        lines
    }
}
