//! What a game that plays by itself does: whom to select, and where to send them.
//!
//! Input: the game as it stands. Output: a box to drag and places to click, all in view and away
//! from the panels.

use std::collections::BTreeMap;

use bevy::prelude::*;

use crate::{
    buildings::{Building, BuildingKind},
    camera::MainCamera,
    compare::stage,
    kinds::Kind,
    map::GameMap,
    units::Unit,
};

/// Half the side of the box that is dragged, and of the region around the goal, in pixels.
const BOX: f32 = 130.0;
const GOAL: f32 = 90.0;
/// Half the side of what one critter may cover, in pixels, by cells along its side.
const BODY: f32 = 24.0;
/// How far from everybody a click must be to mean the ground, in pixels.
const CLEAR: f32 = 26.0;

/// Places on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spot {
    BoxStart,
    BoxEnd,
    /// Free ground, as far from the box as can be seen.
    Goal,
    /// Free ground between everything else, for the box, for a tank and for a boat.
    Rally,
    Yard,
    Lake,
    /// A dummy.
    Target,
    /// A depot.
    House,
    /// A trooper, a tank and a boat outside of the box.
    Friend,
    Tank,
    Boat,
}

/// What is dragged over and where to, in pixels.
#[derive(Resource, Clone, Debug)]
pub struct Plan {
    pub dragged: Rect,
    places: BTreeMap<Spot, Vec2>,
    /// The numbers of the critters among them: those may be pushed aside.
    critters: BTreeMap<Spot, u32>,
    /// Regions of the screen that may change.
    pub touched: Vec<Rect>,
    /// How many critters were in the box.
    pub selected: usize,
}

impl Plan {
    /// Drags over the critter nearest to the middle of the left side, and sends whoever is in the
    /// box to places in view that this one can go to.
    pub fn make(world: &mut World) -> Result<Self, String> {
        let view = View::of(world)?;
        let map = world.resource::<GameMap>();
        let left = Vec2::new(stage().min.x + BOX, stage().center().y);
        let (unit, at) = view.nearest(left, |_| true).ok_or("there is no critter in view")?;
        let dragged = Rect::from_center_half_size(at, Vec2::splat(BOX));
        let others = View { units: view.outside(dragged.inflate(BODY)), ..view.clone() };
        let [friend, tank, boat] = [Kind::Trooper, Kind::Tank, Kind::Boat].map(|kind| {
            let found = others.nearest(stage().center(), |other| other.kind == kind);
            found.ok_or_else(|| format!("there are no {} in view", kind.plural()))
        });
        let found = [(Spot::Friend, friend?), (Spot::Tank, tank?), (Spot::Boat, boat?)];
        let critters = found.map(|(spot, (unit, _))| (spot, unit.number));
        let [friend, tank, boat] = found.map(|(_, (_, at))| at);
        let target = view.building(BuildingKind::Dummy).ok_or("there is no dummy in view")?;
        let house = view.building(BuildingKind::Depot).ok_or("there is no depot in view")?;
        let goal = view.open_ground(map, unit.kind, &[at])?;
        let rally = view.open_ground(map, unit.kind, &[at, goal])?;
        let busy = [tank, at, goal, rally, friend, target, house];
        let places = BTreeMap::from([
            (Spot::BoxStart, dragged.min),
            (Spot::BoxEnd, dragged.max),
            (Spot::Goal, goal),
            (Spot::Rally, rally),
            (Spot::Yard, view.open_ground(map, Kind::Tank, &busy)?),
            (Spot::Lake, view.open_ground(map, Kind::Boat, &[boat])?),
            (Spot::Target, target),
            (Spot::House, house),
            (Spot::Friend, friend),
            (Spot::Tank, tank),
            (Spot::Boat, boat),
        ]);
        let critters = BTreeMap::from(critters);
        let mut plan = Self { dragged, places, critters, touched: vec![dragged], selected: 0 };
        plan.touched.push(plan.goal_region());
        Ok(plan)
    }

    /// Finds out where the critters of the plan are by now.
    pub fn look(&mut self, world: &mut World) -> Result<(), String> {
        let view = View::of(world)?;
        for (&spot, &number) in &self.critters {
            let found = view.units.iter().find(|(unit, _)| unit.number == number);
            let (_, at) = found.ok_or_else(|| format!("{spot:?} is gone"))?;
            self.places.insert(spot, *at);
        }
        Ok(())
    }

    /// A place on the screen.
    pub fn place(&self, spot: Spot) -> Vec2 {
        self.places.get(&spot).copied().unwrap_or_default()
    }

