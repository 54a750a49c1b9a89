//! Points, lines and steps.

use crate::canvas::{Area, marker, rectangle, tenths};
use crate::figure::{Figure, Mark, Series};
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
pub(crate) const SHADES: [&str; 5] = ["0.22", "0.4", "0.58", "0.78", "1"];

/// The shade of each number of points: by ratios, since nothing else shows both one and a million.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shading {
    most: usize,
}

impl Shading {
    /// Where each shade begins: 1, and then as evenly by ratio as whole numbers go.
    pub(crate) fn bounds(self) -> Vec<usize> {
        let mut bounds = vec![1];
        let ratio = (self.most.max(2) as f64).powf(1.0 / SHADES.len() as f64).max(2.0);
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
        SHADES.get((shade + SHADES.len()).saturating_sub(shades)).copied().unwrap_or("1")
    }
}

/// A number of one digit and zeros.
fn rounded(value: f64) -> usize {
    let power = 10usize.saturating_pow(crate::number::exponent(value).max(0) as u32);
    ((value / power as f64).round() as usize).saturating_mul(power)
}

/// Which series of points are drawn as cells.
pub(crate) fn dense(figure: &Figure) -> Vec<usize> {
    let points = |series: &Series| if series.mark == Mark::Points { series.points.len() } else { 0 };
    let all: usize = figure.drawn().map(points).sum();
    figure.drawn().enumerate().filter(|(_, series)| all > APART && points(series) > FEW).map(|(index, _)| index).collect()
}

/// How many points each cell holds.
type Cells = BTreeMap<(i64, i64), usize>;

impl Sheet<'_> {
    /// Draws points, and says how cells are shaded if there are any.
    pub(crate) fn draw_points(&mut self) -> Option<Shading> {
        let dense = dense(self.figure);
        // Several clouds over each other get coarser cells: about as many in all.
        let size = (4.0 * (dense.len().max(1) as f64).sqrt()).round();
        let clouds: Vec<(usize, Cells)> = dense
            .iter()
            .filter_map(|index| Some((*index, self.cells(self.figure.series.get(*index)?, size))))
            .collect();
        let most = clouds.iter().flat_map(|(_, cells)| cells.values()).copied().max();
        let shading = most.map(|most| Shading { most });
        if let Some(shading) = shading {
            for (index, cells) in clouds {
                self.draw_cells(index, &cells, size, shading);
            }
        }
        for (index, series) in self.figure.drawn().enumerate() {
            if series.mark == Mark::Points && !dense.contains(&index) {
                let mut steps = String::new();
                for point in series.points.iter().filter(|point| self.survey.absence(series.mark, point).is_none()) {
                    let (x, y) = (self.x.at(point.x), self.y.at(point.y));
                    steps.push_str(&marker(index, x, y, 3.2));
                    self.ink.dot(x, y);
                }
                let looks = format!("{} fill-opacity=\"0.8\"", Self::fill(index));
                self.canvas.path(&looks, &steps);
            }
        }
        shading
    }

    fn cells(&self, series: &Series, size: f64) -> Cells {
        let mut cells = Cells::new();
        for point in series.points.iter().filter(|point| self.survey.absence(series.mark, point).is_none()) {
            let across = (self.x.at(point.x) - self.plot.left) / size;
            let down = (self.y.at(point.y) - self.plot.top) / size;
            *cells.entry((down.floor() as i64, across.floor() as i64)).or_default() += 1;
        }
        cells
    }

    fn draw_cells(&mut self, index: usize, cells: &Cells, size: f64, shading: Shading) {
        let bounds = shading.bounds();
        let shades = bounds.len();
        for shade in 0..shades {
            let from = bounds.get(shade).copied().unwrap_or(1);
            let until = bounds.get(shade + 1).copied().unwrap_or(usize::MAX);
            let mut steps = String::new();
            for ((down, across), _) in cells.iter().filter(|(_, count)| (from..until).contains(count)) {
                let left = self.plot.left + *across as f64 * size;
                let top = self.plot.top + *down as f64 * size;
                let _ = write!(steps, "M{} {}h{size}v{size}h-{size}z", tenths(left), tenths(top));
                self.ink.fill(&Area { left, top, right: left + size - 0.1, bottom: top + size - 0.1 });
            }
            let looks = format!("{} fill-opacity=\"{}\"", Self::fill(index), Shading::opacity(shade, shades));
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
            ends.extend(runs.last().and_then(|run| run.last()).map(|end| (index, *end)));
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
                let y = self.survey.absence(series.mark, point).is_none().then(|| self.y.at(point.y));
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
        runs.into_iter().map(|run| thin(&run, self.column)).collect()
    }

    /// A gap that is narrower than a column cannot be seen, and is not drawn.
    fn end_run(runs: &mut Vec<Vec<(f64, f64)>>, run: &mut Vec<(f64, f64)>, column: f64) {
        let Some(first) = run.first() else { return };
        let near = runs.last().and_then(|last| last.last()).is_some_and(|last| first.0 - last.0 < column);
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
        let extremes = [group.first(), group.iter().min_by(by_height), group.iter().max_by(by_height), group.last()];
        let mut kept: Vec<(f64, f64)> = extremes.into_iter().flatten().copied().collect();
        kept.dedup();
        // Which of the extremes comes first is lost on purpose: within one column it cannot be seen.
        out.extend(kept);
    }
    out
}

/// The swatch of dense points in the legend.
pub(crate) fn cell_swatch(left: f64, middle: f64) -> String {
    rectangle(&Area { left, top: middle - 4.0, right: left + 8.0, bottom: middle + 4.0 })
}
