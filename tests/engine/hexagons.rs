//! What is special about hexagons: straight lines, sizes of 1 to 260 cells a side, edits. Searches, fields, ranges, goals and
//! landmarks on hexagons are tested together with those on squares.

use std::collections::BTreeMap;

use bevy_tilepath::{
    nav::{crowd::Crowd, field::DistanceField, node_pool::NodePool, search::Search},
    prelude::*,
};

use crate::common::{
    Random, dijkstra, is_legal_path, open_distance, patched_terrain, scatter_edges, with_edges,
};

const UNIT: ProfileId = ProfileId(0);

fn profiles() -> Vec<Profile> {
    let uniform =
        (1..=4).fold(Profile::new(), |profile, terrain| profile.with(TerrainId(terrain), 16));
    let costs = [(1, 16), (2, 32), (3, 24), (4, 80)].into_iter();
    let weighted = costs
        .fold(Profile::new(), |profile, (terrain, cost)| profile.with(TerrainId(terrain), cost));
    let large = [uniform.clone().size(2), weighted.clone().size(3), uniform.clone().size(4)];
    [uniform, weighted].into_iter().chain(large).map(with_edges).collect()
}

fn hexagons((width, height): (u32, u32), walls: u32, random: &mut Random) -> NavGrid {
    let terrain = match random.below(2) {
        0 => patched_terrain((width, height), (width * height) / 60, walls, random),
        _ => {
            let mut cell = || if random.below(100) < walls { 0 } else { 1 + random.below(4) as u8 };
            (0..width * height).map(|_| cell()).collect()
        }
    };
    let grid = NavGrid::from_terrain(width, height, terrain).unwrap();
    grid.with_topology(Topology::Hexagonal).with_profiles(profiles())
}

fn any_cell(grid: &NavGrid, random: &mut Random) -> Cell {
    Cell::new(random.below(grid.width()) as i32, random.below(grid.height()) as i32)
}

/// Whether the line between two cells is free, by trying every cell: on which side of the line its corners lie.
pub fn has_line_of_sight(grid: &NavGrid, profile: ProfileId, a: Cell, b: Cell) -> bool {
    line_between(grid, profile, (a, b)).is_some_and(|ways| ways.into_iter().all(|ways| ways.0 > 0))
}

/// The same for a unit: both cells beside a side along which it goes must be open, no edge between them, and both ends free.
fn has_clear_line(grid: &NavGrid, profile: ProfileId, a: Cell, b: Cell) -> bool {
    let ends_are_free = [a, b].into_iter().all(|cell| grid.cost(profile, cell) > 0);
    let is_wide = |ways: (u32, bool)| ways == (2, true);
    let ways = line_between(grid, profile, (a, b));
    ends_are_free && ways.is_some_and(|ways| ways.into_iter().all(is_wide))
}

/// For each side along which the line goes, how many of the two cells beside it are open, and whether no shut edge lies between
/// them. `None` if the line is blocked where it crosses cells.
fn line_between(
    grid: &NavGrid,
    profile: ProfileId,
    (a, b): (Cell, Cell),
) -> Option<Vec<(u32, bool)>> {
    let is_free = |cell: Cell| grid.cost(profile, cell) > 0;
    let (dx, dy) = (b.x - a.x, b.y - a.y);
    // In thirds of a cell from the center of `a`.
    let corners = |cell: Cell| {
        [(2, -1), (1, 1), (-1, 2), (-2, 1), (-1, -1), (1, -2)]
            .map(|(x, y)| (3 * (cell.x - a.x) + x, 3 * (cell.y - a.y) + y))
    };
    let side = |(x, y): (i32, i32)| (dx * y - dy * x).signum();
    let rules = &grid.profiles()[usize::from(profile.0)];
    let is_open = |a: Cell, b: Cell| {
        let direction = Direction::between(a, b).unwrap();
        rules.edge_cost(grid.edge(a, direction)).is_some()
    };
    let shared = |a: Cell, b: Cell| {
        corners(a).into_iter().filter(|corner| corners(b).contains(corner)).collect::<Vec<_>>()
    };
    let crosses = |cell: Cell| {
        let sides = corners(cell).map(side);
        sides.contains(&1) && sides.contains(&-1)
    };
    let (columns, rows) = (a.x.min(b.x)..=a.x.max(b.x), a.y.min(b.y)..=a.y.max(b.y));
    let crossed: Vec<Cell> = rows
        .flat_map(|y| columns.clone().map(move |x| Cell::new(x, y)))
        .filter(|&cell| crosses(cell))
        .collect();
    for &cell in &crossed {
        // Two crossed cells with a side that the line crosses, or where it goes through an end of the side.
        let meets = |&other: &Cell| match shared(cell, other).as_slice() {
            [one, end] => side(*one) * side(*end) <= 0 && (side(*one), side(*end)) != (0, 0),
            _ => false,
        };
        if crossed.iter().filter(|&other| meets(other)).any(|&other| !is_open(cell, other)) {
            return None;
        }
    }
    let mut beside: BTreeMap<Vec<(i32, i32)>, Vec<(Cell, bool)>> = BTreeMap::new();
    for y in a.y.min(b.y)..=a.y.max(b.y) {
        for x in a.x.min(b.x)..=a.x.max(b.x) {
            let cell = Cell::new(x, y);
            let is_crossed = crosses(cell);
            if is_crossed && cell != a && cell != b && !is_free(cell) {
                return None;
            }
            let mut along: Vec<_> =
                corners(cell).into_iter().filter(|&corner| side(corner) == 0).collect();
            if !is_crossed && along.len() == 2 {
                along.sort_unstable();
                // The way through this cell leads over its sides to the crossed cells at both ends.
                let at_an_end = |other: &&Cell| shared(cell, **other).len() == 2;
                let edges_are_open = crossed
                    .iter()
                    .filter(at_an_end)
                    .filter(|&&other| along.iter().any(|corner| corners(other).contains(corner)));
                let is_way = edges_are_open.copied().all(|other| is_open(cell, other));
                beside.entry(along).or_default().push((cell, is_free(cell) && is_way));
            }
        }
    }
    let ways = beside.into_values().map(|cells| {
        let open = cells.iter().filter(|(_, is_open)| *is_open).count() as u32;
        let is_undivided = cells.len() == 2 && is_open(cells[0].0, cells[1].0);
        (open, is_undivided)
    });
    Some(ways.collect())
}

