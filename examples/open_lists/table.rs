//! The results as text: one table per map, then the geometric means.

use std::fmt::Write as _;

use crate::{
    race::{CourseResult, Row},
    roster::DEFAULT,
};

/// Returns all tables, one line per list.
pub fn text(results: &[CourseResult]) -> String {
    let mut text = String::new();
    for result in results {
        add_course(&mut text, result);
    }
    for (title, is_real) in [("generated maps", false), ("maps from files", true)] {
        let group: Vec<&CourseResult> =
            results.iter().filter(|result| result.is_real == is_real).collect();
        if !group.is_empty() {
            add_means(&mut text, title, &group);
        }
    }
    text
}

fn add_course(text: &mut String, result: &CourseResult) {
    let _ =
        writeln!(text, "\n{}: {} cells, {} queries", result.course, result.cells, result.queries);
    let _ = writeln!(
        text,
        "{:<18} {:<27} {:>10} {:>12} {:>9} {:>9} {:>11} {:>7} {:>9} {:>10}",
        "map",
        "structure",
        "µs/query",
        "comparisons",
        "/insert",
        "/removal",
        "moves",
        "peak",
        "expanded",
        "x unsorted"
    );
    let queries = result.queries.max(1) as f64;
    for row in &result.rows {
        let work = &row.work;
        let moves = work.moves().map_or("-".into(), |moves| rounded(moves as f64 / queries));
        let _ = writeln!(
            text,
            "{:<18} {:<27} {:>10.1} {:>12} {:>9.1} {:>9.1} {:>11} {:>7} {:>9} {:>10.2}",
            result.course,
            label(row),
            row.micros,
            rounded(work.comparisons() as f64 / queries),
            work.inserts.comparisons_each(),
            work.removals.comparisons_each(),
            moves,
            work.peak,
            rounded(row.expansions as f64 / queries),
            result.speed_up(row)
        );
    }
}

fn add_means(text: &mut String, title: &str, group: &[&CourseResult]) {
    let _ = writeln!(text, "\nGeometric means over {} {title}", group.len());
    let _ =
        writeln!(text, "{:<27} {:>12} {:>22}", "structure", "x unsorted", "time against default");
    let Some(first) = group.first() else {
        return;
    };
    for row in &first.rows {
        let up = mean(group, |result| result.row(row.name).map(|row| result.speed_up(row)));
        let against =
            mean(group, |result| Some(result.row(row.name)?.micros / result.row(DEFAULT)?.micros));
        let _ = writeln!(text, "{:<27} {up:>12.2} {against:>22.2}", label(row));
    }
}

/// Returns the geometric mean of a value over courses.
pub fn mean(group: &[&CourseResult], figure: impl Fn(&CourseResult) -> Option<f64>) -> f64 {
    let logs: Vec<f64> = group.iter().filter_map(|result| Some(figure(result)?.ln())).collect();
    (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp()
}

/// Returns the list's number among the structures of the articles, and its name.
pub fn label(row: &Row) -> String {
    match row.article {
        Some(number) => format!("{number}. {}", row.name),
        None => row.name.to_owned(),
    }
}

fn rounded(value: f64) -> String {
    format!("{value:.0}")
}
