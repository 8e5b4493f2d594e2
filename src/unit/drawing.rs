//! Drawn positions of critters: exactly at their position, or moving to it smoothly.
//!
//! Input: steps, tick by tick for critters that move alone, step by step for critters in a crowd. Output:
//! positions in cell space, now and a tick ago. A critter in a crowd is not updated during its step: its
//! position follows from the time at which the step began.

use bevy::prelude::*;

use super::{CritterState, any_angle::position_on, state::Drawing};
use crate::{
    coordinates::{GridFrame, center, half_block},
    nav::{PathLines, Topology, Walk, crowd::SUBTICKS_PER_TICK},
};

/// Offsets below this many cells are rounding errors.
const NO_OFFSET: f32 = 1.0e-3;

/// Returns an offset in cells that is given in hundredths.
fn in_cells((x, y): (i8, i8)) -> Vec2 {
    Vec2::new(f32::from(x), f32::from(y)) / 100.0
}

/// Returns an offset shortened by `cells`.
fn shrunk(offset: Vec2, cells: f32) -> Vec2 {
    if offset == Vec2::ZERO {
        return offset;
    }
    let length = offset.length();
    if length > cells { offset * ((length - cells) / length) } else { Vec2::ZERO }
}

impl CritterState {
    /// Places it on its cell, drawn at `place` in cell space.
    pub(crate) fn place_at(&mut self, place: Vec2) {
        let exact = center(self.walk.tail()) + self.half;
        let is_off = place.is_finite() && place.distance(exact) > NO_OFFSET;
        let place = if is_off { place } else { exact };
        self.offset = place - exact;
        (self.before, self.now) = (place, place);
        self.placed = true;
        (self.is_diverted, self.is_on_line) = (false, false);
        self.drawing = Drawing::Full;
        self.heading = (0, 0);
    }

    /// Stands on the cell that it enters, where it is drawn.
    pub(crate) fn halt(&mut self) {
        let drawn = self.now;
        self.walk = Walk::standing(self.walk.head());
        self.place_at(drawn);
    }

    /// Returns whether it is drawn in the middle of a unit with so many cells along a side.
    pub(crate) fn has_size(&self, topology: Topology, size: u32) -> bool {
        self.half.to_bits() == half_block(topology, size).x.to_bits()
    }

    /// Sets its size to so many cells along a side; if its middle is elsewhere then, it moves there smoothly.
    pub(crate) fn set_size(&mut self, topology: Topology, size: u32) {
        let half = half_block(topology, size).x;
        self.offset += self.half - half; // exact: halves of small whole numbers
        self.half = half;
    }
}

/// Critters that move alone.
impl CritterState {
    /// Starts another path from the drawn position.
    pub(crate) fn blend_from_previous(&mut self, lines: Option<&PathLines>) {
        if core::mem::take(&mut self.is_diverted) {
            let offset = self.now - self.exact_position(lines).0;
            self.offset = if offset.length() > NO_OFFSET { offset } else { Vec2::ZERO };
        }
    }

    /// Updates the drawn position; an offset shrinks by `cells`.
    pub(crate) fn draw_in(&mut self, lines: Option<&PathLines>, cells: f32) {
        self.offset = shrunk(self.offset, cells);
        let (place, heading) = self.exact_position(lines);
        self.now = place + self.offset;
        self.heading = heading;
        self.drawing = Drawing::Full;
    }

    /// Returns the position of its center in cell space without the offset, and its heading on a straight
    /// line.
    fn exact_position(&self, lines: Option<&PathLines>) -> (Vec2, (i32, i32)) {
        match lines.and_then(|lines| position_on(lines, &self.walk)) {
            Some((place, heading)) => (place + self.half, heading),
            None => (self.position_on_step(), (0, 0)),
        }
    }

    /// Returns the position of its center on the current step.
    fn position_on_step(&self) -> Vec2 {
        let (done, needed) = self.walk.progress();
        let fraction = (done as f64 / needed as f64) as f32;
        let [tail, head] = [self.walk.tail(), self.walk.head()].map(center);
        tail.lerp(head, fraction) + self.half
    }
}

/// Critters in a crowd, whose ticks are counted from its creation.
impl CritterState {
    /// Returns its position at the end of a tick, at the earliest that of the tick before its last change.
    #[inline]
    pub(crate) fn position_at(&self, tick: u64) -> Vec2 {
        let ticks = tick.checked_sub(self.since);
        ticks.map_or(self.before, |ticks| self.position_after(ticks as f32))
    }

    /// Returns its position `ticks` ticks after its last change.
    #[inline]
    fn position_after(&self, ticks: f32) -> Vec2 {
        let place = self.origin + self.velocity * ticks.min(self.ticks);
        place + self.offset_after(ticks) + self.line_offset_after(ticks)
    }

    /// Returns how far off the step its straight line leads, `ticks` ticks after its last change.
    fn line_offset_after(&self, ticks: f32) -> Vec2 {
        if !self.is_on_line {
            return Vec2::ZERO;
        }
        let needed = (self.walk.progress().1 as f64 / SUBTICKS_PER_TICK as f64) as f32;
        let left = ((self.ticks - ticks) / needed).clamp(0.0, 1.0);
        let [from, to] = self.line_offsets.map(in_cells);
        to.lerp(from, left)
    }

    /// Returns by how much its straight line leads farther off the step in a tick.
    pub(super) fn line_velocity(&self) -> Vec2 {
        let needed = (self.walk.progress().1 as f64 / SUBTICKS_PER_TICK as f64) as f32;
        let [from, to] = self.line_offsets.map(in_cells);
        if self.is_on_line { (to - from) / needed } else { Vec2::ZERO }
    }

