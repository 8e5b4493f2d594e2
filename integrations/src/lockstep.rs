//! Lockstep over [bevy_replicon](https://docs.rs/bevy_replicon) and renet: peers send each other orders, not positions, and run the
//! same ticks with the same orders. A peer may join at any time: it gets a [`TilePathSnapshot`] and goes on from there.
//!
//! - One peer is the host. Every [`TICKS_PER_TURN`] ticks it collects the orders of all players into a *turn* and sends it to all. A
//!   peer runs a tick only when it has the turn that the tick belongs to; the host waits for peers that fall far behind; a game that does
//!   not want to wait disconnects them ([`Lockstep::clients`]).
//! - Every [`CHECKED_EVERY`] ticks the peers compare checksums. [`Lockstep::differences`] should stay empty.
//! - Replicon carries the messages, in order and reliably. Nothing is replicated.
//!
//! The game implements [`LockstepGame`], calls [`Lockstep::order`], and changes what bevy_tilepath knows (units, buildings, grids)
//! only in [`LockstepGame::apply`] or in systems of `FixedUpdate` that run in [`LockstepSystems::Tick`].

use std::collections::{BTreeMap, VecDeque};

use bevy::{ecs::entity::EntityHashMap, prelude::*, time::TimeSystems};
use bevy_replicon::prelude::*;
use bevy_tilepath::prelude::*;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// Ticks between two turns: an order takes as long until all carry it out, and the time of a message.
pub const TICKS_PER_TURN: u64 = 4;
/// Ticks between two checksums.
pub const CHECKED_EVERY: u64 = 64;
/// Ticks by which the host may be ahead of the last peer: two seconds.
const MAX_LEAD: u64 = 128;
/// Turns that a peer may have in store until it runs faster, to catch up.
const TURNS_IN_STORE: usize = 3;

/// What a game does with lockstep.
pub trait LockstepGame: Send + Sync + 'static {
    /// An order of a player. It names units by numbers of the game's own: entities differ from peer to peer.
    type Order: Serialize + DeserializeOwned + Clone + Send + Sync + 'static;

    /// Carries out an order, on all peers in the same tick and in the same sequence. The order may come from a player who cheats.
    fn apply(world: &mut World, player: u64, order: Self::Order);

    /// Returns what the game itself has to know of its entities, for a peer that joins.
    fn save(world: &mut World) -> Vec<u8>;

    /// Reads that, where bevy_tilepath has loaded its part: `entities` leads from those of the host to those of this world.
    fn load(world: &mut World, bytes: &[u8], entities: &EntityHashMap<Entity>);
}

/// The systems of a tick that runs only when all peers can run it.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockstepSystems {
    /// Those of bevy_tilepath and of the game.
    Tick,
}

/// Adds lockstep. Needs `RepliconPlugins`, a backend of it, and `TilePathPlugin` in its default schedule.
pub struct LockstepPlugin<G>(std::marker::PhantomData<G>);

impl<G> Default for LockstepPlugin<G> {
    fn default() -> Self {
        Self(std::marker::PhantomData)
    }
}

impl<G: LockstepGame> Plugin for LockstepPlugin<G> {
    fn build(&self, app: &mut App) {
        app.add_client_message::<Proposal<G::Order>>(Channel::Ordered)
            .add_client_message::<Report>(Channel::Ordered)
            .add_server_message::<Turn<G::Order>>(Channel::Ordered)
            .add_server_message::<Welcome>(Channel::Ordered)
            .make_message_independent::<Turn<G::Order>>()
            .make_message_independent::<Welcome>();
        app.configure_sets(FixedUpdate, TilePathSystems::All.in_set(LockstepSystems::Tick))
            .configure_sets(
                FixedUpdate,
                LockstepSystems::Tick.after(begin_tick::<G>).before(end_tick::<G>).run_if(
                    |lockstep: Option<Res<Lockstep<G>>>| {
                        lockstep.is_some_and(|lockstep| lockstep.runs)
                    },
                ),
            )
            .add_systems(First, keep_pace::<G>.before(TimeSystems))
            .add_systems(FixedUpdate, (begin_tick::<G>, end_tick::<G>))
            .add_systems(
                PreUpdate,
                (receive_as_host::<G>, receive_as_client::<G>)
                    .after(ServerSystems::Receive)
                    .after(ClientSystems::Receive),
            )
            .add_systems(PostUpdate, propose::<G>.before(ClientSystems::Send));
    }
}

