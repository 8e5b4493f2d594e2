//! Slots for groups, against simple oracles: a scan of every cell, an exact assignment, pictures.

use std::collections::BTreeSet;

use bevy_tilepath::{
    nav::formation::{
        Formation, FormationSpec, FormationUnit, MAX_SPACING, assign_slots, reassign_slots,
    },
    prelude::*,
};

use crate::common::{
    Random, app::grid_from, assignment::least_travel, covered, dijkstra, open_distance,
};

type Answers = Vec<Result<Cell, PathFailure>>;

const SHAPES: [Formation; 4] =
    [Formation::Line, Formation::Column, Formation::Box, Formation::Wedge];
const ALL: [Formation; 5] =
    [Formation::Loose, Formation::Line, Formation::Column, Formation::Box, Formation::Wedge];

/// Returns an open grid on which profile `i` is `i + 1` cells wide.
fn open_grid(width: u32, height: u32) -> NavGrid {
    NavGrid::new(width, height, TerrainId::GROUND).unwrap().with_profiles(sizes())
}

fn sizes() -> Vec<Profile> {
    (1..=3).map(|size| Profile::default().size(size)).collect()
}

/// Returns `count` units of profile 0 on distinct cells, drawn from `cell`.
fn distinct_units(count: usize, mut cell: impl FnMut() -> (i32, i32)) -> Vec<FormationUnit> {
    let mut cells = BTreeSet::new();
    while cells.len() < count {
        cells.insert(cell());
    }
    cells.into_iter().map(|cell| FormationUnit::new(Cell::from(cell))).collect()
}

/// Returns units side by side in rows of ten, from (0, 0).
fn in_rows(count: i32) -> Vec<FormationUnit> {
    (0..count).map(|unit| FormationUnit::new(Cell::new(unit % 10, unit / 10))).collect()
}

fn slots(answers: &Answers) -> Vec<Cell> {
    answers.iter().map(|answer| answer.unwrap()).collect()
}

/// Returns the cells that a unit covers.
fn block(grid: &NavGrid, unit: &FormationUnit, anchor: Cell) -> impl Iterator<Item = Cell> + Clone {
    covered(grid.topology(), grid.unit_size(unit.profile), anchor)
}

/// Panics unless each slot is passable and reachable, and no two are closer than the spacing.
fn check(grid: &NavGrid, units: &[FormationUnit], order: &FormationSpec, answers: &Answers) {
    assert_eq!(units.len(), answers.len());
    let spacing = order.spacing.min(MAX_SPACING);
    let mut taken: BTreeSet<Cell> = BTreeSet::new();
    let placed = || units.iter().zip(answers).filter_map(|(unit, &at)| Some((unit, at.ok()?)));
    for (unit, at) in placed() {
        assert!(grid.cost(unit.profile, at) > 0, "{at} is impassable for {unit:?}");
        let region = grid.region(unit.profile, at);
        assert_eq!(region, grid.region(unit.profile, unit.cell), "no path to {at} for {unit:?}");
        for cell in block(grid, unit, at) {
            assert!(taken.insert(cell), "{cell} is assigned twice: {order:?}");
        }
    }
    for (unit, at) in placed() {
        let own: BTreeSet<Cell> = block(grid, unit, at).collect();
        let more = i32::from(spacing);
        let around = own.iter().flat_map(|cell| {
            let side = 2 * more as u32 + 1;
            let square = CellRect::new(cell.offset(-more, -more), side, side).cells();
            let is_hexagonal = grid.topology() == Topology::Hexagonal;
            let is_near =
                move |at: &Cell| !is_hexagonal || cell.hexagonal_distance(*at) <= more as u32;
            square.filter(is_near)
        });
        let near = around.into_iter().find(|cell| taken.contains(cell) && !own.contains(cell));
        assert_eq!(near, None, "too close to {at}: {order:?}");
    }
}

/// Draws the terrain with the units on it: a letter for the rank, or a digit for the size.
fn picture(grid: &NavGrid, units: &[FormationUnit], answers: &Answers) -> Vec<String> {
    let letter = |cell: Cell| {
        let here = |(unit, at): (&FormationUnit, &Result<Cell, PathFailure>)| {
            let stands = at.is_ok_and(|at| block(grid, unit, at).any(|own| own == cell));
            stands.then(|| match grid.unit_size(unit.profile) {
                1 => (b'a' + unit.rank as u8) as char,
                size => (b'0' + size as u8) as char,
            })
        };
        let terrain = if grid.terrain(cell) == Some(TerrainId::GROUND) { '.' } else { '#' };
        units.iter().zip(answers).find_map(here).unwrap_or(terrain)
    };
    let row = |y: u32| {
        (0..grid.width()).map(|x| letter(grid.rect().min.offset(x as i32, y as i32))).collect()
    };
    (0..grid.height()).rev().map(row).collect()
}

