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

#[derive(Clone, Copy, Debug)]
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

/// Blocks and frees cells for what was spawned, changed, moved and despawned.
pub(crate) fn sync_blockers(
    mut placed: ResMut<PlacedBlockers>,
    mut grids: ResMut<NavGrids>,
    all: Query<(Entity, &NavBlocker)>,
    moved: Query<(Entity, &NavBlocker), Moved>,
    mut removed: RemovedComponents<NavBlocker>,
    transforms: TransformHelper,
) {
    for entity in removed.read() {
        if !all.contains(entity) {
            free(&mut placed, &mut grids, entity);
        }
    }
    for (entity, blocker) in &moved {
        place(&mut placed, &mut grids, &transforms, entity, blocker);
    }
    // Blockers wait for a grid to appear or to grow.
    let is_unsettled =
        |placed: &Placed| grids.get(placed.grid).is_some_and(|grid| grid.rect() != placed.bounds);
    if placed.0.values().any(is_unsettled) {
        for (entity, blocker) in &all {
            if placed.0.get(&entity).is_some_and(|placed| {
                grids.get(placed.grid).is_some_and(|grid| grid.rect() != placed.bounds)
            }) {
                place(&mut placed, &mut grids, &transforms, entity, blocker);
            }
        }
    }
}

/// Blocks the cells of `entity`, and frees those it blocked before.
fn place(
    placed: &mut PlacedBlockers,
    grids: &mut NavGrids,
    transforms: &TransformHelper,
    entity: Entity,
    blocker: &NavBlocker,
) {
    let bounds = grids.get(blocker.grid).map(NavGrid::rect).unwrap_or_default();
    let wanted = footprint(grids, transforms, entity, blocker);
    if placed.0.get(&entity).is_some_and(|placed| {
        (placed.grid, placed.wanted, placed.bounds) == (blocker.grid, wanted, bounds)
    }) {
        return;
    }
    free(placed, grids, entity);
    let blocked = wanted.intersection(bounds);
    let mut now = Placed { grid: blocker.grid, wanted, blocked, bounds };
    if let Some(grid) = grids.get_mut(blocker.grid).filter(|_| !blocked.is_empty())
        && let Err(error) = grid.block(blocked)
    {
        tracing::warn!("blocker {entity} stays off the grid: {error}");
        now.blocked = CellRect::default();
    }
    placed.0.insert(entity, now);
}

/// Frees the cells that `entity` blocks.
fn free(placed: &mut PlacedBlockers, grids: &mut NavGrids, entity: Entity) {
    let Some(Placed { grid, blocked, .. }) = placed.0.remove(&entity) else {
        return;
    };
    if let Some(grid) = grids.get_mut(grid) {
        // The grid may have been replaced by a smaller one meanwhile.
        let blocked = blocked.intersection(grid.rect());
        if !blocked.is_empty()
            && let Err(error) = grid.unblock(blocked)
        {
            tracing::warn!("blocker {entity}: {error}");
        }
    }
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
