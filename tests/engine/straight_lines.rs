//! Straight lines: lines of sight against exact geometry, string pulling against its guarantees, and
//! reachability and cost queries against Dijkstra.

use bevy_tilepath::{
    nav::string_pulling::{LinePosition, PathLines, PulledPath},
    prelude::*,
};

use crate::common::{
    Random, dijkstra_cost, is_legal_path, patched_terrain, scatter_edges, with_edges,
};

const UNIT: ProfileId = ProfileId(0);

/// A fraction with a denominator above 0.
type Fraction = (i64, i64);

fn is_less(a: Fraction, b: Fraction) -> bool {
    a.0 * b.1 < b.0 * a.1
}

/// Returns whether the line from (0, 0) to `end` has a point that is less than `halves` half cells away from
/// the center of a cell, in columns and in rows.
fn comes_near(end: (i32, i32), cell: (i32, i32), halves: i64) -> bool {
    // The range of fractions of the line for which that holds, exclusive.
    let (mut first, mut last) = ((-1_000_000, 1), (1_000_000, 1));
    for (end, center) in [(end.0, cell.0), (end.1, cell.1)] {
        let (end, center) = (i64::from(end), i64::from(center));
        let (low, high) = (2 * center - halves, 2 * center + halves);
        if end == 0 {
            if low >= 0 || high <= 0 {
                return false;
            }
            continue;
        }
        let (low, high) = if end > 0 { (low, high) } else { (-high, -low) };
        let whole = 2 * end.abs();
        if is_less(first, (low, whole)) {
            first = (low, whole);
        }
        if is_less((high, whole), last) {
            last = (high, whole);
        }
    }
    is_less(first, last) && is_less(first, (1, 1)) && is_less((0, 1), last)
}

/// Returns the offsets in the rectangle from (0, 0) to `end`, widened by `more` on all sides.
fn box_around(end: (i32, i32), more: i32) -> impl Iterator<Item = (i32, i32)> {
    let columns = end.0.min(0) - more..=end.0.max(0) + more;
    let rows = end.1.min(0) - more..=end.1.max(0) + more;
    rows.flat_map(move |y| columns.clone().map(move |x| (x, y)))
}

fn offset_to(from: Cell, to: Cell) -> (i32, i32) {
    (to.x - from.x, to.y - from.y)
}

/// Returns the line of sight by its definition: all cells crossed in their interior, and corners met exactly.
fn has_sight(grid: &NavGrid, from: Cell, to: Cell) -> bool {
    let offset = offset_to(from, to);
    let is_free = |&(x, y): &(i32, i32)| grid.cost(UNIT, from.offset(x, y)) > 0;
    let crossed = |cell: &(i32, i32)| comes_near(offset, *cell, 1);
    let between = |cell: &(i32, i32)| *cell != (0, 0) && *cell != offset;
    let cells_are_free =
        box_around(offset, 0).filter(crossed).filter(between).all(|at| is_free(&at));
    let is_open = |a: (i32, i32), b: (i32, i32)| {
        is_edge_open(grid, from.offset(a.0, a.1), from.offset(b.0, b.1))
    };
    // Where a line crosses the interior of two cells that share a side, it crosses the side.
    let edges_are_open = box_around(offset, 0).filter(crossed).all(|(x, y)| {
        [(x + 1, y), (x, y + 1)].into_iter().all(|to| !crossed(&to) || is_open((x, y), to))
    });
    // The corner above and to the right of a cell, if it is between the two ends.
    let is_corner = |&(x, y): &(i32, i32)| {
        let lies_between = (offset.0.min(0)..offset.0.max(0)).contains(&x)
            && (offset.1.min(0)..offset.1.max(0)).contains(&y);
        lies_between && offset.0 * (2 * y + 1) == offset.1 * (2 * x + 1)
    };
    let corners_are_open = box_around(offset, 0).filter(is_corner).all(|(x, y)| {
        let around = [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)];
        let (met, beside): (Vec<_>, Vec<_>) = around.into_iter().partition(crossed);
        assert_eq!((met.len(), beside.len()), (2, 2));
        let is_way = |&cell: &(i32, i32)| is_free(&cell) && met.iter().all(|&at| is_open(at, cell));
        beside.iter().any(is_way)
    });
    cells_are_free && edges_are_open && corners_are_open
}

