//! Surveys the data before anything is drawn: their extent, and what cannot be shown.

use crate::figure::{Axis, Figure, Mark, Point, Scale, Series};
use crate::number::grouped;
use std::collections::BTreeMap;

/// The range from the smallest to the largest value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extent {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Extent {
    const NOTHING: Extent = Extent {
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
    };

    fn add(&mut self, value: f64) {
        self.low = self.low.min(value);
        self.high = self.high.max(value);
    }

    /// The range of an axis without data.
    fn or_default(self) -> Extent {
        if self.low <= self.high {
            self
        } else {
            Extent {
                low: 1.0,
                high: 10.0,
            }
        }
    }
}

/// Why a value is not drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absence {
    NotANumber,
    NotPositive,
    NoCategory,
    NoWidth,
    NoArea,
}

/// The extent of the data, and how many values are omitted for which reason.
#[derive(Clone, Debug)]
pub(crate) struct Survey {
    pub(crate) x: Extent,
    pub(crate) y: Extent,
    pub(crate) drawn: usize,
    pub(crate) scale_x: Scale,
    pub(crate) scale_y: Scale,
    pub(crate) columns: usize,
    pub(crate) rows: usize,
    not_numbers: usize,
    not_positive: usize,
    no_category: usize,
    no_width: usize,
    no_area: usize,
    no_error: usize,
    series_left: usize,
}

impl Survey {
    pub(crate) fn of(figure: &Figure) -> Survey {
        let slots =
            |axis: &Axis, most: usize| axis.categories().map_or(0, |names| names.len().min(most));
        let mut survey = Survey {
            x: Extent::NOTHING,
            y: Extent::NOTHING,
            drawn: 0,
            scale_x: figure.x.scale.clone(),
            scale_y: figure.y.scale.clone(),
            columns: slots(&figure.x, Figure::MOST_COLUMNS),
            rows: slots(&figure.y, Figure::MOST_ROWS),
            not_numbers: 0,
            not_positive: 0,
            no_category: 0,
            no_width: 0,
            no_area: 0,
            no_error: 0,
            series_left: figure.series.len().saturating_sub(Figure::MOST_SERIES),
        };
        if figure.drawn().any(|series| series.mark == Mark::Stacked) {
            let value_scale = if figure.is_horizontal() {
                &mut survey.scale_x
            } else {
                &mut survey.scale_y
            };
            if *value_scale == Scale::Log10 {
                *value_scale = Scale::Linear;
            }
        }
        for series in figure.drawn() {
            survey.take(series);
        }
        survey.stack(figure);
        survey.add_the_rest(figure);
        survey
    }

    fn take(&mut self, series: &Series) {
        for point in &series.points {
            match self.absence(series.mark, point) {
                None => {
                    self.drawn += 1;
                    self.x.add(point.x);
                    self.y.add(point.y);
                    if series.mark == Mark::Histogram {
                        self.x.add(point.end);
                    }
                    if series.mark == Mark::Points {
                        self.take_errors(point);
                    }
                }
                Some(Absence::NotANumber) => self.not_numbers += 1,
                Some(Absence::NotPositive) => self.not_positive += 1,
                Some(Absence::NoCategory) => self.no_category += 1,
                Some(Absence::NoWidth) => self.no_width += 1,
                Some(Absence::NoArea) => self.no_area += 1,
            }
        }
    }

    /// Extends the axes to the error bars, as far as the axes can show them.
    fn take_errors(&mut self, point: &Point) {
        let valid = |error: f64| error.is_finite() && error >= 0.0;
        self.no_error += usize::from(!valid(point.x_error)) + usize::from(!valid(point.y_error));
        if valid(point.x_error) && !matches!(self.scale_x, Scale::Categories(_)) {
            for end in [point.x - point.x_error, point.x + point.x_error] {
                if self.fits_x(end) {
                    self.x.add(end);
                }
            }
        }
        if valid(point.y_error) && !matches!(self.scale_y, Scale::Categories(_)) {
            for end in [point.y - point.y_error, point.y + point.y_error] {
                if self.fits_y(end) {
                    self.y.add(end);
                }
            }
        }
    }

    /// Extends an axis to the heights of stacks, the sums of their parts.
    fn stack(&mut self, figure: &Figure) {
        let mut heights: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
        for series in figure.drawn().filter(|series| series.mark == Mark::Stacked) {
            for point in series
                .points
                .iter()
                .filter(|point| self.absence(series.mark, point).is_none())
            {
                let (place, value) = if figure.is_horizontal() {
                    (point.y, point.x)
                } else {
                    (point.x, point.y)
                };
                let (below, above) = heights.entry((place + 0.0).to_bits()).or_default();
                let sum = if value < 0.0 { below } else { above };
                *sum = (*sum + value).clamp(-f64::MAX, f64::MAX);
            }
        }
        let extent = if figure.is_horizontal() {
            &mut self.x
        } else {
            &mut self.y
        };
        for (below, above) in heights.into_values() {
            extent.add(below);
            extent.add(above);
        }
    }

