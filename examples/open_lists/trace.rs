//! The article's example, line by line: 17 is inserted into `10 30 20 34 38 30 24`, then the top is
//! removed.
//!
//! Input: the heap's recorded steps, replayed on a copy of its array. Output: one line per step.

use bevy_tilepath::nav::open_list::Operation;

use crate::lists::plain::PlainHeap;

/// The heap of the article, in array order.
pub const BEFORE: [u32; 7] = [10, 30, 20, 34, 38, 30, 24];
/// The inserted value.
pub const VALUE: u32 = 17;

/// A line of the trace.
pub struct Line {
    /// Description of the step.
    pub text: String,
    /// The array after the step.
    pub array: Vec<u32>,
}

/// Returns all lines.
pub fn lines() -> Vec<Line> {
    let mut heap = PlainHeap::<Vec<Operation>>::default();
    BEFORE.iter().for_each(|&value| heap.add(value));
    let mut lines = vec![Line { text: "the heap".into(), array: heap.values().to_vec() }];

    let first = heap.observer().len();
    let mut array = [heap.values(), &[VALUE]].concat();
    heap.add(VALUE);
    let text = format!("{VALUE} is put in at the end, slot {}", array.len());
    lines.push(Line { text, array: array.clone() });
    replay(&heap.observer()[first..], &mut array, &mut lines);
    assert_eq!(array, heap.values(), "the replay ends with the heap's array");
    lines.push(Line { text: "it stays: the heap is in order".into(), array: array.clone() });

    let first = heap.observer().len();
    let top = array.swap_remove(0);
    heap.remove();
    let text = format!("{top} is taken from slot 1, the last item, {}, moves there", array[0]);
    lines.push(Line { text, array: array.clone() });
    replay(&heap.observer()[first..], &mut array, &mut lines);
    assert_eq!(array, heap.values(), "the replay ends with the heap's array");
    lines.push(Line { text: "it stays: the heap is in order".into(), array });
    lines
}

/// Applies steps to the array and adds a line for each; slots count from 1.
fn replay(steps: &[Operation], array: &mut [u32], lines: &mut Vec<Line>) {
    for &step in steps {
        let text = match step {
            Operation::Compared(one, other) => {
                let (a, b) = (array[one - 1], array[other - 1]);
                let sign = if a > b { "is higher than" } else { "is not higher than" };
                format!("{a} in slot {one} {sign} {b} in slot {other}")
            }
            Operation::Moved(from, to) => {
                array.swap(from - 1, to - 1);
                format!("slots {from} and {to} swap")
            }
        };
        lines.push(Line { text, array: array.to_vec() });
    }
}

/// Returns the trace as text.
pub fn text() -> String {
    let line = |Line { text, array }: Line| {
        let array: Vec<String> = array.iter().map(u32::to_string).collect();
        format!("{text:<56} {}\n", array.join(" "))
    };
    lines().into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the arrays of the trace without repetitions.
    fn arrays() -> Vec<Vec<u32>> {
        let mut arrays: Vec<_> = lines().into_iter().map(|line| line.array).collect();
        arrays.dedup();
        arrays
    }

    #[test]
    fn the_arrays_are_those_of_the_article() {
        assert_eq!(
            arrays(),
            [
                vec![10, 30, 20, 34, 38, 30, 24],
                vec![10, 30, 20, 34, 38, 30, 24, 17],
                vec![10, 30, 20, 17, 38, 30, 24, 34],
                vec![10, 17, 20, 30, 38, 30, 24, 34],
                vec![34, 17, 20, 30, 38, 30, 24],
                vec![17, 34, 20, 30, 38, 30, 24],
                vec![17, 30, 20, 34, 38, 30, 24],
            ]
        );
    }

    #[test]
    fn the_comparisons_are_those_of_the_article() {
        let texts: Vec<String> = lines().into_iter().map(|line| line.text).collect();
        let compared = |text: &&String| text.contains("higher than");
        assert_eq!(
            texts.iter().filter(compared).collect::<Vec<_>>(),
            [
                "17 in slot 8 is not higher than 34 in slot 4",
                "17 in slot 4 is not higher than 30 in slot 2",
                "17 in slot 2 is higher than 10 in slot 1",
                "34 in slot 1 is higher than 17 in slot 2",
                "17 in slot 2 is not higher than 20 in slot 3",
                "34 in slot 2 is higher than 30 in slot 4",
                "30 in slot 4 is not higher than 38 in slot 5",
            ]
        );
    }
}
