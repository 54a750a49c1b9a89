//! Numbers as people read them.

/// `1234567` → `1,234,567`.
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

/// Bytes as people read them, in powers of 1,000.
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

/// A share: `10.2 %`.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// What a part is of a whole: `10.2 %`, or nothing of nothing.
pub fn part_of(part: u64, whole: u64) -> String {
    percent(part as f64 / whole.max(1) as f64)
}

/// `1 page`, `2 pages`.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{} {many}", number(count)),
    }
}

/// The first letters of a text, and a sign if there are more.
pub fn shortened(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A word of a command, as a shell reads it back.
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
    fn numbers_and_sizes_read_well() {
        assert_eq!(number(0), "0");
        assert_eq!(number(999), "999");
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(size(999), "999 B");
        assert_eq!(size(1500), "1.5 kB");
        assert_eq!(size(999_999), "1.0 MB");
        assert_eq!(size(123_456_789_000), "123 GB");
        assert_eq!(part_of(1, 0), "100.0 %");
        assert_eq!(counted(1, "page", "pages"), "1 page");
        assert_eq!(counted(2000, "page", "pages"), "2,000 pages");
    }

    #[test]
    fn a_shell_reads_a_word_back() {
        assert_eq!(quoted("a/b-1.cento"), "a/b-1.cento");
        assert_eq!(quoted("汉字.cento"), "汉字.cento");
        assert_eq!(quoted("my corpus"), "'my corpus'");
        assert_eq!(quoted("it's; rm -rf"), "'it'\\''s; rm -rf'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn text_is_cut_between_letters() {
        assert_eq!(shortened("汉字汉字", 2), "汉字…");
        assert_eq!(shortened("汉字", 2), "汉字");
    }
}
