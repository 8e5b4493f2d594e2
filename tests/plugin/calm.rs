//! After random acts on a world with everything in it, everything comes to an end: requests and groups.
//!
//! `TILEPATH_CALMS` sets the number of seeds (default 6), or one seed only: `=106`.

use std::collections::{BTreeMap, BTreeSet};

use bevy::{ecs::entity_disabling::Disabled, prelude::*};
use bevy_tilepath::{nav::crowd::UnitId, prelude::*};

use crate::snapshot_world::Game;

/// Ticks of random acts, and ticks after them within which everything must have ended.
const STORM: u32 = 300;
const CALM: u32 = 20_000;

/// How many requests each unit got, and how many ended.
#[derive(Resource, Default)]
struct RequestLog {
    started: BTreeMap<Entity, u32>,
    ended: BTreeMap<Entity, u32>,
    /// Units that have followed an entity, and arrived more than once; and those that the game has moved: these do not arrive.
    is_unclear: BTreeSet<Entity>,
}

type Movers = (Or<(With<Critter>, With<PathSteering>)>, Allow<Disabled>);

fn count_requests(app: &mut App) {
    let start = |event: On<Insert, PathRequest>,
                 mut log: ResMut<RequestLog>,
                 requests: Query<&PathRequest, Allow<Disabled>>| {
        *log.started.entry(event.entity).or_default() += 1;
        if requests.get(event.entity).is_ok_and(|request| request.follows) {
            log.is_unclear.insert(event.entity);
        }
    };
    fn end(mut log: ResMut<RequestLog>, unit: Entity) {
        *log.ended.entry(unit).or_default() += 1;
    }
    let found = |event: On<PathFound>, mut log: ResMut<RequestLog>, movers: Query<(), Movers>| {
        if movers.get(event.entity).is_err() {
            log.is_unclear.insert(event.entity);
        }
    };
    app.init_resource::<RequestLog>()
        .add_observer(start)
        .add_observer(found)
        .add_observer(|event: On<PathFailed>, log: ResMut<RequestLog>| end(log, event.entity))
        .add_observer(|event: On<PathCanceled>, log: ResMut<RequestLog>| end(log, event.entity))
        .add_observer(|event: On<Arrived>, log: ResMut<RequestLog>| end(log, event.entity));
}

/// Columns and rows around a large unit in which others may have to wait for good: edits have shut it in on their way.
const PLUGGED: u32 = 6;

/// What is known about a unit after a storm.
struct Look<'a> {
    world: &'a World,
    unit: Entity,
    status: PathStatus,
    /// Whether the plugin moves it.
    is_moved: bool,
}

impl<'a> Look<'a> {
    fn at(world: &'a World, unit: Entity) -> Option<Self> {
        let entity = world.get_entity(unit).ok()?;
        let status = *entity.get::<PathStatus>()?;
        // The game takes a steered unit across links.
        let is_steered = entity.contains::<PathSteering>();
        let is_moved = entity.contains::<Critter>()
            || is_steered && status != PathStatus::Walking(PathKind::ToLink);
        Some(Self { world, unit, status, is_moved })
    }

    /// Whether its request is still under way. One that is retried may be so for good.
    fn is_open(&self) -> bool {
        let request = self.world.get::<PathRequest>(self.unit);
        let is_retried = request.is_some_and(|request| request.retry.is_some());
        let waits = matches!(self.status, PathStatus::Waiting(_)) && is_retried;
        request.is_some() && self.status.is_under_way() && !waits
    }

    fn is_beside_large_unit(&self) -> bool {
        let place = |unit: Entity| {
            let entity = self.world.get_entity(unit).ok()?;
            let (agent, state) = (entity.get::<NavAgent>()?, entity.get::<CritterState>()?);
            Some((agent.grid, state.cell(), state.unit()?))
        };
        let Some((grid, cell, own)) = place(self.unit) else {
            return false;
        };
        let crowds: &Crowds = self.world.resource();
        let Some(crowd) = crowds.get(grid) else {
            return false;
        };
        let is_large = |&unit: &UnitId| crowd.size(unit).is_some_and(|size| size > 1);
        let large = crowd.units().filter(is_large).filter(|&unit| unit != own);
        let mut cells = large.filter_map(|unit| Some(place(crowds.entity(grid, unit)?)?.1));
        cells.any(|at| at.chebyshev(cell) <= PLUGGED)
    }

    /// Whether each of its requests has ended once, or is under way. Not known of those that arrive more than once, or never.
    fn adds_up(&self) -> bool {
        let log: &RequestLog = self.world.resource();
        let count = |counts: &BTreeMap<Entity, u32>| counts.get(&self.unit).copied().unwrap_or(0);
        let has_open = self.world.get::<PathRequest>(self.unit).is_some()
            && (self.status.is_under_way() || !self.is_moved);
        let is_known = self.is_moved && !log.is_unclear.contains(&self.unit);
        !is_known || count(&log.ended) + u32::from(has_open) == count(&log.started)
    }
}

/// What has not ended as it should.
fn unrest(game: &Game) -> Vec<String> {
    let world = game.app.world();
    let looks = game.units().iter().filter_map(|&unit| Look::at(world, unit));
    let restless = looks.filter(|look| {
        let goes_on = look.is_open() && look.is_moved && !look.is_beside_large_unit();
        goes_on || !look.adds_up()
    });
    let restless = restless.map(|look| format!("{} {:?}", look.unit, look.status));
    // A group whose members have all come to rest says so, and is gone if it is to go.
    let is_restless = |&&group: &&Entity| {
        let group = world.get_entity(group).ok().and_then(|group| group.get::<Group>());
        group.is_some_and(|group| {
            let mut members = group.members.iter().filter_map(|it| Look::at(world, it.entity));
            group.despawns && !group.request.follows && members.all(|look| !look.is_open())
        })
    };
    let groups = game.groups().iter().filter(is_restless).map(|group| format!("group {group}"));
    restless.chain(groups).collect()
}

#[test]
fn after_a_storm_everything_comes_to_an_end() {
    let seeds = std::env::var("TILEPATH_CALMS").unwrap_or("6".into());
    let (first, last) = match seeds.strip_prefix('=') {
        Some(only) => (only, only),
        None => ("1", seeds.as_str()),
    };
    let number = |text: &str| text.parse::<u64>().expect("a number");
    let mut faults = Vec::new();
    for seed in number(first)..=number(last) {
        let mut game = Game::empty();
        count_requests(&mut game.app);
        let mut game = game.fill(seed, 70);
        game.run(STORM);
        game.calm();
        let mut ticks = 0;
        while !unrest(&game).is_empty() && ticks < CALM {
            (0..100).for_each(|_| game.rest());
            ticks += 100;
        }
        let restless = unrest(&game);
        if !restless.is_empty() {
            faults.push(format!("seed {seed}: {}", restless.join(", ")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
