//! 7. Lague's generic heap: items store their own slot.
//!
//! The heap holds references to items of any type that can be compared and can store a heap index.
//! So it checks in constant time whether it contains an item, and moves an improved item without
//! searching for it. A search's items compare by F, then by H. C#'s references are replaced by
//! indices into a separate array of objects.
//!
//! Source: S. Lague, "A* Pathfinding (E04: heap optimization)" (2014).

use core::{cmp::Ordering, marker::PhantomData};

use bevy_tilepath::nav::open_list::{Key, NodeId, OpenList, OpenListObserver};

/// An item of a [`Heap`]: the greatest is removed first.
pub trait HeapItem: Ord {
    /// Returns the slot in the heap, as last set.
    fn heap_index(&self) -> usize;
    /// Stores a new slot.
    fn set_heap_index(&mut self, index: usize);
}

/// A heap of references into `objects`; see the [module](self).
pub struct Heap<T: HeapItem, W: OpenListObserver> {
    items: Vec<u32>,
    observer: W,
    of: PhantomData<fn(T)>,
}

impl<T: HeapItem, W: OpenListObserver> Default for Heap<T, W> {
    fn default() -> Self {
        Self { items: Vec::new(), observer: W::default(), of: PhantomData }
    }
}

impl<T: HeapItem, W: OpenListObserver> Heap<T, W> {
    /// Inserts an object.
    pub fn add(&mut self, objects: &mut [T], item: u32) {
        objects[item as usize].set_heap_index(self.items.len());
        self.items.push(item);
        self.sort_up(objects, self.items.len() - 1);
    }

    /// Removes the greatest object.
    pub fn remove_first(&mut self, objects: &mut [T]) -> Option<u32> {
        let first = *self.items.first()?;
        self.items.swap_remove(0);
        if let Some(&item) = self.items.first() {
            objects[item as usize].set_heap_index(0);
            self.sort_down(objects, 0);
        }
        Some(first)
    }

    /// Moves up an object that has become greater.
    pub fn update_item(&mut self, objects: &mut [T], item: u32) {
        self.sort_up(objects, objects[item as usize].heap_index());
    }

    /// Returns whether an object is in the heap.
    pub fn contains(&self, objects: &[T], item: u32) -> bool {
        self.items.get(objects[item as usize].heap_index()) == Some(&item)
    }

    /// Returns the number of objects in the heap.
    pub const fn count(&self) -> usize {
        self.items.len()
    }

    fn sort_up(&mut self, objects: &mut [T], mut index: usize) {
        while index > 0 {
            let parent = (index - 1) / 2;
            if self.compare(objects, index, parent) != Ordering::Greater {
                break;
            }
            self.swap(objects, index, parent);
            index = parent;
        }
    }

    fn sort_down(&mut self, objects: &mut [T], mut index: usize) {
        loop {
            let (left, right) = (2 * index + 1, 2 * index + 2);
            if left >= self.items.len() {
                break;
            }
            let mut best = left;
            if right < self.items.len() && self.compare(objects, right, left) == Ordering::Greater {
                best = right;
            }
            if self.compare(objects, best, index) != Ordering::Greater {
                break;
            }
            self.swap(objects, index, best);
            index = best;
        }
    }

    fn compare(&mut self, objects: &[T], one: usize, other: usize) -> Ordering {
        self.observer.compared(one, other);
        objects[self.items[one] as usize].cmp(&objects[self.items[other] as usize])
    }

    fn swap(&mut self, objects: &mut [T], one: usize, other: usize) {
        self.observer.moved(one, other);
        self.items.swap(one, other);
        objects[self.items[one] as usize].set_heap_index(one);
        objects[self.items[other] as usize].set_heap_index(other);
    }
}

/// A square, as in the tutorial's node class.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Square {
    f: u32,
    h: u32,
    heap_index: usize,
}

impl Ord for Square {
    fn cmp(&self, other: &Self) -> Ordering {
        // Lower costs come first, so the comparison is reversed.
        self.f.cmp(&other.f).then(self.h.cmp(&other.h)).reverse()
    }
}

impl PartialOrd for Square {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl HeapItem for Square {
    fn heap_index(&self) -> usize {
        self.heap_index
    }

    fn set_heap_index(&mut self, index: usize) {
        self.heap_index = index;
    }
}

/// The generic heap over the squares of a search.
#[derive(Default)]
pub struct LagueHeap<W: OpenListObserver = ()> {
    /// By node number.
    squares: Vec<Square>,
    heap: Heap<Square, W>,
}

impl<W: OpenListObserver> LagueHeap<W> {
    /// The observer.
    pub const fn observer(&self) -> &W {
        &self.heap.observer
    }
}

impl<W: OpenListObserver> OpenList for LagueHeap<W> {
    fn reset(&mut self, _lowest: u32, _spread: u32) {
        self.heap.items.clear();
    }

    fn insert(&mut self, node: NodeId, Key { f, h }: Key) {
        let square = Square { f, h, heap_index: usize::MAX };
        if self.squares.len() <= node as usize {
            self.squares.resize(node as usize + 1, square);
        }
        self.squares[node as usize] = square;
        self.heap.add(&mut self.squares, node);
    }

    fn improve(&mut self, node: NodeId, Key { f, h }: Key) {
        if self.heap.contains(&self.squares, node) {
            let square = &mut self.squares[node as usize];
            (square.f, square.h) = (f, h);
            self.heap.update_item(&mut self.squares, node);
        }
    }

    fn pop(&mut self) -> Option<NodeId> {
        self.heap.remove_first(&mut self.squares)
    }

    fn len(&self) -> usize {
        self.heap.count()
    }

    fn bytes(&self) -> usize {
        self.squares.capacity() * size_of::<Square>() + self.heap.items.capacity() * 4
    }
}
