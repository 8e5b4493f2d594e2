//! Fences, doors and other entities that stand between cells.
//!
//! Input: entities with [`NavEdges`]. Output: edges on the grid, removed when the entity is despawned or loses the component.
//! If several entities place the same edge, or the map has an edge there, the highest number counts.

use std::collections::{BTreeMap, BTreeSet};

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
    nav::{Cell, Direction, EdgeId, GridId, Topology},
};

/// Places edges between cells as long as the entity has this component: a fence, a door, the rail of a bridge. To open a
/// door, change its edges to another kind, or to [`EdgeId::NONE`] ([`set_all`](NavEdges::set_all)). Writing the same kind again
/// changes nothing on the grid.
///
/// ```
/// use bevy_tilepath::prelude::*;
/// let door = EdgeId(2); // open to those whose profile says so
/// let hut = Cell::new(4, 7);
/// let walls = NavEdges::between(hut, Direction::South, door).and(hut, Direction::East, EdgeId::WALL);
/// # assert_eq!(walls.edges.len(), 2);
/// ```
#[derive(Component, Clone, Debug, Default, PartialEq, Eq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(on_remove = note_removed)]
#[must_use]
pub struct NavEdges {
    /// Grid of the edges.
    pub grid: GridId,
    /// For each edge a cell, the direction of its neighbor, and the kind of edge between them. Edges that cannot exist (off the
    /// grid, or along a diagonal of squares) are reported in the log and left out.
    pub edges: Vec<(Cell, Direction, EdgeId)>,
}

impl NavEdges {
    /// Places one edge on the default grid, between a cell and its neighbor in a direction.
    pub fn between(cell: Cell, direction: Direction, edge: EdgeId) -> Self {
        Self::default().and(cell, direction, edge)
    }

    /// Places another edge.
    pub fn and(mut self, cell: Cell, direction: Direction, edge: EdgeId) -> Self {
        self.edges.push((cell, direction, edge));
        self
    }

    /// Places a fence: an edge wherever a cell of one area has a neighbor in the other. Cells that are in both count as those of
    /// the first. Works for squares and hexagons.
    ///
    /// ```
    /// use bevy_tilepath::prelude::*;
    /// // A fence between two rows.
    /// let [south, north] = [0, 1].map(|y| CellRect::new(Cell::new(2, y), 5, 1));
    /// let fence = NavEdges::dividing(Topology::Square, south.cells(), north.cells(), EdgeId::WALL);
    /// assert_eq!(fence.edges.len(), 5);
    /// // Walls around a hut of 3 × 2 cells.
    /// let (hut, with_yard) = (CellRect::new(Cell::new(4, 4), 3, 2), CellRect::new(Cell::new(3, 3), 5, 4));
    /// let walls = NavEdges::dividing(Topology::Square, hut.cells(), with_yard.cells(), EdgeId::WALL);
    /// assert_eq!(walls.edges.len(), 10);
    /// ```
    pub fn dividing(
        topology: Topology,
        area: impl IntoIterator<Item = Cell>,
        from: impl IntoIterator<Item = Cell>,
        edge: EdgeId,
    ) -> Self {
        let area: BTreeSet<Cell> = area.into_iter().collect();
        let from: BTreeSet<Cell> = from.into_iter().collect();
        let directions = || topology.widest().straight_steps().map(Direction::from_bits);
        let sides = area.iter().flat_map(|&cell| directions().map(move |to| (cell, to)));
        let is_between = |&(cell, direction): &(Cell, Direction)| {
            let (dx, dy) = direction.offset();
            let other = cell.offset(dx, dy);
            from.contains(&other) && !area.contains(&other)
        };
        sides.filter(is_between).map(|(cell, direction)| (cell, direction, edge)).collect()
    }

    /// Changes all its edges to another kind: opens or shuts a door.
    pub fn set_all(&mut self, kind: EdgeId) {
        self.edges.iter_mut().for_each(|(_, _, edge)| *edge = kind);
    }

    /// Sets the grid.
    pub fn on(self, grid: GridId) -> Self {
        Self { grid, ..self }
    }
}

impl FromIterator<(Cell, Direction, EdgeId)> for NavEdges {
    /// Places edges on the default grid.
    fn from_iter<T: IntoIterator<Item = (Cell, Direction, EdgeId)>>(edges: T) -> Self {
        Self { grid: GridId::default(), edges: edges.into_iter().collect() }
    }
}

/// An edge of a grid: the grid and its generation, a cell and the direction of its neighbor, each edge in one way only.
type EdgeKey = (GridId, u64, Cell, Direction);

/// The edges in place.
#[derive(Resource, Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct PlacedEdges {
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::serde_with::sorted"))]
    by_entity: EntityHashMap<Vec<(EdgeKey, EdgeId)>>,
    /// What all entities together place.
    by_edge: BTreeMap<EdgeKey, Vec<EdgeId>>,
    /// Edges to set again.
    changed: BTreeSet<EdgeKey>,
    /// Entities whose component was removed. Kept here because Bevy discards removal records after a frame,
    /// and there may be no tick in that frame.
    removed: Vec<Entity>,
    /// How many grids had been inserted and removed when edges were last placed on them.
    seen: [u64; 2],
    /// Entities whose edges could not be checked yet, because their grid is not there.
    unchecked: Vec<Entity>,
}

