//! How serde writes landmark tables that several owners share, the grid and the searches that use them.
//!
//! Input: `Option<Arc<LandmarkTable>>` in whatever is written. Output: within one value each table is written once, with a number,
//! and its other owners have the number alone. Read back, they share it again.

use core::cell::RefCell;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::LandmarkTable;

thread_local! {
    /// The tables of the value that is written or read by this thread, in the order of their numbers.
    static TABLES: RefCell<Vec<Arc<LandmarkTable>>> = const { RefCell::new(Vec::new()) };
}

/// Writes or reads one value.
pub(crate) fn within<T>(act: impl FnOnce() -> T) -> T {
    TABLES.with_borrow_mut(Vec::clear);
    let done = act();
    TABLES.with_borrow_mut(Vec::clear);
    done
}

pub(crate) fn serialize<S: Serializer>(
    table: &Option<Arc<LandmarkTable>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let Some(table) = table else {
        return None::<(usize, Option<&LandmarkTable>)>.serialize(serializer);
    };
    let known = TABLES.with_borrow(|all| all.iter().position(|other| Arc::ptr_eq(other, table)));
    let number = known.unwrap_or_else(|| {
        TABLES.with_borrow_mut(|all| {
            all.push(Arc::clone(table));
            all.len() - 1
        })
    });
    Some((number, known.is_none().then_some(&**table))).serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Arc<LandmarkTable>>, D::Error> {
    let read: Option<(usize, Option<LandmarkTable>)> = Option::deserialize(deserializer)?;
    let Some((number, table)) = read else {
        return Ok(None);
    };
    if let Some(table) = table {
        let table = Arc::new(table);
        TABLES.with_borrow_mut(|all| all.push(Arc::clone(&table)));
        return Ok(Some(table));
    }
    let known = TABLES.with_borrow(|all| all.get(number).cloned());
    known.map(Some).ok_or_else(|| D::Error::custom("a landmark table is missing"))
}
