//! The soak test: thousands of units with continuous random orders and map edits.
//!
//! Input: numbers of units and ticks. Output: the number of stuck units, memory use, and a checksum
//! to compare two runs. A unit counts as stuck when its goal has been reachable for
//! [`STUCK_AFTER`] ticks, with the same order, and it has not arrived.

use bevy_tilepath::{
    nav::{
        checksum::Checksum,
        crowd::{Crowd, CrowdEvent, RouteId, UnitId, UnitSettings},
        field::DistanceField,
    },
    prelude::*,
};

use super::{
    checker::{Checker, Seen},
    runner::{JsonLine, Outcome},
};

/// Cells along a side of the map.
const SIDE: i32 = 192;
/// Most units: a half of the cells, so that all find room.
const MOST_UNITS: usize = (SIDE * SIDE / 2) as usize;
/// Shared goals.
const GOALS: usize = 24;
/// Ticks within which a unit must arrive at a goal that is reachable all the time.
const STUCK_AFTER: u64 = 20_000;
/// Ticks between two edits.
const EDIT_EVERY: u64 = 40;

/// Pseudorandom numbers (xorshift): the same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32 % limit
    }

    fn cell(&mut self) -> Cell {
        Cell::new(self.below(SIDE as u32) as i32, self.below(SIDE as u32) as i32)
    }
}

struct Soak {
    random: Random,
    grid: NavGrid,
    crowd: Crowd,
    ids: Vec<UnitId>,
    goals: Vec<Cell>,
    fields: Vec<DistanceField>,
    /// Goal of each unit, and the tick since which it has been reachable.
    orders: Vec<(usize, u64)>,
    built: Vec<CellRect>,
    checker: Checker,
    checksum: Checksum,
    orders_given: u64,
    arrived: u64,
    edits: u64,
    longest: u64,
}

/// Runs the test and prints one line.
pub fn run(units: usize, ticks: u64) -> Outcome<()> {
    if !(1..=MOST_UNITS).contains(&units) {
        return Err(format!("--agents {units}: the soak test takes 1 to {MOST_UNITS}"));
    }
    let mut soak = Soak::new(units)?;
    let mut early = 0;
    for tick in 1..=ticks {
        soak.tick(tick)?;
        if tick == ticks / 4 {
            early = soak.crowd.bytes();
        }
    }
    let stuck = soak.stuck(ticks);
    let faults = soak.checker.faults;
    JsonLine::default()
        .number("critters", units)
        .number("ticks", ticks)
        .number("orders", soak.orders_given)
        .number("arrived", soak.arrived)
        .number("edits", soak.edits)
        .number("longest_order", soak.longest)
        .number("stuck", stuck)
        .number("bytes_at_a_quarter", early)
        .number("bytes_at_the_end", soak.crowd.bytes())
        .number("overlaps", faults.overlaps + faults.jumps)
        .number("swaps", faults.swaps)
        .number("corner_cuts", faults.corner_cuts)
        .number("checksum", soak.checksum.value())
        .print();
    match soak.checker.first.take() {
        Some(first) => Err(format!("{faults:?}; the first: {first}")),
        None if stuck > 0 => Err(format!("{stuck} units are stuck")),
        None => Ok(()),
    }
}

impl Soak {
    fn new(units: usize) -> Outcome<Self> {
        let mut random = Random(0x5eed);
        let mut grid = NavGrid::new(SIDE as u32, SIDE as u32, TerrainId::GROUND)
            .map_err(|error| error.to_string())?;
        for _ in 0..220 {
            let rect = CellRect::new(random.cell(), 1 + random.below(9), 1 + random.below(9));
            let _outside = grid.block(rect);
        }
        let mut soak = Self {
            crowd: Crowd::new(&grid),
            random,
            grid,
            ids: Vec::new(),
            goals: Vec::new(),
            fields: Vec::new(),
            orders: Vec::new(),
            built: Vec::new(),
            checker: Checker::new(),
            checksum: Checksum::default(),
            orders_given: 0,
            arrived: 0,
            edits: 0,
            longest: 0,
        };
        soak.choose_goals()?;
        while soak.ids.len() < units {
            let cell = soak.random.cell();
            let settings = UnitSettings::default().ticks_per_cell(6 + soak.random.below(10));
            if let Ok(id) = soak.crowd.add(&soak.grid, cell, settings) {
                soak.ids.push(id);
                soak.orders.push((0, 0));
                soak.order(soak.ids.len() - 1, 0)?;
            }
        }
        Ok(soak)
    }

