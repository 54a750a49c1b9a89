//! The guarantees of pictures, for any data.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what goes wrong in a test should stop it"
)]

use cento_figure::{Axis, Figure, Mark, NumberFormat, Point, Region, Rule, Scale, Series};
use proptest::prelude::*;
use roxmltree::{Document, Node};

const MARKS: [Mark; 7] = [
    Mark::Points,
    Mark::Discs,
    Mark::Line,
    Mark::Steps,
    Mark::Bars,
    Mark::Stacked,
    Mark::Histogram,
];
const FORMATS: [NumberFormat; 4] = [
    NumberFormat::Plain,
    NumberFormat::Count,
    NumberFormat::Share,
    NumberFormat::Bytes,
];

/// Returns all numbers in a text, as SVG separates them.
fn numbers(text: &str) -> Vec<f64> {
    text.split(|letter: char| !(letter.is_ascii_digit() || letter == '.' || letter == '-'))
        .filter(|part| !part.is_empty())
        .map(|part| {
            part.parse()
                .unwrap_or_else(|_| panic!("{part:?} is no number in {text:?}"))
        })
        .collect()
}

/// Returns the corners of a path: absolute steps, and arcs with relative ends.
fn corners(path: &str) -> Vec<(f64, f64)> {
    let (mut x, mut y) = (0.0, 0.0);
    let mut out = Vec::new();
    let starts: Vec<usize> = path
        .match_indices(|letter: char| letter.is_ascii_alphabetic())
        .map(|(at, _)| at)
        .collect();
    for (index, start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(path.len());
        let values = numbers(&path[start + 1..end]);
        match (&path[*start..=*start], values.as_slice()) {
            ("M" | "L", [a, b]) => (x, y) = (*a, *b),
            ("H", [a]) => x = *a,
            ("V", [b]) => y = *b,
            ("h", [right]) => x += right,
            ("v", [down]) => y += down,
            ("a", [.., right, down]) => (x, y) = (x + right, y + down),
            ("z", []) => {}
            step => panic!("{step:?} is no step of ours"),
        }
        out.push((x, y));
    }
    out
}

/// Checks everything that must hold for every picture.
fn check(figure: &Figure) -> String {
    let svg = figure.svg();
    let document = Document::parse(&svg).unwrap_or_else(|error| panic!("{error}\n{svg}"));
    let root = document.root_element();
    let frame = numbers(root.attribute("viewBox").unwrap());
    let (width, height) = (frame[2], frame[3]);
    assert!(
        width == 720.0 && (60.0..4_000.0).contains(&height),
        "{width} × {height}"
    );
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        open.extend(node.children().filter(Node::is_element));
        let name = node.tag_name().name();
        assert!(
            ["svg", "title", "desc", "style", "rect", "path", "text"].contains(&name),
            "{name}"
        );
        for attribute in node.attributes() {
            let known = "class role viewBox width height fill fill-opacity stroke stroke-width stroke-opacity stroke-dasharray \
                         stroke-linejoin shape-rendering d x y text-anchor transform font-size font-weight font-family";
            assert!(
                known
                    .split_whitespace()
                    .any(|known| known == attribute.name()),
                "{}",
                attribute.name()
            );
        }
        assert_colours_are_plain(&node);
        let place = |name: &str| {
            node.attribute(name)
                .map(|value| value.parse::<f64>().unwrap())
        };
        if name == "text" {
            assert!(
                (0.0..=width).contains(&place("x").unwrap())
                    && (0.0..=height).contains(&place("y").unwrap()),
                "{node:?}"
            );
        }
        for (x, y) in node.attribute("d").map(corners).unwrap_or_default() {
            assert!(
                (0.0..=width).contains(&x) && (0.0..=height).contains(&y),
                "{x} {y} in {node:?}"
            );
        }
    }
    assert!(svg.len() < 300_000, "{} bytes", svg.len());
    assert_eq!(svg, figure.svg());
    svg
}

