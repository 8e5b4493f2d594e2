//! Order queues: orders one after another, patrols, holds, and what comes between.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{Random, app::*};

/// What was said of an order.
#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Begun,
    Resumed,
    Done,
    Failed(PathFailure),
    Canceled,
    Superseded,
}
use What::{Begun, Canceled, Done, Failed, Resumed, Superseded};

impl From<OrderOutcome> for What {
    fn from(outcome: OrderOutcome) -> Self {
        match outcome {
            OrderOutcome::Done => Done,
            OrderOutcome::Failed(reason) => Failed(reason),
            OrderOutcome::Canceled => Canceled,
            OrderOutcome::Superseded => Superseded,
        }
    }
}

/// Of which unit and order, what, and where the unit was then.
#[derive(Clone, Copy, Debug)]
struct Word {
    unit: Entity,
    order: u64,
    what: What,
    cell: Cell,
}

#[derive(Resource, Default)]
struct Told(Vec<Word>);

/// Where critters have arrived, one after another.
#[derive(Resource, Default)]
struct Visits(Vec<Cell>);

fn cell_of(units: &Query<&CritterState>, unit: Entity) -> Cell {
    units.get(unit).map(CritterState::cell).unwrap_or_default()
}

/// An app that writes down what is said.
fn watched(map: &str) -> App {
    let mut app = app_with(map);
    app.init_resource::<Told>().init_resource::<Visits>();
    app.add_observer(
        |event: On<OrderBegun>, units: Query<&CritterState>, mut told: ResMut<Told>| {
            let unit = event.entity;
            let what = if event.resumed { Resumed } else { Begun };
            let cell = cell_of(&units, unit);
            told.0.push(Word { unit, order: event.order.number(), what, cell });
        },
    );
    app.add_observer(
        |event: On<OrderEnded>, units: Query<&CritterState>, mut told: ResMut<Told>| {
            let unit = event.entity;
            let cell = cell_of(&units, unit);
            let what = event.outcome.into();
            told.0.push(Word { unit, order: event.order.number(), what, cell });
        },
    );
    app.add_observer(|event: On<Arrived>, mut visits: ResMut<Visits>| visits.0.push(event.cell));
    app
}

fn words(app: &App) -> &[Word] {
    &app.world().resource::<Told>().0
}

fn told(app: &App, unit: Entity) -> Vec<(u64, What)> {
    let words = words(app).iter().filter(|word| word.unit == unit);
    words.map(|word| (word.order, word.what)).collect()
}

fn visits(app: &App) -> &[Cell] {
    &app.world().resource::<Visits>().0
}

fn go(x: i32, y: i32) -> PathRequest {
    PathRequest::to(Cell::new(x, y))
}

fn spawn(app: &mut App, cell: (i32, i32), orders: OrderQueue) -> Entity {
    let unit = spawn_critter(app, cell);
    app.world_mut().entity_mut(unit).insert(orders);
    unit
}

/// The same, one that may stand where others do.
fn spawn_through(app: &mut App, cell: (i32, i32), orders: OrderQueue) -> Entity {
    let unit = spawn_ghost(app, cell);
    app.world_mut().entity_mut(unit).insert(orders);
    unit
}

fn orders(app: &mut App, unit: Entity) -> Mut<'_, OrderQueue> {
    app.world_mut().get_mut(unit).unwrap()
}

fn is_idle(app: &App, unit: Entity) -> bool {
    app.world().get::<OrderQueue>(unit).is_none_or(OrderQueue::is_empty)
}

/// Runs until no order is left and all is said.
fn finish(app: &mut App, unit: Entity) {
    app.update();
    run_until(app, 3_000, |app| is_idle(app, unit));
    run(app, 3);
}

/// Asserts that the unit comes to rest where it is, without a request.
fn assert_halts(app: &mut App, unit: Entity) {
    let head = state(app, unit).walk().head();
    run(app, 20);
    assert!(!app.world().entity(unit).contains::<PathRequest>());
    assert_eq!(status(app, unit), PathStatus::Idle);
    assert_eq!(state(app, unit).cell(), head, "on the next cell");
    assert!(!state(app, unit).walk().is_between_cells());
}

fn block(app: &mut App, rect: CellRect) {
    grid(app).get_mut(GridId::default()).unwrap().block(rect).unwrap();
}

fn unblock(app: &mut App, rect: CellRect) {
    grid(app).get_mut(GridId::default()).unwrap().unblock(rect).unwrap();
}

const YARD: &str = "
    ............
    ............
    .....#......
    ............
    ............
";
const WALL: Cell = Cell::new(5, 2);

