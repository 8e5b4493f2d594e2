//! Shared fields in an app: their handles, their work per tick, and their updates after edits.

use bevy::prelude::*;
use bevy_tilepath::{
    flow::{FlowCounters, FlowField, FlowFields, FlowStatus},
    nav::field::DistanceField,
    prelude::*,
};

use crate::common::{
    Random,
    app::{app, grid, run, run_until},
    patched_terrain, step_cost,
};

const LEVEL: GridId = GridId(0);
const UNIT: ProfileId = ProfileId(0);

fn open(side: u32) -> NavGrid {
    NavGrid::new(side, side, TerrainId::GROUND).unwrap()
}

fn app_on(level: NavGrid) -> App {
    let mut app = app();
    grid(&mut app).insert(LEVEL, level, GridFrame::default());
    app
}

fn fields(app: &App) -> &FlowFields {
    app.world().resource()
}

fn set_budget(app: &mut App, budget: u32) {
    app.world_mut().resource_mut::<FlowFields>().budget = budget;
}

fn request_field(app: &mut App, goal: Cell) -> FlowField {
    app.world_mut().resource_mut::<FlowFields>().request(LEVEL, UNIT, goal)
}

fn edit(app: &mut App, change: impl FnOnce(&mut NavGrid) -> Result<(), GridError>) {
    change(grid(app).get_mut(LEVEL).unwrap()).unwrap();
}

fn cost(app: &App, flow: &FlowField, cell: Cell) -> Option<PathCost> {
    fields(app).cost(app.world().resource(), flow, cell)
}

fn direction(app: &App, flow: &FlowField, cell: Cell) -> Option<Direction> {
    fields(app).direction(app.world().resource(), flow, cell)
}

/// Returns the costs of all cells in a shared field.
fn costs(app: &App, flow: &FlowField) -> Vec<Option<PathCost>> {
    let level = app.world().resource::<NavGrids>().get(LEVEL).unwrap();
    level.rect().cells().map(|cell| cost(app, flow, cell)).collect()
}

/// Returns the costs of all cells in a new field.
fn fresh_costs(app: &App, flow: &FlowField) -> Vec<Option<PathCost>> {
    let level = app.world().resource::<NavGrids>().get(LEVEL).unwrap();
    let mut field = DistanceField::new();
    field.start(level, flow.profile(), flow.goal()).unwrap();
    field.step(level, u32::MAX);
    level.rect().cells().map(|cell| field.cost(level, cell)).collect()
}

fn wait_for(app: &mut App, flow: &FlowField, most: u32) -> u32 {
    run_until(app, most, |app| fields(app).is_ready(flow))
}

#[test]
fn the_same_goal_is_the_same_field() {
    let mut app = app_on(open(40));
    let goal = Cell::new(5, 5);
    let (one, other) = (request_field(&mut app, goal), request_field(&mut app, goal));
    assert_eq!(one, other);
    assert_eq!((one.grid(), one.profile(), one.goal()), (LEVEL, UNIT, goal.into()));
    assert_eq!(fields(&app).status(&one), FlowStatus::Pending);
    app.update();
    assert_eq!(fields(&app).counters().alive, 1);
    assert_ne!(request_field(&mut app, Cell::new(6, 5)), one);
    let third = request_field(&mut app, Cell::new(6, 5));
    app.update();
    let counters = fields(&app).counters();
    assert_eq!((counters.alive, counters.integrations), (2, 2));
    assert!(fields(&app).is_ready(&one) && fields(&app).is_ready(&third));
    assert_eq!(costs(&app, &one), fresh_costs(&app, &one));
    assert_eq!(costs(&app, &third), fresh_costs(&app, &third));
}

#[test]
fn a_field_goes_with_its_last_handle() {
    let mut app = app_on(open(40));
    assert_eq!(fields(&app).bytes(), 0);
    let one = request_field(&mut app, Cell::new(5, 5));
    let other = one.clone();
    app.update();
    assert!(fields(&app).bytes() > 4 * 40 * 40);
    drop(one);
    app.update();
    assert!(fields(&app).is_ready(&other));
    drop(other);
    // A request before the next tick keeps it.
    let again = request_field(&mut app, Cell::new(5, 5));
    app.update();
    assert!(fields(&app).is_ready(&again));
    assert_eq!(fields(&app).counters().integrations, 1);
    drop(again);
    app.update();
    assert_eq!((fields(&app).counters().alive, fields(&app).bytes()), (0, 0));
}

