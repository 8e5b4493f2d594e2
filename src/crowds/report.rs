//! Lets the crowds move for a tick, and tells what came of it.
//!
//! Input: the crowds. Output: where critters are, which way they face, who has arrived, and who cannot
//! get on, with the reason. A critter that cannot find back to its path, or whose path was cut off, gets
//! another.

use bevy::{ecs::query::QueryData, prelude::*};

use super::{Crowds, Errand};
use crate::{
    flow::FlowFields,
    grids::NavGrids,
    group::{GroupPlace, GroupState},
    movement::{Critter, CritterState, Facing},
    nav::{
        cell::Cell,
        crowd::{CrowdEvent, Hindrance},
        direction::Direction,
        goal::Approach,
        path::{Path, PathKind},
        walk::Walk,
    },
    request::{ActiveOrder, Arrived, NavPath, PathRequest, PathStatus, way_out},
    scheduler::Pathfinder,
};

/// Ticks without a way after which a critter asks for a new path.
const LOST: u64 = 24;

/// What is shown of a critter.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Shown {
    entity: Entity,
    critter: &'static Critter,
    state: &'static mut CritterState,
    facing: &'static mut Facing,
    status: Option<&'static mut PathStatus>,
    path: Option<&'static NavPath>,
}

/// What an order is ended or begun anew with.
type Ordered = (
    Option<&'static PathRequest>,
    &'static mut PathStatus,
    &'static mut ActiveOrder,
    &'static mut NavPath,
    &'static mut CritterState,
);

/// What has come to an end in this tick, to be told in the order of the requests.
#[derive(Clone, Copy, Debug)]
pub(crate) enum News {
    Arrived,
    Stuck(Hindrance),
    Lost,
}

/// Lets all crowds move for a tick.
pub(crate) fn advance_crowds(
    time: Res<Time>,
    grids: Res<NavGrids>,
    fields: Res<FlowFields>,
    mut crowds: ResMut<Crowds>,
    mut pathfinder: ResMut<Pathfinder>,
    mut critters: ParamSet<(Query<Shown>, Query<Ordered>)>,
    mut places: Query<&mut GroupPlace>,
    mut groups: Query<&mut GroupState>,
    mut news: Local<Vec<(u64, Entity, News)>>,
    mut commands: Commands,
) {
    for (&id, host) in &mut crowds.hosts {
        if let Some(grid) = grids.get(id) {
            host.crowd.tick(grid, &fields.guides(&grids, id));
        }
    }
    let seconds = time.delta_secs();
    for mut critter in &mut critters.p0() {
        if let Some(lost) = critter.show(&grids, &crowds, seconds) {
            news.push(lost);
        }
    }
    collect_events(&crowds, &mut news);
    let mut orders = critters.p1();
    exchange_places(&crowds, &mut orders, &mut places, &mut groups);
    for (number, entity, _) in &mut *news {
        *number = orders.get(*entity).map_or(0, |order| order.2.number);
    }
    news.sort_unstable_by_key(|&(number, entity, _)| (number, entity));
    for (_, entity, what) in news.drain(..) {
        if let Ok(order) = orders.get_mut(entity) {
            tell((entity, what), order, (&grids, &mut pathfinder), &mut commands);
        }
    }
}

/// Notes which members of groups have exchanged their places.
fn exchange_places(
    crowds: &Crowds,
    orders: &mut Query<Ordered>,
    places: &mut Query<&mut GroupPlace>,
    groups: &mut Query<&mut GroupState>,
) {
    for host in crowds.hosts.values() {
        for event in host.crowd.events() {
            let CrowdEvent::Exchanged { unit, with } = *event else {
                continue;
            };
            let pair = [host.entities[unit.slot()], host.entities[with.slot()]];
            if let Ok([mut a, mut b]) = orders.get_many_mut(pair) {
                core::mem::swap(&mut a.2.query, &mut b.2.query);
                for (_, status, _, _, state) in [&mut a, &mut b] {
                    if let PathStatus::Arrived(kind) = **status {
                        state.member.has_told = true;
                        **status = PathStatus::Walking(kind);
                    }
                }
            }
            if let Ok([mut a, mut b]) = places.get_many_mut(pair) {
                core::mem::swap(&mut a.cell, &mut b.cell);
                if let Ok(mut group) = groups.get_mut(a.group) {
                    group.bypass_change_detection().exchange(pair[0], pair[1]);
                }
            }
        }
    }
}

