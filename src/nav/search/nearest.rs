//! The start cell of a search, and the distance from a goal to the nearest reachable cell.

use crate::nav::{CHUNK, Layer, NavGrid, PathFailure, PathQuery, region::ring_distance};

/// Returns the start as column and row, if a unit can stand there.
pub(super) fn start_cell(
    grid: &NavGrid,
    layer: &Layer,
    query: &PathQuery,
) -> Result<(u32, u32), PathFailure> {
    let (x, y) = grid.local(query.start).ok_or(PathFailure::StartOutOfBounds(query.start))?;
    let start = layer.is_passable(x, y).then_some((x, y));
    start.ok_or(PathFailure::StartImpassable(query.start))
}

/// Work per chunk whose cells are read, in expansions.
const WORK_PER_CHUNK: u32 = 40;
/// Chunks for an expansion of work that are only looked up.
const LOOKS_PER_WORK: u32 = 4;

/// Returns the weight over open terrain from `goal` to the nearest cell of `region`, and the work to find it, in expansions.
///
/// Proceeds outward in rings of chunks around the goal's chunk, and looks only at cells of chunks that
/// contain a part of the region and may contain a nearer cell. There is no flood fill.
pub(super) fn distance_to_region(layer: &Layer, goal: (u32, u32), region: u32) -> (u32, u32) {
    let regions = layer.regions();
    let (mut best, mut searched, mut looked) = (u32::MAX, 0_u32, 0);
    for ring in 0..regions.max_rings() {
        if ring_distance(ring) >= best {
            break;
        }
        for (x, y) in regions.ring_around(goal, ring) {
            // A lower bound: on hexagons, columns and rows of opposite signs give the shortest distance.
            let (dx, dy) = (distance_outside(goal.0, x), distance_outside(goal.1, y));
            let distance = layer.distance(dx as i32, -(dy as i32));
            looked += 1;
            if distance < best && regions.chunk_has_region(x, y, region) {
                searched += 1;
                best = best.min(distance_in_chunk(layer, goal, region, (x, y)));
            }
        }
    }
    (best, searched.saturating_mul(WORK_PER_CHUNK).saturating_add(looked / LOOKS_PER_WORK))
}

/// How far a column (or row) lies outside the columns of a chunk.
const fn distance_outside(column: u32, chunk: u32) -> u32 {
    let first = chunk * CHUNK;
    if column < first { first - column } else { column.saturating_sub(first + CHUNK - 1) }
}

/// Least weight from `goal` to a cell of `region` in a chunk that contains some.
fn distance_in_chunk(layer: &Layer, goal: (u32, u32), region: u32, chunk: (u32, u32)) -> u32 {
    let (x, y) = (chunk.0 * CHUNK, chunk.1 * CHUNK);
    let cells = (0..CHUNK * CHUNK).map(|cell| (x + cell % CHUNK, y + cell / CHUNK));
    cells
        .filter(|&(x, y)| layer.region(x, y) == Some(region))
        .map(|(x, y)| layer.distance_between((x, y), goal))
        .min()
        .unwrap_or(u32::MAX)
}
