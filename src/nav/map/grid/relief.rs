//! The terrain of a grid without its blockers, and the landmark tables that follow from it.
//!
//! Input: changes of terrain. Output: tables that stay correct: one is dropped where terrain becomes cheaper for its
//! profile.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

use super::{NavGrid, blockers::Blockers, log::EditLog};
use crate::nav::{Cell, EdgeId, Profile, ProfileId, TerrainId, map::landmarks::LandmarkTable};

/// Whether there can be a better table for the same terrain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::nav) enum TableGrade {
    /// Yes: it was filled quickly.
    Quick,
    /// Only in more memory.
    Cramped,
    #[default]
    Best,
}

/// What a grid keeps of the landmarks of a profile.
#[derive(Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Relief {
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::map::landmarks::shared"))]
    table: Option<Arc<LandmarkTable>>,
    /// A table that is wrong by now. Freeing it takes ten times as long as an edit, so the filler does that.
    #[cfg_attr(feature = "serialize", serde(skip))]
    dropped: Option<Arc<LandmarkTable>>,
    /// Whether they were asked for.
    is_wanted: AtomicBool,
    /// A number that no other terrain has; it changes when terrain becomes cheaper.
    #[cfg_attr(feature = "serialize", serde(deserialize_with = "read_number"))]
    relief: u64,
    grade: TableGrade,
    /// Changes of cells to dearer or impassable terrain since the table was begun.
    dearer: u32,
}

/// A table is filled again when one in this many cells has become dearer. With three times as many scattered walls, searches
/// expand twice as much (measured).
const CELLS_PER_DEARER: usize = 64;

static LAST: AtomicU64 = AtomicU64::new(0);

/// Returns a number that is never returned again. Numbers are compared for equality only, so that nothing depends on
/// their order.
fn next_number() -> u64 {
    LAST.fetch_add(1, Relaxed) + 1
}

/// Reads a number of another process: it is not returned by [`next_number`], either.
#[cfg(feature = "serialize")]
fn read_number<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let number = serde::Deserialize::deserialize(deserializer)?;
    LAST.fetch_max(number, Relaxed);
    Ok(number)
}

impl Relief {
    /// Without a table.
    pub(super) fn new() -> Self {
        Self { relief: next_number(), ..Self::default() }
    }
}

impl Clone for Relief {
    /// The copy keeps the table but gets a new number: walls may be built on one of the two grids, and a table that is
    /// being filled for that grid would be wrong for the other.
    fn clone(&self) -> Self {
        let is_wanted = AtomicBool::new(self.is_wanted.load(Relaxed));
        let (table, relief) = (self.table.clone(), next_number());
        let Self { grade, dearer, .. } = *self;
        Self { table, dropped: None, is_wanted, relief, grade, dearer }
    }
}

impl NavGrid {
    /// Returns a copy on which searches, and the filling of tables, that were begun on this grid may continue. They must be
    /// copied with it.
    pub(crate) fn replica(&self) -> Self {
        let mut copy = self.clone();
        for (copy, own) in copy.reliefs.iter_mut().zip(&self.reliefs) {
            (copy.relief, copy.dropped) = (own.relief, own.dropped.clone());
        }
        copy
    }

    /// Asks for landmarks for the units of a profile. A [queue](crate::nav::queue) does that for each of its jobs, so
    /// there are none for profiles that no unit has.
    pub fn want_landmarks(&self, profile: ProfileId) {
        if let Some(relief) = self.reliefs.get(usize::from(profile.0)) {
            relief.is_wanted.store(true, Relaxed);
        }
    }

    /// Returns whether landmarks are wanted for a profile, and are not there yet or can be better.
    pub(in crate::nav) fn lacks_landmarks(&self, profile: ProfileId) -> bool {
        let relief = self.reliefs.get(usize::from(profile.0));
        relief.is_some_and(|relief| {
            let can_be_better = self.is_weak(relief) || relief.grade == TableGrade::Quick;
            let lacks = |table: &Arc<LandmarkTable>| can_be_better && !table.is_empty();
            relief.is_wanted.load(Relaxed) && relief.table.as_ref().is_none_or(lacks)
        })
    }

    /// Whether so much terrain has become dearer that a table tells too little.
    fn is_weak(&self, relief: &Relief) -> bool {
        relief.dearer as usize * CELLS_PER_DEARER > self.terrain.len()
    }

    /// Returns the number of landmarks that a better table must have at least: as many as the present one, unless that has
    /// become weak.
    pub(in crate::nav) fn fewest_landmarks(&self, profile: ProfileId) -> usize {
        let relief =
            self.reliefs.get(usize::from(profile.0)).filter(|relief| !self.is_weak(relief));
        relief.and_then(|relief| relief.table.as_ref()).map_or(0, |table| table.landmark_count())
    }

    /// Returns how many cells have become dearer since the table was begun.
    pub(in crate::nav) fn dearer_cells(&self, profile: ProfileId) -> u32 {
        self.reliefs.get(usize::from(profile.0)).map_or(0, |relief| relief.dearer)
    }

    /// Returns how many tables are wanted and not there.
    pub(crate) fn missing_landmarks(&self) -> usize {
        let is_missing =
            |relief: &&Relief| relief.table.is_none() && relief.is_wanted.load(Relaxed);
        self.reliefs.iter().filter(is_missing).count()
    }

    /// Calls `change` for all profiles with the same rules: these share a table.
    fn for_equal_profiles(&mut self, profile: ProfileId, change: impl Fn(&mut Relief)) {
        let Some(rules) = self.profiles.get(usize::from(profile.0)) else {
            return;
        };
        let all = self.reliefs.iter_mut().zip(&self.profiles);
        all.filter(|(_, other)| *other == rules).for_each(|(relief, _)| change(relief));
    }

