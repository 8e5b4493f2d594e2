//! The same tiles as hexagons, with a corner at the top.
//!
//! In: the sheet of square tiles. Out: a sheet of as many hexagons: 16 pixels wide, 19 high, and 14 from one row to the next.
//! Rows overlap by the slanted sides, which fit into each other pixel by pixel.

use crate::{
    canvas::Canvas,
    palette::{CLEAR, Color},
    tiles::{ROWS, SIZE},
};

/// Pixels from top to bottom.
pub const HEIGHT: i32 = 19;
/// Pixels across in the first rows; in the last rows they are what is left of 16.
const SLOPE: [i32; 5] = [2, 4, 8, 12, 14];
/// Brightness of the rim, in sixteenths.
const RIM: i32 = 13;

/// The whole sheet.
pub fn sheet(squares: &Canvas) -> Canvas {
    Canvas::painted(8 * SIZE, ROWS * HEIGHT, |x, y| {
        let (column, row) = (x / SIZE, y / HEIGHT);
        let (x, y) = (x % SIZE, y % HEIGHT);
        if !is_inside(x, y) {
            return CLEAR;
        }
        let color = squares.get(column * SIZE + x, row * SIZE + y % SIZE);
        let is_rim = [(-1, 0), (0, 1)].iter().any(|&(dx, dy)| !is_inside(x + dx, y + dy));
        if is_rim { shaded(color) } else { color }
    })
}

/// Is the pixel inside the hexagon?
fn is_inside(x: i32, y: i32) -> bool {
    let width = match y {
        0..5 => SLOPE[y as usize],
        5..14 => SIZE,
        14..19 => SIZE - SLOPE[(y - 14) as usize],
        _ => 0,
    };
    (SIZE - width..SIZE + width).contains(&(2 * x)) && (0..SIZE).contains(&x)
}

fn shaded([red, green, blue, alpha]: Color) -> Color {
    let [red, green, blue] = [red, green, blue].map(|part| (i32::from(part) * RIM / 16) as u8);
    [red, green, blue, alpha]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexagons_cover_every_pixel_once() {
        for (x, y) in (0..SIZE).flat_map(|x| (0..14).map(move |y| (x, y))) {
            let shifted = (x + SIZE / 2) % SIZE;
            let covers = [is_inside(x, y), is_inside(shifted, y + 14)];
            assert_eq!(covers.into_iter().filter(|&covers| covers).count(), 1, "({x}, {y})");
        }
    }
}
