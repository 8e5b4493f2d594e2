//! The scale: converts the search's cost units into the numbers of the articles.
//!
//! Input: units of a search's keys. Output: text in which a straight step on terrain of cost 1 is
//! 10 and a diagonal one is 14. Numbers are whole, unless two different values would look the same:
//! these get as many decimals as are needed to distinguish them.

/// Most decimals printed.
const MOST_DECIMALS: usize = 3;

/// Value of one unit of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale(pub f64);

impl Scale {
    /// Formats a value as a whole number.
    pub fn show(self, units: u32) -> String {
        self.with_decimals(units, 0)
    }

    /// Formats two values with one decimal, and the sum of their rounded values: the printed sum is
    /// right, though the exact sum may round to another last digit.
    pub fn show_sum(self, one: u32, other: u32) -> [String; 3] {
        let tenths = |units| (f64::from(units) * self.0 * 10.0).round() as u64;
        let (one, other) = (tenths(one), tenths(other));
        [one, other, one + other].map(|tenths| format!("{}.{}", tenths / 10, tenths % 10))
    }

    /// Formats two values so that they look the same only if they are equal.
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
    fn only_equal_values_look_the_same() {
        let both = |one, other| {
            let (one, other) = Scale(0.01).show_both(one, other);
            format!("{one} {other}")
        };
        assert_eq!(both(1_400, 1_000), "14 10");
        assert_eq!(both(1_414, 1_400), "14.1 14.0");
        assert_eq!(both(1_414, 1_413), "14.14 14.13");
        assert_eq!(both(1_414, 1_414), "14 14");
        assert_eq!(Scale(0.01).show(1_414), "14");
    }

    #[test]
    fn sums_add_up_as_they_are_printed() {
        let sum = |one, other| Scale(0.01).show_sum(one, other).join(" ");
        assert_eq!(sum(1_414, 1_414), "14.1 14.1 28.2");
        assert_eq!(sum(1_416, 1_416), "14.2 14.2 28.4");
        assert_eq!(sum(0, 9_996), "0.0 100.0 100.0");
    }
}
