//! A turn-based board: where a unit can go, how many points are left there, and how many turns a path takes.
//!
//! `cargo run --example skirmish`: a click selects a unit, another click moves it to a blue cell. Pale cells take more turns;
//! the preview marks where each turn ends. Enemies (beetles) cannot be passed, and moves end next to them. Woods cost two
//! points, swamp three. The space bar ends the turn. `--smoke DIR` plays by itself and saves pictures in DIR.

mod board;
mod screen;

use std::process::ExitCode;

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use board::{
    Board, SIZE, picture,
    smoke::{self, Own},
};
use screen::{play::Step, window};

const CELL: f32 = 48.0;
/// The board, from the top row down: grass, woods, swamp and water by their letters; units (`u`) and enemies (`x`) on grass.
const BOARD: [&str; 14] = [
    "GGGGTTTGGGGGGGSSSGGGGGGGGG",
    "GGGTTTTGGGGGGSSSSSGGGGGGGG",
    "GGGTTTGGGGGGGGSSSGGGGGTTGG",
    "GGGGTGGGGGGGGGGSGGGGGTTTTG",
    "GGGGGGGGWWWGGGGGGGGGGTTTGG",
    "GGuGGGGWWWWWGGGGxGGGGGTGGG",
    "GGGGGGGGWWWWWGGGGGGGGGGGGG",
    "GGGGGSGGGWWWWWGGGGxGGGGGGG",
    "GGuGSSSGGGGWWWWGGGGGGGSSGG",
    "GGGGSSSSGGGGGWWWGGGGGSSSSG",
    "GGGGGSSGGGGGGGWWGGGGGGSSGG",
    "GGGGGGGGGTTGGGGGGGGGGGGGGG",
    "GGGGGGGGTTTTTGGGGxGGGGGGGG",
    "GGGGGGGTTTTTTGGGGGGGGTTGGG",
];
/// Letter, points to enter (0 is impassable), and picture in `tiles.png`.
const TERRAINS: [(u8, u16, u32); 4] = [(b'G', 1, 0), (b'T', 2, 36), (b'S', 3, 16), (b'W', 0, 24)];

/// What `--smoke` plays: a long path across the water and past the enemies, and two moves.
const STEPS: &[Step<Own>] = &[
    Step::Wait(2.0),
    Step::Own(Own::Click(Cell::new(2, 8))),
    Step::Wait(0.3),
    Step::Shoot("range"),
    Step::Own(Own::Hover(Cell::new(18, 8))),
    Step::Wait(0.3),
    Step::Own(Own::Turns(Cell::new(18, 8), 4)),
    Step::Shoot("preview"),
    Step::Own(Own::Click(Cell::new(6, 6))),
    Step::Own(Own::Stand(Cell::new(6, 6), 2)),
    Step::Shoot("moved"),
    Step::Key(KeyCode::Space),
    Step::Wait(0.3),
    Step::Own(Own::Click(Cell::new(5, 5))),
    Step::Own(Own::Stand(Cell::new(5, 5), 3)),
    Step::Shoot("next_turn"),
];

fn main() -> ExitCode {
    screen::report(run)
}

fn run() -> Result<ExitCode, String> {
    let title = "Skirmish: a click selects a unit or moves it, the space bar ends the turn";
    let (mut app, smoke) = window::open_example(title, SIZE)?;
    app.add_plugins((TilePathPlugin::default(), board::plugin)).add_systems(Startup, set_up);
    if let Some(folder) = smoke {
        smoke::add_to(&mut app, &folder, STEPS)?;
    }
    Ok(window::run(app))
}

fn set_up(mut commands: Commands, mut grids: ResMut<NavGrids>, assets: Res<AssetServer>) -> Result {
    let profile = TERRAINS.into_iter().fold(Profile::new(), |profile, (letter, points, _)| {
        profile.with(TerrainId(letter), points * Profile::PLAIN_COST)
    });
    grids.set_profiles(vec![profile]);
    let letters: Vec<u8> = BOARD.iter().rev().flat_map(|row| row.bytes()).collect();
    let ground = |letter: u8| if letter.is_ascii_lowercase() { b'G' } else { letter };
    let terrain = letters.iter().map(|&letter| ground(letter)).collect();
    let grid = NavGrid::from_terrain(BOARD[0].len() as u32, BOARD.len() as u32, terrain)?;
    // In the middle of the window.
    let size = Vec2::new(BOARD[0].len() as f32, BOARD.len() as f32);
    let board = Board {
        frame: GridFrame::square((Vec2::ONE - size) * CELL / 2.0, Vec2::splat(CELL)),
        cell_size: CELL,
        shape: Handle::default(), // white
        shape_size: Vec2::splat(CELL),
    };
    for (cell, &letter) in grid.rect().cells().zip(&letters) {
        let at = |z: f32| Transform::from_translation(board.frame.cell_center(cell).extend(z));
        let (.., index) =
            TERRAINS[TERRAINS.iter().position(|it| it.0 == ground(letter)).unwrap_or(0)];
        commands.spawn((picture(assets.load("tiles.png"), 0, CELL), at(0.0)));
        commands.spawn((picture(assets.load("tiles.png"), index, CELL), at(0.1)));
        board::spawn_cell(&mut commands, (&board, &assets), (cell, letter));
    }
    grids.insert(GridId::default(), grid, board.frame);
    commands.insert_resource(board);
    commands.spawn((Camera2d, Msaa::Off));
    Ok(())
}
