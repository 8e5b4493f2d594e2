//! The pointer: its position, and the hovered node.
//!
//! Input: the window's cursor. Output: [`Pointer`] and [`Hover`].

use bevy::{prelude::*, window::PrimaryWindow};
use bevy_tilepath::prelude::Cell;

use crate::{display::ViewSystems, layout::Layout, playback::Playback, timeline::Timeline};

/// Updates [`Pointer`] and [`Hover`].
pub struct PointerPlugin;

impl Plugin for PointerPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Pointer>()
            .init_resource::<Hover>()
            .add_systems(Update, find.in_set(ViewSystems::Point))
            .add_systems(Update, hover.after(ViewSystems::Play).before(ViewSystems::Show));
    }
}

/// The pointer's position in the layout; `None` outside the window.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq)]
pub struct Pointer(pub Option<Vec2>);

/// The cell of the hovered node, on the map, in the tree or in the array.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hover(pub Option<Cell>);

fn find(
    window: Single<&Window, With<PrimaryWindow>>,
    scale: Res<UiScale>,
    mut pointer: ResMut<Pointer>,
) {
    pointer.set_if_neq(Pointer(window.cursor_position().map(|position| position / scale.0)));
}

fn hover(
    pointer: Res<Pointer>,
    layout: Res<Layout>,
    timeline: Option<Res<Timeline>>,
    playback: Res<Playback>,
    mut hover: ResMut<Hover>,
) {
    let cell = pointer.0.zip(timeline).and_then(|(position, timeline)| {
        let heap = &timeline.moment(playback.at).heap;
        let in_heap = || layout.slot_at(position, heap.len()).map(|slot| heap[slot].cell);
        layout.cell_at(position).or_else(in_heap)
    });
    hover.set_if_neq(Hover(cell));
}
