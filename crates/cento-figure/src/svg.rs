//! Writes a picture as SVG, with coordinates rounded to tenths.
//!
//! Every element has its colours and its font as attributes, so that any program can draw it; see
//! `style`.

use crate::canvas::{Anchor, Canvas, Path, PathStep, Shape, TextShape};
use crate::draw::Picture;
use crate::style::{STYLE, ShapeStyle, Tone};
use crate::text::{clean, escape};
use std::fmt::Write as _;

/// Writes the picture, with its style sheet if it is a file of its own.
pub(crate) fn svg(page: &Picture, styled: bool) -> String {
    let (width, height) = (tenths(page.canvas.width), tenths(page.height));
    let style = if styled {
        format!("<style>{STYLE}</style>\n")
    } else {
        String::new()
    };
    let (class, paper) = (Tone::Paper.name(), Tone::Paper.light());
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"cento-figure\" role=\"img\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\">\n<title>{}</title>\n<desc>{}</desc>\n{style}\
         <rect class=\"cf-fill-{class}\" width=\"{width}\" height=\"{height}\" fill=\"{paper}\"/>\n{}</svg>\n",
        escape(&page.title),
        escape(&page.description),
        body(&page.canvas)
    )
}

fn body(canvas: &Canvas) -> String {
    let mut out = String::new();
    for shape in &canvas.shapes {
        match shape {
            Shape::Path(style, path) => {
                let (style, steps) = (attributes(style), steps(path));
                let _ = writeln!(out, "<path {style} d=\"{steps}\"/>");
            }
            Shape::Text(text) => element(&mut out, text),
        }
    }
    out
}

/// Formats a coordinate in tenths: more digits are invisible, enlarge files and differ between
/// machines.
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

/// Writes the style of a shape as attributes, none of which is untrusted.
fn attributes(style: &ShapeStyle) -> String {
    let mut classes = Vec::new();
    let mut out = String::new();
    match style.fill {
        Some((tone, opacity)) => {
            classes.push(format!("cf-fill-{}", tone.name()));
            let _ = write!(out, " fill=\"{}\"", tone.light());
            if opacity < 100 {
                let _ = write!(out, " fill-opacity=\"{}\"", hundredths(opacity));
            }
        }
        None => out.push_str(" fill=\"none\""),
    }
    if let Some(stroke) = style.stroke {
        classes.push(format!("cf-line-{}", stroke.tone.name()));
        let (colour, width) = (stroke.tone.light(), tenths(stroke.width));
        let _ = write!(out, " stroke=\"{colour}\" stroke-width=\"{width}\"");
        if stroke.opacity < 100 {
            let _ = write!(out, " stroke-opacity=\"{}\"", hundredths(stroke.opacity));
        }
        if !stroke.dashes.is_empty() {
            let _ = write!(out, " stroke-dasharray=\"{}\"", stroke.dashes);
        }
        out.push_str(" stroke-linejoin=\"round\"");
    }
    if style.crisp {
        out.push_str(" shape-rendering=\"crispEdges\"");
    }
    format!("class=\"{}\"{out}", classes.join(" "))
}

fn hundredths(opacity: u8) -> String {
    let digits = format!("0.{opacity:02}");
    digits.trim_end_matches('0').to_owned()
}

fn steps(path: &Path) -> String {
    let mut out = String::new();
    for step in &path.0 {
        let _ = match *step {
            PathStep::Move(x, y) => write!(out, "M{} {}", tenths(x), tenths(y)),
            PathStep::Line(x, y) => write!(out, "L{} {}", tenths(x), tenths(y)),
            PathStep::Across(x) => write!(out, "H{}", tenths(x)),
            PathStep::Down(y) => write!(out, "V{}", tenths(y)),
            PathStep::Close => write!(out, "z"),
            // The corners are rounded, not the lengths, so that neighbours meet.
            PathStep::Rectangle(area) => {
                let round = |place: f64| (place * 10.0).round() / 10.0;
                let (left, top) = (round(area.left), round(area.top));
                let (wide, high) = (round(area.right) - left, round(area.bottom) - top);
                let (across, down, back) = (tenths(wide), tenths(high), tenths(-wide));
                write!(
                    out,
                    "M{} {}h{across}v{down}h{back}z",
                    tenths(left),
                    tenths(top)
                )
            }
            PathStep::Disc(x, y, radius) => {
                let (r, d) = (tenths(radius), tenths(2.0 * radius));
                let (left, y) = (tenths(x - radius), tenths(y));
                write!(out, "M{left} {y}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0z")
            }
        };
    }
    out
}

fn element(out: &mut String, text: &TextShape) {
    let (x, y) = (tenths(text.x), tenths(text.baseline));
    let face = text.face;
    let tone = face.tone();
    let halo = if face.has_halo() { " cf-halo" } else { "" };
    let _ = write!(
        out,
        "<text class=\"cf-fill-{}{halo}\" x=\"{x}\" y=\"{y}\" fill=\"{}\" font-size=\"{}\"",
        tone.name(),
        tone.light(),
        tenths(face.font_size())
    );
    if face.is_bold() {
        out.push_str(" font-weight=\"600\"");
    }
    out.push_str(match text.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    });
    if text.degrees > 0 {
        let _ = write!(out, " transform=\"rotate(-{} {x} {y})\"", text.degrees);
    }
    out.push('>');
    if text.text != text.whole {
        let whole = escape(&tooltip(&clean(&text.whole)));
        let _ = write!(out, "<title>{whole}</title>");
    }
    let _ = writeln!(out, "{}</text>", escape(&text.text));
}

/// The tooltip of a text that was cut: much more of it, but bounded.
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