/// Checks that colours are attributes: not every program supports CSS variables, or any CSS.
fn assert_colours_are_plain(node: &Node<'_, '_>) {
    let plain = |colour: &str| {
        colour.len() == 7
            && colour.starts_with('#')
            && colour[1..].chars().all(|digit| digit.is_ascii_hexdigit())
    };
    let colour = |name: &str| node.attribute(name).filter(|colour| *colour != "none");
    if ["rect", "path", "text"].contains(&node.tag_name().name()) {
        let colours: Vec<&str> = ["fill", "stroke"].into_iter().filter_map(colour).collect();
        assert!(
            !colours.is_empty() && colours.into_iter().all(plain),
            "{node:?}"
        );
        // A shape without a fill would be black.
        assert!(node.has_attribute("fill"), "{node:?}");
    }
    if node.tag_name().name() == "text" {
        assert!(node.has_attribute("font-size"), "{node:?}");
    }
}

#[test]
fn variables_in_the_style_sheet_have_fallbacks_and_are_inside_supports() {
    let style = cento_figure::STYLE;
    let variables: Vec<&str> = style.split("var(").skip(1).collect();
    assert!(variables.len() > 20);
    for variable in variables {
        let inside = variable.split(')').next().unwrap();
        let (name, fallback) = inside.split_once(',').unwrap_or_else(|| panic!("{inside}"));
        assert!(name.starts_with("--") && !fallback.is_empty(), "{inside}");
    }
    assert!(style.starts_with("@supports (fill:var("));
    // The block of @supports ends where the sheet ends, so all of it is inside.
    let mut open = 0i32;
    for (at, letter) in style.trim_end().char_indices() {
        open += i32::from(letter == '{') - i32::from(letter == '}');
        assert!(open > 0 || at < style.find('{').unwrap() || at + 1 == style.trim_end().len());
    }
    assert_eq!(open, 0);
}

/// The length of the first two lines of a PDF. The second is binary; the rest is text.
const HEAD: usize = 15;

/// Checks everything that must hold for every PDF: objects have the offsets of the table and their
/// stated lengths.
fn check_pdf(figure: &Figure) -> String {
    let file = figure.pdf();
    assert_eq!(file, figure.pdf());
    assert!(file.starts_with(b"%PDF-1.4\n%"));
    let all = String::from_utf8(file[HEAD..].to_vec()).unwrap();
    assert!(all.is_ascii());
    let from = |at: usize| &all[at - HEAD..];
    let table: usize = all
        .rsplit("startxref\n")
        .next()
        .unwrap()
        .lines()
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let rows = from(table);
    assert!(rows.starts_with("xref\n0 6\n"));
    for (number, row) in rows.lines().skip(3).take(5).enumerate() {
        let begin: usize = row[..10].parse().unwrap();
        assert!(
            from(begin).starts_with(&format!("{} 0 obj\n", number + 1)),
            "{row}"
        );
    }
    let length: usize = all
        .split("/Length ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let stream = all.split("stream\n").nth(1).unwrap();
    assert_eq!(stream.strip_suffix("end").unwrap().len(), length);
    assert!(!stream.contains("NaN") && !stream.contains("inf"));
    for name in stream
        .split_whitespace()
        .filter(|word| word.starts_with("/G"))
    {
        assert!(all.contains(&format!("{name} << /ca")), "{name}");
    }
    assert!(file.len() < 1_000_000, "{}", file.len());
    all
}

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -1e3..1e3f64,
        4 => (0..12u32).prop_map(f64::from),
        2 => (-300..300i32).prop_map(|power| format!("1e{power}").parse().unwrap()),
        1 => proptest::num::f64::ANY,
    ]
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z ]{0,30}",
        ".{0,60}",
        any::<String>(),
        Just("</text><script>alert(1)</script>".to_owned()),
        Just("\" onload=\"x\" a='<![CDATA[ ]]> --> &amp; <?x?>".to_owned()),
        Just("新闻聚合网站的页面".repeat(9)),
        Just("שלום עולם".repeat(9)),
        Just("\u{FDFD}".repeat(30)),
        Just("\u{0}\u{b}\u{FFFF}\u{FFFE}\u{85}".to_owned()),
    ]
}

