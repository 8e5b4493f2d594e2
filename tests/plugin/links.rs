//! Links through the plugin: stairs, teleporters and ledges, alone and in crowds, under changes.

mod on_the_way;
mod replaced;
mod routes;
mod storms;
mod tunnels;

use std::collections::BTreeSet;

use bevy::{ecs::entity_disabling::Disabled, prelude::*};
use bevy_tilepath::prelude::*;

use crate::common::app::{
    Recorded, app, events, grid, position, record, run, run_until, state, status, with_plugin,
};

const UNIT: ProfileId = ProfileId(0);
const DOWN: GridId = GridId(0);
const UP: GridId = GridId(1);

/// Where the grids lie in the world, far apart.
fn frame(id: GridId) -> GridFrame {
    GridFrame::square(Vec2::new(0.0, id.0 as f32 * 10_000.0), Vec2::splat(10.0))
}

/// An app with open grids of this size.
fn app_with_floors(floors: u32, (width, height): (u32, u32)) -> App {
    let mut app = app();
    for id in (0..floors).map(GridId) {
        let level = NavGrid::new(width, height, TerrainId::GROUND).unwrap();
        grid(&mut app).insert(id, level, frame(id));
    }
    record(&mut app);
    record_links(&mut app);
    app
}

/// The events at both ends of links: true for those that enter.
#[derive(Resource, Default)]
struct LinkEvents(Vec<(bool, Entity, Entity, (GridId, Cell))>);

fn record_links(app: &mut App) {
    app.init_resource::<LinkEvents>()
        .add_observer(|event: On<LinkEntered>, mut events: ResMut<LinkEvents>| {
            events.0.push((true, event.entity, event.link, event.to));
        })
        .add_observer(|event: On<LinkLeft>, mut events: ResMut<LinkEvents>| {
            events.0.push((false, event.entity, event.link, event.at));
        });
}

fn link_events(app: &App) -> &[(bool, Entity, Entity, (GridId, Cell))] {
    &app.world().resource::<LinkEvents>().0
}

fn at(floor: GridId, x: i32, y: i32) -> (GridId, Cell) {
    (floor, Cell::new(x, y))
}

fn link(app: &mut App, link: NavLink) -> Entity {
    app.world_mut().spawn(link).id()
}

fn spawn(app: &mut App, critter: Critter, (id, cell): (GridId, Cell)) -> Entity {
    let place = frame(id).cell_center(cell).extend(3.0);
    let agent = NavAgent::default().on(id);
    app.world_mut().spawn((critter, agent, Transform::from_translation(place))).id()
}

fn send(app: &mut App, unit: Entity, (id, cell): (GridId, Cell)) {
    app.world_mut().entity_mut(unit).insert(PathRequest::to(cell).goal_on(id));
}

/// The grid and the cell of a unit, as its components say.
fn place_of(app: &App, unit: Entity) -> (GridId, Cell) {
    (app.world().get::<NavAgent>(unit).unwrap().grid, state(app, unit).cell())
}

fn has_arrived(app: &App, unit: Entity) -> bool {
    matches!(status(app, unit), PathStatus::Arrived(_))
}

fn has_ended(app: &App, unit: Entity) -> bool {
    matches!(status(app, unit), PathStatus::Arrived(_) | PathStatus::Failed(_))
}

fn link_status(app: &App, link: Entity) -> LinkStatus {
    *app.world().get(link).unwrap()
}

/// Checks that each critter is exactly one unit of one crowd, on the grid of its agent, and drawn on a cell of its own.
fn check_places(app: &mut App, critters: &[Entity]) {
    let crowds = app.world().resource::<Crowds>();
    let total: usize = (0..4)
        .filter_map(|id| crowds.get(GridId(id)))
        .map(bevy_tilepath::nav::crowd::Crowd::len)
        .sum();
    assert_eq!(total, critters.len(), "units are lost or doubled");
    let mut seen = BTreeSet::new();
    for &critter in critters {
        let (id, cell) = place_of(app, critter);
        let unit = state(app, critter).unit().expect("a critter is in no crowd");
        assert_eq!(crowds.entity(id, unit), Some(critter));
        assert!(seen.insert((id, cell)), "two on {cell} of {id:?}");
    }
}

