//! Shared code of the long-path benches: checking paths step by step, and pseudorandom numbers.

use bevy_tilepath::prelude::*;

/// Checks every step of a path.
pub fn check(grid: &NavGrid, path: &Path, start: Cell, goal: Cell) -> Result<(), String> {
    let layer = grid.layer(ProfileId::default()).ok_or("no layer")?;
    if (path.start(), path.end()) != (start, goal) {
        return Err(format!("a path from {} to {}", path.start(), path.end()));
    }
    let mut at = start;
    for cell in path.cells().skip(1) {
        let direction = Direction::between(at, cell).ok_or("a jump")?;
        let (x, y) = (at.x.abs_diff(grid.origin().x), at.y.abs_diff(grid.origin().y));
        if !layer.can_step(x, y, direction) {
            return Err(format!("an illegal step from {at} to {cell}"));
        }
        at = cell;
    }
    Ok(())
}

/// Marsaglia's xorshift.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (((self.0 >> 32) * u64::from(end)) >> 32) as u32
    }
}