#[test]
fn orders_are_carried_out_one_after_another() {
    let impassable = Failed(PathFailure::GoalImpassable(WALL));
    let nowhere: Vec<Cell> = Vec::new();
    let new = OrderQueue::new;
    for (name, queue, expected, end) in [
        ("one", new().then(go(4, 1)), vec![(1, Begun), (1, Done)], (4, 1)),
        ("where it stands", new().then(go(0, 0)), vec![(1, Begun), (1, Done)], (0, 0)),
        (
            "three",
            new().then(go(4, 1)).then(go(4, 4)).then(go(0, 4)),
            vec![(1, Begun), (1, Done), (2, Begun), (2, Done), (3, Begun), (3, Done)],
            (0, 4),
        ),
        (
            "a patrol without stops",
            new().then(Order::patrol(nowhere, PatrolMode::Round)).then(go(3, 0)),
            vec![(1, Begun), (1, Done), (2, Begun), (2, Done)],
            (3, 0),
        ),
        (
            "a hold",
            new().then(Order::Hold { ticks: 10 }).then(go(3, 0)),
            vec![(1, Begun), (1, Done), (2, Begun), (2, Done)],
            (3, 0),
        ),
        (
            "holds of no time",
            new().then(Order::Hold { ticks: 0 }).then(Order::Hold { ticks: 0 }),
            vec![(1, Begun), (1, Done), (2, Begun), (2, Done)],
            (0, 0),
        ),
        (
            "ground held until another order, which waits already",
            new().then(Order::HoldGround).then(go(3, 0)),
            vec![(1, Begun), (1, Done), (2, Begun), (2, Done)],
            (3, 0),
        ),
        (
            "a failure and the next",
            new().then(go(5, 2)).then(go(3, 0)),
            vec![(1, Begun), (1, impassable), (2, Begun), (2, Done)],
            (3, 0),
        ),
        (
            "a failure before any search",
            new().then(PathRequest::to(Vec2::NAN)).then(go(3, 0)),
            vec![(1, Begun), (1, Failed(PathFailure::GoalUnknown)), (2, Begun), (2, Done)],
            (3, 0),
        ),
        (
            "a failure that stops all",
            new().then(go(2, 0)).then(go(5, 2)).then(go(3, 0)).on_failure(OnFailure::Stop),
            vec![(1, Begun), (1, Done), (2, Begun), (2, impassable), (3, Canceled)],
            (2, 0),
        ),
    ] {
        let mut app = watched(YARD);
        let unit = spawn(&mut app, (0, 0), queue);
        finish(&mut app, unit);
        assert_eq!(told(&app, unit), expected, "{name}");
        assert_eq!(state(&app, unit).cell(), Cell::from(end), "{name}");
    }
}

#[test]
fn the_next_order_is_begun_in_the_tick_after_an_arrival() {
    let mut app = watched(&field(20, 3));
    let unit = spawn(&mut app, (0, 1), OrderQueue::new().then(go(4, 1)).then(go(8, 1)));
    // Eight ticks a cell.
    run(&mut app, 32);
    assert_eq!(status(&app, unit), PathStatus::Arrived(PathKind::Complete));
    app.update();
    assert_eq!(told(&app, unit), [(1, Begun), (1, Done), (2, Begun)]);
    assert!(matches!(status(&app, unit), PathStatus::Walking(_)));
    run(&mut app, 31);
    assert_eq!(status(&app, unit), PathStatus::Arrived(PathKind::Complete), "none was lost");
    assert_eq!(state(&app, unit).cell(), Cell::new(8, 1));
}

#[test]
fn a_hold_lasts_as_long_as_it_says() {
    for ticks in [1, 2, 40] {
        let mut app = watched(&field(10, 3));
        let unit =
            spawn(&mut app, (0, 1), OrderQueue::new().then(Order::Hold { ticks }).then(go(3, 1)));
        app.update();
        assert_eq!(told(&app, unit), [(1, Begun)]);
        let held = run_until(&mut app, 100, |app| told(app, unit).contains(&(1, Done)));
        assert_eq!(held, ticks);
        assert!(matches!(status(&app, unit), PathStatus::Walking(_)), "and off it goes");
    }
}

#[test]
fn ground_is_held_until_another_order_comes() {
    let mut app = watched(&field(10, 3));
    let unit = spawn(&mut app, (0, 1), OrderQueue::new().then(Order::HoldGround));
    run(&mut app, 200);
    assert_eq!(told(&app, unit), [(1, Begun)]);
    orders(&mut app, unit).append(go(3, 1));
    finish(&mut app, unit);
    assert_eq!(told(&app, unit), [(1, Begun), (1, Done), (2, Begun), (2, Done)]);
}

