//! The page of one figure: the plot in it, its axes as places, and what stands on it so far.

use crate::canvas::{Anchor, Area, Canvas, Face, segment, text_area};
use crate::figure::{Figure, Mark};
use crate::ink::Ink;
use crate::scale::Map;
use crate::style::{Looks, Tone, dashes};
use crate::survey::Survey;

/// The width of every picture, in its own units; it scales to any other.
pub(crate) const WIDTH: f64 = 720.0;

/// Nothing stands closer to the edge.
pub(crate) const EDGE: f64 = 16.0;

pub(crate) struct Sheet<'a> {
    pub(crate) figure: &'a Figure,
    pub(crate) survey: &'a Survey,
    pub(crate) canvas: Canvas,
    pub(crate) ink: Ink,
    pub(crate) plot: Area,
    pub(crate) x: Map,
    pub(crate) y: Map,
    /// Points that stand closer than this are drawn as one, so that the size of a picture does not
    /// follow that of the data.
    pub(crate) column: f64,
    /// Bars that share their place with a larger one.
    pub(crate) hidden: usize,
    /// Every so manieth category has its name written.
    pub(crate) every: usize,
    /// Labels for which there was no room.
    pub(crate) unlabelled: usize,
    /// Names of points for which there was no room.
    pub(crate) unnamed: usize,
    /// Error bars of points that are drawn as cells.
    pub(crate) bars_left_out: usize,
    /// Marks that stand for several points: how many, where, and how large they are.
    pub(crate) together: Vec<(usize, f64, f64, f64)>,
    /// Discs too small to be seen that are drawn larger than they are.
    pub(crate) enlarged: usize,
    /// How many fewer discs are drawn than there are, because some are drawn as one.
    pub(crate) merged: usize,
    /// How discs are drawn, if there are any.
    pub(crate) discs: Option<crate::discs::Measure>,
}

impl<'a> Sheet<'a> {
    /// A page on which nothing is drawn but what its canvas has.
    pub(crate) fn new(
        figure: &'a Figure,
        survey: &'a Survey,
        canvas: Canvas,
        plot: Area,
        (x, y): (Map, Map),
    ) -> Sheet<'a> {
        Sheet {
            figure,
            survey,
            canvas,
            ink: Ink::new(WIDTH, plot.bottom),
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
    pub(crate) fn fill(series: usize) -> Looks {
        Looks::fill(Tone::Series(series))
    }

    /// A line.
    pub(crate) fn stroke(series: usize) -> Looks {
        Looks::stroke(Tone::Series(series), 2.0).dashed(dashes(series))
    }

    /// Writes a label as [`Sheet::try_label`] does, and counts it if there was no room.
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

    /// Writes a label at the best of several places: free of other text, and over as little of the
    /// data as can be. Says where it went.
    pub(crate) fn try_label(
        &mut self,
        face: Face,
        text: &str,
        whole: &str,
        places: &[(f64, f64, Anchor)],
    ) -> Option<Area> {
        let room = Area {
            left: self.plot.left + 1.0,
            top: self.plot.top - 2.0,
            right: WIDTH - 4.0,
            bottom: self.plot.bottom - 1.0,
        };
        // Places are given best first: one further down the list must be freer of data to be worth
        // it.
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
            .filter(|(.., area)| room.holds(area) && self.is_free(area))
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

    pub(crate) fn draw(&mut self, looks: Looks, from: (f64, f64), to: (f64, f64)) {
        self.canvas.path(looks, segment(from, to));
    }

    /// The series that are drawn in one of some ways, with their numbers.
    pub(crate) fn series_of(&self, marks: &[Mark]) -> Vec<(usize, &'_ crate::figure::Series)> {
        self.figure
            .drawn()
            .enumerate()
            .filter(|(_, series)| marks.contains(&series.mark))
            .collect()
    }
}
