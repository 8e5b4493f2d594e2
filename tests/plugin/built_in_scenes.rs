//! The built-in scenes of the crowd runner through the plugin, under the outside checker.
//!
//! The limits are a few percent above the ticks measured (`docs/lab/crowd.md`). A run changes by a few percent with
//! any change of the crowd, so the limits of scenes that vary most leave more room.

#![allow(dead_code, reason = "the runner uses more of these modules")]

#[path = "../../examples/crowd/app.rs"]
mod app;
#[path = "../../examples/runner/hexagons.rs"]
mod hexagons;
#[path = "../../examples/crowd/record.rs"]
mod record;
#[path = "../../examples/crowd/scenes.rs"]
mod scenes;
#[path = "../../examples/crowd/variants.rs"]
mod variants;

use crate::crowd_common as checker;
use app::AppSimulation;
use bevy_tilepath::prelude::*;
use scenes::Scene;

/// Ticks after the last arrival after which units stand on their goals, those that were pushed off them, too.
const REST: u64 = 3_000;
/// Ticks after the last arrival in which units with orders of their own may still walk, as docs/crowds.md says.
const RESTLESS: u64 = 2_100;
/// The same for groups.
const RESTLESS_GROUPS: u64 = 2_600;

/// Runs a scene until all units have arrived; they must within `limit` ticks, and walk at most `detour` percent of
/// their shortest paths.
fn judge(name: &str, as_groups: bool, limit: u64, detour: f64) {
    judge_scene(name, scenes::scene(name), as_groups, limit, detour);
}

/// The same for a variant of a scene, with an order for each unit.
fn judge_variant(name: &str, variant: &str, limit: u64, detour: f64) {
    let scene = scenes::scene(name).and_then(|scene| variants::vary(scene, variant));
    judge_scene(&format!("{name}, {variant}"), scene, false, limit, detour);
}

fn judge_scene(name: &str, scene: Option<Scene>, as_groups: bool, limit: u64, detour: f64) {
    let scene = scene.expect("the scene is built in");
    let app = crate::common::app::app();
    let mut run = AppSimulation::new(app, scene, as_groups).expect("the scene is valid");
    while !run.record.is_over(&run.scene) {
        run.tick().expect("the scene is valid");
    }
    let checker = &run.record.checker;
    assert!(checker.faults.is_clean(), "{name}: {:?}", checker.first);
    assert_eq!(run.record.arrived(), run.scene.starts.len(), "{name}: all arrive");
    assert!(run.record.ticks <= limit, "{name}: {} ticks, at most {limit}", run.record.ticks);
    let detours = run.record.detours(&run.scene, run.is_group);
    let mean = detours.iter().sum::<f64>() * 100.0 / detours.len() as f64;
    assert!(mean <= detour, "{name}: walked {mean:.0} %, at most {detour} %");
    let last_arrival = run.record.ticks;
    for _ in 0..REST {
        run.tick().expect("the scene is valid");
    }
    let off_goal = run.record.off_goal(&run.scene, run.is_group);
    let most = most_off_goal(&run.scene);
    assert!(off_goal <= most, "{name}: {off_goal} do not rest on their goals, at most {most}");
    let walked = run.record.last_step.saturating_sub(last_arrival);
    let limit = if as_groups { RESTLESS_GROUPS } else { RESTLESS };
    assert!(
        most > 0 || walked <= limit,
        "{name}: a unit walks {walked} ticks after the last arrival"
    );
}

/// How many units of a scene may then stand beside their goals: none; 3 where units have several sizes.
fn most_off_goal(scene: &Scene) -> usize {
    let profile = |start: &scenes::Start| start.settings.profile;
    let has_one_size = scene.starts.windows(2).all(|pair| profile(&pair[0]) == profile(&pair[1]));
    if has_one_size { 0 } else { 3 }
}

#[test]
fn two_columns_meet_in_a_corridor() {
    judge("corridor-0", false, 1_500, 130.0);
    judge("corridor-3", false, 1_500, 130.0);
}

