//! Points, drawn one by one or, if there are too many, as cells shaded by their number of points.

use crate::canvas::{Anchor, Area, Face, Path, marker, rectangle, segment};
use crate::figure::{Figure, Mark, NumberFormat, Point, Series};
use crate::number::grouped;
use crate::scale::{AxisMap, Domain};
use crate::sheet::Sheet;
use crate::style::{ShapeStyle, Tone};
use std::collections::{BTreeMap, BTreeSet};

/// Up to this many points are drawn one by one.
const APART: usize = 1_500;

/// A series of at most this many points is always drawn point by point: a few points among many are
/// what a reader looks for.
const FEW: usize = 80;

/// The maximum size of a mark for several points, whose number is written beside it.
const LARGEST: f64 = 12.0;

/// The maximum number of marks whose number of points is written.
const NUMBERED: usize = 24;

/// A position in tenths, as it is written.
fn tenth(place: f64) -> i64 {
    (place * 10.0).round() as i64
}

/// The square around a mark.
fn around(x: f64, y: f64, radius: f64) -> Area {
    Area {
        left: x - radius,
        top: y - radius,
        right: x + radius,
        bottom: y + radius,
    }
}

/// The shades of cells, from one point to the maximum, in hundredths.
pub(crate) const SHADES: [u8; 5] = [35, 50, 66, 83, 100];

/// The shade of each number of points, by ratios: only these show both one and a million.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shading {
    most: usize,
}

impl Shading {
    /// Returns where each shade begins: at 1, and then as evenly by ratio as whole numbers allow.
    pub(crate) fn bounds(self) -> Vec<usize> {
        let mut bounds = vec![1];
        let ratio = (self.most.max(2) as f64)
            .powf(1.0 / SHADES.len() as f64)
            .max(2.0);
        let mut bound = 1.0;
        while bounds.len() < SHADES.len() {
            bound *= ratio;
            let rounded = rounded(bound);
            if rounded > self.most {
                break;
            }
            if bounds.last().is_none_or(|last| rounded > *last) {
                bounds.push(rounded);
            }
        }
        bounds
    }

    pub(crate) fn most(self) -> usize {
        self.most
    }

    /// Returns the opacity of a shade; the last is opaque.
    pub(crate) fn opacity(shade: usize, shades: usize) -> u8 {
        SHADES
            .get((shade + SHADES.len()).saturating_sub(shades))
            .copied()
            .unwrap_or(100)
    }
}

/// Rounds to one significant digit.
fn rounded(value: f64) -> usize {
    let power = 10usize.saturating_pow(crate::number::exponent(value).max(0) as u32);
    ((value / power as f64).round() as usize).saturating_mul(power)
}

/// Returns the series of points that are drawn as cells.
pub(crate) fn dense(figure: &Figure) -> Vec<usize> {
    let points = |series: &Series| {
        if series.mark == Mark::Points {
            series.points.len()
        } else {
            0
        }
    };
    let all: usize = figure.drawn().map(points).sum();
    figure
        .drawn()
        .enumerate()
        .filter(|(_, series)| all > APART && points(series) > FEW)
        .map(|(index, _)| index)
        .collect()
}

/// The number of points of each cell, by row and column.
type Cells = BTreeMap<(i64, i64), usize>;

/// The cells along one axis.
#[derive(Clone, Copy, Debug)]
struct Lattice {
    origin: f64,
    step: f64,
    last: i64,
}

impl Lattice {
    /// Divides an axis into cells of at least this size. If the axis counts, each cell spans the
    /// same number of values. Otherwise some cells would span two values and some one, and stripes
    /// would appear that are not in the data.
    fn of(map: &AxisMap, format: NumberFormat, size: f64) -> Lattice {
        let (low, high) = (map.from.min(map.to), map.from.max(map.to));
        match map.domain {
            Domain::Linear {
                low: least,
                high: most,
            } if format == NumberFormat::Count && most - least < 1e9 => {
                let one = (high - low) / (most - least);
                let together = (size / one).ceil().max(1.0);
                Lattice {
                    origin: map.at(least.round()) - one / 2.0,
                    step: one * together,
                    last: i64::MAX,
                }
            }
            Domain::Slots(slots) => Lattice {
                origin: low,
                step: (high - low) / slots.max(1) as f64,
                last: i64::MAX,
            },
            // As many cells as fit without a remainder, which would be an invisible sliver.
            Domain::Linear { .. } | Domain::Log { .. } => {
                let cells = ((high - low) / size).floor().max(1.0);
                Lattice {
                    origin: low,
                    step: (high - low) / cells,
                    last: cells as i64 - 1,
                }
            }
        }
    }

    fn cell(self, place: f64) -> i64 {
        // Tolerance: rounding must not decide the cell of a value on an edge. A value on the last
        // edge belongs to the last cell.
        (((place - self.origin) / self.step + 1e-6).floor() as i64).min(self.last)
    }

