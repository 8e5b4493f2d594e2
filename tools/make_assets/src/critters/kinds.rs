//! The five kinds of units as lists of parts.
//!
//! In: the walk frame, 0 or 1. Out: parts, painted in order.

use super::shapes::{Part, Point, block, hull, limb, round};
use crate::palette::*;

/// Builders in sheet order: runner, trooper, crawler, boat, hovercraft.
pub const ALL: [fn(usize) -> Vec<Part>; 5] = [runner, trooper, crawler, boat, hovercraft];

const METAL: [Color; 3] = [STONE[0], STONE[1], STONE[2]];
const PLATE: [Color; 3] = [STONE[1], STONE[3], STONE[4]];
const GLASS: [Color; 3] = [INK, STONE[0], TEAM[2]];
const EYE: [Color; 3] = [SIGNAL[1], SIGNAL[1], SIGNAL[1]];
const TIMBER: [Color; 3] = [WOOD[1], WOOD[2], WOOD[3]];

/// A limb on each side; the swing moves the right tip forward, the left back.
fn pair(parts: &mut Vec<Part>, root: Point, tip: Point, swing: f32) {
    parts.push(limb(root, (tip.0 + swing, tip.1), INK));
    parts.push(limb((root.0, -root.1), (tip.0 - swing, -tip.1), INK));
}

fn swing(frame: usize) -> f32 {
    if frame == 0 { 1.0 } else { -1.0 }
}

/// A small quick insect with long legs.
fn runner(frame: usize) -> Vec<Part> {
    let mut parts = Vec::new();
    pair(&mut parts, (0.5, 1.5), (1.5, 5.5), swing(frame) * 2.0);
    pair(&mut parts, (-2.5, 1.5), (-4.5, 4.5), -swing(frame));
    pair(&mut parts, (4.5, 0.5), (6.5, 2.5), 0.0);
    parts.push(round((-1.8, 0.0), (4.0, 2.7), TEAM));
    parts.push(round((3.0, 0.0), (2.1, 2.1), PLATE));
    parts
}

/// A sturdy beetle on six legs.
fn trooper(frame: usize) -> Vec<Part> {
    let mut parts = Vec::new();
    pair(&mut parts, (2.5, 2.5), (4.5, 6.5), swing(frame));
    pair(&mut parts, (-0.5, 4.5), (-0.5, 6.5), -swing(frame));
    pair(&mut parts, (-3.5, 2.5), (-5.5, 6.5), swing(frame));
    pair(&mut parts, (5.5, 1.5), (7.5, 1.5), 0.0);
    parts.push(round((4.0, 0.0), (2.2, 2.8), METAL));
    parts.push(round((-1.2, 0.0), (4.8, 4.6), TEAM));
    parts.push(block((-2.4, 0.0), (3.4, 0.6), [TEAM[0]; 3]));
    parts.push(block((1.6, 0.0), (0.7, 3.0), METAL));
    parts
}

/// A long armored hauler on tracks.
fn crawler(frame: usize) -> Vec<Part> {
    let mut parts = vec![
        block((-0.2, 0.0), (5.9, 4.9), [INK, STONE[0], STONE[0]]),
        block((0.0, 0.0), (6.4, 3.2), PLATE),
    ];
    for i in 0..4 {
        let f = -5.0 + 3.0 * i as f32 + 1.5 * frame as f32;
        for s in [-4.2, 4.2] {
            parts.push(block((f, s), (0.6, 0.7), [STONE[2]; 3]));
        }
    }
    parts.push(block((-3.4, 0.0), (1.9, 2.6), TEAM));
    parts.push(block((0.8, 0.0), (1.7, 2.6), TEAM));
    parts.push(block((4.4, 0.0), (1.1, 2.2), METAL));
    for s in [-1.6, 1.6] {
        parts.push(block((5.6, s), (0.7, 0.7), EYE));
    }
    parts
}

/// A pointed hull with a bright cabin.
fn boat(frame: usize) -> Vec<Part> {
    let outline =
        [(7.0, 0.0), (2.6, 3.7), (-5.0, 3.7), (-6.0, 2.4), (-6.0, -2.4), (-5.0, -3.7), (2.6, -3.7)];
    let wide = 3.0 + frame as f32 * 1.5;
    let foam = |s: f32| limb((-6.0, s * 0.6), (-8.0, s), WATER[4]);
    vec![
        foam(wide),
        foam(-wide),
        hull(&outline, (6.0, 6.0), TIMBER),
        block((-1.4, 0.0), (3.6, 2.2), TEAM),
        block((1.4, 0.0), (0.7, 1.8), GLASS),
        block((-4.6 + frame as f32 * 0.8, 0.0), (0.6, 0.6), [WHITE; 3]),
    ]
}

/// A soft skirt, a bright deck and a big fan behind.
fn hovercraft(frame: usize) -> Vec<Part> {
    let mut parts = vec![
        round((0.0, 0.0), (6.6, 5.3), METAL),
        round((1.2, 0.0), (4.9, 3.9), TEAM),
        block((2.6, 0.0), (0.8, 2.6), [INK, STONE[0], STONE[0]]),
        round((-3.6, 0.0), (2.3, 3.2), [INK; 3]),
    ];
    let blade = if frame == 0 { (0.6, 2.6) } else { (1.6, 0.6) };
    parts.push(block((-3.6, 0.0), blade, [STONE[4]; 3]));
    parts
}