fn any_axis() -> impl Strategy<Value = Axis> {
    let scale = prop_oneof![
        Just(Scale::Linear),
        Just(Scale::Log10),
        proptest::collection::vec(any_text(), 0..14).prop_map(Scale::Categories),
    ];
    let covers = proptest::collection::vec(any_number(), 0..2);
    (any_text(), any_text(), scale, 0..FORMATS.len(), covers).prop_map(
        |(label, unit, scale, format, covers)| Axis {
            label,
            unit,
            scale,
            format: FORMATS[format],
            covers,
        },
    )
}

fn any_series() -> impl Strategy<Value = Series> {
    let of_disc = (any_number(), any_number());
    let errors = prop_oneof![Just((0.0, 0.0)), (any_number(), any_number())];
    let point = (any_number(), any_number(), any_number(), of_disc, errors).prop_map(
        |(x, end, y, (size, part), (x_error, y_error))| Point {
            x,
            end,
            y,
            size,
            part,
            x_error,
            y_error,
        },
    );
    (
        any_text(),
        0..MARKS.len(),
        proptest::collection::vec(point, 0..30),
        proptest::collection::vec(any_text(), 0..6),
        prop_oneof![Just(f64::INFINITY), any_number()],
    )
        .prop_map(|(name, mark, points, names, reach)| Series {
            reach,
            ..Series::of_points(name, MARKS[mark], points).named(names)
        })
}

fn any_figure() -> impl Strategy<Value = Figure> {
    let series = proptest::collection::vec(any_series(), 0..5);
    let signs = proptest::collection::vec((any_number(), any_number(), any_text()), 0..4);
    (
        any_text(),
        any_text(),
        any_axis(),
        any_axis(),
        series,
        signs,
    )
        .prop_map(|(title, caption, x, y, series, signs)| {
            let mut figure = Figure::new(title, x, y).caption(caption);
            figure.series = series;
            for (x, y, text) in signs {
                figure = figure
                    .note(x, y, text.clone())
                    .rule(Rule::vertical(x, text.clone()))
                    .rule(Rule::horizontal(y, text.clone()));
                figure = figure.region(Region {
                    label: text,
                    x: (Some(x), None),
                    y: (None, Some(y)),
                });
            }
            figure
        })
}

proptest! {
    #[test]
    fn pictures_of_any_data_are_well_formed_and_stay_on_the_page(figure in any_figure()) {
        check(&figure);
        check_pdf(&figure);
        figure.csv();
    }

    #[test]
    fn untrusted_text_is_only_text(text in any_text()) {
        let plain = |text: &str| {
            Figure::new(text, Axis::linear(text), Axis::of_categories(text, [text]))
                .caption(text)
                .series(Series::rows(text, [1.0]))
                .series(Series::rows(text, [1.0]))
                .rule(Rule::vertical(0.5, text))
                .note(0.25, 0.0, text)
        };
        let svg = check(&plain(&text));
        let lower = svg.to_lowercase();
        for forbidden in ["<script", "<image", "<use", "<a ", "<foreignobject", "<!", "<?", "href=\""] {
            prop_assert!(!lower.contains(forbidden), "{forbidden}");
        }
    }
}

fn log_log() -> Figure {
    Figure::new(
        "t",
        Axis::log10("x").format(NumberFormat::Count),
        Axis::log10("y").format(NumberFormat::Count),
    )
}

#[test]
fn a_figure_without_data_says_so() {
    assert!(check(&log_log()).contains(">No data<"));
    let nothing = log_log()
        .series(Series::new(
            "s",
            Mark::Points,
            [(0.0, 1.0), (f64::NAN, 1.0)],
        ))
        .rule(Rule::vertical(3.0, "r"));
    let svg = check(&nothing);
    assert!(svg.contains(">No data<"));
    assert!(svg.contains("Not shown: 1 value that is not a finite number; 1 value at or below zero, which a logarithmic axis cannot show."));
    assert!(
        check(&Figure::new(
            "",
            Axis::of_categories("", Vec::<String>::new()),
            Axis::linear("")
        ))
        .contains(">No data<")
    );
}