#[test]
fn patrols_come_by_their_stops_in_order() {
    use PatrolMode::{Round, ThereAndBack};
    let (a, b, c, wall) = (Cell::new(1, 1), Cell::new(5, 1), Cell::new(5, 4), Cell::new(3, 3));
    for (mode, stops, expected) in [
        (ThereAndBack, vec![a, b, c], vec![a, b, c, b, a, b]),
        (Round, vec![a, b, c], vec![a, b, c, a, b, c]),
        (ThereAndBack, vec![a, b], vec![a, b, a, b]),
        (Round, vec![a, b], vec![a, b, a, b]),
        // Stops that cannot be reached are skipped.
        (ThereAndBack, vec![a, wall, c], vec![a, c, a, c]),
        (ThereAndBack, vec![wall, a, wall, c, wall], vec![a, c, c, a, a, c]),
        (Round, vec![wall, a, c], vec![a, c, a, c]),
    ] {
        let mut app = watched(&field(8, 6));
        block(&mut app, CellRect::single(wall));
        let queue = OrderQueue::new().then(Order::patrol(stops.clone(), mode)).then(go(7, 5));
        let unit = spawn(&mut app, (1, 1), queue);
        run_until(&mut app, 3_000, |app| visits(app).len() == expected.len());
        assert_eq!(visits(&app), expected, "{mode:?} {stops:?}");
        assert_eq!(told(&app, unit), [(1, Begun)], "it does not end by itself");
    }
}

#[test]
fn a_patrol_without_a_stop_to_reach_fails_after_a_round() {
    use PatrolMode::{Round, ThereAndBack};
    for (mode, count, tries, last) in [
        (Round, 1, 1, 0),
        (Round, 2, 2, 1),
        (Round, 5, 5, 4),
        (ThereAndBack, 1, 1, 0),
        (ThereAndBack, 2, 2, 1),
        (ThereAndBack, 4, 6, 1),
    ] {
        let mut app = watched(&field(8, 6));
        let stop = |number| Cell::new(100 + number, 0);
        let patrol = Order::patrol((0..count).map(stop), mode);
        let unit = spawn(&mut app, (0, 0), OrderQueue::new().then(patrol).then(go(3, 0)));
        for tick in 1..=tries {
            app.update();
            assert_eq!(counters(&app).failed, tick, "one request a tick");
        }
        finish(&mut app, unit);
        let failed = Failed(PathFailure::GoalOutOfBounds(stop(last)));
        let expected = [(1, Begun), (1, failed), (2, Begun), (2, Done)];
        assert_eq!(told(&app, unit), expected, "{mode:?} of {count}");
        assert_eq!(counters(&app).failed, tries);
    }
}

#[test]
fn a_patrol_that_cannot_move_rests_instead_of_asking_all_the_time() {
    let (here, nowhere) = (Cell::new(1, 1), Cell::new(100, 0));
    for stops in [vec![here], vec![here, here], vec![here, nowhere], vec![here; 3]] {
        let mut app = watched(&field(8, 6));
        let round = stops.len() as u64;
        let patrol = Order::patrol(stops.clone(), PatrolMode::Round);
        let unit = spawn(&mut app, (1, 1), OrderQueue::new().then(patrol));
        run(&mut app, 10);
        let before = counters(&app).requests;
        run(&mut app, 400);
        let asked = counters(&app).requests - before;
        // A rest takes 32 ticks.
        assert!((8..=13 * round).contains(&asked), "{asked} requests, {stops:?}");
        assert_eq!(told(&app, unit), [(1, Begun)]);
    }
}

#[test]
fn a_patrol_goes_on_when_its_way_is_opened() {
    let mut app = watched(&field(12, 3));
    let wall = CellRect::new(Cell::new(6, 0), 1, 3);
    block(&mut app, wall);
    let patrol = Order::patrol([Cell::new(1, 1), Cell::new(10, 1)], PatrolMode::ThereAndBack);
    let unit = spawn(&mut app, (1, 1), OrderQueue::new().then(patrol));
    run(&mut app, 100);
    assert_eq!(state(&app, unit).cell(), Cell::new(1, 1));
    unblock(&mut app, wall);
    run_until(&mut app, 300, |app| state(app, unit).cell() == Cell::new(10, 1));
}

/// A unit on its way to (30, 1), with an order to (0, 0) waiting.
fn under_way() -> (App, Entity) {
    let mut app = watched(&field(40, 3));
    let unit = spawn(&mut app, (0, 1), OrderQueue::new().then(go(30, 1)).then(go(0, 0)));
    run(&mut app, 20);
    assert!(state(&app, unit).walk().is_between_cells());
    (app, unit)
}

#[test]
fn a_queue_can_be_looked_into() {
    let (mut app, unit) = under_way();
    let queue = orders(&mut app, unit);
    let (first, order) = queue.current().unwrap();
    assert_eq!((first.number(), order), (1, &Order::Go(go(30, 1))));
    let waiting: Vec<_> = queue.waiting().map(|(id, order)| (id.number(), order)).collect();
    assert_eq!(waiting, [(2, &Order::Go(go(0, 0)))]);
    assert_eq!((queue.len(), queue.is_empty()), (2, false));
    assert!(OrderQueue::new().is_empty() && OrderQueue::new().current().is_none());
}

