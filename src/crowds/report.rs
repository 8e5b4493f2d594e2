//! Lets the crowds move for a tick, and tells what came of it.
//!
//! Input: the crowds. Output: where critters are, which way they face, who has arrived, and who cannot
//! get on, with the reason. A critter that cannot find back to its path, or whose path was cut off, gets
//! another.

use core::hint::black_box;

use bevy::{
    ecs::{entity_disabling::Disabled, query::QueryData},
    prelude::*,
};

use super::{Crowds, Errand};
use crate::{
    flow::FlowFields,
    grids::NavGrids,
    group::{GroupPlace, GroupState},
    movement::{CritterState, Facing},
    nav::{
        cell::Cell,
        crowd::{Crowd, CrowdEvent, Hindrance, UnitId},
        direction::Direction,
        goal::Approach,
        grid::NavGrid,
        path::{Path, PathKind},
        walk::Walk,
    },
    request::{ActiveOrder, Arrived, NavPath, PathRequest, PathStatus, way_out},
    scheduler::Pathfinder,
};

/// What is shown of a critter.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Shown {
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

/// All units under orders, disabled ones too: no arrival is lost.
type OrderedUnits<'w, 's> = Query<'w, 's, Ordered, Allow<Disabled>>;

/// What has come to an end in this tick, to be told in the order of the requests.
#[derive(Clone, Copy, Debug)]
pub(crate) enum News {
    Arrived,
    Stuck(Hindrance),
    Lost,
}

/// Lets all crowds move for a tick.
pub(crate) fn advance_crowds(
    grids: Res<NavGrids>,
    fields: Res<FlowFields>,
    mut crowds: ResMut<Crowds>,
    mut pathfinder: ResMut<Pathfinder>,
    mut critters: ParamSet<(Query<Shown, Allow<Disabled>>, OrderedUnits)>,
    mut places: Query<&mut GroupPlace, Allow<Disabled>>,
    mut groups: Query<&mut GroupState, Allow<Disabled>>,
    mut news: Local<Vec<(u64, Entity, News)>>,
    mut commands: Commands,
) {
    for (&id, host) in &mut crowds.hosts {
        if let Some(grid) = grids.get(id) {
            host.crowd.tick(grid, &fields.guides(&grids, id));
        }
    }
    show_steps(&grids, &crowds, &mut critters.p0());
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

/// Takes over which steps have begun and ended, of disabled critters as well: they hold their cells.
fn show_steps(grids: &NavGrids, crowds: &Crowds, critters: &mut Query<Shown, Allow<Disabled>>) {
    for (&id, host) in &crowds.hosts {
        let Some(grid) = grids.get(id) else {
            continue;
        };
        // First a look at where all of them are kept, so that the processor waits for many at the same time.
        for unit in host.crowd.moved() {
            black_box(critters.contains(host.entities[unit.slot()]));
        }
        for unit in host.crowd.moved() {
            if let Ok(mut critter) = critters.get_mut(host.entities[unit.slot()]) {
                critter.show(grid, &host.crowd, unit);
            }
        }
    }
}

/// Notes which members of groups have other places than before.
fn exchange_places(
    crowds: &Crowds,
    orders: &mut OrderedUnits,
    places: &mut Query<&mut GroupPlace, Allow<Disabled>>,
    groups: &mut Query<&mut GroupState, Allow<Disabled>>,
) {
    for host in crowds.hosts.values() {
        for event in host.crowd.events() {
            let (unit, with, have_arrived) = match *event {
                CrowdEvent::Exchanged { unit, with, have_arrived } => (unit, with, have_arrived),
                CrowdEvent::Settled { unit, cell } => {
                    let entity = host.entities[unit.slot()];
                    settle((entity, cell), orders, places, groups);
                    continue;
                }
                _ => continue,
            };
            let pair = [host.entities[unit.slot()], host.entities[with.slot()]];
            if let Ok([mut a, mut b]) = orders.get_many_mut(pair) {
                core::mem::swap(&mut a.2.query, &mut b.2.query);
                for (_, status, _, _, state) in [&mut a, &mut b] {
                    if let PathStatus::Arrived(kind) = **status
                        && !have_arrived
                    {
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

/// Notes that a member of a group has another place than it was given.
fn settle(
    (entity, cell): (Entity, Cell),
    orders: &mut OrderedUnits,
    places: &mut Query<&mut GroupPlace, Allow<Disabled>>,
    groups: &mut Query<&mut GroupState, Allow<Disabled>>,
) {
    if let Ok((_, _, mut order, ..)) = orders.get_mut(entity) {
        order.query.goal = cell;
    }
    if let Ok(mut place) = places.get_mut(entity) {
        place.cell = cell;
        if let Ok(mut group) = groups.get_mut(place.group) {
            group.bypass_change_detection().settle(entity, cell);
        }
    }
}

fn collect_events(crowds: &Crowds, news: &mut Vec<(u64, Entity, News)>) {
    for host in crowds.hosts.values() {
        for event in host.crowd.events() {
            let (unit, what) = match *event {
                CrowdEvent::Arrived { unit, .. } => (unit, News::Arrived),
                CrowdEvent::Stuck { unit, why } => (unit, News::Stuck(why)),
                CrowdEvent::Lost { unit } => (unit, News::Lost),
                CrowdEvent::Exchanged { .. } | CrowdEvent::Settled { .. } => continue,
            };
            news.push((0, host.entities[unit.slot()], what));
        }
    }
}

impl ShownItem<'_, '_> {
    /// Takes over the step that a unit makes now, or that it stands.
    fn show(&mut self, grid: &NavGrid, crowd: &Crowd, unit: UnitId) {
        let state = self.state.bypass_change_detection();
        let place = crowd.place(grid, unit).filter(|_| state.member.unit == Some(unit));
        let Some((tail, head)) = place else {
            return;
        };
        let before = state.walk;
        let direction = Direction::between(tail, head).unwrap_or(before.direction());
        let walk = Walk::between((tail, head), direction, crowd.progress(unit));
        let size = crowd.size(unit).unwrap_or(1);
        let is_put_elsewhere = tail != before.tail() && tail != before.head();
        if is_put_elsewhere || !state.has_size(size) {
            state.move_over(crowd.now(), size, walk);
        } else {
            state.take_step(crowd.now(), walk);
        }
        if tail == head {
            return;
        }
        if !before.is_between_cells() || before.direction() != direction {
            self.facing.set_if_neq(Facing(direction));
        }
        if core::mem::take(&mut state.member.is_stuck)
            && let (Some(status), Some(path)) = (&mut self.status, self.path)
            && matches!(**status, PathStatus::Stuck(_))
        {
            **status = PathStatus::Walking(path.0.kind());
        }
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
        News::Stuck(_) if state.walk.is_between_cells() => {} // it was pushed on in the same tick
        News::Stuck(why) => {
            *status = PathStatus::Stuck(why);
            state.bypass_change_detection().member.is_stuck = true;
        }
        News::Lost if path.0.kind() == PathKind::Beginning => {} // the rest is on its way
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
