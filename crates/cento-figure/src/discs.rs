//! Discs: the area of each is proportional to a number, and an inner disc shows a part of it.

use crate::canvas::{Anchor, Area, Canvas, Face, Path, marker};
use crate::figure::{Figure, Mark, Point, Series};
use crate::number::{grouped, value};
use crate::sheet::{EDGE, Sheet};
use crate::style::{ShapeStyle, Tone};
use crate::text::{clean, cut, width};
use std::collections::BTreeMap;

/// The maximum number of discs. Beyond it, nearby discs are merged.
const MOST: usize = 1_500;

/// The maximum radius of a disc, so that it stays on the page and off the labels.
const LARGEST: f64 = 14.0;

/// The minimum radius of a visible disc.
const SMALLEST: f64 = 0.9;

/// The height of the legend of areas.
pub(crate) const LEGEND: f64 = 32.0;

/// The scale from numbers to radii.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Measure {
    /// The largest number.
    most: f64,
    /// Its radius.
    radius: f64,
}

impl Measure {
    pub(crate) fn radius(self, size: f64) -> f64 {
        (self.radius * (size / self.most).sqrt()).clamp(SMALLEST, LARGEST)
    }

    /// Returns up to three examples for the legend: the largest number, and smaller ones.
    fn examples(self) -> Vec<f64> {
        let whole = |size: f64| if size >= 1.0 { size.round() } else { size };
        let sizes = [whole(self.most / 16.0), whole(self.most / 4.0), self.most];
        let mut examples: Vec<f64> = Vec::new();
        for size in sizes.into_iter().filter(|size| *size > 0.0) {
            if examples.last().is_none_or(|last| size > *last) {
                examples.push(size);
            }
        }
        examples
    }

    fn is_too_small(self, size: f64) -> bool {
        self.radius * (size / self.most).sqrt() < SMALLEST
    }
}

/// Returns whether a figure has discs.
pub(crate) fn any(figure: &Figure) -> bool {
    figure.drawn().any(|series| series.mark == Mark::Discs)
}

/// One disc on the page.
#[derive(Clone, Copy, Debug)]
struct Disc {
    x: f64,
    y: f64,
    size: f64,
    part: f64,
}

/// Merges the discs in each cell: their sizes are added, and their positions and parts are
/// averaged, weighted by size.
fn merge(discs: &[Disc], cell: f64) -> Vec<Disc> {
    let mut cells: BTreeMap<(i64, i64), Disc> = BTreeMap::new();
    for disc in discs {
        let key = (
            (disc.y / cell).round() as i64,
            (disc.x / cell).round() as i64,
        );
        match cells.get_mut(&key) {
            None => {
                cells.insert(key, *disc);
            }
            Some(known) => {
                // Weights are shares of the sum, because products of large sizes might overflow.
                let sum = (known.size + disc.size).min(f64::MAX);
                let share = disc.size / sum;
                known.x += (disc.x - known.x) * share;
                known.y += (disc.y - known.y) * share;
                known.part += (disc.part - known.part) * share;
                known.size = sum;
            }
        }
    }
    cells.into_values().collect()
}

/// Returns the largest radius with which nine of ten discs touch no other.
fn roomy(discs: &[Disc], most: f64) -> f64 {
    let mut space: Vec<f64> = Vec::new();
    for (index, one) in discs.iter().enumerate() {
        let mut nearest = f64::INFINITY;
        for (_, other) in discs.iter().enumerate().filter(|(at, _)| *at != index) {
            let (right, down) = (one.x - other.x, one.y - other.y);
            let distance = (right * right + down * down).sqrt();
            let radii = (one.size / most).sqrt() + (other.size / most).sqrt();
            nearest = nearest.min(distance / radii);
        }
        space.push(nearest);
    }
    space.sort_by(f64::total_cmp);
    space.get(space.len() / 10).copied().unwrap_or(LARGEST)
}

