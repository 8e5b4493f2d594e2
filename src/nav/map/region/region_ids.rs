//! The connected regions that components form along their links, updated without examining all of them.
//!
//! Input: the links between components, and the chunks that have been relabeled. Output: the region of any
//! component. After an edit, groups grow from the components in and around the edited chunks, each by one
//! component per round, and merge where they meet. A group that runs out is a region that has been cut off:
//! it gets an id of its own. Each of the groups that have not run out takes over the regions that it has met.
//! This ends as soon as no region can be in two groups any more. So an edit that splits nothing examines only
//! the shortest detour around it, and an edit that splits a region only the smaller part; if that is too
//! large, everything is rebuilt.
//!
//! An id is assigned once; when regions merge, the ids of one become aliases of the other.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{ChunkShape, find_root, union_sets};

/// A component: chunk, and label within it.
pub(super) type Component = (u32, u16);

/// Id of a component that has none yet.
const UNASSIGNED: u32 = u32::MAX;
/// This many ids may be unused before all are assigned from scratch.
const MAX_UNUSED_IDS: usize = 4_096;

/// Number of components that growing groups may always examine; beyond this and a quarter of the chunks, a
/// rebuild is faster.
const MIN_GROWTH_LIMIT: usize = 1_024;

/// The connected regions of all components; see the [module](self).
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct RegionIds {
    /// Id of each component, chunk by chunk.
    ids: Vec<Box<[u32]>>,
    /// The region that each id stands for now; the id of a region stands for itself.
    aliases: Vec<u32>,
    /// Number of components of the region of each id.
    sizes: Vec<u32>,
    pub(super) count: u32,
}

/// Components found from one start, or from several that have met.
#[derive(Default)]
struct GrowingGroup {
    members: Vec<Component>,
    open: VecDeque<Component>,
    /// Regions from before the edit that have been met.
    met_regions: Vec<u32>,
}

impl RegionIds {
    /// Returns the region of a component.
    #[inline]
    pub(super) fn get(&self, chunk: usize, label: u16) -> u32 {
        self.aliases[self.ids[chunk][usize::from(label)] as usize]
    }

    /// Whether any component of the chunk belongs to `region`.
    pub(super) fn chunk_has_region(&self, chunk: usize, region: u32) -> bool {
        self.ids[chunk].iter().any(|&id| self.aliases[id as usize] == region)
    }

    pub(super) fn bytes(&self) -> usize {
        let ids: usize = self.ids.iter().map(|chunk| 4 * chunk.len() + 16).sum();
        ids + 8 * self.aliases.capacity()
    }

    /// Joins all components along links (union-find, lower number wins) and numbers the regions in order of
    /// their first component.
    pub(super) fn rebuild(&mut self, shapes: &[ChunkShape]) {
        let mut first = Vec::with_capacity(shapes.len());
        let mut count = 0;
        for shape in shapes {
            first.push(count);
            count += u32::from(shape.components);
        }
        let mut parents: Vec<u32> = (0..count).collect();
        for (chunk, shape) in shapes.iter().enumerate() {
            for link in &shape.links {
                let a = first[chunk] + u32::from(link.from);
                let b = first[link.chunk as usize] + u32::from(link.to);
                union_sets(&mut parents, a, b);
            }
        }
        self.sizes.clear();
        let mut root_ids = vec![UNASSIGNED; parents.len()];
        self.ids.resize(shapes.len(), Box::default());
        for (chunk, shape) in shapes.iter().enumerate() {
            let assign_id = |label| {
                let root = find_root(&mut parents, first[chunk] + label) as usize;
                if root_ids[root] == UNASSIGNED {
                    root_ids[root] = self.sizes.len() as u32;
                    self.sizes.push(0);
                }
                self.sizes[root_ids[root] as usize] += 1;
                root_ids[root]
            };
            self.ids[chunk] = (0..u32::from(shape.components)).map(assign_id).collect();
        }
        self.count = self.sizes.len() as u32;
        self.aliases = (0..self.count).collect();
    }

    /// Updates the regions after the chunks in `relabeled` were relabeled. `around` contains all chunks
    /// around those; `neighbors` lists the components linked with a component.
    pub(super) fn update<I: Iterator<Item = Component>>(
        &mut self,
        shapes: &[ChunkShape],
        relabeled: &BTreeSet<u32>,
        around: &BTreeSet<u32>,
        neighbors: impl Fn(Component) -> I,
    ) {
        let is_large = relabeled.len() > shapes.len() / 8 + 4;
        if is_large || self.aliases.len() > self.count as usize * 2 + MAX_UNUSED_IDS {
            self.rebuild(shapes);
            return;
        }
        for &chunk in relabeled {
            let ids = &mut self.ids[chunk as usize];
            for &id in ids.iter() {
                self.sizes[self.aliases[id as usize] as usize] -= 1;
            }
            *ids = vec![UNASSIGNED; usize::from(shapes[chunk as usize].components)].into();
        }
        let (groups, parents, owners) = (Vec::new(), Vec::new(), BTreeMap::new());
        let mut growth = RegionGrowth { region_ids: self, neighbors, groups, parents, owners };
        let starts = relabeled.iter().chain(around).flat_map(|&chunk| {
            (0..shapes[chunk as usize].components).map(move |label| (chunk, label))
        });
        let max_components = shapes.len() / 4 + MIN_GROWTH_LIMIT;
        let Some(groups) = growth.run(starts.collect(), max_components) else {
            self.rebuild(shapes);
            return;
        };
        groups.into_iter().for_each(|group| self.assign_id(group));
        self.count = self.sizes.iter().filter(|&&size| size > 0).count() as u32;
    }

