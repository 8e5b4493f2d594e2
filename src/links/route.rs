//! Which links to take: the cheapest route over them.
//!
//! Input: a start, goals, and for each end of a link the field of the costs to it. Output: the first crossing of the cheapest
//! route, and what the route costs. Exact: the graph of the crossings, whose edges are read off the fields, is searched by
//! Dijkstra's algorithm (1959). Costs are the same both ways within a grid, so the field around the cells where a crossing ends
//! tells what it costs to go on from there.

use super::{LinkEnd, NavLinks};
use crate::{
    flow::FlowFields,
    grids::NavGrids,
    nav::{
        Approach, Cell, CellRect, Goal, GridId, NavGrid, PathCost, ProfileId, STRAIGHT,
        goal::GoalZone,
    },
};

/// A crossing of a link in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Hop {
    /// Number of the link.
    pub(super) number: u64,
    pub(super) is_backwards: bool,
}

impl Hop {
    pub(crate) const fn reversed(self) -> Self {
        Self { is_backwards: !self.is_backwards, ..self }
    }
}

/// The crossing at the end of a leg, and the cell where it is best to land: the nearest to what comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct NextLink {
    pub(crate) hop: Hop,
    pub(crate) landing: Cell,
}

/// A goal and its grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Destination {
    pub(crate) grid: GridId,
    pub(crate) goal: Goal,
    /// The place of its target in the list, where there are several targets.
    pub(crate) target: u32,
}

/// A route over links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Routing {
    /// The costs are not known yet: fields are being filled or repaired, or a way was opened since they were.
    Pending,
    /// It begins with this crossing; its total cost.
    Via(NextLink, PathCost),
    /// There is none.
    None,
}

/// What a route is read from.
#[derive(Clone, Copy)]
pub(crate) struct Costs<'a> {
    pub(crate) grids: &'a NavGrids,
    pub(crate) flows: &'a FlowFields,
    pub(crate) profile: ProfileId,
    /// Whether costs count that edits may have changed, and distances where no cost is known. If edits come faster than fields
    /// are repaired, exact costs may never be known. The route may then not be the cheapest.
    pub(crate) accepts_old: bool,
}

/// The cheapest way to the end of a crossing.
#[derive(Clone, Copy, Debug)]
struct Reached {
    cost: u64,
    /// The crossing before it.
    before: Option<usize>,
}

/// All crossings that units of a profile may begin, with their ends.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct CrossingTable {
    hops: Vec<(Hop, [LinkEnd; 2])>,
    /// What it costs from the end of one crossing to that of another, row by row.
    between: Vec<u64>,
}

impl CrossingTable {
    /// What planning a route takes of the budget for requests, in expansions (estimated).
    pub(super) const fn work(&self) -> u32 {
        let hops = self.hops.len() as u32;
        hops.saturating_add(hops.saturating_mul(hops) / 16)
    }
}

const INFINITE: u64 = u64::MAX;
/// Work to find that the costs of a crossing are not known yet, in expansions (estimated).
const WORK_TO_WAIT: u32 = 8;
/// So many cells near a goal take as long as one expansion (estimated); they are looked at for each possible last crossing.
const CELLS_PER_EXPANSION: u32 = 2;
/// So many of them take as long as one line of sight (estimated).
const CELLS_PER_LINE_OF_SIGHT: u32 = 8;

/// How a route ends: what it costs, the index of its last crossing, and row and column of the cell at the goal.
type RouteEnd = (u64, usize, Option<(i32, i32)>);

impl NavLinks {
    /// Returns where a crossing begins, as a goal.
    pub(crate) fn entrance(&self, hop: Hop) -> Goal {
        self.ends(hop)[0].area.into()
    }

    /// Finds the cheapest route over at least one link to any of the goals. If there is none and the route may end `near` the
    /// first goal, finds the best route to its grid, by cost and distance from the goal. A unit that could not land on the best
    /// cell of a link, and still stands where it came out, goes `back` only if there is no other route: otherwise it might
    /// cross again and again. Also returns the work, in expansions.
    pub(crate) fn route(
        &self,
        costs: Costs<'_>,
        from: (GridId, Cell),
        goals: &[Destination],
        (near, back): (bool, Option<Hop>),
    ) -> (Routing, u32) {
        let first = self.route_without(costs, from, goals, (near, back));
        if matches!(first.0, Routing::Via(..)) || back.is_none() {
            return first;
        }
        let (routing, work) = self.route_without(costs, from, goals, (near, None));
        (routing, work.saturating_add(first.1))
    }

