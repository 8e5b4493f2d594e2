//! Search nodes by cell, in pages of 32 × 32 that come from a pool.
//!
//! Input: cells (column and row from the grid's origin). Output: [`NodeId`]s and the `Node`s
//! behind them. A search takes a page when it first looks at a cell of it, so its memory follows
//! what it explores; when it ends, the pages go back to the pool. Nodes are stamped instead of
//! cleared: each search has a generation of its own, and a node with another generation reads as
//! unseen. A page that no search of this generation has written to needs no work at all.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{cell::CHUNK, open_list::NodeId};

const PAGE_CELLS: usize = (CHUNK * CHUNK) as usize;
const PAGE_BITS: u32 = PAGE_CELLS.trailing_zeros();
/// Page that a search does not hold.
const NO_PAGE: u32 = u32::MAX;
/// Generations that fit into a node's mark.
const LAST_GENERATION: u32 = (1 << 24) - 1;

/// What a search knows of a cell: 8 bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Node {
    /// Cost from the start, in the layer's units.
    pub(crate) g: u32,
    /// Generation (24 bits), closed (1 bit), direction of arrival (4 bits).
    mark: u32,
}

const CLOSED: u32 = 1 << 7;

impl Node {
    #[inline]
    pub(crate) const fn open(generation: u32, g: u32, arrival: u8) -> Self {
        Self { g, mark: generation << 8 | arrival as u32 }
    }

    #[inline]
    pub(crate) const fn is_of(self, generation: u32) -> bool {
        self.mark >> 8 == generation
    }

    #[inline]
    pub(crate) const fn is_closed(self) -> bool {
        self.mark & CLOSED != 0
    }

    #[inline]
    pub(crate) fn close(&mut self) {
        self.mark |= CLOSED;
    }

    /// Direction of the step that led here; [`NO_DIRECTION`](super::moves::NO_DIRECTION) at the
    /// start.
    #[inline]
    pub(crate) const fn arrival(self) -> u8 {
        (self.mark & 0xf) as u8
    }
}

type Page = Box<[Node; PAGE_CELLS]>;

/// Pages that no search holds at the moment, and the next generation. Searches on several threads
/// may share one: which page a search gets shows nowhere.
#[derive(Debug, Default)]
pub struct NodePool(Mutex<Pages>);

#[derive(Debug, Default)]
struct Pages {
    free: Vec<Page>,
    generation: u32,
    made: usize,
}

impl NodePool {
    /// Pages waiting for a search; 8 KiB each.
    #[must_use]
    pub fn free_pages(&self) -> usize {
        self.lock().free.len()
    }

    /// Pages made and not dropped, waiting or in use; 8 KiB each.
    #[must_use]
    pub fn pages(&self) -> usize {
        self.lock().made
    }

    /// Makes pages until at least `count` are waiting, so that the first searches find them.
    pub fn reserve(&self, count: usize) {
        let mut pages = self.lock();
        while pages.free.len() < count {
            let page = pages.new_page();
            pages.free.push(page);
        }
    }

    /// Drops waiting pages above `keep`.
    pub fn trim(&self, keep: usize) {
        let mut pages = self.lock();
        if pages.free.len() > keep {
            pages.made -= pages.free.len() - keep;
            pages.free.truncate(keep);
            pages.free.shrink_to(keep);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Pages> {
        // Nothing in here is ever left half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Page {
        let mut pages = self.lock();
        match pages.free.pop() {
            Some(page) => page,
            None => pages.new_page(),
        }
    }
}

impl Pages {
    fn new_page(&mut self) -> Page {
        self.made += 1;
        Box::new([Node::default(); PAGE_CELLS])
    }

    /// A generation that no node in the pool bears. After 16 million searches the numbers start
    /// over; pages still held by others then are cleared when their search ends.
    fn next_generation(&mut self) -> u32 {
        if self.generation == LAST_GENERATION {
            self.made -= self.free.len();
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
    places: Vec<(u32, u32)>,
    /// Page of each chunk of the grid, row-major.
    by_chunk: Vec<u32>,
    chunks_per_row: u32,
    generation: u32,
}

impl NodeStore {
    /// Gets ready for a search on a grid of this many chunks. Pages must have been given back.
    pub(crate) fn start(&mut self, chunks: (u32, u32), pool: &NodePool) {
        debug_assert!(self.pages.is_empty(), "pages go back before the next start");
        let count = chunks.0 as usize * chunks.1 as usize;
        if self.by_chunk.len() != count {
            self.by_chunk.clear();
            self.by_chunk.resize(count, NO_PAGE);
        }
        self.chunks_per_row = chunks.0;
        self.generation = pool.lock().next_generation();
    }

    /// Gives all pages back.
    pub(crate) fn finish(&mut self, pool: &NodePool) {
        for &(x, y) in &self.places {
            self.by_chunk[(y * self.chunks_per_row + x) as usize] = NO_PAGE;
        }
        self.places.clear();
        if self.pages.is_empty() {
            return;
        }
        let mut pool = pool.lock();
        if self.generation > pool.generation {
            // The numbers have started over while this search ran: its marks could be taken for
            // those of a later one.
            pool.made -= self.pages.len();
            self.pages.clear();
        }
        pool.free.append(&mut self.pages);
    }

    #[inline]
    pub(crate) const fn generation(&self) -> u32 {
        self.generation
    }

    /// The node of the cell, from the page it lies in; takes the page if there is none yet.
    #[inline]
    pub(crate) fn id(&mut self, x: u32, y: u32, pool: &NodePool) -> NodeId {
        let chunk = ((y / CHUNK) * self.chunks_per_row + x / CHUNK) as usize;
        let mut page = self.by_chunk[chunk];
        if page == NO_PAGE {
            page = self.add_page(chunk, pool);
        }
        node_id(page, x, y)
    }

    /// The node of the cell if its page is held.
    pub(crate) fn find(&self, x: u32, y: u32) -> Option<NodeId> {
        let chunk = ((y / CHUNK) * self.chunks_per_row + x / CHUNK) as usize;
        let page = *self.by_chunk.get(chunk)?;
        (page != NO_PAGE).then_some(node_id(page, x, y))
    }

    /// The cell of a node.
    #[inline]
    pub(crate) fn place(&self, id: NodeId) -> (u32, u32) {
        let (x, y) = self.places[(id >> PAGE_BITS) as usize];
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

    /// Chunk column and row of each page held.
    pub(crate) fn chunks(&self) -> &[(u32, u32)] {
        &self.places
    }

    /// Memory held, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.pages.len() * size_of::<[Node; PAGE_CELLS]>()
            + self.by_chunk.capacity() * 4
            + self.places.capacity() * 8
    }

    #[cold]
    fn add_page(&mut self, chunk: usize, pool: &NodePool) -> u32 {
        let page = self.pages.len() as u32;
        self.pages.push(pool.take());
        self.places.push((chunk as u32 % self.chunks_per_row, chunk as u32 / self.chunks_per_row));
        self.by_chunk[chunk] = page;
        page
    }
}

/// The number of the node of a cell in a page.
#[inline]
const fn node_id(page: u32, x: u32, y: u32) -> NodeId {
    (page << PAGE_BITS) | ((y % CHUNK) << 5) | (x % CHUNK)
}
