//! What a unit is: the grid it moves on, and its movement profile.

use bevy::prelude::*;

use crate::nav::{GridId, ProfileId};

/// What kind of unit this is, and which grid it moves on.
///
/// Every unit has one: [`Critter`](crate::prelude::Critter) and [`PathRequest`](crate::prelude::PathRequest)
/// require it. Requests, groups and patrols plan for it unless they name another grid or profile, so a tank
/// needs its profile once, where it is spawned:
///
/// ```
/// use bevy::prelude::*;
/// use bevy_tilepath::prelude::*;
/// #[derive(Resource)]
/// struct Tank(ProfileId);
///
/// fn add_kinds_of_units(mut commands: Commands, mut grids: ResMut<NavGrids>) {
///     let tank = grids.add_profile(Profile::default().size(2)); // once, at startup
///     commands.insert_resource(Tank(tank));
/// }
///
/// fn build_tank(mut commands: Commands, tank: Res<Tank>) {
///     let agent = NavAgent::new(tank.0);
///     commands.spawn((Critter::new(3.0), agent, PathRequest::to(Cell::new(40, 12))));
/// }
/// # bevy::ecs::system::assert_is_system(add_kinds_of_units);
/// # bevy::ecs::system::assert_is_system(build_tank);
/// ```
///
/// It may be changed at any time. A unit under way gets a new path for its new grid and profile; one that
/// grows moves to a cell where it fits. A request that names a grid or a profile of its own keeps them: the
/// unit counts as that kind until its next request.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[reflect(Component, Debug, Default, PartialEq, Hash, Clone)]
#[must_use]
pub struct NavAgent {
    /// The grid it moves on. Default: [`GridId::default`].
    pub grid: GridId,
    /// Its movement profile: what it may enter, at what cost, and its size. Default: profile 0.
    pub profile: ProfileId,
}

impl NavAgent {
    /// A unit of this profile on the default grid.
    pub const fn new(profile: ProfileId) -> Self {
        Self { grid: GridId(0), profile }
    }

    /// The same on another grid.
    pub const fn on(self, grid: GridId) -> Self {
        Self { grid, ..self }
    }
}
