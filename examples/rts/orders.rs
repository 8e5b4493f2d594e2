//! Orders: go there, then there, stop.
//!
//! Input: critters and a cell. Output: a [`PathRequest`] for each critter, to a cell of its own
//! near the one meant, and an [`OrderQueue`] with what comes after it. What becomes of orders is
//! counted in [`Tally`] and told in [`Notice`]s.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bevy::{
    ecs::{query::QueryData, system::SystemParam},
    prelude::*,
};
use bevy_tilepath::prelude::*;

use crate::{
    placement::{Spiral, island_of},
    units::Unit,
};

/// Where a critter is going, and where it goes after that.
#[derive(Component, Clone, Debug, Default)]
pub struct OrderQueue {
    pub current: Option<Cell>,
    pub next: VecDeque<Cell>,
}

/// What has become of all orders so far.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Orders to single critters.
    pub orders: u64,
    /// Arrivals, at the goal or as near to it as the critter could get.
    pub arrived: u64,
    /// Orders that could not be carried out.
    pub failed: u64,
}

/// Something the player should know about an order.
#[derive(Event, Clone, Debug)]
pub struct Notice {
    /// Where, if anywhere.
    pub cell: Option<Cell>,
    pub text: String,
}

#[derive(QueryData)]
#[query_data(mutable)]
struct Ordered {
    entity: Entity,
    unit: &'static Unit,
    transform: &'static Transform,
    queue: &'static mut OrderQueue,
}

/// Gives orders.
#[derive(SystemParam)]
pub struct Dispatcher<'w, 's> {
    commands: Commands<'w, 's>,
    grids: Res<'w, NavGrids>,
    spiral: Res<'w, Spiral>,
    tally: ResMut<'w, Tally>,
    units: Query<'w, 's, Ordered>,
}

impl Dispatcher<'_, '_> {
    /// Sends critters to cells around `goal`, nearest first; `queued` lets them finish first what
    /// they are doing.
    pub fn send(&mut self, units: &[Entity], goal: Cell, queued: bool) {
        let (Some(grid), Some(frame)) =
            (self.grids.get(GridId::default()), self.grids.frame(GridId::default()))
        else {
            return;
        };
        let center = frame.cell_center(goal);
        let mut group: Vec<_> = units
            .iter()
            .filter_map(|&entity| {
                let unit = self.units.get(entity).ok()?;
                let place = unit.transform.translation.truncate();
                Some((center.distance_squared(place), unit.unit.number, entity, place))
            })
            .collect();
        group.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut goals = Goals::around(goal, grid, &self.spiral);
        for (.., entity, place) in group {
            let Ok(mut unit) = self.units.get_mut(entity) else { continue };
            let profile = unit.unit.kind.profile();
            let goal = goals.next(profile, frame.cell_at(place));
            self.tally.orders += 1;
            if queued && unit.queue.current.is_some() {
                unit.queue.next.push_back(goal);
            } else {
                *unit.queue = OrderQueue { current: Some(goal), ..default() };
                self.commands.entity(entity).insert(request(unit.unit, goal));
            }
        }
    }

    /// Stops critters where they are; one between two cells goes on to the next.
    pub fn stop(&mut self, units: &[Entity]) {
        for &entity in units {
            if let Ok(mut unit) = self.units.get_mut(entity) {
                *unit.queue = OrderQueue::default();
                self.commands.entity(entity).remove::<PathRequest>();
            }
        }
    }
}

fn request(unit: &Unit, goal: Cell) -> PathRequest {
    PathRequest::to(goal).profile(unit.kind.profile()).reach(Reach::Nearest)
}

/// Hands out a goal of its own to each critter of a group.
struct Goals<'a> {
    grid: &'a NavGrid,
    spiral: &'a Spiral,
    center: Cell,
    taken: BTreeSet<Cell>,
    /// How far along the spiral each profile on each island has come.
    reached: BTreeMap<(u8, Option<u32>), usize>,
}

impl<'a> Goals<'a> {
    fn around(center: Cell, grid: &'a NavGrid, spiral: &'a Spiral) -> Self {
        Self { grid, spiral, center, taken: BTreeSet::new(), reached: BTreeMap::new() }
    }

    /// The nearest free cell to the center that a critter standing on `start` can get to; the
    /// center itself where there is none, to be approached as far as possible.
    fn next(&mut self, profile: ProfileId, start: Option<Cell>) -> Cell {
        let island = start.and_then(|start| island_of(self.grid, profile, start));
        let index = self.reached.entry((profile.0, island)).or_default();
        while let Some(cell) = self.spiral.cell(self.center, *index) {
            *index += 1;
            let can_stand = island.is_some() && island_of(self.grid, profile, cell) == island;
            if can_stand && self.taken.insert(cell) {
                return cell;
            }
        }
        self.center
    }
}

/// Gives a critter that has arrived its next order.
pub fn note_arrival(
    arrived: On<Arrived>,
    mut units: Query<(&Unit, &mut OrderQueue)>,
    mut tally: ResMut<Tally>,
    mut commands: Commands,
) {
    let Ok((unit, mut queue)) = units.get_mut(arrived.entity) else {
        return;
    };
    tally.arrived += 1;
    if arrived.kind == PathKind::Partial {
        let text = "goal out of reach: went as near as possible".into();
        commands.trigger(Notice { cell: queue.current, text });
    }
    begin_next(arrived.entity, unit, &mut queue, &mut commands);
}

/// Tells of an order that could not be carried out, and goes on with the next.
pub fn note_failure(
    failed: On<PathFailed>,
    mut units: Query<(&Unit, &mut OrderQueue)>,
    mut tally: ResMut<Tally>,
    mut commands: Commands,
) {
    if matches!(failed.reason, PathFailure::Superseded | PathFailure::Canceled) {
        return; // by a newer order, which is under way
    }
    let Ok((unit, mut queue)) = units.get_mut(failed.entity) else {
        return;
    };
    tally.failed += 1;
    commands.trigger(Notice { cell: queue.current, text: failed.reason.to_string() });
    begin_next(failed.entity, unit, &mut queue, &mut commands);
}

fn begin_next(entity: Entity, unit: &Unit, queue: &mut OrderQueue, commands: &mut Commands) {
    queue.current = queue.next.pop_front();
    if let Some(goal) = queue.current {
        commands.entity(entity).insert(request(unit, goal));
    }
}
