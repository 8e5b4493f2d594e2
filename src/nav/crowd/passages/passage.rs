//! Passages: terrain so narrow that two units cannot pass each other.
//!
//! Input: the terrain for one profile. Output: passages, chains of cells on which a unit can only move
//! forward or back: corridors one cell wide with all their bends, doors, dead ends. A recess of a single cell
//! beside a chain (a bay) does not interrupt it.
//!
//! Passages are traced when a unit first comes near, and forgotten when the terrain around one of their cells
//! changes, so an edit costs no more than the passages it touches. Two bits per cell say whether the terrain
//! around it has been explored and whether a passage is near. The passage of each cell is stored in blocks
//! that exist only where there are passages.

use super::direction_lock::DirectionLock;
use super::passage_trace::{links, narrow_directions, trace_from};
use crate::nav::crowd::board::{GridPos, NONE, legal_directions};
use crate::nav::{Layer, directions};

/// Longest passage, in cells. Longer ones are cut into parts that are not controlled.
pub const MAX_LENGTH: usize = 512;
/// Cells along a side of a block.
const BLOCK: u32 = 32;
const CELLS: usize = (BLOCK * BLOCK) as usize;
/// Cells around an edit within which a passage may change.
const EDIT_MARGIN: u16 = 3;
/// Steps from an end of a passage within which a cell lies before it.
const APPROACH_STEPS: usize = 2;
/// Set in the passage number of cells that lie before a passage.
const IS_APPROACH: u32 = 1 << 31;

/// A chain of narrow cells.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Passage {
    pub cells: Vec<GridPos>,
    /// The cells before the first and after the last one; `None` at a dead end.
    pub mouths: [Option<GridPos>; 2],
    pub lock: DirectionLock,
}

impl Passage {
    /// Returns the side at which a step from `from` leads into the cell at index `at`.
    pub fn side(&self, from: GridPos, at: usize) -> Option<usize> {
        let is_here = |side: &usize| {
            let end = if *side == 0 { 0 } else { self.cells.len() - 1 };
            at == end && self.mouths[*side] == Some(from)
        };
        [0, 1].into_iter().find(is_here)
    }
}

/// All passages known so far; see the [module](self).
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Passages {
    width: u32,
    height: u32,
    /// The directions in which passages lead, one bit each; 0 until terrain is explored.
    directions: u8,
    /// Two bits per cell: explored, near a passage.
    flags: Vec<u64>,
    /// For each block of the grid, where its cells begin in the two lists below; [`NONE`] where there are no passages.
    block_at: Vec<u32>,
    /// By cell, the number of its passage, and its index along that passage.
    numbers: Vec<u32>,
    offsets: Vec<u16>,
    /// By number, and the numbers that are free.
    pub list: Vec<Passage>,
    free: Vec<usize>,
    /// Whether terrain has changed: cells near passages may have lost their marks.
    was_edited: bool,
}

/// Iterates over the positions at most `reach` columns and rows away.
fn around(pos: GridPos, reach: u16) -> impl Iterator<Item = GridPos> {
    let low = move |at: u16| at.saturating_sub(reach);
    (low(pos.y)..=pos.y + reach)
        .flat_map(move |y| (low(pos.x)..=pos.x + reach).map(move |x| GridPos { x, y }))
}

const EXPLORED: u64 = 1;
const NEAR_PASSAGE: u64 = 2;

impl Passages {
    /// Resets and resizes the tables if the grid has another size.
    #[inline]
    pub fn resize_for(&mut self, (width, height): (u32, u32)) {
        if (self.width, self.height) != (width, height) {
            let cells = width as usize * height as usize;
            let blocks = width.div_ceil(BLOCK) as usize * height.div_ceil(BLOCK) as usize;
            *self = Self { width, height, ..Self::default() };
            self.flags.resize(cells.div_ceil(32), 0);
            self.block_at.resize(blocks, NONE);
        }
    }

