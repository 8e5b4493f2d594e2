//! Lockstep between processes, over the real transport on this machine.
//!
//! `LOCKSTEP_TICKS` sets how many ticks they play (default 3,000).

#![allow(clippy::unwrap_used, reason = "a test whose setup fails should fail")]

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use bevy::{
    app::{TaskPoolOptions, TaskPoolPlugin},
    prelude::*,
    state::app::StatesPlugin,
};
use bevy_replicon::prelude::*;
use bevy_replicon_renet::RepliconRenetPlugins;
use bevy_tilepath::prelude::*;
use tilepath_integrations::lockstep::{CHECKED_EVERY, Lockstep, LockstepPlugin};

#[path = "../../examples/lockstep/game.rs"]
mod game;

use game::{Bot, Skirmish};

/// How many times as fast as in reality the game runs.
const SPEED: f32 = 60.0;
/// What a process waits for at most.
const PATIENCE: Duration = Duration::from_secs(400);

fn ticks() -> u64 {
    std::env::var("LOCKSTEP_TICKS").ok().and_then(|ticks| ticks.parse().ok()).unwrap_or(3_000)
}

/// An app of a peer: with so many threads, and so long frames.
fn peer(threads: usize) -> App {
    let pools = TaskPoolOptions::with_num_threads(threads);
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins.set(TaskPoolPlugin { task_pool_options: pools }),
        StatesPlugin,
        TransformPlugin,
        RepliconPlugins,
        RepliconRenetPlugins,
        TilePathPlugin::default(),
        LockstepPlugin::<Skirmish>::default(),
    ));
    app.finish();
    app.cleanup();
    app
}

/// Plays until the game is over, with an order now and then; returns the checksums.
fn play(app: &mut App, bot: &mut Bot, frame: Duration, mut is_over: impl FnMut(&mut App) -> bool) {
    let begun = Instant::now();
    let mut frames = 0_u64;
    while !is_over(app) {
        assert!(begun.elapsed() < PATIENCE, "it takes too long");
        frames += 1;
        let mut lockstep = app.world_mut().resource_mut::<Lockstep<Skirmish>>();
        if lockstep.has_begun() && frames.is_multiple_of(3) {
            lockstep.order(bot.order());
        }
        app.update();
        std::thread::sleep(frame);
    }
}

/// Not a test by itself: what a child process runs, which joins the host at this port.
#[test]
fn peer_process() {
    let Some(port) = std::env::var("LOCKSTEP_PORT").ok().and_then(|port| port.parse().ok()) else {
        return;
    };
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (threads, micros) =
        (number("LOCKSTEP_THREADS").unwrap(), number("LOCKSTEP_FRAME").unwrap());
    let mut app = peer(threads as usize);
    let mut lockstep = Lockstep::<Skirmish>::client();
    lockstep.speed = SPEED;
    app.insert_resource(lockstep);
    game::connect(app.world_mut(), port).unwrap();
    let end = ticks();
    let mut bot = Bot(threads + 77);
    play(&mut app, &mut bot, Duration::from_micros(micros), |app| {
        app.world().resource::<Lockstep<Skirmish>>().ticks() >= end
    });
    for (tick, sum) in app.world().resource::<Lockstep<Skirmish>>().checksums() {
        println!("sum {tick} {sum}");
    }
    // Until the host has had the last report.
    play(&mut app, &mut Bot(1), Duration::from_millis(1), {
        let end = Instant::now() + Duration::from_millis(500);
        move |_| Instant::now() > end
    });
}

fn spawn_peer(port: u16, threads: usize, frame: Duration) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["lockstep::peer_process", "--exact", "--nocapture"])
        .env("LOCKSTEP_PORT", port.to_string())
        .env("LOCKSTEP_THREADS", threads.to_string())
        .env("LOCKSTEP_FRAME", frame.as_micros().to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Two peers from the beginning and a third that joins in the middle, with other numbers of threads and other frame rates.
#[test]
fn peers_stay_equal_and_one_joins_later() {
    let end = ticks();
    let mut app = peer(1);
    game::fill(app.world_mut()).unwrap();
    app.world_mut().resource_mut::<TilePathSettings>().budget = 4_000;
    let mut lockstep = Lockstep::<Skirmish>::host();
    lockstep.speed = SPEED;
    app.insert_resource(lockstep);
    let port = game::listen(app.world_mut(), 0).unwrap();
    let mut peers = vec![spawn_peer(port, 4, Duration::from_micros(300))];
    let mut joins = 0;
    play(&mut app, &mut Bot(5), Duration::from_millis(2), |app| {
        let mut lockstep = app.world_mut().resource_mut::<Lockstep<Skirmish>>();
        if peers.len() == 1 && lockstep.ticks() > end / 3 {
            peers.push(spawn_peer(port, 2, Duration::from_millis(5)));
        }
        joins = joins.max(lockstep.clients().len());
        lockstep.speed = if joins < peers.len() { 1.0 } else { SPEED }; // a process takes its time to start
        lockstep.ticks() >= end && lockstep.clients().iter().all(|&(_, ticks)| ticks >= end)
    });
    assert_eq!(joins, 2, "both have joined");
    let lockstep = app.world().resource::<Lockstep<Skirmish>>();
    let (differences, compared) = lockstep.differences();
    assert_eq!(differences, [], "of {compared} checksums");
    assert!(compared > end / CHECKED_EVERY * 5 / 4, "{compared}");
    let own = lockstep.checksums().clone();
    let counters = *app.world().resource::<PathCounters>();
    println!("{compared} checksums of {end} ticks are equal; {counters:?}");
    assert!(counters.found > end / 100, "the game was played");
    for (number, mut peer) in peers.into_iter().enumerate() {
        let lines = BufReader::new(peer.stdout.take().unwrap()).lines();
        let mut seen = 0;
        for line in lines.map_while(Result::ok) {
            let words: Vec<&str> = line.split(' ').collect();
            if let ["sum", tick, sum] = words[..] {
                let tick: u64 = tick.parse().unwrap();
                assert_eq!(own.get(&tick), sum.parse().ok().as_ref(), "peer {number}, tick {tick}");
                seen += 1;
            }
        }
        assert!(peer.wait().unwrap().success());
        assert!(seen > end / CHECKED_EVERY / 3, "{seen}");
        println!("peer {number} has sent {seen} checksums");
    }
}
