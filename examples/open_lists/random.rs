//! Pseudorandom numbers, the same in every run: xorshift64* (S. Vigna, 2016).

/// A generator; see the [module](self).
pub struct Random(u64);

impl Random {
    /// Creates a generator from any seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns a number below `end`, which must not be 0.
    pub const fn below(&mut self, end: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        ((bits * end as u64) >> 32) as u32
    }
}
