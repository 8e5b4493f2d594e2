//! Requests that need their target: it may be despawned on the way.

use bevy::{ecs::entity_disabling::Disabled, prelude::*};
use bevy_tilepath::prelude::*;

use crate::common::{app::*, units::*};

/// Returns an app with trees at these cells.
fn forest(cells: &[(i32, i32)]) -> (App, Vec<Entity>) {
    let mut app = app_with(&field(40, 12));
    record(&mut app);
    let tree = |&cell: &(i32, i32)| NavBlocker::at(CellRect::single(cell.into()));
    let trees = cells.iter().map(|cell| app.world_mut().spawn(tree(cell)).id()).collect();
    (app, trees)
}

fn worker(app: &mut App, request: PathRequest) -> Entity {
    let unit = spawn_critter(app, (2, 6));
    insert_request(app, unit, request);
    unit
}

#[test]
fn a_request_fails_when_the_target_that_it_needs_is_gone() {
    let gone = PathFailure::TargetGone;
    for needs in [true, false] {
        let (mut app, trees) = forest(&[(30, 6)]);
        let request = PathRequest::to(trees[0]).beside();
        let unit = worker(&mut app, if needs { request.needs_target() } else { request });
        run(&mut app, 30);
        app.world_mut().despawn(trees[0]);
        app.update();
        if needs {
            assert_eq!(status(&app, unit), PathStatus::Failed(gone), "in the same tick");
            run(&mut app, 100);
            assert_eq!(failures(&app, unit), [gone], "once");
        } else {
            assert!(run_to_end(&mut app, unit).is_ok(), "it goes to where the target was");
        }
    }
}

#[test]
fn of_several_targets_the_nearest_that_is_left_is_next() {
    let (mut app, trees) = forest(&[(20, 6), (30, 6), (10, 1)]);
    let unit = worker(&mut app, PathRequest::to_nearest(trees.clone()).beside().needs_target());
    let target = |app: &App| {
        let (request, state) = (app.world().get::<PathRequest>(unit), app.world().get(unit));
        request.unwrap().present_target(state.unwrap()).cloned()
    };
    run(&mut app, 20);
    assert_eq!(target(&app), Some(trees[2].into()));
    app.world_mut().despawn(trees[0]); // it goes to another one
    run(&mut app, 5);
    assert_eq!(target(&app), Some(trees[2].into()));
    assert_eq!(counters(&app).followed, 0);
    app.world_mut().despawn(trees[2]);
    run(&mut app, 5);
    assert_eq!(target(&app), Some(trees[1].into()));
    app.world_mut().despawn(trees[1]);
    run(&mut app, 3);
    assert_eq!(status(&app, unit), PathStatus::Failed(PathFailure::TargetGone));
    assert_eq!(failures(&app, unit).len(), 1);
}

#[test]
fn an_alternative_follows_and_an_arrival_ends_the_need() {
    let (mut app, trees) = forest(&[(20, 6)]);
    let home = Cell::new(2, 1);
    let comes_home = |app: &mut App, unit| run_to_end(app, unit).map(|end| end.chebyshev(home));
    // The cell of a tree is impassable.
    let unit = worker(&mut app, PathRequest::to(trees[0]).or(home).needs_target());
    assert_eq!(comes_home(&mut app, unit), Ok(0));
    insert_request(&mut app, unit, PathRequest::to(trees[0]).beside().or(home).needs_target());
    run(&mut app, 20);
    app.world_mut().despawn(trees[0]);
    assert_eq!(comes_home(&mut app, unit), Ok(1));

    let (mut app, trees) = forest(&[(6, 6)]);
    let unit = worker(&mut app, PathRequest::to(trees[0]).beside().needs_target());
    assert!(run_to_end(&mut app, unit).is_ok());
    app.world_mut().despawn(trees[0]);
    run(&mut app, 20);
    assert!(has_arrived(&app, unit), "it has felled the tree");
}

#[test]
fn a_target_that_is_disabled_or_moves_is_not_gone_and_one_at_nan_is() {
    let (mut app, _) = forest(&[]);
    let flag = app.world_mut().spawn(Transform::from_xyz(300.0, 60.0, 0.0)).id();
    let unit = worker(&mut app, PathRequest::to(flag).needs_target());
    run(&mut app, 20);
    app.world_mut().entity_mut(flag).insert((Disabled, Transform::from_xyz(50.0, 10.0, 0.0)));
    run(&mut app, 20);
    assert!(is_walking(&app, unit));
    assert_eq!(counters(&app).followed, 0, "it is not followed");
    app.world_mut().entity_mut(flag).insert(Transform::from_xyz(f32::NAN, 10.0, 0.0));
    run(&mut app, 2);
    assert_eq!(status(&app, unit), PathStatus::Failed(PathFailure::TargetGone));
}
