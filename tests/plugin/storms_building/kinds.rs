//! What a storm consists of, by kind: the map, the units, the orders, and what happens to units.

use bevy::{ecs::entity_disabling::Disabled, prelude::*};
use bevy_tilepath::prelude::*;

use super::Storm;
use crate::common::{Random, app::*, units::*, with_edges};
use crate::watch::*;

pub const SIDE: u32 = 32;
/// Columns and rows from one wall of the rooms to the next.
const ROOM: u32 = 8;

/// The second grid, on the same place.
const UPPER: GridId = GridId(1);

/// What a storm consists of beside orders to units and groups, and buildings.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Plain,
    /// Rooms with doors of one cell.
    Rooms,
    /// Rooms of fences with gaps, and fences of several kinds that come and go.
    Fences,
    /// Every fifth unit is of 2 × 2 cells.
    MixedSizes,
    /// Units turn from 1 × 1 to 2 × 2 cells and back.
    Growing,
    FourNeighbors,
    /// Ground of several costs.
    MixedGround,
    /// Ground of several costs that changes.
    ChangingGround,
    Queues,
    Patrols,
    Followers,
    /// The nearest of several, beside entities, within a range, in sight; with alternatives and retries.
    Targets,
    /// Groups in all formations, some of which stay.
    Formations,
    /// Speeds, teams, ghosts, any-angle ghosts, and disabled units.
    Settings,
    /// Units change their profile; for some of them, parts of the ground become impassable.
    Profiles,
    /// Units change between two grids.
    Grids,
    /// The game writes transforms.
    Moved,
    /// Units are despawned, spawned and cloned.
    Lives,
}

impl Kind {
    /// Whether the checker of overlaps can be used: it knows one grid, and no units that appear anywhere.
    pub fn can_be_watched(self) -> bool {
        !matches!(self, Self::Settings | Self::Grids)
    }

    fn map(self) -> String {
        let is_wall = |x: u32, y: u32| {
            let (is_column, is_row) = (x % ROOM == ROOM - 1, y % ROOM == ROOM - 1);
            is_column && y % ROOM != 3 || is_row && x % ROOM != 3
        };
        let letter = |x, y| if self == Self::Rooms && is_wall(x, y) { '#' } else { '.' };
        let row = |y| (0..SIDE).map(|x| letter(x, y)).collect::<String>() + "\n";
        (0..SIDE).map(row).collect()
    }

    fn profiles(self) -> Vec<Profile> {
        let on_ground = |costs: &[(u8, u16)]| {
            costs.iter().fold(Profile::default(), |profile, &(ground, cost)| {
                profile.with(TerrainId(ground), cost)
            })
        };
        let plain = match self {
            Self::Fences => with_edges(Profile::default()),
            Self::FourNeighbors => Profile::default().neighbors(Neighborhood::Four),
            Self::MixedGround | Self::ChangingGround => on_ground(&[(2, 32), (3, 80), (4, 16)]),
            _ => Profile::default(),
        };
        let amphibian = on_ground(&[(2, 32), (3, 16), (4, 16)]);
        let walker = on_ground(&[(2, 16)]).neighbors(Neighborhood::Four);
        vec![plain.clone(), plain.size(2), amphibian, walker]
    }
}

impl Storm {
    pub fn begin(kind: Kind, topology: Topology, seed: u64) -> Self {
        let mut app = app_on(&kind.map(), topology);
        grid(&mut app).set_profiles(kind.profiles());
        if kind == Kind::Grids {
            let upper = grid_from(&kind.map()).with_topology(topology);
            grid(&mut app).insert(UPPER, upper, frame_of(topology));
        }
        let (units, built, random, watch) = (vec![], vec![], Random(seed), Watch::new());
        let mut storm = Self { kind, app, units, built, random, watch };
        if kind == Kind::Fences {
            storm.fence_rooms();
        }
        let patches = if matches!(kind, Kind::MixedGround | Kind::Profiles) { 60 } else { 0 };
        for _ in 0..patches {
            let at = storm.cell();
            let (rect, ground) = (storm.rect_at(at, 6), 1 + storm.below(4));
            storm.set_ground(rect, ground);
        }
        (0..20).for_each(|at| storm.spawn((3 + at % 5 * 3, 3 + at / 5 * 3), at % 5 == 0));
        storm
    }

