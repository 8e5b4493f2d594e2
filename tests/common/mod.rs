//! Oracles and helpers shared by the integration tests: simple, slow and obviously correct.

#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test whose setup fails should fail")]

pub mod app;
pub mod assignment;
pub mod counting;
pub mod units;

use std::{cmp::Reverse, collections::BinaryHeap};

use bevy_tilepath::prelude::*;

/// A small reproducible random number generator (SplitMix64, Steele et al. 2014).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u32) -> u32 {
        (self.next() % u64::from(bound)) as u32
    }
}

/// Returns squares for two of three numbers, and hexagons.
pub fn any_topology(random: &mut Random) -> Topology {
    if random.below(3) == 0 { Topology::Hexagonal } else { Topology::Square }
}

/// Returns `count` rectangles of one terrain each (1 to 4), `walls` percent of them walls (0), over terrain
/// 1.
pub fn patched_terrain(
    (width, height): (u32, u32),
    count: u32,
    walls: u32,
    random: &mut Random,
) -> Vec<u8> {
    let mut terrain = vec![1; (width * height) as usize];
    for _ in 0..count {
        let (left, low) = (random.below(width), random.below(height));
        let is_wall = random.below(100) < walls;
        let id = if is_wall { 0 } else { 1 + random.below(4) as u8 };
        let (right, high) = (left + 1 + random.below(14), low + 1 + random.below(14));
        for y in low..high.min(height) {
            let row = (y * width) as usize;
            terrain[row + left as usize..row + right.min(width) as usize].fill(id);
        }
    }
    terrain
}

/// Returns an open field with `count` walls of one cell each, at random cells.
pub fn grid_with_single_walls(
    (width, height): (u32, u32),
    count: u32,
    random: &mut Random,
) -> NavGrid {
    let mut grid = NavGrid::new(width, height, TerrainId::GROUND).unwrap();
    for _ in 0..count {
        let at = Cell::new(random.below(width) as i32, random.below(height) as i32);
        grid.block(CellRect::single(at)).unwrap();
    }
    grid
}

/// Sets `count` edges at random: lines of one kind, 0 to 5, and single ones.
pub fn scatter_edges(grid: &mut NavGrid, count: u32, random: &mut Random) {
    let CellRect { min, width, height } = grid.rect();
    let mut edit = grid.edit();
    for _ in 0..count {
        let cell = min.offset(random.below(width) as i32, random.below(height) as i32);
        let direction = Direction::ALL[random.below(8) as usize];
        let along = Direction::ALL[(direction as usize + 2) % 8].offset();
        let (kind, length) = (EdgeId(random.below(6) as u8), 1 + random.below(6).pow(2) as i32);
        for step in 0..length {
            let cell = cell.offset(step * along.0, step * along.1);
            // Some lie off the grid or along diagonals.
            let _is_set = edit.set_edge(cell, direction, kind);
        }
    }
}

/// Returns the grid with profiles that know edges, and on every third one random edges.
pub fn with_some_edges(grid: NavGrid, profiles: Vec<Profile>, random: &mut Random) -> NavGrid {
    let mut grid = grid.with_profiles(profiles.into_iter().map(with_edges).collect());
    if random.below(3) == 0 {
        let count = grid.width() * grid.height() / 50 + 1;
        scatter_edges(&mut grid, count, random);
    }
    grid
}

/// Opens three of the kinds of edges: 2 is free, 3 costs 24 and 4 as little as possible; 1 and 5 are shut.
pub fn with_edges(profile: Profile) -> Profile {
    profile.with_edge(EdgeId(2), 0).with_edge(EdgeId(3), 24).with_edge(EdgeId(4), 1)
}

/// Returns the cells that a unit covers: those of a square, or those within some steps on hexagons.
pub fn covered(topology: Topology, size: u32, anchor: Cell) -> impl Iterator<Item = Cell> + Clone {
    let (reach, is_hexagonal) = (size as i32 - 1, topology == Topology::Hexagonal);
    let low = if is_hexagonal { -reach } else { 0 };
    let cells = (low..=reach).flat_map(move |y| (low..=reach).map(move |x| anchor.offset(x, y)));
    cells.filter(move |&cell| !is_hexagonal || anchor.hexagonal_distance(cell) < size)
}

/// Returns what crossing with a step along one axis costs, in sixteenths; `None` if the edge is shut. Every cell of a large
/// unit crosses, and the worst edge counts.
fn edge_cost(grid: &NavGrid, profile: ProfileId, from: Cell, (dx, dy): (i32, i32)) -> Option<u64> {
    let rules = &grid.profiles()[usize::from(profile.0)];
    let direction = Direction::between(from, from.offset(dx, dy)).unwrap();
    let cells = covered(grid.topology(), grid.unit_size(profile), from);
    let costs = cells.map(|cell| rules.edge_cost(grid.edge(cell, direction)).map(u64::from));
    costs.collect::<Option<Vec<_>>>().map(|costs| costs.into_iter().max().unwrap())
}