#[test]
fn a_critter_takes_the_stairs() {
    for critter in [Critter::new(8.0), Critter::new(8.0).ghost()] {
        let mut app = app_with_floors(2, (20, 12));
        let stairs = NavLink::new(at(DOWN, 15, 3), at(UP, 2, 8)).cost(4);
        let stairs = link(&mut app, stairs);
        let unit = spawn(&mut app, critter, at(DOWN, 1, 1));
        app.update();
        assert_eq!(link_status(&app, stairs), LinkStatus::Connected);
        send(&mut app, unit, at(UP, 12, 2));
        run_until(&mut app, 300, |app| matches!(status(app, unit), PathStatus::Walking(_)));
        assert_eq!(status(&app, unit), PathStatus::Walking(PathKind::ToLink));
        run_until(&mut app, 300, |app| status(app, unit) == PathStatus::Crossing);
        assert_eq!(place_of(&app, unit), at(UP, 2, 8), "it holds the cell where it will land");
        // 4 cells at 8 cells a second and 64 ticks: 32 ticks, in a straight line, at an even pace.
        let ends =
            [frame(DOWN).cell_center(Cell::new(15, 3)), frame(UP).cell_center(Cell::new(2, 8))];
        let ticks = run_until(&mut app, 300, |app| status(app, unit) != PathStatus::Crossing);
        assert_eq!(ticks, 32);
        assert!(position(&app, unit).distance(ends[1]) < 0.04 * ends[0].distance(ends[1]));
        run_until(&mut app, 300, |app| has_arrived(app, unit));
        assert_eq!(place_of(&app, unit), at(UP, 12, 2));
        app.update(); // it is drawn a tick later
        assert_eq!(position(&app, unit), frame(UP).cell_center(Cell::new(12, 2)));
        let arrived = Recorded::Arrived(unit, PathKind::Complete);
        assert_eq!(events(&app).iter().filter(|&&event| event == arrived).count(), 1);
        let to = at(UP, 2, 8);
        assert_eq!(link_events(&app), [(true, unit, stairs, to), (false, unit, stairs, to)]);

        // And back, the other way around.
        send(&mut app, unit, at(DOWN, 1, 1));
        run_until(&mut app, 600, |app| has_arrived(app, unit));
        assert_eq!(place_of(&app, unit), at(DOWN, 1, 1));
        // Without a grid the goal is on the unit's own.
        app.world_mut().entity_mut(unit).insert(PathRequest::to(Cell::new(5, 5)));
        run_until(&mut app, 600, |app| has_arrived(app, unit));
        assert_eq!(place_of(&app, unit), at(DOWN, 5, 5));
    }
}

#[test]
fn links_from_before_the_plugin_work_and_their_status_goes_with_them() {
    let mut app = App::new();
    let [shut, stairs] = [false, true].map(|is_open| {
        let link = NavLink::new(at(DOWN, 15, 3), at(UP, 2, 8)).cost(4);
        app.world_mut().spawn(link.open(is_open)).id()
    });
    let mut app = with_plugin(app);
    for id in [DOWN, UP] {
        let level = NavGrid::new(20, 12, TerrainId::GROUND).unwrap();
        grid(&mut app).insert(id, level, frame(id));
    }
    let unit = spawn(&mut app, Critter::new(8.0), at(DOWN, 1, 1));
    app.update();
    assert_eq!(
        [shut, stairs].map(|link| link_status(&app, link)),
        [LinkStatus::Shut, LinkStatus::Connected]
    );
    send(&mut app, unit, at(UP, 12, 2));
    run_until(&mut app, 600, |app| has_arrived(app, unit));
    app.world_mut().entity_mut(stairs).remove::<NavLink>();
    app.update();
    assert_eq!(app.world().get::<LinkStatus>(stairs), None);
    send(&mut app, unit, at(DOWN, 1, 1));
    run_until(&mut app, 100, |app| has_ended(app, unit));
    assert!(matches!(status(&app, unit), PathStatus::Failed(_)));
    // Inserted again, it is a new link.
    let anew = NavLink::new(at(DOWN, 15, 3), at(UP, 2, 8));
    app.world_mut().entity_mut(stairs).insert(anew.clone());
    app.update();
    assert_eq!(link_status(&app, stairs), LinkStatus::Connected);
    // Within one tick, it is the same.
    app.world_mut().entity_mut(stairs).remove::<NavLink>().insert(anew);
    app.update();
    assert_eq!(link_status(&app, stairs), LinkStatus::Connected);
}

#[test]
fn it_is_drawn_on_the_way_at_an_even_pace() {
    for critter in [Critter::new(8.0), Critter::new(8.0).ghost()] {
        let mut app = app_with_floors(1, (40, 5));
        link(&mut app, NavLink::new(Cell::new(2, 2), Cell::new(34, 2)).cost(8).one_way());
        let unit = spawn(&mut app, critter, at(DOWN, 2, 2));
        send(&mut app, unit, at(DOWN, 36, 2));
        run_until(&mut app, 300, |app| status(app, unit) == PathStatus::Crossing);
        let mut last = position(&app, unit);
        app.update();
        let steps: Vec<f32> = (0..60)
            .map(|_| {
                app.update();
                let now = position(&app, unit);
                let step = now.x - std::mem::replace(&mut last, now).x;
                assert!((now.y - 20.0).abs() < 1e-3);
                step
            })
            .collect();
        // 32 cells of 10 in 64 ticks.
        assert!(steps[2..].iter().all(|step| (step - 5.0).abs() < 0.1), "{steps:?}");
    }
}

#[test]
fn a_teleporter_is_a_short_cut() {
    let mut app = app_with_floors(1, (60, 10));
    let pads = NavLink::new(Cell::new(5, 5), Cell::new(50, 5)).cost(0);
    link(&mut app, pads);
    let unit = spawn(&mut app, Critter::new(16.0), at(DOWN, 1, 5));
    send(&mut app, unit, at(DOWN, 55, 5));
    run_until(&mut app, 200, |app| has_arrived(app, unit));
    assert_eq!(link_events(&app).len(), 2);
    // Too far for a goal nearby.
    send(&mut app, unit, at(DOWN, 40, 5));
    run_until(&mut app, 200, |app| has_arrived(app, unit));
    assert_eq!(link_events(&app).len(), 2);
}

