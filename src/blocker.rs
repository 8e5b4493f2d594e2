//! Buildings and other entities that block cells.
//!
//! Input: entities with a [`NavBlocker`]. Output: counted blockers on the grid under their footprints,
//! removed when the entity is despawned or the component removed, and moved when the entity moves. A
//! footprint that extends over the edge of the grid blocks the cells on the grid; one entirely off the grid
//! blocks nothing until the grid grows under it.

use bevy::{
    ecs::{
        entity::{EntityHashMap, MapEntities},
        entity_disabling::Disabled,
        lifecycle::HookContext,
        world::DeferredWorld,
    },
    prelude::*,
};

use crate::{
    entity_keys::map_keys,
    grids::NavGrids,
    nav::{Cell, CellRect, GridId, NavGrid, Topology},
    whereabouts::Whereabouts,
};

/// Blocks the cells of its footprint for every profile. Two blockers on one cell count twice: the cell is
/// free when both have been removed.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(on_remove = note_removed)]
#[must_use]
pub struct NavBlocker {
    /// Grid of the blocker.
    pub grid: GridId,
    /// Footprint in cells: columns.
    pub width: u32,
    /// Footprint in cells: rows.
    pub height: u32,
    /// Lowest, leftmost cell of the footprint. `None` (default): the footprint is centered on the entity's transform, and an
    /// entity without a transform blocks nothing. Of two equally near placements, the one farther right and up is used: on
    /// squares, a 2 × 2 footprint whose transform is in the center of a cell covers that cell and those to the right and above.
    /// On hexagons a footprint is a rhombus of columns and rows.
    pub at: Option<Cell>,
    /// Cells within this many steps of the footprint, over open terrain, are blocked, too. Around a single cell they form a
    /// square, or a hexagon on hexagonal grids. Default 0.
    pub radius: u32,
}

impl Default for NavBlocker {
    /// Blocks one cell, under the entity's transform, on the default grid.
    fn default() -> Self {
        Self::sized(1, 1)
    }
}

impl NavBlocker {
    /// Blocks `width × height` cells centered on the entity's transform.
    pub fn sized(width: u32, height: u32) -> Self {
        Self { grid: GridId::default(), width, height, at: None, radius: 0 }
    }

    /// Blocks the cell under the entity's transform, and all that are at most `radius` steps from it.
    ///
    /// ```
    /// use bevy_tilepath::prelude::*;
    /// let castle = NavBlocker::around(1); // 7 hexagons, or 9 squares
    /// # assert_eq!((castle.width, castle.radius), (1, 1));
    /// ```
    pub fn around(radius: u32) -> Self {
        Self { radius, ..Self::sized(1, 1) }
    }

    /// Blocks the cells of `rect`, independent of the entity's transform.
    pub fn at(rect: CellRect) -> Self {
        Self { at: Some(rect.min), ..Self::sized(rect.width, rect.height) }
    }

    /// Sets the grid whose cells are blocked.
    pub fn on(self, grid: GridId) -> Self {
        Self { grid, ..self }
    }
}

/// The blockers in place, by entity.
#[derive(Resource, Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct PlacedBlockers {
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::serde_with::sorted"))]
    placed: EntityHashMap<Placed>,
    /// Entities whose component was removed. Kept here because Bevy discards removal records after a frame,
    /// and there may be no tick in that frame.
    removed: Vec<Entity>,
    /// How many grids had been inserted, removed and moved when blockers were last placed on them.
    seen: [u64; 3],
    /// Those that may have moved with their parents since.
    children: Vec<Entity>,
}

impl MapEntities for PlacedBlockers {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        map_keys(&mut self.placed, mapper);
        self.removed.map_entities(mapper);
        self.children.map_entities(mapper);
    }
}

/// Where a blocker is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Placed {
    grid: GridId,
    /// The footprint, of which the part within `bounds` is blocked, the grid.
    footprint: CellRect,
    bounds: CellRect,
    /// On hexagons: steps around the footprint that are blocked, too.
    radius: u32,
    /// Generation of the grid when it was blocked.
    generation: u64,
}

