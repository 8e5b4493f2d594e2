//! How long snapshots of the load take: taking and restoring and, with the feature `serialize`, writing and reading.

use std::time::Instant;

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use crate::runner::{JsonLine, Outcome, percentile};

/// Ticks between two snapshots.
const INTERVAL: u32 = 25;

/// Measured times, in microseconds, and the size of the last one.
#[derive(Default)]
pub(crate) struct SnapshotTimes {
    take: Vec<f64>,
    restore: Vec<f64>,
    write: Vec<f64>,
    read: Vec<f64>,
    bytes: usize,
}

impl SnapshotTimes {
    /// In some ticks, takes a snapshot and restores it at once, which must not change the world.
    pub(crate) fn measure(&mut self, app: &mut App, tick: u32) -> Outcome<()> {
        if !tick.is_multiple_of(INTERVAL) {
            return Ok(());
        }
        let before = state_checksum(app.world_mut());
        let snapshot = timed(&mut self.take, || TilePathSnapshot::take(app.world_mut()));
        let snapshot = snapshot.map_err(|error| error.to_string())?;
        let restored = timed(&mut self.restore, || snapshot.restore(app.world_mut()));
        restored.map_err(|error| error.to_string())?;
        if state_checksum(app.world_mut()) != before {
            return Err("the world differs after a snapshot was restored".into());
        }
        self.measure_bytes(&snapshot)
    }

    #[cfg(feature = "serialize")]
    fn measure_bytes(&mut self, snapshot: &TilePathSnapshot) -> Outcome<()> {
        let bytes = timed(&mut self.write, || snapshot.to_bytes());
        let read = timed(&mut self.read, || TilePathSnapshot::from_bytes(&bytes));
        self.bytes = bytes.len();
        read.map(|_| ()).map_err(|error| error.to_string())
    }

    #[cfg(not(feature = "serialize"))]
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "with the feature there is work to do"
    )]
    fn measure_bytes(&mut self, _snapshot: &TilePathSnapshot) -> Outcome<()> {
        Ok(())
    }

    pub(crate) fn add_to(mut self, line: JsonLine) -> JsonLine {
        let lists = [&mut self.take, &mut self.restore, &mut self.write, &mut self.read];
        lists.into_iter().for_each(|list| list.sort_by(f64::total_cmp));
        if self.take.is_empty() {
            return line;
        }
        let line = line
            .micros("take_p50_us", percentile(&self.take, 50))
            .micros("restore_p50_us", percentile(&self.restore, 50));
        if self.write.is_empty() {
            return line;
        }
        line.micros("write_p50_us", percentile(&self.write, 50))
            .micros("read_p50_us", percentile(&self.read, 50))
            .number("snapshot_kib", self.bytes / 1024)
    }
}

fn timed<T>(times: &mut Vec<f64>, act: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let done = act();
    times.push(started.elapsed().as_secs_f64() * 1e6);
    done
}
