//! The cells from which a corner of a path is visible.
//!
//! Input: the passable cells in a window around the corner. Output: one bit per cell of the window. A corner
//! is visible from a cell if some shortest path on open terrain leads there, and every step of it is legal:
//! the octile (or Manhattan) distance is then the exact cost, and the next cell of that path sees the corner,
//! too. So a unit that follows visible corners can never be caught in a dead end of its estimates.
//!
//! A row of the window is one word, and a row follows from the one nearer to the corner by a few operations
//! on whole words, so a view takes about a microsecond. Units whose paths lead around the same corner share
//! its view. Edits nearby drop it.

use super::reservations::GridPos;
use crate::nav::{
    grid::NavGrid,
    layer::Layer,
    terrain::{CornerRule, Neighborhood, ProfileId},
};

/// Columns and rows from a corner to the edge of its window.
pub(super) const REACH: u16 = 31;
/// Rows of a window.
const SIDE: usize = 2 * REACH as usize + 1;
/// The column of the corner.
const CENTER: u32 = REACH as u32;
/// All columns of a row.
const ALL: u64 = (1 << SIDE) - 1;
/// The corner's own column, and all columns to the right of it; the same to the left.
const EAST: u64 = ALL & !((1 << CENTER) - 1);
const WEST: u64 = (1 << (CENTER + 1)) - 1;
/// Most views kept from one tick to the next: 2 MB.
const MAX_VIEWS: usize = 4_096;

/// Views for which memory is reserved with the first: 130 KB.
const FIRST_VIEWS: usize = 256;

/// One word per row of the window, the lowest row first; bit 0 is the leftmost column.
pub(super) type Rows = [u64; SIDE];

/// A view of a corner.
#[derive(Clone, Debug)]
pub(super) struct CornerView {
    profile: u8,
    corner: GridPos,
    rows: Rows,
}

impl CornerView {
    /// Returns whether the corner is visible from a position.
    #[inline]
    pub(super) fn sees(&self, pos: GridPos) -> bool {
        let x = pos.x.wrapping_sub(self.corner.x).wrapping_add(REACH);
        let y = pos.y.wrapping_sub(self.corner.y).wrapping_add(REACH);
        usize::from(x) < SIDE && usize::from(y) < SIDE && self.rows[usize::from(y)] >> x & 1 == 1
    }
}

impl CornerView {
    /// Returns whether a path leads to the corner from the corner before it: one that sees it, or one beside
    /// it on terrain of another cost.
    pub(super) fn is_reached_from(&self, before: GridPos, is_other_terrain: bool) -> bool {
        if is_other_terrain { self.sees(self.corner) } else { self.sees(before) }
    }
}

/// The views of all corners that units have come near.
#[derive(Clone, Debug, Default)]
pub(super) struct CornerViews {
    /// Profile, column and row of each corner, and the index of its view; sorted.
    index: Vec<((u8, u16, u16), u32)>,
    views: Vec<CornerView>,
}

impl CornerViews {
    /// Makes room for new views. Called between two decisions only, so a view that a decision relies on
    /// stays.
    pub(super) fn limit(&mut self) {
        if self.views.len() > MAX_VIEWS {
            self.clear();
        }
    }

    pub(super) fn clear(&mut self) {
        self.index.clear();
        self.views.clear();
    }

    /// Drops the views of all corners near a rectangle (lowest and highest cell) that has changed.
    pub(super) fn forget(&mut self, low: GridPos, high: GridPos) {
        let is_near = |at: u16, low: u16, high: u16| {
            at.saturating_add(REACH + 1) >= low && at <= high.saturating_add(REACH + 1)
        };
        let is_stale = |view: &CornerView| {
            is_near(view.corner.x, low.x, high.x) && is_near(view.corner.y, low.y, high.y)
        };
        if self.views.iter().any(is_stale) {
            self.clear();
        }
    }

    /// Returns the view with this index, if it is that of the corner.
    #[inline]
    pub(super) fn get(&self, index: u32, profile: u8, corner: GridPos) -> Option<&CornerView> {
        let view = self.views.get(index as usize)?;
        (view.corner == corner && view.profile == profile).then_some(view)
    }