#[test]
fn omitted_values_are_counted() {
    let points = [
        (1.0, 1.0),
        (2.0, 0.0),
        (3.0, -1.0),
        (4.0, f64::INFINITY),
        (5.0, f64::NAN),
    ];
    let svg = check(&log_log().series(Series::new("s", Mark::Line, points)));
    assert!(svg.contains("2 values that are not finite numbers; 2 values at or below zero"));
    let many = (0..20).fold(log_log(), |figure, n| {
        figure.series(Series::new(n.to_string(), Mark::Line, [(1.0, 1.0)]))
    });
    assert!(check(&many).contains("Not shown: 4 series beyond the maximum number."));
    let rows = Axis::of_categories("", (0..70).map(|n| n.to_string()));
    let tall =
        Figure::new("", Axis::linear(""), rows).series(Series::rows("", (0..70).map(f64::from)));
    assert!(check(&tall).contains("10 values beyond the first 60 categories"));
    let twice = Figure::new("", Axis::of_categories("", ["a"]), Axis::linear(""));
    let twice = twice.series(Series::new("", Mark::Bars, [(0.0, 1.0), (0.0, 3.0)]));
    assert!(check(&twice).contains("Bars hidden behind a longer one: 1."));
}

#[test]
fn pictures_of_many_points_are_small() {
    let wave = |n: u32| {
        (
            f64::from(n),
            (f64::from(n) / 7.0).sin() * f64::from(n % 1013),
        )
    };
    for mark in MARKS {
        let many = if mark == Mark::Points {
            1_000_000
        } else {
            100_000
        };
        let points: Vec<Point> = (0..many)
            .map(wave)
            .map(|(x, y)| Point {
                end: x + 1.0,
                size: y.abs(),
                part: 0.5,
                x_error: 1.0,
                y_error: y.abs() / 3.0,
                ..Point::at(x, y)
            })
            .collect();
        let mut figure = Figure::new("t", Axis::linear("x"), Axis::linear("y"));
        figure = figure.series(Series::of_points("s", mark, points));
        check(&figure);
        check_pdf(&figure);
    }
    // Many series of many points, with gaps.
    for mark in MARKS {
        let mut figure = Figure::new(
            "t",
            Axis::linear("x").format(NumberFormat::Count),
            Axis::linear("y"),
        );
        for shift in 0..16 {
            let holes = |n: u32| {
                if n.is_multiple_of(3) {
                    f64::NAN
                } else {
                    wave(n + shift).1
                }
            };
            let points = (0..4_000)
                .map(|n| Point {
                    end: f64::from(n) + 1.0,
                    size: f64::from(n % 17),
                    part: 0.3,
                    ..Point::at(f64::from(n), holes(n))
                })
                .collect::<Vec<_>>();
            figure = figure.series(Series::of_points(format!("s{shift}"), mark, points));
        }
        check(&figure);
    }
}

#[test]
fn pictures_of_long_names_are_small() {
    let long = |index: usize| format!("{index}{}", "\"".repeat(100_000));
    let names: Vec<String> = (0..150).map(long).collect();
    let mut figure = Figure::new(
        long(0),
        Axis::of_categories(long(1), names),
        Axis::linear(long(2)),
    );
    figure = figure.caption(long(3));
    for index in 0..30 {
        figure = figure.series(Series::columns(long(index), (0..150).map(f64::from)));
    }
    for index in 0..100 {
        let at = f64::from(u8::try_from(index).unwrap());
        figure = figure
            .note(at, at, long(index))
            .rule(Rule::vertical(at, long(index)));
        figure = figure.region(Region {
            label: long(index),
            x: (Some(at), None),
            y: (None, Some(at)),
        });
    }
    check(&figure);
}

#[test]
fn a_stack_on_a_logarithmic_axis_is_drawn_on_a_linear_one() {
    let axis = || Axis::of_categories("", ["a", "b"]);
    let stacked = |y: Axis| {
        let part = || Series::columns("", [1.0, 1_000.0]).drawn_as(Mark::Stacked);
        Figure::new("", axis(), y).series(part()).series(part())
    };
    assert_eq!(
        check(&stacked(Axis::log10(""))),
        check(&stacked(Axis::linear("")))
    );
}

