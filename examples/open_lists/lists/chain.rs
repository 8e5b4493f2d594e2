//! A doubly linked list, as the article recommends for lists kept sorted by insertion.
//!
//! Links are stored in one array and refer to each other by index; removed links are reused.

use bevy_tilepath::nav::open_list::NodeId;

/// No link.
pub const NONE: u32 = u32::MAX;

/// An item and its neighbors.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// F cost.
    pub f: u32,
    /// The search's node.
    pub node: NodeId,
    /// The previous link, towards the front, or [`NONE`].
    pub previous: u32,
    /// The next link, or [`NONE`].
    pub next: u32,
}

/// A linked list; see the [module](self).
#[derive(Debug)]
pub struct Chain {
    links: Vec<Link>,
    /// The first link, or [`NONE`].
    pub first: u32,
    /// The last link, or [`NONE`].
    pub last: u32,
    free: u32,
    len: usize,
}

impl Default for Chain {
    fn default() -> Self {
        Self { links: Vec::new(), first: NONE, last: NONE, free: NONE, len: 0 }
    }
}

impl Chain {
    /// Removes all items.
    pub fn clear(&mut self) {
        self.links.clear();
        (self.first, self.last, self.free, self.len) = (NONE, NONE, NONE, 0);
    }

    /// Returns the link at `index`.
    pub fn get(&self, index: u32) -> Link {
        self.links[index as usize]
    }

    /// Returns the number of links in use.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns its memory use in bytes.
    pub const fn bytes(&self) -> usize {
        self.links.capacity() * size_of::<Link>()
    }

    /// Inserts an item before the link `next`, or at the end if that is [`NONE`].
    pub fn insert_before(&mut self, next: u32, f: u32, node: NodeId) {
        let previous = if next == NONE { self.last } else { self.get(next).previous };
        let link = self.new_link(Link { f, node, previous, next });
        self.join(previous, link);
        self.join(link, next);
        self.len += 1;
    }

    /// Removes a link.
    pub fn remove(&mut self, index: u32) -> Link {
        let link = self.get(index);
        self.join(link.previous, link.next);
        self.links[index as usize].next = self.free;
        self.free = index;
        self.len -= 1;
        link
    }

    /// Makes two links neighbors; [`NONE`] is the end on either side.
    fn join(&mut self, previous: u32, next: u32) {
        match previous {
            NONE => self.first = next,
            _ => self.links[previous as usize].next = next,
        }
        match next {
            NONE => self.last = previous,
            _ => self.links[next as usize].previous = previous,
        }
    }

    fn new_link(&mut self, link: Link) -> u32 {
        if self.free == NONE {
            self.links.push(link);
            return self.links.len() as u32 - 1;
        }
        let index = self.free;
        self.free = self.get(index).next;
        self.links[index as usize] = link;
        index
    }
}