/// From a client: orders of its player.
#[derive(Message, Serialize, Deserialize)]
struct Proposal<O: Send + Sync + 'static>(Vec<O>);

/// From a client: the ticks that it has run, and a checksum now and then.
#[derive(Message, Serialize, Deserialize)]
struct Report {
    ticks: u64,
    checksum: Option<u64>,
}

/// From the host: the orders of all players for a turn.
#[derive(Message, Serialize, Deserialize)]
struct Turn<O: Send + Sync + 'static> {
    number: u64,
    orders: Vec<(u64, O)>,
}

/// From the host, to a peer that joins: the world after so many ticks.
#[derive(Message, Serialize, Deserialize)]
struct Welcome {
    ticks: u64,
    plugin: Vec<u8>,
    game: Vec<u8>,
}

/// A tick after which a peer's checksum was another than the host's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The tick.
    pub tick: u64,
    /// The player whose world is another.
    pub player: u64,
}

/// The state of lockstep on a peer. Insert it to begin, as host or as client.
#[derive(Resource)]
pub struct Lockstep<G: LockstepGame> {
    ticks: u64,
    /// Whether the present tick runs.
    runs: bool,
    /// As how many times the real time the game runs. Default 1.
    pub speed: f32,
    own: Vec<G::Order>,
    turns: BTreeMap<u64, Vec<(u64, G::Order)>>,
    /// Checksums, by tick: of the host all, of a client its own.
    checksums: BTreeMap<u64, u64>,
    role: Role<G::Order>,
}

enum Role<O> {
    Host(Host<O>),
    /// With what it was sent when it joined, until that is loaded.
    Client {
        welcome: Option<Welcome>,
        has_joined: bool,
    },
}

struct Host<O> {
    proposals: VecDeque<(u64, O)>,
    /// Those that join at the next turn.
    newcomers: Vec<Entity>,
    clients: BTreeMap<Entity, Client>,
    players: u64,
    /// Checksums of clients for ticks that are not compared yet: clients may be a little ahead.
    reported: Vec<(Difference, u64)>,
    differences: Vec<Difference>,
    compared: u64,
}

/// A peer to which the host has sent its world.
struct Client {
    player: u64,
    /// The ticks of the world that it was sent.
    begins_at: u64,
    /// The ticks that it has run; `None` until it has loaded the world and run some.
    ticks: Option<u64>,
}

impl<G: LockstepGame> Lockstep<G> {
    /// As the host, whose player is number 0; the world is that of tick 0.
    pub fn host() -> Self {
        Self::new(Role::Host(Host {
            proposals: VecDeque::new(),
            newcomers: Vec::new(),
            clients: BTreeMap::new(),
            players: 1,
            reported: Vec::new(),
            differences: Vec::new(),
            compared: 0,
        }))
    }

    /// As a client, whose world is empty.
    pub fn client() -> Self {
        Self::new(Role::Client { welcome: None, has_joined: false })
    }

    fn new(role: Role<G::Order>) -> Self {
        let (own, turns, checksums) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        Self { ticks: 0, runs: false, speed: 1.0, own, turns, checksums, role }
    }

    /// Gives an order in the name of this peer's player.
    pub fn order(&mut self, order: G::Order) {
        self.own.push(order);
    }

    /// Returns how many ticks have been run.
    pub fn ticks(&self) -> u64 {
        self.ticks
    }

    /// Returns whether there is a world: a client has none before it has joined.
    pub fn has_begun(&self) -> bool {
        match &self.role {
            Role::Host(_) => true,
            Role::Client { has_joined, .. } => *has_joined,
        }
    }

    /// Returns the checksums of this peer, by tick.
    pub fn checksums(&self) -> &BTreeMap<u64, u64> {
        &self.checksums
    }

    /// On the host: where peers had other checksums, and how many checksums were compared.
    pub fn differences(&self) -> (&[Difference], u64) {
        match &self.role {
            Role::Host(host) => (&host.differences, host.compared),
            Role::Client { .. } => (&[], 0),
        }
    }

    /// On the host: the clients that have joined, and the ticks that each has run.
    pub fn clients(&self) -> Vec<(Entity, u64)> {
        match &self.role {
            Role::Host(host) => host.running().collect(),
            Role::Client { .. } => Vec::new(),
        }
    }
}

