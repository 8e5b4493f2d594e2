//! A window that shows and edits units, orders and profiles, with
//! [bevy-inspector-egui](https://docs.rs/bevy-inspector-egui).
//!
//! Components and resources of bevy_tilepath are reflected, so the inspector shows them as they are: [`Critter`], `PathStatus`
//! with its reason, `NavPath`, and all others. Two things take some lines:
//! - A [`PathRequest`] is immutable, and shown as such. To give another order, edit a copy and insert it.
//! - [`Profile`]s belong to [`NavGrids`] and reach all grids by [`NavGrids::set_profiles`].

use bevy::prelude::*;
use bevy_inspector_egui::{
    DefaultInspectorConfigPlugin,
    bevy_egui::{EguiContext, EguiPlugin, EguiPrimaryContextPass, PrimaryEguiContext},
    bevy_inspector, egui,
};
use bevy_tilepath::prelude::*;

/// Shows the inspector. Set [`Inspected::unit`] to choose what it shows.
pub struct NavInspectorPlugin;

impl Plugin for NavInspectorPlugin {
    fn build(&self, app: &mut App) {
        // The game may have them for other windows.
        if !app.is_plugin_added::<EguiPlugin>() {
            app.add_plugins(EguiPlugin::default());
        }
        if !app.is_plugin_added::<DefaultInspectorConfigPlugin>() {
            app.add_plugins(DefaultInspectorConfigPlugin);
        }
        app.init_resource::<Inspected>().add_systems(EguiPrimaryContextPass, show_window);
    }
}

/// What the window is about.
#[derive(Resource, Default)]
pub struct Inspected {
    /// The unit.
    pub unit: Option<Entity>,
    /// The order that the button gives it.
    pub order: PathRequest,
}

fn show_window(world: &mut World) {
    let mut contexts = world.query_filtered::<&mut EguiContext, With<PrimaryEguiContext>>();
    let Ok(mut context) = contexts.single_mut(world) else { return };
    let context = context.get_mut().clone();
    let corner = (egui::Align2::RIGHT_TOP, [-10.0, 10.0]);
    egui::Window::new("Navigation").anchor(corner.0, corner.1).show(&context, |ui| {
        egui::ScrollArea::vertical().show(ui, |ui| {
            let open = |title: &str| egui::CollapsingHeader::new(title).default_open(true);
            open("Unit").show(ui, |ui| show_unit(world, ui));
            egui::CollapsingHeader::new("Order").show(ui, |ui| show_order(world, ui));
            open("Terrain costs").show(ui, |ui| show_profiles(world, ui));
            egui::CollapsingHeader::new("Settings").show(ui, |ui| {
                bevy_inspector::ui_for_resource::<TilePathSettings>(world, ui);
            });
            egui::CollapsingHeader::new("Counters").show(ui, |ui| {
                bevy_inspector::ui_for_resource::<PathCounters>(world, ui);
            });
        });
    });
}

/// What the unit is doing, its critter, to be edited, and all components.
pub fn show_unit(world: &mut World, ui: &mut egui::Ui) {
    let unit = world.resource::<Inspected>().unit.filter(|&unit| world.get_entity(unit).is_ok());
    let Some(unit) = unit else {
        ui.label("click on a unit");
        return;
    };
    if let Some(status) = world.get::<PathStatus>(unit) {
        ui.label(format!("{status:?}"));
    }
    if let Some(mut critter) = world.get::<Critter>(unit).copied()
        && bevy_inspector::ui_for_value(&mut critter, ui, world)
    {
        world.entity_mut(unit).insert(critter);
    }
    egui::CollapsingHeader::new("all components").show(ui, |ui| {
        bevy_inspector::ui_for_entity(world, unit, ui);
    });
}

/// The next order of the unit, and a button that gives it.
pub fn show_order(world: &mut World, ui: &mut egui::Ui) {
    world.resource_scope(|world, mut inspected: Mut<Inspected>| {
        bevy_inspector::ui_for_value(&mut inspected.order, ui, world);
        let unit = inspected.unit.and_then(|unit| world.get_entity_mut(unit).ok());
        if let (true, Some(mut unit)) = (ui.button("give this order").clicked(), unit) {
            unit.insert(inspected.order.clone());
        }
    });
}

/// What terrains cost each kind of unit, in sixteenths of a plain step: those that some unit can pass. 0 is impassable.
pub fn show_profiles(world: &mut World, ui: &mut egui::Ui) {
    let mut grids = world.resource_mut::<NavGrids>();
    let is_known =
        |terrain: &TerrainId| grids.profiles().iter().any(|kind| kind.cost(*terrain) > 0);
    let terrains: Vec<TerrainId> = (0..=u8::MAX).map(TerrainId).filter(is_known).collect();
    let mut profiles = grids.profiles().to_vec();
    for (number, profile) in profiles.iter_mut().enumerate() {
        ui.label(format!("profile {number}"));
        for &terrain in &terrains {
            let mut cost = profile.cost(terrain);
            ui.horizontal(|ui| {
                ui.label(format!("  {:?}", terrain.0 as char));
                ui.add(egui::DragValue::new(&mut cost));
            });
            if cost != profile.cost(terrain) {
                *profile = profile.clone().with(terrain, cost);
            }
        }
    }
    // Only where something was changed: it begins new searches.
    if profiles != grids.profiles() {
        grids.set_profiles(profiles);
    }
}
