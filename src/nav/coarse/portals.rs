//! The portals between a chunk and its neighbors, read from the bits on both sides of a border.
//!
//! Input: passable cells, the edges between them, and components. Output: the portals of a chunk to its right and upper
//! neighbors, and past its corners: for every pair of components that meet on a border, one on each side, the crossing nearest
//! to the border's middle. One is enough: if one crossing between the two is reachable, all are. One crossing for each run of
//! cells would make several times as many on terrain strewn with rocks, although a route only names chunks. Crossings near
//! the middle make paths over open terrain line up.
//!
//! **Slanted crossings** lie halfway between straight ones, so a border of 32 cells has 63 places for crossings. On hexagons
//! both kinds alternate. If cells are joined by straight steps only, a place between two straight crossings stands for both:
//! then the portal in the middle of an open border lies between its two middle cells. A step past a corner is a portal only
//! where no other portals lead the same way around: on open terrain there is none.

use crate::nav::{
    CHUNK, Direction, Regions,
    region::{Connections, Joints},
    runs_of_ones,
};

/// The middle of a border, in half cells: between its two middle cells.
const MIDDLE: u32 = CHUNK - 1;

/// Bits of a component's label: with edges everywhere, each of the 1,024 cells of a chunk may be a component of its own. The
/// upper six bits hold the position along a border, of 63 half cells, or a direction.
const LABEL_BITS: u32 = 10;

/// A crossing from a component of one chunk to one of the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Portal {
    /// The component on the near side (left of the border, or below) in the lower bits, the position along the border
    /// in the upper ones. A portal takes only 32 bits, since a large grid has many.
    near_and_along: u16,
    /// The component on the far side, and in the upper bits the direction of the crossing.
    far_and_direction: u16,
}

/// The portals of a chunk: those to the right, then those up, then those past its corners.
#[derive(Clone, Debug, Default)]
pub(super) struct ChunkPortals {
    pub(super) portals: Vec<Portal>,
    /// How many lead to the right.
    pub(super) right: usize,
    /// How many lead to the right or up.
    pub(super) beside: usize,
}

/// A border between two chunks: what is passable on both sides, and where a cell lies.
struct Border<'a> {
    connections: Connections<'a>,
    regions: &'a Regions,
    /// The cell of the near side at the lower or left end, and the direction along the border.
    first: (u32, u32),
    along: Direction,
    /// The step straight across.
    across: Direction,
    /// Whether one run of cells may belong to several components, because there are edges.
    may_divide: bool,
}

impl Portal {
    const fn new((near, far): (u16, u16), along: u32, direction: Direction) -> Self {
        let high = (direction as u16) << LABEL_BITS;
        Self { near_and_along: near | (along as u16) << LABEL_BITS, far_and_direction: far | high }
    }

    pub(super) const fn near(self) -> u16 {
        self.near_and_along & ((1 << LABEL_BITS) - 1)
    }

    pub(super) const fn far(self) -> u16 {
        self.far_and_direction & ((1 << LABEL_BITS) - 1)
    }

    /// Returns its position along the border, in half cells; 0 past a corner.
    pub(super) const fn along(self) -> u16 {
        self.near_and_along >> LABEL_BITS
    }

    /// Returns the component on the other side and the step there, as seen from component `label` of the near side (`AHEAD`) or
    /// of the far side; `None` if it does not lead out of that component.
    #[inline]
    pub(super) fn seen_from<const AHEAD: bool>(self, label: u16) -> Option<(u16, Direction)> {
        let (here, there) = (self.near(), self.far());
        let (here, there) = if AHEAD { (here, there) } else { (there, here) };
        let direction = self.direction();
        (here == label).then(|| (there, if AHEAD { direction } else { direction.opposite() }))
    }

    /// Returns the direction of the step from the near side to the far one.
    pub(super) const fn direction(self) -> Direction {
        Direction::from_bits((self.far_and_direction >> LABEL_BITS) as u8)
    }
}

