//! Turns a request into cells: where the unit stands, and where it may end.
//!
//! Input: a request, transforms, grids. Output: a [`Resolved`] query, or why there is none. The start
//! is the cell that a walking critter is about to enter, or the cell under the transform of a unit
//! that stands. All cells are anchors (see [`Profile::size`](crate::nav::terrain::Profile::size)).

use bevy::prelude::*;

use super::{
    PathRequest, Resolved, Target,
    intake::RequestIntake,
    requester::{RequesterReadOnlyItem, anchor_of, grid_of_unit},
    start_near,
};
use crate::{
    links::{Costs, Destination, Routing},
    nav::{
        Approach, Cell, CellRect, Goal, GridId, NavGrid, PathFailure, PathQuery, ProfileId, Reach,
        Topology,
    },
};

/// Cells around a target for each cell that its followers cover: with 1 they would fill all around it, and those that come
/// last would push the others about.
const ROOM_PER_FOLLOWER: u64 = 2;
/// Followers stop at most so many cells away for want of room.
const MOST_CELLS_AWAY: u16 = 24;

/// Where units and their targets are.
impl RequestIntake<'_, '_> {
    /// The query of a unit's request to any of the destinations, or of its next leg; `None` while the costs of links are being
    /// determined. Also returns the work of planning a route over links, in expansions.
    pub(super) fn resolve(
        &self,
        unit: &RequesterReadOnlyItem,
        request: &PathRequest,
        all: Result<Vec<Destination>, PathFailure>,
    ) -> (Result<Option<Resolved>, PathFailure>, u32) {
        let start = self.start_of(unit, request);
        match start.and_then(|start| Ok((start, all?))) {
            Ok((start, all)) => self.resolve_from(start, all, (unit, request)),
            Err(reason) => (Err(reason), 0),
        }
    }

    /// Where the path of a unit begins.
    fn start_of(
        &self,
        unit: &RequesterReadOnlyItem,
        request: &PathRequest,
    ) -> Result<Cell, PathFailure> {
        let (id, profile) = request.grid_and_profile(unit.agent, unit.state);
        let grid = self.grids.get(id).ok_or(PathFailure::GridGone(id))?;
        let size = grid.unit_size(profile);
        let start = self.cell_of(unit.entity, id, size).ok_or(PathFailure::StartUnknown)?;
        let offset = self.offset_of(unit, (id, start), size).unwrap_or_default();
        Ok(start_near(grid, profile, (start, offset), unit.leaves_walls()))
    }

    /// Resolves the request from a cell to any of the destinations.
    fn resolve_from(
        &self,
        start: Cell,
        all: Vec<Destination>,
        (unit, request): (&RequesterReadOnlyItem, &PathRequest),
    ) -> (Result<Option<Resolved>, PathFailure>, u32) {
        let (id, profile) = request.grid_and_profile(unit.agent, unit.state);
        let links = &self.outcomes.links;
        let (do_lead_on, reach) =
            (links.lead_from(id, profile), request.reach_of(unit.state.attempt));
        let query =
            |goal| PathQuery::new(start, goal).profile(profile).algorithm(request.algorithm);
        let here = all.iter().filter(|destination| destination.grid == id);
        let here: Vec<Goal> = here.map(|destination| destination.goal).collect();
        if let Some(&goal) = here.first() {
            let goals = (here.len() > 1).then(|| here.into());
            let destinations = do_lead_on.then(|| all.into());
            let query = query(goal).reach(reach);
            return (Ok(Some(Resolved { grid: id, query, goals, next: None, destinations })), 0);
        }
        let accepts_old = unit.state.journey.accepts_old_costs(links.ticks());
        let costs = Costs { grids: &self.grids, flows: &self.flows, profile, accepts_old };
        let options = (reach == Reach::Nearest, unit.state.journey.back);
        let (routing, work) = match do_lead_on {
            true => links.route(costs, (id, start), &all, options),
            false => (Routing::None, 0),
        };
        let is_in_wall = || self.grids.get(id).is_some_and(|grid| grid.cost(profile, start) == 0);
        let resolved = match routing {
            Routing::Pending => Ok(None),
            Routing::Via(next, _) => {
                let (query, destinations) = (query(links.entrance(next.hop)), Some(all.into()));
                let (grid, goals, next) = (id, None, Some(next));
                Ok(Some(Resolved { grid, query, goals, next, destinations }))
            }
            Routing::None if is_in_wall() => Err(PathFailure::StartImpassable(start)),
            Routing::None => Err(PathFailure::NoLinks { from: id, to: all[0].grid }),
        };
        (resolved, work)
    }

