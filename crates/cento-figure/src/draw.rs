//! The layout of a picture, from the title down to the caption.

use crate::axes::{axis_label, side};
use crate::bars::{abreast, widest_label};
use crate::canvas::{Anchor, Area, Canvas, Face, rectangle};
use crate::discs;
use crate::figure::{Axis, Figure, Mark};
use crate::legend;
use crate::number::{grouped, value};
use crate::points::dense;
use crate::scale::{AxisMap, Domain};
use crate::sheet::{EDGE, Sheet, WIDTH};
use crate::style::{ShapeStyle, Tone};
use crate::survey::Survey;
use crate::text::{clean, cut, wrap};

/// The height of a plot, unless its y axis has categories.
const HEIGHT: f64 = 300.0;

/// The maximum height of a plot.
const HIGHEST: f64 = 2_400.0;

/// The height of the legend of shades.
const SHADES: f64 = 18.0;

/// A finished picture, without the frame of a file format.
pub(crate) struct Picture {
    pub(crate) canvas: Canvas,
    pub(crate) height: f64,
    pub(crate) title: String,
    /// A description in words, for screen readers.
    pub(crate) description: String,
}

/// Lays the figure out in the usual width and draws it.
pub(crate) fn compose(figure: &Figure) -> Picture {
    compose_in(figure, WIDTH)
}

/// Lays the figure out in a width and draws it.
pub(crate) fn compose_in(figure: &Figure, width: f64) -> Picture {
    let survey = Survey::of(figure);
    let mut canvas = Canvas::new(width);
    let mut top = write(
        &mut canvas,
        Face::Title,
        &clean(&figure.title),
        8.0,
        22.0,
        3,
    );
    let cells = dense(figure);
    // Beside a narrow plot there is no space for names.
    let direct = legend::direct(figure).filter(|_| survey.drawn > 0 && width >= WIDTH);
    if figure.series.len() > 1 && direct.is_none() {
        top = legend::draw(&mut canvas, figure, &cells, top + 6.0);
    }
    let explained_at = top + 4.0;
    if !cells.is_empty() {
        top = explained_at + SHADES;
    }
    if discs::any(figure) && survey.drawn > 0 {
        top = top.max(explained_at) + discs::LEGEND;
    }
    top = write(
        &mut canvas,
        Face::Label,
        &axis_label(&figure.y),
        top + 4.0,
        16.0,
        2,
    ) + 16.0;

    let (mut sheet, bottom) = if survey.drawn == 0 {
        empty(figure, &survey, canvas, top)
    } else {
        plot(figure, &survey, canvas, top, direct, explained_at)
    };
    let bottom = sheet.draw_x_label(bottom);
    let captions = captions(figure, &sheet);
    let mut height = bottom + 2.0;
    for part in &captions {
        height = write(
            &mut sheet.canvas,
            Face::Caption,
            part,
            height + 4.0,
            16.0,
            10,
        );
    }
    let description = describe(figure, &survey, &captions);
    Picture {
        canvas: sheet.canvas,
        height: (height + 14.0).ceil(),
        title: clean(&figure.title),
        description,
    }
}

/// Writes left-aligned lines, and returns where they end.
fn write(canvas: &mut Canvas, face: Face, text: &str, top: f64, step: f64, most: usize) -> f64 {
    let mut bottom = top;
    for line in wrap(text, face.size(), canvas.width - 2.0 * EDGE, most) {
        bottom += step;
        canvas.text(
            EDGE,
            bottom - step * 0.25,
            Anchor::Start,
            face,
            &line,
            &line,
        );
    }
    bottom
}

/// Returns the caption, and what the picture omits.
fn captions(figure: &Figure, sheet: &Sheet<'_>) -> Vec<String> {
    let mut missing = sheet.survey.describe_omissions(figure);
    let number = |count: usize| grouped(count as f64, 0);
    let mut add = |sentence: String| {
        let between = if missing.is_empty() { "" } else { " " };
        missing = format!("{missing}{between}{sentence}");
    };
    if sheet.hidden > 0 {
        add(format!(
            "Bars hidden behind a longer one: {}.",
            number(sheet.hidden)
        ));
    }
    if sheet.every > 1 {
        add(format!(
            "One in {} names is shown below the axis.",
            sheet.every
        ));
    }
    if let Some(most) = sheet.together.iter().map(|mark| mark.0).max() {
        add(format!(
            "Larger dots stand for several points at the same position, up to {}; numbers beside dots count them.",
            number(most)
        ));
    }
    for (count, what) in [
        (sheet.merged, "Discs merged with a nearby disc"),
        (sheet.enlarged, "Discs enlarged to be visible"),
        (
            sheet.bars_left_out,
            "Error bars omitted because the points are drawn as cells",
        ),
        (sheet.unlabelled, "Labels omitted for lack of space"),
        (sheet.unnamed, "Names omitted for lack of space"),
    ] {
        if count > 0 {
            add(format!("{what}: {}.", number(count)));
        }
    }
    [clean(&figure.caption), missing]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect()
}

