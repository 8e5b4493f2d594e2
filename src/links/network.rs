//! The links in place, and for each profile that uses them the fields around their ends.
//!
//! Input: entities with [`NavLink`], and the grids. Output: which links can be used, by whom, and whether cells are connected by
//! them. Links are numbered in the order in which they were inserted, so that nothing observable depends on entities.

use std::{collections::BTreeMap, sync::OnceLock};

use bevy::{
    ecs::{
        entity::{EntityHashMap, MapEntities},
        entity_disabling::Disabled,
        lifecycle::HookContext,
        world::DeferredWorld,
    },
    prelude::*,
};

use super::{
    LinkEnd, LinkError, LinkStatus, NavLink,
    route::{Costs, CrossingTable, Hop},
};
use crate::{
    entity_keys::map_keys,
    flow::{FlowField, FlowFields},
    grids::NavGrids,
    nav::{Cell, GridId, ProfileId},
};

/// Ticks after which the fields of a profile are dropped that has used no link: 16 seconds at Bevy's 64 ticks per second.
const TICKS_KEPT: u64 = 1_024;

/// All links. Read-only: answers whether links connect two cells.
///
/// Memory: for each profile that has used links in the last 1,024 ticks, a field around each end of a link, which takes 4 bytes
/// per cell of the grid (see [`flow`](crate::flow)). The fields are filled within [`FlowFields::budget`].
#[derive(Resource, Clone, Debug, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct NavLinks {
    pub(super) links: BTreeMap<u64, PlacedLink>,
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::serde_with::sorted"))]
    numbers: EntityHashMap<u64>,
    /// How many links were inserted so far.
    inserted: u64,
    /// Entities whose component was inserted or removed. Kept here because Bevy discards such records after a frame, and there
    /// may be no tick in that frame.
    noted: Vec<Entity>,
    /// The state of all grids when the links were last checked.
    grids_seen: [u64; 4],
    /// The current tick, and when each profile last used links.
    now: u64,
    last_used: BTreeMap<ProfileId, u64>,
    is_profile_new: bool,
    #[cfg_attr(feature = "serialize", serde(with = "crate::nav::serde_with::sorted"))]
    fields: BTreeMap<(ProfileId, LinkEnd), FlowField>,
    /// The costs between crossings, by profile that uses links and by whether old costs count; read when first needed.
    #[cfg_attr(feature = "serialize", serde(with = "tables"))]
    tables: Tables,
    /// The state of fields and links that the tables describe.
    tables_state: u64,
    /// How often links have changed.
    changes: u64,
    /// Critters that have set out for a link since the last tick, with the numbers of their requests.
    pub(crate) set_out: Vec<(u64, Entity)>,
}

type Tables = BTreeMap<(ProfileId, bool), OnceLock<CrossingTable>>;

/// How serde writes the tables.
#[cfg(feature = "serialize")]
mod tables {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::*;

