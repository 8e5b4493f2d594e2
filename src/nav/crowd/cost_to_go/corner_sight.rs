//! The cells around a unit from which a corner of its path is visible.
//!
//! Input: the passable cells between the corner and the unit. Output: one bit for the unit's cell and for each
//! cell beside it. A corner is visible from a cell if some shortest path on open terrain leads there, and every
//! step of it is legal: the distance on open terrain is then the exact cost, and the next cell of that path
//! sees the corner, too. So a unit that follows visible corners can never be caught in a dead end of its
//! estimates.
//!
//! Rows are looked at from the corner towards the unit. A row is one word, and it follows from the row before by
//! a few operations on whole words, so nothing needs to be kept from one decision to the next. Where edges are near, cells are
//! looked at one by one.

mod seen_cells;

use crate::nav::crowd::board::{GridPos, STAY, StepCosts, rect_around};
use crate::nav::{
    Adjacency, CornerRule, NavGrid, Pattern, ProfileId, bit_rows::Columns64, directions_of,
};

/// Columns and rows within which a corner can be visible.
pub const REACH: u16 = 30;
/// The column of the corner in a word.
const CENTER: u32 = 31;
/// All columns of a row.
const ALL: u64 = (1 << (2 * CENTER + 1)) - 1;
/// The corner's own column, and all columns to the right of it; the same to the left.
const RIGHT: u64 = ALL & !((1 << CENTER) - 1);
const LEFT: u64 = (1 << (CENTER + 1)) - 1;

/// What blocks the sight of the units of a profile.
pub struct CornerSight<'a> {
    pub costs: StepCosts<'a>,
    /// All columns if one passable cell beside a diagonal step is enough, otherwise none; and the same if no such cell is needed.
    needs_one: u64,
    needs_none: u64,
}

impl<'a> CornerSight<'a> {
    pub fn new(grid: &'a NavGrid, profile: ProfileId) -> Option<Self> {
        let costs = StepCosts::of(grid, profile)?;
        let rules = grid.profiles().get(usize::from(profile.0))?;
        let columns_if = |rule| if rules.corner_rule() == rule { ALL } else { 0 };
        let (needs_one, needs_none) =
            (columns_if(CornerRule::NoSqueeze), columns_if(CornerRule::Allow));
        Some(Self { costs, needs_one, needs_none })
    }

    /// Returns from which cells around a position a corner is visible: one bit for each direction, and one for
    /// the position itself ([`STAY`]).
    #[inline]
    pub fn seen_around(&self, corner: GridPos, pos: GridPos) -> u16 {
        let (dx, dy) = corner.offset_to(pos);
        if dx.abs().max(dy.abs()) > i32::from(REACH) {
            return 0;
        }
        let is_beside_edge = || {
            let (columns, rows) = rect_around(self.costs.layer, pos, corner);
            self.costs.layer.has_edge(columns, rows)
        };
        if self.costs.layer.crossings().is_some() && is_beside_edge() {
            return self.seen_beside_edges(corner, pos);
        }
        // Columns are counted towards the unit.
        let block = if dx < 0 {
            let mirrored = self.seen_block::<true>(corner, (-dx, dy));
            (mirrored & 0o111) << 2 | mirrored & 0o222 | mirrored >> 2 & 0o111
        } else {
            self.seen_block::<false>(corner, (dx, dy))
        };
        u16::from(directions_of(block)) | (block >> 4 & 1) << STAY
    }

    /// Returns the visible cells of a block of 3 × 3 cells.
    fn seen_block<const MIRRORED: bool>(&self, corner: GridPos, (dx, dy): (i32, i32)) -> Pattern {
        let layer = self.costs.layer;
        let (left, y) = (i32::from(corner.x) - CENTER as i32, i32::from(corner.y));
        let cells = layer.passable_columns(left);
        // Only cells to the right of the corner are looked at, and one column to the left of it. A shortest path
        // never leaves the rectangle around its ends.
        let columns = (ALL >> (CENTER as i32 - dx - 1)) & (ALL << (CENTER as i32 + dx.min(1) - 1));
        let in_block = |row: i32, seen: u64| match row - dy + 1 {
            at @ 0..=2 => (seen >> (CENTER as i32 + dx - 1) & 0b111) << (3 * at),
            _ => 0,
        };
        let passable = read_row::<MIRRORED>(cells, y);
        let level = self.level::<MIRRORED>(corner, 0, passable & columns);
        let first = outward(level, level & 1 << CENTER, (0, 0));
        let mut block = in_block(0, first);
        for (side, count) in [(1, dy + 1), (-1, 1 - dy)] {
            let (mut seen, mut near) = (first, passable);
            for distance in 1..=count {
                let row = side * distance;
                let passable = read_row::<MIRRORED>(cells, y + row);
                let level = self.level::<MIRRORED>(corner, row, passable & columns);
                seen = match layer.adjacency() {
                    Adjacency::Six => {
                        let is_slanted_right = (side < 0) != MIRRORED;
                        next_row_of_hexagons(seen, level, distance as u32, is_slanted_right)
                    }
                    _ => self.next_row(seen, near, (level, passable), distance as u32),
                };
                if seen == 0 {
                    break;
                }
                block |= in_block(row, seen);
                near = passable;
            }
        }
        block as Pattern
    }

