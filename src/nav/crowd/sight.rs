//! What is left of a unit's own path, as far as it sees that.
//!
//! Input: the next cells of the path, and the ground around the unit. Output: what is left from its cell and
//! from those beside it: over the best cell of the path to which a straight way leads. Walls count. Without
//! them, two cells beside each other at a corner would both count as nearer to the goal than the other one,
//! and a unit would walk to and fro between them.

use super::{
    Crowd,
    board::Place,
    chain::moves_of,
    guide::FAR,
    near::{Ground, straight},
    unit::Errand,
    way::{AHEAD, Ahead},
};
use crate::nav::{
    grid::NavGrid,
    moves::MoveTable,
    terrain::{DIAGONAL, ProfileId, STRAIGHT},
};

/// The ground between a unit and its path.
struct Sight<'a> {
    ground: Ground<'a>,
    table: &'static MoveTable,
    /// Nothing is in the way anywhere near.
    is_clear: bool,
}

impl Crowd {
    /// What is left of a unit's own way from its place and from those beside it.
    pub(super) fn way_rest<'a>(
        &'a self,
        grid: &'a NavGrid,
        index: u32,
    ) -> impl Fn(Place) -> u64 + 'a {
        let (way, unit) = (&self.ways[index as usize], &self.units[index as usize]);
        let (profile, here) = (ProfileId(unit.profile), unit.tail);
        let mut cells = ([(way.at, 0); AHEAD], 1);
        let sight = grid.layer(profile).filter(|_| !way.has_field).map(|layer| {
            let ground = Ground::new(layer, grid.terrain_bytes());
            cells = way.ahead(&ground);
            let is_clear = ground.is_clear(here, cells.0[..cells.1].iter().map(|cell| cell.0));
            Sight { ground, table: moves_of(grid, profile), is_clear }
        });
        let own = sight.as_ref().map_or(FAR, |sight| {
            let seen = sight.rest(here, &cells.0[..cells.1]);
            // Around whatever is between.
            let blind = || straight(here, way.at) + 2 * u64::from(DIAGONAL);
            seen.unwrap_or_else(|| cells.0[0].1 + blind() * sight.ground.cheapest)
        });
        let is_member = unit.errand != Errand::Way;
        move |place| match &sight {
            _ if place == way.end => 0,
            Some(sight) if is_member => {
                sight.rest_of_member(place, here, (way.at, &cells.0[..cells.1]))
            }
            None if !way.has_field => FAR,
            None => way.field_at(place).map_or(FAR, |at| way.field[at]),
            Some(_) if place == here => own,
            Some(sight) => {
                // Units that let this one pass ask from farther off.
                let to_here = match place.reach(here) {
                    0..=1 => sight.ground.between(place, here),
                    _ => straight(place, here) * sight.ground.cheapest,
                };
                let back = own.saturating_add(to_here);
                let seen = sight.rest(place, &cells.0[..cells.1]);
                seen.map_or(back, |rest| rest.min(back))
            }
        }
    }
}

impl Sight<'_> {
    /// The same for a member of a group, as the crow flies: the places of groups are exchanged, so the path of
    /// a member may lead where it cannot go on. On the path the next cell of it is the best.
    fn rest_of_member(&self, place: Place, here: Place, (at, ahead): (Place, &[Ahead])) -> u64 {
        let is_on_path = at == here;
        let next = ahead.iter().take(2).find(|cell| cell.0 == place && is_on_path);
        if let Some(&(_, rest)) = next {
            return rest;
        }
        let over = |&(cell, rest): &Ahead| rest + straight(place, cell) * self.ground.cheapest;
        let rest = ahead.iter().map(over).min().unwrap_or(FAR);
        if !is_on_path {
            return rest;
        }
        let detour = u64::from(STRAIGHT) * self.ground.cheapest / 8;
        let step = self.ground.between(here, place);
        rest.max(ahead[0].1.saturating_sub(step) + detour)
    }

    /// What is left from a place over the best of these cells that it sees; `None` where it sees none.
    fn rest(&self, place: Place, ahead: &[Ahead]) -> Option<u64> {
        let over = |&(cell, rest): &Ahead| rest + straight(place, cell) * self.ground.cheapest;
        if self.is_clear {
            return ahead.iter().map(over).min();
        }
        let mut best: Option<u64> = None;
        for next in ahead {
            if best.is_none_or(|best| over(next) < best)
                && let Some(cost) = self.ground.across(self.table, place, next.0)
            {
                best = Some(best.map_or(next.1 + cost, |best| best.min(next.1 + cost)));
            }
        }
        best
    }
}
