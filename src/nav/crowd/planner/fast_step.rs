//! The fast path for a unit whose best direction is free.
//!
//! Input: a unit of one cell that is not pushed. Output: the same plan that the search would find, at a
//! fraction of the work; or none, and then the search runs. Most steps are planned here.

use crate::nav::crowd::{
    Crowd,
    chain::legal_directions,
    claim::Claim,
    guidance::World,
    reservations::turn_angle,
    step_costs::uniform_step_costs,
    unit::{NONE, Order, STAY},
};
use crate::nav::terrain::ProfileId;

impl Crowd {
    /// Plans a step in a unit's best direction, if that cell is free or being left and no passage is near;
    /// returns whether it did.
    pub(in crate::nav::crowd) fn plan_fast_step<G: ?Sized>(
        &mut self,
        world: &World<'_, G>,
        index: u32,
    ) -> bool {
        let unit = &self.units[index as usize];
        if unit.size > 1 || !self.is_in_open(world, index) {
            return false;
        }
        let Some((direction, preferred_direction)) = self.best_direction(world, index) else {
            return false;
        };
        let unit = &self.units[index as usize];
        let cell = self.reservations.neighbor(self.reservations.index(unit.tail), direction);
        let reservation = self.reservations.get(cell);
        let (owner, is_free) = (reservation.owner, reservation.owner == NONE);
        if !is_free && (reservation.next_owner != NONE || !self.is_leaving(owner, cell, direction))
        {
            return false;
        }
        if self.may_be_crossed(unit.tail, direction) && self.is_crossed(unit.tail, direction) {
            return false;
        }
        self.units[index as usize].preferred_direction = preferred_direction;
        self.counters.decisions += 1;
        let reservation = self.reservations.get_mut(cell);
        self.planner.log.push(if is_free {
            reservation.owner = index;
            Claim::Owner(cell)
        } else {
            reservation.next_owner = index;
            Claim::NextOwner(cell)
        });
        self.plan_step(index, direction);
        self.planner.log.push(Claim::Step(index));
        true
    }

    /// Returns the direction that a unit ranks first, and the direction of its shortest path.
    fn best_direction<G: ?Sized>(&self, world: &World<'_, G>, index: u32) -> Option<(u8, u8)> {
        let unit = &self.units[index as usize];
        // On weighted terrain the step costs differ.
        if let Some(costs) = self.neighbor_costs(index).filter(|costs| costs.cell_cost != 0) {
            let steps = uniform_step_costs(costs.cell_cost);
            let evaluation = self.evaluate(unit, STAY, costs, costs.cell_cost, &steps);
            return evaluation.first().map(|direction| (direction, evaluation.best));
        }
        let follows_path =
            matches!(unit.order, Order::Path(_)) && unit.yields_to == NONE && !unit.is_trapped;
        let is_alone = follows_path && self.reservations.standing_neighbors(unit.tail) == 0;
        let direction = self.sources.next_direction(index, unit.tail).filter(|_| is_alone)?;
        let layer = world.grid.layer(ProfileId(unit.profile))?;
        let is_legal = legal_directions(layer, unit.tail) >> direction & 1 == 1;
        is_legal.then_some((direction, direction))
    }

    /// Returns whether no passage is near a unit.
    fn is_in_open<G: ?Sized>(&mut self, world: &World<'_, G>, index: u32) -> bool {
        let unit = self.units[index as usize];
        let passages = self.shape.passages_of(unit.profile, self.size);
        passages.is_far(unit.tail) || {
            let layer = world.grid.layer(ProfileId(unit.profile));
            layer.is_some_and(|layer| !passages.explore(layer, unit.tail))
        }
    }

    /// Returns whether a unit leaves a cell in a direction that differs from `direction` by no more than a
    /// right angle.
    fn is_leaving(&self, owner: u32, cell: u32, direction: u8) -> bool {
        let unit = &self.units[owner as usize];
        unit.is_moving()
            && turn_angle(unit.direction, direction) <= 2
            && !self.reservations.covers(unit.head, unit.size, cell)
    }
}
