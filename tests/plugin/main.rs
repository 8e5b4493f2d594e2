//! The plugin in headless apps: requests, orders, groups, crowds, tile maps, edits, random storms.

#![allow(clippy::unwrap_used, reason = "a test whose setup fails should fail")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../crowd_common/mod.rs"]
mod crowd_common;
#[path = "../snapshot_world/mod.rs"]
mod snapshot_world;
#[path = "../crowd_common/watch.rs"]
mod watch;

mod allocations;
mod api;
mod blockers;
mod built_in_scenes;
mod calm;
mod changes_midway;
mod crowds;
mod crowds_edits;
mod crowds_frames;
mod crowds_ghosts;
mod crowds_groups;
mod crowds_hidden;
mod crowds_paths;
mod crowds_placement;
mod crowds_soak;
mod determinism;
mod drawn;
mod drawn_changes;
mod edges;
mod fallbacks;
mod flood;
mod flow;
mod follow;
mod goals;
mod grids_swapped;
mod groups;
mod groups_everywhere;
mod groups_follow;
mod groups_mixed_ground;
mod hexagon_sizes;
mod hostile;
mod landmarks;
mod links;
mod long_orders;
mod movement;
mod needed_targets;
mod orders;
mod promises;
mod promises_orders;
mod promises_requests;
mod requests;
mod resources_replaced;
mod retries;
mod snapshot_hooks;
mod snapshots;
mod speeds;
mod start_cells;
mod steering;
mod storms;
mod storms_building;
mod straight;
mod tilemap;
mod under_observers;
mod unit_sizes;