    fn route_without(
        &self,
        costs: Costs<'_>,
        (grid, start): (GridId, Cell),
        goals: &[Destination],
        (near, back): (bool, Option<Hop>),
    ) -> (Routing, u32) {
        let (is_settled, is_held_up) = self.are_costs_known(costs);
        let is_ready = is_settled || is_held_up && costs.accepts_old;
        // If all costs are known, no old ones count.
        let costs = Costs { accepts_old: !is_settled, ..costs };
        let table = if is_ready { self.table(costs) } else { None };
        let Some(table) = table else {
            return (Routing::Pending, WORK_TO_WAIT * self.hops(costs.profile).count() as u32);
        };
        let hops = &table.hops;
        let start_cost = |&(hop, [from, _]): &(Hop, [LinkEnd; 2])| {
            let is_back = Some(hop) == back && from.area.contains(start);
            if from.grid != grid || is_back {
                return INFINITE;
            }
            self.cost_to(costs, from, start).saturating_add(self.cost_of(hop))
        };
        let found = hops.iter().map(|hop| Reached { cost: start_cost(hop), before: None });
        let found = self.spread(table, found.collect());
        let (best, work) = self.best_end(costs, (hops, &found), goals);
        let work = work.saturating_add(table.work());
        if best.is_none()
            && !self.are_up_to_date(costs)
            && self.may_reach(costs, (grid, start), goals)
        {
            // A way that has just been opened. Looking at the cells near the goals has taken as long again.
            return (Routing::Pending, work.saturating_mul(2));
        }
        let best = best.or_else(|| {
            let goal = goals.first().filter(|goal| near && goal.grid != grid)?;
            nearest_end((hops, &found), goal)
        });
        let routing = best.map_or(Routing::None, |(cost, last, goal)| {
            let next = self.first_link(costs, (hops, &found), last, goal);
            Routing::Via(next, PathCost(cost))
        });
        (routing, work)
    }

    /// Returns the cheapest crossing to end a route with, and the work to find it, in expansions.
    fn best_end(
        &self,
        costs: Costs<'_>,
        (hops, found): (&[(Hop, [LinkEnd; 2])], &[Reached]),
        goals: &[Destination],
    ) -> (Option<RouteEnd>, u32) {
        let mut work = 0_u32;
        let mut note_cells = |goal: &Goal, cells: &[Cell]| {
            let is_seen = matches!(goal.approach, Approach::InSight { .. });
            let per_cell = if is_seen { CELLS_PER_LINE_OF_SIGHT } else { 1 };
            work = work.saturating_add(cells.len() as u32 * per_cell / CELLS_PER_EXPANSION);
        };
        let mut places = Vec::with_capacity(goals.len());
        for goal in goals {
            if let Some(grid) = costs.grids.get(goal.grid) {
                let cells = near_cells(grid, costs.profile, &goal.goal);
                note_cells(&goal.goal, &cells);
                places.push((goal, grid, cells));
            }
        }
        // Starts with the cheapest crossing and ends when no other can be as cheap: there may be many cells near a goal.
        let reached = found.iter().enumerate().filter(|(_, at)| at.cost < INFINITE);
        let mut by_cost: Vec<_> = reached.map(|(index, at)| (at.cost, index)).collect();
        by_cost.sort_unstable();
        let mut best = (INFINITE, usize::MAX, None);
        for (cost, index) in by_cost {
            if cost > best.0 {
                break;
            }
            let [_, end] = hops[index].1;
            for (goal, grid, cells) in places.iter().filter(|(goal, ..)| goal.grid == end.grid) {
                note_cells(&goal.goal, cells);
                let (last, cell) = self.cost_to_goal(costs, end, (grid, &goal.goal, cells));
                best = best.min((cost.saturating_add(last), index, cell));
            }
        }
        (Some(best).filter(|(cost, ..)| *cost < INFINITE), work)
    }

    /// Goes back from the last crossing of a route to the first, and finds the cell on which to land there.
    fn first_link(
        &self,
        costs: Costs<'_>,
        (hops, found): (&[(Hop, [LinkEnd; 2])], &[Reached]),
        last: usize,
        goal: Option<(i32, i32)>,
    ) -> NextLink {
        let (mut first, mut next) = (last, None);
        while let Some(before) = found[first].before {
            (first, next) = (before, Some(first));
        }
        let (hop, [_, end]) = hops[first];
        let landing = match (next, goal) {
            (Some(next), _) => self.cell_towards(costs, end, hops[next].1[0]),
            (None, Some((y, x))) => self.nearest_cell(costs, end, Cell::new(x, y)),
            (None, None) => None,
        };
        NextLink { hop, landing: landing.unwrap_or(end.area.min) }
    }

