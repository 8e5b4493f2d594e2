//! Requests that wait for a path are tried again when an edit may have opened one.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{app::*, units::*};

const BEYOND: Cell = Cell::new(16, 2);
const DOOR: EdgeId = EdgeId(2);

/// Returns an app with a unit, and a wall from top to bottom in its way.
fn divided(request: PathRequest) -> (App, Entity) {
    let mut app = app_with(&field(20, 5));
    record(&mut app);
    block(&mut app, CellRect::new(Cell::new(10, 0), 1, 5));
    let unit = spawn_critter(&mut app, (2, 2));
    insert_request(&mut app, unit, request);
    (app, unit)
}

/// Retries that are soon so rare that none comes while a test runs.
fn rarely() -> Retry {
    Retry { after: 10, longest: 10_000, most: 50 }
}

/// Lets ticks pass until the next retry is far away. Returns how many there were.
fn wait(app: &mut App, unit: Entity) -> u64 {
    run(app, 10 + 20 + 40 + 80 + 160 + 20);
    let before = counters(app).retried;
    run(app, 100);
    assert!(matches!(status(app, unit), PathStatus::Waiting(_)));
    assert_eq!(counters(app).retried, before, "nothing causes a try");
    before
}

#[test]
fn a_unit_that_waits_sets_out_when_a_wall_is_removed() {
    let requests = [
        PathRequest::to(BEYOND),
        PathRequest::to(BEYOND).or(Cell::new(18, 4)),
        PathRequest::to_nearest([BEYOND, Cell::new(18, 4)]).beside(),
    ];
    for request in requests {
        let (mut app, unit) = divided(request.retry(rarely()));
        let before = wait(&mut app, unit);
        unblock(&mut app, CellRect::new(Cell::new(10, 2), 1, 1));
        run(&mut app, 3);
        assert!(is_walking(&app, unit));
        assert_eq!(counters(&app).retried, before + 1);
        assert_eq!(events(&app), [Recorded::Found(unit, PathKind::Complete)]);
    }
}