#[test]
fn a_large_field_takes_several_ticks() {
    let mut app = app_on(open(512));
    assert_eq!(fields(&app).budget, 10_000);
    set_budget(&mut app, 0);
    let goal = Cell::new(250, 250);
    let flow = request_field(&mut app, goal);
    run(&mut app, 3);
    assert_eq!(fields(&app).status(&flow), FlowStatus::Pending);
    assert_eq!(direction(&app, &flow, Cell::new(260, 250)), None);
    set_budget(&mut app, 10_000);
    app.update();
    assert_eq!(direction(&app, &flow, Cell::new(260, 250)), Some(Direction::West));
    assert_eq!(direction(&app, &flow, Cell::new(511, 511)), None, "not computed yet");
    let mut ticks = 1;
    while !fields(&app).is_ready(&flow) {
        assert_eq!(fields(&app).counters().spent_last_tick, 10_000);
        app.update();
        ticks += 1;
        assert!(ticks < 20);
    }
    assert!(ticks >= 4, "262,144 cells, eight per unit: {ticks} ticks");
    assert_eq!(direction(&app, &flow, Cell::new(511, 511)), Some(Direction::SouthWest));
    app.update();
    assert_eq!(fields(&app).counters().spent_last_tick, 0);
}

#[test]
fn an_edit_is_repaired_in_its_tick() {
    let mut app = app_on(open(128));
    let flow = request_field(&mut app, Cell::new(20, 60));
    wait_for(&mut app, &flow, 5);
    let wall = CellRect::new(Cell::new(110, 59), 1, 3);
    for blocks in [true, false] {
        edit(&mut app, |grid| if blocks { grid.block(wall) } else { grid.unblock(wall) });
        app.update();
        assert!(fields(&app).is_ready(&flow));
        assert!(fields(&app).counters().spent_last_tick < 1_000);
        assert_eq!(costs(&app, &flow), fresh_costs(&app, &flow));
    }
    let counters = fields(&app).counters();
    assert_eq!((counters.integrations, counters.repairs, counters.restarts), (1, 2, 0));
}

#[test]
fn an_edit_that_touches_most_of_a_field_restarts_it() {
    let mut app = app_on(open(128));
    let flow = request_field(&mut app, Cell::new(20, 60));
    wait_for(&mut app, &flow, 5);
    edit(&mut app, |grid| grid.block(CellRect::new(Cell::new(40, 30), 1, 60)));
    app.update();
    let ticks = wait_for(&mut app, &flow, 5);
    assert!(ticks < 2, "at most the work of two fields");
    let counters = fields(&app).counters();
    assert_eq!((counters.integrations, counters.repairs, counters.restarts), (2, 0, 1));
    assert_eq!(costs(&app, &flow), fresh_costs(&app, &flow));
}

#[test]
fn fields_become_ready_under_edits_in_every_tick() {
    let mut app = app_on(open(64));
    set_budget(&mut app, 200);
    let flow = request_field(&mut app, Cell::new(10, 10));
    let mut ready = 0;
    for tick in 0..300u32 {
        edit(&mut app, |grid| grid.set_terrain(Cell::new(50, 40), TerrainId(tick as u8 % 2)));
        app.update();
        assert!(fields(&app).counters().spent_last_tick <= 200);
        if fields(&app).is_ready(&flow) {
            ready += 1;
            assert_eq!(costs(&app, &flow), fresh_costs(&app, &flow));
        }
    }
    assert!(ready > 100, "ready after {ready} ticks of 300");
    let counters = fields(&app).counters();
    assert_eq!(counters.restarts, 2, "after that it is repaired while it is filled");
    assert_eq!(counters.integrations, 1);
}

/// As when vehicles all over the map block and free the cells under them one by one.
#[test]
fn fields_become_ready_under_many_separate_edits_in_every_tick() {
    let mut app = app_on(open(64));
    set_budget(&mut app, 2_000);
    let flow = request_field(&mut app, Cell::new(10, 10));
    let mut ready = 0;
    for tick in 0..120u32 {
        for vehicle in 0..70 {
            let cell = Cell::new(20 + vehicle % 40, 40 + vehicle / 40 * 9);
            edit(&mut app, |grid| grid.set_terrain(cell, TerrainId(tick as u8 % 2)));
        }
        app.update();
        if fields(&app).is_ready(&flow) {
            ready += 1;
            assert_eq!(costs(&app, &flow), fresh_costs(&app, &flow));
        }
    }
    assert!(ready > 40, "ready after {ready} ticks of 120");
}