    /// Dijkstra's algorithm over the crossings.
    fn spread(&self, table: &CrossingTable, mut found: Vec<Reached>) -> Vec<Reached> {
        let hops = &table.hops;
        let mut open: Vec<usize> = (0..hops.len()).collect();
        while let Some(at) = (0..open.len()).min_by_key(|&at| (found[open[at]].cost, open[at])) {
            let taken = open.swap_remove(at);
            let Reached { cost, .. } = found[taken];
            if cost == INFINITE {
                break;
            }
            for &next in &open {
                let total = cost.saturating_add(table.between[taken * hops.len() + next]);
                if total < found[next].cost {
                    found[next] = Reached { cost: total, before: Some(taken) };
                }
            }
        }
        found
    }

    /// Reads off the fields of a profile what lies between its crossings.
    pub(super) fn read_table(&self, costs: Costs<'_>) -> CrossingTable {
        let hops: Vec<_> = self.hops(costs.profile).map(|hop| (hop, self.ends(hop))).collect();
        let pairs = hops.iter().flat_map(|before| hops.iter().map(move |next| (before, next)));
        let cost = |(&(_, [_, end]), &(next, [start, _])): (
            &(Hop, [LinkEnd; 2]),
            &(Hop, [LinkEnd; 2]),
        )| {
            self.cost_between(costs, end, start).saturating_add(self.cost_of(next))
        };
        let between = pairs.map(cost).collect();
        CrossingTable { hops, between }
    }

    /// Whether a route over links might cost less than `cost`, judged by distances alone.
    pub(crate) fn may_save(
        &self,
        Costs { grids, profile, .. }: Costs<'_>,
        (grid, start): (GridId, Cell),
        goal: &Goal,
        cost: PathCost,
    ) -> bool {
        let Some(rules) = grids.profiles().get(usize::from(profile.0)) else {
            return false;
        };
        let cheapest = rules.min_cost().unwrap_or(0);
        let step = 2 * u64::from(STRAIGHT) * u64::from(cheapest);
        let ends = |hop: Hop| self.ends(hop);
        let to_enter = self.hops(profile).filter(|&hop| ends(hop)[0].grid == grid);
        let to_enter = to_enter.map(|hop| {
            let steps = ends(hop)[0].area.gap(CellRect::single(start));
            self.cost_of(hop).saturating_add(step * u64::from(steps))
        });
        // The anchor of a large unit may be farther away.
        let range = u64::from(rules.unit_size())
            + u64::from(goal.radius)
            + match goal.approach {
                Approach::Onto | Approach::Beside => 1,
                Approach::Within { cells } | Approach::InSight { cells, .. } => u64::from(cells),
            };
        let to_end = self.hops(profile).filter(|&hop| ends(hop)[1].grid == grid);
        let to_end = to_end.map(|hop| {
            let steps = ends(hop)[1].area.gap(goal.area);
            step * u64::from(steps).saturating_sub(range)
        });
        let lowest = to_enter.min().zip(to_end.min()).map(|(a, b)| a.saturating_add(b));
        lowest.is_some_and(|lowest| lowest < cost.0)
    }

    /// What a crossing itself costs.
    pub(crate) fn cost_of(&self, hop: Hop) -> u64 {
        let cost = self.placed(hop).map_or(0, |placed| placed.link.cost);
        u64::from(cost) * PathCost::PLAIN_STEP.0
    }

    /// How far a unit on a cell has to walk to an end, in straight steps over plain terrain; `None` where that is not known, or
    /// there is no path.
    pub(crate) fn steps_to(&self, costs: Costs<'_>, end: LinkEnd, cell: Cell) -> Option<u32> {
        let field = self.field(costs.profile, end)?;
        let is_settled = costs.flows.is_settled(costs.grids, field);
        let cost = costs.flows.cost(costs.grids, field, cell).filter(|_| is_settled)?;
        u32::try_from(cost.0.div_ceil(PathCost::PLAIN_STEP.0)).ok()
    }

    /// What it costs to walk between an end and a cell on its grid.
    fn cost_to(&self, costs: Costs<'_>, end: LinkEnd, cell: Cell) -> u64 {
        let Some(field) = self.field(costs.profile, end) else {
            return INFINITE;
        };
        if !costs.accepts_old {
            let cost = costs.flows.cost(costs.grids, field, cell);
            return cost.map_or(INFINITE, |cost| cost.0);
        }
        // Connected regions are always up to date. Where no cost is known, the distance is an estimate.
        let steps = cells_connected_to(costs, end, cell).map(|at| at.chebyshev(cell)).min();
        let cost = costs.flows.last_known_cost(costs.grids, field, cell);
        let estimate = |steps: u32| u64::from(steps) * PathCost::PLAIN_STEP.0;
        steps.map_or(INFINITE, |steps| cost.map_or(estimate(steps), |cost| cost.0))
    }

