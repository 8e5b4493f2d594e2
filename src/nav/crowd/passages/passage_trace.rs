//! Tracing of narrow cells. A cell is narrow if every block that contains it has an impassable cell or is divided by a shut
//! edge. A block is 2 × 2 squares, or four hexagons in two rows of two.
//!
//! Input: the terrain for one profile. Output: the cells to which a chain of narrow cells leads on.

use super::passage::MAX_LENGTH;
use crate::nav::crowd::board::{GridPos, legal_directions};
use crate::nav::{Adjacency, Layer, directions_of};

/// Extends a chain from its last cell to its end, or to a cell of a known chain: long chains are traced in parts. Returns the
/// cell after the end.
pub fn trace_from(
    layer: &Layer,
    cells: &mut Vec<GridPos>,
    mut direction: u8,
    is_known: impl Fn(GridPos) -> bool,
) -> Option<GridPos> {
    let start = cells[0];
    while let Some(&last) = cells.last() {
        let next = last.step(direction);
        if next == start || cells.len() > MAX_LENGTH {
            return None;
        }
        let Some(links) = links(layer, next).filter(|_| !is_known(next)) else {
            return Some(next);
        };
        cells.push(next);
        direction = (links & !(1 << ((direction + 4) & 7))).trailing_zeros() as u8;
        if direction > 7 {
            return None;
        }
    }
    None
}

/// Returns the directions in which a chain leads on from a narrow cell, at most two, as a bit mask. `None`
/// where the cell is not narrow or the chain branches.
pub fn links(layer: &Layer, pos: GridPos) -> Option<u8> {
    let directions = narrow_directions(layer, pos)?;
    match directions.count_ones() {
        0 => None,
        _ if is_bay_of_hexagons(layer, directions) => None,
        1 => {
            let behind = narrow_directions(layer, pos.step(directions.trailing_zeros() as u8));
            behind.is_none_or(|directions| directions.count_ones() < 3).then_some(directions)
        }
        2 => Some(directions),
        _ => {
            let leads_on = |direction: &u8| {
                let beside = narrow_directions(layer, pos.step(*direction));
                directions & 1 << direction != 0
                    && beside.is_none_or(|directions| {
                        directions.count_ones() > 1 && !is_bay_of_hexagons(layer, directions)
                    })
            };
            let links = layer.adjacency().straight_steps().filter(leads_on);
            let links = links.fold(0u8, |links, direction| links | 1 << direction);
            (links.count_ones() <= 2 && links != 0).then_some(links)
        }
    }
}

/// Returns the directions in which passages may lead out of a passable cell that is narrow.
pub fn narrow_directions(layer: &Layer, pos: GridPos) -> Option<u8> {
    let (x, y) = (u32::from(pos.x), u32::from(pos.y));
    if !layer.is_passable(x, y) {
        return None;
    }
    let adjacency = layer.adjacency();
    let (shut, divided) = layer
        .crossings()
        .map_or((0, 0), |crossings| (crossings.shut_sides(x, y), crossings.divided_corners(x, y)));
    let around = directions_of(layer.pattern(x, y)) & !shut;
    let is_wide = match adjacency {
        Adjacency::Six => is_wide_on_hexagons(layer, pos, around),
        // A corner of the ring of eight cells, with the cells on both sides.
        Adjacency::Four | Adjacency::Eight => [0, 2, 4, 6].into_iter().any(|direction: u8| {
            let is_divided = divided >> (direction + 1) & 1 == 1;
            around.rotate_right(direction.into()) & 0b111 == 0b111 && !is_divided
        }),
    };
    (!is_wide).then_some(around & adjacency.straight_directions())
}

/// Returns whether a hexagon lies in an open block of four: with three neighbors in sequence, or with two neighbors and
/// the cell behind both. `around` holds the directions in which steps lead.
fn is_wide_on_hexagons(layer: &Layer, pos: GridPos, around: u8) -> bool {
    let is_open = |direction: u8| around >> direction & 1 == 1;
    let can_step = |from: GridPos, way: u8| legal_directions(layer, from) >> way & 1 == 1;
    Adjacency::Six.straight_steps().any(|direction| {
        let [(next, to_next), (before, to_before)] = Adjacency::Six.around(direction);
        let beside = pos.step(direction);
        // Edges may divide the cells of a block.
        is_open(direction)
            && is_open(next)
            && can_step(beside, to_next)
            && (is_open(before) && can_step(beside, to_before)
                || can_step(beside, next) && can_step(pos.step(next), direction))
    })
}

/// Returns whether a hexagon with these passable neighbors is a bay: it has two neighbors, which touch, so that no path
/// has to lead through it.
fn is_bay_of_hexagons(layer: &Layer, directions: u8) -> bool {
    let first = directions.trailing_zeros() as u8;
    let [(next, _), (before, _)] = Adjacency::Six.around(first);
    layer.adjacency() == Adjacency::Six
        && directions.count_ones() == 2
        && directions & (1 << next | 1 << before) != 0
}