/// Draws a formation in all facings, side by side: east, northeast and so on.
fn all_facings(formation: Formation, units: &[FormationUnit]) -> String {
    let grid = open_grid(9, 9);
    let pictures = Direction::ALL.map(|facing| {
        let order = FormationSpec::to(Cell::new(4, 4)).formation(formation).facing(facing);
        let answers = assign_slots(&grid, units, &order);
        check(&grid, units, &order, &answers);
        picture(&grid, units, &answers)
    });
    let line = |row: usize| pictures.iter().map(|lines| lines[row].as_str()).collect::<Vec<_>>();
    (0..9).map(|row| line(row).join(" ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn formations_look_as_documented_in_all_facings() {
    // Four units of rank a, five of rank b.
    let units: Vec<FormationUnit> = (0..9)
        .map(|unit| FormationUnit::new(Cell::new(unit, 0)).rank(i32::from(unit > 3)))
        .collect();
    let drawn = SHAPES.map(|formation| all_facings(formation, &units));
    let expected = [LINES, COLUMNS, BOXES, WEDGES].map(str::trim);
    assert_eq!(drawn, expected, "\n{}", drawn.join("\n\n"));
}

const LINES: &str = "
....b.... a........ ......... ........b ....b.... a........ ......... ........b
....a.... .a....... ......... .......b. ....a.... .a....... ......... .......b.
....b.... ..a...... ......... ......b.. ....a.... ..a...... ......... ......b..
....a.... ...a..... ......... .....b... ....b.... ...a..... ......... .....b...
....a.... ....b.... aaaabbbbb ....b.... ....b.... ....b.... aaaabbbbb ....b....
....b.... .....b... ......... ...a..... ....a.... .....b... ......... ...a.....
....b.... ......b.. ......... ..a...... ....b.... ......b.. ......... ..a......
....a.... .......b. ......... .a....... ....a.... .......b. ......... .a.......
....b.... ........b ......... a........ ....b.... ........b ......... a........
";
const COLUMNS: &str = "
......... ........a ....a.... a........ ......... ........b ....b.... b........
......... .......a. ....a.... .a....... ......... .......b. ....b.... .b.......
......... ......a.. ....a.... ..a...... ......... ......b.. ....b.... ..b......
......... .....a... ....a.... ...a..... ......... .....b... ....b.... ...b.....
bbbbbaaaa ....b.... ....b.... ....b.... aaaabbbbb ....b.... ....b.... ....b....
......... ...b..... ....b.... .....b... ......... ...a..... ....a.... .....a...
......... ..b...... ....b.... ......b.. ......... ..a...... ....a.... ......a..
......... .b....... ....b.... .......b. ......... .a....... ....a.... .......a.
......... b........ ....b.... ........b ......... a........ ....a.... ........a
";
const BOXES: &str = "
......... ......... ......... ......... ......... ......... ......... .........
......... ......... ......... ......... ......... ......... ......... .........
......... ......... ......... ......... ......... ....b.... ......... ...bb....
...bba... ...a..... ...aaa... .....a... ...abb... ...aabb.. ...bbb... ...bba...
...baa... ..baa.... ...abb... ....abb.. ...aab... ....abb.. ...abb... ..baa....
...bba... ..bbba... ...bbb... ...aab... ...abb... .....a... ...aaa... ...a.....
......... ....b.... ......... ....bb... ......... ......... ......... .........
......... ......... ......... ......... ......... ......... ......... .........
......... ......... ......... ......... ......... ......... ......... .........
";
const WEDGES: &str = "
......... ......... ......... ......... ......... ......... ......... .........
......... ......... ......... ......... ......... ......... ......... ....b....
...b..... ......... ......... ......... .....b... ....ab... ......... ...bb....
...ba.... ......... ....a.... ......... ....ab... ....abb.. ..bbbbb.. ..bba....
...baa... .baaa.... ...aaa... ....aab.. ...aab... ....aabb. ...aaa... ..aaa....
...ba.... ..bba.... ..bbbbb.. ....abb.. ....ab... ......... ....a.... .........
...b..... ...bb.... ......... ....ab... .....b... ......... ......... .........
......... ......... ......... ....b.... ......... ......... ......... .........
......... ......... ......... ......... ......... ......... ......... .........
";

/// Rotating the facing by 90° rotates the slots by 90°.
#[test]
fn shapes_rotate_with_their_facing() {
    let (grid, goal) = (open_grid(121, 121), Cell::new(60, 60));
    for formation in SHAPES {
        for count in 1..50 {
            let offsets = |facing: Direction| -> BTreeSet<(i32, i32)> {
                let order = FormationSpec::to(goal).formation(formation).facing(facing).spacing(1);
                let answers = assign_slots(&grid, &in_rows(count), &order);
                slots(&answers).iter().map(|at| (at.x - goal.x, at.y - goal.y)).collect()
            };
            for bits in 0..6 {
                let rotated = offsets(Direction::from_bits(bits + 2));
                let expected: BTreeSet<(i32, i32)> =
                    offsets(Direction::from_bits(bits)).iter().map(|&(x, y)| (-y, x)).collect();
                assert_eq!(rotated, expected, "{count} in {formation:?}, {bits}");
            }
        }
    }
}

/// Checks the width and depth of formations of 100 units, facing north.
#[test]
fn formations_have_the_documented_proportions() {
    let (grid, goal) = (open_grid(121, 121), Cell::new(60, 60));
    let sides = SHAPES.map(|formation| {
        let order = FormationSpec::to(goal).formation(formation).facing(Direction::North);
        let at = slots(&assign_slots(&grid, &in_rows(100), &order));
        let rect = at.iter().fold(CellRect::default(), |all, &at| all.union(CellRect::single(at)));
        (rect.width, rect.height)
    });
    assert_eq!(sides, [(40, 3), (3, 34), (10, 10), (19, 10)]);
}

#[test]
fn without_a_facing_the_front_is_in_the_direction_of_travel() {
    let (grid, goal) = (open_grid(60, 60), Cell::new(30, 30));
    for facing in Direction::ALL {
        let (dx, dy) = facing.offset();
        let units: Vec<FormationUnit> = (-2..=2)
            .map(|aside| FormationUnit::new(goal.offset(-20 * dx + aside, -20 * dy - aside)))
            .collect();
        let order = FormationSpec::to(goal).formation(Formation::Wedge);
        assert_eq!(order.resolve_facing(&grid, &units).facing, Some(facing));
        let answers = assign_slots(&grid, &units, &order);
        assert_eq!(answers, assign_slots(&grid, &units, &order.facing(facing)));
    }
    let at_goal = FormationSpec::to(goal).resolve_facing(&grid, &[FormationUnit::new(goal)]);
    assert_eq!(at_goal.facing, Some(Direction::East));
    // A little more or less than half the angle between east and northeast.
    let facing = |cell: Cell| {
        let order = FormationSpec::to(Cell::default());
        order.resolve_facing(&grid, &[FormationUnit::new(cell)]).facing
    };
    assert_eq!(facing(Cell::new(-1000, -414)), Some(Direction::East));
    assert_eq!(facing(Cell::new(-1000, -415)), Some(Direction::NorthEast));
    // A unit that is parked off the map does not decide where the others look.
    let units = [Cell::new(10, 30), Cell::new(100_000, 30)].map(FormationUnit::new);
    let order = FormationSpec::to(goal).resolve_facing(&grid, &units);
    assert_eq!(order.facing, Some(Direction::East));
}

/// Random terrain, sizes, spacings and origins.
#[test]
fn slots_never_overlap_and_are_reachable() {
    let mut random = Random(1);
    for round in 0..60 {
        let (width, height) = (30 + random.below(60), 30 + random.below(60));
        let is_free = |random: &mut Random| random.below(100) >= round % 4 * 8;
        let terrain = (0..width * height).map(|_| u8::from(is_free(&mut random))).collect();
        let origin = Cell::new(random.below(50) as i32 - 100, random.below(50) as i32);
        let grid = NavGrid::from_terrain(width, height, terrain)
            .unwrap()
            .with_topology(if round < 40 { Topology::Square } else { Topology::Hexagonal })
            .with_profiles(sizes())
            .with_origin(origin);
        let mut cell = || origin.offset(random.below(width) as i32, random.below(height) as i32);
        let goal = cell();
        let cells: Vec<Cell> = (0..60).map(|_| cell()).collect();
        let units: Vec<FormationUnit> = cells
            .iter()
            .map(|&cell| {
                let profile = ProfileId(random.below(3) as u8);
                FormationUnit::new(cell).profile(profile).rank(random.below(3) as i32)
            })
            .collect();
        for formation in ALL {
            let facing = Direction::from_bits(random.below(8) as u8);
            let spacing = random.below(3) as u8;
            let order =
                FormationSpec::to(goal).formation(formation).facing(facing).spacing(spacing);
            let answers = assign_slots(&grid, &units, &order);
            check(&grid, &units, &order, &answers);
            for (unit, answer) in units.iter().zip(&answers) {
                let stands = grid.cost(unit.profile, unit.cell) > 0;
                let expected = match answer {
                    Ok(_) => None,
                    Err(_) if stands => Some(PathFailure::NoRoom(goal)),
                    Err(_) => Some(PathFailure::StartImpassable(unit.cell)),
                };
                assert_eq!(answer.err(), expected);
                assert!(stands || answer.is_err());
            }
        }
    }
}

/// On an open grid every unit gets a slot, and large units are packed as closely as small ones.
#[test]
fn mixed_sizes_are_packed_closely() {
    let grid = open_grid(80, 80);
    let units: Vec<FormationUnit> = (0..90)
        .map(|unit| FormationUnit::new(Cell::new(unit % 60, 1)).profile(ProfileId(unit as u8 % 3)))
        .collect();
    let goal = Cell::new(40, 40);
    for formation in ALL {
        let order = FormationSpec::to(goal).formation(formation).facing(Direction::East);
        let answers = assign_slots(&grid, &units, &order);
        check(&grid, &units, &order, &answers);
        assert!(answers.iter().all(Result::is_ok), "{formation:?}");
    }
    // They cover 30 × (1 + 4 + 9) = 420 cells; within 14 cells of the goal there are 841.
    let answers = assign_slots(&grid, &units, &FormationSpec::to(goal));
    for (unit, at) in units.iter().zip(slots(&answers)) {
        let away = at.x.abs_diff(goal.x).max(at.y.abs_diff(goal.y));
        assert!(away <= 14, "{unit:?} at {at}");
    }
}

/// The path costs from the goal to loose slots are the lowest ones.
#[test]
fn loose_slots_have_the_lowest_path_cost() {
    let mut random = Random(2);
    for round in 0..20 {
        let profile = match round % 4 {
            0 => Profile::default().corners(CornerRule::Forbid),
            1 => Profile::default().corners(CornerRule::NoSqueeze),
            2 => Profile::default().corners(CornerRule::Allow),
            _ => Profile::default().neighbors(Neighborhood::Four),
        };
        let terrain = (0..40 * 40).map(|_| u8::from(random.below(100) > 25)).collect();
        let grid = NavGrid::from_terrain(40, 40, terrain).unwrap();
        let mut grid = grid.with_profiles(vec![profile]);
        let goal = Cell::new(20, 20);
        grid.set_terrain(goal, TerrainId::GROUND).unwrap();
        let costs = dijkstra(&grid, ProfileId::default(), goal);
        let cost = |cell: Cell| costs[(cell.y * 40 + cell.x) as usize];
        let reached: Vec<Cell> = grid.rect().cells().filter(|&cell| cost(cell).is_some()).collect();
        let units: Vec<FormationUnit> =
            reached.iter().rev().step_by(3).copied().map(FormationUnit::new).collect();
        let answers = assign_slots(&grid, &units, &FormationSpec::to(goal));
        let mut found: Vec<_> = slots(&answers).into_iter().map(cost).collect();
        let mut expected: Vec<_> = reached.iter().map(|&cell| cost(cell)).collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected[..units.len()]);
    }
}

/// A wall of 40 cells beside the goal: the cells behind it are close, but far to walk.
#[test]
fn no_unit_is_placed_behind_a_wall_beside_the_goal() {
    let mut grid = open_grid(60, 60);
    grid.block(CellRect::new(Cell::new(32, 10), 1, 40)).unwrap();
    let units: Vec<FormationUnit> =
        (0..60).map(|unit| FormationUnit::new(Cell::new(3 + unit / 20, 20 + unit % 20))).collect();
    for formation in ALL {
        for facing in Direction::ALL {
            let order = FormationSpec::to(Cell::new(31, 30)).formation(formation).facing(facing);
            let answers = assign_slots(&grid, &units, &order);
            check(&grid, &units, &order, &answers);
            // Slots past the ends of the wall are allowed.
            let is_behind = |at: &Cell| at.x > 31 && at.y.abs_diff(30) < 12;
            let behind = slots(&answers).into_iter().find(is_behind);
            assert_eq!(behind, None, "{order:?}");
        }
    }
}

/// A short pillar is easy to walk around: slots behind it are kept, slots on it replaced by their neighbors.
#[test]
fn blocked_slots_are_replaced_by_their_neighbors() {
    let map = "
        .............
        .............
        .............
        .....###.....
        .............
        .............
        .............";
    let grid = grid_from(map);
    let units = in_rows(9);
    let order =
        FormationSpec::to(Cell::new(6, 3)).formation(Formation::Line).facing(Direction::North);
    // The goal itself is blocked, with the slots to both sides of it.
    let answers = assign_slots(&grid, &units, &order);
    let drawn = picture(&grid, &units, &answers);
    assert_eq!(drawn[2..5], [".............", "..aaa###aaa..", ".....aaa....."]);
}

#[test]
fn a_blocked_goal_is_surrounded_from_the_side_of_the_group() {
    let mut grid = open_grid(61, 61);
    grid.block(CellRect::new(Cell::new(28, 0), 5, 61)).unwrap();
    grid.unblock(CellRect::new(Cell::new(28, 0), 5, 1)).unwrap();
    for (from, near) in [(5, 27), (50, 33)] {
        let units: Vec<FormationUnit> = (0..30)
            .map(|unit| FormationUnit::new(Cell::new(from + unit % 3, 20 + unit / 3)))
            .collect();
        let goal = Cell::new(30, 30);
        let answers = assign_slots(&grid, &units, &FormationSpec::to(goal));
        check(&grid, &units, &FormationSpec::to(goal), &answers);
        let at = slots(&answers);
        assert!(at.contains(&Cell::new(near, 30)));
        assert!(at.iter().all(|at| at.x.abs_diff(near) <= 5 && at.y.abs_diff(30) <= 6), "{at:?}");
        assert!(at.iter().all(|at| (at.x < 30) == (from < 30)));
        // Units that have arrived stay.
        let standing: Vec<FormationUnit> = at.iter().copied().map(FormationUnit::new).collect();
        assert_eq!(assign_slots(&grid, &standing, &FormationSpec::to(goal)), answers);
    }
}

/// A river: units that cannot cross it line its bank, closest to the goal in a straight line.
#[test]
fn units_in_another_region_get_the_closest_slots() {
    let mut grid = open_grid(150, 150);
    grid.block(CellRect::new(Cell::new(40, 0), 3, 150)).unwrap();
    let goal = Cell::new(46, 75);
    let units: Vec<FormationUnit> =
        (0..120).map(|unit| FormationUnit::new(Cell::new(2 + unit % 2 * 140, 5 + unit))).collect();
    let answers = assign_slots(&grid, &units, &FormationSpec::to(goal));
    check(&grid, &units, &FormationSpec::to(goal), &answers);
    let line = |at: Cell| open_distance(&grid, ProfileId::default(), at, goal);
    let mut expected: Vec<u32> = grid.rect().cells().filter(|at| at.x < 40).map(line).collect();
    expected.sort_unstable();
    let mut found: Vec<u32> = units
        .iter()
        .zip(slots(&answers))
        .filter(|(unit, _)| unit.cell.x < 40)
        .map(|(_, at)| line(at))
        .collect();
    found.sort_unstable();
    assert_eq!(found, expected[..60]);
    for formation in SHAPES {
        let order = FormationSpec::to(goal).formation(formation);
        let answers = assign_slots(&grid, &units, &order);
        check(&grid, &units, &order, &answers);
        assert!(answers.iter().all(Result::is_ok));
    }
}

#[test]
fn a_distant_region_is_found_and_filled() {
    let mut grid = open_grid(400, 300);
    // A room of 4 × 4 cells in the opposite corner.
    grid.block(CellRect::new(Cell::new(10, 10), 6, 6)).unwrap();
    grid.unblock(CellRect::new(Cell::new(11, 11), 4, 4)).unwrap();
    let units = vec![FormationUnit::new(Cell::new(12, 12)); 20];
    let goal = Cell::new(390, 290);
    let answers = assign_slots(&grid, &units, &FormationSpec::to(goal));
    check(&grid, &units, &FormationSpec::to(goal), &answers);
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 16);
    let none_left = answers.iter().filter(|&&at| at == Err(PathFailure::NoRoom(goal)));
    assert_eq!(none_left.count(), 4);
}

