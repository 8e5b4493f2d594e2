//! Drawings of searches: `*` the path, `x` expanded, `o` open, and the amount of work. Any change of an
//! algorithm shows up here.

use bevy_tilepath::{
    nav::{
        node_pool::NodePool,
        open_list::{BinaryHeap, BucketHeap, OpenList},
        search::Search,
    },
    prelude::*,
};

use crate::common::app::grid_from;

const DEAD_END: &str = "
    ....................
    ....................
    .....########.......
    ............#.......
    .S..........#....G..
    ............#.......
    .....########.......
    ....................
    ....................
";

const ROOMS: &str = "
    .....#.......#......
    .S...#.......#......
    .....#.......#......
    .............#......
    .....#..............
    .....#.......#......
    ##.####.########.###
    .....#.......#......
    .....#.......#......
    .............#....G.
    .....#..............
";

const SCATTER: &str = "
    S..#......#.....#...
    .#...#..#....#......
    ...#......#.....#.#.
    #....#.#.....#......
    ..#.......#.....#...
    .....#..#....#....#.
    .#.#......#.#...#..G
";

/// Returns the grid of a drawing, with start and goal.
fn scene(map: &str) -> (NavGrid, Cell, Cell) {
    let rows: Vec<&str> = map.split_whitespace().collect();
    let find = |letter| {
        let row = rows.iter().rposition(|row| row.contains(letter)).unwrap();
        Cell::new(rows[row].find(letter).unwrap() as i32, (rows.len() - 1 - row) as i32)
    };
    (grid_from(&map.replace(['S', 'G'], ".")), find('S'), find('G'))
}

fn draw<L: OpenList>(map: &str, profile: Profile, reach: Reach) -> String {
    draw_by::<L>(Algorithm::AStar, map, profile, reach)
}

fn draw_by<L: OpenList>(algorithm: Algorithm, map: &str, profile: Profile, reach: Reach) -> String {
    let (grid, start, goal) = scene(map);
    let grid = grid.with_profiles(vec![profile]);
    let (pool, mut search) = (NodePool::default(), Search::<L>::new());
    let query = PathQuery::new(start, goal).reach(reach).algorithm(algorithm);
    search.start(&grid, &pool, query).unwrap();
    search.step(&grid, &pool, u32::MAX);
    let mut cells: Vec<(Cell, char)> = search
        .explored(&grid)
        .map(|(cell, is_closed)| (cell, if is_closed { 'x' } else { 'o' }))
        .collect();
    let counters = search.counters();
    let path = search.finish(&grid, &pool).unwrap();
    cells.extend(path.cells().map(|cell| (cell, '*')));
    cells.extend([(start, 'S'), (goal, 'G')]);
    let mut drawing = format!(
        "cost {:.3}, {} expansions, {} generated\n",
        path.cost().in_plain_steps(),
        counters.expansions,
        counters.generated
    );
    for y in (0..grid.height() as i32).rev() {
        for x in 0..grid.width() as i32 {
            let cell = Cell::new(x, y);
            let terrain = if grid.cost(ProfileId(0), cell) > 0 { '.' } else { '#' };
            let mark = cells.iter().rev().find(|(other, _)| *other == cell);
            drawing.push(mark.map_or(terrain, |&(_, mark)| mark));
        }
        drawing.push('\n');
    }
    drawing
}

#[test]
fn a_dead_end_is_filled_and_left() {
    insta::assert_snapshot!(draw::<BucketHeap>(DEAD_END, Profile::default(), Reach::Exact));
}

#[test]
fn the_binary_heap_finds_the_same_path() {
    insta::assert_snapshot!(draw::<BinaryHeap>(DEAD_END, Profile::default(), Reach::Exact));
}

#[test]
fn rooms_are_crossed_door_by_door() {
    insta::assert_snapshot!(draw::<BucketHeap>(ROOMS, Profile::default(), Reach::Exact));
}

#[test]
fn jumps_lead_into_the_dead_end_and_out_again() {
    let draw = draw_by::<BucketHeap>;
    let profile = Profile::default();
    insta::assert_snapshot!(draw(Algorithm::JumpPoint, DEAD_END, profile, Reach::Exact));
}

#[test]
fn jumps_go_from_door_to_door() {
    let draw = draw_by::<BucketHeap>;
    insta::assert_snapshot!(draw(Algorithm::JumpPoint, ROOMS, Profile::default(), Reach::Exact));
}

#[test]
fn four_neighbor_paths_have_few_turns() {
    let profile = Profile::default().neighbors(Neighborhood::Four);
    insta::assert_snapshot!(draw::<BucketHeap>(SCATTER, profile, Reach::Exact));
}

#[test]
fn corners_may_be_cut_where_allowed() {
    let profile = Profile::default().corners(CornerRule::Allow);
    insta::assert_snapshot!(draw::<BucketHeap>(SCATTER, profile, Reach::Exact));
}

const LOCKED_IN: &str = "
    ....................
    ..............###...
    .S............#G#...
    ..............###...
    ....................
";

#[test]
fn nearest_stops_in_front_of_the_wall() {
    insta::assert_snapshot!(draw::<BucketHeap>(LOCKED_IN, Profile::default(), Reach::Nearest));
}