#[test]
fn armies_change_sides() {
    judge("armies", false, 1_250, 130.0);
}

/// Units were carried back with those that walk towards them abreast: 1,644 ticks.
#[test]
fn armies_that_are_transposed_or_mirrored_take_no_longer() {
    judge_variant("armies", "transposed", 1_250, 130.0);
    judge_variant("armies", "mirrored", 1_250, 130.0);
}

#[test]
fn armies_of_mixed_speeds_change_sides() {
    judge("armies-mixed", false, 2_100, 130.0);
}

#[test]
fn a_ring_changes_sides() {
    judge("ring", false, 1_010, 115.0);
}

#[test]
fn a_dead_end_is_left_and_entered() {
    judge("dead-end", false, 750, 130.0);
}

#[test]
fn a_building_is_put_up_across_walking_units() {
    judge("building", false, 1_450, 130.0);
}

#[test]
fn units_of_two_sizes_cross_each_other() {
    judge("sizes", false, 1_500, 145.0);
}

#[test]
fn four_hundred_gather_from_one_side() {
    judge("blob-side", false, 900, 115.0);
    judge("blob-side", true, 900, 115.0);
}

#[test]
fn four_hundred_gather_from_all_sides() {
    judge("blob-all", false, 530, 115.0);
    judge("blob-all", true, 500, 115.0);
}

#[test]
fn five_hundred_pass_a_doorway_of_two_cells() {
    judge("doorway-2", false, 3_150, 130.0);
    judge("doorway-2", true, 2_900, 130.0);
}

/// Before diagonal steps cost more there, this took 4,537 ticks, and units walked 221 %.
#[test]
fn two_crowds_pass_a_gate_of_three_cells_in_both_directions() {
    let mut scene = scenes::scene("doorway-2").expect("the scene is built in");
    let third = scene.grid.set_terrain(Cell::new(42, 22), TerrainId::GROUND);
    third.expect("the cell lies on the grid");
    let sides = |i: i32| [(8 + i % 25, 15 + i / 25), (52 + i % 25, 15 + i / 25)];
    let cells = (0..250).map(|i| sides(i).map(|(x, y)| Cell::new(x, y)));
    let settings = scene.starts[0].settings;
    let pairs = cells.flat_map(|[left, right]| [(left, right), (right, left)]);
    scene.starts = pairs.map(|(cell, goal)| scenes::Start { cell, goal, settings }).collect();
    scene.is_group = false;
    judge_scene("gate of three cells", Some(scene), false, 3_600, 200.0);
}

/// Scenes with every other row shifted by half a cell: distances between units are checked with discs of 0.43 cells.
#[test]
fn on_hexagons_all_arrive_too() {
    judge_variant("corridor-0", "hexagons", 1_400, 130.0);
    judge_variant("corridor-3", "hexagons", 1_400, 130.0);
    judge_variant("armies", "hexagons", 1_400, 130.0);
    judge_variant("ring", "hexagons", 1_010, 115.0);
    judge_variant("dead-end", "hexagons", 750, 130.0);
    judge_variant("building", "hexagons", 1_690, 130.0);
    judge_variant("blob-all", "hexagons", 600, 115.0);
}

#[test]
fn groups_gather_on_hexagons_and_pass_doorways() {
    let scene = |name| scenes::scene(name).and_then(|scene| variants::vary(scene, "hexagons"));
    judge_scene("blob-side", scene("blob-side"), true, 1_080, 120.0);
    judge_scene("blob-all", scene("blob-all"), true, 620, 120.0);
    judge_scene("doorway-2", scene("doorway-2"), true, 2_900, 115.0);
}

/// Units that waited went round and round before the doorway, to cells as far from it as their own: 218 % of the shortest path.
#[test]
fn on_hexagons_units_stand_in_a_queue_before_a_doorway() {
    judge_variant("doorway-2", "hexagons", 3_300, 130.0);
}
