//! Bars: side by side, on top of each other, and as histograms.

use crate::canvas::{Anchor, Area, Face, Path, hatch, rectangle, text_area};
use crate::figure::{Figure, Mark, Series};
use crate::number::value;
use crate::scale::AxisMap;
use crate::sheet::Sheet;
use crate::style::{ShapeStyle, Tone};
use crate::survey::Survey;
use std::collections::{BTreeMap, BTreeSet};

/// With more bars than this, neither hatches nor values are readable.
const FEW: usize = 96;

/// The lower and upper ends of each stack so far, by position.
type Stacks = BTreeMap<u64, (f64, f64)>;

/// Returns the number of bars at one position: one for each series, and one for all stacks.
pub(crate) fn abreast(figure: &Figure) -> usize {
    let count = |mark: Mark| figure.drawn().filter(|series| series.mark == mark).count();
    (count(Mark::Bars) + count(Mark::Stacked).min(1)).max(1)
}

/// Returns the labels at the ends of bars.
fn labels<'a>(figure: &'a Figure, survey: &'a Survey) -> impl Iterator<Item = String> + 'a {
    let format = if figure.is_horizontal() {
        figure.x.format
    } else {
        figure.y.format
    };
    let values = figure
        .drawn()
        .filter(|series| series.mark == Mark::Bars)
        .flat_map(|series| &series.points);
    values
        .filter(|point| survey.absence(Mark::Bars, point).is_none())
        .map(move |point| {
            value(
                format,
                if figure.is_horizontal() {
                    point.x
                } else {
                    point.y
                },
            )
        })
}

/// Returns the width of the widest label at the end of a bar, or nothing if bars have no labels.
pub(crate) fn widest_label(figure: &Figure, survey: &Survey) -> Option<f64> {
    let values = figure
        .drawn()
        .filter(|series| series.mark == Mark::Bars)
        .flat_map(|series| &series.points);
    let negative = values.clone().any(|point| point.x < 0.0 || point.y < 0.0);
    if negative || values.count() > FEW {
        return None;
    }
    labels(figure, survey)
        .map(|label| text_area(0.0, 0.0, Anchor::Start, Face::Note, &label).width())
        .reduce(f64::max)
        .filter(|wide| *wide < 150.0)
}

