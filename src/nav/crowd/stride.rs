//! A unit whose best way is free.
//!
//! Input: a unit of one cell that goes by itself. Output: the same plan that a search
//! would come to, at a fraction of the work; or none, and then there is one. Most units go this way.

use super::{
    Crowd,
    board::turn,
    chain::legal_ways,
    claim::Claim,
    guide::World,
    rank::steps_at,
    unit::{Errand, NONE, STAY},
};
use crate::nav::terrain::ProfileId;

impl Crowd {
    /// Plans a step on a unit's best way, if that cell is free or somebody is leaving it and no passage is
    /// near; says whether it did.
    pub(super) fn stride<G: ?Sized>(&mut self, world: &World<'_, G>, index: u32) -> bool {
        let unit = &self.units[index as usize];
        let is_plain = unit.size == 1 && !unit.is_ghost;
        if !is_plain || !self.is_in_open(world, index) {
            return false;
        }
        let Some((way, wish)) = self.best_way(world, index) else {
            return false;
        };
        let unit = &self.units[index as usize];
        let cell = self.board.beside(self.board.index(unit.tail), way);
        let hold = self.board.hold(cell);
        let is_free = hold.owner == NONE;
        if !is_free && (hold.heir != NONE || !self.is_leaving(hold.owner, cell, way)) {
            return false;
        }
        if self.may_be_crossed(unit.tail, way) && self.is_crossed(unit.tail, way) {
            return false;
        }
        self.units[index as usize].wish = wish;
        self.counters.decisions += 1;
        let hold = self.board.hold_mut(cell);
        self.log.push(if is_free {
            hold.owner = index;
            Claim::Owned(cell)
        } else {
            hold.heir = index;
            Claim::Inherits(cell)
        });
        self.set_out(index, way);
        self.log.push(Claim::Moves(index));
        true
    }

    /// The way that a unit would rank first if nobody stood there, and where its shortest way leads.
    fn best_way<G: ?Sized>(&self, world: &World<'_, G>, index: u32) -> Option<(u8, u8)> {
        let unit = &self.units[index as usize];
        if let Some(view) = self.view(index) {
            if view.cost == 0 {
                return None; // the steps cost this and that
            }
            let outlook = self.weigh(unit, STAY, view, view.cost, &steps_at(view.cost));
            return outlook.first().map(|way| (way, outlook.best));
        }
        let is_free = unit.errand == Errand::Way && unit.flees == NONE && !unit.is_trapped;
        let way = self.ways.get(index as usize).filter(|_| is_free)?.next_from(unit.tail)?;
        let layer = world.grid.layer(ProfileId(unit.profile))?;
        (legal_ways(layer, unit.tail) >> way & 1 == 1).then_some((way, way))
    }

    /// Whether no passage is near a unit.
    fn is_in_open<G: ?Sized>(&mut self, world: &World<'_, G>, index: u32) -> bool {
        let unit = &self.units[index as usize];
        let Some(passages) = self.passages.get_mut(usize::from(unit.profile)) else {
            return false;
        };
        passages.fit(self.size); // those of another profile may have made room for these
        passages.is_far(unit.tail) || {
            let layer = world.grid.layer(ProfileId(unit.profile));
            layer.is_some_and(|layer| !passages.look(layer, unit.tail))
        }
    }

    /// Whether a unit leaves a cell, and turns by no more than a right angle against a way.
    fn is_leaving(&self, owner: u32, cell: u32, way: u8) -> bool {
        let unit = &self.units[owner as usize];
        unit.is_moving()
            && turn(unit.direction, way) <= 2
            && !self.board.covers(unit.head, unit.size, cell)
    }
}
