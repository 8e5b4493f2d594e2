//! Where critters are drawn: exactly where they are, or led there gently.
//!
//! Input: steps, tick by tick for those that walk alone, one by one for those that a crowd leads. Output:
//! places in cell space, now and a tick ago. Who is led is not looked at while its step goes on: where it
//! is follows from when that began.

use bevy::prelude::*;

use super::{CritterState, any_angle::place_on};
use crate::{
    coordinates::half_block,
    nav::{cell::Cell, crowd::SUBTICKS_PER_TICK, string_pulling::PathLines, walk::Walk},
};

/// Offsets below this many cells are rounding.
const NO_OFFSET: f32 = 1.0e-3;

/// A cell's center in cell space.
pub(super) fn center(cell: Cell) -> Vec2 {
    Vec2::new(cell.x as f32, cell.y as f32)
}

/// An offset that has shrunk by so many cells.
fn shrunk(offset: Vec2, cells: f32) -> Vec2 {
    if offset == Vec2::ZERO {
        return offset;
    }
    let length = offset.length();
    if length > cells { offset * ((length - cells) / length) } else { Vec2::ZERO }
}

impl CritterState {
    /// Takes up its place on its cell, drawn at `place` in cell space.
    pub(crate) fn place_at(&mut self, place: Vec2) {
        let exact = center(self.walk.tail()) + self.half;
        let is_off = place.is_finite() && place.distance(exact) > NO_OFFSET;
        let place = if is_off { place } else { exact };
        self.offset = place - exact;
        (self.before, self.now) = (place, place);
        self.placed = true;
        self.is_diverted = false;
        self.is_at_rest = false;
        self.heading = (0, 0);
    }

    /// Whether it is known as a unit of `size × size` cells.
    pub(crate) fn has_size(&self, size: u32) -> bool {
        self.half.to_bits() == half_block(size).x.to_bits()
    }

    /// Takes the size of a unit of `size × size` cells; one that grows or shrinks is led over gently.
    pub(crate) fn set_size(&mut self, size: u32) {
        let half = half_block(size).x;
        self.offset += self.half - half; // exact: halves of small whole numbers
        self.half = half;
    }
}

/// Walking alone.
impl CritterState {
    /// What was now is before.
    pub(crate) fn begin_tick(&mut self) {
        self.before = self.now;
    }

    /// Takes up another way from where it is drawn.
    pub(crate) fn lead_over(&mut self, lines: Option<&PathLines>) {
        if core::mem::take(&mut self.is_diverted) {
            let offset = self.now - self.exact_place(lines).0;
            self.offset = if offset.length() > NO_OFFSET { offset } else { Vec2::ZERO };
        }
    }

    /// Updates the drawn place; an offset shrinks by `cells`.
    pub(crate) fn draw_in(&mut self, lines: Option<&PathLines>, cells: f32) {
        self.offset = shrunk(self.offset, cells);
        let (place, heading) = self.exact_place(lines);
        self.now = place + self.offset;
        self.heading = heading;
        self.is_at_rest = false;
    }

    /// Place of its middle in cell space without the offset, and which way it heads on a straight line.
    fn exact_place(&self, lines: Option<&PathLines>) -> (Vec2, (i32, i32)) {
        match lines.and_then(|lines| place_on(lines, &self.walk)) {
            Some((place, heading)) => (place + self.half, heading),
            None => (self.place_on_step(), (0, 0)),
        }
    }

    /// Place of its middle on the step under way.
    fn place_on_step(&self) -> Vec2 {
        let (done, needed) = self.walk.progress();
        let share = (done as f64 / needed as f64) as f32;
        let [tail, head] = [self.walk.tail(), self.walk.head()].map(center);
        tail.lerp(head, share) + self.half
    }
}

/// Being led by a crowd, whose ticks are counted from its own beginning.
impl CritterState {
    /// Its place at the end of a tick, not earlier than the one before its last change.
    #[inline]
    pub(crate) fn place_in(&self, tick: u64) -> Vec2 {
        let Some(ticks) = tick.checked_sub(self.since) else {
            return self.before;
        };
        self.place_after(ticks as f32)
    }

