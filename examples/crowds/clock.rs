//! What a tick takes.
//!
//! Input: the beginning and end of the plugin's stages in each tick. Output: the median of the
//! last second, in microseconds.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use bevy::prelude::*;

/// How long a measurement counts.
const WINDOW: Duration = Duration::from_secs(1);

/// What the ticks of the last second took.
#[derive(Resource, Debug, Default)]
pub struct TickTimes {
    began: Option<Instant>,
    /// When each ended, and what it took, in microseconds.
    recent: VecDeque<(Instant, f64)>,
    /// What all ticks so far took, where that is kept.
    all: Option<Vec<f64>>,
}

impl TickTimes {
    /// None yet; keeps all of them.
    pub fn keeping_all() -> Self {
        Self { all: Some(Vec::new()), ..Self::default() }
    }

    /// All of them, in microseconds; none where they are not kept.
    pub fn all(&self) -> &[f64] {
        self.all.as_deref().unwrap_or_default()
    }

    /// The median of the last second; `None` where no tick went by.
    pub fn median(&self) -> Option<f64> {
        median(self.recent.iter().map(|&(_, micros)| micros).collect())
    }
}

/// The middle one of many.
pub fn median(mut times: Vec<f64>) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}

/// The plugin's stages begin.
pub fn start(mut times: ResMut<TickTimes>) {
    times.began = Some(Instant::now());
}

/// They are done.
pub fn stop(mut times: ResMut<TickTimes>) {
    let Some(began) = times.began.take() else {
        return;
    };
    let now = Instant::now();
    let micros = (now - began).as_secs_f64() * 1.0e6;
    times.recent.push_back((now, micros));
    while times.recent.front().is_some_and(|&(when, _)| now - when > WINDOW) {
        times.recent.pop_front();
    }
    if let Some(all) = &mut times.all {
        all.push(micros);
    }
}