#[test]
fn without_room_high_ranks_and_distant_units_get_no_slot() {
    let map = "
        ###########
        #....#....#
        #....#....#
        ###########";
    let grid = grid_from(map);
    // Twelve units for eight cells; four of the middle rank, two of them close to the goal.
    let unit = |x, y, rank| FormationUnit::new(Cell::new(x, y)).rank(rank);
    let mut units: Vec<FormationUnit> = (0..6).map(|_| unit(4, 1, -1)).collect();
    units.extend([unit(4, 1, 0), unit(1, 2, 0), unit(2, 1, 0), unit(4, 2, 0)]);
    units.extend([unit(1, 1, 9), unit(1, 1, 9)]);
    let goal = Cell::new(1, 1);
    for formation in ALL {
        let order = FormationSpec::to(goal).formation(formation).facing(Direction::East);
        let answers = assign_slots(&grid, &units, &order);
        check(&grid, &units, &order, &answers);
        let placed: Vec<bool> = answers.iter().map(Result::is_ok).collect();
        let expected: Vec<bool> = (0..12).map(|unit| unit < 6 || unit == 7 || unit == 8).collect();
        assert_eq!(placed, expected, "{formation:?}");
        assert_eq!(answers[11], Err(PathFailure::NoRoom(goal)));
    }
}

