//! Writes a picture as PDF: the same shapes as in the SVG, in light colours and in the size of a
//! screen (a unit is 1/96 inch), on one page of the size of the picture.
//!
//! Neither writing nor viewing it needs a library or an installed font; see `glyphs` for what that
//! means for text. The file does not depend on when or where it was written.

use crate::canvas::{Anchor, Canvas, Path, PathStep, Shape, Text, text_area};
use crate::draw::Picture;
use crate::glyphs::{Font, Glyph, RAISED, RISE, glyph};
use crate::sheet::{EDGE, WIDTH};
use crate::style::{ShapeStyle, Tone};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Points per unit.
const SCALE: f64 = 0.75;

/// The note below the picture if characters are missing.
const BOXES: &str = "Boxes stand for characters that the standard fonts of PDF do not have. The SVG of this figure shows them.";

/// The distance of a control point of a quarter circle from its end, for a radius of 1.
const ROUND: f64 = 0.552_285;

pub(crate) fn pdf(page: &Picture) -> Vec<u8> {
    let has_boxes = page.canvas.shapes.iter().any(|shape| {
        let Shape::Text(text) = shape else {
            return false;
        };
        glyphs(text).any(|glyph| glyph.is_box)
    });
    let height = page.height + if has_boxes { 18.0 } else { 0.0 };
    let mut content = Content::default();
    let _ = writeln!(
        content.out,
        "{SCALE} 0 0 -{SCALE} 0 {} cm",
        number(height * SCALE)
    );
    let _ = writeln!(
        content.out,
        "1 j\n1 1 1 rg 0 0 {WIDTH} {} re f",
        number(height)
    );
    content.draw(&page.canvas);
    if has_boxes {
        content.text(&Text {
            x: EDGE,
            baseline: height - 14.0,
            anchor: Anchor::Start,
            face: crate::canvas::Face::Caption,
            text: BOXES.to_owned(),
            whole: BOXES.to_owned(),
            degrees: 0,
        });
    }
    file(page, height, &content)
}

/// The objects of the file with their offsets.
fn file(page: &Picture, height: f64, content: &Content) -> Vec<u8> {
    let fonts: String = Font::ALL
        .iter()
        .map(|font| format!("/{} {} ", font.resource(), font.dictionary()))
        .collect();
    let opacities: String = content
        .opacities
        .iter()
        .map(|hundredths| {
            let share = number(f64::from(*hundredths) / 100.0);
            format!("/G{hundredths} << /ca {share} /CA {share} >> ")
        })
        .collect();
    let (wide, high) = (number(WIDTH * SCALE), number(height * SCALE));
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        format!(
            "<< /Type /Picture /Parent 2 0 R /MediaBox [0 0 {wide} {high}] /Contents 4 0 R \
             /Resources << /Font << {fonts}>> /ExtGState << {opacities}>> >> >>"
        ),
        format!(
            "<< /Length {} >>\nstream\n{}endstream",
            content.out.len(),
            content.out
        ),
        format!(
            "<< /Title {} /Subject {} /Producer (cento) >>",
            unicode(&page.title),
            unicode(&page.description)
        ),
    ];
    // The second line marks the file as binary.
    let mut out = b"%PDF-1.4\n%\xE2\xE3\xCF\xD3\n".to_vec();
    let mut begins = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        begins.push(out.len());
        out.extend(format!("{} 0 obj\n{object}\nendobj\n", index + 1).bytes());
    }
    let table = out.len();
    let size = objects.len() + 1;
    let mut end = format!("xref\n0 {size}\n0000000000 65535 f \n");
    for begin in begins {
        let _ = writeln!(end, "{begin:010} 00000 n ");
    }
    let _ = write!(
        end,
        "trailer\n<< /Size {size} /Root 1 0 R /Info 5 0 R >>\nstartxref\n{table}\n%%EOF\n"
    );
    out.extend(end.bytes());
    out
}

/// Formats a number with at most two decimals.
fn number(value: f64) -> String {
    let written = format!("{:.2}", value.clamp(-1e6, 1e6));
    let short = written.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" { "0" } else { short }.to_owned()
}

/// Encodes text that is not drawn, in any script.
fn unicode(text: &str) -> String {
    let digits: String = text
        .encode_utf16()
        .map(|unit| format!("{unit:04X}"))
        .collect();
    format!("<FEFF{digits}>")
}

fn glyphs(text: &Text) -> impl Iterator<Item = Glyph> + '_ {
    let bold = text.face.is_bold();
    text.text
        .chars()
        .filter_map(move |letter| glyph(letter, bold))
}

/// The content stream of a page while it is written.
#[derive(Default)]
struct Content {
    out: String,
    /// Opacities in hundredths; each needs an entry in the resources of the page.
    opacities: BTreeSet<u8>,
}

impl Content {
    fn draw(&mut self, canvas: &Canvas) {
        for shape in &canvas.shapes {
            match shape {
                Shape::Path(looks, path) => self.path(looks, path),
                Shape::Text(text) => self.text(text),
            }
        }
    }

    fn opacity(&mut self, hundredths: u8) {
        self.opacities.insert(hundredths);
        let _ = writeln!(self.out, "/G{hundredths} gs");
    }

    fn colour(&mut self, tone: Tone, operator: &str) {
        let [red, green, blue] = tone
            .red_green_blue()
            .map(|part| number(f64::from(part) / 255.0));
        let _ = writeln!(self.out, "{red} {green} {blue} {operator}");
    }