    fn choose_goals(&mut self) -> Outcome<()> {
        while self.goals.len() < GOALS {
            let goal = self.random.cell();
            if self.grid.cost(ProfileId(0), goal) > 0 {
                let mut field = DistanceField::new();
                let begun = field.start(&self.grid, ProfileId(0), goal);
                begun.map_err(|error| format!("{goal}: {error:?}"))?;
                while !field.is_finished() {
                    field.step(&self.grid, u32::MAX);
                }
                self.goals.push(goal);
                self.fields.push(field);
            }
        }
        Ok(())
    }

    fn repair_fields(&mut self) {
        for field in &mut self.fields {
            while field.is_stale(&self.grid) || !field.is_finished() {
                field.repair(&self.grid, u32::MAX);
            }
        }
    }

    fn order(&mut self, unit: usize, tick: u64) -> Outcome<()> {
        let goal = self.random.below(GOALS as u32);
        self.orders[unit] = (goal as usize, tick);
        self.orders_given += 1;
        let result = self.crowd.follow_route(self.ids[unit], RouteId(goal));
        result.map_err(|error| error.to_string())
    }

    /// Blocks or unblocks random cells.
    fn edit(&mut self) {
        let is_full = self.built.len() > 30;
        if is_full || self.built.len() > 10 && self.random.below(2) == 0 {
            let at = self.random.below(self.built.len() as u32) as usize;
            let _known = self.grid.unblock(self.built.swap_remove(at));
        } else {
            let size = [1 + self.random.below(12), 1 + self.random.below(4)];
            let rect = CellRect::new(self.random.cell(), size[0], size[1]);
            if !self.goals.iter().any(|&goal| rect.contains(goal)) && self.grid.block(rect).is_ok()
            {
                self.built.push(rect);
            }
        }
        self.edits += 1;
        self.repair_fields();
    }

    fn tick(&mut self, tick: u64) -> Outcome<()> {
        if tick.is_multiple_of(EDIT_EVERY) {
            self.edit();
            self.reset_unreachable(tick);
        }
        if tick.is_multiple_of(5) {
            let unit = self.random.below(self.ids.len() as u32) as usize;
            self.order(unit, tick)?;
        }
        self.crowd.tick(&self.grid, &self.fields);
        let arrived = self.crowd.events().iter().filter_map(|event| match event {
            CrowdEvent::Arrived { unit, .. } => Some(unit.index()),
            _ => None,
        });
        for unit in arrived.collect::<Vec<_>>() {
            self.arrived += 1;
            self.longest = self.longest.max(tick - self.orders[unit].1);
            self.order(unit, tick)?;
        }
        self.check();
        Ok(())
    }

    /// Restarts the time limit of units that cannot reach their goal.
    fn reset_unreachable(&mut self, tick: u64) {
        for (id, order) in self.ids.iter().zip(&mut self.orders) {
            let position = self.crowd.position(&self.grid, *id);
            let cost = position.and_then(|(cell, _)| self.fields[order.0].cost(&self.grid, cell));
            if cost.is_none() {
                order.1 = tick;
            }
        }
    }

    fn check(&mut self) {
        let seen = self.ids.iter().filter_map(|&id| {
            let position = self.crowd.position(&self.grid, id)?;
            Some(Seen::new((id.bits(), ProfileId(0), 1), position, self.crowd.progress(id)))
        });
        let seen: Vec<Seen> = seen.collect();
        for unit in &seen {
            self.checksum.add_cell(unit.head);
        }
        self.checker.look(&self.grid, &seen, &[]);
    }

    /// Returns the number of stuck units.
    fn stuck(&self, now: u64) -> usize {
        self.orders.iter().filter(|order| now - order.1 > STUCK_AFTER).count()
    }
}
