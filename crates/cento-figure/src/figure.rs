//! What a figure is: data with the words that explain it. Nothing here knows how it is drawn.

/// A picture of numbers, with all that a reader needs to understand it.
///
/// A plain value: build it with [`Figure::new`] and the methods that follow it, or fill the fields.
/// [`Figure::svg`] draws it, [`Figure::csv`] writes its data.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What the figure shows.
    pub title: String,
    /// How to read it, in a sentence.
    pub caption: String,
    /// The axis along the bottom.
    pub x: Axis,
    /// The axis along the left.
    pub y: Axis,
    /// The data. At most [`Figure::MOST_SERIES`] are drawn; the picture says if there are more.
    pub series: Vec<Series>,
    /// Lines across the whole picture: thresholds.
    pub rules: Vec<Rule>,
    /// Areas that mean something: what is flagged, what is safe.
    pub regions: Vec<Region>,
    /// Short texts at single points.
    pub notes: Vec<Note>,
    /// What the area of a disc counts, such as "pages"; see [`Mark::Discs`].
    pub area: String,
    /// What the inner disc is the share of, such as "from other sites"; see [`Point::part`].
    pub part: String,
}

impl Figure {
    /// How many series are drawn. Nobody tells more apart, and the size of a picture needs a bound.
    pub const MOST_SERIES: usize = 16;
    /// How many categories an x axis has room for.
    pub const MOST_COLUMNS: usize = 120;
    /// How many categories a y axis is drawn with. The picture grows with them.
    pub const MOST_ROWS: usize = 60;
    /// How many rules, regions and notes are drawn, each.
    pub const MOST_MARKS: usize = 64;

    /// A figure without data.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Figure {
        Figure {
            title: title.into(),
            caption: String::new(),
            x,
            y,
            series: Vec::new(),
            rules: Vec::new(),
            regions: Vec::new(),
            notes: Vec::new(),
            area: String::new(),
            part: String::new(),
        }
    }

    /// Says how to read it.
    pub fn caption(mut self, caption: impl Into<String>) -> Figure {
        self.caption = caption.into();
        self
    }

    /// Adds data.
    pub fn series(mut self, series: Series) -> Figure {
        self.series.push(series);
        self
    }

    /// Adds a line across the picture.
    pub fn rule(mut self, rule: Rule) -> Figure {
        self.rules.push(rule);
        self
    }

    /// Adds an area that means something.
    pub fn region(mut self, region: Region) -> Figure {
        self.regions.push(region);
        self
    }

    /// Adds a short text at a point.
    pub fn note(mut self, x: f64, y: f64, text: impl Into<String>) -> Figure {
        self.notes.push(Note {
            x,
            y,
            text: text.into(),
        });
        self
    }

    /// Says what the areas of discs count, and what their inner discs are; `part` may be empty.
    pub fn areas(mut self, area: impl Into<String>, part: impl Into<String>) -> Figure {
        self.area = area.into();
        self.part = part.into();
        self
    }

    /// Bars lie on their side where the y axis has names and the x axis has numbers.
    pub(crate) fn lies(&self) -> bool {
        self.y.categories().is_some() && self.x.categories().is_none()
    }

    /// The series that are drawn.
    pub(crate) fn drawn(&self) -> impl Iterator<Item = &Series> + Clone {
        self.series.iter().take(Self::MOST_SERIES)
    }
}

/// One direction of a figure.
///
/// An axis always holds all of its data, and the rules, regions and notes as well: there is no way
/// to cut something off.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What is counted or measured.
    pub label: String,
    /// The unit, if it has one; written behind the label.
    pub unit: String,
    /// How values become places.
    pub scale: Scale,
    /// How values become text.
    pub format: Format,
    /// Values that the axis shows even if no data reach them, such as 0 and 1 for a share.
    pub covers: Vec<f64>,
}