/// Returns whether the edge between two cells that share a side is open.
fn is_edge_open(grid: &NavGrid, a: Cell, b: Cell) -> bool {
    let edge = grid.edge(a, Direction::between(a, b).unwrap());
    grid.profiles()[usize::from(UNIT.0)].edge_cost(edge).is_some()
}

/// Returns the cells that a moving square touches, by the definition.
fn touched(from: Cell, to: Cell) -> impl Iterator<Item = Cell> {
    let offset = offset_to(from, to);
    let near = box_around(offset, 1).filter(move |&cell| comes_near(offset, cell, 2));
    near.map(move |(x, y)| from.offset(x, y))
}

fn is_clear(grid: &NavGrid, from: Cell, to: Cell) -> bool {
    let touched: Vec<Cell> = touched(from, to).collect();
    touched.iter().all(|&cell| {
        let beside = [cell.offset(1, 0), cell.offset(0, 1)].into_iter();
        let mut inner = beside.filter(|cell| touched.contains(cell));
        grid.cost(UNIT, cell) > 0 && inner.all(|other| is_edge_open(grid, cell, other))
    })
}

/// Draws each cell at random: a wall or one of four terrains.
fn scattered(width: u32, height: u32, walls: u32, random: &mut Random) -> Vec<u8> {
    let mut cell = || if random.below(100) < walls { 0 } else { 1 + random.below(4) as u8 };
    (0..width * height).map(|_| cell()).collect()
}

/// Returns a profile with these costs of terrains 1 to 4.
fn profile(costs: [u16; 4]) -> Profile {
    let terrains = (1u8..5).zip(costs);
    terrains.fold(Profile::new(), |profile, (id, cost)| profile.with(TerrainId(id), cost))
}

fn scattered_grid(width: u32, height: u32, walls: u32, random: &mut Random) -> NavGrid {
    let terrain = scattered(width, height, walls, random);
    let grid = NavGrid::from_terrain(width, height, terrain).unwrap();
    grid.with_profiles(vec![with_edges(profile([Profile::PLAIN_COST; 4]))])
}

fn any_cell(grid: &NavGrid, random: &mut Random) -> Cell {
    Cell::new(random.below(grid.width()) as i32, random.below(grid.height()) as i32)
}

#[test]
fn both_kinds_of_lines_match_exact_geometry() {
    let mut random = Random(11);
    let mut answers = [0; 4];
    for map in 0..40 {
        let mut grid = scattered_grid(19, 19, [2, 5, 12, 30][map % 4], &mut random);
        scatter_edges(&mut grid, [0, 2, 10][map % 3], &mut random);
        let from = Cell::new(9, 9);
        for (x, y) in box_around((0, 0), 9) {
            let to = from.offset(x, y);
            let (has_sight, is_clear) = (has_sight(&grid, from, to), is_clear(&grid, from, to));
            assert_eq!(grid.has_line_of_sight(UNIT, from, to), has_sight, "map {map}, {x}, {y}");
            assert_eq!(grid.clear_line(UNIT, from, to), is_clear, "map {map}, {x}, {y}");
            answers[usize::from(has_sight)] += 1;
            answers[2 + usize::from(is_clear)] += 1;
        }
    }
    assert!(answers.iter().all(|&count| count > 1_000), "{answers:?} is one-sided");
}

#[test]
fn lines_are_symmetric_and_a_clear_line_is_a_line_of_sight() {
    let mut random = Random(12);
    let mut clear = 0;
    for walls in [1, 4, 15] {
        let mut grid = scattered_grid(90, 50, walls, &mut random);
        scatter_edges(&mut grid, 30, &mut random);
        for _ in 0..3_000 {
            let (a, b) = (any_cell(&grid, &mut random), any_cell(&grid, &mut random));
            let has_sight = grid.has_line_of_sight(UNIT, a, b);
            let is_clear = grid.clear_line(UNIT, a, b);
            assert_eq!(grid.has_line_of_sight(UNIT, b, a), has_sight, "{a} {b}");
            assert_eq!(grid.clear_line(UNIT, b, a), is_clear, "{a} {b}");
            assert!(has_sight || !is_clear, "{a} {b}");
            clear += u32::from(is_clear);
        }
    }
    assert!(clear > 300, "{clear}");
}

