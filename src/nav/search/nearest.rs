//! Where a search may start, and how near to a goal it can get.

use crate::nav::{
    cell::CHUNK,
    grid::NavGrid,
    layer::Layer,
    query::{PathFailure, PathQuery},
    terrain::STRAIGHT,
};

/// The start as column and row, if a unit can stand there.
pub(super) fn start_cell(
    grid: &NavGrid,
    layer: &Layer,
    query: &PathQuery,
) -> Result<(u32, u32), PathFailure> {
    let (x, y) = grid.local(query.start).ok_or(PathFailure::StartOutOfBounds(query.start))?;
    if layer.is_passable(x, y) {
        Ok((x, y))
    } else {
        Err(PathFailure::StartImpassable(query.start))
    }
}

/// Weight over open ground from `goal` to the nearest cell of `island`, and how many chunks were
/// looked through for it.
///
/// Goes outward in rings of chunks around the goal's, and looks at the cells of those only that
/// hold a piece of the island and may hold something nearer. Nothing is flooded.
pub(super) fn distance_to_island(layer: &Layer, goal: (u32, u32), island: u32) -> (u32, u32) {
    let chunks = layer.regions().chunks();
    let center = (goal.0 / CHUNK, goal.1 / CHUNK);
    let (mut best, mut looked_at) = (u32::MAX, 0);
    for ring in 0..chunks.0.max(chunks.1) {
        // From anywhere in the goal's chunk, this ring is at least so many straight steps away.
        let nearest = STRAIGHT * (ring.saturating_sub(1) * CHUNK + u32::from(ring > 0));
        if nearest >= best {
            break;
        }
        for (x, y) in ring_around(center, ring, chunks) {
            let distance = layer.distance(outside(goal.0, x), outside(goal.1, y));
            if distance < best && layer.regions().chunk_has(x, y, island) {
                looked_at += 1;
                best = best.min(distance_in_chunk(layer, goal, island, (x, y)));
            }
        }
    }
    (best, looked_at)
}

/// How far a column (or row) lies outside the columns of a chunk.
const fn outside(column: u32, chunk: u32) -> u32 {
    let first = chunk * CHUNK;
    if column < first { first - column } else { column.saturating_sub(first + CHUNK - 1) }
}

/// Least weight from `goal` to a cell of `island` in one chunk that holds some.
fn distance_in_chunk(layer: &Layer, goal: (u32, u32), island: u32, chunk: (u32, u32)) -> u32 {
    let (x, y) = (chunk.0 * CHUNK, chunk.1 * CHUNK);
    let cells = (0..CHUNK * CHUNK).map(|cell| (x + cell % CHUNK, y + cell / CHUNK));
    cells
        .filter(|&(x, y)| layer.island(x, y) == Some(island))
        .map(|(x, y)| layer.distance(x.abs_diff(goal.0), y.abs_diff(goal.1)))
        .min()
        .unwrap_or(u32::MAX)
}

/// The chunks at Chebyshev distance `ring` from `center` that exist.
fn ring_around(
    center: (u32, u32),
    ring: u32,
    chunks: (u32, u32),
) -> impl Iterator<Item = (u32, u32)> {
    let ring = ring as i32;
    (-ring..=ring)
        .flat_map(move |dy| {
            let step = if dy.abs() == ring { 1 } else { (2 * ring).max(1) };
            (-ring..=ring).step_by(step as usize).map(move |dx| (dx, dy))
        })
        .filter_map(move |(dx, dy)| {
            let x = center.0.checked_add_signed(dx).filter(|&x| x < chunks.0)?;
            let y = center.1.checked_add_signed(dy).filter(|&y| y < chunks.1)?;
            Some((x, y))
        })
}
