//! Compares two screenshots of the game, region by region.
//!
//! Input: two screenshots, and the regions that critters left and entered. Output: the number of
//! changed pixels there, or an error.

use bevy::prelude::*;

use crate::{screen::pictures::Pictures, smoke_plan::Plan};

/// Side of the unchanged reference patch, in pixels.
const PATCH: f32 = 48.0;
/// Least share of changed pixels in a region that critters left or entered.
const LEAST_CHANGE: f32 = 0.01;

/// Returns the part of the screen that no panel covers, in pixels.
pub fn play_area() -> Rect {
    Rect::new(290.0, 40.0, 1010.0, 680.0)
}

/// Returns the number of changed pixels in the regions that critters left and entered. Fails unless
/// both have changed and a patch outside all touched regions has not.
pub fn compare(pictures: &Pictures, plan: &Plan) -> Result<u32, String> {
    let names = ["before", "after"];
    let mut sum = 0;
    for (what, region) in
        [("where the critters were", plan.dragged), ("where they went", plan.goal_region())]
    {
        sum += pictures.changed_enough(names, region, LEAST_CHANGE, what)?;
    }
    let patch = untouched_patch(&plan.touched).ok_or("there is no untouched patch in view")?;
    match pictures.changed(names, patch)? {
        0 => Ok(sum),
        changed => Err(format!("{changed} pixels of an untouched patch have changed")),
    }
}

/// Returns a patch of the play area that meets none of the touched regions.
fn untouched_patch(touched: &[Rect]) -> Option<Rect> {
    let area = play_area();
    let steps = (area.size() / PATCH).as_uvec2();
    (0..steps.y)
        .flat_map(|y| (0..steps.x).map(move |x| UVec2::new(x, y)))
        .map(|step| area.min + step.as_vec2() * PATCH)
        .map(|corner| Rect::from_corners(corner, corner + PATCH))
        .find(|patch| touched.iter().all(|region| region.intersect(*patch).is_empty()))
}