    /// Its place so many ticks after its last change.
    #[inline]
    fn place_after(&self, ticks: f32) -> Vec2 {
        let offset = shrunk(self.offset, self.shrink * ticks);
        self.origin + self.velocity * ticks.min(self.ticks) + offset
    }

    /// Its place when so much of a tick has gone by. In the tick of its last change it may have come around a
    /// corner: it came to the end of a step, stood there for a while, and set out.
    #[inline]
    pub(crate) fn place_during(&self, tick: u64, share: f32) -> Vec2 {
        if tick > self.since {
            return self.place_after((tick - self.since) as f32 - (1.0 - share));
        }
        if tick < self.since || share >= 1.0 {
            return self.place_in(tick);
        }
        let now = self.origin + self.offset;
        if share >= self.departure {
            return now - self.velocity * (1.0 - share);
        }
        let corner = now - self.velocity * (1.0 - self.departure);
        let done = if self.arrival > 0.0 { (share / self.arrival).min(1.0) } else { 1.0 };
        self.before.lerp(corner, done)
    }

    fn offset_after(&self, ticks: u64) -> Vec2 {
        shrunk(self.offset, self.shrink * ticks as f32)
    }

    /// Whether it is still drawn off its place at the end of a tick, and not for good.
    pub(crate) fn is_led_over(&self, tick: u64) -> bool {
        let ticks = tick.saturating_sub(self.since);
        self.member.unit.is_some() && self.shrink > 0.0 && self.offset_after(ticks) != Vec2::ZERO
    }

    /// Is led from the end of a tick on; an offset shrinks by `cells` with every tick.
    pub(crate) fn be_led(&mut self, tick: u64, cells: f32) {
        self.shrink = cells;
        self.set_out(tick);
    }

    /// Notes how it goes on from the end of a tick.
    fn set_out(&mut self, tick: u64) {
        let (done, needed) = self.walk.progress();
        let way = center(self.walk.head()) - center(self.walk.tail());
        self.origin = self.place_on_step();
        self.velocity = way * (SUBTICKS_PER_TICK as f64 / needed as f64) as f32;
        self.ticks = ((needed - done) as f64 / SUBTICKS_PER_TICK as f64) as f32;
        self.departure = (1.0 - (done as f64 / SUBTICKS_PER_TICK as f64) as f32).max(0.0);
        self.since = tick;
        self.is_at_rest = false;
    }

    /// Lets its offset shrink by so many cells with every tick from now on.
    pub(crate) fn shrink_by(&mut self, now: u64, cells: f32) {
        if self.shrink.to_bits() != cells.to_bits() {
            if self.offset != Vec2::ZERO {
                self.bring_to(now);
            }
            self.shrink = cells;
        }
    }

    /// Brings it up to the end of a tick.
    pub(crate) fn bring_to(&mut self, tick: u64) {
        self.catch_up(tick);
        self.set_out(tick);
    }

    /// Takes over where it is at the end of a tick; how it goes on is to be noted.
    fn catch_up(&mut self, tick: u64) {
        (self.before, self.now) = (self.place_in(tick.saturating_sub(1)), self.place_in(tick));
        let gone = tick.saturating_sub(self.since + 1) as f32;
        self.arrival = (self.ticks - gone).clamp(0.0, 1.0);
        if let Some(ticks) = tick.checked_sub(self.since) {
            self.offset = self.offset_after(ticks);
            self.walk.work_on(ticks * SUBTICKS_PER_TICK);
        }
    }

    /// Is led no more: stays where it is drawn.
    pub(crate) fn freeze(&mut self) {
        self.before = self.now;
    }

    /// Begins or ends a step in a tick.
    pub(crate) fn take_step(&mut self, tick: u64, walk: Walk) {
        self.catch_up(tick);
        self.walk = walk;
        self.set_out(tick);
    }

    /// Is somewhere else in a tick, or of another size, and is led there gently.
    pub(crate) fn move_over(&mut self, tick: u64, size: u32, walk: Walk) {
        self.catch_up(tick);
        let drawn = self.now;
        self.set_size(size);
        self.walk = walk;
        self.place_at(drawn);
        self.set_out(tick);
    }

    /// Stays where it is: it cannot be where its transform was put. It is drawn where it is.
    pub(crate) fn stay(&mut self, transform: &Transform) {
        self.drawn = transform.translation.truncate();
        self.is_at_rest = false;
    }
}
