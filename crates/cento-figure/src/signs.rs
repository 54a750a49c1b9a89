//! Annotations of the data: regions, rules and notes.

use crate::canvas::{Anchor, Area, Face, marker, rectangle};
use crate::figure::{Direction, Figure, Mark, Rule};
use crate::sheet::Sheet;
use crate::style::{ShapeStyle, Tone};
use crate::text::{clean, cut};

/// The maximum width of a label inside the plot.
const BROADEST: f64 = 260.0;

/// The two ends of a line.
type RuleLine = ((f64, f64), (f64, f64));

impl Sheet<'_> {
    /// Shades the regions. Their labels are written after the data are drawn.
    pub(crate) fn draw_regions(&mut self) {
        for area in self.regions().into_iter().map(|(area, _)| area) {
            self.canvas
                .path(ShapeStyle::fill(Tone::Rule).opacity(10), rectangle(&area));
        }
    }

    fn regions(&self) -> Vec<(Area, String)> {
        let mut out = Vec::new();
        for region in self.figure.regions.iter().take(Figure::MOST_MARKS) {
            let fits_x = [region.x.0, region.x.1]
                .into_iter()
                .flatten()
                .all(|value| self.survey.fits_x(value));
            let fits_y = [region.y.0, region.y.1]
                .into_iter()
                .flatten()
                .all(|value| self.survey.fits_y(value));
            if !fits_x || !fits_y {
                continue;
            }
            let left = region.x.0.map_or(self.plot.left, |value| self.x.at(value));
            let right = region.x.1.map_or(self.plot.right, |value| self.x.at(value));
            let low = region
                .y
                .0
                .map_or(self.plot.bottom, |value| self.y.at(value));
            let high = region.y.1.map_or(self.plot.top, |value| self.y.at(value));
            let (top, bottom) = (low.min(high), low.max(high));
            let area = Area {
                left: left.min(right),
                top,
                right: left.max(right),
                bottom,
            };
            out.push((area, clean(&region.label)));
        }
        out
    }

    pub(crate) fn draw_region_labels(&mut self) {
        for (area, whole) in self.regions() {
            let outline = ShapeStyle::stroke(Tone::Rule, 1.0).dashed("5 3");
            self.canvas.path(outline, rectangle(&area));
            let text = cut(&whole, Face::Rule.size(), (area.width() - 12.0).max(60.0));
            if text.is_empty() {
                continue;
            }
            let mut places = Vec::new();
            for baseline in [
                area.top + 15.0,
                area.bottom - 7.0,
                area.top - 6.0,
                area.bottom + 13.0,
            ] {
                places.push((area.right - 6.0, baseline, Anchor::End));
                places.push((area.left + 6.0, baseline, Anchor::Start));
            }
            self.label(Face::Rule, &text, &whole, &places);
        }
    }

    /// Returns the rules that the axes can show, with the ends of their lines.
    fn rules(&self) -> Vec<(Rule, RuleLine)> {
        let plot = self.plot;
        let with_line = |rule: &Rule| {
            let (fits, line) = match rule.direction {
                Direction::Vertical => {
                    let x = self.x.at(rule.at);
                    (
                        self.survey.fits_x(rule.at),
                        ((x, plot.top), (x, plot.bottom)),
                    )
                }
                Direction::Horizontal => {
                    let y = self.y.at(rule.at);
                    (
                        self.survey.fits_y(rule.at),
                        ((plot.left, y), (plot.right, y)),
                    )
                }
            };
            fits.then(|| (rule.clone(), line))
        };
        let rules = self.figure.rules.iter().take(Figure::MOST_MARKS);
        rules.filter_map(with_line).collect()
    }

    /// Draws the lines of rules over bars and cells, and under points, which they must not hide.
    pub(crate) fn draw_rules(&mut self) {
        for (_, (from, to)) in self.rules() {
            // A line of paper below it makes it visible over bars of any colour.
            self.draw(ShapeStyle::stroke(Tone::Paper, 3.5).opacity(75), from, to);
            self.draw(ShapeStyle::stroke(Tone::Rule, 1.5).dashed("5 3"), from, to);
            self.ink.line(from, to);
        }
    }

    pub(crate) fn draw_rule_labels(&mut self) {
        let plot = self.plot;
        for (rule, (from, to)) in self.rules() {
            let whole = clean(&rule.label);
            if whole.is_empty() {
                continue;
            }
            let text = cut(&whole, Face::Rule.size(), BROADEST);
            let places: Vec<(f64, f64, Anchor)> = match rule.direction {
                Direction::Vertical => (0..)
                    .map(|row| plot.top + 12.0 + 15.0 * f64::from(row))
                    .take_while(|baseline| *baseline < plot.bottom - 4.0)
                    .flat_map(|baseline| {
                        [
                            (from.0 + 6.0, baseline, Anchor::Start),
                            (from.0 - 6.0, baseline, Anchor::End),
                        ]
                    })
                    .collect(),
                Direction::Horizontal => (0..=8)
                    .map(|step| to.0 - 4.0 - plot.width() / 10.0 * f64::from(step))
                    .flat_map(|right| {
                        [
                            (right, from.1 - 6.0, Anchor::End),
                            (right, from.1 + 14.0, Anchor::End),
                        ]
                    })
                    .collect(),
            };
            self.label(Face::Rule, &text, &whole, &places);
        }
    }

    pub(crate) fn draw_notes(&mut self) {
        let notes: Vec<_> = self.figure.notes.iter().take(Figure::MOST_MARKS).collect();
        let mut rings = Vec::new();
        for note in notes
            .into_iter()
            .filter(|note| self.survey.fits_x(note.x) && self.survey.fits_y(note.y))
        {
            let (x, y) = (self.x.at(note.x), self.y.at(note.y));
            self.canvas
                .path(ShapeStyle::stroke(Tone::Ink, 1.2), marker(0, x, y, 5.5));
            self.ink.fill(&Area {
                left: x - 5.0,
                top: y - 5.0,
                right: x + 5.0,
                bottom: y + 5.0,
            });
            rings.push((x, y, clean(&note.text)));
        }
        for (x, y, whole) in rings.into_iter().filter(|(.., text)| !text.is_empty()) {
            if !self.write_beside(x, y, 5.5, &whole) {
                self.unlabelled += 1;
            }
        }
    }

    /// Writes the names of points and discs beside them, the first names first.
    pub(crate) fn draw_names_of_points(&mut self) {
        let mut names = Vec::new();
        let mut beyond = 0;
        for series in self.figure.drawn() {
            if !matches!(series.mark, Mark::Points | Mark::Discs) {
                continue;
            }
            for (point, name) in series.points.iter().zip(&series.names) {
                let name = clean(name);
                if name.is_empty() || self.survey.absence(series.mark, point).is_some() {
                    continue;
                }
                if names.len() < Figure::MOST_MARKS {
                    let radius = match (series.mark, &self.discs) {
                        (Mark::Discs, Some(measure)) => measure.radius(point.size),
                        _ => 3.2,
                    };
                    names.push((self.x.at(point.x), self.y.at(point.y), radius, name));
                } else {
                    beyond += 1;
                }
            }
        }
        self.unnamed += beyond;
        for (x, y, radius, name) in names {
            if !self.write_beside(x, y, radius, &name) {
                self.unnamed += 1;
            }
        }
    }

    /// Writes a text as close to a point as possible, and returns whether there is space.
    fn write_beside(&mut self, x: f64, y: f64, radius: f64, whole: &str) -> bool {
        let text = cut(whole, Face::Note.size(), BROADEST);
        let off = radius + 4.5;
        let mut places = Vec::new();
        for far in [0.0, 14.0, 30.0, 48.0] {
            for tilt in [4.0, -3.0, 11.0] {
                places.push((x + off + far, y + tilt, Anchor::Start));
                places.push((x - off - far, y + tilt, Anchor::End));
            }
            for (side, anchor) in [
                (0.0, Anchor::Middle),
                (7.0, Anchor::Start),
                (-7.0, Anchor::End),
            ] {
                places.push((x + side, y - off - far, anchor));
                places.push((x + side, y + off + 8.0 + far, anchor));
            }
        }
        let Some(area) = self.try_label(Face::Note, &text, whole, &places) else {
            return false;
        };
        // A line connects a label to its point if they are apart.
        let near = (
            x.clamp(area.left, area.right),
            y.clamp(area.top, area.bottom),
        );
        let (right, down) = (near.0 - x, near.1 - y);
        let distance = (right * right + down * down).sqrt();
        if distance > radius + 7.5 {
            let share = radius / distance;
            let from = (x + right * share, y + down * share);
            self.draw(ShapeStyle::stroke(Tone::Ink, 0.8), from, near);
        }
        true
    }
}