#[test]
fn two_that_meet_exchange_their_places() {
    for capacity in [1, 9] {
        let mut app = app_with_floors(2, (9, 1));
        let stairs = NavLink::new(at(DOWN, 8, 0), at(UP, 0, 0)).cost(3).capacity(capacity);
        link(&mut app, stairs);
        let units = [
            spawn(&mut app, Critter::new(8.0), at(DOWN, 7, 0)),
            spawn(&mut app, Critter::new(8.0), at(UP, 1, 0)),
        ];
        app.update();
        send(&mut app, units[0], at(UP, 4, 0));
        send(&mut app, units[1], at(DOWN, 4, 0));
        for _ in 0..300 {
            app.update();
            check_places(&mut app, &units);
        }
        assert!(units.iter().all(|&unit| has_arrived(&app, unit)));
        assert_eq!(units.map(|unit| place_of(&app, unit)), [at(UP, 4, 0), at(DOWN, 4, 0)]);
    }
}

#[test]
fn crowds_go_up_and_down_one_staircase() {
    for (stairs, most) in [(1, 14_000), (4, 5_500)] {
        let mut app = app_with_floors(2, (60, 40));
        let area = |x| CellRect::new(Cell::new(x, 18), 1, stairs);
        link(&mut app, NavLink::new((DOWN, area(58)), (UP, area(1))).cost(2));
        let mut units = Vec::new();
        for index in 0..250 {
            let cell = Cell::new(5 + index % 20, 10 + index / 20);
            for (from, to) in [(DOWN, UP), (UP, DOWN)] {
                let (x, y) = if from == DOWN { (cell.x, cell.y) } else { (55 - cell.x, cell.y) };
                let unit = spawn(&mut app, Critter::new(8.0), (from, Cell::new(x, y)));
                units.push((unit, to));
            }
        }
        app.update();
        for (index, &(unit, to)) in units.iter().enumerate() {
            let cell = Cell::new(10 + (index as i32 / 2) % 20, 12 + index as i32 / 40);
            let x = if to == DOWN { cell.x } else { 59 - cell.x };
            send(&mut app, unit, (to, Cell::new(x, cell.y)));
        }
        let all: Vec<Entity> = units.iter().map(|unit| unit.0).collect();
        let mut ticks = 0;
        while !all.iter().all(|&unit| has_arrived(&app, unit)) {
            app.update();
            ticks += 1;
            if ticks % 8 == 0 {
                check_places(&mut app, &all);
            }
            let late = all.iter().filter(|&&unit| !has_arrived(&app, unit)).count();
            assert!(ticks < most, "{late} have not arrived");
        }
        println!("{stairs} wide: {ticks} ticks");
        assert!(units.iter().all(|&(unit, to)| place_of(&app, unit).0 == to));
        assert_eq!(link_events(&app).len(), 1_000);
    }
}

#[test]
fn capacity_is_kept() {
    let mut app = app_with_floors(2, (30, 20));
    let quay = |x| CellRect::new(Cell::new(x, 5), 3, 4);
    let ferry = link(&mut app, NavLink::new((DOWN, quay(25)), (UP, quay(2))).cost(20).capacity(5));
    let units: Vec<Entity> = (0..20)
        .map(|index| spawn(&mut app, Critter::new(10.0), at(DOWN, 5 + index % 5, 5 + index / 5)))
        .collect();
    for (index, &unit) in units.iter().enumerate() {
        send(&mut app, unit, at(UP, 15 + index as i32 % 5, 5 + index as i32 / 5));
    }
    let mut most = 0;
    for _ in 0..2_500 {
        app.update();
        most = most.max(app.world().resource::<LinkTraffic>().crossing(ferry));
    }
    assert!(units.iter().all(|&unit| has_arrived(&app, unit)));
    assert_eq!(most, 5);
}

#[test]
fn one_way_links_are_told_apart() {
    let mut app = app_with_floors(2, (10, 10));
    link(&mut app, NavLink::new(at(DOWN, 8, 8), at(UP, 1, 1)).one_way());
    let (there, back) = (
        spawn(&mut app, Critter::new(20.0), at(DOWN, 1, 1)),
        spawn(&mut app, Critter::new(20.0), at(UP, 8, 8)),
    );
    app.update();
    send(&mut app, there, at(UP, 5, 5));
    send(&mut app, back, at(DOWN, 5, 5));
    run_until(&mut app, 300, |app| [there, back].iter().all(|&unit| has_ended(app, unit)));
    assert!(has_arrived(&app, there));
    let reason = PathFailure::NoLinks { from: UP, to: DOWN };
    assert_eq!(status(&app, back), PathStatus::Failed(reason));
    // With another way back it goes.
    link(&mut app, NavLink::new(at(UP, 8, 1), at(DOWN, 1, 8)).one_way());
    send(&mut app, back, at(DOWN, 5, 5));
    run_until(&mut app, 300, |app| has_ended(app, back));
    assert!(has_arrived(&app, back));
}

