//! What routes over links cost: the same as Dijkstra's algorithm finds over all cells and links.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
};

use bevy::prelude::*;
use bevy_tilepath::prelude::*;

use super::{
    UNIT, frame, has_arrived, has_ended, link_events, place_of, record_links, send, spawn,
};
use crate::common::{
    Random,
    app::{app, grid, run_until, status},
    step_cost,
};

/// A world of one to three grids with links, and what crossing costs.
struct World {
    app: App,
    links: Vec<Entity>,
}

fn random_world(random: &mut Random) -> World {
    let mut app = app();
    let profile = match random.below(3) {
        0 => Profile::default().neighbors(Neighborhood::Four),
        1 => Profile::default().corners(CornerRule::Allow),
        _ => Profile::default(),
    };
    let profile = profile.with(TerrainId(1), 40).with(TerrainId(2), 9);
    grid(&mut app).set_profiles(vec![profile]);
    for id in (0..1 + random.below(3)).map(GridId) {
        let (width, height) = (3 + random.below(18), 3 + random.below(18));
        let topology = if random.below(4) == 0 { Topology::Hexagonal } else { Topology::Square };
        let costs = if random.below(2) == 0 {
            [TerrainId::GROUND; 3]
        } else {
            [TerrainId::GROUND, TerrainId(1), TerrainId(2)]
        };
        let share = random.below(35);
        let terrain = (0..width * height).map(|_| {
            let kind = costs[random.below(3) as usize].0;
            if random.below(100) < share { TerrainId::VOID.0 } else { kind }
        });
        let level = NavGrid::from_terrain(width, height, terrain.collect()).unwrap();
        grid(&mut app).insert(id, level.with_topology(topology), frame(id));
    }
    let mut world = World { app, links: Vec::new() };
    for _ in 0..1 + random.below(7) {
        world.add_link(random);
    }
    world.app.update();
    world
}

impl World {
    fn any_cell(&self, random: &mut Random) -> (GridId, Cell) {
        let grids = self.app.world().resource::<NavGrids>();
        let id = GridId(random.below(grids.iter().count() as u32));
        let level = grids.get(id).unwrap();
        (id, Cell::new(random.below(level.width()) as i32, random.below(level.height()) as i32))
    }

    fn add_link(&mut self, random: &mut Random) {
        let mut end = || {
            let (id, cell) = self.any_cell(random);
            (id, CellRect::new(cell, 1 + random.below(3), 1 + random.below(2)))
        };
        let (from, to) = (end(), end());
        let mut link = NavLink::new(from, to).cost(random.below(12));
        link.is_one_way = random.below(3) == 0;
        link.is_open = random.below(5) > 0;
        self.links.push(self.app.world_mut().spawn(link).id());
    }

    /// Dijkstra over the cells of all grids and the links.
    fn best(&self, start: (GridId, Cell), goal: (GridId, Cell)) -> Option<u64> {
        let grids = self.app.world().resource::<NavGrids>();
        let mut best: BTreeMap<(GridId, Cell), u64> = BTreeMap::new();
        let mut open = BinaryHeap::from([Reverse((0, start.0, start.1.x, start.1.y))]);
        let links: Vec<&NavLink> =
            self.links.iter().filter_map(|&one| self.app.world().get(one)).collect();
        let is_free = |(id, cell): (GridId, Cell)| {
            grids.get(id).is_some_and(|level| level.cost(UNIT, cell) > 0)
        };
        if !is_free(start) {
            return None;
        }
        while let Some(Reverse((cost, id, x, y))) = open.pop() {
            let place = (id, Cell::new(x, y));
            if best.contains_key(&place) {
                continue;
            }
            best.insert(place, cost);
            if place == goal {
                return Some(cost);
            }
            let level = grids.get(id).unwrap();
            for direction in Direction::ALL {
                let (dx, dy) = direction.offset();
                let to = place.1.offset(dx, dy);
                if let Some(step) = step_cost(level, UNIT, place.1, to) {
                    open.push(Reverse((cost + step, id, to.x, to.y)));
                }
            }
            for link in links.iter().filter(|link| link.is_open) {
                let mut ways = vec![(link.from, link.to)];
                if !link.is_one_way {
                    ways.push((link.to, link.from));
                }
                for (from, to) in ways {
                    if from.grid == id && from.area.contains(place.1) {
                        let ahead = cost + u64::from(link.cost) * PathCost::PLAIN_STEP.0;
                        let cells = to.area.cells().map(|cell| (to.grid, cell));
                        let free = cells.filter(|&place| is_free(place));
                        open.extend(free.map(|(id, cell)| Reverse((ahead, id, cell.x, cell.y))));
                    }
                }
            }
        }
        None
    }
}

