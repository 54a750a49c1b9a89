//! Characters that every PDF reader can draw without an embedded font: those of Helvetica in the
//! Windows encoding, and the Greek letters and signs of Symbol. Both are among the fourteen
//! standard fonts of PDF.
//!
//! Other scripts would need an embedded font, and a machine may not have one. Their characters
//! become boxes, and the caption of the PDF says so; the SVG has the text itself.

/// A font, by its name in the resources of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Font {
    Helvetica,
    HelveticaBold,
    Symbol,
    Dingbats,
}

impl Font {
    pub(crate) const ALL: [Font; 4] = [
        Font::Helvetica,
        Font::HelveticaBold,
        Font::Symbol,
        Font::Dingbats,
    ];

    pub(crate) fn resource(self) -> &'static str {
        match self {
            Font::Helvetica => "F1",
            Font::HelveticaBold => "F2",
            Font::Symbol => "F3",
            Font::Dingbats => "F4",
        }
    }

    /// Returns the dictionary of the font.
    pub(crate) fn dictionary(self) -> &'static str {
        match self {
            Font::Helvetica => {
                "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
            }
            Font::HelveticaBold => {
                "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>"
            }
            Font::Symbol => "<< /Type /Font /Subtype /Type1 /BaseFont /Symbol >>",
            Font::Dingbats => "<< /Type /Font /Subtype /Type1 /BaseFont /ZapfDingbats >>",
        }
    }
}

/// A character of a font.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Glyph {
    pub(crate) font: Font,
    pub(crate) code: u8,
    /// In thousandths of the size of the font.
    pub(crate) width: u16,
    /// Whether it is a superscript.
    pub(crate) raised: bool,
    /// Whether it stands for a character that no standard font has.
    pub(crate) is_box: bool,
}

/// The size and the rise of superscripts.
pub(crate) const RAISED: f64 = 0.65;
pub(crate) const RISE: f64 = 0.36;

/// The characters of the Windows encoding from 0x80 to 0x9F; a space where it has none.
const WINDOWS: &str = "€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ";

/// The widths of Helvetica from 0x20 to 0xFF.
const HELVETICA: [u16; 224] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, // 20
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, // 30
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, // 40
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, // 50
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, // 60
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584, 350, // 70
    556, 350, 222, 556, 333, 1000, 556, 556, 333, 1000, 667, 333, 1000, 350, 611, 350, // 80
    350, 222, 222, 333, 333, 350, 556, 1000, 333, 1000, 500, 333, 944, 350, 500, 667, // 90
    278, 333, 556, 556, 556, 556, 260, 556, 333, 737, 370, 556, 584, 333, 737, 333, // A0
    400, 584, 333, 333, 333, 556, 537, 278, 333, 333, 365, 556, 834, 834, 834, 611, // B0
    667, 667, 667, 667, 667, 667, 1000, 722, 667, 667, 667, 667, 278, 278, 278, 278, // C0
    722, 722, 778, 778, 778, 778, 778, 584, 778, 722, 722, 722, 722, 667, 667, 611, // D0
    556, 556, 556, 556, 556, 556, 889, 500, 556, 556, 556, 556, 278, 278, 278, 278, // E0
    556, 556, 556, 556, 556, 556, 556, 584, 611, 556, 556, 556, 556, 500, 556, 500, // F0
];