#[test]
fn an_order_can_take_the_place_of_all_others() {
    let (mut app, unit) = under_way();
    assert_eq!(orders(&mut app, unit).replace(go(2, 2)).number(), 3);
    finish(&mut app, unit);
    let expected = [(1, Begun), (1, Superseded), (2, Superseded), (3, Begun), (3, Done)];
    assert_eq!(told(&app, unit), expected);
    assert_eq!(state(&app, unit).cell(), Cell::new(2, 2));
}

#[test]
fn replacing_again_and_again_in_one_tick_asks_once() {
    let (mut app, unit) = under_way();
    let before = counters(&app).requests;
    for x in 0..10 {
        orders(&mut app, unit).replace(go(x, 2));
    }
    app.update();
    assert_eq!(counters(&app).requests, before + 1);
    finish(&mut app, unit);
    assert_eq!(state(&app, unit).cell(), Cell::new(9, 2));
    let ended = told(&app, unit).iter().filter(|(_, what)| *what == Superseded).count();
    assert_eq!(ended, 2 + 9, "each is told of");
}

#[test]
fn an_order_put_first_comes_between() {
    let (mut app, unit) = under_way();
    orders(&mut app, unit).insert_first(go(2, 0));
    orders(&mut app, unit).insert_first(go(4, 2));
    finish(&mut app, unit);
    let expected = [
        (1, Begun),
        (4, Begun),
        (4, Done),
        (3, Begun),
        (3, Done),
        (1, Resumed),
        (1, Done),
        (2, Begun),
        (2, Done),
    ];
    assert_eq!(told(&app, unit), expected);
    let cells = [(4, 2), (2, 0), (30, 1), (0, 0)].map(Cell::from);
    assert_eq!(visits(&app), cells, "the first is carried out from where it then is");
}

#[test]
fn a_patrol_goes_on_to_the_stop_it_was_on_the_way_to() {
    let mut app = watched(&field(30, 3));
    let stops = [(0, 1), (10, 1), (20, 1)].map(Cell::from);
    let patrol = Order::patrol(stops, PatrolMode::ThereAndBack);
    let unit = spawn(&mut app, (0, 1), OrderQueue::new().then(patrol));
    run_until(&mut app, 500, |app| visits(app).len() == 2);
    run(&mut app, 10);
    orders(&mut app, unit).insert_first(go(12, 0));
    run_until(&mut app, 500, |app| visits(app).len() == 5);
    assert_eq!(visits(&app), [(0, 1), (10, 1), (12, 0), (20, 1), (10, 1)].map(Cell::from));
    assert_eq!(told(&app, unit), [(1, Begun), (2, Begun), (2, Done), (1, Resumed)]);
}

#[test]
fn a_hold_that_was_interrupted_stands_for_the_rest_of_its_time() {
    let mut app = watched(&field(10, 3));
    let unit = spawn(&mut app, (0, 1), OrderQueue::new().then(Order::Hold { ticks: 20 }));
    run(&mut app, 8);
    orders(&mut app, unit).insert_first(Order::Hold { ticks: 5 });
    let more = run_until(&mut app, 100, |app| told(app, unit).contains(&(1, Done)));
    assert_eq!(8 + more, 1 + 20 + 5);
    assert_eq!(told(&app, unit), [(1, Begun), (2, Begun), (2, Done), (1, Resumed), (1, Done)]);
}

#[test]
fn what_has_arrived_is_not_taken_up_again() {
    for (order, expected_visits) in [
        (Order::Go(go(4, 1)), vec![(4, 1)]),
        (
            Order::patrol([Cell::new(4, 1), Cell::new(8, 1)], PatrolMode::Round),
            vec![(4, 1), (8, 1)],
        ),
    ] {
        let mut app = watched(&field(12, 3));
        // Upon the first arrival, before the queue has heard of it.
        app.add_observer(
            |event: On<Arrived>, mut queues: Query<&mut OrderQueue>, mut again: Local<bool>| {
                if !std::mem::replace(&mut *again, true) {
                    queues.get_mut(event.entity).unwrap().insert_first(Order::Hold { ticks: 5 });
                }
            },
        );
        let unit = spawn(&mut app, (0, 1), OrderQueue::new().then(order));
        run_until(&mut app, 500, |app| {
            visits(app).len() == expected_visits.len() && told(app, unit).contains(&(2, Done))
        });
        run(&mut app, 5);
        let expected_visits: Vec<Cell> = expected_visits.into_iter().map(Cell::from).collect();
        assert_eq!(visits(&app), expected_visits);
    }
}

