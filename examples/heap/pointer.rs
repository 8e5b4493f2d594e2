//! The pointer: which cell or slot it is over, and so which node lights up everywhere.
//!
//! Input: the window's cursor. Output: [`Pointer`] and [`Hover`].

use bevy::{prelude::*, window::PrimaryWindow};
use bevy_tilepath::prelude::Cell;

use crate::{display::ViewSystems, playback::Playback, stage::Stage, story::Story};

/// Looks where the pointer is.
pub struct PointerPlugin;

impl Plugin for PointerPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Pointer>()
            .init_resource::<Hover>()
            .add_systems(Update, find.in_set(ViewSystems::Point))
            .add_systems(Update, hover.after(ViewSystems::Play).before(ViewSystems::Show));
    }
}

/// Where the pointer is on the stage; `None` outside of the window.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq)]
pub struct Pointer(pub Option<Vec2>);

/// The cell that is meant, be it on the map, in the tree or in the array.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hover(pub Option<Cell>);

fn find(
    window: Single<&Window, With<PrimaryWindow>>,
    scale: Res<UiScale>,
    mut pointer: ResMut<Pointer>,
) {
    pointer.set_if_neq(Pointer(window.cursor_position().map(|place| place / scale.0)));
}

fn hover(
    pointer: Res<Pointer>,
    stage: Res<Stage>,
    story: Option<Res<Story>>,
    playback: Res<Playback>,
    mut hover: ResMut<Hover>,
) {
    let cell = pointer.0.zip(story).and_then(|(place, story)| {
        let heap = &story.moment(playback.at).heap;
        let in_heap = || stage.slot_at(place, heap.len()).map(|slot| heap[slot].cell);
        stage.cell_at(place).or_else(in_heap)
    });
    hover.set_if_neq(Hover(cell));
}
