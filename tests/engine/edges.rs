//! Edges between cells: every search, field and region agrees with a naive search over the rules, before and after edits.

use bevy_tilepath::{
    nav::{field::DistanceField, node_pool::NodePool, search::Search},
    prelude::*,
};

use crate::common::{
    Random, any_topology, dijkstra, is_legal_path, patched_terrain, scatter_edges, with_edges,
};

const RULES: [CornerRule; 3] = [CornerRule::Forbid, CornerRule::NoSqueeze, CornerRule::Allow];

/// One profile per corner rule, uniform and weighted, four and eight neighbors, one to three cells a side.
fn profiles() -> Vec<Profile> {
    let uniform =
        (1..=4).fold(Profile::new(), |profile, terrain| profile.with(TerrainId(terrain), 16));
    let costs = [(1, 16), (2, 32), (3, 24), (4, 80)].into_iter();
    let weighted = costs
        .fold(Profile::new(), |profile, (terrain, cost)| profile.with(TerrainId(terrain), cost));
    let mut profiles = Vec::new();
    for rule in RULES {
        profiles.push(uniform.clone().corners(rule));
        profiles.push(weighted.clone().corners(rule));
    }
    profiles.push(uniform.clone().neighbors(Neighborhood::Four));
    profiles.push(weighted.clone().neighbors(Neighborhood::Four));
    profiles.push(uniform.clone().size(2));
    profiles.push(weighted.clone().size(2));
    profiles.push(uniform.size(3).corners(CornerRule::Allow));
    profiles.push(weighted.size(3).corners(CornerRule::NoSqueeze));
    profiles.into_iter().map(with_edges).collect()
}

fn random_grid((width, height): (u32, u32), random: &mut Random) -> NavGrid {
    let terrain = patched_terrain((width, height), width * height / 60, random.below(60), random);
    let grid = NavGrid::from_terrain(width, height, terrain).unwrap();
    grid.with_topology(any_topology(random)).with_profiles(profiles())
}

fn any_cell(grid: &NavGrid, random: &mut Random) -> Cell {
    Cell::new(random.below(grid.width()) as i32, random.below(grid.height()) as i32)
}

/// Costs of paths to a goal by all algorithms and a field, and costs without a path, against the oracle; returns the number of
/// paths.
fn check_costs(
    grid: &NavGrid,
    (profile, goal): (ProfileId, Cell),
    (search, pool): (&mut Search, &NodePool),
    random: &mut Random,
) -> u32 {
    let costs = dijkstra(grid, profile, goal);
    let mut field = DistanceField::new();
    let is_filled = field.start(grid, profile, goal).is_ok();
    if is_filled {
        while !field.is_finished() {
            field.step(grid, 1 + random.below(200));
        }
    }
    let mut found = 0;
    for (start, &expected) in grid.rect().cells().zip(&costs) {
        assert_eq!(grid.can_reach(profile, start, goal), expected.is_some(), "{start} {goal}");
        if is_filled {
            assert_eq!(field.cost(grid, start), expected.map(PathCost), "{start} {goal}");
        }
        assert!(is_filled || expected.is_none(), "{start} {goal}");
        if let Some(cost) = expected {
            assert!(grid.least_cost(profile, start, goal).unwrap() <= PathCost(cost));
        }
    }
    for _ in 0..12 {
        let start = any_cell(grid, random);
        let expected = costs[(start.y as u32 * grid.width() + start.x as u32) as usize];
        if expected.is_some() {
            let path = field.path(grid, start).unwrap();
            assert!(is_legal_path(grid, profile, &path), "field: {start} {goal}");
        }
        for algorithm in [Algorithm::Auto, Algorithm::Exact, Algorithm::AStar] {
            let query = PathQuery::new(start, goal).profile(profile).algorithm(algorithm);
            if search.start(grid, pool, query).is_ok() {
                while !search.is_finished() {
                    search.step(grid, pool, 1 + random.below(40));
                }
            }
            let path = search.finish(grid, pool).ok();
            let cost = path.as_ref().map(|path| path.cost().0);
            assert_eq!(cost, expected, "{start} to {goal} by {algorithm:?}");
            assert!(path.iter().all(|path| is_legal_path(grid, profile, path)));
            found += u32::from(cost.is_some());
        }
    }
    found
}

