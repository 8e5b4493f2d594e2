//! Units at the ends of passages: which of them wait, go first or step aside.
//!
//! Input: a unit and its ranking. Output: the ranking without the directions into passages that are closed to
//! the unit, and without those onto the cell before such a passage, so that units coming out have room.

use super::rank::{Ranking, rank};
use crate::nav::crowd::board::{
    Board, GridPos, Hindrance, Mode, STAY, SUBTICKS_PER_TICK, StepCosts, Unit,
};
use crate::nav::crowd::cost_to_go::UNREACHABLE;
use crate::nav::crowd::passages::{TerrainShape, passage::Passages, traffic::Entry};
use crate::nav::{Topology, crowd::scene::Scene};

/// Shortest passage, in cells, before which waiting units leave room, and the steps of room they leave.
const MIN_CLEARED_LENGTH: usize = 8;
const CLEARED_STEPS: usize = 2;

/// Ranks the directions of a unit, without those in which it would enter a passage against the traffic.
pub fn rank_with_locks(scene: &mut Scene<'_>, index: u32, push: u8) -> Ranking {
    let mut ranking = rank(scene, index, push);
    let unit = &mut scene.board.units[index];
    unit.preferred_direction = ranking.best;
    if push == STAY && unit.hindrance == Hindrance::Oncoming {
        unit.hindrance = Hindrance::Queue;
    }
    let (profile, obeys) = (unit.profile, unit.size == 1 && unit.mode == Mode::Normal);
    if obeys
        && scene.shape.explore(scene.board, scene.world.grid, index)
        && let Some(terrain) = StepCosts::of(scene.world.grid, profile)
    {
        let mut shape = core::mem::take(scene.shape);
        obey_locks(scene, &mut shape, (index, push), (&terrain, &mut ranking));
        *scene.shape = shape;
    }
    ranking
}

/// Removes the directions of a unit near a passage that are closed to it, and puts others first.
fn obey_locks(
    scene: &mut Scene<'_>,
    shape: &mut TerrainShape,
    (index, push): (u32, u8),
    (terrain, ranking): (&StepCosts, &mut Ranking),
) {
    let Unit { tail, profile, .. } = scene.board.units[index];
    let Some(passages) = shape.passages_of(profile) else {
        return;
    };
    if is_before_busy_passage(passages, tail, scene.board.now, push) {
        // At a border of costly ground, a diagonal step may be the only one that is better than staying.
        let is_square = scene.board.topology == Topology::Square;
        if is_square && (terrain.uniform() != 0 || ranking.has_straight()) {
            ranking.remove_diagonals();
        }
        if let Some(direction) = direction_aside(scene.board, passages, index, ranking) {
            ranking.prefer(direction);
        }
        scene.board.units[index].preferred_direction = ranking.best;
    }
    let is_inside = passages.passage_at(tail).is_some();
    let (closed, waits_for) = closed_directions(scene, (shape, terrain), index, ranking);
    ranking.remove(closed);
    // A unit whose best direction is closed stays, unless it is pushed, and lets the units coming out go first.
    if let Some(entry) = waits_for.filter(|_| push == STAY) {
        shape.note_waiting(entry, scene.board.now);
        ranking.worthwhile = 0;
        let unit = &mut scene.board.units[index];
        unit.hindrance = Hindrance::Oncoming;
        if !is_inside {
            unit.clearing_steps = 0;
        }
    }
}

/// Returns a direction in which a unit that has come out of a passage makes room for those behind it
/// sooner than by following the unit ahead.
fn direction_aside(
    board: &Board,
    passages: &Passages,
    index: u32,
    ranking: &Ranking,
) -> Option<u8> {
    let unit = &board.units[index];
    let passage = passages.approached_at(unit.tail)?;
    let from = passages.passage_at(unit.tail.step(unit.direction + 4));
    let is_out = passage.mouths.contains(&Some(unit.tail))
        && from.is_some()
        && ranking.best != STAY
        && passages.passage_at(unit.tail.step(ranking.best)).is_none();
    let owner = |direction: u8| board.owner(board.reservations.beside(unit.tail, direction));
    let ahead = owner(ranking.best).filter(|_| is_out)?;
    let end = (board.now + passage.lock.step_ticks) * SUBTICKS_PER_TICK;
    let is_slow = !ahead.is_moving() || ahead.end > end;
    let most = if is_slow { ranking.len } else { ranking.worthwhile };
    let directions = ranking.directions[..usize::from(most)].iter().copied();
    let is_free = |direction: &u8| {
        !board.topology.is_diagonal(*direction)
            && owner(*direction).is_none()
            && passages.passage_at(unit.tail.step(*direction)).is_none()
    };
    directions.into_iter().find(is_free)
}