#[test]
fn stopping_drops_everything_and_halts_the_unit() {
    let (mut app, unit) = under_way();
    orders(&mut app, unit).stop();
    assert_halts(&mut app, unit);
    assert_eq!(told(&app, unit), [(1, Begun), (1, Canceled), (2, Canceled)]);
    orders(&mut app, unit).stop();
    run(&mut app, 3);
    assert_eq!(told(&app, unit).len(), 3, "there was nothing to stop");
    let next = orders(&mut app, unit).append(go(3, 2));
    finish(&mut app, unit);
    assert_eq!(told(&app, unit)[3..], [(next.number(), Begun), (next.number(), Done)]);
}

#[test]
fn orders_are_canceled_one_by_one() {
    for (canceled, expected) in [
        (vec![1_usize], vec![(1, Begun), (1, Canceled), (2, Begun), (2, Done)]),
        (vec![2], vec![(1, Begun), (2, Canceled), (1, Done)]),
        (vec![2, 1], vec![(1, Begun), (2, Canceled), (1, Canceled)]),
    ] {
        let (mut app, unit) = under_way();
        let mut queue = orders(&mut app, unit);
        let ids: Vec<OrderId> =
            queue.current().into_iter().chain(queue.waiting()).map(|(id, _)| id).collect();
        for &number in &canceled {
            assert!(queue.cancel(ids[number - 1]));
            assert!(!queue.cancel(ids[number - 1]), "it is gone");
        }
        assert!(!queue.cancel(OrderId::default()), "there never was such an order");
        if canceled.len() == ids.len() {
            assert_halts(&mut app, unit);
        } else {
            finish(&mut app, unit);
        }
        assert_eq!(told(&app, unit), expected);
    }
}

#[test]
fn a_hold_in_place_of_a_way_halts_the_unit() {
    for order in [Order::Hold { ticks: 100 }, Order::HoldGround] {
        let (mut app, unit) = under_way();
        orders(&mut app, unit).replace(order);
        assert_halts(&mut app, unit);
        assert_eq!(told(&app, unit)[3..], [(3, Begun)]);
    }
}

/// What the game does to a unit behind the back of its queue.
#[derive(Clone, Copy, Debug)]
enum Deed {
    PutOn(i32, i32),
    TakeOff,
    Wait(u32),
}
use Deed::{PutOn, TakeOff, Wait};

fn do_deed(app: &mut App, unit: Entity, deed: Deed) {
    match deed {
        PutOn(x, y) => {
            app.world_mut().entity_mut(unit).insert(go(x, y));
        }
        TakeOff => {
            app.world_mut().entity_mut(unit).remove::<PathRequest>();
        }
        Wait(ticks) => run(app, ticks),
    }
}

#[test]
fn requests_of_the_game_come_first_and_the_queue_waits() {
    for (deeds, outcome) in [
        (vec![PutOn(2, 2)], Superseded),
        (vec![PutOn(2, 2), PutOn(9, 9), Wait(1), PutOn(2, 2)], Superseded),
        (vec![PutOn(99, 99)], Superseded),
        (vec![PutOn(39, 2), Wait(10), TakeOff], Superseded),
        (vec![TakeOff], Canceled),
        (vec![TakeOff, PutOn(2, 2)], Superseded),
        (vec![PutOn(2, 2), TakeOff], Canceled),
    ] {
        let (mut app, unit) = under_way();
        for &deed in &deeds {
            do_deed(&mut app, unit, deed);
        }
        finish(&mut app, unit);
        let expected = [(1, Begun), (1, outcome), (2, Begun), (2, Done)];
        assert_eq!(told(&app, unit), expected, "{deeds:?}");
        let began_at = words(&app).iter().find(|word| word.order == 2).unwrap().cell;
        match deeds.last().unwrap() {
            PutOn(2, 2) => assert_eq!(began_at, Cell::new(2, 2), "it waited: {deeds:?}"),
            _ => assert!(began_at.x < 6, "it did not wait: {deeds:?}"),
        }
        assert_eq!(state(&app, unit).cell(), Cell::new(0, 0), "{deeds:?}");
    }
}

#[test]
fn requests_of_the_game_end_orders_that_stand() {
    for order in [
        Order::Hold { ticks: 1_000 },
        Order::HoldGround,
        Order::patrol([Cell::new(0, 1)], PatrolMode::Round),
    ] {
        let mut app = watched(&field(10, 3));
        let unit = spawn(&mut app, (0, 1), OrderQueue::new().then(order.clone()));
        run(&mut app, 40);
        do_deed(&mut app, unit, PutOn(5, 2));
        run(&mut app, 100);
        assert_eq!(told(&app, unit), [(1, Begun), (1, Superseded)], "{order:?}");
        assert_eq!(state(&app, unit).cell(), Cell::new(5, 2));
    }
}

