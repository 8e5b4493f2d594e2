//! Buildings and other things that stand on cells.
//!
//! Input: entities with a [`NavBlocker`]. Output: counted blockers on the grid under their
//! footprint, taken away when the entity is despawned or the component removed, moved when it
//! moves. Footprints that reach over the edge of the grid block what lies on it; one that lies
//! beside it blocks nothing until the grid grows under it.

use std::collections::BTreeMap;

use bevy::{
    ecs::{
        entity::EntityHashMap, entity_disabling::Disabled, lifecycle::HookContext,
        world::DeferredWorld,
    },
    prelude::*,
    reflect::std_traits::ReflectDefault,
};

use crate::{
    coordinates::GridFrame,
    grids::NavGrids,
    nav::{
        cell::{Cell, CellRect},
        grid::NavGrid,
        query::GridId,
    },
    whereabouts::Whereabouts,
};

/// Blocks the cells of its footprint for every profile. Two blockers on one cell count twice: the
/// cell is free when both are gone.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(on_remove = note_removed)]
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
pub(crate) struct PlacedBlockers {
    placed: EntityHashMap<Placed>,
    /// Entities whose component was taken off. Kept here, because Bevy forgets removals after a
    /// frame and there may be no tick in it.
    removed: Vec<Entity>,
    /// Children, which may move with their parents, as of the last look.
    carried: Vec<Entity>,
    /// Grids as they were when blockers were last placed on them.
    seen: BTreeMap<GridId, Ground>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Placed {
    grid: GridId,
    /// The part of the footprint that is blocked; empty where none of it lies on the grid.
    blocked: CellRect,
    /// Which grid of that number was blocked.
    generation: u64,
}

/// What the place of a blocker depends on, besides itself.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ground {
    generation: u64,
    frame: GridFrame,
}

fn note_removed(mut world: DeferredWorld, HookContext { entity, .. }: HookContext) {
    if let Some(mut blockers) = world.get_resource_mut::<PlacedBlockers>() {
        blockers.removed.push(entity);
    }
}

type Moved = (Or<(Changed<NavBlocker>, Changed<Transform>)>, Allow<Disabled>);
type Carried = (With<ChildOf>, Allow<Disabled>);

/// Blocks and frees cells for what was spawned, changed, moved and despawned; all of it in one
/// batch of edits per grid. Disabled entities block as before.
pub(crate) fn sync_blockers(
    mut blockers: ResMut<PlacedBlockers>,
    mut changes: Local<Vec<Change>>,
    mut grids: ResMut<NavGrids>,
    all: Query<(Entity, &NavBlocker), Allow<Disabled>>,
    moved: Query<(Entity, &NavBlocker), Moved>,
    carried: Query<(Entity, &NavBlocker), Carried>,
    whereabouts: Whereabouts,
) {
    for entity in std::mem::take(&mut blockers.removed) {
        if !all.contains(entity) {
            blockers.free(entity, &mut changes);
        }
    }
    // A new grid has no blockers yet, and where they stand on a moved one must be asked again.
    let everyone = blockers.look_at(&grids).then(|| all.iter());
    // Taken off its parent, a blocker is elsewhere though nobody wrote its transform.
    let carried_before = std::mem::take(&mut blockers.carried);
    let released = carried_before.iter().filter(|&&entity| !carried.contains(entity));
    let released = released.filter_map(|&entity| all.get(entity).ok());
    let changed = everyone.into_iter().flatten().chain(&moved).chain(&carried).chain(released);
    for (entity, blocker) in changed {
        let now = place(&grids, &whereabouts, entity, blocker);
        blockers.put(entity, now, &mut changes);
    }
    blockers.carried = carried_before;
    blockers.carried.clear();
    blockers.carried.extend(carried.iter().map(|(entity, _)| entity));
    apply(&mut changes, &mut grids);
}

/// Cells to block (or free, if not) on a grid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    of: Placed,
    block: bool,
}

impl PlacedBlockers {
    /// What an entity blocks on `grid`, if it blocks anything there.
    pub(crate) fn footprint(&self, entity: Entity, grid: GridId) -> Option<CellRect> {
        let placed = self.placed.get(&entity)?;
        (placed.grid == grid && !placed.blocked.is_empty()).then_some(placed.blocked)
    }

    /// Takes note of the grids; says whether any is another or elsewhere than before.
    fn look_at(&mut self, grids: &NavGrids) -> bool {
        let ground = |id| {
            let generation = grids.generation(id);
            grids.frame(id).map(|&frame| (id, Ground { generation, frame }))
        };
        let now = || grids.iter().filter_map(|(id, _)| ground(id));
        let is_news = !now().eq(self.seen.iter().map(|(&id, &ground)| (id, ground)));
        if is_news {
            self.seen = now().collect();
        }
        is_news
    }

    /// Notes where a blocker stands now, if that is news.
    fn put(&mut self, entity: Entity, now: Placed, changes: &mut Vec<Change>) {
        if self.placed.get(&entity) != Some(&now) {
            self.free(entity, changes);
            changes.push(Change { of: now, block: true });
            self.placed.insert(entity, now);
        }
    }

    /// Forgets a blocker.
    fn free(&mut self, entity: Entity, changes: &mut Vec<Change>) {
        if let Some(of) = self.placed.remove(&entity) {
            changes.push(Change { of, block: false });
        }
    }
}

/// Makes the changes, those of one grid in one batch.
fn apply(changes: &mut Vec<Change>, grids: &mut NavGrids) {
    // What stood on a grid that is gone is gone with it.
    changes.retain(|Change { of, .. }| {
        !of.blocked.is_empty() && grids.generation(of.grid) == of.generation
    });
    changes.sort_by_key(|change| change.of.grid); // stable: what was freed first stays first
    for changes in changes.chunk_by(|a, b| a.of.grid == b.of.grid) {
        let Some(grid) = grids.edit_mut(changes[0].of.grid) else {
            continue;
        };
        let mut edit = grid.edit();
        for Change { of, block } in changes {
            let done = if *block { edit.block(of.blocked) } else { edit.unblock(of.blocked) };
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
    whereabouts: &Whereabouts,
    entity: Entity,
    blocker: &NavBlocker,
) -> Placed {
    let bounds = grids.get(blocker.grid).map(NavGrid::rect).unwrap_or_default();
    let wanted = footprint(grids, whereabouts, entity, blocker);
    let generation = grids.generation(blocker.grid);
    Placed { grid: blocker.grid, blocked: wanted.intersection(bounds), generation }
}

/// The cells a blocker asks for; empty where it has no place.
fn footprint(
    grids: &NavGrids,
    whereabouts: &Whereabouts,
    entity: Entity,
    blocker: &NavBlocker,
) -> CellRect {
    let under_transform = || {
        let frame = grids.frame(blocker.grid)?;
        let position = whereabouts.position(entity)?;
        let back = Vec2::new(blocker.width as f32 - 1.0, blocker.height as f32 - 1.0) / 2.0;
        frame.cell_at(frame.to_world(frame.to_cells(position) - back))
    };
    match blocker.at.or_else(under_transform) {
        Some(min) => CellRect::new(min, blocker.width, blocker.height),
        None => CellRect::default(),
    }
}
