//! The timeline as text.
//!
//! Input: a [`Timeline`]. Output: one line per moment: its number, its caption, and the f of every slot
//! of the heap.

use std::fmt::Write;

use crate::timeline::Timeline;

/// Width of the captions, in columns.
const CAPTION_WIDTH: usize = 76;

/// Returns the text of a timeline.
pub fn trace(timeline: &Timeline) -> String {
    let mut text = String::new();
    for (number, moment) in timeline.moments.iter().enumerate() {
        let values: Vec<_> =
            moment.heap.iter().map(|entry| timeline.scale.show(entry.key.f)).collect();
        let (caption, values) = (&moment.caption, values.join(" "));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{number:>4}  {caption:<CAPTION_WIDTH$}  [{values}]");
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
mod tests {
    use super::*;
    use crate::level::Level;

    fn trace_of(map: &str) -> String {
        let level = Level::read(map).unwrap();
        trace(&Timeline::record(&level.grid().unwrap(), level.start, level.goal))
    }

    #[test]
    fn a_short_timeline_line_by_line() {
        let text = trace_of("S~G");
        let lines: Vec<_> = text.lines().map(str::split_whitespace).collect();
        let lines: Vec<String> =
            lines.into_iter().map(|words| words.collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(
            lines,
            [
                "0 Nothing has happened yet: the open list is empty []",
                "1 20 for cell (0, 0) goes into the empty heap [20]",
                "2 20 at the top is the lowest: cell (0, 0) is taken [20]",
                "3 The heap is empty []",
                "4 25 for cell (1, 0) goes into the empty heap [25]",
                "5 25 at the top is the lowest: cell (1, 0) is taken [25]",
                "6 The heap is empty []",
                "7 30 for cell (2, 0) goes into the empty heap [30]",
                "8 30 at the top is the lowest: cell (2, 0) is taken [30]",
                "9 The heap is empty []",
                "10 Path found: it costs 30 []",
            ]
        );
    }

    #[test]
    fn it_is_the_same_every_time() {
        let map = crate::level::FIRST;
        assert_eq!(trace_of(map), trace_of(map));
    }
}