#[test]
fn a_queue_waits_for_the_request_that_was_there_before_it() {
    let mut app = watched(&field(20, 3));
    let unit = spawn_critter(&mut app, (0, 1));
    order(&mut app, unit, (10, 1));
    run(&mut app, 10);
    app.world_mut().entity_mut(unit).insert(OrderQueue::new().then(go(0, 2)));
    finish(&mut app, unit);
    assert_eq!(told(&app, unit), [(1, Begun), (1, Done)]);
    assert_eq!(words(&app)[0].cell, Cell::new(10, 1));
    // One that has ended is not waited for.
    orders(&mut app, unit).append(go(3, 2));
    app.update();
    assert!(matches!(status(&app, unit), PathStatus::Walking(_)));
}

#[test]
fn stopping_leaves_requests_of_the_game_alone() {
    let (mut app, unit) = under_way();
    orders(&mut app, unit).stop();
    do_deed(&mut app, unit, PutOn(5, 2));
    run(&mut app, 100);
    assert_eq!(told(&app, unit), [(1, Begun), (1, Canceled), (2, Canceled)]);
    assert_eq!(state(&app, unit).cell(), Cell::new(5, 2));
}

/// Requests are read a few a tick; statuses lag behind, and must not be taken for those of the
/// orders now under way.
#[test]
fn orders_are_done_where_they_lead_even_in_a_flood() {
    let mut app = watched(&field(12, 12));
    app.world_mut().resource_mut::<TilePathSettings>().budget = 96;
    let mut random = Random(5);
    let mut goals = Vec::new();
    let units: Vec<Entity> =
        (0..40).map(|x| spawn(&mut app, (x % 12, x / 12), OrderQueue::new())).collect();
    for round in 0..4 {
        for &unit in &units {
            let goal = (random.below(12) as i32, random.below(12) as i32);
            let mut queue = orders(&mut app, unit);
            let request = go(goal.0, goal.1);
            let how = if round < 2 { 2 } else { random.below(3) };
            let id = match how {
                0 => queue.insert_first(request),
                1 => queue.replace(request),
                _ => queue.append(request),
            };
            goals.push((unit, id.number(), Cell::from(goal)));
        }
        run(&mut app, 3);
    }
    run_until(&mut app, 20_000, |app| units.iter().all(|&unit| is_idle(app, unit)));
    run(&mut app, 3);
    for (unit, order, goal) in goals {
        let ends: Vec<&Word> = words(&app)
            .iter()
            .filter(|word| word.unit == unit && word.order == order)
            .filter(|word| !matches!(word.what, Begun | Resumed))
            .collect();
        assert_eq!(ends.len(), 1, "an order ends once");
        match ends[0].what {
            Done => assert_eq!(ends[0].cell, goal),
            what => assert_eq!(what, Superseded),
        }
    }
    let done = words(&app).iter().filter(|word| word.what == Done).count();
    assert!(done > 60, "only {done} were done");
}

#[test]
fn removing_the_queue_cancels_its_orders_and_halts_the_unit() {
    let (mut app, unit) = under_way();
    app.world_mut().entity_mut(unit).remove::<OrderQueue>();
    assert_halts(&mut app, unit);
    assert_eq!(told(&app, unit), [(1, Begun), (1, Canceled), (2, Canceled)]);
    app.world_mut().entity_mut(unit).insert(OrderQueue::new().then(go(5, 2)));
    finish(&mut app, unit);
    assert_eq!(state(&app, unit).cell(), Cell::new(5, 2), "another one can be put on");
}

#[test]
fn removing_the_queue_leaves_a_request_of_the_game_alone() {
    for ticks in [0, 1, 5] {
        let (mut app, unit) = under_way();
        do_deed(&mut app, unit, PutOn(5, 2));
        run(&mut app, ticks);
        app.world_mut().entity_mut(unit).remove::<OrderQueue>();
        run(&mut app, 100);
        assert_eq!(state(&app, unit).cell(), Cell::new(5, 2));
    }
}

#[test]
fn another_queue_takes_the_place_of_the_old_one() {
    let superseded: [(u64, What); 3] = [(1, Begun), (1, Superseded), (2, Superseded)];
    // Its orders are carried out.
    let (mut app, unit) = under_way();
    app.world_mut().entity_mut(unit).insert(OrderQueue::new().then(go(2, 2)));
    finish(&mut app, unit);
    assert_eq!(told(&app, unit)[..3], superseded);
    assert_eq!(told(&app, unit)[3..], [(1, Begun), (1, Done)]);
    assert_eq!(state(&app, unit).cell(), Cell::new(2, 2));
    // It has none.
    let (mut app, unit) = under_way();
    app.world_mut().entity_mut(unit).insert(OrderQueue::new());
    assert_halts(&mut app, unit);
    assert_eq!(told(&app, unit), superseded);
    // It comes with a request of the game.
    let (mut app, unit) = under_way();
    app.world_mut().entity_mut(unit).insert((OrderQueue::new(), go(5, 2)));
    run(&mut app, 100);
    assert_eq!(told(&app, unit), superseded);
    assert_eq!(state(&app, unit).cell(), Cell::new(5, 2));
}

