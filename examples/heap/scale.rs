//! The scale: what the search counts in, as the numbers that the articles print.
//!
//! Input: units of a search's keys. Output: text in which a straight step over plain ground is 10
//! and a diagonal one is 14. Whole numbers are printed; where two different values would read the
//! same, as many decimals as tell them apart.

/// Most decimals that are printed.
const MOST_DECIMALS: usize = 3;

/// How much one unit of a key is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale(pub f64);

impl Scale {
    /// A value as a whole number.
    pub fn show(self, units: u32) -> String {
        self.with_decimals(units, 0)
    }

    /// A value with one decimal: f is seen to be g + h then.
    pub fn show_finely(self, units: u32) -> String {
        self.with_decimals(units, 1)
    }

    /// Two values, so that they read the same only where they are.
    pub fn show_both(self, one: u32, other: u32) -> (String, String) {
        let both =
            |decimals| (self.with_decimals(one, decimals), self.with_decimals(other, decimals));
        let decimals = (0..MOST_DECIMALS).find(|&decimals| {
            let (one_text, other_text) = both(decimals);
            one == other || one_text != other_text
        });
        both(decimals.unwrap_or(MOST_DECIMALS))
    }

    fn with_decimals(self, units: u32, decimals: usize) -> String {
        format!("{:.decimals$}", f64::from(units) * self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_equals_read_the_same() {
        let both = |one, other| {
            let (one, other) = Scale(0.01).show_both(one, other);
            format!("{one} {other}")
        };
        assert_eq!(both(1_400, 1_000), "14 10");
        assert_eq!(both(1_414, 1_400), "14.1 14.0");
        assert_eq!(both(1_414, 1_413), "14.14 14.13");
        assert_eq!(both(1_414, 1_414), "14 14");
        assert_eq!(Scale(0.01).show(1_414), "14");
        assert_eq!(Scale(0.01).show_finely(1_414), "14.1");
    }
}