    /// Explores the terrain around a cell, once. Returns whether a passage is near.
    #[inline]
    pub fn explore(&mut self, layer: &Layer, pos: GridPos) -> bool {
        let (word, shift) = self.flag_position(pos);
        if self.flags[word] >> shift & EXPLORED == 0 {
            self.flags[word] |= EXPLORED << shift;
            self.directions = layer.adjacency().straight_directions();
            self.trace_around(layer, pos);
            if self.was_edited && self.is_beside_passage(pos) {
                self.flags[word] |= NEAR_PASSAGE << shift;
            }
        }
        self.flags[word] >> shift & NEAR_PASSAGE != 0
    }

    /// Returns whether the terrain around a cell is explored and no passage is near.
    #[inline]
    pub fn is_far(&self, pos: GridPos) -> bool {
        let (word, shift) = self.flag_position(pos);
        self.flags
            .get(word)
            .is_some_and(|flags| flags >> shift & (EXPLORED | NEAR_PASSAGE) == EXPLORED)
    }

    /// Returns whether a passage is known near a cell.
    #[inline]
    pub fn is_near(&self, pos: GridPos) -> bool {
        let (word, shift) = self.flag_position(pos);
        self.flags.get(word).is_some_and(|flags| flags >> shift & NEAR_PASSAGE != 0)
    }

    /// Returns the passage of a cell and the cell's index along it.
    #[inline]
    pub fn passage_at(&self, pos: GridPos) -> Option<(usize, usize)> {
        let at = self.place_of(pos)?;
        let number = self.numbers[at];
        (number < IS_APPROACH).then(|| (number as usize, usize::from(self.offsets[at])))
    }

    /// Returns the passage that a cell lies before, or one of several.
    pub fn approached_at(&self, pos: GridPos) -> Option<&Passage> {
        let number = self.numbers[self.place_of(pos)?];
        if number < IS_APPROACH || number == NONE {
            return None;
        }
        let passage = &self.list[(number & !IS_APPROACH) as usize];
        let is_near = |mouth: &GridPos| usize::from(mouth.chebyshev(pos)) <= APPROACH_STEPS;
        passage.mouths.iter().flatten().any(is_near).then_some(passage)
    }

    fn flag_position(&self, pos: GridPos) -> (usize, usize) {
        let cell = u32::from(pos.y) as usize * self.width as usize + usize::from(pos.x);
        (cell / 32, cell % 32 * 2)
    }

    fn is_inside(&self, pos: GridPos) -> bool {
        u32::from(pos.x) < self.width && u32::from(pos.y) < self.height
    }

    /// Returns the number of a cell's block, and that of the cell in the block.
    fn block_and_cell(&self, pos: GridPos) -> (usize, usize) {
        let (x, y) = (u32::from(pos.x), u32::from(pos.y));
        let block = y / BLOCK * self.width.div_ceil(BLOCK) + x / BLOCK;
        (block as usize, (y % BLOCK * BLOCK + x % BLOCK) as usize)
    }

    /// Returns where the passage of a cell is stored; `None` off the grid, and if there are no passages in its block.
    fn place_of(&self, pos: GridPos) -> Option<usize> {
        if !self.is_inside(pos) {
            return None;
        }
        let (block, cell) = self.block_and_cell(pos);
        let first = self.block_at[block];
        (first != NONE).then(|| first as usize + cell)
    }

    /// Stores the passage number of a cell and its index along that passage.
    fn set_passage(&mut self, pos: GridPos, number: u32, along: usize) {
        let (block, cell) = self.block_and_cell(pos);
        if self.block_at[block] == NONE {
            self.block_at[block] = self.numbers.len() as u32;
            self.numbers.resize(self.numbers.len() + CELLS, NONE);
            self.offsets.resize(self.numbers.len(), 0);
        }
        let at = self.block_at[block] as usize + cell;
        (self.numbers[at], self.offsets[at]) = (number, along as u16);
    }

    /// Traces the passages on a cell and beside it.
    fn trace_around(&mut self, layer: &Layer, pos: GridPos) {
        if layer.is_open_around(u32::from(pos.x), u32::from(pos.y)) {
            return;
        }
        self.trace(layer, pos);
        for direction in layer.adjacency().straight_steps() {
            self.trace(layer, pos.step(direction));
        }
    }

