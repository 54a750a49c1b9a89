//! What is written down: elements of SVG, with places rounded to tenths, and an account of where text stands.

use crate::text::{clean, escape, width};
use std::fmt::Write as _;

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

/// What a text is for, and so how it looks.
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
    fn class(self) -> &'static str {
        match self {
            Face::Title => "cf-title",
            Face::Label => "cf-label",
            Face::Caption => "cf-caption",
            Face::Tick => "cf-tick",
            Face::Note | Face::Name => "cf-note",
            Face::Rule => "cf-note cf-rule-label",
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

/// The body of a picture while it is written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Canvas {
    pub(crate) out: String,
    /// Where text stands. Slanted text is not among them: it is spaced by who slants it.
    pub(crate) texts: Vec<Area>,
}

/// What appears when a reader points at a text that was cut: much more of it, and still not without bound.
fn tooltip(text: &str) -> String {
    const MOST: usize = 400;
    let mut bytes = 0;
    let fits = |letter: &char| {
        bytes += escape(letter.encode_utf8(&mut [0; 4])).len();
        bytes <= MOST
    };
    let kept: String = text.chars().take_while(fits).collect();
    if kept.len() < text.len() {
        kept + "…"
    } else {
        kept
    }
}

/// A place in tenths: what eyes cannot see would only make files larger, and differ between machines.
pub(crate) fn tenths(place: f64) -> String {
    let tenths = (place.clamp(-1e6, 1e6) * 10.0).round() as i64;
    let sign = if tenths < 0 { "-" } else { "" };
    let (whole, rest) = (tenths.abs() / 10, tenths.abs() % 10);
    if rest == 0 {
        format!("{sign}{whole}")
    } else {
        format!("{sign}{whole}.{rest}")
    }
}

/// Where a text would stand.
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
    /// Writes a text. Where it was cut, the whole of it appears when a reader points at it.
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
        self.element(x, baseline, anchor, face, text, whole, "");
    }

    /// Writes a text that rises to the right and ends at its place.
    pub(crate) fn slanted(&mut self, x: f64, baseline: f64, degrees: u32, text: &str, whole: &str) {
        let turn = format!(
            " transform=\"rotate(-{degrees} {} {})\"",
            tenths(x),
            tenths(baseline)
        );
        self.element(x, baseline, Anchor::End, Face::Tick, text, whole, &turn);
    }

    #[expect(clippy::too_many_arguments, reason = "private, and called twice")]
    fn element(
        &mut self,
        x: f64,
        baseline: f64,
        anchor: Anchor,
        face: Face,
        text: &str,
        whole: &str,
        more: &str,
    ) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let (x, y, class) = (tenths(x), tenths(baseline), face.class());
        let _ = write!(
            self.out,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{anchor}{more}>"
        );
        if text != whole {
            let _ = write!(
                self.out,
                "<title>{}</title>",
                escape(&tooltip(&clean(whole)))
            );
        }
        let _ = writeln!(self.out, "{}</text>", escape(text));
    }

    /// Writes a path. `looks` are attributes of ours, never of strangers.
    pub(crate) fn path(&mut self, looks: &str, steps: &str) {
        if !steps.is_empty() {
            let _ = writeln!(self.out, "<path {looks} d=\"{steps}\"/>");
        }
    }
}

/// A rectangle as steps of a path. Its ends are rounded and not its sides, so that neighbours meet.
pub(crate) fn rectangle(area: &Area) -> String {
    let round = |place: f64| (place * 10.0).round() / 10.0;
    let (left, top) = (round(area.left), round(area.top));
    let (wide, high) = (round(area.right) - left, round(area.bottom) - top);
    format!(
        "M{} {}h{}v{}h{}z",
        tenths(left),
        tenths(top),
        tenths(wide),
        tenths(high),
        tenths(-wide)
    )
}

/// A straight line as steps of a path.
pub(crate) fn segment(from: (f64, f64), to: (f64, f64)) -> String {
    format!(
        "M{} {}L{} {}",
        tenths(from.0),
        tenths(from.1),
        tenths(to.0),
        tenths(to.1)
    )
}

/// The mark of a series at a place: six shapes, so that colour is not the only difference.
pub(crate) fn marker(series: usize, x: f64, y: f64, radius: f64) -> String {
    let polygon = |corners: &[(f64, f64)]| {
        let mut out = String::new();
        for (index, (right, down)) in corners.iter().enumerate() {
            let step = if index == 0 { 'M' } else { 'L' };
            let _ = write!(
                out,
                "{step}{} {}",
                tenths(x + right * radius),
                tenths(y + down * radius)
            );
        }
        out.push('z');
        out
    };
    match series % 6 {
        0 => {
            let (r, d) = (tenths(radius), tenths(2.0 * radius));
            format!(
                "M{} {}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0z",
                tenths(x - radius),
                tenths(y)
            )
        }
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

/// Lines across a bar, by which it is known without colour; the first series has none.
pub(crate) fn hatch(series: usize, area: &Area) -> String {
    const APART: f64 = 5.0;
    let (wide, high) = (area.width(), area.height());
    let mut out = String::new();
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
                out.push_str(&segment(from, (from.0 + length, from.1 + length)));
            }
        }
        2 => {
            for at in lines(high) {
                out.push_str(&segment(
                    (area.left, area.bottom - at),
                    (area.right, area.bottom - at),
                ));
            }
        }
        3 => {
            for at in lines(wide) {
                out.push_str(&segment(
                    (area.left + at, area.top),
                    (area.left + at, area.bottom),
                ));
            }
        }
        _ => {}
    }
    out
}
