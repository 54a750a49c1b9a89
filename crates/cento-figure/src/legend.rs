//! Names of series: at the ends of lines if they fit, otherwise in a legend.

use crate::canvas::{Anchor, Area, Canvas, Face, hatch, marker, rectangle, segment};
use crate::figure::{Figure, Mark, Point, Series};
use crate::number::grouped;
use crate::points::{Shading, cell_swatch};
use crate::sheet::{EDGE, Sheet};
use crate::style::{ShapeStyle, Tone, dashes};
use crate::text::{clean, cut, width};

/// The height of a row of the legend, and of a name at the end of a line.
const ROW: f64 = 17.0;

/// The maximum width of a name at the end of a line.
const BROADEST: f64 = 150.0;

/// Returns the name of a series, or its number if it has none.
pub(crate) fn name(series: &Series, index: usize) -> String {
    let name = clean(&series.name);
    if name.is_empty() {
        format!("series {}", index + 1)
    } else {
        name
    }
}

/// Returns the width of names at the ends of lines, if all of them fit there.
pub(crate) fn direct(figure: &Figure) -> Option<f64> {
    let lines = figure
        .series
        .iter()
        .all(|series| matches!(series.mark, Mark::Line | Mark::Steps));
    if !lines || !(2..=8).contains(&figure.series.len()) || !ends_differ(figure) {
        return None;
    }
    let wide = figure
        .series
        .iter()
        .enumerate()
        .map(|(index, series)| width(&name(series, index), Face::Name.size()));
    let widest = wide.fold(0.0, f64::max);
    (widest <= BROADEST).then_some(widest)
}

/// Returns whether no two lines end at the same point, where their names would overlap.
fn ends_differ(figure: &Figure) -> bool {
    let mut ends: Vec<(u64, u64)> = figure
        .series
        .iter()
        .filter_map(|series| {
            let finite = |point: &&Point| point.x.is_finite() && point.y.is_finite();
            let points = series.points.iter().filter(finite);
            points.max_by(|one, other| one.x.total_cmp(&other.x))
        })
        .map(|point| (point.x.to_bits(), point.y.to_bits()))
        .collect();
    let all = ends.len();
    ends.sort_unstable();
    ends.dedup();
    ends.len() == all
}

/// Draws the legend, and returns where it ends.
pub(crate) fn draw(canvas: &mut Canvas, figure: &Figure, dense: &[usize], top: f64) -> f64 {
    let (mut x, mut baseline) = (EDGE, top + 12.0);
    for (index, series) in figure.drawn().enumerate() {
        let whole = name(series, index);
        let text = cut(&whole, Face::Name.size(), (canvas.width - 90.0).min(300.0));
        let wide = 30.0 + width(&text, Face::Name.size());
        if x > EDGE && x + wide > canvas.width - EDGE {
            x = EDGE;
            baseline += ROW;
        }
        swatch(
            canvas,
            index,
            series,
            dense.contains(&index),
            x,
            baseline - 4.0,
        );
        canvas.text(x + 30.0, baseline, Anchor::Start, Face::Name, &text, &whole);
        x += wide + 20.0;
    }
    baseline + 6.0
}

fn swatch(canvas: &mut Canvas, index: usize, series: &Series, dense: bool, x: f64, middle: f64) {
    let bar = Area {
        left: x + 2.0,
        top: middle - 6.0,
        right: x + 24.0,
        bottom: middle + 6.0,
    };
    match series.mark {
        Mark::Points if dense => canvas.path(Sheet::fill(index), cell_swatch(x + 9.0, middle)),
        Mark::Points => canvas.path(Sheet::fill(index), marker(index, x + 13.0, middle, 4.0)),
        Mark::Discs => canvas.path(Sheet::fill(index), marker(0, x + 13.0, middle, 5.0)),
        Mark::Line | Mark::Steps => {
            canvas.path(
                Sheet::stroke(index),
                segment((x, middle), (x + 26.0, middle)),
            );
            if series.mark == Mark::Line {
                canvas.path(Sheet::fill(index), marker(index, x + 13.0, middle, 3.2));
            }
        }
        Mark::Bars | Mark::Stacked => {
            canvas.path(Sheet::fill(index), rectangle(&bar));
            canvas.path(ShapeStyle::stroke(Tone::Paper, 1.0), hatch(index, &bar));
        }
        Mark::Histogram if index == 0 => canvas.path(Sheet::fill(index), rectangle(&bar)),
        Mark::Histogram => canvas.path(Sheet::stroke(index), rectangle(&bar)),
    }
}

/// Draws the legend of the shades of cells.
pub(crate) fn draw_shades(canvas: &mut Canvas, index: usize, shading: Shading, top: f64) {
    let baseline = top + 12.0;
    let head = "Points in a cell:";
    canvas.text(EDGE, baseline, Anchor::Start, Face::Tick, head, head);
    let mut x = EDGE + width(head, Face::Tick.size()) + 10.0;
    let bounds = shading.bounds();
    for (shade, from) in bounds.iter().enumerate() {
        let last = bounds
            .get(shade + 1)
            .map_or(shading.most(), |next| next - 1);
        let style = Sheet::fill(index).opacity(Shading::opacity(shade, bounds.len()));
        canvas.path(
            style,
            rectangle(&Area {
                left: x,
                top: baseline - 9.0,
                right: x + 11.0,
                bottom: baseline + 2.0,
            }),
        );
        let number = |count: usize| grouped(count as f64, 0);
        let text = if last <= *from {
            number(*from)
        } else {
            format!("{}–{}", number(*from), number(last))
        };
        canvas.text(x + 16.0, baseline, Anchor::Start, Face::Tick, &text, &text);
        x += 16.0 + width(&text, Face::Tick.size()) + 16.0;
    }
}

impl Sheet<'_> {
    /// Writes names at the ends of lines, as close to them as possible.
    pub(crate) fn draw_names_at_ends(&mut self, ends: &[(usize, (f64, f64))]) {
        let mut order: Vec<(usize, (f64, f64))> = ends.to_vec();
        order.sort_by(|one, other| one.1.1.total_cmp(&other.1.1).then(one.0.cmp(&other.0)));
        let mut places: Vec<f64> = Vec::new();
        for (_, (_, y)) in &order {
            let least = places
                .last()
                .map_or(self.plot.top + 4.0, |last: &f64| last + ROW - 2.0);
            places.push(y.max(least));
        }
        let mut most = self.plot.bottom - 2.0;
        for place in places.iter_mut().rev() {
            *place = place.min(most);
            most = *place - ROW + 2.0;
        }
        for ((index, (x, y)), place) in order.into_iter().zip(places) {
            let Some(series) = self.figure.series.get(index) else {
                continue;
            };
            let text = name(series, index);
            let left = self.plot.right + 14.0;
            let style = ShapeStyle::stroke(Tone::Series(index), 1.0)
                .dashed(dashes(index))
                .opacity(70);
            self.draw(style, (x + 5.0, y), (left - 3.0, place));
            self.canvas
                .text(left, place + 4.0, Anchor::Start, Face::Name, &text, &text);
        }
    }
}
