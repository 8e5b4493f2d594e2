//! How serde writes types that it does not support: long arrays, values that are computed once, maps without an order.

use std::sync::OnceLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// Arrays of any length.
pub(crate) mod array {
    use super::*;

    pub(crate) fn serialize<S: Serializer, T: Serialize, const N: usize>(
        array: &[T; N],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(array)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: Deserialize<'de>, const N: usize>(
        deserializer: D,
    ) -> Result<[T; N], D::Error> {
        let all = Vec::deserialize(deserializer)?;
        all.try_into().map_err(|all: Vec<T>| Error::invalid_length(all.len(), &"another length"))
    }
}

/// The same in a box.
pub(crate) mod boxed_array {
    use super::*;

    #[expect(clippy::borrowed_box, reason = "what serde passes")]
    pub(crate) fn serialize<S: Serializer, T: Serialize, const N: usize>(
        array: &Box<[T; N]>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(array.iter())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: Deserialize<'de>, const N: usize>(
        deserializer: D,
    ) -> Result<Box<[T; N]>, D::Error> {
        let all: Box<[T]> = Vec::deserialize(deserializer)?.into();
        all.try_into().map_err(|all: Box<[T]>| Error::invalid_length(all.len(), &"another length"))
    }
}

/// Lists of such boxes, some of which are missing.
pub(crate) mod some_arrays {
    use super::*;

    #[derive(Serialize, Deserialize)]
    #[serde(bound = "T: Serialize + serde::de::DeserializeOwned")]
    struct Stored<T, const N: usize>(#[serde(with = "boxed_array")] Box<[T; N]>);

    pub(crate) fn serialize<S: Serializer, T: Serialize, const N: usize>(
        arrays: &[Option<Box<[T; N]>>],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let lists = arrays.iter().map(|array| array.as_ref().map(|array| array.as_slice()));
        serializer.collect_seq(lists)
    }

    pub(crate) fn deserialize<'de, D, T, const N: usize>(
        deserializer: D,
    ) -> Result<Vec<Option<Box<[T; N]>>>, D::Error>
    where
        D: Deserializer<'de>,
        T: Serialize + serde::de::DeserializeOwned,
    {
        let all: Vec<Option<Stored<T, N>>> = Vec::deserialize(deserializer)?;
        Ok(all.into_iter().map(|array| array.map(|stored| stored.0)).collect())
    }
}

/// Lists of values that are computed when they are first needed: `None` before.
pub(crate) mod all_once {
    use super::*;

    pub(crate) fn serialize<S: Serializer, T: Serialize>(
        all: &[OnceLock<T>],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(all.iter().map(OnceLock::get))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
        deserializer: D,
    ) -> Result<Vec<OnceLock<T>>, D::Error> {
        let all: Vec<Option<T>> = Vec::deserialize(deserializer)?;
        Ok(all.into_iter().map(|value| value.map(OnceLock::from).unwrap_or_default()).collect())
    }
}

/// Maps in the order of their keys: equal states give equal bytes.
pub(crate) mod sorted {
    use super::*;

    pub(crate) fn serialize<'a, S: Serializer, K: Serialize + Ord + 'a, V: Serialize + 'a>(
        map: impl IntoIterator<Item = (&'a K, &'a V)>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut all: Vec<(&K, &V)> = map.into_iter().collect();
        all.sort_unstable_by_key(|entry| entry.0);
        all.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D, K, V, M>(deserializer: D) -> Result<M, D::Error>
    where
        D: Deserializer<'de>,
        K: Deserialize<'de>,
        V: Deserialize<'de>,
        M: FromIterator<(K, V)>,
    {
        let all: Vec<(K, V)> = Vec::deserialize(deserializer)?;
        Ok(all.into_iter().collect())
    }
}
