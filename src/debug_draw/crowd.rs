//! Crowds drawn over the game: who holds what, who waits for whom, who pushes whom.
//!
//! Input: the crowd of a grid. Output: gray outlines of cells that critters stand on or leave, aquamarine ones
//! of those they enter; from each that waits a line to the one it waits for, pale where it stands in line and
//! orange where it is hindered; a pink line from each that pushes to whom it pushes.

use bevy::{color::palettes::css, prelude::*};

use super::{TilePathDebug, TilePathLines, shown};
use crate::{
    coordinates::GridFrame,
    crowds::Crowds,
    grids::NavGrids,
    nav::{
        cell::{Cell, CellRect},
        crowd::{Hindrance, UnitId},
        query::GridId,
    },
    unit::CritterState,
};

/// Half a cell less a little free space.
const HALF: f32 = 0.44;

pub(super) fn draw_crowd(
    debug: Res<TilePathDebug>,
    grids: Res<NavGrids>,
    crowds: Res<Crowds>,
    critters: Query<&CritterState>,
    mut lines: TilePathLines,
) {
    let Some((grid, frame)) = shown(&grids, &debug).filter(|_| debug.crowd) else {
        return;
    };
    let Some(crowd) = crowds.get(debug.of) else {
        return;
    };
    let place = |unit: UnitId| place_of(&crowds, &critters, (debug.of, unit));
    for unit in crowd.units() {
        let (Some((tail, head)), Some(size)) = (crowd.position(grid, unit), crowd.size(unit))
        else {
            continue;
        };
        outline(&mut lines, frame, CellRect::new(tail, size, size), css::GRAY);
        if head != tail {
            outline(&mut lines, frame, CellRect::new(head, size, size), css::AQUAMARINE);
        }
        let waited_for = crowd.waits_for(unit);
        let color = match crowd.hindrance(unit).0 {
            Hindrance::Queue | Hindrance::Oncoming => css::KHAKI,
            _ => css::ORANGE_RED,
        };
        let links =
            [(Some(unit), waited_for, color), (crowd.pushed_by(unit), Some(unit), css::HOT_PINK)];
        for (from, to, color) in links {
            if let (Some(from), Some(to)) = (from.and_then(place), to.and_then(place)) {
                lines.line_2d(frame.to_world(from), frame.to_world(to), color);
            }
        }
    }
}

/// Where a unit is drawn, in cells.
fn place_of(
    crowds: &Crowds,
    critters: &Query<&CritterState>,
    (grid, unit): (GridId, UnitId),
) -> Option<Vec2> {
    critters.get(crowds.entity(grid, unit)?).ok().map(CritterState::place)
}

fn outline(lines: &mut TilePathLines, frame: &GridFrame, block: CellRect, color: Srgba) {
    let low = center(block.min);
    let high = low + Vec2::new(block.width as f32 - 1.0, block.height as f32 - 1.0);
    let corners = [
        Vec2::new(low.x - HALF, low.y - HALF),
        Vec2::new(high.x + HALF, low.y - HALF),
        Vec2::new(high.x + HALF, high.y + HALF),
        Vec2::new(low.x - HALF, high.y + HALF),
        Vec2::new(low.x - HALF, low.y - HALF),
    ];
    lines.linestrip_2d(corners.map(|corner| frame.to_world(corner)), color);
}

fn center(cell: Cell) -> Vec2 {
    Vec2::new(cell.x as f32, cell.y as f32)
}
