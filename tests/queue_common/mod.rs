//! A queue over several grids, run tick by tick: helpers shared by the tests of the queue.

#![allow(dead_code, reason = "each test file uses a part of it")]

use bevy_tilepath::{
    nav::queue::{Answer, FoundBy, GridSource, SearchQueue, Ticket, Workers},
    prelude::*,
};

use crate::common::Random;

pub const UNIT: ProfileId = ProfileId(0);
pub const GRID: GridId = GridId(0);

/// Grids by their number.
pub struct World(pub Vec<NavGrid>);

impl World {
    pub fn of(grid: NavGrid) -> Self {
        Self(vec![grid])
    }

    pub fn grid(&self) -> &NavGrid {
        &self.0[0]
    }

    pub fn block(&mut self, rect: CellRect) {
        self.0[0].block(rect).expect("the rectangle is on the grid");
    }
}

impl GridSource for World {
    fn grid(&self, id: GridId) -> Option<&NavGrid> {
        self.0.get(id.0 as usize)
    }
}

/// Threads spawned in every tick.
pub struct Threads(pub usize);

impl Workers for Threads {
    fn count(&self) -> usize {
        self.0
    }

    fn assist(&self, help: &(dyn Fn() + Sync), lead: &mut dyn FnMut()) {
        std::thread::scope(|scope| {
            for _ in 1..self.0 {
                scope.spawn(help);
            }
            lead();
        });
    }
}

/// An answer, and the tick it came in.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    pub tick: u64,
    pub ticket: Ticket,
    pub result: Result<Path, PathFailure>,
    pub found_by: FoundBy,
    pub expansions: u64,
    pub waited: u64,
}

impl Reply {
    pub fn new(answer: Answer, tick: u64) -> Self {
        let Answer { ticket, result, found_by, counters, waited, .. } = answer;
        Self { tick, ticket, result, found_by, expansions: counters.expansions, waited }
    }

    pub fn path(&self) -> &Path {
        self.result.as_ref().expect("a path exists")
    }
}

/// Runs one tick on several threads.
pub fn step_on(
    workers: &impl Workers,
    queue: &mut SearchQueue,
    world: &World,
    budget: u32,
    replies: &mut Vec<Reply>,
) {
    let tick = queue.tick();
    let answer = |answer| replies.push(Reply::new(answer, tick));
    let spent = queue.step_on(workers, world, budget, || true, answer);
    assert!(spent <= budget, "{spent} of {budget} spent");
}

/// Runs one tick.
pub fn step(queue: &mut SearchQueue, world: &World, budget: u32, replies: &mut Vec<Reply>) {
    step_on(&Threads(1), queue, world, budget, replies);
}

/// Runs ticks until the queue is empty.
pub fn finish(queue: &mut SearchQueue, world: &World, budget: u32, replies: &mut Vec<Reply>) {
    let first_tick = queue.tick();
    while !queue.is_empty() {
        step(queue, world, budget, replies);
        assert!(queue.tick() < first_tick + 20_000, "{} jobs are never answered", queue.waiting());
    }
}

/// Returns the tickets of the answers, lowest first.
pub fn answered_tickets(replies: &[Reply]) -> Vec<Ticket> {
    let mut tickets: Vec<Ticket> = replies.iter().map(|reply| reply.ticket).collect();
    tickets.sort_unstable();
    tickets
}

pub fn count(replies: &[Reply], found_by: FoundBy) -> usize {
    replies.iter().filter(|reply| reply.found_by == found_by).count()
}

/// Returns a random cell, which may be a wall.
pub fn any_cell(grid: &NavGrid, random: &mut Random) -> Cell {
    Cell::new(random.below(grid.width()) as i32, random.below(grid.height()) as i32)
}

/// Returns random cells that are connected with `goal` and for which `near` holds.
pub fn cells_around(
    grid: &NavGrid,
    goal: Cell,
    count: usize,
    random: &mut Random,
    near: impl Fn(Cell) -> bool,
) -> Vec<Cell> {
    let region = grid.region(UNIT, goal);
    assert!(region.is_some(), "the goal is passable");
    std::iter::repeat_with(|| any_cell(grid, random))
        .filter(|&cell| grid.region(UNIT, cell) == region && near(cell))
        .take(count)
        .collect()
}

/// Returns the cost of a cell in the row-major costs `best`.
pub fn cost_at(grid: &NavGrid, best: &[Option<u64>], cell: Cell) -> Option<PathCost> {
    best[(cell.y as u32 * grid.width() + cell.x as u32) as usize].map(PathCost)
}
