//! Compares two pictures of the game, region by region.
//!
//! Input: two captured pictures and where critters were and went. Output: how many pixels have
//! changed there, or what is wrong.

use bevy::prelude::*;

use crate::{screen::pictures::Pictures, smoke_plan::Plan};

/// Side of a patch of ground that nobody touches, in pixels.
const PATCH: f32 = 48.0;
/// Least share of changed pixels where critters come or go.
const LEAST_CHANGE: f32 = 0.01;

/// The part of the screen without panels on it, in pixels.
pub fn stage() -> Rect {
    Rect::new(290.0, 40.0, 1010.0, 680.0)
}

/// How many pixels have changed where critters were and where they went; fails unless both have
/// changed and a patch away from everything touched has not.
pub fn compare(pictures: &Pictures, plan: &Plan) -> Result<u32, String> {
    let names = ["before", "after"];
    let mut sum = 0;
    for (what, region) in
        [("where the critters were", plan.dragged), ("where they went", plan.goal_region())]
    {
        sum += pictures.changed_enough(names, region, LEAST_CHANGE, what)?;
    }
    let patch = untouched_patch(&plan.touched).ok_or("there is no untouched ground in view")?;
    match pictures.changed(names, patch)? {
        0 => Ok(sum),
        changed => Err(format!("{changed} pixels of untouched ground have changed")),
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
