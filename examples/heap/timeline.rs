//! The timeline: one search, divided into moments.
//!
//! Input: a grid, a start and a goal. Output: a [`Timeline`]. The search runs to its end here, once, on
//! an observed heap. The views only show moment number i, so that stepping back is as easy as
//! stepping forward.

use bevy::prelude::Resource;
use bevy_tilepath::{
    nav::{node_pool::NodePool, search::Search},
    prelude::*,
};

use crate::{
    event::Event, moment::Moment, moment_builder::MomentBuilder, recorder::Recorder, scale::Scale,
};

/// All moments, in order.
#[derive(Resource, Clone, Debug)]
pub struct Timeline {
    /// The moments; at least one.
    pub moments: Vec<Moment>,
    /// The path, start and goal included; empty if there is none.
    pub path: Vec<Cell>,
    pub scale: Scale,
}

impl Timeline {
    /// Runs the search and records it.
    pub fn record(grid: &NavGrid, start: Cell, goal: Cell) -> Self {
        let (mut search, pool) = (Search::<Recorder>::new(), NodePool::default());
        let query = PathQuery::new(start, goal).algorithm(Algorithm::AStar);
        if let Err(failure) = search.start(grid, &pool, query) {
            let caption = format!("No path, no search needed: {failure}");
            let moments = vec![Moment { caption, is_settled: true, ..Moment::default() }];
            return Self { moments, path: Vec::new(), scale: Scale(1.0) };
        }
        search.step(grid, &pool, u32::MAX);
        let scale = Scale(search.cost_of(grid, 1).in_plain_steps() * 10.0);
        let mut builder = MomentBuilder::new(scale);
        for operation in search.open_list().operations() {
            let steps = search.open_list().steps(operation);
            builder.add_call(operation, steps, |node| search.cell_of(grid, node));
        }
        let path = search.finish(grid, &pool);
        let moments = builder.finish(path.as_ref());
        let path = path.map_or_else(|_| Vec::new(), |path| path.cells().collect());
        Self { moments, path, scale }
    }

    /// Returns the moment with this number, or the last one.
    pub fn moment(&self, number: usize) -> &Moment {
        &self.moments[number.min(self.last())]
    }

    /// Returns the number of the last moment.
    pub const fn last(&self) -> usize {
        self.moments.len() - 1
    }

    /// Returns the path at the last moment, else an empty slice.
    pub fn path_at(&self, number: usize) -> &[Cell] {
        if number >= self.last() { &self.path } else { &[] }
    }

    /// Returns the largest size of the heap.
    pub fn peak(&self) -> usize {
        self.moments.iter().map(|moment| moment.heap.len()).max().unwrap_or(0)
    }

    /// Returns the number of the next moment at which a cell is removed from the heap, or of the
    /// last one.
    pub fn next_expansion(&self, number: usize) -> usize {
        let is_top = |&next: &usize| self.moments[next].event == Some(Event::Top);
        (number + 1..self.moments.len()).find(is_top).unwrap_or(self.last())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
mod tests {
    use super::*;
    use crate::{
        level::{FIRST, Level},
        replay::Entry,
    };

    fn timeline_of(map: &str) -> (NavGrid, Level, Timeline) {
        let level = Level::read(map).unwrap();
        let grid = level.grid().unwrap();
        let timeline = Timeline::record(&grid, level.start, level.goal);
        (grid, level, timeline)
    }

    #[test]
    fn it_ends_with_the_cheapest_path() {
        let (grid, level, timeline) = timeline_of(FIRST);
        let path = grid.find_path(ProfileId::default(), level.start, level.goal).unwrap();
        let steps: Vec<_> = timeline.path.windows(2).map(|pair| (pair[0], pair[1])).collect();
        assert_eq!(
            (timeline.path[0], timeline.path[timeline.path.len() - 1]),
            (level.start, level.goal)
        );
        assert!(steps.iter().all(|&(a, b)| Direction::between(a, b).is_some()));
        let end = &timeline.moments[timeline.last()];
        let cost = path.cost().in_plain_steps() * 10.0;
        assert_eq!(end.caption, format!("Path found: it costs {cost:.0}"));
        let state = end.cells[&level.goal];
        assert_eq!(state.key.h, 0);
        assert!((f64::from(state.key.f) * timeline.scale.0 - cost).abs() < 1.0e-6);
        assert!(timeline.path_at(timeline.last() - 1).is_empty());
        assert_eq!(timeline.path_at(timeline.last()), timeline.path);
    }

    #[test]
    fn a_settled_heap_is_a_heap() {
        let (_, _, timeline) = timeline_of(FIRST);
        let mut settled = 0;
        for moment in timeline.moments.iter().filter(|moment| moment.is_settled) {
            let ranks: Vec<_> = moment.heap.iter().map(Entry::rank).collect();
            assert!((1..ranks.len()).all(|slot| ranks[(slot - 1) / 2] < ranks[slot]));
            settled += 1;
        }
        assert!(settled > 50, "{settled} calls");
    }

    #[test]
    fn parents_lead_back_to_the_start() {
        let (_, level, timeline) = timeline_of(FIRST);
        let cells = &timeline.moments[timeline.last()].cells;
        for &cell in cells.keys() {
            let mut at = cell;
            for _ in 0..cells.len() {
                let Some(parent) = cells[&at].parent else { break };
                let (dx, dy) = parent.offset();
                assert!(cells[&at.offset(dx, dy)].is_closed);
                at = at.offset(dx, dy);
            }
            assert_eq!(at, level.start, "from {cell}");
        }
    }

    #[test]
    fn the_whole_heap_fits_into_the_picture() {
        let (_, _, timeline) = timeline_of(FIRST);
        assert!((15..=31).contains(&timeline.peak()), "{} entries", timeline.peak());
        assert!(
            timeline.moments.iter().any(|moment| matches!(moment.event, Some(Event::Improved(..))))
        );
    }

    #[test]
    fn a_missing_path_is_reported() {
        let (_, _, timeline) = timeline_of("S#.\n###\n..G");
        assert_eq!(timeline.last(), 0);
        assert!(
            timeline.moments[0].caption.contains("no path from"),
            "{}",
            timeline.moments[0].caption
        );
        assert!(timeline.path.is_empty());
    }
}
