//! The cost of a straight line from a unit to a slot, in integers: its length to the power of 3/2.
//!
//! Costs that grow faster than lengths prefer two lines of middle length to a short one and a long one. Where units
//! walk in one direction, the sum of the lengths is the same whichever of them takes the nearest slot. With these
//! costs the unit in front takes the farthest one, and no unit walks past those that stand already. (With squared
//! lengths, units of even speed never meet: Turpin, Michael & Kumar, "CAPT: Concurrent assignment and planning of
//! trajectories for multiple robots", IJRR 2014. The sum of the lengths is up to 6 % above the minimum then.)
//!
//! Comparing millions of lines requires costs that are cheap. A table holds the powers of numbers with ten
//! significant bits; between them values are interpolated linearly, with an error of at most one part in
//! 150,000.

use crate::nav::Topology;

/// Numbers with this many significant bits have their power in the table.
const BITS: u32 = 10;

/// Power 3/4 of the number that starts with these bits and fills 32, in units of 2⁻¹⁶.
const POWERS: [u64; (1 << BITS) + 1] = {
    let mut powers = [0; (1 << BITS) + 1];
    let mut bits = 0;
    while bits < powers.len() {
        let square = (bits as u128) << (32 - BITS);
        // 64 fractional bits of the square are 32 of its root, and 16 of the power.
        powers[bits] = (square * (square << 64).isqrt()).isqrt() as u64;
        bits += 1;
    }
    powers
};

/// Returns the cost of the line between two cells that are less than 2¹⁵ columns and rows apart, in units of 2⁻¹⁶
/// of that of a line as long as a cell's side.
#[inline]
pub(super) const fn line_cost(topology: Topology, a: (u32, u32), b: (u32, u32)) -> u64 {
    let (dx, dy) = (b.0 as i64 - a.0 as i64, b.1 as i64 - a.1 as i64);
    power(topology.squared_length(dx, dy) as u32)
}

/// Returns a squared length to the power of 3/4, in units of 2⁻¹⁶.
#[inline]
const fn power(square: u32) -> u64 {
    // Shifted by a multiple of four bits, so that the power shifts by three quarters of them; 0 stays 0.
    let shift = (square | 1).leading_zeros() & !3;
    let high = square << shift;
    let bits = (high >> (32 - BITS)) as usize;
    let rest = (high & ((1 << (32 - BITS)) - 1)) as u64;
    let step = POWERS[bits + 1] - POWERS[bits];
    let power = POWERS[bits] + ((step * rest) >> (32 - BITS));
    power >> (shift / 4 * 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_accurate_to_one_part_in_150_000() {
        let squares = (0..40_000).chain((0..2_000).map(|step| step * 268_435 + 1));
        for square in squares {
            let root = (u128::from(square) << 64).isqrt();
            let exact = (u128::from(square) * root).isqrt() as u64;
            let off = exact.abs_diff(power(square));
            assert!(off <= 1 + exact / 150_000, "power of {square}: off by {off} of {exact}");
        }
        assert_eq!(line_cost(Topology::Square, (2, 10), (2, 6)), 8 << 16);
    }

    #[test]
    fn powers_are_monotonic() {
        assert!((1..3_000_000_u32).all(|square| power(square - 1) <= power(square)));
    }
}