/// Returns the portals of the chunk in column `chunk_x` and row `chunk_y`, on a grid with `height` rows of cells.
pub(super) fn read_portals(
    (chunk_x, chunk_y): (u32, u32),
    height: u32,
    connections: Connections<'_>,
    regions: &Regions,
) -> ChunkPortals {
    let (bits, chunks) = (connections.bits, regions.chunks);
    let may_divide = connections.has_edges_in(chunk_y * chunks.0 + chunk_x);
    let (x, y) = (chunk_x * CHUNK, chunk_y * CHUNK);
    let (right, top) = (x + CHUNK - 1, y + CHUNK - 1);
    let (has_right, has_top) = (chunk_x + 1 < chunks.0, chunk_y + 1 < chunks.1);
    let border =
        |first, along, across| Border { connections, regions, first, along, across, may_divide };
    let mut portals = Vec::new();
    if has_right {
        let column = |x| {
            let rows = 0..CHUNK.min(height - y);
            rows.fold(0, |column, dy| column | u32::from(bits.get(x, y + dy)) << dy)
        };
        let border = border((right, y), Direction::North, Direction::East);
        border.add_portals(&mut portals, (column(right), column(right + 1)));
    }
    let right_portals = portals.len();
    if has_top {
        let row = |y| bits.cells_32(x, y);
        let border = border((x, top), Direction::East, Direction::North);
        border.add_portals(&mut portals, (row(top), row(top + 1)));
    }
    let beside = portals.len();
    let Joints { left: falling, right: rising } = regions.joints();
    if falling && has_right && chunk_y > 0 {
        add_corner(&mut portals, (right, y), Direction::SouthEast, (connections, regions));
    }
    if rising && has_right && has_top {
        add_corner(&mut portals, (right, top), Direction::NorthEast, (connections, regions));
    }
    ChunkPortals { portals, right: right_portals, beside }
}

impl Border<'_> {
    /// Adds the portals between the passable cells of the near and the far side, of which the first is the lowest bit.
    fn add_portals(&self, portals: &mut Vec<Portal>, (near, far): (u32, u32)) {
        let joints = self.regions.joints();
        let straight = self.without_shut(near & far, self.across, 0);
        let rising = if joints.right { near & far >> 1 } else { 0 };
        let rising = self.without_shut(rising, Direction::NorthEast, 0);
        let falling = if joints.left { near >> 1 & far } else { 0 };
        let falling = self.without_shut(falling, self.falling(), 1);
        let between =
            if joints.are_straight() { straight & straight >> 1 } else { rising | falling };
        let crossing = |place: u32| {
            let at = place / 2;
            match place.is_multiple_of(2) || joints.are_straight() {
                true => (self.across, at, at),
                false if rising >> at & 1 == 1 => (Direction::NorthEast, at, at + 1),
                false => (self.falling(), at + 1, at),
            }
        };
        self.add_runs(portals, spread(straight) | spread(between) << 1, crossing);
    }

    /// The slanted step across that does not lead up and to the right.
    const fn falling(&self) -> Direction {
        match self.across {
            Direction::East => Direction::SouthEast,
            _ => Direction::NorthWest,
        }
    }

    /// Returns those of `crossings` that no edge forbids: steps in a direction, the lowest bit from cell `from` of the near side.
    fn without_shut(&self, crossings: u32, direction: Direction, from: u32) -> u32 {
        let is_shut = |at: &u32| {
            let (x, y) = self.near_cell(from + at);
            crossings >> at & 1 == 1 && !self.connections.are_joined((x, y), direction)
        };
        let shut = if self.may_divide { 0..CHUNK } else { 0..0 };
        shut.filter(is_shut).fold(crossings, |open, at| open & !(1 << at))
    }

    const fn near_cell(&self, at: u32) -> (u32, u32) {
        self.along.cell_at(self.first.0, self.first.1, at)
    }

    /// Returns the components that a cell of the near side and one of the far side belong to.
    fn labels(&self, near: u32, far: u32) -> (u16, u16) {
        let (x, y) = self.near_cell(far);
        let (far_x, far_y) = self.across.cell_at(x, y, 1);
        let (x, y) = self.near_cell(near);
        (self.regions.label(x, y), self.regions.label(far_x, far_y))
    }

    /// Adds the portals of the places with a crossing; `crossing` returns its direction and its two cells. All crossings of a
    /// run are between the same components, unless edges divide them.
    fn add_runs(
        &self,
        portals: &mut Vec<Portal>,
        places: u64,
        crossing: impl Fn(u32) -> (Direction, u32, u32),
    ) {
        let first = portals.len();
        let runs = runs_of_ones(places).flat_map(|(start, end)| {
            let length = if self.may_divide { 1 } else { end - start + 1 };
            (start..=end).step_by(length as usize).map(move |at| (at, at + length - 1))
        });
        for (start, end) in runs {
            let along = MIDDLE.clamp(start, end);
            let (direction, near, far) = crossing(along);
            let portal = Portal::new(self.labels(near, far), along, direction);
            let from_middle = |portal: &Portal| u32::from(portal.along()).abs_diff(MIDDLE);
            let mut known = portals[first..].iter_mut();
            let joins = |it: &Portal| (it.near(), it.far()) == (portal.near(), portal.far());
            match known.find(|it| joins(it)) {
                Some(known) if from_middle(&portal) < from_middle(known) => *known = portal,
                Some(_) => {}
                None => portals.push(portal),
            }
        }
    }
}