#[test]
fn blocked_ends_matter_for_clear_lines_but_not_for_sight() {
    let origin = Cell::new(-20, 7);
    let mut grid = NavGrid::new(30, 10, TerrainId::GROUND).unwrap().with_origin(origin);
    let (a, b) = (origin, origin.offset(12, 5));
    assert!(grid.has_line_of_sight(UNIT, a, b) && grid.clear_line(UNIT, a, b));
    grid.block(CellRect::single(b)).unwrap();
    assert!(grid.has_line_of_sight(UNIT, a, b) && !grid.clear_line(UNIT, a, b));
    assert!(grid.has_line_of_sight(UNIT, b, b) && !grid.clear_line(UNIT, b, b));
    for nowhere in [Cell::new(0, 0), origin.offset(-1, 0), Cell::new(i32::MIN, i32::MAX)] {
        assert!(
            !grid.has_line_of_sight(UNIT, a, nowhere) && !grid.has_line_of_sight(UNIT, nowhere, a)
        );
        assert!(!grid.clear_line(UNIT, a, nowhere) && !grid.clear_line(UNIT, nowhere, a));
    }
    assert!(!grid.has_line_of_sight(ProfileId(1), a, a) && !grid.clear_line(ProfileId(1), a, a));
    let layer = grid.layer(UNIT).unwrap();
    assert!(layer.has_line_of_sight((0, 0), (3, 4)) && layer.clear_line((0, 0), (3, 4)));
    for far in [(30, 9), (u32::MAX, 0), (u32::MAX, u32::MAX - 1)] {
        assert!(!layer.has_line_of_sight((0, 0), far) && !layer.clear_line((0, 0), far), "{far:?}");
        assert!(!layer.has_line_of_sight(far, (0, 0)) && !layer.clear_line(far, (0, 0)), "{far:?}");
    }
}

/// Checked by sampling: at a thousand positions along the line, no cell under the unit is a wall.
#[test]
fn a_large_unit_on_a_clear_line_touches_no_wall() {
    let mut random = Random(13);
    let terrain = scattered(60, 60, 1, &mut random);
    let profiles =
        vec![profile([Profile::PLAIN_COST; 4]), profile([Profile::PLAIN_COST; 4]).size(3)];
    let grid = NavGrid::from_terrain(60, 60, terrain).unwrap().with_profiles(profiles);
    let (mut clear, mut blocked) = (0, 0);
    for _ in 0..1_500 {
        let (a, b) = (any_cell(&grid, &mut random), any_cell(&grid, &mut random));
        let is_clear = grid.clear_line(ProfileId(1), a, b);
        let stands = |cell| grid.cost(ProfileId(1), cell) > 0;
        assert_eq!(is_clear, touched(a, b).all(stands), "{a} {b}");
        if !is_clear {
            blocked += 1;
            continue;
        }
        clear += 1;
        let offset = offset_to(a, b);
        for share in 0..=1_000 {
            // Lowest and highest of the cells under a side of three cells, at any position between two cells.
            let span = |from: i32, offset: i32| {
                let position = from * 1_000 + offset * share;
                (position.div_euclid(1_000), (position + 999).div_euclid(1_000) + 2)
            };
            let (columns, rows) = (span(a.x, offset.0), span(a.y, offset.1));
            let mut cells = (rows.0..=rows.1)
                .flat_map(|y| (columns.0..=columns.1).map(move |x| Cell::new(x, y)));
            assert!(cells.all(|cell| grid.cost(UNIT, cell) > 0), "{a} {b} at {share}");
        }
    }
    assert!(clear > 50 && blocked > 50, "{clear} {blocked}");
}

/// Returns the sum of the lengths of the lines between points.
fn length(points: impl Iterator<Item = Cell>) -> f64 {
    let points: Vec<Cell> = points.collect();
    let line = |pair: &[Cell]| {
        let (dx, dy) = offset_to(pair[0], pair[1]);
        f64::from(dx).hypot(f64::from(dy))
    };
    points.windows(2).map(line).sum()
}

/// Returns whether a line is a series of legal steps in one direction.
fn is_row_of_steps(grid: &NavGrid, from: Cell, to: Cell) -> bool {
    let (dx, dy) = offset_to(from, to);
    let has_diagonals = grid.profiles()[0].neighborhood() == Neighborhood::Eight;
    dx == 0 || dy == 0 || (has_diagonals && dx.abs() == dy.abs())
}

