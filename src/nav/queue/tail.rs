//! From a way along a field to a goal of one's own near the field's.
//!
//! Input: the way of a job along the field around its rally, and the job's own goal. Output: a way
//! there: the first part of that way, and then the cheapest from where it is left. Or nothing, where
//! that might be bad: the job goes alone then.
//!
//! Where to leave it. Be `e` what the way from the rally to the goal costs, and `b` by how much the
//! rest of the way to the rally costs more than the cheapest to the goal, seen from anywhere: `b` is
//! never outside of `-e..=e`. The way found costs as much more than the cheapest as `b` grows from
//! the place where it is left back to the start. Far from both ends `b` depends on hardly anything
//! but the direction they are seen from, so it is left early: where `2 e` are still to go to the
//! rally ([`REACH_BACK`]). Tried on eleven thousand ways over maps with boxes, walls, strewn stones
//! and gates, with goals up to 12 cells off: left at 2, 3 and 4 times `e`, ways cost up to 2.2, 1.3
//! and 0.9 % more than the best on average (without what follows), and at worst 1.47, 1.34 and 1.34
//! times as much. The farther back, the longer the searches: 2 takes least in all.
//!
//! How bad it may be. No way to the goal is cheaper than over open ground, nor than the difference
//! between the way to the rally and `e` (a triangle has no side longer than the two others together).
//! Where the way found costs more than 1.15 times the greater of both ([`MOST`]), the job goes alone:
//! one in twenty to one in four, depending on how far they come. So no answer ever costs more than
//! 1.15 times the cheapest; on average it was 0.5 to 1.3 % more. Neither does anybody turn back the
//! way he came, where the parts join: such a way is thrown away.
//!
//! Whoever starts nearer than `2 e` goes alone as well, and so does a job whose search turns out to
//! be long. All of this depends on the grid and the job alone.

use super::{EXPRESS_LIMIT, flight::Alone, job::Job};
use crate::nav::{
    cell::Cell,
    field::DistanceField,
    grid::NavGrid,
    layer::Layer,
    node_pool::NodePool,
    open_list::OpenList,
    path::{Leg, Path, PathCost, end_of},
    query::{Algorithm, PathQuery},
};

/// The way is left where the rest of it costs so many times what lies between rally and goal.
const REACH_BACK: u64 = 2;
/// A way is good that costs at most so many times what the cheapest must cost: 1.15.
const MOST: (u64, u64) = (23, 20);

/// Searches for the last part of one way after the other.
#[derive(Debug)]
pub(super) struct Tail<L: OpenList> {
    /// Of which only the search is used.
    seat: Box<Alone<L>>,
    led: Option<Led>,
}

/// A job on its way.
#[derive(Debug)]
struct Led {
    job: Job,
    /// Up to where the search begins.
    way: Path,
    /// No way costs less.
    least: PathCost,
}

impl<L: OpenList> Tail<L> {
    pub(super) fn new(seat: Box<Alone<L>>) -> Self {
        Self { seat, led: None }
    }

    /// What can be used again.
    pub(super) fn into_seat(self) -> Box<Alone<L>> {
        self.seat
    }

    /// Begins to search from the way along the field on to the job's own goal; gives the job back
    /// where it has to go alone.
    pub(super) fn begin(
        &mut self,
        job: Job,
        way: Path,
        field: &DistanceField,
        grid: &NavGrid,
        pool: &NodePool,
    ) -> Option<Job> {
        let Some((way, least)) = lead(&job.query, way, field, grid) else {
            return Some(job);
        };
        let query = PathQuery { start: way.end(), algorithm: Algorithm::Exact, ..job.query };
        if self.seat.search.start(grid, pool, query).is_err() {
            return Some(job);
        }
        self.led = Some(Led { job, way, least });
        None
    }

    /// Searches on; returns what that took.
    pub(super) fn step(&mut self, grid: &NavGrid, pool: &NodePool, budget: u32) -> u32 {
        let search = &mut self.seat.search;
        let price = search.price(grid);
        search.step(grid, pool, budget.div_ceil(price)).saturating_mul(price)
    }

    /// Whether the search has come to an end, or is given up: it is long, or took nothing because it
    /// does not fit the grid any more.
    pub(super) fn is_over(&self, spent: u32) -> bool {
        self.seat.search.is_finished() || self.is_long() || spent == 0
    }

