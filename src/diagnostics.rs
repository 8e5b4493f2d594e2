//! The pathfinder's counters as Bevy diagnostics (opt-in).

use bevy::{
    diagnostic::{Diagnostic, DiagnosticPath, Diagnostics, RegisterDiagnostic},
    prelude::*,
};

use crate::scheduler::PathCounters;

/// Publishes [`PathCounters`] as Bevy [`Diagnostic`]s once per frame, for example for `LogDiagnosticsPlugin`.
#[derive(Clone, Copy, Debug, Default)]
pub struct TilePathDiagnosticsPlugin;

impl TilePathDiagnosticsPlugin {
    /// Requests waiting in the queue.
    pub const WAITING: DiagnosticPath = DiagnosticPath::const_new("tilepath/waiting");
    /// Searches in flight.
    pub const IN_FLIGHT: DiagnosticPath = DiagnosticPath::const_new("tilepath/in_flight");
    /// Budget spent in the last tick, in expansions.
    pub const SPENT: DiagnosticPath = DiagnosticPath::const_new("tilepath/spent");
    /// Ticks that the oldest unanswered request has waited.
    pub const LONGEST_WAIT: DiagnosticPath = DiagnosticPath::const_new("tilepath/longest_wait");
    /// Memory of all searches, in bytes.
    pub const SEARCH_BYTES: DiagnosticPath = DiagnosticPath::const_new("tilepath/search_bytes");
}

impl Plugin for TilePathDiagnosticsPlugin {
    fn build(&self, app: &mut App) {
        for (path, suffix) in [
            (Self::WAITING, " requests"),
            (Self::IN_FLIGHT, " searches"),
            (Self::SPENT, " expansions"),
            (Self::LONGEST_WAIT, " ticks"),
            (Self::SEARCH_BYTES, " bytes"),
        ] {
            app.register_diagnostic(Diagnostic::new(path).with_suffix(suffix));
        }
        app.add_systems(Last, publish);
    }
}

fn publish(counters: Res<PathCounters>, mut diagnostics: Diagnostics) {
    type Plugin = TilePathDiagnosticsPlugin;
    diagnostics.add_measurement(&Plugin::WAITING, || counters.waiting as f64);
    diagnostics.add_measurement(&Plugin::IN_FLIGHT, || counters.in_flight as f64);
    diagnostics.add_measurement(&Plugin::SPENT, || f64::from(counters.spent_last_tick));
    diagnostics.add_measurement(&Plugin::LONGEST_WAIT, || counters.longest_wait as f64);
    diagnostics.add_measurement(&Plugin::SEARCH_BYTES, || counters.search_bytes as f64);
}
