//! Screenshots of the window: taking, saving and comparing.
//!
//! Input: names of pictures, regions of the window in pixels. Output: files, and numbers of
//! differing pixels.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use bevy::{
    prelude::*,
    render::view::screenshot::{Screenshot, ScreenshotCaptured},
};

/// The pictures taken so far.
#[derive(Resource)]
pub struct Pictures {
    folder: PathBuf,
    /// `None` until the screenshot is captured; or the reason why it could not be saved.
    taken: BTreeMap<&'static str, Result<Option<Image>, String>>,
}

impl Pictures {
    /// Creates the folder; no pictures yet.
    pub fn in_folder(folder: &Path) -> Result<Self, String> {
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("--smoke {}: {error}", folder.display()))?;
        Ok(Self { folder: folder.into(), taken: BTreeMap::new() })
    }

    /// Returns the number of pixels of a region that differ between two pictures.
    pub fn changed(&self, [one, other]: [&str; 2], region: Rect) -> Result<u32, String> {
        let (one, other) = (self.get(one)?, self.get(other)?);
        if one.size() != other.size() {
            return Err("the pictures differ in size".into());
        }
        let region = region.intersect(Rect::from_corners(Vec2::ZERO, one.size_f32()));
        let (min, max) = (region.min.as_uvec2(), region.max.as_uvec2());
        let mut changed = 0;
        for (x, y) in (min.y..max.y).flat_map(|y| (min.x..max.x).map(move |x| (x, y))) {
            let pixel = |image: &Image| {
                let bytes = image.pixel_bytes(UVec3::new(x, y, 0));
                bytes.map(<[u8]>::to_vec).map_err(|error| error.to_string())
            };
            changed += u32::from(pixel(one)? != pixel(other)?);
        }
        Ok(changed)
    }

    /// Returns the same, but fails below a share of the region; the error begins with `what`.
    pub fn changed_enough(
        &self,
        [one, other]: [&str; 2],
        region: Rect,
        least: f32,
        what: &str,
    ) -> Result<u32, String> {
        let changed = self.changed([one, other], region)?;
        if (changed as f32) < region.size().element_product() * least {
            return Err(format!("{what}: only {changed} pixels differ from {one} to {other}"));
        }
        Ok(changed)
    }

    fn get(&self, name: &str) -> Result<&Image, String> {
        match self.taken.get(name) {
            Some(Ok(Some(image))) => Ok(image),
            _ => Err(format!("the picture {name} is missing")),
        }
    }
}

/// Takes a screenshot, keeps it and saves it. Call it until it returns `true`.
pub fn shoot(world: &mut World, name: &'static str) -> Result<bool, String> {
    let mut pictures = world.resource_mut::<Pictures>();
    if let Some(taken) = pictures.taken.get(name) {
        return taken.as_ref().map(Option::is_some).map_err(Clone::clone);
    }
    pictures.taken.insert(name, Ok(None));
    world.spawn(Screenshot::primary_window()).observe(
        move |captured: On<ScreenshotCaptured>, mut pictures: ResMut<Pictures>| {
            let file = pictures.folder.join(name).with_extension("png");
            let outcome = save(&captured.image, &file).map(|()| Some(captured.image.clone()));
            pictures.taken.insert(name, outcome);
        },
    );
    Ok(false)
}

/// Saves a captured picture; the format follows from the file's extension.
pub fn save(image: &Image, file: &Path) -> Result<(), String> {
    let shown = file.display();
    let picture = image.clone().try_into_dynamic().map_err(|error| format!("{shown}: {error}"))?;
    picture.to_rgb8().save(file).map_err(|error| format!("{shown}: {error}"))
}
