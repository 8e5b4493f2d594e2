//! Crowds drawn over the game: reserved cells, waiting and pushing.
//!
//! Input: the crowd of a grid. Output: gray outlines around cells that critters stand on or leave, aquamarine
//! outlines around cells they enter; a line from each waiting unit to the unit it waits for, khaki if it is
//! queuing or facing oncoming units, orange if it is hindered otherwise; a pink line from each pushing unit
//! to the unit it pushes.

use bevy::{color::palettes::css, prelude::*};

use super::{TilePathDebug, TilePathLines, shown};
use crate::{
    coordinates::{GridFrame, center},
    crowds::Crowds,
    grids::NavGrids,
    nav::{Cell, Hindrance, Topology, UnitId},
    unit::CritterState,
};

/// Half a cell minus a small margin.
const HALF: f32 = 0.44;

pub(super) fn draw_crowd(
    debug: Res<TilePathDebug>,
    grids: Res<NavGrids>,
    crowds: Res<Crowds>,
    critters: Query<&GlobalTransform, With<CritterState>>,
    mut lines: TilePathLines,
) {
    let shown = shown(&grids, &debug).filter(|_| debug.crowd);
    let (Some((grid, frame)), Some(crowd)) = (shown, crowds.get(debug.of)) else {
        return;
    };
    let drawn_at = |unit: UnitId| {
        let transform = critters.get(crowds.entity(debug.of, unit)?).ok()?;
        Some(transform.translation().truncate())
    };
    for unit in crowd.units() {
        let block = crowd.position(grid, unit).zip(crowd.size(unit));
        let Some(((tail, head), size)) = block else {
            continue;
        };
        outline(&mut lines, frame, (tail, size), css::GRAY);
        if head != tail {
            outline(&mut lines, frame, (head, size), css::AQUAMARINE);
        }
        let waited_for = crowd.waits_for(unit);
        let queues = matches!(crowd.hindrance(unit).0, Hindrance::Queue | Hindrance::Oncoming);
        let color = if queues { css::KHAKI } else { css::ORANGE_RED };
        let links =
            [(Some(unit), waited_for, color), (crowd.pushed_by(unit), Some(unit), css::HOT_PINK)];
        for (from, to, color) in links {
            if let (Some(from), Some(to)) = (from.and_then(drawn_at), to.and_then(drawn_at)) {
                lines.line_2d(from, to, color);
            }
        }
    }
}

/// Draws a line just inside the border of the cells that a unit covers: of a unit of several hexagons, through the middles of
/// those at its corners.
fn outline(
    lines: &mut TilePathLines,
    frame: &GridFrame,
    (anchor, size): (Cell, u32),
    color: Srgba,
) {
    if size == 1 {
        let middle = frame.cell_center(anchor);
        let corners = frame.cell_corners(anchor);
        let inside = corners.map(|corner| middle.lerp(corner, 2.0 * HALF));
        lines.lineloop_2d(inside, color);
        return;
    }
    let reach = size as f32 - 1.0;
    let (low, high) = (-HALF, reach + HALF);
    let corners: &[(f32, f32)] = match frame.topology() {
        Topology::Square => &[(low, low), (high, low), (high, high), (low, high)],
        Topology::Hexagonal => &[
            (reach, 0.0),
            (0.0, reach),
            (-reach, reach),
            (-reach, 0.0),
            (0.0, -reach),
            (reach, -reach),
        ],
    };
    let corners = corners.iter().map(|&(x, y)| center(anchor) + Vec2::new(x, y));
    lines.lineloop_2d(corners.map(|corner| frame.to_world(corner)), color);
}
