//! The resources in a snapshot: all of the plugin's, except how critters are drawn and what was read from maps.

use bevy::{
    ecs::entity::{EntityMapper, MapEntities},
    prelude::*,
};

use crate::{
    blocker::PlacedBlockers,
    crossings::LinkTraffic,
    crowds::{CritterChanges, Crowds},
    edges::PlacedEdges,
    flow::{FlowFields, LastRoute},
    grids::{KnownGrids, NavGrids},
    group::GroupNumbers,
    links::NavLinks,
    movement::{DrawnFrames, GridsSeen, MoverChanges},
    orders::OrderQueues,
    request::{OpenRequests, RequestInbox},
    scheduler::{PathCounters, Pathfinder, TilePathSettings},
};

/// Declares the resources: those that are copied in a way of their own, plain ones, and those that name entities.
macro_rules! resources {
    (
        replicas: $($replica:ident: $replica_type:ty),*;
        plain: $($plain:ident: $plain_type:ty),*;
        with_entities: $($mapped:ident: $mapped_type:ty),*;
    ) => {
        #[derive(Debug)]
        #[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
        pub(super) struct Resources {
            $(pub(super) $replica: $replica_type,)*
            $($plain: $plain_type,)*
            $($mapped: $mapped_type,)*
        }

        impl Clone for Resources {
            fn clone(&self) -> Self {
                Self {
                    $($replica: self.$replica.replica(),)*
                    $($plain: self.$plain.clone(),)*
                    $($mapped: self.$mapped.clone(),)*
                }
            }
        }

        impl Resources {
            /// Copies them; `None` if one is missing.
            pub(super) fn read(world: &World) -> Option<Self> {
                let mut all = Self {
                    $($replica: world.get_resource::<$replica_type>()?.replica(),)*
                    $($plain: world.get_resource::<$plain_type>()?.clone(),)*
                    $($mapped: world.get_resource::<$mapped_type>()?.clone(),)*
                };
                // Held by the world, fields would stay there as long as the snapshot exists.
                all.links.adopt_fields(&all.flows);
                all.known_grids.note(&all.grids);
                Some(all)
            }

            pub(super) fn are_in(world: &World) -> bool {
                $(world.contains_resource::<$replica_type>())&&*
                    $(&& world.contains_resource::<$plain_type>())*
                    $(&& world.contains_resource::<$mapped_type>())*
            }

            pub(super) fn map_entities(&mut self, mapper: &mut impl EntityMapper) {
                self.grids.tiles_version = 0; // the tiles of another world
                $(self.$mapped.map_entities(mapper);)*
            }

            /// Replaces those of the world.
            pub(super) fn write(mut self, world: &mut World) {
                self.prepare(world);
                $(*world.resource_mut::<$replica_type>() = self.$replica;)*
                $(*world.resource_mut::<$plain_type>() = self.$plain;)*
                $(*world.resource_mut::<$mapped_type>() = self.$mapped;)*
            }
        }
    };
}

resources! {
    replicas: grids: NavGrids, flows: FlowFields;
    plain: known_grids: KnownGrids, last_route: LastRoute, settings: TilePathSettings, counters: PathCounters, grids_seen: GridsSeen, frames: DrawnFrames, groups: GroupNumbers;
    with_entities: pathfinder: Pathfinder, inbox: RequestInbox, open: OpenRequests, blockers: PlacedBlockers, edges: PlacedEdges,
        links: NavLinks, traffic: LinkTraffic, crowds: Crowds, critters: CritterChanges, queues: OrderQueues, movers: MoverChanges;
}

impl Resources {
    /// Fits them into a world that has others.
    fn prepare(&mut self, world: &World) {
        self.known_grids.recognize(&mut self.grids);
        self.flows.keep_handles(world.resource());
        self.links.adopt_fields(&self.flows);
        self.blockers.check_all();
        self.edges.check_all();
        self.links.check_all();
    }
}