/// Pulls a path and checks all guarantees; returns the lengths before and after.
fn check(grid: &NavGrid, path: &Path) -> (f64, f64) {
    let pulled = path.string_pulled(grid, UNIT);
    let PulledPath { path: steps, lines } = &pulled;
    assert!(is_legal_path(grid, UNIT, steps), "{path:?} {steps:?}");
    assert_eq!((steps.start(), steps.end()), (path.start(), path.end()));
    assert_eq!((steps.cost(), steps.kind()), (path.cost(), path.kind()), "{path:?}");
    assert_eq!((steps.steps(), steps.revision()), (lines.steps(), path.revision()));
    assert_eq!((lines.start(), lines.end()), (path.start(), path.end()));
    let points: Vec<Cell> = lines.turning_points().collect();
    for line in points.windows(2) {
        let (from, to) = (line[0], line[1]);
        let cost = grid.cost(UNIT, from);
        let is_of_one_cost = || touched(from, to).all(|cell| grid.cost(UNIT, cell) == cost);
        assert!(cost > 0 && from != to);
        assert!(is_row_of_steps(grid, from, to) || is_of_one_cost(), "{from} {to} {path:?}");
    }
    check_positions(steps, lines, (1, 2));
    check_positions(path, &PathLines::from_legs(path), (0, 1));
    let lengths = (length(path.waypoints()), length(points.into_iter()));
    assert!(lengths.1 <= lengths.0 + 1.0e-6, "{lengths:?} {path:?}");
    lengths
}

/// Checks that a unit on the lines is at most `bound` columns and rows away from its position on the steps,
/// that it moves in proportion to the weight of its steps, and that it passes from line to line at their
/// ends.
fn check_positions(path: &Path, lines: &PathLines, bound: (i128, i128)) {
    const PARTS: u64 = 4;
    let cells: Vec<Cell> = path.cells().collect();
    for (step, pair) in cells.windows(2).enumerate() {
        let step = step as u32;
        for part in 0..=PARTS {
            let position = lines.position(step, (part, PARTS));
            let (gone, whole) = (i128::from(position.fraction.0), i128::from(position.fraction.1));
            let off = |from: i32, to: i32, tail: i32, head: i32| {
                let parts = i128::from(PARTS);
                let line = (i128::from(from) * whole + i128::from(to - from) * gone) * parts;
                let steps = i128::from(tail) * parts + i128::from(head - tail) * i128::from(part);
                (line - steps * whole).abs() * bound.1 <= bound.0 * whole * parts
            };
            let LinePosition { from, to, .. } = position;
            let is_near =
                off(from.x, to.x, pair[0].x, pair[1].x) && off(from.y, to.y, pair[0].y, pair[1].y);
            assert!(whole > 0 && gone <= whole && is_near, "{position:?} {pair:?} {part}");
        }
        let (begin, end) = (lines.position(step, (0, PARTS)), lines.position(step, (PARTS, PARTS)));
        let is_diagonal = pair[0].x != pair[1].x && pair[0].y != pair[1].y;
        let weight = if is_diagonal { 577 } else { 408 };
        assert_eq!(end.fraction.0 - begin.fraction.0, PARTS * weight);
        let next = lines.position(step + 1, (0, PARTS));
        if (next.from, next.to) == (end.from, end.to) {
            let cross = |a: (u64, u64), b: (u64, u64)| u128::from(a.0) * u128::from(b.1);
            assert_eq!(cross(next.fraction, end.fraction), cross(end.fraction, next.fraction));
        } else {
            assert_eq!((next.from, next.fraction.0, end.fraction.0), (end.to, 0, end.fraction.1));
        }
    }
    let end = lines.position(path.steps(), (0, 1));
    assert_eq!((end.to, end.fraction), (path.end(), (1, 1)));
}

