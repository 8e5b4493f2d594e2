//! Hands answers to the units that asked.

use bevy::{ecs::entity_disabling::Disabled, prelude::*};

use super::{PathCounters, Pathfinder, answer_checksum};
use crate::{
    grids::NavGrids,
    movement::{CritterState, StraightWay},
    nav::{
        grid::NavGrid,
        path::{Path, PathKind},
        query::Algorithm,
        queue::{Answer, FoundBy},
    },
    request::{ActiveOrder, NavPath, PathFailed, PathFound, PathRequest, PathStatus},
};

/// Steps of a path that are pulled straight for a unit of the budget (estimated).
const STEPS_PULLED_PER_UNIT: u32 = 2;

type Unit = (
    Option<&'static PathRequest>,
    &'static mut PathStatus,
    &'static mut NavPath,
    &'static mut ActiveOrder,
    Option<(&'static mut CritterState, &'static Transform)>,
    Option<&'static mut StraightWay>,
);

type UnitItem<'a> = (
    Option<&'a PathRequest>,
    Mut<'a, PathStatus>,
    Mut<'a, NavPath>,
    Mut<'a, ActiveOrder>,
    Option<(Mut<'a, CritterState>, &'a Transform)>,
    Option<Mut<'a, StraightWay>>,
);

/// Writes path and status of each unit that has its answer, triggers the events, and makes the
/// counters readable for everyone.
pub(crate) fn deliver_answers(
    mut pathfinder: ResMut<Pathfinder>,
    mut published: ResMut<PathCounters>,
    grids: Res<NavGrids>,
    mut units: Query<Unit, Allow<Disabled>>,
    mut commands: Commands,
) {
    let mut answers = std::mem::take(&mut pathfinder.answers);
    for answer in answers.drain(..) {
        count(&mut pathfinder, &answer);
        let is_beginning = kind_of(&answer) == Ok(PathKind::Beginning);
        let asker = if is_beginning {
            pathfinder.asker(answer.ticket)
        } else {
            pathfinder.take_asker(answer.ticket)
        };
        let Some(entity) = asker else {
            continue;
        };
        let Ok(mut unit) = units.get_mut(entity) else {
            continue;
        };
        if !is_beginning {
            unit.3.ticket = None;
        }
        if unit.0.is_none() || unit.3.asked != unit.3.number {
            continue; // taken off or replaced: the letter that says so is not read yet
        }
        match answer.result {
            _ if answer.begun.is_none() && was_moved(&unit) => {
                pathfinder.fallback().take_up_again(entity, &unit.3);
                *unit.1 = PathStatus::Searching;
            }
            Ok(found) if answer.begun.is_some() && unit.2.0.end() != found.start() => {
                // It was led elsewhere meanwhile.
                let (_, status, path, order, state, _) = &mut unit;
                let start = state.as_ref().map_or(path.0.start(), |(state, _)| state.walk.head());
                pathfinder.ask_again(entity, order, start);
                **status = PathStatus::Repairing;
            }
            Ok(found) => {
                let kind = found.kind();
                if unit.5.is_some() {
                    // Pulling it straight is paid in the next tick.
                    pathfinder.spent += found.steps() / STEPS_PULLED_PER_UNIT;
                }
                give_path(&mut unit, found, answer.begun.is_some(), grids.get(answer.grid));
                commands.trigger(PathFound { entity, kind });
            }
            Err(reason) => {
                let (request, status, path, order, state, _) = &mut unit;
                let place = state.as_ref().map_or(path.0.start(), |(state, _)| state.walk.head());
                path.0 = Path::standing(place);
                if let Some((state, _)) = state {
                    state.restart();
                }
                let mut fallback = pathfinder.fallback();
                if !fallback.goes_on(entity, *request, order, status, reason) {
                    commands.trigger(PathFailed { entity, reason });
                }
            }
        }
    }
    pathfinder.answers = answers; // keeps its memory
    pathfinder.counters.waiting_again = pathfinder.waiting_again();
    published.set_if_neq(pathfinder.counters);
}

/// Whether a critter was put elsewhere while its answer was awaited.
fn was_moved(unit: &UnitItem) -> bool {
    unit.4.as_ref().is_some_and(|(state, transform)| state.was_moved(transform))
}

/// Sets a unit on its way, or adds the rest to a way that it goes already.
fn give_path(
    (_, status, path, order, state, straight): &mut UnitItem,
    found: Path,
    is_rest: bool,
    grid: Option<&NavGrid>,
) {
    let kind = found.kind();
    let found = match (straight, grid) {
        (Some(straight), Some(grid)) => {
            straight.take_up(grid, order.query.profile, &found, is_rest)
        }
        _ => found,
    };
    if kind == PathKind::Complete {
        order.tries = 0;
    }
    **status = match state {
        Some((state, _)) => {
            if is_rest {
                state.lengthen();
            } else {
                state.begin(found.start());
            }
            PathStatus::Walking(kind)
        }
        None => PathStatus::Found(kind),
    };
    if is_rest {
        path.0.append(found);
    } else {
        path.0 = found;
    }
}

fn kind_of(answer: &Answer) -> Result<PathKind, ()> {
    answer.result.as_ref().map(Path::kind).map_err(|_| ())
}

fn count(pathfinder: &mut Pathfinder, answer: &Answer) {
    let counters = &mut pathfinder.counters;
    if kind_of(answer) == Ok(PathKind::Beginning) {
        return; // told with the rest
    }
    counters.expansions += answer.counters.expansions + answer.counters.portals;
    counters.waited += answer.waited;
    counters.answers_checksum = counters.answers_checksum.wrapping_add(answer_checksum(answer));
    match kind_of(answer) {
        Ok(PathKind::Complete | PathKind::Beginning) => counters.found += 1,
        Ok(PathKind::Partial) => counters.partial += 1,
        Err(()) => counters.failed += 1,
    }
    *match answer.found_by {
        FoundBy::Check => &mut counters.by_check,
        FoundBy::Field => &mut counters.by_field,
        FoundBy::Search(Algorithm::JumpPoint) => &mut counters.by_jump_point,
        FoundBy::Search(Algorithm::Hierarchical) => &mut counters.by_hierarchy,
        FoundBy::Search(_) => &mut counters.by_astar,
    } += 1;
}
