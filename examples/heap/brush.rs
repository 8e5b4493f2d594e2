//! Painting start, goal, walls and mud on the map with the mouse.
//!
//! Input: the pointer, the mouse buttons and the chosen [`Brush`]. Output: changed tiles, start and
//! goal. The plugin updates the grid from the tiles. A stroke has no gaps at any pointer speed.

use bevy::prelude::*;
use bevy_ecs_tilemap::prelude::*;
use bevy_tilepath::prelude::*;

use crate::{
    board,
    display::ViewSystems,
    layout::Layout,
    level::{Level, MUD, WALL},
    line::line,
    pointer::Pointer,
};

/// The kind of cell that the left button paints.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Brush {
    Start,
    Goal,
    #[default]
    Wall,
    Mud,
    Floor,
}

/// Adds painting.
pub struct BrushPlugin;

impl Plugin for BrushPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Brush>().add_systems(Update, paint.in_set(ViewSystems::Act));
    }
}

/// The stroke from the press of a button to its release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stroke {
    brush: Brush,
    /// The last painted cell; `None` at the start, and off the map.
    last: Option<Cell>,
}

type Tile = (
    &'static TilePos,
    &'static mut TileTerrain,
    &'static mut TileTextureIndex,
    &'static mut TileColor,
);

fn paint(
    pointer: Res<Pointer>,
    layout: Res<Layout>,
    buttons: Res<ButtonInput<MouseButton>>,
    brush: Res<Brush>,
    mut level: ResMut<Level>,
    mut tiles: Query<Tile>,
    mut stroke: Local<Option<Stroke>>,
) {
    let cell = pointer.0.and_then(|position| layout.cell_at(position));
    let is_click = buttons.any_just_pressed([MouseButton::Left, MouseButton::Right]);
    if buttons.just_pressed(MouseButton::Left) {
        *stroke = cell.map(|cell| Stroke { brush: begin(cell, &level, *brush), last: None });
    } else if buttons.just_pressed(MouseButton::Right) {
        *stroke = cell.map(|_| Stroke { brush: Brush::Floor, last: None });
    }
    if let Some(Stroke { brush, last }) = &mut *stroke {
        for cell in cell.into_iter().flat_map(|cell| line(last.unwrap_or(cell), cell)) {
            let tile = tiles
                .iter_mut()
                .find(|(tile, ..)| (tile.x as i32, tile.y as i32) == (cell.x, cell.y));
            if let Some((_, mut terrain, mut texture, mut color)) = tile
                && let Some(painted) = apply(*brush, cell, terrain.0, &mut level, is_click)
            {
                terrain.0 = painted;
                (*texture, *color) = board::appearance(painted, cell);
            }
        }
        *last = cell;
    }
    if !buttons.any_pressed([MouseButton::Left, MouseButton::Right]) {
        *stroke = None;
    }
}

/// Returns the brush of a stroke that begins on a cell: start and goal can be dragged with any
/// brush.
fn begin(cell: Cell, level: &Level, brush: Brush) -> Brush {
    match cell {
        cell if cell == level.start => Brush::Start,
        cell if cell == level.goal => Brush::Goal,
        _ => brush,
    }
}

