//! Crossings begin and end.
//!
//! Input: units that stand on the cells of their links, older requests first. Output: units on the landing cells, and events.

use bevy::prelude::*;

use super::{Crossing, Crossings, Waiting};
use crate::{
    links::{LinkEntered, LinkLeft},
    nav::{Cell, CellRect, GridId, walk::PROGRESS_PER_COST},
    unit::{CrowdTeam, work},
};

impl Crossings<'_, '_> {
    /// Advances all crossings by a tick; those that are over end.
    pub(super) fn arrive(&mut self) {
        let mut crossings = std::mem::take(&mut self.traffic.crossings);
        crossings.retain_mut(|crossing| {
            let is_over = match self.work_of(crossing.entity) {
                Some(work) => {
                    crossing.left = crossing.left.saturating_sub(work);
                    crossing.left == 0
                }
                None => true, // not a critter any more
            };
            if is_over {
                self.leave(crossing);
            }
            !is_over
        });
        self.traffic.crossings = crossings;
    }

    /// What a critter can do in a tick; `None` if it is none.
    fn work_of(&mut self, entity: Entity) -> Option<u64> {
        let seconds = self.time.delta_secs();
        let paces = self.units.p2();
        let (critter, limit, group_limit, .., is_disabled) = paces.get(entity).ok()?;
        let limited = critter.limited(limit);
        let limited = group_limit.map_or(limited, |limit| limited.min(limit.0));
        Some(if is_disabled { 0 } else { work(limited, seconds) })
    }

    /// A crossing is over.
    fn leave(&mut self, crossing: &Crossing) {
        let Crossing { entity, link, .. } = *crossing;
        let mut units = self.units.p0();
        let Ok(mut unit) = units.get_mut(entity) else {
            return; // despawned
        };
        let mut at = (unit.state.grid, unit.path.0.start());
        if let Some((state, _)) = &mut unit.critter {
            state.member.crossing = None;
            at = (if state.unit().is_some() { state.member.grid } else { at.0 }, state.cell());
        }
        self.outcomes.end_crossing(&mut unit);
        self.outcomes.trigger(LinkLeft { entity, link, at });
    }

    /// Lets a unit enter its link, if it can.
    pub(super) fn try_to_enter(&mut self, unit: Waiting, waiting: &[Waiting]) {
        let is_ghost = self.is_ghost(unit.entity);
        let links = &self.outcomes.links;
        let [_, to] = links.ends(unit.next.hop);
        let is_full = links.placed(unit.next.hop).is_none_or(|placed| {
            self.traffic.crossing(placed.entity) >= usize::from(placed.link.capacity)
        });
        let Some(grid) = self.grids.get(to.grid).filter(|_| !is_full) else {
            return;
        };
        let mut cells: Vec<Cell> = to.area.intersection(grid.rect()).cells().collect();
        cells.retain(|&cell| grid.cost(unit.profile, cell) > 0);
        cells.sort_by_key(|cell| cell.chebyshev(unit.next.landing));
        let is_free = |&cell: &Cell| {
            is_ghost || self.crowds.has_room(&self.grids, (to.grid, cell), unit.profile)
        };
        if let Some(cell) = cells.iter().copied().find(is_free) {
            let drawn = self.take_off(unit);
            self.enter(unit, (to.grid, cell), drawn);
        } else if let Some(partner) = self.partner(unit, waiting) {
            let drawn = [unit, partner].map(|one| self.take_off(one));
            self.enter(unit, partner.at, drawn[0]);
            self.enter(partner, unit.at, drawn[1]);
        } else {
            self.clear(unit.entity, (to.grid, to.area));
        }
    }

    /// Finds a unit that waits at the other end, where this one could stand, and that could stand here.
    fn partner(&mut self, unit: Waiting, waiting: &[Waiting]) -> Option<Waiting> {
        let grid_of = |one: &Waiting| self.grids.get(one.at.0);
        let fits = |one: &Waiting, at: &Waiting| {
            let (there, here) = grid_of(at).zip(grid_of(one))?;
            let is_same_size = there.unit_size(one.profile) == here.unit_size(at.profile);
            Some(is_same_size && there.cost(one.profile, at.at.1) > 0)
        };
        let travelers = &self.traffic.travelers;
        let partners = waiting.iter().filter(|other| {
            other.next.hop == unit.next.hop.reversed()
                && travelers.contains_key(&other.number)
                && fits(&unit, other) == Some(true)
                && fits(other, &unit) == Some(true)
        });
        let partners: Vec<Waiting> = partners.copied().collect();
        partners.into_iter().find(|partner| !self.is_ghost(partner.entity))
    }

    fn is_ghost(&mut self, entity: Entity) -> bool {
        self.units.p2().get(entity).is_ok_and(|(critter, ..)| !critter.collides)
    }

    /// Sends idle units off the landing cells, if the critter may push them.
    fn clear(&mut self, critter: Entity, to: (GridId, CellRect)) {
        let team_of = |team: Option<&CrowdTeam>| team.copied().unwrap_or_default();
        let team = self.units.p2().get(critter).map_or_else(|_| default(), |pace| team_of(pace.3));
        for other in self.crowds.holders(&self.grids, to) {
            let paces = self.units.p2();
            let is_pushable =
                paces.get(other).is_ok_and(|(.., others, is_unpushable, is_disabled)| {
                    team_of(others) == team && !is_unpushable && !is_disabled
                });
            if !is_pushable {
                continue;
            }
            let units = self.units.p0();
            let has_business = units.get(other).is_ok_and(|unit| {
                let member = unit.critter.map(|(state, _)| state.member).unwrap_or_default();
                unit.status.is_under_way() && !member.is_held || member.crossing.is_some()
            });
            let critters = self.units.p1();
            if let Ok(other) = critters.get(other)
                && !has_business
            {
                self.crowds.step_aside(&self.grids, &other, to);
            }
        }
    }

    fn take_off(&mut self, unit: Waiting) -> Option<Vec2> {
        let mut critters = self.units.p1();
        let mut critter = critters.get_mut(unit.entity).ok()?;
        critter.take_off(&self.grids, &mut self.crowds, unit.at.0)
    }

    /// A unit that has left its cell enters the link.
    fn enter(&mut self, unit: Waiting, to: (GridId, Cell), drawn: Option<Vec2>) {
        let Waiting { number, entity, next, at, profile } = unit;
        self.traffic.travelers.remove(&number);
        let links = &self.outcomes.links;
        let left = links.cost_of(next.hop) * PROGRESS_PER_COST;
        let link = links.placed(next.hop).map_or(Entity::PLACEHOLDER, |placed| placed.entity);
        let drawn = drawn.filter(|_| left > 0);
        let mut critters = self.units.p1();
        let Ok(mut critter) = critters.get_mut(entity) else {
            return;
        };
        critter.land(&self.grids, &mut self.crowds, to, (profile, drawn, left));
        let mut units = self.units.p0();
        let Ok(mut requester) = units.get_mut(entity) else {
            return;
        };
        self.outcomes.begin_crossing(&mut requester, to);
        self.outcomes.trigger(LinkEntered { entity, link, from: at, to });
        let crossing = Crossing { entity, link, left };
        if left == 0 {
            self.leave(&crossing);
        } else {
            self.traffic.crossings.push(crossing);
        }
    }
}
