//! How serde writes the nodes of a search: those that it has seen.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::{NO_PAGE, Node, NodeStore, PAGE_CELLS, empty_page};

/// The nodes of one search, page by page.
#[derive(Serialize, Deserialize)]
struct StoredNodes {
    generation: u32,
    chunks_per_row: u32,
    chunks: u32,
    pages: Vec<StoredPage>,
}

/// Chunk column and row, and the nodes that were seen, by their numbers in the page.
type StoredPage = ((u32, u32), Vec<(u16, Node)>);

impl Serialize for NodeStore {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_seen = |&(_, node): &(u16, Node)| node.has_generation(self.generation);
        let pages = self.page_chunks.iter().zip(&self.pages).map(|(&chunk, page)| {
            (chunk, (0..).zip(page.iter().copied()).filter(is_seen).collect())
        });
        StoredNodes {
            generation: self.generation,
            chunks_per_row: self.chunks_per_row,
            chunks: self.page_by_chunk.len() as u32,
            pages: pages.collect(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for NodeStore {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = StoredNodes::deserialize(deserializer)?;
        let StoredNodes { generation, chunks_per_row, chunks, .. } = stored;
        let mut store = Self {
            page_by_chunk: vec![NO_PAGE; chunks as usize],
            chunks_per_row,
            generation,
            is_copy: true,
            ..Self::default()
        };
        for ((x, y), nodes) in stored.pages {
            let mut page = empty_page();
            for (number, node) in nodes {
                page[usize::from(number) % PAGE_CELLS] = node;
            }
            let chunk = u64::from(y) * u64::from(chunks_per_row) + u64::from(x);
            let place = usize::try_from(chunk).ok().and_then(|at| store.page_by_chunk.get_mut(at));
            *place.ok_or_else(|| D::Error::custom("a page off the grid"))? =
                store.pages.len() as u32;
            store.pages.push(page);
            store.page_chunks.push((x, y));
        }
        Ok(store)
    }
}
