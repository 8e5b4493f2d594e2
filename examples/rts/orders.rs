//! Orders: what the player and the script tell critters, as orders of the library.
//!
//! Input: critters and a [`Task`]. Output: a [`Group`] that goes somewhere together, or for each
//! critter an [`Order`] in its [`OrderQueue`]: instead of all it has, or after that. What becomes
//! of them is noted in [`reports`](crate::reports).

use bevy::{
    ecs::{query::QueryData, system::SystemParam},
    prelude::*,
};
use bevy_tilepath::{nav::formation::assign_slots, prelude::*};

use crate::{
    kinds::{Kind, SHOT},
    reports::{Notice, Tally},
    task::{Drill, Task},
    units::{Unit, cell_of},
};

/// How near critters follow, in cells.
const FOLLOWING: u16 = 2;
/// How long a pause in a line of orders is, in ticks.
const PAUSE: u32 = 128;
/// How long orders that find no way are tried again: about seven seconds.
const PATIENCE: Retry = Retry { after: 64, longest: 256, most: 3 };

#[derive(QueryData)]
#[query_data(mutable)]
struct Ordered {
    unit: &'static Unit,
    state: &'static CritterState,
    transform: &'static Transform,
    place: Option<&'static GroupSlot>,
    queue: &'static mut OrderQueue,
}

/// A critter that is given an order.
#[derive(Clone, Copy, Debug)]
struct Recruit {
    entity: Entity,
    unit: Unit,
    /// Where it sets out.
    from: Cell,
}

impl Recruit {
    const fn profile(&self) -> ProfileId {
        self.unit.kind.profile()
    }

    fn request(&self, to: Cell) -> PathRequest {
        PathRequest::to(to).reach(Reach::Nearest)
    }
}

/// What a group puts on its members.
type GroupOrders = (PathRequest, GroupSlot, SpeedLimit);

/// Gives orders.
#[derive(SystemParam)]
pub struct Dispatcher<'w, 's> {
    /// How groups go from now on.
    pub drill: ResMut<'w, Drill>,
    commands: Commands<'w, 's>,
    grids: Res<'w, NavGrids>,
    tally: ResMut<'w, Tally>,
    units: Query<'w, 's, Ordered>,
}

impl Dispatcher<'_, '_> {
    /// Gives critters an order: at once, or (`queued`) after all that they were told before.
    pub fn give(&mut self, units: &[Entity], task: Task, queued: bool) {
        let squad = self.line_up(units, task, queued);
        self.tally.orders += squad.len() as u64;
        self.tally.by_task[task.index()] += squad.len() as u64;
        match task {
            Task::Move(goal) if queued => self.spread(&squad, goal, true, |there, _| there.into()),
            Task::Move(goal) => self.march(&squad, goal),
            Task::Patrol(goal) => self.spread(&squad, goal, queued, |there, here| Order::Patrol {
                stops: vec![there, here],
                mode: PatrolMode::ThereAndBack,
            }),
            Task::Follow(friend) => self
                .each(&squad, queued, |_| patient(PathRequest::follow(friend).within(FOLLOWING))),
            Task::Attack(target) => self.each(&squad, queued, |kind| {
                patient(PathRequest::follow(target).in_sight(kind.range(), SHOT))
            }),
            Task::Visit(building) => {
                self.each(&squad, queued, |_| patient(PathRequest::to(building).beside()));
            }
            Task::Hold if queued => self.each(&squad, true, |_| Order::Hold { ticks: PAUSE }),
            Task::Hold => self.each(&squad, false, |_| Order::HoldGround),
        }
    }

    /// Stops critters where they are; one between two cells goes on to the next.
    pub fn stop(&mut self, units: &[Entity]) {
        for &entity in units {
            if let Ok(mut unit) = self.units.get_mut(entity) {
                unit.queue.stop();
                self.commands.entity(entity).remove::<GroupOrders>();
            }
        }
    }