    /// Returns the cells of a row that see the corner, given those of the row before. `level`: the cells of this
    /// row that cost as much as the corner; `passable`: all passable ones.
    #[inline(always)]
    fn next_row(&self, seen: u64, near: u64, (level, passable): (u64, u64), distance: u32) -> u64 {
        let is_open =
            |beside: u64| beside & near | (beside | near) & self.needs_one | self.needs_none;
        if self.costs.layer.adjacency() == Adjacency::Four {
            return outward(level, seen & level, (0, 0));
        }
        let to_right = (seen & RIGHT) << 1 & is_open(passable << 1);
        let to_left = (seen & LEFT) >> 1 & is_open(passable >> 1);
        let straight = seen & columns_nearer_than(distance);
        outward(level, (straight | to_right | to_left) & level, (distance, distance))
    }

    /// Returns those of the cells `dy` rows above a corner that cost as much as the corner.
    #[inline(always)]
    fn level<const MIRRORED: bool>(&self, corner: GridPos, dy: i32, cells: u64) -> u64 {
        if self.costs.layer.is_uniform() {
            return cells;
        }
        self.as_costly::<MIRRORED>(corner, dy, cells)
    }

    #[inline(never)]
    fn as_costly<const MIRRORED: bool>(&self, corner: GridPos, dy: i32, cells: u64) -> u64 {
        let cost = |x: i32, y: i32| self.costs.cost(GridPos { x: x as u16, y: y as u16 });
        let (x, y) = (i32::from(corner.x), i32::from(corner.y));
        let (own, mut level, mut rest) = (cost(x, y), cells, cells);
        while rest != 0 {
            let column = rest.trailing_zeros();
            rest &= rest - 1;
            let away = column as i32 - CENTER as i32;
            let at = if MIRRORED { x - away } else { x + away };
            level &= !(u64::from(cost(at, y + dy) != own) << column);
        }
        level
    }
}

/// Reads the passable cells of a row; columns are counted from right to left if they are mirrored.
#[inline(always)]
fn read_row<const MIRRORED: bool>(cells: Columns64<'_>, y: i32) -> u64 {
    let cells = cells.read(y) & ALL;
    if MIRRORED { cells.reverse_bits() >> 1 } else { cells }
}

/// Returns the cells of a row of hexagons that see the corner, given those of the row before. A step to the next row leads
/// straight on or to the side: one column to the right if the rows are slanted that way, else to the left. Towards the
/// slant a shortest path has no steps along rows until it covers as many columns as rows; on the other side every step
/// along a row makes it longer.
#[inline(always)]
const fn next_row_of_hexagons(seen: u64, level: u64, distance: u32, is_slanted_right: bool) -> u64 {
    // Columns with at least as many steps to the right or left of the corner as rows.
    let (far_right, far_left) = (RIGHT & !((1 << (CENTER + distance)) - 1), LEFT >> distance);
    if is_slanted_right {
        let seeds = seen & !far_right | (seen & RIGHT) << 1;
        outward(level, seeds & level, (distance, 0))
    } else {
        let seeds = seen & !far_left | (seen & LEFT) >> 1;
        outward(level, seeds & level, (0, distance))
    }
}

/// Returns whether bit `direction` (or [`STAY`]) is set.
pub const fn is_seen(seen: u16, direction: u8) -> bool {
    seen >> direction & 1 == 1
}

/// The bit for the position itself.
pub const SEEN_HERE: u16 = 1 << STAY;

/// Returns the columns less than this far from the column of the corner: there, a straight step towards the row
/// of the corner shortens the path.
const fn columns_nearer_than(distance: u32) -> u64 {
    let aside = CENTER + 1 - distance;
    ALL >> (2 * aside) << aside
}

/// Extends cells along a row of passable cells: to the right as far as the row goes, from cells at least `to_right`
/// columns right of the corner; to the left by one cell, from cells at least `to_left` columns left of it.
#[inline]
const fn outward(passable: u64, seeds: u64, (to_right, to_left): (u32, u32)) -> u64 {
    let right = seeds & RIGHT & !((1 << (CENTER + to_right)) - 1);
    let left = seeds & (LEFT >> to_left);
    let along = passable & !passable.wrapping_add(right) | right;
    seeds | (if right == 0 { 0 } else { along }) | left >> 1 & passable
}

#[cfg(test)]
mod tests {
    use super::{CornerSight, GridPos, REACH, SEEN_HERE, STAY, is_seen};
    use crate::nav::{
        cell::Cell,
        direction::Direction,
        grid::NavGrid,
        terrain::{CornerRule, EdgeId, Neighborhood, Profile, ProfileId, TerrainId},
        topology::Topology,
    };

    const MUD: TerrainId = TerrainId(3);

