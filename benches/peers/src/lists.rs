//! Open lists that were tried and are not part of the crate, to be raced in the same search.
//!
//! Both keep what std's heap would: stale entries are dropped by the search when they turn up
//! (lazy deletion). Keys are packed, f above h, so that one comparison settles both.

use std::{cmp::Reverse, collections};

use bevy_tilepath::nav::open_list::{Key, NodeId, OpenList};

const fn pack(key: Key) -> u64 {
    (key.f as u64) << 32 | key.h as u64
}

/// The standard library's binary heap.
#[derive(Default)]
pub struct StdHeap(collections::BinaryHeap<Reverse<(u64, NodeId)>>);

impl OpenList for StdHeap {
    fn reset(&mut self, _lowest: u32, _spread: u32) {
        self.0.clear();
    }

    fn insert(&mut self, node: NodeId, key: Key) {
        self.0.push(Reverse((pack(key), node)));
    }

    fn improve(&mut self, node: NodeId, key: Key) {
        self.insert(node, key);
    }

    fn pop(&mut self) -> Option<NodeId> {
        self.0.pop().map(|Reverse((_, node))| node)
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn bytes(&self) -> usize {
        self.0.capacity() * 16
    }
}

/// A heap of four children a node: half as deep, four keys to a cache line.
#[derive(Default)]
pub struct QuadHeap(Vec<(u64, NodeId)>);

impl OpenList for QuadHeap {
    fn reset(&mut self, _lowest: u32, _spread: u32) {
        self.0.clear();
    }

    fn insert(&mut self, node: NodeId, key: Key) {
        let item = (pack(key), node);
        let mut slot = self.0.len();
        self.0.push(item);
        while slot > 0 && item < self.0[(slot - 1) / 4] {
            self.0[slot] = self.0[(slot - 1) / 4];
            slot = (slot - 1) / 4;
        }
        self.0[slot] = item;
    }

    fn improve(&mut self, node: NodeId, key: Key) {
        self.insert(node, key);
    }

    fn pop(&mut self) -> Option<NodeId> {
        let last = self.0.pop()?;
        let Some(&first) = self.0.first() else {
            return Some(last.1);
        };
        let mut slot = 0;
        loop {
            let children = 4 * slot + 1..self.0.len().min(4 * slot + 5);
            let Some(child) = children.min_by_key(|&child| self.0[child]) else {
                break;
            };
            if last <= self.0[child] {
                break;
            }
            self.0[slot] = self.0[child];
            slot = child;
        }
        self.0[slot] = last;
        Some(first.1)
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn bytes(&self) -> usize {
        self.0.capacity() * 16
    }
}