    /// Adds the view of a corner, unless it is known; returns its index.
    pub(super) fn add(&mut self, grid: &NavGrid, profile: u8, corner: GridPos) -> u32 {
        let key = (profile, corner.x, corner.y);
        match self.index.binary_search_by_key(&key, |known| known.0) {
            Ok(at) => self.index[at].1,
            Err(at) => {
                let number = self.views.len() as u32;
                if number == 0 {
                    // Crowds that walk over open terrain need few views: they never allocate again.
                    self.index.reserve(FIRST_VIEWS);
                    self.views.reserve(FIRST_VIEWS);
                }
                self.index.insert(at, (key, number));
                let rows = view(grid, ProfileId(profile), corner);
                self.views.push(CornerView { profile, corner, rows });
                number
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.views.capacity() * size_of::<CornerView>() + self.index.capacity() * 12
    }
}

/// Computes the view of a corner.
fn view(grid: &NavGrid, profile: ProfileId, corner: GridPos) -> Rows {
    let Some(layer) = grid.layer(profile) else {
        return [0; SIDE];
    };
    let rules = &grid.profiles()[usize::from(profile.0)];
    let passable = window(layer, corner);
    let mut level = passable;
    if !layer.is_uniform() {
        keep_cost_of_corner(&mut level, layer, grid.terrain_bytes(), corner);
    }
    let diagonals = (rules.neighborhood() == Neighborhood::Eight).then(|| rules.corner_rule());
    sweep((&level, &passable), diagonals)
}

/// Reads the passable cells around a corner.
fn window(layer: &Layer, corner: GridPos) -> Rows {
    let (left, low) = (i32::from(corner.x) - CENTER as i32, i32::from(corner.y) - CENTER as i32);
    core::array::from_fn(|row| layer.passable_64(left, low + row as i32) & ALL)
}

/// Removes the cells that cost more or less than the corner: distance is no measure there.
fn keep_cost_of_corner(rows: &mut Rows, layer: &Layer, terrain: &[u8], corner: GridPos) {
    let cost = |x: u32, y: u32| layer.cost(x, y, terrain);
    if rows[CENTER as usize] >> CENTER & 1 == 0 {
        return;
    }
    let own = cost(u32::from(corner.x), u32::from(corner.y));
    for (row, word) in rows.iter_mut().enumerate() {
        let mut rest = *word;
        while rest != 0 {
            let column = rest.trailing_zeros();
            rest &= rest - 1;
            let (x, y) = (u32::from(corner.x) + column, u32::from(corner.y) + row as u32);
            if cost(x - CENTER, y - CENTER) != own {
                *word &= !(1 << column);
            }
        }
    }
}

/// Spreads visibility from the corner outward over the cells of its cost (`level`), given the passable cells
/// and the rule for diagonal steps (`None`: there are none).
fn sweep((level, passable): (&Rows, &Rows), diagonals: Option<CornerRule>) -> Rows {
    let center = CENTER as usize;
    let mut seen = [0; SIDE];
    let corner = level[center] & 1 << CENTER;
    seen[center] = outward(level[center], corner, corner);
    for up in [true, false] {
        let mut near = center;
        for distance in 1..=CENTER {
            let row = if up { near + 1 } else { near - 1 };
            let is_open = |beside: u64| match diagonals {
                Some(CornerRule::Forbid) => beside & passable[near],
                Some(CornerRule::NoSqueeze) => beside | passable[near],
                Some(CornerRule::Allow) => ALL,
                None => 0,
            };
            let from_east = (seen[near] & EAST) << 1 & is_open(passable[row] << 1);
            let from_west = (seen[near] & WEST) >> 1 & is_open(passable[row] >> 1);
            let straight = seen[near] & shortened_by_rows(distance, diagonals.is_some());
            let seeds = (straight | from_east | from_west) & level[row];
            let beyond = if diagonals.is_some() { distance } else { 0 };
            let (east, west) = (EAST & !((1 << (CENTER + beyond)) - 1), WEST >> beyond);
            seen[row] = seeds | outward(level[row], seeds & east, seeds & west);
            near = row;
            if seen[row] == 0 {
                break;
            }
        }
    }
    seen
}

/// Returns the columns in which a straight step towards the corner's row, `distance` rows away, shortens the
/// path: with diagonal steps, those where rows are the longer side.
const fn shortened_by_rows(distance: u32, has_diagonals: bool) -> u64 {
    let aside = if has_diagonals { CENTER + 1 - distance } else { 0 };
    ALL >> (2 * aside) << aside
}

/// Extends cells along a row of passable cells: the first list to the right, the second to the left.
fn outward(passable: u64, east: u64, west: u64) -> u64 {
    let along = |passable: u64, from: u64| passable & !passable.wrapping_add(from) | from;
    let mirrored = along(passable.reverse_bits(), west.reverse_bits()).reverse_bits();
    (if east == 0 { 0 } else { along(passable, east) }) | if west == 0 { 0 } else { mirrored }
}

#[cfg(test)]
mod tests {
    use super::{CENTER, GridPos, REACH, SIDE, view};
    use crate::nav::{
        cell::Cell,
        crowd::reservations::is_diagonal,
        grid::NavGrid,
        terrain::{CornerRule, DIAGONAL, Neighborhood, Profile, ProfileId, STRAIGHT, TerrainId},
    };

    const MUD: TerrainId = TerrainId(3);

    /// The same by definition, cell by cell: a legal step leads to a visible cell that is nearer by the
    /// weight of that step.
    fn visible_cells(grid: &NavGrid, profile: ProfileId, corner: GridPos) -> Vec<bool> {
        let layer = grid.layer(profile).expect("the profile has a layer");
        let (width, height) = layer.size();
        let index = |at: GridPos| usize::from(at.y) * width as usize + usize::from(at.x);
        let distance = |at: GridPos| {
            layer.distance(u32::from(at.x.abs_diff(corner.x)), u32::from(at.y.abs_diff(corner.y)))
        };
        let all = (0..height).flat_map(|y| (0..width).map(move |x| (x as u16, y as u16)));
        let mut cells: Vec<GridPos> = all.map(|(x, y)| GridPos { x, y }).collect();
        cells.retain(|at| at.chebyshev(corner) <= REACH);
        cells.sort_by_key(|&at| distance(at));
        let cost = |at: GridPos| grid.cost(profile, at.cell(grid));
        let mut visible = vec![false; (width * height) as usize];
        for at in cells.into_iter().filter(|&at| cost(at) > 0 && cost(at) == cost(corner)) {
            let legal = layer.moves().legal(layer.pattern(u32::from(at.x), u32::from(at.y)));
            visible[index(at)] = at == corner
                || (0..8u8).filter(|direction| legal >> direction & 1 == 1).any(|direction| {
                    let weight = if is_diagonal(direction) { DIAGONAL } else { STRAIGHT };
                    let next = at.step(direction);
                    visible[index(next)] && distance(next) + weight == distance(at)
                });
        }
        visible
    }

    /// Random terrain: walls on a share of the cells, mud on another.
    fn random_grid(seed: u64, walls: u64, mud: u64) -> NavGrid {
        let uniform = Profile::new().with(TerrainId::GROUND, 16).with(MUD, 16);
        let weighted = uniform.clone().with(MUD, 32);
        let profiles = vec![
            uniform.clone(),
            weighted.clone().corners(CornerRule::NoSqueeze),
            uniform.corners(CornerRule::Allow),
            weighted.neighbors(Neighborhood::Four),
        ];
        let grid = NavGrid::new(90, 70, TerrainId::GROUND).expect("the size is valid");
        let mut grid = grid.with_profiles(profiles);
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
        grid
    }

    #[test]
    fn views_agree_with_their_definition_cell_by_cell() {
        let mut seen = 0;
        for seed in 0..24 {
            let grid =
                random_grid(seed, [3, 20, 60][seed as usize % 3], [0, 30][seed as usize % 2]);
            for profile in (0..4).map(ProfileId) {
                for (x, y) in [(40, 35), (0, 0), (89, 69), (3, 60), (63, 2)] {
                    let corner = GridPos { x, y };
                    let rows = view(&grid, profile, corner);
                    let expected = visible_cells(&grid, profile, corner);
                    for (at, &expected) in expected.iter().enumerate() {
                        let (dx, dy) =
                            (at as i32 % 90 - i32::from(x), at as i32 / 90 - i32::from(y));
                        let bit = |at: i32| {
                            usize::try_from(at + CENTER as i32).ok().filter(|&at| at < SIDE)
                        };
                        let is_seen =
                            bit(dx).zip(bit(dy)).is_some_and(|(x, y)| rows[y] >> x & 1 == 1);
                        assert_eq!(is_seen, expected, "{seed} {profile:?} {corner:?} {dx} {dy}");
                        seen += usize::from(expected);
                    }
                }
            }
        }
        assert!(seen > 100_000, "only {seen} visible cells");
    }
}
