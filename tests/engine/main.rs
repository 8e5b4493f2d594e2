//! The pure engine (`bevy_tilepath::nav`) without an app: grids, searches, queue, formations, crowds.

#![allow(clippy::unwrap_used, reason = "a test whose setup fails should fail")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../crowd_common/mod.rs"]
mod crowd_common;
#[path = "../queue_common/mod.rs"]
mod queue_common;

mod checked_crowd;
mod crowd;
mod crowd_at_rest;
mod crowd_edges;
mod crowd_fuzz;
mod crowd_goals;
mod crowd_removals;
mod drawings;
mod edges;
mod formation;
mod full_worlds;
mod goals;
mod golden_counts;
mod grid;
mod hexagons;
mod house_rules;
mod landmarks;
mod large_units;
mod moving_ai;
mod nav_field;
mod nav_long_paths;
mod nav_search;
mod own_paths;
mod promises;
mod queue;
mod queue_classes;
mod queue_fields;
mod queue_rally;
mod range;
mod sizes;
mod straight_lines;
