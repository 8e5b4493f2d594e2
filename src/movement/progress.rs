//! Whether a steered unit comes nearer to the end of its path, and how it passes what holds it.
//!
//! Input: the rest of its path in each tick, and the cells that it could walk in a tick. Output: whether it has been held for long,
//! and on which side it tries to pass. Time is counted in ticks and in cells at its own pace, so that slow units are no less patient.

use crate::unit::SteeringProgress;

/// It has come nearer if the rest of its path is shorter by so many steps.
const NEARER: f32 = 0.5;
/// It was thrown back if the rest is longer by so many steps: then it begins anew. More than it goes aside.
const THROWN_BACK: f32 = 3.0;
/// Ticks, and cells at its pace, in which it comes no nearer until it tries to pass. The time to walk back after a push, and of a
/// step: a unit that is only slow never tries.
const PATIENCE: (u16, f32) = (32, 5.0);
/// The same until it is stuck: as many ticks as for critters.
const STUCK_AFTER: (u16, f32) = (512, 9.0);
/// Ticks of each try, in addition to those in which it walks a cell: bodies need time to turn.
const TICKS_TO_TURN: f32 = 8.0;
/// Cells that it goes aside in a try at most. Two tries follow each other on one side.
const MOST_ASIDE: f32 = 1.25;

/// The side on which a unit tries to pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

impl SteeringProgress {
    /// Counts a tick in which `left` steps are left of its path, and in which it can walk `pace` cells.
    pub(super) fn note(&mut self, left: f32, pace: f32) {
        // Of a new path it is not known what was left before.
        if self.left > 0.0 {
            self.gain += self.left - left;
        }
        self.left = left;
        if self.gain >= NEARER || self.gain < -THROWN_BACK {
            *self = Self { left, ..Self::default() };
            return;
        }
        self.ticks = self.ticks.saturating_add(1);
        self.cells += pace;
        if self.is_over(PATIENCE) {
            self.tries += 1.0 / ticks_of_try(pace);
        }
    }

    /// Whether it is stuck.
    pub(super) fn is_stuck(&self) -> bool {
        self.is_over(STUCK_AFTER)
    }

    fn is_over(&self, (ticks, cells): (u16, f32)) -> bool {
        self.ticks >= ticks && self.cells >= cells
    }

    /// The side on which it tries to pass: first the right, as oncoming units do, then the left, and in between straight ahead.
    pub(super) fn side(&self) -> Option<Side> {
        if !self.is_over(PATIENCE) {
            return None;
        }
        match self.tries as u32 % 8 {
            0 | 7 => Some(Side::Right),
            3 | 4 => Some(Side::Left),
            _ => None,
        }
    }
}

/// How many cells in a tick a unit of this pace goes aside.
pub(super) fn pace_aside(pace: f32) -> f32 {
    pace.min(MOST_ASIDE / ticks_of_try(pace))
}

fn ticks_of_try(pace: f32) -> f32 {
    TICKS_TO_TURN + 1.0 / pace
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A unit that only walks slowly is never held, and neither is one that is pushed back a little.
    #[test]
    fn slow_units_and_pushed_ones_are_not_held() {
        for pace in [0.001, 0.01, 0.08, 0.5, 2.0, f32::INFINITY] {
            for push in [0.0, 1.0, 2.0, 2.9, 4.0, 20.0_f32] {
                let mut progress = SteeringProgress::default();
                let mut left = 30.0 + push;
                while left > push {
                    progress.note(left, pace);
                    left -= pace.min(1.0);
                    assert_eq!(progress.side(), None, "{pace}");
                }
                left += push;
                while left > 0.5 {
                    progress.note(left, pace);
                    left -= pace.min(1.0);
                    assert_eq!(
                        (progress.side(), progress.is_stuck()),
                        (None, false),
                        "{pace}, {push}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_held_unit_tries_both_sides_and_is_stuck_whatever_its_pace() {
        for pace in [0.01, 0.08, 0.5, 2.0, f32::INFINITY] {
            let mut progress = SteeringProgress::default();
            let (mut tried, mut free) = ([0, 0], 0);
            for tick in 0..3_000 {
                progress.note(7.0, pace);
                free += i32::from(!progress.is_stuck());
                // Another path does not count as a step ahead.
                if tick % 5 == 0 {
                    progress.left = 0.0;
                }
                tried[0] += u32::from(progress.side() == Some(Side::Right));
                tried[1] += u32::from(progress.side() == Some(Side::Left));
            }
            assert!(progress.is_stuck(), "{pace}");
            // 512 ticks; at 0.01 cells a tick nine cells take longer.
            let expected = if pace < 0.017 { 900 } else { 512 };
            assert!((free + 1 - expected).abs() <= 1, "{pace}: stuck after {} ticks", free + 1);
            assert!(tried.iter().all(|&ticks| ticks >= 100), "{pace}: {tried:?}");
            progress.note(6.4, pace);
            assert!(!progress.is_stuck() && progress.side().is_none(), "{pace}");
        }
    }

    #[test]
    fn it_goes_little_aside_in_a_try() {
        for pace in [0.01, 0.08, 0.5, 2.0, f32::INFINITY] {
            assert!(pace_aside(pace) * ticks_of_try(pace) <= MOST_ASIDE + 1e-4, "{pace}");
        }
    }
}