#[test]
fn pulled_paths_keep_their_guarantees() {
    let mut random = Random(14);
    let (mut found, mut shorter) = (0, 0);
    for round in 0..900 {
        let (width, height) = (1 + random.below(70), 1 + random.below(70));
        let costs = [[Profile::PLAIN_COST; 4], [16, 16, 32, 32], [16, 32, 48, 80]][round % 3];
        let rule = [CornerRule::Forbid, CornerRule::NoSqueeze, CornerRule::Allow][round / 3 % 3];
        let neighborhood = [Neighborhood::Eight, Neighborhood::Four][round / 9 % 2];
        let terrain = match random.below(3) {
            0 => {
                let walls = random.below(35);
                scattered(width, height, walls, &mut random)
            }
            _ => {
                let count = random.below(40);
                patched_terrain((width, height), count, 60, &mut random)
            }
        };
        let profile = profile(costs).corners(rule).neighbors(neighborhood);
        let grid = NavGrid::from_terrain(width, height, terrain).unwrap();
        let grid = grid.with_origin(Cell::new(-9, 30)).with_profiles(vec![profile]);
        let mut end = || {
            let cell = any_cell(&grid, &mut random);
            cell.offset(-9, 30)
        };
        let (start, goal) = (end(), end());
        if let Ok(path) = grid.find_path(UNIT, start, goal) {
            let (before, after) = check(&grid, &path);
            found += 1;
            shorter += u32::from(after < before - 1.0e-6);
        }
    }
    assert!(found > 300 && shorter > 100, "{found} {shorter}");
}

/// On an open grid a path is pulled to a single line. With eight neighbors, steps along the axes and
/// diagonals are 1.055 times as long as the line on the average of all directions, at most 1.082 times; with
/// four, 4/π times, which is 1.27. So lines have about 0.95 and 0.8 times the length of the steps; the bounds
/// leave a margin for the random sample.
#[test]
fn on_an_open_grid_a_single_shorter_line_remains() {
    let bounds = [(Neighborhood::Eight, 0.96), (Neighborhood::Four, 0.84)];
    for (neighborhood, bound) in bounds {
        let grid = NavGrid::new(100, 100, TerrainId::GROUND).unwrap();
        let grid = grid.with_profiles(vec![Profile::default().neighbors(neighborhood)]);
        let mut random = Random(15);
        let (mut sum, mut count) = (0.0, 0.0);
        for _ in 0..300 {
            let (a, b) = (any_cell(&grid, &mut random), any_cell(&grid, &mut random));
            if a.x.abs_diff(b.x).max(a.y.abs_diff(b.y)) < 10 {
                continue;
            }
            let path = grid.find_path(UNIT, a, b).unwrap();
            let (before, after) = check(&grid, &path);
            assert!(path.string_pulled(&grid, UNIT).lines.turning_points().eq([a, b]));
            sum += after / before;
            count += 1.0;
        }
        assert!(sum / count < bound, "{neighborhood:?}: {}", sum / count);
    }
}

/// Around obstacles the gain is nearly that of an open grid: turns are needed only at their corners.
#[test]
fn around_obstacles_lines_are_shorter_and_few() {
    let mut random = Random(16);
    let (mut sum, mut count, mut lines, mut legs) = (0.0, 0.0, 0, 0);
    for _ in 0..200 {
        let terrain = patched_terrain((80, 80), 24, 70, &mut random);
        let grid = NavGrid::from_terrain(80, 80, terrain).unwrap();
        let grid = grid.with_profiles(vec![profile([Profile::PLAIN_COST; 4])]);
        let (a, b) = (any_cell(&grid, &mut random), any_cell(&grid, &mut random));
        if let Ok(path) = grid.find_path(UNIT, a, b)
            && path.steps() > 20
        {
            let (before, after) = check(&grid, &path);
            sum += after / before;
            count += 1.0;
            lines += path.string_pulled(&grid, UNIT).lines.turning_points().count() - 1;
            legs += path.legs().len();
        }
    }
    assert!(count > 60.0, "{count}");
    assert!(sum / count < 0.975, "{}", sum / count);
    assert!(lines < legs, "{lines} lines for {legs} legs");
}

/// Returns a grid with walls across it every `pitch` rows, with gaps at alternating ends.
fn serpentine(size: (u32, u32), pitch: u32, gap: u32) -> NavGrid {
    let mut grid = NavGrid::new(size.0, size.1, TerrainId::GROUND).unwrap();
    for (number, y) in (pitch - 1..size.1).step_by(pitch as usize).enumerate() {
        let left = if number % 2 == 0 { 0 } else { gap };
        let wall = CellRect::new(Cell::new(left as i32, y as i32), size.0 - gap, 1);
        grid.block(wall).unwrap();
    }
    grid
}

