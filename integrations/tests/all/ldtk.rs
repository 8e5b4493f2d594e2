//! A world drawn in LDtk, whose levels come and go.

use bevy::prelude::*;
use bevy_ecs_ldtk::prelude::*;
use bevy_tilepath::prelude::*;
use tilepath_integrations::ldtk_level::LdtkLevelPlugin;

use crate::app::{have_arrived, headless, statuses, update_until};

/// The levels in the order of the file, with the lowest, leftmost cell of each.
const LEVELS: [(&str, Cell); 4] = [
    ("Village", Cell::new(0, -11)),
    ("Forest", Cell::new(20, -11)),
    ("Mine", Cell::new(0, -22)),
    ("Marsh", Cell::new(20, -22)),
];

fn load(levels: &[&str]) -> App {
    let mut app = headless();
    app.add_plugins((LdtkPlugin, LdtkLevelPlugin));
    let handle: Handle<LdtkProject> =
        app.world().resource::<AssetServer>().load("integrations/levels/valley.ldtk");
    app.world_mut().spawn(LdtkWorldBundle { ldtk_handle: handle.clone().into(), ..default() });
    update_until(&mut app, "the file is loaded", |world| {
        world.resource::<AssetServer>().is_loaded_with_dependencies(&handle)
    });
    show(&mut app, levels);
    app
}

/// Spawns and despawns levels until just these are there.
fn show(app: &mut App, levels: &[&str]) {
    let world = app.world_mut();
    let (project, mut set) =
        world.query::<(&LdtkProjectHandle, &mut LevelSet)>().single_mut(world).expect("a world");
    let project = project.handle.clone();
    let mut wanted = Vec::new();
    set.iids.clear();
    let assets = world.resource::<Assets<LdtkProject>>();
    for level in assets.get(&project).expect("loaded").json_data().levels.iter() {
        if levels.contains(&level.identifier.as_str()) {
            wanted.push(LevelIid::new(level.iid.clone()));
        }
    }
    let (_, mut set) =
        world.query::<(&LdtkProjectHandle, &mut LevelSet)>().single_mut(world).expect("a world");
    set.iids = wanted.into_iter().collect();
    let count = levels.len();
    update_until(app, "the levels are there", move |world| {
        world.query_filtered::<(), With<NavSource>>().iter(world).count() == count
    });
    app.update();
}

fn grid(app: &App) -> Option<&NavGrid> {
    app.world().resource::<NavGrids>().get(GridId::default())
}

/// The cell in a column, and in a row that is counted from the top, as in LDtk.
fn cell(x: i32, y: i32) -> Cell {
    Cell::new(x, -1 - y)
}

#[test]
fn levels_are_parts_of_one_grid() {
    let mut app = load(&["Village"]);
    let village = grid(&app).expect("a level").rect();
    assert_eq!(village, CellRect::new(LEVELS[0].1, 20, 11));
    show(&mut app, &LEVELS.map(|level| level.0));
    let all = grid(&app).expect("levels");
    assert_eq!(all.rect(), CellRect::new(LEVELS[2].1, 40, 22));
    let terrain = |x, y| all.terrain(cell(x, y)).map(|terrain| terrain.0 as char);
    assert_eq!(terrain(0, 0), Some('T'));
    assert_eq!(terrain(1, 1), Some('G'));
    assert_eq!(terrain(4, 3), Some('.'));
    assert_eq!(terrain(39, 21), Some('T'));
    assert_eq!(terrain(28, 18), Some('W'));
    assert_eq!(terrain(0, 12), Some('@'));
    assert_eq!(terrain(20, 14), Some('G'));
    assert_eq!(terrain(22, 14), Some('S'));
    let blocked: Vec<Cell> = all.rect().cells().filter(|&at| all.blockers(at) > 0).collect();
    assert_eq!(blocked.len(), 6);
    assert!(blocked.contains(&cell(13, 3)) && blocked.contains(&cell(15, 4)));
}

/// Sends all units with orders of their own, to a square of cells.
fn send(app: &mut App, to: Cell, retry: Option<Retry>) {
    let world = app.world_mut();
    let units: Vec<Entity> = world.query_filtered::<Entity, With<Critter>>().iter(world).collect();
    assert_eq!(units.len(), 10, "the units of the village, once");
    for (unit, cell) in units.into_iter().zip(CellRect::new(to, 4, 3).cells()) {
        let order = PathRequest::to(cell);
        let order = if let Some(retry) = retry { order.retry(retry) } else { order };
        world.entity_mut(unit).insert(order);
    }
}

fn run(app: &mut App, ticks: u32) {
    for _ in 0..ticks {
        app.update();
    }
}

#[test]
fn units_walk_on_while_other_levels_come_and_go() {
    let mut app = load(&["Village"]);
    send(&mut app, cell(14, 10), None);
    for levels in [&["Village", "Forest"][..], &["Village"], &["Village", "Mine", "Marsh"]] {
        run(&mut app, 20);
        show(&mut app, levels);
        for status in statuses(app.world_mut()) {
            use PathStatus::{Arrived, Idle, Walking};
            let is_marsh = levels.contains(&"Marsh"); // it has units of its own, without orders
            assert!(
                matches!(status, Walking(_) | Arrived(_)) || is_marsh && status == Idle,
                "{status:?}"
            );
        }
    }
    update_until(&mut app, "the units of the village have arrived", |world| {
        let arrived = statuses(world);
        arrived.iter().filter(|status| matches!(status, PathStatus::Arrived(_))).count() == 10
    });
}

#[test]
fn a_goal_on_a_level_that_is_not_there_yet_is_tried_again() {
    let mut app = load(&["Village"]);
    send(&mut app, cell(27, 10), Some(Retry::default()));
    run(&mut app, 100);
    let waiting = |status: &PathStatus| matches!(status, PathStatus::Waiting(_));
    assert!(statuses(app.world_mut()).iter().all(waiting), "{:?}", statuses(app.world_mut()));
    show(&mut app, &["Village", "Forest"]);
    run(&mut app, 150);
    // Under way, with the goal's level gone once more: they wait, and go on when it is back.
    show(&mut app, &["Village"]);
    run(&mut app, 30);
    show(&mut app, &["Village", "Forest"]);
    update_until(&mut app, "all have arrived", have_arrived);
}

/// The ground under the units goes.
#[test]
fn units_outlast_the_level_that_they_stand_on() {
    let mut app = load(&["Village", "Forest"]);
    send(&mut app, cell(27, 10), Some(Retry::default()));
    run(&mut app, 60);
    show(&mut app, &["Forest"]);
    run(&mut app, 60);
    show(&mut app, &["Village", "Forest"]);
    update_until(&mut app, "all have arrived", have_arrived);
}
