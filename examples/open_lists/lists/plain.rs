//! 6. The plain heap of F values, with the table that makes it an open list.
//!
//! The C# article's heap holds numbers only: it returns the lowest F, but not its square. As an open
//! list it therefore needs a table from each F to the squares that have it: a ring of stacks, as all
//! F are within the spread of a search. Equal numbers in a heap cannot be distinguished, so a square
//! that became cheaper is inserted again (lazy deletion).
//!
//! The article's listing decrements the count before it checks whether a child exists, and so may
//! swap with its own copy in the slot just left. That changes no answer and is not repeated here.
//!
//! Source: "Binary heaps", a blog article on a C# pathfinder, after P. Lester.

use bevy_tilepath::nav::open_list::{Key, NodeId, OpenList, OpenListObserver};

/// End of a stack.
const END: u32 = u32::MAX;

/// A heap of numbers from index 1 on.
pub struct PlainHeap<W: OpenListObserver = ()> {
    values: Vec<u32>,
    observer: W,
}

impl<W: OpenListObserver> Default for PlainHeap<W> {
    fn default() -> Self {
        Self { values: vec![0], observer: W::default() }
    }
}

impl<W: OpenListObserver> PlainHeap<W> {
    /// Returns the values in array order.
    pub fn values(&self) -> &[u32] {
        &self.values[1..]
    }

    /// The observer.
    pub const fn observer(&self) -> &W {
        &self.observer
    }

    /// Inserts a value.
    pub fn add(&mut self, value: u32) {
        self.values.push(value);
        let mut index = self.values.len() - 1;
        while index != 1 {
            let parent = index / 2;
            self.observer.compared(index, parent);
            if self.values[index] > self.values[parent] {
                break;
            }
            self.values.swap(index, parent);
            self.observer.moved(index, parent);
            index = parent;
        }
    }

    /// Removes the lowest value.
    pub fn remove(&mut self) -> Option<u32> {
        if self.values.len() == 1 {
            return None;
        }
        let lowest = self.values.swap_remove(1);
        let mut swap = 1;
        loop {
            let parent = swap;
            let children = 2 * parent..self.values.len().min(2 * parent + 2);
            for child in children {
                self.observer.compared(swap, child);
                if self.values[swap] >= self.values[child] {
                    swap = child;
                }
            }
            if parent == swap {
                return Some(lowest);
            }
            self.values.swap(parent, swap);
            self.observer.moved(parent, swap);
        }
    }
}

/// The plain heap and its table of squares; see the [module](self).
#[derive(Default)]
pub struct PlainList<W: OpenListObserver = ()> {
    heap: PlainHeap<W>,
    /// Newest square of each F in the heap, by F modulo the ring.
    tops: Vec<u32>,
    /// A square and the square below it on its stack.
    squares: Vec<(NodeId, u32)>,
}

impl<W: OpenListObserver> PlainList<W> {
    /// The observer.
    pub const fn observer(&self) -> &W {
        self.heap.observer()
    }
}

impl<W: OpenListObserver> OpenList for PlainList<W> {
    fn reset(&mut self, _lowest: u32, spread: u32) {
        let ring = spread.saturating_add(1).min(1 << 31).next_power_of_two();
        self.heap.values.truncate(1);
        self.tops.clear();
        self.tops.resize(ring as usize, END);
        self.squares.clear();
    }

    fn insert(&mut self, node: NodeId, key: Key) {
        self.heap.add(key.f);
        let stack = key.f as usize & (self.tops.len() - 1);
        self.squares.push((node, self.tops[stack]));
        self.tops[stack] = self.squares.len() as u32 - 1;
    }

    fn improve(&mut self, node: NodeId, key: Key) {
        self.insert(node, key);
    }

    fn pop(&mut self) -> Option<NodeId> {
        let f = self.heap.remove()?;
        let stack = f as usize & (self.tops.len() - 1);
        let (node, below) = self.squares[self.tops[stack] as usize];
        self.tops[stack] = below;
        Some(node)
    }

    fn len(&self) -> usize {
        self.heap.values.len() - 1
    }

    fn bytes(&self) -> usize {
        4 * (self.heap.values.capacity() + self.tops.capacity()) + 8 * self.squares.capacity()
    }
}
