//! Colours and fonts. One style sheet serves a picture in a file and in a page, in light and dark.
//!
//! Colours are written twice. Each element has its light colour as an attribute, which every
//! program understands. The style sheet has the same colours as CSS variables with a fallback, for
//! dark pages and for pages with their own colours; it is inside `@supports`, which programs
//! without variables skip. Otherwise some of them would read `var(…)` as a colour and draw black,
//! or nothing.

/// The purpose of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Text, and rings around points.
    Ink,
    /// Labels of axes, and the axes.
    Muted,
    Grid,
    /// The background, which edges, halos and hatches are drawn in.
    Paper,
    /// Thresholds and regions.
    Rule,
    /// A series, by its number.
    Series(usize),
}

/// Generates the style sheet and the list of light colours from one table: name, light, dark.
macro_rules! tones {
    ($(($name:literal, $light:literal, $dark:literal)),* $(,)?) => {
        /// The style sheet that [`crate::Figure::svg`] carries, for pages that hold many
        /// [`crate::Figure::svg_for_page`].
        ///
        /// Colours follow the reader's preference for light or dark. A page that decides for itself
        /// sets any of `--cento-ink`, `--cento-muted`, `--cento-grid`, `--cento-paper`,
        /// `--cento-rule` and `--cento-1` to `--cento-8` on an element around the figure; what it
        /// sets wins in both. `--cento-paper` is the colour behind the figure: halos and hatches
        /// are drawn in it, so a page gives it its own colour rather than `transparent`.
        pub const STYLE: &str = concat!(
            "@supports (fill:var(--a,red)){\n",
            ".cento-figure{max-width:100%;height:auto;direction:ltr}\n",
            ".cento-figure text{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,\"Noto Sans\",sans-serif;",
            "unicode-bidi:plaintext;white-space:pre;font-variant-numeric:tabular-nums}\n",
            ".cento-figure .cf-halo{paint-order:stroke;stroke:var(--cento-paper,#fff);stroke-width:3px;stroke-linejoin:round}\n",
            $(".cento-figure .cf-fill-", $name, "{fill:var(--cento-", $name, ",", $light, ")}",
              ".cento-figure .cf-line-", $name, "{stroke:var(--cento-", $name, ",", $light, ")}\n",)*
            "@media (prefers-color-scheme:dark){\n",
            ".cento-figure .cf-halo{stroke:var(--cento-paper,#0d1117)}\n",
            $(".cento-figure .cf-fill-", $name, "{fill:var(--cento-", $name, ",", $dark, ")}",
              ".cento-figure .cf-line-", $name, "{stroke:var(--cento-", $name, ",", $dark, ")}\n",)*
            "}}\n",
        );

        /// Names and light colours.
        const TONES: &[(&str, &str)] = &[$(($name, $light)),*];
    };
}

// Series have the colours of Okabe and Ito, which colour-blind people can distinguish; without
// their yellow, which is invisible on white paper, and in an order whose neighbours differ in
// brightness too.
tones![
    ("ink", "#1c2128", "#e6edf3"),
    ("muted", "#57606a", "#9aa4af"),
    ("grid", "#e1e4e8", "#30363d"),
    ("paper", "#ffffff", "#0d1117"),
    ("rule", "#b3261e", "#ff8a80"),
    ("1", "#0072b2", "#58a6e8"),
    ("2", "#d55e00", "#f0813f"),
    ("3", "#009e73", "#2fc497"),
    ("4", "#b5558c", "#e29cc5"),
    ("5", "#e69f00", "#f2b632"),
    ("6", "#56b4e9", "#a5d8f7"),
    ("7", "#6e7781", "#a0a8b0"),
    ("8", "#1c2128", "#f0f3f6"),
];

/// Where the colours of series begin in the table.
const FIRST: usize = 5;

impl Tone {
    fn entry(self) -> (&'static str, &'static str) {
        let index = match self {
            Tone::Ink => 0,
            Tone::Muted => 1,
            Tone::Grid => 2,
            Tone::Paper => 3,
            Tone::Rule => 4,
            Tone::Series(number) => FIRST + number % (TONES.len() - FIRST),
        };
        TONES.get(index).copied().unwrap_or(("ink", "#1c2128"))
    }

    /// The end of its classes and of its variable.
    pub(crate) fn name(self) -> &'static str {
        self.entry().0
    }

    /// The light colour, as six hexadecimal digits behind a `#`.
    pub(crate) fn light(self) -> &'static str {
        self.entry().1
    }

    /// The light colour as red, green and blue, from 0 to 255.
    pub(crate) fn red_green_blue(self) -> [u8; 3] {
        let digits = self.light().trim_start_matches('#');
        let value = u32::from_str_radix(digits, 16).unwrap_or(0);
        let [_, red, green, blue] = value.to_be_bytes();
        [red, green, blue]
    }
}

/// Dashes of lines, by the number of the series, because colour alone is not accessible.
pub(crate) const DASHES: [&str; 6] = ["", "7 3", "2 3", "10 3 2 3", "14 4", "4 2 1 2 1 2"];

/// The dashes of a series; none for the first.
pub(crate) fn dashes(series: usize) -> &'static str {
    DASHES.get(series % DASHES.len()).copied().unwrap_or("")
}

/// The style of an outline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stroke {
    pub(crate) tone: Tone,
    pub(crate) width: f64,
    /// In hundredths.
    pub(crate) opacity: u8,
    /// Lengths of dashes and gaps as in SVG, or empty.
    pub(crate) dashes: &'static str,
}

/// The style of a shape: a fill, an outline or both.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ShapeStyle {
    /// With an opacity in hundredths.
    pub(crate) fill: Option<(Tone, u8)>,
    pub(crate) stroke: Option<Stroke>,
    /// Without antialiasing, because adjacent shapes would show seams.
    pub(crate) crisp: bool,
}

impl ShapeStyle {
    pub(crate) fn fill(tone: Tone) -> ShapeStyle {
        ShapeStyle {
            fill: Some((tone, 100)),
            ..ShapeStyle::default()
        }
    }

    pub(crate) fn stroke(tone: Tone, width: f64) -> ShapeStyle {
        ShapeStyle {
            stroke: Some(Stroke {
                tone,
                width,
                opacity: 100,
                dashes: "",
            }),
            ..ShapeStyle::default()
        }
    }

    /// Sets the opacity of fill and outline, in hundredths.
    pub(crate) fn opacity(mut self, hundredths: u8) -> ShapeStyle {
        self.fill = self.fill.map(|(tone, _)| (tone, hundredths));
        self.stroke = self.stroke.map(|stroke| Stroke {
            opacity: hundredths,
            ..stroke
        });
        self
    }

    /// Makes the outline dashed.
    pub(crate) fn dashed(mut self, dashes: &'static str) -> ShapeStyle {
        self.stroke = self.stroke.map(|stroke| Stroke { dashes, ..stroke });
        self
    }

    /// Adds an outline.
    pub(crate) fn outlined(mut self, tone: Tone, width: f64) -> ShapeStyle {
        self.stroke = ShapeStyle::stroke(tone, width).stroke;
        self
    }

    pub(crate) fn crisp(mut self) -> ShapeStyle {
        self.crisp = true;
        self
    }
}