impl Sheet<'_> {
    /// Returns the total width of the bars at one position.
    fn band(&self) -> f64 {
        let map = self.across();
        if let Some(slot) = map.slot() {
            let most = if self.figure.is_horizontal() {
                28.0
            } else {
                64.0
            };
            return (slot * 0.78).min(most * abreast(self.figure) as f64);
        }
        let mut places: Vec<i64> = Vec::new();
        for (_, series) in self.series_of(&[Mark::Bars, Mark::Stacked]) {
            let points = series
                .points
                .iter()
                .filter(|point| self.survey.absence(series.mark, point).is_none());
            places.extend(points.map(|point| (map.at(point.x) * 10.0).round() as i64));
        }
        places.sort_unstable();
        places.dedup();
        let gaps = places
            .windows(2)
            .filter_map(|pair| Some(pair.get(1)? - pair.first()?));
        gaps.min().map_or(24.0, |gap| {
            (gap as f64 / 10.0 * 0.8).clamp(self.column, 48.0)
        })
    }

    /// Returns the minimum distance of two bars that are drawn separately.
    fn grain(&self) -> f64 {
        if self.across().slot().is_none() && self.band() <= self.column {
            self.column
        } else {
            0.1
        }
    }

    /// Returns the axis along which bars are placed.
    fn across(&self) -> &AxisMap {
        if self.figure.is_horizontal() {
            &self.y
        } else {
            &self.x
        }
    }

    /// Returns the axis along which bars extend.
    fn along(&self) -> &AxisMap {
        if self.figure.is_horizontal() {
            &self.x
        } else {
            &self.y
        }
    }

    /// Returns the rectangle of a bar.
    fn bar(&self, middle: f64, breadth: f64, from: f64, to: f64) -> Area {
        let (low, high) = (middle - breadth / 2.0, middle + breadth / 2.0);
        let area = if self.figure.is_horizontal() {
            Area {
                left: from.min(to),
                top: low,
                right: from.max(to),
                bottom: high,
            }
        } else {
            Area {
                left: low,
                top: from.min(to),
                right: high,
                bottom: from.max(to),
            }
        };
        Area {
            left: area.left.max(self.plot.left),
            top: area.top.max(self.plot.top),
            right: area.right.min(self.plot.right),
            bottom: area.bottom.min(self.plot.bottom),
        }
    }

    pub(crate) fn draw_bars(&mut self) {
        let horizontal = self.figure.is_horizontal();
        let breadth = self.band() / abreast(self.figure) as f64;
        let gap = if breadth > 6.0 { 1.0 } else { 0.0 };
        let mut place = 0;
        let mut stacked_at = None;
        let places = self.stack_places();
        let mut stacks: Stacks = places
            .into_iter()
            .map(|place| (place, (0.0, 0.0)))
            .collect();
        let mut ends = Vec::new();
        for (index, series) in self.figure.drawn().enumerate() {
            let lane = match series.mark {
                Mark::Bars => place,
                Mark::Stacked => *stacked_at.get_or_insert(place),
                _ => continue,
            };
            if series.mark == Mark::Bars || stacked_at == Some(place) {
                place += 1;
            }
            let shift = (lane as f64 + 0.5) * breadth - self.band_half(breadth);
            let areas = if series.mark == Mark::Bars {
                self.single(series, shift, breadth - gap, &mut ends)
            } else {
                self.stack(series, shift, breadth - gap, &mut stacks)
            };
            self.draw_areas(index, &areas, series.mark == Mark::Stacked);
        }
        let widest = widest_label(self.figure, self.survey).unwrap_or(f64::INFINITY);
        let fits = if horizontal {
            breadth >= 11.0 && widest.is_finite()
        } else {
            widest <= breadth + 1.0
        };
        if fits {
            for (area, text) in ends {
                if horizontal {
                    let middle = f64::midpoint(area.top, area.bottom);
                    self.canvas.text(
                        area.right + 5.0,
                        middle + 4.0,
                        Anchor::Start,
                        Face::Note,
                        &text,
                        &text,
                    );
                } else {
                    let middle = f64::midpoint(area.left, area.right);
                    self.canvas.text(
                        middle,
                        area.top - 4.0,
                        Anchor::Middle,
                        Face::Note,
                        &text,
                        &text,
                    );
                }
            }
        }
    }

    fn band_half(&self, breadth: f64) -> f64 {
        breadth * abreast(self.figure) as f64 / 2.0
    }

    /// Returns the bars of one series, and adds the labels at their ends. Of several bars at one
    /// position, the longest is drawn.
    fn single(
        &mut self,
        series: &Series,
        shift: f64,
        breadth: f64,
        ends: &mut Vec<(Area, String)>,
    ) -> Vec<Area> {
        let horizontal = self.figure.is_horizontal();
        let format = if horizontal {
            self.figure.x.format
        } else {
            self.figure.y.format
        };
        let grain = self.grain();
        let mut longest: BTreeMap<i64, f64> = BTreeMap::new();
        for point in series
            .points
            .iter()
            .filter(|point| self.survey.absence(series.mark, point).is_none())
        {
            let (place, height) = if horizontal {
                (point.y, point.x)
            } else {
                (point.x, point.y)
            };
            let at = self.across().at(place);
            let rounded = ((at / grain).round() * grain * 10.0).round() as i64;
            match longest.get_mut(&rounded) {
                Some(known) => {
                    self.hidden += 1;
                    if height.abs() > known.abs() {
                        *known = height;
                    }
                }
                None => {
                    longest.insert(rounded, height);
                }
            }
        }
        let base = self.along().base();
        let bars: Vec<(Area, f64)> = longest
            .into_iter()
            .map(|(at, height)| {
                (
                    self.bar(
                        at as f64 / 10.0 + shift,
                        breadth,
                        base,
                        self.along().at(height),
                    ),
                    height,
                )
            })
            .collect();
        ends.extend(
            bars.iter()
                .map(|(area, height)| (*area, value(format, *height))),
        );
        bars.into_iter().map(|(area, _)| area).collect()
    }

    /// Returns the positions of the stacks that are drawn: of several in one column of the page,
    /// the longest.
    fn stack_places(&mut self) -> BTreeSet<u64> {
        let mut reach: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
        for (_, series) in self.series_of(&[Mark::Stacked]) {
            for (place, height) in self.stack_parts(series) {
                let (at, sum) = reach.entry(place.to_bits()).or_default();
                *at = self.across().at(place);
                *sum = (*sum + height.abs()).min(f64::MAX);
            }
        }
        let grain = self.grain();
        let mut columns: BTreeMap<i64, (u64, f64)> = BTreeMap::new();
        let all = reach.len();
        for (place, (at, sum)) in reach {
            let best = columns
                .entry((at / grain).round() as i64)
                .or_insert((place, sum));
            if sum > best.1 {
                *best = (place, sum);
            }
        }
        self.hidden += all - columns.len();
        columns.into_values().map(|(place, _)| place).collect()
    }

    /// Returns the parts of a series in each stack, by position.
    fn stack_parts(&self, series: &Series) -> Vec<(f64, f64)> {
        let mut parts: BTreeMap<u64, f64> = BTreeMap::new();
        for point in series
            .points
            .iter()
            .filter(|point| self.survey.absence(series.mark, point).is_none())
        {
            let (place, height) = if self.figure.is_horizontal() {
                (point.y, point.x)
            } else {
                (point.x, point.y)
            };
            // Zero and negative zero are the same position.
            let part = parts.entry((place + 0.0).to_bits()).or_default();
            *part = (*part + height).clamp(-f64::MAX, f64::MAX);
        }
        parts
            .into_iter()
            .map(|(place, height)| (f64::from_bits(place), height))
            .collect()
    }

    /// Returns the areas of a series in the stacks, above those of earlier series.
    fn stack(&self, series: &Series, shift: f64, breadth: f64, stacks: &mut Stacks) -> Vec<Area> {
        let mut areas = Vec::new();
        for (place, height) in self.stack_parts(series) {
            let Some((below, above)) = stacks.get_mut(&place.to_bits()) else {
                continue;
            };
            let sum = if height < 0.0 { below } else { above };
            let from = *sum;
            *sum = (*sum + height).clamp(-f64::MAX, f64::MAX);
            let middle = self.across().at(place) + shift;
            let area = self.bar(
                middle,
                breadth,
                self.along().at(from),
                self.along().at(*sum),
            );
            if area.width() >= 0.05 && area.height() >= 0.05 {
                areas.push(area);
            }
        }
        areas
    }

    fn draw_areas(&mut self, index: usize, areas: &[Area], edges: bool) {
        let looks = match edges && areas.len() <= FEW {
            true => Self::fill(index).outlined(Tone::Paper, 1.0),
            false => Self::fill(index),
        };
        self.canvas
            .path(looks, areas.iter().map(rectangle).collect());
        if areas.len() * abreast(self.figure) <= FEW {
            let lines = areas.iter().map(|area| hatch(index, area)).collect();
            self.canvas
                .path(ShapeStyle::stroke(Tone::Paper, 1.0), lines);
        }
        areas.iter().for_each(|area| self.ink.fill(area));
    }

    /// Draws histograms. The first is filled, further ones are outlined. Of several bins within a
    /// pixel, the highest is drawn.
    pub(crate) fn draw_histograms(&mut self) {
        let mut first = true;
        for (index, series) in self
            .figure
            .drawn()
            .enumerate()
            .filter(|(_, series)| series.mark == Mark::Histogram)
        {
            let base = self.y.base();
            let mut columns: BTreeMap<(i64, i64), f64> = BTreeMap::new();
            let tight = series.points.len() > 400;
            for point in series
                .points
                .iter()
                .filter(|point| self.survey.absence(series.mark, point).is_none())
            {
                let place = |at: f64| {
                    if tight {
                        (at / self.column).round() * self.column
                    } else {
                        at
                    }
                };
                let (from, to) = (place(self.x.at(point.x)), place(self.x.at(point.end)));
                let to = to
                    .max(from + if tight { self.column } else { 0.5 })
                    .min(self.plot.right);
                let y = self.y.at(point.y);
                let known = columns
                    .entry(((from * 10.0).round() as i64, (to * 10.0).round() as i64))
                    .or_insert(y);
                if (y - base).abs() > (*known - base).abs() {
                    *known = y;
                }
            }
            let mut path = Path::default();
            for ((from, to), y) in columns.into_iter().take(2_000) {
                let (from, to) = (from as f64 / 10.0, to as f64 / 10.0);
                let gap = if to - from > 4.0 { 0.5 } else { 0.0 };
                let area = Area {
                    left: from + gap,
                    top: y.min(base),
                    right: to - gap,
                    bottom: y.max(base),
                };
                path.add(rectangle(&area));
                self.ink.fill(&area);
            }
            let looks = if first {
                Self::fill(index)
            } else {
                Self::stroke(index)
            };
            self.canvas.path(looks, path);
            first = false;
        }
    }
}