impl<O> Host<O> {
    /// Returns the clients that have loaded the world, and the ticks that they have run.
    fn running(&self) -> impl Iterator<Item = (Entity, u64)> {
        self.clients.iter().filter_map(|(&entity, client)| Some((entity, client.ticks?)))
    }

    /// Notes what a client reports, which may be anything. It is less than a turn ahead at most: it has no orders for more.
    fn note(&mut self, client: Entity, report: &Report, now: u64) {
        let Some(client) = self.clients.get_mut(&client) else {
            return;
        };
        let is_possible = report.ticks <= now + TICKS_PER_TURN;
        if is_possible && client.ticks.unwrap_or(client.begins_at) < report.ticks {
            client.ticks = Some(report.ticks);
            let at = Difference { tick: report.ticks, player: client.player };
            let checksum = report.checksum.filter(|_| at.tick.is_multiple_of(CHECKED_EVERY));
            self.reported.extend(checksum.map(|checksum| (at, checksum)));
        }
    }
}

/// Clients that have turns in store catch up.
fn keep_pace<G: LockstepGame>(lockstep: Option<Res<Lockstep<G>>>, mut time: ResMut<Time<Virtual>>) {
    if let Some(lockstep) = lockstep {
        let is_behind = lockstep.turns.len() > TURNS_IN_STORE;
        time.set_relative_speed(lockstep.speed * if is_behind { 2.0 } else { 1.0 });
    }
}

/// Begins a tick, if it can be run.
fn begin_tick<G: LockstepGame>(world: &mut World) {
    let Some(mut lockstep) = world.remove_resource::<Lockstep<G>>() else {
        return;
    };
    join(&mut lockstep, world);
    lockstep.runs = lockstep.has_begun() && lockstep.begin(world);
    world.insert_resource(lockstep);
}

impl<G: LockstepGame> Lockstep<G> {
    fn begin(&mut self, world: &mut World) -> bool {
        if !self.ticks.is_multiple_of(TICKS_PER_TURN) {
            return true;
        }
        let number = self.ticks / TICKS_PER_TURN;
        if let Role::Host(host) = &mut self.role {
            if host.running().any(|(_, ticks)| ticks + MAX_LEAD < self.ticks) {
                return false;
            }
            for client in std::mem::take(&mut host.newcomers) {
                host.clients.insert(
                    client,
                    Client { player: host.players, begins_at: self.ticks, ticks: None },
                );
                host.players += 1;
                welcome::<G>(world, client, self.ticks);
            }
            let mut orders: Vec<(u64, G::Order)> = host.proposals.drain(..).collect();
            orders.extend(self.own.drain(..).map(|order| (0, order)));
            let message = Turn { number, orders: orders.clone() };
            world.write_message(ToClients { targets: SendTargets::CLIENTS_ONLY, message });
            self.turns.insert(number, orders);
        }
        let Some(orders) = self.turns.remove(&number) else {
            return false;
        };
        for (player, order) in orders {
            G::apply(world, player, order);
        }
        true
    }
}

/// Sends a peer that joins the world as it is.
fn welcome<G: LockstepGame>(world: &mut World, client: Entity, ticks: u64) {
    let snapshot = match TilePathSnapshot::take(world) {
        Ok(snapshot) => snapshot.to_bytes(),
        Err(error) => return error!("no peer can join: {error}"),
    };
    let message = Welcome { ticks, plugin: snapshot, game: G::save(world) };
    let targets = SendTargets::Single(ClientId::Client(client));
    world.write_message(ToClients { targets, message });
}

/// Loads the world that the host has sent.
fn join<G: LockstepGame>(lockstep: &mut Lockstep<G>, world: &mut World) {
    let Role::Client { welcome, has_joined } = &mut lockstep.role else {
        return;
    };
    let Some(Welcome { ticks, plugin, game }) = welcome.take() else {
        return;
    };
    let mut entities = EntityHashMap::default();
    let loaded = TilePathSnapshot::from_bytes(&plugin)
        .and_then(|snapshot| snapshot.load(world, &mut entities));
    if let Err(error) = loaded {
        return error!("this peer cannot join: {error}");
    }
    G::load(world, &game, &entities);
    *has_joined = true;
    lockstep.ticks = ticks;
    lockstep.turns.retain(|&number, _| number >= ticks / TICKS_PER_TURN);
}