    /// Where a request may end in its present attempt: at least one place.
    pub(super) fn destinations(
        &self,
        unit: &RequesterReadOnlyItem,
        request: &PathRequest,
    ) -> Result<Vec<Destination>, PathFailure> {
        if let Some(places) = &unit.state.places {
            return Ok(places.to_vec());
        }
        let place = |target: &Target| self.destination(unit, request, target);
        match request.target_of(unit.state.attempt) {
            Target::Nearest(targets) => {
                let numbered = (0..).zip(targets).filter_map(|(target, one)| {
                    place(one).ok().map(|place| Destination { target, ..place })
                });
                let all: Vec<_> = numbered.collect();
                let why = || targets.iter().find_map(|one| place(one).err().filter(may_come_back));
                if all.is_empty() { Err(why().unwrap_or(PathFailure::TargetGone)) } else { Ok(all) }
            }
            target => Ok(vec![place(target)?]),
        }
    }

    /// Where a request ends if it leads to `target`.
    pub(super) fn destination(
        &self,
        unit: &RequesterReadOnlyItem,
        request: &PathRequest,
        target: &Target,
    ) -> Result<Destination, PathFailure> {
        let (own, _) = request.grid_and_profile(unit.agent, unit.state);
        let first = unit.state.journey.left.unwrap_or(own);
        let grid = request.goal_grid.unwrap_or_else(|| match target {
            Target::Entity(entity) => {
                let can_go = |&grid: &GridId| grid == own || self.outcomes.links.join(own, grid);
                self.grid_of_target(*entity).filter(can_go).unwrap_or(first)
            }
            _ => first,
        });
        Ok(Destination { grid, goal: self.goal(unit, request, target, grid)?, target: 0 })
    }

    /// The grid of an entity, if it has one of its own.
    fn grid_of_target(&self, entity: Entity) -> Option<GridId> {
        if let Ok(unit) = self.units.get(entity) {
            let critter = unit.critter.map(|(critter, _)| critter);
            return grid_of_unit(critter, Some(unit.state), unit.agent);
        }
        self.blockers.grid_of(entity)
    }

    /// The goal of a request on the grid of `target`.
    fn goal(
        &self,
        unit: &RequesterReadOnlyItem,
        request: &PathRequest,
        target: &Target,
        id: GridId,
    ) -> Result<Goal, PathFailure> {
        let (_, profile) = request.grid_and_profile(unit.agent, unit.state);
        let (mut radius, rect) = (0, self.grids.get(id).map(NavGrid::rect));
        let footprint = match target {
            Target::Cell(cell) => CellRect::single(unit.state.slot.unwrap_or(*cell)),
            Target::Position(position) => {
                let frame = self.grids.frame(id).ok_or(PathFailure::GridGone(id))?;
                // A large unit will stand with its middle there.
                let grid = self.grids.get(id).filter(|_| request.approach == Approach::Onto);
                let size = grid.map_or(1, |grid| grid.unit_size(profile));
                CellRect::single(frame.anchor_at(*position, size).ok_or(PathFailure::GoalUnknown)?)
            }
            Target::Entity(target) => {
                self.grids.get(id).ok_or(PathFailure::GridGone(id))?;
                let found = self.footprint(*target, id).ok_or(PathFailure::TargetGone)?;
                radius = found.1.min(u16::MAX.into()) as u16;
                found.0
            }
            Target::Rect(rect) => *rect,
            Target::Nearest(_) => return Err(PathFailure::GoalUnknown), // not one inside another
        };
        let collides_with =
            |other| other != unit.entity && self.is_held(unit.entity) && self.is_held(other);
        Ok(match (request.approach, target) {
            // Units that collide do not stand on each other.
            (Approach::Onto, Target::Entity(other)) if collides_with(*other) => {
                let approach = self.approach_among_followers(request, *other, (id, profile));
                Goal { area: footprint, radius, approach }
            }
            // An entity that covers several cells is stood on at its anchor, if that is on the grid.
            (Approach::Onto, Target::Entity(_))
                if rect.is_some_and(|rect| rect.contains(footprint.min)) =>
            {
                footprint.min.into()
            }
            (approach, _) => Goal { area: footprint, radius, approach },
        })
    }

