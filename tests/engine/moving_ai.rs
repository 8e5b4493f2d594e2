//! Map and scenario files: valid ones, broken ones, and the benchmark's where they are available.

use bevy_tilepath::{
    nav::moving_ai::{FileError, read_map, read_scenario},
    prelude::*,
};

const MAP: &str = "type octile\nheight 2\nwidth 3\nmap\n.@T\nGSW\n";

#[test]
fn the_last_line_is_row_0() {
    let grid = read_map(MAP).unwrap();
    let terrain = |x, y| grid.terrain(Cell::new(x, y)).map(|id| char::from(id.0));
    assert_eq!((grid.width(), grid.height()), (3, 2));
    assert_eq!((terrain(0, 0), terrain(2, 0), terrain(0, 1)), (Some('G'), Some('W'), Some('.')));
}

#[test]
fn windows_line_ends_and_a_missing_last_line_end_are_accepted() {
    let windows = MAP.replace('\n', "\r\n");
    assert_eq!(read_map(&windows).unwrap().terrain(Cell::new(2, 0)), Some(TerrainId(b'W')));
    assert!(read_map(MAP.trim_end()).is_ok());
}

#[test]
fn broken_maps_are_refused_with_line_and_column() {
    for (map, message) in [
        ("", "line 1: the file ends where type should come"),
        ("type octile\n", "line 2: the file ends where height should come"),
        (
            "type octile\nheight 1\nwidth 3\nmap x\n...\n",
            "line 4: expected nothing behind map, found \"x\"",
        ),
        ("type tile\n", "line 1: expected octile, found \"tile\""),
        ("typeoctile\n", "line 1: expected type, found \"typeoctile\""),
        ("type octile\nheight x\n", "line 2: expected height, found \"x\""),
        ("type octile\nwidth 3\n", "line 2: expected height, found \"width 3\""),
        (
            "type octile\nheight 0\nwidth 3\nmap\n",
            "line 3: a grid of 3 × 0 cells: each side must be 1 to 16384",
        ),
        (
            "type octile\nheight 2\nwidth 3\nmap\n...\n",
            "line 6: the file ends where a map row should come",
        ),
        (
            "type octile\nheight 1\nwidth 3\nmap\n..\n",
            "line 5, column 3: 2 letters where the header promises 3",
        ),
        (
            "type octile\nheight 1\nwidth 3\nmap\n.....\n",
            "line 5, column 4: 5 letters where the header promises 3",
        ),
        (
            "type octile\nheight 1\nwidth 3\nmap\n...\n...\n",
            "line 6: more than the 1 rows the header promises",
        ),
        (
            "type octile\nheight 1\nwidth 3\nmap\n.x.\n",
            "line 5, column 2: 'x' is no terrain letter",
        ),
        (
            "type octile\nheight 99999\nwidth 99999\nmap\n",
            "line 3: a grid of 99999 × 99999 cells: each side must be 1 to 16384",
        ),
    ] {
        assert_eq!(read_map(map).unwrap_err().to_string(), message, "for {map:?}");
    }
}

#[test]
fn scenarios_are_flipped_to_the_rows_of_the_grid() {
    let rows = read_scenario("version 1\n4\ta.map\t3\t2\t0\t0\t2\t1\t2.41\n").unwrap();
    assert_eq!((rows[0].start, rows[0].goal), (Cell::new(0, 1), Cell::new(2, 0)));
    assert_eq!((rows[0].line, rows[0].bucket, rows[0].map_size), (2, 4, (3, 2)));
}

#[test]
fn broken_scenarios_are_refused_with_their_line() {
    for (text, message) in [
        ("", "line 1: the file ends where the version line should come"),
        ("version 9\n", "line 1: expected version 1, found \"version 9\""),
        ("version 1\n0 a 3 2 0 0 2\n", "line 2: goal y is \"\""),
        ("version 1\n0 a 3 2 0 zero 2 1 2.4\n", "line 2: start y is \"zero\""),
        ("version 1\n0 a 3 2 0 0 2 1 NaN\n", "line 2: optimal length is \"NaN\""),
        ("version 1\n0 a 3 -2 0 0 2 1 2.4\n", "line 2: map height is \"-2\""),
        ("version 1\n0 a 3 2 0 0 2 1 2.4 5\n", "line 2: a tenth column is \"5\""),
    ] {
        assert_eq!(read_scenario(text).unwrap_err().to_string(), message, "for {text:?}");
    }
    assert!(matches!(read_scenario("version 1\n\n"), Ok(rows) if rows.is_empty()));
    let _typed: FileError = read_map("").unwrap_err();
}

/// The maps of the examples have the documented sizes.
#[test]
fn the_maps_of_the_example_can_be_read_and_have_regions() {
    for (name, side) in [("islands", 256), ("city", 192), ("wilderness", 512)] {
        let root = env!("CARGO_MANIFEST_DIR");
        let text = std::fs::read_to_string(format!("{root}/assets/maps/{name}.map")).unwrap();
        let grid = read_map(&text).unwrap();
        assert_eq!((grid.width(), grid.height()), (side, side));
        assert!(grid.layer(ProfileId(0)).unwrap().region_count() > 0);
    }
}

/// Costs on the benchmark's maps, where they are beside the checkout.
#[test]
fn paths_on_benchmark_maps_have_the_optimal_length() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/movingai");
    for map in ["dao/arena", "dao/den312d", "da2/ht_chantry"] {
        let Ok(text) = std::fs::read_to_string(format!("{data}/{map}.map")) else {
            eprintln!("{map} is not available: skipped");
            continue;
        };
        let grid = read_map(&text).unwrap();
        let scenario = std::fs::read_to_string(format!("{data}/{map}.map.scen")).unwrap();
        for row in read_scenario(&scenario).unwrap().iter().step_by(7) {
            let path = grid.find_path(ProfileId(0), row.start, row.goal).unwrap();
            let length = path.cost().in_plain_steps();
            assert!((length - row.optimal).abs() <= row.optimal * 1e-4 + 0.01, "{row:?}: {length}");
        }
    }
}
