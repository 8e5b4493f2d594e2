//! The scripted match: a game without a player.
//!
//! Input: a seed. Output: orders of every type for squads (see
//! [`squad_orders`](crate::squad_orders)), and walls that are built across the paths of moving
//! critters and removed again. Orders and walls go through the same [`Dispatcher`] and
//! [`WallEditor`] as the player's, in fixed ticks, so the same seed gives the same match.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    cli::Options,
    game::TickCount,
    orders::Dispatcher,
    squad_orders::{ScriptView, Squad, form_squads, order_squad},
    units::Unit,
    walls::WallEditor,
};

/// Ticks from one wave of orders to the next.
const WAVE: u64 = 480;
/// Ticks from one wall to the next.
const WALL_EVERY: u64 = 24;
/// Most walls at the same time.
const MOST_WALLS: usize = 12;
/// Distance from a moving critter to the wall built across its path, in cells.
const WALL_DISTANCE: usize = 6;

/// Runs the match.
pub struct ScriptPlugin;

impl Plugin for ScriptPlugin {
    fn build(&self, app: &mut App) {
        let random = Random(app.world().resource::<Options>().seed);
        app.insert_resource(Script { random, squads: Vec::new(), walls: VecDeque::new() })
            .add_systems(
                FixedUpdate,
                (order_squads, build_walls).chain().before(TilePathSystems::SyncGrid),
            );
    }
}

#[derive(Resource)]
struct Script {
    random: Random,
    squads: Vec<Squad>,
    /// Cells of the standing walls, oldest first.
    walls: VecDeque<Vec<Cell>>,
}

/// Pseudorandom numbers (SplitMix64): the same on every machine.
pub struct Random(u64);

impl Random {
    /// Returns a number from 0 to `end - 1`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (bits ^ (bits >> 31)) % end.max(1)
    }

    /// Returns a number from `-reach` to `reach`.
    pub fn offset(&mut self, reach: u64) -> i32 {
        self.below(2 * reach + 1) as i32 - reach as i32
    }

    /// Returns one of several items; `None` if there are none.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        let index = self.below(items.len() as u64) as usize;
        items.get(index).copied()
    }
}

/// Gives each squad an order once per wave, of another type each time.
fn order_squads(
    mut script: ResMut<Script>,
    mut dispatcher: Dispatcher,
    tick: Res<TickCount>,
    view: ScriptView,
) {
    if !view.is_ready() {
        return; // the tilemap is read in the first tick
    }
    let Script { random, squads, .. } = &mut *script;
    if squads.is_empty() {
        *squads = form_squads(&view);
    }
    let pace = (WAVE / squads.len().max(1) as u64).max(1);
    for index in 0..squads.len() {
        if tick.0 % WAVE == index as u64 * pace % WAVE {
            let round = (tick.0 / WAVE) as usize;
            order_squad(squads, (index, round), random, &view, &mut dispatcher);
        }
    }
}

/// Builds a wall across a critter's path, and removes the oldest wall.
fn build_walls(
    mut script: ResMut<Script>,
    mut editor: WallEditor,
    tick: Res<TickCount>,
    walkers: Query<(&Unit, &CritterState, &NavPath)>,
) {
    if !tick.0.is_multiple_of(WALL_EVERY) {
        return;
    }
    let mut ahead: Vec<_> = walkers
        .iter()
        .filter(|(_, state, path)| state.walk().has_path_left(path))
        .filter_map(|(unit, state, path)| {
            Some((unit.number, state.walk().cells_ahead(path).nth(WALL_DISTANCE)?))
        })
        .collect();
    ahead.sort_unstable();
    let script = &mut *script;
    if let Some((_, center)) = script.random.pick(&ahead) {
        let is_upright = script.random.below(2) == 0;
        let (dx, dy) = if is_upright { (0, 1) } else { (1, 0) };
        let cells = (-2..=2).map(|step| center.offset(dx * step, dy * step));
        script.walls.push_back(cells.filter(|&cell| editor.build(cell)).collect());
    }
    if script.walls.len() > MOST_WALLS {
        let oldest = script.walls.pop_front().unwrap_or_default();
        for cell in oldest {
            editor.remove(cell);
        }
    }
}
