//! 5. Lester's binary heap, exactly as published.
//!
//! The heap is an array of item numbers that starts at slot 1; slot 0 is never used, so that the
//! children of slot `m` are `2m` and `2m + 1`. An item's number is `squares_checked` at the time of
//! its insertion. Its F cost and its square are stored in separate arrays, by that number. To find
//! an item that became cheaper, the whole heap is searched for its square; then the item moves up.
//! Equal items swap, too, as in the article's listing.
//!
//! A search numbers its nodes; here column and row are positions in a strip of 32 columns that the
//! numbers fill row by row.
//!
//! Source: P. Lester, "Using Binary Heaps in A* Pathfinding" (2003).

use bevy_tilepath::nav::open_list::{Key, NodeId, OpenList, OpenListObserver};

/// Columns of the strip that node numbers fill.
const COLUMNS: u32 = 32;

/// The article's heap with all its arrays; see the [module](self).
pub struct LesterHeap<W: OpenListObserver = ()> {
    /// Item numbers in heap order, from slot 1 on.
    open_list: Vec<u32>,
    number_of_open_list_items: usize,
    /// Number of items inserted so far; the newest item's number.
    squares_checked: u32,
    /// F cost by item number, from 1 on.
    f_cost: Vec<u32>,
    /// Column by item number, from 1 on.
    open_x: Vec<u32>,
    /// Row by item number, from 1 on.
    open_y: Vec<u32>,
    observer: W,
}

impl<W: OpenListObserver> Default for LesterHeap<W> {
    fn default() -> Self {
        Self {
            open_list: vec![0],
            number_of_open_list_items: 0,
            squares_checked: 0,
            f_cost: vec![0],
            open_x: vec![0],
            open_y: vec![0],
            observer: W::default(),
        }
    }
}

impl<W: OpenListObserver> LesterHeap<W> {
    /// The observer.
    pub const fn observer(&self) -> &W {
        &self.observer
    }

    fn f_in(&self, slot: usize) -> u32 {
        self.f_cost[self.open_list[slot] as usize]
    }

    /// "Adding Items to the Heap": up from slot `m` as long as the parent is not lower.
    fn bubble_up(&mut self, mut m: usize) {
        while m != 1 {
            self.observer.compared(m, m / 2);
            if self.f_in(m) > self.f_in(m / 2) {
                break;
            }
            self.open_list.swap(m, m / 2);
            self.observer.moved(m, m / 2);
            m /= 2;
        }
    }

    /// "Deleting Items from the Heap": down from slot 1 as long as a child is not higher.
    fn sink(&mut self) {
        let mut v = 1;
        loop {
            let u = v;
            for child in [2 * u, 2 * u + 1] {
                if child > self.number_of_open_list_items {
                    break;
                }
                self.observer.compared(v, child);
                if self.f_in(v) >= self.f_in(child) {
                    v = child;
                }
            }
            if u == v {
                break;
            }
            self.open_list.swap(u, v);
            self.observer.moved(u, v);
        }
    }
}

impl<W: OpenListObserver> OpenList for LesterHeap<W> {
    fn reset(&mut self, _lowest: u32, _spread: u32) {
        for array in [&mut self.open_list, &mut self.f_cost, &mut self.open_x, &mut self.open_y] {
            array.truncate(1);
        }
        self.number_of_open_list_items = 0;
        self.squares_checked = 0;
    }

    fn insert(&mut self, node: NodeId, key: Key) {
        self.squares_checked += 1;
        self.f_cost.push(key.f);
        self.open_x.push(node % COLUMNS);
        self.open_y.push(node / COLUMNS);
        self.number_of_open_list_items += 1;
        self.open_list.push(self.squares_checked);
        self.bubble_up(self.number_of_open_list_items);
    }

    fn improve(&mut self, node: NodeId, key: Key) {
        let square = (node % COLUMNS, node / COLUMNS);
        for slot in 1..=self.number_of_open_list_items {
            let item = self.open_list[slot] as usize;
            self.observer.compared(slot, slot);
            if (self.open_x[item], self.open_y[item]) == square {
                self.f_cost[item] = key.f;
                self.bubble_up(slot);
                return;
            }
        }
    }

    fn pop(&mut self) -> Option<NodeId> {
        if self.number_of_open_list_items == 0 {
            return None;
        }
        let first = self.open_list[1] as usize;
        self.open_list.swap_remove(1);
        self.number_of_open_list_items -= 1;
        self.sink();
        Some(self.open_y[first] * COLUMNS + self.open_x[first])
    }

    fn len(&self) -> usize {
        self.number_of_open_list_items
    }

    fn bytes(&self) -> usize {
        let arrays = [&self.open_list, &self.f_cost, &self.open_x, &self.open_y];
        arrays.map(|array| array.capacity() * 4).iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f_costs(heap: &LesterHeap) -> Vec<u32> {
        (1..=heap.number_of_open_list_items).map(|slot| heap.f_in(slot)).collect()
    }

    #[test]
    fn the_arrays_are_those_of_the_article() {
        let mut heap = LesterHeap::<()>::default();
        for (node, f) in [10, 30, 20, 34, 38, 30, 24].into_iter().enumerate() {
            heap.insert(node as NodeId, Key { f, h: 0 });
        }
        assert_eq!(f_costs(&heap), [10, 30, 20, 34, 38, 30, 24]);
        heap.insert(99, Key { f: 17, h: 0 });
        assert_eq!(f_costs(&heap), [10, 17, 20, 30, 38, 30, 24, 34]);
        // The eighth inserted square is in slot 2: column 3 of row 3.
        assert_eq!((heap.open_list[2], heap.open_x[8], heap.open_y[8]), (8, 3, 3));
        assert_eq!(heap.pop(), Some(0));
        assert_eq!(f_costs(&heap), [17, 30, 20, 34, 38, 30, 24]);
    }
}
