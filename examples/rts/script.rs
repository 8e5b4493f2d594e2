//! The scripted match: what a game without a player consists of.
//!
//! Input: a seed. Output: squads sent around the map in waves, some with a second goal in their
//! queue, and walls built across the ways of those who walk and removed again. All of it goes
//! through the same [`Dispatcher`] and [`Mason`] as a player's orders, tick by tick, so the same
//! seed gives the same match.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    cli::Options,
    game::TickCount,
    kinds::Kind,
    map::GameMap,
    orders::Dispatcher,
    placement::island_of,
    units::{Unit, cell_of},
    walls::Mason,
};

/// Critters of one kind that are ordered together.
const SQUAD: usize = 20;
/// Ticks from one wave of orders to the next.
const WAVE: u64 = 480;
/// Farthest goal, in cells along each axis.
const REACH: u64 = 40;
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
        let seed = app.world().resource::<Options>().seed;
        app.insert_resource(Script { chance: Chance(seed), walls: VecDeque::new() }).add_systems(
            FixedUpdate,
            (order_squads, build_walls).chain().before(TilePathSystems::SyncGrid),
        );
    }
}

#[derive(Resource)]
struct Script {
    chance: Chance,
    /// Cells of the walls that stand, oldest first.
    walls: VecDeque<Vec<Cell>>,
}

/// Pseudorandom numbers (SplitMix64): the same on every machine.
struct Chance(u64);

impl Chance {
    /// A number from 0 to below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (bits ^ (bits >> 31)) % end.max(1)
    }

    /// A number from `-reach` to `reach`.
    fn around(&mut self, reach: u64) -> i32 {
        self.below(2 * reach + 1) as i32 - reach as i32
    }
}

/// Sends one squad after the other, each once a wave.
fn order_squads(
    mut script: ResMut<Script>,
    mut dispatcher: Dispatcher,
    tick: Res<TickCount>,
    grids: Res<NavGrids>,
    map: Res<GameMap>,
    units: Query<(Entity, &Unit, &CritterState, &Transform)>,
) {
    let Some(grid) = grids.get(GridId::default()) else {
        return; // the tilemap is read in the first tick
    };
    let mut all: Vec<_> = units.iter().map(|(entity, unit, ..)| (*unit, entity)).collect();
    all.sort_unstable_by_key(|(unit, _)| (unit.kind, unit.number));
    let squads: Vec<_> =
        all.chunk_by(|a, b| a.0.kind == b.0.kind).flat_map(|kind| kind.chunks(SQUAD)).collect();
    let pace = (WAVE / squads.len().max(1) as u64).max(1);
    for (index, squad) in squads.into_iter().enumerate() {
        let (leader, entity) = squad[0];
        let is_turn = tick.0 % WAVE == index as u64 * pace % WAVE;
        let Some((.., state, transform)) = units.get(entity).ok().filter(|_| is_turn) else {
            continue;
        };
        let members: Vec<_> = squad.iter().map(|&(_, entity)| entity).collect();
        let mut from = cell_of(state, transform, &map.frame);
        for queued in [false, true] {
            let goal = from.and_then(|from| pick_goal(&mut script.chance, grid, leader.kind, from));
            if let Some(goal) = goal {
                dispatcher.send(&members, goal, queued);
            }
            from = goal.filter(|_| script.chance.below(3) == 0);
        }
    }
}

/// A cell not too far from `from` that a critter of `kind` can walk to.
fn pick_goal(chance: &mut Chance, grid: &NavGrid, kind: Kind, from: Cell) -> Option<Cell> {
    let island = island_of(grid, kind.profile(), from)?;
    (0..64)
        .map(|_| from.offset(chance.around(REACH), chance.around(REACH)))
        .find(|&goal| island_of(grid, kind.profile(), goal) == Some(island))
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
        .filter(|(_, state, path)| state.walk().has_way_left(path))
        .filter_map(|(unit, state, path)| {
            Some((unit.number, state.walk().cells_ahead(path).nth(AHEAD)?))
        })
        .collect();
    ahead.sort_unstable();
    let pick = script.chance.below(ahead.len() as u64) as usize;
    if let Some(&(_, center)) = ahead.get(pick) {
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
