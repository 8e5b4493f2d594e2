//! Where the ground is so narrow that two units cannot pass each other.
//!
//! Input: the ground as one profile sees it. Output: passages, chains of cells on which a unit can only
//! go on or back: corridors one cell wide with all their bends, doors, dead ends. A dent of a single
//! cell beside a chain (a bay) does not interrupt it.
//!
//! Passages are traced when somebody first comes near, and forgotten when the ground around one of their
//! cells changes, so an edit costs no more than the passages it touches. Two bits a cell tell whether the
//! ground around it has been looked at, and whether a passage is near; the passage of a cell stands in
//! blocks that exist only where there are passages.

use super::{
    board::Place,
    lock::Lock,
    narrow::{follow, links, narrow},
    unit::NONE,
};
use crate::nav::layer::Layer;

/// Longest passage, in cells; longer ones are cut into parts that nobody regulates.
pub(super) const LONGEST: usize = 512;
/// Cells along a side of a block.
const BLOCK: u32 = 32;
const CELLS: usize = (BLOCK * BLOCK) as usize;
/// Cells around an edit in which the ground may look different.
const AROUND: u16 = 3;
/// Steps from an end of a passage within which cells are before it.
const BEFORE: usize = 2;
/// Bit of the numbers that stand on cells before passages.
const IS_BEFORE: u32 = 1 << 31;
/// Straight ways, as bits.
pub(super) const STRAIGHT_WAYS: [u8; 4] = [0, 2, 4, 6];

/// A chain of narrow cells.
#[derive(Clone, Debug, Default)]
pub(super) struct Passage {
    pub(super) cells: Vec<Place>,
    /// The cells before the first and behind the last one; `None` at a dead end.
    pub(super) mouths: [Option<Place>; 2],
    pub(super) lock: Lock,
}

impl Passage {
    /// The side at which a step from `from` leads into its cell number `at`.
    pub(super) fn side(&self, from: Place, at: usize) -> Option<usize> {
        let is_here = |side: &usize| {
            let end = if *side == 0 { 0 } else { self.cells.len() - 1 };
            at == end && self.mouths[*side] == Some(from)
        };
        [0, 1].into_iter().find(is_here)
    }
}

/// The passages of a cell block: number and place along it for each cell.
#[derive(Clone, Debug)]
struct Block {
    numbers: [u32; CELLS],
    places: [u16; CELLS],
}

/// All passages known so far; see the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Passages {
    width: u32,
    height: u32,
    /// Two bits a cell: looked at, near a passage.
    marks: Vec<u64>,
    /// By block, where it stands in `blocks`.
    at: Vec<u32>,
    blocks: Vec<Block>,
    list: Vec<Passage>,
    free: Vec<u32>,
}

const SEEN: u64 = 1;
const NEAR: u64 = 2;

impl Passages {
    /// Makes room for a grid of this size.
    #[inline]
    pub(super) fn fit(&mut self, (width, height): (u32, u32)) {
        if (self.width, self.height) != (width, height) {
            let cells = width as usize * height as usize;
            let blocks = width.div_ceil(BLOCK) as usize * height.div_ceil(BLOCK) as usize;
            *self = Self { width, height, ..Self::default() };
            self.marks.resize(cells.div_ceil(32), 0);
            self.at.resize(blocks, NONE);
        }
    }

    /// Looks at the ground around a cell, once; says whether a passage is near.
    #[inline]
    pub(super) fn look(&mut self, layer: &Layer, place: Place) -> bool {
        let (word, shift) = self.mark_at(place);
        if self.marks[word] >> shift & SEEN == 0 {
            self.marks[word] |= SEEN << shift;
            self.look_around(layer, place);
        }
        self.marks[word] >> shift & NEAR != 0
    }

    /// Whether it is known that no passage is near a cell.
    #[inline]
    pub(super) fn is_far(&self, place: Place) -> bool {
        let (word, shift) = self.mark_at(place);
        self.marks.get(word).is_some_and(|marks| marks >> shift & (SEEN | NEAR) == SEEN)
    }

