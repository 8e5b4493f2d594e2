//! A running checksum over results, to check that two runs gave the same.
//!
//! Input: numbers, cells and paths. Output: a 64-bit sum.

/// FNV-1a over 64 bits (Fowler, Noll & Vo): stable across machines and releases of Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checksum(u64);

impl Default for Checksum {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Checksum {
    /// Adds a number.
    pub fn add(&mut self, value: u64) {
        for byte in value.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// Adds eight bytes at once: faster, and another sum.
    #[cfg(feature = "serialize")]
    pub(crate) fn add_word(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x0000_0100_0000_01b3);
    }

    /// Adds a cell.
    pub fn add_cell(&mut self, cell: super::cell::Cell) {
        self.add(u64::from(cell.x as u32) << 32 | u64::from(cell.y as u32));
    }

    /// Returns the sum so far.
    #[must_use]
    pub const fn value(self) -> u64 {
        self.0
    }
}