impl Axis {
    /// Equal distances are equal differences.
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis {
            label: label.into(),
            unit: String::new(),
            scale: Scale::Linear,
            format: Format::Plain,
            covers: Vec::new(),
        }
    }

    /// Equal distances are equal ratios. What is not above zero has no place on it: it is left out,
    /// and the picture says so.
    pub fn log10(label: impl Into<String>) -> Axis {
        Axis {
            scale: Scale::Log10,
            ..Axis::linear(label)
        }
    }

    /// Names in a row. Values are indices into them.
    pub fn of_categories<S: Into<String>>(
        label: impl Into<String>,
        names: impl IntoIterator<Item = S>,
    ) -> Axis {
        Axis {
            scale: Scale::Categories(names.into_iter().map(Into::into).collect()),
            ..Axis::linear(label)
        }
    }

    /// Chooses how values are written.
    pub fn format(mut self, format: Format) -> Axis {
        self.format = format;
        self
    }

    /// Names the unit.
    pub fn unit(mut self, unit: impl Into<String>) -> Axis {
        self.unit = unit.into();
        self
    }

    /// Makes the axis reach a value.
    pub fn covering(mut self, value: f64) -> Axis {
        self.covers.push(value);
        self
    }

    pub(crate) fn categories(&self) -> Option<&[String]> {
        match &self.scale {
            Scale::Categories(names) => Some(names),
            Scale::Linear | Scale::Log10 => None,
        }
    }
}

/// How values become places on an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    /// Equal distances are equal differences.
    Linear,
    /// Equal distances are equal ratios.
    Log10,
    /// One place for each name; values are indices, 0 for the first.
    Categories(Vec<String>),
}

/// How values become text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// A number: `0.25`, `1,200`.
    #[default]
    Plain,
    /// Whole things: the axis has no ticks between them.
    Count,
    /// A share: 0.25 is written `25%`.
    Share,
    /// Bytes, by powers of a thousand: `1.2 MB`.
    Bytes,
}

/// Data of one kind, drawn in one way.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What the legend says.
    pub name: String,
    /// How it is drawn.
    pub mark: Mark,
    /// The data, in any order.
    pub points: Vec<Point>,
    /// Names of the points, in the same order; empty, or an empty name, for points that have none.
    /// Points and discs have their names written beside them while there is room, the first names
    /// first; all names are in the CSV.
    pub names: Vec<String>,
    /// A line joins two neighbours only if their x values differ by no more than this; infinite to
    /// join all. For a line over whole numbers it is 1: numbers without a value are gaps.
    pub reach: f64,
}

impl Series {
    /// Data of any mark, as points.
    pub fn of_points(
        name: impl Into<String>,
        mark: Mark,
        points: impl IntoIterator<Item = Point>,
    ) -> Series {
        Series {
            name: name.into(),
            mark,
            points: points.into_iter().collect(),
            names: Vec::new(),
            reach: f64::INFINITY,
        }
    }

    /// Data of any mark but histograms and discs, as pairs of x and y.
    pub fn new(
        name: impl Into<String>,
        mark: Mark,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Series {
        let points = points.into_iter().map(|(x, y)| Point::at(x, y));
        Series::of_points(name, mark, points)
    }

    /// Discs: x, y, what the area counts, and the share of it, from 0 to 1, that the inner disc
    /// shows.
    pub fn discs(
        name: impl Into<String>,
        discs: impl IntoIterator<Item = (f64, f64, f64, f64)>,
    ) -> Series {
        let points = discs.into_iter().map(|(x, y, size, part)| Point {
            size,
            part,
            ..Point::at(x, y)
        });
        Series::of_points(name, Mark::Discs, points)
    }

    /// Points with error bars along the x axis: x, y, and how far the bar reaches to either side.
    pub fn with_x_errors(
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64, f64)>,
    ) -> Series {
        let points = points.into_iter().map(|(x, y, x_error)| Point {
            x_error,
            ..Point::at(x, y)
        });
        Series::of_points(name, Mark::Points, points)
    }