/// Counts the tick, and looks whether the world is that of the others.
fn end_tick<G: LockstepGame>(world: &mut World) {
    if !world.get_resource::<Lockstep<G>>().is_some_and(|lockstep| lockstep.runs) {
        return;
    }
    let ticks = world.resource::<Lockstep<G>>().ticks + 1;
    let checksum = ticks.is_multiple_of(CHECKED_EVERY).then(|| state_checksum(world));
    let mut lockstep = world.resource_mut::<Lockstep<G>>();
    lockstep.ticks = ticks;
    lockstep.checksums.extend(checksum.map(|checksum| (ticks, checksum)));
    let is_client = matches!(lockstep.role, Role::Client { .. });
    if is_client && (checksum.is_some() || ticks.is_multiple_of(TICKS_PER_TURN)) {
        world.write_message(Report { ticks, checksum });
    }
}

fn receive_as_host<G: LockstepGame>(
    lockstep: Option<ResMut<Lockstep<G>>>,
    mut proposals: MessageReader<FromClient<Proposal<G::Order>>>,
    mut reports: MessageReader<FromClient<Report>>,
    joined: Query<Entity, Added<AuthorizedClient>>,
    present: Query<(), With<AuthorizedClient>>,
) {
    let Some(lockstep) = lockstep.map(ResMut::into_inner) else {
        return;
    };
    let Role::Host(host) = &mut lockstep.role else {
        return;
    };
    let now = lockstep.ticks;
    host.newcomers.extend(&joined);
    host.newcomers.retain(|&client| present.contains(client));
    host.clients.retain(|&client, _| present.contains(client));
    for FromClient { client_id, message } in proposals.read() {
        let client = client_id.entity().and_then(|client| host.clients.get(&client));
        if let Some(&Client { player, .. }) = client {
            host.proposals.extend(message.0.iter().map(|order| (player, order.clone())));
        }
    }
    for FromClient { client_id, message } in reports.read() {
        client_id.entity().into_iter().for_each(|client| host.note(client, message, now));
    }
    let own = &lockstep.checksums;
    for (at, checksum) in host.reported.extract_if(.., |(at, _)| at.tick <= now) {
        host.compared += 1;
        host.differences.extend((own.get(&at.tick) != Some(&checksum)).then_some(at));
    }
}

fn receive_as_client<G: LockstepGame>(
    lockstep: Option<ResMut<Lockstep<G>>>,
    mut turns: ResMut<Messages<Turn<G::Order>>>,
    mut welcomes: ResMut<Messages<Welcome>>,
) {
    let Some(lockstep) = lockstep.map(ResMut::into_inner) else {
        return;
    };
    if let Role::Client { welcome, .. } = &mut lockstep.role {
        lockstep.turns.extend(turns.drain().map(|turn| (turn.number, turn.orders)));
        *welcome = welcomes.drain().last().or(welcome.take());
    }
}

/// Sends the orders of a client's player to the host.
fn propose<G: LockstepGame>(
    lockstep: Option<ResMut<Lockstep<G>>>,
    mut proposals: MessageWriter<Proposal<G::Order>>,
) {
    if let Some(mut lockstep) = lockstep
        && matches!(lockstep.role, Role::Client { .. })
        && !lockstep.own.is_empty()
    {
        proposals.write(Proposal(std::mem::take(&mut lockstep.own)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_a_client_that_cheats_change_nothing() {
        let mut lockstep = Lockstep::<NoGame>::host();
        let Role::Host(host) = &mut lockstep.role else {
            panic!("this is the host");
        };
        let client = Entity::from_raw_u32(7).expect("a small number");
        let note = |host: &mut Host<()>, ticks| {
            host.note(client, &Report { ticks, checksum: Some(1) }, 640);
        };
        note(host, 640);
        host.clients.insert(client, Client { player: 1, begins_at: 600, ticks: None });
        for ticks in [u64::MAX, u64::MAX - 1, 640 + TICKS_PER_TURN + 1, 600, 64] {
            note(host, ticks);
        }
        assert_eq!((host.running().count(), host.reported.len()), (0, 0));
        for ticks in [604, 604, 640, 640, 576, 644] {
            note(host, ticks);
        }
        assert_eq!((host.running().collect(), host.reported.len()), (vec![(client, 644)], 1));
    }

    struct NoGame;

    impl LockstepGame for NoGame {
        type Order = ();
        fn apply(_: &mut World, _: u64, (): ()) {}
        fn save(_: &mut World) -> Vec<u8> {
            Vec::new()
        }
        fn load(_: &mut World, _: &[u8], _: &EntityHashMap<Entity>) {}
    }
}
