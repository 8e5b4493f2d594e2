//! Hands answers to the units that asked.

use bevy::prelude::*;

use super::{PathCounters, Pathfinder, answer_checksum};
use crate::{
    movement::CritterState,
    nav::{
        path::{Path, PathKind},
        query::PathFailure,
        queue::Answer,
    },
    request::{ActiveOrder, NavPath, PathFailed, PathFound, PathStatus},
};

type Unit = (
    &'static mut PathStatus,
    &'static mut NavPath,
    &'static mut ActiveOrder,
    Option<&'static mut CritterState>,
);

/// Writes path and status of each unit that has its answer, triggers the events, and makes the
/// counters readable for everyone.
pub(crate) fn deliver_answers(
    mut pathfinder: ResMut<Pathfinder>,
    mut published: ResMut<PathCounters>,
    mut units: Query<Unit>,
    mut commands: Commands,
) {
    let mut answers = std::mem::take(&mut pathfinder.answers);
    for answer in answers.drain(..) {
        count(&mut pathfinder, &answer);
        let Some(entity) = pathfinder.take_asker(answer.ticket) else {
            continue;
        };
        let Ok((mut status, mut path, mut order, state)) = units.get_mut(entity) else {
            continue;
        };
        order.ticket = None;
        match answer.result {
            Ok(found) => {
                let kind = found.kind();
                *status = match state {
                    Some(mut state) => {
                        state.begin(found.start());
                        PathStatus::Walking(kind)
                    }
                    None => PathStatus::Found(kind),
                };
                path.0 = found;
                commands.trigger(PathFound { entity, kind });
            }
            Err(reason) => {
                path.0 = Path::standing(path.0.start());
                *status = PathStatus::Failed(reason);
                commands.trigger(PathFailed { entity, reason });
            }
        }
    }
    pathfinder.answers = answers; // keeps its memory
    published.set_if_neq(pathfinder.counters);
}

fn count(pathfinder: &mut Pathfinder, answer: &Answer) {
    let counters = &mut pathfinder.counters;
    counters.expansions += answer.counters.expansions;
    counters.waited += answer.waited;
    counters.answers_checksum = counters.answers_checksum.wrapping_add(answer_checksum(answer));
    match answer.result.as_ref().map(Path::kind) {
        Ok(PathKind::Complete) => counters.found += 1,
        Ok(PathKind::Partial) => counters.partial += 1,
        Err::<_, &PathFailure>(_) => counters.failed += 1,
    }
}
