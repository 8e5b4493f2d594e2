//! The pathfinder's counters as Bevy diagnostics (opt-in).

use bevy::{
    diagnostic::{Diagnostic, DiagnosticPath, Diagnostics, RegisterDiagnostic},
    prelude::*,
};

use crate::{crowds::Crowds, scheduler::PathCounters};

/// Publishes [`PathCounters`], and how many units there are in [`Crowds`], as Bevy [`Diagnostic`]s once per frame: for
/// `LogDiagnosticsPlugin`, or for the overlay of `bevy_dev_tools` (see `docs/integrations.md`).
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
    /// Requests answered with a path, to the goal or near it, so far.
    pub const FOUND: DiagnosticPath = DiagnosticPath::const_new("tilepath/found");
    /// Requests answered with a failure so far.
    pub const FAILED: DiagnosticPath = DiagnosticPath::const_new("tilepath/failed");
    /// Units in all crowds.
    pub const UNITS: DiagnosticPath = DiagnosticPath::const_new("tilepath/units");

    /// All of them.
    pub const ALL: [DiagnosticPath; 8] = [
        Self::WAITING,
        Self::IN_FLIGHT,
        Self::SPENT,
        Self::LONGEST_WAIT,
        Self::SEARCH_BYTES,
        Self::FOUND,
        Self::FAILED,
        Self::UNITS,
    ];
    /// Their units, in the same order.
    const SUFFIXES: [&str; 8] = [
        " requests",
        " searches",
        " expansions",
        " ticks",
        " bytes",
        " paths",
        " requests",
        " units",
    ];
}

impl Plugin for TilePathDiagnosticsPlugin {
    fn build(&self, app: &mut App) {
        for (path, suffix) in Self::ALL.into_iter().zip(Self::SUFFIXES) {
            app.register_diagnostic(Diagnostic::new(path).with_suffix(suffix));
        }
        app.add_systems(Last, publish);
    }
}

fn publish(counters: Res<PathCounters>, crowds: Res<Crowds>, mut diagnostics: Diagnostics) {
    type Plugin = TilePathDiagnosticsPlugin;
    diagnostics.add_measurement(&Plugin::WAITING, || counters.waiting as f64);
    diagnostics.add_measurement(&Plugin::IN_FLIGHT, || counters.in_flight as f64);
    diagnostics.add_measurement(&Plugin::SPENT, || f64::from(counters.spent_last_tick));
    diagnostics.add_measurement(&Plugin::LONGEST_WAIT, || counters.longest_wait as f64);
    diagnostics.add_measurement(&Plugin::SEARCH_BYTES, || counters.search_bytes as f64);
    diagnostics.add_measurement(&Plugin::FOUND, || (counters.found + counters.partial) as f64);
    diagnostics.add_measurement(&Plugin::FAILED, || counters.failed as f64);
    diagnostics.add_measurement(&Plugin::UNITS, || crowds.len() as f64);
}
