//! The scripted match: what a game without a player consists of.
//!
//! Input: a seed. Output: squads that are given one order after the other, of every sort there is
//! (see [`duties`](crate::duties)), and walls built across the ways of those who walk and removed
//! again. All of it goes through the same [`Dispatcher`] and [`Mason`] as a player's orders, tick
//! by tick, so the same seed gives the same match.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    cli::Options,
    duties::{Field, Squad, give_duty, muster},
    game::TickCount,
    orders::Dispatcher,
    units::Unit,
    walls::Mason,
};

/// Ticks from one wave of orders to the next.
const WAVE: u64 = 480;
/// Ticks from one wall to the next.
const WALL_EVERY: u64 = 24;
/// Walls standing at a time.
const MOST_WALLS: usize = 12;
/// How far ahead of a walking critter a wall is built, in cells.
const AHEAD: usize = 6;

/// Plays the match.
pub struct ScriptPlugin;

impl Plugin for ScriptPlugin {
    fn build(&self, app: &mut App) {
        let chance = Chance(app.world().resource::<Options>().seed);
        app.insert_resource(Script { chance, squads: Vec::new(), walls: VecDeque::new() })
            .add_systems(
                FixedUpdate,
                (order_squads, build_walls).chain().before(TilePathSystems::SyncGrid),
            );
    }
}

#[derive(Resource)]
struct Script {
    chance: Chance,
    squads: Vec<Squad>,
    /// Cells of the walls that stand, oldest first.
    walls: VecDeque<Vec<Cell>>,
}

/// Pseudorandom numbers (SplitMix64): the same on every machine.
pub struct Chance(u64);

impl Chance {
    /// A number from 0 to below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (bits ^ (bits >> 31)) % end.max(1)
    }

    /// A number from `-reach` to `reach`.
    pub fn around(&mut self, reach: u64) -> i32 {
        self.below(2 * reach + 1) as i32 - reach as i32
    }

    /// One of several things; `None` where there is nothing.
    pub fn pick<T: Copy>(&mut self, things: &[T]) -> Option<T> {
        let index = self.below(things.len() as u64) as usize;
        things.get(index).copied()
    }
}

/// Gives one squad after the other its duty, each once a wave, and each time another.
fn order_squads(
    mut script: ResMut<Script>,
    mut dispatcher: Dispatcher,
    tick: Res<TickCount>,
    field: Field,
) {
    if !field.is_ready() {
        return; // the tilemap is read in the first tick
    }
    let Script { chance, squads, .. } = &mut *script;
    if squads.is_empty() {
        *squads = muster(&field);
    }
    let pace = (WAVE / squads.len().max(1) as u64).max(1);
    for index in 0..squads.len() {
        if tick.0 % WAVE == index as u64 * pace % WAVE {
            let round = (tick.0 / WAVE) as usize;
            give_duty(squads, (index, round), chance, &field, &mut dispatcher);
        }
    }
}

/// Builds a wall across some critter's way, and removes the oldest one.
fn build_walls(
    mut script: ResMut<Script>,
    mut mason: Mason,
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
            Some((unit.number, state.walk().cells_ahead(path).nth(AHEAD)?))
        })
        .collect();
    ahead.sort_unstable();
    let script = &mut *script;
    if let Some((_, center)) = script.chance.pick(&ahead) {
        let is_upright = script.chance.below(2) == 0;
        let (dx, dy) = if is_upright { (0, 1) } else { (1, 0) };
        let cells = (-2..=2).map(|step| center.offset(dx * step, dy * step));
        script.walls.push_back(cells.filter(|&cell| mason.build(cell)).collect());
    }
    if script.walls.len() > MOST_WALLS {
        let oldest = script.walls.pop_front().unwrap_or_default();
        for cell in oldest {
            mason.remove(cell);
        }
    }
}
