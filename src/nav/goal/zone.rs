//! Where a unit may end its path to a goal, by geometry and sight.
//!
//! Input: a goal, a grid and a profile. Output: a `GoalZone`, which tells whether a cell is near enough, and lists all such
//! cells, row by row, and those at which a path enters them.

use super::{Approach, Goal, MAX_SIGHT_RANGE};
use crate::nav::{Cell, Layer, NavGrid, Neighborhood, ProfileId, Topology};

/// First and last of a range of columns or rows; empty if the first comes after the last.
type Span = (i32, i32);

const EMPTY: Span = (1, 0);

/// Condition for being near.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
enum Nearness {
    /// At most this many cells away.
    UpTo(u32),
    /// Side by side.
    Touching {
        /// Of squares, corner to corner, too.
        at_corners: bool,
    },
}

/// Where a unit may end its path to a goal, as far as geometry and sight determine it. Columns and rows count
/// from the grid's origin.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct GoalZone {
    goal_cell: (u32, u32),
    /// The part of the rectangle that lies on the grid, on squares with the cells around it that belong to the goal; on hexagons
    /// all of it from which these reach the grid.
    rect: (Span, Span),
    /// The anchors from which gaps are counted: those of the units that overlap the rectangle; the rectangle
    /// itself if anchors must stand on it. May begin off the grid.
    columns: Span,
    rows: Span,
    near: Nearness,
    sight: Option<ProfileId>,
    /// On squares: cells that the unit covers to the right of its anchor, and above.
    unit_reach: i32,
    /// On hexagons: steps around the rectangle that belong to the goal; and with those from the anchor to the unit's border, at
    /// which the anchor touches the goal.
    radius: i32,
    touching: i32,
    topology: Topology,
}

impl GoalZone {
    /// Returns the zone of a goal; `None` if neither a cell of its rectangle nor one of those around it that belong to it lies on
    /// the grid, or the profile is unknown.
    ///
    /// Leaving out a part off the grid changes no gap: a unit's columns lie on the grid, and if the
    /// rectangle has some there, too, the nearest of its columns is one of those. (On hexagons, where the cells around are not
    /// added to the rectangle, the same holds for the grid and as many cells around it.)
    pub(crate) fn of(grid: &NavGrid, profile: ProfileId, goal: &Goal) -> Option<Self> {
        let rules = grid.profiles().get(usize::from(profile.0))?;
        let (topology, radius) = (grid.topology(), u32::from(goal.radius));
        let nearest = grid.rect().nearest(goal.area.min)?;
        if topology.distance(goal.area.nearest(nearest)?, nearest) > radius {
            return None;
        }
        let goal_cell = grid.local(nearest)?;
        let (rect, radius) = match topology {
            Topology::Square => (goal.area.extended(radius).intersection(grid.rect()), 0),
            Topology::Hexagonal => (goal.area.intersection(grid.rect().extended(radius)), radius),
        };
        let Cell { x, y } = grid.origin();
        let (x, y) = (rect.min.x - x, rect.min.y - y);
        let (right, top) = (x + rect.width as i32 - 1, y + rect.height as i32 - 1);
        let unit_reach = grid.unit_size(profile) as i32 - 1;
        // How much farther off the anchor is: counted as columns and rows before the rectangle, or as steps.
        let (before, farther) = match topology {
            Topology::Square => (unit_reach, 0),
            Topology::Hexagonal => (0, unit_reach as u32 + radius),
        };
        let at_corners = rules.neighborhood() == Neighborhood::Eight;
        let (near, before, sight) = match goal.approach {
            Approach::Onto => (Nearness::UpTo(radius), 0, None),
            Approach::Beside => (Nearness::Touching { at_corners }, before, None),
            Approach::Within { cells } => {
                (Nearness::UpTo(u32::from(cells) + farther), before, None)
            }
            Approach::InSight { cells, through } => {
                let cells = u32::from(cells.min(MAX_SIGHT_RANGE)) + farther;
                (Nearness::UpTo(cells), before, Some(through))
            }
        };
        let (columns, rows) = ((x - before, right), (y - before, top));
        let rect = ((x, right), (y, top));
        let (radius, touching) = (radius as i32, farther as i32 + 1);
        Some(Self {
            goal_cell,
            rect,
            columns,
            rows,
            near,
            sight,
            unit_reach,
            radius,
            touching,
            topology,
        })
    }