fn collect_events(crowds: &Crowds, news: &mut Vec<(u64, Entity, News)>) {
    for host in crowds.hosts.values() {
        for event in host.crowd.events() {
            let (unit, what) = match *event {
                CrowdEvent::Arrived { unit, .. } => (unit, News::Arrived),
                CrowdEvent::Stuck { unit, why } => (unit, News::Stuck(why)),
                CrowdEvent::Exchanged { .. } => continue,
            };
            news.push((0, host.entities[unit.slot()], what));
        }
    }
}

impl ShownItem<'_, '_> {
    /// Takes over where the crowd has it; says if it has lost its way.
    fn show(
        &mut self,
        grids: &NavGrids,
        crowds: &Crowds,
        seconds: f32,
    ) -> Option<(u64, Entity, News)> {
        let unit = self.state.member.unit?;
        let id = self.state.member.grid;
        let (grid, crowd) = grids.get(id).zip(crowds.get(id))?;
        let (tail, head) = crowd.place(grid, unit)?;
        let is_moving = tail != head;
        self.state.bypass_change_detection().begin_tick();
        if is_moving || self.state.walk.is_between_cells() || !self.state.is_settled() {
            let size = grid.unit_size(self.state.member.profile);
            self.state.set_size(size);
            self.state.lead_over(None);
            let direction = Direction::between(tail, head).unwrap_or(self.state.walk.direction());
            self.state.walk = Walk::between((tail, head), direction, crowd.progress(unit));
            self.state.draw_in(None, (self.critter.speed * seconds).max(0.0));
            if is_moving {
                self.facing.set_if_neq(Facing(direction));
            }
        }
        let status = self.status.as_ref().filter(|status| status.is_walking())?;
        if is_moving {
            let is_released = matches!(**status, PathStatus::Stuck(_));
            if let (true, Some(path), Some(status)) = (is_released, self.path, &mut self.status) {
                **status = PathStatus::Walking(path.0.kind());
            }
            return None;
        }
        let (hindrance, waited) = crowd.hindrance(unit);
        let is_beginning = self.path.is_some_and(|path| path.0.kind() == PathKind::Beginning);
        let is_lost = hindrance == Hindrance::NoWay && waited >= LOST && !is_beginning;
        is_lost.then_some((0, self.entity, News::Lost))
    }
}

type OrderedItem<'a> = (
    Option<&'a PathRequest>,
    Mut<'a, PathStatus>,
    Mut<'a, ActiveOrder>,
    Mut<'a, NavPath>,
    Mut<'a, CritterState>,
);

fn tell(
    (entity, what): (Entity, News),
    (request, mut status, mut order, mut path, mut state): OrderedItem<'_>,
    (grids, pathfinder): (&NavGrids, &mut Pathfinder),
    commands: &mut Commands,
) {
    let is_latest = request.is_some() && order.asked == order.number;
    if !is_latest || !status.is_walking() || state.member.errand != Errand::Known {
        return;
    }
    match what {
        News::Arrived if is_elsewhere(&order, &path, state.cell()) => {
            ask_again((entity, grids, pathfinder), &mut order, (path, status, state));
        }
        News::Arrived => {
            let kind = path.0.kind();
            if kind == PathKind::Beginning {
                return; // the rest is on its way
            }
            *status = PathStatus::Arrived(kind);
            let cell = state.cell();
            if path.0.end() != cell {
                path.0 = Path::standing(cell); // the place of a mate
            }
            if !core::mem::take(&mut state.member.has_told) {
                commands.trigger(Arrived { entity, kind, cell });
            }
        }
        News::Stuck(why) => *status = PathStatus::Stuck(why),
        News::Lost => ask_again((entity, grids, pathfinder), &mut order, (path, status, state)),
    }
}

/// Whether a critter has come to the end of its path and its place is another by now: it exchanged places
/// with a member of its group, and the group is gone.
fn is_elsewhere(order: &ActiveOrder, path: &NavPath, cell: Cell) -> bool {
    let query = &order.query;
    let is_exact = query.approach == Approach::default() && order.goals.is_none();
    is_exact && path.0.kind() == PathKind::Complete && query.goal != cell
}

/// Asks for a way from where a critter stands.
fn ask_again(
    (entity, grids, pathfinder): (Entity, &NavGrids, &mut Pathfinder),
    order: &mut ActiveOrder,
    (mut path, mut status, mut state): (
        Mut<'_, NavPath>,
        Mut<'_, PathStatus>,
        Mut<'_, CritterState>,
    ),
) {
    let head = state.walk.head();
    let grid = grids.get(order.grid);
    let start = grid.map_or(head, |grid| way_out(grid, order.query.profile, head));
    path.0 = Path::standing(start);
    state.restart();
    pathfinder.ask_again(entity, order, start);
    *status = PathStatus::Repairing;
}