impl Sheet<'_> {
    /// Draws discs, and keeps their scale for the legend.
    pub(crate) fn draw_discs(&mut self) {
        let series = self.series_of(&[Mark::Discs]);
        let limit = MOST / series.len().max(1);
        let drawn: Vec<(usize, bool, Vec<Disc>)> = series
            .into_iter()
            .map(|(index, series)| (index, has_parts(series), self.place_discs(series, limit)))
            .collect();
        let sizes = || {
            drawn
                .iter()
                .flat_map(|(.., discs)| discs)
                .map(|disc| disc.size)
        };
        let Some(most) = sizes().reduce(f64::max) else {
            return;
        };
        let all: Vec<Disc> = drawn
            .iter()
            .flat_map(|(.., discs)| discs.iter().copied())
            .collect();
        let measure = Measure {
            most,
            radius: roomy(&all, most).clamp(3.0, LARGEST),
        };
        self.enlarged = sizes().filter(|size| measure.is_too_small(*size)).count();
        let points: usize = self
            .series_of(&[Mark::Discs])
            .iter()
            .map(|(_, series)| self.shown(series))
            .sum();
        self.merged = points - sizes().count();
        for (index, with_parts, discs) in drawn {
            let (mut outer, mut inner) = (Path::default(), Path::default());
            for disc in &discs {
                let radius = measure.radius(disc.size);
                outer.add(marker(0, disc.x, disc.y, radius));
                let within = radius * disc.part.sqrt();
                if with_parts && within >= 0.05 {
                    inner.add(marker(0, disc.x, disc.y, within));
                }
                // The inscribed square.
                let half = radius * 0.7;
                self.ink.fill(&Area {
                    left: disc.x - half,
                    top: disc.y - half,
                    right: disc.x + half,
                    bottom: disc.y + half,
                });
            }
            self.canvas.path(outer_style(index, with_parts), outer);
            self.canvas.path(Self::fill(index), inner);
        }
        self.discs = Some(measure);
    }

    /// Returns the number of points of a series that are drawn.
    fn shown(&self, series: &Series) -> usize {
        let shown = |point: &&Point| self.survey.absence(series.mark, point).is_none();
        series.points.iter().filter(shown).count()
    }

    /// Returns the discs of a series, the largest first, up to the limit.
    fn place_discs(&self, series: &Series, limit: usize) -> Vec<Disc> {
        let mut discs: Vec<Disc> = series
            .points
            .iter()
            .filter(|point| self.survey.absence(series.mark, point).is_none())
            .map(|point| Disc {
                x: self.x.at(point.x),
                y: self.y.at(point.y),
                size: point.size,
                part: if point.part > 0.0 {
                    point.part.min(1.0)
                } else {
                    0.0
                },
            })
            .collect();
        // Sums of floats depend on their order, which must not depend on that of the data.
        discs.sort_by(|one, other| {
            (other.size.total_cmp(&one.size))
                .then(one.x.total_cmp(&other.x))
                .then(one.y.total_cmp(&other.y))
                .then(one.part.total_cmp(&other.part))
        });
        let mut cell = 4.0;
        while discs.len() > limit.max(1) && cell < 1e4 {
            discs = merge(&discs, cell);
            cell *= 1.5;
        }
        discs.sort_by(|one, other| other.size.total_cmp(&one.size));
        discs
    }
}

fn has_parts(series: &Series) -> bool {
    series.points.iter().any(|point| point.part > 0.0)
}

fn outer_style(index: usize, with_parts: bool) -> ShapeStyle {
    let opacity = if with_parts { 25 } else { 55 };
    let fill = ShapeStyle::fill(Tone::Series(index)).opacity(opacity);
    fill.outlined(Tone::Series(index), 0.8)
}

/// Draws the legend of the areas of discs.
pub(crate) fn draw_legend(canvas: &mut Canvas, figure: &Figure, measure: Measure, top: f64) {
    let of_discs = |(_, series): &(usize, &Series)| series.mark == Mark::Discs;
    let Some((index, _)) = figure.drawn().enumerate().find(of_discs) else {
        return;
    };
    let with_parts = figure
        .drawn()
        .filter(|series| series.mark == Mark::Discs)
        .any(has_parts);
    let middle = top + LEGEND / 2.0;
    let baseline = middle + 4.0;
    let mut x = EDGE;
    let write = |canvas: &mut Canvas, x: &mut f64, whole: &str, space: f64| {
        let text = cut(whole, Face::Tick.size(), space);
        canvas.text(*x, baseline, Anchor::Start, Face::Tick, &text, whole);
        *x += width(&text, Face::Tick.size());
    };
    let area = clean(&figure.area);
    let head = match area.as_str() {
        "" => "Area of a disc:".to_owned(),
        area => format!("Area of a disc, {area}:"),
    };
    // On a narrow page, examples that do not fit are left out.
    let right = canvas.width - EDGE;
    write(canvas, &mut x, &head, 230.0);
    for size in measure.examples() {
        let radius = measure.radius(size);
        let text = match size.fract() == 0.0 && size < 1e15 {
            true => grouped(size, 0),
            false => value(crate::figure::NumberFormat::Plain, size),
        };
        let wide = width(&text, Face::Tick.size()).min(90.0);
        if x + 17.0 + 2.0 * radius + wide > right {
            break;
        }
        x += 12.0 + radius;
        canvas.path(outer_style(index, with_parts), marker(0, x, middle, radius));
        x += radius + 5.0;
        write(canvas, &mut x, &text, 90.0);
    }
    let part = clean(&figure.part);
    if with_parts && !part.is_empty() && x + 100.0 < right {
        x += 24.0;
        canvas.path(outer_style(index, true), marker(0, x, middle, 7.0));
        canvas.path(Sheet::fill(index), marker(0, x, middle, 5.0));
        x += 12.0;
        let space = right - x;
        write(
            canvas,
            &mut x,
            &format!("inner disc: {part}"),
            space.max(0.0),
        );
    }
}
