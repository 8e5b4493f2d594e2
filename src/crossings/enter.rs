//! Crossings begin and end.
//!
//! Input: units that stand on the cells of their links, older requests first. Output: units on the landing cells, and events.

use bevy::prelude::*;

use super::{Crossing, Crossings, Waiting, queue::Traveler};
use crate::{
    crowds::PaceItem,
    links::{Hop, LinkEntered, LinkLeft},
    nav::{Cell, CellRect, GridId, NavGrid, walk::PROGRESS_PER_COST},
};

/// Ticks between two attempts to send idle units aside.
const CLEAR_EVERY: u32 = 16;

impl Crossings<'_, '_> {
    /// Advances all crossings by a tick; those that are over end.
    pub(super) fn arrive(&mut self) {
        let mut crossings = std::mem::take(&mut self.traffic.crossings);
        crossings.retain_mut(|crossing| {
            // A unit that is no longer a critter is at the end at once.
            let work = self.work_of(crossing.entity).unwrap_or(u64::MAX);
            crossing.left = crossing.left.saturating_sub(work);
            crossing.left > 0 || !self.leave(crossing)
        });
        self.traffic.crossings = crossings;
    }

    /// What a critter can do in a tick; `None` if it is none.
    pub(super) fn work_of(&self, entity: Entity) -> Option<u64> {
        Some(self.paces.get(entity).ok()?.work(self.time.delta_secs()))
    }

    /// A crossing is over. Returns false if the critter has no transform at present: then the end of the crossing waits for one.
    fn leave(&mut self, crossing: &Crossing) -> bool {
        let Crossing { entity, link, .. } = *crossing;
        let mut units = self.units.p0();
        let Ok(mut unit) = units.get_mut(entity) else {
            return true; // despawned
        };
        let is_over = unit.critter.is_some() || !self.paces.contains(entity);
        if is_over {
            let at = self.outcomes.end_crossing(&mut unit);
            self.outcomes.trigger(LinkLeft { entity, link, at });
        }
        is_over
    }

    /// Lets a unit enter its link, if it can.
    pub(super) fn try_to_enter(&mut self, unit: Waiting, waiting: &[Waiting]) {
        let is_ghost = self.is_ghost(unit.entity);
        let links = &self.outcomes.links;
        let [_, to] = links.ends(unit.next.hop);
        let is_full = self.is_full(unit.next.hop);
        let Some(grid) = self.grids.get(to.grid).filter(|_| !is_full) else {
            return;
        };
        let area = to.area.intersection(grid.rect());
        // All cells that it may cover if it lands in this area.
        let needed = grid.footprint(unit.profile).cells_under(area);
        let mut cells: Vec<Cell> = area.cells().collect();
        cells.retain(|&cell| goes_on_from(grid, &unit, cell));
        cells.sort_by_key(|cell| cell.chebyshev(unit.next.landing));
        let free = match self.units.p1().get(unit.entity) {
            _ if is_ghost => cells.first().copied(),
            Ok(critter) => cells.iter().copied().find(|&cell| {
                let kind = (unit.profile, &*critter.state);
                self.crowds.has_room(&self.grids, (to.grid, cell), kind)
            }),
            Err(_) => None,
        };
        if let Some(cell) = free {
            let drawn = self.take_off(unit);
            self.enter(unit, (to.grid, cell), drawn);
        } else if let Some(partner) = self.partner(unit, waiting) {
            let drawn = [unit, partner].map(|one| self.take_off(one));
            self.enter(unit, partner.at, drawn[0]);
            self.enter(partner, unit.at, drawn[1]);
        } else if unit.waited % CLEAR_EVERY == 1 {
            self.clear(unit, (to.grid, needed));
        }
    }

    /// Finds a unit to exchange places with: it waits on a cell where this unit may land, and may land where this unit stands,
    /// over the same link or another.
    fn partner(&mut self, unit: Waiting, waiting: &[Waiting]) -> Option<Waiting> {
        let can_land = |one: &Waiting, other: &Waiting| {
            let [_, to] = self.outcomes.links.ends(one.next.hop);
            let (grid, cell) = other.at;
            let level = self.grids.get(grid);
            let fits = level.is_some_and(|level| goes_on_from(level, one, cell));
            fits && to.grid == grid && to.area.contains(cell)
        };
        let sizes = |one: &Waiting, at: &Waiting| {
            self.grids.get(at.at.0).map(|grid| grid.unit_size(one.profile))
        };
        let is_partner = |other: &&Waiting| {
            self.traffic.travelers.contains_key(&other.number)
                && other.number != unit.number
                && can_land(&unit, other)
                && can_land(other, &unit)
                && sizes(&unit, other) == sizes(other, other)
                && sizes(other, &unit) == sizes(&unit, &unit)
                && !self.is_full(other.next.hop)
        };
        let partners: Vec<Waiting> = waiting.iter().filter(is_partner).copied().collect();
        let mut critters = self.units.p1();
        // A unit that has grown but has no room yet holds too few cells.
        let mut holds_its_cells = |one: &Waiting| {
            critters
                .get_mut(one.entity)
                .is_ok_and(|critter| self.crowds.has_size(&self.grids, one.profile, &critter.state))
        };
        if !holds_its_cells(&unit) {
            return None;
        }
        partners.into_iter().find(holds_its_cells)
    }

    /// Whether the capacity of a link is used up.
    fn is_full(&self, hop: Hop) -> bool {
        self.outcomes.links.placed(hop).is_none_or(|placed| {
            self.traffic.crossing(placed.entity) >= usize::from(placed.link.capacity)
        })
    }

    fn is_ghost(&self, entity: Entity) -> bool {
        self.paces.get(entity).is_ok_and(|pace| !pace.critter.collides)
    }

    /// Sends units off the landing cells if `by` may push them: units that are idle or queue, or have waited there for long
    /// with younger requests.
    fn clear(&mut self, by: Waiting, to: (GridId, CellRect)) {
        let team = self.paces.get(by.entity).map_or(0, |pace| pace.team());
        for other in self.crowds.holders(&self.grids, to) {
            let is_pushable =
                |pace: PaceItem| pace.team() == team && !pace.is_unpushable && !pace.is_disabled;
            if !self.paces.get(other).is_ok_and(is_pushable) {
                continue;
            }
            let units = self.units.p0();
            let has_business = units.get(other).is_ok_and(|unit| {
                let member = unit.critter.map(|(state, _)| state.member).unwrap_or_default();
                let traveler = self.traffic.travelers.get(&unit.state.accepted);
                let is_stuck =
                    traveler.is_some_and(Traveler::is_stuck) && unit.state.accepted > by.number;
                let waits = member.is_held || is_stuck;
                unit.status.is_under_way() && !waits || member.crossing.is_some()
            });
            let mut critters = self.units.p1();
            if let Ok(mut other) = critters.get_mut(other)
                && !has_business
            {
                self.crowds.step_aside(&self.grids, &mut other, to);
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
        let Waiting { number, entity, next, at, profile, .. } = unit;
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
        if left > 0 || !self.leave(&crossing) {
            self.traffic.crossings.push(crossing);
        }
    }
}

/// Whether a unit can stand on a cell behind its link and go on from there as well as from the planned cell.
fn goes_on_from(grid: &NavGrid, unit: &Waiting, cell: Cell) -> bool {
    let region = grid.region(unit.profile, cell);
    let planned = grid.region(unit.profile, unit.next.landing);
    region.is_some() && (planned.is_none() || region == planned)
}
