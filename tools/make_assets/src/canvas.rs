//! A plain RGBA picture with the few drawing operations the art needs.
//!
//! In: colors and integer coordinates. Out: pictures, PNG files.

use std::{fs::File, io::BufWriter, path::Path};

use crate::palette::{CLEAR, Color};

/// A picture; drawing outside it does nothing.
#[derive(Clone, PartialEq, Debug)]
pub struct Canvas {
    /// Pixels across.
    pub width: i32,
    /// Pixels down.
    pub height: i32,
    pixels: Vec<Color>,
}

impl Canvas {
    /// A transparent picture.
    pub fn new(width: i32, height: i32) -> Self {
        let pixels = vec![CLEAR; (width * height) as usize];
        Self { width, height, pixels }
    }

    /// A picture whose every pixel comes from `paint(x, y)`.
    pub fn painted(width: i32, height: i32, paint: impl Fn(i32, i32) -> Color) -> Self {
        let mut canvas = Self::new(width, height);
        for y in 0..height {
            for x in 0..width {
                canvas.set(x, y, paint(x, y));
            }
        }
        canvas
    }

    fn index(&self, x: i32, y: i32) -> Option<usize> {
        let inside = (0..self.width).contains(&x) && (0..self.height).contains(&y);
        inside.then(|| (y * self.width + x) as usize)
    }

    /// The color at a pixel, clear outside.
    pub fn get(&self, x: i32, y: i32) -> Color {
        self.index(x, y).map_or(CLEAR, |i| self.pixels[i])
    }

    /// Paints one pixel.
    pub fn set(&mut self, x: i32, y: i32, color: Color) {
        if let Some(i) = self.index(x, y) {
            self.pixels[i] = color;
        }
    }

    /// Paints a rectangle given by its corner and size.
    pub fn rect(&mut self, x: i32, y: i32, width: i32, height: i32, color: Color) {
        for py in y..y + height {
            for px in x..x + width {
                self.set(px, py, color);
            }
        }
    }

    /// Paints a one pixel wide line, both ends included.
    pub fn line(&mut self, from: (i32, i32), to: (i32, i32), color: Color) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let steps = dx.abs().max(dy.abs()).max(1);
        let along = |delta: i32, i: i32| (2 * delta * i + steps).div_euclid(2 * steps);
        for i in 0..=steps {
            self.set(from.0 + along(dx, i), from.1 + along(dy, i), color);
        }
    }

    /// Draws `other` on top, blending by its alpha.
    pub fn draw(&mut self, other: &Canvas, x: i32, y: i32) {
        for py in 0..other.height {
            for px in 0..other.width {
                let below = self.get(x + px, y + py);
                self.set(x + px, y + py, blend(below, other.get(px, py)));
            }
        }
    }

    /// The part at a corner with a size.
    pub fn part(&self, x: i32, y: i32, width: i32, height: i32) -> Self {
        Self::painted(width, height, |px, py| self.get(x + px, y + py))
    }

    /// Each pixel as a square of `times` pixels.
    pub fn enlarged(&self, times: i32) -> Self {
        Self::painted(self.width * times, self.height * times, |x, y| {
            self.get(x / times, y / times)
        })
    }

    /// Each square of `times` pixels averaged to one.
    pub fn shrunk(&self, times: i32) -> Self {
        Self::painted(self.width / times, self.height / times, |x, y| {
            let mut sum = [0i32; 4];
            for i in 0..times * times {
                let pixel = self.get(x * times + i % times, y * times + i / times);
                (0..4).for_each(|c| sum[c] += i32::from(pixel[c]));
            }
            sum.map(|s| (s / (times * times)) as u8)
        })
    }

    /// Writes a PNG file.
    pub fn save(&self, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
        let file = BufWriter::new(File::create(path)?);
        let mut encoder = png::Encoder::new(file, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        let bytes: Vec<u8> = self.pixels.iter().flatten().copied().collect();
        encoder.write_header()?.write_image_data(&bytes)?;
        Ok(())
    }
}

fn blend(below: Color, above: Color) -> Color {
    match (above[3], below[3]) {
        (0, _) => below,
        (255, _) | (_, 0) => above,
        (alpha, _) => {
            let a = i32::from(alpha);
            let mix = |c: usize| (i32::from(above[c]) * a + i32::from(below[c]) * (255 - a)) / 255;
            let alpha = a + i32::from(below[3]) * (255 - a) / 255;
            [mix(0) as u8, mix(1) as u8, mix(2) as u8, alpha as u8]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::{INK, WHITE};

    #[test]
    fn lines_reach_both_ends() {
        let mut canvas = Canvas::new(8, 8);
        canvas.line((1, 1), (6, 3), WHITE);
        assert_eq!((canvas.get(1, 1), canvas.get(6, 3)), (WHITE, WHITE));
    }

    #[test]
    fn clear_pixels_leave_what_is_below() {
        let mut canvas = Canvas::painted(4, 4, |_, _| INK);
        canvas.draw(&Canvas::new(4, 4), 0, 0);
        assert_eq!(canvas, Canvas::painted(4, 4, |_, _| INK));
        assert_eq!(canvas.enlarged(3).shrunk(3), canvas);
    }
}