#[test]
fn a_line_breaks_where_a_value_is_missing() {
    let line = |middle: f64| {
        let points = [
            (0.0, 1.0),
            (1.0, 2.0),
            (2.0, middle),
            (3.0, 2.0),
            (4.0, 1.0),
        ];
        let figure = Figure::new("", Axis::linear(""), Axis::linear("")).series(Series::new(
            "",
            Mark::Line,
            points,
        ));
        let svg = check(&figure);
        let path = svg
            .lines()
            .find(|line| line.contains("\"cf-line-1\"") && line.starts_with("<path"))
            .unwrap()
            .to_owned();
        path.matches('M').count()
    };
    assert_eq!((line(1.5), line(f64::NAN)), (1, 2));
}

/// Returns the subpaths of the elements whose markup contains a text.
fn pieces(svg: &str, class: &str) -> Vec<String> {
    svg.lines()
        .filter(|line| line.starts_with("<path") && line.contains(class))
        .filter_map(|line| line.split(" d=\"").nth(1))
        .flat_map(|path| path.trim_end_matches("\"/>").split('M').skip(1))
        .map(str::to_owned)
        .collect()
}

#[test]
fn lines_have_gaps_at_missing_values() {
    let points = [
        (1.0, 5.0),
        (2.0, 4.0),
        (3.0, 3.0),
        (30.0, 2.0),
        (40.0, 1.0),
        (41.0, 1.0),
    ];
    let figure = |series: Series| {
        Figure::new(
            "",
            Axis::linear("").format(NumberFormat::Count),
            Axis::log10(""),
        )
        .series(series)
    };
    let all = Series::new("", Mark::Line, points);
    let lines = |series: Series| pieces(&check(&figure(series)), "\"cf-line-1\"");
    assert_eq!(lines(all.clone()).len(), 1);
    let with_gaps = all.joined_within(1.0);
    let runs = lines(with_gaps.clone());
    assert_eq!(runs.len(), 3, "{runs:?}");
    assert_eq!(runs.iter().filter(|run| run.contains('L')).count(), 2);
    // A single value has a mark, and nothing is reported as omitted.
    let svg = check(&figure(with_gaps));
    assert_eq!(pieces(&svg, "\"cf-fill-1\"").len(), 6);
    assert!(!svg.contains("Not shown"));
}

#[test]
fn a_point_on_a_line_is_drawn_over_the_line() {
    let line = [(1.0, 1.0), (2.0, 3.0), (3.0, 4.0)];
    let svg = check(
        &Figure::new("", Axis::linear(""), Axis::linear(""))
            .series(Series::new("pivot", Mark::Points, [(2.0, 3.0)]))
            .series(Series::new("quilts", Mark::Line, line)),
    );
    let body = svg.split("</style>").nth(1).unwrap();
    let at = |text: &str| body.rfind(text).unwrap();
    assert!(
        at("cf-fill-1 cf-line-paper") > at("cf-line-2")
            && at("cf-fill-1 cf-line-paper") > at("cf-fill-2")
    );
}

#[test]
fn points_at_one_position_are_counted() {
    let share = || {
        Axis::linear("")
            .format(NumberFormat::Share)
            .covering(0.0)
            .covering(1.0)
    };
    let pairs = |count: usize| {
        let mirrors = std::iter::repeat_n((1.0, 1.0), count);
        let others = [(0.9, 0.2), (0.5, 0.4)];
        check(&Figure::new("", share(), share()).series(Series::new(
            "pairs",
            Mark::Points,
            mirrors.chain(others),
        )))
    };
    let svg = pairs(20);
    assert_eq!(pieces(&svg, "cf-line-paper").len(), 3);
    assert!(svg.contains(">20</text>") && svg.contains("Larger dots stand for several points"));
    assert!(!pairs(1).contains("A larger dot"));
    // In a dense series they are a cell, not a sliver at the edge of the plot.
    let share_of = |n: u32| f64::from(n) / 2_000.0;
    let cloud = (0..2_000u32).map(|n| (share_of(n * 7919 % 1_900), share_of(n * 104_729 % 1_900)));
    let mirrors = std::iter::repeat_n((1.0, 1.0), 20);
    let corner = std::iter::repeat_n((1.0, 0.0), 20);
    let all = cloud.chain(mirrors).chain(corner).collect::<Vec<_>>();
    let svg = check(&Figure::new("", share(), share()).series(Series::new("", Mark::Points, all)));
    for piece in pieces(&svg, "crispEdges") {
        let sides = numbers(&piece);
        assert!(sides[2] >= 3.0 && sides[3] >= 3.0, "{piece}");
    }
}

