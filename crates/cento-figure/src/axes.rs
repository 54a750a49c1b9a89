//! Axes: ticks, grid and labels that do not overlap.

use crate::canvas::{Anchor, Area, Face, Path, segment, text_area};
use crate::figure::{Axis, Figure};
use crate::scale::{AxisMap, Domain, Tick, ticks};
use crate::sheet::{EDGE, Sheet};
use crate::style::{ShapeStyle, Tone};
use crate::text::{clean, cut, width, wrap};

/// A rotation of names: degrees, with their cosine and sine.
struct Slant {
    degrees: u32,
    across: f64,
    down: f64,
}

/// The flatter one is easier to read; the steeper one fits more names.
const SLANTS: [Slant; 2] = [
    Slant {
        degrees: 40,
        across: 0.766,
        down: 0.643,
    },
    Slant {
        degrees: 65,
        across: 0.423,
        down: 0.906,
    },
];

/// The height of a line of rotated text.
const LINE: f64 = 12.0;

/// Returns the label of an axis with its unit.
pub(crate) fn axis_label(axis: &Axis) -> String {
    let (label, unit) = (clean(&axis.label), clean(&axis.unit));
    if unit.is_empty() {
        label
    } else {
        format!("{label} ({unit})")
    }
}

/// The labels to the left of the plot, and the width of the widest.
pub(crate) struct SideLabels {
    ticks: Vec<Tick>,
    pub(crate) width: f64,
}

/// Returns the ticks or names of a y axis of this height.
pub(crate) fn side(axis: &Axis, domain: &Domain, height: f64, page: f64) -> SideLabels {
    // Names take at most a third of the page.
    let longest = (page / 3.0).min(230.0);
    let ticks = match (domain, axis.categories()) {
        (Domain::Slots(slots), Some(names)) => names
            .iter()
            .take(*slots)
            .enumerate()
            .map(|(index, name)| Tick {
                at: index as f64,
                label: cut(&clean(name), Face::Tick.size(), longest),
            })
            .collect(),
        _ => ticks(domain, axis.format, (height / 42.0) as usize),
    };
    let width = ticks
        .iter()
        .map(|tick| width(&tick.label, Face::Tick.size()))
        .fold(0.0, f64::max);
    SideLabels { ticks, width }
}

/// The layout of the names below the plot.
enum CategoryNames {
    /// Horizontal, wrapped to the width of a category.
    Level(Vec<Vec<String>>),
    /// Rotated; one in this many names is written.
    Slanted(&'static Slant, usize),
}

fn names(all: &[String], slot: f64) -> CategoryNames {
    let size = Face::Tick.size();
    let lines: Vec<Vec<String>> = all
        .iter()
        .map(|name| wrap(name, size, slot - 6.0, 3))
        .collect();
    // Horizontal names must fit without broken words or ellipses.
    let whole = lines.iter().zip(all).all(|(lines, name)| {
        let kept =
            lines.join(" ") == *name || name.chars().all(|letter| !letter.is_ascii_alphanumeric());
        kept && lines
            .iter()
            .all(|line| width(line, size) <= slot - 4.0 && !line.ends_with('…'))
    });
    let [flat, steep] = &SLANTS;
    match () {
        () if whole => CategoryNames::Level(lines),
        () if slot * flat.down >= LINE => CategoryNames::Slanted(flat, 1),
        () => CategoryNames::Slanted(steep, (LINE / (slot * steep.down)).ceil().max(1.0) as usize),
    }
}

impl Sheet<'_> {
    /// Draws the grid and both axes, and returns where their labels end.
    pub(crate) fn draw_axes(&mut self, side: &SideLabels) -> f64 {
        self.draw_side(side);
        let bottom = match self.figure.x.categories() {
            Some(all) => self.draw_names(all),
            None => self.draw_ticks(),
        };
        let plot = self.plot;
        let base = if self.figure.is_horizontal() {
            segment((self.x.base(), plot.top), (self.x.base(), plot.bottom))
        } else {
            let level = if matches!(self.y.domain, Domain::Slots(_)) {
                plot.bottom
            } else {
                self.y.base()
            };
            segment((plot.left, level), (plot.right, level))
        };
        self.canvas.path(ShapeStyle::stroke(Tone::Muted, 1.0), base);
        bottom
    }

    fn draw_side(&mut self, side: &SideLabels) {
        let mut grid = Path::default();
        let mut small = Path::default();
        let numbers = self.y.slot().is_none();
        let mut last: Option<Area> = None;
        for tick in &side.ticks {
            let at = self.y.at(tick.at);
            if tick.label.is_empty() {
                small.add(segment((self.plot.left - 3.0, at), (self.plot.left, at)));
                continue;
            }
            if numbers {
                grid.add(segment((self.plot.left, at), (self.plot.right, at)));
            }
            let area = text_area(
                self.plot.left - 7.0,
                at + 4.0,
                Anchor::End,
                Face::Tick,
                &tick.label,
            );
            if last.is_none_or(|last| !last.meets(&area)) {
                let whole = self
                    .figure
                    .y
                    .categories()
                    .and_then(|names| names.get(tick.at as usize));
                let whole = whole.map_or_else(|| tick.label.clone(), |name| clean(name));
                self.canvas.text(
                    self.plot.left - 7.0,
                    at + 4.0,
                    Anchor::End,
                    Face::Tick,
                    &tick.label,
                    &whole,
                );
                last = Some(area);
            }
        }
        self.canvas.path(ShapeStyle::stroke(Tone::Grid, 1.0), grid);
        self.canvas
            .path(ShapeStyle::stroke(Tone::Muted, 0.6), small);
    }