#[test]
fn impossible_links_say_why() {
    let mut app = app_with_floors(2, (10, 10));
    grid(&mut app).get_mut(UP).unwrap().block(CellRect::new(Cell::new(4, 4), 2, 2)).unwrap();
    let none = GridId(7);
    let wall = LinkEnd::from((UP, CellRect::new(Cell::new(4, 4), 2, 2)));
    let outside = LinkEnd::from((DOWN, CellRect::new(Cell::new(-9, 0), 3, 3)));
    let far =
        LinkEnd::from((DOWN, CellRect::new(Cell::new(i32::MAX, i32::MIN), u32::MAX, u32::MAX)));
    let empty = LinkEnd::from((DOWN, CellRect::new(Cell::new(1, 1), 0, 4)));
    let from = at(DOWN, 1, 1);
    let cases = [
        (NavLink::new(from, (none, Cell::new(0, 0))), LinkError::NoSuchGrid(none)),
        (NavLink::new(from, wall), LinkError::Impassable(wall)),
        (NavLink::new(wall, from), LinkError::Impassable(wall)),
        (NavLink::new(from, outside), LinkError::OutOfBounds(outside)),
        (NavLink::new(from, far), LinkError::OutOfBounds(far)),
        (NavLink::new(empty, from), LinkError::OutOfBounds(empty)),
        (
            NavLink::new(from, at(UP, 1, 1)).only([ProfileId(9)]),
            LinkError::UnknownProfile(ProfileId(9)),
        ),
        (
            NavLink::new(from, at(UP, 1, 1)).only([ProfileId(200)]),
            LinkError::UnknownProfile(ProfileId(200)),
        ),
    ];
    let links = cases.map(|(one, error)| (link(&mut app, one), error));
    let unit = spawn(&mut app, Critter::new(20.0), at(DOWN, 5, 5));
    app.update();
    for (link, error) in links {
        assert_eq!(link_status(&app, link), LinkStatus::Broken(error));
        assert!(!error.to_string().is_empty());
    }
    send(&mut app, unit, at(UP, 8, 8));
    run_until(&mut app, 100, |app| has_ended(app, unit));
    let reason = PathFailure::NoLinks { from: DOWN, to: UP };
    assert_eq!(status(&app, unit), PathStatus::Failed(reason));
    // A link that nobody may use is no fault of the link.
    let closed = link(&mut app, NavLink::new(from, at(UP, 1, 1)).only([]));
    let shut = link(&mut app, NavLink::new(from, at(UP, 1, 1)).open(false));
    app.update();
    assert_eq!(link_status(&app, shut), LinkStatus::Shut);
    assert!(matches!(link_status(&app, closed), LinkStatus::Broken(LinkError::Impassable(_))));
    // As soon as the cause is gone a link works.
    grid(&mut app).get_mut(UP).unwrap().unblock(CellRect::single(Cell::new(4, 4))).unwrap();
    app.update();
    assert_eq!(link_status(&app, links[1].0), LinkStatus::Connected);
    send(&mut app, unit, at(UP, 8, 8));
    run_until(&mut app, 200, |app| has_ended(app, unit));
    assert!(has_arrived(&app, unit));
}

#[test]
fn requests_to_other_grids_fail_with_a_reason() {
    let mut app = app_with_floors(2, (10, 10));
    let unit = spawn(&mut app, Critter::new(20.0), at(DOWN, 5, 5));
    app.update();
    let expect = |app: &mut App, request: PathRequest, reason| {
        app.world_mut().entity_mut(unit).insert(request);
        run_until(app, 100, |app| has_ended(app, unit));
        assert_eq!(status(app, unit), PathStatus::Failed(reason));
    };
    let to = PathRequest::to(Cell::new(3, 3));
    let no_links = PathFailure::NoLinks { from: DOWN, to: UP };
    expect(&mut app, to.clone().goal_on(UP), no_links);
    expect(&mut app, to.clone().goal_on(UP).reach(Reach::Nearest), no_links);
    link(&mut app, NavLink::new(at(DOWN, 8, 8), at(UP, 1, 1)));
    app.update();
    expect(
        &mut app,
        to.clone().goal_on(GridId(9)),
        PathFailure::NoLinks { from: DOWN, to: GridId(9) },
    );
    expect(&mut app, PathRequest::to(Cell::new(-3, 3)).goal_on(UP), no_links);
    expect(&mut app, PathRequest::to(Vec2::NAN).goal_on(UP), PathFailure::GoalUnknown);
    let nothing = PathRequest::to_nearest(Vec::<Cell>::new()).goal_on(UP);
    expect(&mut app, nothing, PathFailure::TargetGone);
    // A wall on the other floor: as near as possible, if that is enough.
    grid(&mut app).get_mut(UP).unwrap().block(CellRect::single(Cell::new(3, 3))).unwrap();
    expect(&mut app, to.clone().goal_on(UP), no_links);
    app.world_mut().entity_mut(unit).insert(to.goal_on(UP).reach(Reach::Nearest));
    run_until(&mut app, 300, |app| has_ended(app, unit));
    assert_eq!(status(&app, unit), PathStatus::Arrived(PathKind::Partial));
    assert_eq!(place_of(&app, unit).0, UP);
    assert_eq!(place_of(&app, unit).1.chebyshev(Cell::new(3, 3)), 1);
}

