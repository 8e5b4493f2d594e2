//! Snapshots as bytes: for files, and for peers.
//!
//! Layout: eight bytes that every snapshot begins with, the version of the crate and a checksum of the rest (8 bytes, little-endian),
//! and the state in the format of the crate `postcard`.

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, SeqAccess, Visitor},
};

use super::{SnapshotError, TilePathSnapshot, columns::Columns, resources::Resources};
use crate::nav::{Checksum, shared_tables};

const MAGIC: [u8; 8] = *b"tilepath";
/// States are written as the crate has them: other versions have others.
const VERSION: &str = env!("CARGO_PKG_VERSION");

impl TilePathSnapshot {
    /// Returns the snapshot as bytes, which every machine can read. They contain entity ids and memory sizes, so peers
    /// with the same state get different bytes. Most of the bytes are grids, which compress well.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let state = (&self.resources, &self.columns);
        let body = shared_tables::within(|| postcard::to_allocvec(&state))
            .expect("all types can be written");
        let mut bytes = MAGIC.to_vec();
        bytes.push(VERSION.len() as u8);
        bytes.extend(VERSION.bytes());
        bytes.extend(checksum(&body).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    /// Reads a snapshot from bytes.
    ///
    /// # Errors
    /// [`NotASnapshot`](SnapshotError::NotASnapshot), [`OtherVersion`](SnapshotError::OtherVersion) and
    /// [`Damaged`](SnapshotError::Damaged).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let rest = bytes.strip_prefix(&MAGIC).ok_or(SnapshotError::NotASnapshot)?;
        let (&length, rest) = rest.split_first().ok_or(SnapshotError::Damaged)?;
        let (version, rest) =
            rest.split_at_checked(usize::from(length)).ok_or(SnapshotError::Damaged)?;
        if version != VERSION.as_bytes() {
            let found = String::from_utf8_lossy(version).into_owned();
            return Err(SnapshotError::OtherVersion(found));
        }
        let (sum, body) = rest.split_first_chunk::<8>().ok_or(SnapshotError::Damaged)?;
        if u64::from_le_bytes(*sum) != checksum(body) {
            return Err(SnapshotError::Damaged);
        }
        let state: Result<(Resources, Columns), _> =
            shared_tables::within(|| postcard::from_bytes(body));
        let (resources, columns) = state.map_err(|_| SnapshotError::Damaged)?;
        Ok(Self { resources, columns })
    }
}

fn checksum(body: &[u8]) -> u64 {
    let mut sum = Checksum::default();
    let (words, rest) = body.as_chunks::<8>();
    words.iter().for_each(|word| sum.add_word(u64::from_le_bytes(*word)));
    rest.iter().for_each(|&byte| sum.add_word(byte.into()));
    sum.add_word(body.len() as u64);
    sum.value()
}

impl Serialize for TilePathSnapshot {
    /// Writes its [bytes](Self::to_bytes), whatever the format.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.to_bytes())
    }
}

impl<'de> Deserialize<'de> for TilePathSnapshot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_byte_buf(Bytes)
    }
}

/// Reads the bytes of a snapshot in any of the ways in which formats write them.
struct Bytes;

impl<'de> Visitor<'de> for Bytes {
    type Value = TilePathSnapshot;

    fn expecting(&self, f: &mut core::fmt::Formatter) -> core::fmt::Result {
        f.write_str("the bytes of a snapshot")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        TilePathSnapshot::from_bytes(bytes).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Self::Value, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = all.next_element()? {
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}
