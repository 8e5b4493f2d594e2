//! The portals between a chunk and its neighbors, read from the bits on both sides of a border.
//!
//! Input: passable cells, the edges between them, and components. Output: the portals of a chunk to its right and upper neighbors: for every
//! pair of components that meet on a border, one on each side, the crossing nearest to the border's middle.
//! One is enough: if one crossing between the two is reachable, all are. One crossing for each run of cells
//! would be several times as many on terrain strewn with rocks, for a route that only names chunks. Near the
//! middle, so that paths over open terrain line up.

use crate::nav::{CHUNK, Direction, Regions, region::Connections, runs_of_ones};

/// The middle of a border, in half cells: between its two middle cells.
const MIDDLE: u32 = CHUNK - 1;

/// Bits of a component's label: with edges all around, each of the 1,024 cells of a chunk may be a component of its own. The
/// six bits above hold the position along a border of 63 half cells.
const LABEL_BITS: u32 = 10;

/// A crossing from a component of one chunk to one of the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Portal {
    /// The component on the near side (left of the border, or below), and above it the position along the border. In 32
    /// bits with the other one, since a large grid has many portals.
    near_and_along: u16,
    /// The component on the far side.
    pub(super) far: u16,
}

impl Portal {
    pub(super) const fn near(self) -> u16 {
        self.near_and_along & ((1 << LABEL_BITS) - 1)
    }

    /// Returns its position along the border, in half cells.
    pub(super) const fn along(self) -> u16 {
        self.near_and_along >> LABEL_BITS
    }
}

/// Returns the portals of the chunk in column `chunk_x` and row `chunk_y`, on a grid with `height` rows of cells:
/// first those to the right, then those up. Also returns how many lead to the right.
pub(super) fn read_portals(
    (chunk_x, chunk_y): (u32, u32),
    height: u32,
    connections: Connections<'_>,
    regions: &Regions,
) -> (Vec<Portal>, usize) {
    let bits = connections.bits;
    let mut portals = Vec::new();
    // Along a border beside edges, one run of cells may belong to several components.
    let may_divide = connections.has_edges_in(chunk_y * regions.chunks.0 + chunk_x);
    let (x, y) = (chunk_x * CHUNK, chunk_y * CHUNK);
    let (right, top) = (x + CHUNK - 1, y + CHUNK - 1);
    if chunk_x + 1 < regions.chunks.0 {
        let mask = (0..CHUNK.min(height - y)).fold(0, |mask, dy| {
            let is_open = bits.get(right, y + dy)
                && bits.get(right + 1, y + dy)
                && connections.are_joined((right, y + dy), Direction::East);
            mask | u32::from(is_open) << dy
        });
        add_runs(&mut portals, (mask, may_divide), |along| {
            (regions.label(right, y + along), regions.label(right + 1, y + along))
        });
    }
    let lead_right = portals.len();
    if chunk_y + 1 < regions.chunks.1 {
        let both = bits.cells_32(x, top) & bits.cells_32(x, top + 1);
        let is_shut = |dx: u32| {
            both >> dx & 1 == 1 && !connections.are_joined((x + dx, top), Direction::North)
        };
        let shut = match may_divide {
            true => (0..CHUNK).fold(0, |shut, dx| shut | u32::from(is_shut(dx)) << dx),
            false => 0,
        };
        add_runs(&mut portals, (both & !shut, may_divide), |along| {
            (regions.label(x + along, top), regions.label(x + along, top + 1))
        });
    }
    (portals, lead_right)
}

/// Splits a border into runs and adds their portals; `labels` returns the two components at a cell of the border. All cells of a
/// run are in the same components, unless edges `may_divide` them.
fn add_runs(
    portals: &mut Vec<Portal>,
    (mask, may_divide): (u32, bool),
    labels: impl Fn(u32) -> (u16, u16),
) {
    let first = portals.len();
    let parts = runs_of_ones(mask).flat_map(|(start, end)| {
        let mut rest = Some(start);
        let labels = &labels;
        core::iter::from_fn(move || {
            let start = rest?;
            let differs = |&along: &u32| labels(along) != labels(start);
            let next = (start + 1..=end).find(|along| may_divide && differs(along));
            rest = next;
            Some((start, next.map_or(end, |next| next - 1)))
        })
    });
    for (start, end) in parts {
        let (near, far) = labels(start);
        let along = MIDDLE.clamp(2 * start, 2 * end) as u16;
        let portal = Portal { near_and_along: near | along << LABEL_BITS, far };
        let from_middle = |portal: &Portal| u32::from(portal.along()).abs_diff(MIDDLE);
        let mut known = portals[first..].iter_mut();
        match known.find(|known| (known.near(), known.far) == (near, far)) {
            Some(known) if from_middle(&portal) < from_middle(known) => *known = portal,
            Some(_) => {}
            None => portals.push(portal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crossings(mask: u32, labels: impl Fn(u32) -> (u16, u16)) -> Vec<(u16, u16, u16)> {
        crossings_beside_edges((mask, false), labels)
    }

    fn crossings_beside_edges(
        border: (u32, bool),
        labels: impl Fn(u32) -> (u16, u16),
    ) -> Vec<(u16, u16, u16)> {
        let mut portals = Vec::new();
        add_runs(&mut portals, border, labels);
        portals.iter().map(|portal| (portal.along(), portal.near(), portal.far)).collect()
    }

    #[test]
    fn two_components_meet_once_near_the_middle() {
        assert_eq!(crossings(u32::MAX, |_| (0, 3)), [(31, 0, 3)]);
        assert_eq!(crossings(1 << 31, |_| (1023, 0)), [(62, 1023, 0)]);
        assert_eq!(crossings(0x0f0f_0001, |_| (7, 511)), [(32, 7, 511)]);
        assert_eq!(crossings(0b110_0111, |along| (along as u16, 1)), [(4, 0, 1), (12, 5, 1)]);
        assert_eq!(crossings(0x5555_5555, |along| (0, along as u16)).len(), 16);
        assert_eq!(crossings(0, |_| (0, 0)), []);
    }

    #[test]
    fn edges_divide_runs_between_components() {
        let labels = |along: u32| (u16::from(along >= 20), 3);
        assert_eq!(crossings_beside_edges((u32::MAX, true), labels), [(31, 0, 3), (40, 1, 3)]);
    }
}