    /// Where critters stand once they have arrived.
    pub fn goal_region(&self) -> Rect {
        Rect::from_center_half_size(self.place(Spot::Goal), Vec2::splat(GOAL))
    }
}

/// What is where on the screen, in pixels.
#[derive(Clone)]
struct View {
    camera: Camera,
    eye: GlobalTransform,
    units: Vec<(Unit, Vec2)>,
    buildings: Vec<(Building, Vec2)>,
}

impl View {
    fn of(world: &mut World) -> Result<Self, String> {
        let mut cameras = world.query_filtered::<(&Camera, &GlobalTransform), With<MainCamera>>();
        let (camera, eye) = cameras.single(world).map_err(|error| error.to_string())?;
        let (camera, eye) = (camera.clone(), *eye);
        let seen = |place: &Transform| camera.world_to_viewport(&eye, place.translation).ok();
        let mut units = world.query::<(&Unit, &Transform)>();
        let units = units.iter(world).filter_map(|(&unit, place)| Some((unit, seen(place)?)));
        let units = units.collect();
        let mut buildings = world.query::<(&Building, &Transform)>();
        let buildings =
            buildings.iter(world).filter_map(|(&building, place)| Some((building, seen(place)?)));
        let buildings = buildings.collect();
        Ok(Self { camera, eye, units, buildings })
    }

    /// The critters on the stage that are not in a region of it.
    fn outside(&self, region: Rect) -> Vec<(Unit, Vec2)> {
        let is_outside = |at| stage().contains(at) && !region.contains(at);
        self.units.iter().copied().filter(|&(_, at)| is_outside(at)).collect()
    }

    /// The critter nearest to a place among those that are wanted.
    fn nearest(&self, to: Vec2, is_wanted: impl Fn(Unit) -> bool) -> Option<(Unit, Vec2)> {
        let wanted = self.units.iter().copied().filter(|&(unit, _)| is_wanted(unit));
        wanted.min_by(|a, b| a.1.distance(to).total_cmp(&b.1.distance(to)))
    }

    /// The building of a kind that is nearest to the middle.
    fn building(&self, kind: BuildingKind) -> Option<Vec2> {
        let center = stage().center();
        let wanted = self.buildings.iter().filter(|(building, _)| building.kind == kind);
        let places = wanted.map(|&(_, at)| at).filter(|&at| stage().contains(at));
        places.min_by(|a, b| a.distance(center).total_cmp(&b.distance(center)))
    }

    /// The place in view that is farthest from some others, where nothing stands and a critter of
    /// `kind` can go from the first of them.
    fn open_ground(&self, map: &GameMap, kind: Kind, from: &[Vec2]) -> Result<Vec2, String> {
        let island = |place: Vec2| {
            let at = self.camera.viewport_to_world_2d(&self.eye, place).ok()?;
            map.grid.region(kind.profile(), map.frame.cell_at(at)?)
        };
        let home = island(from[0]);
        let units = self.units.iter().map(|&(unit, at)| (f32::from(unit.kind.size()), at));
        let buildings = self.buildings.iter().map(|&(one, at)| (one.kind.size() as f32, at));
        let taken: Vec<_> = units.chain(buildings).collect();
        let is_clear =
            |place: Vec2| taken.iter().all(|&(size, at)| at.distance(place) > CLEAR * size);
        let gap = |place: Vec2| from.iter().map(|at| at.distance(place)).fold(f32::MAX, f32::min);
        raster(stage().inflate(-GOAL))
            .filter(|&place| home.is_some() && island(place) == home && is_clear(place))
            .max_by(|&a, &b| gap(a).total_cmp(&gap(b)))
            .ok_or_else(|| format!("there is nowhere to go for {}", kind.plural()))
    }
}

/// Points spread evenly over a rectangle.
fn raster(rect: Rect) -> impl Iterator<Item = Vec2> {
    const STEPS: i32 = 20;
    (0..=STEPS)
        .flat_map(|y| (0..=STEPS).map(move |x| Vec2::new(x as f32, y as f32) / STEPS as f32))
        .map(move |share| rect.min + share * rect.size())
}

/// What critters cover of the screen.
pub fn bodies(world: &mut World) -> Vec<Rect> {
    let units = View::of(world).map(|view| view.units).unwrap_or_default();
    let half = |unit: Unit| Vec2::splat(BODY * f32::from(unit.kind.size()));
    units.into_iter().map(|(unit, at)| Rect::from_center_half_size(at, half(unit))).collect()
}
