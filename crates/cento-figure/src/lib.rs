//! Figures as SVG for light and dark pages, as PDF, and as CSV.
//!
//! # Brief overview
//!
//! A [`Figure`] is data with the words that explain it: a title, a caption, two [`Axis`] values,
//! and [`Series`] of points. It is a plain value without coordinates, and can be written in three
//! ways:
//!
//! ```text
//!            ┌─► svg()            a picture; svg_for_page() and STYLE for a page of many
//! Figure ────┼─► pdf()            the same picture on paper
//!            └─► csv()            all data, including those that the picture omits
//! ```
//!
//! The crate draws and computes nothing else. It opens no file and starts no thread.
//!
//! # Guarantees
//!
//! - **Deterministic.** The same data give the same bytes. Numbers are written by their decimal
//!   digits, and coordinates are rounded to tenths, so that the last bit of a logarithm, which
//!   differs between mathematical libraries, has no effect.
//! - **Honest about omissions.** The caption counts what the picture omits: values that are not
//!   finite, zeros on a logarithmic axis, series beyond the maximum number. Axes always cover all
//!   data. Lines are interrupted where a value is missing.
//! - **Safe with untrusted names.** Text is escaped, and characters that act rather than being read
//!   are removed. A picture refers to nothing outside itself, and a cell of the CSV is never a
//!   formula.
//! - **Bounded in size.** A million points become shaded cells; a line has no more corners than the
//!   page has columns.
//! - **Accessible.** Series differ by shape, dash or hatch and not by colour alone, text stays
//!   text, and text that was cut has a tooltip.
//! - **Portable.** Colours and fonts are plain attributes of each element. Programs without CSS
//!   variables skip the style sheet, which is for dark pages and for pages with their own colours.
//!
//! SVG and PDF are written by hand rather than with a plotting library, for the sake of determinism
//! and of the style sheet, and because libraries that draw text need fonts, which a server may not
//! have, and minutes to compile.
//!
//! # Example
//!
//! ```
//! use cento_figure::{Axis, Figure, NumberFormat, Mark, Rule, Series};
//!
//! let figure = Figure::new(
//!     "How often do phrases occur?",
//!     Axis::log10("Pages with the phrase").format(NumberFormat::Count),
//!     Axis::log10("Phrases").format(NumberFormat::Count),
//! )
//! .caption("Phrases to the right of the line are popular.")
//! .series(Series::new("phrases", Mark::Points, [(1.0, 90_000.0), (10.0, 1_200.0), (1000.0, 0.0)]))
//! .rule(Rule::vertical(5.0, "popular"));
//!
//! let picture = figure.svg();
//! assert!(picture.starts_with("<svg ") && picture.contains("popular"));
//! assert!(picture.contains("Not shown: 1 value at or below zero"));
//! assert!(figure.csv().ends_with("phrases,1000,0\r\n"));
//! ```

mod axes;
mod bars;
mod bins;
mod canvas;
mod csv;
mod discs;
mod draw;
mod figure;
mod glyphs;
mod ink;
mod legend;
mod lines;
mod number;
mod pdf;
mod points;
mod scale;
mod sheet;
mod signs;
mod style;
mod survey;
mod svg;
mod text;

pub use bins::Bins;
pub use csv::csv_cell;
pub use figure::{
    Axis, Direction, Figure, Mark, Note, NumberFormat, Point, Region, Rule, Scale, Series,
};
pub use style::STYLE;

impl Figure {
    /// Draws the figure as an SVG file. It is 720 units wide and scales to any size.
    pub fn svg(&self) -> String {
        svg::svg(&draw::compose(self), true)
    }

    /// Draws the figure as an SVG element for a page whose style sheet contains [`STYLE`].
    pub fn svg_for_page(&self) -> String {
        svg::svg(&draw::compose(self), false)
    }

    /// Draws the figure as [`Figure::svg_for_page`] does, for a narrow screen: 420 units wide, so
    /// that its text remains readable there.
    pub fn svg_for_narrow_page(&self) -> String {
        svg::svg(&draw::compose_in(self, sheet::NARROW), false)
    }

    /// Draws the figure as a PDF of one page, in light colours. Characters that no standard font of
    /// PDF has, those of most scripts except Latin and Greek, become boxes, and a note below the
    /// picture says so.
    pub fn pdf(&self) -> Vec<u8> {
        pdf::pdf(&draw::compose(self))
    }

    /// Writes all data as CSV (RFC 4180), one row per point: `series,x,y`, or `series,x,x_end,y` if
    /// there are histograms. Categories are written by name. A text that a spreadsheet would read
    /// as a formula begins with an apostrophe.
    pub fn csv(&self) -> String {
        csv::csv(self)
    }
}
