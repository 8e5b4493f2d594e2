//! Order queues: sequences of orders, patrols, holds, and interruptions.

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::common::{
    Random,
    app::*,
    units::{block, unblock},
};

/// A reported change of an order.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    Begun,
    Resumed,
    Done,
    Failed(PathFailure),
    Canceled,
    Replaced,
}
use Change::{Begun, Canceled, Done, Failed, Replaced, Resumed};

impl From<OrderOutcome> for Change {
    fn from(outcome: OrderOutcome) -> Self {
        match outcome {
            OrderOutcome::Done => Done,
            OrderOutcome::Failed(reason) => Failed(reason),
            OrderOutcome::Canceled => Canceled,
            OrderOutcome::Replaced => Replaced,
        }
    }
}

/// A unit, its order, the reported change, and the cell of the unit at that time.
#[derive(Clone, Copy, Debug)]
struct LogEntry {
    unit: Entity,
    order: u64,
    change: Change,
    cell: Cell,
}

#[derive(Resource, Default)]
struct OrderLog(Vec<LogEntry>);

/// The cells on which critters have arrived, in order.
#[derive(Resource, Default)]
struct Visits(Vec<Cell>);

fn cell_of(units: &Query<&CritterState>, unit: Entity) -> Cell {
    units.get(unit).map(CritterState::cell).unwrap_or_default()
}

/// Returns an app that records all order events and arrivals.
fn with_log(map: &str) -> App {
    let mut app = app_with(map);
    app.init_resource::<OrderLog>().init_resource::<Visits>();
    app.add_observer(
        |event: On<OrderBegun>, units: Query<&CritterState>, mut log: ResMut<OrderLog>| {
            let unit = event.entity;
            let change = if event.resumed { Resumed } else { Begun };
            let cell = cell_of(&units, unit);
            log.0.push(LogEntry { unit, order: event.order.number(), change, cell });
        },
    );
    app.add_observer(
        |event: On<OrderEnded>, units: Query<&CritterState>, mut log: ResMut<OrderLog>| {
            let unit = event.entity;
            let cell = cell_of(&units, unit);
            let change = event.outcome.into();
            log.0.push(LogEntry { unit, order: event.order.number(), change, cell });
        },
    );
    app.add_observer(|event: On<Arrived>, mut visits: ResMut<Visits>| visits.0.push(event.cell));
    app
}

fn entries(app: &App) -> &[LogEntry] {
    &app.world().resource::<OrderLog>().0
}

fn changes(app: &App, unit: Entity) -> Vec<(u64, Change)> {
    let entries = entries(app).iter().filter(|entry| entry.unit == unit);
    entries.map(|entry| (entry.order, entry.change)).collect()
}

fn visits(app: &App) -> &[Cell] {
    &app.world().resource::<Visits>().0
}

fn go_to(x: i32, y: i32) -> PathRequest {
    PathRequest::to(Cell::new(x, y))
}

fn spawn(app: &mut App, cell: (i32, i32), orders: OrderQueue) -> Entity {
    let unit = spawn_critter(app, cell);
    app.world_mut().entity_mut(unit).insert(orders);
    unit
}