#[test]
fn a_path_in_a_corridor_one_cell_wide_is_unchanged() {
    let grid = serpentine((41, 401), 2, 1);
    let path = grid.find_path(UNIT, Cell::new(0, 0), Cell::new(40, 400)).unwrap();
    assert!(path.legs().len() > 400);
    check(&grid, &path);
    let pulled = path.string_pulled(&grid, UNIT);
    assert_eq!(pulled.path, path);
    assert!(pulled.lines.turning_points().eq(path.waypoints()));
}

#[test]
fn paths_in_wide_corridors_become_shorter() {
    let grid = serpentine((41, 601), 6, 3);
    let path = grid.find_path(UNIT, Cell::new(0, 0), Cell::new(20, 600)).unwrap();
    let (before, after) = check(&grid, &path);
    assert!(path.legs().len() > 150, "{}", path.legs().len());
    assert!(after < 0.98 * before, "{after} {before}");
}

#[test]
fn a_path_of_no_steps_stays_where_it_is() {
    let grid = NavGrid::new(5, 5, TerrainId::GROUND).unwrap();
    let cell = Cell::new(2, 3);
    let path = grid.find_path(UNIT, cell, cell).unwrap();
    let PulledPath { path: steps, lines } = path.string_pulled(&grid, UNIT);
    assert_eq!(steps, path);
    assert_eq!(lines, PathLines::at_cell(cell));
    assert!(lines.turning_points().eq([cell]));
    let position = LinePosition { from: cell, to: cell, fraction: (1, 1) };
    assert_eq!((lines.position(0, (0, 1)), lines.position(7, (1, 3))), (position, position));
}

/// A unit may step diagonally between impassable cells, but a square does not fit through: such legs stay as
/// they are.
#[test]
fn diagonal_steps_between_walls_are_unchanged() {
    let terrain = (0..64).map(|i| u8::from(i % 8 == i / 8)).collect();
    let profile = Profile::default().corners(CornerRule::Allow);
    let grid = NavGrid::from_terrain(8, 8, terrain).unwrap().with_profiles(vec![profile]);
    let (a, b) = (Cell::new(0, 0), Cell::new(7, 7));
    let path = grid.find_path(UNIT, a, b).unwrap();
    check(&grid, &path);
    let pulled = path.string_pulled(&grid, UNIT);
    assert_eq!(pulled.path, path);
    assert!(pulled.lines.turning_points().eq([a, b]) && !grid.clear_line(UNIT, a, b));
}

/// A road that does not lead straight to the goal is cheaper than the straight line: the unit stays on it.
#[test]
fn no_line_leaves_the_cheap_terrain_of_the_path() {
    // A road two cells wide along the left and the upper edge.
    let terrain = (0..40 * 40).map(|i| if i % 40 < 2 || i / 40 >= 38 { 1 } else { 4 }).collect();
    let grid = NavGrid::from_terrain(40, 40, terrain).unwrap();
    let grid = grid.with_profiles(vec![profile([16, 16, 16, 160])]);
    let path = grid.find_path(UNIT, Cell::new(0, 0), Cell::new(39, 39)).unwrap();
    let (before, after) = check(&grid, &path);
    assert!(after > 70.0 && after <= before, "{after} {before}");
    // The line to the goal is clear, only more expensive.
    assert!(grid.clear_line(UNIT, path.start(), path.end()));
    let pulled = path.string_pulled(&grid, UNIT);
    assert!(pulled.path.cells().all(|cell| grid.cost(UNIT, cell) == 16));
}