    /// What it costs to walk from where a crossing ends to where one begins.
    fn cost_between(&self, costs: Costs<'_>, end: LinkEnd, next: LinkEnd) -> u64 {
        let Some(grid) = costs.grids.get(end.grid).filter(|_| end.grid == next.grid) else {
            return INFINITE;
        };
        let cells = end.area.intersection(grid.rect()).cells();
        cells.map(|cell| self.cost_to(costs, next, cell)).min().unwrap_or(INFINITE)
    }

    /// The cell of an end from which it is cheapest to walk to where a crossing begins.
    fn cell_towards(&self, costs: Costs<'_>, end: LinkEnd, next: LinkEnd) -> Option<Cell> {
        let grid = costs.grids.get(end.grid)?;
        let cells = end.area.intersection(grid.rect()).cells();
        cells.min_by_key(|&cell| (self.cost_to(costs, next, cell), cell.y, cell.x))
    }

    /// The cell of an end that is nearest to another cell.
    fn nearest_cell(&self, costs: Costs<'_>, end: LinkEnd, cell: Cell) -> Option<Cell> {
        if costs.accepts_old {
            let distance = |at: &Cell| (at.chebyshev(cell), at.y, at.x);
            return cells_connected_to(costs, end, cell).min_by_key(distance);
        }
        let path = costs.flows.path(costs.grids, self.field(costs.profile, end)?, cell);
        path.map(|path| path.end())
    }

    /// The cost to walk from the end of a crossing to the best of the `cells` near a goal, and the row and column of that cell.
    fn cost_to_goal(
        &self,
        costs: Costs<'_>,
        end: LinkEnd,
        (grid, goal, cells): (&NavGrid, &Goal, &[Cell]),
    ) -> (u64, Option<(i32, i32)>) {
        let cells = cells.iter().map(|&cell| (self.cost_to(costs, end, cell), cell.y, cell.x));
        let cells = cells.filter(|cell| cell.0 < INFINITE);
        let admits =
            |&(_, y, x): &(u64, i32, i32)| goal.admits(grid, costs.profile, Cell::new(x, y));
        let best = if matches!(goal.approach, Approach::InSight { .. }) {
            // Lines of sight take long: the cheapest cells are tried first.
            let mut cells: Vec<_> = cells.collect();
            cells.sort_unstable();
            cells.into_iter().find(admits)
        } else {
            let nearer = |best: Option<_>, cell| {
                let is_nearer = best.is_none_or(|best| cell < best);
                if is_nearer && admits(&cell) { Some(cell) } else { best }
            };
            cells.fold(None, nearer)
        };
        best.map_or((INFINITE, None), |(cost, y, x)| (cost, Some((y, x))))
    }
}

/// The cells of an end that are connected with another cell of its grid.
fn cells_connected_to(
    Costs { grids, profile, .. }: Costs<'_>,
    end: LinkEnd,
    cell: Cell,
) -> impl Iterator<Item = Cell> {
    let grid = grids.get(end.grid);
    let region = grid.and_then(|grid| grid.region(profile, cell));
    let cells = grid.into_iter().flat_map(move |grid| {
        let cells = end.area.intersection(grid.rect()).cells();
        cells.filter(move |&at| grid.region(profile, at) == region)
    });
    cells.filter(move |_| region.is_some())
}

/// The best last crossing to the grid of a goal, by its cost and the distance from its end to the goal.
fn nearest_end(
    (hops, found): (&[(Hop, [LinkEnd; 2])], &[Reached]),
    goal: &Destination,
) -> Option<RouteEnd> {
    let reached = hops.iter().zip(found).enumerate().filter(|(_, (_, at))| at.cost < INFINITE);
    let arriving = reached.filter(|(_, ((_, [_, end]), _))| end.grid == goal.grid);
    let nearest = arriving.map(|(index, ((_, [_, end]), at))| {
        let cell = goal.goal.cell();
        let steps = u64::from(end.area.min.chebyshev(cell));
        (at.cost.saturating_add(steps * PathCost::PLAIN_STEP.0), index, Some((cell.y, cell.x)))
    });
    nearest.min()
}

/// The cells near enough to a goal.
pub(super) fn near_cells(grid: &NavGrid, profile: ProfileId, goal: &Goal) -> Vec<Cell> {
    let (size, origin) = ((grid.width(), grid.height()), grid.origin());
    let zone = GoalZone::of(grid, profile, goal);
    let cells = zone.iter().flat_map(|zone| zone.cells(size));
    cells.map(|(x, y)| origin.offset(x as i32, y as i32)).collect()
}