    /// How near a unit comes to another one on whose cells it cannot stand: beside it. If many critters that collide follow the same
    /// one, each stops some cells away, so that there is room for all. Otherwise they would push each other, and their target, about
    /// for ever.
    fn approach_among_followers(
        &self,
        request: &PathRequest,
        target: Entity,
        (id, profile): (GridId, ProfileId),
    ) -> Approach {
        let followers = self.outcomes.open.followed.get(&target).copied().unwrap_or(0);
        let grid = self.grids.get(id).filter(|_| request.follows && followers > 0);
        let Some(grid) = grid else {
            return Approach::Beside;
        };
        let size = u64::from(grid.unit_size(profile));
        let wanted = ROOM_PER_FOLLOWER * u64::from(followers) * size * size;
        // The cells within a distance, on squares those of a disc.
        let room = |cells: u16| match (grid.topology(), u64::from(cells)) {
            (Topology::Square, 1) => 8,
            (Topology::Square, cells) => 3 * cells * cells,
            (Topology::Hexagonal, cells) => 3 * cells * (cells + 1),
        };
        match (1..MOST_CELLS_AWAY).find(|&cells| room(cells) >= wanted) {
            Some(1) => Approach::Beside,
            cells => Approach::Within { cells: cells.unwrap_or(MOST_CELLS_AWAY) },
        }
    }

    /// The cells that an entity covers, as a rectangle and steps around it: those of its blocker, else of the unit that it is,
    /// else the cell under it.
    fn footprint(&self, entity: Entity, grid: GridId) -> Option<(CellRect, u32)> {
        if let Some(found) = self.blockers.footprint(entity, grid) {
            return Some(found);
        }
        let profile = self.units.get(entity).ok().and_then(|unit| unit.profile_on(grid));
        let size =
            profile.map_or(Some(1), |profile| Some(self.grids.get(grid)?.unit_size(profile)))?;
        let anchor = self.cell_of(entity, grid, size)?;
        match self.grids.get(grid).map(NavGrid::topology) {
            Some(Topology::Hexagonal) => Some((CellRect::single(anchor), size - 1)),
            _ => Some((CellRect::new(anchor, size, size), 0)),
        }
    }

    /// The anchor on which a critter stands or which it enters; for other entities, that of a block of
    /// `size` cells a side around the transform. May lie off the grid.
    pub(super) fn cell_of(&self, entity: Entity, grid: GridId, size: u32) -> Option<Cell> {
        if let Ok(unit) = self.units.get(entity)
            && let Some(critter) = unit.critter
            && let Some(anchor) = anchor_of(critter, unit.state, (grid, self.grids.get(grid)?))
        {
            return Some(anchor);
        }
        self.grids.frame(grid)?.anchor_at(self.whereabouts.position(entity)?, size)
    }

    /// How far off the middle of its cell a steered unit is, in cells.
    pub(super) fn offset_of(
        &self,
        unit: &RequesterReadOnlyItem,
        (grid, cell): (GridId, Cell),
        size: u32,
    ) -> Option<Vec2> {
        unit.steering?;
        let frame = self.grids.frame(grid)?;
        let middle = frame.to_cells(frame.block_center(cell, size));
        Some(frame.to_cells(self.whereabouts.position(unit.entity)?) - middle)
    }

    /// Whether an entity is a critter that holds its cells against others.
    fn is_held(&self, entity: Entity) -> bool {
        let critter = self.units.get(entity).ok().and_then(|unit| unit.critter);
        critter.is_some_and(|(state, _)| state.holds_its_cells())
    }
}

/// Whether a target that cannot be used for this reason may be usable later: a despawned one does not come back.
fn may_come_back(reason: &PathFailure) -> bool {
    *reason != PathFailure::TargetGone
}