impl Placed {
    /// The blocked cells; empty if none of them lies on the grid.
    fn blocked(&self) -> impl Iterator<Item = CellRect> + use<> {
        let Self { footprint, bounds, radius, .. } = *self;
        let whole = (radius == 0).then_some(footprint);
        let radius = i64::from(radius);
        let (min, height) = (footprint.min, i64::from(footprint.height));
        let low = i64::from(bounds.min.y) - i64::from(min.y);
        let high = low + i64::from(bounds.height);
        let rows = (-radius).max(low)..(height + radius).min(high);
        let rows = if whole.is_none() { rows } else { 0..0 };
        // With each row farther up, steps lead one column less far to the right, and with each row down one less to the left.
        let row = move |y: i64| {
            let (below, above) = ((-y).max(0), (y - height + 1).max(0));
            let left = i64::from(min.x) - radius + below;
            let right = i64::from(min.x) + i64::from(footprint.width) - 1 + radius - above;
            let corner = |x: i64| i32::try_from(x).ok();
            let min = Cell::new(corner(left)?, corner(i64::from(min.y) + y)?);
            Some(CellRect::new(min, u32::try_from(right - left + 1).ok()?, 1))
        };
        let all = whole.into_iter().chain(rows.filter_map(row));
        all.map(move |rect| rect.intersection(bounds)).filter(|rect| !rect.is_empty())
    }
}

fn note_removed(mut world: DeferredWorld, HookContext { entity, .. }: HookContext) {
    if let Some(mut blockers) = world.get_resource_mut::<PlacedBlockers>() {
        // While the plugin does not run, the list is not to grow.
        if blockers.placed.contains_key(&entity) {
            blockers.removed.push(entity);
        }
    }
}

type Moved = (Or<(Changed<NavBlocker>, Changed<Transform>)>, Allow<Disabled>);
type Children = (With<ChildOf>, Allow<Disabled>);
type Unplaced = (Without<Transform>, Allow<Disabled>);

/// Blocks and frees cells for entities that were spawned, changed, moved and despawned, in one batch of edits
/// per grid. Disabled entities keep blocking.
pub(crate) fn sync_blockers(
    mut blockers: ResMut<PlacedBlockers>,
    // What to block (true) and to free.
    mut changes: Local<Vec<(Placed, bool)>>,
    mut grids: ResMut<NavGrids>,
    all: Query<(Entity, &NavBlocker), Allow<Disabled>>,
    moved: Query<(Entity, &NavBlocker), Moved>,
    children: Query<(Entity, &NavBlocker), Children>,
    unplaced: Query<(Entity, &NavBlocker), Unplaced>,
    whereabouts: Whereabouts,
) {
    for entity in std::mem::take(&mut blockers.removed) {
        if !all.contains(entity) {
            blockers.free(entity, &mut changes);
        }
    }
    // A new grid has no blockers yet, and on a moved grid all positions must be computed again.
    let now = [grids.insertions, grids.removals, grids.frame_changes];
    let has_changed = std::mem::replace(&mut blockers.seen, now) != now;
    let all_if_grids_changed = has_changed.then(|| all.iter());
    // Removal from its parent moves a blocker without a change of its transform.
    let mut before = std::mem::take(&mut blockers.children);
    let released = before.iter().filter(|&&entity| !children.contains(entity));
    let released = released.filter_map(|&entity| all.get(entity).ok());
    // So does the loss of its transform.
    let lost = unplaced.iter().filter(|(_, blocker)| blocker.at.is_none());
    let moved = moved.iter().chain(&children).chain(released).chain(lost);
    let changed = all_if_grids_changed.into_iter().flatten().chain(moved);
    for (entity, blocker) in changed {
        let now = locate(&grids, &whereabouts, entity, blocker);
        blockers.put(entity, now, &mut changes);
    }
    before.clear();
    before.extend(children.iter().map(|(entity, _)| entity));
    blockers.children = before;
    if !changes.is_empty() {
        apply(&mut changes, &mut grids);
    }
}

impl PlacedBlockers {
    /// Looks again, in the next tick, at entities that may not be blockers any more.
    pub(crate) fn check_all(&mut self) {
        self.removed.extend(self.placed.keys());
    }

