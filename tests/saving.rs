//! Snapshots as bytes, and public data with serde.

#![allow(clippy::unwrap_used, reason = "a test whose setup fails should fail")]

mod common;
mod snapshot_world;

use bevy::{ecs::entity::EntityHashMap, prelude::*};
use bevy_tilepath::prelude::*;
use common::Random;
use serde::{Serialize, de::DeserializeOwned};
use snapshot_world::{Game, compare};

/// Loads a snapshot into a world of its own, as a second process would, and plays on there.
fn continue_from(bytes: &[u8], game: &Game) -> Game {
    let snapshot = TilePathSnapshot::from_bytes(bytes).unwrap();
    let mut other = Game::empty();
    other.side = game.side;
    other.app.world_mut().spawn_empty();
    let mut map = EntityHashMap::default();
    snapshot.load(other.app.world_mut(), &mut map).unwrap();
    other.follow(game.clone_script(), &map);
    other
}

/// 500 units that walk, wait, are in groups or have queues, and searches in flight.
#[test]
fn a_saved_game_goes_on_as_before() {
    let mut busy = 0;
    for seed in 5..9 {
        let mut game = Game::large(seed);
        game.run(200);
        busy += u32::from(game.is_busy());
        let bytes = TilePathSnapshot::take(game.app.world_mut()).unwrap().to_bytes();
        let mut other = continue_from(&bytes, &game);
        compare(&game.run(400), &other.run(400), &format!("seed {seed}"));
    }
    assert!(busy >= 2, "only {busy} worlds had everything in them");
}

/// Also from one save to the next, and at any tick.
#[test]
fn small_games_are_saved_at_any_tick() {
    for seed in 100..112 {
        let mut game = Game::new(seed);
        game.run(10 + 9 * (seed as u32 - 100));
        for time in 0..3 {
            let bytes = TilePathSnapshot::take(game.app.world_mut()).unwrap().to_bytes();
            let mut other = continue_from(&bytes, &game);
            compare(&game.run(40), &other.run(40), &format!("seed {seed}, time {time}"));
            game = other;
        }
    }
}

#[test]
fn what_is_read_is_what_was_written() {
    let mut game = Game::new(9);
    game.run(120);
    let snapshot = TilePathSnapshot::take(game.app.world_mut()).unwrap();
    let bytes = snapshot.to_bytes();
    assert_eq!(TilePathSnapshot::from_bytes(&bytes).unwrap().to_bytes(), bytes);
    assert_eq!(TilePathSnapshot::take(game.app.world_mut()).unwrap().to_bytes(), bytes);
    let text = ron::to_string(&snapshot).unwrap();
    let read: TilePathSnapshot = ron::from_str(&text).unwrap();
    assert_eq!(read.to_bytes(), bytes);
    let packed = postcard::to_allocvec(&snapshot).unwrap();
    let read: TilePathSnapshot = postcard::from_bytes(&packed).unwrap();
    assert_eq!(read.to_bytes(), bytes);
}

#[test]
fn damaged_files_are_refused() {
    let mut game = Game::new(4);
    game.run(60);
    let bytes = TilePathSnapshot::take(game.app.world_mut()).unwrap().to_bytes();
    let read = |bytes: &[u8]| TilePathSnapshot::from_bytes(bytes).map(|_| ());
    assert_eq!(read(&[]), Err(SnapshotError::NotASnapshot));
    assert_eq!(read(b"PK\x03\x04 is another file"), Err(SnapshotError::NotASnapshot));
    let mut random = Random(1);
    for _ in 0..200 {
        let length = random.below(bytes.len() as u32) as usize;
        assert!(read(&bytes[..length]).is_err(), "cut off after {length} bytes");
        let mut changed = bytes.clone();
        let at = random.below(bytes.len() as u32) as usize;
        changed[at] ^= 1 << random.below(8);
        assert!(read(&changed).is_err(), "byte {at} is another");
    }
    let mut other = bytes.clone();
    other[9] = b'9'; // the version comes after its length
    let version = env!("CARGO_PKG_VERSION").replacen('0', "9", 1);
    assert_eq!(read(&other), Err(SnapshotError::OtherVersion(version)));
    let mut longer = bytes;
    longer.push(0);
    assert_eq!(read(&longer), Err(SnapshotError::Damaged));
}

