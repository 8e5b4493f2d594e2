//! Reads text files.

use std::path::Path;

/// Reads a text file; the error has the line and column of a byte that is not text.
pub fn read(file: &Path) -> Result<String, String> {
    let shown = file.display();
    let bytes = std::fs::read(file).map_err(|error| format!("{shown}: {error}"))?;
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(&error.as_bytes()[..good]);
        let column = text.rsplit('\n').next().map_or(0, |line| line.chars().count());
        let (line, column) = (text.matches('\n').count() + 1, column + 1);
        format!(
            "{shown}: line {line}, column {column}: byte {:#04x} is not text",
            error.as_bytes()[good]
        )
    })
}