    /// Fences off rooms with gaps.
    fn fence_rooms(&mut self) {
        let mut grids = grid(&mut self.app);
        let level = grids.get_mut(GridId::default()).unwrap();
        let is_hexagonal = level.topology() == Topology::Hexagonal;
        let mut edit = level.edit();
        for cell in CellRect::new(Cell::default(), SIDE, SIDE).cells() {
            let [x, y] = [cell.x, cell.y].map(|at| at as u32 % ROOM);
            let mut set = |direction| {
                // At the border of the grid there is none.
                let _is_set = edit.set_edge(cell, direction, EdgeId::WALL);
            };
            if x == ROOM - 1 && y != 3 {
                set(Direction::East);
            }
            if y == ROOM - 1 && x != 3 {
                set(Direction::North);
            }
            if is_hexagonal && (x == 0 || y == ROOM - 1) {
                set(Direction::NorthWest);
            }
        }
    }

    /// Sets edges of any kind beside a unit.
    fn change_fences(&mut self, unit: Entity) {
        let (at, count) = (state(&self.app, unit).walk().head(), 1 + self.below(4));
        let mut grids = grid(&mut self.app);
        let mut edit = grids.get_mut(GridId::default()).unwrap().edit();
        for _ in 0..count {
            let direction = Direction::ALL[self.random.below(8) as usize];
            // Some lie along diagonals or at the border.
            let _is_set = edit.set_edge(at, direction, EdgeId(self.random.below(5) as u8));
        }
    }

    /// Spawns a unit of one of four speeds.
    fn spawn(&mut self, cell: (i32, i32), is_fifth: bool) {
        let profile = match self.kind {
            Kind::MixedSizes if is_fifth => BIG,
            Kind::Profiles => ProfileId(2), // all ground is open to it
            _ => SMALL,
        };
        let speed = [2.0, 4.0, 8.0, 30.0][self.below(4) as usize];
        let unit = spawn_unit(&mut self.app, profile, cell);
        let mut entity = self.app.world_mut().entity_mut(unit);
        entity.insert((Critter::new(speed), NavAgent::new(profile)));
        self.units.push(unit);
    }

    /// Sends a unit or a group somewhere, or does to a unit what the kind of the storm is about.
    pub fn order_some(&mut self) {
        let is_special = self.below(2) == 0 && self.kind != Kind::Plain;
        let (unit, goal) = (self.unit(), self.cell());
        if is_special && self.change(unit, goal) {
            return;
        }
        if self.below(3) > 0 {
            return self.insert(unit, PathRequest::to(goal).reach(Reach::Nearest));
        }
        let group = Group::to(goal, self.some_units(unit));
        self.app.world_mut().spawn(group);
    }

    fn insert(&mut self, unit: Entity, bundle: impl Bundle) {
        self.app.world_mut().entity_mut(unit).insert(bundle);
    }

    fn some_units(&self, first: Entity) -> Vec<Entity> {
        let units = self.units.iter().copied();
        units.skip_while(|&unit| unit != first).take(6).collect()
    }

    /// Does what the kind of the storm is about; returns whether there is anything.
    fn change(&mut self, unit: Entity, goal: Cell) -> bool {
        match self.kind {
            Kind::Queues | Kind::Patrols => self.queue_orders(unit, goal),
            Kind::Followers => {
                let (target, range) = (self.unit(), 1 + self.below(3) as u16);
                let request = PathRequest::follow(target).within(range);
                self.insert(unit, request.reach(Reach::Nearest));
            }
            Kind::Targets => {
                let request = self.request_of_any_kind(goal);
                self.insert(unit, request);
            }
            Kind::Formations => self.form(unit, goal),
            Kind::Fences => self.change_fences(unit),
            Kind::Settings => self.change_setting(unit),
            Kind::Profiles => {
                let profile = ProfileId([0, 2, 3][self.below(3) as usize]);
                self.insert(unit, NavAgent::new(profile));
            }
            Kind::Growing => {
                let profile = ProfileId(self.below(2) as u8);
                self.watch.allow_jump(unit);
                self.insert(unit, NavAgent::new(profile));
            }
            Kind::Grids => {
                let agent = NavAgent::default().on(GridId(self.below(2)));
                self.insert(unit, agent);
            }
            Kind::Moved => self.move_unit(unit, goal),
            Kind::Lives => self.replace(unit, goal),
            _ => return false,
        }
        true
    }

    fn queue_orders(&mut self, unit: Entity, goal: Cell) {
        let stops = [goal, self.cell(), self.cell()];
        let queue = OrderQueue::new();
        let queue = match self.kind {
            Kind::Patrols => {
                let mode = [PatrolMode::ThereAndBack, PatrolMode::Round][self.below(2) as usize];
                queue.then(Order::Wait { ticks: self.below(9) }).then(Order::patrol(stops, mode))
            }
            _ => stops.map(PathRequest::to).into_iter().fold(queue, OrderQueue::then),
        };
        self.insert(unit, queue);
    }