    /// Traces the passage of a cell, if it is narrow and not known yet.
    fn trace(&mut self, layer: &Layer, pos: GridPos) {
        if self.passage_at(pos).is_some() {
            return;
        }
        let Some(links) = links(layer, pos) else {
            return;
        };
        let number = self.free.pop().unwrap_or_else(|| {
            self.list.push(Passage::default());
            self.list.len() - 1
        });
        let mut passage = Passage { cells: vec![pos], ..Passage::default() };
        for (end, direction) in directions(links).enumerate() {
            let is_known = |pos| self.passage_at(pos).is_some();
            passage.mouths[end] = trace_from(layer, &mut passage.cells, direction as u8, is_known);
            if end == 0 {
                passage.cells.reverse();
            }
        }
        let is_wide =
            |mouth: Option<GridPos>| mouth.is_none_or(|at| narrow_directions(layer, at).is_none());
        let ends_are_wide = passage.mouths.into_iter().all(is_wide);
        passage.lock = DirectionLock::new(passage.cells.len() > MAX_LENGTH || !ends_are_wide);
        self.record(layer, number as u32, &passage);
        self.list[number] = passage;
    }

    fn record(&mut self, layer: &Layer, number: u32, passage: &Passage) {
        for (along, &cell) in passage.cells.iter().enumerate() {
            self.set_passage(cell, number, along);
            self.mark_around(cell, 0);
        }
        for &mouth in passage.mouths.iter().flatten() {
            self.record_approach(layer, mouth, number);
        }
    }

    /// Records the cells before an end of a passage.
    fn record_approach(&mut self, layer: &Layer, mouth: GridPos, number: u32) {
        let (mut list, mut done) = (vec![mouth], 0);
        for _ in 0..=APPROACH_STEPS {
            for at in core::mem::replace(&mut done, list.len())..list.len() {
                let pos = list[at];
                if self.passage_at(pos).is_none() {
                    self.set_passage(pos, number | IS_APPROACH, 0);
                }
                self.mark_around(pos, 1);
                let legal = legal_directions(layer, pos) & layer.adjacency().straight_directions();
                for next in directions(legal).map(|direction| pos.step(direction as u8)) {
                    if !list.contains(&next) && self.passage_at(next).is_none() {
                        list.push(next);
                    }
                }
            }
        }
    }

    fn mark_around(&mut self, pos: GridPos, reach: u16) {
        for near in around(pos, reach) {
            if self.is_inside(near) {
                let (word, shift) = self.flag_position(near);
                self.flags[word] |= NEAR_PASSAGE << shift;
            }
        }
    }

    /// Returns whether a cell lies in a passage, or within a few columns and rows of its end. Edits nearby may have
    /// removed the mark of such a cell.
    fn is_beside_passage(&self, pos: GridPos) -> bool {
        let reach = APPROACH_STEPS as u16 + 1;
        let ends_near = |(number, _): (usize, usize)| {
            let mut mouths = self.list[number].mouths.iter().flatten();
            mouths.any(|mouth| mouth.chebyshev(pos) <= reach)
        };
        self.passage_at(pos).is_some()
            || around(pos, reach + 1).filter_map(|at| self.passage_at(at)).any(ends_near)
    }

    /// Forgets what is known around a rectangle (lowest and highest cell) whose terrain has changed.
    pub fn forget(&mut self, low: GridPos, high: GridPos) {
        self.was_edited = true;
        let reach = |low: u16, high: u16, size: u32| {
            low.saturating_sub(EDIT_MARGIN)..high.saturating_add(EDIT_MARGIN + 1).min(size as u16)
        };
        for y in reach(low.y, high.y, self.height) {
            for x in reach(low.x, high.x, self.width) {
                let pos = GridPos { x, y };
                self.forget_at(pos);
                if self.approached_at(pos).is_some() {
                    directions(self.directions)
                        .for_each(|direction| self.forget_at(pos.step(direction as u8)));
                }
            }
        }
    }