/// A few random edits of edges, terrain and blockers in one batch.
fn edit(grid: &mut NavGrid, random: &mut Random) {
    let count = random.below(4);
    scatter_edges(grid, count, random);
    for _ in 0..random.below(4) {
        let rect = CellRect::new(any_cell(grid, random), 1 + random.below(4), 1);
        let _is_inside = grid.block(rect.intersection(grid.rect()));
        let terrain = TerrainId(random.below(5) as u8);
        grid.set_terrain(any_cell(grid, random), terrain).unwrap();
    }
}

#[test]
fn costs_are_those_of_a_naive_search_with_edges_and_under_edits() {
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    let mut found = 0;
    for seed in 0..150 {
        let random = &mut Random(seed);
        let longest = if seed % 10 == 0 { 150 } else { 50 };
        let size = (1 + random.below(longest), 1 + random.below(longest));
        let mut grid = random_grid(size, random);
        // Some layers see the first edges, some later ones.
        if seed % 2 == 0 {
            grid.build_layers();
        }
        for _ in 0..4 {
            let profile = ProfileId(random.below(12) as u8);
            let goal = any_cell(&grid, random);
            found += check_costs(&grid, (profile, goal), (&mut search, &pool), random);
            if random.below(3) == 0 {
                let count = random.below(size.0 * size.1 / 12 + 2);
                scatter_edges(&mut grid, count, random);
            }
            edit(&mut grid, random);
        }
    }
    assert!(found > 5_000, "only {found} paths");
}

#[test]
fn repaired_layers_are_those_that_are_built_anew() {
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    for seed in 0..60 {
        let random = &mut Random(seed);
        let size = (2 + random.below(90), 2 + random.below(90));
        let mut grid = random_grid(size, random);
        grid.build_layers();
        for _ in 0..5 {
            edit(&mut grid, random);
        }
        let rebuilt = grid.clone().with_profiles(profiles());
        for profile in (0..12).map(ProfileId) {
            for _ in 0..6 {
                let (start, goal) = (any_cell(&grid, random), any_cell(&grid, random));
                let [repaired, rebuilt] = [&grid, &rebuilt].map(|grid| {
                    let query = PathQuery::new(start, goal).profile(profile);
                    let _is_started = search.start(grid, &pool, query);
                    search.step(grid, &pool, u32::MAX);
                    let path = search.finish(grid, &pool).ok();
                    let steps = path.map(|path| (path.cost(), path.cells().collect::<Vec<_>>()));
                    (grid.can_reach(profile, start, goal), search.counters(), steps)
                });
                assert_eq!(repaired, rebuilt, "{seed}: {profile:?} {start} {goal}");
            }
            for cell in grid.rect().cells() {
                let layers = [&grid, &rebuilt].map(|grid| grid.layer(profile).unwrap());
                let (x, y) = (cell.x as u32, cell.y as u32);
                let steps = layers
                    .map(|layer| Direction::ALL.map(|direction| layer.can_step(x, y, direction)));
                assert_eq!(steps[0], steps[1], "{seed}: {profile:?} {cell}");
                assert_eq!(layers[0].is_passable(x, y), grid.cost(profile, cell) > 0);
            }
            let counts = [&grid, &rebuilt].map(|grid| grid.layer(profile).unwrap().region_count());
            assert_eq!(counts[0], counts[1]);
        }
    }
}

