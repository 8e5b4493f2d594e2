//! The components of units that the plugin steers, and something else moves.

use bevy::prelude::*;

use super::{AnyAnglePath, NavAgent, NavPath, PathStatus, RequestState};

/// Steers a unit along its paths without moving it: for units that physics, a character controller or code of the game moves.
/// In every tick of [`Move`](crate::prelude::TilePathSystems::Move) its [`DesiredVelocity`] says where to go.
///
/// While it is steered its status is [`Walking`](PathStatus::Walking), or [`Stuck`](PathStatus::Stuck). A unit with a
/// [`Critter`](crate::prelude::Critter) is not steered: insert or remove the `Critter`, or this component, at any time to change who
/// moves the unit. Its request goes on, and so do groups and order queues. Steered units do not collide with critters.
///
/// - It arrives ([`Arrived`](crate::prelude::Arrived)) when the end of its path is within
///   [`arrival_radius`](Self::arrival_radius).
/// - If something is in its way, so that it comes no nearer to the end of its path, it tries to pass on one side, then on the other.
///   After 512 ticks (a slow unit: as long as it takes for nine cells) it is [`Stuck`](PathStatus::Stuck), and goes on trying. To
///   hold a unit, give it a [`SpeedLimit`](crate::prelude::SpeedLimit) of 0.
/// - If it was pushed so far off its path that it does not get back, it gets another path
///   ([`PathInvalidated`](crate::prelude::PathInvalidated)), even from inside an impassable cell.
/// - Its paths are pulled straight ([`AnyAnglePath`]; without that component the unit stands still); on hexagons it keeps to the
///   steps. It cuts no corner over costlier ground than the path has there.
/// - At a link ([`PathKind::ToLink`](crate::prelude::PathKind::ToLink)) it stops, at most 0.45 cells from the middle of a cell of the
///   link: the game takes it across.
///
/// ```
/// use bevy::{prelude::*, time::TimeUpdateStrategy};
/// use bevy_tilepath::prelude::*;
/// fn walk(time: Res<Time>, mut units: Query<(&DesiredVelocity, &mut Transform)>) {
///     for (desired, mut transform) in &mut units {
///         transform.translation += desired.extend(0.0) * time.delta_secs();
///     }
/// }
/// let mut app = App::new();
/// app.add_plugins((MinimalPlugins, TilePathPlugin::default()))
///     .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
///     .add_systems(FixedUpdate, walk.after(TilePathSystems::Move));
/// let level = NavGrid::new(40, 20, TerrainId::GROUND)?;
/// app.world_mut().resource_mut::<NavGrids>().insert(GridId::default(), level, GridFrame::default());
/// let order = PathRequest::to(Cell::new(9, 5));
/// let unit = app.world_mut().spawn((PathSteering::new(8.0), order)).id();
/// while !matches!(app.world().get(unit), Some(PathStatus::Arrived(_))) {
///     app.update();
/// }
/// # Ok::<(), GridError>(())
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[require(AnyAnglePath, DesiredVelocity, NavAgent, Transform, RequestState, NavPath, PathStatus)]
#[must_use]
pub struct PathSteering {
    /// Cells per second over plain terrain (terrain of cost 16); slower on costlier terrain in proportion. With zero, a negative number or
    /// NaN it stands still. Default 4. A [`SpeedFactor`](crate::prelude::SpeedFactor)
    /// and a [`SpeedLimit`](crate::prelude::SpeedLimit) count, too.
    pub speed: f32,
    /// A unit within this distance of the end of its path, in cells, has arrived, if no wall is in between. Default 0.3. A body
    /// that stops less exactly needs more, and so do many units with one goal.
    pub arrival_radius: f32,
}

impl Default for PathSteering {
    fn default() -> Self {
        Self { speed: 4.0, arrival_radius: 0.3 }
    }
}

impl PathSteering {
    /// Steers at `speed` cells per second over plain terrain.
    pub fn new(speed: f32) -> Self {
        Self { speed, ..Self::default() }
    }

    /// Sets how near the end of its path it has to come, in cells.
    pub const fn arrival_radius(self, arrival_radius: f32) -> Self {
        Self { arrival_radius, ..self }
    }
}

/// Where a unit with [`PathSteering`] should go, in world units per second on the plane of the map: along its path at its speed,
/// slower in the last tick before the end; zero where it has nowhere to go. It is removed with the `PathSteering`. While the plugin is
/// paused it stays as it is. Read-only: the plugin writes it.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Deref, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Clone)]
#[component(clone_behavior = Ignore)]
pub struct DesiredVelocity {
    #[deref]
    pub(crate) velocity: Vec2,
    /// The step of its path that it has come to.
    pub(crate) step: u32,
    /// For how many ticks it has been off its path.
    pub(crate) ticks_off: u8,
    /// It has set out along its path.
    pub(crate) has_moved: bool,
    pub(crate) progress: SteeringProgress,
}

/// For how long a steered unit has come no nearer to the end of its path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SteeringProgress {
    /// The steps left of its path in the last tick; 0 if it has got another path since.
    pub(crate) left: f32,
    /// By how many steps it has come nearer since it began to count.
    pub(crate) gain: f32,
    /// Ticks since then, and how many cells it could have walked in these.
    pub(crate) ticks: u16,
    pub(crate) cells: f32,
    /// How often it has tried to pass, and for what part of the present time.
    pub(crate) tries: f32,
}

impl DesiredVelocity {
    /// It has another path, from its beginning on. What holds it may be the same.
    pub(crate) const fn restart(&mut self) {
        (self.step, self.ticks_off, self.has_moved) = (0, 0, false);
        self.progress.left = 0.0;
    }

    /// It has another order.
    pub(crate) fn begin(&mut self) {
        self.progress = SteeringProgress::default();
    }

    /// It has nowhere to go.
    pub(crate) const fn stop(&mut self) {
        self.velocity = Vec2::ZERO;
    }
}