    fn request_of_any_kind(&mut self, goal: Cell) -> PathRequest {
        let (unit, other, range) = (self.unit(), self.cell(), 1 + self.below(6) as u16);
        let request = match self.below(6) {
            0 => PathRequest::to_nearest([goal, other, self.cell()]),
            1 => PathRequest::to(unit).beside(),
            2 => PathRequest::to(goal).within(range),
            3 => PathRequest::to(unit).in_sight(range, SMALL),
            4 => PathRequest::to(self.rect_at(goal, 5)),
            _ => PathRequest::to_nearest([Target::from(unit), Target::from(goal)]).beside(),
        };
        let request = if self.below(2) == 0 { request.or(other) } else { request };
        if self.below(2) == 0 { request.retry(Retry::default()) } else { request }
    }

    fn form(&mut self, unit: Entity, goal: Cell) {
        use Formation::{Box, Column, Line, Loose, Wedge};
        let formation = [Loose, Line, Column, Box, Wedge][self.below(5) as usize];
        let group = Group::to(goal, self.some_units(unit)).formation(formation);
        let group = group.spacing(self.below(3) as u8);
        let group = if self.below(3) == 0 { group.keep_together() } else { group };
        let group = if self.below(3) == 0 { group.persistent() } else { group };
        self.app.world_mut().spawn(group);
    }

    fn change_setting(&mut self, unit: Entity) {
        let (what, speed, team) = (self.below(7), self.below(5), self.below(2));
        let mut unit = self.app.world_mut().entity_mut(unit);
        match what {
            0 => {
                let mut critter = unit.get_mut::<Critter>().unwrap();
                critter.collides = !critter.collides;
            }
            1 if unit.contains::<Disabled>() => drop(unit.remove::<Disabled>()),
            1 => drop(unit.insert(Disabled)),
            2 => {
                let speed = [0.0, 0.5, 3.0, 20.0, 100.0][speed as usize];
                unit.get_mut::<Critter>().unwrap().speed = speed;
            }
            3 => drop(unit.remove::<PathRequest>()),
            4 if unit.contains::<Unpushable>() => drop(unit.remove::<Unpushable>()),
            4 => drop(unit.insert(Unpushable)),
            5 if unit.contains::<AnyAnglePath>() => drop(unit.remove::<AnyAnglePath>()),
            5 => drop(unit.insert(AnyAnglePath::default())),
            _ => drop(unit.insert(CrowdTeam(team as u8))),
        }
    }

    /// Moves a unit to the center of a cell, to anywhere, off the grid, or to where nothing is.
    fn move_unit(&mut self, unit: Entity, goal: Cell) {
        self.watch.allow_jump(unit);
        let what = self.below(8);
        let mut transform = self.app.world_mut().get_mut::<Transform>(unit).unwrap();
        let to = Vec2::new(goal.x as f32, goal.y as f32) * 10.0;
        let position = match what {
            0 => Vec2::NAN,
            1 => to - Vec2::splat(400.0),
            2 => to + Vec2::new(3.0, -4.9),
            3 => transform.translation.truncate() + Vec2::new(6.0, 2.0),
            _ => to,
        };
        transform.translation = position.extend(0.0);
    }

    /// Despawns a unit and spawns or clones another one.
    fn replace(&mut self, unit: Entity, goal: Cell) {
        let what = self.below(3);
        if what > 0 {
            self.units.retain(|&other| other != unit);
            self.app.world_mut().entity_mut(unit).despawn();
        }
        if what < 2 {
            self.spawn((goal.x, goal.y), false);
        } else {
            let original = self.unit();
            let clone = self.app.world_mut().entity_mut(original).clone_and_spawn();
            self.units.push(clone);
        }
    }

    /// Ends what would never end: units that stand still or off the grid, patrols, and those that follow others.
    pub fn end(&mut self) {
        for &unit in &self.units {
            let mut unit = self.app.world_mut().entity_mut(unit);
            unit.remove::<(Disabled, Unpushable, CrowdTeam)>();
            let mut critter = unit.get_mut::<Critter>().unwrap();
            critter.speed = critter.speed.max(2.0);
            if unit.get::<PathRequest>().is_some_and(|request| request.follows) {
                unit.remove::<PathRequest>();
            }
            if self.kind == Kind::Patrols
                && let Some(mut queue) = unit.get_mut::<OrderQueue>()
            {
                queue.stop();
            }
        }
    }
}
