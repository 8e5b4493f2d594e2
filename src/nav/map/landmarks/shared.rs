//! How serde writes landmark tables that several owners share, the grid and the searches that use them.
//!
//! Input: `Option<Arc<LandmarkTable>>` in whatever is written. Output: within one value each table is written once, with a number,
//! and its other owners have the number alone. Read back, they share it again.

use core::cell::RefCell;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::LandmarkTable;

thread_local! {
    /// The tables of the value that is written or read by this thread, in the order of their numbers; `None` outside of
    /// [`within`], where each owner has a table of its own.
    static TABLES: RefCell<Option<Vec<Arc<LandmarkTable>>>> = const { RefCell::new(None) };
}

/// Writes or reads one value.
pub(crate) fn within<T>(act: impl FnOnce() -> T) -> T {
    /// Also where `act` panics.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            TABLES.set(None);
        }
    }
    TABLES.set(Some(Vec::new()));
    let _end = End;
    act()
}

/// The number of a table among those that were written, and whether it is a new one.
fn number_of(table: &Arc<LandmarkTable>) -> (usize, bool) {
    TABLES.with_borrow_mut(|all| match all {
        None => (0, true),
        Some(all) => match all.iter().position(|other| Arc::ptr_eq(other, table)) {
            Some(number) => (number, false),
            None => {
                all.push(Arc::clone(table));
                (all.len() - 1, true)
            }
        },
    })
}

pub(crate) fn serialize<S: Serializer>(
    table: &Option<Arc<LandmarkTable>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let written = table.as_ref().map(|table| {
        let (number, is_new) = number_of(table);
        (number, is_new.then_some(&**table))
    });
    written.serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Arc<LandmarkTable>>, D::Error> {
    let read: Option<(usize, Option<LandmarkTable>)> = Option::deserialize(deserializer)?;
    let Some((number, table)) = read else {
        return Ok(None);
    };
    let table = TABLES.with_borrow_mut(|all| match (table.map(Arc::new), all) {
        (Some(table), Some(all)) => {
            all.push(Arc::clone(&table));
            Some(table)
        }
        (None, Some(all)) => all.get(number).cloned(),
        (table, None) => table,
    });
    table.map(Some).ok_or_else(|| D::Error::custom("a landmark table is missing"))
}

/// The same for an owner that always has a table.
pub(crate) mod always {
    use super::{Arc, Deserializer, Error, LandmarkTable, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        table: &Arc<LandmarkTable>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        super::serialize(&Some(Arc::clone(table)), serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<LandmarkTable>, D::Error> {
        let table = super::deserialize(deserializer)?;
        table.ok_or_else(|| D::Error::custom("a landmark table is missing"))
    }
}
