//! The checker of the example `crowd`: watches from outside, knows positions only.

#![allow(dead_code, reason = "each test file uses its own part")]

#[path = "../../examples/crowd/checker.rs"]
mod checker;

pub use checker::{Checker, Seen};
