//! Advances the crowds by a tick and applies the results.
//!
//! Input: the crowds. Output: the positions and facing of critters, arrivals, and the reasons why units
//! cannot move on. A critter gets a new path if it cannot get back to its own, if its path was cut off, or if it is stuck on the
//! way to a slot that it has exchanged.

use core::hint::black_box;

use bevy::{
    ecs::{entity_disabling::Disabled, query::QueryData, system::SystemParam},
    prelude::*,
};

use super::{Crowds, Requesters};
use crate::{
    coordinates::GridFrame,
    flow::FlowFields,
    grids::NavGrids,
    group::{GroupSlot, GroupState},
    nav::{Cell, Crowd, CrowdEvent, Direction, NavGrid, PathKind, UnitId, Walk},
    request::{Outcomes, RequesterItem, clear_stuck},
    unit::{CritterState, Facing, NavPath, PathStatus, PathSync},
};

/// The components of a critter that show its movement.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Shown {
    state: &'static mut CritterState,
    facing: &'static mut Facing,
    status: Option<&'static mut PathStatus>,
    path: Option<&'static NavPath>,
    transform: &'static Transform,
}

/// The slots of group members.
#[derive(SystemParam)]
pub(crate) struct Slots<'w, 's> {
    slots: Query<'w, 's, &'static mut GroupSlot, Allow<Disabled>>,
    groups: Query<'w, 's, &'static mut GroupState, Allow<Disabled>>,
}

/// Advances all crowds by a tick, unless time stands still.
pub(crate) fn advance_crowds(
    time: Res<Time>,
    grids: Res<NavGrids>,
    fields: Res<FlowFields>,
    mut crowds: ResMut<Crowds>,
    mut critters: ParamSet<(Query<Shown, Allow<Disabled>>, Requesters)>,
    mut slots: Slots,
    mut events: Local<Vec<(u64, Entity, CrowdEvent)>>,
    mut outcomes: Outcomes,
) {
    if time.delta().is_zero() {
        return;
    }
    for (&id, grid_crowd) in &mut crowds.by_grid {
        if let Some(grid) = grids.get(id) {
            grid_crowd.crowd.tick(grid, &fields.guides(&grids, id));
        }
    }
    if core::mem::replace(&mut crowds.frames_seen, grids.frame_changes) != grids.frame_changes {
        face_anew(&grids, &mut critters.p0());
    }
    show_steps(&grids, &crowds, &mut critters.p0());
    let mut units = critters.p1();
    apply_events(&crowds, &mut units, &mut slots, &mut events);
    events.sort_unstable_by_key(|&(number, entity, _)| (number, entity));
    for (_, entity, event) in events.drain(..) {
        if let Ok(mut unit) = units.get_mut(entity) {
            let slot = slots.slots.get(entity).ok().map(|slot| slot.cell);
            react(&mut unit, (event, slot), &grids, &mut outcomes);
        }
    }
}

/// Applies the steps that have begun and ended, including those of disabled critters, which hold their cells.
fn show_steps(grids: &NavGrids, crowds: &Crowds, critters: &mut Query<Shown, Allow<Disabled>>) {
    for (&id, grid_crowd) in &crowds.by_grid {
        let (Some(grid), Some(frame)) = (grids.get(id), grids.frame(id)) else {
            continue;
        };
        // First touch the storage of all of them, so that the cache misses overlap.
        for unit in grid_crowd.crowd.moved() {
            black_box(critters.contains(grid_crowd.entities[unit.index()]));
        }
        for unit in grid_crowd.crowd.moved() {
            if let Ok(mut critter) = critters.get_mut(grid_crowd.entities[unit.index()]) {
                critter.show((grid, frame), &grid_crowd.crowd, unit);
            }
        }
    }
}

/// After grids were turned, makes walking units face where they now go in the world.
fn face_anew(grids: &NavGrids, critters: &mut Query<Shown, Allow<Disabled>>) {
    for mut critter in critters {
        let state = &critter.state;
        if let Some(frame) = grids.frame(state.member.grid)
            && state.unit().is_some()
            && state.is_moving()
        {
            critter.facing.set_if_neq(Facing::on(frame, state.heading));
        }
    }
}