#[test]
fn the_nearest_of_many_may_be_on_another_floor() {
    let mut app = app_with_floors(2, (60, 10));
    let stairs = link(&mut app, NavLink::new(at(DOWN, 6, 5), at(UP, 6, 5)));
    let wells =
        [at(DOWN, 55, 5), at(UP, 9, 5)].map(|place| spawn(&mut app, Critter::new(1.0), place));
    let unit = spawn(&mut app, Critter::new(30.0), at(DOWN, 1, 5));
    app.update();
    let nearest = PathRequest::to_nearest(wells).beside();
    app.world_mut().entity_mut(unit).insert(nearest.clone());
    run_until(&mut app, 300, |app| has_ended(app, unit));
    assert_eq!(place_of(&app, unit).0, UP);
    assert_eq!(place_of(&app, unit).1.chebyshev(Cell::new(9, 5)), 1);
    // Without the stairs it stays where it is.
    app.world_mut().entity_mut(stairs).despawn();
    app.world_mut().entity_mut(unit).insert(nearest);
    run_until(&mut app, 300, |app| has_ended(app, unit));
    assert!(has_arrived(&app, unit));
}

#[test]
fn a_target_is_followed_from_floor_to_floor() {
    let mut app = app_with_floors(3, (30, 10));
    link(&mut app, NavLink::new(at(DOWN, 28, 5), at(UP, 1, 5)));
    link(&mut app, NavLink::new(at(UP, 28, 5), at(GridId(2), 1, 5)));
    let target = spawn(&mut app, Critter::new(6.0), at(DOWN, 5, 5));
    let hunter = spawn(&mut app, Critter::new(12.0), at(DOWN, 1, 1));
    app.update();
    app.world_mut().entity_mut(hunter).insert(PathRequest::follow(target));
    for goal in [at(GridId(2), 20, 2), at(DOWN, 3, 8), at(UP, 15, 3)] {
        send(&mut app, target, goal);
        run_until(&mut app, 3_000, |app| has_arrived(app, target));
        run_until(&mut app, 3_000, |app| has_arrived(app, hunter));
        assert_eq!(place_of(&app, target), goal);
        let near = place_of(&app, hunter);
        assert!(near.0 == goal.0 && near.1.chebyshev(goal.1) == 1, "{near:?}");
    }
}

#[test]
fn a_shut_link_turns_units_around() {
    let mut app = app_with_floors(2, (40, 12));
    let near = link(&mut app, NavLink::new(at(DOWN, 20, 5), at(UP, 20, 5)));
    let far = link(&mut app, NavLink::new(at(DOWN, 38, 5), at(UP, 38, 5)));
    let unit = spawn(&mut app, Critter::new(10.0), at(DOWN, 1, 5));
    app.update();
    send(&mut app, unit, at(UP, 10, 5));
    run_until(&mut app, 400, |app| state(app, unit).cell().x > 10);
    app.world_mut().get_mut::<NavLink>(near).unwrap().is_open = false;
    run_until(&mut app, 400, |app| state(app, unit).cell().x > 30);
    // Now none is left.
    app.world_mut().entity_mut(far).despawn();
    run_until(&mut app, 400, |app| has_ended(app, unit));
    assert_eq!(status(&app, unit), PathStatus::Failed(PathFailure::NoLinks { from: DOWN, to: UP }));
    // A request that retries waits for the link to open.
    let request = PathRequest::to(Cell::new(10, 5)).goal_on(UP).retry(Retry::default());
    app.world_mut().entity_mut(unit).insert(request);
    run_until(&mut app, 400, |app| matches!(status(app, unit), PathStatus::Waiting(_)));
    app.world_mut().get_mut::<NavLink>(near).unwrap().is_open = true;
    run_until(&mut app, 900, |app| has_arrived(app, unit));
    assert_eq!(place_of(&app, unit), at(UP, 10, 5));
}

/// It waits on the cells of a link, is sent no longer, and steps aside for one that comes out: that can push it on.
#[test]
fn a_unit_that_waited_for_a_link_can_be_pushed_when_its_request_is_over() {
    let mut app = app_with_floors(2, (30, 1));
    link(&mut app, NavLink::new(at(DOWN, 10, 0), at(UP, 10, 0)));
    let unit = spawn(&mut app, Critter::new(10.0), at(DOWN, 2, 0));
    let guard = spawn(&mut app, Critter::new(0.0), at(UP, 10, 0));
    let other = spawn(&mut app, Critter::new(10.0), at(UP, 20, 0));
    app.update();
    send(&mut app, unit, at(UP, 15, 0));
    run_until(&mut app, 400, |app| {
        state(app, unit).cell().x == 10 && !state(app, unit).is_moving()
    });
    run(&mut app, 20);
    app.world_mut().entity_mut(unit).remove::<PathRequest>();
    run(&mut app, 5);
    app.world_mut().entity_mut(guard).despawn();
    send(&mut app, other, at(DOWN, 5, 0));
    run_until(&mut app, 900, |app| has_arrived(app, other));
    assert_eq!(place_of(&app, other), at(DOWN, 5, 0));
}