#[test]
fn a_queue_that_was_overwritten_is_carried_out_at_once() {
    let (mut app, unit) = under_way();
    *orders(&mut app, unit) = OrderQueue::new().then(go(2, 2));
    finish(&mut app, unit);
    assert_eq!(state(&app, unit).cell(), Cell::new(2, 2));
    assert_eq!(visits(&app), [Cell::new(2, 2)]);
    let (mut app, unit) = under_way();
    *orders(&mut app, unit) = OrderQueue::new();
    assert_halts(&mut app, unit);
}

#[test]
fn a_cloned_queue_is_carried_out_by_another_unit() {
    let (mut app, unit) = under_way();
    let queue = orders(&mut app, unit).clone();
    let other = spawn_through(&mut app, (0, 2), queue);
    finish(&mut app, unit);
    finish(&mut app, other);
    for unit in [unit, other] {
        let said = told(&app, unit);
        assert_eq!(said.iter().filter(|(_, what)| *what == Done).count(), 2);
        assert_eq!(state(&app, unit).cell(), Cell::new(0, 0));
    }
    let far = visits(&app).iter().filter(|&&cell| cell == Cell::new(30, 1)).count();
    assert_eq!(far, 2, "both came by there");
}

#[test]
fn despawning_leaves_nothing_behind() {
    let (mut app, unit) = under_way();
    app.world_mut().entity_mut(unit).despawn();
    let other = spawn(&mut app, (0, 1), OrderQueue::new().then(Order::Hold { ticks: 10 }));
    app.update();
    app.world_mut().entity_mut(other).despawn();
    run(&mut app, 20);
    assert_eq!(told(&app, unit), [(1, Begun)], "nobody is left to be told of");
    assert_eq!(told(&app, other), [(1, Begun)]);
    assert_eq!((counters(&app).waiting, counters(&app).in_flight), (0, 0));
}

#[test]
fn who_hears_of_an_end_may_give_the_next_order() {
    let mut app = watched(&field(10, 3));
    app.add_observer(|event: On<OrderEnded>, mut queues: Query<&mut OrderQueue>| {
        if event.order.number() < 4 {
            let x = event.order.number() as i32;
            queues.get_mut(event.entity).unwrap().append(go(x, 2));
        }
    });
    let unit = spawn(&mut app, (0, 1), OrderQueue::new().then(go(0, 2)));
    run_until(&mut app, 500, |app| told(app, unit).contains(&(4, Done)));
    assert_eq!(told(&app, unit).len(), 8);
    assert_eq!(state(&app, unit).cell(), Cell::new(3, 2));
}

#[test]
fn who_hears_of_a_beginning_may_stop_it() {
    let mut app = watched(&field(10, 3));
    app.add_observer(|event: On<OrderBegun>, mut queues: Query<&mut OrderQueue>| {
        queues.get_mut(event.entity).unwrap().stop();
    });
    let unit = spawn(&mut app, (0, 1), OrderQueue::new().then(go(5, 2)));
    run(&mut app, 20);
    assert_eq!(told(&app, unit), [(1, Begun), (1, Canceled)]);
    assert_eq!(place(&app, unit), Vec2::new(0.0, 10.0));
    assert_eq!(counters(&app).requests, 0, "the request was not even put on");
}

#[derive(Component)]
struct Odd;

#[test]
fn units_are_looked_at_in_the_order_in_which_they_got_their_queues() {
    let mut app = watched(&field(10, 10));
    let units: Vec<Entity> = (0..8).map(|x| spawn_critter(&mut app, (x, 0))).collect();
    for &unit in units.iter().step_by(2) {
        app.world_mut().entity_mut(unit).insert(Odd); // in another archetype
    }
    let sequence = [5, 0, 3, 7, 1, 4, 2, 6].map(|index| units[index]);
    for unit in sequence {
        app.world_mut().entity_mut(unit).insert(OrderQueue::new());
    }
    for &unit in &units {
        orders(&mut app, unit).append(Order::Hold { ticks: 7 });
        orders(&mut app, unit).append(go(9, 9));
    }
    run(&mut app, 10);
    for said in [(1, Begun), (1, Done), (2, Begun)] {
        let who = words(&app).iter().filter(|word| (word.order, word.what) == said);
        assert_eq!(who.map(|word| word.unit).collect::<Vec<_>>(), sequence, "{said:?}");
    }
}

