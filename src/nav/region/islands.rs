//! The islands that components form along their links, kept right without looking at all of them.
//!
//! Input: the links between components, and which chunks have been labeled anew. Output: the island
//! of any component. After an edit, groups grow from the components in and around the edited chunks,
//! each by one component a turn, and join where they meet. A group that runs out is an island that
//! has been cut off: it gets a number of its own. Of the groups that have not run out, each takes
//! over the islands that it has met. It ends as soon as no island can be in two groups any more, so
//! that an edit which splits nothing looks only as far as the way around it, and one which does, at
//! the smaller part; where that is too far, everything is joined anew.
//!
//! A number is given once; where islands join, the numbers of one come to mean the other.

use std::collections::{BTreeMap, VecDeque};

use super::{ChunkShape, root, unite};

/// A component: chunk, and label within it.
pub(super) type Component = (u32, u16);

/// Number of a component that has none yet.
const NONE: u32 = u32::MAX;
/// So many numbers may be out of use before all are given anew.
const SPARE_NUMBERS: usize = 4_096;

/// Components that growing groups may always look at; beyond this and a quarter of the chunks,
/// joining everything anew is quicker.
const MOST_GROWTH: usize = 1_024;

/// Islands of all components; see the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Islands {
    /// Number of each component, chunk by chunk.
    numbers: Vec<Box<[u32]>>,
    /// The number that each number has come to mean; one that is in use means itself.
    meanings: Vec<u32>,
    /// Components of the island of each number.
    sizes: Vec<u32>,
    count: u32,
}

/// Components found from one start, or from several that have met.
#[derive(Default)]
struct Group {
    members: Vec<Component>,
    open: VecDeque<Component>,
    /// Islands from before that have been met.
    met: Vec<u32>,
}

impl Islands {
    /// Island of a component.
    #[inline]
    pub(super) fn get(&self, chunk: usize, label: u16) -> u32 {
        self.meanings[self.numbers[chunk][usize::from(label)] as usize]
    }

    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    /// Whether any component of the chunk belongs to `island`.
    pub(super) fn chunk_has(&self, chunk: usize, island: u32) -> bool {
        self.numbers[chunk].iter().any(|&number| self.meanings[number as usize] == island)
    }

    pub(super) fn bytes(&self) -> usize {
        let numbers: usize = self.numbers.iter().map(|chunk| 4 * chunk.len() + 16).sum();
        numbers + 8 * self.meanings.capacity()
    }

    /// Joins all components along links (union-find, lower number wins) and numbers the islands in
    /// order of their first component.
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
                unite(&mut parents, a, b);
            }
        }
        self.sizes.clear();
        let mut names = vec![NONE; parents.len()];
        self.numbers.resize(shapes.len(), Box::default());
        for (chunk, shape) in shapes.iter().enumerate() {
            let name = |label| {
                let root = root(&mut parents, first[chunk] + label) as usize;
                if names[root] == NONE {
                    names[root] = self.sizes.len() as u32;
                    self.sizes.push(0);
                }
                self.sizes[names[root] as usize] += 1;
                names[root]
            };
            self.numbers[chunk] = (0..u32::from(shape.components)).map(name).collect();
        }
        self.count = self.sizes.len() as u32;
        self.meanings = (0..self.count).collect();
    }

    /// Brings everything up to date after the chunks in `anew` were labeled anew. All chunks around
    /// those are in `around`; `neighbors` lists what a component is linked with.
    pub(super) fn update(
        &mut self,
        shapes: &[ChunkShape],
        anew: &[u32],
        around: &[u32],
        neighbors: impl Fn(Component, &mut Vec<Component>),
    ) {
        let is_large = anew.len() > shapes.len() / 8 + 4;
        if is_large || self.meanings.len() > self.count as usize * 2 + SPARE_NUMBERS {
            self.rebuild(shapes);
            return;
        }
        for &chunk in anew {
            let numbers = &mut self.numbers[chunk as usize];
            for &number in numbers.iter() {
                self.sizes[self.meanings[number as usize] as usize] -= 1;
            }
            *numbers = vec![NONE; usize::from(shapes[chunk as usize].components)].into();
        }
        let mut growth = Growth::new(self, neighbors);
        let starts = anew.iter().chain(around).flat_map(|&chunk| {
            (0..shapes[chunk as usize].components).map(move |label| (chunk, label))
        });
        let most = shapes.len() / 4 + MOST_GROWTH;
        let Some(groups) = growth.run(starts.collect(), most) else {
            self.rebuild(shapes);
            return;
        };
        groups.into_iter().for_each(|group| self.name(group));
        self.count = self.sizes.iter().filter(|&&size| size > 0).count() as u32;
    }

    /// Gives the members of a group their number.
    fn name(&mut self, group: Group) {
        if group.members.is_empty() {
            return;
        }
        let is_whole = group.open.is_empty();
        let name = match group.met.iter().copied().max_by_key(|&met| self.sizes[met as usize]) {
            Some(largest) if !is_whole => largest,
            _ => self.new_number(),
        };
        for &(chunk, label) in &group.members {
            let number = &mut self.numbers[chunk as usize][usize::from(label)];
            if *number == NONE {
                (*number, self.sizes[name as usize]) = (name, self.sizes[name as usize] + 1);
            } else if is_whole {
                self.sizes[self.meanings[*number as usize] as usize] -= 1;
                (*number, self.sizes[name as usize]) = (name, self.sizes[name as usize] + 1);
            }
        }
        if !is_whole {
            group.met.iter().filter(|&&met| met != name).for_each(|&met| self.join(met, name));
        }
    }

    fn new_number(&mut self) -> u32 {
        self.meanings.push(self.meanings.len() as u32);
        self.sizes.push(0);
        self.sizes.len() as u32 - 1
    }

    /// Lets all numbers that mean one island mean the other.
    fn join(&mut self, from: u32, to: u32) {
        self.sizes[to as usize] += core::mem::take(&mut self.sizes[from as usize]);
        self.meanings.iter_mut().filter(|meaning| **meaning == from).for_each(|it| *it = to);
    }
}

