//! The components that units carry: data only, no systems.
//!
//! [`NavAgent`] says what a unit is, [`Critter`] lets the plugin move it, and [`PathStatus`], [`NavPath`] and
//! [`RequestState`] hold the outcome of its request.

mod agent;
mod any_angle;
mod critter;
mod drawing;
mod speed;
mod state;
mod status;
mod steering;
mod writes;

pub(crate) use self::steering::SteeringProgress;
pub use self::{
    agent::NavAgent,
    any_angle::AnyAnglePath,
    critter::{Critter, CrowdTeam, Facing, Unpushable},
    speed::{GroupSpeedLimit, SpeedFactor, SpeedLimit},
    state::CritterState,
    status::{
        Arrived, CancelReason, NavPath, PathCanceled, PathFailed, PathFound, PathInvalidated,
        PathStatus, RequestState,
    },
    steering::{DesiredVelocity, PathSteering},
};
pub(crate) use self::{
    any_angle::{point_on, points_from},
    critter::work,
    speed::SpeedChanges,
    state::{Drawing, PathSync},
    status::Journey,
    writes::TransformWrites,
};
