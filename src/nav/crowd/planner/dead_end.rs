//! Units that shut others in let them out.
//!
//! Input: a unit for which none of the units in its way can make room, and the units it would push. Output:
//! those units come out towards it and past it, while it stands back.

use super::{Planner, chain::Push, make_way::large_units_ahead};
use crate::nav::crowd::board::{Board, FIRST_PRIORITY, Mode, NONE, Rung, STAY, Task, Unit};
use crate::nav::crowd::cost_to_go::UNREACHABLE;
use crate::nav::crowd::scene::Scene;

/// Columns and rows within which units are let out: units farther away are not in the way.
const MAX_DISTANCE: u16 = 32;

/// Ticks for which a unit that stands back waits for the others to move.
const STANDS_BACK: u64 = 64;

impl Planner {
    /// Called when none of the units in the way of `root` can make room: `root` shuts them in (in a dead end,
    /// for example). From now on, those of them with a goal have the highest priority; the others come out,
    /// too, and let `root` pass. `root` stands back for a while. Each time it makes room for them in another
    /// branch of the passage behind it, so that in the end there is room for all of them beside it (the swap
    /// at a junction: Okumura, "LaCAM", AAAI 2023).
    pub fn resolve_dead_end(&mut self, scene: &mut Scene<'_>, root: u32) {
        let in_front = scene.board.units[root];
        let foremost = FIRST_PRIORITY - self.foremost_priorities;
        let mut shuts_in = false;
        for index in self.pushes.iter().map(|push| push.unit).filter(|&index| index != root) {
            shuts_in = true;
            let unit = &scene.board.units[index];
            if unit.stands_back || unit.tail.chebyshev(in_front.tail) > MAX_DISTANCE {
                continue;
            }
            let has_goal = unit.task != Task::Idle && !unit.has_arrived;
            let gives_way = !has_goal && in_front.yields_to() == NONE && !unit.is_trapped();
            let makes_way = in_front.size > 1 || unit.size > 1;
            let lets_pass = !makes_way && gives_way && is_before(scene, index, root);
            let board = &mut *scene.board;
            let root_id = board.id(root);
            let unit = &mut board.units[index];
            if makes_way {
                unit.mode = Mode::MakingWay(root_id, STAY);
                unit.waiting_since = board.now as u32;
            } else if lets_pass {
                unit.mode = Mode::Yielding(root_id);
            }
            if has_goal || unit.yields_to() == root {
                unit.priority_since = foremost - if has_goal { 2 } else { 1 };
                board.schedule_next_tick(index);
            }
        }
        self.foremost_priorities = (self.foremost_priorities + 2).min(FIRST_PRIORITY - 2);
        let board = &mut *scene.board;
        let now = board.now;
        let unit = &mut board.units[root];
        unit.waiting_since = now as u32;
        unit.accepts_any_push = true;
        unit.stands_back = shuts_in;
        let counts = shuts_in && !unit.has_arrived;
        unit.stand_backs = unit.stand_backs.wrapping_add(u8::from(counts));
        board.counters.dead_ends += 1;
    }

    /// Adds the units that `root` shuts in where a large unit is involved: those in its way that are larger than a cell, or
    /// all if `root` is, and that have found no way out (see [`make_way`](super::make_way)).
    pub fn find_large_units_shut_in(&mut self, board: &Board, root: u32) {
        for index in large_units_ahead(board, root).iter() {
            let yields_to = board.units[index].yields_to();
            let has_waited = || board.has_waited_for(index, Rung::LetOut);
            if yields_to == NONE || yields_to == root && has_waited() {
                self.pushes.push(Push::first(index));
            }
        }
    }

    /// Returns whether a unit continues to let another pass, or to make way for it.
    pub fn still_yields(&mut self, scene: &mut Scene<'_>, index: u32) -> bool {
        let (Mode::Yielding(other) | Mode::MakingWay(other, _)) = scene.board.units[index].mode
        else {
            return true;
        };
        // Not if the other unit was removed: its index may belong to a new unit.
        let is_needed = scene.board.get(other).is_some()
            && !scene.board.has_waited_for(index, Rung::StopYielding);
        is_needed
            && match scene.board.units[index].mode {
                Mode::MakingWay(..) => self.continue_making_way(scene, index, other.index),
                _ => !has_been_passed(scene, index, other.index),
            }
    }
}

/// Returns whether a unit stands back at present and waits for others to move.
pub fn is_standing_back(board: &Board, index: u32) -> bool {
    board.units[index].stands_back && board.ticks_waited(index) < STANDS_BACK
}

/// Returns whether `passing` has passed the unit that lets it pass, or no longer needs to.
fn has_been_passed(scene: &mut Scene<'_>, index: u32, passing: u32) -> bool {
    let other = scene.board.units[passing];
    let is_done = other.is_idle() || other.has_arrived;
    if is_done || other.yields_to() != NONE {
        return true;
    }
    if !other.is_moving() {
        // If it sees no part of its path, the costs of two cells can be compared only in a field.
        scene.update_path_following(passing);
    }
    let [from_here, from_other] = costs_from_both(scene, index, passing);
    from_here > from_other || from_here == UNREACHABLE
}

/// Returns whether a unit is nearer to the goal of `passing` than `passing` itself. A unit in a dead end behind that
/// goal is not in the way: letting `passing` pass, it would only go farther in.
fn is_before(scene: &Scene<'_>, index: u32, passing: u32) -> bool {
    let [from_here, from_other] = costs_from_both(scene, index, passing);
    from_here < from_other
}

/// Returns the cost-to-go of `passing` from the cell of another unit, and from its own cell.
fn costs_from_both(scene: &Scene<'_>, index: u32, passing: u32) -> [u64; 2] {
    let (unit, other) = (&scene.board.units[index], &scene.board.units[passing]);
    let here = Unit { tail: unit.tail, ..*other };
    [&here, other].map(|at| scene.cost_to_go_around((passing, at), 0)[usize::from(STAY)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nav::crowd::{Crowd, UnitSettings};
    use crate::nav::{Cell, NavGrid, ProfileId, TerrainId};

    #[test]
    fn a_unit_does_not_yield_to_a_stranger_in_the_place_of_one_that_was_removed() {
        let modes: [fn(_) -> Mode; 2] =
            [|other| Mode::MakingWay(other, STAY), |other| Mode::Yielding(other)];
        for mode in modes {
            let grid = NavGrid::new(40, 1, TerrainId::GROUND).unwrap();
            let mut crowd = Crowd::new(&grid);
            let send = |crowd: &mut Crowd, from: i32, to: i32| {
                let (from, to) = (Cell::new(from, 0), Cell::new(to, 0));
                let unit = crowd.add(&grid, from, UnitSettings::default()).unwrap();
                crowd
                    .follow(&grid, unit, &grid.find_path(ProfileId(0), from, to).unwrap())
                    .unwrap();
                unit
            };
            let unit = send(&mut crowd, 10, 20);
            let other = send(&mut crowd, 30, 5);
            crowd.board.units[unit.index].mode = mode(other);
            assert!(crowd.remove(other));
            let stranger = send(&mut crowd, 30, 5);
            assert_eq!(stranger.index, other.index);
            // It waits for ever, since it cannot push the unit ahead of it.
            let guard = UnitSettings { is_pushable: false, ..UnitSettings::default() };
            crowd.add(&grid, Cell::new(29, 0), guard).unwrap();
            (0..120).for_each(|_| crowd.tick(&grid, &()));
            assert!(crowd.has_arrived(unit), "at {:?}", crowd.position(&grid, unit));
        }
    }
}