/// Runs a unit until it crosses, changes something, and returns the app and the unit.
fn interrupted(critter: Critter, change: impl Fn(&mut App, Entity, Entity)) -> (App, Entity) {
    let mut app = app_with_floors(2, (20, 10));
    let stairs = link(&mut app, NavLink::new(at(DOWN, 8, 5), at(UP, 5, 5)).cost(10));
    let unit = spawn(&mut app, critter, at(DOWN, 6, 5));
    app.update();
    send(&mut app, unit, at(UP, 15, 5));
    run_until(&mut app, 200, |app| status(app, unit) == PathStatus::Crossing);
    run(&mut app, 10);
    change(&mut app, unit, stairs);
    (app, unit)
}

#[test]
fn changes_in_the_middle_of_a_crossing_lose_nobody() {
    for critter in [Critter::new(8.0), Critter::new(8.0).ghost()] {
        let has_crossed = |(mut app, unit): (App, Entity)| {
            run_until(&mut app, 900, |app| has_ended(app, unit));
            assert!(has_arrived(&app, unit), "{:?}", status(&app, unit));
            place_of(&app, unit)
        };
        let gone = interrupted(critter, |app, _, stairs| {
            app.world_mut().entity_mut(stairs).despawn();
        });
        assert_eq!(has_crossed(gone), at(UP, 15, 5));
        let shut = interrupted(critter, |app, _, stairs| {
            app.world_mut().get_mut::<NavLink>(stairs).unwrap().is_open = false;
        });
        assert_eq!(has_crossed(shut), at(UP, 15, 5));
        let lower_gone = interrupted(critter, |app, _, _| {
            grid(app).remove(DOWN);
        });
        assert_eq!(has_crossed(lower_gone), at(UP, 15, 5));
        let another_order = interrupted(critter, |app, unit, _| send(app, unit, at(UP, 2, 2)));
        assert_eq!(has_crossed(another_order), at(UP, 2, 2));
        let back = interrupted(critter, |app, unit, _| send(app, unit, at(DOWN, 2, 2)));
        assert_eq!(has_crossed(back), at(DOWN, 2, 2));
        let replaced = interrupted(critter, |app, _, _| {
            let level = NavGrid::new(20, 10, TerrainId::GROUND).unwrap();
            grid(app).insert(UP, level, frame(UP));
        });
        assert_eq!(has_crossed(replaced), at(UP, 15, 5));
        let moved = interrupted(critter, |app, unit, _| {
            let mut place = app.world_mut().get_mut::<Transform>(unit).unwrap();
            place.translation = frame(UP).cell_center(Cell::new(9, 9)).extend(0.0);
        });
        assert_eq!(has_crossed(moved), at(UP, 15, 5));
        let becomes_other = interrupted(critter, |app, unit, _| {
            let mut critter = app.world_mut().get_mut::<Critter>(unit).unwrap();
            critter.collides = !critter.collides;
        });
        assert_eq!(has_crossed(becomes_other), at(UP, 15, 5));
        let walled = interrupted(critter, |app, _, _| {
            let mut grids = grid(app);
            grids.get_mut(UP).unwrap().block(CellRect::new(Cell::new(6, 0), 1, 10)).unwrap();
        });
        let (mut app, unit) = walled;
        run_until(&mut app, 900, |app| has_ended(app, unit));
        assert!(matches!(status(&app, unit), PathStatus::Failed(PathFailure::NoPath { .. })));

        let (mut app, unit) = interrupted(critter, |app, _, _| {
            grid(app).remove(UP);
        });
        run_until(&mut app, 900, |app| has_ended(app, unit));
        assert_eq!(status(&app, unit), PathStatus::Failed(PathFailure::GridGone(UP)));

        let (mut app, unit) = interrupted(critter, |app, unit, _| {
            app.world_mut().entity_mut(unit).remove::<PathRequest>();
        });
        run(&mut app, 200);
        assert_eq!((status(&app, unit), place_of(&app, unit)), (PathStatus::Idle, at(UP, 5, 5)));
        assert_eq!(position(&app, unit), frame(UP).cell_center(Cell::new(5, 5)));

        let (mut app, unit) = interrupted(critter, |app, unit, _| {
            app.world_mut().entity_mut(unit).insert(Disabled);
        });
        run(&mut app, 300);
        app.world_mut().entity_mut(unit).remove::<Disabled>();
        run_until(&mut app, 10, |app| status(app, unit) == PathStatus::Crossing);
        run_until(&mut app, 900, |app| has_arrived(app, unit));

        let (mut app, unit) = interrupted(critter, |app, unit, _| {
            app.world_mut().entity_mut(unit).remove::<Critter>();
        });
        run(&mut app, 100);
        assert!(matches!(status(&app, unit), PathStatus::Found(_) | PathStatus::Failed(_)));

        let (mut app, unit) = interrupted(critter, |app, unit, _| {
            app.world_mut().entity_mut(unit).despawn();
        });
        run(&mut app, 100);
        assert!(app.world().get_entity(unit).is_err());
        let left = link_events(&app).iter().filter(|event| !event.0).count();
        assert_eq!(left, 0);
    }
}

