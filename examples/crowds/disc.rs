//! The image that all critters share: a disc with a dark rim and a brighter front.
//!
//! Input: nothing. Output: a grayscale image with mipmaps, tinted by the sprites. Its front is at
//! local +x.

use bevy::{
    asset::RenderAssetUsages,
    image::ImageSampler,
    prelude::*,
    render::render_resource::{Extent3d, TextureDimension, TextureFormat},
};

/// Side of the largest mip level in pixels, and the number of levels.
const SIDE: u32 = 64;
const LEVELS: u32 = 5;
/// Share of the image that the disc covers; the margin is for soft edges.
pub const SHARE: f32 = 0.94;
/// Samples of a pixel along one axis.
const SAMPLES: u32 = 4;

const RIM: f32 = 0.42;
const BODY: f32 = 0.82;
const FRONT: f32 = 1.0;

/// Creates the image.
pub fn image() -> Image {
    let extent = Extent3d { width: SIDE, height: SIDE, depth_or_array_layers: 1 };
    let mut image = Image::new_uninit(
        extent,
        TextureDimension::D2,
        TextureFormat::Rgba8UnormSrgb,
        RenderAssetUsages::default(),
    );
    image.data = Some((0..LEVELS).flat_map(|level| pixels(SIDE >> level)).collect());
    image.texture_descriptor.mip_level_count = LEVELS;
    image.sampler = ImageSampler::linear();
    image
}

/// Returns the pixels of a mip level, row by row.
fn pixels(side: u32) -> impl Iterator<Item = u8> {
    (0..side).flat_map(move |y| (0..side).flat_map(move |x| pixel(UVec2::new(x, y), side)))
}

fn pixel(at: UVec2, side: u32) -> [u8; 4] {
    let (mut light, mut hits) = (0.0, 0);
    for (x, y) in (0..SAMPLES).flat_map(|y| (0..SAMPLES).map(move |x| (x, y))) {
        let within = (UVec2::new(x, y).as_vec2() + 0.5) / SAMPLES as f32;
        let position = (at.as_vec2() + within) / side as f32 * 2.0 - 1.0;
        if let Some(shade) = shade(position / SHARE) {
            light += shade;
            hits += 1;
        }
    }
    // Transparent pixels outside have the rim's color, so that blending does not change the edge.
    let gray = if hits == 0 { RIM } else { light / hits as f32 };
    let gray = (gray * 255.0).round() as u8;
    [gray, gray, gray, (hits * 255 / (SAMPLES * SAMPLES)) as u8]
}

/// Returns the brightness of the disc of radius 1 at a position; `None` outside.
fn shade(position: Vec2) -> Option<f32> {
    match position.length() {
        far if far > 1.0 => None,
        far if far > 0.84 => Some(RIM),
        _ if position.x > 0.4 => Some(FRONT),
        _ => Some(BODY),
    }
}
