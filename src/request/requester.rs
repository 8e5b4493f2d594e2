//! A unit with its request, and what other stages read of it.
//!
//! Input: the components of the unit. Output: where it is, and on which grid.

use bevy::{ecs::query::QueryData, prelude::*};

use super::PathRequest;
use crate::{
    nav::{Cell, GridId, NavGrid, Path, ProfileId},
    unit::{
        AnyAnglePath, CritterState, DesiredVelocity, NavAgent, NavPath, PathStatus, PathSteering,
        RequestState,
    },
};

/// A unit with everything that belongs to its request.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Requester {
    pub(crate) entity: Entity,
    pub(crate) request: Option<&'static PathRequest>,
    pub(crate) agent: Option<&'static NavAgent>,
    pub(crate) status: &'static mut PathStatus,
    pub(crate) state: &'static mut RequestState,
    pub(crate) path: &'static mut NavPath,
    pub(crate) critter: Option<(&'static mut CritterState, &'static Transform)>,
    pub(crate) any_angle: Option<&'static mut AnyAnglePath>,
    pub(crate) steering: Option<(&'static mut DesiredVelocity, &'static PathSteering)>,
}

impl RequesterItem<'_, '_> {
    /// Whether the game moved the critter while its answer was awaited.
    pub(super) fn was_moved(&self) -> bool {
        self.critter.as_ref().is_some_and(|(state, transform)| state.was_moved(transform))
    }

    /// Whether the crowd of its grid moves it.
    pub(super) fn is_in_crowd(&self) -> bool {
        self.critter.as_ref().is_some_and(|(state, _)| state.unit().is_some())
    }

    /// The cell it stands on or enters; of a unit that the game moves, where its last path began.
    pub(crate) fn head(&self) -> Cell {
        self.critter.as_ref().map_or(self.path.0.start(), |(state, _)| state.walk.head())
    }

    /// The grid and the profile of a critter, whatever its request names; for a unit that the game moves, what is `named`.
    pub(super) fn place_or(&self, named: (GridId, ProfileId)) -> (GridId, ProfileId) {
        let own = self.agent.copied().unwrap_or_default();
        match &self.critter {
            Some((critter, _)) if critter.placed => {
                (grid_of(critter, &self.state), profile_of(critter, &self.state))
            }
            Some(_) => (own.grid, own.profile),
            None => named,
        }
    }

    /// A steered unit has another path.
    pub(super) fn restart_steering(&mut self) {
        if let Some((desired, _)) = &mut self.steering {
            desired.restart();
        }
    }

    /// Discards its path; it stops where it stands, or at the end of its step. It waits for nothing there, so others may
    /// push it aside.
    pub(crate) fn stop(&mut self) {
        let head = self.head();
        self.stop_at(head);
        if let Some((state, _)) = &mut self.critter {
            (state.member.keeps_goal, state.member.is_held) = (false, false);
        }
    }

    /// Discards its path; a critter comes to rest on the cell it stands on or enters. `cell` is where the next
    /// path begins.
    pub(crate) fn stop_at(&mut self, cell: Cell) {
        self.path.0 = Path::standing(cell);
        if let Some(lines) = &mut self.any_angle {
            AnyAnglePath::clear(lines, cell);
        }
        self.restart_steering();
        if let Some((state, _)) = &mut self.critter {
            state.restart();
        }
    }
}

impl RequesterReadOnlyItem<'_, '_> {
    /// What kind of unit it is, if it is on this grid.
    pub(super) fn profile_on(&self, grid: GridId) -> Option<ProfileId> {
        let critter = self.critter.map(|(critter, _)| critter);
        let is_there = grid_of_unit(critter, Some(self.state), self.agent) == Some(grid);
        let own = || match critter {
            Some(critter) if critter.placed => profile_of(critter, self.state),
            _ if self.state.accepted > 0 => self.state.query.profile,
            _ => self.agent.map(|agent| agent.profile).unwrap_or_default(),
        };
        is_there.then(own)
    }

    /// See [`leaves_walls`].
    pub(super) fn leaves_walls(&self) -> bool {
        leaves_walls(self.critter.map(|(state, _)| state), self.steering.is_some())
    }
}

/// The grid a critter is on.
pub(crate) fn grid_of(critter: &CritterState, state: &RequestState) -> GridId {
    if critter.member.unit.is_some() { critter.member.grid } else { state.grid }
}

/// The grid on which a unit is: that of its crowd, of its request, or its own.
pub(crate) fn grid_of_unit(
    critter: Option<&CritterState>,
    state: Option<&RequestState>,
    agent: Option<&NavAgent>,
) -> Option<GridId> {
    let in_crowd = critter.and_then(|critter| critter.unit().and(Some(critter.member.grid)));
    let of_request = || state.filter(|state| state.accepted > 0).map(|state| state.grid);
    in_crowd.or_else(of_request).or_else(|| agent.map(|agent| agent.grid))
}

/// The anchor on which a critter stands on a grid, or which it is about to enter. `None` if it is on another grid, was put
/// elsewhere, or its grid was replaced by one without that cell: then it is where its transform is.
pub(crate) fn anchor_of(
    (critter, transform): (&CritterState, &Transform),
    state: &RequestState,
    (id, grid): (GridId, &NavGrid),
) -> Option<Cell> {
    let head = critter.walk.head();
    let is_there = grid_of(critter, state) == id && grid.contains(head);
    (is_there && critter.is_where_it_was_put(transform)).then_some(head)
}

/// Whether a unit gets out of an impassable cell: critters that collide and steered units do.
pub(crate) fn leaves_walls(critter: Option<&CritterState>, is_steered: bool) -> bool {
    critter.map_or(is_steered, CritterState::holds_its_cells)
}

/// What kind of unit a critter is.
pub(crate) fn profile_of(critter: &CritterState, state: &RequestState) -> ProfileId {
    if critter.member.unit.is_some() { critter.member.profile } else { state.query.profile }
}
