//! The checker of the example `crowd`: watches from outside, knows positions only.

#[path = "../../examples/crowd/checker.rs"]
mod checker;

pub use checker::{Checker, Seen};
