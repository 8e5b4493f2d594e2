//! Repeatable chance: hashes, a small generator and smooth noise.
//!
//! In: seeds and coordinates. Out: numbers that are the same on every machine
//! (integer mixing, then only `+ - * /` and `floor` on `f32`).

/// Mixes a seed and a cell into 32 well spread bits.
pub fn hash(seed: u32, x: i32, y: i32) -> u32 {
    let mut h = seed.wrapping_mul(0x9E37_79B1) ^ (x as u32).wrapping_mul(0x85EB_CA77);
    h ^= (y as u32).wrapping_mul(0xC2B2_AE3D).rotate_left(13);
    h = (h ^ (h >> 15)).wrapping_mul(0x2C1B_3C6D);
    h = (h ^ (h >> 12)).wrapping_mul(0x297A_2D39);
    h ^ (h >> 15)
}

/// A seeded sequence of integers (xorshift).
pub struct Rng(u32);

impl Rng {
    /// A sequence that depends on `seed` alone.
    pub fn new(seed: u32) -> Self {
        Self(hash(seed, 17, 71) | 1)
    }

    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0.wrapping_mul(0x9E37_79B1) >> 3
    }

    /// A number in `low..high`; `low` when the range is empty.
    pub fn range(&mut self, low: i32, high: i32) -> i32 {
        low + (self.next() % (high - low).max(1) as u32) as i32
    }

    /// True in `percent` of 100 calls.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.next() % 100 < percent
    }
}

fn smooth(t: f32) -> f32 {
    t * t * (3.0 - 2.0 * t)
}

fn lattice(seed: u32, x: i32, y: i32) -> f32 {
    (hash(seed, x, y) >> 8) as f32 / 16_777_216.0
}

/// Smooth noise in `0..1` with one lattice point per unit.
pub fn value(seed: u32, x: f32, y: f32) -> f32 {
    let (cell_x, cell_y) = (x.floor(), y.floor());
    let (tx, ty) = (smooth(x - cell_x), smooth(y - cell_y));
    let (ix, iy) = (cell_x as i32, cell_y as i32);
    let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
    let top = mix(lattice(seed, ix, iy), lattice(seed, ix + 1, iy), tx);
    let low = mix(lattice(seed, ix, iy + 1), lattice(seed, ix + 1, iy + 1), tx);
    mix(top, low, ty)
}

/// Layered noise in `0..1`; the largest features are about `size` cells wide.
pub fn layered(seed: u32, x: i32, y: i32, size: f32, layers: u32) -> f32 {
    let (mut sum, mut weight, mut total, mut scale) = (0.0, 1.0, 0.0, 1.0 / size);
    for layer in 0..layers {
        let layer_seed = seed.wrapping_add(layer * 101);
        sum += weight * value(layer_seed, x as f32 * scale, y as f32 * scale);
        total += weight;
        weight *= 0.5;
        scale *= 2.0;
    }
    sum / total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_stays_in_range_and_repeats() {
        for i in 0..500 {
            let v = layered(3, i * 7, i * 3, 40.0, 4);
            assert!((0.0..=1.0).contains(&v));
            assert_eq!(v, layered(3, i * 7, i * 3, 40.0, 4));
        }
    }

    #[test]
    fn range_is_half_open() {
        let mut rng = Rng::new(5);
        assert!((0..300).all(|_| (3..9).contains(&rng.range(3, 9))));
        assert_eq!(rng.range(4, 4), 4);
    }
}
