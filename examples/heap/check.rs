//! The check: whether pictures of the window show what they should.
//!
//! Input: what is planned to happen, and the pictures. Output: one line of JSON, or what is wrong.

use bevy::prelude::*;
use bevy_tilepath::prelude::Cell;

use crate::{
    event::Event,
    screen::pictures::Pictures,
    stage::{Picture, SIZE, Stage},
    story::Story,
};

/// Sizes of the heap that make a good picture.
const HEAP: std::ops::RangeInclusive<usize> = 15..=30;
/// How far through the story, in percent.
const SHARE: usize = 70;
/// Least share of pixels that change where a node is pointed at, or a wall is built.
const LEAST_CHANGE: f32 = 0.02;

/// What is to be shown and done.
#[derive(Resource, Clone, Copy, Debug)]
pub struct Plan {
    pub moment: usize,
    /// The box of a node in the tree, its slot of the array, its cell on the map.
    pub node: Rect,
    slot: Rect,
    cell: Rect,
    /// The cell of the path that becomes a wall.
    pub wall: Rect,
    wall_cell: Cell,
    /// Moments of the story as it is before.
    moments: usize,
}

impl Plan {
    /// The swap nearest to the wanted place in the story, and the node in the middle of the heap.
    pub fn make(world: &World) -> Result<Self, String> {
        let (story, stage) = (world.resource::<Story>(), world.resource::<Stage>());
        let wanted = story.last() * SHARE / 100;
        let is_good = |&moment: &usize| {
            let moment = &story.moments[moment];
            HEAP.contains(&moment.heap.len()) && matches!(moment.event, Some(Event::Swapped { .. }))
        };
        let moment = (0..story.moments.len())
            .filter(is_good)
            .min_by_key(|moment| moment.abs_diff(wanted))
            .ok_or("no moment is good for a picture")?;
        let shown = story.moment(moment);
        let slot = (3..shown.heap.len())
            .find(|&slot| shown.light(slot).is_none())
            .ok_or("every node is lit")?;
        let wall_cell = *story.path.get(story.path.len() / 2).ok_or("there is no path")?;
        Ok(Self {
            moment,
            node: stage.slot(Picture::Tree, slot),
            slot: stage.slot(Picture::Array, slot),
            cell: stage.cell(shown.heap[slot].cell),
            wall: stage.cell(wall_cell),
            wall_cell,
            moments: story.moments.len(),
        })
    }
}

/// Compares the pictures; `story` is the one told after the wall was built.
pub fn check(pictures: &Pictures, plan: &Plan, story: &Story) -> Result<String, String> {
    let whole = Rect::from_corners(Vec2::ZERO, SIZE);
    let compare = |names: [&str; 2], region: Rect, what: &str| {
        pictures.changed_enough(names, region, LEAST_CHANGE, what)
    };
    let played = compare(["start", "swap"], whole, "playing")?;
    let mut hovered = 0;
    for (name, region) in [("tree", plan.node), ("array", plan.slot), ("map", plan.cell)] {
        // Outlines lie around boxes.
        hovered += compare(["swap", "heap"], region.inflate(3.0), name)?;
    }
    let returned = pictures.changed(["heap", "again"], whole)?;
    if returned > 0 {
        return Err(format!("{returned} pixels differ after a step back and one forth"));
    }
    let back = pictures.changed(["heap", "back"], whole)?;
    if back == 0 {
        return Err("nothing has changed after a step back".into());
    }
    let walled = compare(["path", "wall"], plan.wall.inflate(-6.0), "the wall")?;
    if story.path.contains(&plan.wall_cell) {
        return Err("the path leads through the wall".into());
    }
    Ok(format!(
        concat!(
            r#"{{"smoke":"ok","moment":{},"moments":{},"played_pixels":{},"hover_pixels":{},"#,
            r#""back_pixels":{},"wall_pixels":{},"moments_after_wall":{}}}"#
        ),
        plan.moment,
        plan.moments,
        played,
        hovered,
        back,
        walled,
        story.moments.len(),
    ))
}
