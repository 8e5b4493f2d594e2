//! The results as a chart: time per query over the size of the map, both axes logarithmic.
//!
//! Input: the results. Output: an SVG file with a line per list over the generated maps, and a dot
//! for every map from a file. Names are at the right, in the order of the last values.

use std::{error::Error, path::Path as FilePath};

use plotters::{
    coord::{combinators::LogCoord, types::RangedCoordf64},
    prelude::*,
};

use crate::{
    race::{CourseResult, Row},
    roster::DEFAULT,
    table::label,
};

type Plot<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedCoordf64, LogCoord<f64>>>;
type Drawn<T = ()> = Result<T, Box<dyn Error>>;

const SIZE: (u32, u32) = (1_100, 680);
/// Width of the column of names at the right, in pixels.
const NAMES: i32 = 250;
/// Least distance of two names, in pixels.
const LINE: i32 = 20;

/// Writes the chart.
///
/// # Errors
/// An error of the drawing or the file system, with the file's name.
pub fn write(results: &[CourseResult], file: &FilePath) -> Result<(), String> {
    draw(results, file).map_err(|error| format!("{}: {error}", file.display()))
}

fn draw(results: &[CourseResult], file: &FilePath) -> Drawn {
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

/// Returns the logarithm to base 2 of the side of a square with as many cells.
fn side(standing: &CourseResult) -> f64 {
    (standing.cells as f64).log2() / 2.0
}

/// Returns the range from the least to the greatest value, with a margin.
fn span_of<T>(
    all: impl IntoIterator<Item = T>,
    figure: impl Fn(T) -> f64,
    margin: f64,
) -> core::ops::Range<f64> {
    let around = |(low, high): (f64, f64), figure: f64| (low.min(figure), high.max(figure));
    let (low, high) = all.into_iter().map(figure).fold((f64::INFINITY, f64::NEG_INFINITY), around);
    low - margin..high + margin
}

/// The end of a line in pixels, with its name.
type End = ((i32, i32), String, RGBColor);

/// Draws the line and the dots of a row's list.
fn draw_list(plot: &mut Plot, results: &[CourseResult], row: &Row) -> Drawn<Option<End>> {
    let color = RGBColor(row.color[0], row.color[1], row.color[2]);
    let point = |standing: &CourseResult| Some((side(standing), standing.row(row.name)?.micros));
    let points = |is_real: bool| {
        results.iter().filter(move |standing| standing.is_real == is_real).filter_map(point)
    };
    plot.draw_series(points(true).map(|point| Circle::new(point, 2, color.filled())))?;
    let width = if row.name == DEFAULT { 4 } else { 2 };
    plot.draw_series(LineSeries::new(points(false), color.stroke_width(width)))?;
    let last = points(false).next_back().or_else(|| points(true).next_back());
    Ok(last.map(|last| (plot.backend_coord(&last), label(row), color)))
}

/// Writes the names next to the ends of the lines, without overlaps.
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
    // If the lowest name would leave the image, all names above it move up.
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
