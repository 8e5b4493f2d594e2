//! Which units come to a link, which wait on its cells, and which queue in front of it.
//!
//! Input: units that have set out for links, by the numbers of their requests. Output: those that stand on the cells of their
//! links; units that have to stand where they are, until they are called.

use std::collections::BTreeMap;

use bevy::prelude::*;

use super::{Crossings, Waiting};
use crate::{
    links::{Costs, Hop},
    nav::{CellRect, Hindrance},
    request::grid_of,
    unit::{PathStatus, PathSync},
};

/// Ticks of waiting after which a unit counts as stuck: 2 seconds at Bevy's 64 ticks per second.
const STUCK_AFTER: u32 = 128;
/// The same for a unit that queues: as long as for units held up by anything else.
const STUCK_IN_QUEUE: u32 = 512;

/// So many units are called at a time for each cell of a link, and one more in all, so that the next unit is there when a cell
/// gets free. With one less, 50 of 500 units were left before a link of one cell after 14,000 ticks; with only two more than
/// cells, 59 before four cells after 5,000.
const CALLED_PER_CELL: u32 = 2;

/// Cells between the cells of a link and the first that queue: room for those that come out.
const LEAST_GAP: u32 = 3;

/// Columns or rows within which the exact way to a link is looked up.
const NEAR: u32 = 32;

/// If a unit that was called has come no nearer for this many ticks, others are called in its place.
const LATE_AFTER: u32 = 128;

/// A unit on the way to a link.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Traveler {
    pub(super) entity: Entity,
    hop: Option<Hop>,
    stage: Stage,
    collides: bool,
    /// Steps that it has to walk to the link's cells; 0 on them.
    gap: u32,
    /// The smallest gap so far since it was called, and for how many ticks it has come no nearer.
    nearest: u32,
    stalled: u32,
    /// For how many ticks it has stood on the link's cells.
    waited: u32,
    /// Ticks since it began to queue or, after that, since it was called.
    held_up: u32,
}

impl Traveler {
    pub(super) const fn new(entity: Entity) -> Self {
        let (hop, stage) = (None, Stage::OnTheWay);
        let (gap, nearest) = (u32::MAX, u32::MAX);
        let (stalled, waited, held_up) = (0, 0, 0);
        Self { entity, hop, stage, collides: false, gap, nearest, stalled, waited, held_up }
    }

    /// Whether it has waited on the link's cells for long.
    pub(super) const fn is_stuck(&self) -> bool {
        self.waited >= STUCK_AFTER
    }

    fn note_gap(&mut self, gap: u32) {
        self.gap = gap;
        let comes_nearer = gap < self.nearest || gap == 0 || self.stage != Stage::Called;
        self.stalled = if comes_nearer { 0 } else { self.stalled + 1 };
        self.nearest = if self.stage == Stage::Called { self.nearest.min(gap) } else { u32::MAX };
    }

