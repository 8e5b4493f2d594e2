//! Order markers and cursors.
//!
//! In: nothing. Out: the mark sheet (one row of 8 frames) and the target tile.

use crate::{canvas::Canvas, palette::*, tiles::SIZE};

/// A ring of pixels whose distance from the center lies in a range; `squash`
/// above one flattens it.
fn ring(inner: f32, outer: f32, squash: f32, color: Color) -> Canvas {
    Canvas::painted(SIZE, SIZE, |x, y| {
        let (dx, dy) = (x as f32 - 7.5, (y as f32 - 7.5) * squash);
        let far = (dx * dx + dy * dy).sqrt();
        if far >= inner && far < outer { color } else { CLEAR }
    })
}

/// The order tile: a ring with a dot.
pub fn target() -> Canvas {
    let mut tile = ring(5.6, 7.4, 1.0, SIGNAL[1]);
    tile.draw(&ring(6.7, 7.6, 1.0, INK), 0, 0);
    tile.rect(7, 7, 2, 2, SIGNAL[1]);
    tile
}

/// Four chevrons that point at the middle.
fn chevrons() -> Canvas {
    let mut tile = Canvas::new(SIZE, SIZE);
    for (offset, color) in [(1, INK), (0, SIGNAL[0])] {
        for i in 0..3 {
            let (near, far) = (7 - i, 8 + i);
            let (low, high) = (4 - i + offset, 11 + i + offset);
            for (x, y) in [(near, low), (far, low), (near, high), (far, high)] {
                tile.set(x, y, color);
                tile.set(y - offset, x + offset, color);
            }
        }
    }
    tile
}

fn cross() -> Canvas {
    let mut tile = Canvas::new(SIZE, SIZE);
    for (grow, color) in [(1, INK), (0, SIGNAL[2])] {
        for i in 4..12 {
            for x in [i, 15 - i] {
                tile.rect(x - grow, i - grow, 1 + 2 * grow, 1 + 2 * grow, color);
                tile.rect(x - grow, i - grow, 2 + grow, 1 + 2 * grow, color);
            }
        }
    }
    tile
}

fn build_cursor() -> Canvas {
    let gray = |alpha: u8| [STONE[4][0], STONE[4][1], STONE[4][2], alpha];
    let mut tile = Canvas::painted(SIZE, SIZE, |_, _| gray(110));
    for i in 0..SIZE {
        for (x, y) in [(i, 0), (i, 15), (0, i), (15, i)] {
            tile.set(x, y, gray(210));
        }
    }
    for y in [5, 10] {
        tile.rect(1, y, 14, 1, gray(170));
    }
    for (x, y) in [(8, 1), (4, 6), (11, 6), (8, 11)] {
        tile.rect(x, y, 1, 4, gray(170));
    }
    tile
}

fn dot() -> Canvas {
    let mut tile = Canvas::new(SIZE, SIZE);
    tile.rect(6, 6, 4, 4, [INK[0], INK[1], INK[2], 150]);
    tile.rect(7, 7, 2, 2, WHITE);
    tile
}

fn flag() -> Canvas {
    let mut tile = Canvas::new(SIZE, SIZE);
    tile.rect(3, 1, 3, 14, INK);
    tile.rect(5, 1, 8, 8, INK);
    tile.rect(13, 3, 1, 4, INK);
    tile.rect(4, 2, 1, 12, WOOD[3]);
    tile.rect(5, 2, 7, 6, TEAM[1]);
    tile.rect(12, 4, 1, 3, TEAM[1]);
    tile.rect(5, 2, 7, 1, TEAM[2]);
    tile.rect(5, 7, 7, 1, TEAM[0]);
    tile
}

/// The whole sheet.
pub fn sheet() -> Canvas {
    let mut queued = ring(2.4, 3.6, 1.0, INK);
    queued.draw(&ring(1.4, 2.6, 1.0, SIGNAL[1]), 0, 0);
    queued.rect(7, 7, 2, 2, SIGNAL[1]);
    let frames = [
        ring(6.6, 7.6, 1.25, SIGNAL[0]),
        chevrons(),
        queued,
        cross(),
        build_cursor(),
        dot(),
        flag(),
        Canvas::painted(SIZE, SIZE, |_, _| WHITE),
    ];
    let mut sheet = Canvas::new(SIZE * frames.len() as i32, SIZE);
    for (i, frame) in frames.iter().enumerate() {
        sheet.draw(frame, i as i32 * SIZE, 0);
    }
    sheet
}
