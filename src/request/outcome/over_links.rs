//! Decides whether a request is carried out over links, and what becomes of it there.
//!
//! Input: answers to requests on grids from which links lead, and crossings. Output: the next leg.

use bevy::prelude::*;

use super::Outcomes;
use crate::{
    flow::FlowFields,
    grids::NavGrids,
    links::{Costs, NextLink, Routing},
    nav::{Answer, Cell, GridId, Path, PathFailure, PathKind, PathQuery, ProfileId},
    request::{RequesterItem, Resolved, grid_of},
    unit::{Drawing, NavAgent, PathStatus},
};

/// How often a found path is held back until the costs of links are known, each time for twice as long: 31 ticks in all.
const MOST_WAITS: u8 = 5;

impl Outcomes<'_, '_> {
    /// Resolves a request again in the next tick: the costs of links are not known yet.
    pub(in crate::request) fn await_links(&mut self, unit: &mut RequesterItem, profile: ProfileId) {
        self.links.note_use(profile);
        unit.state.journey.without_costs_since.get_or_insert(self.links.ticks());
        self.resolve_again(unit);
    }

    /// Sends a unit over links instead of along the path found, where that costs less, or no path leads to the goal. Returns
    /// false if the answer stands.
    pub(super) fn takes_links(
        &mut self,
        unit: &mut RequesterItem,
        answer: &Answer,
        (grids, flows): (&NavGrids, &FlowFields),
    ) -> bool {
        let query = unit.state.query;
        let goals = unit.state.journey.goals.clone();
        let Some(goals) = goals.filter(|_| unit.state.journey.next.is_none()) else {
            return false;
        };
        let from = (unit.state.grid, query.start);
        let limit = match &answer.result {
            Ok(path) if path.kind() == PathKind::Complete => Some(path.cost()),
            Ok(path) if path.kind() == PathKind::Partial => None,
            Err(PathFailure::NoPath { .. } | PathFailure::GoalImpassable(_)) => None,
            Err(PathFailure::GoalOutOfBounds(_))
                if goals.iter().any(|goal| goal.grid != unit.state.grid) =>
            {
                None
            }
            _ => return false,
        };
        // The path found is certain; the costs of links may not be.
        let accepts_old =
            limit.is_none() && unit.state.journey.accepts_old_costs(self.links.ticks());
        let costs = Costs { grids, flows, profile: query.profile, accepts_old };
        let may_save = |cost| {
            let is_here_only = goals.iter().all(|goal| goal.grid == unit.state.grid);
            !is_here_only || goals.iter().any(|to| self.links.may_save(costs, from, &to.goal, cost))
        };
        if limit.is_some_and(|cost| !may_save(cost)) {
            return false;
        }
        self.links.note_use(query.profile);
        let (routing, work) =
            self.links.route(costs, from, &goals, (false, unit.state.journey.back));
        self.pathfinder.spend(work);
        match routing {
            Routing::Pending if limit.is_none() => self.await_links(unit, query.profile),
            Routing::Pending if unit.state.journey.waits < MOST_WAITS => {
                let ticks = 1 << unit.state.journey.waits;
                unit.state.journey.waits += 1;
                self.resolve_in(unit, ticks);
            }
            Routing::Via(next, cost) if limit.is_none_or(|limit| cost < limit) => {
                let query = PathQuery::new(query.start, self.links.entrance(next.hop))
                    .profile(query.profile)
                    .algorithm(query.algorithm);
                let (grid, destinations) = (unit.state.grid, Some(goals));
                self.search(
                    unit,
                    Resolved { grid, query, goals: None, next: Some(next), destinations },
                );
            }
            _ => return false,
        }
        true
    }

    /// A unit has entered a link, and stands on `cell` of a grid while it crosses.
    pub(crate) fn begin_crossing(
        &mut self,
        unit: &mut RequesterItem,
        (grid, cell): (GridId, Cell),
    ) {
        unit.path.0 = Path::standing(cell);
        *unit.status = PathStatus::Crossing;
        let left = unit.state.grid;
        unit.state.journey.left.get_or_insert(left);
        unit.state.grid = grid;
        unit.state.query.start = cell;
        unit.state.journey.grid = Some(grid);
        let next = unit.state.journey.next.take().filter(|next| next.landing != cell);
        unit.state.journey.back = next.map(|next| next.hop.reversed());
        let entity = unit.entity;
        self.commands.queue(move |world: &mut World| {
            // The game may have changed its profile in this tick.
            if let Some(mut agent) = world.get_mut::<NavAgent>(entity) {
                agent.grid = grid;
            }
        });
    }

    /// A unit that is crossing got another request, which waits until the unit lands.
    pub(in crate::request) fn await_landing(&mut self, unit: &mut RequesterItem) {
        *unit.status = PathStatus::Crossing;
    }

    /// The crossing of a unit is over, or was broken off: its request goes on from where it is, which is returned.
    pub(crate) fn end_crossing(&mut self, unit: &mut RequesterItem) -> (GridId, Cell) {
        let mut at = (unit.state.grid, unit.path.0.start());
        if let Some((state, transform)) = &mut unit.critter {
            state.member.crossing = None;
            // A transform that the game wrote on the way does not move it.
            state.set_drawn(transform.translation.truncate());
            state.drawing = Drawing::Full;
            at = (grid_of(state, &unit.state), state.cell());
        }
        if unit.is_latest() && *unit.status == PathStatus::Crossing {
            self.resolve_again(unit);
        }
        at
    }

    /// Triggers an event.
    pub(crate) fn trigger<'a>(&mut self, event: impl Event<Trigger<'a>: Default>) {
        self.commands.trigger(event);
    }
}

impl RequesterItem<'_, '_> {
    /// The crossing to which a unit is on its way, if request `number` is its latest.
    pub(crate) fn next_link(&self, number: u64) -> Option<NextLink> {
        let is_same = self.state.accepted == number && self.is_latest();
        let is_on_way = self.status.has_path() && self.path.0.kind() == PathKind::ToLink;
        self.state.journey.next.filter(|_| is_same && is_on_way)
    }

    /// Whether the path of a critter to a link is being searched for again, for its request number `number`; or, while it queues,
    /// another path, since its target has moved.
    pub(crate) fn keeps_place(&self, number: u64) -> bool {
        let is_same = self.state.accepted == number && self.is_latest();
        let is_held = || self.critter.as_ref().is_some_and(|(state, _)| state.member.is_held);
        is_same
            && match *self.status {
                PathStatus::Repairing => self.state.journey.next.is_some(),
                PathStatus::Searching => is_held(),
                _ => false,
            }
    }
}
