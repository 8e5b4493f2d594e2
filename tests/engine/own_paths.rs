//! Units with paths of their own, in the built-in scenes of the crowd runner.
//!
//! The limits are a few percent above the ticks measured (`docs/lab/crowd.md`). With estimates along the cells of
//! the path alone, instead of its visible corners, corridors took more than 2,000 ticks, the dead end 1,186 and the
//! building 2,558.

#![allow(dead_code, reason = "the runner uses more of these modules")]

#[path = "../../examples/crowd/scenes.rs"]
mod scenes;
#[path = "../../examples/crowd/simulation.rs"]
mod simulation;

// `simulation` expects the checker beside it.
use crate::crowd_common as checker;
use simulation::Simulation;

#[test]
fn all_arrive_about_as_soon_as_along_shared_fields() {
    let limits = [
        ("corridor-0", 1_500),
        ("corridor-1", 1_500),
        ("corridor-3", 1_500),
        ("armies", 1_250),
        ("armies-mixed", 2_150),
        ("ring", 1_030),
        ("dead-end", 750),
        ("building", 1_500),
        ("sizes", 2_200),
    ];
    for (name, limit) in limits {
        let scene = scenes::scene(name).expect("the scene is built in");
        let mut simulation = Simulation::new(scene, true).expect("the scene is valid");
        while !simulation.is_over() {
            simulation.tick().expect("the scene is valid");
        }
        assert!(simulation.checker.faults.is_clean(), "{name}: {:?}", simulation.checker.first);
        assert_eq!(simulation.arrived(), simulation.ids.len(), "{name}: all arrive");
        let ticks = simulation.crowd.now();
        assert!(ticks <= limit, "{name}: {ticks} ticks, at most {limit}");
    }
}