/// Describes a picture in sentences: its caption, the ranges of its axes, and its series.
fn describe(figure: &Figure, survey: &Survey, captions: &[String]) -> String {
    let short = |text: &str| cut(text, 1.0, 80.0);
    let mut sentences = captions.to_vec();
    if survey.drawn == 0 {
        sentences.push("No data.".to_owned());
        return sentences.join(" ");
    }
    for (name, axis, extent) in [("X", &figure.x, survey.x), ("Y", &figure.y, survey.y)] {
        let reach = match axis.categories() {
            Some(names) => format!("{} categories", grouped(names.len() as f64, 0)),
            None => format!(
                "{} to {}",
                value(axis.format, extent.low),
                value(axis.format, extent.high)
            ),
        };
        sentences.push(format!(
            "{name} axis: {}, {reach}.",
            short(&axis_label(axis))
        ));
    }
    let series = figure.drawn().enumerate().map(|(index, series)| {
        let count = grouped(series.points.len() as f64, 0);
        format!(
            "{} ({count} {})",
            short(&legend::name(series, index)),
            if count == "1" { "value" } else { "values" }
        )
    });
    sentences.push(format!("Data: {}.", series.collect::<Vec<_>>().join(", ")));
    let rules = figure
        .rules
        .iter()
        .take(Figure::MOST_MARKS)
        .map(|rule| short(&clean(&rule.label)));
    let rules: Vec<String> = rules.filter(|label| !label.is_empty()).collect();
    if !rules.is_empty() {
        sentences.push(format!("Lines: {}.", rules.join(", ")));
    }
    sentences.join(" ")
}

/// Draws a picture without data.
fn empty<'a>(figure: &'a Figure, survey: &'a Survey, canvas: Canvas, top: f64) -> (Sheet<'a>, f64) {
    let plot = Area {
        left: EDGE,
        top,
        right: canvas.width - EDGE,
        bottom: top + 120.0,
    };
    let domain = Domain::Linear {
        low: 0.0,
        high: 1.0,
    };
    let x = AxisMap {
        domain,
        from: plot.left,
        to: plot.right,
    };
    let y = AxisMap {
        domain,
        from: plot.bottom,
        to: plot.top,
    };
    let mut sheet = Sheet::new(figure, survey, canvas, plot, (x, y));
    let style = ShapeStyle::stroke(Tone::Grid, 1.0).dashed("4 4");
    sheet.canvas.path(style, rectangle(&plot));
    sheet.canvas.text(
        sheet.canvas.width / 2.0,
        top + 64.0,
        Anchor::Middle,
        Face::Label,
        "No data",
        "No data",
    );
    (sheet, plot.bottom)
}