#[test]
fn the_longest_possible_lines_do_not_overflow() {
    for (width, height) in [(16_384, 40), (40, 16_384)] {
        let profiles = [Neighborhood::Eight, Neighborhood::Four]
            .map(|neighborhood| Profile::default().neighbors(neighborhood));
        let mut grid = NavGrid::new(width, height, TerrainId::GROUND).unwrap();
        grid.set_profiles(profiles.into());
        let (a, b) = (Cell::new(0, 0), Cell::new(width as i32 - 1, height as i32 - 1));
        assert!(grid.has_line_of_sight(UNIT, a, b) && grid.clear_line(UNIT, a, b));
        for profile in [ProfileId(0), ProfileId(1)] {
            let path = grid.find_path(profile, a, b).unwrap();
            let pulled = path.string_pulled(&grid, profile);
            assert!(is_legal_path(&grid, profile, &pulled.path));
            assert_eq!(Some(pulled.path.cost()), grid.least_cost(profile, a, b));
            assert!(pulled.lines.turning_points().eq([a, b]));
            let half = pulled.lines.position(pulled.path.steps() / 2, (u64::MAX / 2, u64::MAX));
            let share = half.fraction.0 as f64 / half.fraction.1 as f64;
            assert!((share - 0.5).abs() < 1.0e-3, "{half:?}");
            let end = pulled.lines.position(pulled.path.steps() - 1, (u64::MAX, u64::MAX));
            assert_eq!((end.fraction.0, end.to), (end.fraction.1, b));
        }
        // 4,000 cells along, the line runs between rows 9 and 10, nearer to the upper one.
        let at = |row| {
            let cell = if width > height { Cell::new(4_000, row) } else { Cell::new(row, 4_000) };
            CellRect::single(cell)
        };
        grid.block(at(11)).unwrap();
        assert!(grid.has_line_of_sight(UNIT, a, b) && grid.clear_line(UNIT, a, b));
        grid.block(at(9)).unwrap();
        assert!(grid.has_line_of_sight(UNIT, a, b) && !grid.clear_line(UNIT, a, b));
        grid.block(at(10)).unwrap();
        assert!(!grid.has_line_of_sight(UNIT, a, b));
    }
}

/// Hierarchical paths are not always the cheapest; pulling them never increases their cost.
#[test]
fn pulling_long_paths_does_not_increase_their_cost() {
    let mut random = Random(17);
    let terrain = patched_terrain((2_600, 90), 2_200, 70, &mut random);
    let grid = NavGrid::from_terrain(2_600, 90, terrain).unwrap();
    let grid = grid.with_profiles(vec![profile([Profile::PLAIN_COST; 4])]);
    let mut found = 0;
    for _ in 0..30 {
        let (west, east) = (random.below(90) as i32, random.below(90) as i32);
        let (a, b) = (Cell::new(5, west), Cell::new(2_590, east));
        let Ok(path) = grid.find_path(UNIT, a, b) else {
            continue;
        };
        found += 1;
        let pulled = path.string_pulled(&grid, UNIT);
        assert!(is_legal_path(&grid, UNIT, &pulled.path));
        assert!(pulled.path.cost() <= path.cost());
        assert_eq!((pulled.path.end(), pulled.path.kind()), (b, path.kind()));
        assert!(length(pulled.lines.turning_points()) < 0.99 * length(path.waypoints()));
    }
    assert!(found > 0);
}

#[test]
fn a_path_that_is_no_longer_valid_is_not_pulled() {
    let mut grid = NavGrid::new(30, 10, TerrainId::GROUND).unwrap();
    let path = grid.find_path(UNIT, Cell::new(2, 5), Cell::new(27, 5)).unwrap();
    grid.block(CellRect::new(Cell::new(12, 0), 3, 10)).unwrap();
    assert_eq!(path.string_pulled(&grid, UNIT).path, path);
    // Nor is a path of an unknown profile or with cells off the grid.
    let small = NavGrid::new(10, 10, TerrainId::GROUND).unwrap();
    for pulled in [path.string_pulled(&grid, ProfileId(9)), path.string_pulled(&small, UNIT)] {
        assert_eq!((pulled.path, pulled.lines), (path.clone(), PathLines::from_legs(&path)));
    }
}

