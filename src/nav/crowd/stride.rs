//! A unit whose best way is free.
//!
//! Input: a unit of one cell that goes by itself. Output: the same plan that a search
//! would come to, at a fraction of the work; or none, and then there is one. Most units go this way.

use super::{
    Crowd,
    board::turn,
    claim::Claim,
    guide::World,
    rank::steps_at,
    unit::{NONE, STAY},
};
use crate::nav::terrain::ProfileId;

impl Crowd {
    /// Plans a step on a unit's best way, if that cell is free or somebody is leaving it, on ground where
    /// all cells cost the same and no passage is near; says whether it did.
    pub(super) fn stride<G: ?Sized>(&mut self, world: &World<'_, G>, index: u32) -> bool {
        let unit = &self.units[index as usize];
        let is_plain = unit.size == 1 && !unit.is_ghost;
        if !is_plain
            || self.view(index).is_none_or(|view| view.cost == 0)
            || !self.is_in_open(world, index)
        {
            return false;
        }
        let unit = &self.units[index as usize];
        let Some(view) = self.view(index) else {
            return false;
        };
        let outlook = self.weigh(unit, STAY, view, view.cost, &steps_at(view.cost));
        let Some(way) = outlook.first() else {
            return false;
        };
        let cell = self.board.beside(self.board.index(unit.tail), way);
        let hold = self.board.hold(cell);
        let is_free = hold.owner == NONE;
        if !is_free && (hold.heir != NONE || !self.is_leaving(hold.owner, cell, way)) {
            return false;
        }
        if self.may_be_crossed(unit.tail, way) && self.is_crossed(unit.tail, way) {
            return false;
        }
        self.units[index as usize].wish = outlook.best;
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

    /// Whether no passage is near a unit.
    fn is_in_open<G: ?Sized>(&mut self, world: &World<'_, G>, index: u32) -> bool {
        let unit = &self.units[index as usize];
        let Some(passages) = self.passages.get_mut(usize::from(unit.profile)) else {
            return false;
        };
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