#[test]
fn a_field_fails_with_its_grid_and_comes_back_with_it() {
    let mut app = app();
    let (goal, cell) = (Cell::new(5, 5), Cell::new(9, 5));
    let flow = request_field(&mut app, goal);
    app.update();
    let gone = FlowStatus::Failed(PathFailure::GridGone(LEVEL));
    assert_eq!(fields(&app).status(&flow), gone);
    let frame = GridFrame::default();
    for side in [40, 40, 30] {
        grid(&mut app).insert(LEVEL, open(side), frame);
        assert_eq!(cost(&app, &flow, cell), None, "no costs of another grid");
        app.update();
        assert!(fields(&app).is_ready(&flow));
        assert_eq!(costs(&app, &flow), fresh_costs(&app, &flow));
        assert!(cost(&app, &flow, cell).is_some());
    }
    grid(&mut app).remove(LEVEL);
    assert_eq!(cost(&app, &flow, cell), None);
    app.update();
    assert_eq!(fields(&app).status(&flow), gone);
    assert_eq!((cost(&app, &flow, cell), direction(&app, &flow, cell)), (None, None));
    grid(&mut app).insert(LEVEL, open(4), frame);
    app.update();
    let outside = FlowStatus::Failed(PathFailure::GoalOutOfBounds(goal));
    assert_eq!(fields(&app).status(&flow), outside);
}

#[test]
fn a_goal_built_over_fails_until_it_is_free() {
    let mut app = app_on(open(40));
    let (goal, cell) = (Cell::new(5, 5), Cell::new(9, 5));
    let wall = CellRect::single(goal);
    edit(&mut app, |grid| grid.block(wall));
    let flow = request_field(&mut app, goal);
    let blocked = FlowStatus::Failed(PathFailure::GoalImpassable(goal));
    for round in 0..3 {
        app.update();
        assert_eq!(fields(&app).status(&flow), blocked, "{round}");
        assert_eq!((cost(&app, &flow, cell), direction(&app, &flow, cell)), (None, None));
        edit(&mut app, |grid| grid.unblock(wall));
        app.update();
        assert!(fields(&app).is_ready(&flow));
        assert_eq!(direction(&app, &flow, cell), Some(Direction::West));
        edit(&mut app, |grid| grid.block(wall));
    }
    let unknown_profile = ProfileId(9);
    let unknown =
        app.world_mut().resource_mut::<FlowFields>().request(LEVEL, unknown_profile, goal);
    app.update();
    let failure = PathFailure::UnknownProfile(unknown_profile);
    assert_eq!(fields(&app).status(&unknown), FlowStatus::Failed(failure));
}

#[test]
fn new_profiles_restart_fields() {
    let mut app = app_on(open(40));
    let (flow, cell) = (request_field(&mut app, Cell::new(5, 5)), Cell::new(9, 5));
    app.update();
    assert_eq!(cost(&app, &flow, cell), Some(PathCost(4 * PathCost::PLAIN_STEP.0)));
    grid(&mut app).set_profiles(vec![Profile::default().with(TerrainId::GROUND, 32)]);
    app.update();
    assert_eq!(cost(&app, &flow, cell), Some(PathCost(8 * PathCost::PLAIN_STEP.0)));
    assert_eq!(costs(&app, &flow), fresh_costs(&app, &flow));
    assert_eq!(fields(&app).counters().restarts, 1);
    // One that is added changes nothing for the others.
    grid(&mut app).add_profile(Profile::default().size(2));
    app.update();
    assert!(fields(&app).is_ready(&flow));
    assert_eq!(fields(&app).counters().restarts, 1);
}

#[test]
fn fields_share_the_budget_in_turns() {
    let mut app = app_on(open(256));
    set_budget(&mut app, 2_048);
    let goals = [Cell::new(40, 40), Cell::new(200, 40), Cell::new(40, 200), Cell::new(200, 200)];
    let flows = goals.map(|goal| request_field(&mut app, goal));
    run(&mut app, 10);
    for flow in &flows {
        assert!(!fields(&app).is_ready(flow), "none is finished before the others");
        let near = flow.goal().min.offset(3, 0);
        assert_eq!(direction(&app, flow, near), Some(Direction::West), "{}", flow.goal().min);
    }
    let ticks = run_until(&mut app, 100, |app| flows.iter().all(|flow| fields(app).is_ready(flow)));
    assert!(ticks > 4, "{ticks}");
}

