//! Lengths of straight lines in integers: a square root by table.
//!
//! Comparing millions of lines requires lengths that are cheap, and precise enough to find the shorter of two
//! lines across a field. The table holds roots of numbers with ten significant bits; between them values are
//! interpolated linearly, with an error of about one part in two million.

/// Numbers with this many significant bits have their root in the table.
const BITS: u32 = 10;

/// Root of the number that starts with these bits and fills 32, in units of 2⁻¹⁴ of a cell's side.
const ROOTS: [u32; (1 << BITS) + 1] = {
    let mut roots = [0; (1 << BITS) + 1];
    let mut bits = 0;
    while bits < roots.len() {
        // 14 fractional bits of the root are 28 of its square.
        roots[bits] = ((bits as u64) << (32 - BITS + 28)).isqrt() as u32;
        bits += 1;
    }
    roots
};

/// Returns the distance between two cells that are less than 2¹⁵ columns and rows apart, in units of 2⁻¹⁴ of
/// a cell's side.
#[inline]
pub(super) const fn length(a: (u32, u32), b: (u32, u32)) -> u32 {
    let (dx, dy) = (a.0.abs_diff(b.0), a.1.abs_diff(b.1));
    root(dx * dx + dy * dy)
}

/// Returns the square root, in units of 2⁻¹⁴ of a cell's side.
#[inline]
const fn root(square: u32) -> u32 {
    // Shifted by an even number of bits, so that the root shifts by half of them; 0 stays 0.
    let shift = (square | 1).leading_zeros() & !1;
    let high = square << shift;
    let bits = (high >> (32 - BITS)) as usize;
    let rest = (high & ((1 << (32 - BITS)) - 1)) as u64;
    let step = (ROOTS[bits + 1] - ROOTS[bits]) as u64;
    let root = ROOTS[bits] + ((step * rest) >> (32 - BITS)) as u32;
    root >> (shift / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_accurate_to_a_two_millionth() {
        let squares = (0..40_000).chain((0..2_000).map(|step| step * 268_435 + 1));
        for square in squares {
            let exact = (u64::from(square) << 28).isqrt();
            let off = exact.abs_diff(u64::from(root(square)));
            assert!(off <= 1 + exact / 2_000_000, "root of {square}: off by {off} of {exact}");
        }
        assert_eq!(length((3, 10), (6, 6)), 5 << 14);
    }

    #[test]
    fn lengths_are_monotonic() {
        assert!((1..3_000_000_u32).all(|square| root(square - 1) <= root(square)));
    }
}
