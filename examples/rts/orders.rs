//! Turns the tasks of the player and the script into orders of the library.
//!
//! Input: critters and a [`Task`]. Output: a [`Group`] that moves together, or an [`Order`] in each
//! critter's [`OrderQueue`], which replaces the queue or is appended to it.
//! [`reports`](crate::reports) counts their results.

use bevy::{
    ecs::{query::QueryData, system::SystemParam},
    prelude::*,
};
use bevy_tilepath::{nav::formation::assign_slots, prelude::*};

use crate::{
    kinds::{Kind, SHOT},
    reports::{NoSlot, Notice, Tally},
    task::{GroupSettings, Task},
    units::{Unit, cell_of},
};

/// Distance at which critters follow, in cells.
const FOLLOWING: u16 = 2;
/// Length of a queued pause, in ticks.
const PAUSE: u32 = 128;
/// Retries of orders that find no path: about seven seconds in all.
const RETRY: Retry = Retry { after: 64, longest: 256, most: 3 };

#[derive(QueryData)]
#[query_data(mutable)]
struct UnitQuery {
    unit: &'static Unit,
    state: &'static CritterState,
    transform: &'static Transform,
    slot: Option<&'static GroupSlot>,
    queue: &'static mut OrderQueue,
}

/// A critter that receives an order.
#[derive(Clone, Copy, Debug)]
struct Receiver {
    entity: Entity,
    unit: Unit,
    /// Start cell of the order.
    from: Cell,
}

impl Receiver {
    const fn profile(&self) -> ProfileId {
        self.unit.kind.profile()
    }

    fn request(&self, to: Cell) -> PathRequest {
        PathRequest::to(to).reach(Reach::Nearest)
    }
}

/// Without these a unit has no order, and belongs to no group.
type GroupOrder = (PathRequest, GroupSlot);

/// Gives orders.
#[derive(SystemParam)]
pub struct Dispatcher<'w, 's> {
    /// Settings of the groups spawned from now on.
    pub group_settings: ResMut<'w, GroupSettings>,
    commands: Commands<'w, 's>,
    grids: Res<'w, NavGrids>,
    tally: ResMut<'w, Tally>,
    units: Query<'w, 's, UnitQuery>,
}

impl Dispatcher<'_, '_> {
    /// Gives critters an order: it replaces their orders, or (`queued`) is appended to them.
    pub fn give(&mut self, units: &[Entity], task: Task, queued: bool) {
        let squad = self.receivers(units, task, queued);
        self.tally.orders += squad.len() as u64;
        self.tally.by_task[task.index()] += squad.len() as u64;
        match task {
            Task::Move(goal) if queued => {
                self.order_to_slots(&squad, goal, true, |there, _| there.into());
            }
            Task::Move(goal) => self.move_as_group(&squad, goal),
            Task::Patrol(goal) => {
                self.order_to_slots(&squad, goal, queued, |there, here| Order::Patrol {
                    stops: vec![there, here],
                    mode: PatrolMode::ThereAndBack,
                });
            }
            Task::Follow(friend) => self.order_each(&squad, queued, |_| {
                with_retry(PathRequest::follow(friend).within(FOLLOWING))
            }),
            Task::Attack(target) => self.order_each(&squad, queued, |kind| {
                with_retry(PathRequest::follow(target).in_sight(kind.range(), SHOT))
            }),
            Task::Visit(building) => {
                self.order_each(&squad, queued, |_| with_retry(PathRequest::to(building).beside()));
            }
            Task::Hold if queued => {
                self.order_each(&squad, true, |_| Order::Wait { ticks: PAUSE });
            }
            Task::Hold => self.order_each(&squad, false, |_| Order::Stay),
        }
    }

    /// Stops critters; a critter between two cells continues to the next cell.
    pub fn stop(&mut self, units: &[Entity]) {
        for &entity in units {
            if let Ok(mut unit) = self.units.get_mut(entity) {
                unit.queue.stop();
                self.commands.entity(entity).remove::<GroupOrder>();
            }
        }
    }

