//! The panel: caption, statistics, legend and keys.
//!
//! Input: the running scene, the crowd's counters, times. Output: text at the right, updated a few
//! times a second.

use std::time::Duration;

use bevy::{prelude::*, time::common_conditions::on_real_timer};
use bevy_tilepath::prelude::*;

use crate::{
    captions,
    clock::TickTimes,
    display::{PANEL, ViewSystems},
    figures::Figures,
    game::SceneState,
    legend, palette,
};

/// Time between two updates.
const UPDATE_EVERY: Duration = Duration::from_millis(100);

const KEYS: &str = "\
1 to 9        the scenes below
Left, Right   all scenes
R             restart
Space         pause, resume
- and +       slower, faster
O             reserved cells, waits, pushes";

/// Label of the tick time: debug builds are not representative.
const TICK_TIME: &str =
    if cfg!(debug_assertions) { "tick time (debug build)" } else { "tick time (median)" };

/// The statistics and their labels.
const FIGURES: [(&str, Line); 10] = [
    ("arrived", Line::Arrived),
    ("steps", Line::Steps),
    ("pushes", Line::Pushes),
    ("waits", Line::Waits),
    ("plans cancelled", Line::Undone),
    ("waiting now", Line::Waiting),
    ("stuck now", Line::Stuck),
    ("longest wait", Line::LongestWait),
    ("mean detour", Line::Detour),
    (TICK_TIME, Line::TickTime),
];

/// Draws the panel.
pub struct PanelPlugin;

impl Plugin for PanelPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, spawn).add_systems(
            Update,
            (write, update_bar).run_if(on_real_timer(UPDATE_EVERY)).in_set(ViewSystems::Show),
        );
    }
}

/// The content of a text.
#[derive(Component, Clone, Copy)]
enum Line {
    Name,
    Caption,
    State,
    End,
    Arrived,
    Steps,
    Pushes,
    Waits,
    Undone,
    Waiting,
    Stuck,
    LongestWait,
    Detour,
    TickTime,
}

/// The bar that shows the share of arrived units.
#[derive(Component)]
struct Bar;

/// Returns text of a size and color.
pub fn label(text: impl Into<String>, size: f32, color: Color) -> impl Bundle {
    (Text::new(text), TextFont::from_font_size(size), TextColor(color))
}

fn spawn(mut commands: Commands) {
    let node = Node {
        position_type: PositionType::Absolute,
        right: px(0),
        top: px(0),
        bottom: px(0),
        width: px(PANEL),
        padding: UiRect::axes(px(18), px(16)),
        flex_direction: FlexDirection::Column,
        row_gap: px(5),
        ..default()
    };
    commands.spawn((node, BackgroundColor(palette::PANEL))).with_children(|panel| {
        panel.spawn((Line::Name, label("", 22.0, palette::TEXT)));
        let node = Node { width: percent(100), height: px(54), ..default() };
        panel.spawn(node).with_child((Line::Caption, label("", 13.0, palette::QUIET)));
        panel.spawn((Line::State, label("", 14.0, palette::TEXT)));
        spawn_bar(panel);
        let node = Node { height: px(18), ..default() };
        panel.spawn(node).with_child((Line::End, label("", 12.0, palette::QUIET)));
        rule(panel);
        for (name, line) in FIGURES {
            let row = Node { justify_content: JustifyContent::SpaceBetween, ..default() };
            panel.spawn(row).with_children(|row| {
                row.spawn(label(name, 13.0, palette::QUIET));
                row.spawn((line, label("", 13.0, palette::TEXT)));
            });
        }
        rule(panel);
        legend::spawn(panel);
        panel.spawn(Node { flex_grow: 1.0, ..default() });
        rule(panel);
        panel.spawn(label(KEYS, 12.0, palette::QUIET));
    });
}

/// Spawns a thin line across the panel.
fn rule(panel: &mut ChildSpawnerCommands) {
    let node = Node { height: px(1), margin: UiRect::vertical(px(8)), ..default() };
    panel.spawn((node, BackgroundColor(palette::RULE)));
}

fn spawn_bar(panel: &mut ChildSpawnerCommands) {
    let track = Node {
        height: px(6),
        margin: UiRect::top(px(6)),
        border_radius: BorderRadius::MAX,
        overflow: Overflow::clip(),
        ..default()
    };
    let bar = Node { height: percent(100), border_radius: BorderRadius::MAX, ..default() };
    let bar = (Bar, bar, BackgroundColor(palette::HEAD));
    panel.spawn((track, BackgroundColor(palette::RULE))).with_child(bar);
}

fn write(
    scene: Res<SceneState>,
    figures: Res<Figures>,
    crowds: Res<Crowds>,
    times: Res<TickTimes>,
    clock: Res<Time<Virtual>>,
    mut lines: Query<(&Line, &mut Text)>,
) {
    // Before the first tick the counters are still those of the previous scene.
    let counters = if scene.ticks > 0 { crowds.counters() } else { CrowdCounters::default() };
    for (line, mut text) in &mut lines {
        let content = match line {
            Line::Name => scene.name.to_owned(),
            Line::Caption => captions::caption(scene.name).to_owned(),
            Line::State => {
                let paused = if clock.is_paused() { "   paused" } else { "" };
                format!("tick {}   x{}{paused}", scene.ticks, clock.relative_speed())
            }
            Line::End => match scene.finished {
                Some(tick) => format!("the last unit arrived at tick {tick}"),
                None => String::new(),
            },
            Line::Arrived => format!("{} of {}", figures.arrived, figures.units),
            Line::Steps => counters.steps.to_string(),
            Line::Pushes => counters.pushes.to_string(),
            Line::Waits => counters.waits.to_string(),
            Line::Undone => counters.undone.to_string(),
            Line::Waiting => figures.waiting.to_string(),
            Line::Stuck => figures.stuck.to_string(),
            Line::LongestWait => format!("{} ticks", counters.longest_wait),
            Line::Detour => {
                figures.mean_detour().map_or("-".into(), |detour| format!("x{detour:.2}"))
            }
            Line::TickTime => times.median().map_or("-".into(), |micros| format!("{micros:.0} us")),
        };
        text.set_if_neq(Text(content));
    }
}

fn update_bar(figures: Res<Figures>, mut bar: Single<&mut Node, With<Bar>>) {
    let width = percent(100.0 * figures.arrived as f32 / figures.units.max(1) as f32);
    if bar.width != width {
        bar.width = width;
    }
}
