//! The unit sheet: five kinds, two walk frames each, eight facings.
//!
//! In: the bodies of [`kinds`], described facing forward. Out: one picture,
//! columns E, NE, N, NW, W, SW, S, SE, rows kind * 2 + frame.

mod kinds;
mod shapes;

use shapes::Part;

use crate::{canvas::Canvas, palette::*, tiles::SIZE};

const HALF: f32 = std::f32::consts::FRAC_1_SQRT_2;
/// Picture direction of each column.
const FACINGS: [(f32, f32); 8] = [
    (1.0, 0.0),
    (HALF, -HALF),
    (0.0, -1.0),
    (-HALF, -HALF),
    (-1.0, 0.0),
    (-HALF, HALF),
    (0.0, 1.0),
    (HALF, HALF),
];

/// Draws the parts turned to a facing, with a dark outline around fills.
fn frame(parts: &[Part], facing: (f32, f32)) -> Canvas {
    let mut fills = Canvas::new(SIZE, SIZE);
    for part in parts.iter().filter(|p| !p.is_limb()) {
        part.paint(&mut fills, facing);
    }
    let mut result = Canvas::new(SIZE, SIZE);
    for part in parts.iter().filter(|p| p.is_limb()) {
        part.paint(&mut result, facing);
    }
    for y in 0..SIZE {
        for x in 0..SIZE {
            let near = [(0, 1), (1, 0), (0, -1), (-1, 0)];
            if near.iter().any(|(dx, dy)| fills.get(x + dx, y + dy)[3] > 0) {
                result.set(x, y, INK);
            }
        }
    }
    result.draw(&fills, 0, 0);
    result
}

/// The whole sheet.
pub fn sheet() -> Canvas {
    let rows = kinds::ALL.len() as i32 * 2;
    let mut sheet = Canvas::new(8 * SIZE, rows * SIZE);
    for row in 0..rows {
        let parts = kinds::ALL[row as usize / 2](row as usize % 2);
        for (column, facing) in FACINGS.iter().enumerate() {
            sheet.draw(&frame(&parts, *facing), column as i32 * SIZE, row * SIZE);
        }
    }
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_frame_shows_the_team_color_and_differs_from_the_others() {
        let sheet = sheet();
        let frames: Vec<Canvas> =
            (0..80).map(|i| sheet.part(i % 8 * SIZE, i / 8 * SIZE, SIZE, SIZE)).collect();
        for (i, one) in frames.iter().enumerate() {
            let team = (0..256).filter(|p| TEAM.contains(&one.get(p % 16, p / 16))).count();
            assert!(team >= 10, "frame {i} has {team} team pixels");
            assert!(frames[..i].iter().all(|other| other != one));
        }
    }
}
