//! A set of chunks in which a search may look: those on a route, and all near them.
//!
//! Input: the chunks of a route, and a margin. Output: whether a cell lies in one of them or in a chunk within the margin,
//! answered with one bit. Memory is one bit per chunk, kept for the next route.

use crate::nav::CHUNK;

/// Chunks as bits, row by row; see the [module](self). Contains no cell before it is filled.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Corridor {
    words_per_row: usize,
    words: Vec<u64>,
}

impl Corridor {
    /// Replaces the content with the chunks of a route and all at most `margin` columns and rows away. `chunks` is the size
    /// of the grid in chunks.
    pub(crate) fn fill(&mut self, chunks: (u32, u32), route: &[(u32, u32)], margin: u32) {
        self.clear();
        self.words_per_row = chunks.0.div_ceil(64) as usize;
        self.words.resize(self.words_per_row * chunks.1 as usize, 0);
        for &(x, y) in route {
            for y in y.saturating_sub(margin)..(y + margin + 1).min(chunks.1) {
                for x in x.saturating_sub(margin)..(x + margin + 1).min(chunks.0) {
                    self.words[y as usize * self.words_per_row + x as usize / 64] |= 1 << (x % 64);
                }
            }
        }
    }

    /// Empties the corridor.
    pub(crate) fn clear(&mut self) {
        self.words.clear();
    }

    /// Whether a cell on the grid lies in the corridor.
    #[inline]
    pub(crate) fn contains(&self, x: u32, y: u32) -> bool {
        let (x, y) = (x / CHUNK, y / CHUNK);
        let word = self.words.get(y as usize * self.words_per_row + x as usize / 64);
        word.is_some_and(|&word| word >> (x % 64) & 1 == 1)
    }

    /// Returns the memory held, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        8 * self.words.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corridor_holds_the_route_and_the_chunks_around_it() {
        let mut corridor = Corridor::default();
        assert!(!corridor.contains(0, 0));
        let chunks = (130, 9);
        let route = [(63, 4), (64, 4), (64, 5), (0, 0), (129, 8)];
        for margin in 1..4 {
            corridor.fill(chunks, &[(20, 2)], margin);
            corridor.fill(chunks, &route, margin);
            for y in 0..chunks.1 {
                for x in 0..chunks.0 {
                    let is_near =
                        |&(a, b): &(u32, u32)| x.abs_diff(a) <= margin && y.abs_diff(b) <= margin;
                    let expected = route.iter().any(is_near);
                    assert_eq!(corridor.contains(x * CHUNK, y * CHUNK), expected, "({x}, {y})");
                    assert_eq!(corridor.contains(x * CHUNK + 31, y * CHUNK + 31), expected);
                }
            }
        }
        corridor.clear();
        assert!(!corridor.contains(63 * CHUNK, 4 * CHUNK));
    }
}