/// What the paths and crossings of the units cost so far.
#[derive(Resource, Default)]
struct Spent(BTreeMap<Entity, u64>);

#[test]
fn routes_cost_what_dijkstra_finds_over_all_cells_and_links() {
    let seeds =
        std::env::var("TILEPATH_LINKS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(60);
    let (mut over_links, mut none) = (0, 0);
    for seed in 0..seeds {
        let random = &mut Random(seed);
        let mut world = random_world(random);
        world
            .app
            .init_resource::<Spent>()
            .add_observer(
                |event: On<PathFound>, paths: Query<&NavPath>, mut spent: ResMut<Spent>| {
                    *spent.0.entry(event.entity).or_default() +=
                        paths.get(event.entity).unwrap().cost().0;
                },
            )
            .add_observer(
                |event: On<LinkEntered>, links: Query<&NavLink>, mut spent: ResMut<Spent>| {
                    let cost =
                        u64::from(links.get(event.link).unwrap().cost) * PathCost::PLAIN_STEP.0;
                    *spent.0.entry(event.entity).or_default() += cost;
                },
            );
        record_links(&mut world.app);
        for round in 0..6 {
            if round > 0 {
                let (id, cell) = world.any_cell(random);
                let mut grids = grid(&mut world.app);
                let level = grids.get_mut(id).unwrap();
                let rect = CellRect::new(cell, 1 + random.below(4), 1 + random.below(4))
                    .intersection(level.rect());
                match random.below(5) {
                    0 => level.block(rect).unwrap(),
                    1 => rect.cells().for_each(|cell| {
                        level.set_terrain(cell, TerrainId(1)).unwrap();
                    }),
                    2 => world.add_link(random),
                    _ => {}
                }
                if let Some(&one) = world.links.get(random.below(9) as usize) {
                    match random.below(4) {
                        0 => {
                            world.app.world_mut().despawn(one);
                            world.links.retain(|&link| link != one);
                        }
                        _ => {
                            let mut link = world.app.world_mut().get_mut::<NavLink>(one).unwrap();
                            link.is_open = !link.is_open;
                        }
                    }
                }
                world.app.update();
            }
            let trips: Vec<_> =
                (0..4).map(|_| (world.any_cell(random), world.any_cell(random))).collect();
            let units: Vec<Entity> = trips
                .iter()
                .map(|&(start, goal)| {
                    let unit = spawn(&mut world.app, Critter::new(150.0).ghost(), start);
                    let centers = frame_center(&world.app, start);
                    world.app.world_mut().get_mut::<Transform>(unit).unwrap().translation = centers;
                    send(&mut world.app, unit, goal);
                    unit
                })
                .collect();
            run_until(&mut world.app, 3_000, |app| units.iter().all(|&unit| has_ended(app, unit)));
            for (&unit, &(start, goal)) in units.iter().zip(&trips) {
                let best = world.best(start, goal);
                let case = format!(
                    "seed {seed} round {round}: {start:?} to {goal:?}, {:?}",
                    status(&world.app, unit)
                );
                assert_eq!(has_arrived(&world.app, unit), best.is_some(), "{case}");
                let grids = world.app.world().resource::<NavGrids>();
                let links = world.app.world().resource::<NavLinks>();
                assert_eq!(links.can_reach(grids, UNIT, start, goal), best.is_some(), "{case}");
                if let Some(best) = best {
                    let spent = world.app.world().resource::<Spent>().0.get(&unit).copied();
                    assert_eq!(spent.unwrap_or_default(), best, "{case}");
                    assert_eq!(place_of(&world.app, unit), goal, "{case}");
                } else {
                    none += 1;
                }
                world.app.world_mut().despawn(unit);
            }
        }
        over_links += link_events(&world.app).len() / 2;
    }
    println!("{over_links} crossings, {none} without a way, {seeds} seeds");
    assert!(over_links > seeds as usize && none > seeds as usize);
}

fn frame_center(app: &App, (id, cell): (GridId, Cell)) -> Vec3 {
    app.world().resource::<NavGrids>().frame(id).unwrap().cell_center(cell).extend(0.0)
}