    /// Whether a passage is near a cell, as far as is known.
    #[inline]
    pub(super) fn is_near(&self, place: Place) -> bool {
        let (word, shift) = self.mark_at(place);
        self.marks.get(word).is_some_and(|marks| marks >> shift & NEAR != 0)
    }

    /// The passage of a cell, and the cell's number along it.
    #[inline]
    pub(super) fn of(&self, place: Place) -> Option<(u32, usize)> {
        let (block, cell) = self.block_at(place)?;
        let number = block.numbers[cell];
        (number < IS_BEFORE).then(|| (number, usize::from(block.places[cell])))
    }

    /// A passage before whose end a cell lies. Where it lies before several, one of them.
    pub(super) fn before(&self, place: Place) -> Option<&Passage> {
        let (block, cell) = self.block_at(place)?;
        let number = block.numbers[cell];
        if number < IS_BEFORE || number == NONE {
            return None;
        }
        let passage = self.get(number & !IS_BEFORE)?;
        let is_near = |mouth: &Place| usize::from(mouth.reach(place)) <= BEFORE;
        passage.mouths.iter().flatten().any(is_near).then_some(passage)
    }

    pub(super) fn get(&self, number: u32) -> Option<&Passage> {
        self.list.get(number as usize)
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut Passage> {
        self.list.get_mut(number as usize)
    }

    fn mark_at(&self, place: Place) -> (usize, usize) {
        let cell = u32::from(place.y) as usize * self.width as usize + usize::from(place.x);
        (cell / 32, cell % 32 * 2)
    }

    fn is_inside(&self, place: Place) -> bool {
        u32::from(place.x) < self.width && u32::from(place.y) < self.height
    }

    fn block_number(&self, place: Place) -> usize {
        let (x, y) = (u32::from(place.x) / BLOCK, u32::from(place.y) / BLOCK);
        (y * self.width.div_ceil(BLOCK) + x) as usize
    }

    fn block_at(&self, place: Place) -> Option<(&Block, usize)> {
        if !self.is_inside(place) {
            return None;
        }
        let block = self.blocks.get(self.at[self.block_number(place)] as usize)?;
        let (x, y) = (u32::from(place.x) % BLOCK, u32::from(place.y) % BLOCK);
        Some((block, (y * BLOCK + x) as usize))
    }

    /// Writes the passage of a cell down.
    fn put(&mut self, place: Place, number: u32, along: usize) {
        let at = self.block_number(place);
        if self.at[at] == NONE {
            self.at[at] = self.blocks.len() as u32;
            self.blocks.push(Block { numbers: [NONE; CELLS], places: [0; CELLS] });
        }
        let block = &mut self.blocks[self.at[at] as usize];
        let (x, y) = (u32::from(place.x) % BLOCK, u32::from(place.y) % BLOCK);
        let cell = (y * BLOCK + x) as usize;
        (block.numbers[cell], block.places[cell]) = (number, along as u16);
    }

    /// Traces the passages on a cell and beside it.
    fn look_around(&mut self, layer: &Layer, place: Place) {
        if layer.pattern(u32::from(place.x), u32::from(place.y)) == 0x1ff {
            return;
        }
        self.trace(layer, place);
        for way in STRAIGHT_WAYS {
            self.trace(layer, place.step(way));
        }
    }

    /// Traces the passage of a cell, if it is narrow and not known yet.
    fn trace(&mut self, layer: &Layer, place: Place) {
        if !self.is_inside(place) || self.of(place).is_some() {
            return;
        }
        let Some(links) = links(layer, place) else {
            return;
        };
        let number = self.free.pop().unwrap_or_else(|| {
            self.list.push(Passage::default());
            self.list.len() as u32 - 1
        });
        let mut passage = core::mem::take(&mut self.list[number as usize]);
        passage.cells.clear();
        passage.mouths = [None; 2];
        passage.lock = Lock::default();
        passage.cells.push(place);
        for (end, way) in STRAIGHT_WAYS.into_iter().filter(|way| links & 1 << way != 0).enumerate()
        {
            if end == 1 {
                passage.cells.reverse();
            }
            let mouth = follow(layer, &mut passage.cells, way);
            passage.mouths[end] = mouth;
        }
        if links.count_ones() == 1 {
            passage.cells.reverse();
        }
        let is_roomy = |mouth: Option<Place>| mouth.is_none_or(|at| narrow(layer, at).is_none());
        let has_room = passage.mouths.into_iter().all(is_roomy);
        passage.lock.is_open = passage.cells.len() > LONGEST || !has_room;
        self.write_down(layer, number, &passage);
        self.list[number as usize] = passage;
    }

    fn write_down(&mut self, layer: &Layer, number: u32, passage: &Passage) {
        for (along, &cell) in passage.cells.iter().enumerate() {
            self.put(cell, number, along);
            self.mark_around(cell, 0);
        }
        for &mouth in passage.mouths.iter().flatten() {
            self.write_before(layer, mouth, number);
        }
    }

    /// Writes down the cells before an end of a passage.
    fn write_before(&mut self, layer: &Layer, mouth: Place, number: u32) {
        let mut list = [mouth; 2 * BEFORE * (BEFORE + 1) + 1];
        let (mut len, mut done) = (1, 0);
        for _ in 0..=BEFORE {
            let (known, from) = (list, core::mem::replace(&mut done, len));
            for &place in &known[from..len] {
                if self.of(place).is_none() {
                    self.put(place, number | IS_BEFORE, 0);
                }
                self.mark_around(place, 1);
                for next in STRAIGHT_WAYS.map(|way| place.step(way)) {
                    let is_free = layer.is_passable(u32::from(next.x), u32::from(next.y));
                    if is_free
                        && len < list.len()
                        && !list[..len].contains(&next)
                        && self.of(next).is_none()
                    {
                        list[len] = next;
                        len += 1;
                    }
                }
            }
        }
    }

    fn mark_around(&mut self, place: Place, reach: u16) {
        for y in place.y.saturating_sub(reach)..=place.y + reach {
            for x in place.x.saturating_sub(reach)..=place.x + reach {
                let near = Place { x, y };
                if self.is_inside(near) {
                    let (word, shift) = self.mark_at(near);
                    self.marks[word] |= NEAR << shift;
                }
            }
        }
    }

    /// The ground in a rectangle (lowest and highest cell) has changed: what is known around it is
    /// forgotten.
    pub(super) fn forget(&mut self, low: Place, high: Place) {
        let reach = |low: u16, high: u16, size: u32| {
            low.saturating_sub(AROUND)..high.saturating_add(AROUND + 1).min(size as u16)
        };
        for y in reach(low.y, high.y, self.height) {
            for x in reach(low.x, high.x, self.width) {
                let place = Place { x, y };
                self.forget_at(place);
                if self.before(place).is_some() {
                    STRAIGHT_WAYS.into_iter().for_each(|way| self.forget_at(place.step(way)));
                }
            }
        }
    }

    /// Forgets the passage of a cell, and that the ground there was looked at.
    fn forget_at(&mut self, place: Place) {
        if !self.is_inside(place) {
            return;
        }
        self.unsee(place);
        let Some((number, _)) = self.of(place) else {
            return;
        };
        let mut passage = core::mem::take(&mut self.list[number as usize]);
        for &cell in &passage.cells {
            self.put(cell, NONE, 0);
        }
        for &cell in passage.cells.iter().chain(passage.mouths.iter().flatten()) {
            self.unsee(cell);
            for way in STRAIGHT_WAYS {
                self.unsee(cell.step(way));
            }
        }
        passage.cells.clear();
        passage.mouths = [None; 2];
        self.list[number as usize] = passage;
        self.free.push(number);
    }

    fn unsee(&mut self, place: Place) {
        if self.is_inside(place) {
            let (word, shift) = self.mark_at(place);
            self.marks[word] &= !(SEEN << shift);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let cells = self.list.iter().map(|passage| passage.cells.capacity()).sum::<usize>();
        let blocks = self.blocks.capacity() * size_of::<Block>() + self.at.capacity() * 4;
        let list = self.list.capacity() * size_of::<Passage>() + cells * size_of::<Place>();
        self.marks.capacity() * 8 + blocks + list + self.free.capacity() * 4
    }
}
