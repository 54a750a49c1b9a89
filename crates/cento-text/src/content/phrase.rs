//! Evidence in words, for explanations.

use super::features::NO_SIGN;

/// The value for an element that is not around a block.
const NOT_INSIDE: i16 = NO_SIGN as i16;

/// Describes a number of the evidence about a block by its name, such as `23 % links in the
/// previous block`; `None` if the name is unknown.
pub(super) fn phrase(name: &str, value: i16) -> Option<String> {
    if let Some(sign) = name.strip_prefix("in ").filter(|&sign| sign != "the title") {
        let element = if sign.starts_with('<') {
            sign.to_owned()
        } else {
            format!("an element named like {sign}")
        };
        return Some(if value >= NOT_INSIDE {
            format!("not in {element}")
        } else {
            format!("in {element} with {} of the page", percent(value))
        });
    }
    if let Some(what) = name.strip_prefix("is ") {
        return Some(format!(
            "{}{what}",
            if value == 0 { "is not " } else { "is " }
        ));
    }
    if let Some(topic) = name.strip_prefix("says ") {
        let has = if value == 0 { "no " } else { "" };
        return Some(format!("{has}words about {topic}"));
    }
    let (place, measure) = split(name);
    if place.is_empty() {
        of_block(measure, value)
    } else if place == "position" {
        position(measure, value)
    } else if place == "article" {
        article(measure, value)
    } else if place == "path" {
        path(measure, value)
    } else {
        let counted = match measure {
            // Nearby blocks are counted, elements have a share of all.
            "described" if place.starts_with("within") => described(value),
            "described" => format!("{} of the described phrases", percent(value)),
            _ => counted(measure, value)?,
        };
        Some(format!("{counted} in {}", named(place)?))
    }
}

/// The groups of evidence, those that begin like another one first.
const PLACES: &[&str] = &[
    "second previous",
    "previous",
    "second next",
    "next",
    "within 3",
    "within 10",
    "around 2",
    "around 3",
    "around 5",
    "around",
    "largest siblings",
    "siblings",
    "section",
    "position",
    "article",
    "path",
];

/// The group and the rest of a name.
fn split(name: &str) -> (&str, &str) {
    PLACES
        .iter()
        .find_map(|&place| {
            let measure = name.strip_prefix(place)?.strip_prefix(' ')?;
            Some((place, measure))
        })
        .unwrap_or(("", name))
}

fn named(place: &str) -> Option<&'static str> {
    Some(match place {
        "second previous" => "the block before the previous one",
        "previous" => "the previous block",
        "second next" => "the block after the next one",
        "next" => "the next block",
        "within 3" => "the 3 blocks on either side",
        "within 10" => "the 10 blocks on either side",
        "around" => "its element",
        "around 2" => "the element around that",
        "around 3" => "the third element around it",
        "around 5" => "the fifth element around it",
        "largest siblings" => "the largest group of similar elements around it",
        "siblings" => "the group of similar elements around it",
        "section" => "its section",
        _ => return None,
    })
}

/// Thousandths as a percentage.
fn percent(value: i16) -> String {
    format!("{}.{} %", value / 10, (value % 10).abs())
}

/// A number with its noun.
fn number(value: i16, one: &str, many: &str) -> String {
    match value {
        1 => format!("1 {one}"),
        i16::MAX => format!("{value} or more {many}"),
        _ => format!("{value} {many}"),
    }
}

/// A number of phrases that the page also has in its description.
fn described(value: i16) -> String {
    number(value, "described phrase", "described phrases")
}

fn counted(measure: &str, value: i16) -> Option<String> {
    Some(match measure {
        "bytes" => number(value, "byte", "bytes"),
        "links" => format!("{} links", percent(value)),
        "prose" => format!("{} running text", percent(value)),
        "share" => format!("{} of the page", percent(value)),
        "article" => format!("{} the article method's choice", percent(value)),
        "sentences" => number(value, "sentence", "sentences"),
        "blocks" => number(value, "block", "blocks"),
        "count" => number(value, "element", "elements"),
        "controls" => number(value, "form control", "form controls"),
        "bytes a block" => format!("{} a block", number(value, "byte", "bytes")),
        "bytes each" => format!("{} an element", number(value, "byte", "bytes")),
        "heading level" if value == 0 => "no heading".to_owned(),
        "heading level" => format!("a heading of level {value}"),
        _ => return None,
    })
}