/// Walls stand where the front would be: those of low rank still stand in front, and those of high rank get no slots.
#[test]
fn ranks_count_where_the_front_is_in_a_wall() {
    let corridor = grid_from(
        "
        ######
        #....#
        ######",
    );
    let unit = |rank| FormationUnit::new(Cell::new(4, 1)).rank(rank);
    let units: Vec<FormationUnit> = [0, 0, 0, 0, 9, 9, 9, 9].map(unit).into();
    let order = FormationSpec::to(Cell::new(1, 1)).formation(Formation::Column);
    let order = order.facing(Direction::West);
    let answers = assign_slots(&corridor, &units, &order);
    check(&corridor, &units, &order, &answers);
    let placed: Vec<bool> = answers.iter().map(Result::is_ok).collect();
    assert_eq!(placed, [true, true, true, true, false, false, false, false]);
    // At each border, facing it; also units of two kinds.
    let kinds = vec![Profile::default(), Profile::default().corners(CornerRule::Allow)];
    let grid = open_grid(60, 60).with_profiles(kinds);
    let mut random = Random(8);
    let mut units = distinct_units(100, || (random.below(60) as i32, random.below(60) as i32));
    units.iter_mut().for_each(|unit| unit.rank = random.below(10) as i32);
    ranks_are_in_order_at_each_border(&grid, &units);
    units.iter_mut().for_each(|unit| unit.profile = ProfileId(random.below(2) as u8));
    ranks_are_in_order_at_each_border(&grid, &units);
}

