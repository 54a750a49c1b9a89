//! Shapes and texts with their positions, independent of a file format; `svg` and `pdf` write
//! them.

use crate::style::{ShapeStyle, Tone};
use crate::text::width;

/// A rectangle on the page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Area {
    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    pub(crate) fn meets(&self, other: &Area) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    pub(crate) fn holds(&self, other: &Area) -> bool {
        self.left <= other.left
            && self.top <= other.top
            && other.right <= self.right
            && other.bottom <= self.bottom
    }
}

/// The purpose of a text, which determines its style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Face {
    Title,
    Label,
    Caption,
    Tick,
    /// Inside the picture, with a halo.
    Note,
    Rule,
    /// In the legend and at the ends of lines.
    Name,
}

impl Face {
    pub(crate) fn tone(self) -> Tone {
        match self {
            Face::Title | Face::Note | Face::Name => Tone::Ink,
            Face::Label | Face::Caption | Face::Tick => Tone::Muted,
            Face::Rule => Tone::Rule,
        }
    }

    /// Whether it stands over the data, and is set off from them.
    pub(crate) fn has_halo(self) -> bool {
        matches!(self, Face::Note | Face::Rule | Face::Name)
    }

    pub(crate) fn is_bold(self) -> bool {
        self == Face::Title
    }

    /// The size of its font.
    pub(crate) fn font_size(self) -> f64 {
        match self {
            Face::Title => 16.0,
            _ => self.size(),
        }
    }

    /// The size by which it is measured: bold letters are wider than their size says.
    pub(crate) fn size(self) -> f64 {
        match self {
            Face::Title => 18.0,
            Face::Label | Face::Caption => 12.0,
            Face::Tick | Face::Note | Face::Rule | Face::Name => 11.0,
        }
    }
}

/// Which end of a text stands at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A step of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PathStep {
    Move(f64, f64),
    Line(f64, f64),
    /// A horizontal line to this x.
    Across(f64),
    /// A vertical line to this y.
    Down(f64),
    Close,
    Rectangle(Area),
    /// A circle, by its centre and its radius.
    Disc(f64, f64, f64),
}

/// A shape, or several of the same style.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Path(pub(crate) Vec<PathStep>);

impl Path {
    pub(crate) fn add(&mut self, other: Path) {
        self.0.extend(other.0);
    }
}

impl FromIterator<Path> for Path {
    fn from_iter<T: IntoIterator<Item = Path>>(paths: T) -> Path {
        Path(paths.into_iter().flat_map(|path| path.0).collect())
    }
}

/// A text with its position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TextShape {
    pub(crate) x: f64,
    pub(crate) baseline: f64,
    pub(crate) anchor: Anchor,
    pub(crate) face: Face,
    pub(crate) text: String,
    /// The text before it was cut.
    pub(crate) whole: String,
    /// Its rotation, in degrees.
    pub(crate) degrees: u32,
}

/// A shape or a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    Path(ShapeStyle, Path),
    Text(TextShape),
}

/// The body of a picture.
#[derive(Clone, Debug)]
pub(crate) struct Canvas {
    /// The width of the picture.
    pub(crate) width: f64,
    /// In drawing order.
    pub(crate) shapes: Vec<Shape>,
    /// The areas of texts, except rotated ones, whose caller spaces them.
    pub(crate) texts: Vec<Area>,
}

impl Canvas {
    /// Creates an empty picture of a width.
    pub(crate) fn new(width: f64) -> Canvas {
        Canvas {
            width,
            shapes: Vec::new(),
            texts: Vec::new(),
        }
    }
}

/// Returns the area of a text.
pub(crate) fn text_area(x: f64, baseline: f64, anchor: Anchor, face: Face, text: &str) -> Area {
    let wide = width(text, face.size());
    let left = match anchor {
        Anchor::Start => x,
        Anchor::Middle => x - wide / 2.0,
        Anchor::End => x - wide,
    };
    Area {
        left,
        top: baseline - 0.85 * face.size(),
        right: left + wide,
        bottom: baseline + 0.25 * face.size(),
    }
}