#[test]
fn edits_beside_the_steps_are_noticed_by_the_lines() {
    let mut grid = NavGrid::new(60, 30, TerrainId::GROUND).unwrap();
    grid.block(CellRect::new(Cell::new(30, 0), 1, 25)).unwrap();
    let (a, b) = (Cell::new(2, 2), Cell::new(58, 3));
    let PulledPath { path, lines } = grid.find_path(UNIT, a, b).unwrap().string_pulled(&grid, UNIT);
    let points: Vec<Cell> = lines.turning_points().collect();
    assert!(points.len() > 2);
    let first_line_ends = path.cells().position(|cell| cell == points[1]).unwrap() as u32;
    let mut noticed = 0;
    let touched_first: Vec<Cell> = touched(points[0], points[1]).collect();
    for cell in grid.rect().cells() {
        let rect = CellRect::single(cell);
        if grid.blockers(cell) > 0 {
            continue;
        }
        grid.block(rect).unwrap();
        // Only checked where the steps are still legal.
        if is_legal_path(&grid, UNIT, &path) {
            let is_aside = points.windows(2).all(|line| {
                is_row_of_steps(&grid, line[0], line[1]) || is_clear(&grid, line[0], line[1])
            });
            assert_eq!(lines.is_clear_after_edit(&grid, UNIT, 0, rect), is_aside, "{cell}");
            noticed += u32::from(!is_aside);
            let is_behind = touched_first.contains(&cell) && cell.x < points[1].x - 2;
            let later = lines.is_clear_after_edit(&grid, UNIT, first_line_ends, rect);
            assert!(later || !is_behind, "{cell}");
        }
        grid.unblock(rect).unwrap();
    }
    assert!(noticed > 5, "{noticed}");
}

#[test]
fn the_lines_of_the_rest_are_appended_to_those_of_the_first_segment() {
    let grid = NavGrid::new(80, 40, TerrainId::GROUND).unwrap();
    let (a, b, c) = (Cell::new(3, 3), Cell::new(40, 20), Cell::new(77, 9));
    let find = |from, to| grid.find_path(UNIT, from, to).unwrap().string_pulled(&grid, UNIT);
    let (first_segment, rest) = (find(a, b), find(b, c));
    let mut lines = first_segment.lines.clone();
    lines.append(&rest.lines);
    assert!(lines.turning_points().eq([a, b, c]));
    let before = first_segment.path.steps();
    assert_eq!(lines.steps(), before + rest.path.steps());
    for step in 0..rest.path.steps() {
        assert_eq!(lines.position(before + step, (1, 3)), rest.lines.position(step, (1, 3)));
    }
    assert_eq!(
        lines.position(before - 1, (1, 3)),
        first_segment.lines.position(before - 1, (1, 3))
    );
}

#[test]
fn reachability_and_cost_queries_agree_with_dijkstra() {
    let mut random = Random(18);
    let (mut reachable, mut unreachable) = (0, 0);
    for round in 0..120 {
        let (width, height) = (1 + random.below(40), 1 + random.below(40));
        let terrain = scattered(width, height, 10 + random.below(30), &mut random);
        let costs = [[Profile::PLAIN_COST; 4], [16, 32, 48, 80]][round % 2];
        let neighborhood = [Neighborhood::Eight, Neighborhood::Four][round / 2 % 2];
        let grid = NavGrid::from_terrain(width, height, terrain).unwrap();
        let grid = grid.with_profiles(vec![profile(costs).neighbors(neighborhood)]);
        for _ in 0..5 {
            let (a, b) = (any_cell(&grid, &mut random), any_cell(&grid, &mut random));
            let best = dijkstra_cost(&grid, UNIT, a, b);
            assert_eq!(grid.path_cost(UNIT, a, b).ok(), best);
            assert_eq!(grid.can_reach(UNIT, a, b), best.is_some());
            let least = grid.least_cost(UNIT, a, b);
            assert_eq!(least.is_some(), best.is_some());
            assert!(least <= best, "{a} {b}");
            reachable += u32::from(best.is_some());
            unreachable += u32::from(best.is_none());
        }
    }
    assert!(reachable > 100 && unreachable > 100, "{reachable} {unreachable}");
}

#[test]
fn on_an_open_grid_distance_to_is_the_cost() {
    let grid = NavGrid::new(50, 50, TerrainId::GROUND).unwrap();
    let (a, b) = (Cell::new(3, 4), Cell::new(40, 21));
    assert_eq!(grid.least_cost(UNIT, a, b), grid.path_cost(UNIT, a, b).ok());
    assert_eq!(grid.least_cost(UNIT, a, a), Some(PathCost(0)));
    assert_eq!(grid.least_cost(ProfileId(1), a, b), None);
    assert!(!grid.can_reach(ProfileId(1), a, b) && !grid.can_reach(UNIT, a, Cell::new(50, 0)));
    let unknown = PathFailure::UnknownProfile(ProfileId(1));
    assert_eq!(grid.path_cost(ProfileId(1), a, b), Err(unknown));
}