#[test]
fn lines_of_sight_cross_the_cells_that_geometry_says() {
    let (mut seen, mut hidden, mut clear, mut narrow) = (0, 0, 0, 0);
    for seed in 0..60 {
        let random = &mut Random(seed);
        let size = (1 + random.below(24), 1 + random.below(24));
        let walls = random.below(40);
        let mut grid = hexagons(size, walls, random);
        scatter_edges(&mut grid, [0, 3, 12][seed as usize % 3], random);
        for _ in 0..300 {
            let (a, b) = (any_cell(&grid, random), any_cell(&grid, random));
            let expected = has_line_of_sight(&grid, UNIT, a, b);
            assert_eq!(grid.has_line_of_sight(UNIT, a, b), expected, "{seed}: {a} to {b}");
            assert_eq!(grid.has_line_of_sight(UNIT, b, a), expected, "{seed}: {b} to {a}");
            let is_clear = grid.clear_line(UNIT, a, b);
            assert_eq!(is_clear, grid.clear_line(UNIT, b, a));
            let is_wide = has_clear_line(&grid, UNIT, a, b);
            assert_eq!(is_clear, is_wide, "{seed}: {a} to {b}");
            clear += u32::from(is_clear && a != b);
            // It ends on free cells, but is not clear beside the line.
            let ends_are_free = [a, b].into_iter().all(|cell| grid.cost(UNIT, cell) > 0);
            narrow += u32::from(expected && ends_are_free && !is_clear);
            (seen, hidden) = (seen + u32::from(expected), hidden + u32::from(!expected));
        }
    }
    assert!(seen > 2_000 && hidden > 2_000, "{seen} {hidden}");
    assert!(clear > 500 && narrow > 20, "{clear} {narrow}");
}

/// All algorithms, fields and costs without a path agree with a naive Dijkstra, on grids of up to 260 cells a side, before and
/// after edits.
#[test]
fn costs_are_those_of_a_naive_search_on_all_sizes_and_under_edits() {
    let pool = NodePool::default();
    let (mut search, mut field) = (<Search>::new(), DistanceField::new());
    let mut found = 0;
    for seed in 0..120 {
        let random = &mut Random(seed);
        let longest = if seed % 10 == 0 { 260 } else { 60 };
        let size = (1 + random.below(longest), 1 + random.below(longest));
        // Large units need room.
        let walls = random.below([61, 15, 4][seed as usize % 3]);
        let mut grid = hexagons(size, walls, random);
        for _ in 0..3 {
            let (goal, profile) = (any_cell(&grid, random), ProfileId(random.below(5) as u8));
            let costs = dijkstra(&grid, profile, goal);
            let cost_of = |cell: Cell| costs[(cell.y as u32 * size.0 + cell.x as u32) as usize];
            let is_filled = field.start(&grid, profile, goal).is_ok();
            if is_filled {
                field.step(&grid, u32::MAX);
            }
            for _ in 0..12 {
                let start = any_cell(&grid, random);
                let expected = cost_of(start);
                assert_eq!(grid.can_reach(profile, start, goal), expected.is_some());
                if is_filled {
                    assert_eq!(field.cost(&grid, start), expected.map(PathCost), "{seed}");
                }
                assert!(is_filled || expected.is_none());
                if let Some(cost) = expected {
                    let least = grid.least_cost(profile, start, goal).unwrap();
                    assert!(least <= PathCost(cost));
                }
                for algorithm in [Algorithm::Auto, Algorithm::Exact, Algorithm::AStar] {
                    let query = PathQuery::new(start, goal).profile(profile).algorithm(algorithm);
                    if search.start(&grid, &pool, query).is_ok() {
                        while !search.is_finished() {
                            search.step(&grid, &pool, 1 + random.below(40));
                        }
                    }
                    let path = search.finish(&grid, &pool).ok();
                    let cost = path.as_ref().map(|path| path.cost().0);
                    assert_eq!(cost, expected, "{seed}: {start} to {goal} by {algorithm:?}");
                    assert!(path.iter().all(|path| is_legal_path(&grid, profile, path)));
                    found += u32::from(cost.is_some());
                }
            }
            for _ in 0..random.below(8) {
                let rect = CellRect::new(any_cell(&grid, random), 1 + random.below(4), 1);
                let _is_inside = grid.block(rect.intersection(grid.rect()));
                let terrain = TerrainId(random.below(5) as u8);
                grid.set_terrain(any_cell(&grid, random), terrain).unwrap();
            }
        }
    }
    assert!(found > 3_000, "only {found} paths");
}

