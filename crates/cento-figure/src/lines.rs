//! Lines and steps.

use crate::canvas::{Path, PathStep, marker};
use crate::figure::{Mark, Series};
use crate::sheet::Sheet;

/// A line of at most this many points shows markers.
const MARKED: usize = 40;

impl Sheet<'_> {
    /// Draws lines and steps, and returns where each ends.
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
            let mut path = Path::default();
            let mut markers = Path::default();
            for run in &runs {
                self.trace(run, steps, &mut path);
                if (count <= MARKED && !steps) || run.len() == 1 {
                    run.iter()
                        .for_each(|(x, y)| markers.add(marker(index, *x, *y, 3.2)));
                }
            }
            self.canvas.path(Self::stroke(index), path);
            self.canvas.path(Self::fill(index), markers);
            ends.extend(
                runs.last()
                    .and_then(|run| run.last())
                    .map(|end| (index, *end)),
            );
        }
        ends
    }

    fn trace(&mut self, run: &[(f64, f64)], steps: bool, path: &mut Path) {
        let mut before: Option<(f64, f64)> = None;
        for (x, y) in run {
            match before {
                None => path.0.push(PathStep::Move(*x, *y)),
                Some(last) if steps => {
                    path.0.extend([PathStep::Across(*x), PathStep::Down(*y)]);
                    self.ink.line(last, (*x, last.1));
                    self.ink.line((*x, last.1), (*x, *y));
                }
                Some(last) => {
                    path.0.push(PathStep::Line(*x, *y));
                    self.ink.line(last, (*x, *y));
                }
            }
            before = Some((*x, *y));
        }
    }

    /// Returns the unbroken runs of a line, in the order of x. Of many points in a column of the
    /// page, the first, the last, the highest and the lowest are drawn: the picture looks the same,
    /// and its size is bounded.
    fn runs(&self, series: &Series) -> Vec<Vec<(f64, f64)>> {
        let mut points: Vec<(f64, f64, Option<f64>)> = series
            .points
            .iter()
            .filter(|point| self.survey.x_is_drawn(point.x))
            .map(|point| {
                let y = self
                    .survey
                    .absence(series.mark, point)
                    .is_none()
                    .then(|| self.y.at(point.y));
                (point.x, self.x.at(point.x), y)
            })
            .collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut runs: Vec<Vec<(f64, f64)>> = Vec::new();
        let mut run: Vec<(f64, f64)> = Vec::new();
        let mut before = f64::NEG_INFINITY;
        for (value, x, y) in points {
            // Tolerance: multiples of a step differ by the step only up to rounding.
            if value - before > series.reach * (1.0 + 1e-9) {
                Self::end_run(&mut runs, &mut run, self.column);
            }
            before = value;
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

    /// Joins runs whose gap is narrower than a column and would be invisible.
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

/// Returns the first, lowest, highest and last point of each column.
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
        // The order of the extremes is not kept: it is invisible within one column.
        out.extend(kept);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_thinned_line_covers_the_same_pixels(ys in proptest::collection::vec(0.0..300.0f64, 200..2_000)) {
            let run: Vec<(f64, f64)> = ys.iter().enumerate().map(|(n, y)| (n as f64 / 10.0, *y)).collect();
            let thinned = thin(&run, 1.0);
            prop_assert!(thinned.len() <= 4 * (run.len() / 10 + 1));
            for column in 0..=run.len() / 10 {
                let reach = |run: &[(f64, f64)]| {
                    let inside = run.iter().filter(|(x, _)| x.floor() as usize == column).map(|(_, y)| *y);
                    inside.fold((f64::MAX, f64::MIN), |(low, high), y| (low.min(y), high.max(y)))
                };
                prop_assert_eq!(reach(&run), reach(&thinned));
            }
        }
    }
}
