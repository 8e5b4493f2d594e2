//! Where a group gathers, and where its members are.
//!
//! Input: groups, the components of units, links. Output: the grid of a group, and for each member the cell from which slots are
//! chosen for it: where it stands, or where it comes to that grid from another one.

use std::collections::BTreeMap;

use bevy::{
    ecs::{entity_disabling::Disabled, query::QueryData, system::SystemParam},
    prelude::*,
};

use super::{Group, GroupMember, GroupSlot, GroupState, Member, SwapClass};
use crate::{
    blocker::PlacedBlockers,
    grids::NavGrids,
    links::NavLinks,
    nav::{Cell, CellRect, GridId, PathFailure, ProfileId},
    request::{PathRequest, Target, anchor_of, grid_of_unit, leaves_walls, profile_of, start_near},
    unit::{Critter, CritterState, NavAgent, PathStatus, PathSteering, RequestState, SpeedChanges},
    whereabouts::Whereabouts,
};

/// What groups read of a unit.
#[derive(QueryData)]
pub(crate) struct GroupUnitData {
    pub(super) request: Option<&'static PathRequest>,
    pub(super) status: Option<&'static PathStatus>,
    pub(super) slot: Option<&'static GroupSlot>,
    pub(super) class: Option<&'static SwapClass>,
    pub(super) agent: Option<&'static NavAgent>,
    pub(super) critter: Option<&'static Critter>,
    pub(super) steering: Option<&'static PathSteering>,
    pub(super) speed_changes: SpeedChanges,
    pub(super) state: Option<&'static RequestState>,
    pub(super) walking: Option<(&'static CritterState, &'static Transform)>,
}

/// The cells at which members that take links come to the grid of the group: the same for all of a profile from one
/// connected region.
#[derive(Default)]
pub(super) struct Arrivals {
    /// Whether links lead there from a grid.
    joined: BTreeMap<GridId, bool>,
    cells: BTreeMap<(ProfileId, GridId, Option<u32>), Option<Cell>>,
}

/// Where units and goals are.
#[derive(SystemParam)]
pub(crate) struct MemberPlaces<'w, 's> {
    pub(super) grids: Res<'w, NavGrids>,
    pub(super) links: Res<'w, NavLinks>,
    pub(super) blockers: Res<'w, PlacedBlockers>,
    pub(super) units: Query<'w, 's, GroupUnitData, Allow<Disabled>>,
    pub(super) whereabouts: Whereabouts<'w, 's>,
}

impl MemberPlaces<'_, '_> {
    /// The grid on which a group gathers: the goal grid of its request, or the grid of the entity that is its goal, if links
    /// lead there; otherwise the grid of its request or of its first member. It is looked up again only if the game has changed
    /// the goal, or
    /// the group follows it.
    pub(super) fn grid_of_group(&self, group: &Group, state: &GroupState) -> GridId {
        let is_same = || state.order.as_ref().map(goal_of) == Some(goal_of(group));
        let is_known = !state.follows(group) && (!state.was_changed || is_same());
        if let Some(known) = state.grid.filter(|_| is_known) {
            return known;
        }
        let first = || {
            let unit = self.units.get(group.members.first()?.entity).ok()?;
            unit.agent.map(|agent| agent.grid)
        };
        let own = group.request.start_grid.or_else(first).unwrap_or_default();
        let of_goal = || {
            let Target::Entity(goal) = group.goal else {
                return None;
            };
            let unit = self.units.get(goal).ok();
            let of_unit = |unit: GroupUnitDataItem| {
                let critter = unit.walking.map(|(critter, _)| critter);
                grid_of_unit(critter, unit.state, unit.agent)
            };
            let grid = unit.and_then(of_unit).or(self.blockers.grid_of(goal))?;
            self.links.join(own, grid).then_some(grid)
        };
        group.request.goal_grid.or_else(of_goal).unwrap_or(own)
    }

    /// The cell that a target stands for if many units of any size go there.
    pub(super) fn cell_of_target(&self, target: &Target, id: GridId) -> Result<Cell, PathFailure> {
        let frame = self.grids.frame(id).ok_or(PathFailure::GridGone(id))?;
        let middle = |rect: CellRect| {
            let middle = |length: u32| (length.saturating_sub(1) / 2) as i32;
            rect.min.offset(middle(rect.width), middle(rect.height))
        };
        match target {
            Target::Cell(cell) => Ok(*cell),
            Target::Position(position) => frame.cell_at(*position).ok_or(PathFailure::GoalUnknown),
            Target::Rect(rect) => {
                // The part that lies off the grid does not count.
                let on_grid = self.grids.get(id).map(|grid| rect.intersection(grid.rect()));
                Ok(middle(on_grid.filter(|part| !part.is_empty()).unwrap_or(*rect)))
            }
            Target::Entity(entity) => {
                let covered = self.blockers.blocked_rect(*entity, id);
                let covered = covered.or_else(|| self.cells_of_critter(*entity, id)).map(middle);
                let position = self.whereabouts.position(*entity);
                covered.or_else(|| frame.cell_at(position?)).ok_or(PathFailure::TargetGone)
            }
            Target::Nearest(targets) => targets
                .iter()
                .filter(|target| !matches!(target, Target::Nearest(_)))
                .find_map(|target| self.cell_of_target(target, id).ok())
                .ok_or(PathFailure::TargetGone),
        }
    }

    /// Whether a target is an entity that does not exist any more.
    pub(super) fn is_despawned(&self, target: &Target) -> bool {
        matches!(target, Target::Entity(entity) if self.units.get(*entity).is_err())
    }

