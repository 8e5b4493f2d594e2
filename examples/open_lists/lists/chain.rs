//! A doubly linked list: what the article advises for lists kept sorted by insertion.
//!
//! Links live in one array and point at each other by index; those that were taken out are used
//! again.

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
    /// The link before, nearer the front, or [`NONE`].
    pub previous: u32,
    /// The link after, or [`NONE`].
    pub next: u32,
}

/// Links from a first to a last one; see the [module](self).
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
    /// Takes everything out.
    pub fn clear(&mut self) {
        self.links.clear();
        (self.first, self.last, self.free, self.len) = (NONE, NONE, NONE, 0);
    }

    /// The link at `index`.
    pub fn get(&self, index: u32) -> Link {
        self.links[index as usize]
    }

    /// Links, in use.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Bytes held.
    pub const fn bytes(&self) -> usize {
        self.links.capacity() * size_of::<Link>()
    }

    /// Puts an item in before the link `next`, or at the end if that is [`NONE`].
    pub fn insert_before(&mut self, next: u32, f: u32, node: NodeId) {
        let previous = if next == NONE { self.last } else { self.get(next).previous };
        let link = self.new_link(Link { f, node, previous, next });
        self.join(previous, link);
        self.join(link, next);
        self.len += 1;
    }

    /// Takes a link out.
    pub fn remove(&mut self, index: u32) -> Link {
        let link = self.get(index);
        self.join(link.previous, link.next);
        self.links[index as usize].next = self.free;
        self.free = index;
        self.len -= 1;
        link
    }

    /// Makes two links neighbors; [`NONE`] stands for the ends.
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