    /// Returns the cell on the grid that is nearest to the lowest, leftmost one of the goal's area.
    pub(crate) const fn goal_cell(&self) -> (u32, u32) {
        self.goal_cell
    }

    /// Whether a unit may end its path on the cell.
    pub(crate) fn admits(&self, grid: &NavGrid, layer: &Layer, x: u32, y: u32) -> bool {
        self.is_near(x, y) && layer.is_passable(x, y) && self.sees_goal(grid, x, y)
    }

    /// Whether the cell is near enough.
    fn is_near(&self, x: u32, y: u32) -> bool {
        if self.topology == Topology::Hexagonal {
            let spans = self.hexagonal_spans(y as i32);
            return spans.iter().any(|&(first, last)| (first..=last).contains(&(x as i32)));
        }
        let (dx, dy) = (gap(x as i32, self.columns), gap(y as i32, self.rows));
        match self.near {
            Nearness::UpTo(cells) => dx * dx + dy * dy <= cells * cells,
            Nearness::Touching { at_corners: true } => dx.max(dy) == 1,
            Nearness::Touching { at_corners: false } => dx + dy == 1,
        }
    }

    /// Whether the goal must be seen.
    pub(crate) const fn needs_sight(&self) -> bool {
        self.sight.is_some()
    }

    /// Whether the goal is seen from the cell, or need not be.
    pub(crate) fn sees_goal(&self, grid: &NavGrid, x: u32, y: u32) -> bool {
        let Some(profile) = self.sight else {
            return true;
        };
        let (across, from_column) = self.nearest_pair(x as i32, self.rect.0);
        let (up, from_row) = self.nearest_pair(y as i32, self.rect.1);
        let from = grid.global(from_column as u32, from_row as u32);
        let to = grid.global(across as u32, up as u32);
        // Of a round goal, the cell nearest to the unit counts. If the middle is off the grid, the goal has a smaller hexagon around
        // the nearest cell that is on it.
        let to = match (self.radius, grid.rect().nearest(to)) {
            (0, _) | (_, None) => to,
            (radius, Some(middle)) => {
                let radius = (radius as u32).saturating_sub(middle.hexagonal_distance(to));
                Topology::nearest_hexagon_within(middle, radius, from)
            }
        };
        grid.has_line_of_sight(profile, from, to)
    }

    /// Returns the nearest pair of a span's column (or row) and one that a unit at `at` covers, the span's
    /// first.
    fn nearest_pair(&self, at: i32, (first, last): Span) -> (i32, i32) {
        let there = at.clamp(first, last);
        match self.topology {
            Topology::Square => (there, there.clamp(at, at + self.unit_reach)),
            Topology::Hexagonal => (there, at),
        }
    }

    /// Returns the length of a line of sight from the cell, in cells; `None` if no sight is required.
    pub(crate) fn sight_distance(&self, x: u32, y: u32) -> Option<u32> {
        self.sight?;
        Some(gap(x as i32, self.columns).max(gap(y as i32, self.rows)))
    }

    /// Whether a unit could stand on any cell that is near enough. Adds to `words` how often 64 cells were read.
    pub(crate) fn is_any_passable(&self, layer: &Layer, words: &mut u32) -> bool {
        let size = layer.size();
        self.rows_on(size).any(|y| {
            self.spans(y).into_iter().any(|span| {
                let (first, last) = clip_to_width(span, size.0);
                (first..=last).step_by(64).any(|x| {
                    *words = words.saturating_add(1);
                    let cells = layer.passable_columns(x).read(y);
                    cells << (x + 63 - last).max(0) != 0
                })
            })
        })
    }

    /// Iterates over all cells on a grid of `size` that are near enough.
    pub(crate) fn cells(self, size: (u32, u32)) -> impl Iterator<Item = (u32, u32)> + Clone {
        let spans = self.rows_on(size).flat_map(move |y| self.spans(y).map(|span| (y, span)));
        spans.flat_map(move |(y, span)| {
            let (first, last) = clip_to_width(span, size.0);
            (first..=last).map(move |x| (x as u32, y as u32))
        })
    }

