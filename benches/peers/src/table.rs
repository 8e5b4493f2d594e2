//! The tables: Markdown for `docs/lab/search.md`.
//!
//! Input: the searchers' results on each map. Output: a table per family, one for the games and one
//! for all maps. Times are over all queries of a table; the speed-up is the geometric mean over its
//! maps of the textbook's time on the whole map divided by the searcher's. Queries without a path
//! count with the time they took: compare the column `no path` when reading times.

use std::fmt::Write;

use crate::race::{Lane, MapResult, Tally};

/// Families whose maps are from games.
const GAMES: [&str; 4] = ["dao", "da2", "bg512", "sc1"];

const HEAD: &str = "\
| searcher | maps | queries | mean µs | median µs | p99 µs | max µs | speed-up | wrong \
| mean excess % | illegal steps | of them corner cuts | no path | prepare ms a map |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
";

/// Returns all tables of the results; `names` are the searchers', in the order of the lanes.
pub fn tables(results: &[MapResult], names: &[&str]) -> String {
    let mut families: Vec<&str> = Vec::new();
    for result in results {
        if !families.contains(&result.family.as_str()) {
            families.push(&result.family);
        }
    }
    let mut text = String::new();
    for family in &families {
        append(&mut text, family, results, names, |result| result.family == *family);
    }
    if families.len() > 1 {
        let is_game = |result: &MapResult| GAMES.contains(&result.family.as_str());
        append(&mut text, "games", results, names, is_game);
        append(&mut text, "all", results, names, |_| true);
    }
    text
}

/// Adds a table over the maps that `belongs` selects, unless there are none.
fn append(
    text: &mut String,
    title: &str,
    results: &[MapResult],
    names: &[&str],
    belongs: impl Fn(&MapResult) -> bool,
) {
    let maps: Vec<&MapResult> = results.iter().filter(|result| belongs(result)).collect();
    if maps.is_empty() {
        return;
    }
    // Writing to a string cannot fail.
    let _ = write!(text, "### {title}\n\n{HEAD}");
    for (lane, name) in names.iter().enumerate() {
        let _ = writeln!(text, "{}", Row::over(&maps, lane).line(name));
    }
    text.push('\n');
}

/// One searcher over several maps.
struct Row {
    maps: usize,
    /// Per-query times, shortest first.
    micros: Vec<f64>,
    tally: Tally,
    speed_up: f64,
    prepare_ms: f64,
}

impl Row {
    fn over(maps: &[&MapResult], lane: usize) -> Self {
        let lanes: Vec<&Lane> = maps.iter().filter_map(|map| map.lanes.get(lane)).collect();
        let mut micros: Vec<f64> =
            lanes.iter().flat_map(|lane| lane.micros.iter().copied()).collect();
        micros.sort_by(f64::total_cmp);
        let logs = maps.iter().zip(&lanes).filter_map(|(map, lane)| {
            let ratio = total(map.lanes.first()?) / total(lane);
            ratio.is_normal().then(|| ratio.ln())
        });
        Self {
            maps: maps.len(),
            micros,
            tally: lanes.iter().fold(Tally::default(), |sum, lane| sum.plus(&lane.tally)),
            speed_up: mean(logs).exp(),
            prepare_ms: mean(lanes.iter().map(|lane| lane.prepare_ms)),
        }
    }

    fn line(&self, name: &str) -> String {
        let Tally { paths, missing, wrong, excess, illegal, corner_cuts } = self.tally;
        let columns = [
            name.to_owned(),
            self.maps.to_string(),
            self.micros.len().to_string(),
            short(mean(self.micros.iter().copied())),
            short(self.quantile(0.5)),
            short(self.quantile(0.99)),
            short(self.quantile(1.0)),
            format!("{:.2}", self.speed_up),
            wrong.to_string(),
            format!("{:.2}", 100.0 * excess / f64::from(paths.max(1))),
            illegal.to_string(),
            corner_cuts.to_string(),
            missing.to_string(),
            short(self.prepare_ms),
        ];
        format!("| {} |", columns.join(" | "))
    }

    /// Returns the time at this percentile of all queries.
    fn quantile(&self, share: f64) -> f64 {
        let rank = (share * self.micros.len() as f64).ceil() as usize;
        self.micros.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
    }
}

fn total(lane: &Lane) -> f64 {
    lane.micros.iter().sum()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count.max(1))
}

/// Formats a value with about three digits.
fn short(value: f64) -> String {
    if value < 100.0 { format!("{value:.1}") } else { format!("{value:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(family: &str, times: [f64; 2]) -> MapResult {
        let lane = |time| Lane { micros: vec![time], ..Lane::default() };
        MapResult { family: family.into(), map: "map".into(), lanes: times.map(lane).into() }
    }

    #[test]
    fn the_speed_up_is_a_geometric_mean_over_maps() {
        let maps = [map("dao", [80.0, 10.0]), map("dao", [4.0, 2.0])];
        let maps: Vec<&MapResult> = maps.iter().collect();
        assert!((Row::over(&maps, 1).speed_up - 4.0).abs() < 1e-9);
        assert!((Row::over(&maps, 0).speed_up - 1.0).abs() < 1e-9);
    }

    #[test]
    fn games_get_a_table_of_their_own() {
        let text = tables(&[map("dao", [1.0, 1.0]), map("mazes", [1.0, 1.0])], &["a", "b"]);
        let titles: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
        assert_eq!(titles, ["### dao", "### mazes", "### games", "### all"]);
    }
}