    /// The same by definition, cell by cell: a legal step leads to a visible cell that is nearer by the
    /// weight of that step.
    fn visible_cells(grid: &NavGrid, profile: ProfileId, corner: GridPos) -> Vec<bool> {
        let layer = grid.layer(profile).expect("the profile has a layer");
        let (width, height) = layer.size();
        let index = |at: GridPos| usize::from(at.y) * width as usize + usize::from(at.x);
        let distance = |at: GridPos| {
            let (dx, dy) = corner.offset_to(at);
            layer.distance(dx, dy)
        };
        let all = (0..height).flat_map(|y| (0..width).map(move |x| (x as u16, y as u16)));
        let mut cells: Vec<GridPos> = all.map(|(x, y)| GridPos { x, y }).collect();
        cells.retain(|at| at.chebyshev(corner) <= REACH + 1);
        cells.sort_by_key(|&at| distance(at));
        let cost = |at: GridPos| grid.cost(profile, at.cell(grid));
        let mut visible = vec![false; (width * height) as usize];
        for at in cells.into_iter().filter(|&at| cost(at) > 0 && cost(at) == cost(corner)) {
            let (x, y) = (u32::from(at.x), u32::from(at.y));
            let is_open = |direction: &u8| {
                let direction = Direction::from_bits(*direction);
                layer.can_step(x, y, direction)
                    && grid.edge_cost(profile, at.cell(grid), direction) == Some(0)
            };
            visible[index(at)] = at == corner
                || (0..8u8).filter(is_open).any(|direction| {
                    let weight = layer.adjacency().weights()[usize::from(direction & 1)];
                    let next = at.step(direction);
                    visible[index(next)] && distance(next) + weight == distance(at)
                });
        }
        visible
    }

    /// Random terrain: walls on a share of the cells, mud on another.
    fn random_grid(topology: Topology, seed: u64, walls: u64, mud: u64) -> NavGrid {
        let uniform = Profile::new().with(TerrainId::GROUND, 16).with(MUD, 16);
        let uniform = uniform.with_edge(EdgeId(2), 8);
        let weighted = uniform.clone().with(MUD, 32);
        let profiles = vec![
            uniform.clone(),
            weighted.clone().corners(CornerRule::NoSqueeze),
            uniform.corners(CornerRule::Allow),
            weighted.neighbors(Neighborhood::Four),
        ];
        let grid = NavGrid::new(90, 70, TerrainId::GROUND).expect("the size is valid");
        let mut grid = grid.with_topology(topology).with_profiles(profiles);
        let mut state = seed;
        for y in 0..70 {
            for x in 0..90 {
                state =
                    state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                let terrain = match state >> 33 & 0xff {
                    at if at < walls => TerrainId::VOID,
                    at if at < walls + mud => MUD,
                    _ => continue,
                };
                grid.set_terrain(Cell::new(x, y), terrain).expect("the cell is on the grid");
            }
        }
        let mut edit = grid.edit();
        for at in 0..if seed % 3 == 1 { 120 } else { 0 } {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let cell = Cell::new((state >> 33) as i32 % 90, (state >> 45) as i32 % 70);
            let direction = [Direction::East, Direction::North][at % 2];
            // Some lie at the border of the grid.
            let _is_set = edit.set_edge(cell, direction, EdgeId(1 + (state >> 60) as u8 % 2));
        }
        drop(edit);
        grid
    }

    #[test]
    fn corners_are_visible_by_definition_cell_by_cell() {
        let mut count = 0;
        for seed in 0..36 {
            // On hexagons corner rules and neighborhoods do not matter.
            let (topology, profiles) =
                if seed < 24 { (Topology::Square, 4) } else { (Topology::Hexagonal, 2) };
            let (walls, mud) = ([3, 20, 60][seed as usize % 3], [0, 30][seed as usize % 2]);
            let grid = random_grid(topology, seed, walls, mud);
            for profile in (0..profiles).map(ProfileId) {
                let sight = CornerSight::new(&grid, profile).expect("the profile has a layer");
                for (x, y) in [(40, 35), (0, 0), (89, 69), (3, 60), (63, 2)] {
                    let corner = GridPos { x, y };
                    let expected = visible_cells(&grid, profile, corner);
                    for at in 0..90 * 70 {
                        let pos = GridPos { x: at % 90, y: at / 90 };
                        let seen = sight.seen_around(corner, pos);
                        count += u32::from(seen & SEEN_HERE != 0);
                        let is_near = pos.chebyshev(corner) <= REACH;
                        for direction in 0..=STAY {
                            let cell = if direction == STAY { pos } else { pos.step(direction) };
                            let is_on_grid = cell.x < 90 && cell.y < 70;
                            let index = usize::from(cell.y) * 90 + usize::from(cell.x);
                            let expected = is_near && is_on_grid && expected[index];
                            let found = is_seen(seen, direction);
                            assert_eq!(found, expected, "{seed} {profile:?} {corner:?} {cell:?}");
                        }
                    }
                }
            }
        }
        assert!(count > 100_000, "only {count} visible cells");
    }
}