#[test]
fn idle_units_step_off_landing_cells() {
    let mut app = app_with_floors(2, (12, 12));
    link(&mut app, NavLink::new(at(DOWN, 5, 5), at(UP, 5, 5)).cost(2));
    let idle = spawn(&mut app, Critter::new(8.0), at(UP, 5, 5));
    let unit = spawn(&mut app, Critter::new(8.0), at(DOWN, 2, 5));
    app.update();
    send(&mut app, unit, at(UP, 9, 9));
    run_until(&mut app, 400, |app| has_arrived(app, unit));
    assert_ne!(place_of(&app, idle), at(UP, 5, 5));
    // A guard does not: the unit waits, says so, and goes on as soon as it can.
    let mut guard = app.world_mut().entity_mut(idle);
    guard.insert((Unpushable, PathRequest::to(Cell::new(5, 5))));
    run_until(&mut app, 400, |app| has_arrived(app, idle));
    send(&mut app, unit, at(DOWN, 1, 1));
    run_until(&mut app, 900, |app| matches!(status(app, unit), PathStatus::Stuck(_)));
    app.world_mut().entity_mut(idle).remove::<Unpushable>();
    run_until(&mut app, 900, |app| has_arrived(app, unit));
    let other = spawn(&mut app, Critter::new(8.0), at(DOWN, 2, 5));
    app.world_mut().entity_mut(idle).insert((Unpushable, PathRequest::to(Cell::new(5, 5))));
    run_until(&mut app, 400, |app| has_arrived(app, idle));
    send(&mut app, other, at(UP, 1, 1));
    run_until(&mut app, 900, |app| status(app, other) == PathStatus::Stuck(Hindrance::Link));
    app.world_mut().entity_mut(idle).despawn();
    run_until(&mut app, 900, |app| has_arrived(app, other));
}

#[test]
fn a_unit_that_the_game_moves_crosses_by_itself() {
    let mut app = app_with_floors(2, (12, 12));
    link(&mut app, NavLink::new(at(DOWN, 8, 5), at(UP, 3, 5)));
    let place = Transform::from_translation(frame(DOWN).cell_center(Cell::new(1, 5)).extend(0.0));
    let request = PathRequest::to(Cell::new(9, 9)).goal_on(UP);
    let unit = app.world_mut().spawn((place, request)).id();
    run_until(&mut app, 100, |app| status(app, unit) == PathStatus::Found(PathKind::ToLink));
    assert_eq!(app.world().get::<NavPath>(unit).unwrap().end(), Cell::new(8, 5));
    let mut entity = app.world_mut().entity_mut(unit);
    let place = Transform::from_translation(frame(UP).cell_center(Cell::new(3, 5)).extend(0.0));
    entity.insert((place, NavAgent::default().on(UP)));
    run_until(&mut app, 100, |app| status(app, unit) == PathStatus::Found(PathKind::Complete));
    assert_eq!(app.world().get::<NavPath>(unit).unwrap().end(), Cell::new(9, 9));
}

#[test]
fn only_units_of_the_named_profiles_cross() {
    let mut app = app_with_floors(2, (12, 12));
    let climber = grid(&mut app).add_profile(Profile::default());
    let giant = grid(&mut app).add_profile(Profile::default().size(2));
    link(&mut app, NavLink::new(at(DOWN, 8, 5), at(UP, 3, 5)).only([climber, giant]));
    let unit = spawn(&mut app, Critter::new(20.0), at(DOWN, 1, 5));
    app.update();
    let request = PathRequest::to(Cell::new(9, 9)).goal_on(UP);
    app.world_mut().entity_mut(unit).insert(request.clone());
    run_until(&mut app, 100, |app| has_ended(app, unit));
    assert_eq!(status(&app, unit), PathStatus::Failed(PathFailure::NoLinks { from: DOWN, to: UP }));
    for profile in [climber, giant] {
        let agent = NavAgent::new(profile);
        app.world_mut().entity_mut(unit).insert((agent, request.clone()));
        run_until(&mut app, 300, |app| has_ended(app, unit));
        assert_eq!(
            (status(&app, unit), place_of(&app, unit)),
            (PathStatus::Arrived(PathKind::Complete), at(UP, 9, 9))
        );
        let back = PathRequest::to(Cell::new(1, 1)).goal_on(DOWN);
        app.world_mut().entity_mut(unit).insert(back);
        run_until(&mut app, 300, |app| has_ended(app, unit));
        assert_eq!(place_of(&app, unit), at(DOWN, 1, 1));
    }
}