fn ranks_are_in_order_at_each_border(grid: &NavGrid, units: &[FormationUnit]) {
    for (goal, facing) in [
        ((30, 59), Direction::North),
        ((30, 0), Direction::South),
        ((59, 30), Direction::East),
        ((0, 30), Direction::West),
        ((59, 59), Direction::NorthEast),
    ] {
        for formation in SHAPES {
            let order = FormationSpec::to(Cell::from(goal)).formation(formation).facing(facing);
            let answers = assign_slots(grid, units, &order);
            check(grid, units, &order, &answers);
            let (dx, dy) = facing.offset();
            let row = |at: Cell| -i64::from(at.x * dx + at.y * dy);
            let mut found: Vec<(i32, i64)> =
                units.iter().zip(slots(&answers)).map(|(unit, at)| (unit.rank, row(at))).collect();
            found.sort_unstable();
            assert!(found.is_sorted_by_key(|&(_, row)| row), "{formation:?} {facing:?}");
        }
    }
}

#[test]
fn a_map_smaller_than_the_group_is_filled() {
    let grid = open_grid(3, 3);
    let units = vec![FormationUnit::new(Cell::new(2, 2)); 20];
    for formation in ALL {
        let order =
            FormationSpec::to(Cell::new(0, 1)).formation(formation).facing(Direction::South);
        let answers = assign_slots(&grid, &units, &order);
        check(&grid, &units, &order, &answers);
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 9, "{formation:?}");
    }
}

#[test]
fn an_empty_group_gets_no_slots() {
    let grid = open_grid(9, 9);
    for formation in ALL {
        let order = FormationSpec::to(Cell::new(4, 4)).formation(formation);
        assert_eq!(assign_slots(&grid, &[], &order), []);
        assert_eq!(reassign_slots(&grid, &[], &[Some(Cell::new(1, 1))], &order), []);
        let alone = assign_slots(&grid, &[FormationUnit::new(Cell::new(0, 0))], &order);
        assert_eq!(alone, [Ok(Cell::new(4, 4))]);
    }
}

#[test]
fn units_without_a_slot_get_a_reason() {
    let mut grid = open_grid(9, 9);
    grid.block(CellRect::single(Cell::new(1, 1))).unwrap();
    let units = [
        FormationUnit::new(Cell::new(0, 0)).profile(ProfileId(7)),
        FormationUnit::new(Cell::new(-1, 0)),
        FormationUnit::new(Cell::new(1, 1)),
        FormationUnit::new(Cell::new(8, 8)).profile(ProfileId(1)), // does not fit into the corner
        FormationUnit::new(Cell::new(3, 3)),
    ];
    let answers = assign_slots(&grid, &units, &FormationSpec::to(Cell::new(5, 5)));
    let expected = [
        Err(PathFailure::UnknownProfile(ProfileId(7))),
        Err(PathFailure::StartOutOfBounds(Cell::new(-1, 0))),
        Err(PathFailure::StartImpassable(Cell::new(1, 1))),
        Err(PathFailure::StartImpassable(Cell::new(8, 8))),
        Ok(Cell::new(5, 5)),
    ];
    assert_eq!(answers, expected);
    let outside = Cell::new(9, 5);
    let answers = assign_slots(&grid, &units[4..], &FormationSpec::to(outside));
    assert_eq!(answers, [Err(PathFailure::GoalOutOfBounds(outside))]);
}

#[test]
fn low_ranks_get_slots_in_front_or_near_the_goal() {
    let (grid, goal) = (open_grid(90, 90), Cell::new(45, 45));
    let mut random = Random(3);
    let mut units = distinct_units(200, || (random.below(90) as i32, random.below(90) as i32));
    units.iter_mut().for_each(|unit| unit.rank = random.below(5) as i32 * 7 - 9);
    let in_order = |order: &FormationSpec, level: &dyn Fn(Cell) -> i64| {
        let answers = assign_slots(&grid, &units, order);
        check(&grid, &units, order, &answers);
        let mut found: Vec<(i32, i64)> =
            units.iter().zip(slots(&answers)).map(|(unit, at)| (unit.rank, level(at))).collect();
        found.sort_unstable();
        assert!(found.is_sorted_by_key(|&(_, level)| level), "{order:?}");
    };
    let away = |at: Cell| i64::from(open_distance(&grid, ProfileId::default(), at, goal));
    in_order(&FormationSpec::to(goal), &away);
    for formation in SHAPES {
        for facing in Direction::ALL {
            let order = FormationSpec::to(goal).formation(formation).facing(facing);
            let (dx, dy) = facing.offset();
            in_order(&order, &|at| -i64::from(at.x * dx + at.y * dy));
        }
    }
}

/// Boats and soldiers at a shore: each profile on its own terrain.
#[test]
fn every_profile_keeps_to_its_own_terrain() {
    let terrain = (0..40 * 40).map(|cell| if cell % 40 < 20 { 1 } else { 2 }).collect();
    let walks = Profile::new().with(TerrainId(1), Profile::PLAIN_COST);
    let swims = Profile::new().with(TerrainId(2), Profile::PLAIN_COST);
    let both = swims.clone().with(TerrainId(1), 2 * Profile::PLAIN_COST);
    let grid =
        NavGrid::from_terrain(40, 40, terrain).unwrap().with_profiles(vec![walks, swims, both]);
    let units: Vec<FormationUnit> = (0..90)
        .map(|unit| {
            let (profile, row) = (ProfileId(unit as u8 % 3), unit / 3);
            let column = [3, 35, 20][unit as usize % 3];
            FormationUnit::new(Cell::new(column, row)).profile(profile)
        })
        .collect();
    for formation in ALL {
        let order = FormationSpec::to(Cell::new(19, 20)).formation(formation);
        let answers = assign_slots(&grid, &units, &order);
        check(&grid, &units, &order, &answers);
        let far = |at: &Cell| at.x.abs_diff(19).max(at.y.abs_diff(20)) > 20;
        assert_eq!(slots(&answers).iter().find(|at| far(at)), None, "{formation:?}");
    }
}