#[test]
fn areas_of_discs_are_proportional_and_inner_discs_are_parts_of_them() {
    let discs = [
        (1.0, 1.0, 1.0, 0.0),
        (2.0, 1.0, 4.0, 0.25),
        (3.0, 1.0, 16.0, 1.0),
    ];
    let figure = Figure::new("", Axis::linear(""), Axis::linear(""))
        .areas("pages", "from other sites")
        .series(Series::discs("covers", discs));
    let svg = check(&figure);
    let radii = |class: &str| -> Vec<f64> {
        let arcs = pieces(&svg, class);
        let radius = |arc: &String| numbers(arc.split('a').nth(1).unwrap())[0];
        arcs.iter().map(radius).collect()
    };
    // The largest first, then the three of the legend and the example of an inner disc.
    let outer = radii("cf-fill-1 cf-line-1");
    assert_eq!(outer[..3], [14.0, 7.0, 3.5]);
    assert_eq!(radii("\"cf-fill-1\"")[..2], [14.0, 3.5]);
    assert!(
        svg.contains(">Area of a disc, pages:<") && svg.contains(">inner disc: from other sites<")
    );
    assert_eq!(figure.csv().lines().next(), Some("series,x,y,size,part"));
    let nothing = [
        (1.0, 1.0, 0.0, 0.0),
        (1.0, 1.0, f64::NAN, 0.0),
        (2.0, 2.0, -1.0, 0.0),
        (2.0, 2.0, 5.0, 0.0),
    ];
    let figure =
        Figure::new("", Axis::linear(""), Axis::linear("")).series(Series::discs("", nothing));
    assert!(check(&figure).contains("Not shown: 3 discs without area."));
    let sizes = [(1.0, 1.0, 1.0, 0.0), (2.0, 2.0, 1e12, 0.0)];
    let figure =
        Figure::new("", Axis::linear(""), Axis::linear("")).series(Series::discs("", sizes));
    assert!(check(&figure).contains("Discs enlarged to be visible: 1."));
}

#[test]
fn error_bars_have_their_lengths_and_points_their_names() {
    let sites = [
        (50.0, 100.0, 10.0),
        (70.0, 1_000.0, 0.0),
        (60.0, 10.0, f64::NAN),
    ];
    let figure = Figure::new(
        "",
        Axis::linear("").covering(0.0).covering(100.0),
        Axis::log10(""),
    )
    .series(Series::with_x_errors("sites", sites).named(["a.example", "", "=c.example"]));
    let svg = check(&figure);
    assert!(svg.contains(">a.example</text>") && svg.contains(">=c.example</text>"));
    assert!(svg.contains("Not shown: 1 error bar whose length is not a number."));
    let bars: Vec<Vec<f64>> = pieces(&svg, "stroke-opacity=\"0.6\"")
        .iter()
        .map(|bar| numbers(bar))
        .collect();
    // The bar and its two caps.
    assert_eq!(bars.len(), 3, "{bars:?}");
    let middle = (bars[0][0] + bars[0][2]) / 2.0;
    let dots = pieces(&svg, "cf-line-paper");
    assert!(
        dots.iter()
            .any(|dot| (numbers(dot)[0] + 3.2 - middle).abs() < 0.11),
        "{dots:?} {middle}"
    );
    let table = figure.csv();
    assert!(
        table.starts_with("series,x,y,x_error,y_error,name\r\nsites,50,100,10,0,a.example\r\n")
    );
    assert!(
        table.ends_with("sites,60,10,NaN,0,\"'=c.example\"\r\n"),
        "{table}"
    );
}

