//! Search nodes by cell, in pages of 32 × 32 that come from a pool.
//!
//! Input: cells (column and row from the grid's origin). Output: [`NodeId`]s and their `Node`s. A search
//! takes a page when it first looks at one of its cells, so its memory follows what it explores; when it
//! ends, the pages return to the pool. Nodes are stamped instead of cleared: each search has its own
//! generation, and a node with another generation counts as unseen. A page that no search of this generation
//! has written to needs no work at all.

#[cfg(feature = "serialize")]
mod stored;

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::nav::{CHUNK, NodeId};

const PAGE_CELLS: usize = (CHUNK * CHUNK) as usize;
const PAGE_BITS: u32 = PAGE_CELLS.trailing_zeros();
/// Marks a chunk whose page the search does not hold.
const NO_PAGE: u32 = u32::MAX;
/// Largest generation that fits into a node's stamp.
const LAST_GENERATION: u32 = (1 << 24) - 1;

/// The state of a cell in a search: 8 bytes.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Node {
    /// Cost from the start, in the layer's units.
    pub(crate) g: u32,
    /// Generation (24 bits), closed (1 bit), direction of arrival (4 bits).
    stamp: u32,
}

const CLOSED: u32 = 1 << 7;

impl Node {
    #[inline]
    pub(crate) const fn open(generation: u32, g: u32, arrival: u8) -> Self {
        Self { g, stamp: generation << 8 | arrival as u32 }
    }

    #[inline]
    pub(crate) const fn has_generation(self, generation: u32) -> bool {
        self.stamp >> 8 == generation
    }

    #[inline]
    pub(crate) const fn is_closed(self) -> bool {
        self.stamp & CLOSED != 0
    }

    #[inline]
    pub(crate) fn close(&mut self) {
        self.stamp |= CLOSED;
    }

    #[inline]
    pub(crate) fn reopen(&mut self) {
        self.stamp &= !CLOSED;
    }

    /// Direction of the step that led to the node; [`NO_DIRECTION`](crate::nav::moves::NO_DIRECTION) at the start.
    #[inline]
    pub(crate) const fn arrival(self) -> u8 {
        (self.stamp & 0xf) as u8
    }
}

type Page = Box<[Node; PAGE_CELLS]>;

fn empty_page() -> Page {
    Box::new([Node::default(); PAGE_CELLS])
}

/// Pages that no search holds at the moment, and the next generation. Searches on several threads may share
/// one pool: which page a search gets has no effect on its result.
#[derive(Debug, Default)]
pub struct NodePool(Mutex<Pages>);

#[derive(Debug, Default)]
struct Pages {
    free: Vec<Page>,
    generation: u32,
    allocated: usize,
}

impl NodePool {
    /// Pages in the pool that no search holds; 8 KiB each.
    #[must_use]
    pub fn free_pages(&self) -> usize {
        self.lock().free.len()
    }

    /// Pages allocated and not dropped, free or in use; 8 KiB each.
    #[must_use]
    pub fn pages(&self) -> usize {
        self.lock().allocated
    }

    /// Allocates pages until at least `count` are free, so that the first searches find them.
    pub fn reserve(&self, count: usize) {
        let mut pages = self.lock();
        while pages.free.len() < count {
            pages.allocated += 1;
            pages.free.push(empty_page());
        }
    }

