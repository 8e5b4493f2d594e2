//! Paths, grid, links, connected regions and searches drawn over the game with gizmos (opt-in).
//!
//! Input: [`TilePathDebug`], which selects what to draw. Output: lines in the gizmo group [`TilePathGizmos`],
//! whose width and depth are configured like those of any other group.

mod crowd;

use bevy::{color::palettes::css, gizmos::config::GizmoConfigGroup, prelude::*};

use self::crowd::draw_crowd;
use crate::{
    coordinates::{GridFrame, center},
    crowds::Crowds,
    grids::NavGrids,
    group::GroupSlot,
    links::{LinkEnd, LinkStatus, NavLink},
    nav::{Cell, Direction, EdgeId, GridId, NavGrid, PathKind, ProfileId, Topology},
    scheduler::Pathfinder,
    unit::{CritterState, NavPath, PathStatus, RequestState},
};

/// Gizmo group of everything drawn here.
#[derive(Default, Reflect, GizmoConfigGroup)]
pub struct TilePathGizmos;

/// Selects what to draw. By default only paths are drawn.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Resource, Debug, Default, PartialEq, Clone)]
pub struct TilePathDebug {
    /// Grid that `grid`, `regions`, `landmarks` and `crowd` are drawn for.
    pub of: GridId,
    /// Profile that `grid`, `regions` and `landmarks` are drawn for.
    pub profile: ProfileId,
    /// Paths of units, and what is left of those of critters: green to the goal, gold to the nearest cell, turquoise if more
    /// follows, orange-red if stuck.
    pub paths: bool,
    /// Borders between passable and impassable cells (orange), and edges between cells: shut ones crimson, those that cost
    /// something gold, free ones gray.
    pub grid: bool,
    /// Passable cells, one color per connected region.
    pub regions: bool,
    /// All links, from end to end: gold, with an arrow where they lead one way, gray if they are shut, and crimson if they lead
    /// nowhere.
    pub links: bool,
    /// The landmarks that sharpen the estimates of searches (violet), once they are ready.
    pub landmarks: bool,
    /// The crowd of the grid `of`: which units hold which cells, which unit each unit waits for, and which
    /// units push others.
    pub crowd: bool,
    /// Open (green) and closed (red) nodes of the search for this entity while it runs.
    pub search: Option<Entity>,
    /// Grid and regions are only drawn within this many cells of `around`, because lines are rebuilt every
    /// frame. Default 64.
    pub radius: u32,
    /// Center of the area in which grid and regions are drawn.
    pub around: Cell,
}

impl Default for TilePathDebug {
    fn default() -> Self {
        Self {
            of: GridId::default(),
            profile: ProfileId::default(),
            paths: true,
            grid: false,
            regions: false,
            links: false,
            landmarks: false,
            crowd: false,
            search: None,
            radius: 64,
            around: Cell::default(),
        }
    }
}

/// Draws what [`TilePathDebug`] selects. Needs Bevy's `GizmoPlugin` (part of `DefaultPlugins`).
#[derive(Clone, Copy, Debug, Default)]
pub struct TilePathDebugPlugin;

impl Plugin for TilePathDebugPlugin {
    fn build(&self, app: &mut App) {
        let systems = (
            draw_regions,
            draw_grid,
            draw_links,
            draw_landmarks,
            draw_search,
            draw_crowd,
            draw_paths,
        )
            .chain();
        app.init_resource::<TilePathDebug>()
            .register_type::<TilePathDebug>()
            .init_gizmo_group::<TilePathGizmos>()
            .add_systems(PostUpdate, systems.after(TransformSystems::Propagate));
    }
}

type TilePathLines<'w, 's> = Gizmos<'w, 's, TilePathGizmos>;

/// A unit with a path.
type DrawnPath = (
    &'static NavPath,
    &'static RequestState,
    &'static PathStatus,
    Option<(&'static CritterState, &'static GlobalTransform)>,
    Option<&'static GroupSlot>,
);

fn draw_paths(
    debug: Res<TilePathDebug>,
    grids: Res<NavGrids>,
    crowds: Res<Crowds>,
    units: Query<DrawnPath>,
    mut lines: TilePathLines,
) {
    if !debug.paths {
        return;
    }
    for (path, order, status, state, slot) in &units {
        let color = match status {
            PathStatus::Stuck(_) => css::ORANGE_RED,
            PathStatus::Walking(kind) | PathStatus::Found(kind) => match kind {
                PathKind::Complete => css::LIMEGREEN,
                PathKind::Partial => css::GOLD,
                PathKind::FirstSegment | PathKind::ToLink => css::TURQUOISE,
            },
            _ => continue,
        };
        let Some(frame) = grids.frame(order.grid()) else {
            continue;
        };
        let grid = grids.get(order.grid());
        let size = grid.map_or(1, |grid| grid.unit_size(order.query().profile));
        let to_world = |cell| frame.block_center(cell, size);
        let Some((state, transform)) = state else {
            lines.linestrip_2d(path.0.waypoints().map(to_world), color);
            continue;
        };
        let from = transform.translation().truncate();
        let walk = grid.and_then(|grid| crowds.walk_of(grid, order.grid(), state));
        if let (None, Some(slot), Some(_)) = (walk, slot, state.unit()) {
            lines.line_2d(from, to_world(slot.cell), color);
        } else {
            let walk = walk.unwrap_or(*state.walk());
            let ahead = walk.waypoints_ahead(&path.0).map(to_world);
            lines.linestrip_2d(std::iter::once(from).chain(ahead), color);
        }
    }
}