    /// Whether it was called and does not come: others are called in its place.
    const fn is_late(&self) -> bool {
        self.stalled > LATE_AFTER
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
enum Stage {
    OnTheWay,
    /// It stands near the link; its number in the order of queuing.
    Queued(u64),
    /// It walks to the cells of the link, or stands there.
    Called,
}

/// The units at one end of a link.
#[derive(Debug, Default)]
struct Queue {
    on_the_way: Vec<(u32, u64)>,
    queued: Vec<(u64, u64)>,
    called: u32,
}

impl Crossings<'_, '_> {
    /// Lists the units that stand on the cells of the links that they want to cross. Units that are on their way to another
    /// place by now are dropped; units whose link is shut get a new plan.
    pub(super) fn collect_waiting(&mut self, waiting: &mut Vec<Waiting>) {
        let mut travelers = std::mem::take(&mut self.traffic.travelers);
        travelers.retain(|&number, traveler| self.look_at(number, traveler, waiting));
        self.keep_queues(&mut travelers);
        self.traffic.travelers = travelers;
    }

    /// Looks where a unit is that has set out for a link; returns false if it has another destination by now.
    fn look_at(
        &mut self,
        number: u64,
        traveler: &mut Traveler,
        waiting: &mut Vec<Waiting>,
    ) -> bool {
        let entity = traveler.entity;
        let can_move = self.work_of(entity).is_some_and(|work| work > 0);
        let mut units = self.units.p0();
        let Ok(mut unit) = units.get_mut(entity) else {
            return false;
        };
        let (next, profile) = (unit.next_link(number), unit.state.query.profile);
        let Some(next) = next else {
            return unit.keeps_place(number);
        };
        let links = &mut self.outcomes.links;
        links.note_use(profile);
        let is_usable = links.is_usable(profile, next.hop);
        let [end, landing] = links.ends(next.hop);
        let Some((state, _)) = unit.critter.as_mut().filter(|_| is_usable) else {
            let is_moved_by_game = unit.critter.is_none();
            // Behind a link within one grid its `NavAgent` is the same, so only its position shows whether it has crossed.
            let has_crossed = || {
                let position = self.whereabouts.position(entity);
                let cell = position.and_then(|at| self.grids.cell_at(landing.grid, at));
                end.grid == landing.grid
                    && cell.is_some_and(|cell| landing.area.contains(cell))
                    && ![unit.path.0.start(), unit.path.0.end()]
                        .iter()
                        .any(|&cell| landing.area.contains(cell))
            };
            match is_moved_by_game {
                true if is_usable && !has_crossed() => {
                    *traveler = Traveler::new(entity); // it holds no place in a queue
                    return true;
                }
                true if !is_usable => self.outcomes.path_lost(&mut unit, &self.grids),
                _ => self.outcomes.resolve_again(&mut unit),
            }
            return false;
        };
        let grid = grid_of(state, &unit.state);
        let (cell, is_here) = (state.cell(), grid == end.grid && state.member.crossing.is_none());
        if traveler.hop != Some(next.hop) {
            *traveler = Traveler { hop: Some(next.hop), ..Traveler::new(entity) };
        }
        if state.member.is_held && !matches!(traveler.stage, Stage::Queued(_)) {
            state.let_go(); // it has got another path, to another link
        }
        let in_crowd = self.crowds.get(grid).zip(state.unit());
        traveler.collides = in_crowd.is_some();
        // Its crowd does not move it: it has arrived, or was sent aside.
        let is_idle = in_crowd.is_some_and(|(crowd, unit)| !crowd.is_under_way(unit));
        let (grids, flows) = (&*self.grids, &*self.flows);
        let costs = Costs { grids, flows, profile, accepts_old: false };
        let straight = if is_here { end.area.gap(CellRect::single(cell)) } else { u32::MAX };
        traveler.note_gap(match straight {
            // Behind walls the way is longer; far away it does not matter.
            1..=NEAR => self.outcomes.links.steps_to(costs, end, cell).unwrap_or(straight).max(1),
            _ => straight,
        });
        let stands = state.placed && !state.is_moving() && can_move;
        let is_in_queue = traveler.stage != Stage::OnTheWay;
        traveler.held_up =
            if is_in_queue && can_move { traveler.held_up.saturating_add(1) } else { 0 };
        let is_waiting = stands && traveler.gap == 0;
        traveler.waited = if is_waiting { traveler.waited.saturating_add(1) } else { 0 };
        if is_waiting {
            let (at, waited) = ((grid, cell), traveler.waited);
            waiting.push(Waiting { number, entity, next, at, profile, waited });
        }
        let is_stuck = matches!(*unit.status, PathStatus::Stuck(_));
        let is_held_up = traveler.is_stuck() || stands && traveler.held_up >= STUCK_IN_QUEUE;
        if traveler.is_stuck() && state.member.keeps_goal {
            state.member.keeps_goal = false;
        }
        if is_held_up && !is_stuck {
            unit.set_stuck(Hindrance::Link);
        } else if traveler.is_late() && is_idle {
            (traveler.stalled, traveler.nearest) = (0, u32::MAX);
            self.outcomes.path_lost(&mut unit, &self.grids);
        }
        true
    }

    /// Makes units queue if they come near a link at which others wait already, and calls as many to its cells as there is
    /// room for.
    fn keep_queues(&mut self, travelers: &mut BTreeMap<u64, Traveler>) {
        let mut queues: BTreeMap<Hop, Queue> = BTreeMap::new();
        for (&number, traveler) in travelers.iter() {
            if let Some(hop) = traveler.hop.filter(|_| traveler.collides) {
                let queue = queues.entry(hop).or_default();
                match traveler.stage {
                    Stage::OnTheWay => queue.on_the_way.push((traveler.gap, number)),
                    Stage::Queued(since) => queue.queued.push((since, number)),
                    Stage::Called => queue.called += u32::from(!traveler.is_late()),
                }
            }
        }
        for (hop, mut queue) in queues {
            let room = self.outcomes.links.places(&self.grids, hop);
            let room = room.saturating_mul(CALLED_PER_CELL).saturating_add(1);
            queue.queued.sort_unstable();
            queue.on_the_way.sort_unstable();
            for (gap, number) in queue.on_the_way {
                let reach = LEAST_GAP + (queue.queued.len() as u32).isqrt();
                let Some(traveler) = travelers.get_mut(&number).filter(|_| gap <= reach) else {
                    continue;
                };
                if queue.called < room && queue.queued.is_empty() {
                    traveler.stage = Stage::Called;
                    queue.called += 1;
                } else {
                    let since = self.traffic.queued + 1;
                    self.traffic.queued = since;
                    traveler.stage = Stage::Queued(since);
                    queue.queued.push((since, number));
                    self.hold(traveler.entity);
                }
            }
            let places = room.saturating_sub(queue.called) as usize;
            for (_, number) in queue.queued.into_iter().take(places) {
                if let Some(traveler) = travelers.get_mut(&number) {
                    (traveler.stage, traveler.held_up) = (Stage::Called, 0);
                    self.call(traveler.entity);
                }
            }
        }
    }

    /// Makes a unit stand where it is; others may push it aside.
    fn hold(&mut self, entity: Entity) {
        if let Ok(unit) = self.units.p0().get_mut(entity)
            && let Some((mut state, _)) = unit.critter
        {
            (state.member.is_held, state.member.path) = (true, PathSync::Replaced);
        }
    }

    /// Sends a unit on from where it stands.
    fn call(&mut self, entity: Entity) {
        if let Ok(mut unit) = self.units.p0().get_mut(entity) {
            if let Some((state, _)) = &mut unit.critter {
                state.let_go();
            }
            self.outcomes.path_lost(&mut unit, &self.grids);
        }
    }
}