/// Moves start or goal. Returns the cell's new terrain if it differs from `terrain`. Start and goal
/// cannot be on the same cell or on a wall: a click removes the wall, a drag passes over it.
fn apply(
    brush: Brush,
    cell: Cell,
    terrain: TerrainId,
    level: &mut Level,
    is_click: bool,
) -> Option<TerrainId> {
    let is_taken = cell == level.start || cell == level.goal;
    let is_wall = terrain == WALL;
    let painted = match brush {
        Brush::Start | Brush::Goal | Brush::Wall if is_taken => return None,
        Brush::Start | Brush::Goal if is_wall && !is_click => return None,
        Brush::Start | Brush::Goal => {
            let end = if brush == Brush::Start { &mut level.start } else { &mut level.goal };
            *end = cell;
            if is_wall { TerrainId::GROUND } else { terrain }
        }
        Brush::Wall => WALL,
        Brush::Mud => MUD,
        Brush::Floor => TerrainId::GROUND,
    };
    (painted != terrain).then_some(painted)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
mod tests {
    use super::*;

    #[test]
    fn start_and_goal_are_never_on_a_wall_or_on_one_cell() {
        let mut level = Level::read("S.G").unwrap();
        let (start, middle, goal) = (level.start, Cell::new(1, 0), level.goal);
        let mut paint = |brush, cell, terrain| {
            let painted = apply(brush, cell, terrain, &mut level, false);
            (painted, level.start, level.goal)
        };
        let ground = TerrainId::GROUND;
        assert_eq!(paint(Brush::Wall, start, ground), (None, start, goal));
        assert_eq!(paint(Brush::Start, goal, ground), (None, start, goal));
        assert_eq!(paint(Brush::Goal, start, ground), (None, start, goal));
        assert_eq!(paint(Brush::Goal, middle, WALL), (None, start, goal));
        assert_eq!(paint(Brush::Wall, middle, ground), (Some(WALL), start, goal));
        assert_eq!(paint(Brush::Floor, middle, WALL), (Some(ground), start, goal));
        assert_eq!(paint(Brush::Start, middle, ground), (None, middle, goal));
    }

    #[test]
    fn a_click_replaces_a_wall_with_start_or_goal() {
        let mut level = Level::read("S.G").unwrap();
        let (start, middle) = (level.start, Cell::new(1, 0));
        let painted = apply(Brush::Goal, middle, WALL, &mut level, true);
        assert_eq!((painted, level.goal), (Some(TerrainId::GROUND), middle));
        let painted = apply(Brush::Goal, start, TerrainId::GROUND, &mut level, true);
        assert_eq!((painted, level.goal), (None, middle));
    }

    #[test]
    fn start_and_goal_can_be_dragged_with_any_brush() {
        let level = Level::read("S.G").unwrap();
        assert_eq!(begin(level.start, &level, Brush::Wall), Brush::Start);
        assert_eq!(begin(level.goal, &level, Brush::Mud), Brush::Goal);
        assert_eq!(begin(Cell::new(1, 0), &level, Brush::Mud), Brush::Mud);
    }

    #[test]
    fn a_fast_stroke_has_no_gaps_and_ends_at_the_border() {
        let level = Level::read("S....G\n......").unwrap();
        let mut app = App::new();
        app.insert_resource(Layout::new(level.size, 0))
            .insert_resource(level.clone())
            .init_resource::<ButtonInput<MouseButton>>()
            .init_resource::<Pointer>()
            .init_resource::<Brush>()
            .add_systems(Update, paint);
        for cell in level.cells() {
            let (texture, color) = board::appearance(TerrainId::GROUND, cell);
            let position = TilePos::new(cell.x as u32, cell.y as u32);
            app.world_mut().spawn((position, TileTerrain(TerrainId::GROUND), texture, color));
        }
        let mut buttons = app.world_mut().resource_mut::<ButtonInput<MouseButton>>();
        buttons.press(MouseButton::Left);
        let mut walls_after = |x: Option<i32>| {
            let layout = app.world().resource::<Layout>();
            let position = x.map(|x| layout.cell(Cell::new(x, 0)).center());
            app.world_mut().resource_mut::<Pointer>().0 = position;
            app.update();
            app.world_mut().resource_mut::<ButtonInput<MouseButton>>().clear();
            let mut tiles = app.world_mut().query::<&TileTerrain>();
            tiles.iter(app.world()).filter(|terrain| terrain.0 == WALL).count()
        };
        assert_eq!(walls_after(Some(0)), 1);
        assert_eq!(walls_after(Some(3)), 4);
        assert_eq!(walls_after(None), 4);
        assert_eq!(walls_after(Some(5)), 5);
    }
}
