//! Numbers and words, formatted for people.

/// Formats a count: `1,234,567`.
pub fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a number of bytes, in powers of 1,000: `1.5 kB`.
pub fn size(bytes: u64) -> String {
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64;
    let mut unit = "B";
    for next in ["kB", "MB", "GB", "TB", "PB"] {
        if value < 999.5 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    if value < 9.95 {
        format!("{value:.1} {unit}")
    } else {
        format!("{value:.0} {unit}")
    }
}

/// Formats a share: `10.2 %`. Only nothing is `0.0 %`, and only everything is `100.0 %`: a text of
/// which one word in three thousand differs is not identical.
pub fn percent(share: f64) -> String {
    match format!("{:.1}", 100.0 * share).as_str() {
        "0.0" if share > 0.0 => "< 0.1 %".to_owned(),
        "100.0" if share < 1.0 => "> 99.9 %".to_owned(),
        rounded => format!("{rounded} %"),
    }
}

/// Formats the share of a part in a whole: `10.2 %`. The share in an empty whole is `0.0 %`.
pub fn part_of(part: u64, whole: u64) -> String {
    percent(part as f64 / whole.max(1) as f64)
}

/// Formats a count with its noun: `1 page`, `2 pages`.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{} {many}", number(count)),
    }
}

/// Formats how many words a passage has on both sides, and which share of each side's words the
/// other has. `names` are those of the sides.
///
/// ```
/// use cento_report::format::shared_words;
///
/// assert_eq!(
///     shared_words([64, 56], [0.875, 1.0], ["A", "B"]),
///     "64 words of A and 56 of B: 87.5 % of those of A are in B, 100.0 % of those of B in A"
/// );
/// assert_eq!(
///     shared_words([54, 54], [1.0, 1.0], ["A", "B"]),
///     "54 words, all of them on both sides"
/// );
/// ```
pub fn shared_words(words: [u64; 2], shares: [f64; 2], names: [&str; 2]) -> String {
    let [one, other] = names;
    let first = counted(words[0], "word", "words");
    match words[0] == words[1] && shares == [1.0, 1.0] {
        true => format!("{first}, all of them on both sides"),
        false => format!(
            "{first} of {one} and {} of {other}: {} of those of {one} are in {other}, {} of those \
             of {other} in {one}",
            number(words[1]),
            percent(shares[0]),
            percent(shares[1])
        ),
    }
}

/// Chooses the singular or the plural of a verb or pronoun: `is`, `are`.
pub fn plural(count: u64, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

/// Formats a number as a word, up to ten.
pub fn spelled(value: u64) -> String {
    const WORDS: [&str; 11] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    ];
    let word = usize::try_from(value).ok().and_then(|at| WORDS.get(at));
    word.map_or_else(|| number(value), |&word| word.to_owned())
}

/// Returns the first `longest` characters of a text, with an ellipsis if there are more.
pub fn shortened(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Quotes a word for a shell, if it needs quoting.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_sizes_are_formatted() {
        assert_eq!(number(0), "0");
        assert_eq!(number(999), "999");
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(size(999), "999 B");
        assert_eq!(size(1500), "1.5 kB");
        assert_eq!(size(999_999), "1.0 MB");
        assert_eq!(size(123_456_789_000), "123 GB");
        assert_eq!(part_of(0, 0), "0.0 %");
        assert_eq!(part_of(1, 8), "12.5 %");
        assert_eq!(part_of(2999, 3000), "> 99.9 %");
        assert_eq!(
            (part_of(3, 3), part_of(1, 3000)),
            ("100.0 %".to_owned(), "< 0.1 %".to_owned())
        );
        assert_eq!(counted(1, "page", "pages"), "1 page");
        assert_eq!(counted(2000, "page", "pages"), "2,000 pages");
        assert_eq!(
            (plural(1, "is", "are"), plural(0, "is", "are")),
            ("is", "are")
        );
        assert_eq!(
            (spelled(4).as_str(), spelled(1000).as_str()),
            ("four", "1,000")
        );
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("a/b-1.cento"), "a/b-1.cento");
        assert_eq!(quoted("汉字.cento"), "汉字.cento");
        assert_eq!(quoted("my corpus"), "'my corpus'");
        assert_eq!(quoted("it's; rm -rf"), "'it'\\''s; rm -rf'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!(shortened("汉字汉字", 2), "汉字…");
        assert_eq!(shortened("汉字", 2), "汉字");
    }
}