/// The characters of Symbol that are used, with their codes and widths.
const SYMBOL: [(char, u8, u16); 66] = [
    ('Α', 0x41, 722),
    ('Β', 0x42, 667),
    ('Χ', 0x43, 722),
    ('Δ', 0x44, 612),
    ('Ε', 0x45, 611),
    ('Φ', 0x46, 763),
    ('Γ', 0x47, 603),
    ('Η', 0x48, 722),
    ('Ι', 0x49, 333),
    ('Κ', 0x4B, 722),
    ('Λ', 0x4C, 686),
    ('Μ', 0x4D, 889),
    ('Ν', 0x4E, 722),
    ('Ο', 0x4F, 722),
    ('Π', 0x50, 768),
    ('Θ', 0x51, 741),
    ('Ρ', 0x52, 556),
    ('Σ', 0x53, 592),
    ('Τ', 0x54, 611),
    ('Υ', 0x55, 690),
    ('ς', 0x56, 439),
    ('Ω', 0x57, 768),
    ('Ξ', 0x58, 645),
    ('Ψ', 0x59, 795),
    ('Ζ', 0x5A, 611),
    ('α', 0x61, 631),
    ('β', 0x62, 549),
    ('χ', 0x63, 549),
    ('δ', 0x64, 494),
    ('ε', 0x65, 439),
    ('φ', 0x66, 521),
    ('γ', 0x67, 411),
    ('η', 0x68, 603),
    ('ι', 0x69, 329),
    ('κ', 0x6B, 549),
    ('λ', 0x6C, 549),
    ('μ', 0x6D, 576),
    ('ν', 0x6E, 521),
    ('ο', 0x6F, 549),
    ('π', 0x70, 549),
    ('θ', 0x71, 521),
    ('ρ', 0x72, 549),
    ('σ', 0x73, 603),
    ('τ', 0x74, 439),
    ('υ', 0x75, 576),
    ('ω', 0x77, 686),
    ('ξ', 0x78, 493),
    ('ψ', 0x79, 686),
    ('ζ', 0x7A, 494),
    ('−', 0x2D, 549),
    ('≤', 0xA3, 549),
    ('≥', 0xB3, 549),
    ('∞', 0xA5, 713),
    ('≠', 0xB9, 549),
    ('≈', 0xBB, 549),
    ('≡', 0xBA, 549),
    ('←', 0xAC, 987),
    ('→', 0xAE, 987),
    ('↑', 0xAD, 603),
    ('↓', 0xAF, 603),
    ('∈', 0xCE, 713),
    ('∩', 0xC7, 768),
    ('∪', 0xC8, 768),
    ('∑', 0xE5, 713),
    ('√', 0xD6, 549),
    ('∅', 0xC6, 823),
];

/// Returns the glyph of a character, or nothing if it has no width, such as a combining mark.
pub(crate) fn glyph(letter: char, bold: bool) -> Option<Glyph> {
    let font = if bold {
        Font::HelveticaBold
    } else {
        Font::Helvetica
    };
    let plain = |letter: char, raised: bool| {
        let code = windows(letter)?;
        let width = HELVETICA.get(usize::from(code) - 0x20).copied()?;
        Some(Glyph {
            font,
            code,
            width: if raised {
                (f64::from(width) * RAISED).round() as u16
            } else {
                width
            },
            raised,
            is_box: false,
        })
    };
    if let Some(digit) = lowered(letter) {
        return plain(digit, true);
    }
    if let Some(glyph) = plain(letter, false) {
        return Some(glyph);
    }
    if let Some((_, code, width)) = SYMBOL.iter().find(|(known, ..)| *known == letter) {
        return Some(Glyph {
            font: Font::Symbol,
            code: *code,
            width: *width,
            raised: false,
            is_box: false,
        });
    }
    if unicode_width::UnicodeWidthChar::width(letter).unwrap_or(0) == 0 {
        return None;
    }
    Some(Glyph {
        font: Font::Dingbats,
        code: b'o',
        width: 762,
        raised: false,
        is_box: true,
    })
}

/// Returns the plain digit or sign of a superscript.
fn lowered(letter: char) -> Option<char> {
    Some(match letter {
        '⁰' => '0',
        '¹' => '1',
        '²' => '2',
        '³' => '3',
        '⁴'..='⁹' => char::from_digit(u32::from(letter) - 0x2070, 10)?,
        '⁻' => '–',
        '⁺' => '+',
        _ => return None,
    })
}

/// Returns the code of a character in the Windows encoding.
fn windows(letter: char) -> Option<u8> {
    match u32::from(letter) {
        code @ (0x20..=0x7E | 0xA0..=0xFF) => u8::try_from(code).ok(),
        0x2007 | 0x2009 | 0x202F => Some(0x20),
        0x2010 | 0x2011 => Some(0x2D),
        _ => {
            let index = WINDOWS.chars().position(|known| known == letter)?;
            u8::try_from(0x80 + index).ok()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_have_their_codes() {
        assert_eq!(WINDOWS.chars().count(), 32);
        let code = |letter: char| glyph(letter, false).map(|glyph| (glyph.font, glyph.code));
        for (letter, expected) in [
            ('A', 0x41),
            ('é', 0xE9),
            ('€', 0x80),
            ('…', 0x85),
            ('–', 0x96),
            ('Ÿ', 0x9F),
            ('ž', 0x9E),
        ] {
            assert_eq!(code(letter), Some((Font::Helvetica, expected)), "{letter}");
        }
        assert_eq!(code('θ'), Some((Font::Symbol, 0x71)));
        assert_eq!(code('−'), Some((Font::Symbol, 0x2D)));
        assert_eq!(code('⁵'), Some((Font::Helvetica, b'5')));
        assert!(glyph('⁵', false).is_some_and(|glyph| glyph.raised && glyph.width < 556));
        assert!(glyph('网', false).is_some_and(|glyph| glyph.is_box));
        assert_eq!(glyph('\u{301}', false), None);
    }
}
