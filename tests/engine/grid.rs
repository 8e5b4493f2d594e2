//! Grids: errors that name the value, blockers, profiles, size and memory.

use bevy_tilepath::{
    nav::{field::DistanceField, node_pool::NodePool, search::Search},
    prelude::*,
};

use crate::common::{Random, patched_terrain};

const UNIT: ProfileId = ProfileId(0);

fn field(width: u32, height: u32) -> NavGrid {
    NavGrid::new(width, height, TerrainId::GROUND).unwrap()
}

#[test]
fn invalid_sizes_are_refused() {
    for (width, height) in [(0, 5), (5, 0), (0, 0), (16_385, 1), (1, u32::MAX)] {
        let error = NavGrid::new(width, height, TerrainId::GROUND).unwrap_err();
        assert_eq!(error, GridError::BadSize { width, height });
    }
    let error = NavGrid::from_terrain(3, 3, vec![1; 8]).unwrap_err();
    assert_eq!(error, GridError::WrongLength { expected: 9, found: 8 });
}

#[test]
fn edits_off_the_grid_are_refused_and_change_nothing() {
    let mut grid = field(10, 10);
    let before = grid.revision();
    for cell in [Cell::new(-1, 0), Cell::new(10, 9), Cell::new(i32::MIN, i32::MAX)] {
        let error = grid.set_terrain(cell, TerrainId::VOID).unwrap_err();
        assert_eq!(error, GridError::OutOfBounds(cell));
    }
    for rect in [
        CellRect::new(Cell::new(8, 8), 3, 1),
        CellRect::new(Cell::new(-1, 0), 2, 2),
        CellRect::new(Cell::new(2, 2), 0, 4),
        CellRect::new(Cell::new(2, 2), u32::MAX, u32::MAX),
    ] {
        assert_eq!(grid.block(rect), Err(GridError::RectOutOfBounds(rect)));
        assert_eq!(grid.unblock(rect), Err(GridError::RectOutOfBounds(rect)));
    }
    assert_eq!(grid.revision(), before);
}

#[test]
fn two_blockers_on_a_cell_count_twice() {
    let mut grid = field(10, 10);
    let cell = Cell::new(4, 4);
    let (large, small) = (CellRect::new(Cell::new(3, 3), 3, 3), CellRect::single(cell));
    grid.block(large).unwrap();
    let once = grid.revision();
    grid.block(small).unwrap();
    assert_eq!(grid.revision(), once, "the cell was already blocked");
    grid.unblock(small).unwrap();
    assert_eq!((grid.blockers(cell), grid.cost(UNIT, cell)), (1, 0), "still blocked");
    grid.unblock(large).unwrap();
    assert_eq!((grid.blockers(cell), grid.cost(UNIT, cell)), (0, Profile::PLAIN_COST));
    assert_eq!(grid.unblock(small), Err(GridError::NotBlocked(cell)));
}

#[test]
fn too_many_blockers_are_refused() {
    let mut grid = field(2, 2);
    let cell = CellRect::single(Cell::new(1, 1));
    (0..65_535).for_each(|_| grid.block(cell).unwrap());
    assert_eq!(grid.block(cell), Err(GridError::TooManyBlockers(cell.min)));
    (0..65_535).for_each(|_| grid.unblock(cell).unwrap());
    assert_eq!(grid.cost(UNIT, cell.min), Profile::PLAIN_COST);
}

#[test]
fn terrain_may_block_one_profile_and_carry_another() {
    let (land, sea) = (TerrainId(b'G'), TerrainId(b'W'));
    let infantry = Profile::new().with(land, Profile::PLAIN_COST);
    let boat = Profile::new().with(sea, Profile::PLAIN_COST);
    let hovercraft = infantry.clone().with(sea, Profile::PLAIN_COST);
    let terrain = (0..30).map(|i| if i % 10 < 5 { land.0 } else { sea.0 }).collect();
    let grid = NavGrid::from_terrain(10, 3, terrain)
        .unwrap()
        .with_profiles(vec![infantry, boat, hovercraft]);
    let (west, east) = (Cell::new(0, 1), Cell::new(9, 1));
    let go = |profile| grid.find_path(ProfileId(profile), west, east).map(|path| path.steps());
    assert_eq!(go(0), Err(PathFailure::GoalImpassable(east)));
    assert_eq!(go(1), Err(PathFailure::StartImpassable(west)));
    assert_eq!(go(2), Ok(9));
    assert_eq!(go(3), Err(PathFailure::UnknownProfile(ProfileId(3))));
}

