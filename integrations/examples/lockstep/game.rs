//! A small game for lockstep: each player has units, sends them about, and builds and tears down walls.

use std::{
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    time::SystemTime,
};

use bevy::{ecs::entity::EntityHashMap, prelude::*};
use bevy_replicon::prelude::*;
use bevy_replicon_renet::{
    RenetChannelsExt, RenetClient, RenetServer,
    netcode::{
        ClientAuthentication, NetcodeClientTransport, NetcodeServerTransport, ServerAuthentication,
        ServerConfig,
    },
    renet::ConnectionConfig,
};
use bevy_tilepath::prelude::*;
use serde::{Deserialize, Serialize};
use tilepath_integrations::lockstep::LockstepGame;

/// Cells along a side of the map.
pub const SIDE: u32 = 96;
/// Units in all.
pub const UNITS: u32 = 300;
const PROTOCOL: u64 = 0x7469_6c65;

/// What players do.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub enum Order {
    /// One unit goes somewhere.
    Go { unit: u32, to: Cell },
    /// Some go together.
    Gather { units: Vec<u32>, to: Cell },
    /// A wall is built, or torn down if one stands there.
    Wall { at: Cell },
}

/// The number of a unit: the same on all peers, unlike its entity.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitNumber(pub u32);

/// The units, by number, and the walls.
#[derive(Resource, Default, Serialize, Deserialize, Clone)]
pub struct Pieces {
    pub units: Vec<Entity>,
    pub walls: Vec<(Cell, Entity)>,
}

/// The rules.
pub struct Skirmish;

impl LockstepGame for Skirmish {
    type Order = Order;

    fn apply(world: &mut World, _player: u64, order: Order) {
        let pieces = world.resource::<Pieces>().clone();
        let entity = |unit: &u32| pieces.units.get(*unit as usize).copied();
        match order {
            Order::Go { unit, to } => {
                if let Some(unit) = entity(&unit) {
                    world.entity_mut(unit).insert(PathRequest::to(to).reach(Reach::Nearest));
                }
            }
            Order::Gather { units, to } => {
                let members: Vec<Entity> = units.iter().filter_map(entity).collect();
                world.spawn(Group::to(to, members));
            }
            Order::Wall { at } => {
                if let Some(index) = pieces.walls.iter().position(|wall| wall.0 == at) {
                    let (_, wall) = world.resource_mut::<Pieces>().walls.swap_remove(index);
                    world.entity_mut(wall).despawn();
                } else {
                    let map = CellRect::new(Cell::default(), SIDE, SIDE);
                    let wall = CellRect::new(at, 4, 1).intersection(map);
                    let wall = world.spawn(NavBlocker::at(wall)).id();
                    world.resource_mut::<Pieces>().walls.push((at, wall));
                }
            }
        }
    }

    fn save(world: &mut World) -> Vec<u8> {
        postcard::to_allocvec(world.resource::<Pieces>()).unwrap_or_default()
    }

    fn load(world: &mut World, bytes: &[u8], entities: &EntityHashMap<Entity>) {
        let Ok(Pieces { mut units, mut walls }) = postcard::from_bytes(bytes) else {
            return error!("the host plays another game");
        };
        let here = |entity: &mut Entity| entities.get(entity).map(|other| *entity = *other);
        units.retain_mut(|unit| here(unit).is_some());
        walls.retain_mut(|(_, wall)| here(wall).is_some());
        for (number, &unit) in (0..).zip(&units) {
            world.entity_mut(unit).insert(UnitNumber(number));
        }
        world.insert_resource(Pieces { units, walls });
    }
}

/// Fills the host's world.
pub fn fill(world: &mut World) -> Result {
    let mut grid = NavGrid::new(SIDE, SIDE, TerrainId::GROUND)?;
    let mut random = 12_345_u64;
    let mut below = move |bound: u32| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((random >> 33) % u64::from(bound)) as u32
    };
    let mut cell = || Cell::new(below(SIDE) as i32, below(SIDE) as i32);
    for _ in 0..SIDE * SIDE / 10 {
        grid.set_terrain(cell(), TerrainId::VOID)?;
    }
    world.resource_mut::<NavGrids>().insert(GridId::default(), grid, frame());
    let units = (0..UNITS).map(|number| {
        let place = frame().cell_center(cell()).extend(0.0);
        let unit = (UnitNumber(number), Critter::new(6.0), Transform::from_translation(place));
        world.spawn(unit).id()
    });
    let pieces = Pieces { units: units.collect(), walls: Vec::new() };
    world.insert_resource(pieces);
    Ok(())
}

/// Where the map is: in the middle of the window, 7 pixels a cell.
pub fn frame() -> GridFrame {
    GridFrame::square(Vec2::splat(-(SIDE as f32 - 1.0) * 3.5), Vec2::splat(7.0))
}

fn config(channels: &RepliconChannels) -> ConnectionConfig {
    ConnectionConfig {
        server_channels_config: channels.server_configs(),
        client_channels_config: channels.client_configs(),
        ..default()
    }
}

/// Lets other peers connect to a port of this machine; 0 for any. Returns the port.
pub fn listen(world: &mut World, port: u16) -> Result<u16> {
    let server = RenetServer::new(config(world.resource::<RepliconChannels>()));
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, port))?;
    let address = socket.local_addr()?;
    let config = ServerConfig {
        current_time: SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?,
        max_clients: 8,
        protocol_id: PROTOCOL,
        public_addresses: vec![address],
        authentication: ServerAuthentication::Unsecure,
    };
    world.insert_resource(NetcodeServerTransport::new(config, socket)?);
    world.insert_resource(server);
    Ok(address.port())
}

/// Connects to a host on this machine.
pub fn connect(world: &mut World, port: u16) -> Result {
    let client = RenetClient::new(config(world.resource::<RepliconChannels>()));
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    let authentication = ClientAuthentication::Unsecure {
        client_id: now.as_nanos() as u64,
        protocol_id: PROTOCOL,
        server_addr: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        user_data: None,
    };
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    world.insert_resource(NetcodeClientTransport::new(now, authentication, socket)?);
    world.insert_resource(client);
    Ok(())
}

/// A player who gives orders at random.
pub struct Bot(pub u64);

impl Bot {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
        ((self.0 >> 33) % u64::from(bound)) as u32
    }

    /// Returns its next order.
    pub fn order(&mut self) -> Order {
        let to = Cell::new(self.below(SIDE) as i32, self.below(SIDE) as i32);
        match self.below(10) {
            0 => Order::Wall { at: to },
            1 => {
                let first = self.below(UNITS);
                Order::Gather { units: (first..first + 4 + self.below(20)).collect(), to }
            }
            _ => Order::Go { unit: self.below(UNITS), to },
        }
    }
}
