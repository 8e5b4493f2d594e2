//! Critters that no camera sees: drawn less often, moved in the same way.

use std::time::Duration;

use crate::common::{Random, app::*, units::*};
use bevy::{
    camera::{primitives::Aabb, visibility::ViewVisibility},
    ecs::entity_disabling::Disabled,
    prelude::*,
    time::TimeUpdateStrategy,
};
use bevy_tilepath::prelude::*;

/// Frames of four milliseconds: about four per tick.
const FRAME: Duration = Duration::from_millis(4);
/// Cells are ten units wide.
const CELL: f32 = 10.0;

fn app_in_frames() -> App {
    let mut app = app_with(&field(40, 20));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(FRAME))
        .insert_resource(CritterDrawing { skips_hidden: true });
    app
}

fn spawn_seen(app: &mut App, cell: (i32, i32), is_seen: bool) -> Entity {
    let unit = spawn_critter(app, cell);
    app.world_mut().entity_mut(unit).insert(Aabb::default());
    set_seen(app, unit, is_seen);
    unit
}

fn set_seen(app: &mut App, unit: Entity, is_seen: bool) {
    let seen = if is_seen { ViewVisibility::VISIBLE } else { ViewVisibility::HIDDEN };
    app.world_mut().entity_mut(unit).insert(seen);
}

#[test]
fn hidden_critters_are_drawn_once_a_step_and_smoothly_again_when_they_are_seen() {
    let mut app = app_in_frames();
    let units = [spawn_seen(&mut app, (2, 2), false), spawn_seen(&mut app, (2, 12), true)];
    order(&mut app, units[0], (30, 2));
    order(&mut app, units[1], (30, 12));
    let mut before = units.map(|unit| position(&app, unit));
    let mut writes = [0, 0];
    for frame in 0..400 {
        app.update();
        let now = units.map(|unit| position(&app, unit));
        for at in 0..2 {
            writes[at] += u32::from(now[at] != before[at]);
        }
        let behind = now[1].x - now[0].x;
        assert!((-0.01..=CELL).contains(&behind), "{behind} behind in frame {frame}");
        before = now;
    }
    // Eight cells a second, for 1.6 seconds.
    assert!((8..=16).contains(&writes[0]), "drawn in {} frames while hidden", writes[0]);
    assert!(writes[1] > 380, "drawn in only {} frames while seen", writes[1]);
    set_seen(&mut app, units[0], true);
    app.update();
    let behind = position(&app, units[1]).x - position(&app, units[0]).x;
    assert!(behind.abs() < 0.01, "{behind} behind although it is seen");
    set_seen(&mut app, units[0], false);
    for _ in 0..1_000 {
        app.update();
    }
    assert!(has_arrived(&app, units[0]));
    assert_eq!(position(&app, units[0]), Vec2::new(300.0, 20.0), "it stands where it is");
}

/// A critter with a picture only in its children has no `Aabb`, and is never seen itself.
#[test]
fn critters_without_a_picture_of_their_own_are_always_drawn() {
    let mut app = app_in_frames();
    let unit = spawn_critter(&mut app, (2, 2));
    set_seen(&mut app, unit, false);
    order(&mut app, unit, (30, 2));
    app.update();
    let mut before = position(&app, unit);
    for frame in 0..300 {
        app.update();
        let now = position(&app, unit);
        assert!(frame < 20 || now != before, "not drawn in frame {frame}");
        before = now;
    }
}

/// One of the things that may happen to a critter between two frames.
fn meddle(app: &mut App, units: &[Entity], random: &mut Random) {
    let unit = units[random.below(units.len() as u32) as usize];
    let cell = (random.below(40) as i32, random.below(20) as i32);
    let is_moving = app.world().get::<CritterState>(unit).is_some_and(CritterState::is_moving);
    let mut entity = app.world_mut().entity_mut(unit);
    match random.below(12) {
        0 => drop(entity.remove::<PathRequest>()),
        1 if entity.contains::<Disabled>() => drop(entity.remove::<Disabled>()),
        1 => drop(entity.insert(Disabled)),
        // (Without its critter it would stay where its transform says: that depends on whether it is seen.)
        3 => drop(entity.insert(Critter::new(8.0).ghost())),
        4 => drop(entity.insert(Critter::new(3.0 + random.below(20) as f32))),
        // Only where it stands: what is written to critters on their way does not count.
        5 if !is_moving => {
            let place = Vec3::new(cell.0 as f32 * CELL, cell.1 as f32 * CELL, 0.0);
            entity.insert(Transform::from_translation(place));
        }
        6 if random.below(8) == 0 => {
            let grid = grid_from(&field(40, 20));
            let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(CELL));
            app.world_mut().resource_mut::<NavGrids>().insert(GridId::default(), grid, frame);
        }
        7 => {
            let rect = CellRect::new(Cell::new(cell.0, cell.1), 1, 1);
            let mut grids = app.world_mut().resource_mut::<NavGrids>();
            let level = grids.get_mut(GridId::default()).unwrap();
            // Nothing may be blocked there.
            let _ = if random.below(2) == 0 { level.unblock(rect) } else { level.block(rect) };
        }
        _ => order(app, unit, cell),
    }
}

/// The checksum of every frame of a storm, with all critters hidden or seen.
fn storm(seed: u64, is_seen: bool) -> Vec<u64> {
    let mut app = app_in_frames();
    let mut random = Random(seed);
    let units: Vec<Entity> =
        (0..24).map(|at| spawn_seen(&mut app, (2 + at % 6 * 3, 2 + at / 6 * 3), is_seen)).collect();
    (0..2_500)
        .map(|_| {
            if random.below(6) == 0 {
                meddle(&mut app, &units, &mut random);
            }
            app.update();
            state_checksum(app.world_mut())
        })
        .collect()
}

#[test]
fn whether_critters_are_seen_does_not_change_how_they_move() {
    for seed in 0..24 {
        let (seen, hidden) = (storm(seed, true), storm(seed, false));
        let differs = seen.iter().zip(&hidden).position(|(a, b)| a != b);
        assert_eq!(differs, None, "seed {seed}: the first frame that differs");
    }
}