/// Returns groups of many layouts around the middle of an open field.
fn layouts(count: usize, random: &mut Random) -> Vec<(&'static str, Vec<FormationUnit>)> {
    let mut at = |width: u32, height: u32, x: i32, y: i32| {
        let cell = (random.below(width) as i32, random.below(height) as i32);
        (x + cell.0 - width as i32 / 2, y + cell.1 - height as i32 / 2)
    };
    let side = (count as u32).isqrt();
    let mut part = 0;
    vec![
        ("scattered", distinct_units(count, || at(110, 110, 60, 60))),
        ("around the goal", distinct_units(count, || at(side * 3 / 2, side * 3 / 2, 60, 60))),
        (
            "beside the goal",
            distinct_units(count, || at(side * 3 / 2, side * 2, 60 - side as i32, 65)),
        ),
        ("far in the west", distinct_units(count, || at(side, side * 2, 15, 58))),
        ("in a corner", distinct_units(count, || at(side * 2, side * 2, 20, 20))),
        ("a long row", distinct_units(count, || at(5, 118, 62, 60))),
        ("on four sides", {
            distinct_units(count, || {
                part = (part + 1) % 4;
                let (x, y) = [(15, 60), (105, 62), (60, 15), (61, 105)][part];
                at(side, side, x, y)
            })
        }),
        ("two armies", {
            distinct_units(count, || {
                part = (part + 1) % 3;
                if part == 0 { at(side, side * 2, 100, 40) } else { at(side, side * 2, 20, 80) }
            })
        }),
    ]
}

/// Returns the total weight from all units to their slots.
fn travel(grid: &NavGrid, units: &[FormationUnit], slots: &[Cell]) -> u64 {
    let weight =
        |(unit, &at): (&FormationUnit, &Cell)| open_distance(grid, unit.profile, unit.cell, at);
    units.iter().zip(slots).map(weight).map(u64::from).sum()
}

fn starts(units: &[FormationUnit]) -> Vec<Cell> {
    units.iter().map(|unit| unit.cell).collect()
}

#[test]
fn the_exact_assignment_is_exact() {
    let grid = open_grid(20, 20);
    let mut random = Random(4);
    let mut cell = || Cell::new(random.below(20) as i32, random.below(20) as i32);
    for _ in 0..20 {
        let units: Vec<FormationUnit> = (0..6).map(|_| FormationUnit::new(cell())).collect();
        let slots: Vec<Cell> = (0..6).map(|_| cell()).collect();
        let mut least = u64::MAX;
        permutations(&mut slots.clone(), 0, &mut |order| {
            least = least.min(travel(&grid, &units, order));
        });
        assert_eq!(least_travel(&grid, &starts(&units), &slots), least);
    }
}

fn permutations(items: &mut [Cell], from: usize, visit: &mut impl FnMut(&[Cell])) {
    if from == items.len() {
        visit(items);
    }
    for other in from..items.len() {
        items.swap(from, other);
        permutations(items, from + 1, visit);
        items.swap(from, other);
    }
}

/// 400 units to one point: at most 1.05 times the exact optimum.
#[test]
fn travel_is_close_to_the_optimum() {
    let grid = open_grid(121, 121);
    for (count, seed) in [(400, 5), (60, 6), (150, 7)] {
        for (name, units) in layouts(count, &mut Random(seed)) {
            for formation in [Formation::Loose, Formation::Line, Formation::Box] {
                let order = FormationSpec::to(Cell::new(60, 60)).formation(formation);
                let answers = assign_slots(&grid, &units, &order);
                check(&grid, &units, &order, &answers);
                let at = slots(&answers);
                let (found, least) =
                    (travel(&grid, &units, &at), least_travel(&grid, &starts(&units), &at));
                assert!(found * 100 <= least * 105, "{name}, {formation:?}: {found} of {least}");
            }
        }
    }
}

/// Units that walk at the same speed along straight lines seldom come across a unit that stands on its slot already:
/// those in front go farthest.
#[test]
fn units_seldom_walk_past_those_that_stand_already() {
    let grid = open_grid(121, 121);
    for (name, units) in layouts(400, &mut Random(8)) {
        let at = slots(&assign_slots(&grid, &units, &FormationSpec::to(Cell::new(60, 60))));
        let lines: Vec<(Cell, Cell)> =
            units.iter().map(|unit| unit.cell).zip(at.iter().copied()).collect();
        let pairs = lines.iter().flat_map(|&line| lines.iter().map(move |&other| (line, other)));
        let passed = pairs.filter(|&(line, other)| walks_past(line, other)).count();
        assert!(passed < 450, "{name}: {passed} of 159,600 pairs");
    }
}

/// Returns whether the first unit passes within half a cell of the second one's slot after the second one has arrived.
/// The last half cell does not count: there its own slot may be beside the other.
fn walks_past(line: (Cell, Cell), other: (Cell, Cell)) -> bool {
    let vector = |from: Cell, to: Cell| (f64::from(to.x - from.x), f64::from(to.y - from.y));
    let length = |(x, y): (f64, f64)| x.hypot(y);
    let (way, to_slot) = (vector(line.0, line.1), vector(line.0, other.1));
    let whole = length(way).max(0.5);
    let along = (way.0 * to_slot.0 + way.1 * to_slot.1) / whole;
    let across = (way.0 * to_slot.1 - way.1 * to_slot.0).abs() / whole;
    across < 0.5 && along > length(vector(other.0, other.1)) && along < whole - 0.5
}

#[test]
fn a_group_on_its_slots_stays_there() {
    let grid = open_grid(121, 121);
    let order = FormationSpec::to(Cell::new(60, 60)).facing(Direction::NorthWest);
    for formation in ALL {
        for spacing in [0, 1] {
            let order = order.formation(formation).spacing(spacing);
            let (_, mut units) = layouts(400, &mut Random(9)).swap_remove(0);
            for (number, unit) in units.iter_mut().enumerate() {
                unit.rank = (number % 3) as i32;
            }
            let answers = assign_slots(&grid, &units, &order);
            check(&grid, &units, &order, &answers);
            for (unit, at) in units.iter_mut().zip(slots(&answers)) {
                unit.cell = at;
            }
            assert_eq!(assign_slots(&grid, &units, &order), answers, "{order:?}");
            // Half of them have walked away and return.
            units.iter_mut().step_by(2).for_each(|unit| unit.cell.x = unit.cell.x.max(30) - 30);
            let again = assign_slots(&grid, &units, &order);
            check(&grid, &units, &order, &again);
            let held: Vec<Option<Cell>> = answers.iter().map(|answer| answer.ok()).collect();
            assert_eq!(reassign_slots(&grid, &units, &held, &order), answers, "{order:?}");
        }
    }
}