/// Returns the directions, as a bit mask, in which a unit would enter a passage closed to it, or stop
/// before the end of one; and the closed entry for which it waits, if its best direction is among them.
fn closed_directions(
    scene: &Scene<'_>,
    (shape, terrain): (&mut TerrainShape, &StepCosts),
    index: u32,
    ranking: &Ranking,
) -> (u8, Option<Entry>) {
    let unit = &scene.board.units[index];
    let is_heading = !unit.is_idle() && !unit.has_arrived;
    let (mut closed, mut waits_for) = (0, None);
    for &direction in &ranking.directions[..usize::from(ranking.len)] {
        let entry = (unit.tail, unit.tail.step(direction));
        let entry = if shape.may_enter(scene.board, unit.profile, entry) {
            let passages = shape.passages_of(unit.profile).filter(|_| is_heading);
            passages
                .and_then(|passages| mouth_kept_clear(passages, entry))
                .and_then(|mouth| closed_entry(scene, (shape, terrain), (index, mouth)))
        } else {
            Some(entry)
        };
        closed |= u8::from(entry.is_some()) << direction;
        waits_for = if direction == ranking.best { entry } else { waits_for };
    }
    (closed, waits_for)
}

/// Returns the mouth of a passage if a step leads onto it. If the passage is long, returns it also for a
/// step into the space before it that is kept clear for units coming out.
fn mouth_kept_clear(passages: &Passages, (from, to): (GridPos, GridPos)) -> Option<GridPos> {
    let passage = passages.approached_at(to)?;
    if passage.mouths.contains(&Some(to)) {
        return Some(to);
    }
    let keeps_room = passage.cells.len() >= MIN_CLEARED_LENGTH;
    let mut mouths = passage.mouths.into_iter().flatten();
    let near = |mouth: &GridPos| usize::from(mouth.chebyshev(to)) <= CLEARED_STEPS;
    let found = mouths.find(|mouth| near(mouth) && mouth.chebyshev(from) > mouth.chebyshev(to));
    found.filter(|_| keeps_room && passages.passage_at(from).is_none())
}

/// Returns the step with which a unit on the mouth of a passage would enter the passage, if it may not.
fn closed_entry(
    scene: &Scene<'_>,
    (shape, terrain): (&mut TerrainShape, &StepCosts),
    (index, mouth): (u32, GridPos),
) -> Option<Entry> {
    let unit = &scene.board.units[index];
    let at_mouth = Unit { tail: mouth, ..*unit };
    for direction in terrain.layer.adjacency().straight_steps() {
        let entry = (mouth, mouth.step(direction));
        let passages = shape.passages_of(unit.profile);
        if !passages.is_some_and(|passages| passages.leads_on(unit.tail, entry)) {
            continue;
        }
        let step = terrain.step(mouth, direction);
        let costs = scene.cost_to_go_around((index, &at_mouth), 1 << direction);
        let (before, behind) = (costs[usize::from(STAY)], costs[usize::from(direction)]);
        let enters =
            before != UNREACHABLE && behind != UNREACHABLE && behind + step <= before + step / 2;
        if enters && !shape.may_enter(scene.board, unit.profile, entry) {
            return Some(entry);
        }
    }
    None
}

/// Returns whether a cell lies before a passage that units are entering or leaving just now. For this rule,
/// a unit that is pushed out of a passage counts as not pushed: during a diagonal step it would hold up all
/// units behind it.
fn is_before_busy_passage(passages: &Passages, at: GridPos, now: u64, push: u8) -> bool {
    let is_pushed_out = push != STAY && passages.passage_at(at.step(push + 4)).is_some();
    let push = if is_pushed_out { STAY } else { push };
    passages.approached_at(at).is_some_and(|passage| passage.lock.is_busy(now, push))
}
