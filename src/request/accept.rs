//! Reads the inbox: what was dropped is canceled, what was asked is resolved and queued.
//!
//! Reading is paid from the tick's budget and may take half of it; a flood of requests is read
//! over several ticks, in order.
//!
//! The start is the cell a walking critter is about to enter, or the cell under the transform of
//! one that stands. Targets are turned into cells here, once: a request does not follow.

use bevy::prelude::*;

use super::{
    ActiveOrder, Letter, NavPath, PathFailed, PathRequest, PathStatus, RequestInbox, Target,
};
use crate::{
    grids::NavGrids,
    movement::CritterState,
    nav::{
        cell::Cell,
        path::{Path, PathKind},
        query::{GridId, PathFailure, PathQuery},
    },
    scheduler::{Pathfinder, TilePathSettings},
};

type Unit = (
    Option<&'static PathRequest>,
    &'static mut PathStatus,
    &'static mut ActiveOrder,
    &'static mut NavPath,
    Option<(&'static mut CritterState, &'static Transform)>,
);

/// What reading a letter costs of the budget, in expansions: about the time it takes.
const LETTER_COST: u32 = 16;

/// Reads the inbox in the order in which it was filled.
pub(crate) fn accept_requests(
    mut inbox: ResMut<RequestInbox>,
    mut pathfinder: ResMut<Pathfinder>,
    settings: Res<TilePathSettings>,
    grids: Res<NavGrids>,
    mut units: Query<Unit>,
    transforms: TransformHelper,
    mut commands: Commands,
) {
    pathfinder.unread = 0;
    if inbox.0.is_empty() {
        return;
    }
    let mut letters = std::mem::take(&mut inbox.0);
    let affordable = (settings.budget / 2 / LETTER_COST).max(1) as usize;
    let read = letters.len().min(affordable);
    pathfinder.spent = read as u32 * LETTER_COST;
    for letter in letters.drain(..read) {
        match letter {
            Letter::Dropped(entity) => {
                pathfinder.forget(entity);
                if let Ok(unit) = units.get_mut(entity) {
                    end_order(entity, unit, &mut commands);
                }
            }
            Letter::Asked(entity) => {
                let Ok((Some(&request), ..)) = units.get(entity) else {
                    continue; // taken off or despawned meanwhile: a later letter says so
                };
                let places = Places { grids: &grids, transforms: &transforms };
                let resolved = places.resolve(entity, &request, &units);
                if let Ok(unit) = units.get_mut(entity) {
                    let failed = begin_order(entity, unit, request, resolved, &mut pathfinder);
                    if let Err(reason) = failed {
                        pathfinder.counters.failed += 1;
                        commands.trigger(PathFailed { entity, reason });
                    }
                }
            }
        }
    }
    pathfinder.unread = letters.len();
    inbox.0 = letters; // keeps its memory
}

/// Where units and their targets are.
struct Places<'a, 'w, 's> {
    grids: &'a NavGrids,
    transforms: &'a TransformHelper<'w, 's>,
}

impl Places<'_, '_, '_> {
    /// Start and goal of a request.
    fn resolve(
        &self,
        entity: Entity,
        request: &PathRequest,
        units: &Query<Unit>,
    ) -> Result<(Cell, Cell), PathFailure> {
        let frame = self.grids.frame(request.grid).ok_or(PathFailure::GridGone(request.grid))?;
        let start = self.cell_of(entity, request.grid, units).ok_or(PathFailure::StartUnknown)?;
        let goal = match request.target {
            Target::Cell(cell) => cell,
            Target::Position(position) => {
                frame.cell_at(position).ok_or(PathFailure::GoalUnknown)?
            }
            Target::Entity(target) => {
                self.cell_of(target, request.grid, units).ok_or(PathFailure::TargetGone)?
            }
        };
        Ok((start, goal))
    }

    /// The cell a critter stands on or enters, or the one under an entity's transform; on the
    /// grid or not.
    fn cell_of(&self, entity: Entity, grid: GridId, units: &Query<Unit>) -> Option<Cell> {
        if let Ok((_, _, order, _, Some((state, transform)))) = units.get(entity)
            && order.grid == grid
            && state.is_where_it_was_put(transform)
        {
            return Some(state.walk.head());
        }
        let transform = self.transforms.compute_global_transform(entity).ok()?;
        self.grids.frame(grid)?.cell_at(transform.translation().truncate())
    }
}

type UnitItem<'a> = (
    Option<&'a PathRequest>,
    Mut<'a, PathStatus>,
    Mut<'a, ActiveOrder>,
    Mut<'a, NavPath>,
    Option<(Mut<'a, CritterState>, &'a Transform)>,
);

/// Puts a resolved request into the queue; a critter stops after the step under way.
fn begin_order(
    entity: Entity,
    (_, mut status, mut order, mut path, state): UnitItem<'_>,
    request: PathRequest,
    resolved: Result<(Cell, Cell), PathFailure>,
    pathfinder: &mut Pathfinder,
) -> Result<(), PathFailure> {
    let (start, goal) = resolved.inspect_err(|&reason| {
        *status = PathStatus::Failed(reason);
        order.ticket = None;
    })?;
    let query = PathQuery::new(start, goal)
        .profile(request.profile)
        .reach(request.reach)
        .algorithm(request.algorithm);
    path.0 = Path::standing(start);
    if let Some((mut state, transform)) = state {
        let is_known = order.grid == request.grid && state.is_where_it_was_put(transform);
        if is_known { state.walk.restart() } else { state.stand_on(start) }
    }
    let ticket = pathfinder.ask(entity, request.grid, query, request.priority);
    *status = PathStatus::Searching;
    *order = ActiveOrder {
        number: ticket.number(),
        grid: request.grid,
        query,
        priority: request.priority,
        ticket: Some(ticket),
    };
    Ok(())
}

/// The request was taken off or replaced: whatever it was up to ends here.
fn end_order(
    entity: Entity,
    (request, mut status, mut order, mut path, state): UnitItem<'_>,
    commands: &mut Commands,
) {
    let was_under_way = matches!(
        *status,
        PathStatus::Searching
            | PathStatus::Walking(_)
            | PathStatus::Found(PathKind::Beginning)
            | PathStatus::Repairing
    );
    if was_under_way {
        let replaced = request.is_some();
        let reason = if replaced { PathFailure::Superseded } else { PathFailure::Canceled };
        commands.trigger(PathFailed { entity, reason });
    }
    *status = if request.is_some() { PathStatus::Searching } else { PathStatus::Idle };
    order.ticket = None;
    if let Some((mut state, _)) = state {
        let head = state.walk.head();
        path.0 = Path::standing(head);
        state.walk.restart();
    }
}