#[test]
fn the_order_of_points_does_not_matter() {
    for mark in MARKS.into_iter().filter(|mark| *mark != Mark::Stacked) {
        let points: Vec<Point> = (1..3_000)
            .map(|n| Point {
                end: f64::from(n + 1),
                size: f64::from(n % 31),
                ..Point::at(f64::from(n), f64::from(n * 7919 % 97))
            })
            .collect();
        let mut turned = points.clone();
        turned.reverse();
        let figure = |points: Vec<Point>| {
            Figure::new("", Axis::linear(""), Axis::linear(""))
                .series(Series::of_points("", mark, points))
        };
        if !matches!(mark, Mark::Line | Mark::Steps) {
            assert_eq!(figure(points).svg(), figure(turned).svg(), "{mark:?}");
        } else {
            let few = points.into_iter().take(30).collect::<Vec<_>>();
            let mut turned = few.clone();
            turned.reverse();
            assert_eq!(figure(few).svg(), figure(turned).svg(), "{mark:?}");
        }
    }
}

#[test]
fn figures_for_a_page_have_no_style_sheet() {
    let figure = log_log().series(Series::new("s", Mark::Points, [(1.0, 1.0)]));
    assert!(!figure.svg_for_page().contains("<style"));
    let style = format!("<style>{}</style>\n", cento_figure::STYLE);
    assert_eq!(figure.svg().replace(&style, ""), figure.svg_for_page());
}

#[test]
fn a_pdf_says_that_characters_are_missing() {
    let figure = |name: &str| {
        Figure::new(
            "Pages ≥ 10⁵, θ = −0.5",
            Axis::linear("x"),
            Axis::of_categories("", [name]),
        )
        .series(Series::rows("", [1.0]))
    };
    assert!(!check_pdf(&figure("café.example")).contains("/F4 12 Tf"));
    let hex = |text: &str| {
        text.bytes()
            .map(|byte| format!("{byte:02X}"))
            .collect::<String>()
    };
    let note = hex("Boxes stand for characters");
    assert!(!check_pdf(&figure("café.example")).contains(&note));
    let file = check_pdf(&figure("新闻.example"));
    assert!(file.contains(&note) && file.contains("/F4 11 Tf 0 Ts <6F6F> Tj"));
}

#[test]
fn pictures_match_their_snapshots() {
    let replicas = Figure::new(
        "Replicas",
        Axis::of_categories("Replicas of a page", ["1", "2", "3–5"]),
        Axis::linear("Share of pages").format(NumberFormat::Share),
    )
    .caption("Most pages have none but themselves.")
    .series(Series::columns("exact", [0.64, 0.18, 0.05]))
    .series(Series::columns("two lines", [0.52, 0.2, 0.07]));
    insta::assert_snapshot!("grouped_bars", replicas.svg_for_page());

    let files = log_log()
        .caption("A dot is a number of files.")
        .series(Series::new(
            "files",
            Mark::Points,
            [(1.0, 1e6), (10.0, 2e4), (1e3, 40.0), (1e5, 1.0), (2e5, 0.0)],
        ))
        .rule(Rule::vertical(1e4, "discovered"))
        .note(1e5, 1.0, "robots.txt");
    insta::assert_snapshot!("log_log_with_a_rule", files.svg_for_page());

    let sweep = Figure::new(
        "Sweep",
        Axis::linear("k").format(NumberFormat::Count),
        Axis::log10("Quilts").format(NumberFormat::Count),
    )
    .series(Series::new(
        "θ = 0.3",
        Mark::Line,
        [(2.0, 9e5), (3.0, 2e5), (4.0, 9e4)],
    ))
    .series(Series::new(
        "θ = 0.5",
        Mark::Steps,
        [(2.0, 5e5), (3.0, 1e5), (4.0, 8e4)],
    ));
    insta::assert_snapshot!("lines_named_at_their_ends", sweep.svg_for_page());
}
