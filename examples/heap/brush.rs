//! The brush: start, goal, walls and mud, painted on the map with the mouse.
//!
//! Input: the pointer, the mouse buttons and the chosen [`Brush`]. Output: changed tiles, start
//! and goal. The grid follows from the tiles by itself.

use bevy::prelude::*;
use bevy_ecs_tilemap::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    board,
    display::ViewSystems,
    level::{Level, MUD, WALL},
    pointer::Pointer,
    stage::Stage,
};

/// What the left button paints.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Brush {
    Start,
    Goal,
    #[default]
    Wall,
    Mud,
    Ground,
}

/// Paints.
pub struct BrushPlugin;

impl Plugin for BrushPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Brush>().add_systems(Update, paint.in_set(ViewSystems::Act));
    }
}

type Tile = (
    &'static TilePos,
    &'static mut TileTerrain,
    &'static mut TileTextureIndex,
    &'static mut TileColor,
);

fn paint(
    pointer: Res<Pointer>,
    stage: Res<Stage>,
    buttons: Res<ButtonInput<MouseButton>>,
    brush: Res<Brush>,
    mut level: ResMut<Level>,
    mut tiles: Query<Tile>,
    mut stroke: Local<Option<Brush>>,
) {
    let cell = pointer.0.and_then(|place| stage.cell_at(place));
    if buttons.just_pressed(MouseButton::Left) {
        *stroke = cell.map(|cell| begin(cell, &level, *brush));
    } else if buttons.just_pressed(MouseButton::Right) {
        *stroke = cell.map(|_| Brush::Ground);
    }
    if let (Some(cell), Some(brush)) = (cell, *stroke)
        && let Some((_, mut terrain, mut texture, mut color)) = tiles
            .iter_mut()
            .find(|(place, ..)| (place.x as i32, place.y as i32) == (cell.x, cell.y))
        && let Some(painted) = apply(brush, cell, terrain.0, &mut level)
    {
        terrain.0 = painted;
        (*texture, *color) = board::look(painted, cell);
    }
    if !buttons.any_pressed([MouseButton::Left, MouseButton::Right]) {
        *stroke = None;
    }
}

/// Start and goal can be dragged, whichever brush is chosen.
fn begin(cell: Cell, level: &Level, brush: Brush) -> Brush {
    match cell {
        cell if cell == level.start => Brush::Start,
        cell if cell == level.goal => Brush::Goal,
        _ => brush,
    }
}

/// Moves start or goal, which stay off walls and each other; or says what terrain the cell should
/// have instead of `terrain`.
fn apply(brush: Brush, cell: Cell, terrain: TerrainId, level: &mut Level) -> Option<TerrainId> {
    let is_taken = cell == level.start || cell == level.goal;
    let painted = match brush {
        Brush::Start | Brush::Goal if is_taken || terrain == WALL => return None,
        Brush::Start => {
            level.start = cell;
            return None;
        }
        Brush::Goal => {
            level.goal = cell;
            return None;
        }
        Brush::Wall if is_taken => return None,
        Brush::Wall => WALL,
        Brush::Mud => MUD,
        Brush::Ground => TerrainId::GROUND,
    };
    (painted != terrain).then_some(painted)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
mod tests {
    use super::*;

    #[test]
    fn start_and_goal_are_never_buried_or_on_one_cell() {
        let mut level = Level::read("S.G").unwrap();
        let (start, middle, goal) = (level.start, Cell::new(1, 0), level.goal);
        let mut paint = |brush, cell, terrain| {
            let painted = apply(brush, cell, terrain, &mut level);
            (painted, level.start, level.goal)
        };
        let ground = TerrainId::GROUND;
        assert_eq!(paint(Brush::Wall, start, ground), (None, start, goal));
        assert_eq!(paint(Brush::Start, goal, ground), (None, start, goal));
        assert_eq!(paint(Brush::Goal, start, ground), (None, start, goal));
        assert_eq!(paint(Brush::Goal, middle, WALL), (None, start, goal));
        assert_eq!(paint(Brush::Wall, middle, ground), (Some(WALL), start, goal));
        assert_eq!(paint(Brush::Ground, middle, WALL), (Some(ground), start, goal));
        assert_eq!(paint(Brush::Start, middle, ground), (None, middle, goal));
    }

    #[test]
    fn start_and_goal_can_be_dragged_with_any_brush() {
        let level = Level::read("S.G").unwrap();
        assert_eq!(begin(level.start, &level, Brush::Wall), Brush::Start);
        assert_eq!(begin(level.goal, &level, Brush::Mud), Brush::Goal);
        assert_eq!(begin(Cell::new(1, 0), &level, Brush::Mud), Brush::Mud);
    }
}
