//! Rules of the house that a compiler does not check.

use std::{fs, path::Path as FilePath};

/// Every Rust file below a folder.
fn sources(folder: &FilePath) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
        }
    }
    files
}

fn src() -> std::path::PathBuf {
    FilePath::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The pure layer knows no ECS, no clock, no log, no randomness and no hash order.
#[test]
fn the_pure_layer_stays_pure() {
    let files = sources(&src().join("nav"));
    assert!(files.len() > 15, "the pure layer was not found");
    for (name, text) in files {
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for banned in [
                "bevy::prelude",
                "bevy::ecs",
                "bevy::app",
                "bevy_ecs",
                "Instant",
                "SystemTime",
                "HashMap",
                "HashSet",
                "println!",
                "eprintln!",
                "tracing::",
                "rand::",
                "f32",
            ] {
                // Not as the end of a longer name, as in `Errand::`.
                let begins = |(at, _): (usize, _)| {
                    !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_')
                };
                let is_used = line.match_indices(banned).any(begins);
                assert!(!is_used, "{name}: {banned} in the pure layer: {line}");
            }
            let bevy = line.contains("bevy::");
            assert!(!bevy || line.contains("bevy::reflect"), "{name}: {line}");
        }
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    for (name, text) in sources(&src()) {
        assert!(text.starts_with("//! "), "{name} does not open with a //! line");
    }
}

/// The code in the README is the example, which is compiled.
#[test]
fn the_readme_shows_the_minimal_example() {
    let root = FilePath::new(env!("CARGO_MANIFEST_DIR"));
    let example = fs::read_to_string(root.join("examples/minimal.rs")).unwrap();
    assert!(example.lines().count() < 60);
    let (_, code) = example.split_once("\n\n").unwrap();
    let code = &code[code.find("use bevy").unwrap()..];
    assert!(fs::read_to_string(root.join("README.md")).unwrap().contains(code.trim_end()));
}

#[test]
fn files_stay_short() {
    for (name, text) in sources(&src()) {
        let code = text.split("#[cfg(test)]").next().unwrap();
        assert!(code.lines().count() <= 450, "{name} has {} lines", code.lines().count());
    }
}