    /// Returns where a cell begins and ends, within bounds. A broad cell does not fill its space:
    /// it is a mark, not an area.
    fn ends(self, cell: i64, low: f64, high: f64) -> (f64, f64) {
        let middle = self.origin + (cell as f64 + 0.5) * self.step;
        let half = self.step.min(16.0) / 2.0;
        let (from, to) = ((middle - half).max(low), (middle + half).min(high));
        // A cell cut off by the edge of the plot remains visible.
        let least = self.step.min(3.0);
        match to - from < least {
            true if from - low < high - to => (from, from + least),
            true => (to - least, to),
            false => (from, to),
        }
    }
}

impl Sheet<'_> {
    /// Draws dense series as cells, and returns their shading if there are any.
    pub(crate) fn draw_clouds(&mut self) -> Option<Shading> {
        let dense = dense(self.figure);
        // Several dense series have coarser cells, about as many in total.
        let size = (4.0 * (dense.len().max(1) as f64).sqrt()).round();
        let (x, y) = (&self.figure.x, &self.figure.y);
        let lattices = (
            Lattice::of(&self.x, x.format, size),
            Lattice::of(&self.y, y.format, size),
        );
        let clouds: Vec<(usize, Cells)> = dense
            .iter()
            .filter_map(|index| {
                Some((
                    *index,
                    self.cells(self.figure.series.get(*index)?, lattices),
                ))
            })
            .collect();
        let most = clouds
            .iter()
            .flat_map(|(_, cells)| cells.values())
            .copied()
            .max();
        let shading = most.map(|most| Shading { most });
        if let Some(shading) = shading {
            for (index, cells) in clouds {
                self.draw_cells(index, &cells, lattices, shading);
            }
        }
        shading
    }

    /// Draws the other points one by one, over everything else, with their error bars. Several
    /// points at one position are one larger mark.
    pub(crate) fn draw_marks(&mut self) {
        let dense = dense(self.figure);
        // A few points over a line should be noticed, and a line has its own marks.
        let over_lines = self.figure.drawn().any(|series| series.mark == Mark::Line);
        let usual = if over_lines { 5.5 } else { 3.2 };
        let mut together = Vec::new();
        for (index, series) in self.figure.drawn().enumerate() {
            if series.mark != Mark::Points {
                continue;
            }
            if dense.contains(&index) {
                let with_bars = |point: &&Point| point.x_error > 0.0 || point.y_error > 0.0;
                self.bars_left_out += series.points.iter().filter(with_bars).count();
                continue;
            }
            let mut places: BTreeMap<(i64, i64), usize> = BTreeMap::new();
            let mut bars = BTreeSet::new();
            for point in series
                .points
                .iter()
                .filter(|point| self.survey.absence(series.mark, point).is_none())
            {
                let (x, y) = (self.x.at(point.x), self.y.at(point.y));
                *places.entry((tenth(x), tenth(y))).or_default() += 1;
                bars.extend(self.error_bars(point));
            }
            let mut path = Path::default();
            for bar in &bars {
                let [from_x, from_y, to_x, to_y] = bar.map(|place| place as f64 / 10.0);
                let (from, to) = ((from_x, from_y), (to_x, to_y));
                path.add(segment(from, to));
                self.ink.line(from, to);
                let cap = if from_y == to_y {
                    (0.0, 2.5)
                } else {
                    (2.5, 0.0)
                };
                for (x, y) in [from, to].into_iter().filter(|_| bars.len() <= FEW) {
                    let (left, top) = ((x - cap.0).max(0.0), (y - cap.1).max(0.0));
                    path.add(segment((left, top), (x + cap.0, y + cap.1)));
                }
            }
            let looks = ShapeStyle::stroke(Tone::Series(index), 1.2).opacity(60);
            self.canvas.path(looks, path);
            let mut path = Path::default();
            for (&(across, down), &count) in &places {
                let (x, y) = (across as f64 / 10.0, down as f64 / 10.0);
                let radius = (usual * (count as f64).sqrt()).min(LARGEST.max(usual));
                path.add(marker(index, x, y, radius));
                self.ink
                    .fill(&around(x, y, if count > 1 { radius } else { 0.0 }));
                if count > 1 {
                    together.push((count, x, y, radius));
                }
            }
            let looks = Self::fill(index).opacity(85).outlined(Tone::Paper, 0.6);
            self.canvas.path(looks, path);
        }
        self.together = together;
    }

    /// Writes how many points are at one position, the most first and only if they are many. Called
    /// after everything else is drawn.
    pub(crate) fn draw_numbers(&mut self) {
        let mut together = self.together.clone();
        together.sort_by(|one, other| {
            let place = |of: &(usize, f64, f64, f64)| (tenth(of.2), tenth(of.1));
            other.0.cmp(&one.0).then(place(one).cmp(&place(other)))
        });
        // Small numbers among large ones would be clutter.
        let least = together.first().map_or(2, |largest| largest.0.div_ceil(4));
        together.retain(|mark| mark.0 >= least);
        for (count, x, y, radius) in together.into_iter().take(NUMBERED) {
            let text = grouped(count as f64, 0);
            let off = radius + 4.0;
            let places = [
                (x - off, y + 4.0, Anchor::End),
                (x + off, y + 4.0, Anchor::Start),
                (x, y - off, Anchor::Middle),
                (x, y + off + 8.0, Anchor::Middle),
                (x - off, y + off + 4.0, Anchor::End),
                (x - off, y - off + 4.0, Anchor::End),
            ];
            self.try_label(Face::Note, &text, &text, &places);
        }
    }

    /// Returns the error bars of a point in tenths, clipped to the plot.
    fn error_bars(&self, point: &Point) -> Vec<[i64; 4]> {
        let (x, y) = (tenth(self.x.at(point.x)), tenth(self.y.at(point.y)));
        let mut bars = Vec::new();
        if point.x_error.is_finite() && point.x_error > 0.0 && self.x.slot().is_none() {
            let end = |value: f64| tenth(self.x.at(value));
            bars.push([
                end(point.x - point.x_error),
                y,
                end(point.x + point.x_error),
                y,
            ]);
        }
        if point.y_error.is_finite() && point.y_error > 0.0 && self.y.slot().is_none() {
            let end = |value: f64| tenth(self.y.at(value));
            bars.push([
                x,
                end(point.y + point.y_error),
                x,
                end(point.y - point.y_error),
            ]);
        }
        bars
    }

    fn cells(&self, series: &Series, (across, down): (Lattice, Lattice)) -> Cells {
        let mut cells = Cells::new();
        for point in series
            .points
            .iter()
            .filter(|point| self.survey.absence(series.mark, point).is_none())
        {
            *cells
                .entry((
                    down.cell(self.y.at(point.y)),
                    across.cell(self.x.at(point.x)),
                ))
                .or_default() += 1;
        }
        cells
    }

    fn draw_cells(
        &mut self,
        index: usize,
        cells: &Cells,
        (across, down): (Lattice, Lattice),
        shading: Shading,
    ) {
        let plot = self.plot;
        let bounds = shading.bounds();
        let shades = bounds.len();
        for shade in 0..shades {
            let from = bounds.get(shade).copied().unwrap_or(1);
            let until = bounds.get(shade + 1).copied().unwrap_or(usize::MAX);
            let mut path = Path::default();
            for ((row, column), _) in cells
                .iter()
                .filter(|(_, count)| (from..until).contains(count))
            {
                let (left, right) = across.ends(*column, plot.left, plot.right);
                let (top, bottom) = down.ends(*row, plot.top, plot.bottom);
                let area = Area {
                    left,
                    top,
                    right,
                    bottom,
                };
                path.add(rectangle(&area));
                self.ink.fill(&Area {
                    right: right - 0.1,
                    bottom: bottom - 0.1,
                    ..area
                });
            }
            // Without antialiasing, because adjacent cells would show seams.
            let opacity = Shading::opacity(shade, shades);
            let looks = Self::fill(index).opacity(opacity).crisp();
            self.canvas.path(looks, path);
        }
    }
}