    /// Those who are meant, by number: nothing depends on the order in which they were selected.
    fn line_up(&self, units: &[Entity], task: Task, queued: bool) -> Vec<Recruit> {
        let Some(frame) = self.grids.frame(GridId::default()) else {
            return Vec::new(); // the tilemap is read in the first tick
        };
        let recruit = |&entity: &Entity| {
            let one = self.units.get(entity).ok().filter(|_| task != Task::Follow(entity))?;
            let led_to = last_stop(one.queue).or(one.place.map(|place| place.cell));
            let here = || cell_of(one.unit.kind, one.state, one.transform, frame);
            let from = led_to.filter(|_| queued).or_else(here)?;
            Some(Recruit { entity, unit: *one.unit, from })
        };
        let mut squad: Vec<_> = units.iter().filter_map(recruit).collect();
        squad.sort_unstable_by_key(|one| one.unit.number);
        squad
    }

    /// Sends a squad off as a group.
    fn march(&mut self, squad: &[Recruit], goal: Cell) {
        if squad.is_empty() {
            return;
        }
        for one in squad {
            if let Ok(mut unit) = self.units.get_mut(one.entity) {
                unit.queue.stop();
            }
        }
        let is_open = self.grids.get(GridId::default()).is_some_and(|grid| {
            squad.iter().any(|one| grid.can_reach(one.profile(), one.from, goal))
        });
        if !is_open {
            let text = "goal out of reach: going as near as possible".into();
            self.commands.trigger(Notice { goal: Some(goal), at: None, text });
        }
        let member = |one: &Recruit| GroupMember::new(one.entity).rank(one.unit.kind.rank());
        let mut group = Group::to(goal, squad.iter().map(member))
            .formation(self.drill.formation())
            .request(PathRequest::to(goal).reach(Reach::Nearest));
        group.keeps_together = self.drill.keeps_together;
        self.commands.spawn(group);
    }

    /// Gives each of a squad an order of its own to a place near the goal, and back from there.
    fn spread(
        &mut self,
        squad: &[Recruit],
        goal: Cell,
        queued: bool,
        order: impl Fn(PathRequest, PathRequest) -> Order,
    ) {
        let Some(grid) = self.grids.get(GridId::default()) else {
            return;
        };
        let unit = |one: &Recruit| {
            GroupUnit::new(one.from).profile(one.profile()).rank(one.unit.kind.rank())
        };
        let units: Vec<_> = squad.iter().map(unit).collect();
        let group = GroupOrder::to(goal).formation(self.drill.formation()).resolve_facing(&units);
        for (one, place) in squad.iter().zip(assign_slots(grid, &units, &group)) {
            match place {
                Ok(cell) => {
                    let there = one.request(cell).rally(goal); // one search for all
                    self.assign(one.entity, order(there, one.request(one.from)), queued);
                }
                Err(reason) => {
                    let entity = one.entity;
                    self.commands.trigger(PathFailed { entity, reason });
                }
            }
        }
    }

    /// Gives each of a squad an order that depends on its kind.
    fn each(&mut self, squad: &[Recruit], queued: bool, order: impl Fn(Kind) -> Order) {
        for one in squad {
            self.assign(one.entity, order(one.unit.kind), queued);
        }
    }

    fn assign(&mut self, entity: Entity, order: Order, queued: bool) {
        let Ok(mut unit) = self.units.get_mut(entity) else {
            return;
        };
        if queued {
            unit.queue.append(order);
        } else {
            unit.queue.replace(order);
            // What a group has sent it on would come first.
            self.commands.entity(entity).remove::<GroupOrders>();
        }
    }
}

/// An order to carry out a request, with some patience.
fn patient(request: PathRequest) -> Order {
    request.retry(PATIENCE).into()
}

/// Where a line of orders ends, if that is a cell.
fn last_stop(queue: &OrderQueue) -> Option<Cell> {
    let (_, order) = queue.waiting().last().or_else(|| queue.current())?;
    match requests(order).first()?.target {
        Target::Cell(cell) => Some(cell),
        _ => None,
    }
}

/// The requests that an order consists of.
pub fn requests(order: &Order) -> &[PathRequest] {
    match order {
        Order::Go(request) => std::slice::from_ref(request),
        Order::Patrol { stops, .. } => stops,
        Order::Hold { .. } | Order::HoldGround => &[],
    }
}
