//! Lets the crowds move for a tick, and passes on what came of it.
//!
//! Input: the crowds. Output: where critters are, which way they face, arrivals, and why units cannot move on.
//! A critter that cannot find back to its path, or whose path was cut off, gets another.

use core::hint::black_box;

use bevy::{
    ecs::{entity_disabling::Disabled, query::QueryData},
    prelude::*,
};

use super::Crowds;
use crate::{
    coordinates::GridFrame,
    flow::FlowFields,
    grids::NavGrids,
    group::{GroupSlot, GroupState},
    nav::{
        cell::Cell,
        crowd::{Crowd, CrowdEvent, Hindrance, UnitId},
        direction::Direction,
        goal::Approach,
        grid::NavGrid,
        path::{Path, PathKind},
        walk::Walk,
    },
    request::{Outcomes, Requester, RequesterItem, move_again, way_out},
    unit::{CritterState, Facing, NavPath, PathStatus, PathSync},
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

/// All units with requests, disabled ones too: no arrival is lost.
type Requesters<'w, 's> = Query<'w, 's, Requester, Allow<Disabled>>;

/// What has come to an end in this tick, to be dealt with in the order of the requests.
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
    mut critters: ParamSet<(Query<Shown, Allow<Disabled>>, Requesters)>,
    mut slots: Query<&mut GroupSlot, Allow<Disabled>>,
    mut groups: Query<&mut GroupState, Allow<Disabled>>,
    mut news: Local<Vec<(u64, Entity, News)>>,
    mut outcomes: Outcomes,
) {
    for (&id, grid_crowd) in &mut crowds.by_grid {
        if let Some(grid) = grids.get(id) {
            grid_crowd.crowd.tick(grid, &fields.guides(&grids, id));
        }
    }
    show_steps(&grids, &crowds, &mut critters.p0());
    collect_events(&crowds, &mut news);
    let mut units = critters.p1();
    exchange_slots(&crowds, &mut units, &mut slots, &mut groups);
    for (number, entity, _) in &mut *news {
        *number = units.get(*entity).map_or(0, |unit| unit.state.accepted);
    }
    news.sort_unstable_by_key(|&(number, entity, _)| (number, entity));
    for (_, entity, what) in news.drain(..) {
        if let Ok(mut unit) = units.get_mut(entity) {
            react(&mut unit, what, &grids, &mut outcomes);
        }
    }
}

/// Shows which steps have begun and ended, of disabled critters as well: they hold their cells.
fn show_steps(grids: &NavGrids, crowds: &Crowds, critters: &mut Query<Shown, Allow<Disabled>>) {
    for (&id, grid_crowd) in &crowds.by_grid {
        let (Some(grid), Some(frame)) = (grids.get(id), grids.frame(id)) else {
            continue;
        };
        // First a look at where all of them are kept, so that the processor waits for many at the same time.
        for unit in grid_crowd.crowd.moved() {
            black_box(critters.contains(grid_crowd.entities[unit.slot()]));
        }
        for unit in grid_crowd.crowd.moved() {
            if let Ok(mut critter) = critters.get_mut(grid_crowd.entities[unit.slot()]) {
                critter.show((grid, frame), &grid_crowd.crowd, unit);
            }
        }
    }
}

/// Notes which members of groups have other slots than before.
fn exchange_slots(
    crowds: &Crowds,
    units: &mut Requesters,
    slots: &mut Query<&mut GroupSlot, Allow<Disabled>>,
    groups: &mut Query<&mut GroupState, Allow<Disabled>>,
) {
    for grid_crowd in crowds.by_grid.values() {
        let entity = |unit: UnitId| grid_crowd.entities[unit.slot()];
        for event in grid_crowd.crowd.events() {
            match *event {
                CrowdEvent::Exchanged { unit, with, have_arrived } => {
                    let pair = [entity(unit), entity(with)];
                    exchange(pair, have_arrived, units, slots, groups);
                }
                CrowdEvent::Settled { unit, cell } => {
                    settle((entity(unit), cell), units, slots, groups);
                }
                _ => {}
            }
        }
    }
}

/// Two members of a group have exchanged their slots.
fn exchange(
    pair: [Entity; 2],
    have_arrived: bool,
    units: &mut Requesters,
    slots: &mut Query<&mut GroupSlot, Allow<Disabled>>,
    groups: &mut Query<&mut GroupState, Allow<Disabled>>,
) {
    if let Ok([mut a, mut b]) = units.get_many_mut(pair) {
        core::mem::swap(&mut a.state.query, &mut b.state.query);
        if !have_arrived {
            a.walk_on();
            b.walk_on();
        }
    }
    if let Ok([mut a, mut b]) = slots.get_many_mut(pair) {
        core::mem::swap(&mut a.cell, &mut b.cell);
        if let Ok(mut group) = groups.get_mut(a.group) {
            group.bypass_change_detection().exchange(pair[0], pair[1]);
        }
    }
}