/// Groups of mixed sizes stay as well.
#[test]
fn a_mixed_group_on_its_slots_stays_there() {
    let grid = open_grid(90, 90);
    let mut random = Random(10);
    let mut units = distinct_units(80, || (random.below(80) as i32, random.below(80) as i32));
    for (number, unit) in units.iter_mut().enumerate() {
        unit.profile = ProfileId(number as u8 % 3);
    }
    for formation in ALL {
        let order =
            FormationSpec::to(Cell::new(45, 45)).formation(formation).facing(Direction::South);
        let answers = assign_slots(&grid, &units, &order);
        let arrived: Vec<FormationUnit> = units
            .iter()
            .zip(slots(&answers))
            .map(|(unit, at)| FormationUnit { cell: at, ..*unit })
            .collect();
        assert_eq!(assign_slots(&grid, &arrived, &order), answers, "{formation:?}");
    }
}

/// A unit whose slot is still in use keeps it; no more units move than there are vacant slots.
#[test]
fn removed_and_added_units_leave_other_slots_unchanged() {
    let grid = open_grid(121, 121);
    let mut random = Random(11);
    for formation in ALL {
        let order =
            FormationSpec::to(Cell::new(60, 60)).formation(formation).facing(Direction::East);
        let (_, mut units) = layouts(150, &mut random).swap_remove(0);
        let mut held: Vec<Option<Cell>> = vec![None; units.len()];
        for _ in 0..12 {
            let answers = reassign_slots(&grid, &units, &held, &order);
            check(&grid, &units, &order, &answers);
            let chosen: BTreeSet<Cell> = slots(&answers).into_iter().collect();
            for (answer, held) in answers.iter().zip(&held) {
                let keeps = held.is_some_and(|held| chosen.contains(&held));
                assert!(!keeps || answer.ok() == *held, "{formation:?}");
            }
            held = answers.iter().map(|answer| answer.ok()).collect();
            for _ in 0..random.below(9) {
                let removed = random.below(units.len() as u32) as usize;
                units.remove(removed);
                held.remove(removed);
            }
            for _ in 0..random.below(9) {
                let cell = Cell::new(random.below(121) as i32, random.below(121) as i32);
                units.push(FormationUnit::new(cell)); // beyond the end of `held`
            }
        }
    }
}

/// Removing one unit of a loose group moves one other unit.
#[test]
fn removing_one_unit_moves_one_other() {
    let grid = open_grid(121, 121);
    let order = FormationSpec::to(Cell::new(60, 60));
    let (_, units) = layouts(300, &mut Random(12)).swap_remove(3);
    let at = slots(&assign_slots(&grid, &units, &order));
    let removed = at.iter().position(|&at| at == order.goal).unwrap();
    let (mut left, mut held) = (units, at);
    left.remove(removed);
    held.remove(removed);
    left.iter_mut().zip(&held).for_each(|(unit, at)| unit.cell = *at);
    let slots_before: Vec<Option<Cell>> = held.iter().copied().map(Some).collect();
    for answers in
        [reassign_slots(&grid, &left, &slots_before, &order), assign_slots(&grid, &left, &order)]
    {
        let now = slots(&answers);
        assert!(now.contains(&order.goal));
        assert_eq!(now.iter().zip(&held).filter(|(now, before)| now != before).count(), 1);
    }
}

/// The order of the input does not matter.
#[test]
fn shuffled_units_get_the_same_slots() {
    let mut grid = open_grid(90, 90);
    grid.block(CellRect::new(Cell::new(40, 20), 1, 45)).unwrap();
    let mut random = Random(13);
    let mut units = distinct_units(120, || (random.below(38) as i32, random.below(88) as i32));
    for unit in &mut units {
        unit.profile = ProfileId(random.below(3) as u8);
        unit.rank = random.below(2) as i32;
    }
    for formation in ALL {
        let order = FormationSpec::to(Cell::new(41, 40)).formation(formation);
        let answers = assign_slots(&grid, &units, &order);
        let held = |at: usize| answers[at].ok().filter(|_| !at.is_multiple_of(3));
        let all_held: Vec<Option<Cell>> = (0..units.len()).map(held).collect();
        let kept = reassign_slots(&grid, &units, &all_held, &order);
        let mut mixed: Vec<usize> = (0..units.len()).collect();
        (1..mixed.len()).for_each(|at| mixed.swap(at, random.below(at as u32 + 1) as usize));
        let shuffled: Vec<FormationUnit> = mixed.iter().map(|&at| units[at]).collect();
        let held: Vec<Option<Cell>> = mixed.iter().map(|&at| all_held[at]).collect();
        let expected: Answers = mixed.iter().map(|&at| answers[at]).collect();
        assert_eq!(assign_slots(&grid, &shuffled, &order), expected, "{formation:?}");
        let expected: Answers = mixed.iter().map(|&at| kept[at]).collect();
        assert_eq!(reassign_slots(&grid, &shuffled, &held, &order), expected, "{formation:?}");
    }
}

/// Groups too large for the pairwise improvement still get valid slots.
#[test]
fn ten_thousand_units_get_slots() {
    let grid = open_grid(400, 400);
    let units: Vec<FormationUnit> =
        (0..10_000).map(|unit| FormationUnit::new(Cell::new(unit % 125, unit / 125))).collect();
    for formation in [Formation::Loose, Formation::Box] {
        let order = FormationSpec::to(Cell::new(250, 250)).formation(formation);
        let answers = assign_slots(&grid, &units, &order);
        check(&grid, &units, &order, &answers);
        assert!(answers.iter().all(Result::is_ok));
    }
}

