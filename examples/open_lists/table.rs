//! Results as text: a table a map, then the geometric means.

use crate::{
    race::{Result, Row},
    roster::DEFAULT,
};

/// Prints everything.
pub fn print(results: &[Result]) {
    for result in results {
        print_course(result);
    }
    for (title, is_real) in [("generated maps", false), ("maps from files", true)] {
        let group: Vec<&Result> =
            results.iter().filter(|result| result.is_real == is_real).collect();
        if !group.is_empty() {
            print_means(title, &group);
        }
    }
}

fn print_course(result: &Result) {
    println!("\n{}: {} cells, {} queries", result.course, result.cells, result.queries);
    println!(
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
        println!(
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

fn print_means(title: &str, group: &[&Result]) {
    println!("\nGeometric means over {} {title}", group.len());
    println!("{:<27} {:>12} {:>22}", "structure", "x unsorted", "time against default");
    let Some(first) = group.first() else {
        return;
    };
    for row in &first.rows {
        let up = mean(group, |result| result.row(row.name).map(|row| result.speed_up(row)));
        let against =
            mean(group, |result| Some(result.row(row.name)?.micros / result.row(DEFAULT)?.micros));
        println!("{:<27} {up:>12.2} {against:>22.2}", label(row));
    }
}

/// The geometric mean of a figure over courses.
pub fn mean(group: &[&Result], figure: impl Fn(&Result) -> Option<f64>) -> f64 {
    let logs: Vec<f64> = group.iter().filter_map(|result| Some(figure(result)?.ln())).collect();
    (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp()
}

/// The list's name, behind its number among the structures of the articles.
pub fn label(row: &Row) -> String {
    match row.article {
        Some(number) => format!("{number}. {}", row.name),
        None => row.name.to_owned(),
    }
}

fn rounded(value: f64) -> String {
    format!("{value:.0}")
}