/// Groups that grow over components and join where they meet.
struct Growth<'a, F> {
    islands: &'a Islands,
    neighbors: F,
    groups: Vec<Group>,
    /// The group of which each group has become part.
    parents: Vec<u32>,
    owners: BTreeMap<Component, u32>,
    near: Vec<Component>,
}

impl<'a, F: Fn(Component, &mut Vec<Component>)> Growth<'a, F> {
    fn new(islands: &'a Islands, neighbors: F) -> Self {
        let (groups, parents, near) = (Vec::new(), Vec::new(), Vec::new());
        Self { islands, neighbors, groups, parents, owners: BTreeMap::new(), near }
    }

    /// A group from each start, grown until no island can be in two of them.
    /// `None` where that takes more than `most` components.
    fn run(&mut self, starts: Vec<Component>, most: usize) -> Option<Vec<Group>> {
        for (index, &start) in starts.iter().enumerate() {
            self.groups.push(Group::default());
            self.parents.push(index as u32);
            self.add(index as u32, start);
        }
        // All that hangs together among the starts must be known before anything is decided.
        for (index, &start) in starts.iter().enumerate() {
            self.expand(index as u32, start);
        }
        while is_undecided(&self.groups) {
            if self.owners.len() > most {
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

    /// Takes in what a component of a group is linked with.
    fn expand(&mut self, group: u32, component: Component) {
        let mut near = core::mem::take(&mut self.near);
        near.clear();
        (self.neighbors)(component, &mut near);
        for &other in &near {
            let at = root(&mut self.parents, group);
            match self.owners.get(&other) {
                None => {
                    self.add(at, other);
                    self.groups[at as usize].open.push_back(other);
                }
                Some(&found) => {
                    let found = root(&mut self.parents, found);
                    if found != at {
                        unite(&mut self.parents, found, at);
                        let lost = core::mem::take(&mut self.groups[found.max(at) as usize]);
                        self.groups[found.min(at) as usize].absorb(lost);
                    }
                }
            }
        }
        self.near = near;
    }

    fn add(&mut self, group: u32, component: Component) {
        self.owners.insert(component, group);
        let members = &mut self.groups[group as usize];
        members.members.push(component);
        let number = self.islands.numbers[component.0 as usize][usize::from(component.1)];
        if number != NONE {
            members.meet(self.islands.meanings[number as usize]);
        }
    }
}

impl Group {
    fn absorb(&mut self, other: Self) {
        self.members.extend(other.members);
        self.open.extend(other.open);
        other.met.into_iter().for_each(|island| self.meet(island));
    }

    fn meet(&mut self, island: u32) {
        if !self.met.contains(&island) {
            self.met.push(island);
        }
    }
}

/// Whether two groups that may still grow have met the same island.
fn is_undecided(groups: &[Group]) -> bool {
    let mut growing = groups.iter().filter(|group| !group.open.is_empty());
    let mut met: Vec<u32> = Vec::new();
    growing.any(|group| {
        let is_known = group.met.iter().any(|island| met.contains(island));
        met.extend(&group.met);
        is_known
    })
}
