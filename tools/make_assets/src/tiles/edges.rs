//! How far a pixel lies inside a tile, counted from chosen sides.
//!
//! In: a 4-bit mask of sides (1 north, 2 east, 4 south, 8 west). Out: distances
//! with a wavy offset that continues from tile to tile.

use super::SIZE;

/// A gentle wave along a side; it starts and ends at the same height.
const WAVE: [f32; 16] =
    [0.0, 0.3, 0.9, 1.2, 1.0, 0.4, -0.2, -0.6, -0.4, 0.2, 0.8, 0.9, 0.4, -0.3, -0.6, -0.3];

/// Distance in pixels from the nearest masked side, corners rounded by
/// `round` pixels; a large number when no side is masked.
pub fn depth(mask: u32, x: i32, y: i32, round: f32) -> f32 {
    let far = 100.0;
    let side = |bit: u32, steps: i32, along: i32, phase: i32| {
        let wave = WAVE[((along + phase) % SIZE) as usize];
        if mask & bit != 0 { steps as f32 + wave } else { far }
    };
    let north = side(1, y, x, 0);
    let south = side(4, SIZE - 1 - y, x, 7);
    let west = side(8, x, y, 3);
    let east = side(2, SIZE - 1 - x, y, 11);
    let mut nearest = north.min(south).min(east).min(west);
    for (a, b) in [(north, east), (east, south), (south, west), (west, north)] {
        if a < round && b < round {
            let (p, q) = (round - a, round - b);
            nearest = nearest.min(round - (p * p + q * q).sqrt());
        }
    }
    nearest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_masked_sides_count() {
        assert!(depth(0, 3, 3, 4.0) > 50.0);
        assert!(depth(1, 8, 0, 4.0) < 2.0);
        assert!(depth(1, 8, 15, 4.0) > 12.0);
    }
}
