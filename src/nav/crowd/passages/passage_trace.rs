//! Tracing of narrow cells. A cell is narrow if none of the 2 × 2 blocks that contain it is fully passable.
//!
//! Input: the terrain for one profile. Output: the cells to which a chain of narrow cells leads on.

use super::passage::{MAX_LENGTH, STRAIGHT_DIRECTIONS};
use crate::nav::Layer;
use crate::nav::crowd::board::GridPos;

/// Extends a chain from its last cell to its end. Returns the cell after the end.
pub fn trace_from(layer: &Layer, cells: &mut Vec<GridPos>, mut direction: u8) -> Option<GridPos> {
    let start = cells[0];
    while let Some(&last) = cells.last() {
        let next = last.step(direction);
        if next == start || cells.len() > MAX_LENGTH {
            return None;
        }
        let Some(links) = links(layer, next) else {
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
        1 => {
            let behind = narrow_directions(layer, pos.step(directions.trailing_zeros() as u8));
            behind.is_none_or(|directions| directions.count_ones() < 3).then_some(directions)
        }
        2 => Some(directions),
        _ => {
            let leads_on = |direction: &u8| {
                let beside = narrow_directions(layer, pos.step(*direction));
                directions & 1 << direction != 0
                    && beside.is_none_or(|directions| directions.count_ones() > 1)
            };
            let links = STRAIGHT_DIRECTIONS.into_iter().filter(leads_on);
            let links = links.fold(0u8, |links, direction| links | 1 << direction);
            (links.count_ones() <= 2 && links != 0).then_some(links)
        }
    }
}

/// Returns the straight directions out of a passable cell that lies in no open 2 × 2 block.
pub fn narrow_directions(layer: &Layer, pos: GridPos) -> Option<u8> {
    let (x, y) = (u32::from(pos.x), u32::from(pos.y));
    if !layer.is_passable(x, y) {
        return None;
    }
    let pattern = layer.pattern(x, y);
    // East, north-east, north and so on, in the order of the directions.
    let bits = [5, 8, 7, 6, 3, 0, 1, 2];
    let around =
        bits.iter().rev().fold(0u8, |directions, bit| directions << 1 | (pattern >> bit & 1) as u8);
    let is_corner = |direction: u32| around.rotate_right(direction) & 0b111 == 0b111;
    (![0, 2, 4, 6].into_iter().any(is_corner)).then_some(around & 0b0101_0101)
}
