//! Where links lead to, without a look at paths.
//!
//! Input: links, and the connected regions of the grids. Output: whether cells or grids are joined, and where a unit comes out.

use std::collections::BTreeSet;

use super::{
    Costs, Destination, LinkEnd, NavLink, NavLinks, network::PlacedLink, route::near_cells,
};
use crate::{
    grids::NavGrids,
    nav::{Cell, CellRect, GridId, ProfileId},
};

impl NavLinks {
    /// Whether links, open or shut, join two grids.
    pub(crate) fn join(&self, from: GridId, to: GridId) -> bool {
        if from == to || self.links.is_empty() {
            return from == to;
        }
        let mut reached = BTreeSet::from([from]);
        let step = |placed: &PlacedLink| {
            let NavLink { from, to, is_one_way, .. } = &placed.link;
            [
                (from.grid, to.grid),
                if *is_one_way { (from.grid, to.grid) } else { (to.grid, from.grid) },
            ]
        };
        let steps: Vec<_> = self.links.values().flat_map(step).collect();
        while let Some(&(_, next)) =
            steps.iter().find(|(a, b)| reached.contains(a) && !reached.contains(b))
        {
            reached.insert(next);
        }
        reached.contains(&to)
    }

    /// Returns whether a unit of a profile can get from one cell to another, each with its grid, over any number of links that
    /// are open to it, even none. Looks at connected regions, not at paths. Links inserted or changed since the last tick do not
    /// count yet.
    ///
    /// ```
    /// use bevy::{prelude::*, time::TimeUpdateStrategy};
    /// use bevy_tilepath::prelude::*;
    /// let mut app = App::new();
    /// app.add_plugins((MinimalPlugins, TilePathPlugin::default()))
    ///     .insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    /// let (ground, roof) = (GridId(0), GridId(1));
    /// for id in [ground, roof] {
    ///     let level = NavGrid::new(16, 16, TerrainId::GROUND)?;
    ///     app.world_mut().resource_mut::<NavGrids>().insert(id, level, GridFrame::default());
    /// }
    /// let (foot, head) = (Cell::new(9, 4), Cell::new(2, 4));
    /// app.world_mut().spawn(NavLink::new((ground, foot), (roof, head)).one_way());
    /// app.update();
    /// app.update();
    /// let (links, grids) = (app.world().resource::<NavLinks>(), app.world().resource::<NavGrids>());
    /// let (a, b) = ((ground, Cell::new(0, 0)), (roof, Cell::new(15, 15)));
    /// assert!(links.can_reach(grids, ProfileId::default(), a, b));
    /// assert!(!links.can_reach(grids, ProfileId::default(), b, a), "one way");
    /// # Ok::<(), GridError>(())
    /// ```
    #[must_use]
    pub fn can_reach(
        &self,
        grids: &NavGrids,
        profile: ProfileId,
        from: (GridId, Cell),
        to: (GridId, Cell),
    ) -> bool {
        let start = region(grids, profile, from);
        let goal = region(grids, profile, to);
        let (Some(start), Some(goal)) = (start, goal) else {
            return false;
        };
        start == goal
            || self.reached(grids, profile, start).any(|(_, regions)| regions.contains(&goal))
    }

    /// Whether a unit may come near enough to any of these goals, judged by connected regions: they are always up to date.
    pub(super) fn may_reach(
        &self,
        Costs { grids, profile, .. }: Costs<'_>,
        from: (GridId, Cell),
        goals: &[Destination],
    ) -> bool {
        let Some(start) = region(grids, profile, from) else {
            return false;
        };
        let mut regions = BTreeSet::from([start]);
        self.reached(grids, profile, start).for_each(|(_, more)| regions.extend(more));
        goals.iter().any(|goal| {
            let grid = grids.get(goal.grid);
            let cells = grid.map(|grid| near_cells(grid, profile, &goal.goal));
            cells.into_iter().flatten().any(|cell| {
                region(grids, profile, (goal.grid, cell)).is_some_and(|at| regions.contains(&at))
                    && grid.is_some_and(|grid| goal.goal.admits(grid, profile, cell))
            })
        })
    }

    /// The cell at which a unit may come to a grid over links: the first reached in the connected region of the goal or, if
    /// there is none, the first reached at all.
    pub(crate) fn arrival(
        &self,
        grids: &NavGrids,
        profile: ProfileId,
        from: (GridId, Cell),
        (to, goal): (GridId, Cell),
    ) -> Option<Cell> {
        let start = region(grids, profile, from)?;
        let grid = grids.get(to)?;
        let goal = grid.region(profile, goal);
        let ends = self.reached(grids, profile, start).filter(|(end, _)| end.grid == to);
        let cells = ends.flat_map(|(end, _)| end.area.intersection(grid.rect()).cells());
        let cells: Vec<Cell> = cells.filter(|&cell| grid.cost(profile, cell) > 0).collect();
        let at_goal = cells.iter().find(|&&cell| grid.region(profile, cell) == goal);
        at_goal.or(cells.first()).copied()
    }

    /// Iterates over the ends at which a unit that starts in a connected region may come out, with the regions of these ends.
    fn reached(
        &self,
        grids: &NavGrids,
        profile: ProfileId,
        start: (GridId, u32),
    ) -> impl Iterator<Item = (LinkEnd, BTreeSet<(GridId, u32)>)> {
        let regions_of = move |end: LinkEnd| -> BTreeSet<(GridId, u32)> {
            let area = grids.get(end.grid).map(|grid| end.area.intersection(grid.rect()));
            let cells = area.into_iter().flat_map(CellRect::cells);
            cells.filter_map(move |cell| region(grids, profile, (end.grid, cell))).collect()
        };
        let ends = self.hops(profile).map(|hop| self.ends(hop));
        let mut ahead: Vec<_> = ends.map(|[from, to]| (regions_of(from), to)).collect();
        let mut reached = BTreeSet::from([start]);
        // Each crossing is taken once, as soon as it can be.
        std::iter::from_fn(move || {
            let next = ahead.iter().position(|(from, _)| !from.is_disjoint(&reached))?;
            let (_, to) = ahead.remove(next);
            let regions = regions_of(to);
            reached.extend(&regions);
            Some((to, regions))
        })
    }
}

/// The connected region of a cell.
fn region(
    grids: &NavGrids,
    profile: ProfileId,
    (id, cell): (GridId, Cell),
) -> Option<(GridId, u32)> {
    Some((id, grids.get(id)?.region(profile, cell)?))
}