/// Where a cell of a hexagonal grid lies in the plane: along a direction, and to the right of it.
fn along_and_aside(cell: (i32, i32), facing: Direction) -> (f64, f64) {
    let in_plane =
        |(x, y): (i32, i32)| (f64::from(x) + f64::from(y) / 2.0, f64::from(y) * 0.75_f64.sqrt());
    let ((x, y), (ahead_x, ahead_y)) = (in_plane(cell), in_plane(facing.offset()));
    (x * ahead_x + y * ahead_y, x * ahead_y - y * ahead_x)
}

const HEX_FACINGS: [Direction; 6] = [
    Direction::East,
    Direction::North,
    Direction::NorthWest,
    Direction::West,
    Direction::South,
    Direction::SouthEast,
];

/// In all six facings, formations on hexagons are as wide and deep in the plane, and their fronts are straight.
#[test]
fn formations_on_hexagons_have_straight_fronts() {
    let grid = open_grid(121, 121).with_topology(Topology::Hexagonal);
    let goal = Cell::new(60, 60);
    let units: Vec<FormationUnit> = in_rows(100);
    for (formation, widest, deepest) in [
        (Formation::Line, (34.0, 42.0), 3.0),
        (Formation::Column, (1.5, 4.0), 50.0),
        (Formation::Box, (8.0, 11.0), 11.0),
    ] {
        for facing in HEX_FACINGS {
            let order = FormationSpec::to(goal).formation(formation).facing(facing);
            let at = slots(&assign_slots(&grid, &units, &order));
            let distinct: BTreeSet<Cell> = at.iter().copied().collect();
            assert_eq!(distinct.len(), 100);
            let places: Vec<(f64, f64)> =
                at.iter().map(|at| along_and_aside((at.x - 60, at.y - 60), facing)).collect();
            let span = |side: fn(&(f64, f64)) -> f64| {
                let sides = places.iter().map(side);
                sides.clone().fold(f64::MIN, f64::max) - sides.fold(f64::MAX, f64::min)
            };
            let (depth, width) = (span(|place| place.0), span(|place| place.1));
            assert!(
                (widest.0..=widest.1).contains(&width),
                "{formation:?} {facing:?}: {width} wide"
            );
            assert!(depth <= deepest, "{formation:?} {facing:?}: {depth} deep");
            let front = places.iter().map(|place| place.0).fold(f64::MIN, f64::max);
            let in_front = places.iter().filter(|place| front - place.0 < 0.01).count();
            assert!(
                in_front as f64 >= width / 1.8,
                "{formation:?} {facing:?}: {in_front} in front"
            );
        }
    }
}

/// Loose groups on hexagons fill a hexagon around the goal, and spacing counts steps.
#[test]
fn loose_groups_on_hexagons_are_round() {
    let grid = open_grid(80, 80).with_topology(Topology::Hexagonal);
    let goal = Cell::new(40, 40);
    for (count, spacing, radius) in [(127, 0, 6), (37, 1, 8), (19, 2, 8)] {
        let spec = FormationSpec::to(goal).spacing(spacing);
        let at = slots(&assign_slots(&grid, &in_rows(count), &spec));
        assert!(at.iter().all(|at| at.hexagonal_distance(goal) <= radius), "{spacing}: {at:?}");
        for (index, &a) in at.iter().enumerate() {
            let apart = at[index + 1..].iter().map(|&b| a.hexagonal_distance(b)).min();
            assert!(apart.is_none_or(|steps| steps > u32::from(spacing)), "{spacing}: {a}");
        }
    }
}

/// Units of 1, 7 and 19 hexagons are packed closely, in all formations and facings.
#[test]
fn mixed_sizes_on_hexagons_are_packed_closely() {
    let grid = open_grid(120, 120).with_topology(Topology::Hexagonal);
    let units: Vec<FormationUnit> = (0..90)
        .map(|unit| {
            let cell = Cell::new(5 + unit % 45 * 2, 5 + unit / 45 * 3);
            FormationUnit::new(cell).profile(ProfileId(unit as u8 % 3))
        })
        .collect();
    let goal = Cell::new(60, 60);
    for (formation, facing) in ALL.into_iter().flat_map(|of| HEX_FACINGS.map(|to| (of, to))) {
        for spacing in [0, 2] {
            let order =
                FormationSpec::to(goal).formation(formation).facing(facing).spacing(spacing);
            let answers = assign_slots(&grid, &units, &order);
            check(&grid, &units, &order, &answers);
            assert!(answers.iter().all(Result::is_ok), "{formation:?}");
        }
    }
    // They cover 30 × (1 + 7 + 19) = 810 cells; within 19 steps of the goal there are 1,141.
    let answers = assign_slots(&grid, &units, &FormationSpec::to(goal));
    for at in slots(&answers) {
        assert!(at.hexagonal_distance(goal) <= 19, "{at}");
    }
    // Of one size, they stand as closely as single cells in their formation: each file and row is theirs.
    let units: Vec<FormationUnit> = (0..25)
        .map(|unit| FormationUnit::new(Cell::new(5 + 3 * unit, 5)).profile(ProfileId(1)))
        .collect();
    for facing in HEX_FACINGS {
        let order = FormationSpec::to(goal).formation(Formation::Box).facing(facing);
        let at = slots(&assign_slots(&grid, &units, &order));
        let places = at.iter().map(|at| along_and_aside((at.x - 60, at.y - 60), facing));
        let farthest = places.map(|(x, y)| x.hypot(y)).fold(0.0, f64::max);
        assert!(farthest <= 11.0, "{facing:?}: {farthest}");
    }
}

/// Without a facing, the front of a formation on hexagons is in the direction of travel, one of six.
#[test]
fn the_front_on_hexagons_is_in_the_direction_of_travel() {
    let grid = open_grid(60, 60).with_topology(Topology::Hexagonal);
    let goal = Cell::new(30, 30);
    for facing in HEX_FACINGS {
        let (dx, dy) = facing.offset();
        let units = [FormationUnit::new(goal.offset(-20 * dx, -20 * dy))];
        assert_eq!(FormationSpec::to(goal).resolve_facing(&grid, &units).facing, Some(facing));
    }
}