    /// Returns the landmark table of a profile, if it is ready.
    pub(in crate::nav) fn landmarks(&self, profile: ProfileId) -> Option<&Arc<LandmarkTable>> {
        self.reliefs.get(usize::from(profile.0))?.table.as_ref()
    }

    /// Stores the table of a profile and of all others with the same rules; `dearer` is the number of
    /// [dearer cells](Self::dearer_cells) when it was begun.
    pub(in crate::nav) fn set_landmarks(
        &mut self,
        profile: ProfileId,
        table: LandmarkTable,
        (grade, dearer): (TableGrade, u32),
    ) {
        let table = Arc::new(table);
        self.for_equal_profiles(profile, |relief| {
            relief.table = Some(Arc::clone(&table));
            (relief.grade, relief.dearer) = (grade, relief.dearer.saturating_sub(dearer));
        });
    }

    /// Notes that no other table is possible: the present table stays; if there is none, an empty table says so.
    pub(in crate::nav) fn set_no_landmarks(
        &mut self,
        profile: ProfileId,
        (grade, dearer): (TableGrade, u32),
    ) {
        let none = Arc::new(LandmarkTable::default());
        self.for_equal_profiles(profile, |relief| {
            relief.table.get_or_insert_with(|| Arc::clone(&none));
            (relief.grade, relief.dearer) = (grade, relief.dearer.saturating_sub(dearer));
        });
    }

    /// Frees the tables that edits have dropped.
    pub(crate) fn free_dropped_landmarks(&mut self) {
        self.reliefs.iter_mut().for_each(|relief| relief.dropped = None);
    }

    /// Drops all landmark tables; they are filled again.
    pub(crate) fn drop_landmarks(&mut self) {
        self.reliefs.iter_mut().for_each(|relief| relief.table = None);
    }

    /// Notes that memory is free: tables that were filled with little memory are filled again; if `has_more` memory is free
    /// than at the last try, also those that did not fit.
    pub(crate) fn note_free_memory(&mut self, has_more: bool) {
        for relief in &mut self.reliefs {
            relief.table.take_if(|table| has_more && table.is_empty());
            if relief.grade == TableGrade::Cramped {
                relief.grade = TableGrade::Quick;
            }
        }
    }

    /// Returns the cells of the landmarks for a profile, if they are ready.
    pub fn landmark_cells(&self, profile: ProfileId) -> impl Iterator<Item = Cell> + '_ {
        let places = self.landmarks(profile).into_iter().flat_map(|table| table.places());
        places.map(|&(x, y)| self.global(x, y))
    }

    /// Returns a number that changes when terrain becomes cheaper for a profile, and that no other grid has had.
    pub(in crate::nav) fn relief_number(&self, profile: ProfileId) -> u64 {
        self.reliefs.get(usize::from(profile.0)).map_or(0, |relief| relief.relief)
    }

    /// Returns the memory of all landmark tables, in bytes.
    #[must_use]
    pub fn landmark_bytes(&self) -> usize {
        let tables = || self.reliefs.iter().filter_map(|relief| relief.table.as_ref());
        // Equal profiles share one.
        let is_first = |&(i, table): &(usize, &Arc<LandmarkTable>)| {
            !tables().take(i).any(|other| Arc::ptr_eq(other, table))
        };
        tables().enumerate().filter(is_first).map(|(_, table)| table.bytes()).sum()
    }

    /// Returns a copy without blockers and with one profile, for distance fields; `None` for an unknown profile.
    pub(in crate::nav) fn without_blockers(&self, profile: ProfileId) -> Option<Self> {
        let rules = self.profiles.get(usize::from(profile.0))?;
        // Repaired, not built anew: that takes several times as long.
        let freed = self.blockers.rects();
        let layer = self.layer(profile)?.without_coarse(&freed, (&self.terrain, &self.edges));
        Some(Self {
            terrain: self.terrain.clone(),
            edges: self.edges.clone(),
            blockers: Blockers::new(self.width, self.height),
            profiles: vec![rules.clone()],
            layers: vec![OnceLock::from(layer)],
            reliefs: vec![Relief::default()],
            chunk_revisions: Vec::new(),
            log: EditLog::after(self.revision),
            ..*self
        })
    }

    /// Resets all tables: the grid replaces another one.
    pub(super) fn reset_reliefs(&mut self) {
        self.reliefs.fill_with(Relief::new);
    }

    /// Drops the tables of all profiles for which a change of terrain makes a cell cheaper or passable; counts the others.
    pub(super) fn note_terrain(&mut self, before: TerrainId, after: TerrainId) {
        self.note_costs(|profile| {
            // An impassable cell costs more than any other.
            let cost = |terrain| profile.cost(terrain).wrapping_sub(1);
            (cost(before), cost(after))
        });
    }

    /// The same for the change of an edge.
    pub(super) fn note_edge(&mut self, before: EdgeId, after: EdgeId) {
        self.note_costs(|profile| {
            let cost = |edge| profile.edge_cost(edge).unwrap_or(u16::MAX);
            (cost(before), cost(after))
        });
    }

    fn note_costs(&mut self, costs: impl Fn(&Profile) -> (u16, u16)) {
        for (relief, profile) in self.reliefs.iter_mut().zip(&self.profiles) {
            let (old, new) = costs(profile);
            if new < old {
                relief.dropped = relief.table.take().or(relief.dropped.take());
                relief.relief = next_number();
            } else if new > old {
                relief.dearer = relief.dearer.saturating_add(1);
            }
        }
    }
}
