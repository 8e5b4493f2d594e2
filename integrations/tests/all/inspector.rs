//! The inspector, without a window: what it shows, and what a click on it changes.

use bevy::prelude::*;
use bevy_inspector_egui::{
    DefaultInspectorConfigPlugin,
    egui::{self, Event, PointerButton, Pos2, Shape},
};
use bevy_tilepath::{diagnostics::TilePathDiagnosticsPlugin, prelude::*};
use tilepath_integrations::inspector::{Inspected, show_order, show_profiles, show_unit};

use crate::app::{headless, update_until};

/// An app with a unit, which the inspector shows.
fn app() -> (App, Entity) {
    let mut app = headless();
    app.add_plugins(DefaultInspectorConfigPlugin).init_resource::<Inspected>();
    let level = NavGrid::new(20, 10, TerrainId::GROUND).expect("a small grid");
    let mut grids = app.world_mut().resource_mut::<NavGrids>();
    grids.insert(GridId::default(), level, GridFrame::default());
    let unit = app.world_mut().spawn((Name::new("Ant"), Critter::new(4.0))).id();
    app.world_mut().resource_mut::<Inspected>().unit = Some(unit);
    app.update();
    (app, unit)
}

type Show = fn(&mut World, &mut egui::Ui);

/// Shows a part of the inspector; returns its texts and where they are.
fn draw(
    context: &egui::Context,
    app: &mut App,
    show: Show,
    events: Vec<Event>,
) -> Vec<(String, Pos2)> {
    let screen = egui::Rect::from_min_size(Pos2::ZERO, egui::vec2(600.0, 4_000.0));
    let input = egui::RawInput { events, screen_rect: Some(screen), ..Default::default() };
    let output = context.run_ui(input, |ui| show(app.world_mut(), ui));
    let mut texts = Vec::new();
    for clipped in output.shapes {
        collect(&clipped.shape, &mut texts);
    }
    texts
}

fn collect(shape: &Shape, texts: &mut Vec<(String, Pos2)>) {
    match shape {
        Shape::Text(text) => {
            let middle = text.pos + text.galley.rect.center().to_vec2();
            texts.push((text.galley.text().to_owned(), middle));
        }
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| collect(shape, texts)),
        _ => {}
    }
}

fn place_of(texts: &[(String, Pos2)], text: &str) -> Option<Pos2> {
    texts.iter().find(|(found, _)| found == text).map(|&(_, place)| place)
}

/// Clicks at a place of what is shown.
fn click(context: &egui::Context, app: &mut App, show: Show, pos: Pos2) {
    let modifiers = egui::Modifiers::default();
    let button =
        |pressed| Event::PointerButton { pos, button: PointerButton::Primary, pressed, modifiers };
    for events in [vec![Event::PointerMoved(pos)], vec![button(true)], vec![button(false)], vec![]]
    {
        draw(context, app, show, events);
    }
}

#[test]
fn it_shows_and_edits_a_critter() {
    let (mut app, unit) = app();
    let context = egui::Context::default();
    let texts = draw(&context, &mut app, show_unit, vec![]);
    let texts = if texts.is_empty() { draw(&context, &mut app, show_unit, vec![]) } else { texts };
    assert!(place_of(&texts, "Idle").is_some(), "its status: {texts:?}");
    let turns = place_of(&texts, "turns").expect("its fields");
    // The check box is beside the name of the field.
    let checked = |app: &App| app.world().get::<Critter>(unit).map(|critter| critter.turns);
    assert_eq!(checked(&app), Some(true));
    let mut right = 10.0;
    while checked(&app) == Some(true) && right < 300.0 {
        click(&context, &mut app, show_unit, turns + egui::vec2(right, 0.0));
        right += 8.0;
    }
    assert_eq!(checked(&app), Some(false), "no check box beside {turns}");
}

#[test]
fn it_gives_the_order_that_was_edited() {
    let (mut app, unit) = app();
    let context = egui::Context::default();
    app.world_mut().resource_mut::<Inspected>().order = PathRequest::to(Cell::new(9, 4));
    draw(&context, &mut app, show_order, vec![]);
    let texts = draw(&context, &mut app, show_order, vec![]);
    let button = place_of(&texts, "give this order").expect("a button");
    click(&context, &mut app, show_order, button);
    update_until(&mut app, "it has arrived", |world| {
        matches!(world.get::<PathStatus>(unit), Some(PathStatus::Arrived(_)))
    });
    let cell = app.world().get::<CritterState>(unit).map(CritterState::cell);
    assert_eq!(cell, Some(Cell::new(9, 4)));
}

#[test]
fn it_edits_what_terrain_costs() {
    let (mut app, _) = app();
    let context = egui::Context::default();
    let cost = |app: &App| app.world().resource::<NavGrids>().profiles()[0].cost(TerrainId::GROUND);
    draw(&context, &mut app, show_profiles, vec![]);
    let texts = draw(&context, &mut app, show_profiles, vec![]);
    let field = place_of(&texts, "16").expect("the cost of the only terrain");
    // A click on the number begins to edit it.
    click(&context, &mut app, show_profiles, field);
    let key = |key| Event::Key {
        key,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: egui::Modifiers::default(),
    };
    draw(&context, &mut app, show_profiles, vec![Event::Text("48".to_owned())]);
    draw(&context, &mut app, show_profiles, vec![key(egui::Key::Enter)]);
    draw(&context, &mut app, show_profiles, vec![]);
    assert_eq!(cost(&app), 48);
}

#[test]
fn the_counters_are_diagnostics() {
    let (mut app, _) = app();
    app.add_plugins((bevy::diagnostic::DiagnosticsPlugin, TilePathDiagnosticsPlugin));
    app.update();
    app.update();
    let store = app.world().resource::<bevy::diagnostic::DiagnosticsStore>();
    for path in TilePathDiagnosticsPlugin::ALL {
        assert!(store.get(&path).is_some_and(|found| found.value().is_some()), "{path:?}");
    }
}
