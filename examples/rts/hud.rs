//! The text panels along the edges of the screen.
//!
//! Input: frame times, the pathfinder's counters, the selection, notices. Output: text, updated a
//! few times a second.

use std::{fmt::Write, time::Duration};

use bevy::{
    diagnostic::{DiagnosticsStore, FrameTimeDiagnosticsPlugin},
    prelude::*,
    time::common_conditions::on_real_timer,
};
use bevy_tilepath::prelude::*;

use crate::{
    display::ViewSystems,
    kinds::Kind,
    map::GameMap,
    player::PatrolPending,
    pointer::Panel,
    reports::{Notice, Tally},
    select::Selected,
    task::GroupSettings,
    units::{Unit, UnitCount},
    walls::Walls,
};

/// Time between two updates.
const UPDATE_EVERY: Duration = Duration::from_millis(200);
/// Lifetime of a notice, in seconds.
const NOTICE_LIFE: f32 = 6.0;
const TEXT: Color = Color::srgb(0.88, 0.91, 0.94);

/// Adds the panels.
pub struct HudPlugin;

impl Plugin for HudPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(FrameTimeDiagnosticsPlugin::default())
            .init_resource::<LastNotice>()
            .add_observer(note)
            .add_systems(Startup, spawn)
            .add_systems(
                Update,
                (write_game, write_pathfinder, write_selection)
                    .run_if(on_real_timer(UPDATE_EVERY))
                    .in_set(ViewSystems::Show),
            );
    }
}

/// The panel that a text belongs to.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Game,
    Pathfinder,
    Selection,
}

/// The last notice and its time.
#[derive(Resource, Default)]
struct LastNotice(Option<(f32, String)>);

/// Returns a panel; `node` sets its position.
pub fn panel(node: Node) -> impl Bundle {
    (
        Node {
            position_type: PositionType::Absolute,
            padding: UiRect::axes(px(10), px(8)),
            border: UiRect::all(px(1)),
            border_radius: BorderRadius::all(px(6)),
            ..node
        },
        BackgroundColor(Color::srgba(0.05, 0.06, 0.09, 0.9)),
        BorderColor::all(Color::srgba(0.6, 0.7, 0.8, 0.25)),
    )
}

/// Returns text in the style of the panels.
pub fn text(content: impl Into<String>) -> impl Bundle {
    (Text::new(content), TextFont::from_font_size(13.0), TextColor(TEXT))
}

fn spawn(mut commands: Commands) {
    let panels = [
        (Part::Game, Node { left: px(12), top: px(12), ..default() }),
        (Part::Pathfinder, Node { right: px(12), top: px(12), ..default() }),
        (Part::Selection, Node { left: px(12), bottom: px(12), ..default() }),
    ];
    for (part, node) in panels {
        commands.spawn((panel(node), Panel)).with_child((part, text("")));
    }
}

fn note(notice: On<Notice>, mut last: ResMut<LastNotice>, time: Res<Time<Real>>) {
    last.0 = Some((time.elapsed_secs(), notice.text.clone()));
}

type Texts<'w, 's> = Query<'w, 's, (&'static Part, &'static mut Text)>;

fn write(texts: &mut Texts, part: Part, content: String) {
    for (_, mut text) in texts.iter_mut().filter(|(of, _)| **of == part) {
        text.set_if_neq(Text(content.clone()));
    }
}

fn write_game(
    mut texts: Texts,
    diagnostics: Res<DiagnosticsStore>,
    time: Res<Time<Virtual>>,
    map: Res<GameMap>,
    units: Res<UnitCount>,
    walls: Res<Walls>,
) {
    let frame = diagnostics
        .get(&FrameTimeDiagnosticsPlugin::FRAME_TIME)
        .and_then(bevy::diagnostic::Diagnostic::smoothed)
        .unwrap_or_default();
    let speed = if time.is_paused() {
        "paused".to_owned()
    } else {
        format!("speed x{}", time.relative_speed())
    };
    let (_, size, ..) = map.tilemap();
    let content = format!(
        "{} {} x {}   {speed}\n{} critters   {} walls\nframe {frame:.1} ms   {:.0} fps\nF1 help",
        map.name,
        size.x,
        size.y,
        units.0,
        walls.cells.len(),
        1_000.0 / frame.max(0.001),
    );
    write(&mut texts, Part::Game, content);
}

fn write_pathfinder(
    mut texts: Texts,
    counters: Res<PathCounters>,
    settings: Res<TilePathSettings>,
    tally: Res<Tally>,
) {
    let answered = (counters.found + counters.partial + counters.failed).max(1);
    let content = format!(
        concat!(
            "requests   {:>9}\nfound      {:>9}\npartial    {:>9}\nfailed     {:>9}\n",
            "repaired   {:>9}\narrived    {:>9}\ndeferred   {:>9}\nwaiting    {:>9}\n",
            "mean wait  {:>9.2}\n",
            "expansions {:>8.1}k\nlast tick  {:>8.0}%\nmemory     {:>6} KB"
        ),
        counters.requests,
        counters.found,
        counters.partial,
        counters.failed,
        counters.repaired,
        tally.arrived,
        tally.put_off,
        counters.waiting + counters.in_flight,
        counters.waited as f64 / answered as f64,
        counters.expansions as f64 / 1_000.0,
        100.0 * f64::from(counters.spent_last_tick) / f64::from(settings.budget.max(1)),
        counters.search_bytes / 1_024,
    );
    write(&mut texts, Part::Pathfinder, content);
}

fn write_selection(
    mut texts: Texts,
    selected: Query<(&Unit, &CritterState, &PathStatus, &OrderQueue), With<Selected>>,
    group_settings: Res<GroupSettings>,
    patrol: Res<PatrolPending>,
    notice: Res<LastNotice>,
    time: Res<Time<Real>>,
) {
    let mut content = if selected.is_empty() {
        "nothing selected: click or drag a box".to_owned()
    } else {
        let moving = selected.iter().filter(|(_, state, ..)| state.is_moving()).count();
        let orders: usize = selected.iter().map(|(.., queue)| queue.len()).sum();
        format!("{} selected, {moving} moving, {orders} orders", selected.iter().len())
    };
    // Writing to a string cannot fail.
    for kind in Kind::ALL {
        let count = selected.iter().filter(|(unit, ..)| unit.kind == kind).count();
        if count > 0 {
            let _ = write!(content, "\n{count:>4} {}", kind.plural());
        }
    }
    let together =
        if group_settings.keeps_together { "at one speed" } else { "each at its own speed" };
    let _ = write!(content, "\nformation {} (F), {together} (K)", group_settings.name());
    if patrol.0 {
        content += "\npatrol: click the goal";
    }
    if let Some(reason) = selected.iter().find_map(|(.., status, _)| hindrance(status)) {
        let _ = write!(content, "\n{reason}");
    }
    if let Some((at, text)) = &notice.0
        && time.elapsed_secs() - at < NOTICE_LIFE
    {
        let _ = write!(content, "\n{text}");
    }
    write(&mut texts, Part::Selection, content);
}

/// Returns why an order makes no progress at present.
fn hindrance(status: &PathStatus) -> Option<String> {
    match *status {
        PathStatus::Waiting(reason) => Some(format!("waiting: {reason}")),
        PathStatus::Stuck(why) => Some(format!("stuck: {why}")),
        _ => None,
    }
}