/// Returns the swatch of a dense series in the legend.
pub(crate) fn cell_swatch(left: f64, middle: f64) -> Path {
    rectangle(&Area {
        left,
        top: middle - 4.0,
        right: left + 8.0,
        bottom: middle + 4.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shades_begin_at_one_and_at_round_numbers() {
        assert_eq!(Shading { most: 1 }.bounds(), [1]);
        assert_eq!(Shading { most: 3 }.bounds(), [1, 2]);
        assert_eq!(
            Shading { most: 100_000 }.bounds(),
            [1, 10, 100, 1_000, 10_000]
        );
    }

    proptest! {
        #[test]
        fn cells_of_an_axis_that_counts_hold_equally_many_numbers(low in -500..500i32, span in 1..900i32, wide in 100.0..700.0f64) {
            let (low, high) = (f64::from(low), f64::from(low + span));
            let map = AxisMap { domain: Domain::Linear { low, high }, from: 50.0, to: 50.0 + wide };
            let lattice = Lattice::of(&map, NumberFormat::Count, 4.0);
            let mut cells: BTreeMap<i64, usize> = BTreeMap::new();
            for number in 0..=span {
                *cells.entry(lattice.cell(map.at(low + f64::from(number)))).or_default() += 1;
            }
            let each = cells.values().next().copied().unwrap_or(0);
            let last = cells.keys().next_back().copied().unwrap_or(0);
            prop_assert!(cells.iter().all(|(cell, count)| *count == each || (*cell == last && *count < each)), "{:?}", cells);
        }
    }
}