fn note_removed(mut world: DeferredWorld, HookContext { entity, .. }: HookContext) {
    if let Some(mut edges) = world.get_resource_mut::<PlacedEdges>() {
        // While the plugin does not run, the list is not to grow.
        if edges.by_entity.contains_key(&entity) {
            edges.removed.push(entity);
        }
    }
}

type Changes = (Changed<NavEdges>, Allow<Disabled>);

/// Places and removes the edges of entities that were spawned, changed and despawned, in one batch of edits per grid. Edges of
/// disabled entities stay.
pub(crate) fn sync_edges(
    mut placed: ResMut<PlacedEdges>,
    mut grids: ResMut<NavGrids>,
    all: Query<(Entity, &NavEdges), Allow<Disabled>>,
    changed: Query<(Entity, &NavEdges), Changes>,
) {
    for entity in std::mem::take(&mut placed.removed) {
        if !all.contains(entity) {
            placed.put(entity, Vec::new());
        }
    }
    // A new grid has no edges of entities yet.
    let now = [grids.insertions, grids.removals];
    let has_changed = std::mem::replace(&mut placed.seen, now) != now;
    let all_if_grids_changed = has_changed.then(|| all.iter()).into_iter().flatten();
    for (entity, edges) in all_if_grids_changed.chain(&changed) {
        placed.put(entity, locate(&grids, edges));
    }
    // Once, not with every grid that comes.
    placed.unchecked.extend(changed.iter().map(|(entity, _)| entity));
    placed.unchecked.sort_unstable();
    placed.unchecked.dedup(); // those that change in every tick while their grid is not there
    placed.unchecked.retain(|&entity| match all.get(entity) {
        Ok((_, edges)) => !report_misplaced(&grids, entity, edges),
        Err(_) => false,
    });
    if !placed.changed.is_empty() {
        placed.apply(&mut grids);
    }
}

/// Returns the edges of an entity that can be placed.
fn locate(grids: &NavGrids, edges: &NavEdges) -> Vec<(EdgeKey, EdgeId)> {
    let id = edges.grid;
    let key = |(cell, direction)| (id, grids.generation(id), cell, direction);
    let located = edges.edges.iter().filter_map(|&(cell, direction, edge)| {
        Some((key(grids.get(id)?.canonical_edge(cell, direction)?), edge))
    });
    located.collect()
}

/// Reports the edges of an entity that cannot be placed; returns false if its grid is not there.
fn report_misplaced(grids: &NavGrids, entity: Entity, edges: &NavEdges) -> bool {
    let Some(grid) = grids.get(edges.grid) else {
        return false;
    };
    for &(cell, direction, _) in &edges.edges {
        if grid.canonical_edge(cell, direction).is_none() {
            tracing::warn!("{entity}: no edge at {cell} to the {direction:?}");
        }
    }
    true
}

impl MapEntities for PlacedEdges {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        map_keys(&mut self.by_entity, mapper);
        self.removed.map_entities(mapper);
        self.unchecked.map_entities(mapper);
    }
}

impl PlacedEdges {
    /// Looks again, in the next tick, at entities that may have no edges any more.
    pub(crate) fn check_all(&mut self) {
        self.removed.extend(self.by_entity.keys());
    }

    /// Replaces the edges of an entity, if they are others.
    fn put(&mut self, entity: Entity, edges: Vec<(EdgeKey, EdgeId)>) {
        if self.by_entity.get(&entity).map_or(&[][..], Vec::as_slice) == edges {
            return;
        }
        for (key, edge) in self.by_entity.remove(&entity).unwrap_or_default() {
            if let Some(known) = self.by_edge.get_mut(&key) {
                if let Some(at) = known.iter().position(|&other| other == edge) {
                    known.swap_remove(at);
                }
                if known.is_empty() {
                    self.by_edge.remove(&key);
                }
            }
            self.changed.insert(key);
        }
        for &(key, edge) in &edges {
            self.by_edge.entry(key).or_default().push(edge);
            self.changed.insert(key);
        }
        if !edges.is_empty() {
            self.by_entity.insert(entity, edges);
        }
    }

    /// Sets the edges that have changed; those of grids that are gone need no change.
    fn apply(&mut self, grids: &mut NavGrids) {
        let changed: Vec<EdgeKey> = std::mem::take(&mut self.changed).into_iter().collect();
        for edges in changed.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (id, generation, ..) = edges[0];
            let is_current = grids.generation(id) == generation;
            let Some(grid) = grids.edit_mut(id).filter(|_| is_current) else {
                continue;
            };
            let mut edit = grid.edit();
            for key @ &(.., cell, direction) in edges {
                let highest = self.by_edge.get(key).and_then(|edges| edges.iter().max().copied());
                let placed = edit.place_edge(cell, direction, highest.unwrap_or_default());
                if let Err(error) = placed {
                    tracing::warn!("an edge could not be placed or removed: {error}");
                }
            }
        }
    }
}