#[test]
fn origins_may_be_negative() {
    let mut grid = field(20, 20).with_origin(Cell::new(-10, -30));
    grid.block(CellRect::new(Cell::new(-5, -30), 1, 19)).unwrap();
    let path = grid.find_path(UNIT, Cell::new(-10, -30), Cell::new(9, -30)).unwrap();
    assert_eq!((path.start(), path.end()), (Cell::new(-10, -30), Cell::new(9, -30)));
    assert!(path.cells().all(|cell| grid.cost(UNIT, cell) > 0));
    assert!(path.cells().any(|cell| cell == Cell::new(-5, -11)));
}

#[test]
fn a_grid_of_8192_squared_and_a_search_on_it_stay_within_their_memory() {
    let mut grid = field(8_192, 8_192);
    grid.block(CellRect::new(Cell::new(4_000, 0), 1, 8_000)).unwrap();
    let cells = 8_192 * 8_192;
    assert!(grid.layer(UNIT).is_some());
    let per_cell = (grid.bytes() - cells) as f64 / cells as f64;
    assert!(per_cell <= 4.0, "{per_cell} bytes per cell besides the terrain");

    let (pool, mut search) = (NodePool::default(), <Search>::new());
    let short = PathQuery::new(Cell::new(10, 10), Cell::new(60, 40));
    search.start(&grid, &pool, short).unwrap();
    search.step(&grid, &pool, u32::MAX);
    assert!(search.bytes() < 400_000, "{} bytes for 50 steps", search.bytes());
    assert_eq!(search.finish(&grid, &pool).unwrap().steps(), 50);

    let far = grid.find_path(UNIT, Cell::new(0, 0), Cell::new(8_191, 8_191)).unwrap();
    assert!(far.cells().all(|cell| grid.cost(UNIT, cell) > 0));
}

#[test]
fn the_pool_releases_pages_that_are_not_needed() {
    let grid = field(400, 400);
    let (pool, mut search) = (NodePool::default(), <Search>::new());
    let query = PathQuery::new(Cell::new(0, 0), Cell::new(399, 399)).algorithm(Algorithm::Dijkstra);
    search.start(&grid, &pool, query).unwrap();
    search.step(&grid, &pool, u32::MAX);
    search.stop(&pool);
    assert!(pool.free_pages() > 100);
    pool.trim(10);
    assert_eq!((pool.free_pages(), pool.pages()), (10, 10));
}

#[test]
fn old_edits_are_listed_and_the_oldest_are_joined() {
    let mut grid = field(50, 50);
    let start = grid.revision();
    let rects = [CellRect::new(Cell::new(1, 2), 3, 1), CellRect::single(Cell::new(40, 40))];
    rects.iter().for_each(|&rect| grid.block(rect).unwrap());
    assert!(grid.edits_since(start).unwrap().eq(rects));
    assert_eq!(grid.edits_since(grid.revision()).unwrap().count(), 0);
    for x in 0..40 {
        grid.block(CellRect::single(Cell::new(x, 10))).unwrap();
        grid.unblock(CellRect::single(Cell::new(x, 10))).unwrap();
    }
    // Whatever was edited is still listed, and the last edits one by one.
    let all: Vec<CellRect> = grid.edits_since(start).unwrap().collect();
    assert!(all.len() <= 64);
    let edited = rects.into_iter().chain([CellRect::new(Cell::new(0, 10), 40, 1)]);
    for cell in edited.flat_map(CellRect::cells) {
        assert!(all.iter().any(|rect| rect.contains(cell)), "{cell}");
    }
    let last = CellRect::single(Cell::new(39, 10));
    assert!(grid.edits_since(grid.revision() - 2).unwrap().eq([last, last]));
    assert!(grid.edits_since(grid.revision() + 1).is_none(), "that is yet to come");
}

#[test]
fn a_new_origin_is_an_edit_of_all_cells() {
    let mut grid = field(10, 10);
    grid.block(CellRect::single(Cell::new(3, 3))).unwrap();
    let grid = grid.with_origin(Cell::new(100, 100));
    assert!(grid.edits_since(0).unwrap().eq([grid.rect()]));
}

/// A goal with cells around it at the end of the numbers reaches as far as elsewhere.
#[test]
fn goals_around_cells_at_the_end_of_the_numbers() {
    for origin in [0, i32::MIN] {
        let grid = field(20, 20).with_origin(Cell::new(origin, origin));
        let first = grid.origin();
        let goal = Goal::from(first).around(3);
        let admitted = |x| goal.admits(&grid, ProfileId::default(), first.offset(x, 0));
        assert_eq!((0..8).filter(|&x| admitted(x)).collect::<Vec<_>>(), [0, 1, 2, 3], "{origin}");
    }
}