fn draw_links(
    debug: Res<TilePathDebug>,
    grids: Res<NavGrids>,
    links: Query<(&NavLink, &LinkStatus)>,
    mut lines: TilePathLines,
) {
    for (link, status) in links.iter().filter(|_| debug.links) {
        let color = match status {
            LinkStatus::Connected => css::GOLD,
            LinkStatus::New | LinkStatus::Shut => css::LIGHT_GRAY,
            LinkStatus::Broken(_) => css::CRIMSON,
        };
        let middle = |end: LinkEnd| {
            let center = |cell| Some(grids.frame(end.grid)?.cell_center(cell));
            let (right, up) = (end.area.width.max(1) - 1, end.area.height.max(1) - 1);
            let last = end.area.min.offset(right as i32, up as i32);
            Some(center(end.area.min)?.midpoint(center(last)?))
        };
        if let (Some(from), Some(to)) = (middle(link.from), middle(link.to)) {
            if link.is_one_way {
                lines.arrow_2d(from, to, color);
            } else {
                lines.line_2d(from, to, color);
            }
        }
    }
}

fn draw_landmarks(debug: Res<TilePathDebug>, grids: Res<NavGrids>, mut lines: TilePathLines) {
    let Some((grid, frame)) = shown(&grids, &debug).filter(|_| debug.landmarks) else {
        return;
    };
    for cell in grid.landmark_cells(debug.profile) {
        let corner = |(dx, dy): (f32, f32)| frame.to_world(center(cell) + Vec2::new(dx, dy));
        let diamond = [(1.5, 0.0), (0.0, 1.5), (-1.5, 0.0), (0.0, -1.5), (1.5, 0.0)];
        lines.linestrip_2d(diamond.map(corner), css::VIOLET);
    }
}

fn draw_grid(debug: Res<TilePathDebug>, grids: Res<NavGrids>, mut lines: TilePathLines) {
    let Some((grid, frame)) = shown(&grids, &debug).filter(|_| debug.grid) else {
        return;
    };
    let free = |cell| grid.cost(debug.profile, cell) > 0;
    for cell in near(&debug) {
        let corners: Vec<Vec2> = frame.cell_corners(cell).collect();
        // The numbers of the corners of a side, on squares and on hexagons.
        let (east, north, northwest) = (Direction::East, Direction::North, Direction::NorthWest);
        let sides: &[_] = match grid.topology() {
            Topology::Square => &[(east, [3, 0]), (north, [0, 1])],
            Topology::Hexagonal => &[(east, [0, 1]), (north, [1, 2]), (northwest, [2, 3])],
        };
        for (direction, side) in sides {
            let edge = grid.edge(cell, *direction);
            let color = match grid.edge_cost(debug.profile, cell, *direction) {
                _ if free(cell) != free(cell.step(*direction)) => css::ORANGE_RED,
                _ if edge == EdgeId::NONE => continue,
                None => css::CRIMSON,
                Some(0) => css::LIGHT_GRAY,
                Some(_) => css::GOLD,
            };
            let [a, b] = side.map(|corner: usize| corners[corner]);
            lines.line_2d(a, b, color);
        }
    }
}

fn draw_regions(debug: Res<TilePathDebug>, grids: Res<NavGrids>, mut lines: TilePathLines) {
    let Some((grid, frame)) = shown(&grids, &debug).filter(|_| debug.regions) else {
        return;
    };
    for cell in near(&debug) {
        if let Some(region) = grid.region(debug.profile, cell) {
            // The golden angle gives neighboring numbers distinct colors.
            let color = Color::hsl(region as f32 * 137.5 % 360.0, 0.8, 0.6);
            draw_cross(&mut lines, frame, cell, color);
        }
    }
}

fn draw_search(
    debug: Res<TilePathDebug>,
    grids: Res<NavGrids>,
    pathfinder: Res<Pathfinder>,
    orders: Query<&RequestState>,
    mut lines: TilePathLines,
) {
    if let Some(entity) = debug.search
        && let Ok(order) = orders.get(entity)
        && let (Some(grid), Some(frame)) = (grids.get(order.grid()), grids.frame(order.grid()))
        && let Some(search) = pathfinder.search(entity)
    {
        for (cell, is_closed) in search.explored(grid) {
            let color = if is_closed { css::INDIAN_RED } else { css::LAWN_GREEN };
            draw_cross(&mut lines, frame, cell, color.into());
        }
    }
}

fn draw_cross(lines: &mut TilePathLines, frame: &GridFrame, cell: Cell, color: Color) {
    let center = center(cell);
    for arm in [Vec2::new(0.2, 0.2), Vec2::new(0.2, -0.2)] {
        lines.line_2d(frame.to_world(center - arm), frame.to_world(center + arm), color);
    }
}

fn shown<'a>(grids: &'a NavGrids, debug: &TilePathDebug) -> Option<(&'a NavGrid, &'a GridFrame)> {
    grids.get(debug.of).zip(grids.frame(debug.of))
}

/// Returns the cells within the radius.
fn near(debug: &TilePathDebug) -> impl Iterator<Item = Cell> + use<> {
    let (around, radius) = (debug.around, debug.radius.min(1_024) as i32);
    (-radius..=radius).flat_map(move |dy| (-radius..=radius).map(move |dx| around.offset(dx, dy)))
}
