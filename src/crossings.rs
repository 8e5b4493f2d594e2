//! Crossings: critters on the cells of a link enter it, and leave it when their time is over.
//!
//! Input: critters that have come to the link to which their path leads. Output: critters on the cells of the other end, and
//! events. In each tick, units whose crossing is over arrive first; then units that can enter do so, older requests first:
//! - The link must be open to the unit, and not full.
//! - A landing cell must be free. From the moment a unit enters, it holds that cell, and stands there unpushable until the
//!   crossing is over. So units on a link cannot collide, and however a crossing ends, each unit is on a cell of its own.
//! - Two units that wait at opposite ends, each on the other's landing cell, swap places.
//! - Idle units on landing cells are sent aside.
//!
//! A unit that waits on the link's cells keeps its cell: others do not push it off. After 128 ticks of waiting it
//! counts as stuck, and may be pushed.
//!
//! If more units come than the link's cells hold, they queue: a unit that comes near stops where it is, and is called when
//! there is room, first come, first served. So units that come out of the link find a way through: they go before all others,
//! and standing units make room. (When all pressed towards a link of one cell, 439 of 500 units were left after 9,000 ticks.)

mod enter;
mod queue;
mod replaced;

use std::collections::BTreeMap;

use bevy::{
    ecs::{entity::MapEntities, entity_disabling::Disabled, system::SystemParam},
    prelude::*,
};

use self::queue::Traveler;
use crate::{
    crowds::{Crowds, Newcomer, Pace},
    flow::FlowFields,
    grids::NavGrids,
    links::NextLink,
    nav::{Cell, GridId, ProfileId},
    request::{Outcomes, Requester},
    whereabouts::Whereabouts,
};

/// Units on the way to links, and units that cross. Read-only. If the game replaces this resource, units that cross land at
/// once, without a [`LinkLeft`](crate::prelude::LinkLeft).
#[derive(Resource, Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct LinkTraffic {
    /// By the numbers of their requests.
    travelers: BTreeMap<u64, Traveler>,
    /// How many units have queued so far.
    queued: u64,
    /// In the order in which they began.
    crossings: Vec<Crossing>,
    /// The last tick of the links.
    tick: u64,
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct Crossing {
    entity: Entity,
    link: Entity,
    /// Work left, as of a step over terrain.
    left: u64,
}

impl MapEntities for LinkTraffic {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        for traveler in self.travelers.values_mut() {
            traveler.entity = mapper.get_mapped(traveler.entity);
        }
        for crossing in &mut self.crossings {
            crossing.entity = mapper.get_mapped(crossing.entity);
            crossing.link = mapper.get_mapped(crossing.link);
        }
    }
}

impl LinkTraffic {
    /// Returns how many units are crossing a link.
    #[must_use]
    pub fn crossing(&self, link: Entity) -> usize {
        self.crossings.iter().filter(|crossing| crossing.link == link).count()
    }
}

/// What crossings read and write.
#[derive(SystemParam)]
pub(crate) struct Crossings<'w, 's> {
    time: Res<'w, Time>,
    grids: Res<'w, NavGrids>,
    flows: Res<'w, FlowFields>,
    crowds: ResMut<'w, Crowds>,
    traffic: ResMut<'w, LinkTraffic>,
    outcomes: Outcomes<'w, 's>,
    whereabouts: Whereabouts<'w, 's>,
    paces: Query<'w, 's, Pace, Allow<Disabled>>,
    units: ParamSet<
        'w,
        's,
        (Query<'w, 's, Requester, Allow<Disabled>>, Query<'w, 's, Newcomer, Allow<Disabled>>),
    >,
}

/// A unit that stands on a cell of the link that it wants to cross.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    number: u64,
    entity: Entity,
    next: NextLink,
    at: (GridId, Cell),
    profile: ProfileId,
    /// For how many ticks it has waited.
    waited: u32,
}

/// Lets critters arrive at the ends of links, and enter links.
pub(crate) fn cross_links(mut all: Crossings, mut waiting: Local<Vec<Waiting>>) {
    all.check_traffic();
    for (number, entity) in all.outcomes.links.set_out.drain(..) {
        let known = all.traffic.travelers.entry(number);
        known.or_insert_with(|| Traveler::new(entity));
    }
    if all.traffic.crossings.is_empty() && all.traffic.travelers.is_empty() {
        return;
    }
    all.arrive();
    all.collect_waiting(&mut waiting);
    for index in 0..waiting.len() {
        // One whose place was exchanged has crossed already.
        let unit = waiting[index];
        if all.traffic.travelers.contains_key(&unit.number) {
            all.try_to_enter(unit, &waiting);
        }
    }
    waiting.clear();
}
