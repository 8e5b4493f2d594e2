//! Lengths of straight lines in whole numbers: a square root by table.
//!
//! Whoever compares millions of lines needs them cheap, and fine enough that the shorter of two ways
//! across a field is found. The table holds roots of numbers with ten significant bits; between
//! them it is read along a straight line, which is right to about one part in two million.

/// Numbers with this many significant bits have their root in the table.
const BITS: u32 = 10;

/// Root of the number that begins with these bits and fills 32, in parts of which 2¹⁴ make a side of a cell.
const ROOTS: [u32; (1 << BITS) + 1] = {
    let mut roots = [0; (1 << BITS) + 1];
    let mut bits = 0;
    while bits < roots.len() {
        // 14 bits of parts are 28 of their square.
        roots[bits] = ((bits as u64) << (32 - BITS + 28)).isqrt() as u32;
        bits += 1;
    }
    roots
};

/// Distance between two cells that are less than 2¹⁵ columns and rows apart, in parts of which 2¹⁴ make a side of a cell of a cell.
#[inline]
pub(super) const fn length(a: (u32, u32), b: (u32, u32)) -> u32 {
    let (dx, dy) = (a.0.abs_diff(b.0), a.1.abs_diff(b.1));
    root(dx * dx + dy * dy)
}

/// Square root in parts of which 2¹⁴ make a side of a cell.
#[inline]
const fn root(square: u32) -> u32 {
    // Moved by an even number of bits, so that the root moves by half of them; 0 stays 0.
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
    fn roots_are_right_to_a_two_millionth() {
        let squares = (0..40_000).chain((0..2_000).map(|step| step * 268_435 + 1));
        for square in squares {
            let exact = (u64::from(square) << 28).isqrt();
            let off = exact.abs_diff(u64::from(root(square)));
            assert!(off <= 1 + exact / 2_000_000, "root of {square}: off by {off} of {exact}");
        }
        assert_eq!(length((3, 10), (6, 6)), 5 << 14);
    }

    #[test]
    fn lengths_grow_with_their_squares() {
        assert!((1..3_000_000_u32).all(|square| root(square - 1) <= root(square)));
    }
}