    /// Extends the axes to rules, regions, notes and covered values, even if there are no data.
    fn add_the_rest(&mut self, figure: &Figure) {
        use crate::figure::Direction::{Horizontal, Vertical};
        let mut xs: Vec<f64> = figure.x.covers.clone();
        let mut ys: Vec<f64> = figure.y.covers.clone();
        for rule in figure.rules.iter().take(Figure::MOST_MARKS) {
            match rule.direction {
                Vertical => xs.push(rule.at),
                Horizontal => ys.push(rule.at),
            }
        }
        for region in figure.regions.iter().take(Figure::MOST_MARKS) {
            xs.extend([region.x.0, region.x.1].into_iter().flatten());
            ys.extend([region.y.0, region.y.1].into_iter().flatten());
        }
        for note in figure.notes.iter().take(Figure::MOST_MARKS) {
            if self.fits_x(note.x) && self.fits_y(note.y) {
                xs.push(note.x);
                ys.push(note.y);
            }
        }
        xs.into_iter().for_each(|value| {
            if self.fits_x(value) {
                self.x.add(value);
            }
        });
        ys.into_iter().for_each(|value| {
            if self.fits_y(value) {
                self.y.add(value);
            }
        });
        self.x = self.x.or_default();
        self.y = self.y.or_default();
    }

    /// Returns whether the x axis can show a value.
    pub(crate) fn x_is_drawn(&self, value: f64) -> bool {
        absent(&self.scale_x, value, self.columns).is_none()
    }

    /// Returns whether the x axis can show a line at a value; between categories as well.
    pub(crate) fn fits_x(&self, value: f64) -> bool {
        fits(&self.scale_x, value, self.columns)
    }

    /// Returns whether the y axis can show a line at a value.
    pub(crate) fn fits_y(&self, value: f64) -> bool {
        fits(&self.scale_y, value, self.rows)
    }

    /// Returns why a point is not drawn, or nothing if it is drawn.
    pub(crate) fn absence(&self, mark: Mark, point: &Point) -> Option<Absence> {
        let end = if mark == Mark::Histogram {
            point.end
        } else {
            point.x
        };
        let absent = absent(&self.scale_x, point.x, self.columns)
            .or_else(|| absent(&self.scale_x, end, self.columns))
            .or_else(|| absent(&self.scale_y, point.y, self.rows));
        let has_area = point.size.is_finite() && point.size > 0.0;
        absent
            .or((mark == Mark::Histogram && end <= point.x).then_some(Absence::NoWidth))
            .or((mark == Mark::Discs && !has_area).then_some(Absence::NoArea))
    }

    /// Describes what is missing from the picture; empty if nothing is.
    pub(crate) fn describe_omissions(&self, figure: &Figure) -> String {
        let mut parts = Vec::new();
        let mut say = |count: usize, one: &str, many: &str| {
            if count > 0 {
                parts.push(format!(
                    "{} {}",
                    grouped(count as f64, 0),
                    if count == 1 { one } else { many }
                ));
            }
        };
        let positive = "at or below zero, which a logarithmic axis cannot show";
        say(
            self.not_numbers,
            "value that is not a finite number",
            "values that are not finite numbers",
        );
        say(
            self.not_positive,
            &format!("value {positive}"),
            &format!("values {positive}"),
        );
        let short =
            |axis: &Axis, most: usize| axis.categories().is_some_and(|names| names.len() > most);
        if short(&figure.x, Figure::MOST_COLUMNS) || short(&figure.y, Figure::MOST_ROWS) {
            let most = if short(&figure.x, Figure::MOST_COLUMNS) {
                Figure::MOST_COLUMNS
            } else {
                Figure::MOST_ROWS
            };
            say(
                self.no_category,
                &format!("value beyond the first {most} categories"),
                &format!("values beyond the first {most} categories"),
            );
        } else {
            say(
                self.no_category,
                "value outside the categories",
                "values outside the categories",
            );
        }
        say(self.no_width, "bin without width", "bins without width");
        say(self.no_area, "disc without area", "discs without area");
        say(
            self.no_error,
            "error bar whose length is not a number",
            "error bars whose lengths are not numbers",
        );
        say(
            self.series_left,
            "series beyond the maximum number",
            "series beyond the maximum number",
        );
        if parts.is_empty() {
            String::new()
        } else {
            format!("Not shown: {}.", parts.join("; "))
        }
    }
}

fn absent(scale: &Scale, value: f64, slots: usize) -> Option<Absence> {
    match scale {
        _ if !value.is_finite() => Some(Absence::NotANumber),
        Scale::Log10 if value <= 0.0 => Some(Absence::NotPositive),
        Scale::Categories(_) if value.fract() != 0.0 || value < 0.0 || value >= slots as f64 => {
            Some(Absence::NoCategory)
        }
        _ => None,
    }
}

fn fits(scale: &Scale, value: f64, slots: usize) -> bool {
    match scale {
        Scale::Linear => value.is_finite(),
        Scale::Log10 => value.is_finite() && value > 0.0,
        Scale::Categories(_) => (-0.5..=slots as f64 - 0.5).contains(&value),
    }
}