    /// Whether an entity is a critter that stands where its order has led it. One without orders may be pushed anywhere.
    pub(super) fn has_arrived(&self, target: &Target) -> bool {
        let Target::Entity(entity) = *target else {
            return false;
        };
        self.units.get(entity).is_ok_and(|unit| {
            unit.walking.is_some_and(|(critter, _)| !critter.is_moving())
                && matches!(unit.status, Some(PathStatus::Arrived(_)))
        })
    }

    /// The cells of the critter that a group follows, on which no member is to stand: none if it is a member itself.
    pub(super) fn cells_of_leader(&self, group: &Group, id: GridId) -> CellRect {
        let Target::Entity(leader) = group.goal else {
            return CellRect::default();
        };
        let collides = self.units.get(leader).is_ok_and(|unit| unit.collides());
        let is_member = group.members.iter().any(|member| member.entity == leader);
        let cells = self.cells_of_critter(leader, id);
        let is_kept = group.is_following() && collides && !is_member;
        cells.filter(|_| is_kept).unwrap_or_default()
    }

    /// The cells that a critter covers on a grid, or is about to enter: where its transform is depends on when it was last drawn.
    fn cells_of_critter(&self, entity: Entity, id: GridId) -> Option<CellRect> {
        let unit = self.units.get(entity).ok()?;
        let (grid, critter, state) = (self.grids.get(id)?, unit.walking?, unit.state?);
        let (profile, anchor) = if critter.0.is_placed() {
            (profile_of(critter.0, state), anchor_of(critter, state, (id, grid))?)
        } else {
            // It is new.
            let profile = unit.agent.map(|agent| agent.profile).unwrap_or_default();
            let position = self.whereabouts.position(entity)?;
            let size = grid.unit_size(profile);
            (profile, self.grids.frame(id)?.anchor_at(position, size)?)
        };
        Some(grid.footprint(profile).cells_under(CellRect::single(anchor)))
    }

    /// A member with its own profile, and where it stands.
    pub(super) fn member(
        &self,
        group: &Group,
        member: &GroupMember,
        (id, goal): (GridId, Cell),
        arrivals: &mut Arrivals,
    ) -> Member {
        let &GroupMember { entity, profile: named, rank } = member;
        let named = named.or(group.request.profile);
        let own = || self.units.get(entity).ok()?.agent.map(|agent| agent.profile);
        let profile = named.or_else(own).unwrap_or_default();
        let cell = self.cell_on((entity, profile), group, (id, goal), arrivals);
        Member { entity, profile, named, rank, cell }
    }

    /// The anchor on which a member stands; if it has to take links to the goal, where it comes out of the last one.
    fn cell_on(
        &self,
        (entity, profile): (Entity, ProfileId),
        group: &Group,
        (id, goal): (GridId, Cell),
        arrivals: &mut Arrivals,
    ) -> Result<Cell, PathFailure> {
        let unit = self.units.get(entity).ok();
        let own = unit.and_then(|unit| unit.own_grid(group.request.start_grid)).unwrap_or_default();
        let mut is_joined =
            || *arrivals.joined.entry(own).or_insert_with(|| self.links.join(own, id));
        let is_away = own != id && (group.request.goal_grid.is_some() || is_joined());
        let cell = self.head_of(entity, if is_away { own } else { id }, profile);
        let cell = cell.ok_or(PathFailure::StartUnknown)?;
        let mut arrival = || {
            let start = self.grids.get(own).and_then(|grid| grid.region(profile, cell));
            let known = arrivals.cells.entry((profile, own, start));
            let find = || self.links.arrival(&self.grids, profile, (own, cell), (id, goal));
            *known.or_insert_with(find)
        };
        if is_away {
            return arrival().ok_or(PathFailure::NoLinks { from: own, to: id });
        }
        // The way to the goal may lead over another grid.
        let grid = self.grids.get(id);
        let can_reach = |cell| grid.is_some_and(|grid| grid.can_reach(profile, cell, goal));
        let needs_links = own == id && !can_reach(cell);
        Ok(needs_links.then(arrival).flatten().filter(|&cell| can_reach(cell)).unwrap_or(cell))
    }

    /// The anchor on which a unit stands on a grid, or which it is about to enter.
    fn head_of(&self, entity: Entity, id: GridId, profile: ProfileId) -> Option<Cell> {
        let unit = self.units.get(entity).ok()?;
        let grid = self.grids.get(id)?;
        let standing = unit.walking.zip(unit.state);
        let standing = standing.and_then(|(critter, state)| anchor_of(critter, state, (id, grid)));
        let by_transform = || {
            let position = self.whereabouts.position(entity)?;
            self.grids.frame(id)?.anchor_at(position, grid.unit_size(profile))
        };
        let anchor = standing.or_else(by_transform)?;
        let leaves_walls =
            leaves_walls(unit.walking.map(|(critter, _)| critter), unit.steering.is_some());
        Some(start_near(grid, profile, (anchor, Vec2::ZERO), leaves_walls))
    }
}

impl GroupUnitDataItem<'_, '_> {
    fn collides(&self) -> bool {
        self.critter.is_some_and(|critter| critter.collides)
    }

    /// The grid on which a unit is, where its request may have set one.
    pub(super) fn own_grid(&self, of_request: Option<GridId>) -> Option<GridId> {
        let crossed = self.state.and_then(|state| state.journey.grid);
        crossed.or(of_request).or(self.agent.map(|agent| agent.grid))
    }
}

/// What the grid of a group depends on.
pub(super) fn goal_of(group: &Group) -> (Target, [Option<GridId>; 2]) {
    (group.goal.clone(), [group.request.start_grid, group.request.goal_grid])
}