    /// Calls `visit` with a row and the first and last of some columns in it. Together these are all cells of
    /// a grid of `size` at which a path from outside may enter (and maybe some more): the first cell of a
    /// path that is near enough, and sees the goal if required, is one of them.
    ///
    /// That cell has a neighbor that does not qualify: the cell before it. Without required sight, cells are
    /// left out if all their eight neighbors on the grid are near enough. A step of a unit with four
    /// neighbors is one of the eight, so this holds for both neighborhoods: of a rectangle to stand in only
    /// the border is left. With required sight, any cell may have a neighbor that does not see the goal.
    pub(crate) fn entrances(&self, size: (u32, u32), mut visit: impl FnMut(u32, (u32, u32))) {
        for y in self.rows_on(size) {
            for span in self.entrances_of(y, size.1 as i32) {
                let (first, last) = clip_to_width(span, size.0);
                if first <= last {
                    visit(y as u32, (first as u32, last as u32));
                }
            }
        }
    }

    /// Returns the rows of a grid in which cells may be near enough.
    fn rows_on(&self, size: (u32, u32)) -> core::ops::RangeInclusive<i32> {
        let reach = match self.near {
            Nearness::UpTo(cells) => cells as i32,
            Nearness::Touching { .. } => self.touching,
        };
        (self.rows.0 - reach).max(0)..=(self.rows.1 + reach).min(size.1 as i32 - 1)
    }

    /// Returns the columns of a row that are near enough.
    fn spans(&self, y: i32) -> [Span; 2] {
        if self.topology == Topology::Hexagonal {
            return self.hexagonal_spans(y);
        }
        let ((first, last), dy) = (self.columns, gap(y, self.rows));
        let around = |more: i32| [(first - more, last + more), EMPTY];
        match self.near {
            Nearness::UpTo(cells) if dy <= cells => {
                around((cells * cells - dy * dy).isqrt() as i32)
            }
            Nearness::Touching { at_corners } if dy == 1 => around(i32::from(at_corners)),
            Nearness::Touching { .. } if dy == 0 => [(first - 1, first - 1), (last + 1, last + 1)],
            _ => [EMPTY; 2],
        }
    }

    /// Returns the columns of a row that are near enough, on hexagons. Rows are slanted: with each row up, as many steps reach
    /// one column less far to the right, and with each row down one less far to the left.
    fn hexagonal_spans(&self, y: i32) -> [Span; 2] {
        let (first, last) = self.columns;
        let (below, above) = ((self.rows.0 - y).max(0), (y - self.rows.1).max(0));
        let within = |steps: i32| {
            let is_near = below.max(above) <= steps;
            if is_near { (first - steps + below, last + steps - above) } else { EMPTY }
        };
        match self.near {
            Nearness::UpTo(cells) => [within(cells as i32), EMPTY],
            Nearness::Touching { .. } => {
                let (outer, inner) = (within(self.touching), within(self.touching - 1));
                if inner.0 > inner.1 {
                    return [outer, EMPTY];
                }
                [(outer.0, inner.0 - 1), (inner.1 + 1, outer.1)]
            }
        }
    }

    /// Returns the columns of a row, on a grid of `height` rows, at which a path may enter.
    fn entrances_of(&self, y: i32, height: i32) -> [Span; 2] {
        let spans = self.spans(y);
        if self.sight.is_some() || matches!(self.near, Nearness::Touching { .. }) {
            return spans;
        }
        // There is one span per row here. Paths do not enter from rows beyond the grid.
        let (first, last) = spans[0];
        let rows = (y - 1).max(0)..=(y + 1).min(height - 1);
        let around = rows.map(|row| self.spans(row)[0]);
        let shared = around.fold((first, last), |all, row| (all.0.max(row.0), all.1.min(row.1)));
        let inner = (shared.0 + 1, shared.1 - 1);
        if inner.0 > inner.1 { spans } else { [(first, inner.0 - 1), (inner.1 + 1, last)] }
    }
}

/// Returns how many steps a column (or row) lies outside a span; 0 inside.
fn gap(at: i32, (first, last): Span) -> u32 {
    (first - at).max(at - last).max(0) as u32
}

