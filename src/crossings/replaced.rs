//! What becomes of units on the way when the game replaces [`LinkTraffic`](super::LinkTraffic) or
//! [`NavLinks`](crate::links::NavLinks).
//!
//! Input: how many ticks the links have counted. Output: travelers and crossings that match the components of the units.

use std::collections::BTreeSet;

use bevy::prelude::*;

use super::Crossings;

impl Crossings<'_, '_> {
    /// Brings the traffic in line with the units where either resource was replaced, or crossings have not run for some ticks.
    pub(super) fn check_traffic(&mut self) {
        let Self { traffic, outcomes, units, .. } = self;
        let now = outcomes.links.ticks();
        let before = core::mem::replace(&mut traffic.tick, now);
        // If the traffic is new, the links may be new, too.
        let are_other_links = before == 0 || now < before;
        if !are_other_links && now <= before + 1 {
            return;
        }
        if are_other_links {
            // The numbers of the links to which units were sent mean nothing any more.
            traffic.travelers.clear();
            outcomes.links.set_out.clear();
        }
        let crossing: BTreeSet<Entity> = traffic.crossings.iter().map(|one| one.entity).collect();
        let mut all = units.p0();
        let mut turns: Vec<_> = all.iter().map(|unit| (unit.state.accepted, unit.entity)).collect();
        turns.sort_unstable();
        for (number, entity) in turns {
            let Ok(mut unit) = all.get_mut(entity) else {
                continue;
            };
            let member = unit.critter.as_ref().map(|(state, _)| state.member).unwrap_or_default();
            let has_leg = unit.status.has_path() || unit.state.ticket.is_some();
            let is_sent = has_leg && unit.state.journey.next.is_some();
            if are_other_links {
                unit.state.journey.back = None;
                unit.state.journey.without_costs_since = None;
            }
            if is_sent
                && (are_other_links || member.is_held)
                && !traffic.travelers.contains_key(&number)
            {
                outcomes.plan_anew(&mut unit);
            } else if unit.next_link(number).is_some() {
                outcomes.links.set_out.push((number, unit.entity));
            }
            if member.crossing.is_some() && !crossing.contains(&unit.entity) {
                outcomes.end_crossing(&mut unit);
            }
        }
    }
}