    /// Points with error bars along the y axis: x, y, and how far the bar reaches up and down.
    pub fn with_y_errors(
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64, f64)>,
    ) -> Series {
        let points = points.into_iter().map(|(x, y, y_error)| Point {
            y_error,
            ..Point::at(x, y)
        });
        Series::of_points(name, Mark::Points, points)
    }

    /// A histogram: where each bin begins and ends, and how high it is.
    pub fn histogram(
        name: impl Into<String>,
        bins: impl IntoIterator<Item = (f64, f64, f64)>,
    ) -> Series {
        let points = bins.into_iter().map(|(x, end, y)| Point {
            end,
            ..Point::at(x, y)
        });
        Series::of_points(name, Mark::Histogram, points)
    }

    /// One bar for each category, in their order, on an x axis of names.
    pub fn columns(name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Series {
        Series::new(
            name,
            Mark::Bars,
            values
                .into_iter()
                .enumerate()
                .map(|(index, value)| (index as f64, value)),
        )
    }

    /// One bar for each category, in their order, on a y axis of names.
    pub fn rows(name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Series {
        Series::new(
            name,
            Mark::Bars,
            values
                .into_iter()
                .enumerate()
                .map(|(index, value)| (value, index as f64)),
        )
    }

    /// Names the points, in their order; an empty name is not written.
    pub fn named<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Series {
        self.names = names.into_iter().map(Into::into).collect();
        self
    }

    /// Leaves a gap in a line between neighbours whose x values differ by more than this.
    pub fn joined_within(mut self, reach: f64) -> Series {
        self.reach = reach;
        self
    }

    /// The same data drawn otherwise.
    pub fn drawn_as(mut self, mark: Mark) -> Series {
        self.mark = mark;
        self
    }
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A dot for each point, with error bars where it has them. Several points at one place are one
    /// larger dot with their number beside it. Where there are too many to tell apart, cells are
    /// shaded by how many points they hold.
    Points,
    /// A disc for each point, whose area is proportional to [`Point::size`]. If any point of the
    /// series has a [`Point::part`], an inner disc shows the part.
    Discs,
    /// Points joined in the order of x. A value that cannot be shown breaks the line, and so does a
    /// distance larger than [`Series::reach`].
    Line,
    /// The same, but a value holds until the next one: what a cumulative distribution needs.
    Steps,
    /// Bars from zero; several series stand side by side. They lie where the y axis has names.
    Bars,
    /// Bars on top of each other, always on a linear scale: lengths on a logarithmic one do not add
    /// up.
    Stacked,
    /// Bars that reach from [`Point::x`] to [`Point::end`].
    Histogram,
}

/// One number at its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The place along the x axis; in a histogram, where the bin begins.
    pub x: f64,
    /// In a histogram, where the bin ends; elsewhere the same as `x`.
    pub end: f64,
    /// The place along the y axis.
    pub y: f64,
    /// In discs, what the area counts.
    pub size: f64,
    /// In discs, the share of the area that the inner disc has, from 0 to 1.
    pub part: f64,
    /// How far an error bar reaches to the left and to the right; 0 for none.
    pub x_error: f64,
    /// How far an error bar reaches up and down; 0 for none.
    pub y_error: f64,
}

impl Point {
    /// A point without an error bar; as a disc, of size 1.
    pub const fn at(x: f64, y: f64) -> Point {
        Point {
            x,
            end: x,
            y,
            size: 1.0,
            part: 0.0,
            x_error: 0.0,
            y_error: 0.0,
        }
    }
}

/// A line across the whole picture, such as a threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// What it means.
    pub label: String,
    /// Where it stands on its axis.
    pub at: f64,
    /// Whether it stands on the x axis and goes up, or on the y axis and goes across.
    pub direction: Direction,
}

impl Rule {
    /// A line that goes up from a value of the x axis.
    pub fn vertical(at: f64, label: impl Into<String>) -> Rule {
        Rule {
            label: label.into(),
            at,
            direction: Direction::Vertical,
        }
    }

    /// A line that goes across from a value of the y axis.
    pub fn horizontal(at: f64, label: impl Into<String>) -> Rule {
        Rule {
            label: label.into(),
            at,
            direction: Direction::Horizontal,
        }
    }
}

/// Which way a rule goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Up, from a value of the x axis.
    Vertical,
    /// Across, from a value of the y axis.
    Horizontal,
}

/// A rectangle that means something. A side that is open reaches to the edge of the picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Region {
    /// What it means.
    pub label: String,
    /// Where it begins and ends on the x axis.
    pub x: (Option<f64>, Option<f64>),
    /// Where it begins and ends on the y axis.
    pub y: (Option<f64>, Option<f64>),
}

/// A short text at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// The place along the x axis.
    pub x: f64,
    /// The place along the y axis.
    pub y: f64,
    /// What it says.
    pub text: String,
}
