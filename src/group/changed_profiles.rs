//! Members whose profile has changed: they may have grown, or become boats.
//!
//! Input: agents that the game has changed. Output: groups that assign their slots again, as slots may be too narrow now or out of
//! reach.

use bevy::{ecs::entity_disabling::Disabled, prelude::*};

use super::{GroupSlot, GroupState};
use crate::unit::{NavAgent, RequestState};

type ChangedAgents = (Changed<NavAgent>, Allow<Disabled>);

/// Marks the groups of units whose profile is another than when it was last looked at.
pub(crate) fn note_changed_profiles(
    units: Query<(&NavAgent, &RequestState, &GroupSlot), ChangedAgents>,
    mut groups: Query<&mut GroupState, Allow<Disabled>>,
) {
    for (agent, state, slot) in &units {
        if agent.profile != state.agent.profile
            && let Ok(mut group) = groups.get_mut(slot.group)
        {
            group.was_changed = true;
        }
    }
}
