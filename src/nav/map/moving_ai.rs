//! The text formats of the Moving AI Lab: `.map` files and `.scen` scenarios.
//!
//! Input: the text of a file. Output: a [`NavGrid`] whose terrain ids are the map's letters, or the rows of a
//! scenario. Files count rows from the top, cells from the bottom: both readers flip `y`. Source: N.
//! Sturtevant, "Benchmarks for Grid-Based Pathfinding" (IEEE TCIAIG 4(2), 2012),
//! <https://movingai.com/benchmarks/formats.html>.

use crate::nav::{
    Cell, NavGrid,
    grid::{GridError, check_size},
};

/// Error in a file, with its location (lines and columns count from 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileError {
    /// The file ends before the expected content.
    Ends {
        /// Number of the line that is missing.
        line: usize,
        /// What was expected next.
        expected: &'static str,
    },
    /// A header line differs from the expected one.
    Header {
        /// Line number.
        line: usize,
        /// What was expected.
        expected: &'static str,
        /// What was found.
        found: String,
    },
    /// A map row does not have the length given in the header.
    RowLength {
        /// Line number.
        line: usize,
        /// Letters according to the header.
        expected: u32,
        /// Letters found.
        found: usize,
    },
    /// There are more map rows than given in the header.
    TooManyRows {
        /// Line number of the first extra row.
        line: usize,
        /// Rows according to the header.
        expected: u32,
    },
    /// A letter that the format does not define.
    Letter {
        /// Line number.
        line: usize,
        /// Column number.
        column: usize,
        /// The letter.
        found: char,
    },
    /// A scenario row lacks a column or has a value that is not a number.
    Field {
        /// Line number.
        line: usize,
        /// Name of the column.
        name: &'static str,
        /// What was found.
        found: String,
    },
    /// The size in the header is not valid for a grid.
    Grid {
        /// Number of the last line of the header that is about the size.
        line: usize,
        /// What is wrong with the size.
        error: GridError,
    },
}

impl core::fmt::Display for FileError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Ends { line, expected } => {
                write!(f, "line {line}: the file ends where {expected} should come")
            }
            Self::Header { line, expected, found } => {
                write!(f, "line {line}: expected {expected}, found {found:?}")
            }
            Self::RowLength { line, expected, found } => {
                write!(
                    f,
                    "line {line}, column {}: {found} letters where the header promises {expected}",
                    found.min(&(*expected as usize)) + 1
                )
            }
            Self::TooManyRows { line, expected } => {
                write!(f, "line {line}: more than the {expected} rows the header promises")
            }
            Self::Letter { line, column, found } => {
                write!(f, "line {line}, column {column}: {found:?} is no terrain letter")
            }
            Self::Field { line, name, found } => write!(f, "line {line}: {name} is {found:?}"),
            Self::Grid { line, error } => write!(f, "line {line}: {error}"),
        }
    }
}

impl core::error::Error for FileError {}

/// Reads a `.map` file into a grid with its origin at (0, 0); the last line of the file is row 0.
///
/// # Errors
/// The error in the file, with line and column.
pub fn read_map(text: &str) -> Result<NavGrid, FileError> {
    let mut lines = text.lines().enumerate();
    let kind = header(&mut lines, 1, "type")?;
    if kind != "octile" {
        return Err(FileError::Header { line: 1, expected: "octile", found: kind.into() });
    }
    let height = size(&mut lines, 2, "height")?;
    let width = size(&mut lines, 3, "width")?;
    let more = header(&mut lines, HEADER_LINES, "map")?;
    if !more.is_empty() {
        let expected = "nothing behind map";
        return Err(FileError::Header { line: HEADER_LINES, expected, found: more.into() });
    }
    let in_grid = |error| FileError::Grid { line: 3, error };
    check_size(width, height).map_err(in_grid)?;
    let mut terrain = vec![0; width as usize * height as usize];
    for (index, row) in terrain.chunks_exact_mut(width as usize).rev().enumerate() {
        let line = HEADER_LINES + index + 1;
        let (_, text) = lines.next().ok_or(FileError::Ends { line, expected: "a map row" })?;
        read_row(line, text, row)?;
    }
    match lines.find(|(_, line)| !line.trim().is_empty()) {
        Some((number, _)) => Err(FileError::TooManyRows { line: number + 1, expected: height }),
        None => NavGrid::from_terrain(width, height, terrain).map_err(in_grid),
    }
}