/// Spawns a ghost with orders: it may stand on occupied cells.
fn spawn_ghost_with(app: &mut App, cell: (i32, i32), orders: OrderQueue) -> Entity {
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

/// Runs until no order is left and all events are reported.
fn finish(app: &mut App, unit: Entity) {
    app.update();
    run_until(app, 3_000, |app| is_idle(app, unit));
    run(app, 3);
}

/// Asserts that the unit stops on the cell it enters, without a request.
fn assert_halts(app: &mut App, unit: Entity) {
    let head = state(app, unit).walk().head();
    run(app, 20);
    assert!(!app.world().entity(unit).contains::<PathRequest>());
    assert_eq!(status(app, unit), PathStatus::Idle);
    assert_eq!(state(app, unit).cell(), head, "on the next cell");
    assert!(!state(app, unit).walk().is_between_cells());
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
fn orders_are_executed_one_after_another() {
    let impassable = Failed(PathFailure::GoalImpassable(WALL));
    let nowhere: Vec<Cell> = Vec::new();
    let new = OrderQueue::new;
    for (name, queue, expected, end) in [
        ("one", new().then(go_to(4, 1)), vec![(1, Begun), (1, Done)], (4, 1)),
        ("its own cell", new().then(go_to(0, 0)), vec![(1, Begun), (1, Done)], (0, 0)),
        (
            "three",
            new().then(go_to(4, 1)).then(go_to(4, 4)).then(go_to(0, 4)),
            vec![(1, Begun), (1, Done), (2, Begun), (2, Done), (3, Begun), (3, Done)],
            (0, 4),
        ),
        (
            "a patrol without stops",
            new().then(Order::patrol(nowhere, PatrolMode::Round)).then(go_to(3, 0)),
            vec![(1, Begun), (1, Done), (2, Begun), (2, Done)],
            (3, 0),
        ),
        (
            "a wait",
            new().then(Order::Wait { ticks: 10 }).then(go_to(3, 0)),
            vec![(1, Begun), (1, Done), (2, Begun), (2, Done)],
            (3, 0),
        ),
        (
            "holds of 0 ticks",
            new().then(Order::Wait { ticks: 0 }).then(Order::Wait { ticks: 0 }),
            vec![(1, Begun), (1, Done), (2, Begun), (2, Done)],
            (0, 0),
        ),
        (
            "a stay until another order, which is already queued",
            new().then(Order::Stay).then(go_to(3, 0)),
            vec![(1, Begun), (1, Done), (2, Begun), (2, Done)],
            (3, 0),
        ),
        (
            "a failure, then the next order",
            new().then(go_to(5, 2)).then(go_to(3, 0)),
            vec![(1, Begun), (1, impassable), (2, Begun), (2, Done)],
            (3, 0),
        ),
        (
            "a failure before any search",
            new().then(PathRequest::to(Vec2::NAN)).then(go_to(3, 0)),
            vec![(1, Begun), (1, Failed(PathFailure::GoalUnknown)), (2, Begun), (2, Done)],
            (3, 0),
        ),
        (
            "a failure that stops all",
            new().then(go_to(2, 0)).then(go_to(5, 2)).then(go_to(3, 0)).on_failure(OnFailure::Stop),
            vec![(1, Begun), (1, Done), (2, Begun), (2, impassable), (3, Canceled)],
            (2, 0),
        ),
    ] {
        let mut app = with_log(YARD);
        let unit = spawn(&mut app, (0, 0), queue);
        finish(&mut app, unit);
        assert_eq!(changes(&app, unit), expected, "{name}");
        assert_eq!(state(&app, unit).cell(), Cell::from(end), "{name}");
    }
}

#[test]
fn the_next_order_begins_in_the_tick_after_an_arrival() {
    let mut app = with_log(&field(20, 3));
    let unit = spawn(&mut app, (0, 1), OrderQueue::new().then(go_to(4, 1)).then(go_to(8, 1)));
    // Eight ticks per cell.
    run(&mut app, 32);
    assert_eq!(status(&app, unit), PathStatus::Arrived(PathKind::Complete));
    app.update();
    assert_eq!(changes(&app, unit), [(1, Begun), (1, Done), (2, Begun)]);
    assert!(matches!(status(&app, unit), PathStatus::Walking(_)));
    run(&mut app, 31);
    assert_eq!(status(&app, unit), PathStatus::Arrived(PathKind::Complete), "no tick was lost");
    assert_eq!(state(&app, unit).cell(), Cell::new(8, 1));
}

#[test]
fn a_hold_lasts_for_its_ticks() {
    for ticks in [1, 2, 40] {
        let mut app = with_log(&field(10, 3));
        let unit = spawn(
            &mut app,
            (0, 1),
            OrderQueue::new().then(Order::Wait { ticks }).then(go_to(3, 1)),
        );
        app.update();
        assert_eq!(changes(&app, unit), [(1, Begun)]);
        let held = run_until(&mut app, 100, |app| changes(app, unit).contains(&(1, Done)));
        assert_eq!(held, ticks);
        assert!(matches!(status(&app, unit), PathStatus::Walking(_)), "it starts immediately");
    }
}

#[test]
fn hold_ground_lasts_until_another_order_comes() {
    let mut app = with_log(&field(10, 3));
    let unit = spawn(&mut app, (0, 1), OrderQueue::new().then(Order::Stay));
    run(&mut app, 200);
    assert_eq!(changes(&app, unit), [(1, Begun)]);
    orders(&mut app, unit).append(go_to(3, 1));
    finish(&mut app, unit);
    assert_eq!(changes(&app, unit), [(1, Begun), (1, Done), (2, Begun), (2, Done)]);
}

#[test]
fn patrols_visit_their_stops_in_order() {
    use PatrolMode::{Round, ThereAndBack};
    let (a, b, c, wall) = (Cell::new(1, 1), Cell::new(5, 1), Cell::new(5, 4), Cell::new(3, 3));
    for (mode, stops, expected) in [
        (ThereAndBack, vec![a, b, c], vec![a, b, c, b, a, b]),
        (Round, vec![a, b, c], vec![a, b, c, a, b, c]),
        (ThereAndBack, vec![a, b], vec![a, b, a, b]),
        (Round, vec![a, b], vec![a, b, a, b]),
        // Unreachable stops are skipped.
        (ThereAndBack, vec![a, wall, c], vec![a, c, a, c]),
        (ThereAndBack, vec![wall, a, wall, c, wall], vec![a, c, c, a, a, c]),
        (Round, vec![wall, a, c], vec![a, c, a, c]),
    ] {
        let mut app = with_log(&field(8, 6));
        block(&mut app, CellRect::single(wall));
        let queue = OrderQueue::new().then(Order::patrol(stops.clone(), mode)).then(go_to(7, 5));
        let unit = spawn(&mut app, (1, 1), queue);
        run_until(&mut app, 3_000, |app| visits(app).len() == expected.len());
        assert_eq!(visits(&app), expected, "{mode:?} {stops:?}");
        assert_eq!(changes(&app, unit), [(1, Begun)], "it does not end");
    }
}

#[test]
fn a_patrol_without_a_reachable_stop_fails_after_one_round() {
    use PatrolMode::{Round, ThereAndBack};
    for (mode, count, tries, last) in [
        (Round, 1, 1, 0),
        (Round, 2, 2, 1),
        (Round, 5, 5, 4),
        (ThereAndBack, 1, 1, 0),
        (ThereAndBack, 2, 2, 1),
        (ThereAndBack, 4, 6, 1),
    ] {
        let mut app = with_log(&field(8, 6));
        let stop = |number| Cell::new(100 + number, 0);
        let patrol = Order::patrol((0..count).map(stop), mode);
        let unit = spawn(&mut app, (0, 0), OrderQueue::new().then(patrol).then(go_to(3, 0)));
        for tick in 1..=tries {
            app.update();
            assert_eq!(counters(&app).failed, tick, "one request per tick");
        }
        finish(&mut app, unit);
        let failed = Failed(PathFailure::GoalOutOfBounds(stop(last)));
        let expected = [(1, Begun), (1, failed), (2, Begun), (2, Done)];
        assert_eq!(changes(&app, unit), expected, "{mode:?} of {count}");
        assert_eq!(counters(&app).failed, tries);
    }
}

#[test]
fn a_patrol_that_cannot_move_pauses_between_requests() {
    let (here, nowhere) = (Cell::new(1, 1), Cell::new(100, 0));
    for stops in [vec![here], vec![here, here], vec![here, nowhere], vec![here; 3]] {
        let mut app = with_log(&field(8, 6));
        let round = stops.len() as u64;
        let patrol = Order::patrol(stops.clone(), PatrolMode::Round);
        let unit = spawn(&mut app, (1, 1), OrderQueue::new().then(patrol));
        run(&mut app, 10);
        let before = counters(&app).requests;
        run(&mut app, 400);
        let requests = counters(&app).requests - before;
        // A pause takes 32 ticks.
        assert!((8..=13 * round).contains(&requests), "{requests} requests, {stops:?}");
        assert_eq!(changes(&app, unit), [(1, Begun)]);
    }
}

#[test]
fn a_patrol_continues_when_its_path_is_opened() {
    let mut app = with_log(&field(12, 3));
    let wall = CellRect::new(Cell::new(6, 0), 1, 3);
    block(&mut app, wall);
    let patrol = Order::patrol([Cell::new(1, 1), Cell::new(10, 1)], PatrolMode::ThereAndBack);
    let unit = spawn(&mut app, (1, 1), OrderQueue::new().then(patrol));
    run(&mut app, 100);
    assert_eq!(state(&app, unit).cell(), Cell::new(1, 1));
    unblock(&mut app, wall);
    run_until(&mut app, 300, |app| state(app, unit).cell() == Cell::new(10, 1));
}

/// Returns a unit that walks to (30, 1), with an order to (0, 0) queued.
fn walking_with_queued_order() -> (App, Entity) {
    let mut app = with_log(&field(40, 3));
    let unit = spawn(&mut app, (0, 1), OrderQueue::new().then(go_to(30, 1)).then(go_to(0, 0)));
    run(&mut app, 20);
    assert!(state(&app, unit).walk().is_between_cells());
    (app, unit)
}

#[test]
fn the_orders_of_a_queue_can_be_read() {
    let (mut app, unit) = walking_with_queued_order();
    let queue = orders(&mut app, unit);
    let (first, order) = queue.current().unwrap();
    assert_eq!((first.number(), order), (1, &Order::Go(go_to(30, 1))));
    let waiting: Vec<_> = queue.waiting().map(|(id, order)| (id.number(), order)).collect();
    assert_eq!(waiting, [(2, &Order::Go(go_to(0, 0)))]);
    assert_eq!((queue.len(), queue.is_empty()), (2, false));
    assert!(OrderQueue::new().is_empty() && OrderQueue::new().current().is_none());
}

#[test]
fn an_order_can_replace_all_others() {
    let (mut app, unit) = walking_with_queued_order();
    assert_eq!(orders(&mut app, unit).replace(go_to(2, 2)).number(), 3);
    finish(&mut app, unit);
    let expected = [(1, Begun), (1, Replaced), (2, Replaced), (3, Begun), (3, Done)];
    assert_eq!(changes(&app, unit), expected);
    assert_eq!(state(&app, unit).cell(), Cell::new(2, 2));
}

#[test]
fn several_replacements_in_one_tick_make_one_request() {
    let (mut app, unit) = walking_with_queued_order();
    let before = counters(&app).requests;
    for x in 0..10 {
        orders(&mut app, unit).replace(go_to(x, 2));
    }
    app.update();
    assert_eq!(counters(&app).requests, before + 1);
    finish(&mut app, unit);
    assert_eq!(state(&app, unit).cell(), Cell::new(9, 2));
    let ended = changes(&app, unit).iter().filter(|(_, change)| *change == Replaced).count();
    assert_eq!(ended, 2 + 9, "each is reported");
}

#[test]
fn an_order_inserted_first_interrupts_the_current_one() {
    let (mut app, unit) = walking_with_queued_order();
    orders(&mut app, unit).insert_first(go_to(2, 0));
    orders(&mut app, unit).insert_first(go_to(4, 2));
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
    assert_eq!(changes(&app, unit), expected);
    let cells = [(4, 2), (2, 0), (30, 1), (0, 0)].map(Cell::from);
    assert_eq!(visits(&app), cells, "the interrupted order continues from the unit's new cell");
}

#[test]
fn an_interrupted_patrol_continues_to_its_current_stop() {
    let mut app = with_log(&field(30, 3));
    let stops = [(0, 1), (10, 1), (20, 1)].map(Cell::from);
    let patrol = Order::patrol(stops, PatrolMode::ThereAndBack);
    let unit = spawn(&mut app, (0, 1), OrderQueue::new().then(patrol));
    run_until(&mut app, 500, |app| visits(app).len() == 2);
    run(&mut app, 10);
    orders(&mut app, unit).insert_first(go_to(12, 0));
    run_until(&mut app, 500, |app| visits(app).len() == 5);
    assert_eq!(visits(&app), [(0, 1), (10, 1), (12, 0), (20, 1), (10, 1)].map(Cell::from));
    assert_eq!(changes(&app, unit), [(1, Begun), (2, Begun), (2, Done), (1, Resumed)]);
}

#[test]
fn an_interrupted_hold_continues_for_the_rest_of_its_time() {
    let mut app = with_log(&field(10, 3));
    let unit = spawn(&mut app, (0, 1), OrderQueue::new().then(Order::Wait { ticks: 20 }));
    run(&mut app, 8);
    orders(&mut app, unit).insert_first(Order::Wait { ticks: 5 });
    let more = run_until(&mut app, 100, |app| changes(app, unit).contains(&(1, Done)));
    assert_eq!(8 + more, 1 + 20 + 5);
    assert_eq!(changes(&app, unit), [(1, Begun), (2, Begun), (2, Done), (1, Resumed), (1, Done)]);
}

#[test]
fn an_order_that_has_arrived_is_not_resumed() {
    for (order, expected_visits) in [
        (Order::Go(go_to(4, 1)), vec![(4, 1)]),
        (
            Order::patrol([Cell::new(4, 1), Cell::new(8, 1)], PatrolMode::Round),
            vec![(4, 1), (8, 1)],
        ),
    ] {
        let mut app = with_log(&field(12, 3));
        // At the first arrival, before the queue has processed it.
        app.add_observer(
            |event: On<Arrived>, mut queues: Query<&mut OrderQueue>, mut again: Local<bool>| {
                if !std::mem::replace(&mut *again, true) {
                    queues.get_mut(event.entity).unwrap().insert_first(Order::Wait { ticks: 5 });
                }
            },
        );
        let unit = spawn(&mut app, (0, 1), OrderQueue::new().then(order));
        run_until(&mut app, 500, |app| {
            visits(app).len() == expected_visits.len() && changes(app, unit).contains(&(2, Done))
        });
        run(&mut app, 5);
        let expected_visits: Vec<Cell> = expected_visits.into_iter().map(Cell::from).collect();
        assert_eq!(visits(&app), expected_visits);
    }
}

#[test]
fn stopping_drops_everything_and_halts_the_unit() {
    let (mut app, unit) = walking_with_queued_order();
    orders(&mut app, unit).stop();
    assert_halts(&mut app, unit);
    assert_eq!(changes(&app, unit), [(1, Begun), (1, Canceled), (2, Canceled)]);
    orders(&mut app, unit).stop();
    run(&mut app, 3);
    assert_eq!(changes(&app, unit).len(), 3, "there was no order to stop");
    let next = orders(&mut app, unit).append(go_to(3, 2));
    finish(&mut app, unit);
    assert_eq!(changes(&app, unit)[3..], [(next.number(), Begun), (next.number(), Done)]);
}

#[test]
fn orders_are_canceled_one_by_one() {
    for (canceled, expected) in [
        (vec![1_usize], vec![(1, Begun), (1, Canceled), (2, Begun), (2, Done)]),
        (vec![2], vec![(1, Begun), (2, Canceled), (1, Done)]),
        (vec![2, 1], vec![(1, Begun), (2, Canceled), (1, Canceled)]),
    ] {
        let (mut app, unit) = walking_with_queued_order();
        let mut queue = orders(&mut app, unit);
        let ids: Vec<OrderId> =
            queue.current().into_iter().chain(queue.waiting()).map(|(id, _)| id).collect();
        for &number in &canceled {
            assert!(queue.cancel(ids[number - 1]));
            assert!(!queue.cancel(ids[number - 1]), "it was already canceled");
        }
        assert!(!queue.cancel(OrderId::default()), "no order has this id");
        if canceled.len() == ids.len() {
            assert_halts(&mut app, unit);
        } else {
            finish(&mut app, unit);
        }
        assert_eq!(changes(&app, unit), expected);
    }
}

#[test]
fn a_hold_that_replaces_a_walk_halts_the_unit() {
    for order in [Order::Wait { ticks: 100 }, Order::Stay] {
        let (mut app, unit) = walking_with_queued_order();
        orders(&mut app, unit).replace(order);
        assert_halts(&mut app, unit);
        assert_eq!(changes(&app, unit)[3..], [(3, Begun)]);
    }
}

/// An action of the game on a unit that bypasses its queue.
#[derive(Clone, Copy, Debug)]
enum GameAction {
    InsertRequest(i32, i32),
    RemoveRequest,
    Wait(u32),
}
use GameAction::{InsertRequest, RemoveRequest, Wait};

fn apply(app: &mut App, unit: Entity, action: GameAction) {
    match action {
        InsertRequest(x, y) => {
            app.world_mut().entity_mut(unit).insert(go_to(x, y));
        }
        RemoveRequest => {
            app.world_mut().entity_mut(unit).remove::<PathRequest>();
        }
        Wait(ticks) => run(app, ticks),
    }
}

#[test]
fn requests_of_the_game_come_first_and_the_queue_waits() {
    for (actions, outcome) in [
        (vec![InsertRequest(2, 2)], Replaced),
        (vec![InsertRequest(2, 2), InsertRequest(9, 9), Wait(1), InsertRequest(2, 2)], Replaced),
        (vec![InsertRequest(99, 99)], Replaced),
        (vec![InsertRequest(39, 2), Wait(10), RemoveRequest], Replaced),
        (vec![RemoveRequest], Canceled),
        (vec![RemoveRequest, InsertRequest(2, 2)], Replaced),
        (vec![InsertRequest(2, 2), RemoveRequest], Canceled),
    ] {
        let (mut app, unit) = walking_with_queued_order();
        for &action in &actions {
            apply(&mut app, unit, action);
        }
        finish(&mut app, unit);
        let expected = [(1, Begun), (1, outcome), (2, Begun), (2, Done)];
        assert_eq!(changes(&app, unit), expected, "{actions:?}");
        let began_at = entries(&app).iter().find(|entry| entry.order == 2).unwrap().cell;
        match actions.last().unwrap() {
            InsertRequest(2, 2) => assert_eq!(began_at, Cell::new(2, 2), "it waited: {actions:?}"),
            _ => assert!(began_at.x < 6, "it did not wait: {actions:?}"),
        }
        assert_eq!(state(&app, unit).cell(), Cell::new(0, 0), "{actions:?}");
    }
}

#[test]
fn requests_of_the_game_end_holds_and_patrols() {
    for order in [
        Order::Wait { ticks: 1_000 },
        Order::Stay,
        Order::patrol([Cell::new(0, 1)], PatrolMode::Round),
    ] {
        let mut app = with_log(&field(10, 3));
        let unit = spawn(&mut app, (0, 1), OrderQueue::new().then(order.clone()));
        run(&mut app, 40);
        apply(&mut app, unit, InsertRequest(5, 2));
        run(&mut app, 100);
        assert_eq!(changes(&app, unit), [(1, Begun), (1, Replaced)], "{order:?}");
        assert_eq!(state(&app, unit).cell(), Cell::new(5, 2));
    }
}

#[test]
fn a_queue_waits_for_an_earlier_request() {
    let mut app = with_log(&field(20, 3));
    let unit = spawn_critter(&mut app, (0, 1));
    order(&mut app, unit, (10, 1));
    run(&mut app, 10);
    app.world_mut().entity_mut(unit).insert(OrderQueue::new().then(go_to(0, 2)));
    finish(&mut app, unit);
    assert_eq!(changes(&app, unit), [(1, Begun), (1, Done)]);
    assert_eq!(entries(&app)[0].cell, Cell::new(10, 1));
    // A request that has ended is not waited for.
    orders(&mut app, unit).append(go_to(3, 2));
    app.update();
    assert!(matches!(status(&app, unit), PathStatus::Walking(_)));
}

#[test]
fn stopping_does_not_affect_requests_of_the_game() {
    let (mut app, unit) = walking_with_queued_order();
    orders(&mut app, unit).stop();
    apply(&mut app, unit, InsertRequest(5, 2));
    run(&mut app, 100);
    assert_eq!(changes(&app, unit), [(1, Begun), (1, Canceled), (2, Canceled)]);
    assert_eq!(state(&app, unit).cell(), Cell::new(5, 2));
}

/// Only a few requests are read per tick; statuses lag behind and must not be attributed to the current
/// orders.
#[test]
fn orders_end_on_their_goals_even_in_a_flood() {
    let mut app = with_log(&field(12, 12));
    app.world_mut().resource_mut::<TilePathSettings>().budget = 96;
    let mut random = Random(5);
    let mut goals = Vec::new();
    let units: Vec<Entity> =
        (0..40).map(|x| spawn(&mut app, (x % 12, x / 12), OrderQueue::new())).collect();
    for round in 0..4 {
        for &unit in &units {
            let goal = (random.below(12) as i32, random.below(12) as i32);
            let mut queue = orders(&mut app, unit);
            let request = go_to(goal.0, goal.1);
            let kind = if round < 2 { 2 } else { random.below(3) };
            let id = match kind {
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
        let ends: Vec<&LogEntry> = entries(&app)
            .iter()
            .filter(|entry| entry.unit == unit && entry.order == order)
            .filter(|entry| !matches!(entry.change, Begun | Resumed))
            .collect();
        assert_eq!(ends.len(), 1, "an order ends once");
        match ends[0].change {
            Done => assert_eq!(ends[0].cell, goal),
            change => assert_eq!(change, Replaced),
        }
    }
    let done = entries(&app).iter().filter(|entry| entry.change == Done).count();
    assert!(done > 60, "only {done} orders were done");
}

#[test]
fn removing_the_queue_cancels_its_orders_and_halts_the_unit() {
    let (mut app, unit) = walking_with_queued_order();
    app.world_mut().entity_mut(unit).remove::<OrderQueue>();
    assert_halts(&mut app, unit);
    assert_eq!(changes(&app, unit), [(1, Begun), (1, Canceled), (2, Canceled)]);
    app.world_mut().entity_mut(unit).insert(OrderQueue::new().then(go_to(5, 2)));
    finish(&mut app, unit);
    assert_eq!(state(&app, unit).cell(), Cell::new(5, 2), "a new queue can be inserted");
}

#[test]
fn removing_the_queue_does_not_affect_a_request_of_the_game() {
    for ticks in [0, 1, 5] {
        let (mut app, unit) = walking_with_queued_order();
        apply(&mut app, unit, InsertRequest(5, 2));
        run(&mut app, ticks);
        app.world_mut().entity_mut(unit).remove::<OrderQueue>();
        run(&mut app, 100);
        assert_eq!(state(&app, unit).cell(), Cell::new(5, 2));
    }
}

#[test]
fn another_queue_replaces_the_old_one() {
    let superseded: [(u64, Change); 3] = [(1, Begun), (1, Replaced), (2, Replaced)];
    // A queue with an order.
    let (mut app, unit) = walking_with_queued_order();
    app.world_mut().entity_mut(unit).insert(OrderQueue::new().then(go_to(2, 2)));
    finish(&mut app, unit);
    assert_eq!(changes(&app, unit)[..3], superseded);
    assert_eq!(changes(&app, unit)[3..], [(1, Begun), (1, Done)]);
    assert_eq!(state(&app, unit).cell(), Cell::new(2, 2));
    // An empty queue.
    let (mut app, unit) = walking_with_queued_order();
    app.world_mut().entity_mut(unit).insert(OrderQueue::new());
    assert_halts(&mut app, unit);
    assert_eq!(changes(&app, unit), superseded);
    // An empty queue together with a request of the game.
    let (mut app, unit) = walking_with_queued_order();
    app.world_mut().entity_mut(unit).insert((OrderQueue::new(), go_to(5, 2)));
    run(&mut app, 100);
    assert_eq!(changes(&app, unit), superseded);
    assert_eq!(state(&app, unit).cell(), Cell::new(5, 2));
}

#[test]
fn an_overwritten_queue_is_executed_immediately() {
    let (mut app, unit) = walking_with_queued_order();
    *orders(&mut app, unit) = OrderQueue::new().then(go_to(2, 2));
    finish(&mut app, unit);
    assert_eq!(state(&app, unit).cell(), Cell::new(2, 2));
    assert_eq!(visits(&app), [Cell::new(2, 2)]);
    let (mut app, unit) = walking_with_queued_order();
    *orders(&mut app, unit) = OrderQueue::new();
    assert_halts(&mut app, unit);
}

#[test]
fn a_cloned_queue_is_executed_by_another_unit() {
    let (mut app, unit) = walking_with_queued_order();
    let queue = orders(&mut app, unit).clone();
    let other = spawn_ghost_with(&mut app, (0, 2), queue);
    finish(&mut app, unit);
    finish(&mut app, other);
    for unit in [unit, other] {
        let changes = changes(&app, unit);
        assert_eq!(changes.iter().filter(|(_, change)| *change == Done).count(), 2);
        assert_eq!(state(&app, unit).cell(), Cell::new(0, 0));
    }
    let far = visits(&app).iter().filter(|&&cell| cell == Cell::new(30, 1)).count();
    assert_eq!(far, 2, "both units were there");
}

#[test]
fn despawning_reports_no_change_and_leaves_no_job() {
    let (mut app, unit) = walking_with_queued_order();
    app.world_mut().entity_mut(unit).despawn();
    let other = spawn(&mut app, (0, 1), OrderQueue::new().then(Order::Wait { ticks: 10 }));
    app.update();
    app.world_mut().entity_mut(other).despawn();
    run(&mut app, 20);
    assert_eq!(changes(&app, unit), [(1, Begun)], "the end is not reported");
    assert_eq!(changes(&app, other), [(1, Begun)]);
    assert_eq!((counters(&app).waiting, counters(&app).in_flight), (0, 0));
}

#[test]
fn an_observer_of_an_end_may_give_the_next_order() {
    let mut app = with_log(&field(10, 3));
    app.add_observer(|event: On<OrderEnded>, mut queues: Query<&mut OrderQueue>| {
        if event.order.number() < 4 {
            let x = event.order.number() as i32;
            queues.get_mut(event.entity).unwrap().append(go_to(x, 2));
        }
    });
    let unit = spawn(&mut app, (0, 1), OrderQueue::new().then(go_to(0, 2)));
    run_until(&mut app, 500, |app| changes(app, unit).contains(&(4, Done)));
    assert_eq!(changes(&app, unit).len(), 8);
    assert_eq!(state(&app, unit).cell(), Cell::new(3, 2));
}

#[test]
fn an_observer_of_a_beginning_may_stop_the_queue() {
    let mut app = with_log(&field(10, 3));
    app.add_observer(|event: On<OrderBegun>, mut queues: Query<&mut OrderQueue>| {
        queues.get_mut(event.entity).unwrap().stop();
    });
    let unit = spawn(&mut app, (0, 1), OrderQueue::new().then(go_to(5, 2)));
    run(&mut app, 20);
    assert_eq!(changes(&app, unit), [(1, Begun), (1, Canceled)]);
    assert_eq!(position(&app, unit), Vec2::new(0.0, 10.0));
    assert_eq!(counters(&app).requests, 0, "the request was not inserted");
}

#[derive(Component)]
struct Marker;

#[test]
fn units_are_processed_in_the_order_of_their_queues() {
    let mut app = with_log(&field(10, 10));
    let units: Vec<Entity> = (0..8).map(|x| spawn_critter(&mut app, (x, 0))).collect();
    for &unit in units.iter().step_by(2) {
        app.world_mut().entity_mut(unit).insert(Marker); // in another archetype
    }
    let sequence = [5, 0, 3, 7, 1, 4, 2, 6].map(|index| units[index]);
    for unit in sequence {
        app.world_mut().entity_mut(unit).insert(OrderQueue::new());
    }
    for &unit in &units {
        orders(&mut app, unit).append(Order::Wait { ticks: 7 });
        orders(&mut app, unit).append(go_to(9, 9));
    }
    run(&mut app, 10);
    for expected in [(1, Begun), (1, Done), (2, Begun)] {
        let found = entries(&app).iter().filter(|entry| (entry.order, entry.change) == expected);
        assert_eq!(found.map(|entry| entry.unit).collect::<Vec<_>>(), sequence, "{expected:?}");
    }
}

#[test]
fn thousands_of_queues_are_executed() {
    let mut app = with_log(&field(64, 64));
    let mut random = Random(9);
    let mut at = || (random.below(64) as i32, random.below(64) as i32);
    let units: Vec<Entity> = (0..3_000)
        .map(|index| {
            let (x, y) = at();
            let queue = OrderQueue::new()
                .then(Order::Wait { ticks: index % 20 })
                .then(go_to((x + 3).min(63), y))
                .then(go_to(x, (y + 3).min(63)));
            spawn_ghost_with(&mut app, (x, y), queue)
        })
        .collect();
    run_until(&mut app, 500, |app| units.iter().all(|&unit| is_idle(app, unit)));
    run(&mut app, 2);
    let done = entries(&app).iter().filter(|entry| entry.change == Done).count();
    assert_eq!(done, 9_000);
    assert_eq!(counters(&app).failed, 0);
}

#[test]
fn a_unit_moved_by_the_game_reports_its_arrival_with_reached() {
    let mut app = with_log(&field(10, 3));
    let queue =
        OrderQueue::new().then(go_to(4, 1)).then(Order::Wait { ticks: 50 }).then(go_to(6, 1));
    let unit = app.world_mut().spawn((Transform::from_xyz(0.0, 10.0, 0.0), queue)).id();
    assert!(!orders(&mut app, unit).reached(), "no order is active");
    run(&mut app, 30);
    assert_eq!(status(&app, unit), PathStatus::Found(PathKind::Complete));
    assert_eq!(changes(&app, unit), [(1, Begun)]);
    assert!(orders(&mut app, unit).reached());
    app.update();
    assert_eq!(changes(&app, unit), [(1, Begun), (1, Done), (2, Begun)]);
    assert!(!orders(&mut app, unit).reached(), "a wait has no goal");
    run(&mut app, 60);
    assert_eq!(
        changes(&app, unit)[3..],
        [(2, Done), (3, Begun)],
        "the found path of the previous order does not block"
    );
    assert!(orders(&mut app, unit).reached());
    app.update();
    assert_eq!(changes(&app, unit).last(), Some(&(3, Done)));
}

#[test]
fn a_target_is_followed_until_another_order_waits_or_it_is_gone() {
    let at = |x: f32| Transform::from_xyz(x, 10.0, 0.0);
    // No other order is queued.
    let mut app = with_log(&field(30, 3));
    let flag = app.world_mut().spawn(at(50.0)).id();
    let unit = spawn(&mut app, (0, 1), OrderQueue::new().then(PathRequest::follow(flag)));
    run_until(&mut app, 200, |app| state(app, unit).cell() == Cell::new(5, 1));
    run(&mut app, 20);
    app.world_mut().get_mut::<Transform>(flag).unwrap().translation.x = 100.0;
    run_until(&mut app, 200, |app| state(app, unit).cell() == Cell::new(10, 1));
    run(&mut app, 20);
    assert_eq!(changes(&app, unit), [(1, Begun)]);
    // Another order comes.
    orders(&mut app, unit).append(Order::Wait { ticks: 60 });
    app.update();
    assert_eq!(changes(&app, unit), [(1, Begun), (1, Done), (2, Begun)]);
    app.world_mut().get_mut::<Transform>(flag).unwrap().translation.x = 200.0;
    run(&mut app, 40);
    assert_eq!(state(&app, unit).cell(), Cell::new(10, 1), "it does not follow during the hold");
    // The target is despawned.
    orders(&mut app, unit).replace(PathRequest::follow(flag));
    orders(&mut app, unit).append(go_to(0, 0));
    run(&mut app, 10);
    app.world_mut().entity_mut(flag).despawn();
    finish(&mut app, unit);
    let expected = [(3, Failed(PathFailure::TargetGone)), (4, Begun), (4, Done)];
    assert_eq!(changes(&app, unit)[5..], expected);
}

#[test]
fn an_order_that_is_retried_has_not_failed() {
    let mut app = with_log(&field(10, 3));
    let goal = CellRect::single(Cell::new(5, 1));
    block(&mut app, goal);
    let request = go_to(5, 1).retry(Retry { after: 4, longest: 4, most: 20 });
    let unit = spawn(&mut app, (0, 1), OrderQueue::new().then(request).then(go_to(0, 0)));
    run(&mut app, 30);
    assert_eq!(changes(&app, unit), [(1, Begun)]);
    unblock(&mut app, goal);
    finish(&mut app, unit);
    assert_eq!(changes(&app, unit), [(1, Begun), (1, Done), (2, Begun), (2, Done)]);
}

#[test]
fn entities_in_orders_are_mapped() {
    let mut world = World::new();
    let (old, new) = (world.spawn_empty().id(), world.spawn_empty().id());
    let queue = |entity: Entity| {
        OrderQueue::new()
            .then(PathRequest::to(entity))
            .then(Order::patrol([entity], PatrolMode::Round))
            .then(Order::Stay)
    };
    let mut mapped = queue(old);
    <OrderQueue as Component>::map_entities(&mut mapped, &mut (old, new));
    assert_eq!(mapped, queue(new));
}

#[test]
fn a_queue_written_over_by_an_earlier_state_resumes_its_order() {
    let mut app = with_log(&field(30, 3));
    let queue = OrderQueue::new().then(go_to(8, 1));
    let unit = spawn(&mut app, (0, 1), queue);
    run(&mut app, 20);
    let saved = orders(&mut app, unit).clone();
    assert!(saved.current().is_some());
    // Emptied, carried out, and while another order is under way.
    for step in 0..3 {
        match step {
            0 => orders(&mut app, unit).stop(),
            1 => _ = run_until(&mut app, 400, |app| is_idle(app, unit)),
            _ => _ = orders(&mut app, unit).replace(go_to(28, 1)),
        }
        run(&mut app, 30);
        *orders(&mut app, unit) = saved.clone();
        run(&mut app, 400);
        assert_eq!(state(&app, unit).cell(), Cell::new(8, 1), "step {step}");
        assert!(orders(&mut app, unit).is_empty(), "step {step}");
        if step < 2 {
            orders(&mut app, unit).append(go_to(2, 1));
            run(&mut app, 200);
        }
    }
    // An order that rests.
    orders(&mut app, unit).append(Order::Wait { ticks: 20 });
    run(&mut app, 5);
    let saved = orders(&mut app, unit).clone();
    orders(&mut app, unit).stop();
    run(&mut app, 30);
    *orders(&mut app, unit) = saved;
    run(&mut app, 30);
    assert!(orders(&mut app, unit).is_empty());
}

#[test]
fn reached_ends_a_request_of_the_game_and_nothing_that_is_still_searched_for() {
    let mut app = with_log(&field(10, 3));
    let queue = OrderQueue::new().then(go_to(4, 1)).then(go_to(8, 1));
    let unit = app.world_mut().spawn((Transform::from_xyz(0.0, 10.0, 0.0), queue)).id();
    run(&mut app, 3);
    app.world_mut().entity_mut(unit).insert(go_to(2, 2));
    run(&mut app, 3);
    assert_eq!(changes(&app, unit), [(1, Begun), (1, Replaced)]);
    assert_eq!(status(&app, unit), PathStatus::Found(PathKind::Complete));
    // No budget: the path of the next order is not found yet.
    let budget = std::mem::take(&mut app.world_mut().resource_mut::<TilePathSettings>().budget);
    orders(&mut app, unit).reached();
    app.update();
    assert_eq!(changes(&app, unit)[2..], [(2, Begun)], "the request of the game has ended");
    orders(&mut app, unit).reached();
    run(&mut app, 3);
    assert_eq!(changes(&app, unit)[2..], [(2, Begun)]);
    app.world_mut().resource_mut::<TilePathSettings>().budget = budget;
    run(&mut app, 5);
    assert_eq!(status(&app, unit), PathStatus::Found(PathKind::Complete));
    assert_eq!(changes(&app, unit)[2..], [(2, Begun)]);
    assert!(orders(&mut app, unit).reached());
    app.update();
    assert_eq!(changes(&app, unit)[2..], [(2, Begun), (2, Done)]);
}

/// The game answers the end of an order with a request of its own.
#[derive(Resource)]
struct Fallback(Option<PathRequest>);

fn insert_fallback(world: &mut World, unit: Entity) {
    if let Some(request) = world.resource_mut::<Fallback>().0.take() {
        world.entity_mut(unit).insert(request);
    }
}

#[test]
fn an_order_has_ended_as_it_did_though_an_observer_of_its_end_inserts_a_request() {
    let wall = Cell::new(6, 0);
    let reason = PathFailure::GoalImpassable(wall);
    let failing = OrderQueue::new().then(PathRequest::to(wall)).then(go_to(1, 3));
    let cases = [
        (
            failing.clone().on_failure(OnFailure::Stop),
            vec![(1, Begun), (1, Failed(reason)), (2, Canceled)],
        ),
        (
            failing.on_failure(OnFailure::Next),
            vec![(1, Begun), (1, Failed(reason)), (2, Begun), (2, Done)],
        ),
        (
            OrderQueue::new().then(go_to(4, 1)).then(go_to(1, 3)),
            vec![(1, Begun), (1, Done), (2, Begun), (2, Done)],
        ),
        // A patrol has not ended at its first stop: the request replaces it.
        (
            OrderQueue::new()
                .then(Order::patrol([Cell::new(4, 1), Cell::new(1, 1)], PatrolMode::Round)),
            vec![(1, Begun), (1, Replaced)],
        ),
    ];
    for (queue, expected) in cases {
        let mut app = with_log(&field(9, 5));
        block(&mut app, CellRect::single(wall));
        app.insert_resource(Fallback(Some(go_to(7, 4))));
        app.add_observer(|event: On<PathFailed>, mut commands: Commands| {
            let unit = event.entity;
            commands.queue(move |world: &mut World| insert_fallback(world, unit));
        });
        app.add_observer(|event: On<Arrived>, mut commands: Commands| {
            let unit = event.entity;
            commands.queue(move |world: &mut World| insert_fallback(world, unit));
        });
        let unit = spawn(&mut app, (1, 1), queue);
        finish(&mut app, unit);
        run_until(&mut app, 500, |app| visits(app).contains(&Cell::new(7, 4)));
        finish(&mut app, unit);
        assert_eq!(changes(&app, unit), expected);
    }
}