#[test]
fn an_edge_belongs_to_both_cells_and_bad_ones_are_refused() {
    let mut grid = NavGrid::new(6, 4, TerrainId::GROUND).unwrap().with_origin(Cell::new(-2, 7));
    let (here, there, fence) = (Cell::new(0, 8), Cell::new(1, 8), EdgeId(9));
    let revision = grid.revision();
    grid.set_edge(here, Direction::East, fence).unwrap();
    assert_eq!(grid.edge(there, Direction::West), fence);
    assert_eq!(grid.edges().collect::<Vec<_>>(), [(here, Direction::East, fence)]);
    assert_eq!(grid.edge_cost(ProfileId(0), there, Direction::West), None);
    assert_eq!(grid.edge_cost(ProfileId(0), there, Direction::East), Some(0));
    let edited: Vec<_> = grid.edits_since(revision).unwrap().collect();
    assert_eq!(edited, [CellRect::new(here, 2, 1)]);

    let revision = grid.revision();
    let diagonal = GridError::NoEdge { cell: here, direction: Direction::NorthWest };
    let nowhere = Cell::new(i32::MAX, i32::MIN);
    let refused = [
        (here, Direction::NorthWest, diagonal),
        (nowhere, Direction::East, GridError::OutOfBounds(nowhere)),
        (Cell::new(-2, 7), Direction::South, GridError::OutOfBounds(Cell::new(-2, 6))),
        (Cell::new(-3, 7), Direction::East, GridError::OutOfBounds(Cell::new(-3, 7))),
    ];
    for (cell, direction, error) in refused {
        assert_eq!(grid.set_edge(cell, direction, fence), Err(error));
        assert_eq!(grid.edge(cell, direction), EdgeId::NONE);
    }
    grid.set_edge(there, Direction::West, fence).unwrap();
    assert_eq!(grid.revision(), revision, "nothing has changed");
    grid.set_edge(there, Direction::West, EdgeId::NONE).unwrap();
    assert_eq!(grid.edges().count(), 0);
    let mut grid = grid.with_topology(Topology::Hexagonal);
    grid.set_edge(here, Direction::NorthWest, fence).unwrap();
    assert_eq!(grid.edge(here.offset(-1, 1), Direction::SouthEast), fence);
}

#[test]
fn edges_that_are_free_for_everybody_cost_nothing_at_all() {
    let profile = with_edges(Profile::default());
    let mut grid = NavGrid::new(64, 64, TerrainId::GROUND).unwrap().with_profiles(vec![profile]);
    grid.build_layers();
    let bytes = grid.layer(ProfileId(0)).unwrap().bytes();
    grid.set_edge(Cell::new(3, 3), Direction::North, EdgeId(2)).unwrap();
    assert_eq!(grid.layer(ProfileId(0)).unwrap().bytes(), bytes);
    grid.set_edge(Cell::new(3, 3), Direction::North, EdgeId(3)).unwrap();
    assert!(grid.layer(ProfileId(0)).unwrap().bytes() > bytes);
}

#[test]
fn an_edit_beside_the_corner_of_four_chunks_divides_regions() {
    let profile = Profile::default().corners(CornerRule::Allow);
    let grid = NavGrid::new(64, 64, TerrainId::VOID).unwrap();
    let mut grid = grid.with_profiles(vec![profile]);
    let (corner, here, there) = (Cell::new(31, 31), Cell::new(32, 31), Cell::new(31, 32));
    for cell in [corner, here, there] {
        grid.set_terrain(cell, TerrainId::GROUND).unwrap();
    }
    grid.set_edge(here, Direction::North, EdgeId::WALL).unwrap();
    grid.build_layers();
    assert!(grid.can_reach(ProfileId(0), here, there));
    grid.block(CellRect::single(corner)).unwrap();
    assert!(
        !grid.can_reach(ProfileId(0), here, there),
        "one way is cut by an edge, the other by a wall"
    );
}

#[test]
fn the_way_over_a_wall_is_no_cheaper_way_around_a_corner() {
    let profile = Profile::default().corners(CornerRule::NoSqueeze).with_edge(EdgeId(2), 64);
    let mut grid = NavGrid::new(4, 4, TerrainId::GROUND).unwrap().with_profiles(vec![profile]);
    grid.block(CellRect::single(Cell::new(0, 1))).unwrap();
    grid.set_edge(Cell::new(1, 0), Direction::North, EdgeId(2)).unwrap();
    let cost = |grid: &NavGrid| grid.edge_cost(ProfileId(0), Cell::new(0, 0), Direction::NorthEast);
    assert_eq!(cost(&grid), Some(64));
    grid.unblock(CellRect::single(Cell::new(0, 1))).unwrap();
    assert_eq!(cost(&grid), Some(0));
}

