//! Project rules that the compiler does not check.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path as FilePath,
};

/// Returns every Rust file below a folder, as path and text.
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

/// The pure layer uses no ECS, no clock, no log, no randomness and no hash order.
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
                // Not as the end of a longer name: `rand::` also ends `Operand::`.
                let is_word_start = |(at, _): (usize, _)| {
                    !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_')
                };
                let is_used = line.match_indices(banned).any(is_word_start);
                assert!(!is_used, "{name}: {banned} in the pure layer: {line}");
            }
            let bevy = line.contains("bevy::");
            assert!(!bevy || line.contains("bevy::reflect"), "{name}: {line}");
        }
    }
}

#[test]
fn every_file_starts_with_a_doc_comment() {
    for (name, text) in sources(&src()) {
        assert!(text.starts_with("//! "), "{name} does not start with a //! line");
    }
}

/// The first app in the README is `click_to_move`, and its tilemap that of `minimal`: both are compiled.
#[test]
fn the_readme_contains_the_first_examples() {
    let root = FilePath::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap();
    let (readme, app, map) =
        (read("README.md"), read("examples/click_to_move.rs"), read("examples/minimal.rs"));
    let code = &app[app.find("use bevy").unwrap()..];
    assert!(code.lines().count() < 60);
    assert!(readme.contains(code.trim_end()));
    assert!(readme.contains(map[map.find("fn spawn_level").unwrap()..].trim_end()));
}

#[test]
fn files_stay_short() {
    for (name, text) in sources(&src()) {
        let code = text.split("#[cfg(test)]").next().unwrap();
        assert!(code.lines().count() <= 450, "{name} has {} lines", code.lines().count());
    }
}

/// One module decides what becomes of a request: no other file writes `PathStatus` or triggers its events.
#[test]
fn the_outcome_of_a_request_has_one_owner() {
    for (name, text) in sources(&src()) {
        let code: String = code_lines(&text).collect();
        let writes = code.contains("status = PathStatus::");
        let events = ["PathFound", "PathFailed", "PathCanceled", "PathInvalidated", "Arrived"];
        let triggers = events.iter().any(|event| code.contains(&format!("trigger({event} {{")));
        let is_owner = name.contains("/request/outcome");
        assert!(!writes && !triggers || is_owner, "{name} decides what becomes of a request");
    }
}

fn code_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with("//"))
}

/// The first names of all paths that begin with `prefix`, as in `crate::{a::b, c}`: a and c.
fn names_after(text: &str, prefix: &str) -> BTreeSet<String> {
    let code: String = code_lines(text).flat_map(|line| [line, "\n"]).collect();
    let code = code.split("#[cfg(test)]").next().unwrap();
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices(prefix) {
        let rest = &code[at + prefix.len()..];
        let (mut depth, mut name) = (0, String::new());
        for letter in rest.chars() {
            match letter {
                '{' => depth += 1,
                '}' if depth <= 1 => break,
                '}' => depth -= 1,
                _ if depth > 1 => {}
                ',' | ':' if !name.is_empty() => {
                    names.insert(std::mem::take(&mut name));
                    if depth == 0 {
                        break;
                    }
                    name.push(if letter == ',' { ' ' } else { '/' });
                }
                ',' => name.clear(),
                _ if name.starts_with('/') => {}
                _ if letter.is_alphanumeric() || letter == '_' => {
                    name = name.trim().to_owned();
                    name.push(letter);
                }
                _ if depth == 0 => break,
                _ => {}
            }
        }
        names.insert(name.trim().to_owned());
    }
    names.retain(|name| !name.is_empty() && !name.starts_with('/'));
    names
}

/// A circle among these imports, if there is one.
fn circle(imports: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    let mut left = imports.clone();
    loop {
        let known: BTreeSet<String> = left.keys().cloned().collect();
        let before = left.len();
        left.retain(|_, names| names.intersection(&known).next().is_some());
        if left.is_empty() {
            return None;
        }
        if left.len() == before {
            return Some(left.into_keys().collect());
        }
    }
}

/// Rooms of `src` import each other in one direction, and so do the files of the queue and of movement.
#[test]
fn imports_have_no_circles() {
    let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, text) in sources(&src()) {
        let name = name.split("/src/").last().unwrap();
        let room = name.split('/').next().unwrap().trim_end_matches(".rs").to_owned();
        let mut names = names_after(&text, "crate::");
        names.remove(&room);
        rooms.entry(room).or_default().extend(names);
    }
    assert!(rooms.len() > 15 && rooms["crowds"].contains("unit"), "{rooms:?}");
    assert_eq!(circle(&rooms), None, "{rooms:?}");
    for room in ["nav/queue", "movement", "request", "crowds", "group"] {
        let mut files: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (name, text) in sources(&src().join(room)) {
            let name = name.split('/').next_back().unwrap().trim_end_matches(".rs").to_owned();
            files.insert(name, names_after(&text, "super::"));
        }
        assert!(files.len() > 1, "{room} was not found");
        assert_eq!(circle(&files), None, "{room}: {files:?}");
    }
}

/// The rooms of the crowd import each other in one direction, and each has its own state: the methods of `Crowd` itself
/// are beside the rooms, not in them.
#[test]
fn rooms_of_the_crowd_have_no_circles() {
    let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, text) in sources(&src().join("nav/crowd")) {
        let name = name.split("/nav/crowd/").last().unwrap();
        let (room, is_inside) = match name.split_once('/') {
            Some((room, _)) => (room, true),
            None => (name.trim_end_matches(".rs"), false),
        };
        let mut names = names_after(&text, "nav::crowd::");
        if !is_inside {
            names.extend(names_after(&text, "super::"));
        }
        assert!(!is_inside || !text.contains("impl Crowd "), "{name} has methods of Crowd");
        names.remove(room);
        rooms.entry(room.to_owned()).or_default().extend(names);
    }
    assert!(rooms["planner"].contains("scene") && rooms["scene"].contains("board"), "{rooms:?}");
    assert_eq!(circle(&rooms), None, "{rooms:?}");
}