fn round_trip<T: Serialize + DeserializeOwned + PartialEq + core::fmt::Debug>(value: &T) {
    let text = ron::to_string(value).unwrap();
    assert_eq!(&ron::from_str::<T>(&text).unwrap(), value, "{text}");
}

#[test]
fn public_data_goes_through_a_text_and_back() {
    let unit = World::new().spawn_empty().id();
    let request = PathRequest::to_nearest([Cell::new(3, -4), Cell::new(8, 8)])
        .within(3)
        .or(unit)
        .retry(Retry::default())
        .start_on(GridId(2))
        .priority(Priority(-3));
    round_trip(&request);
    round_trip(
        &Group::to(Cell::new(1, 2), [unit]).formation(Formation::Wedge).request(request.clone()),
    );
    round_trip(&OrderQueue::new().then(request).then(Order::Wait { ticks: 9 }));
    round_trip(&(NavAgent::new(ProfileId(3)), Critter::new(2.5), PathSteering::new(3.0)));
    round_trip(&(CrowdTeam(3), Unpushable, SpeedLimit(0.25)));
    round_trip(&Profile::default().with(TerrainId(9), 40).size(3));
    round_trip(&NavBlocker::around(2));
    round_trip(&NavEdges::between(Cell::new(1, 1), Direction::North, EdgeId::WALL));
    round_trip(&NavLink::new(Cell::new(1, 1), (GridId(4), CellRect::new(Cell::new(2, 2), 3, 1))));
    round_trip(&TilePathSettings::default());
    round_trip(&GridFrame::pointy_hexagons(Vec2::new(3.0, 0.1), 10.0));
    round_trip(&PathStatus::Failed(PathFailure::GridGone(GridId(3))));
    let grid = common::grid_with_single_walls((20, 12), 40, &mut Random(3));
    let path = grid.find_path(ProfileId(0), Cell::new(0, 0), Cell::new(19, 11));
    path.iter().for_each(round_trip);
}

/// Grids by themselves can be written again and again, and one after another.
#[test]
fn grids_with_landmarks_are_written_without_a_snapshot() {
    let mut game = Game::empty();
    let profiles = vec![Profile::default(), Profile::default()];
    let frame = GridFrame::square(Vec2::ZERO, Vec2::splat(10.0));
    for id in [GridId(0), GridId(1)] {
        let ground = common::grid_with_single_walls((128, 128), 1_500, &mut Random(id.0.into()));
        let mut grids = game.app.world_mut().resource_mut::<NavGrids>();
        grids.set_profiles(profiles.clone());
        grids.insert(id, ground, frame);
        for profile in [ProfileId(0), ProfileId(1)] {
            let request = PathRequest::to(Cell::new(127, 120)).reach(Reach::Nearest);
            let agent = NavAgent { grid: id, profile };
            game.app.world_mut().spawn((agent, request, Transform::default()));
        }
    }
    for _ in 0..600 {
        game.app.update();
    }
    let landmarks = game.app.world().resource::<PathCounters>().landmark_bytes;
    assert!(landmarks > 2 * 128 * 128, "{landmarks} bytes of landmarks");
    let grids: &NavGrids = game.app.world().resource();
    let first = postcard::to_allocvec(grids).unwrap();
    assert_eq!(postcard::to_allocvec(grids).unwrap(), first);
    for _ in 0..2 {
        let read: NavGrids = postcard::from_bytes(&first).unwrap();
        assert_eq!(postcard::to_allocvec(&read).unwrap(), first);
    }
}