/// What may open a way in [`a_unit_that_waits_notices_whatever_opens_a_way`].
fn openings() -> [(&'static str, fn(&mut App), fn(&mut App)); 5] {
    fn door(app: &mut App, kind: EdgeId) {
        let edges: NavEdges = (0..5).map(|y| (Cell::new(9, y), Direction::East, kind)).collect();
        app.world_mut().spawn(edges);
    }
    fn link(app: &mut App, is_open: bool) {
        let ends = [Cell::new(5, 2), Cell::new(15, 2)].map(|cell| (GridId::default(), cell));
        app.world_mut().spawn(NavLink { is_open, ..NavLink::new(ends[0], ends[1]) });
    }
    fn wall(app: &mut App) {
        block(app, CellRect::new(Cell::new(10, 0), 1, 5));
    }
    [
        (
            "a door",
            |app| door(app, DOOR),
            |app| {
                let mut doors = app.world_mut().query::<&mut NavEdges>();
                let mut edges = doors.single_mut(app.world_mut()).unwrap();
                edges.edges.iter_mut().for_each(|edge| edge.2 = EdgeId::NONE);
            },
        ),
        (
            "a profile",
            |app| door(app, DOOR),
            |app| grid(app).set_profiles(vec![Profile::default().with_edge(DOOR, 0)]),
        ),
        (
            "a building",
            |app| {
                app.world_mut().spawn(NavBlocker::at(CellRect::new(Cell::new(10, 0), 1, 5)));
            },
            |app| {
                let mut buildings = app.world_mut().query_filtered::<Entity, With<NavBlocker>>();
                let building = buildings.single(app.world()).unwrap();
                app.world_mut().despawn(building);
            },
        ),
        ("a link", wall, |app| link(app, true)),
        (
            "a link that is opened",
            |app| {
                wall(app);
                link(app, false);
            },
            |app| {
                let mut links = app.world_mut().query::<&mut NavLink>();
                links.single_mut(app.world_mut()).unwrap().is_open = true;
            },
        ),
    ]
}

#[test]
fn a_unit_that_waits_notices_whatever_opens_a_way() {
    for (name, shut, open) in openings() {
        let mut app = app_with(&field(20, 5));
        record(&mut app);
        shut(&mut app);
        let unit = spawn_critter(&mut app, (2, 2));
        insert_request(&mut app, unit, PathRequest::to(BEYOND).retry(rarely()));
        wait(&mut app, unit);
        open(&mut app);
        run(&mut app, 100); // the costs of links are looked up first
        assert!(
            has_arrived(&app, unit) || is_walking(&app, unit),
            "{name}: {:?}",
            status(&app, unit)
        );
    }
}

#[test]
fn a_unit_that_waits_for_its_grid_notices_it() {
    let mut app = app();
    let unit = spawn_critter(&mut app, (2, 2));
    insert_request(&mut app, unit, PathRequest::to(BEYOND).retry(rarely()));
    wait(&mut app, unit);
    let level = grid_from(&field(20, 5));
    grid(&mut app).insert(GridId::default(), level, frame_of(Topology::Square));
    run(&mut app, 3);
    assert!(is_walking(&app, unit), "{:?}", status(&app, unit));
}

#[test]
fn edits_in_every_tick_cause_a_try_in_every_tenth() {
    let (mut app, unit) = divided(PathRequest::to(BEYOND).retry(rarely()));
    let before = wait(&mut app, unit);
    let pillar = CellRect::new(Cell::new(15, 0), 1, 1);
    for tick in 0..200 {
        if tick % 2 == 0 {
            block(&mut app, pillar);
        } else {
            unblock(&mut app, pillar);
        }
        app.update();
    }
    assert_eq!(counters(&app).retried, before + 20);
    assert!(matches!(status(&app, unit), PathStatus::Waiting(_)));
}

/// Returns after how many ticks a request fails, and how often it was tried.
fn end_of(retry: Retry, has_edits: bool) -> (u32, u64) {
    let (mut app, unit) = divided(PathRequest::to(BEYOND).retry(retry));
    let pillar = CellRect::new(Cell::new(15, 0), 1, 1);
    for tick in 0..2_000 {
        if !failures(&app, unit).is_empty() {
            return (tick, counters(&app).retried);
        }
        if has_edits && tick % 2 == 0 {
            block(&mut app, pillar);
        } else if has_edits {
            unblock(&mut app, pillar);
        }
        app.update();
    }
    panic!("it never fails");
}

#[test]
fn tries_that_edits_cause_neither_count_as_retries_nor_delay_them() {
    let retry = Retry { after: 4, longest: 64, most: 6 };
    let (ticks, tries) = end_of(retry, false);
    assert_eq!(tries, 6);
    let (ticks_with_edits, tries_with_edits) = end_of(retry, true);
    assert!(ticks_with_edits.abs_diff(ticks) <= 1, "{ticks_with_edits}, not {ticks}");
    assert!((30..=50).contains(&tries_with_edits), "{tries_with_edits}");
    // Without pauses, an edit cannot cause an earlier one.
    let retry = Retry { after: 1, longest: 1, most: 20 };
    assert_eq!(end_of(retry, true), end_of(retry, false));
}

#[test]
fn a_request_that_is_retried_forever_never_fails() {
    let retry = Retry { after: 1, longest: 1, ..Retry::forever() };
    let (mut app, unit) = divided(PathRequest::to(BEYOND).retry(retry));
    run(&mut app, 66_000);
    assert!(counters(&app).retried > u64::from(u16::MAX), "more often than can be counted");
    assert!(status(&app, unit).is_under_way());
    unblock(&mut app, CellRect::new(Cell::new(10, 2), 1, 1));
    assert_eq!(run_to_end(&mut app, unit), Ok(BEYOND));
}
