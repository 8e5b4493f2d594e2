//! Shapes of a body that can face any way.
//!
//! In: outlines in body space (first number forward, second to the right, in
//! pixels from the middle) and a color ramp. Out: crisp pixels on a frame, lit
//! from the north-west whichever way the body faces.

use crate::{canvas::Canvas, palette::Color, tiles::SIZE};

/// Forward and right, in pixels from the middle of the frame.
pub type Point = (f32, f32);

/// What a part covers.
enum Shape {
    /// Everything inside an ellipse.
    Round,
    /// Everything inside a box.
    Box,
    /// Everything inside a convex outline, points in turning order.
    Hull(Vec<Point>),
    /// A thin line from the part's middle to a point.
    Limb(Point),
}

/// One part of a body.
pub struct Part {
    shape: Shape,
    middle: Point,
    half: Point,
    /// Dark, middle, light.
    ramp: [Color; 3],
}

/// A filled ellipse.
pub fn round(middle: Point, half: Point, ramp: [Color; 3]) -> Part {
    let shape = Shape::Round;
    Part { shape, middle, half, ramp }
}

/// A filled box.
pub fn block(middle: Point, half: Point, ramp: [Color; 3]) -> Part {
    let shape = Shape::Box;
    Part { shape, middle, half, ramp }
}

/// A filled convex outline around the middle of the body.
pub fn hull(points: &[Point], half: Point, ramp: [Color; 3]) -> Part {
    Part { shape: Shape::Hull(points.to_vec()), middle: (0.0, 0.0), half, ramp }
}

/// A thin line without an outline.
pub fn limb(from: Point, to: Point, color: Color) -> Part {
    Part { shape: Shape::Limb(to), middle: from, half: (1.0, 1.0), ramp: [color; 3] }
}

impl Part {
    /// Limbs get no outline of their own.
    pub fn is_limb(&self) -> bool {
        matches!(self.shape, Shape::Limb(_))
    }

    /// Paints the part on a frame, turned to a facing.
    pub fn paint(&self, frame: &mut Canvas, facing: Point) {
        if let Shape::Limb(end) = self.shape {
            let from = to_pixel(self.middle, facing);
            frame.line(from, to_pixel(end, facing), self.ramp[1]);
            return;
        }
        let middle = turn(self.middle, facing);
        let reach = self.half.0.max(self.half.1);
        for y in 0..SIZE {
            for x in 0..SIZE {
                let (px, py) = (x as f32 - 7.5, y as f32 - 7.5);
                let body = (px * facing.0 + py * facing.1, py * facing.0 - px * facing.1);
                if self.covers(body) {
                    let light = (px - middle.0 + py - middle.1) / reach;
                    frame.set(x, y, self.shade(light));
                }
            }
        }
    }

    fn shade(&self, light: f32) -> Color {
        match light {
            l if l < -0.55 => self.ramp[2],
            l if l > 0.7 => self.ramp[0],
            _ => self.ramp[1],
        }
    }

    fn covers(&self, at: Point) -> bool {
        let f = (at.0 - self.middle.0) / self.half.0;
        let s = (at.1 - self.middle.1) / self.half.1;
        match &self.shape {
            Shape::Round => f * f + s * s <= 1.0,
            Shape::Box => f.abs() <= 1.0 && s.abs() <= 1.0,
            Shape::Hull(points) => inside(points, at),
            Shape::Limb(_) => false,
        }
    }
}

fn inside(points: &[Point], at: Point) -> bool {
    (0..points.len()).all(|i| {
        let (a, b) = (points[i], points[(i + 1) % points.len()]);
        (b.0 - a.0) * (at.1 - a.1) - (b.1 - a.1) * (at.0 - a.0) >= 0.0
    })
}

/// Body space to picture space.
fn turn(point: Point, facing: Point) -> Point {
    (point.0 * facing.0 - point.1 * facing.1, point.0 * facing.1 + point.1 * facing.0)
}

fn to_pixel(point: Point, facing: Point) -> (i32, i32) {
    let (x, y) = turn(point, facing);
    ((x + 8.0).floor() as i32, (y + 8.0).floor() as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forward_follows_the_facing() {
        assert_eq!(turn((2.0, 0.0), (0.0, -1.0)), (-0.0, -2.0));
        assert_eq!(turn((0.0, 2.0), (1.0, 0.0)), (0.0, 2.0));
    }
}
