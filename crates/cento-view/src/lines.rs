//! Points, lines and steps.

use crate::canvas::{Area, marker, rectangle, tenths};
use crate::figure::{Figure, Format, Mark, Series};
use crate::scale::{Domain, Map};
use crate::sheet::Sheet;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// So many points together are still seen one by one.
const APART: usize = 1_500;

/// A series of no more than this is always drawn point by point: few among many are what a reader looks for.
const FEW: usize = 80;

/// A line of no more points shows each of them.
const MARKED: usize = 40;

/// Shades of a cell, from one point to the most.
pub(crate) const SHADES: [&str; 5] = ["0.35", "0.5", "0.66", "0.83", "1"];

/// The shade of each number of points: by ratios, since nothing else shows both one and a million.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shading {
    most: usize,
}

impl Shading {
    /// Where each shade begins: 1, and then as evenly by ratio as whole numbers go.
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

    /// The opacity of the n-th of some shades: the last is always full.
    pub(crate) fn opacity(shade: usize, shades: usize) -> &'static str {
        SHADES
            .get((shade + SHADES.len()).saturating_sub(shades))
            .copied()
            .unwrap_or("1")
    }
}

/// A number of one digit and zeros.
fn rounded(value: f64) -> usize {
    let power = 10usize.saturating_pow(crate::number::exponent(value).max(0) as u32);
    ((value / power as f64).round() as usize).saturating_mul(power)
}

/// Which series of points are drawn as cells.
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

/// How many points each cell holds, by row and column.
type Cells = BTreeMap<(i64, i64), usize>;

/// The cells along one axis.
#[derive(Clone, Copy, Debug)]
struct Lattice {
    origin: f64,
    step: f64,
}

impl Lattice {
    /// Cells of at least this size. Where an axis counts whole things each cell holds the same number of them: otherwise
    /// some cells would hold two numbers and some one, and stripes appear that are not in the data.
    fn of(map: &Map, format: Format, size: f64) -> Lattice {
        let (low, high) = (map.from.min(map.to), map.from.max(map.to));
        match map.domain {
            Domain::Linear {
                low: least,
                high: most,
            } if format == Format::Count && most - least < 1e9 => {
                let one = (high - low) / (most - least);
                let together = (size / one).ceil().max(1.0);
                Lattice {
                    origin: map.at(least.round()) - one / 2.0,
                    step: one * together,
                }
            }
            Domain::Slots(slots) => Lattice {
                origin: low,
                step: (high - low) / slots.max(1) as f64,
            },
            Domain::Linear { .. } | Domain::Log { .. } => Lattice {
                origin: low,
                step: size,
            },
        }
    }

    fn cell(self, place: f64) -> i64 {
        // A hair of room: what stands on the edge of a cell must not fall to either side by rounding.
        ((place - self.origin) / self.step + 1e-6).floor() as i64
    }

    /// Where a cell begins and ends, within bounds. One that is broad does not fill its place: it is a mark, not an area.
    fn ends(self, cell: i64, low: f64, high: f64) -> (f64, f64) {
        let middle = self.origin + (cell as f64 + 0.5) * self.step;
        let half = self.step.min(10.0) / 2.0;
        ((middle - half).max(low), (middle + half).min(high))
    }
}

