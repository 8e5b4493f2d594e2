//! Previews of orders.
//!
//! Input: the selection, paths and order queues. Output: dashed lines along the remaining paths, to
//! the goals of queued orders and between the ends of patrols; and the shots of all critters that
//! are within range.

use bevy::{gizmos::config::GizmoLineStyle, prelude::*};
use bevy_tilepath::prelude::*;

use crate::{display::ViewSystems, map::GameMap, orders::requests, select::Selected, units::Unit};

/// Most paths drawn: more would hide the map.
const MOST_PREVIEWS: usize = 60;
/// Most critters for which lines to queued goals are drawn.
const MOST_QUEUE_LINES: usize = 24;
/// Seconds from one shot to the next, and how long a shot is visible.
const SHOT_EVERY: f32 = 0.9;
const SHOT_LASTS: f32 = 0.12;

/// Adds previews and shots.
pub struct PreviewsPlugin;

impl Plugin for PreviewsPlugin {
    fn build(&self, app: &mut App) {
        app.init_gizmo_group::<Previews>().add_systems(Startup, style_previews).add_systems(
            Update,
            (preview_paths, preview_orders, draw_shots).in_set(ViewSystems::Show),
        );
    }
}

/// Gizmo group of the previews.
#[derive(Default, Reflect, GizmoConfigGroup)]
struct Previews;

fn style_previews(mut configs: ResMut<GizmoConfigStore>) {
    let (config, _) = configs.config_mut::<Previews>();
    config.line.width = 2.0;
    config.line.style = GizmoLineStyle::Dashed { gap_scale: 2.0, line_scale: 3.0 };
}

/// Returns the opacity of previews: lower if there are more of them.
fn alpha(count: usize) -> f32 {
    0.2 + 0.4 / (1.0 + count as f32 / 10.0)
}

type PathItem = (
    &'static Transform,
    &'static CritterState,
    &'static NavPath,
    &'static Unit,
    &'static PathStatus,
    Option<&'static GroupSlot>,
);

/// Draws the remaining paths of selected critters.
fn preview_paths(
    mut gizmos: Gizmos<Previews>,
    map: Res<GameMap>,
    grids: Res<NavGrids>,
    crowds: Res<Crowds>,
    critters: Query<PathItem, With<Selected>>,
) {
    let is_walking = |(.., status, _): &(_, _, _, _, &PathStatus, _)| status.is_under_way();
    let count = critters.iter().filter(is_walking).count().min(MOST_PREVIEWS);
    let color = Color::srgba(1.0, 1.0, 1.0, alpha(count));
    for (transform, state, path, unit, _, slot) in critters.iter().filter(is_walking).take(count) {
        let center = |cell| map.frame.block_center(cell, unit.kind.size().into());
        let here = transform.translation.truncate();
        let progress = || {
            let (grid, crowd) = (grids.get(GridId::default())?, crowds.get(GridId::default())?);
            crowd.path_progress(grid, state.unit()?)
        };
        // A critter that collides follows its path in the crowd of its grid, or is led to its slot by the field of its group.
        let walk = progress();
        if let (None, Some(slot)) = (walk, slot) {
            gizmos.line_2d(here, center(slot.cell), color);
            continue;
        }
        let walk = walk.unwrap_or(*state.walk());
        let ahead = walk.waypoints_ahead(path).map(center);
        gizmos.linestrip_2d(std::iter::once(here).chain(ahead), color);
    }
}

type OrderItem = (&'static Transform, Option<&'static NavPath>, &'static Unit, &'static OrderQueue);

/// Draws the queued goals of selected critters, and the ends of their patrols.
fn preview_orders(
    mut gizmos: Gizmos<Previews>,
    map: Res<GameMap>,
    critters: Query<OrderItem, With<Selected>>,
    targets: Query<&Transform>,
) {
    let is_busy = |(.., queue): &(_, _, _, &OrderQueue)| !queue.is_empty();
    let count = critters.iter().filter(is_busy).count().min(MOST_PREVIEWS);
    let color = Color::srgba(1.0, 0.88, 0.3, alpha(count));
    for (transform, path, unit, queue) in critters.iter().filter(is_busy).take(count) {
        let size = u32::from(unit.kind.size());
        let (frame, targets) = (&map.frame, &targets);
        let goals = |order| {
            let requests = requests(order).iter();
            requests.filter_map(move |request| goal_of(request, size, frame, targets))
        };
        let stops: Vec<_> =
            queue.current().into_iter().flat_map(|(_, order)| goals(order)).collect();
        if let [there, .., back] = stops[..] {
            gizmos.line_2d(there, back, color);
            gizmos.circle_2d(there, 3.0, color);
            gizmos.circle_2d(back, 3.0, color);
        }
        let later: Vec<_> = queue.waiting().flat_map(|(_, order)| goals(order)).collect();
        if !later.is_empty() && count <= MOST_QUEUE_LINES {
            let end = path.map(|path| map.frame.block_center(path.end(), size));
            let from = end.unwrap_or(transform.translation.truncate());
            gizmos.linestrip_2d(std::iter::once(from).chain(later.iter().copied()), color);
        }
        for goal in later {
            gizmos.circle_2d(goal, 3.0, color);
        }
    }
}

/// Returns the goal of a request in the world, for a unit of `size` cells a side.
fn goal_of(
    request: &PathRequest,
    size: u32,
    frame: &GridFrame,
    targets: &Query<&Transform>,
) -> Option<Vec2> {
    match request.target {
        Target::Cell(cell) => Some(frame.block_center(cell, size)),
        Target::Entity(target) => Some(targets.get(target).ok()?.translation.truncate()),
        _ => None,
    }
}

/// Draws the shots of critters within range; each critter has its own phase.
fn draw_shots(
    mut gizmos: Gizmos,
    time: Res<Time>,
    critters: Query<(&Unit, &Transform, &OrderQueue, &PathStatus)>,
    targets: Query<&Transform>,
) {
    for (unit, transform, queue, status) in &critters {
        let Some((_, Order::Go(request))) = queue.current() else {
            continue;
        };
        let is_in_range = matches!(request.approach, Approach::InSight { .. })
            && matches!(status, PathStatus::Arrived(PathKind::Complete));
        let since = (time.elapsed_secs_wrapped() + unit.number as f32 * 0.37) % SHOT_EVERY;
        if is_in_range
            && since < SHOT_LASTS
            && let Target::Entity(target) = request.target
            && let Ok(target) = targets.get(target)
        {
            let (from, to) = (transform.translation.truncate(), target.translation.truncate());
            gizmos.line_2d(from, to, Color::srgb(1.0, 0.9, 0.45));
        }
    }
}