    /// Assigns an id to the members of a group.
    fn assign_id(&mut self, group: GrowingGroup) {
        if group.members.is_empty() {
            return;
        }
        let is_complete = group.open.is_empty();
        let met_regions = group.met_regions.iter().copied().filter(|_| !is_complete);
        let largest = met_regions.max_by_key(|&met| self.sizes[met as usize]);
        let id = largest.unwrap_or_else(|| self.new_id());
        for &(chunk, label) in &group.members {
            let current = &mut self.ids[chunk as usize][usize::from(label)];
            if *current == UNASSIGNED {
                (*current, self.sizes[id as usize]) = (id, self.sizes[id as usize] + 1);
            } else if is_complete {
                self.sizes[self.aliases[*current as usize] as usize] -= 1;
                (*current, self.sizes[id as usize]) = (id, self.sizes[id as usize] + 1);
            }
        }
        if !is_complete {
            group.met_regions.iter().filter(|&&met| met != id).for_each(|&met| self.merge(met, id));
        }
    }

    fn new_id(&mut self) -> u32 {
        self.aliases.push(self.aliases.len() as u32);
        self.sizes.push(0);
        self.sizes.len() as u32 - 1
    }

    /// Makes all ids of region `from` aliases of region `to`.
    fn merge(&mut self, from: u32, to: u32) {
        self.sizes[to as usize] += core::mem::take(&mut self.sizes[from as usize]);
        self.aliases.iter_mut().filter(|alias| **alias == from).for_each(|alias| *alias = to);
    }
}

/// Groups that grow over components and merge where they meet.
struct RegionGrowth<'a, F> {
    region_ids: &'a RegionIds,
    neighbors: F,
    groups: Vec<GrowingGroup>,
    /// The group into which each group has been merged.
    parents: Vec<u32>,
    owners: BTreeMap<Component, u32>,
}

impl<I: Iterator<Item = Component>, F: Fn(Component) -> I> RegionGrowth<'_, F> {
    /// Grows a group from each start until no region can be in two of them. `None` if that takes more than
    /// `max_components` components.
    fn run(&mut self, starts: Vec<Component>, max_components: usize) -> Option<Vec<GrowingGroup>> {
        for (index, &start) in starts.iter().enumerate() {
            self.groups.push(GrowingGroup::default());
            self.parents.push(index as u32);
            self.add(index as u32, start);
        }
        // All links among the starts must be known before anything is decided.
        for (index, &start) in starts.iter().enumerate() {
            self.expand(index as u32, start);
        }
        while is_undecided(&self.groups) {
            if self.owners.len() > max_components {
                return None;
            }
            for index in 0..self.groups.len() {
                if let Some(component) = self.groups[index].open.pop_front() {
                    self.expand(index as u32, component);
                }
            }
        }
        Some(core::mem::take(&mut self.groups))
    }

    /// Adds the components linked with a component of a group.
    fn expand(&mut self, group: u32, component: Component) {
        for other in (self.neighbors)(component) {
            let at = find_root(&mut self.parents, group);
            match self.owners.get(&other) {
                None => {
                    self.add(at, other);
                    self.groups[at as usize].open.push_back(other);
                }
                Some(&found) => {
                    let found = find_root(&mut self.parents, found);
                    if found != at {
                        union_sets(&mut self.parents, found, at);
                        let lost = core::mem::take(&mut self.groups[found.max(at) as usize]);
                        self.groups[found.min(at) as usize].absorb(lost);
                    }
                }
            }
        }
    }

    fn add(&mut self, group: u32, component: Component) {
        self.owners.insert(component, group);
        let group = &mut self.groups[group as usize];
        group.members.push(component);
        let id = self.region_ids.ids[component.0 as usize][usize::from(component.1)];
        if id != UNASSIGNED {
            group.meet(self.region_ids.aliases[id as usize]);
        }
    }
}

impl GrowingGroup {
    fn absorb(&mut self, other: Self) {
        self.members.extend(other.members);
        self.open.extend(other.open);
        other.met_regions.into_iter().for_each(|region| self.meet(region));
    }

    fn meet(&mut self, region: u32) {
        if !self.met_regions.contains(&region) {
            self.met_regions.push(region);
        }
    }
}

/// Whether two groups that may still grow have met the same region.
fn is_undecided(groups: &[GrowingGroup]) -> bool {
    let mut growing = groups.iter().filter(|group| !group.open.is_empty());
    let mut met: Vec<u32> = Vec::new();
    growing.any(|group| {
        let is_known = group.met_regions.iter().any(|region| met.contains(region));
        met.extend(&group.met_regions);
        is_known
    })
}