    /// Returns the grid on which an entity blocks cells, if any.
    pub(crate) fn grid_of(&self, entity: Entity) -> Option<GridId> {
        self.placed.get(&entity).map(|placed| placed.grid)
    }

    /// Returns the footprint of an entity on `grid`, and the steps around it that are blocked, too, if any of its cells lies on
    /// the grid. On hexagons only those around it may lie there.
    pub(crate) fn footprint(&self, entity: Entity, grid: GridId) -> Option<(CellRect, u32)> {
        let placed = self.placed_on(entity, grid)?;
        placed.blocked().next()?;
        let Placed { footprint, bounds, radius, .. } = *placed;
        Some((footprint.intersection(bounds.extended(radius)), radius))
    }

    /// Returns the smallest rectangle around the cells of `grid` that an entity blocks, if there are any.
    pub(crate) fn blocked_rect(&self, entity: Entity, grid: GridId) -> Option<CellRect> {
        self.placed_on(entity, grid)?.blocked().reduce(CellRect::union)
    }

    fn placed_on(&self, entity: Entity, grid: GridId) -> Option<&Placed> {
        self.placed.get(&entity).filter(|placed| placed.grid == grid)
    }

    /// Updates the position of a blocker if it has changed.
    fn put(&mut self, entity: Entity, now: Placed, changes: &mut Vec<(Placed, bool)>) {
        if self.placed.get(&entity) != Some(&now) {
            self.free(entity, changes);
            changes.push((now, true));
            self.placed.insert(entity, now);
        }
    }

    /// Removes a blocker.
    fn free(&mut self, entity: Entity, changes: &mut Vec<(Placed, bool)>) {
        if let Some(of) = self.placed.remove(&entity) {
            changes.push((of, false));
        }
    }
}

/// Applies the changes, those of one grid in one batch.
fn apply(changes: &mut Vec<(Placed, bool)>, grids: &mut NavGrids) {
    // Blockers of a grid that no longer exists need not be removed.
    changes.retain(|(of, _)| {
        grids.generation(of.grid) == of.generation && of.blocked().next().is_some()
    });
    // What is freed comes first. The order of entities and of tables is another one in a world that was loaded, and which
    // rectangles of an edit are joined depends on it.
    changes.sort_unstable_by_key(|(of, is_blocked)| {
        (of.grid, *is_blocked, of.footprint, of.bounds, of.radius)
    });
    for changes in changes.chunk_by(|(a, _), (b, _)| a.grid == b.grid) {
        let Some(grid) = grids.edit_mut(changes[0].0.grid) else {
            continue;
        };
        let mut edit = grid.edit();
        for (of, is_blocked) in changes {
            for rect in of.blocked() {
                let done = if *is_blocked { edit.place(rect) } else { edit.take(rect) };
                if let Err(error) = done {
                    tracing::warn!("a blocker could not be placed or removed: {error}");
                }
            }
        }
    }
    changes.clear();
}

/// Returns the grid and the cells that a blocker occupies; none if it has no position.
fn locate(
    grids: &NavGrids,
    whereabouts: &Whereabouts,
    entity: Entity,
    blocker: &NavBlocker,
) -> Placed {
    let &NavBlocker { grid: id, width, height, at, radius } = blocker;
    let radius = radius.min(1 << 29); // farther than any grid reaches
    let under_transform = || {
        let frame = grids.frame(id)?;
        frame.block_at(whereabouts.position(entity)?, (width, height))
    };
    let fixed = at.map(|min| CellRect::new(min, width, height));
    let footprint = fixed.or_else(under_transform).unwrap_or_default();
    let bounds = grids.get(id).map(NavGrid::rect).unwrap_or_default();
    let is_hexagonal = grids.get(id).is_some_and(|grid| grid.topology() == Topology::Hexagonal);
    let generation = grids.generation(id);
    let placed = Placed { grid: id, footprint, bounds, radius, generation };
    if is_hexagonal || footprint.is_empty() {
        return Placed { radius: if footprint.is_empty() { 0 } else { radius }, ..placed };
    }
    Placed { footprint: footprint.extended(radius), radius: 0, ..placed }
}