#[test]
fn a_building_beside_a_river_makes_no_step_cheaper() {
    // From the lower left cell to the upper right one, between a wall and a cell behind a river.
    let profile = Profile::default().corners(CornerRule::Allow).with_edge(EdgeId(2), 64);
    let mut grid = NavGrid::new(2, 2, TerrainId::GROUND).unwrap().with_profiles(vec![profile]);
    grid.set_terrain(Cell::new(0, 1), TerrainId::VOID).unwrap();
    grid.set_edge(Cell::new(0, 0), Direction::East, EdgeId(2)).unwrap();
    let cost = |grid: &NavGrid| grid.edge_cost(ProfileId(0), Cell::new(0, 0), Direction::NorthEast);
    assert_eq!(cost(&grid), Some(64));
    grid.block(CellRect::single(Cell::new(1, 0))).unwrap();
    assert_eq!(cost(&grid), Some(64));
}

/// A gate between chunks whose crossings lie within the border of another rectangle of the same edit, on a grid that ends there.
#[test]
fn a_gate_that_opens_and_shuts_in_two_parts_of_an_edit_connects_and_divides() {
    for (width, height) in [(40, 33), (33, 40), (40, 65), (96, 96)] {
        let mut grid = NavGrid::new(width, height, TerrainId::GROUND).unwrap();
        for x in 0..width as i32 {
            grid.set_edge(Cell::new(x, 31), Direction::North, EdgeId::WALL).unwrap();
        }
        for y in [31, 32] {
            grid.set_edge(Cell::new(30, y), Direction::East, EdgeId::WALL).unwrap();
        }
        for y in 33..height as i32 {
            grid.set_edge(Cell::new(30, y), Direction::East, EdgeId::WALL).unwrap();
        }
        let (a, b) = (Cell::new(0, 32), Cell::new(width as i32 - 1, 32));
        assert!(!grid.can_reach(ProfileId(0), a, b));
        for edge in [EdgeId::NONE, EdgeId::WALL, EdgeId::NONE] {
            let mut edit = grid.edit();
            edit.set_edge(Cell::new(30, 31), Direction::East, edge).unwrap();
            edit.set_edge(Cell::new(5, 5), Direction::East, EdgeId(7)).unwrap();
            edit.set_edge(Cell::new(5, 5), Direction::East, EdgeId::NONE).unwrap();
            edit.set_edge(Cell::new(30, 32), Direction::East, edge).unwrap();
            drop(edit);
            let is_open = edge == EdgeId::NONE;
            assert_eq!(grid.can_reach(ProfileId(0), a, b), is_open, "{width} x {height} {edge:?}");
            assert_eq!(grid.find_path(ProfileId(0), a, b).is_ok(), is_open);
        }
    }
}

#[test]
fn hexagons_that_become_squares_lose_their_edges_to_the_northwest() {
    let grid = NavGrid::new(12, 12, TerrainId::GROUND).unwrap();
    let mut grid = grid.with_topology(Topology::Hexagonal);
    grid.set_edge(Cell::new(5, 5), Direction::NorthWest, EdgeId::WALL).unwrap();
    grid.set_edge(Cell::new(5, 5), Direction::East, EdgeId::WALL).unwrap();
    let grid = grid.with_topology(Topology::Square);
    let east = (Cell::new(5, 5), Direction::East, EdgeId::WALL);
    assert!(grid.edges().eq([east]));
    let grid = grid.with_topology(Topology::Hexagonal);
    assert!(grid.edges().eq([east]));
}

#[test]
fn a_diagonal_past_a_wall_and_a_shut_edge_cannot_be_crossed() {
    for ground in [16, 40_000] {
        let profile = Profile::new().with(TerrainId::GROUND, ground);
        let grid = NavGrid::new(2, 2, TerrainId::GROUND).unwrap();
        let mut grid = grid.with_profiles(vec![profile]);
        grid.block(CellRect::single(Cell::new(0, 1))).unwrap();
        grid.set_edge(Cell::new(0, 0), Direction::East, EdgeId::WALL).unwrap();
        assert_eq!(grid.edge_cost(ProfileId(0), Cell::new(0, 0), Direction::NorthEast), None);
        assert_eq!(grid.edge_cost(ProfileId(0), Cell::new(1, 0), Direction::North), Some(0));
    }
}