/// A member of a group keeps another slot than it was given.
fn settle(
    (entity, cell): (Entity, Cell),
    units: &mut Requesters,
    slots: &mut Query<&mut GroupSlot, Allow<Disabled>>,
    groups: &mut Query<&mut GroupState, Allow<Disabled>>,
) {
    if let Ok(mut unit) = units.get_mut(entity) {
        unit.state.query.goal = cell;
    }
    if let Ok(mut slot) = slots.get_mut(entity) {
        slot.cell = cell;
        if let Ok(mut group) = groups.get_mut(slot.group) {
            group.bypass_change_detection().settle(entity, cell);
        }
    }
}

fn collect_events(crowds: &Crowds, news: &mut Vec<(u64, Entity, News)>) {
    for grid_crowd in crowds.by_grid.values() {
        for event in grid_crowd.crowd.events() {
            let (unit, what) = match *event {
                CrowdEvent::Arrived { unit, .. } => (unit, News::Arrived),
                CrowdEvent::Stuck { unit, why } => (unit, News::Stuck(why)),
                CrowdEvent::Lost { unit } => (unit, News::Lost),
                CrowdEvent::Exchanged { .. } | CrowdEvent::Settled { .. } => continue,
            };
            news.push((0, grid_crowd.entities[unit.slot()], what));
        }
    }
}

impl ShownItem<'_, '_> {
    /// Takes over the step that a unit makes now, or that it stands.
    fn show(&mut self, (grid, frame): (&NavGrid, &GridFrame), crowd: &Crowd, unit: UnitId) {
        let state = self.state.bypass_change_detection();
        let place = crowd.position(grid, unit).filter(|_| state.member.unit == Some(unit));
        let Some((tail, head)) = place else {
            return;
        };
        let before = state.walk;
        let direction = Direction::between(tail, head).unwrap_or(before.direction());
        let walk = Walk::between_cells((tail, head), direction, crowd.progress(unit));
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
            self.facing.set_if_neq(Facing::on(frame, direction));
        }
        if core::mem::take(&mut state.member.is_stuck)
            && let (Some(status), Some(path)) = (&mut self.status, self.path)
        {
            move_again(status, path);
        }
    }
}

/// Decides what becomes of a request whose unit has arrived, is stuck, or has lost its path.
fn react(unit: &mut RequesterItem, what: News, grids: &NavGrids, outcomes: &mut Outcomes) {
    let is_current =
        unit.critter.as_ref().is_some_and(|(state, _)| state.member.path == PathSync::Current);
    if !unit.is_walking() || !is_current {
        return;
    }
    match what {
        News::Arrived if is_elsewhere(unit) => search_again(unit, grids, outcomes),
        News::Arrived => arrive(unit, outcomes),
        News::Stuck(why) => {
            // Unless it was pushed on in the same tick.
            if !unit.critter.as_ref().is_some_and(|(state, _)| state.walk.is_between_cells()) {
                unit.be_stuck(why);
            }
        }
        News::Lost if unit.path.0.kind() == PathKind::FirstSegment => {} // the rest is on its way
        News::Lost => search_again(unit, grids, outcomes),
    }
}

fn arrive(unit: &mut RequesterItem, outcomes: &mut Outcomes) {
    let kind = unit.path.0.kind();
    let Some((critter, _)) = &mut unit.critter else {
        return;
    };
    if kind == PathKind::FirstSegment {
        return; // the rest is on its way
    }
    let cell = critter.cell();
    let is_news = !core::mem::take(&mut critter.member.is_announced);
    if unit.path.0.end() != cell {
        unit.path.0 = Path::standing(cell); // the slot of another member
    }
    outcomes.arrive(unit, kind, is_news);
}

/// Whether a critter has come to the end of its path and its goal is another by now: it exchanged slots
/// with a member of its group, and the group is gone.
fn is_elsewhere(unit: &RequesterItem) -> bool {
    let query = &unit.state.query;
    let is_exact = query.approach == Approach::default() && unit.state.goals.is_none();
    let cell = unit.critter.as_ref().map(|(state, _)| state.cell());
    is_exact && unit.path.0.kind() == PathKind::Complete && Some(query.goal) != cell
}

/// Searches for a path from where a critter stands.
fn search_again(unit: &mut RequesterItem, grids: &NavGrids, outcomes: &mut Outcomes) {
    let head = unit.head();
    let profile = unit.state.query.profile;
    let start = grids.get(unit.state.grid).map_or(head, |grid| way_out(grid, profile, head));
    outcomes.stop_and_repair(unit, start);
}