    /// Forgets the passage of a cell, and that the terrain there was explored.
    fn forget_at(&mut self, pos: GridPos) {
        self.mark_unexplored(pos);
        let Some((number, _)) = self.passage_at(pos) else {
            return;
        };
        let passage = core::mem::take(&mut self.list[number]);
        for &cell in &passage.cells {
            self.set_passage(cell, NONE, 0);
            around(cell, 1).for_each(|near| self.mark_unexplored(near));
        }
        for &mouth in passage.mouths.iter().flatten() {
            around(mouth, APPROACH_STEPS as u16 + 1).for_each(|near| self.mark_unexplored(near));
        }
        self.free.push(number);
    }

    fn mark_unexplored(&mut self, pos: GridPos) {
        if self.is_inside(pos) {
            let (word, shift) = self.flag_position(pos);
            self.flags[word] &= !((EXPLORED | NEAR_PASSAGE) << shift);
        }
    }

    pub fn bytes(&self) -> usize {
        let cells = self.list.iter().map(|passage| passage.cells.capacity()).sum::<usize>();
        let blocks = (self.numbers.capacity() + self.block_at.capacity()) * 4;
        let blocks = blocks + self.offsets.capacity() * 2;
        let list = self.list.capacity() * size_of::<Passage>() + cells * size_of::<GridPos>();
        self.flags.capacity() * 8 + blocks + list + self.free.capacity() * size_of::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::{GridPos, Passages};
    use crate::nav::{
        Layer,
        cell::{Cell, CellRect},
        grid::NavGrid,
        terrain::{ProfileId, TerrainId},
    };

    /// Explores all cells; returns those near a passage, and those in one.
    fn explore_all(passages: &mut Passages, layer: &Layer) -> Vec<(bool, bool)> {
        let (width, height) = layer.size();
        passages.resize_for((width, height));
        let all =
            || (0..height as u16).flat_map(|y| (0..width as u16).map(move |x| GridPos { x, y }));
        all().for_each(|pos| {
            passages.explore(layer, pos);
        });
        all().map(|pos| (passages.is_near(pos), passages.passage_at(pos).is_some())).collect()
    }

    /// All cells that are near a passage of a new map are known to be; in the end, with next to no walls, none is.
    #[test]
    fn edits_make_cells_near_passages_and_far_from_them_again() {
        let mut grid = NavGrid::new(48, 40, TerrainId::GROUND).expect("the size is valid");
        let mut passages = Passages::default();
        let mut random = 1_u32;
        let mut below = |bound: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((random >> 16) % bound) as i32
        };
        let mut is_any_near = true;
        for round in 0..600 {
            let corner = Cell::new(below(46), below(38));
            let is_wall = round < 300 && below(3) > 0;
            let shapes = if round < 300 { [(1, 12), (12, 1), (3, 3), (1, 1)] } else { [(9, 9); 4] };
            let (width, height) = shapes[below(4) as usize];
            let rect = CellRect::new(corner, width, height).intersection(grid.rect());
            let terrain = if is_wall { TerrainId::VOID } else { TerrainId::GROUND };
            for cell in rect.cells() {
                grid.set_terrain(cell, terrain).expect("the cell lies on the grid");
            }
            let pos = |x: i32, y: i32| GridPos { x: x as u16, y: y as u16 };
            let (right, top) =
                (rect.min.x + rect.width as i32 - 1, rect.min.y + rect.height as i32 - 1);
            passages.resize_for((48, 40));
            passages.forget(pos(rect.min.x, rect.min.y), pos(right, top));
            let layer = grid.layer(ProfileId(0)).expect("the default profile has a layer");
            let known = explore_all(&mut passages, layer);
            let new = explore_all(&mut Passages::default(), layer);
            is_any_near = known.iter().any(|cell| cell.0);
            for (number, (known, new)) in known.into_iter().zip(new).enumerate() {
                let at = (number % 48, number / 48);
                assert_eq!(known.1, new.1, "a passage at {at:?}, round {round}");
                assert!(known.0 || !new.0, "near a passage at {at:?}, round {round}");
            }
        }
        assert!(!is_any_near, "no walls are left, or next to none");
    }
}