impl Canvas {
    /// Writes a text. If it was cut, the whole text is its tooltip.
    pub(crate) fn text(
        &mut self,
        x: f64,
        baseline: f64,
        anchor: Anchor,
        face: Face,
        text: &str,
        whole: &str,
    ) {
        self.texts.push(text_area(x, baseline, anchor, face, text));
        self.shapes.push(Shape::Text(TextShape {
            x,
            baseline,
            anchor,
            face,
            text: text.to_owned(),
            whole: whole.to_owned(),
            degrees: 0,
        }));
    }

    /// Writes a rotated text that ends at a position.
    pub(crate) fn slanted(&mut self, x: f64, baseline: f64, degrees: u32, text: &str, whole: &str) {
        self.shapes.push(Shape::Text(TextShape {
            x,
            baseline,
            anchor: Anchor::End,
            face: Face::Tick,
            text: text.to_owned(),
            whole: whole.to_owned(),
            degrees,
        }));
    }

    /// Draws a path unless it is empty.
    pub(crate) fn path(&mut self, style: ShapeStyle, path: Path) {
        if !path.0.is_empty() {
            self.shapes.push(Shape::Path(style, path));
        }
    }
}

/// A rectangle.
pub(crate) fn rectangle(area: &Area) -> Path {
    Path(vec![PathStep::Rectangle(*area)])
}

/// A straight line.
pub(crate) fn segment(from: (f64, f64), to: (f64, f64)) -> Path {
    Path(vec![
        PathStep::Move(from.0, from.1),
        PathStep::Line(to.0, to.1),
    ])
}

/// Returns the marker of a series: one of six shapes, because colour alone is not accessible.
pub(crate) fn marker(series: usize, x: f64, y: f64, radius: f64) -> Path {
    let polygon = |corners: &[(f64, f64)]| {
        let mut steps: Vec<PathStep> = corners
            .iter()
            .enumerate()
            .map(|(index, (right, down))| {
                let (x, y) = (x + right * radius, y + down * radius);
                match index {
                    0 => PathStep::Move(x, y),
                    _ => PathStep::Line(x, y),
                }
            })
            .collect();
        steps.push(PathStep::Close);
        Path(steps)
    };
    match series % 6 {
        0 => Path(vec![PathStep::Disc(x, y, radius)]),
        1 => polygon(&[(0.0, -1.2), (1.15, 0.9), (-1.15, 0.9)]),
        2 => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        3 => polygon(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
        4 => polygon(&[(0.0, 1.2), (1.15, -0.9), (-1.15, -0.9)]),
        _ => polygon(&[
            (-0.4, -1.2),
            (0.4, -1.2),
            (0.4, -0.4),
            (1.2, -0.4),
            (1.2, 0.4),
            (0.4, 0.4),
            (0.4, 1.2),
            (-0.4, 1.2),
            (-0.4, 0.4),
            (-1.2, 0.4),
            (-1.2, -0.4),
            (-0.4, -0.4),
        ]),
    }
}

/// Returns the hatching of a bar, because colour alone is not accessible; the first series has
/// none.
pub(crate) fn hatch(series: usize, area: &Area) -> Path {
    const APART: f64 = 5.0;
    let (wide, high) = (area.width(), area.height());
    let mut out = Path::default();
    let lines = |length: f64| {
        (1..)
            .map(|index| f64::from(index) * APART)
            .take_while(move |at| *at < length - 1.0)
            .take(400)
    };
    match series % 4 {
        1 => {
            for at in lines(wide + high) {
                let offset = at - high;
                let (right, down) = (offset.max(0.0), (-offset).max(0.0));
                let length = (wide - right).min(high - down);
                let from = (area.left + right, area.top + down);
                out.add(segment(from, (from.0 + length, from.1 + length)));
            }
        }
        2 => {
            for at in lines(high) {
                out.add(segment(
                    (area.left, area.bottom - at),
                    (area.right, area.bottom - at),
                ));
            }
        }
        3 => {
            for at in lines(wide) {
                out.add(segment(
                    (area.left + at, area.top),
                    (area.left + at, area.bottom),
                ));
            }
        }
        _ => {}
    }
    out
}
