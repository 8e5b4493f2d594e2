//! The tables: Markdown for `docs/lab/search.md`.
//!
//! Input: the searchers' results on each map. Output: a table per family, one for the games, one for all
//! maps, and those of the hard [subsets](SUBSETS). Times are over all queries of a table; the speed-up is the
//! geometric mean over its maps of the textbook's time on the map's queries divided by the searcher's.
//! Queries without a path count with the time they took: compare the column `no path` when reading times.

use std::fmt::Write;

use crate::race::{Lane, MapResult, Tally};

/// Families whose maps are from games.
const GAMES: [&str; 4] = ["dao", "da2", "bg512", "sc1"];
/// The searcher by whose times queries are counted as slow or small.
const YARDSTICK: &str = "tilepath auto";
/// Share of cells next to cells of another cost from which a map counts as really mixed.
const REALLY_MIXED: f64 = 0.25;

const HEAD: &str = "\
| searcher | maps | queries | mean µs | median µs | p99 µs | max µs | speed-up | wrong \
| mean excess % | illegal steps | of them corner cuts | no path | prepare ms a map |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
";

/// Parts of the queries that a mean over all of them hides: a name, and which numbers of a map's queries.
const SUBSETS: [(&str, fn(&MapResult, usize) -> Vec<usize>); 3] = [
    ("slowest tenth of each map", slowest_tenth),
    ("1 to 8 µs", small),
    ("really mixed maps", of_mixed_map),
];

/// Returns all tables of the results; `names` are the searchers', in the order of the lanes.
pub fn tables(results: &[MapResult], names: &[&str]) -> String {
    let all: Vec<Part> = results.iter().map(Part::whole).collect();
    let mut families: Vec<&str> = Vec::new();
    for part in &all {
        if !families.contains(&part.map.family.as_str()) {
            families.push(&part.map.family);
        }
    }
    let of = |belongs: &dyn Fn(&str) -> bool| {
        all.iter().filter(|part| belongs(&part.map.family)).cloned().collect::<Vec<_>>()
    };
    let mut text = String::new();
    for &family in &families {
        append(&mut text, family, &of(&|other| other == family), names);
    }
    if families.len() > 1 {
        append(&mut text, "games", &of(&|family| GAMES.contains(&family)), names);
        append(&mut text, "all", &all, names);
    }
    if let Some(lane) = names.iter().position(|&name| name == YARDSTICK) {
        for (title, queries) in SUBSETS {
            let parts = results.iter().map(|map| Part { map, queries: queries(map, lane) });
            let parts: Vec<Part> = parts.filter(|part| !part.queries.is_empty()).collect();
            append(&mut text, title, &parts, names);
        }
    }
    text
}

/// Adds a table over parts of maps, unless there are none.
fn append(text: &mut String, title: &str, parts: &[Part], names: &[&str]) {
    if parts.is_empty() {
        return;
    }
    // Writing to a string cannot fail.
    let _ = write!(text, "### {title}\n\n{HEAD}");
    for (lane, name) in names.iter().enumerate() {
        let _ = writeln!(text, "{}", Row::over(parts, lane).line(name));
    }
    text.push('\n');
}

/// Some queries of a map.
#[derive(Clone)]
struct Part<'a> {
    map: &'a MapResult,
    queries: Vec<usize>,
}

impl<'a> Part<'a> {
    fn whole(map: &'a MapResult) -> Self {
        let count = map.lanes.first().map_or(0, |lane| lane.micros.len());
        Self { map, queries: (0..count).collect() }
    }

    fn micros(&self, lane: usize) -> impl Iterator<Item = f64> + '_ {
        let lane = self.map.lanes.get(lane);
        self.queries.iter().filter_map(move |&query| lane?.micros.get(query).copied())
    }
}

fn slowest_tenth(map: &MapResult, yardstick: usize) -> Vec<usize> {
    let micros = &map.lanes[yardstick].micros;
    let mut queries: Vec<usize> = (0..micros.len()).collect();
    queries.sort_by(|&a, &b| micros[b].total_cmp(&micros[a]));
    queries.truncate(micros.len().div_ceil(10));
    queries
}

fn small(map: &MapResult, yardstick: usize) -> Vec<usize> {
    let micros = &map.lanes[yardstick].micros;
    (0..micros.len()).filter(|&query| (1.0..=8.0).contains(&micros[query])).collect()
}

fn of_mixed_map(map: &MapResult, _yardstick: usize) -> Vec<usize> {
    if map.mixed_share >= REALLY_MIXED { Part::whole(map).queries } else { Vec::new() }
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
    fn over(parts: &[Part], lane: usize) -> Self {
        let mut micros: Vec<f64> = parts.iter().flat_map(|part| part.micros(lane)).collect();
        micros.sort_by(f64::total_cmp);
        let logs = parts.iter().filter_map(|part| {
            let ratio = part.micros(0).sum::<f64>() / part.micros(lane).sum::<f64>();
            ratio.is_normal().then(|| ratio.ln())
        });
        let lanes: Vec<&Lane> = parts.iter().filter_map(|part| part.map.lanes.get(lane)).collect();
        let tallies = parts.iter().filter_map(|part| {
            let tallies = &part.map.lanes.get(lane)?.tallies;
            Some(part.queries.iter().filter_map(|&query| tallies.get(query)))
        });
        Self {
            maps: parts.len(),
            micros,
            tally: tallies.flatten().fold(Tally::default(), |sum, tally| sum.plus(tally)),
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

    fn map(family: &str, times: &[[f64; 2]], mixed_share: f64) -> MapResult {
        let lane = |i: usize| Lane {
            micros: times.iter().map(|times| times[i]).collect(),
            tallies: vec![Tally { paths: 1, ..Tally::default() }; times.len()],
            ..Lane::default()
        };
        let (map, lanes) = ("map".into(), vec![lane(0), lane(1)]);
        MapResult { family: family.into(), map, mixed_share, lanes }
    }

    #[test]
    fn the_speed_up_is_a_geometric_mean_over_maps() {
        let maps = [map("dao", &[[80.0, 10.0]], 0.0), map("dao", &[[4.0, 2.0]], 0.0)];
        let parts: Vec<Part> = maps.iter().map(Part::whole).collect();
        let row = Row::over(&parts, 1);
        assert!((row.speed_up - 4.0).abs() < 1e-9);
        assert_eq!((row.maps, row.micros.len(), row.tally.paths), (2, 2, 2));
    }

    #[test]
    fn games_and_hard_subsets_get_tables_of_their_own() {
        let maps = [
            map("dao", &[[1.0, 0.5], [90.0, 8.0], [900.0, 70.0]], 0.1),
            map("mazes", &[[9.0, 9.0]], 0.25),
        ];
        let text = tables(&maps, &["a", YARDSTICK]);
        let titles: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
        let subsets = ["### slowest tenth of each map", "### 1 to 8 µs", "### really mixed maps"];
        assert_eq!(titles[..4], ["### dao", "### mazes", "### games", "### all"]);
        assert_eq!(titles[4..], subsets);
        assert_eq!(slowest_tenth(&maps[0], 1), [2]);
        assert_eq!(small(&maps[0], 1), [1]);
        assert!(of_mixed_map(&maps[0], 1).is_empty());
    }
}
