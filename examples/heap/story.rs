//! The story: one search, taken apart into moments.
//!
//! Input: a grid, a start and a goal. Output: a [`Story`]. The search runs to its end here, once,
//! on a heap that is listened to; whoever shows the story only looks at moment number i, so that
//! going back is as easy as going on.

use bevy::prelude::Resource;
use bevy_tilepath::{
    nav::{node_pool::NodePool, search::Search},
    prelude::*,
};

use crate::{event::Event, moment::Moment, recorder::Recorder, scale::Scale, teller::Teller};

/// Everything that happens, in order.
#[derive(Resource, Clone, Debug)]
pub struct Story {
    /// At least one.
    pub moments: Vec<Moment>,
    /// The path, start and goal included; empty where there is none.
    pub path: Vec<Cell>,
    pub scale: Scale,
}

impl Story {
    /// Runs the search and tells how it went.
    pub fn tell(grid: &NavGrid, start: Cell, goal: Cell) -> Self {
        let (mut search, pool) = (Search::<Recorder>::new(), NodePool::default());
        let query = PathQuery::new(start, goal).algorithm(Algorithm::AStar);
        if let Err(failure) = search.start(grid, &pool, query) {
            let caption = format!("No path, and nothing to search: {failure}");
            let moments = vec![Moment { caption, is_settled: true, ..Moment::default() }];
            return Self { moments, path: Vec::new(), scale: Scale(1.0) };
        }
        search.step(grid, &pool, u32::MAX);
        let scale = Scale(search.cost_of(grid, 1).in_plain_steps() * 10.0);
        let mut teller = Teller::new(scale);
        for operation in search.open_list().operations() {
            let steps = search.open_list().steps(operation);
            teller.tell(operation, steps, |node| search.cell_of(grid, node));
        }
        let path = search.finish(grid, &pool);
        let moments = teller.end(path.as_ref());
        let path = path.map_or_else(|_| Vec::new(), |path| path.cells().collect());
        Self { moments, path, scale }
    }

    /// The moment with this number, or the last one.
    pub fn moment(&self, number: usize) -> &Moment {
        &self.moments[number.min(self.last())]
    }

    /// Number of the last moment.
    pub const fn last(&self) -> usize {
        self.moments.len() - 1
    }

    /// The path, once it is known.
    pub fn path_at(&self, number: usize) -> &[Cell] {
        if number >= self.last() { &self.path } else { &[] }
    }

    /// Most entries the heap ever holds.
    pub fn peak(&self) -> usize {
        self.moments.iter().map(|moment| moment.heap.len()).max().unwrap_or(0)
    }

    /// The next moment at which a cell is taken from the top, or the last one.
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

    fn story_of(map: &str) -> (NavGrid, Level, Story) {
        let level = Level::read(map).unwrap();
        let grid = level.grid().unwrap();
        let story = Story::tell(&grid, level.start, level.goal);
        (grid, level, story)
    }

    #[test]
    fn it_ends_with_the_cheapest_path() {
        let (grid, level, story) = story_of(FIRST);
        let path = grid.find_path(ProfileId::default(), level.start, level.goal).unwrap();
        let told: Vec<_> = story.path.windows(2).map(|pair| (pair[0], pair[1])).collect();
        assert_eq!((story.path[0], story.path[story.path.len() - 1]), (level.start, level.goal));
        assert!(told.iter().all(|&(a, b)| Direction::between(a, b).is_some()));
        let end = &story.moments[story.last()];
        let cost = path.cost().in_plain_steps() * 10.0;
        assert_eq!(end.caption, format!("Path found: it costs {cost:.0}"));
        let known = end.cells[&level.goal];
        assert_eq!(known.key.h, 0);
        assert!((f64::from(known.key.f) * story.scale.0 - cost).abs() < 1.0e-6);
        assert!(story.path_at(story.last() - 1).is_empty());
        assert_eq!(story.path_at(story.last()), story.path);
    }

    #[test]
    fn a_settled_heap_is_a_heap() {
        let (_, _, story) = story_of(FIRST);
        let mut settled = 0;
        for moment in story.moments.iter().filter(|moment| moment.is_settled) {
            let ranks: Vec<_> = moment.heap.iter().map(Entry::rank).collect();
            assert!((1..ranks.len()).all(|slot| ranks[(slot - 1) / 2] < ranks[slot]));
            settled += 1;
        }
        assert!(settled > 50, "{settled} calls");
    }

    #[test]
    fn parents_lead_back_to_the_start() {
        let (_, level, story) = story_of(FIRST);
        let cells = &story.moments[story.last()].cells;
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
        let (_, _, story) = story_of(FIRST);
        assert!((15..=31).contains(&story.peak()), "{} entries", story.peak());
        assert!(
            story.moments.iter().any(|moment| matches!(moment.event, Some(Event::Improved(..))))
        );
    }

    #[test]
    fn no_way_is_said() {
        let (_, _, story) = story_of("S#.\n###\n..G");
        assert_eq!(story.last(), 0);
        assert!(story.moments[0].caption.contains("no way leads"), "{}", story.moments[0].caption);
        assert!(story.path.is_empty());
    }
}