    fn draw_ticks(&mut self) -> f64 {
        let (baseline, bottom) = (self.plot.bottom + 18.0, self.plot.bottom);
        let mut best = Vec::new();
        for about in (1..=(self.plot.width() / 64.0) as usize).rev() {
            best = place(
                ticks(&self.x.domain, self.figure.x.format, about),
                &self.x,
                baseline,
                self.canvas.width,
            );
            let labels: Vec<&Area> = best.iter().filter_map(|(_, area)| area.as_ref()).collect();
            let apart = labels
                .windows(2)
                .all(|pair| matches!(pair, [one, other] if one.right + 10.0 <= other.left));
            if apart {
                break;
            }
        }
        let mut grid = Path::default();
        let mut small = Path::default();
        let mut reach = f64::NEG_INFINITY;
        for (tick, area) in best {
            let at = self.x.at(tick.at);
            let Some(area) = area else {
                small.add(segment((at, bottom), (at, bottom + 3.0)));
                continue;
            };
            grid.add(segment((at, self.plot.top), (at, bottom)));
            small.add(segment((at, bottom), (at, bottom + 5.0)));
            if area.left >= reach {
                self.canvas.text(
                    area.left,
                    baseline,
                    Anchor::Start,
                    Face::Tick,
                    &tick.label,
                    &tick.label,
                );
                reach = area.right + 4.0;
            }
        }
        self.canvas.path(ShapeStyle::stroke(Tone::Grid, 1.0), grid);
        self.canvas
            .path(ShapeStyle::stroke(Tone::Muted, 0.6), small);
        baseline + 3.0
    }

    fn draw_names(&mut self, all: &[String]) -> f64 {
        let slot = self.x.slot().unwrap_or(1.0);
        let cleaned: Vec<String> = all
            .iter()
            .take(Figure::MOST_COLUMNS)
            .map(|name| clean(name))
            .collect();
        let top = self.plot.bottom + 17.0;
        let mut reach = top;
        match names(&cleaned, slot) {
            CategoryNames::Level(lines) => {
                for (index, lines) in lines.iter().enumerate() {
                    for (row, line) in lines.iter().enumerate() {
                        let baseline = top + 13.0 * row as f64;
                        self.canvas.text(
                            self.x.at(index as f64),
                            baseline,
                            Anchor::Middle,
                            Face::Tick,
                            line,
                            line,
                        );
                        reach = reach.max(baseline + 3.0);
                    }
                }
            }
            CategoryNames::Slanted(slant, every) => {
                self.every = every;
                for (index, name) in cleaned.iter().enumerate().step_by(every) {
                    let x = self.x.at(index as f64) + 4.0;
                    let text = cut(
                        name,
                        Face::Tick.size(),
                        ((x - 14.0) / slant.across).min(130.0),
                    );
                    self.canvas
                        .slanted(x, top - 2.0, slant.degrees, &text, name);
                    reach = reach.max(top + 4.0 + width(&text, Face::Tick.size()) * slant.down);
                }
            }
        }
        reach
    }

    /// Writes the label of the x axis, and returns where it ends.
    pub(crate) fn draw_x_label(&mut self, top: f64) -> f64 {
        let whole = axis_label(&self.figure.x);
        let middle = f64::midpoint(self.plot.left, self.plot.right);
        // The maximum width around the centre of the plot.
        let space = 2.0 * (middle - EDGE).min(self.canvas.width - EDGE - middle);
        let mut bottom = top;
        for line in wrap(&whole, Face::Label.size(), space, 3) {
            bottom += 16.0;
            self.canvas
                .text(middle, bottom, Anchor::Middle, Face::Label, &line, &line);
        }
        bottom + 4.0
    }
}

/// Returns ticks with the areas of their labels, shifted to stay on the page.
fn place(ticks: Vec<Tick>, map: &AxisMap, baseline: f64, page: f64) -> Vec<(Tick, Option<Area>)> {
    let with_area = |tick: Tick| {
        let area = text_area(
            map.at(tick.at),
            baseline,
            Anchor::Middle,
            Face::Tick,
            &tick.label,
        );
        let shift = (4.0 - area.left).max(0.0) - (area.right - page + 4.0).max(0.0);
        let area = Area {
            left: area.left + shift,
            right: area.right + shift,
            ..area
        };
        let labelled = !tick.label.is_empty();
        (tick, labelled.then_some(area))
    };
    ticks.into_iter().map(with_area).collect()
}
