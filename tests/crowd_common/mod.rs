//! The checker of the example `crowd`: it checks a crowd from outside, from positions only.

#[path = "../../examples/crowd/checker.rs"]
mod checker;

pub use checker::{Checker, Seen};