    /// Draws its step that far off the centers of its cells, in hundredths of a cell. Where it stands instead, it comes
    /// to the center slowly.
    pub(crate) fn set_line_offsets(&mut self, offsets: Option<[(i8, i8); 2]>) {
        if self.is_on_line && !self.walk.is_between_cells() {
            self.offset += in_cells(self.line_offsets[1]);
        }
        self.is_on_line = offsets.is_some();
        self.line_offsets = offsets.unwrap_or_default();
    }

    /// Returns its position at a fraction of a tick. In the tick of its last change it may have gone around a
    /// corner: it ended a step, stood there for a while, and began another one.
    #[inline]
    pub(crate) fn position_during(&self, tick: u64, fraction: f32) -> Vec2 {
        if tick > self.since {
            return self.position_after((tick - self.since) as f32 - (1.0 - fraction));
        }
        if tick < self.since || fraction >= 1.0 {
            return self.position_at(tick);
        }
        let now = self.origin + self.offset;
        let begun = |left: f32| now - self.velocity * left + self.line_offset_after(-left);
        if fraction >= self.departure {
            return begun(1.0 - fraction);
        }
        let corner = begun(1.0 - self.departure);
        let done = if self.arrival > 0.0 { (fraction / self.arrival).min(1.0) } else { 1.0 };
        self.before.lerp(corner, done)
    }

    fn offset_after(&self, ticks: f32) -> Vec2 {
        shrunk(self.offset, self.shrink * ticks)
    }

    /// Returns whether it is still drawn at an offset at the end of a tick, and the offset is shrinking.
    pub(crate) fn has_shrinking_offset(&self, tick: u64) -> bool {
        let ticks = tick.saturating_sub(self.since) as f32;
        self.member.unit.is_some() && self.shrink > 0.0 && self.offset_after(ticks) != Vec2::ZERO
    }

    /// Stores its motion from the end of a tick on.
    pub(crate) fn start_motion(&mut self, tick: u64) {
        let (done, needed) = self.walk.progress();
        let displacement = center(self.walk.head()) - center(self.walk.tail());
        self.origin = self.position_on_step();
        self.velocity = displacement * (SUBTICKS_PER_TICK as f64 / needed as f64) as f32;
        self.ticks = ((needed - done) as f64 / SUBTICKS_PER_TICK as f64) as f32;
        self.departure = (1.0 - (done as f64 / SUBTICKS_PER_TICK as f64) as f32).max(0.0);
        self.since = tick;
        self.is_drawn_ahead |= self.drawing == Drawing::Continue;
        self.drawing = Drawing::Full;
    }

    /// Sets the number of cells by which its offset shrinks per tick.
    pub(crate) fn shrink_by(&mut self, now: u64, cells: f32) {
        if self.shrink.to_bits() != cells.to_bits() {
            if self.offset != Vec2::ZERO {
                self.update_to(now);
            }
            self.shrink = cells;
        }
    }

    /// Updates it to the end of a tick.
    pub(crate) fn update_to(&mut self, tick: u64) {
        self.catch_up(tick);
        self.start_motion(tick);
    }

    /// Updates its position to the end of a tick; its further motion must be stored afterwards.
    fn catch_up(&mut self, tick: u64) {
        (self.before, self.now) =
            (self.position_at(tick.saturating_sub(1)), self.position_at(tick));
        let elapsed = tick.saturating_sub(self.since + 1) as f32;
        self.arrival = (self.ticks - elapsed).clamp(0.0, 1.0);
        if let Some(ticks) = tick.checked_sub(self.since) {
            self.offset = self.offset_after(ticks as f32);
            self.walk.work_on(ticks * SUBTICKS_PER_TICK);
        }
    }

    /// Notes where it was drawn.
    pub(crate) const fn set_drawn(&mut self, at: Vec2) {
        self.drawn = at;
        self.is_drawn_ahead = false;
    }

    /// Reads back where it is drawn if it only went on along its step: then that is not stored.
    pub(crate) fn read_back(&mut self, frame: Option<&GridFrame>, transform: &Transform) {
        let is_stored = self.drawing != Drawing::Continue && !self.is_drawn_ahead;
        if let Some(frame) = frame.filter(|_| !is_stored) {
            self.set_drawn(transform.translation.truncate());
            self.now = frame.to_cells(self.drawn);
        }
    }

    /// Returns its position at a fraction of a tick after that of its last change, where it goes straight on.
    #[inline]
    pub(crate) fn position_going_on(&self, tick: u64, fraction: f32) -> Vec2 {
        let elapsed = tick.saturating_sub(self.since) as f32 - (1.0 - fraction);
        self.origin + self.velocity * elapsed.min(self.ticks)
    }

    /// Returns whether it only goes on along its step until its next change.
    pub(crate) fn goes_on(&self) -> bool {
        self.unit().is_some() && self.offset == Vec2::ZERO && !self.is_turning && !self.is_on_line
    }

    /// Begins or ends a step in a tick.
    pub(crate) fn change_step(&mut self, tick: u64, walk: Walk) {
        self.catch_up(tick);
        self.walk = walk;
        self.start_motion(tick);
    }

    /// Moves it to another position in a tick, or changes its size, with a smooth transition.
    pub(crate) fn relocate(&mut self, tick: u64, (topology, size): (Topology, u32), walk: Walk) {
        self.catch_up(tick);
        let drawn = self.now;
        self.set_size(topology, size);
        self.walk = walk;
        self.place_at(drawn);
        self.start_motion(tick);
    }
}
