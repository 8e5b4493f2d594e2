//! What the squads of the scripted match are told.
//!
//! Input: squads, whose turn it is, chance. Output: orders of every sort: in formation and loose,
//! one after the other, patrols, pursuits, attacks, visits and pauses. No squad can do everything:
//! boats that are to visit a house show what becomes of orders for which there is no way.

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_tilepath::prelude::*;

use crate::{
    buildings::{BuildingKind, Buildings},
    kinds::Kind,
    map::GameMap,
    orders::Dispatcher,
    script::Chance,
    task::Task,
    units::{Unit, cell_of},
};

/// Critters that are ordered together.
const SQUAD: usize = 20;
/// Farthest goal, in cells along each axis.
const REACH: u64 = 40;
/// Who is ordered together.
const ARMS: [&[Kind]; 3] =
    [&[Kind::Runner, Kind::Trooper, Kind::Tank], &[Kind::Boat], &[Kind::Hovercraft]];

/// Critters that are ordered together: their first one, of which everything is judged, leads.
#[derive(Clone, Debug)]
pub struct Squad {
    leader: Entity,
    kind: Kind,
    members: Vec<Entity>,
}

/// What the script looks at.
#[derive(SystemParam)]
pub struct Field<'w, 's> {
    grids: Res<'w, NavGrids>,
    map: Res<'w, GameMap>,
    buildings: Res<'w, Buildings>,
    units: Query<'w, 's, (Entity, &'static Unit, &'static CritterState, &'static Transform)>,
}

impl Field<'_, '_> {
    /// Whether the tilemap has been read.
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

    /// A cell not too far from `from` that a critter of `kind` can walk to.
    fn goal(&self, chance: &mut Chance, kind: Kind, from: Cell) -> Option<Cell> {
        (0..64)
            .map(|_| from.offset(chance.around(REACH), chance.around(REACH)))
            .find(|&goal| self.can_reach(kind, from, goal))
    }

    /// One of the buildings of a kind.
    fn building(&self, chance: &mut Chance, kind: BuildingKind) -> Option<Entity> {
        let all = self.buildings.iter().filter(|(_, building)| building.kind == kind);
        chance.pick(&all.map(|(entity, _)| entity).collect::<Vec<_>>())
    }
}

/// Parts all critters into squads: those on land mixed, the others by kind.
pub fn muster(field: &Field) -> Vec<Squad> {
    let mut all: Vec<_> = field.units.iter().map(|(entity, unit, ..)| (*unit, entity)).collect();
    all.sort_unstable_by_key(|(unit, _)| unit.number);
    let mut squads = Vec::new();
    for kinds in ARMS {
        let arm: Vec<_> = all.iter().filter(|(unit, _)| kinds.contains(&unit.kind)).collect();
        let count = arm.len().div_ceil(SQUAD);
        squads.extend((0..count).map(|first| Squad {
            leader: arm[first].1,
            kind: arm[first].0.kind,
            members: arm.iter().skip(first).step_by(count).map(|(_, entity)| *entity).collect(),
        }));
    }
    squads
}

/// Gives squad number `index` what it is to do in its `round`.
pub fn give_duty(
    squads: &[Squad],
    (index, round): (usize, usize),
    chance: &mut Chance,
    field: &Field,
    dispatcher: &mut Dispatcher,
) {
    let Squad { leader, kind, members } = &squads[index];
    let Some(from) = field.cell(*leader) else {
        return;
    };
    dispatcher.drill.turn(1);
    dispatcher.drill.keeps_together = chance.below(2) == 0;
    let goal = field.goal(chance, *kind, from);
    let tasks = match (index + round) % 6 {
        0 => vec![goal.map(Task::Move)],
        1 => vec![goal.map(Task::Patrol)],
        2 => {
            let next = goal.and_then(|goal| field.goal(chance, *kind, goal));
            vec![goal.map(Task::Move), next.map(Task::Move)]
        }
        3 => vec![field.building(chance, BuildingKind::Dummy).map(Task::Attack)],
        4 => vec![friend(squads, index, from, field).map(Task::Follow)],
        _ => {
            let house = field.building(chance, BuildingKind::Depot);
            vec![house.map(Task::Visit), Some(Task::Hold), goal.map(Task::Move)]
        }
    };
    for (place, task) in tasks.into_iter().flatten().enumerate() {
        dispatcher.give(members, task, place > 0);
    }
}

/// The leader of the next squad that this one can get to.
fn friend(squads: &[Squad], index: usize, from: Cell, field: &Field) -> Option<Entity> {
    let others = (1..squads.len()).map(|step| &squads[(index + step) % squads.len()]);
    others.map(|squad| squad.leader).find(|&leader| {
        field.cell(leader).is_some_and(|cell| field.can_reach(squads[index].kind, from, cell))
    })
}
