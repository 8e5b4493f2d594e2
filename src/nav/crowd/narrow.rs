//! Which cells are narrow: none of the blocks of 2 × 2 cells around them is open.
//!
//! Input: the ground as one profile sees it. Output: where a chain of narrow cells leads on from a cell.

use super::{
    board::Place,
    passage::{LONGEST, STRAIGHT_WAYS},
};
use crate::nav::layer::Layer;

/// Goes on from the last cell of a chain to its end; returns the cell behind it.
pub(super) fn follow(layer: &Layer, cells: &mut Vec<Place>, mut way: u8) -> Option<Place> {
    let start = cells[0];
    while let Some(&last) = cells.last() {
        let next = last.step(way);
        if next == start || cells.len() > LONGEST {
            return None;
        }
        let Some(links) = links(layer, next) else {
            return Some(next);
        };
        cells.push(next);
        way = (links & !(1 << ((way + 4) & 7))).trailing_zeros() as u8;
        if way > 7 {
            return None;
        }
    }
    None
}

/// The ways on from a narrow cell, two at most; `None` where the ground is not narrow, or branches.
pub(super) fn links(layer: &Layer, place: Place) -> Option<u8> {
    let ways = narrow(layer, place)?;
    match ways.count_ones() {
        0 => None,
        1 => {
            let behind = narrow(layer, place.step(ways.trailing_zeros() as u8));
            behind.is_none_or(|ways| ways.count_ones() < 3).then_some(ways)
        }
        2 => Some(ways),
        _ => {
            let leads_on = |way: &u8| {
                let beside = narrow(layer, place.step(*way));
                ways & 1 << way != 0 && beside.is_none_or(|ways| ways.count_ones() > 1)
            };
            let links = STRAIGHT_WAYS.into_iter().filter(leads_on);
            let links = links.fold(0u8, |links, way| links | 1 << way);
            (links.count_ones() <= 2 && links != 0).then_some(links)
        }
    }
}

/// The straight ways out of a passable cell that lies in no open block of 2 × 2 cells.
pub(super) fn narrow(layer: &Layer, place: Place) -> Option<u8> {
    let (x, y) = (u32::from(place.x), u32::from(place.y));
    if !layer.is_passable(x, y) {
        return None;
    }
    let pattern = layer.pattern(x, y);
    // East, north-east, north and so on around, as directions count.
    let bits = [5, 8, 7, 6, 3, 0, 1, 2];
    let around = bits.iter().rev().fold(0u8, |ways, bit| ways << 1 | (pattern >> bit & 1) as u8);
    let is_corner = |way: u32| around.rotate_right(way) & 0b111 == 0b111;
    (![0, 2, 4, 6].into_iter().any(is_corner)).then_some(around & 0b0101_0101)
}
