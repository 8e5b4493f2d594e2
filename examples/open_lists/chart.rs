//! Results as a chart: cost a query against the size of the map, both on logarithmic axes.
//!
//! A line a list over the generated maps, and a dot for every map that was read from a file. The
//! names stand at the right, in the order of the last figures.

use std::{error::Error, path::Path as FilePath};

use plotters::{
    coord::{combinators::LogCoord, types::RangedCoordf64},
    prelude::*,
};

use crate::{
    race::{Row, Standing},
    roster::DEFAULT,
    table::label,
};

type Plot<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedCoordf64, LogCoord<f64>>>;
type Drawn<T = ()> = Result<T, Box<dyn Error>>;

const SIZE: (u32, u32) = (1_100, 680);
/// Room for the names at the right, in pixels.
const NAMES: i32 = 250;
/// Least distance of two names, in pixels.
const LINE: i32 = 20;

/// Writes the chart.
///
/// # Errors
/// What the drawing or the file system complains about, with the file.
pub fn write(results: &[Standing], file: &FilePath) -> Result<(), String> {
    draw(results, file).map_err(|error| format!("{}: {error}", file.display()))
}

fn draw(results: &[Standing], file: &FilePath) -> Drawn {
    let area = SVGBackend::new(file, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut plot: Plot = ChartBuilder::on(&area)
        .caption("A* on the same maps with different open lists", ("sans-serif", 22))
        .margin(12)
        .margin_right(NAMES)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(span_of(results, side, 0.15), {
            let span = span_of(
                results.iter().flat_map(|standing| &standing.rows),
                |row| row.micros.log10(),
                0.1,
            );
            (10f64.powf(span.start)..10f64.powf(span.end)).log_scale()
        })?;
    plot.configure_mesh()
        .x_desc("side of the map, cells")
        .y_desc("µs a query")
        .x_label_formatter(&|side| format!("{:.0}", side.exp2()))
        .y_label_formatter(&|micros| format!("{micros}"))
        .x_labels(7)
        .bold_line_style(RGBColor(200, 200, 200))
        .light_line_style(RGBColor(238, 238, 238))
        .label_style(("sans-serif", 15))
        .axis_desc_style(("sans-serif", 16))
        .draw()?;
    let mut ends = Vec::new();
    for row in results.first().map_or(&[][..], |standing| &standing.rows) {
        ends.extend(draw_list(&mut plot, results, row)?);
    }
    draw_names(&plot, ends)?;
    area.present()?;
    Ok(())
}

/// Logarithm to base 2 of the side of a square with as many cells.
fn side(standing: &Standing) -> f64 {
    (standing.cells as f64).log2() / 2.0
}

/// From the least to the greatest, with a margin.
fn span_of<T>(
    all: impl IntoIterator<Item = T>,
    figure: impl Fn(T) -> f64,
    margin: f64,
) -> core::ops::Range<f64> {
    let around = |(low, high): (f64, f64), figure: f64| (low.min(figure), high.max(figure));
    let (low, high) = all.into_iter().map(figure).fold((f64::INFINITY, f64::NEG_INFINITY), around);
    low - margin..high + margin
}

/// The end of a line in pixels, with the name that belongs there.
type End = ((i32, i32), String, RGBColor);

/// Draws the line and the dots of the list that `row` is of.
fn draw_list(plot: &mut Plot, results: &[Standing], row: &Row) -> Drawn<Option<End>> {
    let color = RGBColor(row.color[0], row.color[1], row.color[2]);
    let point = |standing: &Standing| Some((side(standing), standing.row(row.name)?.micros));
    let points = |is_real: bool| {
        results.iter().filter(move |standing| standing.is_real == is_real).filter_map(point)
    };
    plot.draw_series(points(true).map(|point| Circle::new(point, 2, color.filled())))?;
    let width = if row.name == DEFAULT { 4 } else { 2 };
    plot.draw_series(LineSeries::new(points(false), color.stroke_width(width)))?;
    let last = points(false).next_back().or_else(|| points(true).next_back());
    Ok(last.map(|last| (plot.backend_coord(&last), label(row), color)))
}

/// Writes the names beside the ends of the lines, none over another.
fn draw_names(plot: &Plot, mut ends: Vec<End>) -> Drawn {
    ends.sort_by_key(|&((_, y), ..)| y);
    let area = plot.plotting_area().strip_coord_spec();
    let (left, top) = area.get_base_pixel();
    let room = SIZE.1 as i32 - 30 - top;
    let mut free = -LINE;
    let heights: Vec<i32> = ends
        .iter()
        .map(|((_, y), ..)| {
            free = (y - top).max(free + LINE);
            free
        })
        .collect();
    // Where the lowest would fall off the picture, all those above move up.
    let mut limit = room;
    for (((x, y), name, color), height) in ends.iter().zip(&heights).rev() {
        let height = (*height).min(limit);
        limit = height - LINE;
        let (x, y) = (x - left, y - top);
        let lead = PathElement::new([(x + 4, y), (x + 26, height)], color.stroke_width(1));
        area.draw(&lead)?;
        let style = ("sans-serif", 16).into_font().color(color);
        area.draw(&Text::new(name.as_str(), (x + 30, height - 8), style))?;
    }
    Ok(())
}