    /// Returns the critters that receive the order, sorted by number, so that nothing depends on
    /// the order of selection.
    fn receivers(&self, units: &[Entity], task: Task, queued: bool) -> Vec<Receiver> {
        let Some(frame) = self.grids.frame(GridId::default()) else {
            return Vec::new(); // the tilemap is read in the first tick
        };
        let receiver = |&entity: &Entity| {
            let item = self.units.get(entity).ok().filter(|_| task != Task::Follow(entity))?;
            let queue_end = final_cell(item.queue).or(item.slot.map(|slot| slot.cell));
            let here = || cell_of(item.unit.kind, item.state, item.transform, frame);
            let from = queue_end.filter(|_| queued).or_else(here)?;
            Some(Receiver { entity, unit: *item.unit, from })
        };
        let mut squad: Vec<_> = units.iter().filter_map(receiver).collect();
        squad.sort_unstable_by_key(|receiver| receiver.unit.number);
        squad
    }

    /// Moves a squad as a group.
    fn move_as_group(&mut self, squad: &[Receiver], goal: Cell) {
        if squad.is_empty() {
            return;
        }
        for receiver in squad {
            if let Ok(mut unit) = self.units.get_mut(receiver.entity) {
                unit.queue.stop();
            }
        }
        let is_open = self.grids.get(GridId::default()).is_some_and(|grid| {
            squad.iter().any(|unit| grid.can_reach(unit.profile(), unit.from, goal))
        });
        if !is_open {
            let text = "goal unreachable: moving as close as possible".into();
            self.commands.trigger(Notice { goal: Some(goal), at: None, text });
        }
        let member =
            |receiver: &Receiver| GroupMember::new(receiver.entity).rank(receiver.unit.kind.rank());
        let mut group = Group::to(goal, squad.iter().map(member))
            .formation(self.group_settings.formation())
            .request(PathRequest::to(goal).reach(Reach::Nearest));
        group.keeps_together = self.group_settings.keeps_together;
        self.commands.spawn(group);
    }

    /// Gives each unit of a squad its own order to a slot near the goal. `order` gets the requests
    /// to the slot and back.
    fn order_to_slots(
        &mut self,
        squad: &[Receiver],
        goal: Cell,
        queued: bool,
        order: impl Fn(PathRequest, PathRequest) -> Order,
    ) {
        let Some(grid) = self.grids.get(GridId::default()) else {
            return;
        };
        let unit = |receiver: &Receiver| {
            let rank = receiver.unit.kind.rank();
            FormationUnit::new(receiver.from).profile(receiver.profile()).rank(rank)
        };
        let units: Vec<_> = squad.iter().map(unit).collect();
        let group = FormationSpec::to(goal)
            .formation(self.group_settings.formation())
            .resolve_facing(grid, &units);
        for (receiver, slot) in squad.iter().zip(assign_slots(grid, &units, &group)) {
            match slot {
                Ok(cell) => {
                    let there = receiver.request(cell).rally(goal); // one search for all
                    let back = receiver.request(receiver.from);
                    self.assign(receiver.entity, order(there, back), queued);
                }
                Err(reason) => self.commands.trigger(NoSlot { unit: receiver.entity, reason }),
            }
        }
    }

    /// Gives each unit of a squad an order that depends on its kind.
    fn order_each(&mut self, squad: &[Receiver], queued: bool, order: impl Fn(Kind) -> Order) {
        for receiver in squad {
            self.assign(receiver.entity, order(receiver.unit.kind), queued);
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
            // An order of its group would take precedence.
            self.commands.entity(entity).remove::<GroupOrder>();
        }
    }
}

/// Returns an order for a request, with retries.
fn with_retry(request: PathRequest) -> Order {
    request.retry(RETRY).into()
}

/// Returns the final goal of an order queue, if it is a cell.
fn final_cell(queue: &OrderQueue) -> Option<Cell> {
    let (_, order) = queue.waiting().last().or_else(|| queue.current())?;
    match requests(order).first()?.target {
        Target::Cell(cell) => Some(cell),
        _ => None,
    }
}

/// Returns the requests of an order.
pub fn requests(order: &Order) -> &[PathRequest] {
    match order {
        Order::Go(request) => std::slice::from_ref(request),
        Order::Patrol { stops, .. } => stops,
        Order::Wait { .. } | Order::Stay => &[],
    }
}
