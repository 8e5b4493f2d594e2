//! The plan of the smoke run: which critters to select, and where to send them.
//!
//! Input: the game state. Output: a selection box and positions to click, all in view and not
//! covered by panels.

use std::{collections::BTreeMap, time::Duration};

use bevy::prelude::*;

use crate::{
    buildings::{Building, BuildingKind},
    camera::MainCamera,
    compare::play_area,
    kinds::Kind,
    map::GameMap,
    units::Unit,
};

/// Half the side of the selection box, and of the region around the goal, in pixels.
const BOX: f32 = 130.0;
const GOAL: f32 = 90.0;
/// Half the side of the area that one critter may cover, in pixels per cell of its side.
const BODY: f32 = 24.0;
/// Least distance of a click on empty terrain from critters and buildings, in pixels per cell of
/// their side.
const CLEAR: f32 = 26.0;

/// Positions on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spot {
    BoxStart,
    BoxEnd,
    /// A free position, as far from the box as the view allows.
    Goal,
    /// Free positions away from the other ones: for the selected critters, a tank and a boat.
    Rally,
    TankGoal,
    BoatGoal,
    /// A dummy.
    Target,
    /// A depot.
    House,
    /// A trooper, a tank and a boat outside the box.
    Friend,
    Tank,
    Boat,
}

/// The selection box and the click positions, in pixels.
#[derive(Resource, Clone, Debug)]
pub struct Plan {
    pub dragged: Rect,
    positions: BTreeMap<Spot, Vec2>,
    /// Numbers of the critters among the spots: these may move.
    critters: BTreeMap<Spot, u32>,
    /// Regions of the screen that may change.
    pub touched: Vec<Rect>,
    /// Number of critters in the box.
    pub selected: usize,
    /// When the script last clicked on a critter that may be moving.
    pub clicked: Option<Duration>,
}

impl Plan {
    /// Plans a box around the critter nearest to the middle of the left side, and goals in view
    /// that this critter can reach.
    pub fn make(world: &mut World) -> Result<Self, String> {
        let view = ScreenView::of(world)?;
        let map = world.resource::<GameMap>();
        let left = Vec2::new(play_area().min.x + BOX, play_area().center().y);
        let (unit, at) = view.nearest(left, |_| true).ok_or("there is no critter in view")?;
        let dragged = Rect::from_center_half_size(at, Vec2::splat(BOX));
        let others = ScreenView { units: view.outside(dragged.inflate(BODY)), ..view.clone() };
        let [friend, tank, boat] = [Kind::Trooper, Kind::Tank, Kind::Boat].map(|kind| {
            let found = others.nearest(play_area().center(), |other| other.kind == kind);
            found.ok_or_else(|| format!("there are no {} in view", kind.plural()))
        });
        let found = [(Spot::Friend, friend?), (Spot::Tank, tank?), (Spot::Boat, boat?)];
        let critters = found.map(|(spot, (unit, _))| (spot, unit.number));
        let [friend, tank, boat] = found.map(|(_, (_, at))| at);
        let target = view.building(BuildingKind::Dummy).ok_or("there is no dummy in view")?;
        let house = view.building(BuildingKind::Depot).ok_or("there is no depot in view")?;
        let goal = view.open_position(map, unit.kind, &[at])?;
        let rally = view.open_position(map, unit.kind, &[at, goal])?;
        let used = [tank, at, goal, rally, friend, target, house];
        let positions = BTreeMap::from([
            (Spot::BoxStart, dragged.min),
            (Spot::BoxEnd, dragged.max),
            (Spot::Goal, goal),
            (Spot::Rally, rally),
            (Spot::TankGoal, view.open_position(map, Kind::Tank, &used)?),
            (Spot::BoatGoal, view.open_position(map, Kind::Boat, &[boat])?),
            (Spot::Target, target),
            (Spot::House, house),
            (Spot::Friend, friend),
            (Spot::Tank, tank),
            (Spot::Boat, boat),
        ]);
        let critters = BTreeMap::from(critters);
        let mut plan = Self {
            dragged,
            positions,
            critters,
            touched: vec![dragged],
            selected: 0,
            clicked: None,
        };
        plan.touched.push(plan.goal_region());
        Ok(plan)
    }

    /// Updates the positions of the plan's critters.
    pub fn refresh(&mut self, world: &mut World) -> Result<(), String> {
        let view = ScreenView::of(world)?;
        for (&spot, &number) in &self.critters {
            let found = view.units.iter().find(|(unit, _)| unit.number == number);
            let (_, at) = found.ok_or_else(|| format!("{spot:?} is gone"))?;
            self.positions.insert(spot, *at);
        }
        Ok(())
    }