    /// The job, and its way if that is good: otherwise the job has to go alone.
    pub(super) fn end(&mut self, grid: &NavGrid, pool: &NodePool) -> Option<(Job, Option<Path>)> {
        // Told in the end as well: it must not depend on the slices.
        let is_long = self.is_long();
        let rest = self.seat.search.finish(grid, pool);
        let Led { job, way, least } = self.led.take()?;
        Some((job, rest.ok().filter(|_| !is_long).and_then(|rest| join(way, rest, least))))
    }

    fn is_long(&self) -> bool {
        self.expansions() > EXPRESS_LIMIT
    }

    /// Expansions of the search last begun.
    pub(super) fn expansions(&self) -> u64 {
        self.seat.search.counters().expansions
    }

    pub(super) fn is_busy(&self) -> bool {
        self.led.is_some()
    }

    /// Who is led.
    pub(super) fn job(&self) -> Option<&Job> {
        self.led.as_ref().map(|led| &led.job)
    }

    /// Gives up whatever is under way; gives its job back as it was.
    pub(super) fn stop(&mut self, pool: &NodePool) -> Option<Job> {
        self.seat.search.stop(pool);
        self.led.take().map(|led| led.job)
    }

    pub(super) fn bytes(&self) -> usize {
        self.seat.bytes()
    }
}

/// The part of a way to the rally up to where it is left for the goal, and what every way to the goal
/// costs at least. `None` where nothing would be left, or the field does not know the goal.
fn lead(
    query: &PathQuery,
    mut way: Path,
    field: &DistanceField,
    grid: &NavGrid,
) -> Option<(Path, PathCost)> {
    let (whole, apart) = (way.cost(), field.cost(grid, query.goal)?);
    let fork = find_fork(&way, field, grid, PathCost(REACH_BACK.saturating_mul(apart.0)))?;
    if fork.steps == 0 {
        return None;
    }
    let least = least_between(query, grid).max(PathCost(whole.0.abs_diff(apart.0)));
    shorten(&mut way, &fork);
    Some((way, least))
}

/// A place along a way.
struct Fork {
    /// Steps from the start.
    steps: u32,
    cell: Cell,
    /// What the rest of the way costs.
    rest: PathCost,
}

/// The first place along a way of a field from which the rest costs no more than `most`.
fn find_fork(way: &Path, field: &DistanceField, grid: &NavGrid, most: PathCost) -> Option<Fork> {
    let mut fork = Fork { steps: 0, cell: way.start(), rest: way.cost() };
    for leg in way.legs() {
        // Costs fall along the way: whole legs first, then the steps of one.
        let end = end_of(fork.cell, *leg);
        let rest = field.cost(grid, end)?;
        if rest > most {
            fork = Fork { steps: fork.steps + u32::from(leg.steps), cell: end, rest };
            continue;
        }
        let step = Leg { steps: 1, ..*leg };
        while fork.rest > most {
            fork.cell = end_of(fork.cell, step);
            fork.rest = field.cost(grid, fork.cell)?;
            fork.steps += 1;
        }
        break;
    }
    Some(fork)
}

/// Keeps what lies before the fork.
fn shorten(way: &mut Path, fork: &Fork) {
    let mut left = fork.steps;
    way.legs.retain_mut(|leg| {
        let steps = left.min(u32::from(leg.steps));
        left -= steps;
        leg.steps = steps as u16;
        steps > 0
    });
    way.end = fork.cell;
    way.cost.0 -= fork.rest.0;
}

/// What a way costs at least: that over open, cheap ground.
fn least_between(query: &PathQuery, grid: &NavGrid) -> PathCost {
    let (start, goal) = (query.start, query.goal);
    let cost = |layer: &Layer| {
        let weight = layer.distance(start.x.abs_diff(goal.x), start.y.abs_diff(goal.y));
        let (lowest, _) = layer.cost_sum_range();
        u64::from(weight) * u64::from(lowest) * u64::from(layer.unit())
    };
    PathCost(grid.layer(query.profile).map_or(0, cost))
}

/// The way as a whole; `None` where it turns back at the joint, or costs too much.
fn join(mut way: Path, mut rest: Path, least: PathCost) -> Option<Path> {
    let cost = way.cost().0 + rest.cost().0;
    if cost.saturating_mul(MOST.1) > least.0.saturating_mul(MOST.0) {
        return None;
    }
    if let (Some(last), Some(first)) = (way.legs.last().copied(), rest.legs.first_mut()) {
        if last.direction == first.direction.opposite() {
            return None;
        }
        let steps = last.steps.checked_add(first.steps);
        if let Some(steps) = steps.filter(|_| last.direction == first.direction) {
            // One leg, not two.
            first.steps = steps;
            way.legs.pop();
        }
    }
    Some(way.joined(rest))
}