/// Adds the step from a cell past a corner of its chunk, unless two steps through one of the chunks beside it lead to the
/// same cell.
fn add_corner(
    portals: &mut Vec<Portal>,
    from: (u32, u32),
    direction: Direction,
    (connections, regions): (Connections<'_>, &Regions),
) {
    let can_step = |(x, y): (u32, u32), direction: Direction| {
        let to = direction.cell_at(x, y, 1);
        let is_passable = |(x, y): (u32, u32)| connections.bits.get(x, y);
        let are_passable = is_passable((x, y)) && is_passable(to);
        (are_passable && connections.are_joined((x, y), direction)).then_some(to)
    };
    let Some(to) = can_step(from, direction) else {
        return;
    };
    let vertical =
        if direction == Direction::SouthEast { Direction::South } else { Direction::North };
    let is_around = |first, second| can_step(from, first).and_then(|by| can_step(by, second));
    if is_around(Direction::East, vertical).or(is_around(vertical, Direction::East)).is_none() {
        let labels = (regions.label(from.0, from.1), regions.label(to.0, to.1));
        portals.push(Portal::new(labels, 0, direction));
    }
}

/// Spreads the bits of a word over the even bits of a word twice as long.
const fn spread(bits: u32) -> u64 {
    let mut bits = bits as u64;
    bits = (bits | bits << 16) & 0x0000_FFFF_0000_FFFF;
    bits = (bits | bits << 8) & 0x00FF_00FF_00FF_00FF;
    bits = (bits | bits << 4) & 0x0F0F_0F0F_0F0F_0F0F;
    bits = (bits | bits << 2) & 0x3333_3333_3333_3333;
    (bits | bits << 1) & 0x5555_5555_5555_5555
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::nav::coarse::worlds::{JOINTS, World};

    /// Two components and the chunk of the second one; where a portal between them may be.
    type Crossings = BTreeMap<(u16, u16, (u32, u32)), u32>;

    /// Returns all crossings from a chunk to the chunks to the right and above, and how far the nearest ones are from the middle.
    fn crossings_beside(world: &World, chunk: (u32, u32)) -> Crossings {
        let mut found = Crossings::new();
        let cells = (0..CHUNK).flat_map(|y| (0..CHUNK).map(move |x| (x, y)));
        for (x, y) in cells.map(|(x, y)| (chunk.0 * CHUNK + x, chunk.1 * CHUNK + y)) {
            for direction in world.steps() {
                let to = direction.cell_at(x, y, 1);
                let next = (to.0 / CHUNK, to.1 / CHUNK);
                let is_beside = [(chunk.0 + 1, chunk.1), (chunk.0, chunk.1 + 1)].contains(&next);
                if !is_beside || !world.is_passable((x, y)) || !world.is_passable(to) {
                    continue;
                }
                let along = if next.1 == chunk.1 { y + to.1 } else { x + to.0 };
                let labels = (world.regions.label(x, y), world.regions.label(to.0, to.1));
                let from_middle = (along % (2 * CHUNK)).abs_diff(MIDDLE);
                let nearest = found.entry((labels.0, labels.1, next)).or_insert(from_middle);
                *nearest = from_middle.min(*nearest);
            }
        }
        found
    }

    proptest! {
        #[test]
        fn each_pair_of_components_that_meet_has_one_portal_near_the_middle(
            size in (1u32..130, 1u32..130),
            walls in 0u64..75,
            joints in 0usize..3,
            seed: u64,
        ) {
            let world = World::random(size, walls, (JOINTS[joints], seed));
            let chunks = world.regions.chunks;
            for chunk in (0..chunks.1).flat_map(|y| (0..chunks.0).map(move |x| (x, y))) {
                let read = read_portals(chunk, size.1, world.connections(), &world.regions);
                let mut expected = crossings_beside(&world, chunk);
                for (index, portal) in read.portals[..read.beside].iter().enumerate() {
                    let is_right = index < read.right;
                    let next =
                        (chunk.0 + u32::from(is_right), chunk.1 + u32::from(!is_right));
                    let nearest = expected.remove(&(portal.near(), portal.far(), next));
                    let from_middle = u32::from(portal.along()).abs_diff(MIDDLE);
                    // Between two straight steps a portal may be half a cell nearer.
                    let slack = u32::from(world.regions.joints().are_straight());
                    let is_nearest =
                        |nearest| from_middle <= nearest && nearest <= from_middle + slack;
                    prop_assert!(nearest.is_some_and(is_nearest), "{chunk:?} {portal:?}");
                }
                prop_assert!(expected.is_empty(), "{chunk:?}: no portals for {expected:?}");
            }
        }
    }

    /// Returns the number of portals past the corners of the lower left chunk and of the one above it.
    fn corners(joints: Joints, passable: &[(u32, u32)]) -> (usize, usize) {
        let world = World::with_joints((64, 64), joints, |x, y| passable.contains(&(x, y)));
        let past_corners = |chunk| {
            let read = read_portals(chunk, 64, world.connections(), &world.regions);
            read.portals.len() - read.beside
        };
        (past_corners((0, 0)), past_corners((0, 1)))
    }

    #[test]
    fn a_step_past_a_corner_is_a_portal_where_there_is_no_way_around() {
        let [straight, falling, both] = JOINTS;
        let (low, right, up, high) = ((31, 31), (32, 31), (31, 32), (32, 32));
        assert_eq!(corners(straight, &[right, up, low, high]), (0, 0));
        assert_eq!(corners(straight, &[right, up]), (0, 0));
        assert_eq!(corners(falling, &[right, up]), (0, 1));
        assert_eq!(corners(falling, &[right, up, high]), (0, 0));
        assert_eq!(corners(falling, &[right, up, low]), (0, 0));
        assert_eq!(corners(falling, &[low, high]), (0, 0));
        assert_eq!(corners(both, &[low, high]), (1, 0));
        assert_eq!(corners(both, &[right, up]), (0, 1));
        assert_eq!(corners(both, &[low, high, up]), (0, 0));
    }

    #[test]
    fn bits_are_spread() {
        assert_eq!(spread(u32::MAX), u64::MAX / 3);
        assert_eq!(spread(1 << 31 | 0b101), 1 << 62 | 0b1_0001);
    }
}