/// Returns what crossing edges with the step from `a` to its neighbor `b` costs, in sixteenths; `None` if edges forbid it.
pub fn crossing_cost(grid: &NavGrid, profile: ProfileId, a: Cell, b: Cell) -> Option<u64> {
    let rules = &grid.profiles()[usize::from(profile.0)];
    let (dx, dy) = (b.x - a.x, b.y - a.y);
    if dx == 0 || dy == 0 || grid.topology() == Topology::Hexagonal {
        return edge_cost(grid, profile, a, (dx, dy));
    }
    // Around the corner on both sides: the edges, and whether the cell there is passable.
    let way = |corner: Cell, first, second| {
        let edges =
            edge_cost(grid, profile, a, first).zip(edge_cost(grid, profile, corner, second));
        (edges.map(|(a, b)| a + b), grid.cost(profile, corner) > 0)
    };
    let ways = [way(a.offset(dx, 0), (dx, 0), (0, dy)), way(a.offset(0, dy), (0, dy), (dx, 0))];
    let is_open = |(edges, is_passable): (Option<u64>, bool)| edges.is_some() && is_passable;
    let are_uncut = ways.iter().all(|(edges, _)| edges.is_some());
    let is_legal = match rules.corner_rule() {
        CornerRule::Forbid => are_uncut,
        CornerRule::NoSqueeze => ways.into_iter().any(is_open),
        CornerRule::Allow => are_uncut || ways.into_iter().any(is_open),
    };
    let open = ways.into_iter().filter(|&way| is_open(way)).filter_map(|(edges, _)| edges).min();
    let squeezed = ways.into_iter().filter_map(|(edges, _)| edges).max();
    open.or(squeezed).filter(|_| is_legal)
}

/// Returns the cost of the step from `a` to its neighbor `b` if it is legal, computed from the movement
/// rules.
pub fn step_cost(grid: &NavGrid, profile: ProfileId, a: Cell, b: Cell) -> Option<u64> {
    let rules = &grid.profiles()[usize::from(profile.0)];
    let free = |x, y| grid.cost(profile, Cell::new(x, y)) > 0;
    let (dx, dy) = (b.x - a.x, b.y - a.y);
    if dx.abs().max(dy.abs()) != 1 || !free(a.x, a.y) || !free(b.x, b.y) {
        return None;
    }
    let costs = u64::from(grid.cost(profile, a)) + u64::from(grid.cost(profile, b));
    if grid.topology() == Topology::Hexagonal && dx == dy {
        return None;
    }
    let costs = costs + 2 * crossing_cost(grid, profile, a, b)?;
    if grid.topology() == Topology::Hexagonal {
        return Some(408 * costs);
    }
    let diagonal = dx != 0 && dy != 0;
    let sides = u32::from(free(b.x, a.y)) + u32::from(free(a.x, b.y));
    let needed = match rules.corner_rule() {
        CornerRule::Forbid => 2,
        CornerRule::NoSqueeze => 1,
        CornerRule::Allow => 0,
    };
    if diagonal && (rules.neighborhood() == Neighborhood::Four || sides < needed) {
        return None;
    }
    let weight = if diagonal { 577 } else { 408 };
    Some(weight * costs)
}

/// Returns the cost from `start` to every cell, row-major; `None` for unreachable cells.
pub fn dijkstra(grid: &NavGrid, profile: ProfileId, start: Cell) -> Vec<Option<u64>> {
    let index = |cell: Cell| (cell.y as u32 * grid.width() + cell.x as u32) as usize;
    let mut best = vec![None; (grid.width() * grid.height()) as usize];
    if grid.cost(profile, start) == 0 {
        return best;
    }
    let mut open = BinaryHeap::from([(Reverse(0), start)]);
    while let Some((Reverse(cost), at)) = open.pop() {
        if best[index(at)].is_some() {
            continue;
        }
        best[index(at)] = Some(cost);
        for direction in Direction::ALL {
            let (dx, dy) = direction.offset();
            let to = at.offset(dx, dy);
            if let Some(step) = step_cost(grid, profile, at, to) {
                open.push((Reverse(cost + step), to));
            }
        }
    }
    best
}

/// Returns the cost of the cheapest path.
pub fn dijkstra_cost(
    grid: &NavGrid,
    profile: ProfileId,
    start: Cell,
    goal: Cell,
) -> Option<PathCost> {
    let index = (goal.y as u32 * grid.width() + goal.x as u32) as usize;
    dijkstra(grid, profile, start)[index].map(PathCost)
}

/// Returns the weight of the shortest path between two cells without obstacles.
pub fn open_distance(grid: &NavGrid, profile: ProfileId, a: Cell, b: Cell) -> u32 {
    if grid.topology() == Topology::Hexagonal {
        let (dx, dy) = (b.x - a.x, b.y - a.y);
        return 408 * dx.abs().max(dy.abs()).max((dx + dy).abs()) as u32;
    }
    let (dx, dy) = (a.x.abs_diff(b.x), a.y.abs_diff(b.y));
    match grid.profiles()[usize::from(profile.0)].neighborhood() {
        Neighborhood::Four => 408 * (dx + dy),
        Neighborhood::Eight => 408 * dx.max(dy) + 169 * dx.min(dy),
    }
}

/// Returns the distance to the goal and the cost of the reachable cell nearest to the goal.
pub fn nearest(grid: &NavGrid, profile: ProfileId, start: Cell, goal: Cell) -> (u32, PathCost) {
    let reached = dijkstra(grid, profile, start);
    let cells = reached.iter().enumerate().filter_map(|(index, &cost)| {
        let (x, y) = (index as u32 % grid.width(), index as u32 / grid.width());
        let cell = Cell::new(x as i32, y as i32);
        Some((open_distance(grid, profile, cell, goal), PathCost(cost?)))
    });
    cells.min().unwrap()
}

/// Returns whether every step is legal and the cost is the sum of the steps.
pub fn is_legal_path(grid: &NavGrid, profile: ProfileId, path: &Path) -> bool {
    let cells: Vec<Cell> = path.cells().collect();
    let steps = cells.windows(2).map(|pair| step_cost(grid, profile, pair[0], pair[1]));
    steps.sum::<Option<u64>>() == Some(path.cost().0) && cells.last() == Some(&path.end())
}
