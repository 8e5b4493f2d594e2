//! The overlay: which cells everybody holds, and whom they wait for.
//!
//! Input: the crowd, and the paths of those who wait. Output: lines, drawn anew every frame: around
//! the block that a critter stands on or leaves and around the one it enters; and from one that
//! waits to whoever holds the next cell of its path.

use bevy::prelude::*;
use bevy_tilepath::{nav::crowd::UnitId, prelude::*};

use crate::{
    display::ViewSystems,
    figures::Walker,
    game::{CELL, frame},
    palette,
};

/// Free space around the lines, in world units.
const INSET: f32 = 1.5;

/// Whether it is shown.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct Overlay(pub bool);

/// Draws the overlay.
pub struct OverlayPlugin;

impl Plugin for OverlayPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Overlay>()
            .add_systems(Startup, |mut configs: ResMut<GizmoConfigStore>| {
                configs.config_mut::<DefaultGizmoConfigGroup>().0.line.width = 1.5;
            })
            .add_systems(
                Update,
                draw.run_if(|overlay: Res<Overlay>| overlay.0).in_set(ViewSystems::Show),
            );
    }
}

/// Who holds which cell, and where they are drawn.
struct Holders {
    width: u32,
    cells: Vec<Option<(UnitId, Vec2)>>,
}

impl Holders {
    fn of(grid: &NavGrid) -> Self {
        let count = grid.width() as usize * grid.height() as usize;
        Self { width: grid.width(), cells: vec![None; count] }
    }

    /// The cells of scenes count from (0, 0).
    fn at(&mut self, cell: Cell) -> Option<&mut Option<(UnitId, Vec2)>> {
        let (x, y) = (u32::try_from(cell.x).ok()?, u32::try_from(cell.y).ok()?);
        if x >= self.width {
            return None;
        }
        self.cells.get_mut(y as usize * self.width as usize + x as usize)
    }

    fn note(&mut self, block: CellRect, unit: UnitId, place: Vec2) {
        for cell in block.cells() {
            if let Some(holder) = self.at(cell) {
                *holder = Some((unit, place));
            }
        }
    }

    /// Where one is drawn, other than `unit`, who holds a cell of this block.
    fn other_in(&mut self, block: CellRect, unit: UnitId) -> Option<Vec2> {
        block.cells().find_map(|cell| {
            self.at(cell)?.filter(|&(holder, _)| holder != unit).map(|(_, place)| place)
        })
    }
}

fn block(anchor: Cell, walker: &Walker) -> CellRect {
    CellRect::new(anchor, walker.size, walker.size)
}

type Shown = (&'static Walker, &'static CritterState, &'static Transform, Option<&'static NavPath>);

fn draw(mut gizmos: Gizmos, grids: Res<NavGrids>, crowds: Res<Crowds>, walkers: Query<Shown>) {
    let id = GridId::default();
    let (Some(grid), Some(crowd)) = (grids.get(id), crowds.get(id)) else {
        return;
    };
    let mut holders = Holders::of(grid);
    for (walker, state, transform, _) in &walkers {
        let Some(unit) = state.unit() else { continue };
        let Some((tail, head)) = crowd.place(grid, unit) else { continue };
        let mut outline = |anchor: Cell, color: Color| {
            holders.note(block(anchor, walker), unit, transform.translation.truncate());
            let side = Vec2::splat(walker.size as f32 * CELL - 2.0 * INSET);
            gizmos.rect_2d(frame().block_center(anchor, walker.size), side, color);
        };
        outline(tail, palette::TAIL);
        if head != tail {
            outline(head, palette::HEAD);
        }
    }
    for (walker, state, transform, path) in &walkers {
        let (Some(unit), Some(path)) = (state.unit(), path) else { continue };
        let hindrance = crowd.hindrance(unit).0;
        let next = crowd.walk_along(grid, unit).and_then(|walk| walk.cells_ahead(path).nth(1));
        if hindrance != Hindrance::None
            && let Some(next) = next
            && let Some(holder) = holders.other_in(block(next, walker), unit)
        {
            gizmos.line_2d(transform.translation.truncate(), holder, palette::line(hindrance));
        }
    }
}
