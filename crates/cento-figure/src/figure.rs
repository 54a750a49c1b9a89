//! A figure as data, independent of how it is drawn.

/// Data with a title, axes, and a caption that says how to read them.
///
/// A plain value: build it with [`Figure::new`] and the methods that follow it, or fill the fields.
/// [`Figure::svg`] draws it, [`Figure::csv`] writes its data.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The title.
    pub title: String,
    /// How to read the figure, in a sentence.
    pub caption: String,
    /// The axis along the bottom.
    pub x: Axis,
    /// The axis along the left.
    pub y: Axis,
    /// The data. At most [`Figure::MOST_SERIES`] are drawn; the caption says if there are more.
    pub series: Vec<Series>,
    /// Lines across the whole picture: thresholds.
    pub rules: Vec<Rule>,
    /// Areas with a meaning, such as the flagged range.
    pub regions: Vec<Region>,
    /// Short texts at single points.
    pub notes: Vec<Note>,
    /// What the area of a disc counts, such as "pages"; see [`Mark::Discs`].
    pub area: String,
    /// What the inner disc is the share of, such as "from other sites"; see [`Point::part`].
    pub part: String,
}

impl Figure {
    /// The maximum number of series that are drawn. More would be indistinguishable.
    pub const MOST_SERIES: usize = 16;
    /// The maximum number of categories of an x axis.
    pub const MOST_COLUMNS: usize = 120;
    /// The maximum number of categories of a y axis. The picture grows with them.
    pub const MOST_ROWS: usize = 60;
    /// The maximum number of rules, of regions and of notes.
    pub const MOST_MARKS: usize = 64;

    /// Creates a figure without data.
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

    /// Sets the caption.
    pub fn caption(mut self, caption: impl Into<String>) -> Figure {
        self.caption = caption.into();
        self
    }

    /// Adds a series.
    pub fn series(mut self, series: Series) -> Figure {
        self.series.push(series);
        self
    }

    /// Adds a rule.
    pub fn rule(mut self, rule: Rule) -> Figure {
        self.rules.push(rule);
        self
    }

    /// Adds a region.
    pub fn region(mut self, region: Region) -> Figure {
        self.regions.push(region);
        self
    }

    /// Adds a note at a point.
    pub fn note(mut self, x: f64, y: f64, text: impl Into<String>) -> Figure {
        self.notes.push(Note {
            x,
            y,
            text: text.into(),
        });
        self
    }

    /// Sets what the areas of discs count, and what their inner discs show; `part` may be empty.
    pub fn areas(mut self, area: impl Into<String>, part: impl Into<String>) -> Figure {
        self.area = area.into();
        self.part = part.into();
        self
    }

    /// Returns whether bars are horizontal: the y axis has categories and the x axis numbers.
    pub(crate) fn is_horizontal(&self) -> bool {
        self.y.categories().is_some() && self.x.categories().is_none()
    }

    /// Returns the series that are drawn.
    pub(crate) fn drawn(&self) -> impl Iterator<Item = &Series> + Clone {
        self.series.iter().take(Self::MOST_SERIES)
    }
}

/// An axis of a figure.
///
/// It always covers all data, rules, regions and notes.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What the axis counts or measures.
    pub label: String,
    /// The unit, written after the label; may be empty.
    pub unit: String,
    /// The scale.
    pub scale: Scale,
    /// The format of values.
    pub format: NumberFormat,
    /// Values that the axis covers even without data there, such as 0 and 1 for a share.
    pub covers: Vec<f64>,
}

impl Axis {
    /// Creates a linear axis.
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis {
            label: label.into(),
            unit: String::new(),
            scale: Scale::Linear,
            format: NumberFormat::Plain,
            covers: Vec::new(),
        }
    }

    /// Creates a logarithmic axis. Values that are not positive cannot be shown, and the caption
    /// counts them.
    pub fn log10(label: impl Into<String>) -> Axis {
        Axis {
            scale: Scale::Log10,
            ..Axis::linear(label)
        }
    }

    /// Creates an axis of named categories. Values are indices.
    pub fn of_categories<S: Into<String>>(
        label: impl Into<String>,
        names: impl IntoIterator<Item = S>,
    ) -> Axis {
        Axis {
            scale: Scale::Categories(names.into_iter().map(Into::into).collect()),
            ..Axis::linear(label)
        }
    }

    /// Sets the format of values.
    pub fn format(mut self, format: NumberFormat) -> Axis {
        self.format = format;
        self
    }

    /// Sets the unit.
    pub fn unit(mut self, unit: impl Into<String>) -> Axis {
        self.unit = unit.into();
        self
    }

    /// Extends the axis to a value.
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

