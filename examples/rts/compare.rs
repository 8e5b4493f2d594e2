//! Compares two pictures of the game, region by region.
//!
//! Input: two captured pictures and where critters were and went. Output: how many pixels have
//! changed there, or what is wrong.

use bevy::prelude::*;

/// Side of a patch of ground that nobody touches, in pixels.
const PATCH: f32 = 48.0;
/// Least share of changed pixels where critters come or go.
const LEAST_CHANGE: f32 = 0.01;

/// The part of the screen without panels on it, in pixels.
pub fn stage() -> Rect {
    Rect::new(290.0, 40.0, 1010.0, 680.0)
}

/// Two pictures of the same view.
pub struct Pictures<'a> {
    pub before: &'a Image,
    pub after: &'a Image,
}

impl Pictures<'_> {
    /// How many pixels have changed in `from` and `to`; fails unless both have changed and a
    /// patch away from all `touched` regions has not.
    pub fn compare(&self, from: Rect, to: Rect, touched: &[Rect]) -> Result<u32, String> {
        if self.before.size() != self.after.size() {
            return Err("the pictures differ in size".into());
        }
        let mut sum = 0;
        for (name, region) in [("where the critters were", from), ("where they went", to)] {
            let changed = self.changed(region)?;
            if (changed as f32) < region.size().element_product() * LEAST_CHANGE {
                return Err(format!("only {changed} pixels have changed {name}"));
            }
            sum += changed;
        }
        let patch = untouched_patch(touched).ok_or("there is no untouched ground in view")?;
        match self.changed(patch)? {
            0 => Ok(sum),
            changed => Err(format!("{changed} pixels of untouched ground have changed")),
        }
    }

    /// Changed pixels in a region of the screen.
    fn changed(&self, region: Rect) -> Result<u32, String> {
        let region = region.intersect(Rect::from_corners(Vec2::ZERO, self.before.size_f32()));
        let (min, max) = (region.min.as_uvec2(), region.max.as_uvec2());
        let mut changed = 0;
        for (x, y) in (min.y..max.y).flat_map(|y| (min.x..max.x).map(move |x| (x, y))) {
            let at = UVec3::new(x, y, 0);
            let before = self.before.pixel_bytes(at).map_err(|error| error.to_string())?;
            let after = self.after.pixel_bytes(at).map_err(|error| error.to_string())?;
            changed += u32::from(before != after);
        }
        Ok(changed)
    }
}

/// A patch of the stage that meets none of the touched regions.
fn untouched_patch(touched: &[Rect]) -> Option<Rect> {
    let stage = stage();
    let steps = (stage.size() / PATCH).as_uvec2();
    (0..steps.y)
        .flat_map(|y| (0..steps.x).map(move |x| UVec2::new(x, y)))
        .map(|step| stage.min + step.as_vec2() * PATCH)
        .map(|corner| Rect::from_corners(corner, corner + PATCH))
        .find(|patch| touched.iter().all(|region| region.intersect(*patch).is_empty()))
}