    pub(super) fn serialize<S: Serializer>(
        tables: &Tables,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let all: BTreeMap<_, _> = tables.iter().map(|(key, table)| (key, table.get())).collect();
        all.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Tables, D::Error> {
        let all: BTreeMap<(ProfileId, bool), Option<CrossingTable>> =
            BTreeMap::deserialize(deserializer)?;
        let table = |table: Option<_>| table.map(OnceLock::from).unwrap_or_default();
        Ok(all.into_iter().map(|(key, read)| (key, table(read))).collect())
    }
}

impl MapEntities for NavLinks {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        for placed in self.links.values_mut() {
            placed.entity = mapper.get_mapped(placed.entity);
        }
        map_keys(&mut self.numbers, mapper);
        self.noted.map_entities(mapper);
        for (_, entity) in &mut self.set_out {
            *entity = mapper.get_mapped(*entity);
        }
    }
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct PlacedLink {
    pub(crate) entity: Entity,
    pub(crate) link: NavLink,
    status: LinkStatus,
    /// The profiles whose units may cross it and can stand at both ends.
    users: Vec<ProfileId>,
}

impl PlacedLink {
    pub(super) fn admits(&self, profile: ProfileId) -> bool {
        self.status == LinkStatus::Connected && self.users.contains(&profile)
    }
}

pub(crate) fn note_inserted(mut world: DeferredWorld, HookContext { entity, .. }: HookContext) {
    if let Some(mut links) = world.get_resource_mut::<NavLinks>() {
        links.number(entity);
        links.noted.push(entity);
    }
}

pub(crate) fn note_removed(mut world: DeferredWorld, HookContext { entity, .. }: HookContext) {
    if let Some(mut links) = world.get_resource_mut::<NavLinks>() {
        links.noted.push(entity);
    }
    world.commands().entity(entity).try_remove::<LinkStatus>();
}

type Links<'w, 's, F> = Query<'w, 's, (Entity, &'static NavLink), F>;

/// Brings the links up to date, determines which can be used, and requests their fields. Links of disabled entities stay.
pub(crate) fn sync_links(
    mut links: ResMut<NavLinks>,
    grids: Res<NavGrids>,
    mut flows: ResMut<FlowFields>,
    all: Links<Allow<Disabled>>,
    changed: Links<(Changed<NavLink>, Allow<Disabled>)>,
    mut statuses: Query<&mut LinkStatus, Allow<Disabled>>,
) {
    links.now += 1;
    links.find_unknown(&all, &changed);
    let noted = std::mem::take(&mut links.noted);
    let now = state_of(&grids);
    let mut is_changed = std::mem::replace(&mut links.grids_seen, now) != now;
    let renewed = changed.iter().chain(noted.iter().filter_map(|&one| all.get(one).ok()));
    let mut renewed: Vec<(u64, Entity)> =
        renewed.filter_map(|(entity, _)| Some((*links.numbers.get(&entity)?, entity))).collect();
    renewed.sort_unstable();
    renewed.dedup();
    for &(number, entity) in &renewed {
        if let Ok((_, link)) = all.get(entity) {
            is_changed |= links.place(number, entity, link);
        }
    }
    for entity in noted.into_iter().filter(|&entity| !all.contains(entity)) {
        let number = links.numbers.remove(&entity);
        is_changed |= number.and_then(|number| links.links.remove(&number)).is_some();
    }
    if is_changed {
        for placed in links.links.values_mut() {
            let users = users_of(&grids, &placed.link);
            placed.status = match &users {
                Err(error) => LinkStatus::Broken(*error),
                Ok(_) if placed.link.is_open && placed.link.capacity > 0 => LinkStatus::Connected,
                Ok(_) => LinkStatus::Shut,
            };
            placed.users = users.unwrap_or_default();
        }
    }
    // A link that was removed and inserted again unchanged has lost its status.
    if is_changed || !renewed.is_empty() {
        for placed in links.links.values() {
            if let Ok(mut status) = statuses.get_mut(placed.entity) {
                status.set_if_neq(placed.status);
            }
        }
    }
    links.changes += u64::from(is_changed);
    links.hold_fields(&mut flows, is_changed);
    links.renew_tables(&flows);
}

/// Changes whenever a grid was inserted, removed or edited, or profiles were changed.
fn state_of(grids: &NavGrids) -> [u64; 4] {
    let (mut revisions, mut profiles) = (0, 0);
    for (_, grid) in grids.iter() {
        revisions += grid.revision();
        profiles += grid.profiles_revision();
    }
    [grids.insertions, grids.removals, revisions, profiles]
}

/// Returns the profiles whose units may cross a link and can stand at both ends, or why there are none.
fn users_of(grids: &NavGrids, link: &NavLink) -> Result<Vec<ProfileId>, LinkError> {
    let all = 0..grids.profiles().len().min(256);
    let all = || all.clone().map(|number| ProfileId(number as u8));
    let named = link.profiles.iter().flatten().copied();
    if let Some(profile) = named.clone().find(|&profile| !all().any(|known| known == profile)) {
        return Err(LinkError::UnknownProfile(profile));
    }
    let mut users: Vec<ProfileId> =
        if link.profiles.is_some() { named.collect() } else { all().collect() };
    let can_stand = |profile, end: LinkEnd| {
        let grid = grids.get(end.grid);
        grid.is_some_and(|grid| {
            let mut cells = end.area.intersection(grid.rect()).cells();
            cells.any(|cell| grid.cost(profile, cell) > 0)
        })
    };
    for end in [link.from, link.to] {
        let Some(grid) = grids.get(end.grid) else {
            return Err(LinkError::NoSuchGrid(end.grid));
        };
        if end.area.intersection(grid.rect()).is_empty() {
            return Err(LinkError::OutOfBounds(end));
        }
    }
    for end in [link.from, link.to] {
        users.retain(|&profile| can_stand(profile, end));
        if users.is_empty() {
            return Err(LinkError::Impassable(end));
        }
    }
    Ok(users)
}

impl NavLinks {
    /// Numbers an entity, in the order of insertion.
    fn number(&mut self, entity: Entity) {
        self.inserted += 1;
        self.numbers.entry(entity).or_insert(self.inserted);
    }

    /// For how many ticks this resource has been in use.
    pub(crate) const fn ticks(&self) -> u64 {
        self.now
    }

    /// Changes whenever links, or the grids that they may join, have changed; stays the same where there are no links.
    pub(crate) fn changes(&self) -> u64 {
        if self.links.is_empty() { 0 } else { self.changes }
    }

    /// Makes the next tick look again at all entities with links: some may no longer be links.
    pub(crate) fn check_all(&mut self) {
        self.noted.extend(self.numbers.keys());
    }

    /// Looks at all links again if they are not those that it knows: links may be older than the plugin, may have come or gone
    /// while the game had taken this resource out of the world, or the resource was replaced.
    fn find_unknown(
        &mut self,
        all: &Links<Allow<Disabled>>,
        changed: &Links<(Changed<NavLink>, Allow<Disabled>)>,
    ) {
        let is_known = |&(entity, _): &(Entity, &NavLink)| self.numbers.contains_key(&entity);
        if all.iter().count() == self.numbers.len() && changed.iter().all(|link| is_known(&link)) {
            return;
        }
        let unknown = all.iter().filter(|link| !is_known(link));
        let mut unknown: Vec<Entity> = unknown.map(|(entity, _)| entity).collect();
        unknown.sort_unstable();
        unknown.into_iter().for_each(|entity| self.number(entity));
        self.check_all();
    }

    /// Holds the fields that count in `flows`.
    pub(crate) fn adopt_fields(&mut self, flows: &FlowFields) {
        self.fields.values_mut().for_each(|field| flows.adopt(field));
    }

    /// Places or changes a link; returns false if it is unchanged. A link that now leads from or to other cells counts as a new
    /// one: units on the way to it get a new plan.
    fn place(&mut self, number: u64, entity: Entity, link: &NavLink) -> bool {
        if self.links.get(&number).is_some_and(|placed| placed.link == *link) {
            return false;
        }
        let before = self.links.remove(&number);
        let is_other = before.is_some_and(|PlacedLink { link: before, .. }| {
            (before.from, before.to, before.is_one_way) != (link.from, link.to, link.is_one_way)
        });
        self.inserted += u64::from(is_other);
        let number = if is_other { self.inserted } else { number };
        self.numbers.insert(entity, number);
        let (link, status, users) = (link.clone(), LinkStatus::New, Vec::new());
        self.links.insert(number, PlacedLink { entity, link, status, users });
        true
    }

    /// Holds the fields around all ends that profiles in use may come to, and drops the others.
    fn hold_fields(&mut self, flows: &mut FlowFields, is_changed: bool) {
        let Self { last_used, links, fields, now, is_profile_new, .. } = self;
        let known = last_used.len();
        last_used.retain(|_, last| *last + TICKS_KEPT >= *now);
        // The game may have replaced the resource of fields.
        let are_known = fields.values().all(|field| flows.is_known(field));
        let is_renewed = std::mem::take(is_profile_new) || !are_known;
        if !is_changed && last_used.len() == known && !is_renewed {
            return;
        }
        let mut before = std::mem::take(fields);
        let profiles = last_used.keys();
        for (&profile, placed) in
            profiles.flat_map(|profile| links.values().map(move |link| (profile, link)))
        {
            let ends = [placed.link.from, placed.link.to];
            for end in ends.into_iter().filter(|_| placed.admits(profile)) {
                let known = before.remove(&(profile, end)).filter(|field| flows.is_known(field));
                let request = || flows.request(end.grid, profile, end.area);
                fields.insert((profile, end), known.unwrap_or_else(request));
            }
        }
    }

    /// Keeps the fields of a profile up to date from the next tick on.
    pub(crate) fn note_use(&mut self, profile: ProfileId) {
        self.is_profile_new |= self.last_used.insert(profile, self.now).is_none();
    }

    /// Forgets the tables where fields or links have changed.
    fn renew_tables(&mut self, flows: &FlowFields) {
        let counters = flows.counters();
        let state = self.changes + counters.integrations + counters.repairs + counters.restarts;
        if std::mem::replace(&mut self.tables_state, state) != state {
            self.tables.clear();
        }
        self.tables.retain(|(profile, _), _| self.last_used.contains_key(profile));
        for key in self.last_used.keys().flat_map(|&profile| [(profile, false), (profile, true)]) {
            self.tables.entry(key).or_default();
        }
    }

    /// Whether all fields around the ends of a profile's crossings are up to date; and if not, whether only edits hold them up.
    pub(super) fn are_costs_known(&self, costs: Costs<'_>) -> (bool, bool) {
        let ends = self.hops(costs.profile).flat_map(|hop| self.ends(hop));
        let fields = ends.map(|end| self.field(costs.profile, end));
        let known = fields.map(|field| match field {
            Some(field) => (
                costs.flows.is_settled(costs.grids, field),
                costs.flows.is_held_up(costs.grids, field),
            ),
            None => (false, false),
        });
        known.fold((true, true), |(all, all_old), (one, old)| (all && one, all_old && (one || old)))
    }

    /// Whether no edit has come since the fields around the ends of a profile's crossings were completed.
    pub(super) fn are_up_to_date(&self, costs: Costs<'_>) -> bool {
        let mut ends = self.hops(costs.profile).flat_map(|hop| self.ends(hop));
        let is_fresh = |field: &FlowField| costs.flows.is_up_to_date(costs.grids, field);
        ends.all(|end| self.field(costs.profile, end).is_some_and(is_fresh))
    }

    /// What lies between the crossings of a profile, if it uses links. It is read once for each state of the fields.
    pub(super) fn table(&self, costs: Costs<'_>) -> Option<&CrossingTable> {
        let table = self.tables.get(&(costs.profile, costs.accepts_old))?;
        Some(table.get_or_init(|| self.read_table(costs)))
    }

    pub(super) fn field(&self, profile: ProfileId, end: LinkEnd) -> Option<&FlowField> {
        self.fields.get(&(profile, end))
    }

    /// The crossings that units of a profile may begin at present.
    pub(super) fn hops(&self, profile: ProfileId) -> impl Iterator<Item = Hop> {
        let usable = self.links.iter().filter(move |(_, placed)| placed.admits(profile));
        usable.flat_map(|(&number, placed)| {
            let forwards = Hop { number, is_backwards: false };
            let backwards = Hop { number, is_backwards: true };
            [Some(forwards), (!placed.link.is_one_way).then_some(backwards)].into_iter().flatten()
        })
    }

    /// Whether units of a profile may begin a crossing at present.
    pub(crate) fn is_usable(&self, profile: ProfileId, hop: Hop) -> bool {
        self.links.get(&hop.number).is_some_and(|placed| {
            placed.admits(profile) && !(hop.is_backwards && placed.link.is_one_way)
        })
    }

    /// Returns how many cells at the beginning of a crossing some of its users can stand on.
    pub(crate) fn places(&self, grids: &NavGrids, hop: Hop) -> u32 {
        let end = self.ends(hop)[0];
        let Some((placed, grid)) = self.links.get(&hop.number).zip(grids.get(end.grid)) else {
            return 0;
        };
        let cells = end.area.intersection(grid.rect()).cells();
        let can_stand =
            |&cell: &Cell| placed.users.iter().any(|&profile| grid.cost(profile, cell) > 0);
        cells.filter(can_stand).count() as u32
    }

    pub(crate) fn placed(&self, hop: Hop) -> Option<&PlacedLink> {
        self.links.get(&hop.number)
    }

    /// Where a crossing begins, and where it leads.
    pub(crate) fn ends(&self, hop: Hop) -> [LinkEnd; 2] {
        let ends = self.links.get(&hop.number).map(|placed| [placed.link.from, placed.link.to]);
        let [from, to] = ends.unwrap_or_default();
        if hop.is_backwards { [to, from] } else { [from, to] }
    }

    /// Whether a crossing that units of a profile may begin at present leads away from cells of a grid.
    pub(crate) fn lead_from(&self, grid: GridId, profile: ProfileId) -> bool {
        !self.links.is_empty() && self.hops(profile).any(|hop| self.ends(hop)[0].grid == grid)
    }
}