#[test]
fn repairs_come_first_and_leave_a_share_for_new_fields() {
    let mut app = app_on(open(256));
    let old = request_field(&mut app, Cell::new(128, 128));
    wait_for(&mut app, &old, 10);
    set_budget(&mut app, 1_000);
    let new = request_field(&mut app, Cell::new(10, 10));
    edit(&mut app, |grid| grid.block(CellRect::single(Cell::new(200, 128))));
    app.update();
    assert!(fields(&app).is_ready(&old), "its repair needs less than its share");
    assert!(!fields(&app).is_ready(&new));
    assert_eq!(fields(&app).counters().spent_last_tick, 1_000, "the rest went into the new field");
}

/// Returns an app with terrain of four kinds and walls.
fn patched_app() -> App {
    let mut app = app();
    let profile = (1u8..5)
        .zip([16, 24, 40, 16])
        .fold(Profile::new(), |profile, (id, cost)| profile.with(TerrainId(id), cost));
    let terrain = patched_terrain((96, 80), 60, 40, &mut Random(3));
    let level = NavGrid::from_terrain(96, 80, terrain).unwrap();
    grid(&mut app).set_profiles(vec![profile]);
    grid(&mut app).insert(LEVEL, level, GridFrame::default());
    app
}

#[test]
fn following_a_field_reaches_the_goal_at_the_cost_of_the_start() {
    let mut app = patched_app();
    let mut random = Random(8);
    let mut any_cell = || Cell::new(random.below(96) as i32, random.below(80) as i32);
    let is_free = |app: &App, cell| {
        app.world().resource::<NavGrids>().get(LEVEL).unwrap().cost(UNIT, cell) > 0
    };
    let goal = std::iter::repeat_with(&mut any_cell).find(|&cell| is_free(&app, cell)).unwrap();
    let flow = request_field(&mut app, goal);
    wait_for(&mut app, &flow, 10);
    let level = app.world().resource::<NavGrids>().get(LEVEL).unwrap();
    let mut arrived = 0;
    for start in std::iter::repeat_with(any_cell).take(200) {
        let expected = cost(&app, &flow, start);
        let path = fields(&app).path(app.world().resource(), &flow, start);
        assert_eq!(path.map(|path| path.cost()), expected);
        assert_eq!(expected.is_some(), level.region(UNIT, start) == level.region(UNIT, goal));
        let Some(expected) = expected else {
            continue;
        };
        let (mut at, mut walked) = (start, 0);
        while let Some(direction) = direction(&app, &flow, at) {
            let (dx, dy) = direction.offset();
            let next = at.offset(dx, dy);
            walked += step_cost(level, UNIT, at, next).unwrap();
            at = next;
        }
        assert_eq!((at, walked), (goal, expected.0));
        arrived += 1;
    }
    assert!(arrived > 100, "{arrived} of 200 arrived");
}

/// Returns the counters, statuses and cost sums of all fields, tick by tick, while fields come and go and
/// walls are built.
fn play() -> Vec<(FlowCounters, Vec<FlowStatus>, u64)> {
    let mut random = Random(5);
    let mut app = app_on(open(96));
    set_budget(&mut app, 700);
    let mut held: Vec<FlowField> = Vec::new();
    let mut history = Vec::new();
    for tick in 0..120 {
        let cell = Cell::new(random.below(96) as i32, random.below(96) as i32);
        if tick % 5 == 0 {
            held.push(request_field(&mut app, cell));
        } else if tick % 11 == 10 {
            held.remove(random.below(held.len() as u32) as usize);
        } else if tick % 4 == 3 {
            edit(&mut app, |grid| grid.block(CellRect::single(cell)));
        }
        app.update();
        let statuses = held.iter().map(|flow| fields(&app).status(flow)).collect();
        let costs = held.iter().flat_map(|flow| costs(&app, flow)).flatten();
        let sum = costs.fold(0u64, |sum, cost| sum.rotate_left(1).wrapping_add(cost.0));
        history.push((fields(&app).counters(), statuses, sum));
    }
    history
}

#[test]
fn two_runs_give_the_same_fields() {
    let history = play();
    assert!(history == play());
    let (counters, statuses, sum) = history.last().unwrap();
    assert!(counters.integrations > 0 && counters.repairs > 0, "{counters:?}");
    assert!(*sum > 0 && statuses.len() == counters.alive);
}

#[test]
fn starting_a_large_field_is_paid_for() {
    // 4,194,304 cells are cleared, 200 to a work unit.
    let mut app = app_on(open(2_048));
    set_budget(&mut app, 1_024);
    let goal = Cell::new(1_000, 1_000);
    let flow = request_field(&mut app, goal);
    let near = goal.offset(5, 0);
    run(&mut app, 18);
    assert_eq!(cost(&app, &flow, near), None, "18,432 units do not pay for the start");
    run(&mut app, 10);
    assert!(cost(&app, &flow, near).is_some());
}