impl Sheet<'_> {
    /// Draws points, and says how cells are shaded if there are any.
    pub(crate) fn draw_points(&mut self) -> Option<Shading> {
        let dense = dense(self.figure);
        // Several clouds over each other get coarser cells: about as many in all.
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
        for (index, series) in self.figure.drawn().enumerate() {
            if series.mark == Mark::Points && !dense.contains(&index) {
                let mut steps = String::new();
                for point in series
                    .points
                    .iter()
                    .filter(|point| self.survey.absence(series.mark, point).is_none())
                {
                    let (x, y) = (self.x.at(point.x), self.y.at(point.y));
                    steps.push_str(&marker(index, x, y, 3.2));
                    self.ink.dot(x, y);
                }
                let looks = Self::fill(index).replacen("class=\"", "class=\"cf-edge ", 1);
                self.canvas.path(
                    &format!("{looks} fill-opacity=\"0.85\" stroke=\"#fff\" stroke-width=\"0.6\""),
                    &steps,
                );
            }
        }
        shading
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
            let mut steps = String::new();
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
                steps.push_str(&rectangle(&area));
                self.ink.fill(&Area {
                    right: right - 0.1,
                    bottom: bottom - 0.1,
                    ..area
                });
            }
            // Crisp, because cells that meet would show seams.
            let opacity = Shading::opacity(shade, shades);
            let looks = format!(
                "{} fill-opacity=\"{opacity}\" shape-rendering=\"crispEdges\"",
                Self::fill(index)
            );
            self.canvas.path(&looks, &steps);
        }
    }

    /// Draws lines and steps, and says where each ends.
    pub(crate) fn draw_lines(&mut self) -> Vec<(usize, (f64, f64))> {
        let mut ends = Vec::new();
        for (index, series) in self.figure.drawn().enumerate() {
            let steps = match series.mark {
                Mark::Line => false,
                Mark::Steps => true,
                _ => continue,
            };
            let runs = self.runs(series);
            let count: usize = runs.iter().map(Vec::len).sum();
            let mut path = String::new();
            let mut markers = String::new();
            for run in &runs {
                self.trace(run, steps, &mut path);
                if (count <= MARKED && !steps) || run.len() == 1 {
                    markers.extend(run.iter().map(|(x, y)| marker(index, *x, *y, 3.2)));
                }
            }
            self.canvas.path(&Self::stroke(index), &path);
            self.canvas.path(&Self::fill(index), &markers);
            ends.extend(
                runs.last()
                    .and_then(|run| run.last())
                    .map(|end| (index, *end)),
            );
        }
        ends
    }

    fn trace(&mut self, run: &[(f64, f64)], steps: bool, path: &mut String) {
        let mut before: Option<(f64, f64)> = None;
        for (x, y) in run {
            match before {
                None => {
                    let _ = write!(path, "M{} {}", tenths(*x), tenths(*y));
                }
                Some(last) if steps => {
                    let _ = write!(path, "H{}V{}", tenths(*x), tenths(*y));
                    self.ink.line(last, (*x, last.1));
                    self.ink.line((*x, last.1), (*x, *y));
                }
                Some(last) => {
                    let _ = write!(path, "L{} {}", tenths(*x), tenths(*y));
                    self.ink.line(last, (*x, *y));
                }
            }
            before = Some((*x, *y));
        }
    }

    /// The unbroken runs of a line, in the order of x. Of many points in a column of the page the first, the last, the highest
    /// and the lowest are drawn: the picture is the same, and no larger than the page.
    fn runs(&self, series: &Series) -> Vec<Vec<(f64, f64)>> {
        let mut points: Vec<(f64, Option<f64>)> = series
            .points
            .iter()
            .filter(|point| self.survey.x_is_drawn(point.x))
            .map(|point| {
                let y = self
                    .survey
                    .absence(series.mark, point)
                    .is_none()
                    .then(|| self.y.at(point.y));
                (self.x.at(point.x), y)
            })
            .collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut runs: Vec<Vec<(f64, f64)>> = Vec::new();
        let mut run: Vec<(f64, f64)> = Vec::new();
        for (x, y) in points {
            match y {
                Some(y) => run.push((x, y)),
                None => Self::end_run(&mut runs, &mut run, self.column),
            }
        }
        Self::end_run(&mut runs, &mut run, self.column);
        runs.into_iter()
            .map(|run| thin(&run, self.column))
            .collect()
    }

    /// A gap that is narrower than a column cannot be seen, and is not drawn.
    fn end_run(runs: &mut Vec<Vec<(f64, f64)>>, run: &mut Vec<(f64, f64)>, column: f64) {
        let Some(first) = run.first() else { return };
        let near = runs
            .last()
            .and_then(|last| last.last())
            .is_some_and(|last| first.0 - last.0 < column);
        match runs.last_mut().filter(|_| near) {
            Some(last) => last.append(run),
            None => runs.push(std::mem::take(run)),
        }
    }
}

/// First, lowest, highest and last of each column.
fn thin(run: &[(f64, f64)], column: f64) -> Vec<(f64, f64)> {
    if run.len() <= 4 * MARKED {
        return run.to_vec();
    }
    let mut out = Vec::new();
    for group in run.chunk_by(|one, other| (one.0 / column).floor() == (other.0 / column).floor()) {
        let by_height = |one: &&(f64, f64), other: &&(f64, f64)| one.1.total_cmp(&other.1);
        let extremes = [
            group.first(),
            group.iter().min_by(by_height),
            group.iter().max_by(by_height),
            group.last(),
        ];
        let mut kept: Vec<(f64, f64)> = extremes.into_iter().flatten().copied().collect();
        kept.dedup();
        // Which of the extremes comes first is lost on purpose: within one column it cannot be seen.
        out.extend(kept);
    }
    out
}

/// The swatch of dense points in the legend.
pub(crate) fn cell_swatch(left: f64, middle: f64) -> String {
    rectangle(&Area {
        left,
        top: middle - 4.0,
        right: left + 8.0,
        bottom: middle + 4.0,
    })
}
