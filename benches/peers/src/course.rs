//! Maps with their queries.
//!
//! Input: folders or files named on the command line. Output: a [`Course`] for each map: its board and
//! the sampled rows of its scenario. The sampling rule: drop rows of length zero, sort by length and
//! line, take rows `i · (m − 1) / (n − 1)` for `i` in `0..n` (all of them if there are at most `n`).

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use bevy_tilepath::nav::moving_ai::{ScenarioRow, read_scenario};

use crate::{
    board::{Board, Rule},
    options::Options,
};

/// The files of one map.
pub struct CourseFiles {
    family: String,
    map: PathBuf,
    scenario: PathBuf,
}

/// A map and its queries.
pub struct Course {
    /// Folder the map is from.
    pub family: String,
    /// Name of the map without its extension.
    pub map: String,
    /// The map.
    pub board: Board,
    /// The queries, shortest first.
    pub rows: Vec<ScenarioRow>,
}

/// Returns the maps that the options select, by family and name.
pub fn list(options: &Options) -> Result<Vec<CourseFiles>, String> {
    if let Some((map, scenario)) = options.single() {
        let files =
            CourseFiles { family: "one map".into(), map: map.into(), scenario: scenario.into() };
        return Ok(vec![files]);
    }
    let data = options.data()?;
    let mut families = options.families.clone();
    if families.is_empty() {
        let folders = entries(&data)?.into_iter().filter(|path| path.is_dir());
        families = folders.map(|folder| text(folder.file_name())).collect();
    }
    let mut courses = Vec::new();
    for family in &families {
        for map in entries(&data.join(family))? {
            if map.extension().is_some_and(|ending| ending == "map") {
                let scenario = map.with_extension("map.scen");
                courses.push(CourseFiles { family: family.clone(), map, scenario });
            }
        }
    }
    if courses.is_empty() {
        return Err(format!("no .map files under {}", data.display()));
    }
    Ok(courses)
}

impl CourseFiles {
    /// Reads both files and samples up to `count` queries.
    pub fn load(&self, rule: Rule, count: usize) -> Result<Course, String> {
        let board = Board::read(&read(&self.map)?, rule)
            .map_err(|error| format!("{}: {error}", self.map.display()))?;
        let rows = read_scenario(&read(&self.scenario)?)
            .map_err(|error| format!("{}: {error}", self.scenario.display()))?;
        let rows = sample(rows, count);
        let free = |row: &ScenarioRow| {
            board.is_free(row.start.x, row.start.y) && board.is_free(row.goal.x, row.goal.y)
        };
        if let Some(row) = rows.iter().find(|row| !free(row)) {
            let (start, goal) = (row.start, row.goal);
            let file = self.scenario.display();
            return Err(format!("{file}: nobody can stand at both ends of {start} to {goal}"));
        }
        Ok(Course { family: self.family.clone(), map: text(self.map.file_stem()), board, rows })
    }
}

/// Returns rows at even intervals over all lengths.
fn sample(mut rows: Vec<ScenarioRow>, count: usize) -> Vec<ScenarioRow> {
    rows.retain(|row| row.optimal > 0.0);
    // A stable sort: equal lengths keep the order of lines.
    rows.sort_by(|a, b| a.optimal.total_cmp(&b.optimal));
    let last = rows.len().saturating_sub(1);
    if rows.len() <= count {
        return rows;
    }
    (0..count).map(|i| rows[i * last / count.saturating_sub(1).max(1)]).collect()
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns the entries of a folder, by name.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut paths = entries
        .map(|entry| Ok(entry.map_err(failed)?.path()))
        .collect::<Result<Vec<_>, String>>()?;
    paths.sort();
    Ok(paths)
}

fn text(name: Option<&OsStr>) -> String {
    name.unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use bevy_tilepath::prelude::Cell;

    use super::*;

    fn row(optimal: f64) -> ScenarioRow {
        let (start, goal) = (Cell::new(0, 0), Cell::new(1, 0));
        ScenarioRow { line: 2, bucket: 0, map_size: (2, 1), start, goal, optimal }
    }

    #[test]
    fn samples_are_spread_from_shortest_to_longest() {
        let rows = (0..11).rev().map(|i| row(f64::from(i))).collect();
        let lengths: Vec<f64> = sample(rows, 4).iter().map(|row| row.optimal).collect();
        assert_eq!(lengths, [1.0, 4.0, 7.0, 10.0]);
    }

    #[test]
    fn a_short_scenario_is_taken_whole() {
        assert_eq!(sample(vec![row(2.0), row(0.0), row(1.0)], 100).len(), 2);
        assert_eq!(sample(vec![row(2.0), row(3.0), row(1.0)], 1).len(), 1);
    }
}
