//! Checks the screenshots of the smoke run.
//!
//! Input: the plan, and the screenshots. Output: one line of JSON, or an error.

use bevy::prelude::*;
use bevy_tilepath::prelude::Cell;

use crate::{
    event::Event,
    layout::{HeapView, Layout, SIZE},
    screen::pictures::Pictures,
    timeline::Timeline,
};

/// Heap sizes that are suitable for the screenshot.
const HEAP: std::ops::RangeInclusive<usize> = 15..=30;
/// Preferred position in the timeline, in percent.
const SHARE: usize = 70;
/// Least share of changed pixels where a node is hovered or a wall is built.
const LEAST_CHANGE: f32 = 0.02;

/// The plan of the smoke run.
#[derive(Resource, Clone, Copy, Debug)]
pub struct Plan {
    pub moment: usize,
    /// Screen rectangles of a node in the tree, of its slot in the array, of its cell on the map.
    pub node: Rect,
    slot: Rect,
    cell: Rect,
    /// Screen rectangle of the cell of the path that becomes a wall.
    pub wall: Rect,
    wall_cell: Cell,
    /// Number of moments before the wall is built.
    moments: usize,
}

impl Plan {
    /// Chooses the swap nearest to the preferred position in the timeline, and a node of the heap
    /// that is not highlighted.
    pub fn make(world: &World) -> Result<Self, String> {
        let (timeline, layout) = (world.resource::<Timeline>(), world.resource::<Layout>());
        let wanted = timeline.last() * SHARE / 100;
        let is_good = |&moment: &usize| {
            let moment = &timeline.moments[moment];
            HEAP.contains(&moment.heap.len()) && matches!(moment.event, Some(Event::Swapped { .. }))
        };
        let moment = (0..timeline.moments.len())
            .filter(is_good)
            .min_by_key(|moment| moment.abs_diff(wanted))
            .ok_or("no moment is suitable for a picture")?;
        let shown = timeline.moment(moment);
        let slot = (3..shown.heap.len())
            .find(|&slot| shown.light(slot).is_none())
            .ok_or("every node is highlighted")?;
        let wall_cell = *timeline.path.get(timeline.path.len() / 2).ok_or("there is no path")?;
        Ok(Self {
            moment,
            node: layout.slot(HeapView::Tree, slot),
            slot: layout.slot(HeapView::Array, slot),
            cell: layout.cell(shown.heap[slot].cell),
            wall: layout.cell(wall_cell),
            wall_cell,
            moments: timeline.moments.len(),
        })
    }
}

/// Compares the screenshots; `timeline` is the timeline after the wall was built.
pub fn check(pictures: &Pictures, plan: &Plan, timeline: &Timeline) -> Result<String, String> {
    let whole = Rect::from_corners(Vec2::ZERO, SIZE);
    let compare = |names: [&str; 2], region: Rect, what: &str| {
        pictures.changed_enough(names, region, LEAST_CHANGE, what)
    };
    let played = compare(["start", "swap"], whole, "playing")?;
    let mut hovered = 0;
    for (name, region) in [("tree", plan.node), ("array", plan.slot), ("map", plan.cell)] {
        // Outlines are drawn around boxes.
        hovered += compare(["swap", "heap"], region.inflate(3.0), name)?;
    }
    let returned = pictures.changed(["heap", "again"], whole)?;
    if returned > 0 {
        return Err(format!("{returned} pixels differ after a step back and a step forward"));
    }
    let back = pictures.changed(["heap", "back"], whole)?;
    if back == 0 {
        return Err("nothing has changed after a step back".into());
    }
    let walled = compare(["path", "wall"], plan.wall.inflate(-6.0), "the wall")?;
    if timeline.path.contains(&plan.wall_cell) {
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
        timeline.moments.len(),
    ))
}