#[test]
fn queues_of_orders_lead_over_links() {
    let mut app = app_with_floors(2, (12, 12));
    link(&mut app, NavLink::new(at(DOWN, 8, 5), at(UP, 3, 5)));
    let unit = spawn(&mut app, Critter::new(30.0), at(DOWN, 1, 5));
    let to = |place: (GridId, Cell)| PathRequest::to(place.1).goal_on(place.0);
    let stops = vec![to(at(UP, 9, 9)), to(at(DOWN, 1, 1))];
    let patrol = Order::Patrol { stops, mode: PatrolMode::Round };
    app.world_mut().entity_mut(unit).insert(OrderQueue::new().then(patrol));
    run(&mut app, 1_000);
    let entered = link_events(&app).iter().filter(|event| event.0).count();
    assert!(entered > 10, "{entered}");
}

#[derive(Resource, Default)]
struct GroupEvents(Vec<(u32, u32)>);

#[test]
fn groups_gather_on_another_floor() {
    for (stairs, is_entity) in [(1, false), (3, true)] {
        let mut app = app_with_floors(2, (40, 30));
        app.init_resource::<GroupEvents>().add_observer(
            |event: On<GroupArrived>, mut events: ResMut<GroupEvents>| {
                events.0.push((event.arrived, event.failed));
            },
        );
        let area = |x| CellRect::new(Cell::new(x, 14), 1, stairs);
        link(&mut app, NavLink::new((DOWN, area(38)), (UP, area(1))).cost(2));
        // Most come from below, some are there already.
        let units: Vec<Entity> = (0..24)
            .map(|index| {
                let floor = if index % 4 == 0 { UP } else { DOWN };
                spawn(&mut app, Critter::new(12.0), at(floor, 10 + index % 6, 10 + index / 6))
            })
            .collect();
        let flag = spawn(&mut app, Critter::new(1.0).ghost(), at(UP, 25, 15));
        app.update();
        let group = if is_entity {
            Group::to(flag, units.iter().copied())
        } else {
            Group::to(Cell::new(25, 15), units.iter().copied())
                .request(PathRequest::default().goal_on(UP))
        };
        app.world_mut().spawn(group.formation(Formation::Line).keep_together());
        run_until(&mut app, 4_000, |app| !app.world().resource::<GroupEvents>().0.is_empty());
        assert_eq!(app.world().resource::<GroupEvents>().0, [(24, 0)]);
        check_places(&mut app, &units);
        for &unit in &units {
            let (floor, cell) = place_of(&app, unit);
            assert!(floor == UP && cell.chebyshev(Cell::new(25, 15)) < 14, "{floor:?} {cell}");
        }
    }
}

#[test]
fn members_that_cannot_come_are_refused() {
    let mut app = app_with_floors(3, (20, 20));
    link(&mut app, NavLink::new(at(DOWN, 18, 14), at(UP, 1, 14)));
    let below = spawn(&mut app, Critter::new(12.0), at(DOWN, 5, 5));
    let apart = spawn(&mut app, Critter::new(12.0), at(GridId(2), 5, 5));
    app.update();
    let request = PathRequest::default().goal_on(UP);
    app.world_mut().spawn(Group::to(Cell::new(10, 10), [below, apart]).request(request));
    run_until(&mut app, 900, |app| has_arrived(app, below));
    assert_eq!(place_of(&app, below).0, UP);
    let reason = PathFailure::NoLinks { from: GridId(2), to: UP };
    assert!(events(&app).contains(&Recorded::Refused(apart, reason)));
    assert_eq!(place_of(&app, apart), at(GridId(2), 5, 5));
}

/// A game draws units on a link as it likes, and changes them as they enter.
#[test]
fn what_a_game_draws_and_changes_while_units_cross_does_not_lead_them_astray() {
    let mut app = app_with_floors(2, (20, 12));
    let swimmer = app.world_mut().resource_mut::<NavGrids>().add_profile(Profile::default());
    link(&mut app, NavLink::new(at(DOWN, 10, 5), at(UP, 3, 5)).cost(6).capacity(4));
    let units: Vec<Entity> =
        (0..3).map(|y| spawn(&mut app, Critter::new(8.0), at(DOWN, 2, y + 4))).collect();
    let squad = units.clone();
    app.add_observer(move |_: On<LinkEntered>, mut agents: Query<&mut NavAgent>| {
        for &unit in &squad {
            agents.get_mut(unit).unwrap().profile = swimmer;
        }
    });
    app.add_systems(Update, |mut units: Query<(&PathStatus, &mut Transform), With<Critter>>| {
        for (_, mut transform) in units.iter_mut().filter(|unit| *unit.0 == PathStatus::Crossing) {
            transform.translation.x += 170.0;
            transform.translation.y -= 25.0;
        }
    });
    for (y, &unit) in units.iter().enumerate() {
        send(&mut app, unit, at(UP, 15, y as i32 + 4));
    }
    run_until(&mut app, 2_000, |app| units.iter().all(|&unit| has_arrived(app, unit)));
    check_places(&mut app, &units);
    for (y, &unit) in units.iter().enumerate() {
        assert_eq!(place_of(&app, unit), at(UP, 15, y as i32 + 4));
        assert_eq!(app.world().get::<NavAgent>(unit).unwrap().profile, swimmer);
    }
    let entered = link_events(&app).iter().filter(|event| event.0).count();
    assert_eq!(entered, 3, "each enters the link once");
}
