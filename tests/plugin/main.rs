//! The plugin in headless apps: requests, orders, groups, crowds, tile maps, edits, hostile storms.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../crowd_common/mod.rs"]
mod crowd_common;
#[path = "../crowd_common/watch.rs"]
mod watch;

mod allocations;
mod crowds;
mod crowds_edits;
mod crowds_frames;
mod crowds_ghosts;
mod crowds_groups;
mod crowds_places;
mod crowds_soak;
mod crowds_ways;
mod determinism;
mod fallbacks;
mod flood;
mod flow;
mod follow;
mod goals;
mod groups;
mod groups_everywhere;
mod long_orders;
mod movement;
mod orders;
mod promises;
mod requests;
mod storms;
mod straight;
mod tilemap;
mod unit_sizes;