fn of_block(measure: &str, value: i16) -> Option<String> {
    Some(match measure {
        "bytes" => number(value, "byte", "bytes"),
        "links" => format!("{} links", percent(value)),
        "bytes a word" => format!("{}.{:02} bytes a word", value / 100, value % 100),
        "sentences" => number(value, "sentence", "sentences"),
        "commas" => number(value, "comma", "commas"),
        "digits" => format!("{} digits", percent(value)),
        "capitals" => format!("{} capital letters", percent(value)),
        "prices" => number(value, "currency sign", "currency signs"),
        "ends a sentence" if value == 0 => "does not end a sentence".to_owned(),
        "ends a sentence" => "ends a sentence".to_owned(),
        "tags inside" => format!("{} inside", number(value, "tag", "tags")),
        "described phrases" => described(value),
        "described share" => format!("{} described phrases", percent(value)),
        "copies" => format!(
            "its text occurs {} on the page",
            number(value, "time", "times")
        ),
        "earlier copies" => number(value, "earlier copy", "earlier copies"),
        "heading level" if value == 0 => "not a heading".to_owned(),
        "heading level" => format!("a heading of level {value}"),
        "in the title" if value == 0 => "not part of the page's title".to_owned(),
        "in the title" => "part of the page's title".to_owned(),
        _ => return None,
    })
}

fn position(measure: &str, value: i16) -> Option<String> {
    Some(match measure {
        "in blocks" => format!("{} of the blocks are before it", percent(value)),
        "in bytes" => format!("{} of the text is before it", percent(value)),
        "from the end" => format!("{} from the end", number(value, "block", "blocks")),
        "from the start" => format!("{} from the start", number(value, "block", "blocks")),
        "after the headline" | "bytes after the headline" if value == -2000 => {
            "the page has no headline".to_owned()
        }
        "after the headline" if value < 0 => {
            let before = number(value.saturating_neg(), "block", "blocks");
            format!("{before} before the headline")
        }
        "after the headline" => format!("{} after the headline", number(value, "block", "blocks")),
        "bytes after the headline" if value < 0 => "before the headline".to_owned(),
        "bytes after the headline" => {
            format!(
                "{} bytes after the beginning of the headline",
                4 * i32::from(value)
            )
        }
        "after a heading" if value >= 500 => "no heading near above".to_owned(),
        "after a heading" => format!("{} below a heading", number(value, "block", "blocks")),
        "level of the heading" if value == 0 => "no heading above".to_owned(),
        "level of the heading" => format!("below a heading of level {value}"),
        _ => return None,
    })
}

fn article(measure: &str, value: i16) -> Option<String> {
    Some(match measure {
        "keeps it" if value == 0 => "the article method removes it".to_owned(),
        "keeps it" => "the article method keeps it".to_owned(),
        "within" if value == 0 => "before the beginning or after the end of the article".to_owned(),
        "within" => "between the beginning and the end of the article".to_owned(),
        "before" => format!("{} before the article", number(value, "block", "blocks")),
        "after" => format!("{} after the article", number(value, "block", "blocks")),
        _ => return None,
    })
}

fn path(measure: &str, value: i16) -> Option<String> {
    Some(match measure {
        "depth" => format!("inside {}", number(value, "element", "elements")),
        "hidden" if value >= NOT_INSIDE => "not in a hidden element".to_owned(),
        "hidden" => format!("in a hidden element with {} of the page", percent(value)),
        "levels to the article" if value == 0 => {
            "directly in an element with most of the article".to_owned()
        }
        "levels to the article" => {
            let levels = number(value, "level", "levels");
            format!("{levels} below an element with most of the article")
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_phrase() {
        let (_, names) = crate::content::evidence::names();
        for name in names {
            for value in [-2000, -1, 0, 1, 500, 2000, i16::MAX] {
                assert!(phrase(&name, value).is_some(), "{name}");
            }
        }
        assert_eq!(phrase("otters", 1), None);
    }

    #[test]
    fn phrases_are_plain() {
        for (name, value, expected) in [
            ("in hero", 2000, "not in an element named like hero"),
            ("in <main>", 734, "in <main> with 73.4 % of the page"),
            (
                "position bytes after the headline",
                25,
                "100 bytes after the beginning of the headline",
            ),
            (
                "position after the headline",
                -3,
                "3 blocks before the headline",
            ),
            ("previous links", 230, "23.0 % links in the previous block"),
            (
                "around 5 controls",
                1,
                "1 form control in the fifth element around it",
            ),
            ("says consent", 0, "no words about consent"),
            ("is a table cell", 1, "is a table cell"),
            ("copies", 2, "its text occurs 2 times on the page"),
        ] {
            assert_eq!(phrase(name, value).as_deref(), Some(expected));
        }
    }
}