#[test]
fn the_ring_around_a_cell_has_six_neighbors_and_no_diagonals() {
    let grid = NavGrid::new(9, 9, TerrainId::GROUND).unwrap().with_topology(Topology::Hexagonal);
    let center = Cell::new(4, 4);
    let steps = |cell| open_distance(&grid, UNIT, center, cell) / 408;
    let beside: Vec<Cell> = grid.rect().cells().filter(|&cell| steps(cell) == 1).collect();
    assert_eq!(beside.len(), 6);
    for cell in grid.rect().cells() {
        let path = grid.find_path(UNIT, center, cell).unwrap();
        assert_eq!(path.steps(), steps(cell), "{cell}");
        assert_eq!(path.cost(), PathCost(u64::from(steps(cell)) * PathCost::PLAIN_STEP.0));
    }
    let layer = grid.layer(UNIT).unwrap();
    for (direction, is_step) in Direction::ALL.into_iter().zip([1, 0, 1, 1, 1, 0, 1, 1]) {
        assert_eq!(u8::from(layer.can_step(4, 4, direction)), is_step, "{direction:?}");
    }
}

/// Jump points save nine of ten expansions in rooms, and the paths cost the same; rays fill the fields there.
#[test]
fn the_nearest_free_cell_counts_steps() {
    let grid = NavGrid::new(5, 5, TerrainId::VOID).unwrap().with_topology(Topology::Hexagonal);
    let mut grid = grid.with_profiles(profiles());
    grid.set_terrain(Cell::new(3, 3), TerrainId::GROUND).unwrap();
    let crowd = Crowd::new(&grid);
    let nearest = |radius| crowd.nearest_free_cell(&grid, (Cell::new(2, 2), UNIT), None, radius);
    assert_eq!(nearest(1), None, "no step leads there");
    assert_eq!(nearest(2), Some(Cell::new(3, 3)));
    grid.set_terrain(Cell::new(1, 3), TerrainId::GROUND).unwrap();
    let nearest = |radius| crowd.nearest_free_cell(&grid, (Cell::new(2, 2), UNIT), None, radius);
    assert_eq!(nearest(1), Some(Cell::new(1, 3)), "a neighbor");
}

#[test]
fn jump_points_save_expansions_in_rooms() {
    let terrain = |x: u32, y: u32| match (x % 16 == 15, y % 12 == 11) {
        (false, false) => 1,
        (true, false) => u8::from(y % 12 == (3 * (x / 16) + 5 * (y / 12)) % 11),
        (false, true) => u8::from(x % 16 == (7 * (x / 16) + 4 * (y / 12)) % 15),
        (true, true) => 0,
    };
    let cells = (0..160).flat_map(|y| (0..160).map(move |x| terrain(x, y))).collect();
    let grid = NavGrid::from_terrain(160, 160, cells).unwrap();
    let grid = grid.with_topology(Topology::Hexagonal).with_profiles(profiles());
    let (pool, mut search, random) = (NodePool::default(), <Search>::new(), &mut Random(3));
    let mut expansions = [0, 0];
    for _ in 0..200 {
        let (start, goal) = (any_cell(&grid, random), any_cell(&grid, random));
        if !grid.can_reach(UNIT, start, goal) {
            continue;
        }
        let costs = [Algorithm::AStar, Algorithm::Exact].map(|algorithm| {
            let query = PathQuery::new(start, goal).algorithm(algorithm);
            search.start(&grid, &pool, query).unwrap();
            search.step(&grid, &pool, u32::MAX);
            let is_jumping = algorithm == Algorithm::Exact;
            expansions[usize::from(is_jumping)] += search.counters().expansions;
            assert_eq!(search.algorithm() == Algorithm::JumpPoint, is_jumping);
            search.finish(&grid, &pool).unwrap().cost()
        });
        assert_eq!(costs[0], costs[1], "{start} to {goal}");
    }
    assert!(expansions[1] * 10 < expansions[0], "{expansions:?}");
    let mut field = DistanceField::new();
    field.start(&grid, UNIT, Cell::new(1, 1)).unwrap();
    field.step(&grid, u32::MAX);
    let nodes = field.counters().generated;
    assert!(nodes * 5 < 160 * 160, "{nodes} nodes for all cells");
}