/// Where cells have the lowest and the highest numbers there are.
#[test]
fn grids_at_the_end_of_the_numbers_are_edited_where_they_are() {
    for origin in [i32::MIN, i32::MIN + 1, i32::MAX - 3, i32::MAX] {
        let mut grid = field(300, 200).with_origin(Cell::new(origin, origin));
        grid.build_layers();
        let (first, all) = (grid.origin(), grid.rect());
        grid.block(all).unwrap();
        assert!(all.cells().all(|cell| grid.blockers(cell) == 1));
        grid.unblock(all).unwrap();
        assert!(grid.set_edge(first, Direction::West, EdgeId::WALL).is_err());
        assert_eq!(grid.edge(first, Direction::East), EdgeId::NONE);
        let last = first.offset(299, 199);
        let mut edit = grid.edit();
        for cell in [last, last.offset(-1, 0), first] {
            edit.set_terrain(cell, TerrainId::VOID).unwrap();
            edit.set_terrain(cell, TerrainId::GROUND).unwrap();
        }
        drop(edit);
        assert!(grid.find_path(UNIT, first, last).is_ok());
    }
}

#[test]
fn a_field_notices_that_its_grid_has_moved() {
    let grid = field(20, 20);
    let mut distances = DistanceField::new();
    distances.start(&grid, UNIT, Cell::new(3, 3)).unwrap();
    while distances.step(&grid, 100) > 0 {}
    assert!(!distances.is_stale(&grid));
    assert!(distances.is_stale(&grid.clone().with_origin(Cell::new(1, 0))));
    let mut range = MovementRange::new();
    assert!(range.is_stale(&grid), "it is empty");
    let query = RangeQuery::new(Cell::new(3, 3), Movement::Cost(PathCost(1 << 20)));
    range.fill(&grid, query).unwrap();
    assert!(!range.is_stale(&grid));
    assert!(range.fill(&grid, query.profile(ProfileId(9))).is_err());
    assert!(range.is_stale(&grid), "it is empty");
}

/// Compared with a copy of the grid on which the buildings stand: for units of several sizes, on both shapes, with buildings that
/// overlap each other, older ones and the border.
#[test]
fn what_buildings_would_cut_off_is_what_they_cut_off() {
    let (mut cut, mut open) = (0, 0);
    for seed in 0..120 {
        let random = &mut Random(seed);
        let (width, height) = (8 + random.below(90), 8 + random.below(60));
        let terrain = patched_terrain((width, height), 10, 4, random);
        let mut grid = NavGrid::from_terrain(width, height, terrain).unwrap();
        if seed % 2 == 1 {
            grid = grid.with_topology(Topology::Hexagonal);
        }
        let origin = Cell::new(-5, 7);
        let grid = grid.with_origin(origin);
        let sizes = (1..4).map(|size| Profile::default().with(TerrainId(1), 16).size(size));
        let mut grid = grid.with_profiles(sizes.collect());
        let cell = |random: &mut Random| {
            origin.offset(random.below(width) as i32, random.below(height) as i32)
        };
        let old = CellRect::new(cell(random), 1, 1);
        grid.block(old).unwrap();
        let buildings: Vec<CellRect> = (0..random.below(5))
            .map(|_| CellRect::new(cell(random), 1 + random.below(40), 1 + random.below(4)))
            .chain([old])
            .collect();
        let mut built = grid.clone();
        for building in &buildings {
            built.block(building.intersection(grid.rect())).unwrap();
        }
        let before = grid.revision();
        let goal = CellRect::new(cell(random), 1 + random.below(3), 1 + random.below(3));
        for profile in (0..4).map(ProfileId) {
            let from: Vec<Cell> = (0..1 + random.below(2)).map(|_| cell(random)).collect();
            let is_cut_off =
                |from: &Cell| !goal.cells().any(|to| built.can_reach(profile, *from, to));
            let expected = from.iter().copied().find(is_cut_off);
            let found = grid.cut_off_by(buildings.iter().copied(), profile, from, goal);
            assert_eq!(found, expected, "{seed}: {profile:?}");
            (cut, open) = (cut + u32::from(found.is_some()), open + u32::from(found.is_none()));
        }
        assert_eq!(grid.revision(), before);
    }
    assert!(cut > 100 && open > 20, "{cut} {open}");
}
