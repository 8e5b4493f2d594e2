//! The help panel: F1 shows and hides it.
//!
//! Input: F1. Output: a table of all controls in the middle of the screen.

use bevy::prelude::*;

use crate::{display::ViewSystems, hud, pointer::Panel};

const KEYS: &str = "\
left click, drag      select (shift adds)
double click          select all of that kind in view
Ctrl+A, Esc           select all, select none
Ctrl+1 .. Ctrl+9      set a control group
1 .. 9                select it (twice: center the view)

right click           move as a group, also on the minimap
  on a critter        follow it
  on a target         move into range and line of sight
  on a house          move next to it
P, then click         patrol between here and there
H, S                  hold, stop
shift + any of these  queue the order (shift + H: a pause)
F, K                  formation, keep together

B, X                  build, remove walls (hold and drag)
N                     spawn 25 critters at the cursor

arrows, screen edges  pan
middle drag, wheel    pan, zoom
click on the minimap  center the view there
Home                  back to the start

Space                 pause
- and +               slower, faster
F1, F2, F3, F4        help, paths, regions and landmarks, crowd
F12                   save a screenshot";

/// Adds the help panel.
pub struct HelpPlugin;

impl Plugin for HelpPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, spawn).add_systems(Update, toggle.in_set(ViewSystems::Act));
    }
}

#[derive(Component)]
struct Help;

fn spawn(mut commands: Commands) {
    let screen = Node {
        position_type: PositionType::Absolute,
        width: percent(100),
        height: percent(100),
        justify_content: JustifyContent::Center,
        align_items: AlignItems::Center,
        ..default()
    };
    commands.spawn((Help, screen, Visibility::Hidden)).with_children(|screen| {
        let panel = (hud::panel(Node::default()), Panel);
        screen.spawn(panel).with_child(hud::text(KEYS));
    });
}

fn toggle(keys: Res<ButtonInput<KeyCode>>, mut help: Single<&mut Visibility, With<Help>>) {
    if keys.just_pressed(KeyCode::F1) {
        **help = match **help {
            Visibility::Hidden => Visibility::Inherited,
            _ => Visibility::Hidden,
        };
    }
}
