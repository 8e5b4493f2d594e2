//! The results as comma-separated values, one line per map and list. Counts are totals over all
//! queries of the map.

use std::fmt::Write as _;

use crate::race::CourseResult;

/// Returns the whole file.
pub fn text(results: &[CourseResult]) -> String {
    let mut text = String::from(
        "map,cells,queries,structure,article,us_per_query,comparisons,moves,peak_open,expansions,\
         inserts,insert_comparisons,improvements,improvement_comparisons,removals,\
         removal_comparisons,ratio_to_unsorted\n",
    );
    for result in results {
        for row in &result.rows {
            let work = &row.work;
            let _ = write!(text, "{},{},{},", quoted(&result.course), result.cells, result.queries);
            let _ = write!(text, "{},{},", quoted(row.name), number(row.article));
            let _ = write!(text, "{:.3},{},", row.micros, work.comparisons());
            let _ = write!(text, "{},{},{},", number(work.moves()), work.peak, row.expansions);
            for calls in [work.inserts, work.improvements, work.removals] {
                let _ = write!(text, "{},{},", calls.calls, calls.work.comparisons);
            }
            let _ = writeln!(text, "{:.4}", result.speed_up(row));
        }
    }
    text
}

fn number(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_commas_and_quotes_are_quoted() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("a,b \"c\""), "\"a,b \"\"c\"\"\"");
    }
}