/// How values become positions on an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    /// Equal distances are equal differences.
    Linear,
    /// Equal distances are equal ratios.
    Log10,
    /// Named categories; values are indices from 0.
    Categories(Vec<String>),
}

/// How values become text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NumberFormat {
    /// A number: `0.25`, `1,200`.
    #[default]
    Plain,
    /// A count: ticks are whole numbers.
    Count,
    /// A share: 0.25 is written `25%`.
    Share,
    /// Bytes, in powers of 1,000: `1.2 MB`.
    Bytes,
}

/// A series of points with one mark.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// The mark.
    pub mark: Mark,
    /// The points, in any order.
    pub points: Vec<Point>,
    /// The names of the points, in the same order; a name may be empty. Names are written beside
    /// points and discs while there is space, in their order. All names are in the CSV.
    pub names: Vec<String>,
    /// The maximum distance in x of neighbours that a line joins; infinite by default. For a line
    /// over whole numbers it is 1, so that numbers without a value are gaps.
    pub reach: f64,
}

impl Series {
    /// Creates a series of points with any mark.
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

    /// Creates a series of x and y with any mark except histograms and discs.
    pub fn new(
        name: impl Into<String>,
        mark: Mark,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Series {
        let points = points.into_iter().map(|(x, y)| Point::at(x, y));
        Series::of_points(name, mark, points)
    }

    /// Creates discs from x, y, the number that is the area, and the share of the inner disc, from
    /// 0 to 1.
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

    /// Creates points with horizontal error bars from x, y and the length to either side.
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

    /// Creates a histogram from the begin, the end and the height of each bin.
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

    /// Creates one vertical bar for each category of the x axis.
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

    /// Creates one horizontal bar for each category of the y axis.
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

    /// Sets the names of the points, in their order; empty names are not written.
    pub fn named<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Series {
        self.names = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the maximum distance in x of neighbours that a line joins.
    pub fn joined_within(mut self, reach: f64) -> Series {
        self.reach = reach;
        self
    }

    /// Changes the mark.
    pub fn drawn_as(mut self, mark: Mark) -> Series {
        self.mark = mark;
        self
    }
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A dot for each point, with its error bars. Several points at one position are one larger dot
    /// with their number beside it. Too many points are drawn as cells shaded by their number.
    Points,
    /// A disc for each point, whose area is proportional to [`Point::size`]. If any point of the
    /// series has a [`Point::part`], an inner disc shows the part.
    Discs,
    /// Points joined in the order of x. A value that cannot be shown interrupts the line, and so
    /// does a distance larger than [`Series::reach`].
    Line,
    /// A step function: a value holds until the next one, as in a cumulative distribution.
    Steps,
    /// Bars from zero, side by side for several series; horizontal if the y axis has categories.
    Bars,
    /// Stacked bars, always on a linear scale: lengths on a logarithmic one do not add up.
    Stacked,
    /// Bars from [`Point::x`] to [`Point::end`].
    Histogram,
}

/// A point of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The x value; in a histogram, the begin of the bin.
    pub x: f64,
    /// In a histogram, the end of the bin; otherwise the same as `x`.
    pub end: f64,
    /// The y value.
    pub y: f64,
    /// Of a disc, the number that is its area.
    pub size: f64,
    /// Of a disc, the share of the inner disc, from 0 to 1.
    pub part: f64,
    /// The length of the horizontal error bar to either side; 0 for none.
    pub x_error: f64,
    /// The length of the vertical error bar to either side; 0 for none.
    pub y_error: f64,
}

impl Point {
    /// Creates a point without error bars; as a disc, of size 1.
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

/// A line across the whole plot, such as a threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The label.
    pub label: String,
    /// The value on its axis.
    pub at: f64,
    /// The direction.
    pub direction: Direction,
}

impl Rule {
    /// Creates a vertical line at a value of the x axis.
    pub fn vertical(at: f64, label: impl Into<String>) -> Rule {
        Rule {
            label: label.into(),
            at,
            direction: Direction::Vertical,
        }
    }

    /// Creates a horizontal line at a value of the y axis.
    pub fn horizontal(at: f64, label: impl Into<String>) -> Rule {
        Rule {
            label: label.into(),
            at,
            direction: Direction::Horizontal,
        }
    }
}

/// The direction of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Vertical, at a value of the x axis.
    Vertical,
    /// Horizontal, at a value of the y axis.
    Horizontal,
}

/// A rectangle with a meaning. An open side extends to the edge of the plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Region {
    /// The label.
    pub label: String,
    /// The range on the x axis.
    pub x: (Option<f64>, Option<f64>),
    /// The range on the y axis.
    pub y: (Option<f64>, Option<f64>),
}

/// A short text at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// The x value.
    pub x: f64,
    /// The y value.
    pub y: f64,
    /// The text.
    pub text: String,
}