/// Returns the part of a span that lies on a grid of this width.
fn clip_to_width((first, last): Span, width: u32) -> Span {
    (first.max(0), last.min(width as i32 - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nav::{CellRect, Profile, TerrainId};

    /// Returns grids of 12 × 9 cells for units of each size, with four neighbors and with eight, and one of hexagons.
    fn grids() -> impl Iterator<Item = NavGrid> {
        let grid = || NavGrid::new(12, 9, TerrainId::GROUND).unwrap();
        let squares = [Neighborhood::Four, Neighborhood::Eight].into_iter();
        let squares = squares.flat_map(move |neighborhood| {
            (1..4).map(move |size| {
                let profile = Profile::default().neighbors(neighborhood).size(size);
                grid().with_profiles(vec![profile])
            })
        });
        squares.chain([grid().with_topology(Topology::Hexagonal)])
    }

    #[test]
    fn on_hexagons_near_cells_are_as_many_steps_away() {
        let grid = NavGrid::new(12, 9, TerrainId::GROUND).unwrap();
        let grid = grid.with_topology(Topology::Hexagonal);
        let steps = |a: (i32, i32), b: (i32, i32)| {
            let (dx, dy) = (b.0 - a.0, b.1 - a.1);
            dx.abs().max(dy.abs()).max((dx + dy).abs())
        };
        for goal in goals() {
            let zone = GoalZone::of(&grid, ProfileId(0), &goal).unwrap();
            for (x, y) in (0..12).flat_map(|x| (0..9).map(move |y| (x, y))) {
                let to = goal.area.cells().map(|cell| steps((x, y), (cell.x, cell.y)));
                let nearest = to.min().unwrap();
                let expected = match goal.approach {
                    Approach::Onto => nearest == 0,
                    Approach::Beside => nearest == 1,
                    Approach::Within { cells } => nearest <= i32::from(cells),
                    Approach::InSight { .. } => unreachable!(),
                };
                assert_eq!(zone.is_near(x as u32, y as u32), expected, "{goal:?} ({x}, {y})");
            }
        }
    }

    fn goals() -> impl Iterator<Item = Goal> {
        let rects = [(0, 0, 1, 1), (3, 2, 4, 3), (-2, 4, 5, 9), (9, -3, 9, 5), (-5, -5, 40, 40)];
        rects.into_iter().flat_map(|(x, y, width, height)| {
            let within = |cells| Approach::Within { cells };
            let area = CellRect::new(Cell::new(x, y), width, height);
            [Approach::Onto, Approach::Beside, within(0), within(1), within(3)]
                .map(|approach| Goal::new(area, approach))
        })
    }

    #[test]
    fn zone_cells_are_exactly_the_near_cells() {
        for grid in grids() {
            for goal in goals() {
                let zone = GoalZone::of(&grid, ProfileId(0), &goal).unwrap();
                let mut cells: Vec<_> = zone.cells((12, 9)).collect();
                cells.sort_unstable();
                let all = (0..12).flat_map(|x| (0..9).map(move |y| (x, y)));
                let near: Vec<_> = all.filter(|&(x, y)| zone.is_near(x, y)).collect();
                assert_eq!(cells, near, "{goal:?}");
            }
        }
    }

    #[test]
    fn paths_from_outside_enter_by_an_entrance() {
        let mut left_out = 0;
        for grid in grids() {
            for goal in goals() {
                let zone = GoalZone::of(&grid, ProfileId(0), &goal).unwrap();
                let mut entrances = Vec::new();
                zone.entrances((12, 9), |y, (first, last)| {
                    entrances.extend((first..=last).map(|x| (x, y)));
                });
                assert!(entrances.iter().all(|&(x, y)| zone.is_near(x, y)), "{goal:?}");
                for (x, y) in zone.cells((12, 9)).filter(|cell| !entrances.contains(cell)) {
                    left_out += 1;
                    for (dx, dy) in crate::nav::direction::OFFSETS {
                        let to = (x.wrapping_add_signed(dx), y.wrapping_add_signed(dy));
                        let is_outside = to.0 < 12 && to.1 < 9 && !zone.is_near(to.0, to.1);
                        assert!(!is_outside, "{goal:?}: ({x}, {y}) lies beside {to:?}");
                    }
                }
            }
        }
        assert!(left_out > 100, "only {left_out} cells are left out");
    }

    #[test]
    fn a_goal_without_a_cell_on_the_grid_has_no_zone() {
        let grid = NavGrid::new(12, 9, TerrainId::GROUND).unwrap();
        for (x, y, width, height) in [(2, 2, 0, 3), (2, 2, 3, 0), (12, 0, 4, 4), (0, -4, 3, 4)] {
            let goal = Goal::within(CellRect::new(Cell::new(x, y), width, height), 9);
            assert!(GoalZone::of(&grid, ProfileId(0), &goal).is_none());
            assert!(!grid.rect().cells().any(|cell| goal.admits(&grid, ProfileId(0), cell)));
        }
        let goal = Goal::from(Cell::new(1, 1));
        assert!(goal.admits(&grid, ProfileId(0), Cell::new(1, 1)));
        assert!(!goal.admits(&grid, ProfileId(7), Cell::new(1, 1)), "an unknown profile");
    }
}
