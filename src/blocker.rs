//! Buildings and other things that stand on cells.
//!
//! Input: entities with a [`NavBlocker`]. Output: counted blockers on the grid under their
//! footprint, taken away when the entity is despawned or the component removed, moved when it
//! moves. Footprints that reach over the edge of the grid block what lies on it; one that lies
//! beside it blocks nothing until the grid grows under it.

use bevy::{ecs::entity::EntityHashMap, prelude::*, reflect::std_traits::ReflectDefault};

use crate::{
    grids::NavGrids,
    nav::{
        cell::{Cell, CellRect},
        grid::NavGrid,
        query::GridId,
    },
};

/// Blocks the cells of its footprint for every profile. Two blockers on one cell count twice: the
/// cell is free when both are gone.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
pub struct NavBlocker {
    /// On which grid.
    pub grid: GridId,
    /// Footprint in cells: columns.
    pub width: u32,
    /// Footprint in cells: rows.
    pub height: u32,
    /// Lowest, leftmost cell; `None` (default) centers the footprint on the entity's transform.
    pub at: Option<Cell>,
}

impl Default for NavBlocker {
    /// One cell, under the entity's transform, on the default grid.
    fn default() -> Self {
        Self::sized(1, 1)
    }
}

impl NavBlocker {
    /// `width × height` cells centered on the entity's transform.
    #[must_use]
    pub fn sized(width: u32, height: u32) -> Self {
        Self { grid: GridId::default(), width, height, at: None }
    }

    /// The cells of `rect`, wherever the entity is.
    #[must_use]
    pub fn on(rect: CellRect) -> Self {
        Self { at: Some(rect.min), ..Self::sized(rect.width, rect.height) }
    }
}

/// What blocks at present, by entity.
#[derive(Resource, Debug, Default)]
pub(crate) struct PlacedBlockers(EntityHashMap<Placed>);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Placed {
    grid: GridId,
    /// Footprint as asked for.
    wanted: CellRect,
    /// The part of it that is blocked; empty where none lies on the grid.
    blocked: CellRect,
    /// The grid's cells when it was placed.
    bounds: CellRect,
}

type Moved = Or<(Changed<NavBlocker>, Changed<Transform>)>;

/// Blocks and frees cells for what was spawned, changed, moved and despawned; all of it in one
/// batch of edits per grid.
pub(crate) fn sync_blockers(
    mut placed: ResMut<PlacedBlockers>,
    mut changes: Local<Vec<Change>>,
    mut grids: ResMut<NavGrids>,
    all: Query<(Entity, &NavBlocker)>,
    moved: Query<(Entity, &NavBlocker), Moved>,
    mut removed: RemovedComponents<NavBlocker>,
    transforms: TransformHelper,
) {
    for entity in removed.read() {
        if !all.contains(entity) {
            placed.free(entity, &mut changes);
        }
    }
    for (entity, blocker) in &moved {
        let now = place(&grids, &transforms, entity, blocker);
        placed.put(entity, now, &mut changes);
    }
    // Blockers wait for a grid to appear or to grow.
    let bounds = |id| grids.get(id).map(NavGrid::rect).unwrap_or_default();
    if placed.0.values().any(|placed| bounds(placed.grid) != placed.bounds) {
        for (entity, blocker) in &all {
            let now = place(&grids, &transforms, entity, blocker);
            placed.put(entity, now, &mut changes);
        }
    }
    apply(&mut changes, &mut grids);
}

/// Cells to block (or free, if not) on a grid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    grid: GridId,
    cells: CellRect,
    block: bool,
}

impl PlacedBlockers {
    /// Notes where a blocker stands now, if that is news.
    fn put(&mut self, entity: Entity, now: Placed, changes: &mut Vec<Change>) {
        if self.0.get(&entity) == Some(&now) {
            return;
        }
        self.free(entity, changes);
        changes.push(Change { grid: now.grid, cells: now.blocked, block: true });
        self.0.insert(entity, now);
    }

    /// Forgets a blocker.
    fn free(&mut self, entity: Entity, changes: &mut Vec<Change>) {
        if let Some(Placed { grid, blocked: cells, .. }) = self.0.remove(&entity) {
            changes.push(Change { grid, cells, block: false });
        }
    }
}

/// Makes the changes, those of one grid in one batch.
fn apply(changes: &mut Vec<Change>, grids: &mut NavGrids) {
    changes.retain(|change| !change.cells.is_empty());
    changes.sort_by_key(|change| change.grid); // stable: what was freed first stays first
    for changes in changes.chunk_by(|a, b| a.grid == b.grid) {
        let Some(grid) = grids.get_mut(changes[0].grid) else {
            continue;
        };
        let bounds = grid.rect();
        let mut edit = grid.edit();
        for change in changes {
            // The grid may have been replaced by a smaller one meanwhile.
            let cells = change.cells.intersection(bounds);
            let done = match (cells.is_empty(), change.block) {
                (true, _) => Ok(()),
                (false, true) => edit.block(cells),
                (false, false) => edit.unblock(cells),
            };
            if let Err(error) = done {
                tracing::warn!("a blocker could not be placed or taken away: {error}");
            }
        }
    }
    changes.clear();
}

/// Where a blocker stands.
fn place(
    grids: &NavGrids,
    transforms: &TransformHelper,
    entity: Entity,
    blocker: &NavBlocker,
) -> Placed {
    let bounds = grids.get(blocker.grid).map(NavGrid::rect).unwrap_or_default();
    let wanted = footprint(grids, transforms, entity, blocker);
    Placed { grid: blocker.grid, wanted, blocked: wanted.intersection(bounds), bounds }
}

/// The cells a blocker asks for; empty where it has no place.
fn footprint(
    grids: &NavGrids,
    transforms: &TransformHelper,
    entity: Entity,
    blocker: &NavBlocker,
) -> CellRect {
    let under_transform = || {
        let frame = grids.frame(blocker.grid)?;
        let position = transforms.compute_global_transform(entity).ok()?.translation().truncate();
        let back = Vec2::new(blocker.width as f32 - 1.0, blocker.height as f32 - 1.0) / 2.0;
        frame.cell_at(frame.to_world(frame.to_cells(position) - back))
    };
    match blocker.at.or_else(under_transform) {
        Some(min) => CellRect::new(min, blocker.width, blocker.height),
        None => CellRect::default(),
    }
}
