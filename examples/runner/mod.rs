//! Shared code of the headless runners: reading maps and scenarios, sampling, JSON output.
//!
//! Input: files and command-line values. Output: grids, scenario rows, and one JSON line.

#![allow(dead_code, reason = "each runner uses a part of it")]

#[path = "text.rs"]
mod text;

use std::{
    fmt::Display,
    fs::File,
    io::{BufWriter, Write},
    path::{Path as FilePath, PathBuf},
    process::ExitCode,
};

use bevy_tilepath::{
    nav::moving_ai::{ScenarioRow, read_map, read_scenario},
    prelude::*,
};

/// An error is one line for standard error.
pub type Outcome<T> = Result<T, String>;

/// Runs `main` and turns its error into a line and exit status 1.
pub fn report(main: impl FnOnce() -> Outcome<()>) -> ExitCode {
    match main() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Reads a map file, for one profile.
pub fn load_map(file: &FilePath, profile: Profile) -> Outcome<NavGrid> {
    let text = text::read(file)?;
    let grid = read_map(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(grid.with_profiles(vec![profile]))
}

/// Reads the rows of a scenario file for this map, in file order.
pub fn load_scenario(file: &FilePath, grid: &NavGrid) -> Outcome<Vec<ScenarioRow>> {
    let shown = file.display();
    let rows = read_scenario(&text::read(file)?).map_err(|error| format!("{shown}: {error}"))?;
    let size = (grid.width(), grid.height());
    for ScenarioRow { line, map_size: (width, height), start, goal, .. } in &rows {
        if (*width, *height) != size {
            let (columns, rows) = size;
            return Err(format!(
                "{shown}: line {line}: for a map of {width} x {height}, not {columns} x {rows}"
            ));
        }
        if let Some(cell) = [start, goal].into_iter().find(|&&cell| !grid.contains(cell)) {
            let at = (cell.x, grid.height() as i32 - 1 - cell.y);
            return Err(format!("{shown}: line {line}: {},{} is not on the map", at.0, at.1));
        }
    }
    Ok(rows)
}

/// A file that is written while the runner works.
pub struct OutFile(PathBuf, BufWriter<File>);

impl OutFile {
    pub fn create(path: &FilePath) -> Outcome<Self> {
        let file = File::create(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path.to_owned(), BufWriter::new(file)))
    }

    pub fn write(&mut self, text: &str) -> Outcome<()> {
        let written = self.1.write_all(text.as_bytes());
        written.map_err(|error| format!("{}: {error}", self.0.display()))
    }

    pub fn finish(mut self) -> Outcome<()> {
        self.1.flush().map_err(|error| format!("{}: {error}", self.0.display()))
    }
}

/// Returns `n` rows at even intervals: rows that go nowhere are dropped, the others sorted by
/// (length, line).
pub fn sample(mut rows: Vec<ScenarioRow>, n: usize) -> Vec<ScenarioRow> {
    rows.retain(|row| row.start != row.goal);
    rows.sort_by(|a, b| a.optimal.total_cmp(&b.optimal)); // stable: lines stay in order
    let last = rows.len().saturating_sub(1);
    if rows.is_empty() {
        return rows;
    }
    (0..n).map(|i| rows[i * last / n.saturating_sub(1).max(1)]).collect()
}

/// Returns the profile called `name` on the command line.
pub fn profile(name: &str) -> Outcome<Profile> {
    match name {
        "plain" => Ok(Profile::default()),
        "weighted" => Ok([(b'.', 16), (b'G', 16), (b'S', 32), (b'W', 48), (b'T', 80)]
            .into_iter()
            .fold(Profile::new(), |profile, (letter, cost)| profile.with(TerrainId(letter), cost))),
        other => Err(format!("--profile {other}: not plain or weighted")),
    }
}

/// Returns the algorithm called `name` on the command line.
pub fn algorithm(name: &str) -> Outcome<Algorithm> {
    match name {
        "auto" => Ok(Algorithm::Auto),
        "astar" => Ok(Algorithm::AStar),
        "dijkstra" => Ok(Algorithm::Dijkstra),
        "jump-point" => Ok(Algorithm::JumpPoint),
        "hierarchical" => Ok(Algorithm::Hierarchical),
        "exact" => Ok(Algorithm::Exact),
        other => Err(format!(
            "--algorithm {other}: not auto, exact, astar, jump-point, hierarchical or dijkstra"
        )),
    }
}

/// Returns the shape of cells called `name` on the command line.
pub fn topology(name: &str) -> Outcome<Topology> {
    match name {
        "square" => Ok(Topology::Square),
        "hex" => Ok(Topology::Hexagonal),
        other => Err(format!("--topology {other}: not square or hex")),
    }
}

/// Parses the value of an option; the error names both.
pub fn number<T: std::str::FromStr>(name: &str, parser: &mut lexopt::Parser) -> Outcome<T> {
    let text = word(parser)?;
    text.parse().map_err(|_| format!("--{name} {text}: not a number in range"))
}

/// Parses the value of an option: a whole number within limits.
pub fn number_in(
    name: &str,
    limits: std::ops::RangeInclusive<usize>,
    parser: &mut lexopt::Parser,
) -> Outcome<usize> {
    let text = word(parser)?;
    text.parse().ok().filter(|number| limits.contains(number)).ok_or_else(|| {
        format!("--{name} {text}: not a whole number from {} to {}", limits.start(), limits.end())
    })
}

/// Most threads that an option may name: each is really started.
pub const MOST_THREADS: usize = 1_024;

/// Returns the value of an option as text.
pub fn word(parser: &mut lexopt::Parser) -> Outcome<String> {
    let value = parser.value().map_err(|error| error.to_string())?;
    value.into_string().map_err(|value| format!("{}: not valid text", value.display()))
}

/// Returns `value`, or an error that the option is missing.
pub fn required<T>(name: &str, value: Option<T>) -> Outcome<T> {
    value.ok_or_else(|| format!("--{name} is missing"))
}

/// Returns the value at a percentile of sorted values; 0 if there are none.
pub fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get(last * percent / 100).copied().unwrap_or(0.0)
}

/// One JSON object on one line, field by field.
#[derive(Default)]
pub struct JsonLine(String);

impl JsonLine {
    /// Adds a number.
    pub fn number(mut self, name: &str, value: impl Display) -> Self {
        self.key(name);
        self.0 += &value.to_string();
        self
    }

    /// Adds microseconds, to a tenth.
    pub fn micros(self, name: &str, value: f64) -> Self {
        self.number(name, format_args!("{value:.1}"))
    }

    /// Adds a text.
    pub fn text(mut self, name: &str, value: impl Display) -> Self {
        self.key(name);
        self.0.push('"');
        for letter in value.to_string().chars() {
            match letter {
                '"' | '\\' => self.0.extend(['\\', letter]),
                letter if letter.is_control() => self.0 += &format!("\\u{:04x}", letter as u32),
                letter => self.0.push(letter),
            }
        }
        self.0.push('"');
        self
    }

    /// Prints the line to standard output.
    pub fn print(self) {
        // The reader may have seen enough, and closed the pipe.
        let _closed = writeln!(std::io::stdout(), "{{{}}}", self.0);
    }

    fn key(&mut self, name: &str) {
        if !self.0.is_empty() {
            self.0.push(',');
        }
        self.0 += &format!("\"{name}\":");
    }
}