#[test]
fn thousands_of_queues_are_carried_out() {
    let mut app = watched(&field(64, 64));
    let mut random = Random(9);
    let mut at = || (random.below(64) as i32, random.below(64) as i32);
    let units: Vec<Entity> = (0..3_000)
        .map(|index| {
            let (x, y) = at();
            let queue = OrderQueue::new()
                .then(Order::Hold { ticks: index % 20 })
                .then(go((x + 3).min(63), y))
                .then(go(x, (y + 3).min(63)));
            spawn_through(&mut app, (x, y), queue)
        })
        .collect();
    run_until(&mut app, 500, |app| units.iter().all(|&unit| is_idle(app, unit)));
    run(&mut app, 2);
    let done = words(&app).iter().filter(|word| word.what == Done).count();
    assert_eq!(done, 9_000);
    assert_eq!(counters(&app).failed, 0);
}

#[test]
fn a_unit_that_the_game_moves_says_when_it_is_there() {
    let mut app = watched(&field(10, 3));
    let queue = OrderQueue::new().then(go(4, 1)).then(Order::Hold { ticks: 50 }).then(go(6, 1));
    let unit = app.world_mut().spawn((Transform::from_xyz(0.0, 10.0, 0.0), queue)).id();
    assert!(!orders(&mut app, unit).reached(), "nothing is under way");
    run(&mut app, 30);
    assert_eq!(status(&app, unit), PathStatus::Found(PathKind::Complete));
    assert_eq!(told(&app, unit), [(1, Begun)]);
    assert!(orders(&mut app, unit).reached());
    app.update();
    assert_eq!(told(&app, unit), [(1, Begun), (1, Done), (2, Begun)]);
    assert!(!orders(&mut app, unit).reached(), "a hold does not go anywhere");
    run(&mut app, 60);
    assert_eq!(told(&app, unit)[3..], [(2, Done), (3, Begun)], "what was found does not block");
    assert!(orders(&mut app, unit).reached());
    app.update();
    assert_eq!(told(&app, unit).last(), Some(&(3, Done)));
}

#[test]
fn a_target_is_followed_until_another_order_waits_or_it_is_gone() {
    let at = |x: f32| Transform::from_xyz(x, 10.0, 0.0);
    // Nothing waits.
    let mut app = watched(&field(30, 3));
    let flag = app.world_mut().spawn(at(50.0)).id();
    let unit = spawn(&mut app, (0, 1), OrderQueue::new().then(PathRequest::follow(flag)));
    run_until(&mut app, 200, |app| state(app, unit).cell() == Cell::new(5, 1));
    run(&mut app, 20);
    app.world_mut().get_mut::<Transform>(flag).unwrap().translation.x = 100.0;
    run_until(&mut app, 200, |app| state(app, unit).cell() == Cell::new(10, 1));
    run(&mut app, 20);
    assert_eq!(told(&app, unit), [(1, Begun)]);
    // Another order comes.
    orders(&mut app, unit).append(Order::Hold { ticks: 60 });
    app.update();
    assert_eq!(told(&app, unit), [(1, Begun), (1, Done), (2, Begun)]);
    app.world_mut().get_mut::<Transform>(flag).unwrap().translation.x = 200.0;
    run(&mut app, 40);
    assert_eq!(state(&app, unit).cell(), Cell::new(10, 1), "it does not follow while it holds");
    // The target is gone.
    orders(&mut app, unit).replace(PathRequest::follow(flag));
    orders(&mut app, unit).append(go(0, 0));
    run(&mut app, 10);
    app.world_mut().entity_mut(flag).despawn();
    finish(&mut app, unit);
    let expected = [(3, Failed(PathFailure::TargetGone)), (4, Begun), (4, Done)];
    assert_eq!(told(&app, unit)[5..], expected);
}

#[test]
fn an_order_that_is_tried_again_has_not_failed() {
    let mut app = watched(&field(10, 3));
    let goal = CellRect::single(Cell::new(5, 1));
    block(&mut app, goal);
    let request = go(5, 1).retry(Retry { after: 4, longest: 4, most: 20 });
    let unit = spawn(&mut app, (0, 1), OrderQueue::new().then(request).then(go(0, 0)));
    run(&mut app, 30);
    assert_eq!(told(&app, unit), [(1, Begun)]);
    unblock(&mut app, goal);
    finish(&mut app, unit);
    assert_eq!(told(&app, unit), [(1, Begun), (1, Done), (2, Begun), (2, Done)]);
}

#[test]
fn entities_in_orders_are_mapped() {
    let mut world = World::new();
    let (old, new) = (world.spawn_empty().id(), world.spawn_empty().id());
    let queue = |entity: Entity| {
        OrderQueue::new()
            .then(PathRequest::to(entity))
            .then(Order::patrol([entity], PatrolMode::Round))
            .then(Order::HoldGround)
    };
    let mut mapped = queue(old);
    <OrderQueue as Component>::map_entities(&mut mapped, &mut (old, new));
    assert_eq!(mapped, queue(new));
}
