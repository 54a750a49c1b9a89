//! The state of a drawing: the plot, its axes, and what is drawn so far.

use crate::canvas::{Anchor, Area, Canvas, Face, segment, text_area};
use crate::figure::{Figure, Mark};
use crate::ink::Ink;
use crate::scale::AxisMap;
use crate::style::{ShapeStyle, Tone, dashes};
use crate::survey::Survey;

/// The width of a picture, in its own units; it scales to any size.
pub(crate) const WIDTH: f64 = 720.0;

/// The width of a picture for a narrow screen, on which a wide one would be too small to read.
pub(crate) const NARROW: f64 = 420.0;

/// The margin of the page.
pub(crate) const EDGE: f64 = 16.0;

pub(crate) struct Sheet<'a> {
    pub(crate) figure: &'a Figure,
    pub(crate) survey: &'a Survey,
    pub(crate) canvas: Canvas,
    pub(crate) ink: Ink,
    pub(crate) plot: Area,
    pub(crate) x: AxisMap,
    pub(crate) y: AxisMap,
    /// Points closer than this are drawn as one, so that the size of a picture is bounded.
    pub(crate) column: f64,
    /// The number of bars hidden behind a longer one.
    pub(crate) hidden: usize,
    /// One in this many names of categories is written.
    pub(crate) every: usize,
    /// The number of labels for which there was no space.
    pub(crate) unlabelled: usize,
    /// The number of names of points for which there was no space.
    pub(crate) unnamed: usize,
    /// The number of error bars of points that are drawn as cells.
    pub(crate) bars_left_out: usize,
    /// Marks that stand for several points: their number, position and size.
    pub(crate) together: Vec<(usize, f64, f64, f64)>,
    /// The number of discs that are enlarged to be visible.
    pub(crate) enlarged: usize,
    /// The number of discs that are merged into others.
    pub(crate) merged: usize,
    /// The scale of discs, if there are any.
    pub(crate) discs: Option<crate::discs::Measure>,
}

impl<'a> Sheet<'a> {
    /// Creates the state of a plot on a canvas.
    pub(crate) fn new(
        figure: &'a Figure,
        survey: &'a Survey,
        canvas: Canvas,
        plot: Area,
        (x, y): (AxisMap, AxisMap),
    ) -> Sheet<'a> {
        Sheet {
            figure,
            survey,
            ink: Ink::new(canvas.width, plot.bottom),
            canvas,
            plot,
            x,
            y,
            column: (figure.drawn().count() as f64 / 4.0).max(1.0),
            hidden: 0,
            every: 1,
            unlabelled: 0,
            unnamed: 0,
            bars_left_out: 0,
            together: Vec::new(),
            enlarged: 0,
            merged: 0,
            discs: None,
        }
    }
}

impl Sheet<'_> {
    /// A filled mark.
    pub(crate) fn fill(series: usize) -> ShapeStyle {
        ShapeStyle::fill(Tone::Series(series))
    }

    /// A line.
    pub(crate) fn stroke(series: usize) -> ShapeStyle {
        ShapeStyle::stroke(Tone::Series(series), 2.0).dashed(dashes(series))
    }

    /// Writes a label as [`Sheet::try_label`] does, and counts it if there is no space.
    pub(crate) fn label(
        &mut self,
        face: Face,
        text: &str,
        whole: &str,
        places: &[(f64, f64, Anchor)],
    ) -> Option<Area> {
        let area = self.try_label(face, text, whole, places);
        self.unlabelled += usize::from(area.is_none());
        area
    }

    /// Writes a label at the best of several positions: free of other text, and over as little data
    /// as possible. Returns the position.
    pub(crate) fn try_label(
        &mut self,
        face: Face,
        text: &str,
        whole: &str,
        places: &[(f64, f64, Anchor)],
    ) -> Option<Area> {
        let space = Area {
            left: self.plot.left + 1.0,
            top: self.plot.top - 2.0,
            right: self.canvas.width - 4.0,
            bottom: self.plot.bottom - 1.0,
        };
        // The best positions come first. A later one must be freer of data to be chosen.
        let best = places
            .iter()
            .enumerate()
            .map(|(rank, (x, baseline, anchor))| {
                (
                    rank,
                    *x,
                    *baseline,
                    *anchor,
                    text_area(*x, *baseline, *anchor, face, text),
                )
            })
            .filter(|(.., area)| space.holds(area) && self.is_free(area))
            .min_by_key(|(rank, .., area)| rank + 8 * self.ink.beneath(area));
        let (_, x, baseline, anchor, area) = best?;
        self.canvas.text(x, baseline, anchor, face, text, whole);
        Some(area)
    }

    pub(crate) fn is_free(&self, area: &Area) -> bool {
        let roomy = Area {
            left: area.left - 3.0,
            right: area.right + 3.0,
            ..*area
        };
        !self.canvas.texts.iter().any(|text| text.meets(&roomy))
    }

    pub(crate) fn draw(&mut self, style: ShapeStyle, from: (f64, f64), to: (f64, f64)) {
        self.canvas.path(style, segment(from, to));
    }

    /// Returns the series with one of some marks, with their numbers.
    pub(crate) fn series_of(&self, marks: &[Mark]) -> Vec<(usize, &'_ crate::figure::Series)> {
        self.figure
            .drawn()
            .enumerate()
            .filter(|(_, series)| marks.contains(&series.mark))
            .collect()
    }
}