    /// Returns the position of a spot.
    pub fn position(&self, spot: Spot) -> Vec2 {
        self.positions.get(&spot).copied().unwrap_or_default()
    }

    /// Returns the region in which the critters stop.
    pub fn goal_region(&self) -> Rect {
        Rect::from_center_half_size(self.position(Spot::Goal), Vec2::splat(GOAL))
    }
}

/// Critters and buildings on the screen, in pixels.
#[derive(Clone)]
struct ScreenView {
    camera: Camera,
    eye: GlobalTransform,
    units: Vec<(Unit, Vec2)>,
    buildings: Vec<(Building, Vec2)>,
}

impl ScreenView {
    fn of(world: &mut World) -> Result<Self, String> {
        let mut cameras = world.query_filtered::<(&Camera, &GlobalTransform), With<MainCamera>>();
        let (camera, eye) = cameras.single(world).map_err(|error| error.to_string())?;
        let (camera, eye) = (camera.clone(), *eye);
        let seen = |at: &Transform| camera.world_to_viewport(&eye, at.translation).ok();
        let mut units = world.query::<(&Unit, &Transform)>();
        let units = units.iter(world).filter_map(|(&unit, at)| Some((unit, seen(at)?)));
        let units = units.collect();
        let mut buildings = world.query::<(&Building, &Transform)>();
        let buildings =
            buildings.iter(world).filter_map(|(&building, at)| Some((building, seen(at)?)));
        let buildings = buildings.collect();
        Ok(Self { camera, eye, units, buildings })
    }

    /// Returns the critters in the play area that are not in `region`.
    fn outside(&self, region: Rect) -> Vec<(Unit, Vec2)> {
        let is_outside = |at| play_area().contains(at) && !region.contains(at);
        self.units.iter().copied().filter(|&(_, at)| is_outside(at)).collect()
    }

    /// Returns the wanted critter nearest to a position.
    fn nearest(&self, to: Vec2, is_wanted: impl Fn(Unit) -> bool) -> Option<(Unit, Vec2)> {
        let wanted = self.units.iter().copied().filter(|&(unit, _)| is_wanted(unit));
        wanted.min_by(|a, b| a.1.distance(to).total_cmp(&b.1.distance(to)))
    }

    /// Returns the building of a kind that is nearest to the middle.
    fn building(&self, kind: BuildingKind) -> Option<Vec2> {
        let center = play_area().center();
        let wanted = self.buildings.iter().filter(|(building, _)| building.kind == kind);
        let positions = wanted.map(|&(_, at)| at).filter(|&at| play_area().contains(at));
        positions.min_by(|a, b| a.distance(center).total_cmp(&b.distance(center)))
    }

    /// Returns the free position in view that is farthest from all of `from` and that a critter of
    /// `kind` can reach from the first of them.
    fn open_position(&self, map: &GameMap, kind: Kind, from: &[Vec2]) -> Result<Vec2, String> {
        let region = |position: Vec2| {
            let at = self.camera.viewport_to_world_2d(&self.eye, position).ok()?;
            map.grid.region(kind.profile(), map.frame.cell_at(at)?)
        };
        let home = region(from[0]);
        let units = self.units.iter().map(|&(unit, at)| (f32::from(unit.width), at));
        let buildings = self.buildings.iter().map(|&(one, at)| (one.kind.size() as f32, at));
        let taken: Vec<_> = units.chain(buildings).collect();
        let is_clear =
            |position: Vec2| taken.iter().all(|&(size, at)| at.distance(position) > CLEAR * size);
        let gap =
            |position: Vec2| from.iter().map(|at| at.distance(position)).fold(f32::MAX, f32::min);
        sample_points(play_area().inflate(-GOAL))
            .filter(|&at| home.is_some() && region(at) == home && is_clear(at))
            .max_by(|&a, &b| gap(a).total_cmp(&gap(b)))
            .ok_or_else(|| format!("there is no free goal for {}", kind.plural()))
    }
}

/// Returns points spread evenly over a rectangle.
fn sample_points(rect: Rect) -> impl Iterator<Item = Vec2> {
    const STEPS: i32 = 20;
    (0..=STEPS)
        .flat_map(|y| (0..=STEPS).map(move |x| Vec2::new(x as f32, y as f32) / STEPS as f32))
        .map(move |share| rect.min + share * rect.size())
}

/// Returns the screen rectangles that critters may cover.
pub fn unit_rects(world: &mut World) -> Vec<Rect> {
    let units = ScreenView::of(world).map(|view| view.units).unwrap_or_default();
    let half = |unit: Unit| Vec2::splat(BODY * f32::from(unit.width));
    units.into_iter().map(|(unit, at)| Rect::from_center_half_size(at, half(unit))).collect()
}
