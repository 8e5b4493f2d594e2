//! The orders of the squads in the scripted match.
//!
//! Input: squads, the index of one of them, random numbers. Output: orders of every type: in
//! formation and loose, queued, patrols, pursuits, attacks, visits and pauses. Some are impossible:
//! boats that are ordered to a house test orders without a path.

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_tilepath::prelude::*;

use crate::{
    buildings::{BuildingKind, Buildings},
    kinds::Kind,
    map::GameMap,
    orders::Dispatcher,
    script::Random,
    task::Task,
    units::{Unit, cell_of},
};

/// Size of a squad.
const SQUAD: usize = 20;
/// Farthest goal, in cells along each axis.
const REACH: u64 = 40;
/// Kinds that share squads.
const SQUAD_KINDS: [&[Kind]; 3] =
    [&[Kind::Runner, Kind::Trooper, Kind::Tank], &[Kind::Boat], &[Kind::Hovercraft]];

/// Critters that are ordered together. The goals of all are chosen for the leader, the first one.
#[derive(Clone, Debug)]
pub struct Squad {
    leader: Entity,
    kind: Kind,
    members: Vec<Entity>,
}

/// The game state that the script reads.
#[derive(SystemParam)]
pub struct ScriptView<'w, 's> {
    grids: Res<'w, NavGrids>,
    map: Res<'w, GameMap>,
    buildings: Res<'w, Buildings>,
    units: Query<'w, 's, (Entity, &'static Unit, &'static CritterState, &'static Transform)>,
}

impl ScriptView<'_, '_> {
    /// Returns whether the tilemap has been read.
    pub fn is_ready(&self) -> bool {
        self.grids.get(GridId::default()).is_some()
    }

    fn cell(&self, unit: Entity) -> Option<Cell> {
        let (_, unit, state, transform) = self.units.get(unit).ok()?;
        cell_of(unit.kind, state, transform, &self.map.frame)
    }

    fn can_reach(&self, kind: Kind, from: Cell, to: Cell) -> bool {
        let grid = self.grids.get(GridId::default());
        grid.is_some_and(|grid| grid.can_reach(kind.profile(), from, to))
    }

    /// Returns a random cell near `from` that a critter of `kind` can reach.
    fn goal(&self, random: &mut Random, kind: Kind, from: Cell) -> Option<Cell> {
        (0..64)
            .map(|_| from.offset(random.offset(REACH), random.offset(REACH)))
            .find(|&goal| self.can_reach(kind, from, goal))
    }

    /// Returns a random building of a kind.
    fn building(&self, random: &mut Random, kind: BuildingKind) -> Option<Entity> {
        let all = self.buildings.iter().filter(|(_, building)| building.kind == kind);
        random.pick(&all.map(|(entity, _)| entity).collect::<Vec<_>>())
    }
}

/// Divides all critters into squads: land kinds mixed, the others by kind.
pub fn form_squads(view: &ScriptView) -> Vec<Squad> {
    let mut all: Vec<_> = view.units.iter().map(|(entity, unit, ..)| (*unit, entity)).collect();
    all.sort_unstable_by_key(|(unit, _)| unit.number);
    let mut squads = Vec::new();
    for kinds in SQUAD_KINDS {
        let pool: Vec<_> = all.iter().filter(|(unit, _)| kinds.contains(&unit.kind)).collect();
        let count = pool.len().div_ceil(SQUAD);
        squads.extend((0..count).map(|first| Squad {
            leader: pool[first].1,
            kind: pool[first].0.kind,
            members: pool.iter().skip(first).step_by(count).map(|(_, entity)| *entity).collect(),
        }));
    }
    squads
}

/// Gives squad number `index` its orders of a round.
pub fn order_squad(
    squads: &[Squad],
    (index, round): (usize, usize),
    random: &mut Random,
    view: &ScriptView,
    dispatcher: &mut Dispatcher,
) {
    let Squad { leader, kind, members } = &squads[index];
    let Some(from) = view.cell(*leader) else {
        return;
    };
    dispatcher.group_settings.next_formation();
    dispatcher.group_settings.keeps_together = random.below(2) == 0;
    let goal = view.goal(random, *kind, from);
    let tasks = match (index + round) % 6 {
        0 => vec![goal.map(Task::Move)],
        1 => vec![goal.map(Task::Patrol)],
        2 => {
            let next = goal.and_then(|goal| view.goal(random, *kind, goal));
            vec![goal.map(Task::Move), next.map(Task::Move)]
        }
        3 => vec![view.building(random, BuildingKind::Dummy).map(Task::Attack)],
        4 => vec![friend(squads, index, from, view).map(Task::Follow)],
        _ => {
            let house = view.building(random, BuildingKind::Depot);
            vec![house.map(Task::Visit), Some(Task::Hold), goal.map(Task::Move)]
        }
    };
    for (position, task) in tasks.into_iter().flatten().enumerate() {
        dispatcher.give(members, task, position > 0);
    }
}

/// Returns the leader of the next squad that this squad's leader can reach.
fn friend(squads: &[Squad], index: usize, from: Cell, view: &ScriptView) -> Option<Entity> {
    let others = (1..squads.len()).map(|step| &squads[(index + step) % squads.len()]);
    others.map(|squad| squad.leader).find(|&leader| {
        view.cell(leader).is_some_and(|cell| view.can_reach(squads[index].kind, from, cell))
    })
}