/// One row of a scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScenarioRow {
    /// Line of the file, counted from 1.
    pub line: usize,
    /// Bucket of the row, by path length.
    pub bucket: u32,
    /// Size of the map of the row, width and height in cells.
    pub map_size: (u32, u32),
    /// Start cell.
    pub start: Cell,
    /// Goal cell.
    pub goal: Cell,
    /// Length of a shortest path, diagonal steps counting √2.
    pub optimal: f64,
}

/// Reads a version 1 `.scen` file. Rows are converted to the cells of the grid returned by [`read_map`],
/// using the map height stated in each row.
///
/// # Errors
/// The error in the file, with its line.
pub fn read_scenario(text: &str) -> Result<Vec<ScenarioRow>, FileError> {
    let mut lines = text.lines().enumerate();
    let missing = FileError::Ends { line: 1, expected: "the version line" };
    let (_, version) = lines.next().ok_or(missing)?;
    let mut words = version.split_whitespace();
    let known = words.next() == Some("version")
        && words.next().and_then(|word| word.parse::<f64>().ok()) == Some(1.0);
    if !known {
        return Err(FileError::Header { line: 1, expected: "version 1", found: version.into() });
    }
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| read_scenario_row(number + 1, line))
        .collect()
}

type Lines<'a> = std::iter::Enumerate<std::str::Lines<'a>>;

/// Lines of a map file before its rows.
const HEADER_LINES: usize = 4;

/// Returns the rest of the next line, which is the one with this number and must begin with a word.
fn header<'a>(
    lines: &mut Lines<'a>,
    line: usize,
    word: &'static str,
) -> Result<&'a str, FileError> {
    let (_, text) = lines.next().ok_or(FileError::Ends { line, expected: word })?;
    let rest = text.trim().strip_prefix(word);
    let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace));
    let wrong = || FileError::Header { line, expected: word, found: text.into() };
    rest.map(str::trim).ok_or_else(wrong)
}

fn size(lines: &mut Lines<'_>, line: usize, word: &'static str) -> Result<u32, FileError> {
    let rest = header(lines, line, word)?;
    rest.parse().map_err(|_| FileError::Header { line, expected: word, found: rest.into() })
}

fn read_row(line: usize, text: &str, row: &mut [u8]) -> Result<(), FileError> {
    let text = text.trim_end();
    let letters = text.chars().count();
    for (column, (letter, cell)) in text.chars().zip(row.iter_mut()).enumerate() {
        if !matches!(letter, '.' | 'G' | 'S' | '@' | 'O' | 'T' | 'W') {
            return Err(FileError::Letter { line, column: column + 1, found: letter });
        }
        *cell = letter as u8;
    }
    let error = FileError::RowLength { line, expected: row.len() as u32, found: letters };
    (letters == row.len()).then_some(()).ok_or(error)
}

fn read_scenario_row(line: usize, text: &str) -> Result<ScenarioRow, FileError> {
    let mut words = text.split_whitespace();
    let bucket = field(line, "bucket", words.next())?;
    words.next(); // name of the map
    let width = field(line, "map width", words.next())?;
    let height: u16 = field(line, "map height", words.next())?;
    let (map_size, height) = ((width, height.into()), i32::from(height));
    let mut cell = |x_name, y_name| {
        let x = field(line, x_name, words.next())?;
        let y: i32 = field(line, y_name, words.next())?;
        Ok(Cell::new(x, height.saturating_sub(1).saturating_sub(y)))
    };
    let start = cell("start x", "start y")?;
    let goal = cell("goal x", "goal y")?;
    let optimal: f64 = field(line, "optimal length", words.next())?;
    if !optimal.is_finite() {
        let found = optimal.to_string();
        return Err(FileError::Field { line, name: "optimal length", found });
    }
    if let Some(more) = words.next() {
        return Err(FileError::Field { line, name: "a tenth column", found: more.into() });
    }
    Ok(ScenarioRow { line, bucket, map_size, start, goal, optimal })
}

fn field<T: std::str::FromStr>(
    line: usize,
    name: &'static str,
    word: Option<&str>,
) -> Result<T, FileError> {
    let word = word.unwrap_or("");
    word.parse().map_err(|_| FileError::Field { line, name, found: word.into() })
}
