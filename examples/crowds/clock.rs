//! Tick times.
//!
//! Input: start and end of the plugin's stages in each tick. Output: the median of the last second,
//! in microseconds.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use bevy::prelude::*;

/// Measurements older than this are dropped.
const WINDOW: Duration = Duration::from_secs(1);

/// Tick times of the last second.
#[derive(Resource, Debug, Default)]
pub struct TickTimes {
    started: Option<Instant>,
    /// End of each tick, and its duration in microseconds.
    recent: VecDeque<(Instant, f64)>,
    /// Durations of all ticks so far, if they are kept.
    all: Option<Vec<f64>>,
}

impl TickTimes {
    /// Creates an empty record that keeps all durations.
    pub fn keeping_all() -> Self {
        Self { all: Some(Vec::new()), ..Self::default() }
    }

    /// Returns all durations, in microseconds; empty if they are not kept.
    pub fn all(&self) -> &[f64] {
        self.all.as_deref().unwrap_or_default()
    }

    /// Returns the median of the last second; `None` without a tick.
    pub fn median(&self) -> Option<f64> {
        median(self.recent.iter().map(|&(_, micros)| micros).collect())
    }
}

/// Returns the median.
pub fn median(mut times: Vec<f64>) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}

/// Records the start of the plugin's stages.
pub fn start(mut times: ResMut<TickTimes>) {
    times.started = Some(Instant::now());
}

/// Records their end.
pub fn stop(mut times: ResMut<TickTimes>) {
    let Some(started) = times.started.take() else {
        return;
    };
    let now = Instant::now();
    let micros = (now - started).as_secs_f64() * 1.0e6;
    times.recent.push_back((now, micros));
    while times.recent.front().is_some_and(|&(when, _)| now - when > WINDOW) {
        times.recent.pop_front();
    }
    if let Some(all) = &mut times.all {
        all.push(micros);
    }
}