    /// Draws fill and outline separately, because they may differ in opacity.
    fn path(&mut self, looks: &ShapeStyle, path: &Path) {
        if let Some((tone, opacity)) = looks.fill {
            self.opacity(opacity);
            self.colour(tone, "rg");
            self.steps(path);
            self.out.push_str("f\n");
        }
        if let Some(stroke) = looks.stroke {
            self.opacity(stroke.opacity);
            self.colour(stroke.tone, "RG");
            let (width, dashes) = (number(stroke.width), stroke.dashes);
            let _ = writeln!(self.out, "{width} w [{dashes}] 0 d");
            self.steps(path);
            self.out.push_str("S\n");
        }
    }

    fn steps(&mut self, path: &Path) {
        let mut at = (0.0, 0.0);
        let mut begin = (0.0, 0.0);
        for step in &path.0 {
            match *step {
                PathStep::Move(x, y) => {
                    (at, begin) = ((x, y), (x, y));
                    let _ = writeln!(self.out, "{} {} m", number(x), number(y));
                }
                PathStep::Line(x, y) => {
                    at = (x, y);
                    self.line(at);
                }
                PathStep::Across(x) => {
                    at.0 = x;
                    self.line(at);
                }
                PathStep::Down(y) => {
                    at.1 = y;
                    self.line(at);
                }
                PathStep::Close => {
                    at = begin;
                    self.out.push_str("h\n");
                }
                PathStep::Rectangle(area) => {
                    let (wide, high) = (number(area.width()), number(area.height()));
                    let (left, top) = (number(area.left), number(area.top));
                    let _ = writeln!(self.out, "{left} {top} {wide} {high} re");
                }
                PathStep::Disc(x, y, radius) => self.disc(x, y, radius),
            }
        }
    }

    fn line(&mut self, (x, y): (f64, f64)) {
        let _ = writeln!(self.out, "{} {} l", number(x), number(y));
    }

    /// Draws a circle as four curves.
    fn disc(&mut self, x: f64, y: f64, radius: f64) {
        let place = |right: f64, down: f64| {
            format!(
                "{} {}",
                number(x + right * radius),
                number(y + down * radius)
            )
        };
        let _ = writeln!(self.out, "{} m", place(1.0, 0.0));
        for (from, to) in [
            ((1.0, 0.0), (0.0, 1.0)),
            ((0.0, 1.0), (-1.0, 0.0)),
            ((-1.0, 0.0), (0.0, -1.0)),
            ((0.0, -1.0), (1.0, 0.0)),
        ] {
            let toward = |one: (f64, f64), other: (f64, f64)| {
                place(one.0 + other.0 * ROUND, one.1 + other.1 * ROUND)
            };
            let (first, second) = (toward(from, to), toward(to, from));
            let _ = writeln!(self.out, "{first} {second} {} c", place(to.0, to.1));
        }
        self.out.push_str("h\n");
    }

    fn text(&mut self, text: &Text) {
        let size = text.face.font_size();
        let wide: f64 = glyphs(text).map(|glyph| f64::from(glyph.width)).sum();
        let wide = wide * size / 1000.0;
        if text.face.has_halo() {
            // A rectangle of paper instead of the halo of the SVG: drawing the text twice would
            // also copy it twice.
            let area = text_area(text.x, text.baseline, text.anchor, text.face, &text.text);
            let middle = f64::midpoint(area.left, area.right);
            let left = match text.anchor {
                Anchor::Start => area.left,
                Anchor::Middle => middle - wide / 2.0,
                Anchor::End => area.right - wide,
            };
            self.opacity(75);
            self.colour(Tone::Paper, "rg");
            let (left, top) = (number(left - 1.0), number(area.top));
            let (wide, high) = (number(wide + 2.0), number(area.height()));
            let _ = writeln!(self.out, "{left} {top} {wide} {high} re f");
        }
        self.opacity(100);
        self.colour(text.face.tone(), "rg");
        let back = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => wide / 2.0,
            Anchor::End => wide,
        };
        let (sine, cosine) = f64::from(text.degrees).to_radians().sin_cos();
        let (x, y) = (text.x - back * cosine, text.baseline + back * sine);
        // The coordinates are flipped as in SVG; text must not be.
        let turn = |value: f64| number((value * 1e4).round() / 1e4);
        let _ = write!(
            self.out,
            "BT {} {} {} {} {} {} Tm",
            turn(cosine),
            turn(-sine),
            turn(-sine),
            turn(-cosine),
            number(x),
            number(y)
        );
        let mut before: Option<(Font, bool)> = None;
        for glyph in glyphs(text) {
            let now = (glyph.font, glyph.raised);
            if before != Some(now) {
                if before.is_some() {
                    self.out.push_str("> Tj");
                }
                let (size, rise) = match glyph.raised {
                    true => (size * RAISED, size * RISE),
                    false => (size, 0.0),
                };
                let font = glyph.font.resource();
                let _ = write!(
                    self.out,
                    " /{font} {} Tf {} Ts <",
                    number(size),
                    number(rise)
                );
                before = Some(now);
            }
            let _ = write!(self.out, "{:02X}", glyph.code);
        }
        if before.is_some() {
            self.out.push_str("> Tj");
        }
        self.out.push_str(" ET\n");
    }
}