    /// Drops free pages above `keep`.
    pub fn trim(&self, keep: usize) {
        let mut pages = self.lock();
        if pages.free.len() > keep {
            pages.allocated = pages.allocated.saturating_sub(pages.free.len() - keep);
            pages.free.truncate(keep);
            pages.free.shrink_to(keep);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Pages> {
        // No panic can leave the pages half updated.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages {
    fn take_page(&mut self) -> Page {
        self.free.pop().unwrap_or_else(|| {
            self.allocated += 1;
            empty_page()
        })
    }

    /// A generation that no node in the pool has. After 16 million searches the numbers start over; pages
    /// that other searches hold at that time are dropped when their search ends.
    fn next_generation(&mut self) -> u32 {
        if self.generation == LAST_GENERATION {
            self.allocated -= self.free.len();
            self.free.clear();
            self.generation = 0;
        }
        self.generation += 1;
        self.generation
    }
}

/// The nodes of one search.
#[derive(Debug, Default)]
pub(crate) struct NodeStore {
    pages: Vec<Page>,
    /// Chunk column and row of each page.
    pub(super) page_chunks: Vec<(u32, u32)>,
    /// Page of each chunk of the grid, row-major.
    page_by_chunk: Vec<u32>,
    chunks_per_row: u32,
    pub(super) generation: u32,
    /// It is a copy and has the generation of another search. Until it starts again it takes no pages from the pool, where
    /// nodes may have that generation, and returns none.
    is_copy: bool,
}

impl Clone for NodeStore {
    fn clone(&self) -> Self {
        Self {
            pages: self.pages.clone(),
            page_chunks: self.page_chunks.clone(),
            page_by_chunk: self.page_by_chunk.clone(),
            is_copy: true,
            ..*self
        }
    }
}

impl NodeStore {
    /// Prepares for a search on a grid of this many chunks. Pages must have been returned.
    pub(crate) fn start(&mut self, chunks: (u32, u32), pool: &NodePool) {
        debug_assert!(self.pages.is_empty(), "pages must be returned before the next start");
        let count = chunks.0 as usize * chunks.1 as usize;
        if self.page_by_chunk.len() != count {
            self.page_by_chunk.clear();
            self.page_by_chunk.resize(count, NO_PAGE);
        }
        self.chunks_per_row = chunks.0;
        self.is_copy = false;
        self.generation = pool.lock().next_generation();
    }

    /// Returns all pages to the pool.
    pub(crate) fn finish(&mut self, pool: &NodePool) {
        for &(x, y) in &self.page_chunks {
            self.page_by_chunk[(y * self.chunks_per_row + x) as usize] = NO_PAGE;
        }
        self.page_chunks.clear();
        if self.is_copy {
            self.pages.clear();
        }
        if self.pages.is_empty() {
            return;
        }
        let mut pool = pool.lock();
        if self.generation > pool.generation {
            // The numbers have started over while this search ran: its stamps could be taken for those of a
            // later search.
            pool.allocated = pool.allocated.saturating_sub(self.pages.len());
            self.pages.clear();
        }
        pool.free.append(&mut self.pages);
    }

    /// Returns the node of the cell; takes the page the cell lies in if the search does not hold it.
    #[inline]
    pub(crate) fn id(&mut self, x: u32, y: u32, pool: &NodePool) -> NodeId {
        let chunk = ((y / CHUNK) * self.chunks_per_row + x / CHUNK) as usize;
        let mut page = self.page_by_chunk[chunk];
        if page == NO_PAGE {
            page = self.add_page(chunk, pool);
        }
        node_id(page, x, y)
    }

    /// Returns the node of the cell if its page is held.
    pub(crate) fn find(&self, x: u32, y: u32) -> Option<NodeId> {
        let chunk = ((y / CHUNK) * self.chunks_per_row + x / CHUNK) as usize;
        let page = *self.page_by_chunk.get(chunk)?;
        (page != NO_PAGE).then_some(node_id(page, x, y))
    }

    /// The cell of a node.
    #[inline]
    pub(crate) fn cell_of(&self, id: NodeId) -> (u32, u32) {
        let (x, y) = self.page_chunks[(id >> PAGE_BITS) as usize];
        (x * CHUNK + id % CHUNK, y * CHUNK + (id >> 5) % CHUNK)
    }

    #[inline]
    pub(crate) fn get(&self, id: NodeId) -> Node {
        self.pages[(id >> PAGE_BITS) as usize][id as usize % PAGE_CELLS]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.pages[(id >> PAGE_BITS) as usize][id as usize % PAGE_CELLS]
    }

    /// Memory held, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.pages.len() * size_of::<[Node; PAGE_CELLS]>()
            + self.page_by_chunk.capacity() * 4
            + self.page_chunks.capacity() * 8
    }

    #[cold]
    fn add_page(&mut self, chunk: usize, pool: &NodePool) -> u32 {
        let page = self.pages.len() as u32;
        self.pages.push(if self.is_copy { empty_page() } else { pool.lock().take_page() });
        self.page_chunks
            .push((chunk as u32 % self.chunks_per_row, chunk as u32 / self.chunks_per_row));
        self.page_by_chunk[chunk] = page;
        page
    }
}

/// Returns the number of the node of a cell in a page.
#[inline]
const fn node_id(page: u32, x: u32, y: u32) -> NodeId {
    (page << PAGE_BITS) | ((y % CHUNK) << 5) | (x % CHUNK)
}