fn plot<'a>(
    figure: &'a Figure,
    survey: &'a Survey,
    canvas: Canvas,
    top: f64,
    direct: Option<f64>,
    explained_at: f64,
) -> (Sheet<'a>, f64) {
    let horizontal = figure.is_horizontal();
    let has = |marks: &[Mark]| figure.drawn().any(|series| marks.contains(&series.mark));
    let upright = has(&[Mark::Histogram]) || (has(&[Mark::Bars, Mark::Stacked]) && !horizontal);
    let domain_x = Domain::of(
        &figure.x,
        &survey.scale_x,
        survey.x,
        survey.columns,
        horizontal && has(&[Mark::Bars, Mark::Stacked]),
    );
    let domain_y = Domain::of(&figure.y, &survey.scale_y, survey.y, survey.rows, upright);
    let sized = has(&[Mark::Points, Mark::Line]) && !upright;
    let roomy = |domain: Domain, axis: &Axis, extent| {
        if sized {
            domain.with_room(axis.format, extent)
        } else {
            domain
        }
    };
    let (domain_x, domain_y) = (
        roomy(domain_x, &figure.x, survey.x),
        roomy(domain_y, &figure.y, survey.y),
    );
    let height = match domain_y {
        Domain::Slots(rows) => {
            let row = (abreast(figure) as f64 * 17.0 + 10.0).max(22.0);
            (row * rows as f64).clamp(60.0, HIGHEST)
        }
        Domain::Linear { .. } | Domain::Log { .. } => HEIGHT,
    };
    let side = side(&figure.y, &domain_y, height, canvas.width);
    let values = if horizontal {
        widest_label(figure, survey).map_or(0.0, |wide| wide + 4.0)
    } else {
        0.0
    };
    let area = Area {
        left: EDGE + side.width + 8.0,
        top,
        right: canvas.width - EDGE - 8.0 - direct.map_or(values, |wide| wide + 8.0),
        bottom: top + height,
    };
    let vertical = match domain_y {
        Domain::Slots(_) => (area.top, area.bottom),
        Domain::Linear { .. } | Domain::Log { .. } => (area.bottom, area.top),
    };
    let x = AxisMap {
        domain: domain_x,
        from: area.left,
        to: area.right,
    };
    let y = AxisMap {
        domain: domain_y,
        from: vertical.0,
        to: vertical.1,
    };
    let mut sheet = Sheet::new(figure, survey, canvas, area, (x, y));
    sheet.draw_regions();
    let bottom = sheet.draw_axes(&side);
    sheet.draw_histograms();
    sheet.draw_bars();
    let mut explained_at = explained_at;
    if let Some(shading) = sheet.draw_clouds() {
        let first = dense(figure).first().copied().unwrap_or(0);
        legend::draw_shades(&mut sheet.canvas, first, shading, explained_at);
        explained_at += SHADES;
    }
    sheet.draw_rules();
    sheet.draw_discs();
    if let Some(measure) = sheet.discs {
        discs::draw_legend(&mut sheet.canvas, figure, measure, explained_at);
    }
    let ends = sheet.draw_lines();
    // Points are drawn over lines, so that they remain visible.
    sheet.draw_marks();
    if direct.is_some() {
        sheet.draw_names_at_ends(&ends);
    }
    sheet.draw_region_labels();
    sheet.draw_rule_labels();
    sheet.draw_notes();
    sheet.draw_numbers();
    sheet.draw_names_of_points();
    (sheet, bottom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{NumberFormat, Point, Region, Rule, Series};
    use crate::sheet::NARROW;
    use proptest::prelude::*;

    /// Checks that no text leaves the page or overlaps another.
    fn check(figure: &Figure) -> Result<(), TestCaseError> {
        check_in(figure, WIDTH)?;
        check_in(figure, NARROW)
    }

    fn check_in(figure: &Figure, width: f64) -> Result<(), TestCaseError> {
        let page = compose_in(figure, width);
        let frame = Area {
            left: 0.0,
            top: 0.0,
            right: width,
            bottom: page.height,
        };
        for (index, text) in page.canvas.texts.iter().enumerate() {
            prop_assert!(
                frame.holds(text),
                "{:?} leaves {:?}:\n{:?}",
                text,
                frame,
                page.canvas.shapes
            );
            for other in page.canvas.texts.iter().skip(index + 1) {
                let apart = text.width() <= 0.0 || other.width() <= 0.0 || !text.meets(other);
                prop_assert!(
                    apart,
                    "{:?} touches {:?}:\n{:?}",
                    text,
                    other,
                    page.canvas.shapes
                );
            }
        }
        Ok(())
    }

    fn any_name() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-z]{1,8}",
            "[a-z ]{20,90}",
            "\\PC{0,40}",
            Just("新闻聚合网站的页面".repeat(8)),
            Just("شبكة الأخبار".repeat(5)),
            Just("W".repeat(300)),
            Just("\u{FDFD}".repeat(9)),
        ]
    }

    fn any_axis() -> impl Strategy<Value = Axis> {
        let kind = prop_oneof![
            Just(Axis::linear("")),
            Just(Axis::log10("")),
            proptest::collection::vec(any_name(), 1..50)
                .prop_map(|names| Axis::of_categories("", names)),
        ];
        let format = prop_oneof![
            Just(NumberFormat::Plain),
            Just(NumberFormat::Count),
            Just(NumberFormat::Share),
            Just(NumberFormat::Bytes)
        ];
        (kind, any_name(), format)
            .prop_map(|(axis, label, format)| Axis { label, ..axis }.format(format))
    }

    fn any_value() -> impl Strategy<Value = f64> {
        prop_oneof![
            6 => (0..12u32).prop_map(f64::from),
            3 => 0.0..1.0f64,
            3 => -1e6..1e6f64,
            1 => proptest::num::f64::POSITIVE,
            1 => proptest::num::f64::NEGATIVE,
        ]
    }

    proptest! {
        #[test]
        fn texts_stay_on_the_page_and_do_not_overlap(
            title in any_name(),
            x in any_axis(),
            y in any_axis(),
            series in proptest::collection::vec(
                (any_name(), 0..6usize, proptest::collection::vec((any_value(), any_value()), 1..20)), 0..6),
            signs in proptest::collection::vec((any_value(), any_value(), any_name()), 0..6),
        ) {
            let marks = [Mark::Points, Mark::Line, Mark::Steps, Mark::Bars, Mark::Stacked, Mark::Discs];
            let mut figure = Figure::new(title.clone(), x, y).caption(title.clone());
            figure = figure.areas(title.clone(), title);
            for (name, mark, points) in series {
                // The same numbers as positions, sizes and errors.
                let points = points.into_iter().map(|(x, y)| Point {
                    size: x,
                    part: y,
                    x_error: y,
                    y_error: x,
                    ..Point::at(x, y)
                });
                let names = signs.iter().map(|(.., text)| text.clone());
                figure = figure.series(Series::of_points(name, marks[mark], points).named(names));
            }
            for (x, y, text) in signs {
                figure = figure.note(x, y, text.clone()).rule(Rule::vertical(x, text.clone()));
                figure = figure.rule(Rule::horizontal(y, text.clone()));
                figure = figure.region(Region { label: text, x: (Some(x), None), y: (None, Some(y)) });
            }
            check(&figure)?;
        }
    }
}
