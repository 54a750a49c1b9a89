//! Figures of what was found: SVG for light and dark, PDF, and the numbers beside them.
//!
//! # Brief overview
//!
//! A [`Figure`] is data with the words that explain it: a title, a caption that says how to read
//! it, two [`Axis`], and [`Series`] of points. It is a plain value that knows no pixel. Three
//! things can be made of it:
//!
//! ```text
//!            ┌─► svg()            a picture by itself; svg_for_page() and STYLE for a page that holds many
//! Figure ────┼─► pdf()            the same picture on paper
//!            └─► csv()            every number in it, also those that the picture leaves out
//! ```
//!
//! The crate shows and never finds out: whoever makes a figure has counted already. It opens no
//! file and starts no thread.
//!
//! # What a picture promises
//!
//! - **It is the same for the same data**, byte for byte, in every run. Numbers are written by
//!   their decimal digits, and places are rounded to tenths: the last bit of a logarithm, which
//!   mathematical libraries of two machines may disagree on, is far below that.
//! - **It is true about what it leaves out.** Values that are not finite, zeros on a logarithmic
//!   axis, series beyond those that can be told apart: the caption counts them. Axes always hold
//!   all of the data. Lines break where a value is missing.
//! - **Names may come from strangers.** Text is escaped and cleaned of all that acts rather than is
//!   read; nothing in a picture refers to anything outside of it, and a cell of the table is never
//!   a formula.
//! - **Its size is bounded.** A million points become cells, shaded by how many they hold; a line
//!   has no more corners than the page has columns.
//! - **Everybody can read it.** Series differ by shape, dash or hatch and not by colour alone, text
//!   stays text, and what was cut appears when a reader points at it.
//!
//! - **Any program draws it.** Colours and fonts are plain attributes of each element; the style
//!   sheet on top of them, for dark pages and for the colours of a page around it, is skipped by
//!   programs that know no CSS variables.
//!
//! SVG and PDF are written by hand rather than by a plotting library because of the first promise
//! and of the style sheet, and because libraries that draw text need fonts, which a server may not
//! have, and minutes to compile.
//!
//! # Example
//!
//! ```
//! use cento_figure::{Axis, Figure, Format, Mark, Rule, Series};
//!
//! let figure = Figure::new(
//!     "How often do phrases occur?",
//!     Axis::log10("Pages that hold the phrase").format(Format::Count),
//!     Axis::log10("Phrases").format(Format::Count),
//! )
//! .caption("A phrase right of the line is popular.")
//! .series(Series::new("phrases", Mark::Points, [(1.0, 90_000.0), (10.0, 1_200.0), (100.0, 31.0), (1000.0, 0.0)]))
//! .rule(Rule::vertical(5.0, "popular"));
//!
//! let picture = figure.svg();
//! assert!(picture.starts_with("<svg ") && picture.contains("popular"));
//! assert!(picture.contains("Left out: 1 value at or below zero"));
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
pub use figure::{Axis, Direction, Figure, Format, Mark, Note, Point, Region, Rule, Scale, Series};
pub use style::STYLE;

impl Figure {
    /// The picture as a file of its own. It is 720 units wide and scales to any size.
    pub fn svg(&self) -> String {
        svg::svg(&draw::compose(self), true)
    }

    /// The picture as an element of a page that has [`STYLE`] in its own style sheet.
    pub fn svg_for_page(&self) -> String {
        svg::svg(&draw::compose(self), false)
    }

    /// The picture as a PDF of one page, in light colours. Letters that no standard font of PDF
    /// has, those of most scripts but Latin and Greek, are boxes in it, and a line below the
    /// picture says so.
    pub fn pdf(&self) -> Vec<u8> {
        pdf::pdf(&draw::compose(self))
    }

    /// All data, one row a point, as RFC 4180 wants it: `series,x,y`, or `series,x,x_end,y` where
    /// there are histograms. Categories are written by name; a text that a spreadsheet would take
    /// for a formula begins with an apostrophe.
    pub fn csv(&self) -> String {
        csv::csv(self)
    }
}