/// Applies the slot changes of group members. Lists all other events, each with the number of its unit's request.
fn apply_events(
    crowds: &Crowds,
    units: &mut Requesters,
    slots: &mut Slots,
    events: &mut Vec<(u64, Entity, CrowdEvent)>,
) {
    for grid_crowd in crowds.by_grid.values() {
        let entity = |unit: UnitId| grid_crowd.entities[unit.index()];
        for &event in grid_crowd.crowd.events() {
            match event {
                CrowdEvent::SlotChanged { unit, cell, has_arrived } => {
                    // A unit whose next request is not read yet still walks in the crowd as before.
                    if let Ok(mut member) = units.get_mut(entity(unit))
                        && member.is_latest()
                    {
                        member.state.query.goal = cell.into();
                        member.state.slot = Some(cell);
                        if !has_arrived {
                            member.resume_walking();
                        }
                        slots.change(entity(unit), cell);
                    }
                }
                CrowdEvent::Arrived { unit, .. }
                | CrowdEvent::Stuck { unit, .. }
                | CrowdEvent::Lost { unit } => {
                    let entity = entity(unit);
                    let number = units.get(entity).map_or(0, |unit| unit.state.accepted);
                    events.push((number, entity, event));
                }
            }
        }
    }
}

impl Slots<'_, '_> {
    /// Assigns a member of a group another slot than the original one.
    fn change(&mut self, entity: Entity, cell: Cell) {
        if let Ok(mut slot) = self.slots.get_mut(entity) {
            slot.cell = cell;
            if let Ok(mut group) = self.groups.get_mut(slot.group) {
                group.bypass_change_detection().change_slot(entity, cell);
            }
        }
    }
}

impl ShownItem<'_, '_> {
    /// Applies the current step of a unit, or that it stands.
    fn show(&mut self, (grid, frame): (&NavGrid, &GridFrame), crowd: &Crowd, unit: UnitId) {
        let state = self.state.bypass_change_detection();
        let cells = crowd.position(grid, unit).filter(|_| state.member.unit == Some(unit));
        let Some((tail, head)) = cells else {
            return;
        };
        let before = state.walk;
        if tail == head {
            state.read_back(Some(frame), self.transform);
            if before.is_between_cells() {
                // What the game has written during its step does not count. It also turns if no frame has shown the step.
                state.set_drawn(self.transform.translation.truncate());
                state.is_turning |= state.turned != state.heading;
            }
        }
        let direction = Direction::between(tail, head).unwrap_or(before.direction());
        let walk = Walk::between_cells((tail, head), direction, crowd.progress(unit));
        let size = crowd.size(unit).unwrap_or(1);
        let was_relocated = tail != before.tail() && tail != before.head();
        if was_relocated || !state.has_size(grid.topology(), size) {
            state.relocate(crowd.now(), (grid.topology(), size), walk);
        } else {
            state.change_step(crowd.now(), walk);
            state.set_line_offsets(crowd.line_offsets(unit));
        }
        if tail == head {
            return;
        }
        let heading = crowd.heading(unit).unwrap_or(direction.offset());
        if !before.is_between_cells() || state.heading != heading {
            state.heading = heading;
            self.facing.set_if_neq(Facing::on(frame, heading));
        }
        if core::mem::take(&mut state.member.is_stuck)
            && let (Some(status), Some(path)) = (&mut self.status, self.path)
        {
            clear_stuck(status, path);
        }
    }
}

/// Updates the request of a unit that has arrived, is stuck, or has lost its path. `slot` is that of a member of a group.
fn react(
    unit: &mut RequesterItem,
    (event, slot): (CrowdEvent, Option<Cell>),
    grids: &NavGrids,
    outcomes: &mut Outcomes,
) {
    if let (CrowdEvent::Lost { .. }, Some((state, _))) = (event, &mut unit.critter) {
        state.bypass_change_detection().member.has_goal = false;
    }
    let Some((state, _)) = &unit.critter else {
        return;
    };
    if !unit.is_walking() || state.member.path != PathSync::Current {
        return;
    }
    let is_moving = state.is_moving();
    match event {
        CrowdEvent::Arrived { .. } => outcomes.path_ended(unit, true, grids),
        CrowdEvent::Lost { .. } => outcomes.path_ended(unit, false, grids),
        // Not if it was pushed in the same tick. A member may have exchanged its slot since its path was found.
        CrowdEvent::Stuck { why, .. } if !is_moving => match slot {
            Some(slot) if unit.path.0.kind() == PathKind::Complete && unit.path.0.end() != slot => {
                outcomes.path_lost(unit, grids);
            }
            _ => unit.set_stuck(why),
        },
        // Slot changes were applied before.
        CrowdEvent::Stuck { .. } | CrowdEvent::SlotChanged { .. } => {}
    }
}
