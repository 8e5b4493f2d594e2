//! Bevy's compute threads as the workers of the queue.

use bevy::tasks::ComputeTaskPool;

use crate::nav::queue::Workers;

/// Maximum number of threads: the thread that runs the schedule, and compute threads besides.
pub(super) struct PoolWorkers(usize);

impl PoolWorkers {
    /// Uses at most `limit` threads; 0 for all available ones.
    pub(super) fn new(limit: usize) -> Self {
        let all = ComputeTaskPool::try_get().map_or(1, |pool| pool.thread_num() + 1);
        Self(if limit == 0 { all } else { limit.min(all) })
    }
}

impl Workers for PoolWorkers {
    fn count(&self) -> usize {
        self.0
    }

    fn assist(&self, help: &(dyn Fn() + Sync), lead: &mut dyn FnMut()) {
        let Some(pool) = ComputeTaskPool::try_get() else {
            return lead();
        };
        pool.scope(|scope| {
            for _ in 1..self.0 {
                scope.spawn(async { help() });
            }
            lead();
        });
    }
}
